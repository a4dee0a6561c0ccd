/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl record: what rdmad has recorded: its segments, the changes in them, one of them as a
 * scenario, and whether it can have been so. */

#include <fnmatch.h>
#include <inttypes.h>
#include <time.h>

#include "clock.h"
#include "commands.h"
#include "parse.h"
#include "record-anonymous.h"
#include "record-fold.h"
#include "record-print.h"
#include "record-verify.h"

static const char *arg_directory, *arg_file;
static bool arg_anonymous;
static uint64_t arg_since, arg_until = UINT64_MAX, arg_at, arg_speed;

static ExitStatus parse_time(const Option *o, const char *argument)
{
	return parse_when(argument, realtime_now_usec(), o->value) ? STATUS_OK
								   : option_refuse(o, argument);
}

static ExitStatus parse_speed(const Option *o, const char *argument)
{
	if (text_to_u64(argument, SCENARIO_SPEED_MAX, o->value) < 0 || arg_speed == 0)
		return option_refuse(o, argument);
	return STATUS_OK;
}

static ExitStatus parse_path(const Option *o, const char *argument)
{
	return *argument ? option_text(o, argument) : option_refuse(o, argument);
}

/* clang-format off */
#define TIME_EXPECTED "a time such as 10min (so long ago), \"2026-11-24 01:02:03\" or @1763950000"
const Option record_options[] = {
	{"since",     0, "TIME", "show, export: leave out what was before TIME",            parse_time,  &arg_since,     TIME_EXPECTED, 0},
	{"until",     0, "TIME", "show, export: leave out what was after TIME",     parse_time,  &arg_until,     TIME_EXPECTED, 0},
	{"at",        0, "TIME", "export: the segment of TIME (default: the last)", parse_time,  &arg_at,        TIME_EXPECTED, 0},
	{"speed",     0, "N",    "export: to be played N times quicker",            parse_speed, &arg_speed,     "a number from 1 to 1000", 0},
	{"anonymous", 0, NULL,   "export: with aliases for names and addresses",    option_set,  &arg_anonymous, NULL, 0},
	{"directory", 0, "DIR",  "Where the record is (" RECORD_DIRECTORY ")",      parse_path,  &arg_directory, "a directory", 0},
	{"file",      0, "FILE", "Use this one segment",                            parse_path,  &arg_file,      "a file", 0},
	{},
};
/* clang-format on */

/* Calls VISIT for each segment, the oldest first. After an error it goes on with the next. */
static ExitStatus visit_segments(ExitStatus (*visit)(RecordFile *f, void *userdata), void *userdata)
{
	const char *directory = arg_directory ? arg_directory : RECORD_DIRECTORY;
	_cleanup_(record_names_done) RecordNames names = {.fd = -EBADF};
	ExitStatus status, worst = STATUS_OK;
	bool is_gap = false;

	if (!arg_file)
		worst = record_names_read(directory, &names);
	if (worst != STATUS_OK)
		return worst;
	for (size_t i = 0; i < (arg_file ? 1 : names.n); i++) {
		_cleanup_(record_file_free_pointer) RecordFile *f = NULL;

		status = arg_file ? record_file_open(arg_file, &f)
				  : record_file_open_in(names.fd, directory, names.names[i], &f);
		if (f)
			f->is_behind_gap = is_gap;
		is_gap = !f;
		if (status == STATUS_OK && f)
			status = visit(f, userdata);
		worst = MAX(worst, status);
	}
	return worst;
}

/* list */

static ExitStatus list_segment(RecordFile *f, void *userdata)
{
	RecordList *list = userdata;
	RecordReader r = {};
	RecordSegment s = {.first_usec = f->head.realtime_usec};
	ExitStatus status = STATUS_OK;
	bool found = true;

	s.last_usec = s.first_usec;
	record_reader_begin(&r, f);
	while (status == STATUS_OK && found) {
		RecordChange change = {};

		status = record_reader_next(&r, &change, &found);
		if (found) {
			s.n_changes++;
			s.last_usec = change.realtime_usec;
		}
		record_change_done(&change);
	}
	record_reader_done(&r);
	s.n_bytes = f->n_bytes;
	record_list_add(list, f, &s);
	return status;
}

static ExitStatus list_record(Context *c)
{
	RecordList list = {.context = c};

	if (c->n_arguments > 1)
		return usage_error("record: list takes no argument, such as \"%s\"",
				   c->arguments[1]);
	record_list_begin(&list);
	return record_list_end(&list, visit_segments(list_segment, &list));
}

/* show */

typedef struct Show {
	RecordPrinter printer;
	char **names; /* that are asked for */
	size_t n_names;
	bool *seen; /* for each of them: the record has such a port or device */
} Show;

static bool is_time_asked_for(uint64_t usec)
{
	return usec >= arg_since && usec <= arg_until;
}

