/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <sys/socket.h>

#include "wire.h"

static int expect_bad(WireMessage *m, size_t size, const char *why)
{
	const char *got = NULL;

	assert_int_equal(wire_check(m, size, &got), -EBADMSG);
	assert_string_equal(got, why);
	return 0;
}

static void test_query(void **state)
{
	WireMessage m = {.query = {.header = wire_header(WIRE_QUERY, 1, 3, 0)}};
	const char *why = NULL;

	(void)state;
	assert_int_equal(wire_check(&m, sizeof(WireQuery), &why), 0);
	m.query.query.parts = READ_ALL;
	assert_int_equal(wire_check(&m, sizeof(WireQuery), &why), 0);
	m.query.query.parts = READ_ALL + 1;
	expect_bad(&m, sizeof(WireQuery), "parts of a port that are none");
	m.query.query.parts = 0;
	memset(m.query.query.name, 'x', sizeof(m.query.query.name));
	expect_bad(&m, sizeof(WireQuery), "text not terminated");
}

static void test_device(_unused_ void **state)
{
	WireMessage m = {.device = {.header = wire_header(WIRE_DEVICE, 1, 3, 0)}};
	const unsigned int no_row = 64 * ATTR_MASK_WORDS - 1;
	const char *why = NULL;

	assert_int_equal(wire_check(&m, sizeof(WireDevice), &why), 0);
	m.device.open_error = 5;
	expect_bad(&m, sizeof(WireDevice), "error is no negative errno");
	m.device.open_error = -EACCES;
	assert_int_equal(wire_check(&m, sizeof(WireDevice), &why), 0);
	mask_set(&m.device.unanswered, no_row, true);
	expect_bad(&m, sizeof(WireDevice), "attribute unknown");
	mask_set(&m.device.unanswered, no_row, false);
	mask_set(&m.device.supplied, no_row, true);
	expect_bad(&m, sizeof(WireDevice), "attribute unknown");
}

static void test_texts(_unused_ void **state)
{
	WireMessage m = {.port = {.header = wire_header(WIRE_PORT, 1, 3, 1)}};
	const char *why = NULL;

	/* two texts of three letters */
	memcpy(m.port.texts, "\0abc\0def", 9);
	m.port.n_texts = 9;
	m.port.values.device_name.at = 1;
	expect_bad(&m, sizeof(WirePort), "texts damaged");
	m.port.values.netdev.at = 5;
	assert_int_equal(wire_check(&m, sizeof(WirePort), &why), 0);
	m.port.values.netdev.at = 1;
	expect_bad(&m, sizeof(WirePort), "texts damaged");
	m.port.values.netdev.at = 6;
	expect_bad(&m, sizeof(WirePort), "texts damaged");
	m.port.values.netdev.at = 9;
	expect_bad(&m, sizeof(WirePort), "texts damaged");
	m.port.values.netdev.at = 5;
	m.port.n_texts = 8;
	expect_bad(&m, sizeof(WirePort), "texts damaged");
	m.port.n_texts = sizeof(m.port.texts) + 1;
	expect_bad(&m, sizeof(WirePort), "texts damaged");
	m.port.n_texts = 9;
	m.port.texts[0] = 'x';
	expect_bad(&m, sizeof(WirePort), "texts damaged");
	m.port.values.netdev.at = 0;
	m.port.texts[0] = '\0';
	/* an empty text has no place */
	memcpy(m.port.texts, "\0abc\0", 6);
	m.port.n_texts = 6;
	m.port.values.netdev.at = 5;
	expect_bad(&m, sizeof(WirePort), "texts damaged");
	m.port.values.netdev.at = 0;
	/* as long as its row allows, and one letter more */
	memset(m.port.texts + 1, 'x', 65);
	m.port.texts[64] = '\0';
	m.port.n_texts = 65;
	assert_int_equal(wire_check(&m, sizeof(WirePort), &why), 0);
	m.port.texts[64] = 'x';
	m.port.texts[65] = '\0';
	m.port.n_texts = 66;
	expect_bad(&m, sizeof(WirePort), "texts damaged");
	m.port.values.device_name.at = 0;
	m.port.n_texts = 0;
	m.port.values.netdev.at = 1;
	expect_bad(&m, sizeof(WirePort), "texts damaged");
}

