/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "rdmad-types.h"

G_BEGIN_DECLS

/**
 * RdmadCounter:
 * @group: `counters`, those of the InfiniBand architecture, `hw_counters`, those of the driver,
 *   `device`, those of the device that its first port has, or `ethtool`, those of the network
 *   interface
 * @name: its name in sysfs
 * @value: how much was counted; 0 if there is no value
 * @unit: `bytes`, `packets`, `events`, `ticks` or `unknown`
 * @condition: `valid`; `saturated`, it has counted at least so much and has stopped; or `missing`
 * @available: whether there is a value
 * @reason: if there is none, why: a code that never changes, see
 *   [method@Counter.why_unavailable]; otherwise empty
 * @details: what else the daemon says, a dictionary `a{sv}`, under the names that `org.rdma(5)` has
 *
 * One counter of a port at one time. Do not write to the fields.
 */
typedef struct _RdmadCounter {
	char *group;
	char *name;
	guint64 value;
	char *unit;
	char *condition;
	gboolean available;
	char *reason;
	GVariant *details;
} RdmadCounter;

#define RDMAD_TYPE_COUNTER (rdmad_counter_get_type())
RDMAD_GLIB_PUBLIC
GType rdmad_counter_get_type(void);

/**
 * rdmad_counter_ref:
 * @self: a counter
 *
 * Takes one more reference.
 *
 * Returns: (transfer full): @self
 */
RDMAD_GLIB_PUBLIC
RdmadCounter *rdmad_counter_ref(RdmadCounter *self);

/**
 * rdmad_counter_unref:
 * @self: (transfer full) (nullable): a counter, or %NULL
 *
 * Drops a reference.
 */
RDMAD_GLIB_PUBLIC
void rdmad_counter_unref(RdmadCounter *self);

/**
 * rdmad_counter_why_unavailable:
 * @self: a counter
 *
 * Gives the reason why a counter has no value, to be shown in place of the value.
 *
 * Returns: (nullable): the reason; %NULL if there is a value
 */
RDMAD_GLIB_PUBLIC
const char *rdmad_counter_why_unavailable(const RdmadCounter *self);

/**
 * RdmadPortCounters:
 * @port: the port
 * @counters: (element-type RdmadCounter): its counters; empty if they could not be read
 * @timestamp: when they were read, in microseconds since 1970; 0 if they could not be read
 * @monotonic: the same in microseconds of CLOCK_MONOTONIC, to divide differences by
 * @reason: (nullable): if they could not be read, why: a code that never changes, such as
 *   `firmware-timeout`; otherwise %NULL
 * @message: (nullable): the same for people
 * @details: all that the daemon says beside the counters, a dictionary `a{sv}`, under the names
 * that `org.rdma(5)` has
 *
 * The counters of a port at one time. Do not write to the fields.
 */
typedef struct _RdmadPortCounters {
	RdmadPort *port;
	GPtrArray *counters;
	guint64 timestamp;
	guint64 monotonic;
	char *reason;
	char *message;
	GVariant *details;
} RdmadPortCounters;

#define RDMAD_TYPE_PORT_COUNTERS (rdmad_port_counters_get_type())
RDMAD_GLIB_PUBLIC
GType rdmad_port_counters_get_type(void);

/**
 * rdmad_port_counters_ref:
 * @self: the counters of a port
 *
 * Takes one more reference.
 *
 * Returns: (transfer full): @self
 */
RDMAD_GLIB_PUBLIC
RdmadPortCounters *rdmad_port_counters_ref(RdmadPortCounters *self);

/**
 * rdmad_port_counters_unref:
 * @self: (transfer full) (nullable): the counters of a port, or %NULL
 *
 * Drops a reference.
 */
RDMAD_GLIB_PUBLIC
void rdmad_port_counters_unref(RdmadPortCounters *self);

/**
 * RdmadTransition:
 * @timestamp: when, in microseconds since 1970
 * @monotonic: when, in microseconds of CLOCK_MONOTONIC
 * @old_state: the state before; `absent` if there was no port, `unknown` if nobody knew it
 * @new_state: the state after
 * @reason: why the daemon has looked at the port, such as `port-error`
 * @rate: the highest rate that the port had in the new state, in bit/s; 0 if that is not `active`,
 * or if the rate is not known
 * @details: what else the daemon says, a dictionary `a{sv}`, under the names that `org.rdma(5)` has
 *
 * A change of the state of a port. Do not write to the fields.
 */
typedef struct _RdmadTransition {
	guint64 timestamp;
	guint64 monotonic;
	char *old_state;
	char *new_state;
	char *reason;
	guint64 rate;
	GVariant *details;
} RdmadTransition;

#define RDMAD_TYPE_TRANSITION (rdmad_transition_get_type())
RDMAD_GLIB_PUBLIC
GType rdmad_transition_get_type(void);

/**
 * rdmad_transition_ref:
 * @self: a transition
 *
 * Takes one more reference.
 *
 * Returns: (transfer full): @self
 */
RDMAD_GLIB_PUBLIC
RdmadTransition *rdmad_transition_ref(RdmadTransition *self);

/**
 * rdmad_transition_unref:
 * @self: (transfer full) (nullable): a transition, or %NULL
 *
 * Drops a reference.
 */
