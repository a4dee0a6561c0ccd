/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The HTTP side: GET and HEAD of /metrics, of / and of /-/healthy, in HTTP/1.0 and 1.1. The server
 * trusts nobody. Everything that a client can make large or slow has a limit here and in
 * http-parse.h; the memory is bounded by their product: 3 MiB, 32 MiB in the kernel, and the pages.
 *
 * When all connections are taken, a new one takes the place of one that has not moved for the
 * longest time, of the peer that has most of them (http-peers.h). So a client that sends its
 * request and reads the answer is served, however many others only hold connections.
 */

#include <systemd/sd-event.h>

#include "idle.h"
#include "source.h"

/* Connections at the same time */
#define HTTP_CONNECTIONS_MAX 256U
/* Requests on one connection; then it is closed */
#define HTTP_REQUESTS_MAX 100U
/* How long a request may take from its first byte, or from the connection, to its end */
#define HTTP_REQUEST_USEC (5 * USEC_PER_SEC)
/* How long a connection is kept without a request. Prometheus asks once a minute by default. */
#define HTTP_KEEP_USEC (75 * USEC_PER_SEC)
/* How long the client may take to read an answer. Prometheus gives up after 10 s by default. */
#define HTTP_REPLY_USEC (10 * USEC_PER_SEC)
/* The part of a reply that the kernel keeps while the client does not read, about */
#define HTTP_SEND_BYTES 65536
/* How long, and how many bytes, are still read from a client after an error was sent to it: closing
 * at once would make the kernel drop the answer on its way. */
#define HTTP_LINGER_USEC  USEC_PER_SEC
#define HTTP_LINGER_BYTES 65536U

typedef struct Http Http;

/* SOURCE and IDLE outlive *RET. -ENOMEM. */
int http_new(sd_event *event, Source *source, Idle *idle, Http **ret);
/* Closes all connections and sockets. Takes NULL. */
void http_free(Http *h);
DEFINE_CLEANUP(Http, http_free);

/* Serves the listening socket FD too, which then belongs to H. At most HTTP_LISTENERS_MAX: -E2BIG.
 */
#define HTTP_LISTENERS_MAX 16U
int http_listen(Http *h, int fd);
