/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The record of changes: what is played of it is published as it was. */

#include <dirent.h>
#include <glib.h>
#include <signal.h>
#include <sys/stat.h>

#include "compat-glib.h"
#include "signal-text.h"

/* So many incidents, each of so many random operations. */
#define INCIDENTS  25U
#define OPERATIONS 40U

static const char scenario[] = "[device m%d]\ncount = 3\nports = 2\nprotocol = infiniband\n"
			       "[device r0]\nprotocol = roce\n"
			       "[device w0]\nprotocol = iwarp\n";

/* The machine while operations change it. */
typedef struct Machine {
	Fixture *f;
	GRand *random;
	char names[5][16];
	bool present[5];
	unsigned int renames;
} Machine;

static uint32_t pick(Machine *m, uint32_t n)
{
	return (uint32_t)g_rand_int_range(m->random, 0, (gint32)n);
}

static void do_rename(Machine *m, unsigned int d)
{
	char command[96], name[16];

	snprintf(name, sizeof(name), "n%u", m->renames++);
	snprintf(command, sizeof(command), "rename %s %s", m->names[d], name);
	fixture_simulate(m->f, command);
	text_copy(m->names[d], sizeof(m->names[d]), name);
}

static void do_come_or_go(Machine *m, unsigned int d)
{
	char command[96];

	if (m->present[d])
		snprintf(command, sizeof(command), "remove %s", m->names[d]);
	else
		snprintf(command, sizeof(command), "add %s protocol=roce", m->names[d]);
	fixture_simulate(m->f, command);
	m->present[d] = !m->present[d];
}

/* One operation on a device that has PORTS ports. */
static void operate(Machine *m, unsigned int d, unsigned int ports)
{
	static const char *const commands[] = {
		"set PORT lid=NUMBER event=lid-change",
		"set PORT sm_lid=NUMBER event=sm-change",
		"set PORT state=down phys_state=polling event=port-error",
		"set PORT state=active phys_state=link-up event=port-active",
		"set PORT state=init lid=NUMBER event=lid-change",
		"event PORT client-reregister",
		"event PORT port-error port-active",
		"set PORT active_speed=HDR event=speed-change",
		"set PORT active_speed=EDR event=speed-change",
		"set PORT pkey.0=NUMBER event=pkey-change",
		"set PORT gid.0=fe80::NUMBER event=gid-change",
		"set PORT netdev_mtu=NUMBER event=link",
		"set PORT netdev_carrier=no event=link",
		"set PORT netdev_carrier=yes event=link",
		"fail PORT EIO",
		"fail PORT none",
		"stall DEVICE",
		"unstall DEVICE",
		"set DEVICE fw_ver=NUMBER event=device",
		"set DEVICE \"node_desc=a \\tb%=NUMBER\" event=device",
		"event PORT link",
		"event DEVICE reconcile",
	};
	uint32_t which = pick(m, ARRAY_SIZE(commands) + 2);
	g_autofree char *port = NULL, *number = NULL;
	g_autoptr(GString) command = NULL;

	if (which == ARRAY_SIZE(commands) && d >= 3) {
		do_come_or_go(m, d);
		return;
	}
	if (!m->present[d])
		return;
	if (which >= ARRAY_SIZE(commands)) {
		do_rename(m, d);
		return;
	}
	port = g_strdup_printf("%s/%u", m->names[d], 1 + pick(m, ports));
	number = g_strdup_printf("%u", 1 + pick(m, 9000));
	command = g_string_new(commands[which]);
	g_string_replace(command, "PORT", port, 0);
	g_string_replace(command, "DEVICE", m->names[d], 0);
	g_string_replace(command, "NUMBER", number, 0);
	fixture_simulate(m->f, command->str);
}

/* The signals in order, up to the one that says that the device "last" is there. */
static char *signals(const Fixture *f)
{
	g_auto(GStrv) texts = signal_texts(f, NULL, "last");

	return g_strjoinv("", texts);
}

