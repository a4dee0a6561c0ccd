/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "check-finding.h"

#include <stdarg.h>

const char *severity_name(Severity s)
{
	static const char *const names[_SEVERITY_MAX] = {"ok", "warning", "critical"};

	return names[s];
}

const char *condition_name(CheckCondition c)
{
	static const char *const names[_CONDITION_MAX] = {
		[CONDITION_PORT] = "port",     [CONDITION_LINK] = "link",
		[CONDITION_LOSS] = "loss",     [CONDITION_STALE] = "stale",
		[CONDITION_CONFIG] = "config", [CONDITION_DEVICE] = "device",
	};

	return names[c];
}

/* Whether X applies to each port of DEVICE. */
static bool applies_to_device(const CheckRun *r, const Expectation *x, const Object *device)
{
	size_t n = 0;

	for (size_t i = 0; i < r->objects->n; i++) {
		const Object *o = r->objects->items[i];

		if (!o->is_port || object_list_device(r->objects, o) != device)
			continue;
		if (!expectation_applies(r->expect, x, o, device))
			return false;
		n++;
	}
	return n > 0;
}

bool check_applies(const CheckRun *r, const Expectation *x, const Object *port)
{
	if (!port)
		return r->device && applies_to_device(r, x, r->device);
	return expectation_applies(r->expect, x, port, object_list_device(r->objects, port));
}

bool check_is_ignored(const CheckRun *r, const char *name)
{
	const Expectations *e = r->expect;

	for (size_t i = 0; i < e->n; i++) {
		const Expectation *x = &e->items[i];

		if (x->kind != EXPECT_IGNORE || !streq(x->text, name))
			continue;
		if (!x->section || check_applies(r, x, r->port))
			return true;
	}
	return false;
}

bool check_is_named(const CheckRun *r, const Object *port)
{
	char name[96];

	for (unsigned int i = 0; i < r->n_names; i++)
		if (!object_is_pattern(r->names[i]) &&
		    (streq(r->names[i], object_name(port, name)) ||
		     object_matches(port, r->names[i])))
			return true;
	return false;
}

/* Whether the run looks at a plane of a device, which programs do not use, and nobody has named it.
 */
static bool is_plane(const CheckRun *r)
{
	return r->port && object_list_is_plane(r->objects, r->port) && !check_is_named(r, r->port);
}

void check_find(CheckRun *r, const Attribute *row, const char *format, ...)
{
	char *sentence;
	va_list ap;
	int n;

	if (check_is_ignored(r, r->check->name) || is_plane(r))
		return;
	va_start(ap, format);
	n = vasprintf(&sentence, format, ap);
	va_end(ap);
	if (n < 0 || !array_grow(r->findings, r->n_findings)) {
		if (n >= 0)
			free(sentence);
		r->error = -ENOMEM;
		return;
	}
	r->findings[r->n_findings++] = (Finding){.check = r->check,
						 .port = r->port,
						 .device = r->device,
						 .row = row,
						 .sentence = sentence};
	text_copy(r->findings[r->n_findings - 1].counter, sizeof(r->findings->counter),
		  r->counter ? r->counter : "");
}

void check_run_done(CheckRun *r)
{
	for (size_t i = 0; i < r->n_findings; i++)
		free(r->findings[i].sentence);
	free(r->findings);
	free(r->devices);
	r->findings = NULL;
	r->devices = NULL;
	r->n_findings = r->n_devices = 0;
}
