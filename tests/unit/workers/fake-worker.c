/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Stands in for rdmad-query in the tests of the pool. The name of the device in a query says what
 * it does with it; for an unknown name it answers as it should. "NAME:FILE" does NAME only as long
 * as FILE does not exist, and creates it: once, over all processes. "NAME?FILE" does it as long as
 * FILE does not exist.
 */

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "../descriptors.h"
#include "fake-worker.h"
#include "nursery.h"

#define N_GIDS 100U

static unsigned int n_forgotten;
static AttrText arg_joined;

void say(const WireMessage *m)
{
	if (wire_send(3, m) < 0)
		_exit(0);
}

static void say_table(WireHeader header, AttrType type, const Table *t)
{
	static WirePacket packet;

	if (wire_put_table(3, &packet, header, type, t) < 0 || wire_flush(3, &packet) < 0)
		_exit(0);
}

void say_device(const Query *q)
{
	WireMessage m = {.device = {.header = wire_header(WIRE_DEVICE, q->id, q->device, 0)}};
	DeviceSnapshot s = {};

	DEVICE_SUPPLY(&s, node_guid, (uint64_t)getpid());
	DEVICE_SUPPLY_TEXT(&s, board_id, arg_joined);
	mask_set(&s.supplied, DEVICE_ATTR_chardevs, true);
	m.device.values = s.values;
	/* the only text is the first */
	if (s.values.texts) {
		m.device.n_texts = s.values.texts->used;
		memcpy(m.device.texts, s.values.texts->bytes, m.device.n_texts);
		texts_release(s.values.texts);
	}
	m.device.supplied = s.supplied;
	m.device.open_error = streq(q->name, "closed") ? -EACCES : 0;
	mask_set(&m.device.unanswered, DEVICE_ATTR_num_lag_ports, m.device.open_error == -EACCES);
	say(&m);
}

static void say_chardevs(const Query *q)
{
	ChardevEntry e = {.major = 231, .class = "verbs", .path = "/dev/infiniband/uverbs0"};
	_cleanup_(table_free_pointer) Table *t = table_new(&e, 1, sizeof(e));

	say_table(wire_header(0, q->id, q->device, 0), ATTR_CHARDEVS, t);
}

void say_port(const Query *q, uint32_t port)
{
	WireMessage m = {.port = {.header = wire_header(WIRE_PORT, q->id, q->device, port),
				  .parts = q->parts}};
	PortSnapshot s = {};

	PORT_SUPPLY(&s, lid, n_forgotten);
	PORT_SUPPLY(&s, subnet_prefix, (uint64_t)getpid());
	mask_set(&s.supplied, PORT_ATTR_gids, true);
	m.port.error = streq(q->name, "port-error") ? -EIO : 0;
	m.port.open_error = streq(q->name, "closed") ? -EACCES : q->spares_library ? -EAGAIN : 0;
	mask_set(&m.port.unanswered, PORT_ATTR_vport, m.port.open_error == -EACCES);
	m.port.values = s.values;
	m.port.supplied = s.supplied;
	say(&m);
}

static WireMessage gid_page(const Query *q, uint32_t port, uint32_t first)
{
	uint32_t n = MIN(wire_page_entries(ATTR_GIDS), N_GIDS - first);
	WireMessage m = {.table = {.header = wire_header(WIRE_TABLE, q->id, q->device, port),
				   .type = ATTR_GIDS,
				   .total = N_GIDS,
				   .first = first,
				   .n = n}};

	for (uint32_t i = 0; i < n; i++) {
		GidEntry e = {.index = first + i};

		memcpy(m.table.entries + i * sizeof(e), &e, sizeof(e));
	}
	return m;
}

static void say_gids(const Query *q, uint32_t port)
{
	for (uint32_t i = 0; i < N_GIDS; i += wire_page_entries(ATTR_GIDS)) {
		WireMessage m = gid_page(q, port, i);

		say(&m);
	}
}

void say_end(const Query *q, int error, const char *text)
{
	WireMessage m = {.end = {.header = wire_header(WIRE_END, q->id, q->device, 0),
				 .error = error,
				 .library_failed = streq(q->name, "library")}};

	text_copy(m.end.text, sizeof(m.end.text), text);
	say(&m);
}

void say_event(uint32_t device, uint32_t port, EventReason reason)
{
	WireMessage m = {
		.event = {.header = wire_header(WIRE_EVENT, 0, device, port), .reason = reason}};

	say(&m);
}

void answer(const Query *q)
{
	if (q->attributes) {
		say_device(q);
		say_chardevs(q);
	}
	for (uint32_t port = 1; port <= RDMA_PORT_MAX; port++)
		if (port_set_has(&q->ports, port)) {
			say_port(q, port);
			say_gids(q, port);
		}
	if (streq(q->name, "device-error"))
		say_end(q, -ENODEV, "no such device");
	else
		say_end(q, 0, "");
}

