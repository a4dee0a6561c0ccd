/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a change says. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "test-cache.h"

/* A change has what was known before, and of the tables those that are other ones now. A table that
 * is read once more and is the same stays where it is. */
static void test_was(void **state)
{
	const PkeyEntry two[] = {{0, 0xffff}, {1, 0x8001}};
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	PortSnapshot s = ib_port(DOWN);
	const Table *gids, *pkeys;
	_cleanup_(port_change_done) PortChange change = {};

	apply(p, ib_port(ACTIVE), 0);
	gids = p->now.tables[PORT_TABLE_GIDS];
	pkeys = p->now.tables[PORT_TABLE_PKEYS];
	table_free(s.tables[PORT_TABLE_PKEYS]);
	s.tables[PORT_TABLE_PKEYS] = table_new(two, 2, sizeof(two[0]));
	s.parts = READ_ALL;
	port_change_done(&change);
	cache_apply_port(p, &s, REASON_BIT(REASON_PORT_ERROR), 2000, &change);
	assert_ptr_equal(change.port, p);
	assert_int_equal(change.cause, CHANGE_ANSWER);
	assert_int_equal(change.parts, READ_ALL);
	assert_int_equal(change.when_usec, 2000);
	assert_int_equal(change.was.values.state, ACTIVE);
	assert_int_equal(change.was.values.last_query, 1000);
	assert_int_equal(change.tables, 1U << PORT_TABLE_PKEYS);
	assert_ptr_equal(change.was.tables[PORT_TABLE_PKEYS], pkeys);
	assert_int_equal(change.was.tables[PORT_TABLE_PKEYS]->n, 1);
	assert_int_equal(p->now.tables[PORT_TABLE_PKEYS]->n, 2);
	assert_ptr_equal(change.was.tables[PORT_TABLE_GIDS], gids);
	assert_ptr_equal(p->now.tables[PORT_TABLE_GIDS], gids);
	assert_int_equal(port_change_reason(&change), REASON_PORT_ERROR);
	port_change_done(&change);

	/* an error leaves the tables */
	port_change_done(&change);
	cache_apply_port_error(p, -EIO, QUERY_ERROR_DEVICE, "no", 0, 3000, &change);
	assert_int_equal(change.cause, CHANGE_ERROR);
	assert_int_equal(change.tables, 0);
	assert_false(change.was.values.stale);
	assert_int_equal(port_change_reason(&change), REASON_RECONCILE);
}

/* What of the judge is a change without details, and what only with them: other words of the same
 * findings are. */
static void test_details(void **state)
{
	const FindingEntry flap = {.check = "flap", .text = "2 times", .since = 7};
	const FindingEntry said = {.check = "flap", .text = "3 times", .since = 7};
	const FindingEntry other = {.check = "no-sm", .text = "2 times", .since = 7};
	const FindingEntry again = {.check = "flap", .text = "2 times", .since = 8};
	const struct {
		FindingEntry was[2], is[2];
		uint32_t n_was, n_is;
		bool changes, changes_without;
	} cases[] = {
		{{flap, other}, {flap, other}, 2, 2, false, false},
		{{flap, other}, {said, other}, 2, 2, true, false},
		{{other, flap}, {other, said}, 2, 2, true, false},
		{{flap, other}, {flap, again}, 2, 2, true, true},
		{{flap}, {other}, 1, 1, true, true},
		{{flap}, {again}, 1, 1, true, true},
		{{flap}, {flap, other}, 1, 2, true, true},
		{{flap, other}, {said}, 2, 1, true, true},
		{{flap}, {}, 1, 0, true, true},
		{{}, {flap}, 0, 1, true, true},
	};
	Device *d = add_device(*state, 3, "mlx5_0", 1, 1);
	Port *p = device_port(d, 1);

	for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		bool details = i % 2, changes;
		_cleanup_(port_change_done) PortChange of_port = {};
		_cleanup_(device_change_done) DeviceChange of_device = {};
		Table *was[2], *is[2];

		for (size_t k = 0; k < 2; k++) {
			was[k] = table_new(cases[i / 2].was, cases[i / 2].n_was, sizeof(flap));
			is[k] = table_new(cases[i / 2].is, cases[i / 2].n_is, sizeof(flap));
		}
		changes = details ? cases[i / 2].changes : cases[i / 2].changes_without;
		cache_apply_port_health(p, VERDICT_WARNING, 7, was[0], true, 1000, &of_port);
		port_change_done(&of_port);
		cache_apply_port_health(p, VERDICT_WARNING, 7, is[0], details, 1000, &of_port);
		assert_int_equal(of_port.op, changes ? CACHE_CHANGED : CACHE_UNCHANGED);
		cache_apply_device_health(d, VERDICT_WARNING, was[1], true, 1000, &of_device);
		device_change_done(&of_device);
		cache_apply_device_health(d, VERDICT_WARNING, is[1], details, 1000, &of_device);
		assert_int_equal(of_device.op, changes ? CACHE_CHANGED : CACHE_UNCHANGED);
	}
}

