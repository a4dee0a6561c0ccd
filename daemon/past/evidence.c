/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "evidence.h"

#include <inttypes.h>

#include "gid.h"
#include "known-values.h"
#include "pci.h"

/* A counter that grows by so much again within this time goes on. */
#define BURST_USEC (10 * 60 * USEC_PER_SEC)

/* More changes of one table at once are not told one by one. */
#define TABLE_CHANGES_MAX 4U

/* A device that has gone. */
typedef struct Gone {
	AttrText name;
	bool judged;	 /* it is known what became of the hardware */
	bool is_adapter; /* the device was on a PCI function, and on no virtual one */
	AttrText driver, model;
	char guid[20], adapter[20];
	uint64_t usec; /* when it went, on CLOCK_REALTIME */
	bool is_lost;  /* its hardware went too */
} Gone;

struct EvidenceLog {
	EvidenceEntry *entries; /* a ring, [room] */
	uint32_t n, first, room;
	uint32_t n_known;
	KnownValues *known;	  /* [n_known]: of the device, and of the ports by their places */
	char *parent;		  /* the directory of its hardware, NULL: none */
	uint64_t parent_identity; /* 0: not known */
	bool was_away;		  /* since its hardware was last seen */
	Gone *gone;		  /* of a log in a list, which has a next one; else NULL */
	EvidenceLog *next;
};

/* The events that say something by themselves. */
#define TELLING_EVENTS                                                                             \
	(REASON_BIT(REASON_RESUME) | REASON_BIT(REASON_OVERRUN) | REASON_BIT(REASON_NAMESPACE) |   \
	 REASON_BIT(REASON_SM_CHANGE) | REASON_BIT(REASON_CLIENT_REREGISTER) |                     \
	 REASON_BIT(REASON_DEVICE_FATAL))

EvidenceLog *evidence_free(EvidenceLog *l)
{
	if (!l)
		return NULL;
	for (uint32_t i = 0; i < l->n_known; i++)
		known_done(&l->known[i]);
	free(l->known);
	free(l->entries);
	free(l->parent);
	free(l->gone);
	free(l);
	return NULL;
}

void evidence_list_done(EvidenceList *list)
{
	EvidenceLog *next;

	for (EvidenceLog *l = list->first; l; l = next) {
		next = l->next;
		evidence_free(l);
	}
	*list = (EvidenceList){};
}

size_t evidence_count(const EvidenceLog *l)
{
	return l ? l->n : 0;
}

const EvidenceEntry *evidence_entry(const EvidenceLog *l, size_t i)
{
	return &l->entries[(l->first + i) % l->room];
}

/* Noting */

static EvidenceLog *get_log(EvidenceLog **l)
{
	if (!*l)
		*l = calloc(1, sizeof(EvidenceLog));
	return *l;
}

/* Room for one more; when there are as many as may be, the oldest is forgotten. */
static bool grow(EvidenceLog *l)
{
	uint32_t room = l->room ? 2 * l->room : 8;
	EvidenceEntry *entries;

	if (l->n < l->room)
		return true;
	if (l->room == EVIDENCE_ENTRIES) {
		l->first = (l->first + 1) % l->room;
		l->n--;
		return true;
	}
	/* a ring that grows has not begun to turn: the oldest is at its beginning */
	entries = reallocarray(l->entries, room, sizeof(*entries));
	if (!entries)
		return false;
	l->entries = entries;
	l->room = room;
	return true;
}

static void append(EvidenceLog *l, uint32_t port, EvidenceKind kind, const char *from,
		   const char *to, const EvidenceMoment *when)
{
	EvidenceEntry *e;

	if (!grow(l))
		return;
	e = &l->entries[(l->first + l->n) % l->room];
	*e = (EvidenceEntry){.when = *when, .port = port, .kind = kind};
	text_copy(e->from, sizeof(e->from), from);
	text_copy(e->to, sizeof(e->to), to);
	l->n++;
}

