/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl compare: asks many machines, and says how each differs from the others of its kind. */

#include "commands.h"
#include "compare-ask.h"
#include "compare-causes.h"
#include "compare-expect.h"
#include "compare-print.h"
#include "compare-rails.h"
#include "compare-rows.h"
#include "suggestion.h"

/* Each machine that is being asked takes three descriptors, of which a process mostly has 1024. */
#define JOBS_MAX 256U

static const char *arg_hosts, *arg_write_expect;
static AskLimits arg_limits = ASK_LIMITS_USUAL;
static IgnoredRows arg_ignored;

static ExitStatus parse_jobs(const Option *o, const char *argument)
{
	uint64_t jobs;

	if (text_to_u64(argument, JOBS_MAX, &jobs) < 0 || jobs == 0)
		return option_refuse(o, argument);
	arg_limits.jobs = (unsigned int)jobs;
	return STATUS_OK;
}

static ExitStatus parse_time_limit(const Option *o, const char *argument)
{
	ExitStatus status = option_seconds(o, argument);

	return status == STATUS_OK && arg_limits.usec == 0 ? option_refuse(o, argument) : status;
}

static ExitStatus ignore_row(const Option *o, const char *name)
{
	Suggestion suggestion = suggestion_for(name);
	bool found = false;

	/* a device and its ports may have attributes of the same name */
	for (size_t i = 0; i < _PORT_ATTR_MAX; i++)
		if (streq(port_attributes[i].name, name))
			found = arg_ignored.port[i] = true;
	for (size_t i = 0; i < _DEVICE_ATTR_MAX; i++)
		if (streq(device_attributes[i].name, name))
			found = arg_ignored.device[i] = true;
	if (found)
		return STATUS_OK;
	suggestion_offer_attributes(&suggestion);
	return usage_error("--%s: unknown attribute \"%s\"; see rdmactl describe%s", o->name, name,
			   suggestion_text(&suggestion));
}

static ExitStatus parse_ignore(const Option *o, const char *argument)
{
	_cleanup_free_ char *names = strdup(argument);
	char *rest = names, *name;
	ExitStatus status = STATUS_OK;

	if (!names)
		return out_of_memory();
	while (status == STATUS_OK && (name = strsep(&rest, ",")))
		status = ignore_row(o, name);
	return status;
}

/* clang-format off */
const Option compare_options[] = {
	{"hosts",        0, "FILE",          "Ask these machines, one on each line; -: stdin",   option_text,      &arg_hosts,        NULL, 0},
	{"jobs",         0, "N",             "Ask so many machines at once (32)",                parse_jobs,       NULL,              "a number from 1 to 256", 0},
	{"time-limit",   0, "SEC",           "Wait so long for each machine (10)",               parse_time_limit, &arg_limits.usec,  "seconds, such as 10", 0},
	{"ignore",       0, "ATTRIBUTE,...", "Do not compare these attributes",                  parse_ignore,     NULL,              NULL, 0},
	{"write-expect", 0, "FILE",          "Write what most have, for check --expect",         option_text,      &arg_write_expect, NULL, 0},
	{},
};
/* clang-format on */

static ExitStatus read_machines(const Context *c, Machines *m)
{
	ExitStatus status = arg_hosts ? machines_read(m, arg_hosts) : STATUS_OK;

	for (unsigned int i = 0; status == STATUS_OK && i < c->n_arguments; i++)
		status = machines_add_argument(m, c->arguments[i]);
	if (status != STATUS_OK || m->n >= 2)
		return status;
	return usage_error(
		"compare: expected at least two machines, by --hosts=FILE or as arguments");
}

/* Names the machines that have not answered, and returns how many have. */
static size_t complain_reasons(const Machines *m)
{
	size_t answers = 0;

	for (size_t i = 0; i < m->n; i++) {
		if (m->items[i].reason)
			complain("%s: %s", m->items[i].name, m->items[i].reason);
		answers += !m->items[i].reason;
	}
	return answers;
}

static ExitStatus normalize(const Machines *m)
{
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < m->items[i].objects.n; k++)
			if (object_normalize(m->items[i].objects.items[k]) < 0)
				return out_of_memory();
	return STATUS_OK;
}

ExitStatus compare_command(Context *c)
{
	_cleanup_machines_ Machines m = {};
	_cleanup_kinds_ Kinds k = {};
	_cleanup_differences_ Differences d = {};
	ExitStatus status;
	size_t answers;

	if (c->host || c->machine || !streq(c->address, "system"))
		return usage_error(
			"compare: --host, --machine and --bus do not say what is compared; see "
			"--hosts");
	status = read_machines(c, &m);
	if (status == STATUS_OK)
		status = machines_ask(&m, &arg_limits);
	if (status != STATUS_OK)
		return status;
	answers = complain_reasons(&m);
	status = normalize(&m);
	if (status == STATUS_OK)
		status = kinds_find(&m, &k);
	if (status == STATUS_OK)
		status = differences_find(&k, &arg_ignored, &d);
	if (status == STATUS_OK)
		status = rails_find(&k, &arg_ignored, &d);
	differences_find_causes(&d);
	if (status == STATUS_OK)
		status = c->json ? compare_print_json(c, &m, &k, &d) : compare_print(c, &m, &k, &d);
	if (status == STATUS_OK && arg_write_expect)
		status = compare_write_expect(&k, &arg_ignored, arg_write_expect);
	if (status != STATUS_OK)
		return status;
	return d.n > 0 ? STATUS_FAILED : answers < m.n ? STATUS_NO_DAEMON : STATUS_OK;
}
