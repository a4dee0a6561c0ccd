/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-accelerators.h"

#include <fcntl.h>

#include "accelerator.h"
#include "clock.h"
#include "list.h"
#include "query-pcie.h"
#include "query-sysfs.h"

#define AMAZON 0x1d0fU
#define AMD    0x1002U
#define INTEL  0x8086U
#define NVIDIA 0x10deU

#define MAX_AGE_USEC UINT64_C(1000000)

/* The classes of accelerators. A display of the class "VGA" is one only of these vendors: that of a
 * server, as of ASPEED, computes nothing; that of Intel in the root complex is part of a processor.
 */
static const struct {
	uint32_t class, vendor; /* 0: of any vendor */
	bool below_bridge;
} kinds[] = {
	{0x0302, 0, false},	 /* 3D controller: most GPUs of servers */
	{0x0380, 0, false},	 /* other display controller: Instinct, Data Center GPU */
	{0x1200, 0, false},	 /* processing accelerator: Instinct, Gaudi */
	{0x0300, NVIDIA, false}, /* VGA */
	{0x0300, AMD, false},	 /* the same */
	{0x0300, INTEL, true},	 /* the same */
	{0x0880, AMAZON, false}, /* other system peripheral: Neuron */
};

bool accelerator_has_class(uint64_t class, uint64_t vendor, bool below_bridge)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (class >> 8 == kinds[i].class &&
		    (kinds[i].vendor == 0 || vendor == kinds[i].vendor) &&
		    (below_bridge || !kinds[i].below_bridge))
			return true;
	return false;
}

/* The path of the function that the link NAME in FUNCTIONS leads to. */
static bool read_path(int functions, const char *name, AttrPath ret)
{
	char target[sizeof(AttrPath)];
	ssize_t n = readlinkat(functions, name, target, sizeof(target));
	const char *rest;

	if (n <= 0 || n == sizeof(target))
		return false;
	target[n] = '\0';
	rest = startswith(target, "../../../devices/");
	return rest &&
	       snprintf(ret, sizeof(AttrPath), "/sys/devices/%s", rest) < (int)sizeof(AttrPath);
}

/* Whether the function NAME is an accelerator. */
static bool read_accelerator(int functions, const char *name, Accelerator *ret)
{
	_cleanup_close_ int directory = sysfs_open_directory(functions, name);
	uint64_t class, vendor, model, node;
	Accelerator a = {.numa_node = UINT32_MAX};
	AttrText other, driver;
	size_t n;

	if (directory < 0 || sysfs_read_number(directory, "class", 0xffffff, &class) < 0 ||
	    sysfs_read_number(directory, "vendor", UINT16_MAX, &vendor) < 0 ||
	    sysfs_read_number(directory, "device", UINT16_MAX, &model) < 0 ||
	    !read_path(functions, name, a.path) || strlen(name) >= sizeof(a.entry.address))
		return false;
	n = strlen(a.path);
	if (!accelerator_has_class(class, vendor, pcie_go_up(a.path, &n, other)) ||
	    sysfs_read_link(directory, "physfn", other, sizeof(other)) == 0)
		return false;
	text_copy(a.entry.address, sizeof(a.entry.address), name);
	snprintf(a.entry.model, sizeof(a.entry.model), "%04x:%04x", (unsigned int)vendor,
		 (unsigned int)model);
	if (sysfs_read_link(directory, "driver", driver, sizeof(driver)) == 0)
		text_copy_clean(a.entry.driver, sizeof(a.entry.driver), driver);
	/* -1 stands for none. */
	if (sysfs_read_number(directory, "numa_node", INT32_MAX, &node) == 0)
		a.numa_node = (uint32_t)node;
	*ret = a;
	return true;
}

void accelerators_read(int functions, Accelerators *ret)
{
	_cleanup_(closedir_pointer) DIR *directory = sysfs_open_list(functions, ".");
	const struct dirent *d;

	ret->n = 0;
	if (!directory)
		return;
	for (unsigned int i = 0; i < ACCELERATORS_FUNCTIONS_MAX && ret->n < ACCELERATORS_MAX &&
				 (d = readdir(directory));
	     i++)
		if (sysfs_is_pci_address(d->d_name) &&
		    read_accelerator(functions, d->d_name, &ret->items[ret->n]))
			ret->n++;
}

void accelerators_refresh(Accelerators *a)
{
	_cleanup_close_ int functions = -EBADF;
	uint64_t now = monotonic_now_usec();

	if (a->read_usec && now - a->read_usec < MAX_AGE_USEC)
		return;
	functions = sysfs_open_directory(AT_FDCWD, "/sys/bus/pci/devices");
	accelerators_read(functions, a);
	a->read_usec = now;
}

/* The functions on the way down to one, the last of them. */
typedef struct Way {
	const char *path;
	size_t bridge;		     /* the length of the path of the host bridge */
	size_t ends[PCIE_DEPTH_MAX]; /* of the path of each, the highest first */
	size_t n;
} Way;

/* False if there are too many functions. */
static bool find_way(const char *path, size_t n, Way *ret)
{
	size_t at = n;
	AttrText address;

	*ret = (Way){.path = path, .n = 1};
	while (pcie_go_up(path, &at, address))
		ret->n++;
	if (ret->n > PCIE_DEPTH_MAX)
		return false;
	ret->bridge = at;
	for (size_t i = ret->n; i > 0; i--) {
		ret->ends[i - 1] = n;
		(void)pcie_go_up(path, &n, address);
	}
	return true;
}

static bool is_same(const Way *a, const Way *b, size_t i)
{
	return a->ends[i] == b->ends[i] && memcmp(a->path, b->path, a->ends[i]) == 0;
}