/* The last values of port PORT, or with 0 of the device; NULL without memory. */
static KnownValues *get_known(EvidenceLog *l, uint32_t port)
{
	KnownValues *known;

	if (port >= l->n_known) {
		known = reallocarray(l->known, port + 1U, sizeof(*known));
		if (!known)
			return NULL;
		memset(known + l->n_known, 0, (port + 1U - l->n_known) * sizeof(*known));
		l->known = known;
		l->n_known = port + 1U;
	}
	return &l->known[port];
}

/* The value of row A, which is valid, as it is published. */
static void value_text(const Attribute *a, const void *values, EvidenceText ret)
{
	AttrValue v;

	*ret = '\0';
	if (attr_publish(a, values, &v) < 0)
		return;
	if (v.kind == ATTR_VALUE_TEXT || v.kind == ATTR_VALUE_LIST)
		text_copy(ret, sizeof(EvidenceText), v.text);
	else if (v.kind == ATTR_VALUE_BOOL)
		text_copy(ret, sizeof(EvidenceText), v.boolean ? "yes" : "no");
	else
		snprintf(ret, sizeof(EvidenceText), "%" PRIu64,
			 v.kind == ATTR_VALUE_U32 ? v.u32 : v.u64);
}

/* Row A of KIND is now as in VALUES, or has no value. */
static void note_row(EvidenceLog *l, uint32_t port, EvidenceKind kind, const Attribute *a,
		     const void *values, bool is_valid, const EvidenceMoment *when)
{
	KnownValues *known = get_known(l, port);
	KnownText shortened;
	EvidenceText text = "";
	const char *was;

	/* of a number only values are compared */
	if (!known || (!is_valid && !attr_is_text(a->type)))
		return;
	if (is_valid)
		value_text(a, values, text);
	text_copy(shortened, sizeof(shortened), text);
	was = known_get(known, kind);
	if (was && streq(was, shortened))
		return;
	if (was)
		append(l, port, kind, was, text, when);
	known_set(known, kind, shortened);
}

void evidence_note_port(EvidenceLog **l, uint32_t port, const PortSnapshot *s,
			const AttrMask *changed, const EvidenceMoment *when)
{
	if (!get_log(l))
		return;
	for (EvidenceKind kind = 0; kind < _EVIDENCE_MAX; kind++) {
		const EvidenceRow *row = &evidence_rows[kind];
		const Attribute *a = &port_attributes[row->row];

		if (row->of == EVIDENCE_OF_PORT && mask_has(changed, row->row) && a->size &&
		    !row->least)
			note_row(*l, port, kind, a, &s->values,
				 a->source == SOURCE_CORE || mask_has(&s->valid, row->row), when);
	}
}

void evidence_note_device(EvidenceLog **l, const DeviceSnapshot *s, const AttrMask *changed,
			  const EvidenceMoment *when)
{
	if (!get_log(l))
		return;
	for (EvidenceKind kind = 0; kind < _EVIDENCE_MAX; kind++) {
		const EvidenceRow *row = &evidence_rows[kind];
		const Attribute *a = &device_attributes[row->row];

		if (row->of == EVIDENCE_OF_DEVICE && a->size && mask_has(changed, row->row))
			note_row(*l, 0, kind, a, &s->values, mask_has(&s->valid, row->row), when);
	}
}

/* Counts */

/* A burst that goes on is not told again: its entry grows. */
static bool extend(EvidenceLog *l, uint32_t port, EvidenceKind kind, const char *to,
		   const EvidenceMoment *when)
{
	for (size_t i = l->n; i > 0; i--) {
		EvidenceEntry *e = &l->entries[(l->first + i - 1) % l->room];

		if (when->monotonic_usec - e->when.monotonic_usec > BURST_USEC)
			return false;
		if (e->kind == kind && e->port == port) {
			text_copy(e->to, sizeof(e->to), to);
			return true;
		}
	}
	return false;
}

/* Row A of KIND, which counts, is as in VALUES. */
static void note_count(EvidenceLog *l, uint32_t port, EvidenceKind kind, const Attribute *a,
		       const void *values, const EvidenceMoment *when)
{
	uint64_t least = evidence_rows[kind].least, was, is;
	KnownValues *known = get_known(l, port);
	EvidenceText text;
	KnownText shortened;
	const char *old;

	if (!known)
		return;
	value_text(a, values, text);
	/* less than before: other hardware, which was counted from the beginning */
	old = known_get(known, kind);
	if (old && text_to_u64(text, UINT64_MAX, &is) == 0 &&
	    text_to_u64(old, UINT64_MAX, &was) == 0 && is >= was && is - was >= least &&
	    (least == 1 || !extend(l, port, kind, text, when)))
		append(l, port, kind, old, text, when);
	text_copy(shortened, sizeof(shortened), text);
	known_set(known, kind, shortened);
}

