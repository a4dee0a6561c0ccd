/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared-memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "compat.h"
#include "log.h"
#include "memory-layout.h"
#include "memory-listeners.h"

/* With the header this is 64 KiB. The kernel allocates only the pages that were written. */
#define CAPACITY_FIRST 255U

/* One memfd, mapped for reading and writing. */
typedef struct MemoryFile {
	int fd;
	size_t size;		      /* of the file, in bytes */
	struct memory_header *header; /* the beginning of the file */
	struct rdmad_port *records;   /* header->capacity of them */
} MemoryFile;

struct SharedMemory {
	MemoryFile file;      /* the current one; grow() replaces it */
	Listeners *listeners; /* who reads it and wants to hear of changes */
	uint32_t first_free;  /* every slot before this one is taken */
	bool full;	      /* the last attempt to grow failed, and the log says so */
};

/* The attributes that a record has a number for, and where they are in it. */
static const struct {
	PortAttr attr;
	enum rdmad_field field;
	uint16_t offset, size;
} fields[] = {
#define FIELD(number, NAME, attribute, member, offset, type)                                       \
	{PORT_ATTR_##attribute, RDMAD_FIELD_##NAME, offset, sizeof(type)},
#include "memory-fields.def"
};

/* Stores VALUE as a number of SIZE bytes. Returns false, and stores nothing, if that is too few. */
static bool store(void *at, uint64_t value, size_t size)
{
	if (size < 8 && value >> (8 * size))
		return false;
	switch (size) {
	case 1:
		*(uint8_t *)at = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)at = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)at = (uint32_t)value;
		break;
	default:
		*(uint64_t *)at = value;
		break;
	}
	return true;
}

/* The interface of an Ethernet port. Of another port the first one of its interfaces. */
static const char *first_netdev(const PortSnapshot *s)
{
	bool known = mask_has(&s->valid, PORT_ATTR_netdevs);
	const Table *netdevs = known ? s->tables[PORT_TABLE_NETDEVS] : NULL;

	if (mask_has(&s->valid, PORT_ATTR_netdev))
		return TEXT_OF(&s->values, netdev);
	TABLE_FOREACH(NetdevEntry, first, netdevs)
		return first->name;
	return "";
}

/* How a number of the hot part H gets into the part for verbs: as it is, ... */
static uint32_t verbs_number(_unused_ const struct rdmad_hot *h, uint32_t number)
{
	return number;
}

/* ... or a LID with 16 bits. One of Omni-Path that needs more becomes 0, as in ib_uverbs. */
static uint16_t verbs_lid(const struct rdmad_hot *h, uint32_t lid)
{
	const uint32_t first_multicast = 0xc000;

	return h->protocol == PROTOCOL_OPA && lid >= first_multicast ? 0 : (uint16_t)lid;
}

/* Fills in the fields of V that the hot part has too. */
static void repeat_hot(struct rdmad_verbs *v, const struct rdmad_hot *h)
{
#define TWICE(number, NAME, attribute, offset, type, verbs_offset, verbs_type, convert)            \
	v->attribute = verbs_##convert(h, h->attribute);
#include "memory-fields.def"
}

/* Fills in the fields that always have a value. */
static void put_always(struct rdmad_port *r, const PortValues *v)
{
#define ALWAYS(attribute, member, offset, type) r->member = v->attribute;
#include "memory-fields.def"
}

