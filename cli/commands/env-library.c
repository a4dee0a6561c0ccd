/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Where the rules are in the sources of the libraries:
 *
 * NCCL 2.30.7, src/transport/net_ib: NCCL_IB_GID_INDEX is for all ports, and not used on
 * InfiniBand. Without it each port has a GID of NCCL_IB_ADDR_FAMILY. NCCL_IB_PKEY is an index, for
 * all ports. '=' makes the names of NCCL_IB_HCA exact; ':' ends one (src/misc/utils.cc).
 *
 * UCX 1.23.0, src/uct/ib/base/ib_iface.c: UCX_IB_PKEY is a P_Key without the bit of the membership;
 * the traffic class of RoCE v2 is 106, which is DSCP 26. ib_device.c: GIDs with IPv6 are found from
 * 1.21 on. src/ucp/core/ucp_context.c: names of UCX_NET_DEVICES are whole, "mlx5_0:1", and of 65 it
 * ends the process. src/ucs/config/parser.c: '[' begins a range from 1.23 on. src/uct/ib/efa: EFA
 * is used as other ports are, from 1.19 on.
 *
 * libfabric 2.7.0a1, prov/verbs/src/verbs_info.c: FI_VERBS_DEVICE_NAME is the beginning of names,
 * whatever their case, and before 2.6.0 of one. Endpoints of type MSG, which iWARP needs, have the
 * IP addresses of interfaces, and from 1.11 on, without FI_VERBS_IFACE, also those of InfiniBand: a
 * GID and a P_Key. EFA is used by another provider, named efa.
 *
 * Open MPI 6.1.0, opal/mca/common/ucx/common_ucx.c, ompi/mca/pml/ucx/pml_ucx_component.c: the
 * drivers in opal_common_ucx_devices decide whether UCX comes before PSM2 and libfabric.
 *
 * PyTorch, c10d: GLOO_SOCKET_IFNAME is a list of interfaces. Not read, but from their manual: the
 * variables of btl_openib.
 *
 * NVSHMEM 3.5.1, src/modules/transport: NVSHMEM_HCA_LIST is of whole names, and needs
 * NVSHMEM_ENABLE_NIC_PE_MAPPING. The index of the P_Key is always 0. ibgda and ibdevx leave out,
 * and before 3.4.5 had no way to take, devices without "mlx5" in their name (NVSHMEM_HCA_PREFIX).
 *
 * Mooncake 3b5a5941, mooncake-transfer-engine/src: MC_TE_FILTERS has whole names of devices
 * (topology.cpp), MC_IB_PORT, MC_GID_INDEX, MC_PKEY_INDEX, MC_IB_TC and MC_IB_SL are for all of
 * them (config.cpp). Of GIDs with an address that is not link-local it takes the first, of IPv4 or
 * of IPv6 (rdma_gid_probe.h), and before 0.3.12 none of 10.0.0.0/8.
 *
 * MORI 624002c8, src/application/transport/rdma/rdma.cpp: MORI_RDMA_DEVICES has whole names; of
 * GIDs RoCE v2, and then IPv4, and then IPv6 that is not link-local is the best.
 *
 * rocSHMEM of rocm-systems 9f82bef5, projects/rocshmem/src/gda: ROCSHMEM_HCA_LIST has whole names
 * (topology.cpp). The index of the P_Key is always 0, and no variable has the GID index: it is the
 * first of RoCE v2, of IPv4 or of IPv6, that is not link-local (backend_gda.cpp).
 *
 * Which of them find a GID index, and which: rails_index_family(). A traffic class is a DSCP and
 * the bits of ECN, which UCX sets by itself too.
 */

#include "env-library.h"

#include "util.h"

/* clang-format off */
#define rccl_variables nccl_variables
static const Variable nccl_variables[] = {
	{"NCCL_IB_HCA",        VARIABLE_PORTS,      .help = "all ports: =mlx5_0:1,mlx5_1:1", .prefix = "="},
	{"NCCL_IB_GID_INDEX",  VARIABLE_GID_INDEX,  .help = "for RoCE", .finder = "* 2.21 or later", .finder_v6 = "* 2.21 or later"},
	{"NCCL_IB_ADDR_FAMILY", VARIABLE_FAMILY,    .help = "for RoCE, if no index is that of all"},
	{"NCCL_IB_PKEY",       VARIABLE_PKEY_INDEX, .help = "the index of a P_Key"},
	{"NCCL_IB_TC",         VARIABLE_CLASS,      .help = "the traffic class with flow control"},
	{"NCCL_IB_SL",         VARIABLE_LEVEL,      .help = "the priority with flow control, in a VLAN"},
	{},
};
#define UCX_VARIABLES \
	{"UCX_NET_DEVICES",      VARIABLE_PORTS,     .help = "all ports: mlx5_0:1,mlx5_1:1"}, \
	{"UCX_IB_GID_INDEX",     VARIABLE_GID_INDEX, .help = "for RoCE", .finder = "UCX", .finder_v6 = "UCX 1.21 or later"}, \
	{"UCX_IB_PKEY",          VARIABLE_PKEY,      .help = "a P_Key"}, \
	{"UCX_IB_TRAFFIC_CLASS", VARIABLE_CLASS,     .help = "the traffic class with flow control, if it is not DSCP 26", .dscp = 26}, \
	{"UCX_IB_SL",            VARIABLE_LEVEL,     .help = "the priority with flow control, in a VLAN"},
