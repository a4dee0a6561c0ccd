/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The base of devices and ports: the rows of the attribute table as GObject properties. */

#include "object-private.h"

#include "client-private.h"
#include "names.h"
#include "property-name.h"

/* An object as it was when a change of it began. */
typedef struct Before {
	GVariant **values;
	unsigned int interfaces;
	AttrMask unavailable, outdated, told;
	AttrMask invalidated; /* since */
	gboolean is_new;
} Before;

typedef struct RdmadObjectPrivate {
	RdmadClient *client; /* NULL when that is no more */
	Place place;
	char *path, *name;
	gboolean present;

	unsigned int interfaces; /* 1 << AttrInterface of those that are there */
	GVariant **values;	 /* by row; NULL where the daemon has told none */
	AttrMask unavailable;	 /* from the row of that name */
	AttrMask outdated;	 /* tables that have changed since they were read */
	AttrMask told;		 /* of these, those that were reported */
	guint32 invalid_serial;	 /* of the last message that outdated anything; 0: none */
	guint n_loading;

	Before *before;	   /* NULL: no change is under way */
	GPtrArray *notify; /* of GParamSpec: what has changed since, not yet said */
} RdmadObjectPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE(RdmadObject, rdmad_object, G_TYPE_OBJECT)

enum { PROP_OBJECT_PATH = 1, PROP_PRESENT, N_PROPERTIES };

static GParamSpec *properties[N_PROPERTIES];

#define PRIVATE(o) ((RdmadObjectPrivate *)rdmad_object_get_instance_private(o))

/* The row of a property, from 1 on. */
static G_DEFINE_QUARK(rdmad - row, row);

static void rdmad_object_get_property(GObject *object, guint id, GValue *value, GParamSpec *pspec);

static const Attribute *rows_of(RdmadObject *o, size_t *ret_n)
{
	RdmadObjectClass *class = RDMAD_OBJECT_GET_CLASS(o);

	*ret_n = class->n_rows;
	return class->rows;
}

static gboolean parse_number(const char **text, guint32 *ret)
{
	char *end;
	guint64 n;

	if (!g_ascii_isdigit(**text) || (**text == '0' && g_ascii_isdigit((*text)[1])))
		return FALSE;
	n = g_ascii_strtoull(*text, &end, 10);
	if (n > G_MAXUINT32)
		return FALSE;
	*text = end;
	*ret = (guint32)n;
	return TRUE;
}

gboolean place_parse(const char *path, Place *ret)
{
	const char *p = startswith(path, RDMAD_DEVICE_PREFIX "/");
	Place place = {};

	if (!p || !parse_number(&p, &place.index))
		return FALSE;
	if (*p) {
		p = startswith(p, "/port/");
		if (!p || !parse_number(&p, &place.number) || *p || place.number == 0)
			return FALSE;
	}
	*ret = place;
	return TRUE;
}

static GParamSpec *row_to_property(const Attribute *row)
{
	const GParamFlags flags = G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_NICK |
				  G_PARAM_STATIC_BLURB;
	const char *signature = attr_signature(row->type);
	g_autofree char *name = property_name(row->name);

	if (g_str_equal(signature, "u"))
		return g_param_spec_uint(name, row->name, row->help, 0, G_MAXUINT32, 0, flags);
	if (g_str_equal(signature, "t"))
		return g_param_spec_uint64(name, row->name, row->help, 0, G_MAXUINT64, 0, flags);
	if (g_str_equal(signature, "b"))
		return g_param_spec_boolean(name, row->name, row->help, FALSE, flags);
	if (g_str_equal(signature, "s") || g_str_equal(signature, "o"))
		return g_param_spec_string(name, row->name, row->help, NULL, flags);
	if (g_str_equal(signature, "as"))
		return g_param_spec_boxed(name, row->name, row->help, G_TYPE_STRV, flags);
	return g_param_spec_variant(name, row->name, row->help, G_VARIANT_TYPE(signature), NULL,
				    flags);
}

