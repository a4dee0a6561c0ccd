/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * rdmactl wait: calls Manager.WaitFor(). rdmad waits for the ports, keeps the time and says what
 * is missing. Peers are asked when the ports have what they need. When rdmad goes away, the call is
 * made again as soon as there is another rdmad, with the time that is left. Only while there is
 * none does this program keep the time itself.
 */

#include <systemd/sd-event.h>

#include "bus-open.h"
#include "bus.h"
#include "clock.h"
#include "commands.h"
#include "json.h"
#include "names.h"
#include "parse.h"
#include "ping.h"
#include "selection.h"

/* How much later than the time-out the answer of rdmad may come. */
#define GRACE_USEC (2 * USEC_PER_SEC)

/* The most peers that are asked. */
#define WAIT_PEERS_MAX 64

/* The options. One that was not given is NULL, false or 0. */
static const char *arg_state, *arg_gid;
static bool arg_lid, arg_healthy, arg_fit, arg_any, arg_quiet, arg_configured, arg_escaped;
static uint64_t arg_mtu;		       /* bytes */
static uint64_t arg_rate;		       /* bit/s */
static uint64_t arg_timeout_usec = UINT64_MAX; /* UINT64_MAX: for ever */
static struct {
	char *names[WAIT_PEERS_MAX];
	size_t n;
} arg_peers;

static ExitStatus parse_state(const Option *o, const char *argument)
{
	/* without the first name, "nop": no port is ever in that state */
	const char *const *names = attr_type_names(ATTR_PORT_STATE) + 1;
	char expected[64] = "";
	Option wrong = *o;

	*(const char **)o->value = argument;
	for (size_t i = 0; names[i]; i++) {
		if (streq(names[i], argument))
			return STATUS_OK;
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), "%s%s",
			 i == 0		? ""
			 : names[i + 1] ? ", "
					: " or ",
			 names[i]);
	}
	wrong.expected = expected;
	return option_refuse(&wrong, argument);
}

static ExitStatus parse_gid(const Option *o, const char *argument)
{
	uint8_t gid[16];

	if (gid_parse(argument, gid) < 0)
		return option_refuse(o, argument);
	return option_text(o, argument);
}

static ExitStatus parse_least_rate(const Option *o, const char *argument)
{
	return parse_rate(argument, o->value) ? STATUS_OK : option_refuse(o, argument);
}

static ExitStatus parse_peer(const Option *o, const char *argument)
{
	if (!*argument || arg_peers.n == WAIT_PEERS_MAX)
		return option_refuse(o, argument);
	arg_peers.names[arg_peers.n++] = CONST_CAST(char *, argument);
	return STATUS_OK;
}

/* clang-format off */
const Option wait_options[] = {
	{"state",      0, "STATE",   "Wait for this state (default: active)",          parse_state,      &arg_state,        NULL,                                        0},
	{"lid",        0, NULL,      "Wait for a LID too",                             option_set,       &arg_lid,          NULL,                                        0},
	{"gid",        0, "ADDRESS", "Wait for this IP address or GID too",            parse_gid,        &arg_gid,          "an IP address or a GID, such as 192.0.2.7", 0},
	{"mtu",        0, "BYTES",   "Wait for this MTU or a larger one too",          option_count,     &arg_mtu,          "bytes, such as 4096",                       0},
	{"rate",       0, "RATE",    "Wait for this rate (200G) or a higher one too",  parse_least_rate, &arg_rate,         "a rate, such as 200G",                      0},
	{"healthy",    0, NULL,      "Wait until nothing is wrong with the port too",  option_set,       &arg_healthy,      NULL,                                        0},
	{"fit",        0, NULL,      "Wait until the port is fit to be used too",      option_set,       &arg_fit,          NULL,                                        0},
	{"peer",       0, "PEER",    "Wait until this peer answers a ping too",        parse_peer,       NULL,              "a name or an address, 64 of them at most",  0},
	{"any",        0, NULL,      "Wait for one of the ports only; print which",    option_set,       &arg_any,          NULL,                                        0},
	{"timeout",    0, "SEC",     "Give up after this time (default: never)",       option_seconds,   &arg_timeout_usec, "seconds, such as 60",                       0},
	{"quiet",      0, NULL,      "Do not print what is missing",                   option_set,       &arg_quiet,        NULL,                                        0},
	{"configured", 0, NULL,      "Wait for the ports in [Wait] of rdmad.conf too", option_set,       &arg_configured,   NULL,                                        0},
	{"escaped",    0, NULL,      "PORT is as in the name of a unit: mlx5_0-1",     option_set,       &arg_escaped,      NULL,                                        0},
	{},
};
/* clang-format on */

