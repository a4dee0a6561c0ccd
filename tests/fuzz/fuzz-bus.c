/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Clients on the bus: each method of each object, with arguments of right and wrong types, from
 * several connections, which come and leave while ports change and the bus is slow to say whose a
 * connection is. The input is a list of such steps.
 *
 * Whatever comes: each call that wants a reply gets one, and its type is that of the method; a call
 * that wants none gets none; nothing is sent to another connection than the caller's; errors of
 * rdmad are short, safe to show, and say something; the daemon stays on the bus.
 */

#include "bus-methods.h"
#include "bus-peer.h"
#include "bus-world.h"
#include "log.h"
#include "message.h"
#include "names.h"

#define STEPS_MAX 48U
#define CALLS_MAX STEPS_MAX
/* The longest text of an error: that of WaitFor names ports, at most WAIT_PORTS_MAX. */
#define ERROR_MAX 8192U
#define SLOW_RATE 65536U

typedef struct Call {
	uint64_t cookie;
	const BusMethod *method; /* NULL: it was made up */
	char caller[24];
	unsigned int client;
	bool wants_reply, caller_left, answered;
} Call;

typedef struct Fuzz {
	FuzzInput in;
	World world;
	Peer *peer;
	Call calls[CALLS_MAX];
	size_t n_calls;
	bool slow;     /* long replies have to wait for their turn */
	bool all_left; /* and the daemon has heard it */
} Fuzz;

static BusMethods methods;

/* instead of the one of room-shared: what LogLevel lets through is for nobody */
int __wrap_log_full(int level, int r, const char *format, ...);
int __wrap_log_full(_unused_ int level, int r, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	errno = -r;
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return r;
}

/* Both ends do all they can. */
static void settle(Fuzz *f)
{
	bool more = true;

	while (more) {
		int r = sd_event_run(f->world.event, 0);

		FUZZ_CHECK(r >= 0);
		more = peer_process(f->peer) || r > 0;
	}
	FUZZ_CHECK(!f->world.disconnected);
}

/* Replies */

static Call *find_call(Fuzz *f, uint64_t cookie)
{
	for (size_t i = 0; i < f->n_calls; i++)
		if (f->calls[i].cookie == cookie)
			return &f->calls[i];
	return NULL;
}

static void check_error(const sd_bus_error *error)
{
	FUZZ_CHECK(error->name && error->message && *error->message);
	if (strncmp(error->name, "org.rdma.", strlen("org.rdma.")) != 0)
		return;
	FUZZ_CHECK(strlen(error->message) <= ERROR_MAX);
	check_lines(error->message);
}

/* Whether the reply to C can be a long one. A method that is not named may be any. */
static bool can_be_long(const Call *c)
{
	static const char *const members[] = {
		"GetManagedObjects", "GetAll",	   "Get",	  "ListPorts",
		"FindPorts",	     "GetHistory", "GetEvidence", "ListHistories",
		"GetUsers",	     "Introspect", "GetCounters",
	};

	for (size_t i = 0; c->method && i < ARRAY_SIZE(members); i++)
		if (streq(c->method->member, members[i]))
			return true;
	return !c->method;
}

static void on_reply(void *userdata, uint64_t cookie, sd_bus_message *reply)
{
	Fuzz *f = userdata;
	Call *call = find_call(f, cookie);

	FUZZ_CHECK(call && call->wants_reply && !call->answered);
	/* A client may have left before rdmad has had a reason to hear of it. Then a long reply may
	 * still be on its way; nothing else is. */
	FUZZ_CHECK(!f->all_left || (f->slow && can_be_long(call)));
	FUZZ_CHECK(streq(sd_bus_message_get_destination(reply), call->caller));
	call->answered = true;
	if (sd_bus_message_is_method_error(reply, NULL))
		check_error(sd_bus_message_get_error(reply));
	else if (call->method)
		FUZZ_CHECK(streq(sd_bus_message_get_signature(reply, true), call->method->out));
}

