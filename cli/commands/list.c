/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl list: one line for each port. The usual columns are the only place in rdmactl where
 * attributes are chosen by hand: with common names they fit into 80 columns. */

#include <strings.h>

#include "bus.h"
#include "commands.h"
#include "decode.h"
#include "format.h"
#include "json.h"
#include "list-with.h"
#include "map-gpu.h"
#include "no-ports.h"
#include "selection.h"
#include "suggestion.h"
#include "terminal.h"
#include "text-table.h"

/* A column: an attribute of the port or its device, or the name of the port if ROW is NULL. */
typedef struct ListColumn {
	const Attribute *row;
	bool of_device;
} ListColumn;

typedef struct Columns {
	ListColumn *items;
	size_t n;
	bool alone; /* without the usual columns before them */
} Columns;

typedef struct ListSort {
	ListColumn column;
	bool given, descending;
} ListSort;

/* The options; they live as long as the process. */
static bool arg_all, arg_names, arg_help;
static Columns arg_columns;
static ListSort arg_sort;

enum {
	COLUMN_PORT,
	COLUMN_PROTOCOL,
	COLUMN_STATE,
	COLUMN_RATE,
	COLUMN_LINK,
	COLUMN_MTU,
	COLUMN_WHERE,
	_COLUMN_MAX
};

/* The value of row A; NULL if it has none. */
static const Value *port_value(const Object *o, PortAttr a)
{
	return object_value(o, a);
}

static void put_link(TextTable *table, const Object *o)
{
	const Value *rate = port_value(o, PORT_ATTR_rate);
	const Value *width = port_value(o, PORT_ATTR_active_width);
	const Value *mtu = port_value(o, PORT_ATTR_active_mtu);

	text_table_take(table, COLUMN_RATE,
			rate ? format_value(&port_attributes[PORT_ATTR_rate], rate) : strdup("-"));
	if (width && width->type == VALUE_UNSIGNED)
		text_table_format(table, COLUMN_LINK, "%ux %s", (unsigned int)width->number,
				  format_text(o, PORT_ATTR_link_speed));
	else
		text_table_put(table, COLUMN_LINK, "-");
	if (mtu && mtu->type == VALUE_UNSIGNED)
		text_table_format(table, COLUMN_MTU, "%u", (unsigned int)mtu->number);
	else
		text_table_put(table, COLUMN_MTU, "-");
}

/* How the port is known in its network: the LID of an InfiniBand port, the network interface of any
 * other. */
static void put_where(TextTable *table, const Object *o)
{
	const Value *lid = port_value(o, PORT_ATTR_lid);

	if (!object_has(o, PORT_ATTR_lid))
		text_table_put(table, COLUMN_WHERE, format_text(o, PORT_ATTR_netdev));
	else if (!lid || lid->type != VALUE_UNSIGNED)
		text_table_put(table, COLUMN_WHERE, "-");
	else
		text_table_format(table, COLUMN_WHERE, "lid %u", (unsigned int)lid->number);
}

/* Fills the usual cells of a line. */
static void put_usual(TextTable *table, const Object *o)
{
	char name[96];

	text_table_put(table, COLUMN_PORT, object_name(o, name));
	text_table_put(table, COLUMN_PROTOCOL, format_text(o, PORT_ATTR_protocol));
	text_table_take(table, COLUMN_STATE, format_state(o));
	text_table_color(table, COLUMN_STATE, terminal_port_color(o));
	put_link(table, o);
	put_where(table, o);
}

/* Whether rdmad has found something wrong with PORT. That it does not know is not enough: the state
 * says so. */
static bool is_unwell(const Object *port)
{
	const char *health = object_text(port, PORT_ATTR_health);

	return streq(health, "warning") || streq(health, "critical");
}

/* -o and --sort */

/* The attributes that the usual columns show. LINK and LID/NETDEV show two each. */
static const PortAttr usual_rows[] = {
	PORT_ATTR_protocol,   PORT_ATTR_state, PORT_ATTR_rate,	     PORT_ATTR_active_width,
	PORT_ATTR_link_speed, PORT_ATTR_lid,   PORT_ATTR_active_mtu, PORT_ATTR_netdev,
};

static bool append_column(Columns *columns, ListColumn column)
{
	if (!array_grow(columns->items, columns->n))
		return false;
	columns->items[columns->n++] = column;
	return true;
}

