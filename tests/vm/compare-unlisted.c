/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "compare.h"

#include <dirent.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>

#include "compare-unlisted.h"

/* Newer than the headers of Debian 12: Linux 6.11. */
#define NLDEV_ATTR_DEV_TYPE    99
#define NLDEV_ATTR_PARENT_NAME 100

/* What netlink says of a device. */
typedef struct Said {
	char name[80], parent[80];
	uint8_t type; /* 1: a plane */
} Said;

static int on_answer(struct nl_msg *m, void *userdata)
{
	struct nlattr *a[NLDEV_ATTR_PARENT_NAME + 1];
	Said *said = userdata;

	if (nlmsg_parse(nlmsg_hdr(m), 0, a, NLDEV_ATTR_PARENT_NAME, NULL) < 0 ||
	    !a[RDMA_NLDEV_ATTR_DEV_NAME])
		return NL_SKIP;
	nla_strlcpy(said->name, a[RDMA_NLDEV_ATTR_DEV_NAME], sizeof(said->name));
	if (a[NLDEV_ATTR_PARENT_NAME])
		nla_strlcpy(said->parent, a[NLDEV_ATTR_PARENT_NAME], sizeof(said->parent));
	if (a[NLDEV_ATTR_DEV_TYPE])
		said->type = nla_get_u8(a[NLDEV_ATTR_DEV_TYPE]);
	return NL_OK;
}

static int ask(uint32_t index, Said *ret)
{
	struct nl_sock *s = nl_socket_alloc();
	struct nl_msg *m = nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET),
					      NLM_F_REQUEST);
	int r;

	*ret = (Said){};
	assert_true(s && m && nl_connect(s, NETLINK_RDMA) == 0);
	nl_socket_disable_auto_ack(s);
	nl_socket_modify_cb(s, NL_CB_VALID, NL_CB_CUSTOM, on_answer, ret);
	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, index);
	r = nl_send_auto(s, m);
	if (r >= 0)
		r = nl_recvmsgs_default(s);
	nlmsg_free(m);
	nl_socket_free(s);
	return r < 0 || !ret->name[0] ? -ENODEV : 0;
}

/* Reads a number at the beginning of a file of a port, in any base. */
static bool read_number(const char *device, uint8_t port, const char *file, uint64_t *ret)
{
	char text[80];

	if (!read_line(text, sizeof(text), "/sys/class/infiniband/%s/ports/%u/%s", device, port,
		       file))
		return false;
	*ret = strtoull(text, NULL, 0);
	return true;
}

static uint32_t count_files(const char *device, uint8_t port, const char *directory)
{
	char path[200];
	uint32_t n = 0;
	DIR *files;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%u/%s", device, port,
		 directory);
	files = opendir(path);
	for (const struct dirent *e; files && (e = readdir(files));)
		n += e->d_name[0] != '.';
	if (files)
		closedir(files);
	return n;
}

/* "200 Gb/sec (4X HDR)" */
static void compare_rate(Report *r, const Object *o, const char *device, uint8_t port)
{
	char text[80];
	unsigned int lanes;
	double gigabits;

	if (!read_line(text, sizeof(text), "/sys/class/infiniband/%s/ports/%u/rate", device,
		       port) ||
	    sscanf(text, "%lf Gb/sec (%uX", &gigabits, &lanes) != 2)
		return;
	compare_number(r, o, "LinkWidth", lanes);
	compare_number(r, o, "Rate", (uint64_t)(gigabits * 1e9));
}

static void compare_state(Report *r, const Object *o, const char *device, uint8_t port,
			  bool infiniband)
{
	static const char *const states[] = {"nop",   "down",	"init",
					     "armed", "active", "active-defer"};
	static const struct {
		const char *property, *file;
		uint32_t not_set;
	} subnet[] = {{"Lid", "lid", 0},
		      {"Lmc", "lid_mask_count", NOT_SET},
		      {"SmLid", "sm_lid", 0},
		      {"SmSl", "sm_sl", NOT_SET}};
	uint64_t state, value;

	if (!read_number(device, port, "state", &state) || state >= ARRAY_SIZE(states))
		return;
	compare_property(r, o, "State", states[state]);
	if (infiniband && state >= IBV_PORT_INIT)
		compare_rate(r, o, device, port);
	for (size_t i = 0; infiniband && i < ARRAY_SIZE(subnet); i++)
		if (read_number(device, port, subnet[i].file, &value))
			compare_number(r, o, subnet[i].property,
				       state >= IBV_PORT_ARMED && state <= IBV_PORT_ACTIVE_DEFER
					       ? value
					       : subnet[i].not_set);
}

