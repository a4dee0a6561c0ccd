/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "battle.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "names.h"
#include "state.h"

#define CHANGE_USEC  (20 * USEC_PER_MSEC)
#define LOOK_USEC    (50 * USEC_PER_MSEC)
#define PENDING_MAX  100U /* the bus allows the tester 128 calls that wait */
#define ATTACKER_MAX 256U

/* What is known while the attack goes on. */
typedef struct Battle {
	const ArenaSetup *setup;
	const Attack *attack;
	Arena *arena;
	Victim *victim;
	pid_t victim_pid, attackers[ATTACKER_MAX];
	unsigned int n_attackers;
	Count *counts;			   /* of the attackers */
	unsigned int n_changes, n_pending; /* changes made; calls that wait for a reply */
	uint64_t pinged;		   /* when the first Ping afterwards was sent */
	unsigned int lids[VICTIM_PORTS];   /* before */
	bool gave_up; /* something did not come in time, so nothing else is waited for */
	char *state;
	Usage before;
	Result result;
} Battle;

/* Keeps only the first. */
static void complain(Battle *b, const char *format, ...) _printf_(2, 3);
static void complain(Battle *b, const char *format, ...)
{
	va_list args;

	if (b->result.wrong[0])
		return;
	va_start(args, format);
	vsnprintf(b->result.wrong, sizeof(b->result.wrong), format, args);
	va_end(args);
}

/* Processes */

/* PRIORITY is that of setpriority(2). */
static pid_t fork_as(unsigned int uid, int priority)
{
	pid_t pid = fork();

	if (pid < 0)
		arena_die("fork: %m");
	if (pid == 0) {
		setpriority(PRIO_PROCESS, 0, priority);
		arena_become(uid);
	}
	return pid;
}

static bool is_empty(const Battle *b)
{
	return !b->setup->rdmad;
}

static unsigned int n_ports(const Battle *b)
{
	return is_empty(b) ? 1 : VICTIM_PORTS;
}

static void start_victim(Battle *b)
{
	uint64_t end = arena_now() + 60 * USEC_PER_SEC;

	/* It measures, so it must not wait for the processor. */
	b->victim_pid = fork_as(ARENA_VICTIM_UID, ARENA_PRIORITY - 5);
	if (b->victim_pid == 0)
		victim_run(b->victim, b->arena->address, n_ports(b), is_empty(b));
	while (!b->victim->ready && arena_now() < end)
		usleep(1000);
	if (b->victim->ready && !b->victim->done)
		return;
	arena_print_log(b->arena);
	arena_die("the victim cannot begin: %s", b->victim->broken);
}

static void start_attackers(Battle *b, unsigned int users, uint64_t end)
{
	unsigned int n = users * MAX(b->attack->users_each, 1U);

	for (unsigned int i = 0; i < n && i < ATTACKER_MAX; i++) {
		Attacker a = {.socket = b->arena->socket,
			      .owner = b->arena->owner,
			      .count = &b->counts[i],
			      .end_usec = end};
		pid_t pid = fork_as(ARENA_ATTACKER_UID + i, ARENA_PRIORITY);

		if (pid == 0) {
			attack_run(b->attack, &a);
			_exit(0);
		}
		b->attackers[b->n_attackers++] = pid;
	}
}

static void stop_attackers(Battle *b)
{
	for (unsigned int i = 0; i < b->n_attackers; i++)
		kill(b->attackers[i], SIGKILL);
	for (unsigned int i = 0; i < b->n_attackers; i++)
		waitpid(b->attackers[i], NULL, 0);
	for (unsigned int i = 0; i < b->n_attackers; i++) {
		b->result.count.sent += b->counts[i].sent;
		b->result.count.answered += b->counts[i].answered;
		b->result.count.refused += b->counts[i].refused;
	}
}

/* The tester's own calls */

static void process(Battle *b, uint64_t usec)
{
	int r;

	while ((r = sd_bus_process(b->arena->bus, NULL)) > 0)
		;
	if (r < 0)
		complain(b, "the tester has lost the bus: %s", strerror(-r));
	else
		sd_bus_wait(b->arena->bus, usec);
	if (r < 0)
		usleep((useconds_t)usec);
}

/* A change that the tester makes. */
typedef struct Change {
	Battle *battle;
	char *command;
} Change;

static void change_free(Change *c)
{
	free(c->command);
	free(c);
}

static void send_change(Change *c);

/* The bus refuses what comes for a receiver for whom too much waits already. The attack is not
 * without changes then: the tester makes this one again. */
static int on_run(sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Change *c = userdata;
	Battle *b = c->battle;
	const sd_bus_error *e = sd_bus_message_get_error(m);

	b->n_pending--;
	if (sd_bus_error_has_name(e, SD_BUS_ERROR_LIMITS_EXCEEDED) &&
	    streq(sd_bus_message_get_sender(m), "org.freedesktop.DBus")) {
		send_change(c);
		return 0;
	}
	if (e)
		complain(b, "the tester's change was refused: %s: %s", e->name, e->message);
	change_free(c);
	return 0;
}

