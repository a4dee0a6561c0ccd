/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-verbs.h"

#include <dlfcn.h>

#include "decode.h"
#include "query-ioctl.h"
#include "query-limits.h"

/* ibv_query_gid_table() passes their size in bytes through 16 bits: 2048 and more answer -EINVAL.
 */
#define GIDS_AT_ONCE 2047
/* Room for those that have come since the last time */
#define GIDS_SPARE 16

static int to_errno(int r)
{
	return r > 0 ? -r : r < 0 && errno > 0 ? -errno : r < 0 ? -EIO : 0;
}

int verbs_query_device(struct ibv_context *context, DeviceSnapshot *s, unsigned int *ret_cap_flags)
{
	struct ibv_device_attr_ex a = {};
	/* where the provider or the kernel lacks the extended call, libibverbs makes the old one */
	int r = to_errno(ibv_query_device_ex(context, NULL, &a));

	if (r < 0)
		return r;
	DEVICE_SUPPLY(s, vendor_id, a.orig_attr.vendor_id);
	DEVICE_SUPPLY(s, vendor_part_id, a.orig_attr.vendor_part_id);
	limits_supply(context, &a, s);
	*ret_cap_flags = a.orig_attr.device_cap_flags;
	return 0;
}

/* The speed code without the limit of eight bits; 0 if nobody knows. */
static uint32_t active_speed_ex(struct ibv_context *context, uint32_t port, const VerbsDevice *d,
				const struct ibv_port_attr *a)
{
	uint32_t speed = 0;

#ifdef RDMAD_HAVE_ACTIVE_SPEED_EX
	speed = a->active_speed_ex;
#endif
	/* A library older than the header, or than the kernel. */
	if (speed == 0 && a->active_speed == SPEED_NDR && d->driver_id >= 0)
		(void)ioctl_query_active_speed_ex(context, port, (uint32_t)d->driver_id, &speed);
	return speed;
}

/* The aggregated speed, with rdma-core 62 and drivers that have it. */
static void supply_port_speed(struct ibv_context *context, uint32_t port, PortSnapshot *s)
{
	static int (*query)(struct ibv_context *, uint32_t, uint64_t *);
	static bool looked_up;
	uint64_t speed = 0; /* 100 Mbit/s */

	if (!looked_up)
		*(void **)&query = dlsym(RTLD_DEFAULT, "ibv_query_port_speed");
	looked_up = true;
	if (query && query(context, port, &speed) == 0 && speed < UINT64_MAX / 100000000)
		PORT_SUPPLY(s, port_speed, speed * UINT64_C(100000000));
}

int verbs_query_port(struct ibv_context *context, uint32_t port, VerbsDevice *d, PortSnapshot *s)
{
	/* A library that knows less than the header leaves the rest as it is. */
	struct ibv_port_attr a = {};
	uint32_t speed;
	int r = to_errno(ibv_query_port(context, (uint8_t)port, &a));

	if (r < 0)
		return r;
	PORT_SUPPLY(s, link_layer, a.link_layer);
	PORT_SUPPLY(s, state, (uint32_t)a.state);
	PORT_SUPPLY(s, phys_state, a.phys_state);
	PORT_SUPPLY(s, max_mtu, (uint32_t)a.max_mtu);
	PORT_SUPPLY(s, active_mtu, (uint32_t)a.active_mtu);
	PORT_SUPPLY(s, active_width, a.active_width);
	PORT_SUPPLY(s, active_speed, a.active_speed);
	speed = active_speed_ex(context, port, d, &a);
	if (speed)
		PORT_SUPPLY(s, active_speed_ex, speed);
	supply_port_speed(context, port, s);
	PORT_SUPPLY(s, max_msg_sz, a.max_msg_sz);
	PORT_SUPPLY(s, gid_tbl_len, (uint32_t)MAX(a.gid_tbl_len, 0));
	PORT_SUPPLY(s, pkey_tbl_len, a.pkey_tbl_len);
	PORT_SUPPLY(s, port_cap_flags, a.port_cap_flags);
	/* The command by write() has no room for it. Then nldev may have said it. */
	if (a.port_cap_flags2 || !mask_has(&s->supplied, PORT_ATTR_port_cap_flags2))
		PORT_SUPPLY(s, port_cap_flags2, a.port_cap_flags2);
	else if (s->values.port_cap_flags2)
		d->incomplete = true;
	PORT_SUPPLY(s, flags, a.flags);
	if (!d->opa) {
		PORT_SUPPLY(s, lid, a.lid);
		PORT_SUPPLY(s, sm_lid, a.sm_lid);
	}
	PORT_SUPPLY(s, lmc, a.lmc);
	PORT_SUPPLY(s, sm_sl, a.sm_sl);
	PORT_SUPPLY(s, subnet_timeout, a.subnet_timeout);
	PORT_SUPPLY(s, max_vl_num, a.max_vl_num);
	if (d->cap_flags & IBV_DEVICE_INIT_TYPE)
		PORT_SUPPLY(s, init_type_reply, a.init_type_reply);
	if (d->cap_flags & IBV_DEVICE_BAD_PKEY_CNTR)
		PORT_SUPPLY(s, bad_pkey_cntr, a.bad_pkey_cntr);
	if (d->cap_flags & IBV_DEVICE_BAD_QKEY_CNTR)
		PORT_SUPPLY(s, qkey_viol_cntr, a.qkey_viol_cntr);
	return 0;
}

