/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "record-fold.h"

#include <inttypes.h>

#include "port.h"
#include "section.h"

/* Lists */

static bool add_line(char ***lines, size_t *n, const char *text)
{
	if (!array_grow(*lines, *n))
		return false;
	(*lines)[*n] = strdup(text);
	return (*lines)[*n] && ++*n;
}

static void free_lines(char ***lines, size_t *n)
{
	while (*n > 0)
		free((*lines)[--*n]);
	free(*lines);
	*lines = NULL;
}

/* Objects */

static void object_done(FoldedObject *o)
{
	for (size_t i = 0; i < o->n; i++) {
		free(o->values[i].key);
		free(o->values[i].value);
	}
	free(o->values);
	free_lines(&o->lines, &o->n_lines);
	free(o->error);
	free(o->name);
}

FoldedObject *record_fold_find(const RecordFold *fold, const char *name)
{
	return array_find(fold->objects, fold->n, name, name);
}

/* The number of port O behind the name of DEVICE, or NULL: it is no port of it. */
static const char *number_in(const FoldedObject *o, const char *device)
{
	const char *rest = o->is_port ? startswith(o->name, device) : NULL;

	return rest && *rest == '/' && !strchr(rest + 1, '/') ? rest + 1 : NULL;
}

FoldedObject *record_fold_device(const RecordFold *fold, const char *name)
{
	FoldedObject *o = record_fold_find(fold, name);
	char copy[SCENARIO_LINE_MAX + 1], *slash;

	if (o && !o->is_port)
		return o;
	text_copy(copy, sizeof(copy), name);
	slash = strrchr(copy, '/');
	if (slash)
		*slash = '\0';
	return slash ? record_fold_find(fold, copy) : NULL;
}

const char *record_fold_value(const FoldedObject *o, const char *key)
{
	const FoldedValue *value = array_find(o->values, o->n, key, key);

	return value ? value->value : "";
}

/* NULL without memory. */
static FoldedObject *add_object(RecordFold *fold, const char *name, bool is_port)
{
	FoldedObject *o;

	if (!array_grow(fold->objects, fold->n))
		return NULL;
	o = &fold->objects[fold->n];
	*o = (FoldedObject){.name = strdup(name), .is_port = is_port};
	if (!o->name)
		return NULL;
	fold->n++;
	return o;
}

static void remove_device(RecordFold *fold, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < fold->n; i++) {
		FoldedObject *o = &fold->objects[i];

		if (number_in(o, name) || (!o->is_port && streq(o->name, name)))
			object_done(o);
		else
			fold->objects[n++] = *o;
	}
	fold->n = n;
}

static bool rename_device(RecordFold *fold, const char *was, const char *name)
{
	for (size_t i = 0; i < fold->n; i++) {
		FoldedObject *o = &fold->objects[i];
		const char *number = number_in(o, was);
		char *renamed = NULL;

		if (!number && (o->is_port || !streq(o->name, was)))
			continue;
		if (asprintf(&renamed, "%s%s%s", name, number ? "/" : "", number ? number : "") < 0)
			return false;
		free(o->name);
		o->name = renamed;
	}
	return true;
}

/* Values */

/* KEY is "TABLE.n", and VALUE how many entries the table has: the others go. */
static void cut_table(FoldedObject *o, const char *key, const char *value)
{
	size_t length = strlen(key) - 1, n = 0;
	unsigned long entries = strtoul(value, NULL, 10);

	for (size_t i = 0; i < o->n; i++) {
		FoldedValue *v = &o->values[i];
		const char *place = strncmp(v->key, key, length) == 0 ? v->key + length : "n";

		if (*place >= '0' && *place <= '9' && strtoul(place, NULL, 10) >= entries) {
			free(v->key);
			free(v->value);
		} else {
			o->values[n++] = *v;
		}
	}
	o->n = n;
}