void evidence_note_counts(EvidenceLog **l, const DeviceSnapshot *s, const EvidenceMoment *when)
{
	for (EvidenceKind kind = 0; kind < _EVIDENCE_MAX; kind++) {
		const EvidenceRow *row = &evidence_rows[kind];

		if (row->least && row->of == EVIDENCE_OF_DEVICE && mask_has(&s->valid, row->row) &&
		    get_log(l))
			note_count(*l, 0, kind, &device_attributes[row->row], &s->values, when);
	}
}

void evidence_note_port_counts(EvidenceLog **l, uint32_t port, const PortSnapshot *s,
			       const EvidenceMoment *when)
{
	for (EvidenceKind kind = 0; kind < _EVIDENCE_MAX; kind++) {
		const EvidenceRow *row = &evidence_rows[kind];

		if (row->least && row->of == EVIDENCE_OF_PORT && mask_has(&s->valid, row->row) &&
		    get_log(l))
			note_count(*l, port, kind, &port_attributes[row->row], &s->values, when);
	}
}

/* Events */

bool evidence_note_event(EvidenceLog **l, uint32_t port, const EvidenceMoment *when)
{
	bool is_telling = REASON_BIT(when->reason) & TELLING_EVENTS;

	if (is_telling && get_log(l))
		append(*l, port, EVIDENCE_EVENT, "", event_reason_name(when->reason), when);
	return is_telling;
}

/* Tables */

/* An entry of a table as text. P_Keys move when others go. A GID has its index before it: "[3]
 * ...", because programs that run hold the index. */
static void entry_text(EvidenceKind kind, const void *entry, EvidenceText ret)
{
	const GidEntry *gid = entry;
	char text[40];

	if (kind == EVIDENCE_PORT_gids)
		gid_format(gid->gid, text);
	if (kind == EVIDENCE_PORT_gids)
		snprintf(ret, sizeof(EvidenceText), "[%" PRIu32 "] %s", gid->index, text);
	else
		snprintf(ret, sizeof(EvidenceText), "0x%04x", ((const PkeyEntry *)entry)->pkey);
}

static const void *entry_at(const Table *t, size_t i)
{
	return t->entries + i * t->entry_size;
}

/* Whether A and B stand for the same: a GID is in the table once for each type. */
static bool same_entry(EvidenceKind kind, const void *a, const void *b)
{
	const GidEntry *x = a, *y = b;

	if (kind == EVIDENCE_PORT_gids)
		return memcmp(x->gid, y->gid, sizeof(x->gid)) == 0;
	return ((const PkeyEntry *)a)->pkey == ((const PkeyEntry *)b)->pkey;
}

/* Whether ENTRY is noted: GIDs of containers come and go with these, and say nothing of the port.
 */
static bool is_noted(EvidenceKind kind, const void *entry)
{
	return kind != EVIDENCE_PORT_gids ||
	       ((const GidEntry *)entry)->namespace == GID_NAMESPACE_OWN;
}

/* The entry of T that stands for the same as ENTRY, of a GID that of the latest type, which is what
 * programs use; NULL: there is none. */
static const void *find_entry(EvidenceKind kind, const Table *t, const void *entry)
{
	const void *found = NULL;

	for (size_t i = 0; t && i < t->n; i++) {
		const void *other = entry_at(t, i);

		if (same_entry(kind, other, entry) && is_noted(kind, other) &&
		    (!found || (kind == EVIDENCE_PORT_gids &&
				((const GidEntry *)other)->type > ((const GidEntry *)found)->type)))
			found = other;
	}
	return found;
}

/* The entries of two tables that are not in both. */
typedef struct Changed {
	const void **entries;
	size_t n;
} Changed;

