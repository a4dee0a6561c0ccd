/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "port.h"

#include "decode.h"

void port_snapshot_done(PortSnapshot *s)
{
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++)
		table_free(s->tables[t]);
	*s = (PortSnapshot){};
}

void device_snapshot_done(DeviceSnapshot *s)
{
	table_free(s->chardevs);
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

static uint32_t derive_protocol(const PortSnapshot *s, const DeviceSnapshot *device)
{
	const PortValues *v = &s->values;
	uint32_t node_type = device->values.node_type;

	if (node_type == NODE_TYPE_USNIC || node_type == NODE_TYPE_USNIC_UDP)
		return PROTOCOL_USNIC;
	if (node_type == NODE_TYPE_RNIC)
		return PROTOCOL_IWARP;
	/* Without GIDs there is no RoCE: the representors of an embedded switch, and devices whose
	 * RoCE is switched off. */
	if (v->link_layer == LINK_LAYER_ETHERNET)
		return mask_has(&s->supplied, PORT_ATTR_gid_tbl_len) && v->gid_tbl_len == 0
			       ? PROTOCOL_RAW_PACKET
			       : PROTOCOL_ROCE;
	/* The kernel names the protocol of the first port only; Omni-Path devices have one kind of
	 * port. */
	if (streq(device->values.dev_protocol, "opa"))
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
static bool derive_ethernet_rate(PortSnapshot *s)
{
	const PortValues *v = &s->values;

	if (v->link_layer != LINK_LAYER_ETHERNET)
		return false;
	if (mask_has(&s->supplied, PORT_ATTR_port_speed) && v->port_speed)
		supply_rate(s, v->port_speed, v->port_speed, RATE_SOURCE_EFFECTIVE);
	else if (mask_has(&s->supplied, PORT_ATTR_netdev_speed) && v->netdev_speed)
		supply_rate(s, v->netdev_speed, v->netdev_speed, RATE_SOURCE_NETDEV);
	else
		return false;
	return true;
}

static void derive_rate(PortSnapshot *s)
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
	if (derive_ethernet_rate(s) || !is_speed_known ||
	    !mask_has(&s->supplied, PORT_ATTR_active_width) || lanes == 0 ||
	    !decode_speed(v->link_speed, &signalling, &data))
		return;
	if (v->link_layer == LINK_LAYER_ETHERNET)
		data = signalling;
	supply_rate(s, lanes * signalling, lanes * data, RATE_SOURCE_LINK);
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

/* The rows that come from direct verbs. */
static const AttrMask port_direct_verbs = {{
#define PORT(field, name, type, unit, interface, class, valid, source, help)                       \
	(SOURCE_##source == SOURCE_DV && PORT_ATTR_##field / 64 == WORD                            \
		 ? UINT64_C(1) << PORT_ATTR_##field % 64                                           \
		 : 0) |
#define WORD 0
#include "port-attributes.def"
	0,
#undef WORD
#define WORD 1
#include "port-attributes.def"
	0,
#undef WORD
#undef PORT
}};

static const AttrMask device_direct_verbs = {{
#define DEVICE(field, name, type, unit, interface, class, valid, source, help)                     \
	(SOURCE_##source == SOURCE_DV && DEVICE_ATTR_##field / 64 == WORD                          \
		 ? UINT64_C(1) << DEVICE_ATTR_##field % 64                                         \
		 : 0) |
#define WORD 0
#include "device-attributes.def"
	0,
#undef WORD
#define WORD 1
#include "device-attributes.def"
	0,
#undef WORD
#undef DEVICE
}};

/* The interfaces of those of ROWS that are in SAID. */
static unsigned int interfaces_of(const Attribute *rows, unsigned int n, const AttrMask *said)
{
	unsigned int interfaces = 0;

	for (unsigned int i = 0; !mask_is_empty(said) && i < n; i++)
		if (mask_has(said, i))
			interfaces |= 1U << rows[i].interface;
	return interfaces;
}

unsigned int port_interfaces(const PortSnapshot *s)
{
	/* The interface of a provider (mlx5, hbl) applies if the provider said anything. */
	const AttrMask said = mask_and(s->supplied, port_direct_verbs);
	unsigned int interfaces =
		1U << INTERFACE_PORT | interfaces_of(port_attributes, _PORT_ATTR_MAX, &said);

	if (!mask_has(&s->supplied, PORT_ATTR_protocol))
		return interfaces;
	if (is_infiniband(s->values.protocol))
		interfaces |= 1U << INTERFACE_INFINIBAND;
	else if (s->values.protocol != PROTOCOL_UNKNOWN)
		interfaces |= 1U << INTERFACE_ETHERNET;
	return interfaces;
}

unsigned int device_interfaces(const DeviceSnapshot *s)
{
	const AttrMask said = mask_and(s->supplied, device_direct_verbs);

	return 1U << INTERFACE_DEVICE | interfaces_of(device_attributes, _DEVICE_ATTR_MAX, &said);
}

/* Which validity rule of row A is broken, as a sentence fragment; NULL if none is. */
static const char *broken_rule(const Attribute *a, const void *values, uint32_t state)
{
	AttrValue v;

	switch (a->valid) {
	case VALID_ALWAYS:
		break;
	case VALID_LINK_UP:
		if (state < PORT_STATE_INIT)
			return "the link is down";
		break;
	case VALID_CONFIGURED:
		if (state != PORT_STATE_ARMED && state != PORT_STATE_ACTIVE)
			return "the subnet manager has not configured the port";
		break;
	case VALID_NETDEV_UP: /* a row of a port */
		if (!((const PortValues *)values)->netdev_up)
			return "the interface is administratively down";
		break;
	case VALID_NONZERO:
		if (attr_is_text(a->type) ? attr_get_text(a, values)[0] == '\0'
					  : attr_get_raw(a, values) == 0)
			return "there is none";
		break;
	case _VALID_MAX:
		break;
	}
	if (a->size && attr_publish(a, values, &v) == -ERANGE)
		return "its code is unknown; see Query";
	return NULL;
}

/* The state for the rules of validity. */
static uint32_t rule_state(const PortSnapshot *s)
{
	return mask_has(&s->unmeasured, PORT_ATTR_state) ? PORT_STATE_ACTIVE : s->values.state;
}

static void sanitize(const Attribute *rows, size_t n, void *values)
{
	for (size_t i = 0; i < n; i++)
		if (attr_is_text(rows[i].type))
			text_sanitize((char *)values + rows[i].offset, rows[i].size);
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

void port_derive(PortSnapshot *s, const DeviceSnapshot *device)
{
	unsigned int interfaces;

	sanitize(port_attributes, _PORT_ATTR_MAX, &s->values);
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++)
		sanitize_table(port_attributes[port_table_attr(t)].type, s->tables[t]);
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++)
		if (port_attributes[a].source == SOURCE_DERIVED)
			mask_set(&s->supplied, a, false);
	if (mask_has(&s->supplied, PORT_ATTR_link_layer))
		PORT_SUPPLY(s, protocol, derive_protocol(s, device));
	derive_capabilities(s);
	derive_rate(s);
	derive_port_guid(s);

	interfaces = port_interfaces(s) | 1U << INTERFACE_RAW;
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++) {
		const Attribute *row = &port_attributes[a];
		bool supplied = mask_has(&s->supplied, a) && (interfaces >> row->interface & 1);

		mask_set(&s->valid, a,
			 row->source == SOURCE_CORE ||
				 (supplied && !broken_rule(row, &s->values, rule_state(s))));
	}
}

