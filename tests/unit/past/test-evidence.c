/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What devices and ports have shown: what is evidence, how much is kept, and that it belongs to a
 * name. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "evidence.h"
#include "known-values.h"

static bool no_memory;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __real_calloc(n, size);
}

static EvidenceMoment at(uint64_t usec, EventReason reason)
{
	return (EvidenceMoment){usec, usec, reason};
}

static void assert_entry(const EvidenceLog *l, size_t i, EvidenceKind kind, const char *from,
			 const char *to)
{
	const EvidenceEntry *e;

	assert_true(i < evidence_count(l));
	e = evidence_entry(l, i);
	assert_int_equal(e->kind, kind);
	assert_string_equal(e->from, from);
	assert_string_equal(e->to, to);
}

/* S, of which the number of lanes is WIDTH; 0: the link is down and has none. */
static void set_width(PortSnapshot *s, uint32_t width)
{
	s->values.active_width = width;
	mask_set(&s->supplied, PORT_ATTR_active_width, width > 0);
	mask_set(&s->valid, PORT_ATTR_active_width, width > 0);
}

static void test_values(_unused_ void **state)
{
	EvidenceMoment when = at(1, REASON_STARTUP);
	EvidenceLog *l = NULL;
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	assert_int_equal(evidence_count(l), 0);
	/* what is seen for the first time is no evidence; codes are published as lanes */
	set_width(&s, 2);
	evidence_note_port(&l, 1, &s, &mask_all, &when);
	assert_int_equal(evidence_count(l), 0);
	/* a link that is down and comes back as it was is none either */
	set_width(&s, 0);
	evidence_note_port(&l, 1, &s, &mask_all, &when);
	set_width(&s, 2);
	evidence_note_port(&l, 1, &s, &mask_all, &when);
	assert_int_equal(evidence_count(l), 0);
	set_width(&s, 0);
	evidence_note_port(&l, 1, &s, &mask_all, &when);
	set_width(&s, 1);
	when = at(2, REASON_PORT_ACTIVE);
	evidence_note_port(&l, 1, &s, &mask_all, &when);
	assert_int_equal(evidence_count(l), 1);
	assert_entry(l, 0, EVIDENCE_PORT_active_width, "4", "1");
	assert_int_equal(evidence_entry(l, 0)->port, 1);
	assert_int_equal(evidence_entry(l, 0)->when.reason, REASON_PORT_ACTIVE);
	/* a text that goes is */
	PORT_SUPPLY_TEXT(&s, netdev, "eth0");
	mask_set(&s.valid, PORT_ATTR_netdev, true);
	evidence_note_port(&l, 1, &s, &mask_all, &when);
	attr_clear(&port_attributes[PORT_ATTR_netdev], &s.values);
	mask_set(&s.valid, PORT_ATTR_netdev, false);
	evidence_note_port(&l, 1, &s, &mask_all, &when);
	assert_entry(l, evidence_count(l) - 1, EVIDENCE_PORT_netdev, "eth0", "");
	evidence_free(l);
}

/* What is known of a port stays while another value gets longer or shorter. */
static void test_known_values(_unused_ void **state)
{
	static const KnownText texts[] = {"", "a", "at most 23 characters .", "1234", ""};
	KnownValues k = {};

	assert_null(known_get(&k, EVIDENCE_PORT_lid));
	known_set(&k, EVIDENCE_PORT_lid, "65535");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		known_set(&k, EVIDENCE_PORT_netdev, texts[i]);
		assert_string_equal(known_get(&k, EVIDENCE_PORT_netdev), texts[i]);
		assert_string_equal(known_get(&k, EVIDENCE_PORT_lid), "65535");
		known_set(&k, EVIDENCE_PORT_rate, texts[ARRAY_SIZE(texts) - 1 - i]);
	}
	known_set(&k, EVIDENCE_PORT_lid, "7");
	assert_string_equal(known_get(&k, EVIDENCE_PORT_lid), "7");
	assert_string_equal(known_get(&k, EVIDENCE_PORT_netdev), "");
	assert_string_equal(known_get(&k, EVIDENCE_PORT_rate), "");
	assert_int_equal(k.n, 3 * 3 + 1);
	known_done(&k);
}

