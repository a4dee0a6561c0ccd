/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is taken of the answers of systemd-networkd, and how it is asked, with one that the test
 * plays. The first answer is one of systemd 257, of which only names are changed. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"
#include "networkd.h"
#include "util.h"

#define NOW_USEC 77U

static const char real[] =
	"{\"parameters\":{\"Neighbors\":[{\"InterfaceIndex\":3,\"InterfaceName\":\"eth7\","
	"\"Neighbors\":[{\"ChassisID\":\"02:00:00:00:00:01\",\"RawChassisID\":[4,2,0,0,0,0,1],"
	"\"PortID\":\"Ethernet12/1\",\"RawPortID\":[5,69,116,104],\"PortDescription\":\"to "
	"node17\","
	"\"SystemName\":\"leaf-r07-a\",\"EnabledCapabilities\":20,\"VlanID\":7}]}]}}";

static struct {
	Neighbor got[4];
	size_t n_got;
	int answer; /* of who is told */
} told;

static int on_neighbor(void *userdata, const Neighbor *n)
{
	assert_ptr_equal(userdata, &told);
	assert_true(told.n_got < ARRAY_SIZE(told.got));
	told.got[told.n_got++] = *n;
	return told.answer;
}

static int setup(_unused_ void **state)
{
	memset(&told, 0, sizeof(told));
	return 0;
}

static int parse(const char *answer)
{
	return networkd_parse(answer, strlen(answer), NOW_USEC, on_neighbor, &told);
}

/* An answer with these INTERFACES */
static int parse_interfaces(const char *interfaces)
{
	char answer[1000];

	told.n_got = 0;
	snprintf(answer, sizeof(answer), "{\"parameters\":{\"Neighbors\":[%s]}}", interfaces);
	return parse(answer);
}

static void assert_leaf(const Neighbor *n)
{
	assert_string_equal(n->interface, "eth7");
	assert_string_equal(n->system, "leaf-r07-a");
	assert_string_equal(n->port, "Ethernet12/1");
	assert_string_equal(n->port_text, "to node17");
	assert_string_equal(n->chassis, "02:00:00:00:00:01");
	assert_int_equal(n->vlan, 7);
	/* it does not say these */
	assert_string_equal(n->address, "");
	assert_int_equal(n->frame, 0);
	assert_int_equal(n->pfc, -1);
	assert_int_equal(n->ets, UINT64_MAX);
}

static void test_real(_unused_ void **state)
{
	assert_int_equal(parse(real), 0);
	assert_int_equal(told.n_got, 1);
	assert_leaf(&told.got[0]);
	assert_int_equal(told.got[0].since_usec, NOW_USEC);
}

/* What is missing, null or of another type is not said. */
static void test_nothing(_unused_ void **state)
{
	assert_int_equal(parse_interfaces(""), 0);
	assert_int_equal(parse_interfaces("{\"InterfaceName\":\"eth7\"}, 7, null, {}, []"), 0);
	assert_int_equal(parse_interfaces("{\"InterfaceName\":\"eth7\",\"Neighbors\":[]}"), 0);
	assert_int_equal(parse_interfaces("{\"InterfaceName\":7,\"Neighbors\":[{}]}"), 0);
	assert_int_equal(parse_interfaces("{\"Neighbors\":[{}]}"), 0);
	assert_int_equal(told.n_got, 0);
	assert_int_equal(parse_interfaces("{\"InterfaceName\":\"eth7\",\"Neighbors\":[{\"PortID\":"
					  "null,\"ChassisID\":[1],\"VlanID\":\"7\"}]}"),
			 0);
	assert_int_equal(told.n_got, 1);
	assert_string_equal(told.got[0].interface, "eth7");
	assert_string_equal(told.got[0].port, "");
	assert_string_equal(told.got[0].chassis, "");
	assert_int_equal(told.got[0].vlan, 0);
}

static uint32_t vlan(const char *number)
{
	char interfaces[100];

	snprintf(interfaces, sizeof(interfaces),
		 "{\"InterfaceName\":\"eth7\",\"Neighbors\":[{\"VlanID\":%s}]}", number);
	assert_int_equal(parse_interfaces(interfaces), 0);
	assert_int_equal(told.n_got, 1);
	return told.got[0].vlan;
}

