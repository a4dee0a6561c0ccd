/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "format.h"

#include <inttypes.h>
#include <time.h>

#include "table.h"
#include "unavailable.h"

/* Room for a number with its unit. */
#define NUMBER_SIZE 80U

/* N / SIZE with at most three decimals (not rounded) and without zeros at the end. */
static void write_scaled(char to[NUMBER_SIZE], uint64_t n, uint64_t size, const char *suffix)
{
	unsigned int thousandths = (unsigned int)(n % size * 1000 / size);
	int digits = 3;

	while (digits > 0 && thousandths % 10 == 0) {
		thousandths /= 10;
		digits--;
	}
	if (digits > 0)
		snprintf(to, NUMBER_SIZE, "%" PRIu64 ".%0*u%s", n / size, digits, thousandths,
			 suffix);
	else
		snprintf(to, NUMBER_SIZE, "%" PRIu64 "%s", n / size, suffix);
}

static void write_rate(char to[NUMBER_SIZE], uint64_t n)
{
	if (n >= 1000000000)
		write_scaled(to, n, 1000000000, " Gb/s");
	else if (n >= 1000000)
		write_scaled(to, n, 1000000, " Mb/s");
	else
		snprintf(to, NUMBER_SIZE, "%" PRIu64 " bit/s", n);
}

static void write_duration(char to[NUMBER_SIZE], uint64_t usec)
{
	if (usec >= USEC_PER_SEC)
		write_scaled(to, usec, USEC_PER_SEC, " s");
	else if (usec >= USEC_PER_MSEC)
		write_scaled(to, usec, USEC_PER_MSEC, " ms");
	else
		snprintf(to, NUMBER_SIZE, "%" PRIu64 " us", usec);
}

static void write_size(char to[NUMBER_SIZE], uint64_t bytes)
{
	const uint64_t mib = 1 << 20;
	uint64_t unit = bytes >= 1024 * mib && bytes % (1024 * mib) == 0 ? 1024 * mib : mib;

	if (bytes >= mib && bytes % mib == 0)
		snprintf(to, NUMBER_SIZE, "%" PRIu64 " bytes (%" PRIu64 " %s)", bytes, bytes / unit,
			 unit > mib ? "GiB" : "MiB");
	else
		snprintf(to, NUMBER_SIZE, "%" PRIu64 " bytes", bytes);
}

