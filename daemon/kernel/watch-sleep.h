/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* When logind says that the machine is awake again after suspend, reports REASON_RESUME for every
 * device. */

#include <systemd/sd-bus.h>

#include "event.h"
#include "util.h"

typedef struct WatchSleep WatchSleep;

/* Subscribes on BUS to the signal of logind. A machine without logind is no error. ON_EVENT is
 * called with USERDATA while BUS is processed. The caller frees *RET before it closes BUS. */
int watch_sleep_new(sd_bus *bus, void (*on_event)(void *userdata, const Event *event),
		    void *userdata, WatchSleep **ret);
/* Ends the subscription. W may be NULL. Returns NULL. */
WatchSleep *watch_sleep_free(WatchSleep *w);
DEFINE_CLEANUP(WatchSleep, watch_sleep_free);