static void test_rules(void **state)
{
	WireMessage m = {.port = {.header = wire_header(WIRE_PORT, 1, 3, 1)}};
	const unsigned int no_row = 64 * ATTR_MASK_WORDS - 1;
	const char *why = NULL;

	(void)state;
	assert_int_equal(wire_check(&m, sizeof(WirePort), &why), 0);
	expect_bad(&m, sizeof(WirePort) - 1, "wrong size for its type");
	expect_bad(&m, 3, "not a message");
	m.port.error = 5;
	expect_bad(&m, sizeof(WirePort), "error is no negative errno");
	m.port.error = INT32_MIN;
	expect_bad(&m, sizeof(WirePort), "error is no negative errno");
	m.port.error = 0;
	mask_set(&m.port.supplied, no_row, true);
	expect_bad(&m, sizeof(WirePort), "attribute unknown");
	mask_set(&m.port.supplied, no_row, false);
	mask_set(&m.port.unmeasured, no_row, true);
	expect_bad(&m, sizeof(WirePort), "attribute unknown");
	mask_set(&m.port.unmeasured, no_row, false);
	mask_set(&m.port.unanswered, no_row, true);
	expect_bad(&m, sizeof(WirePort), "attribute unknown");
	mask_set(&m.port.unanswered, no_row, false);
	m.port.parts = READ_ALL + 1;
	expect_bad(&m, sizeof(WirePort), "parts of a port that are none");
	m.port.parts = READ_VERBS;
	m.port.failed = READ_PKEYS;
	expect_bad(&m, sizeof(WirePort), "a part that was not read has failed");
	m.port.failed = 0;
	m.port.parts = READ_ALL;
	m.header.port = 0;
	expect_bad(&m, sizeof(WirePort), "port out of range");
	m.header.port = 1025;
	expect_bad(&m, sizeof(WirePort), "port out of range");
	m.header.port = 1024;
	assert_int_equal(wire_check(&m, sizeof(WirePort), &(const char *){NULL}), 0);
	m.header.version++;
	expect_bad(&m, sizeof(WirePort), "other version of the protocol");
	m.header.version--;
	m.header.type = _WIRE_MAX;
	expect_bad(&m, sizeof(WirePort), "type unknown");
	m.header.type = 0;
	expect_bad(&m, sizeof(WirePort), "type unknown");
	m.header.magic = 0;
	expect_bad(&m, sizeof(WirePort), "not a message");
}

static void test_end_rules(_unused_ void **state)
{
	WireMessage m = {.end = {.header = wire_header(WIRE_END, 1, 3, 0), .library_failed = 1}};

	assert_int_equal(wire_check(&m, sizeof(WireEnd), &(const char *){NULL}), 0);
	m.end.library_failed = 2;
	expect_bad(&m, sizeof(WireEnd), "a flag that is neither 0 nor 1");
	m.end.library_failed = 0;
	m.end.error = 1;
	expect_bad(&m, sizeof(WireEnd), "error is no negative errno");
	m.end.error = 0;
	memset(m.end.text, 'x', sizeof(m.end.text));
	expect_bad(&m, sizeof(WireEnd), "text not terminated");
}

static void test_page_rules(void **state)
{
	WireMessage m = {.table = {.header = wire_header(WIRE_TABLE, 1, 3, 1),
				   .type = ATTR_GIDS,
				   .total = 100,
				   .first = 0,
				   .n = wire_page_entries(ATTR_GIDS)}};
	const CounterEntry group = {.group = _COUNTER_GROUP_MAX, .file = "symbol_error"};
	const CounterEntry error = {.error = 1, .file = "symbol_error"};
	const char *why = NULL;

	(void)state;
	assert_int_equal(wire_check(&m, sizeof(WireTable), &why), 0);
	m.table.n++;
	expect_bad(&m, sizeof(WireTable), "page size out of bounds");
	m.table.n = 0;
	expect_bad(&m, sizeof(WireTable), "page size out of bounds");
	m.table.n = 10;
	m.table.first = 91;
	expect_bad(&m, sizeof(WireTable), "page outside its table");
	m.table.first = UINT32_MAX;
	expect_bad(&m, sizeof(WireTable), "page outside its table");
	m.table.first = 0;
	m.table.total = TABLE_ENTRIES_MAX + 1;
	expect_bad(&m, sizeof(WireTable), "table size out of bounds");
	m.table.total = 0;
	expect_bad(&m, sizeof(WireTable), "table size out of bounds");
	m.table.total = 100;
	m.table.type = ATTR_U32;
	expect_bad(&m, sizeof(WireTable), "table type unknown");
	m.table.type = 99999;
	expect_bad(&m, sizeof(WireTable), "table type unknown");
	m.table.type = ATTR_CHARDEVS;
	expect_bad(&m, sizeof(WireTable), "table belongs to another kind of object");
	m.table.type = ATTR_COUNTERS;
	m.table.n = 1;
	memcpy(m.table.entries, &group, sizeof(group));
	expect_bad(&m, sizeof(WireTable), "number in a table out of range");
	memcpy(m.table.entries, &error, sizeof(error));
	expect_bad(&m, sizeof(WireTable), "number in a table out of range");
	memset(m.table.entries, 'x', sizeof(m.table.entries));
	expect_bad(&m, sizeof(WireTable), "text in a table not terminated");
	m.table.n = 10;
	m.table.type = ATTR_GIDS;
	memset(m.table.entries, 'x', sizeof(m.table.entries));
	expect_bad(&m, sizeof(WireTable), "text in a table not terminated");
}

