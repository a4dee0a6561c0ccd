/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "check-finding.h"

#include <fnmatch.h>
#include <stdarg.h>

#include "json.h"
#include "terminal.h"

static bool is_ignored(const CheckRun *r)
{
	const Expectations *e = r->expect;

	for (size_t i = 0; i < e->n; i++) {
		const Expectation *x = &e->items[i];

		if (x->kind != EXPECT_IGNORE || !streq(x->text, r->check->name))
			continue;
		if (!x->glob || (r->port && expectation_applies(x, r->port)) ||
		    (!r->port && r->device &&
		     fnmatch(x->glob, value_text(&r->device->values[DEVICE_ATTR_name]), 0) == 0))
			return true;
	}
	return false;
}

static void print_json(CheckRun *r, const Attribute *row, const char *sentence)
{
	const Object *o = r->port ? r->port : r->device;
	FILE *f = r->c->out;
	char name[96];

	json_next(f, r->n_findings);
	fputs("{\"Check\": ", f);
	json_text(f, r->check->name);
	if (o) {
		json_key(f, o->is_port ? "Port" : "Device", false);
		json_text(f, object_name(o, name));
		json_key(f, "ObjectPath", false);
		json_text(f, o->path);
	}
	if (row) {
		json_key(f, "Property", false);
		json_text(f, row->name);
	}
	json_key(f, "Finding", false);
	json_text(f, sentence);
	fputc('}', f);
}

void check_find(CheckRun *r, const Attribute *row, const char *format, ...)
{
	const Object *o = r->port ? r->port : r->device;
	char sentence[512], name[96];
	va_list ap;

	if (is_ignored(r))
		return;
	va_start(ap, format);
	vsnprintf(sentence, sizeof(sentence), format, ap);
	va_end(ap);
	if (r->c->json)
		print_json(r, row, sentence);
	else
		fprintf(r->c->out, "%s%s%s%s%s [%s]\n", terminal_color(r->c, "bold"),
			o ? object_name(o, name) : "", terminal_plain(r->c), o ? ": " : "",
			sentence, r->check->name);
	r->n_findings++;
}