static void send_change(Change *c)
{
	int r = sd_bus_call_method_async(c->battle->arena->bus, NULL, RDMAD_BUS_NAME,
					 RDMAD_ROOT_PATH, RDMAD_INTERFACE_SIMULATOR, "Run", on_run,
					 c, "sa{sv}", c->command, 0);

	if (r >= 0) {
		c->battle->n_pending++;
		return;
	}
	complain(c->battle, "%s: %s", c->command, strerror(-r));
	change_free(c);
}

static void run_later(Battle *b, const char *command)
{
	Change *c = malloc(sizeof(*c));

	if (!c)
		abort();
	*c = (Change){.battle = b, .command = strdup(command)};
	if (!c->command)
		abort();
	send_change(c);
}

/* Runs COMMANDS, one a line; NULL: none. */
static void run_now(Battle *b, const char *commands)
{
	_cleanup_free_ char *copy = commands ? strdup(commands) : NULL;
	char *rest = copy, *command;
	uint64_t end = arena_now() + (b->gave_up ? USEC_PER_SEC / 2 : b->setup->patience);

	if (!commands || is_empty(b))
		return;
	while ((command = strsep(&rest, "\n")))
		run_later(b, command);
	while (b->n_pending > 0 && arena_now() < end)
		process(b, USEC_PER_MSEC);
	if (b->n_pending == 0)
		return;
	complain(b, "%s is not answered", commands);
	b->gave_up = true;
}

static void make_change(Battle *b)
{
	unsigned int i = b->n_changes;
	char command[96];

	if (i >= VICTIM_CHANGES || b->n_pending >= PENDING_MAX)
		return;
	snprintf(command, sizeof(command), "set sim%u/1 lid=%u event=lid-change", i % n_ports(b),
		 VICTIM_FIRST_LID + i);
	b->victim->changed[i] = arena_now();
	run_later(b, command);
	b->n_changes++;
}

static void look(Battle *b)
{
	Usage u = arena_usage(b->arena);

	b->result.fds = MAX(b->result.fds, u.fds);
	if (u.peak_mib > b->result.peak_mib)
		b->result.peak_mib = u.peak_mib;
	b->result.bus_peak_mib = MAX(b->result.bus_peak_mib, arena_bus_mib(b->arena));
}

static bool has_begun(const Battle *b)
{
	for (unsigned int i = 0; i < b->n_attackers; i++)
		if (b->counts[i].sent > 0)
			return true;
	return false;
}

/* On a slow machine it lasts until something was sent. */
static void attack_for(Battle *b, unsigned int users, uint64_t usec)
{
	uint64_t begin = arena_now(), t = begin, next_change = t, next_look = t;
	uint64_t end = begin + usec + b->setup->patience;
	double cpu;

	arena_reset_peak(b->arena);
	start_attackers(b, users, end);
	for (; t < begin + usec || (t < end && !has_begun(b)); t = arena_now()) {
		if (t >= next_change) {
			make_change(b);
			next_change = t + CHANGE_USEC;
		}
		if (t >= next_look) {
			look(b);
			next_look = t + LOOK_USEC;
		}
		process(b, next_change - MIN(t, next_change));
	}
	cpu = arena_usage(b->arena).cpu_sec - b->before.cpu_sec;
	b->result.cpu = cpu * (double)USEC_PER_SEC / (double)(arena_now() - begin);
	stop_attackers(b);
}

/* Afterwards */

static int on_ping(_unused_ sd_bus_message *m, void *userdata, _unused_ sd_bus_error *error)
{
	Battle *b = userdata;

	b->n_pending--;
	b->result.first_ms = (double)(arena_now() - b->pinged) / 1e3;
	return 0;
}

/* It is refused where the bus is full: that is an answer, too, and the changes say so. */
static void ping(Battle *b)
{
	int r = sd_bus_call_method_async(b->arena->bus, NULL, RDMAD_BUS_NAME, "/",
					 "org.freedesktop.DBus.Peer", "Ping", on_ping, b, NULL);

	b->pinged = arena_now();
	if (r < 0)
		complain(b, "Ping: %s", strerror(-r));
	else
		b->n_pending++;
}

/* Waits until CHECK says so. */
static bool wait_until(Battle *b, bool (*check)(Battle *b))
{
	uint64_t end = arena_now() + (b->gave_up ? USEC_PER_SEC / 2 : b->setup->patience);

	while (!check(b)) {
		if (arena_now() > end) {
			b->gave_up = true;
			return false;
		}
		process(b, 10 * USEC_PER_MSEC);
		look(b);
	}
	return true;
}

static bool all_seen(Battle *b)
{
	for (unsigned int i = 0; i < b->n_changes; i++)
		if (!b->victim->seen[i])
			return false;
	return b->n_pending == 0;
}

static bool victim_done(Battle *b)
{
	return b->victim->done;
}

static bool waits_answered(Battle *b)
{
	return b->victim->n_waits == VICTIM_WAITS;
}

static bool descriptors_closed(Battle *b)
{
	return arena_usage(b->arena).fds <= b->before.fds;
}

