/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What test-query-dv-device uses instead of libhns: the function of hnsdv_query_device(3). */

#include <errno.h>
#include <stdint.h>

struct answer {
	uint64_t comp_mask, flags;
	uint8_t congest_type, reserved[7];
};

/* What is answered, and with which error; the test sets them. */
#pragma GCC visibility push(default)
struct answer hns_answer;
int hns_error;

int hnsdv_query_device(void *context, struct answer *ret);

int hnsdv_query_device(void *context, struct answer *ret)
{
	if (context)
		return EINVAL;
	*ret = hns_answer;
	return hns_error;
}
