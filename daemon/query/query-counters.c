/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-counters.h"

#include <dirent.h>

#include "clock.h"
#include "query-sysfs.h"

/* Far more than any driver has. */
#define COUNTERS_MAX 1024U

/* The counters of one port while they are read. */
typedef struct Reading {
	CounterEntry *entries; /* room for COUNTERS_MAX */
	size_t n;
	uint64_t deadline_usec; /* CLOCK_MONOTONIC: after it no other file is read */
} Reading;

static int compare_entries(const void *a, const void *b)
{
	const CounterEntry *x = a, *y = b;

	return strcmp(x->file, y->file);
}

/* Adds the names of the counters of a group. The file "lifespan" is none of them: it says how long
 * the driver keeps its counters in a cache. */
static int list_group(Reading *r, int directory, CounterGroup group)
{
	int copy = sysfs_open_directory(directory, ".");
	size_t first = r->n;
	struct dirent *d;
	DIR *files;

	if (copy < 0)
		return copy;
	files = fdopendir(copy);
	if (!files) {
		close_fd(copy);
		return -ENOMEM;
	}
	while (r->n < COUNTERS_MAX && (d = readdir(files))) {
		CounterEntry *e = &r->entries[r->n];

		if (d->d_name[0] == '.' || streq(d->d_name, "lifespan") ||
		    strlen(d->d_name) >= sizeof(e->file))
			continue;
		*e = (CounterEntry){.group = group};
		text_copy(e->file, sizeof(e->file), d->d_name);
		r->n++;
	}
	closedir(files);
	qsort(r->entries + first, r->n - first, sizeof(*r->entries), compare_entries);
	return 0;
}

static int read_group(Reading *r, int port, CounterGroup group, const char *name)
{
	_cleanup_close_ int directory = sysfs_open_directory(port, name);
	size_t first = r->n;
	int k;

	/* The port has no performance management agent, or the driver counts nothing. */
	if (directory < 0)
		return directory == -ENOENT ? 0 : directory;
	k = list_group(r, directory, group);
	if (k < 0)
		return k;
	for (size_t i = first; i < r->n; i++) {
		CounterEntry *e = &r->entries[i];

		e->error = monotonic_now_usec() >= r->deadline_usec
				   ? -ETIME
				   : sysfs_read_number(directory, e->file, UINT64_MAX, &e->value);
	}
	return 0;
}

int counters_read(int device, uint32_t port, uint64_t limit_usec, Table **ret)
{
	_cleanup_free_ CounterEntry *entries = calloc(COUNTERS_MAX, sizeof(*entries));
	_cleanup_close_ int directory = -EBADF;
	Reading r = {.entries = entries, .deadline_usec = monotonic_now_usec() + limit_usec};
	char path[32];
	int k;

	if (!entries)
		return -ENOMEM;
	snprintf(path, sizeof(path), "ports/%u", port);
	directory = sysfs_open_directory(device, path);
	if (directory < 0)
		return directory;
	k = read_group(&r, directory, COUNTER_GROUP_PORT, "counters");
	if (k == 0)
		k = read_group(&r, directory, COUNTER_GROUP_HARDWARE, "hw_counters");
	if (k < 0)
		return k;
	*ret = NULL;
	if (r.n == 0)
		return 0;
	*ret = table_new(entries, r.n, sizeof(*entries));
	return *ret ? 0 : -ENOMEM;
}
