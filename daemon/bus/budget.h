/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the calls of each user may cost while others wait, as time of the processor.
 *
 * As long as rdmad keeps up with its calls nobody waits, and nothing is limited: the caller
 * says so by budget_idle(), and everybody begins anew. From then on each user may use BUSY
 * nanoseconds, and all users of a class together BUDGET_CLASS_USERS times as much. Those users of
 * the class who have used anything have equal shares of that, and each at least a
 * BUDGET_SMALLEST-th of BUSY. So one who uses little is served however much the others want. What
 * was used is forgotten with time, at the rate of BUDGET_RATE_PERCENT of a processor for a class. A
 * user who has used more than his share is refused. Whoever goes on nevertheless, and makes rdmad
 * refuse calls for half of BUSY, gets no answer: a bus counts calls without an answer against their
 * caller, so that a flood ends by itself.
 *
 * There are three classes, so that a flood of one leaves the others their time: users from
 * BUDGET_ORDINARY_UID on; root, the user of rdmad and the system users below that; and connections
 * whose user is not known yet, which are one user, BUDGET_UNKNOWN. To the kernel and so to this
 * module each subordinate uid is one more ordinary user: somebody with many has as many shares.
 *
 * Users over their shares do not take turns, as they do for long replies (long-reply-queue.h):
 * sd-bus has no way to keep a call and dispatch it later. Such a call is refused, which costs rdmad
 * about what an answered Ping costs (7 us where that is 6), and the caller has to call again.
 *
 * The budget knows neither a clock nor a bus. Times are arguments: microseconds of any clock that
 * never goes back.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "util.h"

#define BUDGET_USERS_MAX    1024U /* users that are counted; all others are one more together */
#define BUDGET_CLASS_USERS  2U
#define BUDGET_SMALLEST	    32U
#define BUDGET_RATE_PERCENT 25U
#define BUDGET_ORDINARY_UID 1000U /* UID_MIN of login.defs(5) */
#define BUDGET_UNKNOWN	    ((uid_t)-1)

typedef struct Budget Budget;

typedef enum BudgetVerdict {
	BUDGET_SERVE,
	BUDGET_REFUSE, /* with an error */
	BUDGET_DROP,   /* without an answer */
} BudgetVerdict;

/* BUSY is how many nanoseconds one user gets, 0: no limit. OWN is the user that rdmad runs as.
 * -ENOMEM. */
int budget_new(uint64_t busy, uid_t own, Budget **ret);
Budget *budget_free(Budget *b);
DEFINE_CLEANUP(Budget, budget_free);

/* What is to be done with a call of USER at NOW. */
BudgetVerdict budget_judge(Budget *b, uid_t user, uint64_t now);
/* USER has used NSEC nanoseconds. */
void budget_charge(Budget *b, uid_t user, uint64_t nsec);
/* The same, for refusing a call of USER: after half of BUSY he is not answered. */
void budget_charge_refusal(Budget *b, uid_t user, uint64_t nsec);
/* No call waits: nobody has used anything. */
void budget_idle(Budget *b);
/* What was used since budget_idle(), in nanoseconds. */
uint64_t budget_used(const Budget *b);
