/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "compare-causes.h"

#include "check-topic.h"

/* Which kind of difference explains others. A cause always has a lower rank than what it explains,
 * or the same rank and an earlier place, so that there is no circle. */
typedef enum Rank {
	RANK_PRESENCE,
	RANK_DEVICE_STALE,
	RANK_PORT_STALE,
	RANK_MODEL,    /* another adapter */
	RANK_PROTOCOL, /* another kind of port */
	RANK_LINK,
	RANK_OTHER,
	RANK_FEATURE, /* what the device can do: its firmware and driver decide that */
} Rank;

static bool is_device_row(const Difference *d, DeviceAttr a)
{
	return d->row == &device_attributes[a];
}

static Rank rank_of(const Difference *d)
{
	if (!d->row)
		return RANK_PRESENCE;
	if (is_device_row(d, DEVICE_ATTR_stale))
		return RANK_DEVICE_STALE;
	if (d->row == &port_attributes[PORT_ATTR_stale])
		return RANK_PORT_STALE;
	if (is_device_row(d, DEVICE_ATTR_hca_type) && !d->is_absent)
		return RANK_MODEL;
	if (d->row == &port_attributes[PORT_ATTR_protocol] && !d->is_absent)
		return RANK_PROTOCOL;
	if (topic_of_row(d->row) == TOPIC_LINK)
		return RANK_LINK;
	return d->row->interface < INTERFACE_PORT && d->row->interface != INTERFACE_DEVICE
		       ? RANK_FEATURE
		       : RANK_OTHER;
}

/* The code that says why the attribute has no value on one of the machines; "" without one. */
static const char *code_of(const Difference *d)
{
	const Object *without = d->object;
	const char *code;

	if (!d->is_absent || !without)
		return "";
	if (object_value(without, (size_t)(d->row - without->rows)))
		without = d->usual;
	code = object_unavailable_code(without, (size_t)(d->row - without->rows));
	return code ? code : "";
}

/* Whether A, a difference of rank RANK_OTHER, explains B. */
static bool is_same_matter(const Difference *a, const Difference *b, bool same_place)
{
	const Place *place = &a->kind->places[a->place];
	Topic topic = topic_of_row(a->row);

	if (same_place && topic != _TOPIC_MAX && topic == topic_of_row(b->row))
		return true;
	/* device names that another version of the kernel or of udev has given */
	if (is_device_row(a, DEVICE_ATTR_name) && a->row == b->row)
		return true;
	return (same_place || !place->is_port) && *code_of(a) && streq(code_of(a), code_of(b));
}

/* Whether B comes from A. Both are of one machine, on the same device. */
static bool explains_on_device(const Difference *a, const Difference *b)
{
	bool same_place = a->place == b->place;

	switch (rank_of(a)) {
	case RANK_PRESENCE:
		return !a->kind->places[a->place].is_port ||
		       is_device_row(b, DEVICE_ATTR_port_count);
	case RANK_DEVICE_STALE:
	case RANK_MODEL:
		return true;
	case RANK_PORT_STALE:
		return same_place;
	case RANK_PROTOCOL:
		return same_place || is_device_row(b, DEVICE_ATTR_dev_protocol);
	case RANK_LINK:
		return same_place && (b->is_absent || topic_of_row(b->row) == TOPIC_LINK);
	case RANK_OTHER:
		if (rank_of(b) == RANK_FEATURE &&
		    (is_device_row(a, DEVICE_ATTR_fw_ver) || is_device_row(a, DEVICE_ATTR_driver) ||
		     is_device_row(a, DEVICE_ATTR_board_id) ||
		     is_device_row(a, DEVICE_ATTR_hw_rev)))
			return true;
		return is_same_matter(a, b, same_place);
	case RANK_FEATURE:
		break;
	}
	return is_same_matter(a, b, same_place);
}

static bool explains(const Difference *a, const Difference *b)
{
	const Place *places = a->kind->places;
	Rank x = rank_of(a), y = rank_of(b);

	/* those of one rank are in the order of places and rows */
	if (x > y || (x == y && a >= b))
		return false;
	if (places[a->place].device != places[b->place].device)
		return is_device_row(a, DEVICE_ATTR_name) && a->row == b->row;
	return explains_on_device(a, b);
}

/* By machine; of one machine by place and row. */
static int compare_differences(const void *a, const void *b)
{
	const Difference *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->member != y->member)
		return x->member < y->member ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

void differences_find_causes(Differences *d)
{
	if (d->n > 0)
		sort(d->items, d->n, sizeof(*d->items), compare_differences);
	for (size_t first = 0, end; first < d->n; first = end) {
		const Difference *of = &d->items[first];

		for (end = first; end < d->n && d->items[end].kind == of->kind &&
				  d->items[end].member == of->member;
		     end++)
			d->items[end].cause = end;
		for (size_t i = first; i < end; i++)
			for (size_t k = first; k < end && d->items[i].cause == i; k++)
				if (k != i && explains(&d->items[k], &d->items[i]))
					d->items[i].cause = k;
		for (size_t i = first; i < end; i++)
			while (d->items[i].cause != d->items[d->items[i].cause].cause)
				d->items[i].cause = d->items[d->items[i].cause].cause;
	}
}
