/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "monitor-exec.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "rdmactl.h"

/* The variables that say what has happened. */
enum {
	VARIABLE_EVENT,
	VARIABLE_PORT,
	VARIABLE_DEVICE,
	VARIABLE_PROPERTY,
	VARIABLE_OLD,
	VARIABLE_NEW,
	VARIABLE_REASON,
	N_VARIABLES,
};
static const char *const variables[N_VARIABLES] = {
	[VARIABLE_EVENT] = "RDMA_EVENT",   [VARIABLE_PORT] = "RDMA_PORT",
	[VARIABLE_DEVICE] = "RDMA_DEVICE", [VARIABLE_PROPERTY] = "RDMA_PROPERTY",
	[VARIABLE_OLD] = "RDMA_OLD",	   [VARIABLE_NEW] = "RDMA_NEW",
	[VARIABLE_REASON] = "RDMA_REASON",
};

/* An event that the command has still to be run for. */
typedef struct Job {
	struct Job *next;
	char *settings[N_VARIABLES]; /* "NAME=VALUE"; NULL: the variable is not set */
} Job;

struct Exec {
	sd_event *event;
	sd_event_source *child; /* of the command that runs; NULL: none runs */
	char **words;
	Job *first, **end; /* those that wait */
	size_t n;
	uint64_t dropped; /* since it was last said */
};

/* The command */

void exec_words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

/* Moves *AT behind the next word and copies it to RET, which has room for all the text; false if a
 * quotation mark is open. */
static bool take_word(const char **at, char *ret)
{
	char quote = '\0';

	for (; **at && (quote || !strchr(" \t", **at)); (*at)++)
		if (quote ? **at == quote : **at == '\'' || **at == '"')
			quote = quote ? '\0' : **at;
		else
			*ret++ = **at;
	*ret = '\0';
	return quote == '\0';
}

int exec_split(const char *command, char ***ret)
{
	_cleanup_free_ char *word = malloc(strlen(command) + 1);
	char **words = calloc(strlen(command) / 2 + 2, sizeof(*words));
	const char *at = command;
	size_t n = 0;
	int r = word && words ? 0 : -ENOMEM;

	while (r == 0 && *(at += strspn(at, " \t"))) {
		if (!take_word(&at, word))
			r = -EINVAL;
		else if (!(words[n++] = strdup(word)))
			r = -ENOMEM;
	}
	if (r == 0 && n == 0)
		r = -EINVAL;
	if (r < 0)
		exec_words_free(words);
	else
		*ret = words;
	return r;
}

/* Jobs */

static void job_free(Job *job)
{
	for (size_t i = 0; i < N_VARIABLES; i++)
		free(job->settings[i]);
	free(job);
}

/* Sets variable I to TEXT without control characters, so that it is one line. NULL: not set. */
static void set_variable(Job *job, size_t i, const char *text)
{
	char *setting;

	if (!text || asprintf(&setting, "%s=%s", variables[i], text) < 0)
		return;
	text_sanitize(setting, strlen(setting) + 1);
	job->settings[i] = setting;
}

/* Sets variable I to a value: a number has no unit, a boolean is "yes" or "no", and what is
 * unavailable is "". A list or a table may be longer than an environment can be: not set. */
static void set_value(Job *job, size_t i, const Value *v)
{
	char text[32] = "";

	if (!v) {
		set_variable(job, i, "");
		return;
	}
	switch (v->type) {
	case VALUE_BOOL:
		set_variable(job, i, v->boolean ? "yes" : "no");
		break;
	case VALUE_UNSIGNED:
		snprintf(text, sizeof(text), "%" PRIu64, v->number);
		set_variable(job, i, text);
		break;
	case VALUE_SIGNED:
		snprintf(text, sizeof(text), "%" PRId64, v->integer);
		set_variable(job, i, text);
		break;
	case VALUE_TEXT:
		set_variable(job, i, v->text);
		break;
	case VALUE_NONE:
	case VALUE_DOUBLE:
	case VALUE_ARRAY:
	case VALUE_STRUCT:
	case VALUE_DICT:
		break;
	}
}

