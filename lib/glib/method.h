/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The methods of the daemon that the library offers as functions: three of them for each method, to
 * begin a call, to end it, and to make it and wait. */

#include "rdmad-client.h"

/* The answer to a call. */
typedef struct Answer {
	RdmadClient *client;
	gpointer source;     /* whose method it was: CLIENT, or one of its objects */
	GVariant *arguments; /* of the call */
	GDBusMessage *reply;
	GVariant *body; /* of REPLY, of the type that the method has */
} Answer;

typedef struct Method {
	const char *interface, *name;
	/* The type of the answer, as a tuple. */
	const char *signature;
	/* Makes the result. Returns NULL and an error if it cannot. */
	gpointer (*take)(const Answer *a, GError **error);
	GDestroyNotify free; /* of the result */
	gboolean waits;	     /* the answer may take as long as it likes */
} Method;

/* FindPorts(text, options): a GPtrArray of RdmadPortMatch. */
extern const Method method_find_ports;

/* Calls M of SOURCE, a client (the manager) or a device or port; takes ARGUMENTS, a tuple, if that
 * is floating. The source of the task is SOURCE. */
void method_call_async(const Method *m, gpointer source, GVariant *arguments,
		       GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
/* The result of that call; NULL and an error. */
gpointer method_call_finish(const Method *m, gpointer source, GAsyncResult *result, GError **error);
gpointer method_call_sync(const Method *m, gpointer source, GVariant *arguments,
			  GCancellable *cancellable, GError **error);

/*
 * Defines FUNCTION_async(), FUNCTION_finish() and FUNCTION_sync(), as the public headers have them,
 * for METHOD, whose result is a TYPE: a pointer, or gboolean. SELF is "Client" or the like, CHECK
 * what the parameters have to fulfil, and ARGUMENTS makes those of the call. The last ones are the
 * parameters behind self.
 */
#define METHOD_FUNCTIONS(function, Self, is_self, type, method, check, arguments, ...)             \
	void function##_async(Self *self, __VA_OPT__(__VA_ARGS__, ) GCancellable *cancellable,     \
			      GAsyncReadyCallback callback, gpointer user_data)                    \
	{                                                                                          \
		g_return_if_fail(is_self(self));                                                   \
		g_return_if_fail(check);                                                           \
		method_call_async(&(method), self, arguments, cancellable, callback, user_data);   \
	}                                                                                          \
                                                                                                   \
	type function##_finish(Self *self, GAsyncResult *result, GError **error)                   \
	{                                                                                          \
		return (type)(gintptr)method_call_finish(&(method), self, result, error);          \
	}                                                                                          \
                                                                                                   \
	type function##_sync(Self *self, __VA_OPT__(__VA_ARGS__, ) GCancellable *cancellable,      \
			     GError **error)                                                       \
	{                                                                                          \
		g_return_val_if_fail(is_self(self), (type)0);                                      \
		g_return_val_if_fail(check, (type)0);                                              \
		return (type)(gintptr)method_call_sync(&(method), self, arguments, cancellable,    \
						       error);                                     \
	}

/* TRUE, as the result of a method that answers nothing. */
gpointer method_take_nothing(const Answer *a, GError **error);

/* (a{sv}) without options. */
GVariant *method_no_options(void);
