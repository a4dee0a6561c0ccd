/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "env-rails.h"

#include <fnmatch.h>
#include <unistd.h>

#include "decode.h"
#include "gpus.h"
#include "unavailable.h"

void rails_done(Rails *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->items[i].reason);
	free(r->items);
	for (size_t i = 0; i < r->n_found; i++)
		found_paths_done(&r->found[i]);
	free(r->found);
	found_paths_done(&r->with_v4);
	found_paths_done(&r->with_v6);
	selection_done(&r->selection);
}

static bool has_name(const Object *port, PortAttr a, uint32_t value)
{
	return streq(object_text(port, a), decode_name(port_attributes[a].type, value));
}

/* The GIDs of a rail */

/* An entry of a GID table. */
typedef struct Entry {
	GidChoice choice;
	const char *netdev;
} Entry;

static bool read_entry(const Object *port, const Value *v, Entry *ret)
{
	const Value *m = v->items, *tail;
	char buffer[24];

	*ret = (Entry){};
	if (v->type != VALUE_STRUCT || v->n < 4 || m[0].type != VALUE_UNSIGNED ||
	    gid_parse(value_text(&m[1]), ret->choice.gid) < 0)
		return false;
	tail = &m[v->n - 1];
	ret->choice.index = (uint32_t)m[0].number;
	for (uint32_t t = 0; t < _GID_TYPE_MAX; t++)
		if (streq(value_text(&m[2]), gid_type_name(t, buffer)))
			ret->choice.type = t;
	ret->netdev = value_text(&m[3]);
	ret->choice.where = gid_where(
		ret->netdev, (uint32_t)value_number(value_lookup(tail, "VlanId")),
		*value_text(value_lookup(tail, "Namespace")) ? GID_NAMESPACE_OTHER
							     : GID_NAMESPACE_OWN,
		object_text(port, PORT_ATTR_netdev), object_text(port, PORT_ATTR_netdev_master));
	return true;
}

/* The entry behind *AT; false: there is none. */
static bool next_entry(const Rail *r, size_t *at, Entry *ret)
{
	const Value *gids = object_value(r->port, PORT_ATTR_gids);

	while (gids && gids->type == VALUE_ARRAY && *at < gids->n)
		if (read_entry(r->port, &gids->items[(*at)++], ret))
			return true;
	return false;
}

/* Whether one of the GIDs of R belongs to NETDEV. */
static bool has_gid_on(const Rail *r, const char *netdev)
{
	Entry e;

	for (size_t at = 0; next_entry(r, &at, &e);)
		if (streq(e.netdev, netdev))
			return true;
	return false;
}

/* The interface to which the GIDs of R must belong; NULL: any. The interface of the port itself
 * has none if they are all on its bond. */
static const char *wanted_netdev(const Rail *r)
{
	if (!*r->named_netdev || r->named_index != UINT32_MAX ||
	    (streq(r->named_netdev, object_text(r->port, PORT_ATTR_netdev)) &&
	     !has_gid_on(r, r->named_netdev)))
		return NULL;
	return r->named_netdev;
}

/* Whether a program may use E of R. */
static bool is_allowed(const Rail *r, const char *netdev, const Entry *e)
{
	if (r->named_index != UINT32_MAX && e->choice.index != r->named_index)
		return false;
	return e->choice.where != GID_WHERE_NAMESPACE && (!netdev || streq(netdev, e->netdev));
}

/* NULL: the rail has a GID, the best of which is in it now. Else why not. */
static const char *find_gid(Rail *r, char buffer[256])
{
	const char *netdev = wanted_netdev(r);
	bool elsewhere = false;
	Entry e;

	for (size_t at = 0; next_entry(r, &at, &e);) {
		elsewhere |=
			e.choice.index == r->named_index && e.choice.where == GID_WHERE_NAMESPACE;
		if (!is_allowed(r, netdev, &e) ||
		    (r->has_index && gid_compare(&r->gid, &e.choice) < 0))
			continue;
		r->gid = e.choice;
		r->netdev = e.netdev;
		r->has_index = true;
	}
	if (r->has_index)
		return NULL;
	if (elsewhere)
		return "the address is in another network namespace: run env there";
	if (!netdev)
		return "it has no GID";
	snprintf(buffer, 256, "it has no GID on %s", netdev);
	return buffer;
}

