/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Values of ports that the driver of a device does not measure: unmeasured.def. */

#include "port.h"
#include "query-policy.h"

/* The rows of a port that the driver of D does not measure. */
AttrMask unmeasured_rows(const PolicyDevice *d);
/* Takes the rows UNMEASURED out of S, and says there why they are missing. */
void unmeasured_drop(const AttrMask *unmeasured, PortSnapshot *s);
