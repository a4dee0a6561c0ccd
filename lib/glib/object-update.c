/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How an object takes new values, and which of them are changes. */

#include "object-state.h"

gboolean rdmad_object_begin(RdmadObject *o)
{
	RdmadObjectPrivate *p = object_private(o);
	size_t n;

	if (p->before)
		return FALSE;
	object_rows(o, &n);
	p->before = g_new(ObjectState, 1);
	*p->before = p->now;
	p->before->values = g_new0(GVariant *, n);
	for (size_t i = 0; i < n; i++)
		if (p->now.values[i])
			p->before->values[i] = g_variant_ref(p->now.values[i]);
	return TRUE;
}

gboolean rdmad_object_is_new(RdmadObject *o)
{
	return object_private(o)->is_new;
}

static void set_value(RdmadObject *o, size_t row, GVariant *value)
{
	RdmadObjectPrivate *p = object_private(o);

	g_clear_pointer(&p->now.values[row], g_variant_unref);
	p->now.values[row] = value ? g_variant_ref(value) : NULL;
	mask_set(&p->now.outdated, (unsigned int)row, false);
	mask_set(&p->now.told, (unsigned int)row, false);
}

/* The row NAME of INTERFACE. The search begins at *HINT, and *HINT becomes the row. Properties come
 * in the order of the rows, so the next one is found at once. */
static gboolean find_row(RdmadObject *o, AttrInterface interface, const char *name, size_t *hint)
{
	size_t n;
	const Attribute *rows = object_rows(o, &n);

	for (size_t k = 0; k < n; k++) {
		size_t i = (*hint + k) % n;

		if (rows[i].interface == interface && streq(rows[i].name, name)) {
			*hint = i;
			return TRUE;
		}
	}
	return FALSE;
}

static void apply_value(RdmadObject *o, size_t row, GVariant *value)
{
	const Attribute *a = rdmad_object_get_row(o, row);

	if (g_variant_is_of_type(value, G_VARIANT_TYPE(attr_signature(a->type))))
		set_value(o, row, value);
	else
		g_debug("%s has the type %s in %s of %s, not %s", a->name,
			g_variant_get_type_string(value), attr_interface_name(a->interface),
			object_private(o)->path, attr_signature(a->type));
}

void rdmad_object_apply(RdmadObject *o, AttrInterface interface, GVariant *changed, gboolean whole)
{
	RdmadObjectPrivate *p = object_private(o);
	size_t n, row = 0;
	const Attribute *rows = object_rows(o, &n);
	GVariantIter iter;
	GVariant *value;
	const char *name;

	p->now.interfaces |= 1U << interface;
	for (size_t i = 0; whole && i < n; i++)
		if (rows[i].interface == interface)
			set_value(o, i, NULL);
	g_variant_iter_init(&iter, changed);
	while (g_variant_iter_loop(&iter, "{&sv}", &name, &value))
		if (find_row(o, interface, name, &row))
			apply_value(o, row, value);
}

void rdmad_object_apply_invalidated(RdmadObject *o, AttrInterface interface, const char *name,
				    guint32 order)
{
	RdmadObjectPrivate *p = object_private(o);
	size_t row = 0;

	if (!find_row(o, interface, name, &row))
		return;
	mask_set(&p->now.outdated, (unsigned int)row, true);
	mask_set(&p->now.told, (unsigned int)row, false);
	p->invalid_orders[row] = order;
}

void rdmad_object_apply_loaded(RdmadObject *o, size_t row, GVariant *value, guint32 order)
{
	guint32 invalid_order = object_private(o)->invalid_orders[row];

	if (invalid_order == 0 || order_is_before(invalid_order, order))
		apply_value(o, row, value);
}

void rdmad_object_remove_interface(RdmadObject *o, AttrInterface interface)
{
	size_t n;
	const Attribute *rows = object_rows(o, &n);

	object_private(o)->now.interfaces &= ~(1U << interface);
	for (size_t i = 0; i < n; i++)
		if (rows[i].interface == interface)
			set_value(o, i, NULL);
}