static void test_events(_unused_ void **state)
{
	EvidenceLog *l = NULL;
	EvidenceMoment when = at(1, REASON_LINK);

	evidence_note_event(&l, 1, &when);
	assert_int_equal(evidence_count(l), 0);
	when = at(2, REASON_RESUME);
	evidence_note_event(&l, 0, &when);
	assert_entry(l, 0, EVIDENCE_EVENT, "", "resume");
	evidence_free(l);
}

/* A P_Key table of the N keys. */
static void set_pkeys(PortSnapshot *s, const uint32_t *keys, size_t n)
{
	PkeyEntry entries[8] = {};

	for (size_t i = 0; i < n; i++)
		entries[i] = (PkeyEntry){.index = (uint32_t)i, .pkey = keys[i]};
	s->tables[PORT_TABLE_PKEYS] = table_new(entries, n, sizeof(entries[0]));
	mask_set(&s->supplied, PORT_ATTR_pkeys, true);
	mask_set(&s->valid, PORT_ATTR_pkeys, true);
}

static void test_tables(_unused_ void **state)
{
	EvidenceMoment when = at(1, REASON_PKEY_CHANGE);
	_cleanup_(port_snapshot_done) PortSnapshot was = {}, is = {};
	EvidenceLog *l = NULL;

	/* one goes, one comes, one has another place */
	set_pkeys(&was, (const uint32_t[]){0xffff, 0x8001, 0x8002}, 3);
	set_pkeys(&is, (const uint32_t[]){0xffff, 0x8002, 0x8003}, 3);
	evidence_note_tables(&l, 1, &was, &is, &when);
	assert_int_equal(evidence_count(l), 2);
	assert_entry(l, 0, EVIDENCE_PORT_pkeys, "0x8001", "");
	assert_entry(l, 1, EVIDENCE_PORT_pkeys, "", "0x8003");
	/* an answer without the table says nothing */
	mask_set(&is.supplied, PORT_ATTR_pkeys, false);
	evidence_note_tables(&l, 1, &was, &is, &when);
	assert_int_equal(evidence_count(l), 2);
	port_snapshot_done(&was);
	port_snapshot_done(&is);
	evidence_free(l);
}

/* N GIDs, each of the type and with the last byte that stand there, from index 0; of 0: no entry.
 */
static void set_gids(PortSnapshot *s, const uint8_t (*gids)[2], size_t n)
{
	GidEntry entries[8] = {};
	size_t used = 0;

	for (size_t i = 0; i < n; i++)
		if (gids[i][1])
			entries[used++] = (GidEntry){.index = (uint32_t)i,
						     .type = gids[i][0],
						     .gid = {0xfe, [15] = gids[i][1]}};
	s->tables[PORT_TABLE_GIDS] = table_new(entries, used, sizeof(entries[0]));
	mask_set(&s->supplied, PORT_ATTR_gids, true);
	mask_set(&s->valid, PORT_ATTR_gids, true);
}

/* A GID has its index, that of the latest type; one that moves is told too. */
static void test_gids(_unused_ void **state)
{
	static const char at_1[] = "[1] fe00:0000:0000:0000:0000:0000:0000:0007",
			  at_3[] = "[3] fe00:0000:0000:0000:0000:0000:0000:0007";
	EvidenceMoment when = at(1, REASON_GID_CHANGE);
	_cleanup_(port_snapshot_done) PortSnapshot low = {}, high = {}, none = {}, twice = {},
						   other = {};
	EvidenceLog *l = NULL;

	set_gids(&low, (const uint8_t[][2]){{1, 7}, {2, 7}}, 2);
	set_gids(&high, (const uint8_t[][2]){{0, 0}, {0, 0}, {1, 7}, {2, 7}}, 4);
	set_gids(&none, NULL, 0);
	/* a VLAN with the same GID */
	set_gids(&twice, (const uint8_t[][2]){{1, 7}, {2, 7}, {1, 7}, {2, 7}}, 4);
	evidence_note_tables(&l, 1, &low, &none, &when);
	evidence_note_tables(&l, 1, &none, &high, &when);
	assert_int_equal(evidence_count(l), 2);
	assert_entry(l, 0, EVIDENCE_PORT_gids, at_1, "");
	assert_entry(l, 1, EVIDENCE_PORT_gids, "", at_3);
	evidence_note_tables(&l, 1, &high, &low, &when);
	assert_int_equal(evidence_count(l), 3);
	assert_entry(l, 2, EVIDENCE_PORT_gids, at_3, at_1);
	evidence_note_tables(&l, 1, &low, &twice, &when);
	evidence_note_tables(&l, 1, &twice, &low, &when);
	assert_int_equal(evidence_count(l), 3);
	/* those of containers come and go with these */
	set_gids(&other, (const uint8_t[][2]){{1, 7}, {2, 7}, {1, 9}, {2, 9}}, 4);
	for (size_t i = 2; i < 4; i++)
		((GidEntry *)other.tables[PORT_TABLE_GIDS]->entries)[i].namespace =
			GID_NAMESPACE_OTHER;
	evidence_note_tables(&l, 1, &low, &other, &when);
	evidence_note_tables(&l, 1, &other, &low, &when);
	assert_int_equal(evidence_count(l), 3);
	port_snapshot_done(&other);
	port_snapshot_done(&low);
	port_snapshot_done(&high);
	port_snapshot_done(&none);
	port_snapshot_done(&twice);
	evidence_free(l);
}

