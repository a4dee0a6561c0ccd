/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who has queue pairs on a port: the calls of Port.GetUsers(), and what the journal says of a link
 * that has gone down.
 *
 * The kernel is asked by a query of its own, when nothing of the device is dirty, as for counters:
 * it may cost the firmware an answer for each queue pair. Then rdmad-processes says what the
 * processes are (bus-processes.h); without it nothing but their numbers is known. However many ask,
 * a port is read once a second.
 */

#include "bus-processes.h"
#include "cgroup.h"
#include "log.h"
#include "manager-private.h"

/* A caller gets users that are at most so old. */
#define FRESH_USEC USEC_PER_SEC

/* How often the users of a link that went down are read, until all of them are known: there is more
 * news then, and a question gives way to it. */
#define READS_MAX 8U

/* Of one port. First it is wanted, then the source is asked, then rdmad-processes. */
typedef struct UsersState {
	Schedule *schedule;
	uint32_t number; /* of the port */
	PortUsers users;
	uint64_t monotonic_usec; /* when they were read; 0: never */
	uint64_t boottime_usec;	 /* CLOCK_BOOTTIME when the source was asked */
	PendingList calls;
	bool wanted;
	bool asked;
	sd_bus_slot *described; /* rdmad-processes is asked */
	bool went_down;		/* the journal is to be told */
	unsigned int n_reads;	/* for the journal, that were not complete */
} UsersState;

struct DeviceUsers {
	UsersState **ports; /* by number minus 1; NULL: nobody has asked */
	uint32_t n_ports;
	bool is_asked;	 /* there is a question under way */
	bool is_hurried; /* and it is to end soon */
};

/* The state of P, which is made the first time; NULL without memory. */
static UsersState *reserve(Port *p)
{
	Schedule *w = p->device->schedule;
	struct DeviceUsers *u = w->users;
	UsersState **ports, *s;

	if (!u)
		u = w->users = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	if (u->n_ports < p->number) {
		ports = reallocarray(u->ports, p->number, sizeof(UsersState *));
		if (!ports)
			return NULL;
		memset(ports + u->n_ports, 0, (p->number - u->n_ports) * sizeof(UsersState *));
		u->ports = ports;
		u->n_ports = p->number;
	}
	s = u->ports[p->number - 1];
	if (!s)
		s = u->ports[p->number - 1] = calloc(1, sizeof(UsersState));
	if (s) {
		s->schedule = w;
		s->number = p->number;
	}
	return s;
}

/* The next state of U from *I on, which moves on; NULL: there is none. */
static UsersState *next_state(const struct DeviceUsers *u, uint32_t *i)
{
	while (u && *i < u->n_ports && !u->ports[*i])
		++*i;
	return u && *i < u->n_ports ? u->ports[(*i)++] : NULL;
}

static bool is_fresh(const Manager *m, const UsersState *s)
{
	return s->monotonic_usec && !s->described &&
	       monotonic_usec(m) - s->monotonic_usec < FRESH_USEC;
}

static void want(Manager *m, UsersState *s)
{
	if (s->asked || s->described)
		return;
	s->wanted = true;
	s->schedule->marked = true;
	manager_mark_flush(m);
}

int manager_users(void *userdata, Port *p, PendingList **ret_list)
{
	UsersState *s = reserve(p);
	Manager *m = userdata;

	if (!s)
		return -ENOMEM;
	if (p->device->schedule->wedged)
		return -ETIMEDOUT;
	if (is_fresh(m, s))
		return 0;
	want(m, s);
	*ret_list = &s->calls;
	return 1;
}

