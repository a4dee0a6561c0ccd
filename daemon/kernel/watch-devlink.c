/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The health of the functions of RDMA devices, by listening to devlink. */

#include "watch-devlink.h"

#include <dirent.h>
#include <limits.h>
#include <linux/genetlink.h>
#include <sys/socket.h>

#include "watch-names.h"
#include "watch-socket.h"

/* A function has one RDMA device, and on some machines one for each of its ports. */
#define DEVICES_MAX 64U

struct WatchDevlink {
	WatchSocket socket;
	char *sysfs;
	GenlFamily family;
	bool is_known; /* the kernel was asked for the family */
	DeviceNames names;
};

/* Whether TEXT can be the name of a directory in sysfs, and no way out of it. */
static bool is_name(const char *text)
{
	return *text && !strchr(text, '/') && !streq(text, ".") && !streq(text, "..");
}

/* Reports the RDMA devices of the function that H stands for. To read the directory makes no driver
 * query anything. A device that was not enumerated yet will be, and is then read. */
static void report(WatchDevlink *w, const DevlinkHandle *h)
{
	char path[PATH_MAX];
	struct dirent *entry;
	unsigned int n = 0;
	DIR *dir;

	if (!is_name(h->bus) || !is_name(h->device) ||
	    (size_t)snprintf(path, sizeof(path), "%s/bus/%s/devices/%s/infiniband", w->sysfs,
			     h->bus, h->device) >= sizeof(path))
		return;
	dir = opendir(path);
	if (!dir)
		return; /* no RDMA device is on it */
	while (n < DEVICES_MAX && (entry = readdir(dir))) {
		uint32_t device = device_names_find(&w->names, entry->d_name);

		if (device == DEVICE_UNKNOWN)
			continue;
		n++;
		watch_socket_report(&w->socket, &(Event){device, EVENT_ALL_PORTS, REASON_DEVLINK});
	}
	closedir(dir);
}

int watch_devlink_message(WatchDevlink *w, struct nlmsghdr *m)
{
	DevlinkAttributes a;
	DevlinkHandle h;
	uint8_t command;

	if (m->nlmsg_type != w->family.id)
		return 0;
	if (!nlmsg_valid_hdr(m, sizeof(struct genlmsghdr)))
		return -EBADMSG;
	command = ((const struct genlmsghdr *)nlmsg_data(m))->cmd;
	if (command != DEVLINK_CMD_NEW && command != DEVLINK_CMD_HEALTH_REPORTER_RECOVER)
		return 0;
	if (devlink_parse(m, a, &command, &h) < 0)
		return -EBADMSG;
	report(w, &h);
	return 0;
}

static int on_message(void *watch, struct nlmsghdr *m)
{
	return watch_devlink_message(watch, m);
}

/* Asks for the numbers of the family. The kernel answers inside sendmsg(). */
static int learn_family(WatchDevlink *w)
{
	uint8_t buffer[WATCH_DATAGRAM_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *answer = (struct nlmsghdr *)buffer;
	struct nl_msg *request = genl_ask_family(DEVLINK_GENL_NAME);
	_cleanup_close_ int fd = -EBADF;
	size_t n;
	int r = request ? watch_netlink_open(NETLINK_GENERIC, &fd) : -ENOMEM;

	if (r == 0) {
		nlmsg_hdr(request)->nlmsg_flags |= NLM_F_REQUEST;
		if (send(fd, nlmsg_hdr(request), nlmsg_hdr(request)->nlmsg_len, 0) < 0)
			r = -errno;
	}
	nlmsg_free(request);
	if (r == 0)
		r = watch_netlink_receive(fd, buffer, sizeof(buffer), &n);
	if (r < 0)
		return r;
	if (!nlmsg_ok(answer, (int)n))
		return -EBADMSG;
	if (answer->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *error = nlmsg_data(answer);

		if (nlmsg_datalen(answer) < (int)sizeof(*error) || error->error >= 0)
			return -EBADMSG;
		/* The kernel has no devlink. */
		w->is_known = error->error == -ENOENT;
		return error->error;
	}
	r = genl_parse_family(answer, DEVLINK_GENL_MCGRP_CONFIG_NAME, &w->family);
	w->is_known = r == 0;
	return r;
}

int watch_devlink_listen(WatchDevlink *w)
{
	int group, r = w->is_known ? 0 : learn_family(w);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	group = (int)w->family.group;
	return group ? watch_socket_listen(&w->socket, NETLINK_GENERIC, &group, 1) : 0;
}

void watch_devlink_devices(WatchDevlink *w, const DeviceSnapshot *devices, size_t n)
{
	/* without memory the next enumeration tries again */
	(void)device_names_set(&w->names, devices, n);
}

void watch_devlink_set_family(WatchDevlink *w, const GenlFamily *family)
{
	w->family = *family;
	w->is_known = true;
}

int watch_devlink_new(sd_event *event, const char *sysfs, const WatchHandler *handler,
		      void *userdata, WatchDevlink **ret)
{
	_cleanup_(watch_devlink_free_pointer) WatchDevlink *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->socket = watch_socket_new(event, "Cannot hear of devlink, will listen anew", on_message,
				     w, handler, userdata);
	w->sysfs = strdup(sysfs);
	if (!w->sysfs)
		return -ENOMEM;
	*ret = steal_pointer(&w);
	return 0;
}

void watch_devlink_free(WatchDevlink *w)
{
	if (!w)
		return;
	watch_socket_close(&w->socket);
	sd_event_unref(w->socket.event);
	device_names_done(&w->names);
	free(w->sysfs);
	free(w);
}
