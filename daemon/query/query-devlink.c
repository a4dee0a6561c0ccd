/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-devlink.h"

#include <linux/genetlink.h>

#include "netlink-value.h"
#include "query-sysfs.h"

/* An adapter has about five, and two for each of its ports. */
#define REPORTERS_MAX 256U

typedef struct HealthList {
	const DevlinkHandle *handle;
	size_t n;
	HealthEntry entries[REPORTERS_MAX];
} HealthList;

bool devlink_handle(int device, const char *parent, DevlinkHandle *ret)
{
	const char *slash = strrchr(parent, '/');
	DevlinkHandle h = {};

	if (!slash || !slash[1] || strlen(slash + 1) >= sizeof(h.device) ||
	    sysfs_read_link(device, "device/subsystem", h.bus, sizeof(h.bus)) < 0)
		return false;
	text_copy(h.device, sizeof(h.device), slash + 1);
	*ret = h;
	return true;
}

static bool is_same(const DevlinkHandle *a, const DevlinkHandle *b)
{
	return streq(a->bus, b->bus) && streq(a->device, b->device);
}

int devlink_parse_reporter(const struct nlmsghdr *message, const DevlinkHandle *h, HealthEntry *ret)
{
	struct nlattr *r[DEVLINK_ATTR_MAX + 1];
	DevlinkAttributes a;
	DevlinkHandle of;
	HealthEntry e = {};
	uint64_t number;
	uint8_t command;

	if (devlink_parse(message, a, &command, &of) < 0)
		return -EBADMSG;
	if (!is_same(h, &of))
		return -ENOENT;
	if (command != DEVLINK_CMD_HEALTH_REPORTER_GET || !a[DEVLINK_ATTR_HEALTH_REPORTER] ||
	    nla_parse_nested(r, DEVLINK_ATTR_MAX, a[DEVLINK_ATTR_HEALTH_REPORTER], NULL) < 0 ||
	    !netlink_text(r[DEVLINK_ATTR_HEALTH_REPORTER_NAME], e.name, sizeof(e.name)) ||
	    !netlink_number(r[DEVLINK_ATTR_HEALTH_REPORTER_STATE], &number) ||
	    number > UINT32_MAX ||
	    !netlink_number(r[DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT], &e.errors) ||
	    !netlink_number(r[DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT], &e.recoveries))
		return -EBADMSG;
	e.state = (uint32_t)number;
	if (netlink_number(a[DEVLINK_ATTR_PORT_INDEX], &number) && number <= UINT32_MAX)
		snprintf(e.port, sizeof(e.port), "%u", (uint32_t)number);
	if (netlink_number(r[DEVLINK_ATTR_HEALTH_REPORTER_DUMP_TS_NS], &number))
		e.last_dump = number / 1000;
	*ret = e;
	return 0;
}

static int ask(Genl *g, uint8_t command, int flags, const DevlinkHandle *h, NetlinkHandler handler,
	       void *userdata)
{
	struct nl_msg *m = genl_request(g, command, flags);

	if (!m)
		return -ENOMEM;
	nla_put_string(m, DEVLINK_ATTR_BUS_NAME, h->bus);
	nla_put_string(m, DEVLINK_ATTR_DEV_NAME, h->device);
	return netlink_ask(&g->netlink, m, handler, userdata);
}

static int on_reporter(const struct nlmsghdr *message, void *userdata)
{
	HealthList *list = userdata;
	HealthEntry e;
	int r = devlink_parse_reporter(message, list->handle, &e);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (list->n < REPORTERS_MAX)
		list->entries[list->n++] = e;
	return 0;
}

int devlink_read_health(Genl *g, const DevlinkHandle *h, Table **ret)
{
	_cleanup_free_ HealthList *list = malloc(sizeof(*list));
	int r = list ? genl_open(g, DEVLINK_GENL_NAME) : -ENOMEM;

	/* Before 6.6 the dump below is one of all instances, whatever it is asked for. Such a dump
	 * does not say that this instance does not exist. */
	if (r == 0)
		r = ask(g, DEVLINK_CMD_GET, 0, h, netlink_ignore, NULL);
	if (r < 0)
		return r;
	r = -EINTR;
	for (unsigned int i = 0; i < NETLINK_DUMPS && r == -EINTR; i++) {
		list->handle = h;
		list->n = 0;
		r = ask(g, DEVLINK_CMD_HEALTH_REPORTER_GET, NLM_F_DUMP, h, on_reporter, list);
	}
	return r < 0 ? r : table_make(list->entries, list->n, sizeof(HealthEntry), ret);
}
