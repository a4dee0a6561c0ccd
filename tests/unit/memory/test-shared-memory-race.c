/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Readers of the shared memory while the daemon writes as fast as it can, and while the memory
 * grows: what they read is always one state of the port. It is built a second time with
 * ThreadSanitizer.
 *
 * Usage: test-shared-memory-race [READS]
 */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "memory-layout.h"
#include "rdmad.h"
#include "shared-memory.h"

#define READERS 2U
#define PORTS	600U /* for which the memory grows five times */

static uint64_t reads_wanted = 10000000;

typedef struct Reader {
	pthread_t thread;
	const struct rdmad *r;
	SharedMemory *memory;
	uint64_t wanted, done, busy, torn, moved;
	uint64_t last; /* the newest state that was seen */
	bool backwards;
} Reader;

static atomic_bool stop;

/* Records whose every word says which write it is from */

#define FIRST_WORD 2U /* behind sequence, flags and identity */
#define WORDS	   (sizeof(struct rdmad_port) / 8)

static void make_pattern(uint64_t n, struct rdmad_port *ret)
{
	uint64_t words[WORDS] = {};

	for (size_t i = FIRST_WORD; i < WORDS; i++)
		words[i] = n;
	memcpy(ret, words, sizeof(words));
	ret->hot.flags = RDMAD_PORT_PRESENT;
	ret->hot.port_num = 1;
}

/* Whether the words below END are all of one write. */
static bool is_pattern(const void *record, size_t end, uint64_t *ret)
{
	/* the ends of the two texts, which the library terminates */
	const size_t name = offsetof(struct rdmad_port, device_name) / 8 + 7;
	const size_t netdev = offsetof(struct rdmad_port, netdev) / 8 + 1;
	uint64_t words[WORDS];

	memcpy(words, record, end * 8);
	for (size_t i = FIRST_WORD; i < end; i++)
		if (words[i] != words[FIRST_WORD] && i != name && i != netdev)
			return false;
	*ret = words[FIRST_WORD];
	return true;
}

static void *write_patterns(void *userdata)
{
	struct rdmad_port *at = userdata, p;

	for (uint64_t n = 1; !atomic_load_explicit(&stop, memory_order_relaxed); n++) {
		make_pattern(n, &p);
		memory_write(at, &p);
	}
	return NULL;
}

static void *read_patterns(void *userdata)
{
	struct rdmad_handle handle = RDMAD_HANDLE_FIRST;
	Reader *reader = userdata;

	while (rdmad_next(reader->r, &handle) != 1)
		sched_yield();

	while (reader->done < reader->wanted) {
		struct rdmad_port p;
		bool hot = reader->done % 8; /* mostly: it is what programs poll */
		uint64_t n = 0;
		int e = hot ? rdmad_read_hot(reader->r, handle, &p.hot)
			    : rdmad_read(reader->r, handle, &p);

		if (e == -EAGAIN) {
			/* the writer was interrupted in a write, and needs this CPU to go on */
			reader->busy++;
			sched_yield();
			continue;
		}
		reader->done++;
		if (e != 0 || !is_pattern(&p, hot ? MEMORY_LINE / 8 : WORDS, &n))
			reader->torn++;
		reader->backwards |= n < reader->last;
		reader->last = n;
	}
	return NULL;
}

/* Finds where the library has mapped the file, and makes that writable. ThreadSanitizer compares
 * addresses, so both sides have to use the same ones. */
static char *writable_map(size_t size)
{
	FILE *file = fopen("/proc/self/maps", "re");
	unsigned long start = 0;
	char line[512];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (strstr(line, "/memfd:test-shared-memory-race") &&
		    sscanf(line, "%lx-%*x r--s", &start) == 1)
			break;
	fclose(file);
	assert_int_not_equal(start, 0);
	assert_int_equal(mprotect((char *)start, size, PROT_READ | PROT_WRITE), 0);
	return (char *)start;
}

static void test_write_flat_out(_unused_ void **state)
{
	struct memory_header h = memory_new_header(1);
	const size_t size = sizeof(h) + sizeof(struct rdmad_port);
	int fd = memfd_create("test-shared-memory-race", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	Reader readers[READERS] = {};
	struct rdmad_port first;
	struct rdmad *r = NULL;
	pthread_t writer;
	char *memory;

	h.n_slots = 1;
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_int_equal(rdmad_open_fd(fd, -1, &r), 0);
	memory = writable_map(size);
	make_pattern(0, &first);
	memory_write((struct rdmad_port *)(memory + sizeof(h)), &first);

	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&writer, NULL, write_patterns, memory + sizeof(h)), 0);
	for (size_t i = 0; i < READERS; i++) {
		readers[i].r = r;
		readers[i].wanted = reads_wanted / READERS;
		assert_int_equal(
			pthread_create(&readers[i].thread, NULL, read_patterns, &readers[i]), 0);
	}
	for (size_t i = 0; i < READERS; i++)
		pthread_join(readers[i].thread, NULL);
	atomic_store(&stop, true);
	pthread_join(writer, NULL);
	for (size_t i = 0; i < READERS; i++) {
		print_message("%ju reads, %ju busy, %ju torn, of %ju writes\n",
			      (uintmax_t)readers[i].done, (uintmax_t)readers[i].busy,
			      (uintmax_t)readers[i].torn, (uintmax_t)readers[i].last);
		assert_int_equal(readers[i].torn, 0);
		assert_false(readers[i].backwards);
	}
	rdmad_close(r);
}

