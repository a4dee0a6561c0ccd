/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The replies to a call, as text: objects in JSON, each with a zero behind it. */

#include <json-c/json.h>

#include "util.h"

/* Replies that are complete. Clients that get the same ones share them. */
typedef struct VarlinkText {
	unsigned int refs;
	char *text;
	size_t n;    /* with the last zero */
	size_t *sum; /* what N is a part of while the text is there; NULL: nothing */
} VarlinkText;

VarlinkText *varlink_text_ref(VarlinkText *t);
/* Takes NULL, and returns NULL. */
VarlinkText *varlink_text_unref(VarlinkText *t);
DEFINE_CLEANUP(VarlinkText, varlink_text_unref);

/* Replies that are being made. Begins with {}. */
typedef struct VarlinkReply {
	char *text;
	size_t n, room;
	json_object *last; /* the latest reply: whether it is the last one is not known yet */
	bool failed;	   /* no memory: the text is not whole */
} VarlinkReply;

/* Frees what REPLY owns, and makes it {}. */
void varlink_reply_done(VarlinkReply *reply);

/* Adds a reply with PARAMETERS, an object that is this function's from now on. NULL: there was no
 * memory for it. */
void varlink_reply_add(VarlinkReply *reply, json_object *parameters);
/* Ends the replies: the latest one is the last. *REPLY is {} then. -ENOENT: there is none.
 * -ENOMEM. */
int varlink_reply_end(VarlinkReply *reply, VarlinkText **ret);
/* The one reply PARAMETERS, as above. -ENOMEM. */
int varlink_reply_once(json_object *parameters, VarlinkText **ret);
/* The one reply that is the error NAME ("org.varlink.service.ExpectedMore"). Member KEY of its
 * parameters is TEXT; KEY is NULL if it has none. -ENOMEM. */
int varlink_reply_error(const char *name, const char *key, const char *text, VarlinkText **ret);

/* Adds member NAME with VALUE, which is OBJECT's from now on, and is not NULL. Without memory it is
 * false, and OBJECT is not to be used but to be freed. */
bool varlink_member(json_object *object, const char *name, json_object *value);