/* All has been answered that the harness had to answer. Who still waits for a reply? */
static void check_calls(const Fuzz *f)
{
	for (size_t i = 0; i < f->n_calls; i++) {
		const Call *c = &f->calls[i];

		if (c->answered || !c->wants_reply || c->caller_left)
			continue;
		FUZZ_CHECK((f->slow && can_be_long(c)) ||
			   (c->method && streq(c->method->member, "WaitFor")));
	}
}

/* Calls */

/* The length of the first complete type in SIGNATURE. */
static size_t type_length(const char *signature)
{
	size_t n = 0, depth = 0;

	while (signature[n] == 'a')
		n++;
	do {
		depth += signature[n] == '(' || signature[n] == '{';
		depth -= signature[n] == ')' || signature[n] == '}';
		n++;
	} while (depth > 0);
	return n;
}

static int append_arguments(sd_bus_message *m, FuzzInput *in, const char *signature)
{
	char type[32];
	size_t n;

	for (; *signature; signature += n) {
		int r;

		n = type_length(signature);
		snprintf(type, sizeof(type), "%.*s", (int)n, signature);
		r = message_append(m, in, type);
		if (r < 0)
			return r;
	}
	return 0;
}

/* A signature that the method has not asked for. */
static const char *wrong_signature(FuzzInput *in)
{
	static const char *const signatures[] = {
		"",  "s",  "ss", "ssv", "v",  "a{sv}", "sa{sv}",  "a{sv}t", "h",
		"t", "as", "ah", "hh",	"sh", "(hs)",  "a{sv}ah", "av",	    "sssss",
	};

	return signatures[input_u8(in) % ARRAY_SIZE(signatures)];
}

/* What is unusual about a call: bits of a byte of the input. */
enum {
	CALL_CLIENT = 3,
	CALL_NO_REPLY = 1 << 2,
	CALL_OTHER_ARGUMENTS = 1 << 3,
	CALL_OTHER_OBJECT = 1 << 4,
	CALL_OTHER_MEMBER = 1 << 5,
	CALL_NO_INTERFACE = 1 << 6,
	CALL_OTHER_INTERFACE = 1 << 7,
};

/* One of the words that may be the name of an interface or of a method. */
static const char *choose_word(FuzzInput *in, bool interface)
{
	const char *word = methods.words[input_u8(in) % methods.n_words];

	if (interface)
		return strchr(word, '.') ? word : "org.example.None";
	return strchr(word, '.') ? "None" : word;
}

#define LONG "a123456789b123456789c123456789d123456789e123456789f123456789"

static const char *choose_path(FuzzInput *in)
{
	static const char *const paths[] = {
		"/",
		"/org",
		"/org/rdma/device",
		"/org/rdma/device/0/port",
		"/org/rdma/device/1",
		"/org/rdma/device/00",
		"/org/rdma/device/4294967303",
		"/org/rdma/device/0/port/1025",
		"/org/rdma/device/0/port/1/a",
		"/org/rdma/device/0/port/1/" LONG LONG,
	};
	uint8_t choice = input_u8(in);

	return choice < ARRAY_SIZE(paths) ? paths[choice]
					  : methods.methods[choice % methods.n_methods].path;
}

static sd_bus_message *new_call(Fuzz *f, const BusMethod *method, uint8_t flags)
{
	const char *path = method->path, *interface = method->interface, *member = method->member;
	sd_bus_message *m = NULL;

	if (flags & CALL_OTHER_OBJECT)
		path = choose_path(&f->in);
	if (flags & CALL_OTHER_MEMBER)
		member = choose_word(&f->in, false);
	if (flags & CALL_OTHER_INTERFACE)
		interface = choose_word(&f->in, true);
	if (flags & CALL_NO_INTERFACE)
		interface = NULL;
	FUZZ_CHECK(sd_bus_message_new_method_call(peer_bus(f->peer), &m, RDMAD_BUS_NAME, path,
						  interface, member) >= 0);
	return m;
}

