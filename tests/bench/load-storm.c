/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Load: the LID of the subnet manager of all simulated ports changes N times, each time as soon as
 * the change before is done. At the end the LID is N.
 *
 *     load-storm SOCKET N
 */

#include "bench.h"
#include "names.h"
#include "raw.h"

int main(int argc, char *argv[])
{
	uint64_t n;
	RawMessage m;
	RawCall call;
	Raw *r;

	if (argc != 3 || text_to_u64(argv[2], 49151, &n) < 0)
		return 2;
	r = raw_connect(argv[1], NULL);
	for (uint64_t i = 1; i <= n; i++) {
		char command[64];

		snprintf(command, sizeof(command), "set */* sm_lid=%ju event=sm-change",
			 (uintmax_t)i);
		raw_call(&call, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_SIMULATOR, "Run",
			 "sa{sv}", command);
		raw_roundtrip(r, &call, &m);
	}
	return 0;
}
