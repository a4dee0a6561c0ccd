/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "options.h"

#include <getopt.h>

#include "check.h"
#include "expect.h"
#include "list.h"
#include "parse.h"

typedef struct Option {
	const char *name;
	char letter;	      /* 0: none */
	const char *argument; /* as in the help; NULL: takes none */
	const char *commands; /* those it goes with, separated by blanks; NULL: all */
	ExitStatus (*parse)(Context *c, const char *argument);
	const char *help;
} Option;

static ExitStatus parse_help(Context *c, const char *argument _unused_)
{
	c->help = true;
	return STATUS_OK;
}

static ExitStatus parse_version(Context *c, const char *argument _unused_)
{
	c->version = true;
	return STATUS_OK;
}

static ExitStatus parse_json(Context *c, const char *argument _unused_)
{
	c->json = true;
	return STATUS_OK;
}

static ExitStatus parse_no_pager(Context *c, const char *argument _unused_)
{
	c->no_pager = true;
	return STATUS_OK;
}

/* A destination that begins with '-' would be an option of ssh. */
static ExitStatus parse_destination(const char *option, const char *argument, const char *expected)
{
	if (*argument && *argument != '-')
		return STATUS_OK;
	complain("--%s=%s: expected %s", option, argument, expected);
	return STATUS_USAGE;
}

static ExitStatus parse_host(Context *c, const char *argument)
{
	c->host = argument;
	return parse_destination("host", argument, "a host, such as root@node17");
}

static ExitStatus parse_machine(Context *c, const char *argument)
{
	c->machine = argument;
	return parse_destination("machine", argument, "the name of a local container");
}

static ExitStatus parse_max_age(Context *c, const char *argument)
{
	if (parse_seconds(argument, &c->max_age_usec))
		return STATUS_OK;
	complain("--max-age=%s: expected seconds, such as 0.5", argument);
	return STATUS_USAGE;
}

static ExitStatus parse_expect(Context *c, const char *argument)
{
	if (!c->expect)
		c->expect = calloc(1, sizeof(*c->expect));
	if (!c->expect)
		return out_of_memory();
	c->expect->is_check = check_exists;
	return expect_add(c->expect, argument);
}

static ExitStatus parse_list(Context *c, const char *argument _unused_)
{
	c->list = true;
	return STATUS_OK;
}

static ExitStatus parse_output(Context *c, const char *argument)
{
	return columns_parse(&c->columns, argument);
}

static ExitStatus parse_sort(Context *c, const char *argument)
{
	return column_parse_sort(&c->sort, argument);
}

static ExitStatus parse_watch(Context *c, const char *argument)
{
	/* rdmad reads counters once a second; and a reader who comes once a month has cron */
	if (parse_seconds(argument, &c->watch_usec) && c->watch_usec >= USEC_PER_SEC &&
	    c->watch_usec <= UINT64_C(86400) * USEC_PER_SEC)
		return STATUS_OK;
	complain("--watch=%s: expected seconds from 1 to 86400", argument);
	return STATUS_USAGE;
}

static ExitStatus parse_state(Context *c, const char *argument)
{
	/* from 1: a port that is seen is never in the state "nop" */
	const char *const *names = attr_type_names(ATTR_PORT_STATE) + 1;
	char expected[64] = "";

	c->wait.state = argument;
	for (size_t i = 0; names[i]; i++) {
		if (streq(names[i], argument))
			return STATUS_OK;
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), "%s%s",
			 i == 0		? ""
			 : names[i + 1] ? ", "
					: " or ",
			 names[i]);
	}
	complain("--state=%s: expected %s", argument, expected);
	return STATUS_USAGE;
}

static ExitStatus parse_gid(Context *c, const char *argument)
{
	uint8_t gid[16];

	c->wait.gid = argument;
	if (gid_parse(argument, gid) == 0)
		return STATUS_OK;
	complain("--gid=%s: expected an IP address or a GID, such as 192.0.2.7", argument);
	return STATUS_USAGE;
}

