package simulator

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// deployMachine starts an installation; a Ready machine is acquired first. The
// answer is rendered before addresses, power and installer come into play.
func deployMachine(c *call) (*answer, *refusal) {
	m := c.machine
	options, refused := c.deployOptions(m)
	if refused != nil {
		return nil, refused
	}
	if m.status == StatusReady {
		if m.owner != "" && m.owner != c.user.name {
			return nil, conflict("Can't allocate a machine belonging to another user.")
		}
		agent := c.form.get("agent_name")
		if refused := tooLong("agent_name", agent); refused != nil {
			return nil, refused
		}
		c.acquire(m, agent, c.form.get("comment"))
	}
	if m.status != StatusAllocated {
		return nil, conflict("Can't deploy a machine that is in the '" + m.status.String() + "' state")
	}
	if refused := c.deploy(m, options); refused != nil {
		return nil, refused
	}
	return ok(c.render(m))
}

type deployOptions struct{ ephemeral bool }

// deployOptions checks the flags of a deploy, before the machine's state.
func (c *call) deployOptions(m *machine) (deployOptions, *refusal) {
	var out deployOptions
	flags := map[string]bool{}
	for _, name := range []string{
		"install_rackd", "install_kvm", "register_vmhost", "ephemeral_deploy", "vcenter_registration", "enable_hw_sync", "enable_kernel_crash_dump",
	} {
		value, refused := c.form.boolean(name)
		if refused != nil {
			return out, refused
		}
		flags[name] = value
	}
	if flags["install_rackd"] && c.r.refusesRackd() {
		return out, text(http.StatusBadRequest, "Deploying a machine as a rackd has been disabled and it's not supported anymore.")
	}
	out.ephemeral = flags["ephemeral_deploy"] || len(m.disks) == 0 && c.r.since(3, 5)
	if flags["install_kvm"] || flags["register_vmhost"] {
		if !c.user.admin {
			return out, text(http.StatusForbidden, "Only administratros can deploy VM hosts")
		}
		if out.ephemeral {
			if !c.r.since(3, 5) {
				return out, text(http.StatusBadRequest, "Cannot deploy as a VM host for ephemeral deployments.")
			}
			return out, text(http.StatusBadRequest, "A machine can not be a VM host if it is deployed to memory.")
		}
	}
	return out, nil
}

// deploy checks what is to be deployed and where to, and begins.
func (c *call) deploy(m *machine, options deployOptions) *refusal {
	name, refused := c.chooseSeries(m, c.form.get("distro_series"))
	if refused != nil {
		return refused
	}
	root, refused := c.chooseRoot(m, name)
	if refused != nil {
		return refused
	}
	kernel, refused := c.chooseKernel(m, name, c.form.get("hwe_kernel"))
	if refused != nil {
		return refused
	}
	if m.powerType == "" && c.r.since(3, 6) {
		return text(http.StatusInternalServerError, "'NoneType' object has no attribute 'get_routable_usable_rack_controllers'")
	}
	if !m.hasNetwork() {
		refused := invalid("network", "Node must be configured to use a network")
		refused.contentType = typeBareJSON
		return refused
	}
	begin, refused := c.reach(m, name)
	if refused != nil {
		return refused
	}
	edit(c.tx, m)
	c.forgetImage(m)
	m.osystem, m.series, _ = strings.Cut(name, "/")
	m.installs = installedImage{root.sha256, !root.madeUp}
	m.hweKernel, m.ephemeral = &kernel, options.ephemeral
	m.minHWEKernel = new(string)
	c.setUserData(m)
	c.lastResult++
	m.installResult = c.lastResult
	c.byUser(m, "User starting deployment", c.form.get("comment"))
	c.startDeploy(m, begin)
	return nil
}

// setUserData keeps what the machine will fetch; sending none drops what was
// there.
func (c *call) setUserData(m *machine) {
	edit(c.tx, m)
	m.hasUserData = c.form.has("user_data")
	m.userData = decodeUserData(c.form.get("user_data"))
}

func (m *machine) hasNetwork() bool {
	for _, n := range m.nics {
		for _, l := range n.links {
			if l.mode != modeLinkUp {
				return true
			}
		}
	}
	return false
}

