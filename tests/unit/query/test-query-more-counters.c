/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counters of a port: those of its files, those of netlink, and those of its interface. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-counters.h"
#include "query-pauses.h"
#include "query-run.h"

/* How many the files and netlink have; whether the interface has frames */
static unsigned int n_files, n_optional;
static bool has_frames;

static CounterEntry counter(CounterGroup group, unsigned int i)
{
	CounterEntry e = {.group = group, .value = 10 * group + i};

	snprintf(e.file, sizeof(e.file), "counter_%u", i);
	return e;
}

int __wrap_target_open(Querier *querier, const Query *q, Target *ret);
int __wrap_target_open(Querier *querier, const Query *q, Target *ret)
{
	static Known known;

	known = (Known){.first_port = 1, .link = {.port = 1, .ifindex = has_frames ? 7 : 0}};
	*ret = (Target){.querier = querier, .query = q, .device = q->device, .known = &known};
	return 0;
}

void __wrap_target_close(_unused_ Target *t);
void __wrap_target_close(_unused_ Target *t)
{
}

int __wrap_counters_read_kept(_unused_ DeviceFiles *files, uint32_t port, uint64_t limit_usec,
			      Table **ret);
int __wrap_counters_read_kept(_unused_ DeviceFiles *files, uint32_t port,
			      _unused_ uint64_t limit_usec, Table **ret)
{
	CounterEntry entries[4];

	assert_int_equal(port, 1);
	for (unsigned int i = 0; i < n_files; i++)
		entries[i] = counter(COUNTER_GROUP_PORT, i);
	*ret = n_files ? table_new(entries, n_files, sizeof(*entries)) : NULL;
	return 0;
}

int __wrap_netlink_open(_unused_ Netlink *n, int protocol);
int __wrap_netlink_open(_unused_ Netlink *n, _unused_ int protocol)
{
	return 0;
}

void __wrap_nldev_get_optional_counters(_unused_ Netlink *n, uint32_t index, uint32_t port,
					NldevCounters *c);
void __wrap_nldev_get_optional_counters(_unused_ Netlink *n, uint32_t index, uint32_t port,
					NldevCounters *c)
{
	assert_int_equal(index, 5);
	assert_int_equal(port, 1);
	assert_int_equal(c->n, 0);
	assert_true(c->room >= n_optional);
	for (unsigned int i = 0; i < n_optional; i++)
		c->entries[c->n++] = counter(COUNTER_GROUP_HARDWARE, i);
}

int __wrap_pauses_get(_unused_ Genl *g, uint32_t ifindex, PauseFrames *ret);
int __wrap_pauses_get(_unused_ Genl *g, uint32_t ifindex, PauseFrames *ret)
{
	assert_int_equal(ifindex, 7);
	*ret = (PauseFrames){.tx = 1, .rx = 2, .tx_control = UINT64_MAX, .rx_control = 4};
	return 0;
}

static int on_port(void *userdata, _unused_ const Query *q, uint32_t port, int error,
		   const PortSnapshot *s, bool last)
{
	Table **ret = userdata;

	assert_int_equal(port, 1);
	assert_int_equal(error, 0);
	assert_true(last);
	*ret = table_copy(s->tables[PORT_TABLE_COUNTERS]);
	return 0;
}

static int on_end(_unused_ void *userdata, _unused_ const Query *q, int error,
		  _unused_ bool library_failed, _unused_ const char *text)
{
	assert_int_equal(error, 0);
	return 0;
}

static Table *ask(void)
{
	Table *counters = NULL;
	const Sink sink = {.port = on_port, .end = on_end, .userdata = &counters};
	Query q = {.id = 1, .device = 5, .kind = QUERY_COUNTERS};
	Querier querier;

	port_set_add(&q.ports, 1);
	assert_int_equal(querier_init(&querier, &(PolicyOptions){}, USEC_PER_SEC), 0);
	assert_int_equal(query_run(&querier, &q, &sink), 0);
	querier_done(&querier);
	return counters;
}

/* N_FILES, N_OPTIONAL and HAS_FRAMES say what there is: it comes in this order, and is all. */
static void expect_all(void)
{
	_cleanup_(table_free_pointer) Table *t = ask();
	size_t n = n_files + n_optional + (has_frames ? 3 : 0);
	CounterEntry expected[16];

	assert_int_equal(t ? t->n : 0, n);
	if (n == 0)
		return;
	for (unsigned int i = 0; i < n_files; i++)
		expected[i] = counter(COUNTER_GROUP_PORT, i);
	for (unsigned int i = 0; i < n_optional; i++)
		expected[n_files + i] = counter(COUNTER_GROUP_HARDWARE, i);
	if (has_frames) {
		CounterEntry *e = &expected[n - 3];

		e[0] = (CounterEntry){
			.group = COUNTER_GROUP_ETHTOOL, .value = 1, .file = "tx_pause_frames"};
		e[1] = (CounterEntry){
			.group = COUNTER_GROUP_ETHTOOL, .value = 2, .file = "rx_pause_frames"};
		e[2] = (CounterEntry){
			.group = COUNTER_GROUP_ETHTOOL, .value = 4, .file = "rx_control_frames"};
	}
	assert_memory_equal(t->entries, expected, n * sizeof(*expected));
}

static void test_all(_unused_ void **state)
{
	for (n_files = 0; n_files <= 4; n_files += 2)
		for (n_optional = 0; n_optional <= 3; n_optional++) {
			has_frames = false;
			expect_all();
			has_frames = true;
			expect_all();
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests_name("query-more-counters", tests, NULL, NULL);
}
