/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A bus that does not say whose a connection is, or much later. It is this program: it answers the
 * daemon's Hello() and RequestName(), and the rest as each test wants. The calls of clients come
 * from it, too.
 */

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "calls.h"
#include "process.h"

#define SCENARIO   "[device mlx5_%d]\nprotocol = infiniband\ncount = 40\n"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define LOG_PATH   "/org/freedesktop/LogControl1"
#define LOG	   "org.freedesktop.LogControl1"
#define OTHER_USER 12345U
/* A connection whose user the daemon knows: its calls need not wait for that. */
#define KNOWN ":1.2"

/* AddressSanitizer keeps memory that was freed. */
#ifdef RDMAD_SANITIZE
#define RESIDENT_MAX_KIB (1024 * 1024U)
#else
#define RESIDENT_MAX_KIB (64 * 1024U)
#endif

typedef struct SilentBus {
	Fixture *f;
	int listening;
	sd_bus *peer;			 /* the connection to the daemon */
	const char *client;		 /* who makes the next calls */
	const char *refusal;		 /* what the next RequestName() gets in place of the name */
	bool named;			 /* the daemon has its name */
	sd_bus_message *questions[1024]; /* GetConnectionUnixUser() that have no answer yet */
	size_t n_questions;
	sd_bus_message *match; /* the last AddMatch() */
} SilentBus;

static int on_call(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	SilentBus *s = userdata;

	if (sd_bus_message_is_method_call(m, NULL, "Hello"))
		return sd_bus_reply_method_return(m, "s", ":1.1");
	if (sd_bus_message_is_method_call(m, NULL, "RequestName")) {
		if (s->refusal)
			return sd_bus_reply_method_errorf(m, steal_pointer(&s->refusal), "test");
		s->named = true;
		return sd_bus_reply_method_return(m, "u", 1);
	}
	if (sd_bus_message_is_method_call(m, NULL, "GetConnectionUnixUser")) {
		assert_true(s->n_questions < ARRAY_SIZE(s->questions));
		s->questions[s->n_questions++] = sd_bus_message_ref(m);
	} else if (sd_bus_message_is_method_call(m, NULL, "AddMatch")) {
		sd_bus_message_unref(s->match);
		s->match = sd_bus_message_ref(m);
	} else if (!sd_bus_message_is_method_call(m, NULL, NULL)) {
		return 0; /* the daemon's replies */
	}
	return 1;
}

/* Waits for one more message from the daemon. */
static void process(SilentBus *s)
{
	int r = sd_bus_process(s->peer, NULL);

	if (r < 0)
		fail_msg("the daemon has closed its connection: %s", strerror(-r));
	if (r == 0 && sd_bus_wait(s->peer, 60 * USEC_PER_SEC) == 0)
		fail_msg("the daemon says nothing");
}

static int teardown(void **state)
{
	SilentBus *s = *state;
	int status;

	kill(s->f->daemon_pid, SIGTERM);
	while (s->n_questions > 0)
		sd_bus_message_unref(s->questions[--s->n_questions]);
	sd_bus_message_unref(s->match);
	sd_bus_close_unref(s->peer);
	close(s->listening);
	status = fixture_wait_process(s->f->daemon_pid);
	s->f->daemon_pid = 0;
	fixture_free(s->f);
	free(s);
	return status;
}

/* A call of the client, and its reply when there is one. */
typedef struct Call {
	sd_bus_message *reply;
} Call;

static void call_done(Call *c)
{
	sd_bus_message_unref(c->reply);
}

static int on_reply(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Call *c = userdata;

	c->reply = sd_bus_message_ref(m);
	return 1;
}

static void send_call(SilentBus *s, Call *c, const char *path, const char *interface,
		      const char *member, const char *types, ...)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	va_list args;

	assert_true(sd_bus_message_new_method_call(s->peer, &m, RDMAD_BUS_NAME, path, interface,
						   member) >= 0);
	va_start(args, types);
	assert_true(sd_bus_message_appendv(m, types, args) >= 0);
	va_end(args);
	assert_true(sd_bus_message_set_sender(m, s->client) >= 0);
	assert_true(sd_bus_call_async(s->peer, NULL, m, on_reply, c, UINT64_MAX) >= 0);
}

