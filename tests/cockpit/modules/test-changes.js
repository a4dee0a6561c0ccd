/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What follows from signals and answers, in which order they ever come: the objects, the findings, the page. */

import { bus, description_json, device, intervals, pack, port, port_path, run_timers, settle, spawned } from "./doubles.js";
import assert from "node:assert";
import test from "node:test";

const { Description } = await import("./describe.js");
const { Findings } = await import("./findings.js");
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
    bus.calls.length = bus.listeners.length = spawned.length = 0;
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

const finding = (object, sentence, others = {}) =>
    ({ Check: "x", Severity: "warning", Finding: sentence, Port: null, Device: null, Property: null, Also: [], ...object, ...others });

/* The findings for these NAMES, as texts */
function texts(list, ...names) {
    const findings = new Findings(() => {});
    const element = document.createElement("div");

    findings.list = list;
    findings.show(element, ...names);
    return element.all("li").length > 0 ? element.all("li").map(e => e.textContent) : [element.textContent];
}

test("the page of a port has what is about it, its device and the machine", () => {
    const list = [finding({ Port: "a/1" }, "one"), finding({ Port: "a/2" }, "two"), finding({ Device: "a" }, "three"),
                  finding({ Device: "b" }, "four"), finding({}, "five")];

    assert.deepEqual(texts(list, "a/1", "a"), ["warning a/1: one", "warning a: three", "warning five"]);
    assert.equal(texts(list).length, 5);
    assert.deepEqual(texts([list[1]], "a/1", "a"), ["rdmactl check finds nothing."]);
    assert.deepEqual(texts(null), ["Checking"]);
});

test("what comes from a finding is called as rdmactl calls it", () => {
    const also = others => texts([finding({ Port: "a/1" }, "down", { Also: others })])[0];

    assert.equal(also([]), "warning a/1: down");
    assert.equal(also([{ Check: "netdev-up", Property: "State" }]), "warning a/1: down; also: netdev-up");
    assert.equal(also([{ Check: "flap", Property: "LinkDownCount" }, { Check: "flap", Property: "State" }]),
                 "warning a/1: down; also: flap");
    assert.equal(also([{ Check: "expectation", Property: "Rate" }, { Check: "expectation" }]),
                 "warning a/1: down; also: Rate, expectation");
});

test("rdmactl check runs once at a time, and again after changes", async () => {
    new_bus();
    let changes = 0;
    const findings = new Findings(() => changes++);

    findings.want();
    findings.want();
    findings.want();
    assert.equal(spawned.length, 1);
    spawned[0].put('{"Findings": [');
    spawned[0].put("]}");
    spawned[0].end();
    await settle();
    assert.deepEqual([findings.list, findings.problem, changes], [[], "", 1]);
    assert.equal(spawned.length, 1);
    await run_timers();
    assert.equal(spawned.length, 2);
    /* with findings the exit status is 1 */
    spawned[1].put('{"Findings": [{}]}');
    spawned[1].fail({ exit_status: 1 });
    await settle();
    assert.deepEqual([findings.list, findings.problem], [[{}], ""]);
    await run_timers();
    assert.equal(spawned.length, 2);
    findings.want();
    spawned[2].fail({ exit_status: 1, message: "exit status 1" });
    await settle();
    assert.deepEqual([findings.list, findings.problem], [null, "rdmactl check gave no answer"]);
    await run_timers();
    findings.want();
    spawned[3].fail({ exit_status: 4, message: "no bus" });
    await settle();
    assert.deepEqual([findings.list, findings.problem], [null, "no bus"]);
    await run_timers();
    /* what is found after rdmad has gone is not shown */
    findings.want();
    findings.stop();
    spawned[4].put('{"Findings": []}');
    spawned[4].end();
    await settle();
    assert.equal(findings.list, null);
    assert.match(findings.problem, /not running/);
});

test("the page of a port reads what no signal announces", async () => {
    const objects = await started("a");
    const parent = document.createElement("section");
    const page = new PortPage(parent, objects, new Description(description_json), new Findings(() => {}), "a/1");

    assert.deepEqual(bus.calls.map(call => call.method).sort(), ["GetAll", "GetCounters", "GetHistory"]);
    await bus.answer("GetHistory", [[1, 1, "", "active", "x", {}]]);
    await bus.answer("GetAll", { ...port("a")[PORT], LinkDownCount: { v: 3 } });
    await bus.answer("GetCounters", [[["port"], ["x"], ["bytes"], {}]], [[a, 0, [1], 0, 1000000, {}]]);
    assert.equal(objects.paths.get(a)[PORT].LinkDownCount, 3);
    assert.equal(page.counters.rows.size, 1);
    assert.equal(page.history.transitions.length, 1);
    /* the count has changed: the history too */
    page.update(new Set([a]));
    await bus.answer("GetHistory", []);
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
    let checks = 0;
    while (checks < spawned.length) {
        checks = spawned.length;
        spawned.at(-1).end();
        await settle();
        await run_timers();
    }
    bus.set_owner("");
    assert.match(await told(), /^rdmad is not running/);
    assert.ok(document.body.classList.contains("old"));
    assert.match(document.getElementById("findings").textContent, /not running/);
    /* once, and rdmactl, which would start rdmad again, is not run */
    bus.set_owner("");
    assert.equal(await told(), "");
    assert.equal(spawned.length, checks);
    bus.set_owner(":1.7");
    await load(world("a"), { Version: "2" });
    assert.match(await told(), /a.1: active. rdmad was restarted/);
    assert.ok(!document.body.classList.contains("old"));
});
