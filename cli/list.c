/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl list: one line a port, in 80 columns for common names. The one place where attributes are
 * picked by hand. */

#include <stdarg.h>

#include "bus.h"
#include "format.h"
#include "json.h"
#include "terminal.h"

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

/* Value of row A if it has one; NULL if not. */
static const Value *port_value(const Object *o, PortAttr a)
{
	return object_value(o, a);
}

static const char *port_text(const Object *o, PortAttr a)
{
	const Value *v = port_value(o, a);

	return v && *value_text(v) ? value_text(v) : "-";
}

static bool is_stale(const Object *o)
{
	const Value *stale = port_value(o, PORT_ATTR_stale);

	return stale && stale->type == VALUE_BOOL && stale->boolean;
}

/* Sets a cell; 0 or -ENOMEM. */
static int set_cell(struct libscols_line *line, unsigned int column, const char *format, ...)
	_printf_(3, 4);
static int set_cell(struct libscols_line *line, unsigned int column, const char *format, ...)
{
	char *text;
	va_list ap;
	int r;

	va_start(ap, format);
	r = vasprintf(&text, format, ap);
	va_end(ap);
	return r < 0 ? -ENOMEM : scols_line_refer_data(line, column, text);
}

/* The logical state, and in brackets what is most worth knowing beside it: that nobody knows
 * whether it still is so, or the physical state where that says more. */
static int set_state(struct libscols_line *line, const Object *o)
{
	const char *physical = port_text(o, PORT_ATTR_phys_state);

	if (is_stale(o))
		return set_cell(line, COLUMN_STATE, "%s (stale)", port_text(o, PORT_ATTR_state));
	if (streq(physical, "link-up") || streq(physical, "-"))
		return set_cell(line, COLUMN_STATE, "%s", port_text(o, PORT_ATTR_state));
	return set_cell(line, COLUMN_STATE, "%s (%s)", port_text(o, PORT_ATTR_state), physical);
}

static int set_link(struct libscols_line *line, const Object *o)
{
	const Value *rate = port_value(o, PORT_ATTR_rate);
	const Value *width = port_value(o, PORT_ATTR_active_width);
	const Value *mtu = port_value(o, PORT_ATTR_active_mtu);
	_cleanup_free_ char *text =
		rate ? format_value(&port_attributes[PORT_ATTR_rate], rate) : strdup("-");
	int r;

	if (!text)
		return -ENOMEM;
	r = set_cell(line, COLUMN_RATE, "%s", text);
	if (r == 0 && width && width->type == VALUE_UNSIGNED)
		r = set_cell(line, COLUMN_LINK, "%ux %s", (unsigned int)width->number,
			     port_text(o, PORT_ATTR_link_speed));
	else if (r == 0)
		r = set_cell(line, COLUMN_LINK, "-");
	if (r == 0 && mtu && mtu->type == VALUE_UNSIGNED)
		r = set_cell(line, COLUMN_MTU, "%u", (unsigned int)mtu->number);
	else if (r == 0)
		r = set_cell(line, COLUMN_MTU, "-");
	return r;
}

/* Where the port is in its network: an InfiniBand port by its LID, one on Ethernet by the
 * interface. */
static int set_where(struct libscols_line *line, const Object *o)
{
	const Value *lid = port_value(o, PORT_ATTR_lid);

	if (!object_has(o, PORT_ATTR_lid))
		return set_cell(line, COLUMN_WHERE, "%s", port_text(o, PORT_ATTR_netdev));
	if (!lid || lid->type != VALUE_UNSIGNED)
		return set_cell(line, COLUMN_WHERE, "-");
	return set_cell(line, COLUMN_WHERE, "lid %u", (unsigned int)lid->number);
}

static int add_line(const Context *c, struct libscols_table *table, const Object *o)
{
	const char *color =
		is_stale(o) ? "magenta" : terminal_state_color(port_text(o, PORT_ATTR_state));
	struct libscols_line *line = scols_table_new_line(table, NULL);
	char name[96];
	int r;

	if (!line)
		return -ENOMEM;
	r = set_cell(line, COLUMN_PORT, "%s", object_name(o, name));
	if (r == 0)
		r = set_cell(line, COLUMN_PROTOCOL, "%s", port_text(o, PORT_ATTR_protocol));
	if (r == 0)
		r = set_state(line, o);
	if (r == 0)
		r = set_link(line, o);
	if (r == 0)
		r = set_where(line, o);
	if (r == 0)
		r = scols_cell_set_color(scols_line_get_cell(line, COLUMN_STATE),
					 terminal_color(c, color));
	return r;
}

static ExitStatus print_ports(Context *c, const ObjectList *objects)
{
	static const char *const headings[_COLUMN_MAX] = {
		[COLUMN_PORT] = "PORT",	       [COLUMN_PROTOCOL] = "PROTOCOL",
		[COLUMN_STATE] = "STATE",      [COLUMN_RATE] = "RATE",
		[COLUMN_LINK] = "LINK",	       [COLUMN_MTU] = "MTU",
		[COLUMN_WHERE] = "LID/NETDEV",
	};
	_cleanup_(scols_unref_table_pointer) struct libscols_table *table = terminal_table(c);
	size_t n = 0;

	if (!table)
		return out_of_memory();
	for (size_t i = 0; i < _COLUMN_MAX; i++)
		if (!scols_table_new_column(table, headings[i], 0, 0))
			return out_of_memory();
	for (size_t i = 0; i < objects->n; i++) {
		if (!objects->items[i]->is_port)
			continue;
		if (add_line(c, table, objects->items[i]) < 0)
			return out_of_memory();
		n++;
	}
	if (n > 0)
		return terminal_print_table(c, table, 0);
	fputs("No RDMA ports.\n", c->out);
	return STATUS_OK;
}

ExitStatus list_command(Context *c)
{
	_cleanup_objects_ ObjectList objects = {};
	ExitStatus status = bus_read_objects(c->bus, &objects);

	if (status != STATUS_OK)
		return status;
	if (!c->json)
		return print_ports(c, &objects);
	json_objects(c->out, &objects, true);
	return STATUS_OK;
}
