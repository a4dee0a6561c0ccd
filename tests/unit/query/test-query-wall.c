/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a worker cannot do behind its wall, tried act by act, and what it still can. Each act is
 * tried in a process of its own, without the wall too: an act that fails anyway would prove
 * nothing. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "child.h"
#include "compat.h"
#include "landlock.h"
#include "query-driver-stats.h"
#include "query-ifname.h"
#include "query-wall.h"
#include "util.h"
#include "wall-acts.h"

#define KILLED 255 /* the result of an act that a signal ended */

static bool had_landlock; /* this kernel has it, and it was not hidden */

typedef enum Wall {
	WALL_NONE,
	WALL_WHOLE,
	WALL_WITHOUT_LANDLOCK, /* as on a kernel that has none */
	WALL_ISOLATES,
	WALL_FORKED /* of a worker that a nursery has forked */
} Wall;

static void hide_landlock(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SYS_landlock_create_ruleset, 0);
	if (!filter || seccomp_load(filter) < 0)
		abort();
	seccomp_release(filter);
	had_landlock = false;
}

/* Tries ACT in another process. Returns 0, a positive errno or KILLED. */
static int try(int (*act)(void), Wall wall)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		int r;

		if (wall == WALL_WITHOUT_LANDLOCK)
			hide_landlock();
		if (wall == WALL_FORKED)
			wall_prepare();
		r = wall == WALL_NONE ? 0
				      : wall_put_on(wall == WALL_ISOLATES || wall == WALL_FORKED);
		if (wall == WALL_FORKED && wall_put_on(false) != r)
			abort();
		if (r != (wall != WALL_NONE && !had_landlock ? -EOPNOTSUPP : 0))
			abort();
		r = act();
		_exit(r < 0 ? -r : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : KILLED;
}

