/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "expect.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <strings.h>

#include "counters.h"
#include "decode.h"
#include "format.h"
#include "parse.h"
#include "suggestion.h"

/* Limits for a file; one that was written by hand is far smaller. */
#define LINES_MAX 65536U

static const char *const order_signs[_ORDER_MAX] = {"=", "<", "<=", ">", ">="};

/* Where a line stands. */
typedef struct Place {
	const char *text; /* "--expect Rate=x" or "FILE:LINE" */
	size_t section;	  /* as in Expectation */
	bool is_heading;
} Place;

/* Says what is wrong with an argument. Returns -EINVAL. */
static int refuse(Expectations *e, const char *format, ...) _printf_(2, 3);
static int refuse(Expectations *e, const char *format, ...)
{
	va_list ap;
	int n;

	free(e->error);
	va_start(ap, format);
	n = vasprintf(&e->error, format, ap);
	va_end(ap);
	if (n >= 0)
		return -EINVAL;
	e->error = NULL;
	return -ENOMEM;
}

/* Values */

/* Whether a larger value than the expected one is as good. */
static bool is_least(const Attribute *a)
{
	return unit_rows[a->unit].is_least || a->type == ATTR_SPEED;
}

static bool is_one_of(const char *const *names, const char *text)
{
	for (size_t i = 0; names && names[i]; i++)
		if (strcasecmp(names[i], text) == 0)
			return true;
	return false;
}

/* Whether all names in TEXT, separated by commas, are names of capabilities of TYPE. */
static bool are_capabilities(AttrType type, const char *text)
{
	PortValues values;
	const Attribute row = {.type = type, .size = sizeof(uint32_t)};

	return *text && attr_parse(&row, &values, text) == 0;
}

/* Whether the published value of the row is a number. */
static bool is_number(const Attribute *a)
{
	const char *signature = attr_signature(a->type);

	return streq(signature, "u") || streq(signature, "t");
}

/* Whether the row is text that has an order: 28.9 comes before 28.36. */
static bool is_version(const Attribute *a)
{
	return a == &device_attributes[DEVICE_ATTR_fw_ver];
}

/* Checks TEXT as a value of row A. Returns NULL if it is one, and otherwise what is expected,
 * perhaps in BUFFER. */
static const char *parse_value(const Attribute *a, const char *text, uint64_t *ret_number,
			       char buffer[256])
{
	const char *signature = attr_signature(a->type);
	const char *const *names = attr_type_names(a->type);
	uint32_t code;
	size_t n = 0;

	*ret_number = 0;
	if (a->unit == UNIT_BITS_PER_S)
		return parse_rate(text, ret_number) ? NULL : "a rate with its unit, such as 400G";
	if (strchr("uti", signature[0]))
		return text_to_u64(text, UINT64_MAX, ret_number) == 0 ? NULL : "a number";
	if (streq(signature, "b")) {
		*ret_number = streq(text, "yes");
		return streq(text, "yes") || streq(text, "no") ? NULL : "yes or no";
	}
	if (a->type == ATTR_GUID)
		return guid_parse(text, ret_number) == 0 ? NULL
							 : "a GUID such as 0002:c903:00ab:cdef";
	if (streq(signature, "as") && !attr_is_list(a->type))
		return are_capabilities(a->type, text) ? NULL
						       : "names of capabilities with ',' between";
	if (a->type == ATTR_SPEED && decode_value(a->type, text, &code) == 0)
		*ret_number = code;
	if (!names || is_one_of(names, text))
		return *text ? NULL : "a value";
	buffer[0] = '\0';
	for (size_t i = 0; names[i] && n < 256; i++)
		n += (size_t)snprintf(buffer + n, 256 - n, "%s%s", i > 0 ? ", " : "", names[i]);
	return buffer;
}

bool expect_accepts(const Attribute *a, const char *text)
{
	uint64_t number;
	char buffer[256];

	return text[0] && !strchr(" \t", text[0]) && !strchr(" \t", text[strlen(text) - 1]) &&
	       !parse_value(a, text, &number, buffer);
}

/* Lines */

/* Keeps TEXT for as long as E; NULL without memory. */
static const char *keep(Expectations *e, const char *text)
{
	if (!array_grow(e->texts, e->n_texts))
		return NULL;
	e->texts[e->n_texts] = strdup(text);
	return e->texts[e->n_texts] ? e->texts[e->n_texts++] : NULL;
}

