/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-accelerators.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "query-sysfs.h"
#include "tree.h"

#define TREES	      12U
#define FUNCTIONS_MAX 512U

typedef struct Function {
	char path[256]; /* "pci0000:00/0000:00:01.0" */
	char address[16];
	int numa;
	bool accelerator, nic;
} Function;

/* A machine that is made. */
typedef struct Machine {
	const Tree *tree;
	unsigned int seed, domain, next_bus;
	int numa;
	Function *functions[FUNCTIONS_MAX];
	size_t n;
} Machine;

static unsigned int draw(Machine *m, unsigned int n)
{
	m->seed = m->seed * 1103515245U + 12345U;
	return (m->seed >> 16) % n;
}

static void put(const Machine *m, const char *function, const char *file, const char *text)
{
	char path[400];

	snprintf(path, sizeof(path), "devices/%s/%s", function, file);
	tree_put(m->tree, path, text);
}

static Function *add(Machine *m, const char *above, unsigned int bus, unsigned int slot,
		     unsigned int number, const char *class, const char *vendor)
{
	Function *f = calloc(1, sizeof(*f));
	char link[64], target[300], numa[16];

	assert_true(m->n < FUNCTIONS_MAX);
	m->functions[m->n++] = f;
	f->numa = m->numa;
	snprintf(f->address, sizeof(f->address), "%04x:%02x:%02x.%u", m->domain, bus, slot, number);
	assert_true((size_t)snprintf(f->path, sizeof(f->path), "%s/%s", above, f->address) <
		    sizeof(f->path));
	put(m, f->path, "class", class);
	put(m, f->path, "vendor", vendor);
	put(m, f->path, "device", "0x1234\n");
	snprintf(numa, sizeof(numa), "%d\n", m->numa);
	put(m, f->path, "numa_node", numa);
	snprintf(link, sizeof(link), "bus/pci/devices/%s", f->address);
	snprintf(target, sizeof(target), "../../../devices/%s", f->path);
	tree_put_link(m->tree, link, target);
	return f;
}

/* One or two functions: accelerators, adapters, and what is neither. */
static void add_endpoint(Machine *m, const char *above, unsigned int bus, unsigned int slot)
{
	unsigned int n = 1 + draw(m, 2);

	for (unsigned int i = 0; i < n; i++) {
		unsigned int what = draw(m, 6);

		if (what <= 1)
			add(m, above, bus, slot, i, "0x030200\n", "0x10de\n")->accelerator = true;
		else if (what == 2)
			add(m, above, bus, slot, i, "0x120000\n", "0x1da3\n")->accelerator = true;
		else if (what == 3)
			add(m, above, bus, slot, i, "0x030000\n", "0x1a03\n");
		else
			add(m, above, bus, slot, i, "0x020700\n", "0x15b3\n")->nic = true;
	}
}

static void add_below(Machine *m, const char *above, unsigned int depth)
{
	unsigned int bus = m->next_bus++, downstream, n;
	Function *up;

	if (depth == 0 || draw(m, 2) == 0) {
		add_endpoint(m, above, bus, 0);
		return;
	}
	up = add(m, above, bus, 0, 0, "0x060400\n", "0x104c\n");
	downstream = m->next_bus++;
	n = 1 + draw(m, 3);
	for (unsigned int i = 0; i < n; i++)
		add_below(m, add(m, up->path, downstream, i, 0, "0x060400\n", "0x104c\n")->path,
			  depth - 1);
}

static void draw_machine(Machine *m)
{
	unsigned int bridges = 1 + draw(m, 4);

	for (unsigned int i = 0; i < bridges; i++) {
		unsigned int root = m->next_bus++, ports = 1 + draw(m, 3);
		char bridge[32];

		m->numa = (int)draw(m, 3) - 1;
		snprintf(bridge, sizeof(bridge), "pci%04x:%02x", m->domain, root);
		if (draw(m, 3) == 0)
			add_endpoint(m, bridge, root, 0);
		for (unsigned int k = 0; k < ports; k++)
			add_below(m, add(m, bridge, root, 1 + k, 0, "0x060400\n", "0x8086\n")->path,
				  2);
	}
}

/* The graph of NCCL: of functions that are looked at the node is the path, of a processor its NUMA
 * node. Its rule as its sources have it: the type of a way is the worst of its links. */
typedef struct Node {
	char name[256];
	bool processor;
	int above; /* -1: none */
} Node;

