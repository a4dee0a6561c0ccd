/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "compare.h"

#include <arpa/inet.h>

typedef struct Report {
	FILE *stream;
	int n;
} Report;

static void differs(Report *r, const char *what, uint64_t published, uint64_t is)
{
	fprintf(r->stream, "%s: published %llu, is %llu\n", what, (unsigned long long)published,
		(unsigned long long)is);
	r->n++;
}

struct ibv_context *compare_open(uint32_t index)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	for (size_t i = 0; list && list[i]; i++)
		if (ibv_get_device_index(list[i]) == (int)index)
			context = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return context;
}

/* Every field of struct ibv_port_attr but the counters, by its name in Query(). */
static void compare_field(Report *r, const struct ibv_port_attr *a, const char *name,
			  uint64_t value)
{
#define FIELD(field)                                                                               \
	if (streq(name, #field) && (uint64_t)a->field != value)                                    \
		differs(r, #field, value, (uint64_t)a->field);
	FIELD(state)
	FIELD(max_mtu)
	FIELD(active_mtu)
	FIELD(gid_tbl_len)
	FIELD(port_cap_flags)
	FIELD(max_msg_sz)
	FIELD(pkey_tbl_len)
	FIELD(lid)
	FIELD(sm_lid)
	FIELD(lmc)
	FIELD(max_vl_num)
	FIELD(sm_sl)
	FIELD(subnet_timeout)
	FIELD(active_width)
	FIELD(active_speed)
	FIELD(phys_state)
	FIELD(link_layer)
	FIELD(flags)
	FIELD(port_cap_flags2)
#undef FIELD
}

/* The cached raw fields: Query() with the greatest age. All of verbs' fields must be among them. */
static void compare_fields(Fixture *f, Report *r, const char *path, const struct ibv_port_attr *a)
{
	static const char *const all[] = {
		"state",	  "max_mtu",	  "active_mtu",	    "gid_tbl_len",
		"port_cap_flags", "max_msg_sz",	  "pkey_tbl_len",   "lid",
		"sm_lid",	  "lmc",	  "max_vl_num",	    "sm_sl",
		"subnet_timeout", "active_width", "active_speed",   "phys_state",
		"link_layer",	  "flags",	  "port_cap_flags2"};
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, path, RDMAD_INTERFACE_PORT, "Query", NULL, "a{sv}", 1,
			     "max-age-usec", "t", UINT64_MAX);
	const char *key, *type;
	size_t found = 0;

	sd_bus_message_enter_container(reply, 'a', "{sv}");
	while (sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
		uint32_t value;

		sd_bus_message_read_basic(reply, 's', &key);
		sd_bus_message_peek_type(reply, NULL, &type);
		if (streq(type, "u")) {
			sd_bus_message_read(reply, "v", "u", &value);
			compare_field(r, a, key, value);
			for (size_t i = 0; i < ARRAY_SIZE(all); i++)
				found += streq(all[i], key);
		} else {
			sd_bus_message_skip(reply, "v");
		}
		sd_bus_message_exit_container(reply);
	}
	if (found != ARRAY_SIZE(all))
		differs(r, "number of fields", found, ARRAY_SIZE(all));
}

static void compare_property(Fixture *f, Report *r, const char *path, const char *interface,
			     const char *name, const char *expected)
{
	_cleanup_free_ char *value = fixture_property(f, path, interface, name);

	if (streq(value, expected))
		return;
	fprintf(r->stream, "%s: published \"%s\", should be \"%s\"\n", name, value, expected);
	r->n++;
}

/* What the numbers mean, as properties. */
static void compare_meanings(Fixture *f, Report *r, const char *path, const struct ibv_port_attr *a)
{
	static const char *const states[] = {"nop",   "down",	"init",
					     "armed", "active", "active-defer"};
	bool up = a->state >= IBV_PORT_INIT;
	char text[32];

	if (a->state < ARRAY_SIZE(states))
		compare_property(f, r, path, RDMAD_INTERFACE_PORT, "State", states[a->state]);
	compare_property(f, r, path, RDMAD_INTERFACE_PORT, "Stale", "no");
	snprintf(text, sizeof(text), "%u", up ? 128U << a->active_mtu : 0);
	compare_property(f, r, path, RDMAD_INTERFACE_PORT, "ActiveMtu", text);
	if (a->link_layer == IBV_LINK_LAYER_ETHERNET)
		return;
	up = a->state == IBV_PORT_ARMED || a->state == IBV_PORT_ACTIVE;
	snprintf(text, sizeof(text), "%u", up ? a->lid : 0);
	compare_property(f, r, path, RDMAD_INTERFACE_INFINIBAND, "Lid", text);
	snprintf(text, sizeof(text), "%u", up ? a->sm_lid : 0);
	compare_property(f, r, path, RDMAD_INTERFACE_INFINIBAND, "SmLid", text);
}

static sd_bus_message *get_table(Fixture *f, const char *path, const char *interface,
				 const char *name, const char *entry)
{
	sd_bus_message *reply = fixture_call(f, path, "org.freedesktop.DBus.Properties", "Get",
					     NULL, "ss", interface, name);
	char type[32];

	snprintf(type, sizeof(type), "a%s", entry);
	assert_true(sd_bus_message_enter_container(reply, 'v', type) >= 0);
	assert_true(sd_bus_message_enter_container(reply, 'a', entry) >= 0);
	return reply;
}

static void format_gid(const union ibv_gid *gid, char ret[40])
{
	for (unsigned int i = 0; i < 16; i += 2)
		snprintf(ret + i / 2 * 5, 6, i < 14 ? "%02x%02x:" : "%02x%02x", gid->raw[i],
			 gid->raw[i + 1]);
}

/* Index by index, as the library without any table: an entry that is published and one that is
 * there are the same. */
static void compare_gids(Fixture *f, Report *r, const char *path, struct ibv_context *context,
			 uint8_t port)
{
	static const char *const types[] = {"IB", "RoCE v1", "RoCE v2"};
	static struct ibv_gid_entry entries[1024];
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		get_table(f, path, RDMAD_INTERFACE_PORT, "Gids", "(ussss)");
	ssize_t n = ibv_query_gid_table(context, entries, ARRAY_SIZE(entries), 0);
	size_t published = 0, there = 0;
	uint32_t index;
	const char *gid, *type, *netdev, *address;

	if (n < 0) {
		differs(r, "error of ibv_query_gid_table()", 0, (uint64_t)-n);
		return;
	}
	while (sd_bus_message_read(reply, "(ussss)", &index, &gid, &type, &netdev, &address) > 0) {
		const struct ibv_gid_entry *e = NULL;
		char text[40];

		published++;
		for (ssize_t i = 0; i < n; i++)
			if (entries[i].port_num == port && entries[i].gid_index == index)
				e = &entries[i];
		if (e)
			format_gid(&e->gid, text);
		if (!e || !streq(text, gid) || e->gid_type >= ARRAY_SIZE(types) ||
		    !streq(types[e->gid_type], type)) {
			fprintf(r->stream, "GID %u: published %s %s, is %s\n", index, gid, type,
				e ? text : "empty");
			r->n++;
		}
	}
	for (ssize_t i = 0; i < n; i++)
		there += entries[i].port_num == port;
	if (published != there)
		differs(r, "number of GIDs", published, there);
}

static void compare_pkeys(Fixture *f, Report *r, const char *path, struct ibv_context *context,
			  uint8_t port, uint32_t length)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		get_table(f, path, RDMAD_INTERFACE_INFINIBAND, "Pkeys", "(uus)");
	size_t published = 0, there = 0;
	uint32_t index, pkey;
	const char *membership;
	__be16 is;

	while (sd_bus_message_read(reply, "(uus)", &index, &pkey, &membership) > 0) {
		published++;
		if (ibv_query_pkey(context, port, (int)index, &is) != 0 || ntohs(is) != pkey)
			differs(r, "P_Key", pkey, ntohs(is));
	}
	for (uint32_t i = 0; i < length; i++)
		if (ibv_query_pkey(context, port, (int)i, &is) == 0)
			there += (ntohs(is) & 0x7fff) != 0;
	if (published != there)
		differs(r, "number of P_Keys", published, there);
}

int compare_port(Fixture *f, uint32_t index, uint8_t number, char **ret_text)
{
	struct ibv_context *context = compare_open(index);
	struct ibv_port_attr attr = {};
	char path[RDMAD_PATH_MAX];
	Report report = {};
	size_t size;
	int r;

	if (!context)
		return errno ? -errno : -ENODEV;
	r = -ibv_query_port(context, number, &attr);
	if (r == 0) {
		report.stream = open_memstream(ret_text, &size);
		assert_non_null(report.stream);
		snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u/port/%u", index, number);
		compare_fields(f, &report, path, &attr);
		compare_meanings(f, &report, path, &attr);
		compare_gids(f, &report, path, context, number);
		if (attr.link_layer != IBV_LINK_LAYER_ETHERNET)
			compare_pkeys(f, &report, path, context, number, attr.pkey_tbl_len);
		fclose(report.stream);
		r = report.n;
	}
	ibv_close_device(context);
	return r;
}
