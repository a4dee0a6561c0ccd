/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a query asks the kernel about its device, and whether it opens the device. The kernel and
 * the contexts are in this program: the device can be renamed, replaced and removed between any two
 * questions.
 */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <fcntl.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "target-double.h"

/* The worker, which remembers the device from one query to the next */

static Querier querier;

static int setup(_unused_ void **state)
{
	memset(&kernel, 0, sizeof(kernel));
	memset(&contexts, 0, sizeof(contexts));
	memset(n_logged, 0, sizeof(n_logged));
	log_max_level = LOG_DEBUG;
	kernel.names[0] = "mlx5_0";
	kernel.driver_id = RDMA_DRIVER_MLX5;
	contexts.listed = true;
	assert_int_equal(querier_init(&querier, &(PolicyOptions){.hold = true}, USEC_PER_SEC), 0);
	querier.kernel = KERNEL(6, 12);
	return 0;
}

static int teardown(_unused_ void **state)
{
	querier_done(&querier);
	return 0;
}

/* As a query does: nothing stays open of T but what is held. */
static int open_target(Query *q, Target *t)
{
	q->id = 1;
	q->device = DEVICE;
	if (!q->name[0])
		text_copy(q->name, sizeof(q->name), "mlx5_0");
	kernel.n_asked = kernel.n_nodes = 0;
	contexts.n_got = contexts.n_put = contexts.n_forgotten = contexts.n_queried = 0;
	return target_open(&querier, q, t);
}

static void ask(Query q)
{
	Target t;

	assert_int_equal(open_target(&q, &t), 0);
	target_close(&t);
	assert_int_equal(contexts.n_put, contexts.n_got);
}

#define ATTRIBUTES ((Query){.attributes = true, .parts = READ_VERBS})

/* A device that is known, of which the kernel is asked about a port anyway, is not looked at again.
 * This includes devices of drivers without a number of their own, which is 0. */
static void test_familiar(_unused_ void **state)
{
	for (kernel.driver_id = 0; kernel.driver_id < 2; kernel.driver_id++) {
		ask(ATTRIBUTES);
		assert_true(kernel.n_asked > 0);
		assert_int_equal(kernel.n_nodes, 1);
		contexts.held = false;
		ask((Query){.parts = READ_LINKS});
		ask((Query){.parts = READ_DCB | READ_SIGNAL});
		assert_int_equal(kernel.n_asked, 0);
		assert_int_equal(kernel.n_nodes, 0);
		/* one that is held is there */
		contexts.held = true;
		ask((Query){.parts = READ_VERBS});
		ask((Query){.kind = QUERY_COUNTERS});
		assert_int_equal(kernel.n_asked, 0);
	}
}

/* Each of these looks whether the device is there, and only the device's own attributes and a new
 * name are a reason to learn what the device is like. */
static void test_asked_again(_unused_ void **state)
{
	ask(ATTRIBUTES);
	contexts.held = false;
	ask((Query){.parts = READ_LINKS | READ_VERBS});
	assert_int_equal(kernel.n_asked, 1);
	assert_int_equal(kernel.n_nodes, 0);
	contexts.held = false;
	ask((Query){});
	assert_int_equal(kernel.n_asked, 1);
	ask((Query){.kind = QUERY_USERS, .parts = READ_LINKS});
	assert_int_equal(kernel.n_asked, 1);
	assert_int_equal(kernel.n_nodes, 0);
	/* the core has not heard of the new name */
	kernel.names[0] = "new";
	ask((Query){.parts = READ_VERBS});
	assert_int_equal(kernel.n_nodes, 1);
	ask((Query){.parts = READ_LINKS});
	assert_true(kernel.n_asked > 0);
	assert_int_equal(kernel.n_nodes, 0);
	ask((Query){.name = "new", .parts = READ_LINKS});
	assert_int_equal(kernel.n_asked, 0);
	/* also one that is held, if the core knows a newer name */
	contexts.held = true;
	kernel.names[0] = "newer";
	ask((Query){.name = "newer", .parts = READ_LINKS});
	assert_int_equal(kernel.n_nodes, 1);
	ask(ATTRIBUTES);
	assert_int_equal(kernel.n_nodes, 1);
}

/* A device without a uverbs node may have one the next time. */
static void test_no_node(_unused_ void **state)
{
	kernel.driver_id = -1;
	ask(ATTRIBUTES);
	kernel.driver_id = RDMA_DRIVER_MLX5;
	ask((Query){.parts = READ_LINKS});
	assert_int_equal(kernel.n_nodes, 1);
	assert_int_equal(known_find(&querier.known, DEVICE)->verbs.driver_id, RDMA_DRIVER_MLX5);
}

