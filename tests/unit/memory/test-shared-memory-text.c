/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rdmad_field_text(): what it writes for each field, and that it writes no more than there is room
 * for. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "memory-fixture.h"

#define GUARD 0x5a

/* The text of FIELD in PORT, which has one. */
static char *full_text(const struct rdmad_port *port, unsigned int field)
{
	char *text = malloc(RDMAD_TEXT_MAX);

	assert_non_null(text);
	assert_int_equal(rdmad_field_text(port, field, text, RDMAD_TEXT_MAX), 0);
	return text;
}

/* Writes FIELD, whose text is EXPECTED, into SIZE bytes between two guards. */
static void assert_fits(const struct rdmad_port *port, unsigned int field, const char *expected,
			size_t size)
{
	/* exactly as much memory: AddressSanitizer sees what is written behind it too */
	_cleanup_free_ unsigned char *room = malloc(size + 2);
	char *text = (char *)room + 1;
	int e;

	assert_non_null(room);
	memset(room, GUARD, size + 2);
	e = rdmad_field_text(port, field, text, size);
	if (room[0] != GUARD || room[size + 1] != GUARD)
		fail_msg("%s: a byte outside of %zu was written", rdmad_field_name(field), size);
	if (e != (size > strlen(expected) ? 0 : size == 0 ? -EINVAL : -ENOSPC))
		fail_msg("%s: \"%s\" in %zu bytes: %i", rdmad_field_name(field), expected, size, e);
	if (e == 0)
		assert_string_equal(text, expected);
}

/* The text in buffers of each size from 0 to more than enough. */
static void assert_every_size(const struct rdmad_port *port, unsigned int field)
{
	_cleanup_free_ char *expected = full_text(port, field);

	for (size_t size = 0; size <= strlen(expected) + 2; size++)
		assert_fits(port, field, expected, size);
}

static struct rdmad_port read_port(const struct rdmad *r, const char *name)
{
	struct rdmad_port p;

	assert_int_equal(rdmad_read(r, fixture_find(r, name), &p), 0);
	return p;
}

static struct rdmad_port infiniband_port(Fixture *f)
{
	Device *d = fixture_add_device(f, 3, "mlx5_0", 1, PROTOCOL_INFINIBAND);
	struct rdmad *r = fixture_open(f, 0);
	struct rdmad_port p;

	fixture_put(f, device_port(d, 1), fixture_all_fields());
	p = read_port(r, "mlx5_0");
	rdmad_close(r);
	return p;
}

static void test_each_field(void **state)
{
	static const char *const expected[_RDMAD_FIELD_MAX] = {
		[RDMAD_FIELD_STATE] = "active",
		[RDMAD_FIELD_PHYS_STATE] = "link-up",
		[RDMAD_FIELD_LINK_LAYER] = "infiniband",
		[RDMAD_FIELD_PROTOCOL] = "infiniband",
		[RDMAD_FIELD_MAX_MTU] = "4096",
		[RDMAD_FIELD_ACTIVE_MTU] = "2048",
		[RDMAD_FIELD_ACTIVE_WIDTH] = "4",
		[RDMAD_FIELD_ACTIVE_SPEED] = "NDR",
		[RDMAD_FIELD_LINK_SPEED] = "XDR",
		[RDMAD_FIELD_LID] = "17",
		[RDMAD_FIELD_SM_LID] = "9",
		[RDMAD_FIELD_LMC] = "3",
		[RDMAD_FIELD_SM_SL] = "2",
		[RDMAD_FIELD_INIT_TYPE_REPLY] = "7",
		[RDMAD_FIELD_MAX_MSG_SZ] = "1073741824",
		[RDMAD_FIELD_GID_TBL_LEN] = "70000",
		[RDMAD_FIELD_PKEY_TBL_LEN] = "128",
		[RDMAD_FIELD_BAD_PKEY_CNTR] = "11",
		[RDMAD_FIELD_QKEY_VIOL_CNTR] = "12",
		[RDMAD_FIELD_ACTIVE_SPEED_EX] = "XDR",
		[RDMAD_FIELD_SUBNET_PREFIX] = "fe80:0000:0000:0001",
	};
	struct rdmad_port p = infiniband_port(*state);

	for (unsigned int field = 0; field < _RDMAD_FIELD_MAX; field++) {
		_cleanup_free_ char *text = NULL;

		if (!(p.hot.valid >> field & 1)) {
			assert_null(expected[field]);
			continue;
		}
		text = full_text(&p, field);
		if (expected[field])
			assert_string_equal(text, expected[field]);
		assert_every_size(&p, field);
	}
}

