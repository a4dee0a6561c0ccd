/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clients.h"

#include "bus-peer.h"
#include "laws.h"
#include "published.h"

#define CALLS_MAX  64U
#define STATES_MAX 32U
/* Of so many replies with all objects who has read one before reads one. */
#define TAKEN_ONE_IN   3U
#define OBJECT_MANAGER "org.freedesktop.DBus.ObjectManager"

typedef struct Call {
	bool open;
	uint64_t cookie, when_usec;
	unsigned int client;
	const char *member;
	bool is_check; /* clients_read() */
} Call;

typedef struct Client {
	uint64_t n_replies; /* with all objects */
	bool follows;	    /* OBJECTS are what it has read, and all signals since then */
	Objects objects;
} Client;

/* What StateChanged of a port has said last */
typedef struct LastState {
	char path[RDMAD_PATH_MAX], state[16];
} LastState;

struct Clients {
	Lots *lots;	    /* those of the step */
	uint64_t wait_usec; /* the longest that a call may have to wait */
	const Cache *cache;
	Peer *peer;		   /* NULL: the bus has gone */
	bool stands_still, serves; /* the core has answered a call on this bus */
	uint64_t excused_usec;	   /* who called before may have to wait for long */
	Client clients[PEER_CLIENTS];
	Call calls[CALLS_MAX];
	Objects read; /* by clients_read() */
	bool has_read;
	uint64_t n_signals, read_signals; /* and how many had come before */
	unsigned int n_questions;
	LastState states[STATES_MAX]; /* the oldest are forgotten */
	size_t n_states;
};

/* Signals */

/* Generations of an object never get smaller. */
static void check_generations(const Objects *objects, sd_bus_message *m, const char *changed,
			      uint64_t before[4], bool is_before)
{
	static const char *const names[] = {"ConfigGeneration", "GidGeneration", "SmGeneration",
					    "PkeyGeneration"};
	const Object *o = objects_find(objects, sd_bus_message_get_path(m));

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *text = o ? object_get(o, names[i]) : NULL;
		uint64_t n = text ? strtoull(text, NULL, 10) : 0;

		if (is_before)
			before[i] = n;
		else
			LAW(n >= before[i] || !strstr(changed, names[i]),
			    "%s of %s was %ju, is %ju", names[i], o->path, (uintmax_t)before[i],
			    (uintmax_t)n);
	}
}

/* Who hears of a new state knows it already. */
static void check_state(const Objects *objects, sd_bus_message *m)
{
	const Object *o = objects_find(objects, sd_bus_message_get_path(m));
	const char *is, *was, *reason, *state = o ? object_get(o, "State") : NULL;

	LAW(sd_bus_message_rewind(m, true) >= 0 &&
		    sd_bus_message_read(m, "sss", &is, &was, &reason) > 0,
	    "StateChanged has other arguments");
	LAW(state && streq(state, is), "%s: StateChanged to %s (%s), but State is %s",
	    sd_bus_message_get_path(m), is, reason, state);
}

static void follow(Client *c, sd_bus_message *m)
{
	_cleanup_free_ char *changed = NULL;
	uint64_t before[4] = {};

	if (streq(sd_bus_message_get_member(m), "StateChanged")) {
		check_state(&c->objects, m);
		return;
	}

	check_generations(&c->objects, m, "", before, true);
	objects_follow(&c->objects, m, &changed);
	if (streq(sd_bus_message_get_member(m), "PropertiesChanged"))
		check_generations(&c->objects, m, changed, before, false);
}

/* Nobody misses a transition: the old state of each is the new one of the last. */
static void check_transition(Clients *c, sd_bus_message *m)
{
	const char *path = sd_bus_message_get_path(m), *is, *was;
	LastState *l = c->states;

	LAW(sd_bus_message_rewind(m, true) >= 0 && sd_bus_message_read(m, "ss", &is, &was) > 0,
	    "StateChanged has other arguments");
	while (l < c->states + STATES_MAX && !streq(l->path, path))
		l++;
	if (l == c->states + STATES_MAX) {
		l = &c->states[c->n_states++ % STATES_MAX];
		text_copy(l->path, sizeof(l->path), path);
		text_copy(l->state, sizeof(l->state), was);
	}
	LAW(streq(l->state, was), "%s: StateChanged from %s to %s, but it was %s", path, was, is,
	    l->state);
	text_copy(l->state, sizeof(l->state), is);
}

