/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-writer.h"

#include <assert.h>

static uint64_t n_written;

uint64_t bus_writer_written(void)
{
	return n_written;
}

/* Makes room for SIZE bytes in all. False: that is too many, or there is no memory; the writer has
 * the error. */
static bool grow(BusWriter *w, size_t size)
{
	/* each body here is one array, for which there is a limit, and little else */
	size_t most = w->max > 0 ? w->max : BUS_ARRAY_MAX;
	size_t room = MIN(MAX(2 * w->room, MAX(size, 4096U)), most);
	uint8_t *data;

	if (size > room) {
		w->error = -E2BIG;
		return false;
	}
	data = realloc(w->data, room + 8); /* extend() writes zeros beyond */
	if (!data) {
		w->error = -ENOMEM;
		return false;
	}
	w->data = data;
	w->room = room;
	return true;
}

/* Adds zeros up to a multiple of ALIGN, and then room for N bytes, which is returned. NULL: the
 * writer has an error. */
static inline uint8_t *extend(BusWriter *w, size_t align, size_t n)
{
	size_t at = w->message_at + ((w->size - w->message_at + align - 1) & ~(align - 1));

	/* of no bytes too: what follows does not add to NULL */
	if (w->error < 0 || (at + n >= w->room && !grow(w, at + n)))
		return NULL;
	/* at most seven bytes, but eight are one instruction */
	memset(w->data + w->size, 0, 8);
	w->size = at + n;
	n_written += n;
	return w->data + at;
}

/* Keeps the first error. */
static void check(BusWriter *w, int r)
{
	if (r < 0 && w->error >= 0)
		w->error = r;
}

/* Where a value of TYPE may begin: at a multiple of this. D-Bus specification, "Summary of the
 * D-Bus marshalling". */
static size_t alignment(char type)
{
	switch (type) {
	case 'y':
	case 'g':
	case 'v':
		return 1;
	case 'n':
	case 'q':
		return 2;
	case 'a':
	case 'b':
	case 'h':
	case 'i':
	case 'o':
	case 's':
	case 'u':
		return 4;
	case '(':
	case '{':
	case 'd':
	case 't':
	case 'x':
		return 8;
	default:
		assert(!"unknown D-Bus type");
		return 1;
	}
}

void bus_writer_open(BusWriter *w, char type, const char *contents)
{
	size_t length_at = 0, begin = 0;

	if (w->message) {
		check(w, sd_bus_message_open_container(w->message, type, contents));
		return;
	}
	switch (type) {
	case 'a':
		bus_writer_put_u32(w, 0); /* bus_writer_close() writes the length here */
		length_at = w->size - sizeof(uint32_t);
		extend(w, alignment(contents[0]), 0);
		begin = w->size;
		break;
	case 'v':
		bus_writer_put_text(w, 'g', contents);
		break;
	default:
		extend(w, 8, 0);
	}
	assert(w->depth < ARRAY_SIZE(w->open));
	w->open[w->depth].length_at = length_at;
	w->open[w->depth++].begin = begin;
}

void bus_writer_close(BusWriter *w)
{
	uint32_t length;

	if (w->message) {
		check(w, sd_bus_message_close_container(w->message));
		return;
	}
	assert(w->depth > 0);
	w->depth--;
	if (w->error < 0 || w->open[w->depth].begin == 0)
		return;
	length = (uint32_t)(w->size - w->open[w->depth].begin);
	memcpy(w->data + w->open[w->depth].length_at, &length, sizeof(length));
}

void bus_writer_open_property(BusWriter *w, const char *name, const char *signature)
{
	size_t n = strlen(name), n_signature = strlen(signature);
	uint32_t length = (uint32_t)n;
	uint8_t *p;

	if (w->message) {
		bus_writer_open(w, 'e', "sv");
		bus_writer_put_text(w, 's', name);
		bus_writer_open(w, 'v', signature);
		return;
	}
	/* Only the beginning is aligned, and neither the entry nor the variant has a length. */
	p = extend(w, 8, sizeof(length) + n + 1 + 1 + n_signature + 1);
	if (!p)
		return;
	memcpy(p, &length, sizeof(length));
	p += sizeof(length);
	memcpy(p, name, n + 1);
	p += n + 1;
	*p++ = (uint8_t)n_signature;
	memcpy(p, signature, n_signature + 1);
}

void bus_writer_close_property(BusWriter *w)
{
	if (w->message) {
		bus_writer_close(w);
		bus_writer_close(w);
	}
}

void bus_writer_put_text(BusWriter *w, char type, const char *text)
{
	size_t n = strlen(text);
	uint32_t length = (uint32_t)n;
	uint8_t *p;

	if (w->message) {
		n_written += n;
		check(w, sd_bus_message_append_basic(w->message, type, text));
		return;
	}
	if (type == 'g') {
		p = extend(w, 1, 1 + n + 1);
		if (!p)
			return;
		*p++ = (uint8_t)n;
	} else {
		p = extend(w, 4, sizeof(length) + n + 1);
		if (!p)
			return;
		memcpy(p, &length, sizeof(length));
		p += sizeof(length);
	}
	memcpy(p, text, n + 1);
}

void bus_writer_put_bytes(BusWriter *w, size_t align, const void *bytes, size_t n)
{
	uint8_t *p = extend(w, align, n);

	if (p && n > 0)
		memcpy(p, bytes, n);
}

void bus_writer_replace(BusWriter *w, size_t begin, size_t end, const BusWriter *by)
{
	size_t size = w->size - (end - begin) + by->size;

	check(w, by->error);
	if (w->error < 0 || (size > w->room && !grow(w, size)))
		return;
	memmove(w->data + begin + by->size, w->data + end, w->size - end);
	if (by->size > 0)
		memcpy(w->data + begin, by->data, by->size);
	w->size = size;
}

static inline void put(BusWriter *w, char type, const void *value, size_t size)
{
	uint8_t *p;

	if (w->message) {
		n_written += size;
		check(w, sd_bus_message_append_basic(w->message, type, value));
		return;
	}
	p = extend(w, size, size);
	if (p)
		memcpy(p, value, size);
}

void bus_writer_put_u32(BusWriter *w, uint32_t value)
{
	put(w, 'u', &value, sizeof(value));
}

void bus_writer_put_u64(BusWriter *w, uint64_t value)
{
	put(w, 't', &value, sizeof(value));
}

void bus_writer_put_s32(BusWriter *w, int32_t value)
{
	put(w, 'i', &value, sizeof(value));
}

void bus_writer_put_bool(BusWriter *w, bool value)
{
	int i = value;

	put(w, 'b', &i, sizeof(i));
}

void bus_writer_add_text(BusWriter *w, const char *name, const char *text)
{
	bus_writer_open_property(w, name, "s");
	bus_writer_put_text(w, 's', text);
	bus_writer_close_property(w);
}

void bus_writer_add_u32(BusWriter *w, const char *name, uint32_t value)
{
	bus_writer_open_property(w, name, "u");
	bus_writer_put_u32(w, value);
	bus_writer_close_property(w);
}

void bus_writer_add_u64(BusWriter *w, const char *name, uint64_t value)
{
	bus_writer_open_property(w, name, "t");
	bus_writer_put_u64(w, value);
	bus_writer_close_property(w);
}

void bus_writer_add_bool(BusWriter *w, const char *name, bool value)
{
	bus_writer_open_property(w, name, "b");
	bus_writer_put_bool(w, value);
	bus_writer_close_property(w);
}
