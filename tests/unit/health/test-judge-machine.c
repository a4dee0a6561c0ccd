/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What depends on several ports at once: the comparison, checks that look at others beside their
 * own port, the health of the machine, what is expected of it, and ports that go. */

#include "health-private.h"
#include "judged.h"

static bool set_mtu(Judged *j, Port *p, uint32_t code)
{
	PortSnapshot s = judged_answer(p, ACTIVE);

	PORT_SUPPLY(&s, active_mtu, code);
	return judged_set(j, p, s);
}

/* Ports are compared when they have settled, and then again. */
static void test_comparison(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Port *p[4];

	judged_begin(&j, 10, 0);
	assert_true(health_wants_comparison(j.health));
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		char name[] = {'d', (char)('0' + i), '\0'};

		p[i] = device_port(judged_add(&j, name, 1), 1);
	}
	assert_int_equal(judge_at(&j, 1), 4);
	assert_int_equal(compare_at(&j, 2), 0);
	assert_false(health_wants_comparison(j.health));
	assert_true(health_next_usec(j.health) == judged_usec(&j) + 11 * USEC_PER_SEC);
	assert_int_equal(judge_at(&j, 12), 0);
	assert_false(health_wants_comparison(j.health));
	assert_int_equal(judge_at(&j, 13), 0);
	assert_true(health_wants_comparison(j.health));
	assert_true(health_next_usec(j.health) == UINT64_MAX);
	assert_int_equal(compare_at(&j, 13), 0);
	assert_true(health_next_usec(j.health) == UINT64_MAX);
	/* one that has changed now, and one that is another since long */
	assert_true(set_mtu(&j, p[2], 4));
	assert_true(health_wants_comparison(j.health));
	assert_int_equal(judge_at(&j, 20), 0);
	assert_int_equal(compare_at(&j, 20), 1);
	assert_ptr_equal(j.told[0], p[2]->device);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		assert_port(p[i], i == 2 ? "warning odd-one-out@20" : "ok");
	assert_machine(&j, "warning");
	assert_true(health_next_usec(j.health) == judged_usec(&j) + 11 * USEC_PER_SEC);
	/* it is judged by itself too, and that ends nothing */
	judged_set_state(&j, p[2], INIT);
	assert_int_equal(judge_at(&j, 30), 1);
	assert_port(p[2], "critical odd-one-out@20 not-active@30");
	assert_int_equal(compare_at(&j, 45), 1);
	assert_port(p[2], "critical not-active@30 odd-one-out@45<not-active");
	assert_true(set_mtu(&j, p[2], 5));
	judge_at(&j, 46);
	assert_int_equal(compare_at(&j, 46), 1);
	assert_ptr_equal(j.told[0], p[2]->device);
	assert_port(p[2], "ok");
	assert_machine(&j, "ok");
	/* what only comparisons look at */
	assert_int_equal(compare_at(&j, 60), 0);
}

/* The first port of all is compared too. */
static void test_first(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Port *p[4];

	judged_begin(&j, 0, 0);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		char name[] = {'d', (char)('0' + i), '\0'};

		p[i] = device_port(judged_add(&j, name, 1), 1);
	}
	set_mtu(&j, p[0], 3);
	assert_int_equal(judge_at(&j, 0), 4);
	assert_int_equal(compare_at(&j, 1), 1);
	assert_port(p[0], "warning odd-one-out@1");
	/* which goes, and leaves the others alike */
	judged_remove(&j, p[0]->device);
	judge_at(&j, 2);
	assert_int_equal(compare_at(&j, 2), 0);
	assert_machine(&j, "ok");
}

static void test_no_port(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Device *d;

	judged_begin(&j, 10, 0);
	judge_at(&j, 0);
	assert_int_equal(compare_at(&j, 0), 0);
	assert_machine(&j, "critical no-port@0");
	d = judged_add(&j, "mlx5_0", 1);
	assert_true(health_wants_comparison(j.health));
	judge_at(&j, 1);
	(void)compare_at(&j, 1);
	assert_machine(&j, "ok");
	judged_remove(&j, d);
	assert_true(health_wants_comparison(j.health));
	judge_at(&j, 2);
	(void)compare_at(&j, 2);
	assert_machine(&j, "critical no-port@2");
}

