/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of segments, whatever the clock says and whatever names there are, and which of them go
 * when there is no room. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "segment-ring.h"

#define MIB	   (UINT64_C(1) << 20)
#define NOW	   UINT64_C(1763950000000000)
#define TEN_YEARS  (UINT64_C(3653) * 24 * 3600 * USEC_PER_SEC)
#define LAST_CLOCK UINT64_C(9000000000000000)
#define LAST	   "9999999999999999.conf"

static char directory[64], record[96];

static int setup(_unused_ void **state)
{
	strcpy(directory, "/tmp/rdmad-test.XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(record, sizeof(record), "%s/record", directory);
	return mkdir(record, 0755);
}

static int remove_entry(const char *path, _unused_ const struct stat *st, _unused_ int flag,
			_unused_ struct FTW *ftw)
{
	return remove(path);
}

static int teardown(_unused_ void **state)
{
	return nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* The segment that cannot be removed; NULL: all can. */
static const char *stays;

/* instead of that of the C library */
int unlinkat(int directory_fd, const char *name, int flags)
{
	if (stays && streq(name, stays)) {
		errno = EPERM;
		return -1;
	}
	return (int)syscall(SYS_unlinkat, directory_fd, name, flags);
}

static const char *path_of(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", record, name);
	return path;
}

static void make_file(const char *name, const char *text)
{
	FILE *to = fopen(path_of(name), "w");

	assert_non_null(to);
	assert_true(fputs(text, to) >= 0);
	fclose(to);
}

static void assert_text(const char *name, const char *text)
{
	_cleanup_free_ char *is = NULL;
	size_t size;

	assert_int_equal(text_read_file(path_of(name), MIB, &is, &size), 0);
	assert_string_equal(is, text);
}

static SegmentRing open_ring(uint64_t max_bytes)
{
	SegmentRing s;

	segment_ring_init(&s, directory, max_bytes);
	assert_int_equal(segment_ring_open(&s), 0);
	return s;
}

/* A start with this clock, which begins one segment and adds to it. */
static void start(uint64_t realtime_usec, const char *text)
{
	SegmentRing s = open_ring(MIB);

	assert_int_equal(segment_ring_begin(&s, realtime_usec, text, strlen(text)), 0);
	assert_int_equal(segment_ring_append(&s, ".\n", 2), 0);
	segment_ring_done(&s);
}

/* The names say in which order the segments were begun. */
static void test_clocks(_unused_ void **state)
{
	start(0, "1970");
	start(1, "a moment later");
	start(NOW, "right");
	start(NOW + TEN_YEARS, "ten years before");
	start(NOW, "right again");
	start(NOW - TEN_YEARS, "ten years after");
	start(0, "1970 again");
	start(LAST_CLOCK, "the last clock");
	start(LAST_CLOCK + 1, "beyond it");
	start(UINT64_MAX, "before 1970");
	start(NOW, "right at last");
	assert_text("0000000000000000.conf", "1970.\n");
	assert_text("0000000000000001.conf", "a moment later.\n");
	assert_text("1763950000000000.conf", "right.\n");
	assert_text("2079569200000000.conf", "ten years before.\n");
	assert_text("2079569200000001.conf", "right again.\n");
	assert_text("2079569200000002.conf", "ten years after.\n");
	assert_text("2079569200000003.conf", "1970 again.\n");
	assert_text("9000000000000000.conf", "the last clock.\n");
	assert_text("9000000000000001.conf", "beyond it.\n");
	assert_text("9000000000000002.conf", "before 1970.\n");
	assert_text("9000000000000003.conf", "right at last.\n");
}

/* A clock that is beyond the last one from the start counts for nothing. */
static void test_clock_beyond(_unused_ void **state)
{
	start(UINT64_C(12000000000000000), "the year 2350");
	start(NOW, "right");
	assert_text("0000000000000000.conf", "the year 2350.\n");
	assert_text("1763950000000000.conf", "right.\n");
}

/* What a version left that clamped the clock to the last number, or somebody has put there: it
 * stays behind what is older, and before what is newer. */
static void test_last_numbers(_unused_ void **state)
{
	make_file("1700000000000000.conf", "older\n");
	make_file("9999999999999998.conf", "two\n");
	make_file(LAST, "three\n");
	start(NOW, "four");
	start(NOW, "five");
	assert_text("1700000000000000.conf", "older\n");
	assert_text("1700000000000001.conf", "two\n");
	assert_text("1700000000000002.conf", "three\n");
	assert_text("1763950000000000.conf", "four.\n");
	assert_text("1763950000000001.conf", "five.\n");
	assert_int_equal(access(path_of(LAST), F_OK), -1);
}

/* Also while rdmad runs; and it counts for the size of all. */
static void test_last_number_comes(_unused_ void **state)
{
	SegmentRing s = open_ring(30);

	assert_int_equal(segment_ring_begin(&s, NOW, "one\n", 4), 0);
	make_file(LAST, "twenty bytes of two\n");
	assert_int_equal(segment_ring_begin(&s, NOW, "three\n", 6), 0);
	assert_text("1763950000000000.conf", "one\n");
	assert_text("1763950000000001.conf", "twenty bytes of two\n");
	assert_text("1763950000000002.conf", "three\n");
	assert_int_equal(segment_ring_append(&s, "end\n", 4), 0);
	assert_text("1763950000000001.conf", "twenty bytes of two\n");
	assert_text("1763950000000002.conf", "three\nend\n");
	assert_int_equal(access(path_of("1763950000000000.conf"), F_OK), -1);
	segment_ring_done(&s);
}

/* The room for a segment is made before it is written, of what is not the current one. */
static void test_last_number_gives_room(_unused_ void **state)
{
	SegmentRing s = open_ring(30);

	assert_int_equal(segment_ring_begin(&s, NOW, "one\n", 4), 0);
	make_file(LAST, "twenty bytes of two\n");
	assert_int_equal(segment_ring_begin(&s, NOW, "three..\n", 8), 0);
	segment_ring_done(&s);
	assert_text("1763950000000000.conf", "one\n");
	assert_text("1763950000000002.conf", "three..\n");
	assert_int_equal(access(path_of("1763950000000001.conf"), F_OK), -1);
	assert_int_equal(access(path_of(LAST), F_OK), -1);
}

/* What has such a name and is no segment stays where it is, and is not in the way. */
static void test_last_number_is_no_segment(_unused_ void **state)
{
	struct stat st;

	assert_int_equal(mkdir(path_of(LAST), 0755), 0);
	assert_int_equal(symlink("nowhere", path_of("9999999999999998.conf")), 0);
	start(NOW, "one");
	assert_text("1763950000000000.conf", "one.\n");
	assert_int_equal(lstat(path_of(LAST), &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(lstat(path_of("9999999999999998.conf"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

/* What is added fills the room to its last byte before the oldest segment goes. */
static void test_full(_unused_ void **state)
{
	SegmentRing s = open_ring(30);

	assert_int_equal(segment_ring_begin(&s, NOW, "ten bytes\n", 10), 0);
	/* alone it may grow without end */
	assert_int_equal(segment_ring_append(&s, "ten again\nand twenty and one.\n", 31), 0);
	assert_text("1763950000000000.conf", "ten bytes\nten again\nand twenty and one.\n");
	assert_int_equal(segment_ring_begin(&s, NOW, "ten bytes\n", 10), 0);
	assert_int_equal(access(path_of("1763950000000000.conf"), F_OK), -1);
	assert_int_equal(segment_ring_begin(&s, NOW, "ten bytes\n", 10), 0);
	assert_int_equal(segment_ring_append(&s, "ten more.\n", 10), 0);
	assert_int_equal(access(path_of("1763950000000001.conf"), F_OK), 0);
	assert_string_equal(s.file.failed, "1763950000000002.conf");
	assert_int_equal(segment_ring_append(&s, "\n", 1), 0);
	assert_int_equal(access(path_of("1763950000000001.conf"), F_OK), -1);
	assert_text("1763950000000002.conf", "ten bytes\nten more.\n\n");
	segment_ring_done(&s);
}

/* Somebody removes the current segment: what is left counts, to its last byte. */
static void test_removed(_unused_ void **state)
{
	SegmentRing s = open_ring(30);

	assert_int_equal(segment_ring_begin(&s, NOW, "ten bytes\n", 10), 0);
	assert_int_equal(segment_ring_begin(&s, NOW, "ten again\n", 10), 0);
	assert_int_equal(unlink(path_of("1763950000000001.conf")), 0);
	assert_int_equal(segment_ring_append(&s, "eleven more", 11), 0);
	assert_text("1763950000000000.conf", "ten bytes\n");
	assert_int_equal(s.others, 10);
	segment_ring_done(&s);
}

static bool is_there(const char *name)
{
	return access(path_of(name), F_OK) == 0;
}

/* Before the first segment of a start the newest of those before stays, however large it is: it may
 * say why rdmad has ended. */
static void test_newest_before(_unused_ void **state)
{
	SegmentRing s = open_ring(30);

	make_file("1700000000000000.conf", "oldest\n");
	make_file("1700000000000001.conf", "older\n");
	make_file("1700000000000002.conf", "more than thirty bytes of the newest\n");
	assert_int_equal(segment_ring_begin(&s, NOW, "one\n", 4), 0);
	/* when there is a new one it goes, too */
	assert_false(is_there("1700000000000000.conf") || is_there("1700000000000001.conf"));
	assert_false(is_there("1700000000000002.conf"));
	assert_text("1763950000000000.conf", "one\n");
	make_file("1763949999999999.conf", "twenty bytes of zero\n");
	/* from then on the current one is that which stays */
	assert_int_equal(segment_ring_begin(&s, NOW, "twenty bytes of two.\n", 21), 0);
	assert_text("1763950000000001.conf", "twenty bytes of two.\n");
	assert_int_equal(s.others, 4);
	assert_false(is_there("1763949999999999.conf"));
	segment_ring_done(&s);
}

/* A segment that cannot be removed is an error only where the others do not give the room. */
static void test_stays(_unused_ void **state)
{
	SegmentRing s = open_ring(30);

	make_file("1700000000000000.conf", "stays\n");
	make_file("1700000000000001.conf", "ten bytes\n");
	make_file("1700000000000002.conf", "ten bytes\n");
	stays = "1700000000000000.conf";
	assert_int_equal(segment_ring_begin(&s, NOW, "ten bytes\n", 10), 0);
	assert_true(is_there("1700000000000000.conf") && is_there("1700000000000002.conf"));
	assert_false(is_there("1700000000000001.conf"));
	assert_int_equal(segment_ring_append(&s, "ten again\n", 10), 0);
	assert_false(is_there("1700000000000002.conf"));
	assert_int_equal(segment_ring_append(&s, "and\n", 4), 0);
	assert_int_equal(segment_ring_append(&s, "x", 1), -EPERM);
	assert_string_equal(s.file.failed, "1700000000000000.conf");
	assert_text("1763950000000000.conf", "ten bytes\nten again\nand\n");
	assert_int_equal(segment_ring_begin(&s, NOW, "more than all the room that is left\n", 36),
			 -EPERM);
	stays = NULL;
	assert_int_equal(segment_ring_append(&s, "x", 1), 0);
	assert_false(is_there("1700000000000000.conf"));
	segment_ring_done(&s);
}

/* There are never more files than allowed, and no fewer than that go. */
static void test_number(_unused_ void **state)
{
	SegmentRing s = open_ring(MIB);
	char name[SEGMENT_NAME_SIZE];
	unsigned int n = 0;

	for (unsigned int i = 0; i < SEGMENTS_MAX + 3; i++) {
		snprintf(name, sizeof(name), "%016u.conf", i);
		make_file(name, "");
	}
	assert_int_equal(segment_ring_begin(&s, NOW, "one\n", 4), 0);
	for (unsigned int i = 0; i < SEGMENTS_MAX + 3; i++) {
		snprintf(name, sizeof(name), "%016u.conf", i);
		assert_int_equal(is_there(name), i >= 4);
		n += is_there(name);
	}
	assert_int_equal(n, SEGMENTS_MAX - 1);
	assert_int_equal(segment_ring_begin(&s, NOW, "two\n", 4), 0);
	assert_false(is_there("0000000000000004.conf"));
	assert_true(is_there("0000000000000005.conf"));
	segment_ring_done(&s);
}

/* A failure says which file it is about. */
static void test_in_the_way(_unused_ void **state)
{
	SegmentRing s = open_ring(MIB);

	assert_int_equal(mkdir(path_of("begin.new"), 0755), 0);
	assert_int_equal(segment_ring_begin(&s, NOW, "one\n", 4), -EISDIR);
	assert_string_equal(s.file.failed, "begin.new");
	assert_int_equal(rmdir(path_of("begin.new")), 0);
	assert_int_equal(segment_ring_begin(&s, NOW, "one\n", 4), 0);
	segment_ring_done(&s);
	assert_text("1763950000000000.conf", "one\n");
}

static unsigned int mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

/* Everybody may read the record, whatever the umask is. */
static void test_modes(_unused_ void **state)
{
	mode_t before = umask(077);

	assert_int_equal(rmdir(record), 0);
	start(NOW, "one");
	umask(before);
	assert_int_equal(mode_of(record), 0755);
	assert_int_equal(mode_of(path_of("1763950000000000.conf")), 0644);
}

/* What stands in the place of the directory is an error at each beginning, and nothing is written
 * to the directory that was there before. */
static void test_another_in_its_place(_unused_ void **state)
{
	SegmentRing s = open_ring(MIB);
	char away[96];
	int fd;

	snprintf(away, sizeof(away), "%s/away", directory);
	assert_int_equal(rename(record, away), 0);
	assert_int_equal(symlink("away", record), 0);
	assert_int_equal(segment_ring_begin(&s, NOW, "one\n", 4), -ENOTDIR);
	assert_int_equal(unlink(record), 0);
	fd = open(record, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(segment_ring_begin(&s, NOW, "one\n", 4), -ENOTDIR);
	assert_int_equal(segment_ring_open(&s), -ENOTDIR);
	assert_int_equal(unlink(record), 0);
	/* the record is empty, so there is nothing to remove but the directory */
	assert_int_equal(rmdir(away), 0);
	assert_int_equal(segment_ring_begin(&s, NOW, "one\n", 4), 0);
	segment_ring_done(&s);
	assert_text("1763950000000000.conf", "one\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_clocks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clock_beyond, setup, teardown),
		cmocka_unit_test_setup_teardown(test_last_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_last_number_comes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_last_number_gives_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_last_number_is_no_segment, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_removed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_newest_before, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(test_number, setup, teardown),
		cmocka_unit_test_setup_teardown(test_in_the_way, setup, teardown),
		cmocka_unit_test_setup_teardown(test_modes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_another_in_its_place, setup, teardown),
	};

	return cmocka_run_group_tests_name("segment-ring", tests, NULL, NULL);
}
