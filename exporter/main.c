/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rdmad-exporter: the values of rdmad, for monitoring. systemd starts the exporter with the sockets
 * that it listens on when a client connects to one of them; the names of the sockets say which
 * protocol is spoken there. The exporter ends when nobody has used it for some minutes.
 */

#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "compat-event.h"
#include "http.h"
#include "varlink.h"

#define SOCKETS_MAX  16
#define IDLE_SEC     300
#define IDLE_SEC_MAX (365 * 86400)

static const char help[] =
	"Usage: rdmad-exporter [OPTION...]\n"
	"\n"
	"Serves the metrics of the RDMA ports of this machine. systemd starts it: see\n"
	"rdmad-exporter(8).\n"
	"\n"
	"      --bus=ADDRESS  ask the rdmad on the bus with this D-Bus address\n"
	"      --idle=SEC     end when nobody has used it for so long; 0: never (300)\n"
	"  -h, --help         print this text\n"
	"      --version      print the version\n";

typedef struct Arguments {
	const char *bus; /* NULL: the system bus */
	uint64_t idle_sec;
} Arguments;

/* All that is served. */
typedef struct Exporter {
	sd_event *event;
	Idle *idle;
	Source *source;
	Http *http;
	Varlink *varlink[SOCKETS_MAX];
	size_t n_varlink;
} Exporter;

static void complain(const char *what, int r)
{
	fprintf(stderr, SD_ERR "%s: %s\n", what, strerror(-r));
}

static int parse_idle(const char *text, uint64_t *ret)
{
	if (text_to_u64(text, IDLE_SEC_MAX, ret) >= 0)
		return 0;
	fprintf(stderr, "rdmad-exporter: --idle=%s: expected seconds\n", text);
	return -EINVAL;
}

/* 1: go on; 0: all is done. */
static int parse(int argc, char *argv[], Arguments *ret)
{
	enum { BUS = 256, IDLE };
	static const struct option options[] = {
		{"bus", required_argument, NULL, BUS},
		{"idle", required_argument, NULL, IDLE},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{},
	};
	Arguments a = {.idle_sec = IDLE_SEC};
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
		switch (c) {
		case 'h':
			fputs(help, stdout);
			return 0;
		case 'V':
			puts("rdmad-exporter " RDMAD_VERSION);
			return 0;
		case BUS:
			a.bus = optarg;
			break;
		case IDLE:
			if (parse_idle(optarg, &a.idle_sec) < 0)
				return -EINVAL;
			break;
		default:
			return -EINVAL; /* getopt_long() has named the option */
		}
	if (optind < argc) {
		fprintf(stderr, "rdmad-exporter takes no argument \"%s\"\n", argv[optind]);
		return -EINVAL;
	}
	*ret = a;
	return 1;
}

/* Serves the listening socket FD, of which systemd says the NAME (FileDescriptorName=). */
static int serve_socket(Exporter *e, int fd, const char *name)
{
	if (sd_is_socket(fd, AF_UNSPEC, SOCK_STREAM, 1) <= 0)
		return -ENOTSOCK;
	/* who has connected may have gone before accept(), which must not wait for another one then
	 */
	if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	if (streq(name, "http"))
		return http_listen(e->http, fd);
	if (streq(name, "varlink"))
		return varlink_new(e->event, fd, e->source, e->idle, &e->varlink[e->n_varlink++]);
	return -EPROTONOSUPPORT;
}

static int serve_sockets(Exporter *e)
{
	char **names = NULL;
	int n = sd_listen_fds_with_names(true, &names), r = 0;

	if (n <= 0 || n > SOCKETS_MAX) {
		fprintf(stderr, SD_ERR "%s; rdmad-exporter.socket starts this program\n",
			n > 0 ? "There are too many sockets" : "There is no socket to listen on");
		r = -EINVAL;
	}
	for (int i = 0; i < n && r >= 0; i++) {
		r = serve_socket(e, SD_LISTEN_FDS_START + i, names[i]);
		if (r < 0)
			fprintf(stderr, SD_ERR "Cannot serve the socket \"%s\": %s\n", names[i],
				strerror(-r));
	}
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return r;
}

static int prepare(Exporter *e, const Arguments *a)
{
	int r = sd_event_default(&e->event);

	if (r >= 0)
		r = sd_event_add_signal(e->event, NULL, SIGTERM | SD_EVENT_SIGNAL_PROCMASK, NULL,
					NULL);
	if (r >= 0)
		r = sd_event_add_signal(e->event, NULL, SIGINT | SD_EVENT_SIGNAL_PROCMASK, NULL,
					NULL);
	if (r >= 0)
		r = sd_event_set_watchdog(e->event, true);
	if (r >= 0)
		r = idle_new(e->event, a->idle_sec * USEC_PER_SEC, &e->idle);
	if (r >= 0)
		r = source_new(e->event, a->bus, &e->source);
	if (r >= 0)
		r = http_new(e->event, e->source, e->idle, &e->http);
	if (r < 0)
		complain("Cannot start", r);
	return r;
}

static void done(Exporter *e)
{
	for (size_t i = 0; i < e->n_varlink; i++)
		varlink_free(e->varlink[i]);
	http_free(e->http);
	source_free(e->source);
	idle_free(e->idle);
	sd_event_unref(e->event);
}

/* What is as long as this, as glibc begins, has a mapping of its own, which goes back to the kernel
 * when it is freed. Without this glibc learns from the first reply to keep the memory of the next.
 */
#define MMAP_THRESHOLD (128 << 10)

int main(int argc, char *argv[])
{
	_cleanup_(done) Exporter e = {};
	Arguments a;
	int r = parse(argc, argv, &a);

	if (r <= 0)
		return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	(void)mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	signal(SIGPIPE, SIG_IGN);
	r = prepare(&e, &a);
	if (r >= 0)
		r = serve_sockets(&e);
	if (r < 0)
		return EXIT_FAILURE;
	sd_notify(false, "READY=1");
	r = sd_event_loop(e.event);
	if (r < 0)
		complain("The event loop has failed", r);
	sd_notify(false, "STOPPING=1");
	return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
