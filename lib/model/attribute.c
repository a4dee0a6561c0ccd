/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "attribute.h"

#include <assert.h>
#include <strings.h>

#include "attribute-cases.h"
#include "decode.h"
#include "list.h"
#include "names.h"
#include "port-name.h"
#include "table.h"

static const char raw_signatures[_ATTR_TYPE_MAX][8] = {
#define T(type, storage, raw, published) [ATTR_##type] = raw,
	ATTR_TYPES(T)
#undef T
};

static const char *const signatures[_ATTR_TYPE_MAX] = {
#define T(type, storage, raw, published) [ATTR_##type] = published,
	ATTR_TYPES(T)
#undef T
};

const char *attr_signature(AttrType type)
{
	return signatures[type];
}

const char *attr_raw_signature(AttrType type)
{
	return raw_signatures[type];
}

static int publish_u32(AttrValue *ret, uint32_t value)
{
	ret->u32 = value;
	ret->kind = ATTR_VALUE_U32;
	return 0;
}

static int publish_u64(AttrValue *ret, uint64_t value)
{
	ret->u64 = value;
	ret->kind = ATTR_VALUE_U64;
	return 0;
}

static int publish_s32(AttrValue *ret, int32_t value)
{
	ret->s32 = value;
	ret->kind = ATTR_VALUE_S32;
	return 0;
}

static int publish_bool(AttrValue *ret, bool value)
{
	ret->boolean = value;
	ret->kind = ATTR_VALUE_BOOL;
	return 0;
}

static int publish_text(AttrValue *ret, const char *text)
{
	text_copy(ret->text, sizeof(ret->text), text);
	ret->kind = ATTR_VALUE_TEXT;
	return 0;
}

static int publish_stored(AttrValue *ret, AttrType type, const char *text)
{
	publish_text(ret, text);
	if (attr_is_list(type))
		ret->kind = ATTR_VALUE_LIST;
	return 0;
}

static int publish_guid(AttrValue *ret, uint64_t guid)
{
	guid_format(guid, ret->text);
	ret->kind = ATTR_VALUE_TEXT;
	return 0;
}

static int publish_path(AttrValue *ret, uint32_t device)
{
	object_path_put(device, PORT_NUMBER_NONE, ret->text);
	ret->kind = ATTR_VALUE_TEXT;
	return 0;
}

static int publish_names(AttrType type, uint64_t flags, AttrValue *ret)
{
	size_t n = 0;

	for (unsigned int bit = 0; bit < decode_capability_bits(type); bit++)
		if (flags >> bit & 1)
			ret->names[n++] = decode_capability(type, bit);
	ret->names[n] = NULL;
	ret->kind = ATTR_VALUE_NAMES;
	return 0;
}

const char *attr_enumeration_text(AttrType type, uint32_t value, AttrText ret)
{
	const char *name = decode_name(type, value);

	if (name)
		text_copy(ret, sizeof(AttrText), name);
	else
		snprintf(ret, sizeof(AttrText), "unknown(%u)", value);
	return ret;
}

static int publish_name(AttrType type, uint32_t value, AttrValue *ret)
{
	ret->kind = ATTR_VALUE_TEXT;
	ret->text[0] = '\0';
	/* no bit of the code is set: that is no speed, and not one that is unknown here */
	if (type == ATTR_SPEED && value == 0)
		return -ERANGE;
	attr_enumeration_text(type, value, ret->text);
	return 0;
}

/* Omni-Path has no code for virtual lanes: its driver says how many there are. Rows of this type
 * are of a port. */
static bool is_lane_count(AttrType type, const void *values)
{
	return type == ATTR_VL_CODE && ((const PortValues *)values)->protocol == PROTOCOL_OPA;
}

/* A code that stands for a number, none of which is 0 */
static int publish_decoded(AttrValue *ret, AttrType type, const void *values, uint64_t code)
{
	uint32_t n = (uint32_t)code;

	publish_u32(ret, is_lane_count(type, values) ? n : decode_number(type, n));
	return ret->u32 ? 0 : -ERANGE;
}

