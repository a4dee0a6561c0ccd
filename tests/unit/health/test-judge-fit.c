/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Since when a port is fit to be used: what ends that, and how long the port has to be quiet then.
 */

#include "judged.h"

#define MINUTE 60U
#define HOUR   (60U * MINUTE)
#define DAY    (24U * HOUR)
/* The time in which ports settle. */
#define SETTLE 10U

/* A port that is active at 0, and fit. */
typedef struct Fitness {
	Judged j;
	Port *p;
} Fitness;

static void begin(Fitness *f)
{
	judged_begin(&f->j, SETTLE, 0);
	f->p = device_port(judged_add(&f->j, "mlx5_0", 1), 1);
	judge_at(&f->j, 0);
}

static void done(Fitness *f)
{
	judged_done(&f->j);
}
#define _cleanup_fitness_ _cleanup_(done)

/* It is fit since SECONDS, and that has been told; -1: it is not. */
static void assert_since(const Fitness *f, int64_t seconds)
{
	uint64_t since = health_fit_since(f->p);

	assert_int_equal(since ? ((int64_t)since - (int64_t)BEGIN_USEC) / (int64_t)USEC_PER_SEC
			       : -1,
			 seconds);
	assert_true(f->p->now.values.fit_since == since);
}

/* It is not fit at SECONDS, and will be after HOLD and not before that; it is looked at then. */
static void assert_hold(Fitness *f, uint64_t seconds, uint64_t hold)
{
	judge_at(&f->j, seconds);
	assert_since(f, -1);
	assert_true(health_next_usec(f->j.health) <= BEGIN_USEC + (seconds + hold) * USEC_PER_SEC);
	judge_at(&f->j, seconds + hold - 1);
	assert_since(f, -1);
	assert_int_equal(judge_at(&f->j, seconds + hold), 1);
	assert_since(f, (int64_t)(seconds + hold));
	judge_at(&f->j, seconds + hold + 1);
	assert_since(f, (int64_t)(seconds + hold));
}

/* The link goes down and comes back between two looks of the judge. */
static void flap(Fitness *f, uint64_t seconds)
{
	f->j.seconds = seconds;
	assert_true(judged_set_state(&f->j, f->p, DOWN));
	assert_true(judged_set_state(&f->j, f->p, ACTIVE));
}

/* What a port answers that has N GIDs, the last of an interface in the network namespace OF. */
static PortSnapshot with_gids(const Port *p, uint32_t n, uint32_t of)
{
	PortSnapshot s = judged_answer(p, ACTIVE);
	GidEntry gids[8] = {};

	assert_true(n > 0 && n <= ARRAY_SIZE(gids));
	gids[0] = *(const GidEntry *)(const void *)s.tables[PORT_TABLE_GIDS]->entries;
	for (uint32_t i = 1; i < n; i++) {
		gids[i] = gids[0];
		gids[i].index = i;
		gids[i].gid[15] = (uint8_t)(0x80 + i);
	}
	gids[n - 1].namespace = of;
	table_free(s.tables[PORT_TABLE_GIDS]);
	s.tables[PORT_TABLE_GIDS] = table_new(gids, n, sizeof(gids[0]));
	return s;
}

static void set_gids(Fitness *f, uint64_t seconds, uint32_t n)
{
	f->j.seconds = seconds;
	assert_true(judged_set(&f->j, f->p, with_gids(f->p, n, GID_NAMESPACE_OWN)));
}

/* A port is fit when it is seen, ends to be so with its link, and one link down asks for nothing.
 */
static void test_link(_unused_ void **state)
{
	_cleanup_fitness_ Fitness f;

	judged_begin(&f.j, SETTLE, 0);
	f.p = device_port(judged_add(&f.j, "mlx5_0", 1), 1);
	assert_since(&f, -1);
	judge_at(&f.j, 3);
	assert_since(&f, 0);
	assert_true(health_next_usec(f.j.health) == UINT64_MAX);
	f.j.seconds = 100;
	assert_true(judged_set_state(&f.j, f.p, DOWN));
	judge_at(&f.j, 100);
	assert_since(&f, -1);
	assert_true(health_next_usec(f.j.health) == UINT64_MAX);
	judge_at(&f.j, 150);
	assert_since(&f, -1);
	f.j.seconds = 200;
	assert_true(judged_set_state(&f.j, f.p, ARMED));
	judge_at(&f.j, 200);
	assert_since(&f, -1);
	f.j.seconds = 201;
	assert_true(judged_set_state(&f.j, f.p, ACTIVE));
	judge_at(&f.j, 201);
	assert_since(&f, 201);
	judge_at(&f.j, 300);
	assert_since(&f, 201);
}

