/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of the fields and of their values: those of D-Bus and of rdmactl. */

#include <inttypes.h>

#include "attribute.h"
#include "librdmad-private.h"
#include "util.h"

/* Where the fields are, and the rows that say how to write them. */
static const struct {
	PortAttr attr;
	uint16_t offset, size;
} fields[_RDMAD_FIELD_MAX] = {
#define FIELD(number, NAME, attribute, member, offset, type)                                       \
	[RDMAD_FIELD_##NAME] = {PORT_ATTR_##attribute, offset, sizeof(type)},
#define TEXT(number, NAME, member, offset, type)                                                   \
	[RDMAD_FIELD_##NAME] = {PORT_ATTR_netdev, offset, sizeof(type)},
#include "memory-fields.def"
};

EXPORT const char *rdmad_field_name(unsigned int field)
{
	return field < _RDMAD_FIELD_MAX ? port_attributes[fields[field].attr].name : NULL;
}

static uint64_t load(const void *at, size_t size)
{
	uint64_t value = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(&value, at, size);
#else
	memcpy((char *)&value + sizeof(value) - size, at, size);
#endif
	return value;
}

static _printf_(3, 4) int write_text(char *ret, size_t size, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(ret, size, format, args);
	va_end(args);
	return (size_t)n < size ? 0 : -ENOSPC;
}

static int write_names(const char *const *names, char *ret, size_t size)
{
	size_t length = 0;

	for (size_t i = 0; names[i]; i++) {
		int n = snprintf(ret + length, size - length, "%s%s", i ? " " : "", names[i]);

		if ((size_t)n >= size - length)
			return -ENOSPC;
		length += (size_t)n;
	}
	ret[length] = '\0';
	return 0;
}

static int write_value(const AttrValue *v, char *ret, size_t size)
{
	switch (v->kind) {
	case ATTR_VALUE_BOOL:
		return write_text(ret, size, "%s", v->boolean ? "yes" : "no");
	case ATTR_VALUE_U32:
		return write_text(ret, size, "%" PRIu32, v->u32);
	case ATTR_VALUE_U64:
		return write_text(ret, size, "%" PRIu64, v->u64);
	case ATTR_VALUE_S32:
		return write_text(ret, size, "%" PRIi32, v->s32);
	case ATTR_VALUE_TEXT:
	case ATTR_VALUE_LIST:
		return write_text(ret, size, "%s", v->text);
	case ATTR_VALUE_NAMES:
		return write_names(v->names, ret, size);
	}
	__builtin_unreachable();
}

EXPORT int rdmad_field_text(const struct rdmad_port *port, unsigned int field, char *ret,
			    size_t size)
{
	const Attribute *row;
	const char *at;
	PortValues values = {};
	AttrValue value;
	int r;

	if (field >= _RDMAD_FIELD_MAX || size == 0)
		return -EINVAL;
	if (!(port->hot.valid >> field & 1))
		return -ENODATA;
	row = &port_attributes[fields[field].attr];
	at = (const char *)port + fields[field].offset;
	if (attr_is_text(row->type))
		return write_text(ret, size, "%.*s", (int)fields[field].size, at);
	values.protocol = port->hot.protocol;
	attr_set_raw(row, &values, load(at, fields[field].size));
	r = attr_publish(row, &values, &value);
	/* a code that has no meaning in the unit of the row */
	if (r == -ERANGE)
		return -ENODATA;
	return r < 0 ? r : write_value(&value, ret, size);
}