static Job *job_new(const News *news)
{
	Job *job = calloc(1, sizeof(*job));
	const Object *o = news->object;
	char name[96];

	if (!job)
		return NULL;
	set_variable(job, VARIABLE_EVENT, news->name);
	if (o)
		set_variable(job, o->is_port ? VARIABLE_PORT : VARIABLE_DEVICE,
			     object_name(o, name));
	if (news->row) {
		set_variable(job, VARIABLE_PROPERTY, news->row->name);
		set_value(job, VARIABLE_OLD, news->old_value);
		set_value(job, VARIABLE_NEW, news->new_value);
	}
	set_variable(job, VARIABLE_REASON, news->reason);
	return job;
}

static bool is_variable(const char *assignment)
{
	for (size_t i = 0; i < N_VARIABLES; i++) {
		const char *rest = startswith(assignment, variables[i]);

		if (rest && *rest == '=')
			return true;
	}
	return false;
}

/* This environment without the variables, and those of JOB. The caller frees the array with
 * free(); its texts stay where they are. NULL without memory. */
static char **make_environment(const Job *job)
{
	size_t n = 0, k = 0;
	char **all;

	while (environ[n])
		n++;
	all = calloc(n + N_VARIABLES + 1, sizeof(*all));
	for (size_t i = 0; all && i < n; i++)
		if (!is_variable(environ[i]))
			all[k++] = environ[i];
	for (size_t i = 0; all && i < N_VARIABLES; i++)
		if (job->settings[i])
			all[k++] = job->settings[i];
	return all;
}

static int spawn(const Exec *e, const Job *job, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	_cleanup_free_ char **environment = make_environment(job);
	int r;

	if (!environment)
		return -ENOMEM;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	r = posix_spawnp(ret, e->words[0], &actions, &attributes, e->words, environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return -r;
}

static void start_next(Exec *e);

static int on_ended(_unused_ sd_event_source *s, const siginfo_t *info, void *userdata)
{
	Exec *e = userdata;

	if (info->si_code == CLD_EXITED && info->si_status != 0)
		complain("%s: exit status %d", e->words[0], info->si_status);
	else if (info->si_code != CLD_EXITED)
		complain("%s: ended by signal %d", e->words[0], info->si_status);
	e->child = sd_event_source_unref(e->child);
	start_next(e);
	return 0;
}

static void say_dropped(Exec *e)
{
	if (e->dropped > 0)
		complain("%s: not run for %" PRIu64 " events: it takes too long", e->words[0],
			 e->dropped);
	e->dropped = 0;
}

/* Starts the command for the event that has waited longest. */
static void start_next(Exec *e)
{
	while (e->first && !e->child) {
		Job *job = e->first;
		pid_t pid;
		int r = spawn(e, job, &pid);

		e->first = job->next;
		if (!e->first)
			e->end = &e->first;
		e->n--;
		job_free(job);
		say_dropped(e);
		if (r >= 0)
			r = sd_event_add_child(e->event, &e->child, pid, WEXITED, on_ended, e);
		if (r < 0)
			complain("%s: %s", e->words[0], strerror(-r));
	}
}

Exec *exec_new(sd_event *event, char **words)
{
	Exec *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->event = sd_event_ref(event);
	e->words = words;
	e->end = &e->first;
	return e;
}

Exec *exec_free(Exec *e)
{
	if (!e)
		return NULL;
	e->dropped += e->n;
	if (e->dropped > 0)
		complain("%s: not run for the last %" PRIu64 " events", e->words[0], e->dropped);
	while (e->first) {
		Job *job = e->first;

		e->first = job->next;
		job_free(job);
	}
	sd_event_source_disable_unref(e->child);
	sd_event_unref(e->event);
	free(e);
	return NULL;
}

void exec_run(Exec *e, const News *news)
{
	Job *job = e->n < EXEC_QUEUE_MAX ? job_new(news) : NULL;

	if (!job) {
		e->dropped++;
		return;
	}
	*e->end = job;
	e->end = &job->next;
	e->n++;
	start_next(e);
}
