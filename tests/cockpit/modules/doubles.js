/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What the modules of the page find in a browser: a document of elements, the timers and Cockpit. Nothing happens by itself: a test
 * runs the timers and frames, and answers the calls. To be imported before any module of the page.
 */

import assert from "node:assert";
import { readFileSync } from "node:fs";

class Element {
    constructor(tag) {
        this.tagName = tag.toUpperCase();
        this.attributes = new Map();
        this.childNodes = [];
        this.listeners = new Map();
        this.parentNode = null;
        this.classList = {
            contains: name => this.className.split(" ").includes(name),
            toggle: (name, on) => {
                const others = this.className.split(" ").filter(n => n && n !== name);
                this.className = [...others, ...(on ? [name] : [])].join(" ");
            },
        };
    }

    getAttribute(name) { return this.attributes.get(name) ?? null }
    setAttribute(name, value) { this.attributes.set(name, String(value)) }
    addEventListener(name, listener) { this.listeners.set(name, listener) }
    get className() { return this.getAttribute("class") ?? "" }
    set className(name) { this.setAttribute("class", name) }
    get hidden() { return this.attributes.has("hidden") }
    set hidden(hidden) { hidden ? this.setAttribute("hidden", "") : this.attributes.delete("hidden") }
    get value() { return this.chosen ?? this.children[0]?.getAttribute("value") ?? "" }
    set value(value) { this.chosen = value }
    get checked() { return this.attributes.has("checked") }
    set checked(checked) { checked ? this.setAttribute("checked", "") : this.attributes.delete("checked") }
    get children() { return this.childNodes.filter(node => node instanceof Element) }
    get firstChild() { return this.childNodes[0] ?? null }
    get textContent() { return this.childNodes.map(node => node.textContent ?? node).join("") }
    set textContent(text) { this.replaceChildren(text) }

    append(...nodes) {
        for (const node of nodes) {
            node.remove?.();
            if (node instanceof Element)
                node.parentNode = this;
            this.childNodes.push(node);
        }
    }

    insertBefore(node, before) {
        node.remove();
        node.parentNode = this;
        this.childNodes.splice(before ? this.childNodes.indexOf(before) : this.childNodes.length, 0, node);
    }

    remove() {
        if (this.parentNode)
            this.parentNode.childNodes = this.parentNode.childNodes.filter(node => node !== this);
        this.parentNode = null;
    }

    replaceChildren(...nodes) {
        this.childNodes = [];
        this.append(...nodes);
    }

    contains(node) { return Boolean(node) && (node === this || this.contains(node.parentNode)) }
    isEqualNode(other) { return text_of(this) === text_of(other) }
    focus() { document.activeElement = this }

    /* All elements below this one that have the tag */
    all(tag) {
        return this.children.flatMap(e => [...(e.tagName === tag.toUpperCase() ? [e] : []), ...e.all(tag)]);
    }
}

/* The element as markup */
function text_of(node) {
    if (!(node instanceof Element))
        return String(node);
    return `<${node.tagName} ${JSON.stringify([...node.attributes])}>${node.childNodes.map(text_of).join("")}</>`;
}

const ids = new Map();

globalThis.document = {
    hidden: false,
    title: "",
    activeElement: null,
    body: new Element("body"),
    documentElement: new Element("html"),
    createElement: tag => new Element(tag),
    createElementNS: (_, tag) => new Element(tag),
    getElementById(id) {
        if (!ids.has(id))
            ids.set(id, new Element("div"));
        return ids.get(id);
    },
    querySelector: () => document.body,
};
globalThis.localStorage = { getItem: () => null };
export const window_listeners = new Map();
globalThis.window = {
    scrollTo() {},
    addEventListener: (name, listener) => window_listeners.set(name, listener),
    matchMedia: () => ({ matches: false, addEventListener() {} }),
};

/* Timers and frames */

let waiting = [];

globalThis.requestAnimationFrame = globalThis.setTimeout = run => waiting.push(run);
globalThis.setInterval = run => { intervals.add(run); return run };
globalThis.clearInterval = run => intervals.delete(run);
export const intervals = new Set();

/* Lets what has been answered go on. */
export async function settle() {
    for (let i = 0; i < 20; i++)
        await new Promise(resolve => setImmediate(resolve));
}

/* Runs what waits for a timer or for the next frame. */
export async function run_timers() {
    const now = waiting;

    waiting = [];
    now.forEach(run => run());
    await settle();
}

/* Cockpit */

export const bus = {
    calls: [], /* {path, interface_, method, args, answer, fail} that nobody has answered */
    listeners: [], /* {match, receive} */
    /* Takes the oldest call of METHOD that waits. */
    take(method) {
        const i = bus.calls.findIndex(call => call.method === method);

        assert.ok(i >= 0, `${method} was not called, but: ${bus.calls.map(call => call.method)}`);
        return bus.calls.splice(i, 1)[0];
    },
    async answer(method, ...values) {
        bus.take(method).answer(values);
        await settle();
    },
    signal(interface_, member, path, args) {
        for (const { match, receive } of bus.listeners)
            if (match.interface === interface_ && (!match.member || match.member === member))
                receive(path, interface_, member, args);
    },
    set_owner(owner) { bus.signal("org.freedesktop.DBus", "NameOwnerChanged", "/", ["org.rdma", "", owner]) },
    change(path, interface_, changed, invalidated = []) {
        bus.signal("org.freedesktop.DBus.Properties", "PropertiesChanged", path, [interface_, pack(changed), invalidated]);
    },
};

globalThis.cockpit = {
    location: {
        path: [],
        encode: (parts, options) => `/${parts.map(encodeURIComponent).join("/")}${options ? `?${new URLSearchParams(options)}` : ""}`,
    },
    listeners: new Map(),
    addEventListener: (name, listener) => cockpit.listeners.set(name, listener),
    message: error => String(error?.message ?? error),
    dbus: () => ({
        addEventListener() {},
        subscribe: (match, receive) => bus.listeners.push({ match, receive }),
        call: (path, interface_, method, args) => new Promise((resolve, reject) =>
            bus.calls.push({ path, interface_, method, args, answer: resolve, fail: reject })),
    }),
};

/* Data */

export const description_json = JSON.parse(readFileSync(new URL("describe.json", import.meta.url), "utf-8"));

globalThis.fetch = async name => {
    assert.equal(name, "describe.json");
    return { ok: true, json: async () => description_json };
};

/* {name: value} as the bridge hands it on */
export const pack = values => Object.fromEntries(Object.entries(values).map(([name, v]) => [name, { t: "", v }]));

/* The other way round, of the interfaces of an object */
export const plain = interfaces => Object.fromEntries(
    Object.entries(interfaces).map(([name, values]) => [name, Object.fromEntries(Object.entries(values).map(([k, x]) => [k, x.v]))]));

export const device = name => ({ "org.rdma.Device": pack({ Name: name, Unavailable: {} }) });

export const port = (name, others = {}) => ({
    "org.rdma.Port": pack({
        DeviceName: name, PortNumber: 1, Device: `/org/rdma/device/${name}`, State: "active", Stale: false, LastError: "",
        StateChangeTimestamp: 1, LinkDownCount: 0, Unavailable: {}, ...others,
    }),
});

export const port_path = name => `/org/rdma/port/${name}`;
