/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rdmad-pci reads, once before rdmad starts, registers of PCI functions that the kernel shows to
 * CAP_SYS_ADMIN only, writes them into the directory that its unit made (RUNTIME_DIRECTORY), and
 * ends. It listens to nobody, and rdmad itself does not have that right.
 */

#include <fcntl.h>
#include <unistd.h>

#include "control-files.h"
#include "util.h"

DEFINE_CLEANUP(DIR, closedir);

#define FUNCTIONS "/sys/bus/pci/devices"

int main(int argc, char *argv[])
{
	_cleanup_(closedir_pointer) DIR *functions = NULL;
	_cleanup_close_ int out = -EBADF;
	const char *directory = getenv("RUNTIME_DIRECTORY");
	int r;

	if (argc > 1) {
		fprintf(stderr, "Unexpected argument: %s\n", argv[1]);
		return EXIT_FAILURE;
	}
	if (!directory) {
		fputs("rdmad-pci: RUNTIME_DIRECTORY is not set: see rdmad-pci.service\n", stderr);
		return EXIT_FAILURE;
	}
	functions = opendir(FUNCTIONS);
	if (!functions && errno == ENOENT)
		return EXIT_SUCCESS; /* a machine without PCI */
	out = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = !functions || out < 0 ? -errno : control_files_write(functions, out);
	if (r < 0)
		fprintf(stderr, "rdmad-pci: %s\n", strerror(-r));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
