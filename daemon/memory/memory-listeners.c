/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "memory-listeners.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>

#include "log.h"

/* The most listeners of all users together. The number is never more than half of the descriptors
 * that the daemon may have. One user may have a quarter of the listeners: a node of a cluster runs
 * one or two processes for each core, and all of them belong to one user. */
#define LISTENERS_MAX 4096U
#define USER_SHARE    4U

/* So many are told before the other sources of the event loop have their turn: this takes some
 * 50 us. */
#define BATCH 64U

typedef struct Listener {
	Listeners *listeners;	 /* the set that it belongs to */
	uid_t uid;		 /* the user who asked for it */
	int fd;			 /* the write end of its pipe */
	sd_event_source *hangup; /* for FD: nobody has the read end any more */
	uint64_t told;		 /* the number of the last change that it was told of */
} Listener;

struct Listeners {
	sd_event *event;
	sd_event_source *rest; /* is enabled while some were not told of the last change */
	Listener **listeners;  /* in no order */
	size_t n_listeners;
	size_t next;	    /* index of the listener to look at next: all have their turn */
	size_t next_left;   /* the same, for whether it has left */
	size_t max;	    /* so many at most */
	uint64_t n_changes; /* how many changes there were: the number of the last one */
	uint64_t iteration; /* of the event loop in which the last change was sent */
};

static void listener_free(Listener *l)
{
	if (!l)
		return;
	sd_event_source_disable_unref(l->hangup);
	close_fd(l->fd);
	free(l);
}
DEFINE_CLEANUP(Listener, listener_free);

static void remove_listener(Listeners *n, Listener *l)
{
	for (size_t i = 0; i < n->n_listeners; i++)
		if (n->listeners[i] == l) {
			n->listeners[i] = n->listeners[--n->n_listeners];
			break;
		}
	listener_free(l);
}

/* Removes those of up to BATCH listeners that have left. */
static void remove_some(Listeners *n)
{
	struct pollfd polls[BATCH];
	Listener *looked[BATCH];
	unsigned int k = 0;

	for (; k < MIN(BATCH, n->n_listeners); k++) {
		if (n->next_left >= n->n_listeners)
			n->next_left = 0;
		looked[k] = n->listeners[n->next_left++];
		polls[k] = (struct pollfd){.fd = looked[k]->fd};
	}
	if (poll(polls, k, 0) <= 0)
		return;
	while (k-- > 0)
		if (polls[k].revents & POLLERR)
			remove_listener(n, looked[k]);
}

/* Many leave at once when a process with many ends. sd-event handles one source in a turn, and
 * looks at all that are left in the next one: alone, 4096 would take a second. */
static int on_hangup(_unused_ sd_event_source *s, _unused_ int fd, _unused_ uint32_t events,
		     void *userdata)
{
	Listener *l = userdata;
	Listeners *n = l->listeners;

	remove_listener(n, l);
	remove_some(n);
	return 0;
}

/* Tells up to BATCH listeners that do not know of the last change. Returns whether some are left
 * that were not looked at. */
static bool tell_some(Listeners *n)
{
	size_t looked = 0, told = 0;

	for (; looked < n->n_listeners && told < BATCH; looked++, n->next++) {
		Listener *l;

		if (n->next >= n->n_listeners)
			n->next = 0;
		l = n->listeners[n->next];
		if (l->told == n->n_changes)
			continue;
		l->told = n->n_changes;
		told++;
		/* EAGAIN: the pipe is full of what it did not read. EPIPE: on_hangup() follows. */
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

	n->n_changes++;
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
	_cleanup_(listener_free_pointer) Listener *l = NULL;
	int ends[2], r;

	if (n->n_listeners >= n->max)
		return -ENFILE;
	if (count_of_user(n, uid) >= n->max / USER_SHARE)
		return -EUSERS;
	if (!array_grow(n->listeners, n->n_listeners))
		return -ENOMEM;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	theirs = ends[0];
	ours = ends[1];
	/* One page, the smallest that there is: by default a pipe has 16. */
	(void)fcntl(ours, F_SETPIPE_SZ, 1);
	l = calloc(1, sizeof(Listener));
	if (!l)
		return -ENOMEM;
	*l = (Listener){.listeners = n, .uid = uid, .fd = steal_fd(&ours), .told = n->n_changes};
	/* Without any event asked for, epoll still reports EPOLLERR: the pipe has no reader. */
	r = sd_event_add_io(n->event, &l->hangup, l->fd, 0, on_hangup, l);
	if (r < 0)
		return r;
	n->listeners[n->n_listeners++] = steal_pointer(&l);
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

void listeners_free(Listeners *n)
{
	if (!n)
		return;
	listeners_end(n);
	free(n->listeners);
	sd_event_source_disable_unref(n->rest);
	sd_event_unref(n->event);
	free(n);
}
