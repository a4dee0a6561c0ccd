/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Stands in for rdmad-query in the tests of the pool. The name of the device in a query says what
 * it does with it; for an unknown name it answers as it should. "NAME:FILE" does NAME only as long
 * as FILE does not exist, and creates it: once, over all processes.
 */

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include "wire.h"

#define N_GIDS 100U

static unsigned int n_forgotten;
static AttrText arg_joined;

static void say(const WireMessage *m)
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

static void say_device(const Query *q)
{
	WireMessage m = {.device = {.header = wire_header(WIRE_DEVICE, q->id, q->device, 0)}};
	DeviceSnapshot s = {};

	DEVICE_SUPPLY(&s, node_guid, (uint64_t)getpid());
	DEVICE_SUPPLY_TEXT(&s, board_id, arg_joined);
	mask_set(&s.supplied, DEVICE_ATTR_chardevs, true);
	m.device.values = s.values;
	m.device.supplied = s.supplied;
	say(&m);
}

static void say_chardevs(const Query *q)
{
	ChardevEntry e = {.major = 231, .class = "verbs", .path = "/dev/infiniband/uverbs0"};
	_cleanup_(table_free_pointer) Table *t = table_new(&e, 1, sizeof(e));

	say_table(wire_header(0, q->id, q->device, 0), ATTR_CHARDEVS, t);
}

static void say_port(const Query *q, uint32_t port)
{
	WireMessage m = {.port = {.header = wire_header(WIRE_PORT, q->id, q->device, port)}};
	PortSnapshot s = {};

	PORT_SUPPLY(&s, lid, n_forgotten);
	PORT_SUPPLY(&s, subnet_prefix, (uint64_t)getpid());
	mask_set(&s.supplied, PORT_ATTR_gids, true);
	m.port.error = streq(q->name, "port-error") ? -EIO : 0;
	m.port.open_error = streq(q->name, "closed") ? -EACCES : 0;
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

static void say_end(const Query *q, int error, const char *text)
{
	WireMessage m = {
		.end = {.header = wire_header(WIRE_END, q->id, q->device, 0), .error = error}};

	text_copy(m.end.text, sizeof(m.end.text), text);
	say(&m);
}

static void say_event(uint32_t device, uint32_t port, EventReason reason)
{
	WireMessage m = {
		.event = {.header = wire_header(WIRE_EVENT, 0, device, port), .reason = reason}};

	say(&m);
}

static void answer(const Query *q)
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

static uint64_t count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	uint64_t n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2 - 1; /* not ".", ".." and its own */
}

