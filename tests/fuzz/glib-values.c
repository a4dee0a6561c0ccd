/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "glib-values.h"

#include "attribute.h"
#include "message.h"

#define DEPTH_MAX    16U
#define ELEMENTS_MAX 20U

static GVariant *make(FuzzInput *in, const GVariantType *type, unsigned int depth);

/* Row I of those of devices and ports. */
static const Attribute *row(unsigned int i)
{
	size_t n = i % (_PORT_ATTR_MAX + _DEVICE_ATTR_MAX);

	return n < _PORT_ATTR_MAX ? &port_attributes[n] : &device_attributes[n - _PORT_ATTR_MAX];
}

/* A name of a property, or another text. */
static const char *choose_text(FuzzInput *in, char buffer[MESSAGE_TEXT_MAX])
{
	static const char *const words[] = {"mlx5_0", "mlx5_1", "active", "down", "link-down"};
	uint8_t choice = input_u8(in);

	if (choice < ARRAY_SIZE(words))
		return words[choice];
	if (choice < 32)
		return message_text(in, buffer);
	return row(choice)->name;
}

static GVariant *make_basic(FuzzInput *in, char type)
{
	char text[MESSAGE_TEXT_MAX];

	switch (type) {
	case 's':
		return g_variant_new_string(choose_text(in, text));
	case 'o':
		return g_variant_new_object_path(value_path(in));
	case 'g':
		return g_variant_new_signature("a{sv}");
	case 'b':
		return g_variant_new_boolean(input_u8(in) & 1);
	case 'y':
		return g_variant_new_byte(input_u8(in));
	case 'n':
		return g_variant_new_int16((gint16)input_u64(in));
	case 'q':
		return g_variant_new_uint16((guint16)input_u64(in));
	case 'i':
		return g_variant_new_int32((gint32)input_u64(in));
	case 'u':
		return g_variant_new_uint32((guint32)input_u64(in));
	case 'x':
		return g_variant_new_int64((gint64)input_u64(in));
	case 'h':
		return g_variant_new_handle((gint32)input_u8(in));
	case 'd':
		return g_variant_new_double((double)input_u64(in));
	default:
		return g_variant_new_uint64(input_u64(in));
	}
}

static GVariant *make_any(FuzzInput *in, unsigned int depth)
{
	static const char *const types[] = {
		"s",	       "u",	     "t",     "d",
		"b",	       "x",	     "y",     "o",
		"h",	       "as",	     "au",    "a(ussssa{sv})",
		"a(uusa{sv})", "a(usa{sv})", "a{ss}", "a(ssuua{sv})",
		"a{sv}",       "(s)",	     "v",     "()",
		"ao",	       "a{uu}",	     "(sv)",  "aay",
	};
	uint8_t choice = input_u8(in);

	return make(in, G_VARIANT_TYPE(depth < DEPTH_MAX ? types[choice % ARRAY_SIZE(types)] : "s"),
		    depth);
}

static GVariant *make_container(FuzzInput *in, const GVariantType *type, unsigned int depth)
{
	GVariantBuilder b;

	g_variant_builder_init(&b, type);
	if (g_variant_type_is_array(type)) {
		for (size_t n = input_u8(in) % ELEMENTS_MAX; n > 0; n--)
			g_variant_builder_add_value(
				&b, make(in, g_variant_type_element(type), depth + 1));
	} else { /* a tuple, or an entry of a dictionary */
		for (const GVariantType *t = g_variant_type_first(type); t;
		     t = g_variant_type_next(t))
			g_variant_builder_add_value(&b, make(in, t, depth + 1));
	}
	return g_variant_builder_end(&b);
}

static GVariant *make(FuzzInput *in, const GVariantType *type, unsigned int depth)
{
	if (g_variant_type_is_variant(type))
		return g_variant_new_variant(make_any(in, depth + 1));
	if (g_variant_type_is_container(type))
		return make_container(in, type, depth);
	return make_basic(in, g_variant_type_peek_string(type)[0]);
}

GVariant *value_of_type(FuzzInput *in, const GVariantType *type)
{
	return make(in, type, 0);
}

GVariant *value_any(FuzzInput *in)
{
	return make_any(in, 0);
}

const char *value_path(FuzzInput *in)
{
	static const char *const paths[] = {
		"/org/rdma/device/0/port/1",
		"/org/rdma/device/0",
		"/org/rdma/device/0/port/2",
		"/org/rdma/device/7",
		"/org/rdma/device/7/port/1",
		"/org/rdma/device/4294967295",
		"/org/rdma/device/4294967296",
		"/org/rdma/device/00",
		"/org/rdma/device/0/port/0",
		"/org/rdma/device/0/port/1025",
		"/org/rdma/device/0/port/1/x",
		"/org/rdma/device/0/port",
		"/org/rdma/device",
		"/org/rdma",
		"/org/rdma/switch/1",
		"/",
	};

	return paths[input_u8(in) % ARRAY_SIZE(paths)];
}

const char *value_interface(FuzzInput *in)
{
	uint8_t choice = input_u8(in) % (INTERFACE_RAW + 2);

	return choice < INTERFACE_RAW ? attr_interface_name(choice) : "org.rdma.Port.Quantum";
}

