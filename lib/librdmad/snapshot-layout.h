/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The shared memory between rdmad and librdmad, and how a record gets from one to the other.
 *
 * One file: a header, then CAPACITY records of RECORD_SIZE bytes, one a port, each beginning a
 * cache line. Everything is in the byte order of the machine. What only grows by fields in reserved
 * room, or by longer records, is a new minor version, which old readers read; anything else a new
 * major one. librdmad(3) says the same to the authors of other readers.
 *
 * Each record has its own sequence lock, so that a port that changes all the time disturbs the
 * readers of no other. The lock is one word: a sequence, odd while the record is being written, and
 * the record's flags. There is one writer, which never waits:
 *
 *	writer				reader
 *	W1 sequence = odd, relaxed	R1 s = sequence, acquire; again if odd
 *	   release fence		R2 copy the data
 *	W2 write the data		   acquire fence
 *	W3 sequence = even, release	R3 again if sequence, relaxed, is not s
 *
 * Why a completed read is never torn. R1 reads the value of some W3 and synchronizes with it, so
 * the copy has that write's data or later. If any part of the copy comes from a later W2, then
 * that release fence (before W2) synchronizes with the acquire fence (after R2), so R3 sees that
 * write's W1 or something later: not s. The sequence has 32 bits: a reader would have to be stopped
 * in its copy for exactly 2^31 writes to be fooled. The argument is the C11 memory model's for data
 * accessed as relaxed atomics, and needs no particular processor; tests/model/seqlock.pml checks
 * the same steps over all interleavings.
 *
 * In an ordinary build the data are copied as vectors and not as atomic words, which costs up to
 * twice a memcpy() of 256 bytes. That this does the same is more than C promises, but follows from
 * what compilers and processors do: the fences keep the compiler from moving the copy over either
 * access of the lock, nothing looks at the copy before R3 has approved of it, and a processor
 * orders a vector access against these fences like any other. It may split one, which words are
 * anyhow. Under ThreadSanitizer they are relaxed atomics, word by word.
 */

#include <stdbool.h>

#include "rdmad.h"

#define SNAPSHOT_MAGIC	    "RDMADSNP"
#define SNAPSHOT_BYTE_ORDER UINT32_C(0x01020304)
#define SNAPSHOT_MAJOR	    1
#define SNAPSHOT_MINOR	    0

enum snapshot_state {
	SNAPSHOT_LIVE,
	SNAPSHOT_MOVED,	 /* there is a larger one */
	SNAPSHOT_CLOSED, /* the daemon has ended */
};

/* The first cache line never changes. Of the second each field is read and written atomically. */
struct snapshot_header {
	char magic[8];
	uint32_t byte_order;
	uint16_t major, minor;
	uint32_t header_size; /* where record 0 is */
	uint32_t record_size;
	uint32_t capacity;
	uint8_t reserved_1[36];
	uint32_t state;		   /* enum snapshot_state */
	uint32_t n_slots;	   /* records from this on have never had a port */
	uint32_t ports_generation; /* see rdmad_ports_generation() */
	uint8_t reserved_2[180];
};

/* Limits to what a reader believes of a header; rdmad stays far below. */
#define SNAPSHOT_RECORD_SIZE_MAX 65536U
#define SNAPSHOT_CAPACITY_MAX	 (1U << 20)

#define SNAPSHOT_LINE 64

