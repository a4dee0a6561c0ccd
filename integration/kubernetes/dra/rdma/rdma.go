// SPDX-License-Identifier: LGPL-2.1-or-later

// Package rdma has the RDMA ports of a machine as rdmad publishes them on the bus, and says each change of them. Nothing is polled.
//
// It needs no library of rdmad, only godbus.
package rdma

import (
	"context"
	"errors"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	service = "org.rdma"
	root    = "/org/rdma"
	device  = "org.rdma.Device"
	port    = "org.rdma.Port"
)

// A Finding is something that rdmad has found to be wrong with a port.
type Finding struct {
	Check    string // the name of the check, of "rdmactl check --list"
	Severity string // "warning" or "critical"
	Text     string // an English sentence
}

// A Port has what is known of a port now. org.rdma(5) describes each property.
type Port struct {
	Device     string    // the name of the device, such as "mlx5_0"
	Number     int       // of the port, from 1
	PCIAddress string    // of the device; "" if it has none
	NUMANode   int       // of the device; -1 if it is not known
	Netdev     string    // the first network interface of the port; "" if it has none
	LinkLayer  string    // "infiniband" or "ethernet"
	State      string    // such as "active" or "down"; "" if it is not known
	Rate       uint64    // in bit/s; 0 if it is not known
	Stale      bool      // the device does not answer: the values are older than LastQueryTimestamp says
	Health     string    // "ok", "warning" or "critical"; "unknown" if rdmad does not know
	FitSince   time.Time // since when a job can begin to use the port; zero if it is not fit, or if nobody knows
	Findings   []Finding // what Health is made of
}

// Fit says if a job can begin to use the port. Rdmad judges this some milliseconds after the news that the state is another one.
func (p Port) Fit() bool {
	return !p.FitSince.IsZero()
}

// Template makes the names that this package gives to devices.
const Template = "{rdma}-{port}"

