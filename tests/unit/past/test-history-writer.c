/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of histories: what is in the way of it, what is left when the process is killed, and a
 * disk that is full. The arguments: the seed of what is random, which is printed, and how many
 * transitions there are while the process is killed again and again. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "clock.h"
#include "history-file.h"
#include "history-writer.h"
#include "log.h"

/* The disk of a machine that runs many tests at once may need seconds. */
#define PATIENCE_USEC (100 * USEC_PER_SEC)

static char directory[64], file[96];
static unsigned int kill_transitions = 10000, kill_seed;

static int setup(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/rdmad-test.XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(file, sizeof(file), "%s/history", directory);
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

/* Transition I of mlx5_0/1: its times are I + 1. */
static void note(History *h, unsigned int i)
{
	assert_true(history_note(h, i % 2 ? 1 : 4, i ? REASON_LINK : REASON_STARTUP, i + 1, i + 1));
}

static void put(RecordWriter *w, History *h, unsigned int i)
{
	_cleanup_record_buffer_ RecordBuffer b = {};

	note(h, i);
	history_record_transition(&b, "mlx5_0", 1, h, history_last(h));
	record_writer_put(w, &b);
}

/* Reads the file: how many transitions it has, which are the first ones, without a gap. */
static unsigned int read_back(RecordWriter **ret)
{
	HistoryList l = {};
	RecordWriter *w = record_writer_new(directory, PATIENCE_USEC, &l);
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
		assert_int_equal(h->n_downs, MIN(n / 2, HISTORY_LINK_DOWNS));
	}
	history_list_done(&l);
	if (ret)
		*ret = w;
	else
		record_writer_free(w);
	return n;
}

static void test_kept(void **state)
{
	History h = {};
	RecordWriter *w;
	unsigned int n = 0;

	(void)state;
	for (unsigned int life = 0; life < 5; life++) {
		assert_int_equal(read_back(&w), n);
		for (unsigned int i = 0; i < 100; i++)
			put(w, &h, n++);
		record_writer_free(w);
	}
	assert_int_equal(read_back(NULL), n);
	history_done(&h);
}

/* A file that is full is written again, and has everything afterwards. */
static void test_bounded(void **state)
{
	HistoryList l = {};
	History h = {};
	RecordFile f;
	struct stat st;

	(void)state;
	assert_int_equal(record_file_open(directory, &f, &l), 0);
	f.max = 16384;
	for (unsigned int i = 0; i < 5000; i++) {
		_cleanup_record_buffer_ RecordBuffer b = {};

		note(&h, i);
		history_record_transition(&b, "mlx5_0", 1, &h, history_last(&h));
		assert_int_equal(record_file_append(&f, b.data, b.size), 0);
		assert_int_equal(stat(file, &st), 0);
		assert_true((uint64_t)st.st_size <= f.max);
	}
	record_file_close(&f);
	assert_int_equal(read_back(NULL), 5000);
	history_done(&h);
}

/* Writes TEXT in place of the file. */
static void write_text(const char *text, size_t n)
{
	FILE *to = fopen(file, "w");

	assert_non_null(to);
	assert_int_equal(fwrite(text, 1, n, to), n);
	fclose(to);
}

static bool exists(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return access(path, F_OK) == 0;
}

/* Writes a file of the next version of rdmad, and TEXT in it. */
static void write_later(const char *text)
{
	char later[RECORD_HEAD_SIZE + 16] = {};
	uint8_t *head = (uint8_t *)later;
	uint32_t sum;

	record_write_head(head);
	head[8]++;
	sum = record_crc(0, head, 12);
	for (size_t i = 0; i < 4; i++)
		head[12 + i] = (uint8_t)(sum >> 8 * i);
	strcpy(later + RECORD_HEAD_SIZE, text);
	write_text(later, RECORD_HEAD_SIZE + strlen(text));
}

/* NAME is a file that write_later() has written with TEXT. */
static void assert_later(const char *name, const char *text)
{
	char path[128], is[64] = {};
	FILE *from;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	from = fopen(path, "r");
	assert_non_null(from);
	assert_int_equal(fread(is, 1, sizeof(is) - 1, from), RECORD_HEAD_SIZE + strlen(text));
	assert_string_equal(is + RECORD_HEAD_SIZE, text);
	fclose(from);
}

