/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "world.h"

#include <errno.h>
#include <stdarg.h>
#include <time.h>

#include "fixture.h"
#include "kernel.h"
#include "published.h"

const SlotKind slot_kinds[WORLD_SLOTS] = {
	{"ib", .held = true, .n_ports = 1, .options = "driver=mlx5 planes=2", .has_plane = true},
	{"ibx", .held = true, .n_ports = 3, .options = "driver=mlx5 ports=3"},
	/* rdmad holds no siw on any kernel; rxe it holds since 7.3 */
	{"ibq", .n_ports = 2, .options = "driver=siw ports=2"},
	{"eth", .held = true, .n_ports = 1, .options = "driver=mlx5 link=eth", .netdev_port = 1},
	/* not driver=rxe: if such a device has an interface, rdma_rxe believes that it is its own
	 */
	{"ethq", .n_ports = 1, .options = "driver=siw link=eth", .netdev_port = 1, .veth = true},
	{"rxe", .rxe = true, .n_ports = 1, .netdev_port = 1},
	{"rxev", .rxe = true, .n_ports = 1, .netdev_port = 1, .veth = true},
	{"both", .held = true, .n_ports = 2, .options = "driver=mlx5 ports=2 link=ib,eth",
	 .netdev_port = 2},
	/* libibverbs has no library for them */
	{"none", .no_verbs = true, .n_ports = 2, .options = "driver=none ports=2"},
	{"noeth", .no_verbs = true, .n_ports = 1, .options = "driver=none link=eth",
	 .netdev_port = 1},
	[WORLD_PLANE] = {"smi", .no_verbs = true, .n_ports = 2},
};

const WorldSlot *world_above(const World *w, unsigned int slot)
{
	for (unsigned int i = 0; slot == WORLD_PLANE && i < WORLD_SLOTS; i++)
		if (slot_kinds[i].has_plane)
			return &w->slots[i];
	return NULL;
}

const char *field_property(Field f)
{
	static const char *const names[_FIELD_MAX] = {
#define F(id, property, group) [FIELD_##id] = property,
		WORLD_FIELDS(F)
#undef F
	};

	return names[f];
}

int field_group(Field f)
{
	static const int groups[_FIELD_MAX] = {
#define F(id, property, group) [FIELD_##id] = group,
		WORLD_FIELDS(F)
#undef F
	};

	return groups[f];
}

