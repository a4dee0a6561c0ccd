/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The attribute tables at run time.
 *
 * port-attributes.def and device-attributes.def expand here to the plain structures PortValues and
 * DeviceValues, which hold the raw numbers as verbs and netlink give them, and to arrays of struct
 * Attribute, which say how to understand, publish, parse and document each. Everything else loops
 * over those arrays. Rows that are tables of entries (GIDs, P_Keys and so on) are in table.h.
 * Nothing here allocates, logs, or does I/O.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gid.h"
#include "table-columns.def"
#include "util.h"

/* Room for a text, always terminated and valid UTF-8. */
typedef char AttrText[64];
/* The same for a text that the kernel keeps in 64 bytes without a zero behind it. */
typedef char AttrLongText[72];
/* The same for a path in sysfs, or a long list. */
typedef char AttrPath[320];
/* A text among the values: where it begins in their Texts; 0: it is empty. */
typedef struct TextAt {
	uint16_t at;
} TextAt;
/* The greatest number of a VLAN (IEEE 802.1Q). */
#define VLAN_MAX 4094U
/* The type of rows without storage among the values: a structure without members has size 0 in GNU
 * C. */
typedef struct AttrNone {
} AttrNone;

/*
 * T(type, room, raw D-Bus signature, published D-Bus signature). ROOM is how a number stands among
 * the values; of a text, the longest has it. A table takes no room among the values: its entries
 * are in a struct Table beside them, and its columns are rows of table-columns.def, from which its
 * signature comes. UNAVAILABLE is computed from the validity mask.
 */
/* clang-format off */
#define ATTR_TYPES(T)                                                                                       \
	T(U32,         uint32_t,  "u", "u")                                                                 \
	T(U64,         uint64_t,  "t", "t")                                                                 \
	T(INDEX,       uint32_t,  "u", "i")      /* a number from 0; -1: there is none */                 \
	T(BOOL,        uint32_t,  "b", "b")                                                                 \
	T(TEXT,        AttrText,  "s", "s")                                                                 \
	T(LONG_TEXT,   AttrLongText, "s", "s")                                                              \
	T(REASON,      AttrText,  "s", "s")      /* a code of unavailable.def, or "" */                     \
	T(PATH,        AttrPath,  "s", "s")                                                                 \
	T(NUMBERS,     AttrText,  "au", "au")    /* lists: lib/model/list.h */                              \
	T(WORDS,       AttrText,  "as", "as")                                                               \
	T(PAIRS,       AttrPath,  "a{uu}", "a{uu}")                                                         \
	T(GUID,        uint64_t,  "t", "s")      /* 0011:2233:4455:6677, most significant first */          \
	T(PORT_STATE,  uint32_t,  "u", "s")      /* enum ibv_port_state */                                  \
	T(PHYS_STATE,  uint32_t,  "u", "s")      /* IBA vol. 1, PortInfo:PortPhysicalState; 9, 11 Omni-Path */ \
	T(LINK_LAYER,  uint32_t,  "u", "s")      /* IBV_LINK_LAYER_* */                                     \
	T(PROTOCOL,    uint32_t,  "u", "s")      /* enum AttrProtocol */                                    \
	T(NODE_TYPE,   uint32_t,  "u", "s")      /* enum ibv_node_type as the kernel numbers it */          \
	T(DEVICE_TYPE, uint32_t,  "u", "s")      /* enum rdma_nl_dev_type; 0: as most are */                \
	T(OPERSTATE,   uint32_t,  "u", "s")      /* IF_OPER_*, RFC 2863 */                                  \
	T(RATE_SOURCE, uint32_t,  "u", "s")      /* enum AttrRateSource */                                  \
	T(RAIL_SOURCE, uint32_t,  "u", "s")      /* enum AttrRailSource */                                  \
	T(SPEED,       uint32_t,  "u", "s")      /* IBA vol. 1, PortInfo:LinkSpeedActive and LinkSpeedExtActive as one code */ \
	T(ATOMIC_CAP,  uint32_t,  "u", "s")      /* enum ibv_atomic_cap */                                  \
	T(EVENTS,      uint32_t,  "u", "s")      /* enum AttrEvents */                                      \
	T(VERDICT,     uint32_t,  "u", "s")      /* enum AttrVerdict */                                     \
	T(MTU,         uint32_t,  "u", "u")      /* enum ibv_mtu, published in bytes */                     \
	T(WIDTH,       uint32_t,  "u", "u")      /* a bit, not a count; published as the number of lanes */ \
	T(VL_CODE,     uint32_t,  "u", "u")      /* PortInfo:VLCap, published as the number of data VLs */  \
	T(TIMEOUT,     uint32_t,  "u", "t")      /* exponent of 4.096 us * 2^n, published in us */          \
	T(GRH_FLAG,    uint32_t,  "u", "b")      /* IBV_QPF_*; published: IBV_QPF_GRH_REQUIRED */           \
	T(CAP_FLAGS,   uint32_t,  "u", "as")     /* IBV_PORT_* capability bits */                           \
	T(CAP_FLAGS2,  uint32_t,  "u", "as")     /* IBV_PORT_*_SUP of CapabilityMask2 */                    \
	T(CAP_NAMES,   uint64_t,  "t", "as")     /* CAP_FLAGS; bit 32 is IsOtherLocalChangesNoticeSupported */ \
	T(MLX5_FLAGS,  uint32_t,  "u", "as")     /* MLX5DV_CONTEXT_FLAGS_* */                               \
	T(EFA_CAPS,    uint32_t,  "u", "as")     /* EFADV_DEVICE_ATTR_CAPS_* */                             \
	T(HNS_CONGEST, uint32_t,  "u", "as")     /* HNSDV_QP_CREATE_ENABLE_* */                             \
	T(DEVICE_PATH, uint32_t,  "u", "o")      /* kernel index of the device */                           \
	T(UNAVAILABLE, AttrNone,  "",  "a{ss}")                                                             \
	PUBLISHED_TABLES(ATTR_TABLE, T) HIDDEN_TABLES(ATTR_HIDDEN_TABLE, T)
