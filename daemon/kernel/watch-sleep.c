/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Listens to the signal PrepareForSleep of logind. The watcher calls no method and waits for
 * nothing. */

#include "watch-sleep.h"

#include "log.h"

struct WatchSleep {
	sd_bus_slot *slot; /* the subscription to the signal */
	void (*on_event)(void *userdata, const Event *event);
	void *userdata; /* for on_event */
};

static int on_prepare_for_sleep(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	WatchSleep *w = userdata;
	int asleep, r;

	r = sd_bus_message_read(m, "b", &asleep);
	if (r < 0)
		log_debug_errno(r, "PrepareForSleep of logind is not as documented: %m");
	else if (!asleep)
		w->on_event(w->userdata,
			    &(Event){EVENT_ALL_DEVICES, EVENT_ALL_PORTS, REASON_RESUME});
	return 0;
}

static int on_installed(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error)
{
	const sd_bus_error *e = sd_bus_message_get_error(m);

	/* If a match cannot be installed and there is no handler for that, sd-bus closes the
	 * connection. This handler prevents it. */
	if (e)
		log_warning("Cannot watch for suspend and resume, ignoring: %s", e->message);
	return 0;
}

int watch_sleep_new(sd_bus *bus, void (*on_event)(void *userdata, const Event *event),
		    void *userdata, WatchSleep **ret)
{
	WatchSleep *w = malloc(sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	*w = (WatchSleep){.on_event = on_event, .userdata = userdata};
	r = sd_bus_match_signal_async(bus, &w->slot, "org.freedesktop.login1",
				      "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
				      "PrepareForSleep", on_prepare_for_sleep, on_installed, w);
	if (r < 0) {
		free(w);
		return r;
	}
	*ret = w;
	return 0;
}

WatchSleep *watch_sleep_free(WatchSleep *w)
{
	if (!w)
		return NULL;
	sd_bus_slot_unref(w->slot);
	free(w);
	return NULL;
}