static void set_errors(Judged *j, Device *d, uint64_t n)
{
	DeviceSnapshot s = {};

	DEVICE_SUPPLY(&s, aer_nonfatal, n);
	assert_true(judged_set_device(j, d, &s));
}

/* The worst of all: what is not known is worse than a warning, and better than what is critical. */
static void test_worst(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Device *d, *other;

	judged_begin(&j, 10, 0);
	d = judged_add(&j, "mlx5_0", 2);
	other = judged_add(&j, "mlx5_1", 2);
	judge_at(&j, 0);
	(void)compare_at(&j, 0);
	assert_machine(&j, "ok");
	set_errors(&j, d, 1);
	judge_at(&j, 1);
	assert_machine(&j, "warning");
	judged_fail(&j, other->ports[0]);
	judge_at(&j, 2);
	assert_machine(&j, "unknown");
	judged_set_state(&j, d->ports[1], DOWN);
	judge_at(&j, 3);
	assert_machine(&j, "critical");
	judged_set_state(&j, d->ports[1], ACTIVE);
	judged_set_state(&j, other->ports[0], DOWN);
	judged_fail(&j, d->ports[0]);
	judge_at(&j, 4);
	assert_machine(&j, "critical");
	judged_set_state(&j, other->ports[0], ACTIVE);
	judge_at(&j, 5);
	assert_machine(&j, "unknown");
	judged_set_state(&j, d->ports[0], ACTIVE);
	judge_at(&j, 6);
	assert_machine(&j, "warning");
	/* what the machine has itself counts too */
	judged_expect(&j, "Ports=5\0");
	judge_at(&j, 7);
	(void)compare_at(&j, 7);
	assert_machine(&j, "critical count@7");
}

/* P has never been active. */
static void never_used(Judged *j, Port *p)
{
	history_done(&p->history);
	judged_set_state(j, p, DOWN);
}

/* A second port that nobody has ever used is found when what it is compared with changes. */
static void test_others_of_port(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Device *d, *other;

	judged_begin(&j, 10, 0);
	d = judged_add(&j, "mlx5_0", 2);
	other = judged_add(&j, "mlx5_1", 2);
	never_used(&j, d->ports[1]);
	never_used(&j, other->ports[1]);
	judge_at(&j, 0);
	(void)compare_at(&j, 0);
	assert_port(d->ports[1], "ok");
	assert_port(other->ports[1], "ok");
	judged_set_state(&j, other->ports[1], ACTIVE);
	judge_at(&j, 1);
	assert_port(d->ports[1], "ok");
	assert_true(health_wants_comparison(j.health));
	assert_int_equal(compare_at(&j, 2), 1);
	assert_ptr_equal(j.told[0], d);
	assert_port(d->ports[1], "critical not-active@2");
	never_used(&j, other->ports[1]);
	judge_at(&j, 3);
	assert_int_equal(compare_at(&j, 4), 1);
	assert_port(d->ports[1], "ok");
	/* that the first one of its adapter goes down says nothing of one that was never used */
	judged_set_state(&j, d->ports[0], DOWN);
	assert_int_equal(judge_at(&j, 5), 1);
	assert_port(d->ports[0], "critical not-active@5");
	assert_int_equal(compare_at(&j, 6), 1);
	assert_port(d->ports[1], "ok");
	/* but if nobody has used any port of it, one of them is meant to be */
	never_used(&j, d->ports[0]);
	judge_at(&j, 7);
	assert_int_equal(compare_at(&j, 8), 1);
	assert_port(d->ports[1], "critical not-active@8");
	assert_port(other->ports[1], "ok");
}

static void set_pcie(Judged *j, Device *d, uint64_t rate)
{
	DeviceSnapshot s = {};

	DEVICE_SUPPLY(&s, pcie_rate, rate);
	DEVICE_SUPPLY(&s, pcie_max_rate, 8);
	DEVICE_SUPPLY_TEXT(&s, pcie_narrowest, "0000:15:01.0");
	assert_true(judged_set_device(j, d, &s));
}

/* Whether checks of devices or ports look at all of them in the next comparison. */
static bool compares_objects(const Health *h)
{
	CheckSet all = mask_or(h->asked.of_device, h->asked.of_port);
	CheckSet due = mask_and(h->compares, all);

	return !mask_is_empty(&due);
}

