/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program that the bus starts: each step of its start, and of an answer, fails once. The bus and
 * the event loop are those of the test. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "helper.h"

#include <sys/prctl.h>

#include "util.h"

static struct {
	const char *fails; /* the step that fails */
	char taken[320];   /* the steps that were taken, with a space behind each */
	char said[64];	   /* what was printed */
	Helper *helper;
} test;

/* The bus and the event loop, at which nobody looks. */
static char bus, event;

/* A negative errno if the step NAME fails now. */
static int step(const char *name)
{
	size_t n = strlen(test.taken);

	snprintf(test.taken + n, sizeof(test.taken) - n, "%s ", name);
	return test.fails && streq(test.fails, name) ? -EXDEV : 0;
}

/* Puts in the place of a function NAME a step, which is taken with what EXPECTED says. */
#define STEP(name, parameters, expected)                                                           \
	int __wrap_##name parameters;                                                              \
	int __wrap_##name parameters                                                               \
	{                                                                                          \
		assert_true(expected);                                                             \
		return step(#name);                                                                \
	}

int __wrap_prctl(int option, ...);
int __wrap_prctl(int option, ...)
{
	assert_int_equal(option, PR_SET_DUMPABLE);
	errno = EXDEV;
	return step("prctl") < 0 ? -1 : 0;
}

int __wrap_sd_event_new(sd_event **ret);
int __wrap_sd_event_new(sd_event **ret)
{
	*ret = (sd_event *)&event;
	return step("sd_event_new");
}

int __wrap_sd_bus_open_system(sd_bus **ret);
int __wrap_sd_bus_open_system(sd_bus **ret)
{
	*ret = (sd_bus *)&bus;
	return step("sd_bus_open_system");
}

sd_event *__wrap_sd_event_unref(sd_event *e);
sd_event *__wrap_sd_event_unref(_unused_ sd_event *e)
{
	return NULL;
}

sd_bus *__wrap_sd_bus_flush_close_unref(sd_bus *b);
sd_bus *__wrap_sd_bus_flush_close_unref(_unused_ sd_bus *b)
{
	return NULL;
}

/* clang-format off */
STEP(sd_event_add_time_relative,
     (sd_event *e, sd_event_source **s, clockid_t clock, uint64_t usec, uint64_t accuracy,
      _unused_ sd_event_time_handler_t callback, _unused_ void *userdata),
     e == (sd_event *)&event && s == &test.helper->idle && clock == CLOCK_MONOTONIC &&
	     usec == test.helper->idle_usec && accuracy == 0)
STEP(sd_bus_add_object_vtable,
     (sd_bus *b, _unused_ sd_bus_slot **s, const char *path, const char *interface,
      const sd_bus_vtable *v, void *userdata),
     b == (sd_bus *)&bus && streq(path, "/test") && streq(interface, "test") &&
	     v[0].type == _SD_BUS_VTABLE_START && streq(v[1].x.method.member, "List") &&
	     v[2].type == _SD_BUS_VTABLE_END && userdata == test.helper)
STEP(sd_bus_match_signal_async,
     (sd_bus *b, _unused_ sd_bus_slot **s, _unused_ const char *sender, _unused_ const char *path,
      _unused_ const char *interface, const char *member,
      _unused_ sd_bus_message_handler_t callback,
      _unused_ sd_bus_message_handler_t install, void *userdata),
     b == (sd_bus *)&bus && streq(member, "Disconnected") && userdata == &event)
STEP(sd_bus_attach_event, (sd_bus *b, sd_event *e, int priority),
     b == (sd_bus *)&bus && e == (sd_event *)&event && priority == 0)
STEP(sd_bus_request_name, (sd_bus *b, const char *name, uint64_t flags),
     b == (sd_bus *)&bus && streq(name, "test") && flags == 0)
STEP(sd_event_loop, (sd_event *e), e == (sd_event *)&event)
STEP(sd_event_source_set_time_relative, (_unused_ sd_event_source *s, uint64_t usec),
     usec == test.helper->idle_usec)
STEP(sd_bus_message_new_method_return,
     (_unused_ sd_bus_message *call, _unused_ sd_bus_message **ret), true)
STEP(sd_bus_message_open_container,
     (_unused_ sd_bus_message *m, char type, const char *contents),
     type == 'a' && streq(contents, "s"))
STEP(sd_bus_message_close_container, (_unused_ sd_bus_message *m), true)
STEP(sd_bus_send,
     (_unused_ sd_bus *b, _unused_ sd_bus_message *m, _unused_ uint64_t *cookie), true)
/* clang-format on */

const char *__wrap_sd_bus_message_get_member(sd_bus_message *m);
const char *__wrap_sd_bus_message_get_member(_unused_ sd_bus_message *m)
{
	return "List";
}

unsigned int __wrap_alarm(unsigned int seconds);
unsigned int __wrap_alarm(unsigned int seconds)
{
	step(seconds == 5 ? "alarm" : seconds == 0 ? "no-alarm" : "another-alarm");
	return 0;
}

static int answer(Helper *h, _unused_ sd_bus_message *call, _unused_ sd_bus_message *reply,
		  _unused_ sd_bus_error *error)
{
	assert_ptr_equal(h, test.helper);
	return step("answer");
}

static int setup(_unused_ void **state)
{
	static Helper h;

	h = (Helper){.name = "test",
		     .path = "/test",
		     .methods = {{"List", "", "as", answer}},
		     .idle_usec = 77,
		     .answer_sec = 5};
	memset(&test, 0, sizeof(test));
	test.helper = &h;
	return 0;
}

/* Runs the helper, after preparations that ended with ERROR. */
static int run(int error)
{
	FILE *kept = stderr;
	int status;

	memset(test.said, 0, sizeof(test.said));
	test.taken[0] = '\0';
	stderr = fmemopen(test.said, sizeof(test.said), "w");
	assert_non_null(stderr);
	status = helper_main(test.helper, "program", error);
	fclose(stderr);
	stderr = kept;
	return status;
}

#define PREPARES                                                                                   \
	"sd_bus_message_new_method_return sd_event_source_set_time_relative "                      \
	"sd_bus_message_open_container "

static void test_start(_unused_ void **state)
{
	static const char steps[] = "prctl sd_event_new sd_bus_open_system "
				    "sd_event_add_time_relative sd_bus_add_object_vtable "
				    "sd_bus_match_signal_async sd_bus_attach_event "
				    "sd_bus_request_name sd_event_loop ";

	assert_int_equal(run(0), EXIT_SUCCESS);
	assert_string_equal(test.taken, steps);
	assert_string_equal(test.said, "");
	/* after one that has failed no other is taken */
	for (const char *at = steps, *end; (end = strchr(at, ' ')); at = end + 1) {
		_cleanup_free_ char *name = strndup(at, (size_t)(end - at));

		test.fails = name;
		assert_int_equal(run(0), EXIT_FAILURE);
		assert_string_equal(test.said, "program: Invalid cross-device link\n");
		assert_memory_equal(test.taken, steps, strlen(test.taken));
		assert_int_equal(strlen(test.taken), end + 1 - steps);
	}
	assert_int_equal(run(-ENOENT), EXIT_FAILURE);
	assert_string_equal(test.said, "program: No such file or directory\n");
	assert_string_equal(test.taken, "");
}

static void test_answer(_unused_ void **state)
{
	static const struct {
		const char *fails, *taken;
	} rows[] = {
		{NULL,
		 PREPARES "alarm answer no-alarm sd_bus_message_close_container sd_bus_send "},
		{"sd_bus_message_new_method_return",
		 "sd_bus_message_new_method_return sd_event_source_set_time_relative "},
		{"sd_bus_message_open_container", PREPARES},
		{"answer", PREPARES "alarm answer no-alarm "},
		{"sd_bus_message_close_container",
		 PREPARES "alarm answer no-alarm sd_bus_message_close_container "},
		{"sd_bus_send",
		 PREPARES "alarm answer no-alarm sd_bus_message_close_container sd_bus_send "},
	};

	assert_int_equal(run(0), EXIT_SUCCESS);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const sd_bus_vtable *method = &test.helper->vtable[1];

		test.taken[0] = '\0';
		test.fails = rows[i].fails;
		assert_int_equal(method->x.method.handler(NULL, test.helper, NULL),
				 rows[i].fails ? -EXDEV : 0);
		assert_string_equal(test.taken, rows[i].taken);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_start, setup),
		cmocka_unit_test_setup(test_answer, setup),
	};

	return cmocka_run_group_tests_name("helper", tests, NULL, NULL);
}
