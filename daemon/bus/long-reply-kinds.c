/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "long-reply-kinds.h"

#include <assert.h>

#include "bus-counters.h"
#include "bus-evidence.h"
#include "bus-find.h"
#include "bus-history.h"
#include "bus-options.h"
#include "bus-property.h"
#include "bus-shown.h"
#include "bus-users.h"
#include "long-reply-named.h"
#include "names.h"
#include "row-set.h"

/* GetManagedObjects(): a{oa{sa{sv}}} */

static void put_object(BusWriter *w, CacheObject o)
{
	unsigned int interfaces = cache_object_interfaces(&o);
	char path[RDMAD_PATH_MAX];

	bus_writer_open(w, 'e', "oa{sa{sv}}");
	bus_writer_put_text(w, 'o', cache_object_path(&o, path));
	bus_writer_open(w, 'a', "{sa{sv}}");
	for (AttrInterface i = 0; i < INTERFACE_RAW; i++) {
		if (!(interfaces >> i & 1))
			continue;
		bus_writer_open(w, 'e', "sa{sv}");
		bus_writer_put_text(w, 's', attr_interface_name(i));
		bus_put_properties(w, &o, 1U << i);
		bus_writer_close(w);
	}
	bus_writer_close(w);
	bus_writer_close(w);
}

static void put_objects(BusWriter *w, const Device *d)
{
	if (d->published)
		put_object(w, cache_object_of_device(d));
	for (uint32_t n = 0; n < d->n_ports; n++)
		if (d->ports[n]->published)
			put_object(w, cache_object_of_port(d->ports[n]));
}

static int write_objects(BusWriter *w, _unused_ const LongReplyQuestion *q, const Cache *c,
			 _unused_ sd_bus_error *error)
{
	bus_writer_open(w, 'a', "{oa{sa{sv}}}");
	for (size_t i = 0; i < c->n_devices && bus_writer_error(w) >= 0; i++)
		put_objects(w, c->devices[i]);
	bus_writer_close(w);
	return 1;
}

/* Properties.GetAll(): a{sv} */

/* The device or port of a call of GetAll() or Get(), and the interfaces of it that are meant.
 * False: there is no such object or interface. sd-bus answers such a call. */
static bool find_object(const LongReplyQuestion *q, const Cache *c, CacheObject *ret,
			unsigned int *ret_interfaces)
{
	unsigned int interfaces;
	Device *d;
	Port *p;

	if (lookup_path(c, q->path, &d, &p) < 0)
		return false;
	*ret = p ? cache_object_of_port(p) : cache_object_of_device(d);
	interfaces = cache_object_interfaces(ret);
	for (AttrInterface i = 0; *q->text && i < INTERFACE_RAW; i++)
		if (!streq(attr_interface_name(i), q->text))
			interfaces &= ~(1U << i);
	*ret_interfaces = interfaces;
	return interfaces != 0;
}

static int read_interface(sd_bus_message *call, LongReplyQuestion *q, _unused_ sd_bus_error *error)
{
	return sd_bus_message_read_basic(call, 's', &q->text);
}

static int write_properties(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
			    _unused_ sd_bus_error *error)
{
	unsigned int interfaces;
	CacheObject o;

	if (!find_object(q, c, &o, &interfaces))
		return 0;
	bus_put_properties(w, &o, interfaces);
	return 1;
}

/* Properties.Get() of a table, or of a list of the manager: v. sd-bus answers all others: they are
 * short. */

static int read_property(sd_bus_message *call, LongReplyQuestion *q, _unused_ sd_bus_error *error)
{
	int r = sd_bus_message_read_basic(call, 's', &q->text);

	return r < 0 ? r : sd_bus_message_read_basic(call, 's', &q->text_2);
}

static int write_list(BusWriter *w, const LongReplyQuestion *q, const Cache *c)
{
	if (!streq(q->text, RDMAD_INTERFACE_MANAGER) ||
	    (!streq(q->text_2, "Devices") && !streq(q->text_2, "Ports")))
		return 0;
	bus_writer_open(w, 'v', "ao");
	bus_put_objects(w, c, q->text_2);
	bus_writer_close(w);
	return 1;
}

static int write_table(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
		       _unused_ sd_bus_error *error)
{
	unsigned int interfaces;
	CacheObject o;

	if (streq(q->path, RDMAD_ROOT_PATH))
		return write_list(w, q, c);
	if (!find_object(q, c, &o, &interfaces))
		return 0;
	for (size_t i = 0; i < o.n_rows; i++) {
		const Attribute *row = &o.rows[i];

		if (!(interfaces >> row->interface & 1) || !row_is_table(row) ||
		    !streq(row->name, q->text_2))
			continue;
		bus_writer_open(w, 'v', attr_signature(row->type));
		bus_put_row(w, &o, i);
		bus_writer_close(w);
		return 1;
	}
	return 0;
}

