/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Long, because the one parser of commands and what each of them does stay together. */

#include "simulated-machine.h"

#include "port-name.h"

static void free_device(void *d)
{
	simulated_device_free(d);
}

void simulated_machine_init(SimulatedMachine *s, Scenario *scenario)
{
	*s = (SimulatedMachine){.scenario = scenario,
				.next_first_port = scenario_port_count(scenario),
				.by_index = g_hash_table_new_full(NULL, NULL, NULL, free_device),
				.by_name = g_hash_table_new(g_str_hash, g_str_equal)};
}

void simulated_machine_done(SimulatedMachine *s)
{
	g_clear_pointer(&s->by_name, g_hash_table_unref);
	g_clear_pointer(&s->by_index, g_hash_table_unref);
	scenario_free(s->scenario);
	s->scenario = NULL;
}

/* ---- devices ---- */

static void remove_device(SimulatedMachine *sim, SimulatedDevice *d)
{
	sim->n_ports -= d->now.values.port_count;
	g_hash_table_remove(sim->by_name, d->now.values.name);
	g_hash_table_remove(sim->by_index, GUINT_TO_POINTER(d->now.values.index));
}

/* Takes D. */
static int insert_device(SimulatedMachine *sim, SimulatedDevice *d, uint32_t index,
			 char **ret_message)
{
	int r = 0;

	if (index == SCENARIO_ANY_INDEX)
		index = sim->next_index;
	if (g_hash_table_contains(sim->by_index, GUINT_TO_POINTER(index)))
		r = simulated_error(-EEXIST, ret_message, "%s: index %u is taken, expected another",
				    d->now.values.name, index);
	else if (index >= INT32_MAX || g_hash_table_size(sim->by_index) >= SCENARIO_DEVICES_MAX ||
		 sim->n_ports + d->now.values.port_count > SCENARIO_PORTS_MAX)
		r = simulated_error(-ENOSPC, ret_message,
				    "%s: too many, expected at most %u devices and %u ports",
				    d->now.values.name, SCENARIO_DEVICES_MAX, SCENARIO_PORTS_MAX);
	if (r < 0) {
		simulated_device_free(d);
		return r;
	}
	DEVICE_SUPPLY(&d->now, index, index);
	sim->next_index = MAX(sim->next_index, index + 1);
	sim->n_ports += d->now.values.port_count;
	g_hash_table_insert(sim->by_index, GUINT_TO_POINTER(index), d);
	g_hash_table_insert(sim->by_name, d->now.values.name, d);
	return 0;
}

SimulatedDevice *simulated_machine_device(const SimulatedMachine *sim, uint32_t index)
{
	return g_hash_table_lookup(sim->by_index, GUINT_TO_POINTER(index));
}

static int find_device(const SimulatedMachine *sim, const char *name, SimulatedDevice **ret,
		       char **ret_message)
{
	SimulatedDevice *d = g_hash_table_lookup(sim->by_name, name);

	if (!d)
		return simulated_error(-ENOENT, ret_message,
				       "%.100s: no such device, expected the name of one that is "
				       "there now",
				       name);
	*ret = d;
	return 0;
}

static int compare_devices(const void *a, const void *b)
{
	const SimulatedDevice *const *x = a, *const *y = b;
	uint32_t i = (*x)->now.values.index, j = (*y)->now.values.index;

	return i < j ? -1 : i > j;
}

/* All devices in the order of their indices. */
GPtrArray *simulated_machine_devices(const SimulatedMachine *sim)
{
	GPtrArray *devices = g_ptr_array_sized_new(g_hash_table_size(sim->by_index));
	GHashTableIter iter;
	void *d;

	g_hash_table_iter_init(&iter, sim->by_index);
	while (g_hash_table_iter_next(&iter, NULL, &d))
		g_ptr_array_add(devices, d);
	if (devices->len)
		qsort(devices->pdata, devices->len, sizeof(void *), compare_devices);
	return devices;
}

/* ---- events ---- */

static void tell(const SimulatedMachine *sim, uint32_t device, uint32_t port, EventReason reason)
{
	const Event event = {.device = device, .port = port, .reason = reason};

	if (sim->event)
		sim->event(sim->userdata, &event);
}

static void tell_device(const SimulatedMachine *sim, uint32_t index)
{
	tell(sim, index, EVENT_ALL_PORTS, REASON_DEVICE);
}

