/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "check-finding.h"

#include <fnmatch.h>
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

bool check_is_ignored(const CheckRun *r, const char *name)
{
	const Expectations *e = r->expect;

	for (size_t i = 0; i < e->n; i++) {
		const Expectation *x = &e->items[i];

		if (x->kind != EXPECT_IGNORE || !streq(x->text, name))
			continue;
		if (!x->glob || (r->port && expectation_applies(x, r->port)) ||
		    (!r->port && r->device &&
		     fnmatch(x->glob, value_text(&r->device->values[DEVICE_ATTR_name]), 0) == 0))
			return true;
	}
	return false;
}

void check_find(CheckRun *r, const Attribute *row, const char *format, ...)
{
	Finding *findings;
	char *sentence;
	va_list ap;
	int n;

	if (check_is_ignored(r, r->check->name))
		return;
	va_start(ap, format);
	n = vasprintf(&sentence, format, ap);
	va_end(ap);
	findings = n < 0 ? NULL : reallocarray(r->findings, r->n_findings + 1, sizeof(*findings));
	if (!findings) {
		if (n >= 0)
			free(sentence);
		r->error = -ENOMEM;
		return;
	}
	r->findings = findings;
	findings[r->n_findings++] = (Finding){.check = r->check,
					      .port = r->port,
					      .device = r->device,
					      .row = row,
					      .sentence = sentence};
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