/* Five bits: up to 4.096 us << 31, 2.4 hours. */
static int publish_timeout(AttrValue *ret, uint64_t exponent)
{
	publish_u64(ret, exponent < 32 ? ((UINT64_C(4096) << exponent) + 999) / 1000 : 0);
	return exponent < 32 ? 0 : -ERANGE;
}

int attr_publish(const Attribute *a, const void *values, AttrValue *ret)
{
	uint64_t raw;

	if (a->size == 0)
		return -EOPNOTSUPP;
	if (attr_is_text(a->type))
		return publish_stored(ret, a->type, attr_get_text(a, values));

	raw = attr_get_raw(a, values);
	switch (a->type) {
	case ATTR_U32:
		return publish_u32(ret, (uint32_t)raw);
	case ATTR_U64:
		return publish_u64(ret, raw);
	case ATTR_INDEX:
		return publish_s32(ret, raw <= INT32_MAX ? (int32_t)raw : -1);
	case ATTR_BOOL:
		return publish_bool(ret, raw != 0);
	case ATTR_GRH_FLAG:
		return publish_bool(ret, raw & 1); /* IBV_QPF_GRH_REQUIRED */
	case ATTR_GUID:
		return publish_guid(ret, raw);
	case ATTR_DEVICE_PATH:
		return publish_path(ret, (uint32_t)raw);
	ATTR_CASE_NAME:
		return publish_name(a->type, (uint32_t)raw, ret);
	case ATTR_MTU:
	case ATTR_WIDTH:
	case ATTR_VL_CODE:
		return publish_decoded(ret, a->type, values, raw);
	case ATTR_TIMEOUT:
		return publish_timeout(ret, raw);
	ATTR_CASE_FLAGS:
		return publish_names(a->type, raw, ret);
	ATTR_CASE_TEXT:
	ATTR_CASE_NO_FIELD:
		break;
	}
	return -EOPNOTSUPP;
}

int attr_publish_absent(const Attribute *a, AttrValue *ret)
{
	bool max = a->absent == ABSENT_MAX;
	const char *signature = attr_signature(a->type);

	if (a->size == 0)
		return -EOPNOTSUPP;
	switch (signature[0]) {
	case 'u':
		return publish_u32(ret, max ? UINT32_MAX : 0);
	case 't':
		return publish_u64(ret, max ? UINT64_MAX : 0);
	case 'i':
		return publish_s32(ret, max ? -1 : 0);
	case 'b':
		return publish_bool(ret, false);
	case 'a':
		if (attr_is_list(a->type))
			return publish_stored(ret, a->type, "");
		ret->names[0] = NULL;
		ret->kind = ATTR_VALUE_NAMES;
		return 0;
	case 'o':
		return publish_text(ret, "/");
	default:
		return publish_text(ret, attr_type_names(a->type) ? "unknown" : "");
	}
}

const char *attr_absent_text(const Attribute *a)
{
	AttrValue v;

	if (a->source == SOURCE_CORE)
		return NULL;
	if (attr_publish_absent(a, &v) < 0)
		return "an empty list";
	switch (v.kind) {
	case ATTR_VALUE_BOOL:
		return "false";
	case ATTR_VALUE_U32:
		return v.u32 ? "4294967295" : "0";
	case ATTR_VALUE_U64:
		return v.u64 ? "18446744073709551615" : "0";
	case ATTR_VALUE_S32:
		return v.s32 ? "-1" : "0";
	case ATTR_VALUE_TEXT:
		return v.text[0] ? "unknown" : "an empty text";
	case ATTR_VALUE_LIST:
	case ATTR_VALUE_NAMES:
		return "an empty list";
	}
	return NULL;
}

