/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What an object consists of: for object.c, which shows it, and object-update.c, which changes it.
 */

#include "object-private.h"

/* What is known of an object at one moment. */
typedef struct ObjectState {
	unsigned int interfaces; /* 1 << AttrInterface of those that are there */
	GVariant **values;	 /* by row; NULL where the daemon has told none */
	AttrMask unavailable;	 /* from the row of that name */
	AttrMask outdated;	 /* tables that have changed since they were read */
	AttrMask told;		 /* of these, those that were reported */
} ObjectState;

typedef struct RdmadObjectPrivate {
	RdmadClient *client; /* NULL when that is no more */
	Place place;
	char *path, *name;
	gboolean present;

	ObjectState now;
	guint32 invalid_serial; /* of the last message that outdated anything; 0: none */
	guint n_loading;

	gboolean is_new;     /* until its first commit */
	ObjectState *before; /* as it was when a change began; NULL: none is under way */
	GPtrArray *notify;   /* of GParamSpec: what has changed since, not yet said */
} RdmadObjectPrivate;

RdmadObjectPrivate *object_private(RdmadObject *o);
/* The rows of its class. */
const Attribute *object_rows(RdmadObject *o, size_t *ret_n);
/* The value of row I that others may see; NULL if there is none that is valid. */
GVariant *object_visible(const ObjectState *state, const Attribute *rows, size_t i);
void object_state_clear(ObjectState *state, size_t n_rows);
