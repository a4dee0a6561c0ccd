/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "pci.h"

#include "util.h"

int pci_address_parse(const char *text, char ret[PCI_ADDRESS_SIZE])
{
	unsigned int domain = 0, bus, slot, function;
	int end = 0;

	if (strlen(text) > 16 || text[strspn(text, "0123456789abcdefABCDEF:.")])
		return -EINVAL;
	if (sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &slot, &function, &end) != 4) {
		domain = 0;
		end = 0;
		if (sscanf(text, "%x:%x.%x%n", &bus, &slot, &function, &end) != 3)
			return -EINVAL;
	}
	if (text[end] || bus > 0xff || slot > 0x1f || function > 7)
		return -EINVAL;
	snprintf(ret, PCI_ADDRESS_SIZE, "%04x:%02x:%02x.%x", domain, bus, slot, function);
	return 0;
}

/* A longer address is one with a greater domain. */
static int compare_addresses(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);

	return n != m ? (n < m ? -1 : 1) : strcmp(a, b);
}

int pci_port_compare(const char *a, uint64_t port_a, const char *b, uint64_t port_b)
{
	int order = compare_addresses(a, b);

	return order ? order : (port_a > port_b) - (port_a < port_b);
}

const char *pci_function(const char *address)
{
	const char *dot = strrchr(address, '.');

	return dot ? dot : "";
}

bool pci_function_is_part(const char *function)
{
	return streq(function, "vf") || streq(function, "sf");
}
