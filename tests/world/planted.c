/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "planted.h"

#include "bus.h"
#include "change-text.h"
#include "manager-private.h"

const char *planted;

/* clang-format off */
const Plant plants[] = {
	{"an event about a port that is being asked is dropped", 1},
	{"a query of a worker answers all reasons", 2},
	{"the answer of an ended query counts for the next", 9},
	{"the end of an ended query ends the next", 1},
	{"what is left for later is forgotten", 1},
	{"what is left counts as read with any answer", 1},
	{"a port that fails forgets why it was asked", 10},
	{"a port is looked at once after an event", 1},
	{"a query that has failed is not repeated", 1},
	{"a flush is spared although devices are due", 1},
	{"an overrun during a look is dropped", 2},
	{"a recovery while devices are due is dropped", 1},
	{"a port goes silently", 1},
	{"a change is not said while the bus takes nothing", 1},
	{"a device is not said while the bus takes nothing", 1},
	{"calls for a reading wait for ever", 1},
	{"calls about what has gone wait for ever", 1},
	{"Refresh() is not answered after a look", 1},
	{"what waits for the record outlives its port", 1},
	{"a device that has gone stays in the record", 1},
	{"what a query that ends early has not answered is forgotten", 2},
	{"an answer of another port ends the retry of one that failed", 2},
	{"ports that settle are forgotten while a query goes on", 1},
	{"an event about all ports leaves out those that are being asked", 1},
	{"the devices are not listed while one is being asked", 1},
	{"an event of a device that comes during a look is dropped", 1},
	{"an event about a device that is not known yet is dropped", 1},
	{"an event before a flush that is due is dropped", 1},
	{"a name that changes while a port is stale is dropped", 1},
	{"who has left is told whose the connection was", 1},
	{"an event of a port that has failed is dropped", 1},
	{"a port that goes while its device hangs stays in the memory", 1},
	{"a port that answers before its siblings is not in the memory", 1},
	{"a device that goes during a look goes silently", 1},
	{"the judge is not told of another name", 1},
	{"a change while the judge is due is not judged", 1},
	{"the judge keeps a port that has gone", 1},
	{"a port that failed when its segment began is well in the record", 1},
	{"a device that gets another name keeps its old one in the record", 1},
	{"a port that answers first in a later segment is not in the record", 1},
	{"what has not changed in a table of a device is recorded too", 1},
	/* planted-pool.c */
	{"events that are lost with a worker are not missed", 1000001},
	{"events of the device that has spoilt its worker are not missed", 1000001},
	{"a device that answers again does not say so", 1000001},
	{"a device that hangs is never tried again", 1000001},
	{"who waits behind a device that is slow goes on waiting", 1000001},
	{"a device that is slow keeps its worker", 1000001},
	{"what was sent to a worker that is lost is not sent again", 1000001},
	{"events of a flood are lost for good", 1000001},
	{"workers that a nursery forks are not heard of", 1000001},
};
/* clang-format on */
const size_t n_plants = ARRAY_SIZE(plants);

bool is_planted(const char *name)
{
	return planted && streq(planted, name);
}

/* What is to be asked */

static bool is_stale(const Schedule *w, uint32_t number)
{
	const Port *p = device_port(w->device, number);

	return p && p->now.values.stale;
}

int __real_schedule_mark(Schedule *w, uint32_t port, EventReason reason);

static int mark_others(Schedule *w, EventReason reason)
{
	int r = 0;

	for (uint32_t n = 1; r >= 0 && n <= w->device->n_ports; n++)
		if (!schedule_is_asked(w, n))
			r = __real_schedule_mark(w, n, reason);
	return r;
}

WRAP(int, schedule_mark, Schedule *w, uint32_t port, EventReason reason)
{
	bool is_asked = w->asked_id && port <= RDMA_PORT_MAX && port != EVENT_ALL_PORTS &&
			schedule_is_asked(w, port);

	if (is_asked && is_planted("an event about a port that is being asked is dropped"))
		return 0;
	if (w->asked_id && port == EVENT_ALL_PORTS &&
	    is_planted("an event about all ports leaves out those that are being asked"))
		return mark_others(w, reason);
	if (is_stale(w, port) && is_planted("an event of a port that has failed is dropped"))
		return 0;
	return __real_schedule_mark(w, port, reason);
}

WRAP(bool, schedule_adopt, Schedule *w, uint64_t now_usec, const Query *q)
{
	bool adopted = __real_schedule_adopt(w, now_usec, q);

	for (uint32_t n = 1; adopted && n <= w->device->n_ports && n < w->n_reasons; n++)
		if (port_set_has(&q->ports, n) &&
		    is_planted("a query of a worker answers all reasons")) {
			w->next.n -= w->next.ports[n].is_in;
			w->next.ports[n].is_in = false;
			w->next.ports[n].parts = 0;
		}
	return adopted;
}

