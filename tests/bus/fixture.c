/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fixture.h"

#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "verified.h"

/* How long a test waits for what has to come. On a busy machine that is longer than the 25 s of
 * sd-bus. */
#define GUARD_USEC (120 * USEC_PER_SEC)

/* Adds to *N how many properties M names in the rest of its array, and to *JUDGED how many of them
 * say how well something is, or which rail it is; *RAILS of them do the latter. */
static void count_properties(sd_bus_message *m, char type, const char *contents, size_t *n,
			     size_t *judged, size_t *rails)
{
	const char *name;

	assert_true(sd_bus_message_enter_container(m, 'a', contents) >= 0);
	while (type == 's' || sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		if (sd_bus_message_read_basic(m, 's', &name) <= 0)
			break;
		++*n;
		*rails += startswith(name, "Rail") != NULL;
		/* that which has a rail now has no reason to have none */
		*judged += streq(name, "Health") || streq(name, "Findings") ||
			   streq(name, "FitSince") || startswith(name, "Rail") ||
			   (*rails && streq(name, "Unavailable"));
		if (type == 's')
			continue;
		assert_true(sd_bus_message_skip(m, "v") >= 0);
		assert_true(sd_bus_message_exit_container(m) >= 0);
	}
	assert_true(sd_bus_message_exit_container(m) >= 0);
}

/* Whether M says how well something is, or which rail, and nothing else. */
static bool is_of_health(sd_bus_message *m)
{
	size_t n = 0, judged = 0, rails = 0;

	if (sd_bus_message_is_signal(m, NULL, "PropertiesChanged") <= 0)
		return false;
	assert_true(sd_bus_message_rewind(m, true) >= 0);
	assert_true(sd_bus_message_skip(m, "s") >= 0);
	count_properties(m, 'e', "{sv}", &n, &judged, &rails);
	count_properties(m, 's', "s", &n, &judged, &rails);
	assert_true(sd_bus_message_rewind(m, true) >= 0);
	return judged > 0 && judged == n;
}

static int on_signal(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Fixture *f = userdata;

	if (!f->with_health && is_of_health(m))
		return 0;
	f->signals = reallocarray(f->signals, f->n_signals + 1, sizeof(*f->signals));
	assert_non_null(f->signals);
	f->signals[f->n_signals++] = sd_bus_message_ref(m);
	return 0;
}

static pid_t spawn(const Fixture *f, const char *const *argv, const char *log)
{
	char path[128];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/%s", f->directory, log);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		unsetenv("JOURNAL_STREAM");
		unsetenv("NOTIFY_SOCKET");
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		execvp(argv[0], CONST_CAST(char *const *, argv));
		_exit(127);
	}
	return pid;
}

/* The socket appears a little before the bus listens on it. */
static void wait_listening(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	text_copy(address.sun_path, sizeof(address.sun_path), path);
	for (unsigned int i = 0; i < 20000; i++) {
		_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
			return;
		usleep(1000);
	}
	fail_msg("nobody listens on %s", path);
}

void fixture_start_bus(Fixture *f)
{
	const char *kind = getenv("RDMAD_TEST_BUS");
	char socket[96], config[96];

	snprintf(socket, sizeof(socket), "%s/bus", f->directory);
	snprintf(config, sizeof(config), "%s/bus.conf", f->directory);
	if (kind && streq(kind, "dbus-broker")) {
		const char *const argv[] = {TEST_BROKER, socket, NULL};

		f->bus_pid = spawn(f, argv, "bus.log");
	} else {
		const char *const argv[] = {"dbus-daemon", "--nofork", "--config-file", config,
					    NULL};
		FILE *file = fopen(config, "w");

		assert_non_null(file);
		fprintf(file,
			"<busconfig><type>session</type><listen>unix:path=%s</listen>"
			"<policy context='default'><allow send_destination='*' eavesdrop='true'/>"
			"<allow eavesdrop='true'/><allow own='*'/><allow user='*'/></policy>"
			"<limit name='max_replies_per_connection'>100000</limit></busconfig>",
			socket);
		fclose(file);
		f->bus_pid = spawn(f, argv, "bus.log");
	}
	wait_listening(socket);
}

