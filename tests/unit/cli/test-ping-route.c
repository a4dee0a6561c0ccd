/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The question for a route, and what the answers of the kernel, which is this test, say. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include "ping-route.h"

/* One message under construction */
typedef struct Message {
	_Alignas(struct nlmsghdr) uint8_t bytes[512];
	size_t size;
} Message;

static Message asked, answer;
static int send_error, receive_error;

ssize_t __wrap_send(int fd, const void *data, size_t size, int flags);
ssize_t __wrap_send(_unused_ int fd, const void *data, size_t size, _unused_ int flags)
{
	assert_true(size <= sizeof(asked.bytes));
	memcpy(asked.bytes, data, size);
	asked.size = size;
	errno = send_error;
	return send_error ? -1 : (ssize_t)size;
}

ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags);
ssize_t __wrap_recv(_unused_ int fd, void *buffer, size_t size, _unused_ int flags)
{
	assert_true(answer.size <= size);
	memcpy(buffer, answer.bytes, answer.size);
	errno = receive_error;
	return receive_error ? -1 : (ssize_t)answer.size;
}

static void put(Message *m, const void *data, size_t size)
{
	assert_true(m->size + size <= sizeof(m->bytes));
	memcpy(m->bytes + m->size, data, size);
	m->size = NLMSG_ALIGN(m->size + size);
}

static void put_attribute(Message *m, unsigned short type, const void *data, size_t size)
{
	const struct rtattr a = {(unsigned short)RTA_LENGTH(size), type};

	put(m, &a, sizeof(a));
	put(m, data, size);
}

static void begin(Message *m, uint16_t type, unsigned char family)
{
	const struct nlmsghdr h = {.nlmsg_type = type};
	const struct rtmsg r = {.rtm_family = family};

	*m = (Message){};
	put(m, &h, sizeof(h));
	put(m, &r, sizeof(r));
}

static void end(Message *m)
{
	((struct nlmsghdr *)(void *)m->bytes)->nlmsg_len = (uint32_t)m->size;
}

static PingSocket address(const char *text, uint32_t scope)
{
	PingSocket s = {};
	bool v4 = !strchr(text, ':');

	s.any.sa_family = v4 ? AF_INET : AF_INET6;
	assert_int_equal(inet_pton(s.any.sa_family, text,
				   v4 ? (void *)&s.v4.sin_addr : (void *)&s.v6.sin6_addr),
			 1);
	if (!v4)
		s.v6.sin6_scope_id = scope;
	return s;
}

/* The route to TO, from FROM if that is not NULL. */
static int find(const PingSocket *to, const PingSocket *from, PingWay *ret)
{
	*ret = (PingWay){};
	ping_format_address(to, ret->address);
	return ping_find_route(to, from, ret);
}

static void expect_question(unsigned char family, uint8_t to_bits, uint8_t from_bits,
			    const Message *attributes)
{
	const struct nlmsghdr *h = (const void *)asked.bytes;
	const struct rtmsg *r = NLMSG_DATA(h);
	size_t begins = NLMSG_LENGTH(sizeof(*r));

	assert_int_equal(h->nlmsg_type, RTM_GETROUTE);
	assert_int_equal(h->nlmsg_flags, NLM_F_REQUEST);
	assert_int_equal(h->nlmsg_len, asked.size);
	assert_int_equal(r->rtm_family, family);
	assert_int_equal(r->rtm_dst_len, to_bits);
	assert_int_equal(r->rtm_src_len, from_bits);
	assert_int_equal(asked.size - begins, attributes->size);
	assert_memory_equal(asked.bytes + begins, attributes->bytes, attributes->size);
}

static void test_questions(_unused_ void **state)
{
	const PingSocket v4 = address("192.0.2.2", 0), from4 = address("192.0.2.1", 0),
			 v6 = address("2001:db8::2", 0), from6 = address("2001:db8::1", 0),
			 local = address("fe80::2", 3);
	const uint32_t three = 3;
	Message m;
	PingWay w;

	receive_error = EIO;
	m = (Message){};
	put_attribute(&m, RTA_DST, &v4.v4.sin_addr, 4);
	assert_int_equal(find(&v4, NULL, &w), -EIO);
	expect_question(AF_INET, 32, 0, &m);
	put_attribute(&m, RTA_SRC, &from4.v4.sin_addr, 4);
	assert_int_equal(find(&v4, &from4, &w), -EIO);
	expect_question(AF_INET, 32, 32, &m);
	m = (Message){};
	put_attribute(&m, RTA_DST, &v6.v6.sin6_addr, 16);
	put_attribute(&m, RTA_SRC, &from6.v6.sin6_addr, 16);
	assert_int_equal(find(&v6, &from6, &w), -EIO);
	expect_question(AF_INET6, 128, 128, &m);
	m = (Message){};
	put_attribute(&m, RTA_DST, &local.v6.sin6_addr, 16);
	put_attribute(&m, RTA_OIF, &three, 4);
	assert_int_equal(find(&local, NULL, &w), -EIO);
	expect_question(AF_INET6, 128, 0, &m);
	receive_error = 0;
	send_error = EPERM;
	assert_int_equal(find(&v4, NULL, &w), -EPERM);
	send_error = 0;
}

