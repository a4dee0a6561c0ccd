/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The name that somebody may have meant who wrote a word that is none. */

#include "object.h"

typedef struct Suggestion {
	const char *word;
	char name[96]; /* the best of the names that were offered; "" if none is like WORD */
	unsigned int distance; /* between the two */
	char text[96 + 20];
} Suggestion;

static inline Suggestion suggestion_for(const char *word)
{
	return (Suggestion){.word = word};
}
/* Takes NAME if it is more like the word than those before: the word with a letter too many or too
 * few, or another one, or two of these; or a word that has it as a part. */
void suggestion_offer(Suggestion *s, const char *name);
/* The same for all names of attributes, and for all names of ports in LIST. */
void suggestion_offer_attributes(Suggestion *s);
void suggestion_offer_ports(Suggestion *s, const ObjectList *list);
/* "; did you mean NAME?", or "". The text lives as long as S. */
const char *suggestion_text(Suggestion *s);
