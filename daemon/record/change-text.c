/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "change-text.h"

#include <inttypes.h>

#include "command.h"
#include "compat.h"
#include "decode.h"
#include "row-set.h"
#include "row-text.h"
#include "script-line.h"

/* A line of a scenario is not longer than SCENARIO_LINE_MAX; a setting of one entry has room behind
 * this. */
#define LINE_LONG 3000U

/* Where settings go. */
typedef struct Lines {
	GString *to;
	const ChangeTime *time; /* of a step; NULL: of a section, where each has its line */
	const char *device;
	uint32_t port;	/* 0: the device */
	size_t begin;	/* of the line that is being written */
	size_t command; /* where its command is */
} Lines;

/* Steps */

static void put_time(GString *to, const ChangeTime *t)
{
	char text[SCRIPT_TIME_SIZE];

	g_string_append_len(to, text, script_time_write(text, t->offset_usec) - text);
}

static void put_key(GString *to, RecordKey key)
{
	g_string_append_c(to, ' ');
	g_string_append(to, record_key_name(key));
	g_string_append_c(to, '=');
}

static void put_realtime(GString *to, const ChangeTime *t)
{
	put_key(to, RECORD_KEY_TIME);
	number_put(to, t->realtime_usec, 1);
}

static void put_name(GString *to, const char *device, uint32_t port)
{
	g_string_append_c(to, ' ');
	word_put(to, device);
	if (port) {
		g_string_append_c(to, '/');
		number_put(to, port, 1);
	}
}

static void begin_line(Lines *l, ScenarioVerb verb)
{
	l->begin = l->to->len;
	put_time(l->to, l->time);
	l->command = l->to->len;
	g_string_append(l->to, scenario_verb_name(verb));
	put_name(l->to, l->device, l->port);
}

static void end_line(Lines *l)
{
	g_string_append_c(l->to, '\n');
	l->begin = l->to->len;
}

/* Settings */

/* Begins a setting, whose value the caller adds, and the quotation mark that ends it. */
static void begin_setting(Lines *l, const char *key)
{
	if (!l->time) {
		g_string_append(l->to, key);
		g_string_append(l->to, " = ");
		return;
	}
	if (l->to->len - l->begin > LINE_LONG) {
		end_line(l);
		begin_line(l, VERB_SET);
	} else if (l->to->len == l->begin) {
		begin_line(l, VERB_SET);
	}
	g_string_append(l->to, " \"");
	g_string_append(l->to, key);
	g_string_append_c(l->to, '=');
}

static void end_setting(Lines *l)
{
	g_string_append_c(l->to, l->time ? '"' : '\n');
}

static void put_number(Lines *l, const char *key, int64_t value)
{
	begin_setting(l, key);
	g_string_append_printf(l->to, "%" PRId64, value);
	end_setting(l);
}

/* A row that is not supplied has an empty value. */
static void put_row(Lines *l, const Attribute *row, const void *values, bool is_supplied)
{
	begin_setting(l, row->field);
	if (is_supplied)
		row_text_put(l->to, row, values);
	end_setting(l);
}

static bool entry_differs(const Table *a, const Table *b, uint32_t i)
{
	return !a || i >= a->n ||
	       memcmp(a->entries + (size_t)i * a->entry_size,
		      b->entries + (size_t)i * b->entry_size, b->entry_size) != 0;
}

/* The table TABLE of ROW, which was WAS. */
static void put_table(Lines *l, const Attribute *row, const Table *was, const Table *table,
		      bool is_supplied)
{
	const TableLayout *layout = table_layout(row->type);
	char key[48];

	snprintf(key, sizeof(key), "%s.n", row->field);
	begin_setting(l, key);
	if (is_supplied)
		g_string_append_printf(l->to, "%u", table ? table->n : 0);
	end_setting(l);
	for (uint32_t i = 0; is_supplied && table && i < table->n; i++) {
		if (!entry_differs(was, table, i))
			continue;
		snprintf(key, sizeof(key), "%s.%u", row->field, i);
		begin_setting(l, key);
		entry_text_put(l->to, layout, table->entries + (size_t)i * table->entry_size);
		end_setting(l);
	}
}

/* Rows */

/* A scalar row that a source supplies. */
static _always_inline_ bool is_of_source(const Attribute *a)
{
	return attr_is_of_source(a) && a->size > 0;
}

static bool is_recorded(PortTable t)
{
	return t != PORT_TABLE_COUNTERS && t != PORT_TABLE_USERS && t != PORT_TABLE_FINDINGS;
}

