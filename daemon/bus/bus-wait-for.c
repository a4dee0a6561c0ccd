/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-wait-for.h"

#include "bus-options.h"
#include "bus-peer.h"
#include "log.h"
#include "manager.h"
#include "names.h"
#include "wait.h"

/* How many may wait: over all callers, and of one user, who could not take the places of the
 * others by opening more connections. */
#define WAITERS_MAX	 1024U
#define WAITERS_USER_MAX 64U

typedef struct Waiter {
	struct Waiter *next;
	BusWait *waits;
	Wait wait;
	sd_bus_message *call;
	sd_bus_slot *asking; /* whose the call is; NULL: that is known */
	uid_t user;
	sd_event_source *timer; /* NULL: waits for ever */
} Waiter;

struct BusWait {
	struct Manager *manager;
	sd_bus *bus;
	Waiter *first;
	size_t n;
	sd_event_source *look;	 /* armed when the cache has changed */
	sd_bus_slot *departures; /* callers that leave; NULL while nobody waits */
};

static uint64_t now_usec(const BusWait *w)
{
	uint64_t now = 0;

	sd_event_now(manager_event_loop(w->manager), CLOCK_MONOTONIC, &now);
	return now;
}

static Waiter *waiter_free(Waiter *waiter)
{
	sd_event_source_disable_unref(waiter->timer);
	sd_bus_slot_unref(waiter->asking);
	sd_bus_message_unref(waiter->call);
	free(waiter);
	return NULL;
}
DEFINE_CLEANUP(Waiter, waiter_free);

/* Where WAITER is in the list. */
static Waiter **find(BusWait *w, const Waiter *waiter)
{
	Waiter **at = &w->first;

	while (*at != waiter)
		at = &(*at)->next;
	return at;
}

/* Takes the waiter at *AT out of the list. */
static Waiter *take_out(BusWait *w, Waiter **at)
{
	Waiter *waiter = *at;

	*at = waiter->next;
	if (--w->n == 0)
		w->departures = sd_bus_slot_unref(w->departures);
	return waiter;
}

/* The ports that have all that is wanted, by the names they were asked for. */
static int reply_held(sd_bus_message *call, const Wait *wait)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	char path[RDMAD_PATH_MAX];
	int r = sd_bus_message_new_method_return(call, &reply);

	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "{so}");
	for (size_t i = 0; r >= 0 && i < wait->n_ports; i++)
		if (wait->ports[i].lack == LACK_NOTHING)
			r = sd_bus_message_append(reply, "{so}", wait->ports[i].name,
						  port_path(wait->ports[i].port, path));
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

static int reply_missing(sd_bus_message *call, const Wait *wait, uint64_t now)
{
	_cleanup_free_ char *missing = wait_describe(wait, now);

	if (!missing)
		return -ENOMEM;
	return sd_bus_reply_method_errorf(call, RDMAD_ERROR_TIMED_OUT, "%s", missing);
}

static void check_reply(int r)
{
	if (r < 0)
		log_debug_errno(r, "Cannot answer a wait, ignoring: %m");
}

static int on_look(_unused_ sd_event_source *s, void *userdata)
{
	BusWait *w = userdata;
	const Cache *c = manager_cache(w->manager);
	uint64_t now = now_usec(w);

	for (Waiter **at = &w->first; *at;) {
		_cleanup_(waiter_free_pointer) Waiter *held = NULL;

		if (!wait_look(&(*at)->wait, c, now)) {
			at = &(*at)->next;
			continue;
		}
		held = take_out(w, at);
		check_reply(reply_held(held->call, &held->wait));
	}
	return 0;
}

static int on_timer(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	_cleanup_(waiter_free_pointer) Waiter *waiter = userdata;
	BusWait *w = waiter->waits;
	uint64_t now = now_usec(w);

	take_out(w, find(w, waiter));
	/* what has changed at this very moment still counts */
	if (wait_look(&waiter->wait, manager_cache(w->manager), now))
		check_reply(reply_held(waiter->call, &waiter->wait));
	else
		check_reply(reply_missing(waiter->call, &waiter->wait, now));
	return 0;
}

