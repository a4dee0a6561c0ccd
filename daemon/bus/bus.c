/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <poll.h>

#include "bus-manager.h"
#include "bus-options.h"
#include "bus-private.h"
#include "bus-property.h"
#include "bus-simulator.h"
#include "log.h"
#include "lookup.h"
#include "manager.h"
#include "names.h"

/* How long a bus that takes nothing is waited for at the end. */
#define FLUSH_MSEC 1000

/* D-Bus specification, RequestName: DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER */
#define NAME_OWNER 1U

static int find_device(_unused_ sd_bus *bus, const char *path, _unused_ const char *interface,
		       void *userdata, void **ret_found, _unused_ sd_bus_error *error)
{
	Bus *b = userdata;
	Device *d;
	Port *p;

	if (lookup_path(manager_cache(b->manager), path, &d, &p) < 0 || p)
		return 0;
	*ret_found = d;
	return 1;
}

static int find_port(_unused_ sd_bus *bus, const char *path, const char *interface, void *userdata,
		     void **ret_found, _unused_ sd_bus_error *error)
{
	Bus *b = userdata;
	unsigned int interfaces;
	Device *d;
	Port *p;

	if (lookup_path(manager_cache(b->manager), path, &d, &p) < 0 || !p)
		return 0;
	interfaces = port_interfaces(&p->now);
	for (AttrInterface i = INTERFACE_PORT; i < INTERFACE_RAW; i++)
		if (interfaces >> i & 1 && streq(attr_interface_name(i), interface)) {
			*ret_found = p;
			return 1;
		}
	return 0;
}

static int list_objects(_unused_ sd_bus *bus, _unused_ const char *prefix, void *userdata,
			char ***ret_nodes, _unused_ sd_bus_error *error)
{
	Bus *b = userdata;
	const Cache *c = manager_cache(b->manager);
	size_t n = 0, room = c->n_devices + c->n_ports + 1;
	char **nodes = calloc(room, sizeof(char *));
	char path[RDMAD_PATH_MAX];

	if (!nodes)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_devices; i++) {
		Device *d = c->devices[i];

		if (!d->published)
			continue;
		nodes[n] = strdup(device_path(d, path));
		if (!nodes[n++])
			goto no_memory;
		for (uint32_t k = 1; k <= d->n_ports; k++) {
			Port *p = device_port(d, k);

			if (!p->published)
				continue;
			nodes[n] = strdup(port_path(p, path));
			if (!nodes[n++])
				goto no_memory;
		}
	}
	*ret_nodes = nodes;
	return 0;

no_memory:
	while (n > 0)
		free(nodes[--n]);
	free(nodes);
	return -ENOMEM;
}

static int method_query(sd_bus_message *m, _unused_ void *userdata, sd_bus_error *error)
{
	Port *p = userdata;
	Bus *b = sd_bus_slot_get_userdata(sd_bus_get_current_slot(sd_bus_message_get_bus(m)));
	uint64_t max_age = 0;
	const BusOption options[] = {{"max-age-usec", 't', &max_age}};
	int r = bus_read_options(m, "Query", options, ARRAY_SIZE(options), error);

	if (r < 0)
		return r;
	r = manager_query(b->manager, p, max_age, m);
	if (r == -ENOBUFS)
		return sd_bus_error_setf(error, RDMAD_ERROR_LIMITS_EXCEEDED,
					 "Too many queries are waiting");
	return r < 0 ? r : 1;
}

static int method_get_counters(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Bus *b = sd_bus_slot_get_userdata(sd_bus_get_current_slot(sd_bus_message_get_bus(m)));
	int r = bus_read_options(m, "GetCounters", NULL, 0, error);

	if (r < 0)
		return r;
	r = manager_counters(b->manager, userdata, m);
	if (r == -ENOBUFS)
		return sd_bus_error_setf(error, RDMAD_ERROR_LIMITS_EXCEEDED,
					 "Too many calls for counters are waiting");
	return r < 0 ? r : 1;
}

