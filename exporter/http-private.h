/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The header that the files of the HTTP side share. */

#include "http-page.h"
#include "http-parse.h"
#include "http-peers.h"
#include "http.h"

/* The stage of a connection. */
typedef enum HttpStage {
	HTTP_STAGE_KEEP,    /* waits for a request */
	HTTP_STAGE_REQUEST, /* a part of one is here, or it is the first of the connection */
	HTTP_STAGE_ANSWER,  /* the source is asked */
	HTTP_STAGE_REPLY,   /* sends the reply */
	HTTP_STAGE_LINGER,  /* has sent it, and reads what still comes, until it is closed */
} HttpStage;

typedef struct HttpConnection {
	Http *http;
	struct HttpConnection *previous, *next; /* in the list of all */
	HttpPeer *peer;
	int fd;
	sd_event_source *io, *timer;
	HttpStage stage;
	unsigned int n_requests;
	char in[HTTP_HEAD_MAX]; /* has been read and not been used */
	size_t n_in;
	HttpRequest request;	       /* that is being answered */
	SourceRequest *source_request; /* NULL: not waited for */
	char head[512];		       /* of the reply */
	size_t n_head;
	HttpPage *page; /* behind it; NULL: nothing */
	size_t n_sent;	/* of both, or bytes read in HTTP_STAGE_LINGER */
} HttpConnection;

struct Http {
	sd_event *event;
	Source *source;
	Idle *idle;
	sd_event_source *listeners[HTTP_LISTENERS_MAX];
	size_t n_listeners;
	sd_event_source *again; /* accepts again after it was given up for some time */
	bool paused;
	/* The connections: the one that has not moved for the longest time is the first. */
	HttpConnection *first, *last;
	unsigned int n;
	HttpPeers peers;
	HttpPages pages;
};

/* Serves the connected socket FD, which then belongs to H. Errors close it. */
int http_connection_new(Http *h, int fd);
/* Closes it. Returns NULL. */
HttpConnection *http_connection_free(HttpConnection *c);

/* Whether nothing is accepted for now. */
void http_pause_accept(Http *h, bool pause);
/* There is room for a connection again. */
void http_accept_again(Http *h);
