/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-wall.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "compat.h"
#include "query-wall-files.h"
#include "util.h"

/* From headers that do not go together with the above */
#define RDMA_IOCTL    0x1b00 /* the type of all ioctls of uverbs: _IOC_TYPE in its place */
#define TYPE_OF_IOCTL 0xff00
#define TERMINAL_GET  0x5401 /* TCGETS: stdio asks whether it writes to a terminal */
#define GET_IF_NAME   0x8910 /* SIOCGIFNAME */
#define GET_IF_INDEX  0x8933 /* SIOCGIFINDEX */
/* SIOCETHTOOL. The command is in memory, which seccomp does not see. What sets something the kernel
 * does only for CAP_NET_ADMIN, as what NETLINK_GENERIC and NETLINK_ROUTE have. */
#define ASK_ETHTOOL 0x8946

#define WORD UINT32_MAX

/* Stands in a prepared filter for the process that loads it: no number of a process or of anything
 * else that a filter compares. */
#define SOME_PID 0x7e57ab1e

/* Allowed whatever the arguments are. Names that this architecture does not have are skipped. */
static const char *const calls[] = {
	/* descriptors and files */
	"close",
	"close_range",
	"read",
	"readv",
	"pread64",
	"write",
	"writev",
	"lseek",
	"_llseek",
	"stat",
	"stat64",
	"lstat",
	"lstat64",
	"fstat",
	"fstat64",
	"fstatat64",
	"newfstatat",
	"statx",
	"access",
	"faccessat",
	"faccessat2",
	"readlink",
	"readlinkat",
	"getdents",
	"getdents64",
	"poll",
	"ppoll",
	"ppoll_time64",
	"epoll_ctl",
	"epoll_wait",
	"epoll_pwait",
	"epoll_pwait2",
	"epoll_create1",
	/* the sockets that it has, or may make */
	"bind",
	"getsockname",
	"getsockopt",
	"setsockopt",
	"recv",
	"recvfrom",
	"recvmsg",
	"send",
	"sendto",
	"sendmsg",
	/* memory */
	"brk",
	"madvise",
	"mremap",
	"munmap",
	/* time, and the process itself */
	"clock_gettime",
	"clock_gettime64",
	"clock_getres",
	"clock_nanosleep",
	"clock_nanosleep_time64",
	"gettimeofday",
	"nanosleep",
	"time",
	"futex",
	"futex_time64",
	"getcpu",
	"getegid",
	"geteuid",
	"getgid",
	"getpid",
	"getppid",
	"getrandom",
	"getrlimit",
	"ugetrlimit",
	"gettid",
	"getuid",
	"sched_getaffinity",
	"sched_yield",
	"sysinfo",
	"uname",
	"arch_prctl",
	"rseq",
	"set_robust_list",
	"set_tid_address",
	"setitimer",
	"restart_syscall",
	"rt_sigaction",
	"rt_sigprocmask",
	"rt_sigreturn",
	"sigaltstack",
	"sigreturn",
	"exit",
	"exit_group",
};

/* Besides, to start this program again and wait for its end; and for that program to put on its
 * own wall. */
static const char *const isolating_calls[] = {
	"execve",
	"wait4",
	"waitid",
	"pidfd_open",
	"dup2",
	"dup3",
	"landlock_add_rule",
	"landlock_create_ruleset",
	"landlock_restrict_self",
	"seccomp",
};

/* Allowed if MASK leaves VALUE of the argument, for both where there are two. One row is enough. A
 * row without a mask for its second argument has no second. */
typedef struct Row {
	const char *call;
	struct {
		unsigned int number;
		uint64_t mask, value;
	} arguments[2];
} Row;

#define NAMESPACES                                                                                 \
	((unsigned int)(CLONE_NEWCGROUP | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWNS |              \
			CLONE_NEWPID | CLONE_NEWUSER | CLONE_NEWUTS))
/* O_TMPFILE is this bit and O_DIRECTORY. */
#define MAKES_FILE (O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))

#ifdef __s390__
#define CLONE_FLAGS 1
#else
#define CLONE_FLAGS 0
#endif

static const Row rows[] = {
	{"open", {{1, MAKES_FILE, 0}}},
	{"openat", {{2, MAKES_FILE, 0}}},
	/* Not allowed are F_SETOWN and F_SETSIG, which send signals. */
	{"fcntl", {{1, WORD, F_DUPFD_CLOEXEC}}},
	{"fcntl", {{1, WORD, F_GETFD}}},
	{"fcntl", {{1, WORD, F_SETFD}}},
	{"fcntl", {{1, WORD, F_GETFL}}},
	{"fcntl", {{1, WORD, F_SETFL}}},
	{"fcntl64", {{1, WORD, F_DUPFD_CLOEXEC}}},
	{"fcntl64", {{1, WORD, F_GETFD}}},
	{"fcntl64", {{1, WORD, F_SETFD}}},
	{"fcntl64", {{1, WORD, F_GETFL}}},
	{"fcntl64", {{1, WORD, F_SETFL}}},
	{"ioctl", {{1, TYPE_OF_IOCTL, RDMA_IOCTL}}},
	{"ioctl", {{1, WORD, TERMINAL_GET}}},
	{"ioctl", {{1, WORD, GET_IF_NAME}}},
	{"ioctl", {{1, WORD, GET_IF_INDEX}}},
	{"ioctl", {{1, WORD, ASK_ETHTOOL}}},
	{"socket", {{0, WORD, AF_NETLINK}, {2, WORD, NETLINK_ROUTE}}},
	{"socket", {{0, WORD, AF_NETLINK}, {2, WORD, NETLINK_RDMA}}},
	{"socket", {{0, WORD, AF_NETLINK}, {2, WORD, NETLINK_GENERIC}}},
	/* No memory that can be written and executed */
	{"mmap", {{2, PROT_WRITE, 0}}},
	{"mmap", {{2, PROT_EXEC, 0}}},
	{"mmap2", {{2, PROT_WRITE, 0}}},
	{"mmap2", {{2, PROT_EXEC, 0}}},
	{"mprotect", {{2, PROT_EXEC, 0}}},
	{"prlimit64", {{2, UINT64_MAX, 0}}}, /* reading, not setting */
	{"prctl", {{0, WORD, PR_GET_DUMPABLE}}},
	{"prctl", {{0, WORD, PR_SET_NAME}}},
	{"prctl", {{0, WORD, PR_SET_VMA}}}, /* glibc gives its memory names */
};

