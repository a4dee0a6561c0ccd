/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Histories as lines of text. The names of ports and the values are written as in the record of
 * changes, and "reason" and "time" mean the same there:
 *
 *     # rdmad history 1
 *     # boot 5c0f…
 *     port mlx5_0/1 since=1764099999123456 link_downs=1 downs=1764100000000000 .
 *     change mlx5_0/1 from=active to=down reason=port-error time=1764100000000000 monotonic=7 .
 *     finding mlx5_0/1 check=not-active severity=critical since=1764100000000000 .
 *     cable mlx5_0/1 serial=MT2451 part=MCP1600 since=1764100000000000 .
 *
 * "port" begins the history of a port anew, and has its counts and the times at which its link went
 * down. "change" is a transition. One that is written later than the line "port" also has
 * "link_downs" if it took the link down: the count then. A transition that is there already, of the
 * same port, time and state from which it came, is said again with what was not known before.
 * "finding" is a finding, with "until" if it has ended; it too is said again when it is another
 * one. So is "cable", a module in the cage.
 *
 * What was found of a device without ports has the name of the device alone, "mlx5_0", and of a
 * machine without ports "*", which is written as %2A.
 *
 * Times are in us. A line ends with a point: what is left of a line after a power cut, with
 * anything behind it, is not taken for one. Keys that are not known are passed over. Nothing here
 * reads or writes a file, and nothing of it is trusted.
 */

#include <glib.h>

#include "history.h"

#define HISTORY_TEXT_VERSION 1U
/* No line is longer, in bytes. */
#define HISTORY_LINE_MAX 8192U

/* Writing */

/* The first lines. BOOT: the boot of the machine, 32 hexadecimal digits. */
void history_put_head(GString *to, const char *boot);
/* All of H, in place of what came before of that port. An empty one is forgotten. If there is so
 * much of it that it may have more than BYTES, the oldest times are left out. */
void history_put_port(GString *to, const char *device, uint32_t port, const History *h,
		      size_t bytes);
/* How many BYTES that may be for each of N ports, so that they can be the beginning of a file: as
 * many as there can be for some 4000. */
#define HISTORY_PORT_BYTES(n) ((UINT64_C(60) << 20) / MAX((n), (size_t)1))
/* The transition T of H, which has just been noted, or was noted before and is another one now. */
void history_put_change(GString *to, const char *device, uint32_t port, const History *h,
			const Transition *t);

/* The finding F about the port, which has just begun, or is another one now. */
void history_put_finding(GString *to, const char *device, uint32_t port, const PastFinding *f);

/* The modules in the cage, as H has them. */
void history_put_cables(GString *to, const char *device, uint32_t port, const History *h);

/* Reading */

typedef struct HistoryReader {
	HistoryList *list; /* what the lines say is put there, in the order of the last lines */
	const char *boot;  /* the boot that is running: transitions of others have no monotonic time
			    */
	bool is_this_boot; /* the lines are of BOOT */
} HistoryReader;

/* Whether LINE is the first one of histories: 0, -EPROTONOSUPPORT: in another version, or -EBADMSG.
 */
int history_check_head(const char *line);
/* Reads LINE, any but the first, of SIZE bytes with a 0 behind them; the line is changed. Returns
 * NULL, or what is wrong: then the line says nothing. */
const char *history_read_line(HistoryReader *r, char *line, size_t size);
