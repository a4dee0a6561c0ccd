/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whom a program that knows the other ends of links asks: nobody that systemd would start. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "neighbor.h"

#include "util.h"

static struct {
	const char *state; /* of the unit; NULL: systemd does not say it */
	unsigned int n_read;
	int result;
} test;

int __wrap_sd_bus_get_property_string(sd_bus *bus, const char *destination, const char *path,
				      const char *interface, const char *member,
				      sd_bus_error *error, char **ret);
int __wrap_sd_bus_get_property_string(_unused_ sd_bus *bus, const char *destination,
				      const char *path, _unused_ const char *interface,
				      const char *member, _unused_ sd_bus_error *error, char **ret)
{
	assert_string_equal(destination, "org.freedesktop.systemd1");
	assert_string_equal(path, "/unit");
	assert_string_equal(member, "ActiveState");
	if (!test.state)
		return -EACCES;
	*ret = strdup(test.state);
	return 0;
}

sd_bus *__wrap_sd_bus_message_get_bus(sd_bus_message *m);
sd_bus *__wrap_sd_bus_message_get_bus(_unused_ sd_bus_message *m)
{
	return NULL;
}

int __wrap_sd_bus_message_append(sd_bus_message *m, const char *types, ...);
int __wrap_sd_bus_message_append(_unused_ sd_bus_message *m, const char *types, ...)
{
	assert_string_equal(types, "(ssssssuuitt)");
	return 1;
}

/* The first question comes at once. */
int __wrap_helper_main(Helper *h, const char *program, int error);
int __wrap_helper_main(Helper *h, const char *program, int error)
{
	assert_string_equal(h->name, "name");
	assert_string_equal(h->path, "/path");
	assert_string_equal(program, "program");
	assert_string_equal(h->methods[0].returns, "a(ssssssuuitt)");
	assert_true(h->answer_sec > 0);
	test.result = h->methods[0].answer(h, NULL, NULL, NULL);
	return error;
}

static int read_one(const char *socket, OnNeighbor on, void *for_whom)
{
	assert_string_equal(socket, "socket");
	test.n_read++;
	return on(for_whom, &(Neighbor){.interface = "eth0"});
}

/* Whether the other program, with this unit in this state, is asked. */
static bool is_asked(const char *unit, const char *state)
{
	const NeighborReader reader = {.read = read_one, .socket = "socket", .unit = unit};

	test.n_read = 0;
	test.state = state;
	assert_int_equal(neighbor_main("name", "/path", "program", &reader), 0);
	return test.n_read == 1;
}

static void test_states(_unused_ void **state)
{
	static const char *const ends[] = {"inactive", "failed", "deactivating"};

	assert_true(is_asked(NULL, NULL));
	assert_int_equal(test.result, 0);
	assert_true(is_asked("/unit", "active"));
	assert_true(is_asked("/unit", "activating"));
	assert_int_equal(test.result, 0);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		assert_false(is_asked("/unit", ends[i]));
		assert_int_equal(test.result, 0);
	}
	assert_false(is_asked("/unit", NULL));
	assert_int_equal(test.result, -EACCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_states)};

	return cmocka_run_group_tests_name("neighbor", tests, NULL, NULL);
}
