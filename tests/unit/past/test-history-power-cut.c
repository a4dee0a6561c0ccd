/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The power is cut at each write. This program has its own pwrite(), ftruncate(), renameat(),
 * fdatasync() and fsync(), which know what is on the disk for certain. After each of these calls
 * the states are made that the disk may have then, one after the other in another directory: the
 * last write is there up to a byte, a sector of what was not synced has its old contents (zeros) or
 * garbage, or all of that is missing. From each state the file must open again, with the
 * transitions that were synced, without a gap, and of those that were written later with none that
 * is another one.
 */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "history-file.h"
#include "history-text.h"
#include "log.h"

#define SECTOR 512U
#define STEPS  500U
/* When the file begins anew. */
#define FILE_MAX 16384U

enum { OLD, NEW, _FILE_MAX };
static const char *const names[_FILE_MAX] = {"history", "history.new"};

static struct {
	char directory[64], cut[80]; /* where the file is written; where the states are made */
	bool checking;		     /* a state is being checked */
	size_t synced_size[_FILE_MAX];
	bool directory_synced;
	/* transitions of which all, some, or none may be on the disk */
	unsigned int n_synced, n_written, n_begun;
	unsigned int n_writes, n_states;
} world;

typedef struct Image {
	uint8_t data[2 * FILE_MAX];
	size_t size;
} Image;

static uint32_t seed = 1;
static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* NAME of DIRECTORY. Returns false if it is not there. */
static bool read_image(const char *directory, const char *name, Image *ret)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, ret->data, sizeof(ret->data));
	assert_in_range(n, 0, sizeof(ret->data) - 1);
	ret->size = (size_t)n;
	close(fd);
	return true;
}

/* Makes the file NAME of the state; without IMAGE there is none. */
static void write_image(const char *name, const Image *image)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", world.cut, name);
	(void)unlink(path);
	if (!image)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, image->data, image->size), image->size);
	close(fd);
}

/* The number of the last transition that L has. The test fails if one that was synced is missing,
 * or one is not as it was written. */
static unsigned int count(const HistoryList *l)
{
	const KeptHistory *k = NULL;
	const History *h;
	unsigned int n, last = 0;

	if (history_find(l, "mlx5_0/1", &k) < 0)
		return 0;
	h = &k->history;
	n = (unsigned int)history_last(h)->realtime_usec;
	for (unsigned int i = 0; i < h->n; i++) {
		const Transition *t = history_entry(h, i);
		unsigned int now = (unsigned int)t->realtime_usec;

		if (now <= world.n_synced && (i > 0 || h->n < HISTORY_ENTRIES))
			assert_int_equal(now, last + 1);
		assert_true(now > last);
		assert_int_equal(t->monotonic_usec, now);
		assert_int_equal(t->to, now % 2 ? 4 : 1);
		assert_int_equal(t->reason, now == 1 ? REASON_STARTUP : REASON_LINK);
		last = now;
	}
	assert_in_range(h->link_downs, world.n_synced / 2, n / 2);
	assert_true(h->n_downs >= MIN(world.n_synced / 2, HISTORY_LINK_DOWNS));
	return n;
}

static void check_file(const Image *old, const Image *new)
{
	LineFile *f = history_file_new(world.cut);
	unsigned int n;

	write_image(names[OLD], old);
	write_image(names[NEW], new);
	world.checking = true;
	assert_int_equal(f->kind->open(f), 0);
	world.checking = false;
	n = count(history_file_list(f));
	if (n < world.n_synced || n > world.n_begun)
		fail_msg("%u transitions, %u were synced and %u written", n, world.n_synced,
			 world.n_begun);
	f->kind->free(f);
	world.n_states++;
}

/* What the disk may have of IMAGE, of which the bytes from SYNCED on may be missing, and those from
 * OFFSET on were written last. The other file, if it is there, is OTHER. */
static void check_variants(const Image *image, size_t synced, size_t offset, const Image *other,
			   bool is_new)
{
	Image cut = *image;
	size_t first = MIN(MAX(synced, offset), image->size), left = image->size - first;
	/* at each byte of some writes */
	size_t step = world.n_writes % 8 == 0 || left < 8 ? 1 : left / 8;

	for (size_t size = first; size < image->size + step; size += step) {
		cut.size = MIN(size, image->size);
		check_file(is_new ? other : &cut, is_new ? &cut : other);
	}
	cut.size = MIN(synced, image->size);
	check_file(is_new ? other : &cut, is_new ? &cut : other);
	for (size_t at = synced - synced % SECTOR; at < image->size; at += SECTOR) {
		size_t begin = MAX(at, synced), end = MIN(at + SECTOR, image->size);

		cut = *image;
		for (size_t i = begin; i < end; i++)
			cut.data[i] = (uint8_t)random_below(256);
		check_file(is_new ? other : &cut, is_new ? &cut : other);
		memset(cut.data + begin, 0, end - begin);
		check_file(is_new ? other : &cut, is_new ? &cut : other);
		memset(cut.data + begin, 0, image->size - begin);
		check_file(is_new ? other : &cut, is_new ? &cut : other);
	}
}

