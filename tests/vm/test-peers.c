/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test-peers MAP
 *
 * Runs in a virtual machine, as root, with rdmad installed, rdma_sim and rdma_rxe. It runs other
 * tools that show devices and ports, and looks up each field that they show in MAP, which is
 * docs/guide/peers.md: a field without a row is an error, and so is a value that rdmad publishes
 * otherwise. The words that say how values are compared are explained there.
 */

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include "counters-text.h"
#include "fabric.h"
#include "published.h"

#define ROWS_MAX  256
#define TEXT_MAX  512
#define PORTS_MAX 64

static const char *map_path;
static Fixture *f;

/* A field of a tool, and what is on the bus for it. */
typedef struct Row {
	char tool[32];
	char field[64];			  /* a pattern of fnmatch() */
	char interface[24], property[40]; /* both empty: it is not served */
	char how[16];
	unsigned int n_seen, n_compared;
} Row;

static Row rows[ROWS_MAX];
static size_t n_rows;

/* What a tool shows. */
typedef struct Fact {
	const char *tool, *device;
	unsigned int port; /* 0: it is about the device */
	const char *field;
	long index; /* of an entry of a table; negative: it is of no table */
	const char *value;
} Fact;

static Objects objects;
static unsigned int n_facts, n_failed;

/* The map */

/* The next text between backquotes in *S, in BUFFER; false: there is none. */
static bool next_quoted(const char **s, char *buffer, size_t size)
{
	const char *begin = strchr(*s, '`'), *end = begin ? strchr(begin + 1, '`') : NULL;

	if (!end)
		return false;
	snprintf(buffer, size, "%.*s", (int)(end - begin - 1), begin + 1);
	*s = end + 1;
	return true;
}

/* A line "| fields | on the bus | how |" of the table of TOOL. */
static void read_row(const char *tool, char *line)
{
	char *rest = line + 1, *cells[3], quoted[64], *dot;
	Row row = {};

	for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
		if (!(cells[i] = strsep(&rest, "|")))
			fail_msg("%s: a row without three columns", map_path);
	text_copy(row.tool, sizeof(row.tool), tool);
	if (!strstr(cells[1], "not served")) {
		const char *place = cells[1];

		assert_true(next_quoted(&place, quoted, sizeof(quoted)));
		dot = strchr(quoted, '.');
		assert_non_null(dot);
		*dot = '\0';
		text_copy(row.interface, sizeof(row.interface), quoted);
		text_copy(row.property, sizeof(row.property), dot + 1);
		assert_int_equal(sscanf(cells[2], " %15[a-z0-9]", row.how), 1);
	}
	for (const char *names = cells[0]; next_quoted(&names, row.field, sizeof(row.field));) {
		assert_true(n_rows < ROWS_MAX);
		rows[n_rows++] = row;
	}
}

static void read_map(void)
{
	_cleanup_fclose_ FILE *file = fopen(map_path, "r");
	_cleanup_free_ char *line = NULL;
	char tool[32] = "";
	size_t size = 0;

	if (!file)
		fail_msg("%s: %m", map_path);
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (startswith(line, "## "))
			text_copy(tool, sizeof(tool), line + 3);
		else if (*tool && startswith(line, "| `"))
			read_row(tool, line);
	}
	assert_true(n_rows > 0);
}

/* Comparison */

/* TEXT in small letters, without signs. */
static void simplify(const char *text, char *ret, size_t size)
{
	size_t n = 0;

	for (; *text && n + 1 < size; text++)
		if ((*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'z') ||
		    (*text >= 'A' && *text <= 'Z'))
			ret[n++] = (char)(*text | 32); /* a digit has this bit */
	ret[n] = '\0';
}

static bool contains_word(const char *text, const char *word)
{
	char a[TEXT_MAX], b[TEXT_MAX];

	simplify(text, a, sizeof(a));
	simplify(word, b, sizeof(b));
	return *b && strstr(a, b);
}

static unsigned int count_names(const char *list)
{
	unsigned int n = !streq(list, "<>") && *list;

	for (; *list; list++)
		n += *list == ',';
	return n;
}

/* Entry INDEX of a table, without the index; "" if the table has none. */
static void find_entry(const char *table, long index, char *ret, size_t size)
{
	*ret = '\0';
	while (*table) {
		size_t length = strcspn(table, ";");
		char *end;
		long n = strtol(table, &end, 10);

		if (n == index && end < table + length) {
			snprintf(ret, size, "%.*s", (int)(table + length - end), end);
			return;
		}
		table += length + (table[length] == ';');
	}
}

