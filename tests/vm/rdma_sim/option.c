// SPDX-License-Identifier: GPL-2.0-only
/*
 * The words of "add": defaults, one parser for each kind, and the rules that
 * concern more than one word.
 */
#include <linux/kernel.h>
#include <linux/nodemask.h>
#include <linux/string.h>
#include <rdma/mlx5-abi.h>

#include "rdma_sim.h"

#define RXE_UVERBS_ABI_VERSION	2	/* these two stand in no header of the kernel's */
#define SIW_UVERBS_ABI_VERSION	1

static const char *const link_names[] = {
	[SIM_LINK_IB] = "ib",
	[SIM_LINK_ETH] = "eth",
	[SIM_LINK_IWARP] = "iwarp",
};

static const char *const pma_names[] = {
	[SIM_PMA_NONE] = "none",
	[SIM_PMA_PLAIN] = "plain",
	[SIM_PMA_EXT] = "ext",
	[SIM_PMA_NOIETF] = "noietf",
};

static const struct {
	const char *name;
	enum sim_driver driver;
	u32 id;
	u32 abi;
} drivers[] = {
	{ "none", SIM_DRIVER_PLAIN, RDMA_DRIVER_UNKNOWN, 1 },
	{ "rxe", SIM_DRIVER_PLAIN, RDMA_DRIVER_RXE, RXE_UVERBS_ABI_VERSION },
	{ "siw", SIM_DRIVER_PLAIN, RDMA_DRIVER_SIW, SIW_UVERBS_ABI_VERSION },
	{ "mlx5", SIM_DRIVER_MLX5, RDMA_DRIVER_MLX5, MLX5_IB_UVERBS_ABI_VERSION },
	{ "hbl", SIM_DRIVER_HBL, HBL_DRIVER_ID, HBL_UVERBS_ABI_VERSION },
};

#define OPTION(field, min_, max_) \
	{ #field, offsetof(struct sim_options, field), sizeof_field(struct sim_options, field), \
	  min_, max_ }

static const struct {
	const char *name;
	u16 offset;
	u8 size;
	u64 min;
	u64 max;
} numbers[] = {
	OPTION(ports, 1, SIM_MAX_PORTS),
	OPTION(count, 1, SIM_MAX_DEVICES),
	OPTION(pkeys, 1, SIM_MAX_PKEYS),
	OPTION(gids, 1, SIM_MAX_GIDS),
	OPTION(guid, 1, U64_MAX),
	OPTION(image_guid, 1, U64_MAX),
	OPTION(abi, 0, U32_MAX),
	OPTION(vendor, 0, U32_MAX),
	OPTION(part, 0, U32_MAX),
	OPTION(hw_rev, 0, U32_MAX),
	OPTION(vfs, 0, SIM_MAX_VFS),
	OPTION(planes, 0, SIM_MAX_PORTS),
	OPTION(numa, 0, MAX_NUMNODES - 1),
	OPTION(grh, 0, 1),
	OPTION(nodisassoc, 0, 1),
	OPTION(dcb, 0, 1),
	OPTION(devlink, 0, 1),
	OPTION(phy, 0, 1),
	OPTION(mad, 0, 1),
};

static const struct {
	const char *name;
	u16 offset;
} texts[] = {
	{ "parent", offsetof(struct sim_options, parent) },
	{ "hca_type", offsetof(struct sim_options, hca_type) },
	{ "board_id", offsetof(struct sim_options, board_id) },
};

const char *sim_link_name(enum sim_link link)
{
	return link_names[link];
}

/*
 * ib_core uses the name as a format when there is a % in it, so only one %d is
 * let through; and sysfs takes no slash.
 */
static bool name_is_valid(const char *name)
{
	const char *percent = strchr(name, '%');
	size_t len = strlen(name);

	if (!len || len >= IB_DEVICE_NAME_MAX || strchr(name, '/') || strchr(name, '=') ||
	    !strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, "all"))
		return false;
	return !percent || (percent[1] == 'd' && !strchr(percent + 1, '%'));
}

int sim_options_init(struct sim_options *opt, const char *name)
{
	*opt = (struct sim_options) {
		.driver_id = RDMA_DRIVER_RXE,
		.abi = RXE_UVERBS_ABI_VERSION,
		.ports = 1,
		.count = 1,
		.pkeys = 16,
		.gids = 8,
		.vendor = 0x02c9,
		.part = 4129,
		.hw_rev = 1,
		.numa = U32_MAX,
		.fw = { 28, 39, 1002 },
		.pma = SIM_PMA_EXT,
		.links = { SIM_LINK_IB },
		.nlinks = 1,
		.parent = "none",
		.hca_type = "SIM",
		.board_id = "SIM0000000001",
	};
	if (!name_is_valid(name))
		return -EINVAL;
	strscpy(opt->name, name, sizeof(opt->name));
	return 0;
}

static int parse_number(struct sim_options *opt, size_t i, const char *value)
{
	void *field = (void *)opt + numbers[i].offset;
	u64 n;
	int ret;

	ret = kstrtou64(value, 0, &n);
	if (ret)
		return ret;
	if (n < numbers[i].min || n > numbers[i].max)
		return -ERANGE;
	switch (numbers[i].size) {
	case 1:
		*(u8 *)field = n;
		break;
	case 4:
		*(u32 *)field = n;
		break;
	case 8:
		*(u64 *)field = n;
		break;
	}
	return 0;
}

