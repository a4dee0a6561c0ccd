/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "wait.h"

#include <assert.h>

#include "decode.h"
#include "lookup.h"

int wait_add(Wait *w, const char *name)
{
	assert(!w->looked);
	if (!port_name_is_valid(name))
		return -EINVAL;
	if (array_find(w->ports, w->n_ports, name, name))
		return 0;
	if (w->n_ports == WAIT_PORTS_MAX)
		return -E2BIG;
	text_copy(w->ports[w->n_ports++].name, PORT_NAME_MAX, name);
	return 0;
}

static bool has_gid(const Port *p, const uint8_t gid[16])
{
	return mask_has(&p->now.valid, PORT_ATTR_gids) && lookup_has_address(p, gid);
}

/* The active MTU in bytes, 0 if it is not known. */
static uint32_t active_mtu(const PortSnapshot *s)
{
	AttrValue v;

	if (!mask_has(&s->valid, PORT_ATTR_active_mtu) ||
	    attr_publish(&port_attributes[PORT_ATTR_active_mtu], &s->values, &v) < 0)
		return 0;
	return v.u32;
}

/* The rate in bit/s, 0 if it is not known. */
static uint64_t rate(const PortSnapshot *s)
{
	return mask_has(&s->valid, PORT_ATTR_rate) ? s->values.rate : 0;
}

/* Whether the port has a LID: 0 is no LID, and 0xffff is the
 * permissive LID, which is never that of a port. */
static bool has_lid(const PortSnapshot *s)
{
	return mask_has(&s->valid, PORT_ATTR_lid) && s->values.lid != 0 && s->values.lid != 0xffff;
}

static uint32_t max_mtu(const PortSnapshot *s)
{
	AttrValue v;

	if (!mask_has(&s->valid, PORT_ATTR_max_mtu) ||
	    attr_publish(&port_attributes[PORT_ATTR_max_mtu], &s->values, &v) < 0)
		return UINT32_MAX;
	return v.u32;
}

/* Whether the driver does not say in which state the port is. Then nothing says that it is not in
 * the state that programs need. */
static bool is_unmeasured(const PortSnapshot *s)
{
	return mask_has(&s->unmeasured, PORT_ATTR_state);
}

static bool can_be_in_state(const PortSnapshot *s, uint32_t state)
{
	return !is_unmeasured(s) || state >= PORT_STATE_INIT;
}

static bool meets_state(const PortSnapshot *s, uint32_t state)
{
	if (is_unmeasured(s))
		return can_be_in_state(s, state);
	return mask_has(&s->valid, PORT_ATTR_state) && decode_state_meets(s->values.state, state);
}

const char *wait_impossible(const WaitCondition *c, const PortSnapshot *s)
{
	if (!mask_has(&s->valid, PORT_ATTR_protocol))
		return NULL;
	if (c->lid && !(port_interfaces(s) & 1U << INTERFACE_INFINIBAND))
		return "only ports of InfiniBand have a LID";
	if (!can_be_in_state(s, c->state))
		return "the driver does not measure the state of the port, so nothing shows that "
		       "the port is down";
	if (c->mtu > max_mtu(s))
		return "the MTU is larger than MaxMtu";
	return NULL;
}

WaitLack wait_lack(const WaitCondition *c, const Port *p)
{
	const PortSnapshot *s = &p->now;

	if (s->values.stale)
		return LACK_FRESH;
	if (!meets_state(s, c->state))
		return LACK_STATE;
	if (c->lid && !has_lid(s))
		return LACK_LID;
	if (c->has_gid && !has_gid(p, c->gid))
		return LACK_GID;
	if (active_mtu(s) < c->mtu)
		return LACK_MTU;
	if (rate(s) < c->rate)
		return LACK_RATE;
	if (c->healthy && s->values.health != VERDICT_OK)
		return LACK_HEALTH;
	if (c->fit && (!s->values.fit_since || p->fit_downs != p->history.link_downs))
		return LACK_FITNESS;
	return LACK_NOTHING;
}

void wait_done(Wait *w)
{
	for (size_t i = 0; i < w->n_ports; i++)
		port_ref_set(&w->ports[i].ref, NULL);
	memset(w, 0, offsetof(Wait, ports) + w->n_ports * sizeof(w->ports[0]));
}

/* The one before P that means PORT too, or NULL. */
static WaitPort *find_same(const WaitPort *p, const Port *port)
{
	for (WaitPort *other = p->wait->ports; port && other < p; other++)
		if (other->ref.port == port)
			return other;
	return NULL;
}

/* Finds the ports that have the names now. */
static void look_up(Wait *w, const Cache *c)
{
	for (size_t i = 0; i < w->n_ports; i++) {
		WaitPort *p = &w->ports[i];

		/* from now on it may stand for itself */
		p->lack = wait_port_found(p)->lack;
		p->since_usec = wait_port_found(p)->since_usec;
		p->exact = wait_port_found(p)->exact;
	}
	w->n_different = 0;
	for (size_t i = 0; i < w->n_ports; i++) {
		WaitPort *p = &w->ports[i];
		Port *port = NULL;
		int r = lookup_port(c, p->name, &port);

		port = r < 0 ? NULL : port;
		p->wait = w;
		p->is_ambiguous = r == -EEXIST;
		p->same = find_same(p, port);
		port_ref_set(&p->ref, p->same ? NULL : port);
		w->n_different += !p->same;
	}
	w->names_generation = c->names_generation;
}

/* The lack of P now. */
static WaitLack find_lack(const WaitPort *p)
{
	const Port *port = p->ref.port;

	if (!port)
		return p->is_ambiguous ? LACK_UNIQUE : LACK_PORT;
	return port->answered ? wait_lack(&p->wait->condition, port) : LACK_ANSWER;
}

