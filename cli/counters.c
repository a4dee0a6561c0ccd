/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rdmactl counters: the counters of a port, or with --watch how much they change in a second. */

#include <inttypes.h>
#include <signal.h>
#include <time.h>

#include "bus.h"
#include "commands.h"
#include "format.h"
#include "json.h"
#include "names.h"
#include "parse.h"
#include "terminal.h"

static uint64_t arg_watch_usec; /* 0: once */

static ExitStatus parse_watch(const Option *o, const char *argument)
{
	uint64_t usec;

	/* rdmad reads counters once a second at most; for less than once a day there is cron(8) */
	if (!parse_seconds(argument, &usec) || usec < USEC_PER_SEC ||
	    usec > UINT64_C(86400) * USEC_PER_SEC)
		return option_refuse(o, argument);
	*(uint64_t *)o->value = usec;
	return STATUS_OK;
}

/* clang-format off */
const Option counters_options[] = {
	{"watch", 0, "SEC", "Print changes per second, at this interval", parse_watch, &arg_watch_usec, "seconds from 1 to 86400", RUN_ENDLESS},
	{},
};
/* clang-format on */

/* The counters of a port as rdmad read them at one time. */
typedef struct Sample {
	Value counters; /* an array of structures, whose members are the MEMBER_... below */
	uint64_t realtime_usec, monotonic_usec;
} Sample;

enum { MEMBER_GROUP, MEMBER_NAME, MEMBER_VALUE, MEMBER_UNIT, MEMBER_CONDITION, MEMBER_REASON };

static void sample_done(Sample *s)
{
	value_done(&s->counters);
}

static int sample_read(Context *c, const char *path, Sample *ret, sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	_cleanup_(sample_done) Sample s = {};
	int r = sd_bus_call_method(c->bus, RDMAD_BUS_NAME, path, RDMAD_INTERFACE_PORT,
				   "GetCounters", error, &reply, "a{sv}", 0);

	if (r >= 0)
		r = value_read(reply, &s.counters);
	if (r >= 0)
		r = sd_bus_message_read(reply, "tt", &s.realtime_usec, &s.monotonic_usec);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s.counters.n; i++)
		if (s.counters.items[i].type != VALUE_STRUCT ||
		    s.counters.items[i].n <= MEMBER_REASON ||
		    s.counters.items[i].items[MEMBER_VALUE].type != VALUE_UNSIGNED)
			return -EBADMSG;
	*ret = s;
	s = (Sample){};
	return 0;
}

static const char *member(const Value *counter, unsigned int m)
{
	return value_text(&counter->items[m]);
}

static uint64_t number(const Value *counter)
{
	return counter->items[MEMBER_VALUE].number;
}

static bool is(const Value *counter, const char *condition)
{
	return streq(member(counter, MEMBER_CONDITION), condition);
}

/* Finds the same counter in another sample; NULL if it is not there. */
static const Value *find(const Sample *s, const Value *counter)
{
	for (size_t i = 0; i < s->counters.n; i++)
		if (streq(member(&s->counters.items[i], MEMBER_GROUP),
			  member(counter, MEMBER_GROUP)) &&
		    streq(member(&s->counters.items[i], MEMBER_NAME), member(counter, MEMBER_NAME)))
			return &s->counters.items[i];
	return NULL;
}

/* Whether counter I is the first of its group. */
static bool starts_group(const Sample *s, size_t i)
{
	return i == 0 || !streq(member(&s->counters.items[i], MEMBER_GROUP),
				member(&s->counters.items[i - 1], MEMBER_GROUP));
}

/* One sample */

static int add_line(const Context *c, struct libscols_table *table, const Value *counter)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	bool missing = is(counter, "missing");
	_cleanup_free_ char *value = NULL, *note = NULL;
	int r;

	if (!line || asprintf(&value, "%" PRIu64, number(counter)) < 0 ||
	    asprintf(&note, "%s%s%s%s", is(counter, "valid") ? "" : "(",
		     is(counter, "valid") ? "" : member(counter, MEMBER_CONDITION),
		     missing ? ": " : "", member(counter, MEMBER_REASON)) < 0)
		return -ENOMEM;
	r = scols_line_set_data(line, 0, member(counter, MEMBER_NAME));
	if (r == 0)
		r = scols_line_set_data(line, 1, missing ? "-" : value);
	if (r == 0)
		r = scols_line_set_data(line, 2, member(counter, MEMBER_UNIT));
	if (r == 0 && *note) {
		size_t n = strlen(note);

		value = realloc(value, n + 2);
		if (!value)
			return -ENOMEM;
		snprintf(value, n + 2, "%s)", note);
		r = scols_line_set_data(line, 3, value);
	}
	if (r == 0 && !is(counter, "valid"))
		r = scols_line_set_color(line, terminal_color(c, missing ? "dim" : "yellow"));
	return r;
}

