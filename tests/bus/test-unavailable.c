/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a client sees of a property that has no value: what it reads as, wherever it reads it, and
 * the code that says why. */

#include "attribute.h"
#include "fixture.h"

static const char scenario[] = "[device mlx5_0]\n"
			       "index = 0\n"
			       "protocol = infiniband\n"
			       "[device mlx5_1]\n"
			       "index = 1\n"
			       "protocol = infiniband\n"
			       "numa_node = 0\n"
			       "[port mlx5_0/*]\n"
			       "lid = 17\n"
			       "sm_lid = 1\n";

#define DEVICE "/org/rdma/device/0"
#define PORT   DEVICE "/port/1"

/* What the properties of an active port are, and of one that is down. */
static const struct {
	const char *interface, *name, *up, *down, *why;
} rows[] = {
	{RDMAD_INTERFACE_INFINIBAND, "Lid", "17", "0", "not-configured"},
	{RDMAD_INTERFACE_INFINIBAND, "Lmc", "0", "4294967295", "not-configured"},
	{RDMAD_INTERFACE_INFINIBAND, "SmSl", "0", "4294967295", "not-configured"},
	{RDMAD_INTERFACE_PORT, "LinkSpeed", "NDR", "unknown", "link-down"},
	{RDMAD_INTERFACE_PORT, "Rate", "400000000000", "0", "link-down"},
};

static int setup(void **state)
{
	return fixture_setup_daemon(state, scenario);
}

/* The value of the basic type that M has next, as text. The caller frees it. */
static char *read_basic(sd_bus_message *m)
{
	char type, *ret = NULL;
	union {
		const char *text;
		uint32_t u32;
		uint64_t u64;
		int32_t s32;
	} v = {};

	assert_true(sd_bus_message_peek_type(m, &type, NULL) > 0);
	assert_true(sd_bus_message_read_basic(m, type, &v) > 0);
	if (type == 's')
		ret = strdup(v.text);
	else
		assert_true(asprintf(&ret, "%llu",
				     (unsigned long long)(type == 't' ? v.u64 : v.u32)) > 0);
	return ret;
}

/* Property NAME of the a{sv} that M has next, as text: NULL if it is not there. The caller frees
 * it. */
static char *read_member(sd_bus_message *m, const char *name)
{
	const char *key, *contents;
	char *ret = NULL;

	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		assert_true(sd_bus_message_read_basic(m, 's', &key) > 0);
		assert_true(sd_bus_message_peek_type(m, NULL, &contents) > 0);
		if (streq(key, name)) {
			assert_true(sd_bus_message_enter_container(m, 'v', contents) > 0);
			ret = read_basic(m);
			sd_bus_message_exit_container(m);
		} else {
			sd_bus_message_skip(m, "v");
		}
		sd_bus_message_exit_container(m);
	}
	sd_bus_message_exit_container(m);
	return ret;
}

static void check_get_all(Fixture *f, const char *interface, const char *name, const char *expected)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *all = fixture_call(
		f, PORT, "org.freedesktop.DBus.Properties", "GetAll", NULL, "s", interface);
	_cleanup_free_ char *text = read_member(all, name);

	assert_non_null(text);
	assert_string_equal(text, expected);
}

static void assert_code(Fixture *f, const char *path, const char *interface, const char *name,
			const char *expected)
{
	_cleanup_free_ char *code = fixture_code_of(f, path, interface, name);

	assert_string_equal(code, expected);
}

/* The value of property NAME in the last PropertiesChanged of INTERFACE. The caller frees it. */
static char *signalled(Fixture *f, const char *interface, const char *name)
{
	const char *of;

	for (size_t i = f->n_signals; i-- > 0;) {
		sd_bus_message *m = f->signals[i];

		if (!streq(sd_bus_message_get_member(m), "PropertiesChanged"))
			continue;
		assert_true(sd_bus_message_rewind(m, true) >= 0);
		assert_true(sd_bus_message_read_basic(m, 's', &of) > 0);
		if (streq(of, interface))
			return read_member(m, name);
	}
	return NULL;
}

static void check_rows(Fixture *f, bool is_down)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *expected = is_down ? rows[i].down : rows[i].up;

		fixture_assert_property(f, PORT, rows[i].interface, rows[i].name, expected);
		check_get_all(f, rows[i].interface, rows[i].name, expected);
		assert_code(f, PORT, RDMAD_INTERFACE_PORT, rows[i].name,
			    is_down ? rows[i].why : "");
	}
}

/* A value that could be one is not read from a port that is down: not by Get, not by GetAll, and
 * not in the signal that says that it has gone. */
static void test_port_goes_down(void **state)
{
	Fixture *f = *state;

	check_rows(f, false);
	fixture_simulate(f, "set mlx5_0/1 state=down phys_state=polling event=port-error");
	fixture_wait_signal(f, PORT, "StateChanged");
	fixture_barrier(f);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = signalled(f, rows[i].interface, rows[i].name);

		assert_non_null(text);
		assert_string_equal(text, rows[i].down);
	}
	check_rows(f, true);
}

/* Node 0 is a node: without one the property is -1. */
static void test_numa_node(void **state)
{
	Fixture *f = *state;

	fixture_assert_property(f, DEVICE, RDMAD_INTERFACE_DEVICE, "NumaNode", "-1");
	assert_code(f, DEVICE, RDMAD_INTERFACE_DEVICE, "NumaNode", "not-reported");
	fixture_assert_property(f, "/org/rdma/device/1", RDMAD_INTERFACE_DEVICE, "NumaNode", "0");
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_port_goes_down),
		TEST(test_numa_node),
	};

	return cmocka_run_group_tests_name("unavailable", tests, NULL, NULL);
}
