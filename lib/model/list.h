/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Short lists, which are stored as text, as people write them: numbers "3,4", words "dscp,pcp", and
 * pairs of numbers "0-7:0,26:3", where neighbours that have the same are together. An empty list is
 * "none". On the bus they are an array of numbers, of texts, and a dictionary.
 */

#include "attribute.h"

/* The largest first number of a pair. */
#define LIST_KEY_MAX 255U

typedef struct ListItem {
	AttrText word;		 /* of ATTR_WORDS */
	uint32_t number, second; /* of ATTR_NUMBERS, and both of ATTR_PAIRS */
} ListItem;

/* Reads a list of TYPE. */
typedef struct ListReader {
	AttrType type;
	const char *at;	     /* what has not been read */
	uint32_t least;	     /* of ATTR_PAIRS: the first number of the next one, at least */
	uint32_t next, end;  /* those of the neighbours that were read that are left */
	uint32_t neighbours; /* what they have */
	bool damaged;	     /* something was no item; it was left out */
} ListReader;

/* A loop: for (ListReader r = list_reader(type, text); list_next(&r, &item);) */
ListReader list_reader(AttrType type, const char *text);
/* The next item; false at the end. The first numbers of pairs ascend. */
bool list_next(ListReader *r, ListItem *ret);

/* Whether WORD is in TEXT, a list of ATTR_WORDS. */
bool list_has_word(const char *text, const char *word);
/* Whether TEXT is a list of TYPE, all of it. */
bool list_is_valid(AttrType type, const char *text);

/* Writes a list of TYPE to TEXT, which has SIZE bytes. Items that do not fit are left out. */
typedef struct ListWriter {
	AttrType type;
	char *text;
	size_t size, used;
	bool is_open;		      /* a pair waits for its neighbours */
	uint32_t first, last, second; /* they */
} ListWriter;

void list_begin(ListWriter *w, AttrType type, char *text, size_t size);
void list_add_word(ListWriter *w, const char *word);
void list_add_number(ListWriter *w, uint32_t number);
void list_add_pair(ListWriter *w, uint32_t number, uint32_t second);
/* Nothing is added after that. */
void list_end(ListWriter *w);
/* Writes the N numbers at NUMBERS as a list of ATTR_NUMBERS. */
void list_put_numbers(const uint8_t *numbers, size_t n, AttrText ret);
/* Writes the numbers of the bits that are set in BITS as a list of ATTR_NUMBERS. */
void list_put_bits(uint8_t bits, AttrText ret);
