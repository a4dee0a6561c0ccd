/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "record-verify.h"

#include <inttypes.h>

#include "list.h"
#include "row-set.h"

#define BROKEN_SHOWN 10U

typedef enum Rule { LIFE, LIST, LOOK_ACTIVE, LOOK_ERROR, TIME, WHOLE, DIFFERS, GOES_ON } Rule;

/* rdmactl-record(1) has them too. */
static const char *const rules[] = {
	[LIFE] = "a device comes, is asked once, and goes; of others nothing is said",
	[LIST] = "the list of devices speaks only for those that do not answer",
	[LOOK_ACTIVE] =
		"a port-active that is noted is a reason of one of the next two answers to events",
	[LOOK_ERROR] =
		"a port-error that is noted is a reason of one of the next two answers to events",
	[TIME] = "time does not go back",
	[WHOLE] = "what is set is answered at once, before anything else happens",
	[DIFFERS] = "a value that is recorded is another one than before",
	[GOES_ON] = "a segment that goes on from the one before has its devices and values",
};

typedef enum State { GONE = 1, COMING, THERE, ANSWERS, SILENT, QUIET, TOLD, LATE } State;
typedef enum Event {
	COMES = 1,
	MEANT,
	ASKED,
	GOES,
	ANSWERED,
	FAILED,
	LISTED,
	NOTED,
	TAKEN,
	PASSED
} Event;

/* What may follow what, for each of the first rules. */
static const struct {
	State from;
	Event event;
	State to;
} transitions[] = {
	{GONE, COMES, COMING},
	{COMING, MEANT, COMING},
	{COMING, ASKED, THERE},
	{COMING, GOES, GONE},
	{THERE, MEANT, THERE},
	{THERE, GOES, GONE},

	{ANSWERS, ANSWERED, ANSWERS},
	{ANSWERS, FAILED, SILENT},
	{SILENT, LISTED, SILENT},
	{SILENT, FAILED, SILENT},
	{SILENT, ANSWERED, ANSWERS},

	/* one answer may pass an event by: it was asked for before the event came */
	{QUIET, NOTED, TOLD},
	{QUIET, TAKEN, QUIET},
	{QUIET, PASSED, QUIET},
	{TOLD, NOTED, TOLD},
	{TOLD, TAKEN, QUIET},
	{TOLD, PASSED, LATE},
	{LATE, NOTED, LATE},
	{LATE, TAKEN, QUIET},
};

/* What is in the sections begins so. */
static const State first[RECORD_MACHINES] = {THERE, ANSWERS, QUIET, QUIET};

/* NAME is a device or port, KEY a value of it; each may be "". */
static void say(RecordVerifier *v, Rule rule, const char *name, const char *key)
{
	if (v->n_broken++ < BROKEN_SHOWN)
		fprintf(v->context->out, "%s:%u: %s%s%s: %s\n", v->file->path, v->file->line, name,
			*key ? " " : "", key, rules[rule]);
}

/* O, which is called NAME and NULL if it is not there, takes EVENT. Returns its state then; 0: it
 * cannot take the event. */
static State take_event(RecordVerifier *v, const char *name, FoldedObject *o, Rule rule,
			Event event)
{
	State from = !o ? GONE : o->states[rule] ? o->states[rule] : first[rule];

	for (size_t i = 0; i < ARRAY_SIZE(transitions); i++)
		if (transitions[i].from == from && transitions[i].event == event) {
			if (o)
				o->states[rule] = (unsigned char)transitions[i].to;
			return transitions[i].to;
		}
	say(v, rule, name, "");
	return 0;
}

/* Values */

/* Whether KEY of O, perhaps an entry of a table, is recorded always, and only, when it is another
 * one. */
static bool is_compared(const FoldedObject *o, const char *key)
{
	const char *dot = strchr(key, '.');
	const Attribute *row = NULL;
	PortAttr port;
	DeviceAttr device;
	char field[64];

	text_copy(field, sizeof(field), key);
	field[strcspn(field, ".")] = '\0';
	if (o->is_port && port_attr_from_field(field, &port) == 0)
		row = &port_attributes[port];
	else if (!o->is_port && device_attr_from_field(field, &device) == 0)
		row = &device_attributes[device];
	return row && row->class != CLASS_COUNTER && !row_is_count(row) &&
	       !(dot && streq(dot, ".n"));
}

static void check_values(RecordVerifier *v, const FoldedObject *o, const Words *w)
{
	for (size_t i = 2; i < w->n; i++) {
		const char *value = strchr(w->words[i], '=');
		char key[64] = "";

		if (!value || record_key_of(w->words[i]) < _RECORD_KEY_MAX)
			continue;
		text_copy(key, MIN(sizeof(key), (size_t)(value - w->words[i]) + 1), w->words[i]);
		if (is_compared(o, key) && streq(record_fold_value(o, key), value + 1))
			say(v, DIFFERS, o->name, key);
	}
}

