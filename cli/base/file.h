/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Files that rdmactl writes: as a whole or not at all, so that who reads one never has a part of
 * it. The text is written into a new file beside PATH, with a dot and six letters behind its name,
 * which is then moved there. A device or another file that is not a regular one is not replaced.
 * After an error, which the functions say, PATH is as it was.
 */

#include "rdmactl.h"

/* A file of the user, with the permissions that umask(2) allows. The file is on the disk when the
 * function returns. */
ExitStatus file_replace(const char *path, const char *text, size_t size);
/* A file for programs of all users, which is soon written again: it need not be on the disk. */
ExitStatus file_publish(const char *path, const char *text, size_t size);