/* The daemon serves a call. */
static void ping(SilentBus *s)
{
	const char *client = s->client;
	Call c = {};

	s->client = KNOWN;
	send_call(s, &c, RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping", "");
	while (!c.reply)
		process(s);
	call_done(&c);
	s->client = client;
}

static void set_level(SilentBus *s, Call *c, const char *level)
{
	send_call(s, c, LOG_PATH, PROPERTIES, "Set", "ssv", LOG, "LogLevel", "s", level);
}

/* A question without an answer, to be freed. */
static sd_bus_message *wait_question(SilentBus *s)
{
	while (s->n_questions == 0)
		process(s);
	return s->questions[--s->n_questions];
}

/* Answers the question whose the connection is. */
static void answer_later(SilentBus *s, uint32_t user)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *question = wait_question(s);

	assert_true(sd_bus_reply_method_return(question, "u", user) >= 0);
}

/* And waits for the answer to C. */
static void answer_user(SilentBus *s, Call *c, uint32_t user)
{
	answer_later(s, user);
	while (!c->reply)
		process(s);
}

/* The daemon knows who KNOWN is. */
static void introduce(SilentBus *s)
{
	ping(s);
	answer_later(s, OTHER_USER + 2);
}

/* Starts a daemon, which connects to this bus. */
static SilentBus *start(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	SilentBus *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->f = fixture_new();
	s->client = ":1.7";
	s->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/silent", s->f->directory);
	assert_int_equal(bind(s->listening, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(s->listening, 8), 0);
	snprintf(s->f->address, sizeof(s->f->address), "unix:path=%s", address.sun_path);
	s->f->daemon_pid = fixture_spawn_daemon(s->f, SCENARIO, NULL);
	return s;
}

static void take_connection(SilentBus *s)
{
	static const sd_id128_t id = {.bytes = {1}};
	struct pollfd p = {.fd = s->listening, .events = POLLIN};
	int fd;

	assert_int_equal(poll(&p, 1, 60000), 1);
	fd = accept4(s->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	assert_true(fd >= 0);
	assert_true(sd_bus_new(&s->peer) >= 0);
	assert_true(sd_bus_set_fd(s->peer, fd, fd) >= 0);
	assert_true(sd_bus_set_server(s->peer, true, id) >= 0);
	assert_true(sd_bus_negotiate_fds(s->peer, true) >= 0);
	assert_true(sd_bus_start(s->peer) >= 0);
	assert_true(sd_bus_add_filter(s->peer, NULL, on_call, s) >= 0);
	/* What has been written is read by the daemon soon: the buffer of sd-bus has 8 MiB. */
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){65536}, sizeof(int)), 0);
}

static int setup(void **state)
{
	SilentBus *s = start();

	take_connection(s);
	while (!s->named)
		process(s);
	introduce(s);
	*state = s;
	return 0;
}

static void assert_level(SilentBus *s, const char *expected)
{
	_cleanup_(call_done) Call c = {};
	const char *level, *client = s->client;

	s->client = KNOWN;
	send_call(s, &c, LOG_PATH, PROPERTIES, "Get", "ss", LOG, "LogLevel");
	while (!c.reply)
		process(s);
	assert_true(sd_bus_message_read(c.reply, "v", "s", &level) >= 0);
	assert_string_equal(level, expected);
	s->client = client;
}

/* The daemon serves calls of others while it does not know who wants to change the log. Were it to
 * wait for that, it would answer the calls in their order. */