RDMAD_GLIB_PUBLIC
void rdmad_transition_unref(RdmadTransition *self);

/**
 * RdmadHistory:
 * @name: the name of the port
 * @present: whether the port is there
 * @port: (nullable): the port; %NULL if it has gone
 * @state: the last state; `absent` for a port that has gone
 * @state_change_timestamp: since when, in microseconds since 1970
 * @link_down_count: how often the link went down
 * @since: since when this is counted, in microseconds since 1970
 * @transitions: (element-type RdmadTransition): the last transitions, the oldest first; empty if
 *   they were not asked for
 * @details: all members, a dictionary `a{sv}`, under the names that `org.rdma(5)` has
 *
 * What has happened to a port, also to one that has gone. Do not write to the fields.
 */
typedef struct _RdmadHistory {
	char *name;
	gboolean present;
	RdmadPort *port;
	char *state;
	guint64 state_change_timestamp;
	guint64 link_down_count;
	guint64 since;
	GPtrArray *transitions;
	GVariant *details;
} RdmadHistory;

#define RDMAD_TYPE_HISTORY (rdmad_history_get_type())
RDMAD_GLIB_PUBLIC
GType rdmad_history_get_type(void);

/**
 * rdmad_history_ref:
 * @self: a history
 *
 * Takes one more reference.
 *
 * Returns: (transfer full): @self
 */
RDMAD_GLIB_PUBLIC
RdmadHistory *rdmad_history_ref(RdmadHistory *self);

/**
 * rdmad_history_unref:
 * @self: (transfer full) (nullable): a history, or %NULL
 *
 * Drops a reference.
 */
RDMAD_GLIB_PUBLIC
void rdmad_history_unref(RdmadHistory *self);

/**
 * RdmadPortMatch:
 * @port: the port
 * @by: the kind of name by which it was found, as `org.rdma(5)` writes it: `netdev`, `port-guid`
 * @has_gid: whether the port has a GID that a program should use
 * @gid_index: the index of this GID in the table of the port; 0 if there is none
 * @netdev: (nullable): the network interface that has the name, the index or the address; %NULL if
 *   there is none
 * @details: all members, a dictionary `a{sv}`, under the names that `org.rdma(5)` has
 *
 * A port that [method@Client.find_ports_async] has found. Do not write to the fields.
 */
typedef struct _RdmadPortMatch {
	RdmadPort *port;
	char *by;
	gboolean has_gid;
	guint gid_index;
	char *netdev;
	GVariant *details;
} RdmadPortMatch;

#define RDMAD_TYPE_PORT_MATCH (rdmad_port_match_get_type())
RDMAD_GLIB_PUBLIC
GType rdmad_port_match_get_type(void);

/**
 * rdmad_port_match_ref:
 * @self: a match
 *
 * Takes one more reference.
 *
 * Returns: (transfer full): @self
 */
RDMAD_GLIB_PUBLIC
RdmadPortMatch *rdmad_port_match_ref(RdmadPortMatch *self);

/**
 * rdmad_port_match_unref:
 * @self: (transfer full) (nullable): a match, or %NULL
 *
 * Drops a reference.
 */
RDMAD_GLIB_PUBLIC
void rdmad_port_match_unref(RdmadPortMatch *self);

/**
 * RdmadGid:
 * @port: the port
 * @index: the index in the GID table of the port: what a program gives to `ibv_modify_qp(3)` as
 *   `sgid_index`
 * @gid: the GID, all its digits
 * @type: `IB`, `RoCE v1` or `RoCE v2`
 * @netdev: (nullable): its network interface; %NULL if it has none, or one in another network
 *   namespace
 * @address: (nullable): the IP address that it stands for; %NULL on InfiniBand
 * @generation: the value that [property@Port:gid-generation] had. When it has another one, the
 *   index may be another one too: find the GID again.
 * @details: what else the daemon says, a dictionary `a{sv}`, under the names that `org.rdma(5)` has
 *
 * An entry of the GID table of a port. Do not write to the fields.
 */
typedef struct _RdmadGid {
	RdmadPort *port;
	guint index;
	char *gid;
	char *type;
	char *netdev;
	char *address;
	guint64 generation;
	GVariant *details;
} RdmadGid;

#define RDMAD_TYPE_GID (rdmad_gid_get_type())
RDMAD_GLIB_PUBLIC
GType rdmad_gid_get_type(void);

/**
 * rdmad_gid_ref:
 * @self: a GID
 *
 * Takes one more reference.
 *
 * Returns: (transfer full): @self
 */
RDMAD_GLIB_PUBLIC
RdmadGid *rdmad_gid_ref(RdmadGid *self);

/**
 * rdmad_gid_unref:
 * @self: (transfer full) (nullable): a GID, or %NULL
 *
 * Drops a reference.
 */
RDMAD_GLIB_PUBLIC
void rdmad_gid_unref(RdmadGid *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RdmadCounter, rdmad_counter_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RdmadPortCounters, rdmad_port_counters_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RdmadTransition, rdmad_transition_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RdmadHistory, rdmad_history_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RdmadPortMatch, rdmad_port_match_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RdmadGid, rdmad_gid_unref)

G_END_DECLS
