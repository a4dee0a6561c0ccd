/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Histories as records: what is written is read again, and of what is damaged the part before the
 * damage. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "history-file.h"
#include "history-record.h"

#define PORTS 5

static const BootId boot = {{1, 2, 3}}, other_boot = {{4, 5, 6}};

/* The same numbers each time. */
static uint32_t seed;
static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* Writes a transition of each of N steps, of a port that is chosen at random, as a manager would.
 * ENDS[i] is the size after record I, the first of which is that of the boot. */
static void write_steps(RecordBuffer *b, History h[PORTS], size_t n, size_t *ends)
{
	history_record_boot(b, &boot, 1);
	ends[0] = b->size;
	for (size_t i = 0; i < n; i++) {
		uint32_t p = random_below(PORTS);
		const Transition *last = history_last(&h[p]);

		assert_true(history_note(&h[p], last && last->to == 4 ? 1 + random_below(3) : 4,
					 last ? REASON_PORT_ERROR : REASON_STARTUP, 1000 + i,
					 10 + i));
		(void)history_note_rate(&h[p], UINT64_C(1000000000) * random_below(5));
		last = history_last(&h[p]);
		if (history_is_link_down(last->from, last->to))
			assert_ptr_equal(
				history_note_users(&h[p], random_below(50), random_below(5)), last);
		history_record_transition(b, "mlx5_0", p + 1, &h[p], history_last(&h[p]));
		ends[i + 1] = b->size;
	}
	assert_false(b->failed);
}

static void assert_same(const History *a, const History *b, bool same_boot)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->link_downs, b->link_downs);
	assert_int_equal(a->since_usec, b->since_usec);
	for (size_t i = 0; i < a->n; i++) {
		const Transition *x = history_entry(a, i), *y = history_entry(b, i);

		assert_int_equal(x->realtime_usec, y->realtime_usec);
		assert_int_equal(x->monotonic_usec, same_boot ? y->monotonic_usec : 0);
		assert_int_equal(x->from, y->from);
		assert_int_equal(x->to, y->to);
		assert_int_equal(x->reason, y->reason);
		assert_int_equal(x->rate_mbit, y->rate_mbit);
		assert_int_equal(x->qps, y->qps);
		assert_int_equal(x->processes, y->processes);
	}
	assert_int_equal(a->n_downs, b->n_downs);
	for (size_t i = 0; i < a->n_downs; i++)
		assert_int_equal(history_link_down(a, i), history_link_down(b, i));
}

static const History *kept(const HistoryList *l, uint32_t port)
{
	const KeptHistory *k;
	char name[32];

	snprintf(name, sizeof(name), "mlx5_0/%u", port);
	return history_find(l, name, &k) == 0 ? &k->history : NULL;
}

static void histories_done(History h[PORTS])
{
	for (size_t i = 0; i < PORTS; i++)
		history_done(&h[i]);
}

static void test_sum(void **state)
{
	(void)state;
	/* the check value of CRC-32C */
	assert_int_equal(record_crc(0, "123456789", 9), 0xe3069283);
	assert_int_equal(record_crc(record_crc(0, "1234", 4), "56789", 5), 0xe3069283);
}

/* What is read is what was, in this boot and after another one; also when it was written again. */
static void test_all(void **state)
{
	size_t ends[2001];

	(void)state;
	for (int of_other_boot = 0; of_other_boot < 2; of_other_boot++) {
		_cleanup_record_buffer_ RecordBuffer b = {}, again = {};
		HistoryList l = {}, twice = {};
		History h[PORTS] = {};

		seed = 1;
		write_steps(&b, h, 2000, ends);
		assert_int_equal(
			history_replay(b.data, b.size, of_other_boot ? &other_boot : &boot, &l),
			b.size);
		assert_int_equal(l.n, PORTS);
		for (uint32_t p = 0; p < PORTS; p++)
			assert_same(kept(&l, p + 1), &h[p], !of_other_boot);
		history_record_boot(&again, &boot, 2);
		history_record_list(&again, &l, 1 << 20);
		assert_true(again.size < b.size);
		assert_int_equal(history_replay(again.data, again.size, &boot, &twice), again.size);
		for (uint32_t p = 0; p < PORTS; p++)
			assert_same(kept(&twice, p + 1), kept(&l, p + 1), true);
		histories_done(h);
		history_list_done(&l);
		history_list_done(&twice);
	}
}

