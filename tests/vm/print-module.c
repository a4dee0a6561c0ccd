/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* print-module N: prints the words that make the module of a port in rdma_sim module N of
 * module-image.h. */

#include "module-image.h"

int main(int argc, char *argv[])
{
	const uint8_t *bytes;
	ModulePages p;
	uint64_t n;

	if (argc != 2 || text_to_u64(argv[1], UINT32_MAX, &n) < 0)
		return EXIT_FAILURE;
	module_image((unsigned int)n, &p);
	bytes = p.bytes[0];
	for (size_t i = 0; i < sizeof(p.bytes); i++) {
		if (i % 8 == 0)
			printf(" module.%zu=0x", i / 8);
		printf("%02x", bytes[i]);
	}
	return EXIT_SUCCESS;
}
