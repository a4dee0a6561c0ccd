/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How soon ports are compared with each other on a busy machine, with a source that the test plays.
 */

#include "decode.h"
#include "fake-source.h"

#include <time.h>

/* What the linker puts in the place of a function of health.c */
void __wrap_health_compare(Health *h, uint64_t now, HealthTell tell, void *userdata);
void __real_health_compare(Health *h, uint64_t now, HealthTell tell, void *userdata);

static unsigned int n_compared;

/* Others have the processor for a tenth of a second meanwhile. */
void __wrap_health_compare(Health *h, uint64_t now, HealthTell tell_of, void *userdata)
{
	__real_health_compare(h, now, tell_of, userdata);
	nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	n_compared++;
}

/* The time in which others had the processor is not what the comparison takes: it is not put off
 * because of that. */
static void test_busy(void **state)
{
	Test *t = *state;
	unsigned int n = n_compared;

	assert_int_not_equal(n, 0);
	tell(1, 1, REASON_PORT_ERROR);
	RUN_UNTIL(t, fake.n_queries == 2);
	answer(PORT_STATE_DOWN);
	RUN_UNTIL(t, n_compared > n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ANSWERED(test_busy),
	};

	return cmocka_run_group_tests_name("manager-health", tests, NULL, NULL);
}
