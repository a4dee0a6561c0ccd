/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "nldev-parse.h"

#include <ctype.h>
#include <rdma/rdma_netlink.h>

#include "decode.h"
#include "event.h"
#include "netlink-value.h"

int nldev_parse_attributes(const struct nlmsghdr *message, NldevAttributes ret)
{
	return nlmsg_parse(CONST_CAST(struct nlmsghdr *, message), 0, ret, NLDEV_ATTR_LAST, NULL) <
			       0
		       ? -EBADMSG
		       : 0;
}

int nldev_parse_index(struct nlattr *a, uint32_t *ret)
{
	uint64_t index;

	if (!netlink_number(a, &index) || index >= EVENT_ALL_DEVICES)
		return -EBADMSG;
	*ret = (uint32_t)index;
	return 0;
}

/* A name that does not fit is refused and not cut: cut, it could be that of another device. */
static int parse_name(struct nlattr *a, AttrText ret)
{
	char text[sizeof(AttrText) + 1];

	if (!netlink_text(a, text, sizeof(text)) || text[0] == '\0' ||
	    strlen(text) >= sizeof(AttrText))
		return -EBADMSG;
	if (!is_file_name(text))
		return -EILSEQ;
	memcpy(ret, text, sizeof(AttrText));
	return 0;
}

/* The version of the firmware without blanks and newlines at its end: vmw_pvrdma adds a newline
 * (pvrdma_get_fw_ver_str() in the kernel's drivers/infiniband/hw/vmw_pvrdma/pvrdma_main.c). */
static void parse_firmware(struct nlattr *a, AttrText ret)
{
	size_t n;

	if (!netlink_text(a, ret, sizeof(AttrText)))
		ret[0] = '\0';
	for (n = strlen(ret); n > 0 && isspace((unsigned char)ret[n - 1]); n--)
		ret[n - 1] = '\0';
}

/* The kernel's names of protocols: fill_dev_info() in drivers/infiniband/core/nldev.c. */
static void supply_protocol(DeviceSnapshot *d, const char *text)
{
	static const char *const names[_PROTOCOL_MAX] = {
		[PROTOCOL_INFINIBAND] = "ib", [PROTOCOL_ROCE] = "roce",	  [PROTOCOL_IWARP] = "iw",
		[PROTOCOL_OPA] = "opa",	      [PROTOCOL_USNIC] = "usnic",
	};

	for (uint32_t p = 0; p < _PROTOCOL_MAX; p++)
		if (names[p] && streq(names[p], text))
			DEVICE_SUPPLY(d, dev_protocol, p);
}

int nldev_parse_device(const struct nlmsghdr *message, DeviceSnapshot *ret)
{
	DeviceSnapshot d = {};
	NldevAttributes a;
	uint32_t index;
	AttrText text;
	uint64_t v, last;
	int r;

	if (nldev_parse_attributes(message, a) < 0 ||
	    nldev_parse_index(a[RDMA_NLDEV_ATTR_DEV_INDEX], &index) < 0 ||
	    /* In a message about a device the port index is that of its last port. */
	    !netlink_number(a[RDMA_NLDEV_ATTR_PORT_INDEX], &v))
		return -EBADMSG;
	r = parse_name(a[RDMA_NLDEV_ATTR_DEV_NAME], text);
	if (r < 0)
		return r;
	DEVICE_SUPPLY(&d, index, index);
	DEVICE_SUPPLY_TEXT(&d, name, text);
	if (!mask_has(&d.supplied, DEVICE_ATTR_name))
		return -ENOMEM;
	last = MIN(v, (uint64_t)UINT32_MAX);
	if (netlink_number(a[RDMA_NLDEV_ATTR_DEV_NODE_TYPE], &v) && v <= UINT32_MAX)
		DEVICE_SUPPLY(&d, node_type, (uint32_t)v);
	DEVICE_SUPPLY(&d, port_count, (uint32_t)last + 1 - device_first_port(&d));
	if (netlink_number(a[RDMA_NLDEV_ATTR_NODE_GUID], &v))
		DEVICE_SUPPLY(&d, node_guid, v);
	if (netlink_number(a[RDMA_NLDEV_ATTR_SYS_IMAGE_GUID], &v))
		DEVICE_SUPPLY(&d, sys_image_guid, v);
	if (netlink_number(a[RDMA_NLDEV_ATTR_CAP_FLAGS], &v))
		DEVICE_SUPPLY(&d, cap_flags, v);
	parse_firmware(a[RDMA_NLDEV_ATTR_FW_VERSION], text);
	DEVICE_SUPPLY_TEXT(&d, fw_ver, text);
	if (netlink_text(a[RDMA_NLDEV_ATTR_DEV_PROTOCOL], text, sizeof(text)))
		supply_protocol(&d, text);
	if (!netlink_number(a[NLDEV_ATTR_DEV_TYPE], &v) || v > UINT32_MAX)
		v = DEVICE_TYPE_NORMAL;
	DEVICE_SUPPLY(&d, dev_type, (uint32_t)v);
	if (!netlink_text(a[NLDEV_ATTR_PARENT_NAME], text, sizeof(text)))
		text[0] = '\0';
	DEVICE_SUPPLY_TEXT(&d, parent, text);
	*ret = d;
	return 0;
}
