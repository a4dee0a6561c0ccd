/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The async events of verbs, ibv_get_async_event(3), of the contexts that are held. */

#include "event.h"
#include "query-context.h"

/* Events of one device that are read at most before those of the next device. */
#define EVENTS_BATCH 64

typedef void (*EventHandler)(const Event *event, void *userdata);

/* Reports the events that have come. A device that announces its end (REASON_DEVICE_FATAL) is
 * closed after that is reported. A device whose context was not open for a while, and may have had
 * events then, is reported with REASON_OVERRUN. Does not wait. */
void events_drain(Contexts *c, EventHandler handler, void *userdata);

/* Translates an async event of DEVICE, of TYPE (IBV_EVENT_*), with PORT in it. False if the event
 * is not about a port or a device. */
bool event_translate(unsigned int type, int port, uint32_t device, Event *ret);