static int append(Expectations *e, const Place *place, Expectation item)
{
	if (!array_grow(e->items, e->n))
		return -ENOMEM;
	item.section = place->section;
	item.text = keep(e, item.text);
	item.place = strdup(place->text);
	if (!item.text || !item.place) {
		free(item.place);
		return -ENOMEM;
	}
	e->items[e->n++] = item;
	return 0;
}

static int add_ignore(Expectations *e, const Place *place, const char *value)
{
	_cleanup_free_ char *names = strdup(value);
	char *rest = names, *name;

	if (!names)
		return -ENOMEM;
	if (!*value)
		return refuse(e, "%s: Ignore: expected names of checks; see rdmactl check --list",
			      place->text);
	while ((name = strsep(&rest, ", "))) {
		int r;

		if (!*name)
			continue;
		if (!e->is_check(name))
			return refuse(e,
				      "%s: Ignore: unknown check \"%s\"; see rdmactl check --list",
				      place->text, name);
		r = append(e, place, (Expectation){.kind = EXPECT_IGNORE, .text = name});
		if (r < 0)
			return r;
	}
	return 0;
}

/* The name of the counter that KEY stands for; NULL if it is none. */
static const char *find_counter(const char *key)
{
	const char *any = startswith(key, "hw_counter.");

	for (size_t i = 0; !any && i < n_counter_rows; i++)
		if (streq(counter_rows[i].name, key))
			any = counter_rows[i].name;
	return any && *any ? any : NULL;
}

/* Reads "10", or "10/1h"; of the former *RET_USEC is 0. */
static bool parse_growth(const char *text, uint64_t *ret_number, uint64_t *ret_usec)
{
	const char *slash = strchr(text, '/');
	char number[24];

	*ret_usec = 0;
	text_copy(number, MIN(sizeof(number), slash ? (size_t)(slash - text) + 1 : sizeof(number)),
		  text);
	return text_to_u64(slash ? number : text, UINT64_MAX, ret_number) == 0 &&
	       (!slash || (parse_duration(slash + 1, ret_usec) && *ret_usec > 0));
}

static int refuse_key(Expectations *e, const Place *place, const char *key)
{
	Suggestion suggestion = suggestion_for(key);

	suggestion_offer_attributes(&suggestion);
	for (size_t i = 0; i < n_counter_rows; i++)
		suggestion_offer(&suggestion, counter_rows[i].name);
	return refuse(e,
		      "%s: unknown key \"%s\"; expected an attribute such as Rate, a counter, "
		      "Ports or Ignore%s",
		      place->text, key, suggestion_text(&suggestion));
}

static int add_pair(Expectations *e, const Place *place, const char *key, ExpectationOrder order,
		    const char *value)
{
	Expectation item = {.kind = place->is_heading ? EXPECT_CONDITION : EXPECT_ATTRIBUTE,
			    .text = value,
			    .order = order};
	const char *expected = NULL, *counter = find_counter(key);
	bool ordered = true;
	char buffer[256];

	if (place->is_heading && !object_find_row(key, &item.of_device))
		return refuse(e, "%s: \"%s\": expected an attribute such as Function in a heading",
			      place->text, key);
	if (streq(key, "Ignore") && order == ORDER_EQUAL)
		return add_ignore(e, place, value);
	if (streq(key, "Ports") || streq(key, "Ignore")) {
		item.kind = EXPECT_PORTS;
		ordered = false;
		if (text_to_u64(value, UINT32_MAX, &item.number) < 0)
			expected = "a number of ports";
	} else if (counter) {
		item.kind = EXPECT_COUNTER;
		item.counter = keep(e, counter);
		if (!item.counter)
			return -ENOMEM;
		if (!parse_growth(value, &item.number, &item.per_usec))
			expected = "a number, or a number in a time such as 10/1h";
	} else {
		item.row = object_find_row(key, &item.of_device);
		if (!item.row)
			return refuse_key(e, place, key);
		if (item.row->type == ATTR_UNAVAILABLE || item.row->type == ATTR_DEVICE_PATH)
			return refuse(e, "%s: %s cannot be expected", place->text, key);
		ordered = is_number(item.row) || is_version(item.row);
		expected = parse_value(item.row, value, &item.number, buffer);
	}
	if (order != ORDER_EQUAL && !ordered)
		return refuse(e, "%s: %s is no number: expected %s = VALUE", place->text, key, key);
	if (!expected)
		return append(e, place, item);
	return refuse(e, "%s: %s %s \"%s\": expected %s", place->text, key, order_signs[order],
		      value, expected);
}

