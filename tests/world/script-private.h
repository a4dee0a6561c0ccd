/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The header that only the files of the script share: script.c has the machine, script-source.c
 * what the core sees, script-answers.c what is read and answered, script-workers.c those who do
 * that behind a pool. */

#include "script.h"

#define SCRIPT_EVENTS	 64U
#define SCRIPT_LATE	 16U
#define SCRIPT_ACTS	 64U
#define SCRIPT_ASKED	 16U
#define SCRIPT_ASKED_MAX 256U /* by workers */

typedef struct ScriptWorkers ScriptWorkers;

/* A value that changes after its event. */
typedef struct LateChange {
	uint64_t when_usec;
	uint32_t device, port;
	Fact fact;
	uint32_t value;
} LateChange;

/* What a worker has read, on its way to the core. */
typedef struct Answer {
	uint32_t port; /* 0: the device */
	int error;
	ScriptDevice device; /* as it was then */
	Facts facts;
} Answer;

/* A device that the core knows, or a worker, and the query of it that is under way. */
typedef struct Asked {
	bool used;
	uint32_t index;
	const SourceHandler *handler; /* who hears the answer: the core, or a worker */
	void *userdata;
	bool wedged; /* it has not answered in time: it is not asked until it answers again */
	bool open;   /* there is a query */
	Query query;
	uint64_t asked_usec;
	bool device_unread; /* what is to be read */
	PortSet unread;
	bool hurried;
	Answer answers[SCRIPT_PORTS + 1]; /* what has been read, the oldest first */
	size_t n_answers;
} Asked;

/* What is done in the event loop. */
typedef struct Act {
	void (*run)(Script *s, Lots *lots);
	Lots lots;
} Act;

struct Script {
	Source source;
	const SourceHandler *handler;
	void *userdata;
	ScriptWorkers *workers; /* NULL: the core is answered without them */
	sd_event *event;
	Lots *lots; /* those of the step */
	uint64_t timeout_usec;
	sd_event_source *act; /* runs ACTS */
	Act acts[SCRIPT_ACTS];
	size_t n_acts;

	ScriptDevice devices[SCRIPT_DEVICES];
	uint32_t next_index;
	Event events[SCRIPT_EVENTS]; /* the core has not heard of, the oldest first */
	size_t n_events;
	LateChange late[SCRIPT_LATE];
	size_t n_late;

	Asked asked[SCRIPT_ASKED_MAX];
	uint32_t n_asked; /* those that may be in use */
	uint64_t last_id; /* of the last query that ended */
	unsigned int enumerate_errors;
	bool is_prompt;	 /* workers go on as time passes */
	bool leave_out;	 /* the next list lacks a device */
	int query_error; /* of the next query; 0: none */
};

/* What is done in the event loop, where the core hears of it. */
void script_do_in_loop(Script *s, void (*run)(Script *s, Lots *lots));
/* The query of device INDEX by USERDATA; NULL: there has been none. */
Asked *script_find_asked(Script *s, const void *userdata, uint32_t index);
/* USERDATA asks Q. HANDLER hears the answer. */
Asked *script_begin(Script *s, const Query *q, const SourceHandler *handler, void *userdata);
/* Reads the next thing that is asked for. Returns whether there was any. */
bool script_read_next(Script *s, Asked *a);
/* The oldest answer is sent; when all are, the end is. */
void script_send_next(Script *s, Asked *a);
/* There is no more of the answer. */
void script_end(Script *s, Asked *a, int error, QueryErrorCode code, const char *text);
/* The query that EVENT makes a worker ask by itself, if A gives leave to. */
bool script_take_leave(Asked *a, const Event *event, Query *ret);
/* A port with values that none ever has */
void script_lie_of_port(PortSnapshot *ret);

ScriptDevice *script_find(Script *s, uint32_t index);
void script_report(Script *s, uint32_t device, uint32_t port, EventReason reason);
/* What the kernel has announced is carried out. */
void script_settle(Script *s);
/* Events of device INDEX are lost. */
void script_drop_events(Script *s, uint32_t index);
void script_list_device(const ScriptDevice *d, DeviceSnapshot *ret);
void script_counters(const Facts *f, PortSnapshot *ret);
void script_users(const Facts *f, PortSnapshot *ret);
/* Queries that have taken too long end. */
void script_end_overdue(Script *s);
uint64_t script_next_overdue_usec(const Script *s);
