/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The screen of rdmactl top as text: its lines, and the effects of keys. The view needs no
 * terminal, so that tests can look at it.
 */

#include "top-table.h"

/* A key is the character that was typed, or one of these. */
typedef enum TopKey {
	TOP_KEY_NONE = 0,
	TOP_KEY_ENTER = '\n',
	TOP_KEY_ESCAPE = '\033',
	TOP_KEY_UP = 256,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
} TopKey;

typedef enum TopPage {
	TOP_PAGE_PORTS,
	TOP_PAGE_DETAILS, /* all attributes of the port that is chosen */
	TOP_PAGE_HELP,
} TopPage;

typedef struct TopView {
	TopStyle style;
	size_t rows;	  /* lines of the terminal; 0: all ports, without keys */
	const char *host; /* whose ports these are */
	uint64_t interval_usec;
	bool paused;
	TopPage page;
	char *selected;	   /* the path of the port that is chosen; NULL: none yet */
	size_t first;	   /* the first port on the screen */
	size_t first_line; /* the first line of the details */
	size_t n_ports;	   /* so many ports fit on the screen, as top_view_print() found */
} TopView;

/* The screen: ROWS lines of at most STYLE.WIDTH columns, the last one without an end of line. C
 * says whether there are colours. Only what is scrolled changes in *V. The caller frees *RET.
 * -ENOMEM.
 */
int top_view_print(const Context *c, const TopModel *m, TopView *v, char **ret);
/* Does what KEY means. Returns 1, or 0 if it means the end; -ENOMEM. */
int top_view_key(const TopModel *m, TopView *v, int key);
void top_view_done(TopView *v);
