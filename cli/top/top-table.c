/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "top-table.h"

#include <inttypes.h>

#include "decode.h"
#include "format.h"
#include "terminal.h"
#include "text-table.h"

/* The widths are the least ones: so columns keep their places while the values change. */
static const struct {
	TableColumn table;
	bool ascending; /* sorted with the smallest first */
} columns[_TOP_COLUMN_MAX] = {
	[TOP_COLUMN_PORT] = {{"PORT", 0, 10}, true},
	[TOP_COLUMN_STATE] = {{"STATE", 0, 8}, true},
	[TOP_COLUMN_RECEIVE] = {{"RECEIVE", TABLE_SPARE | TABLE_RIGHT, 14}, false},
	[TOP_COLUMN_TRANSMIT] = {{"TRANSMIT", TABLE_SPARE | TABLE_RIGHT, 14}, false},
	[TOP_COLUMN_ERRORS] = {{"ERRORS", TABLE_SPARE | TABLE_RIGHT, 6}, false},
	[TOP_COLUMN_CHANGED] = {{"CHANGED", TABLE_SPARE | TABLE_RIGHT, 11}, false},
	[TOP_COLUMN_RATE] = {{"RATE", TABLE_SPARE | TABLE_RIGHT, 8}, false},
	[TOP_COLUMN_NETDEV] = {{"NETDEV", TABLE_SPARE, 8}, true},
	[TOP_COLUMN_DOWNS] = {{"DOWNS", TABLE_SPARE | TABLE_RIGHT, 5}, false},
	[TOP_COLUMN_RECEIVE_PACKETS] = {{"RX PKT/S", TABLE_SPARE | TABLE_RIGHT, 8}, false},
	[TOP_COLUMN_TRANSMIT_PACKETS] = {{"TX PKT/S", TABLE_SPARE | TABLE_RIGHT, 8}, false},
	[TOP_COLUMN_NOTE] = {{"NOTE", TABLE_SPARE | TABLE_REST, 0}, false},
};

const char *top_column_heading(TopColumn column)
{
	return columns[column].table.heading;
}

/* The values of a port */

static double port_number(const TopPort *p, PortAttr a)
{
	const Value *v = object_value(p->object, a);

	return v && v->type == VALUE_UNSIGNED ? (double)v->number : -1;
}

/* The interface that carries the port, or the first of those on it. */
static const char *port_netdev(const TopPort *p)
{
	const char *name = object_text(p->object, PORT_ATTR_netdev);
	const Value *v;

	if (*name)
		return name;
	v = object_value(p->object, PORT_ATTR_netdevs);
	if (!v || v->type != VALUE_ARRAY || v->n == 0 || v->items[0].type != VALUE_STRUCT)
		return "";
	for (size_t i = 0; i < v->items[0].n && !*name; i++)
		name = value_text(&v->items[0].items[i]);
	return name;
}

static bool is_bad(const TopPort *p)
{
	return !object_is_active(p->object) || object_is_stale(p->object) || p->failure ||
	       p->n_errors > 0;
}

/* The number by which the column is sorted; below 0: the port has no value. */
static double sort_number(const TopPort *p, TopColumn column)
{
	const Value *state = object_value(p->object, PORT_ATTR_state);
	uint32_t n;

	switch (column) {
	case TOP_COLUMN_STATE:
		if (!state || decode_value(ATTR_PORT_STATE, value_text(state), &n) < 0)
			return -1;
		return n;
	case TOP_COLUMN_RECEIVE:
		return p->rates[TOP_RECEIVE];
	case TOP_COLUMN_TRANSMIT:
		return p->rates[TOP_TRANSMIT];
	case TOP_COLUMN_ERRORS:
		return (double)top_port_errors(p);
	case TOP_COLUMN_CHANGED:
		return port_number(p, PORT_ATTR_state_change);
	case TOP_COLUMN_RATE:
		return port_number(p, PORT_ATTR_rate);
	case TOP_COLUMN_DOWNS:
		return port_number(p, PORT_ATTR_link_downs);
	case TOP_COLUMN_RECEIVE_PACKETS:
		return p->rates[TOP_RECEIVE_PACKETS];
	case TOP_COLUMN_TRANSMIT_PACKETS:
		return p->rates[TOP_TRANSMIT_PACKETS];
	case TOP_COLUMN_PORT:
	case TOP_COLUMN_NETDEV:
	case TOP_COLUMN_NOTE:
	case _TOP_COLUMN_MAX:
		break;
	}
	return 0;
}

