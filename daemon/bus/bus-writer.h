/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Where values for the bus go: into an sd_bus_message, or as the bytes that they are on the wire
 * into memory. sd-bus takes some 4000 instructions for one property of a dictionary, memory
 * some 200: what all ports have is written into memory (long-reply.h), a single value into a
 * message.
 *
 * The first error stays and makes the rest do nothing: bus_writer_error() at the end is enough.
 */

#include <systemd/sd-bus.h>

#include "util.h"

/* What the D-Bus specification allows an array. */
#define BUS_ARRAY_MAX (UINT64_C(64) << 20)

typedef struct BusWriter {
	sd_bus_message *message; /* NULL: into memory */
	uint8_t *data;		 /* to be freed */
	size_t size, room;
	size_t depth;
	struct {
		size_t length_at, begin; /* 0: no array */
	} open[16];
	int error;
} BusWriter;

static inline void bus_writer_done(BusWriter *w)
{
	free(w->data);
}

/* Nothing, or why not all of it could be written: a negative errno, -E2BIG for more than an array
 * or a message can be. */
static inline int bus_writer_error(const BusWriter *w)
{
	return w->error;
}

/* TYPE is 'a', 'r', 'e' or 'v', CONTENTS the signature of what is inside, as for
 * sd_bus_message_open_container(). */
void bus_open(BusWriter *w, char type, const char *contents);
void bus_close(BusWriter *w);

/* An entry of a dictionary of properties, {sv}: both openings and the name between them at once,
 * for there are thousands. What is put next is the value, of type SIGNATURE. */
void bus_open_property(BusWriter *w, const char *name, const char *signature);
void bus_close_property(BusWriter *w);

/* TYPE is 's', 'o' or 'g'. The text must be valid for it: the cache has no other. */
void bus_put_text(BusWriter *w, char type, const char *text);
void bus_put_u8(BusWriter *w, uint8_t value);
void bus_put_u32(BusWriter *w, uint32_t value);
void bus_put_u64(BusWriter *w, uint64_t value);
void bus_put_bool(BusWriter *w, bool value);
