/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the record of changes says where a device hangs, has gone before, or gets other ports. */

#include <dirent.h>
#include <glob.h>

#include "fake-source.h"

static int setup_recorded(void **state)
{
	static const Config config = {.query_timeout_usec = USEC_PER_SEC, .record_max = 1 << 20};

	setup_with(state, &config);
	start(*state);
	answer(4);
	barrier(*state);
	return 0;
}

static int newest_first(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*b)->d_name, (*a)->d_name);
}

/* Ends the manager; the text of the newest segment, which the caller frees. */
static char *end_and_read(Test *t)
{
	struct dirent **entries;
	char directory[96], path[400], *text;
	size_t size;
	int n;

	t->manager = manager_free(t->manager);
	snprintf(directory, sizeof(directory), "%s/record", t->f->directory);
	n = scandir(directory, &entries, NULL, newest_first);
	assert_true(n > 2); /* "." and ".." are the last */
	snprintf(path, sizeof(path), "%s/%s", directory, entries[0]->d_name);
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	assert_int_equal(text_read_file(path, 1 << 20, &text, &size), 0);
	return text;
}

static size_t count_segments(const Test *t)
{
	char pattern[128];
	size_t n;
	glob_t g;

	snprintf(pattern, sizeof(pattern), "%s/record/*.conf", t->f->directory);
	assert_int_equal(glob(pattern, 0, NULL, &g), 0);
	n = g.gl_pathc;
	globfree(&g);
	return n;
}

/* The line of TEXT in which WORDS are; the caller frees it. */
static char *line_with(const char *text, const char *words)
{
	const char *at = strstr(text, words), *begin = at;

	if (!at)
		fail_msg("not in the record: %s\n%s", words, text);
	while (begin > text && begin[-1] != '\n')
		begin--;
	return strndup(begin, strcspn(begin, "\n"));
}

static void assert_line(const char *text, const char *words, const char *has)
{
	_cleanup_free_ char *line = line_with(text, words);

	if (!strstr(line, has))
		fail_msg("'%s' has no '%s'", line, has);
}

static void assert_no_line(const char *text, const char *words, const char *has)
{
	_cleanup_free_ char *line = line_with(text, words);

	if (strstr(line, has))
		fail_msg("'%s' has '%s'", line, has);
}

/* Device INDEX comes, and is answered for. */
static void add(Test *t, size_t i, uint32_t index, const char *name, uint32_t ports)
{
	size_t n = fake.n_queries;

	set_device(i, index, name, ports);
	fake.n_devices = i + 1;
	tell(index, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, fake.n_queries > n);
	answer(4);
	answer_rest(t, index, 4);
}

static void remove_last(Test *t, uint32_t index)
{
	fake.n_devices--;
	tell(index, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, !device(t, index));
}

/* Device 1 gets PORTS ports: that begins a segment. */
static void resize(Test *t, uint32_t ports)
{
	size_t n = fake.n_queries;

	DEVICE_SUPPLY(&fake.devices[0], port_count, ports);
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, fake.n_queries > n);
	answer(4);
	answer_rest(t, 1, 4);
	RUN_UNTIL(t, device(t, 1)->n_ports == ports);
}

/* Where the record is played the history of a name that has been there goes on. */
static void test_back(void **state)
{
	_cleanup_free_ char *text = NULL;
	Test *t = *state;

	add(t, 1, 2, "mlx5_2", 1);
	remove_last(t, 2);
	add(t, 1, 3, "mlx5_2", 1);
	add(t, 2, 4, "mlx5_4", 1);
	text = end_and_read(t);
	assert_line(text, ": answer mlx5_4/1", "link_downs=");
	assert_line(text, ": answer mlx5_2/1", "link_downs=");
	assert_no_line(strstr(text, ": remove mlx5_2"), ": answer mlx5_2/1", "link_downs=");
}

/* A segment stands for itself: what has gone before it began is new in it. */
static void test_back_in_another_segment(void **state)
{
	_cleanup_free_ char *text = NULL;
	Test *t = *state;

	add(t, 1, 2, "mlx5_2", 1);
	remove_last(t, 2);
	resize(t, 3);
	barrier(t);
	add(t, 1, 3, "mlx5_2", 1);
	text = end_and_read(t);
	assert_non_null(strstr(text, "\n# begins ports\n"));
	assert_non_null(strstr(text, "[port mlx5_0/3]"));
	assert_line(text, ": answer mlx5_2/1", "link_downs=");
}

/* A list may say that a device has a name that another one has until the same list says otherwise.
 */
static void swap_names(Test *t)
{
	add(t, 1, 2, "mlx5_2", 1);
	DEVICE_SUPPLY_TEXT(&fake.devices[0], name, "mlx5_2");
	DEVICE_SUPPLY_TEXT(&fake.devices[1], name, "mlx5_0");
	tell(1, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, streq(TEXT_OF(&device(t, 2)->now.values, name), "mlx5_0"));
}

