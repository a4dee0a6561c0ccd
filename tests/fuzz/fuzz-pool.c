/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Workers that do anything at all, at the pool. The input is a sequence of steps: the core asks or
 * forgets a device, a worker sends packets, closes its connection or ends, time passes. No process
 * is started: the functions below stand for one. What arrives at the handler goes into a cache and
 * is written as for the bus, where all text must be valid.
 */

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "bus-property.h"
#include "child.h"
#include "input.h"
#include "log.h"
#include "pool.h"
#include "wire.h"

#define DEVICES	      4U
#define PORTS	      8U
#define PROCESSES_MAX 400U
#define SLEEPS_MAX    3U /* they make an input slow */
#define TURNS_MAX     40U

/* What stands for a worker process. */
typedef struct Process {
	pid_t pid;
	int pidfd; /* an eventfd, which is readable when the process has ended */
	int peer;  /* its end of the connection, -EBADF if closed */
	bool reaped, ended;
	bool deaf;   /* it cannot be killed */
	Query asked; /* the last query that it has read; id 0: none */
} Process;

static Process processes[PROCESSES_MAX + 64];
static size_t n_processes;
static bool start_fails, start_deaf;
static FuzzInput input;
static Pool *pool;
static Cache cache;
static uint64_t asked[DEVICES]; /* the id of the query that is under way, 0: none */
static unsigned int n_calls;	/* of the handler */

int __wrap_child_start(const char *program, char *const argv[], Child *ret);
int __wrap_pidfd_send_signal(int pidfd, int number, siginfo_t *info, unsigned int flags);
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *status, int options);
void __real_bus_writer_put_text(BusWriter *w, char type, const char *text);
void __wrap_bus_writer_put_text(BusWriter *w, char type, const char *text);

/* There is no nursery: it would name real processes. */
int __wrap_child_start(_unused_ const char *program, char *const argv[], Child *ret)
{
	Process *p = &processes[n_processes];
	int fds[2];

	while (argv[1])
		argv++;
	if (start_fails || streq(argv[0], "--nursery"))
		return -EAGAIN;
	FUZZ_CHECK(n_processes < ARRAY_SIZE(processes));
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	n_processes++;
	*p = (Process){.pid = (pid_t)n_processes, .peer = fds[1], .deaf = start_deaf};
	p->pidfd = eventfd(0, EFD_CLOEXEC);
	FUZZ_CHECK(p->pidfd >= 0);
	*ret = (Child){.pid = p->pid, .pidfd = p->pidfd, .fd = fds[0]};
	return 0;
}

static Process *find_process(int pidfd)
{
	for (size_t i = n_processes; i > 0; i--)
		if (!processes[i - 1].reaped && processes[i - 1].pidfd == pidfd)
			return &processes[i - 1];
	return NULL;
}

static void end_process(Process *p)
{
	if (p->ended)
		return;
	p->ended = true;
	p->peer = close_fd(p->peer);
	if (!p->reaped)
		FUZZ_CHECK(eventfd_write(p->pidfd, 1) == 0);
}

int __wrap_pidfd_send_signal(int pidfd, _unused_ int number, _unused_ siginfo_t *info,
			     _unused_ unsigned int flags)
{
	Process *p = find_process(pidfd);

	FUZZ_CHECK(p != NULL);
	if (!p->deaf)
		end_process(p);
	return 0;
}

int __wrap_waitid(_unused_ idtype_t type, id_t id, siginfo_t *status, _unused_ int options)
{
	Process *p = find_process((int)id);

	FUZZ_CHECK(p != NULL);
	*status = (siginfo_t){};
	if (!p->ended)
		return 0;
	status->si_pid = p->pid;
	status->si_code = p->pid % 2 ? CLD_EXITED : CLD_KILLED;
	status->si_status = p->pid % 2 ? 3 : SIGSEGV;
	p->reaped = true;
	return 0;
}

void __wrap_bus_writer_put_text(BusWriter *w, char type, const char *text)
{
	check_text(text);
	__real_bus_writer_put_text(w, type, text);
}