/* ListPorts(): what people want to see of all ports, one structure for each port. Its fields are
 * the object path, the rows of list-attributes.def, and the tail, which has the properties that the
 * caller named. */

#define TAIL_TYPE "a{sv}"

/* "a(", the type of the path, one type for each listed attribute, that of the tail, ")" */
char long_reply_list_ports_signature[2 + 1 + _LISTED_MAX + sizeof(TAIL_TYPE ")")];

/* The types between the brackets. */
static char listed_types[1 + _LISTED_MAX + sizeof(TAIL_TYPE)];

void long_reply_kinds_init(void)
{
	char *p = stpcpy(listed_types, "o");

	for (ListedAttr i = 0; i < _LISTED_MAX; i++) {
		const char *type = attr_signature(port_attributes[listed_attributes[i]].type);

		/* With tables in it the list would be as long as GetManagedObjects(), which it is
		 * there to spare. */
		assert(strlen(type) == 1);
		p = stpcpy(p, type);
	}
	stpcpy(p, TAIL_TYPE);
	p = stpcpy(long_reply_list_ports_signature, "a(");
	p = stpcpy(p, listed_types);
	stpcpy(p, ")");
}

static void put_listed_port(BusWriter *w, const Port *p, const LongReplyQuestion *q)
{
	const CacheObject port = cache_object_of_port(p);
	char path[RDMAD_PATH_MAX];

	bus_writer_open(w, 'r', listed_types);
	bus_writer_put_text(w, 'o', port_path(p, path));
	for (ListedAttr i = 0; i < _LISTED_MAX; i++)
		bus_put_row(w, &port, listed_attributes[i]);
	bus_writer_open(w, 'a', "{sv}");
	long_reply_put_named(w, q, p);
	if (!mask_is_empty(&q->reasons))
		bus_put_reasons(w, &port, &q->reasons);
	bus_writer_close(w);
	bus_writer_close(w);
}

/* The name of the device, if only its ports are wanted, the properties beside the fields, and
 * whether the reasons of these are wanted. */
static int read_choice(sd_bus_message *call, LongReplyQuestion *q, sd_bus_error *error)
{
	_cleanup_(bus_texts_done) BusTexts names = {.max = LONG_REPLY_NAMED_MAX};
	int reasons = false;
	const BusOption options[] = {
		{"device", 's', &q->text}, {"properties", 'a', &names}, {"reasons", 'b', &reasons}};
	int r = bus_read_options(call, "ListPorts", options, ARRAY_SIZE(options), error);

	if (r >= 0)
		r = long_reply_name(q, &names, error);
	/* who calls for Unavailable gets all of them */
	if (r >= 0 && reasons && !mask_has(&q->rows, PORT_ATTR_unavailable)) {
		q->reasons = q->rows;
		for (ListedAttr i = 0; i < _LISTED_MAX; i++)
			mask_set(&q->reasons, listed_attributes[i], true);
	}
	return r;
}

static int write_listed_ports(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
			      sd_bus_error *error)
{
	const Device *only = q->text ? lookup_device(c, q->text) : NULL;

	if (q->text && (!only || !only->published))
		return sd_bus_error_setf(error, RDMAD_ERROR_NOT_FOUND, "No device \"%s\"",
					 BUS_SHOW(q->text));
	bus_writer_open(w, 'a', long_reply_list_ports_signature + 1);
	for (size_t i = 0; i < c->n_devices && bus_writer_error(w) >= 0; i++) {
		const Device *d = c->devices[i];

		for (uint32_t n = 0; (!only || d == only) && n < d->n_ports; n++)
			if (d->ports[n]->published)
				put_listed_port(w, d->ports[n], q);
	}
	bus_writer_close(w);
	return 1;
}

/* Introspect() of the parent of all devices: s. The reply lists all objects below the parent, as
 * sd-bus would do with a node enumerator. */