enum { WAY_LOC, WAY_PIX, WAY_PXB, WAY_PHB, WAY_SYS };

static int node_of(Node *nodes, int *n, const char *path, int numa)
{
	char copy[256];
	int i;

	for (i = 0; i < *n; i++)
		if (streq(nodes[i].name, path))
			return i;
	nodes[i] = (Node){.above = -1};
	strcpy(nodes[i].name, path);
	nodes[i].processor = startswith(path, "numa") != NULL;
	++*n;
	if (nodes[i].processor)
		return i;
	/* two up; a part that is no function stands for the processor */
	strcpy(copy, path);
	for (unsigned int up = 0; up < 2; up++) {
		*strrchr(copy, '/') = '\0';
		if (!strrchr(copy, '/')) {
			snprintf(copy, sizeof(copy), "numa%d", numa);
			break;
		}
	}
	nodes[i].above = node_of(nodes, n, copy, numa);
	return i;
}

static int link_type(const Node *nodes, int a, int b, int from, int to)
{
	if (nodes[a].processor && nodes[b].processor)
		return WAY_SYS;
	if (nodes[a].processor || nodes[b].processor)
		return WAY_PHB;
	/* the ends are functions, and all other nodes are switches */
	return a != from && a != to && b != from && b != to ? WAY_PXB : WAY_PIX;
}

/* Goes from A to B, level by level, as NCCL does. */
static const char *find_expected(const Function *a, const Function *b, unsigned int *ret_hops)
{
	static const char *const words[] = {"LOC", "PIX", "PXB", "PHB", "SYS"};
	Node nodes[64];
	int n = 0, type[64], hops[64], from, to;
	bool changed = true;

	from = node_of(nodes, &n, a->path, a->numa);
	to = node_of(nodes, &n, b->path, b->numa);
	for (int i = 0; i < n; i++)
		type[i] = i == from ? WAY_LOC : 100, hops[i] = 0;
	while (changed) {
		changed = false;
		for (int x = 0; x < n; x++)
			for (int y = 0; y < n; y++) {
				bool linked = nodes[x].above == y || nodes[y].above == x ||
					      (x != y && nodes[x].processor && nodes[y].processor);
				int t = MAX(type[x], link_type(nodes, x, y, from, to));

				if (type[x] == 100 || !linked ||
				    (t >= type[y] && (t > type[y] || hops[y] <= hops[x] + 1)))
					continue;
				type[y] = t;
				hops[y] = hops[x] + 1;
				changed = true;
			}
	}
	*ret_hops = (unsigned int)hops[to];
	if (type[to] == WAY_PHB && strncmp(a->path, b->path, strlen("pci0000:00")) != 0)
		return "NODE";
	return words[type[to]];
}

static DeviceSnapshot look_from(const Accelerators *all, const Function *f, const char *below)
{
	DeviceSnapshot s = {};
	AttrPath path;

	snprintf(path, sizeof(path), "/sys/devices/%s%s", f->path, below);
	DEVICE_SUPPLY_TEXT(&s, sysfs_path, path);
	DEVICE_SUPPLY_TEXT(&s, pci_address, f->address);
	if (f->numa >= 0)
		DEVICE_SUPPLY(&s, numa_node, (uint32_t)f->numa);
	accelerators_supply(all, -EBADF, &s);
	assert_true(mask_has(&s.supplied, DEVICE_ATTR_accelerators));
	return s;
}

static unsigned int rank(const AcceleratorEntry *e)
{
	static const char *const words[] = {"LOC", "PIX", "PXB", "PHB", "NODE", "SYS"};
	unsigned int i = 0;

	while (!streq(e->distance, words[i]))
		i++;
	return i;
}

static void expect_ways(const Machine *m, const Accelerators *all, const Function *nic,
			unsigned int seen[6])
{
	_cleanup_(device_snapshot_done) DeviceSnapshot s = look_from(all, nic, "/mlx5_core.sf.2");
	const AcceleratorEntry *before = NULL;
	size_t n = 0;

	TABLE_FOREACH(AcceleratorEntry, e, s.tables[DEVICE_TABLE_ACCELERATORS]) {
		const Function *f;
		const char *expected;
		unsigned int hops;
		size_t i = 0;

		while (!streq(m->functions[i]->address, e->address))
			i++;
		f = m->functions[i];
		assert_true(f->accelerator);
		expected = find_expected(nic, f, &hops);
		assert_string_equal(e->distance, expected);
		assert_int_equal(e->hops, hops);
		if (before)
			assert_true(rank(before) < rank(e) ||
				    (rank(before) == rank(e) && before->hops <= e->hops));
		before = e;
		seen[rank(e)]++;
		n++;
	}
	assert_int_equal(n, all->n);
	device_snapshot_done(&s);
}

