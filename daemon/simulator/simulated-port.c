/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One simulated port: its defaults by protocol, and how settings change it. */

#include "decode.h"
#include "recorded-values.h"
#include "simulated-bond.h"
#include "simulated-counters.h"
#include "simulated-defaults.h"
#include "simulated-ipoib.h"
#include "simulated-users.h"
#include "simulated-vf.h"

/* Simulated network interfaces have indices from here on: real ones begin with 1, that of lo. */
#define FIRST_IFINDEX 100U

/* Tables of a port */

/* Puts TABLE, which may be NULL for an empty one, into the edit. */
static void edit_table(PortEdit *e, PortTable t, Table *table)
{
	if (e->next.tables[t] != e->port->now.tables[t])
		table_free(e->next.tables[t]);
	e->next.tables[t] = table;
	mask_set(&e->next.supplied, port_table_attr(t), true);
	mask_set(&e->touched, port_table_attr(t), true);
}

_Static_assert(offsetof(GidEntry, index) == 0 && offsetof(PkeyEntry, index) == 0 &&
		       offsetof(VfEntry, number) == 0 && offsetof(BondMember, ifindex) == 0,
	       "entry_index() takes the first member for the index");

/* The index of entry I. A table is in the order of the indices. */
static uint32_t entry_index(const Table *t, size_t i)
{
	uint32_t index;

	memcpy(&index, t->entries + i * t->entry_size, sizeof(index));
	return index;
}

/* Replaces or adds the entry with INDEX; removes it if ENTRY is NULL. */
static int edit_entry(PortEdit *e, PortTable t, uint32_t index, const void *entry, size_t size)
{
	const Table *old = e->next.tables[t];
	size_t n = old ? old->n : 0, at = 0, rest;
	_cleanup_free_ uint8_t *entries = NULL;
	Table *table;

	/* even if there is nothing to remove: a table that a setting names gets no defaults */
	mask_set(&e->touched, port_table_attr(t), true);
	while (at < n && entry_index(old, at) < index)
		at++;
	rest = at < n && entry_index(old, at) == index ? at + 1 : at;
	if (!entry && rest == at)
		return 0;
	entries = malloc((n + 1) * size);
	if (!entries)
		return -ENOMEM;
	if (at)
		memcpy(entries, old->entries, at * size);
	if (entry)
		memcpy(entries + at * size, entry, size);
	if (rest < n)
		memcpy(entries + (at + !!entry) * size, old->entries + rest * size,
		       (n - rest) * size);
	n = at + !!entry + (n - rest);
	if (table_make(entries, n, size, &table) < 0)
		return -ENOMEM;
	edit_table(e, t, table);
	return 0;
}

/* The index behind "gid." or "pkey.", less than LENGTH. */
static int parse_index(const char *key, const char *text, uint32_t length, uint32_t *ret,
		       char **ret_message)
{
	uint64_t index;

	length = MIN(length, TABLE_ENTRIES_MAX);
	if (text_to_u64(text, UINT32_MAX, &index) < 0 || index >= length)
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s: the table has %u entries, expected an index below "
				       "that",
				       key, length);
	*ret = (uint32_t)index;
	return 0;
}

static int set_pkey(PortEdit *e, const char *key, const char *index_text, const char *value,
		    char **ret_message)
{
	PkeyEntry entry = {};
	uint64_t pkey = 0;
	int r = parse_index(key, index_text, e->next.values.pkey_tbl_len, &entry.index,
			    ret_message);

	if (r < 0)
		return r;
	if (*value && text_to_u64(value, UINT16_MAX, &pkey) < 0)
		return scenario_refuse(-EINVAL, ret_message,
				       "%s = %.100s: expected a P_Key such as 0xffff, or nothing",
				       key, value);
	entry.pkey = (uint32_t)pkey;
	/* the lower 15 bits are the key; key 0 is an empty entry */
	return edit_entry(e, PORT_TABLE_PKEYS, entry.index, pkey & 0x7fff ? &entry : NULL,
			  sizeof(entry));
}

static bool parse_netdev_name(const char *text, char ret[16])
{
	if (strlen(text) >= 16 || strchr(text, '/'))
		return false;
	text_copy_clean(ret, 16, text);
	return true;
}

static bool parse_ifindex(const char *text, uint32_t *ret)
{
	uint64_t value;

	if (text_to_u64(text, INT32_MAX, &value) < 0 || value == 0)
		return false;
	*ret = (uint32_t)value;
	return true;
}

