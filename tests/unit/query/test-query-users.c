/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A query for the users of a device, from a kernel that the test plays: it has two ports with as
 * many datagrams of queue pairs as the test says, and each of them takes the time that it says.
 */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <fcntl.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "query-run.h"

#define ANSWER_USEC USEC_PER_SEC /* a quarter of it is for users */

static struct {
	uint64_t now_usec;
	uint64_t datagram_usec;	    /* how long one takes */
	unsigned int n_datagrams;   /* of each port, with one queue pair in each */
	unsigned int n_interrupted; /* as many dumps are */
	unsigned int n_until_way;   /* datagrams until something else waits; 0: nothing does */
	/* the dump under way */
	uint32_t sequence, port;
	uint16_t command;
	unsigned int n_sent;
	unsigned int n_read; /* datagrams of queue pairs in all */
	unsigned int n_dumps;
} kernel;

/* The kernel */

int socket(_unused_ int domain, _unused_ int type, _unused_ int protocol)
{
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, ret);
	*ret = (struct timespec){.tv_sec = (time_t)(kernel.now_usec / USEC_PER_SEC),
				 .tv_nsec = (long)(kernel.now_usec % USEC_PER_SEC) * 1000};
	return 0;
}

ssize_t send(_unused_ int fd, const void *buffer, size_t size, _unused_ int flags)
{
	struct nlmsghdr *h = CONST_CAST(struct nlmsghdr *, buffer);
	struct nlattr *port = nlmsg_find_attr(h, 0, RDMA_NLDEV_ATTR_PORT_INDEX);

	kernel.sequence = h->nlmsg_seq;
	kernel.command = h->nlmsg_type & 0x3ff;
	/* a request without a port is about all */
	kernel.port = port ? nla_get_u32(port) : 0;
	kernel.n_sent = 0;
	kernel.n_dumps += kernel.command == RDMA_NLDEV_CMD_RES_QP_GET;
	return (ssize_t)size;
}

static void put_qp(struct nl_msg *m)
{
	struct nlattr *table = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP);
	struct nlattr *entry = nla_nest_start(m, RDMA_NLDEV_ATTR_RES_QP_ENTRY);

	/* each port has a process of its own */
	nla_put_u32(m, RDMA_NLDEV_ATTR_RES_PID, 4710 + kernel.port);
	nla_nest_end(m, entry);
	nla_nest_end(m, table);
}

static struct nl_msg *next_message(void)
{
	bool dump = kernel.command == RDMA_NLDEV_CMD_RES_QP_GET;
	bool done = dump && kernel.n_sent == kernel.n_datagrams;
	int type = done ? NLMSG_DONE : RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, kernel.command);
	struct nl_msg *m = nlmsg_alloc_simple(type, dump ? NLM_F_MULTI : 0);

	nlmsg_hdr(m)->nlmsg_seq = kernel.sequence;
	if (done) {
		kernel.n_interrupted -= kernel.n_interrupted > 0;
		return m;
	}
	nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, 5);
	nla_put_string(m, RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
	nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, dump ? kernel.port : 2);
	if (dump) {
		if (kernel.n_interrupted > 0)
			nlmsg_hdr(m)->nlmsg_flags |= NLM_F_DUMP_INTR;
		put_qp(m);
		kernel.now_usec += kernel.datagram_usec;
		kernel.n_sent++;
		kernel.n_read++;
	}
	return m;
}

ssize_t recvmsg(_unused_ int fd, struct msghdr *to, _unused_ int flags)
{
	struct nl_msg *m = next_message();
	size_t size = nlmsg_hdr(m)->nlmsg_len;

	assert_true(size <= to->msg_iov[0].iov_len);
	memcpy(to->msg_iov[0].iov_base, nlmsg_hdr(m), size);
	memset(to->msg_name, 0, to->msg_namelen);
	to->msg_flags = 0;
	nlmsg_free(m);
	return (ssize_t)size;
}

static bool gives_way(_unused_ void *userdata)
{
	return kernel.n_until_way && kernel.n_read >= kernel.n_until_way;
}

/* The answer */

static struct {
	unsigned int n; /* ports */
	int error[2];
	uint32_t qps[2], pid[2];
	bool supplied[2];
	unsigned int n_ends;
	int end;
} answer;

static int on_device(_unused_ void *userdata, _unused_ const Query *q,
		     _unused_ const DeviceSnapshot *s)
{
	fail_msg("the device was not asked for");
	return 0;
}

