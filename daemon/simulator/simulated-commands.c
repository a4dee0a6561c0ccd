/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "simulated-commands.h"

#include "command-arguments.h"
#include "command.h"
#include "recorded-commands.h"
#include "recorded-values.h"
#include "simulated-answer.h"
#include "simulated-counters.h"

/* How many ports are changed or made at most when a script is tried: that takes a second. */
#define REHEARSED_MAX (UINT64_C(1) << 20)

typedef struct Command {
	size_t least, most; /* how many arguments it takes */
	const char *usage;
	/* ARGS has N arguments and then NULL. */
	int (*run)(SimulatedMachine *sim, const char *const *args, size_t n, char **ret_message);
	/* The same of a command whose first argument is the device D. */
	int (*run_device)(SimulatedMachine *sim, SimulatedDevice *d, const char *const *args,
			  char **ret_message);
} Command;

/* Events */

static void tell_device(const SimulatedMachine *sim, uint32_t index, const EventReason *reasons,
			size_t n_reasons)
{
	for (size_t i = 0; i < n_reasons; i++)
		simulated_machine_tell(sim, index, EVENT_ALL_PORTS, reasons[i]);
}

/* The device has come, gone, or changed its name. */
static void tell_device_changed(const SimulatedMachine *sim, uint32_t index, bool recorded)
{
	/* of a record, what is to be asked because of it has been answered too */
	simulated_machine_tell(sim, recorded ? EVENT_ALL_DEVICES : index, EVENT_ALL_PORTS,
			       REASON_DEVICE);
}

static void tell_ports(const SimulatedMachine *sim, const GArray *ports, const EventReason *reasons,
		       size_t n_reasons)
{
	for (guint i = 0; i < ports->len; i++) {
		const PortReference *p = &g_array_index(ports, PortReference, i);

		for (size_t k = 0; k < n_reasons; k++)
			simulated_machine_tell(sim, p->index, p->number, reasons[k]);
	}
}

static int run_event(SimulatedMachine *sim, const char *const *args, size_t n, char **ret_message)
{
	EventReason reasons[SCENARIO_WORDS_MAX];
	CommandTarget t = {};
	int r = command_target_parse(sim, args[0], &t, ret_message);

	for (size_t i = 1; r == 0 && i < n; i++)
		r = command_reason_parse(args[i], &reasons[i - 1], ret_message);
	if (r < 0 || sim->rehearsing)
		return r;
	if (t.ports) {
		g_autoptr(GArray) ports = command_target_ports(sim, &t);

		tell_ports(sim, ports, reasons, n - 1);
	} else {
		tell_device(sim, t.device ? t.device->now.values.index : EVENT_ALL_DEVICES, reasons,
			    n - 1);
	}
	return 0;
}

/* Attributes */

/* Applies the settings to all of the ports, or to none. */
static int set_ports(GArray *ports, const CommandSettings *a, char **ret_message)
{
	g_autofree PortEdit *edits = g_new(PortEdit, ports->len);
	unsigned int line;
	guint n = 0;
	int r = 0;

	while (n < ports->len && r == 0) {
		PortEdit *e = &edits[n];

		port_edit_begin(e, g_array_index(ports, PortReference, n++).port);
		r = port_edit_apply(e, a->settings, a->n, &line, ret_message);
		if (r == 0)
			r = port_edit_finish(e, ret_message);
	}
	for (guint i = 0; i < n; i++) {
		if (r == 0)
			port_edit_commit(&edits[i]);
		else
			port_edit_discard(&edits[i]);
	}
	return r;
}

/* Whether what is set can be set on every port or on none, and decides nothing about what can be
 * set later. Unlike that, an entry of a table needs the length of the table, and an interface. */
static bool are_alike(const CommandSettings *a)
{
	for (size_t i = 0; i < a->n; i++) {
		PortAttr row;

		if (port_attr_from_field(a->settings[i].key, &row) < 0 ||
		    port_attributes[row].size == 0 || row == PORT_ATTR_gid_tbl_len ||
		    row == PORT_ATTR_pkey_tbl_len || row == PORT_ATTR_netdev ||
		    row == PORT_ATTR_ifindex)
			return false;
	}
	return true;
}

