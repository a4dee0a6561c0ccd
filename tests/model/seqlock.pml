/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sequence lock of lib/librdmad/memory-layout.h as a model for spin: one writer, which may be
 * killed at any step, and one reader. Readers write nothing, so one shows what many would do.
 *
 * The words of the data are written and read in every possible order, because a processor may do
 * that between the fences. The fences keep them between the accesses of the sequence. spin proves two
 * things: a read that completes has exactly the state that its sequence stands for (the assertion),
 * and the reader ends whatever the writer does (the formula).
 *
 * NO_ODD, NO_RECHECK, NO_FENCE and NO_LIMIT each take one part of the protocol away. spin must then
 * find an error.
 */

#define WORDS  3
#define WRITES 3
#define TRIES  3 /* more than one and less than for ever: a thousand would prove the same */

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
