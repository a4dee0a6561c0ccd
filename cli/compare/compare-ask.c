/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "compare-ask.h"

#include <ctype.h>
#include <fcntl.h>
#include <systemd/sd-event.h>

#include "bus-open.h"
#include "bus.h"
#include "names.h"

/* More devices and ports than a machine has. */
#define OBJECTS_MAX 16384U

typedef struct Asking {
	Machines *machines;
	const AskLimits *limits;
	sd_event *event;
	size_t next;	/* the machine that is asked next */
	size_t running; /* so many are being asked */
	size_t failed;	/* so many have not answered */
	bool progress;
	ExitStatus status;
} Asking;

/* One machine that is being asked. */
typedef struct Question {
	Asking *asking;
	Machine *machine;
	sd_bus *bus;
	sd_bus_slot *slot;
	sd_event_source *timer;
	int said; /* what ssh writes on standard error */
} Question;

static void question_free(Question *q)
{
	if (!q)
		return;
	sd_event_source_disable_unref(q->timer);
	sd_bus_slot_unref(q->slot);
	/* without a flush: the other side may not read */
	sd_bus_close_unref(q->bus);
	close_fd(q->said);
	free(q);
}

static void show_progress(const Asking *a)
{
	size_t done = a->next - a->running;

	if (!a->progress)
		return;
	fprintf(stderr, "\r%zu of %zu machines asked", done, a->machines->n);
	if (a->failed > 0)
		fprintf(stderr, ", %zu without an answer", a->failed);
	fputs("\033[K", stderr);
	if (done == a->machines->n)
		fputs("\r\033[K", stderr);
	fflush(stderr);
}

/* The last line that ssh has written so far, "" if there is none. */
static void last_line(int fd, char *ret, size_t size)
{
	char text[4096];
	ssize_t n;

	ret[0] = '\0';
	while ((n = read(fd, text, sizeof(text) - 1)) > 0) {
		char *rest = text, *line;

		text[n] = '\0';
		while ((line = strsep(&rest, "\r\n")))
			if (*line)
				text_copy(ret, size, line);
	}
	text_sanitize(ret, size);
}

static ExitStatus keep_reason(const Question *q, const char *reason)
{
	char said[256];

	last_line(q->said, said, sizeof(said));
	free(q->machine->reason);
	q->machine->reason = NULL;
	if (asprintf(&q->machine->reason, "%s%s%s%s", reason, *said ? " (" : "", said,
		     *said ? ")" : "") < 0) {
		q->machine->reason = NULL;
		return out_of_memory();
	}
	return STATUS_OK;
}

static ExitStatus start_some(Asking *a);

/* Ends the question. REASON: why there is no answer; NULL if there is one. */
static void finish(Question *q, const char *reason)
{
	Asking *a = q->asking;

	if (reason) {
		object_list_done(&q->machine->objects);
		a->failed++;
	}
	if (reason && a->status == STATUS_OK)
		a->status = keep_reason(q, reason);
	question_free(q);
	a->running--;
	show_progress(a);
	if (a->status == STATUS_OK)
		a->status = start_some(a);
	if (a->running == 0 || a->status != STATUS_OK)
		sd_event_exit(a->event, 0);
}

static int on_timer(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Question *q = userdata;
	char length[DURATION_MAX], reason[DURATION_MAX + 32];

	duration_format(q->asking->limits->usec, length);
	snprintf(reason, sizeof(reason), "no answer within %s", length);
	finish(q, reason);
	return 0;
}

static int on_answer(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Question *q = userdata;
	const sd_bus_error *e = sd_bus_message_get_error(m);
	const char *why = bus_error_is_end(e) ? NULL : error_absence(e);
	char reason[256];
	int r;

	if (!e) {
		r = object_list_read(&q->machine->objects, m);
		finish(q, r < 0 ? "the answer is not one of rdmad"
			  : q->machine->objects.n > OBJECTS_MAX
				  ? "it has more devices and ports than can be compared"
				  : NULL);
		return 0;
	}
	if (why)
		snprintf(reason, sizeof(reason), "no rdmad: it %s", why);
	else if (bus_error_is_end(e))
		snprintf(reason, sizeof(reason), "the connection has ended");
	else
		snprintf(reason, sizeof(reason), "%s", e->message ? e->message : e->name);
	text_sanitize(reason, sizeof(reason));
	finish(q, reason);
	return 0;
}