/* A script cannot say that: a segment begins, with the names that they have then. */
static void test_names_swapped(void **state)
{
	_cleanup_free_ char *text = NULL;
	Test *t = *state;

	swap_names(t);
	text = end_and_read(t);
	assert_non_null(strstr(text, "\n# begins names\n"));
	assert_line(strstr(text, "[device mlx5_2]"), "index = ", "index = 1");
	assert_line(strstr(text, "[device mlx5_0]"), "index = ", "index = 2");
	assert_null(strstr(text, ": rename"));
}

/* An event says that the port is down, and the answer says that it is not: no value has changed. */
static void test_taken_back(void **state)
{
	_cleanup_free_ char *text = NULL;
	Test *t = *state;

	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(4);
	/* once more, when the answer is the same in every respect */
	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries > 2);
	answer(4);
	answer_rest(t, 1, 4);
	text = end_and_read(t);
	assert_line(text, ": noted mlx5_0/1", "reasons=port-error");
	assert_line(text, ": answer mlx5_0/1", "reasons=port-error");
	assert_no_line(text, ": answer mlx5_0/1", "open=yes");
	assert_line(strstr(strstr(text, ": answer mlx5_0/1"), "\n"), ": answer mlx5_0/1",
		    "reasons=port-error");
}

/* Of a table of a device the entries that are other ones are recorded. */
static void test_one_reporter(void **state)
{
	_cleanup_free_ char *text = NULL;
	Test *t = *state;
	size_t n = fake.n_queries;

	fake.health_errors = 1;
	tell(1, EVENT_ALL_PORTS, REASON_DEVLINK);
	RUN_UNTIL(t, fake.n_queries > n);
	answer(4);
	answer_rest(t, 1, 4);
	text = end_and_read(t);
	assert_non_null(strstr(text, "\nhealth_reporters.0 = "));
	assert_line(text, ": answer mlx5_0 ", "health_reporters.n=2");
	assert_line(text, ": answer mlx5_0 ", "health_reporters.1=");
	assert_no_line(text, ": answer mlx5_0 ", "health_reporters.0=");
}

/* The state may be another one since the port was asked. */
static void test_open(void **state)
{
	_cleanup_free_ char *text = NULL;
	Test *t = *state;

	tell(1, 1, REASON_GID_CHANGE);
	RUN_UNTIL(t, fake.n_queries == 2);
	tell(1, 1, REASON_PORT_ERROR);
	answer(1);
	text = end_and_read(t);
	assert_line(text, ": answer mlx5_0/1", "open=yes");
}

/* Two answers follow each other before the first is text: each is recorded as it was. */
static void test_at_once(void **state)
{
	_cleanup_free_ char *text = NULL;
	const char *first;
	Test *t = *state;

	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(1);
	tell(1, 1, REASON_PORT_ACTIVE);
	RUN_UNTIL(t, fake.n_queries == 3);
	answer(4);
	text = end_and_read(t);
	assert_line(text, ": answer mlx5_0/1", "\"state=down\"");
	first = strstr(text, ": answer mlx5_0/1");
	assert_line(strchr(first, '\n'), ": answer mlx5_0/1", "\"state=active\"");
}

/* The same where no event is in front of the first. */
static void test_at_once_alone(void **state)
{
	_cleanup_free_ char *text = NULL;
	const char *first;
	Test *t = *state;

	tell(1, 1, REASON_GID_CHANGE);
	RUN_UNTIL(t, fake.n_queries > 1);
	answer(1);
	tell(1, 1, REASON_GID_CHANGE);
	RUN_UNTIL(t, fake.n_queries > 2);
	answer(4);
	text = end_and_read(t);
	assert_line(text, ": answer mlx5_0/1", "\"state=down\"");
	first = strstr(text, ": answer mlx5_0/1");
	assert_line(strchr(first, '\n'), ": answer mlx5_0/1", "\"state=active\"");
}

/* A port that does not answer is recorded, and an answer that says nothing new is not. */
static void test_port_error(void **state)
{
	_cleanup_free_ char *text = NULL;
	uint64_t id;
	Test *t = *state;

	tell(1, 1, REASON_GID_CHANGE);
	RUN_UNTIL(t, fake.n_queries > 1);
	answer(4);
	add(t, 1, 2, "mlx5_2", 1);
	tell(2, 1, REASON_GID_CHANGE);
	RUN_UNTIL(t, last_query()->device == 2 && device(t, 2)->schedule->asked_id);
	id = last_query()->id;
	answer_port(id, 1, -EIO, 0);
	answer_end(id, 0, "");
	text = end_and_read(t);
	assert_line(text, "error=EIO", ": answer mlx5_2/1 ");
	assert_null(strstr(text, ": answer mlx5_0/1 "));
}