/* Each text of each table, in the last entry of a page too. */
static void test_texts_in_tables(void **state)
{
	unsigned int texts = 0;

	(void)state;
	for (AttrType t = 0; t < _ATTR_TYPE_MAX; t++) {
		const TableLayout *l = table_layout(t);
		uint32_t port = attr_port_table(t) < _PORT_TABLE_MAX;

		for (size_t c = 0; l && c < l->n_columns; c++) {
			WireMessage m = {.table = {.header = wire_header(WIRE_TABLE, 1, 3, port),
						   .type = t,
						   .total = 3,
						   .n = 3}};
			const char *why = NULL;

			if (l->columns[c].type != COLUMN_TEXT)
				continue;
			texts++;
			if (t == ATTR_FINDINGS) {
				expect_bad(&m, sizeof(WireTable), "a column that no worker fills");
				continue;
			}
			assert_int_equal(wire_check(&m, sizeof(WireTable), &why), 0);
			memset(m.table.entries + 2 * l->entry_size + l->columns[c].offset, 'x',
			       l->columns[c].size);
			expect_bad(&m, sizeof(WireTable), "text in a table not terminated");
		}
	}
	assert_true(texts >= 5);
}

/* A table of 1000 entries goes through a socket and comes out the same; an empty one sends nothing.
 */
static void test_table_round_trip(void **state)
{
	PkeyEntry entries[1000];
	_cleanup_(table_free_pointer) Table *table = NULL, *copy = NULL;
	WireAssembly assembly = {};
	static WirePacket packet;
	WireMessage m = {.header = wire_header(WIRE_FORGET, 0, 3, 0)};
	const char *why = NULL;
	unsigned int n_packets = 0, n_others = 0;
	int fds[2], r = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		entries[i] = (PkeyEntry){.index = i, .pkey = 0xffff - i};
	table = table_new(entries, 1000, sizeof(entries[0]));
	assert_non_null(table);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(wire_flush(fds[0], &packet), 0); /* sends nothing */
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(wire_put(fds[0], &packet, &m), 0);
		assert_int_equal(wire_put_table(fds[0], &packet, wire_header(0, 7, 3, 2),
						ATTR_PKEYS, i ? table : NULL),
				 0);
	}
	assert_int_equal(wire_flush(fds[0], &packet), 0);
	close(fds[0]);
	while (wire_receive_packet(fds[1], &packet, &why) > 0) {
		n_packets++;
		while ((r = wire_next(&packet, &m, &why)) > 0) {
			n_others += m.header.type == WIRE_FORGET;
			if (m.header.type == WIRE_TABLE)
				assert_int_equal(wire_assemble(&assembly, &m.table, &copy),
						 m.table.first + m.table.n == 1000);
		}
		assert_int_equal(r, 0);
	}
	assert_int_equal(n_packets, 1); /* 4 pages */
	assert_int_equal(n_others, 2);
	assert_true(table_equal(table, copy));
	close(fds[1]);
}

/* The other end has gone: what does not fit the packet any more is an error. */
static void test_table_to_nobody(_unused_ void **state)
{
	PkeyEntry entries[1000] = {};
	_cleanup_(table_free_pointer) Table *table = table_new(entries, 1000, sizeof(entries[0]));
	static WirePacket packet;
	int fds[2], r = 0;

	assert_non_null(table);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	close(fds[1]);
	for (size_t size = 0; r == 0 && size <= WIRE_PACKET_MAX; size += sizeof(entries))
		r = wire_put_table(fds[0], &packet, wire_header(0, 7, 3, 2), ATTR_PKEYS, table);
	assert_int_equal(r, -EPIPE);
	close(fds[0]);
}

/* What a worker may say that it asks by itself. */
static void test_asking(void **state)
{
	WireMessage m = {.asking = {.header = wire_header(WIRE_ASKING, 7, 3, 0)}};
	const char *why = NULL;

	(void)state;
	expect_bad(&m, sizeof(WireAsking), "a query of nothing");
	port_set_add(&m.asking.ports, 1);
	port_set_add(&m.asking.ports, RDMA_PORT_MAX);
	m.asking.parts = READ_PKEYS;
	assert_int_equal(wire_check(&m, sizeof(WireAsking), &why), 0);
	m.asking.parts = READ_ALL + 1;
	expect_bad(&m, sizeof(WireAsking), "parts of a port that are none");
	m.asking.parts = READ_VERBS;
	m.asking.ports.bits[PORT_SET_WORDS - 1] |= 2;
	expect_bad(&m, sizeof(WireAsking), "port out of range");
	m.asking.ports = (PortSet){{1}};
	expect_bad(&m, sizeof(WireAsking), "port out of range");
	m.asking.ports = (PortSet){{2}};
	m.header.port = 1;
	expect_bad(&m, sizeof(WireAsking), "a query with a port number");
}

