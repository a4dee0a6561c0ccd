/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * coherence [--seed N] [--operations N] [--only N,N...] [--shrink SEC]
 *
 * Runs in a virtual machine, as root, with rdmad installed and with rdma_sim and rdma_rxe. It makes
 * random changes of devices, ports and interfaces. It tests that at each quiet point everything
 * that is published equals what the kernel says when asked now, and that every signal before it was
 * true when it was sent. If that is not so, it looks for a few operations that are enough to show
 * it.
 */

#include <getopt.h>

#include "compare.h"
#include "follow.h"
#include "kernel.h"
#include "operations.h"

/* How long no signal may come before everything must be equal: on a busy machine rdmad is slow, but
 * it goes on sending. What has failed may take longer, by the time for which it failed: the core
 * tries again after 0.25, 0.5, 1, 2... s. */
#define EQUAL_USEC (30 * USEC_PER_SEC)
#define WAIT_USEC  (5 * USEC_PER_MSEC)

static uint64_t arg_seed = 1;
static uint32_t arg_operations = 2000;
static uint64_t arg_shrink_usec = 60 * USEC_PER_SEC;
static const char *arg_only;

typedef struct Run {
	FILE *log; /* the operations since the last quiet point */
	char *log_text;
	size_t log_size;
	Follower follower;
	World *world;
	bool print;    /* prints all operations, not only the last ones */
	bool announce; /* prints a line after every hundred operations */
	size_t n_done, n_quiet, n_refreshed;
	char owner[64];
	uint64_t begin;
	uint64_t quiet_usec; /* the end of the last quiet point: every fault is newer */
} Run;

static World world;
static Fixture *f;

static void diverges(Run *r, const char *what, const char *text)
{
	fprintf(r->follower.report, "%s: %s\n", what, text);
	r->follower.n_divergences++;
}

typedef struct Patience {
	uint64_t usec, begin,
		last; /* how long to wait, since when, and when the last signal came */
	size_t n_signals;
} Patience;

static Patience patience_new(const Run *r, uint64_t usec)
{
	return (Patience){usec, fixture_now_usec(), fixture_now_usec(), r->follower.n_signals};
}

/* Takes in what has come: what the caller did since may have taken long. */
static bool patience_ends(Run *r, Patience *p)
{
	uint64_t now;

	follow(&r->follower, 0);
	now = fixture_now_usec();

	if (r->follower.n_signals != p->n_signals)
		p->last = now;
	p->n_signals = r->follower.n_signals;
	return now - p->last > p->usec || now - p->begin > 6 * p->usec;
}

static void refresh(Run *r)
{
	_cleanup_free_ char *error = NULL;
	sd_bus_message *reply = fixture_call(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Refresh",
					     &error, "a{sv}", 0);

	if (!reply)
		diverges(r, "Refresh", error);
	sd_bus_message_unref(reply);
	r->n_refreshed++;
}

/* The owner of the bus name. If it is not the same as before, rdmad has crashed. */
static void read_owner(char *owner, size_t size)
{
	sd_bus_message *reply = NULL;
	const char *name = "nobody";

	if (sd_bus_call_method(f->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
			       "org.freedesktop.DBus", "GetNameOwner", NULL, &reply, "s",
			       RDMAD_BUS_NAME) >= 0)
		sd_bus_message_read_basic(reply, 's', &name);
	snprintf(owner, size, "%s", name);
	sd_bus_message_unref(reply);
}

/* Whether the devices on the bus are those that exist in the world. */
static bool same_devices(Run *r, FILE *out)
{
	size_t expected = 0, published = 0;
	char path[RDMAD_PATH_MAX];
	bool same = true;

	for (unsigned int i = 0; i < WORLD_SLOTS; i++) {
		const WorldSlot *s = &world.slots[i];

		if (!s->exists || s->away)
			continue;
		for (unsigned int n = 0; n <= slot_kinds[i].n_ports; n++, expected++) {
			snprintf(path, sizeof(path),
				 n ? RDMAD_DEVICE_PREFIX "/%u/port/%u" : RDMAD_DEVICE_PREFIX "/%u",
				 s->index, n);
			if (objects_find(&r->follower.objects, path))
				continue;
			fprintf(out, "%s (%s) is missing\n", path, s->name);
			same = false;
		}
	}
	for (size_t i = 0; i < r->follower.objects.n; i++)
		if (startswith(r->follower.objects.objects[i].path, RDMAD_DEVICE_PREFIX "/")) {
			published++;
			if (published > expected)
				fprintf(out, "%s may be too much\n",
					r->follower.objects.objects[i].path);
		}
	return same && published == expected;
}