static void machine_free(Machine *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->functions[i]);
	free(m);
}

static void read_machine(const Machine *m, Accelerators *ret)
{
	int functions = sysfs_open_directory(m->tree->fd, "bus/pci/devices");

	assert_true(functions >= 0);
	accelerators_read(functions, ret);
	close(functions);
}

/* Machines that are drawn: all ways from each adapter are those of NCCL's rule. */
static void test_drawn(void **state _unused_)
{
	unsigned int seen[6] = {};

	for (unsigned int seed = 1; seed <= TREES; seed++) {
		Machine *m = calloc(1, sizeof(*m));
		Accelerators *all = calloc(1, sizeof(*all));
		size_t n = 0;
		void *tree;

		assert_int_equal(tree_setup(&tree), 0);
		m->tree = tree;
		m->seed = seed;
		draw_machine(m);
		read_machine(m, all);
		for (size_t i = 0; i < m->n; i++)
			n += m->functions[i]->accelerator;
		assert_int_equal(all->n, n);
		for (size_t i = 0; i < m->n; i++)
			if (m->functions[i]->nic)
				expect_ways(m, all, m->functions[i], seen);
		tree_teardown(&tree);
		free(all);
		machine_free(m);
	}
	for (unsigned int i = 1; i < ARRAY_SIZE(seen); i++) {
		print_message("%s: %u\n",
			      ((const char *[]){"", "PIX", "PXB", "PHB", "NODE", "SYS"})[i],
			      seen[i]);
		assert_true(seen[i] > 20);
	}
}

static void test_classes(void **state _unused_)
{
	static const struct {
		uint32_t class, vendor;
		bool below_bridge, is;
	} cases[] = {
		{0x030200, 0x10de, true, true},	 {0x038000, 0x1002, true, true},
		{0x120000, 0x1da3, true, true},	 {0x120000, 0x1002, false, true},
		{0x030000, 0x10de, true, true},	 {0x030000, 0x1002, true, true},
		{0x030000, 0x8086, true, true},	 {0x030000, 0x8086, false, false},
		{0x030000, 0x1a03, true, false}, {0x030000, 0x102b, true, false},
		{0x088000, 0x1d0f, false, true}, {0x088000, 0x8086, false, false},
		{0x020700, 0x15b3, true, false}, {0x040300, 0x10de, true, false},
		{0x060400, 0x10de, true, false}, {0x120100, 0x10de, true, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(accelerator_has_class(cases[i].class, cases[i].vendor,
						       cases[i].below_bridge),
				 cases[i].is);
}

/* The adapter of an accelerator is a part of it; a virtual function of it is no accelerator. */
static void test_entries(void **state)
{
	Machine *m = calloc(1, sizeof(*m));
	Accelerators *all = calloc(1, sizeof(*all));
	Function *gpu, *vf;
	const AcceleratorEntry *e;
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};
	char path[300];

	m->tree = *state;
	m->numa = 1;
	add(m, "pci0000:00", 0, 1, 0, "0x060400\n", "0x8086\n");
	gpu = add(m, "pci0000:00/0000:00:01.0", 1, 0, 0, "0x120000\n", "0x1da3\n");
	snprintf(path, sizeof(path), "devices/%s/driver", gpu->path);
	tree_put_link(m->tree, path, "../../../../bus/pci/drivers/habanalabs");
	vf = add(m, "pci0000:00/0000:00:01.0", 1, 0, 1, "0x120000\n", "0x1da3\n");
	snprintf(path, sizeof(path), "devices/%s/physfn", vf->path);
	tree_put_link(m->tree, path, "../0000:01:00.0");
	/* of these nothing can be believed */
	put(m, add(m, "pci0000:00", 0, 3, 0, "0x030200\n", "0x10de\n")->path, "class", "none\n");
	put(m, add(m, "pci0000:00", 0, 4, 0, "0x030200\n", "0x10de\n")->path, "vendor", "-1\n");
	tree_put_link(m->tree, "bus/pci/devices/0000:00:05.0", "../../../devices/nothing");
	tree_put_link(m->tree, "bus/pci/devices/x", "../../../devices/pci0000:00/0000:00:01.0");
	read_machine(m, all);
	device_snapshot_done(&s);
	s = look_from(all, gpu, "");
	assert_int_equal(s.tables[DEVICE_TABLE_ACCELERATORS]->n, 1);
	e = (const void *)s.tables[DEVICE_TABLE_ACCELERATORS]->entries;
	assert_string_equal(e->address, "0000:01:00.0");
	assert_string_equal(e->model, "1da3:1234");
	assert_string_equal(e->driver, "habanalabs");
	assert_string_equal(e->distance, "LOC");
	assert_int_equal(e->hops, 0);
	device_snapshot_done(&s);

	/* a device on no function has no way to any */
	device_snapshot_done(&s);
	DEVICE_SUPPLY_TEXT(&s, sysfs_path, "/sys/devices/platform/HISI00D1:00");
	accelerators_supply(all, -EBADF, &s);
	assert_false(mask_has(&s.supplied, DEVICE_ATTR_accelerators));
	free(all);
	machine_free(m);
}

/* Of more accelerators than there is room for, so many are read. */
static void test_many(void **state)
{
	Machine *m = calloc(1, sizeof(*m));
	Accelerators *all = calloc(1, sizeof(*all));
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};

	m->tree = *state;
	for (unsigned int i = 0; i < ACCELERATORS_MAX + 5; i++)
		add(m, "pci0000:00", i / 32, i % 32, 0, "0x030200\n", "0x10de\n");
	read_machine(m, all);
	assert_int_equal(all->n, ACCELERATORS_MAX);
	device_snapshot_done(&s);
	s = look_from(all, m->functions[0], "");
	assert_int_equal(s.tables[DEVICE_TABLE_ACCELERATORS]->n, ACCELERATORS_MAX);
	device_snapshot_done(&s);
	free(all);
	machine_free(m);
}

