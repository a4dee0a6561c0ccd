/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The page: what has changed in objects.js goes to the view that is shown. The address "#/mlx5_0/1" is the page of a port. */

import { Description, format_time, is_active } from "./describe.js";
import { el, set_class, set_text } from "./dom.js";
import { show_findings } from "./findings.js";
import { News } from "./news.js";
import { Objects, device_of, port_name, port_of } from "./objects.js";
import { PortPage } from "./port.js";
import { PortTable } from "./table.js";
import { follow_theme } from "./theme.js";

const by_id = id => document.getElementById(id);
const time_of = date => format_time(date.getTime() * 1000).slice(11, 19);

class Page {
    constructor(objects, description) {
        this.objects = objects;
        this.description = description;
        this.news = new News(by_id("news"));
        this.table = new PortTable(by_id("ports"), description);
        this.states = new Map(); /* path -> what was last told of the port */
        this.page = null;
        this.told = 0; /* which reading of everything the states are from */
    }

    start() {
        cockpit.addEventListener("locationchanged", () => this.navigate());
        this.navigate();
        this.objects.listen(dirty => this.update(dirty));
    }

    update(dirty) {
        /* the row of a port has values of its device */
        for (const path of new Set([...dirty].flatMap(path => [path, ...(device_of(this.objects.paths.get(path))?.Ports ?? [])]))) {
            const object = this.objects.paths.get(path);
            this.table.update(path, object, this.objects.paths.get(port_of(object)?.Device));
            this.tell(path, object);
        }
        this.told = this.objects.loads;
        this.table.finish(this.objects.state === "present");
        this.show_daemon();
        this.show_summary();
        show_findings(by_id("findings"), this.objects, this.objects.manager.Health);
        this.page?.update(dirty);
    }

    /* Tells what somebody would want to hear of a port, but not the state that it has at first. */
    tell(path, object) {
        const before = this.states.get(path);

        if (!port_of(object)) {
            if (before && this.states.delete(path))
                this.news.tell(path, `${before.name} has gone`);
            return;
        }
        const port = port_of(object);
        const state = port.Stale ? `${port.State}, stale` : port.State;
        const name = port_name(object);
        this.states.set(path, { name, state });
        if (before ? before.state !== state : this.told > 0)
            this.news.tell(path, `${name}: ${state}`);
    }

    show_daemon() {
        const { state, error, lost, restarted } = this.objects;
        const notice = by_id("daemon");
        let text = "";

        if (state === "absent")
            text = `rdmad is not running${error ? `: ${error}` : ""}. ` +
                (lost ? `What is shown is from before ${time_of(lost)}.` : "Start it: systemctl start rdmad");
        else if (restarted)
            text = `rdmad was restarted at ${time_of(restarted)}. Everything was read again.`;
        notice.hidden = !text;
        set_class(notice, state === "absent" ? "notice bad" : "notice");
        if (text && notice.textContent !== text)
            this.news.tell("rdmad", text);
        set_text(notice, text);
        document.body.classList.toggle("old", state === "absent");
    }

    show_summary() {
        const ports = [...this.objects.paths.values()].map(port_of).filter(port => port);
        const active = ports.filter(port => is_active(port.State)).length;
        const stale = ports.filter(port => port.Stale).length;
        const { Version, Simulated } = this.objects.manager;

        set_text(by_id("summary"), this.objects.loads === 0
            ? ""
            : `${ports.length} ports, ${active} active` + (stale > 0 ? `, ${stale} stale` : "") +
                `; rdmad ${Version}` + (Simulated ? ", simulated devices" : ""));
    }

    navigate() {
        const path = cockpit.location.path;
        const name = path.length === 2 ? path.join("/") : null;
        const before = this.page?.name;

        if (name === before && !by_id("port-view").hidden)
            return;
        this.page?.close();
        this.page = name ? new PortPage(by_id("port-view"), this.objects, this.description, name) : null;
        by_id("port-view").hidden = !name;
        by_id("ports-view").hidden = Boolean(name);
        if (name) {
            this.page.heading.focus();
            window.scrollTo(0, 0);
        } else {
            document.title = "RDMA ports";
            /* back in the table, the keyboard is where it was */
            this.table.focus(before);
        }
    }
}

async function main() {
    const objects = new Objects();

    follow_theme();
    try {
        objects.start();
        new Page(objects, await Description.load()).start();
    } catch (error) {
        const text = `The page is not complete: ${cockpit.message(error)}`;
        document.querySelector("main").replaceChildren(el("p", { class: "notice bad", role: "alert" }, text));
    }
}

main();
