/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The configuration: the input is the file. */

#include "config.h"
#include "input.h"

/* The limits that CONFIG_KEYS has for the numbers. */
static bool is_seconds(uint64_t usec, uint64_t least_usec)
{
	return usec >= least_usec && usec <= 86400 * USEC_PER_SEC;
}

static bool is_same(const Config *a, const Config *b)
{
#define SAME(group, key, type, field, ...) &&a->field == b->field
	return true CONFIG_KEYS(SAME);
#undef SAME
}

static void check_good(const Config *c)
{
	FUZZ_CHECK(is_seconds(c->query_timeout_usec, USEC_PER_SEC / 100));
	FUZZ_CHECK(c->reconcile_usec == 0 || is_seconds(c->reconcile_usec, USEC_PER_SEC));
	FUZZ_CHECK(c->long_reply_rate <= UINT64_C(1024) << 20);
	for (char **name = c->never_open; name && *name; name++)
		FUZZ_CHECK(**name != '\0');
	for (char **name = c->wait_ports; name && *name; name++)
		FUZZ_CHECK(**name != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *message = NULL;
	const Config initial = CONFIG_DEFAULT;
	Config config = CONFIG_DEFAULT;
	char path[INPUT_PATH_MAX];
	int r;

	input_file(&(FuzzInput){data, size}, path);
	r = config_load(&config, path, &message);
	FUZZ_CHECK(r == 0 || (r < 0 && message));
	FUZZ_CHECK(r == 0 || is_same(&config, &initial));
	check_good(&config);
	config_done(&config);
	return 0;
}