static bool parse_gid_type(const char *text, uint32_t *ret)
{
	static const char *const names[_GID_TYPE_MAX] = {"ib", "v1", "v2"};

	for (uint32_t i = 0; i < _GID_TYPE_MAX; i++)
		if (strcasecmp(text, names[i]) == 0) {
			*ret = i;
			return true;
		}
	return false;
}

/* "vlan=NUMBER", or "namespace=other", of which no interface is known here. */
static bool parse_gid_word(const char *word, GidEntry *entry)
{
	const char *number = startswith(word, "vlan=");
	uint64_t value;

	if (number && text_to_u64(number, VLAN_MAX, &value) == 0 && value > 0) {
		entry->vlan_id = (uint32_t)value;
		return true;
	}
	if (!streq(word, "namespace=other"))
		return false;
	entry->namespace = GID_NAMESPACE_OTHER;
	entry->ifindex = 0;
	memset(entry->netdev, 0, sizeof(entry->netdev));
	return true;
}

/* "ADDRESS [TYPE] [NETDEV [IFINDEX]] [vlan=NUMBER | namespace=other]": what is not there is that of
 * the port. */
static int parse_gid_entry(const PortEdit *e, const char *value, GidEntry *entry)
{
	const PortValues *v = &e->next.values;
	char copy[256], *save = NULL, *word;

	if (strlen(value) >= sizeof(copy))
		return -EINVAL;
	text_copy(copy, sizeof(copy), value);
	word = strtok_r(copy, " \t", &save);
	if (!word || gid_parse(word, entry->gid) < 0)
		return -EINVAL;
	entry->type = e->port->protocol == PROTOCOL_ROCE ? GID_TYPE_ROCE_V2 : GID_TYPE_IB;
	if (TEXT_OF(v, netdev)[0]) {
		entry->ifindex = v->ifindex;
		text_copy(entry->netdev, sizeof(entry->netdev), TEXT_OF(v, netdev));
	}
	word = strtok_r(NULL, " \t", &save);
	if (word && parse_gid_type(word, &entry->type))
		word = strtok_r(NULL, " \t", &save);
	if (word && !strchr(word, '=')) {
		if (!parse_netdev_name(word, entry->netdev))
			return -EINVAL;
		word = strtok_r(NULL, " \t", &save);
		/* Another interface than that of the port, such as a VLAN, needs its index too. */
		if (word && parse_ifindex(word, &entry->ifindex))
			word = strtok_r(NULL, " \t", &save);
		else if (!streq(entry->netdev, TEXT_OF(v, netdev)))
			return -EINVAL;
	}
	if (word && !parse_gid_word(word, entry))
		return -EINVAL;
	return word && strtok_r(NULL, " \t", &save) ? -EINVAL : 0;
}

static int set_gid(PortEdit *e, const char *key, const char *index_text, const char *value,
		   char **ret_message)
{
	GidEntry entry = {};
	int r = parse_index(key, index_text, e->next.values.gid_tbl_len, &entry.index, ret_message);

	if (r < 0)
		return r;
	if (*value && parse_gid_entry(e, value, &entry) < 0)
		return scenario_refuse(-EINVAL, ret_message,
				       "%s = %.100s: expected a GID or IP address, then its type "
				       "(ib, v1 or v2), then a network interface (and its index, "
				       "if it is not the port's), then vlan=NUMBER or "
				       "namespace=other; or nothing",
				       key, value);
	return edit_entry(e, PORT_TABLE_GIDS, entry.index, *value ? &entry : NULL, sizeof(entry));
}

/* "NAME [IFINDEX]", or nothing to detach the port from its interface. */
static int set_netdev(PortEdit *e, const char *value, char **ret_message)
{
	char copy[256], name[16], *save = NULL, *word, *index;
	uint32_t ifindex = e->next.values.ifindex;

	text_copy(copy, sizeof(copy), strlen(value) < sizeof(copy) ? value : "? ?");
	word = strtok_r(copy, " \t", &save);
	index = strtok_r(NULL, " \t", &save);
	if (!word) {
		attr_clear(&port_attributes[PORT_ATTR_netdev], &e->next.values);
		return 0;
	}
	if (!parse_netdev_name(word, name) || (index && !parse_ifindex(index, &ifindex)) ||
	    strtok_r(NULL, " \t", &save) || !ifindex)
		return scenario_refuse(-EINVAL, ret_message,
				       "netdev = %.100s: expected a name of up to 15 bytes and the "
				       "index of the interface, or nothing",
				       value);
	PORT_SUPPLY_TEXT(&e->next, netdev, name);
	PORT_SUPPLY(&e->next, ifindex, ifindex);
	return 0;
}

