/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl users: who has queue pairs on ports, and what they belong to. rdmad says of each process
 * only what the caller may see. */

#include <inttypes.h>
#include <pwd.h>

#include "bus.h"
#include "commands.h"
#include "json.h"
#include "names.h"
#include "selection.h"
#include "terminal.h"
#include "text-table.h"

/* The members of an entry that are positional, as USERS of table-columns.def has them. */
enum { MEMBER_KIND, MEMBER_NAME, MEMBER_PID, MEMBER_UID, MEMBER_QPS, MEMBER_TAIL, _MEMBER_MAX };

/* The reply of GetUsers() */
typedef struct Users {
	Value entries, counts;
} Users;

static void users_done(Users *u)
{
	value_done(&u->entries);
	value_done(&u->counts);
}

static uint64_t get_count(const Users *u, const char *key)
{
	return value_number(value_lookup(&u->counts, key));
}

static bool is_complete(const Users *u)
{
	const Value *v = value_lookup(&u->counts, "Complete");

	return !v || v->type != VALUE_BOOL || v->boolean;
}

static bool is_entry(const Value *v)
{
	return v->type == VALUE_STRUCT && v->n >= _MEMBER_MAX &&
	       v->items[MEMBER_PID].type == VALUE_UNSIGNED &&
	       v->items[MEMBER_UID].type == VALUE_UNSIGNED &&
	       v->items[MEMBER_QPS].type == VALUE_UNSIGNED;
}

static const char *tail_text(const Value *entry, const char *key)
{
	return value_text(value_lookup(&entry->items[MEMBER_TAIL], key));
}

static ExitStatus read_users(Context *c, const Object *port, const char *name, Users *ret)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	int r = sd_bus_call_method(c->bus, RDMAD_BUS_NAME, port->path, RDMAD_INTERFACE_PORT,
				   "GetUsers", &error, &reply, "a{sv}", 0);

	if (r >= 0)
		r = value_read(reply, &ret->entries);
	if (r >= 0)
		r = value_read(reply, &ret->counts);
	for (size_t i = 0; r >= 0 && i < ret->entries.n; i++)
		if (!is_entry(&ret->entries.items[i]))
			r = -EBADMSG;
	return r < 0 ? bus_complain(name, &error, r) : STATUS_OK;
}

/* "12 QPs of 3 processes" */
static void print_count(FILE *f, uint64_t qps, uint64_t processes)
{
	fprintf(f, "%" PRIu64 " %s of %" PRIu64 " %s", qps, qps == 1 ? "QP" : "QPs", processes,
		processes == 1 ? "process" : "processes");
}

/* The owner of the process, with its name for people. */
static void put_owner(TextTable *table, size_t column, const Value *entry)
{
	const char *job = tail_text(entry, "Job"), *pod = tail_text(entry, "Pod");
	const char *container = tail_text(entry, "Container"), *unit = tail_text(entry, "Unit");

	if (*job)
		text_table_format(table, column, "job %s", job);
	else if (*pod)
		text_table_format(table, column, "pod %s", pod);
	else if (*container)
		text_table_format(table, column, "container %.12s", container);
	else
		text_table_put(table, column, *unit ? unit : "-");
}

static void put_user(const Context *c, TextTable *table, size_t column, uint64_t uid)
{
	/* users of another machine have other names */
	const struct passwd *user = c->host ? NULL : getpwuid((uid_t)uid);

	if (uid == USER_NO_UID || user)
		text_table_put(table, column, uid == USER_NO_UID ? "-" : user->pw_name);
	else
		text_table_format(table, column, "%" PRIu64, uid);
}

static void add_line(const Context *c, TextTable *table, const Value *entry)
{
	const Value *v = entry->items;
	bool is_process = streq(value_text(&v[MEMBER_KIND]), user_kind_name(USER_PROCESS));
	bool is_kernel = streq(value_text(&v[MEMBER_KIND]), user_kind_name(USER_KERNEL));
	const char *name = value_text(&v[MEMBER_NAME]);

	text_table_add_line(table);
	text_table_format(table, 0, "%" PRIu64, v[MEMBER_QPS].number);
	if (is_process)
		text_table_format(table, 1, "%" PRIu64, v[MEMBER_PID].number);
	else
		text_table_put(table, 1, "-");
	if (is_kernel)
		text_table_put(table, 2, "kernel");
	else
		put_user(c, table, 2, v[MEMBER_UID].number);
	text_table_put(table, 3, *name ? name : "-");
	put_owner(table, 4, entry);
}

