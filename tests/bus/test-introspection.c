/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the daemon says of its interfaces is what dbus/INTERFACE.xml says, but for the documentation
 * (documented.h). With REGENERATE=1 the files are written instead: the attribute tables,
 * members.def and the vtables are the source.
 */

#include <sys/stat.h>

#include "documented.h"
#include "fixture.h"
#include "members.h"

static const char scenario[] = "[device mlx5_0]\nindex = 1\nprotocol = infiniband\nmax_qp = 1\n"
			       "[device rocep1]\nindex = 2\nprotocol = roce\n"
			       "[port rocep1/1]\nfec_mode = rs\n"
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
	{"/org/rdma/device/2/port/1", "org.rdma.Port.Signal"},
	{"/org/rdma/device/2/port/1", "org.rdma.Port.Neighbor"},
	{"/org/rdma/device/2/port/1", "org.rdma.Port.Cable"},
	{"/org/rdma/device/3/port/1", "org.rdma.Port.Mlx5"},
	{"/org/rdma/device/4/port/1", "org.rdma.Port.Hbl"},
	{"/org/rdma/device/1", "org.rdma.Device.Limits"},
	{"/org/rdma/device/3", "org.rdma.Device.Mlx5"},
	{"/org/rdma/device/5", "org.rdma.Device.Efa"},
	{"/org/rdma/device/6", "org.rdma.Device.Hns"},
};

/* The file that NAME of what is introspected at PATH should be; to be freed. */
static char *introspect(Fixture *f, const char *path, const char *name)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = fixture_call(
		f, path, "org.freedesktop.DBus.Introspectable", "Introspect", NULL, "");
	_cleanup_free_ char *begin_tag = NULL, *element = NULL, *text = NULL;
	const char *xml, *begin, *end;
	char *ret;

	assert_true(sd_bus_message_read_basic(reply, 's', &xml) >= 0);
	assert_true(asprintf(&begin_tag, " <interface name=\"%s\">", name) > 0);
	begin = strstr(xml, begin_tag);
	assert_non_null(begin);
	end = strstr(begin, "</interface>");
	assert_non_null(end);
	element = strndup(begin, (size_t)(end - begin));
	assert_non_null(element);
	text = documented(element);
	assert_true(asprintf(&ret,
			     "<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object "
			     "Introspection 1.0//EN\"\n"
			     "\"https://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n"
			     "<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->\n"
			     "<!-- Generated from the daemon: ./run update-golden -->\n"
			     "<node>\n%s </interface>\n</node>\n",
			     text) > 0);
	return ret;
}

static char *read_file(const char *path)
{
	_cleanup_fclose_ FILE *file = fopen(path, "r");
	const size_t size = 1 << 18;
	char *text = calloc(1, size);

	assert_non_null(text);
	if (file)
		text[fread(text, 1, size - 1, file)] = '\0';
	return text;
}

/* Each row of members.def is about something that there is. */
static void check_members(const char *interface, const char *xml)
{
	for (size_t i = 0; i < n_members; i++) {
		const Member *m = &members[i];
		char name[96];

		if (!streq(m->interface, interface) || !*m->name)
			continue;
		snprintf(name, sizeof(name), " name=\"%s\"", m->name);
		if (!strstr(xml, name))
			fail_msg("%s has no %s any more: remove it from lib/model/members.def",
				 interface, m->name);
	}
}

