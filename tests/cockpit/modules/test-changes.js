/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What follows from signals and answers, in which order they ever come: the objects, the findings, the page. */

import { bus, description_json, device, intervals, pack, plain, port, port_path, run_timers, settle, window_listeners } from "./doubles.js";
import assert from "node:assert";
import test from "node:test";

const { Description } = await import("./describe.js");
const { show_findings } = await import("./findings.js");
const { links_of } = await import("./links.js");
const { Objects } = await import("./objects.js");
const { PortPage } = await import("./port.js");

const ROOT = "/org/rdma";
const PORT = "org.rdma.Port";
const MANAGER = "org.rdma.Manager";
const OBJECT_MANAGER = "org.freedesktop.DBus.ObjectManager";
const a = port_path("a");
const b = port_path("b");
const world = (...names) => Object.fromEntries(names.flatMap(name => [
    [port_path(name), port(name)], [`${ROOT}/device/${name}`, device(name)]]));

function new_bus() {
    bus.calls.length = bus.listeners.length = 0;
}

function start() {
    new_bus();
    const objects = new Objects();

    objects.start();
    return objects;
}

async function load(found, manager = {}) {
    await bus.answer("GetManagedObjects", found);
    await bus.answer("GetAll", pack(manager));
}

async function started(...names) {
    const objects = start();

    await load(world(...names));
    return objects;
}

test("signals wait for the answer, and are applied on top of it", async () => {
    const objects = start();

    bus.change(a, PORT, { State: "down" });
    bus.signal(OBJECT_MANAGER, "InterfacesAdded", ROOT, [b, port("b")]);
    bus.change(b, PORT, { State: "init" });
    bus.change(ROOT, MANAGER, { Version: "2" });
    assert.equal(objects.paths.size, 0);
    await load(world("a"), { Version: "1" });
    assert.equal(objects.state, "present");
    assert.equal(objects.paths.get(a)[PORT].State, "down");
    assert.equal(objects.paths.get(b)[PORT].State, "init");
    assert.equal(objects.manager.Version, "2");
    /* and none waits any more */
    bus.change(a, PORT, { State: "active" });
    assert.equal(objects.paths.get(a)[PORT].State, "active");
    bus.change(port_path("nobody"), PORT, { State: "active" });
    assert.equal(objects.paths.has(port_path("nobody")), false);
});

test("an object goes with its last interface", async () => {
    const objects = await started("a");

    bus.signal(OBJECT_MANAGER, "InterfacesAdded", ROOT, [a, { "org.rdma.Port.InfiniBand": pack({ Lid: 1 }) }]);
    bus.signal(OBJECT_MANAGER, "InterfacesRemoved", ROOT, [a, [PORT]]);
    assert.deepEqual(Object.keys(objects.paths.get(a)), ["org.rdma.Port.InfiniBand"]);
    bus.signal(OBJECT_MANAGER, "InterfacesRemoved", ROOT, [a, ["org.rdma.Port.InfiniBand"]]);
    assert.equal(objects.paths.has(a), false);
});

test("the answer of an rdmad that has gone is not taken", async () => {
    const objects = start();

    const old = bus.take("GetManagedObjects");
    bus.set_owner("");
    assert.equal(objects.state, "absent");
    bus.set_owner(":1.2");
    await load(world("b"), { Version: "new" });
    old.answer([world("a")]);
    await settle();
    await bus.answer("GetAll", pack({ Version: "old" }));
    assert.deepEqual([...objects.paths.keys()].filter(path => path.includes("/port/")), [b]);
    assert.equal(objects.manager.Version, "new");
    assert.equal(objects.loads, 1);
    /* nor its error */
    const failing = new Objects();
    new_bus();
    failing.start();
    const lost = bus.take("GetManagedObjects");
    bus.set_owner(":1.3");
    await load(world("a"));
    lost.fail(new Error("lost"));
    await settle();
    assert.equal(failing.state, "present");
});

