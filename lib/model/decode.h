/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The numbers of the InfiniBand architecture and what they stand for: the one place that knows
 * both. The values and their meaning are from IBA vol. 1 chapter 14 (PortInfo) and the kernel's
 * include/rdma/ib_verbs.h.
 */

#include "attribute.h"

/* enum ibv_port_state */
enum {
	PORT_STATE_NOP = 0,
	PORT_STATE_DOWN = 1,
	PORT_STATE_INIT = 2,
	PORT_STATE_ARMED = 3,
	PORT_STATE_ACTIVE = 4,
	PORT_STATE_ACTIVE_DEFER = 5,
};

/* IBV_LINK_LAYER_* */
enum {
	LINK_LAYER_UNSPECIFIED = 0,
	LINK_LAYER_INFINIBAND = 1,
	LINK_LAYER_ETHERNET = 2,
};

/* Codes of the speed of a lane */
#define SPEED_SDR 1U
#define SPEED_FDR 16U
/* The value for NDR and for everything quicker in the field of eight bits for the speed of a lane.
 */
#define SPEED_NDR 128U

/* enum rdma_node_type of the kernel */
enum {
	NODE_TYPE_CA = 1,
	NODE_TYPE_SWITCH = 2,
	NODE_TYPE_ROUTER = 3,
	NODE_TYPE_RNIC = 4, /* iWARP */
	NODE_TYPE_USNIC = 5,
	NODE_TYPE_USNIC_UDP = 6,
	NODE_TYPE_UNSPECIFIED = 7, /* libibverbs has the same name for it */
};

/* enum rdma_nl_dev_type of the kernel, which sends nothing for the first */
enum {
	DEVICE_TYPE_NORMAL = 0,
	DEVICE_TYPE_SMI = 1,
};

/* Whether a port in STATE is what somebody who waits for state WANTED waits for. "init", "armed"
 * and "active" are met by the states after them too; the others only by themselves. */
bool decode_state_meets(uint32_t state, uint32_t wanted);

/* Name of VALUE in the enumeration TYPE; NULL if nobody knows it, or TYPE is none. */
const char *decode_name(AttrType type, uint32_t value);
/* The reverse: -EINVAL if NAME is not one of the enumeration's. Case does not count. */
int decode_value(AttrType type, const char *name, uint32_t *ret);
/* All names of the enumeration TYPE, NULL at the end; NULL if TYPE is none. */
const char *const *decode_names(AttrType type);

/* The bit of type CAP_NAMES that stands for bit 26 of CapabilityMask as the port announces it. */
#define CAPABILITY_OTHER_LOCAL_CHANGES 32

/* Name of bit BIT of TYPE, one that is published as a list of names (CAP_FLAGS, EFA_CAPS and so
 * on); never NULL ("reserved-0", "bit-9"). */
const char *decode_capability(AttrType type, unsigned int bit);
/* How many bits such a TYPE has. */
unsigned int decode_capability_bits(AttrType type);

/* The published number for CODE of TYPE MTU (bytes), WIDTH (lanes) or VL_CODE (virtual lanes); 0 if
 * the code is unknown. */
uint32_t decode_number(AttrType type, uint32_t code);
/* The reverse: -EINVAL if there is no code for NUMBER. */
int decode_code(AttrType type, uint64_t number, uint32_t *ret);

/* The rates of one lane at the speed with code SPEED, in bit/s: the nominal signalling rate, and
 * what of it is left for data. False if the code is unknown. */
bool decode_speed(uint32_t speed, uint64_t *ret_signalling, uint64_t *ret_data);
