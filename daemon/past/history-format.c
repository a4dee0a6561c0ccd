/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "history-format.h"

#include <endian.h>

static const char magic[8] = {'r', 'd', 'm', 'a', 'd', 'r', 'e', 'c'};

uint32_t record_crc(uint32_t crc, const void *data, size_t n)
{
	/* what four bits add */
	static const uint32_t table[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
		0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};
	const uint8_t *p = data;

	crc = ~crc;
	for (size_t i = 0; i < n; i++) {
		crc = crc >> 4 ^ table[(crc ^ p[i]) & 15];
		crc = crc >> 4 ^ table[(crc ^ p[i] >> 4) & 15];
	}
	return ~crc;
}

static void write_u32(uint8_t *to, uint32_t value)
{
	value = htole32(value);
	memcpy(to, &value, sizeof(value));
}

static uint32_t read_u32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return le32toh(value);
}

static uint16_t read_u16(const uint8_t *from)
{
	uint16_t value;

	memcpy(&value, from, sizeof(value));
	return le16toh(value);
}

void record_write_head(uint8_t ret[RECORD_HEAD_SIZE])
{
	memcpy(ret, magic, sizeof(magic));
	write_u32(ret + 8, RECORD_FILE_VERSION);
	write_u32(ret + 12, record_crc(0, ret, 12));
}

int record_check_head(const uint8_t *data, size_t size)
{
	if (size < RECORD_HEAD_SIZE || memcmp(data, magic, sizeof(magic)) != 0 ||
	    read_u32(data + 12) != record_crc(0, data, 12))
		return -EBADMSG;
	return read_u32(data + 8) == RECORD_FILE_VERSION ? 0 : -EPROTONOSUPPORT;
}

/* Reading */

int record_next(const uint8_t *data, size_t size, size_t *offset, Record *ret)
{
	const uint8_t *frame = data + *offset, *contents = frame + RECORD_FRAME_SIZE;
	size_t left = size - *offset;
	uint32_t n;

	if (left == 0)
		return 0;
	if (left < RECORD_FRAME_SIZE)
		return -EBADMSG;
	n = read_u32(frame);
	if (n > RECORD_MAX || n > left - RECORD_FRAME_SIZE ||
	    read_u32(frame + 8) != record_crc(record_crc(0, frame, 8), contents, n))
		return -EBADMSG;
	*ret = (Record){.type = read_u16(frame + 4),
			.version = read_u16(frame + 6),
			.contents = {.at = contents, .end = contents + n}};
	*offset += RECORD_FRAME_SIZE + n;
	return 1;
}

void record_read_bytes(RecordReader *r, void *ret, size_t n)
{
	if (r->bad || (size_t)(r->end - r->at) < n) {
		r->bad = true;
		memset(ret, 0, n);
		return;
	}
	memcpy(ret, r->at, n);
	r->at += n;
}

uint8_t record_read_u8(RecordReader *r)
{
	uint8_t value;

	record_read_bytes(r, &value, sizeof(value));
	return value;
}

uint16_t record_read_u16(RecordReader *r)
{
	uint16_t value;

	record_read_bytes(r, &value, sizeof(value));
	return le16toh(value);
}

uint32_t record_read_u32(RecordReader *r)
{
	uint32_t value;

	record_read_bytes(r, &value, sizeof(value));
	return le32toh(value);
}

uint64_t record_read_u64(RecordReader *r)
{
	uint64_t value;

	record_read_bytes(r, &value, sizeof(value));
	return le64toh(value);
}

void record_read_text(RecordReader *r, AttrText ret)
{
	size_t n = record_read_u8(r);
	AttrText clean;

	memset(ret, 0, sizeof(AttrText));
	if (n >= sizeof(AttrText))
		r->bad = true;
	if (r->bad)
		return;
	record_read_bytes(r, ret, n);
	memcpy(clean, ret, sizeof(clean));
	text_sanitize(clean, sizeof(clean));
	if (strlen(ret) != n || memcmp(clean, ret, sizeof(clean)) != 0)
		r->bad = true;
}

/* Writing */

void record_buffer_done(RecordBuffer *b)
{
	free(b->data);
	*b = (RecordBuffer){};
}

void record_put_bytes(RecordBuffer *b, const void *bytes, size_t n)
{
	size_t room = MAX(2 * b->room, b->size + n);
	uint8_t *data;

	if (b->failed)
		return;
	if (b->size + n > b->room) {
		data = realloc(b->data, room);
		if (!data) {
			b->failed = true;
			return;
		}
		b->data = data;
		b->room = room;
	}
	memcpy(b->data + b->size, bytes, n);
	b->size += n;
}

void record_put_u8(RecordBuffer *b, uint8_t value)
{
	record_put_bytes(b, &value, sizeof(value));
}

void record_put_u16(RecordBuffer *b, uint16_t value)
{
	value = htole16(value);
	record_put_bytes(b, &value, sizeof(value));
}

void record_put_u32(RecordBuffer *b, uint32_t value)
{
	value = htole32(value);
	record_put_bytes(b, &value, sizeof(value));
}

void record_put_u64(RecordBuffer *b, uint64_t value)
{
	value = htole64(value);
	record_put_bytes(b, &value, sizeof(value));
}

void record_put_text(RecordBuffer *b, const char *text)
{
	size_t n = strnlen(text, sizeof(AttrText) - 1);

	record_put_u8(b, (uint8_t)n);
	record_put_bytes(b, text, n);
}

void record_begin(RecordBuffer *b, uint16_t type)
{
	b->begin = b->size;
	record_put_u32(b, 0); /* record_end() writes the length */
	record_put_u16(b, type);
	record_put_u16(b, 1);
	record_put_u32(b, 0); /* ... and the sum */
}

void record_end(RecordBuffer *b)
{
	uint8_t *frame = b->data + b->begin;
	size_t n = b->size - b->begin - RECORD_FRAME_SIZE;

	if (b->failed)
		return;
	write_u32(frame, (uint32_t)n);
	write_u32(frame + 8, record_crc(record_crc(0, frame, 8), frame + RECORD_FRAME_SIZE, n));
}
