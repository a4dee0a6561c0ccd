/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The terminal while rdmactl top uses all of it: its alternate screen, without a cursor, and with
 * keys that are read at once and not shown.
 *
 * These are the escape sequences of ECMA-48 and xterm that all terminals of today know, and not
 * libncursesw: what rdmactl prints elsewhere (tables, colours, "show") is text with such sequences
 * already, and top shows the same text. ncurses takes characters and attributes one by one and
 * would show the sequences themselves, so that each colour and table would be needed a second time.
 * The code here clears the line before each line, and reads about fifteen keys.
 */

#include "rdmactl.h"

typedef struct Screen Screen;

/* Whether there is a terminal that can be used: -ENOTTY if standard input and output are none,
 * -EOPNOTSUPP if it has no cursor that can be moved (TERM is "dumb" or not set). */
int screen_check(void);
/* Takes this terminal. */
int screen_open(Screen **ret);
/* Gives the terminal back as it was. Takes NULL too; returns NULL. */
Screen *screen_close(Screen *s);
DEFINE_CLEANUP(Screen, screen_close);

/* Gives the terminal back for a while, and takes it again: while the process is stopped. */
void screen_leave(Screen *s);
int screen_enter(Screen *s);

/* How large the terminal is now. After a change the next text is written as a whole. */
void screen_size(Screen *s, size_t *ret_width, size_t *ret_rows);
/* Shows the lines of TEXT. Lines that are there already are not written again. -EIO and the like:
 * the terminal has gone. */
int screen_draw(Screen *s, const char *text);
/* Reads what was typed, without waiting, and calls ON_KEY for each key (see TopKey), until it
 * returns false. -EPIPE: the terminal has gone. */
int screen_read(Screen *s, bool (*on_key)(void *userdata, int key), void *userdata);