/* The more link downs in a day, the longer. */
static void test_holds(_unused_ void **state)
{
	_cleanup_fitness_ Fitness f;

	begin(&f);
	flap(&f, 1 * HOUR);
	judge_at(&f.j, 1 * HOUR);
	assert_since(&f, 1 * HOUR);
	flap(&f, 4 * HOUR);
	assert_hold(&f, 4 * HOUR, 5 * MINUTE);
	flap(&f, 8 * HOUR);
	assert_hold(&f, 8 * HOUR, HOUR);
	flap(&f, 12 * HOUR);
	assert_hold(&f, 12 * HOUR, HOUR);
	flap(&f, 16 * HOUR);
	assert_hold(&f, 16 * HOUR, 125 * MINUTE);
	/* what is older than a day does not count */
	flap(&f, DAY + 8 * HOUR + 1);
	assert_hold(&f, DAY + 8 * HOUR + 1, HOUR);
	/* each begins the time anew */
	flap(&f, 4 * DAY);
	flap(&f, 4 * DAY + 100);
	judge_at(&f.j, 4 * DAY + 100);
	flap(&f, 4 * DAY + 200);
	assert_hold(&f, 4 * DAY + 200, HOUR);
}

/* Each device is looked at when one of its ports may be fit, also if another one was before. What
 * else depends on the time was judged just before, and is not for a minute. */
static void test_two_devices(_unused_ void **state)
{
	enum { FIRST = HOUR + 200 + 5 * MINUTE, SECOND = FIRST + 20 };
	_cleanup_fitness_ Fitness f;
	Port *ports[2];

	begin(&f);
	ports[0] = f.p;
	ports[1] = device_port(judged_add(&f.j, "mlx5_1", 1), 1);
	for (uint64_t i = 0; i < 4; i++) {
		f.p = ports[i % 2];
		flap(&f, HOUR + i / 2 * 200 + i % 2 * 20);
		judge_at(&f.j, f.j.seconds);
	}
	judge_at(&f.j, FIRST - 10);
	assert_since(&f, -1);
	judge_at(&f.j, FIRST);
	assert_since(&f, -1);
	assert_true(health_next_usec(f.j.health) == BEGIN_USEC + SECOND * USEC_PER_SEC);
	judge_at(&f.j, SECOND);
	assert_since(&f, SECOND);
	f.p = ports[0];
	assert_since(&f, FIRST);
}

/* What an administrator has done is no fault of the link. */
static void test_administrator(_unused_ void **state)
{
	_cleanup_fitness_ Fitness f;
	AttrMask changed = {};
	PortSnapshot was = {}, is = {};

	begin(&f);
	mask_set(&changed, PORT_ATTR_netdev_up, true);
	was.valid = is.valid = changed;
	was.values.netdev_up = true;
	for (uint64_t i = 1; i <= 5; i++) {
		const EvidenceMoment when = {BEGIN_USEC + i * MINUTE * USEC_PER_SEC, 1,
					     REASON_NETDEV};

		evidence_note_port(&f.p->device->evidence, 1, &was, &changed, &when);
		evidence_note_port(&f.p->device->evidence, 1, &is, &changed, &when);
		flap(&f, i * MINUTE);
		judge_at(&f.j, i * MINUTE);
		assert_since(&f, (int64_t)(i * MINUTE));
	}
}