void rdmad_object_class_install(RdmadObjectClass *class, const Attribute *rows, size_t n_rows)
{
	/* not inherited */
	G_OBJECT_CLASS(class)->get_property = rdmad_object_get_property;
	class->rows = rows;
	class->n_rows = n_rows;
	class->properties = g_new0(GParamSpec *, n_rows);
	for (size_t i = 0; i < n_rows; i++) {
		if (rows[i].interface == INTERFACE_RAW)
			continue;
		class->properties[i] = row_to_property(&rows[i]);
		g_param_spec_set_qdata(class->properties[i], row_quark(), GSIZE_TO_POINTER(i + 1));
		g_object_class_install_property(G_OBJECT_CLASS(class), (guint)i + 1,
						class->properties[i]);
	}
}

RdmadObject *rdmad_object_new(RdmadClient *client, Place place)
{
	RdmadObject *o =
		g_object_new(place.number == 0 ? RDMAD_TYPE_DEVICE : RDMAD_TYPE_PORT, NULL);
	RdmadObjectPrivate *p = PRIVATE(o);

	p->client = client;
	p->place = place;
	p->present = TRUE;
	p->path = place.number == 0 ? g_strdup_printf(RDMAD_DEVICE_PREFIX "/%u", place.index)
				    : g_strdup_printf(RDMAD_DEVICE_PREFIX "/%u/port/%u",
						      place.index, place.number);
	p->name = g_strdup(p->path);
	rdmad_object_begin(o);
	p->before->is_new = TRUE;
	return o;
}

static void values_free(GVariant **values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		g_clear_pointer(&values[i], g_variant_unref);
	g_free(values);
}

static void before_free(Before *b, size_t n)
{
	values_free(b->values, n);
	g_free(b);
}

static void rdmad_object_init(RdmadObject *o)
{
	PRIVATE(o)->notify = g_ptr_array_new();
}

static void rdmad_object_constructed(GObject *object)
{
	RdmadObject *o = RDMAD_OBJECT(object);

	PRIVATE(o)->values = g_new0(GVariant *, RDMAD_OBJECT_GET_CLASS(o)->n_rows);
	G_OBJECT_CLASS(rdmad_object_parent_class)->constructed(object);
}

static void rdmad_object_finalize(GObject *object)
{
	RdmadObject *o = RDMAD_OBJECT(object);
	RdmadObjectPrivate *p = PRIVATE(o);
	size_t n;

	rows_of(o, &n);
	if (p->before)
		before_free(p->before, n);
	values_free(p->values, n);
	g_ptr_array_unref(p->notify);
	g_free(p->path);
	g_free(p->name);
	G_OBJECT_CLASS(rdmad_object_parent_class)->finalize(object);
}

/* The value of row I that others may see; NULL if there is none that is valid. */
static GVariant *visible(const Attribute *rows, size_t i, unsigned int interfaces,
			 GVariant *const *values, const AttrMask *unavailable)
{
	if (!(interfaces >> rows[i].interface & 1) || mask_has(unavailable, (unsigned int)i))
		return NULL;
	return values[i];
}

static GVariant *get_value(RdmadObject *o, size_t i)
{
	RdmadObjectPrivate *p = PRIVATE(o);
	size_t n;
	const Attribute *rows = rows_of(o, &n);

	if (mask_has(&p->outdated, (unsigned int)i))
		return NULL;
	return visible(rows, i, p->interfaces, p->values, &p->unavailable);
}

/* A row of a subclass, or a property of this one. */
static void rdmad_object_get_property(GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
	RdmadObject *o = RDMAD_OBJECT(object);
	size_t row = GPOINTER_TO_SIZE(g_param_spec_get_qdata(pspec, row_quark()));
	GVariant *v;

	if (row == 0) {
		switch (id) {
		case PROP_OBJECT_PATH:
			g_value_set_string(value, PRIVATE(o)->path);
			break;
		case PROP_PRESENT:
			g_value_set_boolean(value, PRIVATE(o)->present);
			break;
		default:
			G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
		}
		return;
	}
	v = get_value(o, row - 1);
	if (!v)
		return; /* GObject has set the default */
	if (G_VALUE_HOLDS_UINT(value))
		g_value_set_uint(value, g_variant_get_uint32(v));
	else if (G_VALUE_HOLDS_UINT64(value))
		g_value_set_uint64(value, g_variant_get_uint64(v));
	else if (G_VALUE_HOLDS_BOOLEAN(value))
		g_value_set_boolean(value, g_variant_get_boolean(v));
	else if (G_VALUE_HOLDS_STRING(value))
		g_value_set_string(value, g_variant_get_string(v, NULL));
	else if (G_VALUE_HOLDS_BOXED(value))
		g_value_take_boxed(value, g_variant_dup_strv(v, NULL));
	else
		g_value_set_variant(value, v);
}

