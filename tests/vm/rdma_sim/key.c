// SPDX-License-Identifier: GPL-2.0-only
/*
 * The keys of "set": one row each. Parsing yields an assignment that has
 * touched nothing; applying one cannot fail. That is what makes "set" atomic.
 */
#include <linux/err.h>
#include <linux/inet.h>
#include <linux/seq_file.h>

#include "rdma_sim.h"

enum key_kind {
	KEY_NUMBER,
	KEY_GID_LEN,		/* a number, at most the table's size */
	KEY_PKEY_LEN,
	KEY_GID,		/* "gid.N" */
	KEY_PKEY,		/* "pkey.N" */
	KEY_MODULE,		/* "module.N": the bytes from 8 * N on, as a number */
	KEY_TEXT,		/* at most so many bytes */
};

struct sim_key {
	const char *name;
	enum key_kind kind;
	enum sim_driver driver;	/* other than SIM_DRIVER_PLAIN: only for this one */
	bool of_mads;		/* only for ports that have them */
	u16 offset;		/* in struct sim_port */
	u8 size;
	u64 max;
};

#define FIELD(field) \
	.offset = offsetof(struct sim_port, field), .size = sizeof_field(struct sim_port, field)
#define KEY_MAX(field) (U64_MAX >> (64 - 8 * sizeof_field(struct sim_port, field)))
#define NUMBER(name_, field, max_) { .name = name_, FIELD(field), .max = max_ }
#define ATTR(field) { .name = #field, FIELD(attr.field), .max = KEY_MAX(attr.field) }
#define MLX5(name_, field) \
	{ .name = "mlx5." name_, FIELD(mlx5.field), .max = KEY_MAX(mlx5.field), \
	  .driver = SIM_DRIVER_MLX5 }