static bool same_state(Battle *b)
{
	char error[256];
	char *now = state_read(b->arena->bus, error);
	bool same = now && streq(now, b->state);

	free(now);
	return same;
}

static void check_state(Battle *b)
{
	char error[256] = "", difference[512];
	char *now;

	if (b->gave_up || wait_until(b, same_state))
		return;
	now = state_read(b->arena->bus, error);
	if (!now) {
		complain(b, "%s", error);
		return;
	}
	state_difference(b->state, now, difference);
	complain(b, "another state: %s", difference);
	free(now);
}

static void restore(Battle *b)
{
	char command[96];

	run_now(b, b->attack->after);
	for (unsigned int i = 0; i < VICTIM_PORTS; i++) {
		snprintf(command, sizeof(command), "set sim%u/1 lid=%u event=lid-change", i,
			 b->lids[i]);
		run_now(b, command);
	}
}

static void check_rdmad(Battle *b)
{
	restore(b);
	check_state(b);
	run_now(b, "set sim7/1 state=down event=port-error");
	if (!wait_until(b, waits_answered))
		complain(b, "%u of %u waits of the victim are lost",
			 VICTIM_WAITS - b->victim->n_waits, VICTIM_WAITS);
}

static void check(Battle *b)
{
	Usage after;

	if (!wait_until(b, all_seen))
		complain(b, "the victim has not seen all changes");
	b->victim->stop = true;
	if (!wait_until(b, victim_done))
		complain(b, "calls of the victim are not answered");
	if (b->victim->broken[0])
		complain(b, "the victim: %s", b->victim->broken);
	if (!arena_same_owner(b->arena))
		complain(b, "the service has ended, or lost its name");
	else if (!is_empty(b))
		check_rdmad(b);
	if (!wait_until(b, descriptors_closed))
		complain(b, "descriptors are left open");
	after = arena_usage(b->arena);
	b->result.growth_mib = after.rss_mib - b->before.rss_mib;
	b->result.leaked = after.fds - MIN(b->before.fds, after.fds);
}

/* What the victim has measured */

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void summarize(Battle *b, Probe p)
{
	Samples *s = &b->victim->probes[p];
	Latency *l = &b->result.probes[p];

	l->calls = s->calls;
	l->refused = s->refused;
	if (s->refused > 0)
		complain(b, "%u of %u calls of %s of the victim were refused: %s", s->refused,
			 s->calls, probe_names[p], s->error);
	if (s->begin > 0) /* and it is not answered yet */
		victim_add_samples(s, arena_now() - s->begin);
	if (s->n == 0)
		return;
	qsort(s->usec, s->n, sizeof(s->usec[0]), compare);
	l->p99_ms = s->usec[(size_t)(s->n - 1) * 99 / 100] / 1e3;
	l->max_ms = s->usec[s->n - 1] / 1e3;
}

/* A change that was never seen took as long as we have waited. */
static void collect_signals(Battle *b)
{
	Samples *s = &b->victim->probes[PROBE_SIGNAL];

	for (unsigned int i = 0; i < b->n_changes; i++) {
		uint64_t seen = b->victim->seen[i];

		s->usec[s->n++] = (uint32_t)((seen ? seen : arena_now()) - b->victim->changed[i]);
		s->calls++;
	}
}

/* Before */

static void remember(Battle *b)
{
	char error[256] = "", path[64];

	if (is_empty(b))
		return;
	b->state = state_read(b->arena->bus, error);
	if (!b->state)
		arena_die("%s", error);
	for (unsigned int i = 0; i < VICTIM_PORTS; i++) {
		snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u/port/1", i);
		if (sd_bus_get_property_trivial(b->arena->bus, RDMAD_BUS_NAME, path,
						RDMAD_INTERFACE_INFINIBAND, "Lid", NULL, 'u',
						&b->lids[i]) < 0)
			arena_die("%s has no LID", path);
	}
}

static void end_victim(Battle *b)
{
	kill(b->victim_pid, SIGKILL);
	waitpid(b->victim_pid, NULL, 0);
	b->victim = victim_free(b->victim);
}

Result battle(const ArenaSetup *setup, const Attack *k, unsigned int users, uint64_t usec)
{
	size_t size = sizeof(Count) * ATTACKER_MAX;
	Battle b = {.setup = setup, .attack = k};

	b.counts = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (b.counts == MAP_FAILED)
		arena_die("no memory");
	b.arena = arena_new(setup);
	b.victim = victim_new();
	sd_bus_set_method_call_timeout(b.arena->bus, setup->patience);
	remember(&b);
	start_victim(&b);
	run_now(&b, k->before);
	b.before = arena_usage(b.arena);
	b.result.bus_before_mib = arena_bus_mib(b.arena);
	attack_for(&b, users, usec);
	ping(&b);
	check(&b);
	b.result.bus_after_mib = arena_bus_mib(b.arena);
	collect_signals(&b);
	for (Probe p = 0; p < _PROBE_MAX; p++)
		summarize(&b, p);
	if (b.result.wrong[0])
		arena_print_log(b.arena);
	end_victim(&b);
	arena_free(b.arena);
	free(b.state);
	munmap(b.counts, size);
	return b.result;
}
