/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "judged.h"

#include <inttypes.h>

void judged_begin(Judged *j, uint64_t settle, uint64_t counters)
{
	*j = (Judged){};
	assert_int_equal(
		health_new(&j->cache, settle * USEC_PER_SEC, counters * USEC_PER_SEC, &j->health),
		0);
}

void judged_remove(Judged *j, Device *d)
{
	health_forget_device(j->health, d);
	d->evidence = evidence_free(d->evidence);
	cache_remove_device(&j->cache, d);
}

void judged_done(Judged *j)
{
	while (j->cache.n_devices > 0)
		judged_remove(j, j->cache.devices[0]);
	j->health = health_free(j->health);
	cache_done(&j->cache);
}

uint64_t judged_usec(const Judged *j)
{
	return BEGIN_USEC + j->seconds * USEC_PER_SEC + j->usec;
}

PortSnapshot judged_answer(const Port *p, uint32_t state)
{
	PortSnapshot s = ib_port(state);
	GidEntry *gid = (GidEntry *)s.tables[PORT_TABLE_GIDS]->entries;

	/* one of its own */
	gid->gid[14] = (uint8_t)p->device->index;
	gid->gid[15] = (uint8_t)p->number;
	PORT_SUPPLY(&s, max_mtu, 5);
	PORT_SUPPLY(&s, init_type_reply, 0);
	PORT_SUPPLY(&s, phys_state, state == ACTIVE ? 5 : 2);
	return s;
}

bool judged_set(Judged *j, Port *p, PortSnapshot s)
{
	PortChange c;
	bool wants;

	s.parts = READ_ALL;
	cache_apply_port(p, &s, REASON_BIT(REASON_RECONCILE), judged_usec(j), &c);
	if (mask_has(&p->now.valid, PORT_ATTR_state))
		history_note(&p->history, p->now.values.state, REASON_RECONCILE, judged_usec(j),
			     judged_usec(j));
	cache_apply_port_history(&c);
	wants = health_take_port(j->health, &c);
	port_change_done(&c);
	return wants;
}

bool judged_set_state(Judged *j, Port *p, uint32_t state)
{
	return judged_set(j, p, judged_answer(p, state));
}

bool judged_fail(Judged *j, Port *p)
{
	PortChange c;
	bool wants;

	cache_apply_port_error(p, -EIO, QUERY_ERROR_DEVICE, "no answer", 0, judged_usec(j), &c);
	wants = health_take_port(j->health, &c);
	port_change_done(&c);
	return wants;
}

bool judged_set_device(Judged *j, Device *d, DeviceSnapshot *s)
{
	DeviceChange c = {};
	bool wants;

	DEVICE_SUPPLY(s, index, d->index);
	assert_true(cache_apply_device(&j->cache, s, CHANGE_ANSWER, judged_usec(j), &c) >= 0);
	wants = health_take_device(j->health, &c);
	device_change_done(&c);
	return wants;
}

Device *judged_add(Judged *j, const char *name, uint32_t ports)
{
	const ChardevEntry verbs = {.class = "verbs", .path = "/dev/infiniband/uverbs0"};
	Device *d = add_device(&j->cache, ++j->last_index, name, ports, 1);
	DeviceSnapshot s = {};

	DEVICE_SUPPLY_TEXT(&s, driver, "mlx5_core");
	s.tables[DEVICE_TABLE_CHARDEVS] = table_new(&verbs, 1, sizeof(verbs));
	mask_set(&s.supplied, DEVICE_ATTR_chardevs, true);
	d->published = true;
	(void)judged_set_device(j, d, &s);
	for (uint32_t i = 0; i < ports; i++) {
		d->ports[i]->published = true;
		assert_true(judged_set_state(j, d->ports[i], ACTIVE));
	}
	return d;
}

void judged_expect(Judged *j, const char *lines)
{
	Expectations e = {.is_check = check_exists};

	for (; *lines; lines += strlen(lines) + 1)
		assert_int_equal(expect_add(&e, lines), 0);
	health_expect(j->health, &e);
	assert_int_equal(e.n, 0);
}