static void rdmad_object_class_init(RdmadObjectClass *class)
{
	GObjectClass *object_class = G_OBJECT_CLASS(class);

	object_class->constructed = rdmad_object_constructed;
	object_class->finalize = rdmad_object_finalize;
	object_class->get_property = rdmad_object_get_property;

	/**
	 * RdmadObject:object-path: (getter get_object_path)
	 *
	 * Where it is on the bus.
	 */
	properties[PROP_OBJECT_PATH] = g_param_spec_string(
		"object-path", NULL, NULL, NULL, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
	/**
	 * RdmadObject:present: (getter is_present)
	 *
	 * %TRUE until it is removed.
	 */
	properties[PROP_PRESENT] = g_param_spec_boolean("present", NULL, NULL, TRUE,
							G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY |
								G_PARAM_STATIC_STRINGS);
	g_object_class_install_properties(object_class, N_PROPERTIES, properties);
}

Place rdmad_object_get_place(RdmadObject *o)
{
	return PRIVATE(o)->place;
}

RdmadClient *rdmad_object_get_client(RdmadObject *o)
{
	return PRIVATE(o)->client;
}

void rdmad_object_orphan(RdmadObject *o)
{
	PRIVATE(o)->client = NULL;
}

void rdmad_object_set_removed(RdmadObject *o)
{
	RdmadObjectPrivate *p = PRIVATE(o);

	p->present = FALSE;
	p->client = NULL;
	g_ptr_array_add(p->notify, properties[PROP_PRESENT]);
}

gboolean rdmad_object_begin(RdmadObject *o)
{
	RdmadObjectPrivate *p = PRIVATE(o);
	size_t n;

	if (p->before)
		return FALSE;
	rows_of(o, &n);
	p->before = g_new(Before, 1);
	*p->before = (Before){
		.values = g_new0(GVariant *, n),
		.interfaces = p->interfaces,
		.unavailable = p->unavailable,
		.outdated = p->outdated,
		.told = p->told,
	};
	for (size_t i = 0; i < n; i++)
		if (p->values[i])
			p->before->values[i] = g_variant_ref(p->values[i]);
	return TRUE;
}

gboolean rdmad_object_is_new(RdmadObject *o)
{
	return PRIVATE(o)->before && PRIVATE(o)->before->is_new;
}

AttrInterface rdmad_object_main_interface(RdmadObject *o)
{
	return RDMAD_IS_DEVICE(o) ? INTERFACE_DEVICE : INTERFACE_PORT;
}

unsigned int rdmad_object_get_interfaces(RdmadObject *o)
{
	return PRIVATE(o)->interfaces;
}

gboolean rdmad_object_find_interface(RdmadObject *o, const char *name, AttrInterface *ret)
{
	for (AttrInterface i = 0; i < INTERFACE_RAW; i++)
		if (streq(attr_interface_name(i), name)) {
			*ret = i;
			return (i == INTERFACE_DEVICE) == RDMAD_IS_DEVICE(o);
		}
	return FALSE;
}

static void set_value(RdmadObject *o, size_t row, GVariant *value)
{
	RdmadObjectPrivate *p = PRIVATE(o);

	g_clear_pointer(&p->values[row], g_variant_unref);
	p->values[row] = value ? g_variant_ref(value) : NULL;
	mask_set(&p->outdated, (unsigned int)row, false);
	mask_set(&p->told, (unsigned int)row, false);
}

/* The row NAME on INTERFACE. Properties come in the order of the table, so *HINT, where the last
 * one was, saves the search. */
static gboolean find_row(RdmadObject *o, AttrInterface interface, const char *name, size_t *hint)
{
	size_t n;
	const Attribute *rows = rows_of(o, &n);

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
			PRIVATE(o)->path, attr_signature(a->type));
}

