/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A private bus, a real rdmad on a scenario, and a client that records every signal.
 *
 * The bus is dbus-daemon, or dbus-broker if RDMAD_TEST_BUS says so. Everything that waits, waits
 * for a message, and gives up after a guard of a minute: no test depends on how long anything
 * takes.
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
	char directory[64]; /* temporary; removed at the end */
	char address[128];
	pid_t bus_pid, daemon_pid;
	sd_bus *bus;
	sd_bus_message **signals; /* from org.rdma since the last fixture_forget(), oldest first */
	size_t n_signals;
} Fixture;

/* CLOCK_MONOTONIC, in microseconds and in milliseconds. */
uint64_t fixture_now_usec(void);
double fixture_now_ms(void);

/* Starts a bus and connects to it. */
Fixture *fixture_new(void);
Fixture *fixture_free(Fixture *f);

/* The same as cmocka wants it: *STATE is the fixture. The second starts the daemon too, the third
 * fails if the daemon still runs and does not end well, and prints what it said. */
int fixture_setup(void **state);
int fixture_setup_daemon(void **state, const char *scenario);
int fixture_teardown(void **state);

/* Starts or ends the bus at the same address. */
void fixture_start_bus(Fixture *f);
void fixture_stop_bus(Fixture *f);
/* A new client connection, after the bus was started again. */
void fixture_connect(Fixture *f);

/* One more client, to be closed by the caller. */
sd_bus *fixture_client(const Fixture *f);

/* What the next daemon finds in its rdmad.conf. */
void fixture_configure(const Fixture *f, const char *text);

/* Runs rdmad on SCENARIO (its text) with OPTIONS (NULL-terminated, may be NULL) and waits until it
 * owns its name. */
void fixture_start_daemon(Fixture *f, const char *scenario, const char *const *options);
/* The same without waiting: returns the process; its output goes to FILE "daemon.log" in the
 * directory. */
pid_t fixture_spawn_daemon(Fixture *f, const char *scenario, const char *const *options);
/* Sends SIGNAL and returns the exit status, or minus the number of the signal that killed it. */
int fixture_stop_daemon(Fixture *f, int signal);
int fixture_wait_process(pid_t pid);
/* What the daemon has written so far: a string to be freed. */
char *fixture_daemon_log(const Fixture *f);
void fixture_wait_name(Fixture *f);

/* Calls METHOD of INTERFACE at PATH. The reply, or NULL with the error's name in *RET_ERROR (to be
 * freed) if that is not NULL; a test failure otherwise. */
sd_bus_message *fixture_call(Fixture *f, const char *path, const char *interface,
			     const char *method, char **ret_error, const char *types, ...);
/* Whether calls can be made as another user: only root can. If not, says so. */
bool fixture_can_be_other_user(void);
/* A connection of another user (nobody) calls METHOD without options; it has to be answered without
 * an error. */
void fixture_assert_other_user(Fixture *f, const char *path, const char *interface,
			       const char *method);
/* org.rdma.Simulator at /org/rdma: the method's arguments without the options, which are empty.
 * Fails the test on an error. */
void fixture_simulate(Fixture *f, const char *command);

/* A property as text: numbers in decimal, booleans as yes and no, arrays as their length. To be
 * freed. */
char *fixture_property(Fixture *f, const char *path, const char *interface, const char *name);
void fixture_assert_property(Fixture *f, const char *path, const char *interface, const char *name,
			     const char *expected);

/* Forgets what was recorded. */
void fixture_forget(Fixture *f);
/* Receives until the daemon has answered: everything that it sent before is then recorded. */
void fixture_barrier(Fixture *f);
/* Waits for a signal MEMBER from PATH (NULL: any) that is recorded or comes; a test failure if it
 * does not. */
sd_bus_message *fixture_wait_signal(Fixture *f, const char *path, const char *member);
/* Waits for one more message of any kind. */
void fixture_wait_more(Fixture *f);
/* How many of them are recorded. */
size_t fixture_count_signals(const Fixture *f, const char *path, const char *member);
/* A recorded PropertiesChanged has PROPERTY: 1 with a value, 2 invalidated, 0 not at all. */
int fixture_changed(sd_bus_message *signal, const char *interface, const char *property);
