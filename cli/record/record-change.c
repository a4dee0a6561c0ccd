/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "record-change.h"

#include "section.h"

#define VALUES_MAX 65536U /* in a change */

/* Lines */

/* Refuses the line of F because of MESSAGE, which is freed; NULL: there was no memory for it. */
static ExitStatus refuse(const RecordFile *f, char *message)
{
	ExitStatus status = message ? record_file_refuse(f, message) : out_of_memory();

	free(message);
	return status;
}

ExitStatus record_word_read(const RecordFile *f, char *word)
{
	return word_parse(word, word, strlen(word) + 1) == 0
		       ? STATUS_OK
		       : record_file_refuse(f, "expected two hexadecimal digits, which are not 00, "
					       "behind %");
}

ExitStatus record_heading_read(const RecordFile *f, char *line, char **ret_name, bool *ret_is_port)
{
	_cleanup_free_ char *name = NULL;
	char *message = NULL;
	ExitStatus status;
	Heading h;

	if (heading_parse(line, &h, &message) < 0)
		return refuse(f, message);
	if (h.kind == SECTION_SCRIPT || (h.kind == SECTION_PORT && h.port == 0))
		return record_file_refuse(f, "expected the name of a device or a port");
	if ((h.kind == SECTION_PORT ? asprintf(&name, "%s/%u", h.name, h.port)
				    : asprintf(&name, "%s", h.name)) < 0) {
		name = NULL;
		return out_of_memory();
	}
	status = record_word_read(f, name);
	if (status != STATUS_OK)
		return status;
	*ret_is_port = h.kind == SECTION_PORT;
	*ret_name = steal_pointer(&name);
	return STATUS_OK;
}

/* The word "time=" of a step. */
static bool read_realtime(RecordReader *r, RecordStep *step)
{
	const Words *w = &step->line.command;

	for (size_t i = 1; i < w->n; i++) {
		const char *text = startswith(w->words[i], "time=");
		uint64_t usec;

		if (!text)
			continue;
		if (text_to_u64(text, RECORD_USEC_MAX, &usec) < 0)
			return false;
		r->origin_usec = usec - step->line.at_usec; /* may wrap, and wraps back */
		break;
	}
	step->realtime_usec = r->origin_usec + step->line.at_usec;
	return true;
}

ExitStatus record_step_read(RecordReader *r, char *line, RecordStep *ret, bool *ret_is_step)
{
	const Words *w = &ret->line.command;
	char *message = NULL;
	ExitStatus status;

	*ret_is_step = false;
	line = text_trim(line);
	if (!*line || *line == '#' || *line == '[' || script_speed(line))
		return STATUS_OK;
	if (script_line_parse(line, &ret->line, &message) < 0)
		return refuse(r->file, message);
	if (ret->line.every_usec > 0)
		return record_file_refuse(r->file, "expected a step that happens once");
	if (w->n < 2 || !*w->words[1])
		return record_file_refuse(r->file, "expected a command and a port or device");
	if (!read_realtime(r, ret))
		return record_file_refuse(r->file, "expected time=MICROSECONDS");
	*ret_is_step = true;
	ret->verb = scenario_verb_parse(w->words[0]);
	status = record_word_read(r->file, w->words[1]);
	if (status == STATUS_OK && ret->verb == VERB_RENAME && w->n > 2)
		status = record_word_read(r->file, w->words[2]);
	return status;
}

/* Words */

static bool set_text(char **to, const char *text)
{
	free(*to);
	return (*to = strdup(text)) != NULL;
}

static bool add_reason(RecordChange *c, const char *text)
{
	if (!array_grow(c->reasons, c->n_reasons))
		return false;
	c->reasons[c->n_reasons] = strdup(text);
	return c->reasons[c->n_reasons] && ++c->n_reasons;
}

/* Adds those of "port-error,reconcile". */
static bool add_reasons(RecordChange *c, char *list)
{
	char *reason;

	while ((reason = strsep(&list, ",")))
		if (*reason && !add_reason(c, reason))
			return false;
	return true;
}

/* VALUE: NULL: it is not reported. */
static bool add_value(RecordChange *c, const char *field, const char *value)
{
	RecordValue *v;

	if (!array_grow(c->values, c->n_values))
		return false;
	v = &c->values[c->n_values++];
	*v = (RecordValue){strdup(field), value ? strdup(value) : NULL};
	return v->field && (v->value || !value);
}

/* Takes a word "KEY=VALUE" of a line about C. */
static ExitStatus take_word(RecordReader *r, RecordChange *c, char *word)
{
	char *value = strchr(word, '=');
	bool taken, is_reported, is_value;
	RecordKey key;
	ExitStatus status;

	if (!value || value == word)
		return record_file_refuse(r->file, "expected FIELD=VALUE");
	*value++ = '\0';
	key = record_key_of(word);
	is_value = key == _RECORD_KEY_MAX;
	/* what only matters when it is played */
	if (startswith(word, "answer.") || (!is_value && key != RECORD_KEY_REASONS &&
					    key != RECORD_KEY_ERROR && key != RECORD_KEY_TEXT))
		return STATUS_OK;
	if (c->n_values == VALUES_MAX)
		return record_file_refuse(r->file, "too many values in one change");
	is_reported = *value;
	status = record_word_read(r->file, value);
	if (status != STATUS_OK)
		return status;
	if (key == RECORD_KEY_REASONS)
		taken = add_reasons(c, value);
	else if (!is_value)
		taken = set_text(key == RECORD_KEY_ERROR ? &c->error : &c->message, value);
	else
		taken = add_value(c, word, is_reported ? value : NULL);
	return taken ? STATUS_OK : out_of_memory();
}

/* Changes */

