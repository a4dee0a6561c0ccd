/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * librdmad: what rdmad(8) knows of the RDMA ports of this machine, read from memory that the daemon
 * shares.
 *
 * rdmad_open() asks the daemon for its snapshot, which is this memory, over D-Bus, once. From then
 * on a read copies the record of one port out of the memory. It makes no system call, needs no
 * privilege, and does not wait for the daemon, the driver or the firmware. Nothing that a reader
 * does can delay any of them. rdmad_wait() and the descriptor of rdmad_fd() tell of changes.
 *
 *	struct rdmad *r;
 *	struct rdmad_handle port;
 *	struct ibv_port_attr attr;
 *
 *	if (rdmad_open(NULL, &r) < 0 || rdmad_find(r, "mlx5_0/1", &port) < 0)
 *		...
 *	rdmad_query_port(r, port, &attr); // was: ibv_query_port(context, 1, &attr);
 *
 * Functions return 0 or more, or a negative errno that rdmad_strerror() explains. An output is
 * written only on success, except the buffers of rdmad_read_hot() and rdmad_read(): they copy
 * directly into these. Any number of threads may read from one struct rdmad, also while another one
 * waits. During rdmad_reopen() and rdmad_close() no other thread may use it. librdmad(3) has the
 * layout of the memory.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rdmad;
struct ibv_port_attr;

/*
 * Says which port is meant, and where in the memory its record is. The port is the kernel's index
 * of its device, which stays the same after a rename and is not used again before a reboot, and the
 * number of the port on that device. A handle is a plain value. It is good as long as the port is
 * there, also after rdmad_reopen() because the daemon has moved to a larger memory. After a new
 * start of the daemon the record may be elsewhere: reading returns -ENODEV then, and the caller
 * finds the port again.
 */
struct rdmad_handle {
	uint64_t port; /* device_index and port_num of the record, as they lie there: an identity */
	uint32_t slot; /* where it is */
};

/* Bits of rdmad_hot.flags. A record that was read successfully always has RDMAD_PORT_PRESENT, and
 * never RDMAD_PORT_MOVED or RDMAD_PORT_CLOSED. */
enum rdmad_port_flags {
	RDMAD_PORT_PRESENT = 1U << 0, /* the slot has a port */
	RDMAD_PORT_STALE = 1U << 1,  /* the last query failed: the values are the last ones known */
	RDMAD_PORT_MOVED = 1U << 2,  /* the daemon has moved to a larger memory */
	RDMAD_PORT_CLOSED = 1U << 3, /* the daemon has ended */
	RDMAD_PORT_KNOWN = 1U << 4,  /* what ibv_query_port() would say is known */
};

/*
 * The numbers of the bits of rdmad_hot.valid. The bit of a field says that the field has a meaning
 * now. Without it the value is unknown or does not apply: the MTU of a link that is down, or the
 * LID on Ethernet. Such a field still holds the raw number if the driver gave one, and 0 if not.
 */
enum rdmad_field {
	RDMAD_FIELD_STATE,
	RDMAD_FIELD_PHYS_STATE,
	RDMAD_FIELD_LINK_LAYER,
	RDMAD_FIELD_PROTOCOL,
	RDMAD_FIELD_MAX_MTU,
	RDMAD_FIELD_ACTIVE_MTU,
	RDMAD_FIELD_ACTIVE_WIDTH,
	RDMAD_FIELD_ACTIVE_SPEED,
	RDMAD_FIELD_LINK_SPEED,
	RDMAD_FIELD_LID,
	RDMAD_FIELD_SM_LID,
	RDMAD_FIELD_LMC,
	RDMAD_FIELD_SM_SL,
	RDMAD_FIELD_SUBNET_TIMEOUT,
	RDMAD_FIELD_INIT_TYPE_REPLY,
	RDMAD_FIELD_PORT_CAP_FLAGS,
	RDMAD_FIELD_PORT_CAP_FLAGS2,
	RDMAD_FIELD_MAX_MSG_SZ,
	RDMAD_FIELD_GID_TBL_LEN,
	RDMAD_FIELD_PKEY_TBL_LEN,
	RDMAD_FIELD_BAD_PKEY_CNTR,
	RDMAD_FIELD_QKEY_VIOL_CNTR,
	RDMAD_FIELD_ACTIVE_SPEED_EX,
	RDMAD_FIELD_MAX_VL_NUM,
	RDMAD_FIELD_QPF_FLAGS,
	RDMAD_FIELD_RATE,
	RDMAD_FIELD_PORT_GUID,
	RDMAD_FIELD_SUBNET_PREFIX,
	RDMAD_FIELD_IFINDEX,
	RDMAD_FIELD_NETDEV,
	_RDMAD_FIELD_MAX
};