static const Variable ucx_variables[] = {UCX_VARIABLES {}};
static const Variable ofi_variables[] = {
	{"FI_PROVIDER",          VARIABLE_PROVIDER,  .help = "efa, for EFA: then the others are not needed"},
	{"FI_VERBS_DEVICE_NAME", VARIABLE_DEVICE,    .help = "one device"},
	{"FI_VERBS_IFACE",       VARIABLE_NETDEV,    .help = "the network interface with its address"},
	{"FI_VERBS_GID_IDX",     VARIABLE_GID_INDEX, .help = "for RoCE"},
	{},
};
static const Variable mpi_variables[] = {
	UCX_VARIABLES
	{"OMPI_MCA_opal_common_ucx_devices", VARIABLE_UCX,       .help = "any: Open MPI uses UCX with each driver; not for Omni-Path", .prefix = "any"},
	{"OMPI_MCA_btl_openib_if_include",   VARIABLE_PORTS,     .help = "all ports, for Open MPI 4"},
	{"OMPI_MCA_btl_openib_gid_index",    VARIABLE_GID_INDEX, .help = "the same index"},
	{"OMPI_MCA_btl_openib_pkey",         VARIABLE_PKEY,      .help = "the same P_Key"},
	{},
};
static const Variable gloo_variables[] = {
	{"GLOO_SOCKET_IFNAME", VARIABLE_NETDEVS, .help = "all network interfaces with an address"},
	{},
};
static const Variable nvshmem_variables[] = {
	{"NVSHMEM_ENABLE_NIC_PE_MAPPING", VARIABLE_FIXED, .help = "1: NVSHMEM_HCA_LIST needs it", .prefix = "1"},
	{"NVSHMEM_HCA_PREFIX",       VARIABLE_NAMES,     .help = "nothing, if a device has not mlx5 in its name", .prefix = "mlx5"},
	{"NVSHMEM_HCA_LIST",         VARIABLE_PORTS,     .help = "all ports: mlx5_0:1,mlx5_1:1"},
	{"NVSHMEM_IB_GID_INDEX",     VARIABLE_GID_INDEX, .help = "for RoCE", .finder = "* 3.5 or later", .finder_v6 = "* 3.5 or later"},
	{"NVSHMEM_IB_ADDR_FAMILY",   VARIABLE_FAMILY,    .help = "for RoCE, if no index is that of all"},
	{"NVSHMEM_IB_TRAFFIC_CLASS", VARIABLE_CLASS,     .help = "the traffic class with flow control"},
	{"NVSHMEM_IB_SL",            VARIABLE_LEVEL,     .help = "the priority with flow control, in a VLAN"},
	{},
};
static const Variable mooncake_variables[] = {
	{"MC_TE_FILTERS", VARIABLE_DEVICES,    .help = "all devices: mlx5_0,mlx5_1"},
	{"MC_IB_PORT",    VARIABLE_PORT,       .help = "the number of their ports, if it is not 1"},
	{"MC_GID_INDEX",  VARIABLE_GID_INDEX,  .help = "for RoCE", .finder = "* 0.3.12 or later", .finder_v6 = "* 0.3.12 or later", .mixes_families = true},
	{"MC_PKEY_INDEX", VARIABLE_PKEY_INDEX, .help = "the index of a P_Key"},
	{"MC_IB_TC",      VARIABLE_CLASS,      .help = "the traffic class with flow control"},
	{"MC_IB_SL",      VARIABLE_LEVEL,      .help = "the priority with flow control, in a VLAN"},
	{},
};
static const Variable mori_variables[] = {
	{"MORI_RDMA_DEVICES", VARIABLE_DEVICES,   .help = "all devices: mlx5_0,mlx5_1"},
	{"MORI_IB_GID_INDEX", VARIABLE_GID_INDEX, .help = "for RoCE", .finder = "*", .finder_v6 = "*"},
	{"MORI_RDMA_TC",      VARIABLE_CLASS,     .help = "the traffic class with flow control"},
	{"MORI_RDMA_SL",      VARIABLE_LEVEL,     .help = "the priority with flow control, in a VLAN"},
	{},
};
static const Variable rocshmem_variables[] = {
	{"ROCSHMEM_HCA_LIST",          VARIABLE_DEVICES, .help = "all devices: mlx5_0,mlx5_1"},
	{"ROCSHMEM_GDA_TRAFFIC_CLASS", VARIABLE_CLASS,   .help = "the traffic class with flow control"},
	{},
};

const Library libraries[] = {
#define LIBRARY(name_, title_, ...) {#name_, title_, name_##_variables, .separators = __VA_ARGS__},
#include "env-libraries.def"
#undef LIBRARY
	{},
};
/* clang-format on */

#define LIBRARY(name, ...) "|" #name
const char library_names[] =
#include "env-libraries.def"
	;
const char library_arguments[] =
#include "env-libraries.def"
	" PORT";

bool library_has(const Library *l, VariableKind kind)
{
	for (const Variable *v = l->variables; v->name; v++)
		if (v->kind == kind)
			return true;
	return false;
}
