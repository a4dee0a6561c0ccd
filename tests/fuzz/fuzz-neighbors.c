/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The answers of rdmad-neighbors, NetworkManager and rdmad-fabric, as rdmad reads them: of the
 * right type, with any values, or of another type. An answer supplies nothing but rows or counters
 * of the other end, or says why it is not known, with a code that rdmad says.
 */

#include "bus-neighbors.h"
#include "counters.h"
#include "decode.h"
#include "list.h"
#include "message.h"

#define NOW_USEC (UINT64_C(1) << 40)
#define VLAN_MAX 4094U

static void check_rows(const PortSnapshot *s)
{
	MASK_FOREACH(a, s->supplied)
	{
		const Attribute *row = &port_attributes[a];
		const char *text;

		FUZZ_CHECK(port_part_of(a) == READ_NEIGHBOR);
		if (!attr_is_text(row->type))
			continue;
		text = attr_get_text(row, &s->values);
		FUZZ_CHECK(memchr(text, '\0', row->size));
		FUZZ_CHECK(!attr_is_list(row->type) || list_is_valid(row->type, text));
	}
	FUZZ_CHECK(s->parts == READ_NEIGHBOR);
	FUZZ_CHECK(s->values.neighbor_vlan <= VLAN_MAX && s->values.neighbor_since <= NOW_USEC);
	FUZZ_CHECK(!mask_has(&s->supplied, PORT_ATTR_neighbor_source) ==
		   mask_is_empty(&s->supplied));
	FUZZ_CHECK(!s->no_neighbor || (s->no_neighbor->on_bus && mask_is_empty(&s->supplied)));
}

/* What rdmad publishes of S. It takes a hundred times as long as to read an entry, so only the
 * first one of an answer is published, and only of inputs of some lengths. */
static void check_published(PortSnapshot *s)
{
	const DeviceSnapshot device = {};
	const Unavailable *why;

	PORT_SUPPLY(s, link_layer, LINK_LAYER_INFINIBAND);
	port_derive(s, &device);
	why = port_unavailable(s, PORT_ATTR_neighbor_source);
	FUZZ_CHECK(!why == mask_has(&s->valid, PORT_ATTR_neighbor_source));
	FUZZ_CHECK(!why || why->on_bus);
	MASK_FOREACH(a, s->valid)
	if (attr_is_text(port_attributes[a].type))
		check_text(attr_get_text(&port_attributes[a], &s->values));
}

static void read_answer(NeighborSource source, sd_bus_message *answer, bool is_published)
{
	NeighborPort port;
	_cleanup_(port_snapshot_done) PortSnapshot s = {};

	if (bus_take_neighbors(source, answer) < 0)
		return;
	while (bus_next_neighbor(source, answer, NOW_USEC, &port, &s) > 0) {
		FUZZ_CHECK(port.name != NULL);
		check_rows(&s);
		if (is_published)
			check_published(&s);
		is_published = false;
		port_snapshot_done(&s);
	}
}

static void read_counters(sd_bus_message *answer)
{
	const Unavailable *why;
	NeighborPort port;
	Table *counters;

	if (bus_take_neighbors(FAR_COUNTERS, answer) < 0)
		return;
	while (bus_next_far_counters(answer, &port, &counters, &why) > 0) {
		FUZZ_CHECK(port.name != NULL && (!why || why->on_bus));
		FUZZ_CHECK(!counters || !why);
		TABLE_FOREACH(CounterEntry, e, counters)
			FUZZ_CHECK(e->group == COUNTER_GROUP_PORT && *e->file && !e->error);
		table_free(counters);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct {
		const char *type;
		NeighborSource source;
	} answers[] = {
		{"a(ssssssuuitt)", NEIGHBORS_OF_LLDPD},
		{"a(suyyttsuu)", NEIGHBORS_OF_FABRIC},
		{"a(susa(st))", FAR_COUNTERS},
		{"a{oa{sa{sv}}}", NEIGHBORS_OF_NETWORK_MANAGER},
		{"a(su)", NEIGHBORS_OF_LLDPD},
	};
	/* of NetworkManager */
	static const char *const keys[] = {
		"org.freedesktop.NetworkManager.Device",
		"Interface",
		"LldpNeighbors",
		"system-name",
		"port-id",
		"chassis-id",
		"02:AB:CD:EF:00:01",
		"management-addresses",
		"address",
		"ieee-802-1-pvid",
		"ieee-802-3-max-frame-size",
	};
	const char *words[_UNAVAILABLE_MAX + ARRAY_SIZE(keys) + 10]; /* and counters */
	FuzzInput in = {data, size};
	uint8_t choice = input_u8(&in);
	size_t reader = choice % ARRAY_SIZE(answers);
	sd_bus_message *m = message_new();

	for (size_t i = 0; i < _UNAVAILABLE_MAX; i++)
		words[i] = unavailable_rows[i].code;
	memcpy(words + _UNAVAILABLE_MAX, keys, sizeof(keys));
	for (size_t i = _UNAVAILABLE_MAX + ARRAY_SIZE(keys); i < ARRAY_SIZE(words); i++)
		words[i] = counter_rows[i - _UNAVAILABLE_MAX - ARRAY_SIZE(keys)].file;
	message_set_words(words, ARRAY_SIZE(words));
	/* now and then an answer of another type */
	if (m &&
	    message_append(m, &in, answers[choice / 5 % 16 ? reader : choice / 80].type) >= 0 &&
	    message_seal(m) >= 0) {
		if (answers[reader].source == FAR_COUNTERS)
			read_counters(m);
		else
			read_answer(answers[reader].source, m, size % 16 == 0);
	}
	message_set_words(NULL, 0);
	sd_bus_message_unref(m);
	return 0;
}
