/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "monitor-print.h"

#include <inttypes.h>
#include <time.h>

#include "clock.h"
#include "format.h"
#include "json.h"
#include "terminal.h"

static void add_text(FILE *f, const char *key, const char *text)
{
	if (text)
		json_add_text(f, key, text);
}

static void print_json(FILE *f, const News *news, uint64_t usec)
{
	char name[96];

	json_begin_line(f);
	json_add_number(f, "Timestamp", usec);
	if (news->changed_usec)
		json_add_number(f, "StateChangeTimestamp", news->changed_usec);
	add_text(f, "Event", news->name);
	if (news->object) {
		add_text(f, news->object->is_port ? "Port" : "Device",
			 object_name(news->object, name));
		add_text(f, "ObjectPath", news->object->path);
	}
	if (news->row) {
		add_text(f, "Property", news->row->name);
		json_add_value(f, "Old", news->row->type, news->old_value);
		json_add_value(f, "New", news->row->type, news->new_value);
		add_text(f, "Unavailable", news->absence);
	}
	add_text(f, "Reason", news->reason);
	json_close(f);
	fputc('\n', f);
}

static void print_side(const Context *c, const Attribute *row, const Value *v)
{
	_cleanup_free_ char *text = v ? format_value(row, v) : NULL;
	const char *color =
		v && row->type == ATTR_PORT_STATE ? terminal_state_color(value_text(v)) : NULL;

	if (v && v->type == VALUE_ARRAY)
		fprintf(c->out, "%zu %s", v->n, v->n == 1 ? "entry" : "entries");
	else if (v)
		fprintf(c->out, "%s%s%s", terminal_color(c, color), text ? text : "",
			color ? terminal_plain(c) : "");
	else
		fputs("unavailable", c->out);
}

/* The time, with the date if the line is to have it. */
static void format_clock(NewsDate *date, uint64_t usec, char ret[32])
{
	time_t t = (time_t)(usec / USEC_PER_SEC);
	struct tm tm;
	int day;

	ret[0] = '\0';
	if (!localtime_r(&t, &tm))
		return;
	day = tm.tm_year * 366 + tm.tm_yday;
	if (date->always || (date->last_day && date->last_day != day))
		strftime(ret, 32, "%Y-%m-%d %H:%M:%S", &tm);
	else
		strftime(ret, 32, "%H:%M:%S", &tm);
	date->last_day = day;
}

static void print_text(const Context *c, NewsDate *date, const News *news, uint64_t usec)
{
	char clock[32], name[96];

	format_clock(date, usec, clock);
	fprintf(c->out, "%s.%03u %s%s%s", clock,
		(unsigned int)(usec % USEC_PER_SEC / USEC_PER_MSEC), terminal_color(c, "bold"),
		news->object ? object_name(news->object, name) : "rdmad", terminal_plain(c));
	if (news->row)
		fprintf(c->out, " %s", news->row->name);
	if (news->text) {
		fprintf(c->out, " %s", news->text);
	} else {
		fputc(' ', c->out);
		print_side(c, news->row, news->old_value);
		fputs(" -> ", c->out);
		print_side(c, news->row, news->new_value);
	}
	if (news->detail)
		fprintf(c->out, ", %s", news->detail);
	if (news->reason)
		fprintf(c->out, " (%s)", news->reason);
	if (news->more > 0)
		fprintf(c->out, " +%zu", news->more);
	fputc('\n', c->out);
}

/* Prints one line or one object. */
static bool print_one(const Context *c, NewsDate *date, const News *news)
{
	uint64_t usec = realtime_now_usec();

	if (c->json)
		print_json(c->out, news, usec);
	else
		print_text(c, date, news, news->changed_usec ? news->changed_usec : usec);
	/* the reader waits for this line: do not keep it in a buffer */
	return fflush(c->out) == 0;
}

static bool array_has(const Value *array, const Value *item)
{
	for (size_t i = 0; i < array->n; i++)
		if (value_equal(&array->items[i], item))
			return true;
	return false;
}

/* An entry as text. A GID that is an IP address is left out, because the address says the same and
 * is shorter. */
static char *format_short_entry(AttrType type, const Value *entry)
{
	const char *const *columns = format_table_columns(type);
	_cleanup_value_ Value copy = {};
	bool has_address = false;
	char *gid = NULL;

	if (entry->type != VALUE_STRUCT || type != ATTR_GIDS || value_copy(entry, &copy) < 0)
		return format_entry(entry);
	for (size_t i = 0; columns[i]; i++) {
		const Value *member = format_find_member(type, i, &copy);

		if (!member || member->type != VALUE_TEXT)
			continue;
		if (streq(columns[i], "gid"))
			gid = member->text;
		has_address |= streq(columns[i], "address") && *member->text;
	}
	if (gid && has_address)
		*gid = '\0';
	return format_entry(&copy);
}

/* A line for each entry of A that is not in B, with SIGN. */
static bool print_entries(const Context *c, NewsDate *date, const News *news, const Value *a,
			  const Value *b, char sign)
{
	bool written = true;

	for (size_t i = 0; i < a->n; i++) {
		_cleanup_free_ char *entry = NULL, *text = NULL;
		News line = *news;

		if (array_has(b, &a->items[i]))
			continue;
		entry = format_short_entry(news->row->type, &a->items[i]);
		if (!entry || asprintf(&text, "%c %s", sign, entry) < 0)
			continue;
		line.text = text;
		written = print_one(c, date, &line) && written;
	}
	return written;
}

bool news_print(const Context *c, NewsDate *date, const News *news)
{
	const Value *was = news->old_value, *is = news->new_value;
	bool written;

	/* People cannot compare two long tables: print only which entries went and came. */
	if (c->json || !was || !is || was->type != VALUE_ARRAY || is->type != VALUE_ARRAY)
		return print_one(c, date, news);
	written = print_entries(c, date, news, was, is, '-');
	return print_entries(c, date, news, is, was, '+') && written;
}
