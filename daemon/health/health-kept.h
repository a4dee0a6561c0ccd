/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The findings that are kept: since when, and whether they still hold. */

#include "cache.h"
#include "checks.h"
#include "table.h"

typedef struct KeptFinding {
	Finding finding; /* with what its members point to; it owns the sentence */
	uint64_t since_usec;
	uint64_t ended_usec; /* 0: it holds */
	size_t cause; /* another finding of the list, of which it is a part; SIZE_MAX: none */
	uint64_t acknowledged_usec; /* 0: nobody has */
	char acknowledged_text[sizeof(((FindingEntry *)0)->acknowledged_text)];
	bool is_seen; /* while findings are taken */
} KeptFinding;

/* Those of a device and its ports, or those of the machine. */
typedef struct KeptList {
	KeptFinding *items;
	size_t n;
	const Cache *cache; /* its histories have them too */
} KeptList;

void kept_done(KeptList *l);
/* CHECK has looked at SUBJECT, a device or a port, NULL: at all. Of the N findings FOUND those that
 * BELONGS says to belong to L replace what it has found before, the sentences of which L takes.
 * What is new may be what the history of the port has from before rdmad was started: then it began
 * then. Without memory it keeps what it has. */
typedef bool (*KeptBelongs)(const void *owner, const Finding *f);
void kept_take(KeptList *l, const Check *check, const Object *subject, Finding *found, size_t n,
	       KeptBelongs belongs, const void *owner, uint64_t now);
/* Whether one of L is of CHECK. */
bool kept_has(const KeptList *l, const Check *check);
/* Forgets what is about PORT. */
void kept_forget(KeptList *l, const Object *port);
/* Finds out which of them are parts of others. */
void kept_fold(KeptList *l);
/* Somebody acknowledges NOW, with TEXT, what CHECK has found about SUBJECT. Returns whether it has
 * found anything. */
bool kept_acknowledge(KeptList *l, const Object *subject, const char *check, const char *text,
		      uint64_t now);
/* The worst of those about SUBJECT, a device or a port, NULL: about none, that count. */
AttrVerdict kept_worst(const KeptList *l, const Object *subject);
/* The same, and the findings about SUBJECT as a table, which the caller frees. IS_STALE: SUBJECT
 * is, and nobody knows whether the others still hold. */
AttrVerdict kept_tell(const KeptList *l, const Object *subject, bool is_stale, Table **ret);
