/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "stage.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "names.h"

#define GUARD_USEC (20 * USEC_PER_SEC)

char *stage_program(const char *name)
{
	_cleanup_free_ char *self = realpath("/proc/self/exe", NULL);
	char *path;

	if (!self)
		bench_die("/proc/self/exe: %m");
	*strrchr(self, '/') = '\0';
	if (asprintf(&path, "%s/%s", self, name) < 0)
		bench_die("no memory");
	return path;
}

pid_t stage_spawn(Stage *s, const char *const *argv, bool elsewhere)
{
	char path[96];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/log", s->directory);
	pid = fork();
	if (pid < 0)
		bench_die("fork: %m");
	if (pid == 0) {
		int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		unsetenv("JOURNAL_STREAM");
		unsetenv("NOTIFY_SOCKET");
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		if (elsewhere)
			bench_pin_elsewhere();
		execvp(argv[0], CONST_CAST(char *const *, argv));
		_exit(127);
	}
	return pid;
}

void stage_fail(const Stage *s, const char *format, ...)
{
	char path[96], line[512];
	_cleanup_fclose_ FILE *f = NULL;
	char *text;
	va_list args;

	snprintf(path, sizeof(path), "%s/log", s->directory);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		fputs(line, stderr);
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	bench_die("%s", text ? text : format);
}

pid_t stage_start(Stage *s, const char *name, const char *const *argv)
{
	_cleanup_(raw_free_pointer) Raw *r = stage_connect(s);
	pid_t pid = stage_spawn(s, argv, false);

	if (name && !raw_wait_name(r, name, pid))
		stage_fail(s, "%s ended before it had the name %s", argv[0], name);
	bench_own(pid);
	return pid;
}

void stage_stop(pid_t pid)
{
	bench_disown(pid);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

/* The socket exists a little before the bus listens on it. */
static void wait_listening(const Stage *s)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	text_copy(address.sun_path, sizeof(address.sun_path), s->socket);
	for (uint64_t waited = 0; waited < GUARD_USEC; waited += 1000) {
		_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
			return;
		usleep(1000);
	}
	stage_fail(s, "%s does not start", bench.bus);
}

static char *write_file(const Stage *s, const char *name, const char *text)
{
	char *path;
	FILE *f;

	if (asprintf(&path, "%s/%s", s->directory, name) < 0)
		bench_die("no memory");
	f = fopen(path, "we");
	if (!f || fputs(text, f) < 0 || fclose(f) < 0)
		bench_die("%s: %m", path);
	return path;
}

/* The limits that a distribution sets for its system bus are not to be measured: allow everything.
 */
static pid_t start_bus(Stage *s)
{
	if (streq(bench.bus, "dbus-broker")) {
		_cleanup_free_ char *broker = stage_program("bench-broker");
		const char *const argv[] = {broker, s->socket, NULL};

		return stage_spawn(s, argv, false);
	}
	if (streq(bench.bus, "dbus-daemon")) {
		_cleanup_free_ char *text = NULL, *path = NULL;
		const char *argv[] = {"dbus-daemon", "--nofork", "--config-file", NULL, NULL};

		if (asprintf(&text,
			     "<busconfig><type>session</type><listen>%s</listen>"
			     "<policy context='default'><allow send_destination='*'/>"
			     "<allow receive_sender='*'/><allow own='*'/></policy>"
			     "<limit name='max_incoming_bytes'>1000000000</limit>"
			     "<limit name='max_outgoing_bytes'>1000000000</limit>"
			     "<limit name='max_message_size'>134217728</limit>"
			     "<limit name='max_replies_per_connection'>100000</limit></busconfig>",
			     s->address) < 0)
			bench_die("no memory");
		path = write_file(s, "bus.conf", text);
		argv[3] = path;
		return stage_spawn(s, argv, false);
	}
	bench_die("--bus=%s: expected dbus-daemon or dbus-broker", bench.bus);
}

