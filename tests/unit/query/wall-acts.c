/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "wall-acts.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "compat.h"
#include "util.h"

Surroundings around = {.bus.sun_family = AF_UNIX};

/* The acts. Each returns a negative errno, or something else if it succeeded. */

#define SYSTEM_CALL(...) (syscall(__VA_ARGS__) < 0 ? -errno : 0)
#define C_CALL(call)	 ((call) < 0 ? -errno : 0)

int act_open_file(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int open_of_victim(const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)around.victim, name);
	return act_open_file(path, flags);
}

int act_make_socket(int family, int type, int protocol)
{
	int fd = socket(family, type | SOCK_CLOEXEC, protocol);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Signals */

static int act_kill(void)
{
	return C_CALL(kill(around.victim, 0));
}

static int act_kill_all(void)
{
	return C_CALL(kill(0, 0));
}

static int act_tkill(void)
{
	return SYSTEM_CALL(SYS_tkill, around.victim, 0);
}

static int act_tgkill(void)
{
	return SYSTEM_CALL(SYS_tgkill, around.victim, around.victim, 0);
}

static int act_sigqueue(void)
{
	return C_CALL(sigqueue(around.victim, 0, (union sigval){}));
}

static int act_pidfd_open(void)
{
	return C_CALL(pidfd_open(around.victim, 0));
}

static int act_pidfd_send_signal(void)
{
	return C_CALL(pidfd_send_signal(around.victim_pidfd, 0, NULL, 0));
}

/* A signal that the kernel sends for this process when a descriptor becomes readable */
static int act_set_owner(void)
{
	return C_CALL(fcntl(around.socket, F_SETOWN, around.victim));
}

static int act_set_signal(void)
{
	return C_CALL(fcntl(around.socket, F_SETSIG, SIGKILL));
}

/* Memory and descriptors of others */

static int act_ptrace(void)
{
	return C_CALL(ptrace(PTRACE_SEIZE, around.victim, NULL, NULL));
}

static int act_vm_read(void)
{
	static char there[1];
	char here[1];
	struct iovec from = {there, 1}, to = {here, 1};

	return C_CALL(process_vm_readv(around.victim, &to, 1, &from, 1, 0));
}

static int act_vm_write(void)
{
	static char there[1];
	char here[1] = {1};
	struct iovec to = {there, 1}, from = {here, 1};

	return C_CALL(process_vm_writev(around.victim, &from, 1, &to, 1, 0));
}

static int act_kcmp(void)
{
	return SYSTEM_CALL(SYS_kcmp, getpid(), around.victim, KCMP_FILE, 2, 2);
}

static int act_pidfd_getfd(void)
{
	return SYSTEM_CALL(__NR_pidfd_getfd, around.victim_pidfd, STDERR_FILENO, 0);
}

static int act_memory_file(void)
{
	return open_of_victim("mem", O_RDWR);
}

static int act_environment(void)
{
	return open_of_victim("environ", O_RDONLY);
}

static int act_descriptors(void)
{
	return open_of_victim("fd", O_RDONLY | O_DIRECTORY);
}

static int act_be_traced(void)
{
	return C_CALL(prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY));
}

static int act_dumpable(void)
{
	return C_CALL(prctl(PR_SET_DUMPABLE, 1));
}

/* Sockets */

static int act_unix(void)
{
	return act_make_socket(AF_UNIX, SOCK_STREAM, 0);
}

static int act_unix_datagram(void)
{
	return act_make_socket(AF_UNIX, SOCK_DGRAM, 0);
}

static int act_inet(void)
{
	return act_make_socket(AF_INET, SOCK_STREAM, 0);
}

static int act_uevent(void)
{
	return act_make_socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
}

static int act_connect(void)
{
	return C_CALL(connect(around.socket, (struct sockaddr *)&around.bus, sizeof(around.bus)));
}

static int act_listen(void)
{
	return C_CALL(listen(around.socket, 1)) == -EINVAL ? 0 : -errno; /* it has no name */
}

static int act_socketpair(void)
{
	int fds[2];

	return C_CALL(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds));
}

/* Programs, threads, namespaces */

static int act_execute(void)
{
	return C_CALL(execl("/bin/true", "true", NULL));
}

static int act_fork(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -errno : 0;
}

static int act_clone3(void)
{
	return SYSTEM_CALL(SYS_clone3, NULL, 0UL);
}

static void *thread(_unused_ void *userdata)
{
	return NULL;
}

static int act_thread(void)
{
	pthread_t t;

	return -pthread_create(&t, NULL, thread, NULL);
}

static int act_user_namespace(void)
{
	return C_CALL(unshare(CLONE_NEWUSER));
}

static int act_enter_namespace(void)
{
	return C_CALL(setns(STDERR_FILENO, 0));
}

/* Files */

static int act_make_file(void)
{
	char path[sizeof(around.file)];

	snprintf(path, sizeof(path), "%s/new", around.directory);
	return act_open_file(path, O_RDWR | O_CREAT);
}

static int act_nameless_file(void)
{
	return act_open_file(around.directory, O_RDWR | O_TMPFILE);
}

static int act_write_file(void)
{
	return act_open_file(around.file, O_WRONLY);
}

static int act_truncate_by_open(void)
{
	return act_open_file(around.file, O_WRONLY | O_TRUNC);
}

static int act_truncate(void)
{
	return C_CALL(truncate(around.file, 0));
}

