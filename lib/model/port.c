/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "port.h"

#include "bond.h"
#include "decode.h"
#include "row-set.h"

void port_snapshot_done(PortSnapshot *s)
{
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++)
		table_free(s->tables[t]);
	texts_release(s->values.texts);
	*s = (PortSnapshot){};
}

void device_snapshot_done(DeviceSnapshot *s)
{
	for (DeviceTable t = 0; t < _DEVICE_TABLE_MAX; t++)
		table_free(s->tables[t]);
	texts_release(s->values.texts);
	*s = (DeviceSnapshot){};
}

void device_array_free(DeviceSnapshot *devices, size_t n)
{
	for (size_t i = 0; i < n; i++)
		device_snapshot_done(&devices[i]);
	free(devices);
}

uint32_t device_first_port(const DeviceSnapshot *d)
{
	return d->values.node_type == NODE_TYPE_SWITCH ? 0 : 1;
}

static bool is_infiniband(uint32_t protocol)
{
	return protocol == PROTOCOL_INFINIBAND || protocol == PROTOCOL_OPA;
}

/* Whether the table whose size is row A has no entries. */
static bool has_no(const PortSnapshot *s, PortAttr a)
{
	return mask_has(&s->supplied, a) && attr_get_raw(&port_attributes[a], &s->values) == 0;
}

static uint32_t derive_protocol(const PortSnapshot *s, const DeviceSnapshot *device)
{
	const PortValues *v = &s->values;
	uint32_t node_type = device->values.node_type;

	if (node_type == NODE_TYPE_USNIC || node_type == NODE_TYPE_USNIC_UDP)
		return PROTOCOL_USNIC;
	if (node_type == NODE_TYPE_RNIC)
		return PROTOCOL_IWARP;
	/* Before Linux 6.14 ports of mana seem to be of InfiniBand, but the kernel names no
	 * protocol and they have no tables: mana_ib_query_port() and mana_ib_get_port_immutable()
	 * in its drivers/infiniband/hw/mana/main.c. */
	if (device->values.dev_protocol == PROTOCOL_UNKNOWN && has_no(s, PORT_ATTR_gid_tbl_len) &&
	    has_no(s, PORT_ATTR_pkey_tbl_len))
		return PROTOCOL_RAW_PACKET;
	/* Without GIDs there is no RoCE: the representors of an embedded switch, and devices whose
	 * RoCE is switched off. */
	if (v->link_layer == LINK_LAYER_ETHERNET)
		return has_no(s, PORT_ATTR_gid_tbl_len) ? PROTOCOL_RAW_PACKET : PROTOCOL_ROCE;
	/* The kernel names the protocol of the first port only; Omni-Path devices have one kind of
	 * port. */
	if (device->values.dev_protocol == PROTOCOL_OPA)
		return PROTOCOL_OPA;
	/* Libraries older than the field say "unspecified" of an InfiniBand port. EFA says it too,
	 * but its node type is unspecified as well. */
	if (v->link_layer == LINK_LAYER_INFINIBAND ||
	    (v->link_layer == LINK_LAYER_UNSPECIFIED && node_type != NODE_TYPE_UNSPECIFIED))
		return PROTOCOL_INFINIBAND;
	return PROTOCOL_UNKNOWN;
}

/* In verbs this bit says that GIDs are made of IP addresses. In what a port of InfiniBand announces
 * it has another meaning: it is IsOtherLocalChangesNoticeSupported. */
#define CAP_BIT_26 (1U << 26)

/* On Ethernet two bits of the mask mean something: communication management and IP based GIDs. rxe
 * (seen on 6.12) also sets 1 << 23, which would read as boot management. On InfiniBand, what the
 * port announces stands for what verbs would say of it. */
