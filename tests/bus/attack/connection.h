/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The connections of an attacker: they send the same messages again and again, as fast as the bus
 * takes them, and count the replies. */

#include "bytes.h"

#define CONNECTION_MESSAGES 8U

/* What attackers have done. */
typedef struct Count {
	uint64_t sent, answered, refused; /* messages, replies, replies that were errors */
} Count;

/* What the connections of a flood have in common. */
typedef struct Flood {
	const char *socket;		     /* the path of the socket of the bus */
	Bytes messages[CONNECTION_MESSAGES]; /* sent in turns */
	uint8_t n_fds[CONNECTION_MESSAGES];  /* how many descriptors each has */
	bool is_answer[CONNECTION_MESSAGES];
	size_t n;
	unsigned int window; /* so many messages may wait for a reply; 0: no limit */
	bool unread;	     /* replies are not read, so WINDOW is how many messages are sent */
	bool keep_fds;	     /* the descriptors that come with replies stay open */
	int null;	     /* a descriptor to send */
	Count *count;
} Flood;

typedef struct Connection {
	int fd;
	uint32_t serial;
	unsigned int waiting; /* messages that wait for a reply */
	unsigned int next;    /* the message that is being sent */
	size_t sent;	      /* so many bytes of it are sent */
	uint8_t begin[16];    /* of the message that is being received */
	size_t n_begin, left; /* so many bytes of BEGIN are there; so many bytes come after them */
} Connection;

/* Connects and says Hello. A negative errno, also if the bus does not answer within a second. */
int connection_open(Connection *c, const char *socket);
/* The same without a word to the bus. */
int connection_open_silent(const char *socket);
void connection_close(Connection *c);

/* Sends and receives what is possible without waiting. A negative errno: the connection has ended.
 */
int connection_run(Connection *c, Flood *f);
/* Whether the connection wants to send. */
bool connection_wants_to_send(const Connection *c, const Flood *f);