/* A part of the value of an entry, as it is on the bus: GIDs have all their digits there, and
 * numbers are decimal. */
static void convert_part(const char *part, char *ret, size_t size)
{
	struct in6_addr a;
	uint8_t *b = a.s6_addr;

	if (inet_pton(AF_INET6, part, &a) == 1)
		snprintf(ret, size,
			 "%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x",
			 b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
			 b[12], b[13], b[14], b[15]);
	else if (startswith(part, "0x"))
		snprintf(ret, size, " %lu ", strtoul(part, NULL, 16));
	else
		snprintf(ret, size, "%s", part);
}

static bool is_nothing(const char *value)
{
	return value[strspn(value, "0x:. ")] == '\0' || startswith(value, "invalid") ||
	       startswith(value, "0:") || streq(value, "<>");
}

static bool entry_equals(const Fact *fact, const char *table)
{
	char entry[TEXT_MAX], value[TEXT_MAX], part[TEXT_MAX], *rest = value, *word;

	find_entry(table, fact->index, entry, sizeof(entry));
	if (!*entry)
		return is_nothing(fact->value);
	text_copy(value, sizeof(value), fact->value);
	while ((word = strsep(&rest, ","))) {
		bool found = false;

		word += strspn(word, " ");
		/* sysfs does not know which of "IB/RoCE v1" it is */
		for (char *choices = word, *choice; (choice = strsep(&choices, "/"));) {
			convert_part(choice, part, sizeof(part));
			found |= strstr(entry, part) != NULL;
		}
		if (!found)
			return false;
	}
	return true;
}

static bool counter_exists(const Fact *fact, const char *counters)
{
	char name[80];
	const char *file = strrchr(fact->field, '/') + 1;
	const char *data = strstr(file, "_data");

	/* sysfs counts words of four bytes there */
	snprintf(name, sizeof(name), " %.*s%s ", data ? (int)(data - file) : (int)strlen(file),
		 file, data ? "_bytes" : "");
	return strstr(counters, name) != NULL;
}

static bool is_equal(const Fact *fact, const char *how, const char *bus)
{
	const char *value = fact->value, *parenthesis = strchr(value, '(');
	uint64_t number = strtoull(bus, NULL, 10);

	if (streq(how, "same"))
		return streq(value, bus);
	if (streq(how, "number"))
		return strtoull(value, NULL, 0) == number;
	if (streq(how, "low32"))
		return strtoull(value, NULL, 0) == (number & UINT32_MAX);
	if (streq(how, "code"))
		return parenthesis && strtoull(parenthesis + 1, NULL, 0) == number;
	if (streq(how, "lanes"))
		return parenthesis && strtoull(parenthesis + 1, NULL, 10) == number;
	if (streq(how, "speed"))
		return parenthesis && contains_word(parenthesis, bus);
	if (streq(how, "word"))
		return contains_word(value, bus);
	if (streq(how, "giga")) /* with one decimal */
		return (uint64_t)(strtod(value, NULL) * 10 + 0.5) == number / 100000000;
	if (streq(how, "switch"))
		return streq(bus, streq(value, "on") ? "yes" : "no");
	if (streq(how, "bits"))
		return count_names(value) == (unsigned int)__builtin_popcountll(number);
	if (streq(how, "entry"))
		return entry_equals(fact, bus);
	if (streq(how, "counter"))
		return counter_exists(fact, bus);
	fail_msg("%s: no way to compare is called \"%s\"", map_path, how);
	return false;
}

/* What is on the bus */

static const Object *find_object(const Fact *fact)
{
	char path[RDMAD_PATH_MAX];

	for (size_t i = 0; i < objects.n; i++) {
		const char *name = object_get(&objects.objects[i], "Name");

		if (!name || !streq(name, fact->device))
			continue;
		if (fact->port == 0)
			return &objects.objects[i];
		snprintf(path, sizeof(path), "%s/port/%u", objects.objects[i].path, fact->port);
		return objects_find(&objects, path);
	}
	return NULL;
}

static bool has_interface(const Object *o, const char *interface)
{
	for (size_t i = 0; i < o->n; i++) {
		const char *last = strrchr(o->properties[i].interface, '.');

		if (last && streq(last + 1, interface))
			return true;
	}
	return false;
}

