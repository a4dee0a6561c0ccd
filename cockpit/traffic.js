/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a port has sent and received in the last minutes, as a picture of two lines. */

import { el, set_text, svg } from "./dom.js";
import { format_rate } from "./counters.js";

const MOST = 150; /* readings: five minutes */
/* The first of these counters that a port has; drivers without the counters of ports have their own. */
const LINES = [
    { name: "Sent", tone: "sent", counters: ["port_xmit_bytes", "tx_bytes", "rdma_tx_bytes"] },
    { name: "Received", tone: "received", counters: ["port_rcv_bytes", "rx_bytes", "rdma_rx_bytes"] },
];

export class Traffic {
    constructor() {
        this.readings = []; /* {time (us), rates: one for each line, null if it is not known} */
        this.legend = LINES.map(line => el("span", { class: `key ${line.tone}` }));
        this.scale = el("span", { class: "missing" });
        this.picture = el("div", { class: "traffic" });
        this.element = el("section", { "aria-labelledby": "traffic-heading", hidden: "" },
                          el("h2", { id: "traffic-heading" }, "Traffic"),
                          el("p", {}, ...this.legend, this.scale), this.picture,
                          el("p", { class: "ends missing" }, el("span", {}, "5 minutes ago"), el("span", {}, "now")));
    }

    /* RATE_OF(name) is how much the counter with that name counts in a second: null if that is not known, undefined if the port
     * has no such counter. TIME: us */
    add(time, rate_of) {
        const rates = LINES.map(line => line.counters.map(rate_of).find(rate => rate !== undefined));

        if (this.readings.length === 0 && rates.every(rate => rate === undefined || rate === null))
            return;
        this.readings.push({ time, rates: rates.map(rate => rate ?? null) });
        this.readings.splice(0, this.readings.length - MOST);
        this.element.hidden = false;
        this.draw();
    }

    draw() {
        const now = this.readings[this.readings.length - 1];
        const highest = i => Math.max(...this.readings.map(reading => reading.rates[i] ?? 0));
        const say = rate => rate === null ? "not known" : format_rate(rate, "bytes");
        const top = Math.max(...LINES.map((_, i) => highest(i)), 1);
        const text = LINES.map((line, i) => `${line.name} now: ${say(now.rates[i])}, at most ${say(highest(i))}`).join(". ");

        LINES.forEach((line, i) => set_text(this.legend[i], `${line.name} ${say(now.rates[i])}`));
        set_text(this.scale, `The picture is ${say(top)} high.`);
        this.picture.replaceChildren(
            svg("svg", { role: "img", "aria-label": text, width: "100%", height: 120, viewBox: `0 0 ${MOST} 100`, preserveAspectRatio: "none" },
                ...LINES.map((line, i) => svg("path", { class: line.tone, d: this.path(i, top), "vector-effect": "non-scaling-stroke" }))));
    }

    /* Line I from the right; it has a gap where its rate is not known. */
    path(i, top) {
        const { time } = this.readings[this.readings.length - 1];
        let command = "M";

        return this.readings.map(({ time: t, rates }) => {
            if (rates[i] === null) {
                command = "M";
                return "";
            }
            const x = MOST - (time - t) / 2e6;
            const point = `${command}${x.toFixed(1)} ${(100 - rates[i] / top * 100).toFixed(1)}`;
            command = "L";
            return point;
        }).join("");
    }
}