static void test_log_level(void **state)
{
	SilentBus *s = *state;
	_cleanup_(call_done) Call root = {}, own = {}, other = {};

	set_level(s, &root, "debug");
	ping(s);
	assert_null(root.reply);
	assert_level(s, "info");
	answer_user(s, &root, 0);
	assert_false(sd_bus_message_is_method_error(root.reply, NULL));
	assert_level(s, "debug");

	s->client = ":1.8";
	set_level(s, &other, "err");
	answer_user(s, &other, OTHER_USER);
	assert_true(sd_bus_message_is_method_error(other.reply, SD_BUS_ERROR_ACCESS_DENIED));
	assert_level(s, "debug");

	s->client = ":1.9";
	set_level(s, &own, "warning");
	answer_user(s, &own, geteuid());
	assert_false(sd_bus_message_is_method_error(own.reply, NULL));
	assert_level(s, "warning");
}

/* The methods that ask. */
static void send_asking(SilentBus *s, Call c[4])
{
	send_call(s, &c[0], RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "OpenSnapshot", "a{sv}", 0);
	send_call(s, &c[1], RDMAD_ROOT_PATH, "org.freedesktop.DBus.ObjectManager",
		  "GetManagedObjects", "");
	send_call(s, &c[2], RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "WaitFor", "a{sv}t", 1,
		  "ports", "as", 1, "other", UINT64_MAX);
	set_level(s, &c[3], "debug");
}

/* Answers the one question for all calls of the client with the error NAME. */
static void answer_error(SilentBus *s, const char *name)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *question = NULL;

	ping(s);
	question = wait_question(s);
	assert_int_equal(s->n_questions, 0);
	assert_true(sd_bus_reply_method_errorf(question, name, "test") >= 0);
	ping(s);
}

/* sd-bus makes NoReply of an answer that does not come in time. The caller is still there. */
static void test_user_is_unknown(void **state)
{
	SilentBus *s = *state;
	Call c[4] = {};

	send_asking(s, c);
	answer_error(s, SD_BUS_ERROR_NO_REPLY);
	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		if (!c[i].reply)
			fail_msg("call %zu has no answer", i);
		assert_true(sd_bus_message_is_method_error(c[i].reply, SD_BUS_ERROR_TIMEOUT));
		call_done(&c[i]);
	}
}

/* Nobody is there any more to be answered. */
static void test_caller_has_left(void **state)
{
	SilentBus *s = *state;
	Call c[4] = {};

	send_asking(s, c);
	answer_error(s, SD_BUS_ERROR_NAME_HAS_NO_OWNER);
	for (size_t i = 0; i < ARRAY_SIZE(c); i++)
		assert_null(c[i].reply);
}

/* The connection ends before the daemon has its name, or the bus is too slow: the daemon connects
 * again. sd-bus makes these errors, by its version. */
static void test_name_has_no_answer(void **state)
{
	static const char *const errors[] = {SD_BUS_ERROR_NO_REPLY, SD_BUS_ERROR_DISCONNECTED,
					     "System.Error.EPIPE"};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		SilentBus *s = start();

		*state = s;
		s->refusal = errors[i];
		take_connection(s);
		while (s->refusal)
			process(s);
		s->peer = sd_bus_flush_close_unref(s->peer);
		take_connection(s);
		while (!s->named)
			process(s);
		ping(s);
		assert_int_equal(teardown(state), 0);
	}
}

/* The daemon stays on a bus that does not tell it of callers that leave. */
static void test_no_departures(void **state)
{
	SilentBus *s = *state;
	_cleanup_(call_done) Call c = {};

	send_call(s, &c, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "WaitFor", "a{sv}t", 1, "ports",
		  "as", 1, "other", UINT64_C(1000));
	while (!s->match)
		process(s);
	assert_true(sd_bus_reply_method_errorf(s->match, SD_BUS_ERROR_NO_REPLY, "test") >= 0);
	while (!c.reply)
		process(s);
	assert_true(sd_bus_message_is_method_error(c.reply, RDMAD_ERROR_WAIT_TIMEOUT));
	ping(s);
}

/* More calls than the daemon can answer in its time for one user: it may refuse some, and drop
 * some, before much waits to be sent. Another user gets an answer. */
