/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the tests with rdma_sim share: rdmad as a service with a configuration of the test's,
 * commands to the module, and what to wait for. Everything fails the test if it does not come
 * about.
 */

#include "compare.h"

#define PORT	   RDMAD_INTERFACE_PORT
#define INFINIBAND RDMAD_INTERFACE_INFINIBAND
#define ETHERNET   RDMAD_INTERFACE_ETHERNET
#define DEVICE	   RDMAD_INTERFACE_DEVICE

/* A shell command, which must succeed. */
void run(const char *format, ...) _printf_(1, 2);
/* A command to rdma_sim, which must be taken. */
void sim(const char *format, ...) _printf_(1, 2);
/* A number in what rdma_sim says of NAME/PORT: "calls", "query.user". */
uint64_t sim_number(const char *line, const char *port, const char *key);

/* The fixture for the guest's own bus and service. */
Fixture *fabric_new(void);
/* rdmad anew, with no device left from before. */
void fabric_restart(Fixture *f, const char *configuration);
/* The process of the service. */
pid_t fabric_pid(void);
/* The process of its worker: the child that is a rdmad-query. 0: there is none. */
pid_t fabric_worker(pid_t daemon);
unsigned int count_descriptors(pid_t pid);
unsigned long resident_kib(pid_t pid);

/* Waits until the port, "sim0/1", is published. Returns the kernel index of its device. */
uint32_t wait_port(Fixture *f, const char *name);
/* "/org/rdma/device/3/port/1", by value. */
typedef struct Path {
	char text[RDMAD_PATH_MAX];
} Path;
Path path_of(uint32_t index, uint32_t port);
void wait_property(Fixture *f, const char *path, const char *interface, const char *name,
		   const char *value);
/* Waits until the port equals what libibverbs says: the kernel goes on for some ms after it told.
 */
void wait_equal(Fixture *f, uint32_t index, uint32_t port);
/* Waits until rdmad looks at the port no more: a new device is looked at several times, the last
 * time after a second. */
void wait_quiet(Fixture *f, const char *port);
/* Waits until the device is no more. */
void wait_gone(Fixture *f, uint32_t index);
/* Manager.Refresh(). */
void refresh(Fixture *f);

/* All words of A are among the words of B. */
bool words_within(const char *a, const char *b);
/* The names of all properties that recorded signals say of PATH to have changed. To be freed. */
char *changed_properties(Fixture *f, const char *path);
/*
 * Follows the recorded StateChanged of PATH from state *STATE: each must begin where the one before
 * ended. Returns how many there were, and leaves the last state in STATE, which has 32 bytes.
 */
unsigned int follow_states(Fixture *f, const char *path, char *state);
/* How many SubnetReconfigured of PATH with REASON (NULL: any) are recorded. */
unsigned int count_reconfigured(Fixture *f, const char *path, const char *reason);
