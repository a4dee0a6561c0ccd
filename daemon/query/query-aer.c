/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-aer.h"

#include "query-pcie.h"
#include "query-sysfs.h"

/* A file in sysfs is one page at most; with all the names that the kernel knows this one has 0.6
 * KB. */
#define TOTALS_SIZE 4096U

bool aer_parse_total(const char *text, const char *name, uint64_t *ret)
{
	size_t n = strlen(name);
	char digits[24];

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line != '\0') {
		if (strncmp(line, name, n) != 0 || line[n] != ' ')
			continue;
		text_copy(digits, MIN(sizeof(digits), strcspn(line + n + 1, "\n") + 1),
			  line + n + 1);
		return text_to_u64(digits, UINT64_MAX - 1, ret) == 0;
	}
	return false;
}

/* Reads the total in file NAME of the function in DIRECTORY. */
static bool read_total(int directory, const char *name, const char *total, uint64_t *ret)
{
	char text[TOTALS_SIZE];

	return sysfs_read_lines(directory, name, text, sizeof(text)) == 0 &&
	       aer_parse_total(text, total, ret);
}

/* Opens the directory of the highest PCI function in PATH that is above FUNCTION, and writes its
 * address. -1: there is none. */
static int open_root(int function, const char *path, size_t n, AttrText ret)
{
	_cleanup_close_ int at = sysfs_open_directory(function, ".");
	AttrText address;
	bool any = false;

	for (unsigned int i = 0; i < PCIE_DEPTH_MAX && at >= 0 && pcie_go_up(path, &n, address);
	     i++) {
		int above = sysfs_open_directory(at, "..");

		close_fd(at);
		at = above;
		memcpy(ret, address, sizeof(address));
		any = true;
	}
	return any ? steal_fd(&at) : -1;
}

/* Whether the AER driver of the kernel serves the root port in DIRECTORY, which is at ADDRESS. Each
 * service of a port is a device below it, whose name ends with a mask of services: 2 is AER
 * (PCIE_PORT_SERVICE_AER in drivers/pci/pcie/portdrv.h). */
static bool is_served(int directory, const char *address)
{
	char path[sizeof(AttrText) + sizeof(":pcie002/driver")];
	AttrText driver;

	snprintf(path, sizeof(path), "%s:pcie002/driver", address);
	return sysfs_read_link(directory, path, driver, sizeof(driver)) == 0 &&
	       streq(driver, "aer");
}

void aer_supply(int function, const char *path, size_t n, DeviceSnapshot *s)
{
	AttrText address = "";
	_cleanup_close_ int root = open_root(function, path, n, address);
	uint64_t v;

	if (root < 0 || !is_served(root, address))
		return;
	if (read_total(function, "aer_dev_correctable", "TOTAL_ERR_COR", &v))
		DEVICE_SUPPLY(s, aer_correctable, v);
	if (read_total(function, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL", &v))
		DEVICE_SUPPLY(s, aer_nonfatal, v);
	if (read_total(function, "aer_dev_fatal", "TOTAL_ERR_FATAL", &v))
		DEVICE_SUPPLY(s, aer_fatal, v);
	if (sysfs_read_number(root, "aer_rootport_total_err_cor", UINT64_MAX - 1, &v) == 0)
		DEVICE_SUPPLY(s, aer_root_correctable, v);
	if (sysfs_read_number(root, "aer_rootport_total_err_nonfatal", UINT64_MAX - 1, &v) == 0)
		DEVICE_SUPPLY(s, aer_root_nonfatal, v);
	if (sysfs_read_number(root, "aer_rootport_total_err_fatal", UINT64_MAX - 1, &v) == 0)
		DEVICE_SUPPLY(s, aer_root_fatal, v);
}
