/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rdmad_find_gid(): which entry of a GID table a program should use. The daemon decides. The tables
 * are on the bus and not in the memory; the memory says when to look again. */

#include "gid.h"
#include "librdmad-private.h"
#include "names.h"
#include "port-name.h"
#include "util.h"

/* So often the daemon is asked anew because the table has changed meanwhile. */
#define TRIES 5

_Static_assert((int)RDMAD_GID_IB == GID_TYPE_IB && (int)RDMAD_GID_ROCE_V1 == GID_TYPE_ROCE_V1 &&
		       (int)RDMAD_GID_ROCE_V2 == GID_TYPE_ROCE_V2,
	       "a type of GIDs has another number");

/* The wish of the caller. */
typedef struct Wish {
	const struct rdmad_handle *port; /* NULL: the daemon finds it */
	const char *address;		 /* NULL: any */
	const char *netdev;		 /* NULL: any */
	int type;			 /* enum rdmad_gid_type */
} Wish;

/* The answer of the daemon. */
typedef struct Found {
	char path[RDMAD_PATH_MAX]; /* "": it finds no port */
	uint32_t index;		   /* UINT32_MAX: no GID */
	bool more;		   /* there is another port */
} Found;

/* Calls FindPorts() for what W says, or else for the port NAME. */
static int call_find(sd_bus *bus, const Wish *w, const char *name, sd_bus_message **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	const char *text = w->address ? w->address : w->netdev ? w->netdev : name;
	char type[24];
	int r = sd_bus_message_new_method_call(bus, &m, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					       RDMAD_INTERFACE_MANAGER, "FindPorts");

	if (r >= 0)
		r = sd_bus_message_append(m, "s", text);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{sv}");
	if (r >= 0 && w->netdev)
		r = w->address ? sd_bus_message_append(m, "{sv}", "netdev", "s", w->netdev)
			       : sd_bus_message_append(m, "{sv}", "by", "s", "netdev");
	if (r >= 0 && w->type != RDMAD_GID_ANY)
		r = sd_bus_message_append(m, "{sv}", "type", "s",
					  gid_type_name((uint32_t)w->type, type));
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	if (r < 0)
		return r;
	r = sd_bus_call(bus, m, 0, &error, ret);
	return r < 0 ? librdmad_call_error(&error, r) : 0;
}

/* Reads GidIndex from the dictionary of a port. */
static int read_index(sd_bus_message *m, uint32_t *ret)
{
	const char *key;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = sd_bus_message_read_basic(m, 's', &key);
		if (r >= 0)
			r = streq(key, "GidIndex") ? sd_bus_message_read(m, "v", "u", ret)
						   : sd_bus_message_skip(m, "v");
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* Reads the reply of FindPorts(): the port at PATH of it; NULL: the first one. */
static int read_found(sd_bus_message *m, const char *path, Found *ret)
{
	const char *at;
	int r = sd_bus_message_enter_container(m, 'a', "(oa{sv})");

	*ret = (Found){.index = UINT32_MAX};
	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'r', "oa{sv}")) > 0) {
		uint32_t index = UINT32_MAX;

		r = sd_bus_message_read_basic(m, 'o', &at);
		if (r >= 0)
			r = read_index(m, &index);
		if (r < 0)
			return r;
		if (path && !streq(at, path)) {
			/* it is another one */
		} else if (*ret->path) {
			ret->more = true;
		} else {
			text_copy(ret->path, sizeof(ret->path), at);
			ret->index = index;
		}
		r = sd_bus_message_exit_container(m);
	}
	return r;
}

/* Reads an entry of the table. The structure may have more members than this library knows. */
static int read_entry(sd_bus_message *m, const char *contents, struct rdmad_gid *ret)
{
	const char *gid, *type, *netdev, *address;
	char buffer[24];
	int r = sd_bus_message_enter_container(m, 'r', contents);

	if (r <= 0)
		return r;
	r = sd_bus_message_read(m, "ussss", &ret->index, &gid, &type, &netdev, &address);
	if (r < 0)
		return r;
	if (gid_parse(gid, ret->gid) < 0)
		return -EBADMSG;
	for (ret->type = 0; ret->type < _GID_TYPE_MAX; ret->type++)
		if (streq(gid_type_name(ret->type, buffer), type))
			break;
	text_copy(ret->netdev, sizeof(ret->netdev), netdev);
	if (contents[5])
		r = sd_bus_message_skip(m, contents + 5);
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	return r < 0 ? r : 1;
}

