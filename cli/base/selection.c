/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "selection.h"

#include "bus.h"
#include "json.h"
#include "names.h"
#include "no-ports.h"
#include "suggestion.h"

void selection_done(Selection *s)
{
	object_list_done(&s->objects);
	free(s->ports);
	for (size_t i = 0; i < s->n_missing; i++)
		free(s->missing[i]);
	free(s->missing);
	*s = (Selection){};
}

/* A port may be named twice, also by its name and its network interface. */
static void add_port(Selection *s, Object *port)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->ports[i] == port)
			return;
	s->ports[s->n++] = port;
}

/* MESSAGE says why there is no port. The same line is added once. */
static ExitStatus add_missing(Selection *s, const char *argument, const char *message)
{
	Suggestion suggestion = suggestion_for(argument);
	_cleanup_free_ char *text = NULL;

	suggestion_offer_ports(&suggestion, &s->objects);
	if (asprintf(&text, "%s: %s%s", argument, message,
		     strchr(argument, ',') ? "; write a space between two ports"
					   : suggestion_text(&suggestion)) < 0)
		return out_of_memory();
	for (size_t i = 0; i < s->n_missing; i++)
		if (streq(s->missing[i], text))
			return STATUS_OK;
	s->missing[s->n_missing++] = steal_pointer(&text);
	return STATUS_OK;
}

/* Returns how many ports match PATTERN. */
static size_t choose_matching(Selection *s, const char *pattern)
{
	size_t n = 0;

	for (size_t i = 0; i < s->objects.n; i++) {
		Object *o = s->objects.items[i];

		if (!o->is_port || !object_matches(o, pattern))
			continue;
		add_port(s, o);
		n++;
	}
	return n;
}

static void choose_all(Selection *s, bool planes)
{
	for (size_t i = 0; i < s->objects.n; i++) {
		Object *o = s->objects.items[i];

		if (o->is_port && (planes || !object_list_is_plane(&s->objects, o)))
			s->ports[s->n++] = o;
	}
}

/* The ports that rdmad finds by each argument. */
typedef struct Found {
	FoundPaths *items; /* by argument; of a pattern none */
	unsigned int n;
	ObjectList objects; /* the ports, without what All has */
	bool patterns;	    /* an argument is a pattern */
	bool all;	    /* others are needed too: those that a pattern or a hint is about */
} Found;

static void found_done(Found *f)
{
	for (unsigned int i = 0; i < f->n; i++)
		found_paths_done(&f->items[i]);
	free(f->items);
	object_list_done(&f->objects);
}

/* Whether ListPorts() or FindPorts() failed because an older rdmad does not know it, an option or
 * one of the properties. */
static bool is_of_older(const sd_bus_error *error)
{
	return sd_bus_error_has_name(error, RDMAD_ERROR_INVALID_OPTION) ||
	       sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_METHOD);
}

const char *const selection_names[] = {NULL};

/* What is read beside all of the ports, or beside what ListPorts() has of them. */
static const char *const *more_properties(SelectionFlags flags, const char *const *properties)
{
	static const char *const events[] = {"Events", "EventsReason", NULL};

	return properties ? properties : flags & SELECTION_EVENTS ? events : selection_names;
}

/* Finds the ports of ARGUMENT, and reads them at once if no others are needed. */
static int find(Context *c, const char *argument, SelectionFlags flags,
		const char *const *properties, Found *f, FoundPaths *ret, sd_bus_error *error)
{
	int r;

	if (flags & SELECTION_OTHERS)
		return ports_find(c->bus, argument, NULL, ret, error);
	r = ports_find_objects(c->bus, argument, !properties, more_properties(flags, properties),
			       &f->objects, ret, error);
	if (r >= 0 || !is_of_older(error))
		return r;
	sd_bus_error_free(error);
	f->all = true;
	return ports_find(c->bus, argument, NULL, ret, error);
}

static ExitStatus find_arguments(Context *c, SelectionFlags flags, const char *const *properties,
				 Found *f)
{
	f->items = calloc(c->n_arguments + 1, sizeof(*f->items));
	if (!f->items)
		return out_of_memory();
	f->all = c->n_arguments == 0 || (flags & SELECTION_OTHERS);
	for (; f->n < c->n_arguments; f->n++) {
		_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
		const char *argument = c->arguments[f->n];
		FoundPaths *found = &f->items[f->n];
		int r = object_is_pattern(argument)
				? 0
				: find(c, argument, flags, properties, f, found, &error);

		if (r < 0)
			return bus_complain(argument, &error, r);
		f->patterns |= object_is_pattern(argument);
		f->all |= found->n == 0;
	}
	return STATUS_OK;
}

