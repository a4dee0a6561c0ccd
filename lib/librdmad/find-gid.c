/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rdmad_find_gid(): which entry of a GID table a program should use. The tables are on the bus and
 * not in the memory; the memory says when to look again. */

#include "gid.h"
#include "librdmad-private.h"
#include "names.h"
#include "port-name.h"
#include "util.h"

/* So often the table is read anew because it has changed meanwhile. */
#define TRIES 5

_Static_assert((int)RDMAD_GID_IB == GID_TYPE_IB && (int)RDMAD_GID_ROCE_V1 == GID_TYPE_ROCE_V1 &&
		       (int)RDMAD_GID_ROCE_V2 == GID_TYPE_ROCE_V2,
	       "a type of GIDs has another number");

/* The wish of the caller. */
typedef struct Wish {
	const char *address; /* as text, for the daemon; NULL: any */
	uint8_t gid[16];     /* ADDRESS as it is in a GID */
	const char *zone;    /* of ADDRESS; NULL: none */
	const char *netdev;  /* NULL: any */
	int type;	     /* enum rdmad_gid_type */
	bool asked;	     /* the daemon has found the port by ADDRESS or NETDEV */
} Wish;

/* The number of the type that the bus calls NAME; _GID_TYPE_MAX if this library does not know it.
 */
static uint32_t type_of(const char *name)
{
	char buffer[24];
	uint32_t type;

	for (type = 0; type < _GID_TYPE_MAX; type++)
		if (streq(gid_type_name(type, buffer), name))
			break;
	return type;
}

/* An entry of the table, with what its tail says. */
typedef struct Entry {
	struct rdmad_gid gid;
	uint32_t ifindex, vlan_id, namespace;
	bool named; /* it has the address and the interface that are wanted */
	GidChoice choice;
} Entry;

/* The interfaces of the port. */
typedef struct Place {
	AttrText netdev, master;
} Place;

/* Whether E has the address and the interface that are wanted. */
static bool is_named(const Wish *w, const Entry *e)
{
	return (!w->address || memcmp(w->gid, e->gid.gid, sizeof(w->gid)) == 0) &&
	       (!w->netdev || streq(w->netdev, e->gid.netdev)) &&
	       gid_zone_fits(w->zone, e->gid.netdev, e->ifindex);
}

/* The GIDs of InfiniBand have no address and no interface: a port that was found by those of its
 * IPoIB interface has any of them. */
static bool fits(const Wish *w, const Entry *e)
{
	return (w->type == RDMAD_GID_ANY || (uint32_t)w->type == e->gid.type) &&
	       (e->named || (w->asked && e->gid.type == RDMAD_GID_IB));
}

/* Weighs E, which was read. */
static void weigh(Entry *e, const Wish *w, const Place *p)
{
	e->named = is_named(w, e);
	e->choice = (GidChoice){.type = e->gid.type, .index = e->gid.index};
	memcpy(e->choice.gid, e->gid.gid, sizeof(e->choice.gid));
	e->choice.where = gid_where(e->gid.netdev, e->vlan_id, e->namespace, p->netdev, p->master);
}

/* Whether A is to be used before B. */
static bool is_better(const Entry *a, const Entry *b)
{
	return a->named != b->named ? a->named : gid_compare(&a->choice, &b->choice) < 0;
}