/* An object has gone: what comes with its path begins anew. */
static void forget_state(Clients *c, sd_bus_message *m)
{
	const char *path;

	LAW(sd_bus_message_rewind(m, true) >= 0 && sd_bus_message_read(m, "o", &path) > 0,
	    "InterfacesRemoved has other arguments");
	for (size_t i = 0; i < STATES_MAX; i++)
		if (streq(c->states[i].path, path))
			c->states[i].path[0] = '\0';
}

static void on_signal(void *userdata, sd_bus_message *m)
{
	Clients *c = userdata;

	c->n_signals++;
	note("signal %s of %s", sd_bus_message_get_member(m), sd_bus_message_get_path(m));
	if (streq(sd_bus_message_get_member(m), "StateChanged"))
		check_transition(c, m);
	else if (streq(sd_bus_message_get_member(m), "InterfacesRemoved"))
		forget_state(c, m);
	/* the manager is no object that GetManagedObjects() returns */
	if (streq(sd_bus_message_get_path(m), RDMAD_ROOT_PATH) &&
	    streq(sd_bus_message_get_member(m), "PropertiesChanged"))
		return;
	for (size_t i = 0; i < PEER_CLIENTS; i++)
		if (c->clients[i].follows)
			follow(&c->clients[i], m);
}

/* Replies */

static void forget_objects(Client *c)
{
	objects_done(&c->objects);
	c->follows = false;
}

static Call *find_call(Clients *c, uint64_t cookie)
{
	for (size_t i = 0; i < CALLS_MAX; i++)
		if (c->calls[i].open && c->calls[i].cookie == cookie)
			return &c->calls[i];
	return NULL;
}

static bool is_here(const Clients *c, const char *name)
{
	for (unsigned int i = 0; i < PEER_CLIENTS; i++)
		if (streq(peer_client_name(c->peer, i), name))
			return true;
	return false;
}

/* The objects are in REPLY. */
static void take_objects(Clients *c, const Call *call, sd_bus_message *reply)
{
	Client *client = &c->clients[call->client];

	if (call->is_check) {
		objects_done(&c->read);
		objects_take(reply, &c->read);
		c->has_read = true;
		return;
	}
	/* who knows them already needs them only now and then */
	if (client->follows && ++client->n_replies % TAKEN_ONE_IN)
		return;
	forget_objects(client);
	objects_take(reply, &client->objects);
	client->follows = true;
}

static void on_reply(void *userdata, uint64_t cookie, sd_bus_message *m)
{
	const sd_bus_error *error = sd_bus_message_get_error(m);
	const char *to = sd_bus_message_get_destination(m);
	Clients *c = userdata;
	Call *call = find_call(c, cookie);

	/* a client may leave before the core has heard of it */
	LAW(call || !is_here(c, to), "an answer to a call that is answered, or was never made");
	if (!call)
		return;
	note("reply to %s of client %u: %s", call->member, call->client, error ? error->name : "");
	LAW(streq(to, peer_client_name(c->peer, call->client)), "the answer to %s goes to %s",
	    call->member, to);
	LAW(call->when_usec < c->excused_usec ||
		    virtual_now_usec() <= call->when_usec + c->wait_usec,
	    "%s had to wait for %.3f s", call->member,
	    (double)(virtual_now_usec() - call->when_usec) / 1e6);
	call->open = false;
	c->serves = true;
	if (!error && streq(call->member, "GetManagedObjects"))
		take_objects(c, call, m);
}

/* Calls */

static sd_bus_message *new_call(Clients *c, const char *path, const char *interface,
				const char *member)
{
	sd_bus_message *m = NULL;

	LAW(sd_bus_message_new_method_call(peer_bus(c->peer), &m, RDMAD_BUS_NAME, path, interface,
					   member) >= 0,
	    "no memory");
	return m;
}

