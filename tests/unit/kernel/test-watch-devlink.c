/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* devlink: which RDMA devices a message about a function concerns; over a sysfs made by hand. */

#include "test-watch.h"

#include <linux/genetlink.h>

#include "watch-devlink.h"

#define FAMILY 21

typedef struct Fixture {
	WatchDevlink *watch;
	Recorder r;
	char root[32];
} Fixture;

static void run(const char *format, ...) _printf_(1, 2);
static void run(const char *format, ...)
{
	char command[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	assert_int_equal(system(command), 0);
}

static int begin(void **state)
{
	static const char *const names[] = {"mlx5_0", "mlx5_1", "mlx5_2"};
	Fixture *f = calloc(1, sizeof(*f));
	DeviceSnapshot devices[3] = {};

	assert_non_null(f);
	strcpy(f->root, "/tmp/rdmad-test-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	run("cd %s && mkdir -p bus/pci/devices/0000:c1:00.0/infiniband/mlx5_0 "
	    "bus/pci/devices/0000:c1:00.1/infiniband/mlx5_1 "
	    "bus/pci/devices/0000:c1:00.1/infiniband/unknown_0 "
	    "bus/pci/devices/0000:c1:00.2 bus/infiniband/mlx5_0 "
	    "bus/auxiliary/devices/mlx5_core.sf.4/infiniband/mlx5_2",
	    f->root);
	assert_int_equal(watch_devlink_new(NULL, f->root, &recorder_handler, &f->r, &f->watch), 0);
	watch_devlink_set_family(f->watch, &(GenlFamily){.id = FAMILY, .group = 5});
	for (uint32_t i = 0; i < 3; i++) {
		devices[i].values.index = 40 + i;
		DEVICE_SUPPLY_TEXT(&devices[i], name, names[i]);
	}
	watch_devlink_devices(f->watch, devices, 3);
	for (uint32_t i = 0; i < 3; i++)
		device_snapshot_done(&devices[i]);
	*state = f;
	return 0;
}

static int end(void **state)
{
	Fixture *f = *state;

	watch_devlink_free(f->watch);
	run("rm -r %s", f->root);
	free(f);
	return 0;
}

static int take(Fixture *f, uint16_t type, uint8_t command, const char *bus, const char *device)
{
	struct genlmsghdr g = {.cmd = command};
	Datagram d = {};

	datagram_message(&d, type, 0, &g, sizeof(g));
	if (bus)
		DATAGRAM_TEXT(&d, DEVLINK_ATTR_BUS_NAME, bus);
	if (device)
		DATAGRAM_TEXT(&d, DEVLINK_ATTR_DEV_NAME, device);
	f->r = (Recorder){};
	return watch_devlink_message(f->watch, datagram_last(&d));
}

static void test_devices(void **state)
{
	Fixture *f = *state;

	assert_int_equal(
		take(f, FAMILY, DEVLINK_CMD_HEALTH_REPORTER_RECOVER, "pci", "0000:c1:00.0"), 0);
	assert_int_equal(f->r.n, 1);
	assert_true(recorded(&f->r, 40, EVENT_ALL_PORTS, REASON_DEVLINK));
	/* a device that was not enumerated yet will be read then */
	assert_int_equal(take(f, FAMILY, DEVLINK_CMD_NEW, "pci", "0000:c1:00.1"), 0);
	assert_int_equal(f->r.n, 1);
	assert_true(recorded(&f->r, 41, EVENT_ALL_PORTS, REASON_DEVLINK));
	assert_int_equal(take(f, FAMILY, DEVLINK_CMD_NEW, "auxiliary", "mlx5_core.sf.4"), 0);
	assert_true(recorded(&f->r, 42, EVENT_ALL_PORTS, REASON_DEVLINK));
	/* functions without RDMA */
	assert_int_equal(take(f, FAMILY, DEVLINK_CMD_NEW, "pci", "0000:c1:00.2"), 0);
	assert_int_equal(take(f, FAMILY, DEVLINK_CMD_NEW, "pci", "0000:c1:00.3"), 0);
	assert_int_equal(f->r.n, 0);
}

static void test_ignored(void **state)
{
	Fixture *f = *state;

	assert_int_equal(take(f, FAMILY + 1, DEVLINK_CMD_NEW, "pci", "0000:c1:00.0"), 0);
	assert_int_equal(f->r.n, 0);
	assert_int_equal(take(f, FAMILY, DEVLINK_CMD_PORT_NEW, "pci", "0000:c1:00.0"), 0);
	assert_int_equal(f->r.n, 0);
	/* no way out of the directory */
	assert_int_equal(take(f, FAMILY, DEVLINK_CMD_NEW, "pci", ".."), 0);
	assert_int_equal(take(f, FAMILY, DEVLINK_CMD_NEW, "..", "0000:c1:00.0"), 0);
	assert_int_equal(take(f, FAMILY, DEVLINK_CMD_NEW, "pci", "../devices/0000:c1:00.0"), 0);
	assert_int_equal(take(f, FAMILY, DEVLINK_CMD_NEW, "", ""), 0);
	assert_int_equal(f->r.n, 0);
}

static void test_bad(void **state)
{
	Fixture *f = *state;
	Datagram d = {};

	assert_int_equal(take(f, FAMILY, DEVLINK_CMD_NEW, "pci", NULL), -EBADMSG);
	assert_int_equal(take(f, FAMILY, DEVLINK_CMD_NEW, NULL, "0000:c1:00.0"), -EBADMSG);
	datagram_message(&d, FAMILY, 0, "", 0);
	assert_int_equal(watch_devlink_message(f->watch, datagram_last(&d)), -EBADMSG);
	assert_int_equal(f->r.n, 0);
}

/* In the place of the kernel: what it answers to the question for the family of devlink. */
static struct {
	bool on;
	Datagram answer;
	unsigned int n_asked;
	int other; /* end of the socket */
} kernel;

int __real_watch_netlink_open(int protocol, int *ret_fd);
int __wrap_watch_netlink_open(int protocol, int *ret_fd);
int __wrap_watch_netlink_open(int protocol, int *ret_fd)
{
	int fds[2];

	if (!kernel.on)
		return __real_watch_netlink_open(protocol, ret_fd);
	/* the question stays in it */
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds), 0);
	kernel.other = fds[1];
	*ret_fd = fds[0];
	return 0;
}

