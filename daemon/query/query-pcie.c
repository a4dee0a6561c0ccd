/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-pcie.h"

#include <ctype.h>

#include "query-sysfs.h"

/* PCI Express has no wider link. A width that the kernel does not know is 0, 63 or 255 lanes. */
#define LANES_MAX 32U
/* GT/s; PCI Express 7 has 128 */
#define SPEED_MAX 1000U
/* So many links one above the other: a switch takes two buses for a link. */
#define LINKS_MAX (PCIE_DEPTH_MAX / 2)

/* A link as it is, or as one of its ends could have it. */
typedef struct Link {
	uint64_t speed; /* bit/s of one lane */
	uint32_t width;
} Link;

bool pcie_parse_speed(const char *text, uint64_t *ret)
{
	unsigned int whole, tenths = 0;
	int n = 0;

	if (!isdigit((unsigned char)*text) || sscanf(text, "%4u%n", &whole, &n) != 1)
		return false;
	text += n;
	if (*text == '.') {
		if (!isdigit((unsigned char)text[1]))
			return false;
		tenths = (unsigned int)(text[1] - '0');
		text += 2;
	}
	if ((!streq(text, " GT/s") && !streq(text, " GT/s PCIe")) || whole > SPEED_MAX)
		return false;
	*ret = (10 * (uint64_t)whole + tenths) * UINT64_C(100000000);
	return *ret > 0;
}

/* Reads the link of the function in DIRECTORY: WHICH is "current" or "max". */
static bool read_link(int directory, const char *which, Link *ret)
{
	AttrText speed;
	char path[32];
	uint64_t width;
	Link l;

	snprintf(path, sizeof(path), "%s_link_speed", which);
	if (sysfs_read_text(directory, path, speed, sizeof(speed)) < 0 ||
	    !pcie_parse_speed(speed, &l.speed))
		return false;
	snprintf(path, sizeof(path), "%s_link_width", which);
	if (sysfs_read_number(directory, path, LANES_MAX, &width) < 0 || width == 0)
		return false;
	l.width = (uint32_t)width;
	*ret = l;
	return true;
}

/* The bits of a link that are left for data after the line encoding: 8 of 10 bits up to 5 GT/s, 128
 * of 130 up to 32 GT/s, and above that all. */
static uint64_t data_rate(Link l)
{
	uint64_t rate = l.speed * l.width;

	if (l.speed <= UINT64_C(5000000000))
		return rate / 10 * 8;
	return l.speed <= UINT64_C(32000000000) ? rate / 130 * 128 : rate;
}

/* Reads the link between two functions: its present width and speed, and the best ones. False if
 * they are not known: both ends must have the same present ones. */
static bool read_between(int lower, int upper, Link *ret_is, Link *ret_best)
{
	Link is, seen, low, high;

	if (!read_link(lower, "current", &is) || !read_link(upper, "current", &seen) ||
	    !read_link(lower, "max", &low) || !read_link(upper, "max", &high) ||
	    is.speed != seen.speed || is.width != seen.width)
		return false;
	*ret_is = is;
	*ret_best = (Link){MIN(low.speed, high.speed), MIN(low.width, high.width)};
	return true;
}

bool pcie_go_up(const char *path, size_t *n, AttrText ret)
{
	size_t end = *n, begin;

	while (end > 0 && path[end - 1] != '/')
		end--;
	end -= end > 0;
	for (begin = end; begin > 0 && path[begin - 1] != '/'; begin--)
		;
	*n = end;
	text_copy(ret, MIN(sizeof(AttrText), end - begin + 1), path + begin);
	return sysfs_is_pci_address(ret);
}

/* Supplies what the narrowest link on the way up is and could be. If nothing is known of one of
 * them, nothing is known of the way. */
static void supply_way(int function, const char *path, size_t n, DeviceSnapshot *s)
{
	_cleanup_close_ int lower = sysfs_open_directory(function, ".");
	uint64_t least = UINT64_MAX, best = UINT64_MAX;
	AttrText address, narrowest = "";

	for (unsigned int i = 0; i < LINKS_MAX && lower >= 0 && pcie_go_up(path, &n, address);
	     i++) {
		_cleanup_close_ int upper = sysfs_open_directory(lower, "..");
		Link is, could_be;

		if (upper < 0 || !read_between(lower, upper, &is, &could_be))
			return;
		best = MIN(best, data_rate(could_be));
		if (data_rate(is) < least) {
			least = data_rate(is);
			memcpy(narrowest, address, sizeof(narrowest));
		}
		lower = close_fd(lower);
		if (pcie_go_up(path, &n, address))
			lower = sysfs_open_directory(upper, "..");
	}
	if (!narrowest[0])
		return;
	DEVICE_SUPPLY(s, pcie_rate, least);
	/* An end that says too little of itself does not make the link quicker than it can be. */
	DEVICE_SUPPLY(s, pcie_max_rate, MAX(least, best));
	DEVICE_SUPPLY_TEXT(s, pcie_narrowest, narrowest);
}

void pcie_supply(int function, const char *path, size_t n, DeviceSnapshot *s)
{
	Link l;

	if (read_link(function, "current", &l)) {
		DEVICE_SUPPLY(s, pcie_speed, l.speed);
		DEVICE_SUPPLY(s, pcie_width, l.width);
	}
	if (read_link(function, "max", &l)) {
		DEVICE_SUPPLY(s, pcie_max_speed, l.speed);
		DEVICE_SUPPLY(s, pcie_max_width, l.width);
	}
	supply_way(function, path, n, s);
}

bool pcie_read_control(int controls, const char *address, PciControl *ret)
{
	char text[PCI_CONTROL_SIZE];

	return sysfs_read_text(controls, address, text, sizeof(text)) == 0 &&
	       pci_control_parse(text, ret);
}

bool pcie_supply_control(int controls, DeviceSnapshot *s, PciControl *ret)
{
	const DeviceValues *v = &s->values;
	const char *address = mask_has(&s->supplied, DEVICE_ATTR_physical_function)
				      ? TEXT_OF(v, physical_function)
				      : TEXT_OF(v, pci_address);

	if (controls < 0 || !mask_has(&s->supplied, DEVICE_ATTR_pci_address) ||
	    !pcie_read_control(controls, address, ret))
		return false;
	DEVICE_SUPPLY(s, relaxed_ordering, pci_control_has_relaxed_ordering(ret));
	DEVICE_SUPPLY(s, max_payload, pci_control_max_payload(ret));
	DEVICE_SUPPLY(s, max_read_request, pci_control_max_read_request(ret));
	return true;
}