/* Makes table T of the words of VALUE, which are separated by spaces or commas: ENTRY of SIZE bytes
 * is made of each by PARSE. The index of the interface follows in agree_netdevs(). */
static int set_words(PortEdit *e, PortTable t, const char *value, size_t size,
		     bool (*parse)(const char *word, void *ret))
{
	_cleanup_free_ char *copy = strdup(value), *entries = NULL;
	char *save = NULL;
	size_t n = 0;
	Table *table;

	entries = calloc(strlen(value) / 2 + 1, size);
	if (!copy || !entries)
		return -ENOMEM;
	for (char *word = strtok_r(copy, " \t,", &save); word; word = strtok_r(NULL, " \t,", &save))
		if (!parse(word, entries + n++ * size))
			return -EINVAL;
	if (n > TABLE_ENTRIES_MAX)
		return -EINVAL;
	if (table_make(entries, n, size, &table) < 0)
		return -ENOMEM;
	edit_table(e, t, table);
	return 0;
}

static bool parse_altname(const char *word, void *ret)
{
	AltnameEntry *entry = ret;

	if (strlen(word) >= sizeof(entry->name) || strchr(word, '/'))
		return false;
	text_copy_clean(entry->name, sizeof(entry->name), word);
	return true;
}

static bool parse_address(const char *word, void *ret)
{
	return gid_parse(word, ((AddressEntry *)ret)->address) == 0;
}

/* "NAME..." and "ADDRESS..." of the port's interface. */
static int set_altnames(PortEdit *e, const char *value, char **ret_message)
{
	int r = set_words(e, PORT_TABLE_ALTNAMES, value, sizeof(AltnameEntry), parse_altname);

	return r != -EINVAL ? r
			    : scenario_refuse(r, ret_message,
					      "altnames = %.100s: expected names of up to 127 "
					      "bytes",
					      value);
}

static int set_addresses(PortEdit *e, const char *value, char **ret_message)
{
	int r = set_words(e, PORT_TABLE_ADDRESSES, value, sizeof(AddressEntry), parse_address);

	return r != -EINVAL ? r
			    : scenario_refuse(r, ret_message,
					      "addresses = %.100s: expected IP addresses", value);
}

/* Edits */

void port_edit_begin(PortEdit *e, SimulatedPort *port)
{
	e->port = port;
	e->next = port->now;
	texts_hold(e->next.values.texts);
	e->touched = (AttrMask){};
}

void port_edit_discard(PortEdit *e)
{
	for (PortTable t = 0; e->port && t < _PORT_TABLE_MAX; t++)
		if (e->next.tables[t] != e->port->now.tables[t])
			table_free(e->next.tables[t]);
	if (e->port)
		texts_release(e->next.values.texts);
	e->port = NULL;
}

void port_edit_commit(PortEdit *e)
{
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++)
		if (e->next.tables[t] != e->port->now.tables[t])
			table_free(e->port->now.tables[t]);
	texts_release(e->port->now.values.texts);
	e->port->now = e->next;
	e->port = NULL;
}

/* SET is simulated_counters_set() or simulated_users_set(). */
static int set_in_table(PortEdit *e, PortTable t, const char *key, const char *value,
			__typeof__(simulated_users_set) *set, char **ret_message)
{
	Table *table = NULL;
	int r = set(e->next.tables[t], key, value, &table, ret_message);

	if (r == 0)
		edit_table(e, t, table);
	return r;
}

static int set_vf(PortEdit *e, const char *key, const char *number, const char *value,
		  char **ret_message)
{
	VfEntry entry;
	int r = simulated_vf_parse(key, number, value, &entry, ret_message);

	return r < 0 ? r
		     : edit_entry(e, PORT_TABLE_VFS, entry.number, *value ? &entry : NULL,
				  sizeof(entry));
}

static int set_bond_member(PortEdit *e, const char *key, const char *index, const char *value,
			   char **ret_message)
{
	BondMember entry;
	int r = simulated_bond_member_parse(key, index, value, &entry, ret_message);

	return r < 0 ? r
		     : edit_entry(e, PORT_TABLE_BOND_MEMBERS, entry.ifindex, *value ? &entry : NULL,
				  sizeof(entry));
}

