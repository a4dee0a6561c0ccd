/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* By which ways the kernel can register memory of accelerators for RDMA (GPUDirect): a module that
 * is a client of ib_core for such memory, or DMA-BUF. */

#include "port.h"
#include "query-verbs.h"

/* The answer does not change while the driver is loaded. */
typedef enum DmaBuf { DMA_BUF_UNTRIED, DMA_BUF_NO, DMA_BUF_YES } DmaBuf;

/* The names of the modules, as a list of ATTR_WORDS. SYS is the directory /sys. */
void gpudirect_read_peers(int sys, AttrPath ret);
/* Supplies the row about them. */
void gpudirect_supply_peers(DeviceSnapshot *s);
/* Supplies the row about DMA-BUF of the device of CONTEXT, and tries it if that was not done. */
void gpudirect_supply_dma_buf(struct ibv_context *context, DmaBuf *known, DeviceSnapshot *s);
