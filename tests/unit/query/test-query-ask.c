/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whom the query of a port asks: verbs, files and netlink, which are in this program, and what
 * their answers mean for it. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-port.h"
#include "query-sysfs.h"
#include "query-verbs.h"

#define PORT_1 1U

/* What is said, and how often each was asked. */
typedef struct Said {
	int verbs[2]; /* by the first context and the second */
	bool has_second, gone;
	int netlink, files, library;
	int isolated, opened; /* of the process that asks the library: its answer, and opening */
	unsigned int n_verbs, n_files, n_netlink, n_contexts;
} Said;

static Said said;
static struct ibv_context first, second;

int __wrap_verbs_query_port(struct ibv_context *context, uint32_t port, VerbsDevice *d,
			    PortSnapshot *s);
int __wrap_verbs_query_port(struct ibv_context *context, uint32_t port, _unused_ VerbsDevice *d,
			    PortSnapshot *s)
{
	int r = said.verbs[context == &second];

	assert_true(port <= VERBS_PORT_MAX);
	said.n_verbs++;
	if (r == 0) {
		PORT_SUPPLY(s, state, IBV_PORT_ACTIVE);
		PORT_SUPPLY(s, link_layer, IBV_LINK_LAYER_ETHERNET);
	}
	return r;
}

int __wrap_sysfs_supply_port(int device, uint32_t port, PortSnapshot *s);
int __wrap_sysfs_supply_port(_unused_ int device, _unused_ uint32_t port, PortSnapshot *s)
{
	said.n_files++;
	if (said.files == 0)
		PORT_SUPPLY(s, sm_sl, 3);
	return said.files;
}

int __wrap_nldev_get_port(Netlink *n, uint32_t index, uint32_t port, PortSnapshot *s);
int __wrap_nldev_get_port(_unused_ Netlink *n, uint32_t index, uint32_t port, PortSnapshot *s)
{
	assert_int_equal(index, 7);
	assert_true(port == PORT_1 || port > VERBS_PORT_MAX);
	said.n_netlink++;
	if (said.netlink == 0) {
		PORT_SUPPLY(s, state, IBV_PORT_DOWN);
		PORT_SUPPLY(s, ifindex, 0);
	}
	return said.netlink;
}

int __wrap_isolated_query(Isolated *p, const DvProvider *provider, uint32_t device, uint32_t port,
			  PortSnapshot *s);
int __wrap_isolated_query(_unused_ Isolated *p, _unused_ const DvProvider *provider,
			  _unused_ uint32_t device, _unused_ uint32_t port, PortSnapshot *s)
{
	s->open_error = said.opened;
	if (said.opened == 0 && said.isolated != -EIO)
		PORT_SUPPLY(s, max_mtu, IBV_MTU_4096);
	PORT_SUPPLY(s, in_use, said.opened == -EBUSY);
	return said.isolated;
}

bool __wrap_target_is_gone(Target *t);
bool __wrap_target_is_gone(_unused_ Target *t)
{
	return said.gone;
}

void __wrap_target_reopen(Target *t);
void __wrap_target_reopen(Target *t)
{
	said.n_contexts++;
	t->context = said.has_second ? &second : NULL;
	t->open_error = said.has_second ? 0 : -EACCES;
}

int __wrap_target_sysfs(Target *t);
int __wrap_target_sysfs(_unused_ Target *t)
{
	return -EBADF;
}

static int ask_library(_unused_ struct ibv_context *context, _unused_ uint32_t port,
		       _unused_ PortSnapshot *s)
{
	return said.library;
}

static const DvProvider library = {
	.name = "mlx5", .interface = INTERFACE_MLX5, .query_port = ask_library};

typedef struct Case {
	struct {
		bool has_context, is_isolated;
		int open_error;
		uint32_t port;
	} device;
	Said said;
	int error;
	int open_error; /* of the snapshot */
	bool failed;	/* verbs is to be tried again */
	uint32_t state;
} Case;

#define OPEN                                                                                       \
	{                                                                                          \
		true, false, 0, PORT_1                                                             \
	}
#define ASKED(verbs, files, netlink, contexts)                                                     \
	.n_verbs = verbs, .n_files = files, .n_netlink = netlink, .n_contexts = contexts