/* Splits "KEY = VALUE" or "KEY < VALUE"; false if no such sign is there. */
static bool split(char *text, char **ret_key, ExpectationOrder *ret_order, char **ret_value)
{
	char *sign = strpbrk(text, "=<>");
	ExpectationOrder order = ORDER_EQUAL;

	if (!sign)
		return false;
	/* the longer signs are behind the shorter ones that they begin with */
	for (ExpectationOrder o = 0; o < _ORDER_MAX; o++)
		if (startswith(sign, order_signs[o]))
			order = o;
	*ret_order = order;
	*ret_value = text_trim(sign + strlen(order_signs[order]));
	*sign = '\0';
	*ret_key = text_trim(text);
	return true;
}

/* TEXT is a pattern, or attributes with ',' between, of which one can be a pattern. */
static int add_heading(Expectations *e, Place *place, char *text)
{
	Place heading = {place->text, e->n + 1, true};
	bool is_pattern = !strpbrk(text, "=<>");
	ExpectationOrder order;
	char *key, *value;
	int r;

	place->section = heading.section;
	r = append(e, place, (Expectation){.kind = EXPECT_SECTION, .text = text});
	while (r == 0 && text) {
		/* a pattern can have ',' in brackets */
		char *part = is_pattern ? text : strsep(&text, ",");
		const char **glob = &e->items[heading.section - 1].glob;

		if (is_pattern)
			text = NULL;
		if (split(part, &key, &order, &value)) {
			r = add_pair(e, &heading, key, order, value);
			continue;
		}
		part = text_trim(part);
		if (*glob || !*part)
			return refuse(e, "%s: \"%s\": a heading has one name, and attributes",
				      place->text, part);
		*glob = keep(e, part);
		r = *glob ? 0 : -ENOMEM;
	}
	return r;
}

static int add_line(Expectations *e, Place *place, char *line)
{
	size_t n = strlen(line);
	ExpectationOrder order;
	char *key, *value;

	if (n == 0 || line[0] == '#' || line[0] == ';')
		return 0;
	if (line[0] == '[') {
		if (n < 3 || line[n - 1] != ']')
			return refuse(
				e,
				"%s: \"%s\": expected [PORT] with the name of a port, such as "
				"[mlx5_*/1], or attributes, such as [Function = vf]",
				place->text, line);
		line[n - 1] = '\0';
		return add_heading(e, place, line + 1);
	}
	if (split(line, &key, &order, &value))
		return add_pair(e, place, key, order, value);
	return refuse(e, "%s: \"%s\": expected KEY = VALUE, [PORT] or a comment after #",
		      place->text, line);
}

static int add_file(Expectations *e, const char *path)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	char line[EXPECT_LINE_MAX];
	Place place = {};
	int r = 0;

	if (!f)
		return refuse(e, "--expect %s: %s; expected a file, or KEY=VALUE", path,
			      strerror(errno));
	for (unsigned int n = 1; r == 0 && fgets(line, sizeof(line), f); n++) {
		_cleanup_free_ char *text = NULL;

		if (asprintf(&text, "%s:%u", path, n) < 0)
			return -ENOMEM;
		place.text = text;
		if (n > LINES_MAX || (!strchr(line, '\n') && strlen(line) == sizeof(line) - 1))
			return refuse(e, "%s: the %s is too long", text,
				      n > LINES_MAX ? "file" : "line");
		r = add_line(e, &place, text_trim(line));
	}
	if (r == 0 && ferror(f))
		return refuse(e, "--expect %s: %s", path, strerror(errno));
	return r;
}

static int add_argument(Expectations *e, const char *argument)
{
	_cleanup_free_ char *copy = strdup(argument), *text = NULL;
	ExpectationOrder order;
	char *key, *value;

	if (!copy || asprintf(&text, "--expect %s", argument) < 0)
		return -ENOMEM;
	/* ARGUMENT is a path if there is no sign, or if a '/' comes before it. For a file called
	 * a=b write ./a=b. */
	if (strcspn(argument, "/") < strcspn(argument, "=<>") ||
	    !split(copy, &key, &order, &value)) {
		e->given = true;
		return add_file(e, argument);
	}
	e->given |= !streq(key, "Ignore");
	return add_pair(e, &(Place){.text = text}, key, order, value);
}

/* Forgets the items from N on. */
static void shorten(Expectations *e, size_t n)
{
	while (e->n > n)
		free(e->items[--e->n].place);
}

