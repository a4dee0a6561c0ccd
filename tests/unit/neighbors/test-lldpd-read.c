/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is taken of the atoms of liblldpctl, which is the test itself. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <dlfcn.h>
#include <lldpctl.h>

#include "lldpd.h"
#include "util.h"

#define KEYS_MAX  12U
#define ITEMS_MAX 80U

/* What an atom has under a key: one of these. */
typedef struct Member {
	lldpctl_key_t key;
	const char *text;
	long number;
	const void *bytes;
	size_t n_bytes;
	lldpctl_atom_t *atom;
} Member;

struct lldpctl_atom_t {
	Member members[KEYS_MAX];
	lldpctl_atom_t *items[ITEMS_MAX]; /* it is a list of these */
	size_t n_items;
};

static struct {
	lldpctl_atom_t *interfaces; /* NULL: lldpd does not answer */
	const char *socket;	    /* that was asked */
	const char *lacks;	    /* a function that the library does not have */
	int n_atoms, n_connections; /* that are held */
	bool no_library, no_connection, no_port;
	Neighbor got[4];
	size_t n_got;
	int answer; /* of who is told */
} net;

static lldpctl_atom_t *hold(lldpctl_atom_t *atom)
{
	net.n_atoms += atom != NULL;
	return atom;
}

static const Member *find(const lldpctl_atom_t *atom, lldpctl_key_t key)
{
	static const Member none = {.number = -1};

	for (size_t i = 0; i < KEYS_MAX; i++)
		if (atom->members[i].key == key)
			return &atom->members[i];
	return &none;
}

static lldpctl_conn_t *new_name(const char *name, _unused_ lldpctl_send_callback send,
				_unused_ lldpctl_recv_callback receive, _unused_ void *userdata)
{
	net.socket = name;
	net.n_connections += !net.no_connection;
	return net.no_connection ? NULL : (lldpctl_conn_t *)(void *)&net;
}

static int release(_unused_ lldpctl_conn_t *connection)
{
	net.n_connections--;
	return 0;
}

static lldpctl_atom_t *get_interfaces(_unused_ lldpctl_conn_t *connection)
{
	return hold(net.interfaces);
}

/* An interface is its port too. */
static lldpctl_atom_t *get_port(lldpctl_atom_t *atom)
{
	return hold(net.no_port ? NULL : atom);
}

static lldpctl_atom_iter_t *atom_iter(lldpctl_atom_t *atom)
{
	return atom->n_items > 0 ? (lldpctl_atom_iter_t *)(void *)&atom->items[0] : NULL;
}

static lldpctl_atom_iter_t *atom_iter_next(lldpctl_atom_t *atom, lldpctl_atom_iter_t *at)
{
	lldpctl_atom_t **next = (lldpctl_atom_t **)(void *)at + 1;

	return next < atom->items + atom->n_items ? (lldpctl_atom_iter_t *)(void *)next : NULL;
}

static lldpctl_atom_t *atom_iter_value(_unused_ lldpctl_atom_t *atom, lldpctl_atom_iter_t *at)
{
	return hold(*(lldpctl_atom_t **)(void *)at);
}

static lldpctl_atom_t *atom_get(lldpctl_atom_t *atom, lldpctl_key_t key)
{
	return hold(find(atom, key)->atom);
}

static const char *atom_get_str(lldpctl_atom_t *atom, lldpctl_key_t key)
{
	return find(atom, key)->text;
}

static long atom_get_int(lldpctl_atom_t *atom, lldpctl_key_t key)
{
	return find(atom, key)->number;
}

static const uint8_t *atom_get_buffer(lldpctl_atom_t *atom, lldpctl_key_t key, size_t *ret)
{
	*ret = find(atom, key)->n_bytes;
	return find(atom, key)->bytes;
}

static void atom_dec_ref(lldpctl_atom_t *atom)
{
	net.n_atoms -= atom != NULL;
}

static const char *get_default_transport(void)
{
	return "/default";
}

static const struct {
	const char *name;
	void *function;
} functions[] = {
#define F(name)                                                                                    \
	{                                                                                          \
		"lldpctl_" #name, (void *)name                                                     \
	}
	F(new_name),
	F(release),
	F(get_interfaces),
	F(get_port),
	F(atom_iter),
	F(atom_iter_next),
	F(atom_iter_value),
	F(atom_get),
	F(atom_get_str),
	F(atom_get_int),
	F(atom_get_buffer),
	F(atom_dec_ref),
	F(get_default_transport),
#undef F
};

void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags)
{
	assert_string_equal(name, "liblldpctl.so.4");
	assert_true(flags & RTLD_NOW);
	return net.no_library ? NULL : &net;
}

