/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "pool-device.h"

#include <inttypes.h>

#include "lane.h"
#include "log.h"
#include "pool-events.h"
#include "pool-lanes.h"

/* Where the device with INDEX is in the array, or belongs. */
static size_t position(const Pool *p, uint32_t index)
{
	return array_place(p->n_devices, i, p->devices[i]->index < index);
}

PoolDevice *pool_find_device(const Pool *p, uint32_t index)
{
	size_t i = position(p, index);

	return i < p->n_devices && p->devices[i]->index == index ? p->devices[i] : NULL;
}

void pool_device_spoil(PoolDevice *d)
{
	int r;

	if (++d->spoilt < POOL_PROBATION_FROM)
		return;
	r = pool_isolate(d);
	if (r < 0)
		log_warning_errno(r, "%s: no worker of its own, others may suffer: %m", d->name);
	else if (d->spoilt == POOL_PROBATION_FROM)
		log_notice("%s: spoilt %u workers in a row, gets its own", d->name, d->spoilt);
}

void pool_device_wedge(PoolDevice *d, const Query *query)
{
	d->request = NULL;
	d->asked = NULL;
	d->wedged = true;
	d->lane->over = false;
	d->pending = 0;
	d->probe = (__typeof__(d->probe)){query->id,	 query->kind,  query->attributes,
					  query->health, query->parts, query->links_generation};
	for (uint32_t i = 0; i < d->n_ports; i++)
		d->ports[i].is_probed = port_set_has(&query->ports, i);
	d->retry_at_usec = 0;
}

void pool_device_answer(PoolDevice *d, bool prompt)
{
	bool late = d->wedged;

	d->heard = true;
	d->proven = !late;
	if (late) {
		log_notice("%s: answers again, after all", d->name);
		d->wedged = false;
		d->retry_usec = d->pool->timing.retry_usec;
		pool_report(d, REASON_BIT(REASON_RECOVERED));
	}
	if (!d->lane->owner) {
		d->spoilt = 0;
		return;
	}
	if (prompt && d->spoilt >= POOL_PROBATION_FROM) {
		log_notice("%s: answers in time, ends its probation", d->name);
		/* The next worker that it spoils brings it back there. */
		d->spoilt = POOL_PROBATION_FROM - 1;
	}
	d->lane->over = prompt || (late && d->spoilt < POOL_PROBATION_FROM);
	if (d->lane->over) {
		d->retry_usec = d->pool->timing.retry_usec;
		d->retry_at_usec = 0;
	}
}

/* The timer fires at USEC at the latest. */
static void await_retry(Pool *p, uint64_t usec)
{
	uint64_t at = UINT64_MAX;
	int enabled = SD_EVENT_OFF;

	sd_event_source_get_enabled(p->retry, &enabled);
	if (enabled != SD_EVENT_OFF)
		sd_event_source_get_time(p->retry, &at);
	if (usec >= at)
		return;
	sd_event_source_set_time(p->retry, usec);
	sd_event_source_set_enabled(p->retry, SD_EVENT_ONESHOT);
}

static void retry_at(PoolDevice *d, uint64_t usec)
{
	d->retry_at_usec = usec;
	await_retry(d->pool, usec);
}

void pool_device_retry_later(PoolDevice *d)
{
	d->has_turn = false;
	retry_at(d, pool_now_usec(d->pool) + d->retry_usec);
	log_debug("%s: next try in %" PRIu64 " ms", d->name, d->retry_usec / USEC_PER_MSEC);
	d->retry_usec = MIN(2 * d->retry_usec, d->pool->timing.retry_max_usec);
}

/* Many devices may have hung at the same time, but their probes do not start at the same time: each
 * has its turn. Returns whether D has it now; if not, the timer is set to it. */
static bool take_turn(PoolDevice *d)
{
	Pool *p = d->pool;
	uint64_t now = pool_now_usec(p), turn = MAX(p->turn_usec, now);

	if (d->has_turn)
		return true;
	p->turn_usec = turn + p->timing.turn_usec;
	if (turn == now)
		return true;
	d->has_turn = true;
	retry_at(d, turn);
	return false;
}

