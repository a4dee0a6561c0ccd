/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "long-reply-parts.h"

#include "clock.h"

/* Each part begins there: an element of the array is a structure or an entry. */
#define ALIGN 8U
/* If more parts than these are to be written again, all are: each may move the bytes behind it. */
#define AGAIN_MAX 16U

static void begin(LongReplyParts *p)
{
	p->w.size = p->w.depth = p->n = 0;
	bus_writer_open(&p->w, 'a', p->row->signature + 1);
}

void long_reply_parts_begin(LongReplyParts *p, const LongReplyRow *row)
{
	*p = (LongReplyParts){.row = row};
	begin(p);
}

static void write_next(LongReplyParts *p, const Device *d)
{
	if (!array_grow(p->parts, p->n)) {
		p->w.error = -ENOMEM;
		return;
	}
	bus_writer_put_bytes(&p->w, ALIGN, NULL, 0);
	p->parts[p->n] = (struct LongReplyPart){.device = d, .begin = p->w.size};
	p->row->write_part(&p->w, d);
	p->parts[p->n].size = p->w.size - p->parts[p->n].begin;
	p->n++;
}

/* Writes the part I again, in its place. */
static void write_again(LongReplyParts *p, size_t i)
{
	_cleanup_(bus_writer_done) BusWriter again = {};
	size_t begin = p->parts[i].begin;
	size_t end = i + 1 < p->n ? p->parts[i + 1].begin : p->w.size;

	p->row->write_part(&again, p->parts[i].device);
	p->parts[i].size = again.size;
	bus_writer_put_bytes(&again, ALIGN, NULL, 0);
	bus_writer_replace(&p->w, begin, end, &again);
	for (size_t k = i + 1; k < p->n; k++)
		p->parts[k].begin += again.size - (end - begin);
}

/* No zeros are behind the last element. */
static void finish(LongReplyParts *p)
{
	for (size_t i = 0; i < p->n && bus_writer_error(&p->w) >= 0; i++)
		if (p->parts[i].stale)
			write_again(p, i);
	for (size_t i = 0; i < p->n && bus_writer_error(&p->w) >= 0; i++)
		if (p->parts[i].size > 0 || i == 0)
			p->w.size = p->parts[i].begin + p->parts[i].size;
	bus_writer_close(&p->w);
}

static size_t count_stale(const LongReplyParts *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += p->parts[i].stale;
	return n;
}

static bool is_complete(const LongReplyParts *p, const Cache *c)
{
	return p->n >= c->n_devices || bus_writer_error(&p->w) < 0;
}

bool long_reply_parts_write(LongReplyParts *p, const Cache *c, uint64_t until)
{
	while (!is_complete(p, c)) {
		write_next(p, c->devices[p->n]);
		if (!p->hurried && p->n < c->n_devices && monotonic_now_usec() >= until)
			return false;
	}
	if (count_stale(p) > AGAIN_MAX)
		begin(p);
	while (!is_complete(p, c))
		write_next(p, c->devices[p->n]);
	finish(p);
	return true;
}

void long_reply_parts_changed(LongReplyParts *p, const Device *d)
{
	for (size_t i = 0; p->row && i < p->n; i++)
		if (p->parts[i].device == d)
			p->parts[i].stale = true;
}

void long_reply_parts_moved(LongReplyParts *p)
{
	if (!p->row)
		return;
	p->hurried = true;
	begin(p);
}

void long_reply_parts_done(LongReplyParts *p)
{
	bus_writer_done(&p->w);
	free(p->parts);
	*p = (LongReplyParts){};
}