// Expand makes a name for the port out of TEMPLATE, in which {rdma} stands for the name of the device, {port} for the number, {netdev} for
// the interface, and {pci} for the address. The name is a label of DNS, as Kubernetes asks for: it has dashes in place of other
// characters. It is "" if the port has not all that the template names.
func (p Port) Expand(template string) string {
	name := template
	for key, value := range map[string]string{
		"{rdma}": p.Device, "{port}": strconv.Itoa(p.Number), "{netdev}": p.Netdev, "{pci}": p.PCIAddress,
	} {
		if value == "" && strings.Contains(template, key) {
			return ""
		}
		name = strings.ReplaceAll(name, key, value)
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
}

// The interfaces of an object, and their properties.
type object map[string]map[string]dbus.Variant

// Stores a property in DEST, a pointer, if the object has it and CODES does not say why it is not known.
func (o object) store(iface, name string, dest interface{}, codes map[string]string) {
	value, ok := o[iface][name]
	if _, unknown := codes[name]; ok && !unknown {
		_ = value.Store(dest)
	}
}

// Why properties are not known, by name.
func (o object) unavailable(iface string) map[string]string {
	codes := map[string]string{}
	o.store(iface, "Unavailable", &codes, nil)
	return codes
}

// A Client has a connection to the bus, and a copy of all objects of rdmad.
type Client struct {
	conn    *dbus.Conn
	objects map[dbus.ObjectPath]object
	ports   map[dbus.ObjectPath]Port
	read    dbus.Sequence // of the answer that the copy was made of
}

// Connect connects to the system bus, or to that which DBUS_SYSTEM_BUS_ADDRESS names.
func Connect() (*Client, error) {
	// The handler that is the default may change the order of signals.
	conn, err := dbus.ConnectSystemBus(dbus.WithSignalHandler(dbus.NewSequentialSignalHandler()))
	if err != nil {
		return nil, err
	}
	return &Client{conn: conn}, nil
}

// Close closes the connection. Watch ends then.
func (c *Client) Close() error {
	return c.conn.Close()
}

// List reads all ports. They are in the order of their names.
func (c *Client) List() ([]Port, error) {
	call := c.conn.Object(service, root).Call("org.freedesktop.DBus.ObjectManager.GetManagedObjects", 0)
	objects := map[dbus.ObjectPath]object{}
	if err := call.Store(&objects); err != nil {
		return c.sorted(), err
	}
	c.objects = objects
	c.ports = map[dbus.ObjectPath]Port{}
	c.read = call.ResponseSequence
	for path := range objects {
		c.convert(path)
	}
	return c.sorted(), nil
}

// Ping says if rdmad answers. Another goroutine may call it while Watch runs.
func (c *Client) Ping(ctx context.Context) error {
	return c.conn.Object(service, root).CallWithContext(ctx, "org.freedesktop.DBus.Peer.Ping", dbus.FlagNoAutoStart).Err
}

// Watch calls UPDATE with all ports, and again whenever one of them is another one than before, until CTX is done or the bus has gone:
// it returns why. While rdmad is away, as when it is started again, ERR says so, and the ports are those that were known last.
func (c *Client) Watch(ctx context.Context, update func(ports []Port, err error)) error {
	// The rules come before everything is read: then no change is missed.
	signals := make(chan *dbus.Signal, 16)
	c.conn.Signal(signals)
	defer c.conn.RemoveSignal(signals)
	for _, rule := range [][]dbus.MatchOption{
		{dbus.WithMatchSender(service), dbus.WithMatchPathNamespace(root)},
		{dbus.WithMatchSender("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, service)},
	} {
		if err := c.conn.AddMatchSignal(rule...); err != nil {
			return err
		}
		defer func(rule []dbus.MatchOption) { _ = c.conn.RemoveMatchSignal(rule...) }(rule)
	}
	update(c.List())
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case signal, ok := <-signals:
			if !ok {
				return errors.New("the bus has gone")
			}
			// What was sent before everything was read is in the copy.
			if signal.Sequence < c.read {
				continue
			}
			if changed, err := c.handle(signal); changed {
				update(c.sorted(), err)
			}
		}
	}
}

func (c *Client) sorted() []Port {
	ports := []Port{}
	for _, p := range c.ports {
		ports = append(ports, p)
	}
	sort.Slice(ports, func(i, j int) bool {
		a, b := ports[i], ports[j]
		return a.Device < b.Device || a.Device == b.Device && a.Number < b.Number
	})
	return ports
}

// Makes the Port of the object at PATH, or those of the device at PATH, once more. False if they are the same as before.
func (c *Client) convert(path dbus.ObjectPath) bool {
	before, known := c.ports[path]
	if c.objects[path][port] != nil {
		c.ports[path] = c.port(c.objects[path])
		return !known || !reflect.DeepEqual(c.ports[path], before)
	}
	delete(c.ports, path)
	changed := known
	for other, o := range c.objects {
		var parent dbus.ObjectPath
		o.store(port, "Device", &parent, nil)
		if parent == path {
			changed = c.convert(other) || changed
		}
	}
	return changed
}

func (c *Client) port(o object) Port {
	var path dbus.ObjectPath
	var number, node, usec = uint32(0), int32(-1), uint64(0)
	var netdevs []struct {
		Ifindex uint32
		Name    string
		Tail    map[string]dbus.Variant
	}
	var findings []struct {
		Check, Severity, Text string
		Tail                  map[string]dbus.Variant
	}
	p := Port{}
	codes := o.unavailable(port)
	for name, dest := range map[string]interface{}{
		"Device": &path, "DeviceName": &p.Device, "PortNumber": &number, "LinkLayer": &p.LinkLayer, "State": &p.State, "Rate": &p.Rate,
		"Stale": &p.Stale, "Health": &p.Health, "FitSince": &usec, "Netdevs": &netdevs, "Findings": &findings,
	} {
		o.store(port, name, dest, codes)
	}
	parent := c.objects[path]
	codes = parent.unavailable(device)
	parent.store(device, "PciAddress", &p.PCIAddress, codes)
	parent.store(device, "NumaNode", &node, codes)
	p.Number = int(number)
	p.NUMANode = int(node)
	if usec != 0 {
		p.FitSince = time.UnixMicro(int64(usec))
	}
	if len(netdevs) > 0 {
		p.Netdev = netdevs[0].Name
	}
	for _, f := range findings {
		p.Findings = append(p.Findings, Finding{f.Check, f.Severity, f.Text})
	}
	return p
}

// No signal has the tables: those that are used here are read. If that fails, the object has gone, and another signal says so.
func (c *Client) readTables(path dbus.ObjectPath, names ...string) {
	for _, name := range names {
		if name != "Netdevs" && name != "Findings" {
			continue
		}
		if value, err := c.conn.Object(service, path).GetProperty(port + "." + name); err == nil {
			c.objects[path][port][name] = value
		}
	}
}

// Says if a port is another one now, or if rdmad has come or gone.
func (c *Client) handle(signal *dbus.Signal) (bool, error) {
	var path dbus.ObjectPath
	var iface, before, owner string
	var names []string
	var added object
	var changed map[string]dbus.Variant
	switch signal.Name {
	case "org.freedesktop.DBus.NameOwnerChanged":
		if dbus.Store(signal.Body, &iface, &before, &owner) != nil {
			return false, nil
		}
		if owner == "" {
			return true, errors.New("rdmad does not run")
		}
		_, err := c.List()
		return true, err
	case "org.freedesktop.DBus.ObjectManager.InterfacesAdded":
		if dbus.Store(signal.Body, &path, &added) != nil || c.objects == nil {
			return false, nil
		}
		if c.objects[path] == nil {
			c.objects[path] = object{}
		}
		for name, properties := range added {
			c.objects[path][name] = properties
		}
		if added[port] != nil {
			c.readTables(path, "Netdevs", "Findings")
		}
	case "org.freedesktop.DBus.ObjectManager.InterfacesRemoved":
		if dbus.Store(signal.Body, &path, &names) != nil {
			return false, nil
		}
		for _, name := range names {
			delete(c.objects[path], name)
		}
	case "org.freedesktop.DBus.Properties.PropertiesChanged":
		path = signal.Path
		o := c.objects[path]
		if dbus.Store(signal.Body, &iface, &changed, &names) != nil || o[iface] == nil {
			return false, nil
		}
		for name, value := range changed {
			o[iface][name] = value
		}
		if iface == port {
			c.readTables(path, names...)
		}
	default:
		return false, nil
	}
	return c.convert(path), nil
}