static bool is_of_record(const PortEdit *e)
{
	return e->port->protocol == PROTOCOL_UNKNOWN;
}

static int set_recorded(PortEdit *e, const char *key, const char *value, char **ret_message)
{
	Table *table = NULL;
	PortTable t;
	int r = recorded_port_set(&e->next, key, value, &t, &table, ret_message);
	bool supplied;

	if (r < 0 || t == _PORT_TABLE_MAX)
		return r;
	supplied = mask_has(&e->next.supplied, port_table_attr(t));
	edit_table(e, t, table);
	mask_set(&e->next.supplied, port_table_attr(t), supplied);
	return 0;
}

static int edit_set(PortEdit *e, const char *key, const char *value, char **ret_message)
{
	const char *index;
	PortAttr a;

	if (is_of_record(e))
		return set_recorded(e, key, value, ret_message);
	index = startswith(key, "gid.");
	if (index)
		return set_gid(e, key, index, value, ret_message);
	index = startswith(key, "pkey.");
	if (index)
		return set_pkey(e, key, index, value, ret_message);
	if (simulated_is_vf(key, &index))
		return set_vf(e, key, index, value, ret_message);
	index = startswith(key, "bond_member.");
	if (index)
		return set_bond_member(e, key, index, value, ret_message);
	if (simulated_is_counter(key))
		return set_in_table(e, PORT_TABLE_COUNTERS, key, value, simulated_counters_set,
				    ret_message);
	if (simulated_is_user(key))
		return set_in_table(e, PORT_TABLE_USERS, key, value, simulated_users_set,
				    ret_message);
	if (port_attr_from_field(key, &a) < 0)
		return scenario_refuse(-EINVAL, ret_message,
				       "%.100s: no attribute of a port, expected a field of it "
				       "such as state, or gid.INDEX, pkey.INDEX, vf.NUMBER, "
				       "bond_member.IFINDEX, counter.NAME, hw_counter.NAME, "
				       "user.PID or kernel_user.NAME",
				       key);
	mask_set(&e->touched, a, true);
	if (a == PORT_ATTR_netdev)
		return set_netdev(e, value, ret_message);
	if (a == PORT_ATTR_altnames)
		return set_altnames(e, value, ret_message);
	if (a == PORT_ATTR_addresses)
		return set_addresses(e, value, ret_message);
	return simulated_set_row(port_attributes, a, &e->next.values, &e->next.supplied, value,
				 ret_message);
}

int port_edit_apply(PortEdit *e, const Setting *settings, size_t n, unsigned int *ret_line,
		    char **ret_message)
{
	/* Entries of tables come second: they need the length of the table and the netdev. */
	for (int entries = 0; entries < 2; entries++)
		for (size_t i = 0; i < n; i++) {
			int r = 0;

			if (!!strchr(settings[i].key, '.') == entries)
				r = edit_set(e, settings[i].key, settings[i].value, ret_message);
			if (r < 0) {
				*ret_line = settings[i].line;
				return r;
			}
		}
	return 0;
}

/* Drivers fill both codes of the speed: if a setting has one of them, the other one follows it. */
static void agree_speeds(PortEdit *e)
{
	PortValues *v = &e->next.values;
	bool speed = mask_has(&e->touched, PORT_ATTR_active_speed);
	bool speed_ex = mask_has(&e->touched, PORT_ATTR_active_speed_ex);

	if (speed && !speed_ex)
		PORT_SUPPLY(&e->next, active_speed_ex, v->active_speed);
	else if (speed_ex && !speed)
		PORT_SUPPLY(&e->next, active_speed, v->active_speed_ex);
	/* Called again, this must not take the cut code for the speed. */
	mask_set(&e->touched, PORT_ATTR_active_speed, speed || speed_ex);
	mask_set(&e->touched, PORT_ATTR_active_speed_ex, speed || speed_ex);
	v->active_speed = MIN(v->active_speed, SPEED_NDR);
}

_Static_assert(offsetof(AltnameEntry, ifindex) == 0 && offsetof(AddressEntry, ifindex) == 0,
	       "agree_ifindex() takes the first member for the index");

/* The other names and the addresses of table T are those of the port's interface. */
static int agree_ifindex(PortEdit *e, PortTable t)
{
	const Table *old = e->next.tables[t];
	uint32_t ifindex = e->next.values.ifindex;
	Table *table;

	if (!old || entry_index(old, 0) == ifindex)
		return 0;
	table = table_copy(old);
	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->n; i++)
		memcpy(table->entries + (size_t)i * table->entry_size, &ifindex, sizeof(ifindex));
	edit_table(e, t, table);
	return 0;
}

