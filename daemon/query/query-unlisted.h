/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Devices that libibverbs does not list. The kernel has them, and verbs cannot be used: there is no
 * provider, as for an adapter that is newer than the installed rdma-core; or there is no uverbs
 * node, as for the planes (SMI) of an adapter and without the module ib_uverbs; or the node is not
 * in /dev, as in a container.
 */

#include "query-nldev.h"

/*
 * Why libibverbs does not list device INDEX, which is called NAME: -EOPNOTSUPP (no provider),
 * -ENXIO (no uverbs node) or -ENOENT (it is not in /dev). -ENODEV: the device is being removed or
 * has another name by now. Another negative errno: nldev cannot be asked.
 */
int unlisted_error(Netlink *n, uint32_t index, const char *name);
