/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel as a source, between watchers and workers that are made here: the functions of those
 * modules are defined in this file, so the linker does not take them from the library.
 */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <sys/stat.h>

#include "log.h"
#include "pool.h"
#include "source-kernel.h"
#include "watch-nldev.h"
#include "watch-rtnl.h"
#include "watch-udev.h"

static struct {
	/* What the modules below shall answer */
	int udev, rtnl, nldev, query, enumerate;
	size_t n_devices, n_left_out;
	bool monitor_mode, wedged;
	uint64_t asked; /* the query of device 5 that is under way */
	/* What they were told */
	const SourceHandler *pool_handler;
	const void *pool_userdata;
	const WatchHandler *watch_handler;
	void *userdata;
	unsigned int listens, releases, devices, forgotten, rtnl_forgotten, ports, frees;
	char order[256], warning[128];
	/* What the core was told */
	unsigned int events, recovered, ends;
	uint64_t end_id;
	int end_error;
} fake;

int __wrap_log_full(int level, int r, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int __wrap_log_full(int level, int r, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (level == LOG_WARNING)
		(void)vsnprintf(fake.warning, sizeof(fake.warning), format, arguments);
	va_end(arguments);
	return r;
}

static void note(char c)
{
	size_t n = strlen(fake.order);

	assert_true(n + 1 < sizeof(fake.order));
	fake.order[n] = c;
}

struct Pool {
	int unused;
};

struct WatchNldev {
	int unused;
};

struct WatchUdev {
	int unused;
};

struct WatchRtnl {
	int unused;
};

int pool_new(_unused_ sd_event *event, _unused_ const Config *config,
	     _unused_ const char *worker_path, const SourceHandler *handler, void *userdata,
	     Pool **ret)
{
	static Pool pool;

	fake.pool_handler = handler;
	fake.pool_userdata = userdata;
	*ret = &pool;
	return 0;
}

Pool *pool_free(_unused_ Pool *p)
{
	fake.frees++;
	return NULL;
}

int pool_query(_unused_ Pool *p, const Query *q)
{
	if (fake.query == 0)
		fake.asked = q->id;
	return fake.query;
}

void pool_hurry(_unused_ Pool *p, uint32_t device)
{
	assert_int_equal(device, 5);
	note('h');
}

bool pool_forget(_unused_ Pool *p, uint32_t device, uint64_t *ret_asked)
{
	assert_int_equal(device, 5);
	*ret_asked = fake.asked;
	fake.asked = 0;
	fake.forgotten++;
	note('f');
	return fake.wedged;
}

int watch_nldev_new(_unused_ sd_event *event, const WatchHandler *handler, void *userdata,
		    WatchNldev **ret)
{
	static WatchNldev w;

	fake.watch_handler = handler;
	fake.userdata = userdata;
	*ret = &w;
	return 0;
}

void watch_nldev_free(_unused_ WatchNldev *w)
{
	fake.frees++;
}

int watch_nldev_listen(_unused_ WatchNldev *w)
{
	fake.listens++;
	note('l');
	return fake.nldev;
}

void watch_nldev_release(_unused_ WatchNldev *w)
{
	fake.releases++;
}

void watch_nldev_status(_unused_ const WatchNldev *w, SourceStatus *ret)
{
	*ret = (SourceStatus){.monitor_mode = fake.monitor_mode};
}

int watch_nldev_enumerate(DeviceSnapshot **ret, size_t *ret_n, size_t *ret_left_out)
{
	note('e');
	if (fake.enumerate < 0)
		return fake.enumerate;
	*ret = calloc(fake.n_devices + 1, sizeof(**ret));
	*ret_n = fake.n_devices;
	*ret_left_out = fake.n_left_out;
	return 0;
}

int watch_udev_new(_unused_ sd_event *event, const char *sysfs,
		   _unused_ const WatchHandler *handler, _unused_ void *userdata, WatchUdev **ret)
{
	static WatchUdev w;

	assert_string_equal(sysfs, "/sys");
	*ret = &w;
	return 0;
}

void watch_udev_free(_unused_ WatchUdev *w)
{
	fake.frees++;
}

int watch_udev_listen(_unused_ WatchUdev *w)
{
	note('u');
	return fake.udev;
}

void watch_udev_devices(_unused_ WatchUdev *w, const DeviceSnapshot *devices, size_t n)
{
	assert_non_null(devices);
	assert_int_equal(n, fake.n_devices);
	fake.devices++;
}

int watch_rtnl_new(_unused_ sd_event *event, const char *sysfs,
		   _unused_ const WatchHandler *handler, _unused_ void *userdata, WatchRtnl **ret)
{
	static WatchRtnl w;

	assert_string_equal(sysfs, "/sys");
	*ret = &w;
	return 0;
}

void watch_rtnl_free(_unused_ WatchRtnl *w)
{
	fake.frees++;
}

int watch_rtnl_listen(_unused_ WatchRtnl *w)
{
	note('r');
	return fake.rtnl;
}

void watch_rtnl_port(_unused_ WatchRtnl *w, uint32_t device, uint32_t port,
		     _unused_ const PortSnapshot *now)
{
	assert_int_equal(device, 5);
	assert_int_equal(port, 2);
	fake.ports++;
}

void watch_rtnl_forget(_unused_ WatchRtnl *w, uint32_t device)
{
	assert_int_equal(device, 5);
	fake.rtnl_forgotten++;
}

/* The core */

static void on_event(_unused_ void *userdata, const Event *e)
{
	assert_int_equal(e->device, 5);
	fake.events++;
	fake.recovered += e->reason == REASON_RECOVERED;
}

static void on_end(_unused_ void *userdata, uint64_t id, int error, _unused_ QueryErrorCode code,
		   const char *text)
{
	assert_non_null(text);
	fake.ends++;
	fake.end_id = id;
	fake.end_error = error;
	note('E');
}

#define CORE ((void *)&fake)

static const SourceHandler core = {.event = on_event, .end = on_end};

static int begin(void **state)
{
	const Config config = CONFIG_DEFAULT;
	Source *s;

	memset(&fake, 0, sizeof(fake));
	assert_int_equal(source_kernel_new(NULL, &config, NULL, &core, CORE, &s), 0);
	*state = s;
	return 0;
}

static int end(void **state)
{
	source_free(*state);
	assert_int_equal(fake.frees, 4);
	return 0;
}

static void test_start(void **state)
{
	Source *s = *state;

	assert_int_equal(s->ops->start(s), 0);
	assert_string_equal(fake.order, "url");
	/* One of them is enough, and to have no RDMA modules is no failure. */
	fake.udev = -EPERM;
	assert_int_equal(s->ops->start(s), 0);
	fake.rtnl = -EAFNOSUPPORT;
	fake.nldev = 1;
	assert_int_equal(s->ops->start(s), 0);
	fake.nldev = -EACCES;
	assert_int_equal(s->ops->start(s), -EPERM);
	fake.nldev = 0;
	assert_int_equal(s->ops->start(s), -EPERM);
	fake.udev = 0;
	assert_int_equal(s->ops->start(s), 0);
}

static void test_enumerate(void **state)
{
	Source *s = *state;
	DeviceSnapshot *devices;
	size_t n;

	assert_int_equal(s->ops->start(s), 0);
	memset(fake.order, 0, sizeof(fake.order));
	fake.n_devices = 2;
	assert_int_equal(s->ops->enumerate(s, &devices, &n), 0);
	assert_int_equal(n, 2);
	device_array_free(devices, n);
	assert_string_equal(fake.order, "rle"); /* listen first */
	assert_int_equal(fake.devices, 1);
	assert_int_equal(fake.releases, 0);
	/* Nothing is left: ib_core may be unloaded. */
	fake.n_devices = 0;
	assert_int_equal(s->ops->enumerate(s, &devices, &n), 0);
	device_array_free(devices, n);
	assert_int_equal(fake.releases, 1);
	/* That announcements are not to be had does not stop it; an error of the list does. */
	fake.nldev = -EPERM;
	assert_int_equal(s->ops->enumerate(s, &devices, &n), 0);
	device_array_free(devices, n);
	fake.enumerate = -EIO;
	assert_int_equal(s->ops->enumerate(s, &devices, &n), -EIO);
	assert_int_equal(fake.devices, 3);
}

/* Without uevents nobody would tell us of the next device. */
/* Devices that are left out are told once. */
static void test_left_out(void **state)
{
	static const struct {
		size_t n;
		const char *warns; /* NULL: it does not */
	} lists[] = {{0, NULL}, {1, "1 "}, {1, NULL}, {3, "3 "}, {2, NULL}, {0, NULL}, {1, "1 "}};
	Source *s = *state;
	DeviceSnapshot *devices;
	size_t n;

	assert_int_equal(s->ops->start(s), 0);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		fake.n_left_out = lists[i].n;
		fake.warning[0] = '\0';
		assert_int_equal(s->ops->enumerate(s, &devices, &n), 0);
		device_array_free(devices, n);
		if (lists[i].warns)
			assert_ptr_equal(strstr(fake.warning, lists[i].warns), fake.warning);
		else
			assert_string_equal(fake.warning, "");
	}
}

