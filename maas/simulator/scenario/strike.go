package scenario

import "time"

// Strike is one time that a fault did something.
type Strike struct {
	// Time on the region's clock.
	Time time.Time `json:"time"`
	// Fault is its name.
	Fault string `json:"fault"`
	// Operation that was struck, such as "machines allocate"; the method and path
	// of a request that is none; the moment of a fault of hardware; else empty.
	Operation string `json:"operation,omitempty"`
	// SystemID and Hostname of the machine; empty when there is none to it.
	SystemID string `json:"systemID,omitempty"`
	Hostname string `json:"hostname,omitempty"`
	// Effect says what happened, such as "committed, answer dropped".
	Effect string `json:"effect"`
}

// String is one line, such as
//
//	12:00:03 lost-allocate: machines allocate of node-3: committed, answer dropped
func (s Strike) String() string {
	return s.Time.Format(time.TimeOnly) + " " + s.Fault + ": " + s.What()
}

// What is what happened to which machine or request, such as
//
//	machines allocate of node-3: committed, answer dropped
func (s Strike) What() string {
	subject := s.Hostname
	if subject == "" {
		subject = s.SystemID
	}
	if s.Operation != "" && subject != "" {
		subject = s.Operation + " of " + subject
	} else {
		subject += s.Operation
	}
	if subject != "" {
		subject += ": "
	}
	return subject + s.Effect
}
