/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl describe: the texts in the tables of attributes, counters, reasons and features. The
 * command needs no rdmad. */

#include <strings.h>

#include "api-feature.h"
#include "commands.h"
#include "counters.h"
#include "group.h"
#include "json.h"
#include "metrics.h"
#include "suggestion.h"
#include "terminal.h"
#include "unavailable.h"

#define INDENT 4

static const char *class_sentence(AttrClass class)
{
	static const char *const sentences[_CLASS_MAX] = {
		[CLASS_IDENTITY] = "never changes",
		[CLASS_FIXED] = "never changes",
		[CLASS_CONST] = "fixed by the hardware, perhaps not known at first",
		[CLASS_DYNAMIC] = "each change is signalled",
		[CLASS_GENERATION] = "signalled only together with others",
		[CLASS_COUNTER] = "changes are not signalled",
	};

	return sentences[class];
}

static const char *source_sentence(AttrSource source)
{
	static const char *const sentences[_SOURCE_MAX] = {
		[SOURCE_VERBS] = "verbs (libibverbs)",
		[SOURCE_NLDEV] = "RDMA netlink",
		[SOURCE_SYSFS] = "sysfs",
		[SOURCE_RTNL] = "rtnetlink",
		[SOURCE_DCB] = "DCB netlink, and files about the same",
		[SOURCE_DEVLINK] = "devlink (generic netlink)",
		[SOURCE_ETHTOOL] = "ethtool (generic netlink)",
		[SOURCE_HWMON] = "the sensors of the function (hwmon)",
		[SOURCE_PCI] = "registers of the PCI function, by rdmad-pci",
		[SOURCE_DV] = "direct verbs (the vendor's library)",
		[SOURCE_NEIGHBOR] = "the other end of the link, by LLDP or management packets",
		[SOURCE_MODULE] = "the module in the cage, by rdmad-cable",
		[SOURCE_DERIVED] = "derived from other attributes",
		[SOURCE_MEASURED] = "rdmad, which reads a counter again and again",
		[SOURCE_CORE] = "rdmad itself",
	};

	return sentences[source];
}

static void print_line(const Context *c, const char *key, const char *text)
{
	if (!*text)
		return;
	fprintf(c->out, "%*s%-8s", INDENT, "", key);
	terminal_print_wrapped(c, text, INDENT + 8);
}

static void print_help(const Context *c, const char *help)
{
	fprintf(c->out, "%*s", INDENT, "");
	terminal_print_wrapped(c, help, INDENT);
}

static void print_heading(const Context *c, const char *name, const char *what)
{
	fprintf(c->out, "%s%s%s, %s\n", terminal_color(c, "bold"), name, terminal_plain(c), what);
}

/* The names that a value of an enumeration may have. */
static void join_names(const Attribute *a, char *buffer, size_t size)
{
	const char *const *names = attr_type_names(a->type);
	size_t n = 0;

	buffer[0] = '\0';
	for (size_t i = 0; names && names[i] && n < size; i++)
		n += (size_t)snprintf(buffer + n, size - n, "%s%s", i > 0 ? ", " : "", names[i]);
}

/* The members of an entry of a table; "" if TYPE is none. */
static void join_members(AttrType type, char *buffer, size_t size)
{
	const TableLayout *l = table_layout(type);
	size_t n = 0;

	buffer[0] = '\0';
	for (size_t i = 0; l && i < l->n_columns && n < size; i++)
		if (l->columns[i].is_published)
			n += (size_t)snprintf(buffer + n, size - n, "%s%s", n > 0 ? ", " : "",
					      l->columns[i].field);
}

/* The metric that the row is, and the label of it that the row is; "" if it is none. */
static void find_metric(const Attribute *a, char ret_metric[METRIC_NAME_MAX],
			char ret_label[METRIC_NAME_MAX])
{
	ret_metric[0] = ret_label[0] = '\0';
	if (metric_row_name(a, ret_metric) || a->metric != METRIC_INFO)
		return;
	snprintf(ret_metric, METRIC_NAME_MAX, "%s", metric_info_name(a));
	metric_label_name(a, ret_label);
}

static void print_metric(const Context *c, const Attribute *a)
{
	char metric[METRIC_NAME_MAX], label[METRIC_NAME_MAX], text[2 * METRIC_NAME_MAX + 16];

	find_metric(a, metric, label);
	snprintf(text, sizeof(text), "%s%s%s", metric, *label ? ", the label " : "", label);
	print_line(c, "Metric", text);
}

