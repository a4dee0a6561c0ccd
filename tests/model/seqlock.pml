/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sequence lock of lib/librdmad/memory-layout.h, for spin: one writer that may be killed at any step,
 * one reader. Readers write nothing, so more of them would be more of the same.
 *
 * The words of the data are written and read in every possible order, for between the fences a
 * processor may do so; the fences keep them between the accesses of the sequence. Checked are: a
 * read that completes has exactly the state that its sequence stands for (the assertion), and the
 * reader comes to an end whatever the writer does (the formula).
 *
 * NO_ODD, NO_RECHECK, NO_FENCE and NO_LIMIT take one part of the protocol away; each must be found out.
 */

#define WORDS  3
#define WRITES 3
#define TRIES  3 /* as good as a thousand: more than the first one, and not for ever */

byte sequence;
byte data[WORDS];
bool ended;

#define ALL ((1 << WORDS) - 1)

inline odd()
{
#ifdef NO_ODD
	skip
#else
	sequence = sequence + 1
#endif
}

inline even()
{
#ifdef NO_ODD
	sequence = sequence + 2
#else
	sequence = sequence + 1
#endif
}

active proctype writer()
{
	byte n, left;

	do
	:: n < WRITES ->
		n++;
#ifdef NO_FENCE
		/* a word gets ahead of the sequence */
		data[0] = n;
		odd();
		left = ALL & ~1;
#else
		odd();
		left = ALL;
#endif
		do
		:: left & 1 -> data[0] = n; left = left & ~1
		:: left & 2 -> data[1] = n; left = left & ~2
		:: left & 4 -> data[2] = n; left = left & ~4
		:: left == 0 -> break
		:: goto killed
		od;
		even()
	:: break
	od;
killed:
	skip
}

active proctype reader()
{
	byte tries, s, left;
	byte copy[WORDS];

	do
#ifndef NO_LIMIT
	:: tries == TRIES -> break
	:: tries < TRIES ->
		tries++;
#else
	:: true ->
#endif
		s = sequence;
		if
		:: s & 1 -> skip
		:: else ->
			left = ALL;
			do
			:: left & 1 -> copy[0] = data[0]; left = left & ~1
			:: left & 2 -> copy[1] = data[1]; left = left & ~2
			:: left & 4 -> copy[2] = data[2]; left = left & ~4
			:: left == 0 -> break
			od;
			if
#ifdef NO_RECHECK
			:: true ->
#else
			:: sequence == s ->
#endif
				assert(copy[0] == s / 2 && copy[1] == s / 2 && copy[2] == s / 2);
				break
#ifndef NO_RECHECK
			:: else -> skip
#endif
			fi
		fi
	od;
	ended = true
}

ltl reader_ends { <> ended }
