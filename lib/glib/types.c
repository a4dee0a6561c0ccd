/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The error domain, and the boxed type of a change. */

#include "rdmad-types.h"

#include "names.h"

static const GDBusErrorEntry errors[] = {
#define SERVICE_ERROR(name, sentence) {RDMAD_SERVICE_ERROR_##name, RDMAD_ERROR_##name},
#include "errors.def"
#undef SERVICE_ERROR
};

GQuark rdmad_service_error_quark(void)
{
	static gsize quark;

	g_dbus_error_register_error_domain("rdmad-service-error-quark", &quark, errors,
					   G_N_ELEMENTS(errors));
	return (GQuark)quark;
}

RdmadChange *rdmad_change_copy(const RdmadChange *change)
{
	RdmadChange *copy = g_new(RdmadChange, 1);

	*copy = (RdmadChange){
		.kind = change->kind,
		.object = g_object_ref(change->object),
		.properties = g_strdupv(change->properties),
	};
	return copy;
}

void rdmad_change_free(RdmadChange *change)
{
	if (!change)
		return;
	g_object_unref(change->object);
	g_strfreev(change->properties);
	g_free(change);
}

G_DEFINE_BOXED_TYPE(RdmadChange, rdmad_change, rdmad_change_copy, rdmad_change_free)