#define ATTR_TABLE(T, type, structure, name, ...) T(type, AttrNone, "", name##_table_signature)
#define ATTR_HIDDEN_TABLE(T, type, ...)		  T(type, AttrNone, "", "")
/* clang-format on */

typedef enum AttrType {
#define T(type, room, raw, published) ATTR_##type,
	ATTR_TYPES(T)
#undef T
		_ATTR_TYPE_MAX
} AttrType;

/* The unit of the published number of a row. */
typedef enum AttrUnit {
#define UNIT(id, ...) UNIT_##id,
#include "units.def"
	_UNIT_MAX
} AttrUnit;

/* A row of units.def; its columns are explained there. */
typedef struct UnitRow {
	char name[22], metric[18];
	char words[18];
	bool is_compared, is_least;
	uint64_t divisor, shown;
} UnitRow;
extern const UnitRow unit_rows[_UNIT_MAX];

/* The D-Bus interface that has the row as a property: those of a device are less than
 * INTERFACE_PORT. */
typedef enum AttrInterface {
#define INTERFACE(id, name, group, help) INTERFACE_##id,
#include "interfaces.def"
	INTERFACE_RAW, /* no property: served by Query only */
	_INTERFACE_MAX
} AttrInterface;

/* How the value can change. */
typedef enum AttrClass {
	CLASS_IDENTITY, /* never: the object path says it */
	CLASS_FIXED,	/* never, while the object is there: its interface comes when it is known */
	CLASS_CONST,	/* the hardware fixes it, but it may not be known at first */
	CLASS_DYNAMIC,	/* at any time */
	/* together with other rows, whose changes it counts: it is in a signal of its interface
	 * that is sent because of another row, and causes none */
	CLASS_GENERATION,
	CLASS_COUNTER, /* all the time: it is never compared and never signalled */
	_CLASS_MAX
} AttrClass;

