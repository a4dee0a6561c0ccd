/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of rdma_sim share: a device, its ports, and who may touch
 * them under which lock.
 *
 * Locks, outermost first:
 *   sim_lock       the list of devices; held for a whole command but "del"
 *   RTNL           taken by ib_register_device() and when netdevs are bound
 *   sim_bound_lock the list of devices bound to netdevs (netdev.c)
 *   sim_cq.lock    what the kernel has posted, and what is done of it (mad.c); interrupts are off
 *   sim_dev.lock   everything in sim_dev.ports[]; a spinlock, never slept under
 *
 * A query waits (faults) with none of them held.
 */
#ifndef RDMA_SIM_H
#define RDMA_SIM_H

#include <linux/dcbnl.h>
#include <linux/idr.h>
#include <linux/if.h>
#include <linux/kfifo.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "hbl_abi.h"

#define SIM_MAX_DEVICES	4096
#define SIM_MAX_PORTS	(sizeof(sim_port_num) == 1 ? 254 : 1024) /* the type is that of the kernel */
#define SIM_MAX_PKEYS	1024
#define SIM_MAX_GIDS	4096
#define SIM_MAX_LINKS	8	/* entries in link= and netdev= */
#define SIM_MAX_VFS	64
#define SIM_MAX_QPS	1024	/* of a device */
#define SIM_MAX_CQE	1024
#define SIM_MAX_EVENTS	16	/* in one command */
#define SIM_TEXT_MAX	64

enum sim_link {
	SIM_LINK_IB,
	SIM_LINK_ETH,		/* RoCE v1 and v2 */
	SIM_LINK_IWARP,
};

enum sim_driver {
	SIM_DRIVER_PLAIN,	/* rxe, siw, none or a number: no private ABI */
	SIM_DRIVER_MLX5,
	SIM_DRIVER_HBL,
};

enum sim_pma_class {
	SIM_PMA_NONE,		/* no counters/ directory at all */
	SIM_PMA_PLAIN,
	SIM_PMA_EXT,
	SIM_PMA_NOIETF,		/* extended without unicast and multicast */
};

/* Names are those of the mlx5 driver, so that user space knows them. */
#define SIM_HW_COUNTERS(X)		\
	X(out_of_buffer)		\
	X(out_of_sequence)		\
	X(duplicate_request)		\
	X(local_ack_timeout_err)	\
	X(rnr_nak_retry_err)		\
	X(np_cnp_sent)			\
	X(np_ecn_marked_roce_packets)	\
	X(rp_cnp_handled)		\
	X(rx_icrc_encapsulated)		\
	X(roce_slow_restart)

/* Not in sysfs, and off until somebody switches them on. */
#define SIM_HW_OPTIONAL(X)		\
	X(cc_rx_ce_pkts)

/* name, bits, bit offset in PortCounters, bit offset in PortCountersExtended */
#define SIM_PMA_COUNTERS(X)					\
	X(symbol_error,				16,  32,   0)	\
	X(link_error_recovery,			 8,  48,   0)	\
	X(link_downed,				 8,  56,   0)	\
	X(port_rcv_errors,			16,  64,   0)	\
	X(port_rcv_remote_physical_errors,	16,  80,   0)	\
	X(port_rcv_switch_relay_errors,		16,  96,   0)	\
	X(port_xmit_discards,			16, 112,   0)	\
	X(port_xmit_constraint_errors,		 8, 128,   0)	\
	X(port_rcv_constraint_errors,		 8, 136,   0)	\
	X(local_link_integrity_errors,		 4, 152,   0)	\
	X(excessive_buffer_overrun_errors,	 4, 156,   0)	\
	X(VL15_dropped,				16, 176,   0)	\
	X(port_xmit_data,			32, 192,  64)	\
	X(port_rcv_data,			32, 224, 128)	\
	X(port_xmit_packets,			32, 256, 192)	\
	X(port_rcv_packets,			32, 288, 256)	\
	X(port_xmit_wait,			32, 320,   0)	\
	X(unicast_xmit_packets,			 0,   0, 320)	\
	X(unicast_rcv_packets,			 0,   0, 384)	\
	X(multicast_xmit_packets,		 0,   0, 448)	\
	X(multicast_rcv_packets,		 0,   0, 512)

