/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "compare.h"

#include <arpa/inet.h>
#include <net/if.h>

#include "compare-unlisted.h"

void differs(Report *r, const char *what, uint64_t published, uint64_t is)
{
	fprintf(r->stream, "%s: published %llu, is %llu\n", what, (unsigned long long)published,
		(unsigned long long)is);
	r->n++;
}

/* Opens the device with kernel index INDEX, if libibverbs lists it. */
static struct ibv_context *open_listed(uint32_t index, bool *ret_listed)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	*ret_listed = false;
	for (size_t i = 0; list && list[i]; i++)
		if (ibv_get_device_index(list[i]) == (int)index) {
			*ret_listed = true;
			context = ibv_open_device(list[i]);
		}
	if (list)
		ibv_free_device_list(list);
	return context;
}

struct ibv_context *compare_open(uint32_t index)
{
	bool listed;

	return open_listed(index, &listed);
}

/* Every field of struct ibv_port_attr except the counters, with its name in Query(). */
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

/* Compares the raw fields in the cache, which are the answer of Query() with the greatest age. All
 * fields of verbs must be among them. */
static void compare_fields(Fixture *f, Report *r, const char *path, const struct ibv_port_attr *a)
{
	static const char *const all[] = {
		"state",	  "max_mtu",	  "active_mtu",	    "gid_tbl_len",
		"port_cap_flags", "max_msg_sz",	  "pkey_tbl_len",   "lid",
		"sm_lid",	  "lmc",	  "max_vl_num",	    "sm_sl",
		"subnet_timeout", "active_width", "active_speed",   "phys_state",
		"link_layer",	  "flags",	  "port_cap_flags2"};
	_cleanup_free_ char *error = NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, path, RDMAD_INTERFACE_PORT, "Query", &error, "a{sv}", 1,
			     "max-age-usec", "t", UINT64_MAX);
	const char *key, *type;
	size_t found = 0;

	if (!reply) {
		fprintf(r->stream, "Query: %s\n", error);
		r->n++;
		return;
	}
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

void compare_property(Report *r, const Object *o, const char *name, const char *expected)
{
	const char *value = object_get(o, name);

	if (value && streq(value, expected))
		return;
	fprintf(r->stream, "%s: published \"%s\", should be \"%s\"\n", name,
		value ? value : "(nothing)", expected);
	r->n++;
}

void compare_number(Report *r, const Object *o, const char *name, uint64_t expected)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)expected);
	compare_property(r, o, name, text);
}

/* Compares the properties that say what the numbers mean. */
static void compare_meanings(Report *r, const Object *o, const struct ibv_port_attr *a)
{
	static const char *const states[] = {"nop",   "down",	"init",
					     "armed", "active", "active-defer"};
	static const struct {
		uint32_t code;
		const char *lanes;
	} widths[] = {{1, "1"}, {2, "4"}, {4, "8"}, {8, "12"}, {16, "2"}};
	bool up = a->state >= IBV_PORT_INIT, guessed;

	if (a->state < ARRAY_SIZE(states))
		compare_property(r, o, "State", states[a->state]);
	compare_number(r, o, "ActiveMtu",
		       up && a->active_mtu <= IBV_MTU_4096 ? 128U << a->active_mtu : 0);
	compare_number(r, o, "MaxMtu", 128U << a->max_mtu);
	/* of an interface whose speed is unknown the kernel says one lane of SDR */
	guessed = a->link_layer == IBV_LINK_LAYER_ETHERNET && a->active_width == 1 &&
		  a->active_speed == 1;
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++)
		if (up && widths[i].code == a->active_width && !guessed)
			compare_property(r, o, "LinkWidth", widths[i].lanes);
	if (a->link_layer == IBV_LINK_LAYER_ETHERNET)
		return;
	up = a->state >= IBV_PORT_ARMED && a->state <= IBV_PORT_ACTIVE_DEFER;
	compare_number(r, o, "Lid", up ? a->lid : 0);
	compare_number(r, o, "Lmc", up ? a->lmc : NOT_SET);
	compare_number(r, o, "SmLid", up ? a->sm_lid : 0);
	compare_number(r, o, "SmSl", up ? a->sm_sl : NOT_SET);
}

bool read_line(char *buffer, size_t size, const char *format, ...)
{
	char path[256];
	va_list args;
	FILE *file;
	bool done;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	file = fopen(path, "re");
	if (!file)
		return false;
	done = fgets(buffer, (int)size, file) != NULL;
	fclose(file);
	if (done)
		buffer[strcspn(buffer, "\n")] = '\0';
	return done;
}

