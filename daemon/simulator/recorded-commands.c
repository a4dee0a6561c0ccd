/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "recorded-commands.h"

#include "command.h"
#include "recorded-values.h"
#include "script-line.h"
#include "simulated-answer.h"

/* The arguments of a command beside the values. */
typedef struct Saying {
	RecordedAnswer answer;
	bool is_listed; /* the list of devices said it, and not the device itself */
	AttrText text;
	Setting settings[SCENARIO_WORDS_MAX];
	size_t n;
	bool has_code;
} Saying;

static int parse_reasons(const char *text, uint32_t *ret, char **ret_message)
{
	g_auto(GStrv) names = g_strsplit(text, ",", -1);

	for (char **name = names; *name; name++) {
		EventReason reason;
		int r = command_reason_parse(*name, &reason, ret_message);

		if (r < 0)
			return r;
		*ret |= REASON_BIT(reason);
	}
	return 0;
}

static int parse_code(Saying *s, const char *text, char **ret_message)
{
	s->has_code = true;
	return query_error_parse(text, &s->answer.code) == 0
		       ? 0
		       : scenario_refuse(-EINVAL, ret_message,
					 "code = %.100s: expected a code of LastErrorCode", text);
}

/* Takes SETTING if it is no value of a row: 1, or 0 if it is one. */
static int take_word(Saying *s, const Setting *setting, char **ret_message)
{
	const char *key = setting->key, *value = setting->value;
	uint64_t usec;
	int r = 1;

	switch (record_key_of(key)) {
	case RECORD_KEY_TIME:
		r = simulated_parse_number(key, value, 0, RECORD_USEC_MAX, &usec, ret_message);
		break;
	case RECORD_KEY_REASONS:
		r = parse_reasons(value, &s->answer.reasons, ret_message);
		break;
	case RECORD_KEY_ERROR:
		r = command_errno_parse(value, &s->answer.error, ret_message);
		break;
	case RECORD_KEY_CODE:
		r = parse_code(s, value, ret_message);
		break;
	case RECORD_KEY_TEXT:
		if (word_parse(value, s->text, sizeof(s->text)) < 0)
			r = scenario_refuse(-EINVAL, ret_message,
					    "text = %.100s: expected text of up to %zu bytes",
					    value, sizeof(s->text) - 1);
		break;
	case RECORD_KEY_OPEN:
		s->answer.is_open = streq(value, "yes");
		break;
	case RECORD_KEY_LISTED:
		s->is_listed = streq(value, "yes");
		break;
	case RECORD_KEY_RECORDED:
	case _RECORD_KEY_MAX:
		return 0;
	}
	return r < 0 ? r : 1;
}

static int parse(Saying *s, CommandSettings *a, const char *const *args, size_t n,
		 char **ret_message)
{
	int r = command_settings_parse(args, n, a, ret_message);

	for (size_t i = 0; r >= 0 && i < a->n; i++) {
		r = take_word(s, &a->settings[i], ret_message);
		if (r == 0)
			s->settings[s->n++] = a->settings[i];
	}
	s->answer.text = s->text;
	if (!s->has_code)
		s->answer.code = query_error_of(s->answer.error, s->text);
	return MIN(r, 0);
}

static int answer_port(const SimulatedMachine *sim, SimulatedPort *p, Saying *s, char **ret_message)
{
	PortSnapshot answer;
	unsigned int line;
	PortEdit edit;
	int r;

	port_edit_begin(&edit, p);
	r = port_edit_apply(&edit, s->settings, s->n, &line, ret_message);
	if (r < 0) {
		port_edit_discard(&edit);
		return r;
	}
	port_edit_commit(&edit);
	p->error = s->answer.error;
	p->error_count = 0;
	if (s->answer.error == 0)
		p->is_open = s->answer.is_open;
	(void)simulated_answer_port(p, READ_ALL, &answer);
	s->answer.port_snapshot = &answer;
	simulated_machine_answer(sim, &s->answer);
	port_snapshot_done(&answer);
	simulated_machine_resume(sim, s->answer.device->now.values.index);
	return 0;
}

