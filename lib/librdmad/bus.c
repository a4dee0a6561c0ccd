/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bus, and what its errors mean to a caller of librdmad. */

#include "bus-open.h"
#include "librdmad-private.h"
#include "util.h"

/* Errors that say that no rdmad is there, or that it does not start. The starter of rdmad has more
 * of them than can be listed: they begin with one of these. */
static bool is_absence(const char *name)
{
	static const char *const beginnings[] = {
		SD_BUS_ERROR_SERVICE_UNKNOWN,
		SD_BUS_ERROR_NAME_HAS_NO_OWNER,
		"org.freedesktop.DBus.Error.Spawn.",
		"org.freedesktop.systemd1.",
	};

	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (startswith(name, beginnings[i]))
			return true;
	return false;
}

/* R of a function of sd-bus, without the numbers that have another meaning in rdmad.h. */
static int own_error(int r)
{
	switch (r) {
	case -ENOENT:
	case -ENOTDIR:
	case -ENODEV:
	case -EAGAIN: /* it has more connections to accept than it can */
	case -ENOTCONN:
	case -ECONNRESET:
	case -EPIPE:
		return -ECONNREFUSED;
	case -EPERM:
		return -EACCES;
	case -EIO: /* every error that sd-bus has no number for */
	case -EBADMSG:
	case -EEXIST:
	case -ENODATA:
	case -EPROTONOSUPPORT:
	case -ESTALE:
	case -EUSERS:
		return -EREMOTEIO;
	default:
		return r;
	}
}

int librdmad_connect(const char *address, sd_bus **ret)
{
	int r = bus_open_address(address, ret);

	return r < 0 ? own_error(r) : 0;
}

int librdmad_bus_error(const sd_bus_error *error, int r)
{
	return sd_bus_error_is_set(error) && is_absence(error->name) ? -EHOSTUNREACH : own_error(r);
}
