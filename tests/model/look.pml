/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the core and a worker look at one port, as a model for spin: daemon/manager/schedule.h,
 * daemon/workers/pool.h and the rules of daemon/shared/wire.h. The value of the port counts its
 * changes. The kernel tells of each by an event of verbs, which a worker hears that has the device
 * open, or by netlink, which the core hears. It may give the device to another driver once. A
 * worker asks by itself when it has read an event, may die at any step, and may be slower than a
 * time-out, so that the core sets it aside.
 *
 * spin proves over all interleavings: what is published is never older than what was published
 * before, than a change of which the core had heard when it asked, and than the device; and when
 * nothing happens any more, the value of the kernel is published.
 *
 * Each of these takes one rule away. spin must then find an error:
 *
 *   NO_KEEP      an event that comes during a query is for the next query
 *   NO_OVERRUN   the loss of a worker is an overrun
 *   NO_ID        an answer counts if it is to the open question
 *   NO_LEAVE     a worker asks by itself with the leave of the last answer
 *   NO_ONE       there is one question at a time
 *   NO_OTHERS    a worker's own query answers the events of verbs alone
 *   NO_WITHDRAW  a device that goes takes its question along
 *   NO_LISTEN    a worker listens before it reads
 *
 * The run has an end: each query answers a change, a loss or a time-out, of which there are few. So
 * "when nothing happens any more" is the state of spin in which no process can go on.
 */

#define CHANGES 2
#define TROUBLE 1	      /* deaths and time-outs together */
#define WORKERS (TROUBLE + 1) /* the first, and one after each trouble */
#define OWN	1	      /* queries that a leave allows */
#define NONE	WORKERS

mtype = { QUERY, FORGET, EVENT, ASKING, PORT, END, DIED, CHANGED, REPLACED };

chan to[WORKERS] = [2] of { mtype, byte };
chan from[WORKERS] = [6] of { mtype, byte };  /* with an id, or the change of an EVENT */
chan values[WORKERS] = [3] of { byte };	      /* of each PORT */
chan events[WORKERS] = [CHANGES] of { byte }; /* of verbs */
chan netlink = [CHANGES] of { mtype, byte };

byte value;	     /* of the port, in the kernel */
byte trouble;	     /* how much there has been */
bool open[WORKERS];  /* the worker has the device open, and hears its events */
bool killed[WORKERS];

inline tell_workers()
{
	w = 0;
	do
	:: w < WORKERS ->
		if
		:: open[w] -> events[w]!value
		:: else
		fi;
		w++
	:: else -> break
	od
}

active proctype kernel()
{
	byte w;
	bool replaced;

	do
	:: atomic { value < CHANGES -> value++; tell_workers() }
	:: atomic { value < CHANGES -> value++; netlink!CHANGED(value) }
	:: atomic { value < CHANGES && !replaced -> replaced = true; value++; netlink!REPLACED(value) }
	:: break
	od
}

proctype worker(byte w)
{
	byte id, read, leave, tokens;

	{
		do
		:: to[w]?QUERY(id) ->
			leave = 0;
#ifdef NO_LISTEN
			read = value;
			open[w] = true;
#else
			open[w] = true;
			read = value;
#endif
			atomic { values[w]!read; from[w]!PORT(id) };
			from[w]!END(id);
			leave = id;
			tokens = OWN
		:: atomic {
			to[w]?FORGET(id) ->
			open[w] = false;
			leave = 0;
			do
			:: events[w]?read
			:: empty(events[w]) -> break
			od
		   }
		:: atomic {
			events[w]?read ->
			from[w]!EVENT(read);
			if
			:: leave && tokens && empty(to[w]) -> tokens--; from[w]!ASKING(leave); id = leave
			:: !leave || !tokens || nempty(to[w]) -> id = 0
			fi
		   };
			if
			:: id ->
				read = value;
				atomic { values[w]!read; from[w]!PORT(id) };
				from[w]!END(id)
			:: else
			fi
		od
	} unless { killed[w] };
	atomic {
		open[w] = false;
		do
		:: events[w]?read
		:: empty(events[w]) -> break
		od
	};
	from[w]!DIED(0)
}

