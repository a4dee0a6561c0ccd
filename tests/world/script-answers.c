/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is asked, what is read of the machine, and how that is answered. */

#include "script-private.h"

Asked *script_find_asked(Script *s, const void *userdata, uint32_t index)
{
	for (size_t i = 0; i < s->n_asked; i++)
		if (s->asked[i].used && s->asked[i].userdata == userdata &&
		    s->asked[i].index == index)
			return &s->asked[i];
	return NULL;
}

static Asked *reserve_asked(Script *s, uint32_t index, void *userdata)
{
	Asked *a = script_find_asked(s, userdata, index);

	for (size_t i = 0; !a && i < s->n_asked; i++)
		if (!s->asked[i].used)
			a = &s->asked[i];
	LAW(a, "the core has not forgotten %u devices that have gone", s->n_asked);
	if (!a->used)
		*a = (Asked){.used = true, .index = index, .userdata = userdata};
	return a;
}

Asked *script_begin(Script *s, const Query *q, const SourceHandler *handler, void *userdata)
{
	Asked *a = reserve_asked(s, q->device, userdata);

	a->handler = handler;
	a->open = true;
	a->query = *q;
	a->asked_usec = virtual_now_usec();
	a->device_unread = q->kind == QUERY_ATTRIBUTES && q->attributes;
	a->unread = q->ports;
	a->hurried = false;
	a->n_answers = 0;
	return a;
}

void script_end(Script *s, Asked *a, int error, QueryErrorCode code, const char *text)
{
	uint64_t id = a->query.id;

	a->open = false;
	a->n_answers = 0;
	s->last_id = id;
	note("answer to %#jx: end %d", (uintmax_t)id, error);
	a->handler->end(a->userdata, id, error, code, text);
}

static uint32_t first_port(const PortSet *ports)
{
	uint32_t n = 1;

	while (!port_set_has(ports, n))
		n++;
	return n;
}

bool script_read_next(Script *s, Asked *a)
{
	ScriptDevice *d = script_find(s, a->index);
	Answer *to = &a->answers[a->n_answers];

	if ((d && d->hangs) || (!a->device_unread && port_set_is_empty(&a->unread)))
		return false;
	*to = (Answer){};
	if (a->device_unread) {
		a->device_unread = false;
	} else {
		to->port = first_port(&a->unread);
		port_set_remove(&a->unread, to->port);
	}
	if (!d || to->port > d->n_ports) {
		to->error = -ENODEV;
	} else {
		to->device = *d;
		if (to->port > 0)
			to->facts = d->ports[to->port - 1];
		if (to->port > 0 && port_set_has(&d->failing, to->port))
			to->error = -EIO;
	}
	a->n_answers++;
	return true;
}

static void send_device(const Asked *a, const Answer *answer)
{
	/* one that stays, and one that is another with the firmware */
	const HealthEntry reporters[] = {{.name = "fw"},
					 {.name = "fw_fatal", .errors = answer->device.firmware}};
	DeviceSnapshot d = {};
	char firmware[16];

	if (answer->error)
		return;
	script_firmware(&answer->device, firmware);
	DEVICE_SUPPLY_TEXT(&d, fw_ver, firmware);
	DEVICE_SUPPLY(&d, events, EVENTS_VERBS);
	d.tables[DEVICE_TABLE_HEALTH] = table_new(reporters, 2, sizeof(reporters[0]));
	mask_set(&d.supplied, DEVICE_ATTR_health_reporters, true);
	note("answer to %#jx: the device, %s", (uintmax_t)a->query.id, firmware);
	a->handler->device(a->userdata, a->query.id, &d);
	device_snapshot_done(&d);
}

/* Tables that could not be read now are missing. */
static void fail_tables(PortSnapshot *p)
{
	static const PortTable tables[] = {PORT_TABLE_GIDS, PORT_TABLE_PKEYS};

	p->failed = p->parts & (READ_GIDS | READ_PKEYS);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		p->tables[tables[i]] = table_free(p->tables[tables[i]]);
		mask_set(&p->supplied, port_table_attr(tables[i]), false);
	}
}

static void send_port(const Asked *a, const Answer *answer)
{
	PortSnapshot p = {.parts = a->query.parts};

	if (a->query.kind == QUERY_COUNTERS && !answer->error)
		script_counters(&answer->facts, &p);
	else if (a->query.kind == QUERY_ATTRIBUTES && !answer->error)
		script_port(&answer->device, answer->port, &answer->facts, a->query.parts, &p);
	else if (a->query.kind == QUERY_USERS && !answer->error)
		script_users(&answer->facts, &p);
	if (a->query.kind == QUERY_ATTRIBUTES &&
	    port_set_has(&answer->device.partial, answer->port))
		fail_tables(&p);
	note("answer to %#jx: port %u, %d, parts %#x", (uintmax_t)a->query.id, answer->port,
	     answer->error, a->query.parts);
	a->handler->port(a->userdata, a->query.id, answer->port,
			 a->hurried && !answer->error ? -ETIME : answer->error, &p);
	port_snapshot_done(&p);
}

void script_send_next(Script *s, Asked *a)
{
	const Answer answer = a->answers[0];
	bool device_went;

	if (a->n_answers == 0) {
		if (!a->device_unread && port_set_is_empty(&a->unread))
			script_end(s, a, 0, 0, "");
		return;
	}
	device_went = answer.port == 0 && answer.error == -ENODEV;
	memmove(a->answers, a->answers + 1, --a->n_answers * sizeof(a->answers[0]));
	if (device_went)
		script_end(s, a, -ENODEV, QUERY_ERROR_DEVICE, "the device has gone");
	else if (answer.port == 0)
		send_device(a, &answer);
	else
		send_port(a, &answer);
}

bool script_take_leave(Asked *a, const Event *event, Query *ret)
{
	if (event->port == EVENT_ALL_PORTS || event->port > a->query.leave.ports ||
	    !token_bucket_take(&a->query.leave.tokens, virtual_now_usec()))
		return false;
	*ret = (Query){.kind = QUERY_ATTRIBUTES,
		       .id = a->query.id,
		       .device = event->device,
		       .parts = event_parts_at_once(REASON_BIT(event->reason)),
		       .leave = a->query.leave};
	port_set_add(&ret->ports, event->port);
	return true;
}

void script_lie_of_port(PortSnapshot *ret)
{
	static const ScriptDevice device;
	const Facts facts = {.of = {2, 999, 999, 3, 999, 999, 999, 999}};

	script_port(&device, 1, &facts, READ_ALL, ret);
}