/* The text of the newest segment of the record in the directory STATE; the caller frees it. NULL:
 * the thread that writes the record has not begun one yet. */
static char *read_record(const char *state)
{
	g_autofree char *directory = g_strdup_printf("%s/record", state);
	g_autofree char *newest = NULL, *path = NULL;
	char *text = NULL;
	DIR *d = opendir(directory);

	if (!d) {
		assert_int_equal(errno, ENOENT);
		return NULL;
	}
	for (const struct dirent *e; (e = readdir(d));)
		/* not the one that has no name yet */
		if (g_ascii_isdigit(e->d_name[0]) && (!newest || strcmp(e->d_name, newest) > 0)) {
			g_free(newest);
			newest = g_strdup(e->d_name);
		}
	closedir(d);
	if (!newest)
		return NULL;
	path = g_strdup_printf("%s/%s", directory, newest);
	assert_true(g_file_get_contents(path, &text, NULL, NULL));
	return text;
}

/* RECORD with its script SPEED times as quick. */
static char *hurry(const char *record, unsigned int speed)
{
	g_auto(GStrv) parts = g_strsplit(record, "\n[script]\n", 2);

	assert_int_equal(g_strv_length(parts), 2);
	return g_strdup_printf("%s\n[script]\nspeed = %u\n%s", parts[0], speed, parts[1]);
}

static void play_random(Fixture *f, uint32_t seed)
{
	Machine m = {.f = f,
		     .random = g_rand_new_with_seed(seed),
		     .names = {"m0", "m1", "m2", "r0", "w0"},
		     .present = {true, true, true, true, true}};

	for (unsigned int i = 0; i < OPERATIONS; i++) {
		unsigned int d = pick(&m, 5);

		operate(&m, d, d < 3 ? 2 : 1);
		/* some of them one after the other, some at once */
		if (pick(&m, 2))
			fixture_barrier(f);
	}
	g_rand_free(m.random);
	fixture_simulate(f, "add last protocol=infiniband");
	signal_wait_device(f, "last");
}

static void start(Fixture *f, const char *text, const char *const *options)
{
	fixture_start_daemon(f, text, options);
	/* what the daemon before it said last, too */
	fixture_barrier(f);
	fixture_forget(f);
}

/* Writes what somebody wants to compare who looks for the mistake. */
static void keep(uint32_t seed, const char *was, const char *is, const char *record)
{
	const char *const texts[][2] = {{"was", was}, {"is", is}, {"record", record}};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		g_autofree char *path = g_strdup_printf("%s/tests/bus/replay-%u.%s", TEST_BUILD_DIR,
							seed, texts[i][0]);

		(void)g_file_set_contents(path, texts[i][1], -1, NULL);
		print_error("incident %u: see %s\n", seed, path);
	}
}

static void test_replay(void **state)
{
	Fixture *f = *state;
	const char *broker = getenv("RDMAD_TEST_BUS");
	/* other incidents on the other bus */
	uint32_t first = broker && streq(broker, "dbus-broker") ? INCIDENTS : 0;
	fixture_configure(f, "[Daemon]\nQueryTimeoutSec=0.05\n");
	for (uint32_t seed = first; seed < first + INCIDENTS; seed++) {
		g_autofree char *text = NULL, *fast = NULL, *was = NULL, *is = NULL;
		g_autofree char *directory = g_strdup_printf("%s/%u", f->directory, seed);
		g_autofree char *option = g_strdup_printf("--state=%s", directory);

		assert_int_equal(mkdir(directory, 0700), 0);
		start(f, scenario, (const char *const[]){option, NULL});
		play_random(f, seed);
		was = signals(f);
		assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
		text = read_record(directory);
		assert_non_null(text);
		fast = hurry(text, 1000);
		start(f, fast, NULL);
		signal_wait_device(f, "last");
		is = signals(f);
		assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
		if (!streq(was, is))
			keep(seed, was, is, text);
		assert_true(streq(was, is));
	}
}

/* Devices that come while others change, that cannot be read at first, and that get another name
 * before they have answered. What has the same time happens at once: the first answer comes later.
 */
