/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of histories: the input is the file. */

#include "fuzz.h"
#include "history-record.h"

static const BootId boot = {{1, 2, 3}};

static void check_history(const KeptHistory *k)
{
	const History *h = &k->history;
	AttrText name;

	FUZZ_CHECK(*k->device && k->port <= RDMA_PORT_MAX);
	FUZZ_CHECK(h->n > 0 && h->n <= HISTORY_ENTRIES && h->n_downs <= HISTORY_LINK_DOWNS);
	memcpy(name, k->device, sizeof(name));
	text_sanitize(name, sizeof(name));
	FUZZ_CHECK(streq(name, k->device));
	for (size_t i = 0; i < h->n; i++) {
		const Transition *t = history_entry(h, i);

		FUZZ_CHECK(t->taken);
		FUZZ_CHECK(*history_state_name(t->to, name) && *event_reason_name(t->reason));
	}
	for (size_t i = 0; i < h->n_downs; i++)
		(void)history_link_down(h, i);
}

/* Makes the sums of the records right, so that damage of what is in them is tried too. */
static void mend(uint8_t *data, size_t size)
{
	size_t at = RECORD_HEAD_SIZE;

	while (at + RECORD_FRAME_SIZE <= size) {
		size_t n = (size_t)data[at] | (size_t)data[at + 1] << 8;
		uint32_t sum;

		data[at + 2] = data[at + 3] = 0;
		if (n > RECORD_MAX || n > size - at - RECORD_FRAME_SIZE)
			return;
		sum = record_crc(record_crc(0, data + at, 8), data + at + RECORD_FRAME_SIZE, n);
		for (size_t i = 0; i < 4; i++)
			data[at + 8 + i] = (uint8_t)(sum >> 8 * i);
		at += RECORD_FRAME_SIZE + n;
	}
}

/* What is read can be written, and is the same when it is read again. */
static void check(const uint8_t *data, size_t size)
{
	_cleanup_record_buffer_ RecordBuffer b = {};
	HistoryList l = {}, again = {};

	if (size < RECORD_HEAD_SIZE)
		return;
	(void)record_check_head(data, size);
	FUZZ_CHECK(history_replay(data + RECORD_HEAD_SIZE, size - RECORD_HEAD_SIZE, &boot, &l) <=
		   size - RECORD_HEAD_SIZE);
	for (const KeptHistory *k = l.first; k; k = k->next)
		check_history(k);
	history_record_boot(&b, &boot, 1);
	history_record_list(&b, &l, l.n * RECORD_MAX);
	FUZZ_CHECK(history_replay(b.data, b.size, &boot, &again) == b.size);
	FUZZ_CHECK(again.n == l.n);
	for (const KeptHistory *k = again.first, *was = l.first; k; k = k->next, was = was->next)
		FUZZ_CHECK(streq(k->device, was->device) && k->port == was->port &&
			   k->history.n == was->history.n &&
			   k->history.n_downs == was->history.n_downs &&
			   history_last(&k->history)->rate_mbit ==
				   history_last(&was->history)->rate_mbit);
	history_list_done(&l);
	history_list_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *mended = malloc(size + 1);

	FUZZ_CHECK(mended);
	memcpy(mended, data, size);
	check(data, size);
	mend(mended, size);
	check(mended, size);
	free(mended);
	return 0;
}
