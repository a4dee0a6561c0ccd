/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-users.h"

#include "bus-options.h"
#include "bus-private.h"
#include "bus-property.h"
#include "bus-reading.h"
#include "cgroup.h"

const char bus_users_signature[] =
	"a(" USER_COLUMNS(COLUMN_SIGNATURE, ) COLUMN_TAIL_SIGNATURE ")a{sv}";

/* The counts, which no right hides */
typedef struct Counts {
	uint32_t qps, kernel_qps, processes;
	uint32_t hidden_qps, hidden_processes; /* the caller does not see whose they are */
} Counts;

static bool may_see(uid_t caller, const HolderEntry *e)
{
	return e->kind != USER_PROCESS || caller == 0 || (e->started && e->uid == caller);
}

static Counts count(const Table *holders, uid_t caller)
{
	Counts c = {};

	TABLE_FOREACH(HolderEntry, e, holders) {
		bool is_process = e->kind == USER_PROCESS, is_hidden = !may_see(caller, e);

		c.qps += e->qps;
		c.kernel_qps += e->kind == USER_KERNEL ? e->qps : 0;
		c.processes += is_process;
		c.hidden_qps += is_hidden ? e->qps : 0;
		c.hidden_processes += is_hidden;
	}
	return c;
}

static void put_user(BusWriter *w, const HolderEntry *e)
{
	CgroupOwner o;
	PortUser user = {
		.kind = e->kind, .name = e->name, .pid = e->pid, .uid = e->uid, .qps = e->qps};

	cgroup_owner(e->cgroup, &o);
	user.unit = o.unit;
	user.job = o.job;
	user.pod = o.pod;
	user.container = o.container;
	bus_put_entry(w, &user_layout, &user);
}

static void put_counts(BusWriter *w, const Reading *users, const Counts *c)
{
	bus_writer_open(w, 'a', "{sv}");
	bus_writer_add_u32(w, "QpCount", c->qps);
	bus_writer_add_u32(w, "ProcessCount", c->processes);
	bus_writer_add_u32(w, "KernelQpCount", c->kernel_qps);
	bus_writer_add_u32(w, "HiddenProcessCount", c->hidden_processes);
	bus_writer_add_u32(w, "HiddenQpCount", c->hidden_qps);
	bus_writer_add_bool(w, "Complete", !users->partial);
	bus_writer_add_u64(w, "Timestamp", users->realtime_usec);
	bus_writer_close(w);
}

int bus_users_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c, sd_bus_error *error)
{
	PortWalk walk = {.cache = c, .paths = q->text};
	const Port *p = port_walk_next(&walk);
	const Reading *users = NULL;
	const char *text = "the port has gone";
	int code = -ENODEV;
	Counts counts;

	if (p)
		users = bus_reading_for(q, p, QUERY_USERS, &code, &text);
	if (!users)
		return bus_error_set(error, code, text);
	counts = count(users->table, q->user);
	bus_writer_open(w, 'a', user_layout.signature + 1);
	TABLE_FOREACH(HolderEntry, e, users->table)
		if (may_see(q->user, e))
			put_user(w, e);
	bus_writer_close(w);
	put_counts(w, users, &counts);
	return 1;
}

int bus_get_users(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	int r = bus_read_options(m, "GetUsers", NULL, 0, error);

	return r < 0 ? r : bus_ask_reading(m, userdata, QUERY_USERS, LONG_REPLY_USERS, error);
}
