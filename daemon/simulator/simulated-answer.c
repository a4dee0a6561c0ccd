/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "simulated-answer.h"

#include "row-set.h"
#include "simulated-counters.h"

void simulated_answer_enumeration(const SimulatedDevice *d, DeviceSnapshot *ret)
{
	static const DeviceAttr rows[] = {
		DEVICE_ATTR_index,	DEVICE_ATTR_name,	  DEVICE_ATTR_node_type,
		DEVICE_ATTR_port_count, DEVICE_ATTR_node_guid,	  DEVICE_ATTR_sys_image_guid,
		DEVICE_ATTR_fw_ver,	DEVICE_ATTR_dev_protocol, DEVICE_ATTR_dev_type,
		DEVICE_ATTR_parent,	DEVICE_ATTR_cap_flags,
	};

	*ret = (DeviceSnapshot){};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const Attribute *row = &device_attributes[rows[i]];

		bool is_there = attr_copy(row, &ret->values, &d->now.values) == 0 &&
				mask_has(&d->now.supplied, rows[i]);

		mask_set(&ret->supplied, rows[i], is_there);
	}
}

void simulated_answer_device(const SimulatedDevice *d, DeviceSnapshot *ret)
{
	*ret = d->now;
	texts_hold(ret->values.texts);
	for (DeviceTable t = 0; t < _DEVICE_TABLE_MAX; t++)
		ret->tables[t] = table_copy(d->now.tables[t]);
}

/* Whether the row is one that the kernel reports of the network interface of a port, by netlink. */
static _always_inline_ bool is_of_netdev(const Attribute *a)
{
	return (a->source == SOURCE_RTNL && a->type != ATTR_VFS) || a->source == SOURCE_DCB ||
	       a->source == SOURCE_ETHTOOL;
}

static _always_inline_ bool is_of_verbs(const Attribute *a)
{
	return a->source == SOURCE_VERBS || a->source == SOURCE_DV;
}

/* Makes S a snapshot that does not supply ROWS. */
static void drop_rows(PortSnapshot *s, AttrMask rows)
{
	MASK_FOREACH(a, mask_and(rows, s->supplied))
	attr_clear(&port_attributes[a], &s->values);
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++)
		if (mask_has(&rows, port_table_attr(t)))
			s->tables[t] = NULL;
	s->supplied = mask_without(s->supplied, rows);
}

/* Leaves out of S, a copy of what P is, what a query of PARTS does not bring. */
static void leave_parts(PortSnapshot *s, const SimulatedPort *p, unsigned int parts)
{
	static const PortAttr netdev[] = {PORT_ATTR_netdev, PORT_ATTR_ifindex,
					  PORT_ATTR_netdev_speed};
	/* as rdmad-query does of a device that is held open */
	unsigned int read =
		READ_NEIGHBOR | (parts == READ_LINKS ? READ_LINKS | READ_VERBS | READ_GIDS : parts);
	const AttrMask module = mask_and(s->supplied, port_rows_of(READ_CABLE));
	AttrMask missing = mask_or(port_rows_of(READ_ALL & ~read), port_rows(attr_is_reading));

	if (p->error)
		missing = mask_or(missing, port_rows(is_of_verbs));
	if (!p->now.values.ifindex) {
		missing = mask_or(missing, port_rows(is_of_netdev));
		for (size_t i = 0; i < ARRAY_SIZE(netdev); i++)
			mask_set(&missing, netdev[i], true);
	}
	drop_rows(s, missing);
	s->parts = read | (mask_is_empty(&module) ? 0 : READ_CABLE);
}

int simulated_answer_port(SimulatedPort *p, unsigned int parts, PortSnapshot *ret)
{
	int error = p->error;

	*ret = p->now;
	texts_hold(ret->values.texts);
	/* a record says itself which parts are known */
	if (p->protocol != PROTOCOL_UNKNOWN)
		leave_parts(ret, p, parts);
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++) {
		const Table *table = ret->tables[t];

		ret->tables[t] = table_copy(table);
		/* there is no memory: the table is not supplied, as it is not empty */
		if (table && !ret->tables[t])
			mask_set(&ret->supplied, port_table_attr(t), false);
	}
	if (p->error_count && --p->error_count == 0)
		p->error = 0;
	return error;
}

int simulated_answer_counters(SimulatedPort *p, bool far, PortSnapshot *ret)
{
	int r;

	*ret = (PortSnapshot){};
	r = simulated_counters_read(p, far, ++p->n_counted[far], &ret->tables[PORT_TABLE_COUNTERS]);
	mask_set(&ret->supplied, PORT_ATTR_counters, r == 0);
	return r;
}

int simulated_answer_table(const SimulatedPort *p, PortTable t, PortSnapshot *ret)
{
	*ret = (PortSnapshot){};
	ret->tables[t] = table_copy(p->now.tables[t]);
	mask_set(&ret->supplied, port_table_attr(t), true);
	return p->now.tables[t] && !ret->tables[t] ? -ENOMEM : 0;
}
