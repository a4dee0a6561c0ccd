/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl gid: the GID tables of ports, or the entries that programs should use for addresses. */

#include "gid.h"
#include "bus.h"
#include "commands.h"
#include "format.h"
#include "json.h"
#include "selection.h"
#include "text-table.h"

/* One entry of a GID table. */
typedef struct Line {
	const Object *port;
	const Value *entry;
} Line;

typedef struct Lines {
	Line *items;
	size_t n;
} Lines;

static void lines_done(Lines *l)
{
	free(l->items);
}

static ExitStatus add_line(Lines *l, const Object *port, const Value *entry)
{
	if (!array_grow(l->items, l->n))
		return out_of_memory();
	l->items[l->n++] = (Line){port, entry};
	return STATUS_OK;
}

static ExitStatus add_port(Lines *l, const Object *port)
{
	const Value *gids = object_value(port, PORT_ATTR_gids);
	ExitStatus status = STATUS_OK;

	VALUE_FOREACH(e, gids)
		if (status == STATUS_OK && e->type == VALUE_STRUCT)
			status = add_line(l, port, e);
	return status;
}

/* Adds the entry with INDEX of the port at PATH. */
static ExitStatus add_entry(Lines *l, const ObjectList *objects, const char *path, uint32_t index,
			    const char *address)
{
	const Object *port = object_list_find(objects, path);
	const Value *gids = object_value(port, PORT_ATTR_gids);

	VALUE_FOREACH(e, gids) {
		if (e->type == VALUE_STRUCT && e->n > 0 && e->items[0].type == VALUE_UNSIGNED &&
		    e->items[0].number == index)
			return add_line(l, port, e);
	}
	return complain_as(STATUS_NO_PORT, "%s: the entry has just gone away", address);
}

/* Reads the port at PATH. One that has gone is no error yet. */
static ExitStatus read_port(Context *c, ObjectList *objects, const char *path, const char *address)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = ports_read_one(c->bus, path, objects, &error);

	return r < 0 && !error_is_no_port(&error) ? bus_complain(address, &error, r) : STATUS_OK;
}

/* rdmad says which entry a program should use for ADDRESS: the rule is there alone. */
static ExitStatus add_address(Context *c, ObjectList *objects, Lines *l, const char *address)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(found_paths_done) FoundPaths found = {};
	int r = ports_find(c->bus, address, NULL, &found, &error);
	ExitStatus status = STATUS_OK;
	size_t n = 0;

	if (r < 0)
		return bus_complain(address, &error, r);
	for (size_t i = 0; status == STATUS_OK && i < found.n; i++) {
		const char *path = found.items[i].path;

		if (found.items[i].gid == UINT32_MAX)
			continue;
		status = read_port(c, objects, path, address);
		if (status == STATUS_OK)
			status = add_entry(l, objects, path, found.items[i].gid, address);
		n++;
	}
	if (n > 0)
		return status;
	return complain_as(STATUS_NO_PORT, "%s: no port has a GID for this address", address);
}

/* An address, with a zone or without one, or a subnet. */
static bool is_address(const char *argument)
{
	const char *zone;
	unsigned int bits;
	uint8_t gid[16];

	return gid_parse_zone(argument, gid, &zone) == 0 ||
	       gid_parse_subnet(argument, gid, &bits) == 0;
}

/* The arguments are ports, or addresses, but not both. */
static ExitStatus read_lines(Context *c, Selection *s, Lines *ret, ExitStatus *ret_missing)
{
	static const char *const gids[] = {"Gids", NULL};
	unsigned int n = 0;
	ExitStatus status;

	*ret_missing = STATUS_OK;
	for (unsigned int i = 0; i < c->n_arguments; i++)
		n += is_address(c->arguments[i]);
	if (n > 0 && n < c->n_arguments)
		return usage_error("gid: expected ports or addresses, but not both");
	if (n == 0) {
		status = selection_read(c, 0, gids, s);
		if (status != STATUS_OK)
			return status;
		*ret_missing = selection_complain(s);
		for (size_t i = 0; status == STATUS_OK && i < s->n; i++)
			status = add_port(ret, s->ports[i]);
		return status;
	}
	for (unsigned int i = 0; i < c->n_arguments; i++) {
		ExitStatus one = add_address(c, &s->objects, ret, c->arguments[i]);

		if (one == STATUS_NO_DAEMON)
			return one;
		*ret_missing = MAX(*ret_missing, one);
	}
	return STATUS_OK;
}

