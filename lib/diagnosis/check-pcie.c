/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A PCI Express link that came up with fewer lanes or at a lower speed than both of its ends can
 * do. An adapter that could do more than its slot is no finding: it is as somebody has built it.
 */

#include "check-parts.h"
#include "checks.h"

static bool is_slow(const Object *device)
{
	uint64_t is, best;

	return check_number(device, DEVICE_ATTR_pcie_rate, &is) &&
	       check_number(device, DEVICE_ATTR_pcie_max_rate, &best) && is < best;
}

/* Whether a device that was looked at before has its slow link below the same port: the functions
 * of one adapter share their link, and the adapters below one switch the link of that. */
static bool was_found(const CheckRun *r)
{
	const char *narrowest = object_text(r->device, DEVICE_ATTR_pcie_narrowest);

	for (size_t i = 0; i < r->n_devices; i++)
		if (r->devices[i] != r->device && is_slow(r->devices[i]) && *narrowest &&
		    streq(object_text(r->devices[i], DEVICE_ATTR_pcie_narrowest), narrowest))
			return true;
	return false;
}

void look_at_pcie(CheckRun *r)
{
	const Attribute *row = &device_attributes[DEVICE_ATTR_pcie_rate];
	const char *below = object_text(r->device, DEVICE_ATTR_pcie_narrowest);
	_cleanup_free_ char *is = NULL, *best = NULL;

	if (!is_slow(r->device) || was_found(r))
		return;
	is = format_row(r->device, DEVICE_ATTR_pcie_rate);
	best = format_row(r->device, DEVICE_ATTR_pcie_max_rate);
	check_find(r, row, "PCIe has %s, and could have %s: %s%s is not as its ends can do",
		   is ? is : "", best ? best : "", *below ? "the link below " : "a link", below);
}
