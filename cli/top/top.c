/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * rdmactl top: a table of the ports that follows them. The ports are followed by signals (see
 * follow.h), and their counters are read with one call at an interval. No call is waited for: the
 * screen goes on while a device hangs or rdmad is restarted.
 *
 * With --batch the table is printed again and again, for a file or a pipe.
 */

#include <limits.h>
#include <signal.h>
#include <sys/epoll.h>

#include <systemd/sd-event.h>

#include "bus.h"
#include "clock.h"
#include "commands.h"
#include "follow.h"
#include "monitor-report.h"
#include "names.h"
#include "top-screen.h"
#include "top-view.h"

/* The screen is not drawn more often. */
#define DRAW_USEC (50 * USEC_PER_MSEC)
/* The screen is drawn so often if nothing happens, because it says how long ago something was. */
#define IDLE_USEC USEC_PER_SEC

static uint64_t arg_interval_usec = 2 * USEC_PER_SEC, arg_iterations;
static bool arg_batch;

static ExitStatus parse_interval(const Option *o, const char *argument)
{
	/* rdmad reads counters once a second at most */
	return option_interval(o, argument, USEC_PER_SEC);
}

/* clang-format off */
const Option top_options[] = {
	{"interval",   0,   "SEC",    "Read the counters at this interval (2)",          parse_interval,   &arg_interval_usec, "seconds from 1 to 3600", 0},
	{"batch",      0,   NULL,     "Print tables, for a file or a pipe",              option_set,       &arg_batch,         NULL, 0},
	{"iterations", 'n', "NUMBER", "End after so many tables",                        option_count,     &arg_iterations,    "a number from 1", 0},
	{},
};
/* clang-format on */

typedef struct Top {
	Context *c;
	sd_event *event;
	Follow follow;
	Report choice; /* which ports the arguments name */
	TopModel model;
	TopView view;
	Screen *screen; /* NULL: --batch */
	sd_event_source *sample_timer, *draw_timer;
	uint64_t drawn_usec; /* when the screen was drawn last, on CLOCK_MONOTONIC */
	uint64_t n_asked;    /* how often the counters were asked for */
	uint64_t n_tables;   /* that were printed */
	bool has_changed;    /* ports were added or renamed since the model has followed them */
	ExitStatus status;
} Top;

static void top_done(Top *t)
{
	t->screen = screen_close(t->screen);
	sd_event_source_disable_unref(t->sample_timer);
	sd_event_source_disable_unref(t->draw_timer);
	top_view_done(&t->view);
	top_model_done(&t->model);
	follow_done(&t->follow);
	report_done(&t->choice);
	if (t->event)
		sd_event_unref(t->event);
}

/* Ends: WHAT failed. The message comes when the terminal is as it was. */
static int fail(Top *t, const char *what, const sd_bus_error *error, int r)
{
	t->screen = screen_close(t->screen);
	t->status = bus_complain(what, error, r);
	return sd_event_exit(t->event, 0);
}

/* One that is being removed is still in the list, without interfaces. */
static bool is_shown(void *userdata, const Object *port)
{
	Top *t = userdata;

	if (port->interfaces == 0 ||
	    (t->c->n_arguments == 0 && object_list_is_plane(&t->follow.objects, port)))
		return false;
	return report_is_watched(&t->choice, port);
}

static int follow_ports(Top *t)
{
	t->has_changed = false;
	return top_model_follow(&t->model, &t->follow.objects, is_shown, t);
}

/* Printing */

static int print_table(Top *t, const char *text)
{
	fprintf(t->c->out, "%s%s\n", t->n_tables > 0 ? "\n" : "", text);
	if (fflush(t->c->out) < 0 || ++t->n_tables == arg_iterations)
		return sd_event_exit(t->event, 0);
	return 0;
}

static int print(Top *t)
{
	_cleanup_free_ char *text = NULL;
	int r = 0;

	if (!arg_batch && !t->screen)
		return 0; /* it ends */
	if (t->has_changed)
		r = follow_ports(t);
	if (t->screen)
		screen_size(t->screen, &t->view.style.width, &t->view.rows);
	t->view.style.realtime_usec = realtime_now_usec();
	if (r >= 0)
		r = top_view_print(t->c, &t->model, &t->view, &text);
	if (r < 0)
		return fail(t, "top", NULL, r);
	if (!t->screen)
		return print_table(t, text);
	t->drawn_usec = monotonic_now_usec();
	/* a terminal that has gone is no error */
	return screen_draw(t->screen, text) < 0 ? sd_event_exit(t->event, 0) : 0;
}

static int draw_at(Top *t, uint64_t usec)
{
	int r = sd_event_source_set_time(t->draw_timer, usec);

	return r < 0 ? r : sd_event_source_set_enabled(t->draw_timer, SD_EVENT_ONESHOT);
}