static void derive_capabilities(PortSnapshot *s)
{
	bool infiniband = is_infiniband(s->values.protocol);
	bool announced = infiniband && mask_has(&s->supplied, PORT_ATTR_cap_mask);
	uint64_t bits;

	if (mask_has(&s->supplied, PORT_ATTR_port_cap_flags))
		bits = s->values.port_cap_flags & (infiniband ? UINT32_MAX : 1U << 16 | CAP_BIT_26);
	else if (announced)
		bits = (uint32_t)s->values.cap_mask & ~CAP_BIT_26;
	else
		return;
	if (announced && s->values.cap_mask & CAP_BIT_26)
		bits |= UINT64_C(1) << CAPABILITY_OTHER_LOCAL_CHANGES;
	PORT_SUPPLY(s, capabilities, bits);
}

static void derive_bond(PortSnapshot *s)
{
	uint64_t all, active;

	if (!mask_has(&s->supplied, PORT_ATTR_bond_members))
		return;
	bond_rates(s->tables[PORT_TABLE_BOND_MEMBERS], TEXT_OF(&s->values, bond_mode), &all,
		   &active);
	PORT_SUPPLY(s, bond_rate, all);
	PORT_SUPPLY(s, bond_active_rate, active);
}

static void supply_rate(PortSnapshot *s, uint64_t rate, uint64_t data, AttrRateSource source)
{
	PORT_SUPPLY(s, rate, rate);
	PORT_SUPPLY(s, data_rate, data);
	PORT_SUPPLY(s, rate_source, source);
}

/*
 * On Ethernet the codes of width and speed are what fits best: 1 Gb/s is SDR there, and a speed
 * that the driver does not know may be any code. So a speed that is a number comes first, and of
 * these the one that knows of a LAG. A code that must do after all counts without the encoding of
 * InfiniBand: 10 Gb/s of Ethernet are 10 Gb/s of data.
 */
static bool derive_ethernet_rate(PortSnapshot *s, const DeviceSnapshot *device)
{
	const PortValues *v = &s->values;
	bool is_lag_port = mask_has(&device->supplied, DEVICE_ATTR_num_lag_ports) &&
			   device->values.num_lag_ports > 1 &&
			   mask_has(&s->supplied, PORT_ATTR_netdev_master) &&
			   *TEXT_OF(v, netdev_master);

	if (v->link_layer != LINK_LAYER_ETHERNET)
		return false;
	if (mask_has(&s->supplied, PORT_ATTR_port_speed) && v->port_speed)
		supply_rate(s, v->port_speed, v->port_speed, RATE_SOURCE_EFFECTIVE);
	else if (is_lag_port && mask_has(&s->supplied, PORT_ATTR_bond_active_rate) &&
		 v->bond_active_rate)
		supply_rate(s, v->bond_active_rate, v->bond_active_rate, RATE_SOURCE_BOND);
	else if (mask_has(&s->supplied, PORT_ATTR_netdev_speed) && v->netdev_speed)
		supply_rate(s, v->netdev_speed, v->netdev_speed,
			    is_lag_port ? RATE_SOURCE_LAG_PORT : RATE_SOURCE_NETDEV);
	else
		return false;
	return true;
}

/* Whether the lanes at the speed LANE make something else than RATE. */
static bool contradicts(const PortValues *v, uint64_t lane, uint64_t rate)
{
	uint32_t lanes = decode_number(ATTR_WIDTH, v->active_width);

	return lanes && lanes * lane != rate;
}

/* Omni-Path has lanes of 12.5 Gb/s, for which there is no code: its driver says FDR. */
#define OPA_SLOW_LANE UINT64_C(12500000000)

static bool is_slow_opa(const PortValues *v)
{
	return v->protocol == PROTOCOL_OPA && v->link_speed == SPEED_FDR;
}

