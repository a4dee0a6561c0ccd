/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures for each kind of change: which events told rdmad of it, how many calls of the driver it
 * caused, and how long after the change a subscriber had the D-Bus signal. The floor is a bare
 * program that waits in ibv_get_async_event(), calls ibv_query_port() and emits one signal. It has
 * the same subscriber, the same bus, and the same changes on the same port. The two take turns:
 * while it is the turn of one, the other is stopped. Prints a table too.
 */

#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include <dirent.h>
#include <math.h>
#include <sys/resource.h>

#include "bench.h"
#include "compare.h"
#include "trace.h"

/* The best round counts. */
#define ROUNDS	     6
#define ROUNDS_QUICK 2
#define TURNS	     10

#define BARE_INTERFACE "org.rdma.Bare"

static Fixture *f;
static int sim_fd, socket_fd;
static bool bare_heard;
static pid_t rdmad[2]; /* rdmad and its worker */

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

/* One kind of change. The two elements of SIM and MTU are its two directions, which alternate. */
typedef struct Change {
	const char *name, *figure;
	const char *sim[2]; /* commands to rdma_sim, or */
	int mtu[2];	    /* values for the interface d0, or */
	bool link;	    /* the interface d0 goes up and down */
	const char *member; /* the signal that a subscriber waits for */
	const char *interface, *property;
	double goal; /* the ratio to the bare program */
} Change;

#define PORT	   RDMAD_INTERFACE_PORT
#define INFINIBAND RDMAD_INTERFACE_INFINIBAND

/* clang-format off */
static const Change changes[] = {
	{"PORT_ERR, PORT_ACTIVE", "change-state", {"set sim0/1 state=1 event=PORT_ERR", "set sim0/1 state=4 event=PORT_ACTIVE"}, {}, false, "PropertiesChanged", PORT, "State", 1.8},
	{"LID_CHANGE", "change-lid", {"set sim0/1 lid=21 event=LID_CHANGE", "set sim0/1 lid=22 event=LID_CHANGE"}, {}, false, "PropertiesChanged", INFINIBAND, "Lid", 1.5},
	{"SM_CHANGE", "change-sm", {"set sim0/1 sm_lid=3 event=SM_CHANGE", "set sim0/1 sm_lid=4 event=SM_CHANGE"}, {}, false, "PropertiesChanged", INFINIBAND, "SmLid", 1.5},
	{"CLIENT_REREGISTER, nothing else", "change-reregister", {"event sim0/1 CLIENT_REREGISTER", "event sim0/1 CLIENT_REREGISTER"}, {}, false, "SubnetReconfigured", NULL, NULL, 1.8},
	{"PKEY_CHANGE", "change-pkey", {"set sim0/1 pkey.3=0x8003 event=PKEY_CHANGE", "set sim0/1 pkey.3=0x8004 event=PKEY_CHANGE"}, {}, false, "PropertiesChanged", INFINIBAND, "Pkeys", 2},
	{"LID, no event: reconcile", NULL, {"set sim0/1 lid=31", "set sim0/1 lid=32"}, {}, false, "PropertiesChanged", INFINIBAND, "Lid", 0},
	{"rxe: link down, up", "change-rxe-link", {}, {}, true, "PropertiesChanged", PORT, "State", 1.8},
	{"rxe: MTU", NULL, {}, {4200, 1500}, false, "PropertiesChanged", PORT, "ActiveMtu", 0},
};
/* clang-format on */

/*
 * The changes are made by a process of their own. The subscriber must sleep when the signal comes,
 * as subscribers do: a process that has just made the change may still be on the way to that, and
 * a bus that sends to a process that does not sleep first does what else it has to do.
 */
static struct Maker {
	const Change *change;
	unsigned int direction;
	double begin_ms; /* just before the change */
} * maker;
static int maker_fd;

/* The subscriber is asleep after this time. */
#define MAKER_SLEEP_USEC (20 * USEC_PER_MSEC)

static void make_now(const Change *c, unsigned int direction)
{
	if (c->sim[0])
		sim(c->sim[direction]);
	else if (c->link)
		set_up("d0", direction);
	else
		set_mtu("d0", c->mtu[direction]);
}