static void print_attribute(const Context *c, const Attribute *a)
{
	bool is_raw = a->interface == INTERFACE_RAW;
	char names[256], members[256], what[64];

	snprintf(what, sizeof(what), "%s",
		 is_raw ? "a field of Query() only" : attr_interface_name(a->interface));
	print_heading(c, is_raw ? a->field : a->name, what);
	print_help(c, attr_help(a));
	join_names(a, names, sizeof(names));
	print_line(c, "Values", names);
	join_members(a->type, members, sizeof(members));
	print_line(c, "Members", members);
	print_line(c, "Unit", unit_rows[a->unit].name);
	print_line(c, "Valid", attr_validity_text(a->valid));
	if (!is_raw && attr_absent_text(a))
		print_line(c, "Absent", attr_absent_text(a));
	print_line(c, "Change", class_sentence(a->class));
	print_line(c, "Source", source_sentence(a->source));
	print_line(c, "Type", is_raw ? attr_raw_signature(a->type) : attr_signature(a->type));
	if (a->size > 0 && !is_raw)
		print_line(c, "Field", a->field);
	print_metric(c, a);
}

static void print_counter(const Context *c, const CounterRow *row)
{
	char text[64] = "not known", metric[METRIC_NAME_MAX];

	print_heading(c, row->name, counter_group_name(row->group));
	print_help(c, counter_help(row));
	print_line(c, "Unit", counter_unit_name(row->unit));
	if (row->bits == COUNTER_BITS_EXT)
		snprintf(text, sizeof(text), "64 bits, or 32 without extended counters");
	else if (row->bits > 0)
		snprintf(text, sizeof(text), "%u bits: up to %llu", row->bits,
			 row->bits < 64 ? (1ULL << row->bits) - 1 : UINT64_MAX);
	print_line(c, "Width", text);
	if (!streq(row->file, row->name))
		print_line(c, "File", row->file);
	print_line(c, "Source", "sysfs, when somebody asks");
	metric_counter_name(row->group, row->name, row->unit, metric);
	print_line(c, "Metric", metric);
}

static void add_text(FILE *f, const char *key, const char *text)
{
	json_add_text(f, key, *text ? text : NULL);
}

/* The names that a value may have; of a reason the name of the list that has them. */
static void json_values(FILE *f, const Attribute *a)
{
	const char *const *names = attr_type_names(a->type);

	if (!names) {
		json_add_text(f, "Values", a->type == ATTR_REASON ? "Reasons" : NULL);
		return;
	}
	json_open_list(f, "Values");
	for (size_t i = 0; names[i]; i++) {
		json_entry(f);
		json_text(f, names[i]);
	}
	json_close_list(f);
}

/* The members of an entry of a table, in their order on the bus, null if TYPE is none. Tail is the
 * name of a member that is in the dictionary at the end. */
static void json_members(FILE *f, AttrType type)
{
	const TableLayout *l = table_layout(type);

	if (!l || streq(l->signature, "a()")) {
		json_add_text(f, "Members", NULL);
		return;
	}
	json_open_list(f, "Members");
	for (size_t i = 0; i < l->n_columns; i++) {
		const Column *column = &l->columns[i];

		if (!column->is_published)
			continue;
		json_entry(f);
		json_open(f);
		add_text(f, "name", column->field);
		add_text(f, "tail", column->tail);
		add_text(f, "unit", unit_rows[column->unit].name);
		add_text(f, "help", column_help(l, i));
		json_close(f);
	}
	json_close_list(f);
}

/* A is one of ROWS. */
static void print_attribute_json(const Context *c, const Attribute *rows, const Attribute *a)
{
	const char *group = group_name(group_of_row(rows, (size_t)(a - rows)));
	char metric[METRIC_NAME_MAX], label[METRIC_NAME_MAX];
	FILE *f = c->out;

	json_open(f);
	add_text(f, "name", a->interface == INTERFACE_RAW ? "" : a->name);
	add_text(f, "interface", attr_interface_name(a->interface));
	add_text(f, "field", a->size > 0 ? a->field : "");
	add_text(f, "type",
		 a->interface == INTERFACE_RAW ? attr_raw_signature(a->type)
					       : attr_signature(a->type));
	add_text(f, "unit", unit_rows[a->unit].name);
	add_text(f, "class", attr_class_name(a->class));
	add_text(f, "valid", attr_validity_name(a->valid));
	add_text(f, "source", attr_source_name(a->source));
	add_text(f, "absent", attr_absent_text(a) ? attr_absent_text(a) : "");
	find_metric(a, metric, label);
	add_text(f, "metric", metric);
	add_text(f, "label", label);
	json_values(f, a);
	json_members(f, a->type);
	add_text(f, "group", group ? group : "");
	add_text(f, "help", attr_help(a));
	json_close(f);
}

