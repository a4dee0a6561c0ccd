/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * librdmad, built with a later libibverbs, whose struct ibv_port_attr has more fields than librdmad
 * knows: it builds, and those fields become 0. The library's source is compiled into this program.
 */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <infiniband/verbs.h>
#define ibv_port_attr later_port_attr

#include "memory-layout.h"

/* The fields that librdmad knows, each in its place, and 24 bytes of others behind them. */
struct ibv_port_attr {
	union {
#define VERBS(number, NAME, attribute, offset, type)                                               \
	struct {                                                                                   \
		uint8_t before_##attribute[(offset)-MEMORY_LINE];                                  \
		type attribute;                                                                    \
	};
#define TWICE(number, NAME, attribute, offset, type, verbs_offset, verbs_type, convert)            \
	VERBS(number, NAME, attribute, verbs_offset, verbs_type)
#include "memory-fields.def"
		struct {
			uint8_t known[sizeof(struct rdmad_verbs)];
			uint8_t later[24];
		};
	};
};

#define RDMAD_HAVE_ACTIVE_SPEED_EX
#include "librdmad.c"

#include "memory-fixture.h"

/* The macro passes the size that the library itself was built with. */
static void test_later_fields_are_zero(void **state)
{
	Fixture *f = *state;
	Port *p = device_port(fixture_add_device(f, 7, "mlx5_1", 1, PROTOCOL_ROCE), 1);
	struct rdmad *r = fixture_open(f, 0);
	PortSnapshot s = fixture_roce_port("eth0");
	struct ibv_port_attr a;

	PORT_SUPPLY(&s, max_mtu, IBV_MTU_4096);
	fixture_put(f, p, s);
	memset(&a, 0xff, sizeof(a));
	assert_int_equal(rdmad_query_port(r, fixture_find(r, "mlx5_1"), &a), 0);
	assert_int_equal(a.state, IBV_PORT_DOWN);
	assert_int_equal(a.link_layer, IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(a.active_mtu, IBV_MTU_1024);
	/* what lies behind them in the record is the index of the interface, 6 */
	for (size_t i = 0; i < sizeof(a.later); i++)
		assert_int_equal(a.later[i], 0);
	rdmad_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_later_fields_are_zero, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
