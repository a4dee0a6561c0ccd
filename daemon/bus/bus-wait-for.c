/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-wait-for.h"

#include "bus-options.h"
#include "bus-private.h"
#include "bus-shown.h"
#include "log.h"
#include "names.h"
#include "wait.h"

/* A call that waits. */
typedef struct Waiter {
	BusWait *waits;
	struct Waiter *next, **at; /* in the list of all; what points to this one */
	PendingCall *call;
	sd_event_source *timer; /* NULL: waits for ever */
	Wait wait;		/* for which ports, and for what of them; the last member */
} Waiter;

struct BusWait {
	Bus *bus;
	Waiter *first;
	uint64_t names_generation; /* the cache's when all were looked at */
	sd_event_source *look;	   /* runs once when the cache has changed */
};

static uint64_t now_usec(const BusWait *w)
{
	uint64_t now = 0;

	sd_event_now(w->bus->event, CLOCK_MONOTONIC, &now);
	return now;
}

static void waiter_free(Waiter *waiter)
{
	sd_event_source_disable_unref(waiter->timer);
	wait_done(&waiter->wait);
	free(waiter);
}
DEFINE_CLEANUP(Waiter, waiter_free);

/* Its call is being freed. */
static void on_freed(void *userdata)
{
	Waiter *waiter = userdata;

	*waiter->at = waiter->next;
	if (waiter->next)
		waiter->next->at = waiter->at;
	waiter_free(waiter);
}

/* The ports that have all that is wanted, by the names they were asked for. */
static int reply_held(sd_bus_message *call, const Wait *wait)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	char path[RDMAD_PATH_MAX];
	int r = sd_bus_message_new_method_return(call, &reply);

	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "{so}");
	for (size_t i = 0; r >= 0 && i < wait->n_ports; i++) {
		const WaitPort *p = wait_port_found(&wait->ports[i]);

		if (p->lack == LACK_NOTHING)
			r = sd_bus_message_append(reply, "{so}", wait->ports[i].name,
						  port_path(p->ref.port, path));
	}
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

static int reply_missing(sd_bus_message *call, const Wait *wait, uint64_t now)
{
	_cleanup_free_ char *missing = wait_describe(wait, now);

	if (!missing)
		return -ENOMEM;
	return sd_bus_reply_method_errorf(call, RDMAD_ERROR_WAIT_TIMEOUT, "%s", missing);
}

static void check_reply(int r)
{
	if (r < 0)
		log_debug_errno(r, "Cannot answer a wait, ignoring: %m");
}

static void answer_held(const Waiter *waiter)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = bus_call_of(waiter->call);

	if (call)
		check_reply(reply_held(call, &waiter->wait));
}

static void answer_missing(const Waiter *waiter, uint64_t now)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = bus_call_of(waiter->call);

	if (call)
		check_reply(reply_missing(call, &waiter->wait, now));
}

static int on_look(_unused_ sd_event_source *s, void *userdata)
{
	BusWait *w = userdata;
	const Cache *c = w->bus->cache;
	bool names_changed = w->names_generation != c->names_generation;
	uint64_t now = now_usec(w);
	Waiter *next;

	w->names_generation = c->names_generation;
	for (Waiter *waiter = w->first; waiter; waiter = next) {
		next = waiter->next;
		if (names_changed)
			wait_look(&waiter->wait, c, now);
		if (!wait_holds(&waiter->wait))
			continue;
		answer_held(waiter);
		pending_call_free(waiter->call);
	}
	return 0;
}

static int on_timer(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Waiter *waiter = userdata;
	BusWait *w = waiter->waits;
	uint64_t now = now_usec(w);

	/* what has changed at this very moment still counts */
	if (wait_look(&waiter->wait, w->bus->cache, now))
		answer_held(waiter);
	else
		answer_missing(waiter, now);
	pending_call_free(waiter->call);
	return 0;
}

/* The state called TEXT. */
static int read_state(const char *text, uint32_t *ret, sd_bus_error *error)
{
	PortValues values;

	if (attr_parse(&port_attributes[PORT_ATTR_state], &values, text) < 0)
		return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT,
					 "\"state\": \"%s\" is no state of a port, such as active",
					 BUS_SHOW(text));
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
				"\"ports\": \"%s\" is no name of a port, such as mlx5_0/1",
				BUS_SHOW(*names));
		}
	return 0;
}

