/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A bus that stands still: nothing is lost, nothing grows without end, and the daemon goes on. */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "fixture.h"

#define GUARD_MSEC 60000
/* More than the socket of the bus and the queue before it have room for. */
#define MANY 10000U

static const char storm[] = "[device mlx5_%d]\nprotocol = infiniband\ncount = 64\nports = 4\n"
			    "[script]\n"
			    "every 5ms: set */* state=down event=port-error\n"
			    "every 7ms: set */* state=active event=port-active\n";

static int teardown(void **state)
{
	fixture_free(*state);
	return 0;
}

/* Stops the bus or lets it go on, with the broker behind its controller. */
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

typedef struct Heard {
	char state[16];
	unsigned int n_states, n_properties;
} Heard;

/* Each transition begins where the one before it has ended. */
static void hear(Heard heard[64][4], sd_bus_message *m)
{
	unsigned int device, port;
	const char *is, *was;
	Heard *h;

	if (!sd_bus_message_get_path(m) ||
	    sscanf(sd_bus_message_get_path(m), RDMAD_DEVICE_PREFIX "/%u/port/%u", &device, &port) !=
		    2)
		return;
	assert_true(device < 64 && port >= 1 && port <= 4);
	h = &heard[device][port - 1];
	if (streq(sd_bus_message_get_member(m), "PropertiesChanged")) {
		h->n_properties += fixture_changed(m, RDMAD_INTERFACE_PORT, "State") != 0;
	} else if (streq(sd_bus_message_get_member(m), "StateChanged")) {
		assert_true(sd_bus_message_read(m, "ss", &is, &was) > 0);
		if (h->n_states > 0 && !streq(was, h->state))
			fail_msg("%s: was %s, but said to come from %s", sd_bus_message_get_path(m),
				 h->state, was);
		text_copy(h->state, sizeof(h->state), is);
		h->n_states++;
		/* the property is there first, if only once for all that was held */
		assert_true(h->n_properties > 0 || h->n_states == 1);
	}
}

static void test_bus_stands_still(void **state)
{
	Fixture *f = *state;
	Heard(*heard)[4] = calloc(64, sizeof(*heard));
	unsigned int before, logged, n_states = 0, n_properties = 0;

	assert_non_null(heard);
	fixture_start_daemon(f, storm, NULL);
	fixture_barrier(f);
	fixture_forget(f);
	before = count_logged(f);
	signal_bus(f, SIGSTOP);
	logged = wait_logged(f, before + MANY);
	signal_bus(f, SIGCONT);
	/* what was said before is here when this is answered, and held is what is said with it */
	while (n_states < logged - before) {
		fixture_wait_more(f);
		for (size_t i = 0; i < f->n_signals; i++)
			hear(heard, f->signals[i]);
		fixture_forget(f);
		n_states = n_properties = 0;
		for (unsigned int i = 0; i < 64 * 4; i++) {
			n_states += heard[i / 4][i % 4].n_states;
			n_properties += heard[i / 4][i % 4].n_properties;
		}
	}
	print_message("%u transitions: %u StateChanged, %u changes of State\n", logged - before,
		      n_states, n_properties);
	/* many transitions were told with one change of the property */
	assert_true(n_properties < n_states * 3 / 4);
	free(heard);
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
}

/* SIGTERM is heard, and what cannot be written is not waited for. */
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

/* The bus comes back as something that takes connections and never answers. */
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
	/* it has connected, and goes on at once */
	wait_logged(f, count_logged(f) + 100);
	wait_logged(f, count_logged(f) + 100);
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_bus_stands_still),
		TEST(test_stop_while_it_stands_still),
		TEST(test_connect_to_silence),
	};

	return cmocka_run_group_tests_name("stall", tests, NULL, NULL);
}