static struct libscols_table *new_table(const Context *c)
{
	static const char *const headings[] = {"NAME", "VALUE", "UNIT", ""};
	struct libscols_table *table = terminal_table(c);

	for (size_t i = 0; table && i < ARRAY_SIZE(headings); i++)
		if (!scols_table_new_column(table, headings[i], 0, i == 1 ? SCOLS_FL_RIGHT : 0)) {
			scols_unref_table(table);
			return NULL;
		}
	return table;
}

static ExitStatus print_group(const Context *c, const Sample *s, size_t first)
{
	_cleanup_(scols_unref_table_pointer) struct libscols_table *table = new_table(c);
	size_t i = first;

	if (!table)
		return out_of_memory();
	do
		if (add_line(c, table, &s->counters.items[i]) < 0)
			return out_of_memory();
	while (++i < s->counters.n && !starts_group(s, i));
	fprintf(c->out, "\n%s%s%s\n", terminal_color(c, "bold"),
		member(&s->counters.items[first], MEMBER_GROUP), terminal_plain(c));
	return terminal_print_table(c, table, 2);
}

static ExitStatus print_sample(const Context *c, const char *name, const Sample *s)
{
	const Attribute timestamp = {.unit = UNIT_TIMESTAMP};
	const Value usec = {.type = VALUE_UNSIGNED, .number = s->realtime_usec};
	_cleanup_free_ char *when = format_value(&timestamp, &usec);
	ExitStatus status = STATUS_OK;

	if (!when)
		return out_of_memory();
	fprintf(c->out, "%s%s%s at %s\n", terminal_color(c, "bold"), name, terminal_plain(c), when);
	if (s->counters.n == 0)
		fputs("No counters.\n", c->out);
	for (size_t i = 0; status == STATUS_OK && i < s->counters.n; i++)
		if (starts_group(s, i))
			status = print_group(c, s, i);
	return status;
}

static void print_sample_json(const Context *c, const char *name, const char *path, const Sample *s)
{
	static const char *const keys[] = {"group", "name", "value", "unit", "condition", "reason"};
	FILE *f = c->out;

	fputs("{\n  \"port\": ", f);
	json_text(f, name);
	fputs(",\n  \"path\": ", f);
	json_text(f, path);
	fprintf(f, ",\n  \"timestamp\": %" PRIu64 ",\n  \"counters\": [", s->realtime_usec);
	for (size_t i = 0; i < s->counters.n; i++) {
		const Value *counter = &s->counters.items[i];
		bool missing = is(counter, "missing");

		fprintf(f, "%s\n    {", i > 0 ? "," : "");
		for (unsigned int m = 0; m <= (missing ? MEMBER_REASON : MEMBER_CONDITION); m++) {
			fprintf(f, "%s\"%s\": ", m > 0 ? ", " : "", keys[m]);
			json_value(f, ATTR_U64,
				   missing && m == MEMBER_VALUE ? &(Value){} : &counter->items[m]);
		}
		fputc('}', f);
	}
	fputs("\n  ]\n}\n", f);
}

/* --watch: one sample after the other */

/* rdmad reads the counters of a port at most once a second. When it answers with the last sample
 * again, ask it again after this time. */
#define AGAIN_USEC (50 * USEC_PER_MSEC)

typedef struct Watch {
	Context *c;
	const char *name, *path;
	Sample last; /* its times are 0 before the first sample */
	bool failing;
	bool again; /* rdmad answered with the last sample again */
} Watch;

static void watch_done(Watch *w)
{
	sample_done(&w->last);
}

static uint64_t realtime_usec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * USEC_PER_SEC + (uint64_t)t.tv_nsec / 1000;
}

