/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures what people would use instead of rdmad, for the same port of the same simulated device:
 * tools are compared with rdmactl, and what a program would do itself with a read of the shared
 * memory of rdmad.
 */

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdmad.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "scrape.h"

#define EXPORTER_PORT 9100

static struct rdmad *snapshot;
static struct rdmad_handle handle;

static pid_t start(const char *const argv[])
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int r;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	r = posix_spawnp(&pid, argv[0], &actions, NULL, CONST_CAST(char **, argv), environ);
	posix_spawn_file_actions_destroy(&actions);
	if (r != 0)
		bench_die("%s: %s", argv[0], strerror(r));
	return pid;
}

static uint64_t sample_command(void *userdata)
{
	const char *const *argv = userdata;
	uint64_t begin = bench_now();
	pid_t pid = start(argv);
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		bench_die("%s failed", argv[0]);
	return bench_now() - begin;
}

static uint64_t sample_snapshot(_unused_ void *userdata)
{
	struct ibv_port_attr attr;
	uint64_t begin = bench_now();

	for (unsigned int i = 0; i < 1000; i++)
		if (rdmad_query_port(snapshot, handle, &attr) < 0)
			bench_die("the snapshot cannot be read");
	return (bench_now() - begin) / 1000;
}

/* Reads the files of a port that a monitoring agent reads. */
static uint64_t sample_sysfs(_unused_ void *userdata)
{
	static const char *const files[] = {"link_layer", "state",   "phys_state", "rate",
					    "lid",	  "sm_lid",  "sm_sl",	   "lid_mask_count",
					    "cap_mask",	  "gids/0",  "gids/1",	   "gids/2",
					    "gids/3",	  "pkeys/0", "pkeys/1",	   "pkeys/2",
					    "pkeys/3",	  "pkeys/4", "pkeys/5",	   "pkeys/6"};
	uint64_t begin = bench_now();
	char path[96], text[256];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_close_ int fd = -EBADF;

		snprintf(path, sizeof(path), "/sys/class/infiniband/sim0/ports/1/%s", files[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || read(fd, text, sizeof(text)) < 0)
			bench_die("%s: %m", path);
	}
	return bench_now() - begin;
}

static uint64_t sample_verbs(_unused_ void *userdata)
{
	uint64_t begin = bench_now();
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_port_attr attr;

	if (!context || ibv_query_port(context, 1, &attr) != 0)
		bench_die("libibverbs: %m");
	ibv_close_device(context);
	ibv_free_device_list(list);
	return bench_now() - begin;
}

static uint64_t sample_exporter(_unused_ void *userdata)
{
	struct sockaddr_in address = scrape_address(EXPORTER_PORT);

	return scrape((const struct sockaddr *)&address, sizeof(address), "node_infiniband_", NULL);
}

#define COMMAND(...) ((void *)(uintptr_t)(const char *const[]){__VA_ARGS__, NULL})

int main(int argc, char *argv[])
{
	enum { RDMACTL, DEVINFO, IBSTAT, RDMA, BUSCTL, SNAPSHOT, SYSFS, VERBS, EXPORTER, _MAX };
	Subject s[_MAX] = {
		[RDMACTL] = {sample_command, COMMAND("rdmactl", "show", "sim0/1"), .at_least = 3},
		[DEVINFO] = {sample_command, COMMAND("ibv_devinfo", "-v", "-d", "sim0"),
			     .at_least = 3},
		[IBSTAT] = {sample_command, COMMAND("ibstat", "sim0", "1"), .at_least = 3},
		[RDMA] = {sample_command, COMMAND("rdma", "-d", "link", "show", "sim0/1"),
			  .at_least = 3},
		[BUSCTL] = {sample_command,
			    COMMAND("busctl", "get-property", "org.rdma", "/org/rdma",
				    "org.rdma.Manager", "PortCount"),
			    .at_least = 3},
		[SNAPSHOT] = {.sample = sample_snapshot},
		[SYSFS] = {.sample = sample_sysfs},
		[VERBS] = {.sample = sample_verbs},
		[EXPORTER] = {sample_exporter, NULL, .at_least = 3},
	};
	static const struct {
		const char *figure, *name;
		int ours, theirs;
	} figures[] = {
		{"instead-of-ibv_devinfo", "ibv_devinfo -v (rdmactl show)", RDMACTL, DEVINFO},
		{"instead-of-ibstat", "ibstat (rdmactl show)", RDMACTL, IBSTAT},
		{"instead-of-rdma-link", "rdma link (rdmactl show)", RDMACTL, RDMA},
		{"instead-of-busctl", "busctl get-property (rdmactl show)", RDMACTL, BUSCTL},
		{"instead-of-sysfs", "20 files in sysfs (librdmad)", SNAPSHOT, SYSFS},
		{"instead-of-verbs", "libibverbs: open, query, close (librdmad)", SNAPSHOT, VERBS},
		{"instead-of-node_exporter", "a scrape of node_exporter (librdmad)", SNAPSHOT,
		 EXPORTER},
	};
	pid_t exporter;
	int r;

	bench_init(argc, argv);
	if (system("modprobe rdma_sim && echo 'add sim0 driver=mlx5 link=ib' > /dev/rdma_sim && "
		   "udevadm settle && systemctl start rdmad && ip link set lo up") != 0)
		bench_die("cannot set up the device");
	r = rdmad_open(NULL, &snapshot);
	if (r == 0)
		r = rdmad_find(snapshot, "sim0/1", &handle);
	if (r < 0)
		bench_die("%s", rdmad_strerror(r));
	exporter = scrape_start_node_exporter(EXPORTER_PORT);
	bench_own(exporter);
	bench_measure(s, _MAX);
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		bench_report_ratio(figures[i].figure, 0, &s[figures[i].ours], figures[i].name,
				   &s[figures[i].theirs], 0, 0);
	kill(exporter, SIGKILL);
	rdmad_close(snapshot);
	return 0;
}
