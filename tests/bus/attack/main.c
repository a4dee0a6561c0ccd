/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attacks rdmad as local users could, on a bus with the limits of the system bus, and measures what
 * another user sees of it.
 *
 *     attack --short               every attack for a moment: is everything right afterwards?
 *     attack --table [--users N]   every attack, beside the same against an empty service
 *
 * Only root can be other users.
 */

#include <getopt.h>
#include <sys/resource.h>

#include "battle.h"
#include "bodies.h"

#define RSS_MAX_MIB    80.0  /* 4096 ports are 34 of it, and a reply with all of them 30 */
#define GROWTH_MAX_MIB 12.0  /* what it keeps after an attack: no reply of 4096 ports */
#define FDS_MAX	       5000U /* 4096 snapshots, and what else it needs */
#ifdef RDMAD_SANITIZE  /* keeps what was freed */
#define RSS_COUNTS false
#else
#define RSS_COUNTS true
#endif
/* How much later than the empty service rdmad may answer, at the 99th percentile */
#define GOAL_ONE_MS  50.0
#define GOAL_MANY_MS 100.0
#define LEFT_OUT     77 /* the exit status for a test that cannot run here */

typedef struct Options {
	const char *rdmad, *policy, *bus, *label;
	double seconds, patience;
	unsigned int users[2];
	bool table, json, alone; /* ALONE: without the empty service */
	char **names;		 /* of attacks; none: all */
} Options;

static const Options *options;

static void usage(FILE *file)
{
	fputs("attack --short|--table [OPTION...] [ATTACK...]\n"
	      "  --seconds N    how long each attack lasts (3)\n"
	      "  --patience N   how many seconds something is waited for that does not come (60)\n"
	      "  --users N      how many users attack (1, and then 8)\n"
	      "  --bus BUS      dbus-daemon or dbus-broker (both, or what RDMAD_TEST_BUS says)\n"
	      "  --rdmad PATH   another rdmad than that of this build\n"
	      "  --policy FILE  its rules for the bus, org.rdma.conf\n"
	      "  --alone        rdmad only, without the empty service\n"
	      "  --json         one JSON object for each attack instead of a table\n"
	      "  --label TEXT   a key \"label\" in each of them\n"
	      "  --list         the names of all attacks\n",
	      file);
}

static bool is_wanted(const Attack *k)
{
	if (!options->names[0])
		return true;
	for (char **name = options->names; *name; name++)
		if (streq(*name, k->name))
			return true;
	return false;
}

static void check_names(void)
{
	for (char **name = options->names; *name; name++) {
		const Attack *k = attacks;

		while (k->name && !streq(k->name, *name))
			k++;
		if (!k->name)
			arena_die("there is no attack \"%s\": see --list", *name);
	}
}

static Result fight(const Attack *k, const char *bus, unsigned int users, bool empty)
{
	ArenaSetup setup = {.bus = bus,
			    .rdmad = empty ? NULL : options->rdmad,
			    .policy = options->policy,
			    .ports = k->ports,
			    .patience = (uint64_t)(options->patience * (double)USEC_PER_SEC)};

	fflush(stdout);
	return battle(&setup, k, users, (uint64_t)(options->seconds * (double)USEC_PER_SEC));
}

static void check_bounds(const Attack *k, Result *r)
{
	if (r->wrong[0])
		return;
	if (RSS_COUNTS && r->peak_mib > RSS_MAX_MIB)
		snprintf(r->wrong, sizeof(r->wrong), "rdmad had %.0f MiB", r->peak_mib);
	else if (RSS_COUNTS && r->growth_mib > (k->keeps_mib ?: GROWTH_MAX_MIB))
		snprintf(r->wrong, sizeof(r->wrong), "rdmad keeps %.0f MiB", r->growth_mib);
	else if (r->fds > FDS_MAX)
		snprintf(r->wrong, sizeof(r->wrong), "rdmad had %u descriptors", r->fds);
	else if (r->count.sent == 0)
		snprintf(r->wrong, sizeof(r->wrong), "the attackers did nothing");
}