/* Draws soon: many changes are drawn together. */
static void draw_soon(Top *t)
{
	if (t->screen && !t->view.paused)
		(void)draw_at(t, t->drawn_usec + DRAW_USEC);
}

static int on_draw_timer(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Top *t = userdata;
	int r = print(t);

	return r < 0 || !t->screen || t->view.paused ? r : draw_at(t, t->drawn_usec + IDLE_USEC);
}

/* The counters */

static int on_counters(sd_bus_message *reply, void *userdata, _unused_ sd_bus_error *ret_error)
{
	const sd_bus_error *error = sd_bus_message_get_error(reply);
	_cleanup_(samples_done) Samples all = {};
	Top *t = userdata;
	int r;

	/* an answer of the rdmad that ran before, or of none */
	if (!t->follow.synced)
		return 0;
	if (error) {
		top_model_fail(&t->model, error->message ? error->message : error->name);
	} else {
		r = samples_from(reply, &all);
		if (r >= 0)
			r = top_model_sample(&t->model, &all, t->c->host, realtime_now_usec());
		if (r < 0)
			return fail(t, "counters", NULL, r);
	}
	draw_soon(t);
	/* the first table has rates */
	return arg_batch && (t->model.has_rates || t->model.failure || t->model.n == 0) ? print(t)
											: 0;
}

static int request_counters(Top *t)
{
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_call(t->c->bus, &m, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					       RDMAD_INTERFACE_MANAGER, "GetCounters");

	if (r >= 0)
		r = sd_bus_message_append(m, "a{sv}", 0);
	/* who has stopped rdmad wants it to stay so */
	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, false);
	if (r >= 0)
		r = sd_bus_call_async(t->c->bus, NULL, m, on_counters, t, 0);
	if (r >= 0)
		t->model.waiting_usec = realtime_now_usec();
	return r;
}

static int on_sample_timer(sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Top *t = userdata;
	/* the first rates come soon: rdmad reads the counters again after a second */
	uint64_t soon = USEC_PER_SEC + 50 * USEC_PER_MSEC;
	int r = sd_event_source_set_time_relative(s, t->n_asked == 0 ? soon : arg_interval_usec);

	if (r >= 0)
		r = sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
	if (r < 0)
		return r;
	if (!t->follow.synced)
		return arg_batch ? print(t) : 0;
	if (t->view.paused || t->model.waiting_usec)
		return 0;
	t->n_asked++;
	r = request_counters(t);
	return r < 0 ? fail(t, "counters", NULL, r) : 0;
}

/* The ports */

static void on_changed(void *userdata, _unused_ const Object *o)
{
	Top *t = userdata;

	t->has_changed = true;
	draw_soon(t);
}

static void on_removed(void *userdata, _unused_ const Object *o)
{
	Top *t = userdata;
	int r = follow_ports(t);

	if (r < 0)
		(void)fail(t, "top", NULL, r);
	draw_soon(t);
}

static void on_read(void *userdata, _unused_ const ObjectList *was, const ObjectList *is)
{
	Top *t = userdata;

	report_name_ports(&t->choice, is);
	top_model_restart(&t->model);
	on_removed(t, NULL);
	(void)sd_event_source_set_time(t->sample_timer, 0);
	(void)sd_event_source_set_enabled(t->sample_timer, SD_EVENT_ONESHOT);
}

static void on_daemon(void *userdata, bool runs)
{
	Top *t = userdata;

	if (!runs)
		top_model_stop(&t->model, realtime_now_usec());
	draw_soon(t);
}

static void on_failed(void *userdata, const char *what, const sd_bus_error *error, int r)
{
	(void)fail(userdata, what, error, r);
}

static const FollowHandlers handlers = {
	.changed = on_changed,
	.added = on_changed,
	.removed = on_removed,
	.read = on_read,
	.daemon = on_daemon,
	.failed = on_failed,
};

/* Keys and signals */

static bool on_key(void *userdata, int key)
{
	Top *t = userdata;
	int r = top_view_key(&t->model, &t->view, key);

	if (r < 0)
		(void)fail(t, "top", NULL, r);
	else if (r == 0)
		(void)sd_event_exit(t->event, 0);
	return r > 0;
}

static int on_input(_unused_ sd_event_source *s, _unused_ int fd, uint32_t events, void *userdata)
{
	Top *t = userdata;

	if (!t->screen)
		return 0;
	if (events & (EPOLLHUP | EPOLLERR) || screen_read(t->screen, on_key, t) < 0)
		return sd_event_exit(t->event, 0);
	return t->screen ? draw_at(t, 0) : 0;
}

static int on_output_closed(_unused_ sd_event_source *s, _unused_ int fd, _unused_ uint32_t events,
			    void *userdata)
{
	return sd_event_exit(((Top *)userdata)->event, 0);
}

