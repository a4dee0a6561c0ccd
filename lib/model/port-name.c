/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "port-name.h"

#include "port.h"
#include "util.h"

/* Splits NAME at its last SEPARATOR. */
static int split(const char *name, char separator, AttrText ret_device, uint32_t *ret_number)
{
	const char *at = strrchr(name, separator);
	uint64_t number = PORT_NUMBER_NONE;

	if (!*name)
		return -EINVAL;
	if (at) {
		/* a port has one number: neither "0x1" nor "01" is one */
		if (at - name >= (ptrdiff_t)sizeof(AttrText) || at[1] < '0' || at[1] > '9' ||
		    (at[1] == '0' && at[2]) || text_to_u64(at + 1, RDMA_PORT_MAX, &number) < 0)
			return -EINVAL;
		text_copy(ret_device, (size_t)(at - name) + 1, name);
	}
	*ret_number = (uint32_t)number;
	return 0;
}

int port_name_split(const char *name, AttrText ret_device, uint32_t *ret_number)
{
	return split(name, '/', ret_device, ret_number);
}

int port_name_split_colon(const char *name, AttrText ret_device, uint32_t *ret_number)
{
	return split(name, ':', ret_device, ret_number);
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
