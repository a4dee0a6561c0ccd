/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Direct verbs of a device: which values of an answer are taken. This program replaces the
 * functions of libmlx5 and libefa, and libhns.c the library that Debian 12 does not have. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <dlfcn.h>
#include <infiniband/efadv.h>
#include <infiniband/mlx5dv.h>

#include "query-dv.h"

static const DvProvider *find(const char *name, const char *driver, int64_t id)
{
	return dv_find(&(PolicyDevice){name, driver, id, KERNEL(6, 12), false});
}

/* By the numbers of enum rdma_driver_id. */
static void test_find(_unused_ void **state)
{
	assert_ptr_equal(find("rdmap0s6", "efa", 17), &dv_efa);
	assert_ptr_equal(find("hns_0", "hns3", 12), &dv_hns);
	assert_ptr_equal(find("mlx5_0", "mlx5_core", 1), &dv_mlx5);
	assert_null(find("efa_0", "efa", -1));
	assert_null(dv_efa.query_port);
	assert_null(dv_hns.query_port);
	assert_null(dv_hbl.query_device);
}

/* The row A has VALUE. */
static void assert_row(const DeviceSnapshot *s, DeviceAttr a, uint64_t value)
{
	assert_true(mask_has(&s->supplied, a));
	assert_int_equal(attr_get_raw(&device_attributes[a], &s->values), value);
}

/* mlx5 */

static struct mlx5dv_context mlx5_answer;
static int mlx5_error;

int mlx5dv_query_device(struct ibv_context *context, struct mlx5dv_context *info)
{
	assert_null(context);
	assert_true(info->comp_mask & MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS);
	*info = mlx5_answer;
	return mlx5_error;
}

static void test_mlx5(_unused_ void **state)
{
	DeviceSnapshot s = {};

	assert_int_equal(device_interfaces(&s), 1U << INTERFACE_DEVICE);
	mlx5_answer = (struct mlx5dv_context){.flags = MLX5DV_CONTEXT_FLAGS_CQE_V1 |
						       MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS,
					      .num_lag_ports = 2};
	/* without its flag a number means nothing */
	assert_int_equal(dv_mlx5.query_device(NULL, &s), 0);
	assert_row(&s, DEVICE_ATTR_mlx5_flags, 1 << 0 | 1 << 7);
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_num_lag_ports));
	assert_int_equal(device_interfaces(&s),
			 1U << INTERFACE_DEVICE | 1U << INTERFACE_DEVICE_MLX5);

	mlx5_answer.comp_mask = MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS;
	assert_int_equal(dv_mlx5.query_device(NULL, &s), 0);
	assert_row(&s, DEVICE_ATTR_num_lag_ports, 2);

	device_snapshot_done(&s);
	mlx5_error = EOPNOTSUPP;
	assert_int_equal(dv_mlx5.query_device(NULL, &s), -EOPNOTSUPP);
	assert_true(mask_is_empty(&s.supplied));
}

/* EFA */

static int efa_error;
static uint16_t efa_inline_ex; /* in the bytes behind inline_buf_size, as of rdma-core 63 */

int efadv_query_device(struct ibv_context *context, struct efadv_device_attr *info, uint32_t size)
{
	assert_null(context);
	assert_int_equal(size, sizeof(*info));
	*info = (struct efadv_device_attr){.max_sq_wr = 4096,
					   .max_rq_wr = 32768,
					   .max_sq_sge = 2,
					   .max_rq_sge = 3,
					   .inline_buf_size = 32,
					   .device_caps = EFADV_DEVICE_ATTR_CAPS_RDMA_READ |
							  EFADV_DEVICE_ATTR_CAPS_RNR_RETRY |
							  1U << 31,
					   .max_rdma_size = 1U << 30};
	memcpy((char *)info + offsetof(struct efadv_device_attr, device_caps) -
		       sizeof(efa_inline_ex),
	       &efa_inline_ex, sizeof(efa_inline_ex));
	return efa_error;
}

