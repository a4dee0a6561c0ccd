/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of those who take a change, in their order. */

#include "decode.h"
#include "manager-private.h"

/* Each sees the change as those before it have left it. */
typedef void (*PortTaker)(Manager *m, PortChange *c);
typedef void (*DeviceTaker)(Manager *m, DeviceChange *c);

/* Marks the other parts that the change puts in doubt. */
static void doubt(_unused_ Manager *m, PortChange *c)
{
	Port *p = c->port;
	Schedule *w = p->device->schedule;

	if (c->cause != CHANGE_ANSWER)
		return;
	schedule_set_read(w, p->number, c->parts);
	/* No event has told of this change. If it was lost, others may have been lost with it. */
	if (c->op == CACHE_CHANGED && !(c->reasons & ~event_reasons_meaning(MEANS_NO_EVENT)))
		schedule_doubt(w, p->number, READ_PKEYS);
	/* A change of the state touches all parts. The PHY may say why. */
	if (port_change_is_of_state(c))
		schedule_doubt(w, p->number, (READ_USUAL | READ_SIGNAL) & ~c->parts);
	/* Errors of PCI Express may have taken the port down, and no event tells of them. */
	if (c->was.values.state == PORT_STATE_ACTIVE && p->now.values.state != PORT_STATE_ACTIVE &&
	    mask_has(&p->device->now.valid, DEVICE_ATTR_aer_root_nonfatal))
		schedule_doubt_device(w);
	if (!(READ_USUAL & ~c->parts))
		p->answered_usec = monotonic_usec(m);
}

/* Has the source watch the network interfaces that the port has now, if the change is about them.
 */
static void watch_netdevs(Manager *m, PortChange *c)
{
	const SourceOps *ops = m->source->ops;
	Port *p = c->port;
	bool new_netdevs = c->op == CACHE_ADDED || mask_has(&c->changed, PORT_ATTR_netdevs);

	if (c->cause != CHANGE_ANSWER || !ops->netdevs_changed ||
	    !(new_netdevs || mask_has(&c->changed, PORT_ATTR_gids) ||
	      mask_has(&c->changed, PORT_ATTR_bond_ifindex) ||
	      mask_has(&c->changed, PORT_ATTR_bond_members)))
		return;
	ops->netdevs_changed(m->source, p->device->index, p->number, &p->now);
	/* Nobody has listened for changes of these interfaces until now. One may have come since
	 * the port was read, which at the start of the machine is likely. */
	if (p->now.tables[PORT_TABLE_NETDEVS] && new_netdevs &&
	    !(c->reasons & event_reasons_meaning(MEANS_SETTLING)))
		manager_mark_device(p->device, p->number, REASON_NETDEV);
}

/* A link that has come up has another end, which will say what it is. */
static void expect_neighbor(Manager *m, PortChange *c)
{
	if (!m->neighbors || c->port->now.values.state != PORT_STATE_ACTIVE ||
	    (c->op != CACHE_ADDED && !port_change_is_of_state(c)))
		return;
	m->neighbors_usec = NEIGHBORS_SOON_USEC;
	sd_event_source_set_time(m->neighbors, monotonic_usec(m) + NEIGHBORS_SOON_USEC);
}

/* The module may say why a link went down, and may be another one when the link comes up. */
static void expect_module(Manager *m, PortChange *c)
{
	Port *p = c->port;

	if (!m->cable || (c->op != CACHE_ADDED && (!port_change_is_of_state(c) ||
						   (p->now.values.state != PORT_STATE_ACTIVE &&
						    c->was.values.state != PORT_STATE_ACTIVE))))
		return;
	p->cable.due_usec = p->cable.spared_usec;
	sd_event_source_set_time(m->cable, 0);
}

/* Nobody hears of a port before its device. */
static void publish_parent(Manager *m, PortChange *c)
{
	if (!c->port->device->published)
		manager_announce_device(m, c->port->device, CACHE_ADDED);
}

/* The history adds rows to what is published. The record keeps what was, and is the last. */
void manager_hand_on_port(Manager *m, PortChange *c)
{
	static const PortTaker takers[] = {
		doubt,
		manager_history_port,
		publish_parent,
		manager_publish_port,
		manager_signal_port,
		manager_evidence_port,
		watch_netdevs,
		expect_neighbor,
		expect_module,
		manager_record_port,
		manager_health_port,
	};

	for (size_t i = 0; i < ARRAY_SIZE(takers); i++)
		takers[i](m, c);
}

void manager_hand_on_device(Manager *m, DeviceChange *c)
{
	static const DeviceTaker takers[] = {
		manager_publish_device,
		manager_evidence_device,
		manager_record_device,
		manager_health_device,
	};

	for (size_t i = 0; i < ARRAY_SIZE(takers); i++)
		takers[i](m, c);
}

void manager_announce_device(Manager *m, Device *d, CacheOp op)
{
	manager_hand_on_device(
		m, &(DeviceChange){.device = d, .op = op, .when_usec = realtime_now_usec()});
}

void manager_tell_later(Manager *m, Device *d)
{
	for (uint32_t i = 0; i < d->n_ports; i++)
		if (manager_log_states(m, d->ports[i]))
			manager_want_users(m, d->ports[i]);
}
