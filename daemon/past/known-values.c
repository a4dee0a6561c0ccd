/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "known-values.h"

#define HEAD_SIZE 2U /* kind and length */

_Static_assert(_EVIDENCE_MAX <= UINT8_MAX, "a kind is one byte");

void known_done(KnownValues *k)
{
	free(k->bytes);
	*k = (KnownValues){};
}

static size_t size_at(const KnownValues *k, size_t at)
{
	return HEAD_SIZE + k->bytes[at + 1] + 1U;
}

/* Where the value of KIND is; N if there is none. */
static size_t find(const KnownValues *k, EvidenceKind kind)
{
	size_t at = 0;

	while (at < k->n && k->bytes[at] != kind)
		at += size_at(k, at);
	return at;
}

const char *known_get(const KnownValues *k, EvidenceKind kind)
{
	size_t at = find(k, kind);

	return at < k->n ? (const char *)&k->bytes[at + HEAD_SIZE] : NULL;
}

void known_set(KnownValues *k, EvidenceKind kind, const char *text)
{
	size_t at = find(k, kind), length = strlen(text);
	size_t old = at < k->n ? size_at(k, at) : 0, new = HEAD_SIZE + length + 1;
	unsigned char *bytes = k->bytes;

	if (new > old) {
		bytes = realloc(bytes, k->n - old + new);
		if (!bytes)
			return;
		k->bytes = bytes;
	}
	memmove(&bytes[at + new], &bytes[at + old], k->n - at - old);
	k->n += new - old;
	bytes[at] = (unsigned char)kind;
	bytes[at + 1] = (unsigned char)length;
	memcpy(&bytes[at + HEAD_SIZE], text, length + 1);
}
