/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A question to uverbs that the installed libibverbs may be too old to pass on. */

#include <infiniband/verbs.h>
#include <stdint.h>

/*
 * The speed code of a lane without the limit of eight bits, by UVERBS_METHOD_QUERY_PORT. 0: the
 * kernel (before 6.7) does not say. DRIVER_ID is the one of the device's uverbs driver: the kernel
 * insists on it.
 */
int ioctl_query_active_speed_ex(struct ibv_context *context, uint32_t port, uint32_t driver_id,
				uint32_t *ret);
