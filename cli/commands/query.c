/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl query: reads a port from the hardware and prints the fields of the C structures as
 * numbers, with their meaning. */

#include "bus.h"
#include "commands.h"
#include "format.h"
#include "json.h"
#include "names.h"
#include "selection.h"
#include "terminal.h"

static uint64_t arg_max_age_usec; /* 0: ask the hardware */

/* clang-format off */
const Option query_options[] = {
	{"max-age", 0, "SEC", "Accept values that are not older than this", option_seconds, &arg_max_age_usec, "seconds, such as 0.5", 0},
	{},
};
/* clang-format on */

typedef struct Field {
	const char *name;
	const Attribute *row; /* NULL: the field comes from a newer rdmad */
	const Value *value;
} Field;

/* Finds the next field of DICT: first the fields of the attribute table in its order, then the
 * others. *POSITION is 0 at first. Returns false at the end. */
static bool next_field(const Value *dict, size_t *position, Field *ret)
{
	PortAttr a;

	for (; *position < _PORT_ATTR_MAX; (*position)++) {
		const Attribute *row = &port_attributes[*position];
		const Value *v = value_lookup(dict, row->field);

		if (v) {
			(*position)++;
			*ret = (Field){row->field, row, v};
			return true;
		}
	}
	while (*position < _PORT_ATTR_MAX + dict->n / 2) {
		const Value *pair = &dict->items[(*position - _PORT_ATTR_MAX) * 2];

		(*position)++;
		if (port_attr_from_field(value_text(pair), &a) < 0) {
			*ret = (Field){value_text(pair), NULL, pair + 1};
			return true;
		}
	}
	return false;
}

/* Turns the raw number V of row A into the value that is published. -ERANGE if the number has no
 * meaning that is known. */
static int publish(const Attribute *a, const Value *v, Value *ret)
{
	PortValues values = {};
	AttrValue published;
	int r;

	attr_set_raw(a, &values, v->type == VALUE_BOOL ? v->boolean : v->number);
	r = attr_publish(a, &values, &published);
	return r < 0 ? r : value_take(&published, ret);
}

/* The meaning of the number; "" if that would be the same number again. */
static char *field_meaning(const Field *f)
{
	_cleanup_value_ Value published = {};
	char *meaning, *plain;
	int r;

	if (!f->row || f->row->size == 0 ||
	    (f->value->type != VALUE_UNSIGNED && f->value->type != VALUE_BOOL))
		return strdup("");
	r = publish(f->row, f->value, &published);
	if (r == -ENOMEM)
		return NULL;
	if (r < 0)
		return strdup("unknown");
	meaning = format_value(f->row, &published);
	plain = format_entry(f->value);
	if (meaning && plain && streq(meaning, plain))
		*meaning = '\0';
	free(plain);
	return meaning;
}

/* Prints three columns. The last one is broken into lines between words; libsmartcols would break
 * it within a word. */
static ExitStatus print_fields(Context *c, const Value *dict)
{
	int name_width = (int)strlen("FIELD"), value_width = (int)strlen("VALUE");
	size_t position = 0;
	Field field;

	while (next_field(dict, &position, &field)) {
		_cleanup_free_ char *value = format_entry(field.value);

		if (!value)
			return out_of_memory();
		name_width = MAX(name_width, (int)strlen(field.name));
		/* text is long and has no meaning beside it: it does not widen the column */
		if (field.value->type != VALUE_TEXT)
			value_width = MAX(value_width, (int)strlen(value));
	}
	fprintf(c->out, "%-*s %*s MEANING\n", name_width, "FIELD", value_width, "VALUE");
	position = 0;
	while (next_field(dict, &position, &field)) {
		_cleanup_free_ char *value = format_entry(field.value);
		_cleanup_free_ char *meaning = field_meaning(&field);

		if (!value || !meaning)
			return out_of_memory();
		fprintf(c->out, "%-*s %*s%s", name_width, field.name,
			field.value->type == VALUE_TEXT ? 0 : value_width, value,
			*meaning ? " " : "");
		terminal_print_wrapped(c, meaning, (unsigned int)(name_width + value_width) + 2);
	}
	return STATUS_OK;
}

static void print_json(Context *c, const Object *port, const Value *dict)
{
	size_t position = 0;
	Field field;

	json_open_port(c->out, port);
	json_key(c->out, "Fields");
	json_open(c->out);
	while (next_field(dict, &position, &field)) {
		json_entry_line(c->out);
		json_text(c->out, field.name);
		fputs(": ", c->out);
		json_value(c->out, field.row ? field.row->type : ATTR_U32, field.value);
	}
	fputs("\n  ", c->out);
	json_close(c->out);
	json_close(c->out);
}

/* Makes V, the value of FIELD, its text if it is a list. */
static int join_field(const char *field, Value *v)
{
	PortAttr a;

	return port_attr_from_field(field, &a) < 0 ? 0 : value_join(port_attributes[a].type, v);
}

static ExitStatus ask(Context *c, const Object *port, Value *ret)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	char name[96];
	/* of an array with 0 elements, what follows is not read */
	int r = sd_bus_call_method(c->bus, RDMAD_BUS_NAME, port->path, RDMAD_INTERFACE_PORT,
				   "Query", &error, &reply, "a{sv}", arg_max_age_usec > 0 ? 1 : 0,
				   "max-age-usec", "t", arg_max_age_usec);

	if (r >= 0)
		r = value_read(reply, ret);
	if (r >= 0 && ret->type != VALUE_DICT)
		r = -EBADMSG;
	for (size_t i = 0; r >= 0 && i + 1 < ret->n; i += 2)
		r = join_field(value_text(&ret->items[i]), &ret->items[i + 1]);
	return r < 0 ? bus_complain(object_name(port, name), &error, r) : STATUS_OK;
}

static ExitStatus print_port(Context *c, _unused_ const Selection *s, const Object *port, size_t n,
			     bool heading)
{
	_cleanup_value_ Value dict = {};
	ExitStatus status = ask(c, port, &dict);
	char name[96];

	if (status != STATUS_OK)
		return status;
	if (c->json) {
		json_next(c->out);
		print_json(c, port, &dict);
		return STATUS_OK;
	}
	if (heading)
		fprintf(c->out, "%s%s%s%s\n", n > 0 ? "\n" : "", terminal_color(c, "bold"),
			object_name(port, name), terminal_plain(c));
	return print_fields(c, &dict);
}

ExitStatus query_command(Context *c)
{
	return selection_print(c, 0, selection_names, print_port);
}
