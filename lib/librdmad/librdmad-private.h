/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The header that the files of librdmad share. */

#include <systemd/sd-bus.h>

#include "memory-layout.h"

#define EXPORT __attribute__((visibility("default")))

struct rdmad {
	/* The values for a read: copied from the header, and checked, when the memory was opened.
	 */
	const char *records; /* record 0 */
	uint32_t capacity;   /* so many records are within the memory */
	uint32_t record_size;

	const struct memory_header *header; /* the memory, mapped for reading */
	size_t size;			    /* of the memory, in bytes */
	int memory;			    /* the descriptor of the memory */
	int changed;			    /* the read end of the pipe; negative: there is none */
	bool by_bus;			    /* opened by rdmad_open() */
	char *address;			    /* which rdmad_open() was given; NULL: the system bus */
};

/* Connects to the bus at ADDRESS; NULL: the system bus. */
int librdmad_connect(const char *address, sd_bus **ret);
/* The error for the caller after ERROR and R of any call. */
int librdmad_bus_error(const sd_bus_error *error, int r);
/* The same for a call that is about a port. */
int librdmad_call_error(const sd_bus_error *error, int r);
/* Finds the record of the port with the object PATH. -ENOENT: it has none. */
int librdmad_find_path(const struct rdmad *r, const char *path, struct rdmad_handle *ret);

/* Reads the port in SLOT. Returns 1, or 0 if no port is there; -EAGAIN, -ESTALE, -ENOTCONN as
 * rdmad_read(). */
int librdmad_read_slot(const struct rdmad *r, uint32_t slot, struct rdmad_port *ret);
/* The slots that may have a port. */
uint32_t librdmad_count_slots(const struct rdmad *r);
struct rdmad_handle librdmad_handle_of(const struct rdmad_port *p, uint32_t slot);
