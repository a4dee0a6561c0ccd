// SPDX-License-Identifier: LGPL-2.1-or-later

// Prints each RDMA port as one line of JSON, and again whenever something in that line changes: what a driver for dynamic resource
// allocation of Kubernetes puts into a ResourceSlice (name, attributes), and what a device plugin sends from ListAndWatch (health).
//
// A port is healthy if it is fit to be used: it is active, and has been quiet for as long as it has to (FitSince).
//
// A port that has gone has "removed":true. What is not known is left out. Nothing is polled: the lines come from signals. When rdmad
// is started again, everything is read again, and what is the same is not printed. It needs no library of rdmad, only godbus.
//
// With what Debian has, in a folder with this file alone:
//
//	cat >go.mod <<'END'
//	module rdma-resources
//	go 1.19
//	require github.com/godbus/dbus/v5 v5.0.0
//	replace github.com/godbus/dbus/v5 => /usr/share/gocode/src/github.com/godbus/dbus
//	END
//	GO111MODULE=on GOPROXY=off GOSUMDB=off go build -mod=mod .
//
// Debian 12 has it there, in golang-dbus-dev. In Debian 13 the folder is /usr/share/gocode/src/github.com/godbus/dbus/v5, in
// golang-github-godbus-dbus-dev. Elsewhere: go mod init rdma-resources && go mod tidy && go build
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/godbus/dbus/v5"
)

const (
	device = "org.rdma.Device"
	port   = "org.rdma.Port"
)

// The value of an attribute in a ResourceSlice: one of these.
type attribute struct {
	String *string `json:"string,omitempty"`
	Int    *int64  `json:"int,omitempty"`
}

type resource struct {
	Name       string               `json:"name"`
	Health     string               `json:"health"`
	Attributes map[string]attribute `json:"attributes,omitempty"`
	Removed    bool                 `json:"removed,omitempty"`
}

// The interfaces of an object, and their properties.
type object map[string]map[string]dbus.Variant

// Stores a property in DEST, a pointer; false if the object has no such property.
func (o object) store(iface, name string, dest interface{}) bool {
	value, ok := o[iface][name]
	return ok && value.Store(dest) == nil
}

// The value of a property; false if it is not known now.
func (o object) value(iface, name string) (interface{}, bool) {
	codes := map[string]string{}
	o.store(iface, "Unavailable", &codes)
	value, ok := o[iface][name]
	if _, missing := codes[name]; missing || !ok {
		return nil, false
	}
	return value.Value(), true
}

func (o object) text(iface, name string) string {
	value, _ := o.value(iface, name)
	text, _ := value.(string)
	return text
}

func (r *resource) setText(name, text string) {
	if text != "" {
		r.Attributes[name] = attribute{String: &text}
	}
}

func (r *resource) setNumber(name string, value interface{}, ok bool) {
	var number int64
	switch n := value.(type) {
	case int32:
		number = int64(n)
	case uint32:
		number = int64(n)
	case uint64:
		number = int64(n)
	}
	if ok {
		r.Attributes[name] = attribute{Int: &number}
	}
}

// A copy of all objects, and what was printed of each port.
type mirror struct {
	conn    *dbus.Conn
	objects map[dbus.ObjectPath]object
	printed map[string]string
}

// The name of a network interface of the port; "" if there is none.
func netdev(o object) string {
	var netdevs []struct {
		Ifindex uint32
		Name    string
		Tail    map[string]dbus.Variant
	}
	if !o.store(port, "Netdevs", &netdevs) || len(netdevs) == 0 {
		return ""
	}
	return netdevs[0].Name
}

func (m *mirror) resource(o object) resource {
	var path dbus.ObjectPath
	var stale bool
	o.store(port, "Device", &path)
	o.store(port, "Stale", &stale)
	number, known := o.value(port, "PortNumber")
	state := o.text(port, "State")
	r := resource{Health: "Unhealthy", Attributes: map[string]attribute{}}
	// FitSince is 0 some milliseconds after the news that the port is not active. The state of some ports is not known.
	if fit, _ := o.value(port, "FitSince"); !stale && fit != uint64(0) && (state == "" || strings.HasPrefix(state, "active")) {
		r.Health = "Healthy"
	}
	// The name is a label of DNS, which has no underscores.
	r.Name = fmt.Sprintf("%s-%v", strings.ToLower(strings.ReplaceAll(o.text(port, "DeviceName"), "_", "-")), number)
	r.setText("rdmaDevice", o.text(port, "DeviceName"))
	r.setNumber("port", number, known)
	r.setText("state", state)
	r.setText("linkLayer", o.text(port, "LinkLayer"))
	r.setText("netdev", netdev(o))
	r.setText("pciAddress", m.objects[path].text(device, "PciAddress"))
	rate, known := o.value(port, "Rate")
	r.setNumber("rate", rate, known) // bit/s
	node, known := m.objects[path].value(device, "NumaNode")
	r.setNumber("numaNode", node, known)
	return r
}

