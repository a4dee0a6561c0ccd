/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-loop.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include "bus-peer.h"
#include "clock.h"
#include "log.h"

/* If so little time has passed since the last message was done, more of them are waiting. */
#define PAUSE_USEC 10U

struct BusLoop {
	sd_bus *bus;
	sd_event *event;
	BusTurns *turns;
	BusLoopBroken broken;
	void *userdata;
	sd_event_source *io;
	sd_event_source *timer; /* for what sd-bus has to do without being told by IO */
	uint64_t done;		/* when the last message was done */
};

/* There is nothing to wait for any more. */
static int stop(BusLoop *l)
{
	sd_event_source_set_enabled(l->timer, SD_EVENT_OFF);
	sd_event_source_set_enabled(l->io, SD_EVENT_OFF);
	l->broken(l->userdata);
	return 0;
}

/* Handles one message, or writes. Returns whether there may be more to do. */
static bool do_one(BusLoop *l)
{
	uint64_t unsent = bus_peer_unsent(l->bus);
	int r = sd_bus_process(l->bus, NULL);

	if (bus_peer_unsent(l->bus) < unsent)
		bus_turns_bus_takes(l->turns, unsent - bus_peer_unsent(l->bus));
	if (r >= 0)
		return r > 0;
	if (r != -ENOTCONN)
		log_warning_errno(r, "The connection to the bus has failed: %m");
	sd_bus_close(l->bus);
	return false;
}

/* The next turn of a call that waits. Returns whether there may be one more. */
static bool serve_one(BusLoop *l)
{
	if (!bus_turns_begin(l->turns))
		return false;
	while (bus_turns_is_pending(l->turns) && do_one(l))
		;
	bus_turns_end(l->turns);
	return true;
}

/* STEP, until it has nothing more to do: LEAST times, and if there is MANY until the time is over.
 */
static void repeat(BusLoop *l, bool (*step)(BusLoop *l), unsigned int least, bool many)
{
	uint64_t end = monotonic_now_usec() + BUS_LOOP_TURN_USEC;

	for (unsigned int n = 1; step(l) && (n < least || (many && monotonic_now_usec() < end));
	     n++)
		;
}

static void run(BusLoop *l)
{
	uint64_t begin = 0, when;
	bool many;

	sd_event_now(l->event, CLOCK_MONOTONIC, &begin);
	/* all who call take part in the turns */
	many = begin < l->done + PAUSE_USEC || bus_turns_is_ready(l->turns, &when);
	/* sd-bus writes first, and reads only in a step in which it has not written: while signals
	 * come without end, one step would never read */
	repeat(l, do_one, bus_peer_unsent(l->bus) > 0 ? 3 : 1, many);
	repeat(l, serve_one, 1, true);
	l->done = monotonic_now_usec();
	if (sd_bus_get_fd(l->bus) < 0)
		stop(l);
}

static int on_io(_unused_ sd_event_source *s, _unused_ int fd, _unused_ uint32_t events,
		 void *userdata)
{
	run(userdata);
	return 0;
}

static int on_time(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	run(userdata);
	return 0;
}

/* At the latest at WHEN */
static int set_timer(BusLoop *l, uint64_t when)
{
	uint64_t timeout = UINT64_MAX;
	int r = sd_bus_get_timeout(l->bus, &timeout);

	when = MIN(when, timeout);
	if (r >= 0 && when < UINT64_MAX)
		r = sd_event_source_set_time(l->timer, when);
	return r < 0 ? r
		     : sd_event_source_set_enabled(l->timer, when == UINT64_MAX ? SD_EVENT_OFF
										: SD_EVENT_ONESHOT);
}

/* Before the event loop waits: what for. The socket changes when an address of several does not
 * answer. */
static int on_prepare(_unused_ sd_event_source *s, void *userdata)
{
	BusLoop *l = userdata;
	uint64_t when = UINT64_MAX;
	int fd = sd_bus_get_fd(l->bus), events = sd_bus_get_events(l->bus), r = 0;

	if (fd < 0 || events < 0)
		return stop(l);
	/* It is the time of the next turn when the bus has taken what was written. */
	if (bus_turns_is_ready(l->turns, &when))
		events |= EPOLLOUT;
	if (fd != sd_event_source_get_io_fd(l->io))
		r = sd_event_source_set_io_fd(l->io, fd);
	if (r >= 0)
		r = sd_event_source_set_io_events(l->io, (uint32_t)events);
	if (r >= 0)
		r = set_timer(l, when);
	if (r < 0)
		log_warning_errno(r, "Cannot wait for the bus: %m");
	return r;
}

static int add_sources(BusLoop *l)
{
	static const int size = BUS_LOOP_SOCKET;
	int r = sd_event_add_io(l->event, &l->io, sd_bus_get_fd(l->bus), 0, on_io, l);

	if (r >= 0)
		r = sd_event_add_time(l->event, &l->timer, CLOCK_MONOTONIC, UINT64_MAX, 0, on_time,
				      l);
	if (r >= 0)
		r = sd_event_source_set_prepare(l->io, on_prepare);
	if (r < 0)
		return r;
	if (setsockopt(sd_bus_get_fd(l->bus), SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) < 0)
		return -errno;
	sd_event_source_set_description(l->io, "bus");
	sd_event_source_set_description(l->timer, "bus, timer");
	return 0;
}

int bus_loop_new(sd_bus *bus, sd_event *event, BusTurns *turns, BusLoopBroken broken,
		 void *userdata, BusLoop **ret)
{
	_cleanup_(bus_loop_free_pointer) BusLoop *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	*l = (BusLoop){
		.bus = bus, .event = event, .turns = turns, .broken = broken, .userdata = userdata};
	r = add_sources(l);
	if (r < 0)
		return r;
	*ret = steal_pointer(&l);
	return 0;
}

void bus_loop_free(BusLoop *l)
{
	if (!l)
		return;
	sd_event_source_disable_unref(l->io);
	sd_event_source_disable_unref(l->timer);
	free(l);
}
