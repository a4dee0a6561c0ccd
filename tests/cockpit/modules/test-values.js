/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is computed: values with units, rates, the history, the order of the table, news. */

import { description_json, pack, plain, port, run_timers } from "./doubles.js";
import assert from "node:assert";
import test from "node:test";

const { Counters } = await import("./counters.js");
const { Description, format, label, tone } = await import("./describe.js");
const { table: make_table } = await import("./dom.js");
const { History } = await import("./history.js");
const { News } = await import("./news.js");
const { PortTable } = await import("./table.js");
const { Traffic } = await import("./traffic.js");

const description = new Description(description_json);

test("a value is in its unit", () => {
    for (const [value, unit, text] of [
        [400e9, "bit/s", "400 Gb/s"], [1e9, "bit/s", "1 Gb/s"], [999999999, "bit/s", "999.999 Mb/s"], [1e6, "bit/s", "1 Mb/s"],
        [999999, "bit/s", "999999 bit/s"],
        [2500000, "us", "2.5 s"], [1000000, "us", "1 s"], [999999, "us", "999.999 ms"], [1000, "us", "1 ms"], [999, "us", "999 us"],
        [0, "us since 1970", "never"], [1795601478369917, "us since 1970", "2026-11-25 10:11:18.369"],
        [4096, "bytes", "4096 bytes"], [2 ** 20, "bytes", "1048576 bytes (1 MiB)"], [2 ** 20 + 1, "bytes", "1048577 bytes"],
        [2 ** 30, "bytes", "1073741824 bytes (1 GiB)"], [2 ** 30 + 2 ** 20, "bytes", "1074790400 bytes (1025 MiB)"], [0, "bytes", "0 bytes"],
        [1, "lanes", "1 lane"], [4, "lanes", "4 lanes"], [1, "entries", "1 entry"], [0, "entries", "0 entries"],
        [45, "degrees Celsius", "45 °C"], [7, "K", "7 K"], [250, "cm", "2.5 m"], [3301500, "uV", "3.301 V"], [6750, "uA", "6.75 mA"],
        [1000000, "nW", "0.00 dBm"], [501187, "nW", "-3.00 dBm"], [2000000, "nW", "3.01 dBm"], [0, "nW", "no light"],
        [[1000000, 0], "nW", "0.00 dBm, no light"], [350, "0.01 dB", "3.50 dB"], [50000000000000, "of 10^18 bits", "5.0e-5"], [2500, "0.001 factors of ten", "2.5 factors of ten"],
        [255, "bits", "0xff"], [16, "id", "0x10"], [7, null, "7"], [7, "turns", "7 turns"],
        [true, null, "yes"], [false, null, "no"], [["a", 1], null, "a, 1"], [[], null, "none"], ["", null, "none"],
        [{ a: { v: 1 }, b: { v: "x" } }, null, "a: 1, b: x"], [{}, null, "none"],
    ])
        assert.equal(format(value, unit), text);
    /* each unit of the table has a printer */
    for (const unit of new Set(description_json.Attributes.map(row => row.Unit)))
        assert.doesNotMatch(format(5000000, unit), / (us|us since 1970|bit\/s|id|bits|cm|uV|uA|nW|0.01 dB|0.001 factors of ten)$/);
    assert.deepEqual(["active", "active-defer", "down", "init", "armed"].map(tone), ["good", "good", "bad", "fair", "fair"]);
});

test("names are written as people read them", () => {
    for (const [name, text] of [["State", "State"], ["SmLid", "Subnet manager LID"], ["ActiveMtu", "Active MTU"], ["Pkeys", "P_Keys"],
                                ["NetdevMtu", "Network interface MTU"], ["PhysicalState", "Physical state"], ["SubnetTimeoutUSec", "Subnet timeout"],
                                ["LinkDownCount", "Link downs"], ["CableRxPower", "Cable RX power"], ["node_guid", "Node GUID"]])
        assert.equal(label(name), text);
    /* and no other name is left as it is */
    for (const { Name } of description_json.Attributes.filter(row => row.Name))
        assert.doesNotMatch(label(Name).replace(/RoCE|IPv6/g, ""), /[a-z][A-Z]|_(?!Key)/, Name);
});

