/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-find.h"

#include "bus-options.h"
#include "bus-private.h"
#include "bus-property.h"
#include "bus-shown.h"
#include "long-reply-named.h"
#include "lookup.h"
#include "names.h"

/* How many of the ports that an ambiguous name may mean are in the text of the error. */
#define CANDIDATES 4U

/* The error for a caller whose look-up of the KIND named TEXT has failed. */
static int lookup_error(sd_bus_error *error, int r, const char *kind, const char *text)
{
	const char *shown = BUS_SHOW(text);

	switch (r) {
	case -ENOENT:
		return sd_bus_error_setf(error, RDMAD_ERROR_NOT_FOUND, "No %s \"%s\"", kind, shown);
	case -EINVAL:
		return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_ARGUMENT, "\"%s\" is no %s",
					 shown, kind);
	default:
		return r;
	}
}

/* FOUND has the first CANDIDATES of the N ports that TEXT may mean. */
static int ambiguous_error(sd_bus_error *error, const char *text, const FoundPort *found, size_t n)
{
	char names[CANDIDATES * 82] = "", more[40] = "";
	size_t shown = MIN(n, (size_t)CANDIDATES), used = 0;

	for (size_t i = 0; i < shown; i++) {
		char name[80];

		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
					 i == 0 ? "" : ", ", port_name(found[i].port, name));
	}
	if (n > shown)
		snprintf(more, sizeof(more), " and %zu more", n - shown);
	return sd_bus_error_setf(error, RDMAD_ERROR_AMBIGUOUS, "\"%s\" is more than one port: %s%s",
				 BUS_SHOW(text), names, more);
}

/* The text argument and no option. */
static int read_text(sd_bus_message *m, const char *method, const char **ret, sd_bus_error *error)
{
	int r = sd_bus_message_read_basic(m, 's', ret);

	return r < 0 ? r : bus_read_options(m, method, NULL, 0, error);
}

int bus_get_device_by_name(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	char path[RDMAD_PATH_MAX];
	const char *text;
	const Device *d;
	int r = read_text(m, "GetDeviceByName", &text, error);

	if (r < 0)
		return r;
	d = lookup_device(((const Bus *)userdata)->cache, text);
	if (!d || !d->published)
		return lookup_error(error, -ENOENT, "device", text);
	return sd_bus_reply_method_return(m, "o", device_path(d, path));
}

/* The one port that KEY names. KIND is what it is in messages. */
static int find_one(const Bus *b, const FindKey *key, const char *kind, FoundPort *ret,
		    sd_bus_error *error)
{
	FoundPort found[CANDIDATES];
	FindKind by;
	size_t n = 0;
	int r = lookup_find(b->cache, key, found, CANDIDATES, &n, &by);

	if (r == 0 && n > 1)
		return ambiguous_error(error, key->text, found, n);
	if (r == 0 && !found[0].port->published)
		r = -ENOENT;
	if (r < 0)
		return lookup_error(error, r, kind, key->text);
	*ret = found[0];
	return 0;
}

static int get_port(sd_bus_message *m, const Bus *b, sd_bus_error *error, const char *method,
		    const char *kind, FindKind by)
{
	FindKey key = {.by = by, .type = _GID_TYPE_MAX};
	char path[RDMAD_PATH_MAX];
	FoundPort found;
	int r = read_text(m, method, &key.text, error);

	if (r < 0)
		return r;
	r = find_one(b, &key, kind, &found, error);
	return r < 0 ? r : sd_bus_reply_method_return(m, "o", port_path(found.port, path));
}

int bus_get_port(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return get_port(m, userdata, error, "GetPort", "port", _FIND_MAX);
}

int bus_get_port_by_netdev(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return get_port(m, userdata, error, "GetPortByNetdev", "netdev of a port", FIND_NETDEV);
}

int bus_get_port_by_guid(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	return get_port(m, userdata, error, "GetPortByGuid", "port GUID", FIND_PORT_GUID);
}

/* The value of option "type"; NULL: it is not there. */
static int parse_type(const char *name, GidType *ret, sd_bus_error *error)
{
	GidType type = _GID_TYPE_MAX;
	char buffer[24];

	if (name) {
		for (type = 0; type < _GID_TYPE_MAX; type++)
			if (streq(gid_type_name(type, buffer), name))
				break;
		if (type == _GID_TYPE_MAX)
			return sd_bus_error_setf(
				error, RDMAD_ERROR_INVALID_OPTION,
				"Option \"type\": \"%s\" is none of IB, RoCE v1, RoCE v2",
				BUS_SHOW(name));
	}
	*ret = type;
	return 0;
}