/* The daemon's own writer, and a memory that grows while it is read */

/* The daemon has one thread, so only one of the threads here may call its functions at a time. */
static pthread_mutex_t daemon_lock = PTHREAD_MUTEX_INITIALIZER;

static struct rdmad *open_reader(SharedMemory *s)
{
	struct rdmad *r = NULL;
	int memory, changed;

	pthread_mutex_lock(&daemon_lock);
	assert_int_equal(shared_memory_open(s, 0, &memory, &changed), 0);
	pthread_mutex_unlock(&daemon_lock);
	assert_int_equal(rdmad_open_fd(memory, changed, &r), 0);
	return r;
}

static void put(SharedMemory *s, Port *p, uint32_t n)
{
	PortSnapshot values = {.parts = READ_ALL};
	PortChange change;

	PORT_SUPPLY(&values, state, 4);
	PORT_SUPPLY(&values, link_layer, 1);
	PORT_SUPPLY(&values, lid, n);
	PORT_SUPPLY(&values, max_msg_sz, n);
	PORT_SUPPLY(&values, qkey_viol_cntr, n);
	cache_apply_port(p, &values, 0, n, &change);
	port_change_done(&change);
	pthread_mutex_lock(&daemon_lock);
	shared_memory_put(s, p, true);
	pthread_mutex_unlock(&daemon_lock);
}

static void *read_while_growing(void *userdata)
{
	struct rdmad_handle handle = RDMAD_HANDLE_FIRST;
	Reader *reader = userdata;
	struct rdmad *r = open_reader(reader->memory);

	/* the first port: it is written all the time, and is in each larger memory too */
	while (rdmad_next(r, &handle) != 1) {
		rdmad_close(r);
		r = open_reader(reader->memory);
		handle = (struct rdmad_handle)RDMAD_HANDLE_FIRST;
	}

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		struct rdmad_port p;
		int e = rdmad_read(r, handle, &p);

		if (e == -ESTALE) {
			reader->moved++;
			rdmad_close(r);
			r = open_reader(reader->memory);
			continue;
		}
		if (e == -EAGAIN) {
			sched_yield();
			continue;
		}
		reader->done++;
		reader->torn += e < 0 || p.hot.lid != p.verbs.max_msg_sz ||
				p.hot.lid != p.verbs.qkey_viol_cntr ||
				p.hot.lid != p.hot.last_query;
		reader->backwards |= p.hot.lid < reader->last;
		reader->last = p.hot.lid;
	}
	rdmad_close(r);
	return NULL;
}

static void test_grow(_unused_ void **state)
{
	sd_event *event = NULL;
	SharedMemory *s = NULL;
	Cache cache = {};
	Reader readers[READERS] = {};
	DeviceChange device_change;
	uint32_t n = 1;

	assert_true(sd_event_new(&event) >= 0);
	assert_int_equal(shared_memory_new(event, 16, &s), 0);
	for (uint32_t i = 0; i < PORTS; i++) {
		DeviceSnapshot device = {};

		DEVICE_SUPPLY(&device, index, i);
		DEVICE_SUPPLY(&device, port_count, 1);
		DEVICE_SUPPLY(&device, node_type, 1);
		assert_true(cache_apply_device(&cache, &device, CHANGE_LIST, 0, &device_change) >=
			    0);
	}
	put(s, device_port(cache.devices[0], 1), n);

	atomic_store(&stop, false);
	for (size_t i = 0; i < READERS; i++) {
		readers[i].memory = s;
		assert_int_equal(
			pthread_create(&readers[i].thread, NULL, read_while_growing, &readers[i]),
			0);
	}
	for (uint32_t i = 1; i < PORTS; i++) {
		for (unsigned int k = 0; k < 20; k++)
			put(s, device_port(cache.devices[0], 1), ++n);
		put(s, device_port(cache.devices[i], 1), i);
	}
	atomic_store(&stop, true);
	for (size_t i = 0; i < READERS; i++) {
		pthread_join(readers[i].thread, NULL);
		print_message("%ju reads, %ju torn, moved %ju times\n", (uintmax_t)readers[i].done,
			      (uintmax_t)readers[i].torn, (uintmax_t)readers[i].moved);
		assert_int_equal(readers[i].torn, 0);
		assert_false(readers[i].backwards);
	}
	shared_memory_free(s);
	cache_done(&cache);
	sd_event_unref(event);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_flat_out),
		cmocka_unit_test(test_grow),
	};

	if (argc > 1 && text_to_u64(argv[1], UINT64_MAX, &reads_wanted) < 0)
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