/* A query of the device, if one waits, need not any longer. */
static void resume(const SimulatedMachine *sim, uint32_t index)
{
	if (sim->resumed)
		sim->resumed(sim->userdata, index);
}

static int parse_reason(const char *text, EventReason *ret, char **ret_message)
{
	EventReason reason = event_reason_from_name(text);

	if (reason == _REASON_INVALID)
		return simulated_error(-EINVAL, ret_message,
				       "%.100s: no reason of an event, expected one such as "
				       "port-active, port-error, lid-change or link",
				       text);
	*ret = reason;
	return 0;
}

/* ---- commands ---- */

/* What the first word of most commands names. */
typedef struct Target {
	SimulatedDevice *device; /* NULL: all */
	bool ports;		 /* ports, not the device itself */
	uint32_t port;		 /* 0: all */
} Target;

typedef struct Command {
	const char *name;
	size_t least, most; /* arguments */
	const char *usage;
	int (*run)(SimulatedMachine *sim, char *const *args, size_t n, uint32_t *ret_index,
		   char **ret_message);
} Command;

/* NAME, NAME/NUMBER, "NAME/" with a star, a star for all devices, or a star on both sides of '/' for
 * all ports. */
static int parse_target(const SimulatedMachine *sim, const char *text, Target *ret,
			char **ret_message)
{
	const char *slash = strrchr(text, '/');
	g_autofree char *name = slash ? g_strndup(text, (gsize)(slash - text)) : g_strdup(text);
	Target t = {.ports = slash != NULL};
	AttrText device;
	int r;

	if (!streq(name, "*")) {
		r = find_device(sim, name, &t.device, ret_message);
		if (r < 0)
			return r;
	}
	if (slash && !streq(slash + 1, "*")) {
		if (!t.device)
			return simulated_error(-EINVAL, ret_message,
					       "%.100s: expected */* for all ports", text);
		if (port_name_split(text, device, &t.port) < 0 ||
		    t.port > t.device->now.values.port_count)
			return simulated_error(-ENOENT, ret_message,
					       "%.100s: no such port, expected a number from 1 to "
					       "%u, or *",
					       text, t.device->now.values.port_count);
	}
	*ret = t;
	return 0;
}

typedef struct PortReference {
	SimulatedPort *port;
	uint32_t index, number;
} PortReference;

static void add_ports(GArray *to, SimulatedDevice *d, uint32_t number)
{
	for (uint32_t n = 1; n <= d->now.values.port_count; n++)
		if (number == 0 || n == number) {
			PortReference p = {&d->ports[n - 1], d->now.values.index, n};

			g_array_append_val(to, p);
		}
}

/* The ports of a target; never none. */
static GArray *target_ports(const SimulatedMachine *sim, const Target *t)
{
	GArray *ports = g_array_new(false, false, sizeof(PortReference));
	g_autoptr(GPtrArray) devices = NULL;

	if (t->device && t->port) {
		PortReference p = {&t->device->ports[t->port - 1], t->device->now.values.index,
				   t->port};

		g_array_append_val(ports, p);
	} else if (t->device) {
		add_ports(ports, t->device, 0);
	} else {
		devices = simulated_machine_devices(sim);
		for (guint i = 0; i < devices->len; i++)
			add_ports(ports, g_ptr_array_index(devices, i), 0);
	}
	return ports;
}

static void tell_ports(const SimulatedMachine *sim, const GArray *ports, const EventReason *reasons,
		       size_t n_reasons)
{
	for (guint i = 0; i < ports->len; i++) {
		const PortReference *p = &g_array_index(ports, PortReference, i);

		for (size_t k = 0; k < n_reasons; k++)
			tell(sim, p->index, p->number, reasons[k]);
	}
}

/* The settings of a command, in copies of its words. */
typedef struct Arguments {
	Setting settings[SCENARIO_WORDS_MAX];
	char *copies[SCENARIO_WORDS_MAX];
	size_t n;
	EventReason reasons[SCENARIO_WORDS_MAX];
	size_t n_reasons;
} Arguments;

static void arguments_done(Arguments *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->copies[i]);
}

