package maas

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"
)

// list calls r and decodes a JSON list.
func list[T any](ctx context.Context, c *Client, r request) ([]T, error) {
	var items []T
	err := c.do(ctx, r, func(body []byte) error {
		if body = bytes.TrimSpace(body); len(body) == 0 || body[0] != '[' {
			return errShape("a list was expected")
		}
		return json.Unmarshal(body, &items)
	})
	if err != nil {
		return nil, err
	}
	return items, nil
}

// object calls r and decodes a JSON object; nil for an allowed null.
func object[T any](ctx context.Context, c *Client, r request) (*T, error) {
	var item *T
	err := c.do(ctx, r, func(body []byte) error {
		if r.mayBeNull && string(bytes.TrimSpace(body)) == "null" {
			return nil
		}
		item = new(T)
		return decodeObject(body, item)
	})
	if err != nil {
		return nil, err
	}
	return item, nil
}

func decodeObject(body []byte, into any) error {
	if body = bytes.TrimSpace(body); len(body) == 0 || body[0] != '{' {
		return errShape("an object was expected")
	}
	return json.Unmarshal(body, into)
}

// errShape is a fixed text about an answer, safe to show.
type errShape string

func (e errShape) Error() string { return string(e) }

// mustHave tells MAAS's answer from another program's JSON.
func mustHave(field, value string) error {
	if value == "" {
		return errShape("it has no " + field)
	}
	return nil
}

// decodeProblem describes a decoding error without quoting the answer.
func decodeProblem(err error) string {
	var shape errShape
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &shape):
		return string(shape)
	case errors.As(err, &kind):
		return "its field " + oneLine(kind.Field, 80) + " has another type"
	}
	return "it is not whole JSON"
}

// number takes an integer, also when it is sent as a float or as null. MAAS sends some sizes as 3221094400.0 (LP 2109708).
type number int64

func (n *number) UnmarshalJSON(data []byte) error {
	var f *float64
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	*n = 0
	if f != nil && math.Abs(*f) < math.MaxInt64 {
		*n = number(*f)
	}
	return nil
}