static void test_too_many_calls(void **state)
{
	enum { CALLS = 20000 };
	SilentBus *s = *state;
	Call first = {}, other = {};
	Replies r = {};

	send_call(s, &first, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", "a{sv}", 0);
	answer_user(s, &first, OTHER_USER);
	for (unsigned int i = 0; i < CALLS; i++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

		assert_true(sd_bus_message_new_method_call(s->peer, &m, RDMAD_BUS_NAME,
							   RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
							   "ListPorts") >= 0);
		assert_true(sd_bus_message_append(m, "a{sv}", 0) >= 0);
		assert_true(sd_bus_message_set_sender(m, s->client) >= 0);
		assert_true(sd_bus_call_async(s->peer, NULL, m, calls_on_reply, &r, UINT64_MAX) >=
			    0);
	}
	s->client = ":1.8";
	send_call(s, &other, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "ListPorts", "a{sv}", 0);
	answer_later(s, OTHER_USER + 1);
	while (!other.reply) {
		unsigned long resident = process_resident_kib(s->f->daemon_pid);

		if (r.good + r.limit == 0)
			print_message("the daemon has %lu KiB\n", resident);
		assert_true(resident < RESIDENT_MAX_KIB);
		process(s);
	}
	print_message("%u replies, %u refused\n", r.good, r.limit);
	assert_false(sd_bus_message_is_method_error(other.reply, NULL));
	call_done(&other);
	call_done(&first);
	assert_int_equal(r.other, 0);
	assert_true(r.good > 0);
	ping(s);
	assert_level(s, "info");
}

/* Whatever is called: the daemon does not wait for the bus */

/* A call by a connection that the daemon has not heard of before, and then a Ping: it is answered.
 * Were the daemon to wait for the bus, sd-bus would do so for 25 seconds. */
static void call_as_stranger(SilentBus *s, sd_bus_message *m)
{
	_cleanup_(call_done) Call ping = {};
	_cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;
	static unsigned int n = 100;
	char name[16];
	Call c = {};
	int r;

	snprintf(name, sizeof(name), ":1.%u", n++);
	assert_true(sd_bus_message_set_sender(m, name) >= 0);
	r = sd_bus_call_async(s->peer, &slot, m, on_reply, &c, UINT64_MAX);
	if (r < 0)
		fail_msg("%s.%s of %s: %s", sd_bus_message_get_interface(m),
			 sd_bus_message_get_member(m), sd_bus_message_get_path(m), strerror(-r));
	s->client = KNOWN;
	send_call(s, &ping, RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping", "");
	while (!ping.reply) {
		int k = sd_bus_process(s->peer, NULL);

		assert_true(k >= 0);
		if (k == 0 && sd_bus_wait(s->peer, 60 * USEC_PER_SEC) == 0)
			fail_msg("%s.%s of %s: the daemon waits", sd_bus_message_get_interface(m),
				 sd_bus_message_get_member(m), sd_bus_message_get_path(m));
	}
	call_done(&c);
}

/* Appends one value of each type in TYPES. */
static void append_values(sd_bus_message *m, const char *types)
{
	for (; *types; types++) {
		char contents[16] = {types[1]};

		switch (*types) {
		case 's':
			assert_true(sd_bus_message_append(m, "s", "x") >= 0);
			break;
		case 'u':
			assert_true(sd_bus_message_append(m, "u", 1) >= 0);
			break;
		case 't':
			assert_true(sd_bus_message_append(m, "t", UINT64_C(1000)) >= 0);
			break;
		case 'b':
			assert_true(sd_bus_message_append(m, "b", false) >= 0);
			break;
		case 'v':
			assert_true(sd_bus_message_append(m, "v", "s", "x") >= 0);
			break;
		case 'a':
			if (types[1] == '{')
				text_copy(contents, (size_t)(strchr(types, '}') - types) + 1,
					  types + 1);
			assert_true(sd_bus_message_open_container(m, 'a', contents) >= 0);
			assert_true(sd_bus_message_close_container(m) >= 0);
			types += strlen(contents);
			break;
		default:
			fail_msg("a method takes a value of type %s", types);
		}
	}
}

static void call_method(SilentBus *s, const char *path, const char *interface, const char *member,
			const char *types)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_method_call(s->peer, &m, RDMAD_BUS_NAME, path, interface,
						   member) >= 0);
	append_values(m, types);
	call_as_stranger(s, m);
}

