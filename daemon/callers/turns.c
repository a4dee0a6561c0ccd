/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "turns.h"

#include <assert.h>

/*
 * This is start-time fair queueing: COST is a user's virtual time, and REACHED that of the last
 * turn. A user without a call and with no more cost than REACHED is as if he had never called, and
 * is forgotten.
 */

/* Calls of the last one wait until their user is known. */
typedef enum Class { ORDINARY, SYSTEM, UNKNOWN, _CLASS_MAX } Class;

typedef struct User {
	struct User *next;
	uid_t uid;
	Class class;
	uint64_t cost;
	size_t size;		  /* bytes that wait */
	size_t n_lines;		  /* that are open */
	TurnsLine *first, **last; /* lines with calls: the first is that of the next turn */
} User;

struct TurnsLine {
	Turns *turns;
	void *userdata;
	User *user;	 /* NULL: not known */
	TurnsLine *next; /* of the user's lines with calls */
	TurnsLine *previous_of_all, *next_of_all;
	Turn *first, **last;
	size_t size; /* bytes that wait */
};

struct Turns {
	uid_t own;
	size_t n_calls; /* that wait */
	User *users;
	TurnsLine *lines; /* that are open */
	struct {
		size_t n, size; /* calls that wait, and their bytes */
		uint64_t cost, reached;
	} classes[_CLASS_MAX];
	uint64_t reached; /* by the classes */
};

static Class class_of(const Turns *t, uid_t uid)
{
	return uid < TURNS_ORDINARY_UID || uid == t->own ? SYSTEM : ORDINARY;
}

static User *find_user(const Turns *t, uid_t uid)
{
	User *u = t->users;

	while (u && u->uid != uid)
		u = u->next;
	return u;
}

/* Drops the users who are as if they had never called; all, if nothing waits. */
static void forget_users(Turns *t)
{
	for (User **at = &t->users, *u; (u = *at);) {
		if (u->n_lines > 0 || (t->n_calls > 0 && u->cost > t->classes[u->class].reached)) {
			u->cost = t->n_calls > 0 ? u->cost : 0;
			at = &u->next;
			continue;
		}
		*at = u->next;
		free(u);
	}
	if (t->n_calls == 0)
		memset(t->classes, 0, sizeof(t->classes));
}

int turns_new(uid_t own, Turns **ret)
{
	Turns *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->own = own;
	*ret = t;
	return 0;
}

void turns_free(Turns *t)
{
	if (!t)
		return;
	assert(!t->lines);
	forget_users(t);
	free(t);
}

int turns_open(Turns *t, void *userdata, TurnsLine **ret)
{
	TurnsLine *line = calloc(1, sizeof(*line));

	if (!line)
		return -ENOMEM;
	line->turns = t;
	line->userdata = userdata;
	line->last = &line->first;
	line->next_of_all = t->lines;
	if (t->lines)
		t->lines->previous_of_all = line;
	t->lines = line;
	*ret = line;
	return 0;
}

void turns_close(TurnsLine *line)
{
	if (!line)
		return;
	assert(!line->first);
	if (line->user)
		line->user->n_lines--;
	*(line->previous_of_all ? &line->previous_of_all->next_of_all : &line->turns->lines) =
		line->next_of_all;
	if (line->next_of_all)
		line->next_of_all->previous_of_all = line->previous_of_all;
	free(line);
}

/* LINE has its first call, or the first one whose user is known. */
static void join(TurnsLine *line)
{
	User *u = line->user;
	Turns *t = line->turns;

	if (!u->first)
		u->cost = MAX(u->cost, t->classes[u->class].reached);
	if (t->classes[u->class].n == 0)
		t->classes[u->class].cost = MAX(t->classes[u->class].cost, t->reached);
	line->next = NULL;
	*u->last = line;
	u->last = &line->next;
}

static void leave(TurnsLine *line)
{
	User *u = line->user;
	TurnsLine **at = &u->first;

	while (*at != line)
		at = &(*at)->next;
	*at = line->next;
	if (!line->next)
		u->last = at;
}

static Class line_class(const TurnsLine *line)
{
	return line->user ? line->user->class : UNKNOWN;
}

