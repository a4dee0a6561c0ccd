/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-policy.h"

#include <fnmatch.h>

#include <rdma/ib_user_ioctl_verbs.h>

/* Newer than the headers of Debian 11 or 12, as DRIVER_MANA is. */
#define DRIVER_IRDMA	    9 /* as RDMA_DRIVER_I40IW before it */
#define DRIVER_ERDMA	    19
#define DRIVER_IONIC_OR_HBL 21

/* The rows of held-drivers.def */
static const struct {
	int64_t driver_id;
	unsigned int kernel;
	const char *kernel_driver;
} may_hold[] = {
#define HELD(driver, kernel, parent, name, note) {driver, kernel, parent},
#include "held-drivers.def"
#undef HELD
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
