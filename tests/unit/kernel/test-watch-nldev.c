/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nldev: announcements and the list of devices, good and bad. */

#include "test-watch.h"

#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#include "watch-nldev.h"
#include "watch-socket.h"

#define TYPE(command)	RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command)
#define MONITOR		28
#define EVENT_TYPE	102
#define PRIVILEGED_QKEY 96
#define MONITOR_MODE	103

static int parse(Datagram *d, Event *ret)
{
	bool going = false;
	int r = watch_nldev_parse((struct nlmsghdr *)(void *)d->bytes, ret, &going);

	assert_true(!going || (r == 1 && ret->reason == REASON_DEVICE));
	return going ? 2 : r;
}

static Datagram announcement(uint8_t type, bool device, bool port)
{
	Datagram d = {};

	datagram_message(&d, TYPE(MONITOR), 0, NULL, 0);
	if (device) {
		DATAGRAM_NUMBER(&d, RDMA_NLDEV_ATTR_DEV_INDEX, uint32_t, 7);
		DATAGRAM_TEXT(&d, RDMA_NLDEV_ATTR_DEV_NAME, "rxe0");
	}
	if (port)
		DATAGRAM_NUMBER(&d, RDMA_NLDEV_ATTR_PORT_INDEX, uint32_t, 2);
	DATAGRAM_NUMBER(&d, EVENT_TYPE, uint8_t, type);
	return d;
}

static void test_announcements(_unused_ void **state)
{
	static const struct {
		uint8_t type;
		bool device, port;
		int r;
		Event event;
	} cases[] = {
		{0, true, false, 1, {7, EVENT_ALL_PORTS, REASON_DEVICE}},
		{1, true, false, 2, {7, EVENT_ALL_PORTS, REASON_DEVICE}},
		{2, true, true, 1, {7, 2, REASON_NETDEV}},
		{3, true, true, 1, {7, 2, REASON_NETDEV}},
		{4, true, false, 1, {7, EVENT_ALL_PORTS, REASON_DEVICE}},
		{5, false, false, 1, {EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_NETDEV}},
		/* An interface in another network namespace: the message has nothing but the type.
		 */
		{2, false, false, 1, {EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_NETDEV}},
		{1, false, false, 1, {EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE}},
		/* A port without its device says nothing. */
		{2, false, true, 1, {EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_NETDEV}},
		/* Of a later kernel */
		{6, true, true, 0, {0, 0, 0}},
		{255, true, true, 0, {0, 0, 0}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		Datagram d = announcement(cases[i].type, cases[i].device, cases[i].port);
		Event e;

		assert_int_equal(parse(&d, &e), cases[i].r);
		if (cases[i].r == 0)
			continue;
		assert_int_equal(e.device, cases[i].event.device);
		assert_int_equal(e.port, cases[i].event.port);
		assert_int_equal(e.reason, cases[i].event.reason);
	}
}

static void test_announcements_beyond(_unused_ void **state)
{
	Datagram d = {};
	Event e;

	datagram_message(&d, TYPE(MONITOR), 0, NULL, 0);
	DATAGRAM_NUMBER(&d, RDMA_NLDEV_ATTR_DEV_INDEX, uint32_t, 7);
	DATAGRAM_NUMBER(&d, RDMA_NLDEV_ATTR_PORT_INDEX, uint32_t, 1024);
	DATAGRAM_NUMBER(&d, EVENT_TYPE, uint8_t, 2);
	assert_int_equal(parse(&d, &e), 1);
	assert_int_equal(e.port, 1024);

	/* A port that is not served stands for all ports of the device. */
	d = (Datagram){};
	datagram_message(&d, TYPE(MONITOR), 0, NULL, 0);
	DATAGRAM_NUMBER(&d, RDMA_NLDEV_ATTR_DEV_INDEX, uint32_t, 7);
	DATAGRAM_NUMBER(&d, RDMA_NLDEV_ATTR_PORT_INDEX, uint32_t, 1025);
	DATAGRAM_NUMBER(&d, EVENT_TYPE, uint8_t, 2);
	assert_int_equal(parse(&d, &e), 1);
	assert_int_equal(e.port, EVENT_ALL_PORTS);

	/* Attributes of a later kernel */
	DATAGRAM_NUMBER(&d, 104, uint64_t, 1);
	DATAGRAM_NUMBER(&d, 9999, uint64_t, 1);
	assert_int_equal(parse(&d, &e), 1);

	/* Not an announcement */
	((struct nlmsghdr *)(void *)d.bytes)->nlmsg_type = TYPE(RDMA_NLDEV_CMD_GET);
	assert_int_equal(parse(&d, &e), 0);
}

static void test_bad_announcements(_unused_ void **state)
{
	static const struct {
		uint16_t type;
		size_t n;
	} wrong[] = {
		{RDMA_NLDEV_ATTR_DEV_INDEX, 3},
		{RDMA_NLDEV_ATTR_DEV_INDEX, 8}, /* too large a number */
		{RDMA_NLDEV_ATTR_DEV_INDEX, 0},
		{EVENT_TYPE, 0},
		{EVENT_TYPE, 3},
	};
	uint8_t ones[128];
	Event e;

	memset(ones, 1, sizeof(ones));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		Datagram d = announcement(0, false, false);

		datagram_attribute(&d, wrong[i].type, ones, wrong[i].n);
		assert_int_equal(parse(&d, &e), -EBADMSG);
	}
	/* the index that stands for all devices */
	Datagram all = announcement(0, false, false);
	DATAGRAM_NUMBER(&all, RDMA_NLDEV_ATTR_DEV_INDEX, uint32_t, EVENT_ALL_DEVICES);
	assert_int_equal(parse(&all, &e), -EBADMSG);
	/* without a type */
	Datagram d = {};
	datagram_message(&d, TYPE(MONITOR), 0, NULL, 0);
	assert_int_equal(parse(&d, &e), -EBADMSG);
}

