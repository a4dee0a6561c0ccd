/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Writes values for the bus in one of two ways, so that each row of the attribute tables is written
 * by one function:
 *
 * - Into an sd_bus_message. That is for a single property that sd-bus asks for, and for signals and
 *   long replies if the other way fails.
 * - Into memory, as the bytes that go over the wire. That is for long replies and the signals of
 *   ports: a property takes some 200 instructions, where sd-bus takes some 4000.
 *
 * `BusWriter w = {}` writes into memory, `BusWriter w = {.message = m}` into a message. After the
 * first error the writer does nothing more, so that it is enough to look at bus_writer_error() at
 * the end.
 */

#include <systemd/sd-bus.h>

#include "util.h"

/* What the D-Bus specification allows an array. */
#define BUS_ARRAY_MAX (UINT64_C(64) << 20)

typedef struct BusWriter {
	sd_bus_message *message; /* to write into; NULL: into memory, with what follows */
	uint8_t *data;		 /* the bytes so far; bus_writer_done() frees them */
	size_t size;		 /* how many there are */
	size_t room;		 /* for how many there is memory */
	size_t max;		 /* and may be at most; 0: BUS_ARRAY_MAX */
	size_t message_at;	 /* where in DATA the message begins: positions count from there */
	size_t body_at;		 /* where its body begins; both are bus-header.c's */
	size_t depth;		 /* how many containers are open */
	struct {
		size_t length_at; /* where in DATA the length of an array belongs */
		size_t begin;	  /* where in DATA its first element is; 0: this is no array */
	} open[16];
	int error; /* 0, or the first error: a negative errno */
} BusWriter;

/* Frees the bytes; the message is the caller's. */
static inline void bus_writer_done(BusWriter *w)
{
	free(w->data);
}

/* 0, or why not everything is written: -E2BIG for more than an array or a message may have, or
 * another negative errno. */
static inline int bus_writer_error(const BusWriter *w)
{
	return w->error;
}

/* About how many bytes all writers have written since the program began: what a reply costs the bus
 * is counted by that (bus-turns.h). */
uint64_t bus_writer_written(void);

/* Opens and closes a container. TYPE is 'a', 'r', 'e' or 'v', CONTENTS the signature of what is in
 * it, as for sd_bus_message_open_container(). */
void bus_writer_open(BusWriter *w, char type, const char *contents);
void bus_writer_close(BusWriter *w);

/* Opens and closes an entry {sv} in a dictionary of properties: the entry, NAME and the variant in
 * one step, because there are thousands of them. The next value is that of the property; its type
 * is SIGNATURE. */
void bus_writer_open_property(BusWriter *w, const char *name, const char *signature);
void bus_writer_close_property(BusWriter *w);

/* Only into memory: adds N bytes, at a multiple of ALIGN. */
void bus_writer_put_bytes(BusWriter *w, size_t align, const void *bytes, size_t n);
/* The same: BY, which has been written into memory too, takes the place of the bytes from BEGIN to
 * END. It is the caller's business that all stays aligned. */
void bus_writer_replace(BusWriter *w, size_t begin, size_t end, const BusWriter *by);
/* TYPE is 's', 'o' or 'g'. TEXT must be valid for that type, which is not checked; what is in the
 * cache is valid. */
void bus_writer_put_text(BusWriter *w, char type, const char *text);
void bus_writer_put_u32(BusWriter *w, uint32_t value);
void bus_writer_put_u64(BusWriter *w, uint64_t value);
void bus_writer_put_s32(BusWriter *w, int32_t value);
void bus_writer_put_bool(BusWriter *w, bool value);

/* Adds the entry {sv} of NAME to a dictionary of properties. */
void bus_writer_add_text(BusWriter *w, const char *name, const char *text);
void bus_writer_add_u32(BusWriter *w, const char *name, uint32_t value);
void bus_writer_add_u64(BusWriter *w, const char *name, uint64_t value);
void bus_writer_add_bool(BusWriter *w, const char *name, bool value);
