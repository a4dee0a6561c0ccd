/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What rdmad asks of a kernel: the rows of kernel-features.def, and which of them a kernel has. */

#include <stdbool.h>
#include <stddef.h>

typedef enum KernelProbe {
	PROBE_VERSION,
	PROBE_LANDLOCK,
	PROBE_MEMFD,
	PROBE_MONITOR,
} KernelProbe;

typedef struct KernelFeature {
	const char *name;
	unsigned int kernel; /* the first that has it, a KERNEL() */
	const char *commit;
	KernelProbe probe;
	int least; /* of PROBE_LANDLOCK */
	const char *use, *without;
} KernelFeature;

extern const KernelFeature kernel_features[];
extern const size_t n_kernel_features;

/* What is known of a kernel. */
typedef struct KernelKnown {
	unsigned int version; /* a KERNEL(); 0: not known */
	int landlock;	      /* the version of Landlock; 0: it has none */
	bool memfd_noexec;    /* memfd_create() takes MFD_NOEXEC_SEAL */
	int monitor; /* whether the kernel has MonitorMode, as rdmad says; negative: not known */
} KernelKnown;

/* Whether that kernel has F. *RET_TRIED: it was tried; else its version alone says so, and a
 * distribution may have added it to an older kernel. */
bool kernel_feature_is_there(const KernelFeature *f, const KernelKnown *k, bool *ret_tried);
/* Asks the running kernel; RELEASE is its version as uname(2) says it, MONITOR as above. */
KernelKnown kernel_ask(const char *release, int monitor);