static bool set_value(FoldedObject *o, const char *key, const char *value)
{
	FoldedValue *v;
	size_t i = 0;

	while (i < o->n && !streq(o->values[i].key, key))
		i++;
	if (i == o->n) {
		if (!array_grow(o->values, o->n))
			return false;
		o->values[o->n++] = (FoldedValue){.key = strdup(key)};
	}
	v = &o->values[i];
	free(v->value);
	v->value = strdup(value);
	return v->key && v->value;
}

/* Commands */

/* Takes a word "KEY=VALUE". */
static bool take_setting(FoldedObject *o, char *word)
{
	char *value = strchr(word, '=');
	size_t length = value ? (size_t)(value - word) : 0;

	if (!value)
		return true;
	*value++ = '\0';
	if (!set_value(o, word, value))
		return false;
	if (length > 2 && streq(word + length - 2, ".n"))
		cut_table(o, word, value);
	return true;
}

/* "set" or "answer" */
static bool take_values(RecordFold *fold, const RecordStep *step)
{
	const Words *w = &step->line.command;
	const char *said[_RECORD_KEY_MAX] = {}, *name = w->words[1], *error, *code, *text;
	FoldedObject *o = record_fold_find(fold, name);

	if (!o)
		o = add_object(fold, name, strchr(name, '/'));
	for (size_t i = 2; o && i < w->n; i++) {
		RecordKey key = record_key_of(w->words[i]);

		if (key < _RECORD_KEY_MAX)
			said[key] = w->words[i];
		else if (!take_setting(o, w->words[i]))
			return false;
	}
	error = said[RECORD_KEY_ERROR];
	code = said[RECORD_KEY_CODE];
	text = said[RECORD_KEY_TEXT];
	if (!o || step->verb != VERB_ANSWER ||
	    (!error && said[RECORD_KEY_LISTED] && streq(said[RECORD_KEY_LISTED], "listed=yes")))
		return o;
	free(o->error);
	o->error = NULL;
	return !error || asprintf(&o->error, "%s%s%s \"%s\"", error, code ? " " : "",
				  code ? code : "", text ? text : "text=%") >= 0;
}

static bool take_added(RecordFold *fold, const Words *w)
{
	FoldedObject *o;

	remove_device(fold, w->words[1]);
	o = add_object(fold, w->words[1], false);
	if (!o || !set_value(o, "recorded", "yes"))
		return false;
	for (size_t i = 2; i < w->n; i++)
		if (record_key_of(w->words[i]) == _RECORD_KEY_MAX && !take_setting(o, w->words[i]))
			return false;
	return true;
}

/* Whether each port of the device D has answered, or could not. */
static bool has_all_ports(const RecordFold *fold, const FoldedObject *d)
{
	uint64_t n = 0;

	(void)text_to_u64(record_fold_value(d, "ports"), RDMA_PORT_MAX, &n);
	for (; n > 0; n--) {
		_cleanup_free_ char *name = NULL;

		if (asprintf(&name, "%s/%" PRIu64, d->name, n) < 0 || !record_fold_find(fold, name))
			return false;
	}
	return true;
}

static bool take_command(RecordFold *fold, const RecordStep *step, const char *text)
{
	const Words *w = &step->line.command;
	FoldedObject *device = record_fold_device(fold, w->words[1]), *o;

	if (device && device->lines && !add_line(&device->lines, &device->n_lines, text))
		return false;
	switch (step->verb) {
	case VERB_SET:
	case VERB_ANSWER:
		return take_values(fold, step);
	case VERB_ADD:
		return take_added(fold, w) && (o = record_fold_find(fold, w->words[1])) &&
		       add_line(&o->lines, &o->n_lines, text);
	case VERB_ASKED:
		if (!device)
			break;
		device->is_asked = true;
		return true;
	case VERB_REMOVE:
		remove_device(fold, w->words[1]);
		return true;
	case VERB_RENAME:
		if (w->n < 3)
			break;
		return rename_device(fold, w->words[1], w->words[2]);
	case VERB_NOTED:
	case VERB_FINDING:
		return true;
	case VERB_EVENT:
	case VERB_STALL:
	case VERB_UNSTALL:
	case VERB_FAIL:
	case _VERB_MAX:
		break;
	}
	return add_line(&fold->others, &fold->n_others, text);
}

