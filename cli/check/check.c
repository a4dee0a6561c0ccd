/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl check: what is wrong with the ports, for health checks of a node. */

#include "bus.h"
#include "check-ask.h"
#include "check-print.h"
#include "checks.h"
#include "clock.h"
#include "commands.h"
#include "counters-file.h"
#include "json.h"
#include "terminal.h"

static Expectations arg_expect = {.is_check = check_exists};
static bool arg_list;
static CheckFormat arg_format = FORMAT_TEXT;
static Severity arg_severity = SEVERITY_WARNING;
static unsigned int arg_only = CONDITIONS_ALL;
static FlapLimit arg_flap = {FLAP_LIMIT, FLAP_LIMIT_USEC, FLAP_LIMIT_TEXT};
static uint64_t arg_settle_usec = 60 * USEC_PER_SEC;
static uint64_t arg_interval_usec;
static const char *arg_since;

/* With --format=nagios or npd: what the exit status says. */
static Severity worst;
static bool unknown;

static ExitStatus parse_expect(const Option *o, const char *argument)
{
	Expectations *e = o->value;
	int r = expect_add(e, argument);

	if (r == -EINVAL)
		complain("%s", e->error);
	return r == -EINVAL ? STATUS_USAGE : r < 0 ? out_of_memory() : STATUS_OK;
}

static ExitStatus parse_severity(const Option *o, const char *argument)
{
	for (Severity s = SEVERITY_WARNING; s < _SEVERITY_MAX; s++)
		if (streq(severity_name(s), argument)) {
			arg_severity = s;
			return STATUS_OK;
		}
	return option_refuse(o, argument);
}

/* Condition NAME, which has N bytes; _CONDITION_MAX if there is none. */
static CheckCondition find_condition(const char *name, size_t n)
{
	CheckCondition k = 0;

	while (k < _CONDITION_MAX &&
	       (strncmp(condition_name(k), name, n) != 0 || condition_name(k)[n] != '\0'))
		k++;
	return k;
}

static ExitStatus parse_only(const Option *o, const char *argument)
{
	unsigned int only = 0;

	for (const char *at = argument;; at++) {
		size_t n = strcspn(at, ",");
		CheckCondition k = find_condition(at, n);

		if (k == _CONDITION_MAX)
			return option_refuse(o, argument);
		only |= 1U << k;
		at += n;
		if (!*at)
			break;
	}
	arg_only = only;
	return STATUS_OK;
}

static ExitStatus parse_flap(const Option *o, const char *argument)
{
	return flap_limit_parse(argument, o->value) ? STATUS_OK : option_refuse(o, argument);
}

static ExitStatus parse_interval(const Option *o, const char *argument)
{
	/* rdmad reads counters once a second at most */
	return option_interval(o, argument, USEC_PER_SEC);
}

/* Gets the counters that the present ones are compared with. */
static ExitStatus get_earlier(Asker *a)
{
	if (arg_since)
		return samples_load(arg_since, &a->before);
	if (arg_interval_usec)
		return asker_sample(a, arg_interval_usec);
	if (!expectations_have_rates(&arg_expect))
		return STATUS_OK;
	return usage_error("check: how much a counter grows needs --interval or --since");
}

/* The other program reads standard output and the exit status only. */
static void say_unknown(const char *message)
{
	if (!unknown)
		format_print_unknown(arg_format, message);
	unknown = true;
}

static int tell_status(_unused_ ExitStatus status)
{
	return format_exit_status(arg_format, worst, unknown);
}

static ExitStatus parse_format(const Option *o, const char *argument)
{
	static const Reporter reporter = {say_unknown, tell_status};
	CheckFormat format = format_find(argument);

	if (format == _FORMAT_MAX)
		return option_refuse(o, argument);
	arg_format = format;
	report_through(format == FORMAT_TEXT ? NULL : &reporter);
	return STATUS_OK;
}