/* What must not be. Each is what a query asks for: the device and ports 1 and 2. */
static bool misbehave(const char *what, const Query *asked)
{
	Query q = *asked;
	WireMessage m = {};

	if (streq(what, "stop")) {
		raise(SIGSTOP);
		return false;
	} else if (streq(what, "stop-in-port-2")) {
		say_device(&q);
		say_port(&q, 1);
		raise(SIGSTOP);
		say_port(&q, 2);
		say_end(&q, 0, "");
	} else if (streq(what, "stop-then-event")) {
		raise(SIGSTOP);
		say_event(q.device, 1, REASON_LID_CHANGE);
		return false;
	} else if (streq(what, "stop-then-crash")) {
		raise(SIGSTOP);
		raise(SIGSEGV);
	} else if (streq(what, "crash")) {
		raise(SIGSEGV);
	} else if (streq(what, "exit")) {
		_exit(3);
	} else if (streq(what, "hang-up")) {
		close(3);
		raise(SIGSTOP);
	} else if (streq(what, "answer-and-crash")) {
		answer(&q);
		raise(SIGSEGV);
	} else if (streq(what, "half-and-crash")) {
		say_device(&q);
		say_port(&q, 1);
		raise(SIGSEGV);
	} else if (streq(what, "garbage")) {
		memset(&m, 0x5a, sizeof(m));
		send(3, &m, sizeof(WirePort), 0);
	} else if (streq(what, "truncated")) {
		m.header = wire_header(WIRE_DEVICE, q.id, q.device, 0);
		send(3, &m, sizeof(WireDevice) - 8, 0);
	} else if (streq(what, "oversized")) {
		char big[sizeof(m) + 100] = {};

		m.header = wire_header(WIRE_DEVICE, q.id, q.device, 0);
		memcpy(big, &m, sizeof(m));
		send(3, big, sizeof(big), 0);
	} else if (streq(what, "wrong-id")) {
		q.id++;
		say_device(&q);
	} else if (streq(what, "wrong-device")) {
		q.device++;
		say_device(&q);
	} else if (streq(what, "wrong-port")) {
		say_device(&q);
		say_port(&q, 7);
	} else if (streq(what, "port-twice")) {
		say_device(&q);
		say_port(&q, 1);
		say_port(&q, 1);
	} else if (streq(what, "port-first")) {
		say_port(&q, 1);
	} else if (streq(what, "device-twice")) {
		say_device(&q);
		say_device(&q);
	} else if (streq(what, "device-with-port")) {
		m.device.header = wire_header(WIRE_DEVICE, q.id, q.device, 1);
		say(&m);
	} else if (streq(what, "query-back")) {
		m.query.header = wire_header(WIRE_QUERY, q.id, q.device, 0);
		say(&m);
	} else if (streq(what, "early-end")) {
		say_device(&q);
		say_port(&q, 1);
		say_end(&q, 0, "");
	} else if (streq(what, "empty-end")) {
		say_end(&q, 0, "");
	} else if (streq(what, "table-first")) {
		say_gids(&q, 1);
	} else if (streq(what, "table-of-other-port")) {
		say_device(&q);
		say_port(&q, 1);
		say_gids(&q, 2);
	} else if (streq(what, "table-twice")) {
		say_device(&q);
		say_port(&q, 1);
		say_gids(&q, 1);
		say_gids(&q, 1);
	} else if (streq(what, "table-unfinished")) {
		say_device(&q);
		say_port(&q, 1);
		m = gid_page(&q, 1, 0);
		say(&m);
		say_port(&q, 2);
	} else if (streq(what, "table-in-the-middle")) {
		say_device(&q);
		say_port(&q, 1);
		m = gid_page(&q, 1, wire_page_entries(ATTR_GIDS));
		say(&m);
	} else if (streq(what, "table-not-supplied")) {
		PkeyEntry e = {.pkey = 0xffff};
		_cleanup_(table_free_pointer) Table *t = table_new(&e, 1, sizeof(e));

		say_device(&q);
		say_port(&q, 1);
		say_table(wire_header(0, q.id, q.device, 1), ATTR_PKEYS, t);
	} else if (streq(what, "chardevs-twice")) {
		say_device(&q);
		say_chardevs(&q);
		say_chardevs(&q);
	} else if (streq(what, "table-too-large")) {
		say_device(&q);
		say_port(&q, 1);
		m = gid_page(&q, 1, 0);
		m.table.total = TABLE_ENTRIES_MAX + 1;
		say(&m);
	} else if (streq(what, "table-after-end")) {
		answer(&q);
		say_gids(&q, 1);
	} else if (streq(what, "events")) {
		say_event(q.device + 1, 1, REASON_LID_CHANGE);
		say_event(q.device, 255, REASON_PORT_ERROR);
		say_event(q.device, 2, REASON_PORT_ACTIVE);
		return false;
	} else if (streq(what, "burst")) {
		answer(&q);
		for (unsigned int i = 0; i < 2000; i++)
			say_event(q.device, 1, REASON_GID_CHANGE);
		say_event(q.device, 1, REASON_CLIENT_REREGISTER);
		return true;
	} else if (streq(what, "flood")) {
		answer(&q);
		for (;;)
			say_event(q.device, 1, REASON_GID_CHANGE);
	} else if (streq(what, "bad-event")) {
		say_event(q.device, 1, (EventReason)_REASON_MAX);
	} else if (streq(what, "descriptors")) {
		DeviceSnapshot s = {};

		m.device.header = wire_header(WIRE_DEVICE, q.id, q.device, 0);
		DEVICE_SUPPLY(&s, node_guid, count_descriptors());
		m.device.values = s.values;
		m.device.supplied = s.supplied;
		say(&m);
		say_port(&q, 1);
		say_port(&q, 2);
		say_end(&q, 0, "");
		return true;
	} else {
		return false;
	}
	/* Not the crash that some are: the core must notice by itself. */
	for (;;)
		pause();
}

static void serve(const Query *q)
{
	AttrText what;
	char *file;
	int fd;

	memcpy(what, q->name, sizeof(what));
	file = strchr(what, ':');
	if (file) {
		*file++ = '\0';
		fd = open(file, O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0)
			what[0] = '\0';
		close_fd(fd);
	}
	if (!misbehave(what, q))
		answer(q);
}

int main(int argc, char *argv[])
{
	const char *why = NULL;
	const char *stop_at_forget = getenv("FAKE_WORKER_STOP_AT_FORGET");
	WireMessage m;

	/* A sanitizer has its own idea of it. */
	signal(SIGSEGV, SIG_DFL);
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
