/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* PCI addresses as people write them, and functions. */

#include <stdbool.h>
#include <stdint.h>

#define PCI_ADDRESS_SIZE 24U

/* Writes TEXT, with or without "0000:" in front, as the kernel does: "0000:c1:00.0". -EINVAL. */
int pci_address_parse(const char *text, char ret[PCI_ADDRESS_SIZE]);
/* The order of two ports by the address of the function, as the kernel writes it, and their number
 * there. */
int pci_port_compare(const char *a, uint64_t port_a, const char *b, uint64_t port_b);
/* The function in ADDRESS, as the kernel writes it: ".0"; "" without one. */
const char *pci_function(const char *address);
/* Whether FUNCTION, a value of Function, is a part of another function: a virtual function or a
 * subfunction. */
bool pci_function_is_part(const char *function);
