/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Just enough of D-Bus by hand, little-endian and blocking, so that no library's costs are in a
 * figure: a client for sampling, and what the hand-written floor needs. It trusts the bus, which
 * has validated what it forwards. Errors end the program.
 */

#include <sys/types.h>

#include "util.h"

typedef struct Raw Raw;

enum { RAW_CALL = 1, RAW_REPLY = 2, RAW_ERROR = 3, RAW_SIGNAL = 4 };

typedef struct RawMessage {
	uint8_t type;
	bool wants_reply;
	uint32_t serial, reply_serial;
	/* NULL if the header has none */
	const char *path, *interface, *member, *error, *sender, *signature;
	const uint8_t *body;
	size_t body_size;
} RawMessage;

/* Connects to the bus that listens on a socket at PATH and, if NAME is not NULL, takes that. */
Raw *raw_connect(const char *path, const char *name);
Raw *raw_free(Raw *r);
DEFINE_CLEANUP(Raw, raw_free);

/* A call that is made once and sent often. SIGNATURE is of s (const char *), u (uint32_t), and
 * a{sv}, which is sent empty and takes no argument. */
typedef struct RawCall {
	uint8_t bytes[1024];
	size_t size;
} RawCall;
void raw_call(RawCall *call, const char *destination, const char *path, const char *interface,
	      const char *member, const char *signature, ...);

/* Sends it and returns its serial. */
uint32_t raw_send(Raw *r, RawCall *call);
/* Whether something comes within NSEC. */
bool raw_wait(Raw *r, uint64_t nsec);
/* The next message; it is valid until the next one. */
void raw_receive(Raw *r, RawMessage *ret);
/* Sends, and receives up to the reply. False if that is an error. */
bool raw_try(Raw *r, RawCall *call, RawMessage *ret);
/* The same where an error is the end. */
void raw_roundtrip(Raw *r, RawCall *call, RawMessage *ret);
/* Sends without wanting a reply. */
void raw_post(Raw *r, RawCall *call);

/* Answers CALL with BODY, which is SIZE bytes of SIGNATURE (NULL: none). */
void raw_reply(Raw *r, const RawMessage *call, const char *signature, const void *body,
	       size_t size);

/* Subscribes. */
void raw_match(Raw *r, const char *rule);
/* Whether somebody owns a name. */
bool raw_name_has_owner(Raw *r, const char *name);
/* Waits until somebody does, or until the child PID has ended: false. Messages that come meanwhile
 * are lost. */
bool raw_wait_name(Raw *r, const char *name, pid_t pid);

/* Reads a number, and what follows it, out of a body. */
uint32_t raw_u32(const uint8_t *p);
