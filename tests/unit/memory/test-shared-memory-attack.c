/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hostile reader does with its descriptors whatever the kernel allows. Neither the daemon nor
 * other readers notice it. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "memory-fixture.h"

/* Tries what must fail on the memory, whoever the user is. Returns 0, or the number of the first
 * attack that did not fail. */
static int attack_memory(int memory)
{
	char path[32], buffer[64] = {};
	struct stat st;
	void *p;
	int fd;

	if (fstat(memory, &st) < 0 || (st.st_mode & 07777) != 0444)
		return 1;
	if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0) != MAP_FAILED)
		return 2;
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, memory, 0);
	if (p == MAP_FAILED || mprotect(p, 4096, PROT_READ | PROT_WRITE) == 0)
		return 3;
	if (madvise(p, 4096, MADV_REMOVE) == 0)
		return 4;
	if (write(memory, buffer, 1) >= 0 || pwrite(memory, buffer, 1, 0) >= 0)
		return 5;
	if (ftruncate(memory, 0) == 0 || ftruncate(memory, st.st_size * 2) == 0)
		return 6;
	if (fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0)
		return 7;
	if (fallocate(memory, 0, 0, st.st_size * 2) == 0)
		return 8;
	if (fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE) == 0)
		return 9;
	/* Opened anew for writing: root gets the descriptor, but the seals hold for root too. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	if (open(path, O_RDONLY) < 0)
		return 15;
	fd = open(path, O_RDWR);
	if (fd >= 0 && geteuid() != 0)
		return 10;
	if (fd >= 0 && (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED ||
			write(fd, buffer, 1) >= 0 || ftruncate(fd, 0) == 0 ||
			fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0))
		return 11;
	fd = open(path, O_RDWR | O_TRUNC);
	if (fd >= 0 || (fstat(memory, &st) == 0 && st.st_size == 0))
		return 12;
	if (geteuid() != 0 && fchmod(memory, 0777) == 0)
		return 13;
	/* All this belongs to the open file of this reader, and nobody else sees it. */
	if (flock(memory, LOCK_EX) < 0 || lseek(memory, 100, SEEK_SET) < 0 ||
	    fcntl(memory, F_SETFL, O_APPEND | O_NONBLOCK | O_ASYNC) < 0)
		return 14;
	return 0;
}

/* Does to the pipe what a reader can do: it may only disturb this reader. Returns as above. */
static int attack_pipe(int changed)
{
	char path[32], buffer[65536] = {};
	struct stat st;
	int fd;

	if (fcntl(changed, F_SETFL, 0) < 0)
		return 20;
	/* The kernel may refuse it. If not, the daemon has more room than it needs. */
	(void)fcntl(changed, F_SETPIPE_SZ, 1 << 20);
	if (write(changed, buffer, 1) >= 0)
		return 21;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", changed);
	fd = open(path, O_WRONLY | O_NONBLOCK);
	/* Only root and the user of the daemon may open it so. */
	if (fd >= 0 && (fstat(fd, &st) < 0 || (geteuid() != 0 && geteuid() != st.st_uid)))
		return 22;
	/* as full as it can be */
	while (fd >= 0 && write(fd, buffer, sizeof(buffer)) > 0)
		;
	return 0;
}

/* Runs the attack as UID in another process, which lives until its *RET_CONTROL is closed. */
static pid_t attack(uid_t uid, int memory, int changed, int *ret_control)
{
	int ready[2], control[2], result;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(control), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char c;

		close(control[1]);
		/* A process that has changed its user may not look at /proc/self without this. */
		result = setuid(uid) < 0 || prctl(PR_SET_DUMPABLE, 1) < 0 ? 99
									  : attack_memory(memory);
		if (result == 0)
			result = attack_pipe(changed);
		if (write(ready[1], &result, sizeof(result)) < 0 || read(control[0], &c, 1) < 0)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &result, sizeof(result)), sizeof(result));
	if (result != 0)
		fail_msg("attack %d of user %d succeeds", result, (int)uid);
	close(ready[0]);
	close(ready[1]);
	close(control[0]);
	*ret_control = control[1];
	return pid;
}

static void hostile(Fixture *f, uid_t uid)
{
	Port *p = device_port(fixture_add_device(f, 3, "mlx5_0", 1, PROTOCOL_INFINIBAND), 1);
	struct rdmad *good = fixture_open(f, 1), *later;
	int memory, changed, control, status;
	struct rdmad_port port;
	pid_t pid;

	fixture_put(f, p, fixture_all_fields());
	assert_int_equal(shared_memory_open(f->memory, uid, &memory, &changed), 0);
	pid = attack(uid, memory, changed, &control);
	close(memory);
	close(changed);

	/* The attacker has blocking descriptors and a lock, and does not read. */
	for (unsigned int i = 0; i < 10000; i++) {
		fixture_put(f, p, i % 2 ? fixture_all_fields() : fixture_roce_port("eth0"));
		fixture_run(f);
	}
	assert_int_equal(rdmad_wait(good, 0), 1);
	assert_int_equal(rdmad_read(good, fixture_find(good, "mlx5_0/1"), &port), 0);
	assert_int_equal(port.hot.state, 4);
	later = fixture_open(f, 2);
	assert_int_equal(rdmad_read(later, fixture_find(later, "mlx5_0/1"), &port), 0);
	rdmad_close(later);
	rdmad_close(good);

	close(control);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	fixture_run(f);
}

static void test_hostile_same_user(void **state)
{
	hostile(*state, geteuid());
}

static void test_hostile_other_user(void **state)
{
	if (geteuid() != 0)
		skip();
	hostile(*state, 65534);
}

/* Each reader gets an open file of its own, and none gets that of the daemon. */
static void test_descriptor_of_its_own(void **state)
{
	Fixture *f = *state;
	int a[2], b[2];

	assert_int_equal(shared_memory_open(f->memory, 0, &a[0], &a[1]), 0);
	assert_int_equal(shared_memory_open(f->memory, 0, &b[0], &b[1]), 0);
	assert_int_equal(fcntl(a[0], F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(lseek(a[0], 100, SEEK_SET), 100);
	assert_int_equal(lseek(b[0], 0, SEEK_CUR), 0);
	assert_int_equal(fcntl(a[0], F_GET_SEALS) &
				 (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL),
			 F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
	assert_int_equal(fcntl(a[1], F_GETPIPE_SZ), sysconf(_SC_PAGESIZE));
	for (size_t i = 0; i < 2; i++) {
		assert_true(fcntl(a[i], F_GETFD) & FD_CLOEXEC);
		close(a[i]);
		close(b[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_hostile_same_user, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_hostile_other_user, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_descriptor_of_its_own, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
