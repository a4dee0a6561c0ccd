/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "map-gpu.h"

#include "format.h"
#include "gpus.h"
#include "json.h"
#include "selection.h"
#include "text-table.h"

/* A way to a port. */
typedef struct Way {
	const Object *port;
	Distance distance;
	uint64_t hops;
	size_t place; /* of the port in the selection */
} Way;

static int compare_ways(const void *a, const void *b)
{
	const Way *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	if (x->hops != y->hops)
		return x->hops < y->hops ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

/* Fills RET, which has room for all ports of S, with those that G has a way to, the nearest first.
 */
static size_t find_ways(const Selection *s, const Gpu *g, Way *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		Way w = {.port = s->ports[i], .place = i};

		w.distance = gpu_distance(selection_device(s, w.port), g, &w.hops);
		if (w.distance != _DISTANCE_MAX)
			ret[n++] = w;
	}
	sort(ret, n, sizeof(*ret), compare_ways);
	return n;
}

static void print_ways_json(FILE *f, const Way *ways, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		json_entry(f);
		json_open_port(f, ways[i].port);
		json_add_text(f, "Distance", distance_name(ways[i].distance));
		json_add_number(f, "Hops", ways[i].hops);
		json_add_row(f, "State", ways[i].port, PORT_ATTR_state);
		if (object_value(ways[i].port, PORT_ATTR_rail)) {
			json_add_row(f, "Rail", ways[i].port, PORT_ATTR_rail);
			json_add_row(f, "RailSource", ways[i].port, PORT_ATTR_rail_source);
		}
		json_close(f);
	}
}

static void print_json(FILE *f, const Selection *s, const Gpus *g, Way *ways)
{
	json_begin(f, "Gpus");
	for (size_t i = 0; i < g->n; i++) {
		json_next(f);
		json_open(f);
		json_add_number(f, "Index", i);
		json_add_text(f, "Address", g->items[i].address);
		json_add_text(f, "Model", g->items[i].model);
		json_open_list(f, "Ports");
		print_ways_json(f, ways, find_ways(s, &g->items[i], ways));
		json_close_list(f);
		json_close(f);
	}
	json_end(f);
}

static void add_way(TextTable *t, size_t index, const Gpu *g, const Way *w)
{
	char name[96];

	text_table_add_line(t);
	text_table_format(t, 0, "%zu", index);
	text_table_put(t, 1, g->address);
	text_table_put(t, 2, g->model);
	text_table_put(t, 3, distance_name(w->distance));
	text_table_format(t, 4, "%u", (unsigned int)w->hops);
	text_table_put(t, 5, object_name(w->port, name));
	text_table_take(t, 6, format_state(w->port));
	if (object_value(w->port, PORT_ATTR_rail))
		text_table_format(t, 7, "%u (%s)",
				  (unsigned int)object_number(w->port, PORT_ATTR_rail),
				  object_text(w->port, PORT_ATTR_rail_source));
	else
		text_table_put(t, 7, "-");
}

static ExitStatus print_table(const Context *c, const Selection *s, const Gpus *g, Way *ways)
{
	static const TableColumn columns[] = {
		{"GPU", TABLE_RIGHT, 0},  {"ADDRESS", 0, 0}, {"MODEL", 0, 0}, {"DISTANCE", 0, 0},
		{"HOPS", TABLE_RIGHT, 0}, {"PORT", 0, 0},    {"STATE", 0, 0}, {"RAIL", 0, 0}};
	_cleanup_text_table_ TextTable t = text_table_begin(c, columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < g->n; i++) {
		size_t n = find_ways(s, &g->items[i], ways);

		for (size_t k = 0; k < n && ways[k].distance == ways[0].distance; k++)
			add_way(&t, i, &g->items[i], &ways[k]);
	}
	return text_table_print(&t, 0);
}

ExitStatus map_gpus(Context *c)
{
	_cleanup_selection_ Selection s = {};
	_cleanup_(gpus_done) Gpus g = {};
	_cleanup_free_ Way *ways = NULL;
	ExitStatus status = selection_read(c, SELECTION_DEVICES | SELECTION_OTHERS, NULL, &s);
	ExitStatus missing;

	if (status != STATUS_OK)
		return status;
	missing = selection_complain(&s);
	ways = calloc(s.n + 1, sizeof(*ways));
	if (!ways || gpus_find(&s.objects, &g) < 0)
		return out_of_memory();
	if (c->json)
		print_json(c->out, &s, &g, ways);
	else if (g.n > 0)
		status = print_table(c, &s, &g, ways);
	else if (!c->no_legend)
		fputs("No accelerator.\n", c->out);
	return status == STATUS_OK ? missing : status;
}
