/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Completes rdmactl-env(1): copies standard input to standard output, and puts in the place of a
 * line "@libraries@" the names of the libraries, and of "@variables@" the variables of each. Both
 * come from the tables of rdmactl env.
 */

#include <stdio.h>

#include "env-library.h"
#include "util.h"

static void put_libraries(void)
{
	for (const Library *l = libraries; l->name; l++)
		printf("%s %s", l == libraries ? ".Cm" : " |", l->name);
	putchar('\n');
}

/* "nccl , rccl": L and those behind it that have the same variables. */
static void put_names(const Library *l)
{
	printf(".It Cm %s", l->name);
	for (const Library *other = l + 1; other->name; other++)
		if (other->variables == l->variables)
			printf(" , %s", other->name);
}

static void put_variables(void)
{
	for (const Library *l = libraries; l->name; l++) {
		if (l > libraries && l[-1].variables == l->variables)
			continue;
		for (const Variable *v = l->variables; v->name; v++) {
			if (v == l->variables)
				put_names(l);
			else
				fputs(".It", stdout);
			printf(" Ta Ev %s Ta %s\n", v->name, v->help);
		}
	}
}

int main(void)
{
	char line[2048];

	while (fgets(line, sizeof(line), stdin)) {
		if (streq(line, "@libraries@\n"))
			put_libraries();
		else if (streq(line, "@variables@\n"))
			put_variables();
		else
			fputs(line, stdout);
	}
	return fflush(stdout) == 0 && !ferror(stdout) && !ferror(stdin) ? 0 : 1;
}
