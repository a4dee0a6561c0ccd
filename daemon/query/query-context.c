/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-context.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include "query-sysfs.h"

/* IBV_EVENT_DEVICE_SPEED_CHANGE of rdma-core 62 and Linux 7.0. */
#define EVENT_DEVICE_SPEED_CHANGE 20U

/* Events of one device that are read at most before those of the next device. */
#define BATCH_EVENTS 64

typedef struct Held {
	uint32_t device;
	struct ibv_context *context;
} Held;

struct Contexts {
	struct ibv_device **list; /* what libibverbs has listed; NULL: it must be asked */
	Held *held;		  /* the contexts that stay open, in no order */
	size_t n_held;
	int epoll; /* of the async descriptors of the held contexts */
};

int contexts_new(Contexts **ret)
{
	Contexts *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll < 0) {
		r = -errno;
		free(c);
		return r;
	}
	/* The first time, libibverbs loads all its providers, which takes long. Now no query waits
	 * for that. */
	c->list = ibv_get_device_list(NULL);
	*ret = c;
	return 0;
}

static void drop_list(Contexts *c)
{
	if (c->list)
		ibv_free_device_list(c->list);
	c->list = NULL;
}

Contexts *contexts_free(Contexts *c)
{
	if (!c)
		return NULL;
	for (size_t i = 0; i < c->n_held; i++)
		ibv_close_device(c->held[i].context);
	free(c->held);
	drop_list(c);
	close(c->epoll);
	free(c);
	return NULL;
}

static Held *find_held(const Contexts *c, uint32_t device)
{
	for (size_t i = 0; i < c->n_held; i++)
		if (c->held[i].device == device)
			return &c->held[i];
	return NULL;
}

bool contexts_holds(const Contexts *c, uint32_t device)
{
	return find_held(c, device) != NULL;
}

static struct ibv_device *find_listed(const Contexts *c, uint32_t device)
{
	for (struct ibv_device **d = c->list; d && *d; d++) {
		int index = ibv_get_device_index(*d);

		if (index >= 0 && (uint32_t)index == device)
			return *d;
	}
	return NULL;
}

/*
 * Whether the character device is there, is this device's, and may be opened. libibverbs must not
 * find that out: when it fails to open the node for whatever reason, it waits 5 s for udev to make
 * another. That is longer than a query may take.
 */
static int check_node(struct ibv_device *d, const char *name)
{
	_cleanup_close_ int fd = -EBADF;
	char path[128];
	AttrText owner;
	int r;

	snprintf(path, sizeof(path), "/sys/class/infiniband_verbs/%s/ibdev", d->dev_name);
	r = sysfs_read_text(AT_FDCWD, path, owner, sizeof(owner));
	if (r < 0)
		return r == -ENOENT ? -ENODEV : r;
	if (!streq(owner, name))
		return -ENODEV;
	snprintf(path, sizeof(path), "/dev/infiniband/%s", d->dev_name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : 0;
}

static int open_listed(Contexts *c, uint32_t device, const char *name, struct ibv_context **ret)
{
	struct ibv_device *d = find_listed(c, device);
	struct ibv_context *context;
	int r;

	if (!d)
		return -ENODEV;
	r = check_node(d, name);
	if (r < 0)
		return r;
	errno = 0;
	context = ibv_open_device(d);
	if (!context)
		return errno > 0 ? -errno : -EIO;
	*ret = context;
	return 0;
}

static int hold_context(Contexts *c, uint32_t device, struct ibv_context *context)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = device};
	int flags = fcntl(context->async_fd, F_GETFL);
	Held *held;

	if (flags < 0 || fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	held = reallocarray(c->held, c->n_held + 1, sizeof(*held));
	if (!held)
		return -ENOMEM;
	c->held = held;
	if (epoll_ctl(c->epoll, EPOLL_CTL_ADD, context->async_fd, &e) < 0)
		return -errno;
	held[c->n_held++] = (Held){device, context};
	return 0;
}

int contexts_get(Contexts *c, uint32_t device, const char *name, bool hold,
		 struct ibv_context **ret)
{
	const Held *held = find_held(c, device);
	struct ibv_context *context;
	int r = -ENODEV;

