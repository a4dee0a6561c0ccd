/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * rdma-wait-generator NORMAL EARLY LATE: see rdma-wait-generator(8), and systemd.generator(7) for
 * what systemd expects. It runs before any service, and again at each "systemctl daemon-reload"; it
 * reads three files, looks at no device and asks nobody.
 */

#include "generator.h"
#include "util.h"

int main(int argc, char *argv[])
{
	const char *fstab = getenv("SYSTEMD_FSTAB"), *nvme = getenv("RDMA_WAIT_NVME_DIRECTORY");
	int r, q;

	if (argc != 4 || argv[1][0] != '/') {
		fprintf(stderr, "Usage: rdma-wait-generator NORMAL-DIRECTORY EARLY-DIRECTORY "
				"LATE-DIRECTORY\n"
				"systemd calls it; see rdma-wait-generator(8).\n");
		return 2;
	}
	r = fstab_read(fstab ?: "/etc/fstab", argv[1]);
	q = nvme_read(nvme ?: "/etc/nvme", argv[1]);
	return r < 0 || q < 0;
}
