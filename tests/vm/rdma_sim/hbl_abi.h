/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers and layouts by which libhbl talks to the Gaudi RDMA driver.
 * That driver is not in the kernel; these are facts of its interface.
 *
 * The driver id collides: rdma-core gives 21 to ionic. Whoever wants a given
 * provider library to open the device says so with driver=NUMBER.
 */
#ifndef RDMA_SIM_HBL_ABI_H
#define RDMA_SIM_HBL_ABI_H

#include <linux/types.h>

#define HBL_DRIVER_ID		21
#define HBL_UVERBS_ABI_VERSION	1

/* Driver private ids start at 1 << 12, UVERBS_ID_NS_SHIFT in the kernel. */
enum {
	HBL_IB_OBJECT_QUERY_PORT = 0x1002,
	HBL_IB_METHOD_QUERY_PORT = 0x1001,
	HBL_IB_ATTR_QUERY_PORT_IN = 0x1000,
	HBL_IB_ATTR_QUERY_PORT_OUT = 0x1001,
};

struct hbl_uapi_alloc_ucontext_req {
	__u64 ports_mask;	/* 0: all */
	__s32 core_fd;
	__u8 use_dvs;
	__u8 reserved[3];
};

struct hbl_uapi_alloc_ucontext_resp {
	__u64 ports_mask;
	__u64 cap_mask;
};

struct hbl_uapi_query_port_in {
	__u32 port_num;
	__u32 reserved;
};

struct hbl_uapi_query_port_out {
	__u32 max_num_of_qps;
	__u32 num_allocated_qps;
	__u32 max_allocated_qp_num;
	__u32 max_cq_size;
	__u32 reserved0;	/* newer libraries give names to these five */
	__u32 reserved1;
	__u32 reserved2;
	__u32 reserved3;
	__u32 reserved4;
	__u8 advanced;
	__u8 max_num_of_cqs;
	__u8 max_num_of_usr_fifos;
	__u8 max_num_of_encaps;
	__u8 nic_macro_idx;
	__u8 nic_phys_port_idx;
	__u8 reserved[6];
};

#endif
