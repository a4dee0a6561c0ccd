/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the judge finds after a change: each check looks at the values of now. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <linux/if.h>

#include "decode.h"
#include "health.h"

static void tell(_unused_ void *userdata, _unused_ Device *d, _unused_ bool details)
{
}

static Device *add_device(Cache *c, uint32_t index, const char *name)
{
	_cleanup_(device_change_done) DeviceChange change = {};
	DeviceSnapshot s = {};

	DEVICE_SUPPLY(&s, index, index);
	DEVICE_SUPPLY_TEXT(&s, name, name);
	DEVICE_SUPPLY(&s, node_type, 1);
	DEVICE_SUPPLY(&s, port_count, 2);
	assert_int_equal(cache_apply_device(c, &s, CHANGE_ANSWER, 1, &change), CACHE_ADDED);
	change.device->published = true;
	return change.device;
}

/* A RoCE port whose interface is up says that it has STATE. */
static void answer(Health *h, Device *d, uint32_t number, uint32_t state)
{
	_cleanup_(port_change_done) PortChange change = {};
	Port *p = device_port(d, number);
	PortSnapshot s = {.parts = READ_ALL};

	PORT_SUPPLY(&s, link_layer, 2);
	PORT_SUPPLY(&s, state, state);
	PORT_SUPPLY_TEXT(&s, netdev, "ens0");
	PORT_SUPPLY(&s, netdev_operstate, IF_OPER_UP);
	cache_apply_port(p, &s, 0, 1, &change);
	p->published = true;
	/* as the history counts */
	p->now.values.link_downs +=
		change.was.values.state == PORT_STATE_ACTIVE && state != PORT_STATE_ACTIVE;
	(void)health_take_port(h, &change);
}

static bool is_found(const Port *p, const char *check)
{
	_cleanup_(table_free_pointer) Table *findings = NULL;

	(void)health_of_port(p, &findings);
	for (uint32_t i = 0; findings && i < findings->n; i++)
		if (streq(((const FindingEntry *)findings->entries)[i].check, check))
			return true;
	return false;
}

/* The second port of an adapter is down and has never been used, so the second ports of others are
 * looked at. Then one of these goes down, before all are compared. */
static void test_others_change(_unused_ void **state)
{
	Cache cache = {};
	Device *first, *other;
	Health *h;

	assert_int_equal(health_new(&cache, 0, 0, &h), 0);
	other = add_device(&cache, 0, "mlx5_0");
	first = add_device(&cache, 1, "mlx5_1");
	for (uint32_t number = 1; number <= 2; number++) {
		answer(h, other, number, PORT_STATE_ACTIVE);
		answer(h, first, number, number == 1 ? PORT_STATE_ACTIVE : PORT_STATE_DOWN);
	}
	health_judge(h, 1, tell, NULL);
	assert_false(is_found(device_port(other, 2), "netdev-up"));
	answer(h, other, 2, PORT_STATE_DOWN);
	health_judge(h, 2, tell, NULL);
	assert_true(is_found(device_port(other, 2), "netdev-up"));
	health_free(h);
	cache_done(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_others_change),
	};

	return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
