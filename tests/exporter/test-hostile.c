/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Clients that mean harm, each kind for some seconds, while a good client scrapes: it is answered
 * each time, with all metrics. Afterwards nothing of the attack is left: no descriptor, and no
 * memory. Prints what happened, and how long the good client waited.
 *
 * The argument may name one test.
 */

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "exporter.h"

/* As in http.h. */
#define CONNECTIONS_MAX 256U
#define REQUESTS_MAX	100U

#define GET	"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"
#define SCRAPES 20U

static Exporter exporter;

/* A large reply: 64 ports. */
static int setup_all(void **state)
{
	static const char begin[] = "[device mlx5_0]\nprotocol = infiniband\nports = 64\n";
	Fixture *f = fixture_new();

	*state = f;
	fixture_start_daemon(f, begin, NULL);
	exporter_start(&exporter, f, (const char *const[]){"--idle=0", NULL});
	for (unsigned int i = 0; i < 10; i++)
		free(client_scrape(&exporter));
	return 0;
}

static int teardown_all(void **state)
{
	exporter_stop(&exporter);
	return fixture_teardown(state);
}

/* The good client */

typedef struct Good {
	unsigned int n;
	double longest; /* ms */
	unsigned int descriptors;
	unsigned long kib;
} Good;

static void good_begin(Good *g)
{
	*g = (Good){.descriptors = process_count_entries(exporter.pid, "fd"),
		    .kib = process_resident_kib(exporter.pid)};
}

static void good_scrape(Good *g)
{
	double begin = fixture_now_ms(), ms;
	_cleanup_free_ char *text = client_scrape(&exporter);

	ms = fixture_now_ms() - begin;
	assert_line(text, "rdma_rdmad_up 1");
	assert_non_null(strstr(text, "rdma_port_xmit_bytes_total{device=\"mlx5_0\",port=\"64\"}"));
	g->longest = MAX(g->longest, ms);
	g->n++;
}

static void good_scrapes(Good *g)
{
	for (unsigned int i = 0; i < SCRAPES; i++)
		good_scrape(g);
}

static void good_end(Good *g, const char *attack, const char *happened)
{
	unsigned long kib;

	good_scrape(g);
	process_wait_descriptors(exporter.pid, g->descriptors);
	kib = process_resident_kib(exporter.pid);
	printf("%-34s %-44s %3u scrapes, %5.1f ms at most; %+ld KiB\n", attack, happened, g->n,
	       g->longest, (long)kib - (long)g->kib);
#ifndef RDMAD_SANITIZE
	if (getenv("RDMAD_EXPORTER_WRAPPER")) /* valgrind keeps what was freed, too */
		return;
	/* what malloc() keeps for the next time; all connections and some pages have less */
	assert_in_range(kib, 0, g->kib + 12 * 1024);
#endif
}

/* Crowds */