static void publish(const Device *d)
{
	BusWriter w = {};

	CacheObject o = cache_object_of_device(d);

	bus_put_properties(&w, &o, cache_object_interfaces(&o));
	for (uint32_t i = 0; i < d->n_ports; i++) {
		o = cache_object_of_port(d->ports[i]);
		bus_put_properties(&w, &o, cache_object_interfaces(&o));
	}
	FUZZ_CHECK(bus_writer_error(&w) == 0);
	bus_writer_done(&w);
}

static void forget(uint32_t device)
{
	uint64_t id;

	pool_forget(pool, device, &id);
	FUZZ_CHECK(id == asked[device]);
	asked[device] = 0;
}

static void on_event(_unused_ void *userdata, const Event *e)
{
	FUZZ_CHECK(e->reason >= 0 && e->reason < _REASON_MAX);
	if (++n_calls % 7 == 0 && e->device < DEVICES)
		forget(e->device);
}

/* The device that query ID, which must be under way, is about. */
static Device *find_device(uint64_t id)
{
	uint32_t index = (uint32_t)id;

	FUZZ_CHECK(index < DEVICES && asked[index] == id);
	return cache_device(&cache, index);
}

/* As the manager: not while another query of the device is under way. */
static bool on_asking(_unused_ void *userdata, const Query *q)
{
	FUZZ_CHECK(q->device < DEVICES && (uint32_t)q->id == q->device);
	FUZZ_CHECK(port_set_last(&q->ports) >= 1 && port_set_last(&q->ports) <= PORTS);
	if (asked[q->device] || ++n_calls % 3 == 0)
		return false;
	asked[q->device] = q->id;
	return true;
}

static void on_device(_unused_ void *userdata, uint64_t id, DeviceSnapshot *s)
{
	Device *d = find_device(id);
	_cleanup_(device_change_done) DeviceChange device_change = {};

	/* what the manager takes from the kernel's list only */
	DEVICE_SUPPLY(s, index, d->index);
	mask_set(&s->supplied, DEVICE_ATTR_name, false);
	mask_set(&s->supplied, DEVICE_ATTR_port_count, false);
	FUZZ_CHECK(cache_apply_device(&cache, s, CHANGE_ANSWER, 1, &device_change) >= 0);
	publish(d);
}

static void on_port(_unused_ void *userdata, uint64_t id, uint32_t number, int error,
		    PortSnapshot *s)
{
	Device *d = find_device(id);
	Port *p = device_port(d, number);
	_cleanup_(port_change_done) PortChange change = {};

	FUZZ_CHECK(p && error <= 0);
	if (error < 0)
		cache_apply_port_error(p, error, QUERY_ERROR_DEVICE, strerror(-error), 0, 1000,
				       &change);
	else
		cache_apply_port(p, s, REASON_BIT(REASON_RECONCILE), 1, &change);
	publish(d);
}

static void on_end(_unused_ void *userdata, uint64_t id, int error, _unused_ QueryErrorCode code,
		   const char *text)
{
	const Device *d = find_device(id);

	FUZZ_CHECK(error <= 0 && text);
	asked[d->index] = 0;
	if (++n_calls % 5 == 0)
		forget(d->index);
}

static void ask(void)
{
	static uint64_t n_queries;
	uint32_t device = input_u8(&input) % DEVICES;
	uint8_t ports = input_u8(&input), flags = input_u8(&input);
	Query q = {.id = ++n_queries << 32 | device,
		   .device = device,
		   .name = "mlx5_0",
		   .attributes = flags & 1,
		   .parts = flags & 2 ? READ_ALL : READ_USUAL,
		   .kind = flags & 4 ? QUERY_COUNTERS : QUERY_ATTRIBUTES,
		   .leave.ports = flags & 8 ? 0 : PORTS};
	int r;

	for (uint32_t n = 1; n <= PORTS; n++)
		if (ports >> (n - 1) & 1)
			port_set_add(&q.ports, n);
	r = pool_query(pool, &q);
	FUZZ_CHECK(asked[device] ? r < 0 : r == 0 || r == -ETIMEDOUT);
	if (r == 0)
		asked[device] = q.id;
}