/* As sd-bus writes it for an object that has no interface of its own. */
static const char introspection_begin[] =
	"<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"\n"
	"\"https://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n"
	"<node>\n"
	" <interface name=\"org.freedesktop.DBus.Peer\">\n"
	"  <method name=\"Ping\"/>\n"
	"  <method name=\"GetMachineId\">\n"
	"   <arg type=\"s\" name=\"machine_uuid\" direction=\"out\"/>\n"
	"  </method>\n"
	" </interface>\n"
	" <interface name=\"org.freedesktop.DBus.Introspectable\">\n"
	"  <method name=\"Introspect\">\n"
	"   <arg name=\"xml_data\" type=\"s\" direction=\"out\"/>\n"
	"  </method>\n"
	" </interface>\n"
	" <interface name=\"org.freedesktop.DBus.Properties\">\n"
	"  <method name=\"Get\">\n"
	"   <arg name=\"interface_name\" direction=\"in\" type=\"s\"/>\n"
	"   <arg name=\"property_name\" direction=\"in\" type=\"s\"/>\n"
	"   <arg name=\"value\" direction=\"out\" type=\"v\"/>\n"
	"  </method>\n"
	"  <method name=\"GetAll\">\n"
	"   <arg name=\"interface_name\" direction=\"in\" type=\"s\"/>\n"
	"   <arg name=\"props\" direction=\"out\" type=\"a{sv}\"/>\n"
	"  </method>\n"
	"  <method name=\"Set\">\n"
	"   <arg name=\"interface_name\" direction=\"in\" type=\"s\"/>\n"
	"   <arg name=\"property_name\" direction=\"in\" type=\"s\"/>\n"
	"   <arg name=\"value\" direction=\"in\" type=\"v\"/>\n"
	"  </method>\n"
	"  <signal name=\"PropertiesChanged\">\n"
	"   <arg type=\"s\" name=\"interface_name\"/>\n"
	"   <arg type=\"a{sv}\" name=\"changed_properties\"/>\n"
	"   <arg type=\"as\" name=\"invalidated_properties\"/>\n"
	"  </signal>\n"
	" </interface>\n";
static const char introspection_end[] = "</node>\n";

#define CHILD_BEGIN " <node name=\""
#define CHILD_END   "\"/>\n"
/* The longest line of a child. */
#define CHILD_MAX (sizeof(CHILD_BEGIN "4294967295/port/4294967295" CHILD_END) - 1)

/* Writes the line of device D, or of its port P. */
static char *put_child(char *at, const Device *d, const Port *p)
{
	char path[RDMAD_PATH_MAX];

	if (p)
		port_path(p, path);
	else
		device_path(d, path);
	at = stpcpy(stpcpy(at, CHILD_BEGIN), path + strlen(RDMAD_DEVICE_PREFIX "/"));
	return stpcpy(at, CHILD_END);
}

static int write_introspection(BusWriter *w, _unused_ const LongReplyQuestion *q, const Cache *c,
			       _unused_ sd_bus_error *error)
{
	size_t size = sizeof(introspection_begin) + (c->n_devices + c->n_ports) * CHILD_MAX +
		      sizeof(introspection_end);
	_cleanup_free_ char *text = malloc(size);
	char *at;

	if (!text)
		return -ENOMEM;
	at = stpcpy(text, introspection_begin);
	for (size_t i = 0; i < c->n_devices; i++) {
		const Device *d = c->devices[i];

		if (d->published)
			at = put_child(at, d, NULL);
		for (uint32_t n = 0; n < d->n_ports; n++)
			if (d->ports[n]->published)
				at = put_child(at, d, d->ports[n]);
	}
	stpcpy(at, introspection_end);
	bus_writer_put_text(w, 's', text);
	return 1;
}

/* clang-format off */
const LongReplyRow long_reply_rows[_LONG_REPLY_KIND_MAX] = {
	[LONG_REPLY_GET_MANAGED_OBJECTS] = {"a{oa{sa{sv}}}", NULL, write_objects, put_objects},
	[LONG_REPLY_GET_ALL] = {"a{sv}", read_interface, write_properties, NULL},
	[LONG_REPLY_GET] = {"v", read_property, write_table, NULL},
	[LONG_REPLY_LIST_PORTS] = {long_reply_list_ports_signature, read_choice, write_listed_ports, NULL},
	[LONG_REPLY_FIND_PORTS] = {bus_found_signature, bus_found_read, bus_found_write, NULL},
	[LONG_REPLY_LIST_HISTORIES] = {"a" BUS_HISTORY, bus_histories_read, bus_histories_write, NULL},
	[LONG_REPLY_PORT_HISTORY] = {"a" BUS_TRANSITION, bus_port_history_read, bus_port_history_write, NULL},
	[LONG_REPLY_HISTORY] = {"a" BUS_TRANSITION, bus_history_read, bus_history_write, NULL},
	[LONG_REPLY_EVIDENCE] = {"a" BUS_EVIDENCE, bus_evidence_read, bus_evidence_write, NULL},
	[LONG_REPLY_USERS] = {bus_users_signature, NULL, bus_users_write, NULL},
	[LONG_REPLY_COUNTERS] = {bus_counters_signature, NULL, bus_counters_write, NULL},
	[LONG_REPLY_FAR_COUNTERS] = {bus_counters_signature, NULL, bus_far_counters_write, NULL},
	[LONG_REPLY_INTROSPECT] = {"s", NULL, write_introspection, NULL},
};
/* clang-format on */
