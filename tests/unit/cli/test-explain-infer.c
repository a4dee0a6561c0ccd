/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What follows from what was seen, in which order: the rows of explain-causes.def. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain-infer.h"
#include "query-error.h"

#define CLUES_MAX 16

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

static bool no_memory;

void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __real_calloc(n, size);
}

typedef struct Story {
	Clue clues[CLUES_MAX];
	size_t n;
	Fact facts[4];
	size_t n_facts;
} Story;

static void seen(Story *s, uint64_t sec, const char *what, const char *from, const char *to)
{
	assert_true(s->n < CLUES_MAX);
	s->clues[s->n++] =
		(Clue){sec * USEC_PER_SEC, sec * USEC_PER_SEC, what, from, to, "", false};
}

static void is_now(Story *s, const char *what, const char *value)
{
	assert_true(s->n_facts < ARRAY_SIZE(s->facts));
	s->facts[s->n_facts++] = (Fact){what, value, false};
}

/* Explains S, which is to have this cause: "unknown", or "nothing" if there is no trouble. */
static Explanation assert_cause(Story *s, const char *id)
{
	Explanation e;

	explain_sort(s->clues, s->n);
	assert_true(s->n < CLUES_MAX);
	s->clues[s->n].used = true;
	e = explain_infer(s->clues, s->n, s->facts, s->n_facts);
	assert_true(s->clues[s->n].used); /* what is behind the last one is not written */
	assert_string_equal(e.trouble == TROUBLE_NONE ? "nothing"
			    : e.cause		      ? e.cause->id
						      : "unknown",
			    id);
	return e;
}

static void test_order(_unused_ void **state)
{
	Story before = {}, same = {}, after = {}, undone = {};

	seen(&before, 100, "AdministrativelyUp", "yes", "no");
	seen(&before, 110, "State", "active", "down");
	assert_cause(&before, "admin-down");
	assert_true(before.clues[0].used && before.clues[1].used);
	/* each source has its own delay */
	seen(&same, 100, "State", "active", "down");
	seen(&same, 102, "AdministrativelyUp", "yes", "no");
	assert_cause(&same, "admin-down");
	/* what came later is not why */
	seen(&after, 100, "State", "active", "down");
	seen(&after, 110, "AdministrativelyUp", "yes", "no");
	assert_cause(&after, "unknown");
	seen(&undone, 100, "AdministrativelyUp", "yes", "no");
	seen(&undone, 105, "AdministrativelyUp", "no", "yes");
	seen(&undone, 110, "State", "active", "down");
	assert_cause(&undone, "unknown");
	/* and once more: the last counts */
	undone.clues[2].what = "AdministrativelyUp";
	undone.clues[2].from = "yes";
	undone.clues[2].to = "no";
	seen(&undone, 111, "State", "active", "down");
	assert_cause(&undone, "admin-down");
	assert_false(undone.clues[0].used);
	assert_true(undone.clues[2].used);
}

/* What is separated from the trouble by a time in which all was well is another matter; a trouble
 * that goes on is none. */
static void test_episode(_unused_ void **state)
{
	Story quiet = {}, going = {};

	seen(&quiet, 100, "Event", "", "resume");
	seen(&quiet, 200, "State", "active", "down");
	is_now(&quiet, "Protocol", "infiniband");
	seen(&quiet, 200, "PhysicalState", "link-up", "polling");
	assert_cause(&quiet, "link-lost");
	assert_false(quiet.clues[0].used);
	seen(&going, 100, "Parent", "", "without-driver");
	seen(&going, 98, "State", "active", "absent");
	seen(&going, 900, "Parent", "", "same");
	seen(&going, 899, "State", "absent", "active");
	assert_true(assert_cause(&going, "driver-reload").over);
}

