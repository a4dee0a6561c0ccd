/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One cause, one finding. A link that is down has no rate, no width and no speed: if all of these
 * were expected, that would be five findings for one thing that somebody has to do. Which of them
 * is the cause follows from the attributes that the findings are about.
 */

#include "check-finding.h"

/* Attributes of a port that say the same thing in different words. What is wrong with one of them
 * has the same cause as what is wrong with another. */
typedef enum Topic { TOPIC_LINK, TOPIC_SPEED, TOPIC_MTU, TOPIC_SUBNET, _TOPIC_MAX } Topic;

#define NO_ROW _PORT_ATTR_MAX /* ends a topic */

static const PortAttr topics[_TOPIC_MAX][8] = {
	[TOPIC_LINK] = {PORT_ATTR_state, PORT_ATTR_phys_state, PORT_ATTR_link_downs,
			PORT_ATTR_netdev_up, PORT_ATTR_netdev_carrier, PORT_ATTR_netdev_operstate,
			NO_ROW},
	[TOPIC_SPEED] = {PORT_ATTR_rate, PORT_ATTR_data_rate, PORT_ATTR_active_width,
			 PORT_ATTR_link_speed, PORT_ATTR_port_speed, PORT_ATTR_netdev_speed,
			 NO_ROW},
	[TOPIC_MTU] = {PORT_ATTR_active_mtu, PORT_ATTR_netdev_mtu, NO_ROW},
	[TOPIC_SUBNET] = {PORT_ATTR_lid, PORT_ATTR_lmc, PORT_ATTR_sm_lid, PORT_ATTR_sm_sl,
			  PORT_ATTR_subnet_timeout, NO_ROW},
};

/* _TOPIC_MAX if it has none. */
static Topic topic_of(const Finding *f)
{
	Topic topic = 0;

	for (; f->row && topic < _TOPIC_MAX; topic++)
		for (size_t i = 0; topics[topic][i] != NO_ROW; i++)
			if (f->row == &port_attributes[topics[topic][i]])
				return topic;
	return _TOPIC_MAX;
}

/* Whether what F says of the port or device makes everything else that is known of it old. */
static bool is_stale(const Finding *f)
{
	return f->row == &port_attributes[PORT_ATTR_stale] ||
	       f->row == &device_attributes[DEVICE_ATTR_stale];
}

static bool has_value(const Finding *f)
{
	return !f->port || !f->row || f->row < port_attributes ||
	       f->row >= port_attributes + _PORT_ATTR_MAX ||
	       object_value(f->port, (size_t)(f->row - port_attributes));
}

/* Of two findings with the same cause: whether A stands for it. That is the more severe one, or
 * that of the check that comes first in the table, or the first one. */
static bool goes_first(const Finding *a, const Finding *b)
{
	if (a->check->severity != b->check->severity)
		return a->check->severity > b->check->severity;
	return a->check != b->check ? a->check < b->check : a < b;
}

static bool same_port(const Finding *a, const Finding *b)
{
	return a->port && a->port == b->port;
}

static bool explains(const Finding *a, const Finding *b)
{
	bool same_row = a->row && a->row == b->row && a->device == b->device &&
			(a->port == b->port || a->row->interface < INTERFACE_PORT);
	Topic topic = topic_of(a);

	if (is_stale(a) && (a->port ? same_port(a, b) : a->device == b->device))
		return !is_stale(b) || (!a->port && b->port) || (a->port == b->port && a < b);
	if (is_stale(b))
		return false;
	if (same_port(a, b) && topic == TOPIC_LINK && topic_of(b) != TOPIC_LINK)
		return !has_value(b);
	return (same_row || (same_port(a, b) && topic < _TOPIC_MAX && topic == topic_of(b))) &&
	       goes_first(a, b);
}

void findings_fold(CheckRun *r)
{
	for (size_t i = 0; i < r->n_findings; i++)
		for (size_t k = 0; k < r->n_findings && !r->findings[i].cause; k++)
			if (k != i && explains(&r->findings[k], &r->findings[i]))
				r->findings[i].cause = &r->findings[k];
	/* A cause that has a cause: explains() is never true in a circle. */
	for (size_t i = 0; i < r->n_findings; i++)
		while (r->findings[i].cause && r->findings[i].cause->cause)
			r->findings[i].cause = r->findings[i].cause->cause;
}

Severity finding_severity(const CheckRun *r, const Finding *f)
{
	Severity worst = f->check->severity;

	if (f->cause)
		return SEVERITY_OK;
	for (size_t i = 0; i < r->n_findings; i++)
		if (r->findings[i].cause == f)
			worst = MAX(worst, r->findings[i].check->severity);
	return worst;
}
