/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The messages between the core and a worker (rdmad-query), over a SOCK_SEQPACKET pair. A message
 * has a fixed size for its type.
 *
 *     core to worker      QUERY, FORGET, HURRY: each in a packet of its own
 *     worker to core      DEVICE, PORT, TABLE, END in answer to a QUERY; EVENT at any time; ASKING
 *                         between two answers. A packet may have several, one behind the other, so
 *                         that a short answer wakes the core only once
 *
 * The answer to a query has first DEVICE and the pages of its table, if the device was asked for;
 * then for each port PORT and the pages of its tables; END is its last message. The pages of a
 * table come in order, and all but the last are full. A table that was read but is empty has no
 * page: its row is in the mask `supplied`.
 *
 * A worker that reads an event may ask the ports that the event is about without a QUERY. It says
 * ASKING first, in the packet of the event, because the query may hang: with this message the core
 * starts the same clock as for a QUERY. The answer is like any other. The rules:
 *
 *   - Leave. Each QUERY says what the worker may ask of this device by itself (Query.leave): which
 *     ports, and how many such queries now and per second. The leave begins with the END of that
 *     QUERY and lasts until the END of the next QUERY of the device, which has another. So a QUERY
 *     takes it back or changes it, and so does FORGET.
 *   - Id. ASKING and its answer have the id of the QUERY with that leave.
 *   - Order. A worker does one thing after the other. It says ASKING only when no other answer has
 *     begun, and only when it has found no message of the core that it has not read. A QUERY that
 *     crosses ASKING on the way is answered after it, also if both are about the same device. If
 *     the core has been slow, several may come before the answer to a QUERY.
 *   - Pace. The worker counts the tokens of its leave, and the core counts them too. If there is
 *     none, the worker sends the EVENT alone, and the core asks when it may. If the core has none,
 *     or waits for a QUERY of the same device, it does not use the answer: the event is asked about
 *     later, as if the worker had only sent that.
 *   - Others. The answer is to the events of verbs alone: another source may have told of a change
 *     after the worker has read.
 *
 * tests/model/look.pml is a model of these rules.
 *
 * A query for users may take long, because the firmware is asked about each queue pair. Such a
 * query gives way: the worker ends it, incomplete, when it finds an event of a context, or a
 * message of the core that is no query for users or counters. HURRY is such a message, and says
 * nothing else: the core sends it when something of that device is to be read. Without such a query
 * it is ignored.
 *
 * Both sides are built together. The version only guards against an upgrade in which a core of the
 * old version starts a worker of the new one: it grows with each change of a structure.
 *
 * The core does not trust a worker: it checks each message with wire_check() before it uses
 * anything of it. The receiver checks the rest: whether the message answers the query, and whether
 * the pages continue each other. A worker that breaks a rule is replaced.
 */

#include "source.h"

#define WIRE_MAGIC	0x72646d61U /* "rdma" */
#define WIRE_VERSION	11U
#define WIRE_PAGE_BYTES 2048U
/* A port with three tables of two pages each */
#define WIRE_PACKET_MAX (16U * 1024)

typedef enum WireType {
	WIRE_QUERY = 1, /* ask a device */
	WIRE_FORGET,	/* the device has gone: close what is open of it */
	WIRE_HURRY,	/* end a query for users of the device as soon as possible */
	WIRE_DEVICE,	/* what a device is */
	WIRE_PORT,	/* what one of its ports is */
	WIRE_TABLE,	/* one page of a table */
	WIRE_END,	/* the query is answered */
	WIRE_EVENT,	/* something may have changed */
	WIRE_ASKING,	/* the worker asks a device by itself */
	_WIRE_MAX
} WireType;

/* The beginning of each message. */
typedef struct WireHeader {
	uint32_t magic;	  /* WIRE_MAGIC */
	uint16_t version; /* WIRE_VERSION */
	uint16_t type;	  /* WireType */
	uint64_t id;	  /* of the query; 0 for EVENT, FORGET and HURRY */
	uint32_t device;  /* kernel index */
	uint32_t port;	  /* 0: the device itself */
} WireHeader;

typedef struct WireQuery {
	WireHeader header;
	Query query;
} WireQuery;

