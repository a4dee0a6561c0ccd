/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-target.h"

#include <linux/netlink.h>

#include "log.h"
#include "query-function.h"
#include "query-sysfs.h"
#include "query-unlisted.h"
#include "query-unmeasured.h"

/*
 * The name may change at any time, and another device may take the old one. So the directory is
 * this device's only if the device still has the name after the directory was opened.
 */
int target_sysfs(Target *t)
{
	for (int attempt = 0; t->sysfs < 0 && attempt < 3; attempt++) {
		_cleanup_(device_snapshot_done) DeviceSnapshot now = {};
		int fd = sysfs_open_device(t->name);
		bool same;

		if (nldev_get_device(&t->querier->nldev, t->device, &now) < 0) {
			close_fd(fd);
			break;
		}
		same = streq(t->name, TEXT_OF(&now.values, name));
		text_copy(t->name, sizeof(t->name), TEXT_OF(&now.values, name));
		if (same)
			t->sysfs = fd;
		else
			close_fd(fd);
	}
	return t->sysfs;
}

/* Learns what the device is like, and decides what to do with it. */
static void learn(Target *t)
{
	Known *k = t->known;
	AttrText kernel_driver = "";
	PolicyDevice d;

	(void)sysfs_read_link(target_sysfs(t), "device/driver", kernel_driver,
			      sizeof(kernel_driver));
	t->has_chardev = nldev_get_chardev(&t->querier->nldev, t->device, &t->chardev) == 0;
	k->verbs.driver_id = t->has_chardev ? (int64_t)t->chardev.driver_id : -1;
	k->verbs.opa = t->nldev.values.dev_protocol == PROTOCOL_OPA;
	k->verbs.incomplete = k->verbs.opa;
	memcpy(k->name, t->name, sizeof(k->name));
	d = (PolicyDevice){.name = k->name,
			   .kernel_driver = kernel_driver,
			   .driver_id = k->verbs.driver_id,
			   .kernel = t->querier->kernel};
	k->dv = dv_find(&d);
	d.exclusive = k->dv && k->dv->exclusive;
	k->unmeasured = unmeasured_rows(&d);
	k->policy = policy_decide(&t->querier->policy, &d, &k->why_polled);
	/* The policy may be another one since the device was renamed. */
	if (k->policy != POLICY_HOLD)
		contexts_forget(t->querier->contexts, t->device);
}

/* Says once for each reason that a device cannot be opened. */
static void note_open_error(Target *t)
{
	if (t->open_error == t->known->open_error)
		return;
	t->known->open_error = t->open_error;
	if (t->open_error < 0)
		/* A device that is being removed cannot be opened: nobody needs to know. The planes
		 * of an adapter (SMI) never can. */
		log_at(t->open_error == -ENODEV	 ? LOG_DEBUG
		       : t->open_error == -ENXIO ? LOG_INFO
						 : LOG_WARNING,
		       t->open_error, "%s: attributes will be missing: %s (%m)", t->name,
		       open_error_find(t->open_error)->why->text);
}

/* As contexts_get(), but what libibverbs does not list gets the errno of unlisted_error(). */
static int get_context(Target *t, bool hold)
{
	Contexts *contexts = t->querier->contexts;
	bool unlisted = t->known->verbs.driver_id < 0 && !contexts_holds(contexts, t->device);
	int r;

	if (!unlisted) {
		r = contexts_get(contexts, t->device, t->name, hold, &t->context);
		unlisted = r == -ENODEV && !contexts_lists(contexts, t->device);
	}
	return unlisted ? unlisted_error(&t->querier->nldev, t->device, t->name) : r;
}

static void open_context(Target *t)
{
	Known *k = t->known;
	_cleanup_(device_snapshot_done) DeviceSnapshot ignored = {};

	t->tried_open = true;
	t->is_isolated = k->policy == POLICY_ISOLATE;
	if (k->policy == POLICY_NEVER_OPEN || k->policy == POLICY_ISOLATE)
		return;
	t->open_error = get_context(t, k->policy == POLICY_HOLD);
	note_open_error(t);
	if (t->context && !k->has_cap_flags)
		k->has_cap_flags =
			verbs_query_device(t->context, &ignored, &k->verbs.cap_flags) == 0;
}

/* Before the device is opened: somebody who removes it may hold the lock of its devlink instance,
 * and wait until it is closed. */
