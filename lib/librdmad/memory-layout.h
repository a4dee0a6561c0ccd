/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The shared memory between rdmad and librdmad: where everything is, and how the one writes a
 * record and the other reads it. memory-fields.def has the fields of a record.
 *
 * The memory is one file: a header, then CAPACITY records of RECORD_SIZE bytes, one for each
 * port. Each record begins a cache line. Everything is in the byte order of the machine. A layout
 * that only has more fields in reserved room, or longer records, has a new minor version, and old
 * readers can read it. Any other change is a new major version. librdmad(3) says the same to the
 * authors of other readers.
 *
 * Each record has its own sequence lock: a port that changes all the time does not disturb those
 * who read another port. The lock is one word: a sequence, which is odd while the record is being
 * written, and the flags of the record. There is one writer, which never waits:
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
 * accessed as relaxed atomics, and is true on every processor. tests/model/seqlock.pml checks the
 * same steps over all interleavings.
 *
 * In an ordinary build the data are copied as vectors: atomic words would take up to twice as long
 * as a memcpy() of 256 bytes. C does not promise that vectors do the same. The guarantee follows
 * from compilers and processors: the compiler cannot move the copy over the fences, and so not over
 * either access of the lock; nothing looks at the copy before R3 has approved of it; and a
 * processor orders a vector access against these fences like any other access. It may split a
 * vector into words, but words are all that the argument needs. Under ThreadSanitizer the data are
 * relaxed atomics, word by word.
 */

#include <stdbool.h>

#include "rdmad.h"

#define MEMORY_MAGIC	  "RDMADSNP"
#define MEMORY_BYTE_ORDER UINT32_C(0x01020304)
#define MEMORY_MAJOR	  2 /* MEMORY_MINOR is in memory-fields.def */

/* The state of the memory. */
enum memory_state {
	MEMORY_LIVE = 0,   /* the daemon writes to it */
	MEMORY_MOVED = 1,  /* the daemon writes to a larger one, and not to this one any more */
	MEMORY_CLOSED = 2, /* the daemon has ended */
};

/*
 * The first cache line is written once, before anybody reads it. The fields of the second one
 * change; each is read and written atomically.
 */
struct memory_header {
	char magic[8];	     /* MEMORY_MAGIC, without the zero at its end */
	uint32_t byte_order; /* MEMORY_BYTE_ORDER as the daemon has it */
	uint16_t major;	     /* MEMORY_MAJOR and MEMORY_MINOR of the daemon */
	uint16_t minor;
	uint32_t header_size;	/* in bytes: record 0 begins here. A multiple of MEMORY_LINE */
	uint32_t record_size;	/* in bytes. A multiple of MEMORY_LINE */
	uint32_t capacity;	/* so many records follow */
	uint8_t reserved_1[36]; /* 0 */

	uint32_t state;		   /* enum memory_state */
	uint32_t n_slots;	   /* record N_SLOTS and those after it have never had a port */
	uint32_t ports_generation; /* grows when a port comes, goes or is renamed */
	uint8_t reserved_2[180];   /* 0 */
};

/* A reader refuses a header with larger numbers. Those of rdmad are far smaller. */
#define MEMORY_RECORD_SIZE_MAX 65536U
#define MEMORY_CAPACITY_MAX    (1U << 20)

/* Bytes in a cache line */
#define MEMORY_LINE 64

/* MEMBER of struct NAME is at OFFSET and has this TYPE: readers that are already installed rely on
 * it. */
