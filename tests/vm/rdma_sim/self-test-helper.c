// SPDX-License-Identifier: GPL-2.0-only
/*
 * What self-test cannot do in shell: errno of a write, verbs, direct verbs,
 * and a reader that races with a writer.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <linux/netlink.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#define CONTROL "/dev/rdma_sim"
#define HBL_DRIVER_ID 21

static const char *result(int err)
{
	return err ? strerrorname_np(err) : "OK";
}

static int die(const char *what)
{
	fprintf(stderr, "self-test-helper: %s: %s\n", what, result(errno));
	exit(2);
}

/* One write() of the whole text; 0 or errno. */
static int control(const char *text)
{
	size_t len = strlen(text);
	int fd = open(CONTROL, O_WRONLY), err;

	if (fd < 0)
		return errno;
	err = write(fd, text, len) == (ssize_t)len ? 0 : errno;
	close(fd);
	return err;
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;

	if (!list)
		die("ibv_get_device_list");
	for (int i = 0; list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name)) {
			context = ibv_open_device(list[i]);
			if (!context)
				die("ibv_open_device");
			ibv_free_device_list(list);
			return context;
		}
	errno = ENODEV;
	die(name);
	return NULL;
}

/* write TEXT...: each text by one write(), the results by name. */
static int do_write(char **arguments)
{
	for (; *arguments; arguments++)
		puts(result(control(*arguments)));
	return 0;
}

/* port DEVICE PORT: what ibv_query_port() says. */
static int do_port(char **arguments)
{
	struct ibv_context *context = open_device(arguments[0]);
	struct ibv_port_attr a = {};
	int ret = ibv_query_port(context, atoi(arguments[1]), &a);

	if (ret) {
		puts(result(ret));
		return 1;
	}
	printf("state=%d max_mtu=%d active_mtu=%d gid_tbl_len=%d port_cap_flags=%#x max_msg_sz=%u "
	       "bad_pkey_cntr=%u qkey_viol_cntr=%u pkey_tbl_len=%u lid=%u sm_lid=%u lmc=%u "
	       "max_vl_num=%u sm_sl=%u subnet_timeout=%u init_type_reply=%u active_width=%u "
	       "active_speed=%u phys_state=%u link_layer=%u flags=%#x port_cap_flags2=%#x\n",
	       a.state, a.max_mtu, a.active_mtu, a.gid_tbl_len, a.port_cap_flags, a.max_msg_sz,
	       a.bad_pkey_cntr, a.qkey_viol_cntr, a.pkey_tbl_len, a.lid, a.sm_lid, a.lmc,
	       a.max_vl_num, a.sm_sl, a.subnet_timeout, a.init_type_reply, a.active_width,
	       a.active_speed, a.phys_state, a.link_layer, a.flags, a.port_cap_flags2);
	return 0;
}

/* N queue pairs, the last of them up to RTS, on PORT. They live as long as the context. */
static void make_qps(struct ibv_context *context, int n, int port)
{
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = port, .qkey = 7 };
	struct ibv_qp *qp = NULL;

	if (!pd || !cq)
		die(pd ? "ibv_create_cq" : "ibv_alloc_pd");
	for (int i = 0; i < n; i++) {
		qp = ibv_create_qp(pd, &init);
		if (!qp)
			die("ibv_create_qp");
		if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
			die("ibv_modify_qp to INIT");
	}
	attr.qp_state = IBV_QPS_RTS;
	if (!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
		die("INIT became RTS");
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		die("ibv_modify_qp to RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
		die("ibv_modify_qp to RTS");
}

/* hold DEVICE [N PORT]: opens, makes N queue pairs, says so, prints events, until standard input ends. */
static int do_hold(char **arguments)
{
	struct ibv_context *context = open_device(arguments[0]);
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = context->async_fd, .events = POLLIN },
	};
	struct ibv_async_event event;

	if (arguments[1] && arguments[2])
		make_qps(context, atoi(arguments[1]), atoi(arguments[2]));
	puts("open");
	while (poll(fds, 2, -1) > 0 && !fds[0].revents)
		if (!ibv_get_async_event(context, &event)) {
			printf("event %d port %d\n", event.event_type, event.element.port_num);
			ibv_ack_async_event(&event);
		}
	return ibv_close_device(context);
}

