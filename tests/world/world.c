/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "world.h"

#include <malloc.h>
#include <signal.h>
#include <sys/wait.h>

#include "../unit/descriptors.h"
#include "bus-peer.h"
#include "check.h"
#include "clients.h"
#include "disk.h"
#include "log.h"
#include "manager-private.h"
#include "replay.h"
#include "script.h"
#include "simulator.h"

/* Within this time after the last fault the core has found out all. A device that has failed for
 * long is asked every 30 s. */
#define QUIET_USEC (40 * USEC_PER_SEC)
/* The same of its pool: every ten minutes */
#define QUIET_WORKERS_USEC (620 * USEC_PER_SEC)
/* A query may have to wait for the end of another one, each of which has 2 s, and for its turn. */
#define WAIT_USEC (10 * USEC_PER_SEC)
/* The pool refuses a query for which no worker could be kept running for a minute. Before it gives
 * up a worker whose answer does not end, 32 s may pass. */
#define WAIT_WORKERS_USEC (100 * USEC_PER_SEC)
/* At most so many turns of the event loop without anything new from outside */
#define TURNS_MAX 100000U
#define DAY_SEC	  86400U
/* How often all objects are read until there is no signal meanwhile */
#define READS_MAX 10U
/* What could not be written is written then. */
#define RECORD_USEC (7 * USEC_PER_SEC)
/* So much of a record is there when all is played that is in it. */
#define PLAYED_USEC (5 * USEC_PER_SEC)
/* At one of so many quiet points all objects are read: that takes longer than all else. */
#define READS_ONE_IN 3U
/* At one of so many quiet points the record is played. */
#define REPLAYS_ONE_IN 16U
/* At one of so many there is another judge. */
#define JUDGES_ONE_IN 8U
/* After one of so many some devices hang. */
#define HANGS_ONE_IN 3U
/* What the pool has suspected or had to wait for before is forgotten then. */
#define CALM_USEC (61 * USEC_PER_SEC)
/* A segment begins often. */
#define RECORD_MAX (64U << 10)
/* What the libraries, and malloc() for each thread, may keep */
#define MEMORY_MAX (512U << 10)
/* After these the libraries have made what they make once. */
#define FIRST_STEPS 300U

typedef struct World {
	sd_event *event;
	Lots lots; /* of the step */
	Config config;
	Script *script;
	Manager *manager;
	Clients *clients;
	uint64_t n_quiet, n_played;
	const char *played; /* the record that is played in this world */
} World;

/* The event loop */

/* One turn of the event loop, and one of the bus. Returns whether there was anything to do. */
static bool turn(World *w)
{
	int r = sd_event_run(w->event, 0);

	LAW(r >= 0, "the event loop has failed: %s", strerror(-r));
	return clients_process(w->clients) || r > 0;
}

/* Until there is nothing more to do at this time */
static void settle(World *w)
{
	for (unsigned int n = 0; turn(w); n++)
		LAW(n < TURNS_MAX, "the core does not come to rest");
}

static uint64_t next_usec(const World *w)
{
	return MIN(virtual_next_usec(), script_next_usec(w->script));
}

/* DELAY_USEC pass, in which the core does all that it has to do in time. */
static void pass(World *w, uint64_t delay_usec)
{
	uint64_t until = virtual_now_usec() + delay_usec, next;

	while ((next = next_usec(w)) <= until) {
		virtual_time_set(next);
		script_catch_up(w->script);
		settle(w);
	}
	virtual_time_set(until);
	script_catch_up(w->script);
	disk_catch_up();
}

/* Laws */

static bool is_idle(const Schedule *w)
{
	return !w->asked_id && !w->wedged && !schedule_is_dirty(w) && !schedule_has_left(w) &&
	       !timer_runs(w->pace) && !w->later_usec && !timer_runs(w->settle) &&
	       !timer_runs(w->retry);
}

