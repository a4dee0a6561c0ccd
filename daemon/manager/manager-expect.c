/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is expected of the machine, in files: read at the start, and anew when somebody asks for it.
 *
 * A thread of its own reads the files anew, since a disk may hang. Until all are read the
 * expectations before count. While a thread hangs no other begins: who asks meanwhile waits too.
 */

#include <inttypes.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>

#include "checks.h"
#include "clock.h"
#include "disk-thread.h"
#include "log.h"
#include "manager-private.h"

/* At the end: a thread that reads some small files for longer hangs. */
#define PATIENCE_USEC (1 * USEC_PER_SEC)

/* One reading. It belongs to the thread, which may outlive the manager. */
typedef struct ExpectReading {
	DiskThread thread;
	char *path;
	int done_fd; /* can be read when the thread has read all; then the rest is the manager's */
	Expectations read;
	int error;
} ExpectReading;

static int read_files(const char *path, Expectations *ret)
{
	*ret = (Expectations){.is_check = check_exists};
	return expect_add_machine(ret, path);
}

/* Takes what E owns. */
static void expect(Manager *m, Expectations *e)
{
	if (e->error)
		log_warning("%s; the file counts for nothing", e->error);
	health_expect(m->health, e);
}

static void reading_run(void *userdata)
{
	ExpectReading *x = userdata;

	x->error = read_files(x->path, &x->read);
	(void)eventfd_write(x->done_fd, 1);
}

static void reading_free(void *userdata)
{
	ExpectReading *x = userdata;

	disk_thread_done(&x->thread);
	expectations_done(&x->read);
	close_pointer(&x->done_fd);
	free(x->path);
	free(x);
}

static void end_reading(Manager *m)
{
	m->expect_source = sd_event_source_disable_unref(m->expect_source);
	if (m->expect_reading)
		(void)disk_thread_end(&m->expect_reading->thread, PATIENCE_USEC);
	m->expect_reading = NULL;
}

static int on_read(_unused_ sd_event_source *s, _unused_ int fd, _unused_ uint32_t events,
		   void *userdata)
{
	Manager *m = userdata;
	ExpectReading *x = m->expect_reading;
	bool again = m->expect_again;

	if (x->error < 0) {
		log_warning_errno(x->error, "Cannot read what is expected, ignoring: %m");
	} else {
		expect(m, &x->read);
		manager_health_judge_soon(m);
	}
	end_reading(m);
	m->expect_again = false;
	if (again)
		manager_reload(m);
	else
		sd_notify(false, "READY=1");
	return 0;
}

/* A thread that reads the files at PATH. */
static int new_reading(const char *path, ExpectReading **ret)
{
	ExpectReading *x = calloc(1, sizeof(*x));
	int r;

	if (!x)
		return -ENOMEM;
	disk_thread_init(&x->thread);
	x->path = strdup(path);
	x->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = !x->path ? -ENOMEM : x->done_fd < 0 ? -errno : 0;
	if (r >= 0)
		r = disk_thread_start(&x->thread, reading_run, reading_free, x);
	if (r < 0)
		reading_free(x);
	else
		*ret = x;
	return r;
}

void manager_reload(Manager *m)
{
	char text[64];
	int r;

	if (m->expect_reading) {
		m->expect_again = true;
		return;
	}
	/* with this time "systemctl reload" waits for READY=1 */
	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, monotonic_now_usec());
	sd_notify(false, text);
	r = m->expect_path ? new_reading(m->expect_path, &m->expect_reading) : -ENOENT;
	if (r >= 0)
		r = sd_event_add_io(m->event, &m->expect_source, m->expect_reading->done_fd,
				    EPOLLIN, on_read, m);
	if (r >= 0)
		return;
	log_warning_errno(r, "Cannot read what is expected, ignoring: %m");
	end_reading(m);
	sd_notify(false, "READY=1");
}

int manager_expect_start(Manager *m, const char *path)
{
	Expectations e = {};
	int r;

	m->expect_path = path;
	r = path ? read_files(path, &e) : 0;
	if (r >= 0)
		expect(m, &e);
	expectations_done(&e);
	return r;
}

void manager_expect_end(Manager *m)
{
	end_reading(m);
}
