// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command language. Each line is parsed as a whole before it changes
 * anything, and a line that is refused is explained in the kernel log.
 */
#include <linux/ctype.h>
#include <linux/slab.h>

#include "rdma_sim.h"

/* One line being run. */
struct sim_line {
	char *rest;		/* what is not parsed yet */
	const char *why;	/* of the refusal */
	const char *word;	/* that is to blame */
};

struct sim_target {
	struct sim_dev *sd;
	u32 first;
	u32 last;
};

struct sim_events {
	u32 types[SIM_MAX_EVENTS];
	u32 n;
};

static const struct {
	const char *name;
	enum ib_event_type type;
} event_names[] = {
	{ "DEVICE_FATAL", IB_EVENT_DEVICE_FATAL },
	{ "PORT_ACTIVE", IB_EVENT_PORT_ACTIVE },
	{ "PORT_ERR", IB_EVENT_PORT_ERR },
	{ "LID_CHANGE", IB_EVENT_LID_CHANGE },
	{ "PKEY_CHANGE", IB_EVENT_PKEY_CHANGE },
	{ "SM_CHANGE", IB_EVENT_SM_CHANGE },
	{ "CLIENT_REREGISTER", IB_EVENT_CLIENT_REREGISTER },
	{ "GID_CHANGE", IB_EVENT_GID_CHANGE },
};

static int refuse(struct sim_line *line, int err, const char *why, const char *word)
{
	line->why = why;
	line->word = word;
	return err;
}

static char *next_word(struct sim_line *line)
{
	char *word;

	do {
		word = strsep(&line->rest, " \t");
	} while (word && !*word);
	return word;
}

/* Cuts "key=value" in two. */
static int next_pair(struct sim_line *line, char **ret_key, char **ret_value)
{
	char *key = next_word(line);
	char *value;

	if (!key)
		return 0;
	value = strchr(key, '=');
	if (!value)
		return refuse(line, -EINVAL, "not of the form key=value", key);
	*value++ = '\0';
	*ret_key = key;
	*ret_value = value;
	return 1;
}

static int parse_events(struct sim_line *line, char *value, bool raw, struct sim_events *events)
{
	char *word;
	size_t i;
	u8 type;

	while ((word = strsep(&value, ","))) {
		if (events->n == SIM_MAX_EVENTS)
			return refuse(line, -ERANGE, "too many events", word);
		for (i = 0; i < ARRAY_SIZE(event_names); i++)
			if (!strcmp(word, event_names[i].name))
				break;
		if (i < ARRAY_SIZE(event_names))
			events->types[events->n++] = event_names[i].type;
		else if (raw && !kstrtou8(word, 0, &type))
			events->types[events->n++] = type;
		else
			return refuse(line, -EINVAL, "unknown event", word);
	}
	return 0;
}

/* NAME/PORT or NAME/all. With @raw the port may be any number. */
static int parse_target(struct sim_line *line, char *word, bool raw, struct sim_target *ret)
{
	struct sim_target t;
	char *slash;

	slash = word ? strchr(word, '/') : NULL;
	if (!slash)
		return refuse(line, -EINVAL, "expected NAME/PORT or NAME/all", word);
	*slash++ = '\0';
	t.sd = sim_device_find(word);
	if (!t.sd)
		return refuse(line, -ENODEV, "no such device", word);
	if (!strcmp(slash, "all")) {
		t.first = 1;
		t.last = t.sd->opt.ports;
	} else {
		if (kstrtou32(slash, 10, &t.first))
			return refuse(line, -EINVAL, "not a port", slash);
		if (!raw && (!t.first || t.first > t.sd->opt.ports))
			return refuse(line, -ENXIO, "no such port", slash);
		t.last = t.first;
	}
	*ret = t;
	return 0;
}

