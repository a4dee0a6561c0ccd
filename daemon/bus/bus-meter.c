/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-meter.h"

#include <sys/ioctl.h>
#include <time.h>

/* A reply that waits to be sent. */
typedef struct Sent {
	uid_t user;
	uint32_t size;
} Sent;

struct BusMeter {
	sd_bus *bus;
	sd_event *event;
	BusCallers *callers;
	Budget *budget;
	uint64_t advance;	/* nanoseconds for a connection while its user is not known */
	sd_event_source *turns; /* never fires: on_turn() runs before the event loop waits */
	BusCaller *caller;	/* whose call was the last */
	bool charging;		/* it came in this turn */
	BudgetVerdict verdict;	/* on it */
	size_t reply_size;	/* bus_meter_add_reply() */
	uint64_t measured;	/* the time of the processor up to which everything was charged */
	uint64_t n_calls;	/* since nobody has waited */
	uint64_t looked;	/* what was used when it was last looked at who waits */
	Sent *sent;		/* a ring: the oldest is at FIRST */
	size_t first, n_sent, room;
};

static uint64_t processor_nsec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static uid_t user_of(const BusCaller *caller)
{
	uid_t user = BUDGET_UNKNOWN;

	bus_caller_knows_user(caller, &user);
	return user;
}

/* Forgets the replies that were sent. Returns whether so few messages wait that nothing needs to be
 * counted. */
static bool is_queue_short(BusMeter *m)
{
	uint64_t n = 0;

	(void)sd_bus_get_n_queued_write(m->bus, &n);
	for (; m->n_sent > n; m->n_sent--) {
		const Sent *s = &m->sent[m->first];

		budget_unqueue(m->budget, s->user, s->size);
		m->first = (m->first + 1) % m->room;
	}
	if (n >= BUS_METER_SHORT_QUEUE)
		return false;
	if (m->n_sent > 0)
		budget_queue_empty(m->budget);
	m->n_sent = 0;
	return true;
}

static int grow(BusMeter *m)
{
	size_t room = MAX(2 * m->room, (size_t)BUS_METER_SHORT_QUEUE);
	Sent *sent = calloc(room, sizeof(*sent));

	if (!sent)
		return -ENOMEM;
	for (size_t i = 0; i < m->n_sent; i++)
		sent[i] = m->sent[(m->first + i) % m->room];
	free(m->sent);
	m->sent = sent;
	m->first = 0;
	m->room = room;
	return 0;
}

/* Counts a reply of SIZE bytes to USER, which waits. Without memory it is not counted. */
static void count_reply(BusMeter *m, uid_t user, size_t size)
{
	if (m->n_sent == m->room && grow(m) < 0)
		return;
	size = MIN(size, (size_t)UINT32_MAX);
	m->sent[(m->first + m->n_sent++) % m->room] = (Sent){user, (uint32_t)size};
	budget_queue(m->budget, user, size);
}

/* Whether the calls that have come and were not read need so long that somebody waits. */
static bool does_somebody_wait(const BusMeter *m)
{
	uint64_t each = budget_used(m->budget) / MAX(m->n_calls, 1U), n;
	int fd = sd_bus_get_fd(m->bus), size = 0;

	if (fd < 0 || ioctl(fd, FIONREAD, &size) < 0)
		return false;
	n = ((uint64_t)size + BUS_METER_CALL - 1) / BUS_METER_CALL;
	return size >= BUS_METER_BACKLOG || n * each >= BUS_METER_WAIT_NSEC;
}

/* Nobody waits: nobody has used anything. */
static void begin_anew(BusMeter *m)
{
	budget_idle(m->budget);
	m->looked = m->n_calls = 0;
}

/* The call of this turn has used NSEC nanoseconds. */
static void charge(BusMeter *m, uint64_t nsec)
{
	uid_t user = user_of(m->caller);
	uint64_t written = nsec / 1000 * BUS_METER_BYTES_PER_USEC;

	if (user == BUDGET_UNKNOWN)
		*bus_caller_used(m->caller) += nsec + 1; /* more than nothing */
	if (m->verdict == BUDGET_SERVE)
		budget_charge(m->budget, user, nsec);
	else if (user != BUDGET_UNKNOWN)
		budget_charge_refusal(m->budget, user, nsec);
	if (m->verdict != BUDGET_DROP && !is_queue_short(m))
		count_reply(m, user, BUS_METER_MESSAGE + (m->reply_size ? m->reply_size : written));
	m->charging = false;
	m->reply_size = 0;
}