static void add_changed(Changed *c, const Table *t, const Table *other)
{
	TableCursor cursor = {};
	const void *entry;

	while ((entry = table_next_own(t, other, &cursor)))
		c->entries[c->n++] = entry;
}

/* Whether one of C stands for the same as ENTRY. */
static bool is_changed(EvidenceKind kind, const Changed *c, const void *entry)
{
	for (size_t i = 0; i < c->n; i++)
		if (same_entry(kind, c->entries[i], entry))
			return true;
	return false;
}

/* Notes the entries of A that B does not have: they have gone, or they have come; and those that
 * have gone from one index to another. All these are among C. */
static void note_entries(EvidenceLog *l, uint32_t port, EvidenceKind kind, const Table *a,
			 const Table *b, const Changed *c, bool gone, const EvidenceMoment *when)
{
	unsigned int n = 0;

	for (size_t i = 0; a && i < a->n && n < TABLE_CHANGES_MAX; i++) {
		const void *entry = entry_at(a, i), *other;
		EvidenceText text, moved = "";

		if (!is_changed(kind, c, entry) || find_entry(kind, a, entry) != entry)
			continue;
		other = find_entry(kind, b, entry);
		entry_text(kind, entry, text);
		if (other)
			entry_text(kind, other, moved);
		if (other && (!gone || streq(text, moved)))
			continue;
		append(l, port, kind, gone ? text : "", gone ? moved : text, when);
		n++;
	}
}

static void note_table(EvidenceLog *l, uint32_t port, EvidenceKind kind, const Table *old,
		       const Table *new, const EvidenceMoment *when)
{
	Changed c = {calloc((old ? old->n : 0) + (new ? new->n : 0), sizeof(void *)), 0};

	if (!c.entries)
		return;
	add_changed(&c, old, new);
	add_changed(&c, new, old);
	note_entries(l, port, kind, old, new, &c, true, when);
	note_entries(l, port, kind, new, old, &c, false, when);
	free(c.entries);
}

void evidence_note_tables(EvidenceLog **l, uint32_t port, const PortSnapshot *was,
			  const PortSnapshot *s, const EvidenceMoment *when)
{
	for (EvidenceKind kind = 0; kind < _EVIDENCE_MAX; kind++) {
		const EvidenceRow *row = &evidence_rows[kind];
		const Attribute *a = &port_attributes[row->row];
		const Table *old, *new;
		PortTable t;

		if (row->of != EVIDENCE_OF_PORT || a->size || !mask_has(&was->valid, row->row) ||
		    !mask_has(&s->supplied, row->row))
			continue;
		t = attr_port_table(a->type);
		old = was->tables[t];
		new = s->tables[t];
		if (table_equal(old, new) || !get_log(l))
			continue;
		note_table(*l, port, kind, old, new, when);
	}
}

/* Health reporters */

static void health_text(const HealthEntry *e, EvidenceText ret)
{
	snprintf(ret, sizeof(EvidenceText), "%.16s %s %" PRIu64, e->name,
		 e->state == HEALTH_ERROR ? "error" : "healthy", e->errors);
}

/* The reporter of T that is the same as E; NULL: T has none. */
static const HealthEntry *find_reporter(const Table *t, const HealthEntry *e)
{
	TABLE_FOREACH(HealthEntry, other, t)
		if (streq(other->name, e->name) && streq(other->port, e->port))
			return other;
	return NULL;
}

void evidence_note_health(EvidenceLog **l, const DeviceSnapshot *was, const DeviceSnapshot *s,
			  const EvidenceMoment *when)
{
	const Table *new = s->tables[DEVICE_TABLE_HEALTH];
	EvidenceText from, to;

	if (new == was->tables[DEVICE_TABLE_HEALTH])
		return;
	TABLE_FOREACH(HealthEntry, e, new) {
		const HealthEntry *old = find_reporter(was->tables[DEVICE_TABLE_HEALTH], e);

		/* fewer errors: the driver has begun to count anew */
		if (!old || (old->state == e->state && e->errors <= old->errors) || !get_log(l))
			continue;
		health_text(old, from);
		health_text(e, to);
		append(*l, 0, EVIDENCE_DEVICE_health_reporters, from, to, when);
	}
}

/* The fate of the hardware */