static void print_json(FILE *f, const Lines *l)
{
	const char *const *columns = format_table_columns(ATTR_GIDS);

	json_begin(f, "Gids");
	for (size_t i = 0; i < l->n; i++) {
		const Line *line = &l->items[i];

		json_next(f);
		json_open_port(f, line->port);
		for (size_t m = 0; columns[m]; m++) {
			const Value *v = format_find_member(ATTR_GIDS, m, line->entry);

			if (v)
				json_add_value(f, columns[m], ATTR_U32, v);
		}
		json_close(f);
	}
	json_end(f);
}

/* The member of an entry that has the name COLUMN; NULL if there is none, or it is empty. */
static const Value *member(const Value *entry, const char *column)
{
	const char *const *columns = format_table_columns(ATTR_GIDS);

	for (size_t i = 0; columns[i]; i++) {
		const Value *v = format_find_member(ATTR_GIDS, i, entry);

		if (streq(columns[i], column))
			return v && v->type == VALUE_TEXT && !*v->text ? NULL : v;
	}
	return NULL;
}

/* The columns: those of the table, but an IP address in place of the GID that says the same. */
static const struct {
	TableColumn heading;
	const char *column, *otherwise;
} cells[] = {
	{{"INDEX", 0, 0}, "index", NULL},
	{{"TYPE", TABLE_SPARE, 0}, "type", NULL},
	{{"NETDEV", TABLE_SPARE, 0}, "netdev", NULL},
	{{"ADDRESS", 0, 0}, "address", "gid"},
	{{"VLAN", 0, 0}, "vlan_id", NULL},
	{{"NAMESPACE", 0, 0}, "namespace", NULL},
};

/* A column that most entries lack comes last, and is not there if all lack it. */
#define N_USUAL_CELLS 4U

static size_t count_cells(const Lines *l)
{
	size_t n = ARRAY_SIZE(cells);

	for (; n > N_USUAL_CELLS; n--)
		for (size_t i = 0; i < l->n; i++)
			if (member(l->items[i].entry, cells[n - 1].column))
				return n;
	return n;
}

static void print_line(TextTable *table, const Line *line, size_t n_cells)
{
	char name[96];

	text_table_add_line(table);
	text_table_put(table, 0, object_name(line->port, name));
	for (size_t i = 0; i < n_cells; i++) {
		const Value *v = member(line->entry, cells[i].column);

		if (!v && cells[i].otherwise)
			v = member(line->entry, cells[i].otherwise);
		if (v)
			text_table_take(table, i + 1, format_entry(v));
	}
}

static ExitStatus print_table(const Context *c, const Lines *l)
{
	_cleanup_text_table_ TextTable table = text_table_begin(c, &(TableColumn){"PORT", 0, 0}, 1);
	size_t n_cells = count_cells(l);

	for (size_t i = 0; i < n_cells; i++)
		text_table_add_column(&table, &cells[i].heading);
	for (size_t i = 0; i < l->n; i++)
		print_line(&table, &l->items[i], n_cells);
	return text_table_print(&table, 0);
}

ExitStatus gid_command(Context *c)
{
	_cleanup_selection_ Selection s = {};
	_cleanup_(lines_done) Lines lines = {};
	ExitStatus missing, status = read_lines(c, &s, &lines, &missing);

	if (status != STATUS_OK)
		return status;
	if (c->json)
		print_json(c->out, &lines);
	else if (lines.n > 0)
		status = print_table(c, &lines);
	else if (missing == STATUS_OK)
		fputs("No GIDs.\n", c->out);
	return MAX(status, missing);
}
