# shellcheck shell=bash disable=SC2154,SC2034 # test-situations has the functions and variables
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The situations of test-situations. Each begins with "situation" at the begin of a line, has devices of its own, and leaves nothing that
# another one needs: they run in parts. Only functions are there for all of them.

situation planted no-port "there is no RDMA port"
judge --all

situation planted missing "a port that was named is not there"
add ib
judge --ports "$s-0 $s-7"

situation planted missing "one of the adapters that a file expects has gone"
add_many 3 ib
expectations "[$s-0/1]" "[$s-1/1]" "[$s-2/1]" "[$s-3/1]" '[*]' 'Ports = 4'
judge --all --expect "$work/expect.conf"

situation planted count "three ports of four"
add_many 3 ib
judge --expect Ports=4

situation planted count "five ports, four expected"
add_many 5 ib
judge --expect Ports=4

situation planted not-active "a cable is out: one link of four is down"
add_many 4 ib
set_ 2/1 state=down phys_state=polling event=port-error
judge

situation planted not-active "a cable is out, and rate, width, speed and MTU are expected"
add_many 4 ib
set_ 2/1 state=down phys_state=polling event=port-error
judge --expect Rate=400G --expect LinkWidth=4 --expect LinkSpeed=NDR --expect ActiveMtu=4096 --expect PhysicalState=link-up

situation planted not-active "no subnet manager: the port is init"
add_many 4 ib
set_ 1/1 state=init lid=0 sm_lid=0 event=port-error
expectations "[$s-1]" 'Lid = 5' 'SmLid = 1' 'Rate = 400G'
judge --expect "$work/expect.conf"

situation planted not-active "the port is armed and does not become active"
add_many 2 ib
set_ 1/1 state=armed event=port-error
judge

situation planted not-active "the port is disabled"
add_many 2 ib
set_ 1/1 state=down phys_state=disabled event=port-error
judge

situation planted not-active "an Ethernet link is down, its interface is up"
add_many 4 roce
set_ 3/1 state=down phys_state=polling event=port-error
judge --expect Rate=200G

situation planted expectation "a link is down where State is expected"
add_many 4 ib
set_ 2/1 state=down phys_state=polling event=port-error
judge --expect State=active --expect Rate=400G

situation planted stale "queries of a port fail"
add_many 2 ib
simulate "fail $s-1/1 EIO"
judge --expect Rate=400G

situation planted device-stale "a device hangs"
add_many 2 ib
simulate "stall $s-1"
judge --expect Rate=400G --expect symbol_error=0

situation planted no-verbs "verbs cannot be used on a port"
add_many 2 ib
set_ 1/1 max_mtu= max_msg_sz= event=port-active
judge

situation planted no-lid "active without a LID"
add_many 2 ib
set_ 0/1 lid=0 event=lid-change
judge

situation planted no-sm "active without a subnet manager"
add_many 2 ib
set_ 0/1 sm_lid=0 event=sm-change
judge

situation planted slow "a link trained at HDR instead of NDR"
add_many 4 ib
set_ 0/1 active_speed=HDR event=port-active
judge

situation planted odd-one-out "one link of four has two lanes instead of four"
add ib2
add_many 3 ib
judge

situation planted odd-one-out "one Ethernet link of eight has half the speed"
add_many 7 roce
add roce2
judge

situation planted pcie-slow "a PCIe link has half of its lanes"
add_many 2 ib "${pcie[@]}"
add ib "${pcie[@]}" pcie_width=8 pcie_rate=252061538432 pcie_narrowest=0000:60:01.1
add ib "${pcie[@]}"
judge

situation planted pcie-slow "both functions of an adapter share a slow PCIe link"
add_many 2 ib "${pcie[@]}" pcie_speed=8000000000 pcie_rate=126030769152
judge

# I N: how an adapter sees N GPUs of which the Ith is near, as attributes of the device
gpus() {
	local k
	for ((k = 0; k < $2; k++)); do
		echo "accelerator.0000:c$k:00.0=$([[ $k == "$1" ]] && echo PXB,3 || echo SYS,3),10de:2330"
	done
}

situation planted far-gpu "three GPUs of four have an adapter below their PCI switch"
for ((k = 0; k < 3; k++)); do
	# shellcheck disable=SC2046 # each line is a word
	add ib $(gpus $k 4)
done
judge --all
grep -q "the nearest port of accelerator 3 (0000:c3:00.0) is at SYS, but 3 of 4 of its model have one at PXB or nearer" "$work/found" ||
	fail "$title: $(<"$work/found")"

situation planted acs-redirects "ACS redirects traffic of one adapter of two with accelerators"
add ib acs_redirects=none
add ib acs_redirects=0000:c1:00.0 iommu=DMA-FQ
judge
grep -q "ACS redirects it at 0000:c1:00.0, and the IOMMU translates its addresses: Iommu is DMA-FQ" "$work/found" ||
	fail "$title: $(<"$work/found")"

situation planted pcie-errors "PCIe has lost transactions (AER)"
add_many 2 ib "${aer[@]}"
add ib "${aer[@]}" aer_nonfatal=2
judge

situation planted pcie-errors "a fatal PCIe error, which Linux counts at the root port, of an adapter with two functions"
add ib "${aer[@]}" pci_address=0000:c1:00.0 aer_root_fatal=1
add ib "${aer[@]}" pci_address=0000:c1:00.1 aer_root_fatal=1
judge

situation planted pcie-burst "PCIe corrects many errors"
add_many 2 ib "${aer[@]}"
wait_for_ports "$s-*" "$ports"
set_ 1 aer_correctable=5000 event=device
wait_for_errors 1 5000
judge

# I ATTRIBUTE=VALUE...: what the PHY or a sensor says, of which no event tells: it is read because somebody asks
says_of_itself() {
	local i=$1
	shift
	wait_for_ports "$s-*" "$ports"
	set_ "$i/1" "$@"
	"$RDMACTL" query "$s-$i/1" >/dev/null
}

situation planted hot "a module is nearly as hot as it may be"
add_many 3 roce
says_of_itself 1 module_temperature=50 module_temperature_margin=20
says_of_itself 2 module_temperature=68 module_temperature_margin=2
wait_for 2 '.ModuleTemperatureMargin == 2'
judge

situation planted too-hot "an adapter is as hot as it may be"
add_many 2 roce
says_of_itself 1 adapter_temperature=107 adapter_temperature_margin=0
wait_for 1 '.AdapterTemperatureMargin == 0'
judge

situation planted uncorrectable "FEC cannot correct all blocks"
add_many 2 roce
says_of_itself 1 fec_uncorrectable=5
wait_until 1 UncorrectableBlocks 5
says_of_itself 1 fec_uncorrectable=25
wait_until 1 UncorrectableBlocks 25
judge

situation planted health-error "the firmware of an adapter has reported an error"
add_many 2 ib reporter.fw=healthy reporter.fw_fatal=healthy
add ib reporter.fw=error,1,0 reporter.fw_fatal=healthy
judge

situation planted health-recovered "a driver has recovered from an error of its firmware"
add ib reporter.fw=healthy reporter.fw_fatal=healthy
add ib reporter.fw=healthy reporter.fw_fatal=healthy,2,2
judge

situation planted bond-member "one leg of a bond is down"
add roce
set_ 0/1 netdev_master=bond0 bond_mode=802.3ad bond_member.70=ens0,active,200000000000 bond_member.71=ens1,down event=link
judge
grep -q "1 of 2 members of bond0 carries nothing: ens1 (down); BondActiveRate is 200 Gb/s, BondRate 400 Gb/s" "$work/found" ||
	fail "$title: $(<"$work/found")"

situation planted bond-member "the switch does not answer on one leg of a bond"
add roce
set_ 0/1 netdev_master=bond0 bond_mode=802.3ad bond_member.70=ens0,active bond_member.71=ens1,backup event=link
judge

situation planted bond-member "both members of a bond are up, and one has come up without a speed"
add roce
set_ 0/1 netdev_master=bond0 bond_mode=802.3ad bond_member.70=ens0,active,25000000000 bond_member.71=ens1,active event=link
judge
grep -q "1 of 2 members of bond0 is slower: ens1 (no speed)" "$work/found" || fail "$title: $(<"$work/found")"

situation planted bond-member "a LAG has lost one leg of two, and so half of its rate"
add roce num_lag_ports=2
set_ 0/1 netdev_master=bond0 bond_member.70=ens0,active,200000000000 bond_member.71=ens1,active,200000000000 event=link
wait_for_ports "$s-*" 1
set_ 0/1 bond_member.71=ens1,down event=link
judge

# NUMBER: a leg of the LAG of a port, which stays active, goes and comes back so often
flap_leg() {
	local i
	add roce num_lag_ports=2
	set_ 0/1 netdev_master=bond0 bond_mode=802.3ad bond_member.70=ens0,active,200000000000 bond_member.71=ens1,active,200000000000 event=link
	wait_for 0 '.Rate == 400000000000'
	for ((i = 0; i < $1; i++)); do
		set_ 0/1 bond_member.71=ens1,down event=link
		wait_for 0 '.Rate == 200000000000'
		set_ 0/1 bond_member.71=ens1,active,200000000000 event=link
		wait_for 0 '.Rate == 400000000000'
	done
}

situation planted bond-member "a leg of a LAG goes and comes back again and again, and the port stays active"
flap_leg 2
judge
grep -q "members of bond0 come and go: the rate has fallen 2 times in 24h, the last time at 20" "$work/found" || fail "$title: $(<"$work/found")"

situation healthy "" "a leg of a LAG was away once"
flap_leg 1
judge

situation planted rail-swapped "two of four cables are exchanged, each at a switch of its own"
for ((k = 0; k < 4; k++)); do
	add ib pci_address=0000:a$k:00.0
done
for rail in 0:leaf-1 1:leaf-3 2:leaf-2 3:leaf-4; do
	set_ "${rail%:*}/1" neighbor_source=lldpd neighbor="${rail#*:}" event=neighbor
done
judge --all

situation planted "neighbor-mtu" "the switch takes smaller frames than the port sends"
add roce
set_ 0/1 netdev_mtu=9000 neighbor_source=lldpd neighbor=leaf-r07-a neighbor_port=Ethernet12/1 neighbor_frame=1518 event=neighbor
judge
grep -q "the MTU is 9000, and leaf-r07-a Ethernet12/1 takes frames of 1518 bytes" "$work/found" || fail "$title: $(<"$work/found")"

situation planted "neighbor-pfc" "the switch has flow control for another priority"
add roce
set_ 0/1 pfc_enabled=3 neighbor_source=lldpd neighbor_chassis=02:00:00:00:00:01 neighbor_port=swp1 neighbor_pfc=4 event=neighbor
judge
grep -q "PFC is enabled for the priorities 3 here, and 4 at 02:00:00:00:00:01 swp1" "$work/found" || fail "$title: $(<"$work/found")"

situation planted expectation "a port is connected to another switch than planned"
add roce
set_ 0/1 neighbor_source=lldpd neighbor=spine-3 event=neighbor
judge --expect 'Neighbor=leaf-*'

situation planted low-light "a lane of a transceiver receives too little light"
add roce
set_ 0/1 cable_present=yes cable_rx_power=700000,25000 cable_rx_power_critical=50000 cable_rx_power_margin=0 event=cable
judge
grep -q "a lane of the module receives less light than it alarms of" "$work/found" || fail "$title: $(<"$work/found")"

situation planted low-light "a lane of a transceiver receives too little light, and others belong to another port"
add roce
set_ 0/1 cable_present=yes cable_rx_power=700000,25000,0,100 cable_rx_power_critical=50000 cable_rx_power_margin=0 event=cable
judge

situation planted low-light "a module says that no lane receives light, and its port is active"
add roce
set_ 0/1 cable_present=yes cable_rx_power=0,0 cable_rx_power_critical=50000 cable_rx_power_margin=0 event=cable
judge

situation planted weak-light "a lane of a transceiver sends hardly enough light"
add roce
set_ 0/1 cable_present=yes cable_tx_power=62946 cable_tx_power_critical=50000 cable_tx_power_margin=100 event=cable
judge
grep -q "a lane of the module sends 1.00 dB more light than it alarms of" "$work/found" || fail "$title: $(<"$work/found")"

situation planted wrong-cable "a link of 200 Gb/s has a module that is made for 40"
add roce
set_ 0/1 cable_present=yes cable_max_rate=40000000000 event=cable
judge
grep -q "the module is made for 40 Gb/s, the link runs at" "$work/found" || fail "$title: $(<"$work/found")"

situation planted "other-cable not-active" "a cable was exchanged, and the link does not come up"
add roce
set_ 0/1 cable_present=yes cable_serial=MT2001 event=cable
wait_until 0 CableSerialNumber MT2001
set_ 0/1 cable_serial=MT2002 event=cable
set_ 0/1 state=down phys_state=polling event=port-error
judge
grep -q "the cable is MT2002 since .*, and was MT2001" "$work/found" || fail "$title: $(<"$work/found")"

situation planted expectation "a port has other FEC than expected"
add roce
set_ 0/1 fec_mode=baser event=link
wait_until 0 FecMode baser
judge --expect FecMode=rs

situation planted "module not-active" "a module gets no power, and so its port no link"
add roce
set_ 0/1 cable_present=yes cable_state=low-power event=cable
set_ 0/1 state=down phys_state=disabled event=port-error
judge
grep -q "the module in the cage stays in low power" "$work/found" || fail "$title: $(<"$work/found")"

situation planted vf-no-guid "one virtual function of three has no GUIDs"
add ib
set_ 0/1 vf.0=node_guid=0002:c903:0000:0101,port_guid=0002:c903:0000:0102 \
	vf.1=node_guid=0000:0000:0000:0000,port_guid=0000:0000:0000:0000 \
	vf.2=node_guid=0002:c903:0000:0301,port_guid=0002:c903:0000:0302 event=netdev
judge
grep -q 'no GUID is set for virtual function 1:' "$work/found" || fail "$title: $(<"$work/found")"

situation planted vf-disabled "the link of a virtual function is disabled"
add roce
set_ 0/1 vf.0=address=02:00:00:00:00:01,policy=disable vf.1=address=02:00:00:00:00:02 event=netdev
judge
grep -q 'the link of virtual function 0 is disabled:' "$work/found" || fail "$title: $(<"$work/found")"

situation planted expectation "a PCIe link is slow, and its lanes are expected"
add ib "${pcie[@]}" pcie_width=8 pcie_rate=252061538432
judge --expect PcieWidth=16 --expect "PcieRate>=400G"

situation planted expectation "a switch has taken PFC from priority 3, and it is expected"
add roce
set_ 0/1 pfc_enabled=none dscp_to_priority=24:3,26:3,48:6 event=dcb
judge --expect PfcEnabled=3 --expect DscpToPriority=24:3,26:3,48:6

situation planted slower "a link came back with two lanes instead of four"
add ib
down 0
up 0 active_width=2
judge

situation planted "flap slower" "a RoCE link came back with half the speed, and went down twice more"
add roce
down 0
up 0 active_speed=EDR netdev_speed=100000000000
flap 0 2 1
judge

situation planted slower "one link of four came back with half the speed"
add_many 4 ib
down 2
up 2 active_speed=HDR port_cap_flags2=raw:0
judge

situation planted slower "a link lost lanes while it was up"
add ib
wait_for_ports "$s-*" 1
set_ 0/1 active_width=1 event=port-active
judge

situation planted slower "a device was reset, and its link came back with two lanes"
add ib
wait_for_ports "$s-*" 1
simulate "remove $s-0"
wait_for_ports "$s-*" 0
simulate "add $s-0 from=ib2"
judge

situation planted expectation "a link came back slower, and a rate is expected"
add ib
down 0
up 0 active_width=2
judge --expect Rate=400G

situation planted odd-one-out "one port of four has another MTU"
add_many 4 ib
set_ 3/1 active_mtu=2048 event=port-active
judge

situation planted odd-one-out "one adapter of four has another firmware"
add_many 3 ib
add ib fw_ver=28.39.1002
judge

situation planted small-mtu "the MTU of a RoCE port is smaller than its interface allows"
add_many 2 roce
set_ 1/1 active_mtu=1024 event=link
judge

situation planted flap "the link went down five times"
add_many 2 ib
flap 1 5
judge

situation planted flap "the link went down twice within a day"
add_many 2 ib
flap 1 2
judge

situation planted flap "the link went down twice, --flap=2/12h"
add_many 2 ib
flap 1 2
judge --flap=2/12h

situation planted flap "the link went down 20 times, --flap=20/12h"
add ib
flap 0 20
judge --flap=20/12h

situation planted same-prefix "two subnet managers, and both subnets have the default prefix"
add_many 4 ib
set_ 2/1 sm_lid=7 event=sm-change
set_ 3/1 sm_lid=7 event=sm-change
judge

situation planted same-prefix "two subnets with the default prefix, whose LIDs meet"
add_many 2 ib
set_ 0/1 lid=17 event=lid-change
set_ 1/1 lid=17 event=lid-change
judge

situation planted same-subnet "two rails in one IP subnet"
add rail0
add rail1
FAKE_ADDRESSES="lo=127.0.0.1/8 ens0=192.168.100.17/24 ens1=192.168.100.18/24"
judge

situation planted expectation "a rate is lower than expected"
add_many 2 iwarp
judge --ports "$s-1" --expect Rate=400G

situation planted expectation "the firmware is older than expected"
add_many 2 ib
judge --ports "$s-1" --expect 'FirmwareVersion=28.99.*'

situation planted expectation "firmware 28.9 where at least 28.36 is expected"
add ib fw_ver=28.9.1000
judge --expect 'FirmwareVersion>=28.36'

situation planted not-active "a port is down, and only those of virtual functions may be"
add ib
add ib function=vf
set_ 0/1 state=down phys_state=polling event=port-error
expectations '[Function = vf]' 'Ignore = not-active'
judge --expect "$work/expect.conf"

situation planted expectation "a P_Key is missing"
add ib
judge --expect Pkeys=0x8013

situation planted expectation "an address is missing"
add roce
judge --expect Gids=198.51.100.7

situation planted expectation "the link has gone down once, LinkDownCount<1 is expected"
add ib
flap 0 1
judge --expect 'LinkDownCount<1'

situation planted counter "symbol errors"
add ib
set_ 0/1 counter.symbol_error=12 event=port-active
judge --expect symbol_error=0

situation planted counter "more receive errors than a file allows"
add ib
set_ 0/1 counter.port_rcv_errors=10 event=port-active
expectations '[s*]' 'port_rcv_errors < 10'
judge --expect "$work/expect.conf"

situation planted counter "a counter that is expected is not there"
add ib
judge --expect hw_counter.no_such_counter=0

situation planted "vf-no-guid vf-disabled" "two virtual functions have different faults, each of which is told"
add ib
set_ 0/1 vf.0=node_guid=0000:0000:0000:0000,port_guid=0000:0000:0000:0000 \
	vf.4=node_guid=0002:c903:0000:0401,port_guid=0002:c903:0000:0402,policy=disable event=netdev
judge

situation planted not-active "a virtual function that was named is down"
add ib function=vf function_number=0
set_ 0/1 state=down phys_state=polling event=port-error
judge --ports "$s-0/1"

situation planted expectation "a virtual function is down, and all are expected to be active"
add ib function=vf function_number=0
set_ 0/1 state=down phys_state=polling event=port-error
judge --expect State=active

situation planted no-gid "a RoCE port is active and has no GID"
add rail0
add rail-none
judge

situation planted no-address "a rail has lost its only address"
add rail0
add rail1
wait_for_ports "$s-*" 2
set_ 0/1 gid.0=fe80::1 event=gid-change
wait_for 0 '[.Gids[] | select(.Address == "192.168.100.17")] == []'
judge

# N: the address of the first port, which is up all the time, goes and comes back N times
flap_address() {
	local i
	wait_for_ports "$s-*" "$ports"
	for ((i = 0; i < $1; i++)); do
		set_ 0/1 gid.0= gid.1=fe80::1 event=gid-change
		wait_for 0 '[.Gids[] | select(.Address == "192.168.100.17")] == []'
		set_ 0/1 gid.0=192.168.100.17 event=gid-change
		wait_for 0 '[.Gids[] | select(.Address == "192.168.100.17")] != []'
	done
}

situation planted address-flap "the address of a rail goes and comes back again and again, and its link stays up"
add rail0
add rail1
flap_address 4
judge
grep -q "the address 192.168.100.17 has gone 4 times in 1h while the link was up" "$work/found" || fail "$title: $(<"$work/found")"

situation planted sm-storm "two subnet managers take the subnet from each other"
add_many 2 ib
managers 7 1 7 1
judge

situation planted sm-storm "the subnet manager configures a port again and again"
add ib
events 10 client-reregister
judge

situation planted same-address "two rails have one address"
add rail0
add rail-same
judge

# [ATTRIBUTE=VALUE...]: the interface of a RoCE port goes down and comes back six times
flap_interface() {
	local i
	for ((i = 1; i <= 6; i++)); do
		wait_for_ports "$s-*" "$ports"
		set_ 0/1 state=down phys_state=disabled netdev_carrier=no netdev_operstate=down "$@" event=port-error
		wait_for 0 '.State == "down"'
		set_ 0/1 state=active phys_state=link-up netdev_carrier=yes netdev_operstate=up netdev_up=yes event=port-active
		wait_for_downs 0 "$i"
	done
}

situation planted flap "the link of a RoCE port went down six times"
add roce
flap_interface
judge

situation planted not-linked "a port is active, and its link is polling"
add_many 2 ib
set_ 1/1 phys_state=polling event=port-active
judge

situation planted not-linked "a RoCE port is active, and its link is disabled"
add_many 2 roce
set_ 0/1 phys_state=disabled event=port-active
judge

situation planted no-guid "a port has the GUID 0"
add_many 2 ib
set_ 1/1 gid.0=fe80:0000:0000:0000:0000:0000:0000:0000 event=gid-change
judge

situation planted no-guid "the node GUID of an adapter is 0"
add ib
add ib node_guid=0000:0000:0000:0000
judge

situation planted same-guid "two adapters have one node GUID"
add_many 2 ib node_guid=0002:c903:00aa:0001
judge

situation planted same-guid "two ports have one GUID"
add_many 3 ib
set_ 1/1 gid.0=fe80:0000:0000:0000:0002:c903:00bb:0001 event=gid-change
set_ 2/1 gid.0=fe80:0000:0000:0000:0002:c903:00bb:0001 event=gid-change
judge

situation planted few-lanes "a link has had one lane since its first boot"
add ib
set_ 0/1 active_width=1
judge --expect Ignore=slower

situation planted few-lanes "a link at EDR has two lanes"
add ib
set_ 0/1 active_width=2 active_speed=EDR port_cap_flags2=raw:0
judge --expect Ignore=slower

situation planted odd-one-out "one port of four is not in the partition of the others, and never was"
add_many 3 ib
add ib-default
judge

situation planted lost-pkey "one port of four is not in the partition of the others any more"
add_many 4 ib
wait_for_ports "$s-*" "$ports"
set_ 2/1 pkey.1= event=pkey-change
wait_for 2 '[.Pkeys[].Pkey] == [65535]'
judge

situation planted lost-pkey "the only port has lost a P_Key"
add ib
wait_for_ports "$s-*" "$ports"
set_ 0/1 pkey.1= event=pkey-change
wait_for 0 '[.Pkeys[].Pkey] == [65535]'
judge --all

situation planted loss "a RoCE fabric loses packets"
add_many 2 roce
grow 1 hw_counter.out_of_sequence=90000 hw_counter.packet_seq_err=90000 hw_counter.local_ack_timeout_err=9000
judge --since="$work/counters"

# Of the same driver each first port has less of it than is too much. Nothing but rdmad has read the counters.
situation planted loss "a port of another driver sends packets again"
add_many 2 iwarp
grows 0 hw_counter.tcpRetransSegs=2
grows 1 hw_counter.tcpRetransSegs=9000
wait_published 1 loss
judge

situation planted loss "an InfiniBand port drops what it has to send"
add_many 2 ib
grows 0 counter.port_xmit_discards=2
grows 1 counter.port_xmit_discards=900
wait_published 1 loss
judge

situation planted congested "switches mark packets for congestion"
add_many 2 roce
grows 0 hw_counter.np_cnp_sent=200
grows 1 hw_counter.np_cnp_sent=900000
wait_published 1 congested
judge

situation planted congested "an InfiniBand port waits for credits"
add_many 2 ib
grows 0 counter.port_xmit_wait=100000000
grows 1 counter.port_xmit_wait=4000000000
wait_published 1 congested
judge

situation planted pause-storm "a switch pauses a link"
add_many 2 roce
grows 0 ethtool_counter.rx_control_frames=200
grows 1 ethtool_counter.rx_control_frames=900000
wait_published 1 pause-storm
judge

situation planted bad-signal "a link has many symbol errors all the time"
add_many 2 ib
grows 0 counter.symbol_error=0
grows 1 counter.symbol_error=500
wait_published 1 bad-signal
judge

situation planted far-errors "the switch has many symbol errors on a link, and the adapter none"
add_many 2 ib
grows 0 far_counter.symbol_error=0
grows 1 far_counter.symbol_error=500
wait_published 1 far-errors
judge

situation planted far-errors "the switch discards what an adapter sends, as broken"
add_many 2 ib
grows 0 far_counter.port_rcv_errors=2
grows 1 far_counter.port_rcv_errors=900
wait_published 1 far-errors
judge

situation planted bad-signal "both ends of a link have many symbol errors"
add ib
grows 0 counter.symbol_error=500
grows 0 far_counter.symbol_error=500
wait_published 0 bad-signal
judge

situation planted retraining "a link recovers from errors again and again"
add_many 2 ib
grows 0 counter.link_error_recovery=0
grows 1 counter.link_error_recovery=1
wait_published 1 retraining
judge

situation planted retraining "a link has recovered from errors twice"
add ib
grow 0 counter.link_error_recovery=2
judge --since="$work/counters"

situation planted bad-signal "a link has many symbol errors"
add ib
grow 0 counter.symbol_error=5000
judge --since="$work/counters"

situation planted counter "symbol errors, ten in an hour may be"
add ib
grow 0 counter.symbol_error=10
judge --since="$work/counters" --expect 'symbol_error<10/1h' --expect Ignore=bad-signal

situation planted not-active "the second function of one adapter is down, and that of another is used"
for i in 0 1; do
	add roce pci_address=0000:c1:00.$i
done
add roce pci_address=0000:e1:00.0
add roce-unused pci_address=0000:e1:00.1
judge

situation planted slow "a link is at HDR, and both ends can do NDR"
add ib
set_ 0/1 active_speed=HDR neighbor_source=mad neighbor_guid=0002:c903:0000:7777 neighbor_type=switch neighbor_widths=1,2,4 neighbor_speeds=SDR,DDR,QDR,FDR,EDR,HDR,NDR event=neighbor
judge --expect Ignore=slower

situation planted slow "a port of 25 Gb/s has had a module of 10 Gb/s since the first boot"
add roce25
judge

situation planted slow "both ends of an Ethernet link offer 25 Gb/s, and it has 10"
add roce25
set_ 0/1 partner_speeds=10G,25G event=link
judge

situation planted "wrong-cable slow" "both ends of an Ethernet link offer 25 Gb/s, and its module is made for 10"
add roce25
set_ 0/1 partner_speeds=10G,25G event=link
set_ 0/1 cable_present=yes cable_max_rate=10000000000 event=cable
judge
grep -q "the module is made for 10 Gb/s, the ends of the link offer 25 Gb/s" "$work/found" || fail "$title: $(<"$work/found")"

situation planted few-lanes "a link at NDR has two lanes, and four are enabled at the switch"
add ib2
set_ 0/1 neighbor_source=mad neighbor_guid=0002:c903:0000:7777 neighbor_type=switch neighbor_widths=1,2,4 neighbor_speeds=SDR,NDR event=neighbor
judge

situation planted few-lanes "an Omni-Path link has lost lanes since its first boot"
add opa
set_ 0/1 active_width=1
judge --expect Ignore=slower

situation planted lost-pkey "a port has become a limited member of its partition"
add_many 2 ib
wait_for_ports "$s-*" "$ports"
set_ 1/1 pkey.1=0x0012 event=pkey-change
wait_for 1 '[.Pkeys[].Pkey] == [65535, 18]'
judge

situation planted odd-one-out "one port of four has no flow control (PFC)"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 pfc_enabled=3 priority_trust=dscp dscp_to_priority=26:3 event=dcb
done
set_ 2/1 pfc_enabled=none event=dcb
judge

situation planted odd-one-out "one port of four trusts the VLAN tag, and the others DSCP"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 pfc_enabled=none priority_trust=dscp,pcp event=dcb
done
set_ 2/1 priority_trust=pcp event=dcb
judge

situation planted unused-pfc "a port has flow control (PFC) for priority 3, trusts the VLAN tag, and has no VLAN"
add roce
set_ 0/1 pfc_enabled=3 priority_trust=pcp event=dcb
judge

situation planted not-linked "a RoCE port is active, and its interface has no carrier"
add_many 2 roce
set_ 0/1 netdev_carrier=no netdev_operstate=down event=link
judge

