/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When the exporter ends by itself. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "clock.h"
#include "idle.h"

#define HOUR_USEC (3600 * USEC_PER_SEC)

/* The timer that the module has made; NULL: none. */
static sd_event_source *timer;

int __real_sd_event_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata);
int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata);
int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t callback, void *userdata)
{
	int r = __real_sd_event_add_time_relative(e, ret, clock, usec, accuracy, callback,
						  userdata);

	timer = *ret;
	return r;
}

typedef struct Env {
	sd_event *event;
	Idle *idle;
} Env;

static Env begin(uint64_t usec)
{
	Env e = {};

	timer = NULL;
	assert_true(sd_event_new(&e.event) >= 0);
	assert_int_equal(idle_new(e.event, usec, &e.idle), 0);
	return e;
}

static void end(Env *e)
{
	idle_free(e->idle);
	sd_event_unref(e->event);
}

static bool is_on(void)
{
	int enabled;

	assert_true(sd_event_source_get_enabled(timer, &enabled) >= 0);
	return enabled != SD_EVENT_OFF;
}

static uint64_t ends_at(void)
{
	uint64_t usec;

	assert_true(sd_event_source_get_time(timer, &usec) >= 0);
	return usec;
}

/* Returns at a later time than it was called at. */
static uint64_t later(void)
{
	uint64_t before = monotonic_now_usec(), now;

	do
		now = monotonic_now_usec();
	while (now <= before);
	return now;
}

/* The time counts from the last one who leaves, and not while there is anybody. */
static void test_time(_unused_ void **state)
{
	Env e = begin(HOUR_USEC);
	uint64_t first = ends_at(), now;

	assert_true(is_on());
	idle_begin(e.idle);
	assert_false(is_on());
	idle_begin(e.idle);
	idle_end(e.idle);
	assert_false(is_on());
	now = later();
	idle_end(e.idle);
	assert_true(is_on());
	assert_true(ends_at() > first);
	assert_true(ends_at() >= now + HOUR_USEC);
	/* the next one, too */
	idle_begin(e.idle);
	assert_false(is_on());
	now = later();
	idle_end(e.idle);
	assert_true(is_on() && ends_at() >= now + HOUR_USEC);
	end(&e);
}

static void test_never(_unused_ void **state)
{
	Env e = begin(0);

	assert_null(timer);
	idle_begin(e.idle);
	idle_end(e.idle);
	assert_null(timer);
	end(&e);
}

/* Then the event loop ends, and the program with success. */
static void test_ends(_unused_ void **state)
{
	Env e = begin(1);

	idle_begin(e.idle);
	idle_end(e.idle);
	assert_int_equal(sd_event_loop(e.event), 0);
	end(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests_name("idle", tests, NULL, NULL);
}
