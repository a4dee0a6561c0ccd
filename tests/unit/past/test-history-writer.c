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
#include "history-text.h"
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

/* The file begins anew, if that is due: with H, and all that is noted there. */
static void begin(LineWriter *w, const History *h)
{
	g_autoptr(GString) text = NULL;

	if (line_writer_wants(w) == LINES_GO_ON)
		return;
	text = g_string_new(NULL);
	history_put_head(text, "0");
	history_put_port(text, "mlx5_0", 1, h, HISTORY_PORT_BYTES(1));
	line_writer_begin(w, 0, text->str, text->len);
}

static void put(LineWriter *w, History *h, unsigned int i)
{
	g_autoptr(GString) text = g_string_new(NULL);

	begin(w, h);
	note(h, i);
	history_put_change(text, "mlx5_0", 1, h, history_last(h));
	line_writer_put(w, text->str, text->len);
}

/* Reads the file: how many transitions it has, which are the first ones, without a gap. */
static unsigned int read_back(LineWriter **ret)
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
		assert_int_equal(h->n_downs, MIN(n / 2, HISTORY_LINK_DOWNS));
	}
	history_list_done(&l);
	if (ret)
		*ret = w;
	else
		line_writer_free(w, PATIENCE_USEC);
	return n;
}

static void test_kept(void **state)
{
	History h = {};
	LineWriter *w;
	unsigned int n = 0;

	(void)state;
	for (unsigned int life = 0; life < 5; life++) {
		assert_int_equal(read_back(&w), n);
		for (unsigned int i = 0; i < 100; i++)
			put(w, &h, n++);
		line_writer_free(w, PATIENCE_USEC);
	}
	assert_int_equal(read_back(NULL), n);
	history_done(&h);
}

