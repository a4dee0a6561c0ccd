/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The power is cut at each call to the disk. What is in the segments then for certain is what was
 * synced, in the files whose names were. A segment that has its name has its whole beginning; what
 * was promised to be on the disk is there, without a gap; and the newest segment that is there for
 * certain is not removed before there is another one.
 */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "disk-double.h"
#include "segment-ring.h"

#define LINE_SIZE 12U
#define RING_MAX  (40 * LINE_SIZE)
#define LINES	  400U
#define FILES_MAX 64U

/* A file that has been in the directory. */
typedef struct File {
	ino_t inode;
	char name[32];	     /* now; "": it has been removed */
	unsigned int begins; /* the line with which it begins */
	size_t size, synced;
	bool name_synced;
} File;

static struct {
	char directory[64];
	File files[FILES_MAX];
	size_t n_files;
	unsigned int n_promised, n_states;
	unsigned int begins; /* the line with which the next segment begins */
	bool state_synced;   /* the name of the directory itself */
} world;

static File *find_file(ino_t inode)
{
	for (size_t i = 0; i < world.n_files; i++)
		if (world.files[i].inode == inode)
			return &world.files[i];
	return NULL;
}

static bool is_segment(const File *f)
{
	return strchr(f->name, '.') == f->name + 16;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const File *)a)->name, ((const File *)b)->name);
}

/* The line after the last one that is certain. NO_GAP: there is no gap before that. */
static unsigned int certain(bool no_gap)
{
	unsigned int next = 0;

	qsort(world.files, world.n_files, sizeof(File), by_name);
	for (size_t i = 0; i < world.n_files; i++) {
		const File *f = &world.files[i];

		if (!is_segment(f) || !f->name_synced)
			continue;
		assert_true(f->synced >= LINE_SIZE);
		if (no_gap && next > 0)
			assert_int_equal(f->begins, next);
		next = f->begins + (unsigned int)(f->synced / LINE_SIZE) - 1;
	}
	return world.state_synced ? next : 0;
}

static void check_state(void)
{
	assert_true(certain(false) >= world.n_promised);
	world.n_states++;
}

static void on_name(int fd, const char *name)
{
	struct stat st;
	File *f;

	assert_int_equal(fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	if (!S_ISREG(st.st_mode))
		return;
	/* the file that had the number of this inode before has gone */
	f = find_file(st.st_ino);
	if (!f || !*f->name) {
		assert_true(f || world.n_files < FILES_MAX);
		f = f ? f : &world.files[world.n_files++];
		*f = (File){.inode = st.st_ino, .begins = world.begins};
	}
	f->name_synced = f->name_synced && streq(f->name, name);
	text_copy(f->name, sizeof(f->name), name);
	if (is_segment(f))
		assert_int_equal(f->synced, f->size);
}

static void on_unlink(const char *name)
{
	for (size_t i = 0; i < world.n_files; i++)
		if (streq(world.files[i].name, name))
			*world.files[i].name = '\0';
}

static void on_call(DiskCall call, int fd, const char *name)
{
	struct stat st = {};
	File *f;

	if (fstat(fd, &st) < 0)
		return;
	f = S_ISREG(st.st_mode) ? find_file(st.st_ino) : NULL;
	if (call == DISK_OPEN || call == DISK_RENAME)
		on_name(fd, name);
	else if (call == DISK_UNLINK)
		on_unlink(name);
	else if (call == DISK_SYNC_DIRECTORY)
		for (size_t i = 0; i < world.n_files; i++)
			world.files[i].name_synced = true;
	if (call == DISK_SYNC_DIRECTORY && !world.state_synced)
		world.state_synced = true;
	if (f && (call == DISK_WRITE || call == DISK_TRUNCATE)) {
		f->size = (size_t)st.st_size;
		f->synced = MIN(f->synced, f->size);
	}
	if (f && call == DISK_SYNC)
		f->synced = f->size;
	check_state();
}

/* Writes a segment that begins with the lines until N, or line N. */
static void write_line(SegmentRing *s, unsigned int n, bool begins)
{
	char line[LINE_SIZE + 1];

	snprintf(line, sizeof(line), "%s%05u\n", begins ? "begin " : "line  ", n);
	if (!begins) {
		assert_int_equal(segment_ring_append(s, line, LINE_SIZE), 0);
		return;
	}
	world.begins = n;
	assert_int_equal(segment_ring_begin(s, 1000 + n, line, LINE_SIZE), 0);
	world.n_promised = n;
	assert_int_equal(certain(true), n);
}

static void test_power_cut(void **state)
{
	SegmentRing s;

	(void)state;
	segment_ring_init(&s, world.directory, RING_MAX);
	assert_int_equal(segment_ring_open(&s), 0);
	for (unsigned int n = 0; n < LINES; n++) {
		/* the process is started again */
		if (n % 100 == 99) {
			assert_int_equal(disk_file_sync(&s.file.disk), 0);
			segment_ring_done(&s);
			segment_ring_init(&s, world.directory, RING_MAX);
			assert_int_equal(segment_ring_open(&s), 0);
		}
		if (n % 7 == 0 || n % 100 == 99)
			write_line(&s, n, true);
		write_line(&s, n, false);
		if (n % 5 == 0) {
			assert_int_equal(disk_file_sync(&s.file.disk), 0);
			world.n_promised = n + 1;
			check_state();
		}
	}
	segment_ring_done(&s);
	print_message("the power was cut in %u states\n", world.n_states);
}

static int remove_entry(const char *path, _unused_ const struct stat *st, _unused_ int flag,
			_unused_ struct FTW *ftw)
{
	return remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_power_cut)};
	int r;

	strcpy(world.directory, "/tmp/rdmad-test.XXXXXX");
	if (!mkdtemp(world.directory))
		return EXIT_FAILURE;
	disk.on_call = on_call;
	r = cmocka_run_group_tests_name("disk-power-cut", tests, NULL, NULL);
	disk.on_call = NULL;
	return nftw(world.directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS) < 0 ? EXIT_FAILURE : r;
}
