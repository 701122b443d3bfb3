package v1beta1

// Erase says what becomes of the data on a machine's disks before the machine is free again.
// +kubebuilder:validation:Enum=None;Quick;Secure;Full
type Erase string

const (
	// EraseNone leaves the data on the disks, unless MAAS erases at every release by a setting of its own.
	EraseNone Erase = "None"
	// EraseQuick overwrites the beginning and the end of each disk.
	EraseQuick Erase = "Quick"
	// EraseSecure lets each disk erase itself by its own command; MAAS overwrites those that have none.
	EraseSecure Erase = "Secure"
	// EraseFull overwrites each disk from end to end, which takes hours.
	EraseFull Erase = "Full"
)

// ReleasePolicy says how a machine is given back.
type ReleasePolicy struct {
	// erase is what becomes of the data on the disks: None (the default) leaves it there, Quick overwrites their beginning and end,
	// Secure uses the disk's own command to erase itself, Full overwrites everything. MAAS may be set to erase at every release; None
	// does not prevent that.
	// +optional
	Erase Erase `json:"erase,omitempty"`

	// scripts are release scripts that MAAS runs on the machine, by name or tag. MAAS has them since 3.5.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	Scripts []string `json:"scripts,omitempty"`
}
