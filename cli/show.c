/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * rdmactl show: all attributes of a port, in groups. The group of an attribute follows from the
 * columns of its row, so a new row needs no change here.
 */

#include "show.h"

#include "bus.h"
#include "commands.h"
#include "format.h"
#include "json.h"
#include "names.h"
#include "selection.h"
#include "terminal.h"

typedef enum Group {
	GROUP_GENERAL,
	GROUP_LINK,
	GROUP_INFINIBAND,
	GROUP_ETHERNET,
	GROUP_MLX5,
	GROUP_HBL,
	GROUP_TABLE, /* each row is printed as a table, or as one line if it is empty */
	GROUP_TRUST,
	GROUP_HIDDEN, /* not printed: a reason is printed in place of its value */
	_GROUP_MAX
} Group;

/* Whether the row says how far the others can be trusted. rdmad itself fills in these rows, and
 * also the rows that identify the object; those come first in the table. */
static bool is_about_trust(const Object *o, size_t row)
{
	if (o->rows[row].source != SOURCE_CORE)
		return false;
	for (size_t i = 0; i < row; i++)
		if (o->rows[i].source != SOURCE_CORE)
			return true;
	return false;
}

static Group group_of(const Object *o, size_t row)
{
	const Attribute *a = &o->rows[row];

	if (!object_has(o, row) || a->type == ATTR_UNAVAILABLE)
		return GROUP_HIDDEN;
	if (format_table_columns(a->type))
		return GROUP_TABLE;
	if (is_about_trust(o, row))
		return GROUP_TRUST;
	switch (a->interface) {
	case INTERFACE_PORT:
		return a->valid == VALID_LINK_UP || a->unit != UNIT_NONE ? GROUP_LINK
									 : GROUP_GENERAL;
	case INTERFACE_INFINIBAND:
		return GROUP_INFINIBAND;
	case INTERFACE_ETHERNET:
		return GROUP_ETHERNET;
	case INTERFACE_MLX5:
		return GROUP_MLX5;
	case INTERFACE_HBL:
		return GROUP_HBL;
	case INTERFACE_DEVICE:
	case INTERFACE_DEVICE_MLX5:
	case INTERFACE_DEVICE_EFA:
	case INTERFACE_DEVICE_HNS:
		return GROUP_GENERAL;
	case INTERFACE_RAW:
	case _INTERFACE_MAX:
		break;
	}
	return GROUP_HIDDEN;
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

static int add_entry(struct libscols_table *table, AttrType type, const Value *entry)
{
	const char *const *columns = format_table_columns(type);
	struct libscols_line *line = scols_table_new_line(table, NULL);

	if (!line)
		return -ENOMEM;
	for (size_t i = 0; columns[i] && entry->type == VALUE_STRUCT && i < entry->n; i++) {
		const Value *member = &entry->items[i];
		char *text;

		if (is_redundant(type, columns[i], member))
			continue;
		text = format_member(type, i, member);
		if (!text)
			return -ENOMEM;
		if (member->type == VALUE_TEXT && !*member->text)
			*text = '\0';
		scols_line_refer_data(line, i, text);
	}
	return 0;
}

static ExitStatus print_table(Context *c, const Object *o, size_t row)
{
	const char *const *columns = format_table_columns(o->rows[row].type);
	_cleanup_(scols_unref_table_pointer) struct libscols_table *table = terminal_table(c);
	const Value *v = &o->values[row];
	char heading[32];

	print_heading(c, o->rows[row].name);
	if (v->type != VALUE_ARRAY || v->n == 0 || object_unavailable(o, row)) {
		_cleanup_free_ char *text = format_row(o, row);

		fprintf(c->out, "%s  %s%s\n", terminal_color(c, "dim"), text ? text : "",
			terminal_plain(c));
		return text ? STATUS_OK : out_of_memory();
	}
	if (!table)
		return out_of_memory();
	for (size_t i = 0; columns[i]; i++) {
		terminal_heading(columns[i], heading, sizeof(heading));
		if (!scols_table_new_column(table, heading, 0, 0))
			return out_of_memory();
	}
	for (size_t i = 0; i < v->n; i++)
		if (add_entry(table, o->rows[row].type, &v->items[i]) < 0)
			return out_of_memory();
	return terminal_print_table(c, table, 2);
}

static ExitStatus print_group(Context *c, const Object *o, Group group, int name_width)
{
	static const char *const headings[_GROUP_MAX] = {
		[GROUP_LINK] = "Link",	       [GROUP_INFINIBAND] = "InfiniBand",
		[GROUP_ETHERNET] = "Ethernet", [GROUP_MLX5] = "mlx5",
		[GROUP_HBL] = "hbl",	       [GROUP_TRUST] = "Trust",
	};
	ExitStatus status = STATUS_OK;
	bool first = true;

	for (size_t i = 0; i < o->n_rows && status == STATUS_OK; i++) {
		if (group_of(o, i) != group)
			continue;
		if (group == GROUP_TABLE) {
			status = print_table(c, o, i);
			continue;
		}
		if (first && headings[group])
			print_heading(c, headings[group]);
		first = false;
		status = print_row(c, o, i, name_width);
	}
	return status;
}

ExitStatus show_object(Context *c, const Object *o)
{
	ExitStatus status = STATUS_OK;
	char name[96];
	int name_width = 0;

	for (size_t i = 0; i < o->n_rows; i++)
		if (group_of(o, i) != GROUP_HIDDEN && group_of(o, i) != GROUP_TABLE)
			name_width = MAX(name_width, (int)strlen(o->rows[i].name));
	fprintf(c->out, "%s%s%s\n", terminal_color(c, "bold"), object_name(o, name),
		terminal_plain(c));
	for (Group g = 0; g < GROUP_HIDDEN && status == STATUS_OK; g++)
		status = print_group(c, o, g, name_width);
	return status;
}

/* How changes of the port reach rdmad, which its device says. */
static ExitStatus show_events(Context *c, const Object *device)
{
	const int name_width = (int)strlen(device_attributes[DEVICE_ATTR_events_reason].name);
	const Value *reason = object_value(device, DEVICE_ATTR_events_reason);
	ExitStatus status;

	if (!object_value(device, DEVICE_ATTR_events))
		return STATUS_OK;
	print_heading(c, "Device");
	status = print_row(c, device, DEVICE_ATTR_events, name_width);
	if (status == STATUS_OK && reason && *value_text(reason))
		status = print_row(c, device, DEVICE_ATTR_events_reason, name_width);
	return status;
}

static ExitStatus print_port(Context *c, const Selection *s, const Object *port, size_t n,
			     _unused_ bool heading)
{
	const Object *device = selection_device(s, port);
	ExitStatus status;

	if (c->json) {
		json_next(c->out, n);
		json_object(c->out, port);
		return STATUS_OK;
	}
	fputs(n > 0 ? "\n" : "", c->out);
	status = show_object(c, port);
	return status == STATUS_OK && device ? show_events(c, device) : status;
}

ExitStatus show_command(Context *c)
{
	return selection_print(c, print_port);
}
