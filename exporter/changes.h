/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which ports have changed since the last look. The shared memory of rdmad says it, without a
 * call: some microseconds for a hundred ports. */

#include "rdmad.h"
#include "util.h"

typedef struct Changes Changes;

/* MEMORY and CHANGED are the descriptors that OpenSnapshot() returns. On success they belong to
 * *RET, on failure to the caller. Errors as rdmad_open_fd(). */
int changes_new(int memory, int changed, Changes **ret);
/* Takes NULL; returns NULL. */
Changes *changes_free(Changes *c);
DEFINE_CLEANUP(Changes, changes_free);

/*
 * Compares the records of all ports with those that the last look found. 0: they are equal. 1: they
 * are not, or this is the first look. A reply of rdmad after the look is not older than the records
 * of the look. -ESTALE: rdmad has moved to a larger memory. -ENOTCONN: that rdmad has ended. After
 * an error the memory has to be opened anew. -ENOMEM.
 */
int changes_look(Changes *c);

/* How many ports the last look found. */
size_t changes_count(const Changes *c);

/* No more changed ports than these are told one by one. */
#define CHANGES_FEW 16U

typedef struct ChangedPort {
	struct rdmad_port was, is; /* its record; the identity and the name are the same */
} ChangedPort;

/* The ports that have other records since the look before the last, if that was all that the last
 * look found. Returns how many; 0: ports may have come, gone or got other names, or too many have
 * changed. */
size_t changes_few(const Changes *c, ChangedPort ret[CHANGES_FEW]);