// UnmarshalJSON decodes what any version of MAAS sends as a machine.
func (m *Machine) UnmarshalJSON(data []byte) error {
	var w struct {
		SystemID            string            `json:"system_id"`
		Hostname            string            `json:"hostname"`
		FQDN                string            `json:"fqdn"`
		Owner               string            `json:"owner"`
		Description         string            `json:"description"`
		HardwareUUID        string            `json:"hardware_uuid"`
		OwnerData           map[string]string `json:"owner_data"`
		WorkloadAnnotations map[string]string `json:"workload_annotations"`
		Locked              bool              `json:"locked"`
		Status              *number           `json:"status"`
		StatusName          string            `json:"status_name"`
		StatusMessage       string            `json:"status_message"`
		ErrorDescription    string            `json:"error_description"`
		Architecture        string            `json:"architecture"`
		OSystem             string            `json:"osystem"`
		DistroSeries        string            `json:"distro_series"`
		HWEKernel           string            `json:"hwe_kernel"`
		EphemeralDeploy     bool              `json:"ephemeral_deploy"`
		Netboot             bool              `json:"netboot"`
		CPUCount            number            `json:"cpu_count"`
		Memory              number            `json:"memory"`
		Storage             float64           `json:"storage"`
		PowerType           string            `json:"power_type"`
		PowerState          PowerState        `json:"power_state"`
		TagNames            []string          `json:"tag_names"`
		IPAddresses         []string          `json:"ip_addresses"`
		Zone                Zone              `json:"zone"`
		Pool                ResourcePool      `json:"pool"`
		Domain              Domain            `json:"domain"`
		BootInterface       *Interface        `json:"boot_interface"`
		InterfaceSet        []Interface       `json:"interface_set"`
		BootDisk            *BlockDevice      `json:"boot_disk"`
		BlockDeviceSet      []BlockDevice     `json:"blockdevice_set"`
		Pod                 *Pod              `json:"pod"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	if w.SystemID == "" || w.Status == nil {
		return errShape("a machine has no system_id or no status")
	}
	annotations := w.WorkloadAnnotations
	if annotations == nil {
		annotations = w.OwnerData // MAAS 2.9
	}
	*m = Machine{
		SystemID: w.SystemID, Hostname: w.Hostname, FQDN: w.FQDN, Owner: w.Owner, Description: w.Description,
		HardwareUUID: w.HardwareUUID, Annotations: annotations, Locked: w.Locked,
		Status: Status(*w.Status), StatusName: w.StatusName, StatusMessage: w.StatusMessage, ErrorDescription: w.ErrorDescription,
		Architecture: w.Architecture, OSystem: w.OSystem, DistroSeries: w.DistroSeries, HWEKernel: w.HWEKernel,
		EphemeralDeploy: w.EphemeralDeploy, Netboot: w.Netboot,
		CPUCount: int(w.CPUCount), MemoryMiB: int(w.Memory), StorageMB: w.Storage,
		PowerType: w.PowerType, PowerState: w.PowerState, Tags: w.TagNames, IPAddresses: withoutEmpty(w.IPAddresses),
		Zone: w.Zone, Pool: w.Pool, Domain: w.Domain,
		BootInterface: w.BootInterface, Interfaces: w.InterfaceSet, BootDisk: w.BootDisk, BlockDevices: w.BlockDeviceSet, Pod: w.Pod,
	}
	return nil
}

// UnmarshalJSON decodes a block device; sizes may arrive as floats.
func (b *BlockDevice) UnmarshalJSON(data []byte) error {
	var w struct {
		ID     number   `json:"id"`
		Name   string   `json:"name"`
		Type   string   `json:"type"`
		Path   string   `json:"path"`
		Model  string   `json:"model"`
		Serial string   `json:"serial"`
		Size   number   `json:"size"`
		Tags   []string `json:"tags"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*b = BlockDevice{ID: int(w.ID), Name: w.Name, Type: w.Type, Path: w.Path, Model: w.Model, Serial: w.Serial,
		SizeBytes: int64(w.Size), Tags: w.Tags}
	return nil
}

// UnmarshalJSON decodes a DNS resource and its rows.
func (r *DNSResource) UnmarshalJSON(data []byte) error {
	var w struct {
		ID          *number      `json:"id"`
		FQDN        string       `json:"fqdn"`
		AddressTTL  *int         `json:"address_ttl"`
		IPAddresses []DNSAddress `json:"ip_addresses"`
		Records     []DNSRecord  `json:"resource_records"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	if w.ID == nil {
		return errShape("a DNS resource has no id")
	}
	*r = DNSResource{ID: int(*w.ID), FQDN: w.FQDN, AddressTTL: w.AddressTTL, Addresses: w.IPAddresses, Records: w.Records}
	return nil
}

// UnmarshalJSON decodes an address row.
func (a *DNSAddress) UnmarshalJSON(data []byte) error {
	var w struct {
		IP         string  `json:"ip"`
		AllocType  number  `json:"alloc_type"`
		Subnet     *Subnet `json:"subnet"`
		Interfaces []struct {
			SystemID string `json:"system_id"`
		} `json:"interface_set"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*a = DNSAddress{IP: w.IP, AllocType: AllocType(w.AllocType), Subnet: w.Subnet}
	for _, i := range w.Interfaces {
		if i.SystemID != "" {
			a.SystemIDs = append(a.SystemIDs, i.SystemID)
		}
	}
	return nil
}

// eventTime is how MAAS writes the time of an event, in UTC: "Mon, 30 Nov. 2026 11:18:56".
const eventTime = "Mon, 02 Jan. 2006 15:04:05"

// UnmarshalJSON decodes an event; a time in an unknown form is the zero time.
func (e *Event) UnmarshalJSON(data []byte) error {
	var w struct {
		ID          *number `json:"id"`
		Node        string  `json:"node"`
		Hostname    string  `json:"hostname"`
		Level       string  `json:"level"`
		Type        string  `json:"type"`
		Description string  `json:"description"`
		Username    string  `json:"username"`
		Created     string  `json:"created"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	if w.ID == nil {
		return errShape("an event has no id")
	}
	created, err := time.Parse(eventTime, w.Created)
	if err != nil {
		created = time.Time{}
	}
	*e = Event{ID: int64(*w.ID), SystemID: w.Node, Hostname: w.Hostname, Level: w.Level, Type: w.Type,
		Description: w.Description, Username: w.Username, Created: created}
	return nil
}

func withoutEmpty(values []string) []string {
	var kept []string
	for _, v := range values {
		if strings.TrimSpace(v) != "" {
			kept = append(kept, v)
		}
	}
	return kept
}
