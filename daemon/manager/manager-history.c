/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The states of each port: each transition is a message in the journal, and a line in the file. */

#include "decode.h"
#include "history-file.h"
#include "history-text.h"
#include "log.h"
#include "manager-private.h"

/* The message of a transition; explained in systemd/rdmad.catalog. */
#define MESSAGE_ID_STATE "889996fde0584a548466e442896fef12"

static void log_transition(const Port *p, const Transition *t)
{
	bool is_down = history_is_link_down(t->from, t->to) || t->to == STATE_ABSENT;
	AttrText from_text, to_text;
	const char *from = history_state_name(t->from, from_text);
	const char *to = history_state_name(t->to, to_text);
	const char *reason = event_reason_name(t->reason);
	char name[80], number[16];
	const LogField fields[] = {
		{"MESSAGE_ID", MESSAGE_ID_STATE},
		{"RDMA_DEVICE", TEXT_OF(&p->device->now.values, name)},
		{"RDMA_PORT", number},
		{"RDMA_OLD_STATE", from},
		{"RDMA_STATE", to},
		{"RDMA_REASON", reason},
	};

	snprintf(number, sizeof(number), "%u", p->now.values.port_num);
	log_with_fields(is_down ? LOG_NOTICE : LOG_INFO, fields, ARRAY_SIZE(fields),
			"%s: %s -> %s (%s)", port_name(p, name), from, to, reason);
}

/* So long after the start some findings may still be found again: of ports that are compared, and
 * by counters that are read now and then. */
#define RECALL_USEC (15 * 60 * USEC_PER_SEC)

/* The first look after the start finds how things are, and no transition. */
static bool is_transition(const Transition *t)
{
	return t->from != STATE_UNKNOWN;
}

static void put_history(GString *to, const Port *p, size_t bytes)
{
	history_put_port(to, TEXT_OF(&p->device->now.values, name), p->now.values.port_num,
			 &p->history, bytes);
}

/* The file begins anew, with all histories, if that is due: those of ports that have gone, or are
 * not seen yet, and then those of the ports. */
static void begin_file(Manager *m)
{
	g_autoptr(GString) text = NULL;
	char boot[BOOT_ID_SIZE];
	size_t n = m->cache.histories.n, bytes;

	if (line_writer_wants(m->history_writer) == LINES_GO_ON)
		return;
	for (size_t i = 0; i < m->cache.n_devices; i++)
		n += m->cache.devices[i]->n_ports;
	bytes = HISTORY_PORT_BYTES(n);
	text = g_string_new(NULL);
	boot_id_text(boot);
	history_put_head(text, boot);
	for (const KeptHistory *k = m->cache.histories.first; k; k = k->next)
		history_put_port(text, k->device, k->port, &k->history, bytes);
	for (size_t i = 0; i < m->cache.n_devices; i++)
		for (uint32_t k = 0; k < m->cache.devices[i]->n_ports; k++)
			if (m->cache.devices[i]->ports[k]->history.n > 0)
				put_history(text, m->cache.devices[i]->ports[k], bytes);
	line_writer_begin(m->history_writer, 0, text->str, text->len);
}

static void write_lines(Manager *m, const GString *text)
{
	line_writer_put(m->history_writer, text->str, text->len);
	begin_file(m);
}

/* Findings that held when rdmad ended, and that the judge has not found again, are over. */
static int on_recalled(_unused_ sd_event_source *s, _unused_ uint64_t usec, void *userdata)
{
	manager_note_all_findings(userdata);
	return 0;
}

void manager_history_start(Manager *m, const char *directory)
{
	m->history_writer = history_writer_new(directory, LINES_PATIENCE_USEC, &m->cache.histories);
	begin_file(m);
	manager_start_timer(m, &m->history_recall, RECALL_USEC, on_recalled, m, "history");
}

void manager_history_end(Manager *m)
{
	m->history_recall = sd_event_source_disable_unref(m->history_recall);
	begin_file(m);
	m->history_writer = line_writer_free(m->history_writer, LINES_PATIENCE_USEC);
}

