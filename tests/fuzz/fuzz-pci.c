/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A configuration space with any contents and any length, as rdmad-pci reads it, and the text that
 * the worker reads of it. */

#include "config-space.h"
#include "input.h"

/* Of a list without an end, each place is read a few times at most. */
#define READS_MAX 2048U

static unsigned int n_reads;

static bool read_config(void *userdata, unsigned int at, uint32_t *ret)
{
	const FuzzInput *input = userdata;
	const uint8_t *p = input->next + at;

	FUZZ_CHECK(at % 4 == 0 && at < 4096 + 4 && ++n_reads < READS_MAX);
	if (at + 4 > input->left)
		return false;
	*ret = (uint32_t)(p[0] | p[1] << 8 | p[2] << 16) | (uint32_t)p[3] << 24;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FuzzInput input = {data, MIN(size, 4096)};
	char text[PCI_CONTROL_SIZE], copy[PCI_CONTROL_SIZE + 8] = "";
	PciControl c, same;

	n_reads = 0;
	if (config_space_control(read_config, &input, &c)) {
		FUZZ_CHECK(pci_control_max_payload(&c) <= 4096);
		FUZZ_CHECK(pci_control_max_read_request(&c) <= 4096);
		pci_control_format(&c, text);
		text[strlen(text) - 1] = '\0';
		FUZZ_CHECK(pci_control_parse(text, &same));
		FUZZ_CHECK(memcmp(&c, &same, sizeof(c)) == 0);
	}
	input_bytes(&input, copy, sizeof(copy) - 1);
	(void)pci_control_parse(copy, &same);
	return 0;
}
