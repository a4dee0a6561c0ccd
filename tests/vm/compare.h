/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The oracle: what rdmad publishes of a port against what libibverbs says when asked now. It knows
 * struct ibv_port_attr by itself, not from the attribute tables, so that an error in these shows.
 */

#include <infiniband/verbs.h>

#include "fixture.h"

/* The context of the device with kernel INDEX, opened; NULL with errno. */
struct ibv_context *compare_open(uint32_t index);

/*
 * Compares port NUMBER of the device with INDEX in every field, GID and P_Key. Returns the number
 * of differences, or a negative errno if libibverbs cannot be asked; each difference is a line in
 * *RET_TEXT, to be freed.
 */
int compare_port(Fixture *f, uint32_t index, uint8_t number, char **ret_text);

/* The same for the device itself. */
int compare_device(Fixture *f, uint32_t index, char **ret_text);
