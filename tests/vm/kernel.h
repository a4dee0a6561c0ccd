/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Functions that change devices and interfaces, by rtnetlink, RDMA netlink and /dev/rdma_sim. They
 * start no other program, so that it is known to the microsecond when a change was made. Each
 * returns 0 or a negative errno.
 */

#include <stdbool.h>
#include <stdint.h>

/* Opens the sockets, and makes another network namespace to which devices can be moved. */
int kernel_open(void);

/* Writes a line to /dev/rdma_sim. */
int kernel_sim(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The kernel index of RDMA device NAME in this network namespace, or -ENODEV. */
int kernel_device_index(const char *name);

/* The interface gets an address that ends in LAST when it is made: udev does not change an address
 * that was set explicitly. */
int kernel_add_dummy(const char *name, uint8_t last);
int kernel_add_veth(const char *name, const char *peer, uint8_t last);
int kernel_delete_link(const char *name);
int kernel_set_up(const char *name, bool up);
int kernel_set_carrier(const char *name, bool on);
int kernel_set_mtu(const char *name, uint32_t mtu);
int kernel_set_mac(const char *name, uint8_t last);
int kernel_rename_link(const char *name, const char *to);
/* The address is 10.LINK.N.1/24, or fd00:LINK:N::1/64 without duplicate address detection. */
int kernel_set_address(const char *name, bool ipv6, uint8_t link, uint8_t n, bool add);

/* Makes a container: the other network namespace gets a macvlan NAME on the interface LOWER of this
 * one. An interface SHADOW here gets the index that it has there. */
int kernel_add_container(const char *name, const char *lower, const char *shadow);
/* The same as the functions above, for an interface in the other network namespace. */
int kernel_delete_container(const char *name);
int kernel_set_container_up(const char *name, bool up);
int kernel_set_container_address(const char *shadow, bool ipv6, uint8_t link, uint8_t n, bool add);

int kernel_add_rxe(const char *name, const char *netdev);
int kernel_delete_rxe(uint32_t index);
/* Makes a plane of the device PARENT. -EINVAL or -EOPNOTSUPP: this kernel knows no planes. */
int kernel_add_plane(const char *name, uint32_t parent);
int kernel_delete_plane(uint32_t index);
int kernel_rename_device(uint32_t index, const char *to);
/* Moves the device to the other network namespace if AWAY is set, otherwise back. */
int kernel_move_device(uint32_t index, bool away);