static void put_device(Datagram *d, uint32_t index, const char *name, uint32_t ports)
{
	datagram_message(d, TYPE(RDMA_NLDEV_CMD_GET), NLM_F_MULTI, NULL, 0);
	DATAGRAM_NUMBER(d, RDMA_NLDEV_ATTR_DEV_INDEX, uint32_t, index);
	DATAGRAM_TEXT(d, RDMA_NLDEV_ATTR_DEV_NAME, name);
	DATAGRAM_NUMBER(d, RDMA_NLDEV_ATTR_PORT_INDEX, uint32_t, ports);
}

static void put_done(Datagram *d, int error)
{
	datagram_message(d, NLMSG_DONE, NLM_F_MULTI, &error, sizeof(error));
}

static void test_list(_unused_ void **state)
{
	NldevAnswer a = {};
	Datagram d = {};
	const DeviceSnapshot *device;

	put_device(&d, 3, "mlx5_0", 2);
	DATAGRAM_NUMBER(&d, RDMA_NLDEV_ATTR_CAP_FLAGS, uint64_t, 0x123456789aULL);
	DATAGRAM_TEXT(&d, RDMA_NLDEV_ATTR_FW_VERSION, "22.33.1048");
	DATAGRAM_NUMBER(&d, RDMA_NLDEV_ATTR_NODE_GUID, uint64_t, 0x0c42a1030065f3d8ULL);
	DATAGRAM_NUMBER(&d, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, uint64_t, 0x0c42a1030065f3d9ULL);
	DATAGRAM_NUMBER(&d, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, uint8_t, 1);
	DATAGRAM_TEXT(&d, RDMA_NLDEV_ATTR_DEV_PROTOCOL, "ib");
	put_device(&d, 4, "we:ird.na-me_x", 300);
	assert_int_equal(nldev_answer_take(&a, d.bytes, d.n), 0);
	d = (Datagram){};
	put_device(&d, 9, "bare", 0);
	put_done(&d, 0);
	assert_int_equal(nldev_answer_take(&a, d.bytes, d.n), 1);

	assert_int_equal(a.n, 3);
	assert_false(a.interrupted);
	device = &a.devices[0];
	assert_int_equal(device->values.index, 3);
	assert_string_equal(TEXT_OF(&device->values, name), "mlx5_0");
	assert_int_equal(device->values.port_count, 2);
	assert_int_equal(device->values.cap_flags, 0x123456789aULL);
	assert_string_equal(TEXT_OF(&device->values, fw_ver), "22.33.1048");
	assert_int_equal(device->values.node_guid, 0x0c42a1030065f3d8ULL);
	assert_int_equal(device->values.sys_image_guid, 0x0c42a1030065f3d9ULL);
	assert_int_equal(device->values.node_type, 1);
	assert_int_equal(device->values.dev_protocol, PROTOCOL_INFINIBAND);
	assert_true(mask_has(&device->supplied, DEVICE_ATTR_cap_flags));
	assert_string_equal(TEXT_OF(&a.devices[1].values, name), "we:ird.na-me_x");
	assert_int_equal(a.devices[1].values.port_count, 300);
	assert_true(mask_has(&a.devices[2].supplied, DEVICE_ATTR_port_count));
	/* It has no firmware, which is known. */
	assert_true(mask_has(&a.devices[2].supplied, DEVICE_ATTR_fw_ver));
	assert_false(mask_has(&a.devices[2].supplied, DEVICE_ATTR_node_guid));
	nldev_answer_done(&a);
	assert_null(a.devices);
}

