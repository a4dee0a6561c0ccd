/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GetEvidence(): what a port and its device have shown, also when the device has gone. */

#include "calls.h"
#include "fixture.h"

static const char scenario[] = "[device mlx5_0]\n"
			       "index = 3\n"
			       "protocol = infiniband\n"
			       "ports = 2\n"
			       "pcie_width = 16\n"
			       "fw_ver = 1.2.2\n"
			       "aer_correctable = 5\n"
			       "aer_nonfatal = 0\n"
			       "aer_root_nonfatal = 0\n"
			       "[port mlx5_0/*]\n"
			       "pkey.0 = 0xffff\n"
			       "pkey.1 = 0x8001\n";

static int setup(void **state)
{
	return fixture_setup_daemon(state, scenario);
}

/* What the port called NAME has shown, as "WHAT FROM>TO:REASON, ...". */
static char *evidence(Fixture *f, const char *name)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetEvidence", NULL,
			     "sa{sv}", name, 0);
	uint64_t realtime, monotonic, last = 0;
	const char *what, *from, *to, *reason;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_true(sd_bus_message_enter_container(reply, 'a', "(ttssssa{sv})") >= 0);
	while (fixture_read_entry(reply, "ttssss", &realtime, &monotonic, &what, &from, &to,
				  &reason) > 0) {
		fprintf(file, "%s%s %s>%s:%s", last ? ", " : "", what, from, to, reason);
		assert_true(monotonic >= last && monotonic > 0 && realtime > 0);
		last = monotonic;
	}
	fclose(file);
	return text;
}

/* Waits until NAME has shown EXPECTED: some of it is found a little after its signal. */
static void wait_evidence(Fixture *f, const char *name, const char *expected)
{
	for (uint64_t end = fixture_now_usec() + 60 * USEC_PER_SEC;;) {
		_cleanup_free_ char *is = evidence(f, name);

		if (streq(is, expected))
			return;
		if (fixture_now_usec() > end)
			assert_string_equal(is, expected);
	}
}

static void test_evidence(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *error = NULL;

	wait_evidence(f, "mlx5_0/1", "");
	fixture_simulate(f, "set mlx5_0/1 sm_lid=9 event=sm-change");
	wait_evidence(f, "mlx5_0/1", "Event >sm-change:sm-change, SmLid 1>9:sm-change");
	/* of the other port nothing was seen; what the device shows concerns both */
	fixture_simulate(f, "set mlx5_0/2 pkey.1= event=pkey-change");
	wait_evidence(f, "mlx5_0/2", "Pkeys 0x8001>:pkey-change");
	fixture_simulate(f, "set mlx5_0 pcie_width=8 event=device");
	wait_evidence(f, "mlx5_0/2", "Pkeys 0x8001>:pkey-change, PcieWidth 16>8:device");
	fixture_simulate(f, "remove mlx5_0");
	wait_evidence(f, "mlx5_0/2", "Pkeys 0x8001>:pkey-change, PcieWidth 16>8:device");
	/* what it was is known when it comes back */
	fixture_simulate(f, "add mlx5_0 fw_ver=1.2.3");
	wait_evidence(f, "mlx5_0/2",
		      "Pkeys 0x8001>:pkey-change, PcieWidth 16>8:device, "
		      "FirmwareVersion 1.2.2>1.2.3:device, PcieWidth 8>16:device");
	assert_null(fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetEvidence", &error,
				 "sa{sv}", "mlx5_1/1", 0));
	assert_string_equal(error, RDMAD_ERROR_NOT_FOUND);
}

/* A port that does not answer, and answers again. */
static void test_stale(void **state)
{
	Fixture *f = *state;

	calls_refresh(f); /* then nothing is left that is read later */
	wait_evidence(f, "mlx5_0/1", "");
	fixture_simulate(f, "fail mlx5_0/1 EIO");
	fixture_simulate(f, "event mlx5_0/1 port-active");
	wait_evidence(f, "mlx5_0/1",
		      "Stale no>yes:port-active, LastError >Input/output error:port-active, "
		      "LastErrorCode >device-error:EIO:port-active");
	fixture_simulate(f, "event * resume");
	wait_evidence(f, "mlx5_0/1",
		      "Stale no>yes:port-active, LastError >Input/output error:port-active, "
		      "LastErrorCode >device-error:EIO:port-active, "
		      "Event >resume:resume");
}

/* Nobody is told of errors of PCI Express. They are read when a port stops being active, and cause
 * no signal of the device. */
static void test_errors(void **state)
{
	static const char seen[] =
		"PhysicalState link-up>polling:port-error, AerNonfatal 0>2:device";
	Fixture *f = *state;

	fixture_configure(f, "[Daemon]\nReconcileIntervalSec=0\n");
	fixture_start_daemon(f, scenario, NULL);
	wait_evidence(f, "mlx5_0/1", "");
	fixture_simulate(f, "set mlx5_0 aer_nonfatal=2 aer_correctable=99");
	/* what is not about the link reads no more than the port */
	fixture_simulate(f, "set mlx5_0/1 sm_sl=3 event=sm-change");
	wait_evidence(f, "mlx5_0/1", "Event >sm-change:sm-change");
	fixture_assert_property(f, "/org/rdma/device/3", RDMAD_INTERFACE_DEVICE, "AerNonfatal",
				"0");
	fixture_simulate(f, "set mlx5_0/2 state=down phys_state=polling event=port-error");
	wait_evidence(f, "mlx5_0/2", seen);
	fixture_assert_property(f, "/org/rdma/device/3", RDMAD_INTERFACE_DEVICE, "AerCorrectable",
				"99");
	fixture_barrier(f);
	assert_int_equal(fixture_count_signals(f, "/org/rdma/device/3", "PropertiesChanged"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_evidence, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_stale, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_errors, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