test("what has no value has its reason", () => {
    const row = description.port_rows.find(r => r.Name === "State");
    const code = description_json.Reasons[0].Name;

    assert.deepEqual(description.show(plain(port("a")), row), { text: "active", missing: false });
    assert.deepEqual(description.show(plain(port("a", { Unavailable: { State: code } })), row),
                     { text: `unavailable (${description_json.Reasons[0].Help})`, missing: true });
    assert.deepEqual(description.show(plain(port("a", { Unavailable: { State: "of-later" } })), row),
                     { text: "unavailable (of-later)", missing: true });
    assert.equal(description.show({}, row), null);
    assert.equal(description.show({ "org.rdma.Port": {} }, row), null);
});

test("a member that all entries lack has no column", () => {
    const row = description.port_rows.find(r => r.Name === "Gids");
    const object = { [row.Interface]: { Gids: [[0, "fe80::", "IB", "", "", {}], [1, "fe81::", "IB", "", "", pack({ VlanId: 5 })]] } };

    assert.deepEqual(description.entries(object, row),
                     { headings: ["Index", "GID", "Type", "VLAN ID"], rows: [["0", "fe80::", "IB", ""], ["1", "fe81::", "IB", "5"]] });
});

/* What GetCounters() returns of one counter of a port. */
function reply(value, unit, condition, reason, usec) {
    const tail = reason ? { Missing: { t: "a{us}", v: { 0: reason } } }
        : condition === "saturated" ? { Saturated: { t: "au", v: [0] } } : {};

    return [[[["port"], ["x"], [unit], {}]], [["/org/rdma/device/0/port/1", 0, [value], 0, usec, tail]]];
}

/* The rate of a counter with these answers: [value, seconds, condition, reason] */
function rate_of(unit, ...answers) {
    const counters = new Counters(description);

    for (const [value, seconds, condition = "valid", reason = ""] of answers)
        counters.update(...reply(value, unit, condition, reason, seconds * 1e6));
    const { rate, per_second } = counters.rows.get("port/x");
    assert.equal(per_second === null, rate.textContent === "");
    assert.equal(counters.rate_of("x"), per_second);
    assert.equal(counters.rate_of("y"), undefined);
    return rate.textContent;
}

test("a rate is between two answers, and not over a reset", () => {
    assert.equal(rate_of("bytes", [1000, 10]), "");
    assert.equal(rate_of("bytes", [1000, 10], [3000, 12]), "1.00 kB/s");
    assert.equal(rate_of("bytes", [1000, 10], [1999, 11]), "999 B/s");
    assert.equal(rate_of("bytes", [0, 10], [5e12, 11]), "5.00 TB/s");
    assert.equal(rate_of("packets", [0, 10], [1e9, 11]), "1.00 G packets/s");
    assert.equal(rate_of("packets", [0, 10], [1e6, 12]), "500 k packets/s");
    assert.equal(rate_of("unknown", [0, 10], [5, 11]), "5.00 /s");
    assert.equal(rate_of("bytes", [7, 10], [7, 11]), "0 B/s");
    assert.equal(rate_of("bytes", [3000, 10], [1000, 11]), "");
    assert.equal(rate_of("bytes", [3000, 10], [1000, 11], [1500, 12]), "500 B/s");
    assert.equal(rate_of("bytes", [0, 10], [10, 11, "saturated"]), "");
    assert.equal(rate_of("bytes", [0, 10, "saturated"], [10, 11]), "");
    assert.equal(rate_of("bytes", [0, 10], [0, 11, "valid", "query-failed"], [50, 12]), "");
    /* the same answer again changes nothing, and an older one does not count */
    assert.equal(rate_of("bytes", [0, 10], [10, 11], [10, 11]), "10.0 B/s");
    assert.equal(rate_of("bytes", [0, 10], [10, 11], [70, 9]), "10.0 B/s");
});

