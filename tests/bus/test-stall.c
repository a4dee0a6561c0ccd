/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bus takes no messages for a while: the last state is told, nothing grows without end,
 * and the daemon goes on. */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "fixture.h"

#define GUARD_MSEC 60000
/* So many transitions have more signals than the socket of the bus and the queue of sd-bus have
 * room for. */
#define MANY 10000U

/* What is held of a port has at most so many announcements. */
#define HELD_MAX 16U

#define DEVICES 64U
#define PORTS	4U /* of each device */

#define DEVICE "[device mlx5_%d]\nprotocol = infiniband\ncount = 64\nports = 4\n"
#define STORM                                                                                      \
	"every 50ms: set */* state=down event=port-error\n"                                         \
	"every 70ms: set */* state=active event=port-active\n"

static const char storm[] = DEVICE "[script]\n" STORM;

/* One port gets other interfaces again and again. */
static const char storm_with_interfaces[] =
	DEVICE "[device other]\nindex = 100\nprotocol = infiniband\n[script]\n" STORM
	       "every 200ms: set other/1 link_layer=ethernet event=port-error\n"
	       "every 300ms: set other/1 link_layer=infiniband event=port-active\n";

/* A scenario, to be freed, in which each device has a rhythm of its own, and some of the changes
 * are not of the state. */
static char *new_mixed_storm(void)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	fputs(DEVICE "[script]\n", file);
	for (unsigned int i = 0; i < DEVICES; i++)
		fprintf(file,
			"every %ums: set mlx5_%u/* state=down event=port-error\n"
			"every %ums: set mlx5_%u/* state=active event=port-active\n"
			"every %ums: set mlx5_%u/* init_type_reply=1 event=lid-change\n"
			"every %ums: set mlx5_%u/* init_type_reply=2 event=lid-change\n",
			200 + 3 * i, i, 250 + 7 * i, i, 110 + 2 * i, i, 120 + 5 * i, i);
	assert_int_equal(fclose(file), 0);
	return text;
}

/* Sends SIGNAL, SIGSTOP or SIGCONT, to the bus; to the controller and the broker if it is
 * dbus-broker. */
static void signal_bus(const Fixture *f, int signal)
{
	char path[64];
	_cleanup_fclose_ FILE *file = NULL;
	pid_t child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", f->bus_pid, f->bus_pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fscanf(file, "%d", &child) == 1)
		assert_int_equal(kill(child, signal), 0);
	assert_int_equal(kill(f->bus_pid, signal), 0);
}

/* A test that has failed may have left the bus standing still: it would never end. */
static int teardown(void **state)
{
	Fixture *f = *state;

	if (f->bus_pid)
		signal_bus(f, SIGCONT);
	fixture_free(f);
	return 0;
}

/* How many transitions the daemon has logged. */
static unsigned int count_logged(const Fixture *f)
{
	char path[96], line[256];
	_cleanup_fclose_ FILE *file = NULL;
	unsigned int n = 0;

	snprintf(path, sizeof(path), "%s/daemon.log", f->directory);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		n += strstr(line, " -> ") != NULL;
	return n;
}

static unsigned int wait_logged(const Fixture *f, unsigned int n)
{
	for (unsigned int i = 0; i < GUARD_MSEC / 10; i++) {
		unsigned int is = count_logged(f);

		if (is >= n)
			return is;
		usleep(10000);
	}
	fail_msg("the daemon does not go on");
	return 0;
}

/* What has been heard of a port. */
typedef struct Heard {
	char property[16];  /* State, as PropertiesChanged had it last; empty at first */
	char announced[16]; /* as StateChanged had it last */
	unsigned int n_states, n_properties;
	unsigned int in_a_row; /* StateChanged since the last PropertiesChanged */
} Heard;

/* The value of State in M, a PropertiesChanged of org.rdma.Port. */
static void read_state(sd_bus_message *m, char *ret, size_t size)
{
	const char *name, *value;

	assert_true(sd_bus_message_rewind(m, true) >= 0);
	assert_true(sd_bus_message_skip(m, "s") >= 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") >= 0);
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		assert_true(sd_bus_message_read_basic(m, 's', &name) > 0);
		if (streq(name, "State")) {
			assert_true(sd_bus_message_read(m, "v", "s", &value) > 0);
			text_copy(ret, size, value);
			return;
		}
		assert_true(sd_bus_message_skip(m, "v") >= 0);
		assert_true(sd_bus_message_exit_container(m) >= 0);
	}
}

/* The properties come first, org.rdma.Port before the other interfaces, and then the announcements
 * of the same changes. So what was said before M is complete, and its last state is in both. */
static void hear_properties(Heard *h, sd_bus_message *m)
{
	if (!fixture_changed(m, RDMAD_INTERFACE_PORT, "State"))
		return;
	if (h->n_states > 0 && *h->property && !streq(h->property, h->announced))
		fail_msg("%s: StateChanged says %s, the property %s", sd_bus_message_get_path(m),
			 h->announced, h->property);
	read_state(m, h->property, sizeof(h->property));
	h->n_properties++;
	h->in_a_row = 0;
}

