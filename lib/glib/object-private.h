/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How the client changes an object: it calls rdmad_object_begin(), then the functions that apply
 * and remove something, then rdmad_object_commit(), and rdmad_object_notify() when it has committed
 * all objects. No handler runs between begin and commit, so no handler sees a part of a change
 * only.
 *
 * Values of a wrong type are ignored, with a debug message.
 */

#include "attribute.h"
#include "place.h"
#include "rdmad-object.h"

/* Whether the message with order A (channel_order()) was sent before that with order B by the same
 * peer. */
static inline gboolean order_is_before(guint32 a, guint32 b)
{
	return (gint32)(a - b) < 0;
}

/* In class_init of a subclass: installs a property for each of the ROWS. Objects of the class have
 * the interface MAIN_INTERFACE and may have those of the other rows. */
void rdmad_object_class_install(RdmadObjectClass *class, AttrInterface main_interface,
				const Attribute *rows, size_t n_rows);

/* An object of TYPE at PLACE, without interfaces. */
RdmadObject *rdmad_object_new(GType type, RdmadClient *client, Place place);
Place rdmad_object_get_place(RdmadObject *o);
RdmadClient *rdmad_object_get_client(RdmadObject *o);
/* The client is being freed: O has none any more. */
void rdmad_object_orphan(RdmadObject *o);
/* The device or port of O has been removed. O keeps its values. */
void rdmad_object_set_removed(RdmadObject *o);

/* Begins a change. FALSE: one has been begun and not been committed yet. */
gboolean rdmad_object_begin(RdmadObject *o);
/* O has never been committed. */
gboolean rdmad_object_is_new(RdmadObject *o);

/* The interface with the D-Bus name NAME. FALSE: no object of the class of O has it. */
gboolean rdmad_object_find_interface(RdmadObject *o, const char *name, AttrInterface *ret);
/* The interface that every object of the class of O has. */
AttrInterface rdmad_object_main_interface(RdmadObject *o);
/* 1 << AttrInterface of each interface that O has. */
unsigned int rdmad_object_get_interfaces(RdmadObject *o);

/* PROPERTIES, a{sv}, of INTERFACE have these values; WHOLE: and the others have none. */
void rdmad_object_apply(RdmadObject *o, AttrInterface interface, GVariant *properties,
			gboolean whole);
/* The message with ORDER says that the property NAME has changed, and not what its value is. */
void rdmad_object_apply_invalidated(RdmadObject *o, AttrInterface interface, const char *name,
				    guint32 order);
/* The message with ORDER is an answer that says that row ROW has VALUE. */
void rdmad_object_apply_loaded(RdmadObject *o, size_t row, GVariant *value, guint32 order);
void rdmad_object_remove_interface(RdmadObject *o, AttrInterface interface);

/* Whether a handler is connected to "notify" of the property NAME of INTERFACE. */
gboolean rdmad_object_is_listened(RdmadObject *o, AttrInterface interface, const char *name,
				  size_t *ret_row);
/* The client has begun, or has ended, to read a table of O. While the client reads a table, no
 * report says that tables are outdated. */
void rdmad_object_set_loading(RdmadObject *o, gboolean loading);

/* Ends a change. Returns the names of the properties that have changed since rdmad_object_begin(),
 * without those that only count changes; to be freed with g_strfreev(). */
char **rdmad_object_commit(RdmadObject *o);
/* Emits "notify" for all properties that have changed in the commits since the last call. */
void rdmad_object_notify(RdmadObject *o);

/* The row of ATTRIBUTE, the name of a property ("active-mtu") or of a row ("ActiveMtu"); -1 if
 * there is none. */
gssize rdmad_object_find_row(RdmadObject *o, const char *attribute);
/* The row with the D-Bus name NAME. The search begins at *ROW, and *ROW becomes the row: properties
 * come in the order of the rows, mostly. FALSE: there is none. */
gboolean rdmad_object_find_property(RdmadObject *o, const char *name, size_t *row);
const Attribute *rdmad_object_get_row(RdmadObject *o, size_t row);
/* The value of row ROW, without a reference; NULL if there is no valid one, and then the second
 * function says why, as a code. */
GVariant *rdmad_object_row_value(RdmadObject *o, size_t row);
const char *rdmad_object_row_unavailable(RdmadObject *o, size_t row);
/* Row ROW is a table that has changed since it was read. */
gboolean rdmad_object_is_outdated(RdmadObject *o, size_t row);
