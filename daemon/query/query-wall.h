/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The wall around a worker. The worker runs code that rdmad does not trust: libraries of vendors,
 * which believe what a device says. The core, which talks to all users, is a process of the same
 * user in the same unit. After wall_put_on() this process, and whatever it starts, can
 *
 *   - open devices and read sysfs, and load libraries from /usr, /lib, /opt and LD_LIBRARY_PATH;
 *   - ask NETLINK_RDMA, NETLINK_ROUTE and NETLINK_GENERIC, and network interfaces by SIOCETHTOOL;
 *   - use the descriptors that it has: the connection to the core, and standard error.
 *
 * The process cannot signal, trace or read another process, reach the bus or any other service,
 * execute a program, start a thread, make or change a file, read any other file, mount, load a
 * module or code for BPF, or get a namespace. Two things of the kernel enforce this. Neither needs
 * a right.
 *
 *   - seccomp(2), with libseccomp: a list of the system calls that are allowed. Any other answers
 *     ENOSYS, as on a kernel that does not have it: with that answer glibc and the drivers go on
 *     another way. Only a call of another architecture (x32, i386) ends the process.
 *   - Landlock, Linux 5.13: a list of the files. seccomp sees no file names. On a kernel without
 *     Landlock the process can read and open what its user can, but still makes no file.
 *
 * Why not a unit of its own for the worker, started by a socket, with another user: the core would
 * not be the parent of the worker. It could not kill one that hangs at once, would not learn how
 * one ended, and a worker that hangs in the kernel (state D) would keep its unit from being started
 * again. See SECURITY.md.
 *
 * A nursery (shared/nursery.h) is behind a wall that ISOLATES, and puts on no other: it asks no
 * device. A worker that it forks is behind that wall, and puts on its own too.
 *
 * A sanitizer, and gcov, do what the wall forbids: builds with them have none (RDMAD_NO_WALL).
 */

#include <stdbool.h>

/*
 * Puts the wall on, for the rest of this process' life. Call it when libibverbs has listed the
 * devices: providers that it loads later are found all the same, but listing is quicker before.
 * ISOLATES: the process may start this program again (query-isolated.h), and no other. The started
 * process is behind the wall, and can put on one without ISOLATES.
 *
 * Without one of the two parts, the other is put on. Returns 0, the error of Landlock (-EOPNOTSUPP:
 * the kernel has none), or that of seccomp, which counts more. Does not log.
 */
int wall_put_on(bool isolates);
/* Makes now the most of what wall_put_on(false) needs: before a process puts on a wall that
 * ISOLATES and forks, so that those that it forks need not make it. */
void wall_prepare(void);
