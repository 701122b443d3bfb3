package maas

import (
	"context"
	"encoding/base64"
	"strings"
)

// DeployParams says what to install on an allocated machine.
type DeployParams struct {
	// UserData is handed to cloud-init as it is; the client encodes it. nginx in front of MAAS takes at most 10 MB encoded.
	UserData []byte `json:"-"`
	// DistroSeries is an image, such as custom/u-2204-k-1.30 or ubuntu/jammy; "" is MAAS's default.
	DistroSeries    string
	HWEKernel       string
	EphemeralDeploy bool // deploy to memory; custom images need MAAS 3.5
	Comment         string
	// AgentName counts only where the machine is Ready: MAAS acquires it first then, as an allocate would.
	AgentName string
}

// String describes the parameters without the user data.
func (p DeployParams) String() string {
	return "maas.DeployParams{DistroSeries: " + p.DistroSeries + "}"
}

// GoString describes the parameters without the user data.
func (p DeployParams) GoString() string { return p.String() }

// Deploy installs an allocated machine. The answer does not have the machine's addresses yet, and its power state is old.
func (c *Client) Deploy(ctx context.Context, systemID string, params DeployParams) (*Machine, error) {
	r := write("deploy_machine", "POST", "machines/"+systemID+"/")
	r.op = "deploy"
	r.private = params.UserData
	f := fields{}.add("distro_series", params.DistroSeries).add("hwe_kernel", params.HWEKernel).
		addTrue("ephemeral_deploy", params.EphemeralDeploy).add("comment", params.Comment).add("agent_name", params.AgentName)
	if len(params.UserData) > 0 {
		// MAAS decodes base64 exactly once, and takes what is not base64 as it is: always encode.
		f.add("user_data", base64.StdEncoding.EncodeToString(params.UserData))
	}
	r.form = f.values()
	return c.machineCall(ctx, r, systemID)
}

// ReleaseParams says how a machine is given back. Without any erase flag MAAS's own setting decides, see [Client.ErasesOnRelease].
type ReleaseParams struct {
	Comment string
	// Erase wipes the disks; QuickErase only their ends; SecureErase by the disk's own command where it can.
	Erase, QuickErase, SecureErase bool
	// Scripts are names or tags of release scripts. MAAS 3.5; older ones ignore them.
	Scripts []string
}

// Release gives a machine back. It is no error for a machine that is Ready or Releasing already; and with an
// administrator's key it releases anybody's: read the machine first. The state in the answer may be outdated already.
func (c *Client) Release(ctx context.Context, systemID string, params ReleaseParams) (*Machine, error) {
	r := write("release_machine", "POST", "machines/"+systemID+"/")
	r.op = "release"
	// Up to MAAS 3.4 the other two flags do nothing without erase.
	erase := params.Erase || params.QuickErase || params.SecureErase
	f := fields{}.addTrue("erase", erase).addTrue("quick_erase", params.QuickErase).
		addTrue("secure_erase", params.SecureErase).add("comment", params.Comment)
	// Of a field that stands there twice MAAS sees the last alone: it splits one at its commas.
	f.add("scripts", strings.Join(params.Scripts, ","))
	r.form = f.values()
	return c.machineCall(ctx, r, systemID)
}

// Abort stops what the machine is doing (deploying, erasing, commissioning, testing). The answer shows the state before
// it. A machine whose deployment was aborted is still allocated: release it.
func (c *Client) Abort(ctx context.Context, systemID, comment string) (*Machine, error) {
	r := write("abort_machine", "POST", "machines/"+systemID+"/")
	r.op = "abort"
	r.form = fields{}.add("comment", comment).values()
	return c.machineCall(ctx, r, systemID)
}

// PowerOn switches a machine on. On a machine that is allocated but not deployed, this deploys it.
func (c *Client) PowerOn(ctx context.Context, systemID, comment string) (*Machine, error) {
	r := write("power_on_machine", "POST", "machines/"+systemID+"/")
	r.op = "power_on"
	r.form = fields{}.add("comment", comment).values()
	return c.machineCall(ctx, r, systemID)
}

// PowerOff switches a machine off, hard. The machine is nil, without an error, where MAAS cannot control the power.
func (c *Client) PowerOff(ctx context.Context, systemID, comment string) (*Machine, error) {
	r := write("power_off_machine", "POST", "machines/"+systemID+"/")
	r.op = "power_off"
	r.mayBeNull = true
	r.form = fields{}.add("comment", comment).values()
	return c.machineCall(ctx, r, systemID)
}

// MarkBroken hands a machine back as unusable: MAAS releases it without erasing anything, and gives it to nobody until an operator marks it
// fixed. Only its owner may; for an administrator who is not, it is [ErrForbidden]. MAAS 3.4 and 3.5: nobody owns the machine after that,
// though it may be on for a while; 3.6 and 3.7: the owner stays until it is off.
func (c *Client) MarkBroken(ctx context.Context, systemID, comment string) (*Machine, error) {
	r := write("mark_machine_broken", "POST", "machines/"+systemID+"/")
	r.op = "mark_broken"
	r.form = fields{}.add("comment", comment).values()
	return c.machineCall(ctx, r, systemID)
}

// SetWorkloadAnnotations sets the given annotations of an owned machine and leaves the others; an empty value deletes.
// Keys are of letters, digits, "_", "." and "-". MAAS wipes all annotations when a release completes.
// [ErrConflict] means that the user does not own the machine.
func (c *Client) SetWorkloadAnnotations(ctx context.Context, systemID string, annotations map[string]string) (*Machine, error) {
	r := write("annotate_machine", "POST", "machines/"+systemID+"/")
	r.op = "set_workload_annotations"
	f := fields{}
	for key, value := range annotations {
		if !isAnnotationKey(key) {
			return nil, invalid(r.operation, "an annotation key must be 1 to 255 letters, digits, '_', '.' or '-', and not 'op'")
		}
		f[key] = []string{value}
	}
	r.form = f.values()
	return c.machineCall(ctx, r, systemID)
}

// isAnnotationKey says whether MAAS takes the key; it answers 500 to others, and reads "op" as the operation.
func isAnnotationKey(key string) bool {
	return key != "" && len(key) <= 255 && key != "op" && onlyHas(key, "_.-")
}