active proctype killer()
{
	byte w;

	do
	:: atomic {
		trouble < TROUBLE ->
		select(w : 0 .. WORKERS - 1);
		if
		:: open[w] && !killed[w] -> killed[w] = true; trouble++
		:: else
		fi
	   }
	:: break
	od
}

/* The core */

byte published;	  /* what is published */
byte birth;	  /* the change with which the device came, as the core has heard */
byte heard, told; /* the newest change: of verbs, and of both */
byte need;	  /* the answer must be as new as this */
byte asked;	  /* the id of the open question, or 0 */
byte leave;	  /* the id with which the worker may ask by itself */
byte current = NONE, aside = NONE; /* the worker that was asked last; the one that hangs */
bool by_verbs, by_others = true;   /* there is something to ask about, and who has said so */
byte ids, n_workers;

inline publish(v)
{
	assert(v >= published && v >= need && v >= birth);
	published = v
}

/* The worker is out of service. */
inline lose(is_overrun)
{
	current = NONE;
	leave = 0;
	by_others = by_others || is_overrun || asked;
	asked = 0
}

inline take(w)
{
	if
	:: from[w]?EVENT(n) ->
		if
		:: w == current ->
			heard = (n > heard -> n : heard);
			told = (n > told -> n : told);
			by_verbs = true
		:: else
		fi
	:: from[w]?ASKING(n) ->
		if
#if defined(NO_LEAVE)
		:: w == current && !asked ->
#elif defined(NO_ONE)
		:: w == current && n == leave ->
#else
		:: w == current && n == leave && !asked ->
#endif
			asked = n;
			need = heard;
			by_verbs = false;
#ifdef NO_OTHERS
			by_others = false
#endif
		:: else
		fi
	:: from[w]?PORT(n) ->
		values[w]?v;
		if
#ifdef NO_ID
		:: true -> published = v
#else
		:: w == current && n == asked && asked -> publish(v)
#endif
		:: else
		fi
	:: from[w]?END(n) ->
		if
		:: w == current && n == asked && asked ->
			asked = 0;
			leave = n;
#ifdef NO_KEEP
			by_verbs = false;
			by_others = false
#endif
		:: w == aside ->
			aside = NONE;
			killed[w] = true;
			by_others = true
		:: else
		fi
	:: from[w]?DIED(n) ->
		if
		:: w == current ->
#ifdef NO_OVERRUN
			lose(false)
#else
			lose(true)
#endif
		:: w == aside ->
			aside = NONE;
			by_others = true
		:: else
		fi
	fi
}

active proctype core()
{
	byte n, v;

	do
	:: atomic {
		(by_verbs || by_others) && !asked && aside == NONE ->
		if
		:: current == NONE -> current = n_workers; n_workers++; run worker(current)
		:: else
		fi;
		ids++;
		asked = ids;
		need = told;
		by_verbs = false;
		by_others = false;
		to[current]!QUERY(ids)
	   }
	:: atomic { netlink?CHANGED(n) -> told = (n > told -> n : told); by_others = true }
	:: atomic {
		netlink?REPLACED(n) ->
		told = (n > told -> n : told);
		birth = n;
		published = 0;
		by_others = true;
		leave = 0;
#ifndef NO_WITHDRAW
		asked = 0;
#endif
		if
		:: current != NONE -> to[current]!FORGET(0)
		:: else
		fi
	   }
	:: atomic { nempty(from[0]) -> take(0) }
	:: atomic { nempty(from[1]) -> take(1) }
	/* a time-out */
	:: atomic {
		asked && trouble < TROUBLE && current != NONE && aside == NONE ->
		trouble++;
		aside = current;
		lose(true)
	   }
	:: timeout -> assert(published == value); break
	od
}