/* Get() and Set(). */
static void call_property(SilentBus *s, const char *path, const char *interface, const char *name)
{
	for (unsigned int set = 0; set < 2; set++) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;

		assert_true(sd_bus_message_new_method_call(s->peer, &m, RDMAD_BUS_NAME, path,
							   PROPERTIES, set ? "Set" : "Get") >= 0);
		assert_true(sd_bus_message_append(m, "ss", interface, name) >= 0);
		if (set)
			assert_true(sd_bus_message_append(m, "v", "s", "info") >= 0);
		call_as_stranger(s, m);
	}
}

/* Calls everything that XML, the introspection of PATH, has: one element is on one line. Returns
 * how much that is. */
static unsigned int call_all(SilentBus *s, const char *path, const char *xml)
{
	char interface[80] = "", method[80] = "", property[80], types[80] = "", type[40];
	unsigned int n = 0;

	for (const char *line = xml; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if (sscanf(line, " <interface name=\"%79[^\"]", interface) == 1)
			continue;
		if (sscanf(line, " <property name=\"%79[^\"]", property) == 1) {
			call_property(s, path, interface, property);
			n++;
		} else if (sscanf(line, " <method name=\"%79[^\"]", method) == 1) {
			types[0] = '\0';
			if (!memmem(line, strcspn(line, "\n"), "/>", 2))
				continue;
			call_method(s, path, interface, method, types);
			n++;
		} else if (sscanf(line, " <arg type=\"%39[^\"]", type) == 1 &&
			   memmem(line, strcspn(line, "\n"), "direction=\"in\"", 14)) {
			assert_true(strlen(types) + strlen(type) < sizeof(types));
			strcat(types, type);
		} else if (memmem(line, strcspn(line, "\n"), "</method>", 9)) {
			call_method(s, path, interface, method, types);
			n++;
		}
	}
	return n;
}

/* Who introspects is told who it is: the reply may be a long one. */
static char *introspect(SilentBus *s, const char *path)
{
	_cleanup_(call_done) Call c = {};
	const char *xml;

	s->client = ":1.6";
	send_call(s, &c, path, "org.freedesktop.DBus.Introspectable", "Introspect", "");
	while (!c.reply) {
		if (s->n_questions > 0) {
			_cleanup_(sd_bus_message_unrefp) sd_bus_message *question =
				wait_question(s);

			assert_true(sd_bus_reply_method_return(question, "u", 0) >= 0);
		}
		process(s);
	}
	assert_true(sd_bus_message_read(c.reply, "s", &xml) > 0);
	return strdup(xml);
}

static void test_every_member(void **state)
{
	static const char *const paths[] = {RDMAD_ROOT_PATH, RDMAD_DEVICE_PREFIX "/0",
					    RDMAD_DEVICE_PREFIX "/0/port/1", LOG_PATH};
	SilentBus *s = *state;
	char *xml[ARRAY_SIZE(paths)];

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		xml[i] = introspect(s, paths[i]);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		unsigned int n = call_all(s, paths[i], xml[i]);

		print_message("%s: %u methods and properties\n", paths[i], n);
		assert_true(n >= 9);
		free(xml[i]);
	}
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_log_level),
		TEST(test_user_is_unknown),
		TEST(test_caller_has_left),
		TEST(test_no_departures),
		TEST(test_too_many_calls),
		TEST(test_every_member),
		cmocka_unit_test(test_name_has_no_answer),
	};

	return cmocka_run_group_tests_name("silent-bus", tests, NULL, NULL);
}
