/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs in a virtual machine, as root, with rdmad installed, rdma_sim loaded, and the substitutes of
 * libhbl (tests/vm/libhbl) beside this program. It tests that rdmad publishes for mlx5 and hbl
 * ports what rdma_sim was told; that an hbl device is opened only if that is allowed; and that a
 * wrong libhbl has no effect on anything else.
 */

#include <dirent.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <sys/inotify.h>

#include "compare.h"
#include "decode.h"

#define MLX5	"org.rdma.Port.Mlx5"
#define HBL	"org.rdma.Port.Hbl"
#define LIBHBL	"/usr/lib/x86_64-linux-gnu/libhbl.so.1"
#define HBL_ADD "add hbl_0 driver=hbl driver=14 abi=2 link=eth ports=2"

static Fixture *f;

/* Actions */

static void sim(const char *format, ...) _printf_(1, 2);

static void sim(const char *format, ...)
{
	_cleanup_close_ int fd = open("/dev/rdma_sim", O_WRONLY | O_CLOEXEC);
	char line[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		fail_msg("rdma_sim: %s: %m", line);
}

static void run(const char *command)
{
	int r = system(command);

	if (r != 0)
		fail_msg("%s: status %d", command, r);
}

/* Starts rdmad again, with Hbl=VALUE in its configuration and without reconciliation. */
/* On a busy machine the process that asks libhbl needs seconds; it has half of the time-out. */
static void restart(const char *hbl)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "printf '[Daemon]\\nReconcileIntervalSec=0\\nQueryTimeoutSec=20\\n"
		 "[Devices]\\nHbl=%s\\n' "
		 "> /etc/rdmad.conf && systemctl restart rdmad",
		 hbl);
	run(command);
	fixture_connect(f);
}

/* Installs one of the substitutes as libhbl. NULL: removes libhbl. */
static void install(const char *name)
{
	char command[160];

	run("rm -f " LIBHBL);
	if (!name)
		return;
	snprintf(command, sizeof(command), "cp /vm/libhbl-%s.so.1 " LIBHBL, name);
	run(command);
}

/* Queries the port, and waits until that is done. */
static void query(const char *path)
{
	sd_bus_message_unref(
		fixture_call(f, path, RDMAD_INTERFACE_PORT, "Query", NULL, "a{sv}", 0));
	fixture_barrier(f);
}

/* Observations */

static uint32_t device_index(const char *name)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetDeviceByName", NULL,
			     "sa{sv}", name, 0);
	const char *path;

	assert_true(sd_bus_message_read_basic(reply, 'o', &path) > 0);
	return (uint32_t)strtoul(path + strlen(RDMAD_DEVICE_PREFIX "/"), NULL, 10);
}

/* Waits until port NUMBER of device NAME is published. Writes its path to RET. */
static void wait_port(const char *name, unsigned int number, char ret[RDMAD_PATH_MAX])
{
	for (;;) {
		_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
		_cleanup_free_ char *error = NULL;
		const char *path;
		char port[64];

		snprintf(port, sizeof(port), "%s/%u", name, number);
		fixture_barrier(f);
		reply = fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "GetPort", &error,
				     "sa{sv}", port, 0);
		if (reply) {
			assert_true(sd_bus_message_read_basic(reply, 'o', &path) > 0);
			text_copy(ret, RDMAD_PATH_MAX, path);
			return;
		}
		fixture_wait_more(f);
	}
}

static bool has_interface(const char *path, const char *interface)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = fixture_call(
		f, path, "org.freedesktop.DBus.Introspectable", "Introspect", NULL, "");
	char tag[96];
	const char *xml;

	assert_true(sd_bus_message_read_basic(reply, 's', &xml) > 0);
	snprintf(tag, sizeof(tag), "<interface name=\"%s\">", interface);
	return strstr(xml, tag) != NULL;
}

static bool is_unavailable(const char *path, const char *property)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply =
		fixture_call(f, path, "org.freedesktop.DBus.Properties", "Get", NULL, "ss",
			     RDMAD_INTERFACE_PORT, "Unavailable");
	const char *name, *why;

	assert_true(sd_bus_message_enter_container(reply, 'v', "a{ss}") > 0);
	assert_true(sd_bus_message_enter_container(reply, 'a', "{ss}") > 0);
	while (sd_bus_message_read(reply, "{ss}", &name, &why) > 0)
		if (streq(name, property))
			return true;
	return false;
}

