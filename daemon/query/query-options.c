/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-options.h"

#include <getopt.h>

#include "log.h"

static void usage(FILE *f)
{
	fputs("rdmad-query [OPTIONS]\n\n"
	      "The worker of rdmad: answers its queries on a socket.\n\n"
	      "  --fd=N                Use this descriptor of a socket (3)\n"
	      "  --hold=yes|no         Keep contexts open for async events where that is harmless "
	      "(yes)\n"
	      "  --never-open=GLOB     Never open devices with such a name; may be given again\n"
	      "  --hbl=yes|no          Open Gaudi devices, whose context is exclusive (no)\n"
	      "  --timeout=MSEC        Expect the core to give up after this time (2000)\n"
	      "  --isolated=PROVIDER   Answer a worker about a device that has one user at a time\n"
	      "  --nursery             Fork such workers, instead of being one\n"
	      "  --query=NAME[/PORT]   Print what a query says, and end\n"
	      "  --help, --version\n",
	      f);
}

static int parse_yes_no(const char *option, const char *text, bool *ret)
{
	if (!streq(text, "yes") && !streq(text, "no"))
		return log_error_errno(-EINVAL, "--%s=%s: expected yes or no", option, text);
	*ret = streq(text, "yes");
	return 0;
}

static int parse_fd(const char *text, int *ret)
{
	uint64_t fd;

	if (text_to_u64(text, INT32_MAX, &fd) < 0)
		return log_error_errno(-EINVAL, "--fd=%s: not a descriptor", text);
	*ret = (int)fd;
	return 0;
}

static int parse_timeout(const char *text, uint64_t *ret)
{
	uint64_t msec;

	if (text_to_u64(text, INT32_MAX, &msec) < 0)
		return log_error_errno(-EINVAL, "--timeout=%s: not milliseconds", text);
	*ret = msec * USEC_PER_MSEC;
	return 0;
}

static int parse_provider(const char *text, const DvProvider **ret)
{
	const DvProvider *provider = dv_find_name(text);

	if (!provider || !provider->exclusive)
		return log_error_errno(-EINVAL, "--isolated=%s: no such provider", text);
	*ret = provider;
	return 0;
}

static int add_never_open(char *glob, PolicyOptions *policy)
{
	size_t n = 0;
	char **globs;

	while (policy->never_open && policy->never_open[n])
		n++;
	globs = reallocarray(policy->never_open, n + 2, sizeof(*globs));
	if (!globs)
		return -ENOMEM;
	globs[n] = glob;
	globs[n + 1] = NULL;
	policy->never_open = globs;
	return 0;
}

enum {
	OPTION_FD = 256,
	OPTION_HOLD,
	OPTION_NEVER_OPEN,
	OPTION_HBL,
	OPTION_TIMEOUT,
	OPTION_ISOLATED,
	OPTION_NURSERY,
	OPTION_QUERY,
	OPTION_HELP = 'h',
	OPTION_VERSION = 'V',
};

/* Takes the option CODE of getopt_long() with its ARGUMENT. 1: go on, 0: all is done. */
static int take_option(int code, char *argument, Options *o)
{
	int r = 0;

	switch (code) {
	case OPTION_FD:
		r = parse_fd(argument, &o->fd);
		break;
	case OPTION_HOLD:
		r = parse_yes_no("hold", argument, &o->policy.hold);
		break;
	case OPTION_NEVER_OPEN:
		r = add_never_open(argument, &o->policy);
		break;
	case OPTION_HBL:
		r = parse_yes_no("hbl", argument, &o->policy.hbl);
		break;
	case OPTION_TIMEOUT:
		r = parse_timeout(argument, &o->timeout_usec);
		break;
	case OPTION_ISOLATED:
		r = parse_provider(argument, &o->isolated);
		break;
	case OPTION_NURSERY:
		o->nursery = true;
		break;
	case OPTION_QUERY:
		o->query = argument;
		break;
	case OPTION_HELP:
		usage(stdout);
		return 0;
	case OPTION_VERSION:
		puts("rdmad-query " RDMAD_VERSION);
		return 0;
	default: /* getopt_long() has said what is wrong */
		return -EINVAL;
	}
	return r < 0 ? r : 1;
}

int options_parse(int argc, char *argv[], Options *o)
{
	static const struct option options[] = {
		{"fd", required_argument, NULL, OPTION_FD},
		{"hold", required_argument, NULL, OPTION_HOLD},
		{"never-open", required_argument, NULL, OPTION_NEVER_OPEN},
		{"hbl", required_argument, NULL, OPTION_HBL},
		{"timeout", required_argument, NULL, OPTION_TIMEOUT},
		{"isolated", required_argument, NULL, OPTION_ISOLATED},
		{"nursery", no_argument, NULL, OPTION_NURSERY},
		{"query", required_argument, NULL, OPTION_QUERY},
		{"help", no_argument, NULL, OPTION_HELP},
		{"version", no_argument, NULL, OPTION_VERSION},
		{},
	};
	int code, r;

	while ((code = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		r = take_option(code, optarg, o);
		if (r <= 0)
			return r;
	}
	if (optind < argc)
		return log_error_errno(-EINVAL, "Unexpected argument: %s", argv[optind]);
	return 1;
}

void options_done(Options *o)
{
	free(o->policy.never_open);
	o->policy.never_open = NULL;
}