static void print_counter_json(const Context *c, const CounterRow *row)
{
	char metric[METRIC_NAME_MAX];
	FILE *f = c->out;

	json_open(f);
	add_text(f, "name", row->name);
	add_text(f, "group", counter_group_name(row->group));
	add_text(f, "file", row->file);
	add_text(f, "unit", counter_unit_name(row->unit));
	metric_counter_name(row->group, row->name, row->unit, metric);
	add_text(f, "metric", metric);
	add_text(f, "help", counter_help(row));
	json_close(f);
}

/* All rows, or those with one name */

typedef struct Description {
	Context *c;
	const char *name; /* NULL: all rows */
	bool part;	  /* NAME is a part of the names that are meant */
	bool brief;	  /* a line each */
	bool properties;  /* no fields of Query() */
	int name_width;
	size_t n;
} Description;

static void print_separator(Description *d)
{
	if (d->c->json)
		json_next(d->c->out);
	else if (!d->brief && d->n > 0)
		fputc('\n', d->c->out);
	d->n++;
}

static void print_brief(const Description *d, const char *name, const char *help)
{
	fprintf(d->c->out, "%-*s  ", d->name_width, name);
	terminal_print_wrapped(d->c, help, (unsigned int)d->name_width + 2);
}

static bool is_wanted(const Description *d, const char *name, const char *other)
{
	if (!d->name)
		return true;
	if (d->part)
		return strcasestr(name, d->name) || strcasestr(other, d->name);
	return strcasecmp(name, d->name) == 0 || strcasecmp(other, d->name) == 0;
}

/* The same for a name that programs compare: nobody looks for it by a part. */
static bool is_word_wanted(const Description *d, const char *name)
{
	return !d->part && is_wanted(d, name, name);
}

/* Whether users can see the attribute, as a property or as a field of Query(). */
static bool is_described(const Attribute *a)
{
	return a->interface != INTERFACE_RAW || a->size > 0;
}

/* How many rows are wanted. */
static size_t count_wanted(const Description *d)
{
	size_t n = 0;

	for (size_t i = 0; i < _PORT_ATTR_MAX; i++)
		n += is_described(&port_attributes[i]) &&
		     is_wanted(d, port_attributes[i].name, port_attributes[i].field);
	for (size_t i = 0; i < _DEVICE_ATTR_MAX; i++)
		n += is_wanted(d, device_attributes[i].name, device_attributes[i].field);
	for (size_t i = 0; i < n_counter_rows; i++)
		n += is_wanted(d, counter_rows[i].name, counter_rows[i].file);
	for (UnavailableCode i = 0; i < _UNAVAILABLE_MAX; i++)
		n += unavailable_rows[i].on_bus && is_word_wanted(d, unavailable_rows[i].code);
	for (size_t i = 0; i < n_feature_rows; i++)
		n += is_word_wanted(d, feature_rows[i].name);
	return n;
}

/* Decides what NAME means: a name, or a part of names. Returns false if it is neither. */
static bool find_name(Description *d)
{
	size_t n;

	d->brief = !d->name;
	if (!d->name || count_wanted(d) > 0)
		return true;
	/* two letters are in most names */
	d->part = strlen(d->name) > 2;
	n = d->part ? count_wanted(d) : 0;
	d->brief = n > 1;
	return n > 0;
}

static void describe_rows(Description *d, const Attribute *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const Attribute *a = &rows[i];
		bool is_raw = a->interface == INTERFACE_RAW;

		if (!is_described(a) || (is_raw && d->properties) ||
		    !is_wanted(d, a->name, a->field))
			continue;
		print_separator(d);
		if (d->c->json)
			print_attribute_json(d->c, rows, a);
		else if (!d->brief)
			print_attribute(d->c, a);
		else
			print_brief(d, is_raw ? a->field : a->name, attr_help(a));
	}
}

static void describe_counters(Description *d)
{
	for (size_t i = 0; i < n_counter_rows; i++) {
		const CounterRow *row = &counter_rows[i];

		if (!is_wanted(d, row->name, row->file))
			continue;
		print_separator(d);
		if (d->c->json)
			print_counter_json(d->c, row);
		else if (!d->brief)
			print_counter(d->c, row);
		else
			print_brief(d, row->name, counter_help(row));
	}
}

