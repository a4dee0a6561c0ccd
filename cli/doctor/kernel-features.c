/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "kernel-features.h"

#include <sys/mman.h>

#include "kernel-version.h"
#include "landlock.h"
#include "util.h"

const KernelFeature kernel_features[] = {
#define KERNEL_FEATURE(name, kernel, commit, probe, least, use, without)                           \
	{name, kernel, commit, PROBE_##probe, least, use, without},
#include "kernel-features.def"
#undef KERNEL_FEATURE
};

const size_t n_kernel_features = ARRAY_SIZE(kernel_features);

bool kernel_feature_is_there(const KernelFeature *f, const KernelKnown *k, bool *ret_tried)
{
	bool by_version = k->version >= f->kernel;

	*ret_tried = true;
	switch (f->probe) {
	case PROBE_LANDLOCK:
		return k->landlock >= f->least;
	case PROBE_MEMFD:
		return k->memfd_noexec;
	case PROBE_MONITOR:
		*ret_tried = k->monitor >= 0;
		return *ret_tried ? k->monitor > 0 : by_version;
	case PROBE_VERSION:
		break;
	}
	*ret_tried = false;
	return by_version;
}

KernelKnown kernel_ask(const char *release, int monitor)
{
	_cleanup_close_ int fd = memfd_create("rdmactl-doctor", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	return (KernelKnown){.version = kernel_parse_version(release),
			     .landlock = landlock_abi(),
			     .memfd_noexec = fd >= 0,
			     .monitor = monitor};
}
