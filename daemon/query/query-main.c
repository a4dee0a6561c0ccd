/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rdmad-query, the worker of rdmad: the only program of rdmad that opens /dev/infiniband and asks
 * drivers. The worker takes queries from a socket, one after the other, reports async events of the
 * contexts that it holds, asks about the ports of the events if it has leave, and ends with the
 * socket. Any of its calls may block for as long as the firmware likes: the core watches the clock,
 * not the worker.
 */

#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "clock.h"
#include "log.h"
#include "nursery.h"
#include "query-events.h"
#include "query-isolated.h"
#include "query-nldev.h"
#include "query-options.h"
#include "query-print.h"
#include "query-wall.h"
#include "wire.h"

static Options arg = OPTIONS_DEFAULT;

/* Answers and events on the socket */

/* Parts of an answer that are not sent yet */
static WirePacket packet;

static int send_device(void *userdata, const Query *q, const DeviceSnapshot *s)
{
	int fd = *(int *)userdata;
	int r = wire_put_device(fd, &packet, q->id, q->device, s);

	/* Sent at once: the core must see that the worker lives, for the ports may take long. */
	return r < 0 ? r : wire_flush(fd, &packet);
}

static int send_port(void *userdata, const Query *q, uint32_t port, int error,
		     const PortSnapshot *s, bool last)
{
	int fd = *(int *)userdata;
	int r = wire_put_port(fd, &packet, q->id, q->device, port, error, s);

	return r < 0 || last ? r : wire_flush(fd, &packet);
}

static int send_end(void *userdata, const Query *q, int error, bool library_failed,
		    const char *text)
{
	int fd = *(int *)userdata, r;
	WireMessage m = {.end = {.header = wire_header(WIRE_END, q->id, q->device, 0),
				 .error = error,
				 .library_failed = library_failed}};

	text_copy(m.end.text, sizeof(m.end.text), text);
	r = wire_put(fd, &packet, &m);
	return r < 0 ? r : wire_flush(fd, &packet);
}

static const Sink socket_sink = {send_device, send_port, send_end, &arg.fd};

/* Events on their way to the core. They share a packet, until something may block. */
typedef struct Report {
	Touched touched;
	bool at_once; /* each is sent before the next is read */
	int error;    /* of sending */
} Report;

static void send_event(const Event *event, void *userdata)
{
	WireMessage m = {.event = {.header = wire_header(WIRE_EVENT, 0, event->device, event->port),
				   .reason = event->reason}};
	Report *report = userdata;

	touched_add(&report->touched, event);
	if (report->error == 0)
		report->error = wire_put(arg.fd, &packet, &m);
	/* After an event of a whole device its context may be closed. */
	if (report->error == 0 && (report->at_once || !touched_is_port(event)))
		report->error = wire_flush(arg.fd, &packet);
}

/* The loop */

static int answer_query(Querier *querier, const Query *q);

/* Has the core watch the clock, and then asks Q, about which it has not asked. */
static int ask_by_itself(Querier *querier, const Query *q)
{
	WireMessage m = {.asking = {.header = wire_header(WIRE_ASKING, q->id, q->device, 0),
				    .parts = q->parts,
				    .ports = q->ports}};
	int r = wire_put(arg.fd, &packet, &m);

	if (r == 0)
		r = wire_flush(arg.fd, &packet);
	return r < 0 ? r : answer_query(querier, q);
}

/* Whether what REPORT says may be asked now; then *RET is the query. If there were so many events
 * that more may be there, the core asks when it has seen them all. */
static bool may_ask(Querier *querier, const Report *report, Query *ret)
{
	const Touched *t = &report->touched;

	return !report->at_once && t->n < EVENTS_BATCH &&
	       contexts_holds(querier->contexts, t->device) &&
	       leaves_take(&querier->leaves, t, monotonic_now_usec(), ret);
}

/* ALONE: the core has sent nothing that was not read. */
static int report_events(Querier *querier, bool alone)
{
	Report report = {.at_once = contexts_have_news(querier->contexts)};
	Query q;

	events_drain(querier->contexts, send_event, &report);
	if (report.error < 0)
		return report.error;
	if (alone && may_ask(querier, &report, &q))
		return ask_by_itself(querier, &q);
	return wire_flush(arg.fd, &packet);
}

static int answer_query(Querier *querier, const Query *q)
{
	int r = query_run(querier, q, &socket_sink);

	return r == 0 && contexts_have_news(querier->contexts) ? report_events(querier, false) : r;
}

static int take_query(Querier *querier, const Query *q)
{
	leaves_note(&querier->leaves, q);
	return answer_query(querier, q);
}

static int answer(Querier *querier, const WireMessage *m)
{
	switch ((WireType)m->header.type) {
	case WIRE_FORGET:
		querier_forget(querier, m->header.device);
		return 0;
	case WIRE_HURRY:
		return 0;
	case WIRE_QUERY:
		return take_query(querier, &m->query.query);
	case WIRE_DEVICE:
	case WIRE_PORT:
	case WIRE_TABLE:
	case WIRE_END:
	case WIRE_EVENT:
	case WIRE_ASKING:
	case _WIRE_MAX:
		break;
	}
	return -EBADMSG;
}

/* 1: goes on, 0: the core has closed the socket. */
static int receive(Querier *querier)
{
	const char *why = "";
	WireMessage m;
	int r = wire_receive(arg.fd, &m, &why);

	if (r == -EBADMSG)
		return log_error_errno(r, "Received a packet that is no message: %s", why);
	if (r <= 0)
		return r == -EAGAIN ? 1 : r;
	r = answer(querier, &m);
	return r < 0 ? r : 1;
}