static void test_enumerate_deaf(void **state)
{
	Source *s = *state;
	DeviceSnapshot *devices;
	size_t n;

	fake.udev = -EPERM;
	assert_int_equal(s->ops->start(s), 0);
	assert_int_equal(s->ops->enumerate(s, &devices, &n), 0);
	device_array_free(devices, n);
	assert_int_equal(fake.releases, 0);
}

static void test_queries(void **state)
{
	const Query q = {.id = 77, .device = 5};
	Source *s = *state;

	/* going: closed at once, and its query ends, once */
	assert_int_equal(s->ops->query(s, &q), 0);
	fake.watch_handler->going(fake.userdata, 5);
	assert_string_equal(fake.order, "fE");
	assert_int_equal(fake.end_id, 77);
	assert_int_equal(fake.end_error, -ENODEV);
	fake.watch_handler->going(fake.userdata, 5);
	assert_int_equal(fake.ends, 1);
	assert_int_equal(fake.forgotten, 2);
	/* refused */
	fake.query = -EBUSY;
	assert_int_equal(s->ops->query(s, &q), -EBUSY);
	fake.watch_handler->going(fake.userdata, 5);
	assert_int_equal(fake.ends, 1);
	/* forgotten by the core: no end */
	fake.query = 0;
	assert_int_equal(s->ops->query(s, &q), 0);
	s->ops->forget(s, 5);
	fake.watch_handler->going(fake.userdata, 5);
	assert_int_equal(fake.ends, 1);
	assert_int_equal(fake.rtnl_forgotten, 1);
}

