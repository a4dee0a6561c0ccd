/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * rdmactl show: all attributes of a port, in groups. Each row of a table is printed as a table, or
 * as one line if it is empty. The limits of a device are printed only if they are asked for.
 */

#include "show.h"

#include "bus.h"
#include "commands.h"
#include "decode.h"
#include "format.h"
#include "gid.h"
#include "group.h"
#include "json.h"
#include "names.h"
#include "ports.h"
#include "selection.h"
#include "terminal.h"
#include "text-table.h"
#include "unavailable.h"

static unsigned int arg_history = 5; /* how many transitions are printed */

static ExitStatus parse_history(const Option *o, const char *argument)
{
	uint64_t n;

	if (text_to_u64(argument, UINT32_MAX, &n) < 0)
		return option_refuse(o, argument);
	*(unsigned int *)o->value = (unsigned int)n;
	return STATUS_OK;
}

/* clang-format off */
const Option show_options[] = {
	{"history", 0, "N", "Print the last N changes of the state (default: 5)", parse_history, &arg_history, "a number", 0},
	{},
};
/* clang-format on */

/* An object that is printed, and what its lines have in common. */
typedef struct Page {
	const Object *o;
	uint8_t groups[64 * ATTR_MASK_WORDS]; /* Group, by row */
	int width; /* of the names of rows; a table and the limits have none */
} Page;

static Page page_of(const Object *o)
{
	Page p = {.o = o};

	for (size_t i = 0; i < o->n_rows; i++) {
		Group group = object_has(o, i) ? group_of_row(o->rows, i) : GROUP_HIDDEN;

		p.groups[i] = (uint8_t)group;
		if (group <= GROUP_OBJECT && group != GROUP_TABLE)
			p.width = MAX(p.width, (int)strlen(o->rows[i].name));
	}
	return p;
}

static void print_heading(Context *c, const char *heading)
{
	fprintf(c->out, "\n%s%s%s\n", terminal_color(c, "bold"), heading, terminal_plain(c));
}

static ExitStatus print_row(Context *c, const Object *o, size_t row, int name_width)
{
	_cleanup_free_ char *text = format_row(o, row);
	const char *color = "", *value_color = "";

	if (!text)
		return out_of_memory();
	/* print an unavailable attribute dim */
	if (object_unavailable(o, row))
		color = terminal_color(c, "dim");
	else if (o->rows[row].type == ATTR_PORT_STATE)
		value_color = terminal_color(c, terminal_state_color(text));
	fprintf(c->out, "%s  %-*s  %s", color, name_width, o->rows[row].name, value_color);
	terminal_print_wrapped(c, text, (unsigned int)name_width + 4);
	if (*color || *value_color)
		fputs(terminal_plain(c), c->out);
	return STATUS_OK;
}

/* Whether MEMBER is an IPv6 address: it is the same as the GID beside it. */
static bool is_redundant(AttrType type, const char *column, const Value *member)
{
	return type == ATTR_GIDS && streq(column, "address") && strchr(value_text(member), ':');
}

/* Whether member I has a column. One that most entries lack has none if all of TABLE lack it. GIDs
 * fill a line without these; rdmactl gid shows them. */
static bool has_column(AttrType type, size_t i, const Value *table)
{
	bool named = format_is_named_member(type, i);

	for (size_t n = 0; named && type != ATTR_GIDS && n < table->n; n++)
		if (format_find_member(type, i, &table->items[n]))
			return true;
	return !named;
}

static void add_entry(TextTable *table, AttrType type, const Value *v, const Value *entry)
{
	const char *const *columns = format_table_columns(type);
	size_t cell = 0;

	text_table_add_line(table);
	for (size_t i = 0; columns[i]; i++) {
		const Value *member = format_find_member(type, i, entry);

		if (!has_column(type, i, v))
			continue;
		cell++;
		if (!member || is_redundant(type, columns[i], member) ||
		    (member->type == VALUE_TEXT && !*member->text))
			continue;
		text_table_take(table, cell - 1, format_member(type, i, member));
	}
}

/* Prints in the place of values what ROW has: why there are none, or that it has none. */
static ExitStatus print_reason(Context *c, const Object *o, size_t row)
{
	_cleanup_free_ char *text = format_row(o, row);

	if (!text)
		return out_of_memory();
	fprintf(c->out, "%s  ", terminal_color(c, "dim"));
	terminal_print_wrapped(c, text, 2);
	fputs(terminal_plain(c), c->out);
	return STATUS_OK;
}