/* Puts the rows IS of TABLE, if they are others than WAS. */
static void put_rows(Lines *l, const Attribute *table, const char *key, const AttrMask *was,
		     const AttrMask *is)
{
	const AttrMask others = mask_xor(*was, *is);
	const char *separator = "";

	if (mask_is_empty(&others))
		return;
	begin_setting(l, key);
	MASK_FOREACH(a, *is)
	{
		g_string_append_printf(l->to, "%s%s", separator, table[a].field);
		separator = ",";
	}
	end_setting(l);
}

/* Puts the words of an answer beside the values. */
static void put_answer(Lines *l, const PortSnapshot *was, const PortSnapshot *is)
{
	if (was->parts != is->parts)
		put_number(l, "answer.parts", is->parts);
	if (was->failed != is->failed)
		put_number(l, "answer.failed", is->failed);
	if (was->open_error != is->open_error)
		put_number(l, "answer.open_error", is->open_error);
	if (was->no_neighbor != is->no_neighbor) {
		begin_setting(l, "answer.no_neighbor");
		g_string_append(l->to, is->no_neighbor ? is->no_neighbor->code : "");
		end_setting(l);
	}
	put_rows(l, port_attributes, "answer.unmeasured", &was->unmeasured, &is->unmeasured);
	put_rows(l, port_attributes, "answer.unanswered", &was->unanswered, &is->unanswered);
}

/* Whether row A is another one in IS than in WAS. */
static bool row_differs(PortAttr a, const PortSnapshot *was, const PortSnapshot *is)
{
	bool is_supplied = mask_has(&is->supplied, a);

	return is_supplied != mask_has(&was->supplied, a) ||
	       (is_supplied && !attr_is_equal(&port_attributes[a], &was->values, &is->values));
}

/* The rows of source that are other ones in IS than in WAS. */
static void put_values(Lines *l, const PortSnapshot *was, const PortSnapshot *is)
{
	MASK_FOREACH(a, port_rows(is_of_source))
	if (row_differs(a, was, is))
		put_row(l, &port_attributes[a], &is->values, mask_has(&is->supplied, a));
}

/* A row of source whose value can have been published, or be published later. */
static _always_inline_ bool is_told(const Attribute *a)
{
	return is_of_source(a) && a->class != CLASS_COUNTER;
}

/* Whether table T, which a snapshot shares with the one before while it is the same, is another
 * one. */
static bool table_differs(PortTable t, const PortSnapshot *was, const PortSnapshot *is)
{
	PortAttr a = port_table_attr(t);
	bool is_supplied = mask_has(&is->supplied, a);

	return is_recorded(t) && (is_supplied != mask_has(&was->supplied, a) ||
				  (is_supplied && was->tables[t] != is->tables[t]));
}

bool change_is_silent(const PortChange *c)
{
	const PortSnapshot *was = &c->was, *is = &c->port->now;
	AttrMask others = mask_or(mask_xor(was->unmeasured, is->unmeasured),
				  mask_xor(was->unanswered, is->unanswered));

	if (was->parts != is->parts || was->failed != is->failed ||
	    was->open_error != is->open_error || !mask_is_empty(&others))
		return true;
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++)
		if (table_differs(t, was, is))
			return true;
	MASK_FOREACH(a, port_rows(is_told))
	if (row_differs(a, was, is))
		return true;
	return false;
}

/* All of a port. IS_BACK: where the record is played a port of this name has been before, and its
 * history with the count of link downs is known. */
static void put_port(Lines *l, const PortSnapshot *is, bool is_back)
{
	const PortSnapshot none = {};

	put_answer(l, &none, is);
	put_values(l, &none, is);
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++)
		if (is_recorded(t))
			put_table(l, &port_attributes[port_table_attr(t)], NULL, is->tables[t],
				  mask_has(&is->supplied, port_table_attr(t)));
	MASK_FOREACH(a, port_rows(row_is_count))
	if (!(is_back && a == PORT_ATTR_link_downs))
		put_row(l, &port_attributes[a], &is->values, true);
}

/* The rows ROWS of D, which was WAS before. */
static void put_device_rows(Lines *l, const DeviceSnapshot *was, const Device *d,
			    const AttrMask *rows)
{
	if (was->open_error != d->now.open_error)
		put_number(l, "answer.open_error", d->now.open_error);
	put_rows(l, device_attributes, "answer.unanswered", &was->unanswered, &d->now.unanswered);
	MASK_FOREACH(a, *rows)
	{
		const Attribute *row = &device_attributes[a];
		DeviceTable t = attr_device_table(row->type);
		bool is_supplied = mask_has(&d->now.supplied, a);

		if (t < _DEVICE_TABLE_MAX)
			put_table(l, row, was->tables[t], d->now.tables[t], is_supplied);
		else if (is_of_source(row) && a != DEVICE_ATTR_name && a != DEVICE_ATTR_port_count)
			put_row(l, row, &d->now.values, is_supplied);
	}
}