enum {
#define X(name) SIM_HW_##name,
	SIM_HW_COUNTERS(X)
	SIM_HW_OPTIONAL(X)
#undef X
	SIM_HW_MAX
};

enum {
#define X(name, bits, offset, ext_offset) SIM_PMA_##name,
	SIM_PMA_COUNTERS(X)
#undef X
	SIM_PMA_MAX
};

enum sim_call {
	SIM_CALL_QUERY_USER,	/* query_port for a process: verbs, sysfs, netlink */
	SIM_CALL_QUERY_KERNEL,	/* query_port for ib_core itself */
	SIM_CALL_DV,		/* the mlx5 or hbl method */
	SIM_CALL_PKEY,
	SIM_CALL_GID,
	SIM_CALL_HW,
	SIM_CALL_PMA,
	SIM_CALL_FAULT,		/* of the queries above, how many failed on purpose */
	SIM_CALL_MAX
};

enum {
	SIM_HANG_NO,
	SIM_HANG_KILLABLE,
	SIM_HANG_UNINTERRUPTIBLE,
	SIM_HANG_MAX = SIM_HANG_UNINTERRUPTIBLE
};

#define SIM_PMA_DATA	40	/* where the attribute of performance management starts in ib_mad.data */

#define SIM_PHY_SILENT U8_MAX

#define SIM_MODULE_PAGES	7
#define SIM_MODULE_BYTES	(SIM_MODULE_PAGES * 128)

/* The node at the other end of a link of InfiniBand; see mad.c */
struct sim_far {
	u64 guid;		/* 0: none that answers */
	u64 system;
	u16 lid;
	u16 speeds;		/* enabled: a mask of enum ib_port_speed */
	u8 type;		/* RDMA_NODE_IB_* */
	u8 port;
	u8 widths;		/* enabled: a mask of enum ib_port_width */
	char desc[IB_DEVICE_NODE_DESC_MAX + 1];
	u64 pma[SIM_PMA_MAX];
};

struct sim_port {
	struct sim_dev *dev;
	u32 num;		/* from 1 */
	enum sim_link link;
	char netdev[IFNAMSIZ];	/* empty: none bound */

	/* what the port answers; "set" writes here */
	struct ib_port_attr attr;
	u64 port_speed;		/* query_port_speed(), since 7.0: in 100 Mb/s */
	u8 ip_gids;		/* a bit field in ib_port_attr, which has no address */
	u16 *pkeys;
	union ib_gid *gids;	/* IB and iWARP; ib_core keeps those of RoCE */
	u64 hw[SIM_HW_MAX];
	u64 pma[SIM_PMA_MAX];
	struct mlx5_ib_uapi_query_port mlx5;
	struct hbl_uapi_query_port_out hbl;
	struct sim_far far;

	/* of the netdev; under the RTNL, but for the last */
	struct ieee_ets ets;
	struct ieee_pfc pfc;
	u32 dcb_trust;		/* selectors, one in each byte, the most trusted first */

	struct {
		u8 state;	/* enum ethtool_link_ext_state; SIM_PHY_SILENT: says nothing */
		u8 substate;	/* 0: none */
		u8 fec;		/* ETHTOOL_FEC_* while the link is up */
		u32 downs, speed;	/* speed: in Mb/s */
		u64 modes, advertised, partner;	/* link modes, as bits; no modes: not said */
		u64 corrected, uncorrectable, corrected_bits;
		u64 rx_pauses, tx_controls, rx_controls;
		u8 module[SIM_MODULE_BYTES];	/* the halves of pages in sim_module_pages[] */
		u32 module_error;	/* errno of reading it */
		u32 module_reads;	/* how often a half of a page was read */
		const struct ethtool_ops *own_ops;	/* of the interface */
	} phy;

