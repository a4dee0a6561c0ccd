/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The parts of an object. Used by object.c, which shows it, and object-update.c, which changes
 * it. */

#include "object-private.h"

/* The values of an object at one moment. */
typedef struct ObjectState {
	unsigned int interfaces; /* 1 << AttrInterface of each that the object has */
	GVariant **values;	 /* by row; NULL where the daemon has sent none */
	AttrMask unavailable;	 /* rows that the row "unavailable" names */
	AttrMask outdated;	 /* rows that have changed since they were read */
	AttrMask told;		 /* outdated rows whose change has been reported */
} ObjectState;

typedef struct RdmadObjectPrivate {
	RdmadClient *client; /* no reference; NULL: the object was removed, or the client freed */
	Place place;
	char *path;	  /* on the bus */
	char *name;	  /* for people */
	gboolean present; /* has not been removed */

	ObjectState now;
	guint32 *invalid_orders; /* by row: of the last message that made it outdated; 0: none */
	guint n_loading;	 /* tables that the client is reading */

	gboolean is_new;     /* until its first commit */
	ObjectState *before; /* as it was at rdmad_object_begin(); NULL: no change is under way */
	GPtrArray *notify;   /* GParamSpec of the properties for which "notify" is to be emitted */
} RdmadObjectPrivate;

RdmadObjectPrivate *object_private(RdmadObject *o);
/* The rows of the class of O, and how many there are. */
const Attribute *object_rows(RdmadObject *o, size_t *ret_n);
/* The value of row I, if its interface is there and it is not unavailable; NULL otherwise. */
GVariant *object_visible(const ObjectState *state, const Attribute *rows, size_t i);
/* Frees what STATE has. */
void object_state_clear(ObjectState *state, size_t n_rows);
