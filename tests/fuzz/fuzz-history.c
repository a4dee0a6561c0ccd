/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of histories: the input is the file. */

#include "fuzz.h"
#include "history-text.h"

#define BOOT "000102030405060708090a0b0c0d0e0f"

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

static void read_lines(const char *text, size_t size, HistoryList *l, bool is_ours)
{
	HistoryReader r = {.list = l, .boot = BOOT};

	for (const char *end; (end = memchr(text, '\n', size)); text = end + 1) {
		size_t n = (size_t)(end - text);
		char *line = malloc(n + 1);
		bool is_good;

		FUZZ_CHECK(line);
		memcpy(line, text, n);
		line[n] = '\0';
		is_good = !history_read_line(&r, line, n);
		FUZZ_CHECK(is_good || !is_ours);
		FUZZ_CHECK(n <= HISTORY_LINE_MAX || !is_ours);
		free(line);
		size -= n + 1;
	}
	history_list_trim(l);
}

/* What is read can be written, and is the same when it is read again. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GString) text = g_string_new(NULL);
	HistoryList l = {}, again = {};

	history_put_head(text, BOOT);
	read_lines((const char *)data, size, &l, false);
	for (const KeptHistory *k = l.first; k; k = k->next) {
		check_history(k);
		history_put_port(text, k->device, k->port, &k->history, HISTORY_PORT_BYTES(1));
	}
	read_lines(text->str, text->len, &again, true);
	FUZZ_CHECK(again.n == l.n);
	for (const KeptHistory *k = again.first, *was = l.first; k; k = k->next, was = was->next)
		FUZZ_CHECK(streq(k->device, was->device) && k->port == was->port &&
			   k->history.n == was->history.n &&
			   k->history.n_downs == was->history.n_downs &&
			   k->history.link_downs == was->history.link_downs &&
			   memcmp(history_last(&k->history), history_last(&was->history),
				  sizeof(Transition)) == 0);
	history_list_done(&l);
	history_list_done(&again);
	return 0;
}
