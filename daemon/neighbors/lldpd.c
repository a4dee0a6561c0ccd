/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "lldpd.h"

#include <dlfcn.h>
#include <lldpctl.h>

/* More interfaces than this, or more systems on one, are not looked at. */
#define INTERFACES_MAX 4096U
#define SYSTEMS_MAX    64U
/* The same of addresses and of pieces that lldpd does not understand. */
#define ITEMS_MAX 64U

/* Pieces of IEEE 802.1Qaz, with their lengths. Of flow control byte 0 says whether the end is
 * willing, and for how many priorities it can have it; byte 1 has a bit for each priority that has
 * it. Of the configuration of ETS byte 0 says as much, 4 bytes have the traffic class of each
 * priority, 8 the percents of the traffic classes, and 8 how each of these is chosen. */
#define PFC_SUBTYPE  0x0b
#define PFC_BYTES    2U
#define ETS_SUBTYPE  0x09
#define ETS_BYTES    21U
#define ETS_PERCENTS 5U
static const uint8_t oui_8021[3] = {0x00, 0x80, 0xc2};

#define FUNCTIONS(F)                                                                               \
	F(new_name)                                                                                \
	F(release)                                                                                 \
	F(get_interfaces)                                                                          \
	F(get_port)                                                                                \
	F(atom_iter)                                                                               \
	F(atom_iter_next)                                                                          \
	F(atom_iter_value)                                                                         \
	F(atom_get)                                                                                \
	F(atom_get_str)                                                                            \
	F(atom_get_int)                                                                            \
	F(atom_get_buffer)                                                                         \
	F(atom_dec_ref)                                                                            \
	F(get_default_transport)

struct Lldpd {
	void *library;
#define F(name) __typeof__(&lldpctl_##name) name;
	FUNCTIONS(F)
#undef F
};

int lldpd_load(Lldpd **ret, const char **ret_why)
{
	_cleanup_(lldpd_unload_pointer) Lldpd *l = calloc(1, sizeof(*l));
	bool all;

	if (!l)
		return -ENOMEM;
	l->library = dlopen("liblldpctl.so.4", RTLD_NOW | RTLD_LOCAL);
	all = l->library != NULL;
#define F(name) all = all && (*(void **)&l->name = dlsym(l->library, "lldpctl_" #name));
	FUNCTIONS(F)
#undef F
	if (!all) {
		*ret_why = dlerror();
		return -ELIBACC;
	}
	*ret = steal_pointer(&l);
	return 0;
}

Lldpd *lldpd_unload(Lldpd *l)
{
	if (l && l->library)
		dlclose(l->library);
	free(l);
	return NULL;
}

static void take_text(const Lldpd *l, lldpctl_atom_t *atom, lldpctl_key_t key, char *ret,
		      size_t size)
{
	const char *text = l->atom_get_str(atom, key);

	text_copy(ret, size, text ? text : "");
	text_sanitize(ret, size);
}

static uint32_t take_number(const Lldpd *l, lldpctl_atom_t *atom, lldpctl_key_t key, long most)
{
	long n = l->atom_get_int(atom, key);

	return n > 0 && n <= most ? (uint32_t)n : 0;
}

/* Calls LOOK with each item of LIST, until it returns something that is not 0, which is returned;
 * with MOST at most. */
static int each(const Lldpd *l, lldpctl_atom_t *list, unsigned int most,
		int (*look)(const Lldpd *l, lldpctl_atom_t *item, void *userdata), void *userdata)
{
	lldpctl_atom_iter_t *at = list ? l->atom_iter(list) : NULL;
	int r = 0;

	for (unsigned int i = 0; at && i < most && r == 0; i++) {
		lldpctl_atom_t *item = l->atom_iter_value(list, at);

		r = item ? look(l, item, userdata) : 0;
		l->atom_dec_ref(item);
		at = l->atom_iter_next(list, at);
	}
	return r;
}

/* The same with the list KEY of ATOM. */
static int each_of(const Lldpd *l, lldpctl_atom_t *atom, lldpctl_key_t key, unsigned int most,
		   int (*look)(const Lldpd *l, lldpctl_atom_t *item, void *userdata),
		   void *userdata)
{
	lldpctl_atom_t *list = l->atom_get(atom, key);
	int r = each(l, list, most, look, userdata);

	l->atom_dec_ref(list);
	return r;
}

static int take_address(const Lldpd *l, lldpctl_atom_t *item, void *userdata)
{
	Neighbor *n = userdata;

	take_text(l, item, lldpctl_k_mgmt_ip, n->address, sizeof(n->address));
	return n->address[0] != '\0';
}

