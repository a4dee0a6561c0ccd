/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How rdmad sets itself up: each step fails once, and then it says so and ends. The manager and the
 * event loop are those of the test. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "program.h"

#include <getopt.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <systemd/sd-daemon.h>

#include "compat-event.h"
#include "log.h"
#include "manager.h"

static struct {
	const char *fails;	    /* the step that fails */
	const char *file;	    /* what is read of the configuration; NULL: it is not there */
	char taken[256];	    /* the steps that were taken, with a space behind each */
	char said[128];		    /* the last message */
	char *bus, *expect, *state; /* what the manager was made with */
	bool is_core;		    /* which starts workers */
} test;

/* The event loop and the manager, at which nobody looks. */
static char event, manager;

/* A negative errno if the step NAME fails now. */
static int step(const char *name)
{
	size_t n = strlen(test.taken);

	snprintf(test.taken + n, sizeof(test.taken) - n, "%s ", name);
	return test.fails && streq(test.fails, name) ? -EXDEV : 0;
}

int __wrap_log_full(int level, int r, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int __wrap_log_full(int level, int r, const char *format, ...)
{
	va_list arguments;

	assert_int_equal(level, LOG_ERR);
	va_start(arguments, format);
	errno = -r;
	(void)vsnprintf(test.said, sizeof(test.said), format, arguments);
	va_end(arguments);
	return r;
}

int __wrap_prctl(int option, ...);
int __wrap_prctl(int option, ...)
{
	assert_int_equal(option, PR_SET_DUMPABLE);
	errno = EXDEV;
	return step("protect") < 0 ? -1 : 0;
}

int __wrap_mallopt(int parameter, int value);
int __wrap_mallopt(int parameter, int value)
{
	assert_int_equal(parameter, M_MMAP_THRESHOLD);
	assert_int_equal(value, 1 << 20);
	return 1;
}

int __wrap_config_load(Config *c, const char *path, char **ret_message);
int __wrap_config_load(_unused_ Config *c, const char *path, char **ret_message)
{
	int r = step("configuration");

	if (!test.file)
		return -ENOENT;
	assert_string_equal(path, test.file);
	if (r < 0)
		assert_true(asprintf(ret_message, "line 1") > 0);
	return r;
}

void __wrap_config_done(Config *c);
void __wrap_config_done(_unused_ Config *c)
{
	step("no-configuration");
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
	return test.fails && streq(test.fails, text) ? NULL : __real_strdup(text);
}

char *__real_strndup(const char *text, size_t size);
char *__wrap_strndup(const char *text, size_t size);
char *__wrap_strndup(const char *text, size_t size)
{
	return test.fails && streq(test.fails, text) ? NULL : __real_strndup(text, size);
}

/* Without memory *RET is anything. */
static int print(char **ret, const char *format, va_list arguments)
{
	static char anything;

	if (!test.fails || !streq(test.fails, format))
		return vasprintf(ret, format, arguments);
	*ret = &anything;
	return -1;
}

int __wrap_asprintf(char **ret, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **ret, const char *format, ...)
{
	va_list arguments;
	int r;

	va_start(arguments, format);
	r = print(ret, format, arguments);
	va_end(arguments);
	return r;
}

/* What asprintf() is where the compiler checks it */
int __wrap___asprintf_chk(char **ret, int flag, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int __wrap___asprintf_chk(char **ret, _unused_ int flag, const char *format, ...)
{
	va_list arguments;
	int r;

	va_start(arguments, format);
	r = print(ret, format, arguments);
	va_end(arguments);
	return r;
}

int __wrap_sd_event_default(sd_event **ret);
int __wrap_sd_event_default(sd_event **ret)
{
	int r = step("event");

	*ret = r < 0 ? NULL : (sd_event *)&event;
	return r;
}

sd_event *__wrap_sd_event_unref(sd_event *e);
sd_event *__wrap_sd_event_unref(sd_event *e)
{
	assert_ptr_equal(e, &event);
	step("no-event");
	return NULL;
}

int __wrap_sd_event_add_signal(sd_event *e, sd_event_source **s, int sig,
			       sd_event_signal_handler_t callback, void *userdata);
int __wrap_sd_event_add_signal(sd_event *e, sd_event_source **s, int sig,
			       sd_event_signal_handler_t callback, _unused_ void *userdata)
{
	sig &= ~SD_EVENT_SIGNAL_PROCMASK;
	assert_ptr_equal(e, &event);
	assert_null(s);
	/* without a function the loop ends */
	assert_int_equal(callback != NULL, sig == SIGHUP);
	return step(sig == SIGTERM ? "TERM" : sig == SIGINT ? "INT" : "HUP");
}

int __wrap_sd_event_set_watchdog(sd_event *e, int on);
int __wrap_sd_event_set_watchdog(sd_event *e, int on)
{
	assert_ptr_equal(e, &event);
	assert_int_equal(on, true);
	return step("watchdog");
}

int __wrap_sd_event_loop(sd_event *e);
int __wrap_sd_event_loop(sd_event *e)
{
	assert_ptr_equal(e, &event);
	return step("loop");
}

int __wrap_sd_notify(int unset, const char *state);
int __wrap_sd_notify(int unset, const char *state)
{
	assert_int_equal(unset, false);
	assert_string_equal(state, "STOPPING=1");
	return step("stopping");
}

static void keep(char **to, const char *text)
{
	free(*to);
	*to = text ? __real_strdup(text) : NULL;
}

int __wrap_manager_new(const ManagerSetup *setup, Manager **ret);
int __wrap_manager_new(const ManagerSetup *setup, Manager **ret)
{
	int r = step("manager");

	assert_ptr_equal(setup->event, &event);
	assert_int_equal(setup->may_read_modules, test.is_core);
	assert_int_equal(setup->lldpd_socket != NULL, test.is_core);
	assert_int_equal(setup->networkd_socket != NULL, test.is_core);
	assert_int_equal(setup->network_manager != NULL, test.is_core);
	assert_int_equal(setup->umad_class != NULL, test.is_core);
	keep(&test.bus, setup->bus_address);
	keep(&test.expect, setup->expect_path);
	keep(&test.state, setup->state_directory);
	if (r == 0)
		*ret = (Manager *)&manager;
	return r;
}

Manager *__wrap_manager_free(Manager *m);
Manager *__wrap_manager_free(Manager *m)
{
	assert_ptr_equal(m, &manager);
	step("no-manager");
	return NULL;
}

int __wrap_manager_start(Manager *m);
int __wrap_manager_start(Manager *m)
{
	assert_ptr_equal(m, &manager);
	return step("start");
}

static int setup(_unused_ void **state)
{
	memset(&test, 0, sizeof(test));
	test.file = "/a/rdmad.conf";
	unsetenv("STATE_DIRECTORY");
	unsetenv("DBUS_SESSION_BUS_ADDRESS");
	unsetenv("XDG_RUNTIME_DIR");
	return 0;
}

static int teardown(_unused_ void **state)
{
	free(test.bus);
	free(test.expect);
	free(test.state);
	return 0;
}

/* Runs rdmad, or a program without workers and histories, with these options. */
static int run(const char *config, const char *bus, const char *directory)
{
	const Program p = {
		.name = "program", .starts_workers = test.is_core, .keeps_histories = test.is_core};
	const ProgramArguments a = {.config = config, .bus = bus, .state = directory};

	test.taken[0] = test.said[0] = '\0';
	return program_run(&p, &a);
}

#define SIGNALS "event TERM INT HUP "
#define ENDS	"no-event no-configuration "
#define READY	"protect configuration " SIGNALS "watchdog manager "

/* In the order in which they happen; what is taken after one that fails only puts things away. */
static void test_steps(_unused_ void **state)
{
	static const struct {
		const char *fails, *says, *taken;
	} rows[] = {
		{NULL, "", READY "start loop stopping no-manager " ENDS},
		{"protect", "Cannot keep other processes out: Invalid cross-device link",
		 "protect no-configuration "},
		{"configuration", "line 1", "protect configuration no-configuration "},
		{"unix:path=/b", "No memory to start: Cannot allocate memory",
		 "protect configuration no-configuration "},
		{"%.*srdmad/expect.conf", "No memory to start: Cannot allocate memory",
		 "protect configuration no-configuration "},
		{"/state:/other", "No memory to start: Cannot allocate memory",
		 "protect configuration no-configuration "},
		{"event", "Cannot set up the event loop: Invalid cross-device link",
		 "protect configuration event no-configuration "},
		{"TERM", "Cannot listen to signals: Invalid cross-device link",
		 "protect configuration event TERM " ENDS},
		{"INT", "Cannot listen to signals: Invalid cross-device link",
		 "protect configuration event TERM INT " ENDS},
		{"HUP", "Cannot listen to signals: Invalid cross-device link",
		 "protect configuration " SIGNALS ENDS},
		{"watchdog", "Cannot feed the watchdog: Invalid cross-device link",
		 "protect configuration " SIGNALS "watchdog " ENDS},
		/* these two say so themselves */
		{"manager", "", READY "stopping " ENDS},
		{"start", "", READY "start stopping no-manager " ENDS},
		{"loop", "The event loop has failed: Invalid cross-device link",
		 READY "start loop stopping no-manager " ENDS},
	};

	test.is_core = true;
	setenv("STATE_DIRECTORY", "/state:/other", true);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int status;

		test.fails = rows[i].fails;
		status = run("/a/rdmad.conf", "unix:path=/b", NULL);
		assert_string_equal(test.taken, rows[i].taken);
		assert_string_equal(test.said, rows[i].says);
		assert_int_equal(status, test.fails ? EXIT_FAILURE : EXIT_SUCCESS);
	}
}

/* Only rdmad keeps what it knows in the first directory of systemd, unless --state names another.
 */
static void test_state(_unused_ void **state)
{
	setenv("STATE_DIRECTORY", "/state:/other", true);
	assert_int_equal(run("/a/rdmad.conf", NULL, NULL), EXIT_SUCCESS);
	assert_null(test.state);
	assert_int_equal(run("/a/rdmad.conf", NULL, "/c:d"), EXIT_SUCCESS);
	assert_string_equal(test.state, "/c:d");
	test.is_core = true;
	assert_int_equal(run("/a/rdmad.conf", NULL, NULL), EXIT_SUCCESS);
	assert_string_equal(test.state, "/state");
	assert_int_equal(run("/a/rdmad.conf", NULL, "/c:d"), EXIT_SUCCESS);
	assert_string_equal(test.state, "/c:d");
	setenv("STATE_DIRECTORY", "", true);
	assert_int_equal(run("/a/rdmad.conf", NULL, NULL), EXIT_SUCCESS);
	assert_null(test.state);
	test.fails = "/c:d";
	assert_int_equal(run("/a/rdmad.conf", NULL, "/c:d"), EXIT_FAILURE);
	assert_string_equal(test.said, "No memory to start: Cannot allocate memory");
}

static void assert_bus(const char *name, const char *address)
{
	assert_int_equal(run("/a/rdmad.conf", name, NULL), EXIT_SUCCESS);
	if (address)
		assert_string_equal(test.bus, address);
	else
		assert_null(test.bus);
}

static void test_bus(_unused_ void **state)
{
	assert_bus(NULL, NULL);
	assert_bus("system", NULL);
	assert_bus("unix:path=/b", "unix:path=/b");
	assert_int_equal(run("/a/rdmad.conf", "session", NULL), EXIT_FAILURE);
	assert_non_null(strstr(test.said, "there is no session"));
	setenv("XDG_RUNTIME_DIR", "/run/user/7", true);
	assert_bus("session", "unix:path=/run/user/7/bus");
	test.fails = "unix:path=%s/bus";
	assert_int_equal(run("/a/rdmad.conf", "session", NULL), EXIT_FAILURE);
	assert_string_equal(test.said, "No memory to start: Cannot allocate memory");
	setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/c", true);
	assert_bus("session", "unix:path=/c");
	test.fails = "unix:path=/c";
	assert_int_equal(run("/a/rdmad.conf", "session", NULL), EXIT_FAILURE);
	assert_string_equal(test.said, "No memory to start: Cannot allocate memory");
}

/* What is expected stands beside the configuration, which need not be there unless it was named. */
static void test_files(_unused_ void **state)
{
	static const char *const files[][2] = {{"/a/b.c/x", "/a/b.c/rdmad/expect.conf"},
					       {"a/x", "a/rdmad/expect.conf"},
					       {"/x", "/rdmad/expect.conf"},
					       {"x", "rdmad/expect.conf"}};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		test.file = files[i][0];
		assert_int_equal(run(files[i][0], NULL, NULL), EXIT_SUCCESS);
		assert_string_equal(test.expect, files[i][1]);
	}
	test.file = NULL;
	assert_int_equal(run("/a/x", NULL, NULL), EXIT_FAILURE);
	assert_string_equal(test.said, "/a/x: No such file or directory");
	assert_int_equal(run(NULL, NULL, NULL), EXIT_SUCCESS);
	assert_string_equal(test.said, "");
	assert_non_null(strstr(test.expect, "/rdmad/expect.conf"));
}

/* 1: it goes on; 0: all is done. */
static void test_arguments(_unused_ void **state)
{
	static const struct {
		const char *argument;
		int result;
	} rows[] = {{"--help", 0},	     {"-h", 0},
		    {"--version", 0},	     {"--bus=system", 1},
		    {"--other", -EINVAL},    {"file", -EINVAL},
		    {"--log-level=info", 1}, {"--log-level=loud", -EINVAL}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const Program p = {.name = "program", .help = "what it does"};
		char name[] = "program",
		     *argv[] = {name, CONST_CAST(char *, rows[i].argument), NULL};
		ProgramArguments a;

		optind = 0; /* getopt() begins anew */
		assert_int_equal(program_parse(&p, 2, argv, &a), rows[i].result);
	}
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_steps), TEST(test_state),	TEST(test_bus),
		TEST(test_files), TEST(test_arguments),
	};

	return cmocka_run_group_tests_name("program-start", tests, NULL, NULL);
}
