/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks of what the sensors and the PHY say: the adapter or the module is too hot, and FEC could
 * not correct what came over the link. */

#include "check-parts.h"
#include "checks.h"

/* NVIDIA's bring-up procedure warns of a module of 70 °C, and calls 80 °C an error. Each driver has
 * a limit of its own; half of that distance is near. */
#define NEAR_KELVIN 5U

/* The parts that have a temperature */
static const struct {
	const char *name;
	PortAttr now, margin;
} parts[] = {
	{"adapter", PORT_ATTR_adapter_temperature, PORT_ATTR_adapter_temperature_margin},
	{"module", PORT_ATTR_module_temperature, PORT_ATTR_module_temperature_margin},
	{"module", PORT_ATTR_cable_temperature, PORT_ATTR_cable_temperature_margin},
};

/* Whether a port before that which the run looks at says the same of their adapter: its functions
 * read one sensor. */
static bool is_told(const CheckRun *r, size_t row, uint64_t least, uint64_t most)
{
	uint64_t margin;

	for (size_t i = 0; i < r->objects->n && r->objects->items[i] != r->port; i++) {
		const Object *o = r->objects->items[i];

		if (o->is_port &&
		    check_same_adapter(object_list_device(r->objects, o), r->device) &&
		    check_number(o, row, &margin) && margin >= least && margin <= most)
			return true;
	}
	return false;
}

/* Finds the parts whose margin is LEAST kelvin or more, and MOST or less. */
static void look_at_margins(CheckRun *r, uint64_t least, uint64_t most)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		uint64_t now, margin;

		if (!check_number(r->port, parts[i].now, &now) ||
		    !check_number(r->port, parts[i].margin, &margin) || margin < least ||
		    margin > most ||
		    (parts[i].now == PORT_ATTR_cable_temperature &&
		     object_value(r->port, PORT_ATTR_module_temperature)) ||
		    (parts[i].now == PORT_ATTR_adapter_temperature &&
		     is_told(r, parts[i].margin, least, most)))
			continue;
		if (margin == 0)
			check_find(r, &port_attributes[parts[i].now],
				   "the %s has %" PRIu64 " °C, which is critical", parts[i].name,
				   now);
		else
			check_find(r, &port_attributes[parts[i].now],
				   "the %s has %" PRIu64 " °C, %" PRIu64
				   " K below what is critical",
				   parts[i].name, now, margin);
	}
}

void look_for_heat(CheckRun *r)
{
	look_at_margins(r, 1, NEAR_KELVIN);
}

void look_for_overheating(CheckRun *r)
{
	look_at_margins(r, 0, 0);
}

/* Finds a link with as many errors as its FEC is made for, or more, if so many were counted that
 * this is no chance: then there is a ratio, and its bounds are near each other. */
static void look_for_full_fec(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_bit_error_margin];
	_cleanup_free_ char *is = NULL;
	uint64_t margin, ratio;

	if (!check_number(r->port, PORT_ATTR_bit_error_margin, &margin) || margin > 0 ||
	    !check_number(r->port, PORT_ATTR_bit_error_ratio, &ratio) ||
	    2 * object_number(r->port, PORT_ATTR_bit_error_ratio_lower) < ratio ||
	    check_is_expected(r, row))
		return;
	is = format_row(r->port, PORT_ATTR_bit_error_ratio);
	check_find(r, row, "FEC corrects as many errors as it is made for: BitErrorRatio is %s",
		   is ? is : "");
}

void look_for_uncorrectable(CheckRun *r)
{
	look_for_full_fec(r);
	check_find_growth(r, r->port, &port_attributes[PORT_ATTR_fec_uncorrectable], 1, 0,
			  "FEC could not correct", " blocks");
}