void fixture_stop_bus(Fixture *f)
{
	char socket[96];

	f->bus = sd_bus_close_unref(f->bus);
	kill(f->bus_pid, SIGTERM);
	fixture_wait_process(f->bus_pid);
	f->bus_pid = 0;
	snprintf(socket, sizeof(socket), "%s/bus", f->directory);
	unlink(socket);
}

sd_bus *fixture_client(const Fixture *f)
{
	sd_bus *bus = NULL;

	assert_true(sd_bus_new(&bus) >= 0);
	assert_true(sd_bus_set_address(bus, f->address) >= 0);
	assert_true(sd_bus_set_bus_client(bus, true) >= 0);
	assert_true(sd_bus_start(bus) >= 0);
	assert_true(sd_bus_set_method_call_timeout(bus, GUARD_USEC) >= 0);
	return bus;
}

void fixture_listen(Fixture *f, const char *paths)
{
	char rule[192];

	snprintf(rule, sizeof(rule), "type='signal',sender='" RDMAD_BUS_NAME "',%s", paths);
	assert_true(sd_bus_add_match(f->bus, NULL, rule, on_signal, f) >= 0);
}

void fixture_connect(Fixture *f)
{
	fixture_forget(f);
	f->bus = sd_bus_close_unref(f->bus);
	f->bus = fixture_client(f);
	fixture_listen(f, "path_namespace='" RDMAD_ROOT_PATH "'");
}

Fixture *fixture_new(void)
{
	Fixture *f = calloc(1, sizeof(Fixture));

	assert_non_null(f);
	text_copy(f->directory, sizeof(f->directory), "/tmp/rdmad-test.XXXXXX");
	assert_non_null(mkdtemp(f->directory));
	snprintf(f->address, sizeof(f->address), "unix:path=%s/bus", f->directory);
	fixture_start_bus(f);
	fixture_connect(f);
	return f;
}

static int remove_entry(const char *path, _unused_ const struct stat *st, _unused_ int flag,
			_unused_ struct FTW *ftw)
{
	return remove(path);
}