test("the value of a counter has its unit, its condition and its reason", () => {
    const value_of = (...c) => {
        const counters = new Counters(description);
        counters.fail("broken");
        counters.update(...reply(...c, 1));
        assert.ok(counters.problem.hidden);
        return [counters.rows.get("port/x").value.textContent, counters.rows.get("port/x").value.className];
    };

    assert.deepEqual(value_of(5, "bytes", "valid", ""), ["5 bytes", ""]);
    assert.deepEqual(value_of(5, "unknown", "valid", ""), ["5", ""]);
    assert.deepEqual(value_of(5, "bytes", "saturated", ""), ["5 bytes (saturated)", ""]);
    assert.deepEqual(value_of(0, "bytes", "valid", "of-later"), ["unavailable (of-later)", "missing"]);
});

test("the history counts how often the port went away from active", () => {
    const now = 1795601478000000;
    const states = ["active", "down", "init", "active", "down", "armed", "active"];
    const transitions = states.slice(1).map((to, i) => [now - (600 - 100 * i) * 1e6, 0, states[i], to, "port-error", {}]);
    const history = new History();
    const real_now = Date.now;
    const label = () => history.picture.firstChild.getAttribute("aria-label");

    Date.now = () => now / 1000;
    try {
        history.update(pack({ Transitions: transitions }));
        assert.match(label(), /^6 changes of the state from 2026-11-25 10:01:18.000 to 2026-11-25 10:11:18.000, 2 of them away from active/);
        assert.deepEqual(history.picture.all("rect").map(e => e.className),
                         ["state bad", "state fair", "state good", "state bad", "state fair", "state good"]);
        assert.equal(history.picture.all("line").length, 6 + 1);
        const marks = history.picture.all("line").slice(0, 6);
        assert.deepEqual(marks.map(e => e.className), ["mark bad", "mark fair", "mark good", "mark bad", "mark fair", "mark good"]);
        assert.deepEqual(marks.map(e => e.getAttribute("x1")), history.picture.all("rect").map(e => e.getAttribute("x")));
        const widths = history.picture.all("rect").map(e => parseFloat(e.getAttribute("width")));
        for (const width of widths)
            assert.ok(Math.abs(width - 100 / 6) < 1e-9);
        assert.deepEqual(history.picture.all("rect").map(e => e.getAttribute("height")), ["12", "35", "60", "12", "35", "60"]);
        /* the ends and the middle have their times, and days where they are not of one day */
        const axis = () => history.picture.all("text").map(e => [e.getAttribute("x"), e.textContent]);
        assert.deepEqual(axis(), [["0%", "10:01:18"], ["50%", "10:06:18"], ["100%", "10:11:18"]]);
        const chosen = history.span.value;
        history.span.value = "172800";
        history.update(pack({ Transitions: [[now - 86460e6, 0, "down", "active", "x", {}], ...transitions] }));
        assert.deepEqual(axis(), [["0%", "2026-11-24 10:10"], ["50%", "2026-11-24 22:10"], ["100%", "2026-11-25 10:11"]]);
        history.update(pack({ Transitions: [[now - 86400e6, 0, "down", "active", "x", {}], ...transitions] }));
        assert.equal(axis()[0][1], "10:11:18");
        history.span.value = chosen;
        history.update(pack({ Transitions: transitions }));
        /* the last one first */
        const rows = history.list.all("tbody")[0].children.map(row => row.children.map(cell => cell.textContent));
        assert.equal(rows.length, 6);
        assert.deepEqual(rows[0], ["2026-11-25 10:09:38.000", "armed", "active", "port-error"]);
        /* a span that begins in the middle: the state that it begins with has a bar, but no mark */
        history.span.value = "250";
        history.draw();
        assert.match(label(), /^2 changes of the state from 2026-11-25 10:07:08.000 .*, 0 of them/);
        assert.deepEqual(history.picture.all("rect").map(e => e.className), ["state bad", "state fair", "state good"]);
        assert.equal(history.picture.all("rect")[0].getAttribute("x"), "0%");
        /* one that begins with a change: the state before has no bar */
        history.span.value = "300";
        history.draw();
        assert.match(label(), /^3 changes/);
        assert.deepEqual(history.picture.all("rect").map(e => e.className), ["state bad", "state fair", "state good"]);
        history.update();
        assert.match(history.list.textContent, /Nothing is known/);
        assert.match(label(), /^0 changes/);
    } finally {
        Date.now = real_now;
    }
});

