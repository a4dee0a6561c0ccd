/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "record-change.h"

#include "clock.h"

#define VALUES_MAX 65536U /* in a change */

/* Lines */

/* Reads "1.234567s". */
static bool read_time(const char *text, uint64_t *ret_usec)
{
	uint64_t seconds = 0, fraction = 0, digit = USEC_PER_SEC / 10;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9' && seconds <= STEP_TIME_MAX_SEC; text++)
		seconds = seconds * 10 + (uint64_t)(*text - '0');
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9'; text++, digit /= 10)
			fraction += (uint64_t)(*text - '0') * digit;
	*ret_usec = seconds * USEC_PER_SEC + fraction;
	return streq(text, "s") && *ret_usec <= STEP_TIME_MAX_SEC * USEC_PER_SEC;
}

/* Splits TEXT at blanks, but not between quotation marks, which are removed. */
static bool split(char *text, RecordStep *step)
{
	char *to;

	for (step->n = 0; *(text += strspn(text, " "));) {
		bool quoted = false;

		if (step->n == RECORD_WORDS_MAX)
			return false;
		step->words[step->n++] = to = text;
		for (; *text && (quoted || *text != ' '); text++)
			if (*text == '"')
				quoted = !quoted;
			else
				*to++ = *text;
		if (quoted)
			return false;
		text += *text == ' ';
		*to = '\0';
	}
	return true;
}

/* The word "time=" of a step. */
static bool read_realtime(RecordReader *r, RecordStep *step)
{
	for (size_t i = 1; i < step->n; i++) {
		const char *text = startswith(step->words[i], "time=");
		uint64_t usec;

		if (!text)
			continue;
		if (text_to_u64(text, RECORD_USEC_MAX, &usec) < 0)
			return false;
		r->origin_usec = usec - step->at_usec; /* may wrap, and wraps back */
		break;
	}
	step->realtime_usec = r->origin_usec + step->at_usec;
	return true;
}

ExitStatus record_step_read(RecordReader *r, char *line, RecordStep *ret, bool *ret_is_step)
{
	char *colon, *time;

	*ret_is_step = false;
	if (!*line || *line == '#' || *line == '[' || startswith(line, "speed"))
		return STATUS_OK;
	time = CONST_CAST(char *, startswith(line, "at "));
	colon = time ? strchr(time, ':') : NULL;
	if (!colon)
		return record_file_refuse(r->file, "expected \"at TIME: COMMAND\"");
	*colon = '\0';
	if (!read_time(time, &ret->at_usec))
		return record_file_refuse(r->file, "expected a time such as 1.234567s");
	if (!split(colon + 1, ret))
		return record_file_refuse(r->file,
					  "too many words, or a quotation mark is not closed");
	if (ret->n < 2)
		return record_file_refuse(r->file, "expected a command and a port or device");
	if (!read_realtime(r, ret))
		return record_file_refuse(r->file, "expected time=MICROSECONDS");
	*ret_is_step = true;
	return STATUS_OK;
}

/* Words */

