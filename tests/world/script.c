/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The machine: its values and its events, and what happens to them. */

#include "script-workers.h"

#define COUNTERS_OF_LID 1000U
/* The kernel carries out a change that long after its event at most: the core looks for 1.2 s. */
#define SETTLED_USEC (1200 * USEC_PER_MSEC)

ScriptDevice *script_find(Script *s, uint32_t index)
{
	for (size_t i = 0; i < SCRIPT_DEVICES; i++)
		if (s->devices[i].exists && s->devices[i].index == index)
			return &s->devices[i];
	return NULL;
}

const ScriptDevice *script_devices_now(const Script *s)
{
	return s->devices;
}

void script_firmware(const ScriptDevice *d, char ret[16])
{
	snprintf(ret, 16, "20.%u", d->firmware);
}

/* As a query finds them */

static void add_gids(PortSnapshot *s, uint32_t port, uint32_t value)
{
	GidEntry gids[3] = {};
	size_t n = 1 + value % 3;

	for (size_t i = 0; i < n; i++)
		gids[i] = (GidEntry){
			.gid = {0xfe, 0x80, [13] = (uint8_t)port, (uint8_t)value, (uint8_t)i},
			.index = (uint32_t)i};
	s->tables[PORT_TABLE_GIDS] = table_new(gids, n, sizeof(gids[0]));
	mask_set(&s->supplied, PORT_ATTR_gids, true);
}

static void add_pkeys(PortSnapshot *s, uint32_t value)
{
	const PkeyEntry pkeys[2] = {{.index = 0, .pkey = 0xffff},
				    {.index = 1, .pkey = 0x8000 + value}};

	s->tables[PORT_TABLE_PKEYS] = table_new(pkeys, 2, sizeof(pkeys[0]));
	mask_set(&s->supplied, PORT_ATTR_pkeys, true);
}

static void add_interface(PortSnapshot *s, const ScriptDevice *d, uint32_t port, const Facts *f)
{
	NetdevEntry netdev = {.ifindex = 100 * d->index + port};
	char name[16];

	snprintf(name, sizeof(name), "eth%u", netdev.ifindex);
	text_copy(netdev.name, sizeof(netdev.name), name);
	s->tables[PORT_TABLE_NETDEVS] = table_new(&netdev, 1, sizeof(netdev));
	mask_set(&s->supplied, PORT_ATTR_netdevs, true);
	PORT_SUPPLY_TEXT(s, netdev, name);
	PORT_SUPPLY(s, ifindex, netdev.ifindex);
	PORT_SUPPLY(s, netdev_mtu, 1500 + f->of[FACT_LINK]);
	PORT_SUPPLY(s, netdev_up, f->of[FACT_LINK] % 2);
	PORT_SUPPLY(s, pfc_cap, f->of[FACT_DCB]);
}

void script_port(const ScriptDevice *d, uint32_t number, const Facts *f, unsigned int parts,
		 PortSnapshot *ret)
{
	PortSnapshot s = {.parts = parts};
	AttrMask rows = port_rows_of(parts);

	PORT_SUPPLY(&s, link_layer, d->is_ethernet ? 2U : 1U);
	PORT_SUPPLY(&s, state, f->of[FACT_STATE]);
	PORT_SUPPLY(&s, phys_state, f->of[FACT_STATE] == 1 ? 2U : 5U);
	PORT_SUPPLY(&s, max_mtu, 5);
	PORT_SUPPLY(&s, active_mtu, 5);
	PORT_SUPPLY(&s, active_width, 2);
	PORT_SUPPLY(&s, active_speed, 1U << f->of[FACT_SPEED] % 7);
	PORT_SUPPLY(&s, gid_tbl_len, 8);
	PORT_SUPPLY(&s, pkey_tbl_len, 4);
	PORT_SUPPLY(&s, lid, f->of[FACT_LID]);
	PORT_SUPPLY(&s, sm_lid, f->of[FACT_SM]);
	add_gids(&s, number, f->of[FACT_GIDS]);
	if (d->is_ethernet)
		add_interface(&s, d, number, f);
	else
		add_pkeys(&s, f->of[FACT_PKEYS]);
	s.supplied = mask_and(s.supplied, rows);
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++)
		if (!mask_has(&s.supplied, port_table_attr(t)))
			s.tables[t] = table_free(s.tables[t]);
	*ret = s;
}

void script_counters(const Facts *f, PortSnapshot *ret)
{
	CounterEntry e = {.group = COUNTER_GROUP_PORT,
			  .file = "symbol_error",
			  .value = COUNTERS_OF_LID + f->of[FACT_LID]};

	*ret = (PortSnapshot){};
	ret->tables[PORT_TABLE_COUNTERS] = table_new(&e, 1, sizeof(e));
	mask_set(&ret->supplied, PORT_ATTR_counters, true);
}