/* Words KEY=VALUE, and event=REASON among them. */
static int parse_arguments(char *const *args, size_t n, Arguments *ret, char **ret_message)
{
	for (size_t i = 0; i < n; i++) {
		const char *reason = startswith(args[i], "event=");
		char *copy, *equals;
		int r;

		if (reason) {
			r = parse_reason(reason, &ret->reasons[ret->n_reasons], ret_message);
			if (r < 0)
				return r;
			ret->n_reasons++;
			continue;
		}
		if (!strchr(args[i], '='))
			return simulated_error(-EINVAL, ret_message,
					       "%.100s: expected ATTRIBUTE=VALUE or event=REASON",
					       args[i]);
		copy = strdup(args[i]);
		if (!copy)
			return -ENOMEM;
		equals = strchr(copy, '=');
		*equals = '\0';
		ret->copies[ret->n] = copy;
		ret->settings[ret->n++] = (Setting){.key = copy, .value = equals + 1};
	}
	return 0;
}

static int set_ports(GArray *ports, const Arguments *a, char **ret_message)
{
	g_autofree PortEdit *edits = g_new0(PortEdit, ports->len);
	unsigned int line;
	int r = 0;

	for (guint i = 0; i < ports->len && r == 0; i++) {
		port_edit_begin(&edits[i], g_array_index(ports, PortReference, i).port);
		r = port_edit_apply(&edits[i], a->settings, a->n, &line, ret_message);
		if (r == 0)
			r = port_edit_finish(&edits[i], ret_message);
	}
	for (guint i = 0; i < ports->len; i++) {
		if (r == 0)
			port_edit_commit(&edits[i]);
		else
			port_edit_discard(&edits[i]);
	}
	return r;
}

static int run_set(SimulatedMachine *sim, char *const *args, size_t n, uint32_t *ret_index _unused_,
		   char **ret_message)
{
	_cleanup_(arguments_done) Arguments a;
	g_autoptr(GArray) ports = NULL;
	Target t = {};
	int r;

	a.n = a.n_reasons = 0;
	r = parse_target(sim, args[0], &t, ret_message);
	if (r < 0)
		return r;
	if (!t.device && !t.ports)
		return simulated_error(-EINVAL, ret_message,
				       "*: expected a device, a port, or */* for all ports");
	r = parse_arguments(args + 1, n - 1, &a, ret_message);
	if (r < 0)
		return r;
	if (t.ports) {
		ports = target_ports(sim, &t);
		r = set_ports(ports, &a, ret_message);
		if (r < 0)
			return r;
		tell_ports(sim, ports, a.reasons, a.n_reasons);
	} else {
		DeviceSnapshot next = t.device->now;

		for (size_t i = 0; i < a.n; i++) {
			r = simulated_device_set(&next, a.settings[i].key, a.settings[i].value,
						 ret_message);
			if (r < 0)
				return r;
		}
		t.device->now = next;
		for (size_t i = 0; i < a.n_reasons; i++)
			tell(sim, next.values.index, EVENT_ALL_PORTS, a.reasons[i]);
	}
	return 0;
}

static int run_event(SimulatedMachine *sim, char *const *args, size_t n,
		     uint32_t *ret_index _unused_, char **ret_message)
{
	EventReason reasons[SCENARIO_WORDS_MAX];
	Target t = {};
	int r;

	r = parse_target(sim, args[0], &t, ret_message);
	for (size_t i = 1; r == 0 && i < n; i++)
		r = parse_reason(args[i], &reasons[i - 1], ret_message);
	if (r < 0)
		return r;
	if (t.ports) {
		g_autoptr(GArray) ports = target_ports(sim, &t);

		tell_ports(sim, ports, reasons, n - 1);
	} else {
		for (size_t i = 0; i < n - 1; i++)
			tell(sim, t.device ? t.device->now.values.index : EVENT_ALL_DEVICES,
			     EVENT_ALL_PORTS, reasons[i]);
	}
	return 0;
}

static int check_new_name(const SimulatedMachine *sim, const char *name, char **ret_message)
{
	int r = simulated_check_name(name, ret_message);

	if (r == 0 && g_hash_table_contains(sim->by_name, name))
		r = simulated_error(-EEXIST, ret_message,
				    "%s: there is such a device, expected another name", name);
	return r;
}

