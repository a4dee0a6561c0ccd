/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "kernel.h"
#include "operations-private.h"
#include "operations.h"

bool slot_is_sound(const WorldSlot *s)
{
	for (unsigned int i = 0; i < WORLD_PORTS_MAX; i++)
		if (s->ports[i].fail || s->ports[i].hang || s->ports[i].hiccup)
			return false;
	return s->exists && !s->away;
}

static WorldPort *begin_fault(Op *o, unsigned int *ret_port)
{
	*ret_port = 1 + pick(o, o->kind->n_ports);
	return o->s->exists && !o->s->away && !o->kind->rxe ? &o->s->ports[*ret_port - 1] : NULL;
}

void do_fail(Op *o)
{
	unsigned int port;
	WorldPort *p = begin_fault(o, &port);
	bool core_too = pick(o, 2);
	char line[128];

	if (!p)
		return;
	/* a query of ib_core must not hang: the removal of any device would wait for its work
	 * queue */
	core_too = core_too && !p->hang;
	snprintf(line, sizeof(line), "set %s/%u fail=5 fail_count=0 user_only=%u event=SM_CHANGE",
		 o->s->name, port, !core_too);
	if (!did(o, kernel_sim("%s", line), line))
		return;
	p->fail = true;
	p->core_fails = core_too;
}

void do_hiccup(Op *o)
{
	unsigned int port;
	WorldPort *p = begin_fault(o, &port);
	char line[128];

	if (!p || p->fail)
		return;
	snprintf(line, sizeof(line), "set %s/%u fail=5 fail_count=%u user_only=1 event=SM_CHANGE",
		 o->s->name, port, 1 + pick(o, 4));
	if (did(o, kernel_sim("%s", line), line))
		p->hiccup = true;
}

void do_delay(Op *o)
{
	unsigned int port;
	WorldPort *p = begin_fault(o, &port);
	char line[128];

	if (!p)
		return;
	snprintf(line, sizeof(line), "set %s/%u delay_ms=%u event=SM_CHANGE", o->s->name, port,
		 5 + pick(o, 100));
	if (did(o, kernel_sim("%s", line), line))
		p->delay = true;
}

void do_hang(Op *o)
{
	unsigned int port;
	WorldPort *p = begin_fault(o, &port);
	char line[128];

	if (!p || pick(o, 4))
		return;
	snprintf(line, sizeof(line), "set %s/%u hang=%u user_only=1 event=SM_CHANGE", o->s->name,
		 port, 1 + pick(o, 2));
	if (!did(o, kernel_sim("%s", line), line))
		return;
	p->hang = true;
	p->core_fails = false;
}

/* Makes a port of SLOT hang. Returns whether it does. */
static bool hang_also(Op *o, unsigned int slot)
{
	Op other = *o;
	unsigned int port;
	WorldPort *p;
	char line[128];

	other.slot = slot;
	other.kind = &slot_kinds[slot];
	other.s = &o->w->slots[slot];
	p = begin_fault(&other, &port);
	o->random = other.random;
	if (!p || p->hang)
		return false;
	snprintf(line, sizeof(line), "set %s/%u hang=%u user_only=1 event=SM_CHANGE", other.s->name,
		 port, 1 + pick(o, 2));
	if (!did(&other, kernel_sim("%s", line), line))
		return false;
	p->hang = true;
	p->core_fails = false;
	return true;
}

void do_hang_several(Op *o)
{
	unsigned int wanted = 2 + pick(o, 5), n = 0, first = pick(o, WORLD_SLOTS);
	useconds_t usec = 1000 * pick(o, 3000);

	for (unsigned int i = 0; i < WORLD_SLOTS && n < wanted; i++)
		n += hang_also(o, (first + i) % WORLD_SLOTS);
	if (pick(o, 2) || n == 0)
		return;
	usleep(usec);
	(void)operation_end_faults(o->w);
	tell(o, "; all go on after %u ms", usec / 1000);
}

static bool end_fault(Op *o, unsigned int port, const char *event)
{
	WorldPort *p = &o->s->ports[port - 1];
	char line[128];

	if (!p->fail && !p->hang && !p->delay && !p->hiccup)
		return false;
	snprintf(line, sizeof(line),
		 "set %s/%u fail=0 fail_count=0 hang=0 delay_ms=0 user_only=0%s", o->s->name, port,
		 event);
	if (did(o, kernel_sim("%s", line), line))
		p->fail = p->hang = p->delay = p->hiccup = p->core_fails = false;
	return true;
}

void do_end_fault(Op *o)
{
	for (unsigned int port = 1; o->s->exists && port <= o->kind->n_ports; port++)
		(void)end_fault(o, port, pick(o, 2) ? "" : " event=SM_CHANGE");
}

bool operation_end_faults(World *w)
{
	bool any = false;

	for (unsigned int i = 0; i < WORLD_SLOTS; i++) {
		char text[512] = "";
		Op o = {.w = w,
			.slot = i,
			.kind = &slot_kinds[i],
			.s = &w->slots[i],
			.text = text,
			.size = sizeof(text)};

		for (unsigned int port = 1; o.s->exists && port <= o.kind->n_ports; port++)
			any |= end_fault(&o, port, "");
	}
	return any;
}