static void read_health(Target *t)
{
	DevlinkHandle handle;
	AttrPath parent;
	int r;

	if (function_find(target_sysfs(t), t->name, parent) < 0 ||
	    !devlink_handle(t->sysfs, parent, &handle))
		return;
	r = devlink_read_health(&t->querier->devlink, &handle, &t->health);
	t->has_health = r == 0;
	if (r < 0 && r != -EOPNOTSUPP && r != -ENODEV)
		log_debug_errno(r, "%s: devlink %s/%s: %m", t->name, handle.bus, handle.device);
}

/* Whether what is known of the device from before still holds. */
static bool is_familiar(const Target *t, const char *name)
{
	return !t->query->attributes && t->known->verbs.driver_id >= 0 &&
	       streq(t->known->name, name);
}

/* Whether Q asks the kernel about its device anyway: netlink is asked about the port, which says
 * too if there is no such device. */
static bool asks_netlink(const Query *q)
{
	return q->parts && !(q->parts & ~(unsigned int)(READ_LINKS | READ_DCB | READ_SIGNAL)) &&
	       !q->attributes && q->kind == QUERY_ATTRIBUTES;
}

/* The parts of a port that are read with a context */
#define NEEDS_CONTEXT (READ_VERBS | READ_GIDS | READ_DIRECT)

int target_open(Querier *querier, const Query *q, Target *ret)
{
	Target t = {.querier = querier,
		    .query = q,
		    .device = q->device,
		    .known = known_add(&querier->known, q->device),
		    .sysfs = -EBADF};
	int r = t.known ? netlink_open(&querier->nldev, NETLINK_RDMA) : -ENOMEM;

	memcpy(t.name, q->name, sizeof(t.name));
	if (r == 0 && (!is_familiar(&t, q->name) ||
		       !(contexts_holds(querier->contexts, q->device) || asks_netlink(q)))) {
		r = nldev_get_device(&querier->nldev, t.device, &t.nldev);
		text_copy(t.name, sizeof(t.name), TEXT_OF(&t.nldev.values, name));
		t.known->first_port = device_first_port(&t.nldev);
		if (r == 0 && q->kind == QUERY_ATTRIBUTES && !is_familiar(&t, t.name))
			learn(&t);
	}
	if (r < 0) {
		if (r == -ENODEV)
			querier_forget(querier, q->device);
		return r;
	}
	if (q->health)
		read_health(&t);
	t.isolated = isolated_new(&querier->isolation, t.name, q->spares_library);
	if (q->kind == QUERY_ATTRIBUTES && (q->attributes || q->parts & NEEDS_CONTEXT ||
					    contexts_holds(querier->contexts, q->device)))
		open_context(&t);
	*ret = t;
	return 0;
}

void target_open_context(Target *t)
{
	if (!t->tried_open)
		open_context(t);
}

bool target_is_gone(Target *t)
{
	_cleanup_(device_snapshot_done) DeviceSnapshot now = {};
	int r = nldev_get_device(&t->querier->nldev, t->device, &now);

	if (r == 0)
		text_copy(t->name, sizeof(t->name), TEXT_OF(&now.values, name));
	return r == -ENODEV;
}

void target_reopen(Target *t)
{
	if (!t->context)
		return;
	if (!contexts_holds(t->querier->contexts, t->device))
		contexts_put(t->querier->contexts, t->device, t->context);
	t->context = NULL;
	contexts_retire(t->querier->contexts, t->device);
	verbs_gids_done(&t->gids);
	open_context(t);
}

void target_close(Target *t)
{
	isolated_done(&t->isolated);
	if (t->context)
		contexts_put(t->querier->contexts, t->device, t->context);
	verbs_gids_done(&t->gids);
	close_fd(t->sysfs);
	table_free(t->health);
	device_snapshot_done(&t->nldev);
}

int target_ipoib(Target *t, Ipoib **ret, size_t *ret_n)
{
	Querier *querier = t->querier;
	Ipoib *entries;
	size_t n;
	int r;

	if (!querier->ipoib_read || querier->ipoib_generation != t->query->links_generation) {
		r = netdev_open(&querier->rtnl);
		if (r == 0)
			r = netdev_list_ipoib(&querier->rtnl, &entries, &n);
		if (r < 0)
			return r;
		netdev_ipoib_free(querier->ipoib, querier->n_ipoib);
		querier->ipoib = entries;
		querier->n_ipoib = n;
		querier->ipoib_generation = t->query->links_generation;
		querier->ipoib_read = true;
	}
	*ret = querier->ipoib;
	*ret_n = querier->n_ipoib;
	return 0;
}