int __real_watch_netlink_receive(int fd, void *buffer, size_t size, size_t *ret_n);
int __wrap_watch_netlink_receive(int fd, void *buffer, size_t size, size_t *ret_n);
int __wrap_watch_netlink_receive(int fd, void *buffer, size_t size, size_t *ret_n)
{
	if (!kernel.on)
		return __real_watch_netlink_receive(fd, buffer, size, ret_n);
	assert_true(kernel.answer.n <= size);
	memcpy(buffer, kernel.answer.bytes, kernel.answer.n);
	*ret_n = kernel.answer.n;
	kernel.n_asked++;
	close_fd(kernel.other);
	return 0;
}

static void answer_error(int error)
{
	const struct nlmsgerr e = {.error = error};

	kernel.answer = (Datagram){};
	datagram_message(&kernel.answer, NLMSG_ERROR, 0, &e, sizeof(e));
}

static void answer_family(uint16_t id)
{
	const struct genlmsghdr g = {.cmd = CTRL_CMD_NEWFAMILY, .version = 2};

	kernel.answer = (Datagram){};
	datagram_message(&kernel.answer, GENL_ID_CTRL, 0, &g, sizeof(g));
	datagram_attribute(&kernel.answer, CTRL_ATTR_FAMILY_ID, &id, sizeof(id));
}

/* The result of listening for the first time, and of once more; and how often the kernel was asked
 * for the family. */
static void assert_listens(int first, int second, unsigned int n_asked)
{
	WatchDevlink *w;
	Recorder r = {};

	kernel.n_asked = 0;
	assert_int_equal(watch_devlink_new(NULL, "/sys", &recorder_handler, &r, &w), 0);
	assert_int_equal(watch_devlink_listen(w), first);
	assert_int_equal(watch_devlink_listen(w), second);
	assert_int_equal(kernel.n_asked, n_asked);
	watch_devlink_free(w);
}

/* The question makes the kernel load modules: what it has said once is not asked again. */
static void test_asks_once(_unused_ void **state)
{
	kernel.on = true;
	/* no devlink */
	answer_error(-ENOENT);
	assert_listens(0, 0, 1);
	/* one that has no group to listen to */
	answer_family(FAMILY);
	assert_listens(0, 0, 1);
	/* it was not said */
	answer_error(-ENOMEM);
	assert_listens(-ENOMEM, -ENOMEM, 2);
	answer_error(0);
	assert_listens(-EBADMSG, -EBADMSG, 2);
	answer_family(0);
	assert_listens(-EBADMSG, -EBADMSG, 2);
	answer_error(-ENOENT);
	datagram_last(&kernel.answer)->nlmsg_len -= 4;
	assert_listens(-EBADMSG, -EBADMSG, 2);
	kernel.answer.n = 4;
	assert_listens(-EBADMSG, -EBADMSG, 2);
	kernel.on = false;
}

/* On this machine: it listens, or there is no devlink. */
static void test_listen(_unused_ void **state)
{
	WatchDevlink *w;
	sd_event *event;
	Recorder r = {};

	assert_true(sd_event_new(&event) >= 0);
	assert_int_equal(watch_devlink_new(event, "/sys", &recorder_handler, &r, &w), 0);
	assert_int_equal(watch_devlink_listen(w), 0);
	assert_int_equal(watch_devlink_listen(w), 0);
	watch_devlink_free(w);
	sd_event_unref(event);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_devices),
		TEST(test_ignored),
		TEST(test_bad),
		cmocka_unit_test(test_asks_once),
		cmocka_unit_test(test_listen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
