/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Uevents: which device a character device belongs to, also when it is gone; over a sysfs made by
 * hand. */

#include "test-watch.h"

#include <fcntl.h>
#include <libudev.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "watch-udev.h"

#define VERBS	"infiniband_verbs"
#define MAD	"infiniband_mad"
#define UVERBS0 "/devices/virtual/infiniband_verbs/uverbs0"

typedef struct Fixture {
	sd_event *event;
	WatchUdev *watch;
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
	Fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->root, "/tmp/rdmad-test-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	run("mkdir -p %s/class/" VERBS " %s/class/" MAD, f->root, f->root);
	run("echo 6 >%s/class/" VERBS "/abi_version", f->root);
	assert_true(sd_event_new(&f->event) >= 0);
	assert_int_equal(watch_udev_new(f->event, f->root, &recorder_handler, &f->r, &f->watch), 0);
	/* The tests bring the uevents themselves, but a watcher that does not listen reads sysfs
	 * each time. */
	assert_int_equal(watch_udev_listen(f->watch), 0);
	*state = f;
	return 0;
}

static int end(void **state)
{
	Fixture *f = *state;

	watch_udev_free(f->watch);
	sd_event_unref(f->event);
	run("rm -r %s", f->root);
	free(f);
	return 0;
}

static void node_appears(Fixture *f, const char *class, const char *node, const char *device)
{
	run("mkdir -p %s/class/%s/%s && echo %s >%s/class/%s/%s/ibdev", f->root, class, node,
	    device, f->root, class, node);
}

static void node_vanishes(Fixture *f, const char *class, const char *node)
{
	run("rm -r %s/class/%s/%s", f->root, class, node);
}

static void enumerate(Fixture *f, const char *a, uint32_t a_index, const char *b, uint32_t b_index)
{
	DeviceSnapshot devices[2] = {};
	size_t n = 0;

	if (a) {
		DEVICE_SUPPLY_TEXT(&devices[n], name, a);
		DEVICE_SUPPLY(&devices[n], index, a_index);
		n++;
	}
	if (b) {
		DEVICE_SUPPLY_TEXT(&devices[n], name, b);
		DEVICE_SUPPLY(&devices[n], index, b_index);
		n++;
	}
	watch_udev_devices(f->watch, devices, n);
	for (size_t i = 0; i < n; i++)
		device_snapshot_done(&devices[i]);
}

static void uevent(Fixture *f, bool first, const char *action, const char *subsystem,
		   const char *devpath)
{
	f->r = (Recorder){};
	watch_udev_uevent(f->watch, first, action, subsystem, devpath);
}

static void test_devices(void **state)
{
	static const char *const actions[] = {"add", "remove", "move", "change"};
	Fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		uevent(f, true, actions[i], "infiniband", "/devices/virtual/infiniband/rxe0");
		assert_int_equal(f->r.n, 1);
		assert_true(recorded(&f->r, EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE));
		/* the same from udev: nothing new */
		uevent(f, false, actions[i], "infiniband", "/devices/virtual/infiniband/rxe0");
		assert_int_equal(f->r.n, 0);
	}
	uevent(f, true, "bind", "infiniband", "/devices/virtual/infiniband/rxe0");
	assert_int_equal(f->r.n, 0);
	uevent(f, true, "add", "net", "/devices/virtual/net/uverbs0");
	assert_int_equal(f->r.n, 0);
	uevent(f, true, "add", "infiniband", "nothing");
	assert_int_equal(f->r.n, 0);
	assert_int_equal(f->r.n_going, 0);
}