/* A turn of the event loop has ended. */
static int on_turn(_unused_ sd_event_source *s, void *userdata)
{
	BusMeter *m = userdata;
	uint64_t now = processor_nsec(), used;

	if (m->charging)
		charge(m, now - m->measured);
	m->measured = now;
	used = budget_used(m->budget);
	if (used >= m->looked + BUS_METER_LOOK_NSEC) {
		m->looked = used;
		if (!does_somebody_wait(m))
			begin_anew(m);
	}
	return 0;
}

/* Of a connection whose user is not known. Only what it has used itself has its calls dropped:
 * others who connect are at least told. */
static BudgetVerdict judge_unknown(BusMeter *m, uint64_t now)
{
	BudgetVerdict all = budget_judge(m->budget, BUDGET_UNKNOWN, now);
	uint64_t used = *bus_caller_used(m->caller);

	if (all == BUDGET_REFUSE_FULL || !budget_has_room(m->budget, BUDGET_UNKNOWN))
		return all;
	if (used == 0)
		return all == BUDGET_DROP ? BUDGET_REFUSE_BUSY : BUDGET_SERVE;
	if (m->advance == 0 || (all == BUDGET_SERVE && used < m->advance))
		return BUDGET_SERVE;
	return used < 2 * m->advance ? BUDGET_REFUSE_BUSY : BUDGET_DROP;
}

static BudgetVerdict judge(BusMeter *m)
{
	uid_t user = user_of(m->caller);
	uint64_t now = 0;

	sd_event_now(m->event, CLOCK_MONOTONIC, &now);
	return user == BUDGET_UNKNOWN ? judge_unknown(m, now) : budget_judge(m->budget, user, now);
}

int bus_meter_begin(BusMeter *m, const char *sender, BudgetVerdict *ret)
{
	int r;

	/* Most often the same connection calls again. Who is not known is asked for again. */
	if (!m->caller || user_of(m->caller) == BUDGET_UNKNOWN ||
	    !streq(bus_caller_name(m->caller), sender)) {
		m->caller = bus_caller_unref(m->caller);
		r = bus_callers_find(m->callers, sender, &m->caller);
		if (r < 0)
			return r;
	}
	m->charging = true;
	m->n_calls++;
	is_queue_short(m);
	m->verdict = judge(m);
	/* A call is only refused if others wait behind it. */
	if (m->verdict != BUDGET_SERVE && !does_somebody_wait(m)) {
		begin_anew(m);
		m->verdict = judge(m);
	}
	*ret = m->verdict;
	return 0;
}

void bus_meter_add_reply(BusMeter *m, size_t size)
{
	m->reply_size += size;
}

static void on_known(void *userdata, BusCaller *caller, uid_t user)
{
	BusMeter *m = userdata;

	budget_charge(m->budget, user, *bus_caller_used(caller));
	*bus_caller_used(caller) = 0;
}

static bool take_room(void *userdata, BusCaller *caller)
{
	BusMeter *m = userdata;
	uid_t user = user_of(caller);

	if (is_queue_short(m))
		return true;
	if (!budget_has_room(m->budget, user))
		return false;
	count_reply(m, user, BUS_METER_LATER);
	return true;
}

static int watch_turns(BusMeter *m)
{
	int r = sd_event_add_time(m->event, &m->turns, CLOCK_MONOTONIC, UINT64_MAX, 0, NULL, m);

	if (r >= 0)
		r = sd_event_source_set_prepare(m->turns, on_turn);
	if (r >= 0)
		sd_event_source_set_description(m->turns, "what calls cost");
	return r;
}

int bus_meter_new(sd_bus *bus, sd_event *event, BusCallers *callers, uint64_t busy, BusMeter **ret)
{
	static const CallersHandler handler = {.known = on_known, .take_room = take_room};
	_cleanup_(bus_meter_free_pointer) BusMeter *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	m->bus = bus;
	m->event = event;
	m->callers = callers;
	m->advance = busy * 1000 / 2;
	r = budget_new(busy * 1000, geteuid(), &m->budget);
	if (r >= 0)
		r = watch_turns(m);
	if (r < 0)
		return r;
	m->measured = processor_nsec();
	bus_callers_set_handler(callers, &handler, m);
	*ret = steal_pointer(&m);
	return 0;
}

BusMeter *bus_meter_free(BusMeter *m)
{
	if (!m)
		return NULL;
	bus_callers_set_handler(m->callers, NULL, NULL);
	bus_caller_unref(m->caller);
	sd_event_source_disable_unref(m->turns);
	budget_free(m->budget);
	free(m->sent);
	free(m);
	return NULL;
}
