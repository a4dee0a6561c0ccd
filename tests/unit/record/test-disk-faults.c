/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each call to the disk fails once, and the first that fails is also the first of many. What was
 * written before stays, of what fails there is nothing, and when the disk works again all of it is
 * written.
 */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../descriptors.h"
#include "disk-double.h"
#include "disk-file.h"
#include "history-file.h"
#include "history-text.h"
#include "log.h"
#include "segment-ring.h"

static const int errors[] = {EIO, ENOSPC, EROFS};

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
	disk_fail(0, 0, 0);
	return nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void empty_directory(void)
{
	teardown(NULL);
	assert_int_equal(mkdir(directory, 0700), 0);
}

static void mend(void)
{
	disk.error = 0;
}

/* Has RUN run while call after call fails, until there is no such call. */
static void fail_each_call(void (*run)(void))
{
	unsigned int n_runs = 0, n_open = count_descriptors();
	const unsigned int n_fail[] = {1, UINT_MAX};

	for (size_t n = 0; n < ARRAY_SIZE(n_fail); n++) {
		unsigned int from = 0;

		do {
			empty_directory();
			disk_fail(from, n_fail[n], errors[from % ARRAY_SIZE(errors)]);
			from++;
			run();
			n_runs++;
			assert_int_equal(count_descriptors(), n_open);
		} while (disk.n_failed > 0);
		/* not only the first calls */
		assert_true(from > 50);
	}
	print_message("in each of %u runs another call failed\n", n_runs);
}

/* The histories */

/* When the file begins anew. */
#define FILE_MAX    8192U
#define TRANSITIONS 200U

/* How many transitions the file has, which are the first ones. */
static unsigned int count_transitions(const HistoryList *l)
{
	const KeptHistory *k = NULL;
	const History *h;
	unsigned int n;

	if (history_find(l, "mlx5_0/1", &k) < 0)
		return 0;
	h = &k->history;
	n = (unsigned int)history_last(h)->realtime_usec;
	assert_int_equal(h->n, MIN(n, HISTORY_ENTRIES));
	for (unsigned int i = 0; i < h->n; i++)
		assert_int_equal(history_entry(h, i)->realtime_usec, n - h->n + i + 1);
	assert_int_equal(h->link_downs, n / 2);
	return n;
}

/* The same of the file as it is now: what a process would read that is started after a kill. */
static unsigned int look(void)
{
	_cleanup_(history_list_done) HistoryList l = {};
	_cleanup_free_ char *text = NULL;
	HistoryReader r = {.list = &l, .boot = ""};
	char path[96], *line, *rest;
	size_t size;

	snprintf(path, sizeof(path), "%s/history", directory);
	assert_int_equal(text_read_file(path, 4 * FILE_MAX, &text, &size), 0);
	rest = text;
	line = strsep(&rest, "\n");
	/* nothing before it has begun */
	if (size == 0)
		return 0;
	assert_int_equal(history_check_head(line), 0);
	while ((line = strsep(&rest, "\n")) && rest)
		assert_null(history_read_line(&r, line, strlen(line)));
	history_list_trim(&l);
	return count_transitions(&l);
}

static LineFile *open_history(unsigned int n)
{
	LineFile *f = history_file_new(directory);

	if (f->kind->open(f) < 0) {
		assert_true(disk.n_failed > 0);
		mend();
		f->kind->free(f);
		f = history_file_new(directory);
		assert_int_equal(f->kind->open(f), 0);
	}
	assert_int_equal(count_transitions(history_file_list(f)), n);
	return f;
}

/* Begins the file with H, or adds its last transition. */
static int try_history(LineFile *f, const History *h, bool begins)
{
	g_autoptr(GString) text = g_string_new(NULL);

	if (!begins) {
		history_put_change(text, "mlx5_0", 1, h, history_last(h));
		return f->kind->append(f, text->str, text->len);
	}
	history_put_head(text, "");
	history_put_port(text, "mlx5_0", 1, h, HISTORY_PORT_BYTES(1));
	return f->kind->begin(f, 0, text->str, text->len);
}

/* So that it has N transitions; WAS before that. */
static void write_transitions(LineFile *f, const History *h, bool begins, unsigned int was,
			      unsigned int n)
{
	if (try_history(f, h, begins) >= 0)
		return;
	assert_true(disk.n_failed > 0);
	assert_int_equal(look(), was);
	/* once more, and it may fail again */
	if (try_history(f, h, begins) < 0) {
		assert_int_equal(look(), was);
		mend();
		assert_int_equal(try_history(f, h, begins), 0);
	}
	assert_int_equal(look(), n);
}

static void write_history(void)
{
	History h = {};
	LineFile *f = open_history(0);

	write_transitions(f, &h, true, 0, 0);
	for (unsigned int i = 0; i < TRANSITIONS; i++) {
		/* the times of transition I are I + 1 */
		assert_true(history_note(&h, i % 2 ? 1 : 4, i ? REASON_LINK : REASON_STARTUP, i + 1,
					 i + 1));
		write_transitions(f, &h, f->disk.size > FILE_MAX, i, i + 1);
		if (i % 50 == 49) {
			f->kind->free(f);
			f = open_history(i + 1);
			write_transitions(f, &h, true, i + 1, i + 1);
		}
	}
	f->kind->free(f);
	mend();
	f = open_history(TRANSITIONS);
	f->kind->free(f);
	history_done(&h);
}

static void test_history(void **state)
{
	(void)state;
	fail_each_call(write_history);
}

/* The segments */

#define RING_MAX 200U
#define LINES	 60U
/* Of each line and each beginning */
#define LINE_SIZE 12U

