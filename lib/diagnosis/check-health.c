/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Checks of the health reporters of devlink, by which the driver reports about its function. Some
 * reporters stay in error because their driver cannot recover from what they report (fw of mlx5):
 * the port may work all the same, and if it does not, another check says so.
 */

#include "check-parts.h"
#include "checks.h"

static bool is_in_error(const Value *reporter)
{
	return streq(format_member_text(ATTR_HEALTH, "state", reporter), "error");
}

/* Says what is wrong with REPORTER: SENTENCE, and how often. */
static void tell(CheckRun *r, const Value *reporter, const char *sentence)
{
	uint64_t errors = format_member_number(ATTR_HEALTH, "errors", reporter);
	uint64_t recoveries = format_member_number(ATTR_HEALTH, "recoveries", reporter);
	const char *port = format_member_text(ATTR_HEALTH, "port", reporter);

	check_find(r, &device_attributes[DEVICE_ATTR_health_reporters],
		   "the health reporter %s%s%s %s: %" PRIu64 " %s, %" PRIu64 " recovered",
		   format_member_text(ATTR_HEALTH, "name", reporter), *port ? " of port " : "",
		   port, sentence, errors, errors == 1 ? "error" : "errors", recoveries);
}

/* Whether the evidence of the device that the run looks at is worth to be read. */
static bool may_have_failed(const CheckRun *r)
{
	return !r->ask.may_have_failed || r->ask.may_have_failed(r->ask.userdata, r->device);
}

/* Finds a failure that the driver has reported, and after which the device was not away: one
 * without devlink says no more. */
static void look_for_failure(CheckRun *r)
{
	SeenSource evidence;
	uint64_t when = 0;
	_cleanup_free_ char *text = NULL;
	uint64_t away;

	if (!may_have_failed(r))
		return;
	evidence = check_evidence(r, r->device);
	if (check_count_seen(&evidence, "Event", "device-fatal", 0, &when) == 0 ||
	    check_count_absences(r, when, &away) > 0)
		return;
	text = format_time(when);
	check_find(r, &device_attributes[DEVICE_ATTR_health_reporters],
		   "the driver has reported at %s that the device has failed, and has not reset it",
		   text ? text : "");
}

void look_for_health_errors(CheckRun *r)
{
	const Value *reporters = object_value(r->device, DEVICE_ATTR_health_reporters);

	if (!reporters || reporters->n == 0)
		look_for_failure(r);

	VALUE_FOREACH(reporter, reporters)
		if (is_in_error(reporter))
			tell(r, reporter, "is in error");
}

/* Ours: more than what one trouble of a busy machine is. */
#define HANGS_LEAST 4U
#define HANGS_USEC  (24 * 3600 * USEC_PER_SEC)

/* Finds a device that has not answered again and again: each time its ports were stale. */
static void look_for_hangs(CheckRun *r)
{
	const Object *port = may_have_failed(r) ? check_first_port(r) : NULL;
	SeenSource evidence;
	uint64_t last = 0;
	_cleanup_free_ char *when = NULL;
	size_t n;

	if (!port)
		return;
	evidence = check_evidence(r, port);
	n = check_count_seen(&evidence, port_attributes[PORT_ATTR_last_error_code].name, "timeout",
			     r->now_usec - HANGS_USEC, &last);
	if (n < HANGS_LEAST)
		return;
	when = format_time(last);
	check_find(r, &device_attributes[DEVICE_ATTR_last_error_code],
		   "the device has not answered %zu times in 24 h, the last time at %s", n,
		   when ? when : "");
}

void look_for_recoveries(CheckRun *r)
{
	const Value *reporters = object_value(r->device, DEVICE_ATTR_health_reporters);

	VALUE_FOREACH(reporter, reporters)
		if (!is_in_error(reporter) &&
		    format_member_number(ATTR_HEALTH, "recoveries", reporter))
			tell(r, reporter, "has had errors");
	look_for_hangs(r);
}