static void derive_rate(PortSnapshot *s, const DeviceSnapshot *device)
{
	PortValues *v = &s->values;
	uint64_t signalling, data;
	unsigned int lanes = decode_number(ATTR_WIDTH, v->active_width);
	bool is_speed_known = mask_has(&s->supplied, PORT_ATTR_active_speed);

	if (is_speed_known)
		PORT_SUPPLY(s, link_speed,
			    mask_has(&s->supplied, PORT_ATTR_active_speed_ex) && v->active_speed_ex
				    ? v->active_speed_ex
				    : v->active_speed);
	if (derive_ethernet_rate(s, device) || !is_speed_known ||
	    !mask_has(&s->supplied, PORT_ATTR_active_width) || lanes == 0 ||
	    !decode_speed(v->link_speed, &signalling, &data))
		return;
	if (v->link_layer == LINK_LAYER_ETHERNET)
		data = signalling;
	if (is_slow_opa(v))
		signalling = data = OPA_SLOW_LANE;
	supply_rate(s, lanes * signalling, lanes * data, RATE_SOURCE_LINK);
}

/*
 * The rows that are supplied and that nobody has measured. For an interface whose speed is unknown,
 * or at most 1 Gb/s, the kernel says one lane of SDR: ib_get_eth_speed() in its
 * drivers/infiniband/core/verbs.c. For a speed of Ethernet that no code stands for, it says the
 * code of another one.
 */
static AttrMask guessed_rows(const PortSnapshot *s)
{
	static const PortAttr speeds[] = {PORT_ATTR_active_width, PORT_ATTR_link_speed,
					  PORT_ATTR_rate, PORT_ATTR_data_rate,
					  PORT_ATTR_rate_source};
	const PortValues *v = &s->values;
	uint64_t netdev = mask_has(&s->supplied, PORT_ATTR_netdev_speed) ? v->netdev_speed : 0;
	uint64_t effective = mask_has(&s->supplied, PORT_ATTR_port_speed) ? v->port_speed : 0;
	uint64_t signalling, data;
	AttrMask guessed = {};

	if (mask_has(&s->supplied, PORT_ATTR_link_speed) && is_slow_opa(v))
		mask_set(&guessed, PORT_ATTR_link_speed, true);
	if (v->link_layer != LINK_LAYER_ETHERNET ||
	    !decode_speed(v->link_speed, &signalling, &data))
		return guessed;
	if (netdev || effective)
		mask_set(&guessed, PORT_ATTR_link_speed,
			 contradicts(v, signalling, netdev) &&
				 contradicts(v, signalling, effective));
	else if (v->link_speed == SPEED_SDR && decode_number(ATTR_WIDTH, v->active_width) == 1)
		for (size_t i = 0; i < ARRAY_SIZE(speeds); i++)
			mask_set(&guessed, speeds[i], true);
	return mask_and(guessed, s->supplied);
}

static void derive_port_guid(PortSnapshot *s)
{
	if (!mask_has(&s->supplied, PORT_ATTR_gids))
		return;
	TABLE_FOREACH(GidEntry, e, s->tables[PORT_TABLE_GIDS]) {
		uint64_t guid = 0;

		if (e->index != 0)
			continue;
		for (unsigned int i = 8; i < 16; i++)
			guid = guid << 8 | e->gid[i];
		PORT_SUPPLY(s, port_guid, guid);
	}
}

/* Who connects two InfiniBand ports takes the first GID of each. */
static void derive_gid_index(PortSnapshot *s)
{
	const GidEntry *best;

	if (s->values.protocol != PROTOCOL_ROCE || !mask_has(&s->supplied, PORT_ATTR_gids))
		return;
	best = port_best_gid(s);
	if (best)
		PORT_SUPPLY(s, gid_index, best->index);
}

bool port_can_be_rail(const PortSnapshot *s, const DeviceSnapshot *device)
{
	return mask_has(&device->valid, DEVICE_ATTR_pci_address) &&
	       device->values.dev_type != DEVICE_TYPE_SMI &&
	       s->values.protocol != PROTOCOL_RAW_PACKET;
}

static void derive_rail(PortSnapshot *s, const DeviceSnapshot *device)
{
	/* before the port was read its device may not have been read */
	if (s->parts && !port_can_be_rail(s, device))
		s->rail = (PortRail){.known = RAIL_NONE};
	if (s->rail.known != RAIL_NUMBERED)
		return;
	PORT_SUPPLY(s, rail, s->rail.number);
	PORT_SUPPLY(s, rail_source, s->rail.source);
}