situation planted bond-member "the leg of a bond that a port is named after is down"
add roce num_lag_ports=2
set_ 0/1 netdev_carrier=no netdev_operstate=down netdev_master=bond0 bond_mode=802.3ad bond_member.70=ens0,down,200000000000 bond_member.71=ens1,active,200000000000 event=link
judge

situation planted same-guid "two virtual functions have one GUID"
add ib
set_ 0/1 vf.0=node_guid=0002:c903:0000:0101,port_guid=0002:c903:0000:0102 \
	vf.1=node_guid=0002:c903:0000:0101,port_guid=0002:c903:0000:0102 event=netdev
judge

situation planted loss "an InfiniBand port receives broken packets"
add_many 2 ib
grows 0 counter.port_rcv_errors=2
grows 1 counter.port_rcv_errors=900
wait_published 1 loss
judge

situation planted loss "a RoCE port receives packets with a wrong checksum"
add_many 2 roce
grows 1 hw_counter.rx_icrc_encapsulated=900
wait_published 1 loss
judge

situation planted "not-active bond-member" "the leg of a port is down, and its bond carries on the other"
add roce
set_ 0/1 netdev_master=bond0 bond_mode=active-backup bond_member.70=ens0,down,200000000000 bond_member.71=ens1,active,200000000000 \
	netdev_carrier=no netdev_operstate=down state=down phys_state=disabled event=port-error
judge

situation planted not-active "both legs of a bond are down"
add roce num_lag_ports=2
set_ 0/1 netdev_master=bond0 bond_mode=802.3ad bond_member.70=ens0,active,200000000000 bond_member.71=ens1,active,200000000000 event=link
wait_for_ports "$s-*" 1
set_ 0/1 bond_member.70=ens0,down bond_member.71=ens1,down netdev_carrier=no netdev_operstate=down state=down phys_state=disabled event=port-error
judge

situation planted not-active "one of four rails has never come up"
for i in 1 2 3; do
	add roce pci_address=0000:c$i:00.0
done
add roce-unused pci_address=0000:c4:00.0
judge

# TEMPLATE [ATTRIBUTE=VALUE...]: three rails, each with an address of its own, and a fourth
rails() {
	local i template=$1
	shift
	add_many 3 rail0
	add "$template"
	for i in 0 1 2; do
		set_ "$i/1" "\"netdev=ens$i 7$i\"" "gid.0=192.168.100.$((17 + i))" event=gid-change
	done
	set_ 3/1 '"netdev=ens3 73"' "$@" event=gid-change
}

situation planted odd-one-out "one rail of four never had an address"
rails rail-local
judge

situation planted no-address "one rail of four has lost its address"
rails rail0 gid.0=192.168.100.20
wait_for_ports "$s-*" 4
wait_for 3 '[.Gids[] | select(.Address == "192.168.100.20")] != []'
set_ 3/1 gid.0=fe80::1 event=gid-change
wait_for 3 '[.Gids[] | select(.Address == "192.168.100.20")] == []'
judge

situation planted not-active "an Omni-Path port is init: there is no fabric manager"
add opa
set_ 0/1 state=init lid=0 sm_lid=0 event=port-error
judge

situation planted not-active "an Omni-Path port is down, and its physical state has no name"
add opa
set_ 0/1 state=down phys_state=raw:11 event=port-error
judge

situation planted not-active "a link is down, and its port still has the LIDs and the lowest rate; 400 Gb/s are expected"
add_many 3 ib
set_ 1/1 state=down phys_state=polling lid=868 sm_lid=334 active_speed=SDR event=port-error
judge --expect Rate=400G

situation planted "not-active not-active not-active not-active" "all four links of a machine go down with their switch"
add_many 4 ib
wait_for_ports "$s-*" "$ports"
for i in 0 1 2 3; do
	set_ $i/1 state=down phys_state=polling event=port-error
done
judge

# I: a link is lost, trains and waits for the subnet manager before it comes back
wander() {
	down "$1"
	set_ "$1/1" state=down phys_state=link-up event=port-error
	wait_for "$1" '.PhysicalState == "link-up"'
}

situation planted flap "a link goes down and back by way of polling and link-up, twice"
add_many 2 ib
for i in 1 2; do
	wander 0
	set_ 0/1 state=active event=port-active
	wait_for_downs 0 $i
done
judge

situation planted not-active "the virtual function of a pod is down with a link that is up, and has LID 65535"
add ib function=vf function_number=0
set_ 0/1 state=down phys_state=link-up lid=65535 event=port-error
judge --ports "$s-0/1"

situation planted not-linked "an InfiniBand port is active, and its link is disabled"
add_many 2 ib
set_ 1/1 phys_state=disabled event=port-active
judge

situation planted "not-active device-stale" "a device cannot be read, and another has lost its link"
add_many 3 ib
set_ 0/1 state=down phys_state=polling event=port-error
simulate "stall $s-1"
judge

situation planted expectation "the second ports of an adapter with a split cable do not come up: the switch has not split its port"
add unused
expectations "[$s-0]" 'State = active'
judge --expect "$work/expect.conf"

situation planted "slow slow" "two adapters of 200 Gb/s have had cables of 100 Gb/s since the first boot"
add_many 2 ib hca_type=MT4123 board_id=MT_0000000223 fw_ver=20.27.1016
for i in 0 1; do
	set_ $i/1 active_speed=EDR port_cap_flags2=raw:0x32
done
judge --expect Ignore=slower

situation planted pcie-slow "the link of a PCI switch with two adapters below it has half of its speed"
add_many 2 ib "${pcie[@]}"
add_many 2 ib "${pcie[@]}" pcie_rate=252061538432 pcie_narrowest=0000:59:01.0
judge

situation planted pause-storm "an adapter cannot take what it gets, and pauses its switch"
add_many 2 roce
grows 0 ethtool_counter.tx_prio3_pause=200
grows 1 ethtool_counter.tx_prio3_pause=900000
wait_published 1 pause-storm
judge

situation planted loss "an EFA adapter waits in vain for acknowledgements"
add_many 2 efa
grows 1 hw_counter.retrans_timeout_events=900
wait_published 1 loss
judge

situation planted loss "connections of an EFA adapter to its peers are impaired"
add_many 2 efa
grows 0 hw_counter.impaired_remote_conn_events=0
grows 1 hw_counter.impaired_remote_conn_events=900
wait_published 1 loss
judge

situation planted "too-hot not-active" "a module was as hot as it may be, and has shut itself down"
add_many 2 roce
says_of_itself 1 module_temperature=80 module_temperature_margin=0
wait_for 1 '.ModuleTemperatureMargin == 0'
set_ 1/1 state=down phys_state=disabled netdev_carrier=no netdev_operstate=down event=port-error
judge

situation planted retraining "a link went down again and again by its counter, and nobody has seen it"
add_many 2 ib
grows 0 counter.link_downed=0
grows 1 counter.link_downed=2
wait_published 1 retraining
judge

situation planted retraining "a link has gone down twelve times since the counters were saved"
add ib
grow 0 counter.link_downed=12
judge --since="$work/counters"

situation planted retraining "a link has had more errors at once than it may, twice"
add ib
grow 0 counter.local_link_integrity_errors=2
judge --since="$work/counters"

situation planted loss "an InfiniBand port overruns its buffers"
add_many 2 ib
grows 0 counter.excessive_buffer_overrun_errors=0
grows 1 counter.excessive_buffer_overrun_errors=1
wait_published 1 loss
judge

situation planted bond-member "both members of a bond carry, and one has 10 of 25 Gb/s"
add roce
set_ 0/1 netdev_master=bond0 bond_mode=balance-xor bond_member.70=ens0,active,25000000000 bond_member.71=ens1,active,10000000000 event=link
judge
grep -q "1 of 2 members of bond0 is slower: ens1 (10 Gb/s)" "$work/found" || fail "$title: $(<"$work/found")"

situation planted odd-one-out "a new firmware has set the MTU of one interface of four back to 1500"
add_many 4 roce
set_ 2/1 netdev_mtu=1500 active_mtu=1024 event=link
judge

situation planted slow "an adapter that offers 100 Gb/s has 10, without a switch between"
add iwarp driver=irdma hca_type= board_id=
set_ 0/1 active_width=1 active_speed=QDR netdev_speed=10000000000 autoneg=yes advertised_speeds=10G,25G,50G,100G event=link
judge --expect Ignore=slower

situation planted not-active "the ports to the switches of NVLink are init: nobody manages these switches"
add ib
add ib board_id=MT_0000001244
set_ 1/1 state=init lid=0 sm_lid=0 event=port-error
judge

situation planted "loss not-active" "one rail is down, and another sends its packets again and again"
add_many 3 roce
set_ 2/1 state=down phys_state=disabled netdev_carrier=no netdev_operstate=down event=port-error
grows 0 hw_counter.local_ack_timeout_err=0
grows 1 hw_counter.local_ack_timeout_err=900
wait_published 1 loss
judge

situation planted flap "a link that flapped was acknowledged, and then it flapped again"
add_many 2 ib
flap 1 2
wait_published 1 flap
"$RDMACTL" acknowledge flap "$s-1/1" >/dev/null
flap 0 2
judge

situation planted loss "what a RoCE port sends again by itself is not acknowledged either"
add_many 2 roce
grows 0 hw_counter.roce_adp_retrans_to=0
grows 1 hw_counter.roce_adp_retrans_to=90
wait_published 1 loss
judge

situation planted not-linked "the interface of an active port is in a VRF, and has no carrier"
add_many 2 roce
set_ 0/1 netdev_master=vrf1 netdev_carrier=no netdev_operstate=down event=link
judge

# healthy

situation healthy "" "four rails have an address each"
rails rail0 gid.0=192.168.100.20
judge

situation healthy "" "a virtual function waits with an active port that has no GID"
add roce
add roce function=vf
set_ 1/1 gid.0= gid.1= gid.2= gid.3= event=gid-change
judge

situation healthy "" "a virtual function waits with an active port that has no LID"
add ib
add ib function=vf
set_ 1/1 lid=0 sm_lid=0 event=lid-change
judge

situation healthy "" "a virtual function waits with an active port that has no GUID"
add ib
add ib function=vf node_guid=0000:0000:0000:0000
set_ 1/1 gid.0=fe80:0000:0000:0000:0000:0000:0000:0000 event=gid-change
judge

situation healthy "" "four functions of one adapter, of which one has never been used"
for i in 0 1 2; do
	add roce pci_address=0000:c1:00.$i
done
add roce-unused pci_address=0000:c1:00.3
judge

situation healthy "" "the second function of the only adapter with two has never been used"
add roce pci_address=0000:c1:00.0
add roce-unused pci_address=0000:c1:00.1
judge

situation healthy "" "the first function of the only adapter with two has never been used"
add roce-unused sys_image_guid=0002:c903:00d1:0001
add roce sys_image_guid=0002:c903:00d1:0001
judge

situation healthy "" "rails with one port each, and an adapter of another model whose second port was never used"
for a in 1 2 3 4; do
	add ib pci_address=0000:a$a:00.0
done
add roce pci_address=0000:b1:00.0
add roce-unused pci_address=0000:b1:00.1
judge

situation healthy "" "an adapter is faster than the switch, which can do HDR"
add ib
set_ 0/1 active_speed=HDR neighbor_source=mad neighbor_guid=0002:c903:0000:7777 neighbor_type=switch neighbor_widths=1,2,4 neighbor_speeds=SDR,DDR,QDR,FDR,EDR,HDR event=neighbor
judge --expect Ignore=slower

situation healthy "" "a port of 25 Gb/s is at a switch of 10 Gb/s, which says so"
add roce25
set_ 0/1 partner_speeds=1G,10G event=link
judge

situation healthy "" "a port of 25 Gb/s has a module for 10 Gb/s, and is at a switch of 10 Gb/s"
add roce25
set_ 0/1 partner_speeds=1G,10G event=link
set_ 0/1 cable_present=yes cable_max_rate=10000000000 event=cable
judge

situation healthy "" "somebody has set 10 Gb/s on a port of 25 Gb/s"
add roce25
set_ 0/1 advertised_speeds=10G event=link
judge

situation healthy "" "somebody has set 10 Gb/s, and the module is made for that"
add roce25
set_ 0/1 advertised_speeds=10G event=link
set_ 0/1 cable_present=yes cable_max_rate=10000000000 event=cable
judge

situation healthy "" "a port of 25 Gb/s has 10 Gb/s, and that is expected"
add roce25
judge --expect NetdevSpeed=10G

situation healthy "" "a port of 25 Gb/s has 10 Gb/s, which is expected, and a module for that; the switch is not heard"
add roce25
set_ 0/1 cable_present=yes cable_max_rate=10000000000 event=cable
judge --expect NetdevSpeed=10G

situation healthy "" "a LAG has the rate of two links, and each has a module for its own"
add roce num_lag_ports=2
set_ 0/1 netdev_master=bond0 bond_mode=802.3ad bond_member.70=ens0,active,200000000000 bond_member.71=ens1,active,200000000000 event=link
set_ 0/1 cable_present=yes cable_max_rate=200000000000 event=cable
judge

situation healthy "" "a link at NDR has two lanes, and no more are enabled at the switch"
add ib2
set_ 0/1 neighbor_source=mad neighbor_guid=0002:c903:0000:7777 neighbor_type=switch neighbor_widths=1,2 neighbor_speeds=SDR,NDR event=neighbor
judge

situation healthy "" "a port was a limited member of its partition, and is a full one again"
add ib
wait_for_ports "$s-*" "$ports"
set_ 0/1 pkey.1=0x0012 event=pkey-change
wait_for 0 '[.Pkeys[].Pkey] == [65535, 18]'
set_ 0/1 pkey.1=0x8012 event=pkey-change
wait_for 0 '[.Pkeys[].Pkey] == [65535, 32786]'
judge --all

situation healthy "" "half of the ports have no flow control (PFC)"
add_many 4 roce
for i in 0 1; do
	set_ $i/1 pfc_enabled=3 priority_trust=dscp event=dcb
done
for i in 2 3; do
	set_ $i/1 pfc_enabled=none priority_trust=pcp event=dcb
done
judge

situation healthy "" "a port trusts the VLAN tag: one has a VLAN, and others have flow control (PFC) for priority 0, for none, or as expected"
add rail-vlan
add_many 3 roce
set_ 0/1 pfc_enabled=3 priority_trust=pcp event=dcb
set_ 1/1 pfc_enabled=0,3 priority_trust=pcp event=dcb
set_ 2/1 pfc_enabled=none priority_trust=pcp event=dcb
set_ 3/1 pfc_enabled=4 priority_trust=pcp event=dcb
expectations "[$s-3/1]" 'PriorityTrust = pcp'
judge --expect "$work/expect.conf" --expect Ignore=odd-one-out

situation healthy "" "two virtual functions have GUIDs of their own"
add ib
set_ 0/1 vf.0=node_guid=0002:c903:0000:0101,port_guid=0002:c903:0000:0101 \
	vf.1=node_guid=0002:c903:0000:0201,port_guid=0002:c903:0000:0201 event=netdev
judge

situation healthy "" "the interface of a rail went into a pod, and its address with it"
add rail0
wait_for_ports "$s-*" 1
set_ 0/1 '"gid.0=fe80::1 v2 namespace=other"' event=gid-change
wait_for 0 '[.Gids[] | select(.Address == "192.168.100.17")] == []'
judge

situation healthy "" "an application posts too few receives"
add roce
grows 0 hw_counter.out_of_buffer=50000
grows 0 hw_counter.rnr_nak_retry_err=50000
judge

situation healthy "" "packets were lost since the machine was started, and none now"
add roce hw_counter.out_of_sequence=4000000 hw_counter.local_ack_timeout_err=90000 hw_counter.np_cnp_sent=90000000
grow 0 hw_counter.rx_write_requests=90000000
judge --since="$work/counters"

situation healthy "" "a few packets were marked, and one was sent again"
add roce
grow 0 hw_counter.np_cnp_sent=50 hw_counter.out_of_sequence=1
judge --since="$work/counters"

situation healthy "" "counters grow all the time, and those of loss a little"
add roce
grows 0 hw_counter.rx_write_requests=1000000
grows 0 hw_counter.out_of_sequence=1
judge

situation healthy "" "a few symbol errors, fewer than ten in an hour"
add ib
grow 0 counter.symbol_error=9
judge --since="$work/counters" --expect 'symbol_error<10/1h'

situation healthy "" "an administrator has set the interface down and up six times"
add roce
flap_interface netdev_up=no
judge

situation healthy "" "P_Keys are in another order on one port of four"
add_many 4 ib
set_ 2/1 pkey.0=0x8012 pkey.1=0xffff event=pkey-change
judge

situation healthy "" "a P_Key was taken from all ports"
add_many 2 ib
wait_for_ports "$s-*" "$ports"
for i in 0 1; do
	set_ $i/1 pkey.1= event=pkey-change
	wait_for $i '[.Pkeys[].Pkey] == [65535]'
done
judge --all

situation healthy "" "a P_Key went and came back at another index"
add_many 2 ib
wait_for_ports "$s-*" "$ports"
set_ 0/1 pkey.1= event=pkey-change
wait_for 0 '[.Pkeys[].Pkey] == [65535]'
set_ 0/1 pkey.3=0x8012 event=pkey-change
wait_for 0 '[.Pkeys[].Pkey] == [65535, 32786]'
judge --all

situation healthy "" "a port has lost a P_Key, and what it shall have is expected"
add_many 2 ib
wait_for_ports "$s-*" "$ports"
set_ 0/1 pkey.1= event=pkey-change
wait_for 0 '[.Pkeys[].Pkey] == [65535]'
judge --expect Pkeys=0xffff

situation healthy "" "a link has recovered from errors once"
add ib
grow 0 counter.link_error_recovery=1
judge --since="$work/counters"

situation healthy "" "links have recovered from errors since the machine was started, and none does now"
add_many 2 ib-default
grows 0 counter.port_rcv_packets=100
judge

situation healthy "" "a port that is down has no P_Keys, as it is expected"
add_many 4 ib
set_ 2/1 state=down phys_state=polling pkey.0= pkey.1= event=port-error
expectations "[$s-2]" 'State = down'
judge --expect "$work/expect.conf"

situation healthy "" "two lanes at NDR: one port of the switch for two hosts"
add ib2
judge

situation healthy "" "one lane of an Ethernet link"
add roce
set_ 0/1 active_width=1 active_speed=EDR netdev_speed=25000000000
judge --expect Ignore=slower

situation healthy "" "virtual functions that wait have no GUIDs"
add ib
for _ in 1 2; do
	add ib function=vf node_guid=0000:0000:0000:0000
done
for i in 1 2; do
	set_ $i/1 state=down phys_state=link-up lid=0 sm_lid=0 gid.0=fe80:0000:0000:0000:0000:0000:0000:0000 event=port-error
done
judge

situation healthy "" "a RoCE device has no node GUID, and two have the same"
add roce node_guid=0000:0000:0000:0000
add_many 2 roce node_guid=0002:c903:00aa:0001
judge

situation healthy "" "a port has the GUID of its device, and so has a plane of it"
add ib node_guid=0002:c903:00cc:0001
set_ 0/1 gid.0=fe80:0000:0000:0000:0002:c903:00cc:0001 event=gid-change
add ib dev_type=smi "parent=$s-0" node_guid=0002:c903:00cc:0001
judge --all

situation healthy "" "virtual functions that nobody uses are down"
add ib
add_many 3 ib function=vf
for i in 1 2 3; do
	set_ $i/1 state=down phys_state=disabled event=port-error
done
judge

situation healthy "" "a virtual function that was named is down, and that is ignored by function"
add ib function=vf
set_ 0/1 state=down phys_state=disabled event=port-error
expectations '[Function = vf]' 'Ignore = not-active'
judge --ports "$s-0/1" --expect "$work/expect.conf"

situation healthy "" "ports of one driver and protocol are down, and that is ignored"
add ib
add_many 2 iwarp
set_ 1/1 state=down phys_state=polling event=port-error
expectations '[Driver = cxgb4, Protocol = iwarp]' 'Ignore = not-active netdev-up'
judge --expect "$work/expect.conf"

situation healthy "" "the firmware is newer than expected"
add ib
judge --expect 'FirmwareVersion>=28.9'

situation healthy "" "the link of a virtual function goes with each container"
add ib function=vf
flap 0 6
judge

situation healthy "" "representors are down"
add roce
add_many 3 raw
judge

situation healthy "" "the second ports of all adapters have never been used"
add_many 4 unused
judge

situation healthy "" "four InfiniBand ports"
add_many 4 ib
judge

situation healthy "" "RoCE, iWARP, Omni-Path"
add roce
add iwarp
add opa
judge

situation healthy "" "a link went down and came back as it was"
add_many 4 ib
flap 2 1
judge

situation healthy "" "four link downs, --flap=5/1h"
add ib
flap 0 4
judge --flap=5/1h

situation healthy "" "a subnet manager takes over, and gives the subnet back"
add ib
managers 7 1
events 9 client-reregister
judge

situation healthy "" "rails that have never had more than link-local addresses"
add_many 2 rail-local
judge

situation healthy "" "a rail has another address than before"
add rail0
wait_for_ports "$s-*" 1
set_ 0/1 gid.0= gid.1=192.168.100.99 event=gid-change
wait_for 0 '.Gids[0].Address == "192.168.100.99"'
judge

situation healthy "" "the address of a rail went and is back"
add rail0
wait_for_ports "$s-*" 1
set_ 0/1 gid.0=fe80::1 event=gid-change
wait_for 0 '[.Gids[] | select(.Address == "192.168.100.17")] == []'
set_ 0/1 gid.2=192.168.100.17 event=gid-change
wait_for 0 '[.Gids[] | select(.Address == "192.168.100.17")] != []'
judge

situation healthy "" "the address of a rail went three times and is back, and other addresses come and go all the time"
add rail0
flap_address 3
for i in 1 2 3 4 5 6; do
	set_ 0/1 gid.3=192.168.100.20$i event=gid-change
	wait_for 0 "[.Gids[] | select(.Address == \"192.168.100.20$i\")] != []"
done
judge

situation healthy "" "the members of a bond stand by for each other, and its address has moved between them again and again"
add rail0
set_ 0/1 netdev_master=bond0 bond_mode=active-backup bond_member.70=ens0,active,25000000000 bond_member.71=ens1,backup,25000000000 event=link
flap_address 4
judge

situation healthy "" "a container with an address of its own on a rail is started again and again"
add rail0
wait_for_ports "$s-*" 1
for ((k = 0; k < 5; k++)); do
	set_ 0/1 '"gid.4=192.168.100.51 v2 namespace=other"' event=gid-change
	wait_for 0 '[.Gids[] | select(.Address == "192.168.100.51")] != []'
	set_ 0/1 gid.4= event=gid-change
	wait_for 0 '[.Gids[] | select(.Address == "192.168.100.51")] == []'
done
set_ 0/1 '"gid.4=192.168.100.51 v2 namespace=other"' event=gid-change
wait_for 0 '[.Gids[] | select(.Address == "192.168.100.51")] != []'
judge

situation healthy "" "an administrator has set the interface of a rail down and up six times, and its address went each time"
add rail0
for ((k = 1; k <= 6; k++)); do
	wait_for_ports "$s-*" "$ports"
	set_ 0/1 gid.0= gid.1=fe80::1 state=down phys_state=disabled netdev_up=no netdev_carrier=no netdev_operstate=down event=netdev event=gid-change event=port-error
	wait_for 0 '.Gids != [] and .State == "down" and [.Gids[] | select(.Address == "192.168.100.17")] == []'
	set_ 0/1 gid.0=192.168.100.17 state=active phys_state=link-up netdev_up=yes netdev_carrier=yes netdev_operstate=up event=netdev event=gid-change event=port-active
	wait_for 0 '.State == "active" and [.Gids[] | select(.Address == "192.168.100.17")] != []'
done
judge

situation healthy "" "six link downs, --flap=off"
add ib
flap 0 6
judge --flap=off

situation healthy "" "an unused port that is ignored"
add_many 4 ib
set_ 3/1 state=down phys_state=polling event=port-error
expectations "[$s-3]" 'Ignore = not-active'
judge --expect "$work/expect.conf"

situation healthy "" "a port that is expected to be down"
add_many 4 ib
set_ 3/1 state=down phys_state=polling event=port-error
expectations "[$s-3]" 'State = down'
judge --expect "$work/expect.conf"

situation healthy "" "two ports of six are slower than the others"
add_many 4 ib
add_many 2 ib2
judge

situation healthy "" "one port of three is slower: too few to say which is right"
add_many 2 ib
add ib2
judge

situation healthy "" "a link came back faster than it was"
add ib2
down 0
up 0 active_width=4
judge

situation healthy "" "a link came back slower, and that rate is expected"
add ib
down 0
up 0 active_width=2
judge --expect Rate=200G

situation healthy "" "a link came back slower, and that does not matter"
add ib
down 0
up 0 active_width=2
judge --expect Ignore=slower


situation healthy "" "an adapter that could do more than its PCIe slot"
add ib "${pcie[@]}" pcie_width=8 pcie_rate=252061538432 pcie_max_rate=252061538432
judge

situation healthy "" "an adapter below the PCI switch of two GPUs of four, and none below that of the others"
add ib accelerator.0000:c{0,1}:00.0=PIX,2,10de:2330 accelerator.0000:c{2,3}:00.0=SYS,3,10de:2330
judge --all

situation healthy "" "all GPUs are behind the processor, as in a virtual machine"
add_many 2 ib accelerator.0000:c{0,1,2,3}:00.0=PHB,2,10de:2330
judge --all

situation healthy "" "all health reporters are healthy"
add_many 2 ib reporter.fw=healthy,1,0 reporter.fw_fatal=healthy
judge

situation healthy "" "a recovery that does not matter"
add ib reporter.fw_fatal=healthy,2,2
judge --expect Ignore=health-recovered

situation healthy "" "a few PCIe errors that were corrected, and many long ago"
add ib "${aer[@]}"
add ib "${aer[@]}" aer_correctable=90210
wait_for_ports "$s-*" "$ports"
set_ 0 aer_correctable=60 event=device
wait_for_errors 0 60
judge

situation healthy "" "PCIe errors of another adapter below the same root port"
add ib "${aer[@]}" aer_root_nonfatal=3 aer_root_correctable=90210
judge

situation healthy "" "PCIe errors that do not matter"
add ib "${aer[@]}" aer_nonfatal=1
judge --expect Ignore=pcie-errors

situation healthy "" "a slow PCIe link that does not matter"
add ib "${pcie[@]}" pcie_width=8 pcie_rate=252061538432
judge --expect Ignore=pcie-slow

situation healthy "" "a virtual function has no PCIe link"
add ib "${pcie[@]}"
add ib function=vf function_number=0
judge

situation healthy "" "virtual functions with GUIDs, and without on Ethernet"
add ib
add roce
set_ 0/1 vf.0=node_guid=0002:c903:0000:0101,port_guid=0002:c903:0000:0102,trust=on event=netdev
set_ 1/1 vf.0=address=02:00:00:00:00:01,policy=enable event=netdev
judge

situation healthy "" "half of the ports have another MTU"
add_many 4 ib
set_ 2/1 active_mtu=2048 event=port-active
set_ 3/1 active_mtu=2048 event=port-active
judge

situation healthy "" "models of different speeds"
add_many 3 roce
add iwarp
add ib
judge

situation healthy "" "one adapter of another model, with another firmware"
add_many 3 ib
add ib board_id=MT_0000000999 fw_ver=28.39.1002
judge

situation healthy "" "the same model, one as Ethernet"
add_many 4 ib
add roce hca_type=MT4129 board_id=MT_0000000838 fw_ver=28.43.1014
judge

situation healthy "" "the second ports of all adapters are not used"
add_many 4 dual
for i in 0 1 2 3; do
	set_ $i/2 state=down phys_state=polling event=port-error
done
expectations "[*/2]" 'Ignore = not-active'
judge --expect "$work/expect.conf"

situation healthy "" "a port that is slower than its siblings for less than --settle"
add_many 3 ib
add ib2
settle=60 judge

situation healthy "" "a slower port whose rate is expected"
add ib2
add_many 3 ib
expectations "[$s-0]" 'Rate = 200G'
judge --expect "$work/expect.conf"

situation healthy "" "a port is active-defer"
add_many 2 ib
set_ 0/1 state=active-defer event=port-error
judge

situation healthy "" "Omni-Path and InfiniBand, with the prefix that both have by default"
add_many 2 ib
add opa
set_ 2/1 sm_lid=7 event=sm-change
judge

situation healthy "" "two subnets with different prefixes"
add_many 4 ib
set_ 2/1 sm_lid=7 subnet_prefix=fe80:0000:0000:0001 event=sm-change
set_ 3/1 sm_lid=7 subnet_prefix=fe80:0000:0000:0001 event=sm-change
judge

# The ports of HGX B200 to its switches have a subnet manager of their own, which calls its subnet as that of the fabric is called
situation healthy "" "the switches of NVLink are a subnet of their own with the default prefix, and that is ignored"
add_many 4 ib
set_ 2/1 sm_lid=7 event=sm-change
set_ 3/1 sm_lid=7 event=sm-change
expectations "[$s-2/1]" 'Ignore = same-prefix' "[$s-3/1]" 'Ignore = same-prefix'
judge --expect "$work/expect.conf"

