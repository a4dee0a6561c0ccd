/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How the client changes an object: rdmad_object_begin(), any number of the apply functions,
 * rdmad_object_commit(), and when all objects have been committed, rdmad_object_notify(). Nobody
 * else runs between the first and the commit, so nobody sees half of a change. What is wrong in
 * what the bus delivers is passed over here, with a debug message.
 */

#include "attribute.h"
#include "place.h"
#include "rdmad-object.h"

/* Whether message A was sent before message B by the same peer. Serials go up by one and may wrap.
 */
static inline gboolean serial_is_before(guint32 a, guint32 b)
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
/* The client is no more. */
void rdmad_object_orphan(RdmadObject *o);
/* The object is no more; its values stay. */
void rdmad_object_set_removed(RdmadObject *o);

/* TRUE if it was not begun already: it is then to be committed. */
gboolean rdmad_object_begin(RdmadObject *o);
gboolean rdmad_object_is_new(RdmadObject *o); /* until its first commit */

/* Whether INTERFACE (a D-Bus name) is one that objects of this kind have. */
gboolean rdmad_object_find_interface(RdmadObject *o, const char *name, AttrInterface *ret);
/* The interface without which there is no object. */
AttrInterface rdmad_object_main_interface(RdmadObject *o);
unsigned int rdmad_object_get_interfaces(RdmadObject *o);

/* PROPERTIES is a{sv}; all properties of the interface if WHOLE, else those that changed. */
void rdmad_object_apply(RdmadObject *o, AttrInterface interface, GVariant *properties,
			gboolean whole);
/* The property NAME has changed, says the message SERIAL, and nobody knows to what. */
void rdmad_object_apply_invalidated(RdmadObject *o, AttrInterface interface, const char *name,
				    guint32 serial);
/* Row ROW was VALUE when the message SERIAL was sent. */
void rdmad_object_apply_loaded(RdmadObject *o, size_t row, GVariant *value, guint32 serial);
/* The serials of messages begin anew: there is another daemon. */
void rdmad_object_forget_serial(RdmadObject *o);
void rdmad_object_remove_interface(RdmadObject *o, AttrInterface interface);

/* Whether somebody listens to the property that is the row NAME of INTERFACE. */
gboolean rdmad_object_is_listened(RdmadObject *o, AttrInterface interface, const char *name,
				  size_t *ret_row);
/* A request for a table is under way, or has ended: until then invalidated tables are not reported.
 */
void rdmad_object_set_loading(RdmadObject *o, gboolean loading);

/* The names of the properties that are others than at rdmad_object_begin(), without those that only
 * count changes. */
char **rdmad_object_commit(RdmadObject *o);
void rdmad_object_notify(RdmadObject *o);

/* The row of a property; -1 and a critical warning if there is none. */
gssize rdmad_object_find_row(RdmadObject *o, const char *attribute);
const Attribute *rdmad_object_get_row(RdmadObject *o, size_t row);
/* Its value if there is a valid one (borrowed), and if not, why. */
GVariant *rdmad_object_row_value(RdmadObject *o, size_t row);
const char *rdmad_object_row_unavailable(RdmadObject *o, size_t row);
/* It is a table that has changed since it was read. */
gboolean rdmad_object_is_outdated(RdmadObject *o, size_t row);