/* -EINVAL if there are more than ROOM. */
static int read_gids(struct ibv_context *context, size_t room, VerbsGids *ret)
{
	_cleanup_free_ struct ibv_gid_entry *entries = calloc(room, sizeof(*entries));
	ssize_t n;

	if (!entries)
		return -ENOMEM;
	n = ibv_query_gid_table(context, entries, room, 0);
	if (n < 0)
		return (int)n;
	if ((size_t)n > room)
		return -EBADMSG;
	ret->entries = steal_pointer(&entries);
	ret->n = (size_t)n;
	return 0;
}

int verbs_read_gids(struct ibv_context *context, size_t expected, VerbsGids *ret)
{
	size_t room = MIN(expected + GIDS_SPARE, (size_t)GIDS_AT_ONCE);
	int r = read_gids(context, room, ret);

	return r == -EINVAL && room < GIDS_AT_ONCE ? read_gids(context, GIDS_AT_ONCE, ret) : r;
}

int verbs_read_port_gids(struct ibv_context *context, uint32_t port, uint32_t length,
			 VerbsGids *ret)
{
	uint32_t room = MIN(length, TABLE_ENTRIES_MAX);
	_cleanup_free_ struct ibv_gid_entry *entries = calloc(MAX(room, 1U), sizeof(*entries));
	size_t n = 0;

	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < room; i++) {
		int r = to_errno(ibv_query_gid_ex(context, port, i, &entries[n], 0));

		if (r < 0 && r != -ENODATA)
			return r;
		n += r == 0;
	}
	ret->entries = steal_pointer(&entries);
	ret->n = n;
	return 0;
}

static int compare_gids(const void *a, const void *b)
{
	const GidEntry *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

int verbs_gid_table(const VerbsGids *gids, uint32_t port, Table **ret)
{
	static const uint8_t zero[16];
	_cleanup_free_ GidEntry *entries = calloc(MAX(gids->n, (size_t)1), sizeof(*entries));
	size_t n = 0;

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < gids->n; i++) {
		const struct ibv_gid_entry *from = &gids->entries[i];
		GidEntry *e = &entries[n];

		if (from->port_num != port || memcmp(from->gid.raw, zero, sizeof(zero)) == 0)
			continue;
		*e = (GidEntry){.index = from->gid_index,
				.type = from->gid_type, /* IBV_GID_TYPE_* = enum GidType */
				.ifindex = from->ndev_ifindex};
		memcpy(e->gid, from->gid.raw, sizeof(e->gid));
		n++;
	}
	sort(entries, n, sizeof(*entries), compare_gids);
	return table_make(entries, n, sizeof(*entries), ret);
}