/* A segment begins while a device hangs: what it does not say is in it. */
static void test_hangs(void **state)
{
	_cleanup_free_ char *text = NULL;
	Test *t = *state;

	add(t, 1, 2, "mlx5_2", 2);
	tell(2, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, last_query()->device == 2 && device(t, 2)->schedule->asked_id);
	answer_end(last_query()->id, -ETIMEDOUT, "no answer");
	resize(t, 3);
	text = end_and_read(t);
	assert_non_null(strstr(text, "\n# begins ports\n"));
	assert_line(text, ": answer mlx5_2 ", "error=ETIMEDOUT code=timeout text=no%20answer");
	assert_line(text, ": answer mlx5_2/1 ", "error=ETIMEDOUT code=timeout text=no%20answer");
	assert_line(text, ": answer mlx5_2/2 ", "error=ETIMEDOUT code=timeout text=no%20answer");
	assert_null(strstr(text, "answer mlx5_0 error"));
}

/* A segment begins before the first question to a device has ended: what it has said until then is
 * in the script, of each port. */
static void test_first_answers(void **state)
{
	_cleanup_free_ char *text = NULL;
	Test *t = *state;
	uint64_t id;

	set_device(1, 2, "mlx5_2", 4);
	fake.n_devices = 2;
	tell(2, EVENT_ALL_PORTS, REASON_DEVICE);
	RUN_UNTIL(t, last_query()->device == 2);
	id = last_query()->id;
	answer_device(id, NULL);
	answer_port(id, 1, 0, 4);
	answer_port(id, 2, -EIO, 0);
	answer_port(id, 3, 0, 1);
	resize(t, 3);
	text = end_and_read(t);
	assert_non_null(strstr(text, "\n# begins ports\n"));
	assert_null(strstr(text, "[device mlx5_2]"));
	assert_true(strstr(text, "\n[script]\n") < strstr(text, ": add mlx5_2"));
	assert_non_null(strstr(text, "\n[script]\n"));
	assert_line(text, ": add mlx5_2", " ports=4");
	assert_line(text, ": answer mlx5_2/1 ", "\"state=active\"");
	assert_no_line(text, ": answer mlx5_2/1 ", "error=");
	assert_line(text, ": answer mlx5_2/2 ", "error=EIO");
	assert_line(text, ": answer mlx5_2/3 ", "\"state=down\"");
	assert_null(strstr(text, "mlx5_2/4"));
}

/* A day is over: a segment begins with what there is, and its times count from there. */
static void test_day(void **state)
{
	_cleanup_free_ char *text = NULL;
	Test *t = *state;

	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(1);
	answer_rest(t, 1, 1);
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(timer_runs(t->manager->record_day));
		assert_true(sd_event_source_set_time(t->manager->record_day, 0) >= 0);
		barrier(t);
	}
	assert_true(timer_runs(t->manager->record_day));
	add(t, 1, 2, "mlx5_2", 1);
	text = end_and_read(t);
	assert_non_null(strstr(text, "\n# begins day\n"));
	assert_line(strstr(text, "[port mlx5_0/1]"), "\nstate = ", "");
	assert_null(strstr(text, "answer mlx5_0/1"));
	assert_line(text, ": add mlx5_2", "at 0.");
	assert_int_equal(count_segments(t), 3);
}

/* If the day is over as well, it is not said that the segment goes on from the one before. */
static void test_names_swapped_and_day(void **state)
{
	_cleanup_free_ char *text = NULL;
	Test *t = *state;

	swap_names(t);
	assert_true(sd_event_source_set_time(t->manager->record_day, 0) >= 0);
	barrier(t);
	text = end_and_read(t);
	assert_non_null(strstr(text, "\n# begins names\n"));
	assert_int_equal(count_segments(t), 2);
}

int main(void)
{
#define RECORDED(test) cmocka_unit_test_setup_teardown(test, setup_recorded, teardown)
	const struct CMUnitTest tests[] = {
		RECORDED(test_back),	      RECORDED(test_back_in_another_segment),
		RECORDED(test_open),	      RECORDED(test_one_reporter),
		RECORDED(test_taken_back),    RECORDED(test_at_once),
		RECORDED(test_hangs),	      RECORDED(test_day),
		RECORDED(test_at_once_alone), RECORDED(test_port_error),
		RECORDED(test_names_swapped), RECORDED(test_names_swapped_and_day),
		RECORDED(test_first_answers),
	};

	unsetenv("NOTIFY_SOCKET");
	return cmocka_run_group_tests_name("manager-record", tests, NULL, NULL);
}
