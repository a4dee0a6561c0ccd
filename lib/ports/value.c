/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "value.h"

#include <fnmatch.h>

#include "list.h"

void value_done(Value *v)
{
	if (v->type == VALUE_TEXT)
		free(v->text);
	if (v->type >= VALUE_ARRAY) {
		for (size_t i = 0; i < v->n; i++)
			value_done(&v->items[i]);
		free(v->items);
	}
	*v = (Value){};
}

Value *value_append(Value *v)
{
	/* a message of at most 128 MiB bounds the number of the items */
	if (!array_grow(v->items, v->n))
		return NULL;
	v->items[v->n] = (Value){};
	return &v->items[v->n++];
}

int value_set_text(Value *ret, const char *text)
{
	ret->text = strdup(text);
	if (!ret->text)
		return -ENOMEM;
	ret->type = VALUE_TEXT;
	return 0;
}

static int read_text(const char *text, Value *ret)
{
	int r = value_set_text(ret, text);

	if (r < 0)
		return r;
	text_sanitize(ret->text, strlen(ret->text) + 1);
	return 1;
}

/* A number that is not negative is the same whether its type has a sign or not. */
static Value signed_value(int64_t number)
{
	if (number < 0)
		return (Value){.type = VALUE_SIGNED, .integer = number};
	return (Value){.type = VALUE_UNSIGNED, .number = (uint64_t)number};
}

/* Sets *RET to the number at P, which has TYPE on the bus. */
static void set_number(char type, const void *p, Value *ret)
{
	switch (type) {
	case SD_BUS_TYPE_BYTE:
		*ret = (Value){.type = VALUE_UNSIGNED, .number = *(const uint8_t *)p};
		break;
	case SD_BUS_TYPE_UINT16:
		*ret = (Value){.type = VALUE_UNSIGNED, .number = *(const uint16_t *)p};
		break;
	case SD_BUS_TYPE_UINT32:
		*ret = (Value){.type = VALUE_UNSIGNED, .number = *(const uint32_t *)p};
		break;
	case SD_BUS_TYPE_UINT64:
		*ret = (Value){.type = VALUE_UNSIGNED, .number = *(const uint64_t *)p};
		break;
	case SD_BUS_TYPE_INT16:
		*ret = signed_value(*(const int16_t *)p);
		break;
	case SD_BUS_TYPE_INT32:
		*ret = signed_value(*(const int32_t *)p);
		break;
	case SD_BUS_TYPE_INT64:
		*ret = signed_value(*(const int64_t *)p);
		break;
	case SD_BUS_TYPE_DOUBLE:
		*ret = (Value){.type = VALUE_DOUBLE, .real = *(const double *)p};
		break;
	case SD_BUS_TYPE_BOOLEAN:
		*ret = (Value){.type = VALUE_BOOL, .boolean = *(const int *)p};
		break;
	}
}

/* Reads what is next, a value of TYPE that holds no others. */
static int read_basic(sd_bus_message *m, char type, Value *ret)
{
	const char *text;
	uint64_t number; /* room for every basic type but strings */
	int r;

	switch (type) {
	case SD_BUS_TYPE_STRING:
	case SD_BUS_TYPE_OBJECT_PATH:
	case SD_BUS_TYPE_SIGNATURE:
		r = sd_bus_message_read_basic(m, type, &text);
		return r < 0 ? r : read_text(text, ret);
	case SD_BUS_TYPE_UNIX_FD:
		return sd_bus_message_skip(m, "h");
	}
	r = sd_bus_message_read_basic(m, type, &number);
	if (r >= 0)
		set_number(type, &number, ret);
	return r;
}

/* Reads what is next. *TYPES are the types from there, as far as they are known, so that the
 * message is asked only for that of a value that holds others. */
static int read_next(sd_bus_message *m, const char **types, Value *ret)
{
	if (**types && strchr("ybnqiuxtdsogh", **types))
		return read_basic(m, *(*types)++, ret);
	*types = "";
	return value_read(m, ret);
}

