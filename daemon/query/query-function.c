/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-function.h"

#include <ctype.h>
#include <sys/stat.h>

#include "query-aer.h"
#include "query-pcie.h"
#include "query-sysfs.h"

/* The kernel numbers the virtual functions of a physical one with 16 bits. */
#define VF_MAX 65535U
/* A path in sysfs from a device up to the function that it belongs to: "device/../.." */
#define UPWARDS_MAX 64U

int function_find(int device, const char *name, AttrPath ret)
{
	char link[sizeof("/sys/class/infiniband/") + sizeof(AttrText)], target[512];
	char path[sizeof("/sys/") + sizeof(target)], *end;
	struct stat a, b;
	const char *rest;
	ssize_t n;

	snprintf(link, sizeof(link), "/sys/class/infiniband/%s", name);
	n = readlink(link, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	rest = startswith(target, "../../devices/");
	if (!rest)
		return -EBADMSG;
	snprintf(path, sizeof(path), "/sys/devices/%s", rest);
	/* the name may be that of another device since DEVICE was opened */
	if (fstat(device, &a) < 0 || stat(path, &b) < 0)
		return -errno;
	if (a.st_ino != b.st_ino || a.st_dev != b.st_dev)
		return -ESTALE;
	/* the device is in a directory of its class below its parent */
	end = strrchr(path, '/');
	*end = '\0';
	end = strrchr(path, '/');
	if (!streq(end, "/infiniband") || startswith(rest, "virtual/"))
		return -ENOENT;
	*end = '\0';
	if (strlen(path) >= sizeof(AttrPath))
		return -ENAMETOOLONG;
	text_copy(ret, sizeof(AttrPath), path);
	return 0;
}

/* Writes the PCI address of the nearest PCI function in PARENT, which may be the last part of it,
 * and the way from the directory of the device to the directory of that function. Returns the
 * length of its path; 0 if there is none. */
static size_t find_pci(const char *parent, AttrText ret_address, char ret_upwards[UPWARDS_MAX])
{
	size_t end = strlen(parent), used = (size_t)snprintf(ret_upwards, UPWARDS_MAX, "device");
	AttrText part;

	while (end > 0 && used + sizeof("/..") <= UPWARDS_MAX) {
		size_t begin = end;

		while (begin > 0 && parent[begin - 1] != '/')
			begin--;
		text_copy(part, MIN(sizeof(part), end - begin + 1), parent + begin);
		if (sysfs_is_pci_address(part)) {
			memcpy(ret_address, part, sizeof(AttrText));
			return end;
		}
		used += (size_t)snprintf(ret_upwards + used, UPWARDS_MAX - used, "/..");
		end = begin > 0 ? begin - 1 : 0;
	}
	return 0;
}

/* The number N of which the link "virtfnN" of the physical function of FUNCTION leads to ADDRESS.
 * False if there is none. */
static bool find_vf_number(int function, const char *address, uint32_t *ret)
{
	_cleanup_(closedir_pointer) DIR *directory = sysfs_open_list(function, "physfn");
	struct dirent *d;

	while (directory && (d = readdir(directory))) {
		const char *digits = startswith(d->d_name, "virtfn");
		AttrText target;
		uint64_t number;

		if (!digits || !isdigit((unsigned char)*digits) ||
		    text_to_u64(digits, VF_MAX, &number) < 0 ||
		    sysfs_read_link(dirfd(directory), d->d_name, target, sizeof(target)) < 0 ||
		    !streq(target, address))
			continue;
		*ret = (uint32_t)number;
		return true;
	}
	return false;
}

/* Whether the function at ADDRESS, whose directory is DIRECTORY, is a virtual one. */
static bool supply_vf(int directory, const char *address, DeviceSnapshot *s)
{
	AttrText physical;
	uint32_t number;

	if (sysfs_read_link(directory, "physfn", physical, sizeof(physical)) < 0 ||
	    !sysfs_is_pci_address(physical))
		return false;
	DEVICE_SUPPLY_TEXT(s, function, "vf");
	DEVICE_SUPPLY_TEXT(s, physical_function, physical);
	if (find_vf_number(directory, address, &number))
		DEVICE_SUPPLY(s, function_number, number);
	return true;
}

/* Whether the parent is an auxiliary device for a subfunction of the PCI function at ADDRESS. */
static bool supply_sf(int device, const char *address, DeviceSnapshot *s)
{
	uint64_t number;

	if (sysfs_read_number(device, "device/sfnum", UINT32_MAX, &number) < 0)
		return false;
	DEVICE_SUPPLY_TEXT(s, function, "sf");
	DEVICE_SUPPLY(s, function_number, (uint32_t)number);
	DEVICE_SUPPLY_TEXT(s, physical_function, address);
	return true;
}

/* "0-15,64-79". A list that is too long for the row is left out: half of it would be wrong. */
static void supply_cpus(int directory, DeviceSnapshot *s)
{
	char text[sizeof(AttrPath) + 1];

	if (sysfs_read_text(directory, "local_cpulist", text, sizeof(text)) == 0 &&
	    strlen(text) < sizeof(AttrPath) && !text[strspn(text, "0123456789,-")])
		DEVICE_SUPPLY_TEXT(s, local_cpus, text);
}

int function_open(int device, const char *parent)
{
	char upwards[UPWARDS_MAX];
	AttrText address;

	return find_pci(parent, address, upwards) ? sysfs_open_directory(device, upwards) : -ENODEV;
}

void function_supply(int device, const char *parent, DeviceSnapshot *s)
{
	_cleanup_close_ int directory = -EBADF;
	char upwards[UPWARDS_MAX];
	AttrText address = "", type;
	bool is_virtual;
	uint64_t number;
	size_t n;

	DEVICE_SUPPLY_TEXT(s, sysfs_path, parent);
	n = find_pci(parent, address, upwards);
	if (n == 0)
		return;
	DEVICE_SUPPLY_TEXT(s, pci_address, address);
	directory = sysfs_open_directory(device, upwards);
	if (directory < 0)
		return;
	if (!mask_has(&s->supplied, DEVICE_ATTR_numa_node) &&
	    sysfs_read_number(directory, "numa_node", INT32_MAX, &number) == 0)
		DEVICE_SUPPLY(s, numa_node, (uint32_t)number);
	supply_cpus(directory, s);
	if (sysfs_read_text(directory, "iommu_group/type", type, sizeof(type)) == 0)
		DEVICE_SUPPLY_TEXT(s, iommu, type);
	is_virtual = supply_vf(directory, address, s);
	/* only a physical function says how many virtual ones it can have */
	if (!supply_sf(device, address, s) && !is_virtual &&
	    sysfs_read_number(directory, "sriov_totalvfs", UINT32_MAX, &number) == 0)
		DEVICE_SUPPLY_TEXT(s, function, "pf");
	if (is_virtual)
		return;
	pcie_supply(directory, parent, n, s);
	aer_supply(directory, parent, n, s);
}
