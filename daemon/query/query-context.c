/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-context.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include "query-said.h"
#include "query-sysfs.h"

typedef struct Held {
	uint32_t device;
	struct ibv_context *context;
	bool retired; /* only its events are still wanted */
	bool late;    /* what happened to the device before it was opened may not be known */
} Held;

struct Contexts {
	struct ibv_device **list; /* what libibverbs has listed; NULL: it must be asked */
	Held *held;		  /* the contexts that stay open, in no order */
	size_t n_held;
	int epoll; /* of the async descriptors of the held contexts */
};

static struct ibv_device **listed; /* by contexts_prepare() */

void contexts_prepare(void)
{
	listed = said_list_devices();
}

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
	c->list = listed ? steal_pointer(&listed) : said_list_devices();
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

static Held *find(const Contexts *c, uint32_t device, bool retired)
{
	for (size_t i = 0; i < c->n_held; i++)
		if (c->held[i].device == device && c->held[i].retired == retired)
			return &c->held[i];
	return NULL;
}

static Held *find_held(const Contexts *c, uint32_t device)
{
	return find(c, device, false);
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

bool contexts_lists(const Contexts *c, uint32_t device)
{
	return find_listed(c, device) != NULL;
}

/*
 * Whether the character device is there, is this device's, and may be opened. libibverbs must not
 * try first: when it fails to open the node for whatever reason, it waits 5 s for udev to make
 * another, longer than a query may take.
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
	context = said_open_device(d);
	if (!context)
		return errno > 0 ? -errno : -EIO;
	*ret = context;
	return 0;
}

static int hold_context(Contexts *c, uint32_t device, struct ibv_context *context)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = device};
	int flags = fcntl(context->async_fd, F_GETFL);
	bool late;

	if (flags < 0 || fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	if (!array_grow(c->held, c->n_held))
		return -ENOMEM;
	if (epoll_ctl(c->epoll, EPOLL_CTL_ADD, context->async_fd, &e) < 0)
		return -errno;
	/* A context that this one replaces has the events from before. */
	late = !find(c, device, true);
	c->held[c->n_held++] = (Held){.device = device, .context = context, .late = late};
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
		c->list = said_list_devices();
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

static void close_held(Contexts *c, Held *held)
{
	if (!held)
		return;
	/* closing the descriptor takes it out of the epoll set */
	ibv_close_device(held->context);
	*held = c->held[--c->n_held];
}

void contexts_forget(Contexts *c, uint32_t device)
{
	close_held(c, find_held(c, device));
}

void contexts_retire(Contexts *c, uint32_t device)
{
	Held *held = find_held(c, device);

	if (held)
		held->retired = true;
}

static Held *find_retired(const Contexts *c)
{
	for (size_t i = 0; i < c->n_held; i++)
		if (c->held[i].retired)
			return &c->held[i];
	return NULL;
}

struct ibv_context *contexts_retired(const Contexts *c, uint32_t *ret_device)
{
	const Held *held = find_retired(c);

	if (!held)
		return NULL;
	*ret_device = held->device;
	return held->context;
}

void contexts_close_retired(Contexts *c)
{
	close_held(c, find_retired(c));
}

void contexts_set_read(Contexts *c, uint32_t device)
{
	Held *held = find_held(c, device);

	if (held)
		held->late = false;
}

bool contexts_have_news(const Contexts *c)
{
	for (size_t i = 0; i < c->n_held; i++)
		if (c->held[i].retired || c->held[i].late)
			return true;
	return false;
}

bool contexts_next_late(Contexts *c, uint32_t *ret_device)
{
	for (size_t i = 0; i < c->n_held; i++)
		if (!c->held[i].retired && c->held[i].late) {
			c->held[i].late = false;
			*ret_device = c->held[i].device;
			return true;
		}
	return false;
}

int contexts_fd(const Contexts *c)
{
	return c->epoll;
}

size_t contexts_count(const Contexts *c)
{
	return c->n_held;
}

struct ibv_context *contexts_find(const Contexts *c, uint32_t device)
{
	const Held *held = find_held(c, device);

	return held ? held->context : NULL;
}
