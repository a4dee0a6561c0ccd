/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The form of a file of records, to which records are only ever added. It has a head of 16 bytes,
 *
 *     8 bytes   "rdmadrec"
 *     u32       RECORD_FILE_VERSION
 *     u32       CRC-32C of the 12 bytes before it
 *
 * and records, each of which is
 *
 *     u32       how many bytes of contents follow, at most RECORD_MAX
 *     u16       the type
 *     u16       the version of this type
 *     u32       CRC-32C of the 8 bytes before it and of the contents
 *     contents
 *
 * All numbers are little-endian. The reader passes over a type or a version that it does not know,
 * and over what follows the contents that it knows: so a type may grow at its end, and only a
 * change of what is there needs another version. What follows damage is not read.
 *
 * Nothing here reads or writes a file, and nothing of it is trusted.
 */

#include "attribute.h"

#define RECORD_FILE_VERSION 1U
#define RECORD_HEAD_SIZE    16U
/* Bytes of a record before its contents, and the most bytes that these may have. */
#define RECORD_FRAME_SIZE 12U
#define RECORD_MAX	  8192U

/* CRC-32C (Castagnoli) of N bytes at DATA, going on from CRC, which is 0 at the beginning. */
uint32_t record_crc(uint32_t crc, const void *data, size_t n);

/* Writes the head of a file. */
void record_write_head(uint8_t ret[RECORD_HEAD_SIZE]);
/* 0: the SIZE bytes at DATA begin with a head of this version. -EPROTONOSUPPORT: with that of
 * another one. -EBADMSG: with none. */
int record_check_head(const uint8_t *data, size_t size);

/* Reading */

/* A place in the contents of a record. After what is too short or wrong BAD is set, and all that is
 * read is 0. */
typedef struct RecordReader {
	const uint8_t *at, *end;
	bool bad;
} RecordReader;

typedef struct Record {
	uint16_t type, version;
	RecordReader contents;
} Record;

/* The record at *OFFSET of the SIZE bytes at DATA; *OFFSET is then that of the next one. Returns 1,
 * 0 if there is none left, or -EBADMSG: the rest is damaged, or is not all there. */
int record_next(const uint8_t *data, size_t size, size_t *offset, Record *ret);

uint8_t record_read_u8(RecordReader *r);
uint16_t record_read_u16(RecordReader *r);
uint32_t record_read_u32(RecordReader *r);
uint64_t record_read_u64(RecordReader *r);
void record_read_bytes(RecordReader *r, void *ret, size_t n);
/* A text of record_put_text(). One that is longer than AttrText, or has anything in it that
 * text_sanitize() would change, is bad. */
void record_read_text(RecordReader *r, AttrText ret);

/* Writing */

/* Records one behind the other. Zeroed, there are none. */
typedef struct RecordBuffer {
	uint8_t *data;
	size_t size, room;
	size_t begin; /* of the record that is being written */
	bool failed;  /* no memory: what is in it is of no use */
} RecordBuffer;

void record_buffer_done(RecordBuffer *b);
#define _cleanup_record_buffer_ _cleanup_(record_buffer_done)
/* Begins a record of TYPE, version 1, and ends it. */
void record_begin(RecordBuffer *b, uint16_t type);
void record_end(RecordBuffer *b);
void record_put_u8(RecordBuffer *b, uint8_t value);
void record_put_u16(RecordBuffer *b, uint16_t value);
void record_put_u32(RecordBuffer *b, uint32_t value);
void record_put_u64(RecordBuffer *b, uint64_t value);
void record_put_bytes(RecordBuffer *b, const void *bytes, size_t n);
void record_put_text(RecordBuffer *b, const char *text);
