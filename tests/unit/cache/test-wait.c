/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for ports: what a port lacks, since when, and how that is said. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "event.h"
#include "wait.h"

static bool no_stream;

FILE *__real_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size)
{
	return no_stream ? NULL : __real_open_memstream(text, size);
}

enum { DOWN = 1, INIT, ARMED, ACTIVE };

static Device *add_device(Cache *c, uint32_t index, const char *name, uint32_t ports)
{
	DeviceSnapshot s = {};
	DeviceChange device_change;

	DEVICE_SUPPLY(&s, index, index);
	DEVICE_SUPPLY_TEXT(&s, name, name);
	DEVICE_SUPPLY(&s, port_count, ports);
	DEVICE_SUPPLY(&s, node_type, 1);
	assert_int_equal(cache_apply_device(c, &s, CHANGE_LIST, 0, &device_change), CACHE_ADDED);
	device_change_done(&device_change);
	return device_change.device;
}

/* An InfiniBand port in STATE: LID 17, MTU 4096, 4 lanes of EDR, GID fe80::2. */
static PortSnapshot ib_port(uint32_t state)
{
	const GidEntry gid = {.gid = {0xfe, 0x80, [15] = 2}};
	PortSnapshot s = {};

	PORT_SUPPLY(&s, state, state);
	PORT_SUPPLY(&s, phys_state, 5);
	PORT_SUPPLY(&s, link_layer, 1);
	PORT_SUPPLY(&s, lid, 17);
	PORT_SUPPLY(&s, active_mtu, 5);
	PORT_SUPPLY(&s, active_width, 2);
	PORT_SUPPLY(&s, active_speed, 32);
	s.tables[PORT_TABLE_GIDS] = table_new(&gid, 1, sizeof(gid));
	mask_set(&s.supplied, PORT_ATTR_gids, true);
	return s;
}

static void apply(Port *p, PortSnapshot s)
{
	_cleanup_(port_change_done) PortChange change = {};

	s.parts = READ_ALL;
	port_change_done(&change);
	cache_apply_port(p, &s, REASON_BIT(REASON_STARTUP), 1000, &change);
	port_change_done(&change);
}

static int setup(void **state)
{
	*state = calloc(1, sizeof(Cache));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	cache_done(*state);
	free(*state);
	return 0;
}

/* Later states meet "init", "armed" and "active" too, and the permissive LID is none. */
static void test_meets(void **state)
{
	static const struct {
		uint32_t is, wanted;
		bool meets;
	} cases[] = {
		{ACTIVE, INIT, true},  {ACTIVE, ARMED, true},	   {ACTIVE, ACTIVE, true},
		{ARMED, INIT, true},   {ARMED, ACTIVE, false},	   {INIT, ARMED, false},
		{ACTIVE, DOWN, false}, {DOWN, DOWN, true},	   {DOWN, INIT, false},
		{INIT, DOWN, false},   {ACTIVE + 1, ACTIVE, true}, {ACTIVE, ACTIVE + 1, false},
		{9, ACTIVE, false},
	};
	const WaitCondition lid = {.state = ACTIVE, .lid = true};
	Port *p = device_port(add_device(*state, 1, "mlx5_0", 1), 1);
	PortSnapshot s = ib_port(ACTIVE);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const WaitCondition c = {.state = cases[i].wanted};

		apply(p, ib_port(cases[i].is));
		assert_int_equal(wait_lack(&c, p), cases[i].meets ? LACK_NOTHING : LACK_STATE);
	}
	s.values.lid = 0xffff;
	apply(p, s);
	assert_int_equal(wait_lack(&lid, p), LACK_LID);
}