/* Finds the name that the device has now: libibverbs keeps the name that it saw first. */
static bool device_name(const struct ibv_device *d, char *buffer, size_t size)
{
	return read_line(buffer, size, "/sys/class/infiniband_verbs/%s/ibdev", d->dev_name);
}

void compare_netdev(Report *r, const Object *o, const char *device, uint8_t port)
{
	static const struct {
		const char *property, *file;
	} files[] = {{"Ifindex", "ifindex"}, {"NetdevMtu", "mtu"}, {"HwAddress", "address"}};
	char netdev[64], text[64];

	if (!read_line(netdev, sizeof(netdev),
		       "/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/0", device, port))
		return;
	compare_property(r, o, "Netdev", netdev);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (read_line(text, sizeof(text), "/sys/class/net/%s/%s", netdev, files[i].file))
			compare_property(r, o, files[i].property, text);
	if (read_line(text, sizeof(text), "/sys/class/net/%s/carrier", netdev))
		compare_property(r, o, "Carrier", streq(text, "1") ? "yes" : "no");
	if (read_line(text, sizeof(text), "/sys/class/net/%s/operstate", netdev))
		compare_property(r, o, "OperState",
				 streq(text, "lowerlayerdown") ? "lower-layer-down" : text);
}

sd_bus_message *get_table(Fixture *f, Report *r, const char *path, const char *interface,
			  const char *name, const char *entry)
{
	_cleanup_free_ char *error = NULL;
	sd_bus_message *reply = fixture_call(f, path, "org.freedesktop.DBus.Properties", "Get",
					     &error, "ss", interface, name);
	char type[32];

	if (!reply) {
		fprintf(r->stream, "%s: %s\n", name, error);
		r->n++;
		return NULL;
	}
	snprintf(type, sizeof(type), "a%s", entry);
	assert_true(sd_bus_message_enter_container(reply, 'v', type) >= 0);
	assert_true(sd_bus_message_enter_container(reply, 'a', entry) >= 0);
	return reply;
}

void format_gid(const union ibv_gid *gid, char ret[40])
{
	for (unsigned int i = 0; i < 16; i += 2)
		snprintf(ret + i / 2 * 5, 6, i < 14 ? "%02x%02x:" : "%02x%02x", gid->raw[i],
			 gid->raw[i + 1]);
}

void gid_netdev(const char *device, uint8_t port, uint32_t index, uint32_t ifindex, char ret[64])
{
	char text[16];

	if (!read_line(ret, 64, "/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/%u", device,
		       port, index) ||
	    !read_line(text, sizeof(text), "/sys/class/net/%s/ifindex", ret) ||
	    (ifindex && ifindex != strtoul(text, NULL, 10)))
		ret[0] = '\0';
}

/* Compares each entry that is published with the entry of the same index that libibverbs reads. */
static void compare_gids(Fixture *f, Report *r, const char *path, struct ibv_context *context,
			 const char *device, uint8_t port)
{
	static const char *const types[] = {"IB", "RoCE v1", "RoCE v2"};
	static struct ibv_gid_entry entries[1024];
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		get_table(f, r, path, RDMAD_INTERFACE_PORT, "Gids", "(ussssa{sv})");
	ssize_t n = ibv_query_gid_table(context, entries, ARRAY_SIZE(entries), 0);
	size_t published = 0, there = 0;
	uint32_t index;
	const char *gid, *type, *netdev, *address;

	if (!reply)
		return;
	if (n < 0) {
		differs(r, "error of ibv_query_gid_table()", 0, (uint64_t)-n);
		return;
	}
	while (fixture_read_entry(reply, "ussss", &index, &gid, &type, &netdev, &address) > 0) {
		const struct ibv_gid_entry *e = NULL;
		char text[40], name[64] = "";

		published++;
		for (ssize_t i = 0; i < n; i++)
			if (entries[i].port_num == port && entries[i].gid_index == index)
				e = &entries[i];
		if (e)
			format_gid(&e->gid, text);
		if (e && e->ndev_ifindex)
			gid_netdev(device, port, index, e->ndev_ifindex, name);
		if (!e || !streq(text, gid) || e->gid_type >= ARRAY_SIZE(types) ||
		    !streq(types[e->gid_type], type) || !streq(netdev, name)) {
			fprintf(r->stream, "GID %u: published %s %s %s, is %s %s\n", index, gid,
				type, netdev, e ? text : "empty", name);
			r->n++;
		}
	}
	for (ssize_t i = 0; i < n; i++)
		there += entries[i].port_num == port;
	if (published != there)
		differs(r, "number of GIDs", published, there);
}

