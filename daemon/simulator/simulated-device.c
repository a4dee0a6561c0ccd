/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "simulated-device.h"

#include "accelerator.h"
#include "decode.h"

/* Simulated GUIDs begin here: 02 in the first byte says that no manufacturer has assigned them. */
#define GUID_BASE UINT64_C(0x0200000000000000)

/* clang-format off */
/* The protocols that can be simulated. */
static const struct {
	AttrProtocol protocol;
	const char *node_type; /* as it is published */
} protocols[] = {
	{PROTOCOL_INFINIBAND, "ca"},
	{PROTOCOL_ROCE,       "ca"},
	{PROTOCOL_IWARP,      "rnic"},
	{PROTOCOL_OPA,        "ca"},
};
/* clang-format on */

int simulated_parse_protocol(const char *text, AttrProtocol *ret, char **ret_message)
{
	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		if (streq(text, decode_name(ATTR_PROTOCOL, protocols[i].protocol))) {
			*ret = protocols[i].protocol;
			return 0;
		}
	return scenario_refuse(-EINVAL, ret_message,
			       "protocol = %.100s: expected infiniband, roce, iwarp or opa", text);
}

static int supply_chardev(DeviceSnapshot *s, uint32_t n)
{
	ChardevEntry e = {.major = 231, .minor = 192 + n, .class = "verbs"};

	snprintf(e.path, sizeof(e.path), "/dev/infiniband/uverbs%u", n);
	s->tables[DEVICE_TABLE_CHARDEVS] = table_new(&e, 1, sizeof(e));
	mask_set(&s->supplied, DEVICE_ATTR_chardevs, true);
	return s->tables[DEVICE_TABLE_CHARDEVS] ? 0 : -ENOMEM;
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
			DEVICE_SUPPLY(&d->now, dev_protocol, protocols[i].protocol);
		}
	DEVICE_SUPPLY_TEXT(&d->now, name, name);
	DEVICE_SUPPLY(&d->now, node_type, node_type);
	DEVICE_SUPPLY(&d->now, port_count, ports);
	DEVICE_SUPPLY(&d->now, dev_type, DEVICE_TYPE_NORMAL);
	DEVICE_SUPPLY_TEXT(&d->now, parent, "");
	DEVICE_SUPPLY(&d->now, node_guid, guid);
	DEVICE_SUPPLY(&d->now, sys_image_guid, guid);
	DEVICE_SUPPLY_TEXT(&d->now, fw_ver, "1.0.0");
	DEVICE_SUPPLY(&d->now, cap_flags, 0);
	DEVICE_SUPPLY(&d->now, events, EVENTS_VERBS);
	DEVICE_SUPPLY_TEXT(&d->now, events_reason, "");
	return mask_has(&d->now.supplied, DEVICE_ATTR_name) ? steal_pointer(&d) : NULL;
}

SimulatedDevice *simulated_device_new_recorded(const char *name, uint32_t ports)
{
	_cleanup_(simulated_device_free_pointer) SimulatedDevice *d = NULL;

	d = calloc(1, sizeof(SimulatedDevice));
	if (!d)
		return NULL;
	d->ports = calloc(ports, sizeof(SimulatedPort));
	if (!d->ports)
		return NULL;
	d->recorded = true;
	for (uint32_t i = 0; i < ports; i++)
		d->ports[i].protocol = PROTOCOL_UNKNOWN;
	DEVICE_SUPPLY_TEXT(&d->now, name, name);
	DEVICE_SUPPLY(&d->now, port_count, ports);
	return mask_has(&d->now.supplied, DEVICE_ATTR_name) ? steal_pointer(&d) : NULL;
}

bool simulated_device_is_silent(const SimulatedDevice *d)
{
	for (uint32_t i = 0; d->recorded && i < d->now.values.port_count; i++)
		if (d->ports[i].error || d->ports[i].is_open)
			return true;
	return d->failed || d->unasked;
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

/* "STATE [ERRORS [RECOVERIES]]", separated by spaces or commas. */
static int parse_reporter(const char *value, HealthEntry *ret)
{
	char copy[128], *save = NULL, *word;
	uint64_t *const numbers[] = {&ret->errors, &ret->recoveries};

	if (strlen(value) >= sizeof(copy))
		return -EINVAL;
	text_copy(copy, sizeof(copy), value);
	word = strtok_r(copy, " \t,", &save);
	if (!word || (!streq(word, "healthy") && !streq(word, "error")))
		return -EINVAL;
	ret->state = streq(word, "error") ? HEALTH_ERROR : HEALTH_HEALTHY;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		word = strtok_r(NULL, " \t,", &save);
		if (!word)
			return 0;
		if (text_to_u64(word, UINT64_MAX, numbers[i]) < 0)
			return -EINVAL;
	}
	return strtok_r(NULL, " \t,", &save) ? -EINVAL : 0;
}