static void set_counts(DeviceSnapshot *s, uint64_t correctable, uint64_t nonfatal)
{
	s->values.aer_correctable = correctable;
	s->values.aer_nonfatal = nonfatal;
	mask_set(&s->valid, DEVICE_ATTR_aer_correctable, true);
	mask_set(&s->valid, DEVICE_ATTR_aer_nonfatal, true);
}

static void test_counts(_unused_ void **state)
{
	const uint64_t minute = 60 * USEC_PER_SEC;
	EvidenceMoment when = at(minute, REASON_DEVICE);
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};
	EvidenceLog *l = NULL;

	/* nobody counts */
	evidence_note_counts(&l, &s, &when);
	assert_int_equal(evidence_count(l), 0);
	/* what was there at first is none, and a few that were corrected are none */
	set_counts(&s, 5000, 2);
	evidence_note_counts(&l, &s, &when);
	set_counts(&s, 5099, 2);
	evidence_note_counts(&l, &s, &when);
	set_counts(&s, 5198, 2);
	evidence_note_counts(&l, &s, &when);
	assert_int_equal(evidence_count(l), 0);
	set_counts(&s, 5298, 3);
	evidence_note_counts(&l, &s, &when);
	assert_int_equal(evidence_count(l), 2);
	assert_entry(l, 0, EVIDENCE_DEVICE_aer_correctable, "5198", "5298");
	assert_entry(l, 1, EVIDENCE_DEVICE_aer_nonfatal, "2", "3");
	/* a burst that goes on is one; each of the worse ones is told */
	when = at(2 * minute, REASON_DEVICE);
	set_counts(&s, 9000, 4);
	evidence_note_counts(&l, &s, &when);
	assert_int_equal(evidence_count(l), 3);
	assert_entry(l, 0, EVIDENCE_DEVICE_aer_correctable, "5198", "9000");
	assert_entry(l, 2, EVIDENCE_DEVICE_aer_nonfatal, "3", "4");
	when = at(60 * minute, REASON_DEVICE);
	set_counts(&s, 9100, 4);
	evidence_note_counts(&l, &s, &when);
	assert_entry(l, 3, EVIDENCE_DEVICE_aer_correctable, "9000", "9100");
	/* other hardware */
	set_counts(&s, 0, 0);
	evidence_note_counts(&l, &s, &when);
	set_counts(&s, 10, 0);
	evidence_note_counts(&l, &s, &when);
	assert_int_equal(evidence_count(l), 4);
	/* not counted for a while */
	s.valid = (AttrMask){};
	evidence_note_counts(&l, &s, &when);
	set_counts(&s, 10, 1);
	evidence_note_counts(&l, &s, &when);
	assert_entry(l, 4, EVIDENCE_DEVICE_aer_nonfatal, "0", "1");
	evidence_free(l);
}

