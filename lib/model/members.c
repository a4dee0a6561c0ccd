/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "members.h"

#include "names.h"

#define ROW(kind_, interface_, name_, help_, ...)                                                  \
	{.kind = MEMBER_IS_##kind_,                                                                \
	 .interface = RDMAD_BUS_NAME "." #interface_,                                              \
	 .name = #name_,                                                                           \
	 .help = help_,                                                                            \
	 __VA_OPT__(.arguments = (const MemberArgument[]){__VA_ARGS__{}}, )},

const Member members[] = {
#define INTERFACE(id, interface, group, help) ROW(INTERFACE, interface, , help)
#include "interfaces.def"

#define ARGUMENT(name, help)		   {#name, help},
#define INTERFACE(interface, help)	   ROW(INTERFACE, interface, , help)
#define PROPERTY(interface, name, help)	   ROW(PROPERTY, interface, name, help)
#define METHOD(interface, name, help, ...) ROW(METHOD, interface, name, help, __VA_ARGS__)
#define SIGNAL(interface, name, help, ...) ROW(SIGNAL, interface, name, help, __VA_ARGS__)
#include "members.def"
};

const size_t n_members = ARRAY_SIZE(members);

const Member *member_find(const char *interface, const char *name)
{
	for (size_t i = 0; i < n_members; i++)
		if (streq(members[i].interface, interface) && streq(members[i].name, name))
			return &members[i];
	return NULL;
}

const char *member_argument(const Member *m, const char *name)
{
	for (const MemberArgument *a = m->arguments; a && a->name; a++)
		if (streq(a->name, name))
			return a->help;
	return NULL;
}
