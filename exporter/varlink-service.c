/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "varlink-service.h"

#define SERVICE "org.varlink.service"
#define METRICS "io.systemd.Metrics"

/* In the language of interfaces (varlink.org). varlinkctl(1) of systemd 257 has to understand it:
 * that has no word for "any value" yet, so a value is an object, as it was before. */
static const char service_text[] =
	"# What every Varlink service can be asked.\n"
	"interface " SERVICE "\n"
	"\n"
	"# Who made the service, and which interfaces it has.\n"
	"method GetInfo() -> (\n"
	"\tvendor: string,\n"
	"\tproduct: string,\n"
	"\tversion: string,\n"
	"\turl: string,\n"
	"\tinterfaces: []string\n"
	")\n"
	"\n"
	"# The text of an interface, such as this one.\n"
	"method GetInterfaceDescription(interface: string) -> (description: string)\n"
	"\n"
	"# The service has no such interface.\n"
	"error InterfaceNotFound(interface: string)\n"
	"\n"
	"# The service has no such method.\n"
	"error MethodNotFound(method: string)\n"
	"\n"
	"# The interface has the method, and this service has it not.\n"
	"error MethodNotImplemented(method: string)\n"
	"\n"
	"# A parameter is missing, is of a wrong type, or is not one of the method.\n"
	"error InvalidParameter(parameter: string)\n"
	"\n"
	"# The client may not call the method.\n"
	"error PermissionDenied()\n"
	"\n"
	"# The method has many replies, and the call did not say that it takes more than one.\n"
	"error ExpectedMore()\n";

static const char metrics_text[] =
	"# The metrics of a service, for systemd-report(1).\n"
	"interface " METRICS "\n"
	"\n"
	"# counter: a number that only grows. gauge: a number. string: a text.\n"
	"type MetricFamilyType(counter, gauge, string)\n"
	"\n"
	"# Each reply is one value. Needs \"more\".\n"
	"method List() -> (\n"
	"\t# of the family that the value belongs to\n"
	"\tname: string,\n"
	"\t# a number or a text\n"
	"\tvalue: object,\n"
	"\t# what the value is about: a port (\"mlx5_0/1\") or a device (\"mlx5_0\")\n"
	"\tobject: ?string,\n"
	"\t# what tells it from other values of the family and the object: texts\n"
	"\tfields: ?object\n"
	")\n"
	"\n"
	"# Each reply is one family. Needs \"more\".\n"
	"method Describe() -> (\n"
	"\tname: string,\n"
	"\tdescription: string,\n"
	"\ttype: MetricFamilyType\n"
	")\n"
	"\n"
	"# There is no metric.\n"
	"error NoSuchMetric()\n";

static const struct Interface {
	const char *name, *text;
} interfaces[] = {
	{METRICS, metrics_text},
	{SERVICE, service_text},
};

typedef int Answer(const VarlinkCall *call, VarlinkText **ret);

static json_object *interface_names(void)
{
	json_object *names = json_object_new_array();

	for (size_t i = 0; names && i < ARRAY_SIZE(interfaces); i++) {
		json_object *name = json_object_new_string(interfaces[i].name);

		if (!name || json_object_array_add(names, name) < 0) {
			json_object_put(name);
			json_object_put(names);
			return NULL;
		}
	}
	return names;
}

static int get_info(_unused_ const VarlinkCall *call, VarlinkText **ret)
{
	static const struct {
		const char *name, *text;
	} texts[] = {
		{"vendor", "rdmad"},
		{"product", "rdmad-exporter"},
		{"version", RDMAD_VERSION},
		{"url", "man:rdmad-exporter-varlink.socket(8)"},
	};
	json_object *info = json_object_new_object();
	bool ok = info != NULL;

	for (size_t i = 0; ok && i < ARRAY_SIZE(texts); i++)
		ok = varlink_member(info, texts[i].name, json_object_new_string(texts[i].text));
	if (ok && varlink_member(info, "interfaces", interface_names()))
		return varlink_reply_once(info, ret);
	json_object_put(info);
	return -ENOMEM;
}

static int get_interface_description(const VarlinkCall *call, VarlinkText **ret)
{
	const char *name = varlink_call_text(call, "interface");

	if (!name)
		return varlink_reply_error(SERVICE ".InvalidParameter", "parameter", "interface",
					   ret);
	for (size_t i = 0; i < ARRAY_SIZE(interfaces); i++)
		if (streq(name, interfaces[i].name)) {
			json_object *text = json_object_new_object();

			if (text && varlink_member(text, "description",
						   json_object_new_string(interfaces[i].text)))
				return varlink_reply_once(text, ret);
			json_object_put(text);
			return -ENOMEM;
		}
	return varlink_reply_error(SERVICE ".InterfaceNotFound", "interface", name, ret);
}

static const struct Method {
	const char *name;
	const char *parameter; /* NULL: it has none */
	bool more;	       /* it needs "more" */
	Answer *answer;	       /* NULL: WORK is to be done */
	VarlinkWork work;
} methods[] = {
	{METRICS ".List", NULL, true, NULL, VARLINK_LIST_METRICS},
	{METRICS ".Describe", NULL, true, NULL, VARLINK_DESCRIBE_METRICS},
	{SERVICE ".GetInfo", NULL, false, get_info, 0},
	{SERVICE ".GetInterfaceDescription", "interface", false, get_interface_description, 0},
};

int varlink_service_call(const VarlinkCall *call, VarlinkText **ret, VarlinkWork *ret_work)
{
	const struct Method *method = array_find(methods, ARRAY_SIZE(methods), name, call->method);
	const char *unexpected;

	if (!method)
		return varlink_reply_error(SERVICE ".MethodNotFound", "method", call->method, ret);
	unexpected = varlink_call_unexpected(call, method->parameter);
	if (unexpected)
		return varlink_reply_error(SERVICE ".InvalidParameter", "parameter", unexpected,
					   ret);
	if (method->more && !call->more)
		return varlink_reply_error(SERVICE ".ExpectedMore", NULL, NULL, ret);
	if (method->answer)
		return method->answer(call, ret);
	*ret = NULL;
	*ret_work = method->work;
	return 0;
}