static ExitStatus print_table(const Context *c, const Users *u)
{
	static const TableColumn columns[] = {{"QPS", TABLE_RIGHT, 0},
					      {"PID", TABLE_RIGHT, 0},
					      {"USER", 0, 0},
					      {"NAME", 0, 0},
					      {"OF", TABLE_SPARE, 0}};
	_cleanup_text_table_ TextTable table = text_table_begin(c, columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < u->entries.n; i++)
		add_line(c, &table, &u->entries.items[i]);
	return text_table_print(&table, 0);
}

static ExitStatus print_text(const Context *c, const char *name, const Users *u)
{
	uint64_t kernel = get_count(u, "KernelQpCount"), qps = get_count(u, "QpCount");
	uint64_t hidden = get_count(u, "HiddenProcessCount");
	ExitStatus status = STATUS_OK;
	FILE *f = c->out;

	fprintf(f, "%s%s%s: ", terminal_color(c, "bold"), name, terminal_plain(c));
	print_count(f, qps - kernel, get_count(u, "ProcessCount"));
	if (kernel)
		fprintf(f, ", %" PRIu64 " of the kernel", kernel);
	fputs(is_complete(u) ? "\n" : "; there was no time to read all\n", f);
	if (u->entries.n > 0)
		status = print_table(c, u);
	if (hidden) {
		fputs(u->entries.n > 0 ? "and " : "", f);
		print_count(f, get_count(u, "HiddenQpCount"), hidden);
		fputs(" of other users\n", f);
	}
	return status;
}

static void print_json_entry(FILE *f, const Value *entry)
{
	static const char *const tail[] = {"Unit", "Job", "Pod", "Container"};
	const Value *v = entry->items;

	json_open(f);
	json_add_text(f, "Kind", value_text(&v[MEMBER_KIND]));
	json_add_text(f, "Name", value_text(&v[MEMBER_NAME]));
	json_add_number(f, "Pid", v[MEMBER_PID].number);
	json_add_value(f, "Uid", ATTR_U32,
		       v[MEMBER_UID].number == USER_NO_UID ? NULL : &v[MEMBER_UID]);
	json_add_number(f, "Qps", v[MEMBER_QPS].number);
	for (size_t i = 0; i < ARRAY_SIZE(tail); i++)
		json_add_text(f, tail[i], tail_text(entry, tail[i]));
	json_close(f);
}

static void print_json(FILE *f, const char *name, const char *path, const Users *u)
{
	static const char *const counts[] = {"QpCount", "ProcessCount", "KernelQpCount",
					     "HiddenProcessCount", "HiddenQpCount"};

	json_open_named(f, name, path);
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		json_add_number(f, counts[i], get_count(u, counts[i]));
	json_add_bool(f, "Complete", is_complete(u));
	json_add_number(f, "Timestamp", get_count(u, "Timestamp"));
	json_open_list(f, "Users");
	for (size_t i = 0; i < u->entries.n; i++) {
		json_entry_line(f);
		print_json_entry(f, &u->entries.items[i]);
	}
	fputs("\n  ", f);
	json_close_list(f);
	json_close(f);
}

static ExitStatus print_port(Context *c, _unused_ const Selection *s, const Object *port, size_t n,
			     _unused_ bool heading)
{
	_cleanup_(users_done) Users u = {};
	char name[96];
	ExitStatus status = read_users(c, port, object_name(port, name), &u);

	if (status != STATUS_OK)
		return status;
	if (c->json) {
		json_next(c->out);
		print_json(c->out, name, port->path, &u);
		return STATUS_OK;
	}
	fputs(n > 0 ? "\n" : "", c->out);
	return print_text(c, name, &u);
}

ExitStatus users_command(Context *c)
{
	return selection_print(c, 0, selection_names, print_port);
}
