/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * One message of a Varlink client: a call, as text in JSON. json-c takes it apart: a small library
 * without threads, files or sockets, which each Debian with systemd has (libcryptsetup needs it).
 */

#include <json-c/json.h>

#include "util.h"

/* The longest message, with the zero that ends it. The longest that a client has a reason to send,
 * a call of GetInterfaceDescription, has some 120 bytes. */
#define VARLINK_CALL_MAX 4096U

typedef struct VarlinkCall {
	json_object *message;	 /* which owns the rest */
	const char *method;	 /* as it was sent: "io.systemd.Metrics.List" */
	json_object *parameters; /* an object, or NULL if there are none */
	bool more;		 /* the client takes any number of replies */
	bool oneway;		 /* it wants none */
} VarlinkCall;

/*
 * Takes the N bytes of TEXT apart, without the zero at the end. TEXT is not changed, and *RET does
 * not need it any more. The caller calls varlink_call_done().
 *
 * -EBADMSG: not a call. Varlink has no error for that: the connection is to be closed, as nothing
 * that follows can be trusted. These are no calls: what is not exactly one object in JSON (RFC
 * 8259) and UTF-8, or has objects in objects more than 8 deep; one without a method, with a member
 * of a wrong type, or with both "more" and "oneway". Unknown members are ignored. -ENOMEM.
 */
int varlink_call_parse(const char *text, size_t n, VarlinkCall *ret);
/* Frees what *CALL owns. */
void varlink_call_done(VarlinkCall *call);

/* The text of parameter NAME, NULL if there is none or if it is no text. CALL owns it. */
const char *varlink_call_text(const VarlinkCall *call, const char *name);
/* The name of a parameter other than ALLOWED, NULL if there is none. ALLOWED is NULL if the method
 * takes no parameters. CALL owns it. */
const char *varlink_call_unexpected(const VarlinkCall *call, const char *allowed);
