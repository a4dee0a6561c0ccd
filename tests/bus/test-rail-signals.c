/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rail and RailSource on the bus: all ports decide about those of each. */

#include "fixture.h"
#include "names.h"

#define A    "/org/rdma/device/1/port/1"
#define B    "/org/rdma/device/2/port/1"
#define SOFT "/org/rdma/device/3/port/1"

static const char scenario[] = "[device mlx5_0]\n"
			       "index = 1\n"
			       "protocol = infiniband\n"
			       "pci_address = 0000:9a:00.0\n"
			       "[device mlx5_1]\n"
			       "index = 2\n"
			       "protocol = infiniband\n"
			       "pci_address = 0000:18:00.0\n"
			       "[device soft]\n"
			       "index = 3\n"
			       "protocol = roce\n";

static int setup(void **state)
{
	int r = fixture_setup_daemon(state, scenario);
	Fixture *f = *state;

	f->with_health = true;
	return r;
}

/* Writes "1 order" of PATH to TEXT, or the code that says why it has no rail. */
static const char *rail(Fixture *f, const char *path, char text[64])
{
	_cleanup_free_ char *code = fixture_code_of(f, path, RDMAD_INTERFACE_PORT, "Rail");
	_cleanup_free_ char *source_code =
		fixture_code_of(f, path, RDMAD_INTERFACE_PORT, "RailSource");
	_cleanup_free_ char *number = fixture_property(f, path, RDMAD_INTERFACE_PORT, "Rail");
	_cleanup_free_ char *source = fixture_property(f, path, RDMAD_INTERFACE_PORT, "RailSource");

	assert_string_equal(source_code, code);
	if (!*code) {
		snprintf(text, 64, "%s %s", number, source);
		return text;
	}
	assert_string_equal(number, "4294967295");
	assert_string_equal(source, "unknown");
	snprintf(text, 64, "%s", code);
	return text;
}

static bool has(const Fixture *f, const char *path, const char *property)
{
	for (size_t i = 0; i < f->n_signals; i++)
		if (streq(sd_bus_message_get_path(f->signals[i]), path) &&
		    streq(sd_bus_message_get_member(f->signals[i]), "PropertiesChanged") &&
		    fixture_changed(f->signals[i], RDMAD_INTERFACE_PORT, property))
			return true;
	return false;
}

/* Returns when that of PATH is EXPECTED, after a signal that has PROPERTY. */
static void wait_rail(Fixture *f, const char *path, const char *expected, const char *property)
{
	char text[64];

	while (!has(f, path, property))
		fixture_wait_more(f);
	assert_string_equal(rail(f, path, text), expected);
}

static void test_rails(void **state)
{
	Fixture *f = *state;
	char text[64];

	/* whoever sees the name on the bus sees them */
	assert_string_equal(rail(f, A, text), "1 order");
	assert_string_equal(rail(f, B, text), "0 order");
	assert_string_equal(rail(f, SOFT, text), "not-applicable");
	/* a change of what does not decide about them */
	fixture_forget(f);
	fixture_simulate(f, "set mlx5_0/1 state=down event=port-error");
	fixture_wait_signal(f, A, "StateChanged");
	fixture_simulate(f, "set mlx5_0/1 state=active event=port-active");
	/* one neighbour alone makes no order; then both change */
	fixture_simulate(f, "set mlx5_1/1 neighbor_source=lldpd neighbor=leaf-2 event=neighbor");
	while (!has(f, B, "Unavailable"))
		fixture_wait_more(f);
	fixture_barrier(f);
	assert_false(has(f, A, "Rail") || has(f, B, "Rail"));
	fixture_simulate(f, "set mlx5_0/1 neighbor_source=lldpd neighbor=leaf-1 event=neighbor");
	wait_rail(f, A, "0 neighbor", "Rail");
	wait_rail(f, B, "1 neighbor", "RailSource");
	assert_false(has(f, SOFT, "Rail") || has(f, SOFT, "RailSource"));
	/* one is near an accelerator: the other has no rail any more */
	fixture_forget(f);
	fixture_simulate(f, "set mlx5_1 accelerator.0000:19:00.0=PIX,2,10de:2330 event=device");
	wait_rail(f, A, "not-applicable", "Unavailable");
	wait_rail(f, B, "0 neighbor", "Rail");
	fixture_forget(f);
	fixture_simulate(f, "set mlx5_1 accelerator.0000:19:00.0= event=device");
	wait_rail(f, A, "0 neighbor", "Rail");
	wait_rail(f, B, "1 neighbor", "Rail");
}

/* A port that goes, and one that comes. */
static void test_set(void **state)
{
	Fixture *f = *state;
	char text[64];

	fixture_forget(f);
	fixture_simulate(f, "remove mlx5_1");
	wait_rail(f, A, "0 order", "Rail");
	fixture_forget(f);
	fixture_simulate(f, "add mlx5_1 protocol=infiniband pci_address=0000:18:00.0");
	wait_rail(f, A, "1 order", "Rail");
	fixture_barrier(f);
	assert_string_equal(rail(f, "/org/rdma/device/4/port/1", text), "0 order");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rails, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_set, setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("rail-signals", tests, NULL, NULL);
}
