/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The history of a port as a picture over time, and as a table that says the same. A bar stands for a state: high while the
 * port is active, low while it is down. A mark below stands for each change, so that one is seen that was too short for a bar.
 */

import { el, svg, table } from "./dom.js";
import { format_time, tone } from "./describe.js";
import { Past } from "./past.js";

const HEIGHTS = { good: 60, fair: 35, bad: 12 };
const BASE = 70;
const SPANS = [["everything", Infinity], ["a day", 86400], ["an hour", 3600], ["10 minutes", 600], ["a minute", 60]];

/* [timestamp, monotonic, from, to, reason, tail] as an object */
const transition = ([when, , from, to, reason]) => ({ when, from, to, reason });

export class History {
    constructor() {
        this.transitions = [];
        this.text = ""; /* what is in the table */
        this.span = el("select", { id: "history-span", onchange: () => this.draw() },
                       ...SPANS.map(([label, seconds]) => el("option", { value: seconds }, label)));
        this.picture = el("div", { class: "history" });
        this.list = el("div");
        this.past = new Past();
        this.element = el("section", { "aria-labelledby": "history-heading" },
                          el("h2", { id: "history-heading" }, "History"),
                          el("p", {}, el("label", { for: "history-span" }, "Show "), this.span),
                          this.picture, this.list, this.past.element);
    }

    /* The dictionary that ListHistories() returns of the port; undefined: it has none */
    update(history = {}) {
        const transitions = history.Transitions?.v ?? [];
        const text = JSON.stringify(transitions);

        this.transitions = transitions.map(transition);
        if (text !== this.text) {
            this.text = text;
            this.list.replaceChildren(this.make_list());
        }
        this.past.update(history);
        this.draw();
    }

    make_list() {
        if (this.transitions.length === 0)
            return el("p", {}, "Nothing is known of earlier states.");
        return table("Changes of the state, the last one first", ["When", "From", "To", "Reason"],
                     this.transitions.slice().reverse()
                             .map(t => [format_time(t.when), t.from, t.to, t.reason]));
    }

    draw() {
        const end = Date.now() * 1000;
        const first = this.transitions[0]?.when ?? end;
        const begin = Math.min(Math.max(first, end - Number(this.span.value) * 1e6), end - 1e6);

        this.picture.replaceChildren(draw(this.transitions, begin, end));
    }
}

function draw(transitions, begin, end) {
    const place = when => (when - begin) / (end - begin) * 100;
    const shown = transitions.filter(t => t.when >= begin);
    const downs = shown.filter(t => tone(t.from) === "good").length;
    const text = `${shown.length} changes of the state from ${format_time(begin)} to ${format_time(end)}, ` +
        `${downs} of them away from active. The table below has each.`;
    const picture = svg("svg", { role: "img", "aria-label": text, width: "100%", height: 112 });

    transitions.forEach((t, i) => {
        const until = transitions[i + 1]?.when ?? end;
        if (until > begin)
            picture.append(bar(t, place(Math.max(t.when, begin)), place(until)));
    });
    for (const t of shown)
        picture.append(mark(t, place(t.when)));
    picture.append(...axis(begin, end));
    return picture;
}

function bar(t, from, to) {
    const height = HEIGHTS[tone(t.to)];

    return svg("rect", { class: `state ${tone(t.to)}`, x: `${from}%`, width: `${to - from}%`, y: BASE - height, height },
               svg("title", {}, `${t.to} since ${format_time(t.when)} (${t.reason})`));
}

function mark(t, at) {
    return svg("line", { class: `mark ${tone(t.to)}`, x1: `${at}%`, x2: `${at}%`, y1: BASE + 3, y2: BASE + 13 });
}

/* The times at the two ends and in the middle; a long span has its days. */
function axis(begin, end) {
    const day = end - begin > 86400e6;
    const label = when => day ? format_time(when).slice(0, 16) : format_time(when).slice(11, 19);
    const ends = [[0, "start"], [50, "middle"], [100, "end"]];

    return [svg("line", { class: "axis", x1: 0, x2: "100%", y1: BASE + 1, y2: BASE + 1 }),
            ...ends.map(([percent, anchor]) => svg("text", { x: `${percent}%`, y: 104, "text-anchor": anchor },
                                                  label(begin + (end - begin) * percent / 100)))];
}
