/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Files that rdmactl writes: as a whole or not at all, so that who reads one never has a part of
 * it. The text is written into a new file beside PATH, with a dot and six letters behind its name,
 * which is then moved there. Negative errno; then PATH is as it was. A device or another file that
 * is not a regular one is not replaced: -EEXIST.
 */

#include <stddef.h>

/* A file of the user, with the permissions that umask(2) allows. It is on the disk when the
 * function returns. */
int file_replace(const char *path, const char *text, size_t size);
/* A file for programs of all users, which is soon written again: it need not be on the disk. */
int file_publish(const char *path, const char *text, size_t size);
/* What the error R of these functions means, for people. */
const char *file_error_text(int r);
