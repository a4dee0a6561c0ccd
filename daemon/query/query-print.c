/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-print.h"

#include <inttypes.h>

static void print_row(FILE *f, const char *prefix, const Attribute *a, const void *values)
{
	uint64_t v;

	if (a->type == ATTR_TEXT) {
		AttrText text;

		text_copy(text, sizeof(text), attr_get_text(a, values));
		text_sanitize(text, sizeof(text));
		fprintf(f, "%s.%s=%s\n", prefix, a->field, text);
		return;
	}
	v = attr_get_raw(a, values);
	if (a->type == ATTR_GUID || a->type == ATTR_CAP_FLAGS || a->type == ATTR_CAP_FLAGS2 ||
	    a->unit == UNIT_BITS || a->unit == UNIT_HEX)
		fprintf(f, "%s.%s=0x%" PRIx64 "\n", prefix, a->field, v);
	else
		fprintf(f, "%s.%s=%" PRIu64 "\n", prefix, a->field, v);
}

static void print_rows(FILE *f, const char *prefix, const Attribute *rows, unsigned int n,
		       const AttrMask *supplied, const void *values)
{
	for (unsigned int i = 0; i < n; i++)
		if (mask_has(supplied, i) && rows[i].size)
			print_row(f, prefix, &rows[i], values);
}

static int print_device(void *userdata, const Query *q _unused_, const DeviceSnapshot *s)
{
	FILE *f = userdata;

	print_rows(f, "device", device_attributes, _DEVICE_ATTR_MAX, &s->supplied, &s->values);
	TABLE_FOREACH(ChardevEntry, e, s->chardevs)
		fprintf(f, "device.chardevs=%s %s %u:%u\n", e->class, e->path, e->major, e->minor);
	return 0;
}

static int print_port(void *userdata, const Query *q _unused_, uint32_t port, int error,
		      const PortSnapshot *s, _unused_ bool last)
{
	FILE *f = userdata;
	char prefix[16];

	snprintf(prefix, sizeof(prefix), "port%u", port);
	fprintf(f, "%s.error=%d\n", prefix, error);
	print_rows(f, prefix, port_attributes, _PORT_ATTR_MAX, &s->supplied, &s->values);
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++)
		if (mask_has(&s->supplied, port_table_attr(t)))
			fprintf(f, "%s.%s.n=%u\n", prefix,
				port_attributes[port_table_attr(t)].field,
				s->tables[t] ? s->tables[t]->n : 0);
	TABLE_FOREACH(GidEntry, e, s->tables[PORT_TABLE_GIDS]) {
		char gid[40];

		gid_format(e->gid, gid);
		fprintf(f, "%s.gids=%u %s %u %u %s\n", prefix, e->index, gid, e->type, e->ifindex,
			e->netdev);
	}
	TABLE_FOREACH(PkeyEntry, e, s->tables[PORT_TABLE_PKEYS])
		fprintf(f, "%s.pkeys=%u 0x%04x\n", prefix, e->index, e->pkey);
	TABLE_FOREACH(NetdevEntry, e, s->tables[PORT_TABLE_NETDEVS])
		fprintf(f, "%s.netdevs=%u %s\n", prefix, e->ifindex, e->name);
	return 0;
}

static int print_end(void *userdata, const Query *q _unused_, int error, const char *text)
{
	FILE *f = userdata;

	fprintf(f, "end.error=%d%s%s\n", error, *text ? " " : "", text);
	return 0;
}

const Sink print_sink = {print_device, print_port, print_end, NULL};
