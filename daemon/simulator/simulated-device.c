/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "simulated-device.h"

#include <ctype.h>
#include <stdarg.h>

#include "decode.h"

/* Node and port GUIDs, as those of adapters made here would be: locally administered. */
#define GUID_BASE UINT64_C(0x0200000000000000)

/* clang-format off */
/* What there is to simulate. */
static const struct {
	AttrProtocol protocol;
	const char *dev_protocol; /* as the kernel writes it */
	const char *node_type;
} protocols[] = {
	{PROTOCOL_INFINIBAND, "ib",   "ca"},
	{PROTOCOL_ROCE,       "roce", "ca"},
	{PROTOCOL_IWARP,      "iw",   "rnic"},
	{PROTOCOL_OPA,        "opa",  "ca"},
};
/* clang-format on */

int simulated_error(int r, char **ret_message, const char *format, ...)
{
	char *message;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&message, format, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	/* it goes to D-Bus, which refuses a character cut in two */
	text_sanitize(message, (size_t)n + 1);
	*ret_message = message;
	return r;
}

int simulated_check_name(const char *name, char **ret_message)
{
	size_t n = strlen(name);
	bool good = n > 0 && n < sizeof(AttrText) && !streq(name, ".") && !streq(name, "..");

	for (size_t i = 0; good && i < n; i++)
		good = isascii(name[i]) && (isalnum(name[i]) || strchr("_-.:", name[i]));
	if (!good)
		return simulated_error(-EINVAL, ret_message,
				       "%.100s: no name of a device, expected up to %zu letters, "
				       "digits, '_', '-', '.' or ':'",
				       name, sizeof(AttrText) - 1);
	return 0;
}

int simulated_parse_number(const char *key, const char *text, uint64_t least, uint64_t most,
			   uint64_t *ret, char **ret_message)
{
	uint64_t value;

	if (text_to_u64(text, most, &value) < 0 || value < least)
		return simulated_error(-EINVAL, ret_message,
				       "%s = %.100s: expected a number from %ju to %ju", key, text,
				       (uintmax_t)least, (uintmax_t)most);
	*ret = value;
	return 0;
}

int simulated_parse_protocol(const char *text, AttrProtocol *ret, char **ret_message)
{
	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		if (streq(text, decode_name(ATTR_PROTOCOL, protocols[i].protocol))) {
			*ret = protocols[i].protocol;
			return 0;
		}
	return simulated_error(-EINVAL, ret_message,
			       "protocol = %.100s: expected infiniband, roce, iwarp or opa", text);
}

/* ---- values as text ---- */

/* What the value of a row must look like. BUFFER is for names. */
static const char *expectation(const Attribute *a, char *buffer, size_t size)
{
	const char *const *names = attr_type_names(a->type);
	size_t n = 0;

	for (size_t i = 0; names && names[i] && n < size; i++)
		n += (size_t)snprintf(buffer + n, size - n, "%s, ", names[i]);
	if (names) {
		snprintf(buffer + n, n < size ? size - n : 0, "or raw:N");
		return buffer;
	}
	switch (a->type) {
	case ATTR_BOOL:
	case ATTR_GRH_FLAG:
		return "yes or no";
	case ATTR_TEXT:
		return "text of up to 63 bytes";
	case ATTR_GUID:
		return "a GUID such as 0002:c903:00ab:cdef";
	case ATTR_MTU:
		return "256, 512, 1024, 2048, 4096, or raw:N";
	case ATTR_WIDTH:
		return "1, 2, 4, 8, 12, or raw:N";
	case ATTR_VL_CODE:
		return "1, 2, 4, 8, 15, or raw:N";
	case ATTR_TIMEOUT:
		return "an exponent from 0 to 31";
	case ATTR_CAP_FLAGS:
	case ATTR_CAP_FLAGS2:
		return "names of capabilities with commas between, or raw:N";
	case ATTR_U64:
		return "a number up to 18446744073709551615";
	case ATTR_U32:
	case ATTR_DEVICE_PATH:
	case ATTR_PORT_STATE: /* they have names */
	case ATTR_PHYS_STATE:
	case ATTR_LINK_LAYER:
	case ATTR_PROTOCOL:
	case ATTR_NODE_TYPE:
	case ATTR_OPERSTATE:
	case ATTR_SPEED:
	case ATTR_UNAVAILABLE: /* they are not set */
	case ATTR_GIDS:
	case ATTR_PKEYS:
	case ATTR_NETDEVS:
	case ATTR_CHARDEVS:
	case ATTR_COUNTERS:
	case _ATTR_TYPE_MAX:
		break;
	}
	return "a number up to 4294967295";
}