static int read_condition(BusWait *w, sd_bus_message *m, Wait *wait, sd_bus_error *error)
{
	_cleanup_(bus_texts_done) BusTexts ports = {.max = WAIT_PORTS_MAX};
	const char *state = "active", *gid = NULL;
	int any = 0, lid = 0, healthy = 0, fit = 0, configured = 0, r;
	const BusOption options[] = {
		{"ports", 'a', &ports},
		{"configured", 'b', &configured},
		{"any", 'b', &any},
		{"state", 's', &state},
		{"lid", 'b', &lid},
		{"gid", 's', &gid},
		{"mtu", 'u', &wait->condition.mtu},
		{"rate", 't', &wait->condition.rate},
		{"healthy", 'b', &healthy},
		{"fit", 'b', &fit},
	};

	r = bus_read_options(m, "WaitFor", options, ARRAY_SIZE(options), error);
	if (r < 0)
		return r;
	r = add_ports(wait, ports.texts, error);
	if (r >= 0 && configured)
		r = add_ports(wait, w->bus->config->wait_ports, error);
	if (r < 0)
		return r;
	if (wait->n_ports == 0 && !configured)
		return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT,
					 "\"ports\": expected the names of the ports to wait for");
	if (gid && gid_parse(gid, wait->condition.gid) < 0)
		return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT,
					 "\"gid\": \"%s\" is no IP address and no GID",
					 BUS_SHOW(gid));
	wait->condition.has_gid = gid != NULL;
	wait->condition.lid = lid;
	wait->condition.healthy = healthy;
	wait->condition.fit = fit;
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

/* A condition that can never hold is refused now, and not when the time is over. */
static int check_possible(const Wait *wait, sd_bus_error *error)
{
	const WaitPort *never = NULL;
	const char *why = NULL;
	size_t n = 0;

	for (size_t i = 0; i < wait->n_ports; i++) {
		const WaitPort *p = &wait->ports[i];
		const Port *port = wait_port_found(p)->ref.port;
		const char *w = port ? wait_impossible(&wait->condition, &port->now) : NULL;

		if (!w)
			continue;
		n++;
		why = w;
		never = p;
	}
	if (n == 0 || (wait->any && n < wait->n_ports))
		return 0;
	return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT, "%s: %s", never->name, why);
}

/* Has WAITER wait until TIMEOUT from NOW. */
static int keep(BusWait *w, Waiter *waiter, sd_bus_message *call, uint64_t now, uint64_t timeout,
		sd_bus_error *error)
{
	static const PendingKind kind = {.freed = on_freed, .waits_long = true};
	int r;

	if (timeout < UINT64_MAX - now) {
		r = sd_event_add_time(w->bus->event, &waiter->timer, CLOCK_MONOTONIC, now + timeout,
				      USEC_PER_MSEC, on_timer, waiter);
		if (r < 0)
			return r;
	}
	r = pending_call_new(w->bus->calls, call, &kind, waiter, &waiter->call, error);
	if (r < 0)
		return r;
	waiter->next = w->first;
	if (waiter->next)
		waiter->next->at = &waiter->next;
	waiter->at = &w->first;
	w->first = waiter;
	return r;
}

/* Gives back what WAITER has no ports for: most calls name one, and thousands can wait. */
static Waiter *fit(Waiter *waiter)
{
	Waiter *fitting =
		realloc(waiter, offsetof(Waiter, wait.ports) +
					waiter->wait.n_ports * sizeof(waiter->wait.ports[0]));

	return fitting ?: waiter;
}

int bus_wait_call(BusWait *w, sd_bus_message *call, sd_bus_error *error)
{
	_cleanup_(waiter_free_pointer) Waiter *waiter = calloc(1, sizeof(Waiter));
	uint64_t timeout, now = now_usec(w);
	int r;

	if (!waiter)
		return -ENOMEM;
	waiter->waits = w;
	r = read_condition(w, call, &waiter->wait, error);
	if (r >= 0)
		r = sd_bus_message_read_basic(call, 't', &timeout);
	if (r < 0)
		return r;
	waiter = fit(steal_pointer(&waiter));
	if (wait_look(&waiter->wait, w->bus->cache, now))
		return reply_held(call, &waiter->wait);
	r = check_unique(&waiter->wait, error);
	if (r >= 0)
		r = check_possible(&waiter->wait, error);
	if (r < 0)
		return r;
	if (timeout == 0)
		return reply_missing(call, &waiter->wait, now);
	r = keep(w, waiter, call, now, timeout, error);
	if (r > 0)
		steal_pointer(&waiter);
	return r;
}

static void look_soon(BusWait *w)
{
	sd_event_source_set_enabled(w->look, SD_EVENT_ONESHOT);
}

void bus_wait_mark_names(BusWait *w)
{
	if (w->first)
		look_soon(w);
}

void bus_wait_mark_port(BusWait *w, const Port *p)
{
	const uint64_t now = p->refs ? now_usec(w) : 0;

	if (w->first && w->names_generation != w->bus->cache->names_generation)
		look_soon(w);
	for (PortRef *r = p->refs; r; r = r->next)
		if (wait_holds(wait_look_at_port(r, now)))
			look_soon(w);
}

int bus_wait_new(Bus *b, BusWait **ret)
{
	_cleanup_(bus_wait_free_pointer) BusWait *w = calloc(1, sizeof(BusWait));
	int r;

	if (!w)
		return -ENOMEM;
	w->bus = b;
	r = sd_event_add_defer(b->event, &w->look, on_look, w);
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
	if (!w)
		return NULL;
	sd_event_source_disable_unref(w->look);
	free(w);
	return NULL;
}