void compare_pkeys(Fixture *f, Report *r, const char *path, const char *device, uint8_t port,
		   uint32_t length)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		get_table(f, r, path, RDMAD_INTERFACE_INFINIBAND, "Pkeys", "(uusa{sv})");
	uint32_t *published, index, pkey;
	const char *membership;
	char text[16];

	if (!reply)
		return;
	published = calloc(length + 1, sizeof(*published));
	assert_non_null(published);
	while (fixture_read_entry(reply, "uus", &index, &pkey, &membership) > 0)
		if (index < length)
			published[index] = pkey;
		else
			differs(r, "P_Key out of the table", index, length);
	for (uint32_t i = 0; i < length; i++) {
		uint32_t is;

		if (!read_line(text, sizeof(text), "/sys/class/infiniband/%s/ports/%u/pkeys/%u",
			       device, port, i))
			continue;
		is = (uint32_t)strtoul(text, NULL, 16);
		/* a P_Key whose other 15 bits are 0 is no entry */
		if ((is & 0x7fff ? is : 0) != published[i]) {
			fprintf(r->stream, "P_Key %u: published 0x%04x, is 0x%04x\n", i,
				published[i], is);
			r->n++;
		}
	}
	free(published);
}

/* Compares everything else, with the open CONTEXT. */
static int compare_open_port(Fixture *f, Report *r, struct ibv_context *context, const char *path,
			     uint8_t number)
{
	_cleanup_(objects_done) Objects published = {};
	struct ibv_port_attr attr = {};
	char name[80];
	int error;

	if (!device_name(context->device, name, sizeof(name)))
		return -ENODEV;
	if (!objects_read_one(f, path, &published)) {
		fprintf(r->stream, "not published\n");
		return 1;
	}
	/* Look at this first: a query would make a stale port fresh. */
	compare_property(r, published.objects, "Stale", "no");
	if (r->n > 0) {
		fprintf(r->stream, "LastError: %s\n", object_get(published.objects, "LastError"));
		return r->n;
	}
	error = ibv_query_port(context, number, &attr);
	if (error)
		return -error;
	compare_property(r, published.objects, "DeviceName", name);
	compare_meanings(r, published.objects, &attr);
	compare_fields(f, r, path, &attr);
	compare_gids(f, r, path, context, name, number);
	if (attr.link_layer != IBV_LINK_LAYER_ETHERNET)
		compare_pkeys(f, r, path, name, number, attr.pkey_tbl_len);
	else
		compare_netdev(r, published.objects, name, number);
	return r->n;
}

static void compare_open_device(Fixture *f, Report *r, struct ibv_context *context,
				const char *path)
{
	_cleanup_(objects_done) Objects published = {};
	struct ibv_device_attr attr;
	char name[80], text[80];
	const Object *o;

	if (ibv_query_device(context, &attr) != 0 ||
	    !device_name(context->device, name, sizeof(name)) ||
	    !objects_read_one(f, path, &published)) {
		fprintf(r->stream, "not published\n");
		r->n++;
		return;
	}
	o = published.objects;
	compare_property(r, o, "Name", name);
	compare_property(r, o, "Stale", "no");
	if (!streq(attr.fw_ver, "0.0.0")) /* verbs have this text if there is no version */
		compare_property(r, o, "FirmwareVersion", attr.fw_ver);
	compare_number(r, o, "PortCount", attr.phys_port_cnt);
	compare_number(r, o, "VendorId", attr.vendor_id);
	compare_number(r, o, "VendorPartId", attr.vendor_part_id);
	if (read_line(text, sizeof(text), "/sys/class/infiniband/%s/node_desc", name))
		compare_property(r, o, "NodeDescription", text);
}

/* Compares port NUMBER, or the device itself if that is 0. */
static int compare(Fixture *f, uint32_t index, uint8_t number, char **ret_text)
{
	bool listed;
	struct ibv_context *context = open_listed(index, &listed);
	char path[RDMAD_PATH_MAX];
	Report report = {};
	size_t size;
	int r = 0;

	if (listed && !context)
		return errno ? -errno : -ENODEV;
	report.stream = open_memstream(ret_text, &size);
	assert_non_null(report.stream);
	snprintf(path, sizeof(path),
		 number ? RDMAD_DEVICE_PREFIX "/%u/port/%u" : RDMAD_DEVICE_PREFIX "/%u", index,
		 number);
	if (!listed)
		r = compare_unlisted(f, &report, index, path, number);
	else if (number)
		r = compare_open_port(f, &report, context, path, number);
	else
		compare_open_device(f, &report, context, path);
	fclose(report.stream);
	if (context)
		ibv_close_device(context);
	return r < 0 ? r : report.n;
}

int compare_port(Fixture *f, uint32_t index, uint8_t number, char **ret_text)
{
	return compare(f, index, number, ret_text);
}

int compare_device(Fixture *f, uint32_t index, char **ret_text)
{
	return compare(f, index, 0, ret_text);
}