/* The short form: returns how many attacks have left something wrong. */
static unsigned int test(const char *bus)
{
	unsigned int failed = 0;

	for (const Attack *k = attacks; k->name; k++) {
		uint64_t begin = arena_now();
		Result r;

		if (!is_wanted(k))
			continue;
		r = fight(k, bus, options->users[0], false);
		check_bounds(k, &r);
		printf("%-18s %8llu sent, %5.1f MiB, keeps %5.1f, %4u fds, longest Ping %7.1f ms, "
		       "%.1f s: %s\n",
		       k->name, (unsigned long long)r.count.sent, r.peak_mib, r.growth_mib, r.fds,
		       r.probes[PROBE_PING].max_ms,
		       (double)(arena_now() - begin) / (double)USEC_PER_SEC,
		       r.wrong[0] ? r.wrong : "right");
		failed += r.wrong[0] != 0;
	}
	return failed;
}

static bool meets_goal(const Result *rdmad, const Result *empty, unsigned int users)
{
	double goal = users > 1 ? GOAL_MANY_MS : GOAL_ONE_MS;

	for (Probe p = 0; p < _PROBE_MAX; p++)
		if (rdmad->probes[p].p99_ms > empty->probes[p].p99_ms + goal)
			return false;
	return !rdmad->wrong[0] && rdmad->peak_mib < RSS_MAX_MIB && rdmad->leaked == 0;
}

static void print_json_result(const char *name, const Result *r)
{
	printf(",\"%s\":{", name);
	for (Probe p = 0; p < _PROBE_MAX; p++)
		printf("\"%s\":{\"p99\":%.1f,\"max\":%.1f,\"calls\":%u,\"refused\":%u},",
		       probe_names[p], r->probes[p].p99_ms, r->probes[p].max_ms, r->probes[p].calls,
		       r->probes[p].refused);
	printf("\"sent\":%llu,\"answered\":%llu,\"errors\":%llu,\"rss\":%.1f,\"growth\":%.1f,"
	       "\"fds\":%u,\"leaked\":%u,\"cpu\":%.2f,"
	       "\"bus\":{\"before\":%.1f,\"peak\":%.1f,\"after\":%.1f},\"first\":%.1f}",
	       (unsigned long long)r->count.sent, (unsigned long long)r->count.answered,
	       (unsigned long long)r->count.refused, r->peak_mib, r->growth_mib, r->fds, r->leaked,
	       r->cpu, r->bus_before_mib, r->bus_peak_mib, r->bus_after_mib, r->first_ms);
}

static void print_json(const Attack *k, const char *bus, unsigned int users, Result *rdmad,
		       const Result *empty)
{
	printf("{\"attack\":\"%s\",\"bus\":\"%s\",\"users\":%u,\"ports\":%u,\"label\":\"%s\"",
	       k->name, bus, users, k->ports, options->label);
	print_json_result("rdmad", rdmad);
	print_json_result("empty", empty);
	for (char *c = rdmad->wrong; *c; c++)
		if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
			*c = '\'';
	printf(",\"wrong\":\"%s\",\"met\":%s}\n", rdmad->wrong,
	       meets_goal(rdmad, empty, users) ? "true" : "false");
}

static void print_heading(void)
{
	puts("Milliseconds: 99th percentile (longest) of rdmad | of the empty service.\n"
	     "Memory, descriptors: the most during the attack, rdmad | empty service.\n"
	     "Bus: its memory in MiB before, the most, and afterwards. First: the first Ping after "
	     "the attack, ms.\n");
	puts("| attack | bus | users | Ping | GetAll | WaitFor | signal | MiB | descriptors | CPU "
	     "| bus | first | goal |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|");
}

static void print_row(const Attack *k, const char *bus, unsigned int users, const Result *rdmad,
		      const Result *empty)
{
	printf("| %s | %s | %u |", k->name, bus, users);
	for (Probe p = 0; p < _PROBE_MAX; p++)
		printf(" %.0f (%.0f) \\| %.0f (%.0f) |", rdmad->probes[p].p99_ms,
		       rdmad->probes[p].max_ms, empty->probes[p].p99_ms, empty->probes[p].max_ms);
	printf(" %.0f \\| %.0f | %u \\| %u | %.0f \\| %.0f %% | %.0f %.0f %.0f \\| %.0f %.0f %.0f "
	       "| %.0f \\| %.0f | %s%s%s |\n",
	       rdmad->peak_mib, empty->peak_mib, rdmad->fds, empty->fds, rdmad->cpu * 100,
	       empty->cpu * 100, rdmad->bus_before_mib, rdmad->bus_peak_mib, rdmad->bus_after_mib,
	       empty->bus_before_mib, empty->bus_peak_mib, empty->bus_after_mib, rdmad->first_ms,
	       empty->first_ms, meets_goal(rdmad, empty, users) ? "yes" : "no",
	       rdmad->wrong[0] ? ": " : "", rdmad->wrong);
}