/* What rdmad-pci has written of functions */
typedef struct Control {
	const char *address, *text;
} Control;

/* A switch below a root port: an adapter at its first port, an accelerator at the second, and below
 * the third one a second switch with another one; and an accelerator below a root port. */
static const Control quiet[] = {
	{"0000:03:00.0", "2936 0011 0000\n"}, {"0000:03:01.0", "2936 0011 0000\n"},
	{"0000:03:02.0", "2936 0011 0000\n"}, {"0000:07:00.0", "2936 001d 0000\n"},
	{"0000:00:01.0", "2936 001d 0000\n"}, {"0000:04:00.0", "5957 0000 0000\n"},
};

/* The same with what is other in CHANGED; of a function without a text there is none. */
static DeviceSnapshot look_at_controls(const Tree *t, const Control *changed, size_t n, bool is_vf)
{
	Machine *m = calloc(1, sizeof(*m));
	Accelerators *all = calloc(1, sizeof(*all));
	const char *up = "pci0000:00/0000:00:01.0/0000:02:00.0";
	char path[300];
	DeviceSnapshot s = {};
	Function *port;
	int controls;

	m->tree = t;
	add(m, "pci0000:00", 0, 1, 0, "0x060400\n", "0x8086\n");
	add(m, "pci0000:00/0000:00:01.0", 2, 0, 0, "0x060400\n", "0x104c\n");
	port = add(m, up, 3, 0, 0, "0x060400\n", "0x104c\n");
	add(m, port->path, 4, 0, is_vf ? 2 : 0, "0x020700\n", "0x15b3\n");
	snprintf(path, sizeof(path), "/sys/devices/%s", m->functions[m->n - 1]->path);
	port = add(m, up, 3, 1, 0, "0x060400\n", "0x104c\n");
	add(m, port->path, 5, 0, 0, "0x030200\n", "0x10de\n");
	port = add(m, up, 3, 2, 0, "0x060400\n", "0x104c\n");
	port = add(m, port->path, 6, 0, 0, "0x060400\n", "0x104c\n");
	port = add(m, port->path, 7, 0, 0, "0x060400\n", "0x104c\n");
	add(m, port->path, 8, 0, 0, "0x030200\n", "0x10de\n");
	port = add(m, "pci0000:00", 0, 2, 0, "0x060400\n", "0x8086\n");
	add(m, port->path, 9, 0, 0, "0x030200\n", "0x10de\n");
	read_machine(m, all);
	for (size_t i = 0; i < ARRAY_SIZE(quiet) + n; i++) {
		const Control *c =
			i < ARRAY_SIZE(quiet) ? &quiet[i] : &changed[i - ARRAY_SIZE(quiet)];

		snprintf(m->functions[0]->path, sizeof(m->functions[0]->path), "run/%s",
			 c->address);
		if (c->text)
			tree_put(t, m->functions[0]->path, c->text);
		else
			assert_int_equal(unlinkat(t->fd, m->functions[0]->path, 0), 0);
	}
	controls = sysfs_open_directory(t->fd, "run");
	assert_true(controls >= 0);
	DEVICE_SUPPLY_TEXT(&s, sysfs_path, path);
	DEVICE_SUPPLY_TEXT(&s, pci_address, strrchr(path, '/') + 1);
	if (is_vf)
		DEVICE_SUPPLY_TEXT(&s, physical_function, "0000:04:00.0");
	accelerators_supply(all, controls, &s);
	close(controls);
	free(all);
	machine_free(m);
	return s;
}

