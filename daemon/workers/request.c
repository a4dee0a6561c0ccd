/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "request.h"

void request_append(RequestQueue *q, Request *r)
{
	r->next = NULL;
	if (q->last)
		q->last->next = r;
	else
		q->first = r;
	q->last = r;
}

Request *request_pop(RequestQueue *q)
{
	Request *r = q->first;

	if (r) {
		q->first = r->next;
		if (!q->first)
			q->last = NULL;
	}
	return r;
}

void request_append_all(RequestQueue *q, RequestQueue *from)
{
	Request *r;

	while ((r = request_pop(from)))
		request_append(q, r);
}

bool request_remove(RequestQueue *q, const Request *r)
{
	Request *previous = NULL;

	for (Request *i = q->first; i; previous = i, i = i->next) {
		if (i != r)
			continue;
		if (previous)
			previous->next = i->next;
		else
			q->first = i->next;
		if (q->last == i)
			q->last = previous;
		return true;
	}
	return false;
}

void request_free_all(RequestQueue *q)
{
	Request *r;

	while ((r = request_pop(q)))
		free(r);
}