/* The interfaces of ROWS, which are rows of TABLE. */
static unsigned int interfaces_of(const Attribute *table, AttrMask rows)
{
	unsigned int interfaces = 0;

	MASK_FOREACH(a, rows)
	interfaces |= 1U << table[a].interface;
	return interfaces;
}

unsigned int port_interfaces(const PortSnapshot *s)
{
	/* These interfaces apply if their source said anything, an error too. */
	AttrMask said =
		mask_and(mask_or(s->supplied, s->unanswered), port_rows(row_brings_interface));
	unsigned int interfaces = 1U << INTERFACE_PORT | interfaces_of(port_attributes, said);

	if (s->measured.once)
		interfaces |= interfaces_of(port_attributes, port_rows(row_is_measured));
	if (!mask_has(&s->supplied, PORT_ATTR_protocol))
		return interfaces;
	if (is_infiniband(s->values.protocol))
		interfaces |= 1U << INTERFACE_INFINIBAND | 1U << INTERFACE_NEIGHBOR;
	else if (s->values.protocol != PROTOCOL_UNKNOWN)
		interfaces |=
			1U << INTERFACE_ETHERNET | 1U << INTERFACE_NEIGHBOR | 1U << INTERFACE_CABLE;
	return interfaces;
}

unsigned int device_interfaces(const DeviceSnapshot *s)
{
	AttrMask said =
		mask_and(mask_or(s->supplied, s->unanswered), device_rows(row_brings_interface));

	return 1U << INTERFACE_DEVICE | interfaces_of(device_attributes, said);
}

static const Unavailable *because(UnavailableCode code)
{
	return &unavailable_rows[code];
}

/* Why row A has no value by the rule of its validity; NULL if it has one. */
static const Unavailable *broken_rule(const Attribute *a, const void *values, uint32_t state)
{
	AttrValue v;

	switch (a->valid) {
	case VALID_ALWAYS:
		break;
	case VALID_LINK_UP:
		if (state < PORT_STATE_INIT)
			return because(UNAVAILABLE_LINK_DOWN);
		break;
	case VALID_CONFIGURED:
		if (!decode_state_meets(state, PORT_STATE_ARMED))
			return because(UNAVAILABLE_NOT_CONFIGURED);
		break;
	case VALID_NETDEV_UP: /* a row of a port */
		if (!((const PortValues *)values)->netdev_up)
			return because(UNAVAILABLE_INTERFACE_DOWN);
		break;
	case VALID_NONZERO:
		if (attr_is_text(a->type) ? attr_get_text(a, values)[0] == '\0'
					  : attr_get_raw(a, values) == 0)
			return because(UNAVAILABLE_NONE);
		break;
	case _VALID_MAX:
		break;
	}
	if (attr_has_range(a->type) && attr_publish(a, values, &v) == -ERANGE)
		return because(UNAVAILABLE_UNKNOWN_CODE);
	return NULL;
}

/* The state for the rules of validity. */
static uint32_t rule_state(const PortSnapshot *s)
{
	return mask_has(&s->unmeasured, PORT_ATTR_state) ? PORT_STATE_ACTIVE : s->values.state;
}

/* The names of network interfaces are the administrator's choice, and the kernel takes names that
 * are no valid text. */
static void sanitize_table(AttrType type, const Table *t)
{
	const TableLayout *l = table_layout(type);

	for (size_t c = 0; t && c < l->n_columns; c++) {
		if (l->columns[c].type != COLUMN_TEXT)
			continue;
		for (size_t i = 0; i < t->n; i++)
			text_sanitize(CONST_CAST(char *, t->entries) + i * l->entry_size +
					      l->columns[c].offset,
				      l->columns[c].size);
	}
}

/* Whether the row may be supplied and not be valid. */
static _always_inline_ bool has_rule(const Attribute *a)
{
	return a->valid != VALID_ALWAYS || attr_has_range(a->type) ||
	       (a->interface != INTERFACE_PORT && a->interface != INTERFACE_DEVICE);
}