static const Case cases[] = {
	{OPEN, {ASKED(1, 1, 0, 0)}, 0, 0, false, IBV_PORT_ACTIVE},
	/* files say less than verbs, and their errors are no failure then */
	{OPEN, {.files = -EIO, ASKED(1, 1, 0, 0)}, 0, 0, false, IBV_PORT_ACTIVE},
	/* another context is asked after an error that may be that of the first */
	{OPEN,
	 {.verbs = {-EIO}, .has_second = true, ASKED(2, 1, 0, 1)},
	 0,
	 0,
	 false,
	 IBV_PORT_ACTIVE},
	{OPEN,
	 {.verbs = {-ENODEV}, .has_second = true, ASKED(2, 1, 0, 1)},
	 0,
	 0,
	 false,
	 IBV_PORT_ACTIVE},
	/* not after others, and not if the device has gone: then netlink is asked */
	{OPEN,
	 {.verbs = {-EINVAL}, .has_second = true, .netlink = -EINVAL, ASKED(1, 0, 1, 0)},
	 -EINVAL,
	 0,
	 false,
	 0},
	{OPEN,
	 {.verbs = {-EIO}, .has_second = true, .gone = true, .netlink = -EINVAL, ASKED(1, 0, 1, 0)},
	 -EIO,
	 0,
	 false,
	 0},
	/* no other context: the values of netlink and files, and why there are no others */
	{OPEN, {.verbs = {-EIO}, ASKED(1, 1, 2, 1)}, 0, -EACCES, false, IBV_PORT_DOWN},
	{OPEN, {.verbs = {-EPERM}, ASKED(1, 1, 2, 0)}, 0, 0, true, IBV_PORT_DOWN},
	/* there is no context, as the configuration wants it, or for this reason */
	{{false, false, 0, PORT_1}, {ASKED(0, 1, 2, 0)}, 0, -ECANCELED, false, IBV_PORT_DOWN},
	/* a process opens it, or cannot; it is not tried again, for the device may be in use */
	{{false, true, 0, PORT_1}, {ASKED(0, 1, 2, 0)}, 0, 0, false, IBV_PORT_DOWN},
	{{false, true, 0, PORT_1},
	 {.isolated = -EBUSY, .opened = -EBUSY, ASKED(0, 1, 2, 0)},
	 0,
	 -EBUSY,
	 false,
	 IBV_PORT_DOWN},
	{{false, false, -EBUSY, PORT_1}, {ASKED(0, 1, 2, 0)}, 0, -EBUSY, false, IBV_PORT_DOWN},
	{{false, false, 0, PORT_1}, {.netlink = -EINVAL, ASKED(0, 0, 1, 0)}, -EINVAL, 0, false, 0},
	{{false, false, 0, PORT_1}, {.files = -EIO, ASKED(0, 1, 1, 0)}, -EIO, -ECANCELED, false, 0},
	/* a port whose number verbs cannot say, and the last that it can */
	{{true, false, 0, 256}, {ASKED(0, 1, 2, 0)}, 0, -ERANGE, false, IBV_PORT_DOWN},
	{{true, false, 0, 255}, {.verbs = {0}, ASKED(1, 1, 0, 0)}, 0, 0, false, IBV_PORT_ACTIVE},
};

static int ask(const Case *c, unsigned int parts, Known *known, PortSnapshot *s)
{
	Querier querier = {.net = -EBADF};
	const Query q = {.parts = parts};
	Target t = {.querier = &querier,
		    .query = &q,
		    .device = 7,
		    .known = known,
		    .context = c->device.has_context ? &first : NULL,
		    .open_error = c->device.open_error,
		    .is_isolated = c->device.is_isolated};

	said = c->said;
	said.n_verbs = said.n_files = said.n_netlink = said.n_contexts = 0;
	return port_query(&t, c->device.port, s);
}

static Known known_infiniband(void)
{
	return (Known){.link_layers = 1U << IBV_LINK_LAYER_INFINIBAND, .dv = &library};
}

static void test_values(_unused_ void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const Case *c = &cases[i];
		Known known = known_infiniband();
		PortSnapshot s = {};
		int r = ask(c, READ_VERBS, &known, &s);

		if (r != c->error || said.n_verbs != c->said.n_verbs ||
		    said.n_files != c->said.n_files || said.n_netlink != c->said.n_netlink ||
		    said.n_contexts != c->said.n_contexts)
			fail_msg("case %zu: %d, asked %u %u %u %u", i, r, said.n_verbs,
				 said.n_files, said.n_netlink, said.n_contexts);
		if (c->error < 0)
			continue;
		assert_int_equal(s.open_error, c->open_error);
		assert_int_equal(s.failed, c->failed ? READ_VERBS : 0);
		assert_int_equal(s.values.state, c->state);
		assert_int_equal(mask_has(&s.supplied, PORT_ATTR_sm_sl), c->said.files == 0);
	}
}

