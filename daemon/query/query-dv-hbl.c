/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Intel Gaudi. The kernel gives a device one user context, so who opens it has the accelerator. No
 * distribution has libhbl: there is no header to build with, and what is installed may be of
 * another age. Hence dlopen(), a structure of our own, and a process of its own.
 */

#include <dlfcn.h>

#include "query-dv.h"

/* As ionic, of which upstream says the same. */
#define DRIVER_HBL 21

/* struct hbldv_query_port_attr of hbldv_query_port(3). Newer libraries give names to the reserved
 * fields, and the older leave them unwritten. */
typedef struct HblPort {
	uint32_t max_num_of_qps;
	uint32_t num_allocated_qps;
	uint32_t max_allocated_qp_num;
	uint32_t max_cq_size;
	uint32_t reserved[5];
	uint8_t advanced;
	uint8_t max_num_of_cqs;
	uint8_t max_num_of_usr_fifos;
	uint8_t max_num_of_encaps;
	uint8_t nic_macro_idx;
	uint8_t nic_phys_port_idx;
} HblPort;

_Static_assert(sizeof(HblPort) == 44, "not the layout of HBL_1.0");

/* Room for a library whose structure has grown: a longer one says so by what it writes behind. */
typedef union HblAnswer {
	HblPort port;
	uint8_t bytes[512];
} HblAnswer;

static struct {
	bool (*is_supported)(struct ibv_device *device);
	int (*query_port)(struct ibv_context *context, uint32_t port, void *attr);
} libhbl;

static void *find_symbol(void *library, const char *name)
{
	void *symbol = dlvsym(library, name, "HBL_1.0");

	return symbol ? symbol : dlsym(library, name);
}

static bool load(void)
{
	static void *library;

	if (library)
		return libhbl.is_supported && libhbl.query_port;
	library = dlopen("libhbl.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return false;
	*(void **)&libhbl.is_supported = find_symbol(library, "hbldv_is_supported");
	*(void **)&libhbl.query_port = find_symbol(library, "hbldv_query_port");
	return libhbl.is_supported && libhbl.query_port;
}

/* The driver id alone says nothing: the driver calls itself 21, as ionic does in the kernel since
 * 6.18. The id counts only if nothing else is known of the device: opened by mistake, an
 * accelerator would be taken from its user. */
static bool matches(const PolicyDevice *d)
{
	return startswith(d->name, "hbl_") || startswith(d->kernel_driver, "habanalabs") ||
	       (d->driver_id == DRIVER_HBL && d->kernel_driver[0] == '\0');
}

static bool is_usable(struct ibv_device *device)
{
	return load() && libhbl.is_supported(device);
}

static void open_failed(int error, PortSnapshot *s)
{
	if (error == -EBUSY)
		PORT_SUPPLY(s, in_use, true);
}

static int query_port(struct ibv_context *context, uint32_t port, PortSnapshot *s)
{
	HblAnswer answer = {};
	const HblPort *p = &answer.port;
	int r;

	if (!load())
		return -EOPNOTSUPP;
	r = libhbl.query_port(context, port, &answer);
	if (r != 0)
		return r > 0 ? -r : -EIO;
	for (size_t i = sizeof(HblPort); i < sizeof(answer); i++)
		if (answer.bytes[i])
			return -EBADMSG;
	PORT_SUPPLY(s, in_use, false);
	PORT_SUPPLY(s, max_num_of_qps, p->max_num_of_qps);
	PORT_SUPPLY(s, num_allocated_qps, p->num_allocated_qps);
	PORT_SUPPLY(s, max_allocated_qp_num, p->max_allocated_qp_num);
	PORT_SUPPLY(s, max_cq_size, p->max_cq_size);
	PORT_SUPPLY(s, advanced, p->advanced != 0);
	PORT_SUPPLY(s, max_num_of_cqs, p->max_num_of_cqs);
	PORT_SUPPLY(s, max_num_of_usr_fifos, p->max_num_of_usr_fifos);
	PORT_SUPPLY(s, max_num_of_encaps, p->max_num_of_encaps);
	PORT_SUPPLY(s, nic_macro_idx, p->nic_macro_idx);
	PORT_SUPPLY(s, nic_phys_port_idx, p->nic_phys_port_idx);
	return 0;
}

const DvProvider dv_hbl = {
	.name = "hbl",
	.matches = matches,
	.interface = INTERFACE_HBL,
	.query_port = query_port,
	.exclusive = true,
	.is_usable = is_usable,
	.open_failed = open_failed,
};
