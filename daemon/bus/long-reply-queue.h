/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Which long reply is sent next, and when.
 *
 * While the bus passes on a reply of megabytes, everything else waits behind it, for tens of
 * milliseconds: also the signals for everybody. So long replies have a rate in bytes a second: one
 * for each user, and one for all users together. A user who has asked for little lately has saved
 * up some bytes and is answered at once. A user who asks in a loop is answered at the rate. A call
 * is refused only if too many calls wait.
 *
 * Users take turns, and so do the connections of one user. So a user with many connections gets no
 * more than a user with one, and a user who asks seldom waits for at most one reply to each of the
 * others. The calls of one connection are answered in their order.
 *
 * The queue knows neither a clock nor a bus. Times are arguments: microseconds of any clock that
 * never goes back.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "long-reply.h"

/* So many calls may wait. If there is one more, the user with the most calls loses the last one. */
#define LONG_REPLY_QUEUE_MAX 512U
/* At most what the rate gives in this time can be saved up: by a user, and by all together. */
#define LONG_REPLY_QUEUE_SAVED_USEC (8 * USEC_PER_SEC)
/* The rate for all users together is this many times the rate for one. */
#define LONG_REPLY_QUEUE_USERS 4U

typedef struct LongReplyQueue LongReplyQueue;

/* A call that waits. */
typedef struct QueuedCall {
	struct QueuedCall *next;     /* the call that came in after it */
	struct QueuedSender *sender; /* the connection that it came from */
	void *call;		     /* the caller's; the queue does not look at it */
	LongReplyKind kind;	     /* the same */
} QueuedCall;

/* RATE is how many bytes one user gets in a second. -ENOMEM. */
int long_reply_queue_new(uint64_t rate, LongReplyQueue **ret);
/* The queue must be empty. */
void long_reply_queue_free(LongReplyQueue *q);
DEFINE_CLEANUP(LongReplyQueue, long_reply_queue_free);

/* No call waits. */
bool long_reply_queue_is_empty(const LongReplyQueue *q);

/*
 * Puts CALL behind the other calls of the connection SENDER. *RET_NEW says that no call of SENDER
 * has been waiting; then none is answered before long_reply_queue_identify() has been told which
 * user SENDER is. -ENOMEM.
 */
int long_reply_queue_add(LongReplyQueue *q, const char *sender, void *call, LongReplyKind kind,
			 bool *ret_new);
/* SENDER is a connection of USER. Nothing happens if none of its calls waits any more. -ENOMEM. */
int long_reply_queue_identify(LongReplyQueue *q, const char *sender, uid_t user);

/* The next three take one call out of the queue and return it; the caller frees it. They return
 * NULL if there is none. */

/* The call that is to be refused because too many calls wait. */
QueuedCall *long_reply_queue_excess(LongReplyQueue *q);
/* A call of SENDER, or of anybody if SENDER is NULL: it is not to be answered. */
QueuedCall *long_reply_queue_forget(LongReplyQueue *q, const char *sender);
/* The call that is to be answered at NOW. *RET_USER must then be charged by
 * long_reply_queue_charge(). If there is no such call, *RET_WHEN is when there will be one:
 * UINT64_MAX if that depends on long_reply_queue_identify() or on a new call. */
QueuedCall *long_reply_queue_next(LongReplyQueue *q, uint64_t now, uid_t *ret_user,
				  uint64_t *ret_when);

/* A reply of SIZE bytes was sent to USER at NOW. */
void long_reply_queue_charge(LongReplyQueue *q, uid_t user, size_t size, uint64_t now);
