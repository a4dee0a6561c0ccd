/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What is known of the attributes: names, units, groups, sentences. describe.json has it, which the build writes with rdmactl
 * describe; the page has no list of its own but of the words that names are made of. How a value is printed follows from its unit.
 */

import { unavailable_of } from "./objects.js";

export class Description {
    static async load() {
        const answer = await fetch("describe.json");

        if (!answer.ok)
            throw new Error(`describe.json: ${answer.status}`);
        return new Description(await answer.json());
    }

    constructor(json) {
        const rows = json.Attributes.filter(row => row.Name && row.Group);

        this.groups = json.Groups;
        this.port_rows = rows.filter(row => row.Interface.startsWith("org.rdma.Port"));
        this.device_rows = rows.filter(row => row.Interface.startsWith("org.rdma.Device"));
        this.reasons = new Map(json.Reasons.map(reason => [reason.Name, reason.Help]));
        this.counters = new Map(json.Counters.map(counter => [counter.Name, counter.Help]));
        /* what people look for first */
        this.columns = [...this.port_rows.filter(row => row.Group === this.groups[0] || row.Name === "Health"),
                        ...this.device_rows.filter(row => row.Name === "FirmwareVersion")];
        this.summary = [...this.columns, ...this.device_rows.filter(row => row.Name === "HcaType"),
                        ...this.port_rows.filter(row => ["Neighbor", "NeighborPort", "FitSince"].includes(row.Name))];
    }

    /* The sentence of a code; a code of a later rdmad stands for itself. */
    reason(code) {
        return this.reasons.get(code) || code;
    }

    /* The value of ROW as a text for people; null if OBJECT does not have the row. MISSING says that the text is why there is
     * no value. */
    show(object, row) {
        const values = object?.[row.Interface];

        if (!values || !(row.Name in values))
            return null;
        const code = unavailable_of(object, row);
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
            headings: used.map(member => label(member.Name)),
            rows: entries.map(entry => used.map(member => {
                const v = value(member, entry);
                return v === undefined || v === "" ? "" : format(v, member.Unit);
            })),
        };
    }
}

/* The labels: of a whole name, or of the words that a name is made of. Other words are words of the language. */
const LABELS = {
    AdministrativelyUp: "set up", BoardId: "board ID (PSID)", DmaBuf: "DMA-BUF", FirmwareVersion: "firmware", FitSince: "fit for use since",
    HcaType: "model", LastQueryTimestamp: "last read", LinkDownCount: "link downs", PfcCap: "priorities with PFC at most",
    StateChangeTimestamp: "state since", SysfsPath: "directory in sysfs",
};
const WORDS = {
    Aer: "AER", Ah: "AH", Atom: "atomics", Bdf: "BDF", C0: "C0", Ca: "CA", Cap: "capabilities", Caps: "capabilities", Char: "character", Cm: "CM",
    Cpus: "processors", Cq: "CQ", Cqe: "CQE", Cqs: "CQs", Dm: "device memory", Dscp: "DSCP", Ecn: "ECN", Ee: "EE", Esw: "switch", Ethy: "Ethertype",
    Ets: "ETS", Fec: "FEC", Fifos: "FIFOs", Fmr: "FMR", Gid: "GID", Gids: "GIDs", Grh: "GRH", Grp: "group", Guid: "GUID", Hca: "HCA",
    Hw: "hardware", Icm: "ICM", Id: "ID", Ifindex: "interface index", Iommu: "IOMMU", Ipv6: "IPv6", Lag: "LAG", Lid: "LID",
    Lmc: "LMC", Mcast: "multicast", Mr: "MR", Mtu: "MTU", Mw: "MW", Netdev: "network interface", Netdevs: "network interfaces",
    Nic: "NIC", Numa: "NUMA", Odp: "ODP", Oper: "operational", Pci: "PCI", Pcie: "PCIe", Pd: "PD", Pfc: "PFC", Phy: "PHY", Pkey: "P_Key",
    Pkeys: "P_Keys", Prio: "priority", Qkey: "Q_Key", Qp: "QP", Qps: "QPs", Rc: "RC", Rd: "RD", Rdd: "RDD", Rdma: "RDMA", Reg: "register",
    Roce: "RoCE", Rq: "RQ", Rss: "RSS", Rwq: "RWQ", Rx: "RX", Sge: "SGE", Sl: "SL", Sm: "subnet manager", Srq: "SRQ", Tc: "traffic class",
    Tso: "TSO", Tx: "TX", Uc: "UC", Ud: "UD", USec: "", Vhca: "VHCA", Vlan: "VLAN", Wq: "WQ", Wr: "WR", Xrc: "XRC",
};

/* The name of a property or member as people read it: "SmLid" is "Subnet manager LID". */
export function label(name) {
    const capital = word => word[0].toUpperCase() + word.slice(1);
    const words = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").split(/[ _]/).map(word => WORDS[capital(word)] ?? word.toLowerCase());

    return capital(LABELS[name] ?? words.join(" ").trim());
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
    cm: n => `${n / 100} m`,
    uV: n => scaled(n, 1e6, "V"),
    uA: n => scaled(n, 1e3, "mA"),
    /* as people speak of light */
    nW: n => n === 0 ? "no light" : `${(10 * Math.log10(n / 1e6)).toFixed(2)} dBm`,
    "of 10^18 bits": n => (n / 1e18).toExponential(1),
    "0.001 factors of ten": n => `${n / 1000} factors of ten`,
    "0.01 dB": n => `${(n / 100).toFixed(2)} dB`,
    bits: n => `0x${n.toString(16)}`,
    id: n => `0x${n.toString(16)}`,
};

export function format(value, unit) {
    if (typeof value === "boolean")
        return value ? "yes" : "no";
    if (typeof value === "number")
        return units[unit] ? units[unit](value) : unit ? `${value} ${unit}` : String(value);
    if (Array.isArray(value))
        return value.map(item => format(item, unit)).join(", ") || "none";
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
