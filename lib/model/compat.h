/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Names that the C library and the kernel's headers of Debian 11 do not have: glibc 2.31 and
 * Linux 5.10. This file, compat-event.h and compat-glib.h have everything for an older
 * distribution.
 */

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc 2.36 has the header. */
#if __has_include(<sys/pidfd.h>)
#include <sys/pidfd.h>
#else
#include <signal.h>
#define P_PIDFD 3
static inline int pidfd_open(pid_t pid, unsigned int flags)
{
	return (int)syscall(SYS_pidfd_open, pid, flags);
}
static inline int pidfd_send_signal(int pidfd, int sig, siginfo_t *info, unsigned int flags)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, sig, info, flags);
}
#endif

/* glibc 2.32 has the function. These are the errors that a driver, netlink or a worker can give. */
#if !__GLIBC_PREREQ(2, 32)
static inline const char *strerrorname_np(int error)
{
#define NAME(e) [e] = #e
	static const char *const names[] = {
		NAME(EPERM),	       NAME(ENOENT),	   NAME(EINTR),	       NAME(EIO),
		NAME(ENXIO),	       NAME(E2BIG),	   NAME(EBADF),	       NAME(EAGAIN),
		NAME(ENOMEM),	       NAME(EACCES),	   NAME(EFAULT),       NAME(EBUSY),
		NAME(EEXIST),	       NAME(EXDEV),	   NAME(ENODEV),       NAME(ENOTDIR),
		NAME(EISDIR),	       NAME(EINVAL),	   NAME(ENFILE),       NAME(EMFILE),
		NAME(ENOTTY),	       NAME(EFBIG),	   NAME(ENOSPC),       NAME(ESPIPE),
		NAME(EROFS),	       NAME(EPIPE),	   NAME(EDOM),	       NAME(ERANGE),
		NAME(EDEADLK),	       NAME(ENAMETOOLONG), NAME(ENOSYS),       NAME(ELOOP),
		NAME(ENODATA),	       NAME(ETIME),	   NAME(EPROTO),       NAME(EBADMSG),
		NAME(EOVERFLOW),       NAME(EILSEQ),	   NAME(EMSGSIZE),     NAME(ENOPROTOOPT),
		NAME(EPROTONOSUPPORT), NAME(EOPNOTSUPP),   NAME(EAFNOSUPPORT), NAME(EADDRINUSE),
		NAME(EADDRNOTAVAIL),   NAME(ENETDOWN),	   NAME(ENETUNREACH),  NAME(ENETRESET),
		NAME(ECONNABORTED),    NAME(ECONNRESET),   NAME(ENOBUFS),      NAME(EISCONN),
		NAME(ENOTCONN),	       NAME(ESHUTDOWN),	   NAME(ETIMEDOUT),    NAME(ECONNREFUSED),
		NAME(EHOSTDOWN),       NAME(EHOSTUNREACH), NAME(EALREADY),     NAME(EINPROGRESS),
		NAME(ESTALE),	       NAME(EREMOTEIO),	   NAME(EDQUOT),       NAME(ECANCELED),
		NAME(EOWNERDEAD),      NAME(EHWPOISON),
	};
#undef NAME
	return error >= 0 && (size_t)error < sizeof(names) / sizeof(names[0]) ? names[error] : NULL;
}
#endif

/* glibc 2.33: with numbers of 64 bits. */
#if !__GLIBC_PREREQ(2, 33)
#define mallinfo2 mallinfo
#endif

/* glibc 2.34. Every descriptor is opened with O_CLOEXEC, so nothing is left to close. */
#if !__GLIBC_PREREQ(2, 34)
#define posix_spawn_file_actions_addclosefrom_np(actions, from) ((void)(actions), (void)(from), 0)
#endif

/* glibc 2.38 has the flag of Linux 6.3. */
#include <sys/mman.h>
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

/* Linux 5.17 */
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

/* Linux 5.13. The kernel that runs may be newer than the headers, so nothing is left out. */
#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#else
#define SYS_landlock_create_ruleset	444
#define SYS_landlock_add_rule		445
#define SYS_landlock_restrict_self	446
#define LANDLOCK_CREATE_RULESET_VERSION (1U << 0)
#define LANDLOCK_RULE_PATH_BENEATH	1
#define LANDLOCK_ACCESS_FS_EXECUTE	(UINT64_C(1) << 0)
#define LANDLOCK_ACCESS_FS_WRITE_FILE	(UINT64_C(1) << 1)
#define LANDLOCK_ACCESS_FS_READ_FILE	(UINT64_C(1) << 2)
#define LANDLOCK_ACCESS_FS_READ_DIR	(UINT64_C(1) << 3)
struct landlock_path_beneath_attr {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));
#endif
/* Linux 5.19 */
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (UINT64_C(1) << 13)
#endif
