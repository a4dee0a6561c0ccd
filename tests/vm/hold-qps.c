/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hold-qps DEVICE N [PORT]: makes N queue pairs on PORT, or port 1, of DEVICE, says "ready", and
 * keeps them until it is killed. */

#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);

	for (size_t i = 0; devices && devices[i]; i++)
		if (strcmp(ibv_get_device_name(devices[i]), name) == 0)
			return ibv_open_device(devices[i]);
	return NULL;
}

/* A queue pair belongs to a port when it leaves the state RESET. */
static int add_qp(struct ibv_pd *pd, struct ibv_cq *cq, int port)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = port};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	return qp ? ibv_modify_qp(qp, &attr,
				  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					  IBV_QP_ACCESS_FLAGS)
		  : -1;
}

int main(int argc, char *argv[])
{
	struct ibv_context *context = argc >= 3 ? open_device(argv[1]) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_cq *cq = context ? ibv_create_cq(context, 16, NULL, NULL, 0) : NULL;

	if (!pd || !cq) {
		perror("hold-qps");
		return EXIT_FAILURE;
	}
	for (int i = 0; i < atoi(argv[2]); i++)
		if (add_qp(pd, cq, argc > 3 ? atoi(argv[3]) : 1) != 0) {
			perror("hold-qps: queue pair");
			return EXIT_FAILURE;
		}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