void evidence_note_parent(EvidenceLog **l, const char *path, uint64_t identity,
			  const EvidenceMoment *when)
{
	EvidenceLog *log = get_log(l);

	if (!log)
		return;
	if (log->was_away && log->parent_identity && identity && streq(log->parent, path))
		append(log, 0, EVIDENCE_PARENT, "",
		       log->parent_identity == identity ? "same" : "replaced", when);
	log->was_away = false;
	free(log->parent);
	log->parent = strdup(path);
	log->parent_identity = log->parent ? identity : 0;
}

EvidenceLog *evidence_unjudged(const EvidenceList *list, const char **ret_path)
{
	EvidenceLog *l = list->first;

	while (l && (l->gone->judged || !l->parent_identity))
		l = l->next;
	if (l)
		*ret_path = l->parent;
	return l;
}

void evidence_judge(EvidenceLog *l, ParentState state, uint64_t identity,
		    const EvidenceMoment *when)
{
	static const char *const names[_PARENT_MAX] = {
		[PARENT_PRESENT] = "present",
		[PARENT_WITHOUT_DRIVER] = "without-driver",
		[PARENT_GONE] = "gone",
	};

	l->gone->judged = true;
	l->gone->is_lost = state == PARENT_GONE && !identity;
	if (identity && identity != l->parent_identity)
		append(l, 0, EVIDENCE_PARENT, "", "replaced", when);
	else if (names[state])
		append(l, 0, EVIDENCE_PARENT, "", names[state], when);
}

bool evidence_loss(const EvidenceList *list, size_t i, EvidenceLoss *ret)
{
	for (const EvidenceLog *l = list->first; l; l = l->next) {
		const Gone *g = l->gone;

		if (!g->is_adapter || !g->is_lost || i-- > 0)
			continue;
		*ret = (EvidenceLoss){g->name,	  g->driver, g->model, g->guid,
				      g->adapter, l->parent, g->usec};
		return true;
	}
	return false;
}

/* Devices that have gone */

/* What is to know of the device S, which goes NOW; NULL without memory. */
static Gone *gone_new(const DeviceSnapshot *s, uint64_t now)
{
	Gone *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->is_adapter = *TEXT_OF(&s->values, pci_address) &&
			!pci_function_is_part(TEXT_OF(&s->values, function));
	g->usec = now;
	text_copy(g->name, sizeof(g->name), TEXT_OF(&s->values, name));
	text_copy(g->driver, sizeof(g->driver), TEXT_OF(&s->values, driver));
	text_copy(g->model, sizeof(g->model), TEXT_OF(&s->values, hca_type));
	if (s->values.node_guid)
		guid_format(s->values.node_guid, g->guid);
	if (s->values.sys_image_guid)
		guid_format(s->values.sys_image_guid, g->adapter);
	return g;
}

void evidence_keep(EvidenceList *list, const DeviceSnapshot *s, uint64_t now, EvidenceLog **l)
{
	EvidenceLog *kept = steal_pointer(l), *old = NULL, **at = &list->first;

	if (!kept)
		return;
	evidence_recall(list, TEXT_OF(&s->values, name), &old);
	evidence_free(old);
	kept->gone = gone_new(s, now);
	if (!kept->gone) {
		evidence_free(kept);
		return;
	}
	kept->was_away = true;
	kept->next = list->first;
	list->first = kept;
	if (++list->n <= EVIDENCE_KEPT)
		return;
	while ((*at)->next)
		at = &(*at)->next;
	*at = evidence_free(*at);
	list->n--;
}

void evidence_recall(EvidenceList *list, const char *name, EvidenceLog **l)
{
	EvidenceLog **at = &list->first;

	while (*at && !streq((*at)->gone->name, name))
		at = &(*at)->next;
	if (!*at)
		return;
	*l = *at;
	*at = (*l)->next;
	(*l)->next = NULL;
	free((*l)->gone);
	(*l)->gone = NULL;
	list->n--;
}

const EvidenceLog *evidence_find(const EvidenceList *list, const char *name)
{
	const EvidenceLog *l = list->first;

	while (l && !streq(l->gone->name, name))
		l = l->next;
	return l;
}
