/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-door.h"

#include "bus-private.h"
#include "bus-shown.h"
#include "names.h"

#define PROPERTIES "org.freedesktop.DBus.Properties"

/* The rule for a method, or for all methods of an interface (MEMBER is NULL). */
typedef struct Rule {
	const char *interface, *member;
	size_t max_size; /* of its arguments, in bytes */
	bool acts;	 /* it does something, also for a caller who wants no reply */
} Rule;

/* clang-format off */
static const Rule rules[] = {
	{PROPERTIES,              "Set",       BUS_DOOR_SIZE_MAX, true},
	{RDMAD_INTERFACE_MANAGER, "Refresh",   BUS_DOOR_SIZE_MAX, true},
	{RDMAD_INTERFACE_MANAGER, "ListPorts", 8192,              false}, /* the names of all properties */
	{RDMAD_INTERFACE_MANAGER, "FindPorts", 8192,              false}, /* the same */
	{RDMAD_INTERFACE_MANAGER, "WaitFor",   16384,             false}, /* 64 names of ports */
};
/* clang-format on */

/* bus_door_admit() */
static Rule admitted = {NULL, NULL, BUS_DOOR_SIZE_OTHER, true};

static const Rule *find_rule(sd_bus_message *m)
{
	static const Rule other = {NULL, NULL, BUS_DOOR_SIZE_MAX, false};
	const char *interface = sd_bus_message_get_interface(m);
	const char *member = sd_bus_message_get_member(m);

	for (size_t i = 0; interface && i < ARRAY_SIZE(rules); i++)
		if (streq(rules[i].interface, interface) &&
		    (!rules[i].member || streq(rules[i].member, member)))
			return &rules[i];
	if (interface && admitted.interface && streq(admitted.interface, interface))
		return &admitted;
	return &other;
}

static size_t number_size(char type)
{
	switch (type) {
	case 'y':
		return 1;
	case 'n':
	case 'q':
		return 2;
	case 't':
	case 'x':
	case 'd':
		return 8;
	default:
		return 4;
	}
}

/* Reads the value of TYPE, no container, and returns its size. */
static int read_value(sd_bus_message *m, char type, size_t *ret)
{
	union {
		uint64_t number;
		const char *text;
	} value;
	bool is_text = type == 's' || type == 'o' || type == 'g';
	int r;

	if (type == 'h')
		return -EBADF;
	r = sd_bus_message_read_basic(m, type, &value);
	if (r < 0)
		return r;
	*ret = is_text ? strlen(value.text) + 5 : number_size(type); /* length, text, zero */
	return 0;
}

/* Reads what is left in the container where M is and subtracts its size from *LEFT. -E2BIG: it is
 * larger than that, and the rest has not been read. -EBADF: there is a descriptor. D-Bus allows no
 * more than 64 containers in one another. */
static int measure(sd_bus_message *m, size_t *left)
{
	const char *contents;
	size_t size = 0;
	char type;
	int r;

	while ((r = sd_bus_message_peek_type(m, &type, &contents)) > 0) {
		if (contents) {
			r = sd_bus_message_enter_container(m, type, contents);
			size = 4; /* the length of an array, the type of a variant */
		} else {
			r = read_value(m, type, &size);
		}
		if (r < 0)
			return r;
		if (size > *left)
			return -E2BIG;
		*left -= size;
		if (!contents)
			continue;
		r = measure(m, left);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
		if (r < 0)
			return r;
	}
	return r;
}

static int refuse_descriptors(sd_bus_message *m, sd_bus_error *error)
{
	return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT, "%s takes no file descriptor",
				 sd_bus_message_get_member(m));
}

static int check_arguments(sd_bus_message *m, const Rule *rule, size_t *ret_size,
			   sd_bus_error *error)
{
	size_t left = rule->max_size;
	int r = measure(m, &left);

	*ret_size = rule->max_size - left;
	if (r == -E2BIG)
		return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT,
					 "The arguments of %s are longer than %zu bytes",
					 sd_bus_message_get_member(m), rule->max_size);
	if (r == -EBADF)
		return refuse_descriptors(m, error);
	/* who reads it next finds other mistakes, too */
	return sd_bus_message_rewind(m, true);
}

