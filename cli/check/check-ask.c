/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "check-ask.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include "bus.h"
#include "names.h"

/* The members of an entry of ListHistories() */
enum { ENTRY_NAME, ENTRY_HISTORY, _ENTRY_MAX };

/* Ends a call that has returned K, and was to read an array into V. */
static bool take_array(Asker *a, int k, sd_bus_message *reply, Value *v, const char *what,
		       const sd_bus_error *error)
{
	if (k >= 0)
		k = value_read(reply, v);
	if (k >= 0 && v->type != VALUE_ARRAY)
		k = -EBADMSG;
	if (k < 0)
		a->status = bus_complain(what, error, k);
	return k >= 0;
}

/* Reads all histories, for the first port that needs one. */
static bool read_histories(Asker *a)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int k;

	if (a->status != STATUS_OK || a->histories.type == VALUE_ARRAY)
		return a->status == STATUS_OK;
	/* rdmad has more times at which a link went down than it has transitions */
	k = sd_bus_call_method(a->c->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
			       "ListHistories", &error, &reply, "a{sv}", 2, "transitions", "b", 1,
			       "link-downs-within-usec", "t", a->flap_usec);
	return take_array(a, k, reply, &a->histories, "the histories cannot be read", &error);
}

static bool is_history_of(const Value *entry, const Object *port)
{
	const Value *path = value_tail(entry, ENTRY_HISTORY, "Port");

	return path && streq(value_text(path), port->path);
}

/* The histories are in the order of the ports: the search goes on where the last one ended. */
static const Value *find_history(void *userdata, const Object *port)
{
	Asker *a = userdata;
	const Value *all = &a->histories;

	if (!read_histories(a))
		return NULL;
	for (size_t i = 0; i < all->n; i++, a->history++) {
		const Value *entry = &all->items[a->history % all->n];

		if (is_history_of(entry, port))
			return &entry->items[ENTRY_HISTORY];
	}
	return NULL;
}

/* A port of DEVICE, for a call that takes ports. */
static const Object *port_of(const Asker *a, const Object *device)
{
	for (size_t i = 0; i < a->chosen->n; i++)
		if (selection_device(a->chosen, a->chosen->ports[i]) == device)
			return a->chosen->ports[i];
	return NULL;
}

/* None too if the port has gone. */
static SeenSource read_evidence(void *userdata, const Object *o)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	Asker *a = userdata;
	const Object *port = o->is_port ? o : port_of(a, o);
	char name[96];
	int k;

	if (a->status != STATUS_OK || !port)
		return (SeenSource){};
	object_name(port, name);
	k = sd_bus_call_method(a->c->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
			       "GetEvidence", &error, &reply, "sa{sv}", name, 0);
	if (k < 0 && error_is_no_port(&error))
		return (SeenSource){};
	value_done(&a->evidence);
	return take_array(a, k, reply, &a->evidence, name, &error) ? seen_in(&a->evidence)
								   : (SeenSource){};
}

/* rdmad hears of each failure, and finds it. So its evidence is not asked for each device. */
static bool may_have_failed(_unused_ void *userdata, const Object *device)
{
	const Value *findings = object_value(device, DEVICE_ATTR_findings);

	return !findings || findings->n > 0;
}

/* An rdmad that does not say it has found nothing. */
static const Value *read_machine(void *userdata)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	Asker *a = userdata;

	value_done(&a->machine);
	if (a->status != STATUS_OK ||
	    sd_bus_get_property(a->c->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
				"Findings", NULL, &reply, "a(sssa{sv})") < 0 ||
	    value_read(reply, &a->machine) < 0)
		return NULL;
	return &a->machine;
}

static const Sample *read_counters(void *userdata, const Object *port, const char **ret_why)
{
	Asker *a = userdata;
	int k;

	if (a->sampled == port)
		return &a->sample;
	sample_done(&a->sample);
	a->sampled = NULL;
	sd_bus_error_free(&a->error);
	k = sample_read(a->c->bus, port->path, SAMPLE_LOCAL, &a->sample, &a->error);
	if (k >= 0) {
		a->sampled = port;
		return &a->sample;
	}
	*ret_why = a->error.message ? a->error.message : strerror(-k);
	return NULL;
}