/* The table of network interfaces, and the names in the GID table, follow the netdev of the port.
 */
static int agree_netdevs(PortEdit *e)
{
	static const PortAttr rows[] = {PORT_ATTR_netdev, PORT_ATTR_ifindex, PORT_ATTR_netdev_mtu,
					PORT_ATTR_netdev_up, PORT_ATTR_netdev_operstate};
	PortValues *v = &e->next.values;
	bool is_touched = false;
	NetdevEntry netdev = {};
	const Table *gids = e->next.tables[PORT_TABLE_GIDS];
	Table *table = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		is_touched |= mask_has(&e->touched, rows[i]);
	if (!is_touched)
		return 0;
	if (!TEXT_OF(v, netdev)[0] || !v->ifindex) {
		attr_clear(&port_attributes[PORT_ATTR_netdev], v);
		v->ifindex = 0;
		edit_table(e, PORT_TABLE_NETDEVS, NULL);
		return 0;
	}
	netdev.ifindex = v->ifindex;
	text_copy(netdev.name, sizeof(netdev.name), TEXT_OF(v, netdev));
	simulated_ipoib_describe(&e->next, &netdev);
	table = table_new(&netdev, 1, sizeof(netdev));
	if (!table)
		return -ENOMEM;
	edit_table(e, PORT_TABLE_NETDEVS, table);
	if (!gids)
		return 0;
	table = table_copy(gids);
	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->n; i++) {
		GidEntry *g = (GidEntry *)(void *)table->entries + i;

		if (g->ifindex == v->ifindex)
			memcpy(g->netdev, netdev.name, sizeof(g->netdev));
	}
	edit_table(e, PORT_TABLE_GIDS, table);
	return 0;
}

/* An interface that has members beside it is in a bond, whose name its master is. */
static void agree_bond(PortEdit *e)
{
	const PortValues *v = &e->next.values;

	if (e->next.tables[PORT_TABLE_BOND_MEMBERS] && !mask_has(&e->touched, PORT_ATTR_bond) &&
	    TEXT_OF(v, netdev_master)[0])
		PORT_SUPPLY_TEXT(&e->next, bond, TEXT_OF(v, netdev_master));
}

static int check_length(const PortEdit *e, PortTable t, const char *key, uint32_t length,
			char **ret_message)
{
	const Table *table = e->next.tables[t];

	if (table && entry_index(table, table->n - 1) >= length)
		return scenario_refuse(-EINVAL, ret_message,
				       "%s = %u: entry %u is in use, expected more than that", key,
				       length, entry_index(table, table->n - 1));
	return 0;
}

int port_edit_finish(PortEdit *e, char **ret_message)
{
	const PortValues *v = &e->next.values;
	int r;

	if (is_of_record(e))
		return 0;
	agree_speeds(e);
	r = check_length(e, PORT_TABLE_GIDS, "gid_tbl_len", v->gid_tbl_len, ret_message);
	if (r < 0)
		return r;
	r = check_length(e, PORT_TABLE_PKEYS, "pkey_tbl_len", v->pkey_tbl_len, ret_message);
	if (r < 0)
		return r;
	agree_bond(e);
	r = agree_netdevs(e);
	if (r == 0)
		r = agree_ifindex(e, PORT_TABLE_ALTNAMES);
	return r < 0 ? r : agree_ifindex(e, PORT_TABLE_ADDRESSES);
}

/* Defaults */

int port_edit_defaults(PortEdit *e, const SimulatedDevice *d)
{
	AttrProtocol protocol = e->port->protocol;
	uint32_t n = d->first_port + (uint32_t)(e->port - d->ports);
	PortValues *v = &e->next.values;
	AttrText text;

	if (is_of_record(e))
		return 0;
	v->protocol = protocol; /* what a value means may depend on it */
	for (size_t i = 0; i < n_simulated_defaults; i++) {
		const SimulatedDefault *f = &simulated_defaults[i];

		if (f->protocol != protocol && f->protocol != _PROTOCOL_MAX)
			continue;
		if (attr_parse(&port_attributes[f->attr], v, f->value) < 0)
			return -EINVAL;
		mask_set(&e->next.supplied, f->attr, true);
	}
	for (PortTable t = 0; t < _PORT_TABLE_MAX; t++)
		mask_set(&e->next.supplied, port_table_attr(t), true);
	if (v->link_layer == LINK_LAYER_INFINIBAND) {
		/* unicast LIDs are below 0xc000, and LID 1 is that of the subnet manager */
		v->lid = 2 + n % 0xbffe;
		return 0;
	}
	snprintf(text, sizeof(text), "sim%u", n);
	PORT_SUPPLY_TEXT(&e->next, netdev, text);
	PORT_SUPPLY(&e->next, ifindex, FIRST_IFINDEX + n);
	snprintf(text, sizeof(text), "02:00:%02x:%02x:%02x:%02x", n >> 24, n >> 16 & 0xff,
		 n >> 8 & 0xff, n & 0xff);
	PORT_SUPPLY_TEXT(&e->next, netdev_address, text);
	mask_set(&e->touched, PORT_ATTR_netdev, true);
	return 0;
}

