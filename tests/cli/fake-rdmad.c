/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A stand-in for rdmad that always has the same ports, does what org.rdma.Test on /org/rdma tells
 * it, and fails on demand. The methods of org.rdma.Test are:
 *
 *   Set(sss)         port, "FIELD=VALUE", reason: changes a value and signals that as rdmad does
 *   SetTwice(sss)    port, "FIELD=VALUE", "FIELD=VALUE": two changes without a pause, each with
 *                    signals of its own
 *   Flap(ss)         port, reason: StateChanged to "down" and back, without any other signal
 *   AddGid(ss)       port, GID in 32 hexadecimal digits: a new last entry
 *   Reconfigure(ss)  port, reason: SubnetReconfigured
 *   Add(s)           device: comes back
 *   Remove(s)        device: goes away
 *   Delay(s)         from now on: microseconds from PropertiesChanged to StateChanged
 *   Fail(ss)         error name, message: of the next call that is not for org.rdma.Test
 *   Fail(sss)        the same and a member: of its next call
 *
 * Each argument on the command line is "PORT FIELD=VALUE", set before the start, or one of "real"
 * (the devices are not simulated), "no-nodes" (they have no verbs nodes), "stale" (they are
 * stale) and "odd" (the histories have another form). It prints "ready" when it has its name, and
 * the member of each call that it has answered: FindPorts/all if all of the ports was asked for,
 * FindPorts/named if properties of them.
 */

#include "fake-message.h"
#include "names.h"

static sd_bus *bus;
static char *fail_name, *fail_message, *fail_member;
static unsigned int delay_usec; /* before StateChanged */
static bool simulated = true, odd;
static const char *how = ""; /* the call that is answered has asked for that */

static int get_managed_objects(sd_bus_message *call)
{
	sd_bus_message *reply;
	char path[RDMAD_PATH_MAX];

	sd_bus_message_new_method_return(call, &reply);
	sd_bus_message_open_container(reply, 'a', "{oa{sa{sv}}}");
	for (size_t i = N_FAKE_PORTS; i-- > 0;) {
		DeviceSnapshot d = fake_device(&fake_ports[i]);
		View port = view_of_port(&fake_ports[i]), device = view_of_device(&d);
		bool last = i + 1 == N_FAKE_PORTS ||
			    fake_ports[i + 1].device_index != fake_ports[i].device_index;

		if (fake_ports[i].present) {
			sd_bus_message_open_container(reply, 'e', "oa{sa{sv}}");
			append_object(reply, fake_path(&fake_ports[i]), &port);
			sd_bus_message_close_container(reply);
		}
		if (fake_ports[i].present && last) {
			snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u",
				 fake_ports[i].device_index);
			sd_bus_message_open_container(reply, 'e', "oa{sa{sv}}");
			append_object(reply, path, &device);
			sd_bus_message_close_container(reply);
		}
		device_snapshot_done(&d);
	}
	sd_bus_message_close_container(reply);
	sd_bus_send(bus, reply, NULL);
	sd_bus_message_unref(reply);
	return 1;
}

/* The port that NAME is one of the names of. */
static FakePort *find_named(const char *name)
{
	return fake_find(streq(name, "mlx5_0") || streq(name, "ib0") ||
					 streq(name, "0002:c903:00ab:cdef")
				 ? "mlx5_0/1"
				 : name);
}

/* Reads the options of ListPorts() and FindPorts(): the properties that are named, and whether all
 * are wanted. */
static void read_named(sd_bus_message *call,
		       const char *names[_PORT_ATTR_MAX + _DEVICE_ATTR_MAX + 1], bool *ret_all)
{
	const char *key;
	size_t n = 0;

	*ret_all = false;
	sd_bus_message_enter_container(call, 'a', "{sv}");
	while (sd_bus_message_enter_container(call, 'e', "sv") > 0) {
		sd_bus_message_read(call, "s", &key);
		if (streq(key, "properties")) {
			sd_bus_message_enter_container(call, 'v', "as");
			sd_bus_message_enter_container(call, 'a', "s");
			while (n + 1 < _PORT_ATTR_MAX + _DEVICE_ATTR_MAX &&
			       sd_bus_message_read_basic(call, 's', &names[n]) > 0)
				n++;
			sd_bus_message_exit_container(call);
			sd_bus_message_exit_container(call);
		} else {
			sd_bus_message_skip(call, "v");
		}
		if (streq(key, "reasons"))
			names[n++] = "Unavailable";
		*ret_all |= streq(key, "all");
		sd_bus_message_exit_container(call);
	}
}