/* When a value that a source supplied means something. */
typedef enum AttrValidity {
	VALID_ALWAYS,
	VALID_LINK_UP,	  /* once the port has left the state "down" */
	VALID_CONFIGURED, /* once the subnet manager has armed the port */
	VALID_NETDEV_UP,  /* while the network interface of the port is set up */
	VALID_NONZERO,	  /* if it is not zero or empty */
	_VALID_MAX
} AttrValidity;

/* Where a value comes from. */
typedef enum AttrSource {
	SOURCE_VERBS, /* libibverbs */
	SOURCE_NLDEV, /* RDMA netlink */
	SOURCE_SYSFS,
	SOURCE_RTNL,	 /* rtnetlink */
	SOURCE_DCB,	 /* DCB netlink, and files about the same: query-dcb.h */
	SOURCE_DEVLINK,	 /* devlink (generic netlink) */
	SOURCE_ETHTOOL,	 /* ethtool (generic netlink) */
	SOURCE_HWMON,	 /* the sensors of the function, in sysfs */
	SOURCE_PCI,	 /* registers of the function, as rdmad-pci has read them */
	SOURCE_DV,	 /* direct verbs of a provider: mlx5, hbl */
	SOURCE_NEIGHBOR, /* what the other end of the link says: READ_NEIGHBOR */
	SOURCE_MODULE,	 /* the memory of the module in the cage: READ_CABLE */
	SOURCE_DERIVED,	 /* port_derive() makes it from other rows */
	SOURCE_MEASURED, /* rdmad measures what a counter has grown by */
	SOURCE_CORE,	 /* rdmad itself */
	_SOURCE_MAX
} AttrSource;

/* The value of the property while it has none: attr_publish_absent(). */
typedef enum AttrAbsent { ABSENT_ZERO, ABSENT_MAX, _ABSENT_MAX } AttrAbsent;

/* The form of the row in monitoring; lib/metrics makes it. */
typedef enum AttrMetric {
	METRIC_NONE,
	METRIC_GAUGE,	 /* a number that rises and falls; of a table, the number of its entries */
	METRIC_COUNTER,	 /* a number that only grows */
	METRIC_STATESET, /* an enumeration: each of its names is a series with 0 or 1 */
	METRIC_INFO,	 /* a label of the series that describes the object */
	METRIC_LABEL,	 /* a label of every series of the object */
	_METRIC_MAX
} AttrMetric;

/* The protocol of a port, which decides about the interfaces of its object. */
typedef enum AttrProtocol {
	PROTOCOL_UNKNOWN,
	PROTOCOL_INFINIBAND,
	PROTOCOL_ROCE,
	PROTOCOL_IWARP,
	PROTOCOL_OPA,
	PROTOCOL_USNIC,
	PROTOCOL_RAW_PACKET, /* Ethernet without RDMA, for programs that make their own packets */
	_PROTOCOL_MAX
} AttrProtocol;

/* How changes of the ports of a device reach rdmad. */
typedef enum AttrEvents { EVENTS_POLLED, EVENTS_VERBS, _EVENTS_MAX } AttrEvents;

/* How well something is, as far as rdmad can judge that. */
typedef enum AttrVerdict {
	VERDICT_UNKNOWN, /* it is not known how the thing is, or nobody has judged that yet */
	VERDICT_OK,
	VERDICT_WARNING,
	VERDICT_CRITICAL,
	_VERDICT_MAX
} AttrVerdict;

/* Where the rate of a port comes from. */
typedef enum AttrRateSource {
	RATE_SOURCE_LINK,      /* width and speed of the link, as codes */
	RATE_SOURCE_EFFECTIVE, /* EffectiveSpeed */
	RATE_SOURCE_NETDEV,    /* NetdevSpeed */
	RATE_SOURCE_BOND,      /* BondActiveRate of a LAG */
	RATE_SOURCE_LAG_PORT,  /* NetdevSpeed of one port of a LAG: the sum is not known */
} AttrRateSource;