/* A GID that is not there any more is waited for, but not for ever. */
static void test_gids(_unused_ void **state)
{
	_cleanup_fitness_ Fitness f;

	begin(&f);
	/* one more is no reason */
	set_gids(&f, 10, 3);
	judge_at(&f.j, 10);
	assert_since(&f, 0);
	/* they come back one by one behind the state */
	f.j.seconds = 20;
	assert_true(judged_set_state(&f.j, f.p, DOWN));
	judge_at(&f.j, 20);
	set_gids(&f, 30, 1);
	judge_at(&f.j, 30);
	assert_since(&f, -1);
	assert_true(health_next_usec(f.j.health) == BEGIN_USEC + (30 + SETTLE) * USEC_PER_SEC);
	set_gids(&f, 31, 2);
	judge_at(&f.j, 31);
	assert_since(&f, -1);
	set_gids(&f, 33, 3);
	judge_at(&f.j, 33);
	assert_since(&f, 33);
	/* one goes while the port is active: without it the port is another one that is fit */
	set_gids(&f, 1000, 2);
	assert_hold(&f, 1000, SETTLE);
	set_gids(&f, 2000, 3);
	judge_at(&f.j, 2000);
	assert_since(&f, 1000 + SETTLE);
}

/* GIDs of other network namespaces come and go with containers. */
static void test_other_namespace(_unused_ void **state)
{
	_cleanup_fitness_ Fitness f;

	begin(&f);
	f.j.seconds = 10;
	assert_true(judged_set(&f.j, f.p, with_gids(f.p, 2, GID_NAMESPACE_OTHER)));
	judge_at(&f.j, 10);
	set_gids(&f, 20, 1);
	judge_at(&f.j, 20);
	assert_since(&f, 0);
}

static void set_lid(Fitness *f, uint64_t seconds, uint64_t usec, uint32_t lid)
{
	PortSnapshot s = judged_answer(f->p, ACTIVE);

	f->j.seconds = seconds;
	f->j.usec = usec;
	PORT_SUPPLY(&s, lid, lid);
	assert_true(judged_set(&f->j, f->p, s));
}

/* A job that runs has the old LID; for one that begins the new one is as good. */
static void test_lid(_unused_ void **state)
{
	_cleanup_fitness_ Fitness f;

	begin(&f);
	set_lid(&f, 50, 0, 18);
	assert_int_equal(judge_at(&f.j, 50), 1);
	assert_since(&f, 50);
}

static uint64_t told(const Fitness *f)
{
	return f->p->now.values.fit_since;
}

/* A LID that does not stand still is told once in two seconds; what the last one is, too. That a
 * port is not fit, or is fit again, is told at once. */
static void test_lids(_unused_ void **state)
{
	_cleanup_fitness_ Fitness f;
	const uint64_t begin_usec = BEGIN_USEC + 50 * USEC_PER_SEC;
	const uint64_t next = begin_usec + 2 * USEC_PER_SEC;

	begin(&f);
	set_lid(&f, 50, 0, 18);
	judge_at(&f.j, 50);
	for (uint32_t i = 1; i < 10; i++) {
		set_lid(&f, 50, i * 200000, 18 + i);
		judge_at(&f.j, 50);
		assert_true(told(&f) == begin_usec);
		assert_true(health_next_usec(f.j.health) == next);
	}
	set_lid(&f, 50, 2 * USEC_PER_SEC - 1, 40);
	judge_at(&f.j, 50);
	assert_true(told(&f) == begin_usec);
	f.j.usec = 0;
	judge_at(&f.j, 52);
	assert_true(told(&f) == next - 1);
	assert_true(health_next_usec(f.j.health) == UINT64_MAX);
	f.j.usec = 1000;
	assert_true(judged_set_state(&f.j, f.p, DOWN));
	judge_at(&f.j, 52);
	assert_true(told(&f) == 0);
	f.j.usec = 2000;
	assert_true(judged_set_state(&f.j, f.p, ACTIVE));
	judge_at(&f.j, 52);
	assert_true(told(&f) == next + 2000);
}