static int run_add(struct sim_line *line)
{
	const char *name = next_word(line);
	const char *word;
	struct sim_options *opt;
	char *key, *value;
	int ret;

	opt = kmalloc(sizeof(*opt), GFP_KERNEL);
	if (!opt)
		return -ENOMEM;
	ret = sim_options_init(opt, name ?: "");
	if (ret) {
		refuse(line, ret, "not a device name", name);
		goto out;
	}
	while ((ret = next_pair(line, &key, &value)) > 0) {
		ret = sim_option_parse(opt, key, value);
		if (ret) {
			refuse(line, ret, "unknown option or bad value", key);
			goto out;
		}
	}
	if (ret)
		goto out;
	ret = sim_options_check(opt, &word);
	if (ret) {
		refuse(line, ret, "does not go with the other options", word);
		goto out;
	}
	ret = sim_devices_add(opt);
	if (ret)
		refuse(line, ret, "cannot be made", name);
out:
	kfree(opt);
	return ret;
}

static size_t count_pairs(const char *text)
{
	size_t n = 0;

	while (text && (text = strchr(text, '='))) {
		text++;
		n++;
	}
	return n;
}

static int parse_assignments(struct sim_line *line, struct sim_assignment *assignments,
			     size_t *ret_n, struct sim_events *events)
{
	char *key, *value;
	size_t n = 0;
	int ret;

	while ((ret = next_pair(line, &key, &value)) > 0) {
		if (!strcmp(key, "event")) {
			ret = parse_events(line, value, false, events);
			if (ret)
				return ret;
			continue;
		}
		ret = sim_key_parse(key, value, &assignments[n++]);
		if (ret)
			return refuse(line, ret, "unknown key or bad value", key);
	}
	*ret_n = n;
	return ret;
}

/*
 * All values of all ports and their events, in one critical section: a query
 * sees all of them or none.
 */
static void commit(const struct sim_target *t, const struct sim_assignment *assignments, size_t n,
		   const struct sim_events *events)
{
	struct sim_dev *sd = t->sd;
	u32 port, i;

	spin_lock(&sd->lock);
	for (port = t->first; port <= t->last; port++)
		for (i = 0; i < n; i++)
			sim_key_apply(&sd->ports[port - 1], &assignments[i]);
	for (port = t->first; port <= t->last; port++)
		for (i = 0; i < events->n; i++)
			sim_dispatch(sd, port, events->types[i]);
	spin_unlock(&sd->lock);
	wake_up_all(&sd->wait);
}

static int run_set(struct sim_line *line)
{
	struct sim_assignment *assignments;
	struct sim_events events = {};
	struct sim_target t;
	size_t n = 0, i;
	u32 port;
	int ret;

	ret = parse_target(line, next_word(line), false, &t);
	if (ret)
		return ret;
	assignments = kvcalloc(count_pairs(line->rest) + 1, sizeof(*assignments), GFP_KERNEL);
	if (!assignments)
		return -ENOMEM;
	ret = parse_assignments(line, assignments, &n, &events);
	if (!ret && !n && !events.n)
		ret = refuse(line, -EINVAL, "nothing to set", NULL);
	for (port = t.first; port <= t.last && !ret; port++)
		for (i = 0; i < n && !ret; i++) {
			ret = sim_key_check(&t.sd->ports[port - 1], &assignments[i]);
			if (ret)
				refuse(line, ret, "does not fit the port",
				       sim_key_name(assignments[i].key));
		}
	if (!ret)
		commit(&t, assignments, n, &events);
	kvfree(assignments);
	return ret;
}

static int run_event(struct sim_line *line)
{
	struct sim_events events = {};
	struct sim_target t;
	char *target = next_word(line);
	char *types = next_word(line);
	char *option = next_word(line);
	bool raw = option && !strcmp(option, "raw=1");
	u32 port, i;
	int ret;

	if (!types)
		return refuse(line, -EINVAL, "expected NAME/PORT TYPE[,TYPE...] [raw=1]", types);
	if ((option && !raw) || next_word(line))
		return refuse(line, -EINVAL, "unexpected word after the events", option);
	ret = parse_target(line, target, raw, &t);
	if (ret)
		return ret;
	ret = parse_events(line, types, raw, &events);
	if (ret)
		return ret;
	spin_lock(&t.sd->lock);
	for (port = t.first; port <= t.last; port++) {
		for (i = 0; i < events.n; i++)
			sim_dispatch(t.sd, port, events.types[i]);
		if (port == U32_MAX)
			break;
	}
	spin_unlock(&t.sd->lock);
	return 0;
}

