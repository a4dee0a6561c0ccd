/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How the text of metrics grows. Without memory the error stays in the text. */

#include "metrics-private.h"

/* Makes room for N more bytes. False without memory. */
bool text_make_room(MetricsText *t, size_t n);
void text_put(MetricsText *t, const char *text, size_t n);
void text_put_text(MetricsText *t, const char *text);
/* TEXT, in which a backslash, the end of a line and, if QUOTES, a quotation mark are escaped. */
void text_put_escaped(MetricsText *t, const char *text, bool quotes);
/* All of a sample that stands before its number. */
void text_put_before_number(MetricsText *t, const MetricFamily *f, const MetricSample *s);
/* The labels from number FIRST to the one before N. */
void text_put_labels(MetricsText *t, const MetricLabel *labels, size_t first, size_t n);
