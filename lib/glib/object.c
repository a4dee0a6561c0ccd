/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The base of devices and ports: the rows of the attribute table as GObject properties. */

#include "object-state.h"
#include "property-name.h"
#include "unavailable.h"

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE(RdmadObject, rdmad_object, G_TYPE_OBJECT)

enum { PROP_OBJECT_PATH = 1, PROP_PRESENT, N_PROPERTIES };

static GParamSpec *properties[N_PROPERTIES];

/* A property that is an attribute has the number of its row, plus 1, under this quark. */
static G_DEFINE_QUARK(rdmad_row, row);

RdmadObjectPrivate *object_private(RdmadObject *o)
{
	return rdmad_object_get_instance_private(o);
}

const Attribute *object_rows(RdmadObject *o, size_t *ret_n)
{
	RdmadObjectClass *class = RDMAD_OBJECT_GET_CLASS(o);

	*ret_n = class->n_rows;
	return class->rows;
}

GVariant *object_visible(const ObjectState *state, const Attribute *rows, size_t i)
{
	if (!(state->interfaces >> rows[i].interface & 1) ||
	    mask_has(&state->unavailable, (unsigned int)i))
		return NULL;
	return state->values[i];
}

void object_state_clear(ObjectState *state, size_t n_rows)
{
	for (size_t i = 0; i < n_rows; i++)
		g_clear_pointer(&state->values[i], g_variant_unref);
	g_clear_pointer(&state->values, g_free);
}

static GParamSpec *row_to_property(const Attribute *row)
{
	const GParamFlags flags = G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_NICK |
				  G_PARAM_STATIC_BLURB;
	const char *signature = attr_signature(row->type), *help = attr_help(row);
	g_autofree char *name = property_name(row->name);
	AttrValue absent;

	(void)attr_publish_absent(row, &absent);
	if (g_str_equal(signature, "u"))
		return g_param_spec_uint(name, row->name, help, 0, G_MAXUINT32, absent.u32, flags);
	if (g_str_equal(signature, "t"))
		return g_param_spec_uint64(name, row->name, help, 0, G_MAXUINT64, absent.u64,
					   flags);
	if (g_str_equal(signature, "i"))
		return g_param_spec_int(name, row->name, help, -1, G_MAXINT32, absent.s32, flags);
	if (g_str_equal(signature, "b"))
		return g_param_spec_boolean(name, row->name, help, FALSE, flags);
	if (g_str_equal(signature, "s") || g_str_equal(signature, "o"))
		return g_param_spec_string(name, row->name, help, NULL, flags);
	if (g_str_equal(signature, "as"))
		return g_param_spec_boxed(name, row->name, help, G_TYPE_STRV, flags);
	return g_param_spec_variant(name, row->name, help, G_VARIANT_TYPE(signature), NULL, flags);
}

GVariant *rdmad_object_row_value(RdmadObject *o, size_t row)
{
	size_t n;
	const Attribute *rows = object_rows(o, &n);

	return rdmad_object_is_outdated(o, row)
		       ? NULL
		       : object_visible(&object_private(o)->now, rows, row);
}

