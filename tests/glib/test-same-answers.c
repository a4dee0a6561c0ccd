/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The port and the GID that a name means: rdmad, librdmad, librdmad-glib and rdmactl agree. */

#include "env.h"
#include "rdmad.h"

#define SCENARIO                                                                                   \
	"[device mlx5_bond_0]\nindex = 1\nprotocol = roce\npci_address = 0000:c1:00.0\n"           \
	"[port mlx5_bond_0/1]\nnetdev = ens1f0np0 10\naltnames = lag0\n"                           \
	"netdev_address = 02:00:5e:00:53:71\nnetdev_master = bond0\nbond_ifindex = 30\n"           \
	"bond_member.10 = ens1f0np0\n"                                                             \
	"gid.0 = fe80::9 v1 bond0 30\ngid.1 = fe80::9 v2 bond0 30\n"                               \
	"gid.2 = 198.51.100.7 v1 bond0.66 31 vlan=66\n"                                            \
	"gid.3 = 198.51.100.7 v2 bond0.66 31 vlan=66\n"                                            \
	"gid.4 = 192.0.2.7 v1 bond0 30\ngid.5 = 192.0.2.7 v2 bond0 30\n"                           \
	"gid.6 = 192.0.2.8 v2 macvlan0 32\ngid.7 = fe80::9 v2 bond0.66 31 vlan=66\n"               \
	"[device mlx5_0]\nindex = 2\nprotocol = infiniband\nnode_guid = 0x5500\n"                  \
	"[port mlx5_0/1]\nnetdev = ib0 9\naltnames = ibp193s0\n"                                   \
	"addresses = 203.0.113.9 fd00:9::9\ngid.0 = fe80::5501\ngid.1 = fd00::5501\n"              \
	"[device mlx5_2]\nindex = 3\nprotocol = roce\nfunction = vf\nfunction_number = 0\n"        \
	"physical_function = 0000:c1:00.0\n[port mlx5_2/1]\nnetdev = ens1f0v0 12\n"                \
	"netdev_address = 02:00:5e:00:53:72\n"                                                     \
	"gid.0 = fe80::72 v1\ngid.1 = fe80::72 v2\ngid.2 =\ngid.3 = 2001:db8::72 v2\n"             \
	"[device iwp1]\nindex = 4\nprotocol = iwarp\n[port iwp1/1]\nnetdev = ens2f4 14\n"          \
	"addresses = 203.0.113.65\n"

/* How the libraries are asked: they take addresses and interfaces, and ports that were found. PART:
 * the name means a part of the port, and they are told the port alone. */
typedef enum Kind { NAME, PART, INTERFACE, ADDRESS } Kind;

typedef struct Case {
	const char *text;
	Kind kind;
	const char *device;
	uint32_t index; /* of the GID */
} Case;

static const Case cases[] = {
	{"mlx5_bond_0", NAME, "mlx5_bond_0", 5},
	{"mlx5_bond_0/1", NAME, "mlx5_bond_0", 5},
	{"mlx5_bond_0:1", NAME, "mlx5_bond_0", 5},
	{"c1:00.0", NAME, "mlx5_bond_0", 5},
	{"02:00:5e:00:53:71", NAME, "mlx5_bond_0", 5},
	{"10", NAME, "mlx5_bond_0", 5},
	{"30", NAME, "mlx5_bond_0", 5},
	{"31", PART, "mlx5_bond_0", 3},
	{"ens1f0np0", INTERFACE, "mlx5_bond_0", 5},
	{"lag0", INTERFACE, "mlx5_bond_0", 5},
	{"bond0", INTERFACE, "mlx5_bond_0", 5},
	{"bond0.66", INTERFACE, "mlx5_bond_0", 3},
	{"macvlan0", INTERFACE, "mlx5_bond_0", 6},
	{"192.0.2.7", ADDRESS, "mlx5_bond_0", 5},
	{"::ffff:192.0.2.7", ADDRESS, "mlx5_bond_0", 5},
	{"192.0.2.7%bond0", ADDRESS, "mlx5_bond_0", 5},
	{"192.0.2.8", ADDRESS, "mlx5_bond_0", 6},
	{"198.51.100.7", ADDRESS, "mlx5_bond_0", 3},
	{"fe80::9", ADDRESS, "mlx5_bond_0", 1},
	{"fe80::9%bond0.66", ADDRESS, "mlx5_bond_0", 7},
	{"fe80::9%31", ADDRESS, "mlx5_bond_0", 7},
	{"192.0.2.0/28", NAME, "mlx5_bond_0", 5},
	{"mlx5_0", NAME, "mlx5_0", 0},
	{"0x5500", NAME, "mlx5_0", 0},
	{"80:00:02:08:fe:80:00:00:00:00:00:00:00:00:00:00:00:00:55:01", NAME, "mlx5_0", 0},
	{"ib0", INTERFACE, "mlx5_0", 0},
	{"ibp193s0", INTERFACE, "mlx5_0", 0},
	{"203.0.113.9", ADDRESS, "mlx5_0", 0},
	{"203.0.113.9%ib0", ADDRESS, "mlx5_0", 0},
	{"203.0.113.9%ibp193s0", ADDRESS, "mlx5_0", 0},
	{"fd00:9::9", ADDRESS, "mlx5_0", 0},
	{"203.0.113.0/26", NAME, "mlx5_0", 0},
	{"mlx5_2", NAME, "mlx5_2", 3},
	{"ens1f0v0", INTERFACE, "mlx5_2", 3},
	{"2001:db8::72", ADDRESS, "mlx5_2", 3},
	{"2001:db8::/32", NAME, "mlx5_2", 3},
	{"fe80::72", ADDRESS, "mlx5_2", 1},
	{"iwp1", NAME, "iwp1", 0},
	{"ens2f4", INTERFACE, "iwp1", 0},
	{"203.0.113.65", ADDRESS, "iwp1", 0},
};