/* A field of the reply of Query(), as text. */
static char *query_field(const Object *o, const char *name)
{
	sd_bus_message *reply = fixture_call(f, o->path, PORT, "Query", NULL, "a{sv}", 1,
					     "max-age-usec", "t", UINT64_MAX);
	char *text = NULL;
	const char *key;

	assert_true(sd_bus_message_enter_container(reply, 'a', "{sv}") > 0);
	while (!text && sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
		assert_true(sd_bus_message_read_basic(reply, 's', &key) > 0);
		if (streq(key, name))
			text = message_text(reply);
		else
			assert_true(sd_bus_message_skip(reply, "v") > 0);
		if (!text)
			sd_bus_message_exit_container(reply);
	}
	sd_bus_message_unref(reply);
	return text;
}

/* The counters of a port, as text; they are read once. */
static const char *counters_of(const Object *o)
{
	static struct {
		char *path, *text;
	} known[PORTS_MAX];
	size_t i = 0;

	while (i < PORTS_MAX && known[i].path && !streq(known[i].path, o->path))
		i++;
	assert_true(i < PORTS_MAX);
	if (!known[i].path) {
		sd_bus_message *reply =
			fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetCounters",
				     NULL, "a{sv}", 1, "ports", "as", 1, o->path);

		known[i].path = strdup(o->path);
		known[i].text = counters_text(reply, NULL);
		sd_bus_message_unref(reply);
	}
	return known[i].text;
}

/* A property of the manager, as text */
static char *manager_property(const char *name)
{
	sd_bus_message *reply = fixture_call(f, RDMAD_ROOT_PATH, "org.freedesktop.DBus.Properties",
					     "Get", NULL, "ss", RDMAD_INTERFACE_MANAGER, name);
	char *text = message_text(reply);

	sd_bus_message_unref(reply);
	return text;
}

/* A method says it, and not a property of the object. */
static bool is_method(const Row *row)
{
	return streq(row->interface, "Query") || streq(row->interface, "Manager");
}

/* The value on the bus for FACT, which the caller frees; NULL: there is none. */
static char *bus_value(const Row *row, const Object *o)
{
	const char *text;

	if (!o)
		return manager_property(row->property);
	if (streq(row->interface, "Query"))
		return query_field(o, row->property);
	if (streq(row->interface, "Manager"))
		return strdup(counters_of(o));
	text = object_get(o, row->property);
	return text ? strdup(text) : NULL;
}

/* CODE: "" for any */
static bool is_unavailable(const Object *o, const char *property, const char *code)
{
	const char *text = object_get(o, "Unavailable");
	char key[64];
	size_t n = text ? strlen(text) : 0;

	snprintf(key, sizeof(key), "%s %s", property, code);
	return n > 0 && (startswith(text, key) || strstr(text, key));
}

static void complain(const Fact *fact, const char *what, const char *bus)
{
	print_error("%s: %s/%u %s = \"%s\": %s \"%s\"\n", fact->tool, fact->device, fact->port,
		    fact->field, fact->value, what, bus);
	n_failed++;
}

static void compare(Row *row, const Fact *fact)
{
	const Object *o = find_object(fact);
	_cleanup_free_ char *bus = NULL;

	row->n_seen++;
	if (!*row->interface || streq(row->how, "differs"))
		return;
	if (!o && *fact->device) {
		complain(fact, "not on the bus:", row->interface);
		return;
	}
	if (!is_method(row) && !has_interface(o, row->interface))
		return; /* it does not apply */
	bus = bus_value(row, o);
	if (!bus) {
		complain(fact, "there is no", row->property);
		return;
	}
	row->n_compared++;
	if (o && is_nothing(fact->value) && (!*bus || is_unavailable(o, row->property, "")))
		return;
	/* other tools show what the kernel says for want of a speed */
	if (o && is_unavailable(o, row->property, "not-measured"))
		return;
	if (!is_equal(fact, row->how, bus))
		complain(fact, "on the bus it is", bus);
}

static void check_fact(const Fact *fact)
{
	bool found = false, exact = false;

	n_facts++;
	for (size_t i = 0; i < n_rows; i++)
		exact |= streq(rows[i].tool, fact->tool) && streq(rows[i].field, fact->field);
	for (size_t i = 0; i < n_rows; i++) {
		Row *row = &rows[i];

		/* a pattern is for the fields that have no row of their own */
		if (!streq(row->tool, fact->tool) ||
		    (exact ? !streq(row->field, fact->field)
			   : fnmatch(row->field, fact->field, FNM_PATHNAME) != 0))
			continue;
		found = true;
		compare(row, fact);
	}
	if (!found)
		complain(fact, "no row in", map_path);
}