/* A sanitizer that is linked in looks functions up too, before it can look after this one. */
void *__real_dlsym(void *library, const char *name);
__attribute__((no_sanitize_address)) void *__wrap_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name)
{
	if (library != &net)
		return __real_dlsym(library, name);
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (streq(functions[i].name, name) && (!net.lacks || !streq(net.lacks, name)))
			return functions[i].function;
	return NULL;
}

char *__wrap_dlerror(void);
char *__wrap_dlerror(void)
{
	static char why[] = "why";

	return why;
}

/* A switch that lldpd has heard since second 50, on the interface eth0 */
static const uint8_t oui[] = {0x00, 0x80, 0xc2}, other_oui[] = {0x00, 0x12, 0x0f};
static const uint8_t pfc_bytes[] = {0x08, 0x18}, long_bytes[] = {0x08, 0x18, 0x00};
static const uint8_t ets_bytes[] = {0x02, 0, 0x10, 0, 0x30, 40, 0, 0, 60, 0, 0,
				    0,	  0, 2,	   0, 0,    2,	0, 0, 0,  0};
static lldpctl_atom_t address, no_address, addresses, pfc, ets, other_tlv, tlvs, chassis,
	system_atom;
static lldpctl_atom_t systems, interface, interfaces;

static void set(lldpctl_atom_t *atom, Member m)
{
	size_t i = 0;

	while (i < KEYS_MAX && atom->members[i].key && atom->members[i].key != m.key)
		i++;
	assert_true(i < KEYS_MAX);
	atom->members[i] = m;
}

static void set_text(lldpctl_atom_t *atom, lldpctl_key_t key, const char *text)
{
	set(atom, (Member){.key = key, .text = text});
}

static void set_number(lldpctl_atom_t *atom, lldpctl_key_t key, long n)
{
	set(atom, (Member){.key = key, .number = n});
}

static void set_bytes(lldpctl_atom_t *atom, lldpctl_key_t key, const void *bytes, size_t n)
{
	set(atom, (Member){.key = key, .bytes = bytes, .n_bytes = n});
}

static void set_atom(lldpctl_atom_t *atom, lldpctl_key_t key, lldpctl_atom_t *value)
{
	set(atom, (Member){.key = key, .atom = value});
}

static void put(lldpctl_atom_t *list, lldpctl_atom_t *item)
{
	assert_true(list->n_items < ITEMS_MAX);
	list->items[list->n_items++] = item;
}

static void make_pfc(lldpctl_atom_t *atom, const uint8_t id[3])
{
	set_bytes(atom, lldpctl_k_custom_tlv_oui, id, 3);
	set_number(atom, lldpctl_k_custom_tlv_oui_subtype, 0x0b);
	set_bytes(atom, lldpctl_k_custom_tlv_oui_info_string, pfc_bytes, sizeof(pfc_bytes));
}

/* Makes ETS of a piece of flow control. */
static void make_ets(lldpctl_atom_t *atom)
{
	set_number(atom, lldpctl_k_custom_tlv_oui_subtype, 0x09);
	set_bytes(atom, lldpctl_k_custom_tlv_oui_info_string, ets_bytes, sizeof(ets_bytes));
}

static void make_system(lldpctl_atom_t *atom, const char *port, long since)
{
	set_number(atom, lldpctl_k_port_age, since);
	set_text(atom, lldpctl_k_port_id, port);
	set_text(atom, lldpctl_k_port_descr, "to node 4");
	set_number(atom, lldpctl_k_port_vlan_pvid, 4094);
	set_number(atom, lldpctl_k_port_dot3_mfs, 65535);
	set_atom(atom, lldpctl_k_custom_tlvs, &tlvs);
	set_atom(atom, lldpctl_k_port_chassis, &chassis);
}

static int setup(_unused_ void **state)
{
	lldpctl_atom_t *const all[] = {&address,     &no_address, &addresses, &pfc,
				       &ets,	     &other_tlv,  &tlvs,      &chassis,
				       &system_atom, &systems,	  &interface, &interfaces};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		memset(all[i], 0, sizeof(*all[i]));
	memset(&net, 0, sizeof(net));
	net.interfaces = &interfaces;
	set_text(&address, lldpctl_k_mgmt_ip, "192.0.2.1");
	put(&addresses, &no_address);
	put(&addresses, &address);
	make_pfc(&other_tlv, other_oui);
	make_pfc(&pfc, oui);
	put(&tlvs, &other_tlv);
	put(&tlvs, &pfc);
	make_pfc(&ets, oui);
	make_ets(&ets);
	put(&tlvs, &ets);
	set_text(&chassis, lldpctl_k_chassis_name, "leaf\n1");
	set_text(&chassis, lldpctl_k_chassis_id, "00:00:5e:00:53:01");
	set_atom(&chassis, lldpctl_k_chassis_mgmt, &addresses);
	make_system(&system_atom, "Ethernet12/1", 50);
	put(&systems, &system_atom);
	set_text(&interface, lldpctl_k_interface_name, "eth0");
	set_atom(&interface, lldpctl_k_port_neighbors, &systems);
	put(&interfaces, &interface);
	return 0;
}

