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

static int method_read(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	Service *s = userdata;
	PortSnapshot said = {};
	ModulePages pages;
	uint32_t ifindex;
	int r = sd_bus_message_read(m, "u", &ifindex);

	if (r < 0)
		return r;
	helper_note_call(&s->helper);
	r = module_read(&s->ethtool, ifindex, &pages);
	if (r == -ENOMEDIUM)
		PORT_SUPPLY(&said, cable_present, 0);
	else if (r < 0)
		return r;
	else
		module_decode(&pages, &said);
	r = sd_bus_message_new_method_return(m, &reply);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "{ss}");
	MASK_FOREACH(a, said.supplied)
	if (r >= 0)
		r = append_row(reply, &port_attributes[a], &said.values);
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

int main(int argc, char *argv[])
{
	Service s = {
		.helper = {NAME, PATH, {{"Read", "u", "a{ss}", method_read}}, IDLE_USEC, NULL, {}},
		.ethtool = GENL_CLOSED};
	int status;

	if (argc > 1) {
		fprintf(stderr, "Unexpected argument: %s\n", argv[1]);
		return EXIT_FAILURE;
	}
	status = helper_main(&s.helper, "rdmad-cable", 0);
	genl_done(&s.ethtool);
	return status;
}
