/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "memory-listeners.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "log.h"

/* The most listeners: of all users, never more than half of the daemon's descriptors, and a quarter
 * of that for one user. A node of a cluster runs a process or two for each core, of one user. */
#define LISTENERS_MAX 4096U
#define USER_SHARE    4U

/* How many are told before others in the event loop have their turn: some 50 us. */
#define BATCH 64U

typedef struct Listener {
	Listeners *notice;
	uid_t uid;
	int fd;
	sd_event_source *hangup;
	uint64_t told; /* the change of which it was told last */
} Listener;

struct Listeners {
	sd_event *event;
	sd_event_source *rest; /* for those that are not told at once */
	Listener **listeners;
	size_t n_listeners, next; /* NEXT is told next */
	size_t max;
	uint64_t changes;
	uint64_t iteration; /* of the event loop in which listeners were told at once */
};

static void listener_free(Listener *l)
{
	sd_event_source_disable_unref(l->hangup);
	close_fd(l->fd);
	free(l);
}

static void drop(Listeners *n, Listener *l)
{
	for (size_t i = 0; i < n->n_listeners; i++)
		if (n->listeners[i] == l) {
			n->listeners[i] = n->listeners[--n->n_listeners];
			break;
		}
	listener_free(l);
}

/* Nobody has the read end any more. */
static int on_hangup(_unused_ sd_event_source *s, _unused_ int fd, _unused_ uint32_t events,
		     void *userdata)
{
	Listener *l = userdata;

	drop(l->notice, l);
	return 0;
}

/* Tells up to BATCH of the listeners that have not been told. Returns whether some are left. */
static bool tell_some(Listeners *n)
{
	size_t looked = 0, told = 0;

	for (; looked < n->n_listeners && told < BATCH; looked++, n->next++) {
		Listener *l;

		if (n->next >= n->n_listeners)
			n->next = 0;
		l = n->listeners[n->next];
		if (l->told == n->changes)
			continue;
		l->told = n->changes;
		told++;
		/* EAGAIN: it has unread notices. EPIPE: on_hangup() comes. */
		if (write(l->fd, "", 1) < 0 && errno != EAGAIN && errno != EPIPE)
			log_debug_errno(-errno, "Cannot tell of a change, ignoring: %m");
	}
	return looked < n->n_listeners;
}

static int on_rest(sd_event_source *s, void *userdata)
{
	if (!tell_some(userdata))
		sd_event_source_set_enabled(s, SD_EVENT_OFF);
	return 0;
}

void listeners_send(Listeners *n)
{
	uint64_t iteration = 0;

	n->changes++;
	if (n->n_listeners == 0)
		return;
	sd_event_get_iteration(n->event, &iteration);
	if (iteration == n->iteration || tell_some(n))
		sd_event_source_set_enabled(n->rest, SD_EVENT_ON);
	n->iteration = iteration;
}

void listeners_end(Listeners *n)
{
	while (n->n_listeners > 0)
		listener_free(n->listeners[--n->n_listeners]);
	n->next = 0;
}

static size_t count_of_user(const Listeners *n, uid_t uid)
{
	size_t count = 0;

	for (size_t i = 0; i < n->n_listeners; i++)
		count += n->listeners[i]->uid == uid;
	return count;
}

int listeners_add(Listeners *n, uid_t uid, int *ret_fd)
{
	_cleanup_close_ int ours = -EBADF, theirs = -EBADF;
	Listener **listeners, *l;
	int ends[2], r;

	if (n->n_listeners >= n->max)
		return -ENFILE;
	if (count_of_user(n, uid) >= n->max / USER_SHARE)
		return -EUSERS;
	listeners = reallocarray(n->listeners, n->n_listeners + 1, sizeof(*listeners));
	if (!listeners)
		return -ENOMEM;
	n->listeners = listeners;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	theirs = ends[0];
	ours = ends[1];
	/* the size of a page; what the kernel gives by default is of use to nobody here */
	(void)fcntl(ours, F_SETPIPE_SZ, 1);
	l = calloc(1, sizeof(Listener));
	if (!l)
		return -ENOMEM;
	*l = (Listener){.notice = n, .uid = uid, .fd = ours, .told = n->changes};
	/* no event but the error that a pipe without readers is */
	r = sd_event_add_io(n->event, &l->hangup, ours, 0, on_hangup, l);
	if (r < 0) {
		free(l);
		return r;
	}
	steal_fd(&ours);
	listeners[n->n_listeners++] = l;
	*ret_fd = steal_fd(&theirs);
	return 0;
}

int listeners_new(sd_event *event, Listeners **ret)
{
	_cleanup_(listeners_free_pointer) Listeners *n = calloc(1, sizeof(Listeners));
	struct rlimit files;
	int r;

	if (!n)
		return -ENOMEM;
	n->event = sd_event_ref(event);
	n->iteration = UINT64_MAX;
	n->max = LISTENERS_MAX;
	if (getrlimit(RLIMIT_NOFILE, &files) >= 0)
		n->max = MIN((size_t)files.rlim_cur / 2, n->max);
	r = sd_event_add_defer(event, &n->rest, on_rest, n);
	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(n->rest, SD_EVENT_OFF);
	if (r < 0)
		return r;
	*ret = steal_pointer(&n);
	return 0;
}

Listeners *listeners_free(Listeners *n)
{
	listeners_end(n);
	free(n->listeners);
	sd_event_source_disable_unref(n->rest);
	sd_event_unref(n->event);
	free(n);
	return NULL;
}