test("what was known stays while rdmad is away, and is replaced when it is back", async () => {
    const objects = start();

    /* the call has started it, and everything is asked for again */
    bus.set_owner(":1.1");
    bus.take("GetManagedObjects");
    await load(world("a"));
    assert.equal(objects.restarted, null);
    bus.set_owner("");
    assert.equal(objects.state, "absent");
    assert.ok(objects.lost && objects.paths.has(a));
    bus.set_owner(":1.9");
    assert.ok(objects.restarted);
    await load(world("b"));
    assert.ok(objects.paths.has(b) && !objects.paths.has(a));
    assert.equal(objects.loads, 2);
    new_bus();
    const absent = new Objects();
    absent.start();
    bus.take("GetManagedObjects").fail(new Error("no such name"));
    await settle();
    assert.deepEqual([absent.state, absent.error, absent.lost], ["absent", "no such name", null]);
});

test("what a signal only names is read", async () => {
    const objects = await started("a");

    bus.change(a, PORT, { State: "down" });
    assert.equal(bus.calls.length, 0);
    bus.change(a, PORT, {}, ["Gids"]);
    assert.deepEqual([bus.calls[0].path, bus.calls[0].method, bus.calls[0].args], [a, "GetAll", [PORT]]);
    await bus.answer("GetAll", pack({ State: "down", Gids: [1] }));
    assert.deepEqual(objects.paths.get(a)[PORT], { State: "down", Gids: [1] });
    /* the object has gone before the answer */
    bus.change(a, PORT, {}, ["Gids"]);
    bus.signal(OBJECT_MANAGER, "InterfacesRemoved", ROOT, [a, [PORT]]);
    await bus.answer("GetAll", pack({ State: "down" }));
    assert.equal(objects.paths.has(a), false);
    /* or the interface has */
    bus.signal(OBJECT_MANAGER, "InterfacesAdded", ROOT, [a, { "org.rdma.Port.InfiniBand": pack({ Lid: 1 }), ...port("a") }]);
    bus.change(a, PORT, {}, ["Gids"]);
    bus.signal(OBJECT_MANAGER, "InterfacesRemoved", ROOT, [a, [PORT]]);
    await bus.answer("GetAll", pack({ State: "down" }));
    assert.deepEqual(Object.keys(objects.paths.get(a)), ["org.rdma.Port.InfiniBand"]);
});

test("an answer that a signal has overtaken is not taken", async () => {
    const objects = await started("a");
    const earlier = port("a", { PhysicalState: "link-up" })[PORT];

    objects.refresh(a, PORT);
    const overtaken = bus.take("GetAll");
    bus.change(a, PORT, { State: "down" }, ["Gids"]);
    assert.equal(bus.calls.length, 0);
    overtaken.answer([earlier]);
    await settle();
    /* the next signal has only what changes after the first one */
    bus.change(a, PORT, { PhysicalState: "polling" });
    assert.equal(objects.paths.get(a)[PORT].State, "down");
    await bus.answer("GetAll", { ...earlier, ...pack({ State: "down" }) });
    assert.equal(objects.paths.get(a)[PORT].PhysicalState, "polling");
    /* and what the signal has only named is read in the end */
    await bus.answer("GetAll", { ...earlier, ...pack({ State: "down", PhysicalState: "polling", Gids: [7] }) });
    assert.deepEqual(objects.paths.get(a)[PORT].Gids, [7]);
    assert.equal(bus.calls.length, 0);
    objects.refresh(a, PORT);
    assert.equal(bus.calls.length, 1);
});

test("a frame tells of all paths that have changed, once", async () => {
    const objects = await started("a", "b");
    const told = [];

    objects.listen(paths => told.push([...paths].filter(path => path.includes("/port/")).sort().join(" ")));
    await run_timers();
    assert.deepEqual(told, [`${a} ${b}`]);
    bus.change(a, PORT, { State: "down" });
    bus.change(a, PORT, { State: "init" });
    await run_timers();
    bus.change(b, PORT, { State: "init" });
    await run_timers();
    await run_timers();
    assert.deepEqual(told.slice(1), [a, b]);
    /* an answer that says nothing new changes nothing */
    objects.refresh(b, PORT);
    await bus.answer("GetAll", pack(objects.paths.get(b)[PORT]));
    await run_timers();
    assert.equal(told.length, 3);
});

/* An entry of Findings */
const entry = (check, text, tail = {}, severity = "warning") => [check, severity, text, pack(tail)];

/* The findings for these NAMES, as texts */
function texts(objects, ...names) {
    const element = document.createElement("div");

    show_findings(element, objects, "ok", ...names);
    return element.all("li").length > 0 ? element.all("li").map(e => e.textContent) : [element.textContent];
}

