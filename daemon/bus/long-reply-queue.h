/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Whose long reply is next, and when. While the bus passes a reply of megabytes on, everything else
 * waits behind it: signals for all, for tens of milliseconds. So long replies have a rate, for each
 * user and for all together. Who has not used it lately has saved some of it up and is answered at
 * once; who calls in a loop is answered at the rate. Nobody is refused for being quick.
 *
 * Users are served in turn, and so are the connections of one user: many connections of one get no
 * more than one would, and who calls seldom waits for one reply of each of the others at most. The
 * calls of one connection keep their order.
 *
 * Neither a clock nor a bus: times are arguments, in us of any clock that never goes back.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "long-reply.h"

/* Calls that may wait. Beyond it the user with the most loses his last one. */
#define LONG_REPLY_QUEUE_MAX 512U
/* What a user may have saved up, and what all may have: this long at the rate. */
#define LONG_REPLY_QUEUE_SAVED_USEC (8 * USEC_PER_SEC)
/* The rate for all is this many times that of one user. */
#define LONG_REPLY_QUEUE_USERS 4U

typedef struct LongReplyQueue LongReplyQueue;

/* A call that waits. */
typedef struct QueuedCall {
	struct QueuedCall *next;
	struct QueuedSender *sender;
	void *call; /* the caller's: not looked at */
	LongReplyKind kind;
} QueuedCall;

/* RATE is bytes a second for one user. */
int long_reply_queue_new(uint64_t rate, LongReplyQueue **ret);
/* No call may be waiting. */
LongReplyQueue *long_reply_queue_free(LongReplyQueue *a);
DEFINE_CLEANUP(LongReplyQueue, long_reply_queue_free);

bool long_reply_queue_is_empty(const LongReplyQueue *a);

/*
 * Puts CALL of the connection SENDER behind its others. *RET_NEW: it had none waiting, and nothing
 * of it is answered before long_reply_queue_identify() says whose it is. -ENOMEM.
 */
int long_reply_queue_add(LongReplyQueue *a, const char *sender, void *call, LongReplyKind kind,
			 bool *ret_new);
int long_reply_queue_identify(LongReplyQueue *a, const char *sender, uid_t user);

/* These take a call out, to be freed after use; NULL if there is none. */

/* The one that is too many, to be refused. */
QueuedCall *long_reply_queue_excess(LongReplyQueue *a);
/* One of SENDER's (NULL: anybody's), which has left. */
QueuedCall *long_reply_queue_forget(LongReplyQueue *a, const char *sender);
/* The one to be answered at NOW. If there is none, *RET_WHEN is when there will be, UINT64_MAX if
 * that is not known. It is charged for SIZE bytes by long_reply_queue_charge(), after the answer.
 */
QueuedCall *long_reply_queue_next(LongReplyQueue *a, uint64_t now, uid_t *ret_user,
				  uint64_t *ret_when);
void long_reply_queue_charge(LongReplyQueue *a, uid_t user, size_t size, uint64_t now);