situation healthy "" "functions of one adapter share a LID"
add_many 3 ib sys_image_guid=0002:c903:0000:0001
for i in 0 1 2; do
	set_ $i/1 lid=17 event=lid-change
done
judge

situation healthy "" "ranges of LIDs side by side"
add_many 2 ib
set_ 0/1 lid=16 lmc=3 event=lid-change
set_ 1/1 lid=24 lmc=3 event=lid-change
judge

situation healthy "" "a down port knows another subnet manager"
add_many 2 ib
set_ 1/1 state=down sm_lid=9 event=port-error
judge --expect Ignore=not-active

situation healthy "" "two rails in an IP subnet each"
add rail0
add rail1
FAKE_ADDRESSES="ens0=192.168.100.17/32 ens1=192.168.100.18/30"
judge

situation healthy "" "the same addresses, and nobody knows how large the subnet is"
add rail0
add rail1
judge

situation healthy "" "two rails in one IP subnet, and ARP is kept apart"
add rail0
add rail1
FAKE_ADDRESSES="ens0=192.168.100.17/24 ens1=192.168.100.18/24" FAKE_ARP=2
judge

situation healthy "" "two addresses of one interface in one IP subnet"
add more0
FAKE_ADDRESSES="ens0=192.168.100.17/24 ens0=192.168.100.19/24"
judge

situation healthy "" "two ports of a bond, which has one address"
add rail0
add bond1
FAKE_ADDRESSES="ens0=192.168.100.17/24"
judge

situation healthy "" "one leg of a bond stands by"
add roce
set_ 0/1 netdev_master=bond0 bond_mode=active-backup bond_member.70=ens0,active bond_member.71=ens1,backup event=link
judge

situation healthy "" "the switch says the MTU as its largest frame, and the same flow control"
add roce
set_ 0/1 netdev_mtu=9000 pfc_enabled=3 neighbor_source=lldpd neighbor=leaf-r07-a neighbor_frame=9000 neighbor_pfc=3 event=neighbor
judge

situation healthy "" "the switch says neither frames nor flow control"
add roce
set_ 0/1 netdev_mtu=9000 pfc_enabled=3 neighbor_source=lldpd neighbor=leaf-r07-a event=neighbor
judge --expect 'Neighbor=leaf-*'

situation healthy "" "a transceiver has enough light"
add roce
set_ 0/1 cable_present=yes cable_state=ready cable_rx_power_margin=101 cable_tx_power_margin=300 event=cable
judge

situation healthy "" "a cable is split, and the lanes of the other port have no light"
add roce
set_ 0/1 cable_present=yes cable_rx_power=700000,650000,0,100 cable_rx_power_critical=50000 cable_rx_power_margin=0 \
	cable_tx_power=700000,650000,0,0 cable_tx_power_critical=50000 cable_tx_power_margin=0 event=cable
judge

situation healthy "" "a lane has less than 1 dB, and less is expected"
add roce
set_ 0/1 cable_present=yes cable_rx_power_margin=90 event=cable
judge --ports "$s-0" --expect 'CableRxPowerMargin>=50'

situation healthy "" "a cable was exchanged, and the link is up"
add roce
for serial in MT2001 MT2002; do
	set_ 0/1 cable_present=yes cable_serial=$serial event=cable
	wait_until 0 CableSerialNumber "$serial"
done
judge

situation healthy "" "both legs of a bond carry"
add roce
set_ 0/1 netdev_master=bond0 bond_member.70=ens0 bond_member.71=ens1 event=link
judge

situation healthy "" "an MTU of 1024, as an interface of 1500 bytes allows"
add roce
set_ 0/1 netdev_mtu=1500 active_mtu=1024 event=link
judge

situation healthy "" "an MTU as large as the port can do"
add roce
set_ 0/1 max_mtu=2048 active_mtu=2048 event=link
judge

situation healthy "" "an old adapter at QDR"
add old
judge

situation healthy "" "everything that a file expects holds"
add_many 2 ib
add_many 2 roce
expectations 'State = active' 'symbol_error = 0' 'port_rcv_errors < 10' 'Stale = no' \
	"[$s-0]" 'Rate = 400G' 'Pkeys = 0x8012' 'hw_counter.out_of_buffer <= 0' "[$s-2]" 'Rate >= 100G' 'ActiveMtu = 1024' "[$s-*]" 'Ports = 4'
# RoCE ports have no counters of the port
sed -i '/symbol_error\|port_rcv/d' "$work/expect.conf"
judge --expect "$work/expect.conf"

situation healthy "" "traffic, and counters of errors that stay 0"
add_many 2 ib
wait_for_ports "$s-*" 2
"$RDMACTL" counters "$s-*" >/dev/null
judge --expect symbol_error=0 --expect 'port_xmit_packets>1'

situation healthy "" "a device was renamed"
add_many 4 ib
wait_for_ports "$s-*" 4
simulate "rename $s-3 $s-9"
judge
simulate "remove $s-9"

situation healthy "" "a query failed once"
add_many 2 ib
simulate "fail $s-1/1 EIO 1"
"$RDMACTL" query "$s-1/1" >/dev/null 2>&1 || true # if nobody has asked yet, this fails
wait_for 1 '.Stale == false'
judge

situation healthy "" "a plane of an adapter is down"
add ib
add ib dev_type=smi "parent=$s-0"
set_ 1/1 state=down phys_state=polling event=port-error
judge --all

situation healthy "" "counters are as high as they can be since the machine was started, and none grows"
add ib counter.link_downed=255 counter.port_xmit_discards=65535 counter.port_xmit_wait=4294967295 counter.excessive_buffer_overrun_errors=15
grows 0 counter.port_rcv_packets=100
judge

situation healthy "" "EFA: no GUIDs, no LID, an LMC, and a state that the driver does not measure"
add_many 2 efa
judge

situation healthy "" "an adapter for iWARP without a model, of whose four functions one is used, beside InfiniBand"
add iwarp driver=irdma hca_type= pci_address=0000:1a:00.0
for i in 1 2 3; do
	add iwarp-unused driver=irdma hca_type= pci_address=0000:1a:00.$i
done
add ib
judge --all

situation healthy "" "RoCE in software on an interface of 1 Gb/s"
add roce driver=rdma_rxe hca_type= board_id= fw_ver= sys_image_guid=0000:0000:0000:0000
set_ 0/1 active_width=1 active_speed=SDR netdev_speed=1000000000 netdev_mtu=1500 active_mtu=1024 autoneg=yes \
	supported_speeds=10M,100M,1G advertised_speeds=10M,100M,1G
judge --expect Ignore=slower

situation healthy "" "adapters with twelve ports, of which four carry data"
add_many 2 planes
ports=24
for i in 0 1; do
	for p in 3 6 9 12; do
		set_ "$i/$p" state=active phys_state=link-up netdev_carrier=yes netdev_operstate=up
	done
done
judge

situation healthy "" "InfiniBand without IP: its interfaces are down; the second ports of two Ethernet adapters were never used"
for i in 0 1 2 3; do
	add ib
	set_ $i/1 "\"netdev=ibp${i}s0 1$i\"" netdev_up=no event=netdev
done
for a in 1 2; do
	add roce pci_address=0000:a$a:00.0
	add roce-unused pci_address=0000:a$a:00.1
done
judge

situation healthy "" "a RoCE link went down once, and its address has come back at another index"
add rail0
down 0
set_ 0/1 gid.0= event=gid-change
wait_for 0 '.Gids == []'
set_ 0/1 state=active phys_state=link-up gid.5=192.168.100.17 event=port-active event=gid-change
wait_for_downs 0 1
wait_for 0 '[.Gids[] | select(.Address == "192.168.100.17")] != []'
judge

situation healthy "" "a link flapped while the fabric was built, and that was acknowledged"
add ib
flap 0 5
wait_published 0 flap
"$RDMACTL" acknowledge flap "$s-0/1" >/dev/null
judge

situation healthy "" "an adapter with a fault is away, and the one that has taken its place has another name"
add_many 2 ib
wait_for_ports "$s-*" 2
down 0
simulate "remove $s-0"
wait_for_ports "$s-*" 1
add ib
ports=2
judge

situation healthy "" "all GIDs are IPv6: a link-local one, and one that peers reach"
for i in 0 1 2 3; do
	add roce driver=bnxt_re hca_type=BCM57608 fw_ver=231.2.63.0
	set_ $i/1 gid.0= gid.1=fe80::$((i + 1)) gid.2= gid.3=fd93::$((i + 1)) event=gid-change
done
judge

situation healthy "" "two of four functions make a bond, and two have never been used"
for i in 0 1; do
	add rail0 driver=hns hca_type=HIP09 pci_address=0000:7d:00.$i
	set_ $i/1 netdev_master=bond0 bond_mode=802.3ad bond_member.70=ens0,active,25000000000 bond_member.71=ens1,active,25000000000 event=link
done
for i in 2 3; do
	add roce-unused driver=hns hca_type=HIP09 pci_address=0000:7d:00.$i
done
judge

situation healthy "" "the addresses of a port begin at index 6: others belong to pods"
add rail0
set_ 0/1 gid.0= gid.6=192.168.100.17 gid.8=fe80::1 '"gid.2=192.168.100.51 v2 namespace=other"' event=gid-change
judge

situation healthy "" "the subnet manager has given a port another LID"
add_many 2 ib
wait_for_ports "$s-*" 2
set_ 0/1 lid=44 event=lid-change
wait_for 0 '.Lid == 44'
judge

situation healthy "" "two ports have become one device, whose interface is a bond"
add rail0
add rail1
wait_for_ports "$s-*" 2
simulate "remove $s-0"
simulate "remove $s-1"
wait_for_ports "$s-*" 0
ports=0
add roce num_lag_ports=2
set_ 2/1 '"netdev=bond0 90"' netdev_master= bond=bond0 bond_mode=802.3ad bond_member.70=ens0,active,25000000000 bond_member.71=ens1,active,25000000000 event=link
judge

situation healthy "" "flow control is for priority 5 on all ports, as at their switch"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 pfc_enabled=5 priority_trust=dscp dscp_to_priority=0-58:0,59:5,60-63:0 neighbor_source=lldpd neighbor=leaf-$i neighbor_pfc=5 event=dcb event=neighbor
done
judge

situation healthy "" "a slower leg of a bond stands by"
add roce
set_ 0/1 netdev_master=bond0 bond_mode=active-backup bond_member.70=ens0,active,25000000000 bond_member.71=ens1,backup,10000000000 event=link
judge

situation healthy "" "an Ethernet port of 40 Gb/s beside three InfiniBand ports of the same model at HDR"
add_many 3 ib hca_type=MT4123 board_id=MT_0000000223 fw_ver=20.31.1014
for i in 0 1 2; do
	set_ $i/1 active_speed=HDR port_cap_flags2=raw:0x32
done
add roce hca_type=MT4123 board_id=MT_0000000223 fw_ver=20.31.1014
set_ 3/1 active_speed=QDR netdev_speed=40000000000
judge --expect Ignore=slower

situation healthy "" "a virtual function waits for a pod, with GUIDs, LID 65535 and a link that is up"
add ib
set_ 0/1 vf.0=node_guid=0002:c903:0000:0101,port_guid=0002:c903:0000:0102 event=netdev
add ib function=vf function_number=0
set_ 1/1 state=down phys_state=link-up lid=65535 event=port-error
judge

situation healthy "" "each cage of an adapter with four lanes in its slot is two functions in two PCI domains, and one cage is empty"
for d in 0000 0002; do
	add roce sys_image_guid=0002:c903:00e1:0001 "${pcie[@]}" pci_address=$d:01:00.0 pcie_width=4 pcie_rate=126030769152 pcie_max_rate=126030769152
	add roce-unused sys_image_guid=0002:c903:00e1:0001 "${pcie[@]}" pci_address=$d:01:00.1 pcie_width=4 pcie_rate=126030769152 pcie_max_rate=126030769152
done
judge

situation healthy "" "all ports are limited members of a partition, from the first boot on"
add_many 4 ib
for i in 0 1 2 3; do
	set_ $i/1 pkey.1=0x0123 event=pkey-change
done
for i in 0 1 2 3; do
	wait_for $i '[.Pkeys[].Pkey] == [65535, 291]'
done
judge --expect Ignore=lost-pkey

situation healthy "" "adapters of an early board: no GUID of the system, node GUIDs 0 and 1; the second ports were never used"
add unused hca_type=MT4115 board_id=MT_2190110032
add roce hca_type=MT4117 board_id=PEG0000000001 sys_image_guid=0000:0000:0000:0000 node_guid=0000:0000:0000:0000 pci_address=0000:17:00.0
add roce-unused hca_type=MT4117 board_id=PEG0000000001 sys_image_guid=0000:0000:0000:0000 node_guid=0000:0000:0000:0001 pci_address=0000:17:00.1
judge

situation healthy "" "a link went down once, as its counter says too"
add ib
wait_for_ports "$s-*" 1
set_ 0/1 counter.link_downed=0
"$RDMACTL" counters --save="$work/counters" "$s-*" >/dev/null
flap 0 1
set_ 0/1 counter.link_downed=1
judge --since="$work/counters"

situation healthy "" "the link of a virtual function went down with each container, as its counter says"
add ib function=vf
grow 0 counter.link_downed=6
judge --since="$work/counters"

situation healthy "" "buffers have overrun once, and the errors of a link were once too many"
add ib
grow 0 counter.excessive_buffer_overrun_errors=1 counter.local_link_integrity_errors=1
judge --since="$work/counters"

situation healthy "" "a bond that spreads by load has a slower member"
add roce
set_ 0/1 netdev_master=bond0 bond_mode=balance-tlb bond_member.70=ens0,active,25000000000 bond_member.71=ens1,active,10000000000 event=link
judge

situation healthy "" "no member of a bond has a speed, and of another only the one that stands by has none"
add_many 2 roce
set_ 0/1 netdev_master=bond0 bond_mode=802.3ad bond_member.70=ens0,active bond_member.71=ens1,active event=link
set_ 1/1 netdev_master=bond1 bond_mode=active-backup bond_member.72=ens2,active,25000000000 bond_member.73=ens3,backup event=link
judge

situation healthy "" "peers of an EFA adapter have gone"
add_many 2 efa
grows 0 hw_counter.impaired_remote_conn_events=0
grows 1 hw_counter.unresponsive_remote_events=900
judge

situation healthy "" "a device of InfiniBand is no endpoint: it has no tables, and its port is down"
add ib
add no-endpoint
judge

situation healthy "" "the physical function is a switch for its virtual ones: it is active, and has no GID table"
add raw
set_ 0/1 state=active phys_state=link-up event=port-active
add roce function=vf
judge

situation healthy "" "a guest has two virtual functions of one adapter, each with a LID of its own"
for i in 0 1; do
	add ib hca_type=MT4126 board_id=MT_0000000970 sys_image_guid=946d:ae03:00f0:0b6a node_guid=2dc3:190f:3d85:1c${i}0
	set_ $i/1 lid=$((1690 + i)) event=lid-change
done
judge

situation healthy "" "the switch has had errors on a link, and has no more of them"
add ib far_counter.symbol_error=60000 far_counter.port_rcv_errors=60000 far_counter.link_error_recovery=200
grows 0 far_counter.port_rcv_switch_relay_errors=900
judge

situation healthy "" "another monitor clears the counters of a port"
add ib counter.symbol_error=65535 counter.link_downed=255 counter.link_error_recovery=255
grow 0 counter.port_rcv_packets=90
set_ 0/1 counter.symbol_error=0 counter.link_downed=0 counter.link_error_recovery=0 counter.port_rcv_packets=1
judge --since="$work/counters"

situation healthy "" "a device was taken from PCI and found again, three times"
add_many 2 ib
for i in 1 2 3; do
	wait_for_ports "$s-*" 2
	simulate "remove $s-0"
	wait_for_ports "$s-*" 1
	simulate "add $s-0 from=ib"
done
judge

situation healthy "" "the MTUs of interfaces leave room for the largest headers, and not for more"
add_many 2 roce
set_ 0/1 netdev_mtu=4200 active_mtu=4096 event=link
set_ 1/1 netdev_mtu=2200 active_mtu=2048 event=link
judge

situation healthy "" "the interface of a port is in a VRF"
add roce
set_ 0/1 netdev_master=vrf1 event=link
judge

# Mooncake#2039 and DeepEP#60: an adapter on the board that nobody uses is set down; ROCm's exporter leaves such a port out (device-metrics-exporter#188)
situation healthy "" "an adapter of another model was never set up: the interfaces of its ports are set down"
add_many 4 ib
for i in 0 1; do
	add roce-unused driver=bnxt_re hca_type=BCM57414 pci_address=0000:19:00.$i
	set_ $((4 + i))/1 netdev_up=no event=link
done
judge

situation planted "not-active not-active" "the only adapter was never set up: the interfaces of its ports are set down"
for i in 0 1; do
	add roce-unused driver=bnxt_re hca_type=BCM57414 pci_address=0000:19:00.$i
	set_ $i/1 netdev_up=no event=link
done
judge

situation planted not-active "one rail of five was never set up: its interface is set down"
add_many 4 roce
add roce-unused
set_ 4/1 netdev_up=no event=link
judge

# ucx#11048: what drivers say of a link that is down
situation planted not-active "a RoCE port of four is down, and says an MTU, error correction and flow control that no other has"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 fec_mode=rs pfc_enabled=3 priority_trust=dscp event=link event=dcb
done
wait_until 3 FecMode rs PfcEnabled '[3]'
set_ 3/1 state=down phys_state=disabled fec_mode=none pfc_enabled=none active_mtu=1024 netdev_carrier=no netdev_operstate=down event=port-error event=link event=dcb
wait_until 3 FecMode none PfcEnabled '[]'
judge

# SONiC#1490: the speed and the cable say which error correction a link has
situation planted odd-one-out "one RoCE port of four has half the speed, and so other error correction"
add_many 3 roce
add roce2
for i in 0 1 2; do
	set_ $i/1 fec_mode=rs event=link
done
set_ 3/1 fec_mode=baser event=link
wait_until 3 FecMode baser
judge

situation planted odd-one-out "one RoCE port of four has other error correction, and the same cable"
add_many 4 roce
for i in 0 1 2; do
	set_ $i/1 fec_mode=rs event=link
done
set_ 3/1 fec_mode=none event=link
wait_until 3 FecMode none
judge

situation healthy "" "one RoCE port of four has another cable, and so other error correction"
add_many 4 roce
for i in 0 1 2; do
	set_ $i/1 fec_mode=rs cable_present=yes cable_part=MFA1A00-C010 event=cable event=link
done
set_ 3/1 cable_present=yes cable_part=MCP2M00-A001 event=cable
wait_until 3 CablePartNumber MCP2M00-A001
set_ 3/1 fec_mode=none event=link
wait_until 3 FecMode none
judge

# gpud#383: the adapters of 800 Gb/s in fabrics of 400
situation healthy "" "eight adapters can do XDR, and all have NDR; their switches are not heard"
add_many 8 ib hca_type=MT4131 fw_ver=40.45.1020
for i in {0..7}; do
	set_ $i/1 port_cap_flags2=raw:0xffff event=port-active
done
wait_for 7 '.Capabilities2 != null'
judge

situation healthy "" "four adapters offer 400 Gb/s, and all have 200; their switches are not heard"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 autoneg=yes supported_speeds=200G,400G advertised_speeds=200G,400G netdev_speed=200000000000 event=link
done
judge

situation planted "slow" "the link of an adapter with four virtual functions is at HDR instead of NDR"
add ib
for i in 0 1 2 3; do
	add ib function=vf function_number=$i
done
for i in 0 1 2 3 4; do
	set_ $i/1 active_speed=HDR event=port-active
done
judge --expect Ignore=slower

# hfi1 counts in it what the link has sent again (pma_get_opa_port_ectrs), which can be benign (Cornelis, CN5000, 7.4.2.5.2)
situation healthy "" "an Omni-Path link sends again by itself what was broken"
add opa
grow 0 counter.local_link_integrity_errors=5000
judge --since="$work/counters"

situation planted retraining "an Omni-Path link recovers from errors"
add opa
grow 0 counter.link_error_recovery=5
judge --since="$work/counters"

# NemoClaw#8520 and geerlingguy/sbc-reviews#92: each cage of the adapter is two functions
situation planted "not-active not-active" "the only cable of an adapter with two cages is out, each of which is two functions"
for d in 0000 0002; do
	add roce sys_image_guid=fc4c:ea03:00f9:4230 pci_address=$d:01:00.0
	add roce-unused sys_image_guid=fc4c:ea03:00f9:4230 pci_address=$d:01:00.1
done
wait_for_ports "$s-*" "$ports"
for i in 0 2; do
	set_ $i/1 state=down phys_state=polling netdev_carrier=no netdev_operstate=down event=port-error event=link
	wait_until $i State down
done
judge

# sriov-network-device-plugin#640: functions work while their physical one is set down
situation healthy "" "the interface of a physical function was never set up, and its virtual functions are used"
add roce-unused sys_image_guid=0002:c903:00e1:0001 pci_address=0000:41:00.0
set_ 0/1 netdev_up=no event=link
for i in 0 1; do
	add roce function=vf function_number=$i sys_image_guid=0002:c903:00e1:0001
done
judge

# azhpc-images#154: Accelerated Networking is no InfiniBand adapter that is too slow
situation healthy "" "a virtual machine has four InfiniBand adapters, and one of 40 Gb/s for Ethernet below an interface of the hypervisor"
add_many 4 ib hca_type=MT4126 board_id=MT_0000000010
add roce hca_type=MT4122 board_id=MSF0010110035 fw_ver=16.30.1284
set_ 4/1 active_speed=QDR netdev_master=eth0 netdev_mtu=1500 active_mtu=1024 gid.3= netdev_speed=40000000000 event=link event=gid-change
judge --expect Ignore=slower

# NVSentinel#1361: a front-end adapter with one port that is provisioned
situation healthy "" "eight rails with one port each, and an adapter for the front end whose second port is set down"
add_many 8 roce
add roce hca_type=MT4125 board_id=ORC0000000007 fw_ver=22.36.1010 pci_address=0000:1f:00.0
add roce-unused hca_type=MT4125 board_id=ORC0000000007 fw_ver=22.36.1010 pci_address=0000:1f:00.1
set_ 9/1 netdev_up=no event=link
judge

# network-operator#1646
situation planted not-active "the virtual function of a pod is init with LID 65535, and its node has no GUID"
add ib
add ib function=vf function_number=0 node_guid=0000:0000:0000:0000
set_ 1/1 state=init lid=65535 sm_lid=4 event=port-error
judge --ports "$s-1/1"

# ucx#5970: who looks at the first function does not know the second one yet
situation planted "pcie-slow not-active" "one function of an adapter in half of a slot is init, and the other, which came first, has no cable"
add ib-unused hca_type=MT4119 board_id= sys_image_guid=98f2:b3ff:ffd2:d4e0 pci_address=000a:11:00.0 "${pcie[@]}" pcie_width=8 pcie_rate=252061538432
wait_for_ports "$s-*" 1
add ib hca_type=MT4119 board_id= sys_image_guid=98f2:b3ff:ffd2:d4e0 pci_address=000a:11:00.1 "${pcie[@]}" pcie_width=8 pcie_rate=252061538432
set_ 1/1 active_speed=EDR port_cap_flags2=raw:0 state=init lid=0 sm_lid=0 event=port-error
judge

# 3FS#183: Linux gives the GIDs of a bond to the member that carries
situation healthy "" "the member of a bond that stands by has no GID"
add rail0
add rail-none
for i in 0 1; do
	set_ $i/1 netdev_master=bond0 bond_mode=active-backup bond_member.70=ens0,active,25000000000 bond_member.71=ens1,backup,25000000000 event=link
done
judge

situation healthy "" "a bond has failed over, and the member that stands by now has link-local GIDs only"
add rail0
wait_for_ports "$s-*" "$ports"
set_ 0/1 netdev_master=bond0 bond_mode=active-backup bond_member.70=ens0,backup,25000000000 bond_member.71=ens1,active,25000000000 gid.0= gid.1=fe80::1 event=link event=gid-change
wait_for 0 '.Gids[0].Address == "fe80::1"'
judge

situation planted no-gid "the member of a bond that carries has no GID"
add rail0
add rail-none
for i in 0 1; do
	set_ $i/1 netdev_master=bond0 bond_mode=active-backup bond_member.70=ens0,backup,25000000000 bond_member.71=ens1,active,25000000000 event=link
done
judge

# k8s-rdma-shared-dev-plugin#119 and #297: macvlan on rails of which the host has no address
situation healthy "" "containers with an address come and go on a rail without an address of its own"
add rail-local
wait_for_ports "$s-*" "$ports"
for k in 1 2 3 4 5; do
	set_ 0/1 '"gid.4=192.168.2.51 v2 namespace=other"' event=gid-change
	wait_for 0 '[.Gids[] | select(.Address == "192.168.2.51")] != []'
	set_ 0/1 gid.4= event=gid-change
	wait_for 0 '[.Gids[] | select(.Address == "192.168.2.51")] == []'
done
judge

# doca-platform#14 and dranet#56: Linux sets an interface down when it moves it
situation healthy "" "the interface of a rail goes into a container and comes back, three times"
add rail0
for k in 1 2 3; do
	wait_for_ports "$s-*" "$ports"
	set_ 0/1 netdev= '"gid.0=192.168.100.17 v2 namespace=other"' state=down phys_state=disabled event=port-error event=netdev event=gid-change
	wait_until 0 State down
	wait_for 0 '(.Netdev // "") == ""'
	set_ 0/1 state=active phys_state=link-up event=port-active
	wait_until 0 State active
	set_ 0/1 '"netdev=ens0 70"' '"gid.0=192.168.100.17 v2"' state=down phys_state=disabled event=port-error event=netdev event=gid-change
	wait_until 0 State down
	wait_for 0 '.Netdev == "ens0"'
	set_ 0/1 state=active phys_state=link-up event=port-active
	wait_until 0 State active
done
judge

# docs.amd.com, pg332, and forums.developer.nvidia.com, 364755
situation planted loss "an Ethernet link breaks frames"
add roce
grows 0 ethtool_counter.rx_crc_errors_phy=5000
wait_published 0 loss
judge

situation planted loss "an adapter has no room for what it receives"
add roce
grows 0 ethtool_counter.rx_discards_phy=5000
wait_published 0 loss
judge

# rocm-systems#5016
situation planted loss "an adapter drops RoCE packets that are larger than its MTU"
add roce driver=ionic
grows 0 hw_counter.rx_rdma_mtu_discard_pkts=5000
wait_published 0 loss
judge

# dell.com, 000286734
situation healthy "" "FEC corrects as many bits as it has to, a program has no buffers for Ethernet, and frames were broken long ago"
add roce ethtool_counter.rx_err_lane_0_phy=+9000 ethtool_counter.rx_out_of_buffer=+9000 ethtool_counter.rx_discards_phy=7 ethtool_counter.rx_crc_errors_phy=3
grows 0 ethtool_counter.rx_corrected_bits_phy=100000
judge

# The fabrics of NVIDIA's SuperPOD; infra-controller#4762
situation healthy "" "a fifth adapter of the model is in the subnet of the storage, with other partitions and another MTU"
add_many 4 ib
add ib-default
set_ 4/1 subnet_prefix=fe80:0000:0000:0002 lid=77 active_mtu=2048 event=sm-change event=lid-change event=port-active
judge

situation healthy "" "that of the storage has the default prefix too, which is ignored"
add_many 4 ib
add ib-default
set_ 4/1 sm_lid=9 lid=77 active_mtu=2048 event=sm-change event=lid-change event=port-active
judge --expect Ignore=same-prefix

# NVSentinel#1526: a port that has never come up, and no other of its kind
situation healthy "" "an adapter of another model has no cable, and NetworkManager has set its interfaces up"
add_many 4 ib
for i in 0 1; do
	add roce-unused driver=bnxt_re hca_type=BCM57414 pci_address=0000:19:00.$i
	set_ $((4 + i))/1 gid.0=fe80::1 gid.1= gid.2= gid.3= event=gid-change
done
judge

# node_exporter#966
situation healthy "" "none of four ports for iWARP on the board has a cable, and their interfaces are set up, beside InfiniBand"
add_many 2 ib
for i in 0 1 2 3; do
	add iwarp-unused driver=i40iw hca_type= pci_address=0000:09:00.$i
done
judge

situation planted not-active "an adapter of another model has an address and never had a link"
add_many 4 ib
add roce-unused driver=bnxt_re hca_type=BCM57414 pci_address=0000:19:00.0
judge

situation planted not-active "an adapter of another model is in a bond and never had a link"
add_many 4 ib
add roce-unused driver=bnxt_re hca_type=BCM57414 pci_address=0000:19:00.0
set_ 4/1 gid.0=fe80::1 gid.1= gid.2= gid.3= netdev_master=bond0 event=gid-change event=link
judge

# rocm-systems#11138: hfi1 gives each adapter of the machine the GUID of the first
situation planted not-active "one of four Omni-Path adapters, which have one GUID of the system, has never come up"
for i in 1 2 3; do
	add opa sys_image_guid=0011:7501:0100:0001 pci_address=0000:${i}1:00.0