static int take(Datagram *d)
{
	NldevAnswer a = {};
	int r = nldev_answer_take(&a, d->bytes, d->n);

	nldev_answer_done(&a);
	return r;
}

/* The kernel lets somebody give a device a name that no file can have. The others stay. */
static void test_bad_name(_unused_ void **state)
{
	NldevAnswer a = {};
	Datagram d = {};

	put_device(&d, 1, "a", 1);
	put_device(&d, 2, "a/b", 1);
	put_device(&d, 3, "c", 1);
	put_done(&d, 0);
	assert_int_equal(nldev_answer_take(&a, d.bytes, d.n), 1);
	assert_int_equal(a.n, 2);
	assert_int_equal(a.n_left_out, 1);
	assert_int_equal(a.devices[0].values.index, 1);
	assert_int_equal(a.devices[1].values.index, 3);
	nldev_answer_done(&a);
}

/* nldev-parse.h says what identifies a device; one that is not identified spoils the list. */
static void test_bad_lists(_unused_ void **state)
{
	Datagram d = {};

	put_device(&d, EVENT_ALL_DEVICES, "a", 1);
	assert_int_equal(take(&d), -EBADMSG);
	/* An answer to something else */
	d = (Datagram){};
	datagram_message(&d, TYPE(RDMA_NLDEV_CMD_PORT_GET), 0, NULL, 0);
	assert_int_equal(take(&d), -EBADMSG);
	/* The message at the end has an error, an impossible one, or none */
	d = (Datagram){};
	put_done(&d, -EPERM);
	assert_int_equal(take(&d), -EPERM);
	d = (Datagram){};
	put_done(&d, 5);
	assert_int_equal(take(&d), -EBADMSG);
	d = (Datagram){};
	datagram_message(&d, NLMSG_DONE, 0, NULL, 0);
	assert_int_equal(take(&d), -EBADMSG);
	/* Cut in the middle of a message */
	d = (Datagram){};
	put_device(&d, 1, "a", 1);
	d.n -= 4;
	assert_int_equal(take(&d), -EBADMSG);
	/* A length that is too small, or larger than the datagram */
	d = (Datagram){};
	put_device(&d, 1, "a", 1);
	datagram_last(&d)->nlmsg_len = 3;
	assert_int_equal(take(&d), -EBADMSG);
	datagram_last(&d)->nlmsg_len = UINT32_MAX;
	assert_int_equal(take(&d), -EBADMSG);
}

