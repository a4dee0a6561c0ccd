/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The texts among values: who holds them, and who gets a copy. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "attribute.h"

static const Attribute *const name = &port_attributes[PORT_ATTR_device_name];
static const Attribute *const netdev = &port_attributes[PORT_ATTR_netdev];
static const Attribute *const lid = &port_attributes[PORT_ATTR_lid];

static void set(const Attribute *a, PortValues *v, const char *text)
{
	assert_int_equal(attr_set_text(a, v, text), 0);
}

static void test_set(_unused_ void **state)
{
	PortValues v = {};
	char longer[100];

	assert_string_equal(TEXT_OF(&v, device_name), "");
	set(name, &v, "");
	assert_null(v.texts);
	set(name, &v, "mlx5_0");
	set(netdev, &v, "eth0");
	assert_string_equal(TEXT_OF(&v, device_name), "mlx5_0");
	assert_string_equal(TEXT_OF(&v, netdev), "eth0");
	/* a shorter one, a longer one, and one that is cut */
	set(name, &v, "a");
	assert_string_equal(TEXT_OF(&v, device_name), "a");
	set(name, &v, "rocep193s0f0");
	assert_string_equal(TEXT_OF(&v, device_name), "rocep193s0f0");
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	set(name, &v, longer);
	assert_int_equal(strlen(TEXT_OF(&v, device_name)), sizeof(AttrText) - 1);
	assert_string_equal(TEXT_OF(&v, netdev), "eth0");
	attr_clear(name, &v);
	assert_string_equal(TEXT_OF(&v, device_name), "");
	assert_string_equal(TEXT_OF(&v, netdev), "eth0");
	texts_release(v.texts);
}

/* A text may be one of the same values, also if their memory has to grow for it. */
static void test_own_text(_unused_ void **state)
{
	PortValues v = {};

	set(name, &v, "a text that is longer than half of the first memory for texts");
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++)
		if (attr_is_text(port_attributes[a].type))
			set(&port_attributes[a], &v, TEXT_OF(&v, device_name));
	assert_string_equal(TEXT_OF(&v, cable_flags), TEXT_OF(&v, device_name));
	set(name, &v, TEXT_OF(&v, device_name) + 2);
	assert_ptr_equal(strstr(TEXT_OF(&v, device_name), "text that"), TEXT_OF(&v, device_name));
	texts_release(v.texts);
}

/* However often texts become longer and shorter, their memory does not grow without end. */
static void test_bounded(_unused_ void **state)
{
	PortValues v = {};

	for (unsigned int i = 0; i < 5000; i++) {
		set(name, &v, i % 2 ? "a" : "much longer than the other one");
		set(netdev, &v, i % 3 ? "eth0" : "enp193s0f0np0");
	}
	assert_string_equal(TEXT_OF(&v, device_name), "a");
	assert_string_equal(TEXT_OF(&v, netdev), "eth0");
	assert_true(v.texts->room < 256);
	texts_release(v.texts);
}

/* Who holds the texts of others does not see what these set later. */
static void test_holders(_unused_ void **state)
{
	PortValues v = {.lid = 7}, was;

	set(name, &v, "mlx5_0");
	set(netdev, &v, "eth0");
	was = v;
	texts_hold(was.texts);
	set(name, &v, "mlx5_1");
	assert_string_equal(TEXT_OF(&was, device_name), "mlx5_0");
	assert_string_equal(TEXT_OF(&v, device_name), "mlx5_1");
	assert_string_equal(TEXT_OF(&v, netdev), "eth0");
	assert_int_equal(was.texts->holders, 1);
	assert_int_equal(v.texts->holders, 1);
	assert_false(attr_is_equal(name, &v, &was));
	assert_true(attr_is_equal(netdev, &v, &was));
	/* what is the same needs no copy */
	texts_release(v.texts);
	v = was;
	texts_hold(v.texts);
	set(name, &v, "mlx5_0");
	attr_clear(netdev, &v);
	assert_ptr_equal(v.texts, was.texts);
	assert_string_equal(TEXT_OF(&was, netdev), "eth0");
	texts_release(v.texts);
	texts_release(was.texts);
}

/* A place of an empty text does not stay when the texts move. */
static void test_empty_place(_unused_ void **state)
{
	PortValues v = {.netdev.at = 1};

	assert_int_equal(texts_make("\0", 2, &v.texts), 0);
	set(name, &v, "a text that is longer than the first memory for texts, by far.");
	assert_int_equal(v.netdev.at, 0);
	assert_string_equal(TEXT_OF(&v, netdev), "");
	texts_release(v.texts);
}

static void test_copy(_unused_ void **state)
{
	PortValues from = {.lid = 7}, to = {};

	set(name, &from, "mlx5_0");
	set(netdev, &from, "eth0");
	assert_int_equal(attr_copy(lid, &to, &from), 0);
	assert_int_equal(to.lid, 7);
	assert_null(to.texts);
	assert_int_equal(attr_copy(netdev, &to, &from), 0);
	assert_ptr_equal(to.texts, from.texts);
	assert_string_equal(TEXT_OF(&to, netdev), "eth0");
	assert_string_equal(TEXT_OF(&to, device_name), "");
	set(netdev, &to, "eth1");
	assert_int_equal(attr_copy(name, &to, &from), 0);
	assert_string_equal(TEXT_OF(&to, netdev), "eth1");
	assert_string_equal(TEXT_OF(&to, device_name), "mlx5_0");
	assert_string_equal(TEXT_OF(&from, netdev), "eth0");
	assert_ptr_not_equal(to.texts, from.texts);
	attr_clear(lid, &to);
	assert_false(attr_is_equal(lid, &to, &from));
	texts_release(to.texts);
	texts_release(from.texts);
}

static void test_sanitize(_unused_ void **state)
{
	Texts *t;

	assert_int_equal(texts_make("", 1, &t), 0);
	assert_null(t);
	texts_sanitize(t);
	assert_int_equal(texts_make("\0a\nb\0good\0\x1b", 12, &t), 0);
	texts_sanitize(t);
	assert_memory_equal(t->bytes, "\0a?b\0good\0?", 12);
	texts_release(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),	    cmocka_unit_test(test_own_text),
		cmocka_unit_test(test_bounded),	    cmocka_unit_test(test_holders),
		cmocka_unit_test(test_empty_place), cmocka_unit_test(test_copy),
		cmocka_unit_test(test_sanitize),
	};

	return cmocka_run_group_tests_name("attribute-field", tests, NULL, NULL);
}