static ExitStatus find_column(const char *option, const char *name, ListColumn *ret)
{
	Suggestion suggestion;

	*ret = (ListColumn){};
	if (strcasecmp(name, "Port") == 0)
		return STATUS_OK;
	ret->row = object_find_row(name, &ret->of_device);
	if (ret->row)
		return STATUS_OK;
	suggestion = suggestion_for(name);
	suggestion_offer_attributes(&suggestion);
	return usage_error("%s: unknown column \"%s\"; expected one that \"rdmactl list -o help\" "
			   "lists%s",
			   option, name, suggestion_text(&suggestion));
}

/* TEXT has names separated by commas. After a '+' they are added to the usual columns. */
static ExitStatus parse_output(const Option *o, const char *text)
{
	Columns *columns = o->value;
	_cleanup_free_ char *copy = NULL;
	char *rest, *name;

	free(columns->items);
	*columns = (Columns){};
	if (streq(text, "help")) {
		arg_help = true;
		options_request(RUN_OFFLINE);
		return STATUS_OK;
	}
	columns->alone = *text != '+';
	text += *text == '+';
	copy = strdup(text);
	if (!copy)
		return out_of_memory();
	for (rest = copy; (name = strsep(&rest, ","));) {
		ListColumn column;
		ExitStatus status = find_column("--output", name, &column);

		if (status != STATUS_OK)
			return status;
		if (!append_column(columns, column))
			return out_of_memory();
	}
	return STATUS_OK;
}

/* TEXT is "Rate", or "-Rate" for the greatest first. */
static ExitStatus parse_sort(const Option *o, const char *text)
{
	ListSort *sort = o->value;

	sort->given = true;
	sort->descending = *text == '-';
	return find_column("--sort", text + sort->descending, &sort->column);
}

/* clang-format off */
const Option list_options[] = {
	{"all",    'a', NULL,            "Print the planes of devices too",         option_set,   &arg_all,     NULL, 0},
	{"names",  'q', NULL,            "Print the names of the ports only",       option_set,   &arg_names,   NULL, 0},
	{"output", 'o', "[+]COLUMN,...", "Print these columns; + adds them; help lists them",   parse_output, &arg_columns, NULL, 0},
	{"sort",   0,   "[-]COLUMN",     "Sort by this column; with -, in reverse", parse_sort,   &arg_sort,    NULL, 0},
	{},
};
/* clang-format on */

/* The object that has the row of the column: the port or its device. NULL if rdmad has not
 * published the device. */
static const Object *holder(const ObjectList *objects, const Object *port, const ListColumn *column)
{
	return column->of_device
		       ? object_list_find(objects,
					  value_text(&port->values[PORT_ATTR_device_index]))
		       : port;
}

static const Value *cell(const ObjectList *objects, const Object *port, const ListColumn *column)
{
	const Object *o = holder(objects, port, column);

	return o ? object_value(o, (size_t)(column->row - o->rows)) : NULL;
}

static int compare_values(const Attribute *row, const Value *a, const Value *b)
{
	/* ports without the value come last */
	if (!a || !b)
		return (b != NULL) - (a != NULL);
	if (a->type == VALUE_UNSIGNED && b->type == VALUE_UNSIGNED)
		return (a->number > b->number) - (a->number < b->number);
	if (a->type == VALUE_BOOL && b->type == VALUE_BOOL)
		return (int)a->boolean - (int)b->boolean;
	if (a->type == VALUE_ARRAY && b->type == VALUE_ARRAY)
		return (a->n > b->n) - (a->n < b->n);
	if (row->type == ATTR_SPEED) {
		uint32_t x = 0, y = 0;

		(void)decode_value(ATTR_SPEED, value_text(a), &x);
		(void)decode_value(ATTR_SPEED, value_text(b), &y);
		return (x > y) - (x < y);
	}
	return strverscmp(value_text(a), value_text(b));
}

typedef struct Sorting {
	const ObjectList *objects;
	const ListSort *sort;
} Sorting;

