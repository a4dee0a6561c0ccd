/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When findings begin and end, who looks after which change, and how well that makes a port, its
 * device and the machine. */

#include "judged.h"

#define HOUR 3600U
#define DAY  (24U * HOUR)

/* What is wrong begins at once, and ends at once; only that device is told of. */
static void test_begin_and_end(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Device *d, *other;
	Port *p;

	judged_begin(&j, 10, 0);
	d = judged_add(&j, "mlx5_0", 1);
	other = judged_add(&j, "mlx5_1", 1);
	p = device_port(d, 1);
	assert_port(p, "unknown");
	assert_device(d, "unknown");
	assert_int_equal(judge_at(&j, 0), 2);
	assert_port(p, "ok");
	assert_device(d, "ok");
	assert_int_equal(judge_at(&j, 1), 0);
	j.seconds = 5;
	assert_true(judged_set_state(&j, p, DOWN));
	assert_int_equal(judge_at(&j, 6), 1);
	assert_ptr_equal(j.told[0], d);
	assert_port(p, "critical not-active@6");
	assert_string_equal(finding_of(p, 0).condition, "port");
	assert_string_equal(finding_of(p, 0).attribute, "State");
	assert_true(health_next_usec(j.health) == UINT64_MAX);
	assert_device(d, "ok");
	assert_port(device_port(other, 1), "ok");
	assert_int_equal(judge_at(&j, 30), 0);
	assert_true(judged_set_state(&j, p, ACTIVE));
	assert_int_equal(judge_at(&j, 40), 1);
	assert_port(p, "ok");
	/* another one, of which the second link down within a day is a part */
	assert_true(judged_set_state(&j, p, DOWN));
	assert_int_equal(judge_at(&j, 50), 1);
	assert_port(p, "critical not-active@50 flap@50<not-active");
	assert_says(p, 1, "went down 2 times in 24h");
	assert_port(device_port(other, 1), "ok");
	/* which stands for itself then */
	assert_true(judged_set_state(&j, p, ACTIVE));
	judge_at(&j, 60);
	assert_port(p, "warning flap@50");
}

/* What has been told of finding I of P. */
static const FindingEntry *told(const Port *p, uint32_t i)
{
	const Table *t = p->now.tables[PORT_TABLE_FINDINGS];

	assert_true(t && i < t->n);
	return (const FindingEntry *)(const void *)t->entries + i;
}

static void assert_told(const Port *p, const char *text)
{
	if (!strstr(told(p, 0)->text, text))
		fail_msg("\"%s\" is not in \"%s\"", text, told(p, 0)->text);
}

/* The same findings with other numbers are told once in two seconds, other findings at
 * once. */
static void test_details(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Port *p;

	judged_begin(&j, 0, 0);
	p = device_port(judged_add(&j, "mlx5_0", 1), 1);
	j.seconds = 50;
	for (size_t i = 0; i < 2; i++) {
		assert_true(judged_set_state(&j, p, DOWN));
		assert_true(judged_set_state(&j, p, ACTIVE));
	}
	judge_at(&j, 50);
	assert_told(p, "went down 2 times in 24h");
	j.usec = 2 * USEC_PER_SEC - 1;
	assert_true(judged_set_state(&j, p, DOWN));
	assert_true(judged_set_state(&j, p, ACTIVE));
	judge_at(&j, 50);
	assert_told(p, "went down 2 times in 24h");
	assert_true(health_next_usec(j.health) == BEGIN_USEC + 52 * USEC_PER_SEC);
	j.usec = 0;
	assert_int_equal(judge_at(&j, 52), 1);
	assert_told(p, "went down 3 times in 24h");
	j.usec = 1000;
	assert_true(judged_set_state(&j, p, DOWN));
	judge_at(&j, 52);
	assert_port(p, "critical flap@50<not-active not-active@52");
	assert_string_equal(told(p, 1)->check, "not-active");
	assert_told(p, "went down 4 times in 24h");
}

/* A sentence that is too long ends with a whole letter. */
static void test_long_text(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Port *p;

	judged_begin(&j, 10, 0);
	p = device_port(judged_add(&j, "mlx5_0", 1), 1);
	for (size_t offset = 0; offset < 2; offset++) {
		char text[400] = "Driver=";
		FindingEntry f;

		if (offset)
			strcat(text, "x");
		for (size_t i = 0; i < 180; i++)
			strcat(text, "ä");
		judged_expect(&j, text);
		judge_at(&j, offset);
		f = finding_of(p, 0);
		assert_in_range(strlen(f.text), sizeof(f.text) - 2, sizeof(f.text) - 1);
		assert_true((unsigned char)f.text[strlen(f.text) - 1] != 0xc3);
	}
}

