/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Where the rules are in the sources of the libraries:
 *
 * NCCL 2.30.7, src/transport/net_ib: NCCL_IB_GID_INDEX is for all ports, and not used on
 * InfiniBand. Without it each port has a GID of NCCL_IB_ADDR_FAMILY. NCCL_IB_PKEY is an index, for
 * all ports. '=' makes the names of NCCL_IB_HCA exact.
 *
 * UCX 1.23.0, src/uct/ib/base/ib_iface.c: UCX_IB_PKEY is a P_Key without the bit of the membership.
 * src/uct/ib/efa: EFA is used as other ports are, from 1.19 on.
 *
 * libfabric 2.7.0a1, prov/verbs/src/verbs_info.c: FI_VERBS_DEVICE_NAME is the beginning of names,
 * whatever their case, and before 2.6.0 of one. Endpoints of type MSG, which iWARP needs, are those
 * of devices with an IP address. EFA is used by another provider, named efa.
 *
 * Open MPI 6.1.0, opal/mca/common/ucx/common_ucx.c, ompi/mca/pml/ucx/pml_ucx_component.c: the
 * drivers in opal_common_ucx_devices decide whether UCX comes before PSM2 and libfabric.
 *
 * PyTorch, c10d: GLOO_SOCKET_IFNAME is a list of interfaces. Not read, but from their manual: the
 * variables of btl_openib.
 *
 * NVSHMEM 3.5.1, src/modules/transport: NVSHMEM_HCA_LIST is of whole names, and needs
 * NVSHMEM_ENABLE_NIC_PE_MAPPING. The index of the P_Key is always 0.
 *
 * Mooncake 3b5a5941, mooncake-transfer-engine/src: MC_TE_FILTERS has whole names of devices
 * (topology.cpp), MC_IB_PORT, MC_GID_INDEX and MC_PKEY_INDEX are for all of them (config.cpp).
 *
 * Which of them find a GID index, and which: rails_index_family().
 */

#include "env-library.h"

#include "util.h"

/* clang-format off */
#define NCCL(title_) \
	title_, .without_efa = "uses it by libfabric alone, with a plugin", .ports_most = 32, .variables = \
	{{"NCCL_IB_HCA", VARIABLE_PORTS, .prefix = "="}, {"NCCL_IB_GID_INDEX", VARIABLE_GID_INDEX, .finder = title_ " 2.21 or later"}, \
	 {"NCCL_IB_ADDR_FAMILY", .kind = VARIABLE_FAMILY}, {"NCCL_IB_PKEY", .kind = VARIABLE_PKEY_INDEX}}
#define UCX_VARIABLES \
	{"UCX_NET_DEVICES", .kind = VARIABLE_PORTS}, {"UCX_IB_GID_INDEX", VARIABLE_GID_INDEX, .finder = "UCX"}, {"UCX_IB_PKEY", .kind = VARIABLE_PKEY}

static const Library libraries[] = {
	{"nccl", NCCL("NCCL")},
	{"rccl", NCCL("RCCL")},
	{"ucx",  "UCX", .efa_since = "1.19", .variables = {UCX_VARIABLES}},
	{"ofi",  "libfabric", .iwarp = true, .by_prefix = true, .by_address = true,
	 .variables = {{"FI_PROVIDER", .kind = VARIABLE_PROVIDER}, {"FI_VERBS_DEVICE_NAME", .kind = VARIABLE_DEVICE},
		       {"FI_VERBS_IFACE", .kind = VARIABLE_NETDEV}, {"FI_VERBS_GID_IDX", .kind = VARIABLE_GID_INDEX}}},
	{"mpi",  "MPI", .without_efa = "uses it by libfabric",
	 .variables = {UCX_VARIABLES, {"OMPI_MCA_opal_common_ucx_devices", VARIABLE_UCX, .prefix = "any"},
		       {"OMPI_MCA_btl_openib_if_include", .kind = VARIABLE_PORTS}, {"OMPI_MCA_btl_openib_gid_index", .kind = VARIABLE_GID_INDEX},
		       {"OMPI_MCA_btl_openib_pkey", .kind = VARIABLE_PKEY}}},
	{"gloo", "Gloo", .iwarp = true, .interface = true, .variables = {{"GLOO_SOCKET_IFNAME", .kind = VARIABLE_NETDEVS}}},
	{"nvshmem", "NVSHMEM", .without_efa = "uses it by libfabric alone", .first_pkey = "NVSHMEM before 3.7",
	 .variables = {{"NVSHMEM_ENABLE_NIC_PE_MAPPING", VARIABLE_FIXED, .prefix = "1"}, {"NVSHMEM_HCA_LIST", .kind = VARIABLE_PORTS},
		       {"NVSHMEM_IB_GID_INDEX", VARIABLE_GID_INDEX, .finder = "NVSHMEM 3.5 or later"},
		       {"NVSHMEM_IB_ADDR_FAMILY", .kind = VARIABLE_FAMILY}}},
	{"mooncake", "Mooncake", .variables = {{"MC_TE_FILTERS", .kind = VARIABLE_DEVICES}, {"MC_IB_PORT", .kind = VARIABLE_PORT},
		       {"MC_GID_INDEX", VARIABLE_GID_INDEX, .finder = "Mooncake"}, {"MC_PKEY_INDEX", .kind = VARIABLE_PKEY_INDEX}}},
};
/* clang-format on */

ExitStatus library_find(const char *name, const Library **ret)
{
	const Library *library = array_find(libraries, ARRAY_SIZE(libraries), name, name);

	if (library) {
		*ret = library;
		return STATUS_OK;
	}
	return usage_error("env: unknown library \"%s\"; expected " LIBRARY_NAMES, name);
}

bool library_has(const Library *l, VariableKind kind)
{
	for (const Variable *v = l->variables; v->name; v++)
		if (v->kind == kind)
			return true;
	return false;
}
