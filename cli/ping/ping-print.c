/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ping-print.h"

#include "gid.h"
#include "json.h"

void ping_print_way(FILE *f, const PingWay *way)
{
	char name[96], gid[40];
	uint32_t priority;
	bool pfc;

	fprintf(f, "%s (%s): from %s, %s", way->peer, *way->address ? way->address : "no address",
		way->port ? object_name(way->port, name) : "no RDMA port",
		*way->source ? way->source : "no address");
	if (way->gid_index != UINT32_MAX)
		fprintf(f, ", GID index %u", way->gid_index);
	if (way->has_gid) {
		gid_format(way->gid, gid);
		fprintf(f, ", GID %s", gid);
	}
	if (*way->hop)
		fprintf(f, ", next hop %s on %s", way->hop, way->netdev);
	if (way->vlan)
		fprintf(f, " (VLAN %u)", way->vlan);
	if (way->has_path)
		fprintf(f, ", MTU %u, SL %u, traffic class %u", way->mtu, way->service_level,
			way->traffic_class);
	if (ping_priority(way, &priority, &pfc))
		fprintf(f, ", priority %u %s PFC", priority, pfc ? "with" : "without");
	fputc('\n', f);
}

void ping_print_try(FILE *f, const PingResult *r)
{
	const PingState *o = &r->tries[r->n - 1];
	char reason[PING_REASON_MAX];

	if (o->stage == PING_STAGE_DONE)
		fprintf(f, "%s: %zu: answered in %.3f ms\n", r->way.peer, r->n,
			(double)o->took_usec / 1000);
	else
		fprintf(f, "%s: %zu: %s [%s]\n", r->way.peer, r->n, ping_reason(o, &r->way, reason),
			ping_link_name(o->broken));
}

void ping_print_mtu(FILE *f, const PingWay *way)
{
	char reason[PING_REASON_MAX];

	if (ping_mtu_fails(way))
		fprintf(f, "%s: %s [%s]\n", way->peer, ping_reason(&ping_mtu_broken, way, reason),
			ping_link_name(PING_LINK_MTU));
}

/* JSON */

static Value text(const char *t)
{
	return *t ? (Value){.type = VALUE_TEXT, .text = CONST_CAST(char *, t)} : (Value){};
}

static Value number(bool is_known, uint64_t n)
{
	return is_known ? (Value){.type = VALUE_UNSIGNED, .number = n} : (Value){};
}

static void add(FILE *f, const char *name, Value v)
{
	json_add_value(f, name, ATTR_U32, &v);
}

static void add_way(FILE *f, const PingWay *way)
{
	char name[96] = "", gid[40] = "";
	uint32_t priority = 0;
	bool pfc = false, known = ping_priority(way, &priority, &pfc);

	if (way->port)
		object_name(way->port, name);
	if (way->has_gid)
		gid_format(way->gid, gid);
	add(f, "Peer", text(way->peer));
	add(f, "Address", text(way->address));
	add(f, "Port", text(name));
	add(f, "ObjectPath", text(way->port ? way->port->path : ""));
	add(f, "Source", text(way->source));
	add(f, "Gid", text(gid));
	add(f, "GidIndex", number(way->gid_index != UINT32_MAX, way->gid_index));
	add(f, "NextHop", text(way->hop));
	add(f, "Netdev", text(way->netdev));
	add(f, "Vlan", number(way->vlan > 0, way->vlan));
	add(f, "PathMtu", number(way->mtu > 0, way->mtu));
	add(f, "PathMtuArrives",
	    way->mtu_known ? (Value){.type = VALUE_BOOL, .boolean = way->mtu_arrives} : (Value){});
	add(f, "ServiceLevel", number(way->has_path, way->service_level));
	add(f, "TrafficClass", number(way->has_path, way->traffic_class));
	add(f, "Priority", number(known, priority));
	add(f, "Pfc", known ? (Value){.type = VALUE_BOOL, .boolean = pfc} : (Value){});
	json_open_list(f, "Tries");
}

void ping_print_json(FILE *f, const PingResult *r)
{
	char reason[PING_REASON_MAX];

	json_next(f);
	json_open(f);
	add_way(f, &r->way);
	for (size_t k = 0; k < r->n; k++) {
		const PingState *o = &r->tries[k];
		bool answered = o->stage == PING_STAGE_DONE;

		json_entry(f);
		json_open(f);
		add(f, "TimeUSec", number(answered, o->took_usec));
		add(f, "Broken", text(answered ? "" : ping_link_name(o->broken)));
		add(f, "Reason", text(answered ? "" : ping_reason(o, &r->way, reason)));
		json_close(f);
	}
	json_close_list(f);
	json_close(f);
}
