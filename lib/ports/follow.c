/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "follow.h"

#include <systemd/sd-event.h>

#include "names.h"

/* A call that reads all properties of INTERFACE of the object at PATH anew. */
typedef struct Refetch {
	Follow *f;
	char *path;
	const char *interface;
} Refetch;

static void refetch_free(void *p)
{
	Refetch *r = p;

	if (!r)
		return;
	free(r->path);
	free(r);
}
DEFINE_CLEANUP(Refetch, refetch_free);

void follow_done(Follow *f)
{
	object_list_done(&f->objects);
}

static int tell_before(Follow *f, const Object *o, unsigned int interfaces)
{
	return f->handlers->before ? f->handlers->before(f->userdata, o, interfaces) : 0;
}

static void tell_changed(Follow *f, const Object *o)
{
	if (f->handlers->changed)
		f->handlers->changed(f->userdata, o);
}

static int on_refetched(sd_bus_message *reply, void *userdata, _unused_ sd_bus_error *error)
{
	Refetch *refetch = userdata;
	Object *o = object_list_find(&refetch->f->objects, refetch->path);
	AttrInterface interface;
	int r;

	/* The object has gone while the call was under way. A signal says that too. */
	if (!o || sd_bus_message_is_method_error(reply, NULL))
		return 0;
	r = attr_interface_find(refetch->interface, &interface);
	if (r >= 0)
		r = tell_before(refetch->f, o, 1U << interface);
	if (r >= 0)
		r = object_read_properties(o, refetch->interface, reply);
	if (r >= 0)
		tell_changed(refetch->f, o);
	return r;
}

static int refetch_interface(Follow *f, const char *path, AttrInterface interface)
{
	_cleanup_(refetch_free_pointer) Refetch *refetch = calloc(1, sizeof(*refetch));
	sd_bus_slot *slot;
	int r;

	if (!refetch)
		return -ENOMEM;
	*refetch = (Refetch){
		.f = f, .path = strdup(path), .interface = attr_interface_name(interface)};
	if (!refetch->path)
		return -ENOMEM;
	r = sd_bus_call_method_async(f->bus, &slot, RDMAD_BUS_NAME, path,
				     "org.freedesktop.DBus.Properties", "GetAll", on_refetched,
				     refetch, "s", refetch->interface);
	if (r < 0)
		return r;
	sd_bus_slot_set_destroy_callback(slot, refetch_free);
	refetch = NULL;
	sd_bus_slot_set_floating(slot, true);
	sd_bus_slot_unref(slot);
	return 0;
}

static int on_properties_changed(Follow *f, sd_bus_message *signal)
{
	Object *o = object_list_find(&f->objects, sd_bus_message_get_path(signal));
	AttrInterface interface;
	const char *name;
	int r = sd_bus_message_read_basic(signal, 's', &name);

	if (r < 0 || !o || attr_interface_find(name, &interface) < 0)
		return r;
	r = tell_before(f, o, 1U << interface);
	if (r >= 0)
		r = object_read_properties(o, name, signal);
	if (r >= 0)
		r = sd_bus_message_enter_container(signal, 'a', "s");
	if (r > 0 && sd_bus_message_at_end(signal, false) == 0)
		r = refetch_interface(f, o->path, interface);
	if (r >= 0)
		tell_changed(f, o);
	return r;
}

static int on_interfaces_added(Follow *f, sd_bus_message *signal)
{
	const char *path;
	Object *o, *added = NULL;
	int r = sd_bus_message_read_basic(signal, 'o', &path);

	if (r < 0)
		return r;
	o = object_list_find(&f->objects, path);
	if (o) {
		r = tell_before(f, o, 0);
		if (r >= 0)
			r = object_read_interfaces(o, signal);
		if (r >= 0)
			tell_changed(f, o);
		return r;
	}
	r = object_list_read_object(&f->objects, path, signal, &added);
	if (added && f->handlers->added)
		f->handlers->added(f->userdata, added);
	return r;
}

static int on_interfaces_removed(Follow *f, sd_bus_message *signal)
{
	const char *path, *interface;
	Object *o;
	int r = sd_bus_message_read_basic(signal, 'o', &path);

	if (r < 0)
		return r;
	o = object_list_find(&f->objects, path);
	if (!o)
		return 0;
	r = tell_before(f, o, 0);
	if (r >= 0)
		r = sd_bus_message_enter_container(signal, 'a', "s");
	while (r > 0 && (r = sd_bus_message_read_basic(signal, 's', &interface)) > 0)
		object_remove_interface(o, interface);
	if (r < 0)
		return r;
	if (o->interfaces != 0) {
		tell_changed(f, o);
		return 0;
	}
	if (f->handlers->removed)
		f->handlers->removed(f->userdata, o);
	object_list_remove(&f->objects, path);
	return 0;
}

