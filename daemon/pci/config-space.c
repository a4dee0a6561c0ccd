/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config-space.h"

#define AT_STATUS	0x04U /* in the upper half */
#define AT_CAPABILITIES 0x34U
#define AT_EXTENDED	0x100U
#define END		0x1000U

#define HAS_CAPABILITIES UINT32_C(0x00100000)

#define CAP_EXPRESS    0x10U
#define CAP_EXT_ACS    0x0dU
#define CAP_EXT_ATS    0x0fU
#define DEVICE_CONTROL 8U /* from the begin of its capability */
#define ACS_CONTROL    4U /* the same, in the upper half */
#define ATS_CONTROL    4U

/* More capabilities do not fit: the shortest have 4 bytes, and 8 if they are extended ones. */
#define CAPABILITIES_MAX ((AT_EXTENDED - 0x40) / 4)
#define EXTENDED_MAX	 ((END - AT_EXTENDED) / 8)

/* Where the PCI Express capability begins; 0: there is none. */
static unsigned int find_express(ConfigRead read, void *userdata)
{
	uint32_t value;
	unsigned int at;

	if (!read(userdata, AT_STATUS, &value) || !(value & HAS_CAPABILITIES) ||
	    !read(userdata, AT_CAPABILITIES, &value))
		return 0;
	at = value & 0xfc;
	for (unsigned int i = 0; i < CAPABILITIES_MAX && at >= 0x40; i++) {
		if (!read(userdata, at, &value))
			return 0;
		if ((value & 0xff) == CAP_EXPRESS)
			return at;
		at = value >> 8 & 0xfc;
	}
	return 0;
}

static void read_extended(ConfigRead read, void *userdata, PciControl *c)
{
	unsigned int at = AT_EXTENDED;
	uint32_t head, value;

	for (unsigned int i = 0; i < EXTENDED_MAX && at >= AT_EXTENDED; i++) {
		if (!read(userdata, at, &head) || head == 0 || head == UINT32_MAX)
			return;
		if ((head & 0xffff) == CAP_EXT_ACS && read(userdata, at + ACS_CONTROL, &value))
			c->acs = (uint16_t)(value >> 16);
		if ((head & 0xffff) == CAP_EXT_ATS && read(userdata, at + ATS_CONTROL, &value))
			c->ats = (uint16_t)(value >> 16);
		at = head >> 20 & 0xffc;
	}
}

bool config_space_control(ConfigRead read, void *userdata, PciControl *ret)
{
	unsigned int express = find_express(read, userdata);
	PciControl c = {};
	uint32_t value;

	if (!express || !read(userdata, express + DEVICE_CONTROL, &value))
		return false;
	c.device = (uint16_t)value;
	read_extended(read, userdata, &c);
	*ret = c;
	return true;
}