static void test_numbers(_unused_ void **state)
{
	assert_int_equal(vlan("1"), 1);
	assert_int_equal(vlan("4094"), 4094);
	assert_int_equal(vlan("4095"), 0);
	assert_int_equal(vlan("0"), 0);
	assert_int_equal(vlan("-1"), 0);
	assert_int_equal(vlan("4294967297"), 0); /* 1, if it were cut to 32 bits */
	assert_int_equal(vlan("9223372036854775807"), 0);
}

/* A terminal obeys what a switch says, unless that is taken out. */
static void test_texts(_unused_ void **state)
{
	assert_int_equal(
		parse_interfaces(
			"{\"InterfaceName\":\"et\\u001bh\",\"Neighbors\":[{\"SystemName\":"
			"\"a\\u001bb\",\"PortID\":\"12345678901234567890123456789012345678901234567"
			"89012345678901234567890123\",\"PortDescription\":\"x\\u0000y\"}]}"),
		0);
	assert_string_equal(told.got[0].interface, "et?h");
	assert_string_equal(told.got[0].system, "a?b");
	assert_int_equal(strlen(told.got[0].port), sizeof(AttrText) - 1);
	assert_string_equal(told.got[0].port_text, "x");
	/* no interface has so long a name */
	assert_int_equal(
		parse_interfaces("{\"InterfaceName\":\"e123456789012345\",\"Neighbors\":[{}]}"), 0);
	assert_int_equal(told.n_got, 0);
	assert_int_equal(
		parse_interfaces("{\"InterfaceName\":\"e12345678901234\",\"Neighbors\":[{}]}"), 0);
	assert_int_equal(told.n_got, 1);
}

/* Of several on one link the same one each time, whatever their order is. */
static void test_several(_unused_ void **state)
{
	static const char *const systems[] = {
		"{\"ChassisID\":\"b\",\"PortID\":\"1\"}",
		"{\"ChassisID\":\"a\",\"PortID\":\"2\"}",
		"{\"ChassisID\":\"a\",\"PortID\":\"3\"}",
	};
	char interfaces[200];

	for (size_t i = 0; i < 6; i++) {
		size_t a = i % 3, b = (a + 1 + i / 3) % 3, c = 3 - a - b;

		snprintf(interfaces, sizeof(interfaces),
			 "{\"InterfaceName\":\"eth7\",\"Neighbors\":[%s,%s,%s]}", systems[a],
			 systems[b], systems[c]);
		assert_int_equal(parse_interfaces(interfaces), 0);
		assert_int_equal(told.n_got, 1);
		assert_string_equal(told.got[0].chassis, "a");
		assert_string_equal(told.got[0].port, "2");
	}
	/* of two that are alike the first */
	assert_int_equal(
		parse_interfaces("{\"InterfaceName\":\"eth7\",\"Neighbors\":["
				 "{\"ChassisID\":\"a\",\"PortID\":\"1\",\"SystemName\":\"x\"},"
				 "{\"ChassisID\":\"a\",\"PortID\":\"1\",\"SystemName\":\"y\"}]}"),
		0);
	assert_string_equal(told.got[0].system, "x");
	/* and of each link one */
	assert_int_equal(parse_interfaces("{\"InterfaceName\":\"eth1\",\"Neighbors\":[{}]},"
					  "{\"InterfaceName\":\"eth2\",\"Neighbors\":[{}]}"),
			 0);
	assert_int_equal(told.n_got, 2);
	assert_string_equal(told.got[1].interface, "eth2");
	told.answer = -ENOBUFS;
	assert_int_equal(parse_interfaces("{\"InterfaceName\":\"eth1\",\"Neighbors\":[{}]},"
					  "{\"InterfaceName\":\"eth2\",\"Neighbors\":[{}]}"),
			 -ENOBUFS);
	assert_int_equal(told.n_got, 1);
}

static void test_errors(_unused_ void **state)
{
	/* before systemd 257 */
	assert_int_equal(parse("{\"error\":\"org.varlink.service.MethodNotFound\",\"parameters\":"
			       "{\"method\":\"io.systemd.Network.GetLLDPNeighbors\"}}"),
			 0);
	assert_int_equal(parse("{\"error\":\"io.systemd.PermissionDenied\",\"parameters\":{}}"),
			 -EIO);
	assert_int_equal(parse(""), -EBADMSG);
	assert_int_equal(parse("{"), -EBADMSG);
	assert_int_equal(parse("7"), -EBADMSG);
	assert_int_equal(parse("{}"), -EBADMSG);
	assert_int_equal(parse("{\"parameters\":{\"Neighbors\":{}}}"), -EBADMSG);
	assert_int_equal(parse("{\"parameters\":[]}"), -EBADMSG);
	assert_int_equal(parse("{\"parameters\":{\"Neighbors\":[[[[[[[[[]]]]]]]]]}}"), -EBADMSG);
	assert_int_equal(parse("{\"parameters\":{\"Neighbors\":[\"\xff\"]}}"), -EBADMSG);
	assert_int_equal(told.n_got, 0);
}

