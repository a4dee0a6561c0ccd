/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "port-name.h"

#include "port.h"
#include "util.h"

int port_name_split(const char *name, AttrText ret_device, uint32_t *ret_number)
{
	const char *slash = strrchr(name, '/');
	uint64_t number = PORT_NUMBER_NONE;

	if (!*name)
		return -EINVAL;
	if (slash) {
		/* a port has one name: neither "0x1" nor "01" is a number of a port */
		if (slash - name >= (ptrdiff_t)sizeof(AttrText) || slash[1] < '0' ||
		    slash[1] > '9' || (slash[1] == '0' && slash[2]) ||
		    text_to_u64(slash + 1, RDMA_PORT_MAX, &number) < 0)
			return -EINVAL;
		text_copy(ret_device, (size_t)(slash - name) + 1, name);
	}
	*ret_number = (uint32_t)number;
	return 0;
}

bool port_name_is_valid(const char *name)
{
	char shown[PORT_NAME_MAX];
	AttrText device;
	uint32_t number;

	if (strlen(name) >= sizeof(shown))
		return false;
	text_copy(shown, sizeof(shown), name);
	text_sanitize(shown, sizeof(shown));
	return streq(shown, name) && port_name_split(name, device, &number) == 0;
}