/* WAS of the segment before is IS in the sections of this one. An empty value is none. */
static void compare_object(RecordVerifier *v, const FoldedObject *was, const FoldedObject *is)
{
	for (size_t i = 0; i < was->n; i++) {
		const char *key = was->values[i].key;

		if (is_compared(was, key) &&
		    !streq(was->values[i].value, record_fold_value(is, key)))
			say(v, GOES_ON, was->name, key);
	}
	for (size_t i = 0; i < is->n; i++) {
		const char *key = is->values[i].key;

		if (is_compared(is, key) && *is->values[i].value &&
		    !array_find(was->values, was->n, key, key))
			say(v, GOES_ON, is->name, key);
	}
}

/* The sections have been read. A device of which not all had been asked is not in them. */
static void compare_before(RecordVerifier *v)
{
	for (size_t i = 0; i < v->before.n; i++) {
		const FoldedObject *was = &v->before.objects[i];
		const FoldedObject *is = record_fold_find(&v->fold, was->name);
		const FoldedObject *device = record_fold_device(&v->before, was->name);

		if (is)
			compare_object(v, was, is);
		else if (!device || !device->lines)
			say(v, GOES_ON, was->name, "");
	}
	for (size_t i = 0; i < v->fold.n; i++)
		if (!record_fold_find(&v->before, v->fold.objects[i].name))
			say(v, GOES_ON, v->fold.objects[i].name, "");
}

/* Steps */

static const char *said_of(const Words *w, RecordKey key)
{
	for (size_t i = 2; i < w->n; i++) {
		const char *value = strchr(w->words[i], '=');

		if (value && record_key_of(w->words[i]) == key)
			return value + 1;
	}
	return "";
}

/* Whether an event about the state may still wait when an answer for REASONS comes: a question of a
 * caller does not wait with it, and a worker asks by itself about a table. */
static bool is_beside(const char *reasons)
{
	ListReader words = list_reader(ATTR_WORDS, reasons);
	ListItem reason;

	while (list_next(&words, &reason))
		if (!streq(reason.word, "query") && !streq(reason.word, "refresh") &&
		    !streq(reason.word, "pkey-change") && !streq(reason.word, "gid-change"))
			return false;
	return !words.damaged;
}

/* "answer" and "noted" of the port O. */
static void take_reasons(RecordVerifier *v, const RecordStep *step, FoldedObject *o)
{
	static const char *const names[RECORD_MACHINES] = {
		[LOOK_ACTIVE] = "port-active", [LOOK_ERROR] = "port-error"};
	const char *reasons = said_of(&step->line.command, RECORD_KEY_REASONS);

	for (Rule rule = LOOK_ACTIVE; rule <= LOOK_ERROR; rule++) {
		bool has = strstr(reasons, names[rule]);

		if (step->verb == VERB_NOTED && has)
			(void)take_event(v, o->name, o, rule, NOTED);
		else if (step->verb == VERB_ANSWER && !is_beside(reasons))
			(void)take_event(v, o->name, o, rule, has ? TAKEN : PASSED);
	}
}

/* What happens to the device or port O. */
static void take_object(RecordVerifier *v, const RecordStep *step, FoldedObject *o)
{
	const Words *w = &step->line.command;
	Event answer = *said_of(w, RECORD_KEY_ERROR)	? FAILED
		       : *said_of(w, RECORD_KEY_LISTED) ? LISTED
							: ANSWERED;

	if (step->verb == VERB_SET || step->verb == VERB_ANSWER)
		check_values(v, o, w);
	if (step->verb == VERB_ANSWER)
		(void)take_event(v, o->name, o, LIST, answer);
	if (o->is_port &&
	    (step->verb == VERB_NOTED || (step->verb == VERB_ANSWER && answer == ANSWERED)))
		take_reasons(v, step, o);
}

/* The device that NAME is, or is a port of; NULL: there is none that has such a port. */
static FoldedObject *device_with(const RecordFold *fold, const char *name)
{
	FoldedObject *d = record_fold_device(fold, name);
	uint64_t limit, number;

	if (!d || streq(d->name, name) ||
	    text_to_u64(record_fold_value(d, "ports"), UINT32_MAX, &limit) < 0)
		return d;
	return text_to_u64(strrchr(name, '/') + 1, limit, &number) == 0 && number > 0 ? d : NULL;
}