/* Only what a check has asked for is a reason to look. */
static void test_asked_rows(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Device *d;
	Port *p;
	PortSnapshot s;

	judged_begin(&j, 10, 0);
	d = judged_add(&j, "mlx5_0", 1);
	p = device_port(d, 1);
	judge_at(&j, 0);
	(void)compare_at(&j, 0);
	assert_false(judged_set_state(&j, p, ACTIVE));
	s = judged_answer(p, ACTIVE);
	PORT_SUPPLY(&s, init_type_reply, 1);
	assert_false(judged_set(&j, p, s));
	assert_int_equal(judge_at(&j, 1), 0);
	s = judged_answer(p, ACTIVE);
	PORT_SUPPLY(&s, bad_pkey_cntr, 100);
	assert_false(judged_set(&j, p, s));
	assert_false(health_wants_comparison(j.health));
	s = judged_answer(p, ACTIVE);
	PORT_SUPPLY(&s, lid, 0);
	assert_true(judged_set(&j, p, s));
	assert_int_equal(judge_at(&j, 2), 1);
	assert_port(p, "critical no-lid@2");
	/* since a check has asked for evidence, each change may be some */
	assert_true(judged_set_state(&j, p, DOWN));
	assert_true(judged_set_state(&j, p, ACTIVE));
	assert_true(judged_set_state(&j, p, DOWN));
	judge_at(&j, 3);
	s = judged_answer(p, DOWN);
	PORT_SUPPLY(&s, init_type_reply, 2);
	assert_true(judged_set(&j, p, s));
	s = judged_answer(p, DOWN);
	PORT_SUPPLY(&s, init_type_reply, 2);
	assert_false(judged_set(&j, p, s));
}

/* The number of errors that PCIe could not correct is now N. Returns whether the judge looks. */
static bool set_errors(Judged *j, Device *d, uint64_t n)
{
	DeviceSnapshot s = {};

	DEVICE_SUPPLY(&s, aer_nonfatal, n);
	DEVICE_SUPPLY(&s, ctx_count, 1);
	return judged_set_device(j, d, &s);
}

/* A row that counts is no change on the bus, and is judged all the same. */
static void test_counting_rows(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	DeviceSnapshot s = {};
	PortSnapshot answer;
	Device *d;
	Port *p;

	judged_begin(&j, 10, 0);
	d = judged_add(&j, "mlx5_0", 1);
	p = device_port(d, 1);
	judge_at(&j, 0);
	assert_true(set_errors(&j, d, 0));
	judge_at(&j, 1);
	assert_device(d, "ok");
	assert_true(set_errors(&j, d, 2));
	assert_int_equal(judge_at(&j, 2), 1);
	assert_device(d, "warning pcie-errors@2");
	assert_port(p, "ok");
	assert_false(set_errors(&j, d, 2));
	assert_int_equal(judge_at(&j, 3), 0);
	/* nobody asks how many contexts there are */
	DEVICE_SUPPLY(&s, aer_nonfatal, 2);
	DEVICE_SUPPLY(&s, ctx_count, 100);
	assert_false(judged_set_device(&j, d, &s));
	/* more of the same is said anew */
	assert_true(set_errors(&j, d, 3));
	assert_int_equal(judge_at(&j, 4), 1);
	assert_device(d, "warning pcie-errors@2");
	answer = judged_answer(p, ACTIVE);
	PORT_SUPPLY(&answer, fec_uncorrectable, 0);
	assert_true(judged_set(&j, p, answer));
	answer = judged_answer(p, ACTIVE);
	PORT_SUPPLY(&answer, fec_uncorrectable, 0);
	assert_false(judged_set(&j, p, answer));
	answer = judged_answer(p, ACTIVE);
	PORT_SUPPLY(&answer, fec_uncorrectable, 1);
	assert_true(judged_set(&j, p, answer));
}

/* The link of P goes down and comes back. */
static void flap(Judged *j, Port *p, uint64_t seconds)
{
	j->seconds = seconds;
	assert_true(judged_set_state(j, p, DOWN));
	assert_true(judged_set_state(j, p, ACTIVE));
}

/* What is over because time goes by ends, after the time of its check, and is looked at once a
 * minute. */
