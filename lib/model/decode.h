/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The numbers of the InfiniBand architecture and their names: the one place that knows both. The
 * values and their meaning are from IBA vol. 1 chapter 14 (PortInfo) and the kernel's
 * include/rdma/ib_verbs.h.
 */

#include "attribute.h"

/* Name of VALUE in the enumeration TYPE; NULL if nobody knows it, or TYPE is none. */
const char *decode_name(AttrType type, uint32_t value);
/* The reverse: -EINVAL if NAME is not one of the enumeration's. Case does not count. */
int decode_value(AttrType type, const char *name, uint32_t *ret);
/* All names of the enumeration TYPE, NULL at the end; NULL if TYPE is none. */
const char *const *decode_names(AttrType type);

/* Name of bit BIT (0 to 31) of TYPE CAP_FLAGS or CAP_FLAGS2, never NULL ("reserved-0", "bit-9"). */
const char *decode_capability(AttrType type, unsigned int bit);

/* Published number of an MTU, WIDTH or VL_CODE, 0 if the code is unknown; and the reverse, -EINVAL.
 */
uint32_t decode_number(AttrType type, uint32_t code);
int decode_code(AttrType type, uint64_t number, uint32_t *ret);