/* Files of a later version are kept, each, because that version will want them again. */
static void test_later(void **state)
{
	History h = {};
	RecordWriter *w;
	char name[32] = "history.later", text[16];

	(void)state;
	for (unsigned int i = 1; i <= 9; i++) {
		snprintf(text, sizeof(text), "file %u", i);
		write_later(text);
		assert_int_equal(read_back(&w), 0);
		put(w, &h, 0);
		record_writer_free(w);
		history_done(&h);
		assert_int_equal(read_back(NULL), 1);
		if (i > 1)
			snprintf(name, sizeof(name), "history.later.%u", i);
		assert_later(name, text);
	}
	/* enough: it is left alone */
	write_later("file 10");
	assert_null(record_writer_new(directory, PATIENCE_USEC, &(HistoryList){}));
	assert_later("history", "file 10");
	assert_later("history.later", "file 1");
	assert_later("history.later.9", "file 9");
}

/* A file that is not ours is renamed, and a new one takes its place. */
static void test_others(void **state)
{
	History h = {};
	RecordWriter *w;

	(void)state;
	write_text("what is this?", 13);
	assert_int_equal(read_back(&w), 0);
	assert_true(exists("history.damaged"));
	put(w, &h, 0);
	record_writer_free(w);
	assert_int_equal(read_back(NULL), 1);
	history_done(&h);

	/* nothing at all, as if the machine had gone down at the wrong moment */
	write_text("", 0);
	assert_int_equal(read_back(NULL), 0);
}

/* What cannot be used is said, and is no reason to wait or to end. */
static void test_obstacles(void **state)
{
	HistoryList l = {};
	RecordWriter *w;

	(void)state;
	assert_int_equal(mkdir(file, 0700), 0);
	assert_null(record_writer_new(directory, PATIENCE_USEC, &l));
	assert_int_equal(rmdir(file), 0);
	assert_int_equal(mkfifo(file, 0600), 0);
	assert_null(record_writer_new(directory, PATIENCE_USEC, &l));
	assert_int_equal(unlink(file), 0);
	assert_int_equal(symlink("/etc/passwd", file), 0);
	assert_null(record_writer_new(directory, PATIENCE_USEC, &l));
	assert_int_equal(unlink(file), 0);
	assert_null(record_writer_new("/nowhere/at/all", PATIENCE_USEC, &l));
	assert_null(record_writer_new("/proc/self/status", PATIENCE_USEC, &l));
	/* another process has it */
	w = record_writer_new(directory, PATIENCE_USEC, &l);
	assert_non_null(w);
	assert_null(record_writer_new(directory, PATIENCE_USEC, &l));
	record_writer_free(w);
	assert_int_equal(read_back(NULL), 0);
}