typedef struct Waiting {
	Context *c;
	sd_event *event;
	sd_event_source *timer; /* at the time-out; NULL: there is none */
	sd_bus_slot
		*call; /* the call of WaitFor() that waits for an answer; NULL: there is no rdmad */
	char **ports;  /* the names for the call; NULL at the end */
	size_t n_ports;
	bool chosen; /* each name that means several ports was replaced by theirs */
	uint64_t start_usec, deadline_usec;
	uint64_t absent_usec; /* since when there is no rdmad: when this program started, or when
				 rdmad went away */
	bool overdue;	      /* the time is over, and rdmad has still to say so */
	ExitStatus status;
} Waiting;

static void waiting_done(Waiting *w)
{
	sd_event_source_disable_unref(w->timer);
	sd_bus_slot_unref(w->call);
	for (size_t i = 0; i < w->n_ports; i++)
		free(w->ports[i]);
	free(w->ports);
	if (w->event)
		sd_event_unref(w->event);
}

static int end(Waiting *w, ExitStatus status)
{
	w->status = status;
	/* The end of the loop would close the connection, by which the ping asks for ports. */
	sd_bus_detach_event(w->c->bus);
	return sd_event_exit(w->event, 0);
}

/* Prints the ports that have what was asked for, with --any or --json. Without these they are all
 * the ports that the user named, and the exit status is enough. */
static int print_held(Waiting *w, sd_bus_message *reply)
{
	const char *name, *path;
	Context *c = w->c;
	int r;

	if (arg_quiet || !(c->json || arg_any))
		return 0;
	if (c->json)
		json_begin(c->out, "Ports");
	r = sd_bus_message_enter_container(reply, 'a', "{so}");
	while (r >= 0 && (r = sd_bus_message_read(reply, "{so}", &name, &path)) > 0) {
		if (!c->json) {
			fprintf(c->out, "%s\n", name);
			continue;
		}
		json_next(c->out);
		json_open_named(c->out, name, path);
		json_close(c->out);
	}
	if (c->json)
		json_end(c->out);
	return r;
}

/* Prints MESSAGE, which has a line for each port. */
static void complain_missing(const char *message)
{
	while (*message) {
		size_t n = strcspn(message, "\n");

		complain("%.*s", (int)n, message);
		message += n + (message[n] == '\n');
	}
}

static ExitStatus add_name(Waiting *w, const char *name)
{
	char **ports = reallocarray(w->ports, w->n_ports + 2, sizeof(*ports));

	if (!ports)
		return out_of_memory();
	w->ports = ports;
	ports[w->n_ports] = strdup(name);
	if (!ports[w->n_ports])
		return out_of_memory();
	ports[++w->n_ports] = NULL;
	return STATUS_OK;
}

/* Adds the ports that there are now and that ARGUMENT chooses; NULL chooses all. A name that
 * chooses none is added as it is: its port may come. */
static ExitStatus add_chosen(Waiting *w, char *argument)
{
	_cleanup_selection_ Selection s = {};
	Context c = *w->c;
	ExitStatus status;
	char name[96];

	c.arguments = &argument;
	c.n_arguments = argument != NULL;
	status = selection_read(&c, 0, selection_names, &s);
	if (status == STATUS_OK && s.n == 0 && argument && !object_is_pattern(argument))
		return add_name(w, argument);
	for (size_t i = 0; status == STATUS_OK && i < s.n; i++)
		status = add_name(w, object_name(s.ports[i], name));
	if (status != STATUS_OK || s.n > 0)
		return status;
	if (argument)
		return selection_complain(&s);
	return complain_as(STATUS_NO_PORT, "wait: there is no RDMA port");
}

