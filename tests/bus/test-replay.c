/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The record of changes: what is played of it is published as it was. */

#include <dirent.h>
#include <glib.h>
#include <signal.h>
#include <sys/stat.h>

#include "fixture.h"

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

/* One signal as text, without its times. */
static void put_signal(GString *to, sd_bus_message *m)
{
	_cleanup_free_ char *text = NULL;
	g_auto(GStrv) lines = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	bool is_time = false;

	assert_non_null(stream);
	sd_bus_message_rewind(m, true);
	assert_true(sd_bus_message_dump(m, stream, SD_BUS_MESSAGE_DUMP_SUBTREE_ONLY) >= 0);
	assert_int_equal(fclose(stream), 0);
	g_string_append_printf(to, "%s %s\n", sd_bus_message_get_path(m),
			       sd_bus_message_get_member(m));
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		if (!(is_time && strstr(*line, "UINT64")))
			g_string_append_printf(to, "%s\n", *line);
		is_time = strstr(*line, "Timestamp\"") || (is_time && strstr(*line, "VARIANT"));
	}
}

/* Waits until the device "last", which is added now, is published. */
static void wait_last(Fixture *f)
{
	for (size_t seen = 0;; seen++) {
		g_autoptr(GString) text = g_string_new(NULL);

		while (seen == f->n_signals)
			fixture_wait_more(f);
		put_signal(text, f->signals[seen]);
		if (strstr(text->str, "STRING \"last\""))
			return;
	}
}

/* The signals in order, up to the one that says that the device "last" is there. The counts of
 * org.rdma.Manager are left out: they come a little later, those of several changes as one. */
static char *signals(const Fixture *f)
{
	GString *text = g_string_new(NULL);

	for (size_t i = 0; i < f->n_signals; i++) {
		sd_bus_message *m = f->signals[i];

		if (streq(sd_bus_message_get_path(m), RDMAD_ROOT_PATH) &&
		    sd_bus_message_is_signal(m, NULL, "PropertiesChanged"))
			continue;
		put_signal(text, m);
		if (strstr(text->str, "STRING \"last\""))
			break;
	}
	return g_string_free(text, false);
}

/* The text of the newest segment of the record in the directory STATE; the caller frees it. */
static char *read_record(const char *state)
{
	g_autofree char *directory = g_strdup_printf("%s/record", state);
	g_autofree char *newest = NULL, *path = NULL;
	char *text = NULL;
	DIR *d = opendir(directory);

	assert_non_null(d);
	for (const struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] != '.' && (!newest || strcmp(e->d_name, newest) > 0)) {
			g_free(newest);
			newest = g_strdup(e->d_name);
		}
	closedir(d);
	assert_non_null(newest);
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
	wait_last(f);
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
		g_autofree char *path = g_strdup_printf("%s/tests/bus/replay-%u.%s",
							TEST_BUILD_DIR, seed, texts[i][0]);

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
		fast = hurry(text, 1000);
		start(f, fast, NULL);
		wait_last(f);
		is = signals(f);
		assert_int_equal(fixture_stop_daemon(f, SIGTERM), 0);
		if (!streq(was, is))
			keep(seed, was, is, text);
		assert_true(streq(was, is));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_replay, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