static void test_clear_time(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Port *p;

	judged_begin(&j, 10, 0);
	p = device_port(judged_add(&j, "mlx5_0", 1), 1);
	judged_add(&j, "mlx5_1", 1);
	judge_at(&j, 0);
	(void)compare_at(&j, 20);
	judge_at(&j, 100);
	(void)compare_at(&j, 100);
	assert_true(health_next_usec(j.health) == UINT64_MAX);
	flap(&j, p, 200);
	assert_int_equal(judge_at(&j, 200), 1);
	assert_port(p, "ok");
	flap(&j, p, HOUR);
	assert_int_equal(judge_at(&j, HOUR), 1);
	assert_port(p, "warning flap@3600");
	(void)compare_at(&j, HOUR);
	assert_true(health_next_usec(j.health) == judged_usec(&j) + 11 * USEC_PER_SEC);
	judge_at(&j, HOUR + 11);
	(void)compare_at(&j, HOUR + 11);
	assert_true(health_next_usec(j.health) == judged_usec(&j) + 49 * USEC_PER_SEC);
	assert_int_equal(judge_at(&j, HOUR + 59), 0);
	assert_int_equal(judge_at(&j, DAY + 200), 1);
	assert_ptr_equal(j.told[0], p->device);
	assert_port(p, "warning flap@3600");
	assert_int_equal(judge_at(&j, DAY + 259), 0);
	/* the first is out of the day now: ten minutes from here on */
	assert_int_equal(judge_at(&j, DAY + 319), 1);
	assert_port(p, "warning flap@3600");
	assert_true(health_next_usec(j.health) == judged_usec(&j) + 60 * USEC_PER_SEC);
	assert_int_equal(judge_at(&j, DAY + 318 + 600), 1);
	assert_port(p, "warning flap@3600");
	assert_int_equal(judge_at(&j, DAY + 318 + 600 + 59), 0);
	assert_int_equal(judge_at(&j, DAY + 318 + 600 + 60), 1);
	assert_port(p, "ok");
	assert_true(health_next_usec(j.health) == UINT64_MAX);
	assert_int_equal(judge_at(&j, DAY + 318 + 600 + 200), 0);
}

/* Whatever else changes meanwhile, on other ports. */
static void test_clear_time_of_busy_machine(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Port *p, *busy;

	judged_begin(&j, 10, 0);
	p = device_port(judged_add(&j, "mlx5_0", 1), 1);
	busy = device_port(judged_add(&j, "mlx5_1", 1), 1);
	judge_at(&j, 0);
	flap(&j, p, 100);
	flap(&j, p, HOUR);
	judge_at(&j, HOUR);
	assert_port(p, "warning flap@3600");
	for (uint64_t i = 0; i < 40; i++) {
		j.seconds = DAY + 101 + 30 * i;
		assert_true(judged_set_state(&j, busy, i % 2 ? ACTIVE : INIT));
		judge_at(&j, j.seconds);
		(void)compare_at(&j, j.seconds);
	}
	assert_port(p, "ok");
}

/* A machine with one port, whose link was down twice: the second time after an hour. */
static Port *begin_with_flaps(Judged *j)
{
	Port *p;

	judged_begin(j, 10, 0);
	p = device_port(judged_add(j, "mlx5_0", 1), 1);
	judge_at(j, 0);
	flap(j, p, 100);
	flap(j, p, HOUR);
	return p;
}

/* What begins again within that time has never ended, and what was said then is not true any
 * more. */
static void test_within_clear_time(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Port *p = begin_with_flaps(&j);

	judge_at(&j, HOUR);
	judge_at(&j, DAY + 101);
	assert_port(p, "warning flap@3600");
	flap(&j, p, DAY + 699);
	judge_at(&j, DAY + 699);
	assert_port(p, "warning flap@3600");
	/* ten minutes after the first end it holds */
	judge_at(&j, DAY + 801);
	assert_port(p, "warning flap@3600");
	assert_true(judge_at(&j, DAY + HOUR - 1) > 0);
	assert_port(p, "warning flap@3600");
	judge_at(&j, DAY + HOUR + 60);
	judge_at(&j, DAY + HOUR + 659);
	assert_port(p, "warning flap@3600");
	judge_at(&j, DAY + HOUR + 719);
	assert_port(p, "ok");
}

/* A clock that was set back does not keep what has ended. */
static void test_clock_set_back(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Port *p = begin_with_flaps(&j);

	judge_at(&j, HOUR);
	judge_at(&j, DAY + 101);
	assert_port(p, "warning flap@3600");
	p->history.n_downs = 0;
	assert_int_equal(judge_at(&j, DAY), 1);
	assert_port(p, "ok");
}