done
add opa-unused sys_image_guid=0011:7501:0100:0001 pci_address=0000:41:00.0
judge

situation planted same-prefix "two Omni-Path adapters, which have one GUID of the system, are in two fabrics whose LIDs meet"
for i in 0 1; do
	add opa sys_image_guid=0011:7501:0100:0001 pci_address=0000:${i}1:00.0
	set_ $i/1 lid=17 event=lid-change
done
judge

situation healthy "" "the first ports of four Omni-Path adapters with two have never been used"
for i in 1 2 3 4; do
	add opa-dual sys_image_guid=0011:7501:0100:0001 pci_address=0000:${i}1:00.0
done
ports=8
judge

# Mooncake#3596: mlx5 counts by ethtool how often the link of Ethernet went down
situation planted retraining "an Ethernet link went down again and again by its counter, and nobody has seen it"
add_many 2 roce
grows 0 ethtool_counter.link_down_events_phy=0
grows 1 ethtool_counter.link_down_events_phy=2
wait_published 1 retraining
judge

# STATE: two rails are in one bond, and the second one is so
bond() {
	local i
	add rail0
	add rail1
	for i in 0 1; do
		set_ $i/1 netdev_master=bond0 bond_mode=802.3ad '"gid.0=192.168.100.17 v2 bond0 80"' bond_member.70=ens0,active,100000000000 \
			"bond_member.71=ens1,$1,100000000000" event=link event=gid-change
	done
}

# lshca#77
situation healthy "" "two ports of two adapters make a bond, which has one address"
bond active
judge

situation planted bond-member "the switch does not answer on one of two ports that make a bond"
bond backup
judge
[[ $(<"$work/verdict") == "$s-1/1 bond-member warning" ]] || fail "$title: $(<"$work/verdict")"

situation planted "not-active bond-member" "the cable of one of two ports that make a bond is out"
bond active
wait_for_ports "$s-*" 2
bond_down=(bond_member.70=ens0,active,100000000000 bond_member.71=ens1,down event=link)
set_ 0/1 "${bond_down[@]}"
set_ 1/1 "${bond_down[@]}" state=down phys_state=disabled netdev_carrier=no netdev_operstate=down gid.0= event=port-error event=gid-change
wait_until 1 State down
judge

# stackhpc-kayobe-config#1044: NetworkManager leaves out a member that is down at boot
situation planted bond-member "a bond has one member only, and the other port of the adapter is in none"
add roce sys_image_guid=0002:c903:00e3:0001
add rail-local sys_image_guid=0002:c903:00e3:0001
set_ 0/1 netdev_master=bond0 bond_mode=802.3ad bond_member.70=ens0,active,200000000000 event=link
judge

situation healthy "" "a bond has one member only, and each adapter one port"
add_many 2 roce
set_ 0/1 netdev_master=bond0 bond_mode=802.3ad bond_member.70=ens0,active,200000000000 event=link
judge

# nbs#5195, scalablefunctions#2
situation healthy "" "the link of a physical function that is a switch, and its representors, are ports of one device"
add uplink
ports=3
judge

situation planted not-active "the cable of a physical function that is a switch is out, and with it all virtual functions"
add uplink sys_image_guid=0002:c903:00e2:0001 pci_address=0000:41:00.0
ports=3
for i in 1 2; do
	add roce function=vf function_number=$i sys_image_guid=0002:c903:00e2:0001 pci_address=0000:41:00.$i
done
wait_for_ports "$s-*" "$ports"
for p in 0/1 0/2 1/1 2/1; do
	set_ $p state=down phys_state=disabled netdev_carrier=no netdev_operstate=down event=port-error event=link
done
wait_until 0 State down
wait_until 2 State down
judge

# rdma-core#482: a physical function has the P_Keys of its virtual ones too
situation healthy "" "the P_Key of a virtual function goes with its pod, and that of another port stays"
add_many 2 ib
for i in 0 1; do
	set_ $i/1 vf.0=node_guid=0002:c903:0000:0${i}01,port_guid=0002:c903:0000:0${i}02 event=netdev
	wait_for $i '.VirtualFunctions != []'
done
set_ 0/1 pkey.1= event=pkey-change
wait_for 0 '[.Pkeys[].Pkey] == [65535]'
judge

# infra-controller#3531. FIRST...: these of four ports get the P_Key of another tenant
next_tenant() {
	local i
	add_many 4 ib
	wait_for_ports "$s-*" 4
	for i in "$@"; do
		set_ "$i/1" pkey.1=0x8013 event=pkey-change
		wait_for "$i" '[.Pkeys[].Pkey] == [65535, 32787]'
	done
}

situation healthy "" "all ports have got the P_Key of another tenant, one after the other"
next_tenant 0 1 2 3
judge

situation planted odd-one-out "one port of four has not got the P_Key of another tenant"
next_tenant 0 1 2
judge

situation planted odd-one-out "one rail of four has lost its IPv4 address, and peers reach it by IPv6"
rails rail0 gid.0=192.168.100.20
for i in 0 1 2 3; do
	set_ $i/1 gid.1=fd93::1$i event=gid-change
	wait_for $i '.Gids | length == 2'
done
set_ 3/1 gid.0= event=gid-change
wait_for 3 '.Gids | length == 1'
judge

# amzn-drivers#114
situation healthy "" "EFA, of an older driver which says that the port is active"
add_many 2 efa
for i in 0 1; do
	set_ $i/1 state=active phys_state=link-up lid=0 event=port-active
	wait_until $i State active
done
judge

situation healthy "" "one port of an adapter is InfiniBand, and the other one Ethernet"
add vpi
ports=2
judge

# NVSentinel PR#752: the link of a function is that of its adapter, and how it is used is a matter of who has it
situation planted slow "the link of an adapter with two virtual functions is at HDR instead of NDR, since it came back"
add ib
add_many 2 ib function=vf
wait_for_ports "$s-*" "$ports"
for i in 0 1 2; do
	set_ $i/1 active_speed=HDR event=port-active
	wait_until $i LinkSpeed HDR
done
judge

situation healthy "" "virtual functions have P_Keys, an MTU, a limit of their rate and an address as their tenants want them"
add_many 3 ib function=vf
add ib-default function=vf
add_many 2 rail0 function=vf
add rail-same function=vf
add rail-local function=vf
set_ 4/1 active_mtu=1024 active_speed=EDR event=link event=port-active
wait_until 4 ActiveMtu 1024
judge

situation healthy "" "all rails have IPv6 addresses, and one has IPv4 too"
rails rail0 gid.0=192.168.100.20 gid.1=fd93::3
for i in 0 1 2; do
	set_ $i/1 gid.0=fd93::1$i event=gid-change
	wait_for $i '[.Gids[].Address] == ["fd93::1'$i'"]'
done
judge

situation planted flap "the link of a physical function that is a switch, and has a virtual one, went down twice"
add uplink sys_image_guid=0002:c903:00e2:0001 pci_address=0000:41:00.0
ports=3
add roce function=vf function_number=1 sys_image_guid=0002:c903:00e2:0001 pci_address=0000:41:00.1
flap 0 2
judge

# nasty#602: the administrator has fixed 40 Gb/s on a ConnectX-3 of 56
situation healthy "" "a speed is forced, without autonegotiation, and all speeds are still offered"
add roce25
set_ 0/1 autoneg=no event=link
wait_for 0 '.AutoNegotiation == false'
judge

# SuperPOD: four of eight at the switches of the storage
situation healthy "" "four adapters of eight are at switches that can do HDR only, and are not heard"
add_many 8 ib
for i in 4 5 6 7; do
	set_ $i/1 active_speed=HDR event=port-active
done
judge --expect Ignore=slower

situation healthy "" "five RoCE adapters of nine have half the speed: their switches are not heard"
add_many 9 roce
for i in 0 1 2 3 4; do
	set_ $i/1 active_speed=EDR netdev_speed=100000000000 advertised_speeds=100G,200G event=link
done
judge --expect Ignore=slower

# infra-controller PR#5287: memberships of a tenant that has left
situation planted "odd-one-out odd-one-out" "two ports of eight have still the P_Key of the last tenant, and not that of the next one"
add_many 8 ib
wait_for_ports "$s-*" 8
for i in 0 1 2 3 4 5; do
	set_ "$i/1" pkey.1=0x8013 event=pkey-change
	wait_for "$i" '[.Pkeys[].Pkey] == [65535, 32787]'
done
judge

situation healthy "" "two ports of eight are in other partitions, from the first boot on"
add_many 6 ib
add_many 2 ib-default
judge

# spiderpool PR#5795, OpenNebula#7926: frames that the physical function does not take
situation planted small-mtu "virtual functions have a larger MTU than their physical one"
add rail0 sys_image_guid=0002:c903:00e2:0001 pci_address=0000:41:00.0
set_ 0/1 netdev_mtu=1500 active_mtu=1024 vf.1=address=02:00:00:00:00:01 vf.2=address=02:00:00:00:00:02 event=link event=netdev
for i in 1 2; do
	add rail1 function=vf function_number=$i physical_function=0000:41:00.0 sys_image_guid=0002:c903:00e2:0001 pci_address=0000:41:00.$i
	set_ $i/1 "\"netdev=ens1v$i 8$i\"" gid.0=192.168.100.4$i event=link event=gid-change
done
judge

# ucx#11048: each function of a bnxt adapter has a GUID of the system of its own
situation healthy "" "the second function of the only bnxt adapter has no cable, and another GUID of the system"
add roce driver=bnxt_re hca_type=BCM57508 sys_image_guid=8e84:74ff:fe1f:2550 pci_address=0000:c2:00.0
add roce-unused driver=bnxt_re hca_type=BCM57508 sys_image_guid=8e84:74ff:fe1f:2551 pci_address=0000:c2:00.1
judge

# sriov-cni#348
situation healthy "" "the second functions of two bnxt adapters have no cable, and each function a GUID of the system"
for i in 1 2; do
	add roce driver=bnxt_re hca_type=BCM57508 sys_image_guid=8e84:74ff:fe1f:25${i}0 pci_address=0000:${i}1:00.0
	add roce-unused driver=bnxt_re hca_type=BCM57508 sys_image_guid=8e84:74ff:fe1f:25${i}1 pci_address=0000:${i}1:00.1
done
judge

# infra-controller#3624: LINK_TYPE_P1 of one adapter was wrong
situation planted not-active "a port for Ethernet was set to InfiniBand, beside eight rails"
add_many 8 ib
add ib-unused hca_type=MT4123 board_id=MT_0000000224
judge

# xcat-core#4244, wicked#840
ib_bond() {
	local i
	add_many 2 ib
	for i in 0 1; do
		set_ $i/1 "\"netdev=ib$i 7$i\"" netdev_master=bond0 bond=bond0 bond_mode=active-backup bond_member.70=ib0,active,400000000000 "bond_member.71=ib1,$1" event=link event=netdev
	done
}
situation healthy "" "two interfaces of IPoIB make a bond, and one stands by"
ib_bond backup,400000000000
judge

situation planted not-active "the cable of one of two InfiniBand ports whose IPoIB makes a bond is out"
ib_bond backup,400000000000
wait_for_ports "$s-*" 2
set_ 0/1 bond_member.71=ib1,down event=link
set_ 1/1 bond_member.71=ib1,down state=down phys_state=polling netdev_operstate=down event=port-error event=link
wait_until 1 State down
judge

# sichek PR#98: eight CX8 with four data ports of twelve
situation planted not-active "one of the four data ports of one of four adapters with planes has never come up"
add_many 4 planes
ports=48
for i in 0 1 2 3; do
	for p in 3 6 9 12; do
		[[ $i/$p == 2/6 ]] || set_ "$i/$p" state=active phys_state=link-up netdev_carrier=yes netdev_operstate=up
	done
done
judge

# ompi#180
situation planted not-active "one port of an adapter is InfiniBand, and the Ethernet one has lost its link"
add vpi
ports=2
wait_for_ports "$s-*" 2
set_ 0/2 state=down phys_state=disabled netdev_carrier=no netdev_operstate=down event=port-error
judge

# aws-do-eks PR#63: HyperPod with B200
situation healthy "" "eight EFA adapters, and two ports to the switches of NVLink"
add_many 8 efa
add_many 2 ib-default hca_type=MT4129 board_id=NVD0000000054
judge

# azurehpc-health-checks#152
situation healthy "" "eight ports are full members of the partition of their tenant, and limited ones of the default one"
add_many 8 ib-tenant
judge

situation planted odd-one-out "one port of eight is in no partition but the default one, as a limited member"
add_many 7 ib-tenant
add ib-limited
judge

# netdev 225245: net/mlx5e: expose PFC stall prevention counters
situation planted pause-storm "an adapter has stalled, and has stopped to pause its switch"
add_many 2 roce
grows 0 ethtool_counter.tx_pause_storm_error_events=0
grows 1 ethtool_counter.tx_pause_storm_error_events=1
wait_published 1 pause-storm
judge

# linux 827a8cb2dd2b: net/mlx5e: add discard counters per priority
situation planted loss "an adapter has no room for what it receives of one priority"
add roce
grows 0 ethtool_counter.rx_prio3_discards=500
wait_published 0 loss
judge

# rxe_hw_counters.c
situation planted loss "RoCE in software has given up connections, because nothing was acknowledged"
add roce driver=rdma_rxe hca_type=
grows 0 hw_counter.retry_exceeded_err=500
wait_published 0 loss
judge

# docs.nvidia.com, understanding mlx5 counters: duplicate_request
situation planted loss "an adapter gets requests a second time"
add roce
grows 0 hw_counter.duplicate_request=500
wait_published 0 loss
judge

# docs.cornelis.com, CN5000, 7.4.1.3.3
situation planted few-lanes "an Omni-Path link of 400 Gb/s has dropped two lanes"
add opa driver=hfi2
set_ 0/1 active_speed=NDR active_width=2
judge --expect Ignore=slower

situation planted not-active "one of four adapters of hfi2, which have one GUID of the system, has never come up"
for i in 1 2 3; do
	add opa driver=hfi2 sys_image_guid=0011:7501:0200:0001 pci_address=0000:${i}1:00.0
done
add opa-unused driver=hfi2 sys_image_guid=0011:7501:0200:0001 pci_address=0000:41:00.0
judge

# DeepEP#137: eight mlx5_bond
lags() {
	local i
	for i in 0 1 2 3; do
		add roce num_lag_ports=2
		set_ $i/1 "\"netdev=bond$i 9$i\"" netdev_master= "bond=bond$i" bond_mode=802.3ad "bond_member.7$i=ens${i}f0,active,200000000000" "bond_member.8$i=ens${i}f1,active,200000000000" event=link
	done
}
situation healthy "" "four devices are the LAG of two ports each"
lags
judge

situation planted bond-member "one of four devices that are LAGs has lost a leg"
lags
wait_for_ports "$s-*" 4
set_ 2/1 bond_member.82=ens2f1,down event=link
judge

# storage networks with a VLAN on each rail
vlan_rails() {
	local i
	add_many 4 rail-vlan
	for i in 0 1 2 3; do
		set_ $i/1 "\"netdev=ens$i 7$i\"" "\"gid.0=fe80::$i v2\"" "\"gid.1=192.168.10$i.17 v2 ens$i.66 9$i vlan=66\"" event=gid-change event=netdev
	done
}
situation healthy "" "the addresses of four rails are those of VLANs"
vlan_rails
judge

situation planted odd-one-out "one rail of four has no VLAN, and so no address"
vlan_rails
set_ 3/1 gid.1= event=gid-change
judge --expect Ignore=no-address

# harvester PR#11480
situation healthy "" "two ports are in bridges, which have the addresses"
add_many 2 rail-local
for i in 0 1; do
	set_ $i/1 "\"netdev=ens$i 7$i\"" netdev_master=br$i event=link event=netdev
done
judge

situation healthy "" "two ports are in a team, which has one address"
add rail0
add rail1
for i in 0 1; do
	set_ $i/1 netdev_master=team0 '"gid.0=192.168.100.17 v2 team0 80"' event=link event=gid-change
done
judge

# mori PR#386: the DSCP of RoCE has to be mapped to the priority with flow control
qos() {
	local i
	add_many 4 roce
	for i in 0 1 2 3; do
		set_ $i/1 pfc_enabled=3 priority_trust=dscp dscp_to_priority=26:3,48:6 event=dcb
	done
}
situation planted odd-one-out "one port of four gives the DSCP of RoCE another priority"
qos
set_ 2/1 dscp_to_priority=26:0,48:6 event=dcb
judge

situation healthy "" "all ports give the DSCP of RoCE the priority that has flow control"
qos
judge

situation planted unused-pfc "no DSCP has the priority for which there is flow control"
add roce
set_ 0/1 pfc_enabled=3 priority_trust=dscp dscp_to_priority=0-63:0 event=dcb
judge

situation planted unused-pfc "one port of four trusts the VLAN tag only, has flow control (PFC) and no VLAN"
qos
set_ 1/1 priority_trust=pcp event=dcb
judge

# uccl PR#803: Thor-2 with ULA addresses
situation planted no-address "a rail has lost its only address, which is IPv6"
rails rail0 gid.0=fd93::3
for i in 0 1 2; do
	set_ $i/1 gid.0=fd93::1$i event=gid-change
	wait_for $i '[.Gids[].Address] == ["fd93::1'$i'"]'
done
wait_for 3 '[.Gids[].Address] == ["fd93::3"]'
set_ 3/1 gid.0=fe80::1 event=gid-change
wait_for 3 '[.Gids[].Address] == ["fe80::1"]'
judge

# rdma-core PR#569
situation healthy "" "iWARP in software on the loopback interface and on a dummy"
add iwarp driver=siw hca_type=
set_ 0/1 '"netdev=lo 1"' netdev_mtu=65536 netdev_operstate=unknown netdev_speed= event=netdev event=link
add iwarp driver=siw hca_type=
set_ 1/1 '"netdev=dummy0 9"' netdev_mtu=1500 netdev_operstate=unknown netdev_speed= event=netdev event=link
judge

situation planted not-active "RoCE in software, alone on its machine, is on an interface that is set down"
add roce-unused driver=rdma_rxe hca_type=
set_ 0/1 netdev_up=no event=link
judge

situation healthy "" "RoCE in software on an interface without a cable, beside four rails"
add_many 4 ib
add roce-unused driver=rdma_rxe hca_type= board_id= fw_ver=
set_ 4/1 gid.0=fe80::1 gid.1= gid.2= gid.3= event=gid-change
judge

# advancedclustering.com: the subnet manager runs on this machine
situation healthy "" "two machines are connected to each other, and the subnet manager is here"
add unused
set_ 0/1 lid=1 sm_lid=1 event=lid-change event=sm-change
judge

# rdma-core PR#847, ompi: both links of a dual adapter, of which one goes to a second fabric
situation planted same-prefix "the second port of an adapter is in another fabric with the same prefix"
add dual
ports=2
set_ 0/1 lid=1 sm_lid=1 event=lid-change
set_ 0/2 lid=3 sm_lid=9 event=lid-change event=sm-change
judge

situation planted few-lanes "one link of four has one lane since the first boot"
add_many 4 ib
set_ 1/1 active_width=1
judge --expect Ignore=slower

situation planted module "a module says that it has a fault, and its port has no link"
add_many 2 roce
set_ 0/1 cable_present=yes cable_state=fault event=cable
set_ 0/1 state=down phys_state=disabled netdev_carrier=no netdev_operstate=down event=port-error
judge --expect Ignore=not-active

# NVSentinel PR#1526: link up and clean counters, and the driver cannot command the firmware
situation planted health-error "an adapter does not take commands any more, as its driver reports, and its link is up"
add_many 2 ib reporter.fw=healthy reporter.fw_fatal=healthy
wait_for_ports "$s-*" 2
set_ 1 reporter.fw_fatal=error,1,0 event=devlink
judge

# NVSentinel#1529: the counters of the default route's adapter
situation healthy "" "the adapter of the default route, an older model, went down once by its counter"
add_many 8 roce
add roce hca_type=MT4125 board_id=ORC0000000007 fw_ver=22.36.1010
grow 8 ethtool_counter.link_down_events_phy=1
judge --since="$work/counters"

# cluster-toolkit PR#5917
situation healthy "" "a machine is idle: no counter grows"
add_many 2 roce
grows 0 hw_counter.rx_read_requests=0
judge

# ROCm/mori: each Thor 2 is at a switch port of its own, one at half of its speed
situation planted odd-one-out "one Thor 2 of eight has half the speed"
add_many 8 roce driver=bnxt_re hca_type=BCM57608
set_ 6/1 active_speed=EDR netdev_speed=100000000000 event=link
judge --expect Ignore=slower

# mlnx-tools PR#157: Socket Direct, one cage of which both functions have the link
situation planted "not-active not-active" "the only cage of a Socket Direct adapter has lost its link"
for d in 0002 0006; do
	add roce sys_image_guid=fc4c:ea03:00f9:4230 pci_address=$d:01:00.0
done
wait_for_ports "$s-*" 2
for i in 0 1; do
	set_ $i/1 state=down phys_state=disabled netdev_carrier=no netdev_operstate=down event=port-error event=link
	wait_until $i State down
done
judge

# doca-platform, dpu mode: the host's ports go with the Arm
situation planted flap "the Arm of a DPU was restarted twice, and with it went the link of its host"
add roce hca_type=MT41692
flap 0 2
judge

# NV-Kernels PR#358 and rdma-cni#25
situation healthy "" "virtual functions come and go with pods, and the physical one stays"
add rail0 sys_image_guid=0002:c903:00e2:0001 pci_address=0000:41:00.0
for k in 1 2 3; do
	wait_for_ports "$s-*" "$ports"
	simulate "add $s-vf from=rail1 function=vf function_number=1 sys_image_guid=0002:c903:00e2:0001 pci_address=0000:41:00.1"
	wait_for_ports "$s-*" 2
	simulate "remove $s-vf"
	wait_for_ports "$s-*" 1
done
judge

# dranet#177: exclusive mode
situation healthy "" "four ports of one cage that was split have 25 of 100 Gb/s, which is expected"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 active_width=1 active_speed=EDR netdev_speed=25000000000 advertised_speeds=25G,50G,100G event=link
done
judge --expect Ignore=slower --expect NetdevSpeed=25G

# clustervision/trinity#219
situation healthy "" "a rail was away once, and has its address at another index"
rails rail0 gid.0=192.168.100.20
wait_for_ports "$s-*" 4
wait_for 3 '.Gids[0].Address == "192.168.100.20"'
set_ 3/1 state=down phys_state=disabled netdev_carrier=no gid.0= event=port-error event=gid-change
wait_until 3 State down
set_ 3/1 state=active phys_state=link-up netdev_carrier=yes gid.2=192.168.100.20 event=port-active event=gid-change
wait_until 3 State active
judge

# gpud PR#989: eight of twelve are enough
situation healthy "" "four ports of twelve are down, and are expected to be"
add_many 12 ib
for i in 8 9 10 11; do
	set_ $i/1 state=down phys_state=polling event=port-error
done
expectations "[$s-8]" 'State = down' "[$s-9]" 'State = down' "[$s-10]" 'State = down' "[$s-11]" 'State = down'
judge --expect "$work/expect.conf"

# weka/tools PR#451
situation healthy "" "rails without any address carry RDMA only, beside an adapter for Ethernet with one"
add_many 2 ib
for i in 0 1; do
	set_ $i/1 netdev= event=netdev
done
add rail0 hca_type=MT4125 board_id=MT_0000000436
judge

# openshift-docs PR#96176: functions that no pod has, without any GID
situation healthy "" "functions that wait have no GID, no link and no interface"
add roce
for i in 1 2; do
	add rail-none function=vf function_number=$i
	set_ $i/1 netdev= state=down phys_state=disabled event=port-error event=netdev
done
judge

# oci-hpc: a shape whose rails are 16 ports of 8 adapters
situation planted "not-active not-active" "both functions of one of eight adapters have no link"
for i in 0 1 2 3 4 5 6 7; do
	for f in 0 1; do
		add $([[ $i == 3 ]] && echo roce-unused || echo roce) sys_image_guid=0002:c903:00e$i:0001 pci_address=0000:${i}1:00.$f
	done
done
judge

# ngc_multinode_perf PR#129: GB200, two CX7 and a BlueField-3 with two ports
situation healthy "" "GB200: four InfiniBand rails, and a BlueField of which one port has a cable"
add_many 4 ib
add roce pci_address=0006:01:00.0 sys_image_guid=0002:c903:00ea:0001
add roce-unused pci_address=0006:01:00.1 sys_image_guid=0002:c903:00ea:0001
judge

situation planted odd-one-out "one of four rails has the MTU of the default, and the functions of its adapter too"
add_many 4 roce
set_ 2/1 netdev_mtu=1500 active_mtu=1024 event=link
add roce function=vf
set_ 4/1 netdev_mtu=1500 active_mtu=1024 event=link
judge

# ice#53: 200G modules shut down
situation planted hot "one module of four ports becomes hot"
add_many 4 roce
says_of_itself 1 module_temperature=68 module_temperature_margin=2
wait_for 1 '.ModuleTemperatureMargin == 2'
judge

situation planted bond-member "the member of a bond that shall stand by is down"
add roce
set_ 0/1 netdev_master=bond0 bond_mode=active-backup bond_member.70=ens0,active,200000000000 bond_member.71=ens1,down event=link
judge

# ibqueryerrors(8): what is no fault of a link
situation healthy "" "packets of management are dropped, and a switch does not relay all that it gets"
add ib
grows 0 counter.VL15_dropped=900
set_ 0/1 counter.port_rcv_switch_relay_errors=+900
judge

situation planted "no-address no-address" "two rails of four have lost their addresses"
rails rail0 gid.0=192.168.100.20
wait_for_ports "$s-*" 4
wait_for 3 '[.Gids[] | select(.Address == "192.168.100.20")] != []'
for i in 2 3; do
	set_ $i/1 gid.0=fe80::1 event=gid-change
	wait_for $i '[.Gids[] | select(.Address | startswith("192"))] == []'
done
judge

situation planted no-address "the VLAN of a rail was deleted, and its address with it"
vlan_rails
wait_for_ports "$s-*" 4
wait_for 3 '[.Gids[] | select(.Address == "192.168.103.17")] != []'
set_ 3/1 gid.1= event=gid-change
wait_for 3 '[.Gids[] | select(.Address == "192.168.103.17")] == []'
judge

situation healthy "" "the address of a rail was moved to a VLAN of it"
add rail0
wait_for_ports "$s-*" 1
set_ 0/1 gid.0=fe80::1 '"gid.1=192.168.100.17 v2 ens0.66 90 vlan=66"' event=gid-change
wait_for 0 '.Gids | length == 2'
judge

# dranet#33
situation planted no-address "the interface of a rail came back from a pod without its address"
add rail0
wait_for_ports "$s-*" 1
set_ 0/1 netdev= '"gid.0=192.168.100.17 v2 namespace=other"' event=netdev event=gid-change
wait_for 0 '(.Netdev // "") == ""'
set_ 0/1 '"netdev=ens0 70"' gid.0=fe80::1 event=netdev event=gid-change
wait_for 0 '.Netdev == "ens0"'
judge

situation planted flap "the link of an iWARP port went down twice"
add iwarp
flap 0 2
judge

situation planted not-linked "an iWARP port is active, and its interface has no carrier"
add_many 2 iwarp
set_ 0/1 netdev_carrier=no netdev_operstate=down event=link
judge

situation healthy "" "an administrator has set a lower speed on a link that was quicker"
add roce25
set_ 0/1 active_speed=EDR netdev_speed=25000000000 event=link
wait_for_ports "$s-*" 1
wait_for 0 '.Rate == 25000000000'
set_ 0/1 state=down phys_state=disabled netdev_carrier=no advertised_speeds=10G event=port-error event=link
wait_until 0 State down
set_ 0/1 state=active phys_state=link-up netdev_carrier=yes active_speed=QDR netdev_speed=10000000000 event=port-active event=link
wait_until 0 State active
judge

situation healthy "" "an administrator has forced a lower speed, without autonegotiation, on a link that was quicker"
add roce25
set_ 0/1 active_speed=EDR netdev_speed=25000000000 event=link
wait_for_ports "$s-*" 1
wait_for 0 '.Rate == 25000000000'
set_ 0/1 state=down phys_state=disabled netdev_carrier=no autoneg=no event=port-error event=link
wait_until 0 State down
set_ 0/1 state=active phys_state=link-up netdev_carrier=yes active_speed=QDR netdev_speed=10000000000 event=port-active event=link
wait_until 0 State active
judge

situation planted slower "a link of 25 Gb/s came back with 10, and still offers 25"
add roce25
set_ 0/1 active_speed=EDR netdev_speed=25000000000 event=link
wait_for_ports "$s-*" 1
wait_for 0 '.Rate == 25000000000'
down 0
up 0 active_speed=QDR netdev_speed=10000000000
judge --expect Ignore=slow

situation planted "not-active" "a rail whose interface the administrator has set down was used"
add_many 4 rail0
for i in 0 1 2 3; do
	set_ $i/1 "\"netdev=ens$i 7$i\"" "gid.0=192.168.100.$((17 + i))" event=gid-change
