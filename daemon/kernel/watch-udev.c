/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Uevents, by libudev. The public interface of sd-device has only the uevents that udev passes on,
 * and udev passes "remove" on only after its rules have run. libudev has those of the kernel
 * itself.
 */

#include "watch-udev.h"

#include <dirent.h>
#include <fcntl.h>
#include <libudev.h>
#include <limits.h>

#include "log.h"
#include "watch-names.h"

/* A device has one uverbs, and for each port one umad and one issm node: the kernel has room for
 * 8192 ports. */
#define NODES_MAX (3U * 8192U)

/* How long after an enumeration that still had a device whose removal was told the next one comes:
 * twice as long each time, some ten seconds in all. */
#define LEAVING_FIRST_USEC (10 * USEC_PER_MSEC)
#define LEAVING_LAST_USEC  (5120 * USEC_PER_MSEC)

static const char *const subsystems[] = {"infiniband_verbs", "infiniband_mad"};

typedef struct Node {
	char name[16]; /* uverbs0, umad0, issm0 */
	const char *subsystem;
	uint32_t device; /* DEVICE_UNKNOWN: of none of the last enumeration */
	/* The node has come since the last enumeration. Its device may be a new one too, with the
	 * name of one of that enumeration. */
	bool new;
} Node;

/* One of the two groups of uevents. */
typedef struct Listener {
	WatchUdev *watch;
	struct udev_monitor *monitor;
	sd_event_source *source;
} Listener;

struct WatchUdev {
	sd_event *event;
	char *sysfs;
	/* The nodes must be looked up in sysfs: at first, after uevents were lost, and again if
	 * that failed. */
	bool scan;
	Node *nodes; /* the nodes that exist, in no order */
	size_t n_nodes;
	DeviceNames names;
	AttrText *leaving; /* devices whose removal was told, and that are perhaps not gone yet */
	size_t n_leaving;
	sd_event_source *again; /* when to look whether they are */
	uint64_t again_usec;	/* how long that takes */
	Listener kernel, udev;
	const WatchHandler *handler;
	void *userdata;
};

static void report(WatchUdev *w, uint32_t device, EventReason reason)
{
	w->handler->event(w->userdata, &(Event){device, EVENT_ALL_PORTS, reason});
}

/*
 * The device that a node belongs to, from the node's attribute "ibdev". To read it does not make
 * the driver query anything. The path of the node does not tell the device: for virtual devices it
 * has only the class.
 */
static uint32_t read_device(WatchUdev *w, const char *subsystem, const char *node)
{
	char path[PATH_MAX];
	_cleanup_close_ int fd = -EBADF;
	AttrText name = "";
	ssize_t n;

	if (w->names.n == 0 || (size_t)snprintf(path, sizeof(path), "%s/class/%s/%s/ibdev",
						w->sysfs, subsystem, node) >= sizeof(path))
		return DEVICE_UNKNOWN;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return DEVICE_UNKNOWN;
	n = read(fd, name, sizeof(name) - 1);
	if (n <= 0)
		return DEVICE_UNKNOWN;
	name[strcspn(name, "\n")] = '\0';
	return device_names_find(&w->names, name);
}

static Node *append_node(WatchUdev *w, const char *subsystem, const char *name)
{
	Node *node;

	if (w->n_nodes >= NODES_MAX || !array_grow(w->nodes, w->n_nodes))
		return NULL;
	node = &w->nodes[w->n_nodes++];
	text_copy(node->name, sizeof(node->name), name);
	node->subsystem = subsystem;
	node->device = DEVICE_UNKNOWN;
	node->new = true;
	return node;
}

static bool is_node_name(const char *name)
{
	return (startswith(name, "uverbs") || startswith(name, "umad") ||
		startswith(name, "issm")) &&
	       strlen(name) < sizeof(((Node *)NULL)->name);
}

/* Returns false if there may be more nodes, but no memory or no descriptor to look. */
static bool scan_nodes(WatchUdev *w, const char *subsystem)
{
	char path[PATH_MAX];
	struct dirent *entry;
	bool all = true;
	DIR *dir;

	if ((size_t)snprintf(path, sizeof(path), "%s/class/%s", w->sysfs, subsystem) >=
	    sizeof(path))
		return true;
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT; /* the module is not loaded */
	while ((entry = readdir(dir)) && w->n_nodes < NODES_MAX)
		if (is_node_name(entry->d_name) && !append_node(w, subsystem, entry->d_name))
			all = false;
	closedir(dir);
	return all;
}

