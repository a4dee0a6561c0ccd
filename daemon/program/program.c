/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "program.h"

#include <assert.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <systemd/sd-daemon.h>

#include "compat-event.h"
#include "log.h"
#include "manager.h"

#define OPTIONS_MAX 9
/* Unless --config names another one */
#define CONFIG_FILE RDMAD_SYSCONF_DIR "/rdmad.conf"

static int usage(const Program *p, const char *format, const char *what)
{
	fprintf(stderr, format, what);
	fprintf(stderr, "; see %s --help\n", p->name);
	return -EINVAL;
}

enum { CONFIG = 256, BUS, STATE, LOG_LEVEL, OWN };

/* The options that getopt_long() is to know; those of the program have the values OWN and up. */
static void list_options(const Program *p, struct option ret[OPTIONS_MAX + 1])
{
	static const struct option common[] = {
		{"config", required_argument, NULL, CONFIG},
		{"bus", required_argument, NULL, BUS},
		{"state", required_argument, NULL, STATE},
		{"log-level", required_argument, NULL, LOG_LEVEL},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
	};
	size_t n = ARRAY_SIZE(common);

	memcpy(ret, common, sizeof(common));
	for (const ProgramOption *o = p->options; o && o->name; o++) {
		assert(n < OPTIONS_MAX);
		ret[n++] = (struct option){o->name, required_argument, NULL,
					   OWN + (int)(o - p->options)};
	}
	ret[n] = (struct option){};
}

static int set_log_level(const Program *p, const char *name)
{
	int level = log_level_from_name(name);

	if (level < 0)
		return usage(p, "--log-level=%s: expected err, warning, notice, info or debug",
			     name);
	log_max_level = level;
	return 1;
}

/* The argument that is no option. */
static int parse_file(const Program *p, int argc, char *argv[])
{
	if (p->file) {
		if (optind == argc) {
			fprintf(stderr, "%s: expected a file; see %s --help\n", p->name, p->name);
			return -EINVAL;
		}
		*p->file = argv[optind++];
	}
	if (optind == argc)
		return 1;
	fprintf(stderr, "%s takes no argument \"%s\"; see %s --help\n", p->name, argv[optind],
		p->name);
	return -EINVAL;
}

int program_parse(const Program *p, int argc, char *argv[], ProgramArguments *ret)
{
	struct option options[OPTIONS_MAX + 1];
	ProgramArguments a = {};
	int c, r;

	list_options(p, options);
	while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
		switch (c) {
		case 'h':
			puts(p->help);
			return 0;
		case 'V':
			printf("%s " RDMAD_VERSION "\n", p->name);
			return 0;
		case CONFIG:
			a.config = optarg;
			break;
		case BUS:
			a.bus = optarg;
			break;
		case STATE:
			a.state = optarg;
			break;
		case LOG_LEVEL:
			a.log_level = optarg;
			break;
		default:
			if (c < OWN)
				return -EINVAL; /* getopt_long() has named the option */
			*p->options[c - OWN].value = optarg;
		}
	if (a.log_level) {
		r = set_log_level(p, a.log_level);
		if (r < 0)
			return r;
	}
	r = parse_file(p, argc, argv);
	if (r > 0)
		*ret = a;
	return r;
}

static int load_config(const char *file, Config *c)
{
	_cleanup_free_ char *message = NULL;
	const char *path = file ? file : CONFIG_FILE;
	int r = config_load(c, path, &message);

	if (r == -ENOENT && !file)
		return 0;
	if (r == -ENOENT)
		return log_error_errno(r, "%s: %m", path);
	if (r < 0)
		return log_error_errno(r, "%s", message ? message : path);
	return 0;
}

/* Gives TEXT, which is NULL without memory, to *RET. */
static int give_text(char *text, char **ret)
{
	if (!text)
		return log_error_errno(-ENOMEM, "No memory to start: %m");
	*ret = text;
	return 0;
}

/* The address of the bus of the session, where sd_bus_open_user() looks for it. *RET is to be
 * freed.
 */
static int session_address(char **ret)
{
	const char *address = getenv("DBUS_SESSION_BUS_ADDRESS");
	const char *directory = getenv("XDG_RUNTIME_DIR");
	char *text;

	/* Not the system bus instead: there rdmad would take the name of the service. */
	if (!address && !directory)
		return log_error_errno(-ENXIO, "--bus=session: there is no session: neither "
					       "DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is "
					       "set");
	if (address)
		text = strdup(address);
	else if (asprintf(&text, "unix:path=%s/bus", directory) < 0)
		text = NULL;
	return give_text(text, ret);
}

/* The address of the bus called NAME, which may be NULL. *RET is to be freed; NULL is the system
 * bus. */
static int bus_address(const char *name, char **ret)
{
	if (!name || streq(name, "system")) {
		*ret = NULL;
		return 0;
	}
	return streq(name, "session") ? session_address(ret) : give_text(strdup(name), ret);
}

/* The arguments of open_source(). */
typedef struct Opening {
	const Program *program;
	sd_event *event;
	const Config *config;
} Opening;

static int open_source(void *userdata, const SourceHandler *handler, void *handler_userdata,
		       Source **ret)
{
	const Opening *o = userdata;

	return o->program->open_source(o->event, o->config, handler, handler_userdata, ret);
}