int bus_get_port_by_address(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const Bus *b = userdata;
	FindKey key = {.by = FIND_ADDRESS};
	const char *type_name = NULL, *kind;
	const BusOption options[] = {{"type", 's', &type_name}, {"netdev", 's', &key.netdev}};
	char path[RDMAD_PATH_MAX];
	FoundPort found;
	uint8_t gid[16];
	FindKind by;
	size_t n;
	int r = sd_bus_message_read_basic(m, 's', &key.text);

	if (r < 0)
		return r;
	r = bus_read_options(m, "GetPortByAddress", options, ARRAY_SIZE(options), error);
	if (r >= 0)
		r = parse_type(type_name, &key.type, error);
	if (r < 0)
		return r;
	kind = gid_parse(key.text, gid) < 0 ? "IP address" : "GID with the IP address";
	if (lookup_find(b->cache, &key, NULL, 0, &n, &by) < 0)
		key.by = FIND_GID;
	r = find_one(b, &key, kind, &found, error);
	if (r < 0)
		return r;
	/* the GID table of a port with IPoIB may not have been read */
	if (!found.gid)
		return lookup_error(error, -ENOENT, kind, key.text);
	return sd_bus_reply_method_return(m, "ou", port_path(found.port, path), found.gid->index);
}

/* FindPorts() */

const char bus_found_signature[] = "a(oa{sv})";

static void put_found_properties(BusWriter *w, const LongReplyQuestion *q, const Port *p)
{
	const CacheObject o = cache_object_of_port(p);

	bus_writer_open_property(w, "Properties", "a{sv}");
	bus_writer_open(w, 'a', "{sv}");
	if (q->all)
		bus_put_members(w, &o, cache_object_interfaces(&o));
	long_reply_put_named(w, q, p);
	bus_writer_close(w);
	bus_writer_close_property(w);
}

static void put_found(BusWriter *w, const LongReplyQuestion *q, const FoundPort *f, FindKind by)
{
	char path[RDMAD_PATH_MAX];

	bus_writer_open(w, 'r', "oa{sv}");
	bus_writer_put_text(w, 'o', port_path(f->port, path));
	bus_writer_open(w, 'a', "{sv}");
	bus_writer_add_text(w, "By", find_kind_name(by));
	if (f->gid) {
		bus_writer_add_u32(w, "GidIndex", f->gid->index);
		bus_writer_open_property(w, "Gid", gid_table_signature + 1);
		bus_put_entry(w, table_layout(ATTR_GIDS), f->gid);
		bus_writer_close_property(w);
		bus_writer_add_u64(w, "GidGeneration", f->port->now.values.gid_generation);
	}
	if (f->netdev)
		bus_writer_add_text(w, "Netdev", f->netdev);
	if (q->all || !mask_is_empty(&q->rows) || !mask_is_empty(&q->device_rows))
		put_found_properties(w, q, f->port);
	bus_writer_close(w);
	bus_writer_close(w);
}

int bus_found_read(sd_bus_message *call, LongReplyQuestion *q, sd_bus_error *error)
{
	_cleanup_(bus_texts_done) BusTexts names = {.max = LONG_REPLY_NAMED_MAX};
	const char *type = NULL, *by = NULL;
	int all = false;
	const BusOption options[] = {{"by", 's', &by},
				     {"type", 's', &type},
				     {"netdev", 's', &q->text_2},
				     {"properties", 'a', &names},
				     {"all", 'b', &all}};
	int r = sd_bus_message_read_basic(call, 's', &q->text);

	if (r < 0)
		return r;
	r = bus_read_options(call, "FindPorts", options, ARRAY_SIZE(options), error);
	if (r >= 0)
		r = parse_type(type, &q->type, error);
	if (r >= 0)
		r = long_reply_name(q, &names, error);
	if (r < 0)
		return r;
	if (all)
		q->rows = (AttrMask){}; /* they are among all */
	q->all = all;
	q->by = by ? find_kind_from_name(by) : _FIND_MAX;
	if (by && q->by == _FIND_MAX)
		return sd_bus_error_setf(error, RDMAD_ERROR_INVALID_OPTION,
					 "Option \"by\": FindPorts knows no \"%s\"", BUS_SHOW(by));
	return 0;
}

int bus_found_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c, sd_bus_error *error)
{
	const FindKey key = {.by = q->by, .text = q->text, .type = q->type, .netdev = q->text_2};
	_cleanup_free_ FoundPort *found = calloc(BUS_FIND_MAX, sizeof(*found));
	FindKind by = _FIND_MAX;
	size_t n = 0;
	int r = found ? lookup_find(c, &key, found, BUS_FIND_MAX, &n, &by) : -ENOMEM;

	if (r == -EINVAL)
		return lookup_error(error, r, "name or address of a port", q->text);
	if (r < 0 && r != -ENOENT)
		return r;
	if (n > BUS_FIND_MAX)
		return sd_bus_error_setf(error, RDMAD_ERROR_LIMITS_EXCEEDED,
					 "\"%s\" is %zu ports, more than %u: see ListPorts",
					 BUS_SHOW(q->text), n, BUS_FIND_MAX);
	bus_writer_open(w, 'a', bus_found_signature + 1);
	for (size_t i = 0; i < n; i++)
		if (found[i].port->published)
			put_found(w, q, &found[i], by);
	bus_writer_close(w);
	return 1;
}
