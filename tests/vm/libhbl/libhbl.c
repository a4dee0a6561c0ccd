/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stands in for libhbl.so.1, of which there is no package: the two functions that rdmad calls.
 * LIBHBL_QUERY says which of the following queries the library has. The first asks the kernel as
 * the driver's interface has it, of a device that rdma_sim registers with the driver id of rxe so
 * that librxe opens it; the others are what may be installed instead.
 */

#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

#define PUBLIC __attribute__((visibility("default")))

/* The driver's interface. Its own ids begin at 1 << 12. */
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

/* hbldv_query_port(3); longer in the library of another layout */
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

/* The reserved fields stay as they are. */
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
	/* The header ends in a flexible array: clang has no structures with such a member inside.
	 */
	_Alignas(struct ib_uverbs_ioctl_hdr) uint8_t
		buffer[sizeof(struct ib_uverbs_ioctl_hdr) + 2 * sizeof(struct ib_uverbs_attr)] = {};
	struct ib_uverbs_ioctl_hdr *command = (struct ib_uverbs_ioctl_hdr *)(void *)buffer;

	command->length = sizeof(buffer);
	command->object_id = OBJECT_QUERY_PORT;
	command->method_id = METHOD_QUERY_PORT;
	command->num_attrs = 2;
	command->driver_id = RDMA_DRIVER_RXE;
	/* Eight bytes and less are in the place of a pointer to them. */
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

/* As newer libraries, which give names to the reserved fields; without a kernel: every field has
 * its place as its value. */
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
	/* A sanitizer has its own idea of it. */
	signal(SIGSEGV, SIG_DFL);
	return raise(SIGSEGV);
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
