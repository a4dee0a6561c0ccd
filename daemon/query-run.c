/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-run.h"

#include "query-counters.h"
#include "query-device.h"
#include "query-nldev.h"
#include "query-port.h"

static int run_device(Target *t, const Query *q, const Sink *sink)
{
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	device_query(t, &s);
	return sink->device(sink->userdata, q, &s);
}

/* *GONE: the port's error is one that a device has that is no longer there. */
static int run_port(Target *t, const Query *q, uint32_t port, const Sink *sink, bool *gone)
{
	_cleanup_(port_snapshot_done) PortSnapshot s = {};
	int error = port_query(t, port, q->pkeys, &s);

	if (error == -EIO || error == -ENODEV) {
		DeviceSnapshot now = {};

		*gone = nldev_get_device(&t->worker->nldev, t->device, &now) == -ENODEV;
		if (!*gone)
			target_reopen(t); /* the error may be the context's */
	}
	return *gone ? 0 : sink->port(sink->userdata, q, port, error, &s);
}

/* The counters of the ports need sysfs alone. Reading them ends before the core would take the
 * worker for stuck. */
static int run_counters(Target *t, const Query *q, const Sink *sink)
{
	int r = 0;

	for (uint32_t port = 1; r == 0 && port <= RDMA_PORT_MAX; port++) {
		_cleanup_(port_snapshot_done) PortSnapshot s = {};
		int error;

		if (!port_set_has(&q->ports, port))
			continue;
		error = t->sysfs < 0
				? -ENODEV
				: counters_read(t->sysfs, port, t->worker->isolation.answer_usec,
						&s.tables[PORT_TABLE_COUNTERS]);
		mask_set(&s.supplied, PORT_ATTR_counters, error == 0);
		r = sink->port(sink->userdata, q, port, error, &s);
	}
	return r;
}

static int run(Target *t, const Query *q, const Sink *sink, bool *gone)
{
	int r;

	if (q->counters)
		return run_counters(t, q, sink);
	r = q->attributes ? run_device(t, q, sink) : 0;

	for (uint32_t port = 1; r == 0 && port <= RDMA_PORT_MAX && !*gone; port++)
		if (port_set_has(&q->ports, port))
			r = run_port(t, q, port, sink, gone);
	return r;
}

int query_run(Worker *w, const Query *q, const Sink *sink)
{
	char text[128] = "";
	bool gone = false;
	Target t;
	int error = q->counters ? target_find(w, q->device, &t) : target_open(w, q->device, &t);
	int r;

	if (error == 0) {
		r = run(&t, q, sink, &gone);
		target_close(&t);
		if (r < 0)
			return r;
		if (gone) {
			contexts_forget(w->contexts, q->device);
			error = -ENODEV;
		}
	}
	if (error == -ENODEV)
		snprintf(text, sizeof(text), "There is no RDMA device with index %u", q->device);
	else if (error < 0)
		snprintf(text, sizeof(text), "Cannot ask the kernel for RDMA device %u: %s",
			 q->device, strerror(-error));
	return sink->end(sink->userdata, q, error, text);
}