static void print_time(FILE *f, uint64_t usec)
{
	time_t t = (time_t)(usec / USEC_PER_SEC);
	char clock[16] = "";
	struct tm tm;

	if (localtime_r(&t, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	fprintf(f, "%s.%03u ", clock, (unsigned int)(usec % USEC_PER_SEC / USEC_PER_MSEC));
}

/* How much a counter has changed in a second. False if that is not known: it is missing in one of
 * the samples, or it was reset. */
static bool rate_of(const Watch *w, const Sample *s, const Value *counter, double *ret)
{
	const Value *was = find(&w->last, counter);
	uint64_t usec = s->monotonic_usec - w->last.monotonic_usec;

	if (!was || is(was, "missing") || is(counter, "missing") || number(counter) < number(was))
		return false;
	*ret = (double)(number(counter) - number(was)) * (double)USEC_PER_SEC / (double)usec;
	return true;
}

/* "12.5" or "12": with one digit after the point, but without ".0". */
static void print_rate(FILE *f, double rate)
{
	char text[64];
	size_t n = (size_t)snprintf(text, sizeof(text), "%.1f", rate);

	if (n > 2 && streq(text + n - 2, ".0"))
		text[n - 2] = '\0';
	fputs(text, f);
}

/* Prints a line for a counter that has changed; returns false if it has not. */
static bool print_counter(const Watch *w, const Sample *s, const Value *counter)
{
	const Value *was = find(&w->last, counter);
	FILE *f = w->c->out;
	double rate = 0;
	bool news = was && !streq(member(was, MEMBER_CONDITION), member(counter, MEMBER_CONDITION));
	bool reset = was && !is(was, "missing") && !is(counter, "missing") &&
		     number(counter) < number(was);

	if (!news && !reset && (!rate_of(w, s, counter, &rate) || rate <= 0))
		return false;
	print_time(f, s->realtime_usec);
	fprintf(f, "%-31s ", member(counter, MEMBER_NAME));
	if (reset) {
		fputs("went back: it was reset", f);
	} else if (is(counter, "missing")) {
		fprintf(f, "is missing now: %s", member(counter, MEMBER_REASON));
	} else {
		bool known = !streq(member(counter, MEMBER_UNIT), "unknown");

		print_rate(f, rate);
		fprintf(f, "%s%s/s", known ? " " : "", known ? member(counter, MEMBER_UNIT) : "");
		if (streq(member(counter, MEMBER_UNIT), "bytes")) {
			const Value bits = {.type = VALUE_UNSIGNED, .number = (uint64_t)(rate * 8)};
			_cleanup_free_ char *text =
				format_value(&(Attribute){.unit = UNIT_BITS_PER_S}, &bits);

			fprintf(f, " (%s)", text ? text : "");
		}
		if (is(counter, "saturated"))
			fputs(", saturated", f);
	}
	fputc('\n', f);
	return true;
}

static void print_difference(const Watch *w, const Sample *s)
{
	bool any = false;

	for (size_t i = 0; i < s->counters.n; i++)
		any |= print_counter(w, s, &s->counters.items[i]);
	if (!any) {
		print_time(w->c->out, s->realtime_usec);
		fputs("no counter has changed\n", w->c->out);
	}
}

static void print_difference_json(const Watch *w, const Sample *s)
{
	FILE *f = w->c->out;
	double rate;

	fprintf(f, "{\"timestamp\": %" PRIu64 ", \"port\": ", s->realtime_usec);
	json_text(f, w->name);
	fprintf(f, ", \"interval\": %" PRIu64 ", \"rates\": {",
		s->monotonic_usec - w->last.monotonic_usec);
	for (size_t i = 0; i < s->counters.n; i++) {
		const Value *counter = &s->counters.items[i];

		if (starts_group(s, i)) {
			fputs(i > 0 ? "}, " : "", f);
			json_text(f, member(counter, MEMBER_GROUP));
			fputs(": {", f);
		} else {
			fputs(", ", f);
		}
		json_text(f, member(counter, MEMBER_NAME));
		fputs(": ", f);
		if (rate_of(w, s, counter, &rate) && is(counter, "valid"))
			json_value(f, ATTR_U64, &(Value){.type = VALUE_DOUBLE, .real = rate});
		else
			fputs("null", f);
	}
	fprintf(f, "%s}}\n", s->counters.n > 0 ? "}" : "");
}

/* Prints that there are no counters now; only once until there are some again. */
static void print_failure(Watch *w, const char *text)
{
	FILE *f = w->c->out;

	if (w->failing)
		return;
	w->failing = true;
	if (w->c->json) {
		fprintf(f, "{\"timestamp\": %" PRIu64 ", \"port\": ", realtime_usec());
		json_text(f, w->name);
		fputs(", \"error\": ", f);
		json_text(f, text);
		fputs("}\n", f);
		return;
	}
	print_time(f, realtime_usec());
	fprintf(f, "no counters: %s\n", text);
}

static void take_sample(Watch *w, Sample *s)
{
	bool first = w->last.monotonic_usec == 0;

	/* CLOCK_MONOTONIC went back: the machine that is asked was rebooted */
	if (s->monotonic_usec < w->last.monotonic_usec)
		first = true;
	w->again = !first && s->monotonic_usec == w->last.monotonic_usec;
	if (w->again)
		return;
	if (!first && w->c->json)
		print_difference_json(w, s);
	else if (!first)
		print_difference(w, s);
	w->failing = false;
	sample_done(&w->last);
	w->last = *s;
	*s = (Sample){};
}

/* Reads and prints one sample. Returns false if watching has to end, with the status in *RET. */
static bool watch_once(Watch *w, ExitStatus *ret)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sample_done) Sample s = {};
	int r = sample_read(w->c, w->path, &s, &error);

	*ret = STATUS_OK;
	if (r >= 0) {
		take_sample(w, &s);
	} else if (bus_is_no_port(&error) || sd_bus_is_open(w->c->bus) <= 0) {
		*ret = bus_complain(w->name, &error, r);
		return false;
	} else {
		/* the device hangs, or there is no rdmad: try again */
		print_failure(w, bus_is_absence(&error, r) ? "rdmad is not running"
				 : error.message	   ? error.message
							   : strerror(-r));
	}
	/* if nobody reads the output any more, end without an error */
	return fflush(w->c->out) == 0;
}

