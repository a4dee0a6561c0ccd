/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "disk-double.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

DiskDouble disk = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

void disk_fail(unsigned int from, unsigned int n, int error)
{
	disk.fail_from = from;
	disk.fail_n = n;
	disk.error = error;
	disk.n_calls = disk.n_failed = 0;
	memset(disk.failed, 0, sizeof(disk.failed));
}

void disk_hang(bool hangs)
{
	pthread_mutex_lock(&disk.lock);
	disk.hangs = hangs;
	pthread_cond_broadcast(&disk.changed);
	pthread_mutex_unlock(&disk.lock);
}

void disk_wait_hung(void)
{
	pthread_mutex_lock(&disk.lock);
	while (disk.n_hung == 0)
		pthread_cond_wait(&disk.changed, &disk.lock);
	pthread_mutex_unlock(&disk.lock);
}

static void wait_while_it_hangs(void)
{
	pthread_mutex_lock(&disk.lock);
	disk.n_hung++;
	pthread_cond_broadcast(&disk.changed);
	while (disk.hangs)
		pthread_cond_wait(&disk.changed, &disk.lock);
	disk.n_hung--;
	pthread_mutex_unlock(&disk.lock);
}

/* Whether the call that begins now fails; then errno says why. */
static bool fails(DiskCall call)
{
	unsigned int n;

	if (disk.decide)
		return (errno = disk.decide(call)) != 0;
	wait_while_it_hangs();
	n = disk.n_calls++;
	if (!disk.error || n < disk.fail_from || n - disk.fail_from >= disk.fail_n)
		return false;
	disk.n_failed++;
	disk.failed[call] = true;
	errno = disk.error;
	return true;
}

static int tell(DiskCall call, int fd, const char *name, int r)
{
	if (r >= 0 && disk.on_call)
		disk.on_call(call, fd, name);
	return r;
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t offset)
{
	bool failed = fails(DISK_WRITE);
	int error = errno;
	ssize_t r = syscall(SYS_pwrite64, fd, data, failed ? n / 2 : n, offset);

	errno = failed ? error : errno;
	return failed ? -1 : tell(DISK_WRITE, fd, NULL, (int)r);
}

ssize_t pread(int fd, void *data, size_t n, off_t offset)
{
	return fails(DISK_READ) ? -1 : syscall(SYS_pread64, fd, data, n, offset);
}

int ftruncate(int fd, off_t size)
{
	if (fails(DISK_TRUNCATE))
		return -1;
	return tell(DISK_TRUNCATE, fd, NULL, (int)syscall(SYS_ftruncate, fd, size));
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	if (fails(DISK_RENAME))
		return -1;
	return tell(DISK_RENAME, to_fd, to,
		    (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0));
}

int fdatasync(int fd)
{
	return fails(DISK_SYNC) ? -1 : tell(DISK_SYNC, fd, NULL, 0);
}

int fsync(int fd)
{
	return fails(DISK_SYNC_DIRECTORY) ? -1 : tell(DISK_SYNC_DIRECTORY, fd, NULL, 0);
}

int openat(int fd, const char *name, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return fails(DISK_OPEN)
		       ? -1
		       : tell(DISK_OPEN, fd, name, (int)syscall(SYS_openat, fd, name, flags, mode));
}

int unlinkat(int fd, const char *name, int flags)
{
	return fails(DISK_UNLINK)
		       ? -1
		       : tell(DISK_UNLINK, fd, name, (int)syscall(SYS_unlinkat, fd, name, flags));
}

int mkdirat(int fd, const char *name, mode_t mode)
{
	return fails(DISK_MKDIR)
		       ? -1
		       : tell(DISK_MKDIR, fd, name, (int)syscall(SYS_mkdirat, fd, name, mode));
}

int scandirat(int fd, const char *name, struct dirent ***ret, int (*wanted)(const struct dirent *),
	      int (*compare)(const struct dirent **, const struct dirent **))
{
	char path[64];

	if (fails(DISK_LIST))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", fd, name);
	return tell(DISK_LIST, fd, NULL, scandir(path, ret, wanted, compare));
}