Fixture *fixture_free(Fixture *f)
{
	if (!f)
		return NULL;
	if (f->daemon_pid)
		fixture_stop_daemon(f, SIGTERM);
	fixture_forget(f);
	free(f->signals);
	if (f->bus_pid)
		fixture_stop_bus(f);
	sd_bus_close_unref(f->bus);
	assert_verified(f->directory);
	nftw(f->directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(f);
	return NULL;
}

void fixture_configure(const Fixture *f, const char *text)
{
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "%s/rdmad.conf", f->directory);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

pid_t fixture_spawn_daemon(Fixture *f, const char *scenario, const char *const *options)
{
	char bus[160], simulate[128], path[96], config[128];
	const char *installed = getenv("RDMAD_TEST_DAEMON");
	const char *argv[16] = {installed ? installed : TEST_BUILD_DIR "/daemon/rdmad", bus,
				config};
	size_t n = 3;
	FILE *file;

	snprintf(bus, sizeof(bus), "--bus=%s", f->address);
	/* The daemon must not read the configuration of this machine. */
	snprintf(path, sizeof(path), "%s/rdmad.conf", f->directory);
	file = fopen(path, "a");
	assert_non_null(file);
	fclose(file);
	snprintf(config, sizeof(config), "--config=%s", path);
	if (scenario) {
		snprintf(path, sizeof(path), "%s/scenario", f->directory);
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(scenario, file);
		fclose(file);
		snprintf(simulate, sizeof(simulate), "--simulate=%s", path);
		argv[n++] = simulate;
	}
	for (; options && *options; options++)
		argv[n++] = *options;
	argv[n] = NULL;
	return spawn(f, argv, "daemon.log");
}

void fixture_start_daemon(Fixture *f, const char *scenario, const char *const *options)
{
	f->daemon_pid = fixture_spawn_daemon(f, scenario, options);
	fixture_wait_name(f);
}

int fixture_wait_process(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGTERM && WTERMSIG(status) != SIGKILL)
		fail_msg("process %d died of signal %d", pid, WTERMSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int fixture_stop_daemon(Fixture *f, int signal)
{
	pid_t pid = f->daemon_pid;

	f->daemon_pid = 0;
	kill(pid, signal);
	return fixture_wait_process(pid);
}

char *fixture_daemon_log(const Fixture *f)
{
	char path[96];
	char *text = calloc(1, 65536);
	FILE *file;

	snprintf(path, sizeof(path), "%s/daemon.log", f->directory);
	file = fopen(path, "r");
	assert_non_null(text);
	if (file) {
		size_t n = fread(text, 1, 65535, file);

		text[n] = '\0';
		fclose(file);
	}
	return text;
}

int fixture_setup(void **state)
{
	*state = fixture_new();
	return 0;
}

int fixture_setup_daemon(void **state, const char *scenario)
{
	Fixture *f = fixture_new();

	fixture_start_daemon(f, scenario, NULL);
	*state = f;
	return 0;
}

int fixture_teardown(void **state)
{
	Fixture *f = *state;
	int status = f->daemon_pid ? fixture_stop_daemon(f, SIGTERM) : 0;

	if (status != 0) {
		_cleanup_free_ char *log = fixture_daemon_log(f);

		print_error("the daemon ended with %d and said:\n%s\n", status, log);
	}
	fixture_free(f);
	return status;
}

uint64_t fixture_now_usec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * USEC_PER_SEC + (uint64_t)t.tv_nsec / 1000;
}

double fixture_now_ms(void)
{
	return (double)fixture_now_usec() / 1e3;
}

/* Processes one message, or fails the test if DEADLINE has passed. */
static void process_one(Fixture *f, uint64_t deadline)
{
	int r = sd_bus_process(f->bus, NULL);

	if (r < 0)
		fail_msg("the connection has ended: %s", strerror(-r));
	if (r > 0)
		return;
	if (fixture_now_usec() > deadline) {
		_cleanup_free_ char *log = fixture_daemon_log(f);

		fail_msg("nothing came in time; the daemon says:\n%s", log);
	}
	assert_true(sd_bus_wait(f->bus, 100 * USEC_PER_MSEC) >= 0);
}

static bool name_has_owner(Fixture *f)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	int has = 0;

	assert_true(sd_bus_call_method(f->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
				       "org.freedesktop.DBus", "NameHasOwner", NULL, &reply, "s",
				       RDMAD_BUS_NAME) >= 0);
	assert_true(sd_bus_message_read(reply, "b", &has) >= 0);
	return has;
}

static int on_owner(_unused_ sd_bus_message *m, _unused_ void *userdata,
		    _unused_ sd_bus_error *error)
{
	return 0;
}

void fixture_wait_name(Fixture *f)
{
	uint64_t deadline = fixture_now_usec() + GUARD_USEC;
	_cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;

	/* Each change of an owner ends the waiting in process_one(). */
	assert_true(sd_bus_match_signal(f->bus, &slot, "org.freedesktop.DBus", NULL,
					"org.freedesktop.DBus", "NameOwnerChanged", on_owner,
					NULL) >= 0);
	while (!name_has_owner(f))
		process_one(f, deadline);
}

int fixture_read_entry(sd_bus_message *m, const char *types, ...)
{
	const char *contents;
	va_list args;
	char type;
	int r = sd_bus_message_peek_type(m, &type, &contents);

	if (r <= 0)
		return r;
	assert_int_equal(type, 'r');
	r = sd_bus_message_enter_container(m, 'r', contents);
	assert_true(r > 0);
	va_start(args, types);
	r = sd_bus_message_readv(m, types, args);
	va_end(args);
	assert_true(r >= 0);
	if (sd_bus_message_at_end(m, false) == 0)
		assert_true(sd_bus_message_skip(m, "a{sv}") >= 0);
	assert_true(sd_bus_message_exit_container(m) >= 0);
	return 1;
}

sd_bus_message *fixture_call(Fixture *f, const char *path, const char *interface,
			     const char *method, char **ret_error, const char *types, ...)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *reply = NULL;
	va_list args;
	int r;

	assert_true(sd_bus_message_new_method_call(f->bus, &m, RDMAD_BUS_NAME, path, interface,
						   method) >= 0);
	va_start(args, types);
	r = sd_bus_message_appendv(m, types, args);
	va_end(args);
	assert_true(r >= 0);
	r = sd_bus_call(f->bus, m, GUARD_USEC, &error, &reply);
	if (r >= 0) {
		if (ret_error)
			*ret_error = NULL;
		return reply;
	}
	if (!ret_error)
		fail_msg("%s.%s: %s: %s", interface, method, error.name, error.message);
	*ret_error = strdup(error.name ? error.name : strerror(-r));
	return NULL;
}