/* A HealthTell */
static void tell(void *userdata, Device *d, bool details)
{
	_cleanup_(device_change_done) DeviceChange change = {};
	Judged *j = userdata;
	Table *findings;
	AttrVerdict v = health_of_device(d, &findings);

	assert_true(j->n_told < ARRAY_SIZE(j->told));
	j->told[j->n_told++] = d;
	cache_apply_device_health(d, v, findings, details, judged_usec(j), &change);
	for (uint32_t i = 0; i < d->n_ports; i++) {
		_cleanup_(port_change_done) PortChange of_port = {};

		v = health_of_port(d->ports[i], &findings);
		cache_apply_port_health(d->ports[i], v, health_fit_since(d->ports[i]), findings,
					details, judged_usec(j), &of_port);
	}
}

bool judged_acknowledge(Judged *j, Port *p, const char *check, const char *text)
{
	bool found = health_acknowledge(j->health, p, check, text, judged_usec(j));

	j->n_told = 0;
	tell(j, p->device, true);
	return found;
}

size_t judge_at(Judged *j, uint64_t seconds)
{
	j->seconds = seconds;
	j->n_told = 0;
	health_judge(j->health, judged_usec(j), tell, j);
	return j->n_told;
}

size_t compare_at(Judged *j, uint64_t seconds)
{
	j->seconds = seconds;
	j->n_told = 0;
	health_compare(j->health, judged_usec(j), tell, j);
	return j->n_told;
}

/* Not a table that a verdict has. */
static Table nothing;

static void assert_verdict(AttrVerdict v, Table *findings, const char *expected)
{
	static const char *const names[_VERDICT_MAX] = {[VERDICT_UNKNOWN] = "unknown",
							[VERDICT_OK] = "ok",
							[VERDICT_WARNING] = "warning",
							[VERDICT_CRITICAL] = "critical"};
	const FindingEntry *all = findings ? (const FindingEntry *)findings->entries : NULL;
	char text[1024];
	size_t n = (size_t)snprintf(text, sizeof(text), "%s", names[v]);

	for (uint32_t i = 0; findings && i < findings->n; i++) {
		const FindingEntry *f = &all[i];

		n += (size_t)snprintf(
			text + n, sizeof(text) - n, " %s@%" PRId64 "%s%s%s%s%s", f->check,
			((int64_t)f->since - (int64_t)BEGIN_USEC) / (int64_t)USEC_PER_SEC,
			*f->cause ? "<" : "", f->cause, *f->certainty ? "?" : "",
			f->acknowledged ? "!" : "", f->acknowledged_text);
	}
	assert_ptr_not_equal(findings, &nothing);
	table_free(findings);
	if (!streq(text, expected))
		fail_msg("\"%s\", expected \"%s\"", text, expected);
}

void assert_port(const Port *p, const char *expected)
{
	Table *findings = &nothing;
	AttrVerdict v = health_of_port(p, &findings);

	assert_verdict(v, findings, expected);
	/* that has been told */
	if (p->health)
		assert_true(p->now.values.health == v);
}

void assert_device(const Device *d, const char *expected)
{
	Table *findings = &nothing;
	AttrVerdict v = health_of_device(d, &findings);

	assert_verdict(v, findings, expected);
	if (d->health)
		assert_true(d->now.values.health == v);
}

void assert_machine(const Judged *j, const char *expected)
{
	Table *findings = &nothing;
	AttrVerdict v = health_of_machine(j->health, &findings);

	assert_verdict(v, findings, expected);
}

FindingEntry finding_of(const Port *p, size_t i)
{
	_cleanup_(table_free_pointer) Table *findings = NULL;

	(void)health_of_port(p, &findings);
	assert_true(findings && i < findings->n);
	return ((const FindingEntry *)findings->entries)[i];
}

void assert_says(const Port *p, size_t i, const char *text)
{
	const FindingEntry f = finding_of(p, i);

	if (!strstr(f.text, text))
		fail_msg("\"%s\" is not in \"%s\"", text, f.text);
}
