/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Whose a process is, by the path of its control group. No file is read here. */

#include "attribute.h"

/* What the path names; "" for what it does not. */
typedef struct CgroupOwner {
	char unit[128];	    /* "nginx.service": of the user's systemd if that has one */
	char job[24];	    /* "4711", of Slurm */
	char pod[40];	    /* the UID of a Kubernetes pod, with hyphens */
	char container[65]; /* the id of a container: 64 hexadecimal digits */
} CgroupOwner;

/*
 * Reads PATH, such as "/system.slice/nginx.service":
 *
 *   unit       the first component that ends with .service or .scope; behind user@UID.service the
 *              next one (systemd.unit(5), org.freedesktop.systemd1(5), ControlGroup)
 *   job        a component job_NUMBER (Slurm's plugins cgroup/v1 and cgroup/v2)
 *   pod        a component podUID, or ...-podUID.slice with '_' in place of '-' (kubelet's drivers
 *              cgroupfs and systemd)
 *   container  a component that is its id, or PREFIX-ID.scope (docker, cri-containerd, crio,
 * libpod)
 */
void cgroup_owner(const char *path, CgroupOwner *ret);

/* What people call the owner, best first: "job 4711", "pod UID", "container 0123456789ab", the
 * unit, and "" if nothing is known. Returns BUFFER. */
#define CGROUP_LABEL_MAX 136U
const char *cgroup_label(const CgroupOwner *o, char buffer[CGROUP_LABEL_MAX]);
