/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fabric.h"

#include <dirent.h>
#include <fcntl.h>
#include <time.h>

#define GUARD_MS 60000
/* Longer than the longest pause between two looks at a port, which daemon/manager/schedule.c makes.
 */
#define QUIET_MS 1500

void run(const char *format, ...)
{
	char command[1024];
	va_list args;
	int r;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	r = system(command);
	if (r != 0)
		fail_msg("%s: status %d", command, r);
}

/* Does not keep the file open, because the module could not be unloaded then. */
void sim(const char *format, ...)
{
	_cleanup_close_ int fd = open("/dev/rdma_sim", O_WRONLY | O_CLOEXEC);
	char command[4096];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	assert_true(n > 0 && n < (int)sizeof(command));
	if (write(fd, command, (size_t)n) < 0)
		fail_msg("rdma_sim: %s: %m", command);
}

uint64_t sim_number(const char *line, const char *port, const char *key)
{
	_cleanup_fclose_ FILE *file = fopen("/dev/rdma_sim", "r");
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	char begin[96];

	assert_non_null(file);
	snprintf(begin, sizeof(begin), "%s %s ", line, port);
	while (getline(&text, &size, file) > 0) {
		char *rest = text, *word;

		if (!startswith(text, begin))
			continue;
		while ((word = strsep(&rest, " \n"))) {
			const char *value = startswith(word, key);

			if (value && *value == '=')
				return strtoull(value + 1, NULL, 0);
		}
	}
	fail_msg("rdma_sim prints nothing about %s%s", begin, key);
	return 0;
}

Fixture *fabric_new(void)
{
	Fixture *f = calloc(1, sizeof(Fixture));

	assert_non_null(f);
	text_copy(f->directory, sizeof(f->directory), "/tmp");
	text_copy(f->address, sizeof(f->address), "unix:path=/run/dbus/system_bus_socket");
	return f;
}

void fabric_restart(Fixture *f, const char *configuration)
{
	_cleanup_fclose_ FILE *file = fopen("/etc/rdmad.conf", "w");

	assert_non_null(file);
	fputs(configuration, file);
	fflush(file);
	sim("del all");
	run("systemctl stop rdmad; systemctl reset-failed rdmad 2>/dev/null; "
	    "rm -rf /var/lib/rdmad/*; systemctl start rdmad");
	fixture_connect(f);
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "DeviceCount", "0");
}

pid_t fabric_pid(void)
{
	FILE *p = popen("systemctl show -p MainPID --value rdmad", "r");
	int pid = 0;

	assert_non_null(p);
	assert_int_equal(fscanf(p, "%d", &pid), 1);
	pclose(p);
	assert_true(pid > 0);
	return pid;
}

pid_t fabric_worker(pid_t daemon)
{
	char path[64];
	_cleanup_fclose_ FILE *file = NULL;
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", daemon, daemon);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%d", &pid) != 1)
		return 0;
	return pid;
}

unsigned int fabric_processes(void)
{
	_cleanup_fclose_ FILE *file =
		fopen("/sys/fs/cgroup/system.slice/rdmad.service/cgroup.procs", "re");
	unsigned int n = 0;
	int pid;

	assert_non_null(file);
	while (fscanf(file, "%d", &pid) == 1)
		n++;
	return n;
}

unsigned int count_descriptors(pid_t pid)
{
	char path[64];
	unsigned int n = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	directory = opendir(path);
	assert_non_null(directory);
	while (readdir(directory))
		n++;
	closedir(directory);
	return n - 2;
}

unsigned long resident_kib(pid_t pid)
{
	_cleanup_fclose_ FILE *file = NULL;
	unsigned long pages = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*u %lu", &pages), 1);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE) / 1024;
}

uint32_t wait_port(Fixture *f, const char *name)
{
	for (;;) {
		char *error = NULL;
		const char *path;
		uint32_t index;
		sd_bus_message *reply = fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
						     "GetPort", &error, "sa{sv}", name, 0);

		if (!reply) {
			free(error);
			fixture_wait_more(f);
			continue;
		}
		sd_bus_message_read_basic(reply, 'o', &path);
		index = (uint32_t)strtoul(path + strlen(RDMAD_DEVICE_PREFIX "/"), NULL, 10);
		sd_bus_message_unref(reply);
		return index;
	}
}

Path path_of(uint32_t index, uint32_t port)
{
	Path path;

	snprintf(path.text, sizeof(path.text), RDMAD_DEVICE_PREFIX "/%u/port/%u", index, port);
	return path;
}

void wait_property(Fixture *f, const char *path, const char *interface, const char *name,
		   const char *value)
{
	double begin = fixture_now_ms();

	for (;;) {
		_cleanup_free_ char *now = fixture_property(f, path, interface, name);

		if (streq(now, value))
			return;
		if (fixture_now_ms() - begin > GUARD_MS)
			fail_msg("%s of %s is \"%s\", should become \"%s\"", name, path, now,
				 value);
		fixture_barrier(f);
		sd_bus_wait(f->bus, 10 * USEC_PER_MSEC);
	}
}

