/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "check-print.h"

#include "json.h"
#include "terminal.h"

/* The longest line of each format: node-problem-detector cuts a message after 80 bytes
 * (max_output_length), and a page of a monitoring system is no place for more than some lines. */
#define NPD_LINE_MAX	80U
#define NAGIOS_TEXT_MAX 1024U

CheckFormat format_find(const char *name)
{
	static const char *const names[_FORMAT_MAX] = {"text", "nagios", "npd"};
	CheckFormat f = 0;

	while (f < _FORMAT_MAX && !streq(names[f], name))
		f++;
	return f;
}

int format_exit_status(CheckFormat format, Severity worst, bool unknown)
{
	switch (format) {
	case FORMAT_NAGIOS:
		return unknown ? 3 : (int)worst;
	case FORMAT_NPD:
		return unknown ? 2 : worst > SEVERITY_OK;
	case FORMAT_TEXT:
	case _FORMAT_MAX:
		break;
	}
	return worst > SEVERITY_OK ? STATUS_FAILED : STATUS_OK;
}

static const Object *object_of(const Finding *f)
{
	return f->port ? f->port : f->device;
}

/* The name of F behind its cause: the port, if the cause is on the device or on another port. */
static const char *short_name(const Finding *f, char buffer[96])
{
	if (f->port && f->port != f->cause->port)
		return object_name(f->port, buffer);
	return f->row && streq(f->check->name, "expectation") ? f->row->name : f->check->name;
}

/* "; also: Rate, LinkWidth": what has F as its cause. Each name is there once, even if several
 * things are wrong with the same port. */
static void print_rest(FILE *out, const CheckRun *r, const Finding *f)
{
	const char *before = "; also: ";
	char last[96] = "", buffer[96];

	for (size_t i = 0; i < r->n_findings; i++) {
		const char *name;

		if (r->findings[i].cause != f)
			continue;
		name = short_name(&r->findings[i], buffer);
		if (!streq(name, last))
			fprintf(out, "%s%s", before, name);
		before = ", ";
		text_copy(last, sizeof(last), name);
	}
}

/* What is printed behind the name of what F is about, but for the severity. */
static char *finding_text(const CheckRun *r, const Finding *f)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs(f->sentence, out);
	print_rest(out, r, f);
	return stream_close(out, &text);
}

/* Whether B says of another port or device what TEXT, of A, says. */
static bool says_same(const CheckRun *r, const Finding *a, const char *text, const Finding *b)
{
	_cleanup_free_ char *other = NULL;

	if (a->check != b->check || !a->port != !b->port || object_of(a) == object_of(b))
		return false;
	other = finding_text(r, b);
	return text && other && streq(text, other) &&
	       finding_severity(r, a) == finding_severity(r, b);
}

/* The first finding from I on that is told, as severe as LEAST or worse; n_findings: none. */
static size_t find_told(const CheckRun *r, size_t i, Severity least)
{
	while (i < r->n_findings && finding_severity(r, &r->findings[i]) < least)
		i++;
	return i;
}

/* Prints the finding I, with those told next that say the same of other ports or devices: they are
 * one line. Returns the one behind them. */
static size_t print_text(const Context *c, const CheckRun *r, size_t i, Severity least)
{
	const Finding *f = &r->findings[i];
	_cleanup_free_ char *text = finding_text(r, f);
	Severity severity = finding_severity(r, f);
	size_t n = 1, end = find_told(r, i + 1, least);
	char name[96];

	for (; object_of(f) && end < r->n_findings && says_same(r, f, text, &r->findings[end]); n++)
		end = find_told(r, end + 1, least);
	fputs(terminal_color(c, "bold"), c->out);
	if (n > 1)
		fprintf(c->out, "%zu %s (", n, f->port ? "ports" : "devices");
	for (size_t k = 0; object_of(f) && k < n; k++, i = find_told(r, i + 1, least))
		fprintf(c->out, "%s%s", k > 0 ? ", " : "",
			object_name(object_of(&r->findings[i]), name));
	fprintf(c->out, "%s%s%s%s [%s, %s%s%s]\n", n > 1 ? ")" : "", terminal_plain(c),
		object_of(f) ? ": " : "", text ? text : f->sentence, f->check->name,
		terminal_color(c, severity == SEVERITY_CRITICAL ? "red" : "yellow"),
		severity_name(severity), terminal_plain(c));
	return end;
}

