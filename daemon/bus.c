/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus.h"

#include "bus-bulk.h"
#include "bus-manager.h"
#include "bus-options.h"
#include "bus-property.h"
#include "bus-simulator.h"
#include "bus-wait.h"
#include "log.h"
#include "lookup.h"
#include "manager.h"
#include "names.h"

struct Bus {
	struct Manager *manager;
	sd_bus *bus;
	BusWait *waits;
	BusBulk *bulk;
	bool owns_name;
};

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
		AttrValue from, to;

		r = sd_bus_message_append(reply, "(ttsss)", t->realtime_usec, t->monotonic_usec,
					  history_state_name(t->from, &from),
					  history_state_name(t->to, &to),
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
	r = bus_bulk_new(b->bus, manager_event_loop(b->manager), manager_cache(b->manager),
			 manager_config(b->manager)->long_reply_rate, &b->bulk);
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
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
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
	r = sd_bus_attach_event(b->bus, manager_event_loop(m), SD_EVENT_PRIORITY_NORMAL);
	if (r < 0)
		return log_error_errno(r, "Cannot attach the bus to the event loop: %m");
	*ret = steal_pointer(&b);
	return 0;
}

Bus *bus_free(Bus *b)
{
	if (b->waits)
		bus_wait_free(b->waits);
	if (b->bus)
		sd_bus_detach_event(b->bus);
	if (b->bulk)
		bus_bulk_free(b->bulk);
	sd_bus_flush_close_unref(b->bus);
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

BusBulk *bus_bulk(const Bus *b)
{
	return b->bulk;
}

int bus_acquire_name(Bus *b)
{
	int r = sd_bus_request_name(b->bus, RDMAD_BUS_NAME, 0);

	if (r == -EEXIST || r == -EALREADY)
		return log_error_errno(-EEXIST, "Another process owns " RDMAD_BUS_NAME
						" on this bus; rdmad runs once a bus");
	if (r < 0)
		return log_error_errno(r, "Cannot own " RDMAD_BUS_NAME " on the bus: %m");
	b->owns_name = true;
	return 0;
}

/* The names of those interfaces in MASK that a port can have; RET has room for all. Returns how
 * many. */
static size_t interface_names(unsigned int mask, char *ret[INTERFACE_RAW + 1])
{
	size_t n = 0;

	for (AttrInterface i = 0; i < INTERFACE_RAW; i++)
		if (mask >> i & 1)
			ret[n++] = CONST_CAST(char *, attr_interface_name(i));
	ret[n] = NULL;
	return n;
}

/* A signal that could not be queued is lost to its receivers: they see it by the generations. */
static void check_emit(int r, const char *path, const char *what)
{
	if (r < 0 && r != -ENOTCONN)
		log_warning_errno(r, "Cannot signal %s of %s, ignoring: %m", what, path);
}

static void emit_device_changed(Bus *b, const char *path, const AttrMask *changed)
{
	char *names[BUS_VTABLE_MAX];
	size_t n = 0;

	for (DeviceAttr a = 0; a < _DEVICE_ATTR_MAX; a++)
		if (mask_has(changed, a) && (device_attributes[a].class == CLASS_DYNAMIC ||
					     device_attributes[a].class == CLASS_CONST))
			names[n++] = CONST_CAST(char *, device_attributes[a].name);
	if (n == 0)
		return;
	names[n] = NULL;
	check_emit(sd_bus_emit_properties_changed_strv(
			   b->bus, path, attr_interface_name(INTERFACE_DEVICE), names),
		   path, "changed properties");
}

/* The same of a port, which is what happens often: sd-bus would look up each of the properties. */
static int send_port_changed(Bus *b, const Port *p, const char *path, AttrInterface interface,
			     const AttrMask *changed)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	BusWriter w = {};
	int r = sd_bus_message_new_signal(b->bus, &m, path, "org.freedesktop.DBus.Properties",
					  "PropertiesChanged");

	if (r < 0)
		return r;
	w.message = m;
	bus_put_text(&w, 's', attr_interface_name(interface));
	bus_put_port_changes(&w, p, interface, changed);
	r = bus_writer_error(&w);
	return r < 0 ? r : sd_bus_send(b->bus, m, NULL);
}

/* Whether org.rdma.Port itself has news, and not only generations that count it. */
static bool has_news(const AttrMask *changed)
{
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++)
		if (mask_has(changed, a) && port_attributes[a].interface == INTERFACE_PORT &&
		    port_attributes[a].source != SOURCE_CORE)
			return true;
	return false;
}

/* One PropertiesChanged for each of INTERFACES that has any, the news first. */
static void publish_changed(Bus *b, const Port *p, const char *path, unsigned int interfaces,
			    const AttrMask *changed)
{
	AttrInterface order[INTERFACE_RAW];
	size_t n = 0;

	interfaces &= bus_changed_interfaces(changed);
	if (has_news(changed))
		order[n++] = INTERFACE_PORT;
	for (AttrInterface i = INTERFACE_PORT + 1; i < INTERFACE_RAW; i++)
		order[n++] = i;
	if (order[0] != INTERFACE_PORT)
		order[n++] = INTERFACE_PORT;
	for (size_t i = 0; i < n; i++)
		if (interfaces >> order[i] & 1)
			check_emit(send_port_changed(b, p, path, order[i], changed), path,
				   "changed properties");
}

