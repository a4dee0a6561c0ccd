/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "compare-machines.h"

#include <ctype.h>

#include "parse.h"

/* Limits for a file; one that was written by hand is far smaller. */
#define MACHINES_MAX   16384U
#define LINES_MAX      65536U
#define LINE_MAX_BYTES 1024U
#define LABEL_MAX      64U

void machines_done(Machines *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->items[i].name);
		free(m->items[i].label);
		free(m->items[i].place);
		free(m->items[i].reason);
		object_list_done(&m->items[i].objects);
	}
	free(m->items);
	*m = (Machines){};
}

bool machine_is_bus(const char *name)
{
	return startswith(name, "unix:") != NULL;
}

/* Returns NULL if NAME can be a machine, and otherwise what is wrong with it. ssh would take a name
 * that begins with '-' as an option. */
static const char *judge_name(const char *name)
{
	if (name[0] == '-')
		return "the name of a machine cannot begin with '-'";
	/* behind a ';' there could be an address that executes a program */
	if (machine_is_bus(name) && (!strchr(name, '=') || strchr(name, ';')))
		return "expected an address such as unix:path=/run/bus";
	for (const char *p = name; *p; p++)
		if (!isgraph((unsigned char)*p) ||
		    (!machine_is_bus(name) && strchr("'\"`$\\;&|<>(){}*?!", *p)))
			return "expected one machine, such as node17 or root@node17, or a heading "
			       "[GROUP]";
	return NULL;
}

/* A label may become a part of the name of a file. */
static bool is_label(const char *label)
{
	if (!*label || strlen(label) > LABEL_MAX || label[0] == '.')
		return false;
	for (const char *p = label; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return false;
	return true;
}

static ExitStatus add_machine(Machines *m, const char *name, const char *label, const char *place)
{
	const char *wrong = judge_name(name);
	const Machine *same = array_find(m->items, m->n, name, name);
	Machine *item;

	if (wrong)
		return usage_error("%s: \"%s\": %s", place, name, wrong);
	if (same)
		return usage_error("%s: \"%s\" is there already: %s", place, name, same->place);
	if (m->n == MACHINES_MAX)
		return usage_error("%s: \"%s\": there are more than %u machines", place, name,
				   MACHINES_MAX);
	if (!array_grow(m->items, m->n))
		return out_of_memory();
	item = &m->items[m->n++];
	*item = (Machine){.name = strdup(name),
			  .label = label ? strdup(label) : NULL,
			  .place = strdup(place)};
	return item->name && item->place && (!label || item->label) ? STATUS_OK : out_of_memory();
}

ExitStatus machines_add_argument(Machines *m, const char *name)
{
	return add_machine(m, name, NULL, "the command line");
}

/* Removes blanks around TEXT, and a comment. Returns where it begins. */
static char *trim(char *text)
{
	for (char *p = text; *p; p++)
		if (*p == '#' && (p == text || strchr(" \t", p[-1])))
			*p-- = '\0';
	return text_trim(text);
}

/* Reads one line; LABEL is that of the last heading, "" if there was none. */
static ExitStatus read_line(Machines *m, const char *place, char *line, char label[LABEL_MAX + 1])
{
	size_t n = strlen(line);

	if (n == 0)
		return STATUS_OK;
	if (line[0] != '[')
		return add_machine(m, line, *label ? label : NULL, place);
	if (line[n - 1] == ']') {
		line[n - 1] = '\0';
		if (is_label(line + 1)) {
			text_copy(label, LABEL_MAX + 1, line + 1);
			return STATUS_OK;
		}
		line[n - 1] = ']';
	}
	return usage_error(
		"%s: \"%s\": expected [GROUP] with at most %u letters, digits, '.', '_' or '-'",
		place, line, LABEL_MAX);
}

static ExitStatus read_lines(Machines *m, const char *name, FILE *f)
{
	char line[LINE_MAX_BYTES], label[LABEL_MAX + 1] = "", place[256];
	ExitStatus status = STATUS_OK;

	for (unsigned int n = 1; status == STATUS_OK && fgets(line, sizeof(line), f); n++) {
		size_t length = strlen(line);

		snprintf(place, sizeof(place), "%s:%u", name, n);
		if (n > LINES_MAX || (length == sizeof(line) - 1 && line[length - 1] != '\n'))
			return usage_error("%s: the %s is too long", place,
					   n > LINES_MAX ? "file" : "line");
		status = read_line(m, place, trim(line), label);
	}
	if (status == STATUS_OK && ferror(f))
		return usage_error("--hosts=%s: %s", name, strerror(errno));
	return status;
}

ExitStatus machines_read(Machines *m, const char *path)
{
	_cleanup_fclose_ FILE *f = NULL;

	if (streq(path, "-"))
		return read_lines(m, "standard input", stdin);
	f = fopen(path, "re");
	if (!f)
		return usage_error("--hosts=%s: %s; expected a file with a machine on each line",
				   path, strerror(errno));
	return read_lines(m, path, f);
}
