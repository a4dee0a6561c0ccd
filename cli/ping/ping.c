/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * rdmactl ping: whether the RDMA stacks of peers answer. All peers are asked at the same time, and
 * each again at an interval. What is known of the ports comes from rdmad, the route and the answer
 * come from the kernel. rdmactl wait --peer asks in the same way, until each peer has answered.
 */

#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>

#include "bus.h"
#include "clock.h"
#include "commands.h"
#include "decode.h"
#include "format.h"
#include "gids.h"
#include "json.h"
#include "ping-cm.h"
#include "ping-mtu.h"
#include "ping-print.h"
#include "ping.h"
#include "selection.h"

static const char *arg_from;
static uint64_t arg_count = 3, arg_interval_usec = USEC_PER_SEC,
		arg_timeout_usec = 5 * USEC_PER_SEC;

static ExitStatus parse_time(const Option *o, const char *argument)
{
	return option_interval(o, argument, USEC_PER_SEC / 5);
}

/* clang-format off */
const Option ping_options[] = {
	{"from",     0,   "PORT",   "Ask from an address of this port", option_text,  &arg_from,          NULL,                       0},
	{"count",    'c', "NUMBER", "Ask each peer so often (3)",       option_count, &arg_count,         "a number from 1",          0},
	{"interval", 0,   "SEC",    "Ask again after this time (1)",    parse_time,   &arg_interval_usec, "seconds from 0.2 to 3600", 0},
	{"timeout",  0,   "SEC",    "Wait so long for each answer (5)", parse_time,   &arg_timeout_usec,  "seconds from 0.2 to 3600", 0},
	{},
};
/* clang-format on */

typedef struct Peer {
	PingResult result;
	PingSocket address, source;
	const PingSocket *from; /* SOURCE, or NULL: the kernel chooses */
	PingTry try;
	bool is_asked;	    /* the try waits for an answer */
	bool size_asked;    /* whether large packets arrive, after its answer */
	uint64_t due_usec;  /* the end of the try, or the begin of the next; UINT64_MAX: neither */
	unsigned int shown; /* how much of the way was printed */
} Peer;

typedef struct Ping {
	Context *c;
	const char *what; /* the command */
	struct rdma_event_channel *channel;
	int fd;		  /* of its events; a negative errno: it cannot be used */
	Selection from;	  /* the port of --from */
	ObjectList ports; /* those that were read */
	Peer *peers;
	size_t n, n_left;  /* those that are asked still */
	bool is_wait;	   /* a peer is asked until it can be used, and nothing is printed */
	uint64_t end_usec; /* on CLOCK_MONOTONIC; UINT64_MAX: when no peer is left */
} Ping;

static void ping_done(Ping *p)
{
	for (size_t i = 0; i < p->n; i++) {
		ping_try_end(&p->peers[i].try);
		free(p->peers[i].result.tries);
	}
	free(p->peers);
	if (p->channel)
		ping_cm_close(p->channel);
	selection_done(&p->from);
	object_list_done(&p->ports);
}

/* Ports */

/* The port that rdmad finds by WHAT; NULL if it finds none. */
static const Object *find_port(Ping *p, const char *what, uint32_t *ret_gid)
{
	_cleanup_(found_paths_done) FoundPaths found = {};

	if (ports_find(p->c->bus, what, NULL, &found, NULL) < 0 || found.n == 0 ||
	    ports_read_one(p->c->bus, found.items[0].path, &p->ports, NULL) < 0)
		return NULL;
	*ret_gid = found.items[0].gid;
	return object_list_find(&p->ports, found.items[0].path);
}

/* The VLAN of the GID at this INDEX; 0: none, or it is not known. */
static uint32_t find_vlan(const Object *port, uint32_t index)
{
	GidWalk w = gid_walk(port);

	for (const GidEntry *e; (e = gid_next(&w));)
		if (e->index == index)
			return e->vlan_id;
	return 0;
}