/* Names of bits: none, one, and several. */
static void test_lists(void **state)
{
	struct rdmad_port p = infiniband_port(*state);
	_cleanup_free_ char *none = NULL, *one = NULL, *three = NULL, *all = NULL;

	p.verbs.port_cap_flags2 = 0;
	none = full_text(&p, RDMAD_FIELD_PORT_CAP_FLAGS2);
	assert_string_equal(none, "");
	assert_every_size(&p, RDMAD_FIELD_PORT_CAP_FLAGS2);
	p.verbs.port_cap_flags2 = 1U << 1;
	one = full_text(&p, RDMAD_FIELD_PORT_CAP_FLAGS2);
	assert_null(strchr(one, ' '));
	assert_every_size(&p, RDMAD_FIELD_PORT_CAP_FLAGS2);
	p.verbs.port_cap_flags2 = 1U << 1 | 1U << 4 | 1U << 5;
	three = full_text(&p, RDMAD_FIELD_PORT_CAP_FLAGS2);
	assert_true(startswith(three, one) && three[strlen(one)] == ' ');
	assert_non_null(strchr(three + strlen(one) + 1, ' '));
	assert_every_size(&p, RDMAD_FIELD_PORT_CAP_FLAGS2);
	p.verbs.port_cap_flags2 = UINT16_MAX;
	all = full_text(&p, RDMAD_FIELD_PORT_CAP_FLAGS2);
	assert_true(strlen(all) > strlen(three));
	assert_every_size(&p, RDMAD_FIELD_PORT_CAP_FLAGS2);
}

/* The name of an interface has its own end, or fills its field: what follows is not read. */
static void test_netdev(void **state)
{
	Fixture *f = *state;
	Device *d = fixture_add_device(f, 7, "mlx5_1", 1, PROTOCOL_ROCE);
	struct rdmad *r = fixture_open(f, 0);
	struct {
		struct rdmad_port port;
		char behind[16];
	} p;
	_cleanup_free_ char *text = NULL, *full = NULL;

	fixture_put(f, device_port(d, 1), fixture_roce_port("enp193s0f0np0"));
	p.port = read_port(r, "mlx5_1");
	text = full_text(&p.port, RDMAD_FIELD_NETDEV);
	assert_string_equal(text, "enp193s0f0np0");
	assert_every_size(&p.port, RDMAD_FIELD_NETDEV);
	memset(p.port.netdev, 'a', sizeof(p.port.netdev));
	memset(p.behind, 'b', sizeof(p.behind));
	p.behind[sizeof(p.behind) - 1] = '\0';
	full = full_text(&p.port, RDMAD_FIELD_NETDEV);
	assert_string_equal(full, "aaaaaaaaaaaaaaaa");
	assert_every_size(&p.port, RDMAD_FIELD_NETDEV);
	rdmad_close(r);
}

/* A code that the field cannot have has no text, and neither has what is not a field. */
static void test_none(void **state)
{
	struct rdmad_port p = infiniband_port(*state);
	char text[RDMAD_TEXT_MAX] = "before";

	p.hot.max_mtu = 6;
	assert_int_equal(rdmad_field_text(&p, RDMAD_FIELD_MAX_MTU, text, sizeof(text)), -ENODATA);
	p.hot.valid &= ~(UINT64_C(1) << RDMAD_FIELD_LID);
	assert_int_equal(rdmad_field_text(&p, RDMAD_FIELD_LID, text, sizeof(text)), -ENODATA);
	p.hot.valid = UINT64_MAX;
	assert_int_equal(rdmad_field_text(&p, _RDMAD_FIELD_MAX, text, sizeof(text)), -EINVAL);
	assert_int_equal(rdmad_field_text(&p, UINT32_MAX, text, sizeof(text)), -EINVAL);
	assert_string_equal(text, "before");
	assert_non_null(rdmad_field_name(_RDMAD_FIELD_MAX - 1));
	assert_null(rdmad_field_name(_RDMAD_FIELD_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_field, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_lists, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_netdev, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_none, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
