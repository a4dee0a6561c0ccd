/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is a call of Varlink, and what is answered, byte for byte. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "varlink-service.h"

static int parse(const char *text, VarlinkCall *ret)
{
	return varlink_call_parse(text, strlen(text), ret);
}

static void test_call(_unused_ void **state)
{
	VarlinkCall call;

	assert_int_equal(parse("{\"method\":\"a.B\",\"parameters\":{\"x\":\"y\"},\"more\":true,"
			       "\"oneway\":false} \t\r\n",
			       &call),
			 0);
	assert_string_equal(call.method, "a.B");
	assert_true(call.more);
	assert_false(call.oneway);
	assert_string_equal(varlink_call_text(&call, "x"), "y");
	assert_null(varlink_call_text(&call, "z"));
	assert_null(varlink_call_unexpected(&call, "x"));
	assert_string_equal(varlink_call_unexpected(&call, "z"), "x");
	assert_string_equal(varlink_call_unexpected(&call, NULL), "x");
	varlink_call_done(&call);
	assert_int_equal(parse("{\"method\":\"a.B\",\"oneway\":true}", &call), 0);
	assert_false(call.more);
	assert_true(call.oneway);
	assert_null(varlink_call_text(&call, "x"));
	assert_null(varlink_call_unexpected(&call, NULL));
	varlink_call_done(&call);
}

static void test_no_call(_unused_ void **state)
{
	static const char *const wrong[] = {
		"",
		" ",
		"{",
		"{}",
		"[]",
		"7",
		"{\"method\":7}",
		"{\"method\":\"a.B\"}x",
		"{\"method\":\"a.B\"}{\"method\":\"a.B\"}",
		"{'method':'a.B'}",
		"{\"method\":\"a.B\",}",
		"{\"method\":\"a\\u0000.B\"}",
		"{\"method\":\"a.\xff\"}",
		"{\"method\":\"a.B\",\"parameters\":[]}",
		"{\"method\":\"a.B\",\"more\":1}",
		"{\"method\":\"a.B\",\"oneway\":\"true\"}",
		"{\"method\":\"a.B\",\"more\":true,\"oneway\":true}",
	};
	VarlinkCall call = {.more = true};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (parse(wrong[i], &call) != -EBADMSG)
			fail_msg("%s is a call", wrong[i]);
	assert_true(call.more);
	assert_null(call.message);
}

/* The longest call, and one byte more. */
static void test_length(_unused_ void **state)
{
	static const char begin[] = "{\"method\":\"a.B\",\"parameters\":{\"x\":\"", end[] = "\"}}";
	_cleanup_free_ char *text = malloc(VARLINK_CALL_MAX + 1);
	VarlinkCall call;

	assert_non_null(text);
	memset(text, 'a', VARLINK_CALL_MAX);
	memcpy(text, begin, strlen(begin));
	memcpy(text + VARLINK_CALL_MAX - 1 - strlen(end), end, strlen(end));
	assert_int_equal(varlink_call_parse(text, VARLINK_CALL_MAX - 1, &call), 0);
	varlink_call_done(&call);
	memset(text + strlen(begin), 'a', VARLINK_CALL_MAX - strlen(begin));
	memcpy(text + VARLINK_CALL_MAX - strlen(end), end, strlen(end));
	assert_int_equal(varlink_call_parse(text, VARLINK_CALL_MAX, &call), -EBADMSG);
}

/* The answer to this call is ANSWER; or, if that is NULL, WORK is to be done for it. */
static void assert_answer(const char *text, const char *answer, VarlinkWork work)
{
	VarlinkWork is = _VARLINK_WORK_MAX;
	VarlinkText *reply = NULL;
	VarlinkCall call;

	assert_int_equal(parse(text, &call), 0);
	assert_int_equal(varlink_service_call(&call, &reply, &is), 0);
	if (answer) {
		assert_non_null(reply);
		assert_int_equal(reply->n, strlen(answer) + 1);
		assert_string_equal(reply->text, answer);
	} else {
		assert_null(reply);
		assert_int_equal(is, work);
	}
	varlink_text_unref(reply);
	varlink_call_done(&call);
}

#define METRICS "io.systemd.Metrics"
#define SERVICE "org.varlink.service"