static int on_port(_unused_ void *userdata, _unused_ const Query *q, uint32_t port, int error,
		   const PortSnapshot *s, _unused_ bool last)
{
	unsigned int i = port - 1;

	assert_int_equal(port, ++answer.n);
	assert_true(i < 2);
	answer.error[i] = error;
	answer.supplied[i] = mask_has(&s->supplied, PORT_ATTR_users);
	TABLE_FOREACH(HolderEntry, e, s->tables[PORT_TABLE_USERS]) {
		answer.qps[i] += e->qps;
		answer.pid[i] = e->pid;
	}
	return 0;
}

static int on_end(_unused_ void *userdata, _unused_ const Query *q, int error,
		  _unused_ bool library_failed, _unused_ const char *text)
{
	answer.n_ends++;
	answer.end = error;
	return 0;
}

static void ask(void)
{
	static const Sink sink = {on_device, on_port, on_end, NULL};
	Query q = {.id = 1, .device = 5, .name = "mlx5_0", .kind = QUERY_USERS};
	Querier querier;

	memset(&answer, 0, sizeof(answer));
	port_set_add(&q.ports, 1);
	port_set_add(&q.ports, 2);
	assert_int_equal(querier_init(&querier, &(PolicyOptions){}, ANSWER_USEC), 0);
	querier.gives_way = gives_way;
	assert_int_equal(query_run(&querier, &q, &sink), 0);
	querier_done(&querier);
	/* whatever happens, each port is answered, and the query has no error */
	assert_int_equal(answer.n, 2);
	assert_int_equal(answer.n_ends, 1);
	assert_int_equal(answer.end, 0);
	assert_true(answer.supplied[0] && answer.supplied[1]);
}

static int setup(_unused_ void **state)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.now_usec = USEC_PER_SEC;
	kernel.n_datagrams = 3;
	return 0;
}

static void test_ports(_unused_ void **state)
{
	ask();
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(answer.error[i], 0);
		assert_int_equal(answer.qps[i], 3);
		assert_int_equal(answer.pid[i], 4711 + i);
	}
	assert_int_equal(kernel.n_dumps, 2);
}

/* A dump that was interrupted is asked for again, and what it had said does not count. */
static void test_interrupted(_unused_ void **state)
{
	kernel.n_interrupted = 2;
	ask();
	assert_int_equal(kernel.n_dumps, 4);
	assert_int_equal(answer.error[0], 0);
	assert_int_equal(answer.qps[0], 3);
	assert_int_equal(answer.qps[1], 3);
}

/* The time is that of the whole query: 250 ms, and no more for a second port. */
static void test_limit(_unused_ void **state)
{
	kernel.n_datagrams = 1000;
	kernel.datagram_usec = 60 * USEC_PER_MSEC;
	ask();
	/* the one that goes over the limit is the last */
	assert_int_equal(kernel.n_read, 5);
	assert_int_equal(answer.error[0], -ETIME);
	assert_int_equal(answer.qps[0], 5);
	assert_int_equal(answer.error[1], -ETIME);
	assert_int_equal(answer.qps[1], 0);

	/* what the first port leaves is the second's */
	setup(NULL);
	kernel.datagram_usec = 60 * USEC_PER_MSEC;
	ask();
	assert_int_equal(kernel.n_read, 5);
	assert_int_equal(answer.error[0], 0);
	assert_int_equal(answer.qps[0], 3);
	assert_int_equal(answer.error[1], -ETIME);
	assert_int_equal(answer.qps[1], 2);
}

/* Something else is to be asked: nothing more is read, of this port and of the next. */
static void test_gives_way(_unused_ void **state)
{
	kernel.n_until_way = 2;
	ask();
	assert_int_equal(kernel.n_read, 2);
	assert_int_equal(kernel.n_dumps, 1);
	assert_int_equal(answer.error[0], -ETIME);
	assert_int_equal(answer.qps[0], 2);
	assert_int_equal(answer.error[1], -ETIME);
	assert_int_equal(answer.qps[1], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_ports, setup),
		cmocka_unit_test_setup(test_interrupted, setup),
		cmocka_unit_test_setup(test_limit, setup),
		cmocka_unit_test_setup(test_gives_way, setup),
	};

	return cmocka_run_group_tests_name("query-users", tests, NULL, NULL);
}
