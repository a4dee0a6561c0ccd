/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bytes.h"

#include <endian.h>

#include "names.h"

enum { PATH = 1, INTERFACE, MEMBER, ERROR_NAME, REPLY_SERIAL, DESTINATION, SIGNATURE = 8, FDS };

void bytes_free(Bytes *b)
{
	free(b->p);
	*b = (Bytes){};
}

static void append(Bytes *b, const void *p, size_t n)
{
	if (n == 0)
		return;
	if (b->size + n > b->room) {
		b->room = (b->size + n) * 2;
		b->p = realloc(b->p, b->room);
		if (!b->p)
			abort();
	}
	memcpy(b->p + b->size, p, n);
	b->size += n;
}

void bytes_align(Bytes *b, size_t n)
{
	static const uint8_t zeros[8];

	append(b, zeros, -b->size & (n - 1));
}

void bytes_u8(Bytes *b, uint8_t value)
{
	append(b, &value, sizeof(value));
}

void bytes_u32(Bytes *b, uint32_t value)
{
	bytes_align(b, 4);
	value = b->big ? htobe32(value) : htole32(value);
	append(b, &value, sizeof(value));
}

void bytes_u64(Bytes *b, uint64_t value)
{
	bytes_align(b, 8);
	value = b->big ? htobe64(value) : htole64(value);
	append(b, &value, sizeof(value));
}

void bytes_text(Bytes *b, char type, const char *text)
{
	size_t n = strlen(text);

	if (type == 'g')
		bytes_u8(b, (uint8_t)n);
	else
		bytes_u32(b, (uint32_t)n);
	append(b, text, n + 1);
}

void bytes_set_u32(Bytes *b, size_t offset, uint32_t value)
{
	value = b->big ? htobe32(value) : htole32(value);
	memcpy(b->p + offset, &value, sizeof(value));
}

size_t bytes_begin_array(Bytes *b, size_t alignment)
{
	size_t begin;

	bytes_u32(b, 0);
	begin = b->size;
	bytes_align(b, alignment);
	return begin;
}

void bytes_end_array(Bytes *b, size_t begin, size_t alignment)
{
	size_t first = (begin + alignment - 1) & ~(alignment - 1);

	bytes_set_u32(b, begin - 4, (uint32_t)(b->size - first));
}

static void put_field(Bytes *b, uint8_t code, const char *type)
{
	bytes_align(b, 8);
	bytes_u8(b, code);
	bytes_text(b, 'g', type);
}

static void put_text_field(Bytes *b, uint8_t code, const char *type, const char *text)
{
	if (!text)
		return;
	put_field(b, code, type);
	bytes_text(b, *type, text);
}

static const char *destination(const Message *m, const char *owner)
{
	if (m->to_owner)
		return owner;
	return m->destination ? m->destination : RDMAD_BUS_NAME;
}

void message_write(Bytes *b, const Message *m, const char *owner)
{
	Bytes body = {.big = m->big};
	size_t begin;

	if (m->body)
		m->body(&body, m->n);
	b->size = 0;
	b->big = m->big;
	bytes_u8(b, m->big ? 'B' : 'l');
	bytes_u8(b, m->type ? m->type : MESSAGE_CALL);
	bytes_u8(b, m->flags);
	bytes_u8(b, 1);
	bytes_u32(b, (uint32_t)body.size);
	bytes_u32(b, 1); /* the serial number */
	begin = bytes_begin_array(b, 8);
	if (m->is_answer) { /* first, so that its place is known */
		put_field(b, REPLY_SERIAL, "u");
		bytes_u32(b, 1);
	}
	put_text_field(b, PATH, "o", m->path);
	put_text_field(b, INTERFACE, "s", m->interface);
	put_text_field(b, MEMBER, "s", m->member);
	put_text_field(b, ERROR_NAME, "s", m->error);
	put_text_field(b, DESTINATION, "s", destination(m, owner));
	put_text_field(b, SIGNATURE, "g", m->signature);
	if (m->n_fds > 0) {
		put_field(b, FDS, "u");
		bytes_u32(b, m->n_fds);
	}
	bytes_end_array(b, begin, 8);
	bytes_align(b, 8);
	if (body.size > 0)
		append(b, body.p, body.size);
	bytes_free(&body);
}

static uint32_t get_u32(const uint8_t *p, bool big)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return big ? be32toh(value) : le32toh(value);
}

size_t message_size(const uint8_t begin[16])
{
	bool big = begin[0] == 'B';

	return 16 + (((size_t)get_u32(begin + 12, big) + 7) & ~(size_t)7) + get_u32(begin + 4, big);
}