/* The first of each kind counts. */
static int take_piece(const Lldpd *l, lldpctl_atom_t *item, void *userdata)
{
	const uint8_t *oui, *bytes;
	Neighbor *n = userdata;
	size_t n_oui, n_bytes;
	long subtype;

	oui = l->atom_get_buffer(item, lldpctl_k_custom_tlv_oui, &n_oui);
	if (!oui || n_oui != sizeof(oui_8021) || memcmp(oui, oui_8021, n_oui) != 0)
		return 0;
	subtype = l->atom_get_int(item, lldpctl_k_custom_tlv_oui_subtype);
	bytes = l->atom_get_buffer(item, lldpctl_k_custom_tlv_oui_info_string, &n_bytes);
	if (bytes && subtype == PFC_SUBTYPE && n_bytes == PFC_BYTES && n->pfc < 0)
		n->pfc = bytes[1];
	if (bytes && subtype == ETS_SUBTYPE && n_bytes == ETS_BYTES && n->ets == UINT64_MAX)
		memcpy(&n->ets, bytes + ETS_PERCENTS, sizeof(n->ets));
	return 0;
}

static int take_system(const Lldpd *l, lldpctl_atom_t *port, void *userdata)
{
	Neighbor *known = userdata, n = {.pfc = -1, .ets = UINT64_MAX};
	long since = l->atom_get_int(port, lldpctl_k_port_age);
	lldpctl_atom_t *chassis;

	n.since_usec = since > 0 ? (uint64_t)since * USEC_PER_SEC : 0;
	if (l->atom_get_int(port, lldpctl_k_port_hidden) > 0 ||
	    (known->since_usec && known->since_usec <= n.since_usec))
		return 0;
	text_copy(n.interface, sizeof(n.interface), known->interface);
	take_text(l, port, lldpctl_k_port_id, n.port, sizeof(n.port));
	take_text(l, port, lldpctl_k_port_descr, n.port_text, sizeof(n.port_text));
	n.vlan = take_number(l, port, lldpctl_k_port_vlan_pvid, VLAN_MAX);
	n.frame = take_number(l, port, lldpctl_k_port_dot3_mfs, UINT16_MAX);
	(void)each_of(l, port, lldpctl_k_custom_tlvs, ITEMS_MAX, take_piece, &n);
	chassis = l->atom_get(port, lldpctl_k_port_chassis);
	if (!chassis)
		return 0;
	take_text(l, chassis, lldpctl_k_chassis_name, n.system, sizeof(n.system));
	take_text(l, chassis, lldpctl_k_chassis_id, n.chassis, sizeof(n.chassis));
	(void)each_of(l, chassis, lldpctl_k_chassis_mgmt, ITEMS_MAX, take_address, &n);
	l->atom_dec_ref(chassis);
	*known = n;
	return 0;
}

typedef struct Listener {
	OnNeighbor on;
	void *userdata;
} Listener;

static int take_interface(const Lldpd *l, lldpctl_atom_t *interface, void *userdata)
{
	const char *name = l->atom_get_str(interface, lldpctl_k_interface_name);
	const Listener *listener = userdata;
	lldpctl_atom_t *port;
	Neighbor n = {};

	if (!name || strlen(name) >= sizeof(n.interface))
		return 0;
	text_copy(n.interface, sizeof(n.interface), name);
	text_sanitize(n.interface, sizeof(n.interface));
	port = l->get_port(interface);
	if (!port)
		return -EIO;
	(void)each_of(l, port, lldpctl_k_port_neighbors, SYSTEMS_MAX, take_system, &n);
	l->atom_dec_ref(port);
	return n.since_usec ? listener->on(listener->userdata, &n) : 0;
}

int lldpd_read(const NeighborReader *reader, OnNeighbor on, void *for_whom)
{
	const Lldpd *l = reader->userdata;
	lldpctl_conn_t *connection = l->new_name(
		reader->socket ? reader->socket : l->get_default_transport(), NULL, NULL, NULL);
	Listener listener = {on, for_whom};
	lldpctl_atom_t *interfaces;
	int r = -EIO;

	if (!connection)
		return -ENOMEM;
	interfaces = l->get_interfaces(connection);
	if (interfaces)
		r = each(l, interfaces, INTERFACES_MAX, take_interface, &listener);
	l->atom_dec_ref(interfaces);
	(void)l->release(connection);
	return r;
}