static int run_add(SimulatedMachine *sim, char *const *args, size_t n, uint32_t *ret_index,
		   char **ret_message)
{
	_cleanup_(arguments_done) Arguments a;
	DeviceRecipe recipe = {.name = args[0], .first_port = sim->next_first_port};
	SimulatedDevice *d = NULL;
	unsigned int line;
	size_t n_settings = 0;
	int r;

	a.n = a.n_reasons = 0;
	r = check_new_name(sim, args[0], ret_message);
	if (r < 0)
		return r;
	r = parse_arguments(args + 1, n - 1, &a, ret_message);
	if (r < 0)
		return r;
	recipe.like = scenario_find(sim->scenario, args[0]);
	if (recipe.like)
		recipe.first_port = recipe.like->first_port;
	for (size_t i = 0; i < a.n; i++) {
		if (!streq(a.settings[i].key, "from")) {
			a.settings[n_settings++] = a.settings[i];
			continue;
		}
		recipe.first_port = sim->next_first_port;
		recipe.like = scenario_find(sim->scenario, a.settings[i].value);
		if (!recipe.like)
			return simulated_error(
				-ENOENT, ret_message,
				"from=%.100s: expected a device of the scenario file",
				a.settings[i].value);
	}
	recipe.settings = a.settings;
	recipe.n_settings = n_settings;
	r = scenario_make_device(sim->scenario, &recipe, &d, &line, ret_message);
	if (r < 0)
		return r;
	if (recipe.first_port == sim->next_first_port)
		sim->next_first_port += d->now.values.port_count;
	r = insert_device(sim, d, SCENARIO_ANY_INDEX, ret_message);
	if (r < 0)
		return r;
	if (ret_index)
		*ret_index = d->now.values.index;
	tell_device(sim, d->now.values.index);
	for (size_t i = 0; i < a.n_reasons; i++)
		tell(sim, d->now.values.index, EVENT_ALL_PORTS, a.reasons[i]);
	return 0;
}

static int run_remove(SimulatedMachine *sim, char *const *args, size_t n _unused_,
		      uint32_t *ret_index _unused_, char **ret_message)
{
	SimulatedDevice *d = NULL;
	uint32_t index;
	int r;

	r = find_device(sim, args[0], &d, ret_message);
	if (r < 0)
		return r;
	index = d->now.values.index;
	remove_device(sim, d);
	resume(sim, index); /* to be told that there is no such device */
	tell_device(sim, index);
	return 0;
}

static int run_rename(SimulatedMachine *sim, char *const *args, size_t n _unused_,
		      uint32_t *ret_index _unused_, char **ret_message)
{
	SimulatedDevice *d = NULL;
	int r;

	r = find_device(sim, args[0], &d, ret_message);
	if (r < 0)
		return r;
	r = check_new_name(sim, args[1], ret_message);
	if (r < 0)
		return r;
	g_hash_table_remove(sim->by_name, d->now.values.name);
	DEVICE_SUPPLY_TEXT(&d->now, name, args[1]);
	g_hash_table_insert(sim->by_name, d->now.values.name, d);
	tell_device(sim, d->now.values.index);
	return 0;
}

static int run_stall(SimulatedMachine *sim, char *const *args, size_t n _unused_,
		     uint32_t *ret_index _unused_, char **ret_message)
{
	SimulatedDevice *d = NULL;
	int r;

	r = find_device(sim, args[0], &d, ret_message);
	if (r == 0)
		d->stalled = true;
	return r;
}

static int run_unstall(SimulatedMachine *sim, char *const *args, size_t n _unused_,
		       uint32_t *ret_index _unused_, char **ret_message)
{
	SimulatedDevice *d = NULL;
	int r;

	r = find_device(sim, args[0], &d, ret_message);
	if (r < 0)
		return r;
	d->stalled = false;
	resume(sim, d->now.values.index);
	if (d->wedged) {
		d->wedged = false;
		tell(sim, d->now.values.index, EVENT_ALL_PORTS, REASON_RECOVERED);
	}
	return 0;
}

/* "EIO" */
static int parse_errno(const char *text, int *ret, char **ret_message)
{
	if (streq(text, "none")) {
		*ret = 0;
		return 0;
	}
	for (int e = 1; e < 134; e++) {
		const char *name = strerrorname_np(e);

		if (name && streq(name, text)) {
			*ret = -e;
			return 0;
		}
	}
	return simulated_error(-EINVAL, ret_message,
			       "%.100s: no name of an error, expected one such as EIO or "
			       "EREMOTEIO, or none",
			       text);
}