/* The entry INDEX of the table in M. -ENOENT. */
static int read_table(sd_bus_message *m, uint32_t index, struct rdmad_gid *ret)
{
	_cleanup_free_ char *contents = NULL;
	struct rdmad_gid e = {};
	const char *table;
	size_t length;
	int r = sd_bus_message_peek_type(m, NULL, &table);

	if (r < 0)
		return r;
	length = strlen(table);
	if (!startswith(table, "a(ussss") || table[length - 1] != ')')
		return -EBADMSG;
	contents = strndup(table + 2, length - 3);
	if (!contents)
		return -ENOMEM;
	r = sd_bus_message_enter_container(m, 'v', table);
	if (r > 0)
		r = sd_bus_message_enter_container(m, 'a', table + 1);
	while (r >= 0 && (r = read_entry(m, contents, &e)) > 0)
		if (e.index == index) {
			*ret = e;
			return e.type < _GID_TYPE_MAX ? 0 : -ENOENT;
		}
	return r < 0 ? r : -ENOENT;
}

static int read_gid(sd_bus *bus, const Found *f, struct rdmad_gid *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *table = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r;

	if (f->index == UINT32_MAX)
		return -ENOENT;
	r = sd_bus_call_method(bus, RDMAD_BUS_NAME, f->path, "org.freedesktop.DBus.Properties",
			       "Get", &error, &table, "ss", RDMAD_INTERFACE_PORT, "Gids");
	return r < 0 ? librdmad_call_error(&error, r) : read_table(table, f->index, ret);
}

/* Asks which port and which of its GIDs W means. *RET_PORT is the record of W->port, or undefined.
 */
static int ask(const struct rdmad *r, sd_bus *bus, const Wish *w, struct rdmad_port *ret_port,
	       Found *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	char path[RDMAD_PATH_MAX], name[PORT_NAME_MAX] = "";
	int e = w->port ? rdmad_read(r, *w->port, ret_port) : 0;

	if (e < 0)
		return e;
	if (w->port) {
		object_path_put(ret_port->hot.device_index, ret_port->hot.port_num, path);
		snprintf(name, sizeof(name), "%s/%u", ret_port->device_name,
			 ret_port->hot.port_num);
	}
	e = call_find(bus, w, name, &reply);
	if (e == 0)
		e = read_found(reply, w->port ? path : NULL, ret);
	if (e == 0 && (ret->more || !*ret->path))
		e = ret->more ? -EEXIST : -ENOENT;
	return e;
}

/* The GID of W->port, with the generation that the table had. */
static int find_on_port(const struct rdmad *r, sd_bus *bus, const Wish *w, struct rdmad_gid *ret)
{
	for (unsigned int i = 0; i < TRIES; i++) {
		struct rdmad_port before = {}, after;
		struct rdmad_gid gid = {};
		Found found;
		int chosen = ask(r, bus, w, &before, &found);
		int e;

		if (chosen == 0)
			chosen = read_gid(bus, &found, &gid);
		e = rdmad_read(r, *w->port, &after);
		if (e == 0 && (after.gid_generation != before.gid_generation ||
			       !streq(after.device_name, before.device_name)))
			continue;
		if (e < 0 || chosen < 0)
			return e < 0 ? e : chosen;
		gid.port = *w->port;
		gid.generation = before.gid_generation;
		*ret = gid;
		return 0;
	}
	return -EAGAIN;
}

EXPORT int rdmad_find_gid(const struct rdmad *r, const struct rdmad_handle *port,
			  const char *address, const char *netdev, int type, struct rdmad_gid *ret)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	Wish w = {.port = port, .address = address, .netdev = netdev, .type = type};
	struct rdmad_handle handle;
	struct rdmad_port unused;
	uint8_t bytes[16];
	const char *zone;
	Found found;
	int e;

	if (!r->by_bus)
		return -EOPNOTSUPP;
	if ((!port && !address && !netdev) || type < RDMAD_GID_ANY || type >= _GID_TYPE_MAX ||
	    (address && gid_parse_zone(address, bytes, &zone) < 0))
		return -EINVAL;
	e = librdmad_connect(r->address, &bus);
	if (e == 0 && !port) {
		e = ask(r, bus, &w, &unused, &found);
		if (e == 0)
			e = librdmad_find_path(r, found.path, &handle);
		w.port = &handle;
	}
	return e < 0 ? e : find_on_port(r, bus, &w, ret);
}
