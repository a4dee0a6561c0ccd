/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rdmad-cable reads the modules in the cages of ports for rdmad. The program is started by the bus,
 * answers
 *
 *     org.rdma.Cable.Read(u interface) -> a{ss}
 *
 * with the fields of port-attributes.def that the module of the network interface with that index
 * says, a number as "raw:N", and ends when nobody has asked for a while.
 *
 * Who may read modules may configure the network too: that is a right of this program, which talks
 * to nobody but rdmad and the kernel, and rdmad itself does not have it. A wait for a module is a
 * wait here too.
 */

#include <inttypes.h>

#include "helper.h"
#include "module-read.h"

#define NAME	  "org.rdma.Cable"
#define PATH	  "/org/rdma/cable"
#define IDLE_USEC (30 * USEC_PER_SEC)

typedef struct Service {
	Helper helper;
	Genl ethtool;
} Service;

static int append_row(sd_bus_message *reply, const Attribute *row, const PortValues *v)
{
	char number[32];

	if (attr_is_text(row->type))
		return sd_bus_message_append(reply, "{ss}", row->field, attr_get_text(row, v));
	snprintf(number, sizeof(number), "raw:%" PRIu64, attr_get_raw(row, v));
	return sd_bus_message_append(reply, "{ss}", row->field, number);
}

static int answer_read(Helper *h, sd_bus_message *call, sd_bus_message *reply,
		       _unused_ sd_bus_error *error)
{
	_cleanup_(port_snapshot_done) PortSnapshot said = {};
	ModulePages pages;
	uint32_t ifindex;
	int r = sd_bus_message_read(call, "u", &ifindex);

	if (r < 0)
		return r;
	r = module_read(&((Service *)h)->ethtool, ifindex, &pages);
	if (r == -ENOMEDIUM)
		PORT_SUPPLY(&said, cable_present, 0);
	else if (r < 0)
		return r;
	else
		module_decode(&pages, &said);
	r = 0;
	MASK_FOREACH(a, said.supplied)
	if (r >= 0)
		r = append_row(reply, &port_attributes[a], &said.values);
	return r;
}

int main(int argc, char *argv[])
{
	Service s = {.helper = {.name = NAME,
				.path = PATH,
				.methods = {{"Read", "u", "a{ss}", answer_read}},
				.idle_usec = IDLE_USEC},
		     .ethtool = GENL_CLOSED};
	int status;

	if (argc > 1)
		return helper_refuse_argument(argv[1]);
	status = helper_main(&s.helper, "rdmad-cable", 0);
	genl_done(&s.ethtool);
	return status;
}