/* Each transition begins where the one before it has ended. */
static void hear_state(Heard *h, sd_bus_message *m)
{
	const char *is, *was;

	assert_true(sd_bus_message_read(m, "ss", &is, &was) > 0);
	if (h->n_states > 0 && !streq(was, h->announced))
		fail_msg("%s: was %s, but said to come from %s", sd_bus_message_get_path(m),
			 h->announced, was);
	text_copy(h->announced, sizeof(h->announced), is);
	h->n_states++;
	/* What is held does not grow without end. */
	assert_true(++h->in_a_row <= HELD_MAX);
	/* The property comes first; it comes once for all transitions that were held. */
	assert_true(h->n_properties > 0 || h->n_states == 1);
}

/* Takes in what is recorded; returns how many StateChanged have been heard since the start. */
static unsigned int hear_all(Fixture *f, Heard heard[DEVICES][PORTS])
{
	unsigned int device, port, n = 0;

	for (size_t i = 0; i < f->n_signals; i++) {
		sd_bus_message *m = f->signals[i];

		if (!sd_bus_message_get_path(m) ||
		    sscanf(sd_bus_message_get_path(m), RDMAD_DEVICE_PREFIX "/%u/port/%u", &device,
			   &port) != 2)
			continue;
		assert_true(device < DEVICES && port >= 1 && port <= PORTS);
		if (streq(sd_bus_message_get_member(m), "PropertiesChanged"))
			hear_properties(&heard[device][port - 1], m);
		else if (streq(sd_bus_message_get_member(m), "StateChanged"))
			hear_state(&heard[device][port - 1], m);
	}
	fixture_forget(f);
	for (unsigned int i = 0; i < DEVICES * PORTS; i++)
		n += heard[i / PORTS][i % PORTS].n_states;
	return n;
}

static void test_bus_stands_still(void **state)
{
	Fixture *f = *state;
	Heard(*heard)[PORTS] = calloc(DEVICES, sizeof(*heard));
	_cleanup_free_ char *mixed_storm = new_mixed_storm();
	unsigned int before, told, n_states, n_properties = 0;

	assert_non_null(heard);
	fixture_start_daemon(f, mixed_storm, NULL);
	fixture_barrier(f);
	fixture_forget(f);
	before = count_logged(f);
	signal_bus(f, SIGSTOP);
	wait_logged(f, before + MANY);
	signal_bus(f, SIGCONT);
	fixture_barrier(f);
	told = hear_all(f, heard);
	/* What was held is said first, and after it some more of each port, against which it is
	 * compared. */
	do {
		fixture_wait_more(f);
		n_states = hear_all(f, heard);
	} while (n_states < told + (HELD_MAX + 4) * DEVICES * PORTS);
	for (unsigned int i = 0; i < DEVICES * PORTS; i++)
		n_properties += heard[i / PORTS][i % PORTS].n_properties;
	print_message("%u StateChanged, %u changes of State\n", n_states, n_properties);
	/* Many transitions share one change of the property. */
	assert_true(n_properties < n_states);
	free(heard);
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
}

/* A port that gets other interfaces says at once what was held of it, so that nothing is said of an
 * interface that has gone. The ports before it go on waiting, and what it has to say later comes
 * after them. */
static void test_interfaces_change(void **state)
{
	Fixture *f = *state;

	fixture_start_daemon(f, storm_with_interfaces, NULL);
	fixture_barrier(f);
	signal_bus(f, SIGSTOP);
	wait_logged(f, count_logged(f) + MANY);
	signal_bus(f, SIGCONT);
	/* When the daemon has answered, all signals that waited have come, so that the next are
	 * new.
	 */
	fixture_barrier(f);
	for (unsigned int i = 0; i < 3; i++) {
		fixture_forget(f);
		fixture_wait_signal(f, "/org/rdma/device/100/port/1", "StateChanged");
	}
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
}

/* The daemon ends at SIGTERM and does not wait until the bus takes its messages. */
static void test_stop_while_it_stands_still(void **state)
{
	Fixture *f = *state;
	int status;

	fixture_start_daemon(f, storm, NULL);
	signal_bus(f, SIGSTOP);
	wait_logged(f, count_logged(f) + MANY);
	status = fixture_stop_daemon(f, SIGTERM);
	signal_bus(f, SIGCONT);
	assert_int_equal(status, 0);
}

/* In place of the bus there is a socket that accepts connections and never answers. */
static void test_connect_to_silence(void **state)
{
	Fixture *f = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_close_ int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	_cleanup_close_ int peer = -EBADF;
	struct pollfd p = {.fd = listening, .events = POLLIN};

	fixture_start_daemon(f, storm, NULL);
	fixture_stop_bus(f);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/bus", f->directory);
	assert_int_equal(bind(listening, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listening, 8), 0);
	assert_int_equal(poll(&p, 1, GUARD_MSEC), 1);
	peer = accept(listening, NULL, NULL);
	assert_true(peer >= 0);
	/* The daemon has connected, and goes on without an answer. */
	wait_logged(f, count_logged(f) + 100);
	wait_logged(f, count_logged(f) + 100);
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_bus_stands_still),
		TEST(test_interfaces_change),
		TEST(test_stop_while_it_stands_still),
		TEST(test_connect_to_silence),
	};

	return cmocka_run_group_tests_name("stall", tests, NULL, NULL);
}
