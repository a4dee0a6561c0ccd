/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Values that only sysfs has, and values of sysfs in the place of verbs where a device may not or
 * cannot be opened. DEVICE is a descriptor of the device's directory below /sys/class/infiniband:
 * after a rename it still is that of the device, while the name may be that of another. To read a
 * file in ports/, other than P_Keys and GIDs, makes the driver query its hardware.
 */

#include <dirent.h>

#include "port.h"

/* Open the directory of the device that has NAME now, or the one at PATH below PARENT. Return a
 * descriptor that the caller closes, or a negative errno. -EINVAL: NAME cannot be a device's. */
int sysfs_open_device(const char *name);
int sysfs_open_directory(int parent, const char *path);
/* The same for readdir(3). NULL: see errno. */
DIR *sysfs_open_list(int parent, const char *path);
DEFINE_CLEANUP(DIR, closedir);

/*
 * Reads the first SIZE - 1 bytes of a file, without space at the end, as terminated text that may
 * be anything but control characters and broken UTF-8. -ENODATA if there is nothing in it.
 */
int sysfs_read_text(int directory, const char *path, char *buffer, size_t size);
/* The same with its lines, and with whatever else is in it: nothing for people. */
int sysfs_read_lines(int directory, const char *path, char *buffer, size_t size);
/* A decimal or 0x number, alone or before ':' ("4: ACTIVE"). -EINVAL if it is none (also "-1" and
 * "N/A"). */
int sysfs_read_number(int directory, const char *path, uint64_t max, uint64_t *ret);
/* The same from the begin of a file that is open. */
int sysfs_read_open_number(int file, uint64_t max, uint64_t *ret);
/* The last component of what a symbolic link points to. */
int sysfs_read_link(int directory, const char *path, char *buffer, size_t size);

/* Supplies the rows with source SYSFS but the character devices. */
void sysfs_supply_device(int device, DeviceSnapshot *s);
/* "0000:c1:00.0", as the directory of a PCI function is named. */
bool sysfs_is_pci_address(const char *text);
/*
 * The device's character devices: VERBS, if that is not NULL, and those for MADs. CLASSES is a
 * descriptor of /sys/class: where the devices without a parent (rxe, siw) have theirs, all in one
 * place. NULL in *RET is an empty table.
 */
int sysfs_read_chardevs(int device, int classes, const char *name, const ChardevEntry *verbs,
			Table **ret);
/* Whether what could not be read with ERROR may be readable a little later: its port may have
 * answered just before. */
bool sysfs_may_pass(int error);
/* Supplies the rows of a port that S lacks and sysfs has. Where verbs was asked before, that is
 * only what sysfs alone says. Returns the first error that may pass; all other files are read. */
int sysfs_supply_port(int device, uint32_t port, PortSnapshot *s);
/* Reads the text of the file "rate" of a port, such as "200 Gb/sec (4X HDR)", into the codes of
 * width and speed. False if it is none, or if its words are not known. */
bool sysfs_parse_rate(const char *text, uint32_t *ret_width, uint32_t *ret_speed);
/* Whether S lacks such a row. If not, the device's directory need not be opened. */
bool sysfs_may_supply_port(const PortSnapshot *s);
/* The tables of a port without their empty entries, into *RET, which the caller frees; NULL is an
 * empty table. ROCE: GIDs without another type are RoCE v1, else InfiniBand's. A GID
 * has the name of its interface in whatever network namespace, and no index: see gids_complete(). A
 * negative errno if a part cannot
 * be read: half a table is none. */
int sysfs_read_pkeys(int device, uint32_t port, Table **ret);
/* The same of a table whose N files are open. */
int sysfs_read_pkey_files(const int *fds, uint32_t n, Table **ret);
int sysfs_read_gids(int device, uint32_t port, bool roce, Table **ret);
/* The GUID of an InfiniBand port, the lower half of GID 0, in network byte order. */
int sysfs_read_port_guid(int device, uint32_t port, uint8_t ret[8]);
/* Opens the file with the speed of the interface IFINDEX, if that has NAME: -ENODEV. NET is a
 * descriptor of /sys/class/net. */
int sysfs_open_netdev_speed(int net, const char *name, uint32_t ifindex);
/* Reads it: bit/s. -EINVAL while the interface has no speed, -ENODEV if it has gone. */
int sysfs_read_netdev_speed(int file, uint64_t *ret);
