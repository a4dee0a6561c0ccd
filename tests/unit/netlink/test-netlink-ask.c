/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is taken of the answer to a question over netlink, from a kernel that is the test itself. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <fcntl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "clock.h"
#include "query-genl.h"

#define SEQUENCE 7U /* of the question */
#define ITEM	 100U

/* One datagram, or an error of the socket. */
typedef struct Datagram {
	uint8_t bytes[512];
	size_t size;
	int error, flags;
	uint32_t from;
	socklen_t from_size;
} Datagram;

static struct {
	Datagram datagrams[8];
	size_t n, next;
	int send_errors[2]; /* of the first attempts to send */
	unsigned int n_sent, n_items, n_yielded;
	uint8_t question[512];
	size_t question_size;
	int handler_errors[4];
} net;

ssize_t __wrap_send(int fd, const void *bytes, size_t size, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t size, int flags)
{
	assert_int_equal(fd, 5);
	assert_int_equal(flags, 0);
	assert_true(size <= sizeof(net.question));
	memcpy(net.question, bytes, size);
	net.question_size = size;
	if (net.n_sent < ARRAY_SIZE(net.send_errors) && net.send_errors[net.n_sent]) {
		errno = net.send_errors[net.n_sent++];
		return -1;
	}
	net.n_sent++;
	return (ssize_t)size;
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags)
{
	const Datagram *d = &net.datagrams[net.next++];

	assert_int_equal(fd, 5);
	assert_int_equal(flags, 0);
	assert_int_equal(m->msg_iovlen, 1);
	/* whoever asks for more than there is would wait for ever */
	assert_true(net.next <= net.n);
	if (d->error) {
		errno = d->error;
		return -1;
	}
	assert_true(m->msg_iov->iov_len >= 65536 + 32768);
	memcpy(m->msg_iov->iov_base, d->bytes, d->size);
	((struct sockaddr_nl *)m->msg_name)->nl_pid = d->from;
	m->msg_namelen = d->from_size;
	m->msg_flags = d->flags;
	return (ssize_t)d->size;
}

static Datagram *add_datagram(void)
{
	Datagram *d = &net.datagrams[net.n++];

	assert_true(net.n <= ARRAY_SIZE(net.datagrams));
	*d = (Datagram){.from_size = sizeof(struct sockaddr_nl)};
	return d;
}

/* Adds a message with one number to D. */
static void put(Datagram *d, uint16_t type, uint16_t flags, uint32_t sequence, int number)
{
	struct nlmsghdr h = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct nlmsgerr)),
			     .nlmsg_type = type,
			     .nlmsg_flags = flags,
			     .nlmsg_seq = sequence};

	memcpy(d->bytes + d->size, &h, sizeof(h));
	memcpy(d->bytes + d->size + NLMSG_HDRLEN, &number, sizeof(number));
	d->size += NLMSG_ALIGN(h.nlmsg_len);
	assert_true(d->size < sizeof(d->bytes));
}

/* A datagram with one message that others follow. */
static void put_item(uint32_t sequence)
{
	put(add_datagram(), ITEM, NLM_F_MULTI, sequence, 0);
}

static void put_end(void)
{
	put(add_datagram(), NLMSG_DONE, NLM_F_MULTI, SEQUENCE, 0);
}

static int on_item(const struct nlmsghdr *h, void *userdata)
{
	assert_int_equal(h->nlmsg_type, ITEM);
	assert_ptr_equal(userdata, &net);
	return net.handler_errors[net.n_items++];
}

static int setup(_unused_ void **state)
{
	memset(&net, 0, sizeof(net));
	return 0;
}

static int ask_with(Netlink *n)
{
	struct nl_msg *m = nlmsg_alloc_simple(ITEM, NLM_F_DUMP);

	n->fd = 5;
	n->sequence = SEQUENCE - 1;
	return netlink_ask(n, m, on_item, &net);
}

static int ask(void)
{
	return ask_with(&(Netlink){});
}