/* Whether PATTERN, which may have ':' in place of '/', means NAME or its device. */
static bool is_meant(const char *pattern, const char *name)
{
	_cleanup_free_ char *other = strdup(name);
	char *slash = other ? strrchr(other, '/') : NULL;

	if (fnmatch(pattern, name, 0) == 0)
		return true;
	if (!slash)
		return false;
	*slash = ':';
	if (fnmatch(pattern, other, 0) == 0)
		return true;
	*slash = '\0';
	return fnmatch(pattern, other, 0) == 0;
}

/* Whether PATTERN means a port of DEVICE. */
static bool is_port_of(const char *pattern, const char *device)
{
	_cleanup_free_ char *name = strdup(pattern);
	char *end = name ? strrchr(name, '/') : NULL;

	if (name && !end)
		end = strrchr(name, ':');
	if (!end)
		return false;
	*end = '\0';
	return fnmatch(name, device, 0) == 0;
}

static void see(void *userdata, const char *name)
{
	Show *s = userdata;

	for (size_t i = 0; i < s->n_names; i++)
		s->seen[i] = s->seen[i] || is_meant(s->names[i], name);
}

/* Whether a change of NAME is asked for. A change of a device concerns each of its ports. */
static bool is_asked_for(const Show *s, const char *name)
{
	for (size_t i = 0; i < s->n_names; i++)
		if (is_meant(s->names[i], name) ||
		    (!strchr(name, '/') && is_port_of(s->names[i], name)))
			return true;
	return s->n_names == 0;
}

static void show_change(Show *s, const RecordFile *f, const RecordChange *change)
{
	see(s, change->name);
	if (change->new_name)
		see(s, change->new_name);
	if (is_time_asked_for(change->realtime_usec) &&
	    (is_asked_for(s, change->name) ||
	     (change->new_name && is_asked_for(s, change->new_name))))
		record_print_change(&s->printer, f, change);
}

static ExitStatus show_segment(RecordFile *f, void *userdata)
{
	RecordReader r = {.heading = see, .userdata = userdata};
	Show *s = userdata;
	ExitStatus status = STATUS_OK;
	bool found = true;

	if (is_time_asked_for(f->head.realtime_usec))
		record_print_gap(&s->printer, f);
	record_reader_begin(&r, f);
	while (status == STATUS_OK && found) {
		RecordChange change = {};

		status = record_reader_next(&r, &change, &found);
		if (found)
			show_change(s, f, &change);
		record_change_done(&change);
	}
	record_reader_done(&r);
	return status;
}

static ExitStatus show_record(Context *c)
{
	_cleanup_free_ bool *seen = calloc(c->n_arguments, sizeof(*seen));
	Show s = {{.context = c}, c->arguments + 1, c->n_arguments - 1, seen};
	ExitStatus status;

	if (!seen)
		return out_of_memory();
	record_print_begin(&s.printer);
	status = visit_segments(show_segment, &s);
	record_print_end(&s.printer, status == STATUS_OK);
	for (size_t i = 0; i < s.n_names && status == STATUS_OK; i++)
		if (!seen[i])
			status = complain_as(STATUS_NO_PORT,
					     "no port or device \"%s\" in the record", s.names[i]);
	return status;
}

/* export */

/* Prints the step LINE; *RET_END: it is the first one that is left out. FOLD: what was before has
 * been folded; NULL: it has not. */
static ExitStatus export_step(const Context *c, RecordReader *r, const RecordFold *fold,
			      const char *line, bool *ret_end)
{
	char copy[SCENARIO_LINE_MAX + 1];
	ExitStatus status;
	bool is_step;

	text_copy(copy, sizeof(copy), line);
	status = record_step_read(r, copy, &r->step, &is_step);
	*ret_end = is_step && r->step.realtime_usec > arg_until;
	if (status != STATUS_OK || *ret_end)
		return status;
	/* a segment that was exported before may have a speed */
	if (is_step && fold)
		record_fold_print_step(fold, r->step.line.at_usec, line, c->out);
	else if (!(arg_speed && script_speed(line)))
		fprintf(c->out, "%s\n", line);
	return status;
}

/* Exports the segment; its beginning has the changes before --since. */
static ExitStatus export_folded(RecordFile *f, const Context *c)
{
	_cleanup_(record_fold_done) RecordFold fold = {.since_usec = arg_since};
	RecordReader r = {};
	bool end = false;
	char *line;
	ExitStatus status = record_fold_read(&fold, f, &r, &line);

	if (status == STATUS_OK)
		record_fold_print(&fold, &r, arg_speed, c->out);
	while (status == STATUS_OK && line && !end) {
		status = export_step(c, &r, &fold, line, &end);
		if (status == STATUS_OK)
			status = record_file_next(f, &line);
	}
	return status;
}