/* O is NULL in the list of those that have the same cause: they are about the same. */
static void print_json_members(FILE *f, const Finding *finding, const Object *o)
{
	char name[96];

	json_add_text(f, "Check", finding->check->name);
	if (o) {
		json_add_text(f, o->is_port ? "Port" : "Device", object_name(o, name));
		json_add_text(f, "ObjectPath", o->path);
	}
	if (finding->row)
		json_add_text(f, "Property", finding->row->name);
	json_add_text(f, "Finding", finding->sentence);
}

static void print_json(const Context *c, const CheckRun *r, const Finding *finding,
		       Severity severity)
{
	FILE *f = c->out;

	json_open(f);
	print_json_members(f, finding, object_of(finding));
	json_add_text(f, "Severity", severity_name(severity));
	json_open_list(f, "Also");
	for (size_t i = 0; i < r->n_findings; i++) {
		if (r->findings[i].cause != finding)
			continue;
		json_entry(f);
		json_open(f);
		print_json_members(f, &r->findings[i], NULL);
		json_close(f);
	}
	json_close_list(f);
	json_close(f);
}

/* One line for another program */

typedef struct Line {
	char text[NAGIOS_TEXT_MAX];
	size_t n, room; /* at most ROOM bytes, the end of the text not counted */
} Line;

/* Adds TEXT as far as there is room for all of it and KEEP more bytes; otherwise nothing. */
static bool line_add(Line *l, const char *text, size_t keep)
{
	size_t n = strlen(text);

	if (l->n + n + keep > l->room)
		return false;
	memcpy(l->text + l->n, text, n + 1);
	l->n += n;
	return true;
}

/* Begins the line with as much of TEXT as there is room for before KEEP more bytes, with "..." if
 * it is cut. */
static void line_begin(Line *l, const char *text, size_t keep)
{
	if (line_add(l, text, keep))
		return;
	text_copy(l->text, l->room - keep - 3 + 1, text);
	strcat(l->text, "...");
	l->n = strlen(l->text);
}

/* " (+2)": so many findings are not in the line; "" if there are none. */
static const char *say_left(size_t n, char buffer[32])
{
	if (n == 0)
		return "";
	snprintf(buffer, 32, " (+%zu)", n);
	return buffer;
}

/* Adds one of the findings, behind which there are LEFT more: the first one even if it has to be
 * cut. False if it does not fit; then how many are left stands there. */
static bool line_add_finding(Line *l, const Finding *f, size_t left)
{
	const Object *o = object_of(f);
	char text[512], name[96], rest[32];
	size_t keep = strlen(say_left(left, rest));

	snprintf(text, sizeof(text), "%s%s%s%s", l->n > 0 ? "; " : "",
		 o ? object_name(o, name) : "", o ? ": " : "", f->sentence);
	if (l->n == 0) {
		line_begin(l, text, keep);
		return true;
	}
	if (line_add(l, text, keep))
		return true;
	line_add(l, say_left(left + 1, rest), 0);
	return false;
}

/* Adds the N findings, the worst first, as far as there is room. */
static void line_add_findings(Line *l, const CheckRun *r, Severity least, size_t n)
{
	for (Severity s = SEVERITY_CRITICAL; s >= least; s--)
		for (size_t i = 0; i < r->n_findings; i++)
			if (finding_severity(r, &r->findings[i]) == s &&
			    !line_add_finding(l, &r->findings[i], --n))
				return;
}

static size_t count_active(const CheckRun *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_ports; i++)
		n += object_is_active(r->ports[i]);
	return n;
}