static void write_transition(Manager *m, const Port *p, const Transition *t)
{
	g_autoptr(GString) text = NULL;

	if (!m->history_writer)
		return;
	text = g_string_new(NULL);
	history_put_change(text, TEXT_OF(&p->device->now.values, name), p->now.values.port_num,
			   &p->history, t);
	write_lines(m, text);
}

/* The findings of H that are new or other ones go into the file, as those of port NUMBER of NAME,
 * and into the record. H is that of P; of D, which has no ports, if P is NULL; or of the machine.
 */
static void write_findings(Manager *m, History *h, const char *name, uint32_t number,
			   const Device *d, const Port *p)
{
	g_autoptr(GString) text = NULL;
	const PastFinding *f;

	while ((f = past_findings_take(&h->findings))) {
		if (!text)
			text = g_string_new(NULL);
		history_put_finding(text, name, number, f);
		manager_record_finding(m, d, p ? p->number : 0, f);
	}
	if (text && m->history_writer)
		write_lines(m, text);
}

static void write_port_findings(Manager *m, Port *p)
{
	write_findings(m, &p->history, TEXT_OF(&p->device->now.values, name),
		       p->now.values.port_num, p->device, p);
}

void manager_note_findings(Manager *m, Port *p)
{
	past_findings_note(&p->history.findings, p->now.tables[PORT_TABLE_FINDINGS],
			   p->device->now.tables[DEVICE_TABLE_FINDINGS], m->machine_findings,
			   realtime_now_usec(), timer_runs(m->history_recall));
	write_port_findings(m, p);
}

/* Notes the findings T of D, NULL: of the machine, which is called NAME, in a history of its own.
 * It begins when HAS_PORTS is false: no port has them in its history. It goes on until they end. */
static void note_without_port(Manager *m, const Device *d, const char *name, bool has_ports,
			      const Table *t)
{
	KeptHistory *k = history_list_find(&m->cache.histories, name, PORT_NUMBER_NONE);

	if (!k && !has_ports && t && t->n > 0)
		k = history_list_put(&m->cache.histories, name, PORT_NUMBER_NONE);
	if (!k)
		return;
	past_findings_note(&k->history.findings, NULL, t, NULL, realtime_now_usec(),
			   timer_runs(m->history_recall));
	write_findings(m, &k->history, name, PORT_NUMBER_NONE, d, NULL);
}

void manager_note_device_findings(Manager *m, const Device *d)
{
	note_without_port(m, d, TEXT_OF(&d->now.values, name), d->n_ports > 0,
			  d->now.tables[DEVICE_TABLE_FINDINGS]);
}

void manager_note_all_findings(Manager *m)
{
	for (size_t i = 0; i < m->cache.n_devices; i++) {
		manager_note_device_findings(m, m->cache.devices[i]);
		for (uint32_t k = 0; k < m->cache.devices[i]->n_ports; k++)
			if (m->cache.devices[i]->ports[k]->published)
				manager_note_findings(m, m->cache.devices[i]->ports[k]);
	}
	note_without_port(m, NULL, HISTORY_MACHINE, m->cache.n_ports > 0, m->machine_findings);
}

void manager_note_device_absence(Manager *m, const Device *d, const char *name)
{
	note_without_port(m, d, name, true, NULL);
}

bool manager_log_states(Manager *m, Port *p)
{
	bool went_down = false;
	const Transition *t;

	while ((t = history_take(&p->history))) {
		if (is_transition(t))
			log_transition(p, t);
		went_down |= is_transition(t) && history_is_link_down(t->from, t->to);
		write_transition(m, p, t);
	}
	return went_down;
}

/* The history of P begins with the history that was kept of its present name. */
static void recall(Manager *m, Port *p)
{
	history_recall(&m->cache.histories, TEXT_OF(&p->device->now.values, name),
		       p->now.values.port_num, &p->history);
}

