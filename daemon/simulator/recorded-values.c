/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "recorded-values.h"

#include "row-set.h"
#include "row-text.h"

static int refuse(const char *key, const char *value, const char *expected, char **ret_message)
{
	return scenario_refuse(-EINVAL, ret_message, "%.100s = %.100s: expected %s", key, value,
			       expected);
}

/* A number that may be negative, as a record has it. */
static int parse_integer(const char *key, const char *text, int64_t least, int64_t most,
			 int64_t *ret, char **ret_message)
{
	bool negative = *text == '-';
	uint64_t n = 0;
	int64_t value;

	if (text_to_u64(text + negative, INT32_MAX, &n) < 0)
		return refuse(key, text, "a number", ret_message);
	value = negative ? -(int64_t)n : (int64_t)n;
	if (value < least || value > most)
		return refuse(key, text, "a smaller number", ret_message);
	*ret = value;
	return 0;
}

/* Tables */

/* A copy of OLD with N entries; those behind the end of OLD are zero. *RET is NULL if N is 0. */
static int resize(const Table *old, uint32_t n, size_t entry_size, Table **ret)
{
	_cleanup_free_ uint8_t *entries = calloc(MAX(n, 1U), entry_size);

	if (!entries)
		return -ENOMEM;
	if (old)
		memcpy(entries, old->entries, (size_t)MIN(n, old->n) * entry_size);
	return table_make(entries, n, entry_size, ret);
}

/* Makes *RET of OLD by the setting KEY, of which PLACE is what is behind the dot: the number of
 * entries, or one of them. */
static int set_table(AttrType type, const Table *old, const char *key, const char *place,
		     const char *value, Table **ret, char **ret_message)
{
	const TableLayout *layout = table_layout(type);
	uint32_t length = old ? old->n : 0;
	uint64_t n = 0;
	int r;

	if (streq(place, "n")) {
		if (*value && text_to_u64(value, TABLE_ENTRIES_MAX, &n) < 0)
			return refuse(key, value, "a number of entries up to 4096, or nothing",
				      ret_message);
		return resize(old, (uint32_t)n, layout->entry_size, ret);
	}
	if (text_to_u64(place, TABLE_ENTRIES_MAX, &n) < 0 || n >= length)
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s: the table has %u entries, expected a number below "
				       "that",
				       key, length);
	r = resize(old, length, layout->entry_size, ret);
	if (r < 0)
		return r;
	if (entry_text_parse(layout, value, (*ret)->entries + n * layout->entry_size) == 0)
		return 0;
	*ret = table_free(*ret);
	return refuse(key, value, "COLUMN=VALUE with spaces between", ret_message);
}

/* Splits KEY at its first dot: the field is in FIELD, which has room for 64 bytes. NULL: it has no
 * dot. */
static const char *split_key(const char *key, char field[64])
{
	const char *dot = strchr(key, '.');

	if (!dot || dot - key >= 64)
		return NULL;
	memcpy(field, key, (size_t)(dot - key));
	field[dot - key] = '\0';
	return dot + 1;
}

/* Rows */

/* A row that a record has: of a source, or a number that rdmad counts. */
static bool is_recorded(const Attribute *row)
{
	return row->size > 0 && (attr_is_of_source(row) || row_is_count(row));
}

static int set_row(const Attribute *rows, unsigned int i, void *values, AttrMask *supplied,
		   const char *value, char **ret_message)
{
	const Attribute *row = &rows[i];

	if (!is_recorded(row))
		return scenario_refuse(-EINVAL, ret_message,
				       "%s: a record has no such value, expected an attribute that "
				       "the hardware has",
				       row->field);
	if (!*value)
		attr_clear(row, values);
	else if (row_text_parse(row, values, value) < 0)
		return refuse(row->field, value, "a value of the attribute", ret_message);
	mask_set(supplied, i, *value);
	return 0;
}

/* Answers */

static int refuse_key(const char *key, char **ret_message)
{
	return scenario_refuse(-EINVAL, ret_message, "%.100s: no attribute of a record", key);
}