done
wait_for_ports "$s-*" 4
set_ 3/1 state=down phys_state=disabled netdev_up=no netdev_carrier=no netdev_operstate=down event=port-error event=link
wait_until 3 State down
judge

situation healthy "" "the interfaces have room for an MTU of 4096 and for 2048"
add_many 2 roce
set_ 0/1 netdev_mtu=4200 active_mtu=4096 event=link
set_ 1/1 netdev_mtu=4178 active_mtu=2048 event=link
judge

situation planted loss "a bnxt adapter has given up to send again"
add roce driver=bnxt_re
grows 0 hw_counter.max_retry_exceeded=500
wait_published 0 loss
judge

situation healthy "" "virtual functions have a smaller MTU than their physical one"
add rail0 pci_address=0000:41:00.0
add rail1 function=vf function_number=1 physical_function=0000:41:00.0 pci_address=0000:41:00.1
set_ 0/1 vf.1=address=02:00:00:00:00:01 event=netdev
set_ 1/1 netdev_mtu=1500 active_mtu=1024 event=link
wait_for 0 '.VirtualFunctions | length == 1'
judge

situation planted odd-one-out "one port of four has flow control for another priority"
qos
set_ 0/1 pfc_enabled=4 event=dcb
judge

situation healthy "" "ports of one model have DSCP maps of their own, two and two"
qos
for i in 0 1; do
	set_ $i/1 dscp_to_priority=24:3,48:6 event=dcb
done
judge

situation healthy "" "the P_Keys of five of eight ports were taken, and three have them still as storage needs it"
add_many 8 ib
wait_for_ports "$s-*" 8
for i in 0 1 2 3 4 5 6 7; do
	set_ $i/1 pkey.2=0x8030 event=pkey-change
	wait_for $i '.Pkeys | length == 3'
done
for i in 0 1 2 3 4; do
	set_ "$i/1" pkey.2= event=pkey-change
	wait_for "$i" '[.Pkeys[].Pkey] == [65535, 32786]'
done
judge --expect Ignore=lost-pkey

# What does not belong to these: another physical function, another P_Key, DSCPs of which nothing is known
situation healthy "" "virtual functions have the MTU of their physical one, and another adapter has a smaller one"
add rail0 pci_address=0000:41:00.0
add rail1 pci_address=0000:42:00.0
add rail-local function=vf function_number=1 physical_function=0000:42:00.0 pci_address=0000:42:00.1
set_ 0/1 netdev_mtu=1500 active_mtu=1024 vf.0=address=02:00:00:00:00:01 event=link event=netdev
wait_for 0 '.NetdevMtu == 1500 and (.VirtualFunctions | length == 1)'
judge

situation healthy "" "six ports of eight have got the P_Key of another tenant, and two have never had one"
add_many 6 ib
add_many 2 ib-default
wait_for_ports "$s-*" 8
for i in 0 1 2 3 4 5; do
	set_ "$i/1" pkey.1=0x8013 event=pkey-change
	wait_for "$i" '[.Pkeys[].Pkey] == [65535, 32787]'
done
judge

situation healthy "" "a port has flow control (PFC) for priority 3, and only the DSCP of notifications is mapped"
add roce
set_ 0/1 pfc_enabled=3 priority_trust=dscp dscp_to_priority=48:6 event=dcb
wait_for 0 '.PfcEnabled == [3]'
judge

# ib-sriov-cni: pools of GUIDs that overlap
situation planted same-guid "virtual functions of two adapters have one GUID"
add_many 2 ib
set_ 0/1 vf.0=node_guid=0002:c903:0000:0101,port_guid=0002:c903:0000:0101 vf.1=node_guid=0002:c903:0000:0102,port_guid=0002:c903:0000:0102 event=netdev
set_ 1/1 vf.0=node_guid=0002:c903:0000:0201,port_guid=0002:c903:0000:0201 vf.1=node_guid=0002:c903:0000:0101,port_guid=0002:c903:0000:0101 event=netdev
wait_for 1 '.VirtualFunctions | length == 2'
judge
grep -q "virtual function 1 has the GUID 0002:c903:0000:0101, as 0 of $s-0/1 has" "$work/found" || fail "$title: $(<"$work/found")"

situation healthy "" "both ports of an adapter have the same virtual functions"
add dual
ports=2
for i in 1 2; do
	set_ 0/$i vf.0=node_guid=0002:c903:0000:0101,port_guid=0002:c903:0000:0101 vf.1=node_guid=0002:c903:0000:0102,port_guid=0002:c903:0000:0102 event=netdev
done
wait_for 0 '.VirtualFunctions | length == 2'
judge

situation healthy "" "two physical functions are here, as a file expects, and their virtual ones"
add_many 2 ib function=pf
add_many 4 ib function=vf
expectations '[Function = pf]' 'Ports = 2'
judge --expect "$work/expect.conf"

situation planted not-active "a physical function of InfiniBand has lost its link, and its virtual ones have with it"
add_many 2 ib
add_many 2 ib function=vf
wait_for_ports "$s-*" 4
for i in 1 2 3; do
	set_ $i/1 state=down phys_state=polling event=port-error
	wait_until $i State down
done
judge

# I: the driver says that device I has failed
fatal() {
	local k
	wait_for_ports "$s-*" "$ports"
	simulate "event $s-$1 device-fatal"
	for ((k = 0; k < WAIT * 50; k++)); do
		[[ $("$RDMACTL" explain "$s-$1/1" || true) != *device-fatal* ]] || return 0
		sleep 0.02
	done
	die "$s-$1 has not failed"
}

# I TEMPLATE [ATTRIBUTE=VALUE]...: device I fails, goes and comes back
reset_device() {
	local i=$1
	shift
	wait_for_ports "$s-*" "$ports"
	simulate "event $s-$i device-fatal"
	simulate "remove $s-$i"
	wait_for_ports "$s-*" $((ports - 1))
	simulate "add $s-$i from=$*"
	wait_for_ports "$s-*" "$ports"
}

# I XX: the interface of device I has the MAC address 02:00:00:00:77:XX, and GIDs of it
mac() {
	local id=fe80::ff:fe00:77$2
	set_ "$1/1" "netdev_address=02:00:00:00:77:$2" "\"gid.0=$id v1\"" "\"gid.1=$id v2\"" event=link event=gid-change
	wait_for "$1" ".HwAddress == \"02:00:00:00:77:$2\""
}

# NUMBER...: adapters, each at the leaf with this number
leaves() {
	local i=0 leaf
	for leaf in "$@"; do
		add ib pci_address=0000:a$i:00.0
		set_ "$i/1" neighbor_source=lldpd "neighbor=leaf-$leaf" event=neighbor
		i=$((i + 1))
	done
	wait_for_ports "$s-*" "$ports"
	wait_for $((i - 1)) ".Neighbor == \"leaf-$leaf\""
}

# rdma-core#158 (mlx4), ethernet-linux-ice#12: the driver says only DEVICE_FATAL
situation planted health-error "a driver without devlink reports that its device has failed, and the link stays up"
add_many 2 roce driver=irdma
fatal 1
judge

situation planted health-error "the same of an older InfiniBand adapter"
add_many 2 old
fatal 0
judge

situation healthy "" "a device had failed, and its driver has reset it once"
add_many 2 roce driver=irdma
reset_device 1 roce driver=irdma
judge

# ethernet-linux-ice#12: "Recurring card resets"; DSpark-2x-DGX-Spark#146
situation planted flap "a driver resets its device again and again"
add_many 2 roce driver=irdma
for i in 1 2 3 4 5; do
	reset_device 1 roce driver=irdma
done
judge

# ethernet-linux-ice#57, #63: of the virtual function in a machine, which says not what it is
situation planted flap "the only adapter of a virtual machine is reset again and again"
add iwarp driver=irdma
for i in 1 2 3 4 5 6; do
	reset_device 0 iwarp driver=irdma
done
judge

situation healthy "" "the virtual function of a pod is taken and given back six times"
add roce
add roce function=vf
for i in 1 2 3 4 5 6; do
	reset_device 1 roce function=vf
done
judge

situation healthy "" "an administrator has loaded the driver again twice"
add_many 2 ib
reset_device 0 ib
reset_device 1 ib
reset_device 0 ib
reset_device 1 ib
judge

# cloud-init#5794: "duplicate mac found (driver: mlx5_core)"
situation planted same-address "two rails have one MAC address"
add_many 2 roce
mac 1 01
mac 0 01
judge

# cloud-init#3316
situation healthy "" "the ports of a bond have one MAC address"
bond active
for i in 0 1; do
	set_ $i/1 netdev_address=02:00:00:00:77:02 event=link
done
judge

# sriov-network-operator PR#219: administrative MACs are zeros at first
situation healthy "" "virtual functions that wait have the MAC address 0"
add roce
for i in 1 2; do
	add rail-none function=vf function_number=$i
	set_ $i/1 netdev_address=00:00:00:00:00:00 event=link
done
judge

# sichek PR#133: each rail has a leaf of its own
situation planted rail-swapped "the fourth rail of eight is at the leaf of the third"
leaves 1 2 3 3 5 6 7 8
judge --all

situation planted rail-swapped "the last rail of eight is at the leaf of the first"
leaves 1 2 3 4 5 6 7 1
judge --all

situation healthy "" "eight rails are at four leaves, two at each"
leaves 1 1 2 2 3 3 4 4
judge --all

situation healthy "" "two rails have a leaf each, and two ports are at the switch of the storage"
leaves 1 2 9 9
judge --all

situation healthy "" "seven adapters are at leaves of their own, and the last has both ports at one"
leaves 1 2 3 4 5 6 7 7
judge --all

# nasty#602
situation planted odd-one-out "one port of four is slower than the others, and does not negotiate"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 autoneg=no netdev_speed=200000000000 event=link
done
set_ 2/1 active_speed=EDR netdev_speed=100000000000 event=link
wait_for 2 '.Rate == 100000000000'
judge --expect Ignore=slower

situation planted odd-one-out "one port of 25 Gb/s of four was set to 10, without autonegotiation"
add_many 4 roce25
for i in 0 1 3; do
	set_ $i/1 active_speed=EDR netdev_speed=25000000000 event=link
done
set_ 2/1 autoneg=no event=link
wait_for 2 '.AutoNegotiation == false'
judge

situation healthy "" "no port of four negotiates, and all have the speed of their switch"
add_many 4 roce25
for i in 0 1 2 3; do
	set_ $i/1 autoneg=no event=link
done
wait_for 3 '.AutoNegotiation == false'
judge

# NV-Kernels PR#358: a change of the MAC was lost while the device came up
situation planted stale-gid "the GIDs of a port are made of a MAC address that it has not any more"
add_many 2 roce
set_ 1/1 netdev_address=02:00:00:00:88:01 event=link
wait_for 1 '.HwAddress == "02:00:00:00:88:01"'
judge

# Linux: addr_gen_mode stable-privacy
situation healthy "" "a port has link-local addresses of which one is made of its MAC address"
add_many 2 roce
set_ 1/1 gid.4=fe80::7c31:9a04:22d1:8e0b event=gid-change
wait_for 1 '.Gids | length == 5'
judge

situation healthy "" "the GIDs of a bond are made of the MAC address of the bond"
add rail0
add rail1
for i in 0 1; do
	set_ $i/1 netdev_master=bond0 bond_mode=802.3ad netdev_address=02:00:00:00:77:0$i '"gid.0=192.168.100.17 v2 bond0 80"' '"gid.1=fe80::ff:fe00:7700 v2 bond0 80"' \
		bond_member.70=ens0,active,100000000000 bond_member.71=ens1,active,100000000000 event=link event=gid-change
done
judge

# DSpark-1M PR#35: a BIOS wires the second controller with half of the lanes
situation planted odd-one-out "one adapter of four has a slot with fewer lanes than its link needs"
add_many 3 ib "${pcie[@]}"
add ib "${pcie[@]}" pcie_width=8 pcie_max_width=8 pcie_rate=252061538432 pcie_max_rate=252061538432
judge

situation healthy "" "one adapter of four has a slot with fewer lanes, which carry more than its link"
add_many 3 roce "${pcie[@]}"
add roce "${pcie[@]}" pcie_width=8 pcie_max_width=8 pcie_rate=252061538432 pcie_max_rate=252061538432
judge

# sichek: infiniband/checker, PCIe MRR; ucx#7449
situation planted odd-one-out "one adapter of four reads less at once on PCI Express"
add_many 3 ib max_read_request=4096 max_payload=256 relaxed_ordering=yes
add ib max_read_request=512 max_payload=256 relaxed_ordering=yes
judge

# NCCL#531: PCI_WR_ORDERING
situation planted odd-one-out "one adapter of four may not relax the order on PCI Express"
add_many 3 ib max_read_request=4096 max_payload=256 relaxed_ordering=yes
add ib max_read_request=4096 max_payload=256 relaxed_ordering=no
judge

situation healthy "" "two models have other settings of PCI Express"
add_many 4 ib max_read_request=4096 max_payload=256 relaxed_ordering=yes
add roce max_read_request=512 max_payload=128 relaxed_ordering=no
judge

# FDio/csit#461: "No such device"
situation planted no-gid "the interface of a port is gone, and the port stays active"
add_many 2 roce
set_ 1/1 netdev= gid.0= gid.1= gid.2= gid.3= event=netdev event=gid-change
wait_for 1 '.Gids == []'
judge

# linux: mlx5/counters.rst: replace the cable
situation planted bad-signal "an Ethernet link has symbol errors all the time"
add_many 2 roce
set_ 1/1 ethtool_counter.rx_pcs_symbol_err_phy=0
grows 1 ethtool_counter.rx_pcs_symbol_err_phy=50000
wait_published 1 bad-signal
judge

situation healthy "" "an Ethernet link had symbol errors while it came up"
add roce
add roce ethtool_counter.rx_pcs_symbol_err_phy=50000
grows 0 ethtool_counter.rx_corrected_bits_phy=10
judge

# linux: mlx5/counters.rst; sonic-buildimage#29203: a storm on one priority
situation planted pause-storm "a switch pauses one priority for long, with few frames"
add_many 2 roce
grows 1 ethtool_counter.rx_prio3_pause_duration=900000
wait_published 1 pause-storm
judge

situation healthy "" "a switch pauses one priority for a thousandth of the time"
add_many 2 roce
grows 1 ethtool_counter.rx_prio3_pause_duration=1000
judge

# nic-configuration-operator PR#42: an adapter with a function for each port
situation planted odd-one-out "one adapter of four with two functions has another firmware"
for i in 1 2 3 4; do
	for f in 0 1; do
		add roce sys_image_guid=0002:c903:00e$i:0001 pci_address=0000:${i}1:00.$f fw_ver=32.$([[ $i == 3 ]] && echo 39 || echo 43).1014
	done
done
judge

# nccl#563, nv_peer_memory#56
situation planted no-gpu-memory "the kernel cannot register memory of the GPUs beside the adapters"
for ((k = 0; k < 4; k++)); do
	# shellcheck disable=SC2046 # each line is a word
	add ib $(gpus $k 4) dma_buf=no peer_memory=none
done
judge

situation healthy "" "the kernel registers memory of GPUs as DMA-BUF"
for ((k = 0; k < 4; k++)); do
	# shellcheck disable=SC2046 # each line is a word
	add ib $(gpus $k 4) dma_buf=yes peer_memory=none
done
judge

situation healthy "" "the kernel cannot register memory of a GPU that is behind the processor"
# shellcheck disable=SC2046 # each line is a word
add ib $(gpus 9 1) dma_buf=no peer_memory=none
judge

# mlnx_qos, cma_roce: set on each interface alone
situation planted odd-one-out "one port of four does not answer marked packets (ECN)"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 ecn_notification=3 ecn_reaction=3 event=dcb
done
set_ 2/1 ecn_notification=none event=dcb
wait_for 2 '.EcnNotificationPoint == []'
judge

situation planted odd-one-out "one port of four has another traffic class for the priority of RoCE"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 prio_to_tc=0,0,0,3,0,0,6,0 ets_bandwidth=50,0,0,50,0,0,0,0 event=dcb
done
set_ 1/1 prio_to_tc=0,0,0,0,0,0,6,0 event=dcb
wait_for 1 '.PrioToTc[3] == 0'
judge

situation healthy "" "only the driver of the vendor says what it does about marked packets, and two ports have it"
add_many 4 roce
for i in 0 1; do
	set_ $i/1 ecn_notification=3 ecn_reaction=3 event=dcb
done
judge

# ethernet-linux-ice#53; NVOS: "Module temperature shutdown"
situation planted too-hot "a module is as hot as it alarms of, as it says itself"
add_many 2 roce
set_ 1/1 cable_present=yes cable_temperature=76 cable_temperature_critical=75 cable_temperature_margin=0 event=cable
wait_for 1 '.CableTemperature == 76'
judge

# mlx#3467: what systems give themselves without DHCP
situation planted no-address "a rail has lost the address of DHCP, and has given itself one"
add rail0
wait_for_ports "$s-*" 1
set_ 0/1 gid.0=169.254.7.9 event=gid-change
wait_for 0 '[.Gids[].Address] == ["169.254.7.9"]'
judge

# libfabric#12673, amzn-drivers#306
situation planted exhausted "all queue pairs of an EFA adapter are in use"
add_many 2 efa max_qp=256 qp_count=12
set_ 1 qp_count=256 event=device
set_ 1/1 event=link
judge

situation healthy "" "many queue pairs of an EFA adapter are in use"
add_many 2 efa max_qp=256 qp_count=180
judge

# stackoverflow, OFED: "Rate: 10" of an HDR adapter
situation planted slow "an InfiniBand link of NDR has come up at SDR"
add_many 2 ib
set_ 1/1 active_speed=SDR event=port-active
judge --expect Ignore=slower

# node_exporter#3810
situation healthy "" "MANA says no rate"
add_many 2 roce driver=mana
for i in 0 1; do
	set_ $i/1 active_speed= active_width= netdev_speed= netdev_master=eth0 event=link
done
judge

# libfabric#1832
situation healthy "" "usNIC, which is no RDMA"
add_many 2 roce driver=usnic_verbs node_type=usnic
judge

# libfabric#12673: the table of irdma
situation healthy "" "adapters of irdma have their GIDs at 0 and 1, beside those of mlx5"
add_many 4 roce
for i in 4 5 6 7; do
	add roce driver=irdma hca_type=
	set_ $i/1 "\"gid.0=fe80::a236:9fff:fe00:$i v2\"" "\"gid.1=10.2.0.$i v2\"" gid.2= gid.3= netdev_address=a0:36:9f:00:00:0$i event=gid-change event=link
done
judge

# open-kilda#3216
situation healthy "" "the switch of four rails was restarted once"
add_many 4 ib
wait_for_ports "$s-*" 4
for i in 0 1 2 3; do
	set_ $i/1 state=down phys_state=polling event=port-error
done
for i in 0 1 2 3; do
	wait_until $i State down
	set_ $i/1 state=active phys_state=link-up event=port-active
	wait_until $i State active
done
judge

# The second network of an adapter with two functions
situation healthy "" "the second functions of four adapters are another network, with another MTU and flow control"
for i in 1 2 3 4; do
	add roce sys_image_guid=0002:c903:00e$i:0001 pci_address=0000:${i}1:00.0
	add roce sys_image_guid=0002:c903:00e$i:0001 pci_address=0000:${i}1:00.1
	set_ $((2 * i - 1))/1 netdev_mtu=1500 active_mtu=1024 pfc_enabled=none event=link event=dcb
	set_ $((2 * i - 2))/1 pfc_enabled=3 event=dcb
done
judge

# rocm-systems PR#3654: Pollara
situation planted not-active "a Pollara of four has no link, and says no speed"
add_many 3 roce driver=ionic
add roce-unused driver=ionic hca_type=MT41692 board_id=MT_0000000884
set_ 3/1 active_mtu= max_mtu=4096 netdev_mtu=1500 autoneg=no event=link
judge

# Linux: hw_counters of mana, cxgb4 and mlx4
situation planted loss "a MANA adapter waits in vain for acknowledgements"
add roce driver=mana
grows 0 hw_counter.requester_timeout=50
wait_published 0 loss
judge

situation planted loss "an iWARP adapter of Chelsio sends TCP segments again"
add iwarp driver=cxgb4
grows 0 hw_counter.tcpRetransSegs=500
wait_published 0 loss
judge

situation planted loss "an older adapter gets packets out of order"
add roce driver=mlx4_core
grows 0 hw_counter.rq_num_oos=500
wait_published 0 loss
judge

# Siblings of what was wrong
situation healthy "" "a device had failed, and devlink says that it has recovered"
add ib reporter.fw_fatal=healthy
wait_for_ports "$s-*" 1
simulate "event $s-0 device-fatal"
"$RDMACTL" query "$s-0/1" >/dev/null
judge

situation planted health-error "a device has failed again after a reset"
add_many 2 roce driver=hns
reset_device 1 roce driver=hns
fatal 1
judge

situation healthy "" "a rail of five has one leaf with another in common, as the fifth is for storage"
leaves 1 2 3 4 4
judge --all

situation healthy "" "leaves have numbers that are not one after the other"
leaves 101 103 105 107
judge --all

situation planted rail-swapped "the first rail of four is at the leaf of the third"
leaves 3 2 3 4
judge --all

situation planted rail-swapped "the first rail of eight is at the leaf of the last"
leaves 8 2 3 4 5 6 7 8
judge --all

situation planted rail-swapped "the sixth rail of eight is at the leaf of the second"
leaves 1 2 3 4 5 2 7 8
judge --all

situation healthy "" "four rails are at one leaf"
leaves 1 1 1 1
judge --all

situation healthy "" "three of four rails are at one leaf"
leaves 1 1 1 2
judge --all

situation healthy "" "a plan says that two rails are at one leaf"
leaves 1 2 2 4
judge --all --expect 'Neighbor=leaf-*'

situation healthy "" "leaves have the order of the rails from behind"
leaves 8 7 6 5 4 3 2 1
judge --all

situation healthy "" "the two functions of one adapter share an MTU, and three adapters another"
for i in 1 2 3 4; do
	for f in 0 1; do
		add roce sys_image_guid=0002:c903:00e$i:0001 pci_address=0000:${i}1:00.$f
		[[ $i != 3 ]] || set_ $((ports - 1))/1 netdev_mtu=4200 event=link
	done
done
judge

situation planted odd-one-out "one of four adapters of bnxt with two functions has another firmware, and each function a GUID of the system"
for i in 1 2 3 4; do
	for f in 0 1; do
		add roce driver=bnxt_re sys_image_guid=8e84:74ff:fe1f:25$i$f pci_address=0000:${i}1:00.$f fw_ver=23$([[ $i == 3 ]] && echo 0 || echo 1).2.63.0
	done
done
judge

situation healthy "" "two of eight adapters have other settings of PCI Express"
add_many 6 ib max_read_request=4096 relaxed_ordering=yes
add_many 2 ib max_read_request=512 relaxed_ordering=no
judge

situation healthy "" "one adapter of four reads more at once on PCI Express than the others"
add_many 3 ib max_read_request=512 relaxed_ordering=no
add ib max_read_request=4096 relaxed_ordering=yes
judge

situation healthy "" "one adapter of four is in a wider slot, and no slot can carry its link"
add_many 3 ib "${pcie[@]}" pcie_width=8 pcie_max_width=8 pcie_rate=252061538432 pcie_max_rate=252061538432
add ib "${pcie[@]}"
judge

situation planted pcie-slow "one adapter of four has a slower slot, which is not as its ends can do either"
add_many 3 ib "${pcie[@]}"
add ib "${pcie[@]}" pcie_width=4 pcie_max_width=8 pcie_rate=126030769216 pcie_max_rate=252061538432
judge

situation healthy "" "a port and the representors of its functions have one MAC address"
add uplink
ports=3
set_ 0/1 netdev_address=02:00:00:00:99:01 event=link
set_ 0/2 netdev_address=02:00:00:00:99:01 event=link
judge

situation healthy "" "two ports are in one bridge, which has their MAC address"
add_many 2 roce
mac 0 03
mac 1 03
for i in 0 1; do
	set_ $i/1 netdev_master=br0 event=link
done
judge

situation planted same-address "two of four rails have one MAC address, and addresses of their own"
rails rail0 gid.0=192.168.100.20
for i in 2 3; do
	set_ $i/1 netdev_address=02:00:00:00:77:04 event=link
done
judge

situation healthy "" "a VLAN of a port has link-local GIDs of its own MAC address"
add roce
set_ 0/1 '"gid.4=fe80::ff:fe12:3456 v2 sim0.66 90 vlan=66"' event=gid-change
wait_for 0 '.Gids | length == 5'
judge

situation healthy "" "a macvlan of a pod has GIDs of its own MAC address, and the port has none"
add roce
set_ 0/1 gid.0= gid.1= '"gid.4=fe80::ff:fe12:3456 v2 net1 90"' event=gid-change
judge

situation healthy "" "the interface of a port has no link-local address of IPv6"
add roce
set_ 0/1 gid.0= gid.1= netdev_address=02:00:00:00:88:07 event=gid-change event=link
judge

situation planted stale-gid "the only port has GIDs of an old MAC address, and an address that peers reach"
add roce driver=mana
set_ 0/1 netdev_address=02:00:00:00:88:02 event=link
wait_for 0 '.HwAddress == "02:00:00:00:88:02"'
judge

situation planted pause-storm "an adapter pauses its switch for long, with few frames"
add roce
grows 0 ethtool_counter.tx_global_pause_duration=500000
wait_published 0 pause-storm
judge

situation healthy "" "an Ethernet link has symbol errors as the standard allows"
add roce
grows 0 ethtool_counter.rx_symbol_err_phy=1
judge

situation planted exhausted "all memory regions of an adapter are in use"
add ib max_mr=1000 mr_count=999
judge

situation healthy "" "the limits of an adapter are not known"
add ib qp_count=4000 max_qp=0
judge

situation planted "hot" "a module is nearly as hot as it alarms of, and its driver says nothing"
add roce
set_ 0/1 cable_present=yes cable_temperature=72 cable_temperature_critical=75 cable_temperature_margin=3 event=cable
wait_for 0 '.CableTemperature == 72'
judge

situation healthy "" "a module is hotter than it alarms of, and its driver allows more"
add_many 2 roce
says_of_itself 1 module_temperature=71 module_temperature_margin=9 cable_present=yes cable_temperature=71 cable_temperature_critical=70 cable_temperature_margin=0
wait_for 1 '.ModuleTemperatureMargin == 9'
judge

situation healthy "" "GPUs are beside the adapters, and the module of the vendor registers their memory"
for ((k = 0; k < 4; k++)); do
	# shellcheck disable=SC2046 # each line is a word
	add ib $(gpus $k 4) dma_buf=no peer_memory=nvidia_peermem
done
judge

situation healthy "" "it is expected that memory of GPUs is not registered"
# shellcheck disable=SC2046 # each line is a word
add ib $(gpus 0 1) dma_buf=no peer_memory=none
judge --expect DmaBuf=no

situation healthy "" "an administrator changes ECN on all ports, one after the other, and two are done"
add_many 4 roce
for i in 0 1; do
	set_ $i/1 ecn_notification=3 event=dcb
done
for i in 2 3; do
	set_ $i/1 ecn_notification=none event=dcb
done
judge

# rails that never had another address
situation planted odd-one-out "one rail of four has had an address of its own making only"
rails rail0 gid.0=192.168.100.20
simulate "remove $s-3"
wait_for_ports "$s-*" 3
add rail-local
ports=4
set_ 4/1 netdev_address=02:00:00:00:88:09 gid.0= gid.1= '"gid.2=169.254.7.9 v2"' event=gid-change event=link
judge

situation healthy "" "ACS redirects traffic, as it is expected"
add ib acs_redirects=0000:c1:00.0 iommu=DMA-FQ
judge --expect AcsRedirects=0000:c1:00.0

# linux: irdma of generation 3 (IRDMA_HW_STAT_INDEX_RTO and others)
situation planted loss "an adapter of irdma (E2000) waits in vain for acknowledgements"
add roce driver=irdma
grows 0 hw_counter.RTO=50
wait_published 0 loss
judge

situation healthy "" "receivers of irdma are slow, and notifications come for connections that have ended"
add roce driver=irdma
grows 0 hw_counter.cnpIgnored=500
judge

# node-scraper, rccl telemetry (rocm-systems)
situation planted loss "a Pollara has given up to send again"
add roce driver=ionic
grows 0 hw_counter.req_tx_retry_excd_err=5
wait_published 0 loss
judge

situation planted loss "a Pollara gets requests a second time"
add roce driver=ionic
grows 0 hw_counter.resp_rx_dup_request=500
wait_published 0 loss
judge

# rdmatop#19: names of the driver that Alibaba ships
situation planted loss "an erdma adapter drops what is above the limit of its instance"
add iwarp driver=erdma hca_type=
grows 0 hw_counter.hw_rx_bps_limit_drop_cnt=500
wait_published 0 loss
judge

situation planted loss "an erdma adapter may not send so many packets"
add iwarp driver=erdma hca_type=
grows 0 hw_counter.hw_pps_limit_drop_cnt=500
wait_published 0 loss
judge

# rocm-systems: what bnxt says of PFC by ethtool
situation planted pause-storm "a switch pauses one priority of a Thor 2 for long"
add roce driver=bnxt_re
grows 0 ethtool_counter.pfc_pri3_rx_duration_us=500000
wait_published 0 pause-storm
judge

