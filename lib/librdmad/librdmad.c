/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader of the shared memory: rdmad.h says what each function does, memory-layout.h how. */

#include "rdmad.h"

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "librdmad-private.h"
#include "names.h"
#include "util.h"

/* Programs are built with it: its size is part of the ABI. */
_Static_assert(sizeof(struct rdmad_handle) == 16, "a handle has another size");

/* Opening */

/* Checks each number of a header that may be anybody's. The memory has SIZE bytes. */
static int check_header(const struct memory_header *h, uint64_t size)
{
	if (memcmp(h->magic, MEMORY_MAGIC, sizeof(h->magic)) != 0 ||
	    h->byte_order != MEMORY_BYTE_ORDER)
		return -EBADMSG;
	if (h->major != MEMORY_MAJOR)
		return -EPROTONOSUPPORT;
	if (h->header_size < sizeof(*h) || h->header_size % MEMORY_LINE != 0 ||
	    h->record_size < sizeof(struct rdmad_port) || h->record_size % MEMORY_LINE != 0 ||
	    h->record_size > MEMORY_RECORD_SIZE_MAX || h->capacity > MEMORY_CAPACITY_MAX ||
	    h->header_size > size || (uint64_t)h->capacity * h->record_size > size - h->header_size)
		return -EBADMSG;
	return 0;
}

/* Maps MEMORY into R. */
static int map(struct rdmad *r, int memory)
{
	struct memory_header copy;
	struct stat st;
	int seals = fcntl(memory, F_GET_SEALS), e;
	void *p;

	/* If somebody made the memory shorter later, a read would end in SIGBUS. */
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return -EPERM;
	if (fstat(memory, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size < sizeof(struct memory_header))
		return -EBADMSG;
	if ((uint64_t)st.st_size > SIZE_MAX)
		return -EFBIG;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, memory, 0);
	if (p == MAP_FAILED)
		return -errno;
	/* Somebody may write to the memory meanwhile: a copy is checked, and the copy is used. */
	memcpy(&copy, p, sizeof(copy));
	e = check_header(&copy, (uint64_t)st.st_size);
	if (e < 0) {
		munmap(p, (size_t)st.st_size);
		return e;
	}
	r->header = p;
	r->size = (size_t)st.st_size;
	r->records = (const char *)p + copy.header_size;
	r->record_size = copy.record_size;
	r->capacity = copy.capacity;
	return 0;
}

static void unmap(struct rdmad *r)
{
	if (r->header)
		munmap(CONST_CAST(void *, r->header), r->size);
	close_fd(r->memory);
	close_fd(r->changed);
}

EXPORT int rdmad_open_fd(int memory, int changed, struct rdmad **ret)
{
	struct rdmad *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return -ENOMEM;
	e = map(r, memory);
	if (e < 0) {
		free(r);
		return e;
	}
	r->memory = memory;
	r->changed = changed;
	*ret = r;
	return 0;
}

/* The error of rdmad_open() when the call of OpenSnapshot() failed with ERROR and R. */
static int open_error(const sd_bus_error *error, int r)
{
	if (sd_bus_error_has_name(error, RDMAD_ERROR_LIMITS_EXCEEDED))
		return -EUSERS;
	if (sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_METHOD))
		return -EOPNOTSUPP;
	return librdmad_bus_error(error, r);
}

/* Gets the two descriptors from the daemon. */
static int call_open_snapshot(const char *address, int *ret_memory, int *ret_changed)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_close_ int memory = -EBADF, changed = -EBADF;
	int r, theirs[2];

	r = librdmad_connect(address, &bus);
	if (r < 0)
		return r;
	r = sd_bus_call_method(bus, RDMAD_BUS_NAME, RDMAD_ROOT_PATH, RDMAD_INTERFACE_MANAGER,
			       "OpenSnapshot", &error, &reply, "a{sv}", 0);
	if (r < 0)
		return open_error(&error, r);
	/* these belong to the message */
	r = sd_bus_message_read(reply, "hh", &theirs[0], &theirs[1]);
	if (r < 0)
		return r;
	memory = fcntl(theirs[0], F_DUPFD_CLOEXEC, 3);
	if (memory < 0)
		return -errno;
	changed = fcntl(theirs[1], F_DUPFD_CLOEXEC, 3);
	if (changed < 0)
		return -errno;
	*ret_memory = steal_fd(&memory);
	*ret_changed = steal_fd(&changed);
	return 0;
}

