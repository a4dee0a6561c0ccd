/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* librdmad with a memory that is not in order: a file that is not rdmad's, a header that is wrong,
 * a daemon that died in a write. */

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "memory-layout.h"
#include "rdmad.h"
#include "util.h"

/* Makes a file of SIZE bytes that begins with H, and sets SEALS. */
static int make_file(const struct memory_header *h, size_t size, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_true(pwrite(fd, h, MIN(size, sizeof(*h)), 0) >= 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static struct memory_header good_header(void)
{
	struct memory_header h = {.byte_order = MEMORY_BYTE_ORDER,
				  .major = MEMORY_MAJOR,
				  .header_size = 256,
				  .record_size = 256,
				  .capacity = 15};

	memcpy(h.magic, MEMORY_MAGIC, sizeof(h.magic));
	return h;
}

static void assert_opens(struct memory_header h, size_t size, int seals, int expected)
{
	struct rdmad_handle handle = RDMAD_HANDLE_FIRST;
	int fd = make_file(&h, size, seals);
	struct rdmad *r;

	assert_int_equal(rdmad_open_fd(fd, -1, &r), expected);
	if (expected < 0) {
		/* the descriptor still belongs to the caller */
		assert_int_equal(close(fd), 0);
		return;
	}
	assert_int_equal(rdmad_next(r, &handle), 0);
	assert_int_equal(rdmad_fd(r), -EOPNOTSUPP);
	assert_int_equal(rdmad_wait(r, 0), -EOPNOTSUPP);
	rdmad_close(r);
}

/* The files of make_file() that are mapped. */
static size_t count_mapped(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	size_t n = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		n += strstr(line, "/memfd:test") != NULL;
	fclose(maps);
	return n;
}

static void test_other_files(_unused_ void **state)
{
	const struct memory_header good = good_header();
	struct memory_header h;
	struct rdmad *r;
	int zero;

	assert_opens(good, 4096, F_SEAL_SHRINK, 0);
	assert_opens(good, 4096, 0, -EPERM);
	assert_opens(good, 4095, F_SEAL_SHRINK, -EBADMSG);
	assert_opens(good, 100, F_SEAL_SHRINK, -EBADMSG);
	assert_opens(good, 0, F_SEAL_SHRINK, -EBADMSG);

#define BAD(field, value, expected)                                                                \
	do {                                                                                       \
		h = good;                                                                          \
		h.field = (value);                                                                 \
		assert_opens(h, 4096, F_SEAL_SHRINK, expected);                                    \
	} while (false)
	BAD(magic[0], 'X', -EBADMSG);
	BAD(byte_order, 0x04030201, -EBADMSG);
	BAD(major, MEMORY_MAJOR + 1, -EPROTONOSUPPORT);
	BAD(major, 0, -EPROTONOSUPPORT);
	BAD(header_size, 192, -EBADMSG);
	BAD(header_size, 257, -EBADMSG);
	BAD(header_size, 320, -EBADMSG); /* the records would end behind the file */
	BAD(header_size, UINT32_MAX - 63, -EBADMSG);
	BAD(record_size, 0, -EBADMSG);
	BAD(record_size, 192, -EBADMSG);
	BAD(record_size, 260, -EBADMSG);
	BAD(record_size, 320, -EBADMSG);
	BAD(record_size, UINT32_MAX - 63, -EBADMSG);
	BAD(capacity, 16, -EBADMSG);
	BAD(capacity, 1U << 24, -EBADMSG); /* times 256 is 0 in 32 bits */
	BAD(capacity, UINT32_MAX, -EBADMSG);
	/* what a later minor version may do */
	BAD(minor, 7, 0);
	BAD(n_slots, UINT32_MAX, 0);
#undef BAD
	/* 65536 times 65536 is 0 in 32 bits */
	h = good;
	h.record_size = h.capacity = 65536;
	assert_opens(h, 4096, F_SEAL_SHRINK, -EBADMSG);
	/* larger than a reader believes, in a file that is large enough (it has no pages) */
	h = good;
	h.capacity = MEMORY_CAPACITY_MAX + 1;
	assert_opens(h, 256 + 256 * (size_t)h.capacity, F_SEAL_SHRINK, -EBADMSG);
	h = good;
	h.record_size = MEMORY_RECORD_SIZE_MAX + MEMORY_LINE;
	assert_opens(h, 256 + 15 * (size_t)h.record_size, F_SEAL_SHRINK, -EBADMSG);
	/* the largest that it believes */
	h.record_size = MEMORY_RECORD_SIZE_MAX;
	assert_opens(h, 256 + 15 * (size_t)h.record_size, F_SEAL_SHRINK, 0);
	h = good;
	h.capacity = MEMORY_CAPACITY_MAX;
	assert_opens(h, 256 + 256 * (size_t)h.capacity, F_SEAL_SHRINK, 0);
	h = good;
	h.record_size = 512;
	h.capacity = 7;
	assert_opens(h, 4096, F_SEAL_SHRINK, 0);
	/* none of them is still mapped */
	assert_int_equal(count_mapped(), 0);

	zero = open("/dev/zero", O_RDONLY);
	assert_int_equal(rdmad_open_fd(zero, -1, &r), -EPERM);
	close(zero);
	assert_int_equal(rdmad_open_fd(-1, -1, &r), -EPERM);
}

/* The daemon dies in a write: the sequence stays odd. */
static void test_writer_killed(_unused_ void **state)
{
	struct memory_header h = good_header();
	struct rdmad_port *record, good = {.hot = {.flags = RDMAD_PORT_PRESENT, .port_num = 1}};
	struct rdmad_handle handle = {};
	struct rdmad_port port;
	struct rdmad *r;
	int fd, status, notice[2];
	char *p;
	pid_t pid;

	h.n_slots = 1;
	text_copy(good.device_name, sizeof(good.device_name), "mlx5_0");
	fd = make_file(&h, 4096, F_SEAL_SHRINK);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(p != MAP_FAILED);
	record = (struct rdmad_port *)(p + sizeof(h));
	memcpy(&handle.port, &good.hot.device_index, sizeof(handle.port));
	memory_write(record, &good);
	assert_int_equal(pipe2(notice, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(rdmad_open_fd(fd, notice[0], &r), 0);
	assert_int_equal(rdmad_read(r, handle, &port), 0);

	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		__atomic_fetch_add(&record->hot.sequence, 1, __ATOMIC_SEQ_CST);
		record->hot.lid = 42;
		raise(SIGKILL);
	}
	close(notice[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));

	assert_int_equal(rdmad_read(r, handle, &port), -EAGAIN);
	assert_int_equal(rdmad_read_hot(r, handle, &port.hot), -EAGAIN);
	assert_int_equal(rdmad_find(r, "mlx5_0/1", &handle), -EAGAIN);
	assert_int_equal(rdmad_wait(r, UINT64_MAX), -ENOTCONN);
	munmap(p, 4096);
	rdmad_close(r);
}

/* A memory of one page in which the test writes. */
typedef struct Page {
	struct rdmad *r;
	struct memory_header *header;
	struct rdmad_port *records;
} Page;

#define PAGE_RECORDS 15U /* so many fit behind the header */

static Page page_open(uint32_t capacity)
{
	struct memory_header h = good_header();
	Page page;
	void *p;
	int fd;

	h.capacity = capacity;
	h.n_slots = PAGE_RECORDS;
	fd = make_file(&h, 4096, F_SEAL_SHRINK);
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(p != MAP_FAILED);
	page.header = p;
	page.records = (struct rdmad_port *)(page.header + 1);
	assert_int_equal(rdmad_open_fd(fd, -1, &page.r), 0);
	return page;
}

static void page_close(Page *page)
{
	rdmad_close(page->r);
	munmap(page->header, 4096);
}

/* What looks like a record right behind the last one is none. */
static void test_behind_the_records(_unused_ void **state)
{
	const uint32_t capacity = PAGE_RECORDS - 1;
	const struct rdmad_port port = {.hot = {.flags = RDMAD_PORT_PRESENT | RDMAD_PORT_KNOWN,
						.device_index = 9,
						.port_num = 1},
					.device_name = "mlx5_0"};
	Page page = page_open(capacity);
	struct rdmad_handle h = {.slot = capacity}, next = RDMAD_HANDLE_FIRST;
	struct ibv_port_attr attr;
	struct rdmad_port ret;

	memcpy(&h.port, &port.hot.device_index, sizeof(h.port));
	memory_write(&page.records[capacity], &port);
	assert_int_equal(rdmad_read(page.r, h, &ret), -ENODEV);
	assert_int_equal(rdmad_read_hot(page.r, h, &ret.hot), -ENODEV);
	assert_int_equal(rdmad_query_port(page.r, h, &attr), -ENODEV);
	assert_int_equal(rdmad_find(page.r, "mlx5_0", &h), -ENOENT);
	assert_int_equal(rdmad_next(page.r, &next), 0);

	/* and the last one is */
	h.slot = capacity - 1;
	memory_write(&page.records[capacity - 1], &port);
	assert_int_equal(rdmad_read(page.r, h, &ret), 0);
	assert_int_equal(rdmad_read_hot(page.r, h, &ret.hot), 0);
	assert_int_equal(rdmad_query_port(page.r, h, &attr), 0);
	assert_int_equal(rdmad_find(page.r, "mlx5_0", &h), 0);
	assert_int_equal(h.slot, capacity - 1);
	assert_int_equal(rdmad_next(page.r, &next), 1);
	assert_int_equal(rdmad_next(page.r, &next), 0);
	page_close(&page);
}

/* Names without an end: the reader gets them with one, and everything before it. */
static void test_names_without_end(_unused_ void **state)
{
	struct rdmad_port port = {.hot = {.flags = RDMAD_PORT_PRESENT, .port_num = 1}}, ret;
	Page page = page_open(PAGE_RECORDS);
	struct rdmad_handle h = {};
	char name[sizeof(port.device_name)], netdev[sizeof(port.netdev)];

	memset(port.device_name, 'd', sizeof(port.device_name));
	memset(port.netdev, 'n', sizeof(port.netdev));
	memcpy(&h.port, &port.hot.device_index, sizeof(h.port));
	memory_write(&page.records[0], &port);
	/* all that follows the record, too */
	memset(&page.records[1], 'x', sizeof(page.records[1]));
	memset(&ret, 'r', sizeof(ret));
	assert_int_equal(rdmad_read(page.r, h, &ret), 0);
	assert_int_equal(strnlen(ret.device_name, sizeof(ret.device_name)),
			 sizeof(ret.device_name) - 1);
	assert_int_equal(strnlen(ret.netdev, sizeof(ret.netdev)), sizeof(ret.netdev) - 1);

	text_copy(name, sizeof(name), ret.device_name);
	text_copy(netdev, sizeof(netdev), ret.netdev);
	page.header->n_slots = 1;
	h.slot = UINT32_MAX;
	assert_int_equal(rdmad_find(page.r, netdev, &h), 0);
	assert_int_equal(h.slot, 0);
	assert_int_equal(rdmad_find(page.r, name, &h), 0);

	/* after a failure, too: a caller may print what it has got */
	port.hot.flags = 0;
	memory_write(&page.records[0], &port);
	memset(&ret, 'r', sizeof(ret));
	assert_int_equal(rdmad_read(page.r, h, &ret), -ENODEV);
	assert_int_equal(ret.device_name[sizeof(ret.device_name) - 1], '\0');
	assert_int_equal(ret.netdev[sizeof(ret.netdev) - 1], '\0');
	page_close(&page);
}

static void test_messages(_unused_ void **state)
{
	assert_string_equal(rdmad_strerror(-EBADMSG), "the snapshot is damaged");
	assert_string_equal(rdmad_strerror(-ENOSPC), strerror(ENOSPC));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_files),	   cmocka_unit_test(test_writer_killed),
		cmocka_unit_test(test_behind_the_records), cmocka_unit_test(test_names_without_end),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