static int compare_values(const TopPort *a, const TopPort *b, const TopStyle *style)
{
	bool up = columns[style->sort].ascending != style->reverse;
	double x = sort_number(a, style->sort), y = sort_number(b, style->sort);
	const char *s = port_netdev(a), *t = port_netdev(b);
	int r = (x > y) - (x < y);

	if (x < 0 || y < 0)
		return (x < 0) - (y < 0);
	if (style->sort == TOP_COLUMN_PORT)
		r = (a > b) - (a < b);
	if (style->sort == TOP_COLUMN_NETDEV) {
		if (!*s || !*t)
			return !*s - !*t;
		r = strverscmp(s, t);
	}
	return up ? r : -r;
}

static int compare_ports(const void *pa, const void *pb, void *style)
{
	const TopPort *a = *(const TopPort *const *)pa, *b = *(const TopPort *const *)pb;
	int r = compare_values(a, b, style);

	return r != 0 ? r : (a > b) - (a < b);
}

int top_table_sort(const TopModel *m, const TopStyle *style, const TopPort ***ret, size_t *ret_n)
{
	const TopPort **ports = calloc(m->n + 1, sizeof(*ports));
	size_t n = 0;

	if (!ports)
		return -ENOMEM;
	for (size_t i = 0; i < m->n; i++)
		if (!style->only_bad || is_bad(&m->ports[i]))
			ports[n++] = &m->ports[i];
	qsort_r(ports, n, sizeof(*ports), compare_ports, CONST_CAST(TopStyle *, style));
	*ret = ports;
	*ret_n = n;
	return 0;
}

/* The texts of the cells. NULL is "no memory". */

/* "999", "1.23 k", "45.6 M": three digits, and UNIT. */
static void format_scaled(double n, const char *unit, char ret[TOP_RATE_TEXT_MAX])
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
	size_t i = 0;
	int digits;

	while (n >= 999.5 && i + 1 < ARRAY_SIZE(prefixes)) {
		n /= 1000;
		i++;
	}
	digits = i == 0 || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2;
	snprintf(ret, TOP_RATE_TEXT_MAX, "%.*f %.1s%.4s", digits, MIN(n, 9999.0), prefixes[i],
		 unit);
	if (i == 0 && !*unit)
		ret[strcspn(ret, " ")] = '\0';
}

void top_format_rate(double rate, bool bytes, char ret[TOP_RATE_TEXT_MAX])
{
	if (rate < 0)
		text_copy(ret, TOP_RATE_TEXT_MAX, "-");
	else
		format_scaled(bytes ? rate : rate * 8, bytes ? "B/s" : "b/s", ret);
}

/* "12.3 Gb/s  25%": how much that is of what the link can do. */
static char *rate_cell(const TopPort *p, const TopStyle *style, TopRate which)
{
	double rate = p->rates[which], link = port_number(p, PORT_ATTR_rate);
	char text[TOP_RATE_TEXT_MAX], percent[8] = "", *cell;

	top_format_rate(rate, style->bytes, text);
	if (rate >= 0 && link > 0)
		snprintf(percent, sizeof(percent), "%.0f%%", MIN(rate * 8 * 100 / link, 999.0));
	return asprintf(&cell, "%9s %4s", text, percent) < 0 ? NULL : cell;
}

static char *packets_cell(const TopPort *p, TopRate which)
{
	char text[TOP_RATE_TEXT_MAX] = "-";

	if (p->rates[which] >= 0)
		format_scaled(p->rates[which], "", text);
	return strdup(text);
}

/* "3 s ago" */
static char *changed_cell(const TopModel *m, const TopPort *p, const TopStyle *style)
{
	static const struct {
		uint64_t below, seconds;
		const char *name;
	} units[] = {
		{120, 1, "s"}, {7200, 60, "min"}, {172800, 3600, "h"}, {UINT64_MAX, 86400, "d"}};
	double then = port_number(p, PORT_ATTR_state_change), now;
	char *cell;
	uint64_t s;
	size_t i = 0;

	if (then <= 0)
		return strdup("-");
	now = (double)style->realtime_usec + (double)m->clock_ahead;
	s = now > then ? (uint64_t)(now - then) / USEC_PER_SEC : 0;
	while (s >= units[i].below)
		i++;
	return asprintf(&cell, "%" PRIu64 " %s ago", s / units[i].seconds, units[i].name) < 0
		       ? NULL
		       : cell;
}

static char *number_cell(double n)
{
	char *cell;

	if (n < 0)
		return strdup("-");
	return asprintf(&cell, "%.0f", n) < 0 ? NULL : cell;
}