test("what was found before, and the cables, are in the record", () => {
    const history = new History();
    const rows = () => history.past.element.all("tbody").map(body => body.children.map(row => row.children.map(cell => cell.textContent)));
    const t = 1795601478000000;

    history.update(pack({ Findings: [["flap", "warning", t, t + 60e6, pack({ Attribute: "LinkDownCount", Cause: "x" })],
                                     ["hot", "critical", t, 0, pack({ Acknowledged: t, AcknowledgedText: "the fan" })]],
                          Cables: [["S1", t, t + 60e6, pack({ PartNumber: "P" })], ["S2", t + 60e6, 0, {}]] }));
    assert.deepEqual(rows(), [
        [["hot", "critical", "2026-11-25 10:11:18.000", "it holds", "acknowledged 2026-11-25 10:11:18.000, the fan"],
         ["flap", "warning", "2026-11-25 10:11:18.000", "2026-11-25 10:12:18.000", "Link downs, because of x"]],
        [["S2", "", "2026-11-25 10:12:18.000", "it is there"], ["S1", "P", "2026-11-25 10:11:18.000", "2026-11-25 10:12:18.000"]]]);
    history.update();
    assert.deepEqual(rows(), []);
});

test("a long table says how long it is", () => {
    const rows = n => Array.from({ length: n }, (_, i) => [`${i}`]);

    assert.equal(make_table("GIDs", ["Index"], rows(256)).all("caption")[0].textContent, "GIDs");
    const long = make_table("GIDs", ["Index"], rows(1000));
    assert.equal(long.all("caption")[0].textContent, "GIDs (the first 256 of 1000)");
    assert.equal(long.all("td").length, 256);
});

test("traffic is two lines, with gaps where it is not known", () => {
    const traffic = new Traffic();
    const add = (seconds, rates) => traffic.add(seconds * 1e6, name => rates[name]);
    const lines = () => traffic.picture.all("path").map(path => path.getAttribute("d"));
    const label = () => traffic.picture.all("svg")[0].getAttribute("aria-label");

    add(0, {});
    assert.ok(traffic.element.hidden);
    add(2, { port_xmit_bytes: null, port_rcv_bytes: null });
    assert.ok(traffic.element.hidden);
    add(4, { port_xmit_bytes: 100, port_rcv_bytes: 0 });
    assert.ok(!traffic.element.hidden);
    add(6, { port_xmit_bytes: 50, port_rcv_bytes: 200 });
    add(8, { port_xmit_bytes: null, port_rcv_bytes: 200 });
    assert.match(label(), /^Sent now: not known, at most 100 B.s. Received now: 200 B.s/);
    add(10, { port_xmit_bytes: 100, port_rcv_bytes: 0 });
    assert.deepEqual(lines(), ["M147.0 50.0L148.0 75.0M150.0 50.0", "M147.0 100.0L148.0 0.0L149.0 0.0L150.0 100.0"]);
    assert.equal(label(), "Sent now: 100 B/s, at most 100 B/s. Received now: 0 B/s, at most 200 B/s");
    assert.deepEqual(traffic.legend.map(e => e.textContent), ["Sent 100 B/s", "Received 0 B/s"]);
    assert.equal(traffic.scale.textContent, "The picture is 200 B/s high.");
    /* less than 1 B/s fills no picture */
    const idle = new Traffic();
    idle.add(2e6, () => 0);
    assert.equal(idle.scale.textContent, "The picture is 1.00 B/s high.");
    /* what is older than five minutes goes */
    for (let i = 6; i < 200; i++)
        add(2 * i, { rdma_tx_bytes: 10, rdma_rx_bytes: 20 });
    assert.equal(traffic.readings.length, 150);
    assert.match(label(), /at most 10.0 B.s. .* at most 20.0 B.s$/);
});