static bool is_segment(const struct dirent *d)
{
	return strlen(d->d_name) == strlen("0000000000000000.conf");
}

static int wanted(const struct dirent *d)
{
	return is_segment(d);
}

/* What the segments say, one after the other, is what was written until line N: there is no gap,
 * and a line that is not whole is the last one of all, and not there if the disk works. Returns how
 * many bytes they have. */
static size_t assert_segments(unsigned int n)
{
	_cleanup_free_ struct dirent **entries = NULL;
	char path[512], text[RING_MAX + 2 * LINE_SIZE], path_of_record[96];
	unsigned int next = UINT_MAX, number;
	int n_entries;
	size_t total = 0;

	snprintf(path_of_record, sizeof(path_of_record), "%s/record", directory);
	n_entries = scandir(path_of_record, &entries, wanted, alphasort);
	for (int i = 0; i < n_entries; i++) {
		FILE *f;
		size_t size;

		snprintf(path, sizeof(path), "%s/%s", path_of_record, entries[i]->d_name);
		free(entries[i]);
		f = fopen(path, "re");
		assert_non_null(f);
		size = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
		text[size] = '\0';
		if (disk.error && i == n_entries - 1)
			size -= size % LINE_SIZE;
		total += size;
		assert_int_equal(size % LINE_SIZE, 0);
		assert_int_equal(sscanf(text, "begin %05u", &number), 1);
		/* one that cannot be removed stays, and the one after it goes */
		if (next != UINT_MAX && !disk.failed[DISK_UNLINK])
			assert_int_equal(number, next);
		next = number;
		for (size_t at = LINE_SIZE; at < size; at += LINE_SIZE) {
			assert_int_equal(sscanf(text + at, "line  %05u", &number), 1);
			assert_int_equal(number, next++);
		}
	}
	if (n > 0)
		assert_int_equal(next, n);
	return total;
}

static int try_line(SegmentRing *s, unsigned int i, bool begins)
{
	char line[LINE_SIZE + 1];

	snprintf(line, sizeof(line), "%s%05u\n", begins ? "begin " : "line  ", i);
	return begins ? segment_ring_begin(s, 1000 + i, line, LINE_SIZE)
		      : segment_ring_append(s, line, LINE_SIZE);
}

/* A segment that begins with line N, or line N. */
static void write_line(SegmentRing *s, unsigned int n, bool begins)
{
	for (unsigned int tries = 0; try_line(s, n, begins) < 0; tries++) {
		assert_true(disk.n_failed > 0 && tries < 3);
		(void)assert_segments(n);
		if (tries > 0)
			mend();
	}
	/* what does not depend on the failure is looked at in some places */
	if (disk.n_failed == 0 && n % 16)
		return;
	if (begins)
		(void)assert_segments(n);
	else
		assert_true(assert_segments(n + 1) <= RING_MAX);
}

static void write_segments(void)
{
	SegmentRing s;

	segment_ring_init(&s, directory, RING_MAX);
	if (segment_ring_open(&s) < 0) {
		assert_true(disk.n_failed > 0);
		mend();
		assert_int_equal(segment_ring_open(&s), 0);
	}
	for (unsigned int i = 0; i < LINES; i++) {
		if (i % 4 == 0)
			write_line(&s, i, true);
		write_line(&s, i, false);
		if (i % 3 == 0)
			(void)disk_file_sync(&s.file.disk);
	}
	segment_ring_done(&s);
	mend();
	assert_segments(LINES);
}

static void test_segments(void **state)
{
	(void)state;
	fail_each_call(write_segments);
}

/* A terminal does not become that of a daemon, which has none. */
static void open_terminal(void)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), names, r, own;
	const char *name;

	if (terminal < 0 || setsid() < 0 || unlockpt(terminal) < 0 || !ptsname(terminal))
		_exit(2);
	name = strrchr(ptsname(terminal), '/') + 1;
	names = open("/dev/pts", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = disk_file_open(names, name, 0, 0600);
	own = open("/dev/tty", O_RDWR | O_CLOEXEC);
	_exit(r == -EINVAL && own < 0 ? 0 : 1);
}

/* What somebody has put in the place of a file. */
static void test_open(void **state)
{
	unsigned int n_open = count_descriptors();
	int at, fd, status;
	struct stat st;
	pid_t pid;

	(void)state;
	at = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = disk_file_open(at, "file", 0, 0640);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	close(fd);
	assert_int_equal(disk_file_open(at, "file", O_EXCL, 0640), -EEXIST);
	assert_int_equal(mkfifoat(at, "fifo", 0600), 0);
	assert_int_equal(disk_file_open(at, "fifo", 0, 0600), -EINVAL);
	assert_int_equal(symlinkat("file", at, "link"), 0);
	assert_int_equal(disk_file_open(at, "link", 0, 0600), -ELOOP);
	assert_int_equal(mkdirat(at, "directory", 0700), 0);
	assert_int_equal(disk_file_open(at, "directory", 0, 0600), -EISDIR);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		open_terminal();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	/* 2: there are no terminals here */
	if (WEXITSTATUS(status) != 2)
		assert_int_equal(WEXITSTATUS(status), 0);
	close(at);
	assert_int_equal(count_descriptors(), n_open);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_history, setup, teardown),
		cmocka_unit_test_setup_teardown(test_segments, setup, teardown),
		cmocka_unit_test_setup_teardown(test_open, setup, teardown),
	};

	log_max_level = LOG_ERR; /* each failure is worth a warning */
	return cmocka_run_group_tests_name("disk-faults", tests, NULL, NULL);
}
