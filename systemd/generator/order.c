/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>
#include <limits.h>
#include <sys/stat.h>

#include "order.h"
#include "util.h"

#define UNIT_MAX 255 /* systemd allows no longer name, see UNIT_NAME_MAX in systemd's unit-name.h  \
		      */

/* Appends one byte of a name as it stands in the name of a unit. "-" has a meaning there, and so it
 * is escaped, too. */
static int put_escaped(FILE *f, char c, bool first)
{
	if (isalnum((unsigned char)c) || strchr(":_", c) || (c == '.' && !first))
		return fputc(c, f) < 0 ? -EIO : 0;
	return fprintf(f, "\\x%02x", (unsigned char)c) < 0 ? -EIO : 0;
}

int order_mount_unit(const char *path, char *ret, size_t size)
{
	_cleanup_fclose_ FILE *f = NULL;
	bool first = true;

	if (path[0] != '/')
		return -EINVAL;
	f = fmemopen(ret, size, "w");
	if (!f)
		return -errno;
	for (const char *part = path; *(part += strspn(part, "/"));) {
		size_t length = strcspn(part, "/");

		if (length == 2 && startswith(part, ".."))
			return -EINVAL;
		if (length == 1 && *part == '.') {
			part += length;
			continue;
		}
		if (!first)
			fputc('-', f);
		for (size_t i = 0; i < length; i++)
			if (put_escaped(f, part[i], first && i == 0) < 0)
				return -EINVAL;
		first = false;
		part += length;
	}
	if (first)
		fputc('-', f);
	fputs(".mount", f);
	if (fflush(f) < 0 || ftell(f) >= (long)MIN(size, (size_t)UNIT_MAX))
		return -EINVAL;
	return 0;
}

/* The unit that waits: what instance_unescape() turns into PORT again. */
static int wait_unit(const char *port, char ret[static UNIT_MAX + 1])
{
	const char *slash = strrchr(port, '/');
	_cleanup_fclose_ FILE *f = fmemopen(ret, UNIT_MAX + 1, "w");

	if (!f)
		return -errno;
	fputs("rdma-wait-online@", f);
	for (const char *p = port; *p; p++) {
		if (p == slash && p > port && p[1] && strspn(p + 1, "0123456789") == strlen(p + 1))
			fputc('-', f);
		else
			put_escaped(f, *p, p == port);
	}
	fputs(".service", f);
	if (!*port || fflush(f) < 0 || ftell(f) >= UNIT_MAX)
		return -EINVAL;
	return 0;
}

int order_write(const char *directory, const char *unit, const char *port)
{
	char waits[UNIT_MAX + 1] = "rdma-wait-online.service", path[PATH_MAX];
	_cleanup_fclose_ FILE *f = NULL;
	int r;

	if (port) {
		r = wait_unit(port, waits);
		if (r < 0)
			return r;
	}
	if (snprintf(path, sizeof(path), "%s/%s.d", directory, unit) >= (int)sizeof(path) - 32)
		return -ENAMETOOLONG;
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return -errno;
	strcat(path, "/50-rdma-wait.conf");
	f = fopen(path, "ae");
	if (!f)
		return -errno;
	/* Two lines and not one, so that the unit is tried all the same if the port does not come.
	 */
	fprintf(f, "# Written by rdma-wait-generator(8)\n[Unit]\nWants=%s\nAfter=%s\n", waits,
		waits);
	if (fflush(f) < 0)
		return -errno;
	return 0;
}