static void assert_number(const char *path, const char *interface, const char *name, uint64_t is)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)is);
	fixture_assert_property(f, path, interface, name, text);
}

/* Reads a number of NAME from the output of rdma_sim, in the line that begins with KIND. */
static unsigned long sim_number(const char *kind, const char *name, const char *key)
{
	_cleanup_fclose_ FILE *state = fopen("/dev/rdma_sim", "re");
	char line[4096], begin[96], word[64];

	assert_non_null(state);
	snprintf(begin, sizeof(begin), "%s %s ", kind, name);
	snprintf(word, sizeof(word), " %s=", key);
	while (fgets(line, sizeof(line), state)) {
		const char *value = startswith(line, begin) ? strstr(line, word) : NULL;

		if (value)
			return strtoul(value + strlen(word), NULL, 10);
	}
	fail_msg("rdma_sim prints nothing about %s %s %s", kind, name, key);
	return 0;
}

/* Returns how many processes have this NAME. The last of them is in *RET. */
static unsigned int count_processes(const char *name, pid_t *ret)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	unsigned int n = 0;

	assert_non_null(proc);
	while ((entry = readdir(proc))) {
		_cleanup_fclose_ FILE *file = NULL;
		char path[300], comm[32] = "";

		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = fopen(path, "re");
		if (!file || !fgets(comm, sizeof(comm), file))
			continue;
		comm[strcspn(comm, "\n")] = '\0';
		if (!streq(comm, name))
			continue;
		n++;
		*ret = (pid_t)strtol(entry->d_name, NULL, 10);
	}
	closedir(proc);
	return n;
}

/* Waits until N processes have this NAME; 0, or the last of them. rdmad may ask the device at any
 * time: then there is one more of those that ask its library, which at first has the name of the
 * worker that starts it. */
static pid_t wait_processes(const char *name, unsigned int n)
{
	uint64_t deadline = fixture_now_usec() + 60 * USEC_PER_SEC;
	pid_t pid = 0;

	while (count_processes(name, &pid) != n) {
		if (fixture_now_usec() > deadline)
			fail_msg("never: %u processes %s", n, name);
		fixture_barrier(f);
	}
	return pid;
}

static pid_t process_id(const char *name)
{
	return wait_processes(name, 1);
}

/* Nobody has the device open, and nobody is left who had. */
static void wait_closed(void)
{
	uint64_t deadline = fixture_now_usec() + 60 * USEC_PER_SEC;

	wait_processes("rdmad-isolated", 0);
	while (sim_number("device", "hbl_0", "contexts") > 0) {
		if (fixture_now_usec() > deadline)
			fail_msg("never: hbl_0 is closed");
		fixture_barrier(f);
	}
}

/* Returns a descriptor with which one can count how often the device node of NAME is opened. */
static int watch_opens(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char path[160] = "";

	for (size_t i = 0; list && list[i]; i++)
		if (streq(ibv_get_device_name(list[i]), name))
			snprintf(path, sizeof(path), "/dev/infiniband/%s", list[i]->dev_name);
	ibv_free_device_list(list);
	assert_true(fd >= 0 && inotify_add_watch(fd, path, IN_OPEN) >= 0);
	return fd;
}

static bool was_opened(int fd)
{
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool opened = false;

	while (read(fd, buffer, sizeof(buffer)) > 0)
		opened = true;
	return opened;
}

/* mlx5 */

/* What each flag says is valid, and what this reads as if it is not: most values can be 0. */
static const struct {
	uint64_t flag;
	const char *names[2];
	uint64_t not_set[2];
} flags[] = {
	{MLX5DV_QUERY_PORT_VPORT, {"Vport"}, {UINT32_MAX}},
	{MLX5DV_QUERY_PORT_VPORT_VHCA_ID, {"VportVhcaId"}, {UINT32_MAX}},
	{MLX5DV_QUERY_PORT_ESW_OWNER_VHCA_ID, {"EswOwnerVhcaId"}, {UINT32_MAX}},
	{MLX5DV_QUERY_PORT_VPORT_STEERING_ICM_RX, {"SteeringIcmRx"}, {UINT64_MAX}},
	{MLX5DV_QUERY_PORT_VPORT_STEERING_ICM_TX, {"SteeringIcmTx"}, {UINT64_MAX}},
	{MLX5DV_QUERY_PORT_VPORT_REG_C0, {"RegC0Value", "RegC0Mask"}, {UINT32_MAX, 0}},
};

#define ALL_FLAGS UINT64_C(0x3f)

