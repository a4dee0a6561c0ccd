/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-simulator.h"

#include <glib.h>

#include "bus-door.h"
#include "bus-options.h"
#include "compat-glib.h"
#include "names.h"
#include "simulated-commands.h"

/*
 * Each method makes the words of a command of its arguments, so that there is one parser with one
 * set of messages. Every caller may use them: a simulated daemon has no hardware to protect.
 */

static void add_pair(GStrvBuilder *words, const char *key, const char *value)
{
	g_autofree char *word = g_strdup_printf("%s=%s", key, value);

	g_strv_builder_add(words, word);
}

/* Reads an a{ss} as words KEY=VALUE. simulated_commands_run() refuses too many of them. */
static int read_settings(sd_bus_message *m, GStrvBuilder *words, sd_bus_error *error)
{
	const char *key, *value;
	int r = sd_bus_message_enter_container(m, 'a', "{ss}");

	if (r < 0)
		return r;
	while ((r = sd_bus_message_read(m, "{ss}", &key, &value)) > 0) {
		/* as a word this would be another key, or a reason */
		if (strchr(key, '=') || streq(key, "event"))
			return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT,
						 "%s: expected the name of an attribute", key);
		add_pair(words, key, value);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* Reads an as as words event=REASON. */
static int read_reasons(sd_bus_message *m, GStrvBuilder *words)
{
	const char *reason;
	int r = sd_bus_message_enter_container(m, 'a', "s");

	if (r < 0)
		return r;
	while ((r = sd_bus_message_read(m, "s", &reason)) > 0)
		add_pair(words, "event", reason);
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* Reads the options, which are the last argument of every method, and carries out the command. */
static int run(sd_bus_message *m, SimulatedMachine *machine, const char *const *words,
	       sd_bus_error *error)
{
	_cleanup_free_ char *message = NULL;
	int r = bus_read_options(m, sd_bus_message_get_member(m), NULL, 0, error);

	if (r < 0)
		return r;
	r = simulated_commands_run(machine, words, &message);
	if (r < 0 && message)
		return sd_bus_error_set(error,
					r == -ENOENT   ? RDMAD_ERROR_NOT_FOUND
					: r == -ENOSPC ? RDMAD_ERROR_LIMITS_EXCEEDED
						       : RDMAD_ERROR_INVALID_ARGUMENT,
					message);
	return r;
}

/* The same for the methods that return nothing. */
static int run_and_reply(sd_bus_message *m, SimulatedMachine *machine, const char *const *words,
			 sd_bus_error *error)
{
	int r = run(m, machine, words, error);

	return r < 0 ? r : sd_bus_reply_method_return(m, NULL);
}

static int method_set(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
	g_auto(GStrv) words = NULL;
	const char *port;
	int r = sd_bus_message_read(m, "s", &port);

	if (r < 0)
		return r;
	g_strv_builder_add(builder, "set");
	g_strv_builder_add(builder, port);
	r = read_settings(m, builder, error);
	if (r < 0)
		return r;
	r = read_reasons(m, builder);
	if (r < 0)
		return r;
	words = g_strv_builder_end(builder);
	return run_and_reply(m, userdata, (const char *const *)words, error);
}

static int method_add_device(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
	g_auto(GStrv) words = NULL;
	const char *name;
	SimulatedMachine *machine = userdata;
	int r = sd_bus_message_read(m, "s", &name);

	if (r < 0)
		return r;
	g_strv_builder_add(builder, "add");
	g_strv_builder_add(builder, name);
	r = read_settings(m, builder, error);
	if (r < 0)
		return r;
	words = g_strv_builder_end(builder);
	r = run(m, machine, (const char *const *)words, error);
	if (r < 0)
		return r;
	return sd_bus_reply_method_return(m, "u", machine->added);
}

/* A command whose words are those of the arguments, texts and numbers, in their order. */
static int run_arguments(sd_bus_message *m, SimulatedMachine *machine, const char *verb,
			 sd_bus_error *error)
{
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
	g_auto(GStrv) words = NULL;
	const char *contents, *text;
	uint32_t number;
	char type;
	int r;

	g_strv_builder_add(builder, verb);
	while ((r = sd_bus_message_peek_type(m, &type, &contents)) > 0 && !contents) {
		g_autofree char *word = NULL;

		r = sd_bus_message_read_basic(m, type, type == 's' ? (void *)&text : &number);
		if (r < 0)
			return r;
		word = type == 's' ? g_strdup(text) : g_strdup_printf("%u", number);
		g_strv_builder_add(builder, word);
	}
	if (r < 0)
		return r;
	words = g_strv_builder_end(builder);
	return run_and_reply(m, machine, (const char *const *)words, error);
}

static int method_event(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return run_arguments(m, userdata, "event", error);
}

static int method_remove_device(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return run_arguments(m, userdata, "remove", error);
}

static int method_rename_device(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return run_arguments(m, userdata, "rename", error);
}

static int method_fail(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return run_arguments(m, userdata, "fail", error);
}

static int method_stall(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const char *name;
	int on, r = sd_bus_message_read(m, "sb", &name, &on);

	if (r < 0)
		return r;
	return run_and_reply(m, userdata, (const char *[]){on ? "stall" : "unstall", name, NULL},
			     error);
}

static int method_run(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	_cleanup_free_ char *message = NULL, *copy = NULL;
	const char *line;
	Words words;
	int r = sd_bus_message_read(m, "s", &line);

	if (r < 0)
		return r;
	copy = strdup(line);
	if (!copy)
		return -ENOMEM;
	r = words_split(copy, &words, &message);
	if (r < 0)
		return message ? sd_bus_error_set(error, RDMAD_ERROR_INVALID_ARGUMENT, message) : r;
	return run_and_reply(m, userdata, (const char *const *)words.words, error);
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
	bus_door_admit(RDMAD_INTERFACE_SIMULATOR);
	return sd_bus_add_object_vtable(bus, ret, RDMAD_ROOT_PATH, RDMAD_INTERFACE_SIMULATOR,
					simulator_vtable, machine);
}