void script_users(const Facts *f, PortSnapshot *ret)
{
	HolderEntry e = {.kind = USER_PROCESS, .pid = 100 + f->of[FACT_LID], .qps = 3};

	text_copy(e.name, sizeof(e.name), "job");
	*ret = (PortSnapshot){};
	ret->tables[PORT_TABLE_USERS] = table_new(&e, 1, sizeof(e));
	mask_set(&ret->supplied, PORT_ATTR_users, true);
}

void script_list_device(const ScriptDevice *d, DeviceSnapshot *ret)
{
	char firmware[16];

	script_firmware(d, firmware);
	DEVICE_SUPPLY(ret, index, d->index);
	DEVICE_SUPPLY_TEXT(ret, name, d->name);
	DEVICE_SUPPLY(ret, node_type, 1);
	DEVICE_SUPPLY(ret, dev_protocol, d->is_ethernet ? PROTOCOL_ROCE : PROTOCOL_INFINIBAND);
	DEVICE_SUPPLY(ret, port_count, d->n_ports);
	DEVICE_SUPPLY_TEXT(ret, fw_ver, firmware);
}

/* Events */

/* The changes that follow their events until WHEN_USEC */
static void carry_out(Script *s, uint64_t when_usec)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_late; i++) {
		const LateChange *l = &s->late[i];
		ScriptDevice *d = script_find(s, l->device);

		if (l->when_usec > when_usec) {
			s->late[n++] = *l;
		} else if (d && l->port <= d->n_ports) {
			d->ports[l->port - 1].of[l->fact] = l->value;
			note("%s/%u: fact %u is %u", d->name, l->port, l->fact, l->value);
		}
	}
	s->n_late = n;
}

void script_report(Script *s, uint32_t device, uint32_t port, EventReason reason)
{
	if (s->n_events == SCRIPT_EVENTS) {
		/* the kernel has dropped them, and says so */
		s->n_events = 0;
		script_settle(s);
		device = EVENT_ALL_DEVICES;
		port = EVENT_ALL_PORTS;
		reason = REASON_OVERRUN;
	}
	s->events[s->n_events++] = (Event){device, port, reason};
}

void script_drop_events(Script *s, uint32_t index)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_events; i++)
		if (s->events[i].device != index || s->events[i].reason < REASON_PORT_ACTIVE)
			s->events[n++] = s->events[i];
	s->n_events = n;
}

/* Changes */

static ScriptDevice *any_device(Script *s, Lots *lots)
{
	ScriptDevice *d = &s->devices[lots_below(lots, SCRIPT_DEVICES)];

	return d->exists ? d : NULL;
}

/* Values of which each row knows the event that the kernel sends afterwards. */
static const EventReason event_of[_FACT_MAX] = {
	[FACT_STATE] = REASON_PORT_ACTIVE, /* or REASON_PORT_ERROR */
	[FACT_LID] = REASON_LID_CHANGE,
	[FACT_SM] = REASON_SM_CHANGE,
	[FACT_SPEED] = REASON_SPEED_CHANGE,
	[FACT_GIDS] = REASON_GID_CHANGE,
	[FACT_PKEYS] = REASON_PKEY_CHANGE,
	[FACT_LINK] = REASON_LINK,
	[FACT_DCB] = REASON_DCB,
};

static void change_fact(Script *s, ScriptDevice *d, uint32_t port, Fact f, Lots *lots)
{
	uint32_t *value = &d->ports[port - 1].of[f];
	EventReason reason = event_of[f];

	if (f == FACT_STATE) {
		*value = *value == 4 ? 1 + lots_below(lots, 2) : 4;
		reason = *value == 4 ? REASON_PORT_ACTIVE : REASON_PORT_ERROR;
	} else {
		*value = 1 + lots_below(lots, 200);
	}
	note("%s/%u: fact %u is %u, event %s", d->name, port, f, *value, event_reason_name(reason));
	script_report(s, d->index, port, reason);
}

/* The event comes first. */
static void change_later(Script *s, ScriptDevice *d, uint32_t port, Lots *lots)
{
	static const EventReason reasons[] = {REASON_LINK, REASON_NETDEV, REASON_ADDRESS,
					      REASON_NAMESPACE};
	EventReason reason = reasons[lots_below(lots, ARRAY_SIZE(reasons))];
	Fact f = reason == REASON_ADDRESS ? FACT_GIDS : FACT_LINK;
	LateChange *l;

	/* those of InfiniBand have no interface here */
	if (s->n_late == SCRIPT_LATE || !d->is_ethernet)
		return;
	l = &s->late[s->n_late++];
	*l = (LateChange){.device = d->index, .port = port, .fact = f};
	l->when_usec = virtual_now_usec() + lots_below(lots, SETTLED_USEC);
	l->value = 1 + lots_below(lots, 200);
	note("%s/%u: event %s, fact %u follows", d->name, port, event_reason_name(reason), f);
	script_report(s, d->index, port, reason);
}