/* Whether R has a GID with INDEX that is as good as its best one; then it is in *RET. */
static bool has_equal(const Rail *r, uint32_t index, Entry *ret)
{
	const char *netdev = wanted_netdev(r);
	Entry e;

	for (size_t at = 0; next_entry(r, &at, &e);)
		if (e.choice.index == index && is_allowed(r, netdev, &e) &&
		    gid_compare_kind(&e.choice, &r->gid) == 0) {
			*ret = e;
			return true;
		}
	return false;
}

static bool uses_index(const Rail *r)
{
	return !r->reason && r->has_index;
}

bool rails_agree_on_index(const Rails *r)
{
	const Rail *first = NULL;

	for (size_t i = 0; i < r->n; i++) {
		if (!uses_index(&r->items[i]))
			continue;
		if (first && first->gid.index != r->items[i].gid.index)
			return false;
		first = first ? first : &r->items[i];
	}
	return true;
}

static bool all_have(const Rails *r, uint32_t index)
{
	Entry e;

	for (size_t i = 0; i < r->n; i++)
		if (uses_index(&r->items[i]) && !has_equal(&r->items[i], index, &e))
			return false;
	return true;
}

/* A library takes one index for all ports. Each may have another one that is as good as its best:
 * an index that is good for all is taken, the lowest of them. */
static void find_common_index(Rails *r)
{
	const Rail *first = NULL;
	uint32_t best = UINT32_MAX;
	Entry e;

	for (size_t i = 0; i < r->n && !first; i++)
		first = uses_index(&r->items[i]) ? &r->items[i] : NULL;
	if (!first || rails_agree_on_index(r))
		return;
	for (size_t at = 0; next_entry(first, &at, &e);)
		if (e.choice.index < best && all_have(r, e.choice.index))
			best = e.choice.index;
	for (size_t i = 0; best != UINT32_MAX && i < r->n; i++)
		if (uses_index(&r->items[i]) && has_equal(&r->items[i], best, &e)) {
			r->items[i].gid = e.choice;
			r->items[i].netdev = e.netdev;
		}
}

/* The P_Keys of a rail */

/* Reads the entry I of the P_Keys of R. False: R is no full member, or W wants another one. */
static bool read_pkey(const Rail *r, const RailWish *w, size_t i, uint32_t *ret_index,
		      uint32_t *ret_pkey)
{
	const Value *entry = &object_value(r->port, PORT_ATTR_pkeys)->items[i];
	const Value *m = entry->items;

	if (entry->type != VALUE_STRUCT || entry->n < 2 || m[0].type != VALUE_UNSIGNED ||
	    m[1].type != VALUE_UNSIGNED)
		return false;
	*ret_index = (uint32_t)m[0].number;
	*ret_pkey = (uint32_t)m[1].number;
	return (*ret_pkey & 0x8000) && (!w->has_pkey || (*ret_pkey & 0x7fff) == w->pkey);
}

static size_t count_pkeys(const Rail *r)
{
	const Value *pkeys = object_value(r->port, PORT_ATTR_pkeys);

	return pkeys && pkeys->type == VALUE_ARRAY ? pkeys->n : 0;
}

/* Gives R the P_Key with the lowest index of those that are PKEY, 0: any. False: there is none. */
static bool find_pkey(Rail *r, const RailWish *w, uint32_t pkey)
{
	uint32_t index, found, lowest = UINT32_MAX;

	for (size_t i = 0; i < count_pkeys(r); i++)
		if (read_pkey(r, w, i, &index, &found) && (!pkey || found == pkey) &&
		    index < lowest) {
			lowest = index;
			r->has_pkey = true;
			r->pkey = found;
			r->pkey_index = index;
		}
	return lowest != UINT32_MAX;
}

static bool uses_pkey(const Rail *r)
{
	return !r->reason && r->infiniband && r->has_pkey;
}

/* Whether all rails are full members of PKEY, by INDEX if the library is told that. */
static bool all_have_pkey(const Rails *r, const RailWish *w, uint32_t index, uint32_t pkey)
{
	for (size_t i = 0; i < r->n; i++) {
		Rail rail = r->items[i];

		if (uses_pkey(&rail) &&
		    (!find_pkey(&rail, w, pkey) || (w->pkey_by_index && rail.pkey_index != index)))
			return false;
	}
	return true;
}

/* A library takes one P_Key for all ports. The first that is right for all is taken, though it is
 * not the first one of each. */
