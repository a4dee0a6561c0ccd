/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "scrape.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define REPLY_MAX (8U << 20)

static const char request[] = "GET /metrics HTTP/1.0\r\n\r\n";

struct sockaddr_in scrape_address(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int connect_to(const struct sockaddr *address, socklen_t size)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, address, size) < 0)
		return close_fd(fd);
	return fd;
}

/* REPLY ends in a NUL byte. Returns its first byte after the headers. */
static const char *check_reply(const char *reply, const char *expected)
{
	const char *body = strstr(reply, "\r\n\r\n");
	_cleanup_free_ char *line = NULL;

	if (!body || strncmp(reply, "HTTP/1.", 7) != 0 || strncmp(reply + 8, " 200 ", 5) != 0)
		bench_die("the reply to a scrape is \"%.200s\"", reply);
	if (asprintf(&line, "\n%s", expected) < 0)
		bench_die("no memory");
	if (!strstr(body, line))
		bench_die("a scrape has no %s", expected);
	return body + 4;
}

uint64_t scrape(const struct sockaddr *address, socklen_t size, const char *expected,
		size_t *ret_bytes)
{
	static char reply[REPLY_MAX];
	uint64_t begin = bench_now(), taken;
	_cleanup_close_ int fd = connect_to(address, size);
	size_t total = 0;
	ssize_t n;

	if (fd < 0 || write(fd, request, strlen(request)) < 0)
		bench_die("an exporter cannot be asked: %m");
	while ((n = read(fd, reply + total, sizeof(reply) - 1 - total)) > 0)
		total += (size_t)n;
	taken = bench_now() - begin;
	reply[total] = '\0';
	if (ret_bytes)
		*ret_bytes = total - (size_t)(check_reply(reply, expected) - reply);
	else
		check_reply(reply, expected);
	return taken;
}

static _Noreturn void run_node_exporter(uint16_t port)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char address[64];

	snprintf(address, sizeof(address), "--web.listen-address=127.0.0.1:%u", port);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execlp("prometheus-node-exporter", "prometheus-node-exporter",
	       "--collector.disable-defaults", "--collector.infiniband",
	       "--web.disable-exporter-metrics", address, NULL);
	_exit(127);
}

pid_t scrape_start_node_exporter(uint16_t port)
{
	struct sockaddr_in address = scrape_address(port);
	pid_t pid = fork();
	int fd;

	if (pid < 0)
		bench_die("fork: %m");
	if (pid == 0)
		run_node_exporter(port);
	while ((fd = connect_to((const struct sockaddr *)&address, sizeof(address))) < 0) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			bench_die("node_exporter does not start");
		usleep(10000);
	}
	close(fd);
	return pid;
}