/* What a worker may do wrong, or well in an unusual way. Each function has a query for the device
 * and ports 1 and 2, and may change its copy of it. */

static void stop(_unused_ Query *q)
{
	raise(SIGSTOP);
}

static void stop_in_all(Query *q)
{
	if (q->attributes && port_set_has(&q->ports, 1) && port_set_has(&q->ports, 2))
		raise(SIGSTOP);
}

/* As on a slow machine */
void dawdle(_unused_ Query *q)
{
	usleep(400 * USEC_PER_MSEC);
}

static void stop_in_port_2(Query *q)
{
	say_device(q);
	say_port(q, 1);
	raise(SIGSTOP);
	say_port(q, 2);
	say_end(q, 0, "");
}

static void stop_then_event(Query *q)
{
	raise(SIGSTOP);
	say_event(q->device, 1, REASON_LID_CHANGE);
}

void crash(_unused_ Query *q)
{
	raise(SIGSEGV);
}

static void stop_then_crash(Query *q)
{
	raise(SIGSTOP);
	crash(q);
}

static void exit_with_status(_unused_ Query *q)
{
	_exit(3);
}

static void hang_up(_unused_ Query *q)
{
	close(3);
	raise(SIGSTOP);
}

static void answer_and_crash(Query *q)
{
	answer(q);
	crash(q);
}

static void half_and_crash(Query *q)
{
	say_device(q);
	say_port(q, 1);
	crash(q);
}

static void garbage(_unused_ Query *q)
{
	WireMessage m;

	memset(&m, 0x5a, sizeof(m));
	send(3, &m, sizeof(WirePort), 0);
}

static void truncated(Query *q)
{
	WireMessage m = {.header = wire_header(WIRE_DEVICE, q->id, q->device, 0)};

	send(3, &m, sizeof(WireDevice) - 8, 0);
}

static void oversized(Query *q)
{
	WireMessage m = {.header = wire_header(WIRE_DEVICE, q->id, q->device, 0)};
	char big[sizeof(m) + 100] = {};

	memcpy(big, &m, sizeof(m));
	send(3, big, sizeof(big), 0);
}

static void wrong_id(Query *q)
{
	q->id++;
	say_device(q);
}

static void wrong_device(Query *q)
{
	q->device++;
	say_device(q);
}

static void wrong_port(Query *q)
{
	say_device(q);
	say_port(q, 7);
}

static void port_twice(Query *q)
{
	say_device(q);
	say_port(q, 1);
	say_port(q, 1);
}

static void port_first(Query *q)
{
	say_port(q, 1);
}

static void device_twice(Query *q)
{
	say_device(q);
	say_device(q);
}

static void device_with_port(Query *q)
{
	WireMessage m = {.device.header = wire_header(WIRE_DEVICE, q->id, q->device, 1)};

	say(&m);
}

static void query_back(Query *q)
{
	WireMessage m = {.query.header = wire_header(WIRE_QUERY, q->id, q->device, 0)};

	say(&m);
}

static void early_end(Query *q)
{
	say_device(q);
	say_port(q, 1);
	say_end(q, 0, "");
}

static void empty_end(Query *q)
{
	say_end(q, 0, "");
}

static void table_first(Query *q)
{
	say_gids(q, 1);
}

static void table_of_other_port(Query *q)
{
	say_device(q);
	say_port(q, 1);
	say_gids(q, 2);
}

static void table_twice(Query *q)
{
	say_device(q);
	say_port(q, 1);
	say_gids(q, 1);
	say_gids(q, 1);
}

static void table_unfinished(Query *q)
{
	WireMessage m = gid_page(q, 1, 0);

	say_device(q);
	say_port(q, 1);
	say(&m);
	say_port(q, 2);
}

static void table_in_the_middle(Query *q)
{
	WireMessage m = gid_page(q, 1, wire_page_entries(ATTR_GIDS));

	say_device(q);
	say_port(q, 1);
	say(&m);
}

static void table_not_supplied(Query *q)
{
	PkeyEntry e = {.pkey = 0xffff};
	_cleanup_(table_free_pointer) Table *t = table_new(&e, 1, sizeof(e));

	say_device(q);
	say_port(q, 1);
	say_table(wire_header(0, q->id, q->device, 1), ATTR_PKEYS, t);
}

static void chardevs_twice(Query *q)
{
	say_device(q);
	say_chardevs(q);
	say_chardevs(q);
}

