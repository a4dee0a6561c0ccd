/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Verbs contexts by kernel index: the list of devices that libibverbs has, opening, holding some
 * open, and the async events of those. A context is looked up anew for each use, so that nothing is
 * used after it was closed.
 */

#include <infiniband/verbs.h>

#include "event.h"
#include "util.h"

typedef struct Contexts Contexts;

typedef void (*ContextEvent)(const Event *event, void *userdata);

int contexts_new(Contexts **ret);
void contexts_free(Contexts *c);
DEFINE_CLEANUP(Contexts, contexts_free);

/*
 * The context of DEVICE, which is called NAME now: the one that is held, or one that is opened, and
 * from now on held if HOLD. Every one goes back by contexts_put(). -ENODEV: libibverbs has no such
 * device.
 */
int contexts_get(Contexts *c, uint32_t device, const char *name, bool hold,
		 struct ibv_context **ret);
/* Closes the context unless it is held. */
void contexts_put(Contexts *c, uint32_t device, struct ibv_context *context);
bool contexts_holds(const Contexts *c, uint32_t device);
/* Closes what is held of DEVICE. */
void contexts_forget(Contexts *c, uint32_t device);

/* A descriptor that becomes readable when there are events. */
int contexts_fd(const Contexts *c);
/* Reports all events that there are now. A device that announces its end is closed first. */
void contexts_drain(Contexts *c, ContextEvent handler, void *userdata);

/* What an async event of type TYPE with PORT says; false if it is not about a port or device. */
bool context_event_translate(unsigned int type, int port, uint32_t device, Event *ret);