/* What a port counts is its own, and grows by itself. */
static void test_port_counts(_unused_ void **state)
{
	const uint64_t minute = 60 * USEC_PER_SEC;
	EvidenceMoment when = at(minute, REASON_RECONCILE);
	_cleanup_(port_snapshot_done) PortSnapshot s = {};
	EvidenceLog *l = NULL;

	evidence_note_port_counts(&l, 1, &s, &when);
	assert_int_equal(evidence_count(l), 0);
	mask_set(&s.valid, PORT_ATTR_fec_uncorrectable, true);
	for (uint32_t port = 1; port <= 2; port++) {
		s.values.fec_uncorrectable = 7;
		evidence_note_port_counts(&l, port, &s, &when);
		s.values.fec_uncorrectable = 16;
		evidence_note_port_counts(&l, port, &s, &when);
	}
	assert_int_equal(evidence_count(l), 0);
	for (uint32_t port = 1; port <= 2; port++) {
		s.values.fec_uncorrectable = 26 + port;
		evidence_note_port_counts(&l, port, &s, &when);
	}
	assert_int_equal(evidence_count(l), 2);
	assert_int_equal(evidence_entry(l, 0)->port, 1);
	assert_entry(l, 0, EVIDENCE_PORT_fec_uncorrectable, "16", "27");
	assert_int_equal(evidence_entry(l, 1)->port, 2);
	assert_entry(l, 1, EVIDENCE_PORT_fec_uncorrectable, "16", "28");
	evidence_free(l);
}

/* A burst is told again ten minutes after it was told, and not before. */
static void test_burst(void **state)
{
	const uint64_t minute = 60 * USEC_PER_SEC;
	EvidenceMoment when = at(minute, REASON_DEVICE);
	EvidenceLog *l = NULL;
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	(void)state;
	set_counts(&s, 5000, 0);
	evidence_note_counts(&l, &s, &when);
	set_counts(&s, 6000, 0);
	evidence_note_counts(&l, &s, &when);
	assert_int_equal(evidence_count(l), 1);
	when = at(11 * minute, REASON_DEVICE);
	set_counts(&s, 7000, 0);
	evidence_note_counts(&l, &s, &when);
	assert_int_equal(evidence_count(l), 1);
	when = at(11 * minute + 1, REASON_DEVICE);
	set_counts(&s, 8000, 0);
	evidence_note_counts(&l, &s, &when);
	assert_int_equal(evidence_count(l), 2);
	evidence_free(l);
}

static void set_health(DeviceSnapshot *s, uint32_t state, uint64_t errors)
{
	HealthEntry e[2] = {{.name = "fw"}, {.name = "fw_fatal", .state = state, .errors = errors}};

	device_snapshot_done(s);
	s->tables[DEVICE_TABLE_HEALTH] = table_new(e, 2, sizeof(e[0]));
	mask_set(&s->supplied, DEVICE_ATTR_health_reporters, true);
}

static void test_health(_unused_ void **state)
{
	EvidenceMoment when = at(1, REASON_DEVLINK);
	_cleanup_(device_snapshot_done) DeviceSnapshot was = {}, is = {};
	EvidenceLog *l = NULL;

	/* what there was at first is none */
	set_health(&is, HEALTH_ERROR, 1);
	evidence_note_health(&l, &was, &is, &when);
	assert_int_equal(evidence_count(l), 0);
	set_health(&was, HEALTH_HEALTHY, 1);
	set_health(&is, HEALTH_ERROR, 2);
	evidence_note_health(&l, &was, &is, &when);
	evidence_note_health(&l, &is, &is, &when);
	assert_int_equal(evidence_count(l), 1);
	assert_entry(l, 0, EVIDENCE_DEVICE_health_reporters, "fw_fatal healthy 1",
		     "fw_fatal error 2");
	/* the driver was loaded again */
	set_health(&is, HEALTH_HEALTHY, 0);
	evidence_note_health(&l, &was, &is, &when);
	assert_int_equal(evidence_count(l), 1);
	device_snapshot_done(&was);
	device_snapshot_done(&is);
	evidence_free(l);
}

/* The device called NAME goes. */
static void keep(EvidenceList *list, const char *name, EvidenceLog **l)
{
	DeviceSnapshot s = {};

	DEVICE_SUPPLY_TEXT(&s, name, name);
	evidence_keep(list, &s, 1, l);
	texts_release(s.values.texts);
}