	if (held) {
		*ret = held->context;
		return 0;
	}
	if (c->list)
		r = open_listed(c, device, name, &context);
	if (r == -ENODEV) {
		/* The list may be older than the device or its name. A new list asks the kernel
		 * about all devices, so none is made only because a device of the list has gone. */
		drop_list(c);
		c->list = ibv_get_device_list(NULL);
		r = open_listed(c, device, name, &context);
	}
	if (r < 0)
		return r;
	if (hold)
		/* If that fails, only the events of the device are missing. */
		(void)hold_context(c, device, context);
	*ret = context;
	return 0;
}

void contexts_put(Contexts *c, uint32_t device, struct ibv_context *context)
{
	const Held *held = find_held(c, device);

	if (!held || held->context != context)
		ibv_close_device(context);
}

static void close_held(Contexts *c, uint32_t device)
{
	Held *held = find_held(c, device);

	if (!held)
		return;
	/* closing the descriptor takes it out of the epoll set */
	ibv_close_device(held->context);
	*held = c->held[--c->n_held];
}

void contexts_forget(Contexts *c, uint32_t device)
{
	close_held(c, device);
}

int contexts_fd(const Contexts *c)
{
	return c->epoll;
}

bool context_event_translate(unsigned int type, int port, uint32_t device, Event *ret)
{
	static const struct {
		unsigned int type;
		EventReason reason;
		bool whole_device;
	} events[] = {
		{IBV_EVENT_PORT_ACTIVE, REASON_PORT_ACTIVE, false},
		{IBV_EVENT_PORT_ERR, REASON_PORT_ERROR, false},
		{IBV_EVENT_LID_CHANGE, REASON_LID_CHANGE, false},
		{IBV_EVENT_SM_CHANGE, REASON_SM_CHANGE, false},
		{IBV_EVENT_CLIENT_REREGISTER, REASON_CLIENT_REREGISTER, false},
		{IBV_EVENT_PKEY_CHANGE, REASON_PKEY_CHANGE, false},
		{IBV_EVENT_GID_CHANGE, REASON_GID_CHANGE, false},
		/* hbl puts other things than a port into these */
		{IBV_EVENT_DEVICE_FATAL, REASON_DEVICE_FATAL, true},
		{EVENT_DEVICE_SPEED_CHANGE, REASON_SPEED_CHANGE, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		if (events[i].type == type) {
			*ret = (Event){device,
				       events[i].whole_device ? EVENT_ALL_PORTS : (uint32_t)port,
				       events[i].reason};
			return true;
		}
	return false;
}

/* Reads one event; false if there is none left. */
static bool drain_one(Contexts *c, uint32_t device, ContextEvent handler, void *userdata)
{
	const Held *held = find_held(c, device);
	struct ibv_async_event e;
	Event event;

	if (!held)
		return false;
	if (ibv_get_async_event(held->context, &e) < 0) {
		/* EIO, for example: the device of this context has gone. */
		if (errno != EAGAIN && errno != EINTR)
			close_held(c, device);
		return false;
	}
	/* To acknowledge an event about a CQ, QP or SRQ, libibverbs follows the pointer in it. This
	 * process has none of these: such an event is a mistake of the driver, and is dropped. */
	if (!context_event_translate(e.event_type, e.element.port_num, device, &event))
		return true;
	ibv_ack_async_event(&e);
	if (event.reason == REASON_DEVICE_FATAL)
		contexts_forget(c, device);
	handler(&event, userdata);
	return true;
}

void contexts_drain(Contexts *c, ContextEvent handler, void *userdata)
{
	struct epoll_event ready[32];
	/* What a round does not finish is reported again in the next (the set is level-triggered).
	 * There are enough rounds for every device to have its turn. */
	size_t rounds = c->n_held / ARRAY_SIZE(ready) + 1;

	while (rounds-- > 0) {
		int n = epoll_wait(c->epoll, ready, ARRAY_SIZE(ready), 0);

		for (int i = 0; i < n; i++)
			for (int k = 0; k < BATCH_EVENTS; k++)
				if (!drain_one(c, ready[i].data.u32, handler, userdata))
					break;
		if (n < (int)ARRAY_SIZE(ready))
			break;
	}
}