/* The node is there from the beginning. */
static void test_existing(void **state)
{
	Fixture *f = *state;

	node_appears(f, VERBS, "uverbs0", "rxe0");
	node_appears(f, VERBS, "uverbs1", "rxe1");
	node_appears(f, MAD, "umad0", "rxe1");
	enumerate(f, "rxe1", 8, "rxe0", 5);
	node_vanishes(f, VERBS, "uverbs0");
	uevent(f, true, "remove", VERBS, UVERBS0);
	assert_int_equal(f->r.n_going, 1);
	assert_int_equal(f->r.going[0], 5);
	assert_int_equal(f->r.n, 1);
	assert_true(recorded(&f->r, 5, EVENT_ALL_PORTS, REASON_CHARDEV));
	/* the same from udev, later */
	uevent(f, false, "remove", VERBS, UVERBS0);
	assert_int_equal(f->r.n + f->r.n_going, 0);
	/* Only uverbs nodes are opened as contexts. */
	uevent(f, true, "remove", MAD, "/devices/virtual/infiniband_mad/umad0");
	assert_int_equal(f->r.n_going, 0);
	assert_true(recorded(&f->r, 8, EVENT_ALL_PORTS, REASON_CHARDEV));
	/* udev has changed the permissions */
	uevent(f, false, "change", VERBS, "/devices/virtual/infiniband_verbs/uverbs1");
	assert_true(recorded(&f->r, 8, EVENT_ALL_PORTS, REASON_CHARDEV));
}

static void test_life(void **state)
{
	Fixture *f = *state;

	enumerate(f, NULL, 0, NULL, 0);
	/* The kernel's order: node, registration, device; then udev. */
	node_appears(f, VERBS, "uverbs0", "rxe0");
	uevent(f, true, "add", VERBS, UVERBS0);
	assert_int_equal(f->r.n, 0); /* not enumerated yet: it will be */
	enumerate(f, "rxe0", 5, NULL, 0);
	uevent(f, false, "add", VERBS, UVERBS0);
	assert_int_equal(f->r.n, 1);
	assert_true(recorded(&f->r, 5, EVENT_ALL_PORTS, REASON_CHARDEV));
	/* A rename changes nothing here. */
	node_appears(f, VERBS, "uverbs0", "newname");
	enumerate(f, "newname", 5, NULL, 0);
	node_vanishes(f, VERBS, "uverbs0");
	uevent(f, true, "remove", VERBS, UVERBS0);
	assert_int_equal(f->r.going[0], 5);
	/* The name of the node is used again at once, by a device of the same name. */
	node_appears(f, VERBS, "uverbs0", "newname");
	uevent(f, true, "add", VERBS, UVERBS0);
	enumerate(f, "newname", 6, NULL, 0);
	uevent(f, true, "remove", VERBS, UVERBS0);
	assert_int_equal(f->r.n_going, 1);
	assert_int_equal(f->r.going[0], 6);
}

/* uverbs0 changes its owner while the uevent of its removal waits. */
static void test_reused_too_early(void **state)
{
	Fixture *f = *state;

	node_appears(f, VERBS, "uverbs0", "old");
	enumerate(f, "old", 5, NULL, 0);
	node_vanishes(f, VERBS, "uverbs0");
	node_appears(f, VERBS, "uverbs0", "new");
	enumerate(f, "new", 6, NULL, 0);
	uevent(f, true, "remove", VERBS, UVERBS0);
	assert_int_equal(f->r.n_going, 1);
	assert_int_equal(f->r.going[0], 5);
	uevent(f, true, "add", VERBS, UVERBS0);
	assert_true(recorded(&f->r, 6, EVENT_ALL_PORTS, REASON_CHARDEV));
	uevent(f, true, "remove", VERBS, UVERBS0);
	assert_int_equal(f->r.going[0], 6);
}

/* A renamed device is not found by the name that was enumerated; the next enumeration finds it. */
static void test_renamed_between(void **state)
{
	Fixture *f = *state;

	node_appears(f, VERBS, "uverbs0", "rxe0");
	enumerate(f, NULL, 0, NULL, 0);
	node_appears(f, VERBS, "uverbs0", "rocex");
	enumerate(f, "rxe0", 5, NULL, 0);
	enumerate(f, "rocex", 5, NULL, 0);
	uevent(f, true, "remove", VERBS, UVERBS0);
	assert_int_equal(f->r.n_going, 1);
	assert_int_equal(f->r.going[0], 5);
}

