/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-target.h"

#include <fcntl.h>
#include <linux/netlink.h>

#include "log.h"
#include "query-nldev.h"
#include "query-sysfs.h"

int worker_init(Worker *w, const PolicyOptions *policy, uint64_t answer_usec)
{
	*w = (Worker){
		.nldev = NETLINK_CLOSED,
		.rtnl = NETLINK_CLOSED,
		.policy = *policy,
		.isolation = {.answer_usec = answer_usec, .stray = -EBADF},
		.kernel = policy_kernel_version(),
		.classes = sysfs_open_directory(AT_FDCWD, "/sys/class"),
		.net = sysfs_open_directory(AT_FDCWD, "/sys/class/net"),
	};
	return contexts_new(&w->contexts);
}

void worker_done(Worker *w)
{
	if (w->contexts)
		contexts_free(w->contexts);
	netlink_close(&w->nldev);
	netlink_close(&w->rtnl);
	close_fd(w->classes);
	close_fd(w->net);
	isolation_done(&w->isolation);
}

/*
 * The device's name now and its directory. The name may change at any time, and another device take
 * the old one: the directory is this device's only if the device was still called so after it was
 * opened.
 */
static int find(Worker *w, Target *t)
{
	int r = nldev_get_device(&w->nldev, t->device, &t->nldev);

	for (int attempt = 0; r == 0 && attempt < 3; attempt++) {
		DeviceSnapshot again = {};

		t->sysfs = sysfs_open_device(t->nldev.values.name);
		r = nldev_get_device(&w->nldev, t->device, &again);
		if (r == 0 && streq(t->nldev.values.name, again.values.name))
			return 0;
		t->sysfs = close_fd(t->sysfs);
		t->nldev = again;
	}
	return r;
}

static Policy decide(Target *t)
{
	AttrText kernel_driver = "";
	PolicyDevice d;
	uint32_t id;

	if (sysfs_read_link(t->sysfs, "device/driver", kernel_driver, sizeof(kernel_driver)) < 0)
		kernel_driver[0] = '\0';
	if (nldev_get_driver_id(&t->worker->nldev, t->device, &id) == 0)
		t->verbs.driver_id = id;
	d = (PolicyDevice){.name = t->nldev.values.name,
			   .kernel_driver = kernel_driver,
			   .driver_id = t->verbs.driver_id,
			   .kernel = t->worker->kernel};
	t->dv = dv_find(&d);
	return policy_decide(&t->worker->policy, &d);
}

/* Whether opening the device did not fail with ERROR last time; remembers it. */
static bool is_news(Worker *w, uint32_t device, int error)
{
	for (size_t i = 0; i < ARRAY_SIZE(w->failures); i++)
		if (w->failures[i].error && w->failures[i].device == device) {
			bool news = w->failures[i].error != error;

			w->failures[i].error = error;
			return news;
		}
	if (error == 0)
		return false;
	w->failures[w->next_failure].device = device;
	w->failures[w->next_failure].error = error;
	w->next_failure = (w->next_failure + 1) % ARRAY_SIZE(w->failures);
	return true;
}

static void open_context(Target *t)
{
	Policy policy = decide(t);
	DeviceSnapshot ignored = {};

	t->open_error = 0;
	t->is_isolated = policy == POLICY_ISOLATE;
	if (policy == POLICY_NEVER_OPEN || policy == POLICY_ISOLATE)
		return;
	t->open_error = contexts_get(t->worker->contexts, t->device, t->nldev.values.name,
				     policy == POLICY_HOLD, &t->context);
	if (is_news(t->worker, t->device, t->open_error) && t->open_error < 0)
		/* on its way out it is no news to anybody */
		log_at(t->open_error == -ENODEV ? LOG_DEBUG : LOG_WARNING, t->open_error,
		       "%s: cannot open it, attributes will be missing: %m", t->nldev.values.name);
	if (t->context)
		(void)verbs_query_device(t->context, &ignored, &t->verbs.cap_flags);
}

int target_find(Worker *w, uint32_t device, Target *ret)
{
	Target t = {.worker = w, .device = device, .sysfs = -EBADF, .verbs.driver_id = -1};
	int r = netlink_open(&w->nldev, NETLINK_RDMA);

	if (r == 0)
		r = find(w, &t);
	if (r < 0) {
		if (r == -ENODEV)
			contexts_forget(w->contexts, device);
		return r;
	}
	t.isolated = isolated_new(&w->isolation, t.nldev.values.name);
	*ret = t;
	return 0;
}

int target_open(Worker *w, uint32_t device, Target *ret)
{
	Target t;
	int r = target_find(w, device, &t);

	if (r < 0)
		return r;
	t.verbs.opa = streq(t.nldev.values.dev_protocol, "opa");
	open_context(&t);
	*ret = t;
	return 0;
}

void target_reopen(Target *t)
{
	if (!t->context)
		return;
	if (!contexts_holds(t->worker->contexts, t->device))
		contexts_put(t->worker->contexts, t->device, t->context);
	t->context = NULL;
	contexts_forget(t->worker->contexts, t->device);
	verbs_gids_done(&t->gids);
	open_context(t);
}

void target_close(Target *t)
{
	isolated_done(&t->isolated);
	if (t->context)
		contexts_put(t->worker->contexts, t->device, t->context);
	verbs_gids_done(&t->gids);
	free(t->ipoib);
	close_fd(t->sysfs);
	device_snapshot_done(&t->nldev);
}