/* How many functions, from the highest on, the two ways have in common. */
static size_t count_common(const Way *a, const Way *b)
{
	size_t common = 0;

	while (common < a->n && common < b->n && is_same(a, b, common))
		common++;
	return common;
}

static Distance find_distance(const Way *a, const Way *b, bool same_node, uint32_t *ret_hops)
{
	size_t common = count_common(a, b), up_a = (a->n + 1) / 2, up_b = (b->n + 1) / 2;

	*ret_hops = 0;
	if (common == a->n && common == b->n)
		return DISTANCE_LOC;
	/* The nodes of both are every second function, from each of them up: they have one in
	 * common only if these are the same ones. */
	if ((a->n - b->n) % 2 == 0) {
		common -= common > 0 && (a->n - common) % 2 != 0;
		if (common > 0) {
			up_a = (a->n - common) / 2;
			up_b = (b->n - common) / 2;
			*ret_hops = (uint32_t)(up_a + up_b);
			return up_a <= 1 && up_b <= 1 ? DISTANCE_PIX : DISTANCE_PXB;
		}
	}
	*ret_hops = (uint32_t)(up_a + up_b);
	if (a->bridge == b->bridge && memcmp(a->path, b->path, a->bridge) == 0)
		return DISTANCE_PHB;
	if (same_node)
		return DISTANCE_NODE;
	++*ret_hops;
	return DISTANCE_SYS;
}

/* The way to the PCI function of S; false if it is on none. */
static bool find_own_way(const DeviceSnapshot *s, Way *ret)
{
	const char *path = TEXT_OF(&s->values, sysfs_path),
		   *address = TEXT_OF(&s->values, pci_address), *at = path;
	size_t n = strlen(address);

	/* a subfunction is below its function */
	while (n > 0 && (at = strstr(at, address)) &&
	       (at == path || at[-1] != '/' || (at[n] != '/' && at[n] != '\0')))
		at++;
	return n > 0 && at && find_way(path, (size_t)(at - path) + n, ret);
}

/* The ports that redirect what goes between a device and accelerators. */
typedef struct Redirects {
	int controls; /* the directory of what rdmad-pci has written */
	bool has_ats; /* the device */
	bool is_unknown;
	size_t n;
	struct {
		AttrText address;
	} ports[ACCELERATORS_REDIRECTS_MAX];
} Redirects;

/* Looks at function I of WAY: one that is an end of it is no port. */
static void look_at_port(Redirects *r, const Way *way, size_t i, bool has_ats)
{
	size_t end = i < way->n ? way->ends[i] : 0, begin = end;
	AttrText address;
	PciControl c;

	if (i + 1 >= way->n)
		return;
	while (way->path[begin - 1] != '/')
		begin--;
	text_copy(address, MIN(sizeof(address), end - begin + 1), way->path + begin);
	if (!pcie_read_control(r->controls, address, &c))
		r->is_unknown = true;
	else if (r->n < ARRAY_SIZE(r->ports) && pci_control_redirects(&c, has_ats) &&
		 !array_find(r->ports, r->n, address, address))
		memcpy(r->ports[r->n++].address, address, sizeof(address));
}

/* A switch sends to another of its ports what comes in at one, unless this one redirects it: the
 * two ports of the switch that A and B have in common decide. */
static void look_between(Redirects *r, const Way *a, const Way *b)
{
	size_t common = count_common(a, b);

	look_at_port(r, a, common, r->has_ats);
	look_at_port(r, b, common, false);
}

static int compare_ports(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void supply_redirects(Redirects *r, DeviceSnapshot *s)
{
	AttrPath text;
	ListWriter w;

	if (r->is_unknown)
		return;
	sort(r->ports, r->n, sizeof(r->ports[0]), compare_ports);
	list_begin(&w, ATTR_WORDS, text, sizeof(text));
	for (size_t i = 0; i < r->n; i++)
		list_add_word(&w, r->ports[i].address);
	list_end(&w);
	DEVICE_SUPPLY_TEXT(s, acs_redirects, text);
}

void accelerators_supply(const Accelerators *a, int controls, DeviceSnapshot *s)
{
	AcceleratorEntry entries[ACCELERATORS_MAX];
	PciControl own_control = {};
	Redirects redirects = {.controls = controls};
	uint32_t node =
		mask_has(&s->supplied, DEVICE_ATTR_numa_node) ? s->values.numa_node : UINT32_MAX;
	Way own, way;
	size_t n = 0;
	Table *t;

	redirects.is_unknown = !pcie_supply_control(controls, s, &own_control);
	redirects.has_ats = pci_control_has_ats(&own_control);
	if (!find_own_way(s, &own))
		return;
	for (size_t i = 0; i < a->n; i++) {
		const Accelerator *from = &a->items[i];
		AcceleratorEntry *e = &entries[n];
		Distance distance;

		if (!find_way(from->path, strlen(from->path), &way))
			continue;
		*e = from->entry;
		distance = find_distance(&own, &way, from->numa_node == node, &e->hops);
		text_copy(e->distance, sizeof(e->distance), distance_name(distance));
		if (!redirects.is_unknown && (distance == DISTANCE_PIX || distance == DISTANCE_PXB))
			look_between(&redirects, &own, &way);
		n++;
	}
	supply_redirects(&redirects, s);
	sort(entries, n, sizeof(*entries), accelerator_compare);
	if (table_make(entries, n, sizeof(*entries), &t) < 0)
		return;
	table_free(s->tables[DEVICE_TABLE_ACCELERATORS]);
	s->tables[DEVICE_TABLE_ACCELERATORS] = t;
	mask_set(&s->supplied, DEVICE_ATTR_accelerators, true);
}