/* The devices and ports that still have to be found equal at this quiet point. */
typedef struct Open {
	bool device[WORLD_SLOTS];
	bool port[WORLD_SLOTS][WORLD_PORTS_MAX];
} Open;

static bool compare_one(unsigned int slot, unsigned int port, FILE *out)
{
	const WorldSlot *s = &world.slots[slot];
	_cleanup_free_ char *text = NULL;
	int r = port ? compare_port(f, s->index, (uint8_t)port, &text)
		     : compare_device(f, s->index, &text);

	if (r == 0)
		return true;
	fprintf(out, "%s/%u: %s\n", s->name, port, text && text[0] ? text : strerror(-r));
	return false;
}

static bool all_equal(Run *r, Open *open, FILE *out)
{
	bool equal = same_devices(r, out);

	for (unsigned int i = 0; i < WORLD_SLOTS; i++) {
		if (open->device[i])
			open->device[i] = !compare_one(i, 0, out);
		equal &= !open->device[i];
		for (unsigned int n = 0; n < slot_kinds[i].n_ports; n++) {
			if (open->port[i][n])
				open->port[i][n] = !compare_one(i, n + 1, out);
			equal &= !open->port[i][n];
		}
	}
	return equal;
}

/* Leaves time to rdmad after a comparison that began at BEGIN: there is one CPU, and the comparison
 * is more work than what rdmad does. Signals do not end that: on a busy machine they would come
 * because the next comparison keeps rdmad from the answers. */
static void leave_time(Run *r, uint64_t begin)
{
	uint64_t now = fixture_now_usec(), until = now + MAX(2 * (now - begin), WAIT_USEC);

	for (; now < until; now = fixture_now_usec())
		follow(&r->follower, until - now);
}

/* Waits at most PATIENCE_USEC until the devices and ports in OPEN are equal. REFRESHING: calls
 * Refresh() every second meanwhile. */
static bool wait_equal(Run *r, Open open, uint64_t patience_usec, bool refreshing)
{
	Patience patience = patience_new(r, patience_usec);
	uint64_t next = fixture_now_usec();

	for (;;) {
		uint64_t begin = fixture_now_usec();
		_cleanup_free_ char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);
		bool equal;

		assert_non_null(out);
		if (refreshing && fixture_now_usec() >= next) {
			refresh(r);
			next = fixture_now_usec() + USEC_PER_SEC;
		}
		follow(&r->follower, 0);
		equal = all_equal(r, &open, out);
		fclose(out);
		if (equal)
			return true;
		if (patience_ends(r, &patience)) {
			diverges(r, refreshing ? "not equal, even when refreshed" : "not equal",
				 text);
			return false;
		}
		leave_time(r, begin);
	}
}

/* The devices and ports that can be compared now: those that changed with an event, or if UNTOLD is
 * set only those that changed without one. */
static Open open_slots(bool untold)
{
	Open open = {};

	for (unsigned int i = 0; i < WORLD_SLOTS; i++) {
		const WorldSlot *s = &world.slots[i];

		if (!slot_is_sound(s))
			continue;
		open.device[i] = untold == s->untold;
		for (unsigned int n = 0; n < slot_kinds[i].n_ports; n++)
			open.port[i][n] = untold == s->ports[n].untold;
	}
	return open;
}

