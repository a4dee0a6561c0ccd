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
		{"[Daemon]\nLongReplyMiBPerSec=0.05\n",
		 "=0.05: expected MiB from 0.1 to 1024, or 0 for no limit"},
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
		{"[Wait]\nPorts=ib0;mlx5_0/00\n", "Ports=: \"mlx5_0/00\": no name of a port"},
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

/* Both ends of what a number may be, and 0 where it stands for something. */
static void test_limits(_unused_ void **state)
{
	static const struct {
		const char *number;
		uint64_t bytes; /* UINT64_MAX: it is refused */
	} cases[] = {
		{"0.1", (1U << 20) / 10}, {"1024", UINT64_C(1) << 30}, {"0", 0},
		{"0.09", UINT64_MAX},	  {"1024.5", UINT64_MAX},      {"-0.1", UINT64_MAX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *message = NULL;
		Config c = CONFIG_DEFAULT;
		char text[64];
		int r;

		snprintf(text, sizeof(text), "[Daemon]\nLongReplyMiBPerSec=%s\n", cases[i].number);
		r = load(&c, text, strlen(text), &message);
		assert_int_equal(r, cases[i].bytes == UINT64_MAX ? -EINVAL : 0);
		if (r == 0)
			assert_int_equal(c.long_reply_rate, cases[i].bytes);
		config_done(&c);
	}
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

typedef struct KeyRow {
	const char *group, *key, *type, *initial;
	struct {
		double least, most;
		const char *zero;
	} limits;
} KeyRow;

static const KeyRow rows[] = {
#define ROW(group_, key_, type_, field, initial_, ...)                                             \
	{.group = #group_,                                                                         \
	 .key = #key_,                                                                             \
	 .type = #type_,                                                                           \
	 .initial = #initial_,                                                                     \
	 .limits = {__VA_ARGS__}},
	CONFIG_KEYS(ROW)};

static char *read_document(const char *name)
{
	g_autofree char *path = g_build_filename(TEST_SOURCE_DIR, "docs", name, NULL);
	char *text;

	assert_true(g_file_get_contents(path, &text, NULL, NULL));
	return text;
}

static void assert_defaults(const Config *c)
{
	const Config initial = CONFIG_DEFAULT;

#define FIELD(group, key, type, field, ...)                                                        \
	if (c->field != initial.field)                                                             \
		fail_msg("%s has not its default", #key);
	CONFIG_KEYS(FIELD)
}

/* The sample names every key, in its group, and says the defaults of those that have one. */
static void test_sample(void **state)
{
	g_autofree char *sample = read_document("examples/rdmad.conf");
	Config c = CONFIG_DEFAULT;
	_cleanup_free_ char *message = NULL;
	char *at = sample;

	(void)state;
	assert_int_equal(load(&c, sample, strlen(sample), &message), 0);
	assert_defaults(&c);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		g_autofree char *group = g_strdup_printf("\n[%s]\n", rows[i].group);
		g_autofree char *line = g_strdup_printf("\n#%s=", rows[i].key);
		char *key;

		if (i == 0 || !streq(rows[i].group, rows[i - 1].group))
			at = strstr(at, group);
		key = at ? strstr(at, line) : NULL;
		if (!key)
			fail_msg("[%s] %s= is not in the sample", rows[i].group, rows[i].key);
		/* as if there were no # before it */
		key[1] = '\n';
		at = key + 1;
	}
	assert_int_equal(load(&c, sample, strlen(sample), &message), 0);
	/* lists have no default but none: those of the sample are examples */
	assert_int_equal(g_strv_length(c.never_open), 2);
	assert_int_equal(g_strv_length(c.wait_ports), 2);
	config_done(&c);
	assert_defaults(&c);
}

/* The manual page describes every key, with its limits and its default. */
static void test_manual(void **state)
{
	g_autofree char *manual = read_document("man/rdmad.conf.5");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const KeyRow *k = &rows[i];
		bool is_number = k->limits.most > 0, is_boolean = streq(k->type, "boolean");
		g_autofree char *start = g_strdup_printf("\n.It Va %s Ns = Ns ", k->key);
		g_autofree char *from =
			g_strdup_printf(" from %.6g to %.6g%s%s%c", k->limits.least, k->limits.most,
					k->limits.zero ? ", or 0 for " : "",
					k->limits.zero ? k->limits.zero : "", '.');
		g_autofree char *initial =
			g_strdup_printf("\nThe default is %s", is_number ? k->initial
							       : streq(k->initial, "true") ? "yes"
											   : "no");
		char *item = strstr(manual, start), *end;

		if (!item)
			fail_msg("%s= is not in the manual", k->key);
		end = strstr(item + 1, "\n.It ");
		end = end ? end : item + strlen(item);
		if (is_number && !g_strstr_len(item, end - item, from))
			fail_msg("%s=: \"%s\" is not in the manual", k->key, from);
		if ((is_number || is_boolean) && !g_strstr_len(item, end - item, initial))
			fail_msg("%s=: \"%s\" is not in the manual", k->key, initial);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),		cmocka_unit_test(test_values),
		cmocka_unit_test(test_number_of_ports), cmocka_unit_test(test_sample),
		cmocka_unit_test(test_manual),		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
