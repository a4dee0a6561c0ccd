/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whose a process is: paths as systemd, Slurm, the kubelet and Docker make them, and odd ones. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include "cgroup.h"

#define ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define USER "/user.slice/user-1000.slice/user@1000.service"
#define UNIT "user@1000.service"
#define POD  "7f2b1c34-0d5e-4a67-8b9c-0123456789ab"

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
	{USER "/app.slice/train.service", UNIT "/train.service", "", "", "", UNIT "/train.service"},
	{USER "/init.scope", UNIT "/init.scope", "", "", "", UNIT "/init.scope"},
	{USER, UNIT, "", "", "", UNIT},
	{"/init.scope", "init.scope", "", "", "", "init.scope"},
	{"/system.slice/_cpu.service", "cpu.service", "", "", "", "cpu.service"},
	/* Slurm with cgroup/v2 and cgroup/v1 */
	{"/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0", "slurmstepd.scope", "4711",
	 "", "", "job 4711"},
	{"/system.slice/node1_slurmstepd.scope/job_4711/step_batch/user/task_0",
	 "node1_slurmstepd.scope", "4711", "", "", "job 4711"},
	{"/slurm/uid_1000/job_12/step_0/task_3", "", "12", "", "", "job 12"},
	{"/slurm_node1/uid_1000/job_12/step_extern", "", "12", "", "", "job 12"},
	/* the kubelet with its drivers systemd and cgroupfs */
	{"/kubepods.slice/kubepods-burstable.slice/"
	 "kubepods-burstable-pod7f2b1c34_0d5e_4a67_8b9c_0123456789ab.slice/"
	 "cri-containerd-" ID ".scope",
	 "cri-containerd-" ID ".scope", "", POD, ID, "pod " POD},
	{"/kubepods.slice/kubepods-pod7f2b1c34_0d5e_4a67_8b9c_0123456789ab.slice/crio-" ID ".scope"
	 "/container",
	 "crio-" ID ".scope", "", POD, ID, "pod " POD},
	{"/kubepods/besteffort/pod" POD "/" ID, "", "", POD, ID, "pod " POD},
	{"/kubepods/burstable/pod" POD, "", "", POD, "", "pod " POD},
	{"/kubepods/pod0123456789abcdef0123456789abcdef/" ID, "", "",
	 "0123456789abcdef0123456789abcdef", ID, "pod 0123456789abcdef0123456789abcdef"},
	{"/system.slice/docker-" ID ".scope", "docker-" ID ".scope", "", "", ID,
	 "container 0123456789ab"},
	{"/docker/" ID, "", "", "", ID, "container 0123456789ab"},
	{"/machine.slice/libpod-" ID ".scope/container", "libpod-" ID ".scope", "", "", ID,
	 "container 0123456789ab"},
	{"/libpod_parent/libpod-" ID "/init", "", "", "", ID, "container 0123456789ab"},
	/* a container in a slice that an administrator has made, and one in a job */
	{"/a.slice/a-b.slice/docker-" ID ".scope", "docker-" ID ".scope", "", "", ID,
	 "container 0123456789ab"},
	{"/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0/docker-" ID ".scope",
	 "slurmstepd.scope", "4711", "", "", "job 4711"},

	/* What a user makes below what systemd has given him is his word: no job, no pod, no
	 * container, and no unit but behind his own. */
	{USER "/app.slice/job_4711", UNIT, "", "", "", UNIT},
	{USER "/job_4711/x.service", UNIT "/x.service", "", "", "", UNIT "/x.service"},
	{USER "/app.slice/slurmd.service", UNIT "/slurmd.service", "", "", "",
	 UNIT "/slurmd.service"},
	{USER "/system.slice/slurmstepd.scope/job_4711/step_0", UNIT "/slurmstepd.scope", "", "",
	 "", UNIT "/slurmstepd.scope"},
	{USER "/slurm/uid_0/job_4711", UNIT, "", "", "", UNIT},
	{USER "/kubepods.slice/kubepods-pod7f2b1c34_0d5e_4a67_8b9c_0123456789ab.slice/x.scope",
	 UNIT "/x.scope", "", "", "", UNIT "/x.scope"},
	{USER "/kubepods/pod" POD "/" ID, UNIT, "", "", "", UNIT},
	{USER "/pod" POD, UNIT, "", "", "", UNIT},
	{USER "/docker/" ID, UNIT, "", "", "", UNIT},
	/* Podman without root */
	{USER "/user.slice/libpod-" ID ".scope/container", UNIT "/libpod-" ID ".scope", "", "", "",
	 UNIT "/libpod-" ID ".scope"},
	{USER "/user@0.service/nginx.service", UNIT "/user@0.service", "", "", "",
	 UNIT "/user@0.service"},
	/* what is no name for systemd could be read as more than a name */
	{USER "/x.service (4), job 4711 (4), y.service", UNIT, "", "", "", UNIT},
	{USER "/a b.service/c.service", UNIT "/c.service", "", "", "", UNIT "/c.service"},
	/* of a session, of a unit that has groups of its own, and of the container's root */
	{"/user.slice/user-1000.slice/session-3.scope/job_4711", "session-3.scope", "", "", "",
	 "session-3.scope"},
	{"/user.slice/user-1000.slice/job_4711", "", "", "", "", ""},
	{"/user.slice/job_4711/slurmd.service", "", "", "", "", ""},
	{"/system.slice/build.service/job_4711", "build.service", "", "", "", "build.service"},
	{"/system.slice/build.service/system.slice/nginx.service", "build.service", "", "", "",
	 "build.service"},
	{"/system.slice/build.service/docker-" ID ".scope", "build.service", "", "", "",
	 "build.service"},
	{"/system.slice/x.mount/nginx.service", "", "", "", "", ""},
	{"/machine.slice/libpod-" ID ".scope/job_4711", "libpod-" ID ".scope", "", "", ID,
	 "container 0123456789ab"},
	{"/docker/" ID "/system.slice/slurmstepd.scope/job_4711", "", "", "", ID,
	 "container 0123456789ab"},
	{"/kubepods/pod" POD "/" ID "/pod11111111-0d5e-4a67-8b9c-0123456789ab", "", "", POD, ID,
	 "pod " POD},
	/* cgroups of users that are not systemd's, and of a machine below another one */
	{"/user/alice/0/slurmd.service", "", "", "", "", ""},
	{"/alice/slurm/uid_0/job_4711", "", "", "", "", ""},
	{"/lxc.payload.c1/system.slice/slurmd.service", "", "", "", "", ""},
	{"/../../system.slice/slurmstepd.scope/job_4711", "", "", "", "", ""},
	/* deeper or less deep than Slurm and the kubelet make them */
	{"/job_4711", "", "", "", "", ""},
	{"/slurm/job_4711", "", "", "", "", ""},
	{"/slurm/uid_0/x/job_4711", "", "", "", "", ""},
	{"/slurm/uid_0/job_12/step_0/job_4711", "", "12", "", "", "job 12"},
	{"/system.slice/slurmstepd.scope/system", "slurmstepd.scope", "", "", "",
	 "slurmstepd.scope"},
	{"/system.slice/slurmstepd.scope/x/job_4711", "slurmstepd.scope", "", "", "",
	 "slurmstepd.scope"},
	{"/system.slice/slurmd.service/job_4711", "slurmd.service", "", "", "", "slurmd.service"},
	{"/system.slice/xslurmstepd.scope/job_4711", "xslurmstepd.scope", "", "", "",
	 "xslurmstepd.scope"},
	{"/a.slice/slurmstepd.scope/job_4711", "slurmstepd.scope", "", "", "", "slurmstepd.scope"},
	{"/pod" POD, "", "", "", "", ""},
	{"/a/kubepods/pod" POD, "", "", "", "", ""},
	{"/kubepods/a/pod" POD, "", "", "", "", ""},
	{"/a.slice/kubepods-pod7f2b1c34_0d5e_4a67_8b9c_0123456789ab.slice/x.scope", "x.scope", "",
	 "", "", "x.scope"},
	{"/" ID, "", "", "", "", ""},
	{"/a/" ID, "", "", "", "", ""},
	{"/docker/a/" ID, "", "", "", "", ""},

	/* nothing to be said */
	{"", "", "", "", "", ""},
	{"/", "", "", "", "", ""},
	{"//", "", "", "", "", ""},
	{"/user.slice", "", "", "", "", ""},
	{"/.service", "", "", "", "", ""},
	{"/job_", "", "", "", "", ""},
	{"/slurm/uid_0/job_", "", "", "", "", ""},
	{"/slurm/uid_0/job_12a", "", "", "", "", ""},
	{"/slurm/uid_0/job_123456789012345678901234567890", "", "", "", "", ""},
	{"/kubepods/podcast", "", "", "", "", ""},
	{"/kubepods.slice/kubepods-pod12.slice", "", "", "", "", ""},
	{"/docker/0123456789abcdef", "", "", "", "", ""},
	{"/docker/x" ID, "", "", "", "", ""},
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

/* A component that is longer than a name of the kernel can be is no unit. */
static void test_long(_unused_ void **state)
{
	char path[1024] = "/";
	CgroupOwner o;

	memset(path + 1, 'a', 600);
	memcpy(path + 601, ".service", 9);
	cgroup_owner(path, &o);
	assert_string_equal(o.unit, "");
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
