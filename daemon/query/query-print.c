/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-print.h"

#include <inttypes.h>

static void print_row(FILE *f, const char *prefix, const Attribute *a, const void *values)
{
	uint64_t v;

	if (attr_is_text(a->type)) {
		AttrPath text;

		text_copy_clean(text, sizeof(text), attr_get_text(a, values));
		fprintf(f, "%s.%s=%s\n", prefix, a->field, text);
		return;
	}
	v = attr_get_raw(a, values);
	if (a->type == ATTR_GUID || streq(attr_signature(a->type), "as") || a->unit == UNIT_BITS ||
	    a->unit == UNIT_HEX)
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

/* The columns of an entry as they are stored, separated by blanks. */
static void print_entry(FILE *f, const TableLayout *l, const uint8_t *entry)
{
	for (size_t i = 0; i < l->n_columns; i++) {
		const Column *c = &l->columns[i];
		const uint8_t *member = entry + c->offset;
		uint32_t u32 = 0;
		uint64_t u64 = 0;
		AttrText text;

		if (c->size == 0)
			continue;
		if (c->size == sizeof(u32))
			memcpy(&u32, member, sizeof(u32));
		fputc(i == 0 ? '=' : ' ', f);
		if (c->type == COLUMN_TEXT) {
			text_copy(text, MIN(sizeof(text), c->size), (const char *)member);
			text_sanitize(text, sizeof(text));
			fputs(text, f);
		} else if (c->type == COLUMN_GID || c->type == COLUMN_IP) {
			gid_format(member, text);
			fputs(text, f);
		} else if (c->size == sizeof(u64)) {
			memcpy(&u64, member, sizeof(u64));
			fprintf(f, "%" PRIu64, u64);
		} else if (c->type == COLUMN_ERROR) {
			fprintf(f, "%" PRIi32, (int32_t)u32);
		} else {
			fprintf(f, c->unit == UNIT_HEX ? "0x%04" PRIx32 : "%" PRIu32, u32);
		}
	}
}

static void print_table(FILE *f, const char *prefix, const Attribute *row, const Table *t)
{
	const TableLayout *l = table_layout(row->type);

	for (size_t i = 0; t && i < t->n; i++) {
		fprintf(f, "%s.%s", prefix, row->field);
		print_entry(f, l, t->entries + i * l->entry_size);
		fputc('\n', f);
	}
}

static int print_device(void *userdata, _unused_ const Query *q, const DeviceSnapshot *s)
{
	FILE *f = userdata;

	print_rows(f, "device", device_attributes, _DEVICE_ATTR_MAX, &s->supplied, &s->values);
	for (DeviceTable t = 0; t < _DEVICE_TABLE_MAX; t++)
		print_table(f, "device", &device_attributes[device_table_attr(t)], s->tables[t]);
	return 0;
}

static int print_port(void *userdata, _unused_ const Query *q, uint32_t port, int error,
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
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++)
		print_table(f, prefix, &port_attributes[port_table_attr(t)], s->tables[t]);
	return 0;
}

static int print_end(void *userdata, _unused_ const Query *q, int error,
		     _unused_ bool library_failed, const char *text)
{
	FILE *f = userdata;

	fprintf(f, "end.error=%d%s%s\n", error, *text ? " " : "", text);
	return 0;
}

const Sink print_sink = {print_device, print_port, print_end, NULL};
