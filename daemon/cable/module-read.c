/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "module-read.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "netlink-value.h"

/* Linux 5.13; newer than the headers of Debian 11 */
#define EEPROM_GET	 31
#define EEPROM_GET_REPLY 32
enum {
	EEPROM_HEADER = 1,
	EEPROM_OFFSET,
	EEPROM_LENGTH,
	EEPROM_PAGE,
	EEPROM_BANK,
	EEPROM_ADDRESS,
	EEPROM_DATA
};

int module_parse_page(const struct nlmsghdr *message, void *page)
{
	struct nlattr *a[EEPROM_DATA + 1];

	if (genl_parse(message, EEPROM_GET_REPLY, a, EEPROM_DATA) < 0 ||
	    !netlink_structure(a[EEPROM_DATA], page, MODULE_PAGE_SIZE))
		return -EBADMSG;
	return 0;
}

static int read_page(Genl *g, uint32_t ifindex, const ModulePlace *place, uint8_t *ret)
{
	struct nl_msg *m = genl_ethtool_request(g, EEPROM_GET, EEPROM_HEADER, ifindex, 0);

	if (!m)
		return -ENOMEM;
	nla_put_u32(m, EEPROM_OFFSET, place->offset);
	nla_put_u32(m, EEPROM_LENGTH, MODULE_PAGE_SIZE);
	nla_put_u8(m, EEPROM_PAGE, place->number);
	nla_put_u8(m, EEPROM_BANK, 0);
	nla_put_u8(m, EEPROM_ADDRESS, place->address);
	return netlink_ask(&g->netlink, m, module_parse_page, ret);
}

/* An interface that is being reset or has gone answers nothing: -ENODEV says no more than that
 * then. */
static bool answers(Genl *g, uint32_t ifindex)
{
	struct nl_msg *m = genl_ethtool_request(g, ETHTOOL_MSG_LINKSTATE_GET,
						ETHTOOL_A_LINKSTATE_HEADER, ifindex, 0);

	return m && netlink_ask(&g->netlink, m, netlink_ignore, NULL) == 0;
}

int module_read(Genl *g, uint32_t ifindex, ModulePages *ret)
{
	ModulePages p = {};
	ModulePlace place;
	int r = genl_open(g, ETHTOOL_GENL_NAME);

	if (r < 0)
		return r;
	for (ModulePage i = 0; i < _PAGE_MAX; i++) {
		if (!module_has_page(&p, i, &place))
			continue;
		r = read_page(g, ifindex, &place, p.bytes[i]);
		if (r == -ENODEV && i == PAGE_LOWER && answers(g, ifindex))
			return -ENOMEDIUM;
		if (r < 0 && i == PAGE_LOWER)
			return r;
		p.is_read[i] = r == 0;
	}
	*ret = p;
	return 0;
}