/* Sends M, which CLIENT calls. */
static Call *send_call(Clients *c, sd_bus_message *m, unsigned int client, const char *member)
{
	Call *call = c->calls;

	while (call->open)
		call++;
	*call = (Call){
		.open = true, .when_usec = virtual_now_usec(), .client = client, .member = member};
	note("client %u calls %s of %s", client, member, sd_bus_message_get_path(m));
	LAW(sd_bus_message_set_sender(m, peer_client_name(c->peer, client)) >= 0 &&
		    sd_bus_send(peer_bus(c->peer), m, &call->cookie) >= 0,
	    "the call cannot be sent");
	return call;
}

static void call_objects(Clients *c, unsigned int client)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m =
		new_call(c, RDMAD_ROOT_PATH, OBJECT_MANAGER, "GetManagedObjects");

	send_call(c, m, client, "GetManagedObjects");
}

/* A port that the core knows, or a path that is none */
static void any_path(Clients *c, char ret[RDMAD_PATH_MAX])
{
	const Cache *cache = c->cache;
	const Device *d = cache->n_devices
				  ? cache->devices[lots_below(c->lots, (uint32_t)cache->n_devices)]
				  : NULL;
	uint32_t port = lots_below(c->lots, 4);

	snprintf(ret, RDMAD_PATH_MAX, RDMAD_DEVICE_PREFIX "/%u/port/%u", d ? d->index : 0, port);
}

/* A call without arguments but options */
typedef struct Method {
	const char *interface, *member;
	bool of_port;
} Method;

static const Method methods[] = {
	{RDMAD_INTERFACE_MANAGER, "WaitFor", false},
	{RDMAD_INTERFACE_MANAGER, "WaitFor", false},
	{RDMAD_INTERFACE_PORT, "Query", true},
	{RDMAD_INTERFACE_PORT, "Query", true},
	{RDMAD_INTERFACE_PORT, "GetHistory", true},
	{RDMAD_INTERFACE_PORT, "GetUsers", true},
	{RDMAD_INTERFACE_MANAGER, "GetCounters", false},
	{RDMAD_INTERFACE_MANAGER, "GetCounters", false},
	{RDMAD_INTERFACE_MANAGER, "ListPorts", false},
	{RDMAD_INTERFACE_MANAGER, "ListHistories", false},
	{RDMAD_INTERFACE_MANAGER, "Refresh", false},
};

/* For a port that may come or not */
static void call_wait_for(Clients *c, unsigned int client)
{
	static const char *const states[] = {"down", "init", "active"};
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m =
		new_call(c, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "WaitFor");
	const char *state = states[lots_below(c->lots, ARRAY_SIZE(states))];
	/* compilers call functions among arguments in different orders */
	uint32_t device = lots_below(c->lots, 4), number = 1 + lots_below(c->lots, 3);
	uint64_t timeout_usec = lots_below(c->lots, 5 * USEC_PER_SEC);
	char port[16];

	snprintf(port, sizeof(port), "mlx5_%u/%u", device, number);
	LAW(sd_bus_message_append(m, "a{sv}t", 2, "ports", "as", 1, port, "state", "s", state,
				  timeout_usec) >= 0,
	    "no memory");
	send_call(c, m, client, "WaitFor");
}

static void call_method(Clients *c, unsigned int client)
{
	const Method *method = &methods[lots_below(c->lots, ARRAY_SIZE(methods))];
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	char path[RDMAD_PATH_MAX] = RDMAD_ROOT_PATH;
	bool has_age = lots_once_in(c->lots, 3) && streq(method->member, "Query");

	if (method->of_port)
		any_path(c, path);
	if (streq(method->member, "WaitFor")) {
		call_wait_for(c, client);
		return;
	}
	m = new_call(c, path, method->interface, method->member);
	LAW(sd_bus_message_open_container(m, 'a', "{sv}") >= 0, "no memory");
	if (has_age)
		LAW(sd_bus_message_append(m, "{sv}", "max-age-usec", "t",
					  (uint64_t)lots_below(c->lots, 1000000)) >= 0,
		    "no memory");
	LAW(sd_bus_message_close_container(m) >= 0, "no memory");
	send_call(c, m, client, method->member);
}

bool clients_are_served(const Clients *c)
{
	return c->peer && c->serves;
}

/* Whether there is a bus with the core on it, and room for a call and the one of clients_read() */
static bool can_call(const Clients *c)
{
	unsigned int n = 0;

	for (size_t i = 0; i < CALLS_MAX; i++)
		n += c->calls[i].open;
	return c->peer && peer_is_ready(c->peer) && n < CALLS_MAX - 1;
}

