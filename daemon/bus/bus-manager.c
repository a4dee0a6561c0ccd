/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* org.rdma.Manager: Refresh() and properties. Its other methods have files of their own:
 * bus-find.c, bus-history.c, bus-evidence.c, long-reply.c, bus-wait-for.c, bus-open-snapshot.c. */

#include "api-feature.h"
#include "bus-counters.h"
#include "bus-evidence.h"
#include "bus-find.h"
#include "bus-history.h"
#include "bus-open-snapshot.h"
#include "bus-options.h"
#include "bus-private.h"
#include "bus-property.h"
#include "log.h"
#include "names.h"

/* A method whose reply can be long; USERDATA is the Bus. */
#define LONG_METHOD(method, kind)                                                                  \
	static int method(sd_bus_message *m, void *userdata, sd_bus_error *error)                  \
	{                                                                                          \
		const Bus *b = userdata;                                                           \
                                                                                                   \
		return long_reply_answer(b->long_replies, m, kind, error);                         \
	}

LONG_METHOD(method_list_ports, LONG_REPLY_LIST_PORTS)
LONG_METHOD(method_find_ports, LONG_REPLY_FIND_PORTS)
LONG_METHOD(method_list_histories, LONG_REPLY_LIST_HISTORIES)
LONG_METHOD(method_get_history, LONG_REPLY_HISTORY)
LONG_METHOD(method_get_evidence, LONG_REPLY_EVIDENCE)

static int method_refresh(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	int r = bus_read_options(m, "Refresh", NULL, 0, error);

	if (r < 0)
		return r;
	return bus_keep_call(b, m, b->handler->refresh(b->userdata), 0, error);
}

void bus_answer_refresh(PendingList *list, int error)
{
	char text[128];
	PendingCall *c;
	int r;

	if (error < 0)
		snprintf(text, sizeof(text), "Cannot enumerate the devices: %s", strerror(-error));
	while ((c = pending_list_find(list, 0))) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *call = bus_call_of(c);

		if (call && error < 0) {
			bus_reply_error(call, error, text);
		} else if (call) {
			r = sd_bus_reply_method_return(call, NULL);
			if (r < 0)
				log_debug_errno(r, "Cannot answer Refresh(), ignoring: %m");
		}
		pending_call_free(c);
	}
}

static int method_wait_for(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const Bus *b = userdata;

	return bus_wait_call(b->waits, m, error);
}

/* Properties */

/* One getter: what it appends of the Bus B and of what the handler says, STATUS. */
#define GETTER(property, signature, value)                                                         \
	static int get_##property(_unused_ sd_bus *bus, _unused_ const char *path,                 \
				  _unused_ const char *interface, _unused_ const char *name,       \
				  sd_bus_message *reply, void *userdata,                           \
				  _unused_ sd_bus_error *error)                                    \
	{                                                                                          \
		const Bus *b = userdata;                                                           \
		BusStatus status;                                                                  \
                                                                                                   \
		b->handler->status(b->userdata, &status);                                          \
		return sd_bus_message_append(reply, signature, value);                             \
	}

GETTER(version, "s", RDMAD_VERSION)
GETTER(api_version, "u", RDMAD_API_VERSION)
GETTER(simulated, "b", (int)status.source.simulated)
GETTER(monitor_mode, "b", (int)status.source.monitor_mode)
GETTER(namespace_mode, "s", status.source.namespaces ?: "")
GETTER(privileged_qkey, "b", (int)status.source.privileged_qkey)
GETTER(reconcile_interval, "t", b->config->reconcile_usec)
GETTER(last_sync, "t", status.last_sync_usec)
GETTER(lost_events, "t", status.lost_events)
GETTER(device_count, "u", (uint32_t)b->cache->n_devices)
GETTER(port_count, "u", (uint32_t)b->cache->n_ports)
GETTER(active_port_count, "u", (uint32_t)b->cache->n_active)

static int get_health(_unused_ sd_bus *bus, _unused_ const char *path,
		      _unused_ const char *interface, const char *name, sd_bus_message *reply,
		      void *userdata, _unused_ sd_bus_error *error)
{
	const Bus *b = userdata;
	BusWriter w = {.message = reply};
	BusStatus status;
	AttrText text;

	b->handler->status(b->userdata, &status);
	if (streq(name, "Findings"))
		bus_put_entries(&w, table_layout(ATTR_FINDINGS),
				status.findings ? status.findings->entries : NULL,
				status.findings ? status.findings->n : 0);
	else
		bus_writer_put_text(&w, 's',
				    attr_enumeration_text(ATTR_VERDICT, status.health, text));
	return bus_writer_error(&w);
}

