/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Entries that can grow: what is in the tails of tables, and of ListPorts(). */

#include "attribute.h"
#include "fixture.h"

static const char scenario[] = "[device mlx5_0]\n"
			       "index = 3\n"
			       "protocol = infiniband\n"
			       "[port mlx5_0/1]\n"
			       "lid = 17\n"
			       "[device rocep1]\n"
			       "index = 5\n"
			       "protocol = roce\n"
			       "[port rocep1/1]\n"
			       "netdev = eth7 7\n"
			       "gid.0 = fe80::ff:fe00:7 v2\n"
			       "gid.1 = 192.0.2.7 v2 vlan5 77 vlan=5\n"
			       "gid.2 = 192.0.2.8 v2 namespace=other\n";

#define IB_PORT	  "/org/rdma/device/3/port/1"
#define ROCE_PORT "/org/rdma/device/5/port/1"

static int setup(void **state)
{
	return fixture_setup_daemon(state, scenario);
}

static void put_basic(FILE *f, sd_bus_message *m, char type)
{
	uint64_t number = 0;
	const char *text;

	if (type == 's' || type == 'o') {
		assert_true(sd_bus_message_read_basic(m, type, &text) > 0);
		fputs(text, f);
		return;
	}
	assert_true(sd_bus_message_read_basic(m, type, &number) > 0);
	fprintf(f, "%llu", (unsigned long long)number);
}

/* The next value of M as text: "[(3 name {Ifindex=7})]". */
static void put_value(FILE *f, sd_bus_message *m)
{
	static const char begin[] = "[({", end[] = "])}";
	const char *contents;
	bool first = true;
	char type;
	size_t kind;

	assert_true(sd_bus_message_peek_type(m, &type, &contents) > 0);
	if (!contents) {
		put_basic(f, m, type);
		return;
	}
	kind = type == 'r' ? 1 : type == 'a' && contents[0] == '{' ? 2 : 0;
	assert_true(sd_bus_message_enter_container(m, type, contents) > 0);
	if (type == 'a' || type == 'r')
		fputc(begin[kind], f);
	for (; sd_bus_message_at_end(m, false) == 0; first = false) {
		if (!first)
			fputc(type == 'e' ? '=' : ' ', f);
		put_value(f, m);
	}
	if (type == 'a' || type == 'r')
		fputc(end[kind], f);
	assert_true(sd_bus_message_exit_container(m) > 0);
}

static char *value_text(sd_bus_message *m)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	put_value(f, m);
	fclose(f);
	return text;
}

static const char gids[] =
	"[(0 fe80:0000:0000:0000:0000:00ff:fe00:0007 RoCE v2 eth7 fe80::ff:fe00:7 {Ifindex=7}) "
	"(1 0000:0000:0000:0000:0000:ffff:c000:0207 RoCE v2 vlan5 192.0.2.7 {Ifindex=77 VlanId=5}) "
	"(2 0000:0000:0000:0000:0000:ffff:c000:0208 RoCE v2  192.0.2.8 {Namespace=other})]";

/* The same from sd-bus, which asks for one property, and from rdmad's own writer of long replies.
 */
static void test_gids(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *one = NULL, *all = NULL;
	_cleanup_free_ char *text = NULL, *properties = NULL;

	one = fixture_call(f, ROCE_PORT, "org.freedesktop.DBus.Properties", "Get", NULL, "ss",
			   RDMAD_INTERFACE_PORT, "Gids");
	text = value_text(one);
	assert_string_equal(text, gids);
	all = fixture_call(f, ROCE_PORT, "org.freedesktop.DBus.Properties", "GetAll", NULL, "s",
			   RDMAD_INTERFACE_PORT);
	properties = value_text(all);
	if (!strstr(properties, gids))
		fail_msg("%s", properties);
}

static void test_pkeys(void **state)
{
	Fixture *f = *state;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, IB_PORT, "org.freedesktop.DBus.Properties", "Get", NULL, "ss",
			     RDMAD_INTERFACE_INFINIBAND, "Pkeys");
	_cleanup_free_ char *text = value_text(reply);

	assert_string_equal(text, "[(0 65535 full {})]");
}

static char *list_ports(Fixture *f, const char *device, const char *properties)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = fixture_call(
		f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", NULL, "a{sv}", 2,
		"device", "s", device, "properties", "as", 3, "PhysicalState", "Gids", properties);

	return value_text(reply);
}

static bool ends(const char *text, const char *end)
{
	return strlen(text) >= strlen(end) && streq(text + strlen(text) - strlen(end), end);
}

static char *list_reasons(Fixture *f, const char *property)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = fixture_call(
		f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", NULL, "a{sv}", 3,
		"device", "s", "mlx5_0", "properties", "as", 1, property, "reasons", "b", 1);

	return value_text(reply);
}

/* The reasons are those of what the reply has, or would have; Unavailable that is called for has
 * all. */
