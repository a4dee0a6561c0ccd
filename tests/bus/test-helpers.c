/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that answer what rdmad may not see itself. They end when nobody has asked for a while:
 * each question begins that time again. Here each runs in a child of the test, in which the first
 * such time does not end, and those that begin with a question end at once.
 */

#include <inttypes.h>
#include <sys/mman.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "fixture.h"
#include "module-image.h"
#include "module-read.h"
#include "neighbor.h"

#define NEVER_USEC (24 * 3600 * USEC_PER_SEC)

/* main() of rdmad-processes, rdmad-cable and rdmad-networkd */
int processes_main(int argc, char *argv[]);
int cable_main(int argc, char *argv[]);
int networkd_main(int argc, char *argv[]);

static uint64_t idle_usec;

int __real_sd_event_add_time_relative(sd_event *e, sd_event_source **s, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata);
int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **s, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata);
int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **s, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata)
{
	idle_usec = usec;
	return __real_sd_event_add_time_relative(e, s, clock, NEVER_USEC, accuracy, callback,
						 userdata);
}

int __real_sd_event_source_set_time_relative(sd_event_source *s, uint64_t usec);
int __wrap_sd_event_source_set_time_relative(sd_event_source *s, uint64_t usec);
int __wrap_sd_event_source_set_time_relative(sd_event_source *s, uint64_t usec)
{
	return __real_sd_event_source_set_time_relative(s, usec == idle_usec ? 0 : NEVER_USEC);
}

/* What rdmad-cable reads: no module of interface 1, one of interface 2, and an error of others */
int __wrap_module_read(_unused_ Genl *g, uint32_t ifindex, ModulePages *ret);
int __wrap_module_read(_unused_ Genl *g, uint32_t ifindex, ModulePages *ret)
{
	if (ifindex == 1)
		return -ENOMEDIUM;
	if (ifindex != 2)
		return -EIO;
	module_image(KIND_QSFP_OPTIC, ret);
	return 0;
}

/* The other end that test_neighbors() has heard */
static int read_neighbor(const char *socket, OnNeighbor on, void *for_whom)
{
	assert_string_equal(socket, "socket");
	return on(for_whom, &(Neighbor){.interface = "eth0", .system = "switch"});
}

static int neighbors_main(_unused_ int argc, char *argv[])
{
	const NeighborReader reader = {.read = read_neighbor, .socket = "socket"};

	return neighbor_main("org.rdma.Test", "/org/rdma/test", argv[0], &reader);
}

/* Waits until NAME has an owner, or until the one before has gone for the bus, too. */
static void wait_for_owner(Fixture *f, const char *name, bool expected)
{
	int has_owner = !expected;

	for (unsigned int i = 0; i < 3000 && has_owner != expected; i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;

		if (i > 0)
			usleep(10000);
		assert_true(sd_bus_call_method(f->bus, "org.freedesktop.DBus",
					       "/org/freedesktop/DBus", "org.freedesktop.DBus",
					       "NameHasOwner", NULL, &reply, "s", name) >= 0);
		assert_true(sd_bus_message_read(reply, "b", &has_owner) >= 0);
	}
	assert_int_equal(has_owner, expected);
}

/* Runs PROGRAM, until it has NAME. Returns the process. */
static pid_t start(Fixture *f, const char *name, int (*program)(int, char *[]))
{
	pid_t helper;

	wait_for_owner(f, name, false);
	helper = fork();
	assert_true(helper >= 0);
	if (helper == 0) {
		int status;

		setenv("DBUS_SYSTEM_BUS_ADDRESS", f->address, true);
		status = program(1, (char *[]){"program", NULL});
		/* nothing ends later who has waited in time */
		_exit(alarm(0) > 0 ? 99 : status);
	}
	wait_for_owner(f, name, true);
	return helper;
}

static void test_processes(void **state)
{
	Fixture *f = *state;
	pid_t helper = start(f, "org.rdma.Processes", processes_main);

	assert_true(sd_bus_call_method(f->bus, "org.rdma.Processes", "/org/rdma/processes",
				       "org.rdma.Processes", "Describe", NULL, NULL, "au", 1,
				       1U) >= 0);
	assert_int_equal(fixture_wait_process(helper), 0);
}

/* rdmad-cable says of the module of INTERFACE what is in *RET, which the caller gives back. Returns
 * what sd_bus_call() does. */
