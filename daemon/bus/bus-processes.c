/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-processes.h"

#define NAME "org.rdma.Processes"
#define PATH "/org/rdma/processes"

/* The bus may have to start it. */
#define TIMEOUT_USEC (2 * USEC_PER_SEC)

static bool is_asked(const HolderEntry *e)
{
	return e->kind == USER_PROCESS && !e->started;
}

int bus_ask_processes(Bus *b, const Table *holders, sd_bus_message_handler_t handler,
		      void *userdata, sd_bus_slot **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	sd_bus *bus = bus_connection(b);
	size_t n = 0;
	int r = sd_bus_message_new_method_call(bus, &m, NAME, PATH, NAME, "Describe");

	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "u");
	TABLE_FOREACH(HolderEntry, e, holders)
		if (r >= 0 && is_asked(e)) {
			r = sd_bus_message_append(m, "u", e->pid);
			n++;
		}
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	if (r < 0 || n == 0)
		return r < 0 ? r : 0;
	r = sd_bus_call_async(bus, ret, m, handler, userdata, TIMEOUT_USEC);
	return r < 0 ? r : 1;
}

static HolderEntry *entries_of(Table *holders)
{
	return (HolderEntry *)(void *)holders->entries;
}

/* Fills in what is known of THREAD. */
static void fill(Table *holders, uint32_t thread, const HolderEntry *known)
{
	HolderEntry *entries = entries_of(holders);

	for (uint32_t i = 0; i < holders->n; i++) {
		HolderEntry *e = &entries[i];

		if (!is_asked(e) || e->pid != thread)
			continue;
		e->pid = known->pid;
		e->uid = known->uid;
		e->started = known->started;
		memcpy(e->name, known->name, sizeof(e->name));
		memcpy(e->cgroup, known->cgroup, sizeof(e->cgroup));
		return;
	}
}

/* Threads of one process become one entry. */
static void join(Table *holders)
{
	HolderEntry *entries = entries_of(holders);
	uint32_t n = 0;

	for (uint32_t i = 0; i < holders->n; i++) {
		uint32_t k = 0;

		while (k < n &&
		       (entries[k].kind != USER_PROCESS || entries[i].kind != USER_PROCESS ||
			entries[k].pid != entries[i].pid))
			k++;
		if (k < n)
			entries[k].qps += entries[i].qps;
		else if (n++ != i)
			entries[n - 1] = entries[i];
	}
	holders->n = n;
}

int bus_take_processes(sd_bus_message *answer, Table *holders, uint64_t boottime_usec)
{
	const char *name, *cgroup;
	uint32_t thread;
	int r = bus_enter_answer(answer, "(uuutss)");

	if (r < 0)
		return r;
	for (;;) {
		HolderEntry e = {};

		r = sd_bus_message_read(answer, "(uuutss)", &thread, &e.pid, &e.uid, &e.started,
					&name, &cgroup);
		if (r <= 0)
			break;
		text_copy_clean(e.name, sizeof(e.name), name);
		text_copy_clean(e.cgroup, sizeof(e.cgroup), cgroup);
		if (e.pid && e.started && e.started <= boottime_usec)
			fill(holders, thread, &e);
	}
	join(holders);
	return MIN(r, 0);
}