static void test_unknown(void **state)
{
	Fixture *f = *state;

	enumerate(f, "rxe0", 5, NULL, 0);
	/* The device of the node is not known: the enumeration shows which one is missing. */
	uevent(f, true, "remove", VERBS, UVERBS0);
	assert_int_equal(f->r.n_going, 0);
	assert_int_equal(f->r.n, 1);
	assert_true(recorded(&f->r, EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE));
	/* gone again before its device could be read */
	uevent(f, true, "add", VERBS, UVERBS0);
	assert_int_equal(f->r.n, 0);
	/* no such nodes */
	uevent(f, true, "remove", VERBS, "/devices/x/abi_version");
	assert_int_equal(f->r.n, 0);
	uevent(f, true, "remove", VERBS, "/devices/x/uverbs0123456789012345");
	assert_int_equal(f->r.n, 0);
	uevent(f, true, "add", VERBS, "/devices/x/..");
	assert_int_equal(f->r.n, 0);
	uevent(f, true, "add", VERBS, "/");
	assert_int_equal(f->r.n, 0);
}

#define RXE0 "/devices/virtual/infiniband/rxe0"

/* A device moves to another network namespace: it is still enumerated after its removal was told,
 * and nothing tells that it has gone. So it is looked for again until it has. */
static void test_leaving(void **state)
{
	Fixture *f = *state;

	enumerate(f, "rxe0", 5, "rxe1", 6);
	uevent(f, true, "remove", "infiniband", RXE0);
	for (unsigned int i = 0; i < 2; i++) {
		f->r = (Recorder){};
		enumerate(f, "rxe0", 5, "rxe1", 6);
		RUN_UNTIL(f->event, f->r.n > 0);
		assert_true(recorded(&f->r, EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE));
	}
	enumerate(f, "rxe1", 6, NULL, 0);
	assert_false(watch_udev_is_leaving(f->watch));
}

/* Nothing more is to be done if the device has come back or is not enumerated any more. */
static void test_not_leaving(void **state)
{
	Fixture *f = *state;

	enumerate(f, "rxe0", 5, NULL, 0);
	uevent(f, true, "remove", "infiniband", RXE0);
	uevent(f, true, "add", "infiniband", RXE0);
	enumerate(f, "rxe0", 7, NULL, 0);
	assert_false(watch_udev_is_leaving(f->watch));
	uevent(f, true, "remove", "infiniband", RXE0);
	uevent(f, true, "remove", "infiniband", "/devices/virtual/infiniband/rxe1");
	enumerate(f, "rxe0", 7, "rxe1", 8);
	enumerate(f, "rxe1", 8, NULL, 0);
	assert_true(watch_udev_is_leaving(f->watch));
	enumerate(f, NULL, 0, NULL, 0);
	assert_false(watch_udev_is_leaving(f->watch));
}

/* A device that does not go is looked for ten times, and then left to the look at everything. */
static void test_never_leaves(void **state)
{
	Fixture *f = *state;
	unsigned int n = 0;

	uevent(f, true, "remove", "infiniband", RXE0);
	do {
		enumerate(f, "rxe0", 5, NULL, 0);
	} while (watch_udev_is_leaving(f->watch) && ++n < 100);
	assert_int_equal(n, 10);
}

/* Too many descriptors are open to look into sysfs: the next enumeration does it. */
static void test_no_descriptor(void **state)
{
	struct rlimit limit, none;
	Fixture *f = *state;

	node_appears(f, VERBS, "uverbs0", "rxe0");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){0, limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	enumerate(f, "rxe0", 5, NULL, 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	enumerate(f, "rxe0", 5, NULL, 0);
	node_vanishes(f, VERBS, "uverbs0");
	uevent(f, true, "remove", VERBS, UVERBS0);
	assert_int_equal(f->r.n_going, 1);
	assert_int_equal(f->r.going[0], 5);
}

static void write_uevent(const char *path, unsigned int times)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	for (unsigned int i = 0; i < times; i++)
		assert_int_equal(write(fd, "change", 6), 6);
	close(fd);
}

/* What comes out of the sockets: the test says it, and when they can be read */

typedef struct Said {
	const char *action, *subsystem, *devpath;
} Said;

static struct {
	bool on;
	bool no_sockets;
	int pipes[2][2]; /* of the kernel and of udev */
	unsigned int n_listeners;
	const Said *next;
	size_t n; /* what is still to be said */
	unsigned int n_freed;
} script;