EXPORT int rdmad_open(const char *address, struct rdmad **ret)
{
	_cleanup_close_ int memory = -EBADF, changed = -EBADF;
	_cleanup_free_ char *copy = NULL;
	struct rdmad *opened;
	int r;

	if (address) {
		copy = strdup(address);
		if (!copy)
			return -ENOMEM;
	}
	r = call_open_snapshot(address, &memory, &changed);
	if (r < 0)
		return r;
	r = rdmad_open_fd(memory, changed, &opened);
	if (r < 0)
		return r;
	memory = changed = -EBADF;
	opened->by_bus = true;
	opened->address = steal_pointer(&copy);
	*ret = opened;
	return 0;
}

EXPORT int rdmad_reopen(struct rdmad *r)
{
	struct rdmad *fresh, old = *r;
	int e;

	if (!r->by_bus)
		return -EOPNOTSUPP;
	e = rdmad_open(r->address, &fresh);
	if (e < 0)
		return e;
	*r = *fresh;
	*fresh = old;
	rdmad_close(fresh);
	return 0;
}

EXPORT void rdmad_close(struct rdmad *r)
{
	if (!r)
		return;
	unmap(r);
	free(r->address);
	free(r);
}

/* Reading */

/* The parts of a record that are read at once. */
typedef enum Part { PART_HOT, PART_VERBS, PART_ALL } Part;

static inline __attribute__((always_inline)) bool try_part(const char *at, Part part, void *ret,
							   memory_word *ret_lock,
							   uint64_t *ret_port)
{
	switch (part) {
	case PART_HOT:
		return memory_try_read(at, 0, ret, MEMORY_LINE, ret_lock, ret_port);
	case PART_VERBS:
		return memory_try_read(at, MEMORY_LINE, ret, MEMORY_LINE, ret_lock, ret_port);
	case PART_ALL:
		return memory_try_read(at, 0, ret, sizeof(struct rdmad_port), ret_lock, ret_port);
	}
	__builtin_unreachable();
}

/* The record in SLOT, which is below the capacity. */
static inline const char *record(const struct rdmad *r, uint32_t slot)
{
	return r->records + (size_t)slot * r->record_size;
}

static inline bool has_flag(memory_word lock, uint32_t flag)
{
	return lock & memory_lock(0, flag);
}

/* The rest of a read that did not succeed at once: the record is being written, or the read fails
 * and this finds out why. */
static __attribute__((noinline, cold)) int read_again(const struct rdmad *r,
						      struct rdmad_handle port, Part part,
						      void *ret)
{
	if (port.slot >= r->capacity)
		return -ENODEV;
	for (unsigned int i = 0; i < MEMORY_TRIES; i++) {
		memory_word lock;
		uint64_t is;

		if (!try_part(record(r, port.slot), part, ret, &lock, &is) ||
		    lock & memory_lock(1, 0)) {
			memory_relax();
			continue;
		}
		if (has_flag(lock, RDMAD_PORT_MOVED))
			return -ESTALE;
		if (has_flag(lock, RDMAD_PORT_CLOSED))
			return -ENOTCONN;
		if (!has_flag(lock, RDMAD_PORT_PRESENT) || is != port.port)
			return -ENODEV;
		if (part != PART_VERBS)
			return 0;
		return !has_flag(lock, RDMAD_PORT_KNOWN)  ? -ENODATA
		       : has_flag(lock, RDMAD_PORT_STALE) ? -EIO
							  : 0;
	}
	return -EAGAIN;
}

/* Reads PART into RET: good is a record whose sequence is even, and which has of these FLAGS all of
 * GOOD and no others. */
static inline __attribute__((always_inline)) int read_part(const struct rdmad *r,
							   struct rdmad_handle port, Part part,
							   void *ret, uint32_t flags, uint32_t good)
{
	memory_word lock;
	uint64_t is;

	if (__builtin_expect(port.slot < r->capacity &&
				     try_part(record(r, port.slot), part, ret, &lock, &is) &&
				     (lock & memory_lock(1, flags)) == memory_lock(0, good) &&
				     is == port.port,
			     1))
		return 0;
	return read_again(r, port, part, ret);
}

#define ENDED (RDMAD_PORT_MOVED | RDMAD_PORT_CLOSED)

