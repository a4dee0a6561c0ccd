/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-gpudirect.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "tree.h"

/* In the place of libibverbs: what the registration of a descriptor that is none ends with. */
static int reg_error;
static unsigned int n_tried, n_pds;

static struct ibv_pd the_pd;

__attribute__((visibility("default"))) struct ibv_pd *ibv_alloc_pd(_unused_ struct ibv_context *c)
{
	n_pds++;
	return &the_pd;
}

__attribute__((visibility("default"))) int ibv_dealloc_pd(struct ibv_pd *pd)
{
	assert_ptr_equal(pd, &the_pd);
	n_pds--;
	return 0;
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access) __attribute__((visibility("default")));
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, _unused_ uint64_t offset,
				 _unused_ size_t length, _unused_ uint64_t iova, int fd,
				 _unused_ int access)
{
	assert_ptr_equal(pd, &the_pd);
	assert_int_equal(fd, -1);
	n_tried++;
	errno = reg_error;
	return NULL;
}

static void test_dma_buf(void **state _unused_)
{
	static const struct {
		int error;
		DmaBuf is;
	} cases[] = {{EBADF, DMA_BUF_YES},
		     {EOPNOTSUPP, DMA_BUF_NO},
		     {EPROTONOSUPPORT, DMA_BUF_NO},
		     {ENOMEM, DMA_BUF_UNTRIED}};
	struct ibv_context context = {};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		DmaBuf known = DMA_BUF_UNTRIED;
		bool is_known = cases[i].is != DMA_BUF_UNTRIED;

		reg_error = cases[i].error;
		n_tried = 0;
		for (unsigned int k = 0; k < 2; k++) {
			DeviceSnapshot s = {};

			gpudirect_supply_dma_buf(&context, &known, &s);
			assert_int_equal(known, cases[i].is);
			assert_int_equal(mask_has(&s.supplied, DEVICE_ATTR_dma_buf), is_known);
			assert_int_equal(s.values.dma_buf, cases[i].is == DMA_BUF_YES);
		}
		/* an answer is not asked for again */
		assert_int_equal(n_tried, is_known ? 1 : 2);
		assert_int_equal(n_pds, 0);
	}
}

static unsigned int count_commas(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == ',';
	return n;
}

static void test_peers(void **state)
{
	Tree *t = *state;
	AttrPath peers;

	gpudirect_read_peers(t->fd, peers);
	assert_string_equal(peers, "none");
	tree_put(t, "module/nvidia_peermem/version", "550.54\n");
	gpudirect_read_peers(t->fd, peers);
	assert_string_equal(peers, "nvidia_peermem");
	/* ib_core of MLNX_OFED knows it too; a name that no module has is left out */
	tree_put(t, "kernel/mm/memory_peers/nvidia_peermem/version", "550.54\n");
	tree_put(t, "kernel/mm/memory_peers/amdkfd/version", "1.0\n");
	tree_put(t, "kernel/mm/memory_peers/a,b/version", "1.0\n");
	gpudirect_read_peers(t->fd, peers);
	assert_string_equal(peers, "nvidia_peermem,amdkfd");
	/* of more than eight, in no order, eight are named */
	for (char name[] = "kernel/mm/memory_peers/p0/version"; name[24] < '9'; name[24]++)
		tree_put(t, name, "1.0\n");
	gpudirect_read_peers(t->fd, peers);
	assert_int_equal(count_commas(peers), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dma_buf),
		cmocka_unit_test_setup_teardown(test_peers, tree_setup, tree_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
