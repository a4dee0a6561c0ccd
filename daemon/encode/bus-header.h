/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Writes messages as the bytes that go over the wire, without sd-bus: the header of a message, and
 * the length of its body. */

#include "bus-writer.h"

/* D-Bus specification, "Message types" */
typedef enum BusMessageType {
	BUS_METHOD_RETURN = 2,
	BUS_SIGNAL = 4,
} BusMessageType;

/* Nobody answers a message of these types. So what is not in one is NULL or 0. */
typedef struct BusHeader {
	BusMessageType type;
	const char *path, *interface, *member; /* of a signal */
	uint32_t reply_serial;		       /* of a reply: the number of the call */
	const char *destination;	       /* NULL: of a signal; or there is no bus */
	const char *signature;		       /* of the body */
} BusHeader;

/* Begins a message at the end of W, which writes into memory and has no container open. What is
 * written next is its body. */
void bus_header_begin(BusWriter *w, const BusHeader *h);
/* Says in the header that was written last how long the body is: BODY_SIZE bytes. */
void bus_header_set_body_size(BusWriter *w, size_t body_size);
/* Ends the message whose body has been written behind its header. */
void bus_header_end(BusWriter *w);