void rdmad_object_apply(RdmadObject *o, AttrInterface interface, GVariant *changed, gboolean whole)
{
	RdmadObjectPrivate *p = PRIVATE(o);
	size_t n, row = 0;
	const Attribute *rows = rows_of(o, &n);
	GVariantIter iter;
	GVariant *value;
	const char *name;

	p->interfaces |= 1U << interface;
	for (size_t i = 0; whole && i < n; i++)
		if (rows[i].interface == interface)
			set_value(o, i, NULL);
	g_variant_iter_init(&iter, changed);
	while (g_variant_iter_loop(&iter, "{&sv}", &name, &value))
		if (find_row(o, interface, name, &row))
			apply_value(o, row, value);
}

void rdmad_object_apply_invalidated(RdmadObject *o, AttrInterface interface, const char *name,
				    guint32 serial)
{
	RdmadObjectPrivate *p = PRIVATE(o);
	size_t row = 0;

	if (!find_row(o, interface, name, &row))
		return;
	mask_set(&p->outdated, (unsigned int)row, true);
	mask_set(&p->told, (unsigned int)row, false);
	mask_set(&p->before->invalidated, (unsigned int)row, true);
	p->invalid_serial = serial;
}

void rdmad_object_apply_loaded(RdmadObject *o, size_t row, GVariant *value, guint32 serial)
{
	RdmadObjectPrivate *p = PRIVATE(o);

	if (p->invalid_serial == 0 || serial_is_before(p->invalid_serial, serial))
		apply_value(o, row, value);
}

void rdmad_object_forget_serial(RdmadObject *o)
{
	PRIVATE(o)->invalid_serial = 0;
}

void rdmad_object_remove_interface(RdmadObject *o, AttrInterface interface)
{
	size_t n;
	const Attribute *rows = rows_of(o, &n);

	PRIVATE(o)->interfaces &= ~(1U << interface);
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
		PRIVATE(o)->n_loading++;
	else
		PRIVATE(o)->n_loading--;
}

/* Rows that say when and how often, not what the port is. Counters are not signalled, and reasons
 * come with the values that they are about. */
static gboolean is_bookkeeping(const Attribute *a)
{
	return a->class == CLASS_COUNTER || a->type == ATTR_UNAVAILABLE ||
	       (a->source == SOURCE_CORE && a->type == ATTR_U64);
}

/* Puts the outcome of the row "unavailable" where it is looked up, and makes the name. */
static void derive(RdmadObject *o)
{
	RdmadObjectPrivate *p = PRIVATE(o);
	const char *name = NULL, *why;
	size_t n;
	const Attribute *rows = rows_of(o, &n);
	GVariantIter iter;

	p->unavailable = (AttrMask){};
	for (size_t i = 0; i < n; i++) {
		if (!p->values[i] || rows[i].type != ATTR_UNAVAILABLE)
			continue;
		g_variant_iter_init(&iter, p->values[i]);
		while (g_variant_iter_next(&iter, "{&s&s}", &name, &why))
			for (size_t k = 0; k < n; k++)
				if (streq(rows[k].name, name))
					mask_set(&p->unavailable, (unsigned int)k, true);
	}
	name = rdmad_object_get_string(o, p->place.number == 0 ? "name" : "device-name");
	if (!name)
		return;
	g_free(p->name);
	p->name = p->place.number == 0 ? g_strdup(name)
				       : g_strdup_printf("%s/%u", name, p->place.number);
}

static gboolean same(GVariant *a, GVariant *b)
{
	return a == b || (a && b && g_variant_equal(a, b));
}

