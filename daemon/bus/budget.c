/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "budget.h"

/* What was used is forgotten in steps of this. */
#define STEP_USEC (10 * USEC_PER_MSEC)
/* More than so many times BUSY is not counted: so much later at most is a user served again. */
#define USED_MAX 4U

#define N_BUCKETS 512U

typedef enum Class { ORDINARY, SYSTEM, UNKNOWN, _CLASS_MAX } Class;

typedef struct User {
	uid_t uid;
	Class class;
	uint16_t next;	  /* in its bucket: an index, NONE: the last */
	uint64_t used;	  /* nanoseconds */
	uint64_t refused; /* of these, for refusals */
} User;

#define NONE UINT16_MAX

struct Budget {
	uint64_t busy;
	uid_t own;
	uint64_t stepped; /* when something was forgotten last */
	uint64_t used;	  /* since budget_idle() */
	size_t n_users;	  /* those who have used anything */
	struct {
		size_t n;	 /* users who have used anything */
		uint64_t served; /* what they have used, but for what comes after their shares */
	} classes[_CLASS_MAX];
	User others[_CLASS_MAX]; /* all for whom there was no room, of each class */
	uint16_t buckets[N_BUCKETS];
	User users[BUDGET_USERS_MAX];
};

static Class class_of(const Budget *b, uid_t uid)
{
	if (uid == BUDGET_UNKNOWN)
		return UNKNOWN;
	return uid < BUDGET_ORDINARY_UID || uid == b->own ? SYSTEM : ORDINARY;
}

static uint16_t *bucket(Budget *b, uid_t uid)
{
	return &b->buckets[(uid ^ uid >> 16) % N_BUCKETS];
}

static User *find_user(const Budget *b, uid_t uid)
{
	uint16_t i = *bucket(CONST_CAST(Budget *, b), uid);

	while (i != NONE && b->users[i].uid != uid)
		i = b->users[i].next;
	return i == NONE ? NULL : CONST_CAST(User *, &b->users[i]);
}

/* Forgets everybody but the others. */
static void clear(Budget *b)
{
	memset(b->buckets, 0xff, sizeof(b->buckets));
	for (Class c = 0; c < _CLASS_MAX; c++) {
		b->classes[c].n = b->others[c].used > 0;
		b->others[c].class = c;
	}
	b->n_users = 0;
}

/* Puts U, an element of USERS, into its bucket. */
static void link_user(Budget *b, User *u)
{
	uint16_t *at = bucket(b, u->uid);

	u->next = *at;
	*at = (uint16_t)(u - b->users);
	b->classes[u->class].n += u->used > 0;
}

static User *get_user(Budget *b, uid_t uid)
{
	User *u = find_user(b, uid);

	if (u)
		return u;
	if (b->n_users == BUDGET_USERS_MAX)
		return &b->others[class_of(b, uid)];
	u = &b->users[b->n_users++];
	*u = (User){.uid = uid, .class = class_of(b, uid)};
	link_user(b, u);
	return u;
}

/* Drops the users for whom nothing is counted any more. */
static void forget_users(Budget *b)
{
	size_t n = b->n_users;

	clear(b);
	for (size_t i = 0; i < n; i++) {
		User u = b->users[i];

		if (u.used == 0)
			continue;
		b->users[b->n_users] = u;
		link_user(b, &b->users[b->n_users++]);
	}
}

static void forget_some(User *u, const uint64_t part[_CLASS_MAX])
{
	u->used -= MIN(u->used, part[u->class]);
	u->refused = MIN(u->refused, u->used);
}

static void step(Budget *b, uint64_t now)
{
	uint64_t passed = now - b->stepped, part[_CLASS_MAX];

	if (passed < STEP_USEC)
		return;
	b->stepped = now;
	if (b->n_users == 0)
		return;
	passed = MIN(passed, USEC_PER_SEC * 3600) * 1000 * BUDGET_RATE_PERCENT / 100;
	for (Class c = 0; c < _CLASS_MAX; c++) {
		part[c] = passed / MAX(b->classes[c].n, 1U);
		b->classes[c].served -= MIN(b->classes[c].served, passed);
	}
	for (size_t i = 0; i < b->n_users; i++)
		forget_some(&b->users[i], part);
	for (Class c = 0; c < _CLASS_MAX; c++)
		forget_some(&b->others[c], part);
	forget_users(b);
}

/* What U may use. When its class has used everything, that is the smallest share. */
static uint64_t share(const Budget *b, const User *u)
{
	uint64_t all = b->busy * BUDGET_CLASS_USERS, smallest = b->busy / BUDGET_SMALLEST;
	size_t n = MAX(b->classes[u->class].n, BUDGET_CLASS_USERS);

	return b->classes[u->class].served < all ? MAX(all / n, smallest) : smallest;
}

/* USER as far as something is counted of him; else NULL. */
static const User *counted_user(const Budget *b, uid_t user)
{
	const User *u = find_user(b, user);

	return !u && b->n_users == BUDGET_USERS_MAX ? &b->others[class_of(b, user)] : u;
}

BudgetVerdict budget_judge(Budget *b, uid_t user, uint64_t now)
{
	const User *u;

	step(b, now);
	u = counted_user(b, user);
	if (!u)
		return BUDGET_SERVE;
	if (b->busy == 0 || u->used < share(b, u))
		return BUDGET_SERVE;
	return u->refused < b->busy / 2 ? BUDGET_REFUSE : BUDGET_DROP;
}

void budget_charge(Budget *b, uid_t user, uint64_t nsec)
{
	User *u = get_user(b, user);

	if (nsec == 0 || b->busy == 0)
		return;
	b->classes[u->class].n += u->used == 0;
	if (u->used < share(b, u))
		b->classes[u->class].served += nsec;
	u->used = MIN(u->used + nsec, USED_MAX * b->busy);
	b->used += nsec;
}

void budget_charge_refusal(Budget *b, uid_t user, uint64_t nsec)
{
	User *u;

	if (b->busy == 0)
		return;
	budget_charge(b, user, nsec);
	u = get_user(b, user);
	u->refused = MIN(u->refused + nsec, u->used);
}

void budget_idle(Budget *b)
{
	b->used = 0;
	for (Class c = 0; c < _CLASS_MAX; c++)
		b->classes[c].served = b->others[c].used = b->others[c].refused = 0;
	for (size_t i = 0; i < b->n_users; i++)
		b->users[i].used = b->users[i].refused = 0;
	forget_users(b);
}

uint64_t budget_used(const Budget *b)
{
	return b->used;
}

int budget_new(uint64_t busy, uid_t own, Budget **ret)
{
	Budget *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->busy = busy;
	b->own = own;
	clear(b);
	*ret = b;
	return 0;
}

Budget *budget_free(Budget *b)
{
	free(b);
	return NULL;
}
