/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "varlink-reply.h"

void varlink_reply_done(VarlinkReply *reply)
{
	free(reply->text);
	json_object_put(reply->last);
	*reply = (VarlinkReply){};
}

bool varlink_member(json_object *object, const char *name, json_object *value)
{
	if (value && json_object_object_add(object, name, value) == 0)
		return true;
	json_object_put(value);
	return false;
}

static bool make_room(VarlinkReply *reply, size_t n)
{
	size_t room = MAX(reply->room, (size_t)4096);
	char *text;

	while (room - reply->n < n)
		room *= 2;
	if (room == reply->room)
		return true;
	text = realloc(reply->text, room);
	if (!text)
		return false;
	reply->text = text;
	reply->room = room;
	return true;
}

/* Writes MESSAGE, which is this function's, behind the text, with the zero. */
static void put(VarlinkReply *reply, json_object *message)
{
	size_t n = 0;
	/* With no flags there would be spaces in it; '/' needs no backslash. */
	const char *text = json_object_to_json_string_length(
		message, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &n);

	if (text && make_room(reply, n + 1)) {
		memcpy(reply->text + reply->n, text, n + 1);
		reply->n += n + 1;
	} else
		reply->failed = true;
	json_object_put(message);
}

/* Writes the latest reply; MORE: others follow. */
static void put_last(VarlinkReply *reply, bool more)
{
	json_object *message = steal_pointer(&reply->last);

	if (more && !varlink_member(message, "continues", json_object_new_boolean(true)))
		reply->failed = true;
	put(reply, message);
}

void varlink_reply_add(VarlinkReply *reply, json_object *parameters)
{
	json_object *message = json_object_new_object();

	if (reply->last)
		put_last(reply, true);
	if (message && varlink_member(message, "parameters", parameters)) {
		reply->last = message;
		return;
	}
	if (!message)
		json_object_put(parameters);
	json_object_put(message);
	reply->failed = true;
}

int varlink_reply_end(VarlinkReply *reply, VarlinkText **ret)
{
	VarlinkText *t;

	if (!reply->failed && !reply->last)
		return -ENOENT;
	if (!reply->failed)
		put_last(reply, false);
	t = reply->failed ? NULL : malloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	*t = (VarlinkText){.refs = 1, .text = steal_pointer(&reply->text), .n = reply->n};
	varlink_reply_done(reply);
	*ret = t;
	return 0;
}

int varlink_reply_once(json_object *parameters, VarlinkText **ret)
{
	_cleanup_(varlink_reply_done) VarlinkReply reply = {};

	varlink_reply_add(&reply, parameters);
	return varlink_reply_end(&reply, ret);
}

/* {KEY: TEXT}, or {} if KEY is NULL. */
static json_object *one_member(const char *key, const char *text)
{
	json_object *object = json_object_new_object();

	if (!object || !key || varlink_member(object, key, json_object_new_string(text)))
		return object;
	json_object_put(object);
	return NULL;
}

int varlink_reply_error(const char *name, const char *key, const char *text, VarlinkText **ret)
{
	_cleanup_(varlink_reply_done) VarlinkReply reply = {};

	varlink_reply_add(&reply, one_member(key, text));
	if (reply.last && !varlink_member(reply.last, "error", json_object_new_string(name)))
		reply.failed = true;
	return varlink_reply_end(&reply, ret);
}

VarlinkText *varlink_text_ref(VarlinkText *t)
{
	t->refs++;
	return t;
}

VarlinkText *varlink_text_unref(VarlinkText *t)
{
	if (t && --t->refs == 0) {
		if (t->sum)
			*t->sum -= t->n;
		free(t->text);
		free(t);
	}
	return NULL;
}