static int get_features(_unused_ sd_bus *bus, _unused_ const char *path,
			_unused_ const char *interface, _unused_ const char *name,
			sd_bus_message *reply, _unused_ void *userdata,
			_unused_ sd_bus_error *error)
{
	int r = sd_bus_message_open_container(reply, 'a', "s");

	for (size_t i = 0; r >= 0 && i < n_feature_rows; i++)
		r = sd_bus_message_append_basic(reply, 's', feature_rows[i].name);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

/* Devices and Ports. Get() is a long reply, and GetAll() does not have them: they may be large. */
static int get_list(_unused_ sd_bus *bus, _unused_ const char *path, _unused_ const char *interface,
		    const char *name, sd_bus_message *reply, void *userdata,
		    _unused_ sd_bus_error *error)
{
	const Bus *b = userdata;
	BusWriter w = {.message = reply};

	bus_put_objects(&w, b->cache, name);
	return bus_writer_error(&w);
}

#define LIST (SD_BUS_VTABLE_PROPERTY_EMITS_INVALIDATION | SD_BUS_VTABLE_PROPERTY_EXPLICIT)

/* clang-format off */
const sd_bus_vtable bus_manager_members[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Version", "s", get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("ApiVersion", "u", get_api_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Features", "as", get_features, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Simulated", "b", get_simulated, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("MonitorMode", "b", get_monitor_mode, 0, 0),
	SD_BUS_PROPERTY("NamespaceMode", "s", get_namespace_mode, 0, 0),
	SD_BUS_PROPERTY("PrivilegedQkey", "b", get_privileged_qkey, 0, 0),
	SD_BUS_PROPERTY("ReconcileIntervalUSec", "t", get_reconcile_interval, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("DeviceCount", "u", get_device_count, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("PortCount", "u", get_port_count, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("ActivePortCount", "u", get_active_port_count, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Health", "s", get_health, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Findings", finding_table_signature, get_health, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Devices", "ao", get_list, 0, LIST),
	SD_BUS_PROPERTY("Ports", "ao", get_list, 0, LIST),
	SD_BUS_PROPERTY("LastSyncTimestamp", "t", get_last_sync, 0, 0),
	SD_BUS_PROPERTY("LostEventCount", "t", get_lost_events, 0, 0),
	SD_BUS_METHOD_WITH_ARGS("GetDeviceByName", SD_BUS_ARGS("s", name, "a{sv}", options),
				SD_BUS_RESULT("o", device), bus_get_device_by_name, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetPort", SD_BUS_ARGS("s", port, "a{sv}", options),
				SD_BUS_RESULT("o", path), bus_get_port, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetPortByNetdev", SD_BUS_ARGS("s", netdev, "a{sv}", options),
				SD_BUS_RESULT("o", port), bus_get_port_by_netdev, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetPortByGuid", SD_BUS_ARGS("s", guid, "a{sv}", options),
				SD_BUS_RESULT("o", port), bus_get_port_by_guid, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetPortByAddress", SD_BUS_ARGS("s", address, "a{sv}", options),
				SD_BUS_RESULT("o", port, "u", gid_index), bus_get_port_by_address, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("FindPorts", SD_BUS_ARGS("s", what, "a{sv}", options),
				SD_BUS_RESULT("a(oa{sv})", ports), method_find_ports, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("ListPorts", "a{sv}", SD_BUS_PARAM(options),
				 long_reply_list_ports_signature, SD_BUS_PARAM(ports), method_list_ports, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetHistory", SD_BUS_ARGS("s", port, "a{sv}", options),
				SD_BUS_RESULT("a" BUS_TRANSITION, transitions), method_get_history, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("ListHistories", SD_BUS_ARGS("a{sv}", options),
				SD_BUS_RESULT("a" BUS_HISTORY, histories), method_list_histories, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetEvidence", SD_BUS_ARGS("s", port, "a{sv}", options),
				SD_BUS_RESULT("a" BUS_EVIDENCE, evidence), method_get_evidence, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetCounters", "a{sv}", SD_BUS_PARAM(options), bus_counters_signature,
				 SD_BUS_PARAM(sets) SD_BUS_PARAM(ports), bus_get_counters,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("Refresh", SD_BUS_ARGS("a{sv}", options), SD_BUS_NO_RESULT,
				method_refresh, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("WaitFor", SD_BUS_ARGS("a{sv}", condition, "t", timeout_usec),
				SD_BUS_RESULT("a{so}", ports), method_wait_for, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("OpenSnapshot", SD_BUS_ARGS("a{sv}", options),
				SD_BUS_RESULT("h", memory, "h", changed, "a{sv}", info),
				bus_open_snapshot, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};
/* clang-format on */
const size_t bus_n_manager_members = ARRAY_SIZE(bus_manager_members);

int bus_manager_add(Bus *b)
{
	return sd_bus_add_object_vtable(b->bus, NULL, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
					bus_manager_members, b);
}
