/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which functions get a file, and with what; the sysfs is a tree that the test makes. */

#include "control-files.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "tree.h"
#include "util.h"

/* A function whose configuration space has SIZE bytes. */
static void put_function(const Tree *t, const char *address, size_t size)
{
	uint8_t config[512] = {[0x06] = 0x10, [0x34] = 0x40, [0x40] = 0x10, [0x48] = 0x36};
	char path[64];

	config[0x49] = 0x29;
	config[0x100] = 0x0d;
	config[0x106] = 0x1d;
	snprintf(path, sizeof(path), "in/%s/config", address);
	tree_put_bytes(t, path, config, size);
}

static const char *text_of(const Tree *t, const char *address)
{
	static char text[64];
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "out/%s", address);
	fd = openat(t->fd, path, O_RDONLY);
	if (fd < 0)
		return NULL;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	assert_true(n >= 0);
	text[n] = '\0';
	return text;
}

static int write_all(const Tree *t)
{
	DIR *in = fdopendir(openat(t->fd, "in", O_RDONLY));
	int out = openat(t->fd, "out", O_RDONLY), r;

	assert_non_null(in);
	assert_true(out >= 0);
	r = control_files_write(in, out);
	closedir(in);
	close(out);
	return r;
}

static void test_files(void **state)
{
	static const char *const without[] = {"0000:07:00.0", "0000:08:00.0", "0000:09:00.2",
					      "notes"};
	Tree *t = *state;
	struct stat st;

	assert_int_equal(mkdirat(t->fd, "out", 0755), 0);
	put_function(t, "0000:01:00.0", 512);
	put_function(t, "0000:02:00.0", 512);
	put_function(t, "0000:03:00.0", 256);
	put_function(t, "10000:04:00.0", 512);
	/* no right; nothing; a virtual function; no function */
	put_function(t, "0000:07:00.0", 64);
	tree_put(t, "in/0000:08:00.0/config", "");
	put_function(t, "0000:09:00.2", 512);
	tree_put_link(t, "in/0000:09:00.2/physfn", ".");
	put_function(t, "notes", 512);
	assert_int_equal(write_all(t), 0);
	assert_string_equal(text_of(t, "0000:01:00.0"), "2936 001d 0000\n");
	assert_string_equal(text_of(t, "0000:02:00.0"), "2936 001d 0000\n");
	assert_string_equal(text_of(t, "0000:03:00.0"), "2936 0000 0000\n");
	assert_string_equal(text_of(t, "10000:04:00.0"), "2936 001d 0000\n");
	for (size_t i = 0; i < ARRAY_SIZE(without); i++)
		assert_null(text_of(t, without[i]));
	assert_int_equal(fstatat(t->fd, "out/0000:01:00.0", &st, 0), 0);
	assert_int_equal(st.st_mode & 0444, 0444);
	/* nothing is overwritten */
	assert_int_equal(write_all(t), -EEXIST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_files, tree_setup, tree_teardown),
	};

	umask(022);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