/* What does not fit one packet goes into the next one. */
static void test_full_packet(void **state)
{
	static WirePacket packet;
	WireMessage m = {.event = {.header = wire_header(WIRE_EVENT, 0, 3, 1)}};
	const char *why = NULL;
	unsigned int n = 0, n_packets = 0;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	for (; n * sizeof(WireEvent) <= WIRE_PACKET_MAX; n++)
		assert_int_equal(wire_put(fds[0], &packet, &m), 0);
	assert_int_equal(wire_flush(fds[0], &packet), 0);
	close(fds[0]);
	while (wire_receive_packet(fds[1], &packet, &why) > 0) {
		n_packets++;
		while (wire_next(&packet, &m, &why) > 0)
			n--;
	}
	assert_int_equal(n, 0);
	assert_int_equal(n_packets, 2);
	close(fds[1]);
}

/* Behind a good message, what is none; and more than any packet may have. */
static void test_bad_packet(void **state)
{
	static struct {
		WirePacket packet;
		uint8_t more;
	} big;
	static WirePacket received;
	WireMessage m = {.header = wire_header(WIRE_FORGET, 0, 3, 0)};
	const char *why = NULL;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	memcpy(big.packet.bytes, &m.header, sizeof(m.header));
	memcpy(big.packet.bytes + sizeof(m.header), &m.header, sizeof(m.header) - 1);
	assert_true(send(fds[0], big.packet.bytes, 2 * sizeof(m.header) - 1, 0) > 0);
	assert_int_equal(wire_receive_packet(fds[1], &received, &why), 1);
	assert_int_equal(wire_next(&received, &m, &why), 1);
	assert_int_equal(wire_next(&received, &m, &why), -EBADMSG);
	assert_string_equal(why, "not a message");
	assert_true(send(fds[0], big.packet.bytes, WIRE_PACKET_MAX + 1, 0) > 0);
	assert_int_equal(wire_receive_packet(fds[1], &received, &why), -EBADMSG);
	assert_string_equal(why, "packet too large");
	close(fds[0]);
	assert_int_equal(wire_receive_packet(fds[1], &received, &why), 0);
	close(fds[1]);
}

static void test_assembly_refuses(void **state)
{
	WireTable page = {.header = wire_header(WIRE_TABLE, 1, 3, 1),
			  .type = ATTR_PKEYS,
			  .total = 300,
			  .first = 10,
			  .n = 10};
	WireAssembly a = {};
	Table *t = NULL;

	(void)state;
	/* does not begin at the beginning */
	assert_int_equal(wire_assemble(&a, &page, &t), -EBADMSG);
	page.first = 0;
	assert_int_equal(wire_assemble(&a, &page, &t), 0);
	/* the same again */
	assert_int_equal(wire_assemble(&a, &page, &t), -EBADMSG);
	page.first = 10;
	page.total = 301;
	assert_int_equal(wire_assemble(&a, &page, &t), -EBADMSG);
	page.total = 300;
	page.header.port = 2;
	assert_int_equal(wire_assemble(&a, &page, &t), -EBADMSG);
	page.header.port = 1;
	assert_int_equal(wire_assemble(&a, &page, &t), 0);
	assert_null(t);
	wire_assembly_done(&a);
}

static void test_oversized(void **state)
{
	struct {
		WireMessage m;
		char more[64];
	} big = {.m = {.header = wire_header(WIRE_FORGET, 0, 1, 0)}};
	WireMessage m;
	const char *why = NULL;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(send(fds[0], &big, sizeof(big), 0), sizeof(big));
	assert_int_equal(wire_receive(fds[1], &m, &why), -EBADMSG);
	assert_string_equal(why, "wrong size for its type");
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_query),		cmocka_unit_test(test_device),
		cmocka_unit_test(test_texts),		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_end_rules),	cmocka_unit_test(test_page_rules),
		cmocka_unit_test(test_texts_in_tables), cmocka_unit_test(test_table_round_trip),
		cmocka_unit_test(test_table_to_nobody), cmocka_unit_test(test_full_packet),
		cmocka_unit_test(test_bad_packet),	cmocka_unit_test(test_assembly_refuses),
		cmocka_unit_test(test_asking),		cmocka_unit_test(test_oversized),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