/* What was known of a device that has gone is forgotten, and so is what is held of it. */
static void test_gone(_unused_ void **state)
{
	Query q = ATTRIBUTES;
	Target t;

	ask(q);
	kernel.error = -EINVAL; /* what the kernel says of such a device */
	assert_int_equal(open_target(&q, &t), -ENODEV);
	assert_int_equal(contexts.n_forgotten, 1);
	assert_null(known_find(&querier.known, DEVICE));
	/* another error says nothing of the device */
	kernel.error = 0;
	ask(q);
	kernel.error = -ENOBUFS;
	assert_int_equal(open_target(&q, &t), -ENOBUFS);
	assert_int_equal(contexts.n_forgotten, 0);
	assert_non_null(known_find(&querier.known, DEVICE));
}

static void test_is_gone(_unused_ void **state)
{
	Query q = ATTRIBUTES;
	Target t;

	assert_int_equal(open_target(&q, &t), 0);
	kernel.names[0] = "new";
	assert_false(target_is_gone(&t));
	assert_string_equal(t.name, "new");
	kernel.error = -ENOBUFS;
	assert_false(target_is_gone(&t));
	kernel.error = -EINVAL;
	assert_true(target_is_gone(&t));
	assert_string_equal(t.name, "new");
	target_close(&t);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* The device is renamed before its directory is open: the directory of the old name is not its. */
static void test_renamed(_unused_ void **state)
{
	Query q = ATTRIBUTES;
	Target t;

	kernel.names[1] = kernel.names[2] = "new";
	assert_int_equal(open_target(&q, &t), 0);
	assert_int_equal(kernel.n_opened, 2);
	assert_string_equal(kernel.opened[0], "mlx5_0");
	assert_string_equal(kernel.opened[1], "new");
	assert_int_equal(t.sysfs, kernel.directories[1]);
	assert_string_equal(t.name, "new");
	/* the first descriptor is the lowest, so the second directory has another one */
	assert_true(is_open(t.sysfs));
	assert_int_equal(target_sysfs(&t), kernel.directories[1]);
	assert_int_equal(kernel.n_opened, 2);
	target_close(&t);
	assert_false(is_open(kernel.directories[1]));
}

/* It is renamed each time, and there is an end. */
static void test_renamed_again_and_again(_unused_ void **state)
{
	Query q = ATTRIBUTES;
	Target t;

	kernel.names[1] = "b";
	kernel.names[2] = "c";
	kernel.names[3] = "d";
	assert_int_equal(open_target(&q, &t), 0);
	assert_int_equal(kernel.n_opened, 3);
	assert_true(t.sysfs < 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_false(is_open(kernel.directories[i]));
	target_close(&t);
}

/* The device goes before its directory is open. */
static void test_gone_in_between(_unused_ void **state)
{
	Query q = {.parts = READ_LINKS};
	Target t;

	ask(ATTRIBUTES);
	assert_int_equal(open_target(&q, &t), 0);
	kernel.error = -EINVAL;
	assert_true(target_sysfs(&t) < 0);
	assert_int_equal(kernel.n_opened, 2);
	assert_false(is_open(kernel.directories[1]));
	target_close(&t);
}

/* A query opens the device if it reads what needs a context, and holds it if the policy says so. */
static void test_context(_unused_ void **state)
{
	Query q = {.parts = READ_LINKS};
	Target t;

	ask(ATTRIBUTES);
	assert_int_equal(contexts.n_got, 1);
	assert_int_equal(contexts.n_queried, 1);
	assert_true(contexts.held);
	ask((Query){.parts = READ_LINKS}); /* it is open anyway */
	assert_int_equal(contexts.n_got, 1);
	assert_int_equal(contexts.n_queried, 0);
	contexts.held = false;
	ask((Query){.kind = QUERY_COUNTERS, .parts = READ_VERBS});
	ask((Query){.kind = QUERY_USERS, .parts = READ_VERBS});
	assert_int_equal(contexts.n_got, 0);
	assert_int_equal(open_target(&q, &t), 0);
	assert_int_equal(contexts.n_got, 0);
	/* something needs it after all, twice */
	target_open_context(&t);
	target_open_context(&t);
	assert_int_equal(contexts.n_got, 1);
	assert_ptr_equal(t.context, &context);
	target_close(&t);
	for (unsigned int i = 0; i < 3; i++) {
		contexts.held = false;
		ask((Query){.parts = (unsigned int[]){READ_VERBS, READ_GIDS, READ_DIRECT}[i]});
		assert_int_equal(contexts.n_got, 1);
	}
}

/* A device that must not be opened is not, and what is held of it from before goes. */
static void test_policy_changes(_unused_ void **state)
{
	static char new[] = "new";
	char *globs[] = {new, NULL};

	querier.policy.never_open = globs;
	ask(ATTRIBUTES);
	assert_int_equal(contexts.n_forgotten, 0);
	assert_true(contexts.held);
	kernel.names[0] = "new";
	ask(ATTRIBUTES);
	assert_int_equal(contexts.n_forgotten, 1);
	assert_int_equal(contexts.n_got, 0);
	assert_false(contexts.held);
	assert_int_equal(known_find(&querier.known, DEVICE)->open_error, 0);
	querier.policy = (PolicyOptions){};
	kernel.names[0] = "mlx5_0";
	ask(ATTRIBUTES);
	assert_int_equal(contexts.n_got, 1);
	assert_false(contexts.held);
}

/* A device that has one user at a time is opened by no worker: it is asked in a process of its own,
 * if the administrator says so. */
static void test_exclusive(_unused_ void **state)
{
	Query q = ATTRIBUTES;
	Target t;

	kernel.driver = "habanalabs";
	for (unsigned int hbl = 0; hbl < 2; hbl++) {
		querier.policy.hbl = hbl;
		assert_int_equal(open_target(&q, &t), 0);
		assert_string_equal(t.known->dv->name, "hbl");
		assert_int_equal(t.is_isolated, hbl);
		assert_int_equal(contexts.n_got, 0);
		assert_int_equal(t.open_error, 0);
		target_close(&t);
	}
	kernel.driver = "mlx5_core";
	assert_int_equal(open_target(&q, &t), 0);
	assert_string_equal(t.known->dv->name, "mlx5");
	assert_false(t.is_isolated);
	assert_int_equal(contexts.n_got, 1);
	target_close(&t);
}

/* What is learned of a device, and each time anew. */
static void test_learned(_unused_ void **state)
{
	const Known *k;

	kernel.driver_id = RDMA_DRIVER_EFA;
	ask(ATTRIBUTES);
	k = known_find(&querier.known, DEVICE);
	assert_true(mask_has(&k->unmeasured, PORT_ATTR_state));
	assert_false(k->verbs.opa || k->verbs.incomplete);
	assert_int_equal(k->first_port, 1);
	kernel.driver_id = RDMA_DRIVER_HFI1;
	kernel.is_opa = kernel.is_switch = true;
	ask(ATTRIBUTES);
	assert_false(mask_has(&k->unmeasured, PORT_ATTR_state));
	assert_true(k->verbs.opa && k->verbs.incomplete);
	assert_int_equal(k->first_port, 0);
	assert_true(k->has_cap_flags);
	assert_int_equal(k->verbs.cap_flags, 0x1234);
}

/* The health of its function is read only if that is asked for, and where there is one. */
static void test_health(_unused_ void **state)
{
	Query q = ATTRIBUTES;
	Target t;

	kernel.driver = "mlx5_core";
	kernel.has_instance = true;
	ask(q);
	assert_int_equal(kernel.n_health, 0);
	q.health = true;
	assert_int_equal(open_target(&q, &t), 0);
	assert_true(t.has_health);
	assert_int_equal(t.health->n, 1);
	target_close(&t);
	kernel.has_instance = false;
	ask(q);
	kernel.driver = NULL;
	kernel.has_instance = true;
	ask(q);
	assert_int_equal(kernel.n_health, 1);
	kernel.driver = "mlx5_core";
	for (unsigned int i = 0; i < 3; i++) {
		kernel.health_error = (int[]){-EOPNOTSUPP, -ENODEV, -EIO}[i];
		assert_int_equal(open_target(&q, &t), 0);
		assert_false(t.has_health);
		target_close(&t);
		/* a kernel or a function without it is nothing to speak of */
		assert_int_equal(n_logged[LOG_DEBUG], i == 2);
	}
}

static int open_error(int error, bool listed)
{
	Query q = ATTRIBUTES;
	int r;
	Target t;

	contexts.error = error;
	contexts.listed = listed;
	assert_int_equal(open_target(&q, &t), 0);
	r = t.open_error;
	assert_null(t.context);
	assert_true(t.tried_open);
	target_close(&t);
	return r;
}

/* Why a device is not open: what libibverbs says, but for a device that it does not list. */
static void test_open_error(_unused_ void **state)
{
	assert_int_equal(open_error(-EACCES, true), -EACCES);
	assert_int_equal(open_error(-ENODEV, true), -ENODEV);
	assert_int_equal(open_error(-EACCES, false), -EACCES);
	assert_int_equal(contexts.n_got, 1);
	/* it has a node, which this machine has not in /dev, or which libibverbs does not know */
	assert_in_set(-open_error(-ENODEV, false), ((uint64_t[]){ENOENT, EOPNOTSUPP}), 2);
	/* without a node libibverbs is not asked */
	kernel.driver_id = -1;
	assert_int_equal(open_error(-EACCES, true), -ENXIO);
	assert_int_equal(contexts.n_got, 0);
}

/* Each reason is told once, and what is nobody's business not aloud. */
static void test_open_error_is_logged(_unused_ void **state)
{
	open_error(-EACCES, true);
	open_error(-EACCES, true);
	assert_int_equal(n_logged[LOG_WARNING], 1);
	open_error(-EIO, true);
	assert_int_equal(n_logged[LOG_WARNING], 2);
	open_error(-ENODEV, true);
	assert_int_equal(n_logged[LOG_DEBUG], 1);
	open_error(-ENXIO, true);
	assert_int_equal(n_logged[LOG_INFO], 1);
	/* that it is open is no message, and after it the reason is news again */
	contexts.error = 0;
	ask(ATTRIBUTES);
	contexts.held = false;
	assert_int_equal(n_logged[LOG_DEBUG], 1);
	open_error(-ENXIO, true);
	assert_int_equal(n_logged[LOG_INFO], 2);
	assert_int_equal(n_logged[LOG_WARNING], 2);
}

/* The context says that the device has gone, which is there: another one is opened, and the events
 * of the old one can still be read. */
static void test_reopen(_unused_ void **state)
{
	Query q = ATTRIBUTES;
	Target t;

	assert_int_equal(open_target(&q, &t), 0);
	t.gids = (VerbsGids){calloc(1, sizeof(*t.gids.entries)), 1};
	target_reopen(&t);
	assert_null(t.gids.entries);	     /* those of the old one */
	assert_int_equal(contexts.n_put, 0); /* that would close it */
	assert_int_equal(contexts.n_retired, 1);
	assert_int_equal(contexts.n_got, 2);
	assert_ptr_equal(t.context, &context);
	contexts.held = false;
	contexts.error = -EIO;
	target_reopen(&t);
	assert_int_equal(contexts.n_put, 1);
	assert_null(t.context);
	assert_int_equal(t.open_error, -EIO);
	target_reopen(&t);
	assert_int_equal(contexts.n_got, 3);
	target_close(&t);
	assert_int_equal(contexts.n_put, 1);
}

/* What a query has opened and read ends with it. */
static void test_close(_unused_ void **state)
{
	Query q = ATTRIBUTES;
	Target t;
	int fd;

	assert_int_equal(open_target(&q, &t), 0);
	t.isolated.fd = fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	t.gids = (VerbsGids){calloc(1, sizeof(*t.gids.entries)), 1};
	target_close(&t);
	assert_false(is_open(fd));
	assert_null(t.gids.entries);
}

/* The interfaces are read again only when the core says that they may have changed. */
static void test_ipoib(_unused_ void **state)
{
	for (uint32_t generation = 0; generation < 3; generation++) {
		Query q = {.parts = READ_LINKS, .links_generation = generation};
		Ipoib *list;
		size_t n;
		Target t;

		assert_int_equal(open_target(&q, &t), 0);
		for (unsigned int i = 0; i < 2; i++) {
			n = 0;
			assert_int_equal(target_ipoib(&t, &list, &n), 0);
			assert_int_equal(n, 1);
			assert_ptr_equal(list, querier.ipoib);
		}
		assert_int_equal(kernel.n_links, generation + 1);
		/* what cannot be read is as it was, and is read the next time */
		kernel.links_error = -EBUSY;
		q.links_generation++;
		assert_int_equal(target_ipoib(&t, &list, &n), -EBUSY);
		kernel.links_error = 0;
		target_close(&t);
	}
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_familiar),
		TEST(test_asked_again),
		TEST(test_no_node),
		TEST(test_gone),
		TEST(test_is_gone),
		TEST(test_renamed),
		TEST(test_renamed_again_and_again),
		TEST(test_gone_in_between),
		TEST(test_context),
		TEST(test_policy_changes),
		TEST(test_exclusive),
		TEST(test_learned),
		TEST(test_health),
		TEST(test_open_error),
		TEST(test_open_error_is_logged),
		TEST(test_reopen),
		TEST(test_close),
		TEST(test_ipoib),
	};

	return cmocka_run_group_tests_name("query-target", tests, NULL, NULL);
}
