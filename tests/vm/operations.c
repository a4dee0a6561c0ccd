/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every kind of operation is one short function in this file, which is therefore long; those that
 * make something fail are in operations-faults.c. */

#include "operations.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "kernel.h"
#include "operations-private.h"

static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

uint32_t pick(Op *o, uint32_t n)
{
	o->random = mix(o->random);
	return (uint32_t)(o->random >> 33) % n;
}

void tell(Op *o, const char *format, ...)
{
	size_t n = strlen(o->text);
	va_list args;

	va_start(args, format);
	vsnprintf(o->text + n, o->size - n, format, args);
	va_end(args);
}

bool did(Op *o, int r, const char *what)
{
	tell(o, "%s%s%s%s", o->text[0] ? "; " : "", what, r < 0 ? ": " : "",
	     r < 0 ? strerror(-r) : "");
	return r >= 0;
}

/* A random InfiniBand port of the slot; 0 if the slot has none now. */
static unsigned int pick_ib(Op *o)
{
	unsigned int port = 1 + pick(o, o->kind->n_ports);

	return o->s->exists && o->s->ports[port - 1].infiniband ? port : 0;
}

/* Whether rdmad hears EVENT of the port. NULL: there is no event. */
static bool is_heard(const Op *o, unsigned int port, const char *event)
{
	const WorldPort *p = &o->s->ports[port - 1];

	if (!event || !o->kind->held || o->s->away || streq(event, "GID_CHANGE"))
		return false;
	return !p->core_fails || streq(event, "SM_CHANGE") || streq(event, "DEVICE_FATAL");
}

/* Sets KEYS of an InfiniBand port and sends EVENT (NULL: none). The caller has changed the IbPort
 * of the world already. */
static void set_ib(Op *o, unsigned int port, const char *event, const char *keys)
{
	bool heard = is_heard(o, port, event);
	char line[1200];

	snprintf(line, sizeof(line), "set %s/%u%s%s%s", o->s->name, port, keys,
		 event ? " event=" : "", event ? event : "");
	o->usec = fixture_now_usec();
	if (!did(o, kernel_sim("%s", line), line))
		return;
	o->s->ports[port - 1].untold |= !heard;
	world_note(o->w, o->slot, port, o->usec, heard);
}

static const char *pick_event(Op *o)
{
	static const char *const events[] = {"LID_CHANGE",	    "SM_CHANGE",   "PKEY_CHANGE",
					     "CLIENT_REREGISTER",   "PORT_ACTIVE", "PORT_ERR",
					     "LID_CHANGE,SM_CHANGE"};

	return events[pick(o, ARRAY_SIZE(events))];
}

/* Gives some attributes of a port random values. Writes the words of the command to KEYS. */
static void change_attributes(Op *o, IbPort *p, char *keys, size_t size)
{
	static const uint32_t states[] = {1, 2, 3, 4, 4, 4, 5};
	static const uint32_t widths[] = {1, 2, 4, 8, 16};
	uint32_t which = 1 + pick(o, 63);
	FILE *f = fmemopen(keys, size, "w");

	if (which & 1) {
		p->state = states[pick(o, ARRAY_SIZE(states))];
		p->phys_state = 1 + pick(o, 6);
		fprintf(f, " state=%u phys_state=%u", p->state, p->phys_state);
	}
	if (which & 2) {
		p->lid = 1 + pick(o, 48000);
		p->lmc = pick(o, 8);
		fprintf(f, " lid=%u lmc=%u", p->lid, p->lmc);
	}
	if (which & 4) {
		p->sm_lid = 1 + pick(o, 48000);
		p->sm_sl = pick(o, 16);
		fprintf(f, " sm_lid=%u sm_sl=%u", p->sm_lid, p->sm_sl);
	}
	if (which & 8) {
		p->active_mtu = 1 + pick(o, 5);
		fprintf(f, " active_mtu=%u", p->active_mtu);
	}
	if (which & 16) {
		p->width = widths[pick(o, ARRAY_SIZE(widths))];
		fprintf(f, " active_width=%u", p->width);
	}
	if (which & 32)
		fprintf(f, " active_speed=%u subnet_timeout=%u port_cap_flags=%u", 1U << pick(o, 9),
			pick(o, 32), pick(o, UINT32_MAX));
	fclose(f);
}