test("news are told once", async () => {
    const element = document.createElement("p");
    const news = new News(element);

    news.tell("a", "a: down");
    news.tell("a", "a: active");
    news.tell("b", "b: down");
    assert.equal(element.textContent, "");
    await run_timers();
    assert.equal(element.textContent, "a: active. b: down");
    news.tell("c", "c: down");
    await run_timers();
    assert.equal(element.textContent, "c: down");
    for (const about of ["a", "b", "c", "d"])
        news.tell(about, about);
    await run_timers();
    assert.equal(element.textContent, "a. b. c. d");
    for (const about of ["a", "b", "c", "d", "e"])
        news.tell(about, about);
    await run_timers();
    assert.equal(element.textContent, "5 ports have changed");
});

test("the table is in the order of the chosen column", () => {
    const parent = document.createElement("div");
    const table = new PortTable(parent, description);
    const names = () => {
        table.render();
        return table.element.all("a").map(a => a.textContent).join(" ");
    };
    table.by_adapter.checked = false;
    const put = (name, others) => table.update(name, plain(port(name, others)));
    const column = name => table.columns.findIndex(c => c.Name === name);
    const lid = description.columns.find(c => c.Name === "Lid");

    table.finish(true);
    assert.ok(table.element.hidden && !table.none.hidden);
    const with_lid = (name, value, code) => {
        const object = plain(port(name, code ? { Unavailable: { Lid: code } } : {}));
        (object[lid.Interface] ??= {}).Lid = value;
        table.update(name, object);
    };
    with_lid("mlx5_10", 9);
    with_lid("mlx5_9", 100);
    with_lid("a", 0, "query-failed");
    put("z", { Stale: true, LastError: "EIO" });
    table.finish(true);
    assert.ok(!table.element.hidden && table.none.hidden);
    assert.equal(names(), "a/1 mlx5_9/1 mlx5_10/1 z/1");
    table.sort(column("Lid"));
    assert.equal(names(), "mlx5_10/1 mlx5_9/1 a/1 z/1");
    table.sort(column("Lid"));
    assert.equal(names(), "mlx5_9/1 mlx5_10/1 a/1 z/1");
    with_lid("mlx5_10", 1000);
    assert.equal(names(), "mlx5_10/1 mlx5_9/1 a/1 z/1");
    table.sort(column("State"));
    put("z", { State: "armed" });
    put("a", { State: "down" });
    assert.equal(names(), "mlx5_9/1 mlx5_10/1 z/1 a/1");
    /* one of the others has another name now */
    put("z", { State: "armed", DeviceName: "l" });
    assert.equal(names(), "mlx5_9/1 mlx5_10/1 l/1 a/1");
    assert.deepEqual(table.element.all("a").map(e => e.getAttribute("href")), ["#/mlx5_9/1", "#/mlx5_10/1", "#/l/1", "#/a/1"]);
    put("mlx5_10", { DeviceName: "b" });
    assert.equal(names(), "b/1 mlx5_9/1 l/1 a/1");
    put("z", { State: "armed" });
    with_lid("mlx5_10", 1000);
    table.update("mlx5_9", undefined);
    assert.equal(names(), "mlx5_10/1 z/1 a/1");
    assert.equal(table.rows.size, 3);
    assert.equal(table.order.length, 3);
    /* those without a value have the order of their names */
    for (const name of ["c", "a", "b"])
        with_lid(name, 0, "query-failed");
    table.sort(column("Lid"));
    assert.equal(names(), "mlx5_10/1 a/1 b/1 c/1 z/1");
    /* wherever a row belongs */
    table.sort(0);
    for (const letter of "hdpbxfnjlcvrmkto")
        put(letter);
    assert.equal(names(), "a/1 b/1 c/1 d/1 f/1 h/1 j/1 k/1 l/1 m/1 mlx5_10/1 n/1 o/1 p/1 r/1 t/1 v/1 x/1 z/1");
});