static int complete_gids(PortEdit *e, const SimulatedDevice *d)
{
	AttrProtocol protocol = e->port->protocol;
	uint32_t number = (uint32_t)(e->port - d->ports) + 1;
	const PortValues *v = &e->next.values;
	GidEntry gids[4] = {};
	uint64_t guid = d->now.values.node_guid + number;
	uint32_t n = d->first_port + number;
	size_t n_gids = 1;
	Table *table;

	if (protocol == PROTOCOL_INFINIBAND || protocol == PROTOCOL_OPA) {
		for (unsigned int i = 0; i < 8; i++) {
			gids[0].gid[i] = (uint8_t)(v->subnet_prefix >> (56 - 8 * i));
			gids[0].gid[8 + i] = (uint8_t)(guid >> (56 - 8 * i));
		}
	} else {
		uint8_t link_local[16] = {0xfe, 0x80}, mac[HW_ADDRESS_MAX] = {};
		uint8_t v4[16] = {[10] = 0xff,	  [11] = 0xff,	 10,
				  n >> 16 & 0xff, n >> 8 & 0xff, n & 0xff};

		if (!TEXT_OF(v, netdev)[0] ||
		    hw_address_parse(TEXT_OF(v, netdev_address), mac) != 6)
			return 0;
		mac_interface_id(mac, link_local + 8);
		/* RoCE: both types of the link-local and of one IPv4 address. iWARP: the MAC */
		n_gids = protocol == PROTOCOL_ROCE ? 4 : 1;
		for (uint32_t i = 0; i < n_gids; i++) {
			gids[i].index = i;
			gids[i].type = n_gids == 1 ? GID_TYPE_IB
				       : i % 2	   ? GID_TYPE_ROCE_V2
						   : GID_TYPE_ROCE_V1;
			memcpy(gids[i].gid, n_gids == 1 ? mac : i < 2 ? link_local : v4, 16);
			gids[i].ifindex = v->ifindex;
			text_copy(gids[i].netdev, sizeof(gids[i].netdev), TEXT_OF(v, netdev));
		}
	}
	n_gids = MIN(n_gids, v->gid_tbl_len);
	if (table_make(gids, n_gids, sizeof(GidEntry), &table) < 0)
		return -ENOMEM;
	edit_table(e, PORT_TABLE_GIDS, table);
	return 0;
}

int port_edit_complete(PortEdit *e, const SimulatedDevice *d)
{
	PortValues *v = &e->next.values;
	PkeyEntry pkey = {.pkey = 0xffff};
	uint64_t signalling, data;
	int r = 0;

	if (is_of_record(e))
		return 0;
	agree_speeds(e);
	if (!mask_has(&e->touched, PORT_ATTR_netdev_speed) && TEXT_OF(v, netdev)[0] &&
	    decode_speed(v->active_speed_ex ? v->active_speed_ex : v->active_speed, &signalling,
			 &data))
		PORT_SUPPLY(&e->next, netdev_speed,
			    decode_number(ATTR_WIDTH, v->active_width) * signalling);
	if (!mask_has(&e->touched, PORT_ATTR_gids))
		r = complete_gids(e, d);
	if (!mask_has(&e->touched, PORT_ATTR_bond_members))
		edit_table(e, PORT_TABLE_BOND_MEMBERS, NULL);
	if (!mask_has(&e->touched, PORT_ATTR_vfs))
		edit_table(e, PORT_TABLE_VFS, NULL);
	if (r == 0 && !mask_has(&e->touched, PORT_ATTR_pkeys) && v->pkey_tbl_len)
		r = edit_entry(e, PORT_TABLE_PKEYS, 0, &pkey, sizeof(pkey));
	return r;
}
