/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "selection.h"

#include "bus.h"
#include "json.h"
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

bool selection_is_pattern(const char *argument)
{
	return strpbrk(argument, "*?[") != NULL;
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
	if (asprintf(&text, "%s: %s%s", argument, message, suggestion_text(&suggestion)) < 0)
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

static ExitStatus choose(Context *c, Selection *s, const char *argument)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(found_paths_done) FoundPaths found = {};
	bool any = false;
	int r;

	if (selection_is_pattern(argument))
		return choose_matching(s, argument) > 0
			       ? STATUS_OK
			       : add_missing(s, argument, "no port has such a name");
	r = ports_find(c->bus, argument, NULL, &found, &error);
	if (r < 0)
		return bus_complain(argument, &error, r);
	for (size_t i = 0; i < found.n; i++) {
		Object *o = object_list_find(&s->objects, found.paths[i]);

		if (o)
			add_port(s, o);
		any |= o != NULL;
	}
	if (any)
		return STATUS_OK;
	return add_missing(s, argument,
			   found.n == 0 ? "no port has this name" : "the port has just gone away");
}

ExitStatus selection_read(Context *c, bool planes, Selection *ret)
{
	_cleanup_selection_ Selection s = {};
	ExitStatus status = bus_read_objects(c->bus, &s.objects);

	if (status != STATUS_OK)
		return status;
	s.ports = calloc(s.objects.n + 1, sizeof(*s.ports));
	s.missing = calloc(c->n_arguments + 1, sizeof(*s.missing));
	if (!s.ports || !s.missing)
		return out_of_memory();
	if (c->n_arguments == 0)
		choose_all(&s, planes);
	for (unsigned int i = 0; status == STATUS_OK && i < c->n_arguments; i++)
		status = choose(c, &s, c->arguments[i]);
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
	return object_list_find(&s->objects, value_text(&port->values[PORT_ATTR_device_index]));
}

ExitStatus selection_print(Context *c, SelectionPrint *print)
{
	_cleanup_selection_ Selection s = {};
	ExitStatus status = selection_read(c, false, &s), worst;
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
		fputs("No RDMA ports.\n", c->out);
	return worst;
}
