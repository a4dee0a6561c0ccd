/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A real rdmad-exporter, started as systemd starts it, and clients of it. Every function that waits
 * fails the test after a minute. */

#include "fixture.h"
#include "process.h"

typedef struct Exporter {
	pid_t pid;
	uint16_t port; /* it listens on 127.0.0.1 */
	char path[96]; /* and on this Unix socket */
} Exporter;

/* Starts it on the bus of F. OPTIONS ends with NULL, or is NULL. */
void exporter_start(Exporter *e, const Fixture *f, const char *const *options);
/* Ends it with SIGTERM; its exit status must be 0. */
void exporter_stop(Exporter *e);

/* A reply of HTTP. */
typedef struct Reply {
	int status;  /* 0: the connection was closed without one */
	char *head;  /* all lines, terminated */
	char *body;  /* terminated */
	size_t size; /* of the body */
} Reply;

void reply_done(Reply *r);
#define _cleanup_reply_ _cleanup_(reply_done)

/* Connects from 127.0.0.FROM. */
int client_connect(const Exporter *e, unsigned int from);
int client_connect_unix(const Exporter *e);
/* Sends all N bytes, or as many as the other side takes: false if that was not all. */
bool client_send_bytes(int fd, const void *bytes, size_t n);
bool client_send(int fd, const char *text);
/* Reads one reply. WITHOUT_BODY: it answers HEAD. */
void client_read(int fd, bool without_body, Reply *ret);
/* Whether the other side has closed the connection; waits until it does. */
void client_assert_closed(int fd);
/* Closes FD in such a way that the other side gets a reset. */
void client_reset(int fd);

/* One request on a connection of its own: PATH such as "/metrics", HEADERS as lines that end with
 * CR LF. */
void client_get(const Exporter *e, const char *path, const char *headers, Reply *ret);
/* The metrics; the status must be 200 and the text complete. The caller frees it. */
char *client_scrape(const Exporter *e);
/* Whether TEXT has this whole line. */
bool has_line(const char *text, const char *line);
void assert_line(const char *text, const char *line);
void assert_no_line(const char *text, const char *begin);