int fixture_keep_reply(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	sd_bus_message **replies = userdata;

	for (; *replies; replies++)
		;
	*replies = sd_bus_message_ref(m);
	return 0;
}

void fixture_wait_reply(Fixture *f, sd_bus_message **reply)
{
	for (unsigned int turns = 0; !*reply; turns++) {
		int r = sd_bus_process(f->bus, NULL);

		assert_true(r >= 0 && turns < 6000);
		if (r == 0)
			assert_true(sd_bus_wait(f->bus, 10 * USEC_PER_MSEC) >= 0);
	}
}

#define NOBODY 65534

bool fixture_can_be_other_user(void)
{
	if (getuid() == 0)
		return true;
	print_message("left out: only root can make calls of another user\n");
	return false;
}

/* In a process of its own: becomes NOBODY, and connects. Returns its exit status. */
static int connect_as_nobody(const Fixture *f, sd_bus **ret)
{
	if (setgroups(0, NULL) < 0 || setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
		return 2;
	if (sd_bus_new(ret) < 0 || sd_bus_set_address(*ret, f->address) < 0 ||
	    sd_bus_set_bus_client(*ret, true) < 0 || sd_bus_start(*ret) < 0)
		return 3;
	return 0;
}

static int call_as_nobody(const Fixture *f, const char *path, const char *interface,
			  const char *method)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus *bus;
	int status = connect_as_nobody(f, &bus);

	if (status)
		return status;
	if (sd_bus_call_method(bus, RDMAD_BUS_NAME, path, interface, method, &error, NULL, "a{sv}",
			       0) >= 0)
		return 0;
	print_error("%s of another user: %s: %s\n", method, error.name, error.message);
	return 4;
}

/* Everybody may connect to the bus. */
static void open_to_all(const Fixture *f)
{
	char socket[96];

	snprintf(socket, sizeof(socket), "%s/bus", f->directory);
	assert_int_equal(chmod(f->directory, 0711), 0);
	assert_int_equal(chmod(socket, 0666), 0);
}

void fixture_as_nobody(Fixture *f, int (*act)(sd_bus *bus))
{
	sd_bus *bus;
	int status;
	pid_t pid;

	open_to_all(f);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		status = connect_as_nobody(f, &bus);
		_exit(status ? status : act(bus));
	}
	assert_int_equal(fixture_wait_process(pid), 0);
}

void fixture_assert_other_user(Fixture *f, const char *path, const char *interface,
			       const char *method)
{
	pid_t pid;

	open_to_all(f);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(call_as_nobody(f, path, interface, method));
	assert_int_equal(fixture_wait_process(pid), 0);
}

void fixture_simulate(Fixture *f, const char *command)
{
	sd_bus_message_unref(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_SIMULATOR, "Run",
					  NULL, "sa{sv}", command, 0));
}

char *fixture_property(Fixture *f, const char *path, const char *interface, const char *name)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = fixture_call(
		f, path, "org.freedesktop.DBus.Properties", "Get", NULL, "ss", interface, name);
	const char *contents, *text;
	char *ret = NULL;
	char type;
	uint32_t u32;
	uint64_t u64;
	int32_t s32;
	int b;
	unsigned int n = 0;

	assert_true(sd_bus_message_peek_type(reply, &type, &contents) > 0);
	assert_true(sd_bus_message_enter_container(reply, 'v', contents) >= 0);
	switch (contents[0]) {
	case 's':
	case 'o':
		sd_bus_message_read_basic(reply, contents[0], &text);
		ret = strdup(text);
		break;
	case 'u':
		sd_bus_message_read_basic(reply, 'u', &u32);
		assert_true(asprintf(&ret, "%u", u32) > 0);
		break;
	case 'i':
		sd_bus_message_read_basic(reply, 'i', &s32);
		assert_true(asprintf(&ret, "%d", s32) > 0);
		break;
	case 't':
		sd_bus_message_read_basic(reply, 't', &u64);
		assert_true(asprintf(&ret, "%llu", (unsigned long long)u64) > 0);
		break;
	case 'b':
		sd_bus_message_read_basic(reply, 'b', &b);
		ret = strdup(b ? "yes" : "no");
		break;
	case 'a':
		sd_bus_message_enter_container(reply, 'a', contents + 1);
		for (; sd_bus_message_at_end(reply, false) == 0; n++)
			sd_bus_message_skip(reply, NULL);
		assert_true(asprintf(&ret, "%u", n) > 0);
		break;
	default:
		fail_msg("%s has type %s", name, contents);
	}
	return ret;
}

