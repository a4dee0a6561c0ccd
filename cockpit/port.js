/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The page of one port: everything that rdmactl show has, in its groups. */

import { el, set_class, set_text, table } from "./dom.js";
import { label, tone } from "./describe.js";
import { Counters } from "./counters.js";
import { health_tone, show_findings, split_name } from "./findings.js";
import { History } from "./history.js";
import { links_of } from "./links.js";
import { device_of, port_name, port_of } from "./objects.js";
import { Traffic } from "./traffic.js";

const INTERVAL = 2000; /* ms between two readings of the counters */

const TONES = { State: tone, Health: health_tone };

/* The rows of one group as names and values. What the object does not have is hidden. */
class Group {
    constructor(description, heading, rows) {
        this.description = description;
        this.pairs = rows.map(row => ({
            row,
            term: el("dt", { title: `${row.Name}: ${row.Help}` }, label(row.Name)),
            value: el("dd", { "data-name": row.Name }),
        }));
        this.element = el("section", {}, el("h2", {}, heading),
                          el("dl", {}, ...this.pairs.map(pair => el("div", {}, pair.term, pair.value))));
    }

    update(object) {
        let any = false;

        for (const { row, term, value } of this.pairs) {
            const shown = object ? this.description.show(object, row) : null;
            term.parentNode.hidden = !shown;
            any ||= Boolean(shown);
            set_text(value, shown ? shown.text : "");
            set_class(value, shown?.missing ? "missing" : shown && row.Name in TONES ? `tone ${TONES[row.Name](shown.text)}` : "");
        }
        this.element.hidden = !any;
    }
}

/* An attribute that is a table */
class Entries {
    constructor(description, row) {
        this.description = description;
        this.row = row;
        this.content = el("div");
        this.element = el("section", { class: "wide", "data-name": row.Name },
                          el("h2", { title: `${row.Name}: ${row.Help}` }, label(row.Name)), this.content);
    }

    update(object) {
        const shown = object ? this.description.show(object, this.row) : null;
        const text = JSON.stringify(shown && [shown, object[this.row.Interface][this.row.Name]]);

        this.element.hidden = !shown;
        if (!shown || text === this.text)
            return;
        this.text = text;
        const { headings, rows } = this.description.entries(object, this.row);
        if (shown.missing || rows.length === 0)
            this.content.replaceChildren(el("p", { class: "missing" }, shown.missing ? shown.text : "none"));
        else
            this.content.replaceChildren(table(this.row.Help, headings, rows));
    }
}

function make_groups(description, rows, prefix) {
    return description.groups.flatMap(name => {
        /* what is found has a section of its own */
        const of_group = rows.filter(row => row.Group === name && row.Name !== "Findings");
        if (of_group.length === 0)
            return [];
        if (of_group[0].Members)
            return of_group.map(row => new Entries(description, row));
        return [new Group(description, prefix + name, of_group)];
    });
}

export class PortPage {
    constructor(parent, objects, description, name) {
        this.objects = objects;
        this.name = name;
        this.path = null;
        this.state_change = null;
        this.heading = el("h1", { tabindex: "-1" }, name);
        this.gone = el("p", { class: "notice", hidden: "" },
                       `There is no port ${name}. What follows is what was known of it.`);
        this.found = el("div");
        this.links = el("p", { class: "links" });
        this.summary = new Group(description, "Overview", description.summary);
        /* the first group is in the summary */
        this.port_groups = make_groups(description, description.port_rows, "").slice(1);
        this.device_groups = make_groups(description, description.device_rows, "Device: ");
        this.history = new History();
        this.counters = new Counters(description);
        this.traffic = new Traffic();
        parent.replaceChildren(
            el("nav", { "aria-label": "Breadcrumb" }, el("a", { href: "#/" }, "RDMA ports")),
            this.heading, this.links, this.gone, this.summary.element,
            el("section", { "data-name": "Findings" }, el("h2", {}, "Findings"), this.found),
            this.traffic.element, this.history.element,
            el("div", { class: "groups" }, ...this.port_groups.map(group => group.element)),
            this.counters.element,
            el("details", {}, el("summary", {}, "The device"),
               el("div", { class: "groups" }, ...this.device_groups.map(group => group.element))));
        this.update(null);
        this.poll();
        this.timer = setInterval(() => this.poll(), INTERVAL);
        document.title = `${name} - RDMA ports`;
        this.heading.focus();
    }

    close() {
        clearInterval(this.timer);
    }

    find() {
        for (const [path, object] of this.objects.paths) {
            if (port_of(object) && port_name(object) === this.name)
                return path;
        }
        return null;
    }

    /* DIRTY are the paths that have changed; null stands for all. */
    update(dirty) {
        const object = this.objects.paths.get(this.path);

        if (!port_of(object) || port_name(object) !== this.name)
            this.path = this.find();
        const port = this.objects.paths.get(this.path);
        const device_path = port_of(port)?.Device;
        const device = this.objects.paths.get(device_path);
        this.gone.hidden = Boolean(port) || this.objects.state !== "present";
        if (!dirty || !port || dirty.has(this.path))
            this.port_groups.forEach(group => group.update(port));
        if (!dirty || !port || dirty.has(device_path))
            this.device_groups.forEach(group => group.update(device));
        this.summary.update(port && { ...device, ...port });
        this.show_links(port ? links_of(port) : []);
        show_findings(this.found, this.objects, port_of(port)?.Health, this.name, split_name(this.name)[0]);
        const { StateChangeTimestamp, LinkDownCount, Findings } = port_of(port) || {};
        const change = JSON.stringify([this.objects.loads, StateChangeTimestamp, LinkDownCount, Findings, device_of(device)?.Findings,
                                       port?.["org.rdma.Port.Cable"]?.CableSerialNumber]);
        if (change !== this.state_change) {
            this.state_change = change;
            this.read_history();
        }
    }

    /* A link that has the focus keeps it while the links are the same. */
    show_links(links) {
        if (links.map(link => link.textContent).join("") !== this.links.textContent)
            this.links.replaceChildren(...links);
    }

    async read_history() {
        try {
            const options = { transitions: { t: "b", v: true }, port: { t: "s", v: this.name } };
            const [histories] = await this.objects.call("/org/rdma", "org.rdma.Manager", "ListHistories", [options]);
            this.history.update(histories[0]?.[1]);
        } catch (error) {
            /* rdmad has gone, or has never heard of the port: what was known stays */
            this.history.draw();
        }
    }

    /* What no signal announces: counters, counts, the time. */
    async poll() {
        this.history.draw();
        if (document.hidden || !this.path || this.objects.state !== "present")
            return;
        const path = this.path;
        for (const name of Object.keys(this.objects.paths.get(path)))
            this.objects.refresh(path, name);
        try {
            const options = { ports: { t: "as", v: [path] } };
            const [sets, ports] = await this.objects.call("/org/rdma", "org.rdma.Manager", "GetCounters", [options]);
            this.counters.update(sets, ports);
            this.traffic.add(this.counters.time, name => this.counters.rate_of(name));
        } catch (error) {
            this.counters.fail(cockpit.message(error));
        }
    }
}