/* The subnet manager writes all that it sets in one message. */
static void reregister(Script *s, ScriptDevice *d, uint32_t port, Lots *lots)
{
	Facts *f = &d->ports[port - 1];

	f->of[FACT_LID] = 1 + lots_below(lots, 200);
	f->of[FACT_SM] = 1 + lots_below(lots, 200);
	f->of[FACT_GIDS] = 1 + lots_below(lots, 200);
	note("%s/%u: lid %u, sm_lid %u, gids %u, event client-reregister", d->name, port,
	     f->of[FACT_LID], f->of[FACT_SM], f->of[FACT_GIDS]);
	script_report(s, d->index, port, REASON_CLIENT_REREGISTER);
}

static void change_firmware(Script *s, ScriptDevice *d, Lots *lots)
{
	d->firmware = lots_below(lots, 1000);
	note("%s: firmware %u, event devlink", d->name, d->firmware);
	script_report(s, d->index, EVENT_ALL_PORTS, REASON_DEVLINK);
}

/* Nothing has changed, or nobody knows what. */
static void tell_nothing(Script *s, Lots *lots)
{
	uint32_t device = lots_once_in(lots, 4) ? EVENT_ALL_DEVICES : lots_below(lots, 12);
	EventReason reason = (EventReason)lots_below(lots, _REASON_MAX);

	/* this one says that a device is not wedged any more */
	if (reason == REASON_RECOVERED)
		return;
	note("event %s of device %u, for nothing", event_reason_name(reason), device);
	script_report(s, device, lots_below(lots, 6), reason);
}

void script_change(Script *s)
{
	ScriptDevice *d = any_device(s, s->lots);
	uint32_t port;
	Fact f;

	if (!d || lots_once_in(s->lots, 20)) {
		tell_nothing(s, s->lots);
		return;
	}
	port = 1 + lots_below(s->lots, d->n_ports);
	f = (Fact)lots_below(s->lots, _FACT_MAX);
	if (lots_once_in(s->lots, 6))
		change_later(s, d, port, s->lots);
	else if (lots_once_in(s->lots, 12))
		change_firmware(s, d, s->lots);
	else if (lots_once_in(s->lots, 12))
		reregister(s, d, port, s->lots);
	else
		change_fact(s, d, port, f, s->lots);
}

void script_settle(Script *s)
{
	carry_out(s, UINT64_MAX);
}

void script_catch_up(Script *s)
{
	carry_out(s, virtual_now_usec());
	script_end_overdue(s);
	if (s->is_prompt)
		script_answer_all(s);
}

uint64_t script_next_usec(const Script *s)
{
	uint64_t next = script_next_overdue_usec(s);

	if (s->is_prompt && (s->n_events > 0 || workers_are_busy(s->workers)))
		return virtual_now_usec();
	for (size_t i = 0; i < s->n_late; i++)
		next = MIN(next, s->late[i].when_usec);
	return next;
}

/* Devices */

/* The first name with PREFIX that no device has */
static void free_name(const Script *s, const char *prefix, char ret[16])
{
	for (unsigned int n = 0;; n++) {
		size_t i = 0;

		snprintf(ret, 16, "%s%u", prefix, n);
		while (i < SCRIPT_DEVICES &&
		       !(s->devices[i].exists && streq(s->devices[i].name, ret)))
			i++;
		if (i == SCRIPT_DEVICES)
			return;
	}
}

static void add_device(Script *s, ScriptDevice *d, Lots *lots)
{
	char name[16];

	free_name(s, "mlx5_", name);
	*d = (ScriptDevice){.exists = true, .index = s->next_index++};
	d->is_ethernet = lots_once_in(lots, 2);
	d->n_ports = 1 + lots_below(lots, SCRIPT_PORTS);
	d->firmware = lots_below(lots, 1000);
	memcpy(d->name, name, sizeof(name));
	for (size_t i = 0; i < SCRIPT_PORTS; i++) {
		for (Fact f = 0; f < _FACT_MAX; f++)
			d->ports[i].of[f] = 1 + lots_below(lots, 200);
		d->ports[i].of[FACT_STATE] = lots_once_in(lots, 2) ? 4 : 1;
	}
	note("%s: comes as device %u with %u ports", d->name, d->index, d->n_ports);
}