/* Whether FIELD (STATE, LID, ...) of HOT, a struct rdmad_hot, is valid. */
#define RDMAD_VALID(hot, field) (((hot).valid >> RDMAD_FIELD_##field & 1) != 0)

/*
 * The hot part of a record, its first cache line: what a program that polls a port looks at.
 * Numbers are encoded as in struct ibv_port_attr if that has the same field.
 */
struct rdmad_hot {
	uint32_t sequence; /* of the writes; has no meaning for the caller */
	uint32_t flags;	   /* mask of enum rdmad_port_flags */
	uint32_t device_index;
	uint32_t port_num;
	uint64_t valid;	     /* mask of 1 << enum rdmad_field */
	uint64_t generation; /* counts the refreshes that changed anything that D-Bus publishes of
				the port itself */
	uint64_t last_query; /* when the port was last read: us of CLOCK_REALTIME, 0: never */
	uint32_t lid;	     /* 32 bits wide on Omni-Path */
	uint32_t sm_lid;
	uint32_t link_speed;  /* speed code of one lane, also if it needs more than 8 bits */
	uint8_t state;	      /* enum ibv_port_state */
	uint8_t phys_state;   /* IBA vol. 1, PortInfo:PortPhysicalState */
	uint8_t link_layer;   /* IBV_LINK_LAYER_* */
	uint8_t protocol;     /* 1 InfiniBand, 2 RoCE, 3 iWARP, 4 OPA, 5 usNIC, 6 raw; 0 unknown */
	uint8_t max_mtu;      /* enum ibv_mtu */
	uint8_t active_mtu;   /* enum ibv_mtu */
	uint8_t active_width; /* 1: 1 lane, 2: 4, 4: 8, 8: 12, 16: 2 */
	uint8_t active_speed;
	uint8_t lmc;
	uint8_t sm_sl;
	uint8_t subnet_timeout;
	uint8_t init_type_reply;
};

/* What ibv_query_port() would say, laid out like struct ibv_port_attr. A LID of Omni-Path that
 * needs more than 16 bits is 0, as in ib_uverbs. */
struct rdmad_verbs {
	uint32_t state;	     /* enum ibv_port_state */
	uint32_t max_mtu;    /* enum ibv_mtu */
	uint32_t active_mtu; /* enum ibv_mtu */
	int32_t gid_tbl_len;
	uint32_t port_cap_flags;
	uint32_t max_msg_sz; /* bytes */
	uint32_t bad_pkey_cntr;
	uint32_t qkey_viol_cntr;
	uint16_t pkey_tbl_len;
	uint16_t lid;
	uint16_t sm_lid;
	uint8_t lmc;
	uint8_t max_vl_num;
	uint8_t sm_sl;
	uint8_t subnet_timeout;
	uint8_t init_type_reply;
	uint8_t active_width;
	uint8_t active_speed;
	uint8_t phys_state;
	uint8_t link_layer;
	uint8_t flags; /* IBV_QPF_* */
	uint16_t port_cap_flags2;
	uint8_t reserved_1[2];
	uint32_t active_speed_ex;
};

/* A port's whole record. */
struct rdmad_port {
	struct rdmad_hot hot;
	struct rdmad_verbs verbs;
	uint32_t ifindex;
	uint8_t health; /* how well the port is: 0 unknown, 1 ok, 2 warning, 3 critical */
	uint8_t reserved_1;
	uint16_t rest_generation; /* counts the changes of what D-Bus publishes of the port,
				     with a signal, and is in no field of this record */
	uint64_t rate;		  /* nominal, bit/s */
	uint64_t port_guid;	  /* in the machine's byte order */
	uint64_t subnet_prefix;	  /* likewise */
	uint64_t gid_generation;
	uint32_t pkey_generation;
	uint32_t sm_generation;
	uint64_t fit_since; /* since when the port is fit to be used: us of CLOCK_REALTIME, 0: it is
			       not */
	char device_name[64]; /* terminated; follows a rename */
	char netdev[16];      /* terminated; of an InfiniBand port its first IPoIB interface */
};