/* The device "a" has two ports, and "b" none. */
async function with_findings(of_machine, of_device, of_first, of_second) {
    const objects = start();
    const found = {
        [a]: port("a", { Findings: of_first }), [b]: port("a", { PortNumber: 2, Findings: of_second }),
        "/org/rdma/device/a": { "org.rdma.Device": pack({ Name: "a", Findings: of_device }) },
        "/org/rdma/device/b": { "org.rdma.Device": pack({ Name: "b", Findings: [entry("z", "four")] }) },
    };

    await load(found, { Findings: of_machine });
    return objects;
}

test("the page of a port has what is about it, its device and the machine", async () => {
    const objects = await with_findings([entry("m", "five")], [entry("d", "three")], [entry("x", "one", {}, "critical")], [entry("x", "two")]);

    assert.deepEqual(texts(objects, "a/1", "a"), ["critical a/1: one", "warning five", "warning a: three"]);
    assert.equal(texts(objects).length, 5);
    bus.change(a, PORT, { Findings: [] });
    bus.change(ROOT, MANAGER, { Findings: [] });
    assert.deepEqual(texts(objects, "a/1", "a"), ["warning a: three"]);
    assert.deepEqual(texts(objects, "nobody/1"), ["Nothing is wrong."]);
});

test("what has the same cause stands behind it, once", async () => {
    const part = (check, cause, attribute) => entry(check, check, { Cause: cause, ...(attribute ? { Attribute: attribute } : {}) });
    const objects = await with_findings([], [entry("device-stale", "it hangs")], [part("stale", "device-stale")], [
        entry("not-active", "down"), part("expectation", "not-active", "ActiveMtu"), part("expectation", "not-active", "ActiveMtu"),
        part("netdev-up", "not-active"),
    ]);

    assert.deepEqual(texts(objects, "a/1", "a/2", "a"),
                     ["warning a/2: down; also: Active MTU, netdev-up", "warning a: it hangs; also: a/1"]);
});

test("what is found has a link, when it began, and a badge", async () => {
    const objects = await with_findings([], [], [entry("flap", "it flaps", { Since: 1795601478000000 })], []);
    const element = document.createElement("div");

    show_findings(element, objects, "ok", "a/1");
    assert.equal(element.all("a")[0].getAttribute("href"), "#/a/1");
    assert.equal(element.all("li")[0].getAttribute("title"), "flap");
    assert.equal(element.all("li")[0].textContent, "warning a/1: it flaps · since 2026-11-25 10:11:18");
    assert.equal(element.all("span")[0].className, "badge fair");
    /* who has the focus keeps it */
    const link = element.all("a")[0];
    show_findings(element, objects, "ok", "a/1");
    assert.equal(element.all("a")[0], link);
});

test("what is acknowledged says so, and when", async () => {
    const known = { Since: 1795601478000000, Acknowledged: 1795601538000000 };
    const objects = await with_findings([], [], [entry("flap", "it flaps", { ...known, AcknowledgedText: "cable exchanged" }),
                                                 entry("slower", "it is slow", known, "critical")], []);
    const element = document.createElement("div");

    show_findings(element, objects, "ok", "a/1");
    assert.deepEqual(element.all("li").map(e => e.textContent),
                     ["acknowledged a/1: it flaps · since 2026-11-25 10:11:18 · acknowledged 2026-11-25 10:12:18 · cable exchanged",
                      "acknowledged a/1: it is slow · since 2026-11-25 10:11:18 · acknowledged 2026-11-25 10:12:18"]);
    assert.equal(element.all("span")[0].className, "badge missing");
});

test("the worst is first, and not more than people read", async () => {
    const many = Array.from({ length: 70 }, (_, i) => entry(`c${i}`, `${i}`));
    const objects = await with_findings([], many, [entry("known", "k", { Acknowledged: 1 }), entry("old", "o", { Certainty: "unknown" }, "critical")], []);
    const element = document.createElement("div");

    show_findings(element, objects, "ok");
    const items = element.all("li").map(e => e.textContent);
    assert.deepEqual([items.length, items[0], items[1]], [50, "critical a/1: o · it may be over", "warning a: 0"]);
    assert.match(element.textContent, /23 more are not shown here/);
    bus.change("/org/rdma/device/a", "org.rdma.Device", { Findings: [] });
    assert.deepEqual(texts(objects), ["critical a/1: o · it may be over", "warning b: four", "acknowledged a/1: k · acknowledged 1970-01-01 00:00:00"]);
});