static void append_match(sd_bus_message *reply, const FakePort *p, const char *const *names,
			 bool all)
{
	DeviceSnapshot d = fake_device(p);
	View port = view_of_port(p), device = view_of_device(&d);

	sd_bus_message_open_container(reply, 'r', "oa{sv}");
	sd_bus_message_append(reply, "o", fake_path(p));
	sd_bus_message_open_container(reply, 'a', "{sv}");
	sd_bus_message_append(reply, "{sv}{sv}", "By", "s", "name", "Later", "as", 1, "x");
	if (all || *names) {
		sd_bus_message_open_container(reply, 'e', "sv");
		sd_bus_message_append(reply, "s", "Properties");
		sd_bus_message_open_container(reply, 'v', "a{sv}");
		append_found(reply, all, &port, &device, names);
		sd_bus_message_close_container(reply);
		sd_bus_message_close_container(reply);
	}
	sd_bus_message_close_container(reply);
	sd_bus_message_close_container(reply);
	device_snapshot_done(&d);
}

static int find_ports(sd_bus_message *call)
{
	static const char *const of_mlx5_1[] = {"mlx5_1/1", "mlx5_1/2"};
	const char *properties[_PORT_ATTR_MAX + _DEVICE_ATTR_MAX + 1] = {};
	const char *what, *const *names = &what;
	sd_bus_message *reply;
	size_t n = 1;
	bool all;

	sd_bus_message_read(call, "s", &what);
	read_named(call, properties, &all);
	how = all ? "/all" : *properties ? "/named" : "";
	if (streq(what, "mlx5_1")) {
		names = of_mlx5_1;
		n = ARRAY_SIZE(of_mlx5_1);
	}
	sd_bus_message_new_method_return(call, &reply);
	sd_bus_message_open_container(reply, 'a', "(oa{sv})");
	for (size_t i = 0; i < n; i++) {
		const FakePort *p = find_named(names[i]);

		if (p)
			append_match(reply, p, properties, all);
	}
	sd_bus_message_close_container(reply);
	sd_bus_send(bus, reply, NULL);
	sd_bus_message_unref(reply);
	return 1;
}

static FakePort *port_of(sd_bus_message *call)
{
	for (size_t i = 0; i < N_FAKE_PORTS; i++)
		if (fake_ports[i].present &&
		    streq(fake_path(&fake_ports[i]), sd_bus_message_get_path(call)))
			return &fake_ports[i];
	return NULL;
}

/* A port of the device that the call is about. */
static FakePort *port_of_device(sd_bus_message *call)
{
	char path[RDMAD_PATH_MAX];

	for (size_t i = 0; i < N_FAKE_PORTS; i++) {
		snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u", fake_ports[i].device_index);
		if (fake_ports[i].present && streq(path, sd_bus_message_get_path(call)))
			return &fake_ports[i];
	}
	return NULL;
}

static int get_all(sd_bus_message *call)
{
	const FakePort *p = port_of(call), *of_device = port_of_device(call);
	DeviceSnapshot d = {};
	const char *interface;
	sd_bus_message *reply;
	View v;

	sd_bus_message_read(call, "s", &interface);
	if (!p && !of_device)
		return sd_bus_reply_method_errorf(call, SD_BUS_ERROR_UNKNOWN_OBJECT, "no object");
	if (of_device)
		d = fake_device(of_device);
	v = of_device ? view_of_device(&d) : view_of_port(p);
	sd_bus_message_new_method_return(call, &reply);
	if (!*interface)
		append_properties(reply, &v, INTERFACE_RAW, NULL);
	for (AttrInterface i = 0; i < INTERFACE_RAW; i++)
		if (streq(attr_interface_name(i), interface))
			append_properties(reply, &v, i, NULL);
	sd_bus_send(bus, reply, NULL);
	sd_bus_message_unref(reply);
	device_snapshot_done(&d);
	return 1;
}

