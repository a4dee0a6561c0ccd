/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of what rdmad asks of a kernel, and what is said of kernels that are not this one. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>

#include "kernel-features.h"
#include "kernel-version.h"
#include "util.h"

static const KernelFeature *find(const char *name)
{
	for (size_t i = 0; i < n_kernel_features; i++)
		if (streq(kernel_features[i].name, name))
			return &kernel_features[i];
	fail_msg("no feature %s", name);
	return NULL;
}

static void test_rows(_unused_ void **state)
{
	unsigned int before = KERNEL(5, 10);

	for (size_t i = 0; i < n_kernel_features; i++) {
		const KernelFeature *f = &kernel_features[i];

		assert_true(f->kernel >= before);
		before = f->kernel;
		assert_int_equal(strspn(f->commit, "0123456789abcdef"), 12);
		assert_int_equal(strlen(f->commit), 12);
		assert_int_equal(f->probe == PROBE_LANDLOCK, f->least > 0);
		assert_ptr_equal(find(f->name), f);
	}
}

/* RHEL 9: an old version, and what its kernel answers. */
static void test_tried(_unused_ void **state)
{
	const KernelKnown old = {KERNEL(5, 14), 6, true, 1}, new = {KERNEL(7, 0), 1, false, 0};
	const char *const names[] = {"landlock-scope", "memfd-noexec", "monitor"};
	bool tried;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		tried = false;
		assert_true(kernel_feature_is_there(find(names[i]), &old, &tried));
		assert_true(tried);
		assert_false(kernel_feature_is_there(find(names[i]), &new, &tried));
		assert_true(tried);
	}
	assert_true(kernel_feature_is_there(find("landlock"), &new, &tried));
}

static void test_by_version(_unused_ void **state)
{
	KernelKnown k = {KERNEL(6, 11), 6, true, -1};
	bool tried = true;

	assert_false(kernel_feature_is_there(find("monitor"), &k, &tried));
	assert_false(tried);
	assert_true(kernel_feature_is_there(find("planes"), &k, &tried));
	k.version = KERNEL(6, 12);
	assert_true(kernel_feature_is_there(find("monitor"), &k, &tried));
	assert_false(tried);
	k.version = 0;
	assert_false(kernel_feature_is_there(find("planes"), &k, &tried));
}

#define KNOWN_CLOEXEC	  1U
#define KNOWN_NOEXEC_SEAL 8U

static unsigned int memfd_flags; /* that the kernel knows */

int __wrap_memfd_create(const char *name, unsigned int flags);
int __wrap_memfd_create(_unused_ const char *name, unsigned int flags)
{
	errno = EINVAL;
	return flags & ~memfd_flags ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void test_ask(_unused_ void **state)
{
	KernelKnown k;

	memfd_flags = KNOWN_CLOEXEC | KNOWN_NOEXEC_SEAL;
	k = kernel_ask("6.12.0-1-amd64", -1);
	assert_int_equal(k.version, KERNEL(6, 12));
	assert_int_equal(k.monitor, -1);
	assert_true(k.memfd_noexec);
	/* before 6.3 */
	memfd_flags = KNOWN_CLOEXEC;
	assert_false(kernel_ask("6.12.0-1-amd64", -1).memfd_noexec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_tried),
		cmocka_unit_test(test_by_version),
		cmocka_unit_test(test_ask),
	};

	return cmocka_run_group_tests_name("doctor-features", tests, NULL, NULL);
}
