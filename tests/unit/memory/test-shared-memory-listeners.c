/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who is told of changes to the shared memory, and how many may listen. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "../descriptors.h"
#include "memory-fixture.h"

static void test_notices(void **state)
{
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 3, "mlx5_0", 1, PROTOCOL_INFINIBAND), 1);
	struct rdmad *r = fixture_open(f, 0), *other = fixture_open(f, 0);
	struct pollfd fd = {.fd = rdmad_fd(r), .events = POLLIN};

	assert_int_equal(rdmad_wait(r, 0), 0);
	fixture_put(f, p, fixture_all_fields());
	assert_int_equal(poll(&fd, 1, -1), 1);
	assert_int_equal(rdmad_wait(r, UINT64_MAX), 1);
	assert_int_equal(rdmad_wait(r, 0), 0);
	/* a query that found no difference */
	fixture_put(f, p, fixture_all_fields());
	fixture_run(f);
	assert_int_equal(rdmad_wait(r, 0), 0);
	/* a listener that did not look meanwhile is told once */
	assert_int_equal(rdmad_wait(other, 0), 1);
	assert_int_equal(rdmad_wait(other, 0), 0);
	/* what comes after the first change in one iteration of the event loop is not lost */
	fixture_put(f, p, fixture_roce_port("eth0"));
	fixture_put(f, p, fixture_roce_port("eth1"));
	(void)rdmad_wait(r, 0);
	fixture_put(f, p, fixture_roce_port("eth2"));
	fixture_run(f);
	assert_int_equal(rdmad_wait(r, 0), 1);
	assert_int_equal(rdmad_wait(r, 0), 0);
	rdmad_close(r);
	rdmad_close(other);
}

/* A port that is new, has another name or goes is told of even if nothing else has changed. */
static void test_ports_are_told(void **state)
{
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 3, "mlx5_0", 1, PROTOCOL_INFINIBAND), 1);
	struct rdmad *r = fixture_open(f, 0);

	shared_memory_put(f->memory, p, false);
	fixture_run(f);
	assert_int_equal(rdmad_wait(r, 0), 1);
	shared_memory_put(f->memory, p, false);
	fixture_run(f);
	assert_int_equal(rdmad_wait(r, 0), 0);
	attr_set_text(&port_attributes[PORT_ATTR_device_name], &p->now.values, "ibp1");
	shared_memory_put(f->memory, p, false);
	fixture_run(f);
	assert_int_equal(rdmad_wait(r, 0), 1);
	shared_memory_remove(f->memory, p);
	fixture_run(f);
	assert_int_equal(rdmad_wait(r, 0), 1);
	rdmad_close(r);
}

/* Of many changes in one iteration of the event loop the first one is told at once, and all others
 * together after it. */
static void test_changes_are_gathered(void **state)
{
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 3, "mlx5_0", 1, PROTOCOL_INFINIBAND), 1);
	struct rdmad *r = fixture_open(f, 0);
	int n;

	for (unsigned int i = 0; i < 10; i++)
		shared_memory_put(f->memory, p, true);
	assert_int_equal(ioctl(rdmad_fd(r), FIONREAD, &n), 0);
	assert_int_equal(n, 1);
	fixture_run(f);
	assert_int_equal(ioctl(rdmad_fd(r), FIONREAD, &n), 0);
	assert_int_equal(n, 2);
	rdmad_close(r);
}