/* Whether the core has nothing left to do but to look from time to time. */
static bool is_quiet(const Manager *m)
{
	for (size_t i = 0; i < m->cache.n_devices; i++)
		if (!is_idle(m->cache.devices[i]->schedule))
			return false;
	return m->has_name && !m->devices_due && !m->looking && !timer_runs(m->flush) &&
	       !timer_runs(m->enumerate_pace) && !timer_runs(m->enumerate_retry) &&
	       !m->health_soon && !timer_runs(m->refresh_pace) && !timer_runs(m->counts);
}

/* All that the bus has to say is read. */
static void read_published(World *w)
{
	uint64_t begin = virtual_now_usec();

	for (unsigned int n = 0; !clients_check(w->clients); n++) {
		LAW(n < READS_MAX, "there is always news");
		clients_read(w->clients);
		while (clients_wait(w->clients)) {
			settle(w);
			LAW(virtual_now_usec() < begin + QUIET_USEC, "the objects are not sent");
			pass(w, 10 * USEC_PER_MSEC);
		}
	}
}

/* The record */

static int open_record(void *userdata, const SourceHandler *handler, void *handler_userdata,
		       Source **ret)
{
	World *w = userdata;
	_cleanup_free_ char *message = NULL;
	int r = simulator_new(w->event, &w->config, w->played, handler, handler_userdata, ret,
			      &message);

	LAW(r >= 0, "the record cannot be played: %s", message ? message : strerror(-r));
	return r;
}

/* Begins a process of its own for what this one is to know nothing of. */
static pid_t begin_apart(void)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	LAW(pid >= 0, "no process");
	return pid;
}

static void end_apart(pid_t pid, const char *law)
{
	int status;

	LAW(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		    WEXITSTATUS(status) == EXIT_SUCCESS,
	    "%s", law);
}

/* In a process of its own: another core plays the record at PATH, and publishes what this one does.
 */
static void play(const World *w, const char *path, const char *bus_address)
{
	World p = {.config = w->config, .played = path};
	ManagerSetup setup = {.config = &p.config,
			      .bus_address = bus_address,
			      .open_source = open_record,
			      .userdata = &p};
	uint64_t usec = replay_usec(path);

	disk_leave();
	/* in the record is what is published, and no counters */
	p.config.reconcile_usec = 0;
	p.config.counter_usec = 0;
	LAW(sd_event_new(&p.event) >= 0, "no event loop");
	setup.event = p.event;
	p.script = script_new(p.event, &p.lots, p.config.query_timeout_usec, false);
	p.clients = clients_new(&p.lots, WAIT_USEC);
	LAW(manager_new(&setup, &p.manager) >= 0, "no manager");
	clients_serve(p.clients, &p.manager->cache);
	LAW(manager_start(p.manager) >= 0, "the manager does not start");
	for (unsigned int n = 0; !p.manager->served || !p.manager->ready; n++) {
		LAW(n < 1000, "who plays the record is not ready");
		settle(&p);
		pass(&p, 10 * USEC_PER_MSEC);
	}
	pass(&p, usec + PLAYED_USEC);
	read_published(&p);
	check_played(clients_published(w->clients), clients_published(p.clients));
	_exit(EXIT_SUCCESS);
}

static void check_record(World *w)
{
	/* it has the number of this process in it */
	const char *bus_address = peer_address();
	char path[96], all[128];
	pid_t pid;

	if (!w->manager->ready || !disk_is_open())
		return;
	pass(w, RECORD_USEC);
	read_published(w);
	LAW(disk_newest_segment(path, sizeof(path)), "there is no record");
	snprintf(all, sizeof(all), "--directory=%s/record", disk_directory());
	check_verified(disk_has_gap() ? path : all);
	pid = begin_apart();
	if (pid == 0)
		play(w, path, bus_address);
	end_apart(pid, "the record does not say what was published");
	w->n_played++;
}

/* What is judged */

static void check_judge(World *w)
{
	pid_t pid;

	if (!w->manager->ready || w->manager->cache.n_devices == 0)
		return;
	pid = begin_apart();
	if (pid == 0) {
		check_health(w->manager);
		_exit(EXIT_SUCCESS);
	}
	end_apart(pid, "the health of ports does not follow from what is published");
}

