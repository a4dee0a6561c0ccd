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

#define MEMORY_MAGIC	  "RDMADSNP"
#define MEMORY_BYTE_ORDER UINT32_C(0x01020304)
#define MEMORY_MAJOR	  1
#define MEMORY_MINOR	  0

enum memory_state {
	MEMORY_LIVE,
	MEMORY_MOVED,  /* there is a larger one */
	MEMORY_CLOSED, /* the daemon has ended */
};

/* The first cache line never changes. Of the second each field is read and written atomically. */
struct memory_header {
	char magic[8];
	uint32_t byte_order;
	uint16_t major, minor;
	uint32_t header_size; /* where record 0 is */
	uint32_t record_size;
	uint32_t capacity;
	uint8_t reserved_1[36];
	uint32_t state;		   /* enum memory_state */
	uint32_t n_slots;	   /* records from this on have never had a port */
	uint32_t ports_generation; /* see rdmad_ports_generation() */
	uint8_t reserved_2[180];
};

/* Limits to what a reader believes of a header; rdmad stays far below. */
#define MEMORY_RECORD_SIZE_MAX 65536U
#define MEMORY_CAPACITY_MAX    (1U << 20)

#define MEMORY_LINE 64

#define MEMORY_AT(type, field, offset)                                                             \
	_Static_assert(offsetof(struct type, field) == (offset), #type "." #field " has moved")
MEMORY_AT(memory_header, magic, 0);
MEMORY_AT(memory_header, byte_order, 8);
MEMORY_AT(memory_header, major, 12);
MEMORY_AT(memory_header, minor, 14);
MEMORY_AT(memory_header, header_size, 16);
MEMORY_AT(memory_header, record_size, 20);
MEMORY_AT(memory_header, capacity, 24);
MEMORY_AT(memory_header, state, 64);
MEMORY_AT(memory_header, n_slots, 68);
MEMORY_AT(memory_header, ports_generation, 72);
_Static_assert(sizeof(struct memory_header) == 256, "the header has another size");

MEMORY_AT(rdmad_hot, sequence, 0);
MEMORY_AT(rdmad_hot, flags, 4);
MEMORY_AT(rdmad_hot, device_index, 8);
MEMORY_AT(rdmad_hot, port_num, 12);
MEMORY_AT(rdmad_hot, valid, 16);
MEMORY_AT(rdmad_hot, generation, 24);
MEMORY_AT(rdmad_hot, last_query, 32);
MEMORY_AT(rdmad_hot, lid, 40);
MEMORY_AT(rdmad_hot, sm_lid, 44);
MEMORY_AT(rdmad_hot, link_speed, 48);
MEMORY_AT(rdmad_hot, state, 52);
MEMORY_AT(rdmad_hot, phys_state, 53);
MEMORY_AT(rdmad_hot, link_layer, 54);
MEMORY_AT(rdmad_hot, protocol, 55);
MEMORY_AT(rdmad_hot, max_mtu, 56);
MEMORY_AT(rdmad_hot, active_mtu, 57);
MEMORY_AT(rdmad_hot, active_width, 58);
MEMORY_AT(rdmad_hot, active_speed, 59);
MEMORY_AT(rdmad_hot, lmc, 60);
MEMORY_AT(rdmad_hot, sm_sl, 61);
MEMORY_AT(rdmad_hot, subnet_timeout, 62);
MEMORY_AT(rdmad_hot, init_type_reply, 63);
_Static_assert(sizeof(struct rdmad_hot) == MEMORY_LINE, "the hot part is no cache line");

MEMORY_AT(rdmad_port, verbs.state, 64);
MEMORY_AT(rdmad_port, verbs.max_mtu, 68);
MEMORY_AT(rdmad_port, verbs.active_mtu, 72);
MEMORY_AT(rdmad_port, verbs.gid_tbl_len, 76);
MEMORY_AT(rdmad_port, verbs.port_cap_flags, 80);
MEMORY_AT(rdmad_port, verbs.max_msg_sz, 84);
MEMORY_AT(rdmad_port, verbs.bad_pkey_cntr, 88);
MEMORY_AT(rdmad_port, verbs.qkey_viol_cntr, 92);
MEMORY_AT(rdmad_port, verbs.pkey_tbl_len, 96);
MEMORY_AT(rdmad_port, verbs.lid, 98);
MEMORY_AT(rdmad_port, verbs.sm_lid, 100);
MEMORY_AT(rdmad_port, verbs.lmc, 102);
MEMORY_AT(rdmad_port, verbs.max_vl_num, 103);
MEMORY_AT(rdmad_port, verbs.sm_sl, 104);
MEMORY_AT(rdmad_port, verbs.subnet_timeout, 105);
MEMORY_AT(rdmad_port, verbs.init_type_reply, 106);
MEMORY_AT(rdmad_port, verbs.active_width, 107);
MEMORY_AT(rdmad_port, verbs.active_speed, 108);
MEMORY_AT(rdmad_port, verbs.phys_state, 109);
MEMORY_AT(rdmad_port, verbs.link_layer, 110);
MEMORY_AT(rdmad_port, verbs.flags, 111);
MEMORY_AT(rdmad_port, verbs.port_cap_flags2, 112);
MEMORY_AT(rdmad_port, verbs.active_speed_ex, 116);
MEMORY_AT(rdmad_port, ifindex, 120);
MEMORY_AT(rdmad_port, rate, 128);
MEMORY_AT(rdmad_port, port_guid, 136);
MEMORY_AT(rdmad_port, subnet_prefix, 144);
MEMORY_AT(rdmad_port, gid_generation, 152);
MEMORY_AT(rdmad_port, pkey_generation, 160);
MEMORY_AT(rdmad_port, sm_generation, 168);
MEMORY_AT(rdmad_port, device_name, 176);
MEMORY_AT(rdmad_port, netdev, 240);
_Static_assert(sizeof(struct rdmad_port) == 256, "a record has another size");

/*
 * The first eight bytes of a record, sequence and flags, are read and written as one: what a reader
 * has to know of the flags comes with the sequence.
 */
typedef uint64_t memory_word __attribute__((may_alias));

static inline memory_word memory_lock(uint32_t sequence, uint32_t flags)
{
	const uint32_t halves[2] = {sequence, flags};
	memory_word word;

	__builtin_memcpy(&word, halves, sizeof(word));
	return word;
}

#ifdef __SANITIZE_THREAD__
#define MEMORY_ATOMIC_WORDS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MEMORY_ATOMIC_WORDS 1
#endif
#endif

/* ThreadSanitizer does not model fences, and gcc says so. With the data as relaxed atomics there is
 * no race for it to see in what they order. */
#if defined(MEMORY_ATOMIC_WORDS) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif

/*
 * Copies SIZE bytes between the memory and a private buffer: a word, a cache line or a record. As
 * straight vectors that takes as long as memcpy(); with a call of that inside it would take as long
 * as two calls.
 */
static inline __attribute__((always_inline)) void memory_copy(void *to, const void *from,
							      size_t size)
{
#ifdef MEMORY_ATOMIC_WORDS
	for (size_t i = 0; i < size / 8; i++)
		__atomic_store_n((memory_word *)to + i,
				 __atomic_load_n((const memory_word *)from + i, __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
#else
	if (size == sizeof(memory_word)) {
		*(memory_word *)to = *(const memory_word *)from;
		return;
	}

	typedef uint64_t vector __attribute__((vector_size(16), aligned(8), may_alias));
	vector *t = to;
	const vector *f = from;

	t[0] = f[0], t[1] = f[1], t[2] = f[2], t[3] = f[3];
	if (size == MEMORY_LINE)
		return;
	t[4] = f[4], t[5] = f[5], t[6] = f[6], t[7] = f[7];
	t[8] = f[8], t[9] = f[9], t[10] = f[10], t[11] = f[11];
	t[12] = f[12], t[13] = f[13], t[14] = f[14], t[15] = f[15];
#endif
}

/* Writes FROM, whose sequence is not looked at, into the record AT. */
static inline void memory_write(struct rdmad_port *at, const struct rdmad_port *from)
{
	struct rdmad_port copy = *from;

	/* the copy writes the lock along with its neighbours: the same odd one */
	copy.hot.sequence = at->hot.sequence + 1;
	__atomic_store_n((memory_word *)at, memory_lock(copy.hot.sequence, copy.hot.flags),
			 __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memory_copy(at, &copy, sizeof(copy));
	__atomic_store_n((memory_word *)at, memory_lock(copy.hot.sequence + 1, copy.hot.flags),
			 __ATOMIC_RELEASE);
}

/*
 * Tries once to copy SIZE bytes (known to the compiler: a cache line or a record) from OFFSET of
 * the record AT. True if what was read is of one state if *RET_LOCK is even. *RET_PORT is the
 * identity in it, read for itself because waiting for the copy of it would cost a tenth of the
 * whole.
 */
static inline __attribute__((always_inline)) bool memory_try_read(const char *at, size_t offset,
								  void *ret, size_t size,
								  memory_word *ret_lock,
								  uint64_t *ret_port)
{
	const memory_word *lock = (const memory_word *)at;

	*ret_lock = __atomic_load_n(lock, __ATOMIC_ACQUIRE);
	memory_copy(ret_port, lock + 1, sizeof(*ret_port));
	memory_copy(ret, at + offset, size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(lock, __ATOMIC_RELAXED) == *ret_lock;
}

/* How often a reader tries. A write takes some 20 ns, so this is over 100 of them; a reader for
 * whom that is not enough met a writer that was interrupted, and its caller has better things to
 * do. */
#define MEMORY_TRIES 1000U

static inline void memory_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}
