/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-simulator.h"

#include <glib.h>

#include "bus-options.h"
#include "names.h"
#include "simulated-commands.h"

/*
 * Each method makes the words of a script line of its arguments: the simulator has one parser, and
 * one set of messages. The methods are for everybody whom the bus lets through: a simulated daemon
 * has no hardware to protect.
 */

/* Ends an array of words. */
static char **words_done(GPtrArray *words)
{
	g_ptr_array_add(words, NULL);
	return (char **)words->pdata;
}

static void add_word(GPtrArray *words, const char *text)
{
	g_ptr_array_add(words, g_strdup(text));
}

/* a{ss} as words KEY=VALUE; too many are the simulator's to refuse. */
static int read_settings(sd_bus_message *m, GPtrArray *words, sd_bus_error *error)
{
	const char *key, *value;
	int r;

	r = sd_bus_message_enter_container(m, 'a', "{ss}");
	if (r < 0)
		return r;
	while ((r = sd_bus_message_read(m, "{ss}", &key, &value)) > 0) {
		/* in a word it would mean something else */
		if (strchr(key, '=') || streq(key, "event"))
			return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT,
						 "%s: expected the name of an attribute", key);
		g_ptr_array_add(words, g_strdup_printf("%s=%s", key, value));
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int run(SimulatedMachine *machine, GPtrArray *words, uint32_t *ret_index,
	       sd_bus_error *error)
{
	_cleanup_free_ char *message = NULL;
	int r = simulated_commands_run(machine, words_done(words), ret_index, &message);

	if (r < 0 && message)
		return sd_bus_error_set(error,
					r == -ENOENT   ? RDMAD_ERROR_NOT_FOUND
					: r == -ENOSPC ? RDMAD_ERROR_LIMITS_EXCEEDED
						       : RDMAD_ERROR_INVALID_ARGUMENT,
					message);
	return r;
}

/* Options, command, empty reply: the end of most methods. */
static int finish(sd_bus_message *m, SimulatedMachine *machine, GPtrArray *words,
		  sd_bus_error *error)
{
	int r;

	r = bus_read_options(m, sd_bus_message_get_member(m), NULL, 0, error);
	if (r < 0)
		return r;
	r = run(machine, words, NULL, error);
	if (r < 0)
		return r;
	return sd_bus_reply_method_return(m, NULL);
}

static int method_set(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	const char *port, *reason;
	int r;

	r = sd_bus_message_read(m, "s", &port);
	if (r < 0)
		return r;
	add_word(words, "set");
	add_word(words, port);
	r = read_settings(m, words, error);
	if (r < 0)
		return r;
	r = sd_bus_message_enter_container(m, 'a', "s");
	if (r < 0)
		return r;
	while ((r = sd_bus_message_read(m, "s", &reason)) > 0)
		g_ptr_array_add(words, g_strdup_printf("event=%s", reason));
	if (r < 0)
		return r;
	r = sd_bus_message_exit_container(m);
	if (r < 0)
		return r;
	return finish(m, userdata, words, error);
}

static int method_event(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	const char *port, *reason;
	int r;

	r = sd_bus_message_read(m, "ss", &port, &reason);
	if (r < 0)
		return r;
	add_word(words, "event");
	add_word(words, port);
	add_word(words, reason);
	return finish(m, userdata, words, error);
}

static int method_add_device(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	const char *name;
	uint32_t index = 0;
	int r;

	r = sd_bus_message_read(m, "s", &name);
	if (r < 0)
		return r;
	add_word(words, "add");
	add_word(words, name);
	r = read_settings(m, words, error);
	if (r < 0)
		return r;
	r = bus_read_options(m, sd_bus_message_get_member(m), NULL, 0, error);
	if (r < 0)
		return r;
	r = run(userdata, words, &index, error);
	if (r < 0)
		return r;
	return sd_bus_reply_method_return(m, "u", index);
}

static int method_remove_device(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	const char *name;
	int r;

	r = sd_bus_message_read(m, "s", &name);
	if (r < 0)
		return r;
	add_word(words, "remove");
	add_word(words, name);
	return finish(m, userdata, words, error);
}

static int method_rename_device(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	const char *old, *new;
	int r;

	r = sd_bus_message_read(m, "ss", &old, &new);
	if (r < 0)
		return r;
	add_word(words, "rename");
	add_word(words, old);
	add_word(words, new);
	return finish(m, userdata, words, error);
}

static int method_stall(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	const char *name;
	int r, on;

	r = sd_bus_message_read(m, "sb", &name, &on);
	if (r < 0)
		return r;
	add_word(words, on ? "stall" : "unstall");
	add_word(words, name);
	return finish(m, userdata, words, error);
}

static int method_fail(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	const char *port, *name;
	uint32_t count;
	int r;

	r = sd_bus_message_read(m, "ssu", &port, &name, &count);
	if (r < 0)
		return r;
	add_word(words, "fail");
	add_word(words, port);
	add_word(words, name);
	g_ptr_array_add(words, g_strdup_printf("%u", count));
	return finish(m, userdata, words, error);
}

static int method_run(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	g_auto(GStrv) words = NULL;
	_cleanup_free_ char *message = NULL;
	g_autoptr(GPtrArray) array = g_ptr_array_new_with_free_func(g_free);
	const char *line;
	int r;

	r = sd_bus_message_read(m, "s", &line);
	if (r < 0)
		return r;
	r = words_split(line, &words, &message);
	if (r < 0)
		return message ? sd_bus_error_set(error, RDMAD_ERROR_INVALID_ARGUMENT, message) : r;
	for (char **w = words; *w; w++)
		add_word(array, *w);
	return finish(m, userdata, array, error);
}

/* clang-format off */
static const sd_bus_vtable simulator_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD_WITH_ARGS("Set",
		SD_BUS_ARGS("s", port, "a{ss}", attributes, "as", events, "a{sv}", options),
		SD_BUS_NO_RESULT, method_set, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Event",
		SD_BUS_ARGS("s", port, "s", reason, "a{sv}", options),
		SD_BUS_NO_RESULT, method_event, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("AddDevice",
		SD_BUS_ARGS("s", name, "a{ss}", attributes, "a{sv}", options),
		SD_BUS_RESULT("u", index), method_add_device, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("RemoveDevice",
		SD_BUS_ARGS("s", name, "a{sv}", options),
		SD_BUS_NO_RESULT, method_remove_device, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("RenameDevice",
		SD_BUS_ARGS("s", old, "s", new, "a{sv}", options),
		SD_BUS_NO_RESULT, method_rename_device, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Stall",
		SD_BUS_ARGS("s", device, "b", on, "a{sv}", options),
		SD_BUS_NO_RESULT, method_stall, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Fail",
		SD_BUS_ARGS("s", port, "s", errno_name, "u", count, "a{sv}", options),
		SD_BUS_NO_RESULT, method_fail, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Run",
		SD_BUS_ARGS("s", line, "a{sv}", options),
		SD_BUS_NO_RESULT, method_run, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END
};
/* clang-format on */

int bus_simulator_add(sd_bus *bus, SimulatedMachine *machine, sd_bus_slot **ret)
{
	return sd_bus_add_object_vtable(bus, ret, RDMAD_ROOT_PATH, RDMAD_INTERFACE_SIMULATOR,
					simulator_vtable, machine);
}