/* Those of the rows SUPPLIED of TABLE that are on one of INTERFACES and break no rule. RULES are
 * the rows that have one. */
static AttrMask valid_rows(const Attribute *table, AttrMask supplied, AttrMask rules,
			   unsigned int interfaces, const void *values, uint32_t state)
{
	AttrMask valid = supplied;

	MASK_FOREACH(a, mask_and(supplied, rules))
	if (!(interfaces >> table[a].interface & 1) || broken_rule(&table[a], values, state))
		mask_set(&valid, a, false);
	return valid;
}

void port_derive(PortSnapshot *s, const DeviceSnapshot *device)
{
	const AttrMask core = port_rows(row_is_of_core);

	texts_sanitize(s->values.texts);
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++)
		sanitize_table(port_attributes[port_table_attr(t)].type, s->tables[t]);
	s->supplied = mask_without(s->supplied, port_rows(row_is_derived));
	if (mask_has(&s->supplied, PORT_ATTR_link_layer))
		PORT_SUPPLY(s, protocol, derive_protocol(s, device));
	if (s->values.protocol == PROTOCOL_ROCE) /* its GIDs have them */
		mask_set(&s->supplied, PORT_ATTR_addresses, false);
	derive_capabilities(s);
	derive_bond(s);
	derive_rate(s, device);
	derive_port_guid(s);
	derive_gid_index(s);
	derive_rail(s, device);
	s->valid = mask_or(core,
			   valid_rows(port_attributes, mask_without(s->supplied, core),
				      port_rows(has_rule), port_interfaces(s) | 1U << INTERFACE_RAW,
				      &s->values, rule_state(s)));
	s->valid = mask_without(s->valid, guessed_rows(s));
}

void device_derive(DeviceSnapshot *s)
{
	const AttrMask core = device_rows(row_is_of_core);

	texts_sanitize(s->values.texts);
	for (DeviceTable t = 0; t < _DEVICE_TABLE_MAX; t++)
		sanitize_table(device_attributes[device_table_attr(t)].type, s->tables[t]);
	s->valid = mask_or(core,
			   valid_rows(device_attributes, mask_without(s->supplied, core),
				      device_rows(has_rule), device_interfaces(s), &s->values, 0));
}

/* Whether a change of the row is looked for in the values. */
static _always_inline_ bool is_compared(const Attribute *a)
{
	return attr_is_signalled(a) && a->type != ATTR_UNAVAILABLE;
}

/* The rows of which the values differ, of those BOTH have, which are of TABLE. Tables have no
 * values. */
static AttrMask differing_values(const Attribute *table, AttrMask both, const void *a,
				 const void *b)
{
	AttrMask differ = {};

	MASK_FOREACH(i, both)
	if (!attr_is_equal(&table[i], a, b))
		mask_set(&differ, i, true);
	return differ;
}

AttrMask port_diff(const PortSnapshot *a, const PortSnapshot *b)
{
	const AttrMask compared = port_rows(is_compared);
	AttrMask both = mask_and(mask_and(a->valid, b->valid), compared);
	AttrMask differ = differing_values(port_attributes, both, &a->values, &b->values);

	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++)
		if (mask_has(&both, port_table_attr(t)) && !table_equal(a->tables[t], b->tables[t]))
			mask_set(&differ, port_table_attr(t), true);
	return mask_or(differ, mask_and(mask_xor(a->valid, b->valid), compared));
}

AttrMask device_diff(const DeviceSnapshot *a, const DeviceSnapshot *b)
{
	const AttrMask compared = device_rows(is_compared);
	AttrMask both = mask_and(mask_and(a->valid, b->valid), compared);
	AttrMask differ = differing_values(device_attributes, both, &a->values, &b->values);

	for (DeviceTable t = 0; t < _DEVICE_TABLE_MAX; t++)
		if (mask_has(&both, device_table_attr(t)) &&
		    !table_equal(a->tables[t], b->tables[t]))
			mask_set(&differ, device_table_attr(t), true);
	return mask_or(differ, mask_and(mask_xor(a->valid, b->valid), compared));
}