/* Whatever room there is, what is written fits: the latest is there, and the counts are right. */
static void test_little_room(void **state)
{
	size_t ends[2001];
	_cleanup_record_buffer_ RecordBuffer b = {};
	HistoryList l = {};
	History h[PORTS] = {};

	(void)state;
	seed = 1;
	write_steps(&b, h, 2000, ends);
	(void)history_replay(b.data, b.size, &boot, &l);
	for (size_t room = PORTS * HISTORY_RECORD_LEAST; room < 20000; room += 100) {
		_cleanup_record_buffer_ RecordBuffer small = {};
		HistoryList less = {};

		history_record_list(&small, &l, room);
		assert_true(small.size <= room);
		assert_int_equal(history_replay(small.data, small.size, &boot, &less), small.size);
		for (uint32_t p = 0; p < PORTS; p++) {
			const History *is = kept(&less, p + 1);

			assert_int_equal(history_last(is)->realtime_usec,
					 history_last(&h[p])->realtime_usec);
			assert_int_equal(is->link_downs, h[p].link_downs);
		}
		history_list_done(&less);
	}
	histories_done(h);
	history_list_done(&l);
}

/* A file that is written again has all of 1024 ports, however much there is of each. */
static void test_many_ports(void **state)
{
	_cleanup_record_buffer_ RecordBuffer b = {};
	HistoryList l = {}, again = {};
	char device[64];

	(void)state;
	for (uint32_t i = 0; i < 1024; i++) {
		KeptHistory *k;

		snprintf(device, sizeof(device), "%063u", i);
		k = history_list_put(&l, device, 1);
		assert_non_null(k);
		for (uint32_t t = 0; t < 2 * HISTORY_LINK_DOWNS + 1; t++)
			assert_true(history_note(&k->history, t % 2 ? 1 : 4, REASON_SPEED_CHANGE,
						 t + 1, t + 1));
	}
	history_record_boot(&b, &boot, 1);
	history_record_list(&b, &l, RECORD_FILE_MAX / 2);
	assert_in_range(b.size, 1, RECORD_FILE_MAX / 2);
	assert_int_equal(history_replay(b.data, b.size, &boot, &again), b.size);
	assert_int_equal(again.n, 1024);
	for (const KeptHistory *k = again.first; k; k = k->next) {
		assert_int_equal(k->history.n, HISTORY_ENTRIES);
		assert_int_equal(k->history.n_downs, HISTORY_LINK_DOWNS);
	}
	printf("1024 ports with full histories: %zu bytes\n", b.size);
	history_list_done(&l);
	history_list_done(&again);
}

/* The last record that ends at SIZE or before, of N + 1. */
static size_t whole_records(const size_t *ends, size_t n, size_t size)
{
	size_t i = 0;

	while (i < n && ends[i + 1] <= size)
		i++;
	return i;
}

/* The transitions in L, of all ports together, are the first N that were written. */
static void assert_prefix(const HistoryList *l, size_t n)
{
	size_t found = 0;

	for (uint32_t p = 1; p <= PORTS; p++) {
		const History *h = kept(l, p);

		for (size_t i = 0; h && i < h->n; i++, found++)
			assert_in_range(history_entry(h, i)->realtime_usec, 1000, 1000 + n - 1);
	}
	assert_int_equal(found, n);
}

#define STEPS 40