situation healthy "" "a switch pauses one priority of a Thor 2 for a moment, often"
add roce driver=bnxt_re
grows 0 ethtool_counter.pfc_pri3_rx_duration_us=1500
grows 0 ethtool_counter.pfc_pri3_rx_transitions=800
judge

# node_exporter PR#2827
situation planted loss "an adapter has given up connections, because nothing was acknowledged"
add roce
grows 0 hw_counter.req_transport_retries_exceeded=5
wait_published 0 loss
judge

situation healthy "" "jobs end, and flush what they have queued"
add roce
grows 0 hw_counter.req_cqe_flush_error=5000
grows 0 hw_counter.resp_cqe_flush_error=5000
grows 0 hw_counter.rnr_nak_retry_err=300
judge

# netdata PR#9091, node_exporter#2023: counters of hfi1
situation healthy "" "an Omni-Path adapter sends a little again, and its buffers for headers have been full"
add opa
grows 0 hw_counter.RcResend=5
grows 0 hw_counter.RcvHdrOvr3=200
judge

# ethernet-linux-ice#12
situation planted hot "an adapter with two functions is nearly as hot as it may be"
add roce pci_address=0000:31:00.0 sys_image_guid=0002:c903:00ee:0001
add roce pci_address=0000:31:00.1 sys_image_guid=0002:c903:00ee:0001
for i in 0 1; do
	says_of_itself $i adapter_temperature=102 adapter_temperature_margin=3
	wait_for $i '.AdapterTemperatureMargin == 3'
done
judge

situation planted too-hot "an InfiniBand adapter with two ports is as hot as it may be"
add dual
for k in 1 2; do
	wait_for_ports "$s-*" 2
	simulate "set $s-0/$k adapter_temperature=105 adapter_temperature_margin=0"
done
"$RDMACTL" query "$s-0/*" >/dev/null
wait_for 0 '.AdapterTemperatureMargin == 0'
judge

# nvidia: "Module ... fault"; SFF-8636 has no state of the module
situation planted "module not-active" "the laser of a module has a fault, and its port has no link"
add_many 2 roce
set_ 0/1 cable_present=yes cable_flags=tx-fault,tx-los event=cable
set_ 0/1 state=down phys_state=disabled netdev_carrier=no netdev_operstate=down event=port-error
wait_for 0 '.CableFlags != null'
judge

situation healthy "" "a module had no signal before the link came up, as it says still"
add_many 2 roce
set_ 0/1 cable_present=yes cable_flags=rx-los,rx-lol,low-rx event=cable
wait_for 0 '.CableFlags != null'
judge

situation healthy "" "second ports that were never used have modules, which are in low power"
for i in 1 2; do
	add roce sys_image_guid=0002:c903:00f$i:0001 pci_address=0000:${i}1:00.0
	add roce-unused sys_image_guid=0002:c903:00f$i:0001 pci_address=0000:${i}1:00.1
	set_ $((2 * i - 1))/1 cable_present=yes cable_state=low-power netdev_up=no event=cable event=link
done
judge

# reads all ports of the situation now
read_all() {
	wait_for_ports "$s-*" "$ports"
	"$RDMACTL" query "$s-*" >/dev/null
}

# ucx#4512: peers with other versions of RoCE
situation planted odd-one-out "rdma_cm uses RoCE v1 on one port of four"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 "roce_gid_type=\"RoCE v2\"" event=device
done
set_ 2/1 "roce_gid_type=\"RoCE v1\"" event=device
read_all
judge

situation healthy "" "rdma_cm uses RoCE v1 on two ports of four"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 "roce_gid_type=\"RoCE v$((i / 2 + 1))\"" event=device
done
read_all
judge

situation healthy "" "somebody has looked which RoCE rdma_cm uses on one port only"
add_many 4 roce
set_ 1/1 "roce_gid_type=\"RoCE v2\"" event=device
read_all
judge

# ucx#9430: ConnectX-3 has RoCE v1 only
situation healthy "" "ports of ConnectX-3 have GIDs of RoCE v1 only, and no switch between"
add_many 2 roce driver=mlx4_core hca_type=MT4099
for i in 0 1; do
	set_ $i/1 "\"gid.0=fe80::202:c9ff:feb3:842$i v1\"" "\"gid.1=12.12.1$i.12 v1\"" gid.2= gid.3= netdev_address=00:02:c9:b3:84:2$i event=gid-change event=link
done
judge

# azurehpc-health-checks#152: DCB
situation planted odd-one-out "one port of four sends RoCE by strict priority, and others share the bandwidth"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 pfc_enabled=3 ets_algorithm=ets,ets,ets,ets,ets,ets,ets,ets event=dcb
done
set_ 1/1 ets_algorithm=strict,strict,strict,strict,strict,strict,strict,strict event=dcb
read_all
judge

# sichek PR#122: the PCIe tree
situation planted odd-one-out "one adapter of four sends smaller packets on PCI Express"
add_many 3 ib max_payload=512 max_read_request=4096
add ib max_payload=128 max_read_request=4096
judge

situation healthy "" "two of four adapters send smaller packets on PCI Express"
add_many 2 ib max_payload=512
add_many 2 ib max_payload=256
judge

situation healthy "" "one adapter of four sends larger packets on PCI Express"
add_many 3 ib max_payload=256
add ib max_payload=512
judge

# nccl#1715: VT-d on one root
situation planted odd-one-out "the IOMMU translates addresses of one adapter of four"
add_many 3 ib iommu=identity
add ib iommu=DMA-FQ
judge

situation healthy "" "the IOMMU translates addresses of all adapters"
add_many 4 ib iommu=DMA-FQ
judge

situation healthy "" "the IOMMU translates no addresses of one adapter of four"
add_many 3 ib iommu=DMA
add ib iommu=identity
judge

# NEIGHBOR VLAN: I NAME VLAN...: port I is at switch NAME, whose port has this VLAN
at() {
	wait_for_ports "$s-*" "$ports"
	set_ "$1/1" neighbor_source=lldpd "neighbor=$2" ${3:+neighbor_vlan=$3} event=neighbor
	wait_for "$1" ".Neighbor == \"$2\""
}

# cnf-testbed#137, nccl#2158
situation planted odd-one-out "the switch has one port of four in another VLAN"
add_many 4 roce
for i in 0 1 2 3; do
	at $i tor-1 $((i == 2 ? 1 : 1076))
done
judge

situation healthy "" "each rail has a VLAN of its own"
add_many 4 roce
for i in 0 1 2 3; do
	at $i tor-1 $((1070 + i))
done
judge

situation healthy "" "one port of five is at the switch of the storage, which has another VLAN"
add_many 5 roce
for i in 0 1 2 3; do
	at $i leaf-$((i / 2 + 1)) 100
done
at 4 storage-1 200
judge

# SuperPOD: storage by adapters of the same model
situation healthy "" "a fifth adapter of the model is at the switch of the storage, with half the speed, another MTU and no flow control"
add_many 4 roce
add roce2
for i in 0 1 2 3; do
	set_ $i/1 pfc_enabled=3 event=dcb
	at $i leaf-$((i + 1))
done
set_ 4/1 pfc_enabled=none netdev_mtu=1500 active_mtu=1024 event=dcb event=link
at 4 stor-a
judge --all

situation planted odd-one-out "one port of five has half the speed, at a leaf as the others"
add_many 4 roce
add roce2
for i in 0 1 2 3 4; do
	at $i leaf-$((i + 1))
done
judge --all

# sichek PR#133
situation planted rail-swapped "leaves have the order of the rails from behind, and two are exchanged"
leaves 8 7 5 6 4 3 2 1
judge --all

situation planted rail-swapped "leaves count backwards, and one rail is at the leaf of another"
leaves 8 7 6 5 4 3 4 1
judge --all

# IPoIB: I STATE MTU of the interface of an InfiniBand port; MTU 0: it has none
ipoib() {
	set_ "$1/1" "\"netdev=ib$1 7$1\"" "netdev_operstate=$2" "netdev_mtu=$3" event=netdev
	wait_for "$1" ".Netdevs[0].Name == \"ib$1\""
}

# libfabric#6247: rdma_cm asks for the interfaces to be up
situation planted odd-one-out "the IPoIB interface of one port of four is set down"
add_many 4 ib
wait_for_ports "$s-*" 4
for i in 0 1 2 3; do
	ipoib $i "$([[ $i == 2 ]] && echo down || echo up)" 2044
done
judge

# I ADDRESSES [SETTING...]: four ports with IPoIB and two addresses each, but port I has these, and the settings
ipoib_addresses() {
	local i odd=$1 addresses=$2
	shift 2
	add_many 4 ib
	wait_for_ports "$s-*" 4
	for i in 0 1 2 3; do
		if [[ $i == "$odd" ]]; then
			set_ $i/1 "\"netdev=ib$i 7$i\"" netdev_operstate=up netdev_mtu=2044 "addresses=$addresses" "$@" event=netdev
			wait_for $i ".Netdevs[0].Name == \"ib$i\""
		else
			set_ $i/1 "\"netdev=ib$i 7$i\"" netdev_operstate=up netdev_mtu=2044 addresses=192.0.2.1$i,fe80::1$i event=netdev
			wait_for $i '.Addresses | length == 2'
		fi
	done
}

# lustre: a node of which one of four interfaces of IPoIB got no address
situation planted odd-one-out "the IPoIB interface of one port of four has no address"
ipoib_addresses 2 ""
judge

situation planted odd-one-out "the IPoIB interface of one port of four has a link-local address only"
ipoib_addresses 0 fe80::10
judge

situation healthy "" "the IPoIB interface of one port of four has an address of another network"
ipoib_addresses 1 198.51.100.7
judge

situation healthy "" "the IPoIB interface without an address, of one port of four, is a member of a bond"
ipoib_addresses 2 "" netdev_master=bond0
wait_for 2 '.Netdevs[0].Master == "bond0"'
judge

situation healthy "" "a fifth port has an IPoIB interface without an address, and is in the subnet of the storage"
ipoib_addresses - ""
add ib
wait_for_ports "$s-*" 5
set_ 4/1 subnet_prefix=fe80:0000:0000:0007 lid=9 sm_lid=77 event=lid-change
wait_for 4 '.SmLid == 77'
ipoib 4 up 2044
judge

situation healthy "" "only one of four IPoIB interfaces has an address"
add_many 4 ib
wait_for_ports "$s-*" 4
for i in 0 1 2 3; do
	ipoib $i up 2044
	[[ $i != 1 ]] || set_ $i/1 addresses=192.0.2.11 event=gid-change
done
judge

situation healthy "" "the IPoIB interface of one port of four is in a container"
add_many 4 ib
wait_for_ports "$s-*" 4
for i in 0 1 3; do
	ipoib $i up 2044
done
set_ 2/1 netdev= event=netdev
judge

situation planted odd-one-out "the IPoIB interface of one port of four has another MTU"
add_many 4 ib
wait_for_ports "$s-*" 4
for i in 0 1 2 3; do
	ipoib $i up "$([[ $i == 1 ]] && echo 2044 || echo 4092)"
done
judge

# azurehpc: only ib0 has an address
situation healthy "" "only one of eight InfiniBand ports uses IPoIB"
add_many 8 ib
wait_for_ports "$s-*" 8
for i in 0 1 2 3 4 5 6 7; do
	ipoib $i "$([[ $i == 0 ]] && echo up || echo down)" 2044
done
judge

situation healthy "" "four of eight InfiniBand ports use IPoIB"
add_many 8 ib
wait_for_ports "$s-*" 8
for i in 0 1 2 3 4 5 6 7; do
	ipoib $i "$([[ $i -lt 4 ]] && echo up || echo down)" 2044
done
judge

situation healthy "" "a fifth InfiniBand port is in the subnet of the storage, and alone uses IPoIB with large frames"
add_many 4 ib
add ib
wait_for_ports "$s-*" 5
for i in 0 1 2 3; do
	ipoib $i up 2044
done
set_ 4/1 subnet_prefix=fe80:0000:0000:0007 lid=9 sm_lid=77 event=lid-change
ipoib 4 up 4092
judge

# Mellanox/k8s-rdma-shared-dev-plugin, OVS offload: one port of the model belongs to virtual machines
situation healthy "" "one port of four is in a bridge of virtual machines, and has no address"
rails rail0 gid.0=192.168.100.20
simulate "remove $s-3"
wait_for_ports "$s-*" 3
add rail-local
ports=4
set_ 4/1 '"netdev=ens3 73"' netdev_master=ovs-system gid.0= gid.1= '"gid.2=fe80::5 v2"' event=gid-change event=link
judge

# pcp#128: LIDs
situation planted sm-storm "the subnet manager gives a port another LID again and again"
add_many 2 ib
wait_for_ports "$s-*" 2
for lid in 21 22 23 24 25 26; do
	set_ 0/1 lid=$lid event=lid-change
	wait_until 0 Lid $lid
done
judge

situation healthy "" "a subnet manager that was started again gives all ports other LIDs, and some of them twice"
add_many 3 ib
wait_for_ports "$s-*" 3
for i in 0 1 2; do
	set_ $i/1 lid=$((31 + i)) event=lid-change
	wait_until $i Lid $((31 + i))
	set_ $i/1 lid=$((41 + i)) event=lid-change
	wait_until $i Lid $((41 + i))
done
judge

# infra-controller: partitions
situation planted sm-storm "a P_Key goes and comes back again and again"
add_many 2 ib
wait_for_ports "$s-*" 2
for k in 1 2 3 4 5; do
	set_ 0/1 pkey.1= event=pkey-change
	wait_for 0 '[.Pkeys[].Pkey] == [65535]'
	set_ 0/1 pkey.1=0x8012 event=pkey-change
	wait_for 0 '[.Pkeys[].Pkey] == [65535, 32786]'
done
judge

# vllm-fork, habanalabs: 24 ports, of which three have an interface
situation healthy "" "Gaudi: ports between accelerators have neither an interface nor a GID"
add roce driver=habanalabs ports=4
ports=4
wait_for_ports "$s-*" 4
for k in 2 3 4; do
	simulate "set $s-0/$k netdev= \"gid.0=ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff v1\" gid.1= gid.2= gid.3= event=gid-change"
done
wait_for 0 '.Gids != []'
judge

# amzn-drivers: P5 has 32
situation healthy "" "32 EFA adapters, of which none measures a state"
add_many 32 efa
judge

# gpud PR#931
situation planted not-active "a switch is restarted, and one link of four does not come back"
add_many 4 ib
wait_for_ports "$s-*" 4
for i in 0 1 2 3; do
	set_ $i/1 state=down phys_state=polling event=port-error
done
for i in 0 1 2 3; do
	wait_until $i State down
done
for i in 0 1 3; do
	set_ $i/1 state=active phys_state=link-up event=port-active
	wait_until $i State active
done
judge

situation planted "flap flap" "a switch with two of four links is restarted twice in a day"
add_many 4 ib
flap 0 2
flap 3 2
judge

situation planted "pcie-slow slower" "an adapter has lost PCI Express lanes and half of the lanes of its link"
add_many 2 ib "${pcie[@]}"
wait_for_ports "$s-*" 2
set_ 1 pcie_width=8 pcie_rate=252061538432 event=device
down 1
up 1 active_width=2
judge

situation planted "flap slow" "a link goes down three times, and comes back with HDR"
add_many 2 ib
flap 1 2
down 1
set_ 1/1 state=active phys_state=link-up active_speed=HDR event=port-active
wait_for_downs 1 3
judge

situation planted same-address "two rails have one IPv6 address"
add_many 2 rail0
set_ 0/1 '"netdev=ens0 70"' '"gid.0=fd93:16d3:59b6::17 v2"' event=gid-change
set_ 1/1 '"netdev=ens1 71"' '"gid.0=fd93:16d3:59b6::17 v2"' event=gid-change
wait_for 1 '.Gids[0].Address == "fd93:16d3:59b6::17"'
judge

situation planted address-flap "the IPv6 address of a rail goes and comes back again and again"
add rail0
wait_for_ports "$s-*" 1
for k in 1 2 3 4 5; do
	set_ 0/1 '"gid.0=fe80::1 v2"' event=gid-change
	wait_for 0 '.Gids[0].Address == "fe80::1"'
	set_ 0/1 '"gid.0=fd93:16d3:59b6::17 v2"' event=gid-change
	wait_for 0 '.Gids[0].Address == "fd93:16d3:59b6::17"'
done
judge

# VMware
situation healthy "" "a paravirtual adapter has no interface that says its speed"
add roce driver=vmw_pvrdma hca_type=
set_ 0/1 netdev_speed= '"gid.0=fe80::250:56ff:fe87:1b51 v1"' gid.1= gid.3= netdev_address=00:50:56:87:1b:51 event=gid-change event=link
judge

# NVIDIA: MIG, one of the adapters of a DGX is in another order
situation healthy "" "an administrator has taken all interfaces of IPoIB down"
add_many 4 ib
wait_for_ports "$s-*" 4
for i in 0 1 2 3; do
	ipoib $i up 2044
done
for i in 0 1 2 3; do
	ipoib $i down 2044
done
judge

# spiderpool: a pod has the interface of one rail
situation healthy "" "a pod has got the IPoIB child of one port"
add_many 4 ib
wait_for_ports "$s-*" 4
for i in 0 1 2 3; do
	ipoib $i up 2044
done
judge

# dranet: a rail that another team has for storage
situation healthy "" "three of four rails have large frames and flow control, and the fourth is at the leaf of another network"
add_many 4 roce
wait_for_ports "$s-*" 4
for i in 0 1 2; do
	set_ $i/1 pfc_enabled=3 neighbor_source=lldpd neighbor=gpu-leaf$i event=dcb event=neighbor
done
set_ 3/1 netdev_mtu=1500 active_mtu=1024 neighbor_source=lldpd neighbor=mgmt-sw1 event=link event=neighbor
wait_for 3 '.Neighbor == "mgmt-sw1"'
judge --all

situation healthy "" "counters of PCI Express signal integrity stand still after the boot"
add roce hw_counter.roce_slow_restart=4000 ethtool_counter.rx_pci_signal_integrity=3 ethtool_counter.module_high_temp=1
judge

situation healthy "" "an adapter did not answer once, while it was reset"
add_many 2 ib
wait_for_ports "$s-*" 2
simulate "stall $s-1"
"$RDMACTL" query "$s-1/1" >/dev/null 2>&1 || true
wait_for 1 .Stale
simulate "unstall $s-1"
wait_for 1 '.Stale | not'
judge

# Siblings of what was wrong
situation planted loss "an adapter of irdma (E2000) gets packets out of order"
add roce driver=irdma
grows 0 'hw_counter.Rcvd Out of order packets=500'
wait_published 0 loss
judge

situation planted loss "an adapter of irdma (E2000) gets broken packets"
add roce driver=irdma
grows 0 'hw_counter.CRC errors=500'
wait_published 0 loss
judge

situation planted loss "an erdma adapter drops what it gets, as it is disabled"
add iwarp driver=erdma hca_type=
grows 0 hw_counter.rx_disable_drop_cnt=500
wait_published 0 loss
judge

situation planted pause-storm "a Thor 2 pauses its switch on one priority for long"
add roce driver=bnxt_re
grows 0 ethtool_counter.pfc_pri3_tx_duration_us=500000
wait_published 0 pause-storm
judge

situation planted "hot hot" "two adapters with two functions are nearly as hot as they may be"
for i in 0 1; do
	add roce pci_address=0000:31:00.$i sys_image_guid=0002:c903:00ee:0001
	add roce pci_address=0000:41:00.$i sys_image_guid=0002:c903:00ee:0002
done
for i in 0 1 2 3; do
	says_of_itself $i adapter_temperature=102 adapter_temperature_margin=3
	wait_for $i '.AdapterTemperatureMargin == 3'
done
judge

situation planted too-hot "only the second function of an adapter reads its sensor"
add roce pci_address=0000:31:00.0 sys_image_guid=0002:c903:00ee:0001
add roce pci_address=0000:31:00.1 sys_image_guid=0002:c903:00ee:0001
says_of_itself 1 adapter_temperature=105 adapter_temperature_margin=0
wait_for 1 '.AdapterTemperatureMargin == 0'
judge

situation planted "hot hot" "the modules of both functions of an adapter are hot"
add roce pci_address=0000:31:00.0 sys_image_guid=0002:c903:00ee:0001
add roce pci_address=0000:31:00.1 sys_image_guid=0002:c903:00ee:0001
for i in 0 1; do
	says_of_itself $i module_temperature=68 module_temperature_margin=2
	wait_for $i '.ModuleTemperatureMargin == 2'
done
judge

situation planted not-active "an administrator has set an interface down, and its module is in low power"
add_many 2 roce
set_ 0/1 cable_present=yes cable_state=low-power event=cable
set_ 0/1 state=down phys_state=disabled netdev_up=no netdev_carrier=no netdev_operstate=down event=port-error
judge

situation healthy "" "the laser of a module has a fault in a port that was never used"
add roce sys_image_guid=0002:c903:00f1:0001 pci_address=0000:11:00.0
add roce-unused sys_image_guid=0002:c903:00f1:0001 pci_address=0000:11:00.1
set_ 1/1 cable_present=yes cable_flags=tx-fault event=cable
wait_for 1 '.CableFlags != null'
judge

situation healthy "" "a laser had a fault before the link came up, as its module says still"
add roce
set_ 0/1 cable_present=yes cable_flags=tx-fault event=cable
wait_for 0 '.CableFlags != null'
judge

situation planted odd-one-out "one port of four has other traffic classes, shares and algorithms"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 pfc_enabled=3 ets_algorithm=ets,ets,ets,ets,ets,ets,ets,ets ets_bandwidth=50,0,0,50,0,0,0,0 prio_to_tc=0,1,2,3,4,5,6,7 event=dcb
done
set_ 1/1 ets_algorithm=strict,strict,strict,strict,strict,strict,strict,strict ets_bandwidth=0,0,0,0,0,0,0,0 prio_to_tc=0,0,0,0,0,0,0,0 event=dcb
read_all
judge

situation planted odd-one-out "two leaves have one port of six in another VLAN"
add_many 6 roce
for i in 0 1 2 3 4 5; do
	at $i leaf-$((i / 3 + 1)) $((i == 4 ? 1 : 1076))
done
judge

situation healthy "" "one port of four is in another VLAN, as it is expected"
add_many 4 roce
for i in 0 1 2 3; do
	at $i tor-1 $((i == 2 ? 1 : 1076))
done
expectations "[$s-2]" 'NeighborVlan = 1'
judge --expect "$work/expect.conf"

situation planted not-active "a fifth adapter of the model is at the switch of the storage, and its link is down"
add_many 5 roce
for i in 0 1 2 3; do
	at $i leaf-$((i + 1))
done
at 4 stor-a
set_ 4/1 state=down phys_state=disabled netdev_carrier=no netdev_operstate=down event=port-error
judge --all

situation healthy "" "three of four rails have addresses, and the port at the switch of the storage has none"
rails rail-local
for i in 0 1 2; do
	at $i leaf-$((i + 1))
done
at 3 san-1
judge --all

situation planted odd-one-out "one port of five has half the speed, and all switches have names of their own"
add_many 4 roce
add roce2
for i in 0 1 2 3 4; do
	at $i "$(printf '%s\n' athos porthos aramis dartagnan planchet | sed -n $((i + 1))p)"
done
judge --all

situation planted rail-swapped "leaves of four rails count backwards, and the last two are exchanged"
leaves 4 3 1 2
judge --all

situation healthy "" "leaves of six rails have no order"
leaves 3 1 6 2 5 4
judge --all

situation planted sm-storm "two subnet managers compete, and each gives the port another LID"
add ib
wait_for_ports "$s-*" 1
for lid in 21 22 23 24 25 26; do
	set_ 0/1 lid=$lid sm_lid=$((lid % 2 + 1)) event=lid-change event=sm-change
	wait_until 0 Lid $lid
done
judge

situation healthy "" "tenants come and go, each with a P_Key of its own"
add_many 2 ib
wait_for_ports "$s-*" 2
for i in 0 1; do
	for k in 1 2 3 4 5 6; do
		set_ $i/1 pkey.1=0x802$k event=pkey-change
		wait_for $i "[.Pkeys[].Pkey] == [65535, $((0x8020 + k))]"
	done
done
judge

situation healthy "" "a P_Key went three times, and is back"
add_many 2 ib
wait_for_ports "$s-*" 2
for k in 1 2 3; do
	set_ 0/1 pkey.1= event=pkey-change
	wait_for 0 '[.Pkeys[].Pkey] == [65535]'
	set_ 0/1 pkey.1=0x8012 event=pkey-change
	wait_for 0 '[.Pkeys[].Pkey] == [65535, 32786]'
done
judge

situation planted sm-storm "a P_Key went and came back four times, and then it went"
add_many 2 ib
wait_for_ports "$s-*" 2
for k in 1 2 3 4 5; do
	set_ 0/1 pkey.1= event=pkey-change
	wait_for 0 '[.Pkeys[].Pkey] == [65535]'
	[[ $k == 5 ]] || set_ 0/1 pkey.1=0x8012 event=pkey-change
	[[ $k == 5 ]] || wait_for 0 '[.Pkeys[].Pkey] == [65535, 32786]'
done
judge

situation healthy "" "the addresses of IPoIB are those of a bond, whose members have the same MTU"
add_many 4 ib
wait_for_ports "$s-*" 4
for i in 0 1 2 3; do
	ipoib $i up 65520
	set_ $i/1 netdev_master=bond0 event=link
done
judge

situation healthy "" "IPoIB of two of four ports has large frames"
add_many 4 ib
wait_for_ports "$s-*" 4
for i in 0 1 2 3; do
	ipoib $i up $((i < 2 ? 65520 : 2044))
done
judge

situation healthy "" "a rail was put into a bridge, which has its address now"
add_many 2 rail0
set_ 1/1 '"netdev=ens1 71"' '"gid.0=192.168.100.18 v2"' event=gid-change
wait_for 1 '.Gids[0].Address == "192.168.100.18"'
set_ 1/1 netdev_master=br0 event=link
wait_for 1 '.Master == "br0"'
set_ 1/1 '"gid.0=fe80::2 v2"' event=gid-change
wait_for 1 '.Gids[0].Address == "fe80::2"'
judge

situation healthy "" "the IOMMU translates addresses of three adapters at once, and of one each by itself"
add_many 3 ib iommu=DMA-FQ
add ib iommu=DMA
judge

# I CAUSE: returns when rdmad has looked what became of the hardware of device I, which has gone
wait_for_cause() {
	local k
	for ((k = 0; k < WAIT * 50; k++)); do
		[[ $("$RDMACTL" explain --json "$s-$1/1" | jq -r '.Ports[0].Cause') != "$2" ]] || return 0
		sleep 0.02
	done
	die "$title: the hardware is not known to have gone"
}

# FATE: three adapters of four are left, of a model that no other situation has; what became of the hardware of the last is known
lose() {
	local i
	for i in 0 1 2 3; do
		add "${2:-ib}" "hca_type=MT4129-$s" "pci_address=0000:${i}b:00.0" "sysfs_path=/sys/devices/pci0000:${i}0/0000:${i}b:00.0" "${@:3}"
	done
	wait_for_ports "$s-*" 4
	simulate "remove $s-3"
	ports=3
	wait_for_ports "$s-*" 3
	wait_for_cause 3 "$1"
}

# Returns when rdmad has found that an adapter has gone: it looks whether the hardware has gone when no device has gone for two seconds,
# and compares all again when a device comes, as SettleSec is shorter here.
lost() {
	local k
	for ((k = 0; k < WAIT / 3; k++)); do
		sleep 3
		simulate "add $s-tick from=opa"
		wait_for_ports "$s-tick*" 1
		[[ $("$RDMACTL" check --json || true) != *'"missing"'* ]] || break
		simulate "remove $s-tick"
		wait_for_ports "$s-tick*" 0
	done
	simulate "remove $s-tick"
	wait_for_ports "$s-tick*" 0
}

# sichek PR#118, NVSentinel#1488
situation planted missing "one adapter of four has fallen off PCI Express"
lose hardware-removed
lost
judge --all

situation planted missing "both functions of one of four adapters have fallen off PCI Express"
for i in 0 1 2 3; do
	for f in 0 1; do
		add roce "hca_type=MT4129-$s" "pci_address=0000:${i}b:00.$f" "sysfs_path=/sys/devices/pci0000:${i}0/0000:${i}b:00.$f"
	done
done
wait_for_ports "$s-*" 8
simulate "remove $s-6"
simulate "remove $s-7"
ports=6
wait_for_ports "$s-*" 6
lost
judge --all

situation healthy "" "an adapter has fallen off PCI Express, and is back under another name"
lose hardware-removed
add ib "hca_type=MT4129-$s" pci_address=0000:3b:00.0 sysfs_path=/sys/devices/pci0000:30/0000:3b:00.0
judge --all

situation healthy "" "a hypervisor has taken away the only adapter of a model"
add ib "hca_type=MT4121-$s" pci_address=0000:0b:00.0 sysfs_path=/sys/devices/pci0000:00/0000:0b:00.0
add_many 2 roce
wait_for_ports "$s-*" 3
simulate "remove $s-0"
ports=2
wait_for_ports "$s-*" 2
wait_for_cause 0 hardware-removed
judge --all

