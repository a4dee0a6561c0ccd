/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "port-name.h"

#include "names.h"
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
	text_copy_clean(shown, sizeof(shown), name);
	return streq(shown, name) && port_name_split(name, device, &number) == 0;
}

/* A number of a path. *AT goes behind it. */
static bool path_number(const char **at, uint32_t *ret)
{
	const char *p = *at;
	uint64_t n = 0;

	if (*p == '0' && p[1] >= '0' && p[1] <= '9')
		return false;
	for (; *p >= '0' && *p <= '9' && n <= UINT32_MAX; p++)
		n = 10 * n + (uint64_t)(*p - '0');
	if (p == *at || n > UINT32_MAX)
		return false;
	*at = p;
	*ret = (uint32_t)n;
	return true;
}

/* Each property that is read comes here: hence numbers by hand. */
const char *object_path_device(const char *path, uint32_t *ret_device)
{
	const char *at = startswith(path, RDMAD_DEVICE_PREFIX "/");

	return at && path_number(&at, ret_device) ? at : NULL;
}

int object_path_parse(const char *path, uint32_t *ret_device, uint32_t *ret_port)
{
	uint32_t device, port = PORT_NUMBER_NONE;
	const char *at = object_path_device(path, &device);

	if (!at)
		return -EINVAL;
	if (*at) {
		at = startswith(at, "/port/");
		if (!at || !path_number(&at, &port) || *at || port == PORT_NUMBER_NONE)
			return -EINVAL;
	}
	*ret_device = device;
	*ret_port = port;
	return 0;
}

/* The paths of all ports are in each reply that lists them: with snprintf() they were a fifth of
 * what ListPorts() costs. */
const char *object_path_put(uint32_t device, uint32_t port, char *ret)
{
	char *at = text_put_number(stpcpy(ret, RDMAD_DEVICE_PREFIX "/"), device);

	if (port != PORT_NUMBER_NONE)
		at = text_put_number(stpcpy(at, "/port/"), port);
	*at = '\0';
	return ret;
}
