/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "wire.h"

#include <sys/socket.h>

#include "row-set.h"

size_t wire_size(WireType type)
{
	static const size_t sizes[_WIRE_MAX] = {
		[WIRE_QUERY] = sizeof(WireQuery),   [WIRE_FORGET] = sizeof(WireHeader),
		[WIRE_HURRY] = sizeof(WireHeader),  [WIRE_DEVICE] = sizeof(WireDevice),
		[WIRE_PORT] = sizeof(WirePort),	    [WIRE_TABLE] = sizeof(WireTable),
		[WIRE_END] = sizeof(WireEnd),	    [WIRE_EVENT] = sizeof(WireEvent),
		[WIRE_ASKING] = sizeof(WireAsking),
	};

	return type < _WIRE_MAX ? sizes[type] : 0;
}

uint32_t wire_page_entries(AttrType type)
{
	return (uint32_t)(WIRE_PAGE_BYTES / attr_table_entry_size(type));
}

static bool terminated(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

/* Puts those of the ROWS of TABLE that are texts of FROM one after the other into TEXTS, and their
 * places into VALUES, a copy of FROM. Returns how many bytes they are. */
static uint32_t put_texts(const Attribute *table, AttrMask rows, const void *from, void *values,
			  char *texts)
{
	uint32_t used = 1;

	texts[0] = '\0';
	*(Texts **)values = NULL;
	MASK_FOREACH(a, rows)
	{
		const char *text = attr_get_text(&table[a], from);
		TextAt at = {*text ? (uint16_t)used : 0};

		memcpy((char *)values + table[a].offset, &at, sizeof(at));
		if (*text)
			used += (uint32_t)(stpcpy(texts + used, text) - (texts + used)) + 1;
	}
	return used;
}

/* Whether TEXTS, of which N bytes of SIZE are used, and the places of the ROWS of TABLE in VALUES
 * are as put_texts() makes them, and each text fits its row. N may be 0 if there is no text. */
static bool texts_are_good(const Attribute *table, AttrMask rows, const void *values,
			   const char *texts, uint32_t n, size_t size)
{
	uint32_t used = 1;

	if (n > size || (n > 0 && (texts[0] != '\0' || texts[n - 1] != '\0')))
		return false;
	MASK_FOREACH(a, rows)
	{
		uint32_t at = attr_text_at(&table[a], values).at;

		if (at == 0)
			continue;
		if (at != used || at >= n || !texts[at] ||
		    !terminated(texts + at, MIN(n - at, (uint32_t)table[a].size)))
			return false;
		used += (uint32_t)strlen(texts + at) + 1;
	}
	return used == MAX(n, 1U);
}

/* Whether M has no row but those of ROWS. */
static bool mask_within(const AttrMask *m, AttrMask rows)
{
	AttrMask others = mask_without(*m, rows);

	return mask_is_empty(&others);
}

/* 0, or a negative errno that the kernel could return: up to MAX_ERRNO of its linux/err.h. */
static bool is_error(int32_t error)
{
	return error <= 0 && error >= -4095;
}

/* Whether what a column of ENTRY holds is something that the worker may say. */
static const char *check_column(const Column *c, const uint8_t *entry)
{
	/* of an enumeration, how many there are */
	static const uint32_t numbers[] = {
		[COLUMN_COUNTER_GROUP] = _COUNTER_GROUP_MAX,
		[COLUMN_GID_NAMESPACE] = _GID_NAMESPACE_MAX,
		[COLUMN_USER_KIND] = _USER_KIND_MAX,
	};
	const uint8_t *member = entry + c->offset;
	bool is_good = true;
	uint32_t n;

	if (c->type == COLUMN_TEXT)
		return terminated((const char *)member, c->size) ? NULL
								 : "text in a table not terminated";
	if (c->type == COLUMN_VERDICT || c->type == COLUMN_STRING)
		return "a column that no worker fills";
	if (c->size != sizeof(n))
		return NULL;
	memcpy(&n, member, sizeof(n));
	if (c->type == COLUMN_ERROR)
		is_good = is_error((int32_t)n);
	else if (c->type < ARRAY_SIZE(numbers) && numbers[c->type])
		is_good = n < numbers[c->type];
	return is_good ? NULL : "number in a table out of range";
}

static const char *check_table(const WireTable *t)
{
	const TableLayout *l = t->type < _ATTR_TYPE_MAX ? table_layout((AttrType)t->type) : NULL;
	const char *why = NULL;

	if (!l)
		return "table type unknown";
	if ((attr_port_table((AttrType)t->type) == _PORT_TABLE_MAX) != (t->header.port == 0))
		return "table belongs to another kind of object";
	if (t->total == 0 || t->total > TABLE_ENTRIES_MAX)
		return "table size out of bounds";
	if (t->n == 0 || t->n > WIRE_PAGE_BYTES / l->entry_size)
		return "page size out of bounds";
	if (t->first >= t->total || t->n > t->total - t->first)
		return "page outside its table";
	for (uint32_t i = 0; i < t->n && !why; i++)
		for (size_t c = 0; c < l->n_columns && !why; c++)
			why = check_column(&l->columns[c], t->entries + i * l->entry_size);
	return why;
}

static const char *check_device(const WireDevice *m)
{
	const AttrMask rows = device_rows(row_is_any);

	if (!texts_are_good(device_attributes, device_rows(row_is_text), &m->values, m->texts,
			    m->n_texts, sizeof(m->texts)))
		return "texts damaged";
	if (!is_error(m->open_error))
		return "error is no negative errno";
	return mask_within(&m->supplied, rows) && mask_within(&m->unanswered, rows)
		       ? NULL
		       : "attribute unknown";
}

static const char *check_port(const WirePort *m)
{
	const AttrMask rows = mask_without(port_rows(row_is_any), port_rows(row_is_count));

	if (m->header.port == 0)
		return "port out of range";
	if (m->parts & ~(uint32_t)READ_ALL)
		return "parts of a port that are none";
	if (m->failed & ~m->parts)
		return "a part that was not read has failed";
	if (!is_error(m->error) || !is_error(m->open_error))
		return "error is no negative errno";
	if (!texts_are_good(port_attributes, port_rows(row_is_text), &m->values, m->texts,
			    m->n_texts, sizeof(m->texts)))
		return "texts damaged";
	return mask_within(&m->supplied, rows) && mask_within(&m->unmeasured, rows) &&
			       mask_within(&m->unanswered, rows)
		       ? NULL
		       : "attribute unknown";
}

static const char *check_asking(const WireAsking *m)
{
	if (m->header.port != 0)
		return "a query with a port number";
	if (m->parts & ~(uint32_t)READ_ALL)
		return "parts of a port that are none";
	/* bit 0 stands for no port, and those behind the last port neither */
	if (m->ports.bits[0] & 1 || port_set_last(&m->ports) > RDMA_PORT_MAX)
		return "port out of range";
	return port_set_is_empty(&m->ports) ? "a query of nothing" : NULL;
}

static const char *check(const WireMessage *m, size_t size)
{
	const WireHeader *h = &m->header;

	if (size < sizeof(*h) || h->magic != WIRE_MAGIC)
		return "not a message";
	if (h->version != WIRE_VERSION)
		return "other version of the protocol";
	if (h->type >= _WIRE_MAX || wire_size(h->type) == 0)
		return "type unknown";
	if (size != wire_size(h->type))
		return "wrong size for its type";
	if (h->port > RDMA_PORT_MAX && h->type != WIRE_EVENT)
		return "port out of range";

	switch ((WireType)h->type) {
	case WIRE_QUERY:
		if (m->query.query.parts & ~(uint32_t)READ_ALL)
			return "parts of a port that are none";
		return terminated(m->query.query.name, sizeof(m->query.query.name))
			       ? NULL
			       : "text not terminated";
	case WIRE_DEVICE:
		return check_device(&m->device);
	case WIRE_PORT:
		return check_port(&m->port);
	case WIRE_TABLE:
		return check_table(&m->table);
	case WIRE_END:
		if (!is_error(m->end.error))
			return "error is no negative errno";
		if (m->end.library_failed > 1)
			return "a flag that is neither 0 nor 1";
		return terminated(m->end.text, sizeof(m->end.text)) ? NULL : "text not terminated";
	case WIRE_EVENT:
		return m->event.reason < _REASON_MAX ? NULL : "reason unknown";
	case WIRE_ASKING:
		return check_asking(&m->asking);
	case WIRE_FORGET:
	case WIRE_HURRY:
	case _WIRE_MAX:
		break;
	}
	return NULL;
}

int wire_check(const WireMessage *message, size_t size, const char **ret_why)
{
	const char *why = check(message, size);

	if (!why)
		return 0;
	*ret_why = why;
	return -EBADMSG;
}

static int send_packet(int fd, const void *data, size_t size)
{
	ssize_t n;

	do
		n = send(fd, data, size, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* Receives a packet. 1 with the size of the packet in *RET, even if it is larger than the room for
 * it and was cut; 0 at the end of the connection; a negative errno. */
static int receive_packet(int fd, void *buffer, size_t size, size_t *ret)
{
	ssize_t n;

	do
		n = recv(fd, buffer, size, MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	*ret = (size_t)n;
	return n > 0;
}

int wire_send(int fd, const WireMessage *message)
{
	return send_packet(fd, message, wire_size((WireType)message->header.type));
}

int wire_receive(int fd, WireMessage *ret, const char **ret_why)
{
	size_t size;
	int r = receive_packet(fd, ret, sizeof(*ret), &size);

	if (r <= 0)
		return r;
	/* a packet that was cut has the wrong size, which the check sees */
	r = wire_check(ret, size, ret_why);
	return r < 0 ? r : 1;
}

int wire_put(int fd, WirePacket *p, const WireMessage *message)
{
	size_t size = wire_size((WireType)message->header.type);
	int r = p->size + size > sizeof(p->bytes) ? wire_flush(fd, p) : 0;

	if (r < 0)
		return r;
	memcpy(p->bytes + p->size, message, size);
	p->size += size;
	return 0;
}

int wire_put_device(int fd, WirePacket *p, uint64_t id, uint32_t device, const DeviceSnapshot *s)
{
	WireMessage m = {.device = {.header = wire_header(WIRE_DEVICE, id, device, 0),
				    .values = s->values,
				    .supplied = s->supplied,
				    .unanswered = s->unanswered,
				    .open_error = s->open_error}};
	int r;

	m.device.n_texts = put_texts(device_attributes, device_rows(row_is_text), &s->values,
				     &m.device.values, m.device.texts);
	r = wire_put(fd, p, &m);

	for (DeviceTable t = 0; r == 0 && t < _DEVICE_TABLE_MAX; t++)
		r = wire_put_table(fd, p, m.header, device_attributes[device_table_attr(t)].type,
				   s->tables[t]);
	return r;
}

int wire_put_port(int fd, WirePacket *p, uint64_t id, uint32_t device, uint32_t port, int error,
		  const PortSnapshot *s)
{
	WireMessage m = {.port = {.header = wire_header(WIRE_PORT, id, device, port),
				  .error = error,
				  .open_error = s->open_error,
				  .values = s->values,
				  .supplied = s->supplied,
				  .unmeasured = s->unmeasured,
				  .unanswered = s->unanswered,
				  .parts = s->parts,
				  .failed = s->failed}};
	int r;

	m.port.n_texts = put_texts(port_attributes, port_rows(row_is_text), &s->values,
				   &m.port.values, m.port.texts);
	r = wire_put(fd, p, &m);

	for (PortTable t = 0; r == 0 && t < _PORT_TABLE_MAX; t++)
		r = wire_put_table(fd, p, m.header, port_attributes[port_table_attr(t)].type,
				   s->tables[t]);
	return r;
}

int wire_flush(int fd, WirePacket *p)
{
	int r = p->size ? send_packet(fd, p->bytes, p->size) : 0;

	p->size = 0;
	return r;
}

int wire_put_table(int fd, WirePacket *p, WireHeader header, AttrType type, const Table *table)
{
	uint32_t room = wire_page_entries(type);

	header.type = WIRE_TABLE;
	for (uint32_t first = 0; table && first < table->n; first += room) {
		WireMessage m = {.table = {.header = header,
					   .type = type,
					   .total = table->n,
					   .first = first,
					   .n = MIN(room, table->n - first)}};
		int r;

		memcpy(m.table.entries, table->entries + (size_t)first * table->entry_size,
		       (size_t)m.table.n * table->entry_size);
		r = wire_put(fd, p, &m);
		if (r < 0)
			return r;
	}
	return 0;
}

int wire_receive_packet(int fd, WirePacket *ret, const char **ret_why)
{
	int r;

	ret->at = ret->size = 0;
	r = receive_packet(fd, ret->bytes, sizeof(ret->bytes), &ret->size);
	if (r > 0 && ret->size > sizeof(ret->bytes)) {
		*ret_why = "packet too large";
		return -EBADMSG;
	}
	return r;
}

int wire_next(WirePacket *p, WireMessage *ret, const char **ret_why)
{
	size_t left = p->size - p->at, size = MIN(left, sizeof(*ret));
	int r;

	if (left == 0)
		return 0;
	memcpy(ret, p->bytes + p->at, size);
	/* A packet is as long as its messages: what is too short for one is of the wrong size. */
	if (size >= sizeof(ret->header) && wire_size(ret->header.type) > 0)
		size = MIN(size, wire_size(ret->header.type));
	r = wire_check(ret, size, ret_why);
	if (r < 0)
		return r;
	p->at += size;
	return 1;
}

int wire_assemble(WireAssembly *a, const WireTable *page, Table **ret)
{
	AttrType type = (AttrType)page->type;
	size_t entry_size = attr_table_entry_size(type);

	if (!a->table) {
		if (page->first != 0)
			return -EBADMSG;
		a->table = calloc(1, sizeof(Table) + page->total * entry_size);
		if (!a->table)
			return -ENOMEM;
		a->table->n = page->total;
		a->table->entry_size = (uint32_t)entry_size;
		a->type = type;
		a->device = page->header.device;
		a->port = page->header.port;
		a->received = 0;
	}
	if (type != a->type || page->header.device != a->device || page->header.port != a->port ||
	    page->total != a->table->n || page->first != a->received)
		return -EBADMSG;
	memcpy(a->table->entries + page->first * entry_size, page->entries, page->n * entry_size);
	a->received += page->n;
	if (a->received < page->total)
		return 0;
	*ret = steal_pointer(&a->table);
	return 1;
}

void wire_assembly_done(WireAssembly *a)
{
	table_free(a->table);
	*a = (WireAssembly){};
}
