/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-counters.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "clock.h"
#include "query-sysfs.h"

/* Where the files of a group are, below the directory of the port or the device. */
static const char *const directories[] = {
	[COUNTER_GROUP_PORT] = "counters",
	[COUNTER_GROUP_HARDWARE] = "hw_counters",
	[COUNTER_GROUP_DEVICE] = "hw_counters",
};

/* How many files are open, of all devices */
static uint32_t n_open;

/* The counters of one port while they are read. */
typedef struct Reading {
	CounterEntry *entries; /* room for COUNTERS_MAX */
	size_t n;
	int n_left_out;		/* that there is no room for, or not for their names */
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
	_cleanup_(closedir_pointer) DIR *files = sysfs_open_list(directory, ".");
	size_t first = r->n;
	struct dirent *d;

	if (!files)
		return -errno;
	while ((d = readdir(files))) {
		CounterEntry e = {.group = group};

		if (d->d_name[0] == '.' || streq(d->d_name, "lifespan"))
			continue;
		if (r->n == COUNTERS_MAX || strlen(d->d_name) >= sizeof(e.file)) {
			r->n_left_out++;
			continue;
		}
		text_copy(e.file, sizeof(e.file), d->d_name);
		r->entries[r->n++] = e;
	}
	sort(r->entries + first, r->n - first, sizeof(*r->entries), compare_entries);
	return 0;
}

/* The directories of a port and of its device. */
typedef struct Place {
	int device, port;
	bool is_first; /* the port that the counters of the device are read with */
} Place;

static int open_directory(const Place *p, CounterGroup group)
{
	bool of_device = group == COUNTER_GROUP_DEVICE;

	if (of_device && !p->is_first)
		return -ENOENT;
	return sysfs_open_directory(of_device ? p->device : p->port, directories[group]);
}

/* The port has no performance management agent, or the driver counts nothing: then R gets nothing.
 */
static int read_group(Reading *r, const Place *place, CounterGroup group)
{
	_cleanup_close_ int directory = open_directory(place, group);
	size_t first = r->n;
	int k;

	if (directory < 0)
		return directory == -ENOENT ? 0 : directory;
	k = list_group(r, directory, group);
	for (size_t i = first; k == 0 && i < r->n; i++) {
		CounterEntry *e = &r->entries[i];

		e->error = monotonic_now_usec() >= r->deadline_usec
				   ? -ETIME
				   : sysfs_read_number(directory, e->file, UINT64_MAX, &e->value);
	}
	return k;
}

/* Opens the directory of PORT; RET->port is to be closed. */
static int open_place(int device, uint32_t port, Place *ret)
{
	char path[32];

	snprintf(path, sizeof(path), "ports/%u", port);
	*ret = (Place){device, sysfs_open_directory(device, path), port <= 1};
	return ret->port;
}

static void place_close(Place *p)
{
	close_fd(p->port);
}

int counters_read(int device, uint32_t port, uint64_t limit_usec, Table **ret)
{
	_cleanup_free_ CounterEntry *entries = calloc(COUNTERS_MAX, sizeof(*entries));
	_cleanup_(place_close) Place place = {.port = -EBADF};
	Reading r = {.entries = entries, .deadline_usec = monotonic_now_usec() + limit_usec};
	int k = entries ? open_place(device, port, &place) : -ENOMEM;

	if (k < 0)
		return k;
	k = 0;
	for (CounterGroup g = 0; k == 0 && g < ARRAY_SIZE(directories); g++)
		k = read_group(&r, &place, g);
	if (k == 0)
		k = table_make(r.entries, r.n, sizeof(*r.entries), ret);
	return k < 0 ? k : r.n_left_out;
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

/* Opens those of the N files ABOUT that are of GROUP. A negative errno if no more can be opened. */
static int open_group(const Place *place, CounterGroup group, const CounterEntry *about, size_t n,
		      int *fds)
{
	_cleanup_close_ int directory = open_directory(place, group);

	for (size_t i = 0; i < n; i++) {
		if (about[i].group != group)
			continue;
		fds[i] = directory < 0 ? directory
				       : openat(directory, about[i].file, O_RDONLY | O_CLOEXEC);
		if (directory >= 0 && fds[i] < 0)
			fds[i] = -errno;
		if (fds[i] == -EMFILE || fds[i] == -ENFILE)
			return fds[i];
	}
	return 0;
}

/* The files of TABLE, none of which is open; without what was read from them. */
static int new_files(const Table *table, PortFiles *ret)
{
	PortFiles f = {.n = table->n,
		       .fds = calloc(table->n, sizeof(*f.fds)),
		       .about = calloc(table->n, sizeof(CounterEntry))};
	CounterEntry *about = f.about;

	if (!f.fds || !about) {
		free(f.fds);
		free(about);
		return -ENOMEM;
	}
	TABLE_FOREACH(CounterEntry, e, table) {
		*about = (CounterEntry){.group = e->group};
		text_copy(about->file, sizeof(about->file), e->file);
		about++;
	}
	for (uint32_t i = 0; i < f.n; i++)
		f.fds[i] = -EBADF;
	*ret = f;
	return 0;
}

void counters_keep(DeviceFiles *files, int device, uint32_t port, const Table *table)
{
	PortFiles *f = table ? port_files_reserve(files, port) : NULL;
	_cleanup_(place_close) Place place = {.port = -EBADF};
	int error = 0;

	if (!f || f->fds || n_open + table->n > most_open())
		return;
	if (open_place(device, port, &place) < 0 || new_files(table, f) < 0)
		return;
	n_open += f->n;
	for (CounterGroup g = 0; error == 0 && g < ARRAY_SIZE(directories); g++)
		error = open_group(&place, g, f->about, f->n, f->fds);
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