static int read_container(sd_bus_message *m, char type, const char *contents, Value *ret)
{
	const bool is_array = type == SD_BUS_TYPE_ARRAY, pairs = is_array && contents[0] == '{';
	const char *types = contents;
	int r = sd_bus_message_enter_container(m, type, contents);

	while (r >= 0 && (r = sd_bus_message_at_end(m, false)) == 0) {
		if (is_array)
			types = contents + (int)pairs;
		if (pairs)
			r = sd_bus_message_enter_container(m, SD_BUS_TYPE_DICT_ENTRY, NULL);
		for (int i = 0; r >= 0 && i <= (int)pairs; i++) {
			Value *item = value_append(ret);

			r = item ? read_next(m, &types, item) : -ENOMEM;
		}
		if (r >= 0 && pairs)
			r = sd_bus_message_exit_container(m);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

int value_read(sd_bus_message *m, Value *ret)
{
	const char *contents;
	char type;
	int r = sd_bus_message_peek_type(m, &type, &contents);

	if (r <= 0)
		return r < 0 ? r : -EBADMSG;
	switch (type) {
	case SD_BUS_TYPE_ARRAY:
		ret->type = contents[0] == '{' ? VALUE_DICT : VALUE_ARRAY;
		return read_container(m, type, contents, ret);
	case SD_BUS_TYPE_STRUCT:
		ret->type = VALUE_STRUCT;
		return read_container(m, type, contents, ret);
	case SD_BUS_TYPE_VARIANT:
		r = sd_bus_message_enter_container(m, type, contents);
		if (r >= 0)
			r = read_next(m, &contents, ret);
		return r < 0 ? r : sd_bus_message_exit_container(m);
	}
	return read_basic(m, type, ret);
}

int value_read_count(sd_bus_message *m, Value *ret)
{
	const char *contents;
	uint64_t n = 0;
	char type;
	int r = sd_bus_message_peek_type(m, &type, &contents);

	if (r >= 0 && (type != SD_BUS_TYPE_VARIANT || *contents != SD_BUS_TYPE_ARRAY))
		return value_read(m, ret);
	if (r >= 0)
		r = sd_bus_message_enter_container(m, type, contents);
	if (r >= 0)
		r = sd_bus_message_enter_container(m, SD_BUS_TYPE_ARRAY, contents + 1);
	for (; r >= 0 && (r = sd_bus_message_at_end(m, false)) == 0; n++)
		r = sd_bus_message_skip(m, contents + 1);
	for (int i = 0; r >= 0 && i < 2; i++)
		r = sd_bus_message_exit_container(m);
	if (r >= 0)
		*ret = (Value){.type = VALUE_UNSIGNED, .number = n};
	return r;
}

int value_take(const AttrValue *published, Value *ret)
{
	switch (published->kind) {
	case ATTR_VALUE_BOOL:
		*ret = (Value){.type = VALUE_BOOL, .boolean = published->boolean};
		return 0;
	case ATTR_VALUE_U32:
		*ret = (Value){.type = VALUE_UNSIGNED, .number = published->u32};
		return 0;
	case ATTR_VALUE_U64:
		*ret = (Value){.type = VALUE_UNSIGNED, .number = published->u64};
		return 0;
	case ATTR_VALUE_S32:
		*ret = signed_value(published->s32);
		return 0;
	case ATTR_VALUE_TEXT:
	case ATTR_VALUE_LIST:
		return value_set_text(ret, published->text);
	case ATTR_VALUE_NAMES:
		break;
	}
	ret->type = VALUE_ARRAY;
	for (const char *const *name = published->names; *name; name++) {
		Value *item = value_append(ret);

		if (!item || value_set_text(item, *name) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* An item, or two for a pair. */
static void add_item(ListWriter *w, const Value *item, const Value *second)
{
	if (w->type == ATTR_WORDS && item->type == VALUE_TEXT)
		list_add_word(w, item->text);
	else if (w->type == ATTR_NUMBERS && item->type == VALUE_UNSIGNED)
		list_add_number(w, (uint32_t)item->number);
	else if (second && item->type == VALUE_UNSIGNED && second->type == VALUE_UNSIGNED)
		list_add_pair(w, (uint32_t)item->number, (uint32_t)second->number);
}

int value_join(AttrType type, Value *v)
{
	bool pairs = type == ATTR_PAIRS;
	AttrPath text;
	ListWriter w;
	char *copy;

	/* another version of rdmad may say it in another way */
	if (!attr_is_list(type) || v->type != (pairs ? VALUE_DICT : VALUE_ARRAY))
		return 0;
	list_begin(&w, type, text, sizeof(text));
	for (size_t i = 0; i < v->n; i += 1 + (size_t)pairs)
		add_item(&w, &v->items[i], pairs ? &v->items[i + 1] : NULL);
	list_end(&w);
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	value_done(v);
	*v = (Value){.type = VALUE_TEXT, .text = copy};
	return 0;
}

int value_copy(const Value *v, Value *ret)
{
	_cleanup_value_ Value copy = {};

	if (v->type == VALUE_TEXT) {
		if (value_set_text(&copy, v->text) < 0)
			return -ENOMEM;
	} else if (v->type >= VALUE_ARRAY) {
		copy.type = v->type;
		for (size_t i = 0; i < v->n; i++) {
			Value *item = value_append(&copy);

			if (!item || value_copy(&v->items[i], item) < 0)
				return -ENOMEM;
		}
	} else {
		copy = *v;
	}
	*ret = copy;
	copy = (Value){};
	return 0;
}

bool value_equal(const Value *a, const Value *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case VALUE_NONE:
		return true;
	case VALUE_BOOL:
		return a->boolean == b->boolean;
	case VALUE_UNSIGNED:
		return a->number == b->number;
	case VALUE_SIGNED:
		return a->integer == b->integer;
	case VALUE_DOUBLE:
		return memcmp(&a->real, &b->real, sizeof(a->real)) == 0;
	case VALUE_TEXT:
		return streq(a->text, b->text);
	case VALUE_ARRAY:
	case VALUE_STRUCT:
	case VALUE_DICT:
		break;
	}
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!value_equal(&a->items[i], &b->items[i]))
			return false;
	return true;
}

const Value *value_lookup(const Value *v, const char *key)
{
	if (!v || v->type != VALUE_DICT)
		return NULL;
	for (size_t i = 0; i + 1 < v->n; i += 2)
		if (streq(value_text(&v->items[i]), key))
			return &v->items[i + 1];
	return NULL;
}

const Value *value_tail(const Value *v, size_t at, const char *key)
{
	return v && v->type == VALUE_STRUCT && at < v->n ? value_lookup(&v->items[at], key) : NULL;
}

const char *value_text(const Value *v)
{
	return v && v->type == VALUE_TEXT ? v->text : "";
}

uint64_t value_number(const Value *v)
{
	return v && v->type == VALUE_UNSIGNED ? v->number : 0;
}

bool value_is_true(const Value *v)
{
	return v && v->type == VALUE_BOOL && v->boolean;
}

bool value_has_member(const Value *v, const char *text)
{
	uint64_t number = 0;
	bool is_number = text_to_u64(text, UINT64_MAX, &number) == 0;

	for (size_t i = 0; i < v->n; i++) {
		const Value *entry = &v->items[i];

		for (size_t k = 0; entry->type == VALUE_STRUCT && k < entry->n; k++) {
			const Value *member = &entry->items[k];

			if (member->type == VALUE_TEXT
				    ? fnmatch(text, member->text, 0) == 0
				    : is_number && member->type == VALUE_UNSIGNED &&
					      member->number == number)
				return true;
		}
	}
	return false;
}
