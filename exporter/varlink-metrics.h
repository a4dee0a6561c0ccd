/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The answers of io.systemd.Metrics. Each is made once, and serves all clients until rdmad reports
 * a change. */

#include "source.h"
#include "varlink-service.h"

typedef struct VarlinkMetrics VarlinkMetrics;
typedef struct VarlinkQuestion VarlinkQuestion;

/* TEXT is the answer, and belongs to VarlinkMetrics: to keep it, take a reference. NULL:
 * memory lacks, or too much is in use by answers that clients have not taken. */
typedef void VarlinkDone(void *userdata, VarlinkText *text);

/* SOURCE outlives *RET. -ENOMEM. */
int varlink_metrics_new(Source *source, VarlinkMetrics **ret);
/* Takes NULL. There must be no question and no answer any more. */
void varlink_metrics_free(VarlinkMetrics *m);
DEFINE_CLEANUP(VarlinkMetrics, varlink_metrics_free);

/* Asks for the answer to WORK. DONE is called once, from the event loop, and *RET does not exist
 * any more then. -ENOMEM. */
int varlink_metrics_ask(VarlinkMetrics *m, VarlinkWork work, VarlinkDone *done, void *userdata,
			VarlinkQuestion **ret);
/* Gives up a question whose DONE has not been called. Takes NULL. */
void varlink_question_free(VarlinkQuestion *q);
DEFINE_CLEANUP(VarlinkQuestion, varlink_question_free);