/* Compares what is on the bus with what libmlx5 says and with the flags. */
static void compare_mlx5(const char *path, uint8_t port, uint64_t expected)
{
	struct ibv_context *context = compare_open(device_index("mlx5_7"));
	struct mlx5dv_port info = {};
	uint64_t values[ARRAY_SIZE(flags)][2];

	assert_non_null(context);
	assert_int_equal(mlx5dv_query_port(context, port, &info), 0);
	ibv_close_device(context);
	assert_int_equal(info.flags, expected);
	assert_int_equal(has_interface(path, MLX5), (info.flags & ALL_FLAGS) != 0);
	if ((info.flags & ALL_FLAGS) == 0)
		return;
	values[0][0] = info.vport;
	values[1][0] = info.vport_vhca_id;
	values[2][0] = info.esw_owner_vhca_id;
	values[3][0] = info.vport_steering_icm_rx;
	values[4][0] = info.vport_steering_icm_tx;
	values[5][0] = info.reg_c0.value;
	values[5][1] = info.reg_c0.mask;
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		for (size_t k = 0; k < 2 && flags[i].names[k]; k++) {
			bool valid = info.flags & flags[i].flag;

			assert_number(path, MLX5, flags[i].names[k],
				      valid ? values[i][k] : flags[i].not_set[k]);
			assert_int_equal(is_unavailable(path, flags[i].names[k]), !valid);
		}
}

/* Waits for a PropertiesChanged of Mlx5 with PROPERTY from PATH. */
static void wait_changed(const char *path, const char *property)
{
	size_t i = 0;

	for (;; fixture_wait_more(f))
		for (; i < f->n_signals; i++)
			if (streq(sd_bus_message_get_path(f->signals[i]), path) &&
			    streq(sd_bus_message_get_member(f->signals[i]), "PropertiesChanged") &&
			    fixture_changed(f->signals[i], MLX5, property) == 1)
				return;
}

static void set_values(uint64_t with)
{
	sim("set mlx5_7/1 mlx5.flags=%llu mlx5.vport=7 mlx5.vport_vhca_id=0x1234 "
	    "mlx5.esw_owner_vhca_id=0xfff0 mlx5.icm_rx=0x123456789abcdef0 "
	    "mlx5.icm_tx=0xfedcba9876543210 mlx5.reg_c0_value=0x70000 "
	    "mlx5.reg_c0_mask=0xffff0000",
	    (unsigned long long)with);
}

static void test_mlx5(_unused_ void **state)
{
	char path[2][RDMAD_PATH_MAX];

	sim("add mlx5_7 driver=mlx5 ports=2");
	wait_port("mlx5_7", 1, path[0]);
	wait_port("mlx5_7", 2, path[1]);
	/* rdma_sim makes them in switchdev mode */
	query(path[1]);
	compare_mlx5(path[1], 2, 0x33);

	set_values(ALL_FLAGS);
	query(path[0]);
	compare_mlx5(path[0], 1, ALL_FLAGS);
	assert_number(path[0], MLX5, "Vport", 7);
	assert_number(path[0], MLX5, "VportVhcaId", 0x1234);
	assert_number(path[0], MLX5, "EswOwnerVhcaId", 0xfff0);
	assert_number(path[0], MLX5, "SteeringIcmRx", 0x123456789abcdef0);
	assert_number(path[0], MLX5, "SteeringIcmTx", 0xfedcba9876543210);
	assert_number(path[0], MLX5, "RegC0Value", 0x70000);
	assert_number(path[0], MLX5, "RegC0Mask", 0xffff0000);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		set_values(flags[i].flag);
		query(path[0]);
		compare_mlx5(path[0], 1, flags[i].flag);
	}
	/* legacy mode, and flags that only a newer driver has */
	set_values(0);
	query(path[0]);
	compare_mlx5(path[0], 1, 0);
	set_values(1U << 20);
	query(path[0]);
	compare_mlx5(path[0], 1, 1U << 20);
	/* the other port has not changed */
	compare_mlx5(path[1], 2, 0x33);
}

