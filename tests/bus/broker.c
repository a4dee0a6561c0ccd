/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs dbus-broker without systemd, for the tests: a controller that gives it one socket to listen
 * on, with a policy that allows everything.
 *
 *     test-broker SOCKET-PATH [UID [no-descriptors]]
 *
 * With UID the bus has the limits of a system bus and the rules of dbus/org.rdma.conf; UID is the
 * user that may own org.rdma beside root. "no-descriptors" adds the rule that nobody else sends
 * descriptors to org.rdma.
 *
 * It uses the protocol of dbus-broker(1), org.bus1.DBus.Broker: the controller is connected to the
 * broker by a socket pair, and passes it the listening sockets and their policy.
 */

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>

#include "compat-event.h"
#include "util.h"

/* One set of rules: who may connect, own a name, send, and receive. Each rule says whether it
 * allows that, and has a priority. */
#define BATCH "bta(btbs)a(btssssuutt)a(btssssuutt)"
/* The policy: sets of rules by uid and by ranges of gid or uid, then SELinux contexts, AppArmor,
 * and the kind of bus, as dbus-broker 33 has them. */
#define POLICY	 "a(u(" BATCH "))a(buu(" BATCH "))a(ss)bs"
#define ANY_UID	 UINT32_MAX
#define PRIORITY UINT64_C(1)

static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	text_copy(address.sun_path, sizeof(address.sun_path), path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 128) < 0)
		return -errno;
	return steal_fd(&fd);
}

static pid_t start_broker(int controller, bool system)
{
	char fd_text[16], id[33] = "0123456789abcdef0123456789abcdef";
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	snprintf(fd_text, sizeof(fd_text), "%d", dup(controller));
	/* what dbus-broker-launch gives the system bus, or more than any test needs */
	execlp("dbus-broker", "dbus-broker", "--controller", fd_text, "--machine-id", id,
	       "--max-bytes", system ? "536870912" : "1000000000", "--max-fds",
	       system ? "4096" : "100000", "--max-matches", system ? "16384" : "100000",
	       (char *)NULL);
	_exit(127);
}

/* Appends a policy that allows everything to everybody. */
static int append_policy(sd_bus_message *m)
{
	int r;

	r = sd_bus_message_open_container(m, 'v', "(" POLICY ")");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'r', POLICY);
	if (r >= 0)
		r = sd_bus_message_append(
			m, POLICY, 1, ANY_UID,				      /* by uid */
			true, PRIORITY,					      /* connect */
			1, true, PRIORITY, true, "",			      /* own */
			1, true, PRIORITY, "", "", "", "", 0, 0, UINT64_C(0), /* send */
			UINT64_MAX,					      /* */
			1, true, PRIORITY, "", "", "", "", 0, 0, UINT64_C(0), /* receive */
			UINT64_MAX,					      /* */
			0, 0, false, "session");
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* One rule about messages to NAME. */
static int append_send(sd_bus_message *m, bool allow, uint64_t priority, const char *name,
		       const char *interface, uint64_t min_fds)
{
	return sd_bus_message_append(m, "(btssssuutt)", allow, priority, name, "", interface, "", 0,
				     0, min_fds, UINT64_MAX);
}

/* The rules of user UID, or of everybody for whom there are none: connect, own, send, receive.
 * OWNS: it may own org.rdma, and send it everything. */
static int append_user(sd_bus_message *m, uint32_t uid, bool owns, bool no_descriptors)
{
	int r = sd_bus_message_open_container(m, 'r', "u(" BATCH ")");

	if (r >= 0)
		r = sd_bus_message_append(m, "u", uid);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'r', BATCH);
	if (r >= 0)
		r = sd_bus_message_append(m, "bta(btbs)", true, PRIORITY, 1, owns, PRIORITY, false,
					  "org.rdma");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "(btssssuutt)");
	if (r >= 0)
		r = append_send(m, true, PRIORITY, "", "", 0);
	if (r >= 0 && !owns)
		r = append_send(m, false, 2, "org.rdma", "org.rdma.Simulator", 0);
	if (r >= 0 && !owns && no_descriptors)
		r = append_send(m, false, 3, "org.rdma", "", 1);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	if (r >= 0)
		r = sd_bus_message_append(m, "a(btssssuutt)", 1, true, PRIORITY, "", "", "", "", 0,
					  0, UINT64_C(0), UINT64_MAX);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* Appends the policy of dbus/org.rdma.conf, for a daemon of user UID. */
static int append_system_policy(sd_bus_message *m, uint32_t uid, bool no_descriptors)
{
	int r = sd_bus_message_open_container(m, 'v', "(" POLICY ")");

	if (r >= 0)
		r = sd_bus_message_open_container(m, 'r', POLICY);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "(u(" BATCH "))");
	if (r >= 0)
		r = append_user(m, ANY_UID, false, no_descriptors);
	if (r >= 0)
		r = append_user(m, 0, true, false);
	if (r >= 0)
		r = append_user(m, uid, true, false);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	if (r >= 0)
		r = sd_bus_message_append(m, "a(buu(" BATCH "))a(ss)bs", 0, 0, false, "system");
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* UID and what follows it on the command line: NULL-terminated. */
static int add_listener(sd_bus *bus, int fd, char *system[])
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_message_new_method_call(bus, &m, NULL, "/org/bus1/DBus/Broker",
					       "org.bus1.DBus.Broker", "AddListener");

	if (r >= 0)
		r = sd_bus_message_append(m, "oh", "/org/bus1/DBus/Listener/0", fd);
	if (r >= 0)
		r = system[0] ? append_system_policy(m, (uint32_t)atoi(system[0]), system[1])
			      : append_policy(m);
	if (r >= 0)
		r = sd_bus_call(bus, m, 0, &error, NULL);
	if (r < 0)
		fprintf(stderr, "AddListener: %s\n", error.message ? error.message : strerror(-r));
	return r;
}

int main(int argc, char *argv[])
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
	int pair[2], listener, r;
	pid_t pid;

	if (argc < 2)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	listener = listen_at(argv[1]);
	if (listener < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
	    sd_event_default(&event) < 0)
		return 1;
	pid = start_broker(pair[1], argc > 2);
	close(pair[1]);
	if (pid < 0 || sd_bus_new(&bus) < 0 || sd_bus_set_fd(bus, pair[0], pair[0]) < 0 ||
	    sd_bus_start(bus) < 0 || sd_bus_attach_event(bus, event, 0) < 0)
		return 1;
	if (add_listener(bus, listener, argv + 2) < 0)
		return 1;
	/* a test may stop the broker with SIGSTOP: then it has not ended */
	if (sigaction(SIGCHLD, &(struct sigaction){.sa_flags = SA_NOCLDSTOP}, NULL) < 0)
		return 1;
	if (sd_event_add_signal(event, NULL, SIGTERM | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL) < 0 ||
	    sd_event_add_signal(event, NULL, SIGCHLD | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL) < 0)
		return 1;
	r = sd_event_loop(event);
	kill(pid, SIGTERM);
	return r < 0 ? 1 : 0;
}
