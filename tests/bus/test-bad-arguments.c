/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Wrong arguments to every method that introspection shows, and to the properties. The daemon says
 * what is wrong and goes on.
 */

#include "calls.h"

#define PORT "/org/rdma/device/0/port/1"
#define LOG  "/org/freedesktop/LogControl1"

#define SCENARIO "[device mlx5_0]\nprotocol = infiniband\n"

/* Every method */

typedef struct Method {
	char interface[80], name[64], signature[64];
} Method;

/* The value of ATTRIBUTE in the tag at TAG, into RET. */
static bool attribute(const char *tag, const char *name, char *ret, size_t size)
{
	const char *end = strchr(tag, '>'), *p = strstr(tag, name);

	if (!p || p > end)
		return false;
	p += strlen(name);
	snprintf(ret, size, "%.*s", (int)strcspn(p, "\""), p);
	return true;
}

/* The methods of the object at PATH, from its introspection. */
static size_t find_methods(Fixture *f, const char *path, Method *ret, size_t max)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = fixture_call(
		f, path, "org.freedesktop.DBus.Introspectable", "Introspect", NULL, "");
	char interface[80] = "", direction[8], type[32];
	bool in_method = false;
	const char *xml;
	size_t n = 0;

	assert_true(sd_bus_message_read_basic(reply, 's', &xml) >= 0);
	for (const char *p = xml; (p = strchr(p, '<')); p++) {
		if (startswith(p, "<interface "))
			attribute(p, "name=\"", interface, sizeof(interface));
		if (startswith(p, "<method ")) {
			assert_true(n < max);
			ret[n] = (Method){};
			text_copy(ret[n].interface, sizeof(ret[n].interface), interface);
			attribute(p, "name=\"", ret[n].name, sizeof(ret[n].name));
			in_method = p[strcspn(p, ">") - 1] != '/';
			n++;
		}
		if (startswith(p, "</method"))
			in_method = false;
		if (in_method && startswith(p, "<arg ") &&
		    attribute(p, "type=\"", type, sizeof(type)) &&
		    attribute(p, "direction=\"", direction, sizeof(direction)) &&
		    streq(direction, "in"))
			strcat(ret[n - 1].signature, type);
	}
	return n;
}

static sd_bus_message *new_call(Fixture *f, const char *path, const Method *m)
{
	sd_bus_message *call = NULL;

	assert_true(sd_bus_message_new_method_call(f->bus, &call, RDMAD_BUS_NAME, path,
						   m->interface, m->name) >= 0);
	return call;
}

/* Neutral arguments for a signature, with one option that nobody knows. */
static void append_arguments(sd_bus_message *call, const char *signature, const char *text,
			     bool option)
{
	for (const char *p = signature; *p;) {
		if (*p == 's' || *p == 'b' || *p == 'u' || *p == 't') {
			if (*p == 's')
				assert_true(sd_bus_message_append(call, "s", text) >= 0);
			else if (*p == 'b')
				assert_true(sd_bus_message_append(call, "b", 0) >= 0);
			else if (*p == 't')
				assert_true(sd_bus_message_append(call, "t", UINT64_C(0)) >= 0);
			else
				assert_true(sd_bus_message_append(call, "u", 0) >= 0);
			p++;
		} else if (startswith(p, "a{ss}")) {
			assert_true(sd_bus_message_append(call, "a{ss}", 0) >= 0);
			p += strlen("a{ss}");
		} else if (startswith(p, "a{sv}")) {
			assert_true((option ? sd_bus_message_append(call, "a{sv}", 1, "nonsense",
								    "s", text)
					    : sd_bus_message_append(call, "a{sv}", 0)) >= 0);
			p += strlen("a{sv}");
		} else if (startswith(p, "as")) {
			assert_true(sd_bus_message_append(call, "as", 0) >= 0);
			p += strlen("as");
		} else {
			fail_msg("this test knows no argument \"%s\": teach it", p);
		}
	}
}

/* Sends CALL; its error must have a text, be one of ours or of D-Bus for bad arguments, and leave
 * the daemon on the bus. Returns the error's name, to be freed. */
static char *expect_refusal(Fixture *f, const Method *m, sd_bus_message *call)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;

	if (sd_bus_call(f->bus, call, 0, &error, &reply) >= 0)
		fail_msg("%s.%s took it", m->interface, m->name);
	if (!error.name || !error.message || !*error.message ||
	    (!startswith(error.name, "org.rdma.Error.") &&
	     !streq(error.name, SD_BUS_ERROR_INVALID_ARGS)))
		fail_msg("%s.%s: %s: %s", m->interface, m->name, error.name, error.message);
	calls_ping(f);
	return strdup(error.name);
}

/* If this is cut after 100 bytes, the cut is within a character of two bytes. */
#define LONG_TEXT                                                                                  \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	"aaa"                                                                                      \
	"aaaaaaaa\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"

/* Whether SIGNATURE is that of M without the options, which a call may leave out. */
static bool is_without_options(const Method *m, const char *signature)
{
	const char *rest = startswith(m->signature, signature);

	return (streq(m->interface, RDMAD_INTERFACE_MANAGER) ||
		streq(m->interface, RDMAD_INTERFACE_PORT)) &&
	       rest && streq(rest, "a{sv}");
}

/* The name of the error of the call of M, "" if there is none; to be freed. */
static char *call_error(Fixture *f, const char *path, const Method *m, const char *signature)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = new_call(f, path, m);

	append_arguments(call, signature, "mlx5_0/1", false);
	if (sd_bus_call(f->bus, call, 0, &error, NULL) >= 0)
		return strdup("");
	return strdup(error.name);
}

