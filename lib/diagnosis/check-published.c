/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What rdmad has published of a device or port: the entries of its Findings, (sssa{sv}). */

#include "check-parts.h"
#include "checks.h"

typedef struct Published {
	const char *check, *text;
	const char *attribute;	  /* "": none */
	const char *counter;	  /* "": none */
	const char *acknowledged; /* what was said when it was acknowledged; NULL: nobody has */
	bool is_part;		  /* it comes from another finding */
} Published;

enum { CHECK, SEVERITY, TEXT, TAIL };

/* False: it is no entry. */
static bool read_entry(const Value *f, Published *ret)
{
	if (f->type != VALUE_STRUCT || f->n <= TEXT)
		return false;
	*ret = (Published){.check = value_text(&f->items[CHECK]),
			   .text = value_text(&f->items[TEXT]),
			   .attribute = value_text(value_tail(f, TAIL, "Attribute")),
			   .counter = value_text(value_tail(f, TAIL, "Counter")),
			   .is_part = value_tail(f, TAIL, "Cause")};
	if (value_tail(f, TAIL, "Acknowledged"))
		ret->acknowledged = value_text(value_tail(f, TAIL, "AcknowledgedText"));
	return true;
}

/* The entry that follows *I among ALL, the value of Findings, which may be NULL; moves *I on. */
static bool next_entry(const Value *all, size_t *i, Published *ret)
{
	while (*i < value_count(all))
		if (read_entry(&all->items[(*i)++], ret))
			return true;
	return false;
}

static void find_published(CheckRun *r, const Value *all, const Attribute *row)
{
	Published f;

	for (size_t i = 0; next_entry(all, &i, &f);)
		if (streq(f.check, r->check->name) && streq(f.attribute, row ? row->name : "") &&
		    streq(f.counter, r->counter ? r->counter : ""))
			check_find(r, row, "%s", f.text);
}

void check_find_published(CheckRun *r)
{
	find_published(r, object_value(r->port, PORT_ATTR_findings), NULL);
}

void check_find_of_machine(CheckRun *r, const Attribute *row)
{
	find_published(r, r->ask.of_machine ? r->ask.of_machine(r->ask.userdata) : NULL, row);
}

static const Value *findings_of(const Object *o)
{
	return !o ? NULL
		  : object_value(o, o->is_port ? (size_t)PORT_ATTR_findings
					       : (size_t)DEVICE_ATTR_findings);
}

const char *checks_published(const Object *o, const char *check)
{
	const Value *all = findings_of(o);
	Published f;

	for (size_t i = 0; next_entry(all, &i, &f);)
		if (streq(f.check, check) && !f.acknowledged)
			return f.text;
	return NULL;
}

const char *checks_next_published(const Object *o, size_t *i, const char **ret_check)
{
	Published f;

	while (next_entry(findings_of(o), i, &f)) {
		if (f.acknowledged || f.is_part)
			continue;
		*ret_check = f.check;
		return f.text;
	}
	return NULL;
}

static void take_acknowledged(Finding *finding)
{
	const Value *all = findings_of(finding->port ? finding->port : finding->device);
	const char *attribute = finding->row ? finding->row->name : "";
	Published f;

	for (size_t i = 0; !finding->acknowledged && next_entry(all, &i, &f);)
		if (streq(f.check, finding->check->name) && streq(f.attribute, attribute))
			finding->acknowledged = f.acknowledged;
}

void checks_take_acknowledged(const CheckRun *r)
{
	for (size_t i = 0; i < r->n_findings; i++)
		take_acknowledged(&r->findings[i]);
}
