/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* port-attr PORT [TIMES]: prints the same as port-attr-verbs, from the shared memory of rdmad. PORT
 * is mlx5_0/1, or the name of a network interface. */

#include <infiniband/verbs.h>
#include <rdmad.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char *argv[])
{
	long times = argc > 2 ? atol(argv[2]) : 1;
	struct rdmad *r = NULL;
	struct rdmad_handle port;
	struct ibv_port_attr attr;
	struct timespec begin, end;
	int e = rdmad_open(NULL, &r);

	if (e == 0)
		e = rdmad_find(r, argc > 1 ? argv[1] : "", &port);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0; i < times && e == 0; i++)
		e = rdmad_query_port(r, port, &attr);
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (e < 0) {
		fprintf(stderr, "port-attr: %s\n", rdmad_strerror(e));
		return EXIT_FAILURE;
	}
	printf("state %d, MTU code %d, LID %u\n", attr.state, attr.active_mtu, attr.lid);
	printf("%.1f ns\n",
	       ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
		       (double)times);
	rdmad_close(r);
	return EXIT_SUCCESS;
}
