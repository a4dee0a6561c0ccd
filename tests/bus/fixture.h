/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A private bus, a real rdmad on a scenario, and a client that records every signal.
 *
 * The bus is dbus-daemon, or dbus-broker if RDMAD_TEST_BUS says so. rdmad is that of the build, or
 * that in RDMAD_TEST_DAEMON. Every function that waits waits for a message, and fails the test if
 * none comes within a minute. So no test depends on how long something takes.
 */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <systemd/sd-bus.h>

#include "names.h"
#include "util.h"

typedef struct Fixture {
	char directory[64];	   /* a temporary directory, removed at the end */
	char address[128];	   /* the D-Bus address of the bus */
	pid_t bus_pid, daemon_pid; /* 0: it does not run */
	sd_bus *bus;		   /* the connection of the test */
	/* The signals from org.rdma since the last fixture_forget(), the oldest first. */
	sd_bus_message **signals;
	size_t n_signals;
	/* Also those of Health, Findings and Rail, which follow some milliseconds after others. */
	bool with_health;
} Fixture;

/* CLOCK_MONOTONIC, in microseconds and in milliseconds. */
uint64_t fixture_now_usec(void);
double fixture_now_ms(void);

/* Starts a bus and connects to it. */
Fixture *fixture_new(void);
/* Ends the daemon and the bus if they run. F may be NULL. Returns NULL. */
Fixture *fixture_free(Fixture *f);

/* The same in the form that cmocka needs: *STATE is the fixture. The second function also starts
 * the daemon. The third one ends the daemon if it runs; if its exit status is not 0, it prints the
 * log of the daemon and fails. */
int fixture_setup(void **state);
int fixture_setup_daemon(void **state, const char *scenario);
int fixture_teardown(void **state);

/* Start and stop the bus. Its address stays the same. */
void fixture_start_bus(Fixture *f);
void fixture_stop_bus(Fixture *f);
/* Connects to the bus again, after it was started again. */
void fixture_connect(Fixture *f);

/* Records the signals of PATHS, of a connection that fixture_client() has made: "path='/org/rdma'".
 */
void fixture_listen(Fixture *f, const char *paths);

/* Makes one more client connection. The caller closes it. */
sd_bus *fixture_client(const Fixture *f);

/* Writes the rdmad.conf that the next daemon reads. */
void fixture_configure(const Fixture *f, const char *text);

/* Starts rdmad on SCENARIO, which is the text of one, and waits until it owns its name. OPTIONS
 * ends with NULL, or is NULL. */
void fixture_start_daemon(Fixture *f, const char *scenario, const char *const *options);
/* The same without waiting. Returns the process id. The output of rdmad goes to the file
 * "daemon.log" in the directory. */
pid_t fixture_spawn_daemon(Fixture *f, const char *scenario, const char *const *options);
/* Sends SIGNAL to the daemon and waits until it has ended. Returns its exit status, or minus the
 * number of the signal that killed it. */
int fixture_stop_daemon(Fixture *f, int signal);
/* Waits until a child has ended. Returns the same. */
int fixture_wait_process(pid_t pid);
/* What the daemon has written so far. The caller frees the string. */
char *fixture_daemon_log(const Fixture *f);
/* Waits until org.rdma has an owner. */
void fixture_wait_name(Fixture *f);

/* Calls METHOD of INTERFACE at PATH and returns the reply. If the reply is an error, returns NULL
 * and the name of the error in *RET_ERROR, which the caller frees; if RET_ERROR is NULL, fails the
 * test. */
sd_bus_message *fixture_call(Fixture *f, const char *path, const char *interface,
			     const char *method, char **ret_error, const char *types, ...);
/* For sd_bus_call_method_async(): keeps the reply in the first place of USERDATA, an array of
 * messages, that is NULL. */
int fixture_keep_reply(sd_bus_message *m, void *userdata, sd_bus_error *error);
/* Waits until *REPLY is such a reply. */
void fixture_wait_reply(Fixture *f, sd_bus_message **reply);
/* Reads the next entry of a table: the positional members, which have the TYPES, as
 * sd_bus_message_read() does. The tail is skipped, if there is one. 0 at the end of the table. */
int fixture_read_entry(sd_bus_message *m, const char *types, ...);
/* Whether calls can be made as another user: only root can. If not, says so. */
bool fixture_can_be_other_user(void);
/* Runs ACT with a connection of another user (nobody), in a process of its own. It has to return 0.
 */
void fixture_as_nobody(Fixture *f, int (*act)(sd_bus *bus));
/* A connection of another user (nobody) calls METHOD without options; it has to be answered without
 * an error. */
void fixture_assert_other_user(Fixture *f, const char *path, const char *interface,
			       const char *method);
/* Calls Run() of org.rdma.Simulator with COMMAND and without options. An error fails the test. */
void fixture_simulate(Fixture *f, const char *command);

/* Returns a property as text: numbers are decimal, booleans are "yes" and "no", of an array only
 * the length is printed. The caller frees it. */
char *fixture_property(Fixture *f, const char *path, const char *interface, const char *name);
/* Why property NAME of the object at PATH has no value; "" if it has one. The caller frees it. */
char *fixture_code_of(Fixture *f, const char *path, const char *interface, const char *name);
void fixture_assert_property(Fixture *f, const char *path, const char *interface, const char *name,
			     const char *expected);

/* Forgets the recorded signals. */
void fixture_forget(Fixture *f);
/* Makes a call and waits for the answer: all signals that the daemon sent before it are recorded
 * then. */
void fixture_barrier(Fixture *f);
/* Returns the first signal MEMBER from PATH (NULL: any path), and waits for it if none is recorded
 * yet. The test fails if none comes. */
sd_bus_message *fixture_wait_signal(Fixture *f, const char *path, const char *member);
/* Waits until one more signal is recorded, whichever it is. */
void fixture_wait_more(Fixture *f);
/* How many signals MEMBER from PATH (NULL: any path) are recorded. */
size_t fixture_count_signals(const Fixture *f, const char *path, const char *member);
/* Whether the PropertiesChanged SIGNAL has PROPERTY of INTERFACE: 1 with a value, 2 as invalidated,
 * 0 not at all. */
int fixture_changed(sd_bus_message *signal, const char *interface, const char *property);
