/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-meter.h"

#include <sys/ioctl.h>
#include <time.h>

#include "bus-peer.h"

struct BusMeter {
	sd_bus *bus;
	sd_event *event;
	BusCallers *callers;
	Budget *budget;
	uint64_t advance;      /* nanoseconds for a connection while its user is not known */
	BusCaller *caller;     /* whose call was the last */
	bool charging;	       /* it is the message that is handled now */
	BudgetVerdict verdict; /* on it */
	uint64_t started;      /* the time of the processor at bus_meter_start() */
	uint64_t n_calls;      /* since nobody has waited */
	uint64_t looked;       /* what was used when it was last looked at who waits */
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

/* The call that is handled now has used NSEC nanoseconds. */
static void charge(BusMeter *m, uint64_t nsec)
{
	uid_t user = user_of(m->caller);

	if (user == BUDGET_UNKNOWN)
		*bus_caller_used(m->caller) += nsec + 1; /* more than nothing */
	if (m->verdict == BUDGET_SERVE)
		budget_charge(m->budget, user, nsec);
	else if (user != BUDGET_UNKNOWN)
		budget_charge_refusal(m->budget, user, nsec);
	m->charging = false;
}

void bus_meter_start(BusMeter *m)
{
	m->started = processor_nsec();
}

void bus_meter_stop(BusMeter *m)
{
	uint64_t used;

	if (!m->charging)
		return;
	charge(m, processor_nsec() - m->started);
	used = budget_used(m->budget);
	if (used < m->looked + BUS_METER_LOOK_NSEC)
		return;
	m->looked = used;
	if (!does_somebody_wait(m))
		begin_anew(m);
}

/* Of a connection whose user is not known. Only what it has used itself has its calls dropped:
 * others who connect are at least told. */
static BudgetVerdict judge_unknown(BusMeter *m, uint64_t now)
{
	BudgetVerdict all = budget_judge(m->budget, BUDGET_UNKNOWN, now);
	uint64_t used = *bus_caller_used(m->caller);

	if (used == 0)
		return all == BUDGET_DROP ? BUDGET_REFUSE : BUDGET_SERVE;
	if (m->advance == 0 || (all == BUDGET_SERVE && used < m->advance))
		return BUDGET_SERVE;
	return used < 2 * m->advance ? BUDGET_REFUSE : BUDGET_DROP;
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
	m->verdict = judge(m);
	/* A call is only refused if others wait behind it. */
	if (m->verdict != BUDGET_SERVE && !does_somebody_wait(m)) {
		begin_anew(m);
		m->verdict = judge(m);
	}
	if (m->verdict == BUDGET_REFUSE && bus_peer_unsent(m->bus) >= BUS_METER_UNSENT)
		m->verdict = BUDGET_DROP;
	*ret = m->verdict;
	return 0;
}

static void on_known(void *userdata, BusCaller *caller, uid_t user)
{
	BusMeter *m = userdata;

	budget_charge(m->budget, user, *bus_caller_used(caller));
	*bus_caller_used(caller) = 0;
}

int bus_meter_new(sd_bus *bus, sd_event *event, BusCallers *callers, uint64_t busy, BusMeter **ret)
{
	_cleanup_(bus_meter_free_pointer) BusMeter *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	m->bus = bus;
	m->event = event;
	m->callers = callers;
	m->advance = busy * 1000 / 2;
	r = budget_new(busy * 1000, geteuid(), &m->budget);
	if (r < 0)
		return r;
	bus_callers_set_handler(callers, on_known, m);
	*ret = steal_pointer(&m);
	return 0;
}

BusMeter *bus_meter_free(BusMeter *m)
{
	if (!m)
		return NULL;
	bus_callers_set_handler(m->callers, NULL, NULL);
	bus_caller_unref(m->caller);
	budget_free(m->budget);
	free(m);
	return NULL;
}
