/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Short texts of users: names of ports, GUIDs, addresses, numbers, words of a script, instances of
 * units, values of attributes. The input is the text. */

#include "attribute.h"
#include "gid.h"
#include "input.h"
#include "lookup.h"
#include "scenario.h"
#include "wait.h"

static void look_up(const char *text)
{
	const Cache none = {};
	Wait wait = {};
	Port *p;
	int r = wait_add(&wait, text);

	FUZZ_CHECK(r == -EINVAL || (r == 0 && wait.n_ports == 1));
	FUZZ_CHECK(!lookup_device(&none, text));
	r = lookup_port(&none, text, &p);
	FUZZ_CHECK(r == -ENOENT || r == -EINVAL);
	r = lookup_port_by(&none, text, FIND_PORT_GUID, &p);
	FUZZ_CHECK(r == -ENOENT || r == -EINVAL);
}

static void parse(const char *text)
{
	_cleanup_free_ char *message = NULL, *copy = strdup(text);
	uint64_t number = 1;
	uint8_t gid[16];
	Words words;
	int r = words_split(copy, &words, &message);

	FUZZ_CHECK(r == 0 || (r < 0 && message));
	(void)guid_parse(text, &number);
	(void)gid_parse(text, gid);
	if (text_to_u64(text, 1000, &number) == 0)
		FUZZ_CHECK(number <= 1000);
}

/* A value that is taken can be published. */
static void parse_value(const Attribute *rows, size_t n, void *values, const char *text)
{
	for (size_t i = 0; i < n; i++) {
		AttrValue value;

		if (attr_parse(&rows[i], values, text) == 0 && rows[i].interface != INTERFACE_RAW)
			(void)attr_publish(&rows[i], values, &value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	_cleanup_free_ char *instance = text ? strdup(text) : NULL;
	DeviceValues device = {};
	PortValues port = {};

	if (!instance)
		return 0;
	look_up(text);
	parse(text);
	parse_value(device_attributes, _DEVICE_ATTR_MAX, &device, text);
	parse_value(port_attributes, _PORT_ATTR_MAX, &port, text);
	texts_release(device.texts);
	texts_release(port.texts);
	if (instance_unescape(instance) == 0)
		FUZZ_CHECK(strlen(instance) <= strlen(text));
	return 0;
}