static int on_neighbor(void *userdata, const Neighbor *n)
{
	assert_ptr_equal(userdata, &net);
	assert_true(net.n_got < ARRAY_SIZE(net.got));
	net.got[net.n_got++] = *n;
	return net.answer;
}

/* Asks; nothing that was held is held afterwards. */
static int ask(void)
{
	int r;

	net.n_got = 0;
	assert_null(lldpd_load());
	r = lldpd_read(NULL, on_neighbor, &net);
	assert_string_equal(net.socket, "/default");
	assert_int_equal(net.n_atoms, 0);
	assert_int_equal(net.n_connections, 0);
	return r;
}

static void test_all(_unused_ void **state)
{
	const Neighbor *n = net.got;

	set_number(&system_atom, lldpctl_k_port_hidden, 0);
	assert_int_equal(ask(), 0);
	assert_int_equal(net.n_got, 1);
	assert_string_equal(n->interface, "eth0");
	assert_string_equal(n->system, "leaf?1");
	assert_string_equal(n->port, "Ethernet12/1");
	assert_string_equal(n->port_text, "to node 4");
	assert_string_equal(n->chassis, "00:00:5e:00:53:01");
	assert_string_equal(n->address, "192.0.2.1");
	assert_int_equal(n->vlan, 4094);
	assert_int_equal(n->frame, 65535);
	assert_int_equal(n->pfc, 0x18);
	assert_memory_equal(&n->ets, ets_bytes + 5, sizeof(n->ets));
	assert_int_equal(n->since_usec, 50 * USEC_PER_SEC);
}

/* Of several pieces the first counts, and one of another length is none. */
static void test_pieces(_unused_ void **state)
{
	static const uint8_t others[sizeof(ets_bytes) + 1] = {};
	lldpctl_atom_t more = {}, later = {};

	make_pfc(&later, oui);
	set_bytes(&later, lldpctl_k_custom_tlv_oui_info_string, others, sizeof(pfc_bytes));
	put(&tlvs, &later);
	make_pfc(&more, oui);
	make_ets(&more);
	set_bytes(&more, lldpctl_k_custom_tlv_oui_info_string, others, sizeof(ets_bytes));
	put(&tlvs, &more);
	assert_int_equal(ask(), 0);
	assert_int_equal(net.got[0].pfc, 0x18);
	assert_memory_equal(&net.got[0].ets, ets_bytes + 5, sizeof(net.got[0].ets));
	set_bytes(&ets, lldpctl_k_custom_tlv_oui_info_string, ets_bytes, sizeof(ets_bytes) - 1);
	set_bytes(&more, lldpctl_k_custom_tlv_oui_info_string, others, sizeof(others));
	assert_int_equal(ask(), 0);
	assert_true(net.got[0].ets == UINT64_MAX);
	/* a recommendation, and a piece of somebody else, are no configuration */
	make_ets(&ets);
	set_number(&ets, lldpctl_k_custom_tlv_oui_subtype, 0x0a);
	make_ets(&more);
	set_bytes(&more, lldpctl_k_custom_tlv_oui, other_oui, sizeof(other_oui));
	assert_int_equal(ask(), 0);
	assert_true(net.got[0].ets == UINT64_MAX);
}

/* What cannot be, or is not said, is not known. */
static void test_odd_values(_unused_ void **state)
{
	set_number(&system_atom, lldpctl_k_port_vlan_pvid, 4095);
	set_number(&system_atom, lldpctl_k_port_dot3_mfs, 65536);
	set_text(&system_atom, lldpctl_k_port_descr, NULL);
	set_bytes(&pfc, lldpctl_k_custom_tlv_oui_info_string, long_bytes, sizeof(long_bytes));
	set_text(&address, lldpctl_k_mgmt_ip, NULL);
	assert_int_equal(ask(), 0);
	assert_int_equal(net.got[0].vlan, 0);
	assert_int_equal(net.got[0].frame, 0);
	assert_string_equal(net.got[0].port_text, "");
	assert_int_equal(net.got[0].pfc, -1);
	assert_string_equal(net.got[0].address, "");
	set_number(&system_atom, lldpctl_k_port_vlan_pvid, -1);
	set_number(&system_atom, lldpctl_k_port_dot3_mfs, 1);
	make_pfc(&pfc, oui);
	set_number(&pfc, lldpctl_k_custom_tlv_oui_subtype, 0x0a);
	assert_int_equal(ask(), 0);
	assert_int_equal(net.got[0].vlan, 0);
	assert_int_equal(net.got[0].frame, 1);
	assert_int_equal(net.got[0].pfc, -1);
	make_pfc(&pfc, oui);
	set_bytes(&pfc, lldpctl_k_custom_tlv_oui, oui, 2);
	assert_int_equal(ask(), 0);
	assert_int_equal(net.got[0].pfc, -1);
	set_bytes(&pfc, lldpctl_k_custom_tlv_oui, NULL, 0);
	assert_int_equal(ask(), 0);
	assert_int_equal(net.got[0].pfc, -1);
	make_pfc(&pfc, oui);
	set_bytes(&pfc, lldpctl_k_custom_tlv_oui_info_string, NULL, 2);
	assert_int_equal(ask(), 0);
	assert_int_equal(net.got[0].pfc, -1);
	/* a good one behind it */
	make_pfc(&other_tlv, oui);
	put(&tlvs, &other_tlv);
	tlvs.items[0] = &pfc;
	assert_int_equal(ask(), 0);
	assert_int_equal(net.got[0].pfc, 0x18);
}

