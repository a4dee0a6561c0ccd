/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long librdmad takes to copy the record of a port out of the shared memory, compared with a
 * call of memcpy() for as many bytes, in CPU time of the thread: while nobody writes, and while
 * this same record is written 1,000 and 100,000 times a second. And whether what was read is ever
 * torn, which means parts of two writes.
 */

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "bench.h"
#include "memory-layout.h"
#include "rdmad.h"

#define BATCH	     10000U /* reads in one sample */
#define TORN_READS   UINT64_C(100000000)
#define NSEC_PER_SEC 1000000000L

static struct rdmad_handle port = RDMAD_HANDLE_FIRST; /* the only one */

typedef struct Copy {
	const struct rdmad *r;
	const struct rdmad_port *quiet; /* for memcpy() */
	size_t size;
} Copy;

static uint64_t thread_nsec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * (uint64_t)NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

/* Makes the compiler believe that somebody looks at what P points to. */
static inline void use(const void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

static uint64_t sample_memcpy(void *userdata)
{
	Copy *c = userdata;
	/* without this, the number of stores that reach into two cache lines would be chance */
	struct rdmad_port into __attribute__((aligned(MEMORY_LINE)));
	uint64_t start = thread_nsec();

	/* the compiler must not know the size: it would put a copy of its own here */
	for (unsigned int i = 0; i < BATCH; i++) {
		use(&c->size);
		memcpy(&into, c->quiet, c->size);
		use(&into);
	}
	return thread_nsec() - start;
}

static uint64_t sample_hot(void *userdata)
{
	Copy *c = userdata;
	/* without this, the number of stores that reach into two cache lines would be chance */
	struct rdmad_port into __attribute__((aligned(MEMORY_LINE)));
	uint64_t start = thread_nsec();

	for (unsigned int i = 0; i < BATCH; i++) {
		(void)rdmad_read_hot(c->r, port, &into.hot);
		use(&into);
	}
	return thread_nsec() - start;
}

static uint64_t sample_record(void *userdata)
{
	Copy *c = userdata;
	/* without this, the number of stores that reach into two cache lines would be chance */
	struct rdmad_port into __attribute__((aligned(MEMORY_LINE)));
	uint64_t start = thread_nsec();

	for (unsigned int i = 0; i < BATCH; i++) {
		(void)rdmad_read(c->r, port, &into);
		use(&into);
	}
	return thread_nsec() - start;
}

/* The memory */

static struct rdmad *make_memory(struct rdmad_port **ret_record)
{
	struct memory_header h = memory_new_header(1);
	const size_t size = sizeof(h) + sizeof(struct rdmad_port);
	int fd = memfd_create("bench", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct rdmad *r = NULL;
	char *memory;

	h.n_slots = 1;
	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		bench_die("memfd: %s", strerror(errno));
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
		bench_die("memfd: %s", strerror(errno));
	memcpy(memory, &h, sizeof(h));
	if (rdmad_open_fd(fd, -1, &r) < 0)
		bench_die("cannot open the memory");
	*ret_record = (struct rdmad_port *)(memory + sizeof(h));
	return r;
}

/* Writes a record in which each field is N. */
static void write_number(struct rdmad_port *at, uint32_t n)
{
	struct rdmad_port p = {.hot = {.flags = RDMAD_PORT_PRESENT, .port_num = 1}};

	p.hot.valid = p.hot.generation = p.hot.last_query = n;
	p.hot.lid = p.hot.sm_lid = p.hot.link_speed = n;
	p.verbs.max_msg_sz = p.verbs.port_cap_flags = p.ifindex = n;
	p.rate = p.port_guid = p.fit_since = n;
	memory_write(at, &p);
}

static bool is_torn(const struct rdmad_port *p)
{
	uint32_t n = p->hot.lid;

	return p->hot.valid != n || p->hot.generation != n || p->hot.last_query != n ||
	       p->hot.sm_lid != n || p->hot.link_speed != n || p->verbs.max_msg_sz != n ||
	       p->verbs.port_cap_flags != n || p->ifindex != n || p->rate != n ||
	       p->port_guid != n || p->fit_since != n;
}

/* The writer */

/* Writes every INTERVAL nanoseconds (0: all the time). For intervals of a millisecond and more a
 * sleep is exact enough. For shorter ones this looks at the clock all the time. */
static void write_for_ever(struct rdmad_port *at, long interval)
{
	struct timespec next, now;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (uint32_t n = 1;; n++) {
		write_number(at, n);
		if (interval == 0)
			continue;
		next.tv_nsec += interval;
		if (next.tv_nsec >= NSEC_PER_SEC) {
			next.tv_nsec -= NSEC_PER_SEC;
			next.tv_sec++;
		}
		if (interval >= NSEC_PER_SEC / 1000)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		else
			do
				clock_gettime(CLOCK_MONOTONIC, &now);
			while (now.tv_sec < next.tv_sec ||
			       (now.tv_sec == next.tv_sec && now.tv_nsec < next.tv_nsec));
	}
}

static pid_t start_writer(struct rdmad_port *at, long interval)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		bench_die("fork: %s", strerror(errno));
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	bench_pin_elsewhere();
	write_for_ever(at, interval);
	_exit(0);
}

static void stop_writer(pid_t pid, struct rdmad_port *at)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* it may have been killed in a write */
	if (at->hot.sequence & 1)
		at->hot.sequence++;
	write_number(at, 0);
}

