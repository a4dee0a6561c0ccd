/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "message-object.h"

#define INTERFACES_MAX 6U
#define PROPERTIES_MAX 24U

static int append_property(sd_bus_message *m, FuzzInput *in, const Object *o)
{
	uint8_t choice = input_u8(in);
	const char *name = o->rows[choice % o->n_rows].name;
	char text[MESSAGE_TEXT_MAX];
	int r = sd_bus_message_open_container(m, 'e', "sv");

	if (r >= 0)
		r = sd_bus_message_append_basic(
			m, 's', choice == UINT8_MAX || !name ? message_text(in, text) : name);
	if (r >= 0)
		r = message_append_variant(m, in);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_interface(sd_bus_message *m, FuzzInput *in, const Object *o)
{
	AttrInterface interface = input_u8(in) % INTERFACE_RAW;
	int r = sd_bus_message_open_container(m, 'e', "sa{sv}");

	if (r >= 0)
		r = sd_bus_message_append_basic(m, 's', attr_interface_name(interface));
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{sv}");
	for (size_t n = input_u8(in) % PROPERTIES_MAX; r >= 0 && n > 0; n--)
		r = append_property(m, in, o);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_interfaces(sd_bus_message *m, FuzzInput *in, const Object *o)
{
	int r = sd_bus_message_open_container(m, 'a', "{sa{sv}}");

	for (size_t n = 1 + input_u8(in) % INTERFACES_MAX; r >= 0 && n > 0; n--)
		r = append_interface(m, in, o);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

void message_read_object(sd_bus_message *m, FuzzInput *in, Object *o)
{
	if (append_interfaces(m, in, o) >= 0 && message_seal(m) >= 0)
		FUZZ_CHECK(object_read_interfaces(o, m) >= 0);
}
