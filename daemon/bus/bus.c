/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-door.h"
#include "bus-open.h"
#include "bus-peer.h"
#include "bus-private.h"
#include "bus-property.h"
#include "clock.h"
#include "log.h"
#include "long-reply-kinds.h"
#include "lookup.h"
#include "names.h"
#include "port-name.h"

/* At the end rdmad waits so long for a bus that takes nothing. */
#define FLUSH_USEC USEC_PER_SEC

/* D-Bus specification, RequestName: DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER */
#define NAME_OWNER 1U

/* The tree of objects */

/* Whether INTERFACE is among INTERFACES, a mask. */
static bool has_interface(unsigned int interfaces, const char *interface)
{
	for (AttrInterface i = 0; i < INTERFACE_RAW; i++)
		if (interfaces >> i & 1 && streq(attr_interface_name(i), interface))
			return true;
	return false;
}

static int find_device(_unused_ sd_bus *bus, const char *path, const char *interface,
		       void *userdata, void **ret_found, _unused_ sd_bus_error *error)
{
	Bus *b = userdata;
	Device *d;
	Port *p;

	if (lookup_path(b->cache, path, &d, &p) < 0 || p ||
	    !has_interface(device_interfaces(&d->now), interface))
		return 0;
	*ret_found = d;
	return 1;
}

static int find_port(_unused_ sd_bus *bus, const char *path, const char *interface, void *userdata,
		     void **ret_found, _unused_ sd_bus_error *error)
{
	Bus *b = userdata;
	Device *d;
	Port *p;

	if (lookup_path(b->cache, path, &d, &p) < 0 || !p ||
	    !has_interface(port_interfaces(&p->now), interface))
		return 0;
	*ret_found = p;
	return 1;
}

/* Adds a copy of PATH to NODES, which has *N. */
static int add_node(char **nodes, size_t *n, const char *path)
{
	nodes[*n] = strdup(path);
	if (!nodes[*n])
		return -ENOMEM;
	++*n;
	return 0;
}

/* Adds the objects of D. */
static int add_nodes(char **nodes, size_t *n, const Device *d)
{
	char path[RDMAD_PATH_MAX];
	int r = d->published ? add_node(nodes, n, device_path(d, path)) : 0;

	for (uint32_t i = 0; r >= 0 && i < d->n_ports; i++)
		if (d->ports[i]->published)
			r = add_node(nodes, n, port_path(d->ports[i], path));
	return r;
}

/* sd-bus calls this for each path that is introspected, PREFIX, and takes of the objects those
 * below it. So below the path of a device only that device is of interest. */
static int list_objects(_unused_ sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes,
			_unused_ sd_bus_error *error)
{
	const Bus *b = userdata;
	const Cache *c = b->cache;
	bool is_below = startswith(prefix, RDMAD_DEVICE_PREFIX "/");
	uint32_t index;
	const Device *only = object_path_device(prefix, &index) ? cache_device(c, index) : NULL;
	size_t n = 0;
	char **nodes = calloc(c->n_devices + c->n_ports + 1, sizeof(char *));
	int r = nodes ? 0 : -ENOMEM;

	if (only)
		r = r < 0 ? r : add_nodes(nodes, &n, only);
	for (size_t i = 0; !is_below && r >= 0 && i < c->n_devices; i++)
		r = add_nodes(nodes, &n, c->devices[i]);
	if (r >= 0) {
		*ret_nodes = nodes;
		return 0;
	}
	while (n > 0)
		free(nodes[--n]);
	free(nodes);
	return r;
}

/* Devices and ports: one vtable for each interface that the attribute tables name. */
static int export_ports(Bus *b)
{
	/* sd-bus keeps pointers to them: one set serves every connection */
	static sd_bus_vtable vtables[INTERFACE_RAW][BUS_VTABLE_MAX];
	int r;

	for (AttrInterface i = 0; i < INTERFACE_RAW; i++) {
		if (vtables[i][0].type == 0)
			bus_vtable_build(i, bus_port_members,
					 i == INTERFACE_PORT ? BUS_PORT_MEMBERS : 0, vtables[i]);
		r = sd_bus_add_fallback_vtable(b->bus, NULL, RDMAD_DEVICE_PREFIX,
					       attr_interface_name(i), vtables[i],
					       i < INTERFACE_PORT ? find_device : find_port, b);
		if (r < 0)
			return r;
	}
	return 0;
}

static int export_objects(Bus *b)
{
	int r = export_ports(b);

	long_reply_kinds_init();
	if (r >= 0)
		r = sd_bus_add_node_enumerator(b->bus, NULL, RDMAD_DEVICE_PREFIX, list_objects, b);
	if (r >= 0)
		r = sd_bus_add_object_manager(b->bus, NULL, RDMAD_ROOT_PATH);
	if (r >= 0)
		r = long_replies_new(b->bus, b->callers, b->turns, b->event, b->cache,
				     long_reply_rows, b->config->long_reply_rate, &b->long_replies);
	if (r >= 0)
		r = bus_manager_add(b);
	if (r >= 0)
		r = bus_log_add(b);
	return r < 0 ? r : bus_door_add(b);
}