static void test_dump(_unused_ void **state)
{
	const struct nlmsghdr *h = (const struct nlmsghdr *)(const void *)net.question;

	put_item(SEQUENCE - 1); /* of the question before */
	put_item(SEQUENCE);
	put(&net.datagrams[1], ITEM, NLM_F_MULTI, SEQUENCE, 0);
	put_item(SEQUENCE);
	put_end();
	put_item(SEQUENCE);
	assert_int_equal(ask(), 0);
	assert_int_equal(net.n_items, 3);
	assert_int_equal(net.next, 4);
	assert_int_equal(net.question_size, h->nlmsg_len);
	assert_int_equal(h->nlmsg_seq, SEQUENCE);
	assert_int_equal(h->nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
}

/* The answer about one thing is one message. */
static void test_one(_unused_ void **state)
{
	put(add_datagram(), ITEM, 0, SEQUENCE, 0);
	assert_int_equal(ask(), 0);
	assert_int_equal(net.n_items, 1);
	setup(NULL);
	put(add_datagram(), ITEM, 0, SEQUENCE, 0);
	net.handler_errors[0] = -EBADMSG;
	assert_int_equal(ask(), -EBADMSG);
}

/* The first error of the handler is that of the question, and all are handed over. */
static void test_handler_errors(_unused_ void **state)
{
	for (unsigned int i = 0; i < 3; i++)
		put_item(SEQUENCE);
	put(add_datagram(), NLMSG_ERROR, 0, SEQUENCE, -EIO);
	net.handler_errors[1] = -EBADMSG;
	net.handler_errors[2] = -ENOMEM;
	assert_int_equal(ask(), -EBADMSG);
	assert_int_equal(net.n_items, 3);
}

static void test_errors(_unused_ void **state)
{
	Datagram *d;

	put(add_datagram(), NLMSG_ERROR, 0, SEQUENCE, -ENODEV);
	assert_int_equal(ask(), -ENODEV);
	setup(NULL);
	put(add_datagram(), NLMSG_ERROR, 0, SEQUENCE, 0); /* an acknowledgement */
	assert_int_equal(ask(), 0);
	/* one that is too short to say which */
	setup(NULL);
	d = add_datagram();
	put(d, NLMSG_ERROR, 0, SEQUENCE, 0);
	((struct nlmsghdr *)(void *)d->bytes)->nlmsg_len = NLMSG_LENGTH(4);
	assert_int_equal(ask(), -EBADMSG);
	assert_int_equal(net.n_items, 0);
}

/* A list that changed while it was read is not complete; an error says more. */
static void test_interrupted(_unused_ void **state)
{
	put(add_datagram(), ITEM, NLM_F_MULTI | NLM_F_DUMP_INTR, SEQUENCE, 0);
	put_end();
	assert_int_equal(ask(), -EINTR);
	assert_int_equal(net.n_items, 1);
	setup(NULL);
	put(add_datagram(), ITEM, NLM_F_MULTI | NLM_F_DUMP_INTR, SEQUENCE, 0);
	put(add_datagram(), NLMSG_ERROR, 0, SEQUENCE, -EIO);
	assert_int_equal(ask(), -EIO);
}

/* Other programs can send to the socket too. */
static void test_senders(_unused_ void **state)
{
	put_item(SEQUENCE);
	net.datagrams[0].from = 1234;
	put_item(SEQUENCE);
	net.datagrams[1].from_size = 0;
	put_item(SEQUENCE);
	put_end();
	assert_int_equal(ask(), 0);
	assert_int_equal(net.n_items, 1);
}

static void test_receiving(_unused_ void **state)
{
	add_datagram()->error = EINTR;
	put_item(SEQUENCE);
	add_datagram(); /* with nothing in it */
	add_datagram()->error = ENOBUFS;
	assert_int_equal(ask(), -ENOBUFS);
	assert_int_equal(net.n_items, 1);
	assert_int_equal(net.next, 4);
	setup(NULL);
	put_item(SEQUENCE);
	net.datagrams[0].flags = MSG_TRUNC;
	assert_int_equal(ask(), -EMSGSIZE);
	assert_int_equal(net.n_items, 0);
}

static void test_sending(_unused_ void **state)
{
	net.send_errors[0] = net.send_errors[1] = EINTR;
	put_end();
	assert_int_equal(ask(), 0);
	assert_int_equal(net.n_sent, 3);
	setup(NULL);
	net.send_errors[0] = EPERM;
	assert_int_equal(ask(), -EPERM);
	assert_int_equal(net.n_sent, 1);
	assert_int_equal(net.next, 0);
}

static bool gives_way(void *userdata)
{
	return net.n_yielded++ == *(const unsigned int *)userdata;
}

/* The rest of a dump is not waited for after the deadline, or when something else waits. */
static void test_giving_up(_unused_ void **state)
{
	unsigned int second = 1;

	assert_int_equal(ask_with(&(Netlink){.deadline_usec = 1}), -ETIME);
	assert_int_equal(net.next, 0);
	put_end();
	assert_int_equal(
		ask_with(&(Netlink){.deadline_usec = monotonic_now_usec() + 3600 * USEC_PER_SEC}),
		0);
	setup(NULL);
	put_item(SEQUENCE);
	put_end();
	assert_int_equal(ask_with(&(Netlink){.gives_way = gives_way, .userdata = &second}), -ETIME);
	assert_int_equal(net.n_items, 1);
}

/* An open socket is used again, and a closed one is closed. */
static void test_open(_unused_ void **state)
{
	Netlink n = NETLINK_CLOSED;
	int fd;

	assert_int_equal(netlink_open(&n, NETLINK_ROUTE), 0);
	fd = n.fd;
	assert_true(fd >= 0);
	assert_int_equal(netlink_open(&n, NETLINK_ROUTE), 0);
	assert_int_equal(n.fd, fd);
	netlink_close(&n);
	assert_true(n.fd < 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(netlink_open(&n, 31), -EPROTONOSUPPORT);
	assert_true(n.fd < 0);
}

/* A family that the kernel does not have is asked for once. */
static void test_family(_unused_ void **state)
{
	Genl g = {.netlink = {.fd = 5, .sequence = SEQUENCE - 1}};

	put(add_datagram(), NLMSG_ERROR, 0, SEQUENCE, -ENOENT);
	assert_int_equal(genl_open(&g, "ethtool"), -EOPNOTSUPP);
	assert_int_equal(genl_open(&g, "ethtool"), -EOPNOTSUPP);
	assert_int_equal(net.n_sent, 1);
	/* another error is no answer */
	g = (Genl){.netlink = {.fd = 5, .sequence = SEQUENCE}};
	put(add_datagram(), NLMSG_ERROR, 0, SEQUENCE + 1, -EIO);
	assert_int_equal(genl_open(&g, "ethtool"), -EIO);
	assert_false(g.is_known);
	/* one that the kernel tells of is asked for once too */
	g = (Genl){.netlink = {.fd = 5, .sequence = SEQUENCE + 1}};
	put(add_datagram(), NLMSG_ERROR, 0, SEQUENCE + 2, 0);
	assert_int_equal(genl_open(&g, "ethtool"), 0);
	assert_true(g.is_known);
	/* one that is known */
	g = (Genl){.netlink = {.fd = 5}, .is_known = true, .family = {.id = 21}};
	assert_int_equal(genl_open(&g, "ethtool"), 0);
	assert_int_equal(net.n_sent, 3);
}

/* Without a descriptor nothing is known of the family. */
static void test_no_descriptor(_unused_ void **state)
{
	Genl g = {.netlink = NETLINK_CLOSED, .is_known = true, .family = {.id = 21}};
	struct rlimit all, none;
	int r;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	none = (struct rlimit){0, all.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	r = genl_open(&g, "ethtool");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	assert_int_equal(r, -EMFILE);
}

static void test_ethtool_request(_unused_ void **state)
{
	Genl g = {.family = {.id = 21}};
	struct nl_msg *m = genl_ethtool_request(&g, 9, 1, 6, 4);
	const struct nlmsghdr *h = nlmsg_hdr(m);
	const struct genlmsghdr *genl = nlmsg_data(h);
	struct nlattr *nest = nlmsg_find_attr(nlmsg_hdr(m), GENL_HDRLEN, 1);

	assert_int_equal(h->nlmsg_type, 21);
	assert_int_equal(h->nlmsg_flags, 0);
	assert_int_equal(genl->cmd, 9);
	assert_non_null(nest);
	assert_true(nest->nla_type & NLA_F_NESTED);
	assert_int_equal(
		nla_get_u32(nla_find(nla_data(nest), nla_len(nest), ETHTOOL_A_HEADER_DEV_INDEX)),
		6);
	assert_int_equal(
		nla_get_u32(nla_find(nla_data(nest), nla_len(nest), ETHTOOL_A_HEADER_FLAGS)), 4);
	nlmsg_free(m);
}

/* There is no memory for a message */
static bool no_memory;

struct nl_msg *__real_nlmsg_alloc_simple(int type, int flags);
struct nl_msg *__wrap_nlmsg_alloc_simple(int type, int flags);
struct nl_msg *__wrap_nlmsg_alloc_simple(int type, int flags)
{
	return no_memory ? NULL : __real_nlmsg_alloc_simple(type, flags);
}

static void test_no_memory(_unused_ void **state)
{
	Genl g = {.netlink = NETLINK_CLOSED, .family = {.id = 21}};

	no_memory = true;
	assert_null(genl_ethtool_request(&g, 9, 1, 6, 4));
	assert_int_equal(genl_ethtool_ask(&g, 9, 6, NULL, NULL), -ENOMEM);
	no_memory = false;
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_dump),	  TEST(test_one),	  TEST(test_handler_errors),
		TEST(test_errors),	  TEST(test_interrupted), TEST(test_senders),
		TEST(test_receiving),	  TEST(test_sending),	  TEST(test_giving_up),
		TEST(test_open),	  TEST(test_family),	  TEST(test_ethtool_request),
		TEST(test_no_descriptor), TEST(test_no_memory),
	};

	return cmocka_run_group_tests_name("netlink-ask", tests, NULL, NULL);
}