void device_derive(DeviceSnapshot *s)
{
	unsigned int interfaces;

	sanitize(device_attributes, _DEVICE_ATTR_MAX, &s->values);
	sanitize_table(ATTR_CHARDEVS, s->chardevs);
	interfaces = device_interfaces(s);
	for (DeviceAttr a = 0; a < _DEVICE_ATTR_MAX; a++) {
		const Attribute *row = &device_attributes[a];
		bool supplied = mask_has(&s->supplied, a) && (interfaces >> row->interface & 1);

		mask_set(&s->valid, a,
			 row->source == SOURCE_CORE ||
				 (supplied && !broken_rule(row, &s->values, 0)));
	}
}

/* Whether the row is published differently in the two. Of a table only the validity is compared. */
static bool row_differs(const Attribute *row, bool valid_a, const void *values_a, bool valid_b,
			const void *values_b)
{
	if (!attr_is_signalled(row) || row->type == ATTR_UNAVAILABLE)
		return false;
	if (valid_a != valid_b)
		return true;
	return valid_a && memcmp((const char *)values_a + row->offset,
				 (const char *)values_b + row->offset, row->size) != 0;
}

AttrMask port_diff(const PortSnapshot *a, const PortSnapshot *b)
{
	AttrMask diff = {};

	for (PortAttr i = 0; i < _PORT_ATTR_MAX; i++) {
		const Attribute *row = &port_attributes[i];
		PortTable t = attr_port_table(row->type);
		bool differs = row_differs(row, mask_has(&a->valid, i), &a->values,
					   mask_has(&b->valid, i), &b->values);

		if (!differs && t < _PORT_TABLE_MAX && mask_has(&a->valid, i))
			differs = !table_equal(a->tables[t], b->tables[t]);
		mask_set(&diff, i, differs);
	}
	return diff;
}

