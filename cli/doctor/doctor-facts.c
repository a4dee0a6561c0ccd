/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "doctor-facts.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include <linux/netlink.h>

#include "bus.h"
#include "names.h"

DEFINE_CLEANUP(sd_bus_creds, sd_bus_creds_unref);

/* /proc/PID/status is the longest file that is read. */
#define FILE_MAX 65536

static int read_below(const Machine *m, const char *path, char **ret)
{
	char whole[PATH_MAX];
	size_t size;

	if (snprintf(whole, sizeof(whole), "%s%s", m->root, path) >= (int)sizeof(whole))
		return -ENAMETOOLONG;
	return text_read_file(whole, FILE_MAX, ret, &size);
}

/* The line of TEXT that begins with KEY, without KEY and the blanks behind it. */
static bool find_line(const char *text, const char *key, char ret[FACT_MAX])
{
	const char *rest = NULL;

	for (const char *line = text; line && !rest; line = strchr(line, '\n')) {
		line += *line == '\n';
		rest = startswith(line, key);
	}
	if (!rest)
		return false;
	rest += strspn(rest, " \t\"");
	snprintf(ret, FACT_MAX, "%.*s", (int)strcspn(rest, "\n\""), rest);
	text_sanitize(ret, FACT_MAX);
	return true;
}

static bool read_key(const Machine *m, const char *path, const char *key, char ret[FACT_MAX])
{
	_cleanup_free_ char *text = NULL;

	ret[0] = '\0';
	return read_below(m, path, &text) == 0 && find_line(text, key, ret);
}

bool machine_line(const Machine *m, const char *path, char ret[FACT_MAX])
{
	return read_key(m, path, "", ret);
}

bool machine_has(const Machine *m, const char *path)
{
	char whole[PATH_MAX];

	return snprintf(whole, sizeof(whole), "%s%s", m->root, path) < (int)sizeof(whole) &&
	       access(whole, F_OK) == 0;
}

/* Reads the line KEY of /proc/PID/FILE. */
static bool read_process(const Machine *m, pid_t pid, const char *file, const char *key,
			 char ret[FACT_MAX])
{
	char path[64];

	ret[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return pid > 0 && read_key(m, path, key, ret);
}

/* The first child of rdmad is a worker. */
static pid_t find_worker(const Machine *m)
{
	char file[40], children[FACT_MAX];

	snprintf(file, sizeof(file), "task/%d/children", m->pid);
	return read_process(m, m->pid, file, "", children) ? atoi(children) : 0;
}

static void ask_rdmad(const Context *c, Machine *m, int *ret_monitor)
{
	_cleanup_(sd_bus_creds_unref_pointer) sd_bus_creds *creds = NULL;
	_cleanup_free_ char *version = NULL;
	int monitor;

	if (!c->bus || bus_read_objects(c->bus, &m->objects) != STATUS_OK)
		return;
	m->reached = true;
	if (sd_bus_get_property_string(c->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
				       RDMAD_INTERFACE_MANAGER, "Version", NULL, &version) >= 0)
		text_copy_clean(m->version, sizeof(m->version), version);
	m->simulated = !bus_is_local(c);
	if (!m->simulated && sd_bus_get_property_trivial(c->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
							 RDMAD_INTERFACE_MANAGER, "MonitorMode",
							 NULL, 'b', &monitor) >= 0)
		*ret_monitor = monitor;
	if (sd_bus_get_name_creds(c->bus, RDMAD_BUS_NAME, SD_BUS_CREDS_PID, &creds) >= 0)
		(void)sd_bus_creds_get_pid(creds, &m->pid);
}

void machine_read(const Context *c, const char *root, Machine *ret)
{
	char release[FACT_MAX];
	int monitor = -1;

	*ret = (Machine){.root = root};
	if (machine_line(ret, "/proc/sys/kernel/osrelease", release))
		text_copy(ret->release, sizeof(ret->release), release);
	ask_rdmad(c, ret, &monitor);
	ret->kernel = kernel_ask(ret->release, monitor);
}

void machine_done(Machine *m)
{
	object_list_done(&m->objects);
}

int machine_worker_is_filtered(const Machine *m)
{
	char seccomp[FACT_MAX];

	return read_process(m, find_worker(m), "status", "Seccomp:", seccomp) ? streq(seccomp, "2")
									      : -ENODATA;
}

bool machine_is_container(const Machine *m)
{
	return machine_has(m, "/run/systemd/container") || machine_has(m, "/.dockerenv") ||
	       machine_has(m, "/run/.containerenv");
}

static void read_rdmactl(_unused_ const Machine *m, char ret[FACT_MAX])
{
	text_copy(ret, FACT_MAX, RDMAD_VERSION);
}

static void read_rdmad(const Machine *m, char ret[FACT_MAX])
{
	text_copy(ret, FACT_MAX,
		  !m->reached	  ? "no answer"
		  : m->version[0] ? m->version
				  : "answers");
}

static void read_source(const Machine *m, char ret[FACT_MAX])
{
	text_copy(ret, FACT_MAX, !m->reached ? "" : m->simulated ? "simulator" : "kernel");
}

static void read_kernel(const Machine *m, char ret[FACT_MAX])
{
	text_copy(ret, FACT_MAX, m->release);
}

static void read_architecture(_unused_ const Machine *m, char ret[FACT_MAX])
{
	struct utsname u;

	text_copy(ret, FACT_MAX, uname(&u) < 0 ? "" : u.machine);
}

static void read_distribution(const Machine *m, char ret[FACT_MAX])
{
	if (!read_key(m, "/etc/os-release", "PRETTY_NAME=", ret))
		(void)read_key(m, "/usr/lib/os-release", "PRETTY_NAME=", ret);
}

/* The file is called libibverbs.so.1.14.50.0, and the version of rdma-core follows 1.14, that of
 * the interface. */
static void read_rdma_core(_unused_ const Machine *m, char ret[FACT_MAX])
{
	void *library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_LOCAL);
	_cleanup_free_ char *path = NULL;
	struct link_map *map = NULL;
	const char *version = NULL;

	text_copy(ret, FACT_MAX, library ? "" : "none");
	if (library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
		path = realpath(map->l_name, NULL);
	if (path)
		version = strstr(path, ".so.1.");
	if (version)
		version = strchr(version + strlen(".so.1."), '.');
	if (version)
		text_copy(ret, FACT_MAX, version + 1);
	if (library)
		dlclose(library);
}

static void read_container(const Machine *m, char ret[FACT_MAX])
{
	if (!machine_line(m, "/run/systemd/container", ret))
		text_copy(ret, FACT_MAX, machine_is_container(m) ? "yes" : "no");
}

static void read_netlink(_unused_ const Machine *m, char ret[FACT_MAX])
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);

	text_copy(ret, FACT_MAX, fd >= 0 ? "yes" : "no");
}

