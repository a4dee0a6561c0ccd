/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The registers of a PCI function that decide how data goes between functions. They are in the part
 * of its configuration space that the kernel shows to CAP_SYS_ADMIN only. rdmad-pci, which has that
 * right, writes them into a file for each function, called by its address, and the worker reads
 * these files.
 */

#include <stdbool.h>
#include <stdint.h>

#define PCI_CONTROLS	 "/run/rdmad-pci"
#define PCI_CONTROL_SIZE 16U /* of the text of one, with its end */

typedef struct PciControl {
	uint16_t device; /* Device Control, of the PCI Express capability */
	uint16_t acs;	 /* ACS Control; 0: the function has none */
	uint16_t ats;	 /* ATS Control; 0: the same */
} PciControl;

/* "2936 001d 8000\n" */
void pci_control_format(const PciControl *c, char ret[PCI_CONTROL_SIZE]);
/* The same without the line break. */
bool pci_control_parse(const char *text, PciControl *ret);

bool pci_control_has_relaxed_ordering(const PciControl *c);
/* In bytes; 0: a code that stands for nothing. */
uint32_t pci_control_max_payload(const PciControl *c);
uint32_t pci_control_max_read_request(const PciControl *c);
/* Whether a port with C sends requests or completions of functions below it up, and not to another
 * port of its switch. ATS: what is below it uses addresses that the IOMMU has translated before,
 * for which a port can make an exception. */
bool pci_control_redirects(const PciControl *c, bool ats);
/* Whether a function with C does so. */
bool pci_control_has_ats(const PciControl *c);
