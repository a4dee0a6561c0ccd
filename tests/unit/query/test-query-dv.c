/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Direct verbs: which provider a device has, and which values of an answer are taken. This program
 * replaces the function of libmlx5; the libraries of tests/vm/libhbl replace libhbl. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <dlfcn.h>
#include <infiniband/mlx5dv.h>
#include <sys/wait.h>

#include "query-dv.h"

/* Finding */

static const DvProvider *find(const char *name, const char *driver, int64_t id)
{
	return dv_find(&(PolicyDevice){name, driver, id, KERNEL(6, 12), false});
}

static void test_find(_unused_ void **state)
{
	assert_ptr_equal(find("mlx5_0", "mlx5_core", 1), &dv_mlx5);
	assert_ptr_equal(find("ibp1s0", "", 1), &dv_mlx5);
	assert_null(find("mlx5_0", "", -1));
	assert_null(find("rxe0", "", 14));
	/* driver id 21 stands for ionic and for hbl */
	assert_ptr_equal(find("x", "", 21), &dv_hbl);
	assert_null(find("ionic_0", "ionic", 21));
	assert_null(find("ionic_0", "ionic_vf", 21));
	assert_null(find("x", "new", 21));
	assert_ptr_equal(find("hbl_3", "", -1), &dv_hbl);
	assert_ptr_equal(find("x", "habanalabs_cn", -1), &dv_hbl);
	assert_null(find("hbl3", "", -1));
	assert_true(dv_hbl.exclusive);
	assert_false(dv_mlx5.exclusive);
	assert_ptr_equal(dv_find_name("hbl"), &dv_hbl);
	assert_null(dv_find_name("hb"));
}

/* mlx5 */

static struct mlx5dv_port mlx5_answer;
static int mlx5_error;

int _mlx5dv_query_port(struct ibv_context *context, uint32_t port, struct mlx5dv_port *info,
		       size_t info_len)
{
	static const struct mlx5dv_port zero;

	assert_null(context);
	assert_int_equal(port, 3);
	assert_int_equal(info_len, sizeof(*info));
	assert_memory_equal(info, &zero, sizeof(zero));
	/* all fields whatever the flags, as libmlx5 does */
	*info = mlx5_answer;
	return mlx5_error;
}

static const struct {
	uint64_t flag;
	PortAttr attrs[2]; /* the second may be _PORT_ATTR_MAX */
	uint64_t values[2];
} mlx5_rows[] = {
	{1U << 0, {PORT_ATTR_vport, _PORT_ATTR_MAX}, {0xffff}},
	{1U << 1, {PORT_ATTR_vport_vhca_id, _PORT_ATTR_MAX}, {0x8001}},
	{1U << 2, {PORT_ATTR_vport_steering_icm_rx, _PORT_ATTR_MAX}, {UINT64_MAX}},
	{1U << 3, {PORT_ATTR_vport_steering_icm_tx, _PORT_ATTR_MAX}, {UINT64_C(1) << 63}},
	{1U << 4, {PORT_ATTR_reg_c0_value, PORT_ATTR_reg_c0_mask}, {0x10000, 0xffff0000}},
	{1U << 5, {PORT_ATTR_esw_owner_vhca_id, _PORT_ATTR_MAX}, {0}},
};

static void assert_mlx5(uint64_t flags)
{
	PortSnapshot s = {};
	bool any = false;

	mlx5_answer.flags = flags;
	assert_int_equal(dv_mlx5.query_port(NULL, 3, &s), 0);
	for (size_t i = 0; i < ARRAY_SIZE(mlx5_rows); i++)
		for (size_t k = 0; k < 2 && mlx5_rows[i].attrs[k] != _PORT_ATTR_MAX; k++) {
			PortAttr a = mlx5_rows[i].attrs[k];
			bool is = flags & mlx5_rows[i].flag;

			any |= is;
			assert_int_equal(mask_has(&s.supplied, a), is);
			assert_int_equal(attr_get_raw(&port_attributes[a], &s.values),
					 is ? mlx5_rows[i].values[k] : 0);
		}
	assert_int_equal(port_interfaces(&s),
			 1U << INTERFACE_PORT | (any ? 1U << INTERFACE_MLX5 : 0));
}