/* Reports */

static void report(const char *figure, const Subject *subject, const Subject *floor)
{
	bench_report(&(Figure){.figure = figure,
			       .value = subject->p50 * 1000 / BATCH,
			       .unit = "ns",
			       .floor_name = "memcpy()",
			       .floor = floor->p50 * 1000 / BATCH,
			       .goal = 1.25,
			       .then = 1.1,
			       .without_bus = true,
			       .foreign = MAX(subject->foreign, floor->foreign)});
}

static void measure(const struct rdmad *r, const struct rdmad_port *quiet, const char *hot,
		    const char *record)
{
	static Copy copies[4];
	Subject subjects[] = {
		{.sample = sample_memcpy, .userdata = &copies[0]},
		{.sample = sample_hot, .userdata = &copies[1]},
		{.sample = sample_memcpy, .userdata = &copies[2]},
		{.sample = sample_record, .userdata = &copies[3]},
	};

	for (size_t i = 0; i < ARRAY_SIZE(copies); i++)
		copies[i] = (Copy){.r = r,
				   .quiet = quiet,
				   .size = i < 2 ? sizeof(struct rdmad_hot)
						 : sizeof(struct rdmad_port)};
	bench_measure(subjects, ARRAY_SIZE(subjects));
	report(hot, &subjects[1], &subjects[0]);
	report(record, &subjects[3], &subjects[2]);
}

/* Counts torn reads while the record is written as fast as possible. */
static void measure_torn(const struct rdmad *r)
{
	uint64_t reads = bench.quick ? 100000 : TORN_READS, torn = 0;
	struct rdmad_port p;

	for (uint64_t i = 0; i < reads;) {
		int e = rdmad_read(r, port, &p);

		if (e == -EAGAIN) {
			/* with one CPU for both, the writer needs it to finish its write */
			sched_yield();
			continue;
		}
		if (e < 0)
			bench_die("%s", rdmad_strerror(e));
		torn += is_torn(&p);
		i++;
	}
	bench_report(&(Figure){.figure = "snapshot-torn",
			       .value = (double)torn,
			       .unit = bench.quick ? "in 10^5 reads" : "in 10^8 reads",
			       .goal_zero = true,
			       .without_bus = true});
}

int main(int argc, char *argv[])
{
	struct rdmad_port *record, quiet = {};
	struct rdmad *r;
	pid_t writer;

	bench_init(argc, argv);
	r = make_memory(&record);
	write_number(record, 0);
	if (rdmad_next(r, &port) != 1)
		bench_die("no port");
	measure(r, &quiet, "snapshot-copy-64", "snapshot-copy-256");
	writer = start_writer(record, NSEC_PER_SEC / 1000);
	measure(r, &quiet, "snapshot-copy-64-1khz", "snapshot-copy-256-1khz");
	stop_writer(writer, record);
	writer = start_writer(record, NSEC_PER_SEC / 100000);
	measure(r, &quiet, "snapshot-copy-64-100khz", "snapshot-copy-256-100khz");
	stop_writer(writer, record);
	writer = start_writer(record, 0);
	measure_torn(r);
	stop_writer(writer, record);
	rdmad_close(r);
	return 0;
}