/*
 * Opens the snapshot of the daemon on the bus at ADDRESS. NULL stands for the system bus, which
 * starts the daemon if it does not run. The bus is not used again before rdmad_reopen(). The caller
 * closes *RET with rdmad_close(). This blocks like any D-Bus call.
 *
 * -ECONNREFUSED: there is no bus, as in a container without its socket. -EHOSTUNREACH: there is no
 * rdmad on that bus, and none starts. -EACCES: the bus or its socket does not let this user in.
 * -EREMOTEIO: the bus or rdmad answers with an error that has no number here.
 *
 * -EOPNOTSUPP: that rdmad has no snapshots. -EUSERS: this user, or all users together, have too
 * many open. -EPROTONOSUPPORT: the layout has another major version than this library reads.
 * -EBADMSG: the memory is damaged. Other errors come from connecting, mapping or allocating.
 * -ENOENT is none of them: it always means that there is no such port or GID.
 */
int rdmad_open(const char *address, struct rdmad **ret);

/*
 * The same for descriptors that came another way, for example into a container. MEMORY is that of
 * the snapshot. CHANGED is that of the pipe which tells of changes, or -1 if there is none. On
 * success both belong to *RET, on failure to the caller. -EPERM: MEMORY could become shorter while
 * it is read (it lacks F_SEAL_SHRINK). The other errors are those of rdmad_open().
 */
int rdmad_open_fd(int memory, int changed, struct rdmad **ret);

/*
 * Opens anew what rdmad_open() opened, at the same address: after -ESTALE or -ENOTCONN. On failure
 * R stays as it was. -EOPNOTSUPP: R is from rdmad_open_fd(). Other errors as rdmad_open().
 */
int rdmad_reopen(struct rdmad *r);

/* Unmaps the memory, closes the descriptors and frees R, which may be NULL. */
void rdmad_close(struct rdmad *r);

/*
 * Finds a port by NAME: "mlx5_0/1" or "mlx5_0:1", "mlx5_0" if that device has one port, or the name
 * of a network interface of the port. This looks at every record: do it once, and keep the handle.
 * -ENOENT: there is no such port. -EEXIST: more than one port has that name. -EAGAIN, -ESTALE,
 * -ENOTCONN: as rdmad_read().
 */
int rdmad_find(const struct rdmad *r, const char *name, struct rdmad_handle *ret);

/*
 * Finds a port by anything that names it: what rdmad_find() takes, the alternative name or the
 * index of a network interface, a PCI address, an IP address, a GID, or a GUID of the port, the
 * node or the system. This asks the daemon on the bus and blocks like rdmad_open().
 *
 * -ENOENT: there is no such port. -EEXIST: more than one port has that name. -EINVAL: it can be no
 * name. -EOPNOTSUPP: R is from rdmad_open_fd(). Errors of rdmad_find(), and of connecting.
 */
int rdmad_find_any(const struct rdmad *r, const char *what, struct rdmad_handle *ret);

/*
 * Goes through all ports. Initialize *HANDLE with RDMAD_HANDLE_FIRST. Each call sets it to the next
 * port and returns 1, or returns 0 if none is left. -ESTALE, -ENOTCONN: as rdmad_read(). A record
 * that is being written all the time is left out.
 */
int rdmad_next(const struct rdmad *r, struct rdmad_handle *handle);
/* clang-format off */
#define RDMAD_HANDLE_FIRST {0, UINT32_MAX}
/* clang-format on */

/* A number that changes when a port is added, removed or renamed: go through the ports again then.
 */
uint32_t rdmad_ports_generation(const struct rdmad *r);

/*
 * Copies the hot part, or all, of the record of PORT. This takes a few nanoseconds and no system
 * call. What was copied is one state of the port, never parts of two. On failure *RET is undefined.
 *
 * -ENODEV: the port has gone, or the handle is of another snapshot. -EAGAIN: at each attempt the
 * record was being written. The daemon may have been interrupted in the write, or have died there:
 * try again later, and if that does not help, ask rdmad_wait(). -ESTALE: the daemon has moved to a
 * larger memory: call rdmad_reopen(). -ENOTCONN: the daemon has ended. A daemon that was killed
 * leaves records that can still be read but do not change any more; only rdmad_wait() and
 * rdmad_fd() tell that.
 */
int rdmad_read_hot(const struct rdmad *r, struct rdmad_handle port, struct rdmad_hot *ret);
int rdmad_read(const struct rdmad *r, struct rdmad_handle port, struct rdmad_port *ret);

/*
 * Fills in what ibv_query_port() would, as the driver last said it. Returns 0, an error as
 * rdmad_read(), -ENODATA: that is not known, or -EIO: the last query of the port failed, and
 * rdmad_read() has the values from before. It is not known before the port has been read, and while
 * the daemon cannot open the device: rdmad_read() then has what the kernel says without verbs. The
 * macro passes the size that the structure has in the program: fields that this library does not
 * know become 0.
 */