/* The connection */

static void on_broken(void *userdata)
{
	Bus *b = userdata;

	b->handler->disconnected(b->userdata);
}

int bus_new(const BusSetup *setup, Bus **ret)
{
	_cleanup_(bus_free_pointer) Bus *b = calloc(1, sizeof(Bus));
	int r;

	if (!b)
		return log_error_errno(-ENOMEM, "No memory for the bus connection: %m");
	b->event = setup->event;
	b->held_end = &b->held;
	b->cache = setup->cache;
	b->config = setup->config;
	b->memory = setup->memory;
	b->handler = setup->handler;
	b->userdata = setup->userdata;
	r = bus_open_address(setup->address, &b->bus);
	if (r < 0)
		return log_error_errno(r, "Cannot connect to the bus %s: %m",
				       setup->address ? setup->address : "of the system");
	r = bus_callers_new(b->bus, &b->callers);
	if (r >= 0)
		r = bus_turns_new(b->bus, b->callers, &b->turns);
	if (r >= 0)
		r = pending_calls_new(b->bus, b->callers, &b->calls);
	if (r >= 0)
		r = bus_wait_new(b, &b->waits);
	if (r < 0)
		return log_error_errno(r, "No memory for the bus connection: %m");
	r = export_objects(b);
	if (r < 0)
		return log_error_errno(r, "Cannot export the objects: %m");
	r = bus_loop_new(b->bus, b->event, b->turns, on_broken, b, &b->loop);
	if (r < 0)
		return log_error_errno(r, "Cannot attach the bus to the event loop: %m");
	*ret = steal_pointer(&b);
	return 0;
}

/* Of what comes in while the last is written, nothing reaches the objects. */
static int on_late_message(_unused_ sd_bus_message *m, _unused_ void *userdata,
			   _unused_ sd_bus_error *error)
{
	return 1;
}

/* Writes what is queued. sd_bus_flush() would wait for ever for a bus that takes nothing, or only
 * some of it. sd_bus_process() also takes messages in: no slot of ours may be left but those of the
 * objects, which on_late_message() protects. */
static void flush_queue(sd_bus *bus)
{
	uint64_t now = monotonic_now_usec(), end = now + FLUSH_USEC;
	int r = sd_bus_add_filter(bus, NULL, on_late_message, NULL);

	for (; r >= 0 && now < end; now = monotonic_now_usec()) {
		if (sd_bus_is_ready(bus) <= 0 || bus_peer_unsent(bus) == 0)
			return;
		r = sd_bus_process(bus, NULL);
		if (r == 0)
			r = sd_bus_wait(bus, end - now);
	}
}

Bus *bus_free(Bus *b)
{
	if (!b)
		return NULL;
	bus_loop_free(b->loop);
	sd_bus_slot_unref(b->request);
	sd_bus_slot_unref(b->door);
	bus_signals_done(b);
	pending_calls_free(b->calls);
	bus_wait_free(b->waits);
	long_replies_free(b->long_replies);
	bus_turns_free(b->turns);
	bus_callers_free(b->callers);
	if (b->bus)
		flush_queue(b->bus);
	sd_bus_close_unref(b->bus);
	free(b);
	return NULL;
}

int bus_enter_answer(sd_bus_message *answer, const char *entry)
{
	char array[16];

	snprintf(array, sizeof(array), "a%s", entry);
	if (sd_bus_message_is_method_error(answer, NULL))
		return -sd_bus_message_get_errno(answer);
	if (!sd_bus_message_has_signature(answer, array))
		return -EBADMSG;
	return MIN(sd_bus_message_enter_container(answer, 'a', entry), 0);
}

sd_bus *bus_connection(const Bus *b)
{
	return b->bus;
}

static int on_name(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *ret_error)
{
	const sd_bus_error *error = sd_bus_message_get_error(m);
	Bus *b = userdata;
	uint32_t owner = 0;
	int r;

	if (bus_error_is_end(error)) {
		/* nobody has refused anything */
		r = -ECONNRESET;
	} else if (error) {
		r = log_error_errno(-sd_bus_message_get_errno(m),
				    "Cannot own " RDMAD_BUS_NAME " on the bus: %s", error->message);
	} else {
		r = sd_bus_message_read_basic(m, 'u', &owner);
		if (r >= 0 && owner != NAME_OWNER)
			r = log_error_errno(-EEXIST, "Another process owns " RDMAD_BUS_NAME
						     " on this bus; rdmad runs once a bus");
	}
	b->handler->name(b->userdata, MIN(r, 0));
	return 0;
}

int bus_acquire_name(Bus *b)
{
	int r = sd_bus_request_name_async(b->bus, &b->request, RDMAD_BUS_NAME, 0, on_name, b);

	if (r < 0)
		return log_error_errno(r, "Cannot own " RDMAD_BUS_NAME " on the bus: %m");
	/* what is sent from now on comes after the request */
	b->signals = true;
	return 0;
}
