/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The table of rdmactl top: which ports, in which order, and what the columns show. */

#include "rdmactl.h"
#include "top-model.h"

/* In the order of their importance: on a narrow terminal the last ones are left out first. */
typedef enum TopColumn {
	TOP_COLUMN_PORT,
	TOP_COLUMN_STATE,
	TOP_COLUMN_RECEIVE,
	TOP_COLUMN_TRANSMIT,
	TOP_COLUMN_ERRORS,
	TOP_COLUMN_CHANGED,
	TOP_COLUMN_RATE,
	TOP_COLUMN_NETDEV,
	TOP_COLUMN_DOWNS,
	TOP_COLUMN_RECEIVE_PACKETS,
	TOP_COLUMN_TRANSMIT_PACKETS,
	TOP_COLUMN_NOTE,
	_TOP_COLUMN_MAX
} TopColumn;

/* How the table is to be. */
typedef struct TopStyle {
	size_t width;		/* of the terminal; 0: as wide as the table is */
	TopColumn sort;		/* not TOP_COLUMN_NOTE */
	bool reverse;		/* the other way round than usual for the column */
	bool only_bad;		/* only ports that have errors, or are not active or stale */
	bool bytes;		/* rates in bytes, not bits */
	bool has_cursor;	/* the first column has room for a mark */
	uint64_t realtime_usec; /* the time here */
} TopStyle;

const char *top_column_heading(TopColumn column);

/* Chooses the ports to show and sorts them. Ports with equal values stay in the order of the model,
 * and those without a value come last. The caller frees *RET. -ENOMEM. */
int top_table_sort(const TopModel *m, const TopStyle *style, const TopPort ***ret, size_t *ret_n);

/* The table of N ports, of which that at SELECTED (a path; NULL: none) is marked: the headings and
 * a line for each port. *RET_LEFT_OUT has the headings of the columns for which there is no room,
 * NULL if there are none. The caller frees both. -ENOMEM. */
int top_table_print(const Context *c, const TopModel *m, const TopStyle *style,
		    const TopPort *const *ports, size_t n, const char *selected, char **ret,
		    char **ret_left_out);

/* "12.3 Gb/s": RATE, in bytes, with three digits; "-" if it is below 0, which is not known. */
#define TOP_RATE_TEXT_MAX 16
void top_format_rate(double rate, bool bytes, char ret[TOP_RATE_TEXT_MAX]);