static void put_device(Lines *l, const Device *d)
{
	static const DeviceSnapshot nothing;
	AttrMask rows = d->now.supplied;

	put_device_rows(l, &nothing, d, &rows);
}

/* Sections */

void change_put_head(GString *to, const ChangeHead *head)
{
	g_string_append_printf(to,
			       "# rdmad record %u\n# realtime %" PRIu64 "\n# monotonic %" PRIu64
			       "\n# boot %s\n# begins %s\n",
			       RECORD_FORMAT, head->realtime_usec, head->monotonic_usec, head->boot,
			       head->begins);
}

void change_put_sections(GString *to, const Device *d)
{
	Lines l = {.to = to};

	g_string_append(to, "[device");
	put_name(to, TEXT_OF(&d->now.values, name), 0);
	g_string_append_printf(to, "]\nrecorded = yes\nindex = %u\nports = %u\n", d->index,
			       d->n_ports);
	put_device(&l, d);
	for (uint32_t i = 0; i < d->n_ports; i++) {
		g_string_append(to, "[port");
		put_name(to, TEXT_OF(&d->now.values, name), d->ports[i]->number);
		g_string_append(to, "]\n");
		put_port(&l, &d->ports[i]->now, false);
	}
}

void change_put_script(GString *to)
{
	g_string_append(to, "[script]\n");
}

/* The script */

static Lines lines(GString *to, const ChangeTime *t, const char *device, uint32_t port)
{
	return (Lines){.to = to, .time = t, .device = device, .port = port, .begin = to->len};
}

static void put_reasons(GString *to, uint32_t reasons)
{
	bool first = true;

	for (EventReason r = 0; r < _REASON_MAX; r++)
		if (reasons & REASON_BIT(r)) {
			if (first)
				put_key(to, RECORD_KEY_REASONS);
			else
				g_string_append_c(to, ',');
			g_string_append(to, event_reason_name(r));
			first = false;
		}
}

/* The step that has what was set published: the line in which it is set last, if there is one. */
static void answer(Lines *l, uint32_t reasons)
{
	if (l->to->len > l->begin) {
		g_string_erase(l->to, (gssize)l->command,
			       (gssize)strlen(scenario_verb_name(VERB_SET)));
		g_string_insert(l->to, (gssize)l->command, scenario_verb_name(VERB_ANSWER));
	} else {
		begin_line(l, VERB_ANSWER);
	}
	put_realtime(l->to, l->time);
	put_reasons(l->to, reasons);
}

static const char *error_name(int error)
{
	const char *name = strerrorname_np(-error);

	return name ? name : "EIO";
}

static void put_error(Lines *l, int error, const char *code, const char *text)
{
	answer(l, 0);
	put_key(l->to, RECORD_KEY_ERROR);
	g_string_append(l->to, error_name(error));
	put_key(l->to, RECORD_KEY_CODE);
	g_string_append(l->to, code);
	put_key(l->to, RECORD_KEY_TEXT);
	word_put(l->to, text);
}

static void put_yes(GString *to, RecordKey key)
{
	put_key(to, key);
	g_string_append(to, "yes");
}

void change_put_errors(GString *to, const ChangeTime *t, const Device *d)
{
	Lines l = lines(to, t, TEXT_OF(&d->now.values, name), 0);

	if (d->now.values.stale) {
		put_error(&l, d->now.query_error, TEXT_OF(&d->now.values, last_error_code),
			  TEXT_OF(&d->now.values, last_error));
		end_line(&l);
	}
	for (uint32_t i = 0; i < d->n_ports; i++)
		if (d->ports[i]->now.values.stale)
			change_put_port_error(to, t, TEXT_OF(&d->now.values, name), d->ports[i]);
}

void change_put_added(GString *to, const ChangeTime *t, const Device *d)
{
	Lines l = lines(to, t, TEXT_OF(&d->now.values, name), 0);

	begin_line(&l, VERB_ADD);
	put_yes(to, RECORD_KEY_RECORDED);
	g_string_append_printf(to, " index=%u ports=%u", d->index, d->n_ports);
	end_line(&l);
	put_device(&l, d);
	if (d->now.values.stale) {
		put_error(&l, d->now.query_error, TEXT_OF(&d->now.values, last_error_code),
			  TEXT_OF(&d->now.values, last_error));
	} else {
		answer(&l, REASON_BIT(REASON_DEVICE));
	}
	end_line(&l);
}