/* Without options the answer is the same as with none. */
static size_t check_without_options(Fixture *f, const char *path, const Method *m)
{
	_cleanup_free_ char *signature = strdup(m->signature), *with = NULL, *without = NULL;
	size_t n = strlen(signature);

	if (n < strlen("a{sv}"))
		return 0;
	signature[n - strlen("a{sv}")] = '\0';
	if (!is_without_options(m, signature))
		return 0;
	with = call_error(f, path, m, m->signature);
	without = call_error(f, path, m, signature);
	if (!streq(with, without))
		fail_msg("%s.%s: \"%s\", and without options \"%s\"", m->interface, m->name, with,
			 without);
	return 1;
}

static void check_method(Fixture *f, const char *path, const Method *m)
{
	static const char *const wrong[] = {"", "u", "as", "ss", "v"};
	static const char *const texts[] = {"",		"nonsense",    "no/port/1",
					    "mlx5_0/0", "mlx5_0/1025", "*/9",
					    "\x01\x02", LONG_TEXT,     "a" LONG_TEXT};
	_cleanup_free_ char *option_error = NULL;
	sd_bus_message *call;

	/* Other types than it takes */
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_free_ char *error = NULL;

		if (streq(m->signature, wrong[i]) || is_without_options(m, wrong[i]))
			continue;
		call = new_call(f, path, m);
		if (streq(wrong[i], "u"))
			sd_bus_message_append(call, "u", 1);
		else if (streq(wrong[i], "as"))
			sd_bus_message_append(call, "as", 1, "x");
		else if (streq(wrong[i], "ss"))
			sd_bus_message_append(call, "ss", "x", "y");
		else if (streq(wrong[i], "v"))
			sd_bus_message_append(call, "v", "s", "x");
		error = expect_refusal(f, m, call);
		sd_bus_message_unref(call);
		assert_string_equal(error, SD_BUS_ERROR_INVALID_ARGS);
	}
	/* An option that nobody knows */
	call = new_call(f, path, m);
	append_arguments(call, m->signature, "mlx5_0/1", true);
	option_error = expect_refusal(f, m, call);
	sd_bus_message_unref(call);
	if (startswith(m->interface, "org.rdma.") &&
	    !streq(m->interface, RDMAD_INTERFACE_SIMULATOR))
		assert_string_equal(option_error, RDMAD_ERROR_INVALID_OPTION);
	/* FindPorts() answers with the ports that there are: none is no error */
	if (streq(m->name, "FindPorts"))
		return;
	/* Names of nothing */
	for (size_t i = 0;
	     i < ARRAY_SIZE(texts) && strchr(m->signature, 's') < strchr(m->signature, 'a'); i++) {
		call = new_call(f, path, m);
		append_arguments(call, m->signature, texts[i], false);
		free(expect_refusal(f, m, call));
		sd_bus_message_unref(call);
	}
}

static void test_every_method(void **state)
{
	static const char *const paths[] = {RDMAD_ROOT_PATH, "/org/rdma/device/0", PORT, LOG};
	Fixture *f = *state;
	Method methods[64];
	size_t checked = 0, with_options = 0;

	fixture_start_daemon(f, SCENARIO, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		size_t n = find_methods(f, paths[i], methods, ARRAY_SIZE(methods));

		assert_true(n > 0);
		for (size_t k = 0; k < n; k++) {
			/* sd-bus' own: Peer, Introspectable, Properties, ObjectManager */
			if (startswith(methods[k].interface, "org.freedesktop.DBus."))
				continue;
			check_method(f, paths[i], &methods[k]);
			with_options += check_without_options(f, paths[i], &methods[k]);
			checked++;
		}
	}
	/* Manager 7, Simulator 8, Port 1. A new method is found and checked without a change here.
	 */
	assert_true(checked >= 16);
	/* of the manager all but WaitFor(), and all of the port */
assert_true(with_options >= 16);
	fixture_assert_property(f, PORT, RDMAD_INTERFACE_PORT, "State", "active");
}

/* Properties cannot be written, and those that do not exist give the fitting error. */
static void test_properties(void **state)
{
	Fixture *f = *state;
	static const char *const paths[] = {"/org/rdma/device/0/port/2",
					    "/org/rdma/device/0/port/0",
					    "/org/rdma/device/0/port/256",
					    "/org/rdma/device/4294967296",
					    "/org/rdma/device",
					    "/org/rdma/device/0/port",
					    "/org/rdma/device/x"};
	char *error;

	fixture_start_daemon(f, SCENARIO, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_null(fixture_call(f, paths[i], "org.freedesktop.DBus.Properties", "Get",
					 &error, "ss", RDMAD_INTERFACE_PORT, "State"));
		assert_non_null(startswith(error, "org.freedesktop.DBus.Error.Unknown"));
		free(error);
	}
	assert_null(fixture_call(f, PORT, "org.freedesktop.DBus.Properties", "Get", &error, "ss",
				 RDMAD_INTERFACE_PORT, "Nonsense"));
	assert_string_equal(error, SD_BUS_ERROR_UNKNOWN_PROPERTY);
	free(error);
	assert_null(fixture_call(f, PORT, "org.freedesktop.DBus.Properties", "Set", &error, "ssv",
				 RDMAD_INTERFACE_PORT, "State", "s", "down"));
	assert_string_equal(error, SD_BUS_ERROR_PROPERTY_READ_ONLY);
	free(error);
	assert_null(fixture_call(f, LOG, "org.freedesktop.DBus.Properties", "Set", &error, "ssv",
				 "org.freedesktop.LogControl1", "LogLevel", "u", 7));
	assert_string_equal(error, SD_BUS_ERROR_INVALID_ARGS);
	free(error);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_every_method),
		TEST(test_properties),
	};

	return cmocka_run_group_tests_name("bad-arguments", tests, NULL, NULL);
}