/* The bits of a list of capability names, which are separated by commas; none for an empty list. */
static int parse_names(const Attribute *a, const char *text, uint64_t *ret)
{
	uint64_t flags = 0;

	while (*text) {
		size_t n = strcspn(text, ",");
		unsigned int bit = 0, bits = decode_capability_bits(a->type);

		while (bit < bits && (strncasecmp(decode_capability(a->type, bit), text, n) != 0 ||
				      decode_capability(a->type, bit)[n]))
			bit++;
		if (bit == bits || n == 0)
			return -EINVAL;
		flags |= UINT64_C(1) << bit;
		text += n;
		text += *text == ',';
	}
	*ret = flags;
	return 0;
}

static int parse_boolean(const char *text, uint64_t *ret)
{
	static const char *const yes[] = {"yes", "true", "on", "1"};
	static const char *const no[] = {"no", "false", "off", "0"};

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		if (strcasecmp(text, yes[i]) == 0) {
			*ret = 1;
			return 0;
		}
		if (strcasecmp(text, no[i]) == 0) {
			*ret = 0;
			return 0;
		}
	}
	return -EINVAL;
}

/* The code of the number TEXT, or the number itself where no code stands for it. */
static int parse_decoded(AttrType type, const void *values, const char *text, uint32_t *ret)
{
	uint64_t number;
	int r = text_to_u64(text, UINT32_MAX, &number);

	if (r < 0 || !is_lane_count(type, values))
		return r < 0 ? r : decode_code(type, number, ret);
	*ret = (uint32_t)number;
	return 0;
}

/* The raw number of row A, which is no text, from TEXT in its published form; -EINVAL or -ERANGE.
 */
static int parse_published(const Attribute *a, const void *values, const char *text, uint64_t most,
			   uint64_t *ret)
{
	uint32_t code = 0;
	int r;

	switch (a->type) {
	case ATTR_U32:
	case ATTR_U64:
	case ATTR_DEVICE_PATH:
		return text_to_u64(text, most, ret);
	case ATTR_INDEX:
		return text_to_u64(text, INT32_MAX, ret);
	case ATTR_TIMEOUT: /* the exponent n of 4.096 us << n, as the architecture has it */
		return text_to_u64(text, 31, ret);
	case ATTR_BOOL:
	case ATTR_GRH_FLAG:
		return parse_boolean(text, ret);
	case ATTR_GUID:
		return guid_parse(text, ret);
	ATTR_CASE_NAME:
		r = decode_value(a->type, text, &code);
		break;
	case ATTR_MTU:
	case ATTR_WIDTH:
	case ATTR_VL_CODE:
		r = parse_decoded(a->type, values, text, &code);
		break;
	ATTR_CASE_FLAGS:
		return parse_names(a, text, ret);
	ATTR_CASE_TEXT:
	ATTR_CASE_NO_FIELD:
		return -EINVAL;
	}
	if (r == 0)
		*ret = code;
	return r;
}

int attr_parse(const Attribute *a, void *values, const char *text)
{
	const char *raw_text = startswith(text, "raw:");
	uint64_t most = a->size == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX;
	AttrPath clean;
	uint64_t raw;

	if (a->size == 0)
		return -EOPNOTSUPP;
	if (attr_is_list(a->type) && !list_is_valid(a->type, text))
		return -EINVAL;
	if (attr_is_text(a->type)) {
		text_copy_clean(clean, a->size, text);
		return attr_set_text(a, values, clean);
	}
	if (raw_text ? text_to_u64(raw_text, most, &raw) < 0
		     : parse_published(a, values, text, most, &raw) < 0)
		return -EINVAL;
	attr_set_raw(a, values, raw);
	return 0;
}

const char *const *attr_type_names(AttrType type)
{
	return decode_names(type);
}

static int find_field(const Attribute *rows, size_t n, const char *field)
{
	for (size_t i = 0; i < n; i++)
		if (streq(rows[i].field, field))
			return (int)i;
	return -ENOENT;
}

int port_attr_from_field(const char *field, PortAttr *ret)
{
	int r = find_field(port_attributes, _PORT_ATTR_MAX, field);

	if (r >= 0)
		*ret = (PortAttr)r;
	return MIN(r, 0);
}