/*
 * atomic DEVICE ROUNDS: a child sets lid and sm_lid of both ports of the
 * device to one number in one command; no query may see two numbers. Also,
 * refused commands in between must not be seen at all.
 */
static int do_atomic(char **arguments)
{
	struct ibv_context *context = open_device(arguments[0]);
	int rounds = atoi(arguments[1]), changes = 0, last = -1;
	struct ibv_port_attr a;
	char text[256];
	pid_t writer = fork();

	if (writer < 0)
		die("fork");
	if (!writer)
		for (unsigned int n = 1;; n = n % 40000 + 1) {
			snprintf(text, sizeof(text), "set %s/all lid=%u state=3 sm_lid=%u state=4",
				 arguments[0], n, n);
			if (control(text))
				die(text);
			snprintf(text, sizeof(text),
				 "set %s/all lid=50000 sm_lid=50000 pkey.5000=1", arguments[0]);
			if (control(text) != ERANGE)
				die(text);
		}
	for (int i = 0; i < rounds; i++) {
		if (ibv_query_port(context, 1 + i % 2, &a))
			die("ibv_query_port");
		if (a.lid != a.sm_lid || a.state != IBV_PORT_ACTIVE || a.lid >= 50000) {
			printf("torn: lid %u, sm_lid %u, state %d\n", a.lid, a.sm_lid, a.state);
			kill(writer, SIGKILL);
			return 1;
		}
		changes += a.lid != last;
		last = a.lid;
	}
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	printf("%d queries saw %d changes\n", rounds, changes);
	return changes < 2;
}

/* mlx5 DEVICE PORT: what mlx5dv_query_port() says. */
static int do_mlx5(char **arguments)
{
	struct ibv_context *context = open_device(arguments[0]);
	struct mlx5dv_port p = {};
	int ret = mlx5dv_query_port(context, atoi(arguments[1]), &p);

	if (ret) {
		puts(result(ret));
		return 1;
	}
	printf("flags=%#" PRIx64 " vport=%u vport_vhca_id=%u esw_owner_vhca_id=%u icm_rx=%#" PRIx64
	       " icm_tx=%#" PRIx64 " reg_c0=%#x/%#x\n",
	       (uint64_t)p.flags, p.vport, p.vport_vhca_id, p.esw_owner_vhca_id,
	       (uint64_t)p.vport_steering_icm_rx, (uint64_t)p.vport_steering_icm_tx, p.reg_c0.value,
	       p.reg_c0.mask);
	return 0;
}

struct request {
	uint16_t object;
	uint16_t method;
	uint16_t n;
	struct ib_uverbs_attr attributes[2];
};

static int uverbs(int fd, const struct request *request)
{
	struct ib_uverbs_ioctl_hdr *header;
	size_t len = sizeof(*header) + request->n * sizeof(request->attributes[0]);
	int err;

	header = calloc(1, len);
	if (!header)
		die("calloc");
	header->length = len;
	header->object_id = request->object;
	header->method_id = request->method;
	header->num_attrs = request->n;
	header->driver_id = HBL_DRIVER_ID;
	memcpy(header->attrs, request->attributes, request->n * sizeof(request->attributes[0]));
	err = ioctl(fd, RDMA_VERBS_IOCTL, header) ? errno : 0;
	free(header);
	return err;
}

static int get_context(int fd)
{
	uint32_t vectors;
	struct request request = {
		.object = UVERBS_OBJECT_DEVICE,
		.method = UVERBS_METHOD_GET_CONTEXT,
		.n = 1,
		.attributes = { {
			.attr_id = UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS,
			.len = sizeof(vectors),
			.data = (uintptr_t)&vectors,
		} },
	};

	return uverbs(fd, &request);
}

