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

/* The library, once it is loaded. */
static struct {
#define F(name) __typeof__(&lldpctl_##name) name;
	FUNCTIONS(F)
#undef F
} lldpctl;

const char *lldpd_load(void)
{
	void *library = dlopen("liblldpctl.so.4", RTLD_NOW | RTLD_LOCAL);
	bool all = library != NULL;

#define F(name) all = all && (*(void **)&lldpctl.name = dlsym(library, "lldpctl_" #name));
	FUNCTIONS(F)
#undef F
	return all ? NULL : dlerror();
}

static void take_text(lldpctl_atom_t *atom, lldpctl_key_t key, char *ret, size_t size)
{
	const char *text = lldpctl.atom_get_str(atom, key);

	text_copy_clean(ret, size, text ? text : "");
}

static uint32_t take_number(lldpctl_atom_t *atom, lldpctl_key_t key, long most)
{
	long n = lldpctl.atom_get_int(atom, key);

	return n > 0 && n <= most ? (uint32_t)n : 0;
}

/* Calls LOOK with each item of LIST, until it returns something that is not 0, which is returned;
 * with MOST at most. */
static int each(lldpctl_atom_t *list, unsigned int most,
		int (*look)(lldpctl_atom_t *item, void *userdata), void *userdata)
{
	lldpctl_atom_iter_t *at = list ? lldpctl.atom_iter(list) : NULL;
	int r = 0;

	for (unsigned int i = 0; at && i < most && r == 0; i++) {
		lldpctl_atom_t *item = lldpctl.atom_iter_value(list, at);

		r = item ? look(item, userdata) : 0;
		lldpctl.atom_dec_ref(item);
		at = lldpctl.atom_iter_next(list, at);
	}
	return r;
}

/* The same with the list KEY of ATOM. */
static int each_of(lldpctl_atom_t *atom, lldpctl_key_t key, unsigned int most,
		   int (*look)(lldpctl_atom_t *item, void *userdata), void *userdata)
{
	lldpctl_atom_t *list = lldpctl.atom_get(atom, key);
	int r = each(list, most, look, userdata);

	lldpctl.atom_dec_ref(list);
	return r;
}

static int take_address(lldpctl_atom_t *item, void *userdata)
{
	Neighbor *n = userdata;

	take_text(item, lldpctl_k_mgmt_ip, n->address, sizeof(n->address));
	return n->address[0] != '\0';
}

/* The first of each kind counts. */
static int take_piece(lldpctl_atom_t *item, void *userdata)
{
	const uint8_t *oui, *bytes;
	Neighbor *n = userdata;
	size_t n_oui, n_bytes;
	long subtype;

	oui = lldpctl.atom_get_buffer(item, lldpctl_k_custom_tlv_oui, &n_oui);
	if (!oui || n_oui != sizeof(oui_8021) || memcmp(oui, oui_8021, n_oui) != 0)
		return 0;
	subtype = lldpctl.atom_get_int(item, lldpctl_k_custom_tlv_oui_subtype);
	bytes = lldpctl.atom_get_buffer(item, lldpctl_k_custom_tlv_oui_info_string, &n_bytes);
	if (bytes && subtype == PFC_SUBTYPE && n_bytes == PFC_BYTES && n->pfc < 0)
		n->pfc = bytes[1];
	if (bytes && subtype == ETS_SUBTYPE && n_bytes == ETS_BYTES && n->ets == UINT64_MAX)
		memcpy(&n->ets, bytes + ETS_PERCENTS, sizeof(n->ets));
	return 0;
}

static int take_system(lldpctl_atom_t *port, void *userdata)
{
	Neighbor *known = userdata, n = {.pfc = -1, .ets = UINT64_MAX};
	long since = lldpctl.atom_get_int(port, lldpctl_k_port_age);
	lldpctl_atom_t *chassis;

	n.since_usec = since > 0 ? (uint64_t)since * USEC_PER_SEC : 0;
	if (lldpctl.atom_get_int(port, lldpctl_k_port_hidden) > 0 ||
	    (known->since_usec && known->since_usec <= n.since_usec))
		return 0;
	text_copy(n.interface, sizeof(n.interface), known->interface);
	take_text(port, lldpctl_k_port_id, n.port, sizeof(n.port));
	take_text(port, lldpctl_k_port_descr, n.port_text, sizeof(n.port_text));
	n.vlan = take_number(port, lldpctl_k_port_vlan_pvid, VLAN_MAX);
	n.frame = take_number(port, lldpctl_k_port_dot3_mfs, UINT16_MAX);
	(void)each_of(port, lldpctl_k_custom_tlvs, ITEMS_MAX, take_piece, &n);
	chassis = lldpctl.atom_get(port, lldpctl_k_port_chassis);
	if (!chassis)
		return 0;
	take_text(chassis, lldpctl_k_chassis_name, n.system, sizeof(n.system));
	take_text(chassis, lldpctl_k_chassis_id, n.chassis, sizeof(n.chassis));
	(void)each_of(chassis, lldpctl_k_chassis_mgmt, ITEMS_MAX, take_address, &n);
	lldpctl.atom_dec_ref(chassis);
	*known = n;
	return 0;
}

typedef struct Listener {
	OnNeighbor on;
	void *userdata;
} Listener;

static int take_interface(lldpctl_atom_t *interface, void *userdata)
{
	const char *name = lldpctl.atom_get_str(interface, lldpctl_k_interface_name);
	const Listener *listener = userdata;
	lldpctl_atom_t *port;
	Neighbor n = {};

	if (!name || strlen(name) >= sizeof(n.interface))
		return 0;
	text_copy_clean(n.interface, sizeof(n.interface), name);
	port = lldpctl.get_port(interface);
	if (!port)
		return -EIO;
	(void)each_of(port, lldpctl_k_port_neighbors, SYSTEMS_MAX, take_system, &n);
	lldpctl.atom_dec_ref(port);
	return n.since_usec ? listener->on(listener->userdata, &n) : 0;
}

int lldpd_read(const char *socket, OnNeighbor on, void *for_whom)
{
	lldpctl_conn_t *connection = lldpctl.new_name(
		socket ? socket : lldpctl.get_default_transport(), NULL, NULL, NULL);
	Listener listener = {on, for_whom};
	lldpctl_atom_t *interfaces;
	int r = -EIO;

	if (!connection)
		return -ENOMEM;
	interfaces = lldpctl.get_interfaces(connection);
	if (interfaces)
		r = each(interfaces, INTERFACES_MAX, take_interface, &listener);
	lldpctl.atom_dec_ref(interfaces);
	(void)lldpctl.release(connection);
	return r;
}
