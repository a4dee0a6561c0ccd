/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What rdma-wait-generator reads. Each function logs what it cannot understand or write, goes on
 * with the rest, and returns 0 or the first of these errors as a negative errno. A file that does
 * not exist is empty. */

/* The mounts over RDMA in the file PATH, see fstab(5): NFS and CIFS with RDMA, Lustre over o2ib. */
int fstab_read(const char *path, const char *directory);

/* NVMe over RDMA in DIRECTORY_OF_NVME/discovery.conf and DIRECTORY_OF_NVME/config.json, see
 * nvme-connect-all(1) and nvme-config(1): orders nvmf-autoconnect.service behind each port of which
 * they name an address or an interface. */
int nvme_read(const char *directory_of_nvme, const char *directory);