/* A port whose driver does not measure the state is taken for active once it was read. */
static void test_unmeasured(void **state)
{
	const WaitCondition active = {.state = ACTIVE}, init = {.state = INIT},
			    down = {.state = DOWN}, fast = {.state = ACTIVE, .rate = 1},
			    with_lid = {.state = ACTIVE, .lid = true};
	Port *p = device_port(add_device(*state, 1, "efa_0", 1), 1);
	PortSnapshot s = {};

	/* of a port of which nothing is known yet all is possible */
	assert_null(wait_impossible(&with_lid, &p->now));
	PORT_SUPPLY(&s, link_layer, 0);
	PORT_SUPPLY(&s, max_mtu, 5);
	mask_set(&s.unmeasured, PORT_ATTR_state, true);
	mask_set(&s.unmeasured, PORT_ATTR_rate, true);
	apply(p, s);
	assert_int_equal(wait_lack(&active, p), LACK_NOTHING);
	assert_int_equal(wait_lack(&init, p), LACK_NOTHING);
	assert_int_equal(wait_lack(&fast, p), LACK_RATE);
	assert_int_equal(wait_lack(&down, p), LACK_STATE);
	assert_null(wait_impossible(&active, &p->now));
	assert_non_null(strstr(wait_impossible(&down, &p->now), "does not measure the state"));
	assert_int_equal(p->device->cache->n_active, 0);
}

/* One that has not been judged is not healthy. */
static void test_health(void **state)
{
	const WaitCondition c = {.state = ACTIVE, .healthy = true};
	Port *p = device_port(add_device(*state, 1, "mlx5_0", 1), 1);

	apply(p, ib_port(ACTIVE));
	assert_int_equal(wait_lack(&c, p), LACK_HEALTH);
	p->now.values.health = VERDICT_WARNING;
	assert_int_equal(wait_lack(&c, p), LACK_HEALTH);
	p->now.values.health = VERDICT_OK;
	assert_int_equal(wait_lack(&c, p), LACK_NOTHING);
}

/* Whether it is fit is not known of a port whose link has gone down since that was found out. */
static void test_fit(void **state)
{
	const WaitCondition c = {.state = ACTIVE, .fit = true};
	Port *p = device_port(add_device(*state, 1, "mlx5_0", 1), 1);
	_cleanup_(port_change_done) PortChange change = {};

	apply(p, ib_port(ACTIVE));
	assert_int_equal(wait_lack(&c, p), LACK_FITNESS);
	port_change_done(&change);
	cache_apply_port_health(p, VERDICT_WARNING, 7, NULL, true, 1000, &change);
	assert_int_equal(wait_lack(&c, p), LACK_NOTHING);
	p->history.link_downs++;
	assert_int_equal(wait_lack(&c, p), LACK_FITNESS);
	port_change_done(&change);
	cache_apply_port_health(p, VERDICT_WARNING, 7, NULL, true, 1000, &change);
	assert_int_equal(wait_lack(&c, p), LACK_NOTHING);
}

