/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test-recorded [--seed N] [--incidents N] [--kills N]
 *
 * Runs in a virtual machine, as root, with rdmad installed and with rdma_sim and rdma_rxe. Random
 * operations change devices, ports and interfaces. What rdmad records of them is exported and
 * played, and the signals are the same, but for times. If rdmad is killed meanwhile, the record has
 * all that was published up to a moment before.
 */

#include <getopt.h>
#include <glib.h>
#include <signal.h>
#include <sys/mman.h>

#include "kernel.h"
#include "operations.h"
#include "signal-text.h"

#define OPERATIONS 30U
#define EXPORTED   "/tmp/incident.conf"
/* How long some operations wait for a signal: not each changes what is published. */
#define SIGNAL_USEC (200 * USEC_PER_MSEC)
/* How much of what was published before it was killed may be missing. Text waits for 10 ms before
 * it is written, and the machine is slow. */
#define LOST_MAX_USEC (1 * USEC_PER_SEC)

static uint64_t arg_seed = 1, arg_incidents = 12, arg_kills = 6;

/* rdmad of the guest, which records, and one that plays on a bus of its own. */
static Fixture *live, *player;
static World world;

/* What happened in an incident. */
typedef struct Incident {
	uint64_t number;
	GString *log;	  /* the operations */
	GArray *earliest; /* of each signal: CLOCK_MONOTONIC, it did not come before that */
	uint64_t looked_usec;
} Incident;

static void run(const char *command)
{
	int r = system(command);

	if (r != 0)
		fail_msg("%s: status %d", command, r);
}

/* Takes in the signals that have come. */
static void look(Incident *i)
{
	while (sd_bus_process(live->bus, NULL) > 0)
		;
	while (i->earliest->len < live->n_signals)
		g_array_append_val(i->earliest, i->looked_usec);
	i->looked_usec = fixture_now_usec();
}

static void refresh(void)
{
	sd_bus_message_unref(fixture_call(live, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh",
					  NULL, "a{sv}", 0));
}

/* Devices and ports are new, and so is the record. */
static Incident *incident_new(uint64_t number)
{
	Incident *i = g_new0(Incident, 1);

	i->number = number;
	i->log = g_string_new(NULL);
	i->earliest = g_array_new(false, false, sizeof(uint64_t));
	run("systemctl stop rdmad; systemctl reset-failed rdmad 2>/dev/null; rm -rf "
	    "/var/lib/rdmad/*");
	(void)operation_end_faults(&world);
	world_reset(&world);
	fixture_connect(live);
	i->looked_usec = fixture_now_usec();
	run("systemctl start rdmad");
	assert_int_equal(kernel_sim("add begin"), 0);
	signal_wait_device(live, "begin");
	look(i);
	return i;
}

static Incident *incident_free(Incident *i)
{
	g_string_free(i->log, true);
	g_array_unref(i->earliest);
	g_free(i);
	return NULL;
}

/* Does the next operation that is possible; *NUMBER is that of the one before. */
static void operate(Incident *i, uint32_t *number)
{
	double begin = (double)fixture_now_usec() / 1e6;
	char text[1500];

	do
		operation_do(&world, arg_seed, (uint32_t)i->number * 10000 + ++*number, text,
			     sizeof(text));
	while (!text[0]);
	g_string_append_printf(i->log, "  %3u %9.3f s  %s\n", *number, begin, text);
	look(i);
	/* some of them one after the other, some at once */
	if (*number % 2 && sd_bus_wait(live->bus, SIGNAL_USEC) > 0)
		look(i);
}

/* Writes the newest segment to EXPORTED, to be played quickly. Returns its text. */
static char *export_record(void)
{
	char *text = NULL;

	run("rdmactl record show --directory=/var/lib/rdmad/record >/tmp/shown && test -s "
	    "/tmp/shown");
	run("rdmactl record verify --directory=/var/lib/rdmad/record");
	run("rdmactl record show --json --directory=/var/lib/rdmad/record >/dev/null");
	run("rdmactl record export --directory=/var/lib/rdmad/record --speed=1000 >" EXPORTED);
	assert_true(g_file_get_contents(EXPORTED, &text, NULL, NULL));
	return text;
}

