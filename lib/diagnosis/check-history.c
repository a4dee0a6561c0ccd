/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks of the history of a port: its link goes down again and again, has come back slower than
 * it was, or has another cable. */

#include "check-parts.h"
#include "checks.h"
#include "flaps.h"
#include "parse.h"

/* The members of a transition that are looked at */
enum { TRANSITION_TIME = 0, TRANSITION_TO = 3, TRANSITION_TAIL = 5, _TRANSITION_MAX };

/* The members of a module in the cage that are looked at */
enum { CABLE_SERIAL = 0, CABLE_SINCE = 1, CABLE_UNTIL = 2, _CABLE_MAX };

/* A cable is news for so long: ours, the time in which link downs are counted. */
#define NEWS_USEC (24 * 3600 * USEC_PER_SEC)

/* An older speed says nothing of a link that is slower now: somebody has changed the cable. The
 * number is ours: a week has the days on which people work. */
#define SLOWER_DAYS 7U
#define SLOWER_USEC (SLOWER_DAYS * 24 * 3600 * USEC_PER_SEC)

bool flap_limit_parse(const char *text, FlapLimit *ret)
{
	const char *slash = strchr(text, '/');
	char count[16];
	FlapLimit limit = {.text = slash ? slash + 1 : NULL};

	if (streq(text, "off")) {
		*ret = (FlapLimit){};
		return true;
	}
	if (!slash || (size_t)(slash - text) >= sizeof(count))
		return false;
	memcpy(count, text, (size_t)(slash - text));
	count[slash - text] = '\0';
	if (text_to_u64(count, FLAPS_MAX, &limit.n) < 0 || limit.n == 0 ||
	    !parse_duration(slash + 1, &limit.usec))
		return false;
	*ret = limit;
	return true;
}

/* Member NAME of the history of the port that the run looks at; NULL if it has none. */
static const Value *find_history(const CheckRun *r, const char *name)
{
	return value_lookup(r->ask.history ? r->ask.history(r->ask.userdata, r->port) : NULL, name);
}

size_t check_count_downs(const CheckRun *r, uint64_t since_usec)
{
	const Value *downs = find_history(r, "LinkDowns");
	size_t n = 0;

	if (r->flap.n == 0 || check_may_be_idle(r, r->port))
		return SIZE_MAX;
	VALUE_FOREACH(down, downs)
		n += value_number(down) >= since_usec && value_number(down) <= r->now_usec;
	return n;
}

/* How often the port that the run looks at was not there after SINCE_USEC, and in *RET_LAST when it
 * went last. */
static size_t count_absences(const CheckRun *r, uint64_t since_usec, uint64_t *ret_last)
{
	const Value *transitions = find_history(r, "Transitions");
	size_t n = 0;

	VALUE_FOREACH(t, transitions) {
		if (t->type != VALUE_STRUCT || t->n < _TRANSITION_MAX ||
		    t->items[TRANSITION_TIME].number < since_usec ||
		    !streq(value_text(&t->items[TRANSITION_TO]), "absent"))
			continue;
		*ret_last = t->items[TRANSITION_TIME].number;
		n++;
	}
	return n;
}

/* A driver that resets its device takes it away and brings it back. That of mlx5 does so of itself
 * three times in an hour at most (MLX5_FW_REPORTER_PF_GRACEFUL_PERIOD, 20 min). */
#define RESETS_LEAST 4U
#define RESETS_USEC  (3600 * USEC_PER_SEC)
#define RESETS_TEXT  "1h"

/* A device goes to a container and comes back where these have devices of their own. It is told of
 * its first port. */
static void look_for_resets(CheckRun *r)
{
	uint64_t last = 0;
	_cleanup_free_ char *when = NULL;
	size_t n;

	if (object_number(r->port, PORT_ATTR_port_num) != 1 ||
	    (r->ask.hides_devices && r->ask.hides_devices(r->ask.userdata)))
		return;
	n = count_absences(r, r->now_usec - RESETS_USEC, &last);
	if (n < RESETS_LEAST)
		return;
	when = format_time(last);
	check_find(r, &port_attributes[PORT_ATTR_link_downs],
		   "the device has gone and come back %zu times in " RESETS_TEXT
		   ", the last time at %s: its driver resets it again and again",
		   n, when ? when : "");
}

