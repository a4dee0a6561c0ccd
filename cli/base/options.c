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

/* The first letter is compared first, because all names are compared with each other. */
static bool is_same_word(const Option *a, const Option *b)
{
	return a->name[0] == b->name[0] && streq(a->name, b->name);
}

/* Whether a row that COMMAND has, or every command, has the name or the letter of O. */
static bool has_name(const OptionTable *t, const char *command, const Option *o)
{
	for (size_t i = 0; i < t->n; i++) {
		const char *owner = t->rows[i].command;
		const Option *other = t->rows[i].option;

		if (((other->letter && other->letter == o->letter) || is_same_word(other, o)) &&
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

/* The row of a command in ALL whose option has LETTER, or if that is 0, the long name that WORD
 * begins with; ALL->n if there is none. */
static size_t find_option(const OptionTable *all, int letter, const char *word)
{
	size_t length = strcspn(word, "="), i = 0;

	for (; i < all->n; i++) {
		const Option *o = all->rows[i].option;

		if (all->rows[i].command &&
		    (letter ? o->letter == letter
			    : strlen(o->name) + 2 == length &&
				      strncmp(o->name, word + 2, length - 2) == 0))
			break;
	}
	return i;
}

/* Says which option getopt_long() has just refused, of those of T, which COMMAND has. getopt_long()
 * returned RESULT, ':' or '?', and left the option in optopt: 0 if it is long and unknown. */
static void complain_option(const OptionTable *t, const OptionTable *all, const char *command,
			    char **argv, int result)
{
	const char *word = argv[optind - 1];
	const char letter[] = {'-', (char)optopt, '\0'};
	size_t i = find_code(t, optopt), other = find_option(all, optopt, word);
	const Option *o = i < t->n ? t->rows[i].option : NULL;
	Suggestion suggestion;

	if (result == ':')
		complain("option %s needs an argument, %s; see rdmactl --help",
			 startswith(word, "--") ? word : letter, o ? o->argument : "");
	else if (o && startswith(word, "--")) /* one that takes no argument */
		complain("option %s: unexpected argument; see rdmactl --help", word);
	else if (other < all->n)
		complain("--%s is an option of %s, not of %s", all->rows[other].option->name,
			 all->rows[other].command, command);
	else if (optopt == 0)
		complain("unknown option %s; see rdmactl --help%s", word,
			 suggest(all, word, &suggestion));
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

/* Whether all options with the name of row I take an argument, or none does. */
static bool is_clear(const OptionTable *t, size_t i)
{
	for (size_t k = 0; k < t->n; k++)
		if (is_same_word(t->rows[k].option, t->rows[i].option) &&
		    !t->rows[k].option->argument != !t->rows[i].option->argument)
			return false;
	return true;
}

const char *options_find_command(const OptionTable *all, int argc, char **argv)
{
	struct option longs[OPTIONS_MAX + 1];
	char shorts[2 * OPTIONS_MAX + 4] = "-"; /* words come one by one, with the code 1 */
	const char *word = NULL;
	int code;

	describe_options(all, longs, shorts + 1);
	for (size_t i = 0; i < all->n; i++) {
		/* of a name that takes an argument only with some commands, it is in the same word
		 */
		if (!is_clear(all, i))
			longs[i].has_arg = optional_argument;
		/* which option it is does not matter: names that begin alike are not ambiguous */
		longs[i].val = 0;
	}
	opterr = 0;
	while (!word && (code = getopt_long(argc, argv, shorts, longs, NULL)) >= 0)
		if (code == 1)
			word = optarg;
	if (!word && optind < argc)
		word = argv[optind]; /* after "--" */
	optind = 0;		     /* begin again */
	return word;
}

ExitStatus options_parse(OptionTable *t, const char *command, const OptionTable *all(void),
			 int argc, char **argv, int *ret_first)
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
			complain_option(t, all(), command, argv, code);
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