static const char arrivals[] = "[device m0]\nprotocol = infiniband\n[script]\n"
			       "at 2s: add a0 protocol=infiniband ports=2\n"
			       "at 2s: fail a0/1 EIO\n"
			       "at 2s: set m0/1 lid=7 event=lid-change\n"
			       "at 2.1s: fail a0/1 none\n"
			       "at 2.1s: event a0/1 link\n"
			       "at 2.2s: add b0 protocol=roce ports=2\n"
			       "at 2.2s: stall b0\n"
			       "at 2.2s: set m0/1 lid=8 event=lid-change\n"
			       "at 2.4s: unstall b0\n"
			       "at 2.6s: add c0 protocol=iwarp max_mr_size=4096\n"
			       "at 2.6s: stall c0\n"
			       "at 2.61s: rename c0 c1\n"
			       "at 2.62s: set m0/1 lid=9 event=lid-change\n"
			       "at 2.63s: unstall c1\n"
			       "at 2.7s: remove a0\n"
			       "at 2.7s: add d0 protocol=infiniband\n"
			       "at 2.7s: stall d0\n"
			       "at 2.8s: remove d0\n"
			       "at 2.9s: add a0 protocol=roce\n"
			       "at 3s: add last protocol=roce\n";

/* Records the scenario TEXT in DIRECTORY, and plays it; the signals must be the same. */
static void compare(Fixture *f, const char *directory, const char *scenario_text)
{
	g_autofree char *option = g_strdup_printf("--state=%s", directory);
	g_autofree char *text = NULL, *fast = NULL, *was = NULL, *is = NULL;

	assert_int_equal(mkdir(directory, 0700), 0);
	start(f, scenario_text, (const char *const[]){option, NULL});
	signal_wait_device(f, "last");
	was = signals(f);
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	text = read_record(directory);
	assert_non_null(text);
	fast = hurry(text, 1000);
	start(f, fast, NULL);
	signal_wait_device(f, "last");
	is = signals(f);
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	if (!streq(was, is))
		keep(0, was, is, text);
	assert_true(streq(was, is));
}

static void test_arrivals(void **state)
{
	Fixture *f = *state;
	g_autofree char *directory = g_strdup_printf("%s/arrivals", f->directory);

	fixture_configure(f, "[Daemon]\nQueryTimeoutSec=0.05\n");
	compare(f, directory, arrivals);
}

/* The lines of findings in RECORD, without their times. */
static char *finding_lines(const char *record)
{
	g_auto(GStrv) lines = g_strsplit(record, "\n", -1);
	g_autoptr(GString) text = g_string_new(NULL);

	for (size_t i = 0; lines[i]; i++) {
		const char *at = strstr(lines[i], ": finding "), *time = strstr(lines[i], " time=");

		if (!at)
			continue;
		assert_non_null(time);
		g_string_append_len(text, at, time - at);
		g_string_append_printf(text, "%s\n", strchr(time + 1, ' '));
	}
	return g_strdup(text->str);
}

/* Findings begin and end in the record; when it is played, they are found again as they were. */
static void test_findings(void **state)
{
	static const char text[] =
		"[device m0]\nprotocol = infiniband\n"
		"[script]\n"
		"at 1s: set m0/1 state=down phys_state=polling event=port-error\n"
		"at 2s: set m0/1 state=active phys_state=link-up event=port-active\n"
		"at 3s: add last protocol=roce\n";
	static const char expected[] =
		": finding m0/1 \"check=not-active\" \"is=began\" \"severity=critical\" "
		"\"attribute=State\"\n"
		": finding m0/1 \"check=not-active\" \"is=ended\" \"severity=critical\" "
		"\"attribute=State\"\n";
	Fixture *f = *state;
	g_autofree char *record = NULL;

	for (unsigned int i = 0; i < 2; i++) {
		g_autofree char *directory = g_strdup_printf("%s/findings-%u", f->directory, i);
		g_autofree char *option = g_strdup_printf("--state=%s", directory);
		g_autofree char *lines = NULL, *played = steal_pointer(&record);

		assert_int_equal(mkdir(directory, 0700), 0);
		start(f, i ? played : text, (const char *const[]){option, NULL});
		signal_wait_device(f, "last");
		assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
		record = read_record(directory);
		assert_non_null(record);
		lines = finding_lines(record);
		assert_string_equal(lines, expected);
	}
}