/* The worst that goes on is explained; if it has no cause, a lesser one has not either. */
static void test_trouble(_unused_ void **state)
{
	Story s = {}, back = {};
	Explanation e;

	seen(&s, 100, "SmLid", "1", "7");
	e = assert_cause(&s, "sm-handover");
	assert_int_equal(e.trouble, TROUBLE_CHANGED);
	seen(&s, 105, "State", "active", "down");
	e = assert_cause(&s, "unknown");
	assert_int_equal(e.trouble, TROUBLE_DOWN);
	assert_false(e.over);
	seen(&s, 106, "State", "down", "active");
	e = assert_cause(&s, "unknown");
	assert_true(e.over);
	/* it is back, and slower since: that goes on */
	seen(&back, 100, "State", "active", "absent");
	seen(&back, 110, "State", "absent", "active");
	assert_true(assert_cause(&back, "device-returned").over);
	seen(&back, 110, "PcieWidth", "16", "8");
	assert_false(assert_cause(&back, "pcie-recovery").over);
	seen(&back, 120, "PcieWidth", "8", "16");
	assert_true(assert_cause(&back, "device-returned").over);
}

/* A smaller MTU is no lower speed, and comes before what was slow since ever. What is again as it
 * was is over. */
static void test_back(_unused_ void **state)
{
	Story mtu = {}, subnet = {}, lid = {}, gid = {}, moved = {};
	Difference d[CLUES_MAX];
	Explanation e;

	seen(&mtu, 100, "NetdevMtu", "9000", "1500");
	seen(&mtu, 100, "ActiveMtu", "4096", "1024");
	is_now(&mtu, "Finding", "pcie-slow");
	e = assert_cause(&mtu, "mtu-lowered");
	assert_int_equal(e.trouble, TROUBLE_MTU);
	assert_false(e.over);
	seen(&mtu, 110, "ActiveMtu", "1024", "2048");
	assert_false(assert_cause(&mtu, "mtu-lowered").over);
	seen(&mtu, 120, "ActiveMtu", "2048", "4096");
	e = assert_cause(&mtu, "pcie-slow");
	seen(&subnet, 100, "ActiveMtu", "4096", "2048");
	is_now(&subnet, "Protocol", "infiniband");
	assert_int_equal(assert_cause(&subnet, "mtu-by-subnet").trouble, TROUBLE_MTU);
	/* a number that is greater is not back */
	seen(&lid, 100, "Lid", "270", "1270");
	assert_false(assert_cause(&lid, "lid-changed").over);
	seen(&lid, 110, "Lid", "1270", "270");
	assert_true(assert_cause(&lid, "lid-changed").over);
	/* a GID is back, whatever its index; that differs still */
	seen(&gid, 100, "Gids", "[3] fe80::1", "");
	seen(&gid, 101, "Gids", "[5] fe80::2", "");
	seen(&gid, 102, "Gids", "", "[5] fe80::2");
	e = assert_cause(&gid, "gid-lost");
	assert_true(e.over);
	seen(&gid, 103, "Gids", "", "[7] fe80::1");
	e = assert_cause(&gid, "gid-lost");
	assert_int_equal(explain_differences(gid.clues, gid.n, &e, false, d), 1);
	assert_string_equal(d[0].from, "[3] fe80::1");
	assert_string_equal(d[0].to, "[7] fe80::1");
	seen(&moved, 100, "Gids", "[3] fe80::1", "[7] fe80::1");
	e = assert_cause(&moved, "gid-moved");
	assert_false(e.over);
}

/* What is said of another thing ends nothing; and a number that is the same has neither fallen nor
 * risen. */
static void test_other(_unused_ void **state)
{
	Story lid = {}, mtu = {}, same = {};

	seen(&lid, 100, "Lid", "270", "1270");
	seen(&lid, 110, "NetdevMtu", "1500", "270");
	assert_false(assert_cause(&lid, "lid-changed").over);
	seen(&mtu, 100, "NetdevMtu", "9000", "1500");
	seen(&mtu, 100, "ActiveMtu", "4096", "1024");
	seen(&mtu, 110, "NetdevMtu", "1500", "9000");
	assert_false(assert_cause(&mtu, "mtu-lowered").over);
	seen(&same, 100, "ActiveMtu", "4096", "4096");
	seen(&same, 101, "AerNonfatal", "1", "1");
	assert_cause(&same, "nothing");
	/* what is no number */
	seen(&same, 102, "ActiveMtu", "", "1024");
	seen(&same, 103, "AerNonfatal", "1", "");
	assert_cause(&same, "nothing");
}

