/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-door.h"

#include "bus-private.h"
#include "bus-shown.h"
#include "names.h"

#define PROPERTIES "org.freedesktop.DBus.Properties"

/* What is special about a method, or about all methods of an interface (MEMBER is NULL). */
typedef struct Rule {
	const char *interface, *member;
	size_t max_size; /* of its arguments, in bytes */
	bool acts;	 /* it does something, also for a caller who wants no reply */
} Rule;

/* clang-format off */
static const Rule rules[] = {
	{PROPERTIES,                "Set",     BUS_DOOR_SIZE_MAX, true},
	{RDMAD_INTERFACE_MANAGER,   "Refresh", BUS_DOOR_SIZE_MAX, true},
	{RDMAD_INTERFACE_MANAGER,   "WaitFor", 16384,             false}, /* 64 names of ports */
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

static int check_arguments(sd_bus_message *m, const Rule *rule, sd_bus_error *error)
{
	size_t left = rule->max_size;
	int r = measure(m, &left);

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

/* 0: the call passes, and M is as it has come. 1: it is dropped. A negative errno and ERROR: it is
 * refused. */
static int check(sd_bus_message *m, sd_bus_error *error)
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
	r = check_arguments(m, rule, error);
	return MIN(r, 0);
}

/* Properties.Get with a reply, which is not measured. */
static bool is_get(sd_bus_message *m)
{
	return streq(sd_bus_message_get_member(m), "Get") &&
	       streq(sd_bus_message_get_signature(m, true), "ss") && !has_long_path(m) &&
	       sd_bus_message_get_expect_reply(m) > 0;
}

/* What the budget says of the call M; the result is that of check(). */
static int check_budget(Bus *b, sd_bus_message *m, sd_bus_error *error)
{
	/* They are not formatted: a refusal is cheap. */
	static const sd_bus_error busy = SD_BUS_ERROR_MAKE_CONST(
		RDMAD_ERROR_LIMITS_EXCEEDED, "The calls of this user have kept rdmad busy for too "
					     "long while others wait; try again in a second");
	const char *sender = sd_bus_message_get_sender(m);
	BudgetVerdict verdict;
	int r;

	if (!sender)
		return 1; /* each call on a bus has one */
	r = bus_meter_begin(b->meter, sender, &verdict);
	if (r < 0)
		return r;
	switch (verdict) {
	case BUDGET_SERVE:
		return 0;
	case BUDGET_REFUSE:
		return sd_bus_error_copy(error, &busy);
	case BUDGET_DROP:
		break;
	}
	return 1;
}

static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	uint8_t type;
	int r = sd_bus_message_get_type(m, &type);

	if (r < 0 || type != SD_BUS_MESSAGE_METHOD_CALL)
		return 0;
	r = check_budget(b, m, error);
	if (r != 0 || is_get(m))
		return r;
	r = check(m, error);
	if (r == 0)
		r = bus_log_offer(b, m, error);
	return r != 0 ? r : long_reply_offer(b->long_replies, m, error);
}

void bus_door_admit(const char *interface)
{
	admitted.interface = interface;
}

int bus_door_add(Bus *b)
{
	return sd_bus_add_filter(b->bus, &b->door, on_message, b);
}