static void expect_redirects(const Control *changed, size_t n, const char *expected)
{
	_cleanup_(device_snapshot_done) DeviceSnapshot s = {};
	void *tree;

	assert_int_equal(tree_setup(&tree), 0);
	device_snapshot_done(&s);
	s = look_at_controls(tree, changed, n, false);
	assert_int_equal(mask_has(&s.supplied, DEVICE_ATTR_acs_redirects), expected != NULL);
	if (expected)
		assert_string_equal(TEXT_OF(&s.values, acs_redirects), expected);
	device_snapshot_done(&s);
	tree_teardown(&tree);
}

#define EXPECT_REDIRECTS(expected, ...)                                                            \
	expect_redirects((const Control[]){__VA_ARGS__},                                           \
			 sizeof((const Control[]){__VA_ARGS__}) / sizeof(Control), expected)

/* The ports of the switch that both are below decide, and no other ones. */
static void test_redirects(_unused_ void **state)
{
	expect_redirects(NULL, 0, "none");
	EXPECT_REDIRECTS("0000:03:00.0", {"0000:03:00.0", "2936 001d 0000\n"});
	EXPECT_REDIRECTS("0000:03:01.0", {"0000:03:01.0", "2936 0008 0000\n"});
	EXPECT_REDIRECTS("0000:03:00.0,0000:03:02.0", {"0000:03:02.0", "2936 0004 0000\n"},
			 {"0000:03:00.0", "2936 0004 0000\n"});
	/* translated addresses of the device pass at its port, and those of others do not matter */
	EXPECT_REDIRECTS("0000:03:00.0", {"0000:03:00.0", "2936 0044 0000\n"});
	EXPECT_REDIRECTS("none", {"0000:03:00.0", "2936 0044 0000\n"},
			 {"0000:04:00.0", "5957 0000 8000\n"});
	EXPECT_REDIRECTS("0000:03:01.0", {"0000:03:01.0", "2936 0044 0000\n"},
			 {"0000:04:00.0", "5957 0000 8000\n"});
	/* not half of it */
	EXPECT_REDIRECTS(NULL, {"0000:03:02.0", NULL});
	EXPECT_REDIRECTS(NULL, {"0000:03:02.0", "damaged\n"});
	EXPECT_REDIRECTS("none", {"0000:07:00.0", NULL});
}

static void test_registers(_unused_ void **state)
{
	for (unsigned int is_vf = 0; is_vf < 2; is_vf++) {
		_cleanup_(device_snapshot_done) DeviceSnapshot s = {};
		void *tree;

		assert_int_equal(tree_setup(&tree), 0);
		device_snapshot_done(&s);
		s = look_at_controls(tree, NULL, 0, is_vf);
		assert_true(mask_has(&s.supplied, DEVICE_ATTR_relaxed_ordering));
		assert_true(s.values.relaxed_ordering);
		assert_int_equal(s.values.max_payload, 512);
		assert_int_equal(s.values.max_read_request, 4096);
		device_snapshot_done(&s);
		tree_teardown(&tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drawn),
		cmocka_unit_test(test_classes),
		cmocka_unit_test_setup_teardown(test_entries, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_many, tree_setup, tree_teardown),
		cmocka_unit_test(test_redirects),
		cmocka_unit_test(test_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