/* The cage may have been read. A value that is not known is empty. */
static void note_cable(Manager *m, const PortChange *change)
{
	Port *p = change->port;
	const PortValues *now = &p->now.values;
	g_autoptr(GString) text = NULL;

	if (!(change->parts & READ_CABLE) || !mask_has(&p->now.valid, PORT_ATTR_cable_present) ||
	    !history_note_cable(&p->history, TEXT_OF(now, cable_serial), TEXT_OF(now, cable_part),
				change->when_usec) ||
	    !m->history_writer)
		return;
	text = g_string_new(NULL);
	history_put_cables(text, TEXT_OF(&p->device->now.values, name), now->port_num, &p->history);
	write_lines(m, text);
}

/* The port has been read: its state, and what events have changed since it was last read. */
static void note_state(Manager *m, PortChange *change)
{
	Port *p = change->port;
	uint32_t state = p->now.values.state;
	EventReason reason = event_reason_of_state(change->reasons, state == PORT_STATE_ACTIVE);
	const Transition *last = history_last(&p->history);
	bool was_open = last && last->taken && last->to == STATE_NOT_ACTIVE, is_faster = false;

	if (!mask_has(&p->now.valid, PORT_ATTR_state))
		return;
	if (p->history.n == 0)
		recall(m, p);
	if (p->history.n == 0 || !change->is_open) {
		history_note(&p->history, state, reason, change->when_usec, monotonic_usec(m));
		is_faster = mask_has(&p->now.valid, PORT_ATTR_rate) &&
			    history_note_rate(&p->history, p->now.values.rate);
	}
	last = history_last(&p->history); /* NULL if there was no memory to keep the first */
	/* what was left open in the file is said now */
	if (last && last->taken && (is_faster || (was_open && last->to != STATE_NOT_ACTIVE)))
		write_transition(m, p, last);
	note_cable(m, change);
	cache_apply_port_history(change);
}

bool manager_note_event(Manager *m, Port *p, EventReason reason)
{
	return history_note_event(&p->history, reason, realtime_now_usec(), monotonic_usec(m));
}

void manager_note_users(Manager *m, Port *p, uint32_t qps, uint32_t processes)
{
	const Transition *t = history_note_users(&p->history, qps, processes);

	if (t)
		write_transition(m, p, t);
}

/* The device of the port has another name, to which a history may belong. */
static void note_name(Manager *m, PortChange *change)
{
	static const History none = {};
	Port *p = change->port;

	recall(m, p);
	if (m->history_writer) {
		g_autoptr(GString) text = g_string_new(NULL);

		history_put_port(text, TEXT_OF(&change->was.values, device_name),
				 p->now.values.port_num, &none, 0);
		put_history(text, p, HISTORY_PORT_BYTES(1));
		write_lines(m, text);
	}
	cache_apply_port_history(change);
}

void manager_history_port(Manager *m, PortChange *change)
{
	switch (change->cause) {
	case CHANGE_ANSWER:
		note_state(m, change);
		break;
	case CHANGE_LIST:
		note_name(m, change);
		break;
	case CHANGE_ERROR:
	case CHANGE_JUDGED:
		break;
	}
}

bool manager_is_untold(const Port *p)
{
	const Transition *last = history_last(&p->history);

	return mask_has(&p->now.valid, PORT_ATTR_state) && last && !last->taken &&
	       is_transition(last);
}

bool manager_note_absence(Manager *m, Port *p)
{
	bool went_down;

	if (p->history.n > 0)
		history_note(&p->history, STATE_ABSENT, REASON_DEVICE, realtime_now_usec(),
			     monotonic_usec(m));
	past_findings_note(&p->history.findings, NULL, NULL, NULL, realtime_now_usec(), false);
	write_port_findings(m, p);
	went_down = manager_log_states(m, p);
	history_keep(&m->cache.histories, TEXT_OF(&p->device->now.values, name),
		     p->now.values.port_num, &p->history);
	return went_down;
}