/* Ports with equal values stay in the order of their paths. */
static int compare_ports(const void *pa, const void *pb, void *userdata)
{
	const Object *a = *(Object *const *)pa, *b = *(Object *const *)pb;
	const Sorting *s = userdata;
	const ListColumn *column = &s->sort->column;
	char x[96], y[96];
	int r;

	if (column->row) {
		const Value *u = cell(s->objects, a, column), *v = cell(s->objects, b, column);

		r = compare_values(column->row, u, v);
		if (!u || !v)
			return r ? r : strverscmp(a->path, b->path);
	} else {
		r = strverscmp(object_name(a, x), object_name(b, y));
	}
	if (r == 0)
		return strverscmp(a->path, b->path);
	return s->sort->descending ? -r : r;
}

/* The names of the network interfaces in table V. Their indices, which `show` has, are of no use
 * in a column. */
static char *format_interfaces(const Value *v)
{
	char *text = NULL;
	size_t size;
	FILE *f = v->n > 0 ? open_memstream(&text, &size) : NULL;

	if (!f)
		return v->n > 0 ? NULL : strdup("none");
	for (size_t i = 0; i < v->n; i++)
		fprintf(f, "%s%s", i > 0 ? "," : "",
			format_member_text(ATTR_NETDEVS, "name", &v->items[i]));
	return stream_close(f, &text);
}

/* Fills a cell of a column that -o chose. */
static void put_column(TextTable *table, const ObjectList *objects, size_t at, const Object *port,
		       const ListColumn *column)
{
	const Value *v = column->row ? cell(objects, port, column) : NULL;
	char name[96];

	if (!column->row)
		text_table_put(table, at, object_name(port, name));
	else if (!v)
		text_table_put(table, at, "-");
	else if (column->row->type == ATTR_NETDEVS)
		text_table_take(table, at, format_interfaces(v));
	else
		text_table_take(table, at, format_value(column->row, v));
	if (v && (column->row->type == ATTR_PORT_STATE || column->row->type == ATTR_VERDICT))
		text_table_color(table, at, terminal_state_color(value_text(v)));
}

/* How many of the last columns may be left out on a narrow terminal. Those that somebody asked for
 * may not. */
static size_t n_spare_columns;

static void add_headings(TextTable *table)
{
	for (size_t i = 0; i < arg_columns.n; i++) {
		const Attribute *row = arg_columns.items[i].row;
		bool is_spare = i + n_spare_columns >= arg_columns.n;
		char heading[64];

		terminal_heading(row ? row->name : "Port", heading, sizeof(heading));
		text_table_add_column(table,
				      &(TableColumn){heading, is_spare ? TABLE_SPARE : 0, 0});
	}
}

static ExitStatus print_ports(Context *c, const Selection *s)
{
	/* on a narrow terminal MTU is left out first, then LINK and PROTOCOL */
	static const TableColumn usual[_COLUMN_MAX] = {
		[COLUMN_PORT] = {"PORT", 0, 0},
		[COLUMN_PROTOCOL] = {"PROTOCOL", TABLE_SPARE, 0},
		[COLUMN_STATE] = {"STATE", 0, 0},
		[COLUMN_RATE] = {"RATE", 0, 0},
		[COLUMN_LINK] = {"LINK", TABLE_SPARE, 0},
		[COLUMN_MTU] = {"MTU", TABLE_SPARE, 0},
		[COLUMN_WHERE] = {"LID/NETDEV", 0, 0},
	};
	unsigned int first = arg_columns.alone ? 0 : _COLUMN_MAX;
	_cleanup_text_table_ TextTable table = text_table_begin(c, usual, first);

	add_headings(&table);
	for (size_t k = 0; k < s->n; k++) {
		text_table_add_line(&table);
		if (!arg_columns.alone)
			put_usual(&table, s->ports[k]);
		for (unsigned int i = 0; i < arg_columns.n; i++)
			put_column(&table, &s->objects, first + i, s->ports[k],
				   &arg_columns.items[i]);
	}
	return text_table_print(&table, 0);
}

static void print_member(FILE *f, const ObjectList *objects, const Object *port,
			 const ListColumn *column)
{
	char name[96];

	if (column->row)
		json_add_value(f, column->row->name, column->row->type,
			       cell(objects, port, column));
	else
		json_add_text(f, "Port", object_name(port, name));
}

static void print_columns_json(FILE *f, const Selection *s, const Object *port)
{
	json_open(f);
	if (!arg_columns.alone)
		print_member(f, &s->objects, port, &(ListColumn){});
	for (size_t i = 0; i < ARRAY_SIZE(usual_rows) && !arg_columns.alone; i++)
		print_member(f, &s->objects, port,
			     &(ListColumn){.row = &port_attributes[usual_rows[i]]});
	for (size_t i = 0; i < arg_columns.n; i++)
		print_member(f, &s->objects, port, &arg_columns.items[i]);
	json_close(f);
}