static int handle(Follow *f, sd_bus_message *signal)
{
	static const struct {
		const char *interface, *member;
		int (*handle)(Follow *f, sd_bus_message *signal);
	} signals[] = {
		{"org.freedesktop.DBus.Properties", "PropertiesChanged", on_properties_changed},
		{"org.freedesktop.DBus.ObjectManager", "InterfacesAdded", on_interfaces_added},
		{"org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", on_interfaces_removed},
	};

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (sd_bus_message_is_signal(signal, signals[i].interface, signals[i].member))
			return signals[i].handle(f, signal);
	return f->handlers->signal ? f->handlers->signal(f->userdata, signal) : 0;
}

static int on_signal(sd_bus_message *signal, void *userdata, _unused_ sd_bus_error *error)
{
	Follow *f = userdata;
	int r = f->synced ? handle(f, signal) : 0;

	if (r < 0)
		f->handlers->failed(f->userdata, sd_bus_message_get_member(signal), NULL, r);
	return 0;
}

static int request_all_objects(Follow *f);

static int on_again(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Follow *f = userdata;
	int r = f->runs && !f->synced ? request_all_objects(f) : 0;

	if (r < 0)
		f->handlers->failed(f->userdata, "cannot read the ports", NULL, r);
	return 0;
}

/* rdmad has refused the call, because it has too much to do: asks it again soon. If it has gone
 * again it is asked when it comes back. */
static int ask_again(Follow *f)
{
	return f->runs ? sd_event_add_time_relative(sd_bus_get_event(f->bus), NULL, CLOCK_MONOTONIC,
						    USEC_PER_SEC, 0, on_again, f)
		       : 0;
}

static int on_all_objects(sd_bus_message *reply, void *userdata, _unused_ sd_bus_error *ret_error)
{
	const sd_bus_error *error = sd_bus_message_get_error(reply);
	_cleanup_objects_ ObjectList list = {};
	Follow *f = userdata;
	bool first = !f->started;
	ObjectList was;
	int r;

	if (error && !first)
		return ask_again(f);
	r = error ? -EIO : object_list_read(&list, reply);
	if (r < 0) {
		f->handlers->failed(f->userdata, "cannot read the ports", error, r);
		return 0;
	}
	was = f->objects;
	f->objects = list;
	list = was;
	f->started = true;
	f->runs = true;
	f->synced = true;
	if (f->handlers->read)
		f->handlers->read(f->userdata, first ? NULL : &list, &f->objects);
	return 0;
}

static int request_all_objects(Follow *f)
{
	return sd_bus_call_method_async(f->bus, NULL, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					"org.freedesktop.DBus.ObjectManager", "GetManagedObjects",
					on_all_objects, f, NULL);
}

static int on_name_owner_changed(sd_bus_message *signal, void *userdata,
				 _unused_ sd_bus_error *error)
{
	const char *name, *was, *is;
	Follow *f = userdata;
	int r = sd_bus_message_read(signal, "sss", &name, &was, &is);

	/* before the first answer: the bus has started rdmad for our call */
	if (r < 0 || !f->started)
		return 0;
	f->synced = false;
	f->runs = *is;
	if (*was && f->handlers->daemon)
		f->handlers->daemon(f->userdata, false);
	if (!*is)
		return 0;
	if (f->handlers->daemon)
		f->handlers->daemon(f->userdata, true);
	r = request_all_objects(f);
	if (r < 0)
		f->handlers->failed(f->userdata, "cannot read the ports", NULL, r);
	return 0;
}

int follow_start(Follow *f)
{
	/* Subscribe first and read afterwards, so that no change is missed. */
	int r = sd_bus_add_match(f->bus, NULL,
				 "type='signal',sender='org.freedesktop.DBus',"
				 "member='NameOwnerChanged',arg0='" RDMAD_BUS_NAME "'",
				 on_name_owner_changed, f);

	if (r >= 0)
		r = sd_bus_add_match(f->bus, NULL,
				     "type='signal',sender='" RDMAD_BUS_NAME
				     "',path_namespace='" RDMAD_ROOT_PATH "'",
				     on_signal, f);
	return r < 0 ? r : request_all_objects(f);
}