int simulated_set_row(const Attribute *a, void *values, const char *text, bool *ret_supplied,
		      char **ret_message)
{
	char buffer[256];

	if (a->source == SOURCE_CORE)
		return simulated_error(-EINVAL, ret_message,
				       "%s: rdmad itself keeps it, expected an attribute that "
				       "the hardware has",
				       a->field);
	if (a->source == SOURCE_DERIVED)
		return simulated_error(-EINVAL, ret_message,
				       "%s: derived from other attributes, expected one of those",
				       a->field);
	if (a->size == 0)
		return simulated_error(-EINVAL, ret_message,
				       "%s: a table, expected entries of it: gid.INDEX, "
				       "pkey.INDEX or netdev",
				       a->field);
	if (!*text) {
		memset((char *)values + a->offset, 0, a->size);
		*ret_supplied = false;
		return 0;
	}
	if ((a->type == ATTR_TEXT && strlen(text) >= a->size) || attr_parse(a, values, text) < 0)
		return simulated_error(-EINVAL, ret_message, "%s = %.100s: expected %s", a->field,
				       text, expectation(a, buffer, sizeof(buffer)));
	*ret_supplied = true;
	return 0;
}

/* ---- devices ---- */

static int supply_chardev(DeviceSnapshot *s, uint32_t n)
{
	ChardevEntry e = {.major = 231, .minor = 192 + n, .class = "verbs"};

	snprintf(e.path, sizeof(e.path), "/dev/infiniband/uverbs%u", n);
	s->chardevs = table_new(&e, 1, sizeof(e));
	mask_set(&s->supplied, DEVICE_ATTR_chardevs, true);
	return s->chardevs ? 0 : -ENOMEM;
}

SimulatedDevice *simulated_device_new(const char *name, AttrProtocol protocol, uint32_t ports,
				      uint32_t number, uint32_t first_port)
{
	_cleanup_(simulated_device_free_pointer) SimulatedDevice *d = NULL;
	uint64_t guid = GUID_BASE + (uint64_t)(first_port + 1) * 256;
	uint32_t node_type = 0;

	d = calloc(1, sizeof(SimulatedDevice));
	if (!d)
		return NULL;
	d->number = number;
	d->first_port = first_port;
	d->ports = calloc(ports, sizeof(SimulatedPort));
	if (!d->ports || supply_chardev(&d->now, first_port) < 0)
		return NULL;
	for (uint32_t i = 0; i < ports; i++)
		d->ports[i].protocol = protocol;
	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		if (protocols[i].protocol == protocol) {
			decode_value(ATTR_NODE_TYPE, protocols[i].node_type, &node_type);
			DEVICE_SUPPLY_TEXT(&d->now, dev_protocol, protocols[i].dev_protocol);
		}
	DEVICE_SUPPLY_TEXT(&d->now, name, name);
	DEVICE_SUPPLY(&d->now, node_type, node_type);
	DEVICE_SUPPLY(&d->now, port_count, ports);
	DEVICE_SUPPLY(&d->now, node_guid, guid);
	DEVICE_SUPPLY(&d->now, sys_image_guid, guid);
	DEVICE_SUPPLY_TEXT(&d->now, fw_ver, "1.0.0");
	DEVICE_SUPPLY(&d->now, cap_flags, 0);
	return steal_pointer(&d);
}

void simulated_device_free(SimulatedDevice *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; d->ports && i < d->now.values.port_count; i++)
		port_snapshot_done(&d->ports[i].now);
	free(d->ports);
	device_snapshot_done(&d->now);
	free(d);
}

int simulated_device_set(DeviceSnapshot *s, const char *key, const char *value, char **ret_message)
{
	DeviceAttr a;
	bool supplied = false;
	int r;

	if (device_attr_from_field(key, &a) < 0)
		return simulated_error(-EINVAL, ret_message,
				       "%.100s: no attribute of a device, expected a field of it "
				       "such as fw_ver or node_desc",
				       key);
	if (a == DEVICE_ATTR_name)
		return simulated_error(-EINVAL, ret_message,
				       "name: cannot be set, expected the command rename");
	if (a == DEVICE_ATTR_port_count)
		return simulated_error(-EINVAL, ret_message,
				       "port_count: cannot be set, expected ports = N where the "
				       "device is made");
	if (device_attributes[a].type == ATTR_CHARDEVS)
		return simulated_error(-EINVAL, ret_message,
				       "%s: cannot be set, expected a scalar attribute", key);
	r = simulated_set_row(&device_attributes[a], &s->values, value, &supplied, ret_message);
	if (r < 0)
		return r;
	mask_set(&s->supplied, a, supplied);
	return 0;
}
