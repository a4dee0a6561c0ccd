/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Answers for the devices of hung.h in the place of rdmad-query. It starts as that does: with
 * libibverbs and its providers, which make most of the time that the start takes, and with the
 * wall. On a machine without RDMA libibverbs would not load them.
 */

#include <dlfcn.h>
#include <glob.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "hung.h"
#include "nursery.h"
#include "query-context.h"
#include "query-wall.h"
#include "wire.h"

#define PROVIDERS "/usr/lib/*/libibverbs/*.so"

static HungState *state;

/* What an adapter of InfiniBand says, so that rdmad finds nothing wrong with it. */
static void make_device(uint32_t n, DeviceSnapshot *ret)
{
	ChardevEntry node = {.major = 231, .minor = 192 + n, .class = "verbs"};
	AttrText text;
	AttrPath path;

	snprintf(node.path, sizeof(node.path), "/dev/infiniband/uverbs%u", n);
	ret->tables[DEVICE_TABLE_CHARDEVS] = table_new(&node, 1, sizeof(node));
	mask_set(&ret->supplied, DEVICE_ATTR_chardevs, true);
	snprintf(text, sizeof(text), "node1 mlx5_%u", n);
	DEVICE_SUPPLY_TEXT(ret, node_desc, text);
	snprintf(path, sizeof(path), "/sys/devices/pci0000:00/0000:00:01.0/0000:%02x:%02x.0",
		 n / 32 + 1, n % 32);
	DEVICE_SUPPLY_TEXT(ret, sysfs_path, path);
	DEVICE_SUPPLY_TEXT(ret, pci_address, strrchr(path, '/') + 1);
	DEVICE_SUPPLY_TEXT(ret, driver, "mlx5_core");
	DEVICE_SUPPLY_TEXT(ret, fw_ver, "1.2.3");
	DEVICE_SUPPLY_TEXT(ret, hca_type, "MT4129");
	DEVICE_SUPPLY_TEXT(ret, board_id, "MT_0000000838");
}

static void make_port(uint32_t n, PortSnapshot *ret)
{
	const PkeyEntry pkey = {.index = 0, .pkey = 0xffff};
	GidEntry gid = {.gid = {0xfe, 0x80, [12] = (uint8_t)(n >> 8), [13] = (uint8_t)n}};
	AttrText text;

	snprintf(text, sizeof(text), "ib%u", n);
	PORT_SUPPLY_TEXT(ret, netdev, text);
	PORT_SUPPLY(ret, link_layer, 1);
	PORT_SUPPLY(ret, state, 4);
	PORT_SUPPLY(ret, phys_state, 5);
	PORT_SUPPLY(ret, max_mtu, 5);
	PORT_SUPPLY(ret, active_mtu, 5);
	PORT_SUPPLY(ret, active_width, 2);
	PORT_SUPPLY(ret, active_speed, 128);
	PORT_SUPPLY(ret, sm_lid, 1);
	PORT_SUPPLY(ret, lid, n > state->n_hung ? state->lid[n - 1 - state->n_hung] : 1);
	ret->tables[PORT_TABLE_PKEYS] = table_new(&pkey, 1, sizeof(pkey));
	mask_set(&ret->supplied, PORT_ATTR_pkeys, true);
	ret->tables[PORT_TABLE_GIDS] = table_new(&gid, 1, sizeof(gid));
	mask_set(&ret->supplied, PORT_ATTR_gids, true);
}

static void answer(const Query *q)
{
	WireMessage end = {.end = {.header = wire_header(WIRE_END, q->id, q->device, 0)}};
	static WirePacket packet;
	DeviceSnapshot d = {};
	PortSnapshot p = {.parts = q->parts};
	int r = 0;

	make_device(q->device, &d);
	make_port(q->device, &p);
	if (q->attributes)
		r = wire_put_device(3, &packet, q->id, q->device, &d);
	if (r >= 0 && port_set_has(&q->ports, 1))
		r = wire_put_port(3, &packet, q->id, q->device, 1, 0, &p);
	if (r >= 0)
		r = wire_put(3, &packet, &end);
	if (r < 0 || wire_flush(3, &packet) < 0)
		_exit(0);
	device_snapshot_done(&d);
	port_snapshot_done(&p);
}

int main(int argc, char *argv[])
{
	Contexts *contexts;
	const char *why = NULL;
	WireMessage m;
	glob_t found;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	state = hung_state();
	if (!state || contexts_new(&contexts) < 0)
		return EXIT_FAILURE;
	if (glob(PROVIDERS, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			dlopen(found.gl_pathv[i], RTLD_NOW);
	if (streq(argv[argc - 1], "--nursery")) {
		int fd;

		wall_prepare();
		wall_put_on(true);
		fd = nursery_serve(3);
		if (fd <= 0)
			return 0;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fd, 3);
	}
	wall_put_on(false);
	while (wire_receive(3, &m, &why) > 0) {
		if (m.header.type != WIRE_QUERY)
			continue;
		while (m.query.query.device <= state->n_hung && state->hang)
			syscall(SYS_futex, &state->hang, FUTEX_WAIT, 1, NULL, NULL, 0);
		answer(&m.query.query);
	}
	return 0;
}
