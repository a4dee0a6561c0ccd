/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files of the record of changes: their names, how many and how large they are, what is in the
 * way of them, and a disk that is full. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "clock.h"
#include "segment-ring.h"

/* The disk of a machine that runs many tests at once may need seconds. */
#define PATIENCE_USEC (100 * USEC_PER_SEC)
#define NOW	      UINT64_C(1763950000000000)
#define MIB	      (UINT64_C(1) << 20)

static char directory[64], record[96];

static int setup(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/rdmad-test.XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(record, sizeof(record), "%s/record", directory);
	signal(SIGXFSZ, SIG_IGN);
	umask(077);
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
	return nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static LineWriter *new_writer(uint64_t max_bytes)
{
	LineWriter *w = segment_writer_new(directory, max_bytes);

	assert_non_null(w);
	return w;
}

static void free_writer(LineWriter *w)
{
	assert_null(line_writer_free(w, PATIENCE_USEC));
}

static void begin(LineWriter *w, uint64_t usec, const char *text)
{
	line_writer_begin(w, usec, text, strlen(text));
	assert_int_equal(line_writer_wants(w), LINES_GO_ON);
}

static void put(LineWriter *w, const char *text)
{
	line_writer_put(w, text, strlen(text));
}

static const char *path_of(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", record, name);
	return path;
}

static void assert_text(const char *name, const char *text)
{
	_cleanup_free_ char *is = NULL;
	size_t size;

	assert_int_equal(text_read_file(path_of(name), 64 * MIB, &is, &size), 0);
	assert_string_equal(is, text);
	assert_int_equal(size, strlen(text));
}

static void make_file(const char *name, const char *text)
{
	FILE *to = fopen(path_of(name), "w");

	assert_non_null(to);
	assert_true(fputs(text, to) >= 0);
	fclose(to);
}

static int visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

typedef struct Listing {
	struct dirent **entries;
	int n;
	uint64_t bytes;
} Listing;

static void listing_done(Listing *l)
{
	for (int i = 0; i < l->n; i++)
		free(l->entries[i]);
	free(l->entries);
}

static Listing list(void)
{
	Listing l = {};
	struct stat st;

	l.n = scandir(record, &l.entries, visible, alphasort);
	assert_true(l.n >= 0);
	for (int i = 0; i < l.n; i++) {
		assert_int_equal(lstat(path_of(l.entries[i]->d_name), &st), 0);
		l.bytes += (uint64_t)st.st_size;
	}
	return l;
}

static void limit_size(rlim_t size)
{
	const struct rlimit limit = {.rlim_cur = size, .rlim_max = RLIM_INFINITY};

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* What is written to standard error */
typedef struct Messages {
	int was, fd;
	char text[4096];
	size_t size;
} Messages;

static void messages_begin(Messages *m)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	*m = (Messages){.was = dup(STDERR_FILENO), .fd = fds[0]};
	assert_true(m->was >= 0);
	assert_true(dup2(fds[1], STDERR_FILENO) >= 0);
	close(fds[1]);
}

static void messages_wait(Messages *m, const char *text)
{
	while (!strstr(m->text, text)) {
		ssize_t n = read(m->fd, m->text + m->size, sizeof(m->text) - 1 - m->size);

		assert_true(n > 0);
		m->size += (size_t)n;
	}
}

/* Puts standard error back, and reads the rest. */
static void messages_end(Messages *m)
{
	ssize_t n;

	assert_true(dup2(m->was, STDERR_FILENO) >= 0);
	close(m->was);
	while ((n = read(m->fd, m->text + m->size, sizeof(m->text) - 1 - m->size)) > 0)
		m->size += (size_t)n;
	close(m->fd);
}

static unsigned int count(const char *text, const char *word)
{
	unsigned int n = 0;

	while ((text = strstr(text, word))) {
		n++;
		text++;
	}
	return n;
}

static void test_segments(void **state)
{
	LineWriter *w = new_writer(16 * MIB);
	struct stat st;

	(void)state;
	assert_int_equal(line_writer_wants(w), LINES_START);
	put(w, "before the first segment\n");
	begin(w, NOW, "first\n");
	put(w, "at 1s\n");
	put(w, "at 2s\n");
	begin(w, NOW + 5, "second\n");
	put(w, "at 3s\n");
	free_writer(w);
	w = new_writer(16 * MIB);
	assert_int_equal(line_writer_wants(w), LINES_START);
	begin(w, 42, "third\n"); /* the clock is wrong: the order is not */
	begin(w, NOW + 9, "fourth\n");
	free_writer(w);

	assert_text("1763950000000000.conf", "first\nat 1s\nat 2s\n");
	assert_text("1763950000000005.conf", "second\nat 3s\n");
	assert_text("1763950000000006.conf", "third\n");
	assert_text("1763950000000009.conf", "fourth\n");
	_cleanup_(listing_done) Listing l = list();
	assert_int_equal(l.n, 4);
	assert_int_equal(stat(record, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(stat(path_of("1763950000000000.conf"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
}

/* Names that exist: the next free one. A name before all of today: 16 digits. */
static void test_clock_set_back(void **state)
{
	LineWriter *w = new_writer(16 * MIB);

	(void)state;
	begin(w, 42, "a\n");
	begin(w, 42, "b\n");
	begin(w, 42, "c\n");
	begin(w, 1, "d\n");
	free_writer(w);
	assert_text("0000000000000042.conf", "a\n");
	assert_text("0000000000000043.conf", "b\n");
	assert_text("0000000000000044.conf", "c\n");
	assert_text("0000000000000045.conf", "d\n");
}

/* Puts numbered lines of 100 bytes; a segment begins when one is wanted, with the number of the
 * next line. */
static unsigned int put_lines(LineWriter *w, unsigned int first, unsigned int n)
{
	unsigned int begun = 0;
	char line[128];

	for (unsigned int i = first; i < first + n; i++) {
		LinesWanted wants = line_writer_wants(w);

		if (wants != LINES_GO_ON) {
			assert_int_equal(wants, i == 0 ? LINES_START : LINES_FULL);
			snprintf(line, sizeof(line), "begin %093u\n", i);
			begin(w, NOW + i, line);
			begun++;
		}
		snprintf(line, sizeof(line), "line  %093u\n", i);
		put(w, line);
	}
	return begun;
}

/* The segments together have no more than they may, and the last lines without a gap. */
static void test_bounded(void **state)
{
	const unsigned int n = 5000;
	LineWriter *w = new_writer(40000);
	unsigned int next = 0;

	(void)state;
	/* 100 lines are a quarter; the first one is the beginning */
	assert_int_equal(put_lines(w, 0, n), (n + 98) / 99);
	free_writer(w);
	_cleanup_(listing_done) Listing l = list();
	assert_true(l.bytes <= 40000);
	assert_true(l.bytes > 20000);
	for (int i = 0; i < l.n; i++) {
		_cleanup_free_ char *text = NULL;
		unsigned int number;
		size_t size;

		assert_int_equal(text_read_file(path_of(l.entries[i]->d_name), MIB, &text, &size),
				 0);
		assert_int_equal(size % 100, 0);
		assert_int_equal(sscanf(text, "begin %u", &number), 1);
		if (i > 0)
			assert_int_equal(number, next);
		next = number;
		for (size_t at = 100; at < size; at += 100) {
			assert_int_equal(sscanf(text + at, "line %u", &number), 1);
			assert_int_equal(number, next++);
		}
	}
	assert_int_equal(next, n);
}

/* At each moment, not only at the end; a beginning that is larger than all that is allowed is
 * alone. */
static void test_ring_bounded(void **state)
{
	static char large[30000];
	SegmentRing s;

	(void)state;
	memset(large, '\n', sizeof(large));
	segment_ring_init(&s, directory, 20000);
	assert_int_equal(segment_ring_open(&s), 0);
	for (unsigned int i = 0; i < 200; i++) {
		assert_int_equal(i % 5 ? segment_ring_append(&s, large, 999)
				       : segment_ring_begin(&s, NOW, large, 1500),
				 0);
		_cleanup_(listing_done) Listing l = list();
		assert_true(l.bytes <= 20000);
		assert_true(i < 20 || l.bytes > 12000);
	}
	assert_int_equal(segment_ring_begin(&s, NOW, large, sizeof(large)), 0);
	assert_int_equal(segment_ring_append(&s, "\n", 1), 0);
	segment_ring_done(&s);
	_cleanup_(listing_done) Listing l = list();
	assert_int_equal(l.n, 1);
	assert_int_equal(l.bytes, sizeof(large) + 1);
}

/* Room is made before a segment is written, because the disk may have no more than that; but the
 * last segment of the process before stays until there is a new one. */
static void test_room_is_made_before(void **state)
{
	SegmentRing s;

	(void)state;
	segment_ring_init(&s, directory, 20);
	assert_int_equal(segment_ring_open(&s), 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(segment_ring_begin(&s, NOW + i, "begin\n", 6), 0);
	segment_ring_done(&s);
	segment_ring_init(&s, directory, 20);
	assert_int_equal(segment_ring_open(&s), 0);
	limit_size(3);
	assert_int_equal(segment_ring_begin(&s, NOW + 3, "begin\n", 6), -EFBIG);
	assert_int_equal(access(path_of("1763950000000000.conf"), F_OK), -1);
	assert_text("1763950000000001.conf", "begin\n");
	assert_int_equal(segment_ring_begin(&s, NOW + 3, "a longer begin\n", 15), -EFBIG);
	assert_int_equal(access(path_of("1763950000000001.conf"), F_OK), -1);
	assert_text("1763950000000002.conf", "begin\n");
	limit_size(RLIM_INFINITY);
	assert_int_equal(segment_ring_begin(&s, NOW + 3, "a longer begin\n", 15), 0);
	segment_ring_done(&s);
	_cleanup_(listing_done) Listing l = list();
	assert_int_equal(l.n, 1);
	assert_text("1763950000000003.conf", "a longer begin\n");
}

static void test_wants_full(void **state)
{
	static char text[3000];
	LineWriter *w = new_writer(8000);

	(void)state;
	memset(text, '\n', sizeof(text));
	/* twice its beginning is more than a quarter of all */
	line_writer_begin(w, NOW, text, 1500);
	line_writer_put(w, text, 1499);
	assert_int_equal(line_writer_wants(w), LINES_GO_ON);
	line_writer_put(w, text, 1);
	assert_int_equal(line_writer_wants(w), LINES_FULL);
	put(w, "not written\n");
	line_writer_begin(w, NOW, text, 100);
	line_writer_put(w, text, 1899);
	assert_int_equal(line_writer_wants(w), LINES_GO_ON);
	line_writer_put(w, text, 1);
	assert_int_equal(line_writer_wants(w), LINES_FULL);
	free_writer(w);
	_cleanup_(listing_done) Listing l = list();
	assert_int_equal(l.n, 2);
	assert_int_equal(l.bytes, 5000);
}

static void test_many_segments(void **state)
{
	LineWriter *w = new_writer(16 * MIB);

	(void)state;
	for (unsigned int i = 0; i < SEGMENTS_MAX + 36; i++)
		begin(w, NOW + i, "begin\n");
	free_writer(w);
	_cleanup_(listing_done) Listing l = list();
	assert_int_equal(l.n, SEGMENTS_MAX);
	assert_string_equal(l.entries[0]->d_name, "1763950000000036.conf");
	assert_string_equal(l.entries[l.n - 1]->d_name, "1763950000000435.conf");
}

/* Files that are no segments are not touched, whatever their names and sizes are. */
static void test_foreign(void **state)
{
	static const char *const names[] = {
		"0.conf",
		"000000000000000.conf",
		"00000000000000000.conf",
		"0000000000000000.conf~",
		"0000000000000000",
		"000000000000000a.conf",
		"0000000000000000.CONF",
		"notes.conf",
	};
	LineWriter *w;
	struct stat st;

	(void)state;
	assert_int_equal(mkdir(record, 0755), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		make_file(names[i], "a file that is larger than all that is allowed\n");
	/* these have such names, but are none either */
	assert_int_equal(mkdir(path_of("0000000000000001.conf"), 0755), 0);
	assert_int_equal(symlink("notes.conf", path_of("0000000000000002.conf")), 0);
	assert_int_equal(mkfifo(path_of("0000000000000003.conf"), 0600), 0);
	/* and what a process left that was killed, or somebody has put there */
	assert_int_equal(symlink("notes.conf", path_of("begin.new")), 0);
	w = new_writer(20);
	for (unsigned int i = 0; i < 10; i++)
		begin(w, 3, "begin\n");
	free_writer(w);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_text(names[i], "a file that is larger than all that is allowed\n");
	assert_int_equal(lstat(path_of("0000000000000001.conf"), &st), 0);
	assert_int_equal(lstat(path_of("0000000000000002.conf"), &st), 0);
	assert_int_equal(lstat(path_of("0000000000000003.conf"), &st), 0);
	assert_text("0000000000000013.conf", "begin\n");
	_cleanup_(listing_done) Listing l = list();
	assert_int_equal(l.n, ARRAY_SIZE(names) + 3 + 3);
}

/* What cannot be used is said once, and is no reason to wait or to end. */
static void assert_unusable(const char *state_directory)
{
	LineWriter *w;
	Messages m;

	messages_begin(&m);
	w = segment_writer_new(state_directory, MIB);
	assert_non_null(w);
	line_writer_begin(w, NOW, "begin\n", 6);
	messages_wait(&m, "Cannot keep the record of changes in ");
	while (line_writer_wants(w) != LINES_GO_ON)
		sched_yield();
	line_writer_begin(w, NOW, "begin\n", 6);
	put(w, "line\n");
	free_writer(w);
	messages_end(&m);
	assert_int_equal(count(m.text, "\n"), 1);
}

static void test_obstacles(void **state)
{
	char target[96];
	struct stat st;

	(void)state;
	snprintf(target, sizeof(target), "%s/elsewhere", directory);
	assert_int_equal(mkdir(target, 0755), 0);
	assert_int_equal(symlink(target, record), 0);
	assert_unusable(directory);
	assert_int_equal(rmdir(target), 0); /* it is empty */
	assert_int_equal(unlink(record), 0);
	assert_int_equal(mkfifo(record, 0600), 0);
	assert_unusable(directory);
	assert_int_equal(unlink(record), 0);
	assert_unusable("/nowhere/at/all");
	assert_unusable("/proc/self");
	assert_int_equal(lstat(record, &st), -1);

	assert_null(segment_writer_new(directory, 0));
	assert_null(line_writer_free(NULL, 0));
	assert_int_equal(line_writer_wants(NULL), LINES_GO_ON);
	line_writer_begin(NULL, NOW, "", 0);
	line_writer_put(NULL, "", 0);
}

/* No room for the last lines, however much of it there is: the file has what it had, and later all
 * of it is there. */
static void test_ring_full(void **state)
{
	const char *line = "at 1s: noted mlx5_0/1\n", *name = "1763950000000000.conf";
	const size_t size = strlen(line);
	SegmentRing s;

	(void)state;
	segment_ring_init(&s, directory, MIB);
	assert_int_equal(segment_ring_open(&s), 0);
	for (size_t room = 0; room < size; room++) {
		limit_size(room);
		assert_int_equal(segment_ring_begin(&s, NOW, line, size), -EFBIG);
		_cleanup_(listing_done) Listing l = list();
		assert_int_equal(l.n, 0);
	}
	limit_size(RLIM_INFINITY);
	assert_int_equal(segment_ring_begin(&s, NOW, "begin\n", 6), 0);
	for (size_t room = 0; room < size; room++) {
		limit_size(6 + room);
		assert_int_equal(segment_ring_append(&s, line, size), -EFBIG);
		assert_text(name, "begin\n");
	}
	/* the segment goes on if the next one cannot be begun */
	limit_size(8);
	assert_int_equal(segment_ring_begin(&s, NOW, line, size), -EFBIG);
	limit_size(RLIM_INFINITY);
	assert_int_equal(segment_ring_append(&s, line, size), 0);
	segment_ring_done(&s);
	assert_text(name, "begin\nat 1s: noted mlx5_0/1\n");
}

/* The disk is full for a while: it is said, and nothing is missing afterwards. */
static void test_full_for_a_while(void **state)
{
	LineWriter *w;
	Messages m;

	(void)state;
	messages_begin(&m);
	limit_size(9);
	w = new_writer(MIB);
	begin(w, NOW, "begin\n");
	put(w, "line 1\n");
	messages_wait(&m, "trying again until that works: File too large\n");
	put(w, "line 2\n");
	assert_text("1763950000000000.conf", "begin\n");
	limit_size(RLIM_INFINITY);
	/* at the end it does not wait for the next try */
	free_writer(w);
	messages_end(&m);
	assert_non_null(strstr(m.text, "Writing the record of changes to"));
	assert_int_equal(count(m.text, "\n"), 2);
	assert_text("1763950000000000.conf", "begin\nline 1\nline 2\n");
}

/* It is tried again without anybody asking for that. */
static void test_tried_again(void **state)
{
	LineWriter *w;
	Messages m;

	(void)state;
	messages_begin(&m);
	limit_size(3);
	w = new_writer(MIB);
	begin(w, NOW, "begin\n");
	messages_wait(&m, "trying again until that works: File too large\n");
	limit_size(RLIM_INFINITY);
	messages_wait(&m, "Writing the record of changes to");
	assert_text("1763950000000000.conf", "begin\n");
	free_writer(w);
	messages_end(&m);
}

/* The disk does not take anything for so long that there is no more room: what waits is dropped,
 * and the next segment begins. */
static void test_lost(void **state)
{
	static char line[1025];
	LineWriter *w;
	Messages m;

	(void)state;
	memset(line, 'x', sizeof(line) - 1);
	line[1023] = '\n';
	messages_begin(&m);
	limit_size(9);
	w = new_writer(64 * MIB);
	begin(w, NOW, "begin\n");
	put(w, "line 1\n");
	messages_wait(&m, "trying again until that works: File too large\n");
	for (unsigned int i = 0; i < 1024; i++) {
		put(w, line);
		assert_int_equal(line_writer_wants(w), LINES_GO_ON);
	}
	put(w, line);
	assert_int_equal(line_writer_wants(w), LINES_LOST);
	put(w, "not written\n");
	assert_int_equal(line_writer_wants(w), LINES_LOST);
	begin(w, NOW + 1, "second\n");
	/* once more, with a beginning that waits: that stays */
	for (unsigned int i = 0; i < 1025; i++)
		put(w, line);
	assert_int_equal(line_writer_wants(w), LINES_LOST);
	begin(w, NOW + 2, "third\n");
	put(w, "line 3\n");
	limit_size(RLIM_INFINITY);
	free_writer(w);
	messages_end(&m);
	assert_int_equal(count(m.text, "left out"), 1);
	assert_text("1763950000000000.conf", "begin\nline 1\n");
	assert_text("1763950000000001.conf", "second\n");
	assert_text("1763950000000002.conf", "third\nline 3\n");
}

/* A beginning may be larger than what else may wait; one that is too large is the end. */
static void test_large_beginning(void **state)
{
	const size_t size = 64 * MIB;
	_cleanup_free_ char *text = malloc(size + 2);
	LineWriter *w;
	struct stat st;
	Messages m;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', size);
	text[size - 1] = '\n';
	messages_begin(&m);
	w = new_writer(MIB);
	line_writer_begin(w, NOW, text, size);
	assert_int_equal(line_writer_wants(w), LINES_GO_ON);
	put(w, "line\n");
	line_writer_begin(w, NOW + 1, text, size + 1);
	assert_int_equal(line_writer_wants(w), LINES_GO_ON);
	put(w, "line\n");
	line_writer_begin(w, NOW + 1, "a\n", 2);
	free_writer(w);
	messages_end(&m);
	assert_int_equal(count(m.text, ": it ends\n"), 1);
	assert_int_equal(stat(path_of("1763950000000000.conf"), &st), 0);
	assert_int_equal(st.st_size, size + 5);
	_cleanup_(listing_done) Listing l = list();
	assert_int_equal(l.n, 1);
}

/* Somebody removes all of it: there is a new segment soon. */
static void test_removed(void **state)
{
	LineWriter *w = new_writer(MIB);

	(void)state;
	begin(w, NOW, "begin\n");
	while (access(path_of("1763950000000000.conf"), F_OK) < 0)
		sched_yield();
	assert_int_equal(nftw(record, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
	put(w, "nowhere\n");
	while (line_writer_wants(w) == LINES_GO_ON)
		sched_yield();
	assert_int_equal(line_writer_wants(w), LINES_LOST);
	begin(w, NOW + 1, "second\n");
	put(w, "line\n");
	free_writer(w);
	assert_text("1763950000000001.conf", "second\nline\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_segments, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clock_set_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ring_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_room_is_made_before, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wants_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_segments, setup, teardown),
		cmocka_unit_test_setup_teardown(test_foreign, setup, teardown),
		cmocka_unit_test_setup_teardown(test_obstacles, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ring_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_for_a_while, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tried_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_large_beginning, setup, teardown),
		cmocka_unit_test_setup_teardown(test_removed, setup, teardown),
	};

	/* messages are read from standard error */
	unsetenv("JOURNAL_STREAM");
	return cmocka_run_group_tests_name("change-writer", tests, NULL, NULL);
}
