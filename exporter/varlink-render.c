/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <ctype.h>

#include "own-metrics.h"
#include "varlink-render.h"

const char *varlink_metric_name(const char *name, char ret[VARLINK_NAME_MAX])
{
	const char *rest = startswith(name, "rdma_");
	size_t n = (size_t)snprintf(ret, VARLINK_NAME_MAX, "org.rdma.");
	bool word = true, last = false;

	for (rest = rest ? rest : name; *rest && n + 2 < VARLINK_NAME_MAX; rest++) {
		if (*rest == '_' && !last && !word) {
			ret[n++] = '.';
			last = true;
		}
		if (*rest == '_') {
			word = true;
			continue;
		}
		/* a counter that a driver invents may begin with a digit */
		if (!isalpha((unsigned char)*rest) && ret[n - 1] == '.')
			ret[n++] = 'N';
		ret[n++] = word ? (char)toupper((unsigned char)*rest) : *rest;
		word = false;
	}
	ret[n] = '\0';
	return ret;
}

/* A member NAME that is TEXT. */
static bool text_member(json_object *object, const char *name, const char *text)
{
	return varlink_member(object, name, json_object_new_string(text));
}

/* Adds a reply with PARAMETERS, which are this function's. OK: they are whole. */
static int add_reply(VarlinkReply *reply, json_object *parameters, bool ok)
{
	if (!ok) {
		json_object_put(parameters);
		parameters = NULL;
	}
	varlink_reply_add(reply, parameters);
	return reply->failed ? -ENOMEM : 0;
}

static const char *type_name(MetricType type)
{
	switch (type) {
	case METRIC_TYPE_COUNTER:
		return "counter";
	case METRIC_TYPE_STATESET:
	case METRIC_TYPE_INFO:
		return "string";
	case METRIC_TYPE_GAUGE:
	case METRIC_TYPE_UNKNOWN: /* of the types that there are, this one promises nothing */
	case _METRIC_TYPE_MAX:
		break;
	}
	return "gauge";
}

/* Labels, of which an info metric speaks for Prometheus, are values here. */
static const char *description(const MetricFamily *f)
{
	return f->type == METRIC_TYPE_INFO
		       ? "What it is: a text for each value of the field \"field\"."
		       : f->help;
}

static int describe(void *userdata, const MetricFamily *f)
{
	char name[VARLINK_NAME_MAX];
	json_object *family = json_object_new_object();
	bool ok = family && text_member(family, "name", varlink_metric_name(f->name, name)) &&
		  text_member(family, "description", description(f)) &&
		  text_member(family, "type", type_name(f->type));

	return add_reply(userdata, family, ok);
}

static json_object *number_object(MetricNumber n)
{
	char text[METRIC_NUMBER_MAX];

	if (n.divisor == 1 && !n.negative)
		return json_object_new_uint64(n.value);
	/* the text is what is written, so the number stays exact */
	return json_object_new_double_s(0, metric_number_format(n, text));
}

#define OBJECT_MAX (2 * sizeof(AttrText))

/* Writes the object of a sample into RET: the port, the device, or "", the machine. Returns how
 * many labels say it. */
static size_t object_of(const MetricSample *s, char ret[OBJECT_MAX])
{
	ret[0] = '\0';
	if (s->n_labels == 0 || !streq(s->labels[0].name, "device"))
		return 0;
	if (s->n_labels > 1 && streq(s->labels[1].name, "port")) {
		snprintf(ret, OBJECT_MAX, "%s/%s", s->labels[0].value, s->labels[1].value);
		return 2;
	}
	snprintf(ret, OBJECT_MAX, "%s", s->labels[0].value);
	return 1;
}

/* The reply with a value of F. OBJECT: "" if it is about the machine. FIELDS and VALUE are this
 * function's. */
static int add_value(VarlinkReply *reply, const MetricFamily *f, const char *object,
		     json_object *fields, json_object *value)
{
	json_object *metric = json_object_new_object();
	char name[VARLINK_NAME_MAX];
	bool ok = metric && text_member(metric, "name", varlink_metric_name(f->name, name));

	if (ok && *object)
		ok = text_member(metric, "object", object);
	if (ok)
		ok = varlink_member(metric, "value", steal_pointer(&value));
	if (ok && fields)
		ok = varlink_member(metric, "fields", steal_pointer(&fields));
	json_object_put(value);
	json_object_put(fields);
	return add_reply(reply, metric, ok);
}

/* Each label of S from FIRST on is a value. */
static int list_info(VarlinkReply *reply, const MetricFamily *f, const MetricSample *s,
		     size_t first, const char *object)
{
	for (size_t i = first; i < s->n_labels; i++) {
		json_object *fields = json_object_new_object();
		int r;

		if (!fields || !text_member(fields, "field", s->labels[i].name)) {
			json_object_put(fields);
			return -ENOMEM;
		}
		r = add_value(reply, f, object, fields, json_object_new_string(s->labels[i].value));
		if (r < 0)
			return r;
	}
	return 0;
}

static int list(void *userdata, const MetricFamily *f, const MetricSample *s)
{
	VarlinkReply *reply = userdata;
	char object[OBJECT_MAX];
	size_t first = object_of(s, object);

	/* systemd-report takes 4096 values of all services, and an adapter has up to a thousand
	 * functions */
	if (s->of_function)
		return 0;
	switch (f->type) {
	case METRIC_TYPE_INFO:
		return list_info(reply, f, s, first, object);
	case METRIC_TYPE_STATESET:
		if (s->number.value == 0 || first >= s->n_labels)
			return 0;
		return add_value(reply, f, object, NULL,
				 json_object_new_string(s->labels[first].value));
	case METRIC_TYPE_GAUGE:
	case METRIC_TYPE_COUNTER:
	case METRIC_TYPE_UNKNOWN:
	case _METRIC_TYPE_MAX:
		break;
	}
	return add_value(reply, f, object, NULL, number_object(s->number));
}

int varlink_render(VarlinkWork work, const SourceState *state, VarlinkText **ret)
{
	static const MetricsVisitor lister = {.sample = list}, describer = {.family = describe};
	/* A metric here is about one kind of object, and has one value of each. */
	const unsigned int flags = METRICS_ONE_KIND;
	_cleanup_(varlink_reply_done) VarlinkReply reply = {};
	int r = -EINVAL;

	switch (work) {
	case VARLINK_LIST_METRICS:
		r = own_metrics_visit(state, &lister, &reply);
		if (r >= 0)
			r = metrics_visit(state->metrics, flags, &lister, &reply);
		break;
	case VARLINK_DESCRIBE_METRICS:
		r = own_metrics_visit(state, &describer, &reply);
		if (r >= 0)
			r = metrics_visit(state->metrics, flags | METRICS_ALL_FAMILIES, &describer,
					  &reply);
		break;
	case _VARLINK_WORK_MAX:
		break;
	}
	return r < 0 ? r : varlink_reply_end(&reply, ret);
}
