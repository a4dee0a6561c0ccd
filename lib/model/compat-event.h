/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Functions that sd-event of Debian 11 (systemd 247) does not have. */

#include <errno.h>
#include <signal.h>
#include <systemd/sd-event.h>

/* systemd 250 has the flag, 248 the rate limit. */
#ifndef SD_EVENT_SIGNAL_PROCMASK
#define SD_EVENT_SIGNAL_PROCMASK (1 << 30)

static inline int compat_add_signal(sd_event *event, sd_event_source **ret, int sig,
				    sd_event_signal_handler_t handler, void *userdata)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, sig & ~SD_EVENT_SIGNAL_PROCMASK);
	if ((sig & SD_EVENT_SIGNAL_PROCMASK) && sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		return -errno;
	return sd_event_add_signal(event, ret, sig & ~SD_EVENT_SIGNAL_PROCMASK, handler, userdata);
}
#define sd_event_add_signal(...) compat_add_signal(__VA_ARGS__)

/* Without the limit of the rate a client that connects in a loop costs more. */
#define sd_event_source_set_ratelimit(source, interval, burst)                                     \
	((void)(source), (void)(interval), (void)(burst), 0)
#endif