static void measure(const char *bus)
{
	for (const Attack *k = attacks; k->name; k++)
		for (size_t i = 0; is_wanted(k) && i < ARRAY_SIZE(options->users); i++) {
			unsigned int users = options->users[i];
			Result rdmad, empty = {};

			if (users == 0)
				continue;
			if (!options->alone)
				empty = fight(k, bus, users, true);
			rdmad = fight(k, bus, users, false);
			if (options->json)
				print_json(k, bus, users, &rdmad, &empty);
			else
				print_row(k, bus, users, &rdmad, &empty);
		}
}

/* Where the kernel gives each session its own share of the processors (sched(7)), the priority of a
 * process counts only in its session. */
static void raise_session(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/autogroup", "w");

	if (file)
		fprintf(file, "%d", ARENA_PRIORITY);
}

static void list(void)
{
	for (const Attack *k = attacks; k->name; k++)
		printf("%-18s %s\n", k->name, k->what);
}

/* Returns whether there is something to do. */
static bool read_options(int argc, char *argv[], Options *o)
{
	static const struct option words[] = {
		{"short", no_argument, NULL, 's'},	    {"table", no_argument, NULL, 't'},
		{"json", no_argument, NULL, 'j'},	    {"list", no_argument, NULL, 'l'},
		{"seconds", required_argument, NULL, 'n'},  {"users", required_argument, NULL, 'u'},
		{"bus", required_argument, NULL, 'b'},	    {"rdmad", required_argument, NULL, 'r'},
		{"policy", required_argument, NULL, 'p'},   {"label", required_argument, NULL, 'L'},
		{"patience", required_argument, NULL, 'w'}, {"alone", no_argument, NULL, 'a'},
		{"help", no_argument, NULL, 'h'},	    {},
	};
	bool is_short = false;
	int c;

	while ((c = getopt_long(argc, argv, "", words, NULL)) >= 0)
		switch (c) {
		case 's':
			is_short = true;
			o->seconds = 0.2;
			o->users[0] = 2;
			break;
		case 't':
			o->table = true;
			break;
		case 'j':
			o->table = o->json = true;
			break;
		case 'a':
			o->alone = true;
			break;
		case 'n':
			o->seconds = strtod(optarg, NULL);
			break;
		case 'w':
			o->patience = strtod(optarg, NULL);
			break;
		case 'u':
			o->users[0] = (unsigned int)strtoul(optarg, NULL, 10);
			o->users[1] = 0;
			break;
		case 'b':
			o->bus = optarg;
			break;
		case 'r':
			o->rdmad = optarg;
			break;
		case 'p':
			o->policy = optarg;
			break;
		case 'L':
			o->label = optarg;
			break;
		case 'l':
			list();
			exit(0);
		default:
			usage(c == 'h' ? stdout : stderr);
			exit(c == 'h' ? 0 : 2);
		}
	o->names = argv + optind;
	return is_short != o->table;
}

int main(int argc, char *argv[])
{
	static const char *const buses[] = {"dbus-daemon", "dbus-broker"};
	static const struct rlimit limit = {65536, 65536};
	Options o = {.rdmad = TEST_RDMAD,
		     .policy = TEST_POLICY,
		     .bus = getenv("RDMAD_TEST_BUS"),
		     .label = "",
		     .seconds = 3,
		     .patience = 60,
		     .users = {1, 8}};
	unsigned int failed = 0;

	if (!read_options(argc, argv, &o)) {
		usage(stderr);
		return 2;
	}
	if (getuid() != 0) {
		puts("left out: only root can make calls of other users");
		return LEFT_OUT;
	}
	options = &o;
	check_names();
	bodies_init();
	setrlimit(RLIMIT_NOFILE, &limit);
	setpriority(PRIO_PROCESS, 0, ARENA_PRIORITY);
	if (o.table)
		raise_session();
	if (o.table && !o.json)
		print_heading();
	for (size_t i = 0; i < ARRAY_SIZE(buses); i++) {
		if (o.bus && !streq(o.bus, buses[i]))
			continue;
		if (o.table)
			measure(buses[i]);
		else
			failed += test(buses[i]);
	}
	return failed > 0;
}
