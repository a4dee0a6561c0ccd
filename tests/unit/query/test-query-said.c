/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What libraries say again and again is logged once. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-said.h"
#include "util.h"

static void say(const char *text)
{
	Said s;

	said_begin(&s);
	fputs(text, stderr);
	errno = ENOMEM;
	said_end(&s);
	assert_int_equal(errno, ENOMEM);
}

static void test_once(_unused_ void **state)
{
	FILE *before = stderr;
	char *text = NULL;
	size_t size;

	stderr = open_memstream(&text, &size);
	say("Warning: a\nWarning: b\n");
	say("Warning: b\nWarning: c\nWarning: a\n");
	say("");
	say("Warning: c");
	fputs("itself\n", stderr);
	fclose(stderr);
	stderr = before;
	assert_string_equal(text, "Warning: a\nWarning: b\nWarning: c\nitself\n");
	free(text);
}

/* What is always another line does not fill the log or the memory. */
static void test_many(_unused_ void **state)
{
	FILE *before = stderr;
	char *text = NULL, line[32];
	size_t size, n = 0;

	stderr = open_memstream(&text, &size);
	for (unsigned int i = 0; i < 3 * SAID_MAX; i++) {
		snprintf(line, sizeof(line), "line %u\n", i);
		say(line);
	}
	fclose(stderr);
	stderr = before;
	for (const char *c = text; *c; c++)
		n += *c == '\n';
	assert_in_range(n, 1, SAID_MAX);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("query-said", tests, NULL, NULL);
}