static void make_record(const Port *p, struct rdmad_port *ret)
{
	const PortSnapshot *s = &p->now;
	const PortValues *v = &s->values;
	struct rdmad_port r = {.hot.flags = RDMAD_PORT_PRESENT | (v->stale ? RDMAD_PORT_STALE : 0),
			       .rest_generation = p->rest_generation};

	put_always(&r, v);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		PortAttr a = fields[i].attr;

		if (mask_has(&s->supplied, a) &&
		    store((char *)&r + fields[i].offset, attr_get_raw(&port_attributes[a], v),
			  fields[i].size) &&
		    mask_has(&s->valid, a))
			r.hot.valid |= UINT64_C(1) << fields[i].field;
	}
	/* Verbs alone has the largest MTU, and has it for every port: without it, verbs has not
	 * answered. */
	if (mask_has(&s->supplied, PORT_ATTR_max_mtu))
		r.hot.flags |= RDMAD_PORT_KNOWN;
	repeat_hot(&r.verbs, &r.hot);
	text_copy(r.device_name, sizeof(r.device_name), TEXT_OF(v, device_name));
	text_copy(r.netdev, sizeof(r.netdev), first_netdev(s));
	if (r.netdev[0])
		r.hot.valid |= UINT64_C(1) << RDMAD_FIELD_NETDEV;
	*ret = r;
}

/* The file */

static void memory_file_done(MemoryFile *f)
{
	if (f->header)
		munmap(f->header, f->size);
	close_fd(f->fd);
	*f = (MemoryFile){.fd = -EBADF};
}

static int create_file(size_t size)
{
	_cleanup_close_ int fd =
		memfd_create("rdmad-snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("rdmad-snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)size) < 0)
		return -errno;
	return steal_fd(&fd);
}

static int memory_file_new(uint32_t capacity, MemoryFile *ret)
{
	MemoryFile f = {.fd = -EBADF,
			.size = sizeof(struct memory_header) +
				(size_t)capacity * sizeof(struct rdmad_port)};
	void *p;
	int r;

	f.fd = create_file(f.size);
	if (f.fd < 0)
		return f.fd;
	p = mmap(NULL, f.size, PROT_READ | PROT_WRITE, MAP_SHARED, f.fd, 0);
	if (p == MAP_FAILED)
		goto fail;
	f.header = p;
	f.records = (struct rdmad_port *)(f.header + 1);
	*f.header = memory_new_header(capacity);
	/* F_SEAL_FUTURE_WRITE (Linux 5.1) leaves this mapping writable and allows no other write.
	 * The mode is for what the seal does not forbid: to open the file for writing. */
	if (fchmod(f.fd, 0444) < 0 ||
	    fcntl(f.fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) < 0)
		goto fail;
	*ret = f;
	return 0;
fail:
	r = -errno;
	memory_file_done(&f);
	return r;
}

/* The file will not change any more. STATE in the header says why, and so does FLAG in each record:
 * who reads a port looks at the record only. */
static void memory_file_end(MemoryFile *f, enum memory_state state, uint32_t flag)
{
	for (uint32_t i = 0; i < f->header->n_slots; i++) {
		struct rdmad_port r = f->records[i];

		r.hot.flags |= flag;
		memory_write(&f->records[i], &r);
	}
	__atomic_store_n(&f->header->state, state, __ATOMIC_RELEASE);
}

/* Replaces the file by one that is twice as large. Each port keeps its slot. */
static int grow(SharedMemory *s)
{
	struct memory_header *h = s->file.header;
	MemoryFile larger;
	int r;

	if (h->capacity > MEMORY_CAPACITY_MAX / 2)
		return -ENOSPC;
	/* The header is as large as a record: the size of the file doubles exactly. */
	r = memory_file_new(2 * h->capacity + 1, &larger);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < h->n_slots; i++)
		memory_write(&larger.records[i], &s->file.records[i]);
	larger.header->n_slots = h->n_slots;
	larger.header->ports_generation = h->ports_generation;
	memory_file_end(&s->file, MEMORY_MOVED, RDMAD_PORT_MOVED);
	listeners_end(s->listeners);
	memory_file_done(&s->file);
	s->file = larger;
	return 0;
}

/* Says that a port came or went, or that a name is another one. */
static void raise_ports_generation(SharedMemory *s)
{
	uint32_t *n = &s->file.header->ports_generation;

	__atomic_store_n(n, *n + 1, __ATOMIC_RELEASE);
}

