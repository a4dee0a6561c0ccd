/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The long replies, which the daemon writes itself: they say what sd-bus says of the same objects,
 * property by property. */

#include <signal.h>

#include "attribute.h"
#include "fixture.h"

#define PROPERTIES "org.freedesktop.DBus.Properties"

static const char scenario[] = "[device mlx5_0]\nindex = 3\nprotocol = infiniband\nports = 2\n"
			       "[port mlx5_0/*]\npkey.4 = 0x8005\n"
			       "[port mlx5_0/1]\nstate = down\n"
			       "[device rocep1]\nindex = 5\nprotocol = roce\n"
			       "[port rocep1/1]\nnetdev = eth7 7\ngid.3 = 192.0.2.7 v2 eth7\n"
			       "[device mlx5_1]\nindex = 6\nprotocol = roce\n"
			       "[port mlx5_1/1]\nvport = 1\n"
			       "[device hbl_0]\nindex = 7\nprotocol = roce\n"
			       "[port hbl_0/1]\nin_use = yes\n"
			       "[device iwarp0]\nindex = 8\nprotocol = iwarp\n";

static int setup(void **state)
{
	Fixture *f = fixture_new();

	fixture_start_daemon(f, scenario, NULL);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	Fixture *f = *state;
	int status = f->daemon_pid ? fixture_stop_daemon(f, SIGTERM) : 0;

	if (status != 0) {
		_cleanup_free_ char *log = fixture_daemon_log(f);

		print_error("the daemon ended with %d and said:\n%s\n", status, log);
	}
	fixture_free(f);
	return status;
}

/* Writes what is left in the container where M is. */
static void dump(FILE *file, sd_bus_message *m)
{
	const char *contents, *text;
	uint32_t u32;
	uint64_t u64;
	char type;
	int b;

	while (sd_bus_message_peek_type(m, &type, &contents) > 0)
		switch (type) {
		case 's':
		case 'o':
			assert_true(sd_bus_message_read_basic(m, type, &text) > 0);
			fprintf(file, "%c \"%s\" ", type, text);
			break;
		case 'u':
			assert_true(sd_bus_message_read_basic(m, type, &u32) > 0);
			fprintf(file, "u %u ", u32);
			break;
		case 't':
			assert_true(sd_bus_message_read_basic(m, type, &u64) > 0);
			fprintf(file, "t %llu ", (unsigned long long)u64);
			break;
		case 'b':
			assert_true(sd_bus_message_read_basic(m, type, &b) > 0);
			fprintf(file, "b %d ", b);
			break;
		default:
			assert_true(sd_bus_message_enter_container(m, type, contents) > 0);
			fprintf(file, "%c%s{ ", type, contents);
			dump(file, m);
			fputs("} ", file);
			assert_true(sd_bus_message_exit_container(m) > 0);
		}
}

/* What is left in the container where M is, as text to be freed. */
static char *dump_text(sd_bus_message *m)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	dump(file, m);
	assert_int_equal(fclose(file), 0);
	return text;
}

/* GetAll() as text: INTERFACE "" is all of them, which the daemon leaves to sd-bus. */
static char *get_all(Fixture *f, const char *path, const char *interface)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m =
		fixture_call(f, path, PROPERTIES, "GetAll", NULL, "s", interface);
	char *text;

	assert_string_equal(sd_bus_message_get_signature(m, true), "a{sv}");
	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
	text = dump_text(m);
	assert_true(sd_bus_message_exit_container(m) > 0);
	assert_true(sd_bus_message_at_end(m, true) > 0);
	return text;
}

/* The next object, which must be PATH: each interface as GetAll() has it, and together all that
 * sd-bus has, whose order is another. */
