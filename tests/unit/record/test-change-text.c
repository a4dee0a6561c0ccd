/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lines that the record has of a change. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "../cache/test-cache.h"
#include "change-text.h"

static const ChangeTime at = {1500000, 7000000};

static GString *text;

static const char *taken(void)
{
	static char buffer[16384];

	assert_true(text->len < sizeof(buffer));
	memcpy(buffer, text->str, text->len + 1);
	g_string_truncate(text, 0);
	return buffer;
}

static int setup_text(void **state)
{
	text = g_string_new(NULL);
	return setup(state);
}

static int teardown_text(void **state)
{
	g_string_free(text, true);
	return teardown(state);
}

/* A port that was ACTIVE, and an answer that nothing has changed in yet. */
static PortChange change_of(Port *p, PortSnapshot *ret_is)
{
	apply(p, ib_port(ACTIVE), 0);
	*ret_is = p->now;
	return (PortChange){.port = p, .was = p->now};
}

static void test_port(void **state)
{
	const PkeyEntry was[] = {{0, 0xffff}, {1, 0x8001}, {2, 0x8002}};
	const PkeyEntry pkeys[] = {{0, 0xffff}, {1, 0x8003}, {2, 0x8002}, {3, 0x8004}};
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	PortSnapshot is;
	PortChange c = change_of(p, &is);

	change_put_port(text, &at, "a", &c, &is);
	assert_string_equal(taken(), "at 1.500000s: answer a/1 time=7000000\n");
	c.reasons = REASON_BIT(REASON_PORT_ERROR) | REASON_BIT(REASON_LID_CHANGE);
	c.is_open = true;
	is.values.state = DOWN;
	mask_set(&is.supplied, PORT_ATTR_sm_sl, false);
	is.parts = 1;
	is.failed = 2;
	is.open_error = -13;
	mask_set(&is.unmeasured, PORT_ATTR_lid, true);
	mask_set(&is.unmeasured, PORT_ATTR_lmc, true);
	mask_set(&is.unanswered, PORT_ATTR_state, true);
	c.was.tables[PORT_TABLE_PKEYS] = table_new(was, 3, sizeof(was[0]));
	is.tables[PORT_TABLE_PKEYS] = table_new(pkeys, 4, sizeof(pkeys[0]));
	mask_set(&is.supplied, PORT_ATTR_gids, false);
	change_put_port(text, &at, "a", &c, &is);
	assert_string_equal(taken(),
			    "at 1.500000s: answer a/1 \"answer.parts=1\" \"answer.failed=2\" "
			    "\"answer.open_error=-13\" \"answer.unmeasured=lid,lmc\" "
			    "\"answer.unanswered=state\" \"state=down\" \"sm_sl=\" \"gids.n=\" "
			    "\"pkeys.n=4\" \"pkeys.1=index=1 pkey=32771\" "
			    "\"pkeys.3=index=3 pkey=32772\" time=7000000 "
			    "reasons=port-error,lid-change open=yes\n");
	table_free(c.was.tables[PORT_TABLE_PKEYS]);
	table_free(is.tables[PORT_TABLE_PKEYS]);
}

/* What is published only later is in the record. */
static void test_silent(void **state)
{
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	PortSnapshot is;
	PortChange c = change_of(p, &is);
	const PortSnapshot same = is;

	/* the change looks at what the port is now */
	assert_false(change_is_silent(&c));
	p->now.parts ^= 1;
	assert_true(change_is_silent(&c));
	p->now = same;
	p->now.failed ^= 1;
	assert_true(change_is_silent(&c));
	p->now = same;
	p->now.open_error = -13;
	assert_true(change_is_silent(&c));
	p->now = same;
	mask_set(&p->now.unmeasured, PORT_ATTR_lid, true);
	assert_true(change_is_silent(&c));
	p->now = same;
	mask_set(&p->now.unanswered, PORT_ATTR_lid, true);
	assert_true(change_is_silent(&c));
	p->now = same;
	p->now.values.lid++;
	assert_true(change_is_silent(&c));
	p->now = same;
	mask_set(&p->now.supplied, PORT_ATTR_lid, false);
	assert_true(change_is_silent(&c));
	p->now = same;
	/* counters change at each answer */
	p->now.values.bad_pkey_cntr++;
	assert_false(change_is_silent(&c));
	p->now = same;
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++) {
		mask_set(&p->now.supplied, port_table_attr(t),
			 !mask_has(&same.supplied, port_table_attr(t)));
		assert_int_equal(change_is_silent(&c), t != PORT_TABLE_COUNTERS &&
							       t != PORT_TABLE_USERS &&
							       t != PORT_TABLE_FINDINGS);
		p->now = same;
	}
	p->now.tables[PORT_TABLE_GIDS] = NULL;
	assert_true(change_is_silent(&c));
	p->now = same;
}