/* Waits until the ports that hang are stale, if an event has made rdmad ask them. */
static void wait_stale(Run *r)
{
	Patience patience = patience_new(r, EQUAL_USEC);

	for (unsigned int i = 0; i < WORLD_SLOTS; i++) {
		const WorldSlot *s = &world.slots[i];
		char path[RDMAD_PATH_MAX];

		for (unsigned int n = 0; s->exists && n < slot_kinds[i].n_ports; n++) {
			if (!s->ports[n].hang || !slot_kinds[i].held || s->away)
				continue;
			snprintf(path, sizeof(path), RDMAD_DEVICE_PREFIX "/%u/port/%u", s->index,
				 n + 1);
			for (;;) {
				const Object *object = objects_find(&r->follower.objects, path);
				const char *stale = object ? object_get(object, "Stale") : NULL;

				if (stale && streq(stale, "yes"))
					break;
				if (patience_ends(r, &patience)) {
					diverges(r, path, "hangs, and is not stale");
					return;
				}
				follow(&r->follower, WAIT_USEC);
			}
		}
	}
}

static bool anything_untold(void)
{
	for (unsigned int i = 0; i < WORLD_SLOTS; i++) {
		if (world.slots[i].exists && world.slots[i].untold)
			return true;
		for (unsigned int n = 0; n < slot_kinds[i].n_ports; n++)
			if (world.slots[i].exists && world.slots[i].ports[n].untold)
				return true;
	}
	return false;
}

static void tell_everything(void)
{
	for (unsigned int i = 0; i < WORLD_SLOTS; i++) {
		world.slots[i].untold = false;
		for (unsigned int n = 0; n < WORLD_PORTS_MAX; n++)
			world.slots[i].ports[n].untold = false;
	}
}

/* If nothing has changed, Refresh() causes no signal. It is tried twice, because the kernel may
 * change an interface by itself. */
static void check_silence(Run *r)
{
	for (unsigned int attempt = 0; attempt < 2; attempt++) {
		size_t before = r->follower.n_signals;

		refresh(r);
		fixture_barrier(f);
		follow(&r->follower, 0);
		if (r->follower.n_signals == before)
			return;
	}
	diverges(r, "Refresh", "signals, though nothing has changed");
}

static void quiet(Run *r)
{
	char owner[64];

	r->n_quiet++;
	wait_stale(r);
	if (!wait_equal(r, open_slots(false), EQUAL_USEC, false))
		return;
	if (operation_end_faults(&world) &&
	    !wait_equal(r, open_slots(false), EQUAL_USEC + fixture_now_usec() - r->quiet_usec,
			false))
		return;
	follow_give_up(&r->follower);
	if (anything_untold()) {
		if (!wait_equal(r, open_slots(true), EQUAL_USEC, true))
			return;
		tell_everything();
	}
	fixture_barrier(f);
	follow(&r->follower, 0);
	follow_check(&r->follower);
	if (r->n_quiet % 8 == 0)
		check_silence(r);
	follow_give_up(&r->follower);
	read_owner(owner, sizeof(owner));
	if (!streq(owner, r->owner))
		diverges(r, "rdmad", "was started again");
	r->quiet_usec = fixture_now_usec();
}

/* After half of the changes waits until each has been signalled; the others are made in a row. */
static void wait_signal(Run *r)
{
	uint64_t begin = fixture_now_usec();
	bool waiting = true;

	while (waiting && fixture_now_usec() - begin < 100 * USEC_PER_MSEC) {
		waiting = false;
		for (unsigned int i = 0; i < WORLD_SLOTS && !waiting; i++)
			for (unsigned int n = 0;
			     slot_is_sound(&world.slots[i]) && n < slot_kinds[i].n_ports; n++)
				waiting |= follow_is_waiting(&r->follower, i, n + 1);
		if (waiting)
			follow(&r->follower, WAIT_USEC);
	}
}

/* Does the N operations in NUMBERS. Returns how many of them were done when something was found to
 * be wrong; 0 if nothing was. */
static size_t run_operations(Run *r, const uint32_t *numbers, size_t n)
{
	r->begin = r->quiet_usec = fixture_now_usec();
	read_owner(r->owner, sizeof(r->owner));
	follow_begin(&r->follower);
	for (size_t i = 0; i < n; i++) {
		bool quiet_now = false;
		char text[1500];

		operation_do(&world, arg_seed, numbers[i], text, sizeof(text));
		r->n_done++;
		fprintf(r->log, "  %6u %8.3f s  %s\n", numbers[i],
			(double)(fixture_now_usec() - r->begin) / 1e6, text);
		follow(&r->follower, 0);
		if (numbers[i] % 2)
			wait_signal(r);
		/* also if the operations between two quiet points were left out */
		for (uint32_t k = numbers[i]; i + 1 == n || k < numbers[i + 1]; k++)
			if (i + 1 == n || operation_is_quiet(arg_seed, k)) {
				quiet(r);
				quiet_now = true;
				break;
			}
		if (r->follower.n_divergences > 0)
			return i + 1;
		if (r->announce && r->n_done % 100 == 0)
			printf("%zu operations, %zu signals, %.0f s: no divergence\n", r->n_done,
			       r->follower.n_signals,
			       (double)(fixture_now_usec() - r->begin) / 1e6);
		if (quiet_now && !r->print)
			rewind(r->log);
	}
	return 0;
}