static int get_of_device(sd_bus_message *call, const FakePort *p, const char *property)
{
	DeviceSnapshot d = fake_device(p);
	View v = view_of_device(&d);
	sd_bus_message *reply;

	sd_bus_message_new_method_return(call, &reply);
	for (unsigned int i = 0; i < v.n_rows; i++)
		if (streq(v.rows[i].name, property))
			append_variant(reply, &v, i);
	sd_bus_send(bus, reply, NULL);
	sd_bus_message_unref(reply);
	device_snapshot_done(&d);
	return 1;
}

/* A property of a device, or of the manager, whose MonitorMode is as Simulated. */
static int get(sd_bus_message *call)
{
	const FakePort *of_device = port_of_device(call);
	const char *interface, *property;

	sd_bus_message_read(call, "ss", &interface, &property);
	if (of_device)
		return get_of_device(call, of_device, property);
	return streq(property, "Version") ? sd_bus_reply_method_return(call, "v", "s", "0.0.7")
					  : sd_bus_reply_method_return(call, "v", "b", simulated);
}

#define LISTED_PORT "osussssuustuussbsta{sv}"

/* Only the option "properties". */
/* Whoever asks for the reasons gets all of them: this service knows no others. */
static int list_ports(sd_bus_message *call)
{
	const char *names[_PORT_ATTR_MAX + _DEVICE_ATTR_MAX + 1] = {};
	sd_bus_message *reply;
	bool all;

	read_named(call, names, &all);
	sd_bus_message_new_method_return(call, &reply);
	sd_bus_message_open_container(reply, 'a', "(" LISTED_PORT ")");
	for (size_t i = 0; i < N_FAKE_PORTS; i++) {
		DeviceSnapshot d = fake_device(&fake_ports[i]);
		View port = view_of_port(&fake_ports[i]), device = view_of_device(&d);

		if (fake_ports[i].present) {
			sd_bus_message_open_container(reply, 'r', LISTED_PORT);
			append_listed(reply, fake_path(&fake_ports[i]), &port, &device, names);
			sd_bus_message_close_container(reply);
		}
		device_snapshot_done(&d);
	}
	sd_bus_message_close_container(reply);
	sd_bus_send(bus, reply, NULL);
	sd_bus_message_unref(reply);
	return 1;
}

static int query(sd_bus_message *call)
{
	const FakePort *p = port_of(call);
	sd_bus_message *reply;

	sd_bus_message_new_method_return(call, &reply);
	sd_bus_message_open_container(reply, 'a', "{sv}");
	sd_bus_message_append(reply, "{sv}", "from_the_future", "t", UINT64_MAX);
	for (PortAttr i = 0; i < _PORT_ATTR_MAX; i++) {
		const Attribute *a = &port_attributes[i];
		uint64_t raw;

		if (!mask_has(&p->s.supplied, i) || a->size == 0)
			continue;
		if (attr_is_list(a->type)) {
			sd_bus_message_open_container(reply, 'e', "sv");
			sd_bus_message_append(reply, "s", a->field);
			sd_bus_message_open_container(reply, 'v', attr_raw_signature(a->type));
			append_list(reply, a->type, attr_get_text(a, &p->s.values));
			sd_bus_message_close_container(reply);
			sd_bus_message_close_container(reply);
			continue;
		}
		raw = attr_is_text(a->type) ? 0 : attr_get_raw(a, &p->s.values);
		switch (attr_raw_signature(a->type)[0]) {
		case 'u':
			sd_bus_message_append(reply, "{sv}", a->field, "u", (uint32_t)raw);
			break;
		case 't':
			sd_bus_message_append(reply, "{sv}", a->field, "t", raw);
			break;
		case 'b':
			sd_bus_message_append(reply, "{sv}", a->field, "b", raw != 0);
			break;
		case 's':
			sd_bus_message_append(reply, "{sv}", a->field, "s",
					      attr_get_text(a, &p->s.values));
			break;
		}
	}
	sd_bus_message_close_container(reply);
	sd_bus_send(bus, reply, NULL);
	sd_bus_message_unref(reply);
	return 1;
}

