/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What org.rdma publishes, as text: objects with their properties. They are either read at once, or
 * kept up to date from the signals, as a client does it.
 */

#include "fixture.h"

/* What a number reads as while it has no value, if 0 is one of its values. */
#define NOT_SET UINT32_MAX

typedef struct Property {
	const char *interface; /* g_intern_string() has made it */
	const char *name;      /* the same; no other interface has a property of this name */
	char *text; /* the value as busctl writes it, without types; NULL: it was invalidated */
} Property;

typedef struct Object {
	char *path;
	Property *properties;
	size_t n;
} Object;

typedef struct Objects {
	Object *objects;
	size_t n;
} Objects;

void objects_done(Objects *o);
Object *objects_find(const Objects *o, const char *path);
/* The value of a property; NULL if there is none, or if it was invalidated. */
const char *object_get(const Object *object, const char *name);

/* What is left to be read of a message, as text. The caller frees it. */
char *message_text(sd_bus_message *m);

/* The objects that are in REPLY, of GetManagedObjects(). */
void objects_take(sd_bus_message *reply, Objects *ret);
/* Calls GetManagedObjects(). False if rdmad did not answer. */
bool objects_read(Fixture *f, Objects *ret);
/* Reads all properties of one object. False if there is no such object. */
bool objects_read_one(Fixture *f, const char *path, Objects *ret);

/* Changes the objects as SIGNAL says, if it is a signal of ObjectManager or Properties. Returns the
 * object of the signal, or NULL if there is none or it has gone. If RET_CHANGED is not NULL, it
 * gets the names of the properties whose values are in the signal, with a comma before and after
 * each; the caller frees it. */
Object *objects_follow(Objects *o, sd_bus_message *signal, char **ret_changed);

/* Compares all properties except the counters. Writes a line to REPORT for each difference. Returns
 * how many there are. */
int objects_differ(const Objects *followed, const Objects *read, FILE *report);
