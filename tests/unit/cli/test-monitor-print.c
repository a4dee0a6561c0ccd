/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What rdmactl monitor prints of news, for people and as JSON, and how a command is split. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <time.h>

#include "monitor-exec.h"
#include "monitor-print.h"

/* 2026-12-31 23:59:59.5 UTC */
#define NEW_YEARS_EVE UINT64_C(1798761599500000)

static Value values[_PORT_ATTR_MAX];
static Object port = {.path = "/org/rdma/device/3/port/1",
		      .is_port = true,
		      .rows = port_attributes,
		      .n_rows = _PORT_ATTR_MAX,
		      .values = values,
		      .interfaces = UINT32_MAX};

static Value text(const char *t)
{
	return (Value){.type = VALUE_TEXT, .text = CONST_CAST(char *, t)};
}

static int setup(_unused_ void **state)
{
	setenv("TZ", "UTC", 1);
	tzset();
	values[PORT_ATTR_device_name] = text("mlx5_0");
	values[PORT_ATTR_port_num] = (Value){.type = VALUE_UNSIGNED, .number = 1};
	return 0;
}

/* What is printed of NEWS; the caller frees it. */
static char *print(const News *news, NewsDate *date, bool json)
{
	Context c = {.json = json};
	NewsDate none = {};
	char *is = NULL;
	size_t size;

	c.out = open_memstream(&is, &size);
	assert_non_null(c.out);
	assert_true(news_print(&c, date ? date : &none, news));
	assert_int_equal(fclose(c.out), 0);
	return is;
}

static void expect(const News *news, NewsDate *date, const char *expected)
{
	_cleanup_free_ char *is = print(news, date, false);

	assert_string_equal(is, expected);
}

static void test_lines(_unused_ void **state)
{
	const Value down = text("down"), active = text("active"),
		    lid = {.type = VALUE_UNSIGNED, .number = 7};
	News news = {.object = &port,
		     .row = &port_attributes[PORT_ATTR_state],
		     .old_value = &active,
		     .new_value = &down,
		     .changed_usec = NEW_YEARS_EVE};

	expect(&news, NULL, "23:59:59.500 mlx5_0/1 State active -> down\n");
	news.reason = "port-error";
	news.detail = "was active for 5 s";
	news.more = 3;
	expect(&news, NULL,
	       "23:59:59.500 mlx5_0/1 State active -> down, was active for 5 s (port-error) +3\n");
	news = (News){.object = &port,
		      .row = &port_attributes[PORT_ATTR_lid],
		      .old_value = &lid,
		      .changed_usec = NEW_YEARS_EVE + 499999};
	expect(&news, NULL, "23:59:59.999 mlx5_0/1 Lid 7 -> unavailable\n");
	news.old_value = NULL;
	news.new_value = &lid;
	news.more = 1;
	expect(&news, NULL, "23:59:59.999 mlx5_0/1 Lid unavailable -> 7 +1\n");
	news = (News){.text = "is not running", .changed_usec = NEW_YEARS_EVE};
	expect(&news, NULL, "23:59:59.500 rdmad is not running\n");
}

/* The date is on the first line of each day but the first. */
static void test_dates(_unused_ void **state)
{
	NewsDate date = {}, always = {.always = true};
	News news = {.text = "runs", .changed_usec = NEW_YEARS_EVE};

	expect(&news, &date, "23:59:59.500 rdmad runs\n");
	expect(&news, &date, "23:59:59.500 rdmad runs\n");
	news.changed_usec += USEC_PER_SEC;
	expect(&news, &date, "2027-01-01 00:00:00.500 rdmad runs\n");
	expect(&news, &date, "00:00:00.500 rdmad runs\n");
	news.changed_usec -= USEC_PER_SEC;
	expect(&news, &date, "2026-12-31 23:59:59.500 rdmad runs\n");
	expect(&news, &always, "2026-12-31 23:59:59.500 rdmad runs\n");
	expect(&news, &always, "2026-12-31 23:59:59.500 rdmad runs\n");
}

/* Entries of a table: those that went, and those that came, each on a line; a GID with an address
 * is left out for it. */
