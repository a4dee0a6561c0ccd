/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks of what the module in the cage says. What it does not measure is not judged. */

#include <inttypes.h>

#include "check-parts.h"
#include "checks.h"
#include "list.h"

/* 0.01 dB. scitix/sichek warns at the same distance from the alarm. */
#define WEAK_MILLIBELS 100U

/* 1 uW: -30 dBm, below which a receiver has to say that there is no signal (IEEE 802.3, 95.5.4). */
#define NO_LIGHT_NANOWATTS 1000U

typedef struct Direction {
	const char *does;
	PortAttr margin, powers, critical;
} Direction;

static const Direction directions[] = {
	{"receives", PORT_ATTR_cable_rx_power_margin, PORT_ATTR_cable_rx_power,
	 PORT_ATTR_cable_rx_power_critical},
	{"sends", PORT_ATTR_cable_tx_power_margin, PORT_ATTR_cable_tx_power,
	 PORT_ATTR_cable_tx_power_critical},
};

/* Whether each lane of PORT that is too dark has no light at all, and others have enough. A link
 * that is active has light on all its lanes: those are lanes of another port, for which the cable
 * is split. */
static bool is_split(const Object *port, const Direction *d)
{
	ListReader lanes = list_reader(ATTR_NUMBERS, object_text(port, d->powers));
	uint64_t critical = object_number(port, d->critical);
	bool has_light = false;
	ListItem lane;

	while (list_next(&lanes, &lane)) {
		if (lane.number > NO_LIGHT_NANOWATTS && lane.number <= critical)
			return false;
		has_light |= lane.number > critical;
	}
	return has_light;
}

/* Finds the directions whose margin is LEAST or more, and MOST or less. While the link is down the
 * other end may be dark. */
static void look_at_margins(CheckRun *r, uint64_t least, uint64_t most)
{
	for (size_t i = 0; i < ARRAY_SIZE(directions) && object_is_active(r->port); i++) {
		const Direction *d = &directions[i];
		const Attribute *row = &port_attributes[d->margin];
		uint64_t margin;

		if (!check_number(r->port, d->margin, &margin) || margin < least || margin > most ||
		    check_is_expected(r, row) || (margin == 0 && is_split(r->port, d)))
			continue;
		if (margin == 0)
			check_find(r, row, "a lane of the module %s less light than it alarms of",
				   d->does);
		else
			check_find(r, row,
				   "a lane of the module %s %" PRIu64 ".%02" PRIu64
				   " dB more light than it alarms of",
				   d->does, margin / 100, margin % 100);
	}
}

void look_for_darkness(CheckRun *r)
{
	look_at_margins(r, 0, 0);
}

void look_for_little_light(CheckRun *r)
{
	look_at_margins(r, 1, WEAK_MILLIBELS);
}

/* Only CMIS has a state of the module; what is older says that a laser has a fault. While an
 * interface is set down, its module may be in low power. */
void look_at_module_state(CheckRun *r)
{
	const Value *up = object_value(r->port, PORT_ATTR_netdev_up);
	const char *state = object_text(r->port, PORT_ATTR_cable_state);
	const char *says = NULL;
	PortAttr row = PORT_ATTR_cable_state;

	if (object_is_active(r->port))
		return;
	if (streq(state, "fault")) {
		says = "has a fault";
	} else if (list_has_word(object_text(r->port, PORT_ATTR_cable_flags), "tx-fault")) {
		row = PORT_ATTR_cable_flags;
		says = "has a laser with a fault";
	} else if (streq(state, "low-power") && (!up || value_is_true(up))) {
		says = "stays in low power";
	}
	if (says && !check_is_unused(r, r->port))
		check_find(r, &port_attributes[row], "the module in the cage %s", says);
}

/* Finds a module that is made for less than the link runs at, or than both ends offer: a slower
 * switch needs no better one. DataRate, because that of InfiniBand is without the line encoding, as
 * what a module says. A LAG has a module for each of its ports. */
void look_for_wrong_cable(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_cable_max_rate];
	uint64_t most, is = 0, offered = 0;

	if (!check_number(r->port, PORT_ATTR_cable_max_rate, &most) || !check_is_in_use(r) ||
	    check_is_expected(r, row))
		return;
	/* What is not heard of the other end is not known, and may be no more than the module. */
	if (*object_text(r->port, PORT_ATTR_partner_speeds))
		offered = check_offered_speed(r->port);
	if (!object_value(r->port, PORT_ATTR_bond_active_rate))
		check_number(r->port, PORT_ATTR_data_rate, &is);
	if (MAX(is, offered) > most)
		check_find(r, row, "the module is made for %.6g Gb/s, the %s %.6g Gb/s",
			   (double)most / 1e9,
			   is > most ? "link runs at" : "ends of the link offer",
			   (double)(is > most ? is : offered) / 1e9);
}