test("what is not known is not well", async () => {
    const objects = start();
    const element = document.createElement("div");
    const shown = health => { show_findings(element, objects, health); return element.textContent };

    assert.equal(shown(undefined), "Reading");
    await load(world("a"));
    assert.equal(shown("ok"), "Nothing is wrong.");
    assert.match(shown("unknown"), /Nobody knows/);
    bus.set_owner("");
    assert.match(shown("ok"), /not running/);
});

test("the page of a port reads what no signal announces", async () => {
    const objects = await started("a");
    const parent = document.createElement("section");
    const page = new PortPage(parent, objects, new Description(description_json), "a/1");

    assert.deepEqual(bus.calls.map(call => call.method).sort(), ["GetAll", "GetCounters", "ListHistories"]);
    assert.equal(bus.calls.find(call => call.method === "ListHistories").args[0].port.v, "a/1");
    await bus.answer("ListHistories", [["a/1", pack({ Transitions: [[1, 1, "", "active", "x", {}]] })]]);
    await bus.answer("GetAll", { ...port("a")[PORT], LinkDownCount: { v: 3 } });
    await bus.answer("GetCounters", [[["port"], ["x"], ["bytes"], {}]], [[a, 0, [1], 0, 1000000, {}]]);
    assert.equal(objects.paths.get(a)[PORT].LinkDownCount, 3);
    assert.equal(page.counters.rows.size, 1);
    assert.equal(page.history.transitions.length, 1);
    /* the overview, and a table without entries */
    const content = name => parent.all("dd").concat(parent.all("section")).find(e => e.getAttribute("data-name") === name);
    bus.change(a, PORT, { State: "init", Gids: [] });
    page.update(new Set([a]));
    assert.equal(content("State").textContent, "init");
    assert.equal(content("Gids").all("p")[0].textContent, "none");
    bus.change(a, PORT, { Gids: [[0, "fe80::", "IB", "", "", {}]] });
    page.update(new Set([a]));
    assert.equal(content("Gids").all("td")[1].textContent, "fe80::");
    bus.change(a, PORT, { State: "active" });
    /* the count has changed: the history too */
    page.update(new Set([a]));
    await bus.answer("ListHistories", []);
    /* what is found may end after the state has changed, and another cable is a part of the history */
    bus.change(a, PORT, { Findings: [entry("x", "one")] });
    page.update(new Set([a]));
    await bus.answer("ListHistories", []);
    bus.signal(OBJECT_MANAGER, "InterfacesAdded", ROOT, [a, { "org.rdma.Port.Cable": pack({ CableSerialNumber: "S1" }) }]);
    page.update(new Set([a]));
    await bus.answer("ListHistories", []);
    bus.signal(OBJECT_MANAGER, "InterfacesRemoved", ROOT, [a, ["org.rdma.Port.Cable"]]);
    page.update(new Set([a]));
    await bus.answer("ListHistories", []);
    page.update(new Set([a]));
    assert.equal(bus.calls.length, 0);
    /* each time */
    assert.equal(intervals.size, 1);
    for (const poll of intervals)
        poll();
    assert.deepEqual(bus.calls.map(call => [call.path, call.method]), [[a, "GetAll"], ["/org/rdma", "GetCounters"]]);
    bus.take("GetCounters").fail(new Error("it hangs"));
    await settle();
    assert.deepEqual([page.counters.problem.textContent, page.counters.problem.hidden], ["it hangs", false]);
    bus.calls.length = 0;
    /* but not while nobody looks, or rdmad is away */
    document.hidden = true;
    await page.poll();
    document.hidden = false;
    bus.set_owner("");
    await page.poll();
    assert.equal(bus.calls.length, 0);
    assert.ok(page.gone.hidden);
    bus.set_owner(":1.5");
    await load(world("b"));
    page.update(null);
    assert.equal(page.gone.hidden, false);
    page.close();
    assert.equal(intervals.size, 0);
});

