/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds devices and ports in the cache by the names that people and programs have for them, whether
 * they are on the bus yet or not; only lookup_path() finds nothing but what is on the bus.
 *
 * 0, with the device or port in *RET. -ENOENT: nothing has that name. -EEXIST: more than one has.
 * -EINVAL: the text cannot be such a name at all.
 */

#include "cache.h"

/*
 * The kinds of names of a port, in the order in which a text is tried: the first kind by which the
 * text finds a port is meant.
 *
 * F(kind, name, help): NAME is the word for the kind on the bus.
 */
#define FIND_KINDS(F)                                                                              \
	F(NAME, "name", "the name of a port or a device")                                          \
	F(NETDEV, "netdev", "the name of a network interface")                                     \
	F(ALTNAME, "altname", "an alternative name of a network interface")                        \
	F(PORT_GUID, "port-guid", "a port GUID")                                                   \
	F(NODE_GUID, "node-guid", "a node GUID")                                                   \
	F(SYSTEM_GUID, "system-guid", "a system image GUID")                                       \
	F(PCI, "pci", "a PCI address")                                                             \
	F(ACCELERATOR, "accelerator", "the PCI address of an accelerator")                         \
	F(HW_ADDRESS, "hw-address", "the hardware address of a network interface")                 \
	F(IFINDEX, "ifindex", "the index of a network interface")                                  \
	F(ADDRESS, "address", "an IP address")                                                     \
	F(GID, "gid", "a GID")                                                                     \
	F(SUBNET, "subnet", "an IP subnet")                                                        \
	F(CHARDEV, "chardev", "a character device")

typedef enum FindKind {
#define F(kind, name, help) FIND_##kind,
	FIND_KINDS(F)
#undef F
		_FIND_MAX
} FindKind;

const char *find_kind_name(FindKind kind);
/* _FIND_MAX if it is the name of none. */
FindKind find_kind_from_name(const char *name);

/* The text to find, and its kinds. */
typedef struct FindKey {
	const char *text;
	FindKind by;	    /* _FIND_MAX: any; NETDEV: ALTNAME too */
	GidType type;	    /* the GIDs of this type; _GID_TYPE_MAX: any */
	const char *netdev; /* those of the network interface with this name or alternative name;
			       NULL: any */
} FindKey;

/* Reads the text of KEY, of any kind, as another program prints a name: a path in /sys, a unit of
 * systemd, devlink's "pci/0000:c1:00.0", "H-" and a node GUID of ibnetdiscover, "ib0@if3:" of ip
 * link, or what has a slash at its end. *RET has the plain name, in BUFFER. False: the text is none
 * of them. */
#define FIND_PLAIN_SIZE 256U
bool find_key_plain(const FindKey *key, char buffer[FIND_PLAIN_SIZE], FindKey *ret);

/* A port that was found. */
typedef struct FoundPort {
	Port *port;
	const GidEntry
		*gid;	    /* the entry that a program should use: of those that hold the address
			       or the GID, else of those of the interface or the port; NULL: none */
	const char *netdev; /* by a network interface: its name; else NULL */
} FoundPort;

/*
 * Finds the ports that KEY names, each once, in the order of device index and port number. The
 * first ROOM of them go to RET; *RET_N is how many there are, and *RET_BY by what. What is in RET
 * is valid until the cache changes. A text that finds nothing is tried once more by
 * find_key_plain().
 *
 *   NAME     "mlx5_0/1", "mlx5_0:1" (tried behind the GUIDs, which may look the same), or all ports
 * of the device "mlx5_0" NETDEV, ALTNAME, IFINDEX of an interface that is on the port (that of an
 * Ethernet port, an IPoIB interface), or of one that a GID belongs to (a VLAN; not by ALTNAME); by
 * NETDEV the bond or bridge that the interface of the port is in, too, and by IFINDEX the bond; by
 * NETDEV the other members of a bond whose members are one device (LAG)
 *   *_GUID   in any form that guid_parse() takes; of the node and of the system: all their ports
 *   PCI      with or without "0000:" in front: all ports of the devices there
 *   ACCELERATOR  the same of an accelerator: all ports of the devices that are nearest to it
 *   HW_ADDRESS  a MAC address of an Ethernet port, or the 20 bytes of an IPoIB interface
 *   ADDRESS  with a zone or without one (fe80::1%eth3), in a GID of RoCE, or of an IPoIB interface
 * or another one without GIDs of its own GID      in the notation of IPv6, with a zone or without
 * one SUBNET   192.0.2.0/24: all ports with an ADDRESS in it
 *
 * Interfaces are those in the network namespace of rdmad. Of several GIDs of one port the best one
 * by gid_compare() is taken. -ENOENT, -EINVAL.
 */
int lookup_find(const Cache *c, const FindKey *key, FoundPort *ret, size_t room, size_t *ret_n,
		FindKind *ret_by);

/* By the name of the device, such as "mlx5_0"; NULL if there is none. */
Device *lookup_device(const Cache *c, const char *name);
/* The one port that TEXT names by BY, _FIND_MAX: by anything. */
int lookup_port_by(const Cache *c, const char *text, FindKind by, Port **ret);
static inline int lookup_port(const Cache *c, const char *text, Port **ret)
{
	return lookup_port_by(c, text, _FIND_MAX, ret);
}

/* Whether GID is in the GID table of P, or is an address of its interfaces, as of IPoIB: without
 * going through the tables. */
bool lookup_has_address(const Port *p, const uint8_t gid[16]);

/* The object at PATH, which is written as device_path() or port_path() writes it: *RET_PORT is the
 * port, or NULL if it is the device itself. -ENOENT: no object that is on the bus has that path. */
int lookup_path(const Cache *c, const char *path, Device **ret_device, Port **ret_port);