/* Whether M is sent. It is not if it has more descriptors than the kernel takes. */
static bool send_message(Fuzz *f, sd_bus_message *m, uint64_t *ret_cookie)
{
	int r = sd_bus_send(peer_bus(f->peer), m, ret_cookie);

	FUZZ_CHECK(r >= 0 || r == -EINVAL);
	return r >= 0;
}

static void send_call(Fuzz *f)
{
	uint8_t flags = input_u8(&f->in);
	const BusMethod *method = &methods.methods[input_u8(&f->in) % methods.n_methods];
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = new_call(f, method, flags);
	unsigned int client = flags & CALL_CLIENT;
	Call *c = &f->calls[f->n_calls];

	*c = (Call){
		.client = client,
		.wants_reply = !(flags & CALL_NO_REPLY),
		.method = flags & ~(CALL_CLIENT | CALL_NO_REPLY | CALL_OTHER_ARGUMENTS) ? NULL
											: method,
	};
	snprintf(c->caller, sizeof(c->caller), "%s", peer_client_name(f->peer, client));
	if (append_arguments(m, &f->in,
			     flags & CALL_OTHER_ARGUMENTS ? wrong_signature(&f->in) : method->in) <
	    0)
		return;
	FUZZ_CHECK(sd_bus_message_set_sender(m, c->caller) >= 0);
	FUZZ_CHECK(sd_bus_message_set_expect_reply(m, c->wants_reply) >= 0);
	if (!send_message(f, m, &c->cookie))
		return;
	f->n_calls++;
}

/* The other steps */

/* A client sends something that is no call. */
static void send_other(Fuzz *f)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	sd_bus *bus = peer_bus(f->peer);
	uint8_t flags = input_u8(&f->in);
	const char *path = choose_path(&f->in);
	const char *interface = choose_word(&f->in, true);
	const char *member = choose_word(&f->in, false);

	FUZZ_CHECK(sd_bus_message_new_signal(bus, &m, path, interface, member) >= 0);
	if (append_arguments(m, &f->in, wrong_signature(&f->in)) < 0)
		return;
	FUZZ_CHECK(sd_bus_message_set_sender(m, peer_client_name(f->peer, flags & CALL_CLIENT)) >=
		   0);
	(void)send_message(f, m, NULL);
}

static void leave(Fuzz *f, unsigned int client)
{
	peer_client_leaves(f->peer, client);
	for (size_t i = 0; i < f->n_calls; i++)
		if (f->calls[i].client == client)
			f->calls[i].caller_left = true;
}

static void answer_question(Fuzz *f)
{
	uint8_t choice = input_u8(&f->in);

	peer_answer_question(f->peer, choice < 128 ? 1000U + choice % 3U : geteuid(),
			     choice == UINT8_MAX);
}

static void change_port(Fuzz *f)
{
	uint8_t choice = input_u8(&f->in);
	Port *p = world_port(&f->world, choice % WORLD_PORTS);

	if (choice == UINT8_MAX)
		world_toggle_device(&f->world);
	else if (p)
		world_change(&f->world, p, 1U + choice / WORLD_PORTS % 5U);
}

static void answer_calls(Fuzz *f)
{
	static const int errors[] = {0, -ETIMEDOUT, -EIO, -ENODEV};
	uint8_t choice = input_u8(&f->in);

	world_answer(&f->world, errors[choice % ARRAY_SIZE(errors)]);
	f->world.answer = choice / ARRAY_SIZE(errors) % _WORLD_ANSWER_MAX;
}

static void step(Fuzz *f)
{
	uint8_t choice = input_u8(&f->in) % 16;

	switch (choice) {
	case 0:
		settle(f);
		break;
	case 1:
		answer_question(f);
		break;
	case 2:
		leave(f, input_u8(&f->in) % PEER_CLIENTS);
		break;
	case 3:
		change_port(f);
		break;
	case 4:
		answer_calls(f);
		break;
	case 5:
		send_other(f);
		break;
	default:
		send_call(f);
	}
}