situation healthy "" "the virtual functions of an adapter are taken away, as nobody needs them"
add ib "hca_type=MT4129-$s" pci_address=0000:0b:00.0 sysfs_path=/sys/devices/pci0000:00/0000:0b:00.0
for i in 1 2; do
	add ib "hca_type=MT4129-$s" function=vf physical_function=0000:0b:00.0 "pci_address=0000:0b:00.$i" "sysfs_path=/sys/devices/pci0000:00/0000:0b:00.$i"
done
wait_for_ports "$s-*" 3
simulate "remove $s-1"
simulate "remove $s-2"
ports=1
wait_for_ports "$s-*" 1
wait_for_cause 2 hardware-removed
judge --all

situation healthy "" "an adapter has been taken away, and that does not matter"
lose hardware-removed
judge --all --expect Ignore=missing

# linux: port counters of mana (RDMA/mana_ib: Add port statistics support)
situation planted loss "a MANA adapter gets requests a second time"
add roce driver=mana
grows 0 hw_counter.responder_dup_request=500
wait_published 0 loss
judge

situation planted loss "a MANA adapter has given up connections"
add roce driver=mana
grows 0 hw_counter.requester_retries_exceeded=5
wait_published 0 loss
judge

situation healthy "" "receivers of a MANA adapter are slow, and its congestion control works"
add roce driver=mana
grows 0 hw_counter.requester_rnr_nak=500
grows 0 hw_counter.num_qps_congested=500
grows 0 hw_counter.rate_inc_events=5000
judge

# linux: qede_ethtool.c
situation planted pause-storm "a switch pauses a priority of a FastLinQ adapter all the time"
add roce driver=qedr
grows 0 ethtool_counter.rx_pfc_frames=9000
wait_published 0 pause-storm
judge

situation planted loss "a FastLinQ adapter has no room for what it receives"
add roce driver=qedr
grows 0 ethtool_counter.brb_discards=500
wait_published 0 loss
judge

# kernel.org, mlx5 counters: the other end has a larger MTU
situation planted loss "an adapter gets frames that are larger than its MTU"
add roce
grows 0 ethtool_counter.rx_oversize_pkts_phy=500
wait_published 0 loss
judge

# rocm-systems, bnge: bnxt_port_stats_ext_arr
situation planted loss "a Thor 2 discards what it receives of one class"
add roce driver=bnxt_re
grows 0 ethtool_counter.rx_discard_packets_cos3=500
wait_published 0 loss
judge

situation planted retraining "the link of a Thor 2 goes down again and again by its counter, and nobody has seen it"
add roce driver=bnxt_re
grows 0 ethtool_counter.link_down_events=1
wait_published 0 retraining
judge

situation planted bad-signal "a link of a Thor 2 has symbol errors all the time"
add roce driver=bnxt_re
grows 0 ethtool_counter.rx_pcs_symbol_err=500
wait_published 0 bad-signal
judge

situation healthy "" "a Thor 2 passes a threshold of its buffer, and pauses end"
add roce driver=bnxt_re
grows 0 ethtool_counter.rx_buffer_passed_threshold=500
grows 0 ethtool_counter.resume_pause_events=300
grows 0 ethtool_counter.rx_corrected_bits=5000
judge

# intel-wired-lan: ice: add link_down_events
situation planted retraining "the link of an E810 goes down again and again by its counter, and nobody has seen it"
add roce driver=irdma
grows 0 ethtool_counter.link_down_events.nic=1
wait_published 0 retraining
judge

# isc-projects/ethq#7: be2net, with ocrdma
situation planted pause-storm "a switch pauses one priority of an Emulex adapter all the time"
add roce driver=ocrdma
grows 0 ethtool_counter.rx_priority_pause_frames=9000
wait_published 0 pause-storm
judge

situation planted loss "an Emulex adapter has no room for what it receives"
add roce driver=ocrdma
grows 0 ethtool_counter.rxpp_fifo_overflow_drop=500
wait_published 0 loss
judge

# linux: cxgb4_ethtool.c
situation planted loss "an iWARP adapter of Chelsio has no room for what it receives"
add iwarp driver=cxgb4
grows 0 ethtool_counter.rx_bg0_frames_dropped=500
wait_published 0 loss
judge

# houzhibo.com: rings of Ethernet are too small
situation healthy "" "an adapter has no descriptors for Ethernet, and no RDMA is lost"
add roce
grows 0 ethtool_counter.rx_out_of_buffer=500
grows 0 ethtool_counter.rx_steer_missed_packets=500
judge

# amazon-cloudwatch-agent PR#1941
situation healthy "" "an EFA adapter sends a little again, and peers do not respond any more"
add efa
grows 0 hw_counter.retrans_pkts=2
grows 0 hw_counter.unresponsive_remote_events=3
judge

# NVSentinel PR#1526: roce_slow_restart, carrier_changes
situation healthy "" "congestion control begins slowly after a pause"
add roce
grows 0 hw_counter.roce_slow_restart=50
grows 0 hw_counter.roce_slow_restart_cnps=50
judge

# NVSentinel#1334, #1526: a driver that loses its firmware for a while
hang() {
	local i
	wait_for_ports "$s-*" "$ports"
	for ((i = 0; i < $2; i++)); do
		simulate "stall $s-$1"
		"$RDMACTL" query "$s-$1/1" >/dev/null 2>&1 || true
		wait_for "$1" .Stale
		simulate "unstall $s-$1"
		wait_for "$1" '.Stale | not'
	done
}
situation planted health-recovered "an adapter does not answer, again and again"
add_many 2 ib
hang 1 4
judge

situation healthy "" "an adapter did not answer twice in a day"
add_many 2 ib
hang 1 2
judge

# ROCm/device-metrics-exporter#393, PR#554: only the PHY counts
phy_downs() {
	local i=$1 n
	shift
	wait_for_ports "$s-*" "$ports"
	for n in "$@"; do
		says_of_itself $i phy_link_downs=$n
		wait_for $i ".PhyLinkDowns == $n"
	done
}
situation planted retraining "the PHY of an Ethernet port loses its link again and again, and nobody has seen it"
add_many 2 roce driver=ionic
phy_downs 1 7 8 9 10
judge

situation planted retraining "the PHY of an InfiniBand port loses its link again and again, and nobody has seen it"
add_many 2 ib
wait_for_ports "$s-*" 2
ipoib 0 up 2044
phy_downs 0 1121 1125
judge

situation healthy "" "the PHY of a port has lost its link often, long ago"
add_many 2 roce
phy_downs 1 1121 1121 1122
judge

# cables that are moved while a cluster is built: the PHY counts as well
situation healthy "" "an administrator has set an interface down six times, and its PHY has counted that"
add roce
for ((i = 1; i <= 6; i++)); do
	wait_for_ports "$s-*" 1
	set_ 0/1 state=down phys_state=disabled netdev_up=no netdev_carrier=no netdev_operstate=down phy_link_downs=$i event=link event=port-error
	wait_for 0 '.State == "down"'
	set_ 0/1 state=active phys_state=link-up netdev_carrier=yes netdev_operstate=up netdev_up=yes phy_link_downs=$i event=link event=port-active
	wait_for_downs 0 "$i"
done
judge

# SuperPOD: two networks whose switches have names that begin alike
situation healthy "" "a fifth adapter of the model is at the leaf of the storage, whose name begins as those of the other leaves"
add_many 4 roce
add roce2
for i in 0 1 2 3; do
	at $i leaf0$((i + 1))-gpu
done
set_ 4/1 netdev_mtu=1500 active_mtu=1024 event=link
at 4 leaf05-stor
judge --all

situation planted odd-one-out "one port of five has half the speed, at the leaf of another rack"
add_many 4 roce
add roce2
for i in 0 1 2 3; do
	at $i r07-leaf$((i + 1))
done
at 4 r08-leaf1
judge --all

# lshca#77, stackhpc: a bond for the administration, and the other port a rail of its own
situation healthy "" "a bond has one member only, and the other port of the adapter has an address of its own"
add rail0 sys_image_guid=0002:c903:00e3:0001
add rail1 sys_image_guid=0002:c903:00e3:0001
set_ 0/1 netdev_master=bond0 bond_mode=active-backup bond_member.70=ens0,active,200000000000 '"gid.0=192.168.100.17 v2 bond0 80"' event=link event=gid-change
judge

# sriov-network-operator, spiderpool: priorities of virtual functions come from their VLANs
situation healthy "" "a port has flow control (PFC) for priority 3, trusts the VLAN tag, and its virtual functions have VLANs"
add roce
set_ 0/1 pfc_enabled=3 priority_trust=pcp vf.0=address=02:00:00:00:00:01 vf.1=address=02:00:00:00:00:02 event=dcb event=netdev
judge

situation healthy "" "a port has flow control (PFC) for priority 3, trusts the VLAN tag, and a pod has its VLAN"
add roce
set_ 0/1 pfc_enabled=3 priority_trust=pcp '"gid.4=::ffff:10.9.0.7 v2 namespace=other"' event=dcb event=gid-change
wait_for 0 '.Gids | length == 5'
judge

# QubesOS#2525, nixpkgs#66268: workstations
situation healthy "" "a workstation was suspended three times, and the link came back each time"
add roce
for k in 1 2 3; do
	wait_for_ports "$s-*" 1
	simulate "event $s-0 resume"
	set_ 0/1 state=down phys_state=polling netdev_carrier=no event=port-error
	wait_until 0 State down
	set_ 0/1 state=active phys_state=link-up netdev_carrier=yes event=port-active
	wait_for_downs 0 $k
done
judge

situation planted not-active "a workstation was suspended, and the link did not come back"
add roce
wait_for_ports "$s-*" 1
simulate "event $s-0 resume"
set_ 0/1 state=down phys_state=polling netdev_carrier=no netdev_operstate=down event=port-error
wait_until 0 State down
judge

# Mooncake#2747: GIDs of ionic
situation healthy "" "a Pollara has a link-local GID and one of IPv4, both of RoCE v2"
add_many 8 roce driver=ionic
for i in 0 1 2 3 4 5 6 7; do
	set_ $i/1 "\"gid.0=fe80::690:81ff:fe37:a9e$i v2\"" "\"gid.1=10.102.9.10$i v2\"" gid.2= gid.3= netdev_address=04:90:81:37:a9:e$i event=gid-change event=link
done
judge

# firedancer PR#11071, linux irdma: an adapter without iWARP and RoCE in use
situation healthy "" "irdma is loaded for four ports on the board, of which none is used for RDMA, and one has a cable"
add roce driver=irdma hca_type= sys_image_guid=6cfe:5430:0000:0010 pci_address=0000:17:00.0
for f in 1 2 3; do
	add roce-unused driver=irdma hca_type= board_id= sys_image_guid=6cfe:5430:0000:001$f pci_address=0000:17:00.$f
done
judge

# rdma-core PR#1082: Kunpeng has four ports on the board
situation healthy "" "Kunpeng has four ports of hns on the board, and two of them have cables"
for f in 0 1; do
	add roce driver=hns_roce_hw_v2 hca_type= pci_address=0000:7d:00.$f sys_image_guid=0
done
for f in 2 3; do
	add roce-unused driver=hns_roce_hw_v2 hca_type= board_id= pci_address=0000:7d:00.$f sys_image_guid=0
done
judge

situation planted not-active "one of two ports of hns that have cables has lost its link"
for f in 0 1; do
	add roce driver=hns_roce_hw_v2 hca_type= pci_address=0000:7d:00.$f
done
for f in 2 3; do
	add roce-unused driver=hns_roce_hw_v2 hca_type= board_id= pci_address=0000:7d:00.$f
done
wait_for_ports "$s-*" 4
set_ 1/1 state=down phys_state=disabled netdev_carrier=no netdev_operstate=down event=port-error event=link
judge

# rdma-core: qedr has a protocol for each port
situation healthy "" "one port of a FastLinQ adapter is RoCE, and the other one iWARP"
add roce driver=qedr pci_address=0000:3b:00.0
add iwarp driver=qedr pci_address=0000:3b:00.1
judge

# rxe-dev#74, torchcomms#2295
situation healthy "" "RoCE in software was taken away again"
add_many 2 ib
add roce driver=rdma_rxe hca_type= board_id= fw_ver=
add roce driver=rdma_rxe hca_type= board_id= fw_ver=
wait_for_ports "$s-*" 4
simulate "remove $s-3"
ports=3
judge --all

# DSpark PR#35: the second controller has two lanes of four with an older BIOS
situation planted pcie-slow "GB10: the link of the second controller of a cage has two lanes of four"
add roce pci_address=0000:01:00.0 sys_image_guid=fc4c:ea03:00f9:4230 pcie_speed=32000000000 pcie_width=4 pcie_max_speed=32000000000 pcie_max_width=4 pcie_rate=126030769216 pcie_max_rate=126030769216
add roce pci_address=0002:01:00.0 sys_image_guid=fc4c:ea03:00f9:4230 pcie_speed=32000000000 pcie_width=2 pcie_max_speed=32000000000 pcie_max_width=4 pcie_rate=63015384608 pcie_max_rate=126030769216
judge

# DSpark#146
situation planted pcie-errors "GB10: the root port of one controller reports a fatal error"
for d in 0000 0002; do
	add roce pci_address=$d:01:00.0 sys_image_guid=fc4c:ea03:00f9:4230 "${aer[@]}" aer_root_fatal=$([[ $d == 0002 ]] && echo 1 || echo 0)
done
judge

# siderolabs/extensions#893: HGX B200
situation healthy "" "four functions to the switches of NVLink have one adapter, and two of them no link"
add_many 8 ib
for f in 0 1; do
	add ib-default hca_type=MT4129 board_id=NVD0000000054 pci_address=0000:05:00.$f sys_image_guid=cc40:f303:0027:f62e
done
for f in 2 3; do
	add ib-unused hca_type=MT4129 board_id=NVD0000000054 pci_address=0000:05:00.$f sys_image_guid=cc40:f303:0027:f62e
done
judge

# openshift/sriov-network-operator#635
situation healthy "" "virtual functions of InfiniBand have a GUID each, and no pod: LID 65535, disabled"
add ib
for v in 0 1 2 3; do
	add ib function=vf function_number=$v
	set_ $((v + 1))/1 state=down phys_state=disabled lid=65535 sm_lid=0 event=port-error
done
judge

# infra-controller#4762
situation healthy "" "the fabric does not know a port that is active, and its host does"
add_many 4 ib
set_ 2/1 neighbor_source=mad neighbor= event=neighbor
judge

# vexxhost/atmosphere PR#3903
situation planted bond-member "a member of a bond by LACP lost its speed after nine days"
add roce
set_ 0/1 netdev_master=bond0 bond_mode=802.3ad bond_member.70=ens0,active,25000000000 bond_member.71=ens1,active,25000000000 event=link
wait_for 0 '.BondMembers | length == 2'
set_ 0/1 bond_member.71=ens1,active event=link
wait_for 0 '.BondMembers[1].Speed == null'
judge

situation planted bond-member "three of four members of a bond carry"
add roce
set_ 0/1 netdev_master=bond0 bond_mode=802.3ad bond_member.70=ens0,active,25000000000 bond_member.71=ens1,active,25000000000 bond_member.72=ens2,active,25000000000 bond_member.73=ens3,down event=link
judge

situation healthy "" "a bond of two 25 Gb/s members by xor, both of which carry"
add roce
set_ 0/1 netdev_master=bond0 bond_mode=balance-xor bond_member.70=ens0,active,25000000000 bond_member.71=ens1,active,25000000000 event=link
judge

# NVIDIA docs: link diagnostics
situation planted not-active "an Ethernet link cannot agree on error correction with the other end"
add_many 3 roce
set_ 2/1 state=down phys_state=polling netdev_carrier=no netdev_operstate=down link_down_reason=logical-mismatch fec_mode= event=port-error event=link
judge

situation planted not-active "an InfiniBand link stays in training"
add_many 3 ib
set_ 1/1 state=down phys_state=port-configuration-training event=port-error
judge

# gpud PR#482: Base lid and SM lid of a port that polls
situation planted not-active "an InfiniBand port polls, and still has its LIDs"
add_many 12 ib
set_ 10/1 state=down phys_state=polling active_speed=SDR lid=868 sm_lid=334 event=port-error
judge

# gpud PR#99
situation healthy "" "the adapter for the front end has two ports, of which the second is disabled"
add_many 8 ib
add roce hca_type=MT4125 board_id=MT_0000000359 sys_image_guid=e8eb:d303:0033:07de pci_address=0000:9a:00.0
add roce-unused hca_type=MT4125 board_id=MT_0000000359 sys_image_guid=e8eb:d303:0033:07de pci_address=0000:9a:00.1
judge

# NCCL#1405: addresses of pods
situation healthy "" "four virtual functions of a pod are in one IPv6 network, with addresses of their own"
for i in 0 1 2 3; do
	add rail0 function=vf function_number=$i
	set_ $i/1 "\"netdev=net$i 7$i\"" "\"gid.0=fd00:1148:9000:5000:4:200:3:ff2$i v2\"" netdev_address=02:00:00:00:55:0$i event=gid-change event=link
done
judge

# nccl-mesh-plugin PR#51: machines in a ring
situation healthy "" "two ports are connected to two other machines, each in a network of its own"
add rail0
add rail1
set_ 0/1 neighbor_source=lldpd neighbor=spark-2 neighbor_port=enp1s0f1np1 event=neighbor
set_ 1/1 '"gid.0=192.168.101.18 v2"' neighbor_source=lldpd neighbor=spark-4 neighbor_port=enp1s0f0np0 event=neighbor event=gid-change
judge --all

# SoftRoCE/librxe-dev#4, mlx5: somebody uses RoCE v1 on all ports
situation healthy "" "rdma_cm uses RoCE v1 on all ports"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 "roce_gid_type=\"RoCE v1\"" event=device
done
read_all
judge

# omnia#422, MemLiner#4: a second subnet manager that stands by
situation healthy "" "a second subnet manager was started, and stands by: the subnet is configured three times"
add_many 2 ib
events 3 sm-change
judge

situation planted sm-storm "somebody has started a second subnet manager, and both configure the subnet"
add ib
managers 3 1 3 1 3
judge

# nccl-tests#36: two machines in two partitions
situation planted lost-pkey "a virtual machine was moved to another availability set: its port has another P_Key"
add_many 3 ib
wait_for_ports "$s-*" 3
set_ 1/1 pkey.1=0x8af3 event=pkey-change
wait_for 1 '[.Pkeys[].Pkey] == [65535, 35571]'
judge

# ib-kubernetes PR#49
situation healthy "" "a port has 128 partitions"
add ib
declare -a keys=()
for ((k = 1; k < 128; k++)); do
	keys+=("pkey.$k=$((0x8000 + k))")
done
set_ 0/1 "${keys[@]}" event=pkey-change
wait_for 0 '(.Pkeys | length) == 128'
judge

# geerlingguy#92: Rate: 40 of a port that is disabled
situation healthy "" "the second cage of two adapters with two functions each says 40 Gb/s, and has no cable"
for d in 0000 0002; do
	add roce pci_address=$d:01:00.0 sys_image_guid=fc4c:ea03:00f9:4230
	add roce-unused pci_address=$d:01:00.1 sys_image_guid=fc4c:ea03:00f9:4230
	set_ $((devices - 1))/1 active_speed=QDR netdev_speed= event=link
done
judge

# ucx#10430, nccl#1957
situation healthy "" "all ports have the MTU of the default, and so has their switch"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 netdev_mtu=1500 active_mtu=1024 neighbor_source=lldpd neighbor=tor-1 neighbor_frame=1522 event=link event=neighbor
done
judge

situation planted neighbor-mtu "the MTU was raised to 9000 on one of four ports, and not at the switch"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 netdev_mtu=4200 active_mtu=4096 neighbor_source=lldpd neighbor=tor-1 neighbor_frame=4222 event=link event=neighbor
done
set_ 2/1 netdev_mtu=9000 event=link
wait_for 2 '.NetdevMtu == 9000'
judge

# losslessnetwork.com, kubernetes.recipes (Dell OS10)
situation planted odd-one-out "one port of four does not send notifications of congestion, and answers none"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 ecn_notification=3 ecn_reaction=3 event=dcb
done
set_ 3/1 ecn_notification=none ecn_reaction=none event=dcb
wait_for 3 '.EcnNotificationPoint == []'
judge

situation planted neighbor-pfc "the switch has no flow control (PFC), and the port has it for priority 3"
add roce
set_ 0/1 pfc_enabled=3 priority_trust=dscp neighbor_source=lldpd neighbor=tor-1 neighbor_port=ethernet1/1/1 neighbor_pfc=none event=dcb event=neighbor
judge

# SONiC: DOM
situation planted low-light "one lane of eight of an 800G module receives too little light"
add roce
set_ 0/1 cable_present=yes cable_type=optic cable_rx_power=1100000,1100000,1100000,1100000,20000,1100000,1100000,1100000 cable_rx_power_critical=129000 cable_rx_power_margin=0 event=cable
judge

situation planted weak-light "a fiber is dirty: a lane receives hardly enough light"
add roce
set_ 0/1 cable_present=yes cable_type=optic cable_rx_power=140000,900000,900000,900000 cable_rx_power_critical=129000 cable_rx_power_margin=35 event=cable
judge

situation healthy "" "a copper cable has no light, and says no thresholds"
add roce
set_ 0/1 cable_present=yes cable_type=dac cable_rx_power=0,0,0,0 cable_tx_power=0,0,0,0 event=cable
judge

# libfabric, hwmon
situation planted exhausted "all completion queues of an adapter are in use"
add roce driver=bnxt_re max_cq=65536 cq_count=65500
judge

# Siblings of what was wrong
situation planted pause-storm "a FastLinQ adapter pauses its switch on a priority all the time"
add roce driver=qedr
grows 0 ethtool_counter.tx_pfc_frames=9000
wait_published 0 pause-storm
judge

situation planted pause-storm "an Emulex adapter pauses its switch on one priority all the time"
add roce driver=ocrdma
grows 0 ethtool_counter.tx_priority_pauseframes=9000
wait_published 0 pause-storm
judge

situation healthy "" "a switch pauses a priority of a FastLinQ adapter now and then, and a program has no buffers for Ethernet"
add roce driver=qedr
grows 0 ethtool_counter.rx_pfc_frames=200
grows 0 ethtool_counter.no_buff_discards=500
judge

situation healthy "" "an adapter gets a frame that is larger than its MTU now and then"
add roce
grows 0 ethtool_counter.rx_oversize_pkts_phy=2
judge

situation healthy "" "the link of a Thor 2 went down once by its counter"
add roce driver=bnxt_re
grow 0 ethtool_counter.link_down_events=1
judge --since="$work/counters"

situation healthy "" "the link of a Thor 2 went down twice, one time of which was seen"
add roce driver=bnxt_re
wait_for_ports "$s-*" 1
set_ 0/1 ethtool_counter.link_down_events=0
"$RDMACTL" counters --save="$work/counters" "$s-*" >/dev/null
flap 0 1
set_ 0/1 ethtool_counter.link_down_events=2
judge --since="$work/counters"

situation planted health-recovered "a RoCE adapter with two functions does not answer on one of them, again and again"
add roce driver=irdma pci_address=0000:17:00.0
add roce driver=irdma pci_address=0000:17:00.1
hang 1 5
judge

situation planted device-stale "an adapter hangs for the fifth time"
add_many 2 ib
hang 0 4
simulate "stall $s-0"
"$RDMACTL" query "$s-0/1" >/dev/null 2>&1 || true
wait_for 0 .Stale
judge

situation healthy "" "a query of a port failed with an error, five times"
add_many 2 ib
wait_for_ports "$s-*" 2
for k in 1 2 3 4 5; do
	simulate "fail $s-1/1 EIO"
	"$RDMACTL" query "$s-1/1" >/dev/null 2>&1 || true
	wait_for 1 .Stale
	simulate "fail $s-1/1 none"
	"$RDMACTL" query "$s-1/1" >/dev/null 2>&1 || true
	wait_for 1 '.Stale | not'
done
judge

situation healthy "" "a link went down once, and its PHY has counted that"
add roce driver=ionic
wait_for_ports "$s-*" 1
phy_downs 0 7
set_ 0/1 state=down phys_state=polling netdev_carrier=no phy_link_downs=8 event=port-error event=link
wait_until 0 State down
set_ 0/1 state=active phys_state=link-up netdev_carrier=yes event=port-active event=link
wait_for_downs 0 1
judge

situation healthy "" "a leg of a LAG was set down once, and the PHY has counted that, and the other leg too"
add roce num_lag_ports=2
set_ 0/1 netdev_master=bond0 bond=bond0 bond_mode=802.3ad bond_member.70=ens0,active,200000000000 bond_member.71=ens1,active,200000000000 event=link
phy_downs 0 7 8 9
judge

situation healthy "" "the PHY of a virtual function says that it has lost the link of its adapter"
add_many 2 roce function=vf
phy_downs 1 7 8 9 10
judge

situation healthy "" "a fifth adapter of the model is in another VLAN, at a switch of the storage in the same rack"
add_many 5 roce
for i in 0 1 2 3; do
	at $i r12-leaf-$((i + 1)).gpu 100
done
at 4 r12-leaf-5.sto 200
judge --all

situation healthy "" "a bond has one member only, and peers reach the other port of the adapter by IPv6"
add rail0 sys_image_guid=0002:c903:00e3:0001
add rail1 sys_image_guid=0002:c903:00e3:0001
set_ 0/1 netdev_master=bond0 bond_mode=802.3ad bond_member.70=ens0,active,200000000000 '"gid.0=192.168.100.17 v2 bond0 80"' event=link event=gid-change
set_ 1/1 gid.0=fd93::18 event=gid-change
wait_for 1 '.Gids[0].Address == "fd93::18"'
judge

situation planted unused-pfc "no DSCP has the priority for which there is flow control, whatever virtual functions there are"
add roce
set_ 0/1 pfc_enabled=3 priority_trust=dscp dscp_to_priority=0-63:0 vf.0=address=02:00:00:00:00:01 event=dcb event=netdev
judge

situation planted flap "a workstation was suspended, and its link went down twice more"
add roce
wait_for_ports "$s-*" 1
simulate "event $s-0 resume"
flap 0 1
sleep 4
flap 0 2 1
judge

situation planted odd-one-out "one port of four sends notifications of congestion, and does not answer any"
add_many 4 roce
for i in 0 1 2 3; do
	set_ $i/1 ecn_notification=3 ecn_reaction=3 event=dcb
done
set_ 1/1 ecn_reaction=none event=dcb
wait_for 1 '.EcnReactionPoint == []'
judge

situation planted "missing missing" "two of five adapters have fallen off PCI Express, one after the other"
add ib "hca_type=MT4129-$s" pci_address=0000:5b:00.0 sysfs_path=/sys/devices/pci0000:50/0000:5b:00.0
for i in 0 1 2 3; do
	add ib "hca_type=MT4129-$s" "pci_address=0000:${i}b:00.0" "sysfs_path=/sys/devices/pci0000:${i}0/0000:${i}b:00.0"
done
wait_for_ports "$s-*" 5
simulate "remove $s-3"
wait_for_cause 3 hardware-removed
simulate "remove $s-4"
wait_for_cause 4 hardware-removed
ports=3
lost
judge --all

# rxe on the interface of an adapter (torchcomms#2295)
situation healthy "" "RoCE in software is on the interface of an adapter that has RoCE"
add rail0
add rail0 driver=rdma_rxe hca_type= board_id= fw_ver=
judge

# nixpkgs, NetworkManager: all rails lose their addresses with a restart of the network
situation planted "no-address no-address no-address no-address" "four rails have lost their addresses with a restart of the network"
rails rail0 gid.0=192.168.100.20
wait_for_ports "$s-*" 4
wait_for 3 '.Gids[0].Address == "192.168.100.20"'
for i in 0 1 2 3; do
	set_ $i/1 gid.0=fe80::1 event=gid-change
	wait_for $i '.Gids[0].Address == "fe80::1"'
done
judge

# NCCL#1333
situation healthy "" "the GIDs of IPv4 have moved from index 3 to 4, after a link went down once"
add_many 8 roce
wait_for_ports "$s-*" 8
set_ 5/1 state=down phys_state=disabled netdev_carrier=no event=port-error
wait_until 5 State down
set_ 5/1 state=active phys_state=link-up netdev_carrier=yes gid.3= '"gid.4=::ffff:192.168.7.9 v2"' event=port-active event=gid-change
wait_until 5 State active
judge

# Mellanox/k8s-rdma-shared-dev-plugin#98: LINK_TYPE_P2=ETH
situation healthy "" "the second port of an adapter was set to Ethernet, and has no cable"
add vpi
ports=2
wait_for_ports "$s-*" 2
judge

# a rail optimized network of two leaves
situation healthy "" "rails are at two leaves by turns"
leaves 1 2 1 2
judge --all

situation planted rail-swapped "leaves have letters, and two cables are exchanged"
for ((k = 0; k < 4; k++)); do
	add ib pci_address=0000:a$k:00.0