/* The tools */

static FILE *run_tool(const char *command)
{
	FILE *p = popen(command, "r");

	if (!p)
		fail_msg("%s: %m", command);
	return p;
}

/* A line of ibv_devinfo is "FIELD:   VALUE", or "FIELD not supported". Lines that are indented far
 * are names of the bits of the field before. */
static void read_devinfo(const char *tool)
{
	/* one by one: that of rdma-core 65 ends with an error if one cannot be opened */
	FILE *p = run_tool(
		"for d in /sys/class/infiniband/*; do ibv_devinfo -v -d ${d##*/}; done; true");
	char device[64] = "", field[64], value[TEXT_MAX], *line = NULL;
	Fact fact = {.tool = tool, .device = device, .field = field, .value = value};
	size_t size = 0;

	while (getline(&line, &size, p) > 0) {
		size_t tabs = strspn(line, "\t");
		int entry = 0;

		fact.index = -1;
		*value = '\0';
		if (tabs > 3 || sscanf(line + tabs, "%63[^:\n]:%*[ \t]%511[^\n]", field, value) < 1)
			continue;
		if (streq(field, "port")) {
			fact.port = (unsigned int)atoi(value);
			continue;
		}
		if (streq(field, "hca_id")) {
			text_copy(device, sizeof(device), value);
			fact.port = 0;
		}
		if (sscanf(field, "GID[%d]", &entry) == 1) {
			fact.index = entry;
			text_copy(field, sizeof(field), "GID");
		}
		if (strstr(field, " not supported"))
			*strstr(field, " not supported") = '\0';
		check_fact(&fact);
	}
	free(line);
	assert_int_equal(pclose(p), 0);
}

/* A line of rdma is "link DEVICE/PORT KEY VALUE KEY VALUE...", or "INDEX: DEVICE: KEY VALUE...",
 * and one with "caps: <NAME, ...>" follows. */
static void read_rdma(const char *tool)
{
	FILE *p = run_tool(tool);
	char device[64] = "", *line = NULL, *rest, *key;
	Fact fact = {.tool = tool, .device = device, .index = -1};
	size_t size = 0;

	while (getline(&line, &size, p) > 0) {
		char *caps = strstr(line, "caps: "), index[16];

		line[strcspn(line, "\n")] = '\0';
		if (caps) {
			fact.field = "caps";
			fact.value = caps + strlen("caps: ");
			check_fact(&fact);
			continue;
		}
		rest = line;
		if (sscanf(line, "link %63[^/]/%u", device, &fact.port) == 2) {
			strsep(&rest, " ");
			strsep(&rest, " ");
		} else {
			assert_int_equal(sscanf(line, "%15[0-9]: %63[^:]", index, device), 2);
			fact.field = "index";
			fact.value = index;
			check_fact(&fact);
			strsep(&rest, " ");
			strsep(&rest, " ");
		}
		while ((key = strsep(&rest, " "))) {
			fact.field = key;
			fact.value = *key ? strsep(&rest, " ") : NULL;
			if (fact.value)
				check_fact(&fact);
		}
	}
	free(line);
	assert_int_equal(pclose(p), 0);
}

/* The line of rdma system is "KEY VALUE KEY VALUE...": it is about no device. */
static void read_system(const char *tool)
{
	FILE *p = run_tool(tool);
	char key[64], value[64];
	Fact fact = {.tool = tool, .device = "", .field = key, .index = -1, .value = value};

	while (fscanf(p, "%63s %63s", key, value) == 2)
		check_fact(&fact);
	assert_int_equal(pclose(p), 0);
}

static void read_directory(Fact *fact, int parent, const char *name, const char *path);

