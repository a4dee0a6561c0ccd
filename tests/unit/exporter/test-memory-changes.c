/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether any port has changed: over a memory that the test writes. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <fcntl.h>
#include <sys/mman.h>

#include "changes.h"
#include "memory-layout.h"

#define CAPACITY 40U
#define SIZE	 (sizeof(struct memory_header) + CAPACITY * sizeof(struct rdmad_port))

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);

int __real_rdmad_read(const struct rdmad *r, struct rdmad_handle port, struct rdmad_port *ret);
int __wrap_rdmad_read(const struct rdmad *r, struct rdmad_handle port, struct rdmad_port *ret);

static bool no_memory;
static int read_error;	     /* of the first port; 0: there is none */
static unsigned int n_grown; /* how often a list became longer */

void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __real_calloc(n, size);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	n_grown++;
	return no_memory ? NULL : __real_reallocarray(p, n, size);
}

int __wrap_rdmad_read(const struct rdmad *r, struct rdmad_handle port, struct rdmad_port *ret)
{
	int e = __real_rdmad_read(r, port, ret);

	return e == 0 && ret->hot.port_num == 1 ? read_error : e;
}

typedef struct Env {
	Changes *changes;
	struct memory_header *header;
	struct rdmad_port *records;
	int notice; /* the end of the pipe that the daemon writes to */
} Env;

static int setup(void **state)
{
	const struct memory_header h = memory_new_header(CAPACITY);
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING), pipe[2];
	Env *e = calloc(1, sizeof(*e));
	void *p;

	assert_non_null(e);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(p != MAP_FAILED);
	e->header = p;
	*e->header = h;
	e->records = (struct rdmad_port *)(e->header + 1);
	assert_int_equal(pipe2(pipe, O_CLOEXEC | O_NONBLOCK), 0);
	e->notice = pipe[1];
	assert_int_equal(changes_new(fd, pipe[0], &e->changes), 0);
	*state = e;
	return 0;
}

static int teardown(void **state)
{
	Env *e = *state;

	changes_free(e->changes);
	munmap(e->header, SIZE);
	close_fd(e->notice);
	free(e);
	return 0;
}

/* Port NUMBER is in the slot before it. FLAGS 0: no port is. */
static void put(Env *e, uint32_t number, uint32_t flags, uint8_t state)
{
	const struct rdmad_port p = {.hot = {.flags = flags, .port_num = number, .state = state},
				     .device_name = "mlx5_0"};

	memory_write(&e->records[number - 1], &p);
	e->header->n_slots = MAX(e->header->n_slots, number);
}

/* The next look finds a change, and the one after that finds none. */
static void assert_changed(Env *e, size_t n)
{
	assert_int_equal(changes_look(e->changes), 1);
	assert_int_equal(changes_count(e->changes), n);
	assert_int_equal(changes_look(e->changes), 0);
	assert_int_equal(changes_count(e->changes), n);
}

static void test_looks(void **state)
{
	Env *e = *state;

	assert_changed(e, 0); /* the first */
	put(e, 1, RDMAD_PORT_PRESENT, 4);
	assert_changed(e, 1);
	put(e, 2, RDMAD_PORT_PRESENT, 4);
	put(e, 3, RDMAD_PORT_PRESENT, 4);
	assert_changed(e, 3);
	put(e, 2, RDMAD_PORT_PRESENT, 1);
	assert_changed(e, 3);
	put(e, 2, RDMAD_PORT_PRESENT | RDMAD_PORT_STALE, 1);
	assert_changed(e, 3);
	/* what is written as it was is no change */
	put(e, 2, RDMAD_PORT_PRESENT | RDMAD_PORT_STALE, 1);
	assert_int_equal(changes_look(e->changes), 0);
	/* the last byte of a record */
	e->records[2].netdev[14] = 'x';
	assert_changed(e, 3);
	/* a port that goes: the last one, the first one, all */
	put(e, 3, 0, 0);
	assert_changed(e, 2);
	put(e, 1, 0, 0);
	assert_changed(e, 1);
	put(e, 2, 0, 0);
	assert_changed(e, 0);
}

/* The next look finds changes of these ports alone, by their numbers; 0 ends them, and none: it
 * does not say which. */
static void assert_few(Env *e, const uint32_t *numbers)
{
	ChangedPort few[CHANGES_FEW];
	size_t n;

	assert_int_equal(changes_look(e->changes), 1);
	n = changes_few(e->changes, few);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(few[i].was.hot.port_num, numbers[i]);
		assert_int_equal(few[i].is.hot.port_num, numbers[i]);
		assert_int_not_equal(few[i].was.hot.state, few[i].is.hot.state);
	}
	assert_int_equal(numbers[n], 0);
}

