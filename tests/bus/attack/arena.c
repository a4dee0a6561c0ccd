/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "arena.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "names.h"

#define PORTS_PER_DEVICE 8U

uint64_t arena_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * USEC_PER_SEC + (uint64_t)t.tv_nsec / 1000;
}

void arena_die(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("attack: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void arena_become(unsigned int uid)
{
	if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
		arena_die("cannot become user %u: %m", uid);
	/* a change of the user resets this */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static pid_t spawn(const Arena *a, const char *const *argv, unsigned int uid, const char *log)
{
	static const struct rlimit limit = {8192, 8192};
	char path[96];
	pid_t pid = fork();

	if (pid < 0)
		arena_die("fork: %m");
	if (pid > 0)
		return pid;
	snprintf(path, sizeof(path), "%s/%s", a->directory, log);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	unsetenv("JOURNAL_STREAM");
	unsetenv("NOTIFY_SOCKET");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (uid > 0) {
		setrlimit(RLIMIT_NOFILE, &limit);
		arena_become(uid);
	}
	execvp(argv[0], CONST_CAST(char *const *, argv));
	_exit(127);
}

static FILE *create(const Arena *a, const char *name, char ret_path[96])
{
	FILE *file;

	snprintf(ret_path, 96, "%s/%s", a->directory, name);
	file = fopen(ret_path, "w");
	if (!file || fchmod(fileno(file), 0644) < 0)
		arena_die("%s: %m", ret_path);
	return file;
}

/* No limit is set: then dbus-daemon has those that the system bus of Debian has. */
static void start_dbus_daemon(Arena *a, const char *policy)
{
	char config[96];
	FILE *file = create(a, "bus.conf", config);
	const char *const argv[] = {"env",
				    "LD_PRELOAD=" ATTACK_USERS,
				    "dbus-daemon",
				    "--nofork",
				    "--config-file",
				    config,
				    NULL};

	fprintf(file,
		"<busconfig><type>system</type><listen>unix:path=%s</listen><auth>EXTERNAL</auth>"
		"<policy context='default'><allow user='*'/><deny own='*'/>"
		"<deny send_type='method_call'/><allow send_type='signal'/>"
		"<allow send_requested_reply='true' send_type='method_return'/>"
		"<allow send_requested_reply='true' send_type='error'/>"
		"<allow receive_type='method_call'/><allow receive_type='method_return'/>"
		"<allow receive_type='error'/><allow receive_type='signal'/>"
		"<allow send_destination='org.freedesktop.DBus'/></policy>"
		"<policy user='" ARENA_SERVICE_USER "'><allow own='" RDMAD_BUS_NAME "'/></policy>"
		"<include>%s</include></busconfig>",
		a->socket, policy);
	fclose(file);
	a->bus_pid = spawn(a, argv, 0, "bus.log");
}

/* Whether the rules refuse descriptors. */
static bool refuses_descriptors(const char *policy)
{
	_cleanup_fclose_ FILE *file = fopen(policy, "r");
	char line[1024];

	if (!file)
		arena_die("%s: %m", policy);
	while (fgets(line, sizeof(line), file))
		if (strstr(line, "min_fds"))
			return true;
	return false;
}

static void start_broker(Arena *a, const char *policy)
{
	char uid[16];
	const char *const argv[] = {TEST_BROKER, a->socket, uid,
				    refuses_descriptors(policy) ? "no-descriptors" : NULL, NULL};

	snprintf(uid, sizeof(uid), "%u", ARENA_SERVICE_UID);
	a->bus_pid = spawn(a, argv, 0, "bus.log");
}

static void connect_tester(Arena *a)
{
	uint64_t end = arena_now() + 60 * USEC_PER_SEC;
	int r;

	do {
		a->bus = sd_bus_close_unref(a->bus);
		usleep(2000);
		r = sd_bus_new(&a->bus);
		if (r >= 0)
			r = sd_bus_set_address(a->bus, a->address);
		if (r >= 0)
			r = sd_bus_set_bus_client(a->bus, true);
		if (r >= 0)
			r = sd_bus_start(a->bus);
		if (r >= 0)
			r = sd_bus_get_unique_name(a->bus, &(const char *){NULL});
	} while (r < 0 && arena_now() < end);
	if (r < 0)
		arena_die("no bus: %s", strerror(-r));
	/* others than root may connect */
	if (chmod(a->directory, 0711) < 0 || chmod(a->socket, 0666) < 0)
		arena_die("%s: %m", a->socket);
}

static void start_service(Arena *a, const ArenaSetup *setup)
{
	char bus[128], config[128], simulate[128], path[96];
	const char *const rdmad[] = {setup->rdmad, bus, config, simulate, NULL};
	const char *const empty[] = {ATTACK_EMPTY, a->address, NULL};
	FILE *file = create(a, "rdmad.conf", path);

	fclose(file);
	snprintf(config, sizeof(config), "--config=%s", path);
	snprintf(bus, sizeof(bus), "--bus=%s", a->address);
	file = create(a, "scenario", path);
	fprintf(file, "[device sim%%d]\nprotocol = infiniband\ncount = %u\nports = %u\n",
		setup->ports <= PORTS_PER_DEVICE ? setup->ports : setup->ports / PORTS_PER_DEVICE,
		setup->ports <= PORTS_PER_DEVICE ? 1 : PORTS_PER_DEVICE);
	fclose(file);
	snprintf(simulate, sizeof(simulate), "--simulate=%s", path);
	a->service_pid = spawn(a, setup->rdmad ? rdmad : empty, ARENA_SERVICE_UID, "service.log");
}

/* Returns whether org.rdma has an owner, and which. */
static bool get_owner(Arena *a, char ret[32])
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *owner;

	if (sd_bus_call_method(a->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
			       "org.freedesktop.DBus", "GetNameOwner", NULL, &reply, "s",
			       RDMAD_BUS_NAME) < 0 ||
	    sd_bus_message_read_basic(reply, 's', &owner) < 0)
		return false;
	text_copy(ret, 32, owner);
	return true;
}

bool arena_same_owner(Arena *a)
{
	siginfo_t info = {};
	char owner[32];

	return waitid(P_PID, (id_t)a->service_pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == 0 && get_owner(a, owner) && streq(owner, a->owner);
}

Arena *arena_new(const ArenaSetup *setup)
{
	Arena *a = calloc(1, sizeof(Arena));
	uint64_t end = arena_now() + 60 * USEC_PER_SEC;

	if (!a)
		arena_die("no memory");
	text_copy(a->directory, sizeof(a->directory), "/tmp/rdmad-attack.XXXXXX");
	if (!mkdtemp(a->directory))
		arena_die("%s: %m", a->directory);
	snprintf(a->socket, sizeof(a->socket), "%s/bus", a->directory);
	snprintf(a->address, sizeof(a->address), "unix:path=%s", a->socket);
	if (streq(setup->bus, "dbus-broker"))
		start_broker(a, setup->policy);
	else
		start_dbus_daemon(a, setup->policy);
	connect_tester(a);
	start_service(a, setup);
	while (!get_owner(a, a->owner)) {
		siginfo_t info = {};

		if (waitid(P_PID, (id_t)a->service_pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		    info.si_pid != 0 || arena_now() > end) {
			arena_print_log(a);
			arena_die("the service does not start");
		}
		usleep(5000);
	}
	return a;
}

static int remove_entry(const char *path, _unused_ const struct stat *st, _unused_ int flag,
			_unused_ struct FTW *ftw)
{
	return remove(path);
}

/* A process that does not listen is killed after 2 seconds. */
static void end_process(pid_t pid)
{
	uint64_t end = arena_now() + 2 * USEC_PER_SEC;
	int status;

	if (pid <= 0)
		return;
	kill(pid, SIGTERM);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (arena_now() > end)
			kill(pid, SIGKILL);
		usleep(2000);
	}
}

Arena *arena_free(Arena *a)
{
	if (!a)
		return NULL;
	end_process(a->service_pid);
	sd_bus_close_unref(a->bus);
	end_process(a->bus_pid);
	nftw(a->directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(a);
	return NULL;
}

static void print_log(const Arena *a, const char *name)
{
	char path[96], text[4096];
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", a->directory, name);
	_cleanup_fclose_ FILE *file = fopen(path, "r");

	if (!file)
		return;
	fseek(file, 0, SEEK_END);
	fseek(file, MAX(ftell(file) - (long)sizeof(text), 0L), SEEK_SET);
	n = fread(text, 1, sizeof(text), file);
	fwrite(text, 1, n, stderr);
}

void arena_print_log(const Arena *a)
{
	print_log(a, "bus.log");
	print_log(a, "service.log");
}

/* Usage */

static FILE *open_pid(pid_t pid, const char *what, const char *mode)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	return fopen(path, mode);
}

static FILE *open_process(const Arena *a, const char *what, const char *mode)
{
	return open_pid(a->service_pid, what, mode);
}

static unsigned int count_fds(const Arena *a)
{
	char path[64];
	unsigned int n = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", a->service_pid);
	directory = opendir(path);
	if (!directory)
		return 0;
	while (readdir(directory))
		n++;
	closedir(directory);
	return n - 2; /* . and .. */
}

static double cpu_seconds(const Arena *a)
{
	_cleanup_fclose_ FILE *file = open_process(a, "stat", "r");
	unsigned long user = 0, system = 0;
	char line[1024] = "", *p;

	if (!file || !fgets(line, sizeof(line), file) || !(p = strrchr(line, ')')) ||
	    sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) !=
		    2)
		return 0;
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double resident_mib(pid_t pid)
{
	_cleanup_fclose_ FILE *file = open_pid(pid, "status", "r");
	unsigned long kib = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %lu", &kib) == 1)
			break;
	return (double)kib / 1024;
}

double arena_bus_mib(const Arena *a)
{
	char path[64];
	double mib = resident_mib(a->bus_pid);
	int child;

	snprintf(path, sizeof(path), "task/%d/children", a->bus_pid);
	_cleanup_fclose_ FILE *file = open_pid(a->bus_pid, path, "r");

	while (file && fscanf(file, "%d", &child) == 1)
		mib += resident_mib(child);
	return mib;
}

Usage arena_usage(const Arena *a)
{
	_cleanup_fclose_ FILE *file = open_process(a, "status", "r");
	unsigned long kib;
	char line[256];
	Usage u = {};

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %lu", &kib) == 1)
			u.rss_mib = (double)kib / 1024;
		else if (sscanf(line, "VmHWM: %lu", &kib) == 1)
			u.peak_mib = (double)kib / 1024;
	u.fds = count_fds(a);
	u.cpu_sec = cpu_seconds(a);
	return u;
}

void arena_reset_peak(const Arena *a)
{
	_cleanup_fclose_ FILE *file = open_process(a, "clear_refs", "w");

	if (file)
		fputs("5", file); /* proc(5) */
}
