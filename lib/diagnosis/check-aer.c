/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Errors of PCI Express. One that could not be corrected is one too many: a transaction was lost.
 * Of those that were corrected a few are normal, so what counts is that there were many in a short
 * time: that is evidence, which rdmad keeps.
 */

#include "check-parts.h"
#include "checks.h"

/* Of fewer there can be no burst: no need to ask.
 *
 * The number is ours (lib/model/evidence-kinds.def has it too), since nobody has published how many
 * a link that fails corrects: NetApp's ONTAP has a limit of a hundred or two of a node, which its
 * manual gives without a time (system controller pcicerr threshold), and the health checks of Meta
 * (gcm, check-syslogs pcie-aer) pass any number of corrected errors. The kernel logs two a second
 * of a device at most (ratelimit of ten in 5 s), and ours are 100 in the half minute between two
 * queries: more than the log can have. */
#define BURST_LEAST 100U

/* Whether both are functions of one adapter: PCI addresses that are the same up to the dot. */
static bool share_slot(const Object *a, const Object *b)
{
	const char *x = object_text(a, DEVICE_ATTR_pci_address);
	const char *y = object_text(b, DEVICE_ATTR_pci_address);
	size_t n = strcspn(x, ".");

	return n > 0 && strncmp(x, y, n + 1) == 0;
}

/* Whether a device that was looked at before is on the same adapter, and IS_FOUND of it. All
 * functions of an adapter log an error of their link (PCI Express, 6.2.4), and have one root port.
 */
static bool was_found(const CheckRun *r, bool (*is_found)(const CheckRun *r, const Object *device))
{
	for (size_t i = 0; i < r->n_devices && r->devices[i] != r->device; i++)
		if (share_slot(r->devices[i], r->device) && is_found(r, r->devices[i]))
			return true;
	return false;
}

static bool has_errors(_unused_ const CheckRun *r, const Object *device)
{
	return object_number(device, DEVICE_ATTR_aer_nonfatal) ||
	       object_number(device, DEVICE_ATTR_aer_fatal) ||
	       object_number(device, DEVICE_ATTR_aer_root_fatal);
}

static bool has_burst(const CheckRun *r, const Object *device)
{
	return check_growth(r, device, &device_attributes[DEVICE_ATTR_aer_correctable], BURST_LEAST,
			    0, &(uint64_t){0}) > 0;
}

void look_for_pcie_errors(CheckRun *r)
{
	uint64_t nonfatal = object_number(r->device, DEVICE_ATTR_aer_nonfatal);
	uint64_t fatal = object_number(r->device, DEVICE_ATTR_aer_fatal);
	uint64_t root_fatal = object_number(r->device, DEVICE_ATTR_aer_root_fatal);

	if (!has_errors(r, r->device) || was_found(r, has_errors))
		return;
	if (nonfatal + fatal > 0)
		check_find(r, &device_attributes[DEVICE_ATTR_aer_nonfatal],
			   "PCIe had errors that could not be corrected (AER): %" PRIu64
			   " non-fatal, %" PRIu64 " fatal",
			   nonfatal, MAX(fatal, root_fatal));
	else
		check_find(r, &device_attributes[DEVICE_ATTR_aer_root_fatal],
			   "the root port got %" PRIu64 " %s about fatal errors of PCIe (AER), of "
			   "this adapter or of another one below it",
			   root_fatal, root_fatal == 1 ? "message" : "messages");
}

void look_for_pcie_bursts(CheckRun *r)
{
	if (has_burst(r, r->device) && !was_found(r, has_burst))
		check_find_growth(r, r->device, &device_attributes[DEVICE_ATTR_aer_correctable],
				  BURST_LEAST, 0,
				  "PCIe has corrected many errors in a short time (AER):", "");
}