static const Row isolating_rows[] = {
	{"clone", {{CLONE_FLAGS, NAMESPACES, 0}}},
	{"prctl", {{0, WORD, PR_SET_NO_NEW_PRIVS}}},
	{"prctl", {{0, WORD, PR_SET_PDEATHSIG}}},
	{"socketpair", {{0, WORD, AF_UNIX}, {1, WORD, SOCK_SEQPACKET | SOCK_CLOEXEC}}},
};

static int allow_calls(scmp_filter_ctx filter, const char *const *names, size_t n)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		int call = seccomp_syscall_resolve_name(names[i]);

		if (call != __NR_SCMP_ERROR)
			r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
	}
	return r;
}

static int allow_rows(scmp_filter_ctx filter, const Row *first, size_t n)
{
	int r = 0;

	for (const Row *row = first; r == 0 && row < first + n; row++) {
		struct scmp_arg_cmp conditions[2] = {};
		unsigned int k = 0;
		int call = seccomp_syscall_resolve_name(row->call);

		if (call == __NR_SCMP_ERROR)
			continue;
		do {
			conditions[k] = (struct scmp_arg_cmp){.arg = row->arguments[k].number,
							      .op = SCMP_CMP_MASKED_EQ,
							      .datum_a = row->arguments[k].mask,
							      .datum_b = row->arguments[k].value};
		} while (++k < ARRAY_SIZE(conditions) && row->arguments[k].mask);
		r = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, k, conditions);
	}
	return r;
}

/* For abort(): signals to itself, which is PID. */
static int allow_abort(scmp_filter_ctx filter, pid_t pid)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				SCMP_A0(SCMP_CMP_MASKED_EQ, WORD, (scmp_datum_t)pid));
}

static int fill(scmp_filter_ctx filter, bool isolates, bool signals, pid_t pid)
{
	int r = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	/* A tree in place of a list: the common calls cost less. */
	if (r == 0)
		r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (r == 0)
		r = allow_calls(filter, calls, ARRAY_SIZE(calls));
	if (r == 0)
		r = allow_rows(filter, rows, ARRAY_SIZE(rows));
	if (r == 0)
		r = allow_abort(filter, pid);
	if (r < 0 || !isolates)
		return r;
	r = allow_calls(filter, isolating_calls, ARRAY_SIZE(isolating_calls));
	if (r == 0)
		r = allow_rows(filter, isolating_rows, ARRAY_SIZE(isolating_rows));
	/* With these calls alone, a worker could kill any process of its user. A worker kills the
	 * processes that it has started, and a process may abort(). */
	if (r == 0 && signals)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(pidfd_send_signal), 0);
	if (r == 0 && signals)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 0);
	return r;
}

/* The filter of a process that does not isolate, if wall_prepare() has made it. */
static struct sock_filter prepared[BPF_MAXINSNS];
static unsigned short n_prepared;

/* Makes the filter, and loads it. If FD is not negative, writes it there instead. */
static int make_filter(bool isolates, bool signals, pid_t pid, int fd)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int r;

	if (!filter)
		return -ENOMEM;
	r = fill(filter, isolates, signals, pid);
	if (r == 0)
		r = fd < 0 ? seccomp_load(filter) : seccomp_export_bpf(filter, fd);
	seccomp_release(filter);
	return r;
}

void wall_prepare(void)
{
	_cleanup_close_ int fd = memfd_create("wall", MFD_CLOEXEC);
	ssize_t n = 0;

	if (fd >= 0 && make_filter(false, false, SOME_PID, fd) == 0)
		n = pread(fd, prepared, sizeof(prepared), 0);
	n_prepared = (unsigned short)(MAX(n, 0) / (ssize_t)sizeof(prepared[0]));
}

static int load_prepared(void)
{
	struct sock_fprog program = {.len = n_prepared, .filter = prepared};

	for (unsigned int i = 0; i < n_prepared; i++)
		if (prepared[i].k == SOME_PID)
			prepared[i].k = (uint32_t)getpid();
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? -errno : 0;
}

static int put_on_calls(bool isolates, bool signals)
{
	return isolates || n_prepared == 0 ? make_filter(isolates, signals, getpid(), -EBADF)
					   : load_prepared();
}

int wall_put_on(bool isolates)
{
	bool signals = false;
	int files, r;

#ifdef RDMAD_NO_WALL
	return 0;
#endif
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	files = wall_files_put_on(isolates, &signals);
	/* Nothing else keeps another worker from the memory of this one, through /proc/PID/mem. The
	 * price is the core dump. */
	if (files < 0)
		prctl(PR_SET_DUMPABLE, 0);
	r = put_on_calls(isolates, signals);
	return r < 0 ? r : files;
}
