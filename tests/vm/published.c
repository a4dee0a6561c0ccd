/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "published.h"

#include <glib.h>
#include <inttypes.h>

#include "table-columns.h"

static void object_done(Object *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->properties[i].text);
	free(o->properties);
	free(o->path);
}

void objects_done(Objects *o)
{
	for (size_t i = 0; i < o->n; i++)
		object_done(&o->objects[i]);
	free(o->objects);
	*o = (Objects){};
}

Object *objects_find(const Objects *o, const char *path)
{
	for (size_t i = 0; i < o->n; i++)
		if (streq(o->objects[i].path, path))
			return &o->objects[i];
	return NULL;
}

static Object *add_object(Objects *o, const char *path)
{
	Object *found = objects_find(o, path);

	if (found)
		return found;
	o->objects = reallocarray(o->objects, o->n + 1, sizeof(*o->objects));
	assert_non_null(o->objects);
	o->objects[o->n] = (Object){.path = strdup(path)};
	return &o->objects[o->n++];
}

static void remove_object(Objects *o, Object *object)
{
	object_done(object);
	*object = o->objects[--o->n];
}

static Property *find_property(const Object *object, const char *name)
{
	name = g_intern_string(name);
	for (size_t i = 0; i < object->n; i++)
		if (object->properties[i].name == name)
			return &object->properties[i];
	return NULL;
}

const char *object_get(const Object *object, const char *name)
{
	const Property *p = find_property(object, name);

	return p ? p->text : NULL;
}

/* Sets the text of a property. Takes ownership of TEXT. */
static void set_property(Object *object, const char *interface, const char *name, char *text)
{
	Property *p = find_property(object, name);

	if (!p) {
		object->properties = reallocarray(object->properties, object->n + 1,
						  sizeof(*object->properties));
		assert_non_null(object->properties);
		p = &object->properties[object->n++];
		*p = (Property){.interface = g_intern_string(interface),
				.name = g_intern_string(name)};
	}
	free(p->text);
	p->text = text;
}

static void remove_interface(Object *object, const char *interface)
{
	size_t n = 0;

	for (size_t i = 0; i < object->n; i++) {
		Property *p = &object->properties[i];

		if (!streq(p->interface, interface)) {
			object->properties[n++] = *p;
			continue;
		}
		free(p->text);
	}
	object->n = n;
}

static void put_value(GString *to, sd_bus_message *m)
{
	const char *contents, *text;
	uint64_t u64;
	uint32_t u32;
	char type;
	int b;

	assert_true(sd_bus_message_peek_type(m, &type, &contents) > 0);
	switch (type) {
	case 's':
	case 'o':
		sd_bus_message_read_basic(m, type, &text);
		g_string_append(to, text);
		break;
	case 'u':
		sd_bus_message_read_basic(m, 'u', &u32);
		g_string_append_printf(to, "%u", u32);
		break;
	case 'i':
		sd_bus_message_read_basic(m, 'i', &b);
		g_string_append_printf(to, "%d", b);
		break;
	case 't':
		sd_bus_message_read_basic(m, 't', &u64);
		g_string_append_printf(to, "%" PRIu64, u64);
		break;
	case 'b':
		sd_bus_message_read_basic(m, 'b', &b);
		g_string_append(to, b ? "yes" : "no");
		break;
	case 'a':
	case 'v':
	case 'r':
	case 'e':
		sd_bus_message_enter_container(m, type, contents);
		for (bool first = true; sd_bus_message_at_end(m, false) == 0; first = false) {
			g_string_append(to, first ? "" : " ");
			put_value(to, m);
		}
		sd_bus_message_exit_container(m);
		g_string_append(to, type == 'r' || type == 'e' ? ";" : "");
		break;
	default:
		fail_msg("a value has the unexpected type %c", type);
	}
}

char *message_text(sd_bus_message *m)
{
	GString *to = g_string_new(NULL);

	for (bool first = true; sd_bus_message_at_end(m, false) == 0; first = false) {
		g_string_append(to, first ? "" : " ");
		put_value(to, m);
	}
	return g_string_free(to, FALSE);
}

/* Reads a{sv}, the properties of an interface. Appends their names to CHANGED if that is not NULL.
 */
static void read_properties(Object *object, const char *interface, sd_bus_message *m, FILE *changed)
{
	const char *name;

	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") >= 0);
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		sd_bus_message_read_basic(m, 's', &name);
		set_property(object, interface, name, message_text(m));
		if (changed)
			fprintf(changed, "%s,", name);
		sd_bus_message_exit_container(m);
	}
	sd_bus_message_exit_container(m);
}

/* Reads a{sa{sv}}, the interfaces of an object. */
static void read_interfaces(Object *object, sd_bus_message *m, FILE *changed)
{
	const char *interface;

	assert_true(sd_bus_message_enter_container(m, 'a', "{sa{sv}}") >= 0);
	while (sd_bus_message_enter_container(m, 'e', "sa{sv}") > 0) {
		sd_bus_message_read_basic(m, 's', &interface);
		read_properties(object, interface, m, changed);
		sd_bus_message_exit_container(m);
	}
	sd_bus_message_exit_container(m);
}

