/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "pci-control.h"

#include <string.h>

#include "util.h"

/* Device Control */
#define RELAXED_ORDERING   0x0010U
#define PAYLOAD_SHIFT	   5U
#define READ_REQUEST_SHIFT 12U
/* ACS Control */
#define REQUEST_REDIRECT    0x0004U
#define COMPLETION_REDIRECT 0x0008U
#define DIRECT_TRANSLATED   0x0040U
/* ATS Control */
#define ATS_ENABLE 0x8000U

void pci_control_format(const PciControl *c, char ret[PCI_CONTROL_SIZE])
{
	snprintf(ret, PCI_CONTROL_SIZE, "%04x %04x %04x\n", c->device, c->acs, c->ats);
}

bool pci_control_parse(const char *text, PciControl *ret)
{
	unsigned int device, acs, ats;
	char same[PCI_CONTROL_SIZE];
	PciControl c;

	if (sscanf(text, "%4x %4x %4x", &device, &acs, &ats) != 3)
		return false;
	c = (PciControl){(uint16_t)device, (uint16_t)acs, (uint16_t)ats};
	pci_control_format(&c, same);
	same[strlen(same) - 1] = '\0';
	if (!streq(text, same))
		return false;
	*ret = c;
	return true;
}

bool pci_control_has_relaxed_ordering(const PciControl *c)
{
	return c->device & RELAXED_ORDERING;
}

/* 128 to 4096 bytes; two codes are reserved. */
static uint32_t size_at(const PciControl *c, unsigned int shift)
{
	unsigned int code = c->device >> shift & 7;

	return code < 6 ? 128U << code : 0;
}

uint32_t pci_control_max_payload(const PciControl *c)
{
	return size_at(c, PAYLOAD_SHIFT);
}

uint32_t pci_control_max_read_request(const PciControl *c)
{
	return size_at(c, READ_REQUEST_SHIFT);
}

bool pci_control_redirects(const PciControl *c, bool ats)
{
	bool is_excepted = ats && c->acs & DIRECT_TRANSLATED;

	return (c->acs & REQUEST_REDIRECT && !is_excepted) || c->acs & COMPLETION_REDIRECT;
}

bool pci_control_has_ats(const PciControl *c)
{
	return c->ats & ATS_ENABLE;
}
