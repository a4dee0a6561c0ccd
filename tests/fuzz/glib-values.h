/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Values of GVariant made from an input: what a service may send. All are well-formed, as GDBus
 * passes no others on: texts are UTF-8, paths are object paths. */

#include <gio/gio.h>

#include "input.h"

/* A value of TYPE, floating. */
GVariant *value_of_type(FuzzInput *in, const GVariantType *type);
/* A value of any type. */
GVariant *value_any(FuzzInput *in);

/* The path of an object: mostly one that a device or a port can have. */
const char *value_path(FuzzInput *in);
/* The name of an interface: mostly one that rdmad has. */
const char *value_interface(FuzzInput *in);

/* Properties, a{sv}: names mostly of attributes, values mostly of their types. */
GVariant *value_properties(FuzzInput *in);
/* The value of the property that ARGUMENTS, those of Get, name: mostly of its type. */
GVariant *value_of_property(FuzzInput *in, GVariant *arguments);
/* Interfaces with their properties, a{sa{sv}}. */
GVariant *value_interfaces(FuzzInput *in);
/* All objects, (a{oa{sa{sv}}}), as GetManagedObjects answers. */
GVariant *value_objects(FuzzInput *in);
/* The body of PropertiesChanged, (sa{sv}as). */
GVariant *value_changed(FuzzInput *in);
/* The body of InterfacesRemoved, (oas). */
GVariant *value_removed(FuzzInput *in);
/* What the method of CALL returns; NULL: nothing. */
GVariant *value_of_answer(FuzzInput *in, GDBusMessage *call);