static void open_crowd(int *fds, unsigned int n, const char *text)
{
	for (unsigned int i = 0; i < n; i++) {
		fds[i] = client_connect(&exporter, 1);
		if (text)
			(void)send(fds[i], text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}

static void close_crowd(const int *fds, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		close(fds[i]);
}

/* How many of them the exporter has closed. */
static unsigned int count_closed(const int *fds, unsigned int n)
{
	unsigned int closed = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct pollfd p = {.fd = fds[i], .events = POLLRDHUP};

		closed += poll(&p, 1, 0) == 1;
	}
	return closed;
}

enum { CROWD = 400 };

/* Connections on which nothing is sent. */
static void test_silent(_unused_ void **state)
{
	int fds[CROWD];
	Good g;

	good_begin(&g);
	open_crowd(fds, CROWD, NULL);
	good_scrapes(&g);
	assert_in_range(count_closed(fds, CROWD), CROWD - CONNECTIONS_MAX, CROWD);
	/* the others are closed after five seconds */
	for (unsigned int i = 0; i < CROWD; i++)
		client_assert_closed(fds[i]);
	close_crowd(fds, CROWD);
	good_end(&g, "400 silent connections", "closed, at the latest after 5 s");
}

/* A byte now and then, and never the end of a request. */
static void test_slow_requests(_unused_ void **state)
{
	static const char slow[] = "GET /metrics HTTP/1.1\r\nX: ";
	unsigned int late = 0;
	int fds[CROWD];
	Good g;

	good_begin(&g);
	open_crowd(fds, CROWD, slow);
	for (unsigned int turn = 0; turn < 60 && count_closed(fds, CROWD) < CROWD; turn++) {
		for (unsigned int i = 0; i < CROWD; i++)
			(void)send(fds[i], "a", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		good_scrape(&g);
		usleep(100000);
	}
	for (unsigned int i = 0; i < CROWD; i++) {
		char bytes[1024];
		ssize_t n = recv(fds[i], bytes, sizeof(bytes) - 1, MSG_DONTWAIT);

		bytes[MAX(n, 0)] = '\0';
		late += n > 0 && startswith(bytes, "HTTP/1.1 408 ");
	}
	assert_int_equal(count_closed(fds, CROWD), CROWD);
	assert_true(late > 0);
	close_crowd(fds, CROWD);
	good_end(&g, "400 requests, a byte each 0.1 s", "408 after 5 s, or closed for others");
}

/* Half a request, and then a reset, or only the end of sending. */
static void test_half(_unused_ void **state)
{
	Good g;

	good_begin(&g);
	for (unsigned int i = 0; i < 1000; i++) {
		int fd = client_connect(&exporter, 1);

		assert_true(client_send(fd, "GET /metrics HT"));
		if (i % 2 == 0) {
			client_reset(fd);
		} else {
			shutdown(fd, SHUT_WR);
			client_assert_closed(fd);
			close(fd);
		}
		if (i % 50 == 0)
			good_scrape(&g);
	}
	good_end(&g, "1000 halves of requests, then reset", "closed");
}

/* 1000 requests at once on one connection. */
static void test_pipeline(_unused_ void **state)
{
	enum { N = 1000 };
	char *all = calloc(N, sizeof(GET));
	unsigned int answered = 0;
	Good g;
	int fd;

	assert_non_null(all);
	for (unsigned int i = 0; i < N; i++)
		memcpy(all + i * (sizeof(GET) - 1), GET, sizeof(GET) - 1);
	good_begin(&g);
	fd = client_connect(&exporter, 1);
	assert_true(client_send(fd, all));
	for (;; answered++) {
		_cleanup_reply_ Reply r = {};

		client_read(fd, false, &r);
		if (r.status == 0)
			break;
		assert_int_equal(r.status, 200);
		if (answered % 5 == 0)
			good_scrape(&g);
	}
	assert_int_equal(answered, REQUESTS_MAX);
	close(fd);
	free(all);
	good_end(&g, "1000 requests at once", "100 are answered, then closed");
}

/* Requests that are wrong from the beginning. */

typedef struct Wrong {
	const char *what;
	int status;
	size_t before; /* this many 'a' come in place of the '@' in TEXT */
	const char *text;
	size_t n; /* bytes of TEXT; 0: up to its end */
} Wrong;

static void send_wrong(int fd, const Wrong *w)
{
	size_t n = w->n ? w->n : strlen(w->text);
	const char *at = memchr(w->text, '@', n);
	char many[4096];

	memset(many, 'a', sizeof(many));
	if (!at) {
		(void)client_send_bytes(fd, w->text, n);
		return;
	}
	(void)client_send_bytes(fd, w->text, (size_t)(at - w->text));
	for (size_t left = w->before; left > 0;) {
		size_t part = MIN(left, sizeof(many));

		if (!client_send_bytes(fd, many, part))
			return;
		left -= part;
	}
	(void)client_send_bytes(fd, at + 1, n - (size_t)(at - w->text) - 1);
}

static void test_wrong(_unused_ void **state)
{
	static const char nul[] = "GET /metrics\0 HTTP/1.1\r\nHost: a\r\n\r\n";
	static const char nul_in_field[] = "GET /metrics HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n";
	static const char tls[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
	static const Wrong wrongs[] = {
		{"a request line of 3000 bytes", 414, 3000, "GET /@ HTTP/1.1\r\nHost: a\r\n\r\n",
		 0},
		{"a request line of 1 MiB", 414, 1 << 20, "GET /@ HTTP/1.1\r\n\r\n", 0},
		{"a field of 9000 bytes", 431, 9000, "GET / HTTP/1.1\r\nHost: a\r\nX: @\r\n\r\n",
		 0},
		{"a head of 1 MiB without end", 431, 1 << 20, "GET / HTTP/1.1\r\nHost: a\r\nX: @",
		 0},
		{"a NUL in the request line", 400, 0, nul, sizeof(nul) - 1},
		{"a NUL in a field", 400, 0, nul_in_field, sizeof(nul_in_field) - 1},
		{"TLS", 400, 0, tls, sizeof(tls) - 1},
		{"lines without CR", 400, 0, "GET / HTTP/1.1\nHost: a\n\n", 0},
		{"a content of 10^18 bytes", 413, 1 << 20,
		 "GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000000000000\r\n\r\n@",
		 0},
		{"a content in chunks", 413, 1 << 20,
		 "GET /metrics HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n@", 0},
		{"the method POST", 405, 0,
		 "POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", 0},
		{"HTTP/2", 505, 0, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0},
		{"no Host", 400, 0, "GET /metrics HTTP/1.1\r\n\r\n", 0},
		{"two Hosts", 400, 0, "GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 0},
		{"another path", 404, 0, "GET /../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrongs); i++) {
		const Wrong *w = &wrongs[i];
		char happened[32];
		Good g;

		good_begin(&g);
		for (unsigned int turn = 0; turn < 20; turn++) {
			int fd = client_connect(&exporter, 1);
			_cleanup_reply_ Reply r = {};

			send_wrong(fd, w);
			client_read(fd, false, &r);
			/* who sends a megabyte may miss the answer, as the exporter does not read
			 * all of it */
			if (r.status != w->status && (w->before < 65536 || r.status != 0))
				fail_msg("%s: %d", w->what, r.status);
			close(fd);
			good_scrape(&g);
		}
		snprintf(happened, sizeof(happened), "%d", w->status);
		good_end(&g, w->what, happened);
	}
}

/* Asks for the large reply, and does not read it. */
static void test_slow_readers(_unused_ void **state)
{
	const int small = 2048;
	int fds[CROWD];
	Good g;

	good_begin(&g);
	for (unsigned int i = 0; i < CROWD; i++) {
		fds[i] = client_connect(&exporter, 1);
		(void)setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
		assert_true(client_send(fds[i], GET GET GET GET GET GET GET GET));
		if (i % 20 == 0)
			good_scrape(&g);
	}
	good_scrapes(&g);
	/* 10 s for each reply at most */
	process_wait_descriptors(exporter.pid, g.descriptors);
	close_crowd(fds, CROWD);
	good_end(&g, "400 that do not read the reply", "closed, at the latest after 10 s");
}

/* Reads a little of the reply and goes. */
static void test_abort(_unused_ void **state)
{
	Good g;

	good_begin(&g);
	for (unsigned int i = 0; i < 1000; i++) {
		int fd = client_connect(&exporter, 1);
		char bytes[100];

		assert_true(client_send(fd, GET));
		if (i % 4 != 0)
			assert_true(recv(fd, bytes, sizeof(bytes), 0) > 0);
		client_reset(fd);
		if (i % 50 == 0)
			good_scrape(&g);
	}
	good_end(&g, "1000 resets during the reply", "closed");
}

/* Ten thousand at once: all are silent, or all ask. */
static void crowd_of_thousands(const char *text, const char *attack, const char *happened)
{
	enum { N = 10000 };
	int *fds = calloc(N, sizeof(int));
	unsigned int most = 0;
	Good g;

	assert_non_null(fds);
	good_begin(&g);
	for (unsigned int i = 0; i < N; i += 500) {
		open_crowd(fds + i, 500, text);
		good_scrape(&g);
		most = MAX(most, process_count_entries(exporter.pid, "fd"));
	}
	assert_in_range(most, 0, g.descriptors + CONNECTIONS_MAX);
	good_scrapes(&g);
	close_crowd(fds, N);
	free(fds);
	good_end(&g, attack, happened);
}

static void test_ten_thousand(_unused_ void **state)
{
	crowd_of_thousands(NULL, "10000 silent connections at once",
			   "256 are kept, the oldest is closed");
}

static void test_ten_thousand_ask(_unused_ void **state)
{
	crowd_of_thousands(GET, "10000 scrapes at once, not read",
			   "256 are kept, the oldest is closed");
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_pipeline),
		cmocka_unit_test(test_half),
		cmocka_unit_test(test_abort),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_slow_requests),
		cmocka_unit_test(test_slow_readers),
		cmocka_unit_test(test_ten_thousand),
		cmocka_unit_test(test_ten_thousand_ask),
	};
	struct rlimit files;

	assert(getrlimit(RLIMIT_NOFILE, &files) == 0);
	if (files.rlim_max < 10100) {
		printf("a process cannot have 10100 descriptors here\n");
		return 77;
	}
	files.rlim_cur = MIN(files.rlim_max, (rlim_t)20000);
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		return 77;
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	setlinebuf(stdout);
	return cmocka_run_group_tests_name("hostile", tests, setup_all, teardown_all);
}
