/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The rows of the attribute tables, and their fields among values: numbers and texts. */

#include <assert.h>

#include "row-set.h"

const Attribute port_attributes[_PORT_ATTR_MAX] = {
#define PORT(field, ...) [PORT_ATTR_##field] = {ATTR_ROW(PortValues, field, __VA_ARGS__)},
#include "port-attributes.def"
#undef PORT
};

const Attribute device_attributes[_DEVICE_ATTR_MAX] = {
#define DEVICE(field, ...) [DEVICE_ATTR_##field] = {ATTR_ROW(DeviceValues, field, __VA_ARGS__)},
#include "device-attributes.def"
#undef DEVICE
};

const PortAttr listed_attributes[_LISTED_MAX] = {
#define LISTED(field) [LISTED_##field] = PORT_ATTR_##field,
#include "list-attributes.def"
#undef LISTED
};

/* The first memory for texts is so large, and each later one a multiple of it: what malloc() adds
 * to it makes 64 bytes. */
#define TEXTS_STEP 64U
#define TEXTS_SIZE(bytes)                                                                          \
	((sizeof(Texts) + (bytes) + 8 + TEXTS_STEP - 1) / TEXTS_STEP * TEXTS_STEP - 8)

static Texts *texts_with_room(size_t bytes)
{
	size_t size = TEXTS_SIZE(bytes);
	Texts *t = malloc(size);

	if (!t)
		return NULL;
	*t = (Texts){.holders = 1, .used = 1, .room = (uint16_t)(size - sizeof(Texts))};
	t->bytes[0] = '\0';
	return t;
}

int texts_make(const char *bytes, size_t n, Texts **ret)
{
	Texts *t = NULL;

	if (n > 1) {
		t = texts_with_room(n);
		if (!t)
			return -ENOMEM;
		memcpy(t->bytes, bytes, n);
		t->used = (uint16_t)n;
	}
	*ret = t;
	return 0;
}

void texts_sanitize(Texts *t)
{
	for (size_t i = 1, n; t && i < t->used; i += n) {
		n = strlen(t->bytes + i) + 1;
		text_sanitize(t->bytes + i, n);
	}
}

static void *field_of(const Attribute *a, void *values)
{
	return (char *)values + a->offset;
}

static void set_at(const Attribute *a, void *values, size_t place)
{
	TextAt at = {(uint16_t)place};

	memcpy(field_of(a, values), &at, sizeof(at));
}

/* Puts the N bytes at TEXT behind the texts of T, which has room for them. Returns their place. */
static size_t append(Texts *t, const char *text, size_t n)
{
	size_t place = t->used;

	memcpy(t->bytes + place, text, n);
	t->bytes[place + n] = '\0';
	t->used += (uint16_t)(n + 1);
	return place;
}

/* New texts for VALUES, of which A is a row, with those texts that they have, but for that of A,
 * and room for N bytes more. The old ones are not released. */
static int renew(const Attribute *a, void *values, size_t n)
{
	const Attribute *rows = a->is_of_port ? port_attributes : device_attributes;
	const AttrMask texts = a->is_of_port ? port_rows(row_is_text) : device_rows(row_is_text);
	size_t size = 1 + n;
	Texts *t;

	set_at(a, values, 0);
	MASK_FOREACH(i, texts)
	size += attr_text_at(&rows[i], values).at ? strlen(attr_get_text(&rows[i], values)) + 1 : 0;
	t = texts_with_room(size);
	if (!t)
		return -ENOMEM;
	MASK_FOREACH(i, texts)
	{
		const char *text = attr_get_text(&rows[i], values);

		set_at(&rows[i], values, *text ? append(t, text, strlen(text)) : 0);
	}
	*(Texts **)values = t;
	return 0;
}

uint64_t attr_get_raw(const Attribute *a, const void *values)
{
	const char *p = (const char *)values + a->offset;
	uint32_t u32;
	uint64_t u64;

	if (a->size == sizeof(u32)) {
		memcpy(&u32, p, sizeof(u32));
		return u32;
	}
	assert(a->size == sizeof(u64));
	memcpy(&u64, p, sizeof(u64));
	return u64;
}

void attr_set_raw(const Attribute *a, void *values, uint64_t raw)
{
	char *p = (char *)values + a->offset;
	uint32_t u32 = (uint32_t)raw;

	if (a->size == sizeof(u32)) {
		memcpy(p, &u32, sizeof(u32));
		return;
	}
	assert(a->size == sizeof(raw));
	memcpy(p, &raw, sizeof(raw));
}

int attr_set_text(const Attribute *a, void *values, const char *text)
{
	Texts *t = *(Texts **)values;
	TextAt at = attr_text_at(a, values);
	const char *is = texts_get(t, at);
	size_t n = strnlen(text, a->size - 1U), n_is;

	if (n == 0) {
		set_at(a, values, 0);
		return 0;
	}
	n_is = strlen(is);
	if (n_is == n && memcmp(is, text, n) == 0)
		return 0;
	if (n_is >= n && t->holders == 1) {
		memmove(t->bytes + at.at, text, n);
		memset(t->bytes + at.at + n, 0, n_is - n);
		return 0;
	}
	if (t && t->holders == 1 && t->used + n + 1 <= t->room) {
		set_at(a, values, append(t, text, n));
		return 0;
	}
	if (renew(a, values, n + 1) < 0) {
		set_at(a, values, at.at);
		return -ENOMEM;
	}
	set_at(a, values, append(*(Texts **)values, text, n));
	/* only now: TEXT may be in them */
	texts_release(t);
	return 0;
}

int attr_copy(const Attribute *a, void *to, const void *from)
{
	Texts *theirs = *(Texts *const *)from, **ours = to;

	if (!attr_is_text(a->type)) {
		memcpy(field_of(a, to), (const char *)from + a->offset, a->size);
		return 0;
	}
	if (!*ours)
		*ours = texts_hold(theirs);
	if (*ours != theirs)
		return attr_set_text(a, to, attr_get_text(a, from));
	set_at(a, to, attr_text_at(a, from).at);
	return 0;
}

void attr_clear(const Attribute *a, void *values)
{
	if (attr_is_text(a->type))
		set_at(a, values, 0);
	else
		memset(field_of(a, values), 0, a->size);
}

bool attr_is_equal(const Attribute *a, const void *x, const void *y)
{
	if (attr_is_text(a->type))
		return streq(attr_get_text(a, x), attr_get_text(a, y));
	return memcmp((const char *)x + a->offset, (const char *)y + a->offset, a->size) == 0;
}
