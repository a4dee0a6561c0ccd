/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Whose call is handled next, while more calls come than can be answered.
 *
 * Users take turns, and so do the connections of one user. The next turn is that of the user whose
 * calls have cost the least since they began to wait; who begins to wait counts as if he had used
 * as much as the user whose turn was the last. So a user who calls seldom waits for at most one
 * call of each of the others, whatever these want, and a user with many connections gets no more
 * than one with a single one. Users from TURNS_ORDINARY_UID on, and root with rdmad and the system
 * users, are two classes that take turns by the same rule: so many users of one class leave the
 * other its half. To the kernel, and so to this module, each subordinate uid is one more ordinary
 * user.
 *
 * Calls of a connection whose user is not known wait until he is; none is handled. When nothing
 * waits, all costs are forgotten.
 *
 * What waits is bounded by its bytes: TURNS_USER_BYTES of one user, or of one connection until its
 * user is known, and TURNS_BYTES of each class, the unknown being one more. When a class has more
 * than that, who has TURNS_ALWAYS_BYTES gets no more: the others still have these. A connection
 * whose user is not known has TURNS_UNKNOWN_BYTES then, which is one call: everybody can open
 * thousands of connections, and leave before the bus has said whose they are. Refusals wait too and
 * may take a quarter more.
 *
 * The turns know neither a clock nor a bus. A cost is in nanoseconds, or in any other unit.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "util.h"

#define TURNS_USER_BYTES    (UINT64_C(2) << 20)
#define TURNS_BYTES	    (UINT64_C(8) << 20)
#define TURNS_ALWAYS_BYTES  (UINT64_C(16) << 10)
#define TURNS_UNKNOWN_BYTES (UINT64_C(2) << 10)
#define TURNS_ORDINARY_UID  1000U /* UID_MIN of login.defs(5) */

typedef struct Turns Turns;
/* A connection with calls that wait. */
typedef struct TurnsLine TurnsLine;

/* A call that waits. The struct is a part of the user's own struct for the call. */
typedef struct Turn {
	struct Turn *next; /* the call that came after it on the same connection */
	size_t size;	   /* how many bytes it takes, for the limits */
} Turn;

/* OWN is the user that rdmad runs as. -ENOMEM. */
int turns_new(uid_t own, Turns **ret);
/* No line may be open. NULL is allowed. */
void turns_free(Turns *t);
DEFINE_CLEANUP(Turns, turns_free);

/* A line for a connection whose user is not known. USERDATA is the caller's. -ENOMEM. */
int turns_open(Turns *t, void *userdata, TurnsLine **ret);
void *turns_userdata(const TurnsLine *line);
/* The line has no call. NULL is allowed. */
void turns_close(TurnsLine *line);
/* The connection is one of USER, which was not known. -ENOMEM. */
int turns_identify(TurnsLine *line, uid_t user);

/* Whether a call, or the refusal of one, that takes SIZE bytes may wait in LINE. */
bool turns_has_room(const TurnsLine *line, size_t size, bool refusal);
/* TURN is the last in LINE. TURN->size is set. */
void turns_add(TurnsLine *line, Turn *turn);

bool turns_line_is_empty(const TurnsLine *line);
/* A line, NULL: none is open. */
TurnsLine *turns_any(const Turns *t);
/* No call waits. */
bool turns_is_empty(const Turns *t);
/* A call could be handled: it waits, and its user is known. */
bool turns_is_ready(const Turns *t);

/* Takes out the call that is handled now: *RET_USER is its user, and *RET_LINE, which may be empty
 * then, where it has waited. NULL: none is ready. */
Turn *turns_next(Turns *t, TurnsLine **ret_line, uid_t *ret_user);
/* Takes out the first call of LINE, whoever's turn it is. NULL: it is empty. */
Turn *turns_take(TurnsLine *line);
/* The calls of USER have cost so much. Nothing is counted if nothing waits. */
void turns_charge(Turns *t, uid_t user, uint64_t cost);
