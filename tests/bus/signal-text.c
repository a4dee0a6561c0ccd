/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "signal-text.h"

#include <glib.h>

/* Whether LINE names what is judged: that comes a little later than what it is judged by, or with
 * it, and Findings say since when. */
static bool is_judged(const char *line)
{
	return line && (strstr(line, "STRING \"Health\"") || strstr(line, "STRING \"Findings\""));
}

/* The line after what is judged, if that begins at LINES; else LINES. */
static char **skip_judged(char **lines)
{
	size_t indent = strspn(*lines, " ");

	if (is_judged(*lines))
		return lines + 1;
	if (!strstr(*lines, "DICT_ENTRY") || !is_judged(lines[1]))
		return lines;
	while (*++lines && strspn(*lines, " ") > indent)
		;
	return lines + 1;
}

char *signal_text(sd_bus_message *m)
{
	_cleanup_free_ char *text = NULL;
	g_auto(GStrv) lines = NULL;
	size_t size = 0;
	FILE *stream;
	GString *to;
	bool is_time = false;

	if (streq(sd_bus_message_get_path(m), RDMAD_ROOT_PATH) &&
	    sd_bus_message_is_signal(m, NULL, "PropertiesChanged"))
		return NULL;
	stream = open_memstream(&text, &size);
	assert_non_null(stream);
	sd_bus_message_rewind(m, true);
	assert_true(sd_bus_message_dump(m, stream, SD_BUS_MESSAGE_DUMP_SUBTREE_ONLY) >= 0);
	assert_int_equal(fclose(stream), 0);
	to = g_string_new(NULL);
	g_string_printf(to, "%s %s\n", sd_bus_message_get_path(m), sd_bus_message_get_member(m));
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		for (char **next; (next = skip_judged(line)) > line; line = next)
			;
		if (!(is_time && strstr(*line, "UINT64")))
			g_string_append_printf(to, "%s\n", *line);
		is_time = strstr(*line, "Timestamp\"") || (is_time && strstr(*line, "VARIANT"));
	}
	return g_string_free(to, false);
}

/* Whether TEXT is the signal with which the device NAME comes. */
static bool is_coming(const char *text, const char *name)
{
	g_autofree char *line = g_strdup_printf("STRING \"%s\"", name);

	return text && strstr(text, line);
}

char **signal_texts(const Fixture *f, const char *begin, const char *end)
{
	GPtrArray *texts = g_ptr_array_new();
	bool began = !begin;

	for (size_t i = 0; i < f->n_signals; i++) {
		char *text = signal_text(f->signals[i]);

		began |= begin && is_coming(text, begin);
		if (!text || !began) {
			free(text);
			continue;
		}
		g_ptr_array_add(texts, text);
		if (end && is_coming(text, end))
			break;
	}
	g_ptr_array_add(texts, NULL);
	return (char **)g_ptr_array_free(texts, false);
}

void signal_wait_device(Fixture *f, const char *name)
{
	for (size_t seen = 0;; seen++) {
		g_autofree char *text = NULL;

		while (seen == f->n_signals)
			fixture_wait_more(f);
		text = signal_text(f->signals[seen]);
		if (is_coming(text, name))
			return;
	}
}