static void test_few(void **state)
{
	Env *e = *state;
	uint32_t all[CHANGES_FEW + 1] = {};

	for (uint32_t i = 1; i <= CHANGES_FEW + 1; i++)
		put(e, i, RDMAD_PORT_PRESENT, 4);
	assert_few(e, (const uint32_t[]){0}); /* the first look */
	put(e, 3, RDMAD_PORT_PRESENT, 1);
	put(e, 1, RDMAD_PORT_PRESENT, 1);
	assert_few(e, (const uint32_t[]){1, 3, 0});
	for (uint32_t i = 1; i <= CHANGES_FEW; i++) {
		put(e, i, RDMAD_PORT_PRESENT, 2);
		all[i - 1] = i;
	}
	assert_few(e, all);
	for (uint32_t i = 1; i <= CHANGES_FEW + 1; i++)
		put(e, i, RDMAD_PORT_PRESENT, 3);
	assert_few(e, (const uint32_t[]){0});
	/* another name, another port in the place of one, one that goes */
	e->records[1].device_name[0] = 'x';
	assert_few(e, (const uint32_t[]){0});
	e->records[1].hot.device_index++;
	assert_few(e, (const uint32_t[]){0});
	e->records[1].hot.port_num = 9;
	assert_few(e, (const uint32_t[]){0});
	put(e, CHANGES_FEW + 1, 0, 0);
	assert_few(e, (const uint32_t[]){0});
	put(e, CHANGES_FEW + 1, RDMAD_PORT_PRESENT, 3);
	assert_few(e, (const uint32_t[]){0});
}

/* More ports than there was room for: 16, 32, and then 64. */
static void test_many(void **state)
{
	Env *e = *state;

	for (uint32_t i = 1; i <= CAPACITY; i++)
		put(e, i, RDMAD_PORT_PRESENT, 4);
	n_grown = 0;
	assert_changed(e, CAPACITY);
	assert_int_equal(n_grown, 3);
	for (uint32_t i = 1; i <= CAPACITY; i++) {
		put(e, i, RDMAD_PORT_PRESENT, 1);
		assert_changed(e, CAPACITY);
	}
}

/* What has changed meanwhile is found when there is memory again. */
static void test_no_memory(void **state)
{
	Env *e = *state;
	Changes *none = NULL;

	no_memory = true;
	assert_int_equal(changes_new(-EBADF, -EBADF, &none), -ENOMEM);
	put(e, 1, RDMAD_PORT_PRESENT, 4);
	assert_int_equal(changes_look(e->changes), -ENOMEM);
	no_memory = false;
	assert_changed(e, 1);
	assert_int_equal(changes_new(e->notice, -EBADF, &none), -EPERM); /* is no memory */
	assert_null(none);
	assert_null(changes_free(NULL));
}

/* Nobody knows whether a record that is being written is as before. */
static void test_being_written(void **state)
{
	Env *e = *state;

	put(e, 1, RDMAD_PORT_PRESENT, 4);
	put(e, 2, RDMAD_PORT_PRESENT, 4);
	assert_changed(e, 2);
	e->records[1].hot.sequence++;
	assert_int_equal(changes_look(e->changes), 1);
	assert_int_equal(changes_count(e->changes), 1);
	e->records[1].hot.sequence++;
	assert_changed(e, 2);
}

/* A port of which the record cannot be read may have changed each time. */
static void test_read_fails(void **state)
{
	Env *e = *state;

	put(e, 1, RDMAD_PORT_PRESENT, 4);
	put(e, 2, RDMAD_PORT_PRESENT, 4);
	assert_changed(e, 2);
	read_error = -EAGAIN;
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(changes_look(e->changes), 1);
		assert_int_equal(changes_count(e->changes), 1);
	}
	/* the memory ends between two reads */
	read_error = -ESTALE;
	assert_int_equal(changes_look(e->changes), -ESTALE);
	read_error = -ENOTCONN;
	assert_int_equal(changes_look(e->changes), -ENOTCONN);
	read_error = 0;
	assert_changed(e, 2);
}

/* A memory that is not written to any more. */
static void test_ends(void **state)
{
	Env *e = *state;

	put(e, 1, RDMAD_PORT_PRESENT, 4);
	assert_changed(e, 1);
	assert_int_equal(write(e->notice, "x", 1), 1);
	assert_int_equal(changes_look(e->changes), 0);
	put(e, 1, RDMAD_PORT_PRESENT | RDMAD_PORT_MOVED, 4);
	assert_int_equal(changes_look(e->changes), -ESTALE);
	put(e, 1, RDMAD_PORT_PRESENT | RDMAD_PORT_CLOSED, 4);
	assert_int_equal(changes_look(e->changes), -ENOTCONN);
	put(e, 1, RDMAD_PORT_PRESENT, 4);
	assert_int_equal(changes_look(e->changes), 0);
	e->header->state = MEMORY_MOVED;
	assert_int_equal(changes_look(e->changes), -ESTALE);
	e->header->state = MEMORY_LIVE;
	/* it was killed, and could not say it */
	e->notice = close_fd(e->notice);
	assert_int_equal(changes_look(e->changes), -ENOTCONN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_looks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_few, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(test_being_written, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ends, setup, teardown),
	};

	return cmocka_run_group_tests_name("changes", tests, NULL, NULL);
}
