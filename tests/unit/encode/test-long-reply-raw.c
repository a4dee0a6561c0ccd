/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages of bytes. If they cannot be made, rdmad sends the same reply in a slower way, so no test
 * of rdmad itself would notice that.
 */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "long-reply-raw.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "bus-pair.h"
#include "bus-writer.h"

#define LARGE (24U << 20) /* more than the buffers of a socket take, also those of root */

static struct {
	sd_bus *bus, *daemon;
	sd_bus_message *call;
	LongReplyRaw *raw;
} test;

static int setup(_unused_ void **state)
{
	bus_pair_open(&test.bus, &test.daemon);
	bus_pair_settle(test.bus, test.daemon);
	assert_true(sd_bus_message_new_method_call(test.daemon, &test.call, "a.b", "/a", "a.b",
						   "C") >= 0);
	assert_true(sd_bus_message_set_sender(test.call, ":1.7") >= 0);
	assert_true(sd_bus_message_seal(test.call, 77, 0) >= 0);
	assert_int_equal(long_reply_raw_new(&test.raw), 0);
	return 0;
}

static int teardown(_unused_ void **state)
{
	long_reply_raw_free(test.raw);
	sd_bus_message_unref(test.call);
	sd_bus_close_unref(test.bus);
	sd_bus_close_unref(test.daemon);
	return 0;
}

static int count_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* The limit with which N more can be opened. */
static rlim_t limit_for(unsigned int n)
{
	for (int fd = 0; fd < 256; fd++)
		if (fcntl(fd, F_GETFD) < 0 && n-- == 0)
			return (rlim_t)fd;
	fail_msg("all are open");
	return 0;
}

static int make(const char *signature, const BusWriter *body, sd_bus_message **ret)
{
	return long_reply_raw_make(test.raw, test.call, signature, body->data, body->size, ret);
}

static void assert_makes(const char *text)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(bus_writer_done) BusWriter body = {};
	const char *got;
	uint64_t cookie;

	bus_writer_put_text(&body, 's', text);
	assert_int_equal(make("s", &body, &reply), 0);
	assert_true(sd_bus_message_is_method_error(reply, NULL) == 0);
	assert_true(sd_bus_message_get_reply_cookie(reply, &cookie) >= 0);
	assert_int_equal(cookie, 77);
	assert_string_equal(sd_bus_message_get_destination(reply), ":1.7");
	assert_true(sd_bus_message_read(reply, "s", &got) > 0);
	assert_string_equal(got, text);
}

/* One connection serves all of them. */
static void test_make(_unused_ void **state)
{
	int before = count_descriptors(), open;

	assert_makes("first");
	open = count_descriptors();
	/* libsystemd 257 has one for the process at the other end as well */
	assert_true(open >= before + 2);
	assert_makes("second");
	assert_int_equal(count_descriptors(), open);
	test.raw = long_reply_raw_free(test.raw);
	assert_int_equal(count_descriptors(), before);
}

static void test_large(_unused_ void **state)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(bus_writer_done) BusWriter body = {};
	const void *got;
	size_t size;

	bus_writer_open(&body, 'a', "y");
	for (uint32_t i = 0; i < LARGE / sizeof(i); i++)
		bus_writer_put_bytes(&body, 1, &i, sizeof(i));
	bus_writer_close(&body);
	assert_int_equal(make("ay", &body, &reply), 0);
	assert_true(sd_bus_message_read_array(reply, 'y', &got, &size) > 0);
	assert_int_equal(size, LARGE);
	for (uint32_t i = 0; i < LARGE / sizeof(i); i++)
		assert_int_equal(((const uint32_t *)got)[i], i);
	/* Of memory that has been given back one reads zeros. */
	assert_int_not_equal(((const uint32_t *)got)[LARGE / 8], 0);
	for (size_t i = LARGE / 2; i < LARGE / 2 + 64; i++)
		assert_int_equal(body.data[i], 0);
	assert_makes("after it");
}

/* Bytes that are no message fail, and what is left of them is in no other message. */
static void test_broken(_unused_ void **state)
{
	_cleanup_(bus_writer_done) BusWriter body = {};
	sd_bus_message *reply = NULL;
	int before = count_descriptors();

	assert_makes("before it");
	bus_writer_put_text(&body, 's', "text");
	assert_true(make("not a type", &body, &reply) < 0);
	assert_null(reply);
	assert_int_equal(count_descriptors(), before);
	assert_makes("after it");
}

/* Without a descriptor for each end and one for the time in which they meet it fails, and leaves
 * none behind; the next call tries again. */
static void test_no_descriptors(_unused_ void **state)
{
	int before = count_descriptors();
	struct rlimit all, few;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	for (unsigned int more = 0; more < 3; more++) {
		_cleanup_(bus_writer_done) BusWriter body = {};
		sd_bus_message *reply = NULL;
		int r;

		bus_writer_put_text(&body, 's', "text");
		few = (struct rlimit){limit_for(more), all.rlim_max};
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		r = make("s", &body, &reply);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
		assert_int_equal(r, -EMFILE);
		assert_int_equal(count_descriptors(), before);
	}
	assert_makes("with all");
}

/* A call that has not come from a bus has no number that a reply could have. */
static void test_no_call(_unused_ void **state)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL;
	sd_bus_message *reply = NULL;

	assert_true(sd_bus_message_new_method_call(test.daemon, &call, "a.b", "/a", "a.b", "C") >=
		    0);
	assert_true(long_reply_raw_make(test.raw, call, "", NULL, 0, &reply) < 0);
	assert_null(reply);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_make),	   TEST(test_large),   TEST(test_broken),
		TEST(test_no_descriptors), TEST(test_no_call),
	};

	return cmocka_run_group_tests_name("long-reply-raw", tests, NULL, NULL);
}