/* Room for all texts of a device, or of a port: no number has the size of a TextAt. */
enum {
#define DEVICE(field, name, type, ...)                                                             \
	+(sizeof(attr_##type) == sizeof(TextAt) ? sizeof(attr_room_##type) : 0)
	WIRE_DEVICE_TEXTS = 1
#include "device-attributes.def"
#undef DEVICE
	,
#define PORT(field, name, type, ...)                                                               \
	+(sizeof(attr_##type) == sizeof(TextAt) ? sizeof(attr_room_##type) : 0)
	WIRE_PORT_TEXTS = 1
#include "port-attributes.def"
#undef PORT
};

typedef struct WireDevice {
	WireHeader header;
	DeviceValues values; /* without a pointer to texts; in TEXTS they are as in Texts */
	AttrMask supplied;
	AttrMask unanswered; /* that of DeviceSnapshot */
	int32_t open_error;  /* the same */
	uint32_t n_texts;    /* bytes that are used of TEXTS; 0: there are none */
	char texts[WIRE_DEVICE_TEXTS] __attribute__((aligned(8)));
} WireDevice;

typedef struct WirePort {
	WireHeader header;
	int32_t error;	    /* of the query of this port: 0 or a negative errno */
	int32_t open_error; /* that of PortSnapshot */
	PortValues values;  /* as those of WireDevice */
	AttrMask supplied;
	AttrMask unmeasured; /* that of PortSnapshot */
	AttrMask unanswered; /* the same */
	uint32_t parts;	     /* the same */
	uint32_t failed;     /* the same */
	uint32_t n_texts;
	char texts[WIRE_PORT_TEXTS];
} WirePort;

typedef struct WireTable {
	WireHeader header;
	uint32_t type;	/* AttrType of a table */
	uint32_t total; /* entries of the whole table, 1 to TABLE_ENTRIES_MAX */
	uint32_t first; /* index of the first entry here within them */
	uint32_t n;	/* entries here, at least 1 */
	uint8_t entries[WIRE_PAGE_BYTES] __attribute__((aligned(8)));
} WireTable;

typedef struct WireEnd {
	WireHeader header;
	int32_t error;		 /* 0 or a negative errno */
	uint32_t library_failed; /* 1: the process that asked the vendor's library crashed, hung or
				    lied; else 0 */
	char text[128];		 /* what failed, in words; "" for 0 */
} WireEnd;

typedef struct WireEvent {
	WireHeader header;
	uint32_t reason;   /* EventReason */
	uint32_t reserved; /* fills the structure to a multiple of 8 bytes */
} WireEvent;

typedef struct WireAsking {
	WireHeader header; /* its port is 0 */
	uint32_t parts;	   /* that of Query */
	uint32_t reserved; /* as in WireEvent */
	PortSet ports;	   /* Query.ports: at least one */
} WireAsking;

/* FORGET and HURRY are a header alone. */
typedef union WireMessage {
	WireHeader header;
	WireQuery query;
	WireDevice device;
	WirePort port;
	WireTable table;
	WireEnd end;
	WireEvent event;
	WireAsking asking;
} WireMessage;

/* Messages on their way. Zero-initialise; SIZE is enough. */
typedef struct WirePacket {
	size_t size; /* bytes in use */
	size_t at;   /* bytes that were read */
	uint8_t bytes[WIRE_PACKET_MAX] __attribute__((aligned(8)));
} WirePacket;

/* The exact size of a message of TYPE; 0 if there is no such type. */
size_t wire_size(WireType type);
static inline WireHeader wire_header(WireType type, uint64_t id, uint32_t device, uint32_t port)
{
	return (WireHeader){WIRE_MAGIC, WIRE_VERSION, type, id, device, port};
}
/* How many entries of a table of TYPE, which must be one, fit a page. */
uint32_t wire_page_entries(AttrType type);

/*
 * Checks a received packet of SIZE bytes in MESSAGE: magic, version, type, size, port number, text
 * terminated, mask within bounds, page within its table, reason known, ports asked for, and of the
 * entries of a page what their columns must keep: text terminated, errors and groups within their
 * range. 0 or -EBADMSG with *RET_WHY a static text that names the rule.
 */
int wire_check(const WireMessage *message, size_t size, const char **ret_why);

/* Sends one message; 0 or a negative errno (-EAGAIN if the socket is full and FD does not block).
 */
int wire_send(int fd, const WireMessage *message);
/* Receives a packet of one message and checks it: 1, 0 at the end of the connection, -EAGAIN,
 * -EBADMSG with *RET_WHY, or another negative errno. */
int wire_receive(int fd, WireMessage *ret, const char **ret_why);

/* Puts MESSAGE into P, which is sent first if it has no room left. 0 or a negative errno. */
int wire_put(int fd, WirePacket *p, const WireMessage *message);
/* Puts TABLE of TYPE as pages with HEADER, whose type does not matter. NULL puts nothing. */
int wire_put_table(int fd, WirePacket *p, WireHeader header, AttrType type, const Table *table);
/* Put the part of the answer to query ID that is about DEVICE, or its PORT: what S supplies, with
 * its tables. ERROR: that of SourceHandler.port. */
int wire_put_device(int fd, WirePacket *p, uint64_t id, uint32_t device, const DeviceSnapshot *s);
int wire_put_port(int fd, WirePacket *p, uint64_t id, uint32_t device, uint32_t port, int error,
		  const PortSnapshot *s);
/* Sends what is in P, if anything: 0 or a negative errno. P is empty afterwards in both cases. */
int wire_flush(int fd, WirePacket *p);

/* Receives a packet of whatever: 1, 0 at the end of the connection, -EAGAIN, -EBADMSG if it is
 * larger than any should be, or another negative errno. */
int wire_receive_packet(int fd, WirePacket *ret, const char **ret_why);
/* Takes the next message of P and checks it: 1, 0 if there is none left, or -EBADMSG with *RET_WHY.
 */
int wire_next(WirePacket *p, WireMessage *ret, const char **ret_why);

/* A table of which not all pages have come. Zero-initialise. */
typedef struct WireAssembly {
	Table *table; /* NULL: none has come */
	AttrType type;
	uint32_t device, port; /* to which it belongs */
	uint32_t received;     /* entries of it that have come */
} WireAssembly;

/* Adds PAGE, which wire_check() has passed. Returns 1 and the table in *RET, which the caller
 * frees, when it is complete; 0 if more pages must follow; -EBADMSG if the page does not continue
 * the last one; -ENOMEM. */
int wire_assemble(WireAssembly *a, const WireTable *page, Table **ret);
/* Frees what is unfinished and empties A. */
void wire_assembly_done(WireAssembly *a);