static void make_file(void)
{
	int fd = open(around.file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

/* Whether WALL denies A in the right way. */
static bool is_denied(const Act *a, Wall wall)
{
	bool by_name = a->kind == BY_NAME && wall != WALL_WITHOUT_LANDLOCK;
	int expected = by_name ? EACCES : ENOSYS, with = try(a->act, wall);

	if (with == expected)
		return true;
	print_error("%s: expected %s, was %s\n", a->name, strerror(expected),
		    with == KILLED ? "killed" : strerror(with));
	return false;
}

/* Whether A says anything: what fails without the wall too proves nothing. */
static bool is_useful(const Act *a)
{
	int r = try(a->act, WALL_NONE);

	make_file();
	if (a->kind == MAY_BE_AWAY || (a->kind == DIFFERS ? r != ENOSYS : r == 0))
		return true;
	print_error("%s: %s without the wall\n", a->name, strerror(r));
	return false;
}

static void test_denied(_unused_ void **state)
{
	bool ok = true;

	for (const Act *a = acts; a->name; a++)
		ok &= is_useful(a) && ((a->kind == BY_NAME && !had_landlock) ||
				       (is_denied(a, WALL_WHOLE) && is_denied(a, WALL_FORKED)));
	assert_true(ok);
}

static int act_read_dumpable(void)
{
	return prctl(PR_GET_DUMPABLE) == 1 ? 0 : -EPERM;
}

/* What is left on an old kernel: it makes no file, and no other worker reads its memory. */
static void test_without_landlock(_unused_ void **state)
{
	bool ok = true;

	for (const Act *a = acts; a->name; a++)
		ok &= a->kind == BY_NAME || is_denied(a, WALL_WITHOUT_LANDLOCK);
	assert_true(ok);
	assert_int_equal(try(act_named("read_file"), WALL_WITHOUT_LANDLOCK), 0);
	assert_int_equal(try(act_read_dumpable, WALL_NONE), 0);
	assert_int_equal(try(act_read_dumpable, WALL_WITHOUT_LANDLOCK), EPERM);
}

/* What a worker needs */

static int can_read_sysfs(void)
{
	DIR *d = opendir("/sys/class/net");
	int r = d ? 0 : -errno;

	if (d)
		closedir(d);
	return r < 0 ? r : act_open_file("/sys/class/net/lo/mtu", O_RDONLY);
}

static int can_ask_netlink(void)
{
	int r = act_make_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	if (r == 0)
		r = act_make_socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	return r == -EPROTONOSUPPORT ? 0 : r; /* ib_core is not loaded */
}

static int can_name_interfaces(void)
{
	char name[IF_NAMESIZE];
	int r = ifname_of(1, name);

	if (r < 0)
		return r;
	if (ifname_of(UINT16_MAX, name) != -ENODEV)
		return -EBADMSG;
	return streq(name, "lo") ? 0 : -EBADMSG;
}

/* lo has no statistics, and says so */
static int can_ask_ethtool(void)
{
	PortSnapshot s = {};
	int r = driver_stats_supply(RDMA_DRIVER_MLX5, 1, &s);

	return r == -EOPNOTSUPP ? 0 : r;
}

static int can_open_device(void)
{
	return act_open_file("/dev/null", O_RDWR);
}

/* One that glibc brings along and this program does not use */
static int can_load_library(void)
{
	return dlopen("libanl.so.1", RTLD_NOW) ? 0 : -ELIBACC;
}

static int can_allocate(void)
{
	void *p = malloc(64U << 20);

	free(p);
	return p ? 0 : -ENOMEM;
}

static void test_allowed(_unused_ void **state)
{
	static int (*const needs[])(void) = {can_read_sysfs,  can_ask_netlink, can_name_interfaces,
					     can_ask_ethtool, can_open_device, can_load_library,
					     can_allocate};

	for (size_t i = 0; i < ARRAY_SIZE(needs); i++) {
		assert_int_equal(try(needs[i], WALL_NONE), 0);
		assert_int_equal(try(needs[i], WALL_WHOLE), 0);
		assert_int_equal(try(needs[i], WALL_ISOLATES), 0);
		assert_int_equal(try(needs[i], WALL_FORKED), 0);
	}
}

static int call_abort(void)
{
	abort();
}

/* So that the core can say of what signal a worker died. */
static void test_abort(_unused_ void **state)
{
	int status;

	for (unsigned int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			signal(SIGABRT, SIG_DFL);
			if (i == 1)
				wall_prepare();
			wall_put_on(false);
			call_abort();
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGABRT);
	}
}

/* The isolated process */

/* Starts this program again with OPTION, and with WITH_KILL kills it. Returns 0 or a negative
 * errno: that of the start, or its exit status; -KILLED if a signal ended it. */
static int start_again(const char *option, bool with_kill)
{
	char name[] = "test-query-wall", pid[16], *argv[] = {name, strdupa(option), pid, NULL};
	struct pollfd p = {.events = POLLIN};
	siginfo_t status = {};
	Child child;
	int r;

	snprintf(pid, sizeof(pid), "%d", (int)around.victim);
	r = child_start("/proc/self/exe", argv, &child);
	if (r < 0)
		return r;
	p.fd = child.pidfd;
	if (with_kill && pidfd_send_signal(child.pidfd, SIGKILL, NULL, 0) < 0)
		return -errno;
	if (poll(&p, 1, 60000) != 1 || waitid(P_PIDFD, (id_t)child.pidfd, &status, WEXITED) < 0)
		return -ETIMEDOUT;
	return status.si_code == CLD_EXITED ? -status.si_status : -KILLED;
}

static int act_start_again(void)
{
	return start_again("--kill", false);
}

static int act_start_with_wall(void)
{
	return start_again("--fork-behind-wall", false);
}

/* 0 if that process has died of a signal. Which one depends on whether it may send one. */
static int act_start_and_abort(void)
{
	return start_again("--abort", false) == -KILLED ? 0 : -EPERM;
}

static int act_start_and_kill(void)
{
	return start_again("--hang", true) == -KILLED ? 0 : -EPERM;
}

/* --kill PID, --fork-behind-wall PID or --hang PID, as the process that was started again */
static int second_main(char *argv[])
{
	int r;

	around.victim = atoi(argv[2]);
	if (streq(argv[1], "--kill"))
		return -act_named("kill")();
	if (streq(argv[1], "--abort"))
		abort();
	if (streq(argv[1], "--hang"))
		for (;;)
			poll(NULL, 0, -1);
	r = wall_put_on(false);
	if (r < 0 && r != -EOPNOTSUPP)
		return EXIT_FAILURE;
	return -act_named("fork")();
}

static void test_isolated(_unused_ void **state)
{
	assert_int_equal(try(act_start_again, WALL_NONE), 0);
	assert_int_equal(try(act_start_again, WALL_WHOLE), ENOSYS);
	/* It starts, and is behind the wall too. */
	assert_int_equal(try(act_start_again, WALL_ISOLATES), ENOSYS);
	assert_int_equal(try(act_start_with_wall, WALL_NONE), ENOSYS);
	assert_int_equal(try(act_start_with_wall, WALL_ISOLATES), ENOSYS);
	if (had_landlock)
		assert_int_equal(try(act_named("execute"), WALL_ISOLATES), EACCES);
	assert_int_equal(try(act_named("kill"), WALL_ISOLATES), ENOSYS);
	assert_int_equal(try(act_named("tgkill"), WALL_ISOLATES),
			 landlock_abi() >= 6 ? EPERM : ENOSYS);
	assert_int_equal(try(act_start_and_abort, WALL_ISOLATES), 0);
	assert_int_equal(try(act_named("socketpair"), WALL_ISOLATES), ENOSYS);
	/* Since Linux 6.12 the kernel knows which processes it has started. */
	assert_int_equal(try(act_named("pidfd_send_signal"), WALL_ISOLATES),
			 landlock_abi() >= 6 ? EPERM : ENOSYS);
	assert_int_equal(try(act_start_and_kill, WALL_ISOLATES), landlock_abi() >= 6 ? 0 : EPERM);
}

static int set_up(_unused_ void **state)
{
	int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	had_landlock = landlock_abi() > 0;
	around.socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strcpy(around.directory, "/tmp/test-query-wall.XXXXXX");
	assert_non_null(mkdtemp(around.directory));
	snprintf(around.file, sizeof(around.file), "%s/file", around.directory);
	make_file();
	snprintf(around.bus.sun_path, sizeof(around.bus.sun_path), "%s/bus", around.directory);
	assert_int_equal(bind(listening, (struct sockaddr *)&around.bus, sizeof(around.bus)), 0);
	assert_int_equal(listen(listening, 100), 0);
	around.victim = fork();
	if (around.victim == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			poll(NULL, 0, -1);
	}
	around.victim_pidfd = pidfd_open(around.victim, 0);
	return around.victim_pidfd < 0;
}

static int tear_down(_unused_ void **state)
{
	char path[sizeof(around.file)];

	kill(around.victim, SIGKILL);
	waitpid(around.victim, NULL, 0);
	snprintf(path, sizeof(path), "%s/new", around.directory);
	unlink(path);
	unlink(around.file);
	unlink(around.bus.sun_path);
	return rmdir(around.directory);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_denied),	 cmocka_unit_test(test_without_landlock),
		cmocka_unit_test(test_allowed),	 cmocka_unit_test(test_abort),
		cmocka_unit_test(test_isolated),
	};

	if (argc == 3)
		return second_main(argv);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
