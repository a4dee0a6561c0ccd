/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "port-files.h"

PortFiles *port_files_find(const DeviceFiles *d, uint32_t port)
{
	return port < d->n && d->ports[port].fds ? &d->ports[port] : NULL;
}

PortFiles *port_files_reserve(DeviceFiles *d, uint32_t port)
{
	PortFiles *ports;

	if (port < d->n)
		return &d->ports[port];
	ports = reallocarray(d->ports, port + 1, sizeof(*ports));
	if (!ports)
		return NULL;
	memset(ports + d->n, 0, (port + 1 - d->n) * sizeof(*ports));
	d->ports = ports;
	d->n = port + 1;
	return &ports[port];
}

void port_files_close(PortFiles *f, uint32_t *n_open)
{
	for (uint32_t i = 0; i < f->n; i++)
		close_fd(f->fds[i]);
	*n_open -= f->n;
	free(f->fds);
	free(f->about);
	*f = (PortFiles){};
}

void port_files_done(DeviceFiles *d, uint32_t *n_open)
{
	for (uint32_t i = 0; i < d->n; i++)
		port_files_close(&d->ports[i], n_open);
	free(d->ports);
	*d = (DeviceFiles){};
}