/* A list without end: the number of devices is bounded. */
static void test_endless_list(_unused_ void **state)
{
	NldevAnswer a = {};
	Datagram d = {};

	for (unsigned int i = 0; i < 100; i++)
		put_device(&d, i, "a", 1);
	for (unsigned int i = 0; i < 200; i++)
		assert_int_equal(nldev_answer_take(&a, d.bytes, d.n), 0);
	assert_int_equal(nldev_answer_take(&a, d.bytes, d.n), -E2BIG);
	nldev_answer_done(&a);
}

static void test_interrupted(_unused_ void **state)
{
	NldevAnswer a = {};
	Datagram d = {};

	put_device(&d, 1, "a", 1);
	datagram_last(&d)->nlmsg_flags |= NLM_F_DUMP_INTR;
	put_done(&d, 0);
	assert_int_equal(nldev_answer_take(&a, d.bytes, d.n), 1);
	assert_true(a.interrupted);
	nldev_answer_done(&a);
}

static void test_system(_unused_ void **state)
{
	NldevAnswer a = {};
	Datagram d = {};
	struct nlmsgerr ack = {};

	/* 6.1: no such attribute */
	datagram_message(&d, TYPE(RDMA_NLDEV_CMD_SYS_GET), 0, NULL, 0);
	DATAGRAM_NUMBER(&d, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, uint8_t, 1);
	datagram_message(&d, NLMSG_ERROR, 0, &ack, sizeof(ack));
	assert_int_equal(nldev_answer_take(&a, d.bytes, d.n), 1);
	assert_false(a.status.monitor_mode);
	assert_false(a.status.privileged_qkey);
	assert_string_equal(a.status.namespaces, "shared");
	/* 6.12 */
	d = (Datagram){};
	datagram_message(&d, TYPE(RDMA_NLDEV_CMD_SYS_GET), 0, NULL, 0);
	DATAGRAM_NUMBER(&d, MONITOR_MODE, uint8_t, 1);
	assert_int_equal(nldev_answer_take(&a, d.bytes, d.n), 0);
	assert_true(a.status.monitor_mode);
	d = (Datagram){};
	datagram_message(&d, TYPE(RDMA_NLDEV_CMD_SYS_GET), 0, NULL, 0);
	DATAGRAM_NUMBER(&d, MONITOR_MODE, uint8_t, 0);
	DATAGRAM_NUMBER(&d, PRIVILEGED_QKEY, uint8_t, 1);
	DATAGRAM_NUMBER(&d, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, uint8_t, 0);
	assert_int_equal(nldev_answer_take(&a, d.bytes, d.n), 0);
	assert_false(a.status.monitor_mode);
	assert_true(a.status.privileged_qkey);
	assert_string_equal(a.status.namespaces, "exclusive");
	/* a mode of a later kernel */
	d = (Datagram){};
	a = (NldevAnswer){};
	datagram_message(&d, TYPE(RDMA_NLDEV_CMD_SYS_GET), 0, NULL, 0);
	DATAGRAM_NUMBER(&d, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, uint8_t, 2);
	assert_int_equal(nldev_answer_take(&a, d.bytes, d.n), 0);
	assert_null(a.status.namespaces);
}

/* Any process may send to our port id. */
static void test_not_from_the_kernel(_unused_ void **state)
{
	uint8_t buffer[256] __attribute__((aligned(8)));
	_cleanup_close_ int a = -EBADF, b = -EBADF;
	struct sockaddr_nl address;
	socklen_t length = sizeof(address);
	Datagram d = announcement(0, true, false);
	size_t n;

	assert_int_equal(watch_netlink_open(NETLINK_USERSOCK, &a), 0);
	assert_int_equal(watch_netlink_open(NETLINK_USERSOCK, &b), 0);
	assert_int_equal(getsockname(b, (struct sockaddr *)&address, &length), 0);
	assert_int_equal(watch_netlink_receive(b, buffer, sizeof(buffer), &n), -EAGAIN);
	assert_int_equal(sendto(a, d.bytes, d.n, 0, (struct sockaddr *)&address, length), d.n);
	assert_int_equal(watch_netlink_receive(b, buffer, sizeof(buffer), &n), -EAGAIN);
	/* It was read and dropped. */
	assert_int_equal(recv(b, buffer, sizeof(buffer), MSG_DONTWAIT), -1);
}

