/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures, in a virtual machine: for each kind of change, which event told rdmad of it, how many
 * driver calls that cost, and how long after the change a subscriber had the D-Bus signal; beside
 * it, a bare program that waits in ibv_get_async_event() and then calls ibv_query_port(), at the
 * same time and on the same changes. Prints a table; judges nothing.
 *
 *     latency [REPETITIONS]
 */

#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "compare.h"

#define REPETITIONS_MAX 200

static Fixture *f;
static int sim_fd, socket_fd;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void sim(const char *command)
{
	if (write(sim_fd, command, strlen(command)) < 0)
		fail_msg("rdma_sim: %s: %m", command);
}

static void set_mtu(const char *netdev, int mtu)
{
	struct ifreq request = {.ifr_mtu = mtu};

	text_copy(request.ifr_name, IFNAMSIZ, netdev);
	assert_int_equal(ioctl(socket_fd, SIOCSIFMTU, &request), 0);
}

static void set_up(const char *netdev, bool up)
{
	struct ifreq request = {};

	text_copy(request.ifr_name, IFNAMSIZ, netdev);
	assert_int_equal(ioctl(socket_fd, SIOCGIFFLAGS, &request), 0);
	request.ifr_flags = (short)(up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
	assert_int_equal(ioctl(socket_fd, SIOCSIFFLAGS, &request), 0);
}

/* One kind of change, in two directions that alternate. */
typedef struct Change {
	const char *name;
	const char *sim[2]; /* for rdma_sim, or */
	int mtu[2];	    /* of netdev d0, or */
	bool link;	    /* d0 up and down */
	const char *member; /* the signal that tells of it */
	const char *interface, *property;
	bool event; /* verbs announces it: the bare program can see it */
} Change;

#define PORT	   RDMAD_INTERFACE_PORT
#define INFINIBAND RDMAD_INTERFACE_INFINIBAND

/* clang-format off */
static const Change changes[] = {
	{"PORT_ERR, PORT_ACTIVE", {"set sim0/1 state=1 event=PORT_ERR", "set sim0/1 state=4 event=PORT_ACTIVE"}, {}, false, "PropertiesChanged", PORT, "State", true},
	{"LID_CHANGE", {"set sim0/1 lid=21 event=LID_CHANGE", "set sim0/1 lid=22 event=LID_CHANGE"}, {}, false, "PropertiesChanged", INFINIBAND, "Lid", true},
	{"SM_CHANGE", {"set sim0/1 sm_lid=3 event=SM_CHANGE", "set sim0/1 sm_lid=4 event=SM_CHANGE"}, {}, false, "PropertiesChanged", INFINIBAND, "SmLid", true},
	{"CLIENT_REREGISTER, nothing else", {"event sim0/1 CLIENT_REREGISTER", "event sim0/1 CLIENT_REREGISTER"}, {}, false, "SubnetReconfigured", NULL, NULL, true},
	{"PKEY_CHANGE", {"set sim0/1 pkey.3=0x8003 event=PKEY_CHANGE", "set sim0/1 pkey.3=0x8004 event=PKEY_CHANGE"}, {}, false, "PropertiesChanged", INFINIBAND, "Pkeys", true},
	{"LID, no event: reconcile", {"set sim0/1 lid=31", "set sim0/1 lid=32"}, {}, false, "PropertiesChanged", INFINIBAND, "Lid", false},
	{"rxe: link down, up", {}, {}, true, "PropertiesChanged", PORT, "State", true},
	{"rxe: MTU", {}, {4200, 1500}, false, "PropertiesChanged", PORT, "ActiveMtu", false},
};
/* clang-format on */

static void make(const Change *c, unsigned int i)
{
	if (c->sim[0])
		sim(c->sim[i % 2]);
	else if (c->link)
		set_up("d0", i % 2);
	else
		set_mtu("d0", c->mtu[i % 2]);
}

static bool tells(const Change *c, sd_bus_message *m, const char *path)
{
	return streq(sd_bus_message_get_path(m), path) &&
	       streq(sd_bus_message_get_member(m), c->member) &&
	       (!c->interface || fixture_changed(m, c->interface, c->property));
}

static double wait_signal(const Change *c, const char *path)
{
	size_t i = 0;

	for (;;) {
		for (; i < f->n_signals; i++)
			if (tells(c, f->signals[i], path))
				return now_ms();
		fixture_wait_more(f);
	}
}

/* The bare program: for each event one line of the pipe, with the time when the answer was there.
 */
static pid_t start_bare(uint32_t index, int *ret_fd)
{
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		struct ibv_context *context = compare_open(index);
		struct ibv_async_event event;
		struct ibv_port_attr attr;
		double t = 0;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(fds[1], &t, sizeof(t)) < 0)
			_exit(1);
		while (context && ibv_get_async_event(context, &event) == 0) {
			uint8_t port = (uint8_t)event.element.port_num;

			ibv_ack_async_event(&event);
			ibv_query_port(context, port, &attr);
			t = now_ms();
			if (write(fds[1], &t, sizeof(t)) < 0)
				break;
		}
		_exit(0);
	}
	close(fds[1]);
	*ret_fd = fds[0];
	return pid;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double percentile(double *values, size_t n, double p)
{
	qsort(values, n, sizeof(*values), compare_double);
	return values[(size_t)(p * (double)(n - 1) + 0.5)];
}

