/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-users.h"

#include "bus-options.h"
#include "bus-private.h"
#include "bus-property.h"
#include "cgroup.h"
#include "log.h"
#include "lookup.h"
#include "names.h"

/* clang-format off */
const char bus_users_signature[] = "a("
#define USERS(...) COLUMN_SIGNATURE(__VA_ARGS__)
#include "table-columns.def"
	COLUMN_TAIL_SIGNATURE ")a{sv}";
/* clang-format on */

/* What nobody's rights hide */
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

static void put_u32(BusWriter *w, const char *name, uint32_t value)
{
	bus_writer_open_property(w, name, "u");
	bus_writer_put_u32(w, value);
	bus_writer_close_property(w);
}

static void put_counts(BusWriter *w, const PortUsers *users, const Counts *c)
{
	bus_writer_open(w, 'a', "{sv}");
	put_u32(w, "QpCount", c->qps);
	put_u32(w, "ProcessCount", c->processes);
	put_u32(w, "KernelQpCount", c->kernel_qps);
	put_u32(w, "HiddenProcessCount", c->hidden_processes);
	put_u32(w, "HiddenQpCount", c->hidden_qps);
	bus_writer_open_property(w, "Complete", "b");
	bus_writer_put_bool(w, !users->partial);
	bus_writer_close_property(w);
	bus_writer_open_property(w, "Timestamp", "t");
	bus_writer_put_u64(w, users->realtime_usec);
	bus_writer_close_property(w);
	bus_writer_close(w);
}

int bus_users_write(BusWriter *w, const LongReplyQuestion *q, const Cache *c, sd_bus_error *error)
{
	const Bus *b = q->bus;
	const PortUsers *users = NULL;
	Counts counts;
	Device *d;
	Port *p = NULL;

	if (lookup_path(c, q->path, &d, &p) >= 0 && p)
		users = b->handler->known_users(b->userdata, p);
	if (!users)
		return sd_bus_error_setf(error, RDMAD_ERROR_NOT_FOUND, "the port has gone");
	counts = count(users->table, q->user);
	bus_writer_open(w, 'a', user_layout.signature + 1);
	TABLE_FOREACH(HolderEntry, e, users->table)
		if (may_see(q->user, e))
			put_user(w, e);
	bus_writer_close(w);
	put_counts(w, users, &counts);
	return 1;
}

static int reply_users(Bus *b, sd_bus_message *call, const Port *p, uid_t caller)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	char path[RDMAD_PATH_MAX];
	LongReplyQuestion q = {.path = port_path(p, path), .user = caller, .bus = b};
	int r = long_reply_answer_question(b->long_replies, call, LONG_REPLY_USERS, &q, &error);

	return r < 0 ? sd_bus_reply_method_errno(call, r, &error) : r;
}

/* What a call is about, until the bus has said whose it is. */
typedef struct UsersCall {
	Bus *bus;
	uint32_t device, port;
} UsersCall;

/* Answers C, whose user is known, and frees it. */
static void answer(PendingCall *c, int error, const char *text)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = bus_call_of(c);
	const UsersCall *u = c->userdata;
	Device *d = cache_device(u->bus->cache, u->device);
	Port *p = d ? device_port(d, u->port) : NULL;
	int r = 0;

	if (call && error < 0)
		bus_reply_error(call, error, text);
	else if (call && !p)
		bus_reply_error(call, -ENODEV, "the port has gone");
	else if (call)
		r = reply_users(u->bus, call, p, c->user);
	if (r < 0)
		log_debug_errno(r, "Cannot answer with users, ignoring: %m");
	pending_call_free(c);
}

void bus_answer_users(PendingList *list, uint32_t port, int error, const char *text)
{
	PendingCall *c;

	while ((c = pending_list_find(list, port)))
		answer(c, error, text);
}

static void on_identified(PendingCall *call, _unused_ uid_t user, void *userdata)
{
	const UsersCall *u = userdata;
	Device *d = cache_device(u->bus->cache, u->device);
	Port *p = d ? device_port(d, u->port) : NULL;
	PendingList *list = NULL;
	int r = p ? u->bus->handler->users(u->bus->userdata, p, &list) : -ENODEV;

	if (r <= 0) {
		answer(call, r,
		       !p		 ? "the port has gone"
		       : r == -ETIMEDOUT ? p->now.values.last_error
					 : strerror(-r));
		return;
	}
	call->port = u->port;
	pending_list_add(list, call);
}

int bus_get_users(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const PendingKind kind = {.identified = on_identified, .freed = free};
	const Port *p = userdata;
	PendingCall *call;
	UsersCall *u;
	int r = bus_read_options(m, "GetUsers", NULL, 0, error);

	if (r < 0)
		return r;
	u = malloc(sizeof(*u));
	if (!u)
		return -ENOMEM;
	/* the userdata of a port's method is the port */
	*u = (UsersCall){
		sd_bus_slot_get_userdata(sd_bus_get_current_slot(sd_bus_message_get_bus(m))),
		p->device->index, p->number};
	r = pending_call_new(u->bus->calls, m, &kind, u, &call, error);
	if (r < 0)
		free(u);
	return r;
}
