/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "changes.h"

struct Changes {
	struct rdmad *memory;
	struct rdmad_port *ports; /* as the last look found them */
	size_t n, room;
	bool looked;
	ChangedPort changed[CHANGES_FEW]; /* that the last look found */
	size_t n_changed;		  /* more than CHANGES_FEW: these are not all */
};

int changes_new(int memory, int changed, Changes **ret)
{
	_cleanup_(changes_free_pointer) Changes *c = calloc(1, sizeof(Changes));
	int r;

	if (!c)
		return -ENOMEM;
	r = rdmad_open_fd(memory, changed, &c->memory);
	if (r < 0)
		return r;
	*ret = steal_pointer(&c);
	return 0;
}

Changes *changes_free(Changes *c)
{
	if (!c)
		return NULL;
	rdmad_close(c->memory);
	free(c->ports);
	free(c);
	return NULL;
}

/* Place number I in the copy. NULL without memory. */
static struct rdmad_port *place(Changes *c, size_t i)
{
	size_t room = c->room ? 2 * c->room : 16;
	struct rdmad_port *ports;

	if (i >= c->room) {
		ports = reallocarray(c->ports, room, sizeof(*ports));
		if (!ports)
			return NULL;
		c->ports = ports;
		c->room = room;
	}
	return &c->ports[i];
}

/* More has changed than the values of some ports. */
static void note_all(Changes *c)
{
	c->n_changed = CHANGES_FEW + 1;
}

/* Port NEW is where OLD was. */
static void note(Changes *c, const struct rdmad_port *old, const struct rdmad_port *new)
{
	if (old->hot.device_index != new->hot.device_index ||
	    old->hot.port_num != new->hot.port_num || !streq(old->device_name, new->device_name))
		note_all(c);
	else if (c->n_changed < CHANGES_FEW)
		c->changed[c->n_changed++] = (ChangedPort){*old, *new};
	else
		note_all(c);
}

/* P is at place I afterwards; notes whether it was before. -ENOMEM. */
static int keep(Changes *c, size_t i, struct rdmad_port *p)
{
	struct rdmad_port *at = place(c, i);

	if (!at)
		return -ENOMEM;
	p->hot.sequence = 0; /* counts the writes, also those that write the same */
	if (i >= c->n)
		note_all(c);
	else if (memcmp(at, p, sizeof(*p)) != 0)
		note(c, at, p);
	*at = *p;
	return 0;
}

int changes_look(Changes *c)
{
	struct rdmad_handle handle = RDMAD_HANDLE_FIRST;
	size_t n = 0;
	int r;

	c->n_changed = 0;
	if (!c->looked)
		note_all(c);

	/* a rdmad that was killed leaves records that look as before; the pipe tells that */
	r = rdmad_wait(c->memory, 0);
	if (r == -ESTALE || r == -ENOTCONN)
		return r;
	while ((r = rdmad_next(c->memory, &handle)) > 0) {
		struct rdmad_port port;

		r = rdmad_read(c->memory, handle, &port);
		if (r == -ESTALE || r == -ENOTCONN)
			return r;
		if (r < 0) { /* it has gone, or is being written */
			note_all(c);
			continue;
		}
		r = keep(c, n++, &port);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	if (n != c->n)
		note_all(c);
	c->n = n;
	c->looked = true;
	return c->n_changed > 0;
}

size_t changes_few(const Changes *c, ChangedPort ret[CHANGES_FEW])
{
	if (c->n_changed > CHANGES_FEW)
		return 0;
	memcpy(ret, c->changed, c->n_changed * sizeof(*ret));
	return c->n_changed;
}

size_t changes_count(const Changes *c)
{
	return c->n;
}