void clients_call(Clients *c)
{
	unsigned int client = lots_below(c->lots, PEER_CLIENTS);

	if (!can_call(c))
		return;
	/* two of them follow */
	if (lots_once_in(c->lots, 6))
		call_objects(c, client % 2);
	else
		call_method(c, client);
}

static void forget_calls(Clients *c, unsigned int client)
{
	for (size_t i = 0; i < CALLS_MAX; i++)
		if (c->calls[i].client == client)
			c->calls[i].open = false;
}

void clients_leave(Clients *c)
{
	unsigned int client = lots_below(c->lots, PEER_CLIENTS);

	if (!can_call(c))
		return;
	note("client %u leaves", client);
	forget_calls(c, client);
	forget_objects(&c->clients[client]);
	peer_client_leaves(c->peer, client);
}

/* The bus */

static void connect(Clients *c)
{
	note("the core connects to the bus");
	c->serves = false;
	c->peer = peer_new(on_reply, c);
	peer_listen(c->peer, on_signal);
}

void clients_drop(Clients *c)
{
	c->peer = peer_free(c->peer);
	peer_refuse_all();
	memset(c->states, 0, sizeof(c->states));
	c->stands_still = false;
	for (unsigned int i = 0; i < PEER_CLIENTS; i++) {
		forget_calls(c, i);
		forget_objects(&c->clients[i]);
	}
	clients_excuse(c);
}

void clients_fault(Clients *c)
{
	if (c->peer && lots_once_in(c->lots, 8)) {
		note("the bus goes");
		clients_drop(c);
		return;
	}
	c->stands_still = !c->stands_still;
	note("the bus %s", c->stands_still ? "stands still" : "goes on");
	clients_excuse(c);
}

void clients_heal(Clients *c)
{
	if (c->stands_still)
		clients_excuse(c);
	c->stands_still = false;
}

void clients_excuse(Clients *c)
{
	c->excused_usec = virtual_now_usec() + 1;
}

bool clients_process(Clients *c)
{
	bool did = false;

	if (!c->peer && peer_is_awaited()) {
		connect(c);
		did = true;
	}
	if (!c->peer || c->stands_still)
		return did;
	while (peer_n_questions(c->peer) > 0) {
		/* some are not told whose the connection is */
		peer_answer_question(c->peer, 1000, ++c->n_questions % 16 == 0);
		did = true;
	}
	return peer_process(c->peer) || did;
}

/* Laws */

bool clients_wait(const Clients *c)
{
	for (size_t i = 0; i < CALLS_MAX; i++)
		if (c->calls[i].open)
			return true;
	return false;
}

void clients_read(Clients *c)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

	LAW(can_call(c), "the core has not come back to the bus");
	c->has_read = false;
	c->read_signals = c->n_signals;
	m = new_call(c, RDMAD_ROOT_PATH, OBJECT_MANAGER, "GetManagedObjects");
	send_call(c, m, 0, "GetManagedObjects")->is_check = true;
}

bool clients_check(Clients *c)
{
	if (!c->has_read || c->n_signals != c->read_signals)
		return false;
	c->has_read = false;
	for (size_t i = 0; i < PEER_CLIENTS; i++)
		if (c->clients[i].follows)
			LAW(objects_differ(&c->clients[i].objects, &c->read, stderr) == 0,
			    "client %zu knows other things from the signals", i);
	note("%zu objects, %ju signals", c->read.n, (uintmax_t)c->n_signals);
	return true;
}

void clients_serve(Clients *c, const Cache *cache)
{
	c->cache = cache;
}

const struct Objects *clients_published(const Clients *c)
{
	return &c->read;
}

Clients *clients_new(Lots *lots, uint64_t wait_usec)
{
	Clients *c = calloc(1, sizeof(*c));

	LAW(c, "no memory");
	c->lots = lots;
	c->wait_usec = wait_usec;
	return c;
}

void clients_free(Clients *c)
{
	for (size_t i = 0; i < PEER_CLIENTS; i++)
		objects_done(&c->clients[i].objects);
	objects_done(&c->read);
	peer_free(c->peer);
	free(c);
}