static void attributes(Op *o, bool with_event)
{
	unsigned int port = pick_ib(o);
	char keys[300] = "";

	if (port == 0)
		return;
	change_attributes(o, &o->s->ports[port - 1].ib, keys, sizeof(keys));
	set_ib(o, port, with_event ? pick_event(o) : NULL, keys);
}

static void do_attributes(Op *o)
{
	attributes(o, true);
}

static void do_attributes_untold(Op *o)
{
	attributes(o, false);
}

static void do_event(Op *o)
{
	char line[128];

	snprintf(line, sizeof(line), "event %s/all %s", o->s->name, pick_event(o));
	if (o->s->exists)
		did(o, kernel_sim("%s", line), line);
}

/* Sends events whose contents are wrong: rdmad must not rely on anything that an event carries. */
static void do_event_of_no_port(Op *o)
{
	static const uint32_t ports[] = {0, 4, 17, 255, 256, 0x7fffffff, 0xffffffff};
	char line[128];

	snprintf(line, sizeof(line), "event %s/%u %s raw=1", o->s->name,
		 ports[pick(o, ARRAY_SIZE(ports))], pick_event(o));
	if (o->s->exists && !o->kind->rxe)
		did(o, kernel_sim("%s", line), line);
}

static void do_storm(Op *o)
{
	unsigned int port = pick_ib(o), n = 20 + pick(o, 180);
	char line[128], keys[64];
	IbPort *p;

	if (port == 0)
		return;
	p = &o->s->ports[port - 1].ib;
	tell(o, "%u times: ", n);
	snprintf(line, sizeof(line), "event %s/%u LID_CHANGE,SM_CHANGE", o->s->name, port);
	for (unsigned int i = 0; i < n; i++) {
		if (i % 16 == 15) {
			o->text[0] = '\0';
			p->lid = 1 + pick(o, 48000);
			snprintf(keys, sizeof(keys), " lid=%u", p->lid);
			set_ib(o, port, "LID_CHANGE", keys);
		} else {
			(void)kernel_sim("%s", line);
		}
	}
	tell(o, " (the last of a storm of %u)", n);
}

/* A port comes up: the subnet manager configures, arms and activates it. */
static void do_bring_up(Op *o)
{
	unsigned int port = pick_ib(o);
	char keys[64];
	bool untold;
	IbPort *p;

	if (port == 0)
		return;
	untold = o->s->ports[port - 1].untold;
	p = &o->s->ports[port - 1].ib;
	p->state = 1;
	p->phys_state = 2;
	set_ib(o, port, "PORT_ERR", " state=1 phys_state=2");
	p->state = 2;
	p->phys_state = 5;
	set_ib(o, port, pick(o, 2) ? NULL : "LID_CHANGE", " state=2 phys_state=5");
	p->state = 3;
	p->lid = 1 + pick(o, 48000);
	snprintf(keys, sizeof(keys), " state=3 lid=%u", p->lid);
	set_ib(o, port, "LID_CHANGE", keys);
	p->state = 4;
	set_ib(o, port, "PORT_ACTIVE,CLIENT_REREGISTER", " state=4");
	/* the last event announces also what changed without an event before */
	if (is_heard(o, port, "PORT_ACTIVE"))
		o->s->ports[port - 1].untold = untold;
}

static void do_sm_handover(Op *o)
{
	unsigned int port = pick_ib(o);
	char keys[64];
	IbPort *p;

	if (port == 0)
		return;
	p = &o->s->ports[port - 1].ib;
	p->sm_lid = 1 + pick(o, 48000);
	p->sm_sl = pick(o, 16);
	snprintf(keys, sizeof(keys), " sm_lid=%u sm_sl=%u", p->sm_lid, p->sm_sl);
	set_ib(o, port, pick(o, 2) ? "SM_CHANGE" : "SM_CHANGE,CLIENT_REREGISTER", keys);
}

static void do_lid_reassigned(Op *o)
{
	unsigned int port = pick_ib(o);
	char keys[64];
	IbPort *p;

	if (port == 0)
		return;
	p = &o->s->ports[port - 1].ib;
	p->lid = 1 + pick(o, 48000);
	p->lmc = pick(o, 8);
	snprintf(keys, sizeof(keys), " lid=%u lmc=%u", p->lid, p->lmc);
	set_ib(o, port, "LID_CHANGE", keys);
}