static void find_common_pkey(Rails *r, const RailWish *w)
{
	const Rail *first = NULL;
	uint32_t index, pkey;

	for (size_t i = 0; i < r->n && !first; i++)
		first = uses_pkey(&r->items[i]) ? &r->items[i] : NULL;
	for (size_t k = 0; first && k < count_pkeys(first); k++) {
		if (!read_pkey(first, w, k, &index, &pkey) || !all_have_pkey(r, w, index, pkey))
			continue;
		for (size_t i = 0; i < r->n; i++)
			if (uses_pkey(&r->items[i]))
				(void)find_pkey(&r->items[i], w, pkey);
		return;
	}
}

/* The reasons to leave a rail out */

/* Says in which way R is not as the command line asks. NULL: in none. */
static const char *find_unwanted(const Rail *r, const RailWish *w, char buffer[256])
{
	const char *layer = object_text(r->port, PORT_ATTR_link_layer);
	const char *model = object_text(r->device, DEVICE_ATTR_hca_type);

	if (w->rate && r->rate < w->rate) {
		snprintf(buffer, 256, "its rate is %.6g Gb/s", (double)r->rate / 1e9);
	} else if (w->link_layer && strcasecmp(layer, w->link_layer) != 0) {
		snprintf(buffer, 256, "its link layer is %s", layer);
	} else if (w->model && fnmatch(w->model, model, FNM_CASEFOLD) != 0 &&
		   fnmatch(w->model, object_text(r->device, DEVICE_ATTR_board_id), FNM_CASEFOLD) !=
			   0) {
		snprintf(buffer, 256, "its model is %s", *model ? model : "not known");
	} else if (w->has_pkey && !r->has_pkey) {
		snprintf(buffer, 256, "it is no full member of P_Key 0x%04x", w->pkey | 0x8000);
	} else {
		return NULL;
	}
	return buffer;
}

/* Whether the state of R is such that programs can use it: EFA has none that the driver measures.
 */
static bool is_usable(const Rail *r)
{
	return r->efa || object_is_active(r->port);
}

/* Why no program can use the port now. NULL: nothing is known. */
static const char *find_trouble(const Rails *rails, const Rail *r, bool local, char buffer[256])
{
	const char *closed = object_verbs_obstacle(r->port);
	const char *state = object_text(r->port, PORT_ATTR_state);
	const char *node = r->device ? object_uverbs_node(r->device) : "";

	if (object_list_is_plane(&rails->selection.objects, r->port))
		return "it is a plane of another device";
	if (object_is_stale(r->port))
		return "it is stale";
	if (!is_usable(r))
		snprintf(buffer, 256, "its state is %s", *state ? state : "not known");
	else if (closed)
		snprintf(buffer, 256, "rdmad cannot use verbs on it (%s)",
			 unavailable_text(closed));
	/* ask the file system and do not open the device: that could wait for firmware */
	else if (local && *node && access(node, R_OK | W_OK) < 0)
		snprintf(buffer, 256, "this process cannot use %s: %s", node, strerror(errno));
	else
		return NULL;
	return buffer;
}

/* The interface of a rail that has no GID with an IP address: an IPoIB interface, or one of iWARP.
 */
static const char *find_netdev(const Rails *rails, const Rail *r)
{
	const FoundPaths *const all[] = {&rails->with_v4, &rails->with_v6};
	const char *own = object_text(r->port, PORT_ATTR_netdev), *found = NULL;

	for (size_t k = 0; k < ARRAY_SIZE(all); k++)
		for (size_t i = 0; !found && i < all[k]->n; i++)
			if (streq(all[k]->items[i].path, r->port->path))
				found = all[k]->items[i].netdev;
	if (!rails->know_addresses)
		found = own;
	/* of its bond no address is known */
	if (*r->named_netdev && (found || !streq(r->named_netdev, own)))
		return r->named_netdev;
	return found ? found : "";
}

/* Why the library should not use R; NULL if it can. */
static const char *find_obstacle(const Rails *rails, const RailWish *w, Rail *r, bool local,
				 char buffer[256])
{
	const char *why = find_trouble(rails, r, local, buffer);
	const char *protocol = object_text(r->port, PORT_ATTR_protocol);

	if (!why)
		why = find_unwanted(r, w, buffer);
	if (why)
		return why;
	if (r->efa && !w->interface) {
		if (!w->without_efa)
			return NULL;
		snprintf(buffer, 256, "%s %s: see env ofi", w->title, w->without_efa);
		return buffer;
	}
	if (r->named_twice)
		return "it is named by two addresses, and programs use one";
	if (has_name(r->port, PORT_ATTR_protocol, PROTOCOL_ROCE))
		return find_gid(r, buffer);
	r->netdev = find_netdev(rails, r);
	if (w->interface || (w->iwarp && has_name(r->port, PORT_ATTR_protocol, PROTOCOL_IWARP)))
		return *r->netdev ? NULL : "none of its network interfaces has an IP address";
	if (r->infiniband)
		return NULL;
	snprintf(buffer, 256, "%s does not use %s", w->title, protocol);
	return buffer;
}

