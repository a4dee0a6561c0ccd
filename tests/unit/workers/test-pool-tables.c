/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much the tables of ports may be together: of one device, and of all. */

#include "pool-fixture.h"

#include "pool-device.h"
#include "pool-limits.h"

#define DEVICES	  (POOL_TABLES_MAX / POOL_DEVICE_TABLES_MAX)
#define OF_DEVICE "the tables of the device are too large together"
#define OF_ALL	  "the tables of all devices are too large together"

static PoolDevice *add(Test *t, uint32_t index)
{
	PoolDevice *d;

	assert_int_equal(pool_add_device(t->pool, index, &d), 0);
	assert_ptr_equal(pool_find_device(t->pool, index), d);
	return d;
}

/* PORT is read anew, and its table TYPE has SIZE bytes, in four entries. */
static const char *read_table(PoolDevice *d, uint32_t port, PortTable type, uint32_t size)
{
	_cleanup_free_ char *bytes = calloc(1, size + 1);
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	assert_int_equal(size % 4, 0);
	if (size > 0) {
		s.tables[type] = table_new(bytes, 4, size / 4);
		assert_non_null(s.tables[type]);
	}
	return pool_device_count_tables(d, port, &s);
}

static const char *read_gids(PoolDevice *d, uint32_t port, uint32_t size)
{
	return read_table(d, port, PORT_TABLE_GIDS, size);
}

/* Each port counts with what it had when it was last read; what is refused does not count. */
static void test_device(void **state)
{
	Test *t = *state;
	PoolDevice *d;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	d = add(t, 1);
	assert_int_equal(pool_device_reserve(d, 2), 0);
	assert_null(read_gids(d, 1, POOL_DEVICE_TABLES_MAX / 2));
	assert_null(read_gids(d, 2, POOL_DEVICE_TABLES_MAX / 2));
	assert_string_equal(read_gids(d, 2, POOL_DEVICE_TABLES_MAX / 2 + 4), OF_DEVICE);
	assert_string_equal(read_gids(d, 1, POOL_DEVICE_TABLES_MAX / 2 + 4), OF_DEVICE);
	assert_null(read_gids(d, 1, POOL_DEVICE_TABLES_MAX / 2));
	assert_null(read_gids(d, 1, 8));
	assert_null(read_gids(d, 2, POOL_DEVICE_TABLES_MAX - 8));
	assert_string_equal(read_gids(d, 1, 12), OF_DEVICE);
	assert_null(read_gids(d, 2, 0));
	assert_null(read_gids(d, 1, POOL_DEVICE_TABLES_MAX));
}

/* Room for more ports leaves those that there are as they were, and the new ones have nothing. */
static void test_reserve(void **state)
{
	Test *t = *state;
	PoolDevice *d;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	d = add(t, 1);
	for (uint32_t port = 1; port <= 64; port++) {
		assert_int_equal(pool_device_reserve(d, port), 0);
		assert_int_equal(pool_device_reserve(d, 1), 0);
		assert_null(read_gids(d, port, POOL_DEVICE_TABLES_MAX / 64));
	}
	assert_string_equal(read_gids(d, 64, POOL_DEVICE_TABLES_MAX / 64 + 4), OF_DEVICE);
	assert_null(read_gids(d, 1, 0));
	assert_null(read_gids(d, 64, POOL_DEVICE_TABLES_MAX / 64 * 2));
}

/* A worker may ask all ports of its leave by itself. */
static void test_leave(void **state)
{
	Test *t = *state;
	Query q = make_query(t, 1, "ok");

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	port_set_remove(&q.ports, 2);
	assert_int_equal(pool_query(t->pool, &q), 0);
	assert_int_equal(pool_find_device(t->pool, 1)->n_ports, 3);
	wait_end(t, q.id);
}

/* All tables of a port count, but not those that no list of objects has. */
static void test_kinds(void **state)
{
	Test *t = *state;
	PoolDevice *d;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	d = add(t, 1);
	assert_int_equal(pool_device_reserve(d, 1), 0);
	for (PortTable i = 0; i < _PORT_TABLE_MAX; i++) {
		bool counts = i != PORT_TABLE_COUNTERS && i != PORT_TABLE_USERS;
		const char *rule = read_table(d, 1, i, POOL_DEVICE_TABLES_MAX + 4);

		assert_int_equal(rule != NULL, counts);
	}
}

/* When all have as much as they may, nobody gets more until one goes. */
static void test_all(void **state)
{
	Test *t = *state;
	PoolDevice *d;

	start(t, FAKE_WORKER, PATIENT_USEC, &slow);
	for (uint32_t i = 0; i < DEVICES; i++) {
		d = add(t, DEVICES - i);
		assert_int_equal(pool_device_reserve(d, 1), 0);
		assert_null(read_gids(d, 1, POOL_DEVICE_TABLES_MAX));
	}
	d = add(t, 100);
	assert_int_equal(pool_device_reserve(d, 1), 0);
	assert_string_equal(read_gids(d, 1, 4), OF_ALL);
	assert_null(read_gids(pool_find_device(t->pool, 3), 1, POOL_DEVICE_TABLES_MAX - 4));
	assert_null(read_gids(d, 1, 4));
	assert_string_equal(read_gids(d, 1, 8), OF_ALL);
	pool_remove_device(pool_find_device(t->pool, 2));
	assert_null(pool_find_device(t->pool, 2));
	assert_null(read_gids(d, 1, POOL_DEVICE_TABLES_MAX));
	assert_null(read_gids(pool_find_device(t->pool, 3), 1, POOL_DEVICE_TABLES_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_device),
		TEST(test_reserve),
		TEST(test_leave),
		TEST(test_kinds),
		TEST(test_all),
	};

	return cmocka_run_group_tests_name("pool-tables", tests, NULL, NULL);
}