void wait_equal(Fixture *f, uint32_t index, uint32_t port)
{
	double begin = fixture_now_ms();

	for (;;) {
		_cleanup_free_ char *text = NULL;
		int r;

		fixture_barrier(f);
		r = compare_port(f, index, (uint8_t)port, &text);
		if (r == 0)
			return;
		if (fixture_now_ms() - begin > GUARD_MS)
			fail_msg("%s is not equal: %s", path_of(index, port).text,
				 r < 0 ? strerror(-r) : text);
	}
}

void wait_quiet(Fixture *f, const char *port)
{
	uint64_t n = 0;
	double begin, first;

	run("udevadm settle");
	first = begin = fixture_now_ms();
	while (fixture_now_ms() - begin < QUIET_MS) {
		if (fixture_now_ms() - first > GUARD_MS)
			fail_msg("%s is queried again and again", port);
		uint64_t now = sim_number("calls", port, "query.user");

		if (now != n)
			begin = fixture_now_ms();
		n = now;
		fixture_barrier(f);
		sd_bus_wait(f->bus, 10 * USEC_PER_MSEC);
	}
}

void wait_gone(Fixture *f, uint32_t index)
{
	char path[RDMAD_PATH_MAX];

	snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u", index);
	for (;;) {
		char *error = NULL;

		sd_bus_message_unref(fixture_call(f, path, "org.freedesktop.DBus.Properties", "Get",
						  &error, "ss", DEVICE, "Name"));
		if (error) {
			assert_string_equal(error, SD_BUS_ERROR_UNKNOWN_OBJECT);
			free(error);
			return;
		}
		fixture_wait_more(f);
	}
}

void refresh(Fixture *f)
{
	sd_bus_message_unref(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh",
					  NULL, "a{sv}", 0));
	fixture_barrier(f);
}

bool words_within(const char *a, const char *b)
{
	_cleanup_free_ char *copy = strdup(a), *text = NULL;
	char *rest = copy, *word;

	assert_true(asprintf(&text, " %s ", b) > 0);
	while ((word = strsep(&rest, " "))) {
		char key[64];

		snprintf(key, sizeof(key), " %s ", word);
		if (*word && !strstr(text, key))
			return false;
	}
	return true;
}

static bool is_from(sd_bus_message *m, const char *path, const char *member)
{
	return streq(sd_bus_message_get_path(m), path) &&
	       streq(sd_bus_message_get_member(m), member) && sd_bus_message_rewind(m, true) >= 0;
}

char *changed_properties(Fixture *f, const char *path)
{
	_cleanup_fclose_ FILE *stream = NULL;
	const char *name;
	char *text = NULL;
	size_t size;

	stream = open_memstream(&text, &size);
	assert_non_null(stream);
	for (size_t i = 0; i < f->n_signals; i++) {
		sd_bus_message *m = f->signals[i];

		if (!is_from(m, path, "PropertiesChanged"))
			continue;
		sd_bus_message_skip(m, "s");
		sd_bus_message_enter_container(m, 'a', "{sv}");
		while (sd_bus_message_enter_container(m, 'e', "sv") > 0) {
			sd_bus_message_read_basic(m, 's', &name);
			fprintf(stream, "%s ", name);
			sd_bus_message_skip(m, "v");
			sd_bus_message_exit_container(m);
		}
		sd_bus_message_exit_container(m);
		sd_bus_message_enter_container(m, 'a', "s");
		while (sd_bus_message_read_basic(m, 's', &name) > 0)
			fprintf(stream, "%s ", name);
	}
	fflush(stream);
	return text;
}

unsigned int follow_states(Fixture *f, const char *path, char *state)
{
	unsigned int n = 0;

	for (size_t i = 0; i < f->n_signals; i++) {
		const char *new, *old;

		if (!is_from(f->signals[i], path, "StateChanged"))
			continue;
		assert_true(sd_bus_message_read(f->signals[i], "ss", &new, &old) > 0);
		if (!streq(old, state))
			fail_msg("%s: a transition from %s to %s, but the state was %s", path, old,
				 new, state);
		if (streq(new, old))
			fail_msg("%s: a transition from %s to itself", path, old);
		text_copy(state, 32, new);
		n++;
	}
	return n;
}

unsigned int count_reconfigured(Fixture *f, const char *path, const char *reason)
{
	unsigned int n = 0;

	for (size_t i = 0; i < f->n_signals; i++) {
		const char *why;

		if (!is_from(f->signals[i], path, "SubnetReconfigured"))
			continue;
		assert_true(sd_bus_message_read(f->signals[i], "s", &why) > 0);
		n += !reason || streq(why, reason);
	}
	return n;
}

char *why_unavailable(Fixture *f, const char *path, const char *interface, const char *name)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, path, "org.freedesktop.DBus.Properties", "Get", NULL, "ss",
			     interface, "Unavailable");
	const char *key, *why;
	char *found = NULL;

	assert_true(sd_bus_message_enter_container(reply, 'v', "a{ss}") > 0);
	assert_true(sd_bus_message_enter_container(reply, 'a', "{ss}") > 0);
	while (sd_bus_message_read(reply, "{ss}", &key, &why) > 0)
		if (streq(key, name) && !found)
			found = strdup(why);
	return found ? found : strdup("");
}
