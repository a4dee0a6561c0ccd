/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "env-rails.h"

#include <fnmatch.h>
#include <stdarg.h>
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

/* Whether the subnet manager has not given PORT, one of InfiniBand, a LID; 0xffff is none. */
static bool has_no_lid(const Object *port)
{
	uint64_t lid = object_number(port, PORT_ATTR_lid);

	return object_value(port, PORT_ATTR_lid) && (lid == 0 || lid == UINT16_MAX);
}

/* Why no value of W's library can hold NAME; NULL: each can. */
static const char *find_misread(const RailWish *w, const char *name, char buffer[256])
{
	size_t at =
		*name == '^' && w->library->excludes ? 0 : strcspn(name, w->library->separators);

	if (!name[at])
		return NULL;
	snprintf(buffer, 256, "%s reads \"%c\" in %s as something else", w->library->title,
		 name[at], name);
	return buffer;
}

/* Why the library cannot be told of R by its name. */
static const char *find_unnamed(const RailWish *w, const Rail *r, char buffer[256])
{
	char name[96];

	if (w->library->name_most && strlen(object_name(r->port, name)) > w->library->name_most) {
		snprintf(buffer, 256, "its name is too long for %s", w->library->title);
		return buffer;
	}
	return w->library->interface ? NULL
				     : find_misread(w, object_text(r->port, PORT_ATTR_device_name),
						    buffer);
}

/* Why the library should not use R; NULL if it can. */
static const char *find_obstacle(const Rails *rails, const RailWish *w, Rail *r, bool local,
				 char buffer[256])
{
	const Library *l = w->library;
	const char *why = find_trouble(rails, r, local, buffer);
	const char *protocol = object_text(r->port, PORT_ATTR_protocol);
	bool is_roce;

	if (!why)
		why = find_unwanted(r, w, buffer);
	if (!why)
		why = find_unnamed(w, r, buffer);
	if (why)
		return why;
	if (r->efa && !l->interface) {
		if (!l->without_efa)
			return NULL;
		snprintf(buffer, 256, "%s %s: see env ofi", l->title, l->without_efa);
		return buffer;
	}
	if (r->named_twice)
		return "it is named by two addresses, and programs use one";
	is_roce = has_name(r->port, PORT_ATTR_protocol, PROTOCOL_ROCE);
	if (is_roce)
		why = rail_find_gid(r, buffer);
	else
		text_copy(r->netdev, sizeof(r->netdev), find_netdev(rails, r));
	if (!why && streq(r->netdev, "lo"))
		why = "its network interface is the loopback, which reaches no other machine";
	if (!why && (l->interface || l->by_address))
		why = find_misread(w, r->netdev, buffer);
	if (why || is_roce)
		return why;
	if (l->interface || (l->iwarp && has_name(r->port, PORT_ATTR_protocol, PROTOCOL_IWARP)))
		return *r->netdev ? NULL : "none of its network interfaces has an IP address";
	if (r->infiniband)
		return has_no_lid(r->port) ? "it has no LID" : NULL;
	snprintf(buffer, 256, "%s does not use %s", l->title, protocol);
	return buffer;
}

bool rail_is_link_local(const Rail *r)
{
	return r->has_index && gid_is_link_local(r->gid.gid);
}

/* Leaves R out, because of what FORMAT says. */
_printf_(2, 3) static ExitStatus leave_out(Rail *r, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&r->reason, format, args);
	va_end(args);
	if (n >= 0)
		return STATUS_OK;
	r->reason = NULL;
	return out_of_memory();
}

/* A port that has lost its address, or never had one, reaches only its neighbours. Beside others it
 * breaks the job, unless that address was named. */
static ExitStatus leave_reachable(Rails *r)
{
	ExitStatus status = STATUS_OK;
	bool any = false;

	for (size_t i = 0; i < r->n; i++)
		any |= !r->items[i].reason && r->items[i].has_index &&
		       !rail_is_link_local(&r->items[i]);
	for (size_t i = 0; any && status == STATUS_OK && i < r->n; i++) {
		Rail *rail = &r->items[i];
		char address[46];

		if (rail->reason || !rail_is_link_local(rail) || rail->named_index != UINT32_MAX)
			continue;
		gid_format_address(rail->gid.gid, rail->gid.type, address);
		status = leave_out(rail,
				   "its address is link-local, and those of others are not: %s",
				   address);
	}
	return status;
}