/* For the attributes of the subclasses, and for the properties of this class. */
static void rdmad_object_get_property(GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
	RdmadObject *o = RDMAD_OBJECT(object);
	size_t row = GPOINTER_TO_SIZE(g_param_spec_get_qdata(pspec, row_quark()));
	GVariant *v;

	if (row == 0) {
		switch (id) {
		case PROP_OBJECT_PATH:
			g_value_set_string(value, object_private(o)->path);
			break;
		case PROP_PRESENT:
			g_value_set_boolean(value, object_private(o)->present);
			break;
		default:
			G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
		}
		return;
	}
	v = rdmad_object_row_value(o, row - 1);
	if (!v) {
		g_param_value_set_default(pspec, value);
		return;
	}
	if (G_VALUE_HOLDS_UINT(value))
		g_value_set_uint(value, g_variant_get_uint32(v));
	else if (G_VALUE_HOLDS_INT(value))
		g_value_set_int(value, g_variant_get_int32(v));
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

void rdmad_object_class_install(RdmadObjectClass *class, AttrInterface main_interface,
				const Attribute *rows, size_t n_rows)
{
	/* GObject does not inherit it: each class that has properties needs its own pointer */
	G_OBJECT_CLASS(class)->get_property = rdmad_object_get_property;
	class->main_interface = main_interface;
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

RdmadObject *rdmad_object_new(GType type, RdmadClient *client, Place place)
{
	RdmadObject *o = g_object_new(type, NULL);
	RdmadObjectPrivate *p = object_private(o);

	p->client = client;
	p->place = place;
	p->present = TRUE;
	p->path = place_to_path(place);
	p->name = g_strdup(p->path);
	p->is_new = TRUE;
	return o;
}

static void rdmad_object_init(RdmadObject *o)
{
	object_private(o)->notify = g_ptr_array_new();
}

static void rdmad_object_constructed(GObject *object)
{
	RdmadObject *o = RDMAD_OBJECT(object);
	size_t n;

	object_rows(o, &n);
	object_private(o)->now.values = g_new0(GVariant *, n);
	object_private(o)->invalid_orders = g_new0(guint32, n);
	G_OBJECT_CLASS(rdmad_object_parent_class)->constructed(object);
}

static void rdmad_object_finalize(GObject *object)
{
	RdmadObject *o = RDMAD_OBJECT(object);
	RdmadObjectPrivate *p = object_private(o);
	size_t n;

	object_rows(o, &n);
	if (p->before)
		object_state_clear(p->before, n);
	g_free(p->before);
	object_state_clear(&p->now, n);
	g_free(p->invalid_orders);
	g_ptr_array_unref(p->notify);
	g_free(p->path);
	g_free(p->name);
	G_OBJECT_CLASS(rdmad_object_parent_class)->finalize(object);
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
	 * The object path on the bus.
	 */
	properties[PROP_OBJECT_PATH] = g_param_spec_string(
		"object-path", NULL, NULL, NULL, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
	/**
	 * RdmadObject:present: (getter is_present)
	 *
	 * %TRUE until the object is removed.
	 */
	properties[PROP_PRESENT] = g_param_spec_boolean("present", NULL, NULL, TRUE,
							G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY |
								G_PARAM_STATIC_STRINGS);
	g_object_class_install_properties(object_class, N_PROPERTIES, properties);
}

Place rdmad_object_get_place(RdmadObject *o)
{
	return object_private(o)->place;
}

RdmadClient *rdmad_object_get_client(RdmadObject *o)
{
	return object_private(o)->client;
}

void rdmad_object_orphan(RdmadObject *o)
{
	object_private(o)->client = NULL;
}

void rdmad_object_set_removed(RdmadObject *o)
{
	RdmadObjectPrivate *p = object_private(o);

	p->present = FALSE;
	p->client = NULL;
	g_ptr_array_add(p->notify, properties[PROP_PRESENT]);
}

AttrInterface rdmad_object_main_interface(RdmadObject *o)
{
	return (AttrInterface)RDMAD_OBJECT_GET_CLASS(o)->main_interface;
}

unsigned int rdmad_object_get_interfaces(RdmadObject *o)
{
	return object_private(o)->now.interfaces;
}

/* Whether objects of this kind can have INTERFACE. */
static gboolean has_rows_of(RdmadObject *o, AttrInterface interface)
{
	size_t n;
	const Attribute *rows = object_rows(o, &n);

	for (size_t i = 0; i < n; i++)
		if (rows[i].interface == interface)
			return TRUE;
	return FALSE;
}

gboolean rdmad_object_find_interface(RdmadObject *o, const char *name, AttrInterface *ret)
{
	AttrInterface i;

	if (attr_interface_find(name, &i) < 0 || !has_rows_of(o, i))
		return FALSE;
	*ret = i;
	return TRUE;
}

/* The property that is the row with the D-Bus name NAME. */
static GParamSpec *find_property_of_row(RdmadObject *o, const char *name)
{
	size_t n;
	const Attribute *rows = object_rows(o, &n);

	for (size_t i = 0; i < n; i++)
		if (streq(rows[i].name, name) && rows[i].interface != INTERFACE_RAW)
			return RDMAD_OBJECT_GET_CLASS(o)->properties[i];
	return NULL;
}

gssize rdmad_object_find_row(RdmadObject *o, const char *attribute)
{
	GParamSpec *property = g_object_class_find_property(G_OBJECT_GET_CLASS(o), attribute);

	if (!property)
		property = find_property_of_row(o, attribute);
	return property
		       ? (gssize)GPOINTER_TO_SIZE(g_param_spec_get_qdata(property, row_quark())) - 1
		       : -1;
}

gboolean rdmad_object_find_property(RdmadObject *o, const char *name, size_t *row)
{
	size_t n;
	const Attribute *rows = object_rows(o, &n);

	for (size_t k = 0; k < n; k++) {
		size_t i = (*row + k) % n;

		if (rows[i].interface != INTERFACE_RAW && streq(rows[i].name, name)) {
			*row = i;
			return TRUE;
		}
	}
	return FALSE;
}

const Attribute *rdmad_object_get_row(RdmadObject *o, size_t row)
{
	size_t n;

	return object_rows(o, &n) + row;
}

gboolean rdmad_object_is_outdated(RdmadObject *o, size_t row)
{
	return mask_has(&object_private(o)->now.outdated, (unsigned int)row);
}

/* The code of the reason for which the daemon has no value for the attribute NAME. */
static const char *daemon_reason(RdmadObject *o, const char *name)
{
	RdmadObjectPrivate *p = object_private(o);
	const char *why = NULL;
	size_t n;
	const Attribute *rows = object_rows(o, &n);

	for (size_t i = 0; i < n && !why; i++)
		if (rows[i].type == ATTR_UNAVAILABLE && p->now.values[i])
			g_variant_lookup(p->now.values[i], name, "&s", &why);
	return why;
}

const char *rdmad_object_row_unavailable(RdmadObject *o, size_t i)
{
	RdmadObjectPrivate *p = object_private(o);
	const Attribute *row = rdmad_object_get_row(o, i);

	if (!(p->now.interfaces >> row->interface & 1))
		return unavailable_rows[UNAVAILABLE_OTHER_KIND].code;
	if (mask_has(&p->now.unavailable, (unsigned int)i))
		return daemon_reason(o, row->name);
	if (mask_has(&p->now.outdated, (unsigned int)i))
		return unavailable_rows[UNAVAILABLE_NOT_LOADED].code;
	return p->now.values[i] ? NULL : unavailable_rows[UNAVAILABLE_NOT_KNOWN].code;
}

const char *rdmad_object_get_object_path(RdmadObject *self)
{
	g_return_val_if_fail(RDMAD_IS_OBJECT(self), NULL);
	return object_private(self)->path;
}

const char *rdmad_object_get_name(RdmadObject *self)
{
	g_return_val_if_fail(RDMAD_IS_OBJECT(self), NULL);
	return object_private(self)->name;
}

gboolean rdmad_object_is_present(RdmadObject *self)
{
	g_return_val_if_fail(RDMAD_IS_OBJECT(self), FALSE);
	return object_private(self)->present;
}

/* The valid value of ATTRIBUTE. */
static GVariant *look_up(RdmadObject *o, const char *attribute)
{
	gssize row;

	g_return_val_if_fail(RDMAD_IS_OBJECT(o), NULL);
	g_return_val_if_fail(attribute, NULL);
	row = rdmad_object_find_row(o, attribute);
	return row < 0 ? NULL : rdmad_object_row_value(o, (size_t)row);
}

gboolean rdmad_object_is_available(RdmadObject *self, const char *attribute)
{
	return look_up(self, attribute) != NULL;
}

const char *rdmad_object_why_unavailable(RdmadObject *self, const char *attribute)
{
	const char *code = rdmad_object_get_unavailable_code(self, attribute);

	return code ? unavailable_text(code) : NULL;
}

const char *rdmad_object_get_unavailable_code(RdmadObject *self, const char *attribute)
{
	gssize row;

	g_return_val_if_fail(RDMAD_IS_OBJECT(self), NULL);
	g_return_val_if_fail(attribute, NULL);
	row = rdmad_object_find_row(self, attribute);
	return row < 0 ? unavailable_rows[UNAVAILABLE_NO_ATTRIBUTE].code
		       : rdmad_object_row_unavailable(self, (size_t)row);
}

GVariant *rdmad_object_get_attribute(RdmadObject *self, const char *attribute)
{
	GVariant *v = look_up(self, attribute);

	return v ? g_variant_ref(v) : NULL;
}

GVariant *rdmad_object_get_attributes(RdmadObject *self)
{
	GVariantBuilder b;
	const Attribute *rows;
	size_t n;

	g_return_val_if_fail(RDMAD_IS_OBJECT(self), NULL);
	g_variant_builder_init(&b, G_VARIANT_TYPE_VARDICT);
	rows = object_rows(self, &n);
	for (size_t i = 0; i < n; i++) {
		GVariant *v = rdmad_object_row_value(self, i);

		if (v)
			g_variant_builder_add(&b, "{sv}", rows[i].name, v);
	}
	return g_variant_ref_sink(g_variant_builder_end(&b));
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
	if (g_variant_is_of_type(v, G_VARIANT_TYPE_INT32)) {
		*ret_number =
			(guint64)g_variant_get_int32(v); /* where there is one, it is from 0 */
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