/* Whether row I is to be notified, and in *RET_REPORT whether it is a change of the object. */
static gboolean has_changed(RdmadObject *o, size_t i, gboolean *ret_report)
{
	RdmadObjectPrivate *p = PRIVATE(o);
	unsigned int a = (unsigned int)i;
	size_t n;
	const Attribute *rows = rows_of(o, &n);
	const Before *b = p->before;
	gboolean was_told = mask_has(&b->outdated, a) && mask_has(&b->told, a);
	GVariant *was, *is;

	*ret_report = FALSE;
	if (mask_has(&p->outdated, a)) {
		/* reported once; and not yet if the new contents are on their way */
		if (mask_has(&p->told, a) || p->n_loading > 0)
			return FALSE;
		mask_set(&p->told, a, true);
		*ret_report = TRUE;
		return TRUE;
	}
	was = was_told ? NULL : visible(rows, i, b->interfaces, b->values, &b->unavailable);
	is = visible(rows, i, p->interfaces, p->values, &p->unavailable);
	if (same(was, is))
		return FALSE;
	*ret_report = !was_told && !is_bookkeeping(&rows[i]);
	return TRUE;
}

char **rdmad_object_commit(RdmadObject *o)
{
	RdmadObjectPrivate *p = PRIVATE(o);
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
	before_free(p->before, class->n_rows);
	p->before = NULL;
	g_ptr_array_add(names, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

void rdmad_object_notify(RdmadObject *o)
{
	g_autoptr(GPtrArray) notify = PRIVATE(o)->notify;

	PRIVATE(o)->notify = g_ptr_array_new();
	for (guint i = 0; i < notify->len; i++)
		g_object_notify_by_pspec(G_OBJECT(o), notify->pdata[i]);
}

gssize rdmad_object_find_row(RdmadObject *o, const char *attribute)
{
	GParamSpec *property = g_object_class_find_property(G_OBJECT_GET_CLASS(o), attribute);
	size_t row = property ? GPOINTER_TO_SIZE(g_param_spec_get_qdata(property, row_quark())) : 0;

	if (row == 0)
		g_critical("%s has no attribute \"%s\"", G_OBJECT_TYPE_NAME(o), attribute);
	return (gssize)row - 1;
}

const Attribute *rdmad_object_get_row(RdmadObject *o, size_t row)
{
	size_t n;

	return rows_of(o, &n) + row;
}

gboolean rdmad_object_is_current(RdmadObject *o, size_t row)
{
	return !mask_has(&PRIVATE(o)->outdated, (unsigned int)row) &&
	       rdmad_object_get_row(o, row)->class != CLASS_COUNTER;
}

/* Why the daemon has no value for it. */
static const char *daemon_reason(RdmadObject *o, const char *name)
{
	RdmadObjectPrivate *p = PRIVATE(o);
	const char *why = NULL;
	size_t n;
	const Attribute *rows = rows_of(o, &n);

	for (size_t i = 0; i < n && !why; i++)
		if (rows[i].type == ATTR_UNAVAILABLE && p->values[i])
			g_variant_lookup(p->values[i], name, "&s", &why);
	return why;
}

const char *rdmad_object_row_unavailable(RdmadObject *o, size_t i)
{
	RdmadObjectPrivate *p = PRIVATE(o);
	const Attribute *row = rdmad_object_get_row(o, i);

	if (!(p->interfaces >> row->interface & 1))
		return "not on this kind of port";
	if (mask_has(&p->unavailable, (unsigned int)i))
		return daemon_reason(o, row->name);
	if (mask_has(&p->outdated, (unsigned int)i))
		return "has changed and is not loaded";
	return p->values[i] ? NULL : "not known to this rdmad";
}

const char *rdmad_object_get_object_path(RdmadObject *self)
{
	g_return_val_if_fail(RDMAD_IS_OBJECT(self), NULL);
	return PRIVATE(self)->path;
}

const char *rdmad_object_get_name(RdmadObject *self)
{
	g_return_val_if_fail(RDMAD_IS_OBJECT(self), NULL);
	return PRIVATE(self)->name;
}

gboolean rdmad_object_is_present(RdmadObject *self)
{
	g_return_val_if_fail(RDMAD_IS_OBJECT(self), FALSE);
	return PRIVATE(self)->present;
}

/* The valid value of ATTRIBUTE. */
static GVariant *look_up(RdmadObject *o, const char *attribute)
{
	gssize row;

	g_return_val_if_fail(RDMAD_IS_OBJECT(o), NULL);
	g_return_val_if_fail(attribute, NULL);
	row = rdmad_object_find_row(o, attribute);
	return row < 0 ? NULL : get_value(o, (size_t)row);
}

gboolean rdmad_object_is_available(RdmadObject *self, const char *attribute)
{
	return look_up(self, attribute) != NULL;
}

const char *rdmad_object_why_unavailable(RdmadObject *self, const char *attribute)
{
	gssize row;

	g_return_val_if_fail(RDMAD_IS_OBJECT(self), NULL);
	g_return_val_if_fail(attribute, NULL);
	row = rdmad_object_find_row(self, attribute);
	return row < 0 ? NULL : rdmad_object_row_unavailable(self, (size_t)row);
}

GVariant *rdmad_object_get_attribute(RdmadObject *self, const char *attribute)
{
	GVariant *v = look_up(self, attribute);

	return v ? g_variant_ref(v) : NULL;
}

gboolean rdmad_object_get_number(RdmadObject *self, const char *attribute, guint64 *ret_number)
{
	GVariant *v = look_up(self, attribute);

	g_return_val_if_fail(ret_number, FALSE);
	*ret_number = 0;
	if (!v)
		return FALSE;
	if (g_variant_is_of_type(v, G_VARIANT_TYPE_UINT32)) {
		*ret_number = g_variant_get_uint32(v);
		return TRUE;
	}
	g_return_val_if_fail(g_variant_is_of_type(v, G_VARIANT_TYPE_UINT64), FALSE);
	*ret_number = g_variant_get_uint64(v);
	return TRUE;
}

gboolean rdmad_object_get_boolean(RdmadObject *self, const char *attribute, gboolean *ret_boolean)
{
	GVariant *v = look_up(self, attribute);

	g_return_val_if_fail(ret_boolean, FALSE);
	*ret_boolean = FALSE;
	if (!v)
		return FALSE;
	g_return_val_if_fail(g_variant_is_of_type(v, G_VARIANT_TYPE_BOOLEAN), FALSE);
	*ret_boolean = g_variant_get_boolean(v);
	return TRUE;
}

const char *rdmad_object_get_string(RdmadObject *self, const char *attribute)
{
	GVariant *v = look_up(self, attribute);

	if (!v)
		return NULL;
	g_return_val_if_fail(g_variant_is_of_type(v, G_VARIANT_TYPE_STRING) ||
				     g_variant_is_of_type(v, G_VARIANT_TYPE_OBJECT_PATH),
			     NULL);
	return g_variant_get_string(v, NULL);
}

static void set_unavailable_error(RdmadObject *o, size_t row, GError **error)
{
	g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_UNAVAILABLE, "%s: %s: %s",
		    PRIVATE(o)->name, rdmad_object_get_row(o, row)->name,
		    rdmad_object_row_unavailable(o, row));
}

/* Whether row ROW needs no call: *RET_VALUE or *ERROR is set then. */
static gboolean load_at_once(RdmadObject *o, size_t row, GVariant **ret_value, GError **error)
{
	RdmadObjectPrivate *p = PRIVATE(o);
	GVariant *v = get_value(o, row);

	if (!p->client) {
		g_set_error(error, RDMAD_SERVICE_ERROR, RDMAD_SERVICE_ERROR_GONE, "%s is no more",
			    p->name);
		return TRUE;
	}
	if (!v && !mask_has(&p->outdated, (unsigned int)row)) {
		set_unavailable_error(o, row, error);
		return TRUE;
	}
	if (!v || !rdmad_object_is_current(o, row) || !rdmad_client_get_connected(p->client))
		return FALSE;
	*ret_value = g_variant_ref(v);
	return TRUE;
}

/* Takes in the answer to Get. */
static GVariant *load_answer(RdmadObject *o, size_t row, GDBusMessage *reply, GError **error)
{
	RdmadObjectPrivate *p = PRIVATE(o);
	const Attribute *a = rdmad_object_get_row(o, row);
	g_autoptr(GVariant) boxed = NULL, value = NULL;

	boxed = g_variant_get_child_value(g_dbus_message_get_body(reply), 0);
	value = g_variant_get_variant(boxed);
	if (!g_variant_is_of_type(value, G_VARIANT_TYPE(attr_signature(a->type)))) {
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
			    "%s: %s has the type %s, not %s", p->name, a->name,
			    g_variant_get_type_string(value), attr_signature(a->type));
		return NULL;
	}
	if (p->client)
		rdmad_client_loaded(p->client, o, row, value, reply);
	/* the daemon gives a neutral value then */
	if (!(p->interfaces >> a->interface & 1) || mask_has(&p->unavailable, (unsigned int)row)) {
		set_unavailable_error(o, row, error);
		return NULL;
	}
	return g_steal_pointer(&value);
}