static void do_pkeys(Op *o)
{
	unsigned int port = pick_ib(o);
	char keys[200];
	FILE *f;

	if (port == 0)
		return;
	f = fmemopen(keys, sizeof(keys), "w");
	for (unsigned int i = 0; i < WORLD_PKEYS; i++)
		if (pick(o, 2))
			fprintf(f, " pkey.%u=%u", i, pick(o, 3) ? pick(o, 65536) : 0);
	fprintf(f, " pkey.9=%u", pick(o, 65536));
	fclose(f);
	set_ib(o, port, "PKEY_CHANGE", keys);
}

static void do_gids(Op *o)
{
	unsigned int port = pick_ib(o);
	char keys[200];
	FILE *f;

	if (port == 0)
		return;
	f = fmemopen(keys, sizeof(keys), "w");
	for (unsigned int i = 1; i < WORLD_GIDS; i++)
		fprintf(f, " gid.%u=fec0::%x:%x", i, pick(o, 65536), pick(o, 65536));
	fclose(f);
	set_ib(o, port, "GID_CHANGE", keys);
}

static void do_prefix(Op *o)
{
	unsigned int port = pick_ib(o);
	char keys[80];
	IbPort *p;

	if (port == 0)
		return;
	p = &o->s->ports[port - 1].ib;
	p->prefix = UINT64_C(0xfec0) << 48 | pick(o, UINT32_MAX);
	snprintf(keys, sizeof(keys), " subnet_prefix=%llu", (unsigned long long)p->prefix);
	set_ib(o, port, pick(o, 2) ? "CLIENT_REREGISTER" : "LID_CHANGE", keys);
}

static void do_fatal(Op *o)
{
	char line[128];

	snprintf(line, sizeof(line), "event %s/1 DEVICE_FATAL", o->s->name);
	if (o->s->exists && !o->kind->rxe)
		did(o, kernel_sim("%s", line), line);
}

/* The kernel removes a plane with the device above it. */
static int remove_device(Op *o, const char *command)
{
	if (o->kind->rxe)
		return kernel_delete_rxe(o->s->index);
	if (o->slot == WORLD_PLANE)
		return kernel_delete_plane(o->s->index);
	return kernel_sim("%s", command);
}

static void do_remove(Op *o)
{
	char line[80];

	if (!o->s->exists || (o->s->away && (o->kind->rxe || o->slot == WORLD_PLANE)))
		return;
	snprintf(line, sizeof(line), "del %s", o->s->name);
	if (did(o, remove_device(o, line), line))
		world_forget(o->w, o->slot);
}

static void do_add(Op *o)
{
	char line[80];

	if (o->s->exists || !world_can_add(o->w, o->slot))
		return;
	o->usec = fixture_now_usec();
	snprintf(line, sizeof(line), "add %s", o->kind->name);
	did(o, world_add(o->w, o->slot, o->usec), line);
	tell(o, " as %s", o->s->name);
}

static void do_rename(Op *o)
{
	char name[64], line[140];

	if (!o->s->exists || o->s->away)
		return;
	snprintf(name, sizeof(name), "%s.%x", o->kind->name, pick(o, 0xffff));
	snprintf(line, sizeof(line), "rename %s to %s", o->s->name, name);
	if (did(o, kernel_rename_device(o->s->index, name), line))
		snprintf(o->s->name, sizeof(o->s->name), "%s", name);
}

static void do_node_description(Op *o)
{
	char path[128], text[32];
	_cleanup_close_ int fd = -EBADF;

	if (!o->s->exists || o->s->away || o->kind->rxe)
		return;
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/node_desc", o->s->name);
	snprintf(text, sizeof(text), "node %u", pick(o, 1000));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (did(o, fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0, text))
		o->s->untold = true;
}

/* Not while a port hangs: the move would wait for it. Not while the device has a plane: ib_core
 * then waits for all users of the device, and the plane is one for as long as it exists (seen on
 * 6.12.117). */
static void do_move(Op *o)
{
	char line[100];

	if (!o->s->exists || o->kind->rxe || (!o->s->away && !slot_is_sound(o->s)) ||
	    (o->kind->has_plane && o->w->slots[WORLD_PLANE].exists))
		return;
	snprintf(line, sizeof(line), "%s of %s to another namespace",
		 o->s->away ? "return" : "move", o->s->name);
	if (did(o, kernel_move_device(o->s->index, !o->s->away), line))
		o->s->away = !o->s->away;
}

