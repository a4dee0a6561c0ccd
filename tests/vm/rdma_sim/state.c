// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a read of /dev/rdma_sim gives: a line for each device and three for
 * each port. Each port is a consistent snapshot, the whole is not.
 */
#include <linux/seq_file.h>

#include "rdma_sim.h"

#define FORMAT_VERSION	1

static const char *const call_names[SIM_CALL_MAX] = {
	[SIM_CALL_QUERY_USER] = "query.user",
	[SIM_CALL_QUERY_KERNEL] = "query.kernel",
	[SIM_CALL_DV] = "dv",
	[SIM_CALL_PKEY] = "pkey",
	[SIM_CALL_GID] = "gid",
	[SIM_CALL_HW] = "hw",
	[SIM_CALL_PMA] = "pma",
	[SIM_CALL_FAULT] = "fault",
};

/* Position 0 is the version line, then one for each port of each device. */
static void *sim_state_start(struct seq_file *m, loff_t *pos)
{
	struct sim_dev *sd;
	loff_t left = *pos;

	mutex_lock(&sim_lock);
	if (!left--)
		return SEQ_START_TOKEN;
	list_for_each_entry(sd, &sim_devices, list) {
		if (left < sd->opt.ports)
			return &sd->ports[left];
		left -= sd->opt.ports;
	}
	return NULL;
}

static void *sim_state_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct sim_port *port = v;
	struct sim_dev *sd;

	(*pos)++;
	if (v == SEQ_START_TOKEN) {
		sd = list_first_entry_or_null(&sim_devices, struct sim_dev, list);
		return sd ? sd->ports : NULL;
	}
	sd = port->dev;
	if (port->num < sd->opt.ports)
		return port + 1;
	if (list_is_last(&sd->list, &sim_devices))
		return NULL;
	return list_next_entry(sd, list)->ports;
}

static void sim_state_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&sim_lock);
}

static int sim_state_show(struct seq_file *m, void *v)
{
	struct sim_port *port = v;
	struct sim_dev *sd;
	const char *name;
	size_t i;

	if (v == SEQ_START_TOKEN) {
		seq_printf(m, "rdma_sim %d\n", FORMAT_VERSION);
		return 0;
	}
	sd = port->dev;
	name = sd->ibdev.name;
	if (port->num == 1)
		seq_printf(m, "device %s index=%u driver_id=%u ports=%u gids=%u pkeys=%u contexts=%d\n",
			   name, sd->ibdev.index, sd->opt.driver_id, sd->opt.ports, sd->opt.gids,
			   sd->opt.pkeys, atomic_read(&sd->contexts));

	spin_lock(&sd->lock);
	seq_printf(m, "link %s/%u type=%s netdev=%s\n", name, port->num,
		   sim_link_name(port->link), port->netdev[0] ? port->netdev : "-");
	seq_printf(m, "port %s/%u", name, port->num);
	sim_keys_show(m, port);
	seq_printf(m, "\ncalls %s/%u waiting=%u", name, port->num, port->waiting);
	for (i = 0; i < SIM_CALL_MAX; i++)
		seq_printf(m, " %s=%llu", call_names[i], port->calls[i]);
	spin_unlock(&sd->lock);
	seq_putc(m, '\n');
	return 0;
}

const struct seq_operations sim_state_ops = {
	.start = sim_state_start,
	.next = sim_state_next,
	.stop = sim_state_stop,
	.show = sim_state_show,
};