const PortUsers *manager_known_users(_unused_ void *userdata, const Port *p)
{
	const struct DeviceUsers *u = p->device->schedule->users;
	const UsersState *s = u && p->number <= u->n_ports ? u->ports[p->number - 1] : NULL;

	return s && s->monotonic_usec ? &s->users : NULL;
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

/* What E is called if nothing is known of its control group. A process gives itself its name: one
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

/* What the journal says of a link that has gone down if nobody knows under whom. */
static void tell_unknown(const Port *p, const char *why)
{
	char name[80];

	log_info("%s: went down; its queue pairs are not known: %s", port_name(p, name), why);
}

/* What the journal and the history say of a link that has gone down. */
static void tell_users(Manager *m, Port *p, const PortUsers *users)
{
	char name[80], number[16], qps_text[16], processes_text[16];
	char owners[OWNERS_MAX * (CGROUP_LABEL_MAX + 16) + 16];
	uint32_t qps = 0, processes = 0;
	const LogField fields[] = {
		{"MESSAGE_ID", MESSAGE_ID_USERS},
		{"RDMA_DEVICE", p->device->now.values.name},
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

static Port *port_of(const UsersState *s)
{
	return device_port(s->schedule->device, s->number);
}

static void end_reads(UsersState *s)
{
	s->went_down = false;
	s->n_reads = 0;
}

/* All that can be known is known, or is asked once more for the journal. */
static void finish(UsersState *s)
{
	Port *p = port_of(s);

	s->described = sd_bus_slot_unref(s->described);
	if (s->went_down && s->users.partial && ++s->n_reads < READS_MAX) {
		want(s->schedule->manager, s);
	} else {
		if (s->went_down && p)
			tell_users(s->schedule->manager, p, &s->users);
		end_reads(s);
	}
	bus_answer_users(&s->calls, 0, 0, "");
}

static void fail(UsersState *s, int error, const char *text)
{
	Port *p = port_of(s);

	if (s->went_down && p && error != -ENODEV)
		tell_unknown(p, text);
	end_reads(s);
	s->wanted = s->asked = false;
	s->described = sd_bus_slot_unref(s->described);
	bus_answer_users(&s->calls, 0, error, text);
}

void manager_want_users(Manager *m, Port *p)
{
	const Transition *last = history_last(&p->history);
	UsersState *s = reserve(p);

	/* A device that hangs would not answer. */
	if (!s || p->device->schedule->wedged)
		return;
	s->went_down = true;
	/* Of one that has gone no more will be known. */
	if (last && last->to == STATE_ABSENT)
		s->n_reads = READS_MAX;
	if (is_fresh(m, s))
		finish(s);
	else
		want(m, s);
}

/* The source */

void manager_ask_users(Manager *m, Device *d)
{
	struct DeviceUsers *u = d->schedule->users;
	uint32_t n = 0;
	UsersState *s;
	Query query;
	int r;

	query = (Query){.device = d->index, .adapter = d->now.values.sys_image_guid, .users = true};
	while ((s = next_state(u, &n)))
		if (s->wanted && n <= d->n_ports)
			port_set_add(&query.ports, s->number);
	if (port_set_is_empty(&query.ports))
		return;
	memcpy(query.name, d->now.values.name, sizeof(query.name));
	query.id = manager_new_id(m, d);
	r = manager_send(m, d, &query);
	if (r < 0)
		log_debug_errno(r, "%s: cannot ask for users: %m", d->now.values.name);
	for (n = 0; (s = next_state(u, &n));) {
		if (!s->wanted)
			continue;
		s->wanted = false;
		s->asked = r >= 0;
		s->boottime_usec = boottime_now_usec();
		if (r < 0)
			fail(s, r, r == -ETIMEDOUT ? "the device does not answer" : strerror(-r));
	}
	if (r < 0)
		return;
	d->schedule->asked_id = query.id;
	u->is_asked = true;
	u->is_hurried = false;
}

void manager_hurry_users(Manager *m, const Device *d)
{
	struct DeviceUsers *u = d->schedule->users;

	if (!u || !u->is_asked || u->is_hurried || !m->source->ops->hurry)
		return;
	m->source->ops->hurry(m->source, d->index);
	u->is_hurried = true;
}

bool manager_asked_users(const Schedule *w)
{
	return w->users && w->users->is_asked;
}

static int on_described(sd_bus_message *answer, void *userdata, _unused_ sd_bus_error *error)
{
	UsersState *s = userdata;
	int r = bus_take_processes(answer, s->users.table, s->boottime_usec);

	if (r < 0)
		log_debug_errno(r, "Cannot learn what processes are, ignoring: %m");
	finish(s);
	return 0;
}

/* Nothing that is published is invalid, whatever a worker says. */
static void clean(Table *t)
{
	TABLE_FOREACH(HolderEntry, e, t) {
		text_sanitize(CONST_CAST(char *, e->name), sizeof(e->name));
		text_sanitize(CONST_CAST(char *, e->cgroup), sizeof(e->cgroup));
	}
}

/* The processes of a scenario are none of this machine. */
static bool is_simulated(const Manager *m)
{
	SourceStatus status;

	m->source->ops->status(m->source, &status);
	return status.simulated;
}

void manager_on_users(Manager *m, Device *d, uint32_t number, int error, PortSnapshot *snapshot)
{
	struct DeviceUsers *u = d->schedule->users;
	UsersState *s = number > 0 && number <= u->n_ports ? u->ports[number - 1] : NULL;
	bool partial = error == -ETIME; /* there was no time to read all */
	int r = 0;

	if (!s || !s->asked)
		return;
	if (error < 0 && !partial) {
		fail(s, error, strerror(-error));
		return;
	}
	s->asked = false;
	table_free(s->users.table);
	s->users = (PortUsers){
		.table = steal_pointer(&snapshot->tables[PORT_TABLE_USERS]),
		.partial = partial,
		.realtime_usec = realtime_now_usec(),
	};
	s->monotonic_usec = monotonic_usec(m);
	clean(s->users.table);
	if (m->bus && !is_simulated(m))
		r = bus_ask_processes(m->bus, s->users.table, on_described, s, &s->described);
	if (r <= 0)
		finish(s);
}

void manager_end_users(Device *d, int error, const char *text)
{
	struct DeviceUsers *u = d->schedule->users;
	uint32_t n = 0;
	UsersState *s;

	u->is_asked = false;
	while ((s = next_state(u, &n)))
		if (s->asked)
			fail(s, error < 0 ? error : -EIO,
			     error < 0 ? text : "the users were not read");
}

void manager_refuse_users(Device *d, uint32_t port, int error, const char *text)
{
	uint32_t n = 0;
	UsersState *s;

	while ((s = next_state(d->schedule->users, &n)))
		if (port == 0 || s->number == port)
			fail(s, error, text);
}

void manager_forget_processes(Manager *m)
{
	for (size_t i = 0; i < m->cache.n_devices; i++) {
		uint32_t n = 0;
		UsersState *s;

		while ((s = next_state(m->cache.devices[i]->schedule->users, &n)))
			if (s->described)
				finish(s);
	}
}

void manager_free_users(Device *d)
{
	struct DeviceUsers *u = d->schedule->users;

	for (uint32_t i = 0; u && i < u->n_ports; i++) {
		if (!u->ports[i])
			continue;
		sd_bus_slot_unref(u->ports[i]->described);
		table_free(u->ports[i]->users.table);
		free(u->ports[i]);
	}
	if (u)
		free(u->ports);
	free(u);
	d->schedule->users = NULL;
}