// Prints the ports whose line is another one than before. They are told apart by name: a device that was reset has another path.
func (m *mirror) print() {
	lines := map[string]string{}
	for _, o := range m.objects {
		if o[port] != nil {
			r := m.resource(o)
			line, _ := json.Marshal(r)
			lines[r.Name] = string(line)
		}
	}
	for name := range m.printed {
		if lines[name] == "" {
			line, _ := json.Marshal(resource{Name: name, Health: "Unhealthy", Removed: true})
			fmt.Println(string(line))
		}
	}
	changed := []string{}
	for name, line := range lines {
		if m.printed[name] != line {
			changed = append(changed, line)
		}
	}
	sort.Strings(changed)
	for _, line := range changed {
		fmt.Println(line)
	}
	m.printed = lines
}

func (m *mirror) read() error {
	m.objects = map[dbus.ObjectPath]object{}
	return m.conn.Object("org.rdma", "/org/rdma").
		Call("org.freedesktop.DBus.ObjectManager.GetManagedObjects", 0).Store(&m.objects)
}

// No signal has the tables. Netdevs is the only one that is used here.
func (m *mirror) readNetdevs(path dbus.ObjectPath) {
	if value, err := m.conn.Object("org.rdma", path).GetProperty(port + ".Netdevs"); err == nil {
		m.objects[path][port]["Netdevs"] = value
	}
}

func (m *mirror) handle(signal *dbus.Signal) error {
	var path dbus.ObjectPath
	var iface, owner string
	var names []string
	switch signal.Name {
	case "org.freedesktop.DBus.NameOwnerChanged":
		// Without an owner rdmad is being started again: what was known last is still the best that is known.
		if dbus.Store(signal.Body, &iface, &iface, &owner) == nil && owner != "" {
			return m.read()
		}
	case "org.freedesktop.DBus.ObjectManager.InterfacesAdded":
		var added object
		if dbus.Store(signal.Body, &path, &added) == nil {
			if m.objects[path] == nil {
				m.objects[path] = object{}
			}
			for name, properties := range added {
				m.objects[path][name] = properties
			}
			if added[port] != nil {
				m.readNetdevs(path)
			}
		}
	case "org.freedesktop.DBus.ObjectManager.InterfacesRemoved":
		if dbus.Store(signal.Body, &path, &names) == nil {
			for _, name := range names {
				delete(m.objects[path], name)
			}
		}
	case "org.freedesktop.DBus.Properties.PropertiesChanged":
		var changed map[string]dbus.Variant
		o := m.objects[signal.Path]
		if dbus.Store(signal.Body, &iface, &changed, &names) != nil || o[iface] == nil {
			return nil
		}
		for name, value := range changed {
			o[iface][name] = value
		}
		for _, name := range names {
			if name == "Netdevs" {
				m.readNetdevs(signal.Path)
			}
		}
	}
	return nil
}

func run() error {
	// The handler that is the default may change the order of signals.
	conn, err := dbus.ConnectSystemBus(dbus.WithSignalHandler(dbus.NewSequentialSignalHandler()))
	if err != nil {
		return err
	}
	defer conn.Close()

	// The rules come before everything is read: then no change is missed.
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	for _, rule := range [][]dbus.MatchOption{
		{dbus.WithMatchSender("org.rdma"), dbus.WithMatchPathNamespace("/org/rdma")},
		{dbus.WithMatchSender("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, "org.rdma")},
	} {
		if err := conn.AddMatchSignal(rule...); err != nil {
			return err
		}
	}
	m := &mirror{conn: conn}
	if err := m.read(); err != nil {
		return err
	}
	m.print()
	for signal := range signals {
		if err := m.handle(signal); err != nil {
			return err
		}
		m.print()
	}
	return fmt.Errorf("the bus has gone")
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
		os.Exit(1)
	}
}