static void test_reasons(Fixture *f)
{
	_cleanup_free_ char *some = list_reasons(f, "SmSl"), *all = list_reasons(f, "Unavailable");

	if (!ends(some,
		  " {Unavailable={ActiveMtu=link-down LinkWidth=link-down LinkSpeed=link-down "
		  "Rate=link-down Lid=not-configured SmLid=not-configured "
		  "SmSl=not-configured}})]"))
		fail_msg("%s", some);
	if (!strstr(all, " SmSl=not-configured ") || !strstr(all, " Neighbor=not-asked "))
		fail_msg("%s", all);
}

/* A port has those of the properties that are called for, that it has, and that have a value. */
static void test_list_ports(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *ethernet = NULL, *infiniband = NULL, *down = NULL, *error = NULL;
	_cleanup_free_ char *of_device = NULL, *both = NULL, *of_infiniband = NULL;
	char expected[1024];

	ethernet = list_ports(f, "rocep1", "Ifindex");
	snprintf(expected, sizeof(expected), " {PhysicalState=link-up Gids=%s Ifindex=7})]", gids);
	if (!ends(ethernet, expected))
		fail_msg("%s", ethernet);
	infiniband = list_ports(f, "mlx5_0", "SmSl");
	assert_non_null(strstr(infiniband, "PhysicalState=link-up"));
	assert_true(ends(infiniband, " SmSl=0})]"));
	/* the core has a value of this for a port of any kind */
	of_infiniband = list_ports(f, "rocep1", "PkeyGeneration");
	assert_null(strstr(of_infiniband, "PkeyGeneration"));
	/* what is a property of the device, and not of the port; a device has LastError too */
	of_device = list_ports(f, "mlx5_0", "FirmwareVersion");
	assert_true(ends(of_device, " FirmwareVersion=1.0.0})]"));
	both = list_ports(f, "mlx5_0", "LastError");
	assert_non_null(strstr(both, " LastError="));
	assert_string_equal(strstr(both, " LastError="), " LastError=})]");
	fixture_simulate(f, "set mlx5_0/1 state=down event=port-error");
	fixture_wait_signal(f, IB_PORT, "StateChanged");
	down = list_ports(f, "mlx5_0", "SmSl");
	assert_null(strstr(down, "SmSl"));
	test_reasons(f);
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", &error,
				 "a{sv}", 1, "properties", "as", 1, "Nonsense"));
	assert_string_equal(error, RDMAD_ERROR_INVALID_OPTION);
}

/* An error about an option names the method. */
static void test_no_option(void **state)
{
	static const char *const methods[] = {"GetDeviceByName", "GetPort", "GetPortByNetdev",
					      "GetPortByGuid", "GetPortByAddress"};
	Fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;

		assert_true(sd_bus_call_method(f->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					       RDMAD_INTERFACE_MANAGER, methods[i], &error, NULL,
					       "sa{sv}", "x", 1, "nonsense", "u", 1) < 0);
		assert_non_null(strstr(error.message, methods[i]));
	}
}

/* Calls ListPorts() with N names of properties; whether that is refused as a wrong argument. */
static bool refuses(Fixture *f, unsigned int n)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL, *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;

	assert_true(sd_bus_message_new_method_call(f->bus, &call, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
						   RDMAD_INTERFACE_MANAGER, "ListPorts") >= 0);
	assert_true(sd_bus_message_open_container(call, 'a', "{sv}") >= 0);
	assert_true(sd_bus_message_open_container(call, 'e', "sv") >= 0);
	assert_true(sd_bus_message_append(call, "s", "properties") >= 0);
	assert_true(sd_bus_message_open_container(call, 'v', "as") >= 0);
	assert_true(sd_bus_message_open_container(call, 'a', "s") >= 0);
	for (unsigned int i = 0; i < n; i++)
		assert_true(sd_bus_message_append(call, "s", i % 2 ? "Lid" : "PortCount") >= 0);
	for (unsigned int i = 0; i < 4; i++)
		assert_true(sd_bus_message_close_container(call) >= 0);
	if (sd_bus_call(f->bus, call, 0, &error, &reply) >= 0)
		return false;
	assert_string_equal(error.name, RDMAD_ERROR_INVALID_ARGUMENT);
	return true;
}

/* As many names as a port and a device have rows, and one more. */
static void test_many_properties(void **state)
{
	Fixture *f = *state;
	const unsigned int most = (unsigned int)_PORT_ATTR_MAX + _DEVICE_ATTR_MAX;

	assert_false(refuses(f, 0));
	assert_false(refuses(f, most));
	assert_true(refuses(f, most + 1));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_gids),      TEST(test_pkeys),		  TEST(test_list_ports),
		TEST(test_no_option), TEST(test_many_properties),
	};

	return cmocka_run_group_tests_name("tails", tests, NULL, NULL);
}