/* Driver calls for sim0/1. */
typedef struct Calls {
	unsigned long user, kernel; /* queries of the port: of processes, and of ib_core */
	unsigned long tables;	    /* reads of single P_Keys and GIDs */
} Calls;

/* All so far. */
static Calls read_calls(void)
{
	_cleanup_fclose_ FILE *file = fopen("/dev/rdma_sim", "r");
	_cleanup_free_ char *line = NULL;
	Calls calls = {};
	size_t size = 0;

	assert_non_null(file);
	while (getline(&line, &size, file) > 0) {
		char *word, *rest = line;

		if (!startswith(line, "calls sim0/1 "))
			continue;
		while ((word = strsep(&rest, " \n"))) {
			const char *value = strchr(word, '=');
			unsigned long n = value ? strtoul(value + 1, NULL, 10) : 0;

			if (startswith(word, "query.user="))
				calls.user += n;
			else if (startswith(word, "query.kernel="))
				calls.kernel += n;
			else if (startswith(word, "pkey=") || startswith(word, "gid="))
				calls.tables += n;
		}
	}
	return calls;
}

/* The reasons of the events that rdmad has logged since the last call. */
static void print_reasons(void)
{
	FILE *p = popen("journalctl -u rdmad -o cat --cursor-file=/tmp/cursor 2>/dev/null | "
			"sed -n 's/^event: .* \\([a-z-]*\\)$/\\1/p' | sort -u | tr '\\n' ' '",
			"r");
	char text[256] = "";

	if (p && fgets(text, sizeof(text), p))
		printf("%-26s", text);
	else
		printf("%-26s", "-");
	if (p)
		pclose(p);
}

static void set_log_level(const char *level)
{
	sd_bus_message_unref(fixture_call(f, "/org/freedesktop/LogControl1",
					  "org.freedesktop.DBus.Properties", "Set", NULL, "ssv",
					  "org.freedesktop.LogControl1", "LogLevel", "s", level));
}

static void wait_port(const char *name, char path[RDMAD_PATH_MAX])
{
	for (;;) {
		char *error = NULL;
		const char *found;
		sd_bus_message *reply = fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
						     "GetPort", &error, "sa{sv}", name, 0);

		if (reply) {
			sd_bus_message_read_basic(reply, 'o', &found);
			text_copy(path, RDMAD_PATH_MAX, found);
			sd_bus_message_unref(reply);
			return;
		}
		free(error);
		fixture_wait_more(f);
	}
}

/* Lets what was begun come to an end: on an interface there follow looks for a second after a
 * change (daemon/work.c); of any kind, only so many a second are not delayed. */
static void settle(const Change *c)
{
	double begin = now_ms(), end = begin + (c->sim[0] ? 250 : 1300);

	while (now_ms() < end) {
		fixture_barrier(f);
		usleep(20000);
	}
	fixture_forget(f);
}

