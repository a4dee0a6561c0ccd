/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Verbs contexts by kernel index: opens them, keeps some of them open ("holds" them), and reads the
 * async events of those. A context is looked up again for each use, so that none is used after it
 * was closed.
 */

#include <infiniband/verbs.h>

#include "event.h"
#include "util.h"

typedef struct Contexts Contexts;

typedef void (*ContextEvent)(const Event *event, void *userdata);

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

/* A descriptor that becomes readable when there are events. */
int contexts_fd(const Contexts *c);
/* Reports the events that have come. A device that announces its end (REASON_DEVICE_FATAL) is
 * closed before that is reported. */
void contexts_drain(Contexts *c, ContextEvent handler, void *userdata);

/* What an async event of DEVICE says: of TYPE (IBV_EVENT_*), with PORT in it. False if it is not
 * about a port or a device. */
bool context_event_translate(unsigned int type, int port, uint32_t device, Event *ret);