bool record_fold_take(RecordFold *fold, const RecordStep *step, const char *text)
{
	FoldedObject *device;

	if (!take_command(fold, step, text))
		return false;
	device = record_fold_device(fold, step->line.command.words[1]);
	if (device && device->lines && device->is_asked && has_all_ports(fold, device))
		free_lines(&device->lines, &device->n_lines);
	return true;
}

/* The command of a line of the script. */
static const char *command_of(const char *line)
{
	line += strcspn(line, ":") + 1;
	return line + strspn(line, BLANKS);
}

/* Takes the lines that were held, and LINE, whose words are STEP. */
static ExitStatus take_lines(RecordFold *fold, RecordReader *r, const RecordStep *step,
			     const char *line)
{
	for (size_t i = 0; i < fold->n_held; i++) {
		RecordStep held;
		char copy[SCENARIO_LINE_MAX + 1];
		ExitStatus status;
		bool is_step;

		text_copy(copy, sizeof(copy), fold->held[i]);
		status = record_step_read(r, copy, &held, &is_step);
		if (status != STATUS_OK)
			return status;
		if (is_step && !record_fold_take(fold, &held, command_of(fold->held[i])))
			return out_of_memory();
	}
	free_lines(&fold->held, &fold->n_held);
	return record_fold_take(fold, step, command_of(line)) ? STATUS_OK : out_of_memory();
}

/* Sections */

ExitStatus record_fold_take_section(RecordFold *fold, const RecordFile *f, char *line)
{
	_cleanup_free_ char *name = NULL, *message = NULL;
	char *key, *value;
	ExitStatus status;
	bool is_port;

	line = text_trim(line);
	if (*line == '[') {
		status = record_heading_read(f, line, &name, &is_port);
		if (status != STATUS_OK)
			return status;
		return add_object(fold, name, is_port) ? STATUS_OK : out_of_memory();
	}
	if (!*line || *line == '#')
		return STATUS_OK;
	if (fold->n == 0)
		return record_file_refuse(f, "expected a heading before");
	if (setting_parse(line, &key, &value, &message) < 0)
		return message ? record_file_refuse(f, message) : out_of_memory();
	return set_value(&fold->objects[fold->n - 1], key, value) ? STATUS_OK : out_of_memory();
}

/* Takes LINE of the script; *RET_END: it is the first that is not before fold->since_usec. */
static ExitStatus take_script(RecordFold *fold, RecordReader *r, const char *line, bool *ret_end)
{
	char copy[SCENARIO_LINE_MAX + 1];
	RecordStep *step = &r->step;
	uint64_t before;
	ExitStatus status;
	bool is_step;

	text_copy(copy, sizeof(copy), line);
	status = record_step_read(r, copy, step, &is_step);
	if (status == STATUS_OK && script_speed(line)) {
		free(fold->speed);
		fold->speed = strdup(line);
		return fold->speed ? STATUS_OK : out_of_memory();
	}
	if (status != STATUS_OK || !is_step)
		return status;
	if (step->verb == VERB_SET)
		return add_line(&fold->held, &fold->n_held, line) ? STATUS_OK : out_of_memory();
	*ret_end = step->realtime_usec >= fold->since_usec;
	if (!*ret_end) {
		fold->begin_usec = step->line.at_usec;
		return take_lines(fold, r, step, line);
	}
	/* the clock may have been set since the step before */
	before = step->realtime_usec - fold->since_usec;
	if (before < step->line.at_usec)
		fold->begin_usec = MAX(fold->begin_usec, step->line.at_usec - before);
	return STATUS_OK;
}

