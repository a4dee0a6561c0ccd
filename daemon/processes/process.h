/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A process in /proc: its user, its name, and its control group.
 * See proc(5). */

#include <stdint.h>

typedef struct Process {
	uint32_t pid;	       /* the process that the number asked for is a thread of */
	uint32_t uid;	       /* PROCESS_NO_UID: nobody but root may see into it */
	uint64_t started_usec; /* CLOCK_BOOTTIME */
	char name[16];	       /* that of its first thread */
	char cgroup[256];      /* a path, such as /system.slice/nginx.service */
} Process;

#define PROCESS_NO_UID UINT32_MAX

/*
 * Reads the process of thread TID from PROC, a directory as /proc. -ESRCH: there is none. Another
 * negative errno: it cannot be read.
 *
 * The user is the one who may see the process with hidepid=2 (ptrace_may_access() in the kernel's
 * kernel/ptrace.c), but that groups are not looked at: the real, effective and saved one, if these
 * are the same. One that is not dumpable, such as one whose program has more rights than its user,
 * belongs to nobody: the kernel gives the files of its directory in /proc to root, though not that
 * directory (task_dump_owner() in fs/proc/base.c).
 *
 * The control group is that of the hierarchy of systemd; on a machine with others (version 1), that
 * of a Slurm job if there is one, because Slurm does not use that of systemd.
 */
int process_read(int proc, uint32_t tid, Process *ret);
