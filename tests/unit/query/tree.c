/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tree.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "query-sysfs.h"

static void make_directories(int fd, const char *file)
{
	char path[256];

	text_copy(path, sizeof(path), file);
	for (char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdirat(fd, path, 0700) < 0)
			assert_int_equal(errno, EEXIST);
		*p = '/';
	}
}

void tree_put_bytes(const Tree *t, const char *file, const void *bytes, size_t n)
{
	int fd;

	make_directories(t->fd, file);
	fd = openat(t->fd, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

void tree_put(const Tree *t, const char *file, const char *text)
{
	tree_put_bytes(t, file, text, strlen(text));
}

void tree_put_link(const Tree *t, const char *file, const char *target)
{
	make_directories(t->fd, file);
	assert_int_equal(symlinkat(target, t->fd, file), 0);
}

int tree_setup(void **state)
{
	Tree *t = calloc(1, sizeof(*t));

	strcpy(t->path, "/tmp/rdmad-test-tree-XXXXXX");
	if (!mkdtemp(t->path))
		return -1;
	t->fd = sysfs_open_directory(AT_FDCWD, t->path);
	*state = t;
	return t->fd < 0 ? -1 : 0;
}

static int remove_one(const char *path, const struct stat *st _unused_, int type _unused_,
		      struct FTW *ftw _unused_)
{
	return remove(path);
}

int tree_teardown(void **state)
{
	Tree *t = *state;

	close(t->fd);
	nftw(t->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(t);
	return 0;
}
