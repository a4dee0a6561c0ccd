/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Which device or port has a name, or a GUID or a GID: a hash table, so that a look-up takes as
 * long with 4096 ports as with one.
 *
 * cache.c alone fills it, in the place in which a name comes or goes. A name may have several
 * owners. An owner may have the same name several times, as a network interface is in several
 * entries of a GID table: that is counted.
 *
 * It uses GLib, so the process ends if there is no memory for it.
 */

#include "util.h"

/* The kinds of names. Names of two kinds are never equal. */
typedef enum NameKind {
	/* the owner is a Device */
	NAME_DEVICE,	  /* text */
	NAME_PCI,	  /* text, as in DeviceValues */
	NAME_NODE_GUID,	  /* uint64_t, the same */
	NAME_SYSTEM_GUID, /* uint64_t, the same */
	/* the owner is a Port */
	NAME_NETDEV,  /* text */
	NAME_ALTNAME, /* text */
	NAME_MEMBER,  /* text: a member of the bond that its interface is in */
	NAME_IFINDEX, /* uint32_t */
	NAME_MAC,     /* 6 bytes */
	NAME_GUID,    /* uint64_t, as in PortValues */
	NAME_GID,     /* 16 bytes */
	NAME_ADDRESS, /* 16 bytes, as in AddressEntry */
} NameKind;

/* The longest name, in bytes. */
#define NAME_SIZE_MAX 128U

typedef struct NameIndex NameIndex;

/* An owner of a name, and the others. */
typedef struct NameOwner {
	void *owner;
	struct NameOwner *next; /* in no order */
} NameOwner;

NameIndex *name_index_new(void);
void name_index_free(NameIndex *index);

/* OWNER has the name of SIZE bytes at NAME, once more. Returns whether it did not have it before.
 */
bool name_index_add(NameIndex *index, NameKind kind, const void *name, size_t size, void *owner);
/* The owner, which must have the name, has it once less. Returns whether it has the name no more.
 */
bool name_index_remove(NameIndex *index, NameKind kind, const void *name, size_t size, void *owner);
/* The owner of the name; NULL: none. INDEX may be NULL. */
const NameOwner *name_index_find(const NameIndex *index, NameKind kind, const void *name,
				 size_t size);
