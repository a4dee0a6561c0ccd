/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A client, and what it has reported but how well things are, as text with one line for each
 * signal. */

#include <rdmad-glib.h>

#include "fixture.h"

typedef struct Log {
	RdmadClient *client;
	GString *text;	   /* "port-changed mlx5_0/1 state lid\n", ... */
	guint n_batches;   /* of the signal "changed" */
	guint n_last;	   /* changes in the last of these */
	guint n_connected; /* notify::connected */
} Log;

/* An initialized client on the bus of F. */
Log *log_new(Fixture *f);
/* The same, while the main context runs, so that a service in this thread can answer. */
Log *log_new_async(Fixture *f);
void log_free(Log *l);
/* Empties the text and sets the counts to 0. */
void log_forget(Log *l);

/* One more connection to the bus. */
GDBusConnection *log_connect(Fixture *f);

/* Runs the main context until CONDITION, or fails the test after a minute. */
#define wait_until(condition)                                                                      \
	do {                                                                                       \
		gint64 _end = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;                        \
		while (!(condition)) {                                                             \
			if (g_get_monotonic_time() > _end)                                         \
				fail_msg("not in time: %s", #condition);                           \
			main_context_turn();                                                       \
		}                                                                                  \
	} while (false)
/* Runs the main context until it has done something, or for a second. */
void main_context_turn(void);
/* Returns when the client has got everything that the daemon has sent so far. */
void log_settle(Log *l);

/* The callback of an asynchronous call: stores a reference to RESULT in *USER_DATA. */
void log_take_result(GObject *source, GAsyncResult *result, gpointer user_data);
/* A handler of "notify": appends the name of PROPERTY and a space to USER_DATA, a GString. */
void log_take_notify(GObject *o, GParamSpec *property, gpointer user_data);

/* For main(): runs TESTS. A warning of the library is a failure. */
#define log_run_tests(tests) log_run_group(#tests, tests, ARRAY_SIZE(tests))
int log_run_group(const char *name, const struct CMUnitTest *tests, size_t n);