	/* what goes wrong */
	u8 hang;		/* SIM_HANG_* */
	u8 user_only;		/* spare ib_core's own queries */
	u32 delay_ms;
	u32 fail;		/* errno */
	u32 fail_count;		/* 0: for ever */

	/* what was asked */
	u32 waiting;		/* queries in a hang or a delay now */
	u64 calls[SIM_CALL_MAX];
};

/* The words of an "add". */
struct sim_options {
	char name[IB_DEVICE_NAME_MAX];
	enum sim_driver driver;
	u32 driver_id;
	u32 abi;
	u32 ports;
	u32 count;
	u32 pkeys;
	u32 gids;
	u32 vendor;
	u32 part;
	u32 hw_rev;
	u32 vfs;		/* virtual functions; 0: none */
	char vf_netdev[IFNAMSIZ];	/* of vfs=, follows from the name */
	u32 planes;		/* ports of a device below this one; 0: there can be none */
	u32 numa;		/* U32_MAX: not given */
	u8 grh;
	u8 nodisassoc;
	u8 dcb;
	u8 devlink;
	u8 phy;
	u8 mad;
	u64 guid;		/* 0: not given */
	u64 image_guid;		/* 0: not given */
	u32 fw[3];
	enum sim_pma_class pma;
	enum sim_link links[SIM_MAX_LINKS];
	u32 nlinks;
	char netdevs[SIM_MAX_LINKS][IFNAMSIZ];
	u32 nnetdevs;
	char parent[SIM_TEXT_MAX];
	char hca_type[SIM_TEXT_MAX];
	char board_id[SIM_TEXT_MAX];
};

struct sim_pf;

struct sim_dev {
	struct ib_device ibdev;
	struct list_head list;
	struct list_head bound;
	struct sim_dev *above;		/* of which this is a plane; NULL: it is none */
	struct sim_dev *plane;		/* below this one; under sim_lock */
	struct net_device *ndevs[SIM_MAX_LINKS];	/* of ports 1...; see netdev.c */
	struct device *parent;		/* holds a reference */
	struct devlink *devlink;	/* of the parent; NULL: there is none */
	struct sim_pf *pf;		/* the parent with vfs=; see vf.c */
	struct platform_device *pdev;	/* the same, if made for this device */
	struct sim_options opt;
	spinlock_t lock;		/* of ports[] and what says so below */
	wait_queue_head_t wait;		/* queries in a hang or a delay */
	bool registered;		/* under lock: events may be dispatched */
	bool dead;			/* under lock: nothing waits any more */
	bool orphan;			/* an iWARP netdev has gone: to be removed */
	atomic_t contexts;
	struct ida qpns;		/* numbers of queue pairs that are in use */
	struct sim_port *ports;
	union ib_gid *gids;
	u16 *pkeys;
};

struct sim_cq {
	struct ib_cq ibcq;
	/* of the kernel's own; see mad.c */
	spinlock_t lock;
	bool armed;
	DECLARE_KFIFO_PTR(done, struct ib_wc);
};

/* One that the kernel has posted to receive into. */
struct sim_buffer {
	struct ib_cqe *cqe;
	void *to;
};

struct sim_qp {
	struct ib_qp ibqp;
	struct mutex lock;
	enum ib_qp_state state;		/* under lock */
	DECLARE_KFIFO_PTR(buffers, struct sim_buffer);	/* of QP0 and QP1; under the lock of the sim_cq */
};

static inline struct sim_dev *to_sim(struct ib_device *ibdev)
{
	return container_of(ibdev, struct sim_dev, ibdev);
}

/* The caller has validated the number, or ib_core has. */
static inline struct sim_port *sim_port(struct ib_device *ibdev, u32 num)
{
	return &to_sim(ibdev)->ports[num - 1];
}

