/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-run.h"

#include "clock.h"
#include "log.h"
#include "query-counters.h"
#include "query-device.h"
#include "query-pauses.h"
#include "query-port.h"
#include "query-resources.h"

static int run_device(Target *t, const Query *q, const Sink *sink)
{
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	device_query(t, &s);
	return sink->device(sink->userdata, q, &s);
}

/* Whether the end of the query closes the device, which may block. */
static bool closes_device(const Target *t)
{
	return t->tried_open && !contexts_holds(t->querier->contexts, t->device);
}

/* *GONE becomes true if the device has gone meanwhile. Then the port is not reported. LAST: it is
 * the last one. */
static int run_port(Target *t, uint32_t port, bool last, const Sink *sink, bool *gone)
{
	_cleanup_(port_snapshot_done) PortSnapshot s = {};
	int error = port_query(t, target_port(t, port), &s);

	/* -EINVAL is what nldev says of a device or port that is not there. */
	if (error == -EIO || error == -ENODEV || error == -EINVAL)
		*gone = target_is_gone(t);
	return *gone ? 0
		     : sink->port(sink->userdata, t->query, port, error, &s,
				  last && !closes_device(t));
}

/* Appends the numbers of F that are there to the N ENTRIES. Returns how many there are then. */
static uint32_t pauses_append(const PauseFrames *f, CounterEntry *entries, uint32_t n)
{
	const struct {
		const char *name;
		uint64_t value;
	} all[] = {{"tx_pause_frames", f->tx},
		   {"rx_pause_frames", f->rx},
		   {"tx_control_frames", f->tx_control},
		   {"rx_control_frames", f->rx_control}};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i].value == UINT64_MAX)
			continue;
		entries[n] = (CounterEntry){.group = COUNTER_GROUP_ETHTOOL, .value = all[i].value};
		text_copy(entries[n].file, sizeof(entries[n].file), all[i].name);
		n++;
	}
	return n;
}

/* The network interface of PORT, as it was read last or is now; 0: it has none. */
static uint32_t interface_of(Target *t, uint32_t port)
{
	const KnownLink *known = &t->known->link;
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	if (known->port == port)
		return known->ifindex;
	return netlink_open(&t->querier->nldev, NETLINK_RDMA) == 0 &&
			       nldev_get_port(&t->querier->nldev, t->device, port, &s) == 0
		       ? s.values.ifindex
		       : 0;
}

/* More than any driver has. */
#define OPTIONAL_MAX 64U

/* Adds to ENTRIES, of which there are N, what netlink and ethtool say of PORT beside its files.
 * Returns how many there are then. */
static size_t append_others(Target *t, uint32_t port, CounterEntry *entries, size_t n)
{
	NldevCounters optional = {.entries = entries + n, .room = OPTIONAL_MAX};
	uint32_t ifindex = interface_of(t, port);
	PauseFrames f;

	if (netlink_open(&t->querier->nldev, NETLINK_RDMA) == 0)
		nldev_get_optional_counters(&t->querier->nldev, t->device, port, &optional);
	n += optional.n;
	return ifindex && pauses_get(&t->querier->ethtool, ifindex, &f) == 0
		       ? pauses_append(&f, entries, n)
		       : n;
}

/* The same to *TABLE. Without memory there is nothing more than before. */
static void add_others(Target *t, uint32_t port, Table **table)
{
	size_t n = *table ? (*table)->n : 0, all;
	_cleanup_free_ CounterEntry *entries = calloc(n + OPTIONAL_MAX + 4, sizeof(*entries));
	Table *more;

	if (!entries)
		return;
	if (n > 0)
		memcpy(entries, (*table)->entries, n * sizeof(*entries));
	all = append_others(t, port, entries, n);
	more = all > n ? table_new(entries, all, sizeof(*entries)) : NULL;
	if (!more)
		return;
	table_free(*table);
	*table = more;
}

/* The counters of one port, from the files that stay open since the last time, if there are. */
static int read_files(Target *t, uint32_t port, Table **ret)
{
	uint64_t limit_usec = t->querier->isolation.answer_usec;
	DeviceFiles *kept = &t->known->counters;
	int r = counters_read_kept(kept, port, limit_usec, ret);

	if (r != -ENOENT)
		return r;
	if (target_sysfs(t) < 0)
		return -ENODEV;
	r = counters_read(t->sysfs, port, limit_usec, ret);
	if (r > 0 && !t->known->left_out) {
		log_warning("%s/%u: %d counters are left out: more than %u, or long names", t->name,
			    port, r, COUNTERS_MAX);
		t->known->left_out = true;
	}
	if (r >= 0)
		counters_keep(kept, t->sysfs, port, *ret);
	return MIN(r, 0);
}

