/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * As much of the D-Bus protocol as the benchmark needs, little-endian and blocking: the client that
 * measures, and the service of floor-prepared.c. It uses no library, so that no figure contains the
 * cost of one. It does not check messages, because the bus has validated them. An error ends the
 * program.
 */

#include <sys/types.h>

#include "util.h"

typedef struct Raw Raw;

enum { RAW_CALL = 1, RAW_REPLY = 2, RAW_ERROR = 3, RAW_SIGNAL = 4 };

typedef struct RawMessage {
	uint8_t type;
	bool wants_reply;
	uint32_t serial, reply_serial;
	/* each is NULL if the header does not have it */
	const char *path, *interface, *member, *error, *sender, *signature;
	const uint8_t *body;
	size_t body_size;
} RawMessage;

/* Connects to the bus that listens on the socket PATH. If NAME is not NULL, takes this bus name. */
Raw *raw_connect(const char *path, const char *name);
Raw *raw_free(Raw *r);
DEFINE_CLEANUP(Raw, raw_free);

/* Makes a call, which can then be sent often. SIGNATURE consists of s (const char *), u (uint32_t)
 * and a{sv}, which takes no argument and is sent empty. */
typedef struct RawCall {
	uint8_t bytes[1024];
	size_t size;
} RawCall;
void raw_call(RawCall *call, const char *destination, const char *path, const char *interface,
	      const char *member, const char *signature, ...);

/* Sends CALL. Returns its serial number. */
uint32_t raw_send(Raw *r, RawCall *call);
/* Waits up to NSEC nanoseconds. Returns whether there is something to receive. */
bool raw_wait(Raw *r, uint64_t nsec);
/* Receives the next message. It is valid until the next one is received. */
void raw_receive(Raw *r, RawMessage *ret);
/* Sends CALL and receives messages up to its reply. False if the reply is an error. */
bool raw_try(Raw *r, RawCall *call, RawMessage *ret);
/* The same, but an error ends the program. */
void raw_roundtrip(Raw *r, RawCall *call, RawMessage *ret);
/* Sends CALL so that no reply comes. */
void raw_post(Raw *r, RawCall *call);

/* Answers CALL with the SIZE bytes of BODY, whose type is SIGNATURE. NULL: an empty reply. */
void raw_reply(Raw *r, const RawMessage *call, const char *signature, const void *body,
	       size_t size);

/* Subscribes to the messages that match RULE. */
void raw_match(Raw *r, const char *rule);
/* Whether the bus name has an owner. */
bool raw_name_has_owner(Raw *r, const char *name);
/* Waits until the bus name has an owner. False if the child PID ends before that. Messages that
 * come meanwhile are lost. */
bool raw_wait_name(Raw *r, const char *name, pid_t pid);

/* The uint32 at P in the body of a message. */
uint32_t raw_u32(const uint8_t *p);