static int call(Waiting *w);

/* A name means several ports: makes the call again with theirs. */
static int choose_again(Waiting *w)
{
	ExitStatus status = STATUS_OK;
	char **names = w->ports;
	size_t n = w->n_ports;
	int r;

	w->ports = NULL;
	w->n_ports = 0;
	w->chosen = true;
	for (size_t i = 0; i < n; i++) {
		if (status == STATUS_OK)
			status = add_chosen(w, names[i]);
		free(names[i]);
	}
	free(names);
	if (status != STATUS_OK)
		return end(w, status);
	r = call(w);
	return r < 0 ? end(w, bus_complain("wait", NULL, r)) : 0;
}

static int end_with_error(Waiting *w, const sd_bus_error *error)
{
	if (sd_bus_error_has_name(error, RDMAD_ERROR_WAIT_TIMEOUT)) {
		if (!arg_quiet)
			complain_missing(error->message);
		return end(w, STATUS_FAILED);
	}
	if (sd_bus_error_has_name(error, RDMAD_ERROR_INVALID_ARGUMENT)) {
		complain("wait: %s", error->message);
		return end(w, STATUS_USAGE);
	}
	return end(w, bus_complain("wait", error, -EIO));
}

static int on_answer(sd_bus_message *reply, void *userdata, _unused_ sd_bus_error *ret_error)
{
	const sd_bus_error *error = sd_bus_message_get_error(reply);
	Waiting *w = userdata;
	int r;

	w->call = sd_bus_slot_unref(w->call);
	if (!error) {
		r = print_held(w, reply);
		return end(w, r < 0 ? bus_complain("wait", NULL, r) : STATUS_OK);
	}
	if (bus_error_is_end(error)) {
		w->absent_usec = monotonic_now_usec();
		return 0;
	}
	/* The second error: rdmad was started too slowly for the bus. */
	if (error_is_absence(error, 0) ||
	    sd_bus_error_has_name(error, "org.freedesktop.DBus.Error.TimedOut"))
		return 0;
	if (sd_bus_error_has_name(error, RDMAD_ERROR_AMBIGUOUS) && !w->chosen)
		return choose_again(w);
	return end_with_error(w, error);
}

static int append_flag(sd_bus_message *m, const char *key, bool flag)
{
	return flag ? sd_bus_message_append(m, "{sv}", key, "b", 1) : 0;
}