static char *link_cell(const TopPort *p)
{
	const Value *rate = object_value(p->object, PORT_ATTR_rate);

	return rate ? format_value(&port_attributes[PORT_ATTR_rate], rate) : strdup("-");
}

/* Why there are no rates, or which counters have the errors. */
static char *note_cell(const TopPort *p)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *f;

	if (p->failure)
		return strdup(p->failure);
	f = open_memstream(&text, &size);
	if (!f)
		return NULL;
	for (size_t i = 0; i < p->n_errors; i++)
		fprintf(f, "%s%s +%" PRIu64, i > 0 ? ", " : "", p->errors[i].name,
			p->errors[i].new_errors);
	return fclose(f) < 0 ? NULL : steal_pointer(&text);
}

static char *port_cell(const TopPort *p, const TopStyle *style, bool selected)
{
	const char *mark = !style->has_cursor ? "" : selected ? ">" : " ";
	char name[96], *cell;

	return asprintf(&cell, "%s%s", mark, object_name(p->object, name)) < 0 ? NULL : cell;
}

static char *cell_text(const TopModel *m, const TopPort *p, const TopStyle *style, TopColumn column,
		       bool selected)
{
	switch (column) {
	case TOP_COLUMN_PORT:
		return port_cell(p, style, selected);
	case TOP_COLUMN_STATE:
		return format_state(p->object);
	case TOP_COLUMN_RECEIVE:
		return rate_cell(p, style, TOP_RECEIVE);
	case TOP_COLUMN_TRANSMIT:
		return rate_cell(p, style, TOP_TRANSMIT);
	case TOP_COLUMN_ERRORS:
		return number_cell((double)top_port_errors(p));
	case TOP_COLUMN_CHANGED:
		return changed_cell(m, p, style);
	case TOP_COLUMN_RATE:
		return link_cell(p);
	case TOP_COLUMN_NETDEV:
		return strdup(*port_netdev(p) ? port_netdev(p) : "-");
	case TOP_COLUMN_DOWNS:
		return number_cell(port_number(p, PORT_ATTR_link_downs));
	case TOP_COLUMN_RECEIVE_PACKETS:
		return packets_cell(p, TOP_RECEIVE_PACKETS);
	case TOP_COLUMN_TRANSMIT_PACKETS:
		return packets_cell(p, TOP_TRANSMIT_PACKETS);
	case TOP_COLUMN_NOTE:
	case _TOP_COLUMN_MAX:
		break;
	}
	return note_cell(p);
}

static const char *cell_color(const TopPort *p, TopColumn column)
{
	if (column == TOP_COLUMN_STATE)
		return terminal_port_color(p->object);
	if (column == TOP_COLUMN_ERRORS || column == TOP_COLUMN_NOTE)
		return p->failure ? "magenta" : p->n_errors > 0 ? "yellow" : NULL;
	return NULL;
}

static void add_headings(TextTable *table, const TopStyle *style)
{
	for (TopColumn i = 0; i < _TOP_COLUMN_MAX; i++) {
		TableColumn column = columns[i].table;
		char port[16];

		/* the marks are before the names */
		if (i == TOP_COLUMN_PORT && style->has_cursor) {
			snprintf(port, sizeof(port), " %s", column.heading);
			column.heading = port;
		}
		text_table_add_column(table, &column);
		text_table_color(table, i, i == style->sort ? "bold" : NULL);
	}
}

int top_table_print(const Context *c, const TopModel *m, const TopStyle *style,
		    const TopPort *const *ports, size_t n, const char *selected, char **ret,
		    char **ret_left_out)
{
	_cleanup_text_table_ TextTable table = text_table_begin(c, NULL, 0);
	_cleanup_free_ char *left_out = NULL, *text = NULL;
	size_t size;
	FILE *f;
	int r;

	add_headings(&table, style);
	for (size_t k = 0; k < n; k++) {
		bool is_selected = selected && streq(selected, ports[k]->path);

		text_table_add_line(&table);
		for (TopColumn i = 0; i < _TOP_COLUMN_MAX; i++) {
			text_table_take(&table, i, cell_text(m, ports[k], style, i, is_selected));
			text_table_color(&table, i, cell_color(ports[k], i));
		}
	}
	f = open_memstream(&text, &size);
	if (!f)
		return -ENOMEM;
	r = text_table_write(&table, f, 0, style->width > 0 ? style->width : SIZE_MAX, &left_out);
	r = stream_close(f, &text) && r >= 0 ? 0 : -ENOMEM;
	if (r < 0)
		return r;
	*ret = steal_pointer(&text);
	*ret_left_out = steal_pointer(&left_out);
	return 0;
}