/* Each condition alone, fulfilled and not, and which of several is named. */
static void test_lacks(void **state)
{
	const uint8_t gid[16] = {0xfe, 0x80, [15] = 2}, other[16] = {0xfe, 0x80, [15] = 3};
	const WaitCondition active = {.state = ACTIVE};
	const WaitCondition all = {.state = ACTIVE,
				   .lid = true,
				   .has_gid = true,
				   .gid = {0xfe, 0x80, [15] = 2},
				   .mtu = 4096,
				   .rate = UINT64_C(100000000000)};
	Port *p = device_port(add_device(*state, 1, "mlx5_0", 1), 1);
	PortSnapshot s;
	WaitCondition c;
	_cleanup_(port_change_done) PortChange change = {};

	apply(p, ib_port(ACTIVE));
	assert_int_equal(wait_lack(&active, p), LACK_NOTHING);
	assert_int_equal(wait_lack(&all, p), LACK_NOTHING);

	c = all;
	c.state = DOWN;
	assert_int_equal(wait_lack(&c, p), LACK_STATE);
	c = all;
	memcpy(c.gid, other, sizeof(other));
	assert_int_equal(wait_lack(&c, p), LACK_GID);
	memcpy(c.gid, gid, sizeof(gid));
	assert_int_equal(wait_lack(&c, p), LACK_NOTHING);
	c.mtu = 4097;
	assert_int_equal(wait_lack(&c, p), LACK_MTU);
	c.mtu = 1;
	c.rate++;
	assert_int_equal(wait_lack(&c, p), LACK_RATE);

	/* the LID of a port that is not configured, and 0, are none */
	s = ib_port(ACTIVE);
	s.values.lid = 0;
	apply(p, s);
	assert_int_equal(wait_lack(&all, p), LACK_LID);
	assert_int_equal(wait_lack(&active, p), LACK_NOTHING);
	apply(p, ib_port(INIT));
	c = (WaitCondition){.state = INIT, .lid = true};
	assert_int_equal(wait_lack(&c, p), LACK_LID);

	/* what a port that is down would have counts for nothing */
	apply(p, ib_port(DOWN));
	c = (WaitCondition){.state = DOWN, .mtu = 256};
	assert_int_equal(wait_lack(&c, p), LACK_MTU);
	c = (WaitCondition){.state = DOWN, .rate = 1};
	assert_int_equal(wait_lack(&c, p), LACK_RATE);

	/* a code that stands for no MTU */
	s = ib_port(ACTIVE);
	s.values.active_mtu = 6;
	apply(p, s);
	assert_int_equal(wait_lack(&all, p), LACK_MTU);

	/* neither does what was before it went stale */
	apply(p, ib_port(ACTIVE));
	port_change_done(&change);
	cache_apply_port_error(p, -EIO, QUERY_ERROR_DEVICE, "no answer", 0, 1000, &change);
	assert_int_equal(wait_lack(&all, p), LACK_FRESH);

	/* nothing known at all */
	apply(p, (PortSnapshot){});
	assert_int_equal(wait_lack(&active, p), LACK_STATE);
}

static void assert_says(const Wait *w, uint64_t now, const char *expected)
{
	_cleanup_free_ char *text = wait_describe(w, now);

	assert_non_null(text);
	assert_string_equal(text, expected);
}

static void test_since(void **state)
{
	Cache *c = *state;
	_cleanup_(wait_done) Wait w = {.condition = {.state = ACTIVE, .mtu = 4096}};
	PortSnapshot s;
	_cleanup_(port_change_done) PortChange change = {};
	Device *d;
	Port *p;

	assert_int_equal(wait_add(&w, "mlx5_0"), 0);
	assert_false(wait_look(&w, c, 1000000));
	assert_says(&w, 1500000, "mlx5_0: no such port for at least 0.500 s");
	no_stream = true;
	assert_null(wait_describe(&w, 1500000));
	no_stream = false;
	d = add_device(c, 1, "mlx5_0", 1);
	p = device_port(d, 1);
	assert_false(wait_look(&w, c, 2000000));
	/* it may have been there for long, unread */
	assert_says(&w, 3000000, "mlx5_0: not read yet for at least 1.000 s");
	apply(p, ib_port(INIT));
	assert_false(wait_look(&w, c, 4000000));
	/* since it was first seen, whatever it is in between */
	apply(p, ib_port(ARMED));
	assert_false(wait_look(&w, c, 5000000));
	assert_says(&w, 16000000, "mlx5_0: armed, not active for at least 12 s");
	s = ib_port(ACTIVE);
	s.values.active_mtu = 4;
	apply(p, s);
	assert_false(wait_look(&w, c, 20000000));
	assert_says(&w, 20000000, "mlx5_0: MTU 2048, not 4096 for at least 0.000 s");
	/* a rate that is too small, and none */
	w.condition.rate = UINT64_C(400000000000);
	apply(p, ib_port(ACTIVE));
	assert_false(wait_look(&w, c, 21000000));
	assert_says(&w, 21000000, "mlx5_0: rate 100 Gb/s, not 400 Gb/s for at least 0.000 s");
	s = ib_port(ACTIVE);
	mask_set(&s.supplied, PORT_ATTR_active_width, false);
	apply(p, s);
	assert_false(wait_look(&w, c, 21000000));
	assert_says(&w, 21000000, "mlx5_0: no rate (not reported) for at least 0.000 s");
	w.condition.rate = 0;
	apply(p, ib_port(ACTIVE));
	assert_true(wait_look(&w, c, 30000000));
	assert_says(&w, 30000000, "");
	/* from here on it is known when it went */
	port_change_done(&change);
	cache_apply_port_error(p, -EIO, QUERY_ERROR_DEVICE, "no answer", 0, 1000, &change);
	assert_false(wait_look(&w, c, 40000000));
	assert_says(&w, 240000000, "mlx5_0: stale (no answer) for 3 min 20 s");
	cache_remove_device(c, d);
	assert_false(wait_look(&w, c, 50000000));
	assert_says(&w, 7250000000, "mlx5_0: gone for 2 h 0 min");
}

