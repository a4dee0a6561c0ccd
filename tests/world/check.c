/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "check.h"

#include "names.h"
#include "rdmad.h"

#define READER 1000U

static void check_port(const ScriptDevice *d, const Device *is, uint32_t number)
{
	PortSnapshot truth;
	AttrMask rows;
	const Port *p = is->ports[number - 1];

	LAW(p->published, "%s/%u is not published", d->name, number);
	LAW(!p->now.values.stale, "%s/%u is stale: %s", d->name, number,
	    TEXT_OF(&p->now.values, last_error));
	script_port(d, number, &d->ports[number - 1], READ_ALL, &truth);
	rows = truth.supplied;
	port_derive(&truth, &is->now);
	rows = mask_and(rows, port_diff(&truth, &p->now));
	MASK_FOREACH(a, rows)
	law_broken("%s/%u: %s is not what it is in the world", d->name, number,
		   port_attributes[a].name);
	port_snapshot_done(&truth);
}

static void check_device(const ScriptDevice *d, const Device *is)
{
	char firmware[16];

	LAW(is, "%s, device %u, is not in the cache", d->name, d->index);
	LAW(is->published, "%s is not published", d->name);
	LAW(streq(TEXT_OF(&is->now.values, name), d->name), "%s is called %s", d->name,
	    TEXT_OF(&is->now.values, name));
	LAW(is->n_ports == d->n_ports, "%s has %u ports, in the cache %u", d->name, d->n_ports,
	    is->n_ports);
	LAW(!is->now.values.stale, "%s is stale", d->name);
	script_firmware(d, firmware);
	LAW(streq(TEXT_OF(&is->now.values, fw_ver), firmware),
	    "%s: the firmware is %s, in the cache %s", d->name, firmware,
	    TEXT_OF(&is->now.values, fw_ver));
	for (uint32_t n = 1; n <= d->n_ports; n++)
		check_port(d, is, n);
}

void check_healthy(const Script *s, const Cache *cache)
{
	const ScriptDevice *devices = script_devices_now(s);

	for (size_t i = 0; i < SCRIPT_DEVICES; i++)
		if (devices[i].exists && !devices[i].hangs)
			check_device(&devices[i], cache_device(cache, devices[i].index));
}

void check_cache(const Script *s, const Cache *cache)
{
	const ScriptDevice *devices = script_devices_now(s);
	size_t n = 0;

	for (size_t i = 0; i < SCRIPT_DEVICES; i++) {
		if (!devices[i].exists)
			continue;
		check_device(&devices[i], cache_device(cache, devices[i].index));
		n++;
	}
	LAW(n == cache->n_devices, "%zu devices exist, %zu are in the cache", n, cache->n_devices);
}

static void check_record(const struct rdmad *r, const Port *p)
{
	const PortValues *v = &p->now.values;
	struct rdmad_handle handle;
	struct rdmad_port record;
	char name[80];

	port_name(p, name);
	LAW(rdmad_find(r, name, &handle) == 0, "%s is not in the memory", name);
	LAW(rdmad_read(r, handle, &record) == 0, "%s cannot be read in the memory", name);
	LAW(record.hot.generation == v->generation && record.gid_generation == v->gid_generation &&
		    record.pkey_generation == v->pkey_generation,
	    "%s has another generation in the memory", name);
	LAW(record.hot.state == v->state && record.hot.last_query == v->last_query,
	    "%s has another state in the memory", name);
	LAW(!mask_has(&p->now.valid, PORT_ATTR_lid) ||
		    (record.hot.lid == v->lid && record.hot.sm_lid == v->sm_lid),
	    "%s has another LID in the memory", name);
}

void check_memory(const Manager *m)
{
	struct rdmad_handle handle = RDMAD_HANDLE_FIRST;
	int memory, changed;
	struct rdmad *r;
	size_t n = 0;

	LAW(shared_memory_open(m->memory, READER, &memory, &changed) == 0 &&
		    rdmad_open_fd(memory, changed, &r) == 0,
	    "the memory cannot be opened");
	for (size_t i = 0; i < m->cache.n_devices; i++)
		for (uint32_t k = 0; k < m->cache.devices[i]->n_ports; k++)
			check_record(r, m->cache.devices[i]->ports[k]);
	while (rdmad_next(r, &handle) > 0)
		n++;
	LAW(n == m->cache.n_ports, "%zu ports are in the memory, %zu in the cache", n,
	    m->cache.n_ports);
	rdmad_close(r);
}

/* What is judged */

#define JUDGED_MAX (SCRIPT_DEVICES * (SCRIPT_PORTS + 1))

/* What the judge says of one device or port. */
typedef struct Judged {
	char path[RDMAD_PATH_MAX];
	AttrVerdict health;
	Table *findings;
} Judged;

/* What the judge says of the devices of M and their ports, in their order. Returns how many they
 * are. */
static size_t ask_judge(const Manager *m, Judged ret[JUDGED_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < m->cache.n_devices; i++) {
		const Device *d = m->cache.devices[i];

		device_path(d, ret[n].path);
		ret[n].health = health_of_device(d, &ret[n].findings);
		n++;
		for (uint32_t k = 0; k < d->n_ports; k++, n++) {
			port_path(d->ports[k], ret[n].path);
			ret[n].health = health_of_port(d->ports[k], &ret[n].findings);
		}
	}
	return n;
}

/* Whether the check of F has found anything in T: about which attribute depends on how much of the
 * evidence is left. */
static bool has_finding(const Table *t, const FindingEntry *f)
{
	TABLE_FOREACH(FindingEntry, other, t)
		if (streq(f->check, other->check))
			return true;
	return false;
}

/* What the judge says of D, J, and of its ports, which follow, is published, but for the details
 * that wait. Returns how many these are. */
static size_t check_published(Device *d, const Judged *j, uint64_t now)
{
	_cleanup_(device_change_done) DeviceChange of_device = {};

	cache_apply_device_health(d, j->health, table_hold(j->findings), false, now, &of_device);
	LAW(of_device.op == CACHE_UNCHANGED, "%s is judged otherwise than is published", j->path);
	for (uint32_t k = 0; k < d->n_ports; k++) {
		_cleanup_(port_change_done) PortChange of_port = {};
		Port *p = d->ports[k];

		j++;
		cache_apply_port_health(p, j->health, health_fit_since(p), table_hold(j->findings),
					false, now, &of_port);
		LAW(of_port.op == CACHE_UNCHANGED, "%s is judged otherwise than is published",
		    j->path);
	}
	return 1 + d->n_ports;
}

static void ignore(_unused_ void *userdata, _unused_ Device *d, _unused_ bool details)
{
}

void check_health(Manager *m)
{
	Judged judged[JUDGED_MAX], anew[JUDGED_MAX];
	uint64_t now = realtime_now_usec();
	size_t n = ask_judge(m, judged), at = 0;

	for (size_t i = 0; i < m->cache.n_devices; i++)
		at += check_published(m->cache.devices[i], &judged[at], now);
	manager_health_follow_clock(m);
	health_judge(m->health, now, ignore, NULL);
	ask_judge(m, judged);
	manager_health_end(m);
	LAW(manager_health_start(m) >= 0, "no memory");
	health_take_device(m->health, &(DeviceChange){.device = m->cache.devices[0]});
	health_judge(m->health, now, ignore, NULL);
	ask_judge(m, anew);
	for (size_t i = 0; i < n; i++)
		TABLE_FOREACH(FindingEntry, f, anew[i].findings)
			LAW(has_finding(judged[i].findings, f), "%s: %s is not found: %s",
			    anew[i].path, f->check, f->text);
}