static void print_json(FILE *f, const Selection *s)
{
	json_begin(f, "Ports");
	for (size_t i = 0; i < s->n; i++) {
		json_next(f);
		if (arg_columns.n > 0)
			print_columns_json(f, s, s->ports[i]);
		else
			json_object(f, s->ports[i]);
	}
	json_end(f);
}

static void print_names(FILE *f, const Selection *s)
{
	char name[96];

	for (size_t i = 0; i < s->n; i++)
		fprintf(f, "%s\n", object_name(s->ports[i], name));
}

/* The names of the properties that are printed, and of that by which is sorted, for
 * selection_read(). NULL without memory. */
static const char **list_properties(void)
{
	size_t n = 0;
	const char **names = calloc(ARRAY_SIZE(usual_rows) + arg_columns.n + 3, sizeof(*names));

	for (size_t i = 0; names && i < ARRAY_SIZE(usual_rows) && !arg_columns.alone; i++)
		names[n++] = port_attributes[usual_rows[i]].name;
	if (names && !arg_columns.alone)
		names[n++] = port_attributes[PORT_ATTR_health].name;
	for (size_t i = 0; names && i < arg_columns.n; i++)
		if (arg_columns.items[i].row)
			names[n++] = arg_columns.items[i].row->name;
	if (names && arg_sort.column.row)
		names[n++] = arg_sort.column.row->name;
	return names;
}

/* Adds the column HEALTH to the usual ones if something is wrong. */
static bool add_health(const Selection *s)
{
	const ListColumn health = {.row = &port_attributes[PORT_ATTR_health]};
	bool is_wanted = false;

	for (size_t i = 0; i < arg_columns.n; i++)
		if (arg_columns.items[i].row == health.row)
			return true;
	for (size_t i = 0; i < s->n && !arg_columns.alone; i++)
		is_wanted |= is_unwell(s->ports[i]);
	return !is_wanted || append_column(&arg_columns, health);
}

ExitStatus list_command(Context *c)
{
	_cleanup_free_ const char **properties = NULL;
	bool everything = c->json && arg_columns.n == 0;
	_cleanup_selection_ Selection s = {};
	ExitStatus status, missing;

	if (arg_help)
		return describe_columns(c);
	properties = everything ? NULL : list_properties();
	if (!everything && !properties)
		return out_of_memory();
	status = selection_read(c, SELECTION_DEVICES | (arg_all ? SELECTION_PLANES : 0), properties,
				&s);
	if (status != STATUS_OK)
		return status;
	missing = selection_complain(&s);
	if (arg_sort.given && s.n > 0)
		qsort_r(s.ports, s.n, sizeof(*s.ports), compare_ports,
			&(Sorting){&s.objects, &arg_sort});
	if (c->json)
		print_json(c->out, &s);
	else if (arg_names)
		print_names(c->out, &s);
	else if (s.n > 0)
		status = add_health(&s) ? print_ports(c, &s) : out_of_memory();
	else if (missing == STATUS_OK && !c->no_legend)
		no_ports(c);
	return status == STATUS_OK ? missing : status;
}

static bool arg_gpu;

const Option map_options[] = {
	{"gpu", 0, NULL, "Print which port is near to which accelerator", option_set, &arg_gpu,
	 NULL, 0},
	{},
};

ExitStatus list_with(Context *c, const char *names, size_t n_spare)
{
	static const Option columns = {.name = "output", .value = &arg_columns};
	ExitStatus status = parse_output(&columns, names);

	n_spare_columns = n_spare;
	return status == STATUS_OK ? list_command(c) : status;
}

ExitStatus map_command(Context *c)
{
	return arg_gpu ? map_gpus(c) : list_with(c, "Port,Netdevs,PciAddress,NumaNode,State", 2);
}

ExitStatus neighbors_command(Context *c)
{
	return list_with(c,
			 "Port,Netdev,Neighbor,NeighborPort,NeighborPortDescription,"
			 "NeighborAddress,NeighborMaxFrameSize,NeighborPfcEnabled",
			 4);
}
