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

int disk_file_make(int directory_fd, const char *name, mode_t mode, const void *data, size_t size)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	if (unlinkat(directory_fd, name, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = disk_file_open(directory_fd, name, O_EXCL, mode);
	if (fd < 0)
		return fd;
	/* whatever the umask is */
	(void)fchmod(fd, mode);
	r = disk_file_write(fd, data, size, 0);
	if (r >= 0 && fdatasync(fd) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(directory_fd, name, 0);
	return r < 0 ? r : steal_fd(&fd);
}

void disk_file_close(DiskFile *f)
{
	f->fd = close_fd(f->fd);
	f->directory_fd = close_fd(f->directory_fd);
}

int disk_file_rename(DiskFile *f, int fd, size_t size, const char *new_name, const char *name)
{
	if (renameat(f->directory_fd, new_name, f->directory_fd, name) < 0) {
		int r = -errno;

		(void)unlinkat(f->directory_fd, new_name, 0);
		close(fd);
		return r;
	}
	/* otherwise a power cut may take away the whole file */
	(void)fsync(f->directory_fd);
	close_fd(f->fd);
	f->fd = fd;
	f->size = size;
	f->cut = false;
	return 0;
}

int disk_file_append(DiskFile *f, const void *data, size_t size)
{
	int r;

	if (f->fd < 0)
		return -EBADF;
	if (f->cut && ftruncate(f->fd, (off_t)f->size) < 0)
		return -errno;
	f->cut = true;
	r = disk_file_write(f->fd, data, size, f->size);
	if (r < 0) {
		/* at once, and not before the next one: the program may end before that */
		f->cut = ftruncate(f->fd, (off_t)f->size) < 0;
		return r;
	}
	f->cut = false;
	f->size += size;
	return 0;
}

int disk_file_sync(const DiskFile *f)
{
	return f->fd >= 0 && fdatasync(f->fd) < 0 ? -errno : 0;
}

bool disk_file_is_removed(const DiskFile *f)
{
	struct stat st;

	return f->fd >= 0 && fstat(f->fd, &st) == 0 && st.st_nlink == 0;
}
