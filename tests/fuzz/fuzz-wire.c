/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages of a worker. The input says how to change a correct message: one byte chooses its type,
 * one changes its size, then each change has three bytes: the offset (most significant byte first)
 * and the new byte. So the corpus stays useful when new attributes change the sizes.
 */

#include "fuzz.h"
#include "wire.h"

static bool terminated(const char *text, size_t n)
{
	return memchr(text, '\0', n);
}

static WireMessage good_message(WireType type)
{
	WireMessage m = {};

	m.header = wire_header(type, type == WIRE_EVENT || type == WIRE_FORGET ? 0 : 9, 3,
			       type == WIRE_PORT || type == WIRE_TABLE ? 1 : 0);
	switch (type) {
	case WIRE_QUERY:
		m.query.query = (Query){.id = 9, .device = 3, .attributes = true};
		port_set_add(&m.query.query.ports, 1);
		break;
	case WIRE_TABLE:
		m.table.type = ATTR_NETDEVS;
		m.table.total = m.table.n = 2;
		break;
	case WIRE_EVENT:
		m.event.reason = REASON_LID_CHANGE;
		break;
	case WIRE_ASKING:
		port_set_add(&m.asking.ports, 1);
		break;
	case WIRE_FORGET:
	case WIRE_HURRY:
	case WIRE_DEVICE:
	case WIRE_PORT:
	case WIRE_END:
	case _WIRE_MAX:
		break;
	}
	return m;
}

static void check_good(const WireMessage *m, size_t size)
{
	WireAssembly assembly = {};
	Table *table = NULL;

	FUZZ_CHECK(size == wire_size(m->header.type) && size != 0);
	/* the events of hbl carry port numbers that do not exist */
	FUZZ_CHECK(m->header.port <= RDMA_PORT_MAX || m->header.type == WIRE_EVENT);
	switch ((WireType)m->header.type) {
	case WIRE_QUERY:
		FUZZ_CHECK(terminated(m->query.query.name, sizeof(m->query.query.name)));
		break;
	case WIRE_DEVICE:
		FUZZ_CHECK(m->device.n_texts <= sizeof(m->device.texts));
		if (m->device.n_texts > 0)
			FUZZ_CHECK(m->device.texts[m->device.n_texts - 1] == '\0');
		break;
	case WIRE_PORT:
		FUZZ_CHECK(m->port.error <= 0);
		break;
	case WIRE_TABLE:
		FUZZ_CHECK(m->table.n >= 1 && m->table.total <= TABLE_ENTRIES_MAX);
		FUZZ_CHECK(m->table.n * attr_table_entry_size(m->table.type) <= WIRE_PAGE_BYTES);
		FUZZ_CHECK(m->table.first + m->table.n <= m->table.total);
		if (wire_assemble(&assembly, &m->table, &table) == 1)
			FUZZ_CHECK(table->n == m->table.total);
		table_free(table);
		wire_assembly_done(&assembly);
		break;
	case WIRE_END:
		FUZZ_CHECK(m->end.error <= 0 && terminated(m->end.text, sizeof(m->end.text)));
		break;
	case WIRE_EVENT:
		FUZZ_CHECK(m->event.reason < _REASON_MAX);
		break;
	case WIRE_ASKING:
		FUZZ_CHECK(!(m->asking.parts & ~(uint32_t)READ_ALL) &&
			   port_set_last(&m->asking.ports) > 0);
		FUZZ_CHECK(port_set_last(&m->asking.ports) <= RDMA_PORT_MAX);
		break;
	case WIRE_FORGET:
	case WIRE_HURRY:
	case _WIRE_MAX:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	WireType type = size > 0 ? data[0] % _WIRE_MAX : WIRE_QUERY;
	WireMessage m = good_message(type);
	size_t message_size = wire_size(type);
	const char *why = NULL;
	int r;

	if (size > 1 && data[1])
		message_size = (message_size + (size_t)(int8_t)data[1]) % (sizeof(m) + 1);
	for (size_t i = 2; i + 3 <= size; i += 3)
		((uint8_t *)&m)[(data[i] * 256U + data[i + 1]) % sizeof(m)] = data[i + 2];
	r = wire_check(&m, message_size, &why);
	FUZZ_CHECK(r == 0 || (r == -EBADMSG && why));
	FUZZ_CHECK(r == 0 || size > 2 || type == 0 || (size > 1 && data[1]));
	if (r == 0)
		check_good(&m, message_size);
	return 0;
}