/* A table of the ports of these devices: name -> values of the device */
function table_of(devices) {
    const table = new PortTable(document.createElement("div"), description);

    for (const [name, values] of Object.entries(devices))
        table.update(name, plain(port(name)), { "org.rdma.Device": { Name: name, ...values } });
    table.finish(true);
    return table;
}

const parts = table => table.element.all("tbody").map(body => body.children.map(row => row.children[0].textContent).join(" "));

test("an adapter stands where the first of its ports does", () => {
    const one = { SystemImageGuid: "1:2", HcaType: "MT1", Driver: "mlx5_core", PciAddress: "0000:19:00.1" };
    const table = table_of({ b: { PciAddress: "0000:31:00.0" }, a: one, d: { PciAddress: "0000:31:00.1" }, c: one, e: {} });

    assert.deepEqual(parts(table), ["MT1, mlx5_core, PCI 0000:19:00 a/1 c/1", "PCI 0000:31:00 b/1 d/1", "e e/1"]);
    table.sort(0);
    assert.deepEqual(parts(table), ["e e/1", "PCI 0000:31:00 d/1 b/1", "MT1, mlx5_core, PCI 0000:19:00 c/1 a/1"]);
    for (const name of ["b", "d"])
        table.update(name, undefined);
    table.finish(true);
    assert.deepEqual(parts(table), ["e e/1", "MT1, mlx5_core, PCI 0000:19:00 c/1 a/1"]);
    assert.equal(table.adapters.size, 2);
    table.by_adapter.checked = false;
    table.render();
    assert.deepEqual(parts(table), ["e/1 c/1 a/1"]);
});

test("the filter lets rows through that have each of its words", () => {
    const table = table_of({ a: { FirmwareVersion: "28.1" }, b: { FirmwareVersion: "28.2", HcaType: "MT7" }, c: { FirmwareVersion: "30.1", HcaType: "MT7" } });
    const found = text => {
        table.filter.value = text;
        table.render();
        return [table.element.all("a").map(a => a.textContent).join(" "), table.count.textContent];
    };

    assert.deepEqual(found(" mt7  28 "), ["b/1", "1 of 3 ports are shown"]);
    assert.deepEqual(found("MT7"), ["b/1 c/1", "2 of 3 ports are shown"]);
    assert.deepEqual(found("nothing"), ["", "0 of 3 ports are shown"]);
    /* why a value is not there is no value */
    table.update("a", plain(port("a", { Rate: 0, Unavailable: { Rate: description_json.Reasons[0].Name } })), undefined);
    assert.deepEqual(found(description_json.Reasons[0].Help), ["", "0 of 3 ports are shown"]);
    table.update("c", plain({ ...port("c"), "org.rdma.Port.Neighbor": pack({ Neighbor: "leaf-3", NeighborPort: "swp7" }) }), undefined);
    assert.deepEqual(found("leaf-3 swp7"), ["c/1", "1 of 3 ports are shown"]);
    assert.deepEqual(found(""), ["a/1 b/1 c/1", ""]);
});

test("of many ports only some are in the document", () => {
    const table = table_of(Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`d${i}`, { SystemImageGuid: `${i >> 9}` }])));
    const n = () => table.element.all("a").length;

    assert.deepEqual([n(), table.more.hidden, table.count.textContent], [256, false, "256 of 600 ports are shown"]);
    table.show_more();
    assert.deepEqual([n(), table.more.hidden], [512, false]);
    table.show_more();
    assert.deepEqual([n(), table.more.hidden, table.count.textContent], [600, true, ""]);
    assert.equal(table.element.all("tbody").length, 2);
});
