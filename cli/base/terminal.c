/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "terminal.h"

#include <ctype.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

/* The output that is collected for the pager. */
static char *arg_text;
static size_t arg_size;

static void window_size(unsigned int *ret_columns, unsigned int *ret_rows)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = {};
	uint64_t n;

	*ret_columns = 80;
	*ret_rows = 24;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
		*ret_columns = size.ws_col;
		*ret_rows = size.ws_row;
	}
	if (columns && text_to_u64(columns, 10000, &n) == 0 && n > 0)
		*ret_columns = (unsigned int)n;
}

static bool wants_colors(void)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && !streq(term, "dumb");
}

ExitStatus terminal_start(Context *c, bool pager)
{
	unsigned int rows;

	/* If the reader of the output has gone, let fflush() fail instead of being killed. */
	signal(SIGPIPE, SIG_IGN);
	window_size(&c->width, &rows);
	c->is_terminal = isatty(STDOUT_FILENO);
	c->colors = !c->json && wants_colors();
	c->out = pager && isatty(STDOUT_FILENO) ? open_memstream(&arg_text, &arg_size) : stdout;
	return c->out ? STATUS_OK : out_of_memory();
}

static const char *pager_program(void)
{
	const char *program = getenv("SYSTEMD_PAGER");

	if (!program)
		program = getenv("PAGER");
	if (!program)
		program = "less";
	return *program && !streq(program, "cat") ? program : NULL;
}

/* Returns false if there is no pager, or no need of one, and the output is still to be written. */
static bool show_in_pager(void)
{
	const char *program = pager_program();
	unsigned int columns, rows, lines = 0;
	FILE *pipe;
	int status;

	window_size(&columns, &rows);
	for (const char *p = arg_text; (p = strchr(p, '\n')); p++)
		lines++;
	if (!program || lines < rows)
		return false;
	setenv("LESS", "FRSXMK", false);
	fflush(stdout);
	pipe = popen(program, "we");
	if (!pipe)
		return false;
	fwrite(arg_text, 1, arg_size, pipe);
	status = pclose(pipe);
	/* 127: the shell found no such program */
	return status >= 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}

ExitStatus terminal_flush(ExitStatus status)
{
	if ((fflush(stdout) < 0 || ferror(stdout)) && errno != EPIPE)
		return failure("cannot write to standard output: %s", strerror(errno));
	return status;
}

void terminal_finish(Context *c)
{
	if (c->out == stdout)
		return;
	fclose(c->out);
	c->out = stdout;
	if (!show_in_pager())
		fwrite(arg_text, 1, arg_size, stdout);
	free(arg_text);
	arg_text = NULL;
}

void terminal_heading(const char *name, char *ret, size_t size)
{
	size_t n = 0;

	for (const char *p = name; *p && n + 2 < size; p++) {
		if (n > 0 && isupper((unsigned char)*p) && islower((unsigned char)p[-1]))
			ret[n++] = ' ';
		ret[n++] = *p == '_' ? ' ' : (char)toupper((unsigned char)*p);
	}
	ret[n] = '\0';
}

const char *terminal_color(const Context *c, const char *color)
{
	static const TextPair colors[] = {
		{"red", "\033[31m"},	 {"green", "\033[32m"}, {"yellow", "\033[33m"},
		{"magenta", "\033[35m"}, {"bold", "\033[1m"},	{"dim", "\033[2m"},
	};
	const char *sequence = NULL;

	if (c->colors && color)
		sequence = text_of_key(colors, ARRAY_SIZE(colors), color);
	return sequence ? sequence : "";
}

const char *terminal_plain(const Context *c)
{
	return c->colors ? "\033[0m" : "";
}

const char *terminal_state_color(const char *state)
{
	static const TextPair colors[] = {
		{"active", "green"},   {"active-defer", "green"}, {"armed", "yellow"},
		{"init", "yellow"},    {"down", "red"},		  {"ok", "green"},
		{"warning", "yellow"}, {"critical", "red"},
	};

	return text_of_key(colors, ARRAY_SIZE(colors), state);
}

const char *terminal_port_color(const Object *port)
{
	const Value *state = object_value(port, PORT_ATTR_state);

	if (object_is_stale(port))
		return "magenta";
	return state ? terminal_state_color(value_text(state)) : NULL;
}

/* How much of TEXT goes on a line of ROOM columns: up to a blank, or one word that is longer. */
static size_t line_length(const char *text, size_t room)
{
	size_t n = room;

	if (strlen(text) <= room)
		return strlen(text);
	while (n > 0 && text[n] != ' ')
		n--;
	return n > 0 ? n : strcspn(text, " ");
}

void terminal_print_wrapped(const Context *c, const char *text, unsigned int start)
{
	const unsigned int deep = 4; /* where lines begin if there is too little room at START */
	bool narrow = start > deep && c->width < start + 20;

	if (narrow && start + strlen(text) > c->width) {
		fprintf(c->out, "\n%*s", (int)deep, "");
		start = deep;
	}
	while (*text) {
		size_t n = line_length(text, c->width > start + 20 ? c->width - start : 20);

		fprintf(c->out, "%.*s", (int)n, text);
		text += n;
		text += *text == ' ';
		if (*text)
			fprintf(c->out, "\n%*s", (int)start, "");
	}
	fputc('\n', c->out);
}