static void rename_device(Script *s, ScriptDevice *d)
{
	char name[16];

	free_name(s, startswith(d->name, "mlx5_") ? "rdma" : "mlx5_", name);
	note("%s: is %s now", d->name, name);
	memcpy(d->name, name, sizeof(name));
}

/* Two devices change their names. */
static void swap_names(ScriptDevice *a, ScriptDevice *b)
{
	char name[16];

	if (!b->exists || a == b)
		return;
	memcpy(name, a->name, sizeof(name));
	memcpy(a->name, b->name, sizeof(name));
	memcpy(b->name, name, sizeof(name));
	note("%s and %s have changed names", a->name, b->name);
}

void script_devices(Script *s)
{
	ScriptDevice *d = &s->devices[lots_below(s->lots, SCRIPT_DEVICES)];

	if (!d->exists) {
		add_device(s, d, s->lots);
	} else if (lots_once_in(s->lots, 8)) {
		swap_names(d, &s->devices[lots_below(s->lots, SCRIPT_DEVICES)]);
		script_report(s, EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE);
	} else if (lots_once_in(s->lots, 3)) {
		rename_device(s, d);
	} else if (lots_once_in(s->lots, 2)) {
		d->n_ports = 1 + lots_below(s->lots, SCRIPT_PORTS);
		note("%s: has %u ports", d->name, d->n_ports);
	} else {
		note("%s: goes", d->name);
		d->exists = false;
		/* the place may get another device at once, before anybody has noticed */
		script_report(s, d->index, EVENT_ALL_PORTS, REASON_DEVICE);
		if (lots_once_in(s->lots, 2))
			return;
		add_device(s, d, s->lots);
	}
	script_report(s, d->index, EVENT_ALL_PORTS, REASON_DEVICE);
}

void script_empty(Script *s)
{
	for (size_t i = 0; i < SCRIPT_DEVICES; i++) {
		s->devices[i].exists = false;
		script_report(s, s->devices[i].index, EVENT_ALL_PORTS, REASON_DEVICE);
	}
}

/* Faults */

static void toggle(PortSet *ports, uint32_t port)
{
	if (port_set_has(ports, port))
		port_set_remove(ports, port);
	else
		port_set_add(ports, port);
}

void script_faults(Script *s)
{
	ScriptDevice *d = any_device(s, s->lots);
	uint32_t port;

	switch (lots_below(s->lots, 8)) {
	case 0:
		s->enumerate_errors = 1 + lots_below(s->lots, 3);
		note("the devices cannot be listed %u times", s->enumerate_errors);
		return;
	case 1:
		s->leave_out = true;
		note("the next list is not complete");
		return;
	case 2:
		if (s->workers) {
			workers_fail_to_start(s->workers, 1 + lots_below(s->lots, 3));
			note("the next workers cannot be started");
			return;
		}
		s->query_error = lots_once_in(s->lots, 2) ? -ENOMEM : -EAGAIN;
		note("the next query is refused");
		return;
	case 3:
		if (s->n_events > 0) {
			note("%zu events are lost", s->n_events);
			s->n_events = 0;
			script_settle(s);
			script_report(s, EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_OVERRUN);
		}
		return;
	case 4:
	case 5:
		if (d) {
			d->hangs = !d->hangs;
			note("%s: %s", d->name, d->hangs ? "hangs" : "hangs no longer");
		}
		return;
	default:
		if (!d)
			return;
		port = 1 + lots_below(s->lots, d->n_ports);
		toggle(lots_once_in(s->lots, 2) ? &d->failing : &d->partial, port);
		note("%s/%u: fails, or no longer", d->name, port);
	}
}

void script_hang_some(Script *s)
{
	for (size_t i = 0; i < SCRIPT_DEVICES; i++) {
		ScriptDevice *d = &s->devices[i];

		if (!d->exists)
			continue;
		d->hangs = lots_once_in(s->lots, 2);
		note("%s: %s", d->name, d->hangs ? "hangs" : "is well");
		for (uint32_t port = 1; port <= d->n_ports; port++)
			change_fact(s, d, port, FACT_LID, s->lots);
	}
}

void script_be_prompt(Script *s, bool is_prompt)
{
	s->is_prompt = is_prompt && s->workers;
}

void script_heal(Script *s)
{
	s->enumerate_errors = 0;
	s->query_error = 0;
	s->leave_out = false;
	if (s->workers)
		workers_fail_to_start(s->workers, 0);
	for (size_t i = 0; i < SCRIPT_DEVICES; i++) {
		s->devices[i].hangs = false;
		s->devices[i].failing = s->devices[i].partial = (PortSet){};
	}
}
