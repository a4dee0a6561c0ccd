/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "victim.h"

#include <sys/mman.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "names.h"

#define PORT	   "/org/rdma/device/0/port/1"
#define PROPERTIES "org.freedesktop.DBus.Properties"
/* The port whose state the tester changes in the end. */
#define PORT_FOR_WAITS "sim7/1"

const char *const probe_names[] = {"Ping", "GetAll", "WaitFor", "signal"};

typedef struct Self Self;

/* Calls of one method, on a connection of its own. */
typedef struct Caller {
	Self *self;
	Probe probe;
	sd_bus *bus;
	sd_bus_slot *slot; /* of the call that waits */
} Caller;

struct Self {
	Victim *shared;
	sd_event *event;
	sd_event_source *timer;
	const char *address;
	unsigned int ports;
	bool empty;
	Caller callers[PROBE_SIGNAL];
	sd_bus *signals, *waits;
};

Victim *victim_new(void)
{
	void *p = mmap(NULL, sizeof(Victim), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

Victim *victim_free(Victim *v)
{
	if (v)
		munmap(v, sizeof(*v));
	return NULL;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * USEC_PER_SEC + (uint64_t)t.tv_nsec / 1000;
}

static void __attribute__((noreturn)) finish(Self *s, const char *what, int error)
{
	if (what)
		snprintf(s->shared->broken, sizeof(s->shared->broken), "%s: %s", what,
			 strerror(-error));
	s->shared->ready = true;
	s->shared->done = true;
	_exit(what ? 1 : 0);
}

static void add_sample(Samples *s, uint64_t usec)
{
	if (s->n < VICTIM_SAMPLES)
		s->usec[s->n++] = (uint32_t)MIN(usec, UINT32_MAX);
}

void victim_add_samples(Samples *s, uint64_t usec)
{
	add_sample(s, usec);
	for (; usec > VICTIM_PERIOD_USEC; usec -= VICTIM_PERIOD_USEC)
		add_sample(s, usec - VICTIM_PERIOD_USEC);
}

static int on_reply(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *e)
{
	Caller *c = userdata;
	Samples *s = &c->self->shared->probes[c->probe];
	const sd_bus_error *error = sd_bus_message_get_error(m);
	uint64_t usec = now() - s->begin;

	c->slot = sd_bus_slot_unref(c->slot);
	s->begin = 0;
	s->calls++;
	if (error &&
	    (c->probe != PROBE_WAIT_FOR || !streq(error->name, RDMAD_ERROR_WAIT_TIMEOUT))) {
		if (s->refused++ == 0)
			snprintf(s->error, sizeof(s->error), "%s: %s", error->name, error->message);
		return 0;
	}
	if (c->probe == PROBE_WAIT_FOR)
		usec -= MIN(usec, VICTIM_TIMEOUT_USEC);
	victim_add_samples(s, usec);
	return 0;
}

static int new_wait(sd_bus *bus, const char *port, const char *state, uint64_t usec,
		    sd_bus_message **ret)
{
	int r = sd_bus_message_new_method_call(bus, ret, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					       RDMAD_INTERFACE_MANAGER, "WaitFor");

	if (r < 0)
		return r;
	return sd_bus_message_append(*ret, "a{sv}t", 2, "ports", "as", 1, port, "state", "s", state,
				     usec);
}

static int new_call(const Caller *c, sd_bus_message **ret)
{
	bool empty = c->self->empty;
	int r;

	switch (c->probe) {
	case PROBE_PING:
		return sd_bus_message_new_method_call(c->bus, ret, RDMAD_BUS_NAME, PORT,
						      "org.freedesktop.DBus.Peer", "Ping");
	case PROBE_GET_ALL:
		r = sd_bus_message_new_method_call(c->bus, ret, RDMAD_BUS_NAME, PORT, PROPERTIES,
						   "GetAll");
		return r < 0 ? r
			     : sd_bus_message_append(*ret, "s",
						     empty ? RDMAD_INTERFACE_INFINIBAND
							   : RDMAD_INTERFACE_PORT);
	case PROBE_WAIT_FOR:
		if (!empty)
			return new_wait(c->bus, "sim0/1", "down", VICTIM_TIMEOUT_USEC, ret);
		r = sd_bus_message_new_method_call(c->bus, ret, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
						   "org.rdma.Empty", "Sleep");
		return r < 0 ? r : sd_bus_message_append(*ret, "t", VICTIM_TIMEOUT_USEC);
	case PROBE_SIGNAL:
	case _PROBE_MAX:
		break;
	}
	return -EINVAL;
}

static void make_call(Caller *c)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = new_call(c, &m);

	c->self->shared->probes[c->probe].begin = now();
	if (r >= 0)
		r = sd_bus_call_async(c->bus, &c->slot, m, on_reply, c, UINT64_MAX);
	if (r < 0)
		finish(c->self, probe_names[c->probe], r);
}

static int on_time(sd_event_source *timer, _unused_ uint64_t usec, void *userdata)
{
	Self *s = userdata;
	bool waiting = false;

	for (Probe p = 0; p < PROBE_SIGNAL; p++)
		if (s->shared->probes[p].begin > 0)
			waiting = true;
		else if (!s->shared->stop)
			make_call(&s->callers[p]);
	if (s->shared->stop && !waiting)
		s->shared->done = true;
	sd_event_source_set_time(timer, now() + VICTIM_PERIOD_USEC);
	return sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

/* Signals */

/* The LID says which change that is. Changes of a port that came before it need no signal of their
 * own. */
static void saw(Self *s, uint32_t lid)
{
	if (lid < VICTIM_FIRST_LID || lid - VICTIM_FIRST_LID >= VICTIM_CHANGES)
		return;
	for (int64_t i = lid - VICTIM_FIRST_LID; i >= 0 && s->shared->seen[i] == 0; i -= s->ports)
		s->shared->seen[i] = now();
}

static int on_signal(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	const char *name;
	uint32_t lid;

	if (sd_bus_message_read_basic(m, 's', &name) < 0 ||
	    !streq(name, RDMAD_INTERFACE_INFINIBAND) ||
	    sd_bus_message_enter_container(m, 'a', "{sv}") < 0)
		return 0;
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		sd_bus_message_read_basic(m, 's', &name);
		if (!streq(name, "Lid"))
			sd_bus_message_skip(m, "v");
		else if (sd_bus_message_read(m, "v", "u", &lid) >= 0)
			saw(userdata, lid);
		sd_bus_message_exit_container(m);
	}
	return 0;
}

static int on_waited(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Self *s = userdata;

	if (!sd_bus_message_is_method_error(m, NULL))
		s->shared->n_waits++;
	return 0;
}

/* Beginning */

static sd_bus *connect_bus(Self *s)
{
	sd_bus *bus = NULL;
	int r = sd_bus_new(&bus);

	if (r >= 0)
		r = sd_bus_set_address(bus, s->address);
	if (r >= 0)
		r = sd_bus_set_bus_client(bus, true);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r >= 0)
		r = sd_bus_attach_event(bus, s->event, 0);
	if (r < 0)
		finish(s, "connect", r);
	return bus;
}