static void read_verbs(const Machine *m, char ret[FACT_MAX])
{
	text_copy(ret, FACT_MAX, machine_has(m, "/sys/class/infiniband_verbs") ? "yes" : "no");
}

static void read_landlock(const Machine *m, char ret[FACT_MAX])
{
	if (m->kernel.landlock > 0)
		snprintf(ret, FACT_MAX, "version %d", m->kernel.landlock);
	else
		text_copy(ret, FACT_MAX, "no");
}

static void read_modules(const Machine *m, char ret[FACT_MAX])
{
	(void)machine_line(m, "/sys/kernel/security/lsm", ret);
}

static void read_label(const Machine *m, char ret[FACT_MAX])
{
	(void)read_process(m, m->pid, "attr/current", "", ret);
}

static void read_no_new_privileges(const Machine *m, char ret[FACT_MAX])
{
	if (read_process(m, m->pid, "status", "NoNewPrivs:", ret))
		text_copy(ret, FACT_MAX, streq(ret, "1") ? "yes" : "no");
}

static void read_filter(const Machine *m, char ret[FACT_MAX])
{
	if (read_process(m, m->pid, "status", "Seccomp:", ret))
		text_copy(ret, FACT_MAX, streq(ret, "2") ? "yes" : "no");
}

static void read_worker_filter(const Machine *m, char ret[FACT_MAX])
{
	int filtered = machine_worker_is_filtered(m);

	text_copy(ret, FACT_MAX, filtered < 0 ? "" : filtered ? "yes" : "no");
}

/* rdmactl-doctor(1) says what they are. */
const MachineFact machine_facts[] = {
	{"rdmactl", read_rdmactl},
	{"rdmad", read_rdmad},
	{"source", read_source},
	{"kernel", read_kernel},
	{"architecture", read_architecture},
	{"distribution", read_distribution},
	{"rdma-core", read_rdma_core},
	{"container", read_container},
	{"rdma-netlink", read_netlink},
	{"verbs", read_verbs},
	{"landlock", read_landlock},
	{"security-modules", read_modules},
	{"label", read_label},
	{"no-new-privileges", read_no_new_privileges},
	{"seccomp", read_filter},
	{"worker-seccomp", read_worker_filter},
};

const size_t n_machine_facts = ARRAY_SIZE(machine_facts);