static int parse_driver(struct sim_options *opt, const char *value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		if (!strcmp(value, drivers[i].name)) {
			opt->driver = drivers[i].driver;
			opt->driver_id = drivers[i].id;
			opt->abi = drivers[i].abi;
			return 0;
		}
	/* A number changes the id alone: "driver=hbl driver=14" is hbl for librxe. */
	return kstrtou32(value, 0, &opt->driver_id);
}

static int parse_links(struct sim_options *opt, char *value)
{
	char *word;
	int link;

	opt->nlinks = 0;
	while ((word = strsep(&value, ","))) {
		link = match_string(link_names, ARRAY_SIZE(link_names), word);
		if (link < 0)
			return -EINVAL;
		if (opt->nlinks == SIM_MAX_LINKS)
			return -ERANGE;
		opt->links[opt->nlinks++] = link;
	}
	return 0;
}

static int parse_netdevs(struct sim_options *opt, char *value)
{
	char *word;

	opt->nnetdevs = 0;
	while ((word = strsep(&value, ","))) {
		if (!*word || strlen(word) >= IFNAMSIZ)
			return -EINVAL;
		if (opt->nnetdevs == SIM_MAX_LINKS)
			return -ERANGE;
		strscpy(opt->netdevs[opt->nnetdevs++], strcmp(word, "-") ? word : "", IFNAMSIZ);
	}
	return 0;
}

static int parse_fw(struct sim_options *opt, char *value)
{
	char *word;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(opt->fw); i++) {
		word = strsep(&value, ".");
		if (!word || kstrtou32(word, 10, &opt->fw[i]))
			return -EINVAL;
		if (i && opt->fw[i] > U16_MAX)
			return -ERANGE;
	}
	return value ? -EINVAL : 0;
}

int sim_option_parse(struct sim_options *opt, const char *name, char *value)
{
	size_t i;
	int pma;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(name, numbers[i].name))
			return parse_number(opt, i, value);
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		if (!strcmp(name, texts[i].name)) {
			if (!*value || strlen(value) >= SIM_TEXT_MAX)
				return -EINVAL;
			strscpy((char *)opt + texts[i].offset, value, SIM_TEXT_MAX);
			return 0;
		}
	if (!strcmp(name, "driver"))
		return parse_driver(opt, value);
	if (!strcmp(name, "link"))
		return parse_links(opt, value);
	if (!strcmp(name, "netdev"))
		return parse_netdevs(opt, value);
	if (!strcmp(name, "fw"))
		return parse_fw(opt, value);
	if (!strcmp(name, "pma")) {
		pma = match_string(pma_names, ARRAY_SIZE(pma_names), value);
		if (pma >= 0)
			opt->pma = pma;
		return pma < 0 ? -EINVAL : 0;
	}
	return -EINVAL;
}

/* What only makes sense together. The word returned is the one to blame. */
int sim_options_check(struct sim_options *opt, const char **ret_word)
{
	u32 i, iwarp = 0;

	for (i = 0; i < opt->nlinks; i++)
		iwarp += opt->links[i] == SIM_LINK_IWARP;

	*ret_word = "count";
	if (opt->count > 1 && !strchr(opt->name, '%'))
		return -EINVAL;
	*ret_word = "link";
	if (opt->nlinks > opt->ports || (iwarp && iwarp != opt->nlinks))
		return -EINVAL;
	*ret_word = "netdev";
	if (opt->nnetdevs > opt->ports)
		return -EINVAL;
	for (i = 0; i < opt->nnetdevs; i++)
		if (opt->netdevs[i][0] &&
		    opt->links[min(i, opt->nlinks - 1)] == SIM_LINK_IB)
			return -EINVAL;
	/* ib_core refuses to register an iWARP port that has none. */
	if (iwarp)
		for (i = 0; i < opt->ports; i++)
			if (i >= opt->nnetdevs || !opt->netdevs[i][0])
				return -EINVAL;
	*ret_word = "vfs";
	if (opt->vfs) {
		/* The interface has the name of the device with an n behind it. */
		if (opt->count > 1 || opt->nnetdevs || strcmp(opt->parent, "none") ||
		    snprintf(opt->vf_netdev, sizeof(opt->vf_netdev), "%sn", opt->name) >=
			    sizeof(opt->vf_netdev))
			return -EINVAL;
		if (opt->links[0] != SIM_LINK_IB) {
			strscpy(opt->netdevs[0], opt->vf_netdev, sizeof(opt->netdevs[0]));
			opt->nnetdevs = 1;
		}
	}
	*ret_word = "devlink";
	if (opt->devlink && !strcmp(opt->parent, "none"))
		return -EINVAL;
	*ret_word = "mad";
	if (opt->mad && opt->ports > U8_MAX)	/* ib_core has 8 bits for that of a QP0 */
		return -EINVAL;
	*ret_word = "numa";
	if (opt->numa != U32_MAX) {
		if (strcmp(opt->parent, "platform"))
			return -EINVAL;
		if (!node_online(opt->numa))
			return -ERANGE;
	}
	*ret_word = NULL;
	return 0;
}