static void test_efa(_unused_ void **state)
{
	const Attribute *caps = &device_attributes[DEVICE_ATTR_efa_caps];
	DeviceSnapshot s = {};
	AttrValue v;

	assert_int_equal(dv_efa.query_device(NULL, &s), 0);
	assert_row(&s, DEVICE_ATTR_max_sq_wr, 4096);
	assert_row(&s, DEVICE_ATTR_max_rq_wr, 32768);
	assert_row(&s, DEVICE_ATTR_max_sq_sge, 2);
	assert_row(&s, DEVICE_ATTR_max_rq_sge, 3);
	assert_row(&s, DEVICE_ATTR_inline_buf_size, 32);
	/* an older library knows no other size */
	assert_row(&s, DEVICE_ATTR_inline_buf_size_ex, 0);
	assert_row(&s, DEVICE_ATTR_max_rdma_size, 1U << 30);
	assert_int_equal(device_interfaces(&s),
			 1U << INTERFACE_DEVICE | 1U << INTERFACE_DEVICE_EFA);

	/* a bit that has no name yet is published by its number */
	assert_int_equal(attr_publish(caps, &s.values, &v), 0);
	assert_int_equal(v.kind, ATTR_VALUE_NAMES);
	assert_string_equal(v.names[0], "rdma-read");
	assert_string_equal(v.names[1], "rnr-retry");
	assert_string_equal(v.names[2], "bit-31");
	assert_null(v.names[3]);

	device_snapshot_done(&s);
	efa_inline_ex = 80;
	assert_int_equal(dv_efa.query_device(NULL, &s), 0);
	assert_row(&s, DEVICE_ATTR_inline_buf_size, 32);
	assert_row(&s, DEVICE_ATTR_inline_buf_size_ex, 80);
	assert_row(&s, DEVICE_ATTR_max_rdma_size, 1U << 30);

	device_snapshot_done(&s);
	efa_error = EIO;
	assert_int_equal(dv_efa.query_device(NULL, &s), -EIO);
	assert_true(mask_is_empty(&s.supplied));
}

/* HNS */

static void test_hns(_unused_ void **state)
{
	DeviceSnapshot s = {};
	void *library = dlopen(TEST_BUILD_DIR "/tests/unit/libhns.so.1", RTLD_NOW | RTLD_LOCAL);
	struct {
		uint64_t comp_mask, flags;
		uint8_t congest_type, reserved[7];
	} *answer = library ? dlsym(library, "hns_answer") : NULL;
	int *error = library ? dlsym(library, "hns_error") : NULL;

	assert_non_null(answer);
	assert_non_null(error);
	answer->congest_type = 5;
	assert_int_equal(dv_hns.query_device(NULL, &s), 0);
	assert_true(mask_is_empty(&s.supplied));
	answer->comp_mask = 1;
	assert_int_equal(dv_hns.query_device(NULL, &s), 0);
	assert_row(&s, DEVICE_ATTR_congest_type, 5);
	assert_int_equal(device_interfaces(&s),
			 1U << INTERFACE_DEVICE | 1U << INTERFACE_DEVICE_HNS);
	*error = EOPNOTSUPP;
	assert_int_equal(dv_hns.query_device(NULL, &s), -EOPNOTSUPP);
	dlclose(library);
}

/* What does not apply to the device is not valid, whoever supplied it, and is no reason either. */
static void test_derive(_unused_ void **state)
{
	DeviceSnapshot s = {};

	DEVICE_SUPPLY(&s, max_sq_wr, 0);
	DEVICE_SUPPLY(&s, max_rq_wr, 7);
	device_derive(&s);
	assert_false(mask_has(&s.valid, DEVICE_ATTR_max_sq_wr));
	assert_true(mask_has(&s.valid, DEVICE_ATTR_max_rq_wr));
	assert_non_null(device_unavailable(&s, DEVICE_ATTR_max_sq_wr));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),   cmocka_unit_test(test_mlx5),
		cmocka_unit_test(test_efa),    cmocka_unit_test(test_hns),
		cmocka_unit_test(test_derive),
	};

	return cmocka_run_group_tests_name("query-dv-device", tests, NULL, NULL);
}
