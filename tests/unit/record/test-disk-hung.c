/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A disk that does not answer: nobody waits for it, what waits to be written does not grow without
 * end, and when it answers again the last changes are written. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <fcntl.h>
#include <ftw.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "disk-double.h"
#include "history-file.h"
#include "history-text.h"
#include "segment-ring.h"

/* The disk of a machine that runs many tests at once may need seconds. */
#define PATIENCE_USEC (100 * USEC_PER_SEC)
static char directory[64];

static int setup(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/rdmad-test.XXXXXX");
	assert_non_null(mkdtemp(directory));
	return 0;
}

static int remove_entry(const char *path, _unused_ const struct stat *st, _unused_ int flag,
			_unused_ struct FTW *ftw)
{
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	disk_hang(false);
	return nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* A directory has two links more than subdirectories. */
static void wait_for_threads(void)
{
	struct stat st;

	while (stat("/proc/self/task", &st) == 0 && st.st_nlink > 3)
		usleep(1000);
	assert_int_equal(st.st_nlink, 3);
}

/* The file begins anew, with H. */
static void begin(LineWriter *w, const History *h)
{
	g_autoptr(GString) text = g_string_new(NULL);

	history_put_head(text, "");
	history_put_port(text, "mlx5_0", 1, h, HISTORY_PORT_BYTES(1));
	line_writer_begin(w, 0, text->str, text->len);
}

/* Transition I of mlx5_0/1: its times are I + 1. */
static void put(LineWriter *w, History *h, unsigned int i)
{
	g_autoptr(GString) text = g_string_new(NULL);

	assert_true(history_note(h, i % 2 ? 1 : 4, i ? REASON_LINK : REASON_STARTUP, i + 1, i + 1));
	history_put_change(text, "mlx5_0", 1, h, history_last(h));
	line_writer_put(w, text->str, text->len);
}

/* How many transitions the file has; the last ones are there without a gap. */
static unsigned int read_back(void)
{
	HistoryList l = {};
	LineWriter *w = history_writer_new(directory, PATIENCE_USEC, &l);
	const KeptHistory *k = NULL;
	unsigned int n = 0;

	assert_non_null(w);
	if (history_find(&l, "mlx5_0/1", &k) == 0) {
		const History *h = &k->history;

		n = (unsigned int)history_last(h)->realtime_usec;
		assert_int_equal(h->n, MIN(n, HISTORY_ENTRIES));
		for (unsigned int i = 0; i < h->n; i++)
			assert_int_equal(history_entry(h, i)->realtime_usec, n - h->n + i + 1);
		assert_int_equal(h->link_downs, n / 2);
	}
	history_list_done(&l);
	line_writer_free(w, PATIENCE_USEC);
	return n;
}

/* What is written to standard error meanwhile goes to a file. */
static int begin_messages(void)
{
	char path[96];
	int was = dup(STDERR_FILENO), fd;

	snprintf(path, sizeof(path), "%s/messages", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(was >= 0 && fd >= 0);
	assert_true(dup2(fd, STDERR_FILENO) >= 0);
	close(fd);
	return was;
}

/* How often TEXT is in there. */
static unsigned int end_messages(int was, const char *text)
{
	_cleanup_free_ char *messages = NULL;
	unsigned int n = 0;
	char path[96];
	size_t size;

	assert_true(dup2(was, STDERR_FILENO) >= 0);
	close(was);
	snprintf(path, sizeof(path), "%s/messages", directory);
	assert_int_equal(text_read_file(path, 1 << 20, &messages, &size), 0);
	for (const char *at = messages; (at = strstr(at, text)); at++)
		n++;
	return n;
}

/* There is no more room for what waits, once and again, and one message says so. Then the file
 * begins anew, and nothing is missing. */
static void test_histories_dropped(void **state)
{
	HistoryList l = {};
	History h = {};
	LineWriter *w = history_writer_new(directory, PATIENCE_USEC, &l);
	int was = begin_messages();
	unsigned int n = 0, n_lost = 0;

	(void)state;
	assert_non_null(w);
	assert_int_equal(line_writer_wants(w), LINES_START);
	disk_hang(true);
	begin(w, &h);
	disk_wait_hung();
	while (n_lost < 3) {
		assert_true(n < 1000000);
		put(w, &h, n++);
		if (line_writer_wants(w) == LINES_GO_ON)
			continue;
		n_lost += line_writer_wants(w) == LINES_LOST;
		begin(w, &h);
		assert_int_equal(line_writer_wants(w), LINES_GO_ON);
	}
	put(w, &h, n++);
	disk_hang(false);
	line_writer_free(w, PATIENCE_USEC);
	assert_int_equal(end_messages(was, "left out"), 1);
	assert_int_equal(read_back(), n);
	history_done(&h);
}

/* It does not answer when rdmad starts: it goes on without histories. */
static void test_histories_at_the_start(void **state)
{
	HistoryList l = {};
	int was = begin_messages();

	(void)state;
	disk_hang(true);
	assert_null(history_writer_new(directory, 0, &l));
	assert_null(l.first);
	disk_wait_hung();
	disk_hang(false);
	wait_for_threads();
	assert_int_equal(end_messages(was, "the disk does not answer; no histories"), 1);
	assert_int_equal(read_back(), 0);
}

/* It does not answer when rdmad ends: what waits is written if it answers later. */
static void test_histories_at_the_end(void **state)
{
	HistoryList l = {};
	History h = {};
	LineWriter *w;
	int was = begin_messages();

	(void)state;
	w = history_writer_new(directory, PATIENCE_USEC, &l);
	assert_non_null(w);
	begin(w, &h);
	disk_hang(true);
	put(w, &h, 0);
	disk_wait_hung();
	put(w, &h, 1);
	assert_null(line_writer_free(w, 0));
	disk_hang(false);
	wait_for_threads();
	assert_int_equal(end_messages(was, "may be missing in the histories of ports"), 1);
	assert_int_equal(read_back(), 2);
	history_done(&h);
}

/* The same for the record of changes. */
static void test_changes_at_the_end(void **state)
{
	_cleanup_free_ char *text = NULL;
	LineWriter *w = segment_writer_new(directory, 1 << 20);
	int was = begin_messages();
	char path[128];
	size_t size;

	(void)state;
	assert_non_null(w);
	disk_hang(true);
	line_writer_begin(w, 5, "begin\n", 6);
	disk_wait_hung();
	line_writer_put(w, "line 1\n", 7);
	assert_null(line_writer_free(w, 0));
	disk_hang(false);
	wait_for_threads();
	assert_int_equal(end_messages(was, "may be missing"), 1);
	snprintf(path, sizeof(path), "%s/record/0000000000000005.conf", directory);
	assert_int_equal(text_read_file(path, 1 << 20, &text, &size), 0);
	assert_string_equal(text, "begin\nline 1\n");
}

/* Whether segment NUMBER has TEXT; NULL: there is none. */
static void assert_segment(unsigned int number, const char *text)
{
	_cleanup_free_ char *is = NULL;
	char path[128];
	size_t size;

	snprintf(path, sizeof(path), "%s/record/%016u.conf", directory, number);
	if (!text)
		assert_int_equal(access(path, F_OK), -1);
	else if (text_read_file(path, 1 << 20, &is, &size) < 0)
		fail_msg("there is no segment %u", number);
	else
		assert_string_equal(is, text);
}

/* More than there is room for */
static void put_too_much(LineWriter *w)
{
	static char line[1025];

	memset(line, 'x', 1023);
	line[1023] = '\n';
	for (unsigned int i = 0; i <= 1024; i++)
		line_writer_put(w, line, 1024);
	assert_int_equal(line_writer_wants(w), LINES_LOST);
}

/* The segment 5 is being written, and what follows waits. */
static LineWriter *begin_and_hang(void)
{
	LineWriter *w = segment_writer_new(directory, 64 << 20);

	assert_ptr_equal(line_writer_await_open(w, PATIENCE_USEC), w);
	disk_hang(true);
	line_writer_begin(w, 5, "first\n", 6);
	disk_wait_hung();
	return w;
}

static void end_hang(LineWriter *w)
{
	disk_hang(false);
	assert_null(line_writer_free(w, PATIENCE_USEC));
	assert_segment(5, "first\n");
}

/* There is no more room: a beginning behind text that is dropped goes with it. It would say that
 * nothing is missing before it. */
static void test_dropped_with_its_beginning(void **state)
{
	LineWriter *w = begin_and_hang();
	int was = begin_messages();

	(void)state;
	line_writer_put(w, "line\n", 5);
	line_writer_begin(w, 6, "second\n", 7);
	put_too_much(w);
	line_writer_begin(w, 7, "third\n", 6);
	end_hang(w);
	assert_int_equal(end_messages(was, "left out"), 1);
	assert_segment(6, NULL);
	assert_segment(7, "third\n");
}

/* Before the first that waits nothing is missing, and it stays. */
static void test_first_beginning_stays(void **state)
{
	LineWriter *w = begin_and_hang();
	int was = begin_messages();

	(void)state;
	line_writer_begin(w, 6, "second\n", 7);
	line_writer_begin(w, 7, "third\n", 6);
	put_too_much(w);
	line_writer_begin(w, 8, "fourth\n", 7);
	end_hang(w);
	assert_int_equal(end_messages(was, "left out"), 1);
	assert_segment(6, "second\n");
	assert_segment(7, NULL);
	assert_segment(8, "fourth\n");
}

static LineWriter *writer;
static atomic_uint n_written;

/* Of the beginning and then two lines: the second comes while the first is written. */
static void on_call(DiskCall call, _unused_ int fd, _unused_ const char *name)
{
	if (call == DISK_WRITE && ++n_written == 2)
		line_writer_put(writer, "line 2\n", 7);
}

/* The disk is asked to have the first line before the second is written. That is no reason to begin
 * anew. */
static void test_goes_on(void **state)
{
	(void)state;
	writer = begin_and_hang();
	line_writer_put(writer, "line 1\n", 7);
	disk.on_call = on_call;
	disk_hang(false);
	while (n_written < 3)
		sched_yield();
	assert_int_equal(line_writer_wants(writer), LINES_GO_ON);
	assert_null(line_writer_free(writer, PATIENCE_USEC));
	disk.on_call = NULL;
	assert_segment(5, "first\nline 1\nline 2\n");
}

/* Beginnings may have 64 MiB: then they go, with the one for which there is no room, and the next
 * one says that something is missing. */
static void test_large_beginnings(void **state)
{
	const size_t size = 40U << 20;
	_cleanup_free_ char *text = malloc(size);
	LineWriter *w = segment_writer_new(directory, 256 << 20);
	int was = begin_messages();
	char path[128];

	(void)state;
	assert_true(w && text);
	memset(text, 'x', size);
	text[size - 1] = '\n';
	disk_hang(true);
	line_writer_begin(w, 5, "first\n", 6);
	disk_wait_hung();
	line_writer_begin(w, 6, text, size);
	line_writer_put(w, "line\n", 5);
	line_writer_begin(w, 7, text, size);
	assert_int_equal(line_writer_wants(w), LINES_LOST);
	line_writer_begin(w, 8, text, size);
	assert_int_equal(line_writer_wants(w), LINES_GO_ON);
	/* they are added to one another */
	line_writer_put(w, "line\n", 5);
	line_writer_put(w, text + size - 8190, 8190);
	disk_hang(false);
	assert_null(line_writer_free(w, PATIENCE_USEC));
	assert_int_equal(end_messages(was, "left out"), 1);
	assert_segment(6, NULL);
	assert_segment(7, NULL);
	snprintf(path, sizeof(path), "%s/record/0000000000000008.conf", directory);
	assert_int_equal(access(path, F_OK), 0);
}

/* A beginning is too large before the directory is open: that is the end all the same. */
static void test_ended_before_it_opens(void **state)
{
	LineWriter *w;
	int was = begin_messages();

	(void)state;
	disk_hang(true);
	w = segment_writer_new(directory, 1 << 20);
	assert_non_null(w);
	disk_wait_hung();
	line_writer_begin(w, 5, "", (64U << 20) + 1);
	disk_hang(false);
	assert_null(line_writer_await_open(w, PATIENCE_USEC));
	assert_int_equal(end_messages(was, ": it ends\n"), 1);
}

static atomic_uint n_unsynced, n_syncs;

static void count_unsynced(DiskCall call, _unused_ int fd, _unused_ const char *name)
{
	if (call == DISK_WRITE)
		n_unsynced++;
	if (call != DISK_SYNC)
		return;
	n_unsynced = 0;
	n_syncs++;
}

/* At the end the disk has been asked to have everything. */
static void test_synced(void **state)
{
	HistoryList l = {};
	LineWriter *w = history_writer_new(directory, PATIENCE_USEC, &l);
	LineWriter *c;
	History h = {};

	(void)state;
	disk.on_call = count_unsynced;
	begin(w, &h);
	put(w, &h, 0);
	line_writer_free(w, PATIENCE_USEC);
	assert_int_equal(n_unsynced, 0);
	n_syncs = 0;
	c = segment_writer_new(directory, 1 << 20);
	line_writer_begin(c, 5, "begin\n", 6);
	line_writer_put(c, "line\n", 5);
	/* until it has been asked once: the next time is a second later */
	while (n_syncs == 0)
		usleep(1000);
	line_writer_put(c, "line\n", 5);
	assert_null(line_writer_free(c, PATIENCE_USEC));
	assert_int_equal(n_unsynced, 0);
	disk.on_call = NULL;
	history_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_histories_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_histories_at_the_start, setup, teardown),
		cmocka_unit_test_setup_teardown(test_histories_at_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changes_at_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dropped_with_its_beginning, setup, teardown),
		cmocka_unit_test_setup_teardown(test_first_beginning_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(test_goes_on, setup, teardown),
		cmocka_unit_test_setup_teardown(test_large_beginnings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ended_before_it_opens, setup, teardown),
		cmocka_unit_test_setup_teardown(test_synced, setup, teardown),
	};

	/* messages are read from standard error */
	unsetenv("JOURNAL_STREAM");
	return cmocka_run_group_tests_name("disk-hung", tests, NULL, NULL);
}
