/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How rdmad starts and ends: which bus it takes, and a bus that stops in the middle of the end. */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "fixture.h"

#define GUARD_MSEC 60000
/* More than what else rdmad says at first, and less than what its socket takes. */
#define BUS_SOCKET 12288

static const char quiet[] = "[device mlx5_0]\nprotocol = infiniband\n";
/* The reply to GetManagedObjects() has some 10 MB: more than a socket takes. */
static const char many[] = "[device dev%d]\nprotocol = roce\ncount = 1024\nports = 4\n";

/* Runs rdmad on SCENARIO with CONFIGURATION and the option BUS and, of these variables, those in
 * ENVIRONMENT ("NAME=VALUE", ended by NULL). */
static pid_t spawn(const Fixture *f, const char *scenario, const char *configuration,
		   const char *bus, const char *const *environment)
{
	static const char *const variables[] = {"DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR",
						"DBUS_SYSTEM_BUS_ADDRESS", "NOTIFY_SOCKET",
						"JOURNAL_STREAM"};
	char path[96], simulate[128], config[128];
	FILE *file;
	pid_t pid;

	fixture_configure(f, configuration);
	snprintf(config, sizeof(config), "--config=%s/rdmad.conf", f->directory);
	snprintf(path, sizeof(path), "%s/scenario", f->directory);
	snprintf(simulate, sizeof(simulate), "--simulate=%s", path);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(scenario, file);
	fclose(file);
	snprintf(path, sizeof(path), "%s/daemon.log", f->directory);
	pid = fork();
	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
	for (; *environment; environment++)
		putenv(CONST_CAST(char *, *environment));
	dup2(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
	execl(TEST_BUILD_DIR "/daemon/rdmad", "rdmad", bus, simulate, config, (char *)NULL);
	_exit(127);
}

/* Without a session it does not start; above all not on the system bus, whose name it would take.
 */
static void test_no_session(void **state)
{
	Fixture *f = *state;
	char system[160];
	const char *const environment[] = {system, NULL};
	_cleanup_free_ char *log = NULL;

	snprintf(system, sizeof(system), "DBUS_SYSTEM_BUS_ADDRESS=%s", f->address);
	f->daemon_pid = spawn(f, quiet, "", "--bus=session", environment);
	for (unsigned int i = 0; !log || !strstr(log, "session"); i++) {
		free(log);
		log = fixture_daemon_log(f);
		if (strstr(log, "Serving") || i > GUARD_MSEC)
			fail_msg("it runs, and says: %s", log);
		usleep(1000);
	}
	assert_int_equal(fixture_wait_process(f->daemon_pid), 1);
	f->daemon_pid = 0;
	assert_non_null(strstr(log, "--bus=session"));
	assert_non_null(strstr(log, "XDG_RUNTIME_DIR"));
}

static void test_session_by_directory(void **state)
{
	Fixture *f = *state;
	char directory[96];
	const char *const environment[] = {directory,
					   "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent", NULL};

	snprintf(directory, sizeof(directory), "XDG_RUNTIME_DIR=%s", f->directory);
	f->daemon_pid = spawn(f, quiet, "", "--bus=session", environment);
	fixture_wait_name(f);
}

static void test_session_by_address(void **state)
{
	Fixture *f = *state;
	char address[160];
	const char *const environment[] = {address, "XDG_RUNTIME_DIR=/nonexistent",
					   "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent", NULL};

	snprintf(address, sizeof(address), "DBUS_SESSION_BUS_ADDRESS=%s", f->address);
	f->daemon_pid = spawn(f, quiet, "", "--bus=session", environment);
	fixture_wait_name(f);
}

/* A watchdog of systemd that it cannot read would end it later. */
static void test_watchdog(void **state)
{
	Fixture *f = *state;
	char address[160];
	const char *const environment[] = {address, "WATCHDOG_USEC=x", NULL};
	_cleanup_free_ char *log = NULL;

	snprintf(address, sizeof(address), "DBUS_SESSION_BUS_ADDRESS=%s", f->address);
	f->daemon_pid = spawn(f, quiet, "", "--bus=session", environment);
	assert_int_equal(fixture_wait_process(f->daemon_pid), 1);
	f->daemon_pid = 0;
	log = fixture_daemon_log(f);
	assert_non_null(strstr(log, "Cannot feed the watchdog"));
}

/* A bus between rdmad and the real one, which passes things on for as long as the test likes. */

typedef struct Between {
	int listening, daemon, bus;
} Between;

static struct sockaddr_un socket_address(const Fixture *f, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", f->directory, name);
	return address;
}

static int listen_at(const Fixture *f, const char *name, int type)
{
	struct sockaddr_un address = socket_address(f, name);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	if (type == SOCK_STREAM)
		assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void wait_input(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, GUARD_MSEC), 1);
}

static void between_accept(Between *b, const Fixture *f)
{
	struct sockaddr_un address = socket_address(f, "bus");

	wait_input(b->listening);
	b->daemon = accept4(b->listening, NULL, NULL, SOCK_CLOEXEC);
	b->bus = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(b->bus, (struct sockaddr *)&address, sizeof(address)), 0);
}

/* Passes on what there is from FROM to TO. */
static void pass(int from, int to)
{
	struct pollfd p = {.fd = from, .events = POLLIN};
	char data[4096];
	ssize_t n;

	if (poll(&p, 1, 1) == 0)
		return;
	n = read(from, data, sizeof(data));
	assert_true(n > 0);
	assert_int_equal(write(to, data, (size_t)n), n);
}

