/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rdmad_find_any(): the port that the daemon finds by any of its names. The memory has few of them.
 */

#include "librdmad-private.h"
#include "names.h"
#include "port-name.h"
#include "util.h"

int librdmad_call_error(const sd_bus_error *error, int r)
{
	if (sd_bus_error_has_name(error, RDMAD_ERROR_NOT_FOUND) ||
	    sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_OBJECT))
		return -ENOENT;
	if (sd_bus_error_has_name(error, RDMAD_ERROR_AMBIGUOUS))
		return -EEXIST;
	if (sd_bus_error_has_name(error, RDMAD_ERROR_INVALID_ARGUMENT))
		return -EINVAL;
	return librdmad_bus_error(error, r);
}

int librdmad_find_path(const struct rdmad *r, const char *path, struct rdmad_handle *ret)
{
	struct rdmad_port p;
	uint32_t device, port;

	if (object_path_parse(path, &device, &port) < 0 || port == PORT_NUMBER_NONE)
		return -EBADMSG;
	for (uint32_t slot = 0; slot < librdmad_count_slots(r); slot++) {
		int e = librdmad_read_slot(r, slot, &p);

		if (e < 0 && e != -EAGAIN)
			return e;
		if (e > 0 && p.hot.device_index == device && p.hot.port_num == port) {
			*ret = librdmad_handle_of(&p, slot);
			return 0;
		}
	}
	return -ENOENT;
}

EXPORT int rdmad_find_any(const struct rdmad *r, const char *what, struct rdmad_handle *ret)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	const char *path;
	int e;

	if (!r->by_bus)
		return -EOPNOTSUPP;
	e = librdmad_connect(r->address, &bus);
	if (e < 0)
		return e;
	e = sd_bus_call_method(bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
			       "GetPort", &error, &reply, "sa{sv}", what, 0);
	if (e < 0)
		return librdmad_call_error(&error, e);
	e = sd_bus_message_read_basic(reply, 'o', &path);
	return e < 0 ? e : librdmad_find_path(r, path, ret);
}
