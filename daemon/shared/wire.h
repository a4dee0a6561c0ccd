/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The messages between the core and a worker (rdmad-query), over a SOCK_SEQPACKET pair. A message
 * has a fixed size for its type.
 *
 *     core to worker      QUERY, FORGET: one a packet
 *     worker to core      DEVICE, PORT, TABLE, END in answer to a QUERY; EVENT at any time. A
 * packet may have several, one behind the other: a short answer wakes the core once
 *
 * In answer to one query: DEVICE and its TABLE pages first if asked for; then for each port PORT
 * followed by the pages of its tables; END closes it. A table of n entries comes as pages in order,
 * each but the last full. A table that was read but is empty has no page: the row is in the mask
 * `supplied`. Both sides are of one build; the version only guards against a mixed installation.
 *
 * The core does not trust a worker: wire_check() holds before anything of a message is used, and
 * what it cannot know (is that an answer to what was asked, does the table grow beyond bounds) the
 * receiver checks. A worker that breaks a rule is replaced.
 */

#include "port.h"
#include "source.h"

#define WIRE_MAGIC	0x72646d61U /* "rdma" */
#define WIRE_VERSION	2U
#define WIRE_PAGE_BYTES 2048U
/* A port with three tables of two pages each */
#define WIRE_PACKET_MAX (16U * 1024)

typedef enum WireType {
	WIRE_QUERY = 1,
	WIRE_FORGET,
	WIRE_DEVICE,
	WIRE_PORT,
	WIRE_TABLE,
	WIRE_END,
	WIRE_EVENT,
	_WIRE_MAX
} WireType;

typedef struct WireHeader {
	uint32_t magic;
	uint16_t version;
	uint16_t type;
	uint64_t id; /* of the query; 0 for EVENT and FORGET */
	uint32_t device;
	uint32_t port; /* 0: the device */
} WireHeader;

typedef struct WireQuery {
	WireHeader header;
	Query query;
} WireQuery;

typedef struct WireDevice {
	WireHeader header;
	DeviceValues values;
	AttrMask supplied;
} WireDevice;

typedef struct WirePort {
	WireHeader header;
	int32_t error;
	int32_t open_error; /* PortSnapshot's */
	PortValues values;
	AttrMask supplied;
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
	int32_t error; /* 0 or a negative errno */
	char text[128];
} WireEnd;

typedef struct WireEvent {
	WireHeader header;
	uint32_t reason; /* EventReason */
	uint32_t reserved;
} WireEvent;

/* FORGET is a header alone. */
typedef union WireMessage {
	WireHeader header;
	WireQuery query;
	WireDevice device;
	WirePort port;
	WireTable table;
	WireEnd end;
	WireEvent event;
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
/* Entries of TYPE that fit a page. */
uint32_t wire_page_entries(AttrType type);

/*
 * Checks a received packet of SIZE bytes in MESSAGE: magic, version, type, size, port number, text
 * terminated, mask within bounds, page within its table, reason known, and of the entries of a page
 * what their columns must keep: text terminated, errors and groups within their range. 0 or
 * -EBADMSG with *RET_WHY a static text that names the rule.
 */
int wire_check(const WireMessage *message, size_t size, const char **ret_why);

/* Sends one message; 0 or a negative errno (-EAGAIN if the socket is full and FD does not block).
 */
int wire_send(int fd, const WireMessage *message);
/* Receives a packet of one message and checks it: 1, 0 at the end of the connection, -EAGAIN,
 * -EBADMSG with *RET_WHY, or another negative errno. */
int wire_receive(int fd, WireMessage *ret, const char **ret_why);

/* Puts MESSAGE into P, which is sent first if it has no room left. */
int wire_put(int fd, WirePacket *p, const WireMessage *message);
/* The same for TABLE as pages. NULL puts nothing. */
int wire_put_table(int fd, WirePacket *p, WireHeader header, AttrType type, const Table *table);
/* Sends what is in P, if anything; P is empty then, whether that worked or not. */
int wire_flush(int fd, WirePacket *p);

/* Receives a packet of whatever: 1, 0 at the end of the connection, -EAGAIN, -EBADMSG if it is
 * larger than any should be, or another negative errno. */
int wire_receive_packet(int fd, WirePacket *ret, const char **ret_why);
/* Takes the next message of P and checks it: 1, 0 if there is none left, or -EBADMSG with *RET_WHY.
 */
int wire_next(WirePacket *p, WireMessage *ret, const char **ret_why);

/*
 * Puts pages together. A page that does not continue the last one is -EBADMSG. Returns 1 and hands
 * over the table when it is complete, 0 if more pages must follow. Zero-initialise;
 * wire_assembly_done() frees what is unfinished.
 */
typedef struct WireAssembly {
	Table *table;
	AttrType type;
	uint32_t device, port;
	uint32_t received;
} WireAssembly;

int wire_assemble(WireAssembly *a, const WireTable *page, Table **ret);
void wire_assembly_done(WireAssembly *a);