static int run_fail(SimulatedMachine *sim, char *const *args, size_t n,
		    uint32_t *ret_index _unused_, char **ret_message)
{
	g_autoptr(GArray) ports = NULL;
	uint64_t count = 0;
	Target t = {};
	int r, error = 0;

	r = parse_target(sim, args[0], &t, ret_message);
	if (r < 0)
		return r;
	if (!t.ports)
		return simulated_error(-EINVAL, ret_message,
				       "%.100s: expected a port, NAME/NUMBER or NAME/*", args[0]);
	r = parse_errno(args[1], &error, ret_message);
	if (r == 0 && n > 2)
		r = simulated_parse_number("count", args[2], 0, UINT32_MAX, &count, ret_message);
	if (r < 0)
		return r;
	ports = target_ports(sim, &t);
	for (guint i = 0; i < ports->len; i++) {
		SimulatedPort *p = g_array_index(ports, PortReference, i).port;

		p->error = error;
		p->error_count = error ? (uint32_t)count : 0;
	}
	return 0;
}

static const Command commands[] = {
	{"set", 2, SCENARIO_WORDS_MAX, "set PORT|DEVICE ATTRIBUTE=VALUE... [event=REASON...]",
	 run_set},
	{"event", 2, SCENARIO_WORDS_MAX, "event PORT|DEVICE|* REASON...", run_event},
	{"add", 1, SCENARIO_WORDS_MAX, "add NAME [from=DEVICE] [ATTRIBUTE=VALUE...]", run_add},
	{"remove", 1, 1, "remove DEVICE", run_remove},
	{"rename", 2, 2, "rename OLD NEW", run_rename},
	{"stall", 1, 1, "stall DEVICE", run_stall},
	{"unstall", 1, 1, "unstall DEVICE", run_unstall},
	{"fail", 2, 3, "fail PORT ERRNO|none [COUNT]", run_fail},
};

int simulated_machine_run(SimulatedMachine *sim, char *const *words, uint32_t *ret_index,
			  char **ret_message)
{
	size_t n = 0;

	while (words[n])
		n++;
	if (n > SCENARIO_WORDS_MAX)
		return simulated_error(-EINVAL, ret_message, "too many words, expected at most %u",
				       SCENARIO_WORDS_MAX);
	for (size_t i = 0; n && i < ARRAY_SIZE(commands); i++) {
		const Command *c = &commands[i];

		if (!streq(words[0], c->name))
			continue;
		if (n - 1 < c->least || n - 1 > c->most)
			return simulated_error(-EINVAL, ret_message,
					       "%s with %zu arguments, expected %s", c->name, n - 1,
					       c->usage);
		return c->run(sim, words + 1, n - 1, ret_index, ret_message);
	}
	return simulated_error(-EINVAL, ret_message,
			       "%.100s: no command, expected set, event, add, remove, rename, "
			       "stall, unstall or fail",
			       n ? words[0] : "nothing");
}

/* Makes the devices that are there from the start; the others for their errors only. */
int simulated_machine_populate(SimulatedMachine *sim, unsigned int *ret_line, char **ret_message)
{
	size_t n;
	const ScenarioDevice *devices = scenario_devices(sim->scenario, &n);

	for (size_t i = 0; i < n; i++) {
		const DeviceRecipe recipe = {.name = devices[i].name,
					     .like = &devices[i],
					     .first_port = devices[i].first_port};
		SimulatedDevice *d = NULL;
		int r;

		r = scenario_make_device(sim->scenario, &recipe, &d, ret_line, ret_message);
		if (r < 0)
			return r;
		*ret_line = devices[i].line;
		if (!devices[i].present) {
			simulated_device_free(d);
			continue;
		}
		r = insert_device(sim, d, devices[i].index, ret_message);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Runs every step once, in their order, so that what cannot work is an error of the file and not a
 * warning at night. */
int simulated_machine_rehearse(SimulatedMachine *sim, unsigned int *ret_line, char **ret_message)
{
	size_t n;
	const ScenarioStep *steps = scenario_steps(sim->scenario, &n);

	for (size_t i = 0; i < n; i++) {
		int r = simulated_machine_run(sim, steps[i].words, NULL, ret_message);

		*ret_line = steps[i].line;
		if (r < 0)
			return r;
	}
	return 0;
}