/* The character device of a wedged device goes, and the device stays: it is asked again. */
static void test_going_while_wedged(void **state)
{
	Source *s = *state;

	fake.watch_handler->going(fake.userdata, 5);
	assert_int_equal(fake.recovered, 0);
	fake.wedged = true;
	fake.watch_handler->going(fake.userdata, 5);
	assert_int_equal(fake.recovered, 1);
	assert_int_equal(fake.ends, 0);
	/* the core itself forgets it together with what it knows of it */
	s->ops->forget(s, 5);
	assert_int_equal(fake.recovered, 1);
}

static void test_passes_on(void **state)
{
	Source *s = *state;
	SourceStatus status;

	fake.watch_handler->event(fake.userdata, &(Event){5, 1, REASON_LINK});
	assert_int_equal(fake.events, 1);
	/* what the workers say goes to the core directly */
	assert_ptr_equal(fake.pool_handler, &core);
	assert_ptr_equal(fake.pool_userdata, CORE);
	s->ops->netdevs_changed(s, 5, 2, NULL);
	assert_int_equal(fake.ports, 1);
	s->ops->status(s, &status);
	assert_false(status.monitor_mode);
	assert_false(status.simulated);
	fake.monitor_mode = true;
	s->ops->status(s, &status);
	assert_true(status.monitor_mode);
}

/* Whether hardware is there, and driven, and the same as before. */
static void test_parent(void **state)
{
	const Source *s = *state;
	char directory[] = "/tmp/rdmad-test.XXXXXX", path[128], device[64];
	uint64_t identity = 1, other = 1;

	assert_non_null(mkdtemp(directory));
	snprintf(device, sizeof(device), "%s/0000:01:00.0", directory);
	snprintf(path, sizeof(path), "%s/driver", device);
	assert_int_equal(s->ops->parent(s, device, &identity), PARENT_GONE);
	assert_int_equal(identity, 0);
	assert_int_equal(mkdir(device, 0755), 0);
	assert_int_equal(s->ops->parent(s, device, &identity), PARENT_WITHOUT_DRIVER);
	assert_true(identity > 0);
	assert_int_equal(symlink("nowhere", path), 0);
	assert_int_equal(s->ops->parent(s, device, &other), PARENT_PRESENT);
	assert_int_equal(other, identity);
	/* what is no directory says nothing */
	assert_int_equal(s->ops->parent(s, path, &other), PARENT_GONE);
	assert_int_equal(s->ops->parent(s, "/proc/self/stat", &other), PARENT_UNKNOWN);
	assert_int_equal(other, 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(device), 0);
	assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_start, begin, end),
		cmocka_unit_test_setup_teardown(test_enumerate, begin, end),
		cmocka_unit_test_setup_teardown(test_left_out, begin, end),
		cmocka_unit_test_setup_teardown(test_enumerate_deaf, begin, end),
		cmocka_unit_test_setup_teardown(test_queries, begin, end),
		cmocka_unit_test_setup_teardown(test_going_while_wedged, begin, end),
		cmocka_unit_test_setup_teardown(test_passes_on, begin, end),
		cmocka_unit_test_setup_teardown(test_parent, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