/* mlx5_0/1 has users in a pod, in a container and in a job; of another port there was no time to
 * read all, and the caller does not see who has its queue pair. */
static int get_users(sd_bus_message *call)
{
	static const char pod[] = "0f3a7e0c-1111-2222-3333-444455556666";
	static const char container[] =
		"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
	const FakePort *p = port_of(call);

	if (p && streq(p->name, "mlx5_0/1"))
		return sd_bus_reply_method_return(
			call, "a(ssuuua{sv})a{sv}", 6, "process", "train", 4711, 0, 8, 1, "Pod",
			"s", pod, "process", "serve", 4712, 1000000000, 4, 1, "Container", "s",
			container, "process", "solve", 4713, 0, 2, 2, "Unit", "s",
			"slurmstepd.scope", "Job", "s", "77", "process", "ibd", 4714, 0, 3, 1,
			"Unit", "s", "ibd.service", "unknown", "", 0, UINT32_MAX, 2, 0, "kernel",
			"ib_core", 0, UINT32_MAX, 1, 0, 4, "QpCount", "u", 20, "ProcessCount", "u",
			4, "KernelQpCount", "u", 1, "Complete", "b", true);
	return sd_bus_reply_method_return(call, "a(ssuuua{sv})a{sv}", 0, 5, "QpCount", "u", 1,
					  "ProcessCount", "u", 1, "HiddenQpCount", "u", 1,
					  "HiddenProcessCount", "u", 1, "Complete", "b", false);
}

static int list_histories(sd_bus_message *call)
{
	return odd ? sd_bus_reply_method_return(call, "as", 1, "mlx5_0/1")
		   : sd_bus_reply_method_return(call, "a(sa{sv})", 0);
}

/* The port that is asked for has gone since; and nobody knows those of all ports. */
static int get_counters(sd_bus_message *call)
{
	sd_bus_message_enter_container(call, 'a', "{sv}");
	return sd_bus_message_at_end(call, false) > 0
		       ? 0
		       : sd_bus_reply_method_return(call, "a(asasasa{sv})a(ouattta{sv})", 0, 0);
}

static bool unavailable_differs(const PortSnapshot *a, const PortSnapshot *b)
{
	for (PortAttr i = 0; i < _PORT_ATTR_MAX; i++)
		if (port_attributes[i].interface != INTERFACE_RAW &&
		    mask_has(&a->valid, i) != mask_has(&b->valid, i))
			return true;
	return false;
}

/* Scalars with their values, tables invalidated; then the transition. */
static void signal_changes(const FakePort *p, const PortSnapshot *was, const char *reason)
{
	const Attribute *state = &port_attributes[PORT_ATTR_state];
	AttrMask changed = port_diff(was, &p->s);
	AttrValue old_state, new_state;
	sd_bus_message *m;
	View v = view_of_port(p);

	mask_set(&changed, PORT_ATTR_unavailable, unavailable_differs(was, &p->s));
	for (AttrInterface i = 0; i < INTERFACE_RAW; i++) {
		AttrMask scalars = {};
		const char *invalidated[8] = {};
		size_t n = 0;
		bool any = false;

		for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++) {
			if (port_attributes[a].interface != i || !mask_has(&changed, a))
				continue;
			any = true;
			if (attr_port_table(port_attributes[a].type) < _PORT_TABLE_MAX)
				invalidated[n++] = port_attributes[a].name;
			else
				mask_set(&scalars, a, true);
		}
		if (!any)
			continue;
		sd_bus_message_new_signal(bus, &m, fake_path(p), "org.freedesktop.DBus.Properties",
					  "PropertiesChanged");
		sd_bus_message_append(m, "s", attr_interface_name(i));
		append_properties(m, &v, i, &scalars);
		sd_bus_message_append_strv(m, CONST_CAST(char **, invalidated));
		sd_bus_send(bus, m, NULL);
		sd_bus_message_unref(m);
	}
	if (!mask_has(&changed, PORT_ATTR_state))
		return;
	if (delay_usec > 0) {
		sd_bus_flush(bus);
		usleep(delay_usec);
	}
	(void)attr_publish(state, &was->values, &old_state);
	(void)attr_publish(state, &p->s.values, &new_state);
	sd_bus_emit_signal(bus, fake_path(p), RDMAD_INTERFACE_PORT, "StateChanged", "sss",
			   new_state.text, old_state.text, reason);
}