int expect_add(Expectations *e, const char *argument)
{
	size_t n = e->n;
	int r = add_argument(e, argument);

	if (r < 0)
		shorten(e, n);
	return r;
}

void expectations_done(Expectations *e)
{
	shorten(e, 0);
	for (size_t i = 0; i < e->n_texts; i++)
		free(e->texts[i]);
	free(e->items);
	free(e->texts);
	free(e->error);
	*e = (Expectations){};
}

/* Comparison */

bool expectations_have_rates(const Expectations *e)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->items[i].per_usec)
			return true;
	return false;
}

const char *expectation_heading(const Expectations *e, const Expectation *x)
{
	return x->section ? e->items[x->section - 1].text : NULL;
}

bool expectation_applies(const Expectations *e, const Expectation *x, const Object *port,
			 const Object *device)
{
	const char *glob = x->section ? e->items[x->section - 1].glob : NULL;

	if (glob && !object_matches(port, glob))
		return false;
	for (size_t i = x->section; x->section && i < e->n; i++) {
		const Expectation *condition = &e->items[i];
		const Object *o = condition->of_device ? device : port;

		if (condition->kind != EXPECT_CONDITION)
			break;
		if (!o || !expectation_holds(condition, o))
			return false;
	}
	return true;
}

static bool has_names(const Value *v, const char *list)
{
	for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',') {
		size_t n = strcspn(p, ","), i = 0;

		while (i < v->n && (strncasecmp(value_text(&v->items[i]), p, n) != 0 ||
				    value_text(&v->items[i])[n]))
			i++;
		if (i == v->n)
			return false;
	}
	return true;
}

/* Whether a comparison, which has the sign of DIFFERENCE, is as ORDER says. */
static bool has_order(ExpectationOrder order, int difference)
{
	switch (order) {
	case ORDER_EQUAL:
		return difference == 0;
	case ORDER_LESS:
		return difference < 0;
	case ORDER_LESS_EQUAL:
		return difference <= 0;
	case ORDER_GREATER:
		return difference > 0;
	case ORDER_GREATER_EQUAL:
		return difference >= 0;
	case _ORDER_MAX:
		break;
	}
	return false;
}

static bool means_least(const Expectation *e)
{
	return e->kind == EXPECT_ATTRIBUTE && e->order == ORDER_EQUAL && is_least(e->row);
}

static bool text_holds(const Expectation *e, const char *text)
{
	uint64_t guid;
	uint32_t code;

	if (e->row->type == ATTR_GUID)
		return guid_parse(text, &guid) == 0 && guid == e->number;
	if (e->row->type == ATTR_SPEED)
		return decode_value(ATTR_SPEED, text, &code) == 0 &&
		       (means_least(e) ? code >= e->number : code == e->number);
	/* the numbers in a version are compared as such */
	if (e->order != ORDER_EQUAL)
		return has_order(e->order, strverscmp(text, e->text));
	return fnmatch(e->text, text, FNM_CASEFOLD) == 0;
}

bool expectation_holds_for(const Expectation *e, uint64_t value)
{
	return means_least(e) ? value >= e->number
			      : has_order(e->order, (value > e->number) - (value < e->number));
}

bool expectation_holds(const Expectation *e, const Object *o)
{
	const Value *v = object_value(o, (size_t)(e->row - o->rows));

	if (!v)
		return false;
	switch (v->type) {
	case VALUE_BOOL:
		return v->boolean == (e->number != 0);
	case VALUE_UNSIGNED:
		return expectation_holds_for(e, v->number);
	case VALUE_TEXT:
		return text_holds(e, v->text);
	case VALUE_ARRAY:
		return streq(attr_signature(e->row->type), "as") ? has_names(v, e->text)
								 : value_has_member(v, e->text);
	case VALUE_NONE:
	case VALUE_SIGNED:
	case VALUE_DOUBLE:
	case VALUE_STRUCT:
	case VALUE_DICT:
		break;
	}
	return false;
}

char *expectation_format(const Expectation *e)
{
	static const char *const words[_ORDER_MAX] = {"", "less than ", "at most ", "more than ",
						      "at least "};
	_cleanup_free_ char *text = NULL;
	char *sentence;

	if (e->row && is_number(e->row))
		text = format_value(e->row, &(Value){.type = VALUE_UNSIGNED, .number = e->number});
	else
		text = strdup(e->text);
	if (!text || asprintf(&sentence, "%s%s",
			      words[means_least(e) ? ORDER_GREATER_EQUAL : e->order], text) < 0)
		return NULL;
	return sentence;
}
