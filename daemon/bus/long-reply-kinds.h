/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The contents of each of the long replies. */

#include "bus-writer.h"
#include "long-reply.h"
#include "lookup.h"

/* The question of a call, and all that is kept of the call while it waits. */
struct LongReplyQuestion {
	const char *path;     /* of the object that was called */
	const char *text;     /* its argument: the interface, the device, a name; NULL: none */
	const char *text_2;   /* one more: the property, the netdev; NULL: none */
	AttrMask rows;	      /* of a port: those that were named, long-reply-named.h */
	AttrMask device_rows; /* the same of its device */
	bool all;	      /* FindPorts(): all of a port */
	AttrMask reasons;     /* the reasons of which rows of a port each entry is to have too */
	FindKind by;	      /* of FindPorts() */
	GidType type;	      /* the same */
	/* of what is read on demand (bus-reading.h) */
	uid_t user;	     /* who asks */
	uint64_t since_usec; /* CLOCK_MONOTONIC: what was read later is shown */
};

struct LongReplyRow {
	const char *signature; /* of the body of the reply */

	/* Reads the arguments of CALL, which has not been read, into *Q: the text is valid for as
	 * long as CALL. A negative errno, perhaps with *ERROR, is the reply. NULL: there is none to
	 * read. */
	int (*read)(sd_bus_message *call, LongReplyQuestion *q, sd_bus_error *error);

	/* Writes the body of the reply and returns 1. Errors of W are the caller's business. A
	 * negative errno, perhaps with *ERROR, is the reply instead of a body. 0: rdmad has no such
	 * object or interface, so that sd-bus answers the call. */
	int (*write)(BusWriter *w, const LongReplyQuestion *q, const Cache *c, sd_bus_error *error);

	/* If the body is one array of what belongs to each device, in their order, whatever is
	 * asked: writes that of D; else NULL. */
	void (*write_part)(BusWriter *w, const Device *d);
};

/* By LongReplyKind. */
extern const LongReplyRow long_reply_rows[_LONG_REPLY_KIND_MAX];

/* Fills long_reply_list_ports_signature. Can be called again. */
void long_reply_kinds_init(void);
