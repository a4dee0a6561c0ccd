/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The metrics that are about the exporter, and not about a device. */

#include "metrics.h"
#include "source.h"

/* Visits them as metrics_visit() does: rdma_rdmad_up, which is there also if rdmad is not, and
 * others. */
int own_metrics_visit(const SourceState *state, const MetricsVisitor *visitor, void *userdata);
