/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The findings about a port, its device or the machine, when each began and ended, and whether
 * somebody has acknowledged it. They are a part of the history of the port. Findings of the same
 * check and attribute that began at the same time are one.
 *
 * What is read from a file and has not ended is recalled: the judge may find it again, and then it
 * is the same finding, which began then. No clock: times come in as arguments.
 */

#include "table.h"

/* The most that are kept of a port. Those that have ended are forgotten first. */
#define PAST_FINDINGS_MAX 16U

/* All zero: none. The oldest is the first. */
typedef struct PastFindings {
	PastFinding *items;
	size_t n;
} PastFindings;

void past_findings_done(PastFindings *l);
/* What holds now is in OF_PORT, OF_DEVICE and OF_MACHINE, tables of FindingEntry; each may be NULL.
 * What is there began if it was not there before; what is not has ended NOW, but for what is
 * recalled if KEEP_RECALLED. Without memory nothing begins. */
void past_findings_note(PastFindings *l, const Table *of_port, const Table *of_device,
			const Table *of_machine, uint64_t now, bool keep_recalled);
/* The oldest that is new or another one since this function has returned it; NULL: none is. */
const PastFinding *past_findings_take(PastFindings *l);
/* The recalled finding of CHECK about ATTRIBUTE ("": none), which is recalled no longer; NULL:
 * there is none. */
const PastFinding *past_findings_recall(PastFindings *l, const char *check, const char *attribute);
/* Whether none of them holds. */
bool past_findings_have_ended(const PastFindings *l);
/* Adds F at the end, or in place of what was known of the same finding. */
void past_findings_restore(PastFindings *l, const PastFinding *f);
