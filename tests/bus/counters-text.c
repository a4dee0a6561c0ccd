/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "counters-text.h"

#include "fixture.h"

#define SETS_MAX     8
#define COUNTERS_MAX 64

static void enter(sd_bus_message *m, char type, const char *contents)
{
	assert_true(sd_bus_message_enter_container(m, type, contents) > 0);
}

static void leave(sd_bus_message *m)
{
	assert_true(sd_bus_message_exit_container(m) >= 0);
}

static void put_error(FILE *file, const char *key, const char *text)
{
	if (streq(key, "Error") || streq(key, "ErrorMessage"))
		fprintf(file, " %s=%s", key, text);
}

typedef struct Set {
	size_t n;
	const char *group[COUNTERS_MAX], *name[COUNTERS_MAX], *unit[COUNTERS_MAX];
} Set;

/* Of the counters of a port, what is no number. */
typedef struct Tail {
	const char *reason[COUNTERS_MAX]; /* NULL: there is a value */
	bool saturated[COUNTERS_MAX];
} Tail;

static size_t read_texts(sd_bus_message *m, const char **texts)
{
	size_t n = 0;

	enter(m, 'a', "s");
	while (sd_bus_message_at_end(m, false) == 0) {
		assert_true(n < COUNTERS_MAX);
		assert_true(sd_bus_message_read_basic(m, 's', &texts[n++]) > 0);
	}
	leave(m);
	return n;
}

static size_t read_sets(sd_bus_message *m, Set *sets)
{
	size_t n = 0;

	enter(m, 'a', "(asasasa{sv})");
	while (sd_bus_message_enter_container(m, 'r', "asasasa{sv}") > 0) {
		Set *s = &sets[n++];

		assert_true(n <= SETS_MAX);
		s->n = read_texts(m, s->group);
		assert_int_equal(read_texts(m, s->name), s->n);
		assert_int_equal(read_texts(m, s->unit), s->n);
		assert_true(sd_bus_message_skip(m, "a{sv}") > 0);
		leave(m);
	}
	leave(m);
	return n;
}

static void read_tail(FILE *errors, sd_bus_message *m, Tail *t)
{
	const char *key, *text;
	uint32_t i;

	enter(m, 'a', "{sv}");
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		assert_true(sd_bus_message_read_basic(m, 's', &key) > 0);
		if (streq(key, "Missing")) {
			enter(m, 'v', "a{us}");
			enter(m, 'a', "{us}");
			while (sd_bus_message_read(m, "{us}", &i, &text) > 0) {
				assert_true(i < COUNTERS_MAX);
				t->reason[i] = text;
			}
			leave(m);
			leave(m);
		} else if (streq(key, "Saturated")) {
			enter(m, 'v', "au");
			enter(m, 'a', "u");
			while (sd_bus_message_read(m, "u", &i) > 0) {
				assert_true(i < COUNTERS_MAX);
				t->saturated[i] = true;
			}
			leave(m);
			leave(m);
		} else {
			assert_true(sd_bus_message_read(m, "v", "s", &text) > 0);
			put_error(errors, key, text);
		}
		leave(m);
	}
	leave(m);
}

static void print_port(FILE *file, sd_bus_message *m, const Set *sets, size_t n_sets)
{
	_cleanup_free_ char *errors = NULL;
	size_t n_errors, size;
	FILE *errors_file = open_memstream(&errors, &n_errors);
	uint64_t realtime, monotonic;
	const uint64_t *values;
	const char *path;
	uint32_t set;
	Tail t = {};

	assert_non_null(errors_file);
	assert_true(sd_bus_message_read(m, "ou", &path, &set) > 0);
	assert_true(sd_bus_message_read_array(m, 't', (const void **)&values, &size) >= 0);
	assert_true(sd_bus_message_read(m, "tt", &realtime, &monotonic) > 0);
	read_tail(errors_file, m, &t);
	fclose(errors_file);
	fprintf(file, "%s\n", path);
	if (size > 0) {
		assert_true(set < n_sets);
		assert_int_equal(size, sets[set].n * sizeof(*values));
	}
	for (size_t i = 0; i < size / sizeof(*values); i++)
		fprintf(file, "%s %s %" PRIu64 " %s %s %s\n", sets[set].group[i], sets[set].name[i],
			values[i], sets[set].unit[i],
			t.reason[i]	 ? "missing"
			: t.saturated[i] ? "saturated"
					 : "valid",
			t.reason[i] ? t.reason[i] : "");
	fprintf(file, "%" PRIu64 " %" PRIu64 "%s\n", realtime, monotonic, errors);
}

char *counters_text(sd_bus_message *m, size_t *ret_sets)
{
	Set sets[SETS_MAX] = {};
	char *text = NULL;
	size_t size, n;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	n = read_sets(m, sets);
	enter(m, 'a', "(ouattta{sv})");
	while (sd_bus_message_enter_container(m, 'r', "ouattta{sv}") > 0) {
		print_port(file, m, sets, n);
		leave(m);
	}
	leave(m);
	fclose(file);
	if (ret_sets)
		*ret_sets = n;
	return text;
}
