/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The owners of queue pairs on a port: the processes, as rdmad-processes describes them
 * (bus-processes.h), and the message in the journal when a link goes down. Without rdmad-processes
 * only the numbers of processes are known.
 */

#include "bus-processes.h"
#include "cgroup.h"
#include "log.h"
#include "manager-private.h"

/* How often the users of a link that went down are read, until all of them are known: there is more
 * news then, and a question gives way to it. */
#define READS_MAX 8U

static UsersReading *users_of(Reading *r)
{
	return (UsersReading *)(void *)r;
}

/* The journal */

/* The message of a link that went down with users; explained in systemd/rdmad.catalog. */
#define MESSAGE_ID_USERS "5e3f3ab1d0c04f3c9d7a1c0b8e6f2d94"

/* How many owners a message names. */
#define OWNERS_MAX 8U

typedef struct Owner {
	char label[CGROUP_LABEL_MAX];
	uint32_t qps;
} Owner;

/* Puts a label for E, whose control group is not known. A process gives itself its name: a name
 * that could be read as more than a name is left out. */
static void label_process(const HolderEntry *e, char label[CGROUP_LABEL_MAX])
{
	static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-";
	bool is_plain = e->name[0] && strspn(e->name, plain) == strlen(e->name);

	snprintf(label, CGROUP_LABEL_MAX, "process %u%s%s", e->pid, is_plain ? " " : "",
		 is_plain ? e->name : "");
}

/* Those who have the queue pairs, by what they are called. Returns how many, RET has the first of
 * them. */
static size_t find_owners(const Table *holders, Owner ret[OWNERS_MAX])
{
	size_t n = 0, left_out = 0;

	TABLE_FOREACH(HolderEntry, e, holders) {
		char label[CGROUP_LABEL_MAX];
		CgroupOwner o;
		size_t i = 0;

		if (e->kind != USER_PROCESS)
			continue;
		cgroup_owner(e->cgroup, &o);
		cgroup_label(&o, label);
		if (!label[0])
			label_process(e, label);
		while (i < n && !streq(ret[i].label, label))
			i++;
		if (i == OWNERS_MAX) {
			left_out++;
			continue;
		}
		if (i == n)
			memcpy(ret[n++].label, label, sizeof(label));
		ret[i].qps += e->qps;
	}
	return n + left_out;
}

static void put_owners(const Table *holders, char *text, size_t size)
{
	Owner owners[OWNERS_MAX] = {};
	size_t n = find_owners(holders, owners), at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < MIN(n, OWNERS_MAX) && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%s (%u)", i > 0 ? ", " : ": ",
				       owners[i].label, owners[i].qps);
	if (n > OWNERS_MAX && at < size)
		snprintf(text + at, size - at, " and more");
}

/* Writes into the journal that a link has gone down, and that its users are not known. */
static void tell_unknown(const Port *p, const char *why)
{
	char name[80];

	log_info("%s: went down; its queue pairs are not known: %s", port_name(p, name), why);
}

/* Writes the users of a link that has gone down into the journal and the history. */
static void tell_users(Manager *m, Port *p, const Reading *users)
{
	char name[80], number[16], qps_text[16], processes_text[16];
	char owners[OWNERS_MAX * (CGROUP_LABEL_MAX + 16) + 16];
	uint32_t qps = 0, processes = 0;
	const LogField fields[] = {
		{"MESSAGE_ID", MESSAGE_ID_USERS},
		{"RDMA_DEVICE", TEXT_OF(&p->device->now.values, name)},
		{"RDMA_PORT", number},
		{"RDMA_QPS", qps_text},
		{"RDMA_PROCESSES", processes_text},
	};

	TABLE_FOREACH(HolderEntry, e, users->table) {
		qps += e->kind == USER_KERNEL ? 0 : e->qps;
		processes += e->kind == USER_PROCESS;
	}
	if (qps == 0) {
		if (users->partial)
			tell_unknown(p, "there was no time to read all");
		return;
	}
	manager_note_users(m, p, qps, processes);
	snprintf(number, sizeof(number), "%u", p->now.values.port_num);
	snprintf(qps_text, sizeof(qps_text), "%u", qps);
	snprintf(processes_text, sizeof(processes_text), "%u", processes);
	put_owners(users->table, owners, sizeof(owners));
	log_with_fields(LOG_NOTICE, fields, ARRAY_SIZE(fields),
			"%s: went down under %s%u %s of %u %s%s", port_name(p, name),
			users->partial ? "at least " : "", qps, qps == 1 ? "QP" : "QPs", processes,
			processes == 1 ? "process" : "processes", owners);
}

static void end_reads(UsersReading *u)
{
	u->went_down = false;
	u->n_reads = 0;
}

bool manager_finished_users(Manager *m, Reading *r)
{
	UsersReading *u = users_of(r);

	if (u->went_down && r->partial && ++u->n_reads < READS_MAX)
		return true;
	if (u->went_down)
		tell_users(m, r->port, r);
	end_reads(u);
	return false;
}

void manager_failed_users(Reading *r)
{
	UsersReading *u = users_of(r);

	if (u->went_down && r->error != -ENODEV)
		tell_unknown(r->port, r->error_text);
	end_reads(u);
}

void manager_want_users(Manager *m, Port *p)
{
	const Transition *last = history_last(&p->history);
	Reading *r = manager_reserve_reading(p, QUERY_USERS);

	/* A device that hangs would not answer. */
	if (!r || p->device->schedule->wedged)
		return;
	users_of(r)->went_down = true;
	/* Of one that has gone no more will be known. */
	if (last && last->to == STATE_ABSENT)
		users_of(r)->n_reads = READS_MAX;
	if (manager_read(m, p, QUERY_USERS) == 0)
		manager_finish_reading(m, r);
}

/* The processes */

static int on_described(sd_bus_message *answer, void *userdata, _unused_ sd_bus_error *error)
{
	Reading *reading = userdata;
	int r = bus_take_processes(answer, reading->table, reading->boottime_usec);

	if (r < 0)
		log_debug_errno(r, "Cannot learn what processes are, ignoring: %m");
	manager_finish_reading(reading->port->device->schedule->manager, reading);
	return 0;
}

/* The processes of a scenario are none of this machine. */
static bool is_simulated(const Manager *m)
{
	SourceStatus status;

	m->source->ops->status(m->source, &status);
	return status.simulated;
}

bool manager_describe_users(Manager *m, Reading *r)
{
	return m->bus && !is_simulated(m) &&
	       bus_ask_processes(m->bus, r->table, on_described, r, &r->completing) > 0;
}

void manager_clean_users(Table *t)
{
	TABLE_FOREACH(HolderEntry, e, t) {
		text_sanitize(CONST_CAST(char *, e->name), sizeof(e->name));
		text_sanitize(CONST_CAST(char *, e->cgroup), sizeof(e->cgroup));
	}
}

void manager_forget_processes(Manager *m)
{
	for (size_t i = 0; i < m->cache.n_devices; i++)
		for (uint32_t n = 0; n < m->cache.devices[i]->n_ports; n++) {
			Reading *r = reading_of(m->cache.devices[i]->ports[n], QUERY_USERS);

			if (r && r->completing)
				manager_finish_reading(m, r);
		}
}
