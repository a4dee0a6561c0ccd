/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "exporter.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#define GUARD_MSEC 60000
#define BACKLOG	   4096

/* In the child: what systemd does. */
static void run(const Fixture *f, const int listeners[2], const char *const *options)
{
	const char *wrapper = getenv("RDMAD_EXPORTER_WRAPPER");
	char bus[160], pid[16];
	const char *argv[16];
	size_t n = 0;

	if (wrapper)
		argv[n++] = wrapper;
	argv[n++] = TEST_BUILD_DIR "/exporter/rdmad-exporter";
	snprintf(bus, sizeof(bus), "--bus=%s", f->address);
	argv[n++] = bus;
	for (; options && *options; options++)
		argv[n++] = *options;
	argv[n] = NULL;
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "2", 1);
	setenv("LISTEN_FDNAMES", "http:http", 1);
	unsetenv("NOTIFY_SOCKET");
	/* above what they become, so that the first does not replace the second */
	for (int i = 0; i < 2; i++)
		dup2(fcntl(listeners[i], F_DUPFD_CLOEXEC, 10), 3 + i);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execv(argv[0], CONST_CAST(char *const *, argv));
	_exit(127);
}

static int listen_tcp(Exporter *e)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, BACKLOG), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &size), 0);
	e->port = ntohs(a.sin_port);
	return fd;
}

static int listen_unix(Exporter *e, const Fixture *f)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(e->path, sizeof(e->path), "%s/http", f->directory);
	(void)unlink(e->path);
	text_copy(a.sun_path, sizeof(a.sun_path), e->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, BACKLOG), 0);
	return fd;
}

void exporter_start(Exporter *e, const Fixture *f, const char *const *options)
{
	int listeners[2] = {listen_tcp(e), listen_unix(e, f)};

	e->pid = fork();
	assert_true(e->pid >= 0);
	if (e->pid == 0)
		run(f, listeners, options);
	close(listeners[0]);
	close(listeners[1]);
}

void exporter_stop(Exporter *e)
{
	kill(e->pid, SIGTERM);
	assert_int_equal(fixture_wait_process(e->pid), 0);
}

void reply_done(Reply *r)
{
	free(r->head);
	free(r->body);
	*r = (Reply){};
}

int client_connect(const Exporter *e, unsigned int from)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + from)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.sin_port = htons(e->port);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

int client_connect_unix(const Exporter *e)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	text_copy(a.sun_path, sizeof(a.sun_path), e->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void wait_for(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};

	assert_int_equal(poll(&p, 1, GUARD_MSEC), 1);
}

bool client_send_bytes(int fd, const void *bytes, size_t n)
{
	while (n > 0) {
		ssize_t sent;

		wait_for(fd, POLLOUT);
		sent = send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno == EAGAIN)
			continue;
		if (sent < 0)
			return false;
		bytes = (const char *)bytes + sent;
		n -= (size_t)sent;
	}
	return true;
}

bool client_send(int fd, const char *text)
{
	return client_send_bytes(fd, text, strlen(text));
}

/* Appends what can be read to *TEXT, N bytes so far. False: nothing more will come. */
static bool receive(int fd, char **text, size_t *n, size_t max)
{
	ssize_t got;

	*text = realloc(*text, *n + max + 1);
	assert_non_null(*text);
	(*text)[*n] = '\0';
	wait_for(fd, POLLIN);
	got = recv(fd, *text + *n, max, 0);
	if (got <= 0)
		return false;
	*n += (size_t)got;
	(*text)[*n] = '\0';
	return true;
}

void client_read(int fd, bool without_body, Reply *ret)
{
	const char *length;
	size_t n = 0;

	*ret = (Reply){};
	/* one byte at a time: what follows belongs to the next reply */
	do
		if (!receive(fd, &ret->head, &n, 1))
			return;
	while (n < 4 || !streq(ret->head + n - 4, "\r\n\r\n"));
	assert_int_equal(sscanf(ret->head, "HTTP/1.1 %d ", &ret->status), 1);
	length = strstr(ret->head, "\r\nContent-Length: ");
	assert_non_null(length);
	n = without_body ? 0 : strtoul(length + strlen("\r\nContent-Length: "), NULL, 10);
	ret->body = strdup("");
	while (ret->size < n)
		if (!receive(fd, &ret->body, &ret->size, n - ret->size)) {
			ret->status = 0;
			return;
		}
}

void client_assert_closed(int fd)
{
	char bytes[4096];
	ssize_t n;

	do {
		wait_for(fd, POLLIN);
		n = recv(fd, bytes, sizeof(bytes), 0);
	} while (n > 0);
	assert_true(n == 0 || errno == ECONNRESET);
}

void client_reset(int fd)
{
	const struct linger l = {.l_onoff = 1};

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)), 0);
	close(fd);
}

void client_get(const Exporter *e, const char *path, const char *headers, Reply *ret)
{
	_cleanup_close_ int fd = client_connect(e, 1);
	char text[1024];

	snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", path, headers);
	assert_true(client_send(fd, text));
	client_read(fd, false, ret);
}

char *client_scrape(const Exporter *e)
{
	_cleanup_reply_ Reply r = {};

	client_get(e, "/metrics", "Accept: application/openmetrics-text\r\n", &r);
	assert_int_equal(r.status, 200);
	assert_true(r.size > 6 && streq(r.body + r.size - 6, "# EOF\n"));
	return steal_pointer(&r.body);
}

bool has_line(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (const char *at = text; (at = strstr(at, line)); at++)
		if ((at == text || at[-1] == '\n') && at[n] == '\n')
			return true;
	return false;
}

void assert_line(const char *text, const char *line)
{
	if (!has_line(text, line))
		fail_msg("there is no line \"%s\" in:\n%s", line, text);
}

void assert_no_line(const char *text, const char *begin)
{
	for (const char *at = text; (at = strstr(at, begin)); at++)
		if (at == text || at[-1] == '\n')
			fail_msg("there is a line \"%s...\" in:\n%s", begin, text);
}
