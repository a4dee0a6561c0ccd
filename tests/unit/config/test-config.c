/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rdmad.conf: what it may say, and that each thing that is wrong is named. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <glib.h>

#include "config.h"
#include "port-name.h"

/* Loads a file with the SIZE bytes of TEXT. */
static int load(Config *c, const char *text, size_t size, char **ret_message)
{
	char path[] = "/tmp/rdmad-test-config.XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);
	int r;

	assert_true(fd >= 0);
	assert_true(write(fd, text, size) == (ssize_t)size);
	r = config_load(c, path, ret_message);
	unlink(path);
	/* the file is named first */
	if (r < 0)
		assert_non_null(startswith(*ret_message, path));
	return r;
}

static void test_errors(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"nonsense\n", "nonsense"},
		{"ReconcileIntervalSec=1\n", "group"},
		{"[Daemon\n", "[Daemon"},
		{"[Daemon]\n=5\n", "=5"},
		{"[Deamon]\nReconcileIntervalSec=1\n",
		 "[Deamon]: unknown group, expected [Daemon], [Devices] or [Wait]"},
		{"[Daemon]\nReconcileInterval=1\n",
		 "[Daemon] ReconcileInterval=: unknown key, expected ReconcileIntervalSec, "
		 "QueryTimeoutSec"},
		{"[Devices]\nReconcileIntervalSec=1\n",
		 "[Devices] ReconcileIntervalSec=: unknown key, expected HoldContexts, NeverOpen "
		 "or Hbl"},
		{"[Daemon]\nReconcileIntervalSec=\n", "ReconcileIntervalSec=: expected seconds"},
		{"[Daemon]\nReconcileIntervalSec=soon\n", "=soon: expected seconds from 1 to"},
		{"[Daemon]\nReconcileIntervalSec=1 min\n", "=1 min: expected seconds"},
		{"[Daemon]\nReconcileIntervalSec=0.5\n", "or 0 for never"},
		{"[Daemon]\nReconcileIntervalSec=-1\n", "=-1: expected"},
		{"[Daemon]\nReconcileIntervalSec=nan\n", "=nan: expected"},
		{"[Daemon]\nReconcileIntervalSec=inf\n", "=inf: expected"},
		{"[Daemon]\nReconcileIntervalSec=1e9\n", "=1e9: expected"},
		{"[Daemon]\nQueryTimeoutSec=0\n", "=0: expected seconds from 0.01"},
		{"[Daemon]\nLongReplyMiBPerSec=0.05\n", "=0.05: expected MiB from 0.1 to 1024"},
		{"[Daemon]\nLongReplyMiBPerSec=nan\n", "=nan: expected MiB"},
		{"[Daemon]\nLongReplyMiBPerSec=2M\n", "=2M: expected MiB"},
		{"[Devices]\nHoldContexts=maybe\n", "HoldContexts=maybe: expected yes or no"},
		{"[Devices]\nHbl=\n", "Hbl=: expected yes or no"},
		/* a device that must not be opened would be */
		{"[Devices]\nNeverOpen=mlx5_0;a\\q\n", "NeverOpen=mlx5_0;a\\q: expected names"},
		{"[Devices]\nNeverOpen=mlx5_\xff\n", "NeverOpen=mlx5_?: expected names"},
		{"[Devices]\nNeverOpen=;\n", "NeverOpen=;: expected names"},
		{"[Wait]\nPort=mlx5_0\n", "[Wait] Port=: unknown key, expected Ports"},
		{"[Wait]\nPorts=;\n", "Ports=;: expected names of ports"},
		{"[Wait]\nPorts=ib0;mlx5_0/0\n", "Ports=: \"mlx5_0/0\": no name of a port"},
		{"[Devices]\nNeverOpen=a\n[Wait]\nPorts=mlx5_0/x\n", "\"mlx5_0/x\": no name"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *message = NULL;
		Config c = {.reconcile_usec = 7, .query_timeout_usec = 8, .hbl = true};

		if (load(&c, cases[i].text, strlen(cases[i].text), &message) != -EINVAL)
			fail_msg("taken: %s", cases[i].text);
		if (!strstr(message, cases[i].says))
			fail_msg("\"%s\" is not in: %s", cases[i].says, message);
		/* nothing has changed */
		assert_int_equal(c.reconcile_usec, 7);
		assert_int_equal(c.query_timeout_usec, 8);
		assert_true(c.hbl);
		assert_null(c.never_open);
		assert_null(c.wait_ports);
	}
}

static void test_values(void **state)
{
	static const char text[] = "# comment\n[Daemon]\nReconcileIntervalSec=0\n"
				   "QueryTimeoutSec=0.25\n[Devices]\nHoldContexts=no\n"
				   "NeverOpen=hbl_*;mlx5_3\nHbl=yes\n"
				   "[Wait]\nPorts=mlx5_0/1;ib7;\n";
	Config c = CONFIG_DEFAULT;
	_cleanup_free_ char *message = NULL;

	(void)state;
	assert_int_equal(load(&c, text, sizeof(text) - 1, &message), 0);
	assert_int_equal(c.reconcile_usec, 0);
	assert_int_equal(c.query_timeout_usec, 250000);
	assert_false(c.hold_contexts);
	assert_true(c.hbl);
	assert_string_equal(c.never_open[0], "hbl_*");
	assert_string_equal(c.never_open[1], "mlx5_3");
	assert_null(c.never_open[2]);
	assert_string_equal(c.wait_ports[0], "mlx5_0/1");
	assert_string_equal(c.wait_ports[1], "ib7");
	assert_null(c.wait_ports[2]);
	config_done(&c);
	/* none, and an empty one */
	assert_int_equal(config_load(&c, "/nonexistent", &message), -ENOENT);
	assert_null(message);
	assert_int_equal(load(&c, "[Devices]\nNeverOpen=\n", 21, &message), 0);
	config_done(&c);
	/* not a file, and no permission to be one */
	assert_int_equal(config_load(&c, "/tmp", &message), -EINVAL);
	assert_non_null(strstr(message, "/tmp: "));
}

/* As many ports as a wait may have, one of them named twice. One more is too many. */
static void test_number_of_ports(void **state)
{
	char text[2048] = "[Wait]\nPorts=ib0;";
	size_t n = strlen(text);
	Config c = CONFIG_DEFAULT;
	_cleanup_free_ char *message = NULL;

	(void)state;
	for (unsigned int i = 0; i < WAIT_PORTS_MAX; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "ib%u;", i);
	assert_int_equal(load(&c, text, n, &message), 0);
	assert_int_equal(g_strv_length(c.wait_ports), WAIT_PORTS_MAX + 1);
	config_done(&c);
	n += (size_t)snprintf(text + n, sizeof(text) - n, "mlx5_0/1;");
	assert_int_equal(load(&c, text, n, &message), -EINVAL);
	assert_non_null(strstr(message, "\"mlx5_0/1\": too many ports, 64 at most"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_number_of_ports),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
