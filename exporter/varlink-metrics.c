/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <systemd/sd-daemon.h>

#include "varlink-metrics.h"
#include "varlink-render.h"

/* All answers together: 450000 values. A larger one is made if there is no other: what clients
 * have not taken yet can be so much, and the memory of the service is limited. */
#define KEPT_MAX ((size_t)64 << 20)

struct VarlinkMetrics {
	Source *source;
	size_t kept; /* bytes of all answers that exist */
	struct {
		VarlinkText *text; /* NULL: not made yet */
		uint64_t serial;   /* of the state that it is of */
	} answers[_VARLINK_WORK_MAX];
};

struct VarlinkQuestion {
	VarlinkMetrics *metrics;
	VarlinkWork work;
	VarlinkDone *done;
	void *userdata;
	SourceRequest *request;
};

int varlink_metrics_new(Source *source, VarlinkMetrics **ret)
{
	VarlinkMetrics *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->source = source;
	*ret = m;
	return 0;
}

void varlink_metrics_free(VarlinkMetrics *m)
{
	if (!m)
		return;
	for (int i = 0; i < _VARLINK_WORK_MAX; i++)
		varlink_text_unref(m->answers[i].text);
	free(m);
}

/* Makes the answer anew, unless the one that is there is of the same state. */
static int bring_answer(VarlinkMetrics *m, VarlinkWork work, const SourceState *state)
{
	_cleanup_(varlink_text_unref_pointer) VarlinkText *text = NULL;
	int r;

	if (m->answers[work].text && m->answers[work].serial == state->serial)
		return 0;
	m->answers[work].text = varlink_text_unref(m->answers[work].text);
	r = varlink_render(work, state, &text);
	if (r < 0)
		return r;
	if (m->kept > 0 && m->kept + text->n > KEPT_MAX)
		return -ENOBUFS;
	text->sum = &m->kept;
	m->kept += text->n;
	m->answers[work].text = steal_pointer(&text);
	m->answers[work].serial = state->serial;
	return 0;
}

static void on_state(void *userdata, const SourceState *state)
{
	_cleanup_(varlink_question_free_pointer) VarlinkQuestion *q = userdata;
	int r;

	q->request = NULL;
	r = bring_answer(q->metrics, q->work, state);
	if (r < 0)
		fprintf(stderr, SD_WARNING "Cannot answer a Varlink client: %s\n", strerror(-r));
	q->done(q->userdata, q->metrics->answers[q->work].text);
}

int varlink_metrics_ask(VarlinkMetrics *m, VarlinkWork work, VarlinkDone *done, void *userdata,
			VarlinkQuestion **ret)
{
	_cleanup_free_ VarlinkQuestion *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return -ENOMEM;
	*q = (VarlinkQuestion){.metrics = m, .work = work, .done = done, .userdata = userdata};
	r = source_ask(m->source, on_state, q, &q->request);
	if (r < 0)
		return r;
	*ret = steal_pointer(&q);
	return 0;
}

void varlink_question_free(VarlinkQuestion *q)
{
	if (!q)
		return;
	source_request_free(q->request);
	free(q);
}
