/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What the counters have grown by since an earlier sample: loss, congestion and symbol errors. A
 * total since the machine was started says nothing: who knows when that was.
 */

#include <fnmatch.h>
#include <math.h>

#include "check-parts.h"
#include "checks.h"
#include "error-ratio.h"
#include "poisson.h"

/* The checks that a kind of counters is found by */
typedef enum RateCheck { LOSS, CONGESTED, PAUSED } RateCheck;

enum {
#define COUNTER_KIND(kind, ...) KIND_##kind,
#include "counter-kinds.def"
	_KIND_MAX
};

static const struct {
	RateCheck check;
	double least; /* in a second */
	const char *words;
} kinds[_KIND_MAX] = {
#define COUNTER_KIND(kind, check_, least_, words_, source) [KIND_##kind] = {check_, least_, words_},
#include "counter-kinds.def"
};

/* The patterns are in the rows: pointers to them the dynamic linker would write in each process. */
static const struct {
	char pattern[79];
	uint8_t kind;
} names[] = {
#define COUNTER_OF(kind_, pattern_) {#pattern_, KIND_##kind_},
#include "counter-kinds.def"
};

/* What a tick of port_xmit_wait is, in bits of the link: NVIDIA says so of its adapters. */
#define TICK_BITS    64
#define WAIT_COUNTER "port_xmit_wait"
/* A RoCE link was found to have lost 22 % of its time to pauses, and a check that its users had
 * would have said so (NVIDIA daqiri). */
#define WAIT_SHARE 0.2
/* NVIDIA's bring-up procedure for clusters: a symbol error ratio of 5e-15 is a warning, and of
 * 1e-14 an error. */
#define SYMBOLS_WARNING	 5e-15
#define SYMBOLS_CRITICAL 1e-14
#define SYMBOL_COUNTER	 "symbol_error"
/* What mlx5 and bnxt_re count of Ethernet: symbols that error correction could not correct, or that
 * it did not look at. Linux says of it that traffic is lost then, and to replace the cable; IEEE
 * 802.3 allows one bit of 1e12. */
#define SYMBOL_COUNTER_MLX5 "rx_pcs_symbol_err_phy"
#define SYMBOL_COUNTER_BNXT "rx_pcs_symbol_err"
#define SYMBOLS_ETHERNET    1e-12
/* A link that trains anew carries nothing meanwhile. Two that did not come back by themselves in a
 * day are a warning to NVIDIA (see FLAP_LIMIT), five that did in a minute are one to its monitor of
 * GPU clusters (NVSentinel): two in an hour stand between. Of overruns more than two in an hour are
 * fatal to that monitor, and of errors above their threshold one is. */
#define RARE_LEAST 2
#define RARE_USEC  (3600 * USEC_PER_SEC)

/* What is too much twice in an hour. These counters have four or eight bits, and stand still when
 * they are full: at a rate in a second they would not last for one reading. */
typedef struct Rare {
	const char *name, *says;
	bool is_down; /* it counts what the history has seen too */
	/* On Omni-Path it counts what the link has sent again by itself (hfi1: C_DC_RX_REPLAY), of
	 * which Cornelis says that it can be ignored, but for rates that nobody has published. */
	bool is_replay;
} Rare;

static const Rare retraining[] = {
	{"link_error_recovery", "the link has recovered from errors", false, false},
	{"local_link_integrity_errors", "the link has had too many errors at once", false, true},
	{"link_downed", "the link went down without being seen", true, false},
	{"link_down_events_phy", "the link went down without being seen", true, false},
	{"link_down_events", "the link went down without being seen", true, false},
	{"link_down_events.nic", "the link went down without being seen", true, false},
};

static const Rare overruns[] = {
	{"excessive_buffer_overrun_errors", "packets are lost: buffers have overrun", false, false},
};

/* mlx5: what it gets has waited for the machine for so long that it has warned of that, or gives up
 * to pause the switch and discards it. */
static const Rare stalls[] = {
	{"tx_pause_storm_warning_events", "the adapter has stalled", false, false},
	{"tx_pause_storm_error_events", "the adapter has stalled", false, false},
};

/* The two samples of a port. */
typedef struct Interval {
	const Sample *now, *before;
	double seconds;
} Interval;

static bool make_interval(const Sample *before, const Sample *now, Interval *ret)
{
	if (!before || !now || now->monotonic_usec <= before->monotonic_usec)
		return false;
	*ret = (Interval){now, before,
			  (double)(now->monotonic_usec - before->monotonic_usec) /
				  (double)USEC_PER_SEC};
	return true;
}

/* Whether programs can move data on PORT, or its driver does not say so. */
static bool is_usable(const Object *port)
{
	return !object_is_stale(port) &&
	       (object_is_active(port) || !object_value(port, PORT_ATTR_state));
}