// chooseSeries resolves what distro_series says to osystem/series.
func (c *call) chooseSeries(m *machine, asked string) (string, *refusal) {
	if asked == "" {
		asked = c.defaultImage()
	}
	names := c.deployable(m)
	for _, name := range names {
		_, series, _ := strings.Cut(name, "/")
		if asked == name || asked == series || (knownSeries(series) == asked && c.r.since(3, 6)) {
			return name, nil
		}
	}
	return "", invalid("distro_series", notOneOf(asked, "distro_series", append([]string{""}, names...)))
}

// deployable are the names of the images for a machine's architecture.
func (s *state) deployable(m *machine) []string {
	arch, _, _ := strings.Cut(m.architecture, "/")
	seen := map[string]bool{}
	for _, i := range s.images.all() {
		if i.architecture == arch {
			seen[i.name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// chooseRoot finds what the installer will write to disk. MAAS lets a deploy
// name an image whose upload is not complete, and refuses it here.
func (c *call) chooseRoot(m *machine, name string) (*content, *refusal) {
	arch, _, _ := strings.Cut(m.architecture, "/")
	for _, i := range c.images.all() {
		if i.name != name || i.architecture != arch {
			continue
		}
		if root, complete := c.rootOf(i); complete {
			return root, nil
		}
	}
	return nil, c.imageUnavailable(m, name)
}

func (c *call) imageUnavailable(m *machine, name string) *refusal {
	if c.r.since(3, 5) {
		return text(http.StatusBadRequest, "Deployment operating system "+name+" is unavailable for "+m.architecture+".")
	}
	return text(http.StatusBadRequest, "Deployment operating system "+strings.Replace(name, "/", " ", 1)+" is unavailable.")
}

// reach looks, before a deploy is committed, for a rack: MAAS 3.4 and older for
// one that has the image (none is named when an Allocated machine is switched
// on), MAAS 3.6 and newer for one that reaches the machine's BMC.
func (c *call) reach(m *machine, image string) (beginning, *refusal) {
	begin := beginning{username: c.user.name}
	if m.powerType == "manual" && c.r.missesManualPower() {
		return begin, text(http.StatusInternalServerError, "Error determining BMC task queue for machine "+m.systemID)
	}
	forImage := image != "" && !c.r.since(3, 5)
	if !forImage && (!c.r.since(3, 6) || !m.powerable()) {
		return begin, nil
	}
	rack := c.ask(m, MomentRack)
	none := rack.Fail != "" || rack.Stuck
	begin.reached, begin.late = true, rack.Delay
	switch {
	case forImage && none:
		return begin, c.imageUnavailable(m, image)
	case forImage:
		lacks := c.ask(m, MomentImage).Fail
		if strings.Contains(strings.ToLower(lacks), "ephemeral") {
			return begin, text(http.StatusBadRequest, "Ephemeral operating system "+strings.Replace(commissioningImage, "/", " ", 1)+" is unavailable.")
		}
		if lacks != "" {
			return begin, c.imageUnavailable(m, image)
		}
	case none:
		return begin, text(http.StatusInternalServerError, "Error determining BMC task queue for machine "+m.systemID)
	}
	return begin, nil
}

// kernelForm is how kernels are named; other names are ignored by MAAS.
func kernelForm() *regexp.Regexp {
	return regexp.MustCompile(`^(ga|hwe)-\d\d\.\d\d(-edge|-lowlatency)*$`)
}

// chooseKernel picks the kernel of an image: that of its base for a custom one.
func (c *call) chooseKernel(m *machine, name, asked string) (string, *refusal) {
	arch, _, _ := strings.Cut(m.architecture, "/")
	base := name
	if i, ok := c.images.find(func(i *image) bool { return i.name == name && i.architecture == arch && i.uploaded }); ok && i.base != "" {
		base = i.base
	}
	_, series, _ := strings.Cut(base, "/")
	kernel := ""
	for _, i := range c.images.all() {
		if i.name == base && i.architecture == arch && i.kernel != "" {
			if i.kernel == asked {
				return asked, nil
			}
			if kernel == "" {
				kernel = i.kernel
			}
		}
	}
	if kernel == "" && knownSeries(series) != "" {
		kernel = "ga-" + knownSeries(series)
	}
	if kernelForm().MatchString(asked) && asked != kernel {
		return "", invalid("hwe_kernel", asked+" is not available for "+name+" on "+m.architecture+".")
	}
	return kernel, nil
}