/* Of the ports that can be used, those that are nearest to the accelerator stay. */
static ExitStatus leave_nearest(Rails *r, const char *wanted)
{
	_cleanup_(gpus_done) Gpus gpus = {};
	Distance nearest = _DISTANCE_MAX;
	const Gpu *gpu;
	uint64_t hops;

	if (gpus_find(&r->selection.objects, &gpus) < 0)
		return out_of_memory();
	gpu = gpus_get(&gpus, wanted);
	if (!gpu)
		return failure(
			"env: --gpu=%s: there is no such accelerator (see rdmactl map --gpu)",
			wanted);
	for (size_t i = 0; i < r->n; i++)
		if (!r->items[i].reason)
			nearest = MIN(nearest, gpu_distance(r->items[i].device, gpu, &hops));
	for (size_t i = 0; i < r->n; i++) {
		Distance d = gpu_distance(r->items[i].device, gpu, &hops);

		if (r->items[i].reason || d == nearest)
			continue;
		if (asprintf(&r->items[i].reason, "its way to %s is %s, and that of others %s",
			     gpu->address, d < _DISTANCE_MAX ? distance_name(d) : "not known",
			     distance_name(nearest)) < 0) {
			r->items[i].reason = NULL;
			return out_of_memory();
		}
	}
	return STATUS_OK;
}

/* The rate of all ports of one link layer together. */
static uint64_t sum_rates(const Rails *r, bool infiniband, size_t *ret_n)
{
	uint64_t sum = 0;

	*ret_n = 0;
	for (size_t i = 0; i < r->n; i++)
		if (!r->items[i].reason && r->items[i].infiniband == infiniband) {
			sum += r->items[i].rate;
			(*ret_n)++;
		}
	return sum;
}

/* No library joins ports of two link layers: those with the most bandwidth stay. */
static ExitStatus leave_one_link_layer(Rails *r)
{
	size_t n_ib, n_other;
	uint64_t ib = sum_rates(r, true, &n_ib), other = sum_rates(r, false, &n_other);
	bool keep_ib = ib != other ? ib > other : n_ib >= n_other;

	for (size_t i = 0; n_ib && n_other && i < r->n; i++) {
		Rail *rail = &r->items[i];
		const char *layer = object_text(rail->port, PORT_ATTR_link_layer);

		if (rail->reason || rail->infiniband == keep_ib)
			continue;
		if (asprintf(&rail->reason, "its link layer is %s (see --link-layer)", layer) < 0) {
			rail->reason = NULL;
			return out_of_memory();
		}
	}
	return STATUS_OK;
}

/* Reading */

static void name_rail(Rail *r, uint32_t index, const char *netdev)
{
	if (index != UINT32_MAX && r->named_index != UINT32_MAX && index != r->named_index)
		r->named_twice = true;
	if (index != UINT32_MAX || r->named_index == UINT32_MAX) {
		r->named_index = index;
		r->named_netdev = *netdev ? netdev : r->named_netdev;
	}
}

/* Which GIDs and interfaces of the ports the arguments name. */
static ExitStatus read_names(Context *c, Rails *r)
{
	r->found = calloc(c->n_arguments + 1, sizeof(*r->found));
	if (!r->found)
		return out_of_memory();
	for (unsigned int i = 0; i < c->n_arguments; i++) {
		_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
		FoundPaths *f = &r->found[r->n_found];
		int e;

		if (object_is_pattern(c->arguments[i]))
			continue;
		e = ports_find(c->bus, c->arguments[i], NULL, f, &error);
		if (e < 0)
			return bus_complain(c->arguments[i], &error, e);
		r->n_found++;
		for (size_t k = 0; k < f->n; k++)
			for (size_t p = 0; p < r->n; p++)
				if (streq(r->items[p].port->path, f->items[k].path))
					name_rail(&r->items[p], f->items[k].gid,
						  f->items[k].netdev);
	}
	return STATUS_OK;
}

/* The interfaces of ports that have no GID with an address; those of RoCE have. More ports than one
 * answer has are no reason to fail: their interfaces are not known then. */