static void assert_answer(const Case *c, const char *who, const char *device, uint32_t index)
{
	if (!streq(device, c->device) || index != c->index)
		fail_msg("%s: %s says %s and GID %u, not %s and %u", c->text, who, device, index,
			 c->device, c->index);
}

/* The libraries are asked for a GID of the port, and then for one of any port. */
static unsigned int n_questions(const Case *c)
{
	return c->kind == INTERFACE || c->kind == ADDRESS ? 2 : 1;
}

/* The only port that rdmad finds. */
static void ask_rdmad(Env *e, const Case *c)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) found =
		rdmad_client_find_ports_sync(e->l->client, RDMAD_LOOKUP_ANY, c->text, NULL, &error);
	const RdmadPortMatch *m;

	if (!found || found->len != 1)
		fail_msg("%s: rdmad finds %u ports", c->text, found ? found->len : 0);
	m = found->pdata[0];
	assert_true(m->has_gid);
	assert_answer(c, "rdmad", rdmad_object_get_string(RDMAD_OBJECT(m->port), "device-name"),
		      m->gid_index);
}

static void ask_librdmad(const struct rdmad *r, const Case *c)
{
	const char *address = c->kind == ADDRESS ? c->text : NULL;
	const char *netdev = c->kind == INTERFACE ? c->text : NULL;
	struct rdmad_gid g = {};
	struct rdmad_handle h;
	struct rdmad_port p;
	int e = rdmad_find_any(r, c->text, &h);

	for (unsigned int i = 0; i < n_questions(c) && e == 0; i++) {
		e = rdmad_find_gid(r, i == 0 ? &h : NULL, address, netdev, RDMAD_GID_ANY, &g);
		if (e == 0)
			e = rdmad_read(r, g.port, &p);
		if (e == 0 && c->kind != PART)
			assert_answer(c, "librdmad", p.device_name, g.index);
	}
	if (e < 0)
		fail_msg("%s: librdmad: %s", c->text, rdmad_strerror(e));
}

static void ask_glib(Env *e, const Case *c)
{
	const char *address = c->kind == ADDRESS ? c->text : NULL;
	const char *netdev = c->kind == INTERFACE ? c->text : NULL;
	char name[80];

	snprintf(name, sizeof(name), "%s/1", c->device);
	for (unsigned int i = 0; i < n_questions(c); i++) {
		g_autoptr(GError) error = NULL;
		RdmadPort *port = i == 0 ? RDMAD_PORT(env_port(e, name)) : NULL;
		g_autoptr(RdmadGid) g = rdmad_client_find_gid_sync(
			e->l->client, port, address, netdev, RDMAD_GID_TYPE_ANY, NULL, &error);

		if (!g)
			fail_msg("%s: librdmad-glib: %s", c->text, error->message);
		if (c->kind != PART)
			assert_answer(c, "librdmad-glib",
				      rdmad_object_get_string(RDMAD_OBJECT(g->port), "device-name"),
				      g->index);
	}
}

/* The lines of rdmactl env are read as a shell would. Without an index the library has to take 0.
 */
static void ask_rdmactl(const Env *e, const Case *c)
{
	char command[512], line[256], device[80] = "none";
	uint32_t index = 0;
	FILE *p;

	snprintf(command, sizeof(command), "%s/cli/rdmactl env ofi '%s'", TEST_BUILD_DIR, c->text);
	setenv("DBUS_SYSTEM_BUS_ADDRESS", e->f->address, 1);
	p = popen(command, "r");
	assert_non_null(p);
	while (fgets(line, sizeof(line), p)) {
		(void)sscanf(line, "export FI_VERBS_DEVICE_NAME=%79s", device);
		(void)sscanf(line, "export FI_VERBS_GID_IDX=%u", &index);
	}
	assert_int_equal(pclose(p), 0);
	unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
	assert_answer(c, "rdmactl", device, index);
}

static void test_same(_unused_ void **state)
{
	_cleanup_env_ Env e = env_new(SCENARIO);
	struct rdmad *r = NULL;

	assert_int_equal(rdmad_open(e.f->address, &r), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ask_rdmad(&e, &cases[i]);
		ask_librdmad(r, &cases[i]);
		ask_glib(&e, &cases[i]);
		ask_rdmactl(&e, &cases[i]);
	}
	rdmad_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_same)};

	return log_run_tests(tests);
}