#define rdmad_query_port(r, port, attr) rdmad_query_port_size((r), (port), (attr), sizeof(*(attr)))
int rdmad_query_port_size(const struct rdmad *r, struct rdmad_handle port,
			  struct ibv_port_attr *ret, size_t size);

/* The name of FIELD, of enum rdmad_field, on D-Bus and in rdmactl: "Lid". NULL if this library
 * knows no such field. */
const char *rdmad_field_name(unsigned int field);

/*
 * Writes the value of FIELD in PORT, as rdmad_read() has returned it, as D-Bus and rdmactl have it,
 * into RET, which has room for SIZE bytes: "active", "4096", "NDR", "fe80:0000:0000:0000". Rates
 * are in bit/s, MTUs in bytes, widths in lanes. Names of several bits stand side by side.
 * RDMAD_TEXT_MAX bytes are always enough. -ENODATA: the field is not valid, or holds a code that
 * has no meaning. -ENOSPC: SIZE is too small. -EINVAL: there is no such field, or SIZE is 0.
 */
int rdmad_field_text(const struct rdmad_port *port, unsigned int field, char *ret, size_t size);
#define RDMAD_TEXT_MAX 2048

/* Types of GIDs, numbered as in enum ibv_gid_type_sysfs. */
enum rdmad_gid_type {
	RDMAD_GID_ANY = -1, /* only as an argument */
	RDMAD_GID_IB = 0,
	RDMAD_GID_ROCE_V1 = 1,
	RDMAD_GID_ROCE_V2 = 2,
};

/* An entry of the GID table of a port. */
struct rdmad_gid {
	struct rdmad_handle port;
	/* of the GID table. When gid_generation in the record of the port is another one, the index
	 * may be another one too: find the GID again. */
	uint64_t generation;
	uint8_t gid[16]; /* in network byte order */
	uint32_t index;
	uint32_t type;	 /* enum rdmad_gid_type */
	char netdev[16]; /* terminated; empty if the entry has no interface in this namespace */
	uint8_t reserved_1[16];
};

/*
 * Finds the GID that a program should use: what it gives to ibv_modify_qp() as sgid_index, or to a
 * library that wants a GID index. PORT: on this port; NULL: on any port, then ADDRESS or NETDEV
 * must say which. ADDRESS: the GID with this address, IPv4 or IPv6 as text, or with these 128 bits;
 * NULL: any. NETDEV: a GID of the network interface with this name or alternative name; NULL: of
 * any. TYPE: enum rdmad_gid_type.
 *
 * Of several the first of this order is taken: RoCE v2 before RoCE v1, a global address before a
 * link-local one, the interface of the port, or the bond or bridge that it is in, before another
 * one, and that before a VLAN, IPv4 before IPv6, the lower index. One in another network namespace
 * is the last of all.
 *
 * The first GID of a port has the address of its IPoIB interface, or is on that, as it is in the
 * hardware address of the interface; it is also the first choice on InfiniBand.
 *
 * The GID tables are not in the memory: this asks the daemon on the bus, once, and blocks like
 * rdmad_open(). Keep the result, and compare its generation with the record: that costs nothing.
 *
 * -ENOENT: there is no such GID. -EEXIST: more than one port has it. -EINVAL: ADDRESS is none, TYPE
 * is unknown, or nothing says which port. -EOPNOTSUPP: R is from rdmad_open_fd(). Errors of
 * rdmad_read(), and of connecting.
 */
int rdmad_find_gid(const struct rdmad *r, const struct rdmad_handle *port, const char *address,
		   const char *netdev, int type, struct rdmad_gid *ret);

/* A descriptor for poll(): it is readable, or has POLLHUP, when rdmad_wait() would not return 0. It
 * belongs to R. -EOPNOTSUPP: there is none. */
int rdmad_fd(const struct rdmad *r);

/*
 * Waits for a change of any port since the last call, at most TIMEOUT_USEC (0: not at all,
 * UINT64_MAX: for ever). Returns 1 if something has changed, and 0 if nothing has. -ESTALE: the
 * daemon has moved to a larger memory: call rdmad_reopen(). -ENOTCONN: the daemon has gone: call
 * rdmad_reopen() when it is there again. -EINTR: a signal came. -EOPNOTSUPP: R has no descriptor to
 * wait for.
 */
int rdmad_wait(struct rdmad *r, uint64_t timeout_usec);

/* What a negative return value means here, in English. */
const char *rdmad_strerror(int error);

#ifdef __cplusplus
}
#endif
