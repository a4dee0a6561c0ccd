/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel as a source: it connects the watchers and the workers with the core. Nothing in this
 * file waits for anything. */

#include "source-kernel.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "log.h"
#include "pool.h"
#include "watch-devlink.h"
#include "watch-nldev.h"
#include "watch-rtnl.h"
#include "watch-sleep.h"
#include "watch-udev.h"

typedef struct SourceKernel {
	Source source;
	const SourceHandler *handler; /* the core, which hears of events and answers */
	void *userdata;		      /* for the handler */
	Pool *pool;		      /* the workers, which answer queries */
	WatchNldev *nldev;	      /* hears RDMA devices come, go and change (NETLINK_RDMA) */
	WatchUdev *udev;	      /* hears the uevents of devices and character devices */
	WatchRtnl *rtnl;	      /* hears changes of network interfaces */
	WatchDevlink *devlink;	      /* hears of the health of functions */
	WatchSleep *sleep;	      /* NULL while there is no connection to the bus */
	size_t n_left_out;	      /* devices of the last list */
	bool hears_uevents;	      /* udev listens */
	bool warned;		      /* the log says already that NETLINK_RDMA cannot be heard */
	bool warned_devlink;	      /* the same of devlink */
} SourceKernel;

/* From the watchers */

static void on_watch_event(void *userdata, const Event *e)
{
	SourceKernel *k = userdata;

	k->handler->event(k->userdata, e);
}

/* Closes everything that is open of the device now, and not only when the core has enumerated the
 * devices: the kernel may be waiting for it. The core still waits for the query of the device, so
 * that query must end. The core also still believes that a device which hung does hang: tell it
 * that this is over. Otherwise it would believe so for ever if only the character device has gone
 * (rmmod ib_uverbs). */
static void on_watch_going(void *userdata, uint32_t device)
{
	SourceKernel *k = userdata;
	uint64_t id;
	bool wedged;

	log_debug("device %u is going: closing it", device);
	wedged = pool_forget(k->pool, device, &id);
	if (wedged)
		k->handler->event(k->userdata, &(Event){device, EVENT_ALL_PORTS, REASON_RECOVERED});
	if (id)
		k->handler->end(k->userdata, id, -ENODEV, QUERY_ERROR_DEVICE,
				"the device is being removed");
}

static const WatchHandler watch_handler = {on_watch_event, on_watch_going};

/* For the core */

static int listen_nldev(SourceKernel *k)
{
	int r = watch_nldev_listen(k->nldev);

	if (r < 0 && !k->warned) {
		log_warning_errno(r, "Cannot listen for RDMA devices on netlink, continuing: %m");
		k->warned = true;
	}
	return r;
}

/* Machines without RDMA are not asked for devlink: a kernel without it may look for a module. */
static void listen_devlink(SourceKernel *k)
{
	int r = watch_devlink_listen(k->devlink);

	if (r < 0 && !k->warned_devlink) {
		log_warning_errno(r, "Cannot listen for devlink, continuing: %m");
		k->warned_devlink = true;
	}
}

static int kernel_start(Source *s)
{
	SourceKernel *k = (SourceKernel *)s;
	int udev, rtnl, nldev;

	udev = watch_udev_listen(k->udev);
	k->hears_uevents = udev >= 0;
	rtnl = watch_rtnl_listen(k->rtnl);
	if (rtnl < 0)
		log_warning_errno(rtnl, "Cannot listen for network interfaces, continuing: %m");
	nldev = listen_nldev(k);
	return udev < 0 && rtnl < 0 && nldev <= 0 ? udev : 0;
}

static int kernel_enumerate(Source *s, DeviceSnapshot **ret, size_t *ret_n)
{
	SourceKernel *k = (SourceKernel *)s;
	size_t n_left_out;
	int r;

	/* Try to listen again: the kernel modules may have been loaded since, or file descriptors
	 * may be free again. Listen before asking for the devices, so that no change is missed. */
	(void)watch_rtnl_listen(k->rtnl);
	listen_nldev(k);
	r = watch_nldev_enumerate(ret, ret_n, &n_left_out);
	if (r < 0)
		return r;
	if (n_left_out > k->n_left_out)
		log_warning("%zu devices are not served: they have names that no file can have",
			    n_left_out);
	k->n_left_out = n_left_out;
	watch_udev_devices(k->udev, *ret, *ret_n);
	watch_devlink_devices(k->devlink, *ret, *ret_n);
	if (*ret_n)
		listen_devlink(k);
	/* If no device is left, somebody may want to unload ib_core, which the socket would
	 * prevent. The uevent of the next device leads to this function again. */
	if (*ret_n == 0 && k->hears_uevents)
		watch_nldev_release(k->nldev);
	return 0;
}

