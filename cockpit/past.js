/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What was found about a port before, and which cables it had: what the history of rdmad has beside the states. */

import { el, table } from "./dom.js";
import { format_time, label } from "./describe.js";

const time = (usec, none) => usec === 0 ? none : format_time(usec);

const finding = ([check, severity, since, until, tail]) => [
    check, severity, time(since, ""), time(until, "it holds"),
    [tail.Attribute && label(tail.Attribute.v), tail.Cause && `because of ${tail.Cause.v}`,
     tail.Acknowledged && `acknowledged ${format_time(tail.Acknowledged.v)}`, tail.AcknowledgedText?.v].filter(Boolean).join(", "),
];

const cable = ([serial, since, until, tail]) => [serial, tail.PartNumber?.v ?? "", time(since, ""), time(until, "it is there")];

export class Past {
    constructor() {
        this.text = "";
        this.element = el("div");
    }

    /* The dictionary that ListHistories() returns of the port */
    update(history) {
        const findings = history.Findings?.v ?? [];
        const cables = history.Cables?.v ?? [];
        const text = JSON.stringify([findings, cables]);
        const last_first = (rows, make) => rows.slice().reverse().map(make);

        if (text === this.text)
            return;
        this.text = text;
        this.element.replaceChildren(
            ...(findings.length === 0 ? [] : [table("Findings, the last one first", ["Check", "Severity", "Since", "Until", "Notes"], last_first(findings, finding))]),
            ...(cables.length === 0 ? [] : [table("Cables, the last one first", ["Serial number", "Part number", "Since", "Until"], last_first(cables, cable))]));
    }
}
