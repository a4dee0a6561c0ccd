/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Whose a process is, by the path of its control group. No file is read here. */

#include "attribute.h"

/* The owners that the path names; "" for one that it does not name. */
typedef struct CgroupOwner {
	char unit[128];	    /* "nginx.service", or "user@1000.service/train.service" */
	char job[24];	    /* "4711", of Slurm */
	char pod[40];	    /* the UID of a Kubernetes pod, with hyphens */
	char container[65]; /* the id of a container: 64 hexadecimal digits */
} CgroupOwner;

/*
 * Reads PATH, such as "/system.slice/nginx.service". Only what root's programs have named counts:
 * a user may make groups with any names below user@UID.service, and so may a unit with Delegate=
 * and a container below its own.
 *
 *   unit       what comes behind the slices, if it ends with .service or .scope; for
 *              user@UID.service a '/' and the first such name below it, which is the user's word
 *   job        job_NUMBER where Slurm's plugins cgroup/v1 and cgroup/v2 make it
 *   pod        podUID, or kubepods-...podUID.slice with '_' in place of '-', where the kubelet's
 *              drivers cgroupfs and systemd make it below the top
 *   container  the unit, if it is PREFIX-ID.scope (docker, cri-containerd, crio, libpod); or ID
 *              where the kubelet, Docker and Podman make it without systemd
 */
void cgroup_owner(const char *path, CgroupOwner *ret);

/* The label of the owner for people, best first: "job 4711", "pod UID", "container 0123456789ab",
 * the unit, and "" if nothing is known. Returns BUFFER. */
#define CGROUP_LABEL_MAX 136U
const char *cgroup_label(const CgroupOwner *o, char buffer[CGROUP_LABEL_MAX]);
