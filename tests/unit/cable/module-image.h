/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Modules that nobody has made: their pages, by what the standards say of each byte. */

#include "module.h"

#define MODULE_KINDS 8U

typedef enum ModuleKind {
	KIND_CMIS_OPTIC, /* eight lanes */
	KIND_CMIS_AOC,
	KIND_CMIS_DAC, /* flat memory */
	KIND_QSFP_OPTIC,
	KIND_QSFP_DAC, /* flat memory */
	KIND_QSFP_AOC,
	KIND_SFP_OPTIC,
	KIND_SFP_DAC, /* no diagnostics */
} ModuleKind;

/* Module N, which is of the kind N % MODULE_KINDS. Its numbers follow from N. */
void module_image(unsigned int n, ModulePages *ret);
/* Sets bytes of PAGE from OFFSET on, which counts from the beginning of the page. */
void module_image_set(ModulePages *p, ModulePage page, unsigned int offset, unsigned int value);
void module_image_set_number(ModulePages *p, ModulePage page, unsigned int offset,
			     unsigned int value);