/* One entry of a directory whose PATH is relative to that of the device. */
static void read_entry(Fact *fact, int directory, const char *name, const char *path)
{
	char field[256], value[TEXT_MAX] = "";
	unsigned int port = fact->port;
	struct stat st;
	ssize_t n = 0;
	int fd;

	snprintf(field, sizeof(field), "%s%s%s", path, *path ? "/" : "", name);
	assert_int_equal(fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	if (S_ISDIR(st.st_mode)) {
		if (port == 0 && streq(path, "ports")) {
			fact->port = (unsigned int)atoi(name);
			text_copy(field, sizeof(field), "ports");
		}
		read_directory(fact, directory, name, field);
		fact->port = port;
		return;
	}
	if (S_ISREG(st.st_mode)) {
		fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? -1 : read(fd, value, sizeof(value) - 1);
		close_fd(fd);
	}
	/* an entry of a table that is empty may not be readable */
	value[n > 0 ? n : 0] = '\0';
	value[strcspn(value, "\n")] = '\0';
	fact->field = field;
	fact->value = value;
	fact->index = *name >= '0' && *name <= '9' ? atol(name) : -1;
	check_fact(fact);
}

static void read_directory(Fact *fact, int parent, const char *name, const char *path)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fdopendir(fd);
	struct dirent *entry;

	assert_non_null(d);
	while ((entry = readdir(d)))
		if (*entry->d_name != '.')
			read_entry(fact, dirfd(d), entry->d_name, path);
	closedir(d);
}

static void read_sysfs(const char *tool)
{
	DIR *d = opendir(tool);
	struct dirent *entry;

	assert_non_null(d);
	while ((entry = readdir(d))) {
		Fact fact = {.tool = tool, .device = entry->d_name};

		if (*entry->d_name != '.')
			read_directory(&fact, dirfd(d), entry->d_name, "");
	}
	closedir(d);
}

/* The test */

static void test_peers(_unused_ void **state)
{
	static const struct {
		const char *tool;
		void (*read)(const char *tool);
	} tools[] = {
		{"ibv_devinfo -v", read_devinfo},
		{"rdma -d link", read_rdma},
		{"rdma -d dev", read_rdma},
		{"rdma system", read_system},
		{"/sys/class/infiniband", read_sysfs},
	};

	assert_true(objects_read(f, &objects));
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		unsigned int before = n_facts, compared = 0, served = 0, fields = 0;

		tools[i].read(tools[i].tool);
		assert_true(n_facts > before);
		for (size_t k = 0; k < n_rows; k++) {
			if (!streq(rows[k].tool, tools[i].tool))
				continue;
			fields++;
			served += *rows[k].interface != '\0';
			compared += rows[k].n_compared;
			if (rows[k].n_seen == 0)
				printf("  %s does not show %s here\n", tools[i].tool,
				       rows[k].field);
			else if (*rows[k].interface && rows[k].n_compared == 0 &&
				 !streq(rows[k].how, "differs"))
				fail_msg("%s: %s is never compared", tools[i].tool, rows[k].field);
		}
		printf("  %-22s %3u fields, %3u on the bus; %4u values, %4u compared\n",
		       tools[i].tool, fields, served, n_facts - before, compared);
	}
	assert_int_equal(n_failed, 0);
}

/* Devices of all kinds. */
static int setup(_unused_ void **state)
{
	read_map();
	f = fabric_new();
	run("modprobe rdma_rxe && modprobe rdma_sim && modprobe dummy");
	fabric_restart(f, "[Daemon]\nReconcileIntervalSec=0\nQueryTimeoutSec=8\n");
	for (unsigned int i = 0; i < 4; i++)
		run("ip link add e%u type dummy && ip link set e%u up && "
		    "ip address add 192.0.2.%u/24 dev e%u",
		    i, i, i + 1, i);
	run("rdma link add rxe0 type rxe netdev e0");
	sim("add vpi0 driver=mlx5 link=ib,eth netdev=-,e1 ports=2 parent=platform numa=0\n"
	    "add iwarp0 driver=siw link=iwarp netdev=e2\n"
	    "add eth0 driver=siw link=eth netdev=e3\n"
	    "add hbl0 driver=hbl link=eth\n"
	    "add none0 driver=none link=ib\n"
	    "set vpi0/1 lid=20 sm_lid=1 lmc=2 sm_sl=3 port_cap_flags=0x0a510048 port_cap_flags2=3 "
	    "pkey.0=0x7fff pkey.5=0x8055 gid.2=fe80::5\n"
	    "set none0/1 lid=21 sm_lid=1 active_width=16 active_speed=64 state=3");
	wait_port(f, "rxe0/1");
	wait_port(f, "vpi0/2");
	wait_port(f, "iwarp0/1");
	wait_port(f, "eth0/1");
	wait_port(f, "hbl0/1");
	wait_port(f, "none0/1");
	wait_quiet(f, "vpi0/1");
	refresh(f);
	return 0;
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_peers),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: test-peers MAP\n");
		return 2;
	}
	map_path = argv[1];
	setvbuf(stdout, NULL, _IOLBF, 0);
	return cmocka_run_group_tests_name("peers", tests, setup, NULL);
}
