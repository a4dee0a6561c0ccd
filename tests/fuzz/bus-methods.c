/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-methods.h"

#include "util.h"

/* Copies the value of the attribute NAME (with what is before the value: name=") in the TAG to RET.
 * A tag without it: RET is "". */
static void copy_attribute(const char *tag, const char *name, char *ret, size_t size)
{
	const char *end = strchr(tag, '>'), *at = strstr(tag, name);
	size_t n;

	ret[0] = '\0';
	if (!at || !end || at > end)
		return;
	at += strlen(name);
	n = strcspn(at, "\"");
	FUZZ_CHECK(n < size);
	memcpy(ret, at, n);
	ret[n] = '\0';
}

static void add_word(BusMethods *b, const char *word)
{
	for (size_t i = 0; i < b->n_words; i++)
		if (streq(b->words[i], word))
			return;
	FUZZ_CHECK(b->n_words < ARRAY_SIZE(b->words));
	text_copy(b->words[b->n_words++], sizeof(b->words[0]), word);
}

static BusMethod *add_method(BusMethods *b, const char *path, const char *interface,
			     const char *member)
{
	BusMethod *m = &b->methods[b->n_methods++];

	FUZZ_CHECK(b->n_methods <= ARRAY_SIZE(b->methods));
	text_copy(m->path, sizeof(m->path), path);
	text_copy(m->interface, sizeof(m->interface), interface);
	text_copy(m->member, sizeof(m->member), member);
	return m;
}

static void add_argument(BusMethod *m, const char *tag)
{
	char direction[8], type[32];
	char *signature;

	copy_attribute(tag, "direction=\"", direction, sizeof(direction));
	copy_attribute(tag, "type=\"", type, sizeof(type));
	signature = streq(direction, "out") ? m->out : m->in;
	FUZZ_CHECK(strlen(signature) + strlen(type) < sizeof(m->in));
	strcat(signature, type);
}

static bool is_tag(const char *tag, const char *name)
{
	return strncmp(tag + 1, name, strlen(name)) == 0;
}

void bus_methods_add(BusMethods *b, const char *path, const char *xml)
{
	char interface[64] = "", name[64];
	BusMethod *method = NULL;

	for (const char *tag = strchr(xml, '<'); tag; tag = strchr(tag + 1, '<')) {
		copy_attribute(tag, " name=\"", name, sizeof(name));
		if (is_tag(tag, "interface ")) {
			text_copy(interface, sizeof(interface), name);
			add_word(b, name);
		} else if (is_tag(tag, "method ")) {
			method = add_method(b, path, interface, name);
			add_word(b, name);
		} else if (is_tag(tag, "property ")) {
			add_word(b, name);
		} else if (is_tag(tag, "signal ")) {
			method = NULL;
		} else if (is_tag(tag, "arg ") && method) {
			add_argument(method, tag);
		}
	}
}