static int count_message(void *watch, struct nlmsghdr *m)
{
	size_t *n = watch;

	(*n)++;
	return m->nlmsg_type == TYPE(MONITOR) ? 0 : -EBADMSG;
}

static void test_datagrams(_unused_ void **state)
{
	Recorder r = {};
	Datagram d = {};
	size_t n = 0;

	datagram_message(&d, TYPE(MONITOR), 0, NULL, 0);
	datagram_message(&d, TYPE(MONITOR), 0, NULL, 0);
	watch_netlink_parse(d.bytes, d.n, count_message, &n, &recorder_handler, &r);
	assert_int_equal(n, 2);
	assert_int_equal(r.overruns, 0);
	/* Messages that cannot be understood count as lost, once for a datagram. The others in it
	 * are read. */
	d = (Datagram){};
	datagram_message(&d, 999, 0, NULL, 0);
	datagram_message(&d, 999, 0, NULL, 0);
	datagram_message(&d, TYPE(MONITOR), 0, NULL, 0);
	watch_netlink_parse(d.bytes, d.n, count_message, &n, &recorder_handler, &r);
	assert_int_equal(n, 5);
	assert_int_equal(r.overruns, 1);
	watch_netlink_parse(d.bytes, 15, count_message, &n, &recorder_handler, &r);
	assert_int_equal(n, 5);
	assert_int_equal(r.overruns, 2);
	watch_netlink_parse(d.bytes, 0, count_message, &n, &recorder_handler, &r);
	assert_int_equal(r.overruns, 2);
}

static void test_without_modules(_unused_ void **state)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(watch_nldev_free_pointer) WatchNldev *w = NULL;
	DeviceSnapshot *devices;
	SourceStatus status;
	Recorder r = {};
	size_t n = 9, left_out;

	if (access("/sys/class/infiniband", F_OK) == 0)
		skip();
	assert_true(sd_event_new(&event) >= 0);
	assert_int_equal(watch_nldev_new(event, &recorder_handler, &r, &w), 0);
	assert_int_equal(watch_nldev_listen(w), 0);
	assert_int_equal(watch_nldev_enumerate(&devices, &n, &left_out), 0);
	assert_int_equal(n, 0);
	watch_nldev_status(w, &status);
	assert_false(status.monitor_mode);
	assert_null(status.namespaces);
	/* And the calls have not loaded the modules. */
	assert_int_not_equal(access("/sys/class/infiniband", F_OK), 0);
	device_array_free(devices, n);
}

/* In the place of the kernel: what it answers to questions, one datagram after the other, the last
 * one again and again; and what is done with sockets. */
static struct {
	bool on, has_modules;
	int open_error, listen_error;
	Datagram answers[2];
	size_t n_read, n_asked, n_listens;
	int group, force_error;
	int options[4];
	size_t n_options;
} kernel;

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode)
{
	if (!kernel.on)
		return __real_access(path, mode);
	assert_string_equal(path, "/sys/class/infiniband");
	return kernel.has_modules ? 0 : -1;
}

int __real_watch_netlink_open(int protocol, int *ret_fd);
int __wrap_watch_netlink_open(int protocol, int *ret_fd);
int __wrap_watch_netlink_open(int protocol, int *ret_fd)
{
	if (!kernel.on)
		return __real_watch_netlink_open(protocol, ret_fd);
	assert_int_equal(protocol, NETLINK_RDMA);
	if (kernel.open_error < 0)
		return kernel.open_error;
	/* the question stays in it */
	kernel.n_asked++;
	return __real_watch_netlink_open(NETLINK_USERSOCK, ret_fd);
}

