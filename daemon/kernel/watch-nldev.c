/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The RDMA devices by NETLINK_RDMA: enumeration and announcements. */

#include "watch-nldev.h"

#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#include "netlink-value.h"
#include "nldev-parse.h"
#include "watch-socket.h"

/* From the headers of Linux 6.12 and 6.13; those of Debian 12 end before. */
#define NLDEV_GROUP_NOTIFY 4
#define NLDEV_CMD_MONITOR  28

enum {
	ANNOUNCE_REGISTER,
	ANNOUNCE_UNREGISTER,
	ANNOUNCE_NETDEV_ATTACH,
	ANNOUNCE_NETDEV_DETACH,
	ANNOUNCE_RENAME,	/* 6.13 */
	ANNOUNCE_NETDEV_RENAME, /* 6.13: interface index and name, no device */
};

/* More than twice what the kernel has room for (RDMA_MAX_PORTS, 8192). */
#define NLDEV_DEVICES_MAX 20000U
#define NLDEV_RETRIES	  5U

struct WatchNldev {
	WatchSocket socket;
	SourceStatus status; /* watch_nldev_status() */
};

int watch_nldev_parse(struct nlmsghdr *m, Event *ret, bool *ret_going)
{
	Event e = {EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE};
	NldevAttributes a;
	uint64_t type, port;

	if (m->nlmsg_type != RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, NLDEV_CMD_MONITOR))
		return 0;
	if (nldev_parse_attributes(m, a) < 0 || !netlink_number(a[NLDEV_ATTR_EVENT_TYPE], &type))
		return -EBADMSG;
	switch (type) {
	case ANNOUNCE_REGISTER:
	case ANNOUNCE_UNREGISTER:
	case ANNOUNCE_RENAME:
		break;
	case ANNOUNCE_NETDEV_ATTACH:
	case ANNOUNCE_NETDEV_DETACH:
	case ANNOUNCE_NETDEV_RENAME:
		e.reason = REASON_NETDEV;
		break;
	default: /* of a later kernel */
		return 0;
	}

	/* There is no index if an interface was renamed or is in another network namespace. */
	if (a[RDMA_NLDEV_ATTR_DEV_INDEX]) {
		if (nldev_parse_index(a[RDMA_NLDEV_ATTR_DEV_INDEX], &e.device) < 0)
			return -EBADMSG;
		/* A port that is not served stands for all of the device. */
		if (e.reason == REASON_NETDEV &&
		    netlink_number(a[RDMA_NLDEV_ATTR_PORT_INDEX], &port) && port <= RDMA_PORT_MAX)
			e.port = (uint32_t)port;
	}
	*ret = e;
	*ret_going = type == ANNOUNCE_UNREGISTER && e.device != EVENT_ALL_DEVICES;
	return 1;
}

static int add_device(NldevAnswer *a, struct nlmsghdr *m)
{
	_cleanup_(device_snapshot_done) DeviceSnapshot d = {};
	int r = nldev_parse_device(m, &d);

	if (r == -EILSEQ) {
		a->n_left_out++;
		return 0;
	}
	if (r < 0)
		return r;
	if (a->n == NLDEV_DEVICES_MAX)
		return -E2BIG;
	if (!array_grow(a->devices, a->n))
		return -ENOMEM;
	a->devices[a->n++] = d;
	d = (DeviceSnapshot){};
	return 0;
}

/* Attributes that a kernel does not know yet are not there. */
static int take_status(struct nlmsghdr *m, SourceStatus *ret)
{
	static const char *const namespaces[] = {"exclusive", "shared"};
	NldevAttributes a;
	uint64_t v;
	int r = nldev_parse_attributes(m, a);

	if (r < 0)
		return r;
	ret->monitor_mode = netlink_number(a[NLDEV_ATTR_MONITOR_MODE], &v) && v;
	ret->privileged_qkey = netlink_number(a[NLDEV_ATTR_PRIVILEGED_QKEY], &v) && v;
	if (netlink_number(a[RDMA_NLDEV_SYS_ATTR_NETNS_MODE], &v) && v < ARRAY_SIZE(namespaces))
		ret->namespaces = namespaces[v];
	return 0;
}

/* The errno in NLMSG_ERROR and, for dumps, in NLMSG_DONE. */
static int final_error(struct nlmsghdr *m)
{
	int error;

	if (nlmsg_datalen(m) < (int)sizeof(error))
		return -EBADMSG;
	memcpy(&error, nlmsg_data(m), sizeof(error));
	return error > 0 || error < -4095 ? -EBADMSG : error;
}

