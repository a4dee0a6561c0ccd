/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ping-cm.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>

#include "clock.h"
#include "decode.h"

/* The service "discard": nobody offers it over RDMA. */
#define SERVICE 9
/* A request has to name a queue pair, and none is made. */
#define QP_NUMBER 1

#define FUNCTIONS(F)                                                                               \
	F(ack_cm_event)                                                                            \
	F(connect)                                                                                 \
	F(create_event_channel)                                                                    \
	F(create_id)                                                                               \
	F(destroy_event_channel)                                                                   \
	F(destroy_id)                                                                              \
	F(get_cm_event)                                                                            \
	F(resolve_addr)                                                                            \
	F(resolve_route)

/* The library, once it is loaded. */
static struct {
#define F(name) __typeof__(&rdma_##name) name;
	FUNCTIONS(F)
#undef F
} rdmacm;

/* R is what a function of the library has returned: if it is not 0, errno says why. */
static int errno_of(int r)
{
	return r == 0 ? 0 : errno > 0 ? -errno : -EIO;
}

int ping_cm_open(struct rdma_event_channel **ret, const char **ret_why)
{
	void *library = dlopen("librdmacm.so.1", RTLD_NOW | RTLD_LOCAL);
	struct rdma_event_channel *channel;
	bool all = library != NULL;

#define F(name) all = all && (*(void **)&rdmacm.name = dlsym(library, "rdma_" #name));
	FUNCTIONS(F)
#undef F
	if (!all) {
		*ret_why = dlerror();
		return -ELIBACC;
	}
	errno = 0;
	channel = rdmacm.create_event_channel();
	if (!channel)
		return errno_of(-1);
	(void)fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	*ret = channel;
	return channel->fd;
}

void ping_cm_close(struct rdma_event_channel *channel)
{
	rdmacm.destroy_event_channel(channel);
}

void ping_try_start(PingTry *t, const PingSocket *to, const PingSocket *from)
{
	PingSocket peer = *to, source = from ? *from : (PingSocket){};
	int r;

	t->state = (PingState){};
	/* the port has the same place in an address of IPv6 */
	peer.v4.sin_port = htons(SERVICE);
	errno = 0;
	r = errno_of(rdmacm.create_id(t->channel, &t->id, t, RDMA_PS_TCP));
	if (r == 0)
		r = errno_of(rdmacm.resolve_addr(t->id, from ? &source.any : NULL, &peer.any,
						 t->wait_ms));
	if (r < 0)
		t->state = ping_failed(t->state, r, t->way);
}

void ping_try_end(PingTry *t)
{
	if (t->id)
		(void)rdmacm.destroy_id(t->id);
	t->id = NULL;
}

static void take_path(const struct rdma_route *route, PingWay *way)
{
	if (route->num_paths < 1 || !route->path_rec)
		return; /* iWARP has none */
	way->has_path = true;
	way->mtu = decode_number(ATTR_MTU, route->path_rec->mtu);
	way->service_level = route->path_rec->sl;
	way->traffic_class = route->path_rec->traffic_class;
}

/* Takes what is known now, and asks the kernel for what the new stage waits for. */
static int go_on(PingTry *t)
{
	struct rdma_conn_param p = {.qp_num = QP_NUMBER};

	if (t->state.stage == PING_STAGE_PATH) {
		memcpy(t->way->gid, &t->id->route.addr.addr.ibaddr.sgid, sizeof(t->way->gid));
		/* iWARP has none */
		t->way->has_gid = t->id->route.addr.addr.ibaddr.sgid.global.interface_id != 0;
		return errno_of(rdmacm.resolve_route(t->id, t->wait_ms));
	}
	if (t->state.stage == PING_STAGE_ANSWER) {
		take_path(&t->id->route, t->way);
		t->sent_usec = monotonic_now_usec();
		return errno_of(rdmacm.connect(t->id, &p));
	}
	t->state.took_usec = monotonic_now_usec() - t->sent_usec;
	return 0;
}

int ping_cm_next(struct rdma_event_channel *channel, PingTry **ret)
{
	struct rdma_cm_event *event;
	PingStage was;
	PingTry *t;
	int status, r;

	*ret = NULL;
	errno = 0;
	r = errno_of(rdmacm.get_cm_event(channel, &event));
	if (r < 0)
		return r == -EAGAIN ? 0 : r;
	t = event->id->context;
	was = t->state.stage;
	/* -1 is of the library itself: it could not open the device */
	status = event->status == -1 ? errno_of(-1) : event->status;
	t->state = ping_next(t->state, event->event, status, t->way);
	(void)rdmacm.ack_cm_event(event);
	if (t->state.stage != was) {
		r = go_on(t);
		if (r < 0)
			t->state = ping_failed(t->state, r, t->way);
	}
	*ret = t;
	return 0;
}
