/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-isolated.h"
#include "query-said.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "child.h"
#include "clock.h"
#include "compat.h"
#include "log.h"
#include "query-verbs.h"
#include "wire.h"

/* Whether FD is readable before USEC have passed. */
static bool wait_readable(int fd, uint64_t usec)
{
	uint64_t end = monotonic_now_usec() + usec, now;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int r;

	do {
		now = monotonic_now_usec();
		usec = now < end ? end - now : 0;
		r = poll(&p, 1, poll_msec(usec));
	} while (r < 0 && errno == EINTR);
	return r > 0;
}

/* The worker's side */

void isolation_done(Isolation *i)
{
	i->stray = close_fd(i->stray);
}

Isolated isolated_new(Isolation *i, const char *device, bool spared)
{
	Isolated p = {.isolation = i, .pidfd = -EBADF, .fd = -EBADF, .failed = spared};

	text_copy(p.device, sizeof(p.device), device);
	return p;
}

static int spawn(Isolated *p, const DvProvider *provider)
{
	const char *program = p->isolation->program ? p->isolation->program : "/proc/self/exe";
	char name[] = "rdmad-query", option[64], timeout[32];
	char *argv[] = {name, option, timeout, NULL};
	Child child;
	int r;

	snprintf(option, sizeof(option), "--isolated=%s", provider->name);
	snprintf(timeout, sizeof(timeout), "--timeout=%" PRIu64,
		 2 * p->isolation->answer_usec / USEC_PER_MSEC);
	r = child_start(program, argv, &child);
	if (r < 0)
		return r;
	p->pidfd = child.pidfd;
	p->fd = child.fd;
	return 0;
}

static int start(Isolated *p, const DvProvider *provider)
{
	Isolation *i = p->isolation;
	siginfo_t status = {};

	if (i->stray >= 0) {
		if (waitid(P_PIDFD, (id_t)i->stray, &status, WEXITED | WNOHANG) == 0 &&
		    status.si_pid == 0)
			return -EBUSY;
		i->stray = close_fd(i->stray);
	}
	return spawn(p, provider);
}

/* Closes the connection and waits for the end of the process, which is killed if that takes too
 * long or HARD. How it ended, into *RET. */
static void finish(Isolated *p, bool hard, siginfo_t *ret)
{
	Isolation *i = p->isolation;

	*ret = (siginfo_t){};
	p->fd = close_fd(p->fd);
	if (p->pidfd < 0)
		return;
	if (hard || !wait_readable(p->pidfd, i->answer_usec / 4))
		pidfd_send_signal(p->pidfd, SIGKILL, NULL, 0);
	if (wait_readable(p->pidfd, i->answer_usec / 4) &&
	    waitid(P_PIDFD, (id_t)p->pidfd, ret, WEXITED | WNOHANG) == 0)
		p->pidfd = close_fd(p->pidfd);
	else
		i->stray = steal_fd(&p->pidfd);
}

/* Ends a process that is of no use any more, and logs why. Returns ERROR. */
static int give_up(Isolated *p, int error, const char *why)
{
	siginfo_t status;

	p->gave_up = p->failed = true;
	finish(p, error != -EPIPE, &status);
	if (error == -EPIPE && status.si_code != CLD_EXITED && status.si_pid)
		log_warning("%s: the process that asked its own library died of signal %d, "
			    "attributes will be missing",
			    p->device, status.si_status);
	else
		log_warning("%s: the process that asked its own library %s, attributes will be "
			    "missing",
			    p->device, why);
	return error;
}

/* Whether SUPPLIED has only rows that the process may supply: scalars of verbs and direct verbs. */
static bool is_allowed(const AttrMask *supplied)
{
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++)
		if (mask_has(supplied, a) &&
		    (port_attributes[a].size == 0 || attr_is_text(port_attributes[a].type) ||
		     (port_attributes[a].source != SOURCE_VERBS &&
		      port_attributes[a].source != SOURCE_DV)))
			return false;
	return true;
}

static void take(const WirePort *answer, PortSnapshot *s)
{
	s->open_error = answer->open_error;
	for (PortAttr a = 0; a < _PORT_ATTR_MAX; a++) {
		const Attribute *row = &port_attributes[a];

		if (!mask_has(&answer->supplied, a))
			continue;
		port_supply_number(s, a, attr_get_raw(row, &answer->values));
	}
}