#define FAR(field, kind_, max_) \
	{ .name = "far." #field, .kind = kind_, FIELD(far.field), .max = max_, .of_mads = true }
#define HBL(field) \
	{ .name = "hbl." #field, FIELD(hbl.field), .max = KEY_MAX(hbl.field), \
	  .driver = SIM_DRIVER_HBL }

static const struct sim_key keys[] = {
	/* These reach user space as 8 bits. Nonsense values are welcome. */
	NUMBER("state", attr.state, U8_MAX),
	NUMBER("max_mtu", attr.max_mtu, U8_MAX),
	NUMBER("active_mtu", attr.active_mtu, U8_MAX),
	ATTR(phys_state),
	ATTR(lid),
	ATTR(lmc),
	ATTR(sm_lid),
	ATTR(sm_sl),
	ATTR(active_width),
	ATTR(active_speed),
	ATTR(port_cap_flags),
	ATTR(port_cap_flags2),
	ATTR(max_msg_sz),
	ATTR(phys_mtu),
	ATTR(bad_pkey_cntr),
	ATTR(qkey_viol_cntr),
	ATTR(max_vl_num),
	ATTR(subnet_timeout),
	ATTR(init_type_reply),
	ATTR(subnet_prefix),
	NUMBER("port_speed", port_speed, U64_MAX),
	NUMBER("ip_gids", ip_gids, 1),
	NUMBER("dcb_trust", dcb_trust, U32_MAX),
	NUMBER("phy_reason", phy.state, U8_MAX),
	NUMBER("phy_detail", phy.substate, U8_MAX),
	NUMBER("phy_fec", phy.fec, U8_MAX),
	NUMBER("phy_modes", phy.modes, U64_MAX),
	NUMBER("phy_advertised", phy.advertised, U64_MAX),
	NUMBER("phy_partner", phy.partner, U64_MAX),
	NUMBER("phy_speed", phy.speed, U32_MAX),
	NUMBER("phy_downs", phy.downs, U32_MAX),
	NUMBER("phy_corrected", phy.corrected, U64_MAX),
	NUMBER("phy_uncorrectable", phy.uncorrectable, U64_MAX),
	NUMBER("phy_corrected_bits", phy.corrected_bits, U64_MAX),
	NUMBER("phy_rx_pauses", phy.rx_pauses, U64_MAX),
	NUMBER("phy_tx_controls", phy.tx_controls, U64_MAX),
	NUMBER("phy_rx_controls", phy.rx_controls, U64_MAX),
	NUMBER("module_error", phy.module_error, MAX_ERRNO),
	NUMBER("module_reads", phy.module_reads, U32_MAX),
	{ .name = "gid_tbl_len", .kind = KEY_GID_LEN, FIELD(attr.gid_tbl_len),
	  .max = SIM_MAX_GIDS },
	{ .name = "pkey_tbl_len", .kind = KEY_PKEY_LEN, FIELD(attr.pkey_tbl_len),
	  .max = SIM_MAX_PKEYS },
	{ .name = "gid", .kind = KEY_GID },
	{ .name = "pkey", .kind = KEY_PKEY, .max = U16_MAX },
	{ .name = "module", .kind = KEY_MODULE, .max = U64_MAX },

#define X(id) NUMBER("hw." #id, hw[SIM_HW_##id], U64_MAX),
	SIM_HW_COUNTERS(X)
	SIM_HW_OPTIONAL(X)
#undef X
	/* What also has an extended field may grow to 64 bits. */
#define X(id, bits, offset_, ext_offset) \
	NUMBER("pma." #id, pma[SIM_PMA_##id], (ext_offset) ? U64_MAX : BIT_ULL(bits) - 1),
	SIM_PMA_COUNTERS(X)
#undef X

	FAR(guid, KEY_NUMBER, U64_MAX),
	FAR(system, KEY_NUMBER, U64_MAX),
	FAR(type, KEY_NUMBER, U8_MAX),
	FAR(port, KEY_NUMBER, U8_MAX),
	FAR(lid, KEY_NUMBER, U16_MAX),
	FAR(widths, KEY_NUMBER, U8_MAX),
	FAR(speeds, KEY_NUMBER, 0x1ff),
	FAR(desc, KEY_TEXT, IB_DEVICE_NODE_DESC_MAX),
#define X(id, bits, offset_, ext_offset) \
	{ .name = "far." #id, FIELD(far.pma[SIM_PMA_##id]), .of_mads = true, \
	  .max = (ext_offset) ? U64_MAX : BIT_ULL(bits) - 1 },
	SIM_PMA_COUNTERS(X)
#undef X

	MLX5("flags", flags),
	MLX5("vport", vport),
	MLX5("vport_vhca_id", vport_vhca_id),
	MLX5("esw_owner_vhca_id", esw_owner_vhca_id),
	MLX5("icm_rx", vport_steering_icm_rx),
	MLX5("icm_tx", vport_steering_icm_tx),
	MLX5("reg_c0_value", reg_c0.value),
	MLX5("reg_c0_mask", reg_c0.mask),

	HBL(max_num_of_qps),
	HBL(num_allocated_qps),
	HBL(max_allocated_qp_num),
	HBL(max_cq_size),
	HBL(reserved0),
	HBL(reserved1),
	HBL(reserved2),
	HBL(reserved3),
	HBL(reserved4),
	HBL(advanced),
	HBL(max_num_of_cqs),
	HBL(max_num_of_usr_fifos),
	HBL(max_num_of_encaps),
	HBL(nic_macro_idx),
	HBL(nic_phys_port_idx),

	NUMBER("hang", hang, SIM_HANG_MAX),
	NUMBER("delay_ms", delay_ms, 3600000),
	NUMBER("fail", fail, MAX_ERRNO),
	NUMBER("fail_count", fail_count, U32_MAX),
	NUMBER("user_only", user_only, 1),
};

static bool is_table(const struct sim_key *key)
{
	return key->kind == KEY_GID || key->kind == KEY_PKEY || key->kind == KEY_MODULE;
}

static const struct sim_key *find_key(const char *name, u32 *ret_index)
{
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		len = strlen(keys[i].name);
		if (!is_table(&keys[i])) {
			if (!strcmp(name, keys[i].name))
				return &keys[i];
		} else if (!strncmp(name, keys[i].name, len) && name[len] == '.') {
			return kstrtou32(name + len + 1, 10, ret_index) ? NULL : &keys[i];
		}
	}
	return NULL;
}

int sim_key_parse(const char *name, const char *value, struct sim_assignment *ret)
{
	struct sim_assignment a = {};
	const char *end;
	int err;

	a.key = find_key(name, &a.index);
	if (!a.key)
		return -EINVAL;
	a.text = value;
	if (a.key->kind == KEY_TEXT) {
		if (strlen(value) > a.key->max)
			return -ERANGE;
	} else if (a.key->kind == KEY_GID) {
		if (!in6_pton(value, -1, a.gid.raw, -1, &end) || *end)
			return -EINVAL;
	} else {
		err = kstrtou64(value, 0, &a.value);
		if (err)
			return err;	/* EINVAL or ERANGE */
		if (a.value > a.key->max)
			return -ERANGE;
	}
	*ret = a;
	return 0;
}

const char *sim_key_name(const struct sim_key *key)
{
	return key->name;
}

static bool has_key(const struct sim_port *port, const struct sim_key *key)
{
	if (key->of_mads && !sim_port_has_mads(port))
		return false;
	return key->driver == SIM_DRIVER_PLAIN || key->driver == port->dev->opt.driver;
}

/* Does the assignment fit this port? */
int sim_key_check(const struct sim_port *port, const struct sim_assignment *a)
{
	const struct sim_options *opt = &port->dev->opt;

	if (!has_key(port, a->key))
		return -EOPNOTSUPP;
	switch (a->key->kind) {
	case KEY_NUMBER:
	case KEY_TEXT:
		break;
	case KEY_GID_LEN:	/* ib_core has allocated its tables for these sizes */
		return a->value > opt->gids ? -ERANGE : 0;
	case KEY_PKEY_LEN:
		return a->value > opt->pkeys ? -ERANGE : 0;
	case KEY_GID:
		if (port->link == SIM_LINK_ETH)
			return -EOPNOTSUPP;	/* ib_core makes them from IP addresses */
		return a->index >= opt->gids ? -ERANGE : 0;
	case KEY_PKEY:
		return a->index >= opt->pkeys ? -ERANGE : 0;
	case KEY_MODULE:
		return a->index >= SIM_MODULE_BYTES / 8 ? -ERANGE : 0;
	}
	return 0;
}

void sim_key_apply(struct sim_port *port, const struct sim_assignment *a)
{
	void *field = (void *)port + a->key->offset;

	lockdep_assert_held(&port->dev->lock);
	if (a->key->kind == KEY_GID) {
		port->gids[a->index] = a->gid;
		return;
	}
	if (a->key->kind == KEY_PKEY) {
		port->pkeys[a->index] = a->value;
		return;
	}
	if (a->key->kind == KEY_MODULE) {
		__be64 bytes = cpu_to_be64(a->value);

		memcpy(&port->phy.module[8 * a->index], &bytes, sizeof(bytes));
		return;
	}
	if (a->key->kind == KEY_TEXT) {
		strscpy(field, a->text, a->key->size);
		return;
	}
	switch (a->key->size) {
	case 1:
		*(u8 *)field = a->value;
		break;
	case 2:
		*(u16 *)field = a->value;
		break;
	case 4:
		*(u32 *)field = a->value;
		break;
	case 8:
		*(u64 *)field = a->value;
		break;
	}
}

static u64 read_number(const struct sim_port *port, const struct sim_key *key)
{
	const void *field = (const void *)port + key->offset;

	switch (key->size) {
	case 1:
		return *(const u8 *)field;
	case 2:
		return *(const u16 *)field;
	case 4:
		return *(const u32 *)field;
	default:
		return *(const u64 *)field;
	}
}

/* Every key with its value, in the form that "set" takes; empty table entries are left out. */
void sim_keys_show(struct seq_file *m, const struct sim_port *port)
{
	const struct sim_options *opt = &port->dev->opt;
	u32 i, n;

	lockdep_assert_held(&port->dev->lock);
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!has_key(port, &keys[i]))
			continue;
		if (keys[i].kind == KEY_GID) {
			for (n = 0; n < opt->gids; n++)
				if (memchr_inv(port->gids[n].raw, 0, sizeof(union ib_gid)))
					seq_printf(m, " gid.%u=%pI6c", n, port->gids[n].raw);
		} else if (keys[i].kind == KEY_PKEY) {
			for (n = 0; n < opt->pkeys; n++)
				if (port->pkeys[n])
					seq_printf(m, " pkey.%u=0x%04x", n, port->pkeys[n]);
		} else if (keys[i].kind == KEY_MODULE) {
			for (n = 0; n < SIM_MODULE_BYTES / 8; n++)
				if (memchr_inv(&port->phy.module[8 * n], 0, 8))
					seq_printf(m, " module.%u=0x%*phN", n, 8,
						   &port->phy.module[8 * n]);
		} else if (keys[i].kind == KEY_TEXT) {
			seq_printf(m, " %s=%s", keys[i].name, (const char *)port + keys[i].offset);
		} else {
			seq_printf(m, " %s=%llu", keys[i].name, read_number(port, &keys[i]));
		}
	}
}