static size_t run(Run *r, const uint32_t *numbers, size_t n)
{
	size_t failed;

	r->log = open_memstream(&r->log_text, &r->log_size);
	assert_non_null(r->log);
	failed = run_operations(r, numbers, n);
	fclose(r->log);
	return failed;
}

/* The bus would start it too, but gives up after 25 s, which a busy machine may need. */
static void start(void)
{
	assert_int_equal(system("systemctl start rdmad"), 0);
	fixture_assert_property(f, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER, "Simulated", "no");
}

static void restart(void)
{
	if (system("systemctl stop rdmad") != 0)
		printf("rdmad cannot be stopped\n");
	(void)operation_end_faults(&world);
	world_reset(&world);
	start();
}

/* Whether the operations fail when all devices are made again before them. */
static bool fails_again(const uint32_t *numbers, size_t n, bool print)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	Run r = {.world = &world, .print = print};
	bool failed;

	restart();
	r.follower = (Follower){.f = f, .w = &world, .report = open_memstream(&text, &size)};
	assert_non_null(r.follower.report);
	failed = run(&r, numbers, n) > 0;
	fclose(r.follower.report);
	if (print)
		printf("%s%s\n", r.log_text, failed ? text : "  (this time nothing diverged)");
	free(r.log_text);
	objects_done(&r.follower.objects);
	free(r.follower.verbs.usec);
	free(r.follower.netdev.usec);
	free(r.follower.faulty.usec);
	return failed;
}

/* Delta debugging: leaves out smaller and smaller parts of NUMBERS as long as the rest still fails.
 */
static size_t reduce(uint32_t *numbers, size_t n, uint64_t deadline)
{
	size_t part = (n + 1) / 2;

	while (part > 0 && n > 1 && fixture_now_usec() < deadline) {
		bool shorter = false;

		for (size_t at = 0; at < n && fixture_now_usec() < deadline;) {
			uint32_t rest[1024];
			size_t left = MIN(part, n - at), k = n - left;

			memcpy(rest, numbers, at * sizeof(*rest));
			memcpy(rest + at, numbers + at + left, (n - at - left) * sizeof(*rest));
			if (k > 0 && fails_again(rest, k, false)) {
				memcpy(numbers, rest, k * sizeof(*rest));
				n = k;
				shorter = true;
			} else {
				at += part;
			}
		}
		if (!shorter || part > n)
			part = part > 1 ? (part + 1) / 2 : 0;
	}
	return n;
}

static void shrink(const uint32_t *numbers, size_t n)
{
	uint64_t deadline = fixture_now_usec() + arg_shrink_usec;
	uint32_t tail[1024];

	/* Mostly the last operations are the cause: try these first. */
	for (size_t length = 16; length <= ARRAY_SIZE(tail) && fixture_now_usec() < deadline;
	     length *= 4) {
		size_t k = MIN(length, n);

		memcpy(tail, numbers + n - k, k * sizeof(*tail));
		if (fails_again(tail, k, false)) {
			k = reduce(tail, k, deadline);
			printf("The same with %zu operations:\n", k);
			fails_again(tail, k, true);
			printf("Again: --seed %llu --only ", (unsigned long long)arg_seed);
			for (size_t i = 0; i < k; i++)
				printf("%s%u", i ? "," : "", tail[i]);
			printf("\n");
			return;
		}
		if (k == n)
			break;
	}
	printf("It does not happen again with the last operations alone.\n");
}