static void read_addresses(Context *c, Rails *r)
{
	size_t n_roce = 0;

	for (size_t i = 0; i < r->n; i++)
		n_roce += has_name(r->items[i].port, PORT_ATTR_protocol, PROTOCOL_ROCE);
	if (n_roce == r->n)
		return;
	r->know_addresses = ports_find(c->bus, "0.0.0.0/0", "subnet", &r->with_v4, NULL) == 0 &&
			    ports_find(c->bus, "::/0", "subnet", &r->with_v6, NULL) == 0;
}

static void describe(const Rails *r, size_t i, const RailWish *w, Rail *ret)
{
	const Object *port = r->selection.ports[i];
	const Object *device = selection_device(&r->selection, port);

	*ret = (Rail){
		.port = port,
		.device = device,
		.efa = streq(object_text(device, DEVICE_ATTR_driver), "efa"),
		.named_index = UINT32_MAX,
		.named_netdev = "",
		.netdev = "",
		.infiniband = has_name(port, PORT_ATTR_link_layer, LINK_LAYER_INFINIBAND),
		.rate = object_number(port, PORT_ATTR_rate),
	};
	(void)find_pkey(ret, w, 0);
}

static ExitStatus examine(Rails *r, const RailWish *w, bool local)
{
	for (size_t i = 0; i < r->n; i++) {
		char buffer[256];
		const char *obstacle = find_obstacle(r, w, &r->items[i], local, buffer);

		if (obstacle && !(r->items[i].reason = strdup(obstacle)))
			return out_of_memory();
	}
	if (w->gpu) {
		ExitStatus status = leave_nearest(r, w->gpu);

		if (status != STATUS_OK)
			return status;
	}
	return leave_one_link_layer(r);
}

ExitStatus rails_read(Context *c, const RailWish *w, Rails *ret, ExitStatus *ret_missing)
{
	ExitStatus status =
		selection_read(c, SELECTION_PLANES | SELECTION_OTHERS, NULL, &ret->selection);

	if (status != STATUS_OK)
		return status;
	*ret_missing = selection_complain(&ret->selection);
	ret->items = calloc(ret->selection.n + 1, sizeof(*ret->items));
	if (!ret->items)
		return out_of_memory();
	for (; ret->n < ret->selection.n; ret->n++)
		describe(ret, ret->n, w, &ret->items[ret->n]);
	status = read_names(c, ret);
	if (status != STATUS_OK)
		return status;
	read_addresses(c, ret);
	status = examine(ret, w, bus_is_local(c));
	if (status != STATUS_OK)
		return status;
	find_common_index(ret);
	find_common_pkey(ret, w);
	for (size_t i = 0; i < ret->n; i++)
		ret->n_used += !ret->items[i].reason;
	return STATUS_OK;
}

/* Of more ports that are left out for one reason there is one line, which names some of them. */
#define LINES_MOST 8U
#define NAMES_MOST 3U

/* The next rail from I on that is left out because of REASON; rails.n: none is. */
static size_t find_left_out(const Rails *rails, size_t i, const char *reason)
{
	while (i < rails->n && !(rails->items[i].reason && streq(rails->items[i].reason, reason)))
		i++;
	return i;
}

/* How many are left out because of REASON: MOST, or fewer. */
static size_t count_left_out(const Rails *rails, const char *reason, size_t most)
{
	size_t n = 0, i = 0;

	for (; n < most && (i = find_left_out(rails, i, reason)) < rails->n; i++)
		n++;
	return n;
}

static void print_names(const Rails *rails, FILE *f, const char *reason)
{
	size_t n = count_left_out(rails, reason, SIZE_MAX), i = 0;
	char name[96];

	for (size_t k = 0; k < NAMES_MOST; k++, i++) {
		i = find_left_out(rails, i, reason);
		fprintf(f, "%s%s", k ? ", " : "", object_name(rails->items[i].port, name));
	}
	fprintf(f, " and %zu more", n - NAMES_MOST);
}

void rails_print_left_out(const Rails *rails, FILE *f)
{
	char name[96];

	for (size_t i = 0; i < rails->n; i++) {
		const char *reason = rails->items[i].reason;
		bool is_many = reason && count_left_out(rails, reason, LINES_MOST + 1) > LINES_MOST;

		if (!reason || (is_many && find_left_out(rails, 0, reason) < i))
			continue;
		fputs("# without ", f);
		if (is_many)
			print_names(rails, f, reason);
		else
			fputs(object_name(rails->items[i].port, name), f);
		fprintf(f, ": %s\n", reason);
	}
}