static void assert_difference(const Difference *d, const char *what, const char *from,
			      const char *to)
{
	assert_string_equal(d->what, what);
	assert_string_equal(d->from, from);
	assert_string_equal(d->to, to);
}

/* Each thing that differs is there once: a value from the first clue to the last one, and of a
 * table each entry. What the explanation says is there only if ALL are wanted. */
static void test_differences(_unused_ void **state)
{
	Story s = {}, down = {};
	Difference d[CLUES_MAX];
	Explanation e;

	/* nothing lasts yet while the port is not well */
	seen(&down, 100, "State", "active", "down");
	seen(&down, 101, "Lid", "2", "5");
	e = assert_cause(&down, "unknown");
	assert_int_equal(explain_differences(down.clues, down.n, &e, true, d), 0);
	seen(&s, 100, "Lid", "2", "5");
	seen(&s, 101, "NetdevMtu", "9000", "1500"); /* does not last */
	seen(&s, 102, "Gids", "[1] fe80::1", "");
	seen(&s, 103, "LinkWidth", "", "4"); /* was not known before */
	seen(&s, 104, "LinkSpeed", "100", "50");
	seen(&s, 105, "LinkSpeed", "50", ""); /* is not known now */
	seen(&s, 106, "Pkeys", "[0] 0xffff", "[0] 0x8001");
	seen(&s, 107, "Pkeys", "[0] 0x8001", "[0] 0xffff"); /* as before */
	seen(&s, 108, "Rate", "400", "100");
	seen(&s, 109, "Rate", "100", "200");
	seen(&s, 110, "Gids", "[2] fe80::2", "[2] fe80::3");
	seen(&s, 111, "SmLid", "1", "7");
	e = assert_cause(&s, "speed-lower");
	assert_int_equal(e.trouble, TROUBLE_SLOW);
	assert_int_equal(explain_differences(s.clues, s.n, &e, false, d), 5);
	assert_difference(&d[0], "Lid", "2", "5");
	assert_difference(&d[1], "Gids", "[1] fe80::1", "");
	assert_difference(&d[2], "Rate", "400", "200");
	assert_difference(&d[3], "Gids", "[2] fe80::2", "[2] fe80::3");
	assert_difference(&d[4], "SmLid", "1", "7");
	assert_int_equal(explain_differences(s.clues, s.n,
					     &(Explanation){.trouble = TROUBLE_NONE, .over = true},
					     true, d),
			 0);
}

static void test_no_memory(_unused_ void **state)
{
	Story s = {};

	seen(&s, 100, "AdministrativelyUp", "yes", "no");
	seen(&s, 110, "State", "active", "down");
	no_memory = true;
	assert_cause(&s, "unknown");
	no_memory = false;
	assert_cause(&s, "admin-down");
}

/* Errors of PCI Express explain what they came with; what was corrected explains only itself. */
static void test_aer(_unused_ void **state)
{
	Story alone = {}, corrected = {}, down = {}, reset = {}, pulled = {}, slept = {};
	Explanation e;

	seen(&alone, 100, "AerRootNonfatal", "3", "4");
	e = assert_cause(&alone, "aer-burst");
	assert_int_equal(e.trouble, TROUBLE_ERRORS);
	assert_int_equal(e.cause->confidence, LIKELY);
	seen(&alone, 100, "AerNonfatal", "0", "1");
	assert_int_equal(assert_cause(&alone, "aer-burst").cause->confidence, CERTAIN);
	seen(&corrected, 100, "AerCorrectable", "3", "4000");
	assert_cause(&corrected, "aer-burst");
	/* they are read after the port went down */
	seen(&down, 100, "State", "active", "down");
	seen(&down, 101, "AerNonfatal", "0", "1");
	e = assert_cause(&down, "aer-burst");
	assert_int_equal(e.trouble, TROUBLE_DOWN);
	/* a driver that has reset its device for that */
	seen(&reset, 100, "State", "active", "absent");
	seen(&reset, 110, "State", "absent", "active");
	seen(&reset, 110, "Parent", "", "same");
	assert_cause(&reset, "driver-reload");
	seen(&reset, 111, "AerRootFatal", "0", "1");
	e = assert_cause(&reset, "aer-burst");
	assert_int_equal(e.trouble, TROUBLE_GONE);
	assert_true(e.over);
	is_now(&pulled, "Protocol", "infiniband");
	seen(&pulled, 100, "State", "active", "down");
	seen(&pulled, 100, "PhysicalState", "link-up", "polling");
	seen(&pulled, 101, "AerCorrectable", "3", "4000");
	assert_cause(&pulled, "link-lost");
	seen(&slept, 99, "Event", "", "resume");
	seen(&slept, 100, "State", "active", "down");
	seen(&slept, 101, "AerNonfatal", "0", "1");
	assert_cause(&slept, "suspended");
}