static int on_departure(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	BusWait *w = userdata;
	const char *name;

	if (sd_bus_message_read_basic(m, 's', &name) < 0)
		return 0;
	for (Waiter **at = &w->first; *at;)
		if (streq(sd_bus_message_get_sender((*at)->call), name))
			waiter_free(take_out(w, at));
		else
			at = &(*at)->next;
	return 0;
}

/* The state called TEXT. */
static int read_state(const char *text, uint32_t *ret, sd_bus_error *error)
{
	PortValues values;

	if (attr_parse(&port_attributes[PORT_ATTR_state], &values, text) < 0)
		return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT,
					 "\"state\": \"%s\" is no state of a port, such as active",
					 text);
	*ret = values.state;
	return 0;
}

static int add_ports(Wait *wait, char *const *names, sd_bus_error *error)
{
	for (; names && *names; names++)
		switch (wait_add(wait, *names)) {
		case 0:
			break;
		case -E2BIG:
			return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT,
						 "\"ports\": more than %u ports", WAIT_PORTS_MAX);
		default:
			return sd_bus_error_setf(
				error, RDMAD_ERROR_INVALID_ARGUMENT,
				"\"ports\": \"%s\" is no name of a port, such as mlx5_0/1", *names);
		}
	return 0;
}

static int read_condition(BusWait *w, sd_bus_message *m, Wait *wait, sd_bus_error *error)
{
	_cleanup_(text_array_free_pointer) char **ports = NULL;
	const char *state = "active", *gid = NULL;
	int any = 0, lid = 0, configured = 0, r;
	const BusOption options[] = {
		{"ports", 'a', &ports},
		{"configured", 'b', &configured},
		{"any", 'b', &any},
		{"state", 's', &state},
		{"lid", 'b', &lid},
		{"gid", 's', &gid},
		{"mtu", 'u', &wait->condition.mtu},
		{"rate", 't', &wait->condition.rate},
	};

	r = bus_read_options(m, "WaitFor", options, ARRAY_SIZE(options), error);
	if (r < 0)
		return r;
	r = add_ports(wait, ports, error);
	if (r >= 0 && configured)
		r = add_ports(wait, manager_config(w->manager)->wait_ports, error);
	if (r < 0)
		return r;
	if (wait->n_ports == 0 && !configured)
		return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT,
					 "\"ports\": expected the names of the ports to wait for");
	if (gid && gid_parse(gid, wait->condition.gid) < 0)
		return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT,
					 "\"gid\": \"%s\" is no IP address and no GID", gid);
	wait->condition.has_gid = gid != NULL;
	wait->condition.lid = lid;
	wait->any = any;
	return read_state(state, &wait->condition.state, error);
}

/* A name for several ports now will not do: the caller wants to know at once. */
static int check_unique(const Wait *wait, sd_bus_error *error)
{
	for (size_t i = 0; i < wait->n_ports; i++)
		if (wait->ports[i].lack == LACK_UNIQUE)
			return sd_bus_error_setf(error, RDMAD_ERROR_AMBIGUOUS,
						 "More than one port is meant by port \"%s\"",
						 wait->ports[i].name);
	return 0;
}

static int too_many(sd_bus_error *error)
{
	return sd_bus_error_setf(error, RDMAD_ERROR_LIMITS_EXCEEDED,
				 "Too many calls of WaitFor are waiting");
}