/* The samples of the port that the run looks at, as old as CheckAsk.counters_before() says; false:
 * there are not two, and nothing is known. */
static bool find_interval(const CheckRun *r, uint64_t most_usec, Interval *ret)
{
	const Sample *before;
	const char *why;

	if (!r->ask.counters || !r->ask.counters_before || !is_usable(r->port) ||
	    check_is_ignored(r, r->check->name))
		return false;
	before = r->ask.counters_before(r->ask.userdata, r->port, most_usec);
	return before &&
	       make_interval(before, r->ask.counters(r->ask.userdata, r->port, &why), ret);
}

bool check_uses_counter(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (fnmatch(names[i].pattern, name, FNM_EXTMATCH) == 0)
			return true;
	return streq(name, WAIT_COUNTER) || streq(name, SYMBOL_COUNTER) ||
	       streq(name, SYMBOL_COUNTER_MLX5) || streq(name, SYMBOL_COUNTER_BNXT) ||
	       array_find(retraining, ARRAY_SIZE(retraining), name, name) ||
	       array_find(overruns, ARRAY_SIZE(overruns), name, name) ||
	       array_find(stalls, ARRAY_SIZE(stalls), name, name);
}

static bool is_of_kind(const char *name, unsigned int kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].kind == kind && fnmatch(names[i].pattern, name, FNM_EXTMATCH) == 0)
			return true;
	return false;
}

/* The counter of KIND that grows the most, and how much in a second; NULL: none does. One that
 * another one counts too, in another way, is not added. */
static const char *find_fastest(const Interval *in, unsigned int kind, double *ret_rate)
{
	const char *fastest = NULL;

	*ret_rate = 0;
	for (size_t i = 0; i < in->now->counters.n; i++) {
		const Value *c = &in->now->counters.items[i];
		double rate;

		/* few counters grow, and the patterns take longer */
		if (!sample_rate(in->now, in->before, c, &rate) || rate <= *ret_rate ||
		    !is_of_kind(counter_member(c, MEMBER_NAME), kind))
			continue;
		*ret_rate = rate;
		fastest = counter_member(c, MEMBER_NAME);
	}
	return fastest;
}

/* Whether NAME, which has grown by RATE in a second, did so by LEAST or more before *IN too, which
 * is found anew. A peer that has crashed leaves packets without acknowledgement for a minute; those
 * that are lost on the way are lost again and again. */
static bool goes_on(const CheckRun *r, Interval *in, const char *name, double rate, double least)
{
	double seconds = in->seconds, all = rate;
	const Value *c;
	bool is = true;

	if (find_interval(r, (uint64_t)(4 * seconds * (double)USEC_PER_SEC), in) &&
	    in->seconds > seconds && (c = sample_find_name(in->now, name)) &&
	    sample_rate(in->now, in->before, c, &all))
		is = all * in->seconds - rate * seconds >= least * (in->seconds - seconds);
	return find_interval(r, 0, in) && is;
}

/* Adds to TEXT, of SIZE bytes, what of CHECK was more than may be. */
static void gather(const CheckRun *r, Interval *in, RateCheck check, char *text, size_t size)
{
	for (unsigned int kind = 0; kind < _KIND_MAX; kind++) {
		size_t used = strlen(text);
		const char *name;
		double rate;

		if (kinds[kind].check != check)
			continue;
		name = find_fastest(in, kind, &rate);
		if (name && rate >= kinds[kind].least &&
		    (kind != KIND_TIMEOUT || goes_on(r, in, name, rate, kinds[kind].least)))
			snprintf(text + used, size - used, "%s%.0f %s (%.48s)",
				 used > 0 ? ", " : "", rate, kinds[kind].words, name);
	}
}

static void look_at_rates(CheckRun *r, RateCheck check, const char *says)
{
	char text[384] = "";
	Interval in;

	if (!r->ask.counters_before)
		check_find_published(r);
	if (!find_interval(r, 0, &in))
		return;
	gather(r, &in, check, text, sizeof(text));
	if (*text)
		check_find(r, NULL, "%s: %s in a second, over %.0f s", says, text, in.seconds);
}

/* How often what X counts has happened in IN, as far as nothing else tells of it. */
static double count_rare(const CheckRun *r, const Interval *in, const Rare *x)
{
	const Value *c = sample_find_name(in->now, x->name);
	double rate, n;

	if (!c || !sample_rate(in->now, in->before, c, &rate) ||
	    (x->is_replay && streq(object_text(r->port, PORT_ATTR_protocol), "opa")))
		return 0;
	n = rate * in->seconds;
	return x->is_down ? n - (double)check_count_downs(r, in->before->realtime_usec) : n;
}