void record_change_done(RecordChange *c)
{
	for (size_t i = 0; i < c->n_reasons; i++)
		free(c->reasons[i]);
	for (size_t i = 0; i < c->n_values; i++) {
		free(c->values[i].field);
		free(c->values[i].value);
	}
	free(c->reasons);
	free(c->values);
	free(c->name);
	free(c->new_name);
	free(c->error);
	free(c->message);
	*c = (RecordChange){};
}

void record_reader_begin(RecordReader *r, RecordFile *file)
{
	r->file = file;
	r->origin_usec = file->head.realtime_usec;
}

void record_reader_done(RecordReader *r)
{
	record_change_done(&r->pending);
	free(r->added);
	r->added = NULL;
	r->held = false;
}

/* The commands that are changes. */
static const struct {
	bool is_change;
	RecordChangeKind kind;
	bool is_part;  /* more lines may belong to the same change */
	bool new_name; /* it has a second name */
} commands[_VERB_MAX + 1] = {
	[VERB_SET] = {true, CHANGE_VALUES, true, false},
	[VERB_ANSWER] = {true, CHANGE_VALUES, false, false},
	[VERB_NOTED] = {true, CHANGE_EVENT, false, false},
	[VERB_ADD] = {true, CHANGE_ADDED, true, false},
	[VERB_REMOVE] = {true, CHANGE_REMOVED, false, false},
	[VERB_RENAME] = {true, CHANGE_RENAMED, false, true},
	[VERB_FINDING] = {true, CHANGE_FINDING, false, false},
};

/* Whether the step is about the device that is being added. */
static bool is_added(const RecordReader *r)
{
	return r->added && r->at_usec == r->step.line.at_usec &&
	       streq(r->step.line.command.words[1], r->added);
}

/* Takes the names of the step; K is the first word after them. */
static ExitStatus take_names(RecordReader *r, ScenarioVerb i, size_t *ret_k)
{
	RecordChange *c = &r->pending;
	const Words *w = &r->step.line.command;

	*ret_k = 2;
	if (!c->name && !(c->name = strdup(w->words[1])))
		return out_of_memory();
	if (commands[i].kind == CHANGE_ADDED && !set_text(&r->added, w->words[1]))
		return out_of_memory();
	if (!commands[i].new_name)
		return STATUS_OK;
	if (w->n < 3)
		return record_file_refuse(r->file, "expected the new name");
	return set_text(&c->new_name, w->words[(*ret_k)++]) ? STATUS_OK : out_of_memory();
}

/* Adds the step, which is command I, to the pending change. */
static ExitStatus take_step(RecordReader *r, ScenarioVerb i)
{
	const RecordStep *s = &r->step;
	const Words *w = &s->line.command;
	RecordChange *c = &r->pending;
	size_t k;
	ExitStatus status = take_names(r, i, &k);

	r->held = false;
	c->kind =
		commands[i].kind == CHANGE_VALUES && is_added(r) ? CHANGE_ADDED : commands[i].kind;
	r->at_usec = s->line.at_usec;
	c->realtime_usec = s->realtime_usec;
	c->monotonic_usec = r->file->head.monotonic_usec + s->line.at_usec;
	for (; status == STATUS_OK && k < w->n; k++)
		if (c->kind != CHANGE_EVENT || strchr(w->words[k], '='))
			status = take_word(r, c, w->words[k]);
		else if (!add_reason(c, w->words[k]))
			status = out_of_memory();
	if (c->error && c->kind == CHANGE_VALUES)
		c->kind = CHANGE_NO_ANSWER;
	return status;
}

/* "[port mlx5_0/1]" */
static ExitStatus say_heading(const RecordReader *r, char *line)
{
	_cleanup_free_ char *name = NULL;
	bool is_port;
	ExitStatus status = record_heading_read(r->file, line, &name, &is_port);

	if (status == STATUS_OK)
		r->heading(r->userdata, name);
	return status;
}

/* Reads the next step; r->held is false at the end. */
static ExitStatus read_step(RecordReader *r)
{
	ExitStatus status = STATUS_OK;
	char *line;

	while (status == STATUS_OK && !r->held) {
		status = record_file_next(r->file, &line);
		if (status != STATUS_OK || !line)
			return status;
		line = text_trim(line);
		if (r->file->part == PART_SCRIPT)
			status = record_step_read(r, line, &r->step, &r->held);
		else if (*line == '[' && r->heading)
			status = say_heading(r, line);
		if (r->held && (r->step.line.at_usec == 0 || !commands[r->step.verb].is_change))
			r->held = false;
	}
	return status;
}

/* Whether the step is not about what the pending lines are about. */
static bool is_of_another(const RecordReader *r)
{
	const ScriptLine *line = &r->step.line;
	ScenarioVerb i = r->step.verb;

	return r->pending.name &&
	       (commands[i].kind != CHANGE_VALUES || r->at_usec != line->at_usec ||
		!streq(r->pending.name, line->command.words[1]));
}

/* Takes the step that is held. *RET_COMPLETE: the pending change is complete. */
static ExitStatus take_held(RecordReader *r, bool *ret_complete)
{
	ScenarioVerb i = r->step.verb;
	ExitStatus status = take_step(r, i);

	*ret_complete = status == STATUS_OK && !commands[i].is_part;
	return status;
}

ExitStatus record_reader_next(RecordReader *r, RecordChange *ret, bool *ret_found)
{
	bool complete = false;

	*ret_found = false;
	while (!complete) {
		ExitStatus status = read_step(r);

		if (status != STATUS_OK || !r->held)
			return status;
		complete = is_of_another(r);
		if (!complete)
			status = take_held(r, &complete);
		if (status != STATUS_OK)
			return status;
	}
	*ret = r->pending;
	r->pending = (RecordChange){};
	*ret_found = true;
	return STATUS_OK;
}
