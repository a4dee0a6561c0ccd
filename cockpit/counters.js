/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The counters of a port and what was counted in each second between the last two answers. There is a rate only if both have
 * a value and the counter has not been reset. rdmad reads counters once a second at most, so the time is that of the answers.
 */

import { el, set_text } from "./dom.js";

/* The counters of the port of a reply to GetCounters() as objects */
function read_counters([, set, values, , , tail], sets) {
    const [groups, names, units] = sets[set] || [];
    const missing = tail.Missing?.v || {};
    const saturated = new Set(tail.Saturated?.v);

    return values.map((value, i) => ({
        group: groups[i], name: names[i], unit: units[i], value,
        condition: i in missing ? "missing" : saturated.has(i) ? "saturated" : "valid", reason: missing[i] || "",
    }));
}

export function format_rate(rate, unit) {
    unit = { bytes: "B", unknown: "" }[unit] ?? ` ${unit}`;
    for (const [size, prefix] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
        if (rate >= size)
            return `${(rate / size).toPrecision(3)} ${prefix}${unit}/s`;
    }
    return `${rate === 0 ? 0 : rate.toPrecision(3)} ${unit.trimStart()}/s`;
}

export class Counters {
    constructor(description) {
        this.description = description;
        this.rows = new Map(); /* group and name -> {value, rate, per_second} */
        this.last = new Map(); /* the same -> counter of the last answer */
        this.time = 0;
        this.body = el("tbody", { role: "rowgroup" });
        this.problem = el("p", { class: "missing", hidden: "" });
        const headings = ["Counter", "Value", "Rate"].map(text => el("th", { role: "columnheader", scope: "col" }, text));
        this.element = el("section", { "aria-labelledby": "counters-heading" },
                          el("h2", { id: "counters-heading" }, "Counters"), this.problem,
                          el("table", { role: "table", class: "numbers" },
                             el("caption", {}, "Counters and what they count in a second"),
                             el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...headings)), this.body));
    }

    fail(message) {
        this.problem.hidden = false;
        set_text(this.problem, message);
    }

    /* The reply to GetCounters() for one port */
    update(sets, [port]) {
        const [, , , , time, tail] = port;
        const seconds = (time - this.time) / 1e6; /* it is in microseconds */

        if (tail.ErrorMessage)
            return this.fail(tail.ErrorMessage.v);
        this.problem.hidden = true;
        if (seconds <= 0)
            return; /* the same answer again */
        for (const c of read_counters(port, sets)) {
            const key = `${c.group}/${c.name}`;
            const before = this.last.get(key);
            if (!this.rows.has(key))
                this.rows.set(key, this.make_row(c));
            this.fill(this.rows.get(key), c, before, seconds);
            this.last.set(key, c);
        }
        this.time = time;
    }

    /* How much the counter NAME counts in a second: null if that is not known, undefined if the port has no such counter */
    rate_of(name) {
        return [...this.rows].find(([key]) => key.endsWith(`/${name}`))?.[1].per_second;
    }

    make_row(c) {
        const value = el("td", { role: "cell", "data-label": "Value" });
        const rate = el("td", { role: "cell", "data-label": "Rate" });
        const name = el("th", { role: "rowheader", scope: "row", title: this.description.counters.get(c.name) || "" }, c.name);

        this.body.append(el("tr", { role: "row", "data-counter": c.name }, name, value, rate));
        return { value, rate, per_second: null };
    }

    fill(row, c, before, seconds) {
        const counts = answer => answer && !answer.reason && answer.condition === "valid";
        const unit = c.unit === "unknown" ? "" : ` ${c.unit}`;
        const note = c.condition === "valid" ? "" : ` (${c.condition})`;

        set_text(row.value, c.reason ? `unavailable (${this.description.reason(c.reason)})` : `${c.value}${unit}${note}`);
        row.value.classList.toggle("missing", Boolean(c.reason));
        const steady = counts(c) && counts(before) && c.value >= before.value;
        row.per_second = steady ? (c.value - before.value) / seconds : null;
        set_text(row.rate, steady ? format_rate(row.per_second, c.unit) : "");
    }
}