/* Reads the devices of the ports in F. False if there are many of them, or one cannot be read: it
 * may have gone, or it is not published. */
static bool read_devices(Context *c, Found *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += f->items[i].n;
	for (size_t i = 0; n <= SELECTION_FEW && i < f->n; i++)
		for (size_t k = 0; k < f->items[i].n; k++) {
			const Object *port =
				object_list_find(&f->objects, f->items[i].items[k].path);

			if (!port || ports_read_device(c->bus, port, &f->objects, NULL) < 0)
				return false;
		}
	return n <= SELECTION_FEW;
}

/* Whether no more than the ports that were found is needed, which are then in *RET. */
static bool read_few(Context *c, SelectionFlags flags, const char *const *properties, Found *f,
		     ObjectList *ret)
{
	bool devices = (flags & SELECTION_DEVICES) && !properties;

	if (f->all || (devices && !read_devices(c, f)))
		return false;
	*ret = f->objects;
	f->objects = (ObjectList){};
	return true;
}

ExitStatus selection_read_all(Context *c, const char *const *properties, bool patterns,
			      ObjectList *ret)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	static const char *const own[] = {"Type", "Netdev", "Netdevs"};
	const size_t n_own = patterns ? 3 : 2;
	_cleanup_free_ const char **all = NULL;
	size_t n = 0;
	int r;

	if (!properties)
		return bus_read_objects(c->bus, ret);
	while (properties[n])
		n++;
	all = calloc(n_own + n + 1, sizeof(*all));
	if (!all)
		return out_of_memory();
	memcpy(all, own, n_own * sizeof(*all));
	memcpy(all + n_own, properties, n * sizeof(*all));
	r = ports_list(c->bus, all, ret, &error);
	if (r < 0 && is_of_older(&error))
		return bus_read_objects(c->bus, ret);
	return r < 0 ? bus_complain("cannot read the ports", &error, r) : STATUS_OK;
}

static ExitStatus choose(Selection *s, const char *argument, const FoundPaths *found)
{
	bool any = false;

	if (object_is_pattern(argument))
		return choose_matching(s, argument) > 0
			       ? STATUS_OK
			       : add_missing(s, argument, "no port has such a name");
	for (size_t i = 0; i < found->n; i++) {
		Object *o = object_list_find(&s->objects, found->items[i].path);

		if (o)
			add_port(s, o);
		any |= o != NULL;
	}
	if (any)
		return STATUS_OK;
	return add_missing(s, argument,
			   found->n == 0 ? "no port has this name" : "the port has just gone away");
}

ExitStatus selection_read(Context *c, SelectionFlags flags, const char *const *properties,
			  Selection *ret)
{
	_cleanup_selection_ Selection s = {};
	_cleanup_(found_done) Found found = {};
	ExitStatus status = find_arguments(c, flags, properties, &found);

	if (status == STATUS_OK && !read_few(c, flags, properties, &found, &s.objects))
		status = selection_read_all(c, properties, found.patterns, &s.objects);
	if (status != STATUS_OK)
		return status;
	s.ports = calloc(s.objects.n + 1, sizeof(*s.ports));
	s.missing = calloc(c->n_arguments + 1, sizeof(*s.missing));
	if (!s.ports || !s.missing)
		return out_of_memory();
	if (c->n_arguments == 0)
		choose_all(&s, flags & SELECTION_PLANES);
	for (unsigned int i = 0; status == STATUS_OK && i < c->n_arguments; i++)
		status = choose(&s, c->arguments[i], &found.items[i]);
	if (status != STATUS_OK)
		return status;
	*ret = s;
	s = (Selection){};
	return STATUS_OK;
}

ExitStatus selection_complain(const Selection *s)
{
	for (size_t i = 0; i < s->n_missing; i++)
		complain("%s", s->missing[i]);
	return s->n_missing > 0 ? STATUS_NO_PORT : STATUS_OK;
}

const Object *selection_device(const Selection *s, const Object *port)
{
	return object_list_device(&s->objects, port);
}

ExitStatus selection_print(Context *c, SelectionFlags flags, const char *const *properties,
			   SelectionPrint *print)
{
	_cleanup_selection_ Selection s = {};
	ExitStatus status = selection_read(c, flags, properties, &s), worst;
	size_t n = 0;

	if (status != STATUS_OK)
		return status;
	worst = selection_complain(&s);
	if (c->json)
		json_begin(c->out, "Ports");
	for (size_t i = 0; i < s.n; i++) {
		status = print(c, &s, s.ports[i], n, s.n > 1);
		n += status == STATUS_OK;
		worst = MAX(worst, status);
	}
	if (c->json)
		json_end(c->out);
	else if (s.n + s.n_missing == 0)
		no_ports(c);
	return worst;
}