/* The answer of a wedged device is for the pool alone: it shows that the device answers again. */
static void retry(PoolDevice *d)
{
	_cleanup_free_ Request *request = NULL;

	if (!take_turn(d))
		return;
	if (!d->wedged) {
		/* The device is slow. The core asks it again, so that it may go back to its home.
		 */
		pool_report(d, REASON_BIT(REASON_RECOVERED));
		return;
	}
	request = calloc(1, sizeof(*request));
	if (!request || pool_isolate(d) < 0) {
		pool_device_retry_later(d);
		return;
	}
	request->owner = d;
	request->query = (Query){.kind = d->probe.kind,
				 .id = d->probe.id,
				 .device = d->index,
				 .adapter = d->adapter,
				 .attributes = d->probe.attributes,
				 .health = d->probe.health,
				 .parts = d->probe.parts,
				 .links_generation = d->probe.links_generation};
	memcpy(request->query.name, d->name, sizeof(d->name));
	for (uint32_t i = 0; i < d->n_ports; i++)
		if (d->ports[i].is_probed)
			port_set_add(&request->query.ports, i);
	lane_submit(d->lane, steal_pointer(&request));
}

/* Tries the first device whose time has come. The next one has the next turn of the event loop. */
static int on_retry(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Pool *p = userdata;
	PoolDevice *first = NULL;
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < p->n_devices; i++) {
		PoolDevice *d = p->devices[i];

		if (!d->retry_at_usec)
			continue;
		if (!first || d->retry_at_usec < first->retry_at_usec) {
			next = first ? first->retry_at_usec : next;
			first = d;
		} else {
			next = MIN(next, d->retry_at_usec);
		}
	}
	if (first && first->retry_at_usec > pool_now_usec(p)) {
		await_retry(p, first->retry_at_usec);
	} else if (first) {
		await_retry(p, next);
		first->retry_at_usec = 0;
		retry(first);
	}
	return 0;
}

int pool_devices_init(Pool *p)
{
	int r = sd_event_add_time(p->event, &p->retry, CLOCK_MONOTONIC, 0, 5 * USEC_PER_MSEC,
				  on_retry, p);

	return r < 0 ? r : sd_event_source_set_enabled(p->retry, SD_EVENT_OFF);
}

static void device_free(PoolDevice *d)
{
	free(d->ports);
	free(d);
}

void pool_devices_done(Pool *p)
{
	for (size_t i = 0; i < p->n_devices; i++)
		device_free(p->devices[i]);
	free(p->devices);
	p->retry = sd_event_source_disable_unref(p->retry);
}

int pool_add_device(Pool *p, uint32_t index, PoolDevice **ret)
{
	size_t i = position(p, index);
	PoolDevice *d;

	if (!array_grow(p->devices, p->n_devices))
		return -ENOMEM;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->pool = p;
	d->home = d->lane = &p->main[p->n_devices / POOL_MAIN_DEVICES % p->n_main];
	d->index = index;
	d->retry_usec = p->timing.retry_usec;
	memmove(&p->devices[i + 1], &p->devices[i], (p->n_devices - i) * sizeof(d));
	p->devices[i] = d;
	p->n_devices++;
	*ret = d;
	return 0;
}

void pool_remove_device(PoolDevice *d)
{
	Pool *p = d->pool;
	size_t i = position(p, d->index);

	p->n_devices--;
	p->tables -= d->tables;
	memmove(&p->devices[i], &p->devices[i + 1], (p->n_devices - i) * sizeof(d));
	device_free(d);
}

int pool_device_reserve(PoolDevice *d, uint32_t port)
{
	uint32_t n = port + 1;
	PoolPort *ports;

	if (n <= d->n_ports)
		return 0;
	ports = reallocarray(d->ports, n, sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	memset(ports + d->n_ports, 0, (n - d->n_ports) * sizeof(*ports));
	d->ports = ports;
	d->n_ports = n;
	return 0;
}

const char *pool_device_count_tables(PoolDevice *d, uint32_t port, const PortSnapshot *snapshot)
{
	Pool *p = d->pool;
	uint32_t before = d->ports[port].tables, now = 0;

	for (PortTable i = 0; i < _PORT_TABLE_MAX; i++) {
		const Table *t = snapshot->tables[i];

		if (t && i != PORT_TABLE_COUNTERS && i != PORT_TABLE_USERS)
			now += t->n * t->entry_size;
	}
	if (d->tables - before + now > POOL_DEVICE_TABLES_MAX)
		return "the tables of the device are too large together";
	if (p->tables - before + now > POOL_TABLES_MAX)
		return "the tables of all devices are too large together";
	d->ports[port].tables = now;
	d->tables = d->tables - before + now;
	p->tables = p->tables - before + now;
	return NULL;
}