static ExitStatus print_table(Context *c, const Object *o, size_t row)
{
	const char *const *columns = format_table_columns(o->rows[row].type);
	_cleanup_text_table_ TextTable table = text_table_begin(c, NULL, 0);
	const Value *v = &o->values[row];
	char heading[32];

	/* the other tables have that: Gids has the addresses of RoCE */
	if (streq(object_unavailable_code(o, row) ?: "",
		  unavailable_rows[UNAVAILABLE_NOT_APPLICABLE].code))
		return STATUS_OK;
	print_heading(c, o->rows[row].name);
	if (value_count(v) == 0 || object_unavailable(o, row))
		return print_reason(c, o, row);
	for (size_t i = 0; columns[i]; i++) {
		if (!has_column(o->rows[row].type, i, v))
			continue;
		terminal_heading(columns[i], heading, sizeof(heading));
		text_table_add_column(&table, &(TableColumn){heading, 0, 0});
	}
	for (size_t i = 0; i < v->n; i++)
		add_entry(&table, o->rows[row].type, v, &v->items[i]);
	return text_table_print(&table, 2);
}

/* Whether GROUP has several rows, and all lack a value for one reason. *RET is the first of them.
 */
static bool is_one_reason(const Page *p, Group group, size_t *ret)
{
	const char *reason = NULL;
	size_t n = 0;

	for (size_t i = 0; i < p->o->n_rows; i++) {
		const char *code =
			p->groups[i] == group ? object_unavailable_code(p->o, i) ?: "" : NULL;

		if (!code)
			continue;
		if (!*code || (reason && !streq(reason, code)))
			return false;
		if (n++ == 0)
			*ret = i;
		reason = code;
	}
	return n > 1;
}

static ExitStatus print_group(Context *c, const Page *p, Group group)
{
	bool has_heading = group != GROUP_FIRST && group != GROUP_OBJECT;
	ExitStatus status = STATUS_OK;
	bool first = true;
	size_t row;

	if (has_heading && group != GROUP_TABLE && is_one_reason(p, group, &row)) {
		print_heading(c, group_name(group));
		return print_reason(c, p->o, row);
	}
	for (size_t i = 0; i < p->o->n_rows && status == STATUS_OK; i++) {
		if (p->groups[i] != group)
			continue;
		if (group == GROUP_TABLE) {
			status = print_table(c, p->o, i);
			continue;
		}
		if (first && has_heading)
			print_heading(c, group_name(group));
		first = false;
		status = print_row(c, p->o, i, p->width);
	}
	return status;
}

/* The limits of a device have names of their own width. */
static ExitStatus print_limits(Context *c, Page p)
{
	p.width = 0;
	for (size_t i = 0; i < p.o->n_rows; i++)
		if (p.groups[i] == GROUP_LIMITS)
			p.width = MAX(p.width, (int)strlen(p.o->rows[i].name));
	return print_group(c, &p, GROUP_LIMITS);
}

static void print_name(Context *c, const Object *o)
{
	char name[96];

	fprintf(c->out, "%s%s%s\n", terminal_color(c, "bold"), object_name(o, name),
		terminal_plain(c));
}

static ExitStatus print_groups(Context *c, const Page *p, Group first, Group last)
{
	ExitStatus status = STATUS_OK;

	for (Group g = first; g <= last && status == STATUS_OK; g++)
		status = print_group(c, p, g);
	return status;
}

ExitStatus show_object(Context *c, const Object *o, bool limits)
{
	const Page p = page_of(o);
	ExitStatus status;

	print_name(c, o);
	status = print_groups(c, &p, GROUP_FIRST, GROUP_TRUST);
	return status == STATUS_OK && limits ? print_limits(c, p) : status;
}

/* The address of a GID for people: its IP address, or if it stands for none, the GID itself. */
static const char *address_of(const Value *entry)
{
	const char *address = format_member_text(ATTR_GIDS, "address", entry);

	return *address ? address : format_member_text(ATTR_GIDS, "gid", entry);
}

static bool is_local(const Value *entry)
{
	uint8_t gid[16];

	return gid_parse(format_member_text(ATTR_GIDS, "gid", entry), gid) == 0 &&
	       gid_is_link_local(gid);
}

/* Whether the interface of an entry is in another network namespace: its address is none of this
 * machine, as its users see it. */
static bool is_elsewhere(const Value *entry)
{
	return entry->type == VALUE_STRUCT && entry->n > 0 &&
	       value_lookup(&entry->items[entry->n - 1], "Namespace");
}

/* An address, and where it is printed. */
typedef struct Address {
	const char *text;
	size_t place;
} Address;

static int compare_texts(const void *left, const void *right)
{
	const Address *a = left, *b = right;
	int r = strcmp(a->text, b->text);

	return r ? r : (a->place > b->place) - (a->place < b->place);
}

static int compare_places(const void *left, const void *right)
{
	const Address *a = left, *b = right;

	return (a->place > b->place) - (a->place < b->place);
}

/* Adds to LIST, in which there are *N, the addresses of GIDS that are link-local or are not. */
static void add_gids(const Value *gids, bool local, Address *list, size_t *n)
{
	for (size_t i = 0; i < value_count(gids); i++)
		if (is_local(&gids->items[i]) == local && !is_elsewhere(&gids->items[i])) {
			list[*n] = (Address){address_of(&gids->items[i]), *n};
			(*n)++;
		}
}

/* The addresses of PORT, each once: a GID table has most of them as RoCE v1 and as v2. Returns how
 * many there are in LIST. */
