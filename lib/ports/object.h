/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A device or a port as the bus shows it: one Value for each row of its attribute table. A property
 * that has no row, because a newer rdmad sent it, is ignored.
 */

#include "attribute.h"
#include "table.h"
#include "value.h"

/* The source of the values of an object that is not read from the bus. */
typedef struct ObjectSource {
	/* The value of row I of WHAT. *RET stays VALUE_NONE if the row has none now. -ENOMEM. */
	int (*read)(const void *what, size_t i, Value *ret);
	/* Why row I has none: a code of unavailable.def; NULL: it has one, or WHAT does not have
	 * the interface. */
	const char *(*unavailable)(const void *what, size_t i);
	/* The entries of row I, a table; *RET is NULL if there are none. False if the row has no
	 * value now. */
	bool (*table)(const void *what, size_t i, const Table **ret);
} ObjectSource;

/* The values that were asked for of such an object. */
typedef struct MadeValues {
	const ObjectSource *source;
	const void *what;	 /* for the source */
	AttrMask *read;		 /* the rows that somebody asks for are added here, and if he asks
				    for a reason the row "unavailable"; not NULL */
	struct MadeBatch *first; /* those that were made until now */
	bool failed; /* there was no memory for one of them, which seems to be missing */
} MadeValues;

typedef struct Object {
	bool is_port;
	bool counts_entries; /* a table that is read, but the findings, is the number of its entries
			      */
	const Attribute *rows; /* port_attributes or device_attributes */
	size_t n_rows;
	unsigned int interfaces; /* 1 << AttrInterface of those that are there */
	Value *values;	  /* by row; VALUE_NONE if the object does not have the interface. Read them
			     through object_stored() where the object may have a source */
	MadeValues *made; /* NULL: all values are in VALUES; else VALUES is NULL */
	const struct Object *device; /* of a port, where it is known already; else NULL */
	char path[];
} Object;

typedef struct ObjectList {
	Object **items;
	size_t n;
} ObjectList;

/* Makes an object without interfaces. -EINVAL if PATH is not the path of a device or a port. */
int object_new(const char *path, Object **ret);
/* Makes one whose values SOURCE makes of WHAT when a caller asks for them. The rows that were asked
 * for are added to READ. SOURCE, WHAT and READ outlive the object. */
int object_new_from(const char *path, const ObjectSource *source, const void *what, AttrMask *read,
		    Object **ret);
/* Forgets the values that were made: WHAT may have changed. Pointers to them are not valid any
 * more. */
void object_forget(Object *o);
/* Takes NULL too; returns NULL. */
Object *object_free(Object *o);
/* A copy with all values of an object without a source; NULL without memory. */
Object *object_copy(const Object *o);
DEFINE_CLEANUP(Object, object_free);

/* Reads a{sv}, the properties of INTERFACE; of "" those of all. Unknown interfaces and properties
 * are skipped. */
int object_read_properties(Object *o, const char *interface, sd_bus_message *m);
/* Reads the value of row I, whose interface O then has. */
int object_read_row(Object *o, size_t i, sd_bus_message *m);
/* Reads a{sa{sv}}, as in GetManagedObjects and InterfacesAdded. */
int object_read_interfaces(Object *o, sd_bus_message *m);
/* Finds the row of the property called NAME, first among those of a port and then among those of a
 * device; NULL if there is none. Upper and lower case are the same. */
const Attribute *object_find_row(const char *name, bool *ret_of_device);
/* The row of O with the property called NAME; n_rows if there is none. Names mostly come in the
 * order of the rows: *CURSOR, where the last was found, saves looking; it begins as 0. */
size_t object_find_name(const Object *o, const char *name, size_t *cursor);
/* Removes an interface and its values. */
void object_remove_interface(Object *o, const char *interface);

