/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is read of a process: this one, a set of files that the test makes, and odd ones. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "process.h"
#include "util.h"

#define NOBODY 65534

static char root[] = "/tmp/test-process-XXXXXX";
static int proc = -EBADF;

static void put(const char *pid, const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, pid);
	assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
	snprintf(path, sizeof(path), "%s/%s/%s", root, pid, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* How often reading is interrupted before it says something */
static unsigned int n_interrupted;

ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	if (n_interrupted == 0)
		return __real_read(fd, buffer, size);
	n_interrupted--;
	errno = EINTR;
	return -1;
}

static int setup(_unused_ void **state)
{
	assert_non_null(mkdtemp(root));
	proc = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(proc >= 0);
	return 0;
}

static int teardown(_unused_ void **state)
{
	char command[64];

	close(proc);
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void put_process(const char *pid, const char *status, const char *cgroup)
{
	char text[256];

	put(pid, "status", status);
	snprintf(text, sizeof(text),
		 "%s (a (b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 250 20 21\n", pid);
	put(pid, "stat", text);
	put(pid, "cgroup", cgroup);
}

/* A process of nobody that is not dumpable, and then is. */
static void test_other_user(_unused_ void **state)
{
	int real = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), down[2], up[2];
	char turn = 0;
	Process p;
	pid_t pid;

	if (getuid() != 0)
		skip();
	assert_true(real >= 0);
	assert_int_equal(pipe(down), 0);
	assert_int_equal(pipe(up), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		/* that takes away that it is dumpable */
		if (setresuid(NOBODY, NOBODY, NOBODY) < 0 || write(up[1], &turn, 1) != 1 ||
		    read(down[0], &turn, 1) != 1 || prctl(PR_SET_DUMPABLE, 1) < 0 ||
		    write(up[1], &turn, 1) != 1)
			_exit(EXIT_FAILURE);
		/* until the test has seen it */
		_exit(read(down[0], &turn, 1) == 1 ? EXIT_SUCCESS : EXIT_FAILURE);
	}
	assert_int_equal(read(up[0], &turn, 1), 1);
	assert_int_equal(process_read(real, (uint32_t)pid, &p), 0);
	assert_int_equal(p.uid, PROCESS_NO_UID);
	assert_int_equal(write(down[1], &turn, 1), 1);
	assert_int_equal(read(up[0], &turn, 1), 1);
	assert_int_equal(process_read(real, (uint32_t)pid, &p), 0);
	assert_int_equal(p.uid, NOBODY);
	assert_int_equal(write(down[1], &turn, 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(real);
	for (unsigned int i = 0; i < 2; i++) {
		close(up[i]);
		close(down[i]);
	}
}

/* Whose the process is that has these ids, and files of the test's user. */
static uint32_t owner_of(uint32_t uid, uint32_t effective, uint32_t saved)
{
	char status[128];
	Process p;

	snprintf(status, sizeof(status), "Tgid:\t30\nUid:\t%u\t%u\t%u\t%u\n", uid, effective, saved,
		 uid);
	put_process("30", status, "0::/\n");
	assert_int_equal(process_read(proc, 30, &p), 0);
	return p.uid;
}

static void test_owner(_unused_ void **state)
{
	uint32_t me = getuid(), other = me + 1;

	assert_int_equal(owner_of(me, me, me), me);
	assert_int_equal(owner_of(other, me, me), PROCESS_NO_UID);
	assert_int_equal(owner_of(me, other, me), PROCESS_NO_UID);
	assert_int_equal(owner_of(me, me, other), PROCESS_NO_UID);
	/* the files of one that is not dumpable are root's, its directory is not */
	assert_int_equal(owner_of(other, other, other), PROCESS_NO_UID);
	if (me == 0) {
		put_process("31", "Tgid:\t31\nUid:\t7\t7\t7\t7\n", "0::/\n");
		assert_int_equal(fchownat(proc, "31", 7, 7, 0), 0);
		Process p;

		assert_int_equal(process_read(proc, 31, &p), 0);
		assert_int_equal(p.uid, PROCESS_NO_UID);
		assert_int_equal(fchownat(proc, "31/status", 7, 7, 0), 0);
		assert_int_equal(process_read(proc, 31, &p), 0);
		assert_int_equal(p.uid, 7);
	}
}

/* Version 1: no user makes a group for Slurm; and what is cut is no other group. */
static void test_groups(_unused_ void **state)
{
	static const char good[] = "Tgid:\t40\nUid:\t0\t0\t0\t0\n";
	char text[600] = "0::/system.slice/";
	Process p;

	put_process("40", good,
		    "4:freezer:/user/alice/job_5\n"
		    "1:name=systemd:/user.slice/user-1.slice/session-1.scope\n");
	assert_int_equal(process_read(proc, 40, &p), 0);
	assert_string_equal(p.cgroup, "/user.slice/user-1.slice/session-1.scope");
	put_process("40", good,
		    "4:freezer:/slurm_node1/uid_1/job_5/step_0\n"
		    "1:name=systemd:/user.slice/user-1.slice/user@1.service/job_6\n");
	assert_int_equal(process_read(proc, 40, &p), 0);
	assert_string_equal(p.cgroup, "/slurm_node1/uid_1/job_5/step_0");
	memset(text + 17, 'a', 200);
	snprintf(text + 217, sizeof(text) - 217, "/slurmstepd.scope/job_%030u\n", 47);
	put_process("40", good, text);
	assert_int_equal(process_read(proc, 40, &p), 0);
	assert_int_equal(strlen(p.cgroup), 231);
	assert_string_equal(p.cgroup + 214, "/slurmstepd.scope");
	/* no path, and one that does not begin as one */
	put_process("40", good, "0:\n0::\n0::x\n");
	assert_int_equal(process_read(proc, 40, &p), 0);
	assert_string_equal(p.cgroup, "");
}

static void test_self(_unused_ void **state)
{
	int real = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	Process p;

	assert_true(real >= 0);
	/* otherwise it has the name of valgrind, if it runs under that */
	assert_int_equal(prctl(PR_SET_NAME, "my) (name"), 0);
	assert_int_equal(process_read(real, (uint32_t)getpid(), &p), 0);
	assert_int_equal(p.pid, getpid());
	assert_int_equal(p.uid, getuid());
	assert_string_equal(p.name, "my) (name");
	assert_true(p.started_usec > 0 && p.started_usec <= boottime_now_usec());
	/* the kernel gives the files of such a process to root */
	if (getuid() != 0) {
		prctl(PR_SET_DUMPABLE, 0);
		assert_int_equal(process_read(real, (uint32_t)getpid(), &p), 0);
		assert_int_equal(p.uid, PROCESS_NO_UID);
		prctl(PR_SET_DUMPABLE, 1);
	}
	/* more than there can be */
	assert_int_equal(process_read(real, 5000000, &p), -ESRCH);
	close(real);
}

static void test_files(_unused_ void **state)
{
	char status[128];
	Process p;

	snprintf(status, sizeof(status), "Name:\tx\nTgid:\t7\nPid:\t7\nUid:\t%u\t%u\t%u\t%u\n",
		 getuid(), getuid(), getuid(), getuid());
	put_process("7", status, "0::/system.slice/nginx.service\n");
	assert_int_equal(process_read(proc, 7, &p), 0);
	assert_int_equal(p.pid, 7);
	assert_int_equal(p.uid, getuid());
	assert_string_equal(p.name, "a (b) c");
	assert_int_equal(p.started_usec, 250 * (USEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK)));
	assert_string_equal(p.cgroup, "/system.slice/nginx.service");

	/* a thread of it */
	put_process("8", "Tgid:\t7\nPid:\t8\nUid:\t0\t0\t0\t0\n", "0::/\n");
	assert_int_equal(process_read(proc, 8, &p), 0);
	assert_int_equal(p.pid, 7);
	assert_string_equal(p.cgroup, "/system.slice/nginx.service");

	/* a program with more rights than its user */
	put_process("9", "Tgid:\t9\nUid:\t1000\t0\t0\t0\n", "0::/x\n");
	assert_int_equal(process_read(proc, 9, &p), 0);
	assert_int_equal(p.uid, PROCESS_NO_UID);

	/* version 1: that of systemd, and that of Slurm if there is one */
	put_process("10", "Tgid:\t10\nUid:\t0\t0\t0\t0\n",
		    "4:cpu:/a\n1:name=systemd:/system.slice/slurmd.service\n");
	assert_int_equal(process_read(proc, 10, &p), 0);
	assert_string_equal(p.cgroup, "/system.slice/slurmd.service");
	put_process("10", "Tgid:\t10\nUid:\t0\t0\t0\t0\n",
		    "4:freezer:/slurm/uid_1/job_5/step_0\n1:name=systemd:/system.slice/"
		    "slurmd.service\n");
	assert_int_equal(process_read(proc, 10, &p), 0);
	assert_string_equal(p.cgroup, "/slurm/uid_1/job_5/step_0");
}

/* A signal is no reason to know nothing of a process; another error is, and nothing is tried again.
 */
static void test_interrupted(_unused_ void **state)
{
	Process p;

	put_process("50", "Tgid:\t50\nUid:\t0\t0\t0\t0\n", "0::/x\n");
	for (unsigned int n = 1; n <= 3; n++) {
		n_interrupted = n;
		assert_int_equal(process_read(proc, 50, &p), 0);
		assert_int_equal(n_interrupted, 0);
		assert_string_equal(p.cgroup, "/x");
	}
	assert_int_equal(unlinkat(proc, "50/status", 0), 0);
	assert_int_equal(mkdirat(proc, "50/status", 0755), 0);
	assert_int_equal(process_read(proc, 50, &p), -EISDIR);
}

static void test_odd(_unused_ void **state)
{
	static const char good[] = "Tgid:\t20\nUid:\t0\t0\t0\t0\n";
	Process p = {.pid = 1};

	assert_int_equal(process_read(proc, 21, &p), -ESRCH);
	put_process("20", "Tgid:\t\nUid:\t0\t0\t0\t0\n", "0::/\n");
	assert_int_equal(process_read(proc, 20, &p), -EBADMSG);
	put_process("20", "Tgid:\t20\n", "0::/\n");
	assert_int_equal(process_read(proc, 20, &p), -EBADMSG);
	put_process("20", good, "0::/\n");
	put("20", "stat", "20 (x");
	assert_int_equal(process_read(proc, 20, &p), -EBADMSG);
	put("20", "stat", "20 (x) S 1 2");
	assert_int_equal(process_read(proc, 20, &p), -EBADMSG);
	put("20", "stat", "");
	assert_int_equal(process_read(proc, 20, &p), -EBADMSG);
	put("20", "stat", "20 ) (x S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 250 20\n");
	assert_int_equal(process_read(proc, 20, &p), -EBADMSG);
	/* without a file, and with one that is in another place */
	put("24", "stat", "24 (x) S\n");
	assert_int_equal(process_read(proc, 24, &p), -ESRCH);
	put_process("25", "Tgid:\t25\nUid:\t0\t0\t0\t0\n", "0::/\n");
	assert_int_equal(unlinkat(proc, "25/cgroup", 0), 0);
	assert_int_equal(process_read(proc, 25, &p), -ESRCH);
	assert_int_equal(symlinkat("../7/cgroup", proc, "25/cgroup"), 0);
	assert_int_equal(process_read(proc, 25, &p), -ELOOP);
	assert_int_equal(symlinkat("7", proc, "26"), 0);
	assert_true(process_read(proc, 26, &p) < 0);
	/* the thread's process is gone */
	put_process("22", "Tgid:\t23\nUid:\t0\t0\t0\t0\n", "0::/\n");
	assert_int_equal(process_read(proc, 22, &p), -ESRCH);
	/* no group at all is an answer */
	put_process("20", good, "");
	assert_int_equal(p.pid, 1);
	assert_int_equal(process_read(proc, 20, &p), 0);
	assert_string_equal(p.cgroup, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_self),	    cmocka_unit_test(test_other_user),
		cmocka_unit_test(test_owner),	    cmocka_unit_test(test_groups),
		cmocka_unit_test(test_files),	    cmocka_unit_test(test_odd),
		cmocka_unit_test(test_interrupted),
	};

	return cmocka_run_group_tests_name("process", tests, setup, teardown);
}