static void start_maker(void)
{
	int fds[2];

	maker = mmap(NULL, sizeof(*maker), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (maker == MAP_FAILED || pipe2(fds, O_CLOEXEC) < 0)
		bench_die("cannot start the process that makes the changes");
	maker_fd = fds[1];
	if (fork() == 0) {
		char byte;

		close(fds[1]);
		while (read(fds[0], &byte, 1) == 1) {
			usleep(MAKER_SLEEP_USEC);
			maker->begin_ms = fixture_now_ms();
			make_now(maker->change, maker->direction);
		}
		_exit(0);
	}
	close(fds[0]);
}

/* Has change I of C made in a moment: maker->begin_ms is when. */
static void make(const Change *c, unsigned int i)
{
	maker->change = c;
	maker->direction = i % 2;
	if (write(maker_fd, "", 1) != 1)
		bench_die("nobody makes the changes");
}

static bool tells(const Change *c, sd_bus_message *m, const char *path)
{
	return streq(sd_bus_message_get_path(m), path) &&
	       streq(sd_bus_message_get_member(m), c->member) &&
	       (!c->interface || fixture_changed(m, c->interface, c->property));
}

/* Waits for the signal. Returns when it came: how long the subscriber needs to read it does not
 * count.
 */
static double wait_signal(const Change *c, const char *path)
{
	double when = fixture_now_ms();
	size_t i = 0;

	for (;;) {
		for (; i < f->n_signals; i++)
			if (tells(c, f->signals[i], path))
				return when;
		fixture_wait_more(f);
		when = fixture_now_ms();
	}
}

static int on_bare(_unused_ sd_bus_message *m, _unused_ void *userdata,
		   _unused_ sd_bus_error *error)
{
	bare_heard = true;
	return 0;
}

static double wait_bare(void)
{
	while (!bare_heard) {
		int r = sd_bus_process(f->bus, NULL);

		if (r == 0)
			r = sd_bus_wait(f->bus, 30 * USEC_PER_SEC);
		if (r < 0)
			bench_die("the bus: %s", strerror(-r));
	}
	return fixture_now_ms();
}

/* Emits a signal like those of rdmad, with two properties. */
static void emit(sd_bus *bus, const struct ibv_port_attr *attr)
{
	sd_bus_message *m = NULL;

	if (sd_bus_message_new_signal(bus, &m, "/bare", BARE_INTERFACE, "PropertiesChanged") < 0 ||
	    sd_bus_message_append(m, "sa{sv}as", RDMAD_INTERFACE_PORT, 2, "State", "u", attr->state,
				  "Lid", "u", attr->lid, 0) < 0 ||
	    sd_bus_send(bus, m, NULL) < 0 || sd_bus_flush(bus) < 0)
		_exit(1);
	sd_bus_message_unref(m);
}

/* Starts the bare program, with the priority of a service. It is ready when it has emitted a
 * signal. */
static pid_t start_bare(uint32_t index)
{
	pid_t pid = fork();

	bare_heard = false;
	if (pid == 0) {
		struct ibv_context *context;
		struct ibv_async_event event;
		struct ibv_port_attr attr = {};
		sd_bus *bus = NULL;

		setsid();
		setpriority(PRIO_PROCESS, 0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		context = compare_open(index);
		if (!context || sd_bus_open_system(&bus) < 0)
			_exit(1);
		emit(bus, &attr);
		while (ibv_get_async_event(context, &event) == 0) {
			uint8_t port = (uint8_t)event.element.port_num;
			bool of_port = event.event_type != IBV_EVENT_GID_CHANGE;

			ibv_ack_async_event(&event);
			if (of_port && ibv_query_port(context, port, &attr) == 0)
				emit(bus, &attr);
		}
		_exit(0);
	}
	wait_bare();
	return pid;
}

static void find_rdmad(void)
{
	DIR *directory = opendir("/proc");
	struct dirent *e;

	while (directory && (e = readdir(directory))) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file)) {
			name[strcspn(name, "\n")] = '\0';
			if (streq(name, "rdmad"))
				rdmad[0] = (pid_t)atoi(e->d_name);
			if (streq(name, "rdmad-query"))
				rdmad[1] = (pid_t)atoi(e->d_name);
		}
		fclose(file);
	}
	if (directory)
		closedir(directory);
	if (rdmad[0] == 0 || rdmad[1] == 0)
		bench_die("rdmad does not run");
}

/* Stops the process PID (SIGSTOP), and waits until it has stopped. */
static void stop(pid_t pid)
{
	char path[64], state = '?';

	kill(pid, SIGSTOP);
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (state != 'T') {
		FILE *file = fopen(path, "re");

		if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			bench_die("process %d has gone", pid);
		fclose(file);
	}
}

/* How often the driver was called for sim0/1. */
typedef struct Calls {
	unsigned long user, kernel; /* queries of the port, by processes and by ib_core */
	unsigned long tables;	    /* reads of single P_Keys and GIDs */
} Calls;

/* Reads the numbers since the port was made. */
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

/* Prints the reasons of the events that rdmad has logged since the last call. */
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

/* Waits until rdmad has finished with a change. After a change of an interface it looks again for a
 * second (daemon/manager/schedule.c). And it delays changes that come too quickly after each other:
 * so this pause is needed for every kind of change. */
static void settle(const Change *c)
{
	double begin = fixture_now_ms(), end = begin + (c->sim[0] ? 250 : 1300);

	while (fixture_now_ms() < end) {
		fixture_barrier(f);
		usleep(20000);
	}
	fixture_forget(f);
}

/* Counts what one change causes, without the bare program. */
static void count(const Change *c, const char *path)
{
	Calls before, after;

	set_log_level("debug");
	settle(c);
	if (system("journalctl -u rdmad -o cat --cursor-file=/tmp/cursor >/dev/null 2>&1") != 0)
		fail_msg("journalctl failed");
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
	/* During the measurement rdmad must not log more than the bare program, which logs nothing.
	 */
	set_log_level("notice");
}

typedef struct Delays {
	double samples[TURNS];
	size_t n;
	double median, p99; /* the least of all rounds, in ms */
} Delays;

