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
};
/* clang-format on */
const size_t n_plants = ARRAY_SIZE(plants);

static bool is_planted(const char *name)
{
	return planted && streq(planted, name);
}

#define WRAP(type, name, ...)                                                                      \
	type __real_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__)

/* What is to be asked */

WRAP(int, schedule_mark, Schedule *w, uint32_t port, EventReason reason)
{
	bool is_asked = w->asked_id && port <= RDMA_PORT_MAX && port != EVENT_ALL_PORTS &&
			port_set_has(&w->asked.ports, port);

	if (is_asked && is_planted("an event about a port that is being asked is dropped"))
		return 0;
	return __real_schedule_mark(w, port, reason);
}

WRAP(bool, schedule_adopt, Schedule *w, uint64_t now_usec, const Query *q)
{
	bool adopted = __real_schedule_adopt(w, now_usec, q);

	for (uint32_t n = 1; adopted && n <= w->device->n_ports && n < w->n_reasons; n++)
		if (port_set_has(&q->ports, n) &&
		    is_planted("a query of a worker answers all reasons")) {
			port_set_remove(&w->next.ports, n);
			w->next.parts[n] = 0;
		}
	return adopted;
}

WRAP(void, schedule_later, Schedule *w)
{
	if (w->asked_id && is_planted("what is left for later is forgotten"))
		memset(w->left, 0, w->n_reasons);
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

/* Events and answers */

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
