/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What org.rdma publishes, as text: objects with their properties, whether read at once or followed
 * by the signals, as a client does.
 */

#include "fixture.h"

typedef struct Property {
	char *interface;
	char *name; /* no two interfaces of an object share one */
	char *text; /* busctl's notation without types; NULL: invalidated, to be read again */
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
/* NULL: there is no such property, or it is invalidated. */
const char *object_get(const Object *object, const char *name);

/* GetManagedObjects(). False if rdmad did not answer. */
bool objects_read(Fixture *f, Objects *ret);
/* All properties of one object; false if there is none. */
bool objects_read_one(Fixture *f, const char *path, Objects *ret);

/* Follows SIGNAL if it is one of ObjectManager or Properties. Returns the object concerned, NULL if
 * there is none (any more). With RET_CHANGED, the names of the properties that the signal carried
 * values of: a comma before and after each, to be freed. */
Object *objects_follow(Objects *o, sd_bus_message *signal, char **ret_changed);

/* Compares all but the counters. Returns the number of differences, each a line on REPORT. */
int objects_differ(const Objects *followed, const Objects *read, FILE *report);