/* The arguments of InterfacesRemoved: whatever interfaces an object may have. */
static void append_removed(sd_bus_message *m, const char *path)
{
	const char *names[INTERFACE_RAW + 2] = {"org.freedesktop.DBus.Properties"};

	for (AttrInterface i = 0; i < INTERFACE_RAW; i++)
		names[i + 1] = attr_interface_name(i);
	sd_bus_message_append_basic(m, 'o', path);
	sd_bus_message_append_strv(m, CONST_CAST(char **, names));
}

static void announce(const char *device, bool added)
{
	for (size_t i = 0; i < N_FAKE_PORTS; i++) {
		View v = view_of_port(&fake_ports[i]);
		sd_bus_message *m;

		if (!streq(fake_ports[i].device, device) || fake_ports[i].present == added)
			continue;
		sd_bus_message_new_signal(bus, &m, RDMAD_ROOT_PATH,
					  "org.freedesktop.DBus.ObjectManager",
					  added ? "InterfacesAdded" : "InterfacesRemoved");
		if (added)
			append_object(m, fake_path(&fake_ports[i]), &v);
		else
			append_removed(m, fake_path(&fake_ports[i]));
		sd_bus_send(bus, m, NULL);
		sd_bus_message_unref(m);
		fake_ports[i].present = added;
	}
}

/* Sets FIELD=VALUE and signals it. */
static void set(FakePort *p, const char *setting, const char *reason)
{
	PortSnapshot was = p->s;

	texts_hold(was.values.texts);
	fake_set(p, setting);
	if (was.values.state != p->s.values.state)
		p->s.values.state_change += USEC_PER_SEC;
	fake_derive(p);
	signal_changes(p, &was, reason);
	texts_release(was.values.texts);
}

/* Adds an entry to the GID table and signals it. */
static void add_gid(FakePort *p, const char *gid)
{
	PortSnapshot was = p->s;
	Table *gids = was.tables[PORT_TABLE_GIDS];

	/* port_diff() looks at the old table after fake_add_gid() has replaced it */
	was.tables[PORT_TABLE_GIDS] =
		gids ? table_new(gids->entries, gids->n, gids->entry_size) : NULL;
	fake_add_gid(p, gid, GID_TYPE_ROCE_V2, "ens1f0np0");
	fake_derive(p);
	signal_changes(p, &was, "");
	table_free(was.tables[PORT_TABLE_GIDS]);
}

static void flap(const FakePort *p, const char *reason)
{
	sd_bus_emit_signal(bus, fake_path(p), RDMAD_INTERFACE_PORT, "StateChanged", "sss", "down",
			   "active", reason);
	sd_bus_emit_signal(bus, fake_path(p), RDMAD_INTERFACE_PORT, "StateChanged", "sss", "active",
			   "down", reason);
}