Stage *stage_new(void)
{
	Stage *s = calloc(1, sizeof(Stage));
	const char *tmp = getenv("TMPDIR");

	if (!s)
		bench_die("no memory");
	snprintf(s->directory, sizeof(s->directory), "%s/rdmad-bench.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(s->directory))
		bench_die("%s: %m", s->directory);
	snprintf(s->socket, sizeof(s->socket), "%s/bus", s->directory);
	snprintf(s->address, sizeof(s->address), "unix:path=%s", s->socket);
	s->bus = start_bus(s);
	wait_listening(s);
	raw_free(stage_connect(s)); /* when this works, the controller has started its broker */
	bench_own(s->bus);
	return s;
}

static int remove_entry(const char *path, _unused_ const struct stat *st, _unused_ int flag,
			_unused_ struct FTW *ftw)
{
	return remove(path);
}

Stage *stage_free(Stage *s)
{
	if (!s)
		return NULL;
	stage_stop(s->bus);
	nftw(s->directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(s);
	return NULL;
}

Raw *stage_connect(const Stage *s)
{
	return raw_connect(s->socket, NULL);
}

const char *stage_port_path(unsigned int i)
{
	static char path[RDMAD_PATH_MAX];

	snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u/port/%u", i / STAGE_PORTS_PER_DEVICE,
		 i % STAGE_PORTS_PER_DEVICE + 1);
	return path;
}

const char *stage_port_name(unsigned int i)
{
	static char name[64];

	snprintf(name, sizeof(name), "sim%u/%u", i / STAGE_PORTS_PER_DEVICE,
		 i % STAGE_PORTS_PER_DEVICE + 1);
	return name;
}

const char *const *stage_rdmad(Stage *s, unsigned int n_ports)
{
	unsigned int each = s->per_device ? s->per_device : STAGE_PORTS_PER_DEVICE,
		     whole = n_ports / each, rest = n_ports % each;
	/* start the program that "rdmad --simulate" executes: a profiler would not follow exec */
	_cleanup_free_ char *daemon =
		stage_program(n_ports > 0 ? "../../daemon/rdmad-simulate" : "../../daemon/rdmad");
	_cleanup_free_ char *scenario = NULL, *config = NULL;
	/* The ports have no counter of errors whose ratio is published when it has been read for
	 * ten seconds: what is measured would depend on how long that takes. */
	static const char counters[] = "counter.symbol_error =\n";
	char text[512] = "";
	int n = 0;

	if (whole > 0)
		n = snprintf(text, sizeof(text),
			     "[device sim%%d]\nprotocol = infiniband\ncount = %u\nports = %u\n"
			     "[port sim%%d/*]\n%s",
			     whole, each, counters);
	if (rest > 0)
		snprintf(text + n, sizeof(text) - (size_t)n,
			 "[device sim%u]\nprotocol = infiniband\nports = %u\n[port sim%u/*]\n%s",
			 whole, rest, whole, counters);
	scenario = write_file(s, "scenario", text);
	config = write_file(s, "rdmad.conf",
			    s->limited ? "[Daemon]\nReconcileIntervalSec=0\n"
				       : "[Daemon]\nReconcileIntervalSec=0\n"
					 "LongReplyMiBPerSec=0\n");
	text_copy(s->words[0], sizeof(s->words[0]), daemon);
	snprintf(s->words[1], sizeof(s->words[1]), "--bus=%s", s->address);
	snprintf(s->words[2], sizeof(s->words[2]), "--config=%s", config);
	text_copy(s->words[3], sizeof(s->words[3]), scenario);
	n = 0;
	for (size_t i = 0; i < 3; i++)
		s->rdmad[n++] = s->words[i];
	s->rdmad[n++] = "--log-level=warning";
	if (n_ports > 0)
		s->rdmad[n++] = s->words[3];
	s->rdmad[n] = NULL;
	return s->rdmad;
}

pid_t stage_start_rdmad(Stage *s, unsigned int n_ports, const char *const *wrapper)
{
	const char *argv[24];
	size_t n = 0;

	for (; wrapper && *wrapper; wrapper++)
		argv[n++] = *wrapper;
	for (const char *const *word = stage_rdmad(s, n_ports); *word; word++)
		argv[n++] = *word;
	argv[n] = NULL;
	return stage_start(s, RDMAD_BUS_NAME, argv);
}
