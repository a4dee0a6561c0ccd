/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "pool-device.h"

#include <inttypes.h>

#include "lane.h"
#include "log.h"
#include "pool-events.h"

/* Where the device with INDEX is in the array, or belongs. */
static size_t position(const Pool *p, uint32_t index)
{
	size_t low = 0, high = p->n_devices;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->devices[middle]->index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

PoolDevice *pool_find_device(const Pool *p, uint32_t index)
{
	size_t i = position(p, index);

	return i < p->n_devices && p->devices[i]->index == index ? p->devices[i] : NULL;
}

/* Puts D on probation, if it is not yet. */
static int isolate(PoolDevice *d)
{
	_cleanup_free_ Lane *l = NULL;
	int r;

	if (d->own)
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	r = lane_init(l, d->pool);
	if (r < 0)
		return r;
	d->own = steal_pointer(&l);
	return 0;
}

void pool_device_release(PoolDevice *d)
{
	Lane *l = steal_pointer(&d->own);

	if (!l)
		return;
	if (l->worker)
		worker_retire(l->worker, d->pool->timing.exit_usec);
	d->asked = NULL;
	lane_done(l);
	free(l);
}

void pool_device_spoil(PoolDevice *d)
{
	int r;

	if (++d->spoilt < POOL_PROBATION_FROM || d->own)
		return;
	r = isolate(d);
	if (r < 0)
		log_warning_errno(r, "%s: no worker of its own, others may suffer: %m", d->name);
	else
		log_notice("%s: spoilt %u workers in a row, gets its own", d->name, d->spoilt);
}

void pool_device_wedge(PoolDevice *d, Worker *w, const Query *query)
{
	d->request = NULL;
	d->stuck = w;
	d->wedged = true;
	d->pending = 0;
	d->probe = *query;
}

void pool_device_recover(PoolDevice *d)
{
	d->wedged = false;
	d->retry_usec = d->pool->timing.retry_usec;
	pool_report(d, REASON_BIT(REASON_RECOVERED));
}

void pool_device_retry_later(PoolDevice *d)
{
	sd_event_source_set_time(d->retry, pool_now_usec(d->pool) + d->retry_usec);
	sd_event_source_set_enabled(d->retry, SD_EVENT_ONESHOT);
	log_debug("%s: next try in %" PRIu64 " ms", d->name, d->retry_usec / USEC_PER_MSEC);
	d->retry_usec = MIN(2 * d->retry_usec, d->pool->timing.retry_max_usec);
}

/* The answer is for the pool alone: it shows that the device answers again. */
static int on_retry(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	PoolDevice *d = userdata;
	_cleanup_free_ Request *request = calloc(1, sizeof(*request));

	if (!request || isolate(d) < 0) {
		pool_device_retry_later(d);
		return 0;
	}
	request->owner = d;
	request->query = d->probe;
	lane_submit(d->own, steal_pointer(&request));
	return 0;
}

PoolDevice *pool_device_free(PoolDevice *d)
{
	if (!d)
		return NULL;
	d->retry = sd_event_source_disable_unref(d->retry);
	free(d);
	return NULL;
}

/* Makes room for one more device. */
static int grow(Pool *p)
{
	size_t allocated = MAX(2 * p->allocated, (size_t)16);
	PoolDevice **devices;

	if (p->n_devices < p->allocated)
		return 0;
	devices = reallocarray(p->devices, allocated, sizeof(PoolDevice *));
	if (!devices)
		return -ENOMEM;
	p->devices = devices;
	p->allocated = allocated;
	return 0;
}

int pool_add_device(Pool *p, uint32_t index, PoolDevice **ret)
{
	size_t i = position(p, index);
	PoolDevice *d;
	int r = grow(p);

	if (r < 0)
		return r;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->pool = p;
	d->index = index;
	d->retry_usec = p->timing.retry_usec;
	r = sd_event_add_time(p->event, &d->retry, CLOCK_MONOTONIC, 0, 5 * USEC_PER_MSEC, on_retry,
			      d);
	if (r < 0) {
		pool_device_free(d);
		return r;
	}
	sd_event_source_set_enabled(d->retry, SD_EVENT_OFF);
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
	pool_device_free(d);
}

const char *pool_device_count_tables(PoolDevice *d, uint32_t port, const PortSnapshot *snapshot)
{
	Pool *p = d->pool;
	uint32_t before = d->port_tables[port], now = 0;

	for (PortTable i = 0; i < _PORT_TABLE_MAX; i++) {
		const Table *t = snapshot->tables[i];

		if (t && i != PORT_TABLE_COUNTERS)
			now += t->n * t->entry_size;
	}
	if (d->tables - before + now > POOL_DEVICE_TABLES_MAX)
		return "the tables of the device are too large together";
	if (p->tables - before + now > POOL_TABLES_MAX)
		return "the tables of all devices are too large together";
	d->port_tables[port] = now;
	d->tables = d->tables - before + now;
	p->tables = p->tables - before + now;
	return NULL;
}