static int hex_digit(char c)
{
	const char *digits = "0123456789ABCDEF", *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

/* Makes each %XX of TEXT the byte that it stands for, if that can be printed. Returns TEXT. */
static char *decode(char *text)
{
	char *to = text;

	if (streq(text, "%")) { /* an empty text */
		*text = '\0';
		return text;
	}
	for (const char *p = text; *p; p++) {
		int high = *p == '%' ? hex_digit(p[1]) : -1;
		int low = high >= 0 ? hex_digit(p[2]) : -1;

		if (low >= 0) {
			int byte = high << 4 | low;

			*to++ = byte ? (char)byte : '?';
			p += 2;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
	text_sanitize(text, (size_t)(to - text) + 1);
	return text;
}

/* The same of a copy; NULL without memory. */
static char *decoded(const char *text)
{
	char *copy = strdup(text);

	return copy ? decode(copy) : NULL;
}

static bool set_text(char **to, const char *text)
{
	free(*to);
	return (*to = decoded(text)) != NULL;
}

void *record_grow(void *items, size_t n, size_t size)
{
	return (n & (n - 1)) == 0 ? reallocarray(items, n > 0 ? 2 * n : 1, size) : items;
}

static bool add_reason(RecordChange *c, const char *text)
{
	char **items = record_grow(c->reasons, c->n_reasons, sizeof(*items));

	if (!items)
		return false;
	c->reasons = items;
	c->reasons[c->n_reasons] = decoded(text);
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

static bool add_value(RecordChange *c, const char *field, const char *value)
{
	RecordValue *items = record_grow(c->values, c->n_values, sizeof(*items)), *v;

	if (!items)
		return false;
	c->values = items;
	v = &c->values[c->n_values++];
	*v = (RecordValue){decoded(field), *value ? decoded(value) : NULL};
	return v->field && (v->value || !*value);
}

/* Takes a word "KEY=VALUE" of a line about C. */
static ExitStatus take_word(RecordReader *r, RecordChange *c, char *word)
{
	char *value = strchr(word, '=');
	bool taken;

	if (!value || value == word)
		return record_file_refuse(r->file, "expected FIELD=VALUE");
	*value++ = '\0';
	/* what only matters when it is played */
	if (streq(word, "time") || streq(word, "recorded") || streq(word, "open") ||
	    streq(word, "listed") || streq(word, "code") || startswith(word, "answer."))
		return STATUS_OK;
	if (c->n_values == VALUES_MAX)
		return record_file_refuse(r->file, "too many values in one change");
	if (streq(word, "reasons"))
		taken = add_reasons(c, value);
	else if (streq(word, "error"))
		taken = set_text(&c->error, value);
	else if (streq(word, "text") && c->error)
		taken = set_text(&c->message, value);
	else
		taken = add_value(c, word, value);
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
	const char *name;
	RecordChangeKind kind;
	bool is_part;  /* more lines may belong to the same change */
	bool new_name; /* it has a second name */
} commands[] = {
	{"set", CHANGE_VALUES, true, false},	  {"answer", CHANGE_VALUES, false, false},
	{"noted", CHANGE_EVENT, false, false},	  {"add", CHANGE_ADDED, true, false},
	{"remove", CHANGE_REMOVED, false, false}, {"rename", CHANGE_RENAMED, false, true},
	{"ports", CHANGE_PORTS, false, false},
};

/* ARRAY_SIZE(commands): it is none. */
static size_t find_command(const char *name)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(commands) && !streq(commands[i].name, name))
		i++;
	return i;
}

/* Whether the step is about the device that is being added. */
static bool is_added(const RecordReader *r)
{
	return r->added && r->at_usec == r->step.at_usec && streq(r->step.words[1], r->added);
}

/* Takes the names of the step; K is the first word after them. */
static ExitStatus take_names(RecordReader *r, size_t i, size_t *ret_k)
{
	RecordChange *c = &r->pending;
	const RecordStep *s = &r->step;

	*ret_k = 2;
	if (!c->name && !(c->name = strdup(s->words[1])))
		return out_of_memory();
	if (commands[i].kind == CHANGE_ADDED) {
		free(r->added);
		r->added = strdup(s->words[1]);
		if (!r->added)
			return out_of_memory();
	}
	if (!commands[i].new_name)
		return STATUS_OK;
	if (s->n < 3)
		return record_file_refuse(r->file, "expected the new name");
	return set_text(&c->new_name, s->words[(*ret_k)++]) ? STATUS_OK : out_of_memory();
}

/* Adds the step, which is command I, to the pending change. */
static ExitStatus take_step(RecordReader *r, size_t i)
{
	const RecordStep *s = &r->step;
	RecordChange *c = &r->pending;
	size_t k;
	ExitStatus status = take_names(r, i, &k);

	r->held = false;
	c->kind =
		commands[i].kind == CHANGE_VALUES && is_added(r) ? CHANGE_ADDED : commands[i].kind;
	r->at_usec = s->at_usec;
	c->realtime_usec = s->realtime_usec;
	c->monotonic_usec = r->file->head.monotonic_usec + s->at_usec;
	for (; status == STATUS_OK && k < s->n; k++)
		if (c->kind != CHANGE_EVENT || strchr(s->words[k], '='))
			status = take_word(r, c, s->words[k]);
		else if (!add_reason(c, s->words[k]))
			status = out_of_memory();
	if (c->error && c->kind == CHANGE_VALUES)
		c->kind = CHANGE_NO_ANSWER;
	return status;
}

/* "[port mlx5_0/1]" */
static void say_heading(RecordReader *r, char *line)
{
	char *name = strchr(line, ' '), *end = strrchr(line, ']');

	if (!name || !end)
		return;
	*end = '\0';
	r->heading(r->userdata, decode(name + 1));
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
		if (r->file->section == SECTION_SCRIPT)
			status = record_step_read(r, line, &r->step, &r->held);
		else if (*line == '[' && r->heading)
			say_heading(r, line);
		if (r->held && (r->step.at_usec == 0 ||
				find_command(r->step.words[0]) == ARRAY_SIZE(commands)))
			r->held = false;
		if (r->held && !*decode(r->step.words[1]))
			status = record_file_refuse(r->file, "expected a port or device");
	}
	return status;
}

/* Whether the step is not about what the pending lines are about. */
static bool is_of_another(const RecordReader *r)
{
	size_t i = find_command(r->step.words[0]);

	return r->pending.name &&
	       (commands[i].kind != CHANGE_VALUES || r->at_usec != r->step.at_usec ||
		!streq(r->pending.name, r->step.words[1]));
}

/* Takes the step that is held. *RET_COMPLETE: the pending change is complete. */
static ExitStatus take_held(RecordReader *r, bool *ret_complete)
{
	size_t i = find_command(r->step.words[0]);
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
