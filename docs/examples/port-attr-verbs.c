/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* port-attr-verbs DEVICE PORT [TIMES]: prints what ibv_query_port() says, and how long one call
 * takes. */

#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	for (int i = 0; devices && devices[i]; i++)
		if (strcmp(ibv_get_device_name(devices[i]), name) == 0)
			context = ibv_open_device(devices[i]);
	ibv_free_device_list(devices);
	return context;
}

int main(int argc, char *argv[])
{
	struct ibv_context *context = argc >= 3 ? open_device(argv[1]) : NULL;
	long times = argc > 3 ? atol(argv[3]) : 1;
	struct ibv_port_attr attr;
	struct timespec begin, end;

	if (!context)
		return EXIT_FAILURE;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0; i < times; i++)
		if (ibv_query_port(context, (uint8_t)atoi(argv[2]), &attr))
			return EXIT_FAILURE;
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("state %d, MTU code %d, LID %u\n", attr.state, attr.active_mtu, attr.lid);
	printf("%.1f ns\n",
	       ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
		       (double)times);
	ibv_close_device(context);
	return EXIT_SUCCESS;
}
