/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares reading the attributes of a port from the shared memory with ibv_query_port() on an open
 * context. */

#include <infiniband/verbs.h>
#include <rdmad.h>

#include "bench.h"

#define CALLS 200U

static struct rdmad *snapshot;
static struct rdmad_handle handle;
static struct ibv_context *context;

static uint64_t sample_snapshot(_unused_ void *userdata)
{
	struct ibv_port_attr attr;
	uint64_t begin = bench_now();

	for (unsigned int i = 0; i < CALLS * 100; i++)
		if (rdmad_query_port(snapshot, handle, &attr) < 0)
			bench_die("the snapshot cannot be read");
	return (bench_now() - begin) / 100;
}

static uint64_t sample_verbs(_unused_ void *userdata)
{
	struct ibv_port_attr attr;
	uint64_t begin = bench_now();

	for (unsigned int i = 0; i < CALLS; i++)
		if (ibv_query_port(context, 1, &attr) != 0)
			bench_die("ibv_query_port: %m");
	return bench_now() - begin;
}

static struct ibv_context *open_first(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *c = list && list[0] ? ibv_open_device(list[0]) : NULL;

	if (list)
		ibv_free_device_list(list);
	return c;
}

int main(int argc, char *argv[])
{
	Subject subjects[] = {{.sample = sample_snapshot}, {.sample = sample_verbs}};
	int r;

	bench_init(argc, argv);
	if (system("modprobe rdma_sim && echo 'add sim0 driver=mlx5 link=ib' > /dev/rdma_sim && "
		   "udevadm settle && systemctl start rdmad") != 0)
		bench_die("cannot set up the device");
	r = rdmad_open(NULL, &snapshot);
	if (r == 0)
		r = rdmad_find(snapshot, "sim0/1", &handle);
	if (r < 0)
		bench_die("%s", rdmad_strerror(r));
	context = open_first();
	if (!context)
		bench_die("ibv_open_device: %m");
	bench_measure(subjects, ARRAY_SIZE(subjects));
	bench_report(&(Figure){.figure = "vm-query",
			       .value = subjects[0].p50 / CALLS,
			       .unit = "us",
			       .floor_name = "ibv_query_port()",
			       .floor = subjects[1].p50 / CALLS,
			       .goal = 0.01,
			       .without_bus = true,
			       .foreign = MAX(subjects[0].foreign, subjects[1].foreign)});
	ibv_close_device(context);
	rdmad_close(snapshot);
	return 0;
}
