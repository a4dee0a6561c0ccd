/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rdmad-fabric tells rdmad what is at the other ends of links of InfiniBand. The program is started
 * by the bus, answers
 *
 *     org.rdma.Fabric.List(ports a(su)) -> a(suyyttsuu)
 *     org.rdma.Fabric.GetCounters(ports a(su)) -> a(susa(st))
 *
 * with the device and the number of a port that was asked for, and of the other end of its link the
 * type of the node, its port, the GUID of the node and that of its system, its description, and the
 * widths and speeds that are enabled there. Of an other end that is not known the type is 0, and in
 * place of its description is a code: why it is not. Of counters there is such a code, which is
 * empty if they are known, and each counter of the port at the other end, as sysfs calls it. The
 * program ends when nobody has asked for a while.
 *
 * It alone opens umad. Who can do that can send any packet to the fabric, as a subnet manager does:
 * that is a right of this program, which talks to nobody but rdmad, and rdmad does not have it.
 */

#include "helper.h"
#include "hop.h"

#define NAME "org.rdma.Fabric"
#define PATH "/org/rdma/fabric"
/* Longer than the default of NeighborIntervalSec=: on a machine with InfiniBand the program stays.
 */
#define IDLE_USEC (300 * USEC_PER_SEC)
/* A kernel that keeps the program waiting for so many seconds ends it. */
#define ANSWER_SEC 5U
/* So many ports are asked for at once, at most; each takes a descriptor. */
#define PORTS_MAX 256U

/* The names stay in M. */
static int read_ports(sd_bus_message *m, Hop hops[PORTS_MAX], size_t *ret_n)
{
	size_t n = 0;
	int r = sd_bus_message_enter_container(m, 'a', "(su)");

	while (r > 0 && n < PORTS_MAX &&
	       (r = sd_bus_message_read(m, "(su)", &hops[n].device, &hops[n].port)) > 0)
		n++;
	*ret_n = n;
	return n == PORTS_MAX ? -E2BIG : MIN(r, 0);
}

static int append_end(sd_bus_message *m, const Hop *h)
{
	const FarEnd *e = &h->end;

	return sd_bus_message_append(
		m, "(suyyttsuu)", h->device, h->port, e->type, e->port, e->guid, e->system,
		e->type ? e->text : unavailable_rows[h->why].code, e->widths, e->speeds);
}

static int append_counters(sd_bus_message *m, const Hop *h)
{
	bool known = far_end_has_counters(&h->end);
	int r = sd_bus_message_open_container(m, 'r', "susa(st)");

	if (r >= 0)
		r = sd_bus_message_append(m, "sus", h->device, h->port,
					  known ? "" : unavailable_rows[h->why].code);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "(st)");
	for (size_t i = 0; i < FAR_COUNTERS_MAX && r >= 0; i++) {
		uint64_t value;
		const char *name = far_end_counter(&h->end, i, &value);

		if (name)
			r = sd_bus_message_append(m, "(st)", name, value);
	}
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* Answers CALL with an entry for each port, which APPEND adds. */
static int answer(sd_bus_message *call, sd_bus_message *reply, bool counters,
		  int (*append)(sd_bus_message *m, const Hop *h))
{
	_cleanup_free_ Hop *hops = calloc(PORTS_MAX, sizeof(*hops));
	size_t n = 0;
	int r = hops ? read_ports(call, hops, &n) : -ENOMEM;

	if (r < 0)
		return r;
	hop_ask(hops, n, counters);
	for (size_t i = 0; i < n && r >= 0; i++)
		r = append(reply, &hops[i]);
	return r;
}

static int answer_list(_unused_ Helper *h, sd_bus_message *call, sd_bus_message *reply,
		       _unused_ sd_bus_error *error)
{
	return answer(call, reply, false, append_end);
}

static int answer_counters(_unused_ Helper *h, sd_bus_message *call, sd_bus_message *reply,
			   _unused_ sd_bus_error *error)
{
	return answer(call, reply, true, append_counters);
}

int main(void)
{
	Helper h = {.name = NAME,
		    .path = PATH,
		    .methods = {{"List", "a(su)", "a(suyyttsuu)", answer_list},
				{"GetCounters", "a(su)", "a(susa(st))", answer_counters}},
		    .idle_usec = IDLE_USEC,
		    .answer_sec = ANSWER_SEC};

	return helper_main(&h, "rdmad-fabric", 0);
}
