/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rdmad with the devices of hung.h as its source, asked through the real pool of workers. */

#include <sys/epoll.h>

#include "hung.h"
#include "log.h"
#include "pool.h"
#include "program.h"

static const char *arg_worker;

typedef struct Hung {
	Source source;
	const SourceHandler *handler;
	void *userdata;
	const HungState *state;
	Pool *pool;
	sd_event_source *changes;
} Hung;

static int hung_start(_unused_ Source *s)
{
	return 0;
}

static int hung_enumerate(Source *s, DeviceSnapshot **ret, size_t *ret_n)
{
	const HungState *state = ((Hung *)s)->state;
	uint32_t n = state->n_hung + HUNG_HEALTHY;
	DeviceSnapshot *all = calloc(n, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		AttrText name;

		snprintf(name, sizeof(name), "dev%u", i + 1);
		DEVICE_SUPPLY(&all[i], index, i + 1);
		DEVICE_SUPPLY_TEXT(&all[i], name, name);
		DEVICE_SUPPLY(&all[i], sys_image_guid,
			      state->together && i < state->n_hung ? 1000 : i + 1);
		DEVICE_SUPPLY(&all[i], node_type, 1);
		DEVICE_SUPPLY(&all[i], port_count, 1);
	}
	*ret = all;
	*ret_n = n;
	return 0;
}

static int hung_query(Source *s, const Query *q)
{
	return pool_query(((Hung *)s)->pool, q);
}

static void hung_forget(Source *s, uint32_t device)
{
	uint64_t asked;

	pool_forget(((Hung *)s)->pool, device, &asked);
}

static void hung_status(_unused_ const Source *s, SourceStatus *ret)
{
	*ret = (SourceStatus){};
}

static void hung_free(Source *s)
{
	Hung *h = (Hung *)s;

	sd_event_source_disable_unref(h->changes);
	pool_free(h->pool);
	free(h);
}

static int on_change(_unused_ sd_event_source *s, int fd, _unused_ uint32_t revents, void *userdata)
{
	const Hung *h = userdata;
	uint8_t device;

	while (read(fd, &device, 1) == 1)
		h->handler->event(h->userdata, &(Event){device, 1, REASON_LID_CHANGE});
	return 0;
}

static int open_hung(sd_event *event, const Config *config, const SourceHandler *handler,
		     void *userdata, Source **ret)
{
	static const SourceOps ops = {.start = hung_start,
				      .enumerate = hung_enumerate,
				      .query = hung_query,
				      .forget = hung_forget,
				      .status = hung_status,
				      .free = hung_free};
	const char *path = getenv(HUNG_CHANGES);
	Hung *h = calloc(1, sizeof(*h));
	int fd, r;

	if (!h)
		return -ENOMEM;
	*h = (Hung){.source.ops = &ops, .handler = handler, .userdata = userdata};
	*ret = &h->source;
	h->state = hung_state();
	fd = path ? open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC) : -EBADF;
	if (!h->state || fd < 0)
		return log_error_errno(-errno, HUNG_STATE ", " HUNG_CHANGES ": %m");
	r = sd_event_add_io(event, &h->changes, fd, EPOLLIN, on_change, h);
	return r < 0 ? r : pool_new(event, config, arg_worker, handler, userdata, &h->pool);
}

int main(int argc, char *argv[])
{
	static const ProgramOption options[] = {{"worker", &arg_worker}, {}};
	static const Program program = {"hung-core", "See hung.h.", options,  NULL,
					true,	     false,	    open_hung};
	ProgramArguments arguments;
	int r = program_parse(&program, argc, argv, &arguments);

	if (r <= 0)
		return r == 0 ? EXIT_SUCCESS : 2;
	return program_run(&program, &arguments);
}