/*
 * Devices that leave
 *
 * When a device moves to another network namespace, ib_core first sends "remove", and then takes
 * the device out of the list that netlink shows (rdma_dev_change_netns(), 5.10 to 7.3). All that
 * follows is told to the other namespace; only character devices, if there are any, go later. An
 * enumeration in between still has the device.
 */

static AttrText *find_leaving(WatchUdev *w, const char *name)
{
	for (size_t i = 0; i < w->n_leaving; i++)
		if (streq(w->leaving[i], name))
			return &w->leaving[i];
	return NULL;
}

static void begin_leaving(WatchUdev *w, const char *name)
{
	w->again_usec = LEAVING_FIRST_USEC;
	/* without memory the next look at everything finds it */
	if (!find_leaving(w, name) && array_grow(w->leaving, w->n_leaving))
		text_copy(w->leaving[w->n_leaving++], sizeof(AttrText), name);
}

static void end_leaving(WatchUdev *w, const char *name)
{
	AttrText *found = find_leaving(w, name);

	if (found)
		memmove(found, w->leaving[--w->n_leaving], sizeof(*found));
}

static bool is_enumerated(const WatchUdev *w, const char *name)
{
	return device_names_find(&w->names, name) != DEVICE_UNKNOWN;
}

static int on_again(_unused_ sd_event_source *source, _unused_ uint64_t usec, void *userdata)
{
	report(userdata, EVENT_ALL_DEVICES, REASON_DEVICE);
	return 0;
}

/* Looks again as long as one of them is enumerated. */
static void follow_leaving(WatchUdev *w)
{
	int r;

	for (size_t i = w->n_leaving; i > 0; i--)
		if (!is_enumerated(w, w->leaving[i - 1]))
			memmove(w->leaving[i - 1], w->leaving[--w->n_leaving], sizeof(*w->leaving));
	if (w->again_usec > LEAVING_LAST_USEC)
		w->n_leaving = 0; /* it has come back, or it stays */
	w->again = sd_event_source_disable_unref(w->again);
	if (w->n_leaving == 0)
		return;
	r = sd_event_add_time_relative(w->event, &w->again, CLOCK_MONOTONIC, w->again_usec, 0,
				       on_again, w);
	if (r < 0)
		log_debug_errno(r, "cannot wait for a device to leave: %m");
	w->again_usec *= 2;
}

bool watch_udev_is_leaving(const WatchUdev *w)
{
	return w->n_leaving > 0;
}

void watch_udev_devices(WatchUdev *w, const DeviceSnapshot *devices, size_t n)
{
	if (device_names_set(&w->names, devices, n) < 0)
		return; /* without memory; the next enumeration tries again */
	follow_leaving(w);

	if (w->scan) {
		w->n_nodes = 0;
		/* If no uevents can be heard, sysfs must be read each time. */
		w->scan = !w->kernel.source && !w->udev.source;
		for (size_t i = 0; i < ARRAY_SIZE(subsystems); i++)
			if (!scan_nodes(w, subsystems[i]))
				w->scan = true;
	}
	for (size_t i = 0; i < w->n_nodes; i++) {
		Node *node = &w->nodes[i];

		if (node->new || node->device == DEVICE_UNKNOWN)
			node->device = read_device(w, node->subsystem, node->name);
		node->new = false;
	}
}

static void on_node(WatchUdev *w, bool first, const char *action, const char *subsystem,
		    const char *name)
{
	Node *node;
	uint32_t device;

	if (!is_node_name(name))
		return;
	node = array_find(w->nodes, w->n_nodes, name, name);
	if (first && streq(action, "add")) {
		/* The kernel uses a name again at once: the node may belong to another device now.
		 */
		if (!node)
			node = append_node(w, subsystem, name);
		if (node) {
			node->device = read_device(w, subsystem, name);
			node->new = true;
		}
	}
	device = node ? node->device : DEVICE_UNKNOWN;

	if (streq(action, "remove")) {
		if (!first)
			return;
		if (node)
			*node = w->nodes[--w->n_nodes];
		if (device != DEVICE_UNKNOWN) {
			if (startswith(name, "uverbs"))
				w->handler->going(w->userdata, device);
			report(w, device, REASON_CHARDEV);
		} else {
			/* The device of the node is not known. A device that is being removed is
			 * not enumerated any more, so the enumeration shows which one it is. */
			report(w, EVENT_ALL_DEVICES, REASON_DEVICE);
		}
		return;
	}
	/* A device that was not enumerated yet will be, and is then read for the first time. */
	if (device != DEVICE_UNKNOWN)
		report(w, device, REASON_CHARDEV);
}