static void table_too_large(Query *q)
{
	WireMessage m = gid_page(q, 1, 0);

	say_device(q);
	say_port(q, 1);
	m.table.total = TABLE_ENTRIES_MAX + 1;
	say(&m);
}

static void table_after_end(Query *q)
{
	answer(q);
	say_gids(q, 1);
}

/* Each table is small enough, but all together are not: 288 KiB for each port. */
static void tables_together(Query *q)
{
	say_device(q);
	for (uint32_t port = 1; port <= port_set_last(&q->ports); port++) {
		WireMessage m = {.port = {.header = wire_header(WIRE_PORT, q->id, q->device, port),
					  .parts = q->parts}};
		size_t left = 288 << 10;

		mask_set(&m.port.supplied, PORT_ATTR_gids, true);
		mask_set(&m.port.supplied, PORT_ATTR_netdevs, true);
		say(&m);
		for (unsigned int i = 0; i < 2; i++) {
			AttrType type = i == 0 ? ATTR_GIDS : ATTR_NETDEVS;
			size_t size = attr_table_entry_size(type);
			size_t n = MIN(TABLE_ENTRIES_MAX, left / size);
			_cleanup_free_ uint8_t *entries = calloc(n, size);
			_cleanup_(table_free_pointer) Table *t = NULL;

			/* The index is the first member of both. */
			for (uint32_t k = 0; k < n; k++)
				memcpy(entries + k * size, &k, sizeof(k));
			t = table_new(entries, n, size);
			left -= n * size;
			say_table(wire_header(0, q->id, q->device, port), type, t);
		}
	}
	say_end(q, 0, "");
}

/* One page of a long table after the other, each in time: 97 of each port, in 19 s. */
static void drip(Query *q)
{
	say_device(q);
	for (uint32_t port = 1; port <= 2; port++) {
		uint32_t page = wire_page_entries(ATTR_GIDS);

		say_port(q, port);
		for (uint32_t i = 0; i < TABLE_ENTRIES_MAX; i += page) {
			WireMessage m = gid_page(q, port, 0);

			m.table.total = TABLE_ENTRIES_MAX;
			m.table.first = i;
			m.table.n = MIN(page, TABLE_ENTRIES_MAX - i);
			say(&m);
			usleep(100 * USEC_PER_MSEC);
		}
	}
}

static void events(Query *q)
{
	say_event(q->device + 1, 1, REASON_LID_CHANGE);
	say_event(q->device, 1025, REASON_PORT_ERROR);
	say_event(q->device, 2, REASON_PORT_ACTIVE);
}

static void burst(Query *q)
{
	answer(q);
	for (unsigned int i = 0; i < 2000; i++)
		say_event(q->device, 1, REASON_GID_CHANGE);
	say_event(q->device, 1, REASON_CLIENT_REREGISTER);
}

static void flood(Query *q)
{
	answer(q);
	for (;;)
		say_event(q->device, 1, REASON_GID_CHANGE);
}

static void bad_event(Query *q)
{
	say_event(q->device, 1, (EventReason)_REASON_MAX);
}

/* The number of open descriptors, in the place of the pid. */
static void descriptors(Query *q)
{
	WireMessage m = {.device = {.header = wire_header(WIRE_DEVICE, q->id, q->device, 0)}};
	DeviceSnapshot s = {};

	DEVICE_SUPPLY(&s, node_guid, count_descriptors());
	m.device.values = s.values;
	m.device.supplied = s.supplied;
	say(&m);
	say_port(q, 1);
	say_port(q, 2);
	say_end(q, 0, "");
}