/* The history may know since when the port is not in STATE, from before it was first looked at. */
static void ask_history(WaitPort *p, uint32_t state)
{
	uint64_t since;
	bool exact;

	if (p->lack != LACK_STATE ||
	    !history_since_not(&p->ref.port->history, state, &since, &exact))
		return;
	p->since_usec = since;
	p->exact = exact;
}

static void look_at(WaitPort *p, uint64_t now_usec)
{
	Wait *w = p->wait;
	WaitLack lack = find_lack(p), was = p->lack;

	if (w->looked && lack == was)
		return;
	p->since_usec = now_usec;
	/* A lack before the one of the last look began now. One after it was hidden until now and
	 * may be old. */
	p->exact = w->looked && lack < was;
	p->lack = lack;
	if (!p->exact)
		ask_history(p, w->condition.state);
}

bool wait_look(Wait *w, const Cache *c, uint64_t now_usec)
{
	if (!w->looked || w->names_generation != c->names_generation)
		look_up(w, c);
	w->n_held = 0;
	for (size_t i = 0; i < w->n_ports; i++) {
		if (w->ports[i].same)
			continue;
		look_at(&w->ports[i], now_usec);
		w->n_held += w->ports[i].lack == LACK_NOTHING;
	}
	w->looked = true;
	return wait_holds(w);
}

Wait *wait_look_at_port(PortRef *ref, uint64_t now_usec)
{
	WaitPort *p = (WaitPort *)ref;
	Wait *w = p->wait;

	w->n_held -= p->lack == LACK_NOTHING;
	look_at(p, now_usec);
	w->n_held += p->lack == LACK_NOTHING;
	return w;
}

bool wait_holds(const Wait *w)
{
	return w->n_held == w->n_different || (w->any && w->n_held > 0);
}

static const char *state_name(uint32_t state, AttrValue *buffer)
{
	PortValues values = {.state = state};

	(void)attr_publish(&port_attributes[PORT_ATTR_state], &values, buffer);
	return buffer->text;
}

/* Why row A of S has no value; OTHERWISE if it has one. */
static const char *reason(const PortSnapshot *s, PortAttr a, const char *otherwise)
{
	const Unavailable *why = port_unavailable(s, a);

	return why ? why->text : otherwise;
}

/* What was found of the port: the first that is as bad as its health, WANTED. */
static void describe_health(FILE *f, const PortSnapshot *s, const char *wanted)
{
	AttrText text;

	fprintf(f, "health %s", attr_enumeration_text(ATTR_VERDICT, s->values.health, text));
	TABLE_FOREACH(FindingEntry, e, s->tables[PORT_TABLE_FINDINGS]) {
		if (e->severity != s->values.health)
			continue;
		fprintf(f, " (%s)", e->text);
		break;
	}
	fprintf(f, ", not %s", wanted);
}

static void describe_lack(FILE *f, const WaitCondition *c, const WaitPort *p)
{
	const PortSnapshot *s = p->ref.port ? &p->ref.port->now : NULL;
	char gid[46];
	AttrValue is, wanted;

	switch (p->lack) {
	case LACK_PORT:
		fputs(p->exact ? "gone" : "no such port", f);
		break;
	case LACK_UNIQUE:
		fputs("more than one port has that name", f);
		break;
	case LACK_ANSWER:
		fputs("not read yet", f);
		break;
	case LACK_FRESH:
		fprintf(f, "stale (%s)", TEXT_OF(&s->values, last_error));
		break;
	case LACK_STATE:
		fprintf(f, "%s, not %s",
			mask_has(&s->valid, PORT_ATTR_state) ? state_name(s->values.state, &is)
							     : "in an unknown state",
			state_name(c->state, &wanted));
		break;
	case LACK_LID:
		fprintf(f, "no LID (%s)",
			reason(s, PORT_ATTR_lid, s->values.lid ? "it is 0xffff" : "it is 0"));
		break;
	case LACK_GID:
		gid_format_address(c->gid, GID_TYPE_ROCE_V2, gid);
		fprintf(f, "no GID %s (%s)", gid,
			reason(s, PORT_ATTR_gids,
			       "not in its GID table, and no address of its "
			       "interfaces"));
		break;
	case LACK_MTU:
		if (active_mtu(s) > 0)
			fprintf(f, "MTU %u, not %u", active_mtu(s), c->mtu);
		else
			fprintf(f, "no MTU (%s)", reason(s, PORT_ATTR_active_mtu, "unknown"));
		break;
	case LACK_RATE:
		if (rate(s) > 0)
			fprintf(f, "rate %.6g Gb/s, not %.6g Gb/s", (double)rate(s) / 1e9,
				(double)c->rate / 1e9);
		else
			fprintf(f, "no rate (%s)", reason(s, PORT_ATTR_rate, "unknown"));
		break;
	case LACK_HEALTH:
		describe_health(f, s, "ok");
		break;
	case LACK_FITNESS:
		describe_health(f, s, "fit");
		break;
	case LACK_NOTHING:
		break;
	}
}

char *wait_describe(const Wait *w, uint64_t now_usec)
{
	char *text = NULL, duration[DURATION_MAX];
	const char *separator = "";
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (size_t i = 0; i < w->n_ports; i++) {
		const WaitPort *p = wait_port_found(&w->ports[i]);

		if (p->lack == LACK_NOTHING)
			continue;
		fprintf(f, "%s%s: ", separator, w->ports[i].name);
		describe_lack(f, &w->condition, p);
		duration_format(now_usec - p->since_usec, duration);
		fprintf(f, " for %s%s", p->exact ? "" : "at least ", duration);
		separator = "\n";
	}
	return stream_close(f, &text);
}