static int run_reset(struct sim_line *line)
{
	struct sim_target t;
	u32 port;
	int ret;

	ret = parse_target(line, next_word(line), false, &t);
	if (ret)
		return ret;
	if (next_word(line))
		return refuse(line, -EINVAL, "reset takes one word", NULL);
	spin_lock(&t.sd->lock);
	for (port = t.first; port <= t.last; port++)
		memset(t.sd->ports[port - 1].calls, 0, sizeof(t.sd->ports->calls));
	spin_unlock(&t.sd->lock);
	return 0;
}

static int run_health(struct sim_line *line)
{
	const char *name = next_word(line);
	const char *reporter = next_word(line);
	const char *state = next_word(line);
	struct sim_dev *sd;
	int ret;

	if (!state || next_word(line) || (strcmp(state, "error") && strcmp(state, "healthy")))
		return refuse(line, -EINVAL, "expected NAME REPORTER error|healthy", state);
	sd = sim_device_find(name);
	if (!sd)
		return refuse(line, -ENODEV, "no such device", name);
	ret = sim_devlink_report(sd, reporter, !strcmp(state, "error"));
	return ret ? refuse(line, ret, "no such reporter", reporter) : 0;
}

/* Off the list; what comes after may take long, and is done without sim_lock. */
static int run_del(struct sim_line *line, struct list_head *taken)
{
	const char *name = next_word(line);
	struct sim_dev *sd = NULL;

	if (!name || next_word(line))
		return refuse(line, -EINVAL, "del takes one word, NAME or all", name);
	if (strcmp(name, "all")) {
		sd = sim_device_find(name);
		if (!sd)
			return refuse(line, -ENODEV, "no such device", name);
		if (sd->above)
			return refuse(line, -EBUSY, "a plane goes with the device above it", name);
	}
	sim_devices_take(sd, taken);
	return 0;
}

static int run_line(struct sim_line *line)
{
	const char *command = next_word(line);
	LIST_HEAD(taken);
	int ret;

	if (!command || *command == '#')
		return 0;
	mutex_lock(&sim_lock);
	if (!strcmp(command, "add"))
		ret = run_add(line);
	else if (!strcmp(command, "set"))
		ret = run_set(line);
	else if (!strcmp(command, "event"))
		ret = run_event(line);
	else if (!strcmp(command, "reset"))
		ret = run_reset(line);
	else if (!strcmp(command, "health"))
		ret = run_health(line);
	else if (!strcmp(command, "del"))
		ret = run_del(line, &taken);
	else
		ret = refuse(line, -EINVAL, "unknown command", command);
	mutex_unlock(&sim_lock);
	sim_devices_destroy(&taken);
	return ret;
}

static bool is_text(const char *text, size_t len)
{
	for (; len; text++, len--)
		if (!isprint(*text) && *text != '\t' && *text != '\n')
			return false;
	return true;
}

/* Runs the lines of @text up to the first that is refused. Overwrites @text. */
int sim_commands_run(char *text, size_t len)
{
	unsigned int number = 1;
	char *next = text;
	int ret;

	if (!is_text(text, len)) {
		pr_notice_ratelimited("rdma_sim: not text\n");
		return -EINVAL;
	}
	for (; next; number++) {
		struct sim_line line = { .rest = strsep(&next, "\n") };

		ret = run_line(&line);
		if (ret) {
			pr_notice_ratelimited("rdma_sim: line %u: %s: '%s' (%d)\n", number,
					      line.why ?: "failed", line.word ?: "", ret);
			return ret;
		}
	}
	return 0;
}