/* A file that is full begins anew, and has everything afterwards. */
static void test_bounded(void **state)
{
	LineWriter *w;
	History h = {};
	struct stat st;

	(void)state;
	assert_int_equal(read_back(&w), 0);
	for (unsigned int i = 0; i < 40000; i++) {
		/* the disk may be slower than this */
		while (line_writer_wants(w) == LINES_LOST)
			begin(w, &h);
		put(w, &h, i);
	}
	line_writer_free(w, PATIENCE_USEC);
	assert_int_equal(stat(file, &st), 0);
	assert_in_range(st.st_size, 1000, 1 << 20);
	assert_int_equal(read_back(NULL), 40000);
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

#define LATER "# rdmad history 2\n"

/* Writes a file of the next version of rdmad, and TEXT in it. */
static void write_later(const char *text)
{
	char later[64];

	snprintf(later, sizeof(later), LATER "%s", text);
	write_text(later, strlen(later));
}

/* NAME is a file that write_later() has written with TEXT. */
static void assert_later(const char *name, const char *text)
{
	char path[128], is[64] = {};
	FILE *from;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	from = fopen(path, "r");
	assert_non_null(from);
	assert_int_equal(fread(is, 1, sizeof(is) - 1, from), strlen(LATER) + strlen(text));
	assert_string_equal(is + strlen(LATER), text);
	fclose(from);
}

/* Files of a later version are kept, each, because that version will want them again. */
static void test_later(void **state)
{
	History h = {};
	LineWriter *w;
	char name[32] = "history.later", text[16];

	(void)state;
	for (unsigned int i = 1; i <= 9; i++) {
		snprintf(text, sizeof(text), "file %u", i);
		write_later(text);
		assert_int_equal(read_back(&w), 0);
		put(w, &h, 0);
		line_writer_free(w, PATIENCE_USEC);
		history_done(&h);
		assert_int_equal(read_back(NULL), 1);
		if (i > 1)
			snprintf(name, sizeof(name), "history.later.%u", i);
		assert_later(name, text);
	}
	/* enough: it is left alone */
	write_later("file 10");
	assert_null(history_writer_new(directory, PATIENCE_USEC, &(HistoryList){}));
	assert_later("history", "file 10");
	assert_later("history.later", "file 1");
	assert_later("history.later.9", "file 9");
}

/* A file that is not ours is renamed, and a new one takes its place. */
static void test_others(void **state)
{
	History h = {};
	LineWriter *w;

	(void)state;
	write_text("what is this?", 13);
	assert_int_equal(read_back(&w), 0);
	assert_true(exists("history.damaged"));
	assert_false(exists("history"));
	put(w, &h, 0);
	line_writer_free(w, PATIENCE_USEC);
	assert_int_equal(read_back(NULL), 1);
	history_done(&h);

	/* nothing at all, as if the machine had gone down at the wrong moment */
	write_text("", 0);
	assert_int_equal(read_back(NULL), 0);
}

/* Reads the file; returns what is said about that, which the caller frees. */
static char *read_messages(HistoryList *l)
{
	int fds[2], standard_error = dup(STDERR_FILENO);
	LineWriter *w;
	char *text = calloc(1, 4096);

	assert_non_null(text);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
	close(fds[1]);
	w = history_writer_new(directory, PATIENCE_USEC, l);
	line_writer_free(w, PATIENCE_USEC);
	assert_int_equal(dup2(standard_error, STDERR_FILENO), STDERR_FILENO);
	close(standard_error);
	assert_non_null(w);
	assert_true(read(fds[0], text, 4095) >= 0);
	close(fds[0]);
	return text;
}

#define CHANGE(port) "change mlx5_0/" port " from=down to=active reason=link time=5 .\n"

/* A message says which lines are wrong, and of a file with very many how many; the others are
 * there.
 */
static void test_wrong_lines(void **state)
{
	_cleanup_free_ char *said = NULL, *many = NULL;
	static char text[40000] = "# rdmad history 1\n" CHANGE("1") "change mlx5_0/9 from\n";
	size_t n = strlen(text);
	HistoryList l = {};

	(void)state;
	n += (size_t)sprintf(text + n, "%s%c%s", CHANGE("2"), '\0', CHANGE("9"));
	/* too long, also for what is read at once; and just not too long */
	for (size_t i = 0; i < 3; i++) {
		const size_t sizes[] = {8193, 20000, 8192};

		memset(text + n, i == 2 ? '#' : 'x', sizes[i]);
		n += sizes[i];
		text[n++] = '\n';
	}
	n += (size_t)sprintf(text + n, "%s%s", CHANGE("3"), "change mlx5_0/9 from=down to=act");
	write_text(text, n);
	said = read_messages(&l);
	assert_int_equal(l.n, 3);
	for (const KeptHistory *k = l.first; k; k = k->next)
		assert_in_range(k->port, 1, 3);
	assert_non_null(strstr(said, "/history:3: a word has no '='; the line is left out\n"));
	assert_non_null(strstr(said, "/history:5: there is a byte in it that is no text; the"));
	assert_non_null(strstr(said, "/history:6: it is too long; the line is left out\n"));
	assert_non_null(strstr(said, "/history:7: it is too long; the line is left out\n"));
	assert_null(strstr(said, "/history:8:"));
	assert_non_null(strstr(said, "/history:10: it is cut; the line is left out\n"));
	history_list_done(&l);

	n = (size_t)sprintf(text, "# rdmad history 1\n");
	for (unsigned int i = 0; i < 1000; i++)
		n += (size_t)sprintf(text + n, "x\n");
	n += (size_t)sprintf(text + n, "%s", CHANGE("1"));
	write_text(text, n);
	many = read_messages(&l);
	assert_int_equal(l.n, 1);
	assert_non_null(strstr(many, "/history:11: "));
	assert_null(strstr(many, "/history:12: "));
	assert_non_null(strstr(many, "/history: 1000 lines are left out in all\n"));
	history_list_done(&l);
}

/* A file that is larger than any of rdmad is not read. */
static void test_too_large(void **state)
{
	(void)state;
	write_text("# rdmad history 1\n" CHANGE("1"), strlen("# rdmad history 1\n" CHANGE("1")));
	assert_int_equal(truncate(file, HISTORY_FILE_MAX + 1), 0);
	assert_int_equal(read_back(NULL), 0);
	assert_true(exists("history.damaged"));
}

/* What cannot be used is said, and is no reason to wait or to end. */
static void test_obstacles(void **state)
{
	HistoryList l = {};
	LineWriter *w;

	(void)state;
	assert_int_equal(mkdir(file, 0700), 0);
	assert_null(history_writer_new(directory, PATIENCE_USEC, &l));
	assert_int_equal(rmdir(file), 0);
	assert_int_equal(mkfifo(file, 0600), 0);
	assert_null(history_writer_new(directory, PATIENCE_USEC, &l));
	assert_int_equal(unlink(file), 0);
	assert_int_equal(symlink("/etc/passwd", file), 0);
	assert_null(history_writer_new(directory, PATIENCE_USEC, &l));
	assert_int_equal(unlink(file), 0);
	assert_null(history_writer_new("/nowhere/at/all", PATIENCE_USEC, &l));
	assert_null(history_writer_new("/proc/self/status", PATIENCE_USEC, &l));
	/* another process has it */
	w = history_writer_new(directory, PATIENCE_USEC, &l);
	assert_non_null(w);
	assert_null(history_writer_new(directory, PATIENCE_USEC, &l));
	line_writer_free(w, PATIENCE_USEC);
	assert_int_equal(read_back(NULL), 0);
}

static void limit_size(rlim_t size)
{
	const struct rlimit limit = {.rlim_cur = size, .rlim_max = RLIM_INFINITY};

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* No room for the last line, however much of it there is: the file stays good, and later all of it
 * is there. The same with a file that begins anew. */
static void test_full(void **state)
{
	g_autoptr(GString) text = g_string_new(NULL), all = g_string_new(NULL);
	LineFile *f = history_file_new(directory);
	History h = {};
	struct stat st;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(f->kind->open(f), 0);
	note(&h, 0);
	history_put_head(all, "0");
	history_put_port(all, "mlx5_0", 1, &h, HISTORY_PORT_BYTES(1));
	assert_int_equal(f->kind->begin(f, 0, all->str, all->len), 0);
	note(&h, 1);
	history_put_change(text, "mlx5_0", 1, &h, history_last(&h));
	for (size_t room = 0; room < text->len; room++) {
		limit_size(all->len + room);
		assert_int_equal(f->kind->append(f, text->str, text->len), -EFBIG);
		assert_int_equal(stat(file, &st), 0);
		assert_int_equal(st.st_size, all->len);
	}
	for (size_t room = 0; room < all->len; room++) {
		limit_size(room);
		assert_int_equal(f->kind->begin(f, 0, all->str, all->len), -EFBIG);
		assert_int_equal(stat(file, &st), 0);
		assert_int_equal(st.st_size, all->len);
		assert_false(exists("history.new"));
	}
	limit_size(RLIM_INFINITY);
	assert_int_equal(f->kind->append(f, text->str, text->len), 0);
	f->kind->free(f);
	assert_int_equal(read_back(NULL), 2);
	history_done(&h);
}

/* There is no room, which a message says; then another transition comes, and then there is room
 * again. At the end one more try is made, and both are written. */
static void test_full_until_the_end(void **state)
{
	HistoryList l = {};
	LineWriter *w = history_writer_new(directory, PATIENCE_USEC, &l);
	int fds[2], standard_error = dup(STDERR_FILENO);
	struct stat st;
	History h = {};
	char c;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_non_null(w);
	begin(w, &h);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	while (stat(file, &st) < 0 || st.st_size == 0)
		usleep(1000);
	limit_size((rlim_t)st.st_size);
	assert_int_equal(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
	put(w, &h, 0);
	assert_int_equal(read(fds[0], &c, 1), 1);
	assert_int_equal(dup2(standard_error, STDERR_FILENO), STDERR_FILENO);
	put(w, &h, 1);
	limit_size(RLIM_INFINITY);
	line_writer_free(w, PATIENCE_USEC);
	assert_int_equal(read_back(NULL), 2);
	close(fds[0]);
	close(fds[1]);
	close(standard_error);
	history_done(&h);
	history_list_done(&l);
}

/* There is no room even to begin: what was there stays. */
static void test_full_from_the_beginning(void **state)
{
	LineWriter *w;
	History h = {};

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(read_back(&w), 0);
	put(w, &h, 0);
	line_writer_free(w, PATIENCE_USEC);
	limit_size(5);
	assert_int_equal(read_back(&w), 1);
	put(w, &h, 1);
	line_writer_free(w, PATIENCE_USEC);
	assert_int_equal(read_back(NULL), 1);
	limit_size(RLIM_INFINITY);
	history_done(&h);
}

/* Puts transitions without end, and writes the number of each that was put. */
static void put_for_ever(int fd, unsigned int n)
{
	LineWriter *w;
	History h = {};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read_back(&w) != n)
		_exit(1);
	for (unsigned int i = 0; i < n; i++)
		note(&h, i);
	begin(w, &h);
	for (;; n++) {
		put(w, &h, n);
		if (write(fd, &n, sizeof(n)) != sizeof(n))
			_exit(1);
	}
}

/* How many transitions are in the file while another process writes to it. */
static unsigned int look(void)
{
	_cleanup_free_ char *text = NULL;
	const char *last = NULL;
	unsigned int n = 0;
	size_t size;

	if (text_read_file(file, 4 << 20, &text, &size) == -ENOENT)
		return 0;
	assert_non_null(text);
	for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1)
		if (startswith(at, "change "))
			last = at;
	if (last)
		assert_int_equal(sscanf(strstr(last, " time="), " time=%u", &n), 1);
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
		cmocka_unit_test_setup_teardown(test_wrong_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_large, setup, teardown),
		cmocka_unit_test_setup_teardown(test_later, setup, teardown),
		cmocka_unit_test_setup_teardown(test_obstacles, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_until_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_from_the_beginning, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed, setup, teardown),
	};

	/* messages are read from standard error */
	unsetenv("JOURNAL_STREAM");
	kill_seed = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10)
			     : (unsigned int)realtime_now_usec();
	if (argc > 2)
		kill_transitions = (unsigned int)strtoul(argv[2], NULL, 10);
	return cmocka_run_group_tests_name("history-writer", tests, NULL, NULL);
}