void watch_udev_uevent(WatchUdev *w, bool first, const char *action, const char *subsystem,
		       const char *devpath)
{
	static const char *const device_actions[] = {"add", "remove", "move", "change"};
	const char *name = strrchr(devpath, '/');

	if (!name)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(subsystems); i++)
		if (streq(subsystem, subsystems[i]))
			on_node(w, first, action, subsystems[i], name + 1);
	if (!first || !streq(subsystem, "infiniband"))
		return;
	if (streq(action, "remove"))
		begin_leaving(w, name + 1);
	else if (streq(action, "add"))
		end_leaving(w, name + 1);
	/* A uevent does not have the kernel index of its device, so all are enumerated. A rename is
	 * a "move". */
	for (size_t i = 0; i < ARRAY_SIZE(device_actions); i++)
		if (streq(action, device_actions[i]))
			report(w, EVENT_ALL_DEVICES, REASON_DEVICE);
}

static void lost(WatchUdev *w)
{
	w->scan = true;
	watch_overrun(w->handler, w->userdata);
}

static int on_io(sd_event_source *source, _unused_ int fd, uint32_t revents, void *userdata)
{
	Listener *l = userdata;
	WatchUdev *w = l->watch;
	bool first = l == &w->kernel || !w->kernel.source;

	if (revents & EPOLLHUP) {
		log_warning("Cannot hear uevents any more");
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
		lost(w);
		return 0;
	}
	for (unsigned int i = 0; i < WATCH_BATCH; i++) {
		struct udev_device *device;
		const char *action, *subsystem, *devpath;

		errno = 0;
		device = udev_monitor_receive_device(l->monitor);
		if (!device) {
			if (errno == ENOBUFS)
				lost(w);
			break;
		}
		action = udev_device_get_action(device);
		subsystem = udev_device_get_subsystem(device);
		devpath = udev_device_get_devpath(device);
		if (action && subsystem && devpath)
			watch_udev_uevent(w, first, action, subsystem, devpath);
		udev_device_unref(device);
	}
	return 0;
}

static void stop(Listener *l)
{
	l->source = sd_event_source_disable_unref(l->source);
	l->monitor = udev_monitor_unref(l->monitor);
}

static int listen_to(WatchUdev *w, Listener *l, const char *group)
{
	struct udev *udev = udev_new();
	int r;

	if (!udev)
		return -errno;
	l->watch = w;
	l->monitor = udev_monitor_new_from_netlink(udev, group);
	udev_unref(udev);
	if (!l->monitor)
		return -errno;
	r = udev_monitor_filter_add_match_subsystem_devtype(l->monitor, "infiniband", NULL);
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(subsystems); i++)
		r = udev_monitor_filter_add_match_subsystem_devtype(l->monitor, subsystems[i],
								    NULL);
	watch_enlarge_buffer(udev_monitor_get_fd(l->monitor));
	if (r >= 0)
		r = udev_monitor_enable_receiving(l->monitor);
	if (r >= 0)
		r = sd_event_add_io(w->event, &l->source, udev_monitor_get_fd(l->monitor), EPOLLIN,
				    on_io, l);
	if (r < 0) {
		stop(l);
		return r;
	}
	sd_event_source_set_description(l->source, group);
	return 0;
}

int watch_udev_listen(WatchUdev *w)
{
	int kernel = listen_to(w, &w->kernel, "kernel");
	int udev = listen_to(w, &w->udev, "udev");

	if (kernel < 0)
		log_warning_errno(kernel, "Cannot hear uevents of the kernel: %m");
	if (udev < 0)
		log_warning_errno(udev, "Cannot hear uevents of udev: %m");
	return kernel < 0 && udev < 0 ? kernel : 0;
}

int watch_udev_new(sd_event *event, const char *sysfs, const WatchHandler *handler, void *userdata,
		   WatchUdev **ret)
{
	_cleanup_(watch_udev_free_pointer) WatchUdev *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->event = sd_event_ref(event);
	w->scan = true;
	w->handler = handler;
	w->userdata = userdata;
	w->sysfs = strdup(sysfs);
	if (!w->sysfs)
		return -ENOMEM;
	*ret = steal_pointer(&w);
	return 0;
}

void watch_udev_free(WatchUdev *w)
{
	if (!w)
		return;
	stop(&w->kernel);
	stop(&w->udev);
	sd_event_source_disable_unref(w->again);
	sd_event_unref(w->event);
	free(w->sysfs);
	free(w->nodes);
	device_names_done(&w->names);
	free(w->leaving);
	free(w);
}