static void end_round(Delays *d)
{
	d->median = MIN(d->median, bench_percentile(d->samples, d->n, 0.5));
	d->p99 = MIN(d->p99, bench_percentile(d->samples, d->n, 0.99));
	d->n = 0;
}

static void report(const Change *c, const Delays *signals, const Delays *bare)
{
	Figure figure = {.figure = c->figure,
			 .value = signals->median * 1000,
			 .unit = "us",
			 .floor_name = "event, query, one signal",
			 .floor = bare->median * 1000,
			 .goal = c->goal};
	const char *cpus = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? "-cpus" : "";
	char name[64], p99[80];

	printf("%7.2f %7.2f  ", signals->median, signals->p99);
	if (!c->figure) {
		printf("      -       -      -     -\n");
		return;
	}
	printf("%7.2f %7.2f  %5.2f %5.2f\n", bare->median, bare->p99,
	       signals->median / bare->median, signals->p99 / bare->p99);
	snprintf(name, sizeof(name), "%s%s", c->figure, cpus);
	figure.figure = name;
	bench_report(&figure);
	snprintf(p99, sizeof(p99), "%s-p99", name);
	figure.figure = p99;
	figure.value = signals->p99 * 1000;
	figure.floor = bare->p99 * 1000;
	figure.goal = 2;
	bench_report(&figure);
}

static void print_turn(bool its_turn, double delay)
{
	trace_end();
	printf("%s, %.0f us:\n", its_turn ? "rdmad" : "bare", delay * 1000);
	trace_print(maker->begin_ms);
}

static void measure(const Change *c, const char *path, uint32_t index, unsigned int rounds)
{
	Delays signals = {.median = INFINITY, .p99 = INFINITY}, bare = signals;
	pid_t pid = c->figure ? start_bare(index) : 0;

	/* The turns are one, two, two, two and so on, so that both programs get changes in both
	 * directions. */
	for (unsigned int i = 0; i < rounds * TURNS * (pid ? 2 : 1); i++) {
		bool its_turn = !pid || i % 4 == 0 || i % 4 == 3;
		double delay;

		settle(c);
		bare_heard = false;
		if (pid && its_turn)
			stop(pid);
		for (size_t k = 0; k < ARRAY_SIZE(rdmad) && !its_turn; k++)
			stop(rdmad[k]);
		if (bench.what)
			trace_begin();
		make(c, i);
		delay = (its_turn ? wait_signal(c, path) : wait_bare()) - maker->begin_ms;
		if (bench.what)
			print_turn(its_turn, delay);
		if (its_turn)
			signals.samples[signals.n++] = delay;
		else
			bare.samples[bare.n++] = delay;
		if (pid)
			kill(pid, SIGCONT);
		for (size_t k = 0; k < ARRAY_SIZE(rdmad); k++)
			kill(rdmad[k], SIGCONT);
		if (signals.n == TURNS)
			end_round(&signals);
		if (bare.n == TURNS)
			end_round(&bare);
	}
	report(c, &signals, &bare);
	if (pid) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

int main(int argc, char *argv[])
{
	char sim_path[RDMAD_PATH_MAX], rxe_path[RDMAD_PATH_MAX];
	unsigned int n;

	bench_init(argc, argv);
	n = bench.quick ? ROUNDS_QUICK : ROUNDS;
	setpriority(PRIO_PROCESS, 0, 0); /* the subscriber has the usual priority */
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
	start_maker();
	f = calloc(1, sizeof(Fixture));
	text_copy(f->directory, sizeof(f->directory), "/tmp");
	text_copy(f->address, sizeof(f->address), "unix:path=/run/dbus/system_bus_socket");
	fixture_connect(f);
	if (sd_bus_add_match(f->bus, NULL, "type='signal',interface='" BARE_INTERFACE "'", on_bare,
			     NULL) < 0)
		return 1;
	wait_port("sim0/1", sim_path);
	wait_port("rxe0/1", rxe_path);
	find_rdmad();
	if (bench.what)
		trace_init();
	printf("%u rounds of %u; ms from before the change. Calls are of the driver, for two "
	       "changes: queries of\n"
	       "the port, those of ib_core itself, and reads of single P_Keys and GIDs\n\n"
	       "%-32s%-26s%4s %4s %6s  %7s %7s  %7s %7s  %5s %5s\n",
	       n, TURNS, "change", "events", "user", "core", "tables", "signal", "p99", "bare",
	       "p99", "ratio", "p99");
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		const Change *c = &changes[i];
		const char *path = c->sim[0] ? sim_path : rxe_path;

		if (bench.what && (!c->figure || !streq(c->figure, bench.what)))
			continue;
		printf("%-32s", c->name);
		fflush(stdout);
		count(c, path);
		/* These take a second or more each: interfaces, and what only reconciliation finds.
		 */
		measure(c, path,
			(uint32_t)strtoul(path + strlen(RDMAD_DEVICE_PREFIX "/"), NULL, 10),
			!c->figure  ? 1
			: c->sim[0] ? n
				    : 2);
		fflush(stdout);
	}
	return 0;
}