static void test_health(_unused_ void **state)
{
	Story stays = {}, recovers = {}, gone = {};

	seen(&stays, 100, "HealthReporters", "fw healthy 0", "fw error 1");
	assert_false(assert_cause(&stays, "health-error").over);
	seen(&stays, 110, "HealthReporters", "fw error 1", "fw healthy 1");
	assert_true(assert_cause(&stays, "health-error").over);
	seen(&recovers, 100, "HealthReporters", "fw healthy 0", "fw healthy 1");
	assert_true(assert_cause(&recovers, "health-error").over);
	/* that is why the device went */
	seen(&gone, 100, "HealthReporters", "fw_fatal healthy 0", "fw_fatal error 1");
	seen(&gone, 101, "State", "active", "absent");
	seen(&gone, 110, "State", "absent", "active");
	assert_cause(&gone, "firmware-error");
}

static void test_nothing(_unused_ void **state)
{
	Story s = {}, now = {};

	assert_cause(&s, "nothing");
	seen(&s, 100, "Pkeys", "", "0x8001");
	seen(&s, 100, "ActiveMtu", "1024", "4096");
	seen(&s, 100, "Event", "", "sm-change");
	seen(&s, 101, "State", "down", "active");
	assert_cause(&s, "nothing");
	/* nobody has seen it begin */
	is_now(&now, "State", "down");
	is_now(&now, "PhysicalState", "polling");
	assert_false(assert_cause(&now, "no-link").over);
	assert_true(now.facts[1].used);
	assert_string_equal(trouble_words(TROUBLE_NONE), "nothing is wrong");
	now.facts[1].value = "link-up";
	assert_cause(&now, "unknown");
}

/* The clock of the machine was set back between two clues of one boot; of two boots it is all that
 * there is. A microsecond is an order too. */
static void test_clock(_unused_ void **state)
{
	Story s = {}, boots = {}, close = {};

	seen(&boots, 110, "AdministrativelyUp", "yes", "no");
	seen(&boots, 100, "State", "active", "down");
	boots.clues[0].monotonic_usec = USEC_PER_SEC;
	boots.clues[1].monotonic_usec = 0;
	assert_cause(&boots, "unknown");
	assert_string_equal(boots.clues[0].what, "State");
	seen(&close, 100, "State", "active", "down");
	seen(&close, 100, "AdministrativelyUp", "yes", "no");
	close.clues[1].monotonic_usec--;
	assert_cause(&close, "admin-down");
	assert_string_equal(close.clues[0].what, "AdministrativelyUp");

	seen(&s, 100, "AdministrativelyUp", "yes", "no");
	seen(&s, 101, "State", "active", "down");
	s.clues[1].realtime_usec = 1;
	assert_cause(&s, "admin-down");
	assert_string_equal(s.clues[0].what, "AdministrativelyUp");
}

/* The port was slower, for a cause of two steps of which the second came AFTER seconds later than
 * the first; negative: before it. */
