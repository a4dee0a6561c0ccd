/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "name-index.h"

#include <assert.h>
#include <glib.h>

/* A name as the table knows it: its kind, its size, its bytes. */
#define KEY_HEADER 2U
#define KEY_MAX	   (KEY_HEADER + NAME_SIZE_MAX)

typedef struct Entry {
	NameOwner owner; /* the first member: a NameOwner is an Entry */
	uint32_t n;	 /* how often the owner has the name */
	uint8_t key[];
} Entry;

struct NameIndex {
	GHashTable *keys; /* a set: that of the first Entry of those that have it */
};

/* The Entry of KEY, which may be NULL. */
static Entry *entry_of(const uint8_t *key)
{
	return key ? CONST_CAST(Entry *, (const void *)(key - offsetof(Entry, key))) : NULL;
}

static size_t key_size(const uint8_t *key)
{
	return KEY_HEADER + key[1];
}

static void make_key(NameKind kind, const void *name, size_t size, uint8_t ret[KEY_MAX])
{
	ret[0] = (uint8_t)kind;
	ret[1] = (uint8_t)size;
	memcpy(ret + KEY_HEADER, name, size);
}

/* Names come from worker processes. So that no worker can choose names which all have the same
 * hash, a secret number is part of the hash. */
static guint hash_key(gconstpointer key)
{
	static uint64_t secret;
	size_t size = key_size(key);
	uint64_t hash;

	if (!secret)
		secret = random_u64() | 1;
	hash = secret;
	for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
		uint64_t word = 0;

		memcpy(&word, (const uint8_t *)key + i, MIN(sizeof(word), size - i));
		hash = (hash ^ word) * secret;
		hash ^= hash >> 32;
	}
	return (guint)hash;
}

static gboolean keys_equal(gconstpointer a, gconstpointer b)
{
	size_t size = key_size(a);

	return size == key_size(b) && memcmp(a, b, size) == 0;
}

NameIndex *name_index_new(void)
{
	NameIndex *index = g_new0(NameIndex, 1);

	index->keys = g_hash_table_new(hash_key, keys_equal);
	return index;
}

void name_index_free(NameIndex *index)
{
	if (!index)
		return;
	assert(g_hash_table_size(index->keys) == 0);
	g_hash_table_destroy(index->keys);
	g_free(index);
}

static Entry *find_owner(Entry *e, const void *owner)
{
	while (e && e->owner.owner != owner)
		e = (Entry *)(void *)e->owner.next;
	return e;
}

bool name_index_add(NameIndex *index, NameKind kind, const void *name, size_t size, void *owner)
{
	uint8_t key[KEY_MAX];
	Entry *first, *e;

	assert(size <= NAME_SIZE_MAX);
	make_key(kind, name, size, key);
	first = entry_of(g_hash_table_lookup(index->keys, key));
	e = find_owner(first, owner);
	if (e) {
		e->n++;
		return false;
	}
	e = g_malloc(sizeof(Entry) + key_size(key));
	*e = (Entry){.owner = {.owner = owner}, .n = 1};
	memcpy(e->key, key, key_size(key));
	if (first) {
		e->owner.next = first->owner.next;
		first->owner.next = &e->owner;
	} else {
		g_hash_table_add(index->keys, e->key);
	}
	return true;
}

/* Takes E, of which FIRST is the first, out of the table and frees it. */
static void remove_entry(NameIndex *index, Entry *first, Entry *e)
{
	NameOwner *before = &first->owner;

	if (e != first) {
		while (before->next != &e->owner)
			before = before->next;
		before->next = e->owner.next;
	} else if (e->owner.next) {
		first = (Entry *)(void *)e->owner.next;
		g_hash_table_add(index->keys, first->key);
	} else {
		g_hash_table_remove(index->keys, e->key);
	}
	g_free(e);
}

bool name_index_remove(NameIndex *index, NameKind kind, const void *name, size_t size, void *owner)
{
	uint8_t key[KEY_MAX];
	Entry *first, *e;

	assert(size <= NAME_SIZE_MAX);
	make_key(kind, name, size, key);
	first = entry_of(g_hash_table_lookup(index->keys, key));
	e = find_owner(first, owner);
	assert(e);
	if (--e->n > 0)
		return false;
	remove_entry(index, first, e);
	return true;
}

const NameOwner *name_index_find(const NameIndex *index, NameKind kind, const void *name,
				 size_t size)
{
	uint8_t key[KEY_MAX];
	const Entry *e;

	if (!index || size > NAME_SIZE_MAX)
		return NULL;
	make_key(kind, name, size, key);
	e = entry_of(g_hash_table_lookup(index->keys, key));
	return e ? &e->owner : NULL;
}