gboolean rdmad_object_is_listened(RdmadObject *o, AttrInterface interface, const char *name,
				  size_t *ret_row)
{
	guint notify = g_signal_lookup("notify", G_TYPE_OBJECT);
	size_t row = 0;
	GQuark detail;

	if (!find_row(o, interface, name, &row))
		return FALSE;
	detail = g_quark_from_string(
		g_param_spec_get_name(RDMAD_OBJECT_GET_CLASS(o)->properties[row]));
	if (!g_signal_has_handler_pending(o, notify, detail, TRUE) &&
	    !g_signal_has_handler_pending(o, notify, 0, TRUE))
		return FALSE;
	*ret_row = row;
	return TRUE;
}

void rdmad_object_set_loading(RdmadObject *o, gboolean loading)
{
	if (loading)
		object_private(o)->n_loading++;
	else
		object_private(o)->n_loading--;
}

/* Sets what follows from the values: the mask of unavailable rows, and the name of the object. */
static void derive(RdmadObject *o)
{
	RdmadObjectPrivate *p = object_private(o);
	const char *name = NULL, *why;
	size_t n;
	const Attribute *rows = object_rows(o, &n);
	GVariantIter iter;

	p->now.unavailable = (AttrMask){};
	for (size_t i = 0; i < n; i++) {
		if (!p->now.values[i] || rows[i].type != ATTR_UNAVAILABLE)
			continue;
		g_variant_iter_init(&iter, p->now.values[i]);
		while (g_variant_iter_next(&iter, "{&s&s}", &name, &why))
			for (size_t k = 0; k < n; k++)
				if (streq(rows[k].name, name))
					mask_set(&p->now.unavailable, (unsigned int)k, true);
	}
	name = rdmad_object_get_string(o, p->place.port == 0 ? "name" : "device-name");
	if (!name)
		return;
	g_free(p->name);
	p->name = p->place.port == 0 ? g_strdup(name)
				     : g_strdup_printf("%s/%u", name, p->place.port - 1);
}

static gboolean same(GVariant *a, GVariant *b)
{
	return a == b || (a && b && g_variant_equal(a, b));
}

/* Whether "notify" is to be emitted for row I. *RET_REPORT: and whether it is to be reported as a
 * change of the object. */
static gboolean has_changed(RdmadObject *o, size_t i, gboolean *ret_report)
{
	RdmadObjectPrivate *p = object_private(o);
	unsigned int a = (unsigned int)i;
	size_t n;
	const Attribute *rows = object_rows(o, &n);
	const ObjectState *b = p->before;
	gboolean was_told = mask_has(&b->outdated, a) && mask_has(&b->told, a);
	GVariant *was, *is;

	*ret_report = FALSE;
	if (mask_has(&p->now.outdated, a)) {
		/* is reported once, and not while the new contents are on their way */
		if (mask_has(&p->now.told, a) || p->n_loading > 0)
			return FALSE;
		mask_set(&p->now.told, a, true);
		*ret_report = TRUE;
		return TRUE;
	}
	was = was_told ? NULL : object_visible(b, rows, i);
	is = object_visible(&p->now, rows, i);
	if (same(was, is))
		return FALSE;
	*ret_report = !was_told && !attr_is_bookkeeping(&rows[i]);
	return TRUE;
}

char **rdmad_object_commit(RdmadObject *o)
{
	RdmadObjectPrivate *p = object_private(o);
	RdmadObjectClass *class = RDMAD_OBJECT_GET_CLASS(o);
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	gboolean report;

	derive(o);
	for (size_t i = 0; i < class->n_rows; i++) {
		if (!class->properties[i] || !has_changed(o, i, &report))
			continue;
		g_ptr_array_add(p->notify, class->properties[i]);
		if (report)
			g_ptr_array_add(names,
					g_strdup(g_param_spec_get_name(class->properties[i])));
	}
	object_state_clear(p->before, class->n_rows);
	g_clear_pointer(&p->before, g_free);
	p->is_new = FALSE;
	g_ptr_array_add(names, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

void rdmad_object_notify(RdmadObject *o)
{
	g_autoptr(GPtrArray) notify = object_private(o)->notify;

	object_private(o)->notify = g_ptr_array_new();
	for (guint i = 0; i < notify->len; i++)
		g_object_notify_by_pspec(G_OBJECT(o), notify->pdata[i]);
}