static ExitStatus parse_mtu(Context *c, const char *argument)
{
	uint64_t mtu;

	if (text_to_u64(argument, UINT32_MAX, &mtu) < 0 || mtu == 0) {
		complain("--mtu=%s: expected bytes, such as 4096", argument);
		return STATUS_USAGE;
	}
	c->wait.mtu = (uint32_t)mtu;
	return STATUS_OK;
}

static ExitStatus parse_least_rate(Context *c, const char *argument)
{
	if (parse_rate(argument, &c->wait.rate))
		return STATUS_OK;
	complain("--rate=%s: expected a rate, such as 200G", argument);
	return STATUS_USAGE;
}

static ExitStatus parse_timeout(Context *c, const char *argument)
{
	c->wait.timed = true;
	if (parse_seconds(argument, &c->wait.timeout_usec))
		return STATUS_OK;
	complain("--timeout=%s: expected seconds, such as 60", argument);
	return STATUS_USAGE;
}

static ExitStatus parse_lid(Context *c, const char *argument _unused_)
{
	c->wait.lid = true;
	return STATUS_OK;
}

static ExitStatus parse_any(Context *c, const char *argument _unused_)
{
	c->wait.any = true;
	return STATUS_OK;
}

static ExitStatus parse_quiet(Context *c, const char *argument _unused_)
{
	c->wait.quiet = true;
	return STATUS_OK;
}

static ExitStatus parse_configured(Context *c, const char *argument _unused_)
{
	c->wait.configured = true;
	return STATUS_OK;
}

static ExitStatus parse_escaped(Context *c, const char *argument _unused_)
{
	c->wait.escaped = true;
	return STATUS_OK;
}

/* clang-format off */
static const Option options[] = {
	{"help",     'h', NULL,            NULL,    parse_help,     "This text; after a command, what it does"},
	{"version",  0,   NULL,            NULL,    parse_version,  "The version"},
	{"json",     0,   NULL,            NULL,    parse_json,     "JSON; monitor writes one object a line"},
	{"no-pager", 0,   NULL,            NULL,    parse_no_pager, "No pager for long output"},
	{"host",     'H', "[USER@]HOST",   NULL,    parse_host,     "Ask rdmad of another machine, over SSH"},
	{"machine",  'M', "CONTAINER",     NULL,    parse_machine,  "Ask rdmad of a local container"},
	{"output",   'o', "[+]COLUMN,...", "list",  parse_output,   "These columns, or with + these too"},
	{"sort",     0,   "[-]COLUMN",     "list",  parse_sort,     "In that order, or with - the reverse"},
	{"max-age",  0,   "SEC",           "query", parse_max_age,  "Values that old will do"},
	{"expect",   0,   "FILE|KEY=VALUE", "check", parse_expect,  "What ports shall be; may be given again"},
	{"list",     0,   NULL,            "check", parse_list,     "The checks that there are"},
	{"watch",    0,   "SEC",           "counters", parse_watch, "Differences per second, that often"},
	{"state",    0,   "STATE",         "wait",  parse_state,    "That they are in (active)"},
	{"lid",      0,   NULL,            "wait",  parse_lid,      "And have a LID"},
	{"gid",      0,   "ADDRESS",       "wait",  parse_gid,      "And have this IP address or GID"},
	{"mtu",      0,   "BYTES",         "wait",  parse_mtu,      "And have that MTU or a larger one"},
	{"rate",     0,   "RATE",          "wait",  parse_least_rate, "And that rate or a higher one, such as 200G"},
	{"any",      0,   NULL,            "wait",  parse_any,      "One of them will do; print which"},
	{"timeout",  0,   "SEC",           "wait",  parse_timeout,  "For so long (for ever)"},
	{"quiet",    0,   NULL,            "wait",  parse_quiet,    "Do not say what is missing"},
	{"configured", 0, NULL,            "wait",  parse_configured, "And those that rdmad.conf names in [Wait]"},
	{"escaped",  0,   NULL,            "wait",  parse_escaped,  "PORT is as in the name of a unit: mlx5_0-1"},
};
/* clang-format on */