/* The first interface is that of the loop. */
static void test_answers(_unused_ void **state)
{
	const PingSocket to = address("192.0.2.2", 0), from = address("192.0.2.7", 0),
			 v6 = address("2001:db8::2", 0), gateway = address("192.0.2.254", 0),
			 gateway6 = address("fe80::1", 0), source = address("192.0.2.1", 0);
	const uint32_t one = 1, none = 0x7fffffff;
	char lo[IF_NAMESIZE];
	PingWay w;

	assert_non_null(if_indextoname(1, lo));
	begin(&answer, RTM_NEWROUTE, AF_INET);
	put_attribute(&answer, RTA_PREFSRC, &source.v4.sin_addr, 4);
	put_attribute(&answer, RTA_OIF, &one, 4);
	end(&answer);
	assert_int_equal(find(&to, NULL, &w), 0);
	assert_string_equal(w.netdev, lo);
	assert_string_equal(w.source, "192.0.2.1");
	/* without a gateway the peer is the next hop */
	assert_string_equal(w.hop, "192.0.2.2");
	assert_int_equal(find(&to, &from, &w), 0);
	assert_string_equal(w.source, "192.0.2.1");
	put_attribute(&answer, RTA_GATEWAY, &gateway.v4.sin_addr, 4);
	end(&answer);
	assert_int_equal(find(&to, NULL, &w), 0);
	assert_string_equal(w.hop, "192.0.2.254");
	/* what has another size says nothing */
	begin(&answer, RTM_NEWROUTE, AF_INET);
	put_attribute(&answer, RTA_GATEWAY, &gateway6.v6.sin6_addr, 16);
	put_attribute(&answer, RTA_PREFSRC, &gateway6.v6.sin6_addr, 16);
	put_attribute(&answer, RTA_OIF, "\1\0\0\0\0\0\0", 8);
	end(&answer);
	assert_int_equal(find(&to, &from, &w), -ENETUNREACH);
	assert_string_equal(w.hop, "192.0.2.2");
	assert_string_equal(w.source, "192.0.2.7");
	put_attribute(&answer, RTA_OIF, &one, 4);
	end(&answer);
	assert_int_equal(find(&to, NULL, &w), 0);
	/* an interface that has gone */
	begin(&answer, RTM_NEWROUTE, AF_INET6);
	put_attribute(&answer, RTA_GATEWAY, &gateway6.v6.sin6_addr, 16);
	put_attribute(&answer, RTA_OIF, &none, 4);
	end(&answer);
	assert_int_equal(find(&v6, NULL, &w), -ENETUNREACH);
	assert_string_equal(w.hop, "fe80::1");
}

static void test_bad_answers(_unused_ void **state)
{
	const PingSocket to = address("192.0.2.2", 0);
	struct nlmsgerr e = {.error = -ENETUNREACH};
	struct nlmsghdr h = {.nlmsg_type = NLMSG_ERROR, .nlmsg_len = NLMSG_LENGTH(sizeof(e))};
	PingWay w;

	answer = (Message){};
	put(&answer, &h, sizeof(h));
	put(&answer, &e, sizeof(e));
	assert_int_equal(find(&to, NULL, &w), -ENETUNREACH);
	/* too short, whatever its length says, and longer than what has come */
	answer.size = 0;
	assert_int_equal(find(&to, NULL, &w), -EBADMSG);
	begin(&answer, RTM_NEWROUTE, AF_INET);
	end(&answer);
	answer.size -= 4;
	assert_int_equal(find(&to, NULL, &w), -EBADMSG);
	end(&answer);
	assert_int_equal(find(&to, NULL, &w), -EBADMSG);
}

static void test_addresses(_unused_ void **state)
{
	PingSocket s = address("192.0.2.2", 0);
	char text[PING_ADDRESS_MAX] = "x";

	ping_format_address(&s, text);
	assert_string_equal(text, "192.0.2.2");
	s = address("2001:db8::2", 0);
	ping_format_address(&s, text);
	assert_string_equal(text, "2001:db8::2");
	s.any.sa_family = AF_NETLINK;
	ping_format_address(&s, text);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_questions),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_bad_answers),
		cmocka_unit_test(test_addresses),
	};

	return cmocka_run_group_tests_name("ping-route", tests, NULL, NULL);
}