/* A device is read again after a pause: so many devices take turns. */
#define TURNS 16U

/* How many of the changes "lid=1", "lid=2" ... are in RECORD, without a gap. */
static unsigned int lids(const char *record)
{
	unsigned int n = 0, device, lid;

	for (const char *at = record; (at = strstr(at, "answer m")); at++)
		if (sscanf(at, "answer m%u/1 \"lid=%u\"", &device, &lid) == 2) {
			assert_int_equal(lid, n + 1);
			assert_int_equal(device, lid % TURNS);
			n++;
		}
	return n;
}

static void change_lids(Fixture *f, unsigned int first, unsigned int last)
{
	for (unsigned int lid = first; lid <= last; lid++) {
		g_autofree char *command =
			g_strdup_printf("set m%u/1 lid=%u event=lid-change", lid % TURNS, lid);

		fixture_forget(f);
		fixture_simulate(f, command);
		fixture_wait_signal(f, NULL, "PropertiesChanged");
	}
}

/* What is in the file stays there, and what is lost is the end. */
static void test_killed(void **state)
{
	Fixture *f = *state;
	g_autofree char *directory = g_strdup_printf("%s/killed", f->directory);
	g_autofree char *option = g_strdup_printf("--state=%s", directory);
	g_autofree char *text = NULL, *cut = NULL;
	unsigned int n;

	assert_int_equal(mkdir(directory, 0700), 0);
	start(f, "[device m%d]\ncount = 16\nprotocol = infiniband\n[port m%d/1]\nlid = 999\n",
	      (const char *const[]){option, NULL});
	change_lids(f, 1, 100);
	do {
		g_free(text);
		text = read_record(directory);
	} while (!text || lids(text) < 100);
	g_free(steal_pointer(&text));
	change_lids(f, 101, 300);
	assert_int_equal(fixture_stop_daemon(f, SIGKILL), -SIGKILL);
	text = read_record(directory);
	assert_non_null(text);
	n = lids(text);
	print_message("of 300 changes the last %u are not in the record\n", 300 - n);
	assert_in_range(n, 100, 300);
	/* the last line may be cut */
	cut = g_strndup(text, (gsize)(strrchr(text, '\n') - text) + 1);
	g_free(steal_pointer(&text));
	text = hurry(cut, 1000);
	start(f, text, NULL);
	for (size_t i = 0; i < lids(cut); i++)
		while (fixture_count_signals(f, NULL, "PropertiesChanged") <= i)
			fixture_wait_more(f);
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
}

/* The bytes of all segments in the directory STATE, and how many there are. */
static size_t record_size(const char *state, unsigned int *ret_segments)
{
	g_autofree char *directory = g_strdup_printf("%s/record", state);
	size_t size = 0;
	DIR *d = opendir(directory);

	assert_non_null(d);
	*ret_segments = 0;
	for (const struct dirent *e; (e = readdir(d));) {
		struct stat st;

		if (e->d_name[0] == '.')
			continue;
		assert_int_equal(fstatat(dirfd(d), e->d_name, &st, 0), 0);
		size += (size_t)st.st_size;
		++*ret_segments;
	}
	closedir(d);
	return size;
}

/* All 128 ports have another subnet manager. */
static void change_sm_lids(Fixture *f, unsigned int lid)
{
	g_autofree char *command = g_strdup_printf("set */* sm_lid=%u event=sm-change", lid);

	fixture_simulate(f, command);
	while (fixture_count_signals(f, NULL, "SubnetReconfigured") < 128)
		fixture_wait_more(f);
}

