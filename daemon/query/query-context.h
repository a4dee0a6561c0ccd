/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Verbs contexts by kernel index: opens them, and keeps some of them open ("holds" them), whose
 * async events query-events.c reads. A context is looked up again for each use, so that none is
 * used after it was closed.
 */

#include <infiniband/verbs.h>

#include "util.h"

typedef struct Contexts Contexts;

/* Loads the providers of libibverbs, which takes its time. -ENOMEM, or that of epoll_create1(). */
int contexts_new(Contexts **ret);
Contexts *contexts_free(Contexts *c);
DEFINE_CLEANUP(Contexts, contexts_free);

/*
 * The context of DEVICE, which is called NAME now: the one that is held, or else one that is
 * opened, and is from now on held if HOLD. The caller gives it back with contexts_put(). -ENODEV:
 * libibverbs has no such device. Another negative errno: it cannot be opened.
 */
int contexts_get(Contexts *c, uint32_t device, const char *name, bool hold,
		 struct ibv_context **ret);
/* Gives CONTEXT back: closes it unless it is held. */
void contexts_put(Contexts *c, uint32_t device, struct ibv_context *context);
bool contexts_holds(const Contexts *c, uint32_t device);
/* Closes what is held of DEVICE. */
void contexts_forget(Contexts *c, uint32_t device);

/* How many contexts are held. */
size_t contexts_count(const Contexts *c);
/* The context that is held of DEVICE; NULL: none. */
struct ibv_context *contexts_find(const Contexts *c, uint32_t device);
/* An epoll set of the descriptors on which the events of the held contexts come. The data of each
 * is the index of its device. */
int contexts_fd(const Contexts *c);
