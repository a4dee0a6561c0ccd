/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-counters.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "clock.h"
#include "query-sysfs.h"

/* Far more than any driver has. */
#define COUNTERS_MAX 1024U

/* Where the files of a group are, below the directory of the port. */
static const char *const directories[] = {
	[COUNTER_GROUP_PORT] = "counters",
	[COUNTER_GROUP_HARDWARE] = "hw_counters",
};

/* How many files are open, of all devices */
static uint32_t n_open;

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

/* The port has no performance management agent, or the driver counts nothing: then R gets nothing.
 */
static int open_group(Reading *r, int port, CounterGroup group, int *ret)
{
	int directory = sysfs_open_directory(port, directories[group]), k;

	if (directory >= 0) {
		k = list_group(r, directory, group);
		if (k < 0) {
			close_fd(directory);
			return k;
		}
	} else if (directory != -ENOENT) {
		return directory;
	}
	*ret = directory;
	return 0;
}

static int read_group(Reading *r, int port, CounterGroup group)
{
	_cleanup_close_ int directory = -EBADF;
	size_t first = r->n;
	int k = open_group(r, port, group, &directory);

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

static int open_port(int device, uint32_t port)
{
	char path[32];

	snprintf(path, sizeof(path), "ports/%u", port);
	return sysfs_open_directory(device, path);
}

static int make_table(const Reading *r, Table **ret)
{
	*ret = NULL;
	if (r->n == 0)
		return 0;
	*ret = table_new(r->entries, r->n, sizeof(*r->entries));
	return *ret ? 0 : -ENOMEM;
}

int counters_read(int device, uint32_t port, uint64_t limit_usec, Table **ret)
{
	_cleanup_free_ CounterEntry *entries = calloc(COUNTERS_MAX, sizeof(*entries));
	_cleanup_close_ int directory = entries ? open_port(device, port) : -ENOMEM;
	Reading r = {.entries = entries, .deadline_usec = monotonic_now_usec() + limit_usec};
	int k;

	if (directory < 0)
		return directory;
	k = read_group(&r, directory, COUNTER_GROUP_PORT);
	if (k == 0)
		k = read_group(&r, directory, COUNTER_GROUP_HARDWARE);
	return k < 0 ? k : make_table(&r, ret);
}

/* Files that stay open */

void counters_done(DeviceFiles *files)
{
	port_files_done(files, &n_open);
}

/* How many files may be open: half of what the process may have, for it also has the devices open.
 */
static uint32_t most_open(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return 0;
	return (uint32_t)MIN(files.rlim_cur / 2, (rlim_t)COUNTER_FILES_OPEN_MAX);
}

/* Adds the counters of a group to R, and opens their files into FDS. */
static int keep_group(Reading *r, int port, CounterGroup group, int *fds)
{
	_cleanup_close_ int directory = -EBADF;
	size_t first = r->n;
	int k = open_group(r, port, group, &directory);

	if (k == 0 && n_open + r->n > most_open())
		k = -EMFILE;
	for (size_t i = first; i < r->n; i++) {
		fds[i] = k < 0 ? k : openat(directory, r->entries[i].file, O_RDONLY | O_CLOEXEC);
		if (k == 0 && fds[i] < 0)
			fds[i] = -errno;
		if (fds[i] == -EMFILE || fds[i] == -ENFILE)
			k = fds[i];
	}
	return k;
}

/* Gives back the room for more than N. */
static void *shrink(void *p, size_t n, size_t size)
{
	void *smaller = reallocarray(p, n, size);

	return smaller ? smaller : p;
}

void counters_keep(DeviceFiles *files, int device, uint32_t port)
{
	_cleanup_free_ CounterEntry *entries = calloc(COUNTERS_MAX, sizeof(*entries));
	_cleanup_free_ int *fds = calloc(COUNTERS_MAX, sizeof(*fds));
	PortFiles *f = entries && fds ? port_files_reserve(files, port) : NULL;
	_cleanup_close_ int directory = -EBADF;
	Reading r = {.entries = entries};
	int error;

	if (!f || f->fds)
		return;
	directory = open_port(device, port);
	if (directory < 0)
		return;
	error = keep_group(&r, directory, COUNTER_GROUP_PORT, fds);
	if (error == 0)
		error = keep_group(&r, directory, COUNTER_GROUP_HARDWARE, fds);
	if (r.n == 0)
		return;
	*f = (PortFiles){.fds = shrink(steal_pointer(&fds), r.n, sizeof(*fds)),
			 .about = shrink(steal_pointer(&entries), r.n, sizeof(*entries)),
			 .n = (uint32_t)r.n};
	n_open += f->n;
	if (error < 0)
		port_files_close(f, &n_open);
}

int counters_read_kept(DeviceFiles *files, uint32_t port, uint64_t limit_usec, Table **ret)
{
	PortFiles *f = port_files_find(files, port);
	uint64_t deadline_usec = monotonic_now_usec() + limit_usec;
	Table *t;

	if (!f)
		return -ENOENT;
	t = table_new(f->about, f->n, sizeof(CounterEntry));
	if (!t)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n; i++) {
		CounterEntry *e = (CounterEntry *)(void *)t->entries + i;

		if (f->fds[i] < 0)
			e->error = f->fds[i];
		else if (monotonic_now_usec() >= deadline_usec)
			e->error = -ETIME;
		else
			e->error = sysfs_read_open_number(f->fds[i], UINT64_MAX, &e->value);
		if (e->error == -ENODEV) {
			table_free(t);
			port_files_close(f, &n_open);
			return -ENOENT;
		}
	}
	*ret = t;
	return 0;
}