/* More changes than there is room for: the oldest segments go, and each one can be played. */
static void test_full(void **state)
{
	Fixture *f = *state;
	g_autofree char *directory = g_strdup_printf("%s/full", f->directory);
	g_autofree char *option = g_strdup_printf("--state=%s", directory);
	g_autofree char *text = NULL, *fast = NULL;
	unsigned int segments;
	size_t size;

	assert_int_equal(mkdir(directory, 0700), 0);
	fixture_configure(f, "[Daemon]\nRecordMaxMiB=1\n");
	start(f, "[device m%d]\ncount = 16\nports = 8\nprotocol = infiniband\n",
	      (const char *const[]){option, NULL});
	for (unsigned int lid = 1; lid <= 100; lid++) {
		change_sm_lids(f, lid);
		fixture_forget(f);
	}
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	size = record_size(directory, &segments);
	print_message("%zu bytes in %u segments\n", size, segments);
	assert_in_range(segments, 3, 64);
	assert_in_range(size, 1 << 19, 1 << 20);
	text = read_record(directory);
	assert_non_null(text);
	assert_non_null(strstr(text, "\n# begins full\n"));
	fast = hurry(text, 1000);
	start(f, fast, NULL);
	/* all that is in it has happened when the last change is there */
	while (true) {
		_cleanup_free_ char *lid = fixture_property(f, "/org/rdma/device/15/port/8",
							    "org.rdma.Port.InfiniBand", "SmLid");

		if (streq(lid, "100"))
			break;
		fixture_wait_more(f);
	}
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
}

/* A segment begins while the first question to a device has not ended: the rest follows. */
static void test_unasked(void **state)
{
	Fixture *f = *state;
	g_autofree char *directory = g_strdup_printf("%s/unasked", f->directory);
	g_autofree char *option = g_strdup_printf("--state=%s", directory);
	g_autofree char *text = NULL, *fast = NULL, *was = NULL, *is = NULL;
	unsigned int lid = 0;

	assert_int_equal(mkdir(directory, 0700), 0);
	fixture_configure(f, "[Daemon]\nRecordMaxMiB=1\nQueryTimeoutSec=60\n");
	/* of a record, a device can have answered while its ports have not */
	start(f,
	      "[device m%d]\ncount = 16\nports = 8\nprotocol = infiniband\n"
	      "[device r]\nrecorded = yes\nports = 1\n[script]\n"
	      "at 1s: add c1 recorded=yes index=20 ports=2\nat 1s: answer c1 node_type=rnic\n",
	      (const char *const[]){option, NULL});
	signal_wait_device(f, "c1");
	do {
		fixture_forget(f);
		change_sm_lids(f, ++lid);
		g_free(text);
		text = read_record(directory);
	} while (!text || !strstr(text, "\n# begins full\n"));
	assert_non_null(strstr(text, "[script]\nat 0.000000s: add c1 recorded=yes"));
	fixture_forget(f);
	fixture_simulate(f, "answer c1/1 answer.parts=127 state=active reasons=device");
	fixture_simulate(f, "answer c1/2 answer.parts=127 state=down reasons=device");
	fixture_simulate(f, "asked c1");
	fixture_simulate(f, "add last protocol=roce");
	signal_wait_device(f, "last");
	was = signals(f);
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	g_free(text);
	text = read_record(directory);
	assert_non_null(text);
	assert_non_null(strstr(text, ": asked c1 "));
	fast = hurry(text, 1000);
	start(f, fast, NULL);
	signal_wait_device(f, "last");
	is = signals(f);
	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	if (!g_str_has_suffix(is, was))
		keep(1, was, is, text);
	assert_true(g_str_has_suffix(is, was));
}

