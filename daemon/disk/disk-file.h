/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Files to which whole pieces are added. All functions may block for as long as the disk does; none
 * logs. */

#include <sys/types.h>

#include "util.h"

/* Opens the regular file NAME, or makes it, to read and write it. It follows no symbolic link and
 * waits for nobody at the other end of a FIFO. FLAGS: further ones of open(2). -EINVAL: it is no
 * regular file; and what open(2) says. */
int disk_file_open(int directory_fd, const char *name, int flags, mode_t mode);
/* Writes all SIZE bytes at OFFSET. */
int disk_file_write(int fd, const void *data, size_t size, size_t offset);
/* Adds the SIZE bytes at DATA behind the first *END bytes. *CUT: there may be more behind those,
 * which goes first. After a failure nothing of DATA is in the file, or *CUT is set. */
int disk_file_append(int fd, const void *data, size_t size, size_t *end, bool *cut);
