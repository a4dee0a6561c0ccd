/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What rdmactl check finds. It is run again after changes, but not more often than once in INTERVAL. */

import { el } from "./dom.js";

const INTERVAL = 3000; /* ms */

export class Findings {
    constructor(changed) {
        this.changed = changed;
        this.list = null; /* null: not known */
        this.problem = "";
        this.running = false;
        this.wanted = false;
        this.stopped = false;
    }

    /* Something has changed. */
    want() {
        this.wanted = true;
        this.stopped = false;
        if (!this.running)
            this.run();
    }

    /* Without rdmad nothing is known, and rdmactl would start it again. */
    stop() {
        this.wanted = false;
        this.stopped = true;
        this.list = null;
        this.problem = "Not known while rdmad is not running.";
        this.changed();
    }

    async run() {
        this.running = true;
        this.wanted = false;
        const result = await check();
        if (!this.stopped) {
            [this.list, this.problem] = result;
            this.changed();
        }
        setTimeout(() => {
            this.running = false;
            if (this.wanted)
                this.run();
        }, INTERVAL);
    }

    /* Shows all findings, or those of the ports and devices that are called so. A link that has the focus keeps it while nothing
     * has changed. */
    show(element, ...names) {
        const content = el("div", {}, ...this.content(...names));

        if (!element.firstChild?.isEqualNode(content))
            element.replaceChildren(content);
    }

    content(...names) {
        if (!this.list)
            return [el("p", { class: this.problem ? "missing" : "" }, this.problem || "Checking")];
        const about = f => f.Port || f.Device;
        const list = this.list.filter(f => names.length === 0 || names.includes(about(f)) || !about(f));
        if (list.length === 0)
            return [el("p", {}, "rdmactl check finds nothing.")];
        return [el("ul", { class: "findings" }, ...list.map(finding_item))];
    }
}

/* [the findings, or null; why there are none] */
async function check() {
    let output = "";
    let problem = "";

    try {
        /* with findings the exit status is 1 */
        await cockpit.spawn(["rdmactl", "check", "--json"], { err: "message" }).stream(data => { output += data });
    } catch (error) {
        problem = error.exit_status === 1 ? "" : cockpit.message(error);
    }
    try {
        return [JSON.parse(output).Findings, ""];
    } catch (error) {
        return [null, problem || "rdmactl check gave no answer"];
    }
}

/* What OTHER is called behind its cause, as rdmactl does: what was expected, or the check. */
function short_name(other) {
    return other.Check === "expectation" && other.Property ? other.Property : other.Check;
}

function finding_item(finding) {
    const bad = finding.Severity === "critical";
    const about = finding.Port || finding.Device || "";
    const href = finding.Port && "#" + cockpit.location.encode(split_name(finding.Port));
    const also = finding.Also.map(short_name);

    return el("li", {},
              el("span", { class: `badge ${bad ? "bad" : "fair"}` }, finding.Severity), " ",
              href ? el("a", { href }, about) : about, about ? ": " : "", finding.Finding,
              also.length > 0 ? `; also: ${[...new Set(also)].join(", ")}` : "");
}

/* "mlx5_0/1" as ["mlx5_0", "1"] */
export function split_name(name) {
    const slash = name.lastIndexOf("/");

    return [name.slice(0, slash), name.slice(slash + 1)];
}
