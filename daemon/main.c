/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rdmad: arguments, configuration, event loop, exit status. */

#include <getopt.h>
#include <signal.h>
#include <systemd/sd-daemon.h>

#include "log.h"
#include "manager.h"

static const char *arg_simulate;
static const char *arg_config;
static const char *arg_worker;
static const char *arg_bus;

static void help(void)
{
	puts("rdmad [OPTION...]\n"
	     "\n"
	     "Serves the attributes of the machine's RDMA ports on D-Bus.\n"
	     "\n"
	     "  --simulate=FILE     serve the devices of a scenario, not the machine's\n"
	     "  --config=FILE       configuration (default: " RDMAD_SYSCONF_DIR "/rdmad.conf)\n"
	     "  --bus=ADDRESS       bus to serve on: system (default), session or an address\n"
	     "  --worker=PATH       program to run for what can block\n"
	     "  --log-level=LEVEL   err, warning, notice, info (default) or debug\n"
	     "  --help, --version\n"
	     "\n"
	     "See rdmad(8).");
}

static int usage(const char *format, const char *what)
{
	fprintf(stderr, format, what);
	fputs("; see rdmad --help\n", stderr);
	return -EINVAL;
}

/* 1: go on. 0: done. Negative: wrong usage. */
static int parse_arguments(int argc, char *argv[])
{
	enum { SIMULATE = 256, CONFIG, BUS, WORKER, LOG_LEVEL };
	static const struct option options[] = {
		{"simulate", required_argument, NULL, SIMULATE},
		{"config", required_argument, NULL, CONFIG},
		{"bus", required_argument, NULL, BUS},
		{"worker", required_argument, NULL, WORKER},
		{"log-level", required_argument, NULL, LOG_LEVEL},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{},
	};
	int c, level;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
		switch (c) {
		case 'h':
			help();
			return 0;
		case 'V':
			puts("rdmad " RDMAD_VERSION);
			return 0;
		case SIMULATE:
			arg_simulate = optarg;
			break;
		case CONFIG:
			arg_config = optarg;
			break;
		case BUS:
			arg_bus = optarg;
			break;
		case WORKER:
			arg_worker = optarg;
			break;
		case LOG_LEVEL:
			level = log_level_from_name(optarg);
			if (level < 0)
				return usage("--log-level=%s: expected err, warning, notice, info "
					     "or debug",
					     optarg);
			log_max_level = level;
			break;
		default:
			/* getopt has named the option */
			return -EINVAL;
		}
	if (optind < argc)
		return usage("rdmad takes no argument \"%s\"", argv[optind]);
	return 1;
}

static int load_config(Config *c)
{
	_cleanup_free_ char *message = NULL;
	const char *path = arg_config ? arg_config : RDMAD_SYSCONF_DIR "/rdmad.conf";
	int r = config_load(c, path, &message);

	if (r == -ENOENT && !arg_config)
		return 0;
	if (r == -ENOENT)
		return log_error_errno(r, "%s: %m", path);
	if (r < 0)
		return log_error_errno(r, "%s", message ? message : path);
	return 0;
}

/* NULL is the system bus. */
static const char *bus_address(void)
{
	if (!arg_bus || strcmp(arg_bus, "system") == 0)
		return NULL;
	if (strcmp(arg_bus, "session") == 0)
		return getenv("DBUS_SESSION_BUS_ADDRESS");
	return arg_bus;
}

static int run(void)
{
	Config config = CONFIG_DEFAULT;
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(manager_free_pointer) Manager *manager = NULL;
	int r;

	r = load_config(&config);
	if (r < 0)
		return r;
	r = sd_event_default(&event);
	if (r < 0)
		return log_error_errno(r, "Cannot set up the event loop: %m");
	r = sd_event_add_signal(event, NULL, SIGTERM | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGINT | SD_EVENT_SIGNAL_PROCMASK, NULL, NULL);
	if (r < 0)
		return log_error_errno(r, "Cannot listen to signals: %m");
	/* A reader of the snapshot that closes its pipe is no reason to end. */
	signal(SIGPIPE, SIG_IGN);
	r = sd_event_set_watchdog(event, true);
	if (r < 0)
		return log_error_errno(r, "Cannot feed the watchdog: %m");
	r = manager_new(event, &config, bus_address(), arg_simulate, arg_worker, &manager);
	if (r >= 0)
		r = manager_start(manager);
	if (r >= 0)
		r = sd_event_loop(event);
	sd_notify(false, "STOPPING=1");
	if (manager)
		manager = manager_free(manager);
	config_done(&config);
	return r;
}

int main(int argc, char *argv[])
{
	int r = parse_arguments(argc, argv);

	if (r == 0)
		return EXIT_SUCCESS;
	if (r < 0)
		return 2;
	return run() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