void look_for_flaps(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_link_downs];
	_cleanup_free_ char *text = NULL;
	const Value *downs, *last = NULL;
	SeenSource evidence;
	size_t n;

	if (r->flap.n == 0 || check_may_be_idle(r, r->port) ||
	    check_is_ignored(r, r->check->name) || check_is_expected(r, row))
		return;
	look_for_resets(r);
	downs = find_history(r, "LinkDowns");
	if (value_count(downs) < r->flap.n)
		return;
	evidence = check_evidence(r, r->port);
	n = flaps_count(downs, r->now_usec - r->flap.usec, r->now_usec, &evidence, &last);
	if (n < r->flap.n)
		return;
	text = last ? format_value(&port_attributes[PORT_ATTR_state_change], last) : NULL;
	check_find(r, row, "the link went down %s%zu %s in %s, the last time at %s",
		   downs->n >= FLAPS_MAX ? "at least " : "", n, n == 1 ? "time" : "times",
		   r->flap.text, text ? text : "");
}

/* The rate that the port had after transition T; 0 if that is not known. */
static uint64_t rate_of(const Value *t)
{
	return value_number(value_tail(t, TRANSITION_TAIL, "Rate"));
}

/* The highest rate that the port had in the last SLOWER_USEC, and until when, 0 for now. */
static uint64_t find_highest_rate(const CheckRun *r, const Value *transitions, uint64_t *ret_until)
{
	uint64_t highest = 0;

	for (size_t i = 0; i < transitions->n; i++) {
		const Value *next = i + 1 < transitions->n ? &transitions->items[i + 1] : NULL;
		uint64_t rate = rate_of(&transitions->items[i]), until = 0;

		if (rate < highest || rate == 0)
			continue;
		if (next && next->type == VALUE_STRUCT && next->n >= _TRANSITION_MAX)
			until = next->items[TRANSITION_TIME].number;
		if (until && until + SLOWER_USEC < r->now_usec)
			continue;
		highest = rate;
		*ret_until = until;
	}
	return highest;
}

size_t check_count_absences(CheckRun *r, uint64_t since_usec, uint64_t *ret_last)
{
	size_t n = 0;

	r->port = check_first_port(r);
	if (r->port)
		n = count_absences(r, since_usec, ret_last);
	r->port = NULL;
	return n;
}

/* Whether somebody has said how fast the link is to be. */
static bool is_speed_expected(const CheckRun *r)
{
	return check_is_expected(r, &port_attributes[PORT_ATTR_rate]) ||
	       check_is_expected(r, &port_attributes[PORT_ATTR_link_speed]) ||
	       check_is_expected(r, &port_attributes[PORT_ATTR_active_width]);
}

void look_at_former_rate(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_rate];
	const Value *rate = object_value(r->port, PORT_ATTR_rate), *transitions;
	_cleanup_free_ char *is = NULL, *was = NULL, *when = NULL;
	Value highest = {.type = VALUE_UNSIGNED};
	uint64_t until = 0;

	if (!rate || rate->type != VALUE_UNSIGNED || !check_is_in_use(r) || is_speed_expected(r) ||
	    check_is_ignored(r, r->check->name))
		return;
	transitions = find_history(r, "Transitions");
	if (!transitions || transitions->type != VALUE_ARRAY)
		return;
	highest.number = find_highest_rate(r, transitions, &until);
	if (rate->number >= highest.number || check_is_speed_set(r->port))
		return;
	is = format_value(row, rate);
	was = format_value(row, &highest);
	when = until ? format_time(until) : NULL;
	check_find(r, row, "the link runs at %s, and ran at %s%s%s", is ? is : "", was ? was : "",
		   when ? " until " : " before", when ? when : "");
}

/* Whether C, a module of the history, was in the cage a day ago, or later. */
static bool was_there(const CheckRun *r, const Value *c)
{
	uint64_t until = value_number(&c->items[CABLE_UNTIL]);

	return !until || until + NEWS_USEC > r->now_usec;
}

void look_for_other_cable(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_cable_serial];
	const Value *cables, *was, *is;
	_cleanup_free_ char *when = NULL;
	const char *serial = object_text(r->port, PORT_ATTR_cable_serial);

	/* who exchanges a cable that works wants no alarm: the history has it */
	if (!*serial || object_is_active(r->port) || check_is_unused(r, r->port) ||
	    check_is_ignored(r, r->check->name) || check_is_expected(r, row))
		return;
	cables = find_history(r, "Cables");
	if (value_count(cables) < 2)
		return;
	was = cables->items;
	is = &cables->items[cables->n - 1];
	for (size_t i = 0; i < cables->n; i++)
		if (cables->items[i].type != VALUE_STRUCT || cables->items[i].n < _CABLE_MAX)
			return;
	while (was < is && !was_there(r, was))
		was++;
	if (was == is || streq(value_text(&was->items[CABLE_SERIAL]), serial))
		return;
	when = format_value(&port_attributes[PORT_ATTR_state_change], &is->items[CABLE_SINCE]);
	check_find(r, row, "the cable is %s since %s, and was %s", serial, when ? when : "",
		   value_text(&was->items[CABLE_SERIAL]));
}