static int act_read_file(void)
{
	return act_open_file("/etc/passwd", O_RDONLY);
}

static int act_list_root(void)
{
	return act_open_file("/", O_RDONLY | O_DIRECTORY);
}

static int act_unlink(void)
{
	return C_CALL(unlink(around.file));
}

static int act_rename(void)
{
	return C_CALL(rename(around.file, around.file));
}

static int act_link(void)
{
	return C_CALL(symlink("x", around.bus.sun_path));
}

static int act_mkdir(void)
{
	return C_CALL(mkdir(around.directory, 0700));
}

static int act_chmod(void)
{
	return C_CALL(chmod(around.file, 0600));
}

static int act_chdir(void)
{
	return C_CALL(chdir("/"));
}

/* The kernel */

static int act_mount(void)
{
	return C_CALL(mount(NULL, NULL, NULL, 0, NULL));
}

static int act_chroot(void)
{
	return C_CALL(chroot(around.directory));
}

static int act_init_module(void)
{
	return SYSTEM_CALL(SYS_init_module, NULL, 0UL, "");
}

static int act_finit_module(void)
{
	return SYSTEM_CALL(SYS_finit_module, -1, "", 0);
}

static int act_bpf(void)
{
	return SYSTEM_CALL(SYS_bpf, 0, NULL, 0);
}

static int act_perf(void)
{
	return SYSTEM_CALL(SYS_perf_event_open, NULL, 0, -1, -1, 0UL);
}

static int act_io_uring(void)
{
	return SYSTEM_CALL(SYS_io_uring_setup, 0, NULL);
}

static int act_userfaultfd(void)
{
	return SYSTEM_CALL(SYS_userfaultfd, ~0);
}

static int act_key(void)
{
	return SYSTEM_CALL(SYS_keyctl, 0, -1, 1, 0, 0);
}

static int act_shared_memory(void)
{
	return C_CALL(shmget(IPC_PRIVATE, 1, 0600));
}

static int act_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	return C_CALL(setrlimit(RLIMIT_NOFILE, &limit));
}

static int act_new_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	return p == MAP_FAILED ? -errno : 0;
}

static int act_code_from_data(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -EIO : C_CALL(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int act_terminal(void)
{
	return C_CALL(ioctl(STDERR_FILENO, TIOCSTI, NULL));
}

#define ACT(name, kind)                                                                            \
	{                                                                                          \
#name, act_##name, kind                                                            \
	}

const Act acts[] = {
	ACT(kill, SUCCEEDS),
	ACT(kill_all, SUCCEEDS),
	ACT(tkill, SUCCEEDS),
	ACT(tgkill, SUCCEEDS),
	ACT(sigqueue, SUCCEEDS),
	ACT(pidfd_open, SUCCEEDS),
	ACT(pidfd_send_signal, SUCCEEDS),
	ACT(set_owner, SUCCEEDS),
	ACT(set_signal, SUCCEEDS),
	ACT(ptrace, DIFFERS),
	ACT(vm_read, DIFFERS),
	ACT(vm_write, DIFFERS),
	ACT(kcmp, MAY_BE_AWAY),
	ACT(pidfd_getfd, DIFFERS),
	ACT(memory_file, BY_NAME),
	ACT(environment, BY_NAME),
	ACT(descriptors, BY_NAME),
	ACT(be_traced, DIFFERS),
	ACT(dumpable, SUCCEEDS),
	ACT(unix, SUCCEEDS),
	ACT(unix_datagram, SUCCEEDS),
	ACT(inet, SUCCEEDS),
	ACT(uevent, SUCCEEDS),
	ACT(connect, SUCCEEDS),
	ACT(listen, SUCCEEDS),
	ACT(socketpair, SUCCEEDS),
	ACT(execute, SUCCEEDS),
	ACT(fork, SUCCEEDS),
	ACT(clone3, DIFFERS),
	ACT(thread, SUCCEEDS),
	ACT(user_namespace, DIFFERS),
	ACT(enter_namespace, DIFFERS),
	ACT(make_file, SUCCEEDS),
	ACT(nameless_file, DIFFERS),
	ACT(write_file, BY_NAME),
	ACT(truncate_by_open, SUCCEEDS),
	ACT(truncate, SUCCEEDS),
	ACT(read_file, BY_NAME),
	ACT(list_root, BY_NAME),
	ACT(unlink, SUCCEEDS),
	ACT(rename, DIFFERS),
	ACT(link, DIFFERS),
	ACT(mkdir, DIFFERS),
	ACT(chmod, DIFFERS),
	ACT(chdir, SUCCEEDS),
	ACT(mount, DIFFERS),
	ACT(chroot, DIFFERS),
	ACT(init_module, MAY_BE_AWAY),
	ACT(finit_module, MAY_BE_AWAY),
	ACT(bpf, MAY_BE_AWAY),
	ACT(perf, MAY_BE_AWAY),
	ACT(io_uring, MAY_BE_AWAY),
	ACT(userfaultfd, MAY_BE_AWAY),
	ACT(key, MAY_BE_AWAY),
	ACT(shared_memory, SUCCEEDS),
	ACT(limit, SUCCEEDS),
	ACT(new_code, SUCCEEDS),
	ACT(code_from_data, SUCCEEDS),
	ACT(terminal, DIFFERS),
	{},
};

int (*act_named(const char *name))(void)
{
	const Act *a = acts;

	while (!streq(a->name, name))
		a++;
	return a->act;
}