/* The code of an error is in the record; where it is not, errno and words say which one it is. */
static void test_error_codes(void **state)
{
	static const char path[] = "/org/rdma/device/0/port/1";
	static const struct {
		const char *error, *code;
	} cases[] = {
		{"error=ETIMEDOUT text=no%20answer%20for%202000%20ms", "timeout"},
		{"error=ETIMEDOUT code=no-end text=no%20end%20of%20the%20answer", "no-end"},
		{"error=ETIMEDOUT code=not-asked text=too%20many", "not-asked"},
		{"error=ETIMEDOUT text=not%20asked,%20as%20too%20many%20other%20devices%20hang",
		 "not-asked"},
		{"error=EPIPE text=worker%20died:%20signal%209", "worker-lost"},
		{"error=EPIPE code=no-worker text=x", "no-worker"},
		{"error=EPROTO text=the%20worker%20lies", "protocol"},
		{"error=EPROTO code=incomplete text=x", "incomplete"},
		{"error=ENOMEM code=cannot-ask text=x", "cannot-ask"},
		{"error=EPIPE code=device-error:EPIPE text=x", "device-error:EPIPE"},
	};

	Fixture *f = *state;

	start(f,
	      "[device m0]\nrecorded = yes\n[port m0/1]\nanswer.parts = 127\n"
	      "link_layer = infiniband\nstate = active\n[script]\nat 1000s: event m0/1 link\n",
	      NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		g_autofree char *command = g_strdup_printf("answer m0/1 %s", cases[i].error);

		fixture_forget(f);
		fixture_simulate(f, command);
		fixture_wait_signal(f, path, "PropertiesChanged");
		fixture_assert_property(f, path, RDMAD_INTERFACE_PORT, "LastErrorCode",
					cases[i].code);
	}
}

/* What could not be read stays so, also if rdmad asks, until the record says something else. */
static void test_failed(void **state)
{
	static const char path[] = "/org/rdma/device/0/port/1";
	Fixture *f = *state;

	start(f,
	      "[device m0]\nrecorded = yes\n[port m0/1]\nanswer.parts = 127\n"
	      "link_layer = infiniband\nstate = active\n[script]\n"
	      "at 1ms: answer m0/1 error=EIO text=gone%20away\n"
	      "at 1s: answer m0/1 reasons=link\n",
	      NULL);
	fixture_wait_signal(f, path, "PropertiesChanged");
	fixture_assert_property(f, path, RDMAD_INTERFACE_PORT, "LastError", "gone away");
	fixture_assert_property(f, path, RDMAD_INTERFACE_PORT, "LastErrorCode", "device-error:EIO");
	fixture_simulate(f, "event m0/1 link");
	fixture_barrier(f);
	fixture_barrier(f);
	fixture_assert_property(f, path, RDMAD_INTERFACE_PORT, "LastError", "gone away");
	fixture_forget(f);
	fixture_wait_signal(f, path, "PropertiesChanged");
	fixture_assert_property(f, path, RDMAD_INTERFACE_PORT, "Stale", "no");
	fixture_assert_property(f, path, RDMAD_INTERFACE_PORT, "LastError", "");
}

/* What events say of a state is published with the answer that followed them, also if rdmad asks
 * before. */
static void test_noted(void **state)
{
	static const char path[] = "/org/rdma/device/0/port/1";
	Fixture *f = *state;

	start(f,
	      "[device m0]\nrecorded = yes\nports = 2\n"
	      "[port m0/1]\nanswer.parts = 127\nlink_layer = infiniband\nstate = active\n"
	      "[port m0/2]\nanswer.parts = 127\nlink_layer = infiniband\nstate = active\n"
	      "[script]\n"
	      "at 1ms: noted m0/1 reasons=port-error\n"
	      "at 2ms: noted m0/1 reasons=port-active\n"
	      "at 3ms: answer m0/2 \"state=down\"\n"
	      "at 1s: answer m0/1 reasons=port-error,port-active\n",
	      NULL);
	fixture_wait_signal(f, "/org/rdma/device/0/port/2", "PropertiesChanged");
	fixture_simulate(f, "event m0/1 link");
	fixture_barrier(f);
	fixture_barrier(f);
	fixture_assert_property(f, path, RDMAD_INTERFACE_PORT, "LinkDownCount", "0");
	fixture_wait_signal(f, path, "PropertiesChanged");
	fixture_assert_property(f, path, RDMAD_INTERFACE_PORT, "LinkDownCount", "1");
}