static const OpenError open_errors[] = {
#define OPEN_ERROR(error, lasts, why) {-(error), lasts, &unavailable_rows[UNAVAILABLE_##why]},
#include "open-errors.def"
#undef OPEN_ERROR
};

const OpenError *open_error_find(int32_t error)
{
	static const OpenError other = {0, false, &unavailable_rows[UNAVAILABLE_CANNOT_OPEN]};

	for (size_t i = 0; i < ARRAY_SIZE(open_errors); i++)
		if (open_errors[i].error == error)
			return &open_errors[i];
	return &other;
}

/* Why something was not read: ERROR is that of the last query, 0 if there was none. */
static const Unavailable *not_read(int32_t error)
{
	return because(error == 0	     ? UNAVAILABLE_NOT_READ
		       : error == -ETIMEDOUT ? UNAVAILABLE_FIRMWARE_TIMEOUT
					     : UNAVAILABLE_QUERY_FAILED);
}

/* Whether ROW cannot be read without verbs because of ERROR, for which verbs could not be asked:
 * what comes from verbs, or is made of that. Direct verbs can name every port of an open device. */
static bool is_of_verbs(const Attribute *row, int32_t error)
{
	return row->source == SOURCE_VERBS || row->source == SOURCE_DERIVED ||
	       (row->source == SOURCE_DV && error != -ERANGE);
}

/* The part that row A comes from, also by way of other rows. */
static unsigned int part_behind(PortAttr a)
{
	if (port_attributes[a].source != SOURCE_DERIVED)
		return port_part_of(a);
	if (a == PORT_ATTR_bond_rate || a == PORT_ATTR_bond_active_rate)
		return READ_LINKS;
	return a == PORT_ATTR_port_guid || a == PORT_ATTR_gid_index ? READ_GIDS : READ_VERBS;
}

static bool has_fec_off(const PortSnapshot *s)
{
	return streq(TEXT_OF(&s->values, fec_mode), "off");
}

/* Why row A, which rdmad measures, has no value. */
static UnavailableCode port_not_measured(const PortSnapshot *s, PortAttr a)
{
	bool is_counted = mask_has(&s->supplied, PORT_ATTR_fec_corrected_bits);

	if (!is_counted && s->values.protocol != PROTOCOL_INFINIBAND)
		return UNAVAILABLE_NOT_REPORTED;
	if (is_counted && has_fec_off(s))
		return UNAVAILABLE_NOT_APPLICABLE;
	/* it is to what corrects them, which nobody names */
	if (a == PORT_ATTR_bit_error_margin && is_counted &&
	    !mask_has(&s->supplied, PORT_ATTR_fec_mode))
		return UNAVAILABLE_NOT_REPORTED;
	if (a == PORT_ATTR_bit_error_margin &&
	    (!is_counted || mask_has(&s->supplied, PORT_ATTR_bit_error_interval)))
		return UNAVAILABLE_NOT_APPLICABLE;
	return !is_counted && s->measured.full ? UNAVAILABLE_COUNTER_FULL : UNAVAILABLE_TOO_EARLY;
}