/* N calls of LINE with SIZE bytes wait from now on. */
static void count(TurnsLine *line, size_t n, size_t size)
{
	Turns *t = line->turns;
	Class c = line_class(line);

	t->n_calls += n;
	t->classes[c].n += n;
	t->classes[c].size += size;
	line->size += size;
	if (line->user)
		line->user->size += size;
}

/* They do not any more. */
static void uncount(TurnsLine *line, size_t n, size_t size)
{
	Turns *t = line->turns;
	Class c = line_class(line);

	t->n_calls -= n;
	t->classes[c].n -= n;
	t->classes[c].size -= size;
	line->size -= size;
	if (line->user)
		line->user->size -= size;
}

static size_t count_calls(const TurnsLine *line)
{
	size_t n = 0;

	for (const Turn *turn = line->first; turn; turn = turn->next)
		n++;
	return n;
}

int turns_identify(TurnsLine *line, uid_t uid)
{
	Turns *t = line->turns;
	User *u = find_user(t, uid);
	size_t n = count_calls(line), size = line->size;

	assert(!line->user);
	if (!u) {
		u = calloc(1, sizeof(*u));
		if (!u)
			return -ENOMEM;
		*u = (User){
			.next = t->users, .uid = uid, .class = class_of(t, uid), .last = &u->first};
		t->users = u;
	}
	uncount(line, n, size);
	line->user = u;
	u->n_lines++;
	if (n > 0)
		join(line);
	count(line, n, size);
	return 0;
}

void *turns_userdata(const TurnsLine *line)
{
	return line->userdata;
}

bool turns_has_room(const TurnsLine *line, size_t size, bool refusal)
{
	size_t has = line->user ? line->user->size : line->size;
	uint64_t all = line->turns->classes[line_class(line)].size;
	uint64_t least = line->user ? TURNS_ALWAYS_BYTES : TURNS_UNKNOWN_BYTES;
	uint64_t most = all < TURNS_BYTES ? TURNS_USER_BYTES : least;

	return has + size <= (refusal ? most + most / 4 : most);
}

void turns_add(TurnsLine *line, Turn *turn)
{
	if (line->user && !line->first)
		join(line);
	turn->next = NULL;
	*line->last = turn;
	line->last = &turn->next;
	count(line, 1, turn->size);
}

bool turns_line_is_empty(const TurnsLine *line)
{
	return !line->first;
}

TurnsLine *turns_any(const Turns *t)
{
	return t->lines;
}

bool turns_is_empty(const Turns *t)
{
	return t->n_calls == 0;
}

bool turns_is_ready(const Turns *t)
{
	return t->n_calls > t->classes[UNKNOWN].n;
}

Turn *turns_take(TurnsLine *line)
{
	Turn *turn = line->first;

	if (!turn)
		return NULL;
	line->first = turn->next;
	if (!line->first)
		line->last = &line->first;
	uncount(line, 1, turn->size);
	if (line->user && !line->first)
		leave(line);
	return turn;
}

static Class next_class(const Turns *t)
{
	Class c = ORDINARY;

	if (t->classes[c].n == 0 ||
	    (t->classes[SYSTEM].n > 0 && t->classes[SYSTEM].cost < t->classes[c].cost))
		c = SYSTEM;
	return c;
}

Turn *turns_next(Turns *t, TurnsLine **ret_line, uid_t *ret_user)
{
	Class c = next_class(t);
	User *next = NULL;
	TurnsLine *line;
	Turn *turn;

	for (User *u = t->users; u; u = u->next)
		if (u->class == c && u->first && (!next || u->cost < next->cost))
			next = u;
	if (!next)
		return NULL;
	t->reached = MAX(t->reached, t->classes[c].cost);
	t->classes[c].reached = MAX(t->classes[c].reached, next->cost);
	line = next->first;
	turn = turns_take(line);
	if (line->first) {
		leave(line);
		line->next = NULL;
		*next->last = line;
		next->last = &line->next;
	}
	*ret_line = line;
	*ret_user = next->uid;
	return turn;
}

void turns_charge(Turns *t, uid_t user, uint64_t cost)
{
	User *u = find_user(t, user);

	if (u) {
		u->cost += cost;
		t->classes[u->class].cost += cost;
	}
	forget_users(t);
}
