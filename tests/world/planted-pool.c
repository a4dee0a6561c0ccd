/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Those of the pool. */

#include "planted.h"
#include "pool-device.h"
#include "pool-events.h"
#include "pool-lanes.h"

WRAP(void, pool_report_lost, Pool *p, const Worker *w, const PoolDevice *spoiler)
{
	const Request *head = worker_head(w);

	if (head && head->owner &&
	    is_planted("events of the device that has spoilt its worker are not missed"))
		spoiler = head->owner;
	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i]->asked == w &&
		    is_planted("events that are lost with a worker are not missed"))
			p->devices[i]->asked = NULL;
	__real_pool_report_lost(p, w, spoiler);
}

WRAP(void, pool_report, PoolDevice *d, uint32_t reasons)
{
	if (!(reasons & REASON_BIT(REASON_RECOVERED)) ||
	    !is_planted("a device that answers again does not say so"))
		__real_pool_report(d, reasons);
}

WRAP(void, pool_device_retry_later, PoolDevice *d)
{
	if (!d->wedged || !is_planted("a device that hangs is never tried again"))
		__real_pool_device_retry_later(d);
}

WRAP(void, pool_split, Lane *l)
{
	if (!is_planted("who waits behind a device that is slow goes on waiting"))
		__real_pool_split(l);
}

WRAP(int, pool_set_aside, Lane *l, PoolDevice *d)
{
	if (is_planted("a device that is slow keeps its worker"))
		return -ENOMEM;
	return __real_pool_set_aside(l, d);
}

WRAP(RequestQueue, worker_take_requests, Worker *w)
{
	RequestQueue all = __real_worker_take_requests(w);

	if (is_planted("what was sent to a worker that is lost is not sent again"))
		request_free_all(&all);
	return all;
}

WRAP(bool, pool_admit_event, PoolDevice *d, const Process *process, EventReason reason)
{
	if (process->n_events > POOL_EVENTS_MAX &&
	    is_planted("events of a flood are lost for good"))
		return false;
	return __real_pool_admit_event(d, process, reason);
}

WRAP(void, worker_born, Worker *w, pid_t pid, int pidfd)
{
	if (pidfd < 0 || !is_planted("workers that a nursery forks are not heard of"))
		__real_worker_born(w, pid, pidfd);
}
