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

ExitStatus option_interval(const Option *o, const char *argument, uint64_t least_usec)
{
	uint64_t usec;

	if (!parse_seconds(argument, &usec) || usec < least_usec || usec > 3600 * USEC_PER_SEC)
		return option_refuse(o, argument);
	*(uint64_t *)o->value = usec;
	return STATUS_OK;
}

ExitStatus option_count(const Option *o, const char *argument)
{
	uint64_t n;

	if (text_to_u64(argument, UINT32_MAX, &n) < 0 || n == 0)
		return option_refuse(o, argument);
	*(uint64_t *)o->value = n;
	return STATUS_OK;
}

ExitStatus option_refuse(const Option *o, const char *argument)
{
	return usage_error("--%s=%s: expected %s", o->name, argument, o->expected);
}

/* The first letter is compared first, because each command compares all names with all. */
static bool is_same_word(const Option *a, const Option *b)
{
	return a->name[0] == b->name[0] && streq(a->name, b->name);
}

/* Whether a command line cannot have both. */
static bool is_same_name(const Option *a, const Option *b)
{
	return (a->letter && a->letter == b->letter) || is_same_word(a, b);
}

/* Whether a row that COMMAND has, or every command, has the name or the letter of O. */
static bool has_name(const OptionTable *t, const char *command, const Option *o)
{
	for (size_t i = 0; i < t->n; i++) {
		const char *owner = t->rows[i].command;

		if (is_same_name(t->rows[i].option, o) &&
		    (!command || !owner || streq(owner, command)))
			return true;
	}
	return false;
}

void options_join(OptionTable *t, const char *command, const Option *options)
{
	for (const Option *o = options; o && o->name; o++) {
		assert(t->n < OPTIONS_MAX && !has_name(t, command, o));
		t->rows[t->n].option = o;
		t->rows[t->n++].command = command;
	}
}

static bool is_owner(const OptionTable *t, size_t i, const char *command)
{
	return command && t->rows[i].command && streq(t->rows[i].command, command);
}

void options_prefer(OptionTable *t, const char *command)
{
	for (size_t i = 0; i < t->n; i++)
		t->rows[i].hidden = false;
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = i + 1; k < t->n; k++)
			if (is_same_name(t->rows[i].option, t->rows[k].option))
				t->rows[is_owner(t, k, command) ? i : k].hidden = true;
}

/* The code of row I for getopt_long(). */
static int option_code(const OptionTable *t, size_t i)
{
	const Option *o = t->rows[i].option;

	return o->letter ? o->letter : 256 + (int)i;
}

/* The row that getopt_long() calls CODE; t->n if there is none. */
static size_t find_code(const OptionTable *t, int code)
{
	size_t i = 0;

	while (i < t->n && (t->rows[i].hidden || option_code(t, i) != code))
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

/* Says which option getopt_long() has just refused. getopt_long() returned RESULT, ':' or '?', and
 * left the option in optopt. */
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

/* The table as getopt_long() wants it, without the rows that are hidden. */
static void describe_options(const OptionTable *t, struct option longs[OPTIONS_MAX + 1],
			     char shorts[2 * OPTIONS_MAX + 2])
{
	char *p = shorts;
	size_t n = 0;

	*p++ = ':'; /* tell a missing argument from an unknown option */
	for (size_t i = 0; i < t->n; i++) {
		const Option *o = t->rows[i].option;

		if (t->rows[i].hidden)
			continue;
		longs[n++] = (struct option){o->name, o->argument ? required_argument : no_argument,
					     NULL, option_code(t, i)};
		if (!o->letter)
			continue;
		*p++ = o->letter;
		if (o->argument)
			*p++ = ':';
	}
	longs[n] = (struct option){};
	*p = '\0';
}

/* Whether all options with the name of row I take an argument, or none does. */
static bool is_clear(const OptionTable *t, size_t i)
{
	for (size_t k = 0; k < t->n; k++)
		if (is_same_word(t->rows[k].option, t->rows[i].option) &&
		    !t->rows[k].option->argument != !t->rows[i].option->argument)
			return false;
	return true;
}

const char *options_find_command(OptionTable *t, int argc, char **argv)
{
	struct option longs[OPTIONS_MAX + 1];
	char shorts[2 * OPTIONS_MAX + 4] = "-"; /* words come one by one, with the code 1 */
	const char *word = NULL;
	int code;

	if (argc > 1 && argv[1][0] != '-') /* as most people write it */
		return argv[1];
	options_prefer(t, NULL);
	describe_options(t, longs, shorts + 1);
	/* of a name that takes an argument only with some commands, it is in the same word */
	for (struct option *o = longs; o->name; o++)
		if (!is_clear(t, find_code(t, o->val)))
			o->has_arg = optional_argument;
	opterr = 0;
	while (!word && (code = getopt_long(argc, argv, shorts, longs, NULL)) >= 0)
		if (code == 1)
			word = optarg;
	if (!word && optind < argc)
		word = argv[optind]; /* after "--" */
	optind = 0;		     /* begin again */
	return word;
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
		return usage_error("--%s is an option of %s, not of %s", t->rows[i].option->name,
				   owner, command);
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

void options_print(const OptionTable *t, const char *command)
{
	bool first = true;

	for (size_t i = 0; i < t->n; i++) {
		const Option *o = t->rows[i].option;
		const char *owner = t->rows[i].command;
		const char letter[] = {'-', o->letter, ',', '\0'};
		char text[64];

		if (command ? !owner || !streq(owner, command) : owner != NULL)
			continue;
		if (first)
			puts("\nOptions:");
		first = false;
		snprintf(text, sizeof(text), "%3s --%s%s%s", o->letter ? letter : "", o->name,
			 o->argument ? "=" : "", o->argument ? o->argument : "");
		printf("  %-26s  %s\n", text, o->help);
	}
}