static int query_hbl(int fd, uint32_t port)
{
	struct {
		uint32_t port, reserved;
	} in = { .port = port };
	struct {
		uint32_t u32[9];
		uint8_t u8[12];
	} out = {};
	struct request request = {
		.object = 0x1002,
		.method = 0x1001,
		.n = 2,
		.attributes = {
			{ .attr_id = 0x1000, .len = sizeof(in), .flags = UVERBS_ATTR_F_MANDATORY },
			{ .attr_id = 0x1001, .len = sizeof(out), .flags = UVERBS_ATTR_F_MANDATORY,
			  .data = (uintptr_t)&out },
		},
	};
	int err;

	memcpy(&request.attributes[0].data, &in, sizeof(in));
	err = uverbs(fd, &request);
	if (err)
		return err;
	for (int i = 0; i < 9; i++)
		printf("%u ", out.u32[i]);
	for (int i = 0; i < 6; i++)
		printf("%u%c", out.u8[i], i == 5 ? '\n' : ' ');
	return 0;
}

/*
 * hbl NODE PORT: opens the uverbs node without a library, gets the context,
 * queries, and tries to get a second context meanwhile. Three results.
 */
static int do_hbl(char **arguments)
{
	int first = open(arguments[0], O_RDWR), second = open(arguments[0], O_RDWR);

	if (first < 0 || second < 0)
		die(arguments[0]);
	printf("context %s\n", result(get_context(first)));
	printf("query %s\n", result(query_hbl(first, atoi(arguments[1]))));
	printf("second %s\n", result(get_context(second)));
	close(first);
	printf("again %s\n", result(get_context(second)));
	return 0;
}

/* Newer than Debian 12's headers. */
#define CMD_NEWDEV	26
#define CMD_DELDEV	27
#define ATTR_DEV_TYPE	99
#define DEVICE_TYPE_SMI 1

/* Sends an nldev command with the index of a device and, if NAME is not NULL, what "rdma dev add NAME type SMI" sends. */
static int nldev(int command, const char *index, const char *name)
{
	struct {
		struct nlmsghdr h;
		char attributes[256];
	} m = { .h = { .nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command),
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK } };
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
		char rest[512];
	} answer;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	uint32_t number = strtoul(index, NULL, 10);
	size_t len = 0;

#define PUT(id, data, size)                                                                  \
	do {                                                                                 \
		struct nlattr a = { .nla_len = NLA_HDRLEN + (size), .nla_type = (id) };      \
		memcpy(m.attributes + len, &a, sizeof(a));                                   \
		memcpy(m.attributes + len + NLA_HDRLEN, data, size);                         \
		len += NLA_ALIGN(a.nla_len);                                                 \
	} while (0)
	PUT(RDMA_NLDEV_ATTR_DEV_INDEX, &number, sizeof(number));
	if (name) {
		PUT(RDMA_NLDEV_ATTR_DEV_NAME, name, strnlen(name, 63) + 1);
		PUT(ATTR_DEV_TYPE, &(uint8_t){ DEVICE_TYPE_SMI }, 1);
	}
	m.h.nlmsg_len = NLMSG_HDRLEN + len;
	if (fd < 0 || send(fd, &m, m.h.nlmsg_len, 0) < 0 ||
	    recv(fd, &answer, sizeof(answer), 0) < (ssize_t)NLMSG_LENGTH(sizeof(answer.e)))
		die("NETLINK_RDMA");
	close(fd);
	puts(result(-answer.e.error));
	return 0;
}

/* plane NAME INDEX: makes a plane of that name below the device with that index. */
static int do_plane(char **arguments)
{
	return nldev(CMD_NEWDEV, arguments[1], arguments[0]);
}

/* unplane INDEX: removes the plane with that index. */
static int do_unplane(char **arguments)
{
	return nldev(CMD_DELDEV, arguments[0], NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int arguments;
		int (*run)(char **arguments);
	} commands[] = {
		{ "write", 1, do_write },   { "port", 2, do_port }, { "hold", 1, do_hold },
		{ "atomic", 2, do_atomic }, { "mlx5", 2, do_mlx5 }, { "hbl", 2, do_hbl },
		{ "plane", 2, do_plane },   { "unplane", 1, do_unplane },
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (argc >= 2 + commands[i].arguments && !strcmp(argv[1], commands[i].name))
			return commands[i].run(argv + 2);
	fprintf(stderr, "usage: see self-test-helper.c\n");
	return 2;
}
