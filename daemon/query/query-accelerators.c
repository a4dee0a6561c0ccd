/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-accelerators.h"

#include <fcntl.h>

#include "accelerator.h"
#include "clock.h"
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
	if (sysfs_read_link(directory, "driver", driver, sizeof(driver)) == 0) {
		text_sanitize(driver, sizeof(driver));
		text_copy(a.entry.driver, sizeof(a.entry.driver), driver);
	}
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

static Distance find_distance(const Way *a, const Way *b, bool same_node, uint32_t *ret_hops)
{
	size_t common = 0, up_a = (a->n + 1) / 2, up_b = (b->n + 1) / 2;

	while (common < a->n && common < b->n && is_same(a, b, common))
		common++;
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
	const char *path = s->values.sysfs_path, *address = s->values.pci_address, *at = path;
	size_t n = strlen(address);

	/* a subfunction is below its function */
	while (n > 0 && (at = strstr(at, address)) &&
	       (at == path || at[-1] != '/' || (at[n] != '/' && at[n] != '\0')))
		at++;
	return n > 0 && at && find_way(path, (size_t)(at - path) + n, ret);
}

void accelerators_supply(const Accelerators *a, DeviceSnapshot *s)
{
	AcceleratorEntry entries[ACCELERATORS_MAX];
	uint32_t node =
		mask_has(&s->supplied, DEVICE_ATTR_numa_node) ? s->values.numa_node : UINT32_MAX;
	Way own, way;
	size_t n = 0;
	Table *t;

	if (!find_own_way(s, &own))
		return;
	for (size_t i = 0; i < a->n; i++) {
		const Accelerator *from = &a->items[i];
		AcceleratorEntry *e = &entries[n];

		if (!find_way(from->path, strlen(from->path), &way))
			continue;
		*e = from->entry;
		text_copy(e->distance, sizeof(e->distance),
			  distance_name(
				  find_distance(&own, &way, from->numa_node == node, &e->hops)));
		n++;
	}
	sort(entries, n, sizeof(*entries), accelerator_compare);
	if (table_make(entries, n, sizeof(*entries), &t) < 0)
		return;
	table_free(s->tables[DEVICE_TABLE_ACCELERATORS]);
	s->tables[DEVICE_TABLE_ACCELERATORS] = t;
	mask_set(&s->supplied, DEVICE_ATTR_accelerators, true);
}