int isolated_query(Isolated *p, const DvProvider *provider, uint32_t device, uint32_t port,
		   PortSnapshot *s)
{
	WireMessage m = {.query = {.header = wire_header(WIRE_QUERY, port, device, 0),
				   .query = {.id = port, .device = device}}};
	const char *why = NULL;
	int r;

	/* unless the process says something else */
	s->open_error = -EPIPE;
	if (p->failed)
		return -EPIPE;
	if (p->pidfd < 0) {
		r = start(p, provider);
		if (r < 0) {
			p->failed = true;
			return log_debug_errno(r, "%s: cannot ask its own library: %m", p->device);
		}
	}
	port_set_add(&m.query.query.ports, port);
	r = wire_send(p->fd, &m);
	if (r < 0)
		return give_up(p, -EPIPE, "ended");
	if (!wait_readable(p->fd, p->isolation->answer_usec))
		return give_up(p, -ETIMEDOUT, "hangs");
	r = wire_receive(p->fd, &m, &why);
	if (r <= 0)
		return give_up(p, r < 0 && why ? -EBADMSG : -EPIPE, why ? why : "ended");
	if (m.header.type != WIRE_PORT || m.header.id != port || m.header.device != device ||
	    m.header.port != port || !is_allowed(&m.port.supplied))
		return give_up(p, -EBADMSG, "sent what was not asked for");
	take(&m.port, s);
	return m.port.error;
}

void isolated_done(Isolated *p)
{
	siginfo_t status;

	finish(p, false, &status);
}

/* The process */

/* The kernel ends this process after USEC, or never if that is 0. Before Linux 6.12 the worker may
 * not be allowed to end it. */
static void end_after(uint64_t usec)
{
	struct itimerval t = {.it_value = {.tv_sec = (time_t)(usec / USEC_PER_SEC),
					   .tv_usec = (suseconds_t)(usec % USEC_PER_SEC)}};

	setitimer(ITIMER_REAL, &t, NULL);
}

/* -ENODEV: libibverbs has no such device. -EOPNOTSUPP: PROVIDER has no use for it. */
static int open_device(const DvProvider *provider, uint32_t index, struct ibv_context **ret)
{
	struct ibv_device **list = said_list_devices();
	int r = -ENODEV;

	for (size_t i = 0; list && list[i]; i++) {
		if (ibv_get_device_index(list[i]) != (int)index)
			continue;
		r = -EOPNOTSUPP;
		if (!provider->is_usable(list[i]))
			break;
		errno = 0;
		*ret = said_open_device(list[i]);
		r = *ret ? 0 : errno > 0 ? -errno : -EIO;
		break;
	}
	if (list)
		ibv_free_device_list(list);
	return r;
}

static int answer_port(const DvProvider *provider, struct ibv_context *context, uint32_t port,
		       PortSnapshot *s)
{
	VerbsDevice d = {.driver_id = -1};
	_cleanup_(device_snapshot_done) DeviceSnapshot ignored = {};
	int verbs = 0, r;

	(void)verbs_query_device(context, &ignored, &d.cap_flags);
	if (port <= VERBS_PORT_MAX)
		verbs = verbs_query_port(context, port, &d, s);
	r = provider->query_port(context, port, s);
	return verbs < 0 ? verbs : r;
}

int isolated_serve(int fd, const DvProvider *provider, uint64_t answer_usec)
{
	struct ibv_context *context = NULL;
	int opened = 0, r = 0;

	for (;;) {
		WireMessage m, answer;
		_cleanup_(port_snapshot_done) PortSnapshot s = {};
		const char *why = NULL;
		uint32_t port = 1;

		end_after(0);
		r = wire_receive(fd, &m, &why);
		/* A little later than the worker gives up, and before it stops waiting for the end.
		 */
		end_after(answer_usec / 8 + (r > 0 ? answer_usec : answer_usec / 4));
		if (r <= 0)
			break;
		while (port <= RDMA_PORT_MAX && !port_set_has(&m.query.query.ports, port))
			port++;
		if (m.header.type != WIRE_QUERY || port > RDMA_PORT_MAX) {
			r = -EBADMSG;
			break;
		}
		/* Once: a device that is in use is not tried again for its other ports. */
		if (!context && opened == 0)
			opened = open_device(provider, m.query.query.device, &context);
		if (opened < 0)
			provider->open_failed(opened, &s);
		answer = (WireMessage){
			.port = {.header =
					 wire_header(WIRE_PORT, m.header.id, m.header.device, port),
				 .error = opened < 0 ? opened
						     : answer_port(provider, context, port, &s),
				 .open_error = opened}};
		answer.port.values = s.values;
		/* none of these rows is a text */
		answer.port.values.texts = NULL;
		answer.port.supplied = s.supplied;
		r = wire_send(fd, &answer);
		if (r < 0)
			break;
	}
	if (context)
		ibv_close_device(context);
	return r == -EPIPE || r == -ECONNRESET ? 0 : r;
}
