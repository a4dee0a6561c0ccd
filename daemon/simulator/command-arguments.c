/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "command-arguments.h"

#include "compat.h"
#include "port-name.h"

/* The largest errno of Linux. */
#define ERRNO_MAX EHWPOISON

/* Targets */

/* A target is DEVICE or DEVICE/NUMBER. A star in place of either of them means all. */
int command_target_parse(const SimulatedMachine *sim, const char *text, CommandTarget *ret,
			 char **ret_message)
{
	const char *slash = strrchr(text, '/');
	g_autofree char *name = slash ? g_strndup(text, (gsize)(slash - text)) : g_strdup(text);
	CommandTarget t = {.ports = slash != NULL};
	AttrText device;
	int r;

	if (!streq(name, "*")) {
		r = simulated_machine_find(sim, name, &t.device, ret_message);
		if (r < 0)
			return r;
	}
	if (slash && !streq(slash + 1, "*")) {
		if (!t.device)
			return scenario_refuse(-EINVAL, ret_message,
					       "%.100s: expected */* for all ports", text);
		/* the number alone, with the last byte of the name before it */
		if (port_name_split(slash - 1, device, &t.port) < 0 || t.port == 0 ||
		    t.port > t.device->now.values.port_count)
			return scenario_refuse(-ENOENT, ret_message,
					       "%.100s: no such port, expected a number from 1 to "
					       "%u, or *",
					       text, t.device->now.values.port_count);
	}
	*ret = t;
	return 0;
}

/* Appends port NUMBER of D, or all of its ports if that is 0. */
static void add_ports(GArray *to, SimulatedDevice *d, uint32_t number)
{
	uint32_t first = number ? number : 1, last = number ? number : d->now.values.port_count;

	for (uint32_t n = first; n <= last; n++) {
		PortReference p = {&d->ports[n - 1], d->now.values.index, n};

		g_array_append_val(to, p);
	}
}

GArray *command_target_ports(const SimulatedMachine *sim, const CommandTarget *t)
{
	GArray *ports = g_array_new(false, false, sizeof(PortReference));
	g_autoptr(GPtrArray) devices = NULL;

	if (t->device) {
		add_ports(ports, t->device, t->port);
		return ports;
	}
	devices = simulated_machine_devices(sim);
	for (guint i = 0; i < devices->len; i++)
		add_ports(ports, g_ptr_array_index(devices, i), 0);
	return ports;
}

GArray *command_target_examples(const SimulatedMachine *sim, const CommandTarget *t)
{
	GArray *ports = g_array_new(false, false, sizeof(PortReference));
	bool wants_simulated = sim->n_recorded < g_hash_table_size(sim->by_index);
	bool wants_recorded = sim->n_recorded > 0;
	GHashTableIter iter;
	void *value;

	if (t->device) {
		add_ports(ports, t->device, t->port ? t->port : 1);
		return ports;
	}
	g_hash_table_iter_init(&iter, sim->by_index);
	while ((wants_simulated || wants_recorded) && g_hash_table_iter_next(&iter, NULL, &value)) {
		SimulatedDevice *d = value;
		bool *wants = d->recorded ? &wants_recorded : &wants_simulated;

		if (*wants)
			add_ports(ports, d, 1);
		*wants = false;
	}
	return ports;
}

/* Settings and reasons */

int command_reason_parse(const char *text, EventReason *ret, char **ret_message)
{
	EventReason reason = event_reason_from_name(text);

	if (reason == _REASON_INVALID)
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s: not the reason of an event, expected one such as "
				       "port-active, port-error, lid-change or link",
				       text);
	*ret = reason;
	return 0;
}

void command_settings_done(CommandSettings *s)
{
	g_strfreev(s->words);
	s->words = NULL;
}

int command_settings_parse(const char *const *args, size_t n, CommandSettings *ret,
			   char **ret_message)
{
	ret->words = g_strdupv(CONST_CAST(char **, args));
	for (size_t i = 0; i < n; i++) {
		const char *reason = startswith(ret->words[i], "event=");
		char *equals = strchr(ret->words[i], '=');

		if (reason) {
			int r = command_reason_parse(reason, &ret->reasons[ret->n_reasons],
						     ret_message);

			if (r < 0)
				return r;
			ret->n_reasons++;
			continue;
		}
		if (!equals)
			return scenario_refuse(-EINVAL, ret_message,
					       "%.100s: expected ATTRIBUTE=VALUE or event=REASON",
					       ret->words[i]);
		*equals = '\0';
		ret->settings[ret->n++] = (Setting){.key = ret->words[i], .value = equals + 1};
	}
	return 0;
}

/* Errors */

int command_errno_parse(const char *text, int *ret, char **ret_message)
{
	if (streq(text, "none")) {
		*ret = 0;
		return 0;
	}
	for (int e = 1; e <= ERRNO_MAX; e++) {
		const char *name = strerrorname_np(e);

		if (name && streq(name, text)) {
			*ret = -e;
			return 0;
		}
	}
	return scenario_refuse(-EINVAL, ret_message,
			       "%.100s: not the name of an error, expected one such as EIO or "
			       "EREMOTEIO, or none",
			       text);
}
