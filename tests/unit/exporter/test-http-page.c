/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How long pages stay: a plain one as long as somebody sends it, a compressed one until the next.
 */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "http-page.h"

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);

static int n_left = -1; /* allocations before one that fails; below 0: none does */

void *__wrap_calloc(size_t n, size_t size)
{
	return n_left-- == 0 ? NULL : __real_calloc(n, size);
}

void *__wrap_malloc(size_t size)
{
	return n_left-- == 0 ? NULL : __real_malloc(size);
}

char *__wrap_strdup(const char *text)
{
	return n_left-- == 0 ? NULL : __real_strdup(text);
}

static HttpPage *get(HttpPages *pages, const SourceState *state, bool gzip)
{
	HttpPage *page;

	assert_int_equal(http_pages_get(pages, state, false, gzip, &page), 0);
	assert_int_equal(page->gzip, gzip);
	return page;
}

static void test_shared(_unused_ void **state)
{
	_cleanup_(metrics_free_pointer) Metrics *m = metrics_new();
	SourceState s = {.serial = 1, .metrics = m};
	HttpPages pages = {};
	HttpPage *first, *second, *next;

	first = get(&pages, &s, false);
	second = get(&pages, &s, false);
	assert_ptr_equal(first, second);
	assert_int_equal(first->n_refs, 2);
	/* the next state has another one, while the first is still sent */
	s.serial++;
	next = get(&pages, &s, false);
	assert_ptr_not_equal(next, first);
	http_page_unref(first);
	http_page_unref(second);
	assert_ptr_equal(pages.last[false][false].page, next);
	http_page_unref(next);
	assert_null(pages.last[false][false].page);
	http_pages_done(&pages);
}

static void test_compressed(_unused_ void **state)
{
	_cleanup_(metrics_free_pointer) Metrics *m = metrics_new();
	SourceState s = {.serial = 1, .metrics = m};
	HttpPages pages = {};
	HttpPage *page = get(&pages, &s, true);

	/* what it was made of does not stay */
	assert_null(pages.last[false][false].page);
	http_page_unref(page);
	assert_ptr_equal(pages.last[false][true].page, page);
	assert_ptr_equal(get(&pages, &s, true), page);
	http_page_unref(page);
	s.serial++;
	http_page_unref(get(&pages, &s, true));
	assert_int_equal(pages.last[false][true].page->n_refs, 1);
	http_pages_done(&pages);
}

/* One that is still sent when its pages end. */
static void test_outlives(_unused_ void **state)
{
	_cleanup_(metrics_free_pointer) Metrics *m = metrics_new();
	SourceState s = {.serial = 1, .metrics = m};
	HttpPages pages = {};
	HttpPage *page = get(&pages, &s, false);

	http_pages_done(&pages);
	assert_int_equal(page->n_refs, 1);
	assert_non_null(strstr(page->text, "rdma_rdmad_up"));
	http_page_unref(page);
}

/* Without memory there is no page, and the next time there is one. */
static void test_no_memory(_unused_ void **state)
{
	_cleanup_(metrics_free_pointer) Metrics *m = metrics_new();
	SourceState s = {.serial = 1, .metrics = m};
	HttpPages pages = {};
	HttpPage *page;
	int r = -ENOMEM;

	for (int n = 0; r < 0; n++) {
		n_left = n;
		r = http_page_new("text", &page);
		assert_int_equal(r, n < 2 ? -ENOMEM : 0);
	}
	http_page_unref(page);
	for (unsigned int gzip = 0; gzip <= 1; gzip++) {
		r = -ENOMEM;
		for (int n = 0; r < 0; n++) {
			n_left = n;
			r = http_pages_get(&pages, &s, false, gzip, &page);
			assert_true(r == -ENOMEM || (r == 0 && n > 0));
		}
		http_page_unref(page);
	}
	n_left = -1;
	http_pages_done(&pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_outlives),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
