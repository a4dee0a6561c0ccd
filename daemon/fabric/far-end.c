/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "far-end.h"

#include <endian.h>

/* The last type of a node: a router */
#define TYPE_MAX 3U

static uint64_t get_guid(const uint8_t *data)
{
	uint64_t guid;

	memcpy(&guid, data, sizeof(guid));
	return be64toh(guid);
}

static int take_node(FarEnd *e, const uint8_t *data)
{
	FarEnd n = *e;

	n.type = data[2];
	n.system = get_guid(data + 4);
	n.guid = get_guid(data + 12);
	n.port = data[36];
	if (n.type == 0 || n.type > TYPE_MAX || n.guid == 0 || n.port == 0)
		return -EBADMSG;
	*e = n;
	return 0;
}

/* The text fills what it has with 0, or not at all. */
static void take_text(FarEnd *e, const uint8_t *data)
{
	char text[FAR_END_BYTES + 1] = "";

	memcpy(text, data, FAR_END_BYTES);
	text_copy(e->text, sizeof(e->text), text);
	text_sanitize(e->text, sizeof(e->text));
}

/* The codes are one mask in parts: SDR to QDR, FDR to NDR behind FDR10, which is the vendor's, and
 * XDR. */
static void take_port(FarEnd *e, const uint8_t *data)
{
	e->widths = data[29];
	e->speeds = (data[35] & 0x7U) | (data[63] & 0xfU) << 4 | (data[56] & 0x1U) << 8;
}

int far_end_take(FarEnd *e, FarEndPart part, const uint8_t data[FAR_END_BYTES])
{
	switch (part) {
	case FAR_END_NODE:
		return take_node(e, data);
	case FAR_END_TEXT:
		take_text(e, data);
		return 0;
	case FAR_END_PORT:
		take_port(e, data);
		return 0;
	case _FAR_END_PART_MAX:
		break;
	}
	return -EBADMSG;
}