static const Sample *find_before(void *userdata, const Object *port, _unused_ uint64_t most_usec)
{
	const Asker *a = userdata;
	char name[96];
	const PortSample *p = sample_list_find(&a->before, 0, object_name(port, name));

	return p && p->sample.counters.n > 0 ? &p->sample : NULL;
}

/* A port whose counters cannot be read has no earlier sample: another check says so. */
ExitStatus asker_sample(Asker *a, uint64_t usec)
{
	for (size_t i = 0; i < a->chosen->n; i++) {
		_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
		const Object *port = a->chosen->ports[i];
		char name[96];
		PortSample *p = sample_list_add(&a->before, object_name(port, name), port->path);

		if (!p)
			return out_of_memory();
		(void)sample_read(a->c->bus, port->path, SAMPLE_LOCAL, &p->sample, &error);
	}
	usleep((useconds_t)usec);
	return STATUS_OK;
}

/* Asks the file system and does not open the device: that could wait for firmware. */
static int access_node(_unused_ void *userdata, const char *node)
{
	return access(node, R_OK | W_OK) < 0 ? -errno : 0;
}

static uint64_t read_setting(const char *netdev, const char *name)
{
	char path[128], text[16] = "";
	uint64_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv4/conf/%.15s/%s", netdev, name);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fgets(text, sizeof(text), f))
		text[strcspn(text, "\n")] = '\0';
	fclose(f);
	return text_to_u64(text, UINT32_MAX, &n) == 0 ? n : 0;
}

/* Whether the interface answers ARP for its own addresses only, and asks from these only: then
 * several interfaces in one subnet work. The larger of the two settings counts. */
static bool is_separated(const char *netdev)
{
	return MAX(read_setting(netdev, "arp_ignore"), read_setting("all", "arp_ignore")) >= 1 &&
	       MAX(read_setting(netdev, "arp_announce"), read_setting("all", "arp_announce")) >= 2;
}

static uint32_t find_mask(void *userdata, const char *netdev, uint32_t address)
{
	Asker *a = userdata;

	if (!a->addresses && getifaddrs(&a->addresses) < 0)
		a->addresses = NULL;
	for (const struct ifaddrs *i = a->addresses; i; i = i->ifa_next) {
		struct sockaddr_in is, mask;

		if (!i->ifa_addr || !i->ifa_netmask || i->ifa_addr->sa_family != AF_INET ||
		    !streq(i->ifa_name, netdev))
			continue;
		memcpy(&is, i->ifa_addr, sizeof(is));
		memcpy(&mask, i->ifa_netmask, sizeof(mask));
		if (ntohl(is.sin_addr.s_addr) == address)
			return is_separated(netdev) ? 0 : ntohl(mask.sin_addr.s_addr);
	}
	return 0;
}

static bool hides_devices(void *userdata)
{
	const Asker *a = userdata;
	_cleanup_free_ char *mode = NULL;

	return sd_bus_get_property_string(a->c->bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH,
					  RDMAD_INTERFACE_MANAGER, "NamespaceMode", NULL,
					  &mode) >= 0 &&
	       streq(mode, "exclusive");
}

/* Of this machine only this machine knows: how large the subnet of an address is, and what may be
 * opened. */
CheckAsk asker_functions(Asker *a)
{
	const Context *c = a->c;

	return (CheckAsk){
		.history = find_history,
		.evidence = read_evidence,
		.may_have_failed = may_have_failed,
		.of_machine = read_machine,
		.counters = read_counters,
		.counters_before = a->before.n > 0 ? find_before : NULL,
		.access = bus_is_local(c) ? access_node : NULL,
		.subnet_mask = c->host || c->machine ? NULL : find_mask,
		.hides_devices = hides_devices,
		.userdata = a,
	};
}

void asker_done(Asker *a)
{
	value_done(&a->histories);
	value_done(&a->evidence);
	value_done(&a->machine);
	sample_done(&a->sample);
	sample_list_done(&a->before);
	sd_bus_error_free(&a->error);
	if (a->addresses)
		freeifaddrs(a->addresses);
}
