/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * One cause, one finding. A link that is down has no rate, no width and no speed: if all of these
 * were expected, that would be five findings for one thing that somebody has to do. Which of them
 * is the cause follows from the attributes that the findings are about.
 */

#include "check-finding.h"
#include "check-topic.h"

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

/* Of two findings with the same cause: whether A stands for it. The more severe finding stands, or
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

/* Whether both are about one attribute of one port or device, or about attributes that say the same
 * thing. */
static bool same_matter(const Finding *a, const Finding *b)
{
	Topic topic = topic_of_row(a->row);

	/* several entries of one table can be wrong, each in its own way, and several devices gone
	 */
	if (!a->row || !b->row || a->row == &port_attributes[PORT_ATTR_vfs] ||
	    (!a->port && !a->device) || a->device != b->device ||
	    (a->port != b->port && a->row->interface >= INTERFACE_PORT))
		return false;
	return a->row == b->row || (topic < _TOPIC_MAX && topic == topic_of_row(b->row));
}

static bool explains(const Finding *a, const Finding *b)
{
	Topic topic = topic_of_row(a->row);

	if (is_stale(a) && (a->port ? same_port(a, b) : a->device == b->device))
		return !is_stale(b) || (!a->port && b->port) || (a->port == b->port && a < b);
	if (is_stale(b))
		return false;
	if (same_port(a, b) && topic == TOPIC_LINK && topic_of_row(b->row) != TOPIC_LINK)
		return !has_value(b);
	return same_matter(a, b) && goes_first(a, b);
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

	if (f->cause || f->acknowledged || !(r->only >> f->check->condition & 1))
		return SEVERITY_OK;
	for (size_t i = 0; i < r->n_findings; i++)
		if (r->findings[i].cause == f)
			worst = MAX(worst, r->findings[i].check->severity);
	return worst;
}