int bus_reply_query(sd_bus_message *call, const Port *p)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	int r = sd_bus_message_new_method_return(call, &reply);

	if (r < 0)
		return r;
	r = sd_bus_message_open_container(reply, 'a', "{sv}");
	for (PortAttr a = 0; r >= 0 && a < _PORT_ATTR_MAX; a++) {
		const Attribute *row = &port_attributes[a];
		const char *signature = attr_raw_signature(row->type);

		if (!mask_has(&p->now.supplied, a) || row->size == 0)
			continue;
		if (signature[0] == 's')
			r = sd_bus_message_append(reply, "{sv}", row->field, "s",
						  attr_get_text(row, &p->now.values));
		else if (signature[0] == 't')
			r = sd_bus_message_append(reply, "{sv}", row->field, "t",
						  attr_get_raw(row, &p->now.values));
		else
			r = sd_bus_message_append(reply, "{sv}", row->field, signature,
						  (uint32_t)attr_get_raw(row, &p->now.values));
	}
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

static int method_get_history(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const Port *p = userdata;
	int r = bus_read_options(m, "GetHistory", NULL, 0, error);

	if (r >= 0)
		r = sd_bus_message_new_method_return(m, &reply);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "(ttsss)");
	for (size_t i = 0; r >= 0 && i < p->history.n; i++) {
		const Transition *t = history_entry(&p->history, i);
		AttrText from, to;

		r = sd_bus_message_append(reply, "(ttsss)", t->realtime_usec, t->monotonic_usec,
					  history_state_name(t->from, from),
					  history_state_name(t->to, to),
					  event_reason_name(t->reason));
	}
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