int nldev_answer_take(NldevAnswer *a, void *datagram, size_t n)
{
	struct nlmsghdr *m = datagram;
	int left = (int)n;
	int r = 0;

	for (; nlmsg_ok(m, left); m = nlmsg_next(m, &left)) {
		if (m->nlmsg_flags & NLM_F_DUMP_INTR)
			a->interrupted = true;
		switch (m->nlmsg_type) {
		case NLMSG_DONE:
		case NLMSG_ERROR:
			r = final_error(m);
			return r < 0 ? r : 1;
		case RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET):
			r = add_device(a, m);
			break;
		case RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET):
			r = take_status(m, &a->status);
			break;
		default:
			r = m->nlmsg_type < NLMSG_MIN_TYPE ? 0 : -EBADMSG;
			break;
		}
		if (r < 0)
			return r;
	}
	return left > 0 ? -EBADMSG : 0;
}

void nldev_answer_done(NldevAnswer *a)
{
	device_array_free(a->devices, a->n);
	*a = (NldevAnswer){};
}

/*
 * Each request has a socket of its own, so that announcements cannot fill the buffer that its
 * answer needs. The kernel answers inside send() and continues a dump inside recv(): there is never
 * anything to wait for.
 */
static int request(uint16_t command, uint16_t flags, NldevAnswer *ret)
{
	uint8_t buffer[WATCH_DATAGRAM_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct nlmsghdr m = {
		.nlmsg_len = sizeof(m),
		.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command),
		.nlmsg_flags = NLM_F_REQUEST | flags,
		.nlmsg_seq = 1,
	};
	_cleanup_close_ int fd = -EBADF;
	NldevAnswer answer = {};
	int r = watch_netlink_open(NETLINK_RDMA, &fd);

	if (r < 0)
		return r;
	if (sendto(fd, &m, sizeof(m), 0, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return -errno;
	do {
		size_t n;

		r = watch_netlink_receive(fd, buffer, sizeof(buffer), &n);
		if (r == 0)
			r = nldev_answer_take(&answer, buffer, n);
		else if (r == -EAGAIN)
			r = -EIO; /* cut short */
	} while (r == 0);
	if (r > 0 && answer.interrupted)
		r = -EAGAIN;
	if (r < 0) {
		nldev_answer_done(&answer);
		return r;
	}
	*ret = answer;
	return 0;
}

/* Without this check, opening a NETLINK_RDMA socket would make the kernel load ib_core, even on
 * machines that have no RDMA. */
static bool modules_loaded(void)
{
	return access("/sys/class/infiniband", F_OK) == 0;
}

int watch_nldev_enumerate(DeviceSnapshot **ret, size_t *ret_n, size_t *ret_left_out)
{
	NldevAnswer answer = {};
	int r = -EAGAIN;

	if (!modules_loaded())
		r = -EPROTONOSUPPORT;
	for (unsigned int i = 0; r == -EAGAIN && i < NLDEV_RETRIES; i++)
		r = request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP, &answer);
	if (r < 0 && r != -EPROTONOSUPPORT)
		return r;
	*ret = answer.devices;
	*ret_n = answer.n;
	*ret_left_out = answer.n_left_out;
	return 0;
}

static int on_message(void *watch, struct nlmsghdr *m)
{
	WatchNldev *w = watch;
	bool going;
	Event e;
	int r = watch_nldev_parse(m, &e, &going);

	if (r <= 0)
		return r;
	if (going)
		w->socket.handler->going(w->socket.userdata, e.device);
	watch_socket_report(&w->socket, &e);
	return 0;
}

int watch_nldev_listen(WatchNldev *w)
{
	const int group = NLDEV_GROUP_NOTIFY;
	NldevAnswer answer;
	int r;

	if (!modules_loaded())
		return 0;
	/* Joining the group succeeds on older kernels too, for root; and then nothing comes. */
	r = request(RDMA_NLDEV_CMD_SYS_GET, NLM_F_ACK, &answer);
	if (r < 0)
		return w->socket.source ? 1 : r == -EPROTONOSUPPORT ? 0 : r;
	w->status = answer.status;
	nldev_answer_done(&answer);
	if (!w->status.monitor_mode)
		return w->socket.source != NULL;
	r = watch_socket_listen(&w->socket, NETLINK_RDMA, &group, 1);
	return r < 0 ? r : 1;
}

void watch_nldev_release(WatchNldev *w)
{
	watch_socket_close(&w->socket);
}

void watch_nldev_status(const WatchNldev *w, SourceStatus *ret)
{
	*ret = w->status;
}

int watch_nldev_new(sd_event *event, const WatchHandler *handler, void *userdata, WatchNldev **ret)
{
	WatchNldev *w = malloc(sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (WatchNldev){.socket = watch_socket_new(event, "Cannot hear of RDMA devices any more",
						     on_message, w, handler, userdata)};
	*ret = w;
	return 0;
}

void watch_nldev_free(WatchNldev *w)
{
	if (!w)
		return;
	watch_nldev_release(w);
	sd_event_unref(w->socket.event);
	free(w);
}
