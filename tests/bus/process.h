/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the kernel says of a process. Each fails the test if the process has gone. */

#include <sys/resource.h>
#include <sys/types.h>

/* How many entries the directory /proc/PID/WHAT has. */
unsigned int process_count_entries(pid_t pid, const char *what);
/* Waits until the process PID has at most MOST entries there of "fd". What it has for a moment,
 * such as the socket of a worker that starts, is no leak; a count before is that of when it had
 * answered. */
void process_wait_descriptors(pid_t pid, unsigned int most);
unsigned int process_count_children(pid_t pid);
unsigned long process_resident_kib(pid_t pid);

/* How many descriptors it may have open. Those that are open stay open. */
rlim_t process_max_descriptors(pid_t pid);
void process_set_max_descriptors(pid_t pid, rlim_t n);