ssize_t __real_sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to,
		      socklen_t n);
ssize_t __wrap_sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to,
		      socklen_t n);
ssize_t __wrap_sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to,
		      socklen_t n)
{
	return kernel.on ? (ssize_t)size : __real_sendto(fd, data, size, flags, to, n);
}

int __real_watch_netlink_receive(int fd, void *buffer, size_t size, size_t *ret_n);
int __wrap_watch_netlink_receive(int fd, void *buffer, size_t size, size_t *ret_n);
int __wrap_watch_netlink_receive(int fd, void *buffer, size_t size, size_t *ret_n)
{
	const Datagram *d = &kernel.answers[kernel.n_read % 2];

	if (!kernel.on)
		return __real_watch_netlink_receive(fd, buffer, size, ret_n);
	kernel.n_read++;
	if (d->n == 0)
		return -EAGAIN;
	memcpy(buffer, d->bytes, d->n);
	*ret_n = d->n;
	return 0;
}

int __wrap_watch_socket_listen(WatchSocket *s, int protocol, const int *groups, size_t n);
int __wrap_watch_socket_listen(_unused_ WatchSocket *s, int protocol, const int *groups, size_t n)
{
	assert_int_equal(protocol, NETLINK_RDMA);
	assert_int_equal(n, 1);
	kernel.group = *groups;
	kernel.n_listens++;
	return kernel.listen_error;
}

int __real_setsockopt(int fd, int level, int option, const void *value, socklen_t size);
int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t size);
int __wrap_setsockopt(int fd, int level, int option, const void *value, socklen_t size)
{
	if (!kernel.on)
		return __real_setsockopt(fd, level, option, value, size);
	assert_int_equal(fd, 77);
	assert_int_equal(level, SOL_SOCKET);
	assert_int_equal(*(const int *)value, WATCH_RECEIVE_BYTES);
	kernel.options[kernel.n_options++ % ARRAY_SIZE(kernel.options)] = option;
	errno = kernel.force_error;
	return option == SO_RCVBUFFORCE && kernel.force_error ? -1 : 0;
}

/* The kernel answers with what it knows of monitoring, "-1": nothing, and with ERROR. */
static void answer_system(int monitor_mode, int error)
{
	const struct nlmsgerr e = {.error = error};

	kernel.n_read = kernel.n_asked = kernel.n_listens = 0;
	memset(kernel.answers, 0, sizeof(kernel.answers));
	datagram_message(&kernel.answers[0], TYPE(RDMA_NLDEV_CMD_SYS_GET), 0, NULL, 0);
	if (monitor_mode >= 0)
		DATAGRAM_NUMBER(&kernel.answers[0], MONITOR_MODE, uint8_t, (uint8_t)monitor_mode);
	datagram_message(&kernel.answers[1], NLMSG_ERROR, 0, &e, sizeof(e));
}

