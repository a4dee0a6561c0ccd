/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks of what the module in the cage says. What it does not measure is not judged. */

#include <inttypes.h>

#include "check-parts.h"
#include "checks.h"

/* 0.01 dB. scitix/sichek warns at the same distance from the alarm. */
#define WEAK_MILLIBELS 100U

static const struct {
	const char *does;
	PortAttr margin;
} directions[] = {
	{"receives", PORT_ATTR_cable_rx_power_margin},
	{"sends", PORT_ATTR_cable_tx_power_margin},
};

/* Finds the directions whose margin is LEAST or more, and MOST or less. While the link is down the
 * other end may be dark. */
static void look_at_margins(CheckRun *r, uint64_t least, uint64_t most)
{
	for (size_t i = 0; i < ARRAY_SIZE(directions) && object_is_active(r->port); i++) {
		const Attribute *row = &port_attributes[directions[i].margin];
		uint64_t margin;

		if (!check_number(r->port, directions[i].margin, &margin) || margin < least ||
		    margin > most || check_is_expected(r, row))
			continue;
		if (margin == 0)
			check_find(r, row, "a lane of the module %s less light than it alarms of",
				   directions[i].does);
		else
			check_find(r, row,
				   "a lane of the module %s %" PRIu64 ".%02" PRIu64
				   " dB more light than it alarms of",
				   directions[i].does, margin / 100, margin % 100);
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

void look_at_module_state(CheckRun *r)
{
	const char *state = object_text(r->port, PORT_ATTR_cable_state);

	if (object_is_active(r->port) || (!streq(state, "low-power") && !streq(state, "fault")))
		return;
	check_find(r, &port_attributes[PORT_ATTR_cable_state], "the module in the cage %s",
		   streq(state, "fault") ? "has a fault" : "stays in low power");
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
