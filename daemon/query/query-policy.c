/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-policy.h"

#include <fnmatch.h>
#include <sys/utsname.h>

#include <rdma/ib_user_ioctl_verbs.h>

/* Newer than the headers of Debian 11 or 12, as DRIVER_MANA is. */
#define DRIVER_IRDMA	    9 /* as RDMA_DRIVER_I40IW before it */
#define DRIVER_ERDMA	    19
#define DRIVER_IONIC_OR_HBL 21

/*
 * The drivers whose ib_device_ops have disassociate_ucontext, and the first kernel that was looked
 * at and has it. With any other driver an open context blocks the removal of the device, and of the
 * driver's module, for as long as it is open, and nothing tells the holder.
 *
 * Sources: the symbols of the modules of Debian's kernels 5.10.223, 6.1, 6.12, 7.2.13 and 7.3.4.
 * Where the kernel's history is known, the commit stands beside the row. "Looked at" is what
 * matters: 5.10 is not the first kernel that has it for mlx5 and mlx4, but no older one is
 * supported.
 */
static const struct {
	int64_t driver_id;
	unsigned int kernel;
	const char *kernel_driver; /* only if this is the parent device's driver; NULL: any */
} may_hold[] = {
	/* 7c2344c3bbf9 "IB/mlx5: Implements disassociate_ucontext API" */
	{RDMA_DRIVER_MLX5, POLICY_KERNEL(5, 10), NULL},
	/* ae184ddeca5d, which implements it for mlx4 */
	{RDMA_DRIVER_MLX4, POLICY_KERNEL(5, 10), NULL},
	{RDMA_DRIVER_HNS, POLICY_KERNEL(6, 1), NULL},
	{DRIVER_IRDMA, POLICY_KERNEL(6, 1), NULL},
	{RDMA_DRIVER_BNXT_RE, POLICY_KERNEL(6, 12), NULL}, /* 6.1 has not */
	{DRIVER_ERDMA, POLICY_KERNEL(6, 12), NULL},	   /* 6.1 has not */
	{DRIVER_MANA, POLICY_KERNEL(6, 12), NULL},	   /* 6.1 has no such driver */
	/* The out-of-tree hbl driver calls itself 21 too. */
	{DRIVER_IONIC_OR_HBL, POLICY_KERNEL(6, 18), "ionic"},
	/* acf9cbb06f1f "RDMA/rxe: Implement disassociate_ucontext callback"; 7.2.13 has not */
	{RDMA_DRIVER_RXE, POLICY_KERNEL(7, 3), NULL},
};

/* The first kernel on which the driver of D can be held; 0: no kernel is known. */
static unsigned int first_kernel(const PolicyDevice *d)
{
	for (size_t i = 0; i < ARRAY_SIZE(may_hold); i++)
		if (d->driver_id == may_hold[i].driver_id &&
		    (!may_hold[i].kernel_driver ||
		     streq(d->kernel_driver, may_hold[i].kernel_driver)))
			return may_hold[i].kernel;
	return 0;
}

static Policy decide(Policy policy, UnavailableCode why, const Unavailable **ret_why)
{
	*ret_why = &unavailable_rows[why];
	return policy;
}

Policy policy_decide(const PolicyOptions *o, const PolicyDevice *d, const Unavailable **ret_why)
{
	unsigned int kernel = first_kernel(d);

	for (char **glob = o->never_open; glob && *glob; glob++)
		if (fnmatch(*glob, d->name, 0) == 0)
			return decide(POLICY_NEVER_OPEN, UNAVAILABLE_KEPT_CLOSED, ret_why);
	if (d->exclusive)
		return decide(o->hbl ? POLICY_ISOLATE : POLICY_NEVER_OPEN, UNAVAILABLE_ONE_USER,
			      ret_why);
	if (!o->hold)
		return decide(POLICY_OPEN_BRIEFLY, UNAVAILABLE_NOT_HELD, ret_why);
	if (kernel == 0)
		return decide(POLICY_OPEN_BRIEFLY, UNAVAILABLE_DRIVER_NOT_HELD, ret_why);
	if (d->kernel < kernel)
		return decide(POLICY_OPEN_BRIEFLY, UNAVAILABLE_KERNEL_NOT_HELD, ret_why);
	*ret_why = NULL;
	return POLICY_HOLD;
}

unsigned int policy_parse_kernel_version(const char *release)
{
	unsigned int major, minor;

	return sscanf(release, "%u.%u", &major, &minor) == 2 && minor < 256
		       ? POLICY_KERNEL(major, minor)
		       : 0;
}

unsigned int policy_kernel_version(void)
{
	struct utsname u;

	return uname(&u) < 0 ? 0 : policy_parse_kernel_version(u.release);
}