/* The text of an interface has its name in it. */
static void assert_description(const char *interface)
{
	VarlinkText *reply = NULL, *other;
	VarlinkWork work;
	VarlinkCall call;
	char text[160];

	snprintf(text, sizeof(text),
		 "{\"method\":\"" SERVICE ".GetInterfaceDescription\","
		 "\"parameters\":{\"interface\":\"%s\"}}",
		 interface);
	assert_int_equal(parse(text, &call), 0);
	assert_int_equal(varlink_service_call(&call, &reply, &work), 0);
	varlink_call_done(&call);
	snprintf(text, sizeof(text), "interface %s\\n", interface);
	assert_non_null(strstr(reply->text, text));
	/* it stays until the last who has it lets it go */
	other = varlink_text_ref(reply);
	varlink_text_unref(reply);
	assert_non_null(strstr(other->text, text));
	varlink_text_unref(other);
}

static void test_answers(_unused_ void **state)
{
	static const char *const rows[][2] = {
		{SERVICE ".GetInfo\"}",
		 "{\"parameters\":{\"vendor\":\"rdmad\",\"product\":\"rdmad-exporter\","
		 "\"version\":\"" RDMAD_VERSION
		 "\",\"url\":\"man:rdmad-exporter-varlink.socket(8)\","
		 "\"interfaces\":[\"" METRICS "\",\"" SERVICE "\"]}}"},
		{SERVICE ".GetInfo\",\"parameters\":{\"a/b\":1}}",
		 "{\"parameters\":{\"parameter\":\"a/b\"},\"error\":\"" SERVICE
		 ".InvalidParameter\"}"},
		{SERVICE ".GetNothing\"}",
		 "{\"parameters\":{\"method\":\"" SERVICE ".GetNothing\"},\"error\":\"" SERVICE
		 ".MethodNotFound\"}"},
		{SERVICE ".GetInterfaceDescription\"}",
		 "{\"parameters\":{\"parameter\":\"interface\"},\"error\":\"" SERVICE
		 ".InvalidParameter\"}"},
		{SERVICE ".GetInterfaceDescription\",\"parameters\":{\"interface\":\"a.b\"}}",
		 "{\"parameters\":{\"interface\":\"a.b\"},\"error\":\"" SERVICE
		 ".InterfaceNotFound\"}"},
		{METRICS ".List\"}", "{\"parameters\":{},\"error\":\"" SERVICE ".ExpectedMore\"}"},
	};
	char call[256];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(call, sizeof(call), "{\"method\":\"%s", rows[i][0]);
		assert_answer(call, rows[i][1], 0);
	}
	assert_description(METRICS);
	assert_description(SERVICE);
	assert_answer("{\"method\":\"" METRICS ".List\",\"more\":true}", NULL,
		      VARLINK_LIST_METRICS);
	assert_answer("{\"method\":\"" METRICS ".Describe\",\"more\":true}", NULL,
		      VARLINK_DESCRIBE_METRICS);
}

/* Several replies are one text, each with its zero; all but the last say that others follow. */
static void test_replies(_unused_ void **state)
{
	static const char expected[] = "{\"parameters\":{},\"continues\":true}\0"
				       "{\"parameters\":{},\"continues\":true}\0"
				       "{\"parameters\":{}}";
	VarlinkReply reply = {};
	VarlinkText *text = NULL;

	assert_int_equal(varlink_reply_end(&reply, &text), -ENOENT);
	for (unsigned int i = 0; i < 3; i++)
		varlink_reply_add(&reply, json_object_new_object());
	assert_int_equal(varlink_reply_end(&reply, &text), 0);
	assert_int_equal(text->n, sizeof(expected));
	assert_memory_equal(text->text, expected, sizeof(expected));
	varlink_text_unref(text);
}

/* More than the first room, and exactly that. */
static void test_room(_unused_ void **state)
{
	for (size_t n = 4000; n < 4200; n++) {
		_cleanup_free_ char *long_text = malloc(n + 1);
		VarlinkText *text = NULL;
		size_t begin = strlen("{\"parameters\":{\"method\":\"");

		memset(long_text, 'x', n);
		long_text[n] = '\0';
		assert_int_equal(varlink_reply_error("a.B", "method", long_text, &text), 0);
		assert_int_equal(text->n, begin + n + strlen("\"},\"error\":\"a.B\"}") + 1);
		assert_memory_equal(text->text + begin, long_text, n);
		assert_string_equal(text->text + begin + n, "\"},\"error\":\"a.B\"}");
		varlink_text_unref(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call),	cmocka_unit_test(test_no_call),
		cmocka_unit_test(test_length),	cmocka_unit_test(test_answers),
		cmocka_unit_test(test_replies), cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests_name("varlink-call", tests, NULL, NULL);
}