/* The same of a device: an error changes no table. */
static void test_device_was(void **state)
{
	const ChardevEntry uverbs = {.class = "verbs", .path = "/dev/infiniband/uverbs0"};
	Cache *c = *state;
	Device *d = add_device(c, 1, "mlx5_0", 1, 1);
	DeviceSnapshot s = {};
	DeviceChange change;
	AttrMask changed;

	DEVICE_SUPPLY(&s, index, 1);
	s.tables[DEVICE_TABLE_CHARDEVS] = table_new(&uverbs, 1, sizeof(uverbs));
	mask_set(&s.supplied, DEVICE_ATTR_chardevs, true);
	apply_device(c, &s, 1000, &d, &changed);
	DEVICE_SUPPLY(&s, index, 1);
	mask_set(&s.supplied, DEVICE_ATTR_chardevs, true);
	assert_int_equal(cache_apply_device(c, &s, CHANGE_ANSWER, 2000, &change), CACHE_CHANGED);
	assert_ptr_equal(change.device, d);
	assert_int_equal(change.when_usec, 2000);
	assert_true(mask_has(&change.changed, DEVICE_ATTR_chardevs));
	assert_int_equal(change.tables, 1U << DEVICE_TABLE_CHARDEVS);
	assert_int_equal(change.was.tables[DEVICE_TABLE_CHARDEVS]->n, 1);
	assert_int_equal(change.was.values.last_query, 1000);
	assert_null(d->now.tables[DEVICE_TABLE_CHARDEVS]);
	device_change_done(&change);

	cache_apply_device_error(d, -EIO, QUERY_ERROR_DEVICE, "no", 3000, &change);
	assert_int_equal(change.op, CACHE_CHANGED);
	assert_int_equal(change.cause, CHANGE_ERROR);
	assert_int_equal(change.tables, 0);
	assert_false(change.was.values.stale);
	device_change_done(&change);
	cache_apply_device_error(d, -EIO, QUERY_ERROR_DEVICE, "no", 4000, &change);
	assert_int_equal(change.op, CACHE_UNCHANGED);
	device_change_done(&change);
}

/* Takes an answer of PARTS that has a value of the vendor's library, or with ERROR that library's.
 * Returns why there is no other value of it. */
static const char *take_library(Port *p, unsigned int parts, bool error, PortChange *change)
{
	PortSnapshot s = {.parts = parts};

	if (parts & READ_DIRECT)
		PORT_SUPPLY(&s, vport, 7);
	mask_set(&s.unanswered, PORT_ATTR_reg_c0_value, error);
	cache_apply_port(p, &s, 0, 2000, change);
	port_change_done(change);
	return port_unavailable(&p->now, PORT_ATTR_reg_c0_value)->code;
}

