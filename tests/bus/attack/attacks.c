/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of all attacks. */

#include "attack.h"
#include "bodies.h"
#include "names.h"
#include "special.h"

#define DBUS	   "org.freedesktop.DBus"
#define DBUS_PATH  "/org/freedesktop/DBus"
#define PORT	   "/org/rdma/device/0/port/1"
#define PROPERTIES DBUS ".Properties"
#define INTROSPECT DBUS ".Introspectable"
#define LOG_PATH   "/org/freedesktop/LogControl1"
#define LOG	   "org.freedesktop.LogControl1"

#define MANAGER(name) .path = RDMAD_ROOT_PATH, .interface = RDMAD_INTERFACE_MANAGER, .member = name
#define OF_PORT(name) .path = PORT, .interface = RDMAD_INTERFACE_PORT, .member = name
#define OPTIONS	      .signature = "a{sv}", .body = body_options
#define GET_MANAGED_OBJECTS                                                                        \
	.path = RDMAD_ROOT_PATH, .interface = DBUS ".ObjectManager", .member = "GetManagedObjects"
#define WAIT_FOR(b, k) MANAGER("WaitFor"), .signature = "a{sv}t", .body = b, .n = k
#define PROPERTY(name, types, b, k)                                                                \
	.interface = PROPERTIES, .member = name, .signature = types, .body = b, .n = k
