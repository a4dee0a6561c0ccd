/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Each allocation and each source of the event loop, which a pool and a query need, is missing
 * once: that is an error, and nothing is left of it. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "pool.h"

static struct {
	unsigned int n;	    /* what was asked for */
	unsigned int fails; /* the one that is missing; 0: none */
} asked;

static bool is_missing(void)
{
	errno = ENOMEM;
	return ++asked.n == asked.fails;
}

int __real_sd_event_add_time(sd_event *e, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t callback, void *userdata);
int __wrap_sd_event_add_time(sd_event *e, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t callback, void *userdata);
int __wrap_sd_event_add_time(sd_event *e, sd_event_source **ret, clockid_t clock, uint64_t usec,
			     uint64_t accuracy, sd_event_time_handler_t callback, void *userdata)
{
	return is_missing() ? -ENOMEM
			    : __real_sd_event_add_time(e, ret, clock, usec, accuracy, callback,
						       userdata);
}

int __real_sd_event_add_defer(sd_event *e, sd_event_source **ret, sd_event_handler_t callback,
			      void *userdata);
int __wrap_sd_event_add_defer(sd_event *e, sd_event_source **ret, sd_event_handler_t callback,
			      void *userdata);
int __wrap_sd_event_add_defer(sd_event *e, sd_event_source **ret, sd_event_handler_t callback,
			      void *userdata)
{
	return is_missing() ? -ENOMEM : __real_sd_event_add_defer(e, ret, callback, userdata);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return is_missing() ? NULL : __real_calloc(n, size);
}

void *__real_reallocarray(void *p, size_t n, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	return is_missing() ? NULL : __real_reallocarray(p, n, size);
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
	return is_missing() ? NULL : __real_strdup(text);
}

/* A pool, unless what FAILS says is missing. */
static int new_pool(sd_event *event, unsigned int fails, Pool **ret)
{
	const Config config = CONFIG_DEFAULT;
	static const SourceHandler handler;

	asked.n = 0;
	asked.fails = fails;
	return pool_new(event, &config, "/nonexistent", &handler, NULL, ret);
}

static void test_pool(void **state)
{
	Pool *p = NULL;
	unsigned int n;

	assert_int_equal(new_pool(*state, 0, &p), 0);
	pool_free(p);
	n = asked.n;
	p = NULL;
	for (unsigned int i = 1; i <= n; i++) {
		assert_int_equal(new_pool(*state, i, &p), -ENOMEM);
		assert_null(p);
		/* nothing else was asked for */
		assert_int_equal(asked.n, i);
	}
}

/* No worker can be started, which is no error of the query itself. */
static void test_query(void **state)
{
	Query q = {.attributes = true};
	unsigned int n = 0;
	Pool *p;
	int r;

	assert_int_equal(new_pool(*state, 0, &p), 0);
	port_set_add(&q.ports, 1);
	do {
		q.device = ++q.id;
		asked.n = 0;
		asked.fails = ++n;
		r = pool_query(p, &q);
		assert_int_equal(r, n <= 4 ? -ENOMEM : 0);
	} while (r < 0);
	/* the query, the device and its place in the list, and its ports */
	assert_int_equal(n, 5);
	pool_free(p);
}

static int setup(void **state)
{
	return sd_event_new((sd_event **)state) < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	asked.fails = 0;
	sd_event_unref(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pool, setup, teardown),
		cmocka_unit_test_setup_teardown(test_query, setup, teardown),
	};

	return cmocka_run_group_tests_name("workers-start", tests, NULL, NULL);
}
