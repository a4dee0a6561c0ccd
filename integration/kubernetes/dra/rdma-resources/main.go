// SPDX-License-Identifier: LGPL-2.1-or-later

// Rdma-resources prints each RDMA port as one line of JSON, and again whenever something in that line changes: what a driver for dynamic
// resource allocation of Kubernetes puts into a ResourceSlice (name, attributes), and what a device plugin sends from ListAndWatch
// (health).
//
// A port is healthy if it is fit to be used (FitSince): it is active, and has been quiet for as long as it has to. A port that has gone
// has "removed":true. What is not known is left out. When rdmad is started again, what is the same is not printed.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"

	"rdmad/dra/rdma"
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

func (r *resource) setText(name, text string) {
	if text != "" {
		r.Attributes[name] = attribute{String: &text}
	}
}

func (r *resource) setNumber(name string, number int64, known bool) {
	if known {
		r.Attributes[name] = attribute{Int: &number}
	}
}

func makeResource(p rdma.Port) resource {
	r := resource{Name: p.Expand(rdma.Template), Health: "Unhealthy", Attributes: map[string]attribute{}}
	if p.Fit() {
		r.Health = "Healthy"
	}
	r.setText("rdmaDevice", p.Device)
	r.setNumber("port", int64(p.Number), true)
	r.setText("state", p.State)
	r.setText("linkLayer", p.LinkLayer)
	r.setText("netdev", p.Netdev)
	r.setText("pciAddress", p.PCIAddress)
	r.setNumber("rate", int64(p.Rate), p.Rate != 0) // bit/s
	r.setNumber("numaNode", int64(p.NUMANode), p.NUMANode >= 0)
	return r
}

// Prints the ports whose line is not in PRINTED, and returns all lines. They are told apart by name: a device that was reset has another
// path.
func printChanged(ports []rdma.Port, printed map[string]string) map[string]string {
	lines := map[string]string{}
	changed := []string{}
	for _, p := range ports {
		r := makeResource(p)
		line, _ := json.Marshal(r)
		lines[r.Name] = string(line)
		if printed[r.Name] != lines[r.Name] {
			changed = append(changed, lines[r.Name])
		}
	}
	for name := range printed {
		if lines[name] == "" {
			line, _ := json.Marshal(resource{Name: name, Health: "Unhealthy", Removed: true})
			fmt.Println(string(line))
		}
	}
	sort.Strings(changed)
	for _, line := range changed {
		fmt.Println(line)
	}
	return lines
}

func run() error {
	client, err := rdma.Connect()
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := client.List(); err != nil {
		return err
	}
	printed := map[string]string{}
	return client.Watch(context.Background(), func(ports []rdma.Port, err error) {
		// Without rdmad, what was known last is still the best that is known.
		if err == nil {
			printed = printChanged(ports, printed)
		}
	})
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
		os.Exit(1)
	}
}