/* Replaces the entry that begins with the same NAME_SIZE characters as NEW, or adds NEW; without IS
 * it is removed only. COMPARE gives the order; NULL: as they came. */
static int replace_entry(Table **table, const void *new, size_t size, size_t name_size, bool is,
			 int (*compare)(const void *a, const void *b))
{
	size_t room = (*table ? (*table)->n : 0) + 1, n = 0;
	_cleanup_free_ char *entries = calloc(room, size);
	Table *next;

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i + 1 < room; i++)
		if (memcmp((*table)->entries + i * size, new, name_size) != 0)
			memcpy(entries + n++ * size, (*table)->entries + i * size, size);
	if (is)
		memcpy(entries + n++ * size, new, size);
	if (compare)
		sort(entries, n, size, compare);
	if (table_make(entries, n, size, &next) < 0)
		return -ENOMEM;
	table_free(*table);
	*table = next;
	return 0;
}

/* The health reporter called NAME; an empty value removes it. */
static int set_reporter(DeviceSnapshot *s, const char *key, const char *name, const char *value,
			char **ret_message)
{
	HealthEntry new = {};

	text_copy(new.name, sizeof(new.name), name);
	if (!*name || strlen(name) >= sizeof(new.name) ||
	    (*value && parse_reporter(value, &new) < 0))
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s = %.100s: expected healthy or error, then how many "
				       "errors and how many recoveries there were; or nothing",
				       key, value);
	mask_set(&s->supplied, DEVICE_ATTR_health_reporters, true);
	return replace_entry(&s->tables[DEVICE_TABLE_HEALTH], &new, sizeof(new), sizeof(new.name),
			     *value, NULL);
}

/* "DISTANCE HOPS MODEL", such as "PIX 2 10de:2330". */
static int parse_accelerator(const char *value, AcceleratorEntry *ret)
{
	char hops[4];
	int end = 0;

	if (sscanf(value, "%7[A-Z]%*1[ ,]%2[0-9]%*1[ ,]%9[0-9a-f:]%n", ret->distance, hops,
		   ret->model, &end) != 3 ||
	    value[end] || distance_from_name(ret->distance) == _DISTANCE_MAX)
		return -EINVAL;
	ret->hops = (uint32_t)strtoul(hops, NULL, 10);
	return 0;
}

/* The accelerator at ADDRESS; an empty value removes it. */
static int set_accelerator(DeviceSnapshot *s, const char *key, const char *address,
			   const char *value, char **ret_message)
{
	AcceleratorEntry new = {};

	text_copy(new.address, sizeof(new.address), address);
	if (!*address || strlen(address) >= sizeof(new.address) ||
	    (*value && parse_accelerator(value, &new) < 0))
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s = %.100s: expected LOC, PIX, PXB, PHB, NODE or SYS, "
				       "the number of hops and the model, such as PIX 2 "
				       "10de:2330; or nothing",
				       key, value);
	mask_set(&s->supplied, DEVICE_ATTR_accelerators, true);
	return replace_entry(&s->tables[DEVICE_TABLE_ACCELERATORS], &new, sizeof(new),
			     sizeof(new.address), *value, accelerator_compare);
}

int simulated_device_set(DeviceSnapshot *s, const char *key, const char *value, char **ret_message)
{
	DeviceAttr a;
	const char *reporter = startswith(key, "reporter.");
	const char *accelerator = startswith(key, "accelerator.");

	if (reporter)
		return set_reporter(s, key, reporter, value, ret_message);
	if (accelerator)
		return set_accelerator(s, key, accelerator, value, ret_message);
	if (device_attr_from_field(key, &a) < 0)
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s: no attribute of a device, expected a field of it "
				       "such as fw_ver or node_desc",
				       key);
	if (a == DEVICE_ATTR_name)
		return scenario_refuse(-EINVAL, ret_message,
				       "name: cannot be set, expected the command rename");
	if (a == DEVICE_ATTR_port_count)
		return scenario_refuse(-EINVAL, ret_message,
				       "port_count: cannot be set, expected ports = N where the "
				       "device is made");
	if (attr_device_table(device_attributes[a].type) < _DEVICE_TABLE_MAX)
		return scenario_refuse(-EINVAL, ret_message,
				       "%s: cannot be set, expected a scalar attribute", key);
	return simulated_set_row(device_attributes, a, &s->values, &s->supplied, value,
				 ret_message);
}