static const Act acts[] = {
	{"stop", stop, THEN_ANSWER},
	{"stop-in-all", stop_in_all, THEN_ANSWER},
	{"dawdle", dawdle, THEN_ANSWER},
	{"stop-in-port-2", stop_in_port_2, THEN_WAIT},
	{"stop-then-event", stop_then_event, THEN_ANSWER},
	{"stop-then-crash", stop_then_crash, THEN_WAIT},
	{"crash", crash, THEN_WAIT},
	{"exit", exit_with_status, THEN_WAIT},
	{"hang-up", hang_up, THEN_WAIT},
	{"answer-and-crash", answer_and_crash, THEN_WAIT},
	{"half-and-crash", half_and_crash, THEN_WAIT},
	{"garbage", garbage, THEN_WAIT},
	{"truncated", truncated, THEN_WAIT},
	{"oversized", oversized, THEN_WAIT},
	{"wrong-id", wrong_id, THEN_WAIT},
	{"wrong-device", wrong_device, THEN_WAIT},
	{"wrong-port", wrong_port, THEN_WAIT},
	{"port-twice", port_twice, THEN_WAIT},
	{"port-first", port_first, THEN_WAIT},
	{"device-twice", device_twice, THEN_WAIT},
	{"device-with-port", device_with_port, THEN_WAIT},
	{"query-back", query_back, THEN_WAIT},
	{"early-end", early_end, THEN_WAIT},
	{"empty-end", empty_end, THEN_WAIT},
	{"table-first", table_first, THEN_WAIT},
	{"table-of-other-port", table_of_other_port, THEN_WAIT},
	{"table-twice", table_twice, THEN_WAIT},
	{"table-unfinished", table_unfinished, THEN_WAIT},
	{"table-in-the-middle", table_in_the_middle, THEN_WAIT},
	{"table-not-supplied", table_not_supplied, THEN_WAIT},
	{"chardevs-twice", chardevs_twice, THEN_WAIT},
	{"table-too-large", table_too_large, THEN_WAIT},
	{"table-after-end", table_after_end, THEN_WAIT},
	{"tables-together", tables_together, THEN_GO_ON},
	{"drip", drip, THEN_WAIT},
	{"events", events, THEN_ANSWER},
	{"burst", burst, THEN_GO_ON},
	{"flood", flood, THEN_WAIT},
	{"bad-event", bad_event, THEN_WAIT},
	{"descriptors", descriptors, THEN_GO_ON},
};

static const Act *find_act(const char *what)
{
	for (size_t i = 0; i < ARRAY_SIZE(acts); i++)
		if (streq(acts[i].what, what))
			return &acts[i];
	for (const Act *a = own_acts; a->what; a++)
		if (streq(a->what, what))
			return a;
	return NULL;
}

static void act(const char *what, const Query *asked)
{
	const Act *a = find_act(what);
	Query q = *asked;

	if (a)
		a->act(&q);
	while (a && a->then == THEN_WAIT)
		pause();
	if (!a || a->then == THEN_ANSWER)
		answer(asked);
}

static void serve(const Query *q)
{
	AttrText what;
	char *file;
	int fd;

	memcpy(what, q->name, sizeof(what));
	file = strpbrk(what, ":?");
	if (file) {
		bool once = *file == ':';

		*file++ = '\0';
		fd = once ? open(file, O_CREAT | O_EXCL | O_CLOEXEC, 0600)
			  : open(file, O_RDONLY | O_CLOEXEC);
		if (once ? fd < 0 : fd >= 0)
			what[0] = '\0';
		close_fd(fd);
	}
	act(what, q);
}

/* Under AddressSanitizer: to look for leaks takes each of 200 workers that end at once a second of
 * the processor, and nothing of this program is in the product. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/* FAKE_WORKER_NURSERY says what it does wrong. */
static void be_nursery(void)
{
	const char *how = getenv("FAKE_WORKER_NURSERY");
	pid_t pid = -EAGAIN;
	int fd;

	prctl(PR_SET_NAME, FAKE_NURSERY);
	if (how && streq(how, "ends"))
		_exit(1);
	if (how && streq(how, "hangs"))
		raise(SIGSTOP);
	/* a process that is not the pool's */
	if (how && streq(how, "lies"))
		pid = 1;
	while (how && (pid == 1 || streq(how, "refuses")))
		if (recv(3, &fd, 1, 0) <= 0 || send(3, &pid, sizeof(pid), 0) < 0)
			_exit(0);
	fd = nursery_serve(3);
	if (fd <= 0 || dup2(fd, 3) < 0)
		_exit(0);
	prctl(PR_SET_NAME, FAKE_FORKED);
	close(fd);
}

int main(int argc, char *argv[])
{
	const char *why = NULL, *last = argv[argc - 1];
	const char *stop_at_forget = getenv("FAKE_WORKER_STOP_AT_FORGET");
	WireMessage m;

	/* A sanitizer has its own idea of it. */
	signal(SIGSEGV, SIG_DFL);
	if (streq(last, "--nursery")) {
		be_nursery();
		argc--;
	}
	for (int i = 1; i < argc; i++) {
		size_t n = strlen(arg_joined);

		/* without the dashes: it has to fit an attribute */
		snprintf(arg_joined + n, sizeof(arg_joined) - n, "%s%s", n ? " " : "", argv[i] + 2);
	}
	if (getenv("FAKE_WORKER_STOP_AT_START"))
		raise(SIGSTOP);
	while (wire_receive(3, &m, &why) > 0) {
		if (m.header.type == WIRE_QUERY)
			serve(&m.query.query);
		else if (m.header.type == WIRE_FORGET && n_forgotten++ == 0 && stop_at_forget)
			raise(SIGSTOP);
	}
	/* One that does not want to go, for the bound on that */
	if (getenv("FAKE_WORKER_LINGER"))
		raise(SIGSTOP);
	return 0;
}