void objects_take(sd_bus_message *reply, Objects *ret)
{
	Objects o = {};
	const char *path;

	assert_true(sd_bus_message_enter_container(reply, 'a', "{oa{sa{sv}}}") >= 0);
	while (sd_bus_message_enter_container(reply, 'e', "oa{sa{sv}}") > 0) {
		sd_bus_message_read_basic(reply, 'o', &path);
		read_interfaces(add_object(&o, path), reply, NULL);
		sd_bus_message_exit_container(reply);
	}
	*ret = o;
}

bool objects_read(Fixture *f, Objects *ret)
{
	_cleanup_free_ char *error = NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
			     "GetManagedObjects", &error, "");

	if (!reply)
		return false;
	objects_take(reply, ret);
	return true;
}

bool objects_read_one(Fixture *f, const char *path, Objects *ret)
{
	_cleanup_free_ char *error = NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, path, "org.freedesktop.DBus.Properties", "GetAll", &error, "s", "");
	Objects o = {};

	if (!reply)
		return false;
	read_properties(add_object(&o, path), "", reply, NULL);
	*ret = o;
	return true;
}

static Object *follow_added(Objects *o, sd_bus_message *m, FILE *changed)
{
	const char *path;
	Object *object;

	sd_bus_message_read_basic(m, 'o', &path);
	object = add_object(o, path);
	read_interfaces(object, m, changed);
	return object;
}

static Object *follow_removed(Objects *o, sd_bus_message *m)
{
	const char *path, *interface;
	Object *object;

	sd_bus_message_read_basic(m, 'o', &path);
	object = objects_find(o, path);
	if (!object)
		return NULL;
	sd_bus_message_enter_container(m, 'a', "s");
	while (sd_bus_message_read_basic(m, 's', &interface) > 0)
		remove_interface(object, interface);
	for (size_t i = 0; i < object->n; i++)
		if (startswith(object->properties[i].interface, "org.rdma."))
			return object;
	remove_object(o, object);
	return NULL;
}

static Object *follow_changed(Objects *o, sd_bus_message *m, FILE *changed)
{
	const char *interface, *name;
	/* if the object was not known, add it: the comparison will show it as a difference */
	Object *object = add_object(o, sd_bus_message_get_path(m));

	sd_bus_message_read_basic(m, 's', &interface);
	read_properties(object, interface, m, changed);
	sd_bus_message_enter_container(m, 'a', "s");
	while (sd_bus_message_read_basic(m, 's', &name) > 0)
		set_property(object, interface, name, NULL);
	return object;
}

Object *objects_follow(Objects *o, sd_bus_message *m, char **ret_changed)
{
	const char *member = sd_bus_message_get_member(m);
	size_t size;
	FILE *changed = open_memstream(ret_changed, &size);
	Object *object = NULL;

	assert_non_null(changed);
	fputc(',', changed);
	assert_true(sd_bus_message_rewind(m, true) >= 0);
	if (streq(member, "InterfacesAdded"))
		object = follow_added(o, m, changed);
	else if (streq(member, "InterfacesRemoved"))
		object = follow_removed(o, m);
	else if (streq(member, "PropertiesChanged"))
		object = follow_changed(o, m, changed);
	fclose(changed);
	return object;
}

/* The row of property NAME of the object at PATH; NULL: it is no row. */
static const Attribute *find_row(const char *path, const char *name)
{
	bool is_port = strstr(path, "/port/");
	const Attribute *rows = is_port ? port_attributes : device_attributes;
	size_t n = is_port ? (size_t)_PORT_ATTR_MAX : (size_t)_DEVICE_ATTR_MAX;

	for (size_t i = 0; i < n; i++)
		if (rows[i].interface != INTERFACE_RAW && streq(rows[i].name, name))
			return &rows[i];
	return NULL;
}

/* Whether a property is not compared: reading changes it, or no signal tells of it alone. */
static bool is_unsignalled(const Attribute *row)
{
	return row && !attr_is_signalled(row);
}

/* Whether a property is a table: changes only invalidate it, and InterfacesAdded does not have it.
 */
static bool is_table(const Attribute *row)
{
	return row && table_layout(row->type);
}

int objects_differ(const Objects *followed, const Objects *read, FILE *report)
{
	int n = 0;

	for (size_t i = 0; i < followed->n; i++)
		if (!objects_find(read, followed->objects[i].path)) {
			fprintf(report, "%s: signals left it, but it is not there\n",
				followed->objects[i].path);
			n++;
		}
	for (size_t i = 0; i < read->n; i++) {
		const Object *is = &read->objects[i], *was = objects_find(followed, is->path);

		if (streq(is->path, RDMAD_ROOT_PATH))
			continue;
		if (!was) {
			fprintf(report, "%s: there, but no signal said so\n", is->path);
			n++;
			continue;
		}
		for (size_t k = 0; k < is->n; k++) {
			const Property *p = &is->properties[k], *q = find_property(was, p->name);
			const Attribute *row = find_row(is->path, p->name);

			if (is_unsignalled(row) || (!q && is_table(row)) || (q && !q->text) ||
			    (q && streq(q->text, p->text)))
				continue;
			fprintf(report, "%s: %s is \"%s\", signals left \"%s\"\n", is->path,
				p->name, p->text, q ? q->text : "nothing");
			n++;
		}
	}
	return n;
}