static void test_bounds(_unused_ void **state)
{
	EvidenceMoment first = at(0, REASON_RESUME);
	EvidenceList list = {};
	EvidenceLog *l = NULL;

	/* nothing is kept of a device that has shown nothing, and without memory */
	keep(&list, "mlx5_0", &l);
	assert_null(list.first);
	evidence_note_event(&l, 0, &first);
	no_memory = true;
	keep(&list, "mlx5_0", &l);
	no_memory = false;
	assert_null(l);
	assert_null(list.first);
	for (uint64_t i = 0; i < 3 * EVIDENCE_ENTRIES + 5; i++) {
		EvidenceMoment when = at(i, REASON_RESUME);

		evidence_note_event(&l, 0, &when);
		assert_int_equal(evidence_count(l),
				 i < EVIDENCE_ENTRIES ? i + 1 : EVIDENCE_ENTRIES);
		assert_int_equal(evidence_entry(l, evidence_count(l) - 1)->when.realtime_usec, i);
	}
	assert_int_equal(evidence_entry(l, 0)->when.realtime_usec, 2 * EVIDENCE_ENTRIES + 5);
	keep(&list, "mlx5_0", &l);
	assert_null(l);
	assert_int_equal(evidence_count(evidence_find(&list, "mlx5_0")), EVIDENCE_ENTRIES);
	for (unsigned int i = 0; i < EVIDENCE_KEPT; i++) {
		EvidenceMoment when = at(i, REASON_RESUME);
		char name[16];

		snprintf(name, sizeof(name), "x%u", i);
		evidence_note_event(&l, 0, &when);
		keep(&list, name, &l);
	}
	assert_int_equal(list.n, EVIDENCE_KEPT);
	assert_null(evidence_find(&list, "mlx5_0"));
	evidence_recall(&list, "x0", &l);
	assert_int_equal(evidence_count(l), 1);
	assert_int_equal(list.n, EVIDENCE_KEPT - 1);
	assert_null(evidence_find(&list, "x0"));
	evidence_free(l);
	evidence_list_done(&list);
}

#define PATH "/sys/devices/pci0000:00/0000:00:08.0"

static void test_parent(_unused_ void **state)
{
	EvidenceMoment when = at(1, REASON_DEVICE);
	EvidenceList list = {};
	EvidenceLog *l = NULL, *gone;
	const char *path = NULL;

	evidence_note_parent(&l, PATH, 17, &when);
	/* it is not away: it has moved */
	evidence_note_parent(&l, PATH, 18, &when);
	assert_int_equal(evidence_count(l), 0);
	keep(&list, "mlx5_0", &l);
	gone = evidence_unjudged(&list, &path);
	assert_non_null(gone);
	assert_string_equal(path, PATH);
	evidence_judge(gone, PARENT_WITHOUT_DRIVER, 18, &when);
	assert_null(evidence_unjudged(&list, &path));
	evidence_recall(&list, "mlx5_0", &l);
	assert_entry(l, 0, EVIDENCE_PARENT, "", "without-driver");
	evidence_note_parent(&l, PATH, 18, &when);
	assert_entry(l, 1, EVIDENCE_PARENT, "", "same");
	keep(&list, "mlx5_0", &l);
	evidence_recall(&list, "mlx5_0", &l);
	evidence_note_parent(&l, PATH, 19, &when);
	assert_entry(l, 2, EVIDENCE_PARENT, "", "replaced");
	/* other hardware is there before the device is */
	keep(&list, "mlx5_0", &l);
	evidence_judge(evidence_unjudged(&list, &path), PARENT_PRESENT, 20, &when);
	evidence_recall(&list, "mlx5_0", &l);
	assert_entry(l, 3, EVIDENCE_PARENT, "", "replaced");
	/* of a device elsewhere with this name nothing is known */
	keep(&list, "mlx5_0", &l);
	evidence_recall(&list, "mlx5_0", &l);
	evidence_note_parent(&l, "/sys/devices/other", 20, &when);
	assert_int_equal(evidence_count(l), 4);
	evidence_free(l);
	evidence_list_done(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values), cmocka_unit_test(test_known_values),
		cmocka_unit_test(test_events), cmocka_unit_test(test_tables),
		cmocka_unit_test(test_gids),   cmocka_unit_test(test_counts),
		cmocka_unit_test(test_burst),  cmocka_unit_test(test_port_counts),
		cmocka_unit_test(test_health), cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