/* What was long ago is not any more when the clock was set back. */
static void test_clock_set(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Port *p = begin_with_flaps(&j);

	judge_at(&j, 3 * DAY);
	judge_at(&j, 3 * DAY + HOUR);
	assert_port(p, "ok");
	(void)compare_at(&j, 3 * DAY + HOUR);
	assert_false(health_wants_comparison(j.health));
	health_mark_all(j.health);
	assert_int_equal(judge_at(&j, 2 * HOUR), 1);
	assert_port(p, "warning flap@7200");
	/* others are compared, too */
	assert_true(health_wants_comparison(j.health));
}

/* Of what is not known nobody says that it is well. */
static void test_unknown(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	DeviceChange c = {};
	PortSnapshot s;
	Device *d;
	Port *p;

	judged_begin(&j, 10, 0);
	d = judged_add(&j, "mlx5_0", 2);
	p = device_port(d, 1);
	judge_at(&j, 0);
	(void)compare_at(&j, 0);
	judged_set_state(&j, p, DOWN);
	judge_at(&j, 1);
	assert_port(p, "critical not-active@1");
	/* what was wrong before may be over; that nobody knows is certain */
	assert_true(judged_fail(&j, p));
	assert_int_equal(judge_at(&j, 2), 1);
	assert_port(p, "unknown not-active@1<stale? stale@2");
	assert_port(device_port(d, 2), "ok");
	assert_device(d, "ok");
	judged_set_state(&j, p, ACTIVE);
	judge_at(&j, 3);
	assert_port(p, "ok");
	/* a driver that does not say the state */
	s = judged_answer(p, ACTIVE);
	mask_set(&s.supplied, PORT_ATTR_state, false);
	assert_true(judged_set(&j, p, s));
	assert_int_equal(judge_at(&j, 4), 1);
	assert_port(p, "unknown");
	judged_set_state(&j, p, ACTIVE);
	judge_at(&j, 5);
	assert_port(p, "ok");
	/* a device that does not answer has no port of which anything is known */
	cache_apply_device_error(d, -ETIMEDOUT, QUERY_ERROR_TIMEOUT, "no answer", judged_usec(&j),
				 &c);
	assert_true(health_take_device(j.health, &c));
	device_change_done(&c);
	assert_int_equal(judge_at(&j, 6), 1);
	assert_device(d, "unknown device-stale@6");
	assert_port(p, "unknown");
	assert_machine(&j, "unknown");
}

/* A device of which there is only a name so far */
static void test_not_read(_unused_ void **state)
{
	_cleanup_judged_ Judged j;
	Device *d;
	DeviceChange c = {};

	judged_begin(&j, 10, 0);
	judged_expect(&j, "Ignore=no-uverbs\0");
	d = add_device(&j.cache, 7, "mlx5_7", 1, 1);
	d->published = true;
	c = (DeviceChange){.device = d, .op = CACHE_ADDED};
	assert_true(health_take_device(j.health, &c));
	judge_at(&j, 0);
	assert_non_null(d->health);
	assert_device(d, "unknown");
	/* who is not published is not judged */
	assert_null(device_port(d, 1)->health);
	assert_port(device_port(d, 1), "unknown");
	assert_false(health_acknowledge(j.health, device_port(d, 1), "not-active", "", 0));
	c.op = CACHE_REMOVED;
	assert_false(health_take_device(j.health, &c));
}