/* '|' begins the performance data. */
static void replace_bars(char *text)
{
	for (; *text; text++)
		if (*text == '|')
			*text = '/';
}

static void print_line(const Context *c, const CheckRun *r, CheckFormat format, Severity least,
		       const size_t n[_SEVERITY_MAX])
{
	static const char *const words[_SEVERITY_MAX] = {"OK", "WARNING", "CRITICAL"};
	size_t all = n[SEVERITY_WARNING] + n[SEVERITY_CRITICAL], active = count_active(r);
	Severity worst = n[SEVERITY_CRITICAL]  ? SEVERITY_CRITICAL
			 : n[SEVERITY_WARNING] ? SEVERITY_WARNING
					       : SEVERITY_OK;
	Line l = {.room = format == FORMAT_NPD ? NPD_LINE_MAX : NAGIOS_TEXT_MAX - 1};
	char text[64];

	snprintf(text, sizeof(text), "%zu RDMA %s, %zu active", r->n_ports,
		 r->n_ports == 1 ? "port" : "ports", active);
	if (all == 0)
		line_add(&l, text, 0);
	else
		line_add_findings(&l, r, least, all);
	if (format == FORMAT_NPD) {
		fprintf(c->out, "%s\n", l.text);
		return;
	}
	replace_bars(l.text);
	fprintf(c->out, "RDMA %s: %s | ports=%zu active=%zu warning=%zu critical=%zu\n",
		words[worst], l.text, r->n_ports, active, n[SEVERITY_WARNING],
		n[SEVERITY_CRITICAL]);
}

void format_print_unknown(CheckFormat format, const char *message)
{
	Line l = {.room = format == FORMAT_NPD ? NPD_LINE_MAX : NAGIOS_TEXT_MAX - 1};

	line_begin(&l, message, 0);
	replace_bars(l.text);
	printf("%s%s\n", format == FORMAT_NAGIOS ? "RDMA UNKNOWN: " : "", l.text);
}

/* A person at a terminal is told that nothing was found; a program reads that in the status. */
static void print_well(const Context *c, const CheckRun *r)
{
	if (!c->is_terminal || r->n_findings > 0 || r->only != CONDITIONS_ALL)
		return;
	if (r->n_ports == 0)
		fputs("There are no ports\n", c->out);
	else
		fprintf(c->out, "%zu %s, all well\n", r->n_ports,
			r->n_ports == 1 ? "port" : "ports");
}

/* A line for each finding that somebody knows. */
static void print_acknowledged(const Context *c, const CheckRun *r)
{
	char name[96];

	for (size_t i = 0; i < r->n_findings; i++) {
		const Finding *f = &r->findings[i];

		if (f->acknowledged && !f->cause)
			fprintf(c->out, "%s: %s [%s, acknowledged%s%s]\n",
				object_name(object_of(f), name), f->sentence, f->check->name,
				*f->acknowledged ? ": " : "", f->acknowledged);
	}
}

Severity findings_print(const Context *c, const CheckRun *r, CheckFormat format, Severity least)
{
	size_t n[_SEVERITY_MAX] = {}, first = find_told(r, 0, least);

	for (size_t i = first; i < r->n_findings; i = find_told(r, i + 1, least))
		n[finding_severity(r, &r->findings[i])]++;
	if (c->json) {
		json_begin(c->out, "Findings");
		for (size_t i = first; i < r->n_findings; i = find_told(r, i + 1, least)) {
			json_next(c->out);
			print_json(c, r, &r->findings[i], finding_severity(r, &r->findings[i]));
		}
		json_end(c->out);
	} else if (format != FORMAT_TEXT) {
		print_line(c, r, format, least, n);
	} else {
		for (size_t i = first; i < r->n_findings;)
			i = print_text(c, r, i, least);
		print_acknowledged(c, r);
		print_well(c, r);
	}
	return n[SEVERITY_CRITICAL]  ? SEVERITY_CRITICAL
	       : n[SEVERITY_WARNING] ? SEVERITY_WARNING
				     : SEVERITY_OK;
}