/* Interfaces */

static bool has_netdev(const Op *o)
{
	return o->s->netdev.exists;
}

static void do_link(Op *o)
{
	WorldNetdev *d = &o->s->netdev;
	char line[64];

	if (!has_netdev(o))
		return;
	o->usec = fixture_now_usec();
	snprintf(line, sizeof(line), "%s %s", d->name, d->up ? "down" : "up");
	if (!did(o, kernel_set_up(d->name, !d->up), line))
		return;
	d->up = !d->up;
	world_note_netdev(o->w, o->slot, o->usec, false);
}

static void do_flap(Op *o)
{
	for (unsigned int i = 0, n = 2 + pick(o, 6); i < n; i++)
		do_link(o);
}

static void do_carrier(Op *o)
{
	WorldNetdev *d = &o->s->netdev;
	char line[64];
	int r;

	if (!has_netdev(o))
		return;
	snprintf(line, sizeof(line), "%s carrier %s", d->name, d->on ? "off" : "on");
	r = o->kind->veth ? kernel_set_up(d->peer, !d->on) : kernel_set_carrier(d->name, !d->on);
	if (!did(o, r, line))
		return;
	d->on = !d->on;
	world_note_netdev(o->w, o->slot, o->usec, true);
}

static void do_mtu(Op *o)
{
	static const uint32_t mtus[] = {700, 1400, 1500, 2300, 4200, 4300, 9000};
	uint32_t mtu = mtus[pick(o, ARRAY_SIZE(mtus))];
	WorldNetdev *d = &o->s->netdev;
	char line[64];

	if (!has_netdev(o))
		return;
	snprintf(line, sizeof(line), "%s mtu %u", d->name, mtu);
	if (!did(o, kernel_set_mtu(d->name, mtu), line))
		return;
	d->mtu = mtu;
	world_note_netdev(o->w, o->slot, o->usec, false);
}

static void do_mac(Op *o)
{
	uint8_t last = (uint8_t)pick(o, 256);
	WorldNetdev *d = &o->s->netdev;
	char line[64];

	if (!has_netdev(o))
		return;
	snprintf(line, sizeof(line), "%s address ...:%02x", d->name, last);
	if (did(o, kernel_set_mac(d->name, last), line))
		world_note_netdev(o->w, o->slot, o->usec, false);
}

static void do_address(Op *o)
{
	bool ipv6 = pick(o, 2), add = pick(o, 3) > 0;
	uint8_t n = (uint8_t)pick(o, 4);
	char line[64];

	if (!has_netdev(o))
		return;
	snprintf(line, sizeof(line), "%s %s IPv%u address %u", o->s->netdev.name,
		 add ? "add" : "remove", ipv6 ? 6 : 4, n);
	did(o, kernel_set_address(o->s->netdev.name, ipv6, (uint8_t)o->slot, n, add), line);
}

static void do_rename_netdev(Op *o)
{
	WorldNetdev *d = &o->s->netdev;
	char name[16], line[64];
	bool up = d->up;

	if (!has_netdev(o))
		return;
	snprintf(name, sizeof(name), "n%u.%u", o->slot, ++d->n_renames);
	if (up)
		do_link(o);
	snprintf(line, sizeof(line), "%s renamed %s", d->name, name);
	if (did(o, kernel_rename_link(d->name, name), line)) {
		memcpy(d->name, name, sizeof(d->name));
		world_note_netdev(o->w, o->slot, o->usec, true);
	}
	if (up)
		do_link(o);
}

static void do_delete_netdev(Op *o)
{
	WorldNetdev *d = &o->s->netdev;
	char line[64];

	if (!has_netdev(o))
		return;
	snprintf(line, sizeof(line), "delete %s", d->name);
	if (!did(o, kernel_delete_link(d->name), line))
		return;
	world_forget_netdev(o->w, o->slot);
	if (o->kind->rxe)
		world_forget(o->w, o->slot);
	else
		world_note_netdev(o->w, o->slot, o->usec, true);
}