/* What the real libmlx5 says of the device is on the bus. */
static void test_mlx5_device(_unused_ void **state)
{
	struct mlx5dv_context info = {.comp_mask = MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS};
	struct ibv_context *context = compare_open(device_index("mlx5_7"));
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	char path[RDMAD_PATH_MAX];
	uint64_t features = 0;
	const char *name;

	assert_non_null(context);
	assert_int_equal(mlx5dv_query_device(context, &info), 0);
	ibv_close_device(context);
	snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u", device_index("mlx5_7"));
	reply = fixture_call(f, path, "org.freedesktop.DBus.Properties", "Get", NULL, "ss",
			     "org.rdma.Device.Mlx5", "Features");
	assert_true(sd_bus_message_enter_container(reply, 'v', "as") > 0);
	assert_true(sd_bus_message_enter_container(reply, 'a', "s") > 0);
	while (sd_bus_message_read_basic(reply, 's', &name) > 0)
		for (unsigned int bit = 0; bit < 32; bit++)
			if (streq(decode_capability(ATTR_MLX5_FLAGS, bit), name))
				features |= UINT64_C(1) << bit;
	printf("  libmlx5 says of the device: flags %#llx, %u LAG ports\n",
	       (unsigned long long)info.flags, info.num_lag_ports);
	assert_int_not_equal(features, 0);
	assert_int_equal(features, info.flags);
	assert_number(path, "org.rdma.Device.Mlx5", "LagPorts",
		      info.comp_mask & MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS ? info.num_lag_ports : 0);
	assert_false(has_interface(path, "org.rdma.Device.Efa"));
}

/* An event brings the change to a subscriber; nobody asks. */
static void test_mlx5_event(_unused_ void **state)
{
	char path[RDMAD_PATH_MAX];

	wait_port("mlx5_7", 2, path);
	fixture_barrier(f);
	fixture_forget(f);
	sim("set mlx5_7/2 mlx5.vport=9 mlx5.reg_c0_value=0x90000 event=PORT_ACTIVE");
	wait_changed(path, "Vport");
	wait_changed(path, "RegC0Value");
	compare_mlx5(path, 2, 0x33);
	assert_number(path, MLX5, "Vport", 9);
	/* with one event the interface goes, with another it comes */
	fixture_forget(f);
	sim("set mlx5_7/2 mlx5.flags=0 event=PORT_ACTIVE");
	fixture_wait_signal(f, NULL, "InterfacesRemoved");
	compare_mlx5(path, 2, 0);
	fixture_forget(f);
	sim("set mlx5_7/2 mlx5.flags=1 event=PORT_ACTIVE");
	fixture_wait_signal(f, NULL, "InterfacesAdded");
	compare_mlx5(path, 2, 1);
}

/* hbl */

static void test_hbl_off(_unused_ void **state)
{
	_cleanup_close_ int opens = -EBADF;
	char path[RDMAD_PATH_MAX];

	sim(HBL_ADD);
	install("kernel");
	opens = watch_opens("hbl_0");
	restart("no");
	wait_port("hbl_0", 2, path);
	query(path);
	assert_false(has_interface(path, HBL));
	fixture_assert_property(f, path, RDMAD_INTERFACE_PORT, "Stale", "no");
	assert_false(was_opened(opens));
	assert_int_equal(sim_number("device", "hbl_0", "contexts"), 0);
	assert_int_equal(sim_number("calls", "hbl_0/2", "dv"), 0);
}

static void assert_hbl_values(const char *path)
{
	fixture_assert_property(f, path, HBL, "InUse", "no");
	assert_number(path, HBL, "MaxQps", 2001);
	assert_number(path, HBL, "AllocatedQps", 2002);
	assert_number(path, HBL, "MaxAllocatedQp", 2003);
	assert_number(path, HBL, "MaxCqSize", 4294967295);
	fixture_assert_property(f, path, HBL, "Advanced", "yes");
	assert_number(path, HBL, "MaxCqs", 11);
	assert_number(path, HBL, "MaxUserFifos", 12);
	assert_number(path, HBL, "MaxEncapsulations", 13);
	assert_number(path, HBL, "NicMacro", 14);
	assert_number(path, HBL, "NicPhysicalPort", 255);
	assert_false(is_unavailable(path, "MaxQps"));
}