EXPORT int rdmad_read_hot(const struct rdmad *r, struct rdmad_handle port, struct rdmad_hot *ret)
{
	return read_part(r, port, PART_HOT, ret, RDMAD_PORT_PRESENT | ENDED, RDMAD_PORT_PRESENT);
}

EXPORT int rdmad_read(const struct rdmad *r, struct rdmad_handle port, struct rdmad_port *ret)
{
	int e = read_part(r, port, PART_ALL, ret, RDMAD_PORT_PRESENT | ENDED, RDMAD_PORT_PRESENT);

	/* The names are terminated even if the memory is damaged: a caller reads no further. */
	ret->device_name[sizeof(ret->device_name) - 1] = '\0';
	ret->netdev[sizeof(ret->netdev) - 1] = '\0';
	return e;
}

/*
 * struct ibv_port_attr is part of the ABI of libibverbs, so it only grows at its end. Each field
 * that both have is in the same place there and in struct rdmad_verbs.
 */
_Static_assert(sizeof(struct rdmad_verbs) <= MEMORY_LINE, "the part for verbs is read as one line");
#define SAME(field)                                                                                \
	_Static_assert(offsetof(struct ibv_port_attr, field) ==                                    \
				       offsetof(struct rdmad_verbs, field) &&                      \
			       sizeof(((struct ibv_port_attr *)0)->field) ==                       \
				       sizeof(((struct rdmad_verbs *)0)->field),                   \
		       "struct ibv_port_attr has " #field " elsewhere");
#define VERBS(number, NAME, attribute, offset, type) SAME(attribute)
#ifndef RDMAD_HAVE_ACTIVE_SPEED_EX
#define VERBS_NEW(number, NAME, attribute, offset, type)
#endif
#define TWICE(number, NAME, attribute, offset, type, verbs_offset, verbs_type, convert)            \
	SAME(attribute)
#include "memory-fields.def"

/* Fills in *RET, of SIZE bytes: what VERBS has no field for becomes 0. */
static inline __attribute__((always_inline)) void fill_attr(struct ibv_port_attr *ret, size_t size,
							    const struct rdmad_verbs *verbs)
{
	size_t known = MIN(size, sizeof(*verbs));

	memcpy(ret, verbs, known);
	if (size > known)
		memset((char *)ret + known, 0, size - known);
}

EXPORT int rdmad_query_port_size(const struct rdmad *r, struct rdmad_handle port,
				 struct ibv_port_attr *ret, size_t size)
{
	const uint32_t good = RDMAD_PORT_PRESENT | RDMAD_PORT_KNOWN;
	union {
		struct rdmad_verbs verbs;
		char line[MEMORY_LINE];
	} u;
	int e = read_part(r, port, PART_VERBS, u.line, good | ENDED | RDMAD_PORT_STALE, good);

	if (e < 0)
		return e;
	/* Mostly the program was built with the same version of the structure as this library. A
	 * size that is a constant makes the copy a few instructions. */
	if (__builtin_expect(size == sizeof(*ret), 1))
		fill_attr(ret, sizeof(*ret), &u.verbs);
	else
		fill_attr(ret, size, &u.verbs);
	return 0;
}

/* Finding */

int librdmad_read_slot(const struct rdmad *r, uint32_t slot, struct rdmad_port *ret)
{
	struct rdmad_handle any = {.slot = slot};
	int e = rdmad_read(r, any, ret);

	if (e == -ENODEV)
		return (ret->hot.flags & RDMAD_PORT_PRESENT) != 0;
	return e < 0 ? e : 1;
}

uint32_t librdmad_count_slots(const struct rdmad *r)
{
	return MIN(__atomic_load_n(&r->header->n_slots, __ATOMIC_ACQUIRE), r->capacity);
}

struct rdmad_handle librdmad_handle_of(const struct rdmad_port *p, uint32_t slot)
{
	struct rdmad_handle h = {.slot = slot};

	memcpy(&h.port, &p->hot.device_index, sizeof(h.port));
	return h;
}

EXPORT int rdmad_next(const struct rdmad *r, struct rdmad_handle *handle)
{
	struct rdmad_port p;
	uint32_t n = librdmad_count_slots(r);

	for (uint32_t slot = handle->slot + 1; slot < n; slot++) {
		int e = librdmad_read_slot(r, slot, &p);

		if (e == -ESTALE || e == -ENOTCONN)
			return e;
		if (e > 0) {
			*handle = librdmad_handle_of(&p, slot);
			return 1;
		}
	}
	return 0;
}

/* Whether NAME is the name of P, of its device, or of its network interface. */
static bool is_meant(const struct rdmad_port *p, const char *name)
{
	const char *rest = startswith(name, p->device_name);
	char number[16];

	if (streq(name, p->netdev))
		return true;
	if (!rest || !p->device_name[0])
		return false;
	snprintf(number, sizeof(number), "%u", p->hot.port_num);
	return streq(rest, "") || ((*rest == '/' || *rest == ':') && streq(rest + 1, number));
}

EXPORT int rdmad_find(const struct rdmad *r, const char *name, struct rdmad_handle *ret)
{
	struct rdmad_port p;
	struct rdmad_handle found = {};
	unsigned int n_found = 0;
	uint32_t n = librdmad_count_slots(r);
	bool unreadable = false;

	if (!*name)
		return -ENOENT;
	for (uint32_t slot = 0; slot < n; slot++) {
		int e = librdmad_read_slot(r, slot, &p);

		if (e == -EAGAIN)
			unreadable = true;
		else if (e < 0)
			return e;
		else if (e > 0 && is_meant(&p, name)) {
			found = librdmad_handle_of(&p, slot);
			n_found++;
		}
	}
	if (n_found == 0)
		return unreadable ? -EAGAIN : -ENOENT;
	if (n_found > 1)
		return -EEXIST;
	*ret = found;
	return 0;
}

EXPORT uint32_t rdmad_ports_generation(const struct rdmad *r)
{
	return __atomic_load_n(&r->header->ports_generation, __ATOMIC_ACQUIRE);
}

/* Waiting */

EXPORT int rdmad_fd(const struct rdmad *r)
{
	return r->changed >= 0 ? r->changed : -EOPNOTSUPP;
}

EXPORT int rdmad_wait(struct rdmad *r, uint64_t timeout_usec)
{
	struct timespec t = {.tv_sec =
				     (time_t)MIN(timeout_usec / USEC_PER_SEC, (uint64_t)INT32_MAX),
			     .tv_nsec = (long)(timeout_usec % USEC_PER_SEC) * 1000};
	struct pollfd p = {.fd = r->changed, .events = POLLIN};
	char bytes[4096]; /* the daemon writes one for each change; the pipe holds so many */
	int n;

	if (r->changed < 0)
		return -EOPNOTSUPP;
	n = ppoll(&p, 1, timeout_usec == UINT64_MAX ? NULL : &t, NULL);
	if (n < 0)
		return -errno;
	if (p.revents & POLLIN && read(r->changed, bytes, sizeof(bytes)) < 0 && errno != EAGAIN)
		return -errno;
	if (__atomic_load_n(&r->header->state, __ATOMIC_ACQUIRE) == MEMORY_MOVED)
		return -ESTALE;
	if (p.revents & POLLIN)
		return 1;
	return n > 0 ? -ENOTCONN : 0;
}

EXPORT const char *rdmad_strerror(int error)
{
	static const struct {
		int error;
		const char *text;
	} texts[] = {
		{ECONNREFUSED, "there is no bus at that address, or it has closed the connection"},
		{EHOSTUNREACH, "no rdmad on the bus"},
		{EREMOTEIO, "the bus or rdmad has answered with an error that has no number here"},
		{EOPNOTSUPP, "this rdmad or this way of opening does not support it"},
		{EUSERS, "too many snapshots are open"},
		{EPROTONOSUPPORT, "the snapshot has a layout that this library does not know"},
		{EBADMSG, "the snapshot is damaged"},
		{EPERM, "the memory is no snapshot of rdmad, or access to it is denied"},
		{ENOENT, "no such port"},
		{EEXIST, "more than one port has that name"},
		{ENODEV, "the port has gone"},
		{EAGAIN, "the record is being written; try again"},
		{ESTALE, "rdmad has moved to a larger snapshot; reopen"},
		{ENOTCONN, "rdmad has ended; reopen when it is back"},
		{ENODATA, "the port has not been read yet, or the device cannot be opened"},
		{EIO, "the last query of the port failed"},
		{EINVAL, "an argument is not what the function takes"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (error == -texts[i].error)
			return texts[i].text;
	return error < 0 ? strerror(-error) : "no error";
}