static int set_device(SimulatedDevice *d, const CommandSettings *a, char **ret_message)
{
	_cleanup_(device_snapshot_done) DeviceSnapshot next = {};
	DeviceSnapshot before = d->now;

	simulated_answer_device(d, &next);
	for (size_t i = 0; i < a->n; i++) {
		const Setting *s = &a->settings[i];
		int r = d->recorded ? recorded_device_set(&next, s->key, s->value, ret_message)
				    : simulated_device_set(&next, s->key, s->value, ret_message);

		if (r < 0)
			return r;
	}
	d->now = next;
	next = before;
	return 0;
}

static int run_set(SimulatedMachine *sim, const char *const *args, size_t n, char **ret_message)
{
	_cleanup_(command_settings_done) CommandSettings a = {};
	g_autoptr(GArray) ports = NULL;
	CommandTarget t = {};
	int r = command_target_parse(sim, args[0], &t, ret_message);

	if (r < 0)
		return r;
	if (!t.device && !t.ports)
		return scenario_refuse(-EINVAL, ret_message,
				       "*: expected a device, a port, or */* for all ports");
	r = command_settings_parse(args + 1, n - 1, &a, ret_message);
	if (r < 0)
		return r;
	if (t.ports) {
		ports = sim->rehearsing && are_alike(&a) ? command_target_examples(sim, &t)
							 : command_target_ports(sim, &t);
		sim->n_rehearsed += ports->len;
		r = set_ports(ports, &a, ret_message);
		if (r == 0)
			tell_ports(sim, ports, a.reasons, a.n_reasons);
	} else {
		r = set_device(t.device, &a, ret_message);
		if (r == 0)
			tell_device(sim, t.device->now.values.index, a.reasons, a.n_reasons);
	}
	return r;
}

/* Devices that come, go and change their names */

/*
 * Finds what the new device RECIPE->name is made from: the device of that name in the scenario, if
 * there is one, or the one that an argument from=DEVICE names. A device that the scenario has gets
 * the same addresses each time. Leaves the other settings.
 */
static int find_recipe(const SimulatedMachine *sim, CommandSettings *a, DeviceRecipe *recipe,
		       char **ret_message)
{
	size_t n = 0;

	recipe->like = scenario_find(sim->scenario, recipe->name);
	recipe->first_port = recipe->like ? recipe->like->first_port : sim->next_first_port;
	for (size_t i = 0; i < a->n; i++) {
		AttrText from;

		if (!streq(a->settings[i].key, "from")) {
			a->settings[n++] = a->settings[i];
			continue;
		}
		recipe->first_port = sim->next_first_port;
		if (simulated_parse_name(a->settings[i].value, from, ret_message) < 0)
			return -EINVAL;
		recipe->like = scenario_find(sim->scenario, from);
		if (!recipe->like)
			return scenario_refuse(
				-ENOENT, ret_message,
				"from=%.100s: expected a device of the scenario file",
				a->settings[i].value);
	}
	a->n = n;
	recipe->settings = a->settings;
	recipe->n_settings = n;
	return 0;
}

/* Takes "index = " out of the settings. */
static int take_index(CommandSettings *a, uint64_t *ret, char **ret_message)
{
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < a->n && r == 0; i++) {
		if (streq(a->settings[i].key, "index"))
			r = simulated_parse_number("index", a->settings[i].value, 0, INT32_MAX, ret,
						   ret_message);
		else
			a->settings[n++] = a->settings[i];
	}
	a->n = n;
	return r;
}

/* Takes the settings of counters, which ports have, out of A. */
static void take_counters(CommandSettings *a, CommandSettings *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		if (simulated_is_counter(a->settings[i].key))
			ret->settings[ret->n++] = a->settings[i];
		else
			a->settings[n++] = a->settings[i];
	a->n = n;
}

/* What the ports of a new device have counted before. */
static int set_counters(SimulatedDevice *d, const CommandSettings *counters, char **ret_message)
{
	g_autoptr(GArray) ports = g_array_new(false, false, sizeof(PortReference));

	for (uint32_t i = 0; counters->n > 0 && i < d->now.values.port_count; i++) {
		PortReference port = {.port = &d->ports[i]};

		g_array_append_val(ports, port);
	}
	return set_ports(ports, counters, ret_message);
}

