/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "changes.h"

struct Changes {
	struct rdmad *memory;
	struct rdmad_port *ports; /* as the last look found them */
	size_t n, room;
	bool looked;
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

/* Whether P is what is at place I; it is there afterwards. */
static int keep(Changes *c, size_t i, struct rdmad_port *p)
{
	struct rdmad_port *at = place(c, i);
	bool same;

	if (!at)
		return -ENOMEM;
	p->hot.sequence = 0; /* counts the writes, also those that write the same */
	same = i < c->n && memcmp(at, p, sizeof(*p)) == 0;
	*at = *p;
	return same;
}

int changes_look(Changes *c)
{
	struct rdmad_handle handle = RDMAD_HANDLE_FIRST;
	bool same = c->looked;
	size_t n = 0;
	int r;

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
			same = false;
			continue;
		}
		r = keep(c, n++, &port);
		if (r < 0)
			return r;
		same &= r > 0;
	}
	if (r < 0)
		return r;
	same &= n == c->n;
	c->n = n;
	c->looked = true;
	return !same;
}

size_t changes_count(const Changes *c)
{
	return c->n;
}
