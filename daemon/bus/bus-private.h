/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The header that only the files of the bus share. bus.c has the connection, bus-objects.c the tree
 * of objects, bus-port.c, bus-manager.c and bus-log.c have an interface each, bus-signal.c says
 * what has changed. */

#include "bus-loop.h"
#include "bus-wait-for.h"
#include "bus.h"
#include "long-reply.h"

struct Bus {
	sd_event *event;
	const Cache *cache;
	const Config *config;
	SharedMemory *memory;
	const BusHandler *handler;
	void *userdata; /* the handler's */

	sd_bus *bus;	      /* the connection */
	sd_bus_slot *request; /* for the name, and hears the answer */
	sd_bus_slot *door;    /* sees each method call first */
	bool signals;	      /* the name is ours, or about to be */
	/* Those before it are exported: bus_export_rows(). */
	AttrInterface n_exported;
	/* An object came or went since bus_publish_counts() has last said so. */
	bool devices_changed, ports_changed;

	BusCallers *callers;
	BusTurns *turns;
	BusLoop *loop; /* reads and writes the connection */
	PendingCalls *calls;
	BusWait *waits;
	LongReplies *long_replies;

	/* Ports with something to say, while the bus does not take anything, and where the list
	 * ends. */
	struct PortHeld *held, **held_end;
	sd_event_source *drain; /* says it when the bus takes something again */
};

/* Forgets what is held. */
void bus_signals_done(Bus *b);

/* The methods and signals of org.rdma.Port, beside the properties that its rows are. */
extern const sd_bus_vtable bus_port_members[];
extern const size_t bus_n_port_members;

/* The members of org.rdma.Manager for sd-bus. */
extern const sd_bus_vtable bus_manager_members[];
extern const size_t bus_n_manager_members;
/* Answers M, a method call of the manager or of a port that leaves out the options, as if it had
 * none. Returns what a handler of sd-bus has to return. */
int bus_short_call_offer(Bus *b, sd_bus_message *m, sd_bus_error *error);

/*
 * Adds the interfaces of devices and ports to the connection, one for each that the attribute
 * tables name, if they are not there yet. To be called before sd-bus needs them: for a call that
 * rdmad does not answer by itself, and for signals with values that sd-bus asks for. With them a
 * start takes half as many instructions more, and a seventh of the memory is theirs.
 */
int bus_export_rows(Bus *b);
/* Add to the connection: which devices and ports there are; another interface. */
int bus_export_list(Bus *b);
int bus_manager_add(Bus *b);
int bus_log_add(Bus *b);
/* Answers M, a method call, if it sets a property of the log, when the bus has said whose it is.
 * Returns what a handler of sd-bus has to return. */
int bus_log_offer(Bus *b, sd_bus_message *m, sd_bus_error *error);

/* A method of org.rdma.Port, for sd-bus. */
int bus_acknowledge(sd_bus_message *m, void *userdata, sd_bus_error *error);

/* Whether USER may change something: root, and the user that rdmad runs as. */
static inline bool bus_user_may_change(uid_t user)
{
	return user == 0 || user == geteuid();
}

/* bus-call.c */

/* The longest text of QueryFailed. */
#define BUS_ERROR_TEXT_MAX 256
/* Sets *RET to DeviceTimeout, NotFound or QueryFailed, as ERROR, a negative errno, says, with TEXT;
 * behind that, QueryFailed has the name of ERROR in brackets. Returns a negative errno, for sd-bus.
 */
int bus_error_set(sd_bus_error *ret, int error, const char *text);
/* Answers CALL with that. Logs. */
void bus_reply_error(sd_bus_message *call, int error, const char *text);
/* The Bus of M, a call that is being handled: the userdata of a port's method is the port. */
Bus *bus_current(sd_bus_message *m);
/* The call that the reply to C is made of (call_ticket_new_call()), NULL if there is no memory for
 * it. To be freed. Logs. */
sd_bus_message *bus_call_of(const PendingCall *c);
/* Answers CALL for USER: what a handler of sd-bus does and returns, with USERDATA. */
typedef int (*BusAnswer)(void *userdata, sd_bus_message *call, uid_t user, sd_bus_error *error);
/* Answers CALL, whose USER is known now, by ANSWER, and frees it. Logs. */
void bus_answer_identified(PendingCall *call, uid_t user, BusAnswer answer, void *userdata);
/* Has MESSAGE wait in LIST, about PORT (0: none). To be returned to sd-bus. */
int bus_keep_call(Bus *b, sd_bus_message *message, PendingList *list, uint32_t port,
		  sd_bus_error *error);
