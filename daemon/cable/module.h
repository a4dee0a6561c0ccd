/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the pages of a module say: the cable or transceiver in the cage of a port, by CMIS 4 and 5,
 * SFF-8636 or SFF-8472. Nothing here reads anything, or trusts the module.
 */

#include "port.h"

#define MODULE_PAGE_SIZE 128U

typedef enum ModuleStandard {
	MODULE_ANY, /* not known, or of no matter */
	MODULE_SFF_8472,
	MODULE_PAGED, /* the next two */
	MODULE_SFF_8636,
	MODULE_CMIS,
} ModuleStandard;

typedef enum ModulePage {
#define PAGE(page, ...) PAGE_##page,
#include "module-pages.def"
	_PAGE_MAX
} ModulePage;

/* The pages of a module that could be read. */
typedef struct ModulePages {
	uint8_t bytes[_PAGE_MAX][MODULE_PAGE_SIZE];
	bool is_read[_PAGE_MAX];
} ModulePages;

/* Where PAGE is. */
typedef struct ModulePlace {
	uint8_t address, number, offset;
} ModulePlace;

/* Whether the module has PAGE, as those before it say, which have been read; *RET is its place
 * then. */
bool module_has_page(const ModulePages *p, ModulePage page, ModulePlace *ret);

/* Supplies the rows of a port that P says: that there is a module, and of one that follows a known
 * standard the rest. */
void module_decode(const ModulePages *p, PortSnapshot *s);
