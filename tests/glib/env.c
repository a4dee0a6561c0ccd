/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "env.h"

Env env_new(const char *scenario)
{
	Env e = {.f = fixture_new()};

	fixture_start_daemon(e.f, scenario, NULL);
	e.l = log_new(e.f);
	assert_true(rdmad_client_get_connected(e.l->client));
	return e;
}

void env_done(Env *e)
{
	log_free(e->l);
	fixture_free(e->f);
}

void env_restart(Env *e, int sig, const char *scenario)
{
	fixture_stop_daemon(e->f, sig);
	wait_until(!rdmad_client_get_connected(e->l->client));
	fixture_start_daemon(e->f, scenario, NULL);
	wait_until(rdmad_client_get_connected(e->l->client));
}

RdmadObject *env_port(Env *e, const char *port)
{
	RdmadPort *p = rdmad_client_get_port(e->l->client, port);

	assert_non_null(p);
	return RDMAD_OBJECT(p);
}

guint64 env_number(Env *e, const char *port, const char *attribute)
{
	guint64 n;

	assert_true(rdmad_object_get_number(env_port(e, port), attribute, &n));
	return n;
}

void env_assert_log(Env *e, const char *expected)
{
	log_settle(e->l);
	assert_string_equal(e->l->text->str, expected);
}