_Static_assert(ARRAY_SIZE(options) <= 64, "Context.given is too small");

/* What getopt_long() calls row I. */
static int option_code(size_t i)
{
	return options[i].letter ? options[i].letter : 256 + (int)i;
}

static const Option *find_option(int code)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (option_code(i) == code)
			return &options[i];
	return NULL;
}

/* Says which option getopt_long() has just refused, by what it left: RESULT is ':' or '?'. */
static void complain_option(char **argv, int result)
{
	const char *word = argv[optind - 1];
	const char letter[] = {'-', (char)optopt, '\0'};
	const Option *o = find_option(optopt);

	if (result == ':')
		complain("option %s needs an argument, %s; see rdmactl --help",
			 startswith(word, "--") ? word : letter, o ? o->argument : "");
	else if (optopt == 0) /* a long option that is none */
		complain("unknown option %s; see rdmactl --help", word);
	else if (o && startswith(word, "--")) /* one that is */
		complain("option %s: unexpected argument; see rdmactl --help", word);
	else
		complain("unknown option %s; see rdmactl --help", letter);
}

ExitStatus options_parse(Context *c, int argc, char **argv, int *ret_first)
{
	struct option longs[ARRAY_SIZE(options) + 1] = {};
	char shorts[2 * ARRAY_SIZE(options) + 2] = ":", *p = shorts + 1;
	int code;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const Option *o = &options[i];

		longs[i] = (struct option){o->name, o->argument ? required_argument : no_argument,
					   NULL, option_code(i)};
		if (!o->letter)
			continue;
		*p++ = o->letter;
		if (o->argument)
			*p++ = ':';
	}
	opterr = 0;
	while ((code = getopt_long(argc, argv, shorts, longs, NULL)) >= 0) {
		const Option *o = find_option(code);
		ExitStatus status;

		if (!o) {
			complain_option(argv, code);
			return STATUS_USAGE;
		}
		c->given |= UINT64_C(1) << (o - options);
		status = o->parse(c, optarg);
		if (status != STATUS_OK)
			return status;
	}
	if (c->host && c->machine) {
		complain("--host and --machine exclude each other");
		return STATUS_USAGE;
	}
	*ret_first = optind;
	return STATUS_OK;
}

/* Whether WORD is one of LIST, which are separated by blanks. */
static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list; *p; p += strcspn(p, " "), p += *p == ' ')
		if (strncmp(p, word, n) == 0 && (p[n] == ' ' || p[n] == '\0'))
			return true;
	return false;
}

ExitStatus options_check(const Context *c, const char *command)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const Option *o = &options[i];

		if (!(c->given >> i & 1) || !o->commands || has_word(o->commands, command))
			continue;
		complain("--%s goes with %s, not with %s", o->name, o->commands, command);
		return STATUS_USAGE;
	}
	return STATUS_OK;
}

unsigned int options_print(const char *command)
{
	unsigned int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const Option *o = &options[i];
		const char letter[] = {'-', o->letter, ',', '\0'};
		char text[64];

		if (command ? !o->commands || !has_word(o->commands, command) : o->commands != NULL)
			continue;
		if (n++ == 0)
			puts("\nOptions:");
		snprintf(text, sizeof(text), "%3s --%s%s%s", o->letter ? letter : "", o->name,
			 o->argument ? "=" : "", o->argument ? o->argument : "");
		printf("  %-26s  %s\n", text, o->help);
	}
	return n;
}

void options_done(Context *c)
{
	columns_done(&c->columns);
	if (c->expect)
		expect_done(c->expect);
	free(c->expect);
}