static bool check_time(RecordVerifier *v, const RecordStep *step)
{
	const char *name = step->line.command.words[1];
	uint64_t now = v->file->head.monotonic_usec + step->line.at_usec;
	bool is_more =
		step->verb == VERB_SET || step->verb == VERB_ANSWER || step->verb == VERB_RENAME;

	if (now < v->now_usec)
		say(v, TIME, name, "");
	if (v->setting && (now != v->now_usec || !streq(name, v->setting) || !is_more))
		say(v, WHOLE, v->setting, "");
	v->now_usec = now;
	v->n_steps++;
	free(v->setting);
	v->setting = step->verb == VERB_SET ? strdup(name) : NULL;
	return v->setting || step->verb != VERB_SET;
}

static ExitStatus take_step(RecordVerifier *v, const RecordStep *step)
{
	static const Event events[_VERB_MAX + 1] = {
		[VERB_ADD] = COMES,	[VERB_SET] = MEANT,    [VERB_ANSWER] = MEANT,
		[VERB_NOTED] = MEANT,	[VERB_RENAME] = MEANT, [VERB_ASKED] = ASKED,
		[VERB_FINDING] = MEANT, [VERB_REMOVE] = GOES};
	const Words *w = &step->line.command;
	const char *name = w->words[1];
	FoldedObject *o = record_fold_find(&v->fold, name);
	State to;

	if (events[step->verb] == 0) /* of a later rdmad */
		return STATUS_OK;
	if (!check_time(v, step))
		return out_of_memory();
	if (step->verb == VERB_FINDING && streq(name, "*")) /* of the machine */
		return STATUS_OK;
	to = take_event(v, name, device_with(&v->fold, name), LIFE, events[step->verb]);
	if (to == 0)
		return STATUS_OK;
	if (step->verb == VERB_RENAME && w->n > 2)
		(void)take_event(v, w->words[2], record_fold_find(&v->fold, w->words[2]), LIFE,
				 COMES);
	if (o)
		take_object(v, step, o);
	if (!record_fold_take(&v->fold, step, ""))
		return out_of_memory();
	o = record_fold_find(&v->fold, name);
	if (o && step->verb == VERB_ADD)
		o->states[LIFE] = (unsigned char)to;
	return STATUS_OK;
}

/* Segments */

static ExitStatus take_line(RecordVerifier *v, RecordReader *r, char *line)
{
	ExitStatus status;
	bool is_step;

	if (v->file->part == PART_STATE)
		return record_fold_take_section(&v->fold, v->file, line);
	if (v->file->part != PART_SCRIPT)
		return STATUS_OK;
	if (v->goes_on)
		compare_before(v);
	v->goes_on = false;
	status = record_step_read(r, line, &r->step, &is_step);
	return status == STATUS_OK && is_step ? take_step(v, &r->step) : status;
}

ExitStatus record_verify_segment(RecordFile *f, void *verifier)
{
	RecordVerifier *v = verifier;
	const RecordHead *head = &f->head;
	bool is_same_boot = *head->boot && streq(head->boot, v->boot);
	ExitStatus status = STATUS_OK;
	RecordReader r = {};
	char *line = "";

	v->file = f;
	v->goes_on = is_same_boot && !f->is_behind_gap &&
		     (streq(head->begins, "full") || streq(head->begins, "day"));
	if (is_same_boot && head->monotonic_usec < v->now_usec)
		say(v, TIME, "segment", "");
	v->now_usec = head->monotonic_usec;
	record_reader_begin(&r, f);
	while (status == STATUS_OK && line) {
		status = record_file_next(f, &line);
		if (status == STATUS_OK && line)
			status = take_line(v, &r, line);
	}
	record_reader_done(&r);
	/* what a segment says that cannot be read is not all */
	text_copy(v->boot, sizeof(v->boot), status == STATUS_OK ? head->boot : "");
	record_fold_done(&v->before);
	v->before = v->fold;
	v->fold = (RecordFold){};
	free(steal_pointer(&v->setting));
	return status;
}

ExitStatus record_verify_end(RecordVerifier *v, ExitStatus status)
{
	FILE *out = v->context->out;

	record_fold_done(&v->before);
	if (v->n_broken > BROKEN_SHOWN)
		fprintf(out, "... and %" PRIu64 " more\n", v->n_broken - BROKEN_SHOWN);
	fprintf(out, "%" PRIu64 " steps: %s behaviour of the model%s\n", v->n_steps,
		v->n_broken > 0 ? "no" : "a",
		status == STATUS_OK ? "" : ", as far as they were read");
	return v->n_broken > 0 ? MAX(status, STATUS_FAILED) : status;
}