static int on_hangup(_unused_ sd_event_source *s, _unused_ const struct signalfd_siginfo *si,
		     void *userdata)
{
	Manager **manager = userdata;

	manager_reload(*manager);
	return 0;
}

/* MANAGER is there when the loop runs. */
static int prepare_event_loop(Manager **manager, sd_event **ret)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	int r = sd_event_default(&event);

	if (r < 0)
		return log_error_errno(r, "Cannot set up the event loop: %m");
	r = sd_event_add_signal(event, NULL, SIGTERM | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGINT | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGHUP | SD_EVENT_SIGNAL_PROCMASK, on_hangup,
					manager);
	if (r < 0)
		return log_error_errno(r, "Cannot listen to signals: %m");
	/* A reader of the shared memory that closes its pipe is no reason to end. */
	signal(SIGPIPE, SIG_IGN);
	r = sd_event_set_watchdog(event, true);
	if (r < 0)
		return log_error_errno(r, "Cannot feed the watchdog: %m");
	*ret = steal_pointer(&event);
	return 0;
}

/* Where histories are kept: as --state says, or systemd (StateDirectory=). NULL: nowhere. *RET is
 * to be freed. */
static int state_directory(const Program *p, const ProgramArguments *a, char **ret)
{
	const char *path = a->state;

	if (!path && p->keeps_histories)
		path = getenv("STATE_DIRECTORY");
	if (!path || !*path) {
		*ret = NULL;
		return 0;
	}
	/* systemd.exec(5): several directories have ':' between them */
	return give_text(a->state ? strdup(path) : strndup(path, strcspn(path, ":")), ret);
}

/* What is expected stands beside the configuration. *RET is to be freed. */
static int expect_path(const ProgramArguments *a, char **ret)
{
	const char *config = a->config ? a->config : CONFIG_FILE;
	const char *slash = strrchr(config, '/');
	int n = slash ? (int)(slash + 1 - config) : 0;
	char *text;

	if (asprintf(&text, "%.*srdmad/expect.conf", n, config) < 0)
		text = NULL;
	return give_text(text, ret);
}

/* Where lldpd listens, unless it was built to listen elsewhere. */
#define LLDPD_SOCKET "/run/lldpd.socket"
/* Where systemd-networkd listens, which has been there since systemd 246. */
#define NETWORKD_SOCKET "/run/systemd/netif/io.systemd.Network"
/* The directory of NetworkManager */
#define NETWORK_MANAGER "/run/NetworkManager"
/* Is there while ib_umad is loaded. */
#define UMAD_CLASS "/sys/class/infiniband_mad"

static int serve(const Program *p, const ProgramArguments *a, const Config *config)
{
	_cleanup_free_ char *address = NULL, *expect = NULL, *state = NULL;
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(manager_free_pointer) Manager *manager = NULL;
	Opening opening;
	int r = bus_address(a->bus, &address);

	if (r >= 0)
		r = expect_path(a, &expect);
	if (r >= 0)
		r = state_directory(p, a, &state);
	if (r >= 0)
		r = prepare_event_loop(&manager, &event);
	if (r < 0)
		return r;
	opening = (Opening){p, event, config};
	r = manager_new(
		&(ManagerSetup){.event = event,
				.config = config,
				.bus_address = address,
				.lldpd_socket = p->starts_workers ? LLDPD_SOCKET : NULL,
				.networkd_socket = p->starts_workers ? NETWORKD_SOCKET : NULL,
				.network_manager = p->starts_workers ? NETWORK_MANAGER : NULL,
				.umad_class = p->starts_workers ? UMAD_CLASS : NULL,
				.may_read_modules = p->starts_workers,
				.open_source = open_source,
				.userdata = &opening,
				.expect_path = expect,
				.state_directory = state},
		&manager);
	if (r >= 0)
		r = manager_start(manager);
	if (r >= 0) {
		r = sd_event_loop(event);
		if (r < 0)
			log_error_errno(r, "The event loop has failed: %m");
	}
	sd_notify(false, "STOPPING=1");
	return r;
}

/*
 * Keeps other processes of the same user, which the workers are, away from the memory and the
 * descriptors of this one: /proc/PID/mem, ptrace(), process_vm_writev(), pidfd_getfd(). The kernel
 * (all versions that rdmad runs on) resets this at exec, so the workers do not inherit it.
 *
 * What is lost: the kernel writes no core dump of this process, so systemd-coredump has none after
 * a crash or after SIGABRT from the watchdog. Root can still attach a debugger, and gcore(1) works.
 */
static int protect_memory(void)
{
	return prctl(PR_SET_DUMPABLE, 0) < 0
		       ? log_error_errno(-errno, "Cannot keep other processes out: %m")
		       : 0;
}

/* What is as long as this has a mapping of its own, which goes back to the kernel when it is freed.
 * Without this glibc learns from the first reply of megabytes to keep the memory of the next. */
#define MMAP_THRESHOLD (1 << 20)

int program_run(const Program *p, const ProgramArguments *a)
{
	Config config = CONFIG_DEFAULT;
	int r = p->starts_workers ? protect_memory() : 0;

	(void)mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	if (r >= 0)
		r = load_config(a->config, &config);
	if (r >= 0)
		r = serve(p, a, &config);
	config_done(&config);
	return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