struct udev_monitor *__real_udev_monitor_new_from_netlink(struct udev *udev, const char *name);
struct udev_monitor *__wrap_udev_monitor_new_from_netlink(struct udev *udev, const char *name);
struct udev_monitor *__wrap_udev_monitor_new_from_netlink(struct udev *udev, const char *name)
{
	errno = EMFILE;
	return script.no_sockets ? NULL : __real_udev_monitor_new_from_netlink(udev, name);
}

int __real_udev_monitor_get_fd(struct udev_monitor *m);
int __wrap_udev_monitor_get_fd(struct udev_monitor *m);
int __wrap_udev_monitor_get_fd(struct udev_monitor *m)
{
	/* each listener asks twice */
	return script.on ? script.pipes[script.n_listeners++ / 2][0]
			 : __real_udev_monitor_get_fd(m);
}

struct udev_device *__real_udev_monitor_receive_device(struct udev_monitor *m);
struct udev_device *__wrap_udev_monitor_receive_device(struct udev_monitor *m);
struct udev_device *__wrap_udev_monitor_receive_device(struct udev_monitor *m)
{
	if (!script.on)
		return __real_udev_monitor_receive_device(m);
	errno = EAGAIN;
	return script.n == 0 ? NULL : (script.n--, CONST_CAST(struct udev_device *, script.next++));
}

const char *__wrap_udev_device_get_action(struct udev_device *d);
const char *__wrap_udev_device_get_action(struct udev_device *d)
{
	return ((const Said *)d)->action;
}

const char *__wrap_udev_device_get_subsystem(struct udev_device *d);
const char *__wrap_udev_device_get_subsystem(struct udev_device *d)
{
	return ((const Said *)d)->subsystem;
}

const char *__wrap_udev_device_get_devpath(struct udev_device *d);
const char *__wrap_udev_device_get_devpath(struct udev_device *d)
{
	return ((const Said *)d)->devpath;
}

struct udev_device *__wrap_udev_device_unref(struct udev_device *d);
struct udev_device *__wrap_udev_device_unref(_unused_ struct udev_device *d)
{
	script.n_freed++;
	return NULL;
}

/* N uevents come, of the kernel or of udev. */
static void hear(Fixture *f, bool of_udev, const Said *said, size_t n)
{
	char one;

	f->r = (Recorder){};
	script.next = said;
	script.n = n;
	script.n_freed = 0;
	assert_int_equal(write(script.pipes[of_udev][1], "x", 1), 1);
	while (script.n > 0)
		assert_true(sd_event_run(f->event, USEC_PER_SEC) > 0);
	assert_int_equal(read(script.pipes[of_udev][0], &one, 1), 1);
	assert_int_equal(script.n_freed, n);
}

/* Where no uevents are heard, sysfs says each time whose the nodes are now. */
static void test_not_listening(void **state)
{
	Fixture *f = *state;

	watch_udev_free(f->watch);
	watch_udev_free(NULL);
	assert_int_equal(watch_udev_new(f->event, f->root, &recorder_handler, &f->r, &f->watch), 0);
	script.no_sockets = true;
	assert_int_equal(watch_udev_listen(f->watch), -EMFILE);
	script.no_sockets = false;
	node_appears(f, VERBS, "uverbs0", "old");
	enumerate(f, "old", 5, NULL, 0);
	node_appears(f, VERBS, "uverbs0", "new");
	enumerate(f, "new", 6, NULL, 0);
	uevent(f, true, "remove", VERBS, UVERBS0);
	assert_int_equal(f->r.n_going, 1);
	assert_int_equal(f->r.going[0], 6);
}

