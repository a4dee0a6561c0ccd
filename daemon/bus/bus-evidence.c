/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-evidence.h"

#include "bus-options.h"
#include "bus-property.h"
#include "bus-shown.h"
#include "lookup.h"
#include "names.h"
#include "port-name.h"

static void put_entry(BusWriter *w, const EvidenceEntry *e)
{
	PublishedEvidence published = {
		.timestamp = e->when.realtime_usec,
		.monotonic = e->when.monotonic_usec,
		.what = evidence_name(e->kind),
		.from = e->from,
		.to = e->to,
		.reason = event_reason_name(e->when.reason),
	};

	bus_put_entry(w, &evidence_layout, &published);
}

/* Puts the evidence of the device of L, and of its port at place PORT. */
static void put_evidence(BusWriter *w, const EvidenceLog *l, uint32_t port)
{
	bus_writer_open(w, 'a', BUS_EVIDENCE);
	for (size_t i = 0; i < evidence_count(l); i++) {
		const EvidenceEntry *e = evidence_entry(l, i);

		if (e->port == 0 || e->port == port)
			put_entry(w, e);
	}
	bus_writer_close(w);
}

/* The log of a device that has gone, by a name that its port had; *RET_PORT is the place of that.
 * -ENOENT. */
static int find_gone(const Cache *c, const char *name, const EvidenceLog **ret, uint32_t *ret_port)
{
	AttrText device = "";
	uint32_t number = PORT_NUMBER_NONE;
	int r = port_name_split(name, device, &number);

	if (r >= 0 && number == PORT_NUMBER_NONE &&
	    port_name_split_colon(name, device, &number) < 0)
		number = PORT_NUMBER_NONE;
	if (r < 0)
		return -ENOENT;
	*ret = evidence_find(&c->evidence, number == PORT_NUMBER_NONE ? name : device);
	/* the only port of a switch has the number 0 */
	*ret_port = number == PORT_NUMBER_NONE ? 1 : MAX(number, 1U);
	return *ret ? 0 : -ENOENT;
}

int bus_evidence_read(sd_bus_message *call, LongReplyQuestion *q, sd_bus_error *error)
{
	int r = sd_bus_message_read_basic(call, 's', &q->text);

	return r < 0 ? r : bus_read_options(call, "GetEvidence", NULL, 0, error);
}

int bus_evidence_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c,
		       sd_bus_error *error)
{
	const EvidenceLog *gone = NULL;
	uint32_t number = 0;
	Port *p = NULL;
	int r = lookup_port(c, q->text, &p);

	if (r == -EEXIST)
		return sd_bus_error_setf(error, RDMAD_ERROR_AMBIGUOUS,
					 "More than one port is meant by \"%s\"",
					 BUS_SHOW(q->text));
	if (r >= 0 && p->published)
		put_evidence(w, p->device->evidence, p->number);
	else if (find_gone(c, q->text, &gone, &number) >= 0)
		put_evidence(w, gone, number);
	else
		return sd_bus_error_setf(error, RDMAD_ERROR_NOT_FOUND,
					 "No port \"%s\", and no evidence of one",
					 BUS_SHOW(q->text));
	return 1;
}