static int answer_device(const SimulatedMachine *sim, SimulatedDevice *d, Saying *s,
			 char **ret_message)
{
	_cleanup_(device_snapshot_done) DeviceSnapshot next = {};
	DeviceSnapshot answer, before = d->now;
	int r = 0;

	simulated_answer_device(d, &next);
	for (size_t i = 0; i < s->n && r == 0; i++)
		r = recorded_device_set(&next, s->settings[i].key, s->settings[i].value,
					ret_message);
	if (r < 0)
		return r;
	d->now = next;
	next = before;
	/* a device does not say its parent: only the list does */
	if (s->is_listed ||
	    (d->listed && !streq(TEXT_OF(&next.values, parent), TEXT_OF(&d->now.values, parent)))) {
		simulated_machine_tell(sim, EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE);
		return 0;
	}
	d->failed = s->answer.error < 0;
	simulated_answer_device(d, &answer);
	s->answer.device_snapshot = &answer;
	simulated_machine_answer(sim, &s->answer);
	device_snapshot_done(&answer);
	simulated_machine_resume(sim, d->now.values.index);
	return 0;
}

/* Reads what the command is about; the port, if it is one, is in *RET. */
static int parse_target(const SimulatedMachine *sim, const char *text, Saying *s,
			CommandTarget *ret, char **ret_message)
{
	int r = command_target_parse(sim, text, ret, ret_message);

	if (r < 0)
		return r;
	if (!ret->device || !ret->device->recorded || (ret->ports && !ret->port))
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s: expected a device of a record, or one port of it",
				       text);
	s->answer.device = ret->device;
	s->answer.port = ret->port;
	return 0;
}

int recorded_run_answer(SimulatedMachine *sim, const char *const *args, size_t n,
			char **ret_message)
{
	_cleanup_(command_settings_done) CommandSettings a = {};
	Saying s = {};
	CommandTarget t = {};
	int r = parse_target(sim, args[0], &s, &t, ret_message);

	if (r >= 0)
		r = parse(&s, &a, args + 1, n - 1, ret_message);
	if (r < 0)
		return r;
	return t.port ? answer_port(sim, &t.device->ports[t.port - 1], &s, ret_message)
		      : answer_device(sim, t.device, &s, ret_message);
}

int recorded_run_asked(SimulatedMachine *sim, const char *const *args, _unused_ size_t n,
		       char **ret_message)
{
	Saying s = {};
	CommandTarget t = {};
	int r = parse_target(sim, args[0], &s, &t, ret_message);

	if (r < 0)
		return r;
	if (t.port)
		return scenario_refuse(-EINVAL, ret_message, "%.100s: expected a device", args[0]);
	t.device->unasked = false;
	simulated_machine_resume(sim, t.device->now.values.index);
	return 0;
}

int recorded_run_noted(SimulatedMachine *sim, const char *const *args, size_t n, char **ret_message)
{
	_cleanup_(command_settings_done) CommandSettings a = {};
	Saying s = {};
	CommandTarget t = {};
	int r = parse_target(sim, args[0], &s, &t, ret_message);

	if (r >= 0)
		r = parse(&s, &a, args + 1, n - 1, ret_message);
	if (r >= 0 && s.n > 0)
		r = scenario_refuse(-EINVAL, ret_message, "%.100s: expected reasons=REASON",
				    s.settings[0].key);
	if (r < 0)
		return r;
	/* what it says is published with the answer that followed it */
	if (t.port && s.answer.reasons & REASONS_OF_STATE)
		t.device->ports[t.port - 1].is_open = true;
	for (EventReason reason = 0; reason < _REASON_MAX; reason++)
		if (s.answer.reasons & REASON_BIT(reason))
			simulated_machine_note(sim, t.device->now.values.index, t.port, reason);
	return 0;
}
