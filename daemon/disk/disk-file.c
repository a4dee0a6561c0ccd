/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "disk-file.h"

#include <fcntl.h>
#include <sys/stat.h>

int disk_file_open(int directory_fd, const char *name, int flags, mode_t mode)
{
	/* O_NONBLOCK: somebody may have put a FIFO there */
	int fd = openat(directory_fd, name,
			O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | flags,
			mode);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

int disk_file_write(int fd, const void *data, size_t size, size_t offset)
{
	const uint8_t *at = data;

	while (size > 0) {
		ssize_t n = pwrite(fd, at, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		offset += (size_t)n;
		size -= (size_t)n;
	}
	return 0;
}

int disk_file_append(int fd, const void *data, size_t size, size_t *end, bool *cut)
{
	int r;

	if (*cut && ftruncate(fd, (off_t)*end) < 0)
		return -errno;
	*cut = true;
	r = disk_file_write(fd, data, size, *end);
	if (r < 0) {
		/* at once, and not before the next one: the program may end before that */
		*cut = ftruncate(fd, (off_t)*end) < 0;
		return r;
	}
	*cut = false;
	*end += size;
	return 0;
}
