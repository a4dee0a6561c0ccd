# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What ctest has to know of long tests. "./run test" gives it four slots for each processor, because most tests wait: a test that
# computes all the time has 4 (on as many processors as it uses), one that waits has 1, which is the default. The longest start
# first. A test that is not here takes less than six seconds, and is one of those of "./run test quick" if it has the label.

# weigh(SLOTS SECONDS NAME...): names that this build does not have are left out by ctest.
function(weigh slots seconds)
	foreach(name ${ARGN})
		set_tests_properties(${name} PROPERTIES PROCESSORS ${slots} COST ${seconds})
	endforeach()
endfunction()

# builds
weigh(8 400 variants/asan)
weigh(8 200 variants/clang variants/debian-13 packaging/reproducible)
weigh(8 190 variants/valgrind)
weigh(8 1000 packages/bookworm packages/trixie)

# What computes
weigh(4 80 clients/rust cli/test-situations)
weigh(3 60 cockpit/page fuzz/test-fail-allocation)
weigh(4 45 rooms/walls monitoring/rules)
weigh(4 30 unit/test-shared-memory-race-tsan bus/attack/dbus-daemon bus/attack/dbus-broker)
weigh(2 25 cli/test-completion cli/test-record model/seqlock clients/go)
weigh(2 17 cli/test-explain cli/test-metrics cli/test-monitor fuzz/bus cli/test-compare cli/test-compare-fleet contracts/json)
weigh(2 9 cli/test-errors cli/test-output clients/resources)

# What waits
weigh(1 100 unit/test-pool-hung)
weigh(1 60 exporter/test-hostile fuzz/test-fail-call)
weigh(1 50 unit/test-pool-stuck schedulers/test-slurm)
weigh(1 20 cli/test-counters exporter/test-scrape unit/test-pool-asking)
weigh(1 12 cli/test-simulated cli/test-top unit/test-change-writer unit/test-change-writer-tsan)
weigh(1 8 monitoring/prometheus fuzz/test-interrupt fuzz/compare glib/test-python cli/test-terminal unit/test-pool)
foreach(bus dbus-daemon dbus-broker)
	weigh(1 53 bus/test-replay/${bus})
	weigh(1 43 bus/test-load/${bus})
	weigh(1 18 bus/test-stall/${bus} bus/test-state/${bus})
	weigh(1 14 bus/test-long-reply/${bus} bus/test-open-snapshot/${bus})
	weigh(1 12 glib/test-service-order/${bus})
	weigh(1 8 bus/test-manager-looks/${bus} bus/test-get-history/${bus} bus/test-all-counters/${bus} bus/test-failures/${bus})
endforeach()