static GVariant *load_arguments(RdmadObject *o, size_t row)
{
	const Attribute *a = rdmad_object_get_row(o, row);

	return g_variant_new("(ss)", attr_interface_name(a->interface), a->name);
}

static void on_loaded(GObject *client, GAsyncResult *result, gpointer user_data)
{
	g_autoptr(GTask) task = user_data;
	RdmadObject *o = g_task_get_source_object(task);
	g_autoptr(GDBusMessage) reply = NULL;
	GError *error = NULL;
	GVariant *value = NULL;

	reply = rdmad_client_call_finish(RDMAD_CLIENT(client), result, "(v)", &error);
	if (reply)
		value = load_answer(o, GPOINTER_TO_SIZE(g_task_get_task_data(task)), reply, &error);
	if (value)
		g_task_return_pointer(task, value, (GDestroyNotify)g_variant_unref);
	else
		g_task_return_error(task, error);
}

void rdmad_object_load_async(RdmadObject *self, const char *attribute, GCancellable *cancellable,
			     GAsyncReadyCallback callback, gpointer user_data)
{
	g_autoptr(GTask) task = NULL;
	GVariant *value = NULL;
	GError *error = NULL;
	gssize row;

	g_return_if_fail(RDMAD_IS_OBJECT(self));
	g_return_if_fail(attribute);
	row = rdmad_object_find_row(self, attribute);
	if (row < 0)
		return;
	task = g_task_new(self, cancellable, callback, user_data);
	g_task_set_source_tag(task, rdmad_object_load_async);
	g_task_set_task_data(task, GSIZE_TO_POINTER(row), NULL);
	if (!load_at_once(self, (size_t)row, &value, &error))
		rdmad_client_call_async(PRIVATE(self)->client, PRIVATE(self)->path,
					"org.freedesktop.DBus.Properties", "Get",
					load_arguments(self, (size_t)row), cancellable, on_loaded,
					g_steal_pointer(&task));
	else if (value)
		g_task_return_pointer(task, value, (GDestroyNotify)g_variant_unref);
	else
		g_task_return_error(task, error);
}

GVariant *rdmad_object_load_finish(RdmadObject *self, GAsyncResult *result, GError **error)
{
	g_return_val_if_fail(g_task_is_valid(result, self), NULL);
	return g_task_propagate_pointer(G_TASK(result), error);
}

GVariant *rdmad_object_load_sync(RdmadObject *self, const char *attribute,
				 GCancellable *cancellable, GError **error)
{
	g_autoptr(GDBusMessage) reply = NULL;
	g_autoptr(RdmadObject) keep = NULL;
	GVariant *value = NULL;
	gssize row;

	g_return_val_if_fail(RDMAD_IS_OBJECT(self), NULL);
	g_return_val_if_fail(attribute, NULL);
	row = rdmad_object_find_row(self, attribute);
	g_return_val_if_fail(row >= 0, NULL);
	keep = g_object_ref(self);
	if (load_at_once(self, (size_t)row, &value, error))
		return value;
	reply = rdmad_client_call_sync(
		PRIVATE(self)->client, PRIVATE(self)->path, "org.freedesktop.DBus.Properties",
		"Get", load_arguments(self, (size_t)row), "(v)", cancellable, error);
	return reply ? load_answer(self, (size_t)row, reply, error) : NULL;
}
