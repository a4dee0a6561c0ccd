/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-leave.h"

static HeldLeave *find(const Leaves *l, uint32_t device)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->entries[i].device == device)
			return &l->entries[i];
	return NULL;
}

/* A new entry; NULL without memory. */
static HeldLeave *add(Leaves *l)
{
	return array_grow(l->entries, l->n) ? &l->entries[l->n++] : NULL;
}

void leaves_note(Leaves *l, const Query *q)
{
	HeldLeave *held = find(l, q->device);

	l->links_generation = q->links_generation;
	if (!held)
		held = add(l);
	/* Without memory there is no leave: the core asks. */
	if (!held)
		return;
	*held = (HeldLeave){.device = q->device, .id = q->id, .leave = q->leave};
	memcpy(held->name, q->name, sizeof(held->name));
}

void leaves_forget(Leaves *l, uint32_t device)
{
	HeldLeave *held = find(l, device);

	if (held)
		*held = l->entries[--l->n];
}

void leaves_done(Leaves *l)
{
	free(l->entries);
	*l = (Leaves){};
}

bool touched_is_port(const Event *e)
{
	const unsigned int more = MEANS_WHOLE | MEANS_DEVICES | MEANS_DEVICE | MEANS_LINKS;

	return e->port != EVENT_ALL_PORTS && e->port <= RDMA_PORT_MAX &&
	       !(REASON_BIT(e->reason) & event_reasons_meaning(more));
}

void touched_add(Touched *t, const Event *e)
{
	if (t->n++ == 0)
		t->device = e->device;
	if (e->device != t->device)
		return;
	t->reasons |= REASON_BIT(e->reason);
	if (touched_is_port(e))
		port_set_add(&t->ports, e->port);
	else
		t->more = true;
}

bool leaves_take(Leaves *l, const Touched *t, uint64_t now_usec, Query *ret)
{
	HeldLeave *held = t->n > 0 && !t->more ? find(l, t->device) : NULL;

	if (!held || port_set_last(&t->ports) > held->leave.ports ||
	    !token_bucket_take(&held->leave.tokens, now_usec))
		return false;
	*ret = (Query){.id = held->id,
		       .device = t->device,
		       .parts = event_parts_at_once(t->reasons),
		       .links_generation = l->links_generation,
		       .ports = t->ports};
	memcpy(ret->name, held->name, sizeof(ret->name));
	return true;
}