void bus_publish_counts(Bus *b)
{
	if (!b->owns_name)
		return;
	check_emit(sd_bus_emit_properties_changed(b->bus, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
						  "DeviceCount", "PortCount", "ActivePortCount",
						  NULL),
		   RDMAD_ROOT_PATH, "counts");
}

void bus_publish_device(Bus *b, const Device *d, CacheOp op, const AttrMask *changed)
{
	char path[RDMAD_PATH_MAX];
	char *interfaces[INTERFACE_RAW + 1];

	bus_wait_mark(b->waits);
	if (!b->owns_name)
		return;
	device_path(d, path);
	interface_names(1U << INTERFACE_DEVICE, interfaces);
	switch (op) {
	case CACHE_ADDED:
		check_emit(sd_bus_emit_interfaces_added_strv(b->bus, path, interfaces), path,
			   "the new device");
		break;
	case CACHE_CHANGED:
		emit_device_changed(b, path, changed);
		break;
	case CACHE_REMOVED:
		check_emit(sd_bus_emit_interfaces_removed_strv(b->bus, path, interfaces), path,
			   "the removal");
		break;
	case CACHE_UNCHANGED:
		break;
	}
}

void bus_publish_device_ports(Bus *b, Device *d)
{
	char path[RDMAD_PATH_MAX];
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->n_ports; i++)
		n += d->ports[i]->published;
	if (n == d->ports_said)
		return;
	d->ports_said = n;
	if (b->owns_name)
		check_emit(sd_bus_emit_properties_changed(b->bus, device_path(d, path),
							  RDMAD_INTERFACE_DEVICE, "Ports", NULL),
			   path, "the ports");
}

void bus_publish_port_removed(Bus *b, const Port *p)
{
	char path[RDMAD_PATH_MAX];
	char *interfaces[INTERFACE_RAW + 1];

	bus_wait_mark(b->waits);
	if (!b->owns_name || !p->published)
		return;
	interface_names(port_interfaces(&p->now), interfaces);
	check_emit(sd_bus_emit_interfaces_removed_strv(b->bus, port_path(p, path), interfaces),
		   path, "the removal");
}

static void publish_state_changed(Bus *b, const Port *p, const char *path, uint32_t old_state,
				  EventReason reason)
{
	const Attribute *row = &port_attributes[PORT_ATTR_state];
	PortValues old = {.state = old_state};
	AttrValue was, is;

	(void)attr_publish(row, &old, &was);
	(void)attr_publish(row, &p->now.values, &is);
	check_emit(sd_bus_emit_signal(b->bus, path, RDMAD_INTERFACE_PORT, "StateChanged", "sss",
				      is.text, was.text, event_reason_name(reason)),
		   path, "the state");
}

/* A link layer that changes brings other interfaces. */
static void publish_interfaces(Bus *b, const char *path, unsigned int were, unsigned int are)
{
	char *interfaces[INTERFACE_RAW + 1];

	if (interface_names(were & ~are, interfaces) > 0)
		check_emit(sd_bus_emit_interfaces_removed_strv(b->bus, path, interfaces), path,
			   "removed interfaces");
	if (interface_names(are & ~were, interfaces) > 0)
		check_emit(sd_bus_emit_interfaces_added_strv(b->bus, path, interfaces), path,
			   "new interfaces");
}

void bus_publish_port(Bus *b, const Port *p, const PortChange *change, EventReason reason)
{
	char path[RDMAD_PATH_MAX];
	char *interfaces[INTERFACE_RAW + 1];
	unsigned int are = port_interfaces(&p->now);
	unsigned int stayed = change->interfaces_were & are;

	if (change->op != CACHE_UNCHANGED)
		bus_wait_mark(b->waits);
	if (!b->owns_name)
		return;
	port_path(p, path);
	switch (change->op) {
	case CACHE_ADDED:
		interface_names(are, interfaces);
		check_emit(sd_bus_emit_interfaces_added_strv(b->bus, path, interfaces), path,
			   "the new port");
		break;
	case CACHE_CHANGED:
		publish_interfaces(b, path, change->interfaces_were, are);
		publish_changed(b, p, path, stayed, &change->changed);
		break;
	case CACHE_UNCHANGED:
	case CACHE_REMOVED:
		break;
	}
	/* After the properties: whoever hears of the transition finds the new values. */
	if (change->state_changed)
		publish_state_changed(b, p, path, change->old_state, reason);
	if (change->subnet_reconfigured)
		check_emit(sd_bus_emit_signal(b->bus, path, RDMAD_INTERFACE_PORT,
					      "SubnetReconfigured", "s", event_reason_name(reason)),
			   path, "the reconfiguration");
}