WRAP(void, schedule_later, Schedule *w)
{
	if (w->asked_id && is_planted("what is left for later is forgotten"))
		for (uint32_t n = 0; n < w->n_reasons; n++)
			w->later_ports[n].left = 0;
	__real_schedule_later(w);
}

WRAP(void, schedule_set_read, Schedule *w, uint32_t port, unsigned int parts)
{
	if (is_planted("what is left counts as read with any answer"))
		parts = READ_ALL;
	__real_schedule_set_read(w, port, parts);
}

WRAP(void, schedule_keep_reasons, Schedule *w, uint32_t port)
{
	if (!is_planted("a port that fails forgets why it was asked"))
		__real_schedule_keep_reasons(w, port);
}

WRAP(uint64_t, schedule_next_settle, Schedule *w)
{
	while (w->settle_step > 0 && is_planted("a port is looked at once after an event") &&
	       __real_schedule_next_settle(w))
		;
	return __real_schedule_next_settle(w);
}

WRAP(uint64_t, schedule_next_retry, Schedule *w)
{
	uint64_t delay = __real_schedule_next_retry(w);

	return is_planted("a query that has failed is not repeated") ? 3600 * USEC_PER_SEC : delay;
}

WRAP(void, schedule_end, Schedule *w, uint64_t now_usec)
{
	if (is_planted("what a query that ends early has not answered is forgotten"))
		for (uint32_t n = 0; n < w->n_reasons; n++)
			if (schedule_is_asked(w, n))
				(void)schedule_take_answer(w, n);
	if (w->asked.n == 0 && w->device->n_ports > 1 &&
	    is_planted("an answer of another port ends the retry of one that failed"))
		schedule_stop_retry(w);
	__real_schedule_end(w, now_usec);
}

WRAP(void, schedule_settle, Schedule *w)
{
	if (w->asked_id && is_planted("ports that settle are forgotten while a query goes on"))
		for (uint32_t n = 0; n < w->n_reasons; n++) {
			w->n_settling -= w->later_ports[n].is_settling;
			w->later_ports[n].is_settling = false;
		}
	__real_schedule_settle(w);
}

/* Events and answers */

static bool is_asking(const Manager *m)
{
	for (size_t i = 0; i < m->cache.n_devices; i++)
		if (m->cache.devices[i]->schedule->asked_id)
			return true;
	return false;
}

WRAP(void, manager_enumerate, Manager *m)
{
	if (!is_asking(m) || !is_planted("the devices are not listed while one is being asked"))
		__real_manager_enumerate(m);
}

WRAP(void, manager_spare_flush, Manager *m)
{
	if (is_planted("a flush is spared although devices are due"))
		sd_event_source_set_enabled(m->flush, SD_EVENT_OFF);
	else
		__real_manager_spare_flush(m);
}

WRAP(void, manager_on_event, void *userdata, const Event *e)
{
	const Manager *m = userdata;

	if (e->reason == REASON_OVERRUN && m->looking &&
	    is_planted("an overrun during a look is dropped"))
		return;
	if (e->reason == REASON_RECOVERED && m->devices_due &&
	    is_planted("a recovery while devices are due is dropped"))
		return;
	if (e->reason == REASON_DEVICE && m->looking &&
	    is_planted("an event of a device that comes during a look is dropped"))
		return;
	if (e->device != EVENT_ALL_DEVICES && !cache_device(&m->cache, e->device) &&
	    is_planted("an event about a device that is not known yet is dropped"))
		return;
	if (timer_runs(m->flush) && is_planted("an event before a flush that is due is dropped"))
		return;
	__real_manager_on_event(userdata, e);
}

/* ID, or that of the query of the same device that is under way */
static uint64_t confuse(const Manager *m, uint64_t id)
{
	const Device *d = cache_device(&m->cache, (uint32_t)id);

	return d && d->schedule->asked_id ? d->schedule->asked_id : id;
}

WRAP(void, manager_on_port, void *userdata, uint64_t id, uint32_t port, int error,
     PortSnapshot *snapshot)
{
	if (is_planted("the answer of an ended query counts for the next"))
		id = confuse(userdata, id);
	__real_manager_on_port(userdata, id, port, error, snapshot);
}

WRAP(void, manager_on_end, void *userdata, uint64_t id, int error, QueryErrorCode code,
     const char *text)
{
	if (is_planted("the end of an ended query ends the next"))
		id = confuse(userdata, id);
	__real_manager_on_end(userdata, id, error, code, text);
}