/* Stops as SIGTSTP does by itself, with the terminal as it was. */
static void stop(Top *t)
{
	sigset_t signals;

	screen_leave(t->screen);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &signals, NULL); /* here it stops */
	sigprocmask(SIG_BLOCK, &signals, NULL);
}

static int on_signal(_unused_ sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
	Top *t = userdata;

	if (!t->screen)
		return 0;
	if (si->ssi_signo == SIGTSTP)
		stop(t);
	/* the shell has used the terminal */
	if (si->ssi_signo != SIGWINCH && screen_enter(t->screen) < 0)
		return sd_event_exit(t->event, 0);
	return draw_at(t, 0);
}

static int add_signals(Top *t)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	static const int others[] = {SIGWINCH, SIGTSTP, SIGCONT};
	sigset_t signals;
	int r = 0;

	sigemptyset(&signals);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigaddset(&signals, ends[i]);
	/* a process that uses no screen stops as usual */
	for (size_t i = 0; i < ARRAY_SIZE(others) && !arg_batch; i++)
		sigaddset(&signals, others[i]);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(ends) && r >= 0; i++)
		r = sd_event_add_signal(t->event, NULL, ends[i], NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(others) && r >= 0 && !arg_batch; i++)
		r = sd_event_add_signal(t->event, NULL, others[i], on_signal, t);
	return r;
}

/* Ends with the terminal, or with the reader of a pipe. -EPERM: a file cannot be watched. */
static int add_files(Top *t)
{
	int r = sd_event_add_io(t->event, NULL, STDOUT_FILENO, EPOLLERR, on_output_closed, t);

	if ((r >= 0 || r == -EPERM) && !arg_batch)
		r = sd_event_add_io(t->event, NULL, STDIN_FILENO, EPOLLIN, on_input, t);
	return r == -EPERM ? 0 : r;
}

static int add_timers(Top *t)
{
	int r = sd_event_add_time(t->event, &t->sample_timer, CLOCK_MONOTONIC, 0, 1000,
				  on_sample_timer, t);

	if (r >= 0)
		r = sd_event_source_set_enabled(t->sample_timer, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_time(t->event, &t->draw_timer, CLOCK_MONOTONIC, 0, 1000,
				      on_draw_timer, t);
	return r < 0 ? r : sd_event_source_set_enabled(t->draw_timer, SD_EVENT_OFF);
}

static int start(Top *t)
{
	int r = sd_event_new(&t->event);

	t->choice.event = t->event;
	if (r >= 0)
		r = add_signals(t);
	if (r >= 0)
		r = add_timers(t);
	if (r >= 0)
		r = add_files(t);
	if (r >= 0)
		r = sd_bus_attach_event(t->c->bus, t->event, SD_EVENT_PRIORITY_NORMAL);
	if (r < 0)
		return r;
	(void)sd_bus_set_exit_on_disconnect(t->c->bus, true);
	if (!arg_batch)
		r = screen_open(&t->screen);
	if (r < 0)
		return r;
	t->follow = (Follow){.bus = t->c->bus, .handlers = &handlers, .userdata = t};
	return follow_start(&t->follow);
}

static ExitStatus check_usage(const Context *c)
{
	int r = arg_batch ? 0 : screen_check();

	if (c->json)
		complain("top: there is no JSON; see counters --watch and monitor");
	else if (arg_iterations > 0 && !arg_batch)
		complain("top: --iterations can be used only together with --batch");
	else if (r == -ENOTTY)
		complain("top: standard input and output are no terminal; --batch prints tables, "
			 "and counters --watch prints changes");
	else if (r < 0)
		complain("top: this terminal cannot move its cursor; --batch prints tables, "
			 "and counters --watch prints changes");
	else
		return STATUS_OK;
	return STATUS_USAGE;
}

ExitStatus top_command(Context *c)
{
	char host[HOST_NAME_MAX + 1] = "";
	_cleanup_(top_done) Top t = {
		.c = c,
		.choice = {.c = c},
		.view = {.host = host,
			 .interval_usec = arg_interval_usec,
			 .style = {.has_cursor = !arg_batch,
				   .width = c->is_terminal ? c->width : 0}},
	};
	ExitStatus status;
	int r;

	if (c->host || c->machine)
		text_copy(host, sizeof(host), c->host ? c->host : c->machine);
	else
		(void)gethostname(host, sizeof(host) - 1);
	text_sanitize(host, sizeof(host));
	status = check_usage(c);
	if (status == STATUS_OK)
		status = report_choose_ports(&t.choice);
	if (status != STATUS_OK)
		return status;
	r = start(&t);
	if (r >= 0)
		r = sd_event_loop(t.event);
	t.screen = screen_close(t.screen);
	return bus_end_loop(c, "cannot watch the ports", r, t.status);
}
