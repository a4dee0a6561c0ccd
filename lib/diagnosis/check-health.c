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

/* Finds a failure that the driver has reported, and after which the device was not away: one
 * without devlink says no more. */
static void look_for_failure(CheckRun *r)
{
	SeenSource evidence;
	uint64_t when = 0;
	_cleanup_free_ char *text = NULL;
	uint64_t away;
	Seen e;

	if (r->ask.may_have_failed && !r->ask.may_have_failed(r->ask.userdata, r->device))
		return;
	evidence = check_evidence(r, r->device);
	for (size_t i = 0; seen_read(&evidence, i, &e); i++)
		if (streq(e.what, "Event") && streq(e.to, "device-fatal"))
			when = e.realtime_usec;
	if (when == 0 || check_count_absences(r, when, &away) > 0)
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

void look_for_recoveries(CheckRun *r)
{
	const Value *reporters = object_value(r->device, DEVICE_ATTR_health_reporters);

	VALUE_FOREACH(reporter, reporters)
		if (!is_in_error(reporter) &&
		    format_member_number(ATTR_HEALTH, "recoveries", reporter))
			tell(r, reporter, "has had errors");
}