static void write_timestamp(char to[NUMBER_SIZE], uint64_t usec)
{
	time_t t = (time_t)(usec / USEC_PER_SEC);
	char text[64];
	struct tm tm;

	if (usec == 0)
		snprintf(to, NUMBER_SIZE, "never");
	else if (localtime_r(&t, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(to, NUMBER_SIZE, "%s.%03u", text,
			 (unsigned int)(usec % USEC_PER_SEC / USEC_PER_MSEC));
	else
		snprintf(to, NUMBER_SIZE, "%" PRIu64 " us", usec);
}

static void write_lanes(char to[NUMBER_SIZE], uint64_t n)
{
	snprintf(to, NUMBER_SIZE, "%" PRIu64 " %s", n, n == 1 ? "lane" : "lanes");
}

static void write_entries(char to[NUMBER_SIZE], uint64_t n)
{
	snprintf(to, NUMBER_SIZE, "%" PRIu64 " %s", n, n == 1 ? "entry" : "entries");
}

static void write_ratio(char to[NUMBER_SIZE], uint64_t n)
{
	snprintf(to, NUMBER_SIZE, "%.1e", (double)n / 1e18);
}

static void write_hex(char to[NUMBER_SIZE], uint64_t n)
{
	snprintf(to, NUMBER_SIZE, "%#" PRIx64, n);
}

/* Writes N with its unit. Returns TO. */
static const char *write_number(char to[NUMBER_SIZE], AttrUnit unit, uint64_t n)
{
	static void (*const writers[_UNIT_MAX])(char to[NUMBER_SIZE], uint64_t n) = {
		[UNIT_BYTES] = write_size,	 [UNIT_LANES] = write_lanes,
		[UNIT_ENTRIES] = write_entries,	 [UNIT_BITS_PER_S] = write_rate,
		[UNIT_USEC] = write_duration,	 [UNIT_TIMESTAMP] = write_timestamp,
		[UNIT_PER_EXABIT] = write_ratio, [UNIT_BITS] = write_hex,
		[UNIT_HEX] = write_hex,
	};

	if (writers[unit])
		writers[unit](to, n);
	else
		write_scaled(to, n, unit_rows[unit].shown, unit_rows[unit].words);
	return to;
}

/* The text of a value that holds no others, which may be in BUFFER; NULL if V is one that does. */
static const char *plain_text(char buffer[NUMBER_SIZE], AttrUnit unit, const Value *v)
{
	switch (v->type) {
	case VALUE_NONE:
		return "none";
	case VALUE_BOOL:
		return v->boolean ? "yes" : "no";
	case VALUE_UNSIGNED:
		return write_number(buffer, unit, v->number);
	case VALUE_SIGNED:
		snprintf(buffer, NUMBER_SIZE, "%" PRIi64, v->integer);
		return buffer;
	case VALUE_DOUBLE:
		snprintf(buffer, NUMBER_SIZE, "%g", v->real);
		return buffer;
	case VALUE_TEXT:
		return *v->text ? v->text : "none";
	case VALUE_ARRAY:
	case VALUE_DICT:
		return v->n == 0 ? "none" : NULL;
	case VALUE_STRUCT:
		break;
	}
	return NULL;
}

static void print_value(FILE *f, AttrUnit unit, const Value *v);

static void print_items(FILE *f, AttrUnit unit, const Value *v, const char *separator)
{
	bool first = true;

	for (size_t i = 0; i < v->n; i++) {
		const Value *item = &v->items[i];

		/* leave out a member that is empty, such as the netdev of an InfiniBand GID, and
		 * what an entry has by name: without the names nobody would know what it is */
		if (v->type == VALUE_STRUCT &&
		    (item->type == VALUE_DICT || (item->type == VALUE_TEXT && !*item->text)))
			continue;
		if (!first)
			fputs(separator, f);
		first = false;
		print_value(f, unit, item);
	}
}

static void print_dict(FILE *f, const Value *v)
{
	for (size_t i = 0; i + 1 < v->n; i += 2) {
		if (i > 0)
			fputs(", ", f);
		print_value(f, UNIT_NONE, &v->items[i]);
		fputs(": ", f);
		print_value(f, UNIT_NONE, &v->items[i + 1]);
	}
}

static void print_value(FILE *f, AttrUnit unit, const Value *v)
{
	char buffer[NUMBER_SIZE];
	const char *text = plain_text(buffer, unit, v);

	if (text)
		fputs(text, f);
	else if (v->type == VALUE_DICT)
		print_dict(f, v);
	else
		print_items(f, v->type == VALUE_STRUCT ? UNIT_NONE : unit, v,
			    v->type == VALUE_STRUCT ? " " : ", ");
}

static char *format_with_unit(AttrUnit unit, const Value *v)
{
	char buffer[NUMBER_SIZE];
	const char *plain = plain_text(buffer, unit, v);
	char *text = NULL;
	size_t size;
	FILE *f;

	if (plain) /* a stream has 8 KiB */
		return strdup(plain);
	f = open_memstream(&text, &size);
	if (!f)
		return NULL;
	print_value(f, unit, v);
	return stream_close(f, &text);
}

char *format_value(const Attribute *a, const Value *v)
{
	if (a->type == ATTR_REASON && *value_text(v))
		return strdup(unavailable_text(value_text(v)));
	return format_with_unit(a->unit, v);
}

char *format_time(uint64_t usec)
{
	return format_value(&(Attribute){.unit = UNIT_TIMESTAMP},
			    &(Value){.type = VALUE_UNSIGNED, .number = usec});
}

char *format_entry(const Value *v)
{
	return format_with_unit(UNIT_NONE, v);
}

char *format_row(const Object *o, size_t i)
{
	const char *reason = object_unavailable(o, i);
	char *text;

	if (!reason || !object_has(o, i))
		return format_value(&o->rows[i], object_stored(o, i));
	return asprintf(&text, "unavailable (%s)", reason) < 0 ? NULL : text;
}

const char *format_text(const Object *o, size_t i)
{
	const char *text = object_text(o, i);

	return *text ? text : "-";
}

char *format_state(const Object *port)
{
	const char *physical = format_text(port, PORT_ATTR_phys_state);
	bool plain = streq(physical, "link-up") || streq(physical, "-");
	char *text;

	if (object_is_stale(port))
		physical = "stale";
	else if (plain)
		return strdup(format_text(port, PORT_ATTR_state));
	return asprintf(&text, "%s (%s)", format_text(port, PORT_ATTR_state), physical) < 0 ? NULL
											    : text;
}

const char *const *format_table_columns(AttrType type)
{
	static const char *names[_ATTR_TYPE_MAX][TABLE_COLUMNS_MAX + 1];
	const TableLayout *l = table_layout(type);
	size_t n = 0;

	if (!l)
		return NULL;
	for (size_t i = 0; i < l->n_columns; i++)
		if (l->columns[i].is_published)
			names[type][n++] = l->columns[i].field;
	return n > 0 ? names[type] : NULL;
}

/* The published column I of a table of TYPE, and in *RET_PLACE how many positional ones are before
 * it; NULL if there is none. */
static const Column *find_column(AttrType type, size_t i, size_t *ret_place)
{
	const TableLayout *l = table_layout(type);
	size_t published = 0, place = 0;

	for (size_t c = 0; l && c < l->n_columns; c++) {
		if (!l->columns[c].is_published)
			continue;
		if (published++ == i) {
			*ret_place = place;
			return &l->columns[c];
		}
		place += l->columns[c].tail[0] == '\0';
	}
	return NULL;
}

const Value *format_find_member(AttrType type, size_t i, const Value *entry)
{
	size_t place;
	const Column *c = find_column(type, i, &place);

	if (!c || entry->type != VALUE_STRUCT || entry->n == 0)
		return NULL;
	if (c->tail[0])
		return value_lookup(&entry->items[entry->n - 1], c->tail);
	return place < entry->n ? &entry->items[place] : NULL;
}

/* The member called COLUMN of ENTRY; NULL if it is not there. */
static const Value *find_member_called(AttrType type, const char *column, const Value *entry)
{
	const char *const *columns = format_table_columns(type);

	for (size_t i = 0; columns && columns[i]; i++)
		if (streq(columns[i], column))
			return format_find_member(type, i, entry);
	return NULL;
}

const char *format_member_text(AttrType type, const char *column, const Value *entry)
{
	return value_text(find_member_called(type, column, entry));
}

uint64_t format_member_number(AttrType type, const char *column, const Value *entry)
{
	return value_number(find_member_called(type, column, entry));
}

bool format_is_named_member(AttrType type, size_t i)
{
	size_t place;
	const Column *c = find_column(type, i, &place);

	return c && c->tail[0];
}

char *format_member(AttrType type, size_t i, const Value *v)
{
	size_t place;
	const Column *c = find_column(type, i, &place);

	return format_with_unit(c ? c->unit : UNIT_NONE, v);
}