/* The waiter's user is known: there may be too many of that one. */
static int on_user(sd_bus_message *reply, void *userdata, _unused_ sd_bus_error *ret_error)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	Waiter *waiter = userdata;
	BusWait *w = waiter->waits;
	uid_t user;
	size_t n = 0;

	if (bus_peer_read_user(reply, &user) < 0) {
		/* it has left already */
		waiter_free(take_out(w, find(w, waiter)));
		return 0;
	}
	for (const Waiter *i = w->first; i; i = i->next)
		n += !i->asking && i->user == user;
	if (n >= WAITERS_USER_MAX) {
		(void)too_many(&error);
		check_reply(sd_bus_reply_method_error(waiter->call, &error));
		waiter_free(take_out(w, find(w, waiter)));
		return 0;
	}
	waiter->user = user;
	waiter->asking = sd_bus_slot_unref(waiter->asking);
	return 0;
}

/* Asks whose call it is, without waiting for the answer. Departures are watched before, so that
 * none is missed. */
static int ask_user(BusWait *w, Waiter *waiter)
{
	int r = 0;

	if (!w->departures)
		r = bus_peer_watch_departures(w->bus, on_departure, w, &w->departures);
	if (r < 0)
		return r;
	return bus_peer_ask_user(w->bus, sd_bus_message_get_sender(waiter->call), on_user, waiter,
				 &waiter->asking);
}

/* Puts WAITER on the list. */
static int keep(BusWait *w, Waiter *waiter, uint64_t now, uint64_t timeout, sd_bus_error *error)
{
	int r;

	if (w->n >= WAITERS_MAX)
		return too_many(error);
	if (timeout < UINT64_MAX - now) {
		r = sd_event_add_time(manager_event_loop(w->manager), &waiter->timer,
				      CLOCK_MONOTONIC, now + timeout, USEC_PER_MSEC, on_timer,
				      waiter);
		if (r < 0)
			return r;
	}
	r = ask_user(w, waiter);
	if (r < 0)
		return r;
	waiter->next = w->first;
	w->first = waiter;
	w->n++;
	return 0;
}

int bus_wait_call(BusWait *w, sd_bus_message *call, sd_bus_error *error)
{
	_cleanup_(waiter_free_pointer) Waiter *waiter = calloc(1, sizeof(Waiter));
	uint64_t timeout, now = now_usec(w);
	int r;

	if (!waiter)
		return -ENOMEM;
	waiter->waits = w;
	waiter->call = sd_bus_message_ref(call);
	r = read_condition(w, call, &waiter->wait, error);
	if (r >= 0)
		r = sd_bus_message_read_basic(call, 't', &timeout);
	if (r < 0)
		return r;
	if (wait_look(&waiter->wait, manager_cache(w->manager), now))
		return reply_held(call, &waiter->wait);
	r = check_unique(&waiter->wait, error);
	if (r < 0)
		return r;
	if (timeout == 0)
		return reply_missing(call, &waiter->wait, now);
	r = keep(w, waiter, now, timeout, error);
	if (r >= 0)
		steal_pointer(&waiter);
	if (w->n == 0)
		w->departures = sd_bus_slot_unref(w->departures);
	return r < 0 ? r : 1;
}

void bus_wait_mark(BusWait *w)
{
	if (w->first)
		sd_event_source_set_enabled(w->look, SD_EVENT_ONESHOT);
}

int bus_wait_new(sd_bus *bus, struct Manager *m, BusWait **ret)
{
	_cleanup_(bus_wait_free_pointer) BusWait *w = calloc(1, sizeof(BusWait));
	int r;

	if (!w)
		return -ENOMEM;
	w->manager = m;
	w->bus = bus;
	r = sd_event_add_defer(manager_event_loop(m), &w->look, on_look, w);
	if (r < 0)
		return r;
	sd_event_source_set_description(w->look, "look at the waits");
	r = sd_event_source_set_enabled(w->look, SD_EVENT_OFF);
	if (r < 0)
		return r;
	*ret = steal_pointer(&w);
	return 0;
}

BusWait *bus_wait_free(BusWait *w)
{
	while (w->first)
		waiter_free(take_out(w, &w->first));
	sd_event_source_disable_unref(w->look);
	free(w);
	return NULL;
}