/* Some devices hang: those that do not are asked within one time-out. */
static void check_walls(World *w)
{
	pass(w, CALM_USEC);
	script_hang_some(w->script);
	pass(w, w->config.query_timeout_usec);
	check_healthy(w->script, &w->manager->cache);
}

/* Nothing fails any more: the core finds out all, and all laws hold. */
static void quiet(World *w)
{
	uint64_t begin = virtual_now_usec();
	uint64_t limit = script_has_workers(w->script) ? QUIET_WORKERS_USEC : QUIET_USEC;

	note("quiet");
	script_heal(w->script);
	script_be_prompt(w->script, true);
	clients_heal(w->clients);
	disk_heal();
	/* what has been told before is carried out */
	pass(w, 2 * USEC_PER_SEC);
	do {
		while (script_answer_all(w->script))
			settle(w);
		settle(w);
		if (is_quiet(w->manager) && !clients_wait(w->clients))
			break;
		LAW(virtual_now_usec() < begin + limit, "after %.1f s it is not quiet",
		    (double)limit / 1e6);
		pass(w, MIN(next_usec(w), begin + limit) - virtual_now_usec());
	} while (true);
	check_cache(w->script, &w->manager->cache);
	check_memory(w->manager);
	w->n_quiet++;
	if (w->n_quiet % READS_ONE_IN == 0)
		read_published(w);
	if (w->n_quiet % JUDGES_ONE_IN == 0)
		check_judge(w);
	if (w->n_quiet % REPLAYS_ONE_IN == 0)
		check_record(w);
	if (w->n_quiet % HANGS_ONE_IN == 0 && script_has_workers(w->script))
		check_walls(w);
	script_be_prompt(w->script, false);
}

/* Steps */

static void some_turns(World *w)
{
	for (uint32_t n = 1 + lots_below(&w->lots, 8); n > 0 && turn(w); n--)
		;
}

static void some_time(World *w)
{
	static const uint32_t longest_usec[] = {100, 1000, 10000, 100000, 1000000};

	settle(w);
	pass(w, lots_below(&w->lots, longest_usec[lots_below(&w->lots, ARRAY_SIZE(longest_usec))]));
}

/* The machine was busy, or was suspended: no timer has run in time. */
static void jump(World *w)
{
	bool is_long = lots_once_in(&w->lots, 8) && clients_are_served(w->clients);
	/* sd-bus gives up a bus that does not let it in for so long */
	uint64_t seconds = is_long ? lots_below(&w->lots, 3 * DAY_SEC) : 0;
	uint64_t to = virtual_now_usec() + seconds * USEC_PER_SEC +
		      lots_below(&w->lots, 5 * USEC_PER_SEC);

	note("the time jumps by %.3f s", (double)(to - virtual_now_usec()) / 1e6);
	virtual_time_set(to);
	script_catch_up(w->script);
	clients_excuse(w->clients);
}

static void start_manager(World *w)
{
	const ManagerSetup setup = {.event = w->event,
				    .config = &w->config,
				    .bus_address = peer_address(),
				    .open_source = script_open,
				    .userdata = w->script,
				    .state_directory = disk_directory()};

	LAW(manager_new(&setup, &w->manager) >= 0, "no manager");
	clients_serve(w->clients, &w->manager->cache);
	LAW(manager_start(w->manager) >= 0, "the manager does not start");
}

/* The core ends, whatever it does, and begins again. */
static void restart(World *w)
{
	bool is_killed = lots_once_in(&w->lots, 2);

	note(is_killed ? "the core is killed" : "the core ends");
	if (is_killed)
		disk_kill();
	/* nobody reads what it says last */
	manager_free(w->manager);
	disk_bury();
	clients_drop(w->clients);
	script_restart(w->script);
	start_manager(w);
}

/* Somebody sets the clock, perhaps back. */
static void set_clock(World *w)
{
	int64_t seconds = (int64_t)lots_below(&w->lots, 2 * DAY_SEC) - (int64_t)DAY_SEC;

	note("the clock is %jd s from right", (intmax_t)seconds);
	virtual_realtime_set(seconds * (int64_t)USEC_PER_SEC);
}

