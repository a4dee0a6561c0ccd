/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Verbs contexts by kernel index: opens them, and keeps some of them open ("holds" them), whose
 * async events query-events.c reads. A context is looked up again for each use, so that none is
 * used after it was closed.
 *
 * No event may be lost without a word. A context that is replaced by a new one of the same device
 * is closed only after its events were read (contexts_retire()). A context that begins to be held
 * has heard nothing of what was before: its device is late until contexts_set_read() or until
 * events_drain() has said so.
 */

#include <infiniband/verbs.h>

#include "util.h"

typedef struct Contexts Contexts;

/* Has the next contexts_new() take a list of the devices that is made now: before a process forks,
 * so that those that it forks need not make it. */
void contexts_prepare(void);
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
/* Whether libibverbs had DEVICE in its list when it was last asked. */
bool contexts_lists(const Contexts *c, uint32_t device);
/* Closes what is held of DEVICE. Events that were not read are lost. */
void contexts_forget(Contexts *c, uint32_t device);
/* DEVICE is to be opened again: what is held of it is not used any more. Its events can still be
 * read, and events_drain() closes it after the last one. */
void contexts_retire(Contexts *c, uint32_t device);

/* Everything of DEVICE has been asked since its context was opened: nothing is missing because of
 * the time before. */
void contexts_set_read(Contexts *c, uint32_t device);
/* Whether a device is late or a context retired: events_drain() has something to do, though
 * contexts_fd() may not say so. */
bool contexts_have_news(const Contexts *c);
/* A device that is late; from now on it is not. False: there is none. */
bool contexts_next_late(Contexts *c, uint32_t *ret_device);
/* A context that is retired, of DEVICE. NULL: there is none. */
struct ibv_context *contexts_retired(const Contexts *c, uint32_t *ret_device);
/* Closes what contexts_retired() has returned. */
void contexts_close_retired(Contexts *c);

/* How many contexts are held. */
size_t contexts_count(const Contexts *c);
/* The context that is held of DEVICE; NULL: none. */
struct ibv_context *contexts_find(const Contexts *c, uint32_t device);
/* An epoll set of the descriptors on which the events of the held contexts come. The data of each
 * is the index of its device. */
int contexts_fd(const Contexts *c);
