/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Files to which whole pieces are added. All functions may block for as long as the disk does; none
 * logs. */

#include <sys/types.h>

#include "util.h"

typedef struct DiskFile {
	int directory_fd, fd; /* -EBADF: not open */
	size_t size;	      /* of what is good in the file */
	bool cut;	      /* there may be more behind that, which was not written in full */
} DiskFile;

/* Opens the regular file NAME, or makes it, to read and write it. It follows no symbolic link and
 * waits for nobody at the other end of a FIFO. FLAGS: further ones of open(2). -EINVAL: it is no
 * regular file; and what open(2) says. */
int disk_file_open(int directory_fd, const char *name, int flags, mode_t mode);
/* Writes all SIZE bytes at OFFSET. */
int disk_file_write(int fd, const void *data, size_t size, size_t offset);
/* Makes the file NAME anew, with the SIZE bytes at DATA, on the disk. Returns its descriptor; after
 * a failure there is no such file, or it has no use. */
int disk_file_make(int directory_fd, const char *name, mode_t mode, const void *data, size_t size);

/* F has neither a directory nor a file; and closes both. */
#define DISK_FILE_NONE                                                                             \
	{                                                                                          \
		.directory_fd = -EBADF, .fd = -EBADF                                               \
	}
void disk_file_close(DiskFile *f);
/* F is the file NAME now, which disk_file_make() has made as FD, of SIZE bytes. The name may be the
 * one of the file before: there is always one of them. */
int disk_file_rename(DiskFile *f, int fd, size_t size, const char *new_name, const char *name);
/* Adds the SIZE bytes at DATA. After a failure nothing of them is in the file, or CUT is set. */
int disk_file_append(DiskFile *f, const void *data, size_t size);
/* Waits until what was added is on the disk. */
int disk_file_sync(const DiskFile *f);
/* Somebody has removed the file: what is added is nowhere. */
bool disk_file_is_removed(const DiskFile *f);