static bool has_long_path(sd_bus_message *m)
{
	return strnlen(sd_bus_message_get_path(m), BUS_DOOR_PATH_MAX + 1) > BUS_DOOR_PATH_MAX;
}

/* 0: the call passes, M is as it has come, and its arguments have *RET_SIZE bytes. 1: it is
 * dropped. A negative errno and ERROR: it is refused. */
static int check(sd_bus_message *m, size_t *ret_size, sd_bus_error *error)
{
	bool wants_reply = sd_bus_message_get_expect_reply(m) > 0;
	const char *signature = sd_bus_message_get_signature(m, true);
	const Rule *rule;
	int r;

	if (has_long_path(m))
		return sd_bus_error_setf(error, SD_BUS_ERROR_UNKNOWN_OBJECT, "Unknown object '%s'.",
					 BUS_SHOW(sd_bus_message_get_path(m)));
	if (strchr(signature, 'h'))
		return refuse_descriptors(m, error);
	if (wants_reply && !*signature)
		return 0;
	rule = find_rule(m);
	if (!wants_reply && !rule->acts)
		return 1;
	r = check_arguments(m, rule, ret_size, error);
	return MIN(r, 0);
}

/* M waits for its turn; if ERROR, which is R, is set, it is refused then. */
static int wait_for_turn(Bus *b, sd_bus_message *m, size_t size, int r, sd_bus_error *error)
{
	if (r >= 0)
		return bus_turns_wait(b->turns, m, size);
	if (!sd_bus_error_is_set(error))
		sd_bus_error_set_errno(error, r);
	r = bus_turns_refuse(b->turns, m, error);
	sd_bus_error_free(error);
	return r;
}

/* A call that has just come; the result is that of check(), and 1 if it waits. */
static int receive(Bus *b, sd_bus_message *m, sd_bus_error *error)
{
	size_t size = 0;
	int r, now;

	if (!sd_bus_message_get_sender(m))
		return 1; /* each call on a bus has one */
	r = check(m, &size, error);
	if (r > 0)
		return r;
	now = bus_turns_admit(b->turns, m);
	if (now < 0)
		return now;
	if (now == 0) {
		r = wait_for_turn(b, m, size, r, error);
		return r < 0 ? r : 1;
	}
	return r;
}

/* sd-bus answers this call before it looks for objects, and the connection fails if the machine has
 * no ID, as in many containers. */
static int check_machine_id(sd_bus_message *m, sd_bus_error *error)
{
	sd_id128_t id;
	int r;

	if (!sd_bus_message_is_method_call(m, "org.freedesktop.DBus.Peer", "GetMachineId"))
		return 0;
	r = sd_id128_get_machine(&id);
	return r >= 0 ? 0
		      : sd_bus_error_setf(error, SD_BUS_ERROR_FILE_NOT_FOUND,
					  "This machine has no ID: %s", strerror(-r));
}

static bool is_of_object(sd_bus_message *m)
{
	return startswith(sd_bus_message_get_path(m), RDMAD_DEVICE_PREFIX);
}

static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	uint8_t type;
	int r = sd_bus_message_get_type(m, &type);

	if (r < 0 || type != SD_BUS_MESSAGE_METHOD_CALL)
		return 0;
	r = bus_turns_is_turn(b->turns, m) ? 0 : receive(b, m, error);
	if (r == 0)
		r = check_machine_id(m, error);
	if (r == 0)
		r = bus_log_offer(b, m, error);
	if (r == 0)
		r = long_reply_offer(b->long_replies, m, error);
	if (r == 0)
		r = bus_short_call_offer(b, m, error);
	return r == 0 && is_of_object(m) ? bus_export_rows(b) : r;
}

void bus_door_admit(const char *interface)
{
	admitted.interface = interface;
}

int bus_door_add(Bus *b)
{
	return sd_bus_add_filter(b->bus, &b->door, on_message, b);
}
