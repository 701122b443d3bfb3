package checks

// Verdict is what a check came to.
type Verdict int

const (
	// Unknown is: what is needed for a verdict could not be found out.
	Unknown Verdict = iota
	// Fine is: all is as it has to be.
	Fine
	// Wrong is: something is not.
	Wrong
)

// Finding is a verdict in the words of a condition.
type Finding struct {
	Verdict Verdict
	// Reason is one of the API's; "" where the verdict is Unknown because MAAS could not be asked.
	Reason string
	// Message says what is wrong, with whom, and what to do; it is the same as long as the facts are.
	Message string
}

// Wish is something that an object asks MAAS for.
type Wish struct {
	Name string
	// By names the field and the object, such as "spec.template.spec.resourcePool of MaasMachineTemplate default/workers".
	By string
	// In is where another one can be named, such as "in a new MaasMachineTemplate".
	In string
}

// ImageWish is an image that an object asks MAAS for.
type ImageWish struct {
	Wish
	Architecture string // as in a MaasMachine's spec; "" is any
}

// Wishes is all that the objects of a cluster ask MAAS for. Of several that ask for the same, the first is named.
type Wishes struct {
	Domain string // "" where the endpoint needs none
	Zones  []Wish
	Pools  []Wish
	Images []ImageWish
}

// Findings is what became of a cluster's wishes.
type Findings struct{ Domain, ZonesAndPools, Images Finding }

// Region is what is true of MAAS as a whole, and of us in it.
type Region struct {
	// Host is that of MAAS, for messages.
	Host string
	// Err says why MAAS does not tell who we are; one of package maas.
	Err error
	// Superuser says that our user is an administrator.
	Superuser bool
	// Version is what MAAS says of itself; "" where it was not asked yet.
	Version string
	// Clock compares its clock with ours.
	Clock ClockReading
}