static int parse_rows(const char *key, const char *value, bool of_port, AttrMask *ret,
		      char **ret_message)
{
	g_auto(GStrv) fields = g_strsplit(value, ",", -1);
	AttrMask rows = {};
	DeviceAttr d;
	PortAttr p;

	for (char **field = fields; *field; field++) {
		if ((of_port ? port_attr_from_field(*field, &p)
			     : device_attr_from_field(*field, &d)) < 0)
			return refuse(key, value, "attributes with ',' between", ret_message);
		mask_set(&rows, of_port ? (unsigned int)p : (unsigned int)d, true);
	}
	*ret = rows;
	return 0;
}

static int parse_open_error(const char *key, const char *value, int32_t *ret, char **ret_message)
{
	int64_t n = 0;
	int r = parse_integer(key, value, -4095, 0, &n, ret_message);

	if (r == 0)
		*ret = (int32_t)n;
	return r;
}

static int set_answer(PortSnapshot *s, const char *key, const char *value, char **ret_message)
{
	const char *what = key + strlen("answer.");
	int64_t n = 0;
	int r;

	if (streq(what, "unmeasured"))
		return parse_rows(key, value, true, &s->unmeasured, ret_message);
	if (streq(what, "unanswered"))
		return parse_rows(key, value, true, &s->unanswered, ret_message);
	if (streq(what, "no_neighbor")) {
		s->no_neighbor = unavailable_find(value);
		return *value && !s->no_neighbor ? refuse(key, value, "a code", ret_message) : 0;
	}
	if (streq(what, "open_error"))
		return parse_open_error(key, value, &s->open_error, ret_message);
	if (!streq(what, "parts") && !streq(what, "failed"))
		return refuse_key(key, ret_message);
	r = parse_integer(key, value, 0, READ_ANY, &n, ret_message);
	if (r == 0)
		*(streq(what, "parts") ? &s->parts : &s->failed) = (unsigned int)n;
	return r;
}

int recorded_port_set(PortSnapshot *s, const char *key, const char *value, PortTable *ret_table,
		      Table **ret, char **ret_message)
{
	char field[64];
	const char *place = split_key(key, field);
	PortTable t;
	PortAttr a;
	int r;

	*ret_table = _PORT_TABLE_MAX;
	if (startswith(key, "answer."))
		return set_answer(s, key, value, ret_message);
	if (port_attr_from_field(place ? field : key, &a) < 0)
		return refuse_key(key, ret_message);
	t = attr_port_table(port_attributes[a].type);
	if (!place && t == _PORT_TABLE_MAX)
		return set_row(port_attributes, a, &s->values, &s->supplied, value, ret_message);
	if (!place || t == _PORT_TABLE_MAX || attr_is_reading(&port_attributes[a]))
		return refuse_key(key, ret_message);
	r = set_table(port_attributes[a].type, s->tables[t], key, place, value, ret, ret_message);
	if (r < 0)
		return r;
	mask_set(&s->supplied, a, *value || !streq(place, "n"));
	*ret_table = t;
	return 0;
}

int recorded_device_set(DeviceSnapshot *s, const char *key, const char *value, char **ret_message)
{
	char field[64];
	const char *place = split_key(key, field);
	Table *table = NULL;
	DeviceAttr a;
	DeviceTable t;
	int r;

	if (streq(key, "answer.open_error"))
		return parse_open_error(key, value, &s->open_error, ret_message);
	if (streq(key, "answer.unanswered"))
		return parse_rows(key, value, false, &s->unanswered, ret_message);
	if (device_attr_from_field(place ? field : key, &a) < 0 || a == DEVICE_ATTR_name ||
	    a == DEVICE_ATTR_port_count)
		return refuse_key(key, ret_message);
	t = attr_device_table(device_attributes[a].type);
	if (!place && t == _DEVICE_TABLE_MAX)
		return set_row(device_attributes, a, &s->values, &s->supplied, value, ret_message);
	if (!place || t == _DEVICE_TABLE_MAX)
		return refuse_key(key, ret_message);
	r = set_table(device_attributes[a].type, s->tables[t], key, place, value, &table,
		      ret_message);
	if (r < 0)
		return r;
	table_free(s->tables[t]);
	s->tables[t] = table;
	mask_set(&s->supplied, a, *value || !streq(place, "n"));
	return 0;
}
