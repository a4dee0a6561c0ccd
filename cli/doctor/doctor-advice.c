/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "doctor-advice.h"

#include "kernel-version.h"
#include "no-ports.h"
#include "unavailable.h"

void advice_done(Advice *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->items[i]);
	a->n = 0;
}

static void add(const char *text, void *userdata)
{
	Advice *a = userdata;
	char *copy = a->n < ADVICE_MAX ? strdup(text) : NULL;

	if (copy)
		a->items[a->n++] = copy;
}

static void advise_rdmad(const Context *c, const Machine *m, Advice *a)
{
	char text[512];

	if (!m->reached && machine_is_container(m))
		add("rdmad does not answer in this container. It runs on the host: the container "
		    "needs the host's /run/dbus/system_bus_socket.",
		    a);
	else if (!m->reached && streq(c->address, "system"))
		add("rdmad does not answer. Try: systemctl start rdmad; then see 'journalctl -u "
		    "rdmad'.",
		    a);
	else if (!m->reached)
		add("rdmad does not answer on this bus. Start it there: rdmad --bus=BUS.", a);
	else if (m->version[0] && !streq(m->version, RDMAD_VERSION)) {
		snprintf(text, sizeof(text),
			 "rdmad is %s and rdmactl is " RDMAD_VERSION
			 ". If rdmad is the older one: systemctl restart rdmad.",
			 m->version);
		add(text, a);
	}
}

static void advise_kernel(const Machine *m, Advice *a)
{
	if (m->kernel.version > 0 && m->kernel.version < KERNEL(5, 10))
		add("This kernel is older than 5.10, the oldest that rdmad is tested with.", a);
	if (m->kernel.landlock == 0)
		add("This kernel has no Landlock, so that a worker can read what its user can. If "
		    "it is 5.13 or later: add landlock to lsm= on its command line.",
		    a);
	if (machine_worker_is_filtered(m) == 0)
		add("The worker of rdmad has no filter of seccomp: see 'journalctl -u rdmad'.", a);
}

/* What to do if rdmad says CODE of a device; NULL: nothing. */
static const char *step_for(const char *code)
{
	static const TextPair steps[] = {
		{"no-provider", "Install its userspace driver: the package ibverbs-providers of "
				"Debian, libibverbs of Fedora, or that of the vendor."},
		{"no-permission", "See DeviceAllow= and the user in 'systemctl cat rdmad'."},
		{"no-node", "Try: modprobe ib_uverbs."},
	};

	return text_of_key(steps, ARRAY_SIZE(steps), code);
}

static void advise_device(const Object *device, Advice *a)
{
	const char *code = object_text(device, DEVICE_ATTR_events_reason), *step = step_for(code);
	char text[512];

	if (!step)
		return;
	snprintf(text, sizeof(text), "%s: %s. %s", object_text(device, DEVICE_ATTR_name),
		 unavailable_text(code), step);
	add(text, a);
}

void advice_find(const Context *c, const Machine *m, Advice *ret)
{
	bool any = false;

	*ret = (Advice){};
	advise_rdmad(c, m, ret);
	advise_kernel(m, ret);
	for (size_t i = 0; i < m->objects.n; i++) {
		any = true;
		if (!m->objects.items[i]->is_port)
			advise_device(m->objects.items[i], ret);
	}
	if (!any && !m->simulated && (m->reached || !machine_has(m, "/sys/class/infiniband")))
		no_ports_next(m->root, add, ret);
	else if (!m->simulated)
		no_driver_next(m->root, add, ret);
}