static ExitStatus export_segment(RecordFile *f, void *userdata)
{
	const Context *c = userdata;
	RecordReader r = {};
	ExitStatus status = STATUS_OK;
	bool script = false, end = false;
	char *line;

	if (arg_since > f->head.realtime_usec)
		return export_folded(f, c);
	record_reader_begin(&r, f);
	while (status == STATUS_OK && !end) {
		status = record_file_next(f, &line);
		if (status != STATUS_OK || !line)
			break;
		if (f->part == PART_SCRIPT && script) {
			status = export_step(c, &r, NULL, line, &end);
			continue;
		}
		fprintf(c->out, "%s\n", line);
		script = f->part == PART_SCRIPT;
		if (script && arg_speed)
			fprintf(c->out, "speed = %" PRIu64 "\n", arg_speed);
	}
	if (!script && arg_speed && status == STATUS_OK)
		fprintf(c->out, "[script]\nspeed = %" PRIu64 "\n", arg_speed);
	return status;
}

/* Opens the segment that is meant: that of --at, otherwise of --since, or the first after that,
 * otherwise of --until, otherwise the last. */
static ExitStatus open_segment(RecordFile **ret)
{
	const char *directory = arg_directory ? arg_directory : RECORD_DIRECTORY;
	_cleanup_(record_names_done) RecordNames names = {.fd = -EBADF};
	uint64_t time = arg_at ? arg_at : arg_since ? arg_since : arg_until;
	ExitStatus status = record_names_read(directory, &names);

	*ret = NULL;
	for (size_t i = names.n; status == STATUS_OK && !*ret && i-- > 0;)
		if (strtoull(names.names[i], NULL, 10) <= time)
			status = record_file_open_in(names.fd, directory, names.names[i], ret);
	for (size_t i = 0; status == STATUS_OK && !*ret && !arg_at && arg_since && i < names.n; i++)
		status = record_file_open_in(names.fd, directory, names.names[i], ret);
	if (status == STATUS_OK && !*ret)
		status = failure("%s: the record begins later than that; see rdmactl record list",
				 directory);
	return status;
}

static ExitStatus export_one(Context *c)
{
	_cleanup_(record_file_free_pointer) RecordFile *f = NULL;
	ExitStatus status;

	if (arg_file)
		return visit_segments(export_segment, c);
	status = open_segment(&f);
	return status == STATUS_OK ? export_segment(f, c) : status;
}

static ExitStatus export_record(Context *c)
{
	_cleanup_free_ char *text = NULL;
	FILE *out = c->out;
	size_t size;
	ExitStatus status;

	if (c->n_arguments > 1 || c->json)
		return usage_error(c->json ? "record: export prints a scenario, not JSON"
					   : "record: export takes no port or device");
	if (!arg_anonymous)
		return export_one(c);
	c->out = open_memstream(&text, &size);
	status = c->out ? export_one(c) : out_of_memory();
	if (c->out && fclose(c->out) != 0)
		status = out_of_memory();
	c->out = out;
	return status == STATUS_OK ? record_anonymous_print(text, out) : status;
}

/* verify */

static ExitStatus verify_record(Context *c)
{
	RecordVerifier v = {.context = c};

	if (c->n_arguments > 2 || c->json)
		return usage_error(
			c->json ? "record: verify prints what it found for people, not JSON"
				: "record: verify takes one file");
	if (c->n_arguments == 2 && (arg_file || arg_directory))
		return usage_error("record: verify takes a file, or --directory or --file");
	if (c->n_arguments == 2)
		arg_file = c->arguments[1];
	return record_verify_end(&v, visit_segments(record_verify_segment, &v));
}

ExitStatus record_command(Context *c)
{
	static const struct {
		const char *name;
		ExitStatus (*run)(Context *c);
		bool since, until, export; /* the options that it has */
	} words[] = {
		{"list", list_record, false, false, false},
		{"show", show_record, true, true, false},
		{"export", export_record, true, true, true},
		{"verify", verify_record, false, false, false},
	};
	const char *word = c->arguments[0];

	if (c->host || c->machine)
		return usage_error(
			"record: reads files of this machine; run it over ssh on the other one");
	if (arg_directory && arg_file)
		return usage_error("record: of --directory and --file only one can be given");
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const char *option = (arg_since && !words[i].since)		    ? "since"
				     : (arg_until != UINT64_MAX && !words[i].until) ? "until"
				     : (arg_at && !words[i].export)		    ? "at"
				     : (arg_speed && !words[i].export)		    ? "speed"
				     : (arg_anonymous && !words[i].export)	    ? "anonymous"
										    : NULL;

		if (!streq(words[i].name, word))
			continue;
		if (!option)
			return words[i].run(c);
		return usage_error("record: --%s is not an option of \"%s\"", option, word);
	}
	return usage_error("record: unknown \"%s\"; expected list, show, export or verify", word);
}
