/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A library that takes the place of librdmacm: what the connection manager of a kernel says of
 * peers, without RDMA. FAKE_CM is "ADDRESS=STEP:EVENT:STATUS ...". STEP is where the kernel does
 * not go on as usual: 0 the addresses, 1 the path, 2 the request. There EVENT (enum
 * rdma_cm_event_type) comes with STATUS; EVENT -1 is that the call fails with the errno STATUS, and
 * -2 that nothing comes. FAKE_CM_OPEN is the errno of opening it. FAKE_CM_TRIES are so
 * many tries that these are for: what is asked after them is answered as usual. With
 * FAKE_CM_AGAIN the channel says once that it has no event, though it is readable.
 * FAKE_CM_WAIT is how many milliseconds each call is allowed to wait. With FAKE_CM_IWARP there are
 * neither GIDs nor paths. The GID is that of 127.0.0.1, the MTU 4096, and the traffic class 106.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

typedef struct FakeId {
	struct rdma_cm_id id;
	struct ibv_sa_path_rec path;
	int step, event, status;
} FakeId;

static int events[2]; /* a pipe of struct rdma_cm_event */
static int n_tries;

static int fail(int error)
{
	errno = error;
	return -1;
}

/* What comes of step AT: TYPE, as usual, or what the script says. */
static int say(FakeId *f, int at, enum rdma_cm_event_type type)
{
	struct rdma_cm_event e = {.id = &f->id, .event = type};

	if (at == f->step) {
		if (f->event == -1)
			return fail(f->status);
		if (f->event == -2)
			return 0;
		e.event = (enum rdma_cm_event_type)f->event;
		e.status = f->status;
	}
	return write(events[1], &e, sizeof(e)) == sizeof(e) ? 0 : -1;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	const char *error = getenv("FAKE_CM_OPEN"), *tries = getenv("FAKE_CM_TRIES");
	struct rdma_event_channel *c = calloc(1, sizeof(*c));

	if (!c || pipe(events) < 0)
		abort();
	if (error && (!tries || n_tries++ < atoi(tries))) {
		free(c);
		errno = atoi(error);
		return NULL;
	}
	c->fd = events[0];
	return c;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	free(channel);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	FakeId *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->id.channel = channel;
	f->id.context = context;
	f->id.ps = ps;
	*id = &f->id;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	free(id);
	return 0;
}

static void check_wait(int timeout_ms)
{
	const char *wait = getenv("FAKE_CM_WAIT");

	if (wait && timeout_ms != atoi(wait))
		abort();
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *source, struct sockaddr *to,
		      int timeout_ms)
{
	const struct sockaddr_in *peer = (const struct sockaddr_in *)to;
	char text[INET_ADDRSTRLEN], *script = getenv("FAKE_CM"), *found;
	const char *tries = getenv("FAKE_CM_TRIES");
	FakeId *f = (FakeId *)id;

	(void)source;
	check_wait(timeout_ms);
	inet_ntop(AF_INET, &peer->sin_addr, text, sizeof(text));
	found = script ? strstr(script, text) : NULL;
	if (!found || ntohs(peer->sin_port) != 9 ||
	    sscanf(found + strlen(text), "=%d:%d:%d", &f->step, &f->event, &f->status) != 3)
		abort();
	if (tries && n_tries++ >= atoi(tries))
		f->step = -1;
	if (!getenv("FAKE_CM_IWARP"))
		memcpy(&id->route.addr.addr.ibaddr.sgid, "\0\0\0\0\0\0\0\0\0\0\377\377\177\0\0\1",
		       16);
	return say(f, 0, RDMA_CM_EVENT_ADDR_RESOLVED);
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	FakeId *f = (FakeId *)id;

	check_wait(timeout_ms);
	f->path.mtu = IBV_MTU_4096;
	f->path.traffic_class = 106;
	id->route.path_rec = &f->path;
	id->route.num_paths = !getenv("FAKE_CM_IWARP");
	return say(f, 1, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	if (param->qp_num == 0)
		return fail(EINVAL);
	return say((FakeId *)id, 2, RDMA_CM_EVENT_REJECTED);
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	struct rdma_cm_event *e;
	static bool said;

	if (getenv("FAKE_CM_AGAIN") && !said) {
		said = true;
		return fail(EAGAIN);
	}
	e = malloc(sizeof(*e));
	if (!e || read(channel->fd, e, sizeof(*e)) != sizeof(*e)) {
		free(e);
		return -1;
	}
	if (e->status == -1)
		errno = EACCES; /* as if the device could not be opened */
	*event = e;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	free(event);
	return 0;
}
