/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The sentences about the rows of the attribute tables. Only programs that print them have them. */

#include "attribute.h"

#define HELP(field, name, type, unit, interface, class, valid, source, absent, metric, help) help,

static const char *const port_help[_PORT_ATTR_MAX] = {
#define PORT HELP
#include "port-attributes.def"
#undef PORT
};

static const char *const device_help[_DEVICE_ATTR_MAX] = {
#define DEVICE HELP
#include "device-attributes.def"
#undef DEVICE
};

const char *attr_help(const Attribute *a)
{
	return a->is_of_port ? port_help[a - port_attributes] : device_help[a - device_attributes];
}