/* Mostly of the type of row A, if that is published at all. */
static GVariant *value_of_row(FuzzInput *in, const Attribute *a)
{
	const char *signature = attr_signature(a->type);

	return input_u8(in) % 4 == 0 || !*signature ? value_any(in)
						    : make(in, G_VARIANT_TYPE(signature), 0);
}

GVariant *value_of_property(FuzzInput *in, GVariant *arguments)
{
	const char *name;

	g_variant_get_child(arguments, 1, "&s", &name);
	for (unsigned int i = 0; i < _PORT_ATTR_MAX + _DEVICE_ATTR_MAX; i++)
		if (streq(row(i)->name, name))
			return value_of_row(in, row(i));
	return value_any(in);
}

GVariant *value_properties(FuzzInput *in)
{
	GVariantBuilder b;

	g_variant_builder_init(&b, G_VARIANT_TYPE_VARDICT);
	for (size_t n = input_u8(in) % ELEMENTS_MAX; n > 0; n--) {
		const Attribute *a = row(input_u8(in));
		GVariant *value = value_of_row(in, a);

		g_variant_builder_add(&b, "{sv}", a->name, value);
	}
	return g_variant_builder_end(&b);
}

GVariant *value_interfaces(FuzzInput *in)
{
	GVariantBuilder b;

	g_variant_builder_init(&b, G_VARIANT_TYPE("a{sa{sv}}"));
	for (size_t n = input_u8(in) % (INTERFACE_RAW + 2); n > 0; n--) {
		const char *name = value_interface(in);

		g_variant_builder_add(&b, "{s@a{sv}}", name, value_properties(in));
	}
	return g_variant_builder_end(&b);
}

GVariant *value_objects(FuzzInput *in)
{
	GVariantBuilder b;

	g_variant_builder_init(&b, G_VARIANT_TYPE("a{oa{sa{sv}}}"));
	for (size_t n = input_u8(in) % ELEMENTS_MAX; n > 0; n--) {
		const char *path = value_path(in);

		g_variant_builder_add(&b, "{o@a{sa{sv}}}", path, value_interfaces(in));
	}
	return g_variant_new("(a{oa{sa{sv}}})", &b);
}

GVariant *value_changed(FuzzInput *in)
{
	const char *interface = value_interface(in);
	GVariant *changed = value_properties(in);

	return g_variant_new("(s@a{sv}@as)", interface, changed,
			     make(in, G_VARIANT_TYPE_STRING_ARRAY, 0));
}

GVariant *value_removed(FuzzInput *in)
{
	const char *path = value_path(in);
	GVariantBuilder b;

	g_variant_builder_init(&b, G_VARIANT_TYPE_STRING_ARRAY);
	for (size_t n = input_u8(in) % (INTERFACE_RAW + 2); n > 0; n--)
		g_variant_builder_add(&b, "s", value_interface(in));
	return g_variant_new("(oas)", path, &b);
}

/* Members of an entry of FindPorts or ListHistories, of the right types or of others. */
static GVariant *value_dictionary(FuzzInput *in)
{
	static const char *const names[] = {"By",    "GidIndex",    "Netdev",	     "Port",
					    "State", "Present",	    "LinkDownCount", "Transitions",
					    "Error", "ErrorMessage"};
	GVariantBuilder b;

	g_variant_builder_init(&b, G_VARIANT_TYPE_VARDICT);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (input_u8(in) % 2)
			g_variant_builder_add(&b, "{sv}", names[i], value_any(in));
	g_variant_builder_add(&b, "{sv}", "Port", g_variant_new_object_path(value_path(in)));
	return g_variant_builder_end(&b);
}

GVariant *value_of_answer(FuzzInput *in, GDBusMessage *call)
{
	const char *member = g_dbus_message_get_member(call);
	GVariant *boxed;

	if (streq(member, "GetManagedObjects"))
		return value_objects(in);
	if (streq(member, "Query") || streq(member, "GetAll"))
		return g_variant_new("(@a{sv})", value_properties(in));
	if (streq(member, "GetPortByAddress"))
		return g_variant_new("(ou)", value_path(in), 7);
	if (g_str_has_prefix(member, "GetPort"))
		return g_variant_new("(o)", value_path(in));
	if (streq(member, "FindPorts"))
		return g_variant_new_parsed("([(%o, %@a{sv})],)", value_path(in),
					    value_dictionary(in));
	if (streq(member, "WaitFor"))
		return g_variant_new_parsed("({'mlx5_0': %o},)", value_path(in));
	if (streq(member, "GetHistory"))
		return g_variant_new_parsed("([(%t, %t, 'active', 'down', 'x', @a{sv} {})],)",
					    (guint64)1, (guint64)2);
	if (streq(member, "ListHistories"))
		return g_variant_new_parsed("([('mlx5_0/1', %@a{sv})],)", value_dictionary(in));
	if (streq(member, "GetCounters"))
		return g_variant_new_parsed("([(['counters'], ['x'], ['bytes'], @a{sv} {})], "
					    "[(%o, %u, [%t], %t, %t, %@a{sv})])",
					    value_path(in), (guint)(input_u8(in) % 2), (guint64)7,
					    (guint64)1, (guint64)2, value_dictionary(in));
	if (!streq(member, "Get"))
		return NULL;
	boxed = g_variant_new_variant(value_of_property(in, g_dbus_message_get_body(call)));
	return g_variant_new_tuple(&boxed, 1);
}
