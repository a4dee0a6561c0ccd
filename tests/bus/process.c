/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "process.h"

#include <dirent.h>
#include <sys/resource.h>

#include "fixture.h"

unsigned int process_count_entries(pid_t pid, const char *what)
{
	char path[64];
	unsigned int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

void process_wait_descriptors(pid_t pid, unsigned int most)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < 3000; i++) {
		n = process_count_entries(pid, "fd");
		if (n <= most)
			return;
		usleep(10000);
	}
	fail_msg("the process has %u descriptors and had %u", n, most);
}

unsigned int process_count_children(pid_t pid)
{
	char path[64], text[4096];
	_cleanup_fclose_ FILE *file = NULL;
	unsigned int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "r");
	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	for (char *p = text; *p; p++)
		n += *p == ' ';
	return n;
}

unsigned long process_resident_kib(pid_t pid)
{
	char path[64], line[256];
	_cleanup_fclose_ FILE *file = NULL;
	unsigned long kib = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "VmRSS: %lu", &kib) == 1)
			break;
	return kib;
}

rlim_t process_max_descriptors(pid_t pid)
{
	struct rlimit limit;

	assert_int_equal(prlimit(pid, RLIMIT_NOFILE, NULL, &limit), 0);
	return limit.rlim_cur;
}

void process_set_max_descriptors(pid_t pid, rlim_t n)
{
	struct rlimit limit;

	assert_int_equal(prlimit(pid, RLIMIT_NOFILE, NULL, &limit), 0);
	limit.rlim_cur = n;
	assert_int_equal(prlimit(pid, RLIMIT_NOFILE, &limit, NULL), 0);
}