static void test_hbl_on(_unused_ void **state)
{
	_cleanup_close_ int opens = -EBADF;
	char path[2][RDMAD_PATH_MAX];

	sim("set hbl_0/2 hbl.max_num_of_qps=2001 hbl.num_allocated_qps=2002 "
	    "hbl.max_allocated_qp_num=2003 hbl.max_cq_size=0xffffffff hbl.advanced=1 "
	    "hbl.max_num_of_cqs=11 hbl.max_num_of_usr_fifos=12 hbl.max_num_of_encaps=13 "
	    "hbl.nic_macro_idx=14 hbl.nic_phys_port_idx=255 hbl.reserved0=1 hbl.reserved4=5");
	opens = watch_opens("hbl_0");
	restart("yes");
	wait_port("hbl_0", 1, path[0]);
	wait_port("hbl_0", 2, path[1]);
	query(path[0]);
	query(path[1]);
	assert_hbl_values(path[1]);
	/* the values that rdma_sim gives to a new device */
	assert_number(path[0], HBL, "MaxQps", 1001);
	fixture_assert_property(f, path[0], HBL, "Advanced", "no");
	/* the attributes from verbs are there too, and the device is closed again */
	assert_false(is_unavailable(path[1], "MaxMessageSize"));
	assert_true(was_opened(opens));
	wait_closed();
}

static void test_hbl_in_use(_unused_ void **state)
{
	struct ibv_context *context;
	char path[RDMAD_PATH_MAX];

	wait_port("hbl_0", 2, path);
	context = compare_open(device_index("hbl_0"));
	assert_non_null(context);
	query(path);
	fixture_assert_property(f, path, HBL, "InUse", "yes");
	assert_true(is_unavailable(path, "MaxQps"));
	fixture_assert_property(f, path, RDMAD_INTERFACE_PORT, "Stale", "no");
	ibv_close_device(context);
	query(path);
	assert_hbl_values(path);
}

/* With a wrong libhbl only the attributes that come from it are missing. Everything else is
 * published at once, as without it. */
static void test_bad_libhbl(_unused_ void **state)
{
	static const struct {
		const char *name, *what;
		bool opens;
	} bad[] = {
		{"layout", "another layout", true},
		{"crash", "crashes", true},
		{"hang", "hangs", true},
		{"bare", "without the symbol", false},
		{NULL, "there is none at all", false},
	};
	char hbl[RDMAD_PATH_MAX], mlx5[RDMAD_PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_close_ int opens = watch_opens("hbl_0");
		pid_t daemon, worker;

		install(bad[i].name);
		restart("yes");
		wait_port("hbl_0", 2, hbl);
		wait_port("mlx5_7", 2, mlx5);
		query(hbl);
		daemon = process_id("rdmad");
		worker = process_id("rdmad-query");
		/* an error of the library is said of each of its attributes */
		assert_int_equal(has_interface(hbl, HBL), bad[i].opens);
		fixture_assert_property(f, hbl, RDMAD_INTERFACE_PORT, "Stale", "no");
		assert_int_equal(was_opened(opens), bad[i].opens);

		fixture_barrier(f);
		fixture_forget(f);
		sim("set mlx5_7/2 mlx5.vport=%zu event=PORT_ACTIVE", 100 + i);
		wait_changed(mlx5, "Vport");
		assert_number(mlx5, MLX5, "Vport", 100 + i);
		query(hbl);
		query(mlx5);
		/* After an error it is not tried again at once. */
		if (i == 1 || i == 2)
			assert_false(was_opened(opens));
		assert_int_equal(process_id("rdmad"), daemon);
		assert_int_equal(process_id("rdmad-query"), worker);
		wait_closed();
		printf("  libhbl: %-22s only what it would say is missing\n", bad[i].what);
	}
}

static void test_hbl_good_again(_unused_ void **state)
{
	char path[RDMAD_PATH_MAX];

	install("kernel");
	restart("yes");
	wait_port("hbl_0", 2, path);
	query(path);
	assert_hbl_values(path);
}

static int setup(_unused_ void **state)
{
	f = calloc(1, sizeof(Fixture));
	text_copy(f->directory, sizeof(f->directory), "/tmp");
	text_copy(f->address, sizeof(f->address), "unix:path=/run/dbus/system_bus_socket");
	run("modprobe rdma_sim");
	/* restart() may be called as often as the tests need it */
	run("mkdir -p /run/systemd/system/rdmad.service.d && "
	    "printf '[Unit]\\nStartLimitIntervalSec=0\\n' > "
	    "/run/systemd/system/rdmad.service.d/test.conf && systemctl daemon-reload");
	restart("no");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mlx5),	   cmocka_unit_test(test_mlx5_device),
		cmocka_unit_test(test_mlx5_event), cmocka_unit_test(test_hbl_off),
		cmocka_unit_test(test_hbl_on),	   cmocka_unit_test(test_hbl_in_use),
		cmocka_unit_test(test_bad_libhbl), cmocka_unit_test(test_hbl_good_again),
	};

	return cmocka_run_group_tests_name("direct-verbs", tests, setup, NULL);
}