static int read_counters(Target *t, uint32_t port, Table **ret)
{
	int r = read_files(t, port, ret);

	if (r == 0)
		add_others(t, port, ret);
	return r;
}

/* The counters of the ports need sysfs, and ethtool where there is an interface. The reading of one
 * port ends, complete or not, before the core would take the worker for stuck. */
static int run_counters(Target *t, const Sink *sink)
{
	uint32_t last = port_set_last(&t->query->ports);
	int r = 0;

	for (uint32_t port = 1; r == 0 && port <= last; port++) {
		_cleanup_(port_snapshot_done) PortSnapshot s = {};
		int error;

		if (!port_set_has(&t->query->ports, port))
			continue;
		error = read_counters(t, target_port(t, port), &s.tables[PORT_TABLE_COUNTERS]);
		mask_set(&s.supplied, PORT_ATTR_counters, error == 0);
		r = sink->port(sink->userdata, t->query, port, error, &s,
			       port == last && !closes_device(t));
	}
	return r;
}

/* Reads the owners of queue pairs on PORT. A dump that was not read to its end goes with its
 * socket. */
static int read_users(const Target *t, uint32_t port, uint64_t deadline_usec, Table **ret)
{
	const Querier *q = t->querier;
	_cleanup_(netlink_close) Netlink n = NETLINK_CLOSED;
	int r = netlink_open(&n, NETLINK_RDMA);

	if (r < 0)
		return r;
	n.deadline_usec = deadline_usec;
	n.gives_way = q->gives_way;
	n.userdata = q->userdata;
	return resources_get_users(&n, t->device, port, ret);
}

/* Reads the owners of queue pairs on the ports. The kernel may ask the firmware about each queue
 * pair. So the reading takes an eighth of the core's deadline at most, for all ports together, and
 * gives way to other queries, such as whether the link is up again. */
static int run_users(Target *t, const Sink *sink)
{
	uint64_t deadline_usec = monotonic_now_usec() + t->querier->isolation.answer_usec / 4;
	uint32_t last = port_set_last(&t->query->ports);
	bool in_time = true;
	int r = 0;

	for (uint32_t port = 1; r == 0 && port <= last; port++) {
		_cleanup_(port_snapshot_done) PortSnapshot s = {};
		int error = -ETIME;

		if (!port_set_has(&t->query->ports, port))
			continue;
		/* what has given way does not begin with the next port */
		if (in_time)
			error = read_users(t, target_port(t, port), deadline_usec,
					   &s.tables[PORT_TABLE_USERS]);
		in_time &= error != -ETIME;
		mask_set(&s.supplied, PORT_ATTR_users, error == 0 || error == -ETIME);
		r = sink->port(sink->userdata, t->query, port, error, &s,
			       port == last && !closes_device(t));
	}
	return r;
}

static int run(Target *t, const Sink *sink, bool *gone)
{
	const Query *q = t->query;
	uint32_t last = port_set_last(&q->ports);
	int r;

	if (q->kind == QUERY_COUNTERS)
		return run_counters(t, sink);
	if (q->kind == QUERY_USERS)
		return run_users(t, sink);
	r = q->attributes ? run_device(t, q, sink) : 0;

	for (uint32_t port = 1; r == 0 && port <= last && !*gone; port++)
		if (port_set_has(&q->ports, port))
			r = run_port(t, port, port == last, sink, gone);
	return r;
}

int query_run(Querier *querier, const Query *q, const Sink *sink)
{
	char text[128] = "";
	bool gone = false, library_failed = false;
	Target t;
	int error = target_open(querier, q, &t), r;

	if (error == 0) {
		/* reads everything, so it does not matter what was before */
		if (q->attributes && !(READ_NEWS & ~q->parts))
			contexts_set_read(querier->contexts, t.device);
		r = run(&t, sink, &gone);
		library_failed = t.isolated.gave_up;
		target_close(&t);
		if (r < 0)
			return r;
		if (gone) {
			querier_forget(querier, q->device);
			error = -ENODEV;
		}
	}
	if (error == -ENODEV)
		snprintf(text, sizeof(text), "There is no RDMA device with index %u", q->device);
	else if (error < 0)
		snprintf(text, sizeof(text), "Cannot ask the kernel for RDMA device %u: %s",
			 q->device, strerror(-error));
	return sink->end(sink->userdata, q, error, library_failed, text);
}
