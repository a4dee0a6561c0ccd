/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "monitor-report.h"

#include "bus.h"
#include "format.h"
#include "selection.h"

/* Watches the ports that ARGUMENT names. If there are none it is the name of a port that will come.
 */
static ExitStatus choose_ports(Report *r, const char *argument)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(found_paths_done) FoundPaths found = {};
	WatchedPort *ports;
	int e = ports_find(r->c->bus, argument, NULL, &found, &error);

	if (e < 0)
		return bus_complain(argument, &error, e);
	ports = reallocarray(r->ports, r->n_ports + found.n + 1, sizeof(*ports));
	if (!ports)
		return out_of_memory();
	r->ports = ports;
	for (size_t i = 0; i < found.n; i++) {
		ports[r->n_ports] = (WatchedPort){};
		ports[r->n_ports++].path = steal_pointer(&found.items[i].path);
	}
	return STATUS_OK;
}

ExitStatus report_choose_ports(Report *r)
{
	const Context *c = r->c;
	ExitStatus status = STATUS_OK;

	for (unsigned int i = 0; status == STATUS_OK && i < c->n_arguments; i++)
		if (!object_is_pattern(c->arguments[i]))
			status = choose_ports(r, c->arguments[i]);
	return status;
}

void report_name_ports(Report *r, const ObjectList *objects)
{
	for (size_t i = 0; i < r->n_ports && !r->is_named; i++) {
		const Object *o = object_list_find(objects, r->ports[i].path);

		if (o)
			object_name(o, r->ports[i].name);
	}
	r->is_named = true;
}

void report_done(Report *r)
{
	r->exec = exec_free(r->exec);
	for (size_t i = 0; i < r->n_ports; i++)
		free(r->ports[i].path);
	free(r->ports);
}

bool report_is_watched(const Report *r, const Object *o)
{
	char name[96];

	if (r->c->n_arguments == 0)
		return true;
	if (!o->is_port)
		return false;
	object_name(o, name);
	for (size_t i = 0; i < r->n_ports; i++)
		if (streq(r->ports[i].path, o->path) || streq(r->ports[i].name, name))
			return true;
	for (unsigned int i = 0; i < r->c->n_arguments; i++)
		if (object_matches(o, r->c->arguments[i]))
			return true;
	return false;
}

bool report_has_property(const Report *r, const Attribute *row)
{
	if (!r->properties)
		return !attr_is_bookkeeping(row);
	for (size_t i = 0; r->properties[i]; i++)
		if (streq(r->properties[i], row->name))
			return true;
	return false;
}

void report_news(Report *r, const News *news)
{
	if (!news_print(r->c, &r->date, news))
		(void)sd_event_exit(r->event, 0);
	if (r->exec)
		exec_run(r->exec, news);
}

/* Fills the parts of NEWS that depend on row I; false if it has not changed. */
static bool compare_row(const Object *was, const Object *is, size_t i, News *news)
{
	news->row = &is->rows[i];
	news->old_value = object_value(was, i);
	news->new_value = object_value(is, i);
	news->absence = object_has(is, i) ? object_unavailable_code(is, i) : NULL;
	if (!news->old_value || !news->new_value)
		return news->old_value || news->new_value;
	return !value_equal(news->old_value, news->new_value);
}

/* Whether the change follows from the one of the state that came with it: a value was there only
 * while the link was up, or it says the same of the link in other words. */
static bool is_consequence(const News *news)
{
	return !news->old_value || !news->new_value ||
	       news->row == &port_attributes[PORT_ATTR_phys_state] ||
	       news->row == &port_attributes[PORT_ATTR_netdev_carrier] ||
	       news->row == &port_attributes[PORT_ATTR_netdev_operstate];
}

/* Reports the change of the state and how many attributes changed because of it. */
static void report_state(Report *r, const Object *was, const Object *is, News news)
{
	_cleanup_free_ char *rate = NULL;
	size_t more = 0;

	for (size_t i = 0; i < is->n_rows; i++) {
		if (i == PORT_ATTR_state || !compare_row(was, is, i, &news) ||
		    !report_has_property(r, news.row) || !is_consequence(&news))
			continue;
		more++;
		if (i == PORT_ATTR_rate && news.new_value)
			rate = format_value(news.row, news.new_value);
	}
	(void)compare_row(was, is, PORT_ATTR_state, &news);
	news.detail = rate;
	news.more = more;
	report_news(r, &news);
}

void report_difference(Report *r, const Object *was, const Object *is, const char *reason)
{
	News news = {.name = "changed", .object = is, .reason = reason};
	bool state, fold;

	if (!report_is_watched(r, is) && !report_is_watched(r, was))
		return;
	state = is->is_port && compare_row(was, is, PORT_ATTR_state, &news);
	fold = state && r->fold;
	if (state && compare_row(was, is, PORT_ATTR_state_change, &news) && news.new_value &&
	    news.new_value->type == VALUE_UNSIGNED)
		news.changed_usec = news.new_value->number;
	if (fold)
		report_state(r, was, is, news);
	for (size_t i = 0; i < is->n_rows; i++) {
		if (!compare_row(was, is, i, &news) || !report_has_property(r, news.row) ||
		    (fold && (i == PORT_ATTR_state || is_consequence(&news))))
			continue;
		report_news(r, &news);
	}
}

void report_presence(Report *r, const Object *o, bool added)
{
	const Value *state = o->is_port && added ? object_value(o, PORT_ATTR_state) : NULL;
	_cleanup_free_ char *text = NULL;
	const char *name = added ? "added" : "removed";

	if (!report_is_watched(r, o))
		return;
	if (state && asprintf(&text, "added, %s", value_text(state)) < 0)
		return;
	report_news(r, &(News){.name = name, .object = o, .text = text ? text : name});
}

/* From this line on monitor listens: a change that is made later will be printed. */
void report_running(Report *r, const ObjectList *objects)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0;

	for (size_t i = 0; i < objects->n; i++)
		n += objects->items[i]->is_port && report_is_watched(r, objects->items[i]);
	if (asprintf(&text, "running, %zu %s watched", n, n == 1 ? "port" : "ports") >= 0)
		(void)news_print(r->c, &r->date, &(News){.name = "daemon-running", .text = text});
}

void report_daemon(Report *r, bool started)
{
	report_news(r, &(News){.name = started ? "daemon-started" : "daemon-stopped",
			       .text = started ? "started" : "stopped"});
}

void report_all(Report *r, const ObjectList *was, const ObjectList *is)
{
	for (size_t i = 0; i < was->n; i++)
		if (!object_list_find(is, was->items[i]->path))
			report_presence(r, was->items[i], false);
	for (size_t i = 0; i < is->n; i++) {
		const Object *before = object_list_find(was, is->items[i]->path);

		if (before)
			report_difference(r, before, is->items[i], NULL);
		else
			report_presence(r, is->items[i], true);
	}
}
