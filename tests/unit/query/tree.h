/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A tree of files in a directory of its own, in the place of sysfs. */

#include <stddef.h>

typedef struct Tree {
	char path[64];
	int fd; /* of PATH */
} Tree;

/* Setup and teardown as cmocka wants them: *STATE is the tree. */
int tree_setup(void **state);
int tree_teardown(void **state);

/* Make FILE, a path in the tree, and the directories that it is in; a file that is there is written
 * anew. */
void tree_put_bytes(const Tree *t, const char *file, const void *bytes, size_t n);
void tree_put(const Tree *t, const char *file, const char *text);
void tree_put_link(const Tree *t, const char *file, const char *target);
