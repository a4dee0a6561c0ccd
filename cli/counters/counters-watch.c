/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "counters-watch.h"

#include <inttypes.h>
#include <signal.h>
#include <time.h>

#include "bus.h"
#include "clock.h"
#include "format.h"
#include "json.h"

/* rdmad reads the counters of a port at most once a second. When it answers with the last sample
 * again, ask it again after this time. */
#define AGAIN_USEC (50 * USEC_PER_MSEC)

/* One port. */
typedef struct Watch {
	Context *c;
	char name[96];
	const char *path;
	SampleEnd end;
	bool ended;   /* the port has gone */
	bool several; /* it is not the only port: lines say which */
	Sample last;  /* its times are 0 before the first sample */
	bool failing;
	bool again; /* rdmad answered with the last sample again */
} Watch;

/* "12:00:00.000 ", and the name of the port if it is not the only one. */
static void begin_line(const Watch *w, uint64_t usec)
{
	FILE *f = w->c->out;
	time_t t = (time_t)(usec / USEC_PER_SEC);
	char clock[16] = "";
	struct tm tm;

	if (localtime_r(&t, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	fprintf(f, "%s.%03u ", clock, (unsigned int)(usec % USEC_PER_SEC / USEC_PER_MSEC));
	if (w->several)
		fprintf(f, "%s ", w->name);
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
	const Value *was = sample_find(&w->last, counter);
	FILE *f = w->c->out;
	double rate = 0;
	bool news = was && !streq(counter_member(was, MEMBER_CONDITION),
				  counter_member(counter, MEMBER_CONDITION));
	bool reset = was && !counter_is(was, "missing") && !counter_is(counter, "missing") &&
		     counter_value(counter) < counter_value(was);

	if (!news && !reset && (!sample_rate(s, &w->last, counter, &rate) || rate <= 0))
		return false;
	begin_line(w, s->realtime_usec);
	fprintf(f, "%-*s ", w->several ? 0 : 31, counter_member(counter, MEMBER_NAME));
	if (reset) {
		fputs("went back: it was reset", f);
	} else if (counter_is(counter, "missing")) {
		fprintf(f, "is missing now: %s", counter_reason(counter));
	} else {
		bool known = !streq(counter_member(counter, MEMBER_UNIT), "unknown");

		print_rate(f, rate);
		fprintf(f, "%s%s/s", known ? " " : "",
			known ? counter_member(counter, MEMBER_UNIT) : "");
		if (streq(counter_member(counter, MEMBER_UNIT), "bytes")) {
			const Value bits = {.type = VALUE_UNSIGNED, .number = (uint64_t)(rate * 8)};
			_cleanup_free_ char *text =
				format_value(&(Attribute){.unit = UNIT_BITS_PER_S}, &bits);

			fprintf(f, " (%s)", text ? text : "");
		}
		if (counter_is(counter, "saturated"))
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
		begin_line(w, s->realtime_usec);
		fputs("no counter has changed\n", w->c->out);
	}
}

static void begin_json(const Watch *w, uint64_t usec)
{
	FILE *f = w->c->out;

	json_begin_line(f);
	json_add_number(f, "Timestamp", usec);
	json_add_text(f, "Port", w->name);
}

static void print_difference_json(const Watch *w, const Sample *s)
{
	FILE *f = w->c->out;
	double rate;

	begin_json(w, s->realtime_usec);
	json_add_number(f, "Interval", s->monotonic_usec - w->last.monotonic_usec);
	json_key(f, "Rates");
	json_open(f);
	for (size_t i = 0; i < s->counters.n; i++) {
		const Value *counter = &s->counters.items[i];

		if (sample_starts_group(s, i)) {
			if (i > 0)
				json_close(f);
			json_entry(f);
			json_text(f, counter_member(counter, MEMBER_GROUP));
			fputs(": ", f);
			json_open(f);
		}
		json_entry(f);
		json_text(f, counter_member(counter, MEMBER_NAME));
		fputs(": ", f);
		if (sample_rate(s, &w->last, counter, &rate) && counter_is(counter, "valid"))
			print_rate(f, rate);
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
		begin_json(w, realtime_now_usec());
		json_add_text(f, "Error", text);
		fputs("}\n", f);
		return;
	}
	begin_line(w, realtime_now_usec());
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

/* Reads and prints one sample. Returns a status that is not STATUS_OK if the port has gone, or
 * rdmad cannot be asked any more. */
static ExitStatus watch_once(Watch *w)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sample_done) Sample s = {};
	int r = sample_read(w->c->bus, w->path, w->end, &s, &error);

	w->again = false;
	if (r >= 0) {
		take_sample(w, &s);
		return STATUS_OK;
	}
	if (error_is_no_port(&error) || sd_bus_is_open(w->c->bus) <= 0)
		return bus_complain(w->name, &error, r);
	/* the device hangs, or there is no rdmad: try again */
	print_failure(w, error_is_absence(&error, r) ? "rdmad is not running"
			 : error.message	     ? error.message
						     : strerror(-r));
	return STATUS_OK;
}

/* All ports, or, with AGAIN, those of which there was no new sample. Returns how many are still
 * there. */
static size_t watch_all(Watch *watches, size_t n, bool again, ExitStatus *worst)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		Watch *w = &watches[i];
		ExitStatus status = STATUS_OK;

		if (w->ended)
			continue;
		if (!again || w->again)
			status = watch_once(w);
		w->ended = status != STATUS_OK;
		*worst = MAX(*worst, status);
		left += !w->ended;
	}
	return left;
}

static bool needs_again(const Watch *watches, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!watches[i].ended && watches[i].again)
			return true;
	return false;
}

/* Waits for USEC. False if a signal says that this is the end. */
static bool pause_for(const sigset_t *signals, uint64_t usec)
{
	const struct timespec pause = {.tv_sec = (time_t)(usec / USEC_PER_SEC),
				       .tv_nsec = (long)(usec % USEC_PER_SEC * 1000)};

	return sigtimedwait(signals, NULL, &pause) < 0;
}

static ExitStatus watch_ports(Context *c, Watch *watches, size_t n, uint64_t interval_usec)
{
	ExitStatus worst = STATUS_OK;
	bool again = false;
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	/* if nobody reads the output any more, end without an error */
	while (watch_all(watches, n, again, &worst) > 0 && fflush(c->out) == 0) {
		again = needs_again(watches, n);
		if (!pause_for(&signals, again ? AGAIN_USEC : interval_usec))
			break;
	}
	return worst;
}

ExitStatus counters_watch(Context *c, const Selection *s, SampleEnd end, uint64_t interval_usec)
{
	Watch *watches = calloc(s->n + 1, sizeof(*watches));
	ExitStatus status;

	if (!watches)
		return out_of_memory();
	for (size_t i = 0; i < s->n; i++) {
		watches[i] =
			(Watch){.c = c, .path = s->ports[i]->path, .end = end, .several = s->n > 1};
		object_name(s->ports[i], watches[i].name);
	}
	if (!c->json && s->n > 0)
		fprintf(c->out, "%s%s%s, differences per second\n", watches[0].name,
			s->n > 1 ? " and others" : "", end == SAMPLE_REMOTE ? ", other ends" : "");
	status = watch_ports(c, watches, s->n, interval_usec);
	for (size_t i = 0; i < s->n; i++)
		sample_done(&watches[i].last);
	free(watches);
	return status;
}