static void wait_port(Fixture *f, const char *name)
{
	for (;;) {
		_cleanup_free_ char *error = NULL;
		sd_bus_message *reply = fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
						     "GetPort", &error, "sa{sv}", name, 0);

		sd_bus_message_unref(reply);
		if (reply)
			break;
		fixture_wait_more(f);
	}
	fixture_barrier(f);
}

/* Plays RECORD until the device "last" comes. */
static void play(const char *record)
{
	/* a new connection has nothing of the daemon before */
	fixture_connect(player);
	fixture_start_daemon(player, record, NULL);
	wait_port(player, "last/1");
	assert_int_equal(fixture_stop_daemon(player, SIGTERM), 0);
}

/* A signal, without times. */
typedef struct Sent {
	char *text;
	uint64_t earliest_usec; /* CLOCK_MONOTONIC: it did not come before that; of a player 0 */
} Sent;

static void sent_done(void *p)
{
	free(((Sent *)p)->text);
}

static const Sent *sent_at(const GArray *sent, size_t i)
{
	return i < sent->len ? &g_array_index(sent, Sent, i) : NULL;
}

/* Whether this is the signal with which the device NAME comes, without its ports. */
static bool is_added(const Sent *s, const char *name)
{
	const char *path = startswith(s->text, RDMAD_ROOT_PATH " InterfacesAdded\nOBJECT_PATH \"");
	const char *port = path ? strstr(path, "/port/") : NULL;
	g_autofree char *line = g_strdup_printf("STRING \"%s\"", name);

	return path && startswith(path, RDMAD_DEVICE_PREFIX "/") &&
	       !(port && port < strchr(path, '"')) && strstr(s->text, line);
}

/* What F has heard from the device "begin" to the device "last" if there is
 * one. I: the incident that is recorded; NULL: it is played. */
static GArray *take_sent(const Fixture *f, const Incident *i)
{
	GArray *sent = g_array_new(false, false, sizeof(Sent));
	guint begin = 0, end = 0;

	g_array_set_clear_func(sent, sent_done);
	for (size_t n = 0; n < f->n_signals; n++) {
		Sent s = {signal_text(f->signals[n]),
			  i ? g_array_index(i->earliest, uint64_t, n) : 0};

		if (s.text)
			g_array_append_val(sent, s);
	}
	while (begin < sent->len && !is_added(&g_array_index(sent, Sent, begin), "begin"))
		begin++;
	g_array_remove_range(sent, 0, begin);
	while (end < sent->len && !is_added(&g_array_index(sent, Sent, end), "last"))
		end++;
	if (end < sent->len)
		g_array_remove_range(sent, end + 1, sent->len - end - 1);
	return sent;
}

/* The signals of an incident, and those of its record. */
typedef struct Both {
	GArray *was, *is; /* of Sent */
} Both;

static Both take_both(const Incident *i)
{
	return (Both){take_sent(live, i), take_sent(player, NULL)};
}

static void both_done(Both *b)
{
	g_array_unref(b->was);
	g_array_unref(b->is);
}

/* How many of the first signals in WAS and IS are equal. */
static size_t count_equal(const GArray *was, const GArray *is)
{
	size_t n = 0;

	while (n < was->len && n < is->len && streq(sent_at(was, n)->text, sent_at(is, n)->text))
		n++;
	return n;
}

/* The first line in which TEXT differs from OTHER. */
static const char *different_line(const char *text, const char *other)
{
	const char *line = text;

	for (; *text && *text == *other; text++, other++)
		if (*text == '\n')
			line = text + 1;
	return line;
}

/* Prints what somebody wants to see who looks for the mistake: where the first signals that differ
 * do so, the operations and the script. */