/* Gives a free slot to P, and grows if there is none. */
static int take_slot(SharedMemory *s, Port *p)
{
	struct memory_header *h;
	uint32_t slot = s->first_free;
	int r;

	while (slot < s->file.header->n_slots &&
	       s->file.records[slot].hot.flags & RDMAD_PORT_PRESENT)
		slot++;
	if (slot == s->file.header->capacity) {
		r = grow(s);
		if (r < 0)
			return r;
	}
	h = s->file.header;
	s->first_free = slot + 1;
	p->memory_slot = slot + 1;
	if (slot == h->n_slots)
		__atomic_store_n(&h->n_slots, slot + 1, __ATOMIC_RELEASE);
	return 0;
}

/* The rows that a record has a field for. */
static inline AttrMask rows_in_record(void)
{
	AttrMask rows = {};

#define FIELD(number, NAME, attribute, member, offset, type)                                       \
	mask_set(&rows, PORT_ATTR_##attribute, true);
#define ALWAYS(attribute, member, offset, type) mask_set(&rows, PORT_ATTR_##attribute, true);
#include "memory-fields.def"
	return rows;
}

void shared_memory_count(const PortChange *c)
{
	const AttrMask rest = mask_without(c->changed, rows_in_record());

	c->port->rest_generation += !mask_is_empty(&rest);
}

void shared_memory_put(SharedMemory *s, Port *p, bool changed)
{
	struct rdmad_port r, *at;
	int e;

	if (!p->memory_slot) {
		e = take_slot(s, p);
		if (e < 0) {
			if (!s->full)
				log_error_errno(e, "The shared memory cannot grow, ports are "
						   "missing there: %m");
			s->full = true;
			return;
		}
		s->full = false;
	}
	at = &s->file.records[p->memory_slot - 1];
	make_record(p, &r);
	if (!(at->hot.flags & RDMAD_PORT_PRESENT) || !streq(at->device_name, r.device_name) ||
	    !streq(at->netdev, r.netdev)) {
		changed = true;
		memory_write(at, &r);
		raise_ports_generation(s);
	} else {
		memory_write(at, &r);
	}
	if (changed)
		listeners_send(s->listeners);
}

void shared_memory_remove(SharedMemory *s, Port *p)
{
	const struct rdmad_port gone = {};
	uint32_t slot = p->memory_slot - 1;

	if (!p->memory_slot)
		return;
	p->memory_slot = 0;
	memory_write(&s->file.records[slot], &gone);
	s->first_free = MIN(s->first_free, slot);
	raise_ports_generation(s);
	listeners_send(s->listeners);
}

/* Readers */

int shared_memory_open(SharedMemory *s, uid_t uid, int *ret_memory, int *ret_changed)
{
	_cleanup_close_ int memory = -EBADF;
	char path[32];
	int r;

	/* The reader gets an open file of its own: readers share no position, flags or locks. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", s->file.fd);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	if (memory < 0)
		return -errno;
	r = listeners_add(s->listeners, uid, ret_changed);
	if (r < 0)
		return r;
	*ret_memory = steal_fd(&memory);
	return 0;
}

int shared_memory_new(sd_event *event, uint32_t capacity, SharedMemory **ret)
{
	_cleanup_(shared_memory_free_pointer) SharedMemory *s = calloc(1, sizeof(SharedMemory));
	int r;

	if (!s)
		return -ENOMEM;
	s->file.fd = -EBADF;
	r = memory_file_new(capacity ? capacity : CAPACITY_FIRST, &s->file);
	if (r < 0)
		return r;
	r = listeners_new(event, &s->listeners);
	if (r < 0)
		return r;
	*ret = steal_pointer(&s);
	return 0;
}

SharedMemory *shared_memory_free(SharedMemory *s)
{
	if (!s)
		return NULL;
	if (s->file.header)
		memory_file_end(&s->file, MEMORY_CLOSED, RDMAD_PORT_CLOSED);
	listeners_free(s->listeners);
	memory_file_done(&s->file);
	free(s);
	return NULL;
}