/* The history knows since when a port is not in the state that is wanted. */
static void test_since_before(void **state)
{
	Cache *c = *state;
	_cleanup_(wait_done) Wait w = {.condition = {.state = ACTIVE}};
	_cleanup_(wait_done) Wait other = {.condition = {.state = ARMED}};
	Port *p = device_port(add_device(c, 1, "mlx5_0", 1), 1);

	history_note(&p->history, ACTIVE, REASON_STARTUP, 0, 1000000);
	history_note(&p->history, DOWN, REASON_PORT_ERROR, 0, 2000000);
	history_note(&p->history, INIT, REASON_LID_CHANGE, 0, 3000000);
	apply(p, ib_port(INIT));
	assert_int_equal(wait_add(&w, "mlx5_0"), 0);
	assert_int_equal(wait_add(&other, "mlx5_0"), 0);
	assert_false(wait_look(&w, c, 4000000));
	assert_says(&w, 5000000, "mlx5_0: init, not active for 3.000 s");
	assert_false(wait_look(&other, c, 4000000));
	assert_says(&other, 5000000, "mlx5_0: init, not armed for 3.000 s");
}

static void test_several(void **state)
{
	Cache *c = *state;
	_cleanup_(wait_done) Wait all = {.condition = {.state = ACTIVE}}, any = {};
	_cleanup_(wait_done) Wait none = {}, device = {};
	Device *d = add_device(c, 1, "mlx5_0", 2);

	apply(device_port(d, 1), ib_port(ACTIVE));
	apply(device_port(d, 2), ib_port(DOWN));
	assert_int_equal(wait_add(&all, "mlx5_0/1"), 0);
	assert_int_equal(wait_add(&all, "mlx5_0/2"), 0);
	assert_int_equal(wait_add(&all, "mlx5_0/1"), 0);
	assert_int_equal(all.n_ports, 2);
	any = all;
	any.any = true;
	assert_false(wait_look(&all, c, 0));
	assert_says(&all, 0, "mlx5_0/2: down, not active for at least 0.000 s");
	assert_true(wait_look(&any, c, 0));
	assert_ptr_equal(any.ports[0].ref.port, device_port(d, 1));
	apply(device_port(d, 2), ib_port(ACTIVE));
	assert_true(wait_look(&all, c, 0));
	apply(device_port(d, 1), ib_port(INIT));
	apply(device_port(d, 2), ib_port(DOWN));
	assert_false(wait_look(&any, c, 1000));
	assert_says(&any, 1000,
		    "mlx5_0/1: init, not active for 0.000 s\n"
		    "mlx5_0/2: down, not active for at least 0.001 s");

	assert_true(wait_look(&none, c, 0));
	assert_int_equal(wait_add(&device, "mlx5_0"), 0);
	assert_false(wait_look(&device, c, 0));
	assert_says(&device, 0, "mlx5_0: more than one port has that name for at least 0.000 s");
}

/* How many waits are told of P. */
static size_t tell(Port *p, uint64_t now, const Wait *expected)
{
	size_t n = 0;

	for (PortRef *r = p->refs; r; r = r->next, n++)
		if (expected)
			assert_ptr_equal(wait_look_at_port(r, now), expected);
	return n;
}