/* clang-format off */
static const sd_bus_vtable port_members[] = {
	SD_BUS_METHOD_WITH_ARGS("Query", SD_BUS_ARGS("a{sv}", options), SD_BUS_RESULT("a{sv}", fields),
				method_query, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetCounters", SD_BUS_ARGS("a{sv}", options),
				SD_BUS_RESULT("a(sstsss)", counters, "t", timestamp, "t", monotonic),
				method_get_counters, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetHistory", SD_BUS_ARGS("a{sv}", options), SD_BUS_RESULT("a(ttsss)", transitions),
				method_get_history, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL_WITH_ARGS("StateChanged", SD_BUS_ARGS("s", new, "s", old, "s", reason), 0),
	SD_BUS_SIGNAL_WITH_ARGS("SubnetReconfigured", SD_BUS_ARGS("s", reason), 0),
};
/* clang-format on */

static int export_objects(Bus *b)
{
	/* sd-bus keeps pointers to them: one set serves every connection */
	static sd_bus_vtable vtables[INTERFACE_RAW][BUS_VTABLE_MAX];
	int r;

	for (AttrInterface i = 0; i < INTERFACE_RAW; i++) {
		if (vtables[i][0].type == 0)
			bus_vtable_build(i, port_members,
					 i == INTERFACE_PORT ? ARRAY_SIZE(port_members) : 0,
					 vtables[i]);
		r = sd_bus_add_fallback_vtable(b->bus, NULL, RDMAD_DEVICE_PREFIX,
					       attr_interface_name(i), vtables[i],
					       i == INTERFACE_DEVICE ? find_device : find_port, b);
		if (r < 0)
			return r;
	}
	r = sd_bus_add_node_enumerator(b->bus, NULL, RDMAD_DEVICE_PREFIX, list_objects, b);
	if (r < 0)
		return r;
	r = sd_bus_add_object_manager(b->bus, NULL, RDMAD_ROOT_PATH);
	if (r < 0)
		return r;
	r = long_replies_new(b->bus, manager_event_loop(b->manager), manager_cache(b->manager),
			     manager_config(b->manager)->long_reply_rate, &b->long_replies);
	if (r < 0)
		return r;
	if (manager_simulator(b->manager)) {
		r = bus_simulator_add(b->bus, manager_simulator(b->manager), NULL);
		if (r < 0)
			return r;
	}
	return bus_manager_add(b->bus, b->manager);
}

static int open_connection(const char *address, sd_bus **ret)
{
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
	int r;

	if (!address) {
		r = sd_bus_open_system(&bus);
		if (r < 0)
			return r;
	} else {
		r = sd_bus_new(&bus);
		if (r < 0)
			return r;
		r = sd_bus_set_address(bus, address);
		if (r < 0)
			return r;
		r = sd_bus_set_bus_client(bus, true);
		if (r < 0)
			return r;
		r = sd_bus_start(bus);
		if (r < 0)
			return r;
	}
	*ret = steal_pointer(&bus);
	return 0;
}

/* Before sd-bus does what it does when the loop ends: it would flush. */
static int on_exit_loop(_unused_ sd_event_source *s, void *userdata)
{
	Bus *b = userdata;

	return sd_bus_detach_event(b->bus);
}

static int attach(Bus *b, sd_event *event)
{
	int r = sd_event_add_exit(event, &b->exit, on_exit_loop, b);

	if (r >= 0)
		r = sd_event_source_set_priority(b->exit, SD_EVENT_PRIORITY_IMPORTANT);
	return r < 0 ? r : sd_bus_attach_event(b->bus, event, SD_EVENT_PRIORITY_NORMAL);
}

int bus_new(struct Manager *m, const char *address, Bus **ret)
{
	_cleanup_(bus_free_pointer) Bus *b = calloc(1, sizeof(Bus));
	int r;

	if (!b)
		return log_error_errno(-ENOMEM, "No memory for the bus connection: %m");
	b->manager = m;
	r = open_connection(address, &b->bus);
	if (r < 0)
		return log_error_errno(r, "Cannot connect to the bus %s: %m",
				       address ? address : "of the system");
	r = bus_wait_new(b->bus, m, &b->waits);
	if (r < 0)
		return log_error_errno(r, "No memory for the bus connection: %m");
	r = export_objects(b);
	if (r < 0)
		return log_error_errno(r, "Cannot export the objects: %m");
	r = attach(b, manager_event_loop(m));
	if (r < 0)
		return log_error_errno(r, "Cannot attach the bus to the event loop: %m");
	*ret = steal_pointer(&b);
	return 0;
}

/* Writes what is queued, unless the bus has stopped taking it: sd_bus_flush() would wait for ever.
 */
static void flush_queue(sd_bus *bus)
{
	uint64_t n = 0;
	struct pollfd p = {.fd = sd_bus_get_fd(bus), .events = POLLOUT};

	if (sd_bus_is_ready(bus) > 0 && sd_bus_get_n_queued_write(bus, &n) >= 0 && n > 0 &&
	    poll(&p, 1, FLUSH_MSEC) > 0)
		sd_bus_flush(bus);
}

Bus *bus_free(Bus *b)
{
	bus_signals_done(b);
	sd_event_source_disable_unref(b->exit);
	if (b->waits)
		bus_wait_free(b->waits);
	if (b->long_replies)
		long_replies_free(b->long_replies);
	if (b->bus) {
		sd_bus_detach_event(b->bus);
		flush_queue(b->bus);
		sd_bus_close_unref(b->bus);
	}
	free(b);
	return NULL;
}

sd_bus *bus_connection(const Bus *b)
{
	return b->bus;
}

BusWait *bus_waits(const Bus *b)
{
	return b->waits;
}

LongReplies *bus_long_replies(const Bus *b)
{
	return b->long_replies;
}

static int on_name(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *ret_error)
{
	const sd_bus_error *error = sd_bus_message_get_error(m);
	Bus *b = userdata;
	uint32_t owner = 0;
	int r;

	if (sd_bus_error_has_name(error, SD_BUS_ERROR_NO_REPLY)) {
		/* it took too long, or the connection has ended: nobody has refused anything */
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
	manager_on_name(b->manager, MIN(r, 0));
	return 0;
}

int bus_acquire_name(Bus *b)
{
	int r = sd_bus_request_name_async(b->bus, NULL, RDMAD_BUS_NAME, 0, on_name, b);

	if (r < 0)
		return log_error_errno(r, "Cannot own " RDMAD_BUS_NAME " on the bus: %m");
	/* what is sent from now on comes after the request */
	b->signals = true;
	return 0;
}
