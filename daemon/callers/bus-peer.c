/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-peer.h"

#include <poll.h>
#include <sys/socket.h>

#include "log.h"
#include "util.h"

#define BUS_NAME "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"

/* A UNIX socket takes so much whole or not at all: at once it takes half of its buffer
 * (unix_stream_sendmsg() in the kernel's net/unix/af_unix.c), and bus-loop.c asks for 32 KiB. */
#define WRITE_MAX 16000U

void bus_peer_reply_unknown(sd_bus_message *call)
{
	int r = sd_bus_reply_method_errorf(call, SD_BUS_ERROR_TIMEOUT,
					   "The bus has not said which user has made the call");

	if (r < 0)
		log_debug_errno(r, "Cannot answer a call, ignoring: %m");
}

/* Without a handler sd-bus closes the connection when the bus refuses the match, or does not answer
 * in 25 seconds. */
static int on_watching(sd_bus_message *m, _unused_ void *userdata, _unused_ sd_bus_error *error)
{
	if (sd_bus_message_is_method_error(m, NULL))
		log_warning_errno(-sd_bus_message_get_errno(m),
				  "Cannot watch for callers that leave, ignoring: %m");
	return 1;
}

int bus_peer_watch_departures(sd_bus *bus, sd_bus_message_handler_t handler, void *userdata,
			      sd_bus_slot **ret)
{
	/* without a new owner */
	return sd_bus_add_match_async(bus, ret,
				      "type='signal',sender='" BUS_NAME "',path='" BUS_PATH
				      "',interface='" BUS_NAME
				      "',member='NameOwnerChanged',arg2=''",
				      handler, on_watching, userdata);
}

uint64_t bus_peer_unsent(sd_bus *bus)
{
	uint64_t n = 0;

	(void)sd_bus_get_n_queued_write(bus, &n);
	return n;
}

bool bus_peer_has_taken(sd_bus *bus)
{
	struct pollfd p = {.fd = sd_bus_get_fd(bus), .events = POLLOUT};

	return bus_peer_unsent(bus) == 0 && p.fd >= 0 && poll(&p, 1, 0) > 0 &&
	       (p.revents & POLLOUT);
}

bool bus_peer_takes(sd_bus *bus)
{
	return sd_bus_is_ready(bus) > 0 && bus_peer_unsent(bus) == 0;
}

bool bus_peer_write(sd_bus *bus, const void *data, size_t size)
{
	int fd = sd_bus_get_fd(bus);
	ssize_t n;

	if (fd < 0 || size > WRITE_MAX)
		return false;
	n = send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n > 0 && (size_t)n < size) {
		/* The bus would take what sd-bus writes next for the rest. */
		log_warning("The bus has taken a part of a message, closing the connection");
		sd_bus_close(bus);
	}
	return n > 0;
}