static void begin_waits(Self *s)
{
	s->waits = connect_bus(s);
	for (unsigned int i = 0; !s->empty && i < VICTIM_WAITS; i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
		int r = new_wait(s->waits, PORT_FOR_WAITS, "down", UINT64_MAX, &m);

		if (r >= 0)
			r = sd_bus_call_async(s->waits, NULL, m, on_waited, s, UINT64_MAX);
		if (r < 0)
			finish(s, "WaitFor", r);
	}
	/* It is answered after those have been received. */
	if (sd_bus_call_method(s->waits, RDMAD_BUS_NAME, "/", "org.freedesktop.DBus.Peer", "Ping",
			       NULL, NULL, NULL) < 0)
		finish(s, "Ping", -EIO);
}

static void begin_signals(Self *s)
{
	int r;

	s->signals = connect_bus(s);
	r = sd_bus_add_match(s->signals, NULL,
			     "type='signal',sender='" RDMAD_BUS_NAME "',interface='" PROPERTIES "'",
			     on_signal, s);
	if (r < 0)
		finish(s, "AddMatch", r);
}

void victim_run(Victim *v, const char *address, unsigned int ports, bool empty)
{
	Self s = {.shared = v, .address = address, .ports = ports, .empty = empty};
	int r = sd_event_new(&s.event);

	if (r < 0)
		finish(&s, "sd-event", r);
	for (Probe p = 0; p < PROBE_SIGNAL; p++)
		s.callers[p] = (Caller){.self = &s, .probe = p, .bus = connect_bus(&s)};
	begin_signals(&s);
	begin_waits(&s);
	r = sd_event_add_time(s.event, &s.timer, CLOCK_MONOTONIC, 0, 1, on_time, &s);
	if (r < 0)
		finish(&s, "timer", r);
	v->ready = true;
	r = sd_event_loop(s.event);
	finish(&s, "the connection has ended", r < 0 ? r : -ECONNRESET);
}
