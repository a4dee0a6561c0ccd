/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The input is messages of rtnetlink in which the worker reads about an interface: itself, an
 * address, its priorities, its virtual functions. */

#include <sys/socket.h>

#include "fuzz.h"
#include "list.h"
#include "query-dcb.h"
#include "query-vfs.h"

static void check_text(const char *text, size_t size)
{
	FUZZ_CHECK(memchr(text, '\0', size));
}

static void check_rows(const PortSnapshot *s)
{
	MASK_FOREACH(a, s->supplied)
	{
		const Attribute *row = &port_attributes[a];

		if (attr_is_text(row->type))
			check_text(attr_get_text(row, &s->values), row->size);
		if (attr_is_list(row->type))
			FUZZ_CHECK(list_is_valid(row->type, attr_get_text(row, &s->values)));
	}
}

/* How many items row A of S has. */
static size_t count_items(const PortSnapshot *s, PortAttr a)
{
	const Attribute *row = &port_attributes[a];
	ListItem item;
	size_t n = 0;

	for (ListReader r = list_reader(row->type, attr_get_text(row, &s->values));
	     list_next(&r, &item);)
		n++;
	return n;
}

static void take_priorities(const struct nlmsghdr *m)
{
	_cleanup_(port_snapshot_done) PortSnapshot s = {};
	size_t n_mapped = 0;
	Dcb d;
	int r = dcb_parse(m, &d);

	FUZZ_CHECK(r == 0 || r == -EBADMSG);
	if (r < 0)
		return;
	FUZZ_CHECK(d.n_trust <= DCB_TRUST_MAX);
	dcb_supply(&d, &s);
	check_rows(&s);
	/* Every item had room. */
	FUZZ_CHECK(!d.has_ets || count_items(&s, PORT_ATTR_ets_algorithm) == DCB_PRIORITIES);
	FUZZ_CHECK(!d.has_ets || count_items(&s, PORT_ATTR_ets_bandwidth) == DCB_PRIORITIES);
	FUZZ_CHECK(!d.has_ets || count_items(&s, PORT_ATTR_prio_to_tc) == DCB_PRIORITIES);
	for (size_t i = 0; i < DCB_DSCPS; i++)
		n_mapped += d.dscp[i] > 0;
	FUZZ_CHECK(count_items(&s, PORT_ATTR_dscp_to_priority) == n_mapped);
	FUZZ_CHECK(!d.n_trust || count_items(&s, PORT_ATTR_priority_trust) > 0);
}

static void take_interface(const struct nlmsghdr *m)
{
	_cleanup_(port_snapshot_done) PortSnapshot s = {};
	Netdev d;
	int r = netdev_parse(m, &d);

	FUZZ_CHECK(r == 0 || r == -EBADMSG);
	if (r < 0)
		return;
	check_text(d.name, sizeof(d.name));
	FUZZ_CHECK(d.address_length <= NETDEV_ADDRESS_MAX);
	FUZZ_CHECK(d.n_altnames <= NETDEV_ALTNAMES_MAX);
	for (size_t i = 0; i < d.n_altnames; i++)
		check_text(d.altnames[i].name, sizeof(d.altnames[i].name));
	d.master = 0; /* it would be looked for on this machine */
	netdev_supply(&d, &s);
	check_rows(&s);
}

static void take_functions(const struct nlmsghdr *m)
{
	static VfList l;
	int r = vfs_parse(m, &l);

	FUZZ_CHECK(r == 0 || r == -EBADMSG || r == -EMSGSIZE);
	if (r < 0)
		return;
	FUZZ_CHECK(l.n <= VFS_MAX);
	for (size_t i = 0; i < l.n; i++) {
		FUZZ_CHECK(i == 0 || l.entries[i].number > l.entries[i - 1].number);
		check_text(l.entries[i].address, sizeof(l.entries[i].address));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ void *datagram = malloc(size + 1); /* aligned, which DATA need not be */
	struct nlmsghdr *m = datagram;
	int left = (int)size;
	AddressEntry address;

	if (!datagram)
		return 0;
	memcpy(datagram, data, size);
	for (; nlmsg_ok(m, left); m = nlmsg_next(m, &left)) {
		take_priorities(m);
		take_interface(m);
		take_functions(m);
		(void)netdev_parse_address(m, AF_INET, 2, &address);
		(void)netdev_parse_address(m, AF_INET6, 2, &address);
	}
	return 0;
}
