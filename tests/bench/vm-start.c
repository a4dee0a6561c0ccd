/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the time from exec to READY=1 with many devices. There are two floors. One program lists
 * all devices with libibverbs, and opens, queries and closes each. Another one keeps them open for
 * their events, as rdmad does: libmlx5 needs 270 KB for each open device.
 */

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "bench.h"

#define RDMAD	    "/usr/sbin/rdmad"
#define NOTIFY	    "/run/vm-start"
#define PORTS_MAX   1024U
#define PORTS_LEAST 16U

static int notify_fd;

static int run_bare(bool hold)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);

	for (int i = 0; list && i < n; i++) {
		struct ibv_context *context = ibv_open_device(list[i]);
		struct ibv_port_attr attr;

		if (!context || ibv_query_port(context, 1, &attr) != 0)
			return EXIT_FAILURE;
		if (!hold)
			ibv_close_device(context);
	}
	if (list)
		ibv_free_device_list(list);
	return n > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static pid_t spawn(const char *program, const char *argument)
{
	pid_t pid = fork();

	if (pid == 0) {
		setenv("NOTIFY_SOCKET", NOTIFY, 1);
		unsetenv("JOURNAL_STREAM");
		unsetenv("WATCHDOG_USEC");
		execl(program, program, argument, NULL);
		_exit(127);
	}
	if (pid < 0)
		bench_die("fork: %m");
	return pid;
}

static void end(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		bench_die("a program failed: status %#x", (unsigned int)status);
}

static uint64_t sample_bare(void *userdata)
{
	uint64_t begin = bench_now();

	end(spawn("/proc/self/exe", userdata));
	return bench_now() - begin;
}

static uint64_t sample_rdmad(_unused_ void *userdata)
{
	uint64_t begin = bench_now(), taken;
	pid_t pid = spawn(RDMAD, "--log-level=warning");
	char text[512];
	ssize_t n;

	do {
		n = recv(notify_fd, text, sizeof(text) - 1, 0);
		if (n < 0)
			bench_die("rdmad did not send READY=1: %m");
		text[n] = '\0';
	} while (!strstr(text, "READY=1"));
	taken = bench_now() - begin;
	kill(pid, SIGTERM);
	end(pid);
	while (recv(notify_fd, text, sizeof(text), MSG_DONTWAIT) > 0)
		;
	return taken;
}

static void command(const char *text)
{
	if (system(text) != 0)
		bench_die("failed: %s", text);
}

/* udev would use the CPU for a minute, and its rules have no effect on this measurement. */
static void prepare(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = NOTIFY};
	struct timeval guard = {.tv_sec = 120};
	struct rlimit files = {8192, 8192};

	command("mkdir -p /tmp/none && mount --bind /tmp/none /usr/lib/udev/rules.d && "
		"udevadm control --reload && modprobe rdma_sim && systemctl mask -q --runtime "
		"rdmad");
	notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (bind(notify_fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    setsockopt(notify_fd, SOL_SOCKET, SO_RCVTIMEO, &guard, sizeof(guard)) < 0 ||
	    setrlimit(RLIMIT_NOFILE, &files) < 0)
		bench_die("%m");
}

int main(int argc, char *argv[])
{
	char bare[] = "--bare", hold[] = "--hold";
	Subject subjects[] = {
		{.sample = sample_bare, .userdata = bare, .at_least = 1},
		{.sample = sample_bare, .userdata = hold, .at_least = 1},
		{.sample = sample_rdmad, .at_least = 1},
	};
	unsigned int n_devices = 0;
	char text[128];

	if (argc > 1 && (streq(argv[1], bare) || streq(argv[1], hold)))
		return run_bare(streq(argv[1], hold));
	bench_init(argc, argv);
	prepare();
	for (size_t i = 0; bench.ports[i]; i++) {
		unsigned int n = bench.ports[i];

		if (n < PORTS_LEAST || n > PORTS_MAX || n <= n_devices)
			continue;
		snprintf(text, sizeof(text),
			 "echo 'add d%u.%%d count=%u driver=mlx5 link=ib' > /dev/rdma_sim && "
			 "udevadm settle -t 300",
			 n, n - n_devices);
		command(text);
		n_devices = n;
		bench_measure(subjects, ARRAY_SIZE(subjects));
		bench_report_ratio("vm-start", n, &subjects[2], "list, open, query, close of all",
				   &subjects[0], 1.5, 0);
		bench_report_ratio("vm-start-held", n, &subjects[2], "list, open, query of all",
				   &subjects[1], 1.5, 0);
	}
	return 0;
}