int device_attr_from_field(const char *field, DeviceAttr *ret)
{
	int r = find_field(device_attributes, _DEVICE_ATTR_MAX, field);

	if (r >= 0)
		*ret = (DeviceAttr)r;
	return MIN(r, 0);
}

#define UNIT(id, name_, metric_, divisor_, words_, ...)                                            \
	static_assert(sizeof(name_) <= sizeof(unit_rows->name) &&                                  \
			      sizeof(metric_) <= sizeof(unit_rows->metric) &&                      \
			      sizeof(words_) <= sizeof(unit_rows->words),                          \
		      name_ ": is longer than its place");
#include "units.def"

const UnitRow unit_rows[_UNIT_MAX] = {
#define UNIT(id, name_, metric_, divisor_, words_, shown_, compared, least)                        \
	[UNIT_##id] = {.name = name_,                                                              \
		       .metric = metric_,                                                          \
		       .words = words_,                                                            \
		       .is_compared = compared,                                                    \
		       .is_least = least,                                                          \
		       .divisor = divisor_,                                                        \
		       .shown = shown_},
#include "units.def"
};

const char *attr_interface_name(AttrInterface interface)
{
	static const char names[_INTERFACE_MAX][40] = {
#define INTERFACE(id, name, group, help) [INTERFACE_##id] = RDMAD_BUS_NAME "." #name,
#include "interfaces.def"
		[INTERFACE_RAW] = "",
	};

	return names[interface];
}

int attr_interface_find(const char *name, AttrInterface *ret)
{
	for (AttrInterface i = 0; i < INTERFACE_RAW; i++)
		if (streq(attr_interface_name(i), name)) {
			*ret = i;
			return 0;
		}
	return -ENOENT;
}

const char *attr_class_name(AttrClass class)
{
	static const char *const names[_CLASS_MAX] = {
		[CLASS_IDENTITY] = "identity",	   [CLASS_FIXED] = "fixed",
		[CLASS_CONST] = "constant",	   [CLASS_DYNAMIC] = "dynamic",
		[CLASS_GENERATION] = "generation", [CLASS_COUNTER] = "counter",
	};

	return names[class];
}

const char *attr_validity_name(AttrValidity valid)
{
	static const char *const names[_VALID_MAX] = {
		[VALID_ALWAYS] = "always",
		[VALID_LINK_UP] = "link-up",
		[VALID_CONFIGURED] = "armed-or-active",
		[VALID_NETDEV_UP] = "interface-up",
		[VALID_NONZERO] = "if-present",
	};

	return names[valid];
}

const char *attr_validity_text(AttrValidity valid)
{
	static const char *const texts[_VALID_MAX] = {
		[VALID_ALWAYS] = "always",
		[VALID_LINK_UP] = "while the link is up",
		[VALID_CONFIGURED] = "once the subnet manager has armed the port",
		[VALID_NETDEV_UP] = "while the interface is administratively up",
		[VALID_NONZERO] = "where there is one",
	};

	return texts[valid];
}

const char *attr_source_name(AttrSource source)
{
	static const char names[_SOURCE_MAX][16] = {
		[SOURCE_VERBS] = "verbs",	[SOURCE_NLDEV] = "rdma-netlink",
		[SOURCE_SYSFS] = "sysfs",	[SOURCE_RTNL] = "rtnetlink",
		[SOURCE_DCB] = "dcb",		[SOURCE_DEVLINK] = "devlink",
		[SOURCE_ETHTOOL] = "ethtool",	[SOURCE_HWMON] = "hwmon",
		[SOURCE_PCI] = "pci",		[SOURCE_DV] = "direct-verbs",
		[SOURCE_NEIGHBOR] = "neighbor", [SOURCE_MODULE] = "module",
		[SOURCE_DERIVED] = "derived",	[SOURCE_MEASURED] = "measured",
		[SOURCE_CORE] = "rdmad",
	};

	return names[source];
}