/* The first address of the family of PEER that is one of the port of --from. */
static ExitStatus find_source(Ping *p, Peer *peer)
{
	struct ifaddrs *all = NULL;
	char text[PING_ADDRESS_MAX], name[96];
	uint32_t gid;

	if (getifaddrs(&all) < 0)
		return bus_complain("ping", NULL, -errno);
	for (const struct ifaddrs *a = all; a && !peer->from; a = a->ifa_next) {
		const Object *port;

		if (!a->ifa_addr || a->ifa_addr->sa_family != peer->address.any.sa_family)
			continue;
		memcpy(&peer->source, a->ifa_addr,
		       a->ifa_addr->sa_family == AF_INET ? sizeof(peer->source.v4)
							 : sizeof(peer->source.v6));
		ping_format_address(&peer->source, text);
		port = find_port(p, text, &gid);
		if (port && streq(port->path, p->from.ports[0]->path))
			peer->from = &peer->source;
	}
	freeifaddrs(all);
	if (peer->from)
		return STATUS_OK;
	return failure("ping: %s has no address to ask %s from",
		       object_name(p->from.ports[0], name), peer->result.way.address);
}

/* Tries */

/* Prints the way, and again if more of it is known than before. */
static void show_way(FILE *f, Peer *peer)
{
	const PingWay *way = &peer->result.way;
	unsigned int known = 1U + way->has_gid + way->has_path;

	if (known > peer->shown)
		ping_print_way(f, way);
	peer->shown = MAX(peer->shown, known);
}

static int finish_try(Ping *p, Peer *peer)
{
	PingResult *r = &peer->result;
	bool is_last;

	ping_try_end(&peer->try);
	peer->is_asked = false;
	if (p->is_wait)
		r->n = 0; /* only the last try counts */
	if (!array_grow(r->tries, r->n))
		return -ENOMEM;
	r->tries[r->n++] = peer->try.state;
	r->n_answered += peer->try.state.stage == PING_STAGE_DONE;
	if (!p->c->json && !p->is_wait) {
		show_way(p->c->out, peer);
		ping_print_try(p->c->out, r);
		(void)fflush(p->c->out);
	}
	is_last = p->is_wait ? r->n_answered > 0 : r->n == arg_count;
	p->n_left -= is_last;
	peer->due_usec = is_last ? UINT64_MAX : monotonic_now_usec() + arg_interval_usec;
	return 0;
}

/* Looks for the address of the peer. */
static void find_address(Peer *peer)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
	PingWay *way = &peer->result.way;
	int r = getaddrinfo(way->peer, NULL, &hints, &found);

	peer->try.state = (PingState){};
	if (r != 0) {
		peer->try.state = (PingState){PING_STAGE_BROKEN, PING_LINK_NAME, r, 0};
		return;
	}
	memcpy(&peer->address, found->ai_addr, MIN(found->ai_addrlen, sizeof(peer->address)));
	freeaddrinfo(found);
	ping_format_address(&peer->address, way->address);
}

/* Looks for what comes before the connection manager, if the name has an address. */
static PingState look(Ping *p, Peer *peer)
{
	PingWay *way = &peer->result.way;
	const char *why;
	int r = ping_find_route(&peer->address, peer->from, way);

	if (r < 0)
		return (PingState){PING_STAGE_BROKEN, PING_LINK_ROUTE, r, 0};
	if (!way->port)
		way->port = find_port(p, way->source, &way->gid_index);
	if (!way->port)
		way->port = find_port(p, way->netdev, &way->gid_index);
	way->vlan = find_vlan(way->port, way->gid_index);
	if (p->fd < 0)
		p->fd = ping_cm_open(&p->channel, &why);
	if (p->fd < 0)
		return (PingState){PING_STAGE_BROKEN, PING_LINK_RDMA_CM, p->fd, 0};
	return (PingState){};
}

static int start_try(Ping *p, Peer *peer)
{
	PingTry *t = &peer->try;

	if (!*peer->result.way.address)
		find_address(peer);
	if (*peer->result.way.address)
		t->state = look(p, peer);
	t->channel = p->channel;
	if (t->state.stage != PING_STAGE_BROKEN)
		ping_try_start(t, &peer->address, peer->from);
	peer->is_asked = true;
	peer->due_usec = monotonic_now_usec() + arg_timeout_usec;
	return t->state.stage == PING_STAGE_BROKEN ? finish_try(p, peer) : 0;
}