ExitStatus record_fold_read(RecordFold *fold, RecordFile *f, RecordReader *r, char **ret)
{
	ExitStatus status = STATUS_OK;
	bool end = false, script = false;
	char *line = NULL;

	record_reader_begin(r, f);
	while (status == STATUS_OK && !end) {
		status = record_file_next(f, &line);
		if (status != STATUS_OK || !line)
			break;
		if (f->part == PART_SCRIPT && script)
			status = take_script(fold, r, line, &end);
		else if (f->part == PART_STATE)
			status = record_fold_take_section(fold, f, line);
		script = f->part == PART_SCRIPT;
	}
	if (status == STATUS_OK && !line && r->origin_usec <= fold->since_usec)
		fold->begin_usec = MAX(fold->begin_usec, fold->since_usec - r->origin_usec);
	*ret = line;
	return status;
}

/* Printing */

static void print_time(uint64_t usec, FILE *out)
{
	char text[SCRIPT_TIME_SIZE];

	script_time_write(text, usec);
	fputs(text, out);
}

static void print_name(const char *name, FILE *out)
{
	char word[WORD_SIZE(SCENARIO_LINE_MAX)];

	word_write(word, name);
	fputs(word, out);
}

void record_fold_print_step(const RecordFold *fold, uint64_t at_usec, const char *line, FILE *out)
{
	print_time(at_usec > fold->begin_usec ? at_usec - fold->begin_usec : 0, out);
	fprintf(out, "%s\n", command_of(line));
}

static void print_section(const FoldedObject *o, FILE *out)
{
	fputs(o->is_port ? "[port " : "[device ", out);
	print_name(o->name, out);
	fputs("]\n", out);
	for (size_t i = 0; i < o->n; i++)
		fprintf(out, "%s = %s\n", o->values[i].key, o->values[i].value);
}

/* A device has its ports behind it. */
static void print_device(const RecordFold *fold, const FoldedObject *device, FILE *out)
{
	print_section(device, out);
	for (size_t i = 0; i < fold->n; i++)
		if (number_in(&fold->objects[i], device->name))
			print_section(&fold->objects[i], out);
}

static void print_lines(char *const *lines, size_t n, FILE *out)
{
	for (size_t i = 0; i < n; i++) {
		print_time(0, out);
		fprintf(out, "%s\n", lines[i]);
	}
}

void record_fold_print(const RecordFold *fold, const RecordReader *r, uint64_t speed, FILE *out)
{
	const RecordHead *head = &r->file->head;

	fprintf(out, "# rdmad record %u\n# realtime %" PRIu64 "\n# monotonic %" PRIu64 "\n",
		RECORD_FORMAT, fold->since_usec, head->monotonic_usec + fold->begin_usec);
	if (*head->boot)
		fprintf(out, "# boot %s\n", head->boot);
	fputs("# begins since\n", out);
	for (size_t i = 0; i < fold->n; i++)
		if (!fold->objects[i].is_port && !fold->objects[i].lines)
			print_device(fold, &fold->objects[i], out);
	fputs("[script]\n", out);
	if (speed)
		fprintf(out, "speed = %" PRIu64 "\n", speed);
	else if (fold->speed)
		fprintf(out, "%s\n", fold->speed);
	for (size_t i = 0; i < fold->n; i++) {
		const FoldedObject *o = &fold->objects[i],
				   *device = record_fold_device(fold, o->name);

		if (!o->error || (device && device->lines))
			continue;
		print_time(0, out);
		fputs("answer ", out);
		print_name(o->name, out);
		fprintf(out, " time=%" PRIu64 " %s\n", fold->since_usec, o->error);
	}
	print_lines(fold->others, fold->n_others, out);
	for (size_t i = 0; i < fold->n; i++)
		print_lines(fold->objects[i].lines, fold->objects[i].n_lines, out);
	for (size_t i = 0; i < fold->n_held; i++)
		record_fold_print_step(fold, r->step.line.at_usec, fold->held[i], out);
}

void record_fold_done(RecordFold *fold)
{
	for (size_t i = 0; i < fold->n; i++)
		object_done(&fold->objects[i]);
	free(fold->objects);
	free(fold->speed);
	free_lines(&fold->held, &fold->n_held);
	free_lines(&fold->others, &fold->n_others);
}