/* What has just looked at each device and port does not look again at once, in the comparison. */
static void test_looked(_unused_ void **state)
{
	_cleanup_judged_ Judged j;

	judged_begin(&j, 10, 0);
	judged_add(&j, "mlx5_0", 1);
	judged_add(&j, "mlx5_1", 1);
	assert_true(compares_objects(j.health));
	judge_at(&j, 0);
	assert_false(compares_objects(j.health));
	assert_true(health_wants_comparison(j.health));
	(void)compare_at(&j, 0);
	/* the others were not looked at since there is one more */
	judged_add(&j, "mlx5_2", 1);
	judge_at(&j, 1);
	assert_true(compares_objects(j.health));
}

/* Of two adapters with one slow link the first one has the finding, until its link is fast. */
static void test_others_of_device(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Device *d[3];

	judged_begin(&j, 10, 0);
	for (size_t i = 0; i < ARRAY_SIZE(d); i++) {
		char name[] = {'d', (char)('0' + i), '\0'};

		d[i] = judged_add(&j, name, 1);
		set_pcie(&j, d[i], i > 0 ? 4 : 8);
	}
	judge_at(&j, 0);
	(void)compare_at(&j, 0);
	assert_device(d[0], "ok");
	assert_device(d[1], "warning pcie-slow@0");
	assert_device(d[2], "ok");
	set_pcie(&j, d[1], 8);
	assert_int_equal(judge_at(&j, 1), 1);
	assert_device(d[1], "ok");
	assert_int_equal(compare_at(&j, 2), 1);
	assert_ptr_equal(j.told[0], d[2]);
	assert_device(d[2], "warning pcie-slow@2");
	set_pcie(&j, d[0], 4);
	judge_at(&j, 3);
	assert_device(d[0], "warning pcie-slow@3");
	assert_device(d[2], "warning pcie-slow@2");
	assert_int_equal(compare_at(&j, 4), 2);
	assert_device(d[0], "warning pcie-slow@3");
	assert_device(d[2], "ok");
}

/* The first adapter gets slow after the second has been judged, for which it was looked at. */
static void test_device_changes(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Device *d, *other;

	judged_begin(&j, 10, 0);
	d = judged_add(&j, "mlx5_0", 1);
	other = judged_add(&j, "mlx5_1", 1);
	set_pcie(&j, d, 8);
	set_pcie(&j, other, 4);
	judge_at(&j, 0);
	assert_device(other, "warning pcie-slow@0");
	set_pcie(&j, d, 4);
	judge_at(&j, 1);
	assert_device(d, "warning pcie-slow@1");
}

/* Other expectations: all is judged by them, and by none of before. */
static void test_expectations(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Device *d, *other;

	judged_begin(&j, 10, 0);
	d = judged_add(&j, "mlx5_0", 2);
	other = judged_add(&j, "mlx5_1", 1);
	judge_at(&j, 0);
	(void)compare_at(&j, 0);
	judged_expect(&j, "LinkWidth=8\0Ports=3\0");
	assert_true(health_wants_comparison(j.health));
	assert_int_equal(judge_at(&j, 1), 2);
	(void)compare_at(&j, 1);
	assert_port(d->ports[0], "critical expectation@1");
	assert_port(d->ports[1], "critical expectation@1");
	assert_port(other->ports[0], "critical expectation@1");
	assert_says(d->ports[1], 0, "LinkWidth is 4 lanes, expected at least 8 lanes");
	judged_expect(&j, "Ports=4\0Driver=irdma\0");
	assert_int_equal(judge_at(&j, 2), 2);
	(void)compare_at(&j, 2);
	assert_port(d->ports[0], "critical expectation@2");
	assert_says(d->ports[0], 0, "Driver is mlx5_core");
	assert_machine(&j, "critical count@2");
	judged_expect(&j, "");
	assert_int_equal(judge_at(&j, 3), 2);
	(void)compare_at(&j, 3);
	assert_port(d->ports[0], "ok");
	assert_machine(&j, "ok");
}

