/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "far-end.h"

/* The last type of a node: a router */
#define TYPE_MAX 3U
/* Those above are of multicast groups. */
#define UNICAST_LID_MAX 0xbfffU
#define TEXT_BYTES	64U

/* Of CapabilityMask of performance management: which counters there are */
#define HAS_EXTENDED 0x200U /* PortCountersExtended */
#define HAS_SHORTER  0x400U /* of these only data and packets */
#define HAS_WAIT     0x1000U

/* The counters: a name of sysfs that is there twice stands for the first that the node has. */
static const struct {
	const char *file;
	FarEndPart part;
	uint16_t bit; /* the first one, which is the highest */
	uint8_t bits;
	uint16_t needs; /* one of these abilities; 0: none */
} rows[] = {
	{"port_xmit_data", FAR_END_EXTENDED, 64, 64, HAS_EXTENDED | HAS_SHORTER},
	{"port_rcv_data", FAR_END_EXTENDED, 128, 64, HAS_EXTENDED | HAS_SHORTER},
	{"port_xmit_packets", FAR_END_EXTENDED, 192, 64, HAS_EXTENDED | HAS_SHORTER},
	{"port_rcv_packets", FAR_END_EXTENDED, 256, 64, HAS_EXTENDED | HAS_SHORTER},
	{"unicast_xmit_packets", FAR_END_EXTENDED, 320, 64, HAS_EXTENDED},
	{"unicast_rcv_packets", FAR_END_EXTENDED, 384, 64, HAS_EXTENDED},
	{"multicast_xmit_packets", FAR_END_EXTENDED, 448, 64, HAS_EXTENDED},
	{"multicast_rcv_packets", FAR_END_EXTENDED, 512, 64, HAS_EXTENDED},
	{"symbol_error", FAR_END_COUNTERS, 32, 16, 0},
	{"link_error_recovery", FAR_END_COUNTERS, 48, 8, 0},
	{"link_downed", FAR_END_COUNTERS, 56, 8, 0},
	{"port_rcv_errors", FAR_END_COUNTERS, 64, 16, 0},
	{"port_rcv_remote_physical_errors", FAR_END_COUNTERS, 80, 16, 0},
	{"port_rcv_switch_relay_errors", FAR_END_COUNTERS, 96, 16, 0},
	{"port_xmit_discards", FAR_END_COUNTERS, 112, 16, 0},
	{"port_xmit_constraint_errors", FAR_END_COUNTERS, 128, 8, 0},
	{"port_rcv_constraint_errors", FAR_END_COUNTERS, 136, 8, 0},
	{"local_link_integrity_errors", FAR_END_COUNTERS, 152, 4, 0},
	{"excessive_buffer_overrun_errors", FAR_END_COUNTERS, 156, 4, 0},
	{"VL15_dropped", FAR_END_COUNTERS, 176, 16, 0},
	{"port_xmit_data", FAR_END_COUNTERS, 192, 32, 0},
	{"port_rcv_data", FAR_END_COUNTERS, 224, 32, 0},
	{"port_xmit_packets", FAR_END_COUNTERS, 256, 32, 0},
	{"port_rcv_packets", FAR_END_COUNTERS, 288, 32, 0},
	{"port_xmit_wait", FAR_END_COUNTERS, 320, 32, HAS_WAIT},
};
_Static_assert(ARRAY_SIZE(rows) == FAR_COUNTERS_MAX, "a place for each counter");

static uint64_t get_bits(const uint8_t *data, unsigned int bit, unsigned int bits)
{
	uint64_t value = 0;

	for (unsigned int i = bit; i < bit + bits; i++)
		value = value << 1 | (data[i / 8] >> (7 - i % 8) & 1U);
	return value;
}

/* The text fills what it has with 0, or not at all. */
static void take_text(FarEnd *e, const uint8_t *data)
{
	char text[TEXT_BYTES + 1] = "";

	memcpy(text, data, TEXT_BYTES);
	text_copy_clean(e->text, sizeof(e->text), text);
}

int far_end_take(FarEnd *e, FarEndPart part, const uint8_t data[FAR_END_BYTES])
{
	bool can_be = true;
	FarEnd n = *e;

	switch (part) {
	case FAR_END_NODE:
		n.type = data[2];
		n.system = get_bits(data, 32, 64);
		n.guid = get_bits(data, 96, 64);
		n.port = data[36];
		can_be = n.type != 0 && n.type <= TYPE_MAX && n.guid != 0 && n.port != 0;
		break;
	case FAR_END_TEXT:
		take_text(&n, data);
		break;
	case FAR_END_PORT:
		n.widths = data[29];
		/* The codes are one mask in parts: SDR to QDR, FDR to NDR behind FDR10, which is
		 * the vendor's, and XDR. */
		n.speeds = (data[35] & 0x7U) | (data[63] & 0xfU) << 4 | (data[56] & 0x1U) << 8;
		break;
	case FAR_END_LID:
		n.lid = (uint16_t)get_bits(data, 128, 16);
		can_be = n.lid <= UNICAST_LID_MAX;
		break;
	case FAR_END_CLASS:
		n.abilities = (uint16_t)get_bits(data, 16, 16);
		break;
	case FAR_END_COUNTERS:
	case FAR_END_EXTENDED:
		/* The answer names the port that it is about. */
		can_be = data[1] == n.port;
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			if (rows[i].part == part)
				n.counters[i] = get_bits(data, rows[i].bit, rows[i].bits);
		break;
	case _FAR_END_PART_MAX:
		can_be = false;
	}
	if (!can_be)
		return -EBADMSG;
	n.parts |= 1U << part;
	*e = n;
	return 0;
}

static bool has_counter(const FarEnd *e, size_t i)
{
	return e->parts >> rows[i].part & 1 && (!rows[i].needs || rows[i].needs & e->abilities);
}

bool far_end_has_counters(const FarEnd *e)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(rows) && !has_counter(e, i))
		i++;
	return i < ARRAY_SIZE(rows);
}

const char *far_end_counter(const FarEnd *e, size_t i, uint64_t *ret)
{
	if (!has_counter(e, i))
		return NULL;
	for (size_t k = 0; k < i; k++)
		if (has_counter(e, k) && streq(rows[k].file, rows[i].file))
			return NULL;
	*ret = e->counters[i];
	return rows[i].file;
}