static void turns_and_time(World *w)
{
	if (lots_once_in(&w->lots, 100))
		jump(w);
	else if (lots_once_in(&w->lots, 200))
		set_clock(w);
	else if (lots_once_in(&w->lots, 2))
		some_turns(w);
	else
		some_time(w);
}

static void do_step(World *w, uint64_t number)
{
	w->lots.state = number;
	switch (lots_below(&w->lots, 256)) {
	case 0 ... 49:
		script_change(w->script);
		break;
	case 50 ... 99:
		script_tell(w->script);
		break;
	case 100 ... 169:
		script_work(w->script);
		break;
	case 170 ... 175:
		script_devices(w->script);
		break;
	case 176 ... 181:
		script_faults(w->script);
		break;
	case 182 ... 185:
		script_lie(w->script);
		break;
	case 186 ... 201:
		clients_call(w->clients);
		break;
	case 202:
		clients_leave(w->clients);
		break;
	case 203:
		if (lots_once_in(&w->lots, 2))
			clients_fault(w->clients);
		else if (lots_once_in(&w->lots, 10))
			restart(w);
		break;
	case 204 ... 206:
		quiet(w);
		break;
	case 207:
		disk_fault(&w->lots);
		break;
	case 208 ... 211:
		disk_step(&w->lots);
		break;
	default:
		turns_and_time(w);
	}
}

/* Life */

static void world_init(World *w, uint64_t seed)
{
	*w = (World){.config = (Config){CONFIG_KEYS(CONFIG_INITIAL)}};
	/* in two of three runs all has to come by events */
	w->config.reconcile_usec = seed % 3 == 0 ? 5 * USEC_PER_SEC : 0;
	LAW(sd_event_new(&w->event) >= 0, "no event loop");
	w->config.record_max = RECORD_MAX;
	disk_begin(seed);
	w->script = script_new(w->event, &w->lots, w->config.query_timeout_usec,
			       seed > SMALL_SEED && seed % 2 == 1);
	w->clients = clients_new(&w->lots,
				 script_has_workers(w->script) ? WAIT_WORKERS_USEC : WAIT_USEC);
	start_manager(w);
}

static void world_done(World *w)
{
	manager_free(w->manager);
	disk_end();
	clients_free(w->clients);
	script_free(w->script);
	sd_event_unref(w->event);
}

/* Of this process, in bytes */
static size_t memory_now(void)
{
#if __GLIBC_PREREQ(2, 33)
	return mallinfo2().uordblks;
#else
	return (unsigned int)mallinfo().uordblks;
#endif
}

/* All of a run; what it takes of the machine it gives back. */
static void run_steps(World *w, uint64_t seed, const uint64_t *numbers, size_t n)
{
	world_init(w, seed);
	for (size_t i = 0; i < n; i++) {
		law_step = i;
		do_step(w, numbers[i]);
	}
	quiet(w);
	read_published(w);
	script_empty(w->script);
	quiet(w);
	read_published(w);
	world_done(w);
}

void run_world(uint64_t seed, const uint64_t *numbers, size_t n, RunResult *ret)
{
	unsigned int descriptors;
	size_t memory;
	uint64_t begin;
	World w;

	log_max_level = law_verbose ? LOG_DEBUG : LOG_CRIT;
	signal(SIGPIPE, SIG_IGN); /* as program.c */
	virtual_time_init(seed);
	/* what the libraries keep for ever they have then */
	run_steps(&w, seed, numbers, MIN(n, FIRST_STEPS));
	descriptors = count_descriptors();
	memory = memory_now();
	begin = virtual_now_usec();
	run_steps(&w, seed, numbers, n);
	LAW(count_descriptors() == descriptors, "%u descriptors are open, before it were %u",
	    count_descriptors(), descriptors);
	LAW(memory_now() <= memory + MEMORY_MAX, "%zu bytes of memory are lost",
	    memory_now() - memory);
	*ret = (RunResult){.virtual_usec = virtual_now_usec() - begin,
			   .quiet = w.n_quiet,
			   .played = w.n_played,
			   .digest = note_digest()};
}
