/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "util.h"

static int write_all(int fd, const char *text, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, text, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		text += MAX(n, 0);
		size -= (size_t)MAX(n, 0);
	}
	return 0;
}

static int replace(const char *path, const char *text, size_t size, mode_t mode, bool durable)
{
	_cleanup_free_ char *new = NULL;
	struct stat st;
	int fd, r;

	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return -EEXIST;
	if (asprintf(&new, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(new, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = write_all(fd, text, size);
	if (r == 0 && (fchmod(fd, mode) < 0 || (durable && fsync(fd) < 0)))
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(new, path) < 0)
		r = -errno;
	if (r < 0)
		(void)unlink(new);
	return r;
}

/* Reports the result of replace(). */
static ExitStatus report(const char *path, int r)
{
	if (r == 0)
		return STATUS_OK;
	return failure("cannot write %s: %s", path,
		       r == -EEXIST ? "it is not a regular file" : strerror(-r));
}

ExitStatus file_replace(const char *path, const char *text, size_t size)
{
	mode_t mask = umask(0);

	umask(mask);
	return report(path, replace(path, text, size, 0666 & ~mask, true));
}

ExitStatus file_publish(const char *path, const char *text, size_t size)
{
	return report(path, replace(path, text, size, 0644, false));
}