/* Who never reads costs a page, and nobody waits for him. */
static void test_never_reads(void **state)
{
	const int page = (int)sysconf(_SC_PAGESIZE);
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 3, "mlx5_0", 1, PROTOCOL_INFINIBAND), 1);
	int memory, changed, n;

	assert_int_equal(shared_memory_open(f->memory, 0, &memory, &changed), 0);
	assert_true(fcntl(changed, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(changed, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fcntl(changed, F_GETPIPE_SZ), page);
	for (int i = 0; i < page + 10; i++) {
		shared_memory_put(f->memory, p, true);
		fixture_run(f);
	}
	assert_int_equal(ioctl(changed, FIONREAD, &n), 0);
	assert_in_range(n, 1, page);
	close(memory);
	close(changed);
}

/* Of many that leave at once, one turn of the event loop removes more than one, and none that
 * stays. */
static void test_many_leave(void **state)
{
	enum { LEAVE = 40, STAY = 10 };
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 3, "mlx5_0", 1, PROTOCOL_INFINIBAND), 1);
	struct rdmad *leave[LEAVE], *stay[STAY];
	unsigned int before, n = 0;

	for (size_t i = 0; i < STAY; i++)
		stay[i] = fixture_open(f, 0);
	before = count_descriptors();
	for (size_t i = 0; i < LEAVE; i++)
		leave[i] = fixture_open(f, 1);
	for (size_t i = 0; i < LEAVE; i++)
		rdmad_close(leave[i]);
	assert_int_equal(count_descriptors(), before + LEAVE);
	for (; count_descriptors() > before; n++)
		assert_true(sd_event_run(f->event, UINT64_MAX) > 0);
	assert_true(n < LEAVE / 4);
	fixture_put(f, p, fixture_all_fields());
	fixture_run(f);
	for (size_t i = 0; i < STAY; i++) {
		assert_int_equal(rdmad_wait(stay[i], 0), 1);
		rdmad_close(stay[i]);
	}
}

static void test_many_listeners(void **state)
{
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 3, "mlx5_0", 1, PROTOCOL_INFINIBAND), 1);
	struct rdmad *readers[200];

	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		readers[i] = fixture_open(f, (uid_t)i);
	fixture_put(f, p, fixture_all_fields());
	fixture_run(f);
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		assert_int_equal(rdmad_wait(readers[i], 0), 1);
	/* some leave, and the others still hear */
	for (size_t i = 0; i < ARRAY_SIZE(readers); i += 3) {
		rdmad_close(readers[i]);
		readers[i] = NULL;
	}
	fixture_put(f, p, fixture_roce_port("eth0"));
	fixture_run(f);
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		if (readers[i])
			assert_int_equal(rdmad_wait(readers[i], 0), 1);
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		rdmad_close(readers[i]);
}

/* Opens until that fails. Returns how many were opened, and the error in *RET_ERROR. */
static size_t open_all(Fixture *f, uid_t uid, int fds[][2], int *ret_error)
{
	size_t n = 0;

	while ((*ret_error = shared_memory_open(f->memory, uid, &fds[n][0], &fds[n][1])) == 0)
		n++;
	return n;
}

static void test_limits(void **state)
{
	static int fds[10000][2];
	Fixture *f = *state;
	struct rlimit files;
	struct rdmad *r;
	size_t n, more;
	int e;

	/* The listeners have their descriptors in this process too, besides the half that is the
	 * daemon's. */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = files.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	n = open_all(f, 1000, fds, &e);
	assert_int_equal(e, -EUSERS);
	assert_true(n >= 64);
	/* another user has a quarter too, until all users together have too many */
	r = fixture_open(f, 1001);
	rdmad_close(r);
	fixture_run(f);
	more = open_all(f, 1001, fds + n, &e);
	assert_int_equal(e, -EUSERS);
	assert_int_equal(more, n);
	n += more;
	n += open_all(f, 1002, fds + n, &e);
	n += open_all(f, 1003, fds + n, &e);
	assert_int_equal(open_all(f, 1004, fds + n, &e), 0);
	assert_int_equal(e, -ENFILE);
	/* those that are closed make room for others */
	while (n > 0) {
		n--;
		close(fds[n][0]);
		close(fds[n][1]);
	}
	fixture_run(f);
	assert_true(open_all(f, 1000, fds, &e) >= 64);
}

/* All listeners together may have half of the daemon's descriptors, as many as it had at its start.
 */
static void test_half_of_descriptors(void **state)
{
	static int fds[1000][2];
	Fixture *f = *state;
	struct rlimit before, few;
	size_t n = 0;
	int e;

	f->memory = shared_memory_free(f->memory);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){.rlim_cur = 200, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(shared_memory_new(f->event, FIXTURE_CAPACITY, &f->memory), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);

	for (uid_t uid = 1000; uid < 1005; uid++)
		n += open_all(f, uid, fds + n, &e);
	assert_int_equal(e, -ENFILE);
	assert_int_equal(n, 100);
	while (n-- > 0) {
		close(fds[n][0]);
		close(fds[n][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_notices, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_ports_are_told, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_changes_are_gathered, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_never_reads, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_many_leave, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_many_listeners, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_limits, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_half_of_descriptors, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