static int take_event(Ping *p)
{
	PingTry *t;
	Peer *peer;
	int r = ping_cm_next(p->channel, &t);

	if (r < 0 || !t || t->state.stage < PING_STAGE_DONE)
		return r;
	peer = (Peer *)((char *)t - offsetof(Peer, try));
	return finish_try(p, peer);
}

/* Does what is due, and *RET_DUE_USEC is when the next is. */
static int do_due(Ping *p, uint64_t *ret_due_usec)
{
	*ret_due_usec = UINT64_MAX;
	for (size_t i = 0; i < p->n; i++) {
		Peer *peer = &p->peers[i];
		int r = 0;

		if (peer->due_usec <= monotonic_now_usec()) {
			if (peer->is_asked)
				peer->try.state =
					ping_failed(peer->try.state, -ETIMEDOUT, peer->try.way);
			r = peer->is_asked ? finish_try(p, peer) : start_try(p, peer);
		}
		if (r < 0)
			return r;
		*ret_due_usec = MIN(*ret_due_usec, peer->due_usec);
	}
	return 0;
}

static int run(Ping *p)
{
	uint64_t due_usec, now;
	int r = do_due(p, &due_usec);

	while (r >= 0 && p->n_left > 0 && (now = monotonic_now_usec()) < p->end_usec) {
		struct pollfd events = {.fd = p->fd, .events = POLLIN};

		due_usec = MIN(due_usec, p->end_usec);
		r = poll(&events, 1, due_usec > now ? poll_msec(due_usec - now) : 0);
		if (r < 0 && errno != EINTR)
			return -errno;
		r = r > 0 ? take_event(p) : 0;
		if (r >= 0)
			r = do_due(p, &due_usec);
	}
	return r;
}

/* Asks those that have answered over RoCE whether large packets arrive. */
static int ask_sizes(Ping *p)
{
	_cleanup_free_ PingSize *sizes = calloc(p->n + 1, sizeof(*sizes));
	const char *ethernet = decode_name(ATTR_LINK_LAYER, IBV_LINK_LAYER_ETHERNET);
	size_t n = 0;

	if (!sizes)
		return -ENOMEM;
	for (size_t i = 0; i < p->n; i++) {
		Peer *peer = &p->peers[i];
		PingWay *way = &peer->result.way;

		if (peer->result.n_answered > 0 && !peer->size_asked && way->has_gid &&
		    way->has_path && way->port &&
		    streq(object_text(way->port, PORT_ATTR_link_layer), ethernet))
			ping_size_open(&sizes[n++], way, &peer->address, peer->from);
		peer->size_asked = true;
	}
	ping_sizes_ask(sizes, n, p->end_usec);
	for (size_t i = 0; i < n; i++)
		ping_size_close(&sizes[i]);
	return 0;
}

static bool can_be_used(const Peer *peer)
{
	return peer->result.n_answered > 0 && !ping_mtu_fails(&peer->result.way);
}

/* Those that cannot be used are to be asked once more. */
static void ask_again(Ping *p)
{
	for (size_t i = 0; i < p->n; i++) {
		Peer *peer = &p->peers[i];

		if (can_be_used(peer))
			continue;
		peer->result.n_answered = 0;
		peer->size_asked = false;
		peer->due_usec = monotonic_now_usec() + arg_interval_usec;
		p->n_left++;
	}
}

static ExitStatus ask_all(Ping *p)
{
	int r;

	do {
		r = run(p);
		/* a wait has failed already if one has not answered */
		if (r >= 0 && (!p->is_wait || p->n_left == 0))
			r = ask_sizes(p);
		if (r >= 0 && p->is_wait && p->n_left == 0)
			ask_again(p);
	} while (r >= 0 && p->n_left > 0 && monotonic_now_usec() < p->end_usec);
	return r < 0 ? bus_complain(p->what, NULL, r) : STATUS_OK;
}