/* Of a part without values of verbs, neither verbs nor files are asked. */
static void test_no_values(_unused_ void **state)
{
	Known known = known_infiniband();
	PortSnapshot s = {};

	assert_int_equal(ask(&cases[0], READ_DIRECT, &known, &s), 0);
	assert_int_equal(said.n_verbs + said.n_files + said.n_netlink, 0);
	assert_true(mask_is_empty(&s.supplied));
}

/* A device with ports of Ethernet is asked for their links from then on. */
static void test_ethernet(_unused_ void **state)
{
	Known known = known_infiniband();
	PortSnapshot s = {}, again = {};

	assert_int_equal(ask(&cases[0], READ_VERBS, &known, &s), 0);
	assert_int_equal(known.link_layers,
			 1U << IBV_LINK_LAYER_INFINIBAND | 1U << IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(ask(&cases[0], READ_VERBS, &known, &again), 0);
	assert_int_equal(said.n_netlink, 1);
}

static void assert_code(const PortSnapshot *s, PortAttr a, const char *expected)
{
	const Unavailable *why = port_unavailable(s, a);

	assert_string_equal(why ? why->code : "", expected ? expected : "");
}

/* An error of the vendor's library is said of the rows that it has, and is no reason to ask again.
 * That it or the kernel cannot tell is none. */
static void test_library(_unused_ void **state)
{
	static const struct {
		int error;
		const char *why;
	} errors[] = {
		{0, "not-reported"},
		{-EOPNOTSUPP, "not-reported"},
		{-EPROTONOSUPPORT, "not-reported"},
		{-EIO, "query-failed"},
		{-EINVAL, "query-failed"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		const Case c = {.device = OPEN, .said.library = errors[i].error};
		Known known = known_infiniband();
		PortSnapshot s = {};

		assert_int_equal(ask(&c, READ_DIRECT, &known, &s), 0);
		assert_int_equal(s.failed, 0);
		assert_code(&s, PORT_ATTR_vport, errors[i].why);
		assert_code(&s, PORT_ATTR_max_num_of_qps, "not-reported");
	}
}

/* A device with one user at a time: why it could not be opened, or what failed then. */
static void test_isolated(_unused_ void **state)
{
	static const DvProvider hbl = {.name = "hbl", .interface = INTERFACE_HBL};
	static const struct {
		int isolated, opened;
		const char *mtu, *library; /* NULL: there is a value */
	} answers[] = {
		{0, 0, NULL, "not-reported"},
		{-EBUSY, -EBUSY, "in-use", "in-use"},
		{-EPERM, -EPERM, "no-permission", "no-permission"},
		{-EOPNOTSUPP, -EOPNOTSUPP, "no-provider", "no-provider"},
		{-EPIPE, -EPIPE, "cannot-open", "cannot-open"},
		{-EBADMSG, 0, NULL, "query-failed"},
		{-EIO, 0, "query-failed", "query-failed"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		const Case c = {.device = {false, true, 0, PORT_1},
				.said.isolated = answers[i].isolated,
				.said.opened = answers[i].opened};
		const unsigned int either = i % 2 ? READ_VERBS : READ_DIRECT;
		const DeviceSnapshot device = {};
		Known known = known_infiniband();
		PortSnapshot s = {};

		known.dv = &hbl;
		assert_int_equal(ask(&c, either, &known, &s), 0);
		port_derive(&s, &device);
		/* one process opens the device for both */
		assert_int_equal(s.parts & (READ_VERBS | READ_DIRECT), READ_VERBS | READ_DIRECT);
		assert_int_equal(s.failed, 0);
		assert_code(&s, PORT_ATTR_max_mtu, answers[i].mtu);
		assert_code(&s, PORT_ATTR_max_num_of_qps, answers[i].library);
	}
}

/* A device that has not been opened for the query, for its interface alone, and one process opens
 * for both when the MTU of that has changed. */
static void test_isolated_later(_unused_ void **state)
{
	const Case c = {.device = {false, false, 0, PORT_1}};
	const unsigned int parts = READ_LINKS | READ_DCB;
	Known known = known_infiniband();
	PortSnapshot s = {}, again = {};

	known.policy = POLICY_ISOLATE;
	known.link.mtu = 9000;
	assert_int_equal(ask(&c, parts, &known, &s), 0);
	assert_int_equal(s.parts, parts | READ_VERBS | READ_DIRECT);
	assert_int_equal(ask(&c, parts, &known, &again), 0);
	assert_int_equal(again.parts, parts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),	       cmocka_unit_test(test_no_values),
		cmocka_unit_test(test_library),	       cmocka_unit_test(test_isolated),
		cmocka_unit_test(test_isolated_later), cmocka_unit_test(test_ethernet),
	};

	return cmocka_run_group_tests_name("query-ask", tests, NULL, NULL);
}