/* Reads one entry of the tail a{sv}. */
static int read_detail(sd_bus_message *m, Entry *e)
{
	const char *key, *text;
	int r = sd_bus_message_enter_container(m, 'e', "sv");

	if (r <= 0)
		return r;
	r = sd_bus_message_read(m, "s", &key);
	if (r < 0)
		return r;
	if (streq(key, "Ifindex")) {
		r = sd_bus_message_read(m, "v", "u", &e->ifindex);
	} else if (streq(key, "VlanId")) {
		r = sd_bus_message_read(m, "v", "u", &e->vlan_id);
	} else if (streq(key, "Namespace")) {
		r = sd_bus_message_read(m, "v", "s", &text);
		if (r >= 0 && streq(text, gid_namespace_name(GID_NAMESPACE_OTHER)))
			e->namespace = GID_NAMESPACE_OTHER;
	} else {
		r = sd_bus_message_skip(m, "v");
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	return r < 0 ? r : 1;
}

/* Reads what may be behind the members that this library knows. */
static int read_tail(sd_bus_message *m, const char *tail, Entry *e)
{
	const char *more = startswith(tail, "a{sv}");
	int r = 0;

	if (more) {
		r = sd_bus_message_enter_container(m, 'a', "{sv}");
		while (r >= 0 && (r = read_detail(m, e)) > 0)
			;
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
		tail = more;
	}
	if (r >= 0 && *tail)
		r = sd_bus_message_skip(m, tail);
	return r;
}

/* Reads one entry of the table. The structure may have more members than this library knows. */
static int read_entry(sd_bus_message *m, const char *contents, Entry *ret)
{
	const char *gid, *type, *netdev, *address;
	Entry e = {};
	int r = sd_bus_message_enter_container(m, 'r', contents);

	if (r <= 0)
		return r;
	r = sd_bus_message_read(m, "ussss", &e.gid.index, &gid, &type, &netdev, &address);
	if (r < 0)
		return r;
	if (gid_parse(gid, e.gid.gid) < 0)
		return -EBADMSG;
	e.gid.type = type_of(type);
	text_copy(e.gid.netdev, sizeof(e.gid.netdev), netdev);
	r = read_tail(m, contents + 5, &e);
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	if (r < 0)
		return r;
	*ret = e;
	return 1;
}

/* The best entry of the table in M that fits. -ENOENT. */
static int choose(sd_bus_message *m, const Wish *w, const Place *place, struct rdmad_gid *ret)
{
	_cleanup_free_ char *contents = NULL;
	const char *table;
	Entry e, best = {};
	bool found = false;
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
	if (r < 0)
		return r;
	while ((r = read_entry(m, contents, &e)) > 0) {
		weigh(&e, w, place);
		if (e.gid.type == _GID_TYPE_MAX || !fits(w, &e))
			continue;
		if (!found || is_better(&e, &best))
			best = e;
		found = true;
	}
	if (r < 0)
		return r;
	if (!found)
		return -ENOENT;
	*ret = best.gid;
	return 0;
}

/* The question which port has the address or the network interface of W. */
static int ask_for_port(sd_bus *bus, const Wish *w, sd_bus_message **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	char type[24];
	int r = sd_bus_message_new_method_call(bus, &m, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					       RDMAD_INTERFACE_MANAGER,
					       w->address ? "GetPortByAddress" : "GetPortByNetdev");

	if (r >= 0)
		r = sd_bus_message_append(m, "s", w->address ? w->address : w->netdev);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{sv}");
	if (r >= 0 && w->address && w->netdev)
		r = sd_bus_message_append(m, "{sv}", "netdev", "s", w->netdev);
	if (r >= 0 && w->address && w->type != RDMAD_GID_ANY)
		r = sd_bus_message_append(m, "{sv}", "type", "s",
					  gid_type_name((uint32_t)w->type, type));
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	if (r < 0)
		return r;
	*ret = steal_pointer(&m);
	return 0;
}

static int find_port(const struct rdmad *r, sd_bus *bus, const Wish *w, struct rdmad_handle *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL;
	int e = ask_for_port(bus, w, &call);

	return e < 0 ? e : librdmad_call_for_port(r, bus, call, ret);
}

/* Reads the property NAME of INTERFACE of PORT on the bus. */
static int get_property(sd_bus *bus, const struct rdmad_port *port, const char *interface,
			const char *name, sd_bus_message **ret)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	char path[RDMAD_PATH_MAX];
	int r;

	object_path_put(port->hot.device_index, port->hot.port_num, path);
	r = sd_bus_call_method(bus, RDMAD_BUS_NAME, path, "org.freedesktop.DBus.Properties", "Get",
			       &error, ret, "ss", interface, name);
	return r < 0 ? librdmad_call_error(&error, r) : 0;
}

/* The bond or bridge that the interface of PORT is in is not in the memory. A port without one has
 * no such property. */
static void find_place(sd_bus *bus, const struct rdmad_port *port, Place *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	const char *master = "";

	if (get_property(bus, port, RDMAD_INTERFACE_ETHERNET, "Master", &m) < 0 ||
	    sd_bus_message_read(m, "v", "s", &master) < 0)
		master = "";
	text_copy(ret->netdev, sizeof(ret->netdev), port->netdev);
	text_copy(ret->master, sizeof(ret->master), master);
}

/* The best GID of PORT, with the generation that the table had, or an older one. */
static int find_on_port(const struct rdmad *r, sd_bus *bus, struct rdmad_handle port, const Wish *w,
			struct rdmad_gid *ret)
{
	struct rdmad_port before, after;
	int e = rdmad_read(r, port, &before);

	for (unsigned int i = 0; e == 0 && i < TRIES; i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *table = NULL;
		struct rdmad_gid found = {};
		Place place;
		int chosen;

		find_place(bus, &before, &place);
		e = get_property(bus, &before, RDMAD_INTERFACE_PORT, "Gids", &table);
		if (e < 0)
			return e;
		chosen = choose(table, w, &place, &found);
		e = rdmad_read(r, port, &after);
		if (e == 0 && after.gid_generation != before.gid_generation) {
			before = after;
			continue;
		}
		if (e < 0 || chosen < 0)
			return e < 0 ? e : chosen;
		found.port = port;
		found.generation = before.gid_generation;
		*ret = found;
		return 0;
	}
	return e < 0 ? e : -EAGAIN;
}

EXPORT int rdmad_find_gid(const struct rdmad *r, const struct rdmad_handle *port,
			  const char *address, const char *netdev, int type, struct rdmad_gid *ret)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	Wish w = {.address = address, .netdev = netdev, .type = type};
	struct rdmad_handle found;
	int e;

	if (!r->by_bus)
		return -EOPNOTSUPP;
	if ((!port && !address && !netdev) || type < RDMAD_GID_ANY || type >= _GID_TYPE_MAX ||
	    (address && gid_parse_zone(address, w.gid, &w.zone) < 0))
		return -EINVAL;
	e = librdmad_connect(r->address, &bus);
	if (e < 0)
		return e;
	if (!port) {
		e = find_port(r, bus, &w, &found);
		if (e < 0)
			return e;
		port = &found;
		w.asked = true;
	}
	return find_on_port(r, bus, *port, &w, ret);
}
