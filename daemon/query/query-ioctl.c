/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-ioctl.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>

/* The reply of the kernel since 6.7; until then the last member was reserved and zero. */
typedef struct QueryPortResponse {
	struct ib_uverbs_query_port_resp legacy;
	uint16_t port_cap_flags2;
	uint8_t reserved[2];
	uint32_t active_speed_ex;
} QueryPortResponse;

_Static_assert(sizeof(QueryPortResponse) == 48, "layout of the uverbs ABI");

int ioctl_query_active_speed_ex(struct ibv_context *context, uint32_t port, uint32_t driver_id,
				uint32_t *ret)
{
	QueryPortResponse response = {};
	/* The header ends in a flexible array: clang has no structures with such a member inside.
	 */
	_Alignas(struct ib_uverbs_ioctl_hdr) uint8_t
		buffer[sizeof(struct ib_uverbs_ioctl_hdr) + 2 * sizeof(struct ib_uverbs_attr)] = {};
	struct ib_uverbs_ioctl_hdr *command = (struct ib_uverbs_ioctl_hdr *)(void *)buffer;

	command->length = sizeof(buffer);
	command->object_id = UVERBS_OBJECT_DEVICE;
	command->method_id = UVERBS_METHOD_QUERY_PORT;
	command->num_attrs = 2;
	command->driver_id = driver_id;
	command->attrs[0] = (struct ib_uverbs_attr){
		.attr_id = UVERBS_ATTR_QUERY_PORT_PORT_NUM,
		.len = sizeof(uint64_t), /* a constant, in the place of a pointer */
		.flags = UVERBS_ATTR_F_MANDATORY,
		.data = port};
	command->attrs[1] = (struct ib_uverbs_attr){.attr_id = UVERBS_ATTR_QUERY_PORT_RESP,
						    .len = sizeof(response),
						    .flags = UVERBS_ATTR_F_MANDATORY,
						    .data = (uintptr_t)&response};
	if (ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, command) < 0)
		return -errno;
	*ret = response.active_speed_ex;
	return 0;
}