static bool is_recorded(const CommandSettings *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (streq(a->settings[i].key, "recorded") && streq(a->settings[i].value, "yes"))
			return true;
	return false;
}

static int run_add(SimulatedMachine *sim, const char *const *args, size_t n, char **ret_message)
{
	_cleanup_(command_settings_done) CommandSettings a = {}, counters = {};
	AttrText name;
	DeviceRecipe recipe = {.name = name};
	uint64_t index = SCENARIO_ANY_INDEX;
	SimulatedDevice *d = NULL;
	unsigned int line;
	int r = simulated_machine_parse_new_name(sim, args[0], name, ret_message);

	if (r < 0)
		return r;
	r = command_settings_parse(args + 1, n - 1, &a, ret_message);
	if (r < 0)
		return r;
	take_counters(&a, &counters);
	r = take_index(&a, &index, ret_message);
	/* a record says all of the device */
	if (r == 0 && !is_recorded(&a))
		r = find_recipe(sim, &a, &recipe, ret_message);
	else if (r == 0)
		recipe = (DeviceRecipe){.name = name,
					.first_port = sim->next_first_port,
					.settings = a.settings,
					.n_settings = a.n};
	if (r < 0)
		return r;
	r = scenario_make_device(sim->scenario, &recipe, &d, &line, ret_message);
	if (r < 0)
		return r;
	r = set_counters(d, &counters, ret_message);
	if (r < 0) {
		simulated_device_free(d);
		return r;
	}
	/* a record says with "asked" when it has said all of the device */
	d->unasked = d->recorded;
	r = simulated_machine_add(sim, d, (uint32_t)index, ret_message);
	if (r < 0)
		return r;
	sim->n_rehearsed += d->now.values.port_count;
	if (recipe.first_port == sim->next_first_port)
		sim->next_first_port += d->now.values.port_count;
	sim->added = d->now.values.index;
	/* and with "answer" when it was published */
	if (d->recorded)
		return 0;
	tell_device_changed(sim, d->now.values.index, false);
	tell_device(sim, d->now.values.index, a.reasons, a.n_reasons);
	return 0;
}

static int run_remove(SimulatedMachine *sim, SimulatedDevice *d, _unused_ const char *const *args,
		      _unused_ char **ret_message)
{
	uint32_t index = d->now.values.index;
	bool recorded = d->recorded;

	simulated_machine_remove(sim, d);
	/* the query is answered with -ENODEV, or in a record, where it may not have been made,
	 * forgotten */
	if (!recorded)
		simulated_machine_resume(sim, index);
	tell_device_changed(sim, index, recorded);
	return 0;
}

static int run_rename(SimulatedMachine *sim, SimulatedDevice *d, const char *const *args,
		      char **ret_message)
{
	AttrText name;
	int r = simulated_machine_parse_new_name(sim, args[1], name, ret_message);

	if (r < 0)
		return r;
	simulated_machine_rename(sim, d, name);
	tell_device_changed(sim, d->now.values.index, d->recorded);
	return 0;
}

/* Faults */

static int run_stall(_unused_ SimulatedMachine *sim, SimulatedDevice *d,
		     _unused_ const char *const *args, _unused_ char **ret_message)
{
	d->stalled = true;
	return 0;
}

static int run_unstall(SimulatedMachine *sim, SimulatedDevice *d, _unused_ const char *const *args,
		       _unused_ char **ret_message)
{
	d->stalled = false;
	simulated_machine_resume(sim, d->now.values.index);
	if (d->wedged) {
		d->wedged = false;
		simulated_machine_tell(sim, d->now.values.index, EVENT_ALL_PORTS, REASON_RECOVERED);
	}
	return 0;
}

