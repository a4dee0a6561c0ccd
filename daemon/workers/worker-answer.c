/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker-answer.h"

#include <inttypes.h>

void answer_reset(Answer *a)
{
	device_snapshot_done(&a->device_snapshot);
	port_snapshot_done(&a->port_snapshot);
	wire_assembly_done(&a->assembly);
	*a = (Answer){};
}

static const char *check_device(const Answer *a, const Query *q, const WireHeader *h)
{
	if (h->port != 0)
		return "a device with a port number";
	if (!q->attributes)
		return "a device that was not asked for";
	return a->object != OBJECT_NONE ? "a device not in the first place" : NULL;
}

static const char *check_port(const Answer *a, const Query *q, const WirePort *m)
{
	const WireHeader *h = &m->header;

	if (!port_set_has(&q->ports, h->port))
		return "a port that was not asked for";
	if (port_set_has(&a->has_ports, h->port))
		return "a port twice";
	if (m->error == 0 && q->parts & ~m->parts)
		return "a port without what was asked of it";
	return q->attributes && !a->has_device ? "a port before its device" : NULL;
}

static const char *check_table(const Answer *a, const WireTable *t)
{
	const AttrMask *supplied = &a->device_snapshot.supplied;
	const Table *present;
	unsigned int row;

	if (a->object == OBJECT_NONE || t->header.port != (a->object == OBJECT_PORT ? a->port : 0))
		return "a table without its object";
	if (a->object == OBJECT_PORT) {
		PortTable table = attr_port_table((AttrType)t->type);

		supplied = &a->port_snapshot.supplied;
		present = a->port_snapshot.tables[table];
		row = port_table_attr(table);
	} else {
		DeviceTable table = attr_device_table((AttrType)t->type);

		present = a->device_snapshot.tables[table];
		row = device_table_attr(table);
	}
	if (present)
		return "a table twice";
	return mask_has(supplied, row) ? NULL : "a table that is not supplied";
}

static const char *check_end(const Answer *a, const Query *q, const WireEnd *end)
{
	/* Without success the rest may be missing. */
	if (end->error < 0)
		return NULL;
	if (q->attributes && !a->has_device)
		return "an end without the device";
	for (size_t i = 0; i < ARRAY_SIZE(a->has_ports.bits); i++)
		if (q->ports.bits[i] & ~a->has_ports.bits[i])
			return "an end without all ports";
	return NULL;
}

const char *answer_check(const Answer *a, const Query *q, const WireMessage *m)
{
	if (!q)
		return "an answer without a question";
	if (m->header.id != q->id || m->header.device != q->device)
		return "an answer to another question";
	if (m->header.type != WIRE_TABLE && a->assembly.table)
		return "a table that does not go on";

	switch ((WireType)m->header.type) {
	case WIRE_DEVICE:
		return check_device(a, q, &m->header);
	case WIRE_PORT:
		return check_port(a, q, &m->port);
	case WIRE_TABLE:
		return check_table(a, &m->table);
	case WIRE_END:
		return check_end(a, q, &m->end);
	case WIRE_QUERY:
	case WIRE_FORGET:
	case WIRE_HURRY:
	case WIRE_EVENT:
	case WIRE_ASKING:
	case _WIRE_MAX:
		break;
	}
	return "a message of the other direction";
}

int answer_take_device(Answer *a, const WireDevice *m)
{
	a->object = OBJECT_DEVICE;
	a->has_device = true;
	a->device_snapshot.values = m->values;
	a->device_snapshot.values.texts = NULL;
	a->device_snapshot.supplied = m->supplied;
	a->device_snapshot.unanswered = m->unanswered;
	a->device_snapshot.open_error = m->open_error;
	return texts_make(m->texts, m->n_texts, &a->device_snapshot.values.texts);
}

int answer_take_port(Answer *a, const WirePort *m)
{
	a->object = OBJECT_PORT;
	a->port = m->header.port;
	a->port_error = m->error;
	port_set_add(&a->has_ports, a->port);
	a->port_snapshot.values = m->values;
	a->port_snapshot.values.texts = NULL;
	a->port_snapshot.supplied = m->supplied;
	a->port_snapshot.unmeasured = m->unmeasured;
	a->port_snapshot.unanswered = m->unanswered;
	a->port_snapshot.open_error = m->open_error;
	a->port_snapshot.parts = m->parts;
	a->port_snapshot.failed = m->failed;
	return texts_make(m->texts, m->n_texts, &a->port_snapshot.values.texts);
}

int answer_take_table(Answer *a, const WireTable *page)
{
	Table *table = NULL;
	int r = wire_assemble(&a->assembly, page, &table);

	if (r <= 0)
		return r;
	if (a->object == OBJECT_DEVICE)
		a->device_snapshot.tables[attr_device_table((AttrType)page->type)] = table;
	else
		a->port_snapshot.tables[attr_port_table((AttrType)page->type)] = table;
	return 0;
}

void answer_describe_next(const Answer *a, const Query *q, char *buffer, size_t size)
{
	if (q->attributes && !a->has_device) {
		snprintf(buffer, size, "%s", q->name);
		return;
	}
	for (uint32_t port = 1; port <= RDMA_PORT_MAX; port++)
		if (port_set_has(&q->ports, port) && !port_set_has(&a->has_ports, port)) {
			snprintf(buffer, size, "port %" PRIu32 " of %s", port, q->name);
			return;
		}
	snprintf(buffer, size, "the end of %s", q->name);
}
