/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* GIDs, GUIDs and P_Keys as text, and which GID of a port a program should use. */

#include <stdbool.h>
#include <stdint.h>

/* enum ibv_gid_type_sysfs and the uverbs ABI agree on these */
typedef enum GidType { GID_TYPE_IB, GID_TYPE_ROCE_V1, GID_TYPE_ROCE_V2, _GID_TYPE_MAX } GidType;

/* "fe80:0000:0000:0000:0002:c903:00ab:cdef", all digits, as sysfs and show_gids write a GID. RET
 * has room for 40 bytes. */
void gid_format(const uint8_t gid[16], char ret[40]);
/* The IP address in a RoCE GID: IPv4 if it is v4-mapped, else IPv6. "" for GID type IB. RET has
 * room for 46 bytes. */
void gid_format_address(const uint8_t gid[16], GidType type, char ret[46]);
/* The GID that holds IP address TEXT, an IPv4 address mapped into IPv6; or any GID in the notation
 * of IPv6. -EINVAL. */
int gid_parse(const char *text, uint8_t ret[16]);
/* "IB", "RoCE v1", "RoCE v2"; for a number that is no GidType "unknown(7)". Returns a static text
 * or BUFFER. */
const char *gid_type_name(uint32_t type, char buffer[24]);

/* An IP address with a zone behind a percent sign, as in fe80::1%eth3, or without one:
 * *RET_ZONE is the part of TEXT behind the sign, or NULL. -EINVAL. */
int gid_parse_zone(const char *text, uint8_t ret[16], const char **ret_zone);
/* Whether ZONE, NULL: none, is the interface NETDEV, whose number is IFINDEX. */
bool gid_zone_fits(const char *zone, const char *netdev, uint32_t ifindex);
/* A subnet such as 192.0.2.0/24: *RET_BITS of the 128 bits of RET are its prefix. -EINVAL. */
int gid_parse_subnet(const char *text, uint8_t ret[16], unsigned int *ret_bits);
bool gid_in_subnet(const uint8_t gid[16], const uint8_t subnet[16], unsigned int bits);

/* Whose network interface an entry of a GID table belongs to. */
typedef enum GidNamespace {
	GID_NAMESPACE_OWN,   /* the network namespace of rdmad, or there is no interface */
	GID_NAMESPACE_OTHER, /* another one */
	_GID_NAMESPACE_MAX
} GidNamespace;

/* Where the network interface of an entry of a GID table stands, the best place first. */
typedef enum GidWhere {
	GID_WHERE_OWN,	     /* it is that of the port, or the bond or bridge which that is in */
	GID_WHERE_ABOVE,     /* another one above it, such as a macvlan */
	GID_WHERE_VLAN,	     /* the same with the tag of a VLAN */
	GID_WHERE_NAMESPACE, /* it is in another network namespace: no program here can use it */
} GidWhere;

/* This is the rule of all of rdmad. NETDEV, VLAN_ID and NAMESPACE (GidNamespace) are of the entry,
 * PORT_NETDEV and PORT_MASTER are Netdev and Master of the port; "" is none. */
GidWhere gid_where(const char *netdev, uint32_t vlan_id, uint32_t namespace,
		   const char *port_netdev, const char *port_master);

/* The properties that decide which entry of the GID table of a port a program should use. */
typedef struct GidChoice {
	uint8_t gid[16];
	uint32_t type; /* GidType */
	GidWhere where;
	uint32_t index; /* of the entry in the table */
} GidChoice;

/* Whether only neighbours on the same link reach the GID: fe80::/10, or 169.254.0.0/16 mapped into
 * IPv6. The default prefix of an InfiniBand subnet is such a one. */
bool gid_is_link_local(const uint8_t gid[16]);
/* Whether it stands for an address of IPv4: it is one, mapped into IPv6. */
bool gid_is_ipv4(const uint8_t gid[16]);
/* Less than 0 if a program should use A before B, greater than 0 if B before A. This is the rule
 * of all of rdmad; the first difference decides:
 *  1. the network namespace of rdmad before another one
 *  2. RoCE v2 before RoCE v1 (which no router forwards), and that before IB, of which the index
 *     alone decides: paths to an InfiniBand port lead to its first GID
 *  3. a global address before a link-local one
 *  4. the network interface of the port itself, or its bond or bridge, before another one, and that
 *     before a VLAN
 *  5. IPv4 before IPv6, as NCCL and UCX prefer it
 *  6. the lower index */
int gid_compare(const GidChoice *a, const GidChoice *b);
/* The same without the last rule: 0 if both are as good. */
int gid_compare_kind(const GidChoice *a, const GidChoice *b);

/* "" or "other"; "" for a number that is no GidNamespace. */
const char *gid_namespace_name(uint32_t namespace);

/* Parses "0002:c903:00ab:cdef", with or without colons or 0x, or with a colon after each byte, as
 * ip(8) writes it. -EINVAL. */
int guid_parse(const char *text, uint64_t *ret);
/* "0002:c903:00ab:cdef", all digits. RET has room for 20 bytes. */
void guid_format(uint64_t guid, char ret[20]);

/* The most bytes that the hardware address of an interface has: that of IPoIB. */
#define HW_ADDRESS_MAX 20U
/* "00:00:5e:00:53:01", also with hyphens, as "0000.5e00.5301" or bare, or the 20 bytes of an IPoIB
 * interface. Returns how many bytes it has: 6 or 20. -EINVAL. */
int hw_address_parse(const char *text, uint8_t ret[HW_ADDRESS_MAX]);
/* The interface identifier that IPv6 makes of a MAC address (RFC 4291, appendix A). */
void mac_interface_id(const uint8_t mac[6], uint8_t ret[8]);

/* "full" or "limited": bit 15 of a P_Key says which member of its partition the port is. */
const char *pkey_membership(uint32_t pkey);