static int run_fail(SimulatedMachine *sim, const char *const *args, size_t n, char **ret_message)
{
	g_autoptr(GArray) ports = NULL;
	uint64_t count = 0;
	CommandTarget t = {};
	int r, error = 0;

	r = command_target_parse(sim, args[0], &t, ret_message);
	if (r < 0)
		return r;
	if (!t.ports)
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s: expected a port, NAME/NUMBER or NAME/*", args[0]);
	r = command_errno_parse(args[1], &error, ret_message);
	if (r == 0 && n > 2)
		r = simulated_parse_number("count", args[2], 0, UINT32_MAX, &count, ret_message);
	if (r < 0 || sim->rehearsing)
		return r;
	ports = command_target_ports(sim, &t);
	for (guint i = 0; i < ports->len; i++) {
		SimulatedPort *p = g_array_index(ports, PortReference, i).port;

		p->error = error;
		p->error_count = error ? (uint32_t)count : 0;
	}
	return 0;
}

/* The judge finds it again by itself. */
static int run_finding(_unused_ SimulatedMachine *sim, _unused_ const char *const *args,
		       _unused_ size_t n, _unused_ char **ret_message)
{
	return 0;
}

/* The table of commands */

static const Command commands[] = {
	[VERB_SET] = {2, SCENARIO_WORDS_MAX, "set PORT|DEVICE ATTRIBUTE=VALUE... [event=REASON...]",
		      run_set, NULL},
	[VERB_EVENT] = {2, SCENARIO_WORDS_MAX, "event PORT|DEVICE|* REASON...", run_event, NULL},
	[VERB_ADD] = {1, SCENARIO_WORDS_MAX, "add NAME [from=DEVICE] [ATTRIBUTE=VALUE...]", run_add,
		      NULL},
	[VERB_REMOVE] = {1, 2, "remove DEVICE [time=USEC]", NULL, run_remove},
	[VERB_RENAME] = {2, 3, "rename OLD NEW [time=USEC]", NULL, run_rename},
	[VERB_STALL] = {1, 1, "stall DEVICE", NULL, run_stall},
	[VERB_UNSTALL] = {1, 1, "unstall DEVICE", NULL, run_unstall},
	[VERB_FAIL] = {2, 3, "fail PORT ERRNO|none [COUNT]", run_fail, NULL},
	[VERB_ANSWER] = {1, SCENARIO_WORDS_MAX, "answer PORT|DEVICE [KEY=VALUE...]",
			 recorded_run_answer, NULL},
	[VERB_ASKED] = {1, 2, "asked DEVICE [time=USEC]", recorded_run_asked, NULL},
	[VERB_NOTED] = {2, SCENARIO_WORDS_MAX, "noted PORT|DEVICE reasons=REASON",
			recorded_run_noted, NULL},
	[VERB_FINDING] = {2, SCENARIO_WORDS_MAX, "finding PORT|DEVICE|* KEY=VALUE...", run_finding,
			  NULL},
};

int simulated_commands_run(SimulatedMachine *sim, const char *const *words, char **ret_message)
{
	ScenarioVerb verb = words[0] ? scenario_verb_parse(words[0]) : _VERB_MAX;
	const Command *c = &commands[verb];
	SimulatedDevice *d = NULL;
	size_t n = 0;
	int r;

	while (words[n])
		n++;
	if (n > SCENARIO_WORDS_MAX)
		return scenario_refuse(-EINVAL, ret_message, "too many words, expected at most %u",
				       SCENARIO_WORDS_MAX);
	if (verb == _VERB_MAX)
		return scenario_refuse(
			-EINVAL, ret_message,
			"%.100s: not a command, expected set, event, add, remove, rename, "
			"stall, unstall, fail, answer, asked, noted or finding",
			n ? words[0] : "nothing");
	if (n - 1 < c->least || n - 1 > c->most)
		return scenario_refuse(-EINVAL, ret_message, "%s with %zu arguments, expected %s",
				       words[0], n - 1, c->usage);
	if (c->run)
		return c->run(sim, words + 1, n - 1, ret_message);
	r = simulated_machine_find(sim, words[1], &d, ret_message);
	return r < 0 ? r : c->run_device(sim, d, words + 1, ret_message);
}

int simulated_commands_rehearse(SimulatedMachine *sim, unsigned int *ret_line, char **ret_message)
{
	size_t n;
	const ScenarioStep *steps = scenario_steps(sim->scenario, &n);

	sim->rehearsing = true;
	sim->n_rehearsed = 0;
	for (size_t i = 0; i < n; i++) {
		int r;

		*ret_line = steps[i].line;
		if (sim->n_rehearsed >= REHEARSED_MAX)
			return 1;
		r = simulated_commands_run(sim, (const char *const *)steps[i].words, ret_message);
		if (r < 0)
			return r;
	}
	return 0;
}