/* An error of the vendor's library is a change, and holds until that library is asked again. */
static void test_unanswered(void **state)
{
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	_cleanup_(port_change_done) PortChange change = {};

	assert_string_equal(take_library(p, READ_USUAL, false, &change), "not-reported");
	assert_string_equal(take_library(p, READ_DIRECT, true, &change), "query-failed");
	assert_true(mask_has(&change.changed, PORT_ATTR_unavailable));
	assert_string_equal(take_library(p, READ_LINKS, false, &change), "query-failed");
	assert_false(mask_has(&change.changed, PORT_ATTR_unavailable));
	assert_string_equal(take_library(p, READ_DIRECT, false, &change), "not-reported");
	assert_true(mask_has(&change.changed, PORT_ATTR_unavailable));
}

/* Takes an answer of D. Returns why it has no value that the vendor's library has. */
static const char *take_device(Cache *c, int open_error, bool error, DeviceChange *change)
{
	DeviceSnapshot s = {.open_error = open_error};
	Device *d;

	DEVICE_SUPPLY(&s, index, 3);
	mask_set(&s.unanswered, DEVICE_ATTR_num_lag_ports, error);
	mask_set(&s.unanswered, DEVICE_ATTR_mlx5_flags, error);
	cache_apply_device(c, &s, CHANGE_ANSWER, 2000, change);
	d = change->device;
	device_change_done(change);
	return device_unavailable(&d->now, DEVICE_ATTR_num_lag_ports)->code;
}

/* The same of a device, and what was read once has a value. */
static void test_device_unanswered(void **state)
{
	Device *d = add_device(*state, 3, "mlx5_0", 1, 1);
	DeviceChange change;

	DEVICE_SUPPLY(&d->now, mlx5_flags, 1);
	assert_string_equal(take_device(*state, 0, false, &change), "not-reported");
	assert_string_equal(take_device(*state, 0, true, &change), "query-failed");
	assert_true(mask_has(&change.changed, DEVICE_ATTR_unavailable));
	assert_null(device_unavailable(&d->now, DEVICE_ATTR_mlx5_flags));
	assert_string_equal(take_device(*state, -EBUSY, false, &change), "in-use");
	assert_true(mask_has(&change.changed, DEVICE_ATTR_unavailable));
	assert_string_equal(take_device(*state, 0, false, &change), "not-reported");
	assert_true(mask_has(&change.changed, DEVICE_ATTR_unavailable));
}

/* A port whose first query fails is new all the same, and says so. */
static void test_never_answered(void **state)
{
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	_cleanup_(port_change_done) PortChange change = {};

	cache_apply_port_error(p, -ETIMEDOUT, QUERY_ERROR_DEVICE, "Connection timed out", 0, 1000,
			       &change);
	assert_int_equal(change.op, CACHE_ADDED);
	port_change_done(&change);
	assert_int_equal(port_interfaces(&p->now), 1U << INTERFACE_PORT);
	assert_string_equal(port_unavailable(&p->now, PORT_ATTR_state)->code, "firmware-timeout");
	cache_apply_port_error(p, -EIO, QUERY_ERROR_DEVICE, "Input/output error", 0, 1000, &change);
	assert_true(mask_has(&change.changed, PORT_ATTR_unavailable));
	assert_string_equal(port_unavailable(&p->now, PORT_ATTR_state)->code, "query-failed");
	port_change_done(&change);
	change = apply(p, ib_port(ACTIVE), 0);
	assert_int_equal(change.op, CACHE_CHANGED);
	assert_false(port_change_is_of_state(&change));
	assert_int_equal(port_interfaces(&change.was), 1U << INTERFACE_PORT);
	change = apply(p, ib_port(ACTIVE), 0);
	assert_int_equal(change.op, CACHE_UNCHANGED);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_never_answered), TEST(test_was),	  TEST(test_details),
		TEST(test_device_was),	   TEST(test_unanswered), TEST(test_device_unanswered),
	};

	return cmocka_run_group_tests_name("change", tests, NULL, NULL);
}