static int read_module(Fixture *f, uint32_t interface, sd_bus_message **ret)
{
	pid_t helper = start(f, "org.rdma.Cable", cable_main);
	int r;

	r = sd_bus_call_method(f->bus, "org.rdma.Cable", "/org/rdma/cable", "org.rdma.Cable",
			       "Read", NULL, ret, "u", interface);
	assert_int_equal(fixture_wait_process(helper), 0);
	return r;
}

static void test_cable(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *none = NULL, *module = NULL;
	_cleanup_(port_snapshot_done) PortSnapshot expected = {};
	const char *name, *value;
	ModulePages pages;

	/* no module is something that is known, and all of it */
	assert_true(read_module(f, 1, &none) >= 0);
	assert_true(sd_bus_message_enter_container(none, 'a', "{ss}") > 0);
	assert_true(sd_bus_message_read(none, "{ss}", &name, &value) > 0);
	assert_string_equal(name, "cable_present");
	assert_string_equal(value, "raw:0");
	assert_int_equal(sd_bus_message_at_end(none, false), 1);

	/* all that the pages say, in the order of the rows */
	assert_true(read_module(f, 2, &module) >= 0);
	module_image(KIND_QSFP_OPTIC, &pages);
	module_decode(&pages, &expected);
	assert_true(sd_bus_message_enter_container(module, 'a', "{ss}") > 0);
	MASK_FOREACH(a, expected.supplied)
	{
		const Attribute *row = &port_attributes[a];
		char number[32];

		snprintf(number, sizeof(number), "raw:%" PRIu64,
			 attr_is_text(row->type) ? 0 : attr_get_raw(row, &expected.values));
		assert_true(sd_bus_message_read(module, "{ss}", &name, &value) > 0);
		assert_string_equal(name, row->field);
		assert_string_equal(value, attr_is_text(row->type)
						   ? attr_get_text(row, &expected.values)
						   : number);
	}
	assert_int_equal(sd_bus_message_at_end(module, false), 1);

	assert_int_equal(read_module(f, 3, NULL), -EIO);
}

static void test_neighbors(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	pid_t helper = start(f, "org.rdma.Test", neighbors_main);
	const char *interface, *system;

	assert_true(sd_bus_call_method(f->bus, "org.rdma.Test", "/org/rdma/test", "org.rdma.Test",
				       "List", NULL, &reply, NULL) >= 0);
	assert_int_equal(fixture_wait_process(helper), 0);
	assert_true(sd_bus_message_enter_container(reply, 'a', "(ssssssuuitt)") > 0);
	assert_true(sd_bus_message_enter_container(reply, 'r', "ssssssuuitt") > 0);
	assert_true(sd_bus_message_read(reply, "ss", &interface, &system) > 0);
	assert_string_equal(interface, "eth0");
	assert_string_equal(system, "switch");
}

/* On this bus is no systemd that could say whether systemd-networkd runs. */
static void test_networkd(void **state)
{
	Fixture *f = *state;
	pid_t helper = start(f, "org.rdma.Networkd", networkd_main);

	assert_true(sd_bus_call_method(f->bus, "org.rdma.Networkd", "/org/rdma/networkd",
				       "org.rdma.Networkd", "List", NULL, NULL, NULL) < 0);
	assert_int_equal(fixture_wait_process(helper), 0);
}

/* Each of them says which argument it does not know, and ends. */
static void test_arguments(_unused_ void **state)
{
	static const struct {
		int (*program)(int, char *[]);
		int argc; /* with the argument that is too many */
	} programs[] = {{processes_main, 2}, {cable_main, 2}, {networkd_main, 3}};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		char *argv[] = {"program", "first", "second", NULL}, text[64];
		_cleanup_close_ int fd = memfd_create("stderr", MFD_CLOEXEC), kept = dup(2);
		ssize_t n;

		argv[programs[i].argc] = NULL;
		assert_true(fd >= 0 && kept >= 0 && dup2(fd, 2) == 2);
		assert_int_equal(programs[i].program(programs[i].argc, argv), EXIT_FAILURE);
		assert_int_equal(dup2(kept, 2), 2);
		n = pread(fd, text, sizeof(text) - 1, 0);
		assert_true(n >= 0);
		text[n] = '\0';
		assert_string_equal(text, programs[i].argc == 2 ? "Unexpected argument: first\n"
								: "Unexpected argument: second\n");
	}
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_processes),
		TEST(test_cable),
		TEST(test_neighbors),
		TEST(test_networkd),
		cmocka_unit_test(test_arguments),
	};

	return cmocka_run_group_tests_name("helpers", tests, NULL, NULL);
}