/* All of a port that is new, and not what it was before: that is nothing. */
static void test_first(void **state)
{
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	const char *said;

	apply(p, ib_port(ACTIVE), 0);
	change_put_first(text, &at, "a", 1, &p->now, false, REASON_BIT(REASON_DEVICE), false);
	said = taken();
	assert_non_null(strstr(said, " \"state=active\""));
	assert_non_null(strstr(said, " \"lid=17\""));
	assert_non_null(strstr(said, " \"pkeys.n=1\""));
	assert_non_null(strstr(said, " \"link_downs="));
	assert_null(strstr(said, "counters"));
	change_put_first(text, &at, "a", 1, &p->now, true, 0, true);
	said = taken();
	assert_null(strstr(said, "link_downs="));
	assert_string_equal(strchr(strstr(said, " time="), ' '), " time=7000000 open=yes\n");
}

static void test_finding(void **state)
{
	PastFinding f = {.check = "flap",
			 .severity = 2,
			 .attribute = "LinkDownCount",
			 .cause = "not-active"};

	(void)state;
	change_put_finding(text, &at, "a", 2, &f);
	assert_string_equal(
		taken(), "at 1.500000s: finding a/2 time=7000000 \"check=flap\" \"is=began\" "
			 "\"severity=warning\" \"attribute=LinkDownCount\" \"cause=not-active\"\n");
	f.acknowledged = 5;
	f.attribute[0] = f.cause[0] = '\0';
	change_put_finding(text, &at, "a", 0, &f);
	assert_string_equal(taken(), "at 1.500000s: finding a time=7000000 \"check=flap\" "
				     "\"is=acknowledged\" \"severity=warning\"\n");
	f.until = 6;
	change_put_finding(text, &at, "a", 0, &f);
	assert_string_equal(taken(), "at 1.500000s: finding a time=7000000 \"check=flap\" "
				     "\"is=ended\" \"severity=warning\"\n");
}

/* A line has an end. */
static void test_long(void **state)
{
	PkeyEntry pkeys[200] = {};
	Port *p = device_port(add_device(*state, 3, "mlx5_0", 1, 1), 1);
	PortSnapshot is;
	PortChange c = change_of(p, &is);
	size_t n = 0;

	for (uint32_t i = 0; i < 200; i++)
		pkeys[i] = (PkeyEntry){i, (uint16_t)(0x8000 + i)};
	is.tables[PORT_TABLE_PKEYS] = table_new(pkeys, 200, sizeof(pkeys[0]));
	change_put_port(text, &at, "a", &c, &is);
	table_free(is.tables[PORT_TABLE_PKEYS]);
	for (const char *s = taken(), *end; *s; s = end + 1, n++) {
		end = strchr(s, '\n');
		assert_true(end - s < 3100);
		assert_int_equal(
			strncmp(s,
				end[1] ? "at 1.500000s: set a/1 \"" : "at 1.500000s: answer a/1 \"",
				end[1] ? 23 : 26),
			0);
	}
	assert_int_equal(n, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_port, setup_text, teardown_text),
		cmocka_unit_test_setup_teardown(test_silent, setup_text, teardown_text),
		cmocka_unit_test_setup_teardown(test_first, setup_text, teardown_text),
		cmocka_unit_test_setup_teardown(test_finding, setup_text, teardown_text),
		cmocka_unit_test_setup_teardown(test_long, setup_text, teardown_text),
	};

	return cmocka_run_group_tests_name("change-text", tests, NULL, NULL);
}