static int append_condition(sd_bus_message *m, const Waiting *w)
{
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	if (r >= 0)
		r = ports_append_texts(m, "ports", (const char *const *)w->ports);
	if (r >= 0)
		r = append_flag(m, "configured", arg_configured);
	if (r >= 0)
		r = append_flag(m, "any", arg_any);
	if (r >= 0)
		r = append_flag(m, "lid", arg_lid);
	if (r >= 0)
		r = append_flag(m, "healthy", arg_healthy);
	if (r >= 0)
		r = append_flag(m, "fit", arg_fit);
	if (r >= 0 && arg_state)
		r = sd_bus_message_append(m, "{sv}", "state", "s", arg_state);
	if (r >= 0 && arg_gid)
		r = sd_bus_message_append(m, "{sv}", "gid", "s", arg_gid);
	if (r >= 0 && arg_mtu)
		r = sd_bus_message_append(m, "{sv}", "mtu", "u", (uint32_t)arg_mtu);
	if (r >= 0 && arg_rate)
		r = sd_bus_message_append(m, "{sv}", "rate", "t", arg_rate);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int call(Waiting *w)
{
	_cleanup_(sd_bus_message_unref_pointer) sd_bus_message *m = NULL;
	uint64_t now = monotonic_now_usec(), left = UINT64_MAX;
	int r;

	if (w->deadline_usec != UINT64_MAX)
		left = w->deadline_usec > now ? w->deadline_usec - now : 0;
	r = sd_bus_message_new_method_call(w->c->bus, &m, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					   RDMAD_INTERFACE_MANAGER, "WaitFor");
	if (r >= 0)
		r = append_condition(m, w);
	if (r >= 0)
		r = sd_bus_message_append(m, "t", left);
	if (r >= 0)
		r = sd_bus_call_async(w->c->bus, &w->call, m, on_answer, w, UINT64_MAX);
	return r;
}

/* When there is a new rdmad, calls it. This program never starts rdmad itself after it has gone:
 * somebody may have stopped it. */
static int on_name_owner_changed(sd_bus_message *signal, void *userdata,
				 _unused_ sd_bus_error *error)
{
	const char *name, *was, *is;
	Waiting *w = userdata;
	int r = sd_bus_message_read(signal, "sss", &name, &was, &is);

	if (r < 0 || !*is || w->call)
		return 0;
	r = call(w);
	return r < 0 ? end(w, bus_complain("wait", NULL, r)) : 0;
}

static int on_timer(sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	Waiting *w = userdata;
	char duration[DURATION_MAX];
	uint64_t since = w->absent_usec;

	if (w->call && !w->overdue) {
		w->overdue = true;
		sd_event_source_set_time(s, w->deadline_usec + GRACE_USEC);
		return sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
	}
	if (!arg_quiet) {
		duration_format(monotonic_now_usec() - (w->call ? w->start_usec : since), duration);
		complain("rdmad %s for at least %s",
			 w->call ? "has not answered" : "is not running", duration);
	}
	return end(w, STATUS_NO_DAEMON);
}

static int start(Waiting *w)
{
	Context *c = w->c;
	int r = sd_event_new(&w->event);

	w->start_usec = w->absent_usec = monotonic_now_usec();
	w->deadline_usec =
		arg_timeout_usec == UINT64_MAX ? UINT64_MAX : w->start_usec + arg_timeout_usec;
	if (r >= 0 && arg_timeout_usec != UINT64_MAX)
		r = sd_event_add_time(w->event, &w->timer, CLOCK_MONOTONIC, w->deadline_usec,
				      USEC_PER_MSEC, on_timer, w);
	if (r >= 0)
		r = sd_bus_attach_event(c->bus, w->event, SD_EVENT_PRIORITY_NORMAL);
	if (r < 0)
		return r;
	(void)sd_bus_set_exit_on_disconnect(c->bus, true);
	/* Subscribe first and call afterwards, so that no new owner is missed. */
	r = sd_bus_add_match_async(c->bus, NULL,
				   "type='signal',sender='org.freedesktop.DBus',"
				   "member='NameOwnerChanged',arg0='" RDMAD_BUS_NAME "'",
				   on_name_owner_changed, NULL, w);
	return r < 0 ? r : call(w);
}

/* Makes the names of the ports for the call. Only what a name cannot say needs rdmad now. */
static ExitStatus name_ports(Waiting *w)
{
	Context *c = w->c;
	ExitStatus status = STATUS_OK;

	if (c->n_arguments == 0 && !arg_configured)
		return add_chosen(w, NULL);
	for (unsigned int i = 0; status == STATUS_OK && i < c->n_arguments; i++) {
		_cleanup_free_ char *name = strdup(c->arguments[i]);

		if (!name)
			return out_of_memory();
		if (arg_escaped && instance_unescape(name) < 0)
			return usage_error(
				"wait: \"%s\": expected a port as in the name of a unit, such as "
				"mlx5_0-1",
				c->arguments[i]);
		status = object_is_pattern(name) ? add_chosen(w, name) : add_name(w, name);
	}
	return status;
}

ExitStatus wait_command(Context *c)
{
	_cleanup_(waiting_done) Waiting w = {.c = c};
	int r;
	ExitStatus status = name_ports(&w);

	if (status != STATUS_OK)
		return status;
	r = start(&w);
	if (r >= 0)
		r = sd_event_loop(w.event);
	status = bus_end_loop(c, "wait", r, w.status);
	if (status == STATUS_OK && arg_peers.n > 0)
		status = ping_wait(c, arg_peers.names, arg_peers.n, w.deadline_usec, arg_quiet);
	return status;
}
