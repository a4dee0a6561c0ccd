/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-callers.h"

#include <assert.h>

#define N_BUCKETS 128U

struct BusCaller {
	BusCallers *callers;
	BusCaller *next; /* in its bucket */
	/* Callers without a reference: the one used after this one, and the one used before. */
	BusCaller *later, *earlier;
	unsigned int n_references; /* an open question is one */
	sd_bus_slot *question;	   /* to the bus; NULL: it has answered, or was not asked */
	bool known;
	uid_t user;
	bool seen;	   /* bus_caller_is_new() */
	void *kept;	   /* bus_caller_kept() */
	CallerWait *waits; /* for the answer, the latest first */
	CallerWait *told;  /* those that have it, but were not told yet */
	char name[];
};

struct BusCallers {
	sd_bus *bus;
	BusCaller *latest, *earliest; /* of those without a reference */
	unsigned int n_unused;	      /* how many these are */
	BusCaller *buckets[N_BUCKETS];
};

/* FNV-1a. Names are made by the bus, so that nobody can choose many with the same hash. */
static BusCaller **bucket(BusCallers *c, const char *name)
{
	uint32_t hash = 2166136261U;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619U;
	return &c->buckets[hash % N_BUCKETS];
}

static void remove_caller(BusCaller *caller)
{
	BusCaller **at = bucket(caller->callers, caller->name);

	while (*at != caller)
		at = &(*at)->next;
	*at = caller->next;
	free(caller);
}

static void leave_unused(BusCaller *caller)
{
	BusCallers *c = caller->callers;

	*(caller->later ? &caller->later->earlier : &c->latest) = caller->earlier;
	*(caller->earlier ? &caller->earlier->later : &c->earliest) = caller->later;
	caller->later = caller->earlier = NULL;
	c->n_unused--;
}

static void join_unused(BusCaller *caller)
{
	BusCallers *c = caller->callers;

	caller->earlier = c->latest;
	*(c->latest ? &c->latest->later : &c->earliest) = caller;
	c->latest = caller;
	c->n_unused++;
}

BusCaller *bus_caller_ref(BusCaller *caller)
{
	if (caller->n_references++ == 0)
		leave_unused(caller);
	return caller;
}

BusCaller *bus_caller_unref(BusCaller *caller)
{
	BusCallers *c;

	if (!caller || --caller->n_references > 0)
		return NULL;
	c = caller->callers;
	join_unused(caller);
	if (c->n_unused > BUS_CALLERS_MAX) {
		caller = c->earliest;
		leave_unused(caller);
		remove_caller(caller);
	}
	return NULL;
}

void caller_wait_cancel(CallerWait *wait)
{
	if (!wait->at)
		return;
	*wait->at = wait->next;
	if (wait->next)
		wait->next->at = wait->at;
	wait->next = NULL;
	wait->at = NULL;
}

void bus_caller_await(BusCaller *caller, CallerWait *wait)
{
	assert(!caller->known && !wait->at);
	wait->next = caller->waits;
	if (wait->next)
		wait->next->at = &wait->next;
	wait->at = &caller->waits;
	caller->waits = wait;
}

static int read_user(sd_bus_message *answer, uid_t *ret)
{
	uint32_t user;
	int r;

	if (sd_bus_message_is_method_error(answer, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
		return -ENXIO;
	if (sd_bus_message_is_method_error(answer, NULL))
		return -EREMOTEIO;
	r = sd_bus_message_read_basic(answer, 'u', &user);
	if (r <= 0)
		return r < 0 ? r : -EBADMSG;
	*ret = user;
	return 0;
}

static int on_answer(sd_bus_message *answer, void *userdata, _unused_ sd_bus_error *error)
{
	BusCaller *caller = userdata;
	CallerWait *wait;
	int r = read_user(answer, &caller->user);

	caller->known = r >= 0;
	caller->question = sd_bus_slot_unref(caller->question);
	/* A waiter that is told may ask again, and then waits for the next answer. */
	caller->told = steal_pointer(&caller->waits);
	if (caller->told)
		caller->told->at = &caller->told;
	while ((wait = caller->told)) {
		caller_wait_cancel(wait);
		wait->told(wait->userdata, r, caller->user);
	}
	bus_caller_unref(caller);
	return 0;
}

static int ask(BusCaller *caller)
{
	int r = sd_bus_call_method_async(caller->callers->bus, &caller->question,
					 "org.freedesktop.DBus", "/org/freedesktop/DBus",
					 "org.freedesktop.DBus", "GetConnectionUnixUser", on_answer,
					 caller, "s", caller->name);

	if (r >= 0)
		bus_caller_ref(caller);
	return r;
}

static BusCaller *add_caller(BusCallers *c, const char *name)
{
	size_t n = strlen(name) + 1;
	BusCaller *caller = calloc(1, sizeof(*caller) + n), **at = bucket(c, name);

	if (!caller)
		return NULL;
	caller->callers = c;
	memcpy(caller->name, name, n);
	caller->n_references = 1;
	caller->next = *at;
	*at = caller;
	return caller;
}

int bus_callers_find(BusCallers *c, const char *name, BusCaller **ret)
{
	BusCaller *caller = *bucket(c, name);
	int r = 0;

	while (caller && !streq(caller->name, name))
		caller = caller->next;
	caller = caller ? bus_caller_ref(caller) : add_caller(c, name);
	if (!caller)
		return -ENOMEM;
	if (!caller->known && !caller->question)
		r = ask(caller);
	if (r < 0) {
		bus_caller_unref(caller);
		return r;
	}
	*ret = caller;
	return 0;
}

const char *bus_caller_name(const BusCaller *caller)
{
	return caller->name;
}

bool bus_caller_knows_user(const BusCaller *caller, uid_t *ret)
{
	if (caller->known)
		*ret = caller->user;
	return caller->known;
}

bool bus_caller_is_new(BusCaller *caller)
{
	bool is_new = !caller->seen;

	caller->seen = true;
	return is_new;
}

void **bus_caller_kept(BusCaller *caller)
{
	return &caller->kept;
}

int bus_callers_new(sd_bus *bus, BusCallers **ret)
{
	BusCallers *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->bus = bus;
	*ret = c;
	return 0;
}

BusCallers *bus_callers_free(BusCallers *c)
{
	if (!c)
		return NULL;
	for (size_t i = 0; i < N_BUCKETS; i++)
		while (c->buckets[i]) {
			BusCaller *caller = c->buckets[i];

			assert(!caller->waits && caller->n_references == !!caller->question);
			c->buckets[i] = caller->next;
			sd_bus_slot_unref(caller->question);
			free(caller);
		}
	free(c);
	return NULL;
}
