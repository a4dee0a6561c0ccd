/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-header.h"

/* D-Bus specification, "Message format" and "Header fields" */
enum {
	FLAG_NO_REPLY_EXPECTED = 1,
	PROTOCOL_VERSION = 1,
	FIELD_PATH = 1,
	FIELD_INTERFACE = 2,
	FIELD_MEMBER = 3,
	FIELD_REPLY_SERIAL = 5,
	FIELD_DESTINATION = 6,
	FIELD_SIGNATURE = 8,
};

/* Each message has a number, which must not be 0. Nobody answers these messages, so that their
 * number does not matter. sd-bus counts from 1, and its count does not go back when it sends a
 * message with this number. */
#define SERIAL 1U

typedef struct FixedPart {
	uint8_t byte_order, type, flags, version;
	uint32_t body_size; /* bus_header_set_body_size() writes it */
	uint32_t serial;
} FixedPart;

/* Begins a field: a structure of its number and a variant of TYPE, of which the value follows. */
static void begin_field(BusWriter *w, uint8_t field, char type)
{
	const uint8_t begin[] = {field, 1, (uint8_t)type, 0};

	bus_writer_put_bytes(w, 8, begin, sizeof(begin));
}

static void put_field(BusWriter *w, uint8_t field, char type, const char *text)
{
	if (!text)
		return;
	begin_field(w, field, type);
	bus_writer_put_text(w, type, text);
}

void bus_header_begin(BusWriter *w, const BusHeader *h)
{
	const FixedPart fixed = {.byte_order =
					 __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 'l' : 'B',
				 .type = (uint8_t)h->type,
				 .flags = FLAG_NO_REPLY_EXPECTED,
				 .version = PROTOCOL_VERSION,
				 .serial = SERIAL};

	w->message_at = w->size;
	bus_writer_put_bytes(w, 8, &fixed, sizeof(fixed));
	bus_writer_open(w, 'a', "(yv)");
	put_field(w, FIELD_PATH, 'o', h->path);
	put_field(w, FIELD_INTERFACE, 's', h->interface);
	put_field(w, FIELD_MEMBER, 's', h->member);
	if (h->reply_serial) {
		begin_field(w, FIELD_REPLY_SERIAL, 'u');
		bus_writer_put_u32(w, h->reply_serial);
	}
	put_field(w, FIELD_DESTINATION, 's', h->destination);
	put_field(w, FIELD_SIGNATURE, 'g', h->signature);
	bus_writer_close(w);
	/* the body begins at a multiple of eight */
	bus_writer_put_bytes(w, 8, NULL, 0);
	w->body_at = w->size;
}

void bus_header_set_body_size(BusWriter *w, size_t body_size)
{
	uint32_t size = (uint32_t)body_size;

	if (w->error >= 0)
		memcpy(w->data + w->message_at + offsetof(FixedPart, body_size), &size,
		       sizeof(size));
}

void bus_header_end(BusWriter *w)
{
	bus_header_set_body_size(w, w->size - w->body_at);
}