static void assert_cause_of_steps(int after, const char *id)
{
	Story s = {};

	seen(&s, 110, "NetdevMtu", "9000", "1500");
	seen(&s, (uint64_t)(110 + after), "ActiveMtu", "4096", "1024");
	seen(&s, 125, "Rate", "400", "200");
	assert_cause(&s, id);
}

/* Steps are in the order of time; what is noticed within 3 s may have happened in any order. */
static void test_steps(_unused_ void **state)
{
	assert_cause_of_steps(10, "mtu-lowered");
	assert_cause_of_steps(0, "mtu-lowered");
	assert_cause_of_steps(-3, "mtu-lowered");
	assert_cause_of_steps(-4, "unknown");
	assert_cause_of_steps(-10, "unknown");
	/* and not after the trouble has begun */
	assert_cause_of_steps(18, "mtu-lowered");
}

/* Each code of an error has a cause, seen or found, and says whose fault it is. */
static void test_error_codes(_unused_ void **state)
{
	static const char *const expected[_QUERY_ERROR_MAX] = {
		[QUERY_ERROR_DEVICE] = "query-fails",	   [QUERY_ERROR_TIMEOUT] = "firmware-hang",
		[QUERY_ERROR_NO_END] = "firmware-hang",	   [QUERY_ERROR_NOT_ASKED] = "others-hang",
		[QUERY_ERROR_WORKER_LOST] = "worker-lost", [QUERY_ERROR_NO_WORKER] = "rdmad-fails",
		[QUERY_ERROR_PROTOCOL] = "rdmad-fails",	   [QUERY_ERROR_INCOMPLETE] = "rdmad-fails",
		[QUERY_ERROR_CANNOT_ASK] = "rdmad-fails",
	};

	for (QueryErrorCode i = 0; i < _QUERY_ERROR_MAX; i++) {
		Story seen_now = {}, found = {};
		QueryErrorCode read;
		AttrText code;

		query_error_format(i, -EIO, code);
		assert_int_equal(query_error_parse(code, &read), 0);
		assert_int_equal(read, i);
		assert_non_null(expected[i]);
		seen(&seen_now, 100, "Stale", "no", "yes");
		seen(&seen_now, 100, "LastErrorCode", "", code);
		assert_int_equal(assert_cause(&seen_now, expected[i]).trouble, TROUBLE_STALE);
		is_now(&found, "Stale", "yes");
		is_now(&found, "LastErrorCode", code);
		assert_int_equal(assert_cause(&found, expected[i]).trouble, TROUBLE_STALE);
	}
}

/* A port that does not answer is not well, so that what was before belongs to what comes next. */
static void test_well(_unused_ void **state)
{
	Story stale = {}, answers = {}, quiet = {}, longer = {}, first = {}, later = {};
	Story deferred = {};

	seen(&stale, 99, "Event", "", "resume");
	seen(&stale, 100, "Stale", "no", "yes");
	seen(&stale, 200, "State", "active", "down");
	assert_int_equal(assert_cause(&stale, "suspended").trouble, TROUBLE_STALE);
	seen(&answers, 99, "Event", "", "resume");
	seen(&answers, 100, "Stale", "no", "yes");
	seen(&answers, 110, "Stale", "yes", "no");
	seen(&answers, 200, "State", "active", "down");
	assert_int_equal(assert_cause(&answers, "unknown").trouble, TROUBLE_DOWN);
	seen(&first, 100, "Stale", "no", "yes");
	seen(&first, 200, "State", "active", "down");
	assert_int_equal(assert_cause(&first, "unknown").trouble, TROUBLE_STALE);
	/* what is no trouble begins nothing */
	seen(&later, 100, "State", "active", "absent");
	seen(&later, 110, "State", "absent", "active");
	seen(&later, 200, "NetdevMtu", "1500", "9000");
	assert_cause(&later, "device-returned");
	seen(&deferred, 99, "Event", "", "resume");
	seen(&deferred, 100, "State", "active", "down");
	seen(&deferred, 105, "State", "down", "active-defer");
	seen(&deferred, 200, "State", "active-defer", "down");
	assert_cause(&deferred, "unknown");
	/* how long it has to be well */
	seen(&quiet, 100, "Event", "", "resume");
	seen(&quiet, 130, "State", "active", "down");
	assert_cause(&quiet, "suspended");
	seen(&longer, 100, "Event", "", "resume");
	seen(&longer, 131, "State", "active", "down");
	assert_cause(&longer, "unknown");
}

