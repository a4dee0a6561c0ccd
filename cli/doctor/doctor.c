/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl doctor: what this machine has of what rdmad uses, what is missing, and what to do. It is
 * also what a report of a bug begins with. */

#include "bus.h"
#include "commands.h"
#include "doctor-advice.h"
#include "json.h"
#include "terminal.h"
#include "text-table.h"
#include "unavailable.h"

static const char *arg_root = "";
static bool arg_list;

static ExitStatus parse_root(const Option *o, const char *argument)
{
	return argument[0] == '/' ? option_text(o, argument) : option_refuse(o, argument);
}

/* clang-format off */
const Option doctor_options[] = {
	{"root", 0, "DIR", "Read the files of the machine below DIR",      parse_root, &arg_root, "an absolute path, such as /host", 0},
	{"list", 0, NULL,  "Print what rdmad asks of a kernel, and no more", option_set, &arg_list, NULL,                              0},
	{},
};
/* clang-format on */

/* Adds a line of the N texts CELLS, "-" where one is empty. */
static void add_line(TextTable *table, const char *const *cells, size_t n)
{
	text_table_add_line(table);
	for (size_t i = 0; i < n; i++)
		text_table_put(table, i, *cells[i] ? cells[i] : "-");
}

static ExitStatus print_facts(const Context *c, const Machine *m)
{
	static const TableColumn columns[] = {{"WHAT", 0, 0}, {"HERE", TABLE_SPARE, 0}};
	_cleanup_text_table_ TextTable table = text_table_begin(c, columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < n_machine_facts; i++) {
		char value[FACT_MAX];
		const char *cells[] = {machine_facts[i].name, value};

		machine_facts[i].read(m, value);
		add_line(&table, cells, ARRAY_SIZE(cells));
	}
	return text_table_print(&table, 0);
}

/* How rdmad learns of changes of DEVICE. */
static const char *device_events(const Object *device)
{
	const char *code = object_text(device, DEVICE_ATTR_events_reason);

	return *code ? unavailable_text(code) : object_text(device, DEVICE_ATTR_events);
}

static ExitStatus print_devices(const Context *c, const Machine *m)
{
	static const TableColumn columns[] = {
		{"DEVICE", 0, 0}, {"DRIVER", 0, 0}, {"FIRMWARE", 0, 0}, {"EVENTS", TABLE_SPARE, 0}};
	_cleanup_text_table_ TextTable table = text_table_begin(c, columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < m->objects.n; i++) {
		const Object *o = m->objects.items[i];
		const char *cells[] = {object_text(o, DEVICE_ATTR_name),
				       object_text(o, DEVICE_ATTR_driver),
				       object_text(o, DEVICE_ATTR_fw_ver), device_events(o)};

		if (!o->is_port)
			add_line(&table, cells, ARRAY_SIZE(cells));
	}
	if (!text_table_is_empty(&table))
		fputc('\n', c->out);
	return text_table_print(&table, 0);
}

static void format_version(const KernelFeature *f, char ret[16])
{
	snprintf(ret, 16, "%u.%u", f->kernel >> 8, f->kernel & 255);
}

/* M is NULL: of no machine. */
static ExitStatus print_features(const Context *c, const Machine *m)
{
	const TableColumn columns[] = {{"FEATURE", 0, 0},
				       {"LINUX", 0, 0},
				       {m ? "HERE" : "COMMIT", 0, 0},
				       {"EFFECT", TABLE_SPARE, 0}};
	_cleanup_text_table_ TextTable table = text_table_begin(c, columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < n_kernel_features; i++) {
		const KernelFeature *f = &kernel_features[i];
		bool tried, there = m && kernel_feature_is_there(f, &m->kernel, &tried);
		char version[16];
		const char *cells[] = {f->name, version,
				       !m      ? f->commit
				       : tried ? there ? "yes" : "no"
				       : there ? "by its version"
					       : "not by its version",
				       m && !there ? f->without : f->use};

		format_version(f, version);
		add_line(&table, cells, ARRAY_SIZE(cells));
	}
	return text_table_print(&table, 0);
}

