/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A substitute for libhbl.so.1, for which there is no package: it has the two functions that rdmad
 * calls. LIBHBL_QUERY says which of the following query functions the library has. The first one
 * asks the kernel through the interface of the driver; rdma_sim registers the device with the
 * driver id of rxe, so that librxe opens it. The others are wrong libraries that may be installed
 * instead.
 */

#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

#define PUBLIC __attribute__((visibility("default")))

/* The interface of the driver. The ids that only it has begin with 1 << 12. */
enum {
	METHOD_QUERY_PORT = 0x1001,
	OBJECT_QUERY_PORT = 0x1002,
	ATTR_QUERY_PORT_IN = 0x1000,
	ATTR_QUERY_PORT_OUT = 0x1001,
};

struct query_port_in {
	uint32_t port_num;
	uint32_t reserved;
};

struct query_port_out {
	uint32_t max_num_of_qps;
	uint32_t num_allocated_qps;
	uint32_t max_allocated_qp_num;
	uint32_t max_cq_size;
	uint32_t reserved[5];
	uint8_t advanced;
	uint8_t max_num_of_cqs;
	uint8_t max_num_of_usr_fifos;
	uint8_t max_num_of_encaps;
	uint8_t nic_macro_idx;
	uint8_t nic_phys_port_idx;
	uint8_t reserved5[6];
};

_Static_assert(sizeof(struct query_port_out) == 48, "layout of the driver's interface");

/* The structure of hbldv_query_port(3). In the library with another layout it is longer. */
struct hbldv_query_port_attr {
	uint32_t max_num_of_qps;
	uint32_t num_allocated_qps;
	uint32_t max_allocated_qp_num;
	uint32_t max_cq_size;
	uint32_t reserved0;
	uint32_t reserved1;
	uint32_t reserved2;
	uint32_t reserved3;
	uint32_t reserved4;
	uint8_t advanced;
	uint8_t max_num_of_cqs;
	uint8_t max_num_of_usr_fifos;
	uint8_t max_num_of_encaps;
	uint8_t nic_macro_idx;
	uint8_t nic_phys_port_idx;
};

typedef int Query(struct ibv_context *context, uint32_t port, struct hbldv_query_port_attr *attr);

PUBLIC bool hbldv_is_supported(struct ibv_device *device);
PUBLIC Query hbldv_query_port;
Query query_kernel, query_reserved, query_layout, query_crash, query_hang;

bool hbldv_is_supported(struct ibv_device *device)
{
	(void)device;
	return true;
}

/* Does not write the reserved fields. */
static void copy(const struct query_port_out *out, struct hbldv_query_port_attr *attr)
{
	attr->max_num_of_qps = out->max_num_of_qps;
	attr->num_allocated_qps = out->num_allocated_qps;
	attr->max_allocated_qp_num = out->max_allocated_qp_num;
	attr->max_cq_size = out->max_cq_size;
	attr->advanced = out->advanced;
	attr->max_num_of_cqs = out->max_num_of_cqs;
	attr->max_num_of_usr_fifos = out->max_num_of_usr_fifos;
	attr->max_num_of_encaps = out->max_num_of_encaps;
	attr->nic_macro_idx = out->nic_macro_idx;
	attr->nic_phys_port_idx = out->nic_phys_port_idx;
}

int query_kernel(struct ibv_context *context, uint32_t port, struct hbldv_query_port_attr *attr)
{
	struct query_port_in in = {.port_num = port};
	struct query_port_out out = {};
	/* The header ends with a flexible array, and clang does not allow a structure that contains
	 * such a member. */
	_Alignas(struct ib_uverbs_ioctl_hdr) uint8_t
		buffer[sizeof(struct ib_uverbs_ioctl_hdr) + 2 * sizeof(struct ib_uverbs_attr)] = {};
	struct ib_uverbs_ioctl_hdr *command = (struct ib_uverbs_ioctl_hdr *)(void *)buffer;

	command->length = sizeof(buffer);
	command->object_id = OBJECT_QUERY_PORT;
	command->method_id = METHOD_QUERY_PORT;
	command->num_attrs = 2;
	command->driver_id = RDMA_DRIVER_RXE;
	/* Data of up to eight bytes stands where otherwise the pointer to the data is. */
	command->attrs[0] = (struct ib_uverbs_attr){
		.attr_id = ATTR_QUERY_PORT_IN, .len = sizeof(in), .flags = UVERBS_ATTR_F_MANDATORY};
	memcpy(&command->attrs[0].data, &in, sizeof(in));
	command->attrs[1] = (struct ib_uverbs_attr){.attr_id = ATTR_QUERY_PORT_OUT,
						    .len = sizeof(out),
						    .flags = UVERBS_ATTR_F_MANDATORY,
						    .data = (uintptr_t)&out};
	if (ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, command) < 0)
		return errno;
	copy(&out, attr);
	return 0;
}

/* Like newer libraries, which give names to the reserved fields. It does not ask the kernel: the
 * value of each field is its position. */
int query_reserved(struct ibv_context *context, uint32_t port, struct hbldv_query_port_attr *attr)
{
	(void)context;
	*attr = (struct hbldv_query_port_attr){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	return port <= 2 ? 0 : EINVAL;
}

int query_layout(struct ibv_context *context, uint32_t port, struct hbldv_query_port_attr *attr)
{
	(void)context;
	(void)port;
	memset((void *)attr, 0x5a, 256);
	return 0;
}

int query_crash(struct ibv_context *context, uint32_t port, struct hbldv_query_port_attr *attr)
{
	(void)context;
	(void)port;
	(void)attr;
	/* A sanitizer has a handler of its own for this signal: remove it, so that the process
	 * dies. Before Linux 6.12 raise() does nothing there: the process may send no signal. */
	signal(SIGSEGV, SIG_DFL);
	return *(volatile int *)NULL;
}

int query_hang(struct ibv_context *context, uint32_t port, struct hbldv_query_port_attr *attr)
{
	(void)context;
	(void)port;
	(void)attr;
	for (;;)
		sigsuspend(&(sigset_t){});
}

#ifdef LIBHBL_QUERY
int hbldv_query_port(struct ibv_context *context, uint32_t port, struct hbldv_query_port_attr *attr)
{
	return LIBHBL_QUERY(context, port, attr);
}
#endif