/* clang-format off */
const Option check_options[] = {
	{"expect",   0, "FILE|KEY=VALUE", "Expect this of the ports; may be repeated",          parse_expect,   &arg_expect, NULL, 0},
	{"severity", 0, "warning|critical", "Report only what is so severe or worse",            parse_severity, NULL,        "warning or critical", 0},
	{"only",     0, "CONDITION[,...]",  "Only for port, link, loss, stale, config or device", parse_only, NULL, "port, link, loss, stale, config or device, with ',' between", 0},
	{"format",   0, "text|nagios|npd",  "Print one line for another program",                parse_format,   NULL,        "text, nagios or npd", 0},
	{"flap",     0, "N/TIME",           "How often a link may not go down (2/24h), or off",   parse_flap,     &arg_flap,   "a number and a time, such as 3/12h, or off", 0},
	{"settle",   0, "SEC",              "Compare ports so long after they changed (60)",     option_seconds, &arg_settle_usec, "seconds, such as 60", 0},
	{"interval", 0, "SEC",              "Read counters twice, at this interval", parse_interval, &arg_interval_usec, "seconds from 1 to 3600", 0},
	{"since",    0, "FILE",             "Compare counters with those that were saved",       option_text,    &arg_since,  NULL, 0},
	{"list",     0, NULL,             "Print what is checked, and check nothing",           option_set,     &arg_list,   NULL, RUN_OFFLINE},
	{},
};
/* clang-format on */

static ExitStatus list_checks(Context *c)
{
	if (c->json)
		json_begin(c->out, "Checks");
	for (size_t i = 0; i < n_checks; i++) {
		const Check *check = &checks[i];

		if (!c->json) {
			fprintf(c->out, "%s%-12s%s  %-8s  ", terminal_color(c, "bold"), check->name,
				terminal_plain(c), severity_name(check->severity));
			terminal_print_wrapped(c, check_sentence(check), 24);
			continue;
		}
		json_next(c->out);
		json_open(c->out);
		json_add_text(c->out, "Check", check->name);
		json_add_text(c->out, "Severity", severity_name(check->severity));
		json_add_text(c->out, "Condition", check_sentence(check));
		json_add_text(c->out, "About", condition_name(check->condition));
		json_close(c->out);
	}
	if (c->json)
		json_end(c->out);
	return STATUS_OK;
}

/* A name of which there is no port is a finding: the port may have gone. A pattern is no name of a
 * port; that it matches none is an error of who wrote it. */
static ExitStatus refuse_patterns(const Context *c, const Selection *s)
{
	for (unsigned int i = 0; i < c->n_arguments; i++)
		for (size_t k = 0; k < s->n_missing; k++) {
			const char *argument = c->arguments[i], *missing = s->missing[k];
			const char *rest = startswith(missing, argument);

			if (object_is_pattern(argument) && rest && *rest == ':')
				return usage_error("check: %s", missing);
		}
	return STATUS_OK;
}

/* Without --expect, what is expected of this machine counts, as it does for rdmad. */
static ExitStatus expect_usual(const Context *c)
{
	if (arg_expect.given || arg_expect.n > 0 || !bus_is_local(c))
		return STATUS_OK;
	return expect_add_machine(&arg_expect, RDMAD_SYSCONF_DIR "/rdmad/expect.conf") < 0
		       ? out_of_memory()
		       : STATUS_OK;
}

ExitStatus check_command(Context *c)
{
	_cleanup_selection_ Selection chosen = {};
	_cleanup_(asker_done) Asker asker = {.c = c, .chosen = &chosen, .flap_usec = arg_flap.usec};
	_cleanup_(check_run_done) CheckRun r = {.objects = &chosen.objects,
						.names = c->arguments,
						.n_names = c->n_arguments,
						.expect = &arg_expect,
						.flap = arg_flap,
						.only = arg_only,
						.settle_usec = arg_settle_usec};
	ExitStatus status;

	if (c->json && arg_format != FORMAT_TEXT)
		return usage_error("check: --json and --format cannot both be given");
	if (arg_list)
		return list_checks(c);
	status = selection_read(c, SELECTION_OTHERS, NULL, &chosen);
	if (status == STATUS_OK)
		status = refuse_patterns(c, &chosen);
	if (status == STATUS_OK)
		status = get_earlier(&asker);
	if (status == STATUS_OK)
		status = expect_usual(c);
	if (status != STATUS_OK)
		return status;
	r.ports = chosen.ports;
	r.n_ports = chosen.n;
	r.missing = chosen.missing;
	r.n_missing = chosen.n_missing;
	r.ask = asker_functions(&asker);
	r.now_usec = realtime_now_usec();
	if (checks_run(&r) < 0)
		return out_of_memory();
	if (asker.status != STATUS_OK)
		return asker.status;
	checks_take_acknowledged(&r);
	worst = findings_print(c, &r, arg_format, arg_severity);
	return worst > SEVERITY_OK ? STATUS_FAILED : STATUS_OK;
}