/* Of the ports that can be used, those that are nearest to the accelerator stay. */
static ExitStatus leave_nearest(Rails *r, const char *wanted)
{
	_cleanup_(gpus_done) Gpus gpus = {};
	Distance nearest = _DISTANCE_MAX;
	ExitStatus status = STATUS_OK;
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
	for (size_t i = 0; status == STATUS_OK && i < r->n; i++) {
		Distance d = gpu_distance(r->items[i].device, gpu, &hops);

		if (!r->items[i].reason && d != nearest)
			status = leave_out(
				&r->items[i], "its way to %s is %s, and that of others %s",
				gpu->address, d < _DISTANCE_MAX ? distance_name(d) : "not known",
				distance_name(nearest));
	}
	return status;
}

/* What R is joined with: ports of one protocol, but by IP all that is Ethernet. */
static const char *fabric_of(const Rail *r, const RailWish *w)
{
	return object_text(r->port,
			   w->library->interface ? PORT_ATTR_link_layer : PORT_ATTR_protocol);
}

/* The ports that are joined with FIRST, and their rate together. */
static uint64_t sum_rates(const Rails *r, const RailWish *w, const Rail *first, size_t *ret_n)
{
	uint64_t sum = 0;

	*ret_n = 0;
	for (size_t i = 0; i < r->n; i++)
		if (!r->items[i].reason && streq(fabric_of(&r->items[i], w), fabric_of(first, w))) {
			sum += r->items[i].rate;
			(*ret_n)++;
		}
	return sum;
}

/* The first port of the fabric with the most bandwidth, or of two the one with more ports, or of
 * these InfiniBand; NULL: no port can be used. */
static const Rail *find_best_fabric(const Rails *r, const RailWish *w)
{
	const Rail *best = NULL;
	uint64_t sum, most = 0;
	size_t n, n_most = 0;

	for (size_t i = 0; i < r->n; i++) {
		const Rail *rail = &r->items[i];

		if (rail->reason || (best && streq(fabric_of(rail, w), fabric_of(best, w))))
			continue;
		sum = sum_rates(r, w, rail, &n);
		if (best && (sum != most   ? sum < most
			     : n != n_most ? n < n_most
					   : best->infiniband || !rail->infiniband))
			continue;
		best = rail;
		most = sum;
		n_most = n;
	}
	return best;
}

/* No library joins ports of two fabrics. */
static ExitStatus leave_one_fabric(Rails *r, const RailWish *w)
{
	const Rail *best = find_best_fabric(r, w);
	ExitStatus status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < r->n; i++) {
		Rail *rail = &r->items[i];
		const char *layer = object_text(rail->port, PORT_ATTR_link_layer);

		if (rail->reason || streq(fabric_of(rail, w), fabric_of(best, w)))
			continue;
		status =
			streq(layer, object_text(best->port, PORT_ATTR_link_layer))
				? leave_out(rail, "its protocol is %s, and that of others %s",
					    fabric_of(rail, w), fabric_of(best, w))
				: leave_out(rail, "its link layer is %s (see --link-layer)", layer);
	}
	return status;
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
		.infiniband = has_name(port, PORT_ATTR_link_layer, LINK_LAYER_INFINIBAND),
		.rate = object_number(port, PORT_ATTR_rate),
	};
	(void)rail_find_pkey(ret, w, 0);
}

static ExitStatus examine(Rails *r, const RailWish *w, bool local)
{
	ExitStatus status;

	for (size_t i = 0; i < r->n; i++) {
		char buffer[256];
		const char *obstacle = find_obstacle(r, w, &r->items[i], local, buffer);

		if (obstacle && !(r->items[i].reason = strdup(obstacle)))
			return out_of_memory();
	}
	status = leave_reachable(r);
	if (status == STATUS_OK && w->gpu)
		status = leave_nearest(r, w->gpu);
	return status == STATUS_OK ? leave_one_fabric(r, w) : status;
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
	for (size_t i = 0; i < ret->n; i++)
		rail_name_pkey(&ret->items[i], w);
	read_addresses(c, ret);
	status = examine(ret, w, bus_is_local(c));
	if (status != STATUS_OK)
		return status;
	rails_find_common_index(ret);
	ret->index_family = rails_index_family(ret);
	rails_find_common_pkey(ret, w);
	for (size_t i = 0; i < ret->n; i++)
		ret->n_used += !ret->items[i].reason;
	return STATUS_OK;
}

const char *rails_same_beginning(const Rails *rails, const Rail *r)
{
	const char *name = object_text(r->port, PORT_ATTR_device_name);

	for (size_t i = 0; i < rails->selection.objects.n; i++) {
		const Object *o = rails->selection.objects.items[i];
		const char *other = o->is_port ? "" : object_text(o, DEVICE_ATTR_name);

		if (!streq(other, name) && strncasecmp(other, name, strlen(name)) == 0)
			return other;
	}
	return NULL;
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
