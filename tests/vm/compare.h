/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Compares what rdmad publishes of a port with what libibverbs says when asked now. It has its own
 * list of the fields of struct ibv_port_attr and does not use the attribute tables, so that it
 * finds errors in them. A device that libibverbs does not list is compared with what netlink and
 * sysfs say.
 */

#include <infiniband/verbs.h>

#include "fixture.h"

/* Opens the device with kernel index INDEX. Returns NULL and sets errno if that fails. */
struct ibv_context *compare_open(uint32_t index);

/*
 * Compares port NUMBER of the device with INDEX in every field, GID and P_Key. Returns the number
 * of differences, or a negative errno if the kernel cannot be asked. Each difference is a line in
 * *RET_TEXT, which the caller frees.
 */
int compare_port(Fixture *f, uint32_t index, uint8_t number, char **ret_text);

/* The same for the device itself. */
int compare_device(Fixture *f, uint32_t index, char **ret_text);