/* Of several systems the one that was there first; none that is hidden or that has no chassis. */
static void test_several(_unused_ void **state)
{
	lldpctl_atom_t more[4] = {};

	make_system(&more[0], "later", 51);
	make_system(&more[1], "hidden", 3);
	set_number(&more[1], lldpctl_k_port_hidden, 1);
	make_system(&more[2], "without", 2);
	set_atom(&more[2], lldpctl_k_port_chassis, NULL);
	make_system(&more[3], "first", 49);
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		put(&systems, &more[i]);
	assert_int_equal(ask(), 0);
	assert_int_equal(net.n_got, 1);
	assert_string_equal(net.got[0].port, "first");
	assert_string_equal(net.got[0].interface, "eth0");
	/* as long as another one */
	set_number(&more[3], lldpctl_k_port_age, 50);
	assert_int_equal(ask(), 0);
	assert_string_equal(net.got[0].port, "Ethernet12/1");
	/* nobody is known since a time */
	set_number(&system_atom, lldpctl_k_port_age, 0);
	systems.n_items = 1;
	assert_int_equal(ask(), 0);
	assert_int_equal(net.n_got, 0);
	/* nobody is known */
	systems.n_items = 0;
	assert_int_equal(ask(), 0);
	assert_int_equal(net.n_got, 0);
}

/* So many systems are looked at. */
static void test_many(_unused_ void **state)
{
	lldpctl_atom_t more = {}, last = {};

	make_system(&more, "more", 60);
	make_system(&last, "last", 1);
	while (systems.n_items < 63)
		put(&systems, &more);
	put(&systems, &last);
	assert_int_equal(ask(), 0);
	assert_string_equal(net.got[0].port, "last");
	systems.items[63] = &more;
	put(&systems, &last);
	assert_int_equal(ask(), 0);
	assert_string_equal(net.got[0].port, "Ethernet12/1");
}

static void test_interfaces(_unused_ void **state)
{
	lldpctl_atom_t longer = interface, odd = interface, second = interface, unnamed = interface;

	set_text(&longer, lldpctl_k_interface_name, "sixteen_letters_");
	set_text(&second, lldpctl_k_interface_name, "fifteen_letters");
	set_text(&unnamed, lldpctl_k_interface_name, NULL);
	put(&interfaces, &longer);
	put(&interfaces, &unnamed);
	put(&interfaces, NULL);
	put(&interfaces, &second);
	set_text(&odd, lldpctl_k_interface_name, "eth\x1b");
	put(&interfaces, &odd);
	assert_int_equal(ask(), 0);
	assert_int_equal(net.n_got, 3);
	assert_string_equal(net.got[2].interface, "eth?");
	assert_string_equal(net.got[1].interface, "fifteen_letters");
	/* who is told has had enough */
	net.answer = -ENOBUFS;
	assert_int_equal(ask(), -ENOBUFS);
	assert_int_equal(net.n_got, 1);
}

static void test_no_answer(_unused_ void **state)
{
	net.no_port = true;
	assert_int_equal(ask(), -EIO);
	net.interfaces = NULL;
	assert_int_equal(ask(), -EIO);
	net.no_connection = true;
	assert_int_equal(ask(), -ENOMEM);
}

static void test_no_library(_unused_ void **state)
{
	net.no_library = true;
	assert_string_equal(lldpd_load(), "why");
	net.no_library = false;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		net.lacks = functions[i].name;
		assert_string_equal(lldpd_load(), "why");
	}
	assert_int_equal(net.n_connections, 0);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_all),	 TEST(test_odd_values), TEST(test_pieces),    TEST(test_several),
		TEST(test_many), TEST(test_interfaces), TEST(test_no_answer), TEST(test_no_library),
	};

	return cmocka_run_group_tests_name("lldpd", tests, NULL, NULL);
}
