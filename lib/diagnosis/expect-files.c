/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The files in which it stands what is expected of a machine. */

#include <errno.h>
#include <glob.h>
#include <unistd.h>

#include "expect.h"

/* Adds the expectations of one file, if there is one. *ERROR is what is wrong with the first file
 * that has an error. */
static int add_one(Expectations *e, const char *path, char **error)
{
	int r;

	if (access(path, R_OK) == 0)
		r = expect_add(e, path);
	else if (errno == ENOENT)
		return 0;
	else
		r = asprintf(&e->error, "%s: %s", path, strerror(errno)) < 0 ? -ENOMEM : -EINVAL;
	if (r != -EINVAL)
		return r;
	if (*error)
		free(e->error);
	else
		*error = e->error;
	e->error = NULL;
	return 0;
}

int expect_add_machine(Expectations *e, const char *path)
{
	_cleanup_free_ char *pattern = NULL;
	char *error = NULL;
	glob_t files = {};
	int r = asprintf(&pattern, "%s.d/*.conf", path) < 0 ? -ENOMEM : add_one(e, path, &error);

	if (r == 0 && glob(pattern, 0, NULL, &files) == GLOB_NOSPACE)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < files.gl_pathc; i++)
		r = add_one(e, files.gl_pathv[i], &error);
	globfree(&files);
	e->error = error;
	return r;
}