/* The file is cut at each byte: what is read is what was whole. */
static void test_cut(void **state)
{
	_cleanup_record_buffer_ RecordBuffer b = {};
	History h[PORTS] = {};
	size_t ends[STEPS + 1];

	(void)state;
	seed = 2;
	write_steps(&b, h, STEPS, ends);
	for (size_t size = ends[0]; size <= b.size; size++) {
		size_t n = whole_records(ends, STEPS, size);
		uint8_t *copy = malloc(size); /* with nothing behind it: valgrind sees more */
		HistoryList l = {};

		assert_non_null(copy);
		memcpy(copy, b.data, size);
		assert_int_equal(history_replay(copy, size, &boot, &l), ends[n]);
		assert_prefix(&l, n);
		history_list_done(&l);
		free(copy);
	}
	histories_done(h);
}

/* Each bit is flipped: what is read ends before the record with that bit. */
static void test_flipped(void **state)
{
	_cleanup_record_buffer_ RecordBuffer b = {};
	History h[PORTS] = {};
	size_t ends[STEPS + 1];

	(void)state;
	seed = 3;
	write_steps(&b, h, STEPS, ends);
	for (size_t bit = ends[0] * 8; bit < b.size * 8; bit++) {
		size_t n = whole_records(ends, STEPS, bit / 8);
		HistoryList l = {};

		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(history_replay(b.data, b.size, &boot, &l), ends[n]);
		assert_prefix(&l, n);
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		history_list_done(&l);
	}
	histories_done(h);
}

/* What an event left open, the next record says; a name is forgotten; what is not known, or makes
 * no sense, is passed over. */
static void test_special(void **state)
{
	_cleanup_record_buffer_ RecordBuffer b = {};
	HistoryList l = {};
	History h = {};

	(void)state;
	history_record_boot(&b, &boot, 1);
	history_note(&h, 4, REASON_STARTUP, 10, 11);
	history_record_transition(&b, "mlx5_0", 1, &h, history_last(&h));
	history_note_event(&h, REASON_PORT_ERROR, 20, 21);
	history_record_transition(&b, "mlx5_0", 1, &h, history_last(&h));
	assert_false(history_note(&h, 1, REASON_PORT_ERROR, 30, 31));
	history_record_transition(&b, "mlx5_0", 1, &h, history_last(&h));
	history_record_transition(&b, "old", 1, &h, history_last(&h));
	history_record_forgotten(&b, "old", 1);
	record_begin(&b, 77);
	record_put_text(&b, "of a later version");
	record_end(&b);
	record_begin(&b, 2);
	record_put_text(&b, "bad\nname");
	record_put_u32(&b, 1);
	for (size_t i = 0; i < 20; i++)
		record_put_u64(&b, 0);
	record_end(&b);
	record_begin(&b, 2);
	record_put_text(&b, "too-short");
	record_end(&b);
	assert_int_equal(history_replay(b.data, b.size, &boot, &l), b.size);
	assert_int_equal(l.n, 1);
	assert_same(kept(&l, 1), &h, true);
	assert_int_equal(kept(&l, 1)->n, 2);
	history_done(&h);
	history_list_done(&l);
}

static void test_head(void **state)
{
	uint8_t head[RECORD_HEAD_SIZE], bad[RECORD_HEAD_SIZE];
	uint32_t sum;

	(void)state;
	record_write_head(head);
	assert_int_equal(record_check_head(head, sizeof(head)), 0);
	for (size_t n = 0; n < sizeof(head); n++)
		assert_int_equal(record_check_head(head, n), -EBADMSG);
	for (size_t i = 0; i < sizeof(head); i++) {
		memcpy(bad, head, sizeof(bad));
		bad[i] ^= 4;
		assert_int_equal(record_check_head(bad, sizeof(bad)), -EBADMSG);
	}
	memcpy(bad, head, sizeof(bad));
	bad[8]++;
	sum = record_crc(0, bad, 12);
	for (size_t i = 0; i < 4; i++)
		bad[12 + i] = (uint8_t)(sum >> 8 * i);
	assert_int_equal(record_check_head(bad, sizeof(bad)), -EPROTONOSUPPORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum),	cmocka_unit_test(test_all),
		cmocka_unit_test(test_cut),	cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_special), cmocka_unit_test(test_little_room),
		cmocka_unit_test(test_head),	cmocka_unit_test(test_many_ports),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