/* A trouble that is over ends with what was as it is now. */
static void test_over(_unused_ void **state)
{
	Story slower = {}, as_before = {}, taken = {};

	seen(&slower, 100, "Rate", "400", "100");
	seen(&slower, 101, "LinkWidth", "4", "1");
	seen(&slower, 110, "LinkWidth", "1", "2");
	assert_false(assert_cause(&slower, "lanes-lost").over);
	seen(&as_before, 100, "LinkWidth", "4", "1");
	seen(&as_before, 110, "LinkWidth", "1", "4");
	assert_true(assert_cause(&as_before, "lanes-lost").over);
	/* one clue is one step: three times down, not once */
	for (uint64_t i = 0; i < 3; i++) {
		seen(&taken, 100 + 10 * i, "State", "active", "down");
		assert_cause(&taken, i < 2 ? "unknown" : "flapping");
		seen(&taken, 105 + 10 * i, "State", "down", "active");
	}
}

/* Each row has at least one step and each step a form that is understood; no row is behind another
 * that has the same steps. */
static void test_rows(_unused_ void **state)
{
	assert_true(n_causes >= 30);
	for (size_t i = 0; i < n_causes; i++) {
		const Cause *c = &causes[i];

		assert_true(c->troubles != 0 && *c->says && *c->advice);
		assert_non_null(strchr(c->steps, ':'));
		assert_true(c->steps[0] != '!');
		assert_int_equal(strcspn(c->steps, "(") == strlen(c->steps),
				 strcspn(c->steps, ")") == strlen(c->steps));
		for (size_t k = 0; k < i; k++)
			assert_false(streq(causes[k].steps, c->steps) &&
				     causes[k].troubles & c->troubles);
	}
}

/* The PHY is believed where it names a part. Where it says only how far the link came, what
 * happened to other links at the same time says more. It tells of it a little later. */
static void test_phy(_unused_ void **state)
{
	static const struct {
		const char *reason, *cause;
	} cases[] = {{"no-cable", "phy-no-cable"},
		     {"module", "phy-module"},
		     {"eeprom-issue", "phy-module"},
		     {"autonegotiation", "switch-lost"},
		     {"unknown(13)", "switch-lost"}};
	Story now = {}, set_down = {};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		Story s = {};

		seen(&s, 100, "State", "active", "down");
		seen(&s, 100, "Together", "", "7 other ports");
		seen(&s, 110, "LinkDownReason", "", cases[i].reason);
		assert_cause(&s, cases[i].cause);
	}
	/* since before anything was seen */
	is_now(&now, "State", "down");
	is_now(&now, "LinkDownReason", "link-training");
	assert_cause(&now, "phy-training");
	is_now(&now, "LinkDownDetail", "remote-fault");
	assert_cause(&now, "phy-remote-fault");
	/* what somebody did comes first */
	seen(&set_down, 100, "AdministrativelyUp", "yes", "no");
	seen(&set_down, 100, "State", "active", "down");
	seen(&set_down, 101, "LinkDownReason", "", "no-cable");
	assert_cause(&set_down, "admin-down");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),	  cmocka_unit_test(test_episode),
		cmocka_unit_test(test_trouble),	  cmocka_unit_test(test_back),
		cmocka_unit_test(test_nothing),	  cmocka_unit_test(test_aer),
		cmocka_unit_test(test_health),	  cmocka_unit_test(test_clock),
		cmocka_unit_test(test_rows),	  cmocka_unit_test(test_error_codes),
		cmocka_unit_test(test_steps),	  cmocka_unit_test(test_well),
		cmocka_unit_test(test_over),	  cmocka_unit_test(test_phy),
		cmocka_unit_test(test_other),	  cmocka_unit_test(test_differences),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