/* How the command ends. That this machine could not ask says nothing of the peers. */
static ExitStatus status_of(const Ping *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (!can_be_used(&p->peers[i]))
			return p->fd < 0 ? STATUS_CANNOT_ASK : STATUS_FAILED;
	return STATUS_OK;
}

/* Before the first try */

static ExitStatus prepare_peer(Ping *p, Peer *peer, const char *name)
{
	PingWay *way = &peer->result.way;

	/* The kernel can miss that a neighbour has answered. It looks again at the end of its time.
	 */
	peer->try = (PingTry){.way = way, .wait_ms = (int)(arg_timeout_usec / USEC_PER_MSEC / 2)};
	way->peer = name;
	way->gid_index = UINT32_MAX;
	if (!arg_from)
		return STATUS_OK;
	find_address(peer);
	return *way->address ? find_source(p, peer) : STATUS_OK;
}

static ExitStatus choose_from(Ping *p)
{
	Context c = *p->c;
	char *from = CONST_CAST(char *, arg_from);
	ExitStatus status;

	if (!arg_from)
		return STATUS_OK;
	c.arguments = &from;
	c.n_arguments = 1;
	status = selection_read(&c, 0, selection_names, &p->from);
	if (status == STATUS_OK)
		status = selection_complain(&p->from);
	if (status == STATUS_OK && p->from.n != 1)
		status = usage_error("--from=%s: expected one port, and there are %zu", arg_from,
				     p->from.n);
	return status;
}

static ExitStatus prepare(Ping *p, char **peers, size_t n)
{
	Context *c = p->c;
	const char *why = NULL;
	ExitStatus status;

	if (c->host || c->machine)
		return usage_error("%s: asks from this machine only, without --host and --machine",
				   p->what);
	status = choose_from(p);
	if (status != STATUS_OK)
		return status;
	p->fd = ping_cm_open(&p->channel, &why);
	if (p->fd == -ELIBACC)
		return complain_as(
			STATUS_CANNOT_ASK,
			"%s: please install librdmacm1 (Debian) or librdmacm (Fedora): %s", p->what,
			why);
	p->peers = calloc(n, sizeof(*p->peers));
	if (!p->peers)
		return out_of_memory();
	for (; status == STATUS_OK && p->n < n; p->n++)
		status = prepare_peer(p, &p->peers[p->n], peers[p->n]);
	p->n_left = p->n;
	return status;
}

ExitStatus ping_command(Context *c)
{
	_cleanup_(ping_done) Ping p = {.c = c, .what = "ping", .end_usec = UINT64_MAX};
	ExitStatus status = prepare(&p, c->arguments, c->n_arguments);

	if (status == STATUS_OK)
		status = ask_all(&p);
	if (status != STATUS_OK)
		return status;
	if (c->json)
		json_begin(c->out, "Peers");
	for (size_t i = 0; i < p.n; i++)
		if (c->json)
			ping_print_json(c->out, &p.peers[i].result);
		else
			ping_print_mtu(c->out, &p.peers[i].result.way);
	if (c->json)
		json_end(c->out);
	return status_of(&p);
}

ExitStatus ping_wait(Context *c, char **peers, size_t n, uint64_t end_usec, bool is_quiet)
{
	_cleanup_(ping_done)
		Ping p = {.c = c, .what = "wait", .is_wait = true, .end_usec = end_usec};
	ExitStatus status = prepare(&p, peers, n);
	char reason[PING_REASON_MAX];

	if (status == STATUS_OK)
		status = ask_all(&p);
	if (status != STATUS_OK)
		return status;
	for (size_t i = 0; i < p.n && !is_quiet; i++) {
		const PingResult *result = &p.peers[i].result;
		/* the first try may not have ended */
		PingState state =
			result->n > 0 ? result->tries[0]
				      : ping_failed(p.peers[i].try.state, -ETIMEDOUT, &result->way);

		if (state.stage == PING_STAGE_DONE)
			state = ping_mtu_broken;
		if (!can_be_used(&p.peers[i]))
			complain("%s: %s [%s]", result->way.peer,
				 ping_reason(&state, &result->way, reason),
				 ping_link_name(state.broken));
	}
	return status_of(&p);
}