static bool has_logged(const Fixture *f, const char *text)
{
	_cleanup_free_ char *log = fixture_daemon_log(f);

	return strstr(log, text);
}

#define MESSAGE_MAX 256

/* The next that systemd would have been told. */
static const char *next_notified(int fd, char ret[MESSAGE_MAX])
{
	ssize_t n;

	wait_input(fd);
	n = recv(fd, ret, MESSAGE_MAX - 1, 0);
	assert_true(n >= 0);
	ret[n] = '\0';
	return ret;
}

/* Waits until systemd would have been told TEXT. */
static void wait_notified(int fd, const char *text)
{
	char message[MESSAGE_MAX];

	while (!strstr(next_notified(fd, message), text))
		;
}

/* What the unit waits for, with Type=notify and, where systemd has it, notify-reload. */
static void test_systemd_is_told(void **state)
{
	Fixture *f = *state;
	int notify = listen_at(f, "notify", SOCK_DGRAM);
	char bus[160], socket[128], message[MESSAGE_MAX];
	const char *const environment[] = {socket, NULL};
	uint64_t began, said = 0;

	snprintf(bus, sizeof(bus), "--bus=%s", f->address);
	snprintf(socket, sizeof(socket), "NOTIFY_SOCKET=%s/notify", f->directory);
	f->daemon_pid = spawn(f, quiet, "", bus, environment);
	wait_notified(notify, "READY=1\nSTATUS=Serving");
	fixture_wait_name(f);
	for (unsigned int i = 0; i < 2; i++) {
		began = fixture_now_usec();
		kill(f->daemon_pid, SIGHUP);
		assert_int_equal(sscanf(next_notified(notify, message),
					"RELOADING=1\nMONOTONIC_USEC=%" SCNu64, &said),
				 1);
		assert_in_range(said, began, fixture_now_usec());
		assert_string_equal(next_notified(notify, message), "READY=1");
	}
	kill(f->daemon_pid, SIGTERM);
	assert_string_equal(next_notified(notify, message), "STOPPING=1");
	assert_int_equal(fixture_wait_process(f->daemon_pid), 0);
	f->daemon_pid = 0;
	close(notify);
}

/* Without it, no reply would be wanted. */
static int on_reply(_unused_ sd_bus_message *m, _unused_ void *userdata,
		    _unused_ sd_bus_error *error)
{
	return 0;
}

/* Has rdmad queue replies that B does not take. */
static void queue_replies(Fixture *f, Between *b)
{
	int n = 0;

	for (unsigned int i = 0; i < 4; i++)
		assert_true(sd_bus_call_method_async(f->bus, NULL, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
						     "org.freedesktop.DBus.ObjectManager",
						     "GetManagedObjects", on_reply, NULL, "") >= 0);
	assert_true(sd_bus_flush(f->bus) >= 0);
	/* the socket is full: the rest of the first reply waits */
	for (unsigned int i = 0; n < BUS_SOCKET; i++) {
		assert_true(i < GUARD_MSEC);
		pass(b->bus, b->daemon);
		assert_int_equal(ioctl(b->daemon, FIONREAD, &n), 0);
	}
}

/* The bus takes some more while rdmad ends, and then nothing: what it does not take is not waited
 * for. */
static void test_bus_stops_while_it_ends(void **state)
{
	Fixture *f = *state;
	Between b = {.listening = listen_at(f, "between", SOCK_STREAM), .daemon = -1, .bus = -1};
	int notify = listen_at(f, "notify", SOCK_DGRAM), status = 0, n;
	char bus[160], socket[128], data[4096];
	const char *const environment[] = {socket, NULL};

	snprintf(bus, sizeof(bus), "--bus=unix:path=%s/between", f->directory);
	snprintf(socket, sizeof(socket), "NOTIFY_SOCKET=%s/notify", f->directory);
	f->daemon_pid = spawn(f, many, "[Daemon]\nLongReplyMiBPerSec=0\n", bus, environment);
	between_accept(&b, f);
	while (!has_logged(f, "Serving")) {
		pass(b.daemon, b.bus);
		pass(b.bus, b.daemon);
	}
	queue_replies(f, &b);
	kill(f->daemon_pid, SIGTERM);
	wait_notified(notify, "STOPPING=1");
	/* what is in the socket now, so that there is room for some of what is queued */
	assert_int_equal(ioctl(b.daemon, FIONREAD, &n), 0);
	for (; n > 0; n -= (int)read(b.daemon, data, MIN(sizeof(data), (size_t)n)))
		;
	for (unsigned int i = 0; waitpid(f->daemon_pid, &status, WNOHANG) == 0; i++) {
		if (i > GUARD_MSEC)
			fail_msg("rdmad waits for the bus");
		usleep(1000);
	}
	f->daemon_pid = 0;
	assert_int_equal(status, 0);
	close(b.listening);
	close(b.daemon);
	close(b.bus);
	close(notify);
}

static int teardown(void **state)
{
	Fixture *f = *state;

	if (f->daemon_pid)
		fixture_stop_daemon(f, SIGKILL);
	fixture_free(f);
	return 0;
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_no_session),	       TEST(test_session_by_directory),
		TEST(test_session_by_address), TEST(test_watchdog),
		TEST(test_systemd_is_told),    TEST(test_bus_stops_while_it_ends),
	};

	return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