/* Why row A, which is not supplied, is not. */
static const Unavailable *port_not_supplied(const PortSnapshot *s, PortAttr a)
{
	const Attribute *row = &port_attributes[a];
	unsigned int part = part_behind(a);

	if (mask_has(&s->unmeasured, a))
		return because(UNAVAILABLE_NOT_MEASURED);
	if (row->source == SOURCE_MEASURED)
		return because(port_not_measured(s, a));
	if (a == PORT_ATTR_rail || a == PORT_ATTR_rail_source)
		return s->rail.known ? because(UNAVAILABLE_NOT_APPLICABLE)
				     : not_read(s->query_error);
	if (part == READ_NEIGHBOR && !mask_has(&s->supplied, PORT_ATTR_neighbor_source))
		return s->no_neighbor
			       ? s->no_neighbor
			       : because(is_infiniband(s->values.protocol) ? UNAVAILABLE_NOT_ASKED
									   : UNAVAILABLE_NO_LLDP);
	if (part == READ_CABLE && part & ~s->parts)
		return because(UNAVAILABLE_NEEDS_PERMISSION);
	if (part & ~s->parts)
		return not_read(s->query_error);
	if (a == PORT_ATTR_gid_index && mask_has(&s->supplied, PORT_ATTR_gids))
		return because(s->values.protocol == PROTOCOL_ROCE ? UNAVAILABLE_NONE
								   : UNAVAILABLE_NOT_APPLICABLE);
	if (a == PORT_ATTR_addresses && s->values.protocol == PROTOCOL_ROCE)
		return because(UNAVAILABLE_NOT_APPLICABLE);
	if (s->open_error < 0 && is_of_verbs(row, s->open_error))
		return open_error_find(s->open_error)->why;
	return because(part & s->failed || mask_has(&s->unanswered, a) ? UNAVAILABLE_QUERY_FAILED
								       : UNAVAILABLE_NOT_REPORTED);
}

/* Whether port_not_supplied() says the same of A and of B. */
static bool same_not_supplied(const PortSnapshot *a, const PortSnapshot *b)
{
	const AttrMask others = mask_or(mask_xor(a->supplied, b->supplied),
					mask_or(mask_xor(a->unmeasured, b->unmeasured),
						mask_xor(a->unanswered, b->unanswered)));

	return mask_is_empty(&others) && a->parts == b->parts && a->failed == b->failed &&
	       a->query_error == b->query_error && a->open_error == b->open_error &&
	       a->no_neighbor == b->no_neighbor && a->rail.known == b->rail.known &&
	       a->measured.full == b->measured.full && a->values.protocol == b->values.protocol &&
	       has_fec_off(a) == has_fec_off(b);
}

const Unavailable *port_unavailable(const PortSnapshot *s, PortAttr a)
{
	const Unavailable *why;
	AttrMask guessed;

	if (mask_has(&s->valid, a))
		return NULL;
	if (!mask_has(&s->supplied, a))
		return port_not_supplied(s, a);
	why = broken_rule(&port_attributes[a], &s->values, rule_state(s));
	if (why)
		return why;
	guessed = guessed_rows(s);
	return because(mask_has(&guessed, a) ? UNAVAILABLE_NOT_MEASURED
					     : UNAVAILABLE_NOT_APPLICABLE);
}

static _always_inline_ bool is_property(const Attribute *a)
{
	return a->interface != INTERFACE_RAW;
}

bool port_reasons_differ(const PortSnapshot *a, const PortSnapshot *b)
{
	AttrMask rows = mask_without(port_rows(is_property), mask_and(a->valid, b->valid));
	unsigned int interfaces = port_interfaces(a) | port_interfaces(b);

	if (same_not_supplied(a, b))
		rows = mask_and(rows, a->supplied);
	MASK_FOREACH(i, rows)
	if (interfaces >> port_attributes[i].interface & 1 &&
	    port_unavailable(a, i) != port_unavailable(b, i))
		return true;
	return false;
}

const Unavailable *device_unavailable(const DeviceSnapshot *s, DeviceAttr a)
{
	const Unavailable *why;

	if (mask_has(&s->valid, a))
		return NULL;
	if (mask_has(&s->supplied, a)) {
		why = broken_rule(&device_attributes[a], &s->values, 0);
		return why ? why : because(UNAVAILABLE_NOT_APPLICABLE);
	}
	if (s->is_read && device_attributes[a].source == SOURCE_PCI &&
	    mask_has(&s->valid, DEVICE_ATTR_pci_address))
		return because(UNAVAILABLE_NEEDS_RDMAD_PCI);
	if (!s->is_read)
		return not_read(s->query_error);
	if (s->open_error < 0 && is_of_verbs(&device_attributes[a], s->open_error))
		return open_error_find(s->open_error)->why;
	return because(mask_has(&s->unanswered, a) ? UNAVAILABLE_QUERY_FAILED
						   : UNAVAILABLE_NOT_REPORTED);
}