void change_put_first(GString *to, const ChangeTime *t, const char *name, uint32_t number,
		      const PortSnapshot *is, bool is_back, uint32_t reasons, bool is_open)
{
	Lines l = lines(to, t, name, number);

	put_port(&l, is, is_back);
	answer(&l, reasons);
	if (is_open)
		put_yes(to, RECORD_KEY_OPEN);
	end_line(&l);
}

void change_put_asked(GString *to, const ChangeTime *t, const char *name)
{
	Lines l = lines(to, t, name, 0);

	begin_line(&l, VERB_ASKED);
	put_realtime(to, t);
	end_line(&l);
}

void change_put_removed(GString *to, const ChangeTime *t, const char *name)
{
	Lines l = lines(to, t, name, 0);

	begin_line(&l, VERB_REMOVE);
	put_realtime(to, t);
	end_line(&l);
}

void change_put_renamed(GString *to, const ChangeTime *t, const char *was, const DeviceChange *c,
			const AttrMask *rows)
{
	const Device *d = c->device;
	Lines l = lines(to, t, was, 0);

	/* what the list of devices says with the name is published with it */
	put_device_rows(&l, &c->was, d, rows);
	if (to->len > l.begin)
		end_line(&l);
	begin_line(&l, VERB_RENAME);
	put_name(to, TEXT_OF(&d->now.values, name), 0);
	put_realtime(to, t);
	end_line(&l);
}

void change_put_device(GString *to, const ChangeTime *t, const DeviceChange *c,
		       const AttrMask *rows)
{
	const Device *d = c->device;
	Lines l = lines(to, t, TEXT_OF(&d->now.values, name), 0);
	bool is_stale = d->now.values.stale;

	put_device_rows(&l, &c->was, d, rows);
	if (is_stale &&
	    (mask_has(rows, DEVICE_ATTR_stale) || mask_has(rows, DEVICE_ATTR_last_error) ||
	     mask_has(rows, DEVICE_ATTR_last_error_code))) {
		put_error(&l, d->now.query_error, TEXT_OF(&d->now.values, last_error_code),
			  TEXT_OF(&d->now.values, last_error));
	} else {
		answer(&l, 0);
		/* it still does not answer */
		if (is_stale)
			put_yes(to, RECORD_KEY_LISTED);
	}
	end_line(&l);
}

void change_put_port(GString *to, const ChangeTime *t, const char *name, const PortChange *c,
		     const PortSnapshot *is)
{
	Lines l = lines(to, t, name, c->port->number);

	put_answer(&l, &c->was, is);
	put_values(&l, &c->was, is);
	for (PortTable k = 0; k < _PORT_TABLE_MAX; k++)
		if (table_differs(k, &c->was, is))
			put_table(&l, &port_attributes[port_table_attr(k)], c->was.tables[k],
				  is->tables[k], mask_has(&is->supplied, port_table_attr(k)));
	answer(&l, c->reasons);
	if (c->is_open)
		put_yes(to, RECORD_KEY_OPEN);
	end_line(&l);
}

void change_put_port_error(GString *to, const ChangeTime *t, const char *name, const Port *p)
{
	Lines l = lines(to, t, name, p->number);

	put_error(&l, p->now.query_error, TEXT_OF(&p->now.values, last_error_code),
		  TEXT_OF(&p->now.values, last_error));
	end_line(&l);
}

void change_put_noted(GString *to, const ChangeTime *t, const char *name, uint32_t number,
		      EventReason reason)
{
	Lines l = lines(to, t, name, number);

	begin_line(&l, VERB_NOTED);
	put_realtime(to, t);
	put_reasons(to, REASON_BIT(reason));
	end_line(&l);
}

static void put_setting(Lines *l, const char *key, const char *word)
{
	if (!*word)
		return;
	begin_setting(l, key);
	word_put(l->to, word);
	end_setting(l);
}

void change_put_finding(GString *to, const ChangeTime *t, const char *name, uint32_t number,
			const PastFinding *f)
{
	Lines l = lines(to, t, name, number);

	begin_line(&l, VERB_FINDING);
	put_realtime(to, t);
	put_setting(&l, "check", f->check);
	put_setting(&l, "is", f->until ? "ended" : f->acknowledged ? "acknowledged" : "began");
	put_setting(&l, "severity", decode_name(ATTR_VERDICT, f->severity) ?: "");
	put_setting(&l, "attribute", f->attribute);
	put_setting(&l, "cause", f->cause);
	end_line(&l);
}
