/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who has queue pairs on a port: the calls of Port.GetUsers(), and what the journal and the history
 * say of a link that has gone down.
 *
 * This is asked by a query of its own, when nothing of the device is dirty, as for counters: it may
 * cost the firmware an answer for each queue pair. However many ask, a port is read once a second.
 */

#include "log.h"
#include "manager-private.h"

/* A caller gets users that are at most so old. */
#define FRESH_USEC USEC_PER_SEC

/* Of one port */
typedef struct UsersState {
	PortUsers users;
	uint64_t monotonic_usec; /* when they were read; 0: never */
} UsersState;

struct DeviceUsers {
	UsersState **ports; /* by number minus 1; NULL: nobody has asked */
	uint32_t n_ports;
	PendingList next;  /* calls for which nothing has been asked yet */
	PendingList calls; /* calls that the question under way answers */
	PortSet asked;	   /* the ports that it asks about and that have not answered */
	bool is_asked;	   /* there is a question under way */
};

/* The state of P, which is made the first time. */
static int reserve(Port *p, struct DeviceUsers **ret, UsersState **ret_state)
{
	Schedule *w = p->device->schedule;
	struct DeviceUsers *u = w->users;
	UsersState **ports;

	if (!u)
		u = w->users = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	if (u->n_ports < p->number) {
		ports = reallocarray(u->ports, p->number, sizeof(UsersState *));
		if (!ports)
			return -ENOMEM;
		memset(ports + u->n_ports, 0, (p->number - u->n_ports) * sizeof(UsersState *));
		u->ports = ports;
		u->n_ports = p->number;
	}
	if (!u->ports[p->number - 1])
		u->ports[p->number - 1] = calloc(1, sizeof(UsersState));
	if (!u->ports[p->number - 1])
		return -ENOMEM;
	*ret = u;
	*ret_state = u->ports[p->number - 1];
	return 0;
}

static bool is_fresh(const Manager *m, const UsersState *s)
{
	return s->monotonic_usec && monotonic_usec(m) - s->monotonic_usec < FRESH_USEC;
}

int manager_users(void *userdata, Port *p, const PortUsers **ret_users, PendingList **ret_list)
{
	struct DeviceUsers *u = NULL;
	UsersState *s = NULL;
	Manager *m = userdata;
	int r = reserve(p, &u, &s);

	if (r < 0)
		return r;
	if (p->device->schedule->wedged)
		return -ETIMEDOUT;
	if (is_fresh(m, s)) {
		*ret_users = &s->users;
		return 0;
	}
	if (u->is_asked && port_set_has(&u->asked, p->number)) {
		*ret_list = &u->calls;
	} else {
		*ret_list = &u->next;
		p->device->schedule->marked = true;
		manager_mark_flush(m);
	}
	return 1;
}

void manager_ask_users(Manager *m, Device *d)
{
	struct DeviceUsers *u = d->schedule->users;
	Query query;
	int r;

	if (!u || !u->next.first)
		return;
	query = (Query){.device = d->index, .adapter = d->now.values.sys_image_guid, .users = true};
	memcpy(query.name, d->now.values.name, sizeof(query.name));
	query.id = manager_new_id(m, d);
	for (const PendingCall *call = u->next.first; call; call = call->next)
		port_set_add(&query.ports, call->port);
	r = manager_send(m, d, &query);
	if (r < 0) {
		log_debug_errno(r, "%s: cannot ask for users: %m", d->now.values.name);
		bus_answer_users(&u->next, 0, NULL, r,
				 r == -ETIMEDOUT ? "the device does not answer" : strerror(-r));
		return;
	}
	d->schedule->asked_id = query.id;
	u->is_asked = true;
	u->asked = query.ports;
	pending_list_move(&u->calls, &u->next);
}

bool manager_asked_users(const Schedule *w)
{
	return w->users && w->users->is_asked;
}

/* Nothing that is published is invalid, whatever a worker says. */
static void clean(Table *t)
{
	TABLE_FOREACH(HolderEntry, e, t) {
		text_sanitize(CONST_CAST(char *, e->name), sizeof(e->name));
		text_sanitize(CONST_CAST(char *, e->cgroup), sizeof(e->cgroup));
	}
}

void manager_on_users(Manager *m, Device *d, uint32_t number, int error, PortSnapshot *snapshot)
{
	struct DeviceUsers *u = d->schedule->users;
	Port *p = device_port(d, number);
	bool partial = error == -ETIME; /* there was no time to read all */
	UsersState *s;

	if (!p || !port_set_has(&u->asked, number))
		return;
	port_set_remove(&u->asked, number);
	s = u->ports[number - 1];
	if (partial)
		error = 0;
	if (error == 0) {
		table_free(s->users.table);
		s->users = (PortUsers){
			.table = steal_pointer(&snapshot->tables[PORT_TABLE_USERS]),
			.partial = partial,
			.realtime_usec = realtime_now_usec(),
		};
		s->monotonic_usec = monotonic_usec(m);
		clean(s->users.table);
	}
	bus_answer_users(&u->calls, number, &s->users, error, error < 0 ? strerror(-error) : "");
}

void manager_end_users(Device *d, int error, const char *text)
{
	struct DeviceUsers *u = d->schedule->users;

	u->is_asked = false;
	u->asked = (PortSet){};
	bus_answer_users(&u->calls, 0, NULL, error < 0 ? error : -EIO,
			 error < 0 ? text : "the users were not read");
}

void manager_refuse_users(Device *d, uint32_t port, int error, const char *text)
{
	struct DeviceUsers *u = d->schedule->users;

	if (!u)
		return;
	bus_answer_users(&u->next, port, NULL, error, text);
	bus_answer_users(&u->calls, port, NULL, error, text);
}

void manager_free_users(Device *d)
{
	struct DeviceUsers *u = d->schedule->users;

	for (uint32_t i = 0; u && i < u->n_ports; i++) {
		if (u->ports[i])
			table_free(u->ports[i]->users.table);
		free(u->ports[i]);
	}
	if (u)
		free(u->ports);
	free(u);
	d->schedule->users = NULL;
}
