/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A service that takes the place of rdmad. It runs in the thread of the test, and the test says
 * which messages it sends and when. Its client has to be made with log_new_async().
 */

#include "log.h"

#define PORT_PATH "/org/rdma/device/0/port/1"

/* Answers to GetManagedObjects, in GVariant's notation. */
#define DEVICE_OBJECT                                                                              \
	"objectpath '/org/rdma/device/0': {'org.rdma.Device': {'Index': <uint32 0>, 'Name': "      \
	"<'mlx5_0'>, 'Unavailable': <@a{ss} {}>}}"
#define PORT_OBJECT                                                                                \
	"objectpath '" PORT_PATH "': {'org.rdma.Port': {'DeviceName': <'mlx5_0'>, 'State': "       \
	"<'active'>, 'ActiveMtu': <uint32 4096>, 'Unavailable': <@a{ss} {}>, 'Gids': "             \
	"<@a(ussssa{sv}) []>}, 'org.rdma.Port.InfiniBand': {'Lid': <uint32 17>}}"
#define OBJECTS(more) "({" DEVICE_OBJECT ", " PORT_OBJECT more "},)"

typedef struct Service {
	Fixture *f;
	Log *l; /* for the test; may be NULL */
	GDBusConnection *bus;
	GDBusConnection *old_bus; /* what BUS was before service_replace(); NULL */
	GVariant *objects;	  /* the answer to GetManagedObjects, a tuple; NULL: an error */
	/* before and after that answer is sent */
	void (*before_answer)(struct Service *s), (*after_answer)(struct Service *s);
	const char *gids; /* the answer to Get, in GVariant's notation */
	void (*before_gids)(struct Service *s);
	const char *hold;  /* calls of this method are not answered; to be set atomically */
	GAsyncQueue *held; /* these calls */
} Service;

/* A bus with a service that owns the name of rdmad and has OBJECTS, in GVariant's notation. */
Service *service_new(const char *objects);
void service_free(Service *s);
DEFINE_CLEANUP(Service, service_free);
#define _cleanup_service_ _cleanup_(service_free_pointer)

/* Takes the name of rdmad, or gives it away. */
void service_request_name(Service *s);
void service_release_name(Service *s);
/* Another service with the same objects takes the name. To be called once. The one before remains
 * on the bus, and service_answer_held() answers from there. */
void service_replace(Service *s);
/* Sends a signal; BODY is in GVariant's notation. */
void service_emit(Service *s, const char *path, const char *interface, const char *member,
		  const char *body);
/* PropertiesChanged of the port: CHANGED is a{sv}, INVALIDATED as. */
void service_emit_changed(Service *s, const char *interface, const char *changed,
			  const char *invalidated);
/* Waits for a call that is held and answers it with BODY, which may be NULL. */
void service_answer_held(Service *s, const char *body);

/* Returns when the client has got everything that the service has sent so far. */
void service_settle(Service *s);
/* The port at PORT_PATH as the client has it. */
RdmadObject *service_port(Service *s);