#define SNAPSHOT_AT(type, field, offset)                                                           \
	_Static_assert(offsetof(struct type, field) == (offset), #type "." #field " has moved")
SNAPSHOT_AT(snapshot_header, magic, 0);
SNAPSHOT_AT(snapshot_header, byte_order, 8);
SNAPSHOT_AT(snapshot_header, major, 12);
SNAPSHOT_AT(snapshot_header, minor, 14);
SNAPSHOT_AT(snapshot_header, header_size, 16);
SNAPSHOT_AT(snapshot_header, record_size, 20);
SNAPSHOT_AT(snapshot_header, capacity, 24);
SNAPSHOT_AT(snapshot_header, state, 64);
SNAPSHOT_AT(snapshot_header, n_slots, 68);
SNAPSHOT_AT(snapshot_header, ports_generation, 72);
_Static_assert(sizeof(struct snapshot_header) == 256, "the header has another size");

SNAPSHOT_AT(rdmad_hot, sequence, 0);
SNAPSHOT_AT(rdmad_hot, flags, 4);
SNAPSHOT_AT(rdmad_hot, device_index, 8);
SNAPSHOT_AT(rdmad_hot, port_num, 12);
SNAPSHOT_AT(rdmad_hot, valid, 16);
SNAPSHOT_AT(rdmad_hot, generation, 24);
SNAPSHOT_AT(rdmad_hot, last_query, 32);
SNAPSHOT_AT(rdmad_hot, lid, 40);
SNAPSHOT_AT(rdmad_hot, sm_lid, 44);
SNAPSHOT_AT(rdmad_hot, link_speed, 48);
SNAPSHOT_AT(rdmad_hot, state, 52);
SNAPSHOT_AT(rdmad_hot, phys_state, 53);
SNAPSHOT_AT(rdmad_hot, link_layer, 54);
SNAPSHOT_AT(rdmad_hot, protocol, 55);
SNAPSHOT_AT(rdmad_hot, max_mtu, 56);
SNAPSHOT_AT(rdmad_hot, active_mtu, 57);
SNAPSHOT_AT(rdmad_hot, active_width, 58);
SNAPSHOT_AT(rdmad_hot, active_speed, 59);
SNAPSHOT_AT(rdmad_hot, lmc, 60);
SNAPSHOT_AT(rdmad_hot, sm_sl, 61);
SNAPSHOT_AT(rdmad_hot, subnet_timeout, 62);
SNAPSHOT_AT(rdmad_hot, init_type_reply, 63);
_Static_assert(sizeof(struct rdmad_hot) == SNAPSHOT_LINE, "the hot part is no cache line");

SNAPSHOT_AT(rdmad_port, verbs.state, 64);
SNAPSHOT_AT(rdmad_port, verbs.max_mtu, 68);
SNAPSHOT_AT(rdmad_port, verbs.active_mtu, 72);
SNAPSHOT_AT(rdmad_port, verbs.gid_tbl_len, 76);
SNAPSHOT_AT(rdmad_port, verbs.port_cap_flags, 80);
SNAPSHOT_AT(rdmad_port, verbs.max_msg_sz, 84);
SNAPSHOT_AT(rdmad_port, verbs.bad_pkey_cntr, 88);
SNAPSHOT_AT(rdmad_port, verbs.qkey_viol_cntr, 92);
SNAPSHOT_AT(rdmad_port, verbs.pkey_tbl_len, 96);
SNAPSHOT_AT(rdmad_port, verbs.lid, 98);
SNAPSHOT_AT(rdmad_port, verbs.sm_lid, 100);
SNAPSHOT_AT(rdmad_port, verbs.lmc, 102);
SNAPSHOT_AT(rdmad_port, verbs.max_vl_num, 103);
SNAPSHOT_AT(rdmad_port, verbs.sm_sl, 104);
SNAPSHOT_AT(rdmad_port, verbs.subnet_timeout, 105);
SNAPSHOT_AT(rdmad_port, verbs.init_type_reply, 106);
SNAPSHOT_AT(rdmad_port, verbs.active_width, 107);
SNAPSHOT_AT(rdmad_port, verbs.active_speed, 108);
SNAPSHOT_AT(rdmad_port, verbs.phys_state, 109);
SNAPSHOT_AT(rdmad_port, verbs.link_layer, 110);
SNAPSHOT_AT(rdmad_port, verbs.flags, 111);
SNAPSHOT_AT(rdmad_port, verbs.port_cap_flags2, 112);
SNAPSHOT_AT(rdmad_port, verbs.active_speed_ex, 116);
SNAPSHOT_AT(rdmad_port, ifindex, 120);
SNAPSHOT_AT(rdmad_port, rate, 128);
SNAPSHOT_AT(rdmad_port, port_guid, 136);
SNAPSHOT_AT(rdmad_port, subnet_prefix, 144);
SNAPSHOT_AT(rdmad_port, gid_generation, 152);
SNAPSHOT_AT(rdmad_port, pkey_generation, 160);
SNAPSHOT_AT(rdmad_port, sm_generation, 168);
SNAPSHOT_AT(rdmad_port, device_name, 176);
SNAPSHOT_AT(rdmad_port, netdev, 240);
_Static_assert(sizeof(struct rdmad_port) == 256, "a record has another size");

/*
 * The first eight bytes of a record, sequence and flags, are read and written as one: what a reader
 * has to know of the flags comes with the sequence.
 */
typedef uint64_t snapshot_word __attribute__((may_alias));

static inline snapshot_word snapshot_lock(uint32_t sequence, uint32_t flags)
{
	const uint32_t halves[2] = {sequence, flags};
	snapshot_word word;

	__builtin_memcpy(&word, halves, sizeof(word));
	return word;
}

#ifdef __SANITIZE_THREAD__
#define SNAPSHOT_ATOMIC_WORDS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SNAPSHOT_ATOMIC_WORDS 1
#endif
#endif

/* ThreadSanitizer does not model fences, and gcc says so. With the data as relaxed atomics there is
 * no race for it to see in what they order. */
#if defined(SNAPSHOT_ATOMIC_WORDS) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif

/*
 * Copies SIZE bytes between the memory and a private buffer: a word, a cache line or a record. As
 * straight vectors that takes as long as memcpy(); with a call of that inside it would take as long
 * as two calls.
 */
static inline __attribute__((always_inline)) void snapshot_copy(void *to, const void *from,
								size_t size)
{
#ifdef SNAPSHOT_ATOMIC_WORDS
	for (size_t i = 0; i < size / 8; i++)
		__atomic_store_n((snapshot_word *)to + i,
				 __atomic_load_n((const snapshot_word *)from + i, __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
#else
	if (size == sizeof(snapshot_word)) {
		*(snapshot_word *)to = *(const snapshot_word *)from;
		return;
	}

	typedef uint64_t vector __attribute__((vector_size(16), aligned(8), may_alias));
	vector *t = to;
	const vector *f = from;

	t[0] = f[0], t[1] = f[1], t[2] = f[2], t[3] = f[3];
	if (size == SNAPSHOT_LINE)
		return;
	t[4] = f[4], t[5] = f[5], t[6] = f[6], t[7] = f[7];
	t[8] = f[8], t[9] = f[9], t[10] = f[10], t[11] = f[11];
	t[12] = f[12], t[13] = f[13], t[14] = f[14], t[15] = f[15];
#endif
}

/* Writes FROM, whose sequence is not looked at, into the record AT. */
static inline void snapshot_write(struct rdmad_port *at, const struct rdmad_port *from)
{
	struct rdmad_port copy = *from;

	/* the copy writes the lock along with its neighbours: the same odd one */
	copy.hot.sequence = at->hot.sequence + 1;
	__atomic_store_n((snapshot_word *)at, snapshot_lock(copy.hot.sequence, copy.hot.flags),
			 __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	snapshot_copy(at, &copy, sizeof(copy));
	__atomic_store_n((snapshot_word *)at, snapshot_lock(copy.hot.sequence + 1, copy.hot.flags),
			 __ATOMIC_RELEASE);
}

/*
 * Tries once to copy SIZE bytes (known to the compiler: a cache line or a record) from OFFSET of
 * the record AT. True if what was read is of one state if *RET_LOCK is even. *RET_PORT is the
 * identity in it, read for itself because waiting for the copy of it would cost a tenth of the
 * whole.
 */
static inline __attribute__((always_inline)) bool snapshot_try_read(const char *at, size_t offset,
								    void *ret, size_t size,
								    snapshot_word *ret_lock,
								    uint64_t *ret_port)
{
	const snapshot_word *lock = (const snapshot_word *)at;

	*ret_lock = __atomic_load_n(lock, __ATOMIC_ACQUIRE);
	snapshot_copy(ret_port, lock + 1, sizeof(*ret_port));
	snapshot_copy(ret, at + offset, size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(lock, __ATOMIC_RELAXED) == *ret_lock;
}

/* How often a reader tries. A write takes some 20 ns, so this is over 100 of them; a reader for
 * whom that is not enough met a writer that was interrupted, and its caller has better things to
 * do. */
#define SNAPSHOT_TRIES 1000U

static inline void snapshot_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}