static int loop(Querier *querier)
{
	for (;;) {
		struct pollfd fds[] = {
			{.fd = arg.fd, .events = POLLIN},
			{.fd = contexts_fd(querier->contexts), .events = POLLIN},
		};
		int r = poll(fds, ARRAY_SIZE(fds), -1);

		if (r < 0 && errno != EINTR)
			return -errno;
		if (r < 0)
			continue;
		/* Events first: the answer to a query that was sent later has what they announce,
		 * and the core need not ask again. */
		if (fds[1].revents) {
			r = report_events(querier, !fds[0].revents);
			if (r < 0)
				return r;
		}
		if (fds[0].revents) {
			r = receive(querier);
			if (r <= 0)
				return r;
		}
	}
}

/* Whether there is an event, or a message of the core that is not to be had later: see wire.h. */
static bool is_awaited(void *userdata)
{
	const Querier *querier = userdata;
	struct pollfd events = {.fd = contexts_fd(querier->contexts), .events = POLLIN};
	WireQuery query;
	ssize_t n;

	if (poll(&events, 1, 0) > 0)
		return true;
	n = recv(arg.fd, &query, sizeof(query), MSG_PEEK | MSG_DONTWAIT);
	if (n < 0)
		return errno != EAGAIN && errno != EINTR;
	return (size_t)n < sizeof(query) || query.header.type != WIRE_QUERY ||
	       query.query.kind == QUERY_ATTRIBUTES;
}

static int serve(Querier *querier)
{
	int flags = fcntl(arg.fd, F_GETFL), r;

	querier->gives_way = is_awaited;
	querier->userdata = querier;

	/* A full socket makes the worker wait, not lose an answer. */
	if (flags < 0 || fcntl(arg.fd, F_SETFL, flags & ~O_NONBLOCK) < 0 ||
	    fcntl(arg.fd, F_SETFD, FD_CLOEXEC) < 0)
		return log_error_errno(-errno, "Descriptor %i: %m", arg.fd);
	r = loop(querier);
	/* The end of the core is no failure of the worker. */
	return r == -EPIPE ? 0 : r;
}

/* --query=NAME[/PORT] */

static int print_query(Querier *querier)
{
	Query q = {.id = 1, .attributes = true, .health = true, .parts = READ_ALL};
	_cleanup_free_ char *name = strdup(arg.query);
	_cleanup_(device_snapshot_done) DeviceSnapshot device = {};
	Sink sink = print_sink;
	char *slash;
	uint64_t port = 0;
	int r;

	if (!name)
		return -ENOMEM;
	sink.userdata = stdout;
	slash = strchr(name, '/');
	if (slash) {
		*slash = '\0';
		if (text_to_u64(slash + 1, RDMA_PORT_MAX, &port) < 0 || port == 0)
			return log_error_errno(-EINVAL, "Not a port from 1 to %u: %s",
					       RDMA_PORT_MAX, slash + 1);
	}
	r = netlink_open(&querier->nldev, NETLINK_RDMA);
	if (r == 0)
		r = nldev_find_device(&querier->nldev, name, &q.device);
	if (r == 0)
		r = nldev_get_device(&querier->nldev, q.device, &device);
	if (r < 0)
		return log_error_errno(r, "%s: %m", name);
	for (uint32_t p = 1; p <= MIN(device.values.port_count, RDMA_PORT_MAX); p++)
		if (port == 0 || port == p)
			port_set_add(&q.ports, p);
	if (port_set_is_empty(&q.ports) && port)
		return log_error_errno(-ENODEV, "%s has no port %u", name, (unsigned int)port);
	return query_run(querier, &q, &sink);
}

/* How long a worker may wait for one part of an answer: half of the time that the core waits. */
static uint64_t answer_usec(void)
{
	return arg.timeout_usec / 2;
}

/* A worker without the whole wall serves all the same. */
static void put_on_wall(bool isolates)
{
	int r;

	log_to_stderr();
	r = wall_put_on(isolates);
	/* The core logs once that the kernel has no Landlock. */
	if (r < 0 && r != -EOPNOTSUPP)
		log_warning_errno(r, "Cannot give up all the rights that are not needed: %m");
}

/* Returns in each new worker, with 1, as if that had been executed. */
static int run_nursery(void)
{
	int fd;

	prctl(PR_SET_NAME, "rdmad-nursery");
	contexts_prepare();
	wall_prepare();
	/* Each worker puts on its own wall too. */
	put_on_wall(true);
	fd = nursery_serve(arg.fd);
	if (fd <= 0)
		return fd == -EPIPE ? 0 : fd;
	prctl(PR_SET_NAME, "rdmad-query");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	arg.fd = fd;
	return 1;
}

static int run_worker(void)
{
	Querier querier;
	int r = arg.nursery ? run_nursery() : 1;

	if (r <= 0)
		return r;
	r = querier_init(&querier, &arg.policy, answer_usec());
	if (r < 0)
		return log_error_errno(r, "Cannot start: %m");
	put_on_wall(arg.policy.hbl);
	r = arg.query ? print_query(&querier) : serve(&querier);
	querier_done(&querier);
	return r;
}

static int run(void)
{
	if (arg.query)
		arg.policy.hold = false;
	else
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!arg.isolated)
		return run_worker();
	prctl(PR_SET_NAME, "rdmad-isolated");
	put_on_wall(false);
	return isolated_serve(arg.fd, arg.isolated, answer_usec());
}

int main(int argc, char *argv[])
{
	int r = options_parse(argc, argv, &arg);

	if (r > 0)
		r = run();
	options_done(&arg);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
