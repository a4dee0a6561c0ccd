/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-pkeys.h"

#include <fcntl.h>

#include "query-sysfs.h"

/* How many files are open, of all devices */
static uint32_t n_open;

static void close_files(PkeyFiles *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		close(f->fds[i]);
	n_open -= f->n;
	free(f->fds);
	*f = (PkeyFiles){};
}

void pkeys_done(DevicePkeys *k)
{
	for (uint32_t i = 0; i < k->n; i++)
		close_files(&k->ports[i]);
	free(k->ports);
	*k = (DevicePkeys){};
}

/* The place for the files of PORT, NULL without memory. */
static PkeyFiles *reserve(DevicePkeys *k, uint32_t port)
{
	PkeyFiles *ports;

	if (port < k->n)
		return &k->ports[port];
	ports = reallocarray(k->ports, port + 1, sizeof(*ports));
	if (!ports)
		return NULL;
	memset(ports + k->n, 0, (port + 1 - k->n) * sizeof(*ports));
	k->ports = ports;
	k->n = port + 1;
	return &ports[port];
}

/* Opens the next file of the table in DIRECTORY. -ENOENT: there is no more. */
static int open_next(PkeyFiles *f, int directory)
{
	char name[16];
	int fd;

	if (n_open >= PKEY_FILES_MAX)
		return -EMFILE;
	snprintf(name, sizeof(name), "%u", f->n);
	fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	f->fds[f->n++] = fd;
	n_open++;
	return 0;
}

void pkeys_keep(DevicePkeys *k, int device, uint32_t port)
{
	_cleanup_close_ int directory = -EBADF;
	PkeyFiles *f = reserve(k, port);
	char path[48];
	int r;

	if (!f || f->fds)
		return;
	snprintf(path, sizeof(path), "ports/%u/pkeys", port);
	directory = sysfs_open_directory(device, path);
	if (directory < 0)
		return;
	f->fds = calloc(PKEY_FILES_MAX, sizeof(int));
	do
		r = f->fds ? open_next(f, directory) : -ENOMEM;
	while (r == 0);
	/* without all files the table could not be read */
	if (r != -ENOENT || f->n == 0)
		close_files(f);
}

int pkeys_read(DevicePkeys *k, uint32_t port, Table **ret)
{
	PkeyFiles *f = port < k->n ? &k->ports[port] : NULL;
	int r;

	if (!f || !f->fds)
		return -ENOENT;
	r = sysfs_read_pkey_files(f->fds, f->n, ret);
	if (r < 0)
		close_files(f);
	return r;
}