test("a port has links to what other pages of Cockpit have of it", async () => {
    const jumps = [];
    const links = (others = {}) => links_of({ ...plain(port("a")), ...plain(others) });
    const ethernet = { "org.rdma.Port.Ethernet": pack({ Netdev: "ens1" }) };

    cockpit.jump = path => jumps.push(path);
    cockpit.manifests = undefined;
    assert.deepEqual(links(ethernet), []);
    cockpit.manifests = { network: {}, system: {} };
    const [interface_, journal] = links(ethernet);
    assert.deepEqual([interface_.textContent, journal.textContent], ["Interface ens1", "Journal of the port"]);
    for (const link of [interface_, journal])
        link.listeners.get("click")({ preventDefault() {} });
    assert.deepEqual(jumps, ["/network#/ens1", "/system/logs#/?priority=debug&RDMA_DEVICE=a&RDMA_PORT=1"]);
    assert.deepEqual(jumps, [interface_, journal].map(link => link.getAttribute("href")));
    /* each interface once: those of IPoIB are a table */
    const table = port("a", { Netdevs: [[5, "ib0", {}], [6, "ib0.8001", {}], [7, "ens1", {}]] });
    assert.deepEqual(links({ ...table, ...ethernet }).map(link => link.textContent),
                     ["Interface ens1", "Interface ib0", "Interface ib0.8001", "Journal of the port"]);
});

test("a screen reader is told what changes, and what is new, but not what there was at first", async () => {
    new_bus();
    await import("./rdma.js");
    await settle();
    await load(world("a"), { Version: "1" });
    await run_timers();
    const news = document.getElementById("news");
    const told = async () => {
        news.textContent = "";
        await run_timers();
        await run_timers();
        return news.textContent;
    };

    assert.equal(await told(), "");
    assert.match(document.getElementById("summary").textContent, /^1 ports, 1 active; rdmad 1$/);
    bus.signal(OBJECT_MANAGER, "InterfacesAdded", ROOT, [b, port("b")]);
    assert.equal(await told(), "b/1: active");
    bus.change(b, PORT, { State: "down" });
    bus.change(a, PORT, { Stale: true });
    assert.equal(await told(), "b/1: down. a/1: active, stale");
    assert.match(document.getElementById("summary").textContent, /^2 ports, 1 active, 1 stale; rdmad 1$/);
    bus.change(b, PORT, { LastError: "x" });
    assert.equal(await told(), "");
    bus.signal(OBJECT_MANAGER, "InterfacesRemoved", ROOT, [b, [PORT]]);
    assert.equal(await told(), "b/1 has gone");
    /* a row has values of its device */
    const ports = document.getElementById("ports");
    bus.change(`${ROOT}/device/a`, "org.rdma.Device", { FirmwareVersion: "9.1", Ports: [a] });
    await run_timers();
    assert.match(ports.textContent, /9[.]1/);
    const before = Date.now();
    bus.set_owner("");
    const seconds = Array.from({ length: Math.ceil((Date.now() - before) / 1000) + 1 }, (_, i) => new Date(before + 1000 * i));
    const away = await told();
    assert.ok(seconds.some(date => away === "rdmad is not running. What is shown is from before " +
                                            `${date.toISOString().slice(11, 19)}.`), away);
    assert.ok(document.body.classList.contains("old"));
    assert.match(document.getElementById("findings").textContent, /not running/);
    /* once */
    bus.set_owner("");
    assert.equal(await told(), "");
    bus.set_owner(":1.7");
    await load(world("a"), { Version: "2" });
    assert.match(await told(), /a.1: active. rdmad was restarted/);
    assert.ok(!document.body.classList.contains("old"));
});

test("the page is light or dark as Cockpit is", async () => {
    const { follow_theme } = await import("./theme.js");
    const dark = () => document.documentElement.classList.contains("pf-theme-dark");
    const choose = style => { localStorage.getItem = () => style };

    follow_theme();
    assert.equal(dark(), false);
    choose("dark");
    window_listeners.get("storage")({ key: "other" });
    assert.equal(dark(), false);
    window_listeners.get("storage")({ key: "shell:style" });
    assert.equal(dark(), true);
    window_listeners.get("cockpit-style")({ detail: { style: "light" } });
    assert.equal(dark(), false);
    window_listeners.get("cockpit-style")({});
    assert.equal(dark(), true);
    choose(null);
});