/* The entry of sysfs; false if it is empty. */
static bool read_gid(const char *device, uint8_t port, uint32_t index, char gid[64], char type[32])
{
	if (!read_line(gid, 64, "/sys/class/infiniband/%s/ports/%u/gids/%u", device, port, index) ||
	    streq(gid, "0000:0000:0000:0000:0000:0000:0000:0000"))
		return false;
	if (!read_line(type, 32, "/sys/class/infiniband/%s/ports/%u/gid_attrs/types/%u", device,
		       port, index))
		type[0] = '\0';
	return true;
}

static void compare_gids(Fixture *f, Report *r, const char *path, const char *device, uint8_t port,
			 bool infiniband)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		get_table(f, r, path, RDMAD_INTERFACE_PORT, "Gids", "(ussssa{sv})");
	uint32_t length = count_files(device, port, "gids"), published = 0, there = 0, index;
	const char *gid, *type, *netdev, *address;
	char is[64], its_type[32], its_netdev[64];

	if (!reply)
		return;
	for (uint32_t i = 0; i < length; i++)
		there += read_gid(device, port, i, is, its_type);
	while (fixture_read_entry(reply, "ussss", &index, &gid, &type, &netdev, &address) > 0) {
		published++;
		if (!read_gid(device, port, index, is, its_type))
			is[0] = its_type[0] = '\0';
		if (infiniband) /* the file says "IB/RoCE v1" */
			snprintf(its_type, sizeof(its_type), "IB");
		if (streq(its_type, "IB/RoCE v1"))
			snprintf(its_type, sizeof(its_type), "RoCE v1");
		gid_netdev(device, port, index, 0, its_netdev);
		if (streq(gid, is) && streq(type, its_type) && streq(netdev, its_netdev))
			continue;
		fprintf(r->stream, "GID %u: published %s %s %s, is %s %s %s\n", index, gid, type,
			netdev, is, its_type, its_netdev);
		r->n++;
	}
	if (published != there)
		differs(r, "number of GIDs", published, there);
}

static void compare_port_files(Fixture *f, Report *r, const Object *o, const char *device,
			       uint8_t port)
{
	char layer[32] = "";
	bool infiniband;

	(void)read_line(layer, sizeof(layer), "/sys/class/infiniband/%s/ports/%u/link_layer",
			device, port);
	infiniband = streq(layer, "InfiniBand");
	compare_property(r, o, "DeviceName", device);
	compare_property(r, o, "LinkLayer", infiniband ? "infiniband" : "ethernet");
	compare_state(r, o, device, port, infiniband);
	compare_gids(f, r, o->path, device, port, infiniband);
	compare_number(r, o, "GidTableLength", count_files(device, port, "gids"));
	if (infiniband)
		compare_pkeys(f, r, o->path, device, port, count_files(device, port, "pkeys"));
	else
		compare_netdev(r, o, device, port);
	/* what nobody but verbs can say */
	if (!object_get(o, "Unavailable") || !strstr(object_get(o, "Unavailable"), "MaxMtu ")) {
		fprintf(r->stream, "MaxMtu is not unavailable\n");
		r->n++;
	}
}

static void compare_device_files(Report *r, const Object *o, const Said *said)
{
	char text[80];

	compare_property(r, o, "Name", said->name);
	compare_property(r, o, "Type", said->type == 1 ? "smi" : "normal");
	compare_property(r, o, "Parent", said->parent);
	if (read_line(text, sizeof(text), "/sys/class/infiniband/%s/fw_ver", said->name))
		compare_property(r, o, "FirmwareVersion", text);
	if (read_line(text, sizeof(text), "/sys/class/infiniband/%s/node_desc", said->name))
		compare_property(r, o, "NodeDescription", text);
}

int compare_unlisted(Fixture *f, Report *r, uint32_t index, const char *path, uint8_t number)
{
	_cleanup_(objects_done) Objects published = {};
	Said said;
	int error = ask(index, &said);

	if (error < 0)
		return error;
	if (!objects_read_one(f, path, &published)) {
		fprintf(r->stream, "not published\n");
		r->n++;
		return 0;
	}
	/* Look at this first: a port that hangs would not let the files be read. */
	compare_property(r, published.objects, "Stale", "no");
	if (r->n > 0)
		fprintf(r->stream, "LastError: %s\n", object_get(published.objects, "LastError"));
	else if (number)
		compare_port_files(f, r, published.objects, said.name, number);
	else
		compare_device_files(r, published.objects, &said);
	return 0;
}
