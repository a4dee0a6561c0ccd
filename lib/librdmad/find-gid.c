/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rdmad_find_gid(): which entry of a GID table a program should use. The daemon decides, and its
 * answer has the entry; the memory says when to look again. */

#include "bus-walk.h"
#include "gid.h"
#include "librdmad-private.h"
#include "names.h"
#include "port-name.h"
#include "util.h"

/* So often the daemon is asked anew because the device has got another name meanwhile. */
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
	struct rdmad_gid gid;	   /* without the port; of another type than rdmad.h has: none */
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

/* Reads an entry of a GID table. The structure may have more members than this library knows. */
static int read_gid(sd_bus_message *m, struct rdmad_gid *ret)
{
	const char *gid, *type, *netdev, *address, *entry;
	_cleanup_free_ char *contents = NULL;
	char buffer[24];
	size_t length;
	int r = sd_bus_message_peek_type(m, NULL, &entry);

	if (r < 0)
		return r;
	length = strlen(entry);
	if (!startswith(entry, "(ussss") || entry[length - 1] != ')')
		return -EBADMSG;
	contents = strndup(entry + 1, length - 2);
	if (!contents)
		return -ENOMEM;
	r = sd_bus_message_enter_container(m, 'v', entry);
	if (r >= 0)
		r = sd_bus_message_enter_container(m, 'r', contents);
	if (r >= 0)
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
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

/* Reads the GID from the dictionary of a port. */
static int read_details(sd_bus_message *m, struct rdmad_gid *ret)
{
	BusWalk w = bus_walk_pairs(m, "sv");
	const char *key;

	while (bus_walk_named(&w, &key))
		if (streq(key, "Gid"))
			w.r = read_gid(m, ret);
		else if (streq(key, "GidGeneration"))
			w.r = sd_bus_message_read(m, "v", "t", &ret->generation);
	return w.r;
}

/* Reads the reply of FindPorts(): the port at PATH of it; NULL: the first one. */
static int read_found(sd_bus_message *m, const char *path, Found *ret)
{
	BusWalk w = bus_walk_structures(m, "oa{sv}");
	const char *at;

	*ret = (Found){};
	while (bus_walk_named(&w, &at)) {
		struct rdmad_gid gid = {.type = _GID_TYPE_MAX};

		w.r = read_details(m, &gid);
		if (w.r < 0 || (path && !streq(at, path)))
			continue;
		if (*ret->path) {
			ret->more = true;
		} else {
			text_copy(ret->path, sizeof(ret->path), at);
			ret->gid = gid;
		}
	}
	return w.r;
}

/* Asks which port and which of its GIDs W means. P is the record of W->port, or NULL. */
static int ask(sd_bus *bus, const Wish *w, const struct rdmad_port *p, Found *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	char path[RDMAD_PATH_MAX], name[PORT_NAME_MAX] = "";
	int e;

	if (p) {
		object_path_put(p->hot.device_index, p->hot.port_num, path);
		snprintf(name, sizeof(name), "%s/%u", p->device_name, p->hot.port_num);
	}
	e = call_find(bus, w, name, &reply);
	if (e == 0)
		e = read_found(reply, p ? path : NULL, ret);
	if (e == 0 && ret->more)
		return -EEXIST;
	return e < 0 || (*ret->path && ret->gid.type < _GID_TYPE_MAX) ? e : -ENOENT;
}

/* The same of W->port, by the name of its device. */
static int ask_port(const struct rdmad *r, sd_bus *bus, const Wish *w, Found *ret)
{
	struct rdmad_port before, now;
	int chosen = -ENOENT, e = rdmad_read(r, *w->port, &before);

	for (unsigned int i = 0; e == 0 && i < TRIES; i++) {
		chosen = ask(bus, w, &before, ret);
		e = rdmad_read(r, *w->port, &now);
		if (e < 0 || chosen != -ENOENT || streq(now.device_name, before.device_name))
			break;
		before = now;
	}
	return e < 0 ? e : chosen;
}

EXPORT int rdmad_find_gid(const struct rdmad *r, const struct rdmad_handle *port,
			  const char *address, const char *netdev, int type, struct rdmad_gid *ret)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	Wish w = {.port = port, .address = address, .netdev = netdev, .type = type};
	struct rdmad_handle handle = {};
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
	if (e == 0)
		e = port ? ask_port(r, bus, &w, &found) : ask(bus, &w, NULL, &found);
	if (e == 0 && !port)
		e = librdmad_find_path(r, found.path, &handle);
	if (e < 0)
		return e;
	*ret = found.gid;
	ret->port = port ? *port : handle;
	return 0;
}