static ExitStatus print_text(const Context *c, const Machine *m, const Advice *a)
{
	ExitStatus status = print_facts(c, m);

	if (status == STATUS_OK)
		status = print_devices(c, m);
	fputc('\n', c->out);
	if (status == STATUS_OK)
		status = print_features(c, m);
	fputc('\n', c->out);
	for (size_t i = 0; i < a->n; i++)
		terminal_print_wrapped(c, a->items[i], 0);
	if (a->n == 0)
		fputs("Nothing is missing.\n", c->out);
	return status;
}

static void print_json_facts(FILE *f, const Machine *m)
{
	for (size_t i = 0; i < n_machine_facts; i++) {
		char value[FACT_MAX];

		machine_facts[i].read(m, value);
		json_next(f);
		json_open(f);
		json_add_text(f, "Name", machine_facts[i].name);
		json_add_text(f, "Value", value);
		json_close(f);
	}
}

static void print_json_devices(FILE *f, const Machine *m)
{
	for (size_t i = 0; i < m->objects.n; i++) {
		const Object *o = m->objects.items[i];

		if (o->is_port)
			continue;
		json_next(f);
		json_open(f);
		json_add_text(f, "Device", object_text(o, DEVICE_ATTR_name));
		json_add_text(f, "Driver", object_text(o, DEVICE_ATTR_driver));
		json_add_text(f, "FirmwareVersion", object_text(o, DEVICE_ATTR_fw_ver));
		json_add_text(f, "Events", object_text(o, DEVICE_ATTR_events));
		json_add_text(f, "EventsReason", object_text(o, DEVICE_ATTR_events_reason));
		json_close(f);
	}
}

/* M is NULL: of no machine. */
static void print_json_features(FILE *f, const Machine *m)
{
	for (size_t i = 0; i < n_kernel_features; i++) {
		const KernelFeature *feature = &kernel_features[i];
		char version[16];
		bool tried, there = m && kernel_feature_is_there(feature, &m->kernel, &tried);

		format_version(feature, version);
		json_next(f);
		json_open(f);
		json_add_text(f, "Name", feature->name);
		json_add_text(f, "Linux", version);
		json_add_text(f, "Commit", feature->commit);
		json_add_text(f, "For", feature->use);
		json_add_text(f, "Without", feature->without);
		if (m) {
			json_add_bool(f, "Present", there);
			json_add_bool(f, "Tried", tried);
		}
		json_close(f);
	}
}

static void print_json(FILE *f, const Machine *m, const Advice *a)
{
	json_begin(f, "Facts");
	print_json_facts(f, m);
	json_next_list(f, "Devices");
	print_json_devices(f, m);
	json_next_list(f, "Features");
	print_json_features(f, m);
	json_next_list(f, "Advice");
	for (size_t i = 0; i < a->n; i++) {
		json_next(f);
		json_text(f, a->items[i]);
	}
	json_end(f);
}

static ExitStatus list_features(const Context *c)
{
	if (!c->json)
		return print_features(c, NULL);
	json_begin(c->out, "Features");
	print_json_features(c->out, NULL);
	json_end(c->out);
	return STATUS_OK;
}

ExitStatus doctor_command(Context *c)
{
	_cleanup_(sd_bus_flush_close_unref_pointer) sd_bus *bus = NULL;
	_cleanup_machine_ Machine m = {};
	_cleanup_advice_ Advice a = {};
	ExitStatus status = STATUS_OK;

	if (arg_list)
		return list_features(c);
	if (c->host || c->machine)
		return usage_error("doctor looks at this machine: run it where rdmad is");
	if (bus_connect(c, &bus) == STATUS_OK)
		c->bus = bus;
	machine_read(c, arg_root, &m);
	advice_find(c, &m, &a);
	if (c->json)
		print_json(c->out, &m, &a);
	else
		status = print_text(c, &m, &a);
	return status != STATUS_OK ? status
	       : !m.reached	   ? STATUS_NO_DAEMON
	       : a.n > 0	   ? STATUS_FAILED
				   : STATUS_OK;
}