/* A method of org.rdma.Test. */
static int control(sd_bus_message *call)
{
	const char *member = sd_bus_message_get_member(call);
	const char *a, *b = NULL, *c = NULL;
	FakePort *p;

	sd_bus_message_read(call, "s", &a);
	if (sd_bus_message_at_end(call, true) == 0)
		sd_bus_message_read(call, "s", &b);
	if (sd_bus_message_at_end(call, true) == 0)
		sd_bus_message_read(call, "s", &c);
	p = fake_find(a);
	if (streq(member, "Fail")) {
		fail_name = strdup(a);
		fail_message = strdup(b);
		fail_member = c ? strdup(c) : NULL;
	} else if (streq(member, "Delay")) {
		delay_usec = (unsigned int)atoi(a);
	} else if (streq(member, "Add") || streq(member, "Remove")) {
		announce(a, streq(member, "Add"));
	} else if (!p || !b) {
		return sd_bus_reply_method_errorf(call, SD_BUS_ERROR_INVALID_ARGS, "bad call");
	} else if (streq(member, "Set")) {
		set(p, b, c);
	} else if (streq(member, "SetTwice")) {
		set(p, b, "");
		set(p, c, "");
	} else if (streq(member, "AddGid")) {
		add_gid(p, b);
	} else if (streq(member, "Flap")) {
		flap(p, b);
	} else if (streq(member, "Reconfigure")) {
		sd_bus_emit_signal(bus, fake_path(p), RDMAD_INTERFACE_PORT, "SubnetReconfigured",
				   "s", b);
	} else {
		return 0;
	}
	return sd_bus_reply_method_return(call, NULL);
}

static int answer(sd_bus_message *call)
{
	const char *member = sd_bus_message_get_member(call);

	if (sd_bus_message_is_method_call(call, "org.rdma.Test", NULL))
		return control(call);
	if (fail_name && (!fail_member || streq(member, fail_member))) {
		_cleanup_free_ char *name = steal_pointer(&fail_name);
		_cleanup_free_ char *message = steal_pointer(&fail_message);

		free(fail_member);
		fail_member = NULL;
		return sd_bus_reply_method_errorf(call, name, "%s", message);
	}
	return streq(member, "GetManagedObjects") ? get_managed_objects(call)
	       : streq(member, "FindPorts")	  ? find_ports(call)
	       : streq(member, "ListPorts")	  ? list_ports(call)
	       : streq(member, "Get")		  ? get(call)
	       : streq(member, "GetAll")	  ? get_all(call)
	       : streq(member, "Query")		  ? query(call)
	       : streq(member, "GetUsers")	  ? get_users(call)
	       : streq(member, "ListHistories")	  ? list_histories(call)
	       : streq(member, "GetEvidence")
		       ? sd_bus_reply_method_return(call, "a(ttssssa{sv})", 0)
	       : streq(member, "GetCounters") ? get_counters(call)
	       : streq(member, "GetHistory")  ? sd_bus_reply_method_return(call, "a(ttsssa{sv})", 0)
					      : 0;
}

static int on_call(sd_bus_message *call, _unused_ void *userdata, _unused_ sd_bus_error *error)
{
	int r;

	if (!sd_bus_message_is_method_call(call, NULL, NULL))
		return 0;
	how = "";
	r = answer(call);
	sd_bus_flush(bus);
	printf("%s%s\n", sd_bus_message_get_member(call), how);
	fflush(stdout);
	return r;
}

int main(int argc, char **argv)
{
	int r;

	for (size_t i = 0; i < N_FAKE_PORTS; i++)
		fake_set_up(&fake_ports[i]);
	for (int i = 1; i < argc; i++) {
		char *setting = strchr(argv[i], ' ');
		FakePort *p;

		if (!setting) {
			simulated = simulated && !streq(argv[i], "real");
			odd = odd || streq(argv[i], "odd");
			fake_options.has_nodes =
				fake_options.has_nodes && !streq(argv[i], "no-nodes");
			fake_options.is_stale = fake_options.is_stale || streq(argv[i], "stale");
			continue;
		}
		*setting++ = '\0';
		p = fake_find(argv[i]);
		if (!p)
			return 2;
		fake_set(p, setting);
		fake_derive(p);
	}
	if (sd_bus_open_system(&bus) < 0 ||
	    sd_bus_add_fallback(bus, NULL, RDMAD_ROOT_PATH, on_call, NULL) < 0 ||
	    sd_bus_request_name(bus, RDMAD_BUS_NAME, 0) < 0)
		return 1;
	puts("ready");
	fflush(stdout);
	while ((r = sd_bus_process(bus, NULL)) >= 0)
		if (r == 0)
			r = sd_bus_wait(bus, UINT64_MAX);
	return 0;
}
