# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What ctest has to know of long tests. "./run test" gives it nine slots for two processors, because most tests wait, and one more for
# builds, where there are some. A test that waits takes one, which is the default; one that computes for a third of its time or more takes
# two; a guest takes three. The tests of another build, eight at once, take eight: three such variants at once took each other the time that
# these tests wait. The longest start first. A test that is not here takes less than six seconds, and is one of those of "./run test quick" if it has the
# label.

# weigh(SLOTS SECONDS NAME...): names that this build does not have are left out by ctest.
function(weigh slots seconds)
	foreach(name ${ARGN})
		set_tests_properties(${name} PROPERTIES PROCESSORS ${slots} COST ${seconds})
	endforeach()
endfunction()

# Builds, one at a time, with two compilers that take only what others leave
weigh(1 3000 variants/asan-build)
weigh(1 2900 variants/debian-13-build variants/debian-11-build releases/debian-12-build releases/debian-sid-build)
weigh(1 2700 packaging/reproducible)
# Tests of other builds, eight at once
weigh(8 2600 variants/asan)
weigh(8 2500 variants/valgrind variants/debian-13 variants/debian-11 releases/debian-12 releases/debian-sid)
foreach(suite bookworm trixie)
	weigh(2 500 packages/make-packages-${suite} packages/test-packages-${suite})
	weigh(2 100 packages/test-booted-${suite})
endforeach()

# Guests: the emulated CPU computes for two thirds of the time. Three at once keep two processors busy; beside
# three others, a guest stands still for seconds, and its devices are found to be slow.
weigh(3 2500 vm/coherence-6.12 vm/coherence-6.1)
weigh(3 1300 vm/coherence-5.10 vm/coherence-7.x)
foreach(kernel 6.12 6.1 5.10 7.x)
	weigh(3 2300 vm/record-${kernel})
	weigh(3 400 vm/several-${kernel} vm/others-${kernel})
	weigh(3 300 vm/faults-${kernel} vm/faults-many-${kernel})
	weigh(3 170 vm/seen-${kernel} vm/cable-each-${kernel} vm/pci-trees-${kernel})
	weigh(3 110 vm/apparmor-${kernel} vm/explain-${kernel})
	weigh(3 90 vm/pcie-${kernel} vm/slurm-${kernel})
	weigh(3 45 vm/direct-verbs-${kernel} vm/newest-${kernel} vm/peers-newest-${kernel})
	weigh(3 60 vm/bonds-${kernel} vm/bring-up-${kernel} vm/fabric-walls-${kernel} vm/libraries-${kernel} vm/neighbors-${kernel})
	weigh(3 30 vm/dcb-${kernel} vm/rdma_sim-${kernel} vm/peers-${kernel} vm/pcie-noaer-${kernel})
	weigh(3 20 vm/rdma_sim-build-${kernel})
endforeach()
weigh(3 300 vm/hung-6.12 vm/hung-each-6.12)
weigh(3 120 vm/self-test vm/self-test-systems vm/mounts vm/service-dbus-daemon vm/service-dbus-broker)

# What computes
weigh(2 80 clients/rust cli/test-situations)
weigh(2 40 bench/growth)
weigh(2 25 bench/instructions)
weigh(2 60 cockpit/page fuzz/test-fail-allocation)
weigh(2 45 rooms/walls monitoring/rules)
weigh(2 30 unit/test-shared-memory-race-tsan bus/attack/dbus-daemon bus/attack/dbus-broker)
weigh(2 25 cli/test-completion cli/test-record model/look model/seqlock clients/go clients/kubelet)
weigh(2 80 world/seeds)
weigh(2 40 world/plants)
weigh(2 17 cli/test-memory cli/test-explain cli/test-metrics cli/test-monitor fuzz/bus cli/test-compare cli/test-compare-fleet contracts/json)
weigh(2 9 cli/test-errors cli/test-output clients/resources mutate/self rooms/changed)

# What waits
weigh(1 60 exporter/test-hostile fuzz/test-fail-call)
weigh(1 50 schedulers/test-slurm)
weigh(1 30 bus/ibsim)
weigh(1 20 cli/test-counters cli/test-ping exporter/test-scrape unit/test-pool-hung)
weigh(1 12 schedulers/test-slurm-scripts unit/test-pool-asking cli/test-simulated cli/test-top unit/test-change-writer unit/test-change-writer-tsan)
weigh(1 8 clients/container packaging/image monitoring/prometheus fuzz/test-interrupt fuzz/compare glib/test-python cli/test-terminal unit/test-pool unit/test-pool-stuck)
foreach(bus dbus-daemon dbus-broker)
	weigh(1 53 bus/test-replay/${bus})
	weigh(1 43 bus/test-load/${bus})
	weigh(1 18 bus/test-stall/${bus} bus/test-state/${bus})
	weigh(1 14 bus/test-long-reply/${bus} bus/test-open-snapshot/${bus})
	weigh(1 12 glib/test-service-order/${bus})
	weigh(1 8 bus/test-manager-looks/${bus} bus/test-get-history/${bus} bus/test-all-counters/${bus} bus/test-failures/${bus})
endforeach()