static void test_tables(_unused_ void **state)
{
	static const char *const gid = "0000:0000:0000:0000:0000:ffff:c000:0201";
	Value members[3][5], entries[3], old, new, one;

	for (size_t i = 0; i < 3; i++) {
		members[i][0] = (Value){.type = VALUE_UNSIGNED, .number = i};
		members[i][1] = text(i == 1 ? gid : "fe80::1");
		members[i][2] = text("RoCE v2");
		members[i][3] = text("eth0");
		members[i][4] = text(i == 1 ? "192.0.2.1" : "");
		entries[i] = (Value){.type = VALUE_STRUCT, .items = members[i], .n = 5};
	}
	old = (Value){.type = VALUE_ARRAY, .items = entries, .n = 2};
	new = (Value){.type = VALUE_ARRAY, .items = entries + 1, .n = 2};
	one = (Value){.type = VALUE_ARRAY, .items = entries, .n = 1};
	News news = {.object = &port,
		     .row = &port_attributes[PORT_ATTR_gids],
		     .old_value = &old,
		     .new_value = &new,
		     .changed_usec = NEW_YEARS_EVE};
	_cleanup_free_ char *is = print(&news, NULL, false), *came = NULL;

	assert_non_null(strstr(is, "mlx5_0/1 Gids - "));
	assert_non_null(strstr(is, "mlx5_0/1 Gids + "));
	assert_non_null(strstr(is, "fe80::1"));
	assert_null(strstr(is, "192.0.2.1"));
	assert_int_equal(strchr(strchr(is, '\n') + 1, '\n')[1], '\0');
	news.old_value = &one;
	new = (Value){.type = VALUE_ARRAY, .items = entries, .n = 2};
	came = print(&news, NULL, false);
	assert_non_null(strstr(came, "192.0.2.1"));
	assert_null(strstr(came, gid));
	/* the entry itself stays as it is */
	assert_string_equal(members[1][1].text, gid);
	/* one side has no value */
	news.new_value = NULL;
	expect(&news, NULL, "23:59:59.500 mlx5_0/1 Gids 1 entry -> unavailable\n");
	news.old_value = &old;
	expect(&news, NULL, "23:59:59.500 mlx5_0/1 Gids 2 entries -> unavailable\n");
}

static void expect_json(const News *news, const char *expected)
{
	_cleanup_free_ char *is = print(news, NULL, true);
	const char *behind = startswith(is, "{\"Version\": 1, \"Timestamp\": ");

	assert_non_null(behind);
	/* the time of this moment, in microseconds */
	assert_int_equal(strspn(behind, "0123456789"), 16);
	assert_string_equal(behind + 16, expected);
}

static void test_json(_unused_ void **state)
{
	const Value down = text("down"), active = text("active");
	News news = {.name = "state",
		     .object = &port,
		     .row = &port_attributes[PORT_ATTR_state],
		     .old_value = &active,
		     .new_value = &down,
		     .changed_usec = NEW_YEARS_EVE,
		     .reason = "port-error"};

	expect_json(&news, ", \"StateChangeTimestamp\": 1798761599500000, \"Event\": \"state\", "
			   "\"Port\": \"mlx5_0/1\", \"ObjectPath\": "
			   "\"/org/rdma/device/3/port/1\", \"Property\": \"State\", \"Old\": "
			   "\"active\", \"New\": \"down\", \"Reason\": \"port-error\"}\n");
	news.changed_usec = 0;
	news.new_value = NULL;
	news.absence = "link-down";
	news.reason = NULL;
	expect_json(&news, ", \"Event\": \"state\", \"Port\": \"mlx5_0/1\", \"ObjectPath\": "
			   "\"/org/rdma/device/3/port/1\", \"Property\": \"State\", \"Old\": "
			   "\"active\", \"New\": null, \"Unavailable\": \"link-down\"}\n");
	news = (News){.name = "gone", .text = "rdmad has gone"};
	expect_json(&news, ", \"Event\": \"gone\"}\n");
}

static void test_split(_unused_ void **state)
{
	static const struct {
		const char *command, *words; /* each in [], or NULL: it is none */
	} cases[] = {
		{"a", "[a]"},
		{" a\t b  ", "[a][b]"},
		{"a b c d e f g h", "[a][b][c][d][e][f][g][h]"},
		{"sh -c 'a  \"b\" c'", "[sh][-c][a  \"b\" c]"},
		{"a\"b 'c\"d e", "[ab 'cd][e]"},
		{"'' a ''", "[][a][]"},
		{"", NULL},
		{" \t", NULL},
		{"a 'b", NULL},
		{"a \"b' c", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char **words = NULL, is[128] = "";
		int r = exec_split(cases[i].command, &words);

		assert_int_equal(r, cases[i].words ? 0 : -EINVAL);
		for (size_t k = 0; r == 0 && words[k]; k++) {
			size_t n = strlen(is);

			snprintf(is + n, sizeof(is) - n, "[%s]", words[k]);
		}
		assert_string_equal(is, cases[i].words ? cases[i].words : "");
		if (r == 0)
			exec_words_free(words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),  cmocka_unit_test(test_dates),
		cmocka_unit_test(test_tables), cmocka_unit_test(test_json),
		cmocka_unit_test(test_split),
	};

	return cmocka_run_group_tests_name("monitor-print", tests, setup, NULL);
}