static void test_mlx5(_unused_ void **state)
{
	PortSnapshot s = {};

	mlx5_answer = (struct mlx5dv_port){.vport = 0xffff,
					   .vport_vhca_id = 0x8001,
					   .esw_owner_vhca_id = 0,
					   .vport_steering_icm_rx = UINT64_MAX,
					   .vport_steering_icm_tx = UINT64_C(1) << 63,
					   .reg_c0 = {.value = 0x10000, .mask = 0xffff0000}};
	for (uint64_t flags = 0; flags < 64; flags++)
		assert_mlx5(flags);
	/* flags of a later libmlx5 */
	assert_mlx5(~UINT64_C(63));
	assert_mlx5(UINT64_MAX);

	mlx5_answer.flags = 63;
	mlx5_error = EOPNOTSUPP;
	assert_int_equal(dv_mlx5.query_port(NULL, 3, &s), -EOPNOTSUPP);
	mlx5_error = EIO;
	assert_int_equal(dv_mlx5.query_port(NULL, 3, &s), -EIO);
	assert_true(mask_is_empty(&s.supplied));
}

/* hbl: a process keeps the library that it has loaded, so each test has a process of its own */

static void in_child(void (*check)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		check();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                    \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (false)

/* Loads a library that has the soname of libhbl. dlopen() of libhbl then returns this one. */
static void load(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), TEST_BUILD_DIR "/tests/vm/libhbl/libhbl-%s.so.1", name);
	CHECK(dlopen(path, RTLD_NOW | RTLD_LOCAL));
}

static void check_hbl(void)
{
	static const PortAttr rows[] = {PORT_ATTR_max_num_of_qps,
					PORT_ATTR_num_allocated_qps,
					PORT_ATTR_max_allocated_qp_num,
					PORT_ATTR_max_cq_size,
					_PORT_ATTR_MAX,
					_PORT_ATTR_MAX,
					_PORT_ATTR_MAX,
					_PORT_ATTR_MAX,
					_PORT_ATTR_MAX,
					PORT_ATTR_advanced,
					PORT_ATTR_max_num_of_cqs,
					PORT_ATTR_max_num_of_usr_fifos,
					PORT_ATTR_max_num_of_encaps,
					PORT_ATTR_nic_macro_idx,
					PORT_ATTR_nic_phys_port_idx};
	PortSnapshot s = {};
	unsigned int n = 0;

	load("reserved");
	CHECK(dv_hbl.is_usable(NULL));
	CHECK(dv_hbl.query_port(NULL, 2, &s) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i] != _PORT_ATTR_MAX) {
			uint64_t is = rows[i] == PORT_ATTR_advanced ? 1 : i + 1;

			CHECK(mask_has(&s.supplied, rows[i]));
			CHECK(attr_get_raw(&port_attributes[rows[i]], &s.values) == is);
		}
	CHECK(mask_has(&s.supplied, PORT_ATTR_in_use) && !s.values.in_use);
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++)
		n += mask_has(&s.supplied, a);
	CHECK(n == 11);
	CHECK(port_interfaces(&s) == (1U << INTERFACE_PORT | 1U << INTERFACE_HBL));

	port_snapshot_done(&s);
	CHECK(dv_hbl.query_port(NULL, 3, &s) == -EINVAL);
	CHECK(mask_is_empty(&s.supplied));
}

static void check_layout(void)
{
	PortSnapshot s = {};

	load("layout");
	CHECK(dv_hbl.is_usable(NULL));
	CHECK(dv_hbl.query_port(NULL, 1, &s) == -EBADMSG);
	CHECK(mask_is_empty(&s.supplied));
}

static void check_bare(void)
{
	PortSnapshot s = {};

	load("bare");
	CHECK(!dv_hbl.is_usable(NULL));
	CHECK(dv_hbl.query_port(NULL, 1, &s) == -EOPNOTSUPP);
}

static void check_none(void)
{
	CHECK(!dv_hbl.is_usable(NULL));
}

static void test_hbl(_unused_ void **state)
{
	PortSnapshot s = {};

	in_child(check_hbl);
	in_child(check_layout);
	in_child(check_bare);
	in_child(check_none);

	dv_hbl.open_failed(-EACCES, &s);
	assert_true(mask_is_empty(&s.supplied));
	dv_hbl.open_failed(-EBUSY, &s);
	assert_true(mask_has(&s.supplied, PORT_ATTR_in_use));
	assert_int_equal(s.values.in_use, 1);
	assert_int_equal(port_interfaces(&s), 1U << INTERFACE_PORT | 1U << INTERFACE_HBL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_mlx5),
		cmocka_unit_test(test_hbl),
	};

	return cmocka_run_group_tests_name("query-dv", tests, NULL, NULL);
}
