/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A client, and all that it has reported, as text: one line a signal. */

#include <rdmad-glib.h>

#include "fixture.h"

typedef struct Log {
	RdmadClient *client;
	GString *text;	   /* "port-changed mlx5_0/1 state lid\n", ... */
	guint n_batches;   /* of the signal "changed" */
	guint n_last;	   /* changes in the last of them */
	guint n_connected; /* notify::connected */
} Log;

/* An initialized client on the bus of F. */
Log *log_new(Fixture *f);
/* The same asynchronously, so that a service in this process can answer. */
Log *log_new_async(Fixture *f);
void log_free(Log *l);
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
/* Waits for something to happen, but not for ever. */
void main_context_turn(void);
/* All that the daemon has said so far is then with the client. */
void log_settle(Log *l);

/* The callback of an asynchronous call: stores a reference to RESULT in *USER_DATA. */
void log_take_result(GObject *source, GAsyncResult *result, gpointer user_data);
/* A handler of "notify": appends the name of PROPERTY and a space to USER_DATA, a GString. */
void log_take_notify(GObject *o, GParamSpec *property, gpointer user_data);

/* For main(): runs TESTS. A warning of the library is a failure. */
#define log_run_tests(tests) log_run_group(#tests, tests, ARRAY_SIZE(tests))
int log_run_group(const char *name, const struct CMUnitTest *tests, size_t n);