/* Whoever can be answered is. */
static void answer_all(Fuzz *f)
{
	size_t before;

	do {
		before = f->n_calls;
		settle(f);
		while (peer_n_questions(f->peer) > 0)
			peer_answer_question(f->peer, 1000, false);
		settle(f);
		world_answer(&f->world, 0);
		settle(f);
	} while (peer_n_questions(f->peer) > 0 || before != f->n_calls);
}

static void open_connection(Fuzz *f, bool large)
{
	world_init(&f->world, peer_address(), large, f->slow ? SLOW_RATE : 0);
	f->peer = peer_new(on_reply, f);
	while (!peer_is_ready(f->peer))
		settle(f);
	settle(f);
}

static void close_connection(Fuzz *f)
{
	for (unsigned int i = 0; i < PEER_CLIENTS; i++)
		leave(f, i);
	settle(f);
	f->all_left = true;
	/* Who waits for a port has left: nothing may be kept for it. */
	for (unsigned int state = 1; state < 6; state++)
		if (f->n_calls > 0)
			world_change(&f->world, world_port(&f->world, 0), state);
	settle(f);
	world_done(&f->world);
	peer_free(f->peer);
}

/* The methods that there are: asked once. */

static void on_introspection(void *userdata, _unused_ uint64_t cookie, sd_bus_message *reply)
{
	const char *xml, *path = *(const char *const *)userdata;

	FUZZ_CHECK(sd_bus_message_read_basic(reply, 's', &xml) > 0);
	bus_methods_add(&methods, path, xml);
}

static void introspect(void)
{
	static const char *const paths[] = {
		RDMAD_ROOT_PATH,
		"/org/rdma/device/0",
		"/org/rdma/device/0/port/1",
		"/org/freedesktop/LogControl1",
	};
	static const char *const others[] = {
		"mlx5_0/1",   "mlx5_0",	 "rocep1", "fe80::", "ports",	     "state",  "gid",
		"any",	      "mtu",	 "rate",   "lid",    "type",	     "netdev", "active",
		"configured", "RoCE v2", "debug",  "info",   "max-age-usec",
	};
	static const char *words[MESSAGE_WORDS_MAX];
	const char *path = NULL;
	Fuzz f = {};
	size_t n = 0;

	world_init(&f.world, peer_address(), false, 0);
	f.peer = peer_new(on_introspection, &path);
	while (!peer_is_ready(f.peer))
		settle(&f);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

		path = paths[i];
		FUZZ_CHECK(sd_bus_message_new_method_call(
				   peer_bus(f.peer), &m, RDMAD_BUS_NAME, path,
				   "org.freedesktop.DBus.Introspectable", "Introspect") >= 0);
		FUZZ_CHECK(sd_bus_message_set_sender(m, peer_client_name(f.peer, 0)) >= 0);
		FUZZ_CHECK(sd_bus_send(peer_bus(f.peer), m, &(uint64_t){0}) >= 0);
		settle(&f);
	}
	close_connection(&f);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		words[n++] = others[i];
	for (size_t i = 0; i < methods.n_words && n < MESSAGE_WORDS_MAX; i++)
		words[n++] = methods.words[i];
	message_set_words(words, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Fuzz f = {.in = {data, size}};
	uint8_t setting = input_u8(&f.in);

	if (methods.n_methods == 0)
		introspect();
	log_max_level = LOG_ERR;
	f.slow = setting & 1;
	open_connection(&f, setting & 2);
	f.world.answer = setting / 4 % _WORLD_ANSWER_MAX;
	for (unsigned int n = 0; n < STEPS_MAX && f.in.left > 0; n++)
		step(&f);
	answer_all(&f);
	check_calls(&f);
	close_connection(&f);
	return 0;
}