static void test_acknowledge(_unused_ void **state)
{
	static const char sixteen[] = "0123456789abcdef";
	_cleanup_judged_ Judged j;
	char text[128] = "";
	Device *d;
	Port *p, *other;

	judged_begin(&j, 10, 0);
	d = judged_add(&j, "mlx5_0", 2);
	p = device_port(d, 1);
	other = device_port(d, 2);
	judge_at(&j, 0);
	assert_false(judged_acknowledge(&j, p, "not-active", ""));
	flap(&j, p, 1);
	judged_set_state(&j, p, DOWN);
	judged_set_state(&j, other, INIT);
	judge_at(&j, 2);
	assert_port(p, "critical not-active@2 flap@2<not-active");
	assert_port(other, "critical not-active@2");
	assert_false(judged_acknowledge(&j, p, "no-lid", ""));
	assert_port(p, "critical not-active@2 flap@2<not-active");
	/* a part of what somebody knows does not count either; another port's does */
	assert_true(judged_acknowledge(&j, p, "not-active", "no cable"));
	assert_port(p, "ok not-active@2!no cable flap@2<not-active");
	assert_port(other, "critical not-active@2");
	assert_true(judged_acknowledge(&j, p, "flap", ""));
	assert_port(p, "ok not-active@2!no cable flap@2<not-active!");
	/* until it ends */
	judged_set_state(&j, p, ACTIVE);
	judge_at(&j, 3);
	assert_port(p, "ok flap@2!");
	judged_set_state(&j, p, DOWN);
	judge_at(&j, 4);
	assert_port(p, "critical flap@2<not-active! not-active@4");
	/* that of the device, by any of its ports; what is too long is cut */
	set_errors(&j, d, 1);
	judge_at(&j, 5);
	for (size_t i = 0; i < 7; i++)
		strcat(text, sixteen);
	assert_device(d, "warning pcie-errors@5");
	assert_true(judged_acknowledge(&j, other, "pcie-errors", text));
	text[79] = '\0';
	memmove(text + strlen("ok pcie-errors@5!"), text, 80);
	memcpy(text, "ok pcie-errors@5!", strlen("ok pcie-errors@5!"));
	assert_device(d, text);
	assert_port(other, "critical not-active@2");
}

/* A finding that the history has from before rdmad was started. */
static PastFinding past(const char *check, const char *attribute, const char *acknowledged)
{
	PastFinding f = {.recalled = true,
			 .since = BEGIN_USEC - 500 * USEC_PER_SEC,
			 .acknowledged =
				 *acknowledged ? BEGIN_USEC - 400 * USEC_PER_SEC : UINT64_C(0)};

	text_copy(f.check, sizeof(f.check), check);
	text_copy(f.attribute, sizeof(f.attribute), attribute);
	text_copy(f.acknowledged_text, sizeof(f.acknowledged_text), acknowledged);
	return f;
}

static void test_recall(_unused_ void **state)
{
	const PastFinding down = past("not-active", "State", "no cable");
	const PastFinding lid = past("no-lid", "Lid", "");
	const PastFinding other_row = past("no-sm", "Lid", "");
	const PastFinding errors = past("pcie-errors", "AerNonfatal", "old");
	_cleanup_judged_ Judged j;
	PortSnapshot s;
	Device *d;
	Port *p, *other;

	judged_begin(&j, 10, 0);
	d = judged_add(&j, "mlx5_0", 2);
	p = device_port(d, 1);
	other = device_port(d, 2);
	past_findings_restore(&p->history.findings, &down);
	past_findings_restore(&other->history.findings, &lid);
	past_findings_restore(&other->history.findings, &other_row);
	past_findings_restore(&other->history.findings, &errors);
	judged_set_state(&j, p, DOWN);
	set_errors(&j, d, 1);
	s = judged_answer(other, ACTIVE);
	PORT_SUPPLY(&s, lid, 0);
	PORT_SUPPLY(&s, sm_lid, 0);
	judged_set(&j, other, s);
	judge_at(&j, 10);
	assert_port(p, "ok not-active@-500!no cable");
	assert_port(other, "critical no-lid@-500 no-sm@10<no-lid");
	assert_device(d, "ok pcie-errors@-500!old");
	/* what has ended is not recalled again */
	judged_set_state(&j, p, ACTIVE);
	judge_at(&j, 20);
	judged_set_state(&j, p, DOWN);
	judge_at(&j, 30);
	assert_port(p, "critical not-active@30 flap@30<not-active");
	/* nor is that of one port of use to the other */
	judged_set_state(&j, other, ACTIVE);
	judged_set_state(&j, other, DOWN);
	judge_at(&j, 40);
	assert_port(other, "critical not-active@40");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begin_and_end),
		cmocka_unit_test(test_details),
		cmocka_unit_test(test_asked_rows),
		cmocka_unit_test(test_counting_rows),
		cmocka_unit_test(test_clear_time),
		cmocka_unit_test(test_within_clear_time),
		cmocka_unit_test(test_clock_set_back),
		cmocka_unit_test(test_clock_set),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_not_read),
		cmocka_unit_test(test_acknowledge),
		cmocka_unit_test(test_recall),
		cmocka_unit_test(test_long_text),
		cmocka_unit_test(test_clear_time_of_busy_machine),
	};

	return cmocka_run_group_tests_name("judge-findings", tests, NULL, NULL);
}
