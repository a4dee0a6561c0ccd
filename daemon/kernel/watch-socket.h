/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A netlink socket of a watcher, which listens to groups in the event loop. */

#include <systemd/sd-event.h>

#include "watch.h"

typedef struct WatchSocket {
	sd_event_source *source; /* owns the socket; NULL: it does not listen */
	sd_event *event;
	const char *loss; /* what the log says when the socket is of no use any more */
	WatchMessage message;
	void *watch;		     /* for MESSAGE */
	const WatchHandler *handler; /* hears of overruns */
	void *userdata;		     /* for HANDLER */
} WatchSocket;

/* Makes a socket that does not listen yet, for the watcher WATCH. */
static inline WatchSocket watch_socket_new(sd_event *event, const char *loss, WatchMessage message,
					   void *watch, const WatchHandler *handler, void *userdata)
{
	return (WatchSocket){NULL, sd_event_ref(event), loss, message, watch, handler, userdata};
}

/* Begins to listen to the N groups of PROTOCOL. Does nothing if it listens already: so it may be
 * called again after it failed, or after the socket broke later. 0, or a negative errno. */
int watch_socket_listen(WatchSocket *s, int protocol, const int *groups, size_t n);
/* Stops listening. */
void watch_socket_close(WatchSocket *s);
/* Tells the handler of an event. */
static inline void watch_socket_report(const WatchSocket *s, const Event *e)
{
	s->handler->event(s->userdata, e);
}