static void assert_code(Fixture *f, const char *path, const char *name, const char *expected)
{
	const char *interface =
		strstr(path, "/port/") ? RDMAD_INTERFACE_PORT : RDMAD_INTERFACE_DEVICE;
	_cleanup_free_ char *code = fixture_code_of(f, path, interface, name);

	assert_string_equal(code, expected);
}

/* Plays PLAYED, whose record is kept. Returns the directory of the record. */
static char *play_recorded(Fixture *f, const char *name, const char *played)
{
	char *directory = g_strdup_printf("%s/%s", f->directory, name);
	g_autofree char *option = g_strdup_printf("--state=%s", directory);

	assert_int_equal(mkdir(directory, 0700), 0);
	start(f, played, (const char *const[]){option, NULL});
	fixture_wait_signal(f, "/org/rdma/device/0/port/1", "PropertiesChanged");
	return directory;
}

/* Ends that, and plays the record in DIRECTORY, which has BEGINNING and CHANGE. */
static void play_again(Fixture *f, const char *directory, const char *beginning, const char *change)
{
	g_autofree char *text = NULL;

	assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
	text = read_record(directory);
	assert_non_null(text);
	assert_non_null(strstr(text, beginning));
	assert_non_null(strstr(text, change));
	start(f, text, NULL);
	fixture_wait_signal(f, "/org/rdma/device/0/port/1", "PropertiesChanged");
}

/* Why the other end of a link is not known is in the record, and played. */
static void test_no_neighbor(void **state)
{
	static const char path[] = "/org/rdma/device/0/port/1";
	Fixture *f = *state;
	g_autofree char *directory = play_recorded(
		f, "neighbor",
		"[device m0]\nrecorded = yes\n[port m0/1]\nanswer.parts = 383\n"
		"answer.no_neighbor = refused\nlink_layer = infiniband\nstate = active\n"
		"[script]\nat 1ms: answer m0/1 answer.no_neighbor=no-answer\n");

	assert_code(f, path, "Neighbor", "no-answer");
	play_again(f, directory, "\nanswer.no_neighbor = refused\n",
		   " \"answer.no_neighbor=no-answer\"");
	assert_code(f, path, "Neighbor", "no-answer");
}

/* So is an error of the vendor's library, which is no reason to ask again, of a port and of a
 * device. */
static void test_unanswered(void **state)
{
	static const char device[] = "/org/rdma/device/0", path[] = "/org/rdma/device/0/port/1";
	Fixture *f = *state;
	g_autofree char *directory = play_recorded(
		f, "unanswered",
		"[device m0]\nrecorded = yes\nanswer.open_error = -13\n"
		"[device m1]\nrecorded = yes\nanswer.open_error = -16\n[port m0/1]\n"
		"answer.parts = 383\nanswer.unanswered = vport\nlink_layer = infiniband\n"
		"state = active\n[script]\n"
		"at 1ms: answer m0 answer.open_error=0 answer.unanswered=mlx5_flags\n"
		"at 1ms: answer m0/1 vport=7 answer.unanswered=reg_c0_value\n");

	assert_code(f, path, "Vport", "");
	assert_code(f, path, "RegC0Value", "query-failed");
	assert_code(f, path, "RegC0Mask", "not-reported");
	assert_code(f, device, "VendorId", "not-reported");
	play_again(f, directory, "\nanswer.unanswered = vport\n",
		   " \"answer.unanswered=reg_c0_value\"");
	assert_code(f, path, "RegC0Value", "query-failed");
	assert_code(f, device, "VendorId", "not-reported");
	assert_code(f, device, "Features", "query-failed");
	assert_code(f, "/org/rdma/device/1", "VendorId", "in-use");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_error_codes, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_failed, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_noted, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_no_neighbor, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_unanswered, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_arrivals, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_findings, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_unasked, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_killed, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_full, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_replay, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
