/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* PCI addresses as people write them. */

#define PCI_ADDRESS_SIZE 24U

/* Writes TEXT, with or without "0000:" in front, as the kernel does: "0000:c1:00.0". -EINVAL. */
int pci_address_parse(const char *text, char ret[PCI_ADDRESS_SIZE]);
/* The order of two addresses as the kernel writes them. */
int pci_address_compare(const char *a, const char *b);
