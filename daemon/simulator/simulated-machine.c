/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "simulated-machine.h"

static void free_device(void *d)
{
	simulated_device_free(d);
}

void simulated_machine_init(SimulatedMachine *s, Scenario *scenario)
{
	*s = (SimulatedMachine){
		.scenario = scenario,
		.next_first_port = scenario_port_count(scenario),
		.by_index = g_hash_table_new_full(NULL, NULL, NULL, free_device),
		.by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
}

void simulated_machine_done(SimulatedMachine *s)
{
	g_clear_pointer(&s->by_name, g_hash_table_unref);
	g_clear_pointer(&s->by_index, g_hash_table_unref);
	scenario_free(s->scenario);
	s->scenario = NULL;
}

/* The set of devices */

int simulated_machine_add(SimulatedMachine *sim, SimulatedDevice *d, uint32_t index,
			  char **ret_message)
{
	int r = 0;

	if (index == SCENARIO_ANY_INDEX)
		index = sim->next_index;
	if (g_hash_table_contains(sim->by_index, GUINT_TO_POINTER(index)))
		r = scenario_refuse(-EEXIST, ret_message, "%s: index %u is taken, expected another",
				    TEXT_OF(&d->now.values, name), index);
	else if (index >= INT32_MAX || g_hash_table_size(sim->by_index) >= SCENARIO_DEVICES_MAX ||
		 sim->n_ports + d->now.values.port_count > SCENARIO_PORTS_MAX)
		r = scenario_refuse(-ENOSPC, ret_message,
				    "%s: too many, expected at most %u devices and %u ports",
				    TEXT_OF(&d->now.values, name), SCENARIO_DEVICES_MAX,
				    SCENARIO_PORTS_MAX);
	if (r < 0) {
		simulated_device_free(d);
		return r;
	}
	DEVICE_SUPPLY(&d->now, index, index);
	sim->next_index = MAX(sim->next_index, index + 1);
	sim->n_ports += d->now.values.port_count;
	sim->n_recorded += d->recorded;
	g_hash_table_insert(sim->by_index, GUINT_TO_POINTER(index), d);
	g_hash_table_insert(sim->by_name, g_strdup(TEXT_OF(&d->now.values, name)), d);
	return 0;
}

void simulated_machine_remove(SimulatedMachine *sim, SimulatedDevice *d)
{
	sim->n_ports -= d->now.values.port_count;
	sim->n_recorded -= d->recorded;
	g_hash_table_remove(sim->by_name, TEXT_OF(&d->now.values, name));
	g_hash_table_remove(sim->by_index, GUINT_TO_POINTER(d->now.values.index));
}

void simulated_machine_rename(SimulatedMachine *sim, SimulatedDevice *d, const char *name)
{
	g_hash_table_remove(sim->by_name, TEXT_OF(&d->now.values, name));
	(void)attr_set_text(&device_attributes[DEVICE_ATTR_name], &d->now.values, name);
	g_hash_table_insert(sim->by_name, g_strdup(TEXT_OF(&d->now.values, name)), d);
}

int simulated_machine_parse_new_name(const SimulatedMachine *sim, const char *word, AttrText ret,
				     char **ret_message)
{
	int r = simulated_parse_name(word, ret, ret_message);

	if (r == 0 && g_hash_table_contains(sim->by_name, ret))
		r = scenario_refuse(-EEXIST, ret_message,
				    "%s: there is such a device, expected another name", ret);
	return r;
}

int simulated_machine_find(const SimulatedMachine *sim, const char *word, SimulatedDevice **ret,
			   char **ret_message)
{
	AttrText name;
	SimulatedDevice *d = word_parse(word, name, sizeof(name)) < 0
				     ? NULL
				     : g_hash_table_lookup(sim->by_name, name);

	if (!d)
		return scenario_refuse(-ENOENT, ret_message,
				       "%.100s: no such device, expected the name of one that is "
				       "there now",
				       word);
	*ret = d;
	return 0;
}

SimulatedDevice *simulated_machine_device(const SimulatedMachine *sim, uint32_t index)
{
	return g_hash_table_lookup(sim->by_index, GUINT_TO_POINTER(index));
}

static int compare_devices(const void *a, const void *b)
{
	const SimulatedDevice *const *x = a, *const *y = b;
	uint32_t i = (*x)->now.values.index, j = (*y)->now.values.index;

	return i < j ? -1 : i > j;
}

GPtrArray *simulated_machine_devices(const SimulatedMachine *sim)
{
	GPtrArray *devices = g_ptr_array_sized_new(g_hash_table_size(sim->by_index));
	GHashTableIter iter;
	void *d;

	g_hash_table_iter_init(&iter, sim->by_index);
	while (g_hash_table_iter_next(&iter, NULL, &d))
		g_ptr_array_add(devices, d);
	g_ptr_array_sort(devices, compare_devices);
	return devices;
}

/* A device that does not exist at the start is made too, so that its errors are found now. */
int simulated_machine_populate(SimulatedMachine *sim, unsigned int *ret_line, char **ret_message)
{
	size_t n;
	const ScenarioDevice *devices = scenario_devices(sim->scenario, &n);

	for (size_t i = 0; i < n; i++) {
		const DeviceRecipe recipe = {.name = devices[i].name,
					     .like = &devices[i],
					     .first_port = devices[i].first_port};
		SimulatedDevice *d = NULL;
		int r = scenario_make_device(sim->scenario, &recipe, &d, ret_line, ret_message);

		if (r < 0)
			return r;
		*ret_line = devices[i].line;
		if (!devices[i].present) {
			simulated_device_free(d);
			continue;
		}
		r = simulated_machine_add(sim, d, devices[i].index, ret_message);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The listener */

void simulated_machine_tell(const SimulatedMachine *sim, uint32_t device, uint32_t port,
			    EventReason reason)
{
	const Event event = {.device = device, .port = port, .reason = reason};

	if (sim->event)
		sim->event(sim->userdata, &event);
}

void simulated_machine_note(const SimulatedMachine *sim, uint32_t device, uint32_t port,
			    EventReason reason)
{
	if (sim->noted)
		sim->noted(sim->userdata, &(Event){device, port, reason});
}

void simulated_machine_answer(const SimulatedMachine *sim, const RecordedAnswer *answer)
{
	if (sim->answered)
		sim->answered(sim->userdata, answer);
}

void simulated_machine_resume(const SimulatedMachine *sim, uint32_t index)
{
	if (sim->resumed)
		sim->resumed(sim->userdata, index);
}
