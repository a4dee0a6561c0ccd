/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "worker-command.h"

#include <inttypes.h>

#include "find-program.h"
#include "util.h"

DEFINE_CLEANUP(char *, worker_command_free);

int worker_command_new(const Config *c, const char *worker_path, char ***ret)
{
	_cleanup_(worker_command_free_pointer) char **argv = NULL;
	size_t n_globs = 0, n = 0;

	while (c->never_open && c->never_open[n_globs])
		n_globs++;
	argv = calloc(n_globs + 5, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	argv[n] = worker_path ? strdup(worker_path) : find_program("rdmad-query");
	if (!argv[n++])
		return -ENOMEM;
	argv[n] = strdup(c->hold_contexts ? "--hold=yes" : "--hold=no");
	if (!argv[n++])
		return -ENOMEM;
	argv[n] = strdup(c->hbl ? "--hbl=yes" : "--hbl=no");
	if (!argv[n++])
		return -ENOMEM;
	if (asprintf(&argv[n], "--timeout=%" PRIu64, c->query_timeout_usec / USEC_PER_MSEC) < 0) {
		argv[n] = NULL;
		return -ENOMEM;
	}
	n++;
	for (size_t i = 0; i < n_globs; i++, n++)
		if (asprintf(&argv[n], "--never-open=%s", c->never_open[i]) < 0) {
			argv[n] = NULL;
			return -ENOMEM;
		}
	*ret = steal_pointer(&argv);
	return 0;
}

char **worker_command_free(char **argv)
{
	for (char **a = argv; a && *a; a++)
		free(*a);
	free(argv);
	return NULL;
}