static void print_difference(const Incident *i, const GArray *was_sent, const GArray *is_sent,
			     const char *record)
{
	const char *script = strstr(record, "\n[script]\n");
	size_t same = count_equal(was_sent, is_sent);
	const Sent *w = sent_at(was_sent, same), *p = sent_at(is_sent, same);
	const char *was = w ? w->text : "nothing\n", *is = p ? p->text : "nothing\n";

	printf("incident %llu: recorded %.*s, played %.*s\n", (unsigned long long)i->number,
	       (int)strcspn(was, "\n"), was, (int)strcspn(is, "\n"), is);
	printf("recorded:\n%.300s\nplayed:\n%.300s\noperations:\n%s\nscript:%s\n",
	       different_line(was, is), different_line(is, was), i->log->str,
	       script ? script : record);
}

/* What was counted of all incidents of a kind. */
typedef struct Count {
	size_t signals, different;
	uint64_t lost_usec; /* at most */
} Count;

static void test_incident(uint64_t number, Count *c)
{
	Incident *i = incident_new(number);
	g_autofree char *record = NULL;
	Both b;
	bool equal;

	for (uint32_t k = 0, last = 0; k < OPERATIONS; k++) {
		operate(i, &last);
		if (k % (OPERATIONS / 2) == OPERATIONS / 2 - 1)
			refresh();
	}
	assert_int_equal(kernel_sim("add last"), 0);
	wait_port(live, "last/1");
	look(i);
	run("systemctl stop rdmad");
	record = export_record();
	play(record);
	b = take_both(i);
	equal = b.was->len > 0 && b.was->len == b.is->len && count_equal(b.was, b.is) == b.was->len;
	if (!equal)
		print_difference(i, b.was, b.is, record);
	c->signals += b.was->len;
	c->different += !equal;
	printf("incident %llu: %u signals, %zu bytes, %s\n", (unsigned long long)number, b.was->len,
	       strlen(record), equal ? "equal" : "DIFFERENT");
	both_done(&b);
	incident_free(i);
}

/* A process that kills rdmad in USEC. When it did is in *WHEN then. */
static pid_t kill_later(useconds_t usec, uint64_t *when)
{
	FILE *p = popen("systemctl show -p MainPID --value rdmad", "r");
	int daemon = 0;
	pid_t pid;

	assert_non_null(p);
	assert_int_equal(fscanf(p, "%d", &daemon), 1);
	pclose(p);
	assert_true(daemon > 1);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		usleep(usec);
		*when = fixture_now_usec();
		_exit(kill(daemon, SIGKILL) == 0 ? 0 : 1);
	}
	return pid;
}

/* Waits until the bus has no rdmad any more, and has sent on all that it sent. */
static void wait_dead(Incident *i)
{
	sd_bus_message *reply = NULL;

	while (sd_bus_call_method(live->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
				  "org.freedesktop.DBus", "GetNameOwner", NULL, &reply, "s",
				  RDMAD_BUS_NAME) >= 0) {
		reply = sd_bus_message_unref(reply);
		look(i);
		usleep(1000);
	}
	look(i);
}

/* RECORD, and a device "last" after the last step. */
static char *with_last(const char *record)
{
	const char *at = g_strrstr(record, "\nat ");
	int length;

	assert_true(g_str_has_suffix(record, "\n"));
	if (!at)
		return g_strdup_printf("%sat 1s: add last protocol=infiniband\n", record);
	length = (int)strcspn(at + 1, ":");
	return g_strdup_printf("%s%.*s: add last protocol=infiniband\n", record, length, at + 1);
}

/* For how long before it was killed, at KILLED_USEC, what was published is missing behind the first
 * SAME signals of WAS. */
static uint64_t count_lost(const GArray *was, size_t same, uint64_t killed_usec)
{
	const Sent *first = sent_at(was, same);

	return first ? killed_usec - MIN(killed_usec, first->earliest_usec) : 0;
}

