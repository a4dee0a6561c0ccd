/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What changes devices and interfaces: rtnetlink, RDMA netlink and /dev/rdma_sim, spoken to
 * directly, so that it is known to the microsecond when a change was made. Everything returns 0 or
 * a negative errno.
 */

#include <stdbool.h>
#include <stdint.h>

/* Opens the sockets, and makes another network namespace for devices to go to. */
int kernel_open(void);

/* A line for /dev/rdma_sim. */
int kernel_sim(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The kernel index of RDMA device NAME, or -ENODEV. */
int kernel_device_index(const char *name);

/* With the address ...:LAST from the first moment on: one that is given by hand, udev leaves alone.
 */
int kernel_add_dummy(const char *name, uint8_t last);
int kernel_add_veth(const char *name, const char *peer, uint8_t last);
int kernel_delete_link(const char *name);
int kernel_set_up(const char *name, bool up);
int kernel_set_carrier(const char *name, bool on);
int kernel_set_mtu(const char *name, uint32_t mtu);
int kernel_set_mac(const char *name, uint8_t last);
int kernel_rename_link(const char *name, const char *to);
/* 10.LINK.N.1/24, or fd00:LINK:N::1/64 without duplicate address detection. */
int kernel_set_address(const char *name, bool ipv6, uint8_t link, uint8_t n, bool add);

int kernel_add_rxe(const char *name, const char *netdev);
int kernel_delete_rxe(uint32_t index);
int kernel_rename_device(uint32_t index, const char *to);
/* To the other network namespace (AWAY), or back. */
int kernel_move_device(uint32_t index, bool away);