static inline bool sim_port_has_mads(const struct sim_port *port)
{
	return port->dev->opt.mad && port->link == SIM_LINK_IB;
}

/* device.c */
extern struct mutex sim_lock;
extern struct list_head sim_devices;	/* under sim_lock */
struct sim_dev *sim_device_find(const char *name);
int sim_device_add(const struct sim_options *opt, u32 nth, struct sim_dev *above,
		   struct list_head *made);
int sim_devices_add(const struct sim_options *opt);
void sim_devices_take(struct sim_dev *sd, struct list_head *ret_taken);
void sim_devices_destroy(struct list_head *taken);

/* port.c */
extern const struct ib_device_ops sim_port_ops;
void sim_port_init(struct sim_port *port, struct sim_dev *sd, u32 num);
int sim_port_fault(struct sim_port *port);
void sim_dispatch(struct sim_dev *sd, u32 port, u32 event);

/* counters.c */
extern const struct ib_device_ops sim_hw_ops;
extern const struct ib_device_ops sim_pma_ops;
void sim_put_bits(u8 *data, u16 offset, u8 bits, u64 value);
bool sim_pma_fill(const u64 *values, enum sim_pma_class has, __be16 attr_id, u8 *data);

/* netdev.c */
int sim_netdev_bind(struct sim_dev *sd);
void sim_netdev_release(struct sim_dev *sd);
struct sim_port *sim_netdev_port(const struct net_device *ndev);
int sim_netdev_init(void);
void sim_netdev_exit(void);

/* dcb.c */
void sim_dcb_attach(struct sim_port *port, struct net_device *ndev);
void sim_dcb_detach(struct net_device *ndev);

/* phy.c */
void sim_phy_attach(struct sim_port *port, struct net_device *ndev);
void sim_phy_detach(struct sim_port *port, struct net_device *ndev);
void sim_phy_attach_ipoib(struct sim_port *port, struct net_device *ndev);

/* vf.c */
int sim_pf_add(struct sim_dev *sd);
void sim_pf_del(struct sim_dev *sd);
int sim_pf_init(void);
void sim_pf_exit(void);

/* devlink.c */
int sim_devlink_add(struct sim_dev *sd);
void sim_devlink_del(struct sim_dev *sd);
int sim_devlink_report(struct sim_dev *sd, const char *name, bool error);

/* planes.c */
void sim_planes_setup(struct sim_dev *sd);

/* resource.c */
int sim_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr, sim_cq_context *context);
void sim_resources_setup(struct sim_dev *sd);

/* mad.c */
extern const struct ib_device_ops sim_mad_ops;

/* mlx5.c, hbl.c */
void sim_mlx5_setup(struct sim_dev *sd);
void sim_mlx5_port_init(struct sim_port *port);
void sim_hbl_setup(struct sim_dev *sd);
void sim_hbl_port_init(struct sim_port *port);

/* key.c */
struct seq_file;
struct sim_key;

struct sim_assignment {
	const struct sim_key *key;
	u32 index;		/* of a table entry */
	u64 value;
	union ib_gid gid;
	const char *text;	/* in the line */
};

int sim_key_parse(const char *name, const char *value, struct sim_assignment *ret);
int sim_key_check(const struct sim_port *port, const struct sim_assignment *a);
const char *sim_key_name(const struct sim_key *key);
void sim_key_apply(struct sim_port *port, const struct sim_assignment *a);
void sim_keys_show(struct seq_file *m, const struct sim_port *port);

/* option.c */
int sim_options_init(struct sim_options *opt, const char *name);
int sim_option_parse(struct sim_options *opt, const char *name, char *value);
int sim_options_check(struct sim_options *opt, const char **ret_word);
const char *sim_link_name(enum sim_link link);

/* command.c */
int sim_commands_run(char *text, size_t len);

/* state.c */
extern const struct seq_operations sim_state_ops;

#endif