/* A change of a port costs nothing to waits that do not name it. */
static void test_told_of_own_ports(void **state)
{
	Cache *c = *state;
	_cleanup_(wait_done) Wait one = {.condition = {.state = ACTIVE}}, both = one;
	Device *d = add_device(c, 1, "mlx5_0", 3);
	Port *p[3];

	for (uint32_t i = 0; i < 3; i++) {
		p[i] = device_port(d, i + 1);
		apply(p[i], ib_port(DOWN));
	}
	assert_int_equal(wait_add(&one, "mlx5_0/1"), 0);
	assert_int_equal(wait_add(&one, "nothing"), 0);
	one.any = true;
	assert_int_equal(wait_add(&both, "mlx5_0/2"), 0);
	assert_int_equal(wait_add(&both, "mlx5_0/3"), 0);
	assert_false(wait_look(&one, c, 1000));
	assert_false(wait_look(&both, c, 1000));

	assert_int_equal(tell(p[0], 2000, &one), 1);
	assert_false(wait_holds(&one));
	apply(p[0], ib_port(ACTIVE));
	assert_int_equal(tell(p[0], 3000, &one), 1);
	assert_true(wait_holds(&one) && !wait_holds(&both));
	apply(p[1], ib_port(ACTIVE));
	apply(p[2], ib_port(ACTIVE));
	assert_int_equal(tell(p[1], 3000, &both), 1);
	assert_false(wait_holds(&both));
	assert_int_equal(tell(p[2], 3000, &both), 1);
	assert_true(wait_holds(&both));
	/* and back: since when is known, as it was seen */
	apply(p[1], ib_port(INIT));
	assert_int_equal(tell(p[1], 5000000, &both), 1);
	assert_false(wait_holds(&both));
	assert_says(&both, 7000000, "mlx5_0/2: init, not active for 2.000 s");
	wait_done(&both);
	assert_int_equal(tell(p[1], 0, NULL), 0);
	assert_int_equal(tell(p[2], 0, NULL), 0);
	assert_int_equal(tell(p[0], 0, &one), 1);
}

/* A port that a wait knows by many names is looked at once. */
static void test_many_names_of_one_port(void **state)
{
	static const char *const names[] = {"mlx5_0/1", "mlx5_0", "0000:0000:0000:0002",
					    "0000000000000002", "nothing"};
	Cache *c = *state;
	_cleanup_(wait_done) Wait w = {.condition = {.state = ACTIVE}, .any = true};
	Device *d = add_device(c, 1, "mlx5_0", 1);
	Port *p = device_port(d, 1);
	DeviceSnapshot s = {};
	DeviceChange device_change;

	apply(p, ib_port(DOWN));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(wait_add(&w, names[i]), 0);
	assert_false(wait_look(&w, c, 1000000));
	assert_int_equal(tell(p, 1000000, &w), 1);
	assert_says(&w, 1000000,
		    "mlx5_0/1: down, not active for at least 0.000 s\n"
		    "mlx5_0: down, not active for at least 0.000 s\n"
		    "0000:0000:0000:0002: down, not active for at least 0.000 s\n"
		    "0000000000000002: down, not active for at least 0.000 s\n"
		    "nothing: no such port for at least 0.000 s");
	apply(p, ib_port(ACTIVE));
	assert_int_equal(tell(p, 2000000, &w), 1);
	assert_true(wait_holds(&w));
	for (size_t i = 0; i < 4; i++)
		assert_ptr_equal(wait_port_found(&w.ports[i])->ref.port, p);
	apply(p, ib_port(INIT));
	assert_int_equal(tell(p, 3000000, &w), 1);
	assert_false(wait_holds(&w));

	/* with another name of the device, the one that was not looked at stands for the port */
	DEVICE_SUPPLY(&s, index, 1);
	DEVICE_SUPPLY_TEXT(&s, name, "rxe0");
	assert_int_equal(cache_apply_device(c, &s, CHANGE_LIST, 0, &device_change), CACHE_CHANGED);
	device_change_done(&device_change);
	assert_false(wait_look(&w, c, 4000000));
	assert_int_equal(tell(p, 4000000, &w), 1);
	assert_says(&w, 5000000,
		    "mlx5_0/1: gone for 1.000 s\n"
		    "mlx5_0: gone for 1.000 s\n"
		    "0000:0000:0000:0002: init, not active for 2.000 s\n"
		    "0000000000000002: init, not active for 2.000 s\n"
		    "nothing: no such port for at least 4.000 s");
}

