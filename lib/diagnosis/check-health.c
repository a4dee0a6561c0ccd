/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Checks of the health reporters of devlink, by which the driver reports about its function. Some
 * reporters stay in error because their driver cannot recover from what they report (fw of mlx5):
 * the port may work all the same, and if it does not, another check says so.
 */

#include "check-parts.h"
#include "checks.h"

static const Value *reporters_of(const Object *device)
{
	const Value *v = object_value(device, DEVICE_ATTR_health_reporters);

	return v && v->type == VALUE_ARRAY ? v : NULL;
}

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

void look_for_health_errors(CheckRun *r)
{
	const Value *reporters = reporters_of(r->device);

	for (size_t i = 0; reporters && i < reporters->n; i++)
		if (is_in_error(&reporters->items[i]))
			tell(r, &reporters->items[i], "is in error");
}

void look_for_recoveries(CheckRun *r)
{
	const Value *reporters = reporters_of(r->device);

	for (size_t i = 0; reporters && i < reporters->n; i++)
		if (!is_in_error(&reporters->items[i]) &&
		    format_member_number(ATTR_HEALTH, "recoveries", &reporters->items[i]))
			tell(r, &reporters->items[i], "has had errors");
}