static void test_kill(uint64_t number, Count *c)
{
	Incident *i = incident_new(number);
	uint64_t *when = mmap(NULL, sizeof(*when), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	g_autofree char *record = NULL, *longer = NULL;
	size_t same;
	Both b;
	uint64_t lost;
	pid_t killer;
	bool equal;

	assert_true(when != MAP_FAILED);
	killer = kill_later((useconds_t)(500000 + number * 7919 % 20 * 100003), when);
	for (uint32_t last = 0; *(volatile uint64_t *)when == 0;)
		operate(i, &last);
	assert_int_equal(fixture_wait_process(killer), 0);
	wait_dead(i);
	(void)operation_end_faults(&world);
	run("systemctl stop rdmad");
	record = export_record();
	longer = with_last(record);
	play(longer);
	b = take_both(i);
	same = count_equal(b.was, b.is);
	/* what comes then in the one that was played is the device "last" */
	equal = same > 0 && b.is->len == same + 1 && is_added(sent_at(b.is, same), "last");
	lost = count_lost(b.was, same, *when);
	if (!equal || lost > LOST_MAX_USEC)
		print_difference(i, b.was, b.is, record);
	c->signals += b.was->len;
	c->different += !equal;
	c->lost_usec = MAX(c->lost_usec, lost);
	printf("killed %llu: %u signals, %zu of them recorded, %s, at most %.1f ms lost\n",
	       (unsigned long long)number, b.was->len, same, equal ? "equal" : "DIFFERENT",
	       (double)lost / 1e3);
	munmap(when, sizeof(*when));
	both_done(&b);
	incident_free(i);
}

static void setup(void)
{
	int r;

	run("dmesg -n 4 && modprobe -a rdma_rxe rdma_sim dummy veth macvlan");
	run("printf '[Daemon]\\nReconcileIntervalSec=0\\nQueryTimeoutSec=2\\n' >/etc/rdmad.conf");
	/* one that was killed stays dead, and one that was stopped is not started by a device */
	run("ln -s /dev/null /etc/udev/rules.d/60-rdmad.rules && udevadm control --reload");
	run("mkdir -p /run/systemd/system/rdmad.service.d && printf "
	    "'[Unit]\\nStartLimitIntervalSec=0\\n[Service]\\nRestart=no\\n' "
	    ">/run/systemd/system/rdmad.service.d/killed.conf && systemctl daemon-reload");
	r = kernel_open();
	if (r < 0)
		fail_msg("cannot set up: %s", strerror(-r));
	setenv("RDMAD_TEST_DAEMON", "/usr/sbin/rdmad", true);
	live = calloc(1, sizeof(Fixture));
	assert_non_null(live);
	text_copy(live->directory, sizeof(live->directory), "/tmp");
	text_copy(live->address, sizeof(live->address), "unix:path=/run/dbus/system_bus_socket");
	player = fixture_new();
}

static int parse_arguments(int argc, char *argv[])
{
	static const struct option options[] = {{"seed", required_argument, NULL, 's'},
						{"incidents", required_argument, NULL, 'i'},
						{"kills", required_argument, NULL, 'k'},
						{}};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		uint64_t *to = c == 's' ? &arg_seed : c == 'i' ? &arg_incidents : &arg_kills;

		if (c == '?' || text_to_u64(optarg, 1000000, to) < 0)
			return -EINVAL;
	}
	return optind == argc ? 0 : -EINVAL;
}

int main(int argc, char *argv[])
{
	Count incidents = {}, kills = {};
	uint64_t begin;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (parse_arguments(argc, argv) < 0 || arg_incidents + arg_kills == 0) {
		fprintf(stderr, "usage: test-recorded [--seed N] [--incidents N] [--kills N]\n");
		return 2;
	}
	setup();
	begin = fixture_now_usec();
	for (uint64_t i = 0; i < arg_incidents; i++)
		test_incident(i, &incidents);
	for (uint64_t i = 0; i < arg_kills; i++)
		test_kill(arg_incidents + i, &kills);
	printf("record: %llu incidents, %zu signals, %zu different\n",
	       (unsigned long long)arg_incidents, incidents.signals, incidents.different);
	printf("record: killed %llu times, %zu signals, %zu different, at most %.1f ms lost\n",
	       (unsigned long long)arg_kills, kills.signals, kills.different,
	       (double)kills.lost_usec / 1e3);
	printf("seed %llu, %.0f s\n", (unsigned long long)arg_seed,
	       (double)(fixture_now_usec() - begin) / 1e6);
	world_clear(&world);
	fixture_free(player);
	sd_bus_close_unref(live->bus);
	return incidents.different > 0 || kills.different > 0 || kills.lost_usec > LOST_MAX_USEC;
}