/* A name may come, go, and move to another port; what has gone is not looked at. */
static void test_names_move(void **state)
{
	Cache *c = *state;
	_cleanup_(wait_done) Wait w = {.condition = {.state = ACTIVE}};
	const NetdevEntry eth0 = {.ifindex = 4, .name = "eth0"};
	PortSnapshot s = ib_port(ACTIVE);
	Port *p[2];

	for (uint32_t i = 0; i < 2; i++) {
		const char name[] = {'r', 'x', 'e', (char)('0' + i), '\0'};

		p[i] = device_port(add_device(c, i + 1, name, 1), 1);
		apply(p[i], ib_port(ACTIVE));
	}
	assert_int_equal(wait_add(&w, "eth0"), 0);
	assert_false(wait_look(&w, c, 1000));
	s.tables[PORT_TABLE_NETDEVS] = table_new(&eth0, 1, sizeof(eth0));
	apply(p[0], s);
	assert_true(wait_look(&w, c, 2000));
	assert_ptr_equal(w.ports[0].ref.port, p[0]);
	s = ib_port(DOWN);
	s.tables[PORT_TABLE_NETDEVS] = table_new(&eth0, 1, sizeof(eth0));
	apply(p[1], s);
	assert_false(wait_look(&w, c, 3000));
	assert_int_equal(w.ports[0].lack, LACK_UNIQUE);
	cache_remove_device(c, p[0]->device);
	assert_false(wait_look(&w, c, 4000));
	assert_int_equal(w.ports[0].lack, LACK_STATE);
	assert_ptr_equal(w.ports[0].ref.port, p[1]);
	cache_remove_device(c, p[1]->device);
	assert_null(w.ports[0].ref.port);
	assert_false(wait_look(&w, c, 5000));
	assert_int_equal(w.ports[0].lack, LACK_PORT);
}

static void test_names(void **state)
{
	static const char *const bad[] = {"",	      "mlx5_0/",  "mlx5_0/00", "mlx5_0/1025",
					  "mlx5_0/x", "mlx5_0/1 "};
	char longest[80], name[16];
	Wait w = {};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(wait_add(&w, bad[i]), -EINVAL);
	memset(longest, 'a', sizeof(longest));
	strcpy(longest + 63, "/1024");
	assert_int_equal(wait_add(&w, longest), 0);
	memset(longest, 'a', sizeof(longest));
	longest[72] = '\0';
	assert_int_equal(wait_add(&w, longest), -EINVAL);
	for (size_t i = 1; i < WAIT_PORTS_MAX; i++) {
		snprintf(name, sizeof(name), "ib%zu", i);
		assert_int_equal(wait_add(&w, name), 0);
	}
	assert_int_equal(wait_add(&w, "ib1"), 0);
	assert_int_equal(wait_add(&w, "one_more"), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lacks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_health, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unmeasured, setup, teardown),
		cmocka_unit_test_setup_teardown(test_meets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_since, setup, teardown),
		cmocka_unit_test_setup_teardown(test_since_before, setup, teardown),
		cmocka_unit_test_setup_teardown(test_several, setup, teardown),
		cmocka_unit_test_setup_teardown(test_told_of_own_ports, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_names_of_one_port, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_move, setup, teardown),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("wait", tests, NULL, NULL);
}
