/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "target-double.h"

#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <rdma/rdma_netlink.h>

#include "query-devlink.h"
#include "query-function.h"
#include "query-sysfs.h"
#include "query-verbs.h"

Kernel kernel;
OpenContexts contexts;
struct ibv_context context;
unsigned int n_logged[LOG_DEBUG + 1];

/* The kernel */

static struct nl_msg *device_message(void)
{
	struct nl_msg *m = nlmsg_alloc_simple(0, 0);
	size_t i = MIN(kernel.n_asked, ARRAY_SIZE(kernel.names) - 1);

	while (!kernel.names[i])
		i--;
	kernel.n_asked++;
	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, DEVICE);
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, kernel.names[i]);
	nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, kernel.is_switch ? 0 : 2);
	nla_put_u8(m, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, kernel.is_switch ? 2 : 1);
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_PROTOCOL, kernel.is_opa ? "opa" : "ib");
	return m;
}

static struct nl_msg *node_message(void)
{
	struct nl_msg *m = nlmsg_alloc_simple(0, 0);

	kernel.n_nodes++;
	nla_put_u32(m, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, (uint32_t)kernel.driver_id);
	nla_put_u64(m, RDMA_NLDEV_ATTR_CHARDEV, 231 << 8);
	nla_put_string(m, RDMA_NLDEV_ATTR_CHARDEV_NAME, "uverbs0");
	return m;
}

static struct nl_msg *link_message(void)
{
	struct ifinfomsg info = {.ifi_index = 7, .ifi_type = ARPHRD_INFINIBAND};
	struct nl_msg *m = nlmsg_alloc_simple(RTM_NEWLINK, 0);
	const uint8_t address[20] = {};

	kernel.n_links++;
	nlmsg_append(m, &info, sizeof(info), NLMSG_ALIGNTO);
	nla_put_string(m, IFLA_IFNAME, "ib0");
	nla_put(m, IFLA_ADDRESS, sizeof(address), address);
	return m;
}

int __wrap_netlink_open(Netlink *n, int protocol);
int __wrap_netlink_open(_unused_ Netlink *n, _unused_ int protocol)
{
	return 0;
}

int __wrap_netlink_ask(Netlink *n, struct nl_msg *request, NetlinkHandler handler, void *userdata);
int __wrap_netlink_ask(_unused_ Netlink *n, struct nl_msg *request, NetlinkHandler handler,
		       void *userdata)
{
	uint16_t type = nlmsg_hdr(request)->nlmsg_type;
	struct nl_msg *m = NULL;
	int r = kernel.error;

	nlmsg_free(request);
	if (type == RTM_GETLINK) {
		r = kernel.links_error;
		m = r < 0 ? NULL : link_message();
	} else if (r == 0 && type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET)) {
		m = device_message();
	} else if (r == 0 && kernel.driver_id >= 0 &&
		   type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV)) {
		m = node_message();
	}
	if (!m)
		return r < 0 ? r : -ENOENT;
	r = handler(nlmsg_hdr(m), userdata);
	nlmsg_free(m);
	return r;
}

int __wrap_sysfs_open_device(const char *name);
int __wrap_sysfs_open_device(const char *name)
{
	unsigned int i = kernel.n_opened++;

	assert_true(i < ARRAY_SIZE(kernel.opened));
	text_copy(kernel.opened[i], sizeof(kernel.opened[i]), name);
	kernel.directories[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return kernel.directories[i];
}

int __wrap_sysfs_read_link(int directory, const char *path, char *buffer, size_t size);
int __wrap_sysfs_read_link(int directory, const char *path, char *buffer, size_t size)
{
	assert_string_equal(path, "device/driver");
	if (directory < 0 || !kernel.driver)
		return -ENOENT;
	assert_int_equal(directory, kernel.directories[kernel.n_opened - 1]);
	text_copy(buffer, size, kernel.driver);
	return 0;
}

int __wrap_function_find(int device, const char *name, AttrPath ret);
int __wrap_function_find(int device, const char *name, AttrPath ret)
{
	assert_int_equal(device, kernel.directories[kernel.n_opened - 1]);
	assert_string_equal(name, "mlx5_0");
	if (!kernel.driver)
		return -ENOENT;
	text_copy(ret, sizeof(AttrPath), "/sys/devices/pci0000:c0/0000:c1:00.0");
	return 0;
}

bool __wrap_devlink_handle(int device, const char *parent, DevlinkHandle *ret);
bool __wrap_devlink_handle(_unused_ int device, const char *parent, DevlinkHandle *ret)
{
	assert_string_equal(parent, "/sys/devices/pci0000:c0/0000:c1:00.0");
	*ret = (DevlinkHandle){.bus = "pci", .device = "0000:c1:00.0"};
	return kernel.has_instance;
}

int __wrap_devlink_read_health(Genl *g, const DevlinkHandle *h, Table **ret);
int __wrap_devlink_read_health(_unused_ Genl *g, const DevlinkHandle *h, Table **ret)
{
	HealthEntry e = {};

	assert_string_equal(h->device, "0000:c1:00.0");
	/* whoever removes the device may wait for it to be closed */
	assert_int_equal(contexts.n_got, 0);
	kernel.n_health++;
	if (kernel.health_error < 0)
		return kernel.health_error;
	*ret = table_new(&e, 1, sizeof(e));
	return 0;
}

/* The log */

int __wrap_log_full(int level, int r, const char *format, ...);
int __wrap_log_full(int level, int r, _unused_ const char *format, ...)
{
	n_logged[level]++;
	return r;
}

/* The contexts */

int __wrap_contexts_get(Contexts *c, uint32_t device, const char *name, bool hold,
			struct ibv_context **ret);
int __wrap_contexts_get(_unused_ Contexts *c, uint32_t device, _unused_ const char *name, bool hold,
			struct ibv_context **ret)
{
	assert_int_equal(device, DEVICE);
	contexts.n_got++;
	if (contexts.error < 0)
		return contexts.error;
	contexts.held |= hold;
	*ret = &context;
	return 0;
}

void __wrap_contexts_put(Contexts *c, uint32_t device, struct ibv_context *given);
void __wrap_contexts_put(_unused_ Contexts *c, _unused_ uint32_t device, struct ibv_context *given)
{
	assert_ptr_equal(given, &context);
	contexts.n_put++;
}

bool __wrap_contexts_holds(const Contexts *c, uint32_t device);
bool __wrap_contexts_holds(_unused_ const Contexts *c, _unused_ uint32_t device)
{
	return contexts.held;
}

bool __wrap_contexts_lists(const Contexts *c, uint32_t device);
bool __wrap_contexts_lists(_unused_ const Contexts *c, _unused_ uint32_t device)
{
	return contexts.listed;
}

void __wrap_contexts_forget(Contexts *c, uint32_t device);
void __wrap_contexts_forget(_unused_ Contexts *c, uint32_t device)
{
	assert_int_equal(device, DEVICE);
	contexts.held = false;
	contexts.n_forgotten++;
}

void __wrap_contexts_retire(Contexts *c, uint32_t device);
void __wrap_contexts_retire(_unused_ Contexts *c, _unused_ uint32_t device)
{
	contexts.held = false;
	contexts.n_retired++;
}

int __wrap_verbs_query_device(struct ibv_context *asked, DeviceSnapshot *s,
			      unsigned int *ret_cap_flags);
int __wrap_verbs_query_device(struct ibv_context *asked, _unused_ DeviceSnapshot *s,
			      unsigned int *ret_cap_flags)
{
	assert_ptr_equal(asked, &context);
	contexts.n_queried++;
	*ret_cap_flags = 0x1234;
	return 0;
}
