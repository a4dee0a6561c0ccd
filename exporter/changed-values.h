/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the record of a port says of its change. */

#include "changes.h"
#include "metrics.h"

/* Takes the values of a port that has changed from its record into M. False if the record does not
 * tell all: then rdmad has to be asked for the port. */
bool changed_values_take(Metrics *m, const ChangedPort *c);
