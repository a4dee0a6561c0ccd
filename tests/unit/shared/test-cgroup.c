/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whose a process is: paths as systemd, Slurm, the kubelet and Docker make them, and odd ones. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "cgroup.h"

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "7f2b1c34-0d5e-4a67-8b9c-0123456789ab"

static const struct {
	const char *path, *unit, *job, *pod, *container, *label;
} cases[] = {
	{"/system.slice/nginx.service", "nginx.service", "", "", "", "nginx.service"},
	{"/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service", "", "", "",
	 "getty@tty1.service"},
	/* a delegated unit with groups of its own below */
	{"/system.slice/ceph-osd@3.service/workers", "ceph-osd@3.service", "", "", "",
	 "ceph-osd@3.service"},
	{"/user.slice/user-1000.slice/session-3.scope", "session-3.scope", "", "", "",
	 "session-3.scope"},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/train.service", "train.service",
	 "", "", "", "train.service"},
	{"/user.slice/user-1000.slice/user@1000.service/init.scope", "init.scope", "", "", "",
	 "init.scope"},
	{"/init.scope", "init.scope", "", "", "", "init.scope"},
	{"/system.slice/_cpu.service", "cpu.service", "", "", "", "cpu.service"},
	/* Slurm with cgroup/v2 and cgroup/v1 */
	{"/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0", "slurmstepd.scope", "4711",
	 "", "", "job 4711"},
	{"/system.slice/node1_slurmstepd.scope/job_4711/step_batch/user/task_0",
	 "node1_slurmstepd.scope", "4711", "", "", "job 4711"},
	{"/slurm/uid_1000/job_12/step_0/task_3", "", "12", "", "", "job 12"},
	/* the kubelet with its drivers systemd and cgroupfs */
	{"/kubepods.slice/kubepods-burstable.slice/"
	 "kubepods-burstable-pod7f2b1c34_0d5e_4a67_8b9c_0123456789ab.slice/"
	 "cri-containerd-" ID ".scope",
	 "cri-containerd-" ID ".scope", "", POD, ID, "pod " POD},
	{"/kubepods/besteffort/pod" POD "/" ID, "", "", POD, ID, "pod " POD},
	{"/kubepods/pod0123456789abcdef0123456789abcdef/" ID, "", "",
	 "0123456789abcdef0123456789abcdef", ID, "pod 0123456789abcdef0123456789abcdef"},
	{"/system.slice/docker-" ID ".scope", "docker-" ID ".scope", "", "", ID,
	 "container 0123456789ab"},
	{"/docker/" ID, "", "", "", ID, "container 0123456789ab"},
	{"/machine.slice/libpod-" ID ".scope/container", "libpod-" ID ".scope", "", "", ID,
	 "container 0123456789ab"},
	/* nothing to be said */
	{"", "", "", "", "", ""},
	{"/", "", "", "", "", ""},
	{"//", "", "", "", "", ""},
	{"/user.slice", "", "", "", "", ""},
	{"/.service", "", "", "", "", ""},
	{"/job_", "", "", "", "", ""},
	{"/job_12a", "", "", "", "", ""},
	{"/job_123456789012345678901234567890", "", "", "", "", ""},
	{"/podcast", "", "", "", "", ""},
	{"/kubepods-pod12.slice", "", "", "", "", ""},
	{"/0123456789abcdef", "", "", "", "", ""},
	{"/x" ID, "", "", "", "", ""},
};

static void test_owner(_unused_ void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char label[CGROUP_LABEL_MAX];
		CgroupOwner o;

		cgroup_owner(cases[i].path, &o);
		assert_string_equal(o.unit, cases[i].unit);
		assert_string_equal(o.job, cases[i].job);
		assert_string_equal(o.pod, cases[i].pod);
		assert_string_equal(o.container, cases[i].container);
		assert_string_equal(cgroup_label(&o, label), cases[i].label);
	}
}

/* A component that is longer than a name of the kernel can be is passed over. */
static void test_long(_unused_ void **state)
{
	char path[1024] = "/";
	CgroupOwner o;

	memset(path + 1, 'a', 600);
	memcpy(path + 601, ".service/job_7", 15);
	cgroup_owner(path, &o);
	assert_string_equal(o.unit, "");
	assert_string_equal(o.job, "7");
	memset(path + 1, 'a', 200);
	memcpy(path + 201, ".service", 9);
	cgroup_owner(path, &o);
	assert_int_equal(strlen(o.unit), sizeof(o.unit) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests_name("cgroup", tests, NULL, NULL);
}
