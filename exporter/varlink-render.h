/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The metrics of io.systemd.Metrics: those of lib/metrics in the form of systemd, and so the same
 * as those of Prometheus.
 *
 * The object of a value is the port ("mlx5_0/1") or the device ("mlx5_0"). A state set is one text
 * here. The labels of an info metric are texts, with their names in the field "field", as in
 * io.systemd.Basic.OSRelease of systemd.
 */

#include "metrics.h"
#include "source.h"
#include "varlink-service.h"

/* The longest name of a family, with its terminator. */
#define VARLINK_NAME_MAX (METRIC_NAME_MAX + 16)

/*
 * The name here of the family that NAME is for Prometheus: rdma_port_xmit_bytes_total is
 * org.rdma.Port.XmitBytesTotal. systemd-report wants the name of the socket, org.rdma, and a dot at
 * the beginning, and at the end a letter and then letters and digits. systemd's own metrics are in
 * CamelCase. Returns RET.
 */
const char *varlink_metric_name(const char *name, char ret[VARLINK_NAME_MAX]);

/* The replies to WORK while rdmad says STATE. A negative errno: as of metrics_visit(). */
int varlink_render(VarlinkWork work, const SourceState *state, VarlinkText **ret);
