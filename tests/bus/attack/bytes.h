/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Writes messages of D-Bus byte by byte. A library would refuse to make some of the messages that
 * an attacker sends, and would need more time for each than the service that is attacked.
 */

#include "util.h"

/* Grows as it is written. No memory: the program ends. */
typedef struct Bytes {
	uint8_t *p;
	size_t size, room;
	bool big; /* the most significant byte comes first */
} Bytes;

void bytes_free(Bytes *b);

/* Appends zeros up to a multiple of N. */
void bytes_align(Bytes *b, size_t n);
/* Append a value with its alignment. TYPE of a text is 's', 'o' or 'g'. */
void bytes_u8(Bytes *b, uint8_t value);
void bytes_u32(Bytes *b, uint32_t value);
void bytes_u64(Bytes *b, uint64_t value);
void bytes_text(Bytes *b, char type, const char *text);
/* Begins an array of elements that are aligned to ALIGNMENT; the result is for bytes_end_array().
 */
size_t bytes_begin_array(Bytes *b, size_t alignment);
void bytes_end_array(Bytes *b, size_t begin, size_t alignment);

/* Writes VALUE over the four bytes at OFFSET. */
void bytes_set_u32(Bytes *b, size_t offset, uint32_t value);

enum { MESSAGE_CALL = 1, MESSAGE_REPLY, MESSAGE_ERROR, MESSAGE_SIGNAL };
#define MESSAGE_NO_REPLY 1U

/* What is in a message. A text that is NULL is not in the header. */
typedef struct Message {
	const char *destination; /* NULL: org.rdma */
	const char *path, *interface, *member, *error, *signature;
	void (*body)(Bytes *b, unsigned int n); /* writes the body; NULL: none */
	unsigned int n;				/* the second argument of BODY */
	uint8_t type;				/* 0: MESSAGE_CALL */
	uint8_t flags;
	uint8_t n_fds;	/* how many descriptors it has */
	bool big;	/* of endianness B */
	bool is_answer; /* it has a serial number of a call */
	bool to_owner;	/* DESTINATION is the unique name of the owner of org.rdma */
} Message;

/* Where the serial number of a message is, and where that of the call that it answers is. */
#define MESSAGE_SERIAL	     8U
#define MESSAGE_REPLY_SERIAL 20U

/* Writes M. OWNER is for M->to_owner. */
void message_write(Bytes *b, const Message *m, const char *owner);
/* The size of the message that begins with these 16 bytes. */
size_t message_size(const uint8_t begin[16]);