/* systemd-networkd */
static struct {
	char directory[32], socket[64];
	int listener;
	const char *answer;
	size_t n_answer; /* how much of it is sent */
	char asked[100];
} peer;

static void *answer_once(_unused_ void *userdata)
{
	int fd = accept4(peer.listener, NULL, NULL, SOCK_CLOEXEC);
	size_t n = 0, half = peer.n_answer / 2;
	ssize_t r;

	while ((r = read(fd, peer.asked + n, sizeof(peer.asked) - n)) > 0)
		if (peer.asked[(n += (size_t)r) - 1] == '\0')
			break;
	/* in two parts; who asks may have left */
	(void)send(fd, peer.answer, half, MSG_NOSIGNAL);
	(void)send(fd, peer.answer + half, peer.n_answer - half, MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

static int ask(const char *answer, size_t n)
{
	pthread_t thread;
	int r;

	peer.answer = answer;
	peer.n_answer = n;
	told.n_got = 0;
	assert_int_equal(pthread_create(&thread, NULL, answer_once, NULL), 0);
	r = networkd_read(peer.socket, on_neighbor, &told);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_string_equal(peer.asked, "{\"method\":\"io.systemd.Network.GetLLDPNeighbors\"}");
	return r;
}

static int setup_peer(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(peer.directory, sizeof(peer.directory), "/tmp/networkd-XXXXXX");
	assert_non_null(mkdtemp(peer.directory));
	snprintf(peer.socket, sizeof(peer.socket), "%s/socket", peer.directory);
	text_copy(address.sun_path, sizeof(address.sun_path), peer.socket);
	peer.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(peer.listener >= 0);
	assert_int_equal(bind(peer.listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(peer.listener, 1), 0);
	return setup(state);
}

static int teardown_peer(_unused_ void **state)
{
	close(peer.listener);
	(void)unlink(peer.socket);
	(void)rmdir(peer.directory);
	return 0;
}

static void test_socket(_unused_ void **state)
{
	_cleanup_free_ char *longest = malloc(NETWORKD_ANSWER_MAX);
	uint64_t begin = realtime_now_usec();

	assert_int_equal(ask(real, sizeof(real)), 0);
	assert_int_equal(told.n_got, 1);
	assert_leaf(&told.got[0]);
	assert_true(told.got[0].since_usec >= begin &&
		    told.got[0].since_usec <= realtime_now_usec());
	/* it ends in the middle */
	assert_int_equal(ask(real, sizeof(real) - 1), -ECONNRESET);
	assert_int_equal(ask(real, 0), -ECONNRESET);
	assert_int_equal(told.n_got, 0);
	/* an answer that has no end, and the longest one */
	assert_non_null(longest);
	memset(longest, ' ', NETWORKD_ANSWER_MAX);
	assert_int_equal(ask(longest, NETWORKD_ANSWER_MAX), -EMSGSIZE);
	memcpy(longest + NETWORKD_ANSWER_MAX - sizeof(real), real, sizeof(real));
	assert_int_equal(ask(longest, NETWORKD_ANSWER_MAX), 0);
	assert_int_equal(told.n_got, 1);
}

static void test_no_socket(_unused_ void **state)
{
	char path[200];

	assert_int_equal(networkd_read("/nonexistent/networkd", on_neighbor, &told), -ENOENT);
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(networkd_read(path, on_neighbor, &told), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_real, setup),
		cmocka_unit_test_setup(test_nothing, setup),
		cmocka_unit_test_setup(test_numbers, setup),
		cmocka_unit_test_setup(test_texts, setup),
		cmocka_unit_test_setup(test_several, setup),
		cmocka_unit_test_setup(test_errors, setup),
		cmocka_unit_test_setup_teardown(test_socket, setup_peer, teardown_peer),
		cmocka_unit_test_setup_teardown(test_no_socket, setup_peer, teardown_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
