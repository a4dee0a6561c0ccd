/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How the text of metrics grows. */

#include "text-put.h"

void metrics_text_done(MetricsText *t)
{
	free(t->text);
	*t = (MetricsText){.format = t->format};
}

bool text_make_room(MetricsText *t, size_t n)
{
	size_t wanted = t->size + n;
	char *text;

	if (t->error < 0)
		return false;
	if (wanted <= t->allocated)
		return true;
	wanted = MAX(wanted, t->allocated ? t->allocated * 2 : 16384);
	text = realloc(t->text, wanted);
	if (!text) {
		t->error = -ENOMEM;
		return false;
	}
	t->text = text;
	t->allocated = wanted;
	return true;
}

void text_put(MetricsText *t, const char *text, size_t n)
{
	if (!text_make_room(t, n))
		return;
	memcpy(t->text + t->size, text, n);
	t->size += n;
}

void text_put_text(MetricsText *t, const char *text)
{
	text_put(t, text, strlen(text));
}

void text_put_escaped(MetricsText *t, const char *text, bool quotes)
{
	const char *special = quotes ? "\\\n\"" : "\\\n";

	for (;;) {
		size_t n = strcspn(text, special);

		text_put(t, text, n);
		text += n;
		if (!*text)
			return;
		text_put(t, "\\", 1);
		text_put(t, *text == '\n' ? "n" : text, 1);
		text++;
	}
}

void text_put_labels(MetricsText *t, const MetricLabel *labels, size_t first, size_t n)
{
	for (size_t i = first; i < n; i++) {
		if (i > 0)
			text_put(t, ",", 1);
		text_put_text(t, labels[i].name);
		text_put(t, "=\"", 2);
		text_put_escaped(t, labels[i].value, true);
		text_put(t, "\"", 1);
	}
}

char *metrics_labels_text(const MetricLabel *labels, size_t n)
{
	_cleanup_metrics_text_ MetricsText t = {};

	text_put_labels(&t, labels, 0, n);
	text_put(&t, "", 1);
	return t.error < 0 ? NULL : strdup(t.text);
}
