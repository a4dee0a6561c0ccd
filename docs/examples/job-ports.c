/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* job-ports [CHANGES]: prints each port and its state, from the descriptors that launch-job.py has
 * left open, and once more after each of so many changes. There need be no bus. */

#include <rdmad.h>
#include <stdio.h>
#include <stdlib.h>

static int print_ports(const struct rdmad *r)
{
	struct rdmad_handle handle = RDMAD_HANDLE_FIRST;
	char state[RDMAD_TEXT_MAX];
	struct rdmad_port port;
	int e;

	while ((e = rdmad_next(r, &handle)) == 1)
		if (rdmad_read(r, handle, &port) == 0 &&
		    rdmad_field_text(&port, RDMAD_FIELD_STATE, state, sizeof(state)) == 0)
			printf("%s/%u %s\n", port.device_name, port.hot.port_num, state);
	fflush(stdout);
	return e;
}

int main(int argc, char *argv[])
{
	long changes = argc > 1 ? atol(argv[1]) : 0;
	const char *snapshot = getenv("RDMAD_SNAPSHOT");
	struct rdmad *r = NULL;
	int memory, changed, e;

	if (!snapshot || sscanf(snapshot, "%d,%d", &memory, &changed) != 2) {
		fprintf(stderr, "job-ports: RDMAD_SNAPSHOT does not name two descriptors\n");
		return EXIT_FAILURE;
	}
	e = rdmad_open_fd(memory, changed, &r);
	if (e == 0)
		e = print_ports(r);
	for (; changes > 0 && e == 0; changes--) {
		e = rdmad_wait(r, UINT64_MAX);
		if (e == 1)
			e = print_ports(r);
	}
	if (e < 0)
		fprintf(stderr, "job-ports: %s\n", rdmad_strerror(e));
	rdmad_close(r);
	return e < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