/* How the rails of the machine are numbered. */
typedef enum AttrRailSource {
	RAIL_SOURCE_NEIGHBOR, /* by the names of the switches at the other ends of the links */
	RAIL_SOURCE_ORDER,    /* by PCI address and number of the port */
} AttrRailSource;

typedef enum PortAttr {
#define PORT(field, name, type, unit, interface, class, valid, source, absent, metric, help)       \
	PORT_ATTR_##field,
#include "port-attributes.def"
#undef PORT
	_PORT_ATTR_MAX
} PortAttr;

typedef enum DeviceAttr {
#define DEVICE(field, name, type, unit, interface, class, valid, source, absent, metric, help)     \
	DEVICE_ATTR_##field,
#include "device-attributes.def"
#undef DEVICE
	_DEVICE_ATTR_MAX
} DeviceAttr;

/* The places of the rows that ListPorts() has. */
typedef enum ListedAttr {
#define LISTED(field) LISTED_##field,
#include "list-attributes.def"
#undef LISTED
	_LISTED_MAX
} ListedAttr;

#define ATTR_MASK_WORDS 3U

/* A set of rows of one object, by PortAttr or DeviceAttr. */
typedef struct AttrMask {
	uint64_t bits[ATTR_MASK_WORDS];
} AttrMask;

/* All rows. */
static const AttrMask mask_all = {{[0 ... ATTR_MASK_WORDS - 1] = UINT64_MAX}};

_Static_assert(_PORT_ATTR_MAX <= 64 * ATTR_MASK_WORDS,
	       "AttrMask is too small for the ports' attributes");
_Static_assert(_DEVICE_ATTR_MAX <= 64 * ATTR_MASK_WORDS,
	       "AttrMask is too small for the devices' attributes");

static inline void mask_set(AttrMask *m, unsigned int a, bool on)
{
	if (on)
		m->bits[a / 64] |= UINT64_C(1) << (a % 64);
	else
		m->bits[a / 64] &= ~(UINT64_C(1) << (a % 64));
}

static inline bool mask_has(const AttrMask *m, unsigned int a)
{
	return m->bits[a / 64] >> (a % 64) & 1;
}

static inline bool mask_is_empty(const AttrMask *m)
{
	return (m->bits[0] | m->bits[1] | m->bits[2]) == 0;
}

static inline AttrMask mask_or(AttrMask a, AttrMask b)
{
	return (AttrMask){{a.bits[0] | b.bits[0], a.bits[1] | b.bits[1], a.bits[2] | b.bits[2]}};
}

static inline AttrMask mask_and(AttrMask a, AttrMask b)
{
	return (AttrMask){{a.bits[0] & b.bits[0], a.bits[1] & b.bits[1], a.bits[2] & b.bits[2]}};
}

static inline AttrMask mask_xor(AttrMask a, AttrMask b)
{
	return (AttrMask){{a.bits[0] ^ b.bits[0], a.bits[1] ^ b.bits[1], a.bits[2] ^ b.bits[2]}};
}

/* The rows of A that are not in B. */
static inline AttrMask mask_without(AttrMask a, AttrMask b)
{
	return (AttrMask){{a.bits[0] & ~b.bits[0], a.bits[1] & ~b.bits[1], a.bits[2] & ~b.bits[2]}};
}

/* Takes the first row out of M into *RET. False if M is empty. */
static inline bool mask_take(AttrMask *m, unsigned int *ret)
{
	unsigned int word = m->bits[0] ? 0 : m->bits[1] ? 1 : 2;

	if (m->bits[word] == 0)
		return false;
	*ret = word * 64 + (unsigned int)__builtin_ctzll(m->bits[word]);
	m->bits[word] &= m->bits[word] - 1;
	return true;
}