/* P(D0) to P(D9); P(D00) to P(D99) */
#define TEN(P, d) P(d##0) P(d##1) P(d##2) P(d##3) P(d##4) P(d##5) P(d##6) P(d##7) P(d##8) P(d##9)
#define HUNDRED(P, d)                                                                              \
	TEN(P, d##0)                                                                               \
	TEN(P, d##1)                                                                               \
	TEN(P, d##2)                                                                               \
	TEN(P, d##3)                                                                               \
	TEN(P, d##4) TEN(P, d##5) TEN(P, d##6) TEN(P, d##7) TEN(P, d##8) TEN(P, d##9)
#define GID(i)	  " gid." #i "=2001:db8::" #i
#define NO_GID(i) " gid." #i "="
#define USER(i)	  " user." #i "=4,64200,job,/user.slice/job_" #i
#define MESSAGES(...)                                                                              \
	(const Message[])                                                                          \
	{                                                                                          \
		__VA_ARGS__,                                                                       \
		{                                                                                  \
		}                                                                                  \
	}

/* clang-format off */
const Attack attacks[] = {
	/* Long arguments */
	{"many-names", "WaitFor with 100000 names", .ports = 8, .connections = 2, .window = 2,
	 .messages = MESSAGES({WAIT_FOR(body_wait_names, 100000)})},
	{"big-arguments", "GetPort with a name of 4 MiB", .ports = 8, .connections = 2, .window = 2,
	 .messages = MESSAGES({MANAGER("GetPort"), .signature = "sa{sv}", .body = body_text_options, .n = 4 << 20})},
	{"many-options", "options: 1000 times the same, then 1000 unknown", .ports = 8, .connections = 4, .window = 32,
	 .messages = MESSAGES({WAIT_FOR(body_wait_options, 1000)},
			      {MANAGER("ListPorts"), .signature = "a{sv}", .body = body_many_options, .n = 1000},
			      {OF_PORT("Query"), .signature = "a{sv}", .body = body_many_options, .n = 1000})},
	{"nested", "variants in variants, arrays in arrays", .ports = 8, .connections = 4, .window = 32,
	 .messages = MESSAGES({MANAGER("GetPort"), .signature = "v", .body = body_nested, .n = 60},
			      {MANAGER("Refresh"), .signature = "a{sv}", .body = body_nested_options, .n = 58},
			      {OF_PORT("Query"), .signature = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaay", .body = body_empty_array},
			      {MANAGER("GetCounters"), .signature = "((((((((((((((((((((((((((((((t))))))))))))))))))))))))))))))",
			       .body = body_number})},
	{"long-paths", "calls to paths of 20000 characters", .ports = 8, .connections = 4, .window = 32,
	 .messages = MESSAGES({.path = long_path, PROPERTY("GetAll", "s", body_text, 10)},
			      {.path = long_path, PROPERTY("Get", "ss", body_names, 0)},
			      {.path = long_path, .interface = INTROSPECT, .member = "Introspect"})},
	{"wrong-types", "arguments of other types than the methods have", .ports = 8, .connections = 4, .window = 32,
	 .messages = MESSAGES({MANAGER("WaitFor"), .signature = "s", .body = body_text, .n = 3000},
			      {MANAGER("OpenSnapshot"), .signature = "t", .body = body_number},
			      {OF_PORT("Query"), .signature = "s", .body = body_text, .n = 1},
			      {.path = PORT, PROPERTY("Get", "s", body_text, 1)},
			      {.path = PORT, PROPERTY("GetAll", "t", body_number, 0)},
			      {GET_MANAGED_OBJECTS, .signature = "s", .body = body_text, .n = 3000},
			      {MANAGER("ListPorts"), .signature = "sa{sv}", .body = body_text_options, .n = 10})},
	{"texts", "names at the edges of UTF-8, control characters, marks of direction", .ports = 8, .connections = 4, .window = 32,
	 .messages = MESSAGES({MANAGER("GetPort"), .signature = "sa{sv}", .body = body_odd_text_options, .n = 300},
			      {MANAGER("GetPortByNetdev"), .signature = "sa{sv}", .body = body_odd_text_options, .n = 1},
			      {MANAGER("GetPortByAddress"), .signature = "sa{sv}", .body = body_odd_text_options, .n = 30},
			      {.path = PORT, PROPERTY("GetAll", "s", body_odd_text, 300)})},

	/* Descriptors */
	{"descriptors", "GetManagedObjects, Query and WaitFor, each with 16 descriptors", .ports = 4096, .before = "stall sim6",
	 .after = "unstall sim6", .connections = 8, .window = 100,
	 .messages = MESSAGES({GET_MANAGED_OBJECTS, .n_fds = 16},
			      {.path = "/org/rdma/device/6/port/1", .interface = RDMAD_INTERFACE_PORT, .member = "Query", OPTIONS, .n_fds = 16},
			      {WAIT_FOR(body_wait_long, 1), .n_fds = 16})},

	/* Calls that want no reply */
	{"silent-objects", "GetManagedObjects that wants no reply", .ports = 4096, .connections = 1,
	 .messages = MESSAGES({GET_MANAGED_OBJECTS, .flags = MESSAGE_NO_REPLY})},
	{"silent-calls", "WaitFor, Query, Introspect and Refresh that want no reply", .ports = 240, .connections = 4,
	 .messages = MESSAGES({WAIT_FOR(body_wait_long, 1), .flags = MESSAGE_NO_REPLY},
			      {OF_PORT("Query"), OPTIONS, .flags = MESSAGE_NO_REPLY},
			      {.path = RDMAD_DEVICE_PREFIX, .interface = INTROSPECT, .member = "Introspect", .flags = MESSAGE_NO_REPLY},
			      {MANAGER("Refresh"), OPTIONS, .flags = MESSAGE_NO_REPLY})},

	/* Replies that nobody reads */
	{"unread-lists", "ListPorts, and no reply is read", .ports = 240, .connections = 120, .window = 110, .unread = true,
	 .messages = MESSAGES({MANAGER("ListPorts"), OPTIONS})},
	{"unread-values", "GetAll, GetHistory and Introspect, and no reply is read", .ports = 240, .connections = 240, .window = 110,
	 .unread = true,
	 .messages = MESSAGES({.path = PORT, PROPERTY("GetAll", "s", body_text, 0)}, {OF_PORT("GetHistory"), OPTIONS},
			      {.path = RDMAD_DEVICE_PREFIX, .interface = INTROSPECT, .member = "Introspect"})},
	{"unread-level", "LogLevel is set while replies are not read", .ports = 240, .connections = 120, .window = 110, .unread = true,
	 .messages = MESSAGES({MANAGER("ListPorts"), OPTIONS}), .messages_of = 2,
	 .more = MESSAGES({.path = LOG_PATH, PROPERTY("Set", "ssv", body_log_level, 0)})},
	{"unread-snapshots", "OpenSnapshot while replies are not read", .ports = 240, .connections = 120, .window = 110, .unread = true,
	 .messages = MESSAGES({MANAGER("ListPorts"), OPTIONS}), .messages_of = 8,
	 .more = MESSAGES({MANAGER("OpenSnapshot"), OPTIONS})},
	{"unread-signals", "250 subscriptions on each of 8 connections that do not read", .ports = 240, .connections = 8, .window = 250,
	 .unread = true,
	 .messages = MESSAGES({.destination = DBUS, .path = DBUS_PATH, .interface = DBUS, .member = "AddMatch", .signature = "s", .body = body_match})},
	{"set-level", "LogLevel is set by who may not", .ports = 8, .connections = 4, .window = 32,
	 .messages = MESSAGES({.path = LOG_PATH, PROPERTY("Set", "ssv", body_log_level, 0)})},

	/* Places */
	{"places-query", "Query of a device that does not answer", .ports = 8, .before = "stall sim6", .after = "unstall sim6",
	 .connections = 12, .window = 120,
	 .messages = MESSAGES({.path = "/org/rdma/device/6/port/1", .interface = RDMAD_INTERFACE_PORT, .member = "Query", OPTIONS},
			      {MANAGER("GetCounters"), OPTIONS})},
	{"places-refresh", "Refresh while a device does not answer", .ports = 8, .before = "stall sim6", .after = "unstall sim6",
	 .connections = 12, .window = 120, .messages = MESSAGES({MANAGER("Refresh"), OPTIONS})},
	{"places-wait", "WaitFor, as many as there can be", .ports = 8, .connections = 12, .window = 120,
	 .messages = MESSAGES({WAIT_FOR(body_wait_long, 1)})},
	/* keeps_mib, here and of many-users: on a busy machine rdmad may have read thousands of messages before it refuses most of them,
	 * and what is freed between those that wait stays with the allocator. */
	{"wait-memory", "WaitFor with 64 names of 60 characters that waits", .ports = 8, .connections = 12, .window = 120, .keeps_mib = 20,
	 .messages = MESSAGES({WAIT_FOR(body_wait_long, 64)})},
	{"wait-megabytes", "WaitFor with 1 MiB of names that waits", .ports = 8, .connections = 8, .window = 16,
	 .messages = MESSAGES({WAIT_FOR(body_wait_same, 65536)})},
	{"many-users", "Query and WaitFor of 16 users instead of one", .ports = 8, .users_each = 16, .connections = 4, .window = 120, .keeps_mib = 20,
	 .messages = MESSAGES({OF_PORT("Query"), OPTIONS}, {WAIT_FOR(body_wait_long, 1)})},

	/* Processor time */
	{"introspect", "Introspect of 512 devices", .ports = 4096, .connections = 8, .window = 100,
	 .messages = MESSAGES({.path = RDMAD_DEVICE_PREFIX, .interface = INTROSPECT, .member = "Introspect"})},
	{"wait-for-nothing", "WaitFor with 64 names and no time", .ports = 4096, .connections = 8, .window = 100,
	 .messages = MESSAGES({WAIT_FOR(body_wait_none, 64)})},
	{"wait-for-changes", "64 names in each of 60 calls that wait, while ports change", .ports = 4096, .connections = 1, .window = 60,
	 .messages = MESSAGES({WAIT_FOR(body_wait_long, 64)})},
	{"objects", "GetManagedObjects", .ports = 4096, .connections = 8, .window = 100,
	 .messages = MESSAGES({GET_MANAGED_OBJECTS})},
	{"lists", "ListPorts", .ports = 240, .connections = 8, .window = 100, .messages = MESSAGES({MANAGER("ListPorts"), OPTIONS})},
	{"finds", "FindPorts of a subnet in which all ports are", .ports = 4096, .connections = 8, .window = 100,
	 .messages = MESSAGES({MANAGER("FindPorts"), .signature = "sa{sv}", .body = body_subnet_options})},
	{"histories", "GetHistory, GetEvidence and ListHistories of 240 ports", .ports = 240, .before = "set sim0/2 state=down event=port-error",
	 .after = "set sim0/2 state=active event=port-active", .connections = 8, .window = 100,
	 .messages = MESSAGES({MANAGER("ListHistories"), OPTIONS}, {OF_PORT("GetHistory"), OPTIONS},
			      {MANAGER("GetEvidence"), .signature = "sa{sv}", .body = body_port_options})},
	{"tables", "GetAll and Get of a port with 101 GIDs", .ports = 8,
	 .before = "set sim0/1 gid_tbl_len=256" HUNDRED(GID, 1) " event=gid-change",
	 .after = "set sim0/1" HUNDRED(NO_GID, 1) "\nset sim0/1 gid_tbl_len=8 event=gid-change", .connections = 8, .window = 100,
	 .messages = MESSAGES({.path = PORT, PROPERTY("Get", "ss", body_gids, 0)}, {.path = PORT, PROPERTY("GetAll", "s", body_port_interface, 0)})},
	{"users", "GetUsers of a port with 200 processes of the one who asks", .ports = 8,
	 .before = "set sim0/1" HUNDRED(USER, 1) HUNDRED(USER, 2), .connections = 8, .window = 100,
	 .messages = MESSAGES({OF_PORT("GetUsers"), OPTIONS})},
	{"pings", "Ping", .ports = 8, .connections = 8, .window = 100,
	 .messages = MESSAGES({.path = "/", .interface = DBUS ".Peer", .member = "Ping"})},
	{"get-all", "GetAll of all interfaces, and of one that does not exist", .ports = 8, .connections = 8, .window = 100,
	 .messages = MESSAGES({.path = PORT, PROPERTY("GetAll", "s", body_text, 0)}, {.path = PORT, PROPERTY("GetAll", "s", body_text, 10)},
			      {.path = RDMAD_ROOT_PATH, PROPERTY("GetAll", "s", body_text, 0)})},
	{"refresh", "Refresh in a loop", .ports = 8, .connections = 1, .window = 1, .messages = MESSAGES({MANAGER("Refresh"), OPTIONS})},
	{"fresh-queries", "Query and GetCounters that want what is new", .ports = 8, .connections = 4, .window = 60,
	 .messages = MESSAGES({OF_PORT("Query"), .signature = "a{sv}", .body = body_max_age}, {MANAGER("GetCounters"), OPTIONS})},
	{"errors", "methods, interfaces and objects that do not exist", .ports = 8, .connections = 8, .window = 100,
	 .messages = MESSAGES({MANAGER("NoSuchMethod")}, {.path = "/no/such/object", .interface = "a.b", .member = "c"},
			      {MANAGER("GetPort"), .signature = "sa{sv}", .body = body_text_options, .n = 50})},
	{"read-only", "Set of properties that cannot be set", .ports = 8, .connections = 8, .window = 100,
	 .messages = MESSAGES({.path = PORT, PROPERTY("Set", "ssv", body_set, 0)}, {.path = RDMAD_ROOT_PATH, PROPERTY("Set", "ssv", body_set, 0)})},
	{"same-end", "480 calls of WaitFor that end in the same millisecond", .ports = 240, .connections = 4, .window = 120,
	 .messages = MESSAGES({WAIT_FOR(body_wait_short, 8)})},
	{"big-endian", "calls of endianness B", .ports = 8, .connections = 8, .window = 100,
	 .messages = MESSAGES({WAIT_FOR(body_wait_none, 8), .big = true}, {OF_PORT("Query"), OPTIONS, .big = true},
			      {.path = PORT, PROPERTY("GetAll", "s", body_text, 0), .big = true}, {GET_MANAGED_OBJECTS, .big = true})},

	/* Descriptors of rdmad */
	{"snapshots-kept", "OpenSnapshot, and all are kept", .ports = 240, .connections = 8, .window = 8, .keep_fds = true,
	 .messages = MESSAGES({MANAGER("OpenSnapshot"), OPTIONS})},
	{"snapshots", "OpenSnapshot, and each is closed", .ports = 240, .connections = 8, .window = 8,
	 .messages = MESSAGES({MANAGER("OpenSnapshot"), OPTIONS})},

	/* What is no call */
	{"signals", "signals to rdmad alone, as if from the bus and from logind", .ports = 8, .connections = 4,
	 .messages = MESSAGES({.type = MESSAGE_SIGNAL, .to_owner = true, .path = DBUS_PATH, .interface = DBUS, .member = "NameOwnerChanged",
			       .signature = "sss", .body = body_owner_changed},
			      {.type = MESSAGE_SIGNAL, .to_owner = true, .path = "/org/freedesktop/login1",
			       .interface = "org.freedesktop.login1.Manager", .member = "PrepareForSleep", .signature = "b", .body = body_false},
			      {.type = MESSAGE_SIGNAL, .to_owner = true, .path = PORT, .interface = RDMAD_INTERFACE_PORT,
			       .member = "StateChanged", .signature = "s", .body = body_text, .n = 100})},
	{"replies", "replies and errors to calls that rdmad has not made", .ports = 8, .connections = 4,
	 .messages = MESSAGES({.type = MESSAGE_REPLY, .to_owner = true, .path = "/", .is_answer = true, .signature = "u", .body = body_zero},
			      {.type = MESSAGE_ERROR, .to_owner = true, .path = "/", .is_answer = true, .error = "org.freedesktop.DBus.Error.NoReply"})},

	/* Connections */
	{"connections", "connections that make a call and leave", .ports = 8, .run = special_connect},
	{"leaving", "connections that leave while their calls wait", .ports = 8, .run = special_leave},
	{"departing", "4 processes: connect, 100 calls of GetAll, leave without reading", .ports = 8, .run = special_depart},
	{"departing-others", "the same with ListPorts, FindPorts, GetUsers and GetCounters", .ports = 240, .run = special_depart_others},
	{"half-messages", "messages that do not end, and connections that do not say who they are", .ports = 8, .run = special_half},
	{},
};
/* clang-format on */