static void check_object(Fixture *f, sd_bus_message *m, const char *path)
{
	_cleanup_free_ char *all = get_all(f, path, "");
	const char *text;
	size_t n = 0;

	assert_true(sd_bus_message_read_basic(m, 'o', &text) > 0);
	assert_string_equal(text, path);
	assert_true(sd_bus_message_enter_container(m, 'a', "{sa{sv}}") > 0);
	while (sd_bus_message_enter_container(m, 'e', "sa{sv}") > 0) {
		_cleanup_free_ char *is = NULL, *other = NULL;

		assert_true(sd_bus_message_read_basic(m, 's', &text) > 0);
		other = get_all(f, path, text);
		assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") > 0);
		is = dump_text(m);
		assert_string_equal(is, other);
		if (!strstr(all, is))
			fail_msg("%s of %s:\n%s\nis not in\n%s", text, path, is, all);
		n += strlen(is);
		assert_true(sd_bus_message_exit_container(m) > 0);
		assert_true(sd_bus_message_exit_container(m) > 0);
	}
	assert_true(sd_bus_message_exit_container(m) > 0);
	assert_int_equal(n, strlen(all));
	assert_true(n > 500);
}

static void test_same_as_single(void **state)
{
	static const char *const paths[] = {
		"/org/rdma/device/3",	     "/org/rdma/device/3/port/1",
		"/org/rdma/device/3/port/2", "/org/rdma/device/5",
		"/org/rdma/device/5/port/1", "/org/rdma/device/6",
		"/org/rdma/device/6/port/1", "/org/rdma/device/7",
		"/org/rdma/device/7/port/1", "/org/rdma/device/8",
		"/org/rdma/device/8/port/1",
	};
	Fixture *f = *state;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m =
		fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
			     "GetManagedObjects", NULL, "");
	size_t n = 0;

	assert_true(sd_bus_message_enter_container(m, 'a', "{oa{sa{sv}}}") > 0);
	for (; sd_bus_message_enter_container(m, 'e', "oa{sa{sv}}") > 0; n++) {
		assert_true(n < ARRAY_SIZE(paths));
		check_object(f, m, paths[n]);
		assert_true(sd_bus_message_exit_container(m) > 0);
	}
	assert_int_equal(n, ARRAY_SIZE(paths));
	assert_true(sd_bus_message_exit_container(m) > 0);
	assert_true(sd_bus_message_at_end(m, true) > 0);
}

/* What there is not, or is not ours, sd-bus answers as ever. */
static void test_left_to_others(void **state)
{
	static const struct {
		const char *path, *interface, *error;
	} bad[] = {
		{"/org/rdma/device/3", RDMAD_INTERFACE_PORT, SD_BUS_ERROR_UNKNOWN_INTERFACE},
		{"/org/rdma/device/5/port/1", RDMAD_INTERFACE_INFINIBAND,
		 SD_BUS_ERROR_UNKNOWN_INTERFACE},
		{"/org/rdma/device/3/port/3", RDMAD_INTERFACE_PORT, SD_BUS_ERROR_UNKNOWN_OBJECT},
		{"/org/rdma/device/4", RDMAD_INTERFACE_DEVICE, SD_BUS_ERROR_UNKNOWN_OBJECT},
		{"/org/rdma/devices", RDMAD_INTERFACE_DEVICE, SD_BUS_ERROR_UNKNOWN_OBJECT},
	};
	Fixture *f = *state;
	_cleanup_free_ char *none = NULL, *manager = NULL;
	char *error;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_null(fixture_call(f, bad[i].path, PROPERTIES, "GetAll", &error, "s",
					 bad[i].interface));
		assert_string_equal(error, bad[i].error);
		free(error);
	}
	assert_null(fixture_call(f, "/org/rdma/device/3", PROPERTIES, "GetAll", &error, "u", 3));
	assert_string_equal(error, SD_BUS_ERROR_INVALID_ARGS);
	free(error);
	none = get_all(f, "/org/rdma/device/3", "org.freedesktop.DBus.Peer");
	assert_string_equal(none, "");
	manager = get_all(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER);
	assert_non_null(strstr(manager, "PortCount"));
}

/* A caller that wants no reply gets none. */
static void test_no_reply_wanted(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_method_call(f->bus, &m, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
						   "org.freedesktop.DBus.ObjectManager",
						   "GetManagedObjects") >= 0);
	assert_true(sd_bus_message_set_expect_reply(m, false) >= 0);
	assert_true(sd_bus_send(f->bus, m, NULL) >= 0);
	fixture_barrier(f);
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "PortCount", "6");
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_same_as_single),
		TEST(test_left_to_others),
		TEST(test_no_reply_wanted),
	};

	return cmocka_run_group_tests_name("bulk", tests, NULL, NULL);
}
