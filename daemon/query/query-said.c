/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "query-said.h"

#include "log.h"
#include "util.h"

void said_begin(Said *s)
{
	*s = (Said){.before = stderr};
	s->stream = open_memstream(&s->text, &s->size);
	if (s->stream)
		stderr = s->stream;
}

/* Notes LINE. Returns whether it is new. */
static bool is_new(const char *line)
{
	static char *lines[SAID_MAX];
	static size_t n;

	for (size_t i = 0; i < n; i++)
		if (streq(lines[i], line))
			return false;
	if (n < SAID_MAX)
		lines[n] = strdup(line);
	/* without memory to note it, it would be said again and again */
	if (n == SAID_MAX || !lines[n])
		return false;
	n++;
	return true;
}

void said_end(Said *s)
{
	int saved = errno;
	char *rest = NULL;

	if (!s->stream)
		return;
	stderr = s->before;
	if (fclose(s->stream) == 0)
		for (char *l = strtok_r(s->text, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest))
			if (is_new(l))
				log_warning("%s", l);
	free(s->text);
	errno = saved;
}

struct ibv_device **said_list_devices(void)
{
	struct ibv_device **list;
	Said said;

	said_begin(&said);
	list = ibv_get_device_list(NULL);
	said_end(&said);
	return list;
}

struct ibv_context *said_open_device(struct ibv_device *d)
{
	struct ibv_context *context;
	Said said;

	said_begin(&said);
	context = ibv_open_device(d);
	said_end(&said);
	return context;
}