/* A loop over the rows A of MASK, in the order of the table: MASK_FOREACH(a, mask) ... */
#define MASK_FOREACH(a, mask)                                                                      \
	for (AttrMask a##_left = (mask); !mask_is_empty(&a##_left); a##_left = (AttrMask){})       \
		for (unsigned int a = 0; mask_take(&a##_left, &a);)

/* attr_room_U32 is the room of type U32, and attr_U32 what stands among the values. */
#define T(type, room, raw, published)                                                              \
	typedef room attr_room_##type;                                                             \
	typedef __typeof__(                                                                        \
		_Generic(*(room *)0, char *: *(TextAt *)0, default: *(room *)0)) attr_##type;
ATTR_TYPES(T)
#undef T

/*
 * The texts of a PortValues or DeviceValues, which say where each begins. Whoever keeps a copy of
 * values holds their texts too: texts_hold(), texts_release(). Texts with one holder change in
 * place; of others the one who sets a text gets a copy. Behind an empty text, the texts stand one
 * after the other, each with its zero.
 */
typedef struct Texts {
	uint32_t holders;
	uint16_t used, room; /* bytes */
	char bytes[];
} Texts;

/* One holder more. T may be NULL, which has no text. Returns T. */
static inline Texts *texts_hold(Texts *t)
{
	if (t)
		t->holders++;
	return t;
}
/* One holder less; the last frees T, which may be NULL. */
static inline void texts_release(Texts *t)
{
	if (t && --t->holders == 0)
		free(t);
}

/* New texts of the N bytes at BYTES, which begin with an empty text, and of which the last is 0;
 * NULL if there is no other text. -ENOMEM. */
int texts_make(const char *bytes, size_t n, Texts **ret);
/* text_sanitize() of each text of T, which may be NULL: of all that hold T. */
void texts_sanitize(Texts *t);

/* The scalar values, raw. Which of them mean anything is in the AttrMask that goes with them. Their
 * texts are the first member, so that those are found whatever the values are of. */
typedef struct PortValues {
	Texts *texts;
#define PORT(field, name, type, unit, interface, class, valid, source, absent, metric, help)       \
	attr_##type field;
#include "port-attributes.def"
#undef PORT
} PortValues;

typedef struct DeviceValues {
	Texts *texts;
#define DEVICE(field, name, type, unit, interface, class, valid, source, absent, metric, help)     \
	attr_##type field;
#include "device-attributes.def"
#undef DEVICE
} DeviceValues;

/* One row. The first part is that of the .def file; OFFSET is where the field is in its structure
 * and SIZE its size there: 0 for a table and for UNAVAILABLE. Of a text, SIZE is the room for the
 * longest, with its zero. There are no pointers in it: the dynamic linker would write each, and
 * every process would have the tables for itself. */
typedef struct Attribute {
	char field[32]; /* name in the structure, in Query() and in scenarios: "active_mtu" */
	char name[28];	/* of the property: "ActiveMtu" */
	AttrType type : 8;
	AttrUnit unit : 8;
	AttrInterface interface : 8;
	AttrClass class : 8;
	AttrValidity valid : 8;
	AttrSource source : 8;
	AttrAbsent absent : 8;
	AttrMetric metric : 8;
	uint16_t offset;
	uint16_t size;
	bool is_of_port; /* or of a device */
} Attribute;

/* The members of an Attribute from a row of a .def file, of which FIELD_ is the first part;
 * STRUCTURE has the fields. */
#define ATTR_ROW(structure, field_, name_, type_, unit_, interface_, class_, valid_, source_,      \
		 absent_, metric_, help_)                                                          \
	.field = #field_, .name = #name_, .type = ATTR_##type_, .unit = UNIT_##unit_,              \
	.interface = INTERFACE_##interface_, .class = CLASS_##class_, .valid = VALID_##valid_,     \
	.source = SOURCE_##source_, .absent = ABSENT_##absent_, .metric = METRIC_##metric_,        \
	.offset = offsetof(structure, field_), .size = sizeof(attr_room_##type_),                  \
	.is_of_port = __builtin_types_compatible_p(structure, PortValues)

extern const Attribute port_attributes[_PORT_ATTR_MAX];
extern const Attribute device_attributes[_DEVICE_ATTR_MAX];
/* What row A, which must be one of these, is about: one sentence. */
const char *attr_help(const Attribute *a);
/* The rows of list-attributes.def. */
extern const PortAttr listed_attributes[_LISTED_MAX];

/* A value as it is published. The names are static. */
typedef struct AttrValue {
	enum {
		ATTR_VALUE_BOOL,
		ATTR_VALUE_U32,
		ATTR_VALUE_U64,
		ATTR_VALUE_S32,
		ATTR_VALUE_TEXT,
		ATTR_VALUE_LIST, /* TEXT, as lib/model/list.h has it; "": none */
		ATTR_VALUE_NAMES
	} kind;
	union {
		bool boolean;
		uint32_t u32;
		uint64_t u64;
		int32_t s32;
	};
	AttrPath text;	       /* ATTR_VALUE_TEXT, ATTR_VALUE_LIST */
	const char *names[65]; /* ATTR_VALUE_NAMES: the names of bits, NULL at the end */
} AttrValue;

/* D-Bus signature of a type: as it is published, and of the raw field in Query(): "" where there is
 * none. */
const char *attr_signature(AttrType type);
const char *attr_raw_signature(AttrType type);
/* The raw number of row A in VALUES, a PortValues or DeviceValues. The row must have a field there
 * (SIZE is not 0) that is no text. */
uint64_t attr_get_raw(const Attribute *a, const void *values);
/* Sets it; what does not fit the field is cut. */
void attr_set_raw(const Attribute *a, void *values, uint64_t raw);
/* Whether a row of TYPE is a list: lib/model/list.h */
static inline bool attr_is_list(AttrType type)
{
	return type == ATTR_NUMBERS || type == ATTR_WORDS || type == ATTR_PAIRS;
}
/* Whether a row of TYPE is stored as text. */
static inline bool attr_is_text(AttrType type)
{
	return type == ATTR_TEXT || type == ATTR_LONG_TEXT || type == ATTR_REASON ||
	       type == ATTR_PATH || attr_is_list(type);
}
/* Whether there are numbers of TYPE that have no meaning in its unit. */
static inline bool attr_has_range(AttrType type)
{
	return type == ATTR_SPEED || type == ATTR_MTU || type == ATTR_WIDTH ||
	       type == ATTR_VL_CODE || type == ATTR_TIMEOUT;
}
/* The text AT in TEXTS, for TEXT_OF() and attr_get_text(). It is there until a text is set. */
static inline const char *texts_get(const Texts *texts, TextAt at)
{
	return at.at ? texts->bytes + at.at : "";
}
/* The text FIELD of V, a PortValues or DeviceValues. */
#define TEXT_OF(v, field) texts_get((v)->texts, (v)->field)
/* The place of the text that row A, which must be one, has in VALUES. */
static inline TextAt attr_text_at(const Attribute *a, const void *values)
{
	TextAt at;

	memcpy(&at, (const char *)values + a->offset, sizeof(at));
	return at;
}
/* The text itself. */
static inline const char *attr_get_text(const Attribute *a, const void *values)
{
	return texts_get(*(Texts *const *)values, attr_text_at(a, values));
}
/* Sets it; what is longer than its room is cut. TEXT may be one of the same values. -ENOMEM: it is
 * as it was. */
int attr_set_text(const Attribute *a, void *values, const char *text);

/* The value of row A of FROM goes to TO, values of the same kind of object. -ENOMEM: a text is as
 * it was. */
int attr_copy(const Attribute *a, void *to, const void *from);
/* The value of row A is 0, or empty. */
void attr_clear(const Attribute *a, void *values);
/* Whether row A, which may have no field there, is the same in two values. */
bool attr_is_equal(const Attribute *a, const void *x, const void *y);

/*
 * How the scalar row A of VALUES is published: enumerations as names, MTUs in bytes, widths in
 * lanes and so on. An enumeration value that nobody knows becomes "unknown(9)". -ERANGE if the
 * number has no meaning in the unit (an MTU code of 6; only of types that attr_has_range() names):
 * there is then no value to publish, and *RET
 * is the type's neutral value (0, "", false). -EOPNOTSUPP if the row is a table or computed; *RET
 * is not written then.
 */
int attr_publish(const Attribute *a, const void *values, AttrValue *ret);

/*
 * The published form of a scalar row without a value. The form says nothing about the port or
 * device: "unavailable" has the rows without a value. An enumeration is "unknown", other text "", a
 * flag false, a list empty. A number is 0, or the greatest of its type (-1 of a signed one) if the
 * row says MAX. -EOPNOTSUPP if the row is a table, which is empty then, or computed.
 */
int attr_publish_absent(const Attribute *a, AttrValue *ret);

/* The same for people: "0", "4294967295", "an empty text". NULL if the row always has a value. */
const char *attr_absent_text(const Attribute *a);

/* The name of VALUE in the enumeration TYPE, "unknown(9)" if it has none. Returns RET. */
const char *attr_enumeration_text(AttrType type, uint32_t value, AttrText ret);

/*
 * Sets the scalar row A of VALUES from TEXT as people write it: the published form ("active", 4096,
 * "NDR", "4") or "raw:N". -EINVAL: not such a value. -EOPNOTSUPP: the row is a table or computed.
 */
int attr_parse(const Attribute *a, void *values, const char *text);

/* The names that a value of the enumeration TYPE can have, for error messages and completion: NULL
 * at the end. NULL if the type is no enumeration. */
const char *const *attr_type_names(AttrType type);

/* The row with the field FIELD ("active_mtu"); -ENOENT. */
int port_attr_from_field(const char *field, PortAttr *ret);
int device_attr_from_field(const char *field, DeviceAttr *ret);

/* Whether PropertiesChanged is sent after a change of the row: it is a property that can change,
 * and neither counts other changes nor changes all the time. */
static inline bool attr_is_signalled(const Attribute *a)
{
	return (a->class == CLASS_DYNAMIC || a->class == CLASS_CONST) &&
	       a->interface != INTERFACE_RAW;
}

/* Whether PropertiesChanged has the row after a change: it is signalled, or travels with one that
 * is. */
static inline bool attr_is_in_signals(const Attribute *a)
{
	return attr_is_signalled(a) || a->class == CLASS_GENERATION;
}

/* Whether the row can change without a signal. */
static inline bool attr_changes_silently(const Attribute *a)
{
	return a->class == CLASS_GENERATION || a->class == CLASS_COUNTER;
}

/* Whether somebody else than rdmad says the value of the row. */
static inline bool attr_is_of_source(const Attribute *a)
{
	return a->source < SOURCE_DERIVED;
}

/* Whether the row says when and how often something changed, or why a value is missing, and not
 * what the object is: counters, generations, time stamps, and the reasons in "unavailable". Such a
 * row changes together with others, and alone it is no change that a person wants to be told of. */
static inline bool attr_is_bookkeeping(const Attribute *a)
{
	return a->class == CLASS_COUNTER || a->type == ATTR_UNAVAILABLE ||
	       (a->source == SOURCE_CORE && a->type == ATTR_U64);
}

/* The words for the columns of a row in the manual and in "rdmactl describe": "org.rdma.Port",
 * "dynamic", "link-up", "verbs". INTERFACE_RAW is "". */
const char *attr_interface_name(AttrInterface interface);
const char *attr_class_name(AttrClass class);
const char *attr_validity_name(AttrValidity valid);
const char *attr_source_name(AttrSource source);
/* The interface of D-Bus that is called NAME; -ENOENT if no row has it. */
int attr_interface_find(const char *name, AttrInterface *ret);
/* When a row has a value, for people: "always", "while the link is up". */
const char *attr_validity_text(AttrValidity valid);
