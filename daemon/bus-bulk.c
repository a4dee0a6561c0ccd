/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-bulk.h"

#include "bus-property.h"
#include "lookup.h"
#include "names.h"

struct BusBulk {
	const Cache *cache;
	BusMint *mint;
	sd_bus_slot *filter;
};

/* a{sa{sv}}: the interfaces of an object with their properties */

static void open_interface(BusWriter *w, AttrInterface interface)
{
	bus_open(w, 'e', "sa{sv}");
	bus_put_text(w, 's', attr_interface_name(interface));
}

static void put_device(BusWriter *w, const Device *d)
{
	char path[RDMAD_PATH_MAX];

	bus_open(w, 'e', "oa{sa{sv}}");
	bus_put_text(w, 'o', device_path(d, path));
	bus_open(w, 'a', "{sa{sv}}");
	open_interface(w, INTERFACE_DEVICE);
	bus_put_device_properties(w, d);
	bus_close(w);
	bus_close(w);
	bus_close(w);
}

static void put_port(BusWriter *w, const Port *p)
{
	unsigned int interfaces = port_interfaces(&p->now);
	char path[RDMAD_PATH_MAX];

	bus_open(w, 'e', "oa{sa{sv}}");
	bus_put_text(w, 'o', port_path(p, path));
	bus_open(w, 'a', "{sa{sv}}");
	for (AttrInterface i = INTERFACE_PORT; i < INTERFACE_RAW; i++) {
		if (!(interfaces >> i & 1))
			continue;
		open_interface(w, i);
		bus_put_port_properties(w, p, i);
		bus_close(w);
	}
	bus_close(w);
	bus_close(w);
}

static int write_objects(BusWriter *w, _unused_ sd_bus_message *call, const Cache *c,
			 _unused_ sd_bus_error *error)
{
	bus_open(w, 'a', "{oa{sa{sv}}}");
	for (size_t i = 0; i < c->n_devices; i++) {
		const Device *d = c->devices[i];

		if (d->published)
			put_device(w, d);
		for (uint32_t n = 0; n < d->n_ports; n++)
			if (d->ports[n]->published)
				put_port(w, d->ports[n]);
	}
	bus_close(w);
	return 1;
}

static const BusBulkKind objects_kind = {"a{oa{sa{sv}}}", write_objects};

/* What is not there, sd-bus knows an error for. */
static int write_properties(BusWriter *w, sd_bus_message *call, const Cache *c,
			    _unused_ sd_bus_error *error)
{
	const char *name;
	Device *d;
	Port *p;

	if (sd_bus_message_read_basic(call, 's', &name) > 0 &&
	    lookup_path(c, sd_bus_message_get_path(call), &d, &p) >= 0) {
		unsigned int interfaces = p ? port_interfaces(&p->now) : 1U << INTERFACE_DEVICE;

		for (AttrInterface i = 0; i < INTERFACE_RAW; i++) {
			if (!(interfaces >> i & 1) || !streq(attr_interface_name(i), name))
				continue;
			if (p)
				bus_put_port_properties(w, p, i);
			else
				bus_put_device_properties(w, d);
			return 1;
		}
	}
	return sd_bus_message_rewind(call, true) < 0 ? -EIO : 0;
}

static const BusBulkKind properties_kind = {"a{sv}", write_properties};

/* Answering */

int bus_bulk_answer(BusBulk *b, sd_bus_message *call, const BusBulkKind *kind, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(bus_writer_done) BusWriter w = {};
	int r = kind->write(&w, call, b->cache, error);

	if (r <= 0)
		return r;
	r = bus_writer_error(&w);
	if (r == -E2BIG)
		return sd_bus_error_setf(error, RDMAD_ERROR_LIMITS_EXCEEDED,
					 "The reply is larger than D-Bus can carry");
	if (r < 0)
		return r;
	if (!sd_bus_message_get_expect_reply(call))
		return 1;
	r = bus_mint_reply(b->mint, call, kind->signature, w.data, w.size, &reply);
	if (r < 0)
		return r;
	r = sd_bus_send(sd_bus_message_get_bus(call), reply, NULL);
	return r < 0 ? r : 1;
}

/* A filter and no object callbacks: for sd-bus a path that has one is an object, whatever it is. */
static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const char *path = sd_bus_message_get_path(m);

	if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus.Properties", "GetAll") && path &&
	    startswith(path, RDMAD_DEVICE_PREFIX) && sd_bus_message_has_signature(m, "s"))
		return bus_bulk_answer(userdata, m, &properties_kind, error);
	if (sd_bus_message_is_method_call(m, "org.freedesktop.DBus.ObjectManager",
					  "GetManagedObjects") &&
	    path && streq(path, RDMAD_ROOT_PATH) && sd_bus_message_has_signature(m, ""))
		return bus_bulk_answer(userdata, m, &objects_kind, error);
	return 0;
}

int bus_bulk_new(sd_bus *bus, const Cache *c, BusBulk **ret)
{
	_cleanup_(bus_bulk_free_pointer) BusBulk *b = calloc(1, sizeof(BusBulk));
	int r;

	if (!b)
		return -ENOMEM;
	b->cache = c;
	r = bus_mint_new(&b->mint);
	if (r >= 0)
		r = sd_bus_add_filter(bus, &b->filter, on_message, b);
	if (r < 0)
		return r;
	*ret = steal_pointer(&b);
	return 0;
}

BusBulk *bus_bulk_free(BusBulk *b)
{
	if (b) {
		sd_bus_slot_unref(b->filter);
		bus_mint_free(b->mint);
		free(b);
	}
	return NULL;
}