static void begin_container(Op *o)
{
	WorldNetdev *d = &o->s->netdev;
	char line[64];

	snprintf(d->container, sizeof(d->container), "c%u", o->slot);
	snprintf(d->shadow, sizeof(d->shadow), "x%u", o->slot);
	snprintf(line, sizeof(line), "container %s on %s", d->container, d->name);
	d->has_container = did(o, kernel_add_container(d->container, d->name, d->shadow), line);
	d->container_up = false;
}

static void end_container(Op *o)
{
	WorldNetdev *d = &o->s->netdev;

	if (!did(o, kernel_delete_container(d->container), "delete container"))
		return;
	kernel_delete_link(d->shadow);
	d->has_container = false;
}

static void use_container(Op *o)
{
	WorldNetdev *d = &o->s->netdev;
	bool ipv6 = pick(o, 2), add = pick(o, 3) > 0, up = !d->container_up || pick(o, 6);
	uint8_t n = (uint8_t)(4 + pick(o, 4));
	char line[64];

	if (up && d->container_up) {
		snprintf(line, sizeof(line), "%s %s IPv%u address %u", d->container,
			 add ? "add" : "remove", ipv6 ? 6 : 4, n);
		did(o, kernel_set_container_address(d->shadow, ipv6, (uint8_t)o->slot, n, add),
		    line);
		return;
	}
	snprintf(line, sizeof(line), "%s %s", d->container, up ? "up" : "down");
	if (did(o, kernel_set_container_up(d->container, up), line))
		d->container_up = up;
}

/* An interface of another network namespace is on that of the port, and gives it GIDs. Only verbs
 * can say so: rtnetlink tells the listeners of the other namespace. */
static void do_container(Op *o)
{
	WorldPort *p;

	if (!has_netdev(o))
		return;
	p = &o->s->ports[o->kind->netdev_port - 1];
	if (!o->s->netdev.has_container)
		begin_container(o);
	else if (pick(o, 10) == 0)
		end_container(o);
	else
		use_container(o);
	p->untold |= !o->kind->held || p->core_fails;
}

/* clang-format off */
static const struct {
	void (*act)(Op *o);
	unsigned int weight;
} operations[] = {
	{do_attributes, 10}, {do_attributes_untold, 2}, {do_event, 3}, {do_event_of_no_port, 3},
	{do_storm, 1}, {do_bring_up, 4}, {do_sm_handover, 5}, {do_lid_reassigned, 5},
	{do_pkeys, 5}, {do_gids, 2}, {do_prefix, 3}, {do_fatal, 1},
	{do_remove, 3}, {do_add, 8}, {do_rename, 3}, {do_node_description, 1}, {do_move, 4},
	{do_link, 8}, {do_flap, 1}, {do_carrier, 4}, {do_mtu, 8}, {do_mac, 3}, {do_address, 10},
	{do_rename_netdev, 3}, {do_delete_netdev, 1}, {do_container, 8},
	{do_fail, 2}, {do_hiccup, 2}, {do_delay, 1}, {do_hang, 1}, {do_hang_several, 1}, {do_end_fault, 6},
};
/* clang-format on */

static uint64_t random_of(uint64_t seed, uint32_t number)
{
	return mix(mix(seed) + number);
}

bool operation_is_quiet(uint64_t seed, uint32_t number)
{
	return (mix(random_of(seed, number) ^ 1) >> 33) % 16 == 0;
}

void operation_do(World *w, uint64_t seed, uint32_t number, char *ret_text, size_t size)
{
	Op o = {.w = w,
		.random = random_of(seed, number),
		.usec = fixture_now_usec(),
		.text = ret_text,
		.size = size};
	uint32_t total = 0, at, i = 0;

	ret_text[0] = '\0';
	for (size_t k = 0; k < ARRAY_SIZE(operations); k++)
		total += operations[k].weight;
	at = pick(&o, total);
	while (at >= operations[i].weight)
		at -= operations[i++].weight;
	o.slot = pick(&o, WORLD_SLOTS);
	/* where it can be done */
	for (unsigned int k = 0; k < WORLD_SLOTS && !ret_text[0]; k++) {
		o.slot = (o.slot + 1) % WORLD_SLOTS;
		o.kind = &slot_kinds[o.slot];
		o.s = &w->slots[o.slot];
		operations[i].act(&o);
	}
}