static void test_sockets(void **state)
{
	static const Said said[] = {
		{"add", "infiniband", RXE0},
		{NULL, "infiniband", RXE0},
		{"add", NULL, RXE0},
		{"add", "infiniband", NULL},
	};
	static Said many[100];
	Fixture *f = *state;

	watch_udev_free(f->watch);
	script.on = true;
	script.n_listeners = 0;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(pipe(script.pipes[i]), 0);
	assert_int_equal(watch_udev_new(f->event, f->root, &recorder_handler, &f->r, &f->watch), 0);
	assert_int_equal(watch_udev_listen(f->watch), 0);
	assert_int_equal(script.n_listeners, 4);

	/* a uevent without one of its parts is none */
	hear(f, false, said, ARRAY_SIZE(said));
	assert_int_equal(f->r.n, 1);
	assert_true(recorded(&f->r, EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_DEVICE));
	assert_int_equal(f->r.overruns, 0);
	/* from udev it is nothing new */
	hear(f, true, said, ARRAY_SIZE(said));
	assert_int_equal(f->r.n + f->r.overruns, 0);
	/* all of many */
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = said[0];
	hear(f, false, many, ARRAY_SIZE(many));
	assert_int_equal(f->r.n, ARRAY_SIZE(many));

	/* A socket has an end: that is an overrun, once, and the other one is still heard. */
	close(script.pipes[0][1]);
	RUN_UNTIL(f->event, f->r.overruns > 0);
	for (unsigned int i = 0; i < 5; i++)
		assert_true(sd_event_run(f->event, 0) >= 0);
	assert_int_equal(f->r.overruns, 1);
	node_appears(f, VERBS, "uverbs0", "rxe0");
	enumerate(f, "rxe0", 5, NULL, 0);
	hear(f, true, &(Said){"add", VERBS, UVERBS0}, 1);
	assert_true(recorded(&f->r, 5, EVENT_ALL_PORTS, REASON_CHARDEV));
	close(script.pipes[1][1]);
	script.on = false;
}

/* More uevents come than the socket has room for. They are of another subsystem, but the kernel
 * drops those of all subsystems then. A node whose uevent was lost is found in sysfs. */
static void test_overrun(void **state)
{
	Fixture *f = *state;
	char sysfs[] = "/tmp/rdmad-test-XXXXXX", path[64];

	if (!enter_namespace(sysfs)) {
		print_message("no namespaces here\n");
		skip();
	}
	/* in the new namespace, with the sysfs made by hand */
	watch_udev_free(f->watch);
	assert_int_equal(watch_udev_new(f->event, f->root, &recorder_handler, &f->r, &f->watch), 0);
	assert_int_equal(watch_udev_listen(f->watch), 0);
	snprintf(path, sizeof(path), "%s/class/net/lo/uevent", sysfs);
	if (access(path, W_OK) < 0) {
		print_message("no uevents here\n");
		skip();
	}
	enumerate(f, "rxe0", 5, NULL, 0);
	node_appears(f, VERBS, "uverbs0", "rxe0");
	write_uevent(path, 30000);
	RUN_UNTIL(f->event, f->r.overruns > 0);
	assert_int_equal(f->r.n, 0);
	RUN_ALL(f->event);
	enumerate(f, "rxe0", 5, NULL, 0);
	uevent(f, true, "remove", VERBS, UVERBS0);
	assert_int_equal(f->r.n_going, 1);
	assert_int_equal(f->r.going[0], 5);
	umount(sysfs);
	rmdir(sysfs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_devices, begin, end),
		cmocka_unit_test_setup_teardown(test_existing, begin, end),
		cmocka_unit_test_setup_teardown(test_life, begin, end),
		cmocka_unit_test_setup_teardown(test_reused_too_early, begin, end),
		cmocka_unit_test_setup_teardown(test_not_listening, begin, end),
		cmocka_unit_test_setup_teardown(test_renamed_between, begin, end),
		cmocka_unit_test_setup_teardown(test_unknown, begin, end),
		cmocka_unit_test_setup_teardown(test_leaving, begin, end),
		cmocka_unit_test_setup_teardown(test_not_leaving, begin, end),
		cmocka_unit_test_setup_teardown(test_never_leaves, begin, end),
		cmocka_unit_test_setup_teardown(test_no_descriptor, begin, end),
		cmocka_unit_test_setup_teardown(test_sockets, begin, end),
		/* last: it leaves the namespace */
		cmocka_unit_test_setup_teardown(test_overrun, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