static void test_interfaces(void **state)
{
	Fixture *f = fixture_new();

	(void)state;
	fixture_start_daemon(f, scenario, NULL);
	/* what the PHY says is read after the news */
	sd_bus_message_unref(fixture_call(f, "/org/rdma/device/2/port/1", RDMAD_INTERFACE_PORT,
					  "Query", NULL, "a{sv}", 0));
	for (size_t i = 0; i < ARRAY_SIZE(interfaces); i++) {
		_cleanup_free_ char *is =
			introspect(f, interfaces[i].path, interfaces[i].interface);
		_cleanup_free_ char *was = NULL;
		char path[512];

		snprintf(path, sizeof(path), "%s/dbus/%s.xml", TEST_SOURCE_DIR,
			 interfaces[i].interface);
		check_members(interfaces[i].interface, is);
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

static int on_reply(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	(void)error;
	*(sd_bus_message **)userdata = sd_bus_message_ref(m);
	return 0;
}

/* Asks for the text of PATH at NAME, the bus name of rdmad or of SERVICE, which may be NULL. To be
 * freed. */
static char *introspect_at(Fixture *f, sd_bus *service, const char *name, const char *path)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL, *reply = NULL;
	_cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;
	const char *xml;
	char *ret;

	assert_true(sd_bus_message_new_method_call(f->bus, &call, name, path,
						   "org.freedesktop.DBus.Introspectable",
						   "Introspect") >= 0);
	assert_true(sd_bus_call_async(f->bus, &slot, call, on_reply, &reply, 0) >= 0);
	while (!reply) {
		int r = sd_bus_process(f->bus, NULL);

		assert_true(r >= 0);
		if (service) {
			int k = sd_bus_process(service, NULL);

			assert_true(k >= 0);
			r += k;
		}
		if (r == 0)
			assert_true(sd_bus_wait(f->bus, service ? 1000 : UINT64_MAX) >= 0);
	}
	assert_false(sd_bus_message_is_method_error(reply, NULL));
	assert_true(sd_bus_message_read_basic(reply, 's', &xml) >= 0);
	ret = strdup(xml);
	assert_non_null(ret);
	return ret;
}

static int list_objects(sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes,
			sd_bus_error *error)
{
	static const char *const paths[] = {"/org/rdma/device/1", "/org/rdma/device/1/port/1",
					    "/org/rdma/device/2", "/org/rdma/device/2/port/1",
					    "/org/rdma/device/3", "/org/rdma/device/3/port/1",
					    "/org/rdma/device/4", "/org/rdma/device/4/port/1",
					    "/org/rdma/device/5", "/org/rdma/device/5/port/1",
					    "/org/rdma/device/6", "/org/rdma/device/6/port/1"};
	char **nodes = calloc(ARRAY_SIZE(paths) + 1, sizeof(char *));

	(void)bus;
	(void)prefix;
	(void)userdata;
	(void)error;
	assert_non_null(nodes);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		nodes[i] = strdup(paths[i]);
	*ret_nodes = nodes;
	return 0;
}

/* The names of all elements of XML in their order, each in a line; to be freed. Versions of sd-bus
 * write the rest in different ways. */
static char *element_names(const char *xml)
{
	char *ret = calloc(1, strlen(xml) + 1), *to = ret;

	assert_non_null(ret);
	for (const char *at = xml; (at = strchr(at, '<')); at++) {
		const char *end = strchr(at, '>'), *name = strstr(at, "name=\"");

		if (at[1] == '!' || !name || !end || name > end)
			continue;
		to = stpncpy(to, at + 1, strcspn(at + 1, " "));
		to = stpncpy(to, name + 5, strcspn(name + 6, "\"") + 1);
		*to++ = '\n';
	}
	return ret;
}

/* The parent of all devices says of itself and its children what sd-bus would say with a node
 * enumerator, though it is not sd-bus that says it. */
static void test_parent(void **state)
{
	Fixture *f = fixture_new();
	_cleanup_(sd_bus_close_unrefp) sd_bus *service = NULL;
	const char *name;

	(void)state;
	fixture_start_daemon(f, scenario, NULL);
	service = fixture_client(f);
	assert_true(sd_bus_add_node_enumerator(service, NULL, "/org/rdma/device", list_objects,
					       NULL) >= 0);
	assert_true(sd_bus_get_unique_name(service, &name) >= 0);
	{
		_cleanup_free_ char *of_sd_bus =
			introspect_at(f, service, name, "/org/rdma/device");
		_cleanup_free_ char *is =
			introspect_at(f, NULL, RDMAD_BUS_NAME, "/org/rdma/device");
		_cleanup_free_ char *expected = element_names(of_sd_bus);
		_cleanup_free_ char *names = element_names(is);

		assert_non_null(strstr(names, "\nnode\"4/port/1\n"));
		assert_string_equal(names, expected);
		assert_string_equal(is + strlen(is) - strlen("</node>\n"), "</node>\n");
	}
	fixture_simulate(f, "remove rocep1");
	fixture_wait_signal(f, "/org/rdma", "InterfacesRemoved");
	{
		_cleanup_free_ char *is =
			introspect_at(f, NULL, RDMAD_BUS_NAME, "/org/rdma/device");

		assert_null(strstr(is, "<node name=\"2"));
		assert_non_null(strstr(is, "<node name=\"3\"/>"));
	}
	fixture_free(f);
}

/* The children of a device, and of what is between it and its ports; nothing else exists. */
static void test_children(void **state)
{
	static const struct {
		const char *path, *child;
	} parents[] = {
		{"/org/rdma/device/1", " <node name=\"port/1\"/>\n"},
		{"/org/rdma/device/1/port", " <node name=\"1\"/>\n"},
		{"/org/rdma", " <node name=\"device\"/>\n"},
	};
	static const char *const leaves[] = {"/org/rdma/device/1/port/1"};
	static const char *const none[] = {"/org/rdma/device/7", "/org/rdma/device/x",
					   "/org/rdma/device/1/port/2", "/org/rdma/device/1x",
					   "/org/rdma/device1"};
	Fixture *f = fixture_new();

	(void)state;
	fixture_start_daemon(f, scenario, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(parents); i++) {
		_cleanup_free_ char *is = introspect_at(f, NULL, RDMAD_BUS_NAME, parents[i].path);
		const char *child = strstr(is, parents[i].child);

		assert_non_null(child);
		assert_string_equal(child + strlen(parents[i].child), "</node>\n");
	}
	for (size_t i = 0; i < ARRAY_SIZE(leaves); i++) {
		_cleanup_free_ char *is = introspect_at(f, NULL, RDMAD_BUS_NAME, leaves[i]);

		assert_null(strstr(is, "<node name"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		_cleanup_free_ char *error = NULL;

		assert_null(fixture_call(f, none[i], "org.freedesktop.DBus.Introspectable",
					 "Introspect", &error, ""));
		assert_string_equal(error, SD_BUS_ERROR_UNKNOWN_OBJECT);
	}
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interfaces),
		cmocka_unit_test(test_parent),
		cmocka_unit_test(test_children),
	};

	return cmocka_run_group_tests_name("introspection", tests, NULL, NULL);
}