/* The value of row I, whether it is valid or not; VALUE_NONE if there is none. */
const Value *object_stored(const Object *o, size_t i);
/* Whether the object has the property of row I, with a valid value or without. */
bool object_has(const Object *o, size_t i);
/* Why row I has no valid value, for people; NULL if it has one. */
const char *object_unavailable(const Object *o, size_t i);
/* The same as a code of unavailable.def, or of a later rdmad. */
const char *object_unavailable_code(const Object *o, size_t i);
/* Why rdmad cannot use verbs on PORT, as such a code; NULL if it can. */
const char *object_verbs_obstacle(const Object *port);
/* The value of row I of O, NULL if it is unavailable or not there, or O is NULL. */
const Value *object_value(const Object *o, size_t i);
/* The entries of row I, a table, of an object with a source. As ObjectSource says. */
bool object_table(const Object *o, size_t i, const Table **ret);
/* How many entries row I of O has, a table; false if it is unavailable. */
bool object_count(const Object *o, size_t i, size_t *ret);
/* The text of row I of O, "" if it has none now, or O is NULL. */
const char *object_text(const Object *o, size_t i);
/* The number of row I of O, 0 if it has none now, or O is NULL. */
uint64_t object_number(const Object *o, size_t i);
/* Whether PORT is stale: its values may be older than the last change. */
bool object_is_stale(const Object *port);
/* Whether the state of PORT is active or active-defer. */
bool object_is_active(const Object *port);
/* The name that people use: "mlx5_0/1" or "mlx5_0". Returns BUFFER. */
const char *object_name(const Object *o, char buffer[96]);

/* The character device of DEVICE of CLASS, such as "mad", by its path; "" if it has none. */
const char *object_node(const Object *device, const char *class);
/* That of verbs, such as /dev/infiniband/uverbs0. */
const char *object_uverbs_node(const Object *device);

/* Whether PATTERN, of fnmatch(3), matches a name of PORT: "mlx5_0/1", "mlx5_0:1", "mlx5_0", or that
 * of one of its network interfaces. */
bool object_matches(const Object *port, const char *pattern);
/* Whether NAME is such a pattern, and not a name. */
bool object_is_pattern(const char *name);

/* Frees the objects and makes the list empty. */
void object_list_done(ObjectList *l);
#define _cleanup_objects_ _cleanup_(object_list_done)
/* Reads a{oa{sa{sv}}}, devices and ports, sorted by index and port number. */
int object_list_read(ObjectList *l, sd_bus_message *m);
/* Reads the a{sa{sv}} of the object at PATH and puts the object, *RET, into L. An object with
 * neither a port nor a device is passed over: 0, and *RET stays as it was. */
int object_list_read_object(ObjectList *l, const char *path, sd_bus_message *m, Object **ret);
/* Adds O, which the list then owns; it replaces an object with the same path. -ENOMEM. */
int object_list_put(ObjectList *l, Object *o);
/* The object at PATH, which the list still owns; NULL if there is none. */
Object *object_list_find(const ObjectList *l, const char *path);
/* The device of PORT; NULL if it is not in the list. */
const Object *object_list_device(const ObjectList *l, const Object *port);
/* Reads from M the value of ROW, of the device of PORT, which is added if it is not there. */
int object_list_read_device(ObjectList *l, const Object *port, const Attribute *row,
			    sd_bus_message *m);
/* Whether DEVICE, which may be NULL, is a virtual function or a subfunction: it has the link of its
 * adapter. */
bool object_is_function(const Object *device);
/* Whether DRIVER gives each adapter a GUID of the system image of its own: some give all adapters
 * of the machine that of the first one. */
bool driver_tells_adapters(const char *driver);
/* The GUID that all devices of the adapter of DEVICE have, and no others; "": there is none. */
const char *object_adapter_guid(const Object *device);
/* Whether PORT is one of a device that is a plane of another one (its Type is "smi"). Programs
 * cannot use such a port. */
bool object_list_is_plane(const ObjectList *l, const Object *port);
/* Frees the object at PATH, if there is one. */
void object_list_remove(ObjectList *l, const char *path);