#define MEMORY_IS_AT(name, member, offset, type)                                                   \
	_Static_assert(offsetof(struct name, member) == (offset), #name "." #member " has moved"); \
	_Static_assert(__builtin_types_compatible_p(__typeof__(((struct name *)0)->member), type), \
		       #name "." #member " has another type");

MEMORY_IS_AT(memory_header, magic, 0, char[8])
MEMORY_IS_AT(memory_header, byte_order, 8, uint32_t)
MEMORY_IS_AT(memory_header, major, 12, uint16_t)
MEMORY_IS_AT(memory_header, minor, 14, uint16_t)
MEMORY_IS_AT(memory_header, header_size, 16, uint32_t)
MEMORY_IS_AT(memory_header, record_size, 20, uint32_t)
MEMORY_IS_AT(memory_header, capacity, 24, uint32_t)
MEMORY_IS_AT(memory_header, state, 64, uint32_t)
MEMORY_IS_AT(memory_header, n_slots, 68, uint32_t)
MEMORY_IS_AT(memory_header, ports_generation, 72, uint32_t)
_Static_assert(sizeof(struct memory_header) == 256, "the header has another size");

/* A record and its parts. The hot part is the first cache line, and the part for verbs is within
 * the second one: each is read by itself. */
_Static_assert(sizeof(struct rdmad_port) == 256, "a record has another size");
_Static_assert(offsetof(struct rdmad_port, hot) == 0, "the hot part has moved");
_Static_assert(sizeof(struct rdmad_hot) == MEMORY_LINE, "the hot part is no cache line");
_Static_assert(offsetof(struct rdmad_port, verbs) == MEMORY_LINE, "the part for verbs has moved");
_Static_assert(sizeof(struct rdmad_verbs) == 56, "the part for verbs has another size");

/* rdmad.h has what the rows of memory-fields.def say ... */
#define PLACE(member, offset, type) MEMORY_IS_AT(rdmad_port, member, offset, type)
#define BIT(number, NAME)                                                                          \
	_Static_assert(RDMAD_FIELD_##NAME == (number), "RDMAD_FIELD_" #NAME " has moved");
#include "memory-fields.def"

/* ... and nothing else: the rows have as many bytes as a record, and each number once. */
/* clang-format off */
_Static_assert(0
#define PLACE(member, offset, type) + sizeof(type)
#include "memory-fields.def"
	== sizeof(struct rdmad_port), "a field of struct rdmad_port has no row");
_Static_assert((0
#define BIT(number, NAME) | UINT64_C(1) << (number)
#include "memory-fields.def"
	) == (UINT64_C(1) << _RDMAD_FIELD_MAX) - 1, "a number in enum rdmad_field has no row");
_Static_assert(_RDMAD_FIELD_MAX == 30 + MEMORY_MINOR, "a new field needs a new MEMORY_MINOR");
/* clang-format on */

/* The header of a new memory: no record has a port yet. */
static inline struct memory_header memory_new_header(uint32_t capacity)
{
	struct memory_header h = {.byte_order = MEMORY_BYTE_ORDER,
				  .major = MEMORY_MAJOR,
				  .minor = MEMORY_MINOR,
				  .header_size = sizeof(struct memory_header),
				  .record_size = sizeof(struct rdmad_port),
				  .capacity = capacity};

	__builtin_memcpy(h.magic, MEMORY_MAGIC, sizeof(h.magic));
	return h;
}

/*
 * The first eight bytes of a record, sequence and flags, are read and written as one word: a reader
 * gets the flags together with the sequence.
 */
typedef uint64_t memory_word __attribute__((may_alias));

/* The word of the lock with this SEQUENCE and these FLAGS. */
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

/* ThreadSanitizer does not know fences, and gcc warns of that. With relaxed atomics for the data
 * there is no race that it could report. */
#if defined(MEMORY_ATOMIC_WORDS) && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic ignored "-Wtsan"
#endif

/*
 * Copies SIZE bytes between the memory and a private buffer: a word, a cache line or a record.
 * Plain vectors take as long as one call of memcpy(). With a call of memcpy() in here, a read would
 * take as long as two of them.
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

/* Writes FROM into the record AT. The sequence in FROM has no meaning. */
static inline void memory_write(struct rdmad_port *at, const struct rdmad_port *from)
{
	struct rdmad_port copy = *from;

	/* the copy below writes the lock too: it must be the odd one that is there by then */
	copy.hot.sequence = at->hot.sequence + 1;
	__atomic_store_n((memory_word *)at, memory_lock(copy.hot.sequence, copy.hot.flags),
			 __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memory_copy(at, &copy, sizeof(copy));
	__atomic_store_n((memory_word *)at, memory_lock(copy.hot.sequence + 1, copy.hot.flags),
			 __ATOMIC_RELEASE);
}

/*
 * Tries once to copy SIZE bytes (a constant: a cache line or a record) from OFFSET of the record
 * AT. The copy is one state of the port if this returns true and the sequence in *RET_LOCK is even.
 * *RET_PORT is the identity in the record (struct rdmad_handle). The identity is read by itself: to
 * wait until the copy has it would make the read a tenth slower.
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

/* So often a reader tries. So many tries take as long as more than 100 writes of some 20 ns. If
 * they are not enough, the writer was interrupted in a write, and the reader returns instead of
 * waiting. */
#define MEMORY_TRIES 1000U

/* Tells the processor that this is a loop that waits. */
static inline void memory_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}