/* A name that programs compare, and what it means: of the kind WHAT. */
static void describe_word(Description *d, const char *name, const char *what, const char *help)
{
	if (!is_word_wanted(d, name))
		return;
	print_separator(d);
	if (d->c->json) {
		json_open(d->c->out);
		add_text(d->c->out, "name", name);
		add_text(d->c->out, "help", help);
		json_close(d->c->out);
	} else if (!d->brief) {
		print_heading(d->c, name, what);
		print_help(d->c, help);
	} else {
		print_brief(d, name, help);
	}
}

static void describe_reasons(Description *d)
{
	for (UnavailableCode i = 0; i < _UNAVAILABLE_MAX; i++)
		if (unavailable_rows[i].on_bus)
			describe_word(d, unavailable_rows[i].code, "a reason for no value",
				      unavailable_rows[i].text);
}

static void describe_features(Description *d)
{
	for (size_t i = 0; i < n_feature_rows; i++)
		describe_word(d, feature_rows[i].name, "a feature of rdmad", feature_rows[i].help);
}

static void print_part(const Description *d, const char *heading, bool first)
{
	if (!d->c->json && !d->name)
		fprintf(d->c->out, "%s%s%s%s\n", first ? "" : "\n", terminal_color(d->c, "bold"),
			heading, terminal_plain(d->c));
}

/* The next part: a heading, or with --json the list KEY. */
static void next_part(Description *d, const char *heading, const char *key)
{
	print_part(d, heading, false);
	if (d->c->json)
		json_next_list(d->c->out, key);
}

static const char *suggest(const char *name, Suggestion *s)
{
	*s = suggestion_for(name);
	suggestion_offer_attributes(s);
	for (size_t i = 0; i < n_counter_rows; i++)
		suggestion_offer(s, counter_rows[i].name);
	for (UnavailableCode i = 0; i < _UNAVAILABLE_MAX; i++)
		if (unavailable_rows[i].on_bus)
			suggestion_offer(s, unavailable_rows[i].code);
	for (size_t i = 0; i < n_feature_rows; i++)
		suggestion_offer(s, feature_rows[i].name);
	return suggestion_text(s);
}

/* The groups of attributes in the order in which they are shown. They are for programs only. */
static void describe_groups(Description *d)
{
	if (!d->c->json)
		return;
	json_next_list(d->c->out, "Groups");
	for (Group g = 0; g < _GROUP_MAX; g++) {
		if (!group_name(g))
			continue;
		print_separator(d);
		json_text(d->c->out, group_name(g));
	}
}

ExitStatus describe_columns(Context *c)
{
	Description d = {.c = c, .brief = true, .properties = true};

	for (size_t i = 0; i < _PORT_ATTR_MAX; i++)
		if (port_attributes[i].interface != INTERFACE_RAW)
			d.name_width = MAX(d.name_width, (int)strlen(port_attributes[i].name));
	if (c->json)
		json_begin(c->out, "Columns");
	else
		print_brief(&d, "Port", "The name of the port, such as mlx5_0/1.");
	describe_rows(&d, port_attributes, _PORT_ATTR_MAX);
	describe_rows(&d, device_attributes, _DEVICE_ATTR_MAX);
	if (c->json)
		json_end(c->out);
	return STATUS_OK;
}

ExitStatus describe_command(Context *c)
{
	Suggestion suggestion;
	Description d = {.c = c, .name = c->n_arguments > 0 ? c->arguments[0] : NULL};

	if (!find_name(&d))
		return usage_error(
			"describe: unknown attribute \"%s\"; expected one that \"rdmactl "
			"describe\" lists%s",
			d.name, suggest(d.name, &suggestion));
	for (size_t i = 0; i < n_counter_rows; i++)
		d.name_width = MAX(d.name_width, (int)strlen(counter_rows[i].name));
	if (c->json)
		json_begin(c->out, "Attributes");
	print_part(&d, "Of a port", true);
	describe_rows(&d, port_attributes, _PORT_ATTR_MAX);
	print_part(&d, "Of a device", false);
	describe_rows(&d, device_attributes, _DEVICE_ATTR_MAX);
	next_part(&d, "Counters", "Counters");
	describe_counters(&d);
	next_part(&d, "Reasons for no value", "Reasons");
	describe_reasons(&d);
	next_part(&d, "Features of rdmad", "Features");
	describe_features(&d);
	describe_groups(&d);
	if (c->json)
		json_end(c->out);
	return STATUS_OK;
}