/* What was found of a port goes with it, and what was a part of that stands for itself. */
static void test_fewer_ports(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	DeviceSnapshot s = {};
	Device *d;
	Port *p;

	judged_begin(&j, 10, 0);
	d = judged_add(&j, "mlx5_0", 2);
	judged_add(&j, "mlx5_1", 1);
	p = d->ports[1];
	judged_set_state(&j, d->ports[0], DOWN);
	judged_set_state(&j, p, DOWN);
	judge_at(&j, 0);
	(void)compare_at(&j, 0);
	assert_int_equal(d->health->kept.n, 2);
	DEVICE_SUPPLY(&s, port_count, 1);
	(void)judged_set_device(&j, d, &s);
	assert_ptr_equal(cache_excess_port(d), p);
	health_forget_port(j.health, p);
	assert_null(p->health);
	assert_true(health_wants_comparison(j.health));
	health_forget_port(j.health, p);
	cache_remove_port(p);
	/* before the others are listed anew there is nothing to compare */
	assert_int_equal(compare_at(&j, 0), 0);
	assert_int_equal(d->health->kept.n, 1);
	assert_ptr_equal(d->health->kept.items[0].finding.port, d->ports[0]->health->object);
	judge_at(&j, 1);
	(void)compare_at(&j, 1);
	assert_port(d->ports[0], "critical not-active@0");
	/* there is nothing to compare with it any more; it is asked for all the same */
	judged_remove(&j, d);
	judge_at(&j, 2);
	(void)compare_at(&j, 2);
	assert_machine(&j, "ok");
}

/* A port that comes after its device, as one that a switch shows later */
static void test_more_ports(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Device *d;
	Port *p;

	judged_begin(&j, 10, 0);
	d = judged_add(&j, "mlx5_0", 2);
	p = d->ports[1];
	p->published = false;
	judge_at(&j, 0);
	(void)compare_at(&j, 0);
	assert_port(d->ports[0], "ok");
	assert_port(p, "unknown");
	p->published = true;
	assert_true(judged_set_state(&j, p, DOWN));
	assert_int_equal(judge_at(&j, 1), 1);
	assert_port(p, "critical not-active@1");
	assert_port(d->ports[0], "ok");
}

/* A port that was looked at while there was no other is looked at anew when there is one. */
static void test_second_port(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Device *d;

	judged_begin(&j, 10, 0);
	d = judged_add(&j, "mlx5_0", 2);
	d->ports[1]->published = false;
	never_used(&j, d->ports[0]);
	judge_at(&j, 0);
	(void)compare_at(&j, 0);
	assert_port(d->ports[0], "critical not-active@0");
	d->ports[1]->published = true;
	assert_true(judged_set_state(&j, d->ports[1], ACTIVE));
	judge_at(&j, 1);
	(void)compare_at(&j, 1);
	assert_port(d->ports[0], "ok");
}

/* A port that is there, and answers for the first time later */
static void test_first_answer(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Device *d;
	DeviceChange c = {};

	judged_begin(&j, 10, 0);
	judged_expect(&j, "Ignore=no-uverbs,no-verbs\0");
	d = add_device(&j.cache, 7, "mlx5_7", 1, 1);
	d->published = d->ports[0]->published = true;
	c = (DeviceChange){.device = d, .op = CACHE_ADDED};
	assert_true(health_take_device(j.health, &c));
	judge_at(&j, 0);
	assert_non_null(d->ports[0]->health);
	assert_port(d->ports[0], "unknown");
	assert_true(judged_set_state(&j, d->ports[0], DOWN));
	assert_int_equal(judge_at(&j, 1), 1);
	assert_port(d->ports[0], "critical not-active@1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comparison),     cmocka_unit_test(test_first),
		cmocka_unit_test(test_no_port),	       cmocka_unit_test(test_worst),
		cmocka_unit_test(test_others_of_port), cmocka_unit_test(test_others_of_device),
		cmocka_unit_test(test_looked),	       cmocka_unit_test(test_expectations),
		cmocka_unit_test(test_fewer_ports),    cmocka_unit_test(test_device_changes),
		cmocka_unit_test(test_more_ports),     cmocka_unit_test(test_second_port),
		cmocka_unit_test(test_first_answer),
	};

	return cmocka_run_group_tests_name("judge-machine", tests, NULL, NULL);
}
