/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What rdmad finds wrong with the machine, with devices and ports, as their properties say it. */

import { format_time, label } from "./describe.js";
import { el } from "./dom.js";
import { device_of, port_name, port_of } from "./objects.js";

const MOST = 50;

/* [check, severity, text, tail] of the object called ABOUT, whose device is called DEVICE, as an object */
const finding = (about, device, [check, severity, text, tail]) => ({
    about, device, check, severity, text, since: tail.Since?.v, attribute: tail.Attribute?.v, cause: tail.Cause?.v,
    acknowledged: tail.Acknowledged?.v, said: tail.AcknowledgedText?.v, certainty: tail.Certainty?.v,
});

/* All that is found, those of the machine first. */
function all_of(objects) {
    const found = (properties, about, device) => (properties?.Findings || []).map(entry => finding(about, device, entry));
    const list = found(objects.manager, "", "");

    for (const object of objects.paths.values()) {
        if (port_of(object))
            list.push(...found(port_of(object), port_name(object), port_of(object).DeviceName));
        else
            list.push(...found(device_of(object), device_of(object)?.Name, device_of(object)?.Name));
    }
    return list;
}

/* Whether OTHER is a part of CAUSE: it names the check, and is about the same object or a port of the device. */
const is_part = (other, cause) => other.cause === cause.check && !cause.cause && [other.about, other.device].includes(cause.about);

/* What OTHER is called behind its cause: the port if the cause is of the device, what was expected, or the check. */
function short_name(other, cause) {
    return other.about !== cause.about ? other.about : other.check === "expectation" ? label(other.attribute) : other.check;
}

/* Shows all findings, or those of the machine and of the ports and devices that are called so. A link that has the focus keeps
 * it while nothing has changed. */
export function show_findings(element, objects, health, ...names) {
    const content = el("div", {}, ...content_of(objects, health, names));

    if (!element.firstChild?.isEqualNode(content))
        element.replaceChildren(content);
}

function content_of(objects, health, names) {
    const all = all_of(objects);
    const list = all.filter(f => !f.cause && (names.length === 0 || names.includes(f.about) || !f.about));

    if (objects.state !== "present")
        return [el("p", { class: "missing" }, objects.state === "absent" ? "Not known while rdmad is not running." : "Reading")];
    if (list.length === 0)
        return [el("p", {}, health === "unknown" ? "Nobody knows how well it is: rdmad cannot read all of it." : "Nothing is wrong.")];
    /* the worst first, and at the end what somebody knows of */
    const weight = f => f.acknowledged ? 2 : f.severity === "critical" ? 0 : 1;
    const shown = list.sort((x, y) => weight(x) - weight(y)).slice(0, MOST);
    return [el("ul", { class: "findings" }, ...shown.map(f => item(f, all.filter(other => is_part(other, f))))),
            ...(list.length > MOST ? [el("p", { class: "missing" }, `${list.length - MOST} more are not shown here. The table of the ports has their health.`)] : [])];
}

function item(f, parts) {
    const href = f.about.includes("/") && "#" + cockpit.location.encode(split_name(f.about));
    const also = new Set(parts.map(part => short_name(part, f)));
    const notes = [f.since && `since ${format_time(f.since).slice(0, 19)}`, f.certainty && "it may be over",
                   f.acknowledged && `acknowledged ${format_time(f.acknowledged).slice(0, 19)}`, f.said];

    /* what somebody knows of does not count in the health */
    const badge = f.acknowledged ? el("span", { class: "badge missing" }, "acknowledged") : health_badge(f.severity);

    return el("li", { title: f.check }, badge, " ",
              href ? el("a", { href }, f.about) : f.about, f.about ? ": " : "", f.text,
              also.size > 0 ? `; also: ${[...also].join(", ")}` : "",
              el("span", { class: "missing" }, notes.filter(Boolean).map(note => ` · ${note}`).join("")));
}

/* A badge that says how well something is. */
function health_badge(health) {
    return el("span", { class: `badge ${health_tone(health)}` }, health);
}

/* How good a health is, for its color. */
export function health_tone(health) {
    return health === "ok" ? "good" : health === "critical" ? "bad" : "fair";
}

/* "mlx5_0/1" as ["mlx5_0", "1"] */
export function split_name(name) {
    const slash = name.lastIndexOf("/");

    return [name.slice(0, slash), name.slice(slash + 1)];
}
