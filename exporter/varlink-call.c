/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "varlink-call.h"

#define DEPTH_MAX 8

DEFINE_CLEANUP(json_tokener, json_tokener_free);

/* The object that TEXT is, which the caller owns. */
static int parse_object(const char *text, size_t n, json_object **ret)
{
	_cleanup_(json_tokener_free_pointer) json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
	json_object *object;

	if (!tokener)
		return -ENOMEM;
	while (n > 0 && strchr(" \t\r\n", text[n - 1]))
		n--;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	object = json_tokener_parse_ex(tokener, text, (int)n);
	/* The tokener stops behind the object, and would ignore the rest. */
	if (json_tokener_get_error(tokener) == json_tokener_success &&
	    json_tokener_get_parse_end(tokener) == n &&
	    json_object_is_type(object, json_type_object)) {
		*ret = object;
		return 0;
	}
	json_object_put(object);
	return -EBADMSG;
}

/* The text of VALUE. NULL: it is no text, or there is a zero in it, which JSON allows. */
static const char *text_of(json_object *value)
{
	const char *text;

	if (!json_object_is_type(value, json_type_string))
		return NULL;
	text = json_object_get_string(value);
	return strlen(text) == (size_t)json_object_get_string_len(value) ? text : NULL;
}

/* Whether member NAME is true. -EBADMSG: it is neither true nor false. */
static int flag_of(const json_object *message, const char *name, bool *ret)
{
	json_object *value;

	if (!json_object_object_get_ex(message, name, &value))
		*ret = false;
	else if (json_object_is_type(value, json_type_boolean))
		*ret = json_object_get_boolean(value);
	else
		return -EBADMSG;
	return 0;
}

static int take_members(VarlinkCall *call)
{
	json_object *method;
	int r;

	if (!json_object_object_get_ex(call->message, "method", &method))
		return -EBADMSG;
	call->method = text_of(method);
	json_object_object_get_ex(call->message, "parameters", &call->parameters);
	if (!call->method ||
	    (call->parameters && !json_object_is_type(call->parameters, json_type_object)))
		return -EBADMSG;
	r = flag_of(call->message, "more", &call->more);
	if (r == 0)
		r = flag_of(call->message, "oneway", &call->oneway);
	return r == 0 && call->more && call->oneway ? -EBADMSG : r;
}

int varlink_call_parse(const char *text, size_t n, VarlinkCall *ret)
{
	VarlinkCall call = {};
	int r = n < VARLINK_CALL_MAX ? parse_object(text, n, &call.message) : -EBADMSG;

	if (r == 0)
		r = take_members(&call);
	if (r < 0)
		varlink_call_done(&call);
	else
		*ret = call;
	return r;
}

void varlink_call_done(VarlinkCall *call)
{
	json_object_put(call->message);
	*call = (VarlinkCall){};
}

const char *varlink_call_text(const VarlinkCall *call, const char *name)
{
	json_object *value;

	if (!call->parameters || !json_object_object_get_ex(call->parameters, name, &value))
		return NULL;
	return text_of(value);
}

const char *varlink_call_unexpected(const VarlinkCall *call, const char *allowed)
{
	if (!call->parameters)
		return NULL;
	json_object_object_foreach(call->parameters, name, value)
	{
		(void)value;
		if (!allowed || !streq(name, allowed))
			return name;
	}
	return NULL;
}