AttrMask device_diff(const DeviceSnapshot *a, const DeviceSnapshot *b)
{
	AttrMask diff = {};

	for (DeviceAttr i = 0; i < _DEVICE_ATTR_MAX; i++) {
		const Attribute *row = &device_attributes[i];
		bool differs = row_differs(row, mask_has(&a->valid, i), &a->values,
					   mask_has(&b->valid, i), &b->values);

		if (!differs && row->type == ATTR_CHARDEVS && mask_has(&a->valid, i))
			differs = !table_equal(a->chardevs, b->chardevs);
		mask_set(&diff, i, differs);
	}
	return diff;
}

static const char *unavailable(const Attribute *row, bool supplied, const void *values,
			       uint32_t state)
{
	const char *why = supplied ? broken_rule(row, values, state) : "not reported";

	return why ? why : "does not apply";
}

static const OpenError open_errors[] = {
#define OPEN_ERROR(error, lasts, text) {-(error), lasts, text},
#include "open-errors.def"
#undef OPEN_ERROR
};

const OpenError *open_error_find(int32_t error)
{
	static const OpenError other = {0, false, "the device cannot be opened"};

	for (size_t i = 0; i < ARRAY_SIZE(open_errors); i++)
		if (open_errors[i].error == error)
			return &open_errors[i];
	return &other;
}

/* Why a row has no value on a port about which verbs could not be asked: what comes from verbs, or
 * is made of that, cannot be read then. Direct verbs can name every port of an open device. */
static const char *not_opened(const Attribute *row, int32_t error)
{
	bool concerned = row->source == SOURCE_VERBS || row->source == SOURCE_DERIVED ||
			 (row->source == SOURCE_DV && error != -ERANGE);

	if (!concerned)
		return "not reported";
	return open_error_find(error)->text;
}

const char *port_unavailable(const PortSnapshot *s, PortAttr a)
{
	if (mask_has(&s->unmeasured, a) && !mask_has(&s->valid, a))
		return "the driver does not measure it";
	if (s->open_error < 0 && !mask_has(&s->supplied, a) && !mask_has(&s->valid, a))
		return not_opened(&port_attributes[a], s->open_error);
	return mask_has(&s->valid, a) ? NULL
				      : unavailable(&port_attributes[a], mask_has(&s->supplied, a),
						    &s->values, rule_state(s));
}

const char *device_unavailable(const DeviceSnapshot *s, DeviceAttr a)
{
	return mask_has(&s->valid, a) ? NULL
				      : unavailable(&device_attributes[a],
						    mask_has(&s->supplied, a), &s->values, 0);
}