/* Whether what has happened COUNT times in IN is too much in an hour. */
static bool is_too_often(const Interval *in, double count)
{
	const double hour = (double)RARE_USEC / (double)USEC_PER_SEC;

	return count / in->seconds * MIN(in->seconds, hour) >= RARE_LEAST - 0.5;
}

/* Over an hour, or over two: samples are not as old as that. Finds the first of the N counters that
 * has grown too much. */
static void look_at_rare(CheckRun *r, const Rare *x, size_t n)
{
	Interval in;

	for (unsigned int times = 1; times <= 2 && find_interval(r, times * RARE_USEC, &in);
	     times++)
		for (size_t i = 0; i < n; i++) {
			double count = count_rare(r, &in, &x[i]);

			if (!is_too_often(&in, count))
				continue;
			check_find(r, NULL, "%s %.0f times in %.0f s (%s)", x[i].says, count,
				   in.seconds, x[i].name);
			return;
		}
}

void look_for_loss(CheckRun *r)
{
	look_at_rates(r, LOSS, "packets are lost");
	look_at_rare(r, overruns, ARRAY_SIZE(overruns));
}

void look_for_pauses(CheckRun *r)
{
	look_at_rates(r, PAUSED, "the link is paused");
	look_at_rare(r, stalls, ARRAY_SIZE(stalls));
}

/* By how much the counter NAME has grown in a second, as a part of what the link can carry; 0 if
 * that is not known. */
static double find_share(const CheckRun *r, const Interval *in, const char *name)
{
	const Value *rate = object_value(r->port, PORT_ATTR_rate);
	const Value *c = sample_find_name(in->now, name);
	double growth;

	if (!c || !rate || rate->type != VALUE_UNSIGNED || rate->number == 0 ||
	    !sample_rate(in->now, in->before, c, &growth))
		return 0;
	return growth / (double)rate->number;
}

void look_for_congestion(CheckRun *r)
{
	Interval in;
	double share;

	look_at_rates(r, CONGESTED, "the fabric is congested");
	if (!find_interval(r, 0, &in))
		return;
	share = find_share(r, &in, WAIT_COUNTER) * TICK_BITS;
	if (share >= WAIT_SHARE)
		check_find(r, NULL,
			   "the port had to wait with what it had to send for %.0f %% of the time, "
			   "over %.0f s (port_xmit_wait)",
			   100 * MIN(share, 1.0), in.seconds);
}

static bool is_ethernet(const Object *port)
{
	return streq(object_text(port, PORT_ATTR_link_layer), "ethernet");
}

/* The symbol error ratio over the last TIMES times that a ratio that is a warning needs, or as long
 * as the link has been up; 0 if that is not known. While a link trains, errors are normal. */
static double find_ratio(const CheckRun *r, unsigned int times, Interval *ret)
{
	const Value *since = object_value(r->port, PORT_ATTR_state_change);
	const Value *rate = object_value(r->port, PORT_ATTR_rate);
	double usec, ratio;

	if (!object_is_active(r->port) || !since || since->type != VALUE_UNSIGNED || !rate ||
	    rate->type != VALUE_UNSIGNED || rate->number == 0 || since->number > r->now_usec)
		return 0;
	usec = times * ERRORS_LEAST / SYMBOLS_WARNING / (double)rate->number * USEC_PER_SEC;
	usec = MIN(usec, (double)(r->now_usec - since->number));
	if (!find_interval(r, (uint64_t)usec, ret) || since->number > ret->before->realtime_usec)
		return 0;
	ratio = is_ethernet(r->port) ? MAX(find_share(r, ret, SYMBOL_COUNTER_MLX5),
					   find_share(r, ret, SYMBOL_COUNTER_BNXT))
				     : find_share(r, ret, SYMBOL_COUNTER);
	return ratio * ret->seconds * (double)rate->number >= ERRORS_LEAST - 0.5 ? ratio : 0;
}

/* Finds a symbol error ratio from LEAST on, and below MOST: one that goes on in the longer
 * interval, and one that has begun in the shorter. */
static void look_at_symbols(CheckRun *r, double least, double most)
{
	Interval in[2];
	double ratios[2];
	double bits, lower, upper;
	bool later;

	if (!r->ask.counters_before) {
		check_find_published(r);
		return;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(in); i++)
		ratios[i] = find_ratio(r, i + 1, &in[i]);
	later = ratios[1] >= ratios[0];
	if (ratios[later] < least || ratios[later] >= most)
		return;
	bits = in[later].seconds * (double)object_number(r->port, PORT_ATTR_rate);
	poisson_bounds((uint64_t)llround(ratios[later] * bits), &lower, &upper);
	check_find(r, NULL,
		   "one of %.1e bits is a symbol error, over %.0f s; with 95 %% confidence one of "
		   "%.1e to %.1e",
		   1 / ratios[later], in[later].seconds, bits / upper, bits / lower);
}