static void say(Truth *t, Field f, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void say(Truth *t, Field f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(t->text[f], WORLD_TEXT_MAX, format, args);
	va_end(args);
	t->mask |= 1U << f;
}

static void append(WorldPort *p, const Truth *t)
{
	p->history = reallocarray(p->history, p->n_history + 1, sizeof(*p->history));
	assert_non_null(p->history);
	p->history[p->n_history++] = *t;
}

static void forget_history(WorldPort *p)
{
	free(p->history);
	*p = (WorldPort){};
}

/* The names that org.rdma publishes for the numbers. NO_VERBS: only verbs says the MTU. */
static void describe_ib(const IbPort *p, bool no_verbs, Truth *t)
{
	static const char *const states[] = {"nop",   "down",	"init",
					     "armed", "active", "active-defer"};
	static const char *const physical[] = {"no-change",
					       "sleep",
					       "polling",
					       "disabled",
					       "port-configuration-training",
					       "link-up",
					       "link-error-recovery",
					       "phy-test"};
	bool up = p->state >= 2, configured = p->state >= 3 && p->state <= 5;
	uint32_t lanes = p->width == 16	 ? 2
			 : p->width == 8 ? 12
			 : p->width == 4 ? 8
			 : p->width == 2 ? 4
					 : 1;

	say(t, FIELD_STATE, "%s", states[p->state]);
	say(t, FIELD_PHYS_STATE, "%s", physical[p->phys_state]);
	say(t, FIELD_ACTIVE_MTU, "%u", up && !no_verbs ? 128U << p->active_mtu : 0);
	say(t, FIELD_WIDTH, "%u", up ? lanes : 0);
	say(t, FIELD_LID, "%u", configured ? p->lid : 0);
	say(t, FIELD_LMC, "%u", configured ? p->lmc : NOT_SET);
	say(t, FIELD_SM_LID, "%u", configured ? p->sm_lid : 0);
	say(t, FIELD_SM_SL, "%u", configured ? p->sm_sl : NOT_SET);
	say(t, FIELD_PREFIX, "%04x:%04x:%04x:%04x", (unsigned int)(p->prefix >> 48),
	    (unsigned int)(p->prefix >> 32) & 0xffff, (unsigned int)(p->prefix >> 16) & 0xffff,
	    (unsigned int)p->prefix & 0xffff);
}

/* The state of the port is not among these fields: for a while rxe calls a port active whose
 * interface is up and has no carrier, and there are other cases in which its state is not that of
 * the interface.
 */
static void describe_netdev(const WorldNetdev *d, Truth *t)
{
	char path[64], address[32] = "";
	FILE *file;

	say(t, FIELD_NETDEV_MTU, "%u", d->mtu);
	say(t, FIELD_NETDEV, "%s", d->name);
	snprintf(path, sizeof(path), "/sys/class/net/%s/address", d->name);
	file = fopen(path, "r");
	if (!file)
		return;
	if (fgets(address, sizeof(address), file))
		address[strcspn(address, "\n")] = '\0';
	fclose(file);
	say(t, FIELD_ADDRESS, "%s", address);
}

void world_note(World *w, unsigned int slot, unsigned int port, uint64_t usec, bool told)
{
	WorldPort *p = &w->slots[slot].ports[port - 1];
	Truth t = {.usec = usec, .told = told};

	if (p->infiniband) {
		describe_ib(&p->ib, slot_kinds[slot].no_verbs, &t);
		append(p, &t);
	} else {
		world_note_netdev(w, slot, usec, true);
	}
}

void world_note_netdev(World *w, unsigned int slot, uint64_t usec, bool slow)
{
	const SlotKind *k = &slot_kinds[slot];
	WorldSlot *s = &w->slots[slot];
	Truth t = {.usec = usec, .told = true, .from_netdev = true, .slow = slow};

	if (!s->exists || k->netdev_port == 0)
		return;
	if (s->netdev.exists && s->netdev.bound) {
		describe_netdev(&s->netdev, &t);
	} else {
		say(&t, FIELD_NETDEV_MTU, "0");
		say(&t, FIELD_NETDEV, "%s", "");
		say(&t, FIELD_ADDRESS, "%s", "");
	}
	append(&s->ports[k->netdev_port - 1], &t);
}

static int add_netdev(World *w, unsigned int slot)
{
	WorldSlot *s = &w->slots[slot];
	WorldNetdev *d = &s->netdev;
	int r;

	if (d->exists)
		return 0;
	*d = (WorldNetdev){.exists = true, .up = true, .on = true, .mtu = 1500};
	snprintf(d->name, sizeof(d->name), "n%u", slot);
	snprintf(d->peer, sizeof(d->peer), "p%u", slot);
	r = slot_kinds[slot].veth ? kernel_add_veth(d->name, d->peer, (uint8_t)slot)
				  : kernel_add_dummy(d->name, (uint8_t)slot);
	if (r == 0)
		r = kernel_set_up(d->name, true);
	if (r == 0 && slot_kinds[slot].veth)
		r = kernel_set_up(d->peer, true);
	return r;
}

static void begin_port(WorldPort *p, const SlotKind *k, unsigned int number, uint64_t prefix)
{
	forget_history(p);
	p->infiniband = !k->rxe && number != k->netdev_port;
	/* the values that rdma_sim gives to a new device */
	p->ib = (IbPort){.state = 4,
			 .phys_state = 5,
			 .active_mtu = 5,
			 .width = 2,
			 .lid = number,
			 .sm_lid = 1,
			 .prefix = prefix};
}

/* Asks the kernel to make the device, under the name of the slot. */
static int add_device(World *w, unsigned int slot)
{
	const SlotKind *k = &slot_kinds[slot];
	const WorldSlot *s = &w->slots[slot];
	int r;

	if (k->rxe)
		return kernel_add_rxe(s->name, s->netdev.name);
	if (slot == WORLD_PLANE) {
		r = kernel_add_plane(s->name, world_above(w, slot)->index);
		w->without_planes |= r == -EINVAL || r == -EOPNOTSUPP;
		return r;
	}
	if (k->netdev_port)
		return kernel_sim("add %s %s netdev=%s%s", s->name, k->options,
				  k->netdev_port == 2 ? "-," : "", s->netdev.name);
	return kernel_sim("add %s %s", s->name, k->options);
}

bool world_can_add(const World *w, unsigned int slot)
{
	const WorldSlot *above = world_above(w, slot);

	return !above || (above->exists && !above->away && !w->without_planes);
}

int world_add(World *w, unsigned int slot, uint64_t usec)
{
	const SlotKind *k = &slot_kinds[slot];
	WorldSlot *s = &w->slots[slot];
	int r = k->netdev_port ? add_netdev(w, slot) : 0;

	if (r < 0)
		return r;
	snprintf(s->name, sizeof(s->name), "%s%u", k->name, s->generation++);
	r = add_device(w, slot);
	if (r < 0)
		return r;
	r = kernel_device_index(s->name);
	if (r < 0)
		return r;
	s->index = (uint32_t)r;
	s->exists = true;
	s->away = s->untold = false;
	s->netdev.bound = k->netdev_port > 0;
	for (unsigned int n = 1; n <= k->n_ports; n++) {
		begin_port(&s->ports[n - 1], k, n, UINT64_C(0xfe80) << 48);
		world_note(w, slot, n, usec, true);
	}
	return 0;
}

void world_forget(World *w, unsigned int slot)
{
	WorldSlot *s = &w->slots[slot];

	s->exists = false;
	s->netdev.bound = false;
	for (unsigned int n = 0; n < WORLD_PORTS_MAX; n++)
		forget_history(&s->ports[n]);
	if (slot_kinds[slot].has_plane)
		world_forget(w, WORLD_PLANE);
}

void world_forget_netdev(World *w, unsigned int slot)
{
	WorldNetdev *d = &w->slots[slot].netdev;

	/* the kernel has removed the interface of the container with the one below it */
	if (d->has_container)
		kernel_delete_link(d->shadow);
	*d = (WorldNetdev){};
}

void world_clear(World *w)
{
	int r = kernel_sim("del all");

	assert_int_equal(r, 0);
	for (unsigned int i = 0; i < WORLD_SLOTS; i++) {
		WorldSlot *s = &w->slots[i];

		if (s->exists && slot_kinds[i].rxe)
			kernel_delete_rxe(s->index);
		world_forget(w, i);
		if (s->netdev.exists)
			kernel_delete_link(s->netdev.name);
		world_forget_netdev(w, i);
		*s = (WorldSlot){.generation = s->generation};
	}
}

void world_reset(World *w)
{
	world_clear(w);
	for (unsigned int i = 0; i < WORLD_SLOTS; i++) {
		int r = world_can_add(w, i) ? world_add(w, i, fixture_now_usec()) : 0;

		if (r < 0 && !(i == WORLD_PLANE && w->without_planes))
			fail_msg("cannot add device %s: %s", slot_kinds[i].name, strerror(-r));
	}
}