static ExitStatus watch(Context *c, const char *name, const char *path)
{
	_cleanup_(watch_done) Watch w = {.c = c, .name = name, .path = path};
	ExitStatus status;
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (!c->json)
		fprintf(c->out, "%s, differences per second\n", name);
	while (watch_once(&w, &status)) {
		uint64_t usec = w.again ? AGAIN_USEC : arg_watch_usec;
		const struct timespec pause = {.tv_sec = (time_t)(usec / USEC_PER_SEC),
					       .tv_nsec = (long)(usec % USEC_PER_SEC * 1000)};

		if (sigtimedwait(&signals, NULL, &pause) >= 0)
			break;
	}
	return status;
}

/* The name of the port, "mlx5_0/1", by whichever name the user called it. */
static ExitStatus port_name(Context *c, const char *path, char ret[96])
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *reply = NULL;
	_cleanup_(object_free_pointer) Object *o = NULL;
	int r = object_new(path, &o);

	if (r >= 0)
		r = sd_bus_call_method(c->bus, RDMAD_BUS_NAME, path,
				       "org.freedesktop.DBus.Properties", "GetAll", &error, &reply,
				       "s", RDMAD_INTERFACE_PORT);
	if (r >= 0)
		r = object_read_properties(o, RDMAD_INTERFACE_PORT, reply);
	if (r < 0)
		return bus_complain(c->arguments[0], &error, r);
	object_name(o, ret);
	return STATUS_OK;
}

ExitStatus counters_command(Context *c)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sample_done) Sample s = {};
	_cleanup_free_ char *path = NULL;
	ExitStatus status;
	char name[96];
	int r;

	status = bus_find_port(c->bus, c->arguments[0], &path);
	if (status == STATUS_OK)
		status = port_name(c, path, name);
	if (status != STATUS_OK)
		return status;
	if (arg_watch_usec > 0)
		return watch(c, name, path);
	r = sample_read(c, path, &s, &error);
	if (r < 0)
		return bus_complain(c->arguments[0], &error, r);
	if (!c->json)
		return print_sample(c, name, &s);
	print_sample_json(c, name, path, &s);
	return STATUS_OK;
}