/* Only a kernel that announces devices is listened to, and the modules are not loaded for it. */
static void test_listen(_unused_ void **state)
{
	static const struct {
		bool has_modules;
		int open_error, monitor_mode, error, listen_error, r;
		size_t n_asked, n_listens;
	} cases[] = {
		{false, 0, 1, 0, 0, 0, 0, 0},
		{true, 0, 1, 0, 0, 1, 1, 1},
		{true, 0, 1, 0, -ENOBUFS, -ENOBUFS, 1, 1},
		{true, 0, 0, 0, 0, 0, 1, 0},
		{true, 0, -1, 0, 0, 0, 1, 0},
		{true, 0, 1, -EPERM, 0, -EPERM, 1, 0},
		{true, -EPROTONOSUPPORT, 1, 0, 0, 0, 0, 0},
		{true, -EMFILE, 1, 0, 0, -EMFILE, 0, 0},
	};

	kernel.on = true;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(watch_nldev_free_pointer) WatchNldev *w = NULL;
		SourceStatus status;
		Recorder r = {};

		answer_system(cases[i].monitor_mode, cases[i].error);
		kernel.has_modules = cases[i].has_modules;
		kernel.open_error = cases[i].open_error;
		kernel.listen_error = cases[i].listen_error;
		assert_int_equal(watch_nldev_new(NULL, &recorder_handler, &r, &w), 0);
		if (watch_nldev_listen(w) != cases[i].r || kernel.n_asked != cases[i].n_asked ||
		    kernel.n_listens != cases[i].n_listens)
			fail_msg("case %zu: asked %zu, listens %zu", i, kernel.n_asked,
				 kernel.n_listens);
		watch_nldev_status(w, &status);
		assert_int_equal(status.monitor_mode, kernel.n_listens > 0);
		if (kernel.n_listens > 0)
			assert_int_equal(kernel.group, 4); /* RDMA_NL_GROUP_NOTIFY */
	}
	kernel.on = false;
}

/* A list that was interrupted is read again, but not for ever; one that ends too soon is none. */
static void test_enumerate(_unused_ void **state)
{
	DeviceSnapshot *devices = NULL;
	size_t n = 9, left_out;

	kernel.on = kernel.has_modules = true;
	kernel.open_error = 0;
	answer_system(-1, 0);
	kernel.answers[0] = kernel.answers[1] = (Datagram){};
	put_device(&kernel.answers[0], 3, "mlx5_0", 2);
	put_done(&kernel.answers[1], 0);
	assert_int_equal(watch_nldev_enumerate(&devices, &n, &left_out), 0);
	assert_int_equal(n, 1);
	assert_int_equal(devices[0].values.index, 3);
	assert_int_equal(kernel.n_asked, 1);
	device_array_free(devices, n);
	datagram_last(&kernel.answers[0])->nlmsg_flags |= NLM_F_DUMP_INTR;
	n = 9;
	assert_int_equal(watch_nldev_enumerate(&devices, &n, &left_out), -EAGAIN);
	assert_int_equal(n, 9);
	assert_in_range(kernel.n_asked, 3, 20);
	kernel.answers[1] = (Datagram){};
	kernel.n_asked = kernel.n_read = 0;
	assert_int_equal(watch_nldev_enumerate(&devices, &n, &left_out), -EIO);
	assert_int_equal(kernel.n_asked, 1);
	kernel.open_error = -EPROTONOSUPPORT;
	assert_int_equal(watch_nldev_enumerate(&devices, &n, &left_out), 0);
	assert_int_equal(n, 0);
	kernel.on = false;
}

/* Who may not have more than the limit gets as much as that. */
static void test_buffer(_unused_ void **state)
{
	kernel.on = true;
	kernel.n_options = 0;
	kernel.force_error = 0;
	watch_enlarge_buffer(77);
	assert_int_equal(kernel.n_options, 1);
	kernel.force_error = EPERM;
	watch_enlarge_buffer(77);
	assert_int_equal(kernel.n_options, 3);
	assert_int_equal(kernel.options[0], SO_RCVBUFFORCE);
	assert_int_equal(kernel.options[1], SO_RCVBUFFORCE);
	assert_int_equal(kernel.options[2], SO_RCVBUF);
	kernel.on = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_announcements),
		cmocka_unit_test(test_announcements_beyond),
		cmocka_unit_test(test_bad_announcements),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_bad_name),
		cmocka_unit_test(test_bad_lists),
		cmocka_unit_test(test_endless_list),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_system),
		cmocka_unit_test(test_not_from_the_kernel),
		cmocka_unit_test(test_datagrams),
		cmocka_unit_test(test_without_modules),
		cmocka_unit_test(test_listen),
		cmocka_unit_test(test_enumerate),
		cmocka_unit_test(test_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