/* On Ethernet all that are too many are critical. */
static double critical_ratio(const Object *port)
{
	return is_ethernet(port) ? SYMBOLS_ETHERNET : SYMBOLS_CRITICAL;
}

void look_for_symbol_errors(CheckRun *r)
{
	if (!is_ethernet(r->port))
		look_at_symbols(r, SYMBOLS_WARNING, SYMBOLS_CRITICAL);
}

void look_for_many_symbol_errors(CheckRun *r)
{
	look_at_symbols(r, critical_ratio(r->port), 1);
}

/* Finds that the PHY has lost the link, by its own count, since the port is active: whoever has
 * seen that knows of a time when it was not. While a link comes up it may be lost a few times. A
 * port that is a bond stays active with its other members, and another check looks at these. */
static void look_at_phy(CheckRun *r)
{
	const Attribute *row = &port_attributes[PORT_ATTR_phy_link_downs];

	if (check_is_in_use(r) && !*object_text(r->port, PORT_ATTR_bond) &&
	    !check_is_expected(r, row))
		check_find_growth(r, r->port, row, FLAP_LIMIT,
				  object_number(r->port, PORT_ATTR_state_change) + r->settle_usec,
				  "while the port was active, its PHY has lost the link", " times");
}

void look_for_retraining(CheckRun *r)
{
	if (!r->ask.counters_before)
		check_find_published(r);
	look_at_rare(r, retraining, ARRAY_SIZE(retraining));
	look_at_phy(r);
}

/* Whether a check of this end would find that COUNTER, which has grown by RATE in a second, has
 * done so too much. */
static bool is_too_much(const CheckRun *r, const Interval *in, const char *counter, double rate)
{
	double n = rate * in->seconds;

	if (streq(counter, SYMBOL_COUNTER))
		return find_share(r, in, counter) >= SYMBOLS_WARNING && n >= ERRORS_LEAST - 0.5;
	if (is_of_kind(counter, KIND_DISCARD))
		return rate >= kinds[KIND_DISCARD].least;
	return (array_find(retraining, ARRAY_SIZE(retraining), name, counter) ||
		array_find(overruns, ARRAY_SIZE(overruns), name, counter)) &&
	       is_too_often(in, n);
}

/* As find_interval(), of the port at the other end. What counted before the link came up was
 * perhaps another port, and while a link trains, errors are normal. */
static bool find_far_interval(const CheckRun *r, uint64_t most_usec, Interval *ret)
{
	const Sample *before = r->ask.far_counters_before(r->ask.userdata, r->port, most_usec);
	uint64_t since;

	return before && check_number(r->port, PORT_ATTR_state_change, &since) &&
	       since <= before->realtime_usec &&
	       make_interval(before, r->ask.far_counters(r->ask.userdata, r->port), ret);
}

/* Writes which counters have grown too much in FAR, and not at all in OWN. */
static void gather_far_errors(const CheckRun *r, const Interval *far, const Interval *own,
			      char *text, size_t size)
{
	*text = '\0';
	for (size_t i = 0; i < far->now->counters.n; i++) {
		const Value *there = &far->now->counters.items[i];
		const char *name = counter_member(there, MEMBER_NAME);
		const Value *here = sample_find_name(own->now, name);
		size_t used = strlen(text);
		double rate, own_rate;

		/* a counter that is full stands still */
		if (here && !counter_is(here, "saturated") &&
		    sample_rate(far->now, far->before, there, &rate) &&
		    is_too_much(r, far, name, rate) &&
		    sample_rate(own->now, own->before, here, &own_rate) && own_rate <= 0)
			snprintf(text + used, size - used, "%s%.48s by %.0f", used > 0 ? ", " : "",
				 name, rate * far->seconds);
	}
}

/* Over the shortest interval that is known, and over an hour and two: as at this end. */
void look_for_far_errors(CheckRun *r)
{
	char text[384] = "", name[OTHER_END_MAX];
	Interval far, own;

	if (!r->ask.far_counters_before) {
		check_find_published(r);
		return;
	}
	for (uint64_t times = 0; times <= 2 && !*text; times++) {
		if (!find_far_interval(r, times * RARE_USEC, &far) ||
		    !find_interval(r, (uint64_t)(far.seconds * (double)USEC_PER_SEC), &own))
			return;
		gather_far_errors(r, &far, &own, text, sizeof(text));
	}
	if (*text)
		check_find(r, NULL, "errors are at %s only: %s, in %.0f s",
			   check_other_end(r->port, name), text, far.seconds);
}