char *fixture_code_of(Fixture *f, const char *path, const char *interface, const char *name)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m =
		fixture_call(f, path, "org.freedesktop.DBus.Properties", "Get", NULL, "ss",
			     interface, "Unavailable");
	const char *key, *code;
	char *ret = strdup("");

	assert_true(sd_bus_message_enter_container(m, 'v', "a{ss}") > 0);
	assert_true(sd_bus_message_enter_container(m, 'a', "{ss}") > 0);
	while (sd_bus_message_read(m, "{ss}", &key, &code) > 0)
		if (streq(key, name)) {
			free(ret);
			ret = strdup(code);
		}
	return ret;
}

void fixture_assert_property(Fixture *f, const char *path, const char *interface, const char *name,
			     const char *expected)
{
	_cleanup_free_ char *value = fixture_property(f, path, interface, name);

	if (!streq(value, expected))
		fail_msg("%s of %s is \"%s\", not \"%s\"", name, path, value, expected);
}

void fixture_forget(Fixture *f)
{
	while (f->n_signals > 0)
		sd_bus_message_unref(f->signals[--f->n_signals]);
}

void fixture_barrier(Fixture *f)
{
	uint64_t n = 0;

	/* On one connection messages keep their order: when Ping is answered, all signals that were
	 * sent before are in our queue. Those that come meanwhile are not waited for: in a storm
	 * there may be no end of them. */
	sd_bus_message_unref(
		fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.Peer", "Ping", NULL, ""));
	while (sd_bus_get_n_queued_read(f->bus, &n) >= 0 && n > 0)
		assert_true(sd_bus_process(f->bus, NULL) >= 0);
}

static bool is_signal(sd_bus_message *m, const char *path, const char *member)
{
	return (!path || streq(sd_bus_message_get_path(m), path)) &&
	       streq(sd_bus_message_get_member(m), member);
}

sd_bus_message *fixture_wait_signal(Fixture *f, const char *path, const char *member)
{
	uint64_t deadline = fixture_now_usec() + GUARD_USEC;
	size_t i = 0;

	for (;;) {
		for (; i < f->n_signals; i++)
			if (is_signal(f->signals[i], path, member))
				return f->signals[i];
		process_one(f, deadline);
	}
}

void fixture_wait_more(Fixture *f)
{
	uint64_t deadline = fixture_now_usec() + GUARD_USEC;
	size_t n = f->n_signals;

	while (f->n_signals == n)
		process_one(f, deadline);
}

size_t fixture_count_signals(const Fixture *f, const char *path, const char *member)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_signals; i++)
		n += is_signal(f->signals[i], path, member);
	return n;
}

int fixture_changed(sd_bus_message *m, const char *interface, const char *property)
{
	const char *name;
	int found = 0;

	assert_true(sd_bus_message_rewind(m, true) >= 0);
	assert_true(sd_bus_message_read_basic(m, 's', &name) >= 0);
	if (!streq(name, interface))
		return 0;
	assert_true(sd_bus_message_enter_container(m, 'a', "{sv}") >= 0);
	while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
		sd_bus_message_read_basic(m, 's', &name);
		if (streq(name, property))
			found = 1;
		sd_bus_message_skip(m, "v");
		sd_bus_message_exit_container(m);
	}
	sd_bus_message_exit_container(m);
	sd_bus_message_enter_container(m, 'a', "s");
	while (sd_bus_message_read_basic(m, 's', &name) > 0)
		if (streq(name, property))
			found = 2;
	return found;
}