static void limit_size(rlim_t size)
{
	const struct rlimit limit = {.rlim_cur = size, .rlim_max = RLIM_INFINITY};

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* No room for the last record, however much of it there is: the file stays good, and later all of
 * it is there. */
static void test_full(void **state)
{
	_cleanup_record_buffer_ RecordBuffer b = {};
	HistoryList l = {};
	History h = {};
	RecordFile f;
	struct stat st;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(record_file_open(directory, &f, &l), 0);
	note(&h, 0);
	history_record_transition(&b, "mlx5_0", 1, &h, history_last(&h));
	for (size_t room = 0; room < b.size; room++) {
		limit_size(f.disk.size + room);
		assert_int_equal(record_file_append(&f, b.data, b.size), -EFBIG);
		assert_int_equal(stat(file, &st), 0);
		assert_int_equal(st.st_size, f.disk.size);
	}
	limit_size(RLIM_INFINITY);
	assert_int_equal(record_file_append(&f, b.data, b.size), 0);
	record_file_close(&f);
	assert_int_equal(read_back(NULL), 1);
	history_done(&h);
}

/* There is no room, which a message says; then another transition comes, and then there is room
 * again. At the end one more try is made, and both are written. */
static void test_full_until_the_end(void **state)
{
	HistoryList l = {};
	RecordWriter *w = record_writer_new(directory, PATIENCE_USEC, &l);
	int fds[2], standard_error = dup(STDERR_FILENO);
	struct stat st;
	History h = {};
	char c;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_non_null(w);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(stat(file, &st), 0);
	limit_size((rlim_t)st.st_size);
	assert_int_equal(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
	put(w, &h, 0);
	assert_int_equal(read(fds[0], &c, 1), 1);
	assert_int_equal(dup2(standard_error, STDERR_FILENO), STDERR_FILENO);
	put(w, &h, 1);
	limit_size(RLIM_INFINITY);
	record_writer_free(w);
	assert_int_equal(read_back(NULL), 2);
	close(fds[0]);
	close(fds[1]);
	close(standard_error);
	history_done(&h);
	history_list_done(&l);
}

/* There is no room even to begin: it starts without. */
static void test_full_from_the_beginning(void **state)
{
	HistoryList l = {};

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	limit_size(5);
	assert_null(record_writer_new(directory, PATIENCE_USEC, &l));
	limit_size(RLIM_INFINITY);
	assert_int_equal(read_back(NULL), 0);
}

/* Puts transitions without end, and writes the number of each that was put. */
static void put_for_ever(int fd, unsigned int n)
{
	RecordWriter *w;
	History h = {};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read_back(&w) != n)
		_exit(1);
	for (unsigned int i = 0; i < n; i++)
		note(&h, i);
	for (;; n++) {
		put(w, &h, n);
		if (write(fd, &n, sizeof(n)) != sizeof(n))
			_exit(1);
	}
}

/* How many transitions are in the file while another process writes to it. */
static unsigned int look(void)
{
	static uint8_t data[4 << 20];
	const KeptHistory *k = NULL;
	HistoryList l = {};
	unsigned int n = 0;
	ssize_t size;
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	size = read(fd, data, sizeof(data));
	close(fd);
	if (size > (ssize_t)RECORD_HEAD_SIZE)
		(void)history_replay(data + RECORD_HEAD_SIZE, (size_t)size - RECORD_HEAD_SIZE,
				     &(BootId){}, &l);
	if (history_find(&l, "mlx5_0/1", &k) == 0)
		n = (unsigned int)history_last(&k->history)->realtime_usec;
	history_list_done(&l);
	return n;
}

/* Waits until the threads of writers that were freed have ended: a directory has two links more
 * than subdirectories. fork() copies the locks of AddressSanitizer's allocator as they are, and
 * gives none back (gcc 12): a thread that just ends holds one, and the child would wait for it for
 * ever. */
static void wait_for_threads(void)
{
	struct stat st;

	while (stat("/proc/self/task", &st) == 0 && st.st_nlink > 3)
		usleep(1000);
	assert_int_equal(st.st_nlink, 3);
}

/* The process is killed after a number of transitions that is different each time: the file has the
 * first ones, without a gap, and none that was not put. */
static void test_killed(void **state)
{
	unsigned int n = 0, seed = kill_seed, lives = 0, lost = 0;

	(void)state;
	printf("seed %u\n", seed);
	while (n < kill_transitions) {
		unsigned int last = 0, safe, read_n, many = (unsigned int)rand_r(&seed) % 100;
		int fds[2];
		pid_t pid;

		/* packets: no more than 16 that have not been read */
		assert_int_equal(pipe2(fds, O_CLOEXEC | O_DIRECT), 0);
		wait_for_threads();
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			put_for_ever(fds[1], n);
		close(fds[1]);
		for (unsigned int i = 0; i <= many; i++)
			assert_int_equal(read(fds[0], &last, sizeof(last)), sizeof(last));
		/* every other time not before these are in the file: then they must be there */
		safe = lives % 2 ? last + 1 : n;
		while (look() < safe)
			usleep(1000);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		while (read(fds[0], &last, sizeof(last)) == sizeof(last))
			;
		close(fds[0]);
		read_n = read_back(NULL);
		assert_true(read_n >= safe);
		/* the one after the last may have been put, and its number not written */
		assert_true(read_n <= last + 2);
		lost += last + 1 - MIN(read_n, last + 1);
		n = read_n;
		lives++;
	}
	printf("%u transitions in %u lives, each killed; %u more were not in the file yet\n", n,
	       lives, lost);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_later, setup, teardown),
		cmocka_unit_test_setup_teardown(test_obstacles, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_until_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_from_the_beginning, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed, setup, teardown),
	};

	kill_seed = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10)
			     : (unsigned int)realtime_now_usec();
	if (argc > 2)
		kill_transitions = (unsigned int)strtoul(argv[2], NULL, 10);
	return cmocka_run_group_tests_name("record-writer", tests, NULL, NULL);
}