/* FILE was written from OFFSET on. */
static void check_states(int file, size_t offset)
{
	static Image old, new;
	bool has_old = read_image(world.directory, names[OLD], &old);
	bool has_new = read_image(world.directory, names[NEW], &new);

	world.n_writes++;
	if (file == OLD || has_old)
		check_variants(&old, world.synced_size[OLD],
			       file == OLD ? offset : world.synced_size[OLD], has_new ? &new : NULL,
			       false);
	if (file == NEW)
		check_variants(&new, world.synced_size[NEW], offset, has_old ? &old : NULL, true);
}

/* Which file FD is, -1: none of them. */
static int file_of(int fd)
{
	char link[40], path[128] = {}, is[128];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (world.checking || readlink(link, path, sizeof(path) - 1) < 0)
		return -1;
	for (int i = 0; i < _FILE_MAX; i++) {
		snprintf(is, sizeof(is), "%s/%s", world.directory, names[i]);
		if (streq(path, is))
			return i;
	}
	return -1;
}

/* What disk-file.c calls */

ssize_t pwrite(int fd, const void *data, size_t n, off_t offset)
{
	ssize_t r = syscall(SYS_pwrite64, fd, data, n, offset);
	int file = file_of(fd);

	if (file >= 0)
		check_states(file, (size_t)offset);
	return r;
}

int ftruncate(int fd, off_t size)
{
	int r = (int)syscall(SYS_ftruncate, fd, size), file = file_of(fd);

	if (file >= 0) {
		world.synced_size[file] = MIN(world.synced_size[file], (size_t)size);
		check_states(file, (size_t)size);
	}
	return r;
}

/* Nothing is written to the disk: that would only take time. */
int fdatasync(int fd)
{
	struct stat st;
	int file = file_of(fd);

	if (file < 0)
		return 0;
	assert_int_equal(fstat(fd, &st), 0);
	world.synced_size[file] = (size_t)st.st_size;
	if (file == OLD) {
		/* otherwise the file itself may be missing, or be the one before */
		assert_true(world.directory_synced);
		world.n_synced = world.n_written;
	}
	return 0;
}

int fsync(_unused_ int fd)
{
	if (!world.checking)
		world.directory_synced = true;
	return 0;
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	bool ours = !world.checking && streq(from, names[NEW]);
	static Image new;

	if (ours) {
		assert_true(read_image(world.directory, from, &new));
		assert_int_equal(world.synced_size[NEW], new.size);
		check_states(OLD, 0);
		world.directory_synced = false;
		world.synced_size[OLD] = new.size;
		world.synced_size[NEW] = 0;
	}
	return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

/* The file begins anew, with all of H. */
static void begin(LineFile *f, const History *h)
{
	g_autoptr(GString) text = g_string_new(NULL);
	char boot[BOOT_ID_SIZE];

	boot_id_text(boot);
	history_put_head(text, boot);
	history_put_port(text, "mlx5_0", 1, h, HISTORY_PORT_BYTES(1));
	assert_int_equal(f->kind->begin(f, 0, text->str, text->len), 0);
	assert_true(world.directory_synced);
	world.n_synced = world.n_written = world.n_begun;
}

/* Adds transition I, whose times are I + 1. */
static void append(LineFile *f, History *h, unsigned int i)
{
	g_autoptr(GString) text = g_string_new(NULL);

	assert_true(history_note(h, i % 2 ? 1 : 4, i ? REASON_LINK : REASON_STARTUP, i + 1, i + 1));
	world.n_begun++;
	if (f->disk.size > FILE_MAX) {
		begin(f, h);
		return;
	}
	history_put_change(text, "mlx5_0", 1, h, history_last(h));
	assert_int_equal(f->kind->append(f, text->str, text->len), 0);
	world.n_written++;
}

static LineFile *open_file(const History *h)
{
	LineFile *f = history_file_new(world.directory);

	assert_int_equal(f->kind->open(f), 0);
	assert_int_equal(count(history_file_list(f)), world.n_written);
	begin(f, h);
	return f;
}

static void test_power_cut(void **state)
{
	History h = {};
	LineFile *f = open_file(&h);

	(void)state;
	for (unsigned int i = 0; i < STEPS; i++) {
		append(f, &h, i);
		if (random_below(4) == 0)
			assert_int_equal(disk_file_sync(&f->disk), 0);
		if (i % 150 == 149) {
			f->kind->free(f);
			f = open_file(&h);
		}
	}
	f->kind->free(f);
	history_done(&h);
	assert_int_equal(world.n_begun, STEPS);
	print_message("%u transitions, %u writes: the power was cut in %u states\n", STEPS,
		      world.n_writes, world.n_states);
}

static void remove_all(const char *directory)
{
	static const char *const left[] = {"history", "history.new", "history.damaged"};
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(left); i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, left[i]);
		(void)unlink(path);
	}
	assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_power_cut)};
	int r;

	log_max_level = LOG_ERR; /* each state that is damaged is worth a warning */
	strcpy(world.directory, "/tmp/rdmad-test.XXXXXX");
	if (!mkdtemp(world.directory))
		return EXIT_FAILURE;
	snprintf(world.cut, sizeof(world.cut), "%s/cut", world.directory);
	if (mkdir(world.cut, 0700) < 0)
		return EXIT_FAILURE;
	r = cmocka_run_group_tests_name("history-power-cut", tests, NULL, NULL);
	remove_all(world.cut);
	remove_all(world.directory);
	return r;
}
