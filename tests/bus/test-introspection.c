/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the daemon says of its interfaces is what dbus/INTERFACE.xml says. With REGENERATE=1 the
 * files are written instead: the attribute tables and the vtables are the source.
 */

#include <sys/stat.h>

#include "fixture.h"

static const char scenario[] = "[device mlx5_0]\nindex = 1\nprotocol = infiniband\n"
			       "[device rocep1]\nindex = 2\nprotocol = roce\n"
			       "[device mlx5_1]\nindex = 3\nprotocol = roce\nnum_lag_ports = 2\n"
			       "[port mlx5_1/1]\nvport = 1\n"
			       "[device hbl_0]\nindex = 4\nprotocol = roce\n"
			       "[port hbl_0/1]\nin_use = yes\n"
			       "[device efa_0]\nindex = 5\nprotocol = roce\nefa_caps = rdma-read\n"
			       "[device hns_0]\nindex = 6\nprotocol = roce\ncongest_type = dcqcn\n";

static const struct {
	const char *path, *interface;
} interfaces[] = {
	{RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER},
	{RDMAD_ROOT_PATH, RDMAD_INTERFACE_SIMULATOR},
	{"/org/rdma/device/1", RDMAD_INTERFACE_DEVICE},
	{"/org/rdma/device/1/port/1", RDMAD_INTERFACE_PORT},
	{"/org/rdma/device/1/port/1", RDMAD_INTERFACE_INFINIBAND},
	{"/org/rdma/device/2/port/1", RDMAD_INTERFACE_ETHERNET},
	{"/org/rdma/device/3/port/1", RDMAD_INTERFACE_MLX5},
	{"/org/rdma/device/4/port/1", RDMAD_INTERFACE_HBL},
	{"/org/rdma/device/3", RDMAD_INTERFACE_DEVICE_MLX5},
	{"/org/rdma/device/5", RDMAD_INTERFACE_DEVICE_EFA},
	{"/org/rdma/device/6", RDMAD_INTERFACE_DEVICE_HNS},
};

/* The file that NAME of what is introspected at PATH should be; to be freed. */
static char *introspect(Fixture *f, const char *path, const char *name)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = fixture_call(
		f, path, "org.freedesktop.DBus.Introspectable", "Introspect", NULL, "");
	_cleanup_free_ char *begin_tag = NULL;
	const char *xml, *begin, *end;
	char *ret;

	assert_true(sd_bus_message_read_basic(reply, 's', &xml) >= 0);
	assert_true(asprintf(&begin_tag, " <interface name=\"%s\">", name) > 0);
	begin = strstr(xml, begin_tag);
	assert_non_null(begin);
	end = strstr(begin, "</interface>");
	assert_non_null(end);
	assert_true(asprintf(&ret,
			     "<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object "
			     "Introspection 1.0//EN\"\n"
			     "\"https://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n"
			     "<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->\n"
			     "<!-- Generated from the daemon: ./run update-golden -->\n"
			     "<node>\n%.*s</interface>\n</node>\n",
			     (int)(end - begin), begin) > 0);
	return ret;
}

static char *read_file(const char *path)
{
	_cleanup_fclose_ FILE *file = fopen(path, "r");
	char *text = calloc(1, 65536);

	assert_non_null(text);
	if (file)
		text[fread(text, 1, 65535, file)] = '\0';
	return text;
}

static void test_interfaces(void **state)
{
	Fixture *f = fixture_new();

	(void)state;
	fixture_start_daemon(f, scenario, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(interfaces); i++) {
		_cleanup_free_ char *is =
			introspect(f, interfaces[i].path, interfaces[i].interface);
		_cleanup_free_ char *was = NULL;
		char path[512];

		snprintf(path, sizeof(path), "%s/dbus/%s.xml", TEST_SOURCE_DIR,
			 interfaces[i].interface);
		if (getenv("REGENERATE")) {
			_cleanup_fclose_ FILE *file = fopen(path, "w");

			assert_non_null(file);
			assert_true(fputs(is, file) >= 0);
			continue;
		}
		was = read_file(path);
		if (!streq(is, was))
			fail_msg("%s is not what the daemon says: ./run update-golden, and review "
				 "it",
				 path);
	}
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_interfaces)};

	return cmocka_run_group_tests_name("introspection", tests, NULL, NULL);
}