/* Something critical ends it, of the port or of the device, until somebody acknowledges it. */
static void test_critical(_unused_ void **state)
{
	_cleanup_fitness_ Fitness f;
	const ChardevEntry verbs = {.class = "verbs", .path = "/dev/infiniband/uverbs0"};
	DeviceSnapshot d = {};
	PortSnapshot s;

	begin(&f);
	f.j.seconds = 10;
	s = judged_answer(f.p, ACTIVE);
	PORT_SUPPLY(&s, phys_state, 2);
	assert_true(judged_set(&f.j, f.p, s));
	judge_at(&f.j, 10);
	assert_port(f.p, "critical not-linked@10");
	assert_since(&f, -1);
	f.j.seconds = 20;
	assert_true(judged_acknowledge(&f.j, f.p, "not-linked", "known"));
	assert_since(&f, 20);
	f.j.seconds = 30;
	assert_true(judged_set_state(&f.j, f.p, ACTIVE));
	judge_at(&f.j, 30);
	assert_since(&f, 20);
	/* of the device */
	mask_set(&d.supplied, DEVICE_ATTR_chardevs, true);
	f.j.seconds = 40;
	assert_true(judged_set_device(&f.j, f.p->device, &d));
	judge_at(&f.j, 40);
	assert_device(f.p->device, "critical no-uverbs@40");
	assert_port(f.p, "ok");
	assert_since(&f, -1);
	d = (DeviceSnapshot){};
	d.tables[DEVICE_TABLE_CHARDEVS] = table_new(&verbs, 1, sizeof(verbs));
	mask_set(&d.supplied, DEVICE_ATTR_chardevs, true);
	f.j.seconds = 50;
	assert_true(judged_set_device(&f.j, f.p->device, &d));
	judge_at(&f.j, 50);
	assert_since(&f, 50);
}

/* Of what is stale nobody knows. */
static void test_stale(_unused_ void **state)
{
	_cleanup_fitness_ Fitness f;

	begin(&f);
	f.j.seconds = 10;
	assert_true(judged_fail(&f.j, f.p));
	judge_at(&f.j, 10);
	assert_since(&f, -1);
	f.j.seconds = 20;
	assert_true(judged_set_state(&f.j, f.p, ACTIVE));
	judge_at(&f.j, 20);
	assert_since(&f, 20);
}

/* A port whose driver does not measure the state is fit when it was read. */
static void test_unmeasured(_unused_ void **state)
{
	_cleanup_fitness_ Fitness f;
	PortSnapshot s;

	begin(&f);
	s = judged_answer(f.p, ACTIVE);
	mask_set(&s.supplied, PORT_ATTR_state, false);
	mask_set(&s.unmeasured, PORT_ATTR_state, true);
	judged_remove(&f.j, f.p->device);
	f.j.seconds = 10;
	f.p = device_port(judged_add(&f.j, "efa_0", 1), 1);
	history_done(&f.p->history);
	assert_true(judged_set(&f.j, f.p, s));
	judge_at(&f.j, 12);
	assert_port(f.p, "unknown");
	assert_since(&f, 12);
}

/* The history has what was critical before rdmad was started. */
static void test_past(_unused_ void **state)
{
	_cleanup_fitness_ Fitness f;
	PastFinding ended = {.severity = VERDICT_CRITICAL,
			     .check = "not-linked",
			     .since = BEGIN_USEC,
			     .until = BEGIN_USEC + 5 * USEC_PER_SEC},
		    warning = {.severity = VERDICT_WARNING,
			       .check = "loss",
			       .since = BEGIN_USEC,
			       .until = BEGIN_USEC + 6 * USEC_PER_SEC};

	judged_begin(&f.j, SETTLE, 0);
	f.p = device_port(judged_add(&f.j, "mlx5_0", 1), 1);
	past_findings_restore(&f.p->history.findings, &ended);
	past_findings_restore(&f.p->history.findings, &warning);
	judge_at(&f.j, 10);
	assert_since(&f, 5);
}

/* A clock that is set back does not make a port wait for the time that there was. */
static void test_clock_set_back(_unused_ void **state)
{
	_cleanup_fitness_ Fitness f;

	begin(&f);
	flap(&f, DAY - 100);
	judge_at(&f.j, DAY - 100);
	flap(&f, DAY);
	judge_at(&f.j, DAY);
	assert_since(&f, -1);
	assert_hold(&f, DAY / 2, 5 * MINUTE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_holds),
		cmocka_unit_test(test_two_devices),
		cmocka_unit_test(test_administrator),
		cmocka_unit_test(test_gids),
		cmocka_unit_test(test_other_namespace),
		cmocka_unit_test(test_lid),
		cmocka_unit_test(test_lids),
		cmocka_unit_test(test_critical),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_unmeasured),
		cmocka_unit_test(test_past),
		cmocka_unit_test(test_clock_set_back),
	};

	return cmocka_run_group_tests_name("fit", tests, NULL, NULL);
}