WRAP(void, cache_apply_port_name, Port *p, uint64_t now, PortChange *ret)
{
	if (!p->now.values.stale ||
	    !is_planted("a name that changes while a port is stale is dropped"))
		__real_cache_apply_port_name(p, now, ret);
}

WRAP(void, manager_announce_device, Manager *m, Device *d, CacheOp op)
{
	if (op != CACHE_REMOVED || !m->looking ||
	    !is_planted("a device that goes during a look goes silently"))
		__real_manager_announce_device(m, d, op);
}

WRAP(void, shared_memory_put, SharedMemory *memory, Port *p, bool changed)
{
	if (p->device->schedule->asked.n == 0 ||
	    !is_planted("a port that answers before its siblings is not in the memory"))
		__real_shared_memory_put(memory, p, changed);
}

WRAP(void, shared_memory_remove, SharedMemory *memory, Port *p)
{
	if (!p->device->schedule->wedged ||
	    !is_planted("a port that goes while its device hangs stays in the memory"))
		__real_shared_memory_remove(memory, p);
}

WRAP(void, manager_health_port, Manager *m, PortChange *change)
{
	if (change->cause == CHANGE_LIST && is_planted("the judge is not told of another name"))
		return;
	if (m->health_soon && is_planted("a change while the judge is due is not judged"))
		return;
	__real_manager_health_port(m, change);
}

WRAP(void, manager_health_forget_port, Manager *m, Port *p)
{
	if (!is_planted("the judge keeps a port that has gone"))
		__real_manager_health_forget_port(m, p);
}

/* The bus */

static bool is_blocked(const Bus *b)
{
	uint64_t n = 0;

	return sd_bus_get_n_queued_write(bus_connection(b), &n) >= 0 && n > 0;
}

WRAP(void, bus_publish_port, Bus *b, const PortChange *change)
{
	if (!is_blocked(b) || !is_planted("a change is not said while the bus takes nothing"))
		__real_bus_publish_port(b, change);
}

WRAP(void, bus_publish_device, Bus *b, const DeviceChange *change)
{
	if (!is_blocked(b) || !is_planted("a device is not said while the bus takes nothing"))
		__real_bus_publish_device(b, change);
}

WRAP(void, bus_publish_port_removed, Bus *b, const Port *p)
{
	if (!is_planted("a port goes silently"))
		__real_bus_publish_port_removed(b, p);
}

WRAP(void, bus_resume_calls, PendingList *list)
{
	if (!is_planted("calls for a reading wait for ever"))
		__real_bus_resume_calls(list);
}

WRAP(void, manager_refuse_calls, Device *d, uint32_t port, int error, const char *text)
{
	if (error != -ENODEV || !is_planted("calls about what has gone wait for ever"))
		__real_manager_refuse_calls(d, port, error, text);
}

WRAP(void, caller_wait_cancel, CallerWait *wait)
{
	if (!is_planted("who has left is told whose the connection was"))
		__real_caller_wait_cancel(wait);
}

WRAP(void, bus_answer_refresh, PendingList *list, int error)
{
	if (error < 0 || !is_planted("Refresh() is not answered after a look"))
		__real_bus_answer_refresh(list, error);
}

/* The record */

WRAP(void, manager_record_settle, Manager *m)
{
	if (!is_planted("what waits for the record outlives its port"))
		__real_manager_record_settle(m);
}

WRAP(void, change_put_removed, GString *to, const ChangeTime *t, const char *name)
{
	if (!is_planted("a device that has gone stays in the record"))
		__real_change_put_removed(to, t, name);
}

WRAP(void, change_put_errors, GString *to, const ChangeTime *t, const Device *d)
{
	if (!is_planted("a port that failed when its segment began is well in the record"))
		__real_change_put_errors(to, t, d);
}

WRAP(void, change_put_renamed, GString *to, const ChangeTime *t, const char *was,
     const DeviceChange *c, const AttrMask *rows)
{
	if (!is_planted("a device that gets another name keeps its old one in the record"))
		__real_change_put_renamed(to, t, was, c, rows);
}

WRAP(void, change_put_first, GString *to, const ChangeTime *t, const char *name, uint32_t number,
     const PortSnapshot *is, bool is_back, uint32_t reasons, bool is_open)
{
	if (!is_planted("a port that answers first in a later segment is not in the record"))
		__real_change_put_first(to, t, name, number, is, is_back, reasons, is_open);
}

WRAP(void, change_put_device, GString *to, const ChangeTime *t, const DeviceChange *c,
     const AttrMask *rows)
{
	DeviceChange other = *c;

	if (is_planted("what has not changed in a table of a device is recorded too"))
		memset(other.was.tables, 0, sizeof(other.was.tables));
	__real_change_put_device(to, t, &other, rows);
}
