/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What rdmactl doctor reads of a machine: of processes, and of the library of verbs, whose file
 * this test names. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "doctor-facts.h"

static char root[64];

static int setup(_unused_ void **state)
{
	strcpy(root, "/tmp/rdmad-test.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_entry(const char *path, _unused_ const struct stat *st, _unused_ int flag,
			_unused_ struct FTW *ftw)
{
	return remove(path);
}

static int teardown(_unused_ void **state)
{
	return nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* Makes the file PATH of the machine with TEXT, and the directories above it. */
static void make_file(const char *path, const char *text)
{
	char whole[256];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *p = whole + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		(void)mkdir(whole, 0755);
	}
	f = fopen(whole, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static const char *fact(const Machine *m, const char *name)
{
	static char text[FACT_MAX];

	for (size_t i = 0; i < n_machine_facts; i++)
		if (streq(machine_facts[i].name, name)) {
			memset(text, 'x', sizeof(text));
			machine_facts[i].read(m, text);
			return text;
		}
	fail_msg("no fact %s", name);
	return NULL;
}

/* rdmad is the first process of a container, and its worker has the next number. */
static void test_process(_unused_ void **state)
{
	Machine m = {.root = root, .pid = 1};

	make_file("/proc/1/status", "Name:\trdmad\nNoNewPrivs:\t1\nSeccomp:\t2\n");
	make_file("/proc/1/attr/current", "rdmad (enforce)\nmore\n");
	make_file("/proc/1/task/1/children", "2 3 ");
	make_file("/proc/2/status", "NoNewPrivs:\t0\nSeccomp:\t0");
	assert_string_equal(fact(&m, "label"), "rdmad (enforce)");
	assert_string_equal(fact(&m, "no-new-privileges"), "yes");
	assert_string_equal(fact(&m, "seccomp"), "yes");
	assert_string_equal(fact(&m, "worker-seccomp"), "no");
	assert_int_equal(machine_worker_is_filtered(&m), 0);
	make_file("/proc/2/status", "Seccomp:\t2");
	assert_int_equal(machine_worker_is_filtered(&m), 1);
	assert_string_equal(fact(&m, "worker-seccomp"), "yes");
	m.pid = 2;
	assert_string_equal(fact(&m, "no-new-privileges"), "");
	assert_string_equal(fact(&m, "seccomp"), "yes");
	assert_string_equal(fact(&m, "worker-seccomp"), "");
	make_file("/proc/0/status", "Seccomp:\t2\n");
	m.pid = 0;
	assert_string_equal(fact(&m, "seccomp"), "");
}

static void test_files(_unused_ void **state)
{
	Machine m = {.root = root};

	assert_string_equal(fact(&m, "distribution"), "");
	make_file("/usr/lib/os-release", "NAME=x\nPRETTY_NAME=\"Some Linux 1\"\n");
	assert_string_equal(fact(&m, "distribution"), "Some Linux 1");
	make_file("/etc/os-release", "PRETTY_NAME=Other\nNAME=x\n");
	assert_string_equal(fact(&m, "distribution"), "Other");
	assert_string_equal(fact(&m, "container"), "no");
	make_file("/.dockerenv", "");
	assert_string_equal(fact(&m, "container"), "yes");
	make_file("/run/systemd/container", "podman\n");
	assert_string_equal(fact(&m, "container"), "podman");
	assert_string_equal(fact(&m, "verbs"), "no");
	make_file("/sys/class/infiniband_verbs/abi_version", "6\n");
	assert_string_equal(fact(&m, "verbs"), "yes");
}

static void test_answers(_unused_ void **state)
{
	Machine m = {.root = root};

	assert_string_equal(fact(&m, "rdmad"), "no answer");
	assert_string_equal(fact(&m, "source"), "");
	assert_string_equal(fact(&m, "landlock"), "no");
	m.reached = true;
	m.kernel.landlock = 1;
	assert_string_equal(fact(&m, "rdmad"), "answers");
	assert_string_equal(fact(&m, "source"), "kernel");
	assert_string_equal(fact(&m, "landlock"), "version 1");
	m.simulated = true;
	strcpy(m.version, "0.9");
	assert_string_equal(fact(&m, "rdmad"), "0.9");
	assert_string_equal(fact(&m, "source"), "simulator");
}

/* Where the library of verbs is; NULL: nowhere, "": in no file */
static const char *library;

void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags)
{
	assert_string_equal(name, "libibverbs.so.1");
	return library ? __real_dlopen("libc.so.6", flags) : NULL;
}

char *__wrap_realpath(const char *path, char *ret);
char *__wrap_realpath(const char *path, char *ret)
{
	assert_non_null(strstr(path, "/libc.so.6"));
	assert_null(ret);
	return *library ? strdup(library) : NULL;
}

static void test_rdma_core(_unused_ void **state)
{
	static const struct {
		const char *library, *version;
	} cases[] = {
		{NULL, "none"},
		{"", ""},
		{"/usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.50.0", "50.0"},
		{"/lib/libibverbs.so.1.9.36", "36"},
		{"/lib/libibverbs.so.1.14", ""},
		{"/lib/libibverbs.so.1.", ""},
		{"/lib/libibverbs.so.1", ""},
		{"/opt/rdma.1.2/libverbs", ""},
	};
	const Machine m = {.root = root};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		library = cases[i].library;
		assert_string_equal(fact(&m, "rdma-core"), cases[i].version);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_process, setup, teardown),
		cmocka_unit_test_setup_teardown(test_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rdma_core, setup, teardown),
	};

	return cmocka_run_group_tests_name("doctor-facts", tests, NULL, NULL);
}
