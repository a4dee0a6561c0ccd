/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Histories as records: what is in each, and how the histories come out of them again. */

#include "history-format.h"
#include "history.h"

/* The boot of the machine that is running: a random number that the kernel made. */
typedef struct BootId {
	uint8_t bytes[16];
} BootId;

/* rdmad has started: what follows is of this boot. */
void history_record_boot(RecordBuffer *b, const BootId *boot, uint64_t realtime_usec);
/* A transition of port PORT of DEVICE, and the counts of its history H afterwards. */
void history_record_transition(RecordBuffer *b, const char *device, uint32_t port, const History *h,
			       const Transition *t);
/* All of H, in place of all that came before of that port. It takes at most BYTES, if these are not
 * fewer than HISTORY_RECORD_LEAST: the oldest times are left out. */
#define HISTORY_RECORD_LEAST 256U
void history_record_all(RecordBuffer *b, const char *device, uint32_t port, const History *h,
			size_t bytes);
/* What came before of that port is forgotten: its device has another name now. */
void history_record_forgotten(RecordBuffer *b, const char *device, uint32_t port);

/*
 * Reads the SIZE bytes at DATA, a file without its head, into L, which must be empty: the histories
 * that the records tell, in the order of their last transitions. A transition of another boot than
 * BOOT has no monotonic time. Returns how many of the bytes are good; what follows is damaged. A
 * record that is whole and makes no sense is passed over.
 */
size_t history_replay(const uint8_t *data, size_t size, const BootId *boot, HistoryList *l);
/* The whole list as records, in at most BYTES if these are enough for HISTORY_RECORD_LEAST each. */
void history_record_list(RecordBuffer *b, const HistoryList *l, size_t bytes);