/* Has P read what the core has sent. */
static void read_queries(Process *p)
{
	const char *why;
	WireMessage m;
	ssize_t n;

	while (p->peer >= 0 && (n = recv(p->peer, &m, sizeof(m), 0)) > 0) {
		FUZZ_CHECK(wire_check(&m, (size_t)n, &why) == 0);
		if (m.header.type == WIRE_QUERY)
			p->asked = m.query.query;
	}
}

static void fill_table(WireTable *m)
{
	static const AttrType types[] = {ATTR_GIDS, ATTR_PKEYS, ATTR_NETDEVS, ATTR_CHARDEVS,
					 ATTR_COUNTERS};

	m->type = types[input_u8(&input) % ARRAY_SIZE(types)];
	if (m->type == ATTR_CHARDEVS)
		m->header.port = 0;
	m->total = input_u8(&input);
	m->first = input_u8(&input);
	m->n = MIN(m->total - MIN(m->first, m->total), wire_page_entries(m->type));
}

/* A message that answers what P was asked, apart from the bytes that the input changes. Returns
 * its size. */
static size_t make_message(const Process *p, WireMessage *m)
{
	static const WireType types[] = {WIRE_DEVICE, WIRE_PORT, WIRE_PORT,  WIRE_TABLE,
					 WIRE_TABLE,  WIRE_END,	 WIRE_EVENT, WIRE_QUERY};
	uint8_t kind = input_u8(&input);
	WireType type = kind < 224 ? types[kind % ARRAY_SIZE(types)] : WIRE_ASKING;
	bool has_port = type == WIRE_PORT || type == WIRE_TABLE;

	memset(m, 0, sizeof(*m));
	m->header = wire_header(type, type == WIRE_EVENT ? 0 : p->asked.id, p->asked.device,
				has_port ? 1 + input_u8(&input) % PORTS : 0);
	if (type == WIRE_DEVICE)
		for (DeviceAttr a = 0; a < _DEVICE_ATTR_MAX; a++)
			mask_set(&m->device.supplied, a, input_u8(&input) & 1);
	if (type == WIRE_PORT)
		m->port.parts = p->asked.parts;
	if (type == WIRE_PORT)
		for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++)
			mask_set(&m->port.supplied, a, input_u8(&input) & 1);
	if (type == WIRE_TABLE)
		fill_table(&m->table);
	if (type == WIRE_END && input_u8(&input) % 4 == 0)
		m->end.error = -(int)input_u8(&input);
	if (type == WIRE_EVENT)
		m->event.reason = input_u8(&input) % _REASON_MAX;
	if (type == WIRE_ASKING)
		port_set_add(&m->asking.ports, 1 + input_u8(&input) % PORTS);
	for (unsigned int edits = input_u8(&input) % 8; edits > 0; edits--) {
		size_t at = (size_t)input_u8(&input) << 8 | input_u8(&input);

		((uint8_t *)m)[at % sizeof(*m)] = input_u8(&input);
	}
	return wire_size(type);
}

static void send_bytes(const Process *p, const void *bytes, size_t size)
{
	if (p->peer >= 0)
		(void)!send(p->peer, bytes, size, MSG_NOSIGNAL);
}

static void send_packet(Process *p, bool cut)
{
	WirePacket packet = {};

	read_queries(p);
	for (unsigned int n = 1 + input_u8(&input) % 6; n > 0; n--) {
		WireMessage m;
		size_t size = make_message(p, &m);

		if (packet.size + size > sizeof(packet.bytes))
			break;
		memcpy(packet.bytes + packet.size, &m, size);
		packet.size += size;
	}
	if (cut)
		packet.size -= input_u8(&input) % packet.size;
	send_bytes(p, packet.bytes, packet.size);
}

