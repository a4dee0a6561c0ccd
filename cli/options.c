/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "options.h"

#include <assert.h>
#include <getopt.h>

#include "parse.h"
#include "suggestion.h"

ExitStatus option_set(const Option *o, _unused_ const char *argument)
{
	*(bool *)o->value = true;
	return STATUS_OK;
}

ExitStatus option_text(const Option *o, const char *argument)
{
	*(const char **)o->value = argument;
	return STATUS_OK;
}

ExitStatus option_seconds(const Option *o, const char *argument)
{
	return parse_seconds(argument, o->value) ? STATUS_OK : option_refuse(o, argument);
}

ExitStatus option_refuse(const Option *o, const char *argument)
{
	complain("--%s=%s: expected %s", o->name, argument, o->expected);
	return STATUS_USAGE;
}

static const Option *find_name(const OptionTable *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (streq(t->rows[i].option->name, name))
			return t->rows[i].option;
	return NULL;
}

void options_join(OptionTable *t, const char *command, const Option *options)
{
	for (const Option *o = options; o && o->name; o++) {
		assert(t->n < OPTIONS_MAX && !find_name(t, o->name));
		t->rows[t->n].option = o;
		t->rows[t->n++].command = command;
	}
}

/* What getopt_long() calls row I. */
static int option_code(const OptionTable *t, size_t i)
{
	const Option *o = t->rows[i].option;

	return o->letter ? o->letter : 256 + (int)i;
}

/* The row that getopt_long() calls CODE; t->n if there is none. */
static size_t find_code(const OptionTable *t, int code)
{
	size_t i = 0;

	while (i < t->n && option_code(t, i) != code)
		i++;
	return i;
}

/* The long option that WORD may stand for. */
static const char *suggest(const OptionTable *t, const char *word, Suggestion *s)
{
	char name[80];

	text_copy(name, sizeof(name), word);
	name[strcspn(name, "=")] = '\0';
	*s = suggestion_for(name);
	for (size_t i = 0; i < t->n; i++) {
		char option[80];

		snprintf(option, sizeof(option), "--%s", t->rows[i].option->name);
		suggestion_offer(s, option);
	}
	return suggestion_text(s);
}

/* Says which option getopt_long() has just refused. It returned RESULT, ':' or '?', and left the
 * option in optopt. */
static void complain_option(const OptionTable *t, char **argv, int result)
{
	const char *word = argv[optind - 1];
	const char letter[] = {'-', (char)optopt, '\0'};
	size_t i = find_code(t, optopt);
	const Option *o = i < t->n ? t->rows[i].option : NULL;
	Suggestion suggestion;

	if (result == ':')
		complain("option %s needs an argument, %s; see rdmactl --help",
			 startswith(word, "--") ? word : letter, o ? o->argument : "");
	else if (optopt == 0) /* an unknown long option */
		complain("unknown option %s; see rdmactl --help%s", word,
			 suggest(t, word, &suggestion));
	else if (o && startswith(word, "--")) /* a known one that takes no argument */
		complain("option %s: unexpected argument; see rdmactl --help", word);
	else
		complain("unknown option %s; see rdmactl --help", letter);
}

/* The table as getopt_long() wants it. */
static void describe_options(const OptionTable *t, struct option longs[OPTIONS_MAX + 1],
			     char shorts[2 * OPTIONS_MAX + 2])
{
	char *p = shorts;

	*p++ = ':'; /* tell a missing argument from an unknown option */
	for (size_t i = 0; i < t->n; i++) {
		const Option *o = t->rows[i].option;

		longs[i] = (struct option){o->name, o->argument ? required_argument : no_argument,
					   NULL, option_code(t, i)};
		if (!o->letter)
			continue;
		*p++ = o->letter;
		if (o->argument)
			*p++ = ':';
	}
	longs[t->n] = (struct option){};
	*p = '\0';
}

ExitStatus options_parse(OptionTable *t, int argc, char **argv, int *ret_first)
{
	struct option longs[OPTIONS_MAX + 1];
	char shorts[2 * OPTIONS_MAX + 2];
	int code;

	describe_options(t, longs, shorts);
	opterr = 0;
	while ((code = getopt_long(argc, argv, shorts, longs, NULL)) >= 0) {
		size_t i = find_code(t, code);
		ExitStatus status;

		if (i == t->n) {
			complain_option(t, argv, code);
			return STATUS_USAGE;
		}
		t->rows[i].given = true;
		status = t->rows[i].option->parse(t->rows[i].option, optarg);
		if (status != STATUS_OK)
			return status;
	}
	*ret_first = optind;
	return STATUS_OK;
}

ExitStatus options_check(const OptionTable *t, const char *command)
{
	for (size_t i = 0; i < t->n; i++) {
		const char *owner = t->rows[i].command;

		if (!t->rows[i].given || !owner || streq(owner, command))
			continue;
		complain("--%s is an option of %s, not of %s", t->rows[i].option->name, owner,
			 command);
		return STATUS_USAGE;
	}
	return STATUS_OK;
}

static unsigned int requested_flags;

void options_request(unsigned int flags)
{
	requested_flags |= flags;
}

unsigned int options_flags(const OptionTable *t)
{
	unsigned int flags = requested_flags;

	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].given)
			flags |= t->rows[i].option->flags;
	return flags;
}

unsigned int options_print(const OptionTable *t, const char *command)
{
	unsigned int n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const Option *o = t->rows[i].option;
		const char *owner = t->rows[i].command;
		const char letter[] = {'-', o->letter, ',', '\0'};
		char text[64];

		if (command ? !owner || !streq(owner, command) : owner != NULL)
			continue;
		if (n++ == 0)
			puts("\nOptions:");
		snprintf(text, sizeof(text), "%3s --%s%s%s", o->letter ? letter : "", o->name,
			 o->argument ? "=" : "", o->argument ? o->argument : "");
		printf("  %-26s  %s\n", text, o->help);
	}
	return n;
}
