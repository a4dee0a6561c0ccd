/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bus-turns.h"

#include "bus-peer.h"
#include "bus-writer.h"
#include "call-ticket.h"
#include "clock.h"
#include "log.h"
#include "names.h"
#include "processor-time.h"
#include "turns.h"

/* About what sd-bus needs for a message without its arguments, and we for a refusal. */
#define MESSAGE_SIZE 1280U
#define REFUSAL_SIZE 256U

struct BusTurns {
	sd_bus *bus;
	BusCallers *callers;
	Turns *turns;
	sd_bus_message *current; /* whose turn it is, until the door sees it; sd-bus has it */
	/* of the turn */
	uid_t user;
	uint64_t began, written; /* in time of the processor; in bytes */
	uint64_t began_usec;	 /* CLOCK_MONOTONIC */
	bool takes;		 /* the bus has taken something since */
	uint64_t marked;	 /* so many messages wait before that which was marked, and it */
	uint64_t marked_usec;	 /* when the bus has taken it; 0: not yet */
};

/* The calls of a connection that wait. */
typedef struct Line {
	BusTurns *bus_turns;
	TurnsLine *line;
	BusCaller *caller;
	CallerWait wait; /* for the bus to say whose it is */
} Line;

/* A call that waits. */
typedef struct WaitingCall {
	Turn turn;
	sd_bus_message *call; /* NULL: it is refused */
	CallTicket ticket;    /* if it is refused: with ERROR */
	sd_bus_error error;
} WaitingCall;

static void waiting_free(WaitingCall *w)
{
	if (!w)
		return;
	sd_bus_message_unref(w->call);
	call_ticket_done(&w->ticket);
	sd_bus_error_free(&w->error);
	free(w);
}
DEFINE_CLEANUP(WaitingCall, waiting_free);

static WaitingCall *take(TurnsLine *line)
{
	return (WaitingCall *)turns_take(line);
}

/* Its calls are dropped. */
static void close_line(Line *l)
{
	WaitingCall *w;

	while ((w = take(l->line)))
		waiting_free(w);
	turns_close(l->line);
	caller_wait_cancel(&l->wait);
	*bus_caller_kept(l->caller) = NULL;
	bus_caller_unref(l->caller);
	free(l);
}

static void check_sent(int r)
{
	if (r < 0)
		log_debug_errno(r, "Cannot refuse a call, ignoring: %m");
}

/* The refusal of W */
static void refuse(const WaitingCall *w)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = NULL;
	int r = call_ticket_new_call(&w->ticket, &call);

	check_sent(r < 0 ? r : sd_bus_reply_method_error(call, &w->error));
}

static void on_user(void *userdata, int error, uid_t user);

static int open_line(BusTurns *t, BusCaller *caller, Line **ret)
{
	Line *l = calloc(1, sizeof(*l));
	uid_t user;
	int r = l ? turns_open(t->turns, l, &l->line) : -ENOMEM;

	if (r >= 0 && bus_caller_knows_user(caller, &user))
		r = turns_identify(l->line, user);
	if (r < 0) {
		if (l)
			turns_close(l->line);
		free(l);
		return r;
	}
	l->bus_turns = t;
	l->caller = bus_caller_ref(caller);
	l->wait = (CallerWait){.told = on_user, .userdata = l};
	if (!bus_caller_knows_user(caller, &user))
		bus_caller_await(caller, &l->wait);
	*bus_caller_kept(caller) = l;
	*ret = l;
	return 0;
}

static int get_line(BusTurns *t, sd_bus_message *call, Line **ret)
{
	_cleanup_(bus_caller_unref_pointer) BusCaller *caller = NULL;
	int r = bus_callers_find(t->callers, sd_bus_message_get_sender(call), &caller);

	if (r < 0)
		return r;
	*ret = *bus_caller_kept(caller);
	return *ret ? 0 : open_line(t, caller, ret);
}

bool bus_turns_is_turn(BusTurns *t, sd_bus_message *call)
{
	if (call != t->current)
		return false;
	t->current = NULL;
	return true;
}

int bus_turns_admit(BusTurns *t, sd_bus_message *call)
{
	_cleanup_(bus_caller_unref_pointer) BusCaller *caller = NULL;
	bool is_new;
	uid_t user;
	int r = bus_callers_find(t->callers, sd_bus_message_get_sender(call), &caller);

	if (r < 0)
		return r;
	is_new = bus_caller_is_new(caller);
	return turns_is_empty(t->turns) && (is_new || bus_caller_knows_user(caller, &user)) &&
	       bus_peer_has_taken(t->bus);
}

/* Puts NEW into the line L if there is room. */
static bool add(Line *l, WaitingCall **new, size_t size, bool refusal)
{
	bool has_room = turns_has_room(l->line, size, refusal);

	if (has_room) {
		(*new)->turn.size = size;
		turns_add(l->line, &steal_pointer(new)->turn);
	} else if (turns_line_is_empty(l->line)) {
		close_line(l);
	}
	return has_room;
}

int bus_turns_refuse(BusTurns *t, sd_bus_message *call, const sd_bus_error *error)
{
	_cleanup_(waiting_free_pointer) WaitingCall *new = calloc(1, sizeof(*new));
	Line *l;
	int r = new ? call_ticket_take(t->callers, call, &new->ticket) : -ENOMEM;

	if (r >= 0)
		r = get_line(t, call, &l);
	if (r < 0)
		return r;
	/* without memory it is another error */
	(void)sd_bus_error_copy(&new->error, error);
	add(l, &new, REFUSAL_SIZE, true);
	return 0;
}

