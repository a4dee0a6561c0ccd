/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "state.h"

#include "attribute.h"
#include "names.h"
#include "util.h"

#define PORTS	   8U
#define PROPERTIES "org.freedesktop.DBus.Properties"

/* A change there and back, and a look at a port, leave a trace in these, and in the generation, the
 * last column of ListPorts() before the dictionary. A LID that changes again and again is a finding
 * (sm-storm). */
static bool is_left_out(const char *name)
{
	static const char *const names[] = {
		"LastQueryTimestamp", "ConfigGeneration", "GidGeneration",
		"SmGeneration",	      "PkeyGeneration",	  "StateChangeTimestamp",
		"FitSince",	      "Health",		  "Findings",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (streq(names[i], name))
			return true;
	return false;
}

/* Counters that are read for ten seconds bring the interface Signal, whose rows are in
 * "Unavailable" then. */
static bool is_of_signal(const char *name)
{
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++)
		if (streq(port_attributes[a].name, name))
			return port_attributes[a].interface == INTERFACE_SIGNAL;
	return false;
}

static int write_values(FILE *file, sd_bus_message *m, char container);

/* Whether nothing but a dictionary follows in an entry of a list. */
static bool at_tail(sd_bus_message *m)
{
	const char *contents;
	char type;

	return sd_bus_message_peek_type(m, &type, &contents) > 0 && type == 'a' &&
	       streq(contents, "{sv}");
}

static int write_basic(FILE *file, sd_bus_message *m, char type, char container)
{
	union {
		const char *text;
		uint64_t number;
	} value = {.number = 0};
	int r = sd_bus_message_read_basic(m, type, &value);

	if (r < 0)
		return r;
	if (type == 's' || type == 'o' || type == 'g')
		fprintf(file, "\"%s\" ", value.text);
	else if (type != 't' || container != 'r' || !at_tail(m))
		fprintf(file, "%llu ", (unsigned long long)value.number);
	return 0;
}

/* An entry of a dictionary of properties, or of the reasons in "Unavailable", whose CONTENTS are
 * {ss}; in one line. */
static int write_entry(FILE *file, sd_bus_message *m, const char *contents)
{
	const char *name;
	int r = sd_bus_message_read_basic(m, 's', &name);

	if (r < 0)
		return r;
	if (streq(contents, "ss") ? is_of_signal(name) : is_left_out(name))
		return sd_bus_message_skip(m, contents + 1);
	fprintf(file, "\n%s = ", name);
	return write_values(file, m, 'e');
}

/* All that is left in the container, whose type is given. */
static int write_values(FILE *file, sd_bus_message *m, char container)
{
	const char *contents;
	char type;
	int r;

	while ((r = sd_bus_message_peek_type(m, &type, &contents)) > 0) {
		if (!contents) {
			r = write_basic(file, m, type, container);
		} else {
			r = sd_bus_message_enter_container(m, type, contents);
			if (r >= 0)
				r = type == 'e' && *contents == 's' ? write_entry(file, m, contents)
								    : write_values(file, m, type);
			if (r >= 0)
				r = sd_bus_message_exit_container(m);
			if (type == 'r')
				fputc('\n', file);
		}
		if (r < 0)
			return r;
	}
	return r;
}

static int write_call(FILE *file, sd_bus *bus, const char *path, const char *interface,
		      const char *member, const char *argument, char ret_error[256])
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL, *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_message_new_method_call(bus, &m, RDMAD_BUS_NAME, path, interface, member);

	if (r >= 0)
		r = argument ? sd_bus_message_append(m, "s", argument)
			     : sd_bus_message_append(m, "a{sv}", 0);
	if (r >= 0)
		r = sd_bus_call(bus, m, 60 * USEC_PER_SEC, &error, &reply);
	fprintf(file, "\n%s\n", path);
	if (r >= 0)
		r = write_values(file, reply, 0);
	if (r < 0)
		snprintf(ret_error, 256, "%s of %s: %s", member, path,
			 error.message ? error.message : strerror(-r));
	return r;
}

char *state_read(sd_bus *bus, char ret_error[256])
{
	static const char *const interfaces[] = {RDMAD_INTERFACE_PORT, RDMAD_INTERFACE_INFINIBAND};
	char *text = NULL, path[64];
	size_t size;
	FILE *file = open_memstream(&text, &size);
	int r = 0;

	if (!file)
		abort();
	for (unsigned int i = 0; r >= 0 && i < PORTS * 2; i++) {
		snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u/port/1", i / 2);
		r = write_call(file, bus, path, PROPERTIES, "GetAll", interfaces[i % 2], ret_error);
	}
	if (r >= 0)
		r = write_call(file, bus, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts",
			       NULL, ret_error);
	fclose(file);
	if (r >= 0)
		return text;
	free(text);
	return NULL;
}

void state_difference(const char *before, const char *after, char ret[512])
{
	size_t line = 0, i = 0;

	for (; before[i] && before[i] == after[i]; i++)
		if (before[i] == '\n')
			line = i + 1;
	snprintf(ret, 512, "it was \"%.*s\" and is \"%.*s\"",
		 (int)MIN(strcspn(before + line, "\n"), 200U), before + line,
		 (int)MIN(strcspn(after + line, "\n"), 200U), after + line);
}
