/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* logind's word that the machine slept and is awake again: REASON_RESUME for every device. */

#include <systemd/sd-bus.h>

#include "event.h"
#include "util.h"

typedef struct WatchSleep WatchSleep;

/* No error where there is no logind. ON_EVENT is called while BUS is processed. */
int watch_sleep_new(sd_bus *bus, void (*on_event)(void *userdata, const Event *event),
		    void *userdata, WatchSleep **ret);
WatchSleep *watch_sleep_free(WatchSleep *w);
DEFINE_CLEANUP(WatchSleep, watch_sleep_free);