done
for rail in 0:leaf-a 1:leaf-c 2:leaf-b 3:leaf-d; do
	set_ "${rail%:*}/1" neighbor_source=lldpd neighbor="${rail#*:}" event=neighbor
done
judge --all

# SONiC, Cumulus: PFC on all priorities
situation healthy "" "all priorities have flow control (PFC), and the port trusts the VLAN tag"
add roce
set_ 0/1 pfc_enabled=0,1,2,3,4,5,6,7 priority_trust=pcp event=dcb
judge

# Azure servicing: functions are revoked and come back
situation healthy "" "a hypervisor takes the function of a virtual machine away for a minute, and gives it back"
add roce driver=mana
wait_for_ports "$s-*" 1
simulate "remove $s-0"
wait_for_ports "$s-*" 0
simulate "add $s-0 from=roce driver=mana"
judge

# NVIDIA: subfunctions
situation healthy "" "subfunctions wait, without an address, and with one"
add roce
add rail-local function=sf function_number=88
add rail-none function=sf function_number=89
judge

# HPE Slingshot, cxi: RoCE through a driver without a model
situation healthy "" "two adapters say neither a model nor a board nor firmware"
add_many 2 roce driver=cxi hca_type= board_id= fw_ver=
judge

# Intel: E810 in iWARP mode beside RoCE mode
situation healthy "" "one port of an E810 has iWARP, as its module parameter says, and the other RoCE"
add iwarp driver=irdma hca_type= pci_address=0000:17:00.0
add roce driver=irdma hca_type= pci_address=0000:17:00.1
judge

# rdma-core#158: node GUIDs of mlx4 SR-IOV
situation planted same-guid "two adapters were flashed with one GUID"
add ib node_guid=0002:c903:00bb:0001 sys_image_guid=0002:c903:00bb:0003
add ib node_guid=0002:c903:00bb:0001 sys_image_guid=0002:c903:00bb:0003
judge

# IBM: SMC-R with two adapters
situation healthy "" "two RoCE adapters of one IP network have an address each, and PNET ids"
add rail0
add rail1
judge

# nhc#90: an old adapter says no PCI Express link
situation healthy "" "a ConnectX-3 says nothing of its PCI Express link, and others do"
add old
add_many 2 ib "${pcie[@]}"
judge

# sichek PR#122: Gen5 adapter in a Gen4 slot
situation healthy "" "four adapters for 32 GT/s are in slots for 16"
add_many 4 ib pcie_speed=16000000000 pcie_width=16 pcie_max_speed=32000000000 pcie_max_width=16 pcie_rate=252061538432 pcie_max_rate=252061538432
judge

situation planted pcie-slow "the link between a PCI switch and the processor has half of its speed, and four adapters are below it"
add_many 4 ib "${pcie[@]}" pcie_rate=252061538432 pcie_narrowest=0000:59:01.0
judge

# mstflint#516: firmware for two ports on a board with one
situation healthy "" "an adapter has one cage, and its firmware says two ports"
add unused
judge

# gpud PR#1247
situation planted flap "a CX8 flapped while the fabric settled, and is up"
add_many 4 ib hca_type=MT4131
flap 2 3
judge

# XDR: 800 Gb/s split for two hosts
situation healthy "" "two lanes at XDR: one port of the switch for two hosts"
add_many 2 ib
for i in 0 1; do
	set_ $i/1 active_speed=XDR active_width=2 event=port-active
done
judge --expect Ignore=slower

# infiniband-diags: SM LID of a port that its manager has forgotten
situation planted no-lid "an active port has the LID 65535"
add_many 2 ib
set_ 1/1 lid=65535 event=lid-change
judge

situation planted no-sm "an active port says that its subnet manager has the LID 65535"
add_many 2 ib
set_ 1/1 sm_lid=65535 event=sm-change
wait_until 1 SmLid 65535
judge

situation planted no-lid "an active port has a LID of multicast"
add_many 2 ib
set_ 1/1 lid=49155 event=lid-change
wait_until 1 Lid 49155
judge

# OFED: IPoIB interfaces renamed, and one port of four in datagram mode
situation planted odd-one-out "one port of four has no IPoIB interface up, and its children are"
add_many 4 ib
wait_for_ports "$s-*" 4
for i in 0 1 2 3; do
	ipoib $i "$([[ $i == 0 ]] && echo down || echo up)" 4092
done
judge

# infra-controller: port in the state INIT after the SM was moved
situation planted "not-active not-active not-active not-active" "the subnet manager was moved, and four ports stay init"
add_many 4 ib
wait_for_ports "$s-*" 4
for i in 0 1 2 3; do
	set_ $i/1 state=init lid=0 sm_lid=0 event=port-error
	wait_until $i State init
done
judge

# NV: an unplugged spare cable
situation healthy "" "the module of a spare port that was never used becomes hot"
add roce sys_image_guid=0002:c903:00f1:0001 pci_address=0000:11:00.0
add roce-unused sys_image_guid=0002:c903:00f1:0001 pci_address=0000:11:00.1
says_of_itself 1 module_temperature=40 module_temperature_margin=30
judge

# bnxt: a driver that counts retransmissions since the boot
situation healthy "" "a Thor 2 had sent again a million packets before rdmad was started"
add roce driver=bnxt_re hw_counter.to_retransmits=1000000 hw_counter.seq_err_naks_rcvd=500000
judge

# Siblings of what was wrong
situation planted no-lid "an active port of Omni-Path has no LID"
add_many 2 opa
set_ 1/1 lid=0 event=lid-change
judge

situation healthy "" "a port of Omni-Path has a LID as long as only Omni-Path has them"
add_many 2 opa
set_ 1/1 lid=65540 event=lid-change
wait_until 1 Lid 65540
judge

situation healthy "" "a port has the last LID that is no multicast"
add_many 2 ib
set_ 1/1 lid=49151 event=lid-change
wait_until 1 Lid 49151
judge

# I SIZE FIRST N: the GID table of a port has room for SIZE entries, and pods have N of them, from FIRST on
pods() {
	local k
	local -a entries=()
	for ((k = $3; k < $3 + $4; k++)); do
		entries+=("\"gid.$k=10.0.$k.7 v2 eth0 $((100 + k)) namespace=other\"")
	done
	set_ "$1/1" "gid_tbl_len=$2" "${entries[@]}" event=gid-change
	wait_for_ports "$s-*" "$ports"
	wait_for "$1" "(.Gids | length) == $3 + $4"
}

# brpc#3119: each container adds entries, which are as many as the adapter can have
situation planted full-gids "containers have taken all entries of the GID table of a RoCE port"
add roce
pods 0 16 4 12
judge

# Mooncake#1592
situation planted full-gids "one entry is left in the GID table of one of two RoCE ports"
add_many 2 roce
pods 1 16 4 11
judge

situation healthy "" "a quarter of the GID table of a RoCE port is free"
add roce
pods 0 16 4 8
judge

# libfabric#12673, erdma: drivers with a table of one entry
situation healthy "" "iWARP and EFA have GID tables of one entry, which is in use"
add iwarp driver=siw
set_ 0/1 gid_tbl_len=1 event=gid-change
add efa
judge

# network-operator#2258
situation healthy "" "the driver was loaded again, and an adapter has its address at another index"
add rail0
wait_for_ports "$s-*" 1
simulate "remove $s-0"
wait_for_ports "$s-*" 0
simulate "add $s-0 from=rail0"
set_ 0/1 gid.0= '"gid.3=192.168.100.17 v2"' event=gid-change
judge

# mlnx-tools PR#157
situation planted missing "an adapter with functions in two PCI domains has fallen off PCI Express"
for i in 0 1 2 3; do
	for f in 2 6; do
		add roce "hca_type=MT41692-$s" "pci_address=000$f:0$i:00.0" "sys_image_guid=0010:e000:0fe$i:0001" "sysfs_path=/sys/devices/pci000$f:00/000$f:0$i:00.0"
	done
done
wait_for_ports "$s-*" 8
simulate "remove $s-6"
simulate "remove $s-7"
ports=6
wait_for_ports "$s-*" 6
lost
judge --all

# Returns when rdmad has looked again whether an adapter has gone: see lost
settled() {
	sleep 3
	simulate "add $s-tick from=opa"
	wait_for_ports "$s-tick*" 1
	simulate "remove $s-tick"
	wait_for_ports "$s-tick*" 0
}

# kubevirt#17222: it is plugged in again when the machine has moved
situation healthy "" "an adapter of a virtual machine was unplugged, and came back at another address under another name"
for i in 0 1 2; do
	add ib "hca_type=MT4129-$s" "pci_address=0000:${i}b:00.0" "sysfs_path=/sys/devices/pci0000:${i}0/0000:${i}b:00.0" "node_guid=0010:e000:0fb$i:0010"
done
wait_for_ports "$s-*" 3
simulate "remove $s-2"
ports=2
wait_for_ports "$s-*" 2
wait_for_cause 2 hardware-removed
add ib "hca_type=MT4129-$s" pci_address=0000:4b:00.0 sysfs_path=/sys/devices/pci0000:40/0000:4b:00.0 node_guid=0010:e000:0fb2:0010
settled
judge --all

situation planted missing "one of two adapters of a model has fallen off PCI Express"
for i in 0 1; do
	add ib "hca_type=MT4131-$s" "pci_address=0000:${i}b:00.0" "sysfs_path=/sys/devices/pci0000:${i}0/0000:${i}b:00.0"
done
wait_for_ports "$s-*" 2
simulate "remove $s-1"
ports=1
wait_for_ports "$s-*" 1
wait_for_cause 1 hardware-removed
lost
judge --all

# SONiC has no drops for priorities 3 and 4 if nobody says otherwise
situation healthy "" "the switch has flow control (PFC) for two priorities, of which the port uses one"
add_many 2 roce
for i in 0 1; do
	set_ $i/1 pfc_enabled=3 priority_trust=dscp neighbor_source=lldpd neighbor=tor-1 neighbor_port=Ethernet$((4 * i)) neighbor_pfc=3,4 event=dcb event=neighbor
done
judge

situation planted neighbor-pfc "the port has flow control (PFC) for two priorities, and the switch for one of them"
add roce
set_ 0/1 pfc_enabled=3,4 priority_trust=dscp neighbor_source=lldpd neighbor=tor-1 neighbor_port=Ethernet4 neighbor_pfc=3 event=dcb event=neighbor
judge

# lossless-network guides: the host was forgotten
situation planted neighbor-pfc "the switch has flow control (PFC) for priority 3, and the port for none"
add roce
set_ 0/1 pfc_enabled=none priority_trust=dscp neighbor_source=lldpd neighbor=tor-1 neighbor_port=Ethernet4 neighbor_pfc=3 event=dcb event=neighbor
judge

# COUNTER [ATTRIBUTE=VALUE...]: two adapters, of which the counter of the second one grows
loses_on_second() {
	add_many 2 roce "${@:2}"
	grows 0 "$1=0"
	grows 1 "$1=5000"
	wait_published 1 loss
}

# linux: mlx5/counters.rst
situation planted loss "PCI Express cannot carry what an adapter receives, and it drops that"
loses_on_second ethtool_counter.outbound_pci_buffer_overflow
judge

# linux: mlx5/counters.rst
situation planted loss "an adapter drops packets because of coding errors on the link"
loses_on_second ethtool_counter.rx_symbol_err_phy
judge

situation planted loss "an Ethernet link breaks frames, which come as fragments"
loses_on_second ethtool_counter.rx_fragments_phy
judge

# linux: mlx4 (DIAG_COUNTER): transport retry counter exceeded
situation planted loss "a ConnectX-3 has given up to send again"
add_many 2 old
grows 0 hw_counter.sq_num_tree=0
grows 1 hw_counter.sq_num_tree=5000
wait_published 1 loss
judge

situation planted loss "a ConnectX-3 gets requests a second time"
add_many 2 old
grows 0 hw_counter.rq_num_dup=0
grows 1 hw_counter.rq_num_dup=5000
wait_published 1 loss
judge

# linux: cxgb4_ethtool.c
situation planted pause-storm "a switch pauses one priority of an iWARP adapter of Chelsio all the time"
add_many 2 iwarp
grows 0 ethtool_counter.rx_ppp3_frames=100
grows 1 ethtool_counter.rx_ppp3_frames=500000
wait_published 1 pause-storm
judge

situation planted loss "an iWARP adapter of Chelsio gets broken frames"
add_many 2 iwarp
grows 0 ethtool_counter.rx_fcs_errors=0
grows 1 ethtool_counter.rx_fcs_errors=5000
wait_published 1 loss
judge

# linux cd031354087d: thresholds of the traffic on PCI Express
situation healthy "" "an adapter passes the thresholds of its traffic on PCI Express again and again"
add roce
grows 0 ethtool_counter.pci_bw_inbound_high=5000
grows 0 ethtool_counter.pci_bw_outbound_high=5000
judge

situation healthy "" "somebody has put in a module, and its adapter has counted that"
add roce
grow 0 ethtool_counter.module_unplug=1
judge --since="$work/counters"

situation healthy "" "the buffer of an adapter passes a threshold again and again, and nothing is lost"
add roce
grows 0 ethtool_counter.rx_buffer_passed_thres_phy=5000
judge

# linux: ice_ethtool.c
situation planted loss "an E810 gets frames that are too long and broken"
loses_on_second ethtool_counter.rx_jabber.nic driver=irdma
judge

situation planted pause-storm "a switch pauses one priority of an E810 all the time"
add_many 2 roce driver=irdma
grows 0 ethtool_counter.rx_priority_3_xoff.nic=10
grows 1 ethtool_counter.rx_priority_3_xoff.nic=500000
wait_published 1 pause-storm
judge

# linux: hns3_ethtool.c
situation planted loss "a port of Kunpeng gets broken frames"
loses_on_second ethtool_counter.mac_rx_jabber_pkt_num driver=hns3
judge

situation planted pause-storm "a switch pauses one priority of a port of Kunpeng all the time"
add_many 2 roce driver=hns3
grows 0 ethtool_counter.mac_rx_pfc_pri3_pkt_num=10
grows 1 ethtool_counter.mac_rx_pfc_pri3_pkt_num=500000
wait_published 1 pause-storm
judge

# linux: be_ethtool.c
situation planted loss "the link of an Emulex adapter breaks symbols"
loses_on_second ethtool_counter.rx_alignment_symbol_errors driver=ocrdma
judge

# PCI Express, 6.2.4: errors of a link are logged by all functions
situation planted pcie-burst "PCIe corrects many errors of an adapter, which both of its functions count"
for f in 0 1; do
	add roce "${aer[@]}" "pci_address=0000:c1:00.$f"
done
wait_for_ports "$s-*" "$ports"
for f in 0 1; do
	set_ $f aer_correctable=5000 event=device
	wait_for_errors $f 5000
done
judge

situation planted pcie-errors "PCIe has lost transactions of an adapter, which both of its functions count"
for f in 0 1; do
	add roce "${aer[@]}" "pci_address=0000:c1:00.$f" aer_nonfatal=2
done
judge

# qualcomm-linux/kernel#323: what a link corrects now and then
situation healthy "" "PCIe corrects a few errors of each of four adapters"
add_many 4 ib "${aer[@]}"
wait_for_ports "$s-*" "$ports"
for i in 0 1 2 3; do
	set_ $i aer_correctable=$((13 + i)) event=device
	wait_for_errors $i $((13 + i))
done
judge

# azhpc-diagnostics#59
situation planted not-active "one of four InfiniBand functions of a virtual machine is init, beside Accelerated Networking"
add_many 4 ib hca_type=MT4124
set_ 2/1 state=init lid=65535 sm_lid=361 event=port-error
add roce hca_type=MT4122 board_id=MSF0000000012
set_ 4/1 netdev_mtu=1500 active_mtu=1024 active_speed=QDR event=link
judge

# sriov-network-operator#635: enp97s0f0 (Up), ibp97s0f1 (Down)
situation healthy "" "the first function of an adapter is Ethernet, and the second one InfiniBand without a cable, beside two rails"
add_many 2 ib hca_type=MT4123 board_id=MT_0000000223
add roce pci_address=0000:61:00.0 hca_type=MT4123 board_id=MT_0000000224 sys_image_guid=0010:e000:0fd2:0001
add ib-unused pci_address=0000:61:00.1 hca_type=MT4123 board_id=MT_0000000224 sys_image_guid=0010:e000:0fd2:0001
judge

# clustervision/trinity#219: a board of another vendor, with its firmware
situation healthy "" "one of five adapters of a chip is of another vendor, with other firmware"
add_many 4 ib
add ib board_id=HP_2690110034 fw_ver=28.36.1010
judge

# dgx-spark-playbooks PR#103: 4200 bytes are enough
situation healthy "" "one of four interfaces has an MTU of 4200, and the others of 9000"
add_many 4 roce
set_ 2/1 netdev_mtu=4200 event=link
judge

situation healthy "" "a fifth InfiniBand port is in another subnet, whose manager gives ranges of LIDs"
add_many 5 ib
set_ 4/1 subnet_prefix=fe80:0000:0000:0001 lid=64 lmc=3 sm_lid=1 event=lid-change
judge

# opensm#31
situation healthy "" "all InfiniBand ports have an MTU of 2048, as the partition says"
add_many 4 ib
for i in 0 1 2 3; do
	set_ $i/1 active_mtu=2048 event=port-active
done
judge

# spdk#2786, #1184
situation healthy "" "the bond of an adapter is taken apart: its device goes, and two others come"
add roce num_lag_ports=2 hca_type=MT41692-$s pci_address=0000:18:00.0 sysfs_path=/sys/devices/pci0000:17/0000:18:00.0
set_ 0/1 netdev_master=bond0 bond_mode=802.3ad bond_member.70=ens0,active bond_member.71=ens1,active event=link
wait_for_ports "$s-*" 1
simulate "remove $s-0"
wait_for_ports "$s-*" 0
for f in 0 1; do
	add roce hca_type=MT41692-$s pci_address=0000:18:00.$f sysfs_path=/sys/devices/pci0000:17/0000:18:00.$f
done
ports=2
judge

# hubris#2664
situation healthy "" "a module said 123 °C for a moment, and says 58 again"
add_many 2 roce
says_of_itself 1 module_temperature=58 module_temperature_margin=12
says_of_itself 1 module_temperature=123 module_temperature_margin=0
wait_for 1 '.ModuleTemperature == 123'
says_of_itself 1 module_temperature=58 module_temperature_margin=12
wait_for 1 '.ModuleTemperature == 58'
judge

situation planted not-active "the other end of a link was switched off, and no lane receives light"
add_many 2 roce
set_ 0/1 cable_present=yes cable_rx_power=0,0,0,0 cable_rx_power_critical=50000 cable_rx_power_margin=0 event=cable
set_ 0/1 state=down phys_state=polling netdev_carrier=no netdev_operstate=down event=port-error
judge

# sonic-buildimage#28779: SFF-8636 without thresholds
situation healthy "" "a module is at 78 °C, and says no threshold"
add roce
set_ 0/1 cable_present=yes cable_temperature=78 cable_rx_power=20000,18000 event=cable
judge

# a passive cable without a memory
situation healthy "" "a link is up, and its cage says that there is no module"
add_many 2 roce
set_ 0/1 cable_present=no event=cable
judge

# gpud PR#200: some machines have mlx5_0 only
situation planted count "one port of nine is there"
add ib
judge --expect Ports=9

# erdma: a NIC of iWARP and RoCE for a virtual machine
situation healthy "" "two erdma adapters say neither a model nor a speed of their link"
add_many 2 iwarp driver=erdma hca_type= fw_ver=0.2.0
for i in 0 1; do
	set_ $i/1 netdev_speed= gid_tbl_len=1 event=link
done
judge

# lshca#57: ECPF of a BlueField
situation healthy "" "the Arm of a DPU: two switches of which one has no cable, and subfunctions of both"
add uplink pci_address=0000:03:00.0
ports=3
add raw pci_address=0000:03:00.1
add roce function=sf pci_address=0000:03:00.0
add roce function=sf pci_address=0000:03:00.1
set_ 3/1 state=down phys_state=disabled event=port-error
judge

# NUMBER...: as leaves(), and the switches have names in a domain
domain() {
	local i=0 leaf
	for leaf in "$@"; do
		add roce pci_address=0000:a$i:00.0
		set_ "$i/1" neighbor_source=lldpd "neighbor=leaf0$leaf.dc2.example.net" event=neighbor
		i=$((i + 1))
	done
	wait_for_ports "$s-*" "$ports"
	wait_for $((i - 1)) ".Neighbor == \"leaf0$leaf.dc2.example.net\""
}

# the name of a system is mostly one of a domain
situation planted rail-swapped "two of four cables are exchanged, and the switches have names in a domain"
domain 1 2 4 3
judge --all

situation planted rail-swapped "the third rail of four is at the leaf of the first, and the switches have names in a domain"
domain 1 2 1 4
judge --all

situation healthy "" "four rails are at switches with names in a domain, in their order"
domain 1 2 3 4
judge --all

# NetApp ctrl.link.degraded: symbol errors, and out of sequence
situation planted "loss bad-signal" "an interconnect has symbol errors, and packets come out of sequence"
add_many 2 old
grows 0 counter.symbol_error=0
grows 1 counter.symbol_error=5000
grows 1 hw_counter.rq_num_oos=5000
wait_published 1 bad-signal
wait_published 1 loss
judge

# IBA: PortPhysicalState 6
situation planted not-active "a link has lost its signal and does not recover"
add_many 4 ib
set_ 1/1 state=down phys_state=link-error-recovery event=port-error
judge

situation healthy "" "a link recovers from an error, and is active meanwhile"
add_many 4 ib
set_ 1/1 state=active-defer phys_state=link-error-recovery event=port-active
judge

# GLM-5.3 PR#115: the fabric between GB10 loses packets
situation planted loss "one function of a cage gets packets out of sequence, and the other one is not used"
add roce pci_address=0000:01:00.0 sys_image_guid=0010:e000:0fa5:0001
add roce pci_address=0002:01:00.0 sys_image_guid=0010:e000:0fa5:0001
grows 1 hw_counter.out_of_sequence=0
grows 0 hw_counter.out_of_sequence=5000
grows 0 hw_counter.roce_adp_retrans=500
wait_published 0 loss
judge

situation planted hot "the module of an InfiniBand port is nearly as hot as it may be"
add_many 2 ib
says_of_itself 1 module_temperature=68 module_temperature_margin=2
wait_for 1 '.ModuleTemperatureMargin == 2'
judge

# gpud#383: XDR and NDR fabrics
situation planted slow "one of four adapters has NDR, and its switch can do XDR"
add_many 4 ib hca_type=MT4131
for i in 0 1 2 3; do
	set_ $i/1 active_speed_ex=$([[ $i == 2 ]] && echo NDR || echo XDR) port_cap_flags2=raw:0x$(printf %x $((0x32 | 0x400 | 0x1000))) neighbor_source=mad neighbor_guid=0002:c903:0000:777$i neighbor_type=switch neighbor_widths=1,2,4 neighbor_speeds=HDR,NDR,XDR event=neighbor event=port-active
done
judge --expect Ignore=odd-one-out

situation planted exhausted "all shared receive queues of an adapter are in use"
add_many 2 ib max_srq=256 srq_count=10
add ib max_srq=256 srq_count=256
judge

situation healthy "" "an adapter can have one shared receive queue, and has none"
add ib max_srq=1 srq_count=0
judge

# LLDP of some systems: the frame with its header and check sum
situation healthy "" "the switch takes frames of 9018 bytes, and the MTU is 9000"
add roce
set_ 0/1 netdev_mtu=9000 neighbor_source=lldpd neighbor=tor-1 neighbor_frame=9018 event=neighbor
judge

situation planted neighbor-mtu "the switch was left at frames of 1500 bytes, and the MTU of a VLAN's interface is 9000"
add rail-vlan
set_ 0/1 neighbor_source=lldpd neighbor=tor-1 neighbor_frame=1522 event=neighbor
judge

situation healthy "" "an adapter was given to a virtual machine: another driver has it"
add_many 2 roce
wait_for_ports "$s-*" 2
simulate "remove $s-1"
ports=1
wait_for_ports "$s-*" 1
judge --all

# nebius/soperator#481: counters since the machine was started
situation healthy "" "links were down 25 times in all, and have discarded thousands"
add ib counter.link_downed=25 counter.port_rcv_errors=26 counter.port_xmit_discards=2846
add ib counter.link_downed=11 counter.port_rcv_errors=2 counter.port_xmit_discards=17
judge

# node-problem-detector of OCI: sixteen ports of eight adapters
situation planted not-active "one of sixteen ports of eight adapters with two is down, and all were used"
for i in 0 1 2 3 4 5 6 7; do
	for f in 0 1; do
		add roce "pci_address=0000:${i}c:00.$f"
	done
done
set_ 9/1 state=down phys_state=disabled netdev_carrier=no netdev_operstate=down event=port-error
judge

situation planted odd-one-out "one of sixteen ports of eight adapters has half of the speed"
for i in 0 1 2 3 4 5 6 7; do
	for f in 0 1; do
		add "$([[ $i$f == 51 ]] && echo roce2 || echo roce)" "pci_address=0000:${i}c:00.$f"
	done
done
judge

# a bond of management is slower, and its members are another model
situation healthy "" "two ports of an older adapter make a bond, one leg of which stands by, beside four rails"
add_many 4 roce
add roce25 hca_type=MT4117
set_ 4/1 netdev_speed=25000000000 active_speed=EDR netdev_master=bond0 bond_mode=active-backup bond_member.90=ens9f0,active,25000000000 bond_member.91=ens9f1,backup,25000000000 event=link
judge --expect Ignore=slower

# RoCE LAG: the switches of the two legs are a pair
situation healthy "" "the legs of four LAGs end at two switches, which LLDP says of one leg each"
for i in 0 1 2 3; do
	add roce num_lag_ports=2
	set_ $i/1 netdev_master=bond$i bond_mode=802.3ad "bond_member.7$i=ens${i}0,active,200000000000" "bond_member.8$i=ens${i}1,active,200000000000" neighbor_source=lldpd "neighbor=tor-$((i % 2 + 1))" event=link event=neighbor
done
judge --all

situation healthy "" "the GID table of a virtual function that waits is full"
add roce
add roce function=vf
pods 1 16 4 12
judge

situation planted missing "one adapter has gone, and another one was put into another slot"
lose hardware-removed
add ib "hca_type=MT4129-$s" pci_address=0000:4b:00.0 sysfs_path=/sys/devices/pci0000:40/0000:4b:00.0 node_guid=0010:e000:0fb9:0010
ports=4
lost
judge --all

situation planted neighbor-pfc "the port has flow control (PFC) for all priorities, and the switch for two"
add roce
set_ 0/1 pfc_enabled=0,1,2,3,4,5,6,7 priority_trust=dscp neighbor_source=lldpd neighbor=tor-1 neighbor_pfc=3,4 event=dcb event=neighbor
judge

situation healthy "" "the switch has flow control (PFC) for priority 3, and that the port has it for none is expected"
add roce
set_ 0/1 pfc_enabled=none priority_trust=dscp neighbor_source=lldpd neighbor=tor-1 neighbor_pfc=3 event=dcb event=neighbor
judge --expect NeighborPfcEnabled=3

situation planted loss "an adapter gets frames whose length cannot be"
loses_on_second ethtool_counter.rx_in_range_len_errors_phy
judge

situation planted loss "a Pollara gets frames that are too long and broken"
loses_on_second ethtool_counter.frames_rx_jabber driver=ionic
judge

situation planted loss "a FastLinQ adapter gets fragments"
loses_on_second ethtool_counter.rx_fragments driver=qedr
judge

situation planted loss "a Thor 2 gets frames that are not whole bytes"
loses_on_second ethtool_counter.rx_align_err_frames driver=bnxt_re
judge

situation planted pcie-burst "PCIe corrects many errors of the second function of an adapter, and had many of the first one long ago"
add roce "${aer[@]}" pci_address=0000:c1:00.0 aer_correctable=90000
add roce "${aer[@]}" pci_address=0000:c1:00.1
wait_for_ports "$s-*" "$ports"
set_ 1 aer_correctable=5000 event=device
wait_for_errors 1 5000
judge

situation planted "pcie-errors pcie-errors" "PCIe has lost transactions of two adapters"
add roce "${aer[@]}" pci_address=0000:c1:00.0 aer_nonfatal=2
add roce "${aer[@]}" pci_address=0000:c2:00.0 aer_fatal=1
judge

situation planted odd-one-out "one link of four recovers from an error, with half of the lanes"
add ib2
add_many 3 ib
set_ 0/1 state=active-defer event=port-active
judge

situation planted rail-swapped "the last rail of four is at the leaf of the first, and numbers are behind a dot"
leaves 1.1 1.2 1.3 1.1
judge --all

situation healthy "" "five rails: four at leaves in one domain, and the fifth at one with the number of another in another domain"
domain 1 2 3 4
add roce pci_address=0000:a4:00.0
set_ 4/1 neighbor_source=lldpd neighbor=leaf04.dc3.example.net event=neighbor
wait_for 4 '.Neighbor == "leaf04.dc3.example.net"'
judge --all

situation healthy "" "two of 20 shared receive queues of an adapter are free"
add ib max_srq=20 srq_count=18
judge