/* Connection */

/* Writes VALUE into an address of D-Bus. */
static void put_escaped(FILE *f, const char *value)
{
	for (const char *p = value; *p; p++)
		if (isalnum((unsigned char)*p) || strchr("-_/.", *p))
			fputc(*p, f);
		else
			fprintf(f, "%%%02x", (unsigned char)*p);
}

/* The address under which sd-bus reaches MACHINE. NULL without memory. */
static char *make_address(const Machine *machine)
{
	char *text = NULL;
	size_t size;
	FILE *f;

	if (machine_is_bus(machine->name))
		return strdup(machine->name);
	f = open_memstream(&text, &size);
	if (!f)
		return NULL;
	fputs("unixexec:path=ssh,argv1=-xT,argv2=-o,argv3=BatchMode%3dyes,argv4=--,argv5=", f);
	put_escaped(f, machine->name);
	fputs(",argv6=systemd-stdio-bridge", f);
	return stream_close(f, &text);
}

/* Connects; a program that is started for this has SAID as its standard error. */
static int connect_with_stderr(sd_bus *bus, int said)
{
	_cleanup_close_ int own = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	int r;

	if (own < 0)
		return -errno;
	if (dup2(said, STDERR_FILENO) < 0)
		return -errno;
	r = sd_bus_start(bus);
	return dup2(own, STDERR_FILENO) < 0 ? -errno : r;
}

/* Connects and sends the call; the answer comes to on_answer(). */
static int ask(Question *q)
{
	_cleanup_free_ char *address = make_address(q->machine);
	_cleanup_close_ int write_end = -EBADF;
	int fds[2], r;

	if (!address)
		return -ENOMEM;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	q->said = fds[0];
	write_end = fds[1];
	r = sd_bus_new(&q->bus);
	if (r >= 0)
		r = sd_bus_set_address(q->bus, address);
	if (r >= 0)
		r = sd_bus_set_bus_client(q->bus, true);
	if (r >= 0)
		r = connect_with_stderr(q->bus, write_end);
	if (r >= 0)
		r = sd_bus_attach_event(q->bus, q->asking->event, SD_EVENT_PRIORITY_NORMAL);
	/* the time limit is that of the timer */
	if (r >= 0)
		r = sd_bus_set_method_call_timeout(q->bus, UINT64_MAX);
	if (r >= 0)
		r = sd_bus_call_method_async(q->bus, &q->slot, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					     "org.freedesktop.DBus.ObjectManager",
					     "GetManagedObjects", on_answer, q, NULL);
	if (r >= 0)
		r = sd_event_add_time_relative(q->asking->event, &q->timer, CLOCK_MONOTONIC,
					       q->asking->limits->usec, 1000, on_timer, q);
	return r;
}

static ExitStatus start_one(Asking *a, Machine *machine)
{
	Question *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return out_of_memory();
	*q = (Question){.asking = a, .machine = machine, .said = -EBADF};
	r = ask(q);
	if (r == -ENOMEM || r == -EMFILE) {
		complain("cannot ask %s: %s; fewer at once are asked with --jobs", machine->name,
			 strerror(-r));
		question_free(q);
		return STATUS_FAILED;
	}
	if (r >= 0) {
		a->running++;
		return STATUS_OK;
	}
	a->failed++;
	a->status = keep_reason(q, !machine_is_bus(machine->name) && error_is_absence(NULL, r)
					   ? "the connection has ended"
					   : strerror(-r));
	question_free(q);
	return a->status;
}

/* Starts as many questions as may be under way at once. */
static ExitStatus start_some(Asking *a)
{
	ExitStatus status = STATUS_OK;

	while (status == STATUS_OK && a->running < a->limits->jobs && a->next < a->machines->n)
		status = start_one(a, &a->machines->items[a->next++]);
	return status;
}

ExitStatus machines_ask(Machines *m, const AskLimits *limits)
{
	Asking a = {.machines = m, .limits = limits, .progress = isatty(STDERR_FILENO)};
	int r = sd_event_new(&a.event);

	if (r < 0)
		return out_of_memory();
	a.status = start_some(&a);
	show_progress(&a);
	if (a.running > 0 && a.status == STATUS_OK)
		r = sd_event_loop(a.event);
	sd_event_unref(a.event);
	if (r < 0 && a.status == STATUS_OK)
		return failure("cannot wait for answers: %s", strerror(-r));
	return a.status;
}