/* The answer of a good worker, with nothing supplied. */
static void send_answer(Process *p)
{
	const Query *q = &p->asked;
	WireMessage m = {};

	read_queries(p);
	if (q->id == 0)
		return;
	if (q->attributes) {
		m.header = wire_header(WIRE_DEVICE, q->id, q->device, 0);
		send_bytes(p, &m, sizeof(m.device));
	}
	for (uint32_t n = 1; n <= PORTS; n++) {
		m.port = (WirePort){.header = wire_header(WIRE_PORT, q->id, q->device, n),
				    .parts = q->parts};
		if (port_set_has(&q->ports, n))
			send_bytes(p, &m, sizeof(m.port));
	}
	m.header = wire_header(WIRE_END, q->id, q->device, 0);
	send_bytes(p, &m, sizeof(m.end));
}

static void send_garbage(const Process *p)
{
	uint8_t bytes[UINT8_MAX];

	send_bytes(p, bytes, input_bytes(&input, bytes, input_u8(&input)));
}

static void use_process(Process *p, uint8_t step)
{
	switch (step % 8) {
	case 0:
	case 1:
	case 2:
		send_packet(p, false);
		break;
	case 3:
		send_packet(p, true);
		break;
	case 4:
		send_answer(p);
		break;
	case 5:
		p->peer = close_fd(p->peer);
		break;
	case 6:
		end_process(p);
		break;
	case 7:
		send_garbage(p);
		break;
	}
}

static void turn(sd_event *event, uint64_t usec)
{
	int r = sd_event_run(event, usec);

	for (unsigned int i = 0; r > 0 && i < TURNS_MAX; i++)
		r = sd_event_run(event, 0);
	FUZZ_CHECK(r >= 0);
}

static void run_steps(sd_event *event)
{
	unsigned int n_sleeps = 0;

	while (input.left > 0 && n_processes < PROCESSES_MAX) {
		uint8_t step = input_u8(&input), flags;
		uint64_t usec = 0;

		switch (step % 8) {
		case 0:
		case 1:
			ask();
			break;
		case 2:
			forget(input_u8(&input) % DEVICES);
			break;
		case 3:
			flags = input_u8(&input);
			start_fails = flags & 1;
			start_deaf = flags & 2;
			break;
		case 4:
			if (n_sleeps++ < SLEEPS_MAX)
				usec = 600;
			break;
		case 5:
			if (n_processes > 0)
				use_process(&processes[input_u8(&input) % n_processes], step / 8);
			break;
		default:
			if (n_processes > 0)
				use_process(&processes[n_processes - 1], step / 8);
		}
		turn(event, usec);
	}
}

static void make_devices(void)
{
	for (uint32_t i = 0; i < DEVICES; i++) {
		DeviceSnapshot s = {};
		DeviceChange device_change;

		DEVICE_SUPPLY(&s, index, i);
		DEVICE_SUPPLY_TEXT(&s, name, "mlx5_0");
		DEVICE_SUPPLY(&s, port_count, PORTS);
		FUZZ_CHECK(cache_apply_device(&cache, &s, CHANGE_LIST, 0, &device_change) >= 0);
	}
}

static void start(sd_event *event)
{
	static const SourceHandler handler = {on_event,	 NULL,	  on_asking,
					      on_device, on_port, on_end};
	static const PoolTiming timing = {
		.answer_usec = 2000,
		.exit_usec = 500,
		.retry_usec = 100,
		.retry_max_usec = 400,
		.restart_usec = 50,
		.restart_max_usec = 200,
		.calm_usec = 1000,
		.queue_usec = 3000,
	};
	Config config = CONFIG_DEFAULT;

	config.query_timeout_usec = 1000;
	FUZZ_CHECK(pool_new(event, &config, "/none", &handler, NULL, &pool) >= 0);
	pool_set_timing(pool, &timing);
	make_devices();
	start_fails = start_deaf = false;
	n_calls = 0;
	memset(asked, 0, sizeof(asked));
}

static void stop(void)
{
	pool = pool_free(pool);
	cache_done(&cache);
	for (size_t i = 0; i < n_processes; i++)
		close_fd(processes[i].peer);
	n_processes = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static sd_event *event;

	if (!event) {
		log_max_level = -1;
		FUZZ_CHECK(sd_event_new(&event) >= 0);
	}
	input = (FuzzInput){data, size};
	start(event);
	run_steps(event);
	stop();
	return 0;
}