static int kernel_query(Source *s, const Query *query)
{
	return pool_query(((SourceKernel *)s)->pool, query);
}

static void kernel_hurry(Source *s, uint32_t device)
{
	pool_hurry(((SourceKernel *)s)->pool, device);
}

static void kernel_forget(Source *s, uint32_t device)
{
	SourceKernel *k = (SourceKernel *)s;
	uint64_t id;

	pool_forget(k->pool, device, &id);
	watch_rtnl_forget(k->rtnl, device);
}

static void kernel_netdevs_changed(Source *s, uint32_t device, uint32_t port,
				   const PortSnapshot *now)
{
	SourceKernel *k = (SourceKernel *)s;

	watch_rtnl_port(k->rtnl, device, port, now);
}

static int kernel_bus_changed(Source *s, sd_bus *bus)
{
	SourceKernel *k = (SourceKernel *)s;
	int r;

	k->sleep = watch_sleep_free(k->sleep);
	if (!bus)
		return 0;
	r = watch_sleep_new(bus, on_watch_event, k, &k->sleep);
	if (r < 0)
		log_warning_errno(r, "Cannot watch for suspend and resume, ignoring: %m");
	return 0;
}

/* A look-up of a directory in sysfs asks no driver. The kernel gives each directory that it makes
 * another number. */
static ParentState kernel_parent(_unused_ const Source *s, const char *path, uint64_t *ret_identity)
{
	_cleanup_close_ int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	*ret_identity = 0;
	if (dir < 0)
		return errno == ENOENT ? PARENT_GONE : PARENT_UNKNOWN;
	if (fstat(dir, &st) < 0)
		return PARENT_UNKNOWN;
	*ret_identity = st.st_ino;
	return faccessat(dir, "driver", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ? PARENT_PRESENT
									: PARENT_WITHOUT_DRIVER;
}

/* Kernels 6.12 and later announce RDMA devices themselves, once their RDMA modules are loaded. */
static void kernel_status(const Source *s, SourceStatus *ret)
{
	const SourceKernel *k = (const SourceKernel *)s;

	watch_nldev_status(k->nldev, ret);
}

static void kernel_free(Source *s)
{
	SourceKernel *k = (SourceKernel *)s;

	watch_sleep_free(k->sleep);
	watch_nldev_free(k->nldev);
	watch_udev_free(k->udev);
	watch_rtnl_free(k->rtnl);
	watch_devlink_free(k->devlink);
	pool_free(k->pool);
	free(k);
}

/* clang-format off */
static const SourceOps kernel_ops = {
	.start           = kernel_start,
	.enumerate       = kernel_enumerate,
	.query           = kernel_query,
	.hurry           = kernel_hurry,
	.forget          = kernel_forget,
	.netdevs_changed = kernel_netdevs_changed,
	.bus_changed     = kernel_bus_changed,
	.parent          = kernel_parent,
	.status          = kernel_status,
	.free            = kernel_free,
};
/* clang-format on */

int source_kernel_new(sd_event *event, const Config *config, const char *worker_path,
		      const SourceHandler *handler, void *userdata, Source **ret)
{
	SourceKernel *k = calloc(1, sizeof(*k));
	_cleanup_(source_free_pointer) Source *s = (Source *)k;
	int r;

	if (!k)
		return -ENOMEM;
	k->source.ops = &kernel_ops;
	k->handler = handler;
	k->userdata = userdata;
	r = watch_nldev_new(event, &watch_handler, k, &k->nldev);
	if (r >= 0)
		r = watch_udev_new(event, "/sys", &watch_handler, k, &k->udev);
	if (r >= 0)
		r = watch_rtnl_new(event, "/sys", &watch_handler, k, &k->rtnl);
	if (r >= 0)
		r = watch_devlink_new(event, "/sys", &watch_handler, k, &k->devlink);
	if (r >= 0)
		r = pool_new(event, config, worker_path, handler, userdata, &k->pool);
	if (r < 0)
		return r;
	*ret = steal_pointer(&s);
	return 0;
}