static int compare_usec(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void print_staleness(const char *what, Staleness *s)
{
	if (s->n == 0)
		return;
	qsort(s->usec, s->n, sizeof(*s->usec), compare_usec);
	printf("  %-44s n %5zu  p50 %6.1f  p90 %6.1f  p99 %6.1f  max %6.1f ms\n", what, s->n,
	       s->usec[s->n / 2] / 1e3, s->usec[s->n * 9 / 10] / 1e3,
	       s->usec[s->n * 99 / 100] / 1e3, s->usec[s->n - 1] / 1e3);
}

static int parse_arguments(int argc, char *argv[])
{
	static const struct option options[] = {{"seed", required_argument, NULL, 's'},
						{"operations", required_argument, NULL, 'n'},
						{"only", required_argument, NULL, 'o'},
						{"shrink", required_argument, NULL, 'h'},
						{}};
	uint64_t value = 0;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (c == '?' || (c != 'o' && text_to_u64(optarg, UINT32_MAX, &value) < 0))
			return -EINVAL;
		switch (c) {
		case 's':
			arg_seed = value;
			break;
		case 'n':
			arg_operations = (uint32_t)value;
			break;
		case 'h':
			arg_shrink_usec = value * USEC_PER_SEC;
			break;
		default:
			arg_only = optarg;
		}
	}
	return optind == argc && arg_operations > 0 ? 0 : -EINVAL;
}

/* Returns a new array with the numbers of the operations to do. */
static uint32_t *operation_numbers(size_t *ret_n)
{
	size_t n = arg_only ? strlen(arg_only) : arg_operations, k = 0;
	uint32_t *numbers = calloc(n, sizeof(*numbers));

	assert_non_null(numbers);
	for (char *text = CONST_CAST(char *, arg_only); text && *text; text += *text == ',')
		numbers[k++] = (uint32_t)strtoul(text, &text, 10);
	for (; !arg_only && k < n; k++)
		numbers[k] = (uint32_t)k;
	*ret_n = k;
	return numbers;
}

static void setup(void)
{
	int r;

	assert_int_equal(
		system("dmesg -n 4 && modprobe rdma_rxe && modprobe rdma_sim && modprobe dummy && "
		       "modprobe veth && modprobe macvlan"),
		0);
	assert_int_equal(system("printf '[Daemon]\\nReconcileIntervalSec=0\\nQueryTimeoutSec=2\\n' "
				"> /etc/rdmad.conf"),
			 0);
	r = kernel_open();
	if (r < 0)
		fail_msg("cannot set up: %s", strerror(-r));
	f = calloc(1, sizeof(Fixture));
	assert_non_null(f);
	text_copy(f->directory, sizeof(f->directory), "/tmp");
	text_copy(f->address, sizeof(f->address), "unix:path=/run/dbus/system_bus_socket");
	world_reset(&world);
	fixture_connect(f);
	start();
}

int main(int argc, char *argv[])
{
	Run r = {.world = &world, .announce = true};
	uint32_t *numbers;
	uint64_t begin;
	size_t n, failed;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (parse_arguments(argc, argv) < 0) {
		fprintf(stderr, "usage: coherence [--seed N] [--operations N] [--only N,N...] "
				"[--shrink SEC]\n");
		return 2;
	}
	numbers = operation_numbers(&n);
	setup();
	r.print = arg_only;
	r.follower = (Follower){.f = f, .w = &world, .report = stdout};
	begin = fixture_now_usec();
	failed = run(&r, numbers, n);
	if (failed > 0 || arg_only)
		printf("The last operations:\n%s", r.log_text);
	free(r.log_text);
	printf("seed %llu: %zu operations, %zu quiet points, %zu refreshes, %zu signals, "
	       "%d divergences, %.0f s\n",
	       (unsigned long long)arg_seed, r.n_done, r.n_quiet, r.n_refreshed,
	       r.follower.n_signals, r.follower.n_divergences,
	       (double)(fixture_now_usec() - begin) / 1e6);
	print_staleness("from a change with a verbs event to the signal", &r.follower.verbs);
	print_staleness("from a change of an interface to the signal", &r.follower.netdev);
	print_staleness("either, while some device hangs or is slow", &r.follower.faulty);
	if (failed > 0 && arg_shrink_usec > 0)
		shrink(numbers, failed);
	world_clear(&world);
	free(numbers);
	return failed > 0;
}
