/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-pkeys.h"

#include <fcntl.h>

#include "query-sysfs.h"

/* How many files are open, of all devices */
static uint32_t n_open;

void pkeys_done(DeviceFiles *files)
{
	port_files_done(files, &n_open);
}

/* Opens the next file of the table in DIRECTORY. -ENOENT: there is no more. */
static int open_next(PortFiles *f, int directory)
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

void pkeys_keep(DeviceFiles *files, int device, uint32_t port)
{
	_cleanup_close_ int directory = -EBADF;
	PortFiles *f = port_files_reserve(files, port);
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
		port_files_close(f, &n_open);
}

int pkeys_read(DeviceFiles *files, uint32_t port, Table **ret)
{
	PortFiles *f = port_files_find(files, port);
	int r;

	if (!f)
		return -ENOENT;
	r = sysfs_read_pkey_files(f->fds, f->n, ret);
	if (r < 0)
		port_files_close(f, &n_open);
	return r;
}
