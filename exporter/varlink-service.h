/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The interfaces of the service, and what it answers to a call. org.varlink.service is the one that
 * each Varlink service has (varlink.org); io.systemd.Metrics is the one that systemd-report asks.
 */

#include "varlink-call.h"
#include "varlink-reply.h"

/* The work that a method asks for. */
typedef enum VarlinkWork {
	VARLINK_LIST_METRICS,	  /* the values of all metrics */
	VARLINK_DESCRIBE_METRICS, /* their descriptions */
	_VARLINK_WORK_MAX
} VarlinkWork;

/* The error of io.systemd.Metrics if there is no metric: systemd's clients take it for an empty
 * list. */
#define VARLINK_NO_SUCH_METRIC "io.systemd.Metrics.NoSuchMetric"

/*
 * Answers CALL in *RET. Or *RET is NULL, and the answer is what *RET_WORK says. A method that is
 * not there is MethodNotFound, whether or not its interface is: systemd's services answer so too,
 * and systemd-report is silent about that error only. -ENOMEM.
 */
int varlink_service_call(const VarlinkCall *call, VarlinkText **ret, VarlinkWork *ret_work);
