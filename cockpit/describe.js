/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What rdmactl says about the attributes: names, units, groups, sentences. The page has no list of its own, so that an
 * attribute of a later rdmad is shown as soon as rdmactl knows it. How a value is printed follows from its unit.
 */

import { unavailable_of } from "./objects.js";

export class Description {
    static async load() {
        return new Description(JSON.parse(await cockpit.spawn(["rdmactl", "describe", "--json"], { err: "message" })));
    }

    constructor(json) {
        const rows = json.Attributes.filter(row => row.Name && row.Group);

        this.groups = json.Groups;
        this.port_rows = rows.filter(row => row.Interface.startsWith("org.rdma.Port"));
        this.device_rows = rows.filter(row => row.Interface.startsWith("org.rdma.Device"));
        this.reasons = new Map(json.Reasons.map(reason => [reason.Name, reason.Help]));
        this.counters = new Map(json.Counters.map(counter => [counter.Name, counter.Help]));
        /* what people look for first */
        this.columns = this.port_rows.filter(row => row.Group === this.groups[0] || row.Name === "Health");
    }

    /* The sentence of a code; a code of a later rdmad stands for itself. */
    reason(code) {
        return this.reasons.get(code) || code;
    }

    /* The value of ROW as a text for people; null if OBJECT does not have the row. MISSING says that the text is why there is
     * no value. */
    show(object, row) {
        const values = object[row.Interface];
        const code = unavailable_of(object)[row.Name];

        if (!values || !(row.Name in values))
            return null;
        if (code)
            return { text: `unavailable (${this.reason(code)})`, missing: true };
        const value = values[row.Name];
        if (row.Values === "Reasons" && value)
            return { text: this.reason(value), missing: false };
        return { text: format(value, row.Unit), missing: false };
    }

    /* The headings and the rows of a table that is the value of ROW. A member that all entries lack has no column. */
    entries(object, row) {
        const entries = object[row.Interface][row.Name];
        let place = 0;
        const members = row.Members.map(member => ({ ...member, place: member.Tail ? -1 : place++ }));
        const value = (member, entry) => member.Tail ? entry[entry.length - 1][member.Tail]?.v : entry[member.place];
        const used = members.filter(member => entries.some(entry => ![undefined, ""].includes(value(member, entry))));

        return {
            headings: used.map(member => member.Name),
            rows: entries.map(entry => used.map(member => {
                const v = value(member, entry);
                return v === undefined || v === "" ? "" : format(v, member.Unit);
            })),
        };
    }
}

/* How people write the words of names that are no words of the language. */
const WORDS = {
    Aer: "AER", Bdf: "BDF", Ecn: "ECN", Ets: "ETS", Fec: "FEC", Gid: "GID", Gids: "GIDs", Guid: "GUID", Hca: "HCA", Id: "ID", Lag: "LAG",
    Lid: "LID", Lmc: "LMC", Mr: "MR", Mtu: "MTU", Netdev: "network interface", Netdevs: "network interfaces", Numa: "NUMA", Pci: "PCI",
    Pcie: "PCIe", Pd: "PD", Pfc: "PFC", Pkey: "P_Key", Pkeys: "P_Keys", Qkey: "Q_Key", Qp: "QP", Qps: "QPs", Rdma: "RDMA", Roce: "RoCE",
    Sl: "SL", Sm: "subnet manager", Vlan: "VLAN",
};

/* The name of a property as people read it: "SmLid" is "Subnet manager LID". */
export function label(name) {
    const words = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").split(" ").map(word => WORDS[word] || word.toLowerCase());
    const text = words.join(" ");

    return text[0].toUpperCase() + text.slice(1);
}

/* N / SIZE with at most three decimals. */
function scaled(n, size, suffix) {
    return `${Math.floor(n / size * 1000) / 1000} ${suffix}`;
}

function counted(n, one, many) {
    return `${n} ${n === 1 ? one : many}`;
}

export function format_time(usec) {
    const date = new Date(usec / 1000);
    const two = n => String(n).padStart(2, "0");

    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
        `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.` +
        String(date.getMilliseconds()).padStart(3, "0");
}

function format_bytes(n) {
    const [size, name] = n >= 2 ** 30 && n % 2 ** 30 === 0 ? [2 ** 30, "GiB"] : [2 ** 20, "MiB"];

    return n >= size && n % size === 0 ? `${n} bytes (${n / size} ${name})` : `${n} bytes`;
}

/* One printer for each unit. The numbers of a 64-bit counter are exact up to 2^53: the bridge sends JSON. */
const units = {
    bytes: format_bytes,
    lanes: n => counted(n, "lane", "lanes"),
    entries: n => counted(n, "entry", "entries"),
    "bit/s": n => n >= 1e9 ? scaled(n, 1e9, "Gb/s") : n >= 1e6 ? scaled(n, 1e6, "Mb/s") : `${n} bit/s`,
    us: n => n >= 1e6 ? scaled(n, 1e6, "s") : n >= 1e3 ? scaled(n, 1e3, "ms") : `${n} us`,
    "us since 1970": n => n === 0 ? "never" : format_time(n),
    "degrees Celsius": n => `${n} °C`,
    bits: n => `0x${n.toString(16)}`,
    id: n => `0x${n.toString(16)}`,
};

export function format(value, unit) {
    if (typeof value === "boolean")
        return value ? "yes" : "no";
    if (typeof value === "number")
        return units[unit] ? units[unit](value) : unit ? `${value} ${unit}` : String(value);
    if (Array.isArray(value))
        return value.map(item => format(item, null)).join(", ") || "none";
    if (value !== null && typeof value === "object")
        return Object.entries(value).map(([key, v]) => `${key}: ${format(v?.v ?? v, null)}`).join(", ") || "none";
    return String(value) || "none";
}

/* A port that is active-defer works: its link is retrained while it is in use. */
export function is_active(state) {
    return state === "active" || state === "active-defer";
}

/* How good a state is, for its color. The text says it too. */
export function tone(state) {
    return is_active(state) ? "good" : state === "down" ? "bad" : "fair";
}