/* What one change costs, without the bare program. */
static void count(const Change *c, const char *path)
{
	Calls before, after;

	set_log_level("debug");
	settle(c);
	if (system("journalctl -u rdmad -o cat --cursor-file=/tmp/cursor >/dev/null 2>&1") != 0)
		fail_msg("journalctl");
	before = read_calls();
	make(c, 0);
	wait_signal(c, path);
	settle(c);
	make(c, 1);
	wait_signal(c, path);
	settle(c);
	after = read_calls();
	print_reasons();
	if (c->sim[0])
		printf("%4lu %4lu %6lu  ", after.user - before.user, after.kernel - before.kernel,
		       after.tables - before.tables);
	else
		printf("%4s %4s %6s  ", "-", "-", "-");
	set_log_level("info");
}

/* A change may send more than one event: leaves none for the next. */
static void drain(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	double t;

	while (poll(&p, 1, 0) > 0 && read(fd, &t, sizeof(t)) == sizeof(t))
		;
}

static void measure(const Change *c, const char *path, uint32_t index, unsigned int n)
{
	double signals[REPETITIONS_MAX], bare[REPETITIONS_MAX], t;
	int fd = -1;
	pid_t pid = c->event ? start_bare(index, &fd) : 0;

	if (pid)
		assert_int_equal(read(fd, &t, sizeof(t)), sizeof(t));
	for (unsigned int i = 0; i < n; i++) {
		double begin;

		settle(c);
		drain(fd);
		begin = now_ms();
		make(c, i);
		signals[i] = wait_signal(c, path) - begin;
		if (pid) {
			assert_int_equal(read(fd, &t, sizeof(t)), sizeof(t));
			bare[i] = t - begin;
		}
	}
	printf("%7.2f %7.2f  ", percentile(signals, n, 0.5), percentile(signals, n, 0.95));
	if (pid) {
		double median = percentile(bare, n, 0.5);

		printf("%7.2f %7.2f  %5.2f\n", median, percentile(bare, n, 0.95),
		       percentile(signals, n, 0.5) / median);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		close(fd);
	} else {
		printf("      -       -      -\n");
	}
}

int main(int argc, char *argv[])
{
	unsigned int n = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 10;
	char sim_path[RDMAD_PATH_MAX], rxe_path[RDMAD_PATH_MAX];

	n = MIN(MAX(n, 2U), REPETITIONS_MAX) & ~1U; /* there and back */
	if (system("modprobe rdma_rxe && modprobe rdma_sim && ip link add d0 type dummy && ip link "
		   "set d0 up && "
		   "rdma link add rxe0 type rxe netdev d0 && "
		   "printf '[Daemon]\\nReconcileIntervalSec=5\\nQueryTimeoutSec=8\\n' > "
		   "/etc/rdmad.conf") != 0)
		return 1;
	sim_fd = open("/dev/rdma_sim", O_WRONLY);
	socket_fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (sim_fd < 0 || socket_fd < 0)
		return 1;
	sim("add sim0 driver=mlx5 link=ib ports=1 pkeys=16 gids=4");
	sim("set sim0/1 state=4 phys_state=5 lid=20 sm_lid=1");
	f = calloc(1, sizeof(Fixture));
	text_copy(f->directory, sizeof(f->directory), "/tmp");
	text_copy(f->address, sizeof(f->address), "unix:path=/run/dbus/system_bus_socket");
	fixture_connect(f);
	wait_port("sim0/1", sim_path);
	wait_port("rxe0/1", rxe_path);
	printf("%u repetitions; ms from before the change. Calls are of the driver, for two "
	       "changes: queries of\n"
	       "the port, those of ib_core itself, and reads of single P_Keys and GIDs\n\n"
	       "%-32s%-26s%4s %4s %6s  %7s %7s  %7s %7s  %5s\n",
	       n, "change", "events", "user", "core", "tables", "signal", "p95", "bare", "p95",
	       "ratio");
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		const Change *c = &changes[i];
		const char *path = c->sim[0] ? sim_path : rxe_path;

		printf("%-32s", c->name);
		fflush(stdout);
		count(c, path);
		measure(c, path,
			(uint32_t)strtoul(path + strlen(RDMAD_DEVICE_PREFIX "/"), NULL, 10), n);
		fflush(stdout);
	}
	return 0;
}