static const sd_bus_error too_many = SD_BUS_ERROR_MAKE_CONST(
	RDMAD_ERROR_LIMITS_EXCEEDED,
	"Too many calls of this user wait while others call; try again in a second");

/* W is to be refused because there are too many. */
static int make_refusal(BusTurns *t, WaitingCall *w)
{
	int r = w->call ? call_ticket_take(t->callers, w->call, &w->ticket) : 0;

	if (r < 0 || !w->call)
		return r;
	w->call = sd_bus_message_unref(w->call);
	(void)sd_bus_error_copy(&w->error, &too_many);
	return 0;
}

/* The calls of L are refused when it is their turn: with them its user would have too many. A call
 * without room even then is dropped, and L is closed if nothing is left. */
static void refuse_later(Line *l)
{
	Turn *calls = NULL, **last = &calls;

	while ((*last = turns_take(l->line)))
		last = &(*last)->next;
	for (Turn *next; calls; calls = next) {
		WaitingCall *w = (WaitingCall *)calls;

		next = calls->next;
		if (make_refusal(l->bus_turns, w) < 0 ||
		    !turns_has_room(l->line, REFUSAL_SIZE, true)) {
			waiting_free(w);
			continue;
		}
		w->turn.size = REFUSAL_SIZE;
		turns_add(l->line, &w->turn);
	}
	if (turns_line_is_empty(l->line))
		close_line(l);
}

/* The bus has said whose the calls of a line are, or that it does not know. */
static void on_user(void *userdata, int error, uid_t user)
{
	Line *l = userdata;
	WaitingCall *w;

	if (error >= 0)
		error = turns_identify(l->line, user);
	if (error >= 0) {
		if (!turns_has_room(l->line, 0, false))
			refuse_later(l);
		return;
	}
	while (error != -ENXIO && (w = take(l->line))) {
		if (w->call)
			bus_peer_reply_unknown(w->call);
		else
			refuse(w);
		waiting_free(w);
	}
	close_line(l);
}

int bus_turns_wait(BusTurns *t, sd_bus_message *call, size_t size)
{
	_cleanup_(waiting_free_pointer) WaitingCall *new = calloc(1, sizeof(*new));
	Line *l;
	int r = new ? get_line(t, call, &l) : -ENOMEM;

	if (r < 0)
		return r;
	new->call = sd_bus_message_ref(call);
	return add(l, &new, MESSAGE_SIZE + size, false) ? 0 : bus_turns_refuse(t, call, &too_many);
}

bool bus_turns_is_ready(const BusTurns *t, uint64_t *ret_when)
{
	if (!turns_is_ready(t->turns))
		return false;
	*ret_when = t->takes ? t->began_usec + BUS_TURNS_USEC : UINT64_MAX;
	return true;
}

void bus_turns_bus_takes(BusTurns *t, uint64_t n)
{
	t->takes = true;
	if (t->marked == 0)
		return;
	t->marked -= MIN(n, t->marked);
	if (t->marked == 0)
		t->marked_usec = monotonic_now_usec();
}

void bus_turns_mark(BusTurns *t)
{
	t->marked = bus_peer_unsent(t->bus);
	t->marked_usec = t->marked == 0 ? monotonic_now_usec() : 0;
}

uint64_t bus_turns_marked_usec(const BusTurns *t)
{
	return t->marked_usec;
}

static bool is_time(const BusTurns *t)
{
	uint64_t when;

	return bus_turns_is_ready(t, &when) &&
	       (bus_peer_has_taken(t->bus) || monotonic_now_usec() >= when);
}

bool bus_turns_is_pending(const BusTurns *t)
{
	return t->current;
}

bool bus_turns_begin(BusTurns *t)
{
	_cleanup_(waiting_free_pointer) WaitingCall *w = NULL;
	TurnsLine *line;
	Line *l;
	int r = 0;

	if (!is_time(t))
		return false;
	t->began_usec = monotonic_now_usec();
	t->takes = false;
	t->began = processor_now_nsec();
	t->written = bus_writer_written();
	w = (WaitingCall *)turns_next(t->turns, &line, &t->user);
	l = turns_userdata(line);
	if (w->call)
		r = sd_bus_enqueue_for_read(t->bus, w->call);
	else
		refuse(w);
	if (w->call && r >= 0)
		t->current = w->call;
	else if (r < 0)
		check_sent(sd_bus_reply_method_errno(w->call, r, NULL));
	if (turns_line_is_empty(line))
		close_line(l);
	return true;
}

void bus_turns_end(BusTurns *t)
{
	uint64_t bytes = bus_writer_written() - t->written;

	t->current = NULL;
	turns_charge(t->turns, t->user,
		     processor_now_nsec() - t->began + bytes * BUS_TURNS_NSEC_PER_BYTE);
}

int bus_turns_new(sd_bus *bus, BusCallers *callers, BusTurns **ret)
{
	_cleanup_(bus_turns_free_pointer) BusTurns *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	t->bus = bus;
	t->callers = callers;
	r = turns_new(geteuid(), &t->turns);
	if (r < 0)
		return r;
	*ret = steal_pointer(&t);
	return 0;
}

void bus_turns_free(BusTurns *t)
{
	if (!t)
		return;
	while (t->turns && turns_any(t->turns))
		close_line(turns_userdata(turns_any(t->turns)));
	turns_free(t->turns);
	free(t);
}