static size_t find_addresses(const Value *own, const Value *gids, Address *list)
{
	size_t n = 0, left = 0;

	for (size_t i = 0; i < value_count(own); i++, n++)
		list[n] =
			(Address){format_member_text(ATTR_ADDRESSES, "address", &own->items[i]), n};
	add_gids(gids, false, list, &n);
	add_gids(gids, true, list, &n);
	sort(list, n, sizeof(*list), compare_texts);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || !streq(list[i].text, list[left - 1].text))
			list[left++] = list[i];
	sort(list, left, sizeof(*list), compare_places);
	return left;
}

static ExitStatus print_addresses(Context *c, const Page *p)
{
	const Value *own = object_value(p->o, PORT_ATTR_addresses),
		    *gids = object_value(p->o, PORT_ATTR_gids);
	size_t n = value_count(own) + value_count(gids);
	_cleanup_free_ Address *list = calloc(MAX(n, (size_t)1), sizeof(*list));
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *f;

	n = list ? find_addresses(own, gids, list) : 0;
	if (n == 0)
		return list ? STATUS_OK : out_of_memory();
	f = open_memstream(&text, &size);
	if (!f)
		return out_of_memory();
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%s%s", i > 0 ? ", " : "", list[i].text);
	if (fclose(f) != 0)
		return out_of_memory();
	fprintf(c->out, "  %-*s  ", p->width, n == 1 ? "Address" : "Addresses");
	terminal_print_wrapped(c, text, (unsigned int)p->width + 4);
	return STATUS_OK;
}

static ExitStatus print_first(Context *c, const Page *p)
{
	ExitStatus status = STATUS_OK;

	print_name(c, p->o);
	for (size_t i = 0; i < N_FIRST_ROWS && status == STATUS_OK; i++)
		if (object_has(p->o, first_rows[i]))
			status = print_row(c, p->o, first_rows[i], p->width);
	return status == STATUS_OK ? print_addresses(c, p) : status;
}

/* How changes of DEVICE reach rdmad. */
static ExitStatus print_events(Context *c, const Object *device, int width)
{
	static const DeviceAttr rows[] = {DEVICE_ATTR_events, DEVICE_ATTR_events_reason};
	ExitStatus status = STATUS_OK;

	for (size_t i = 0; i < ARRAY_SIZE(rows) && status == STATUS_OK; i++)
		if (*object_text(device, rows[i]))
			status = print_row(c, device, rows[i], width);
	return status;
}

/* Which device the port is of, and how changes of it reach rdmad. */
static ExitStatus print_device(Context *c, const Selection *s, const Page *p)
{
	ExitStatus status;

	print_heading(c, "Device");
	status = print_events(c, selection_device(s, p->o), p->width);
	/* the object path, which people need least, is the first row of the table */
	for (size_t i = p->o->n_rows; i-- > 0 && status == STATUS_OK;)
		if (p->groups[i] == GROUP_OBJECT)
			status = print_row(c, p->o, i, p->width);
	return status;
}

static void print_transition(Context *c, const Value *t)
{
	_cleanup_free_ char *when = NULL;

	if (t->type != VALUE_STRUCT || t->n < 5)
		return;
	when = format_value(&port_attributes[PORT_ATTR_state_change], &t->items[0]);
	fprintf(c->out, "  %s  %s -> %s (%s)\n", when ? when : "", value_text(&t->items[2]),
		value_text(&t->items[3]), value_text(&t->items[4]));
}

/* The last transitions of the state. Without them the rest is still worth printing, so an error is
 * none here. */
static void print_history(Context *c, const Object *port)
{
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	_cleanup_value_ Value history = {};

	if (arg_history == 0 ||
	    sd_bus_call_method(c->bus, RDMAD_BUS_NAME, port->path, RDMAD_INTERFACE_PORT,
			       "GetHistory", NULL, &reply, "a{sv}", 0) < 0 ||
	    value_read(reply, &history) < 0 || value_count(&history) == 0)
		return;
	print_heading(c, "History");
	for (size_t i = history.n > arg_history ? history.n - arg_history : 0; i < history.n; i++)
		print_transition(c, &history.items[i]);
}

static ExitStatus print_port(Context *c, const Selection *s, const Object *port, size_t n,
			     _unused_ bool heading)
{
	ExitStatus status;
	Page p;

	if (c->json) {
		json_next(c->out);
		json_object(c->out, port);
		return STATUS_OK;
	}
	p = page_of(port);
	fputs(n > 0 ? "\n" : "", c->out);
	status = print_first(c, &p);
	if (status == STATUS_OK)
		status = print_groups(c, &p, GROUP_LINK, GROUP_TRUST);
	if (status == STATUS_OK)
		status = print_device(c, s, &p);
	if (status == STATUS_OK)
		print_history(c, port);
	return status;
}

ExitStatus show_command(Context *c)
{
	return selection_print(c, SELECTION_EVENTS, NULL, print_port);
}
