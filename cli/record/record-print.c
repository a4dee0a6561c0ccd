/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "record-print.h"

#include <inttypes.h>
#include <time.h>

#include "json.h"
#include "terminal.h"

#define TIME_TEXT_MAX 48

/* The local time with microseconds, which has always the same width. */
static const char *time_text(uint64_t usec, char buffer[TIME_TEXT_MAX])
{
	time_t t = (time_t)(usec / USEC_PER_SEC);
	char text[32];
	struct tm tm;

	if (localtime_r(&t, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(buffer, TIME_TEXT_MAX, "%s.%06u", text,
			 (unsigned int)(usec % USEC_PER_SEC));
	else
		snprintf(buffer, TIME_TEXT_MAX, "%" PRIu64 " us", usec);
	return buffer;
}

/* A word of the head of a segment; NULL: the head does not have it. */
static const char *said(const char *text)
{
	return *text ? text : NULL;
}

/* The name of a segment in its directory. */
static const char *file_name(const RecordFile *f)
{
	const char *slash = strrchr(f->path, '/');

	return slash ? slash + 1 : f->path;
}

/* Segments */

static const char *begins_text(const char *begins)
{
	static const TextPair texts[] = {
		{"start", "rdmad started"},
		{"full", "the one before was full"},
		{"day", "a day was over"},
		{"since", "what was before was left out"},
		{"lost", "changes were lost"},
		{"ports", "a device has another number of ports"},
		{"names", "devices have swapped names"},
	};

	const char *text = text_of_key(texts, ARRAY_SIZE(texts), begins);

	return text ? text : *begins ? begins : "-";
}

void record_list_begin(RecordList *list)
{
	static const TableColumn columns[] = {
		{"SEGMENT", 0, 0},	     {"FIRST", 0, 0},		{"LAST", 0, 0},
		{"CHANGES", TABLE_RIGHT, 0}, {"BYTES", TABLE_RIGHT, 0}, {"BEGAN BECAUSE", 0, 0}};

	if (list->context->json)
		json_begin(list->context->out, "Segments");
	list->table = text_table_begin(list->context, columns, ARRAY_SIZE(columns));
	list->table.gap = 2;
}

static void print_segment_json(FILE *f, const RecordFile *file, const RecordSegment *s)
{
	json_open(f);
	json_add_text(f, "Segment", file_name(file));
	json_add_number(f, "First", s->first_usec);
	json_add_number(f, "Last", s->last_usec);
	json_add_number(f, "Monotonic", file->head.monotonic_usec);
	json_add_text(f, "Boot", said(file->head.boot));
	json_add_number(f, "Changes", s->n_changes);
	json_add_number(f, "Bytes", s->n_bytes);
	json_add_text(f, "Begins", said(file->head.begins));
	json_close(f);
}

void record_list_add(RecordList *list, const RecordFile *f, const RecordSegment *s)
{
	char first[TIME_TEXT_MAX], last[TIME_TEXT_MAX];
	TextTable *t = &list->table;

	if (list->context->json) {
		json_next(list->context->out);
		print_segment_json(list->context->out, f, s);
		return;
	}
	text_table_add_line(t);
	text_table_put(t, 0, file_name(f));
	text_table_put(t, 1, time_text(s->first_usec, first));
	text_table_put(t, 2, time_text(s->last_usec, last));
	text_table_format(t, 3, "%" PRIu64, s->n_changes);
	text_table_format(t, 4, "%" PRIu64, s->n_bytes);
	text_table_put(t, 5, begins_text(f->head.begins));
}

ExitStatus record_list_end(RecordList *list, ExitStatus status)
{
	ExitStatus printed = STATUS_OK;

	if (list->context->json)
		json_end(list->context->out);
	else
		printed = text_table_print(&list->table, 0);
	text_table_done(&list->table);
	return MAX(status, printed);
}

/* Changes */

/* The columns of the changes but the last one, which is as long as it is. */
#define WIDTH_TIME   26
#define WIDTH_NAME   10
#define WIDTH_REASON 17

void record_print_begin(const RecordPrinter *p)
{
	if (p->context->json)
		json_begin(p->context->out, "Changes");
}

static void print_reasons(FILE *f, const RecordChange *change)
{
	for (size_t i = 0; i < change->n_reasons; i++)
		fprintf(f, "%s%s", i > 0 ? "," : "", change->reasons[i]);
}

static void print_values(FILE *f, const RecordChange *change)
{
	for (size_t i = 0; i < change->n_values; i++) {
		const RecordValue *v = &change->values[i];
		const char *text = v->value ? v->value : "(none)";
		const char *quote = *text == '\0' || strchr(text, ' ') ? "\"" : "";

		fprintf(f, "%s%s=%s%s%s", i > 0 ? " " : "", v->field, quote, text, quote);
	}
}

/* The value of FIELD, if it has one. */
static void print_value(FILE *f, const RecordChange *change, const char *field)
{
	for (size_t i = 0; i < change->n_values; i++)
		if (streq(change->values[i].field, field) && change->values[i].value)
			fprintf(f, ", %s=%s", field, change->values[i].value);
}

static void print_failure(FILE *f, const RecordChange *change)
{
	fprintf(f, "does not answer: %s", change->message ? change->message : change->error);
}

/* Prints the change in words, or its values as the record has them. */
static void print_what(FILE *f, const RecordChange *change)
{
	switch (change->kind) {
	case CHANGE_VALUES:
		print_values(f, change);
		if (change->n_values == 0)
			fputs("no other values", f);
		break;
	case CHANGE_NO_ANSWER:
		print_failure(f, change);
		break;
	case CHANGE_EVENT:
		fputs("event ", f);
		print_reasons(f, change);
		break;
	case CHANGE_ADDED:
		fputs("added", f);
		print_value(f, change, "ports");
		if (change->error) {
			fputs(", ", f);
			print_failure(f, change);
		}
		break;
	case CHANGE_FINDING:
		fputs("finding ", f);
		print_values(f, change);
		break;
	case CHANGE_REMOVED:
		fputs("removed", f);
		break;
	case CHANGE_RENAMED:
		fprintf(f, "renamed from %s to %s", change->name, change->new_name);
		break;
	case _CHANGE_MAX:
		break;
	}
}

/* Prints a line, of which WHAT is the last column. */
static void print_line(RecordPrinter *p, uint64_t usec, const char *name, const char *reason,
		       const char *what)
{
	Context *c = p->context;
	char when[TIME_TEXT_MAX];
	int n;

	if (!p->headed && !c->no_legend)
		fprintf(c->out, "%s%-*s  %-*s  %-*s  %s%s\n", terminal_color(c, "bold"), WIDTH_TIME,
			"TIME", WIDTH_NAME, "PORT", WIDTH_REASON, "REASON", "CHANGE",
			terminal_plain(c));
	p->headed = true;
	n = fprintf(c->out, "%-*s  %-*s  %-*s  ", WIDTH_TIME, time_text(usec, when), WIDTH_NAME,
		    name, WIDTH_REASON, reason);
	if (c->is_terminal)
		terminal_print_wrapped(c, what, (unsigned int)MAX(n, 0));
	else
		fprintf(c->out, "%s\n", what);
}

void record_print_gap(RecordPrinter *p, const RecordFile *f)
{
	const char *begins = f->head.begins;

	if (!p->context->json && (streq(begins, "start") || streq(begins, "lost")))
		print_line(p, f->head.realtime_usec, "-", "-", begins_text(begins));
}

static void print_text(RecordPrinter *p, const RecordChange *change)
{
	_cleanup_free_ char *reasons = NULL, *what = NULL;
	size_t size;
	FILE *f = open_memstream(&reasons, &size);

	if (f && change->kind != CHANGE_EVENT)
		print_reasons(f, change);
	if (!f || fclose(f) != 0 || !(f = open_memstream(&what, &size)))
		return;
	print_what(f, change);
	if (fclose(f) == 0)
		print_line(p, change->realtime_usec, change->name, *reasons ? reasons : "-", what);
}

static const char *kind_name(RecordChangeKind kind)
{
	static const char *const names[_CHANGE_MAX] = {
		[CHANGE_VALUES] = "values",   [CHANGE_NO_ANSWER] = "no-answer",
		[CHANGE_EVENT] = "event",     [CHANGE_ADDED] = "added",
		[CHANGE_REMOVED] = "removed", [CHANGE_RENAMED] = "renamed",
		[CHANGE_FINDING] = "finding",
	};

	return names[kind];
}

static void print_lists_json(FILE *f, const RecordChange *change)
{
	json_open_list(f, "Reasons");
	for (size_t i = 0; i < change->n_reasons; i++) {
		json_entry(f);
		json_text(f, change->reasons[i]);
	}
	json_close_list(f);
	json_open_list(f, "Values");
	for (size_t i = 0; i < change->n_values; i++) {
		json_entry(f);
		json_open(f);
		json_add_text(f, "Field", change->values[i].field);
		json_add_text(f, "Value", change->values[i].value);
		json_close(f);
	}
	json_close_list(f);
}

static void print_json(FILE *f, const RecordFile *file, const RecordChange *change)
{
	const char *slash = strrchr(change->name, '/');
	_cleanup_free_ char *device =
		strndup(change->name, slash ? (size_t)(slash - change->name) : SIZE_MAX);

	json_open(f);
	json_add_number(f, "Timestamp", change->realtime_usec);
	json_add_number(f, "Monotonic", change->monotonic_usec);
	json_add_text(f, "Boot", said(file->head.boot));
	json_add_text(f, "Segment", file_name(file));
	json_add_text(f, "Device", device);
	json_add_text(f, "Port", slash ? change->name : NULL);
	json_add_text(f, "Kind", kind_name(change->kind));
	json_add_text(f, "NewName", change->new_name);
	json_add_text(f, "Error", change->error);
	json_add_text(f, "Message", change->message);
	print_lists_json(f, change);
	json_close(f);
}

void record_print_change(RecordPrinter *p, const RecordFile *f, const RecordChange *change)
{
	if (p->context->json) {
		json_next(p->context->out);
		print_json(p->context->out, f, change);
	} else {
		print_text(p, change);
	}
	p->n++;
}

void record_print_end(const RecordPrinter *p, bool is_complete)
{
	if (p->context->json)
		json_end(p->context->out);
	else if (p->n == 0 && is_complete)
		fputs("No changes.\n", p->context->out);
}
