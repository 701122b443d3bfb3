package webhooks

import (
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

func newTestMachine(change func(*infrav1.MaasMachine)) *infrav1.MaasMachine {
	machine := &infrav1.MaasMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m1"},
		Spec: infrav1.MaasMachineSpec{
			Image: "custom/kube", MinCPU: 2, MinMemory: 4096, Tags: []string{"ssd", "gpu_2"}, NotTags: []string{"old"}, ResourcePool: "workers",
		},
	}
	if change != nil {
		change(machine)
	}
	return machine
}

// claimed is a MaasMachine that has a machine.
func claimed(m *infrav1.MaasMachine) {
	m.Finalizers = []string{infrav1.MachineFinalizer}
	m.Annotations = map[string]string{infrav1.ClaimAnnotation: "t0ken", infrav1.UserAnnotation: "capi"}
	m.Spec.SystemID = "4y3h7n"
}

// claiming is one that MAAS was asked for.
func claiming(m *infrav1.MaasMachine) {
	claimed(m)
	m.Spec.SystemID = ""
	m.Annotations[infrav1.ClaimAttemptAnnotation] = "4y3h7n 2026-01-01T00:00:00Z"
}

func deployed(m *infrav1.MaasMachine) {
	claimed(m)
	m.Spec.ProviderID = "maas:///z1/4y3h7n"
}

func contradictory(m *infrav1.MaasMachine) {
	claimed(m)
	m.Spec.ProviderID = "maas:///z1/other1"
}

func release(erase infrav1.Erase, scripts ...string) infrav1.ReleasePolicy {
	return infrav1.ReleasePolicy{Erase: erase, Scripts: scripts}
}

func lxd(m *infrav1.MaasMachine) {
	m.Spec.LXD = &apiextensionsv1.JSON{Raw: []byte(`{"enabled":true}`)}
	m.Spec.Parent = "abc123"
}

// specCases are values of a machine's spec, alone; want follows the path of the spec.
func specCases() map[string]struct {
	change func(*infrav1.MaasMachineSpec)
	want   string
} {
	type spec = infrav1.MaasMachineSpec
	return map[string]struct {
		change func(*spec)
		want   string
	}{
		"as the template makes it":   {func(s *spec) { *s = spec{Image: "custom/kube", Tags: []string{}} }, ""},
		"an image of MAAS":           {func(s *spec) { s.Image = "ubuntu/noble" }, ""},
		"a bare image":               {func(s *spec) { s.Image = "u-2404-1.36.3_x" }, ""},
		"a time for a deployment":    {func(s *spec) { s.DeployTimeout, s.DeployAttempts = &metav1.Duration{Duration: time.Minute}, 1 }, ""},
		"no time for a deployment":   {func(s *spec) { s.DeployTimeout = &metav1.Duration{} }, `.deployTimeout: Invalid value: "0s": must be a minute or more`},
		"too many attempts":          {func(s *spec) { s.DeployAttempts = 11 }, ".deployAttempts: Invalid value: 11: must be from 1 to 10"},
		"no image":                   {func(s *spec) { s.Image = "" }, ".image: Required value: must be the name of an image in MAAS"},
		"an image with a space":      {func(s *spec) { s.Image = "custom/my image" }, `.image: Invalid value: "custom/my image": must be the name`},
		"an image of three parts":    {func(s *spec) { s.Image = "a/b/c" }, ".image: Invalid value"},
		"an image without a series":  {func(s *spec) { s.Image = "ubuntu/" }, ".image: Invalid value"},
		"an image without a system":  {func(s *spec) { s.Image = "/noble" }, ".image: Invalid value"},
		"no tags":                    {func(s *spec) { s.Tags, s.NotTags = nil, nil }, ""},
		"tags in one word":           {func(s *spec) { s.Tags = []string{"ssd", "gpu,nvme"} }, `.tags[1]: Invalid value: "gpu,nvme": must be one tag; list each tag by itself`},
		"a tag with a dot":           {func(s *spec) { s.Tags = []string{"a.b"} }, `.tags[0]: Invalid value: "a.b": cannot be a tag of MAAS`},
		"an empty tag":               {func(s *spec) { s.NotTags = []string{""} }, `.notTags[0]: Invalid value: "": cannot be a tag of MAAS`},
		"a tag in other letters":     {func(s *spec) { s.Tags = []string{"größe-2"} }, ""},
		"a tag wanted and not":       {func(s *spec) { s.NotTags = []string{"old", "ssd"} }, `.notTags[1]: Invalid value: "ssd": is in tags too`},
		"an architecture":            {func(s *spec) { s.Architecture = "arm64" }, ""},
		"a longer architecture":      {func(s *spec) { s.Architecture = "amd64/hwe-22.04" }, ""},
		"uname's architecture":       {func(s *spec) { s.Architecture = "x86_64" }, `.architecture: Invalid value: "x86_64": must be amd64`},
		"Arm's architecture":         {func(s *spec) { s.Architecture = "aarch64/generic" }, "must be arm64"},
		"Kubernetes's Power":         {func(s *spec) { s.Architecture = "ppc64le" }, "must be ppc64el"},
		"architectures in one word":  {func(s *spec) { s.Architecture = "amd64,arm64" }, ".architecture: Invalid value"},
		"a half architecture":        {func(s *spec) { s.Architecture = "amd64/" }, ".architecture: Invalid value"},
		"a disk":                     {func(s *spec) { s.Storage = "100" }, ""},
		"disks":                      {func(s *spec) { s.Storage = "root:900.5(ssd,raid),data:500,0(nvme)" }, ""},
		"a disk with a unit":         {func(s *spec) { s.Storage = "root:100GB" }, `.storage: Invalid value: "root:100GB": must be disks as MAAS writes them`},
		"disks with a space":         {func(s *spec) { s.Storage = "root:100, data:500" }, ".storage: Invalid value"},
		"a disk with an open list":   {func(s *spec) { s.Storage = "10(ssd,20" }, ".storage: Invalid value"},
		"a disk with an empty list":  {func(s *spec) { s.Storage = "10()" }, ".storage: Invalid value"},
		"a disk with a hyphen":       {func(s *spec) { s.Storage = "root-disk:10" }, ".storage: Invalid value"},
		"a disk too many":            {func(s *spec) { s.Storage = "10,,20" }, ".storage: Invalid value"},
		"a disk of a strange size":   {func(s *spec) { s.Storage = "1.2.3" }, ".storage: Invalid value"},
		"a negative disk":            {func(s *spec) { s.Storage = "-1" }, ".storage: Invalid value"},
		"interfaces":                 {func(s *spec) { s.Interfaces = "eth0:space=dmz,not_fabric=f1;eth1:vid=20" }, ""},
		"an interface in a subnet":   {func(s *spec) { s.Interfaces = "a:subnet=space:dmz" }, ""},
		"an interface without form":  {func(s *spec) { s.Interfaces = "x" }, `.interfaces: Invalid value: "x": must be interfaces as MAAS writes them`},
		"an interface without label": {func(s *spec) { s.Interfaces = ":vid=20" }, ".interfaces: Invalid value"},
		"an interface without value": {func(s *spec) { s.Interfaces = "eth0:vid" }, ".interfaces: Invalid value"},
		"an interface without key":   {func(s *spec) { s.Interfaces = "eth0:=20" }, ".interfaces: Invalid value: \"eth0:=20\": must be interfaces as MAAS writes them"},
		"an empty interface":         {func(s *spec) { s.Interfaces = "eth0:vid=20;" }, ".interfaces: Invalid value"},
		"an unknown key":             {func(s *spec) { s.Interfaces = "eth0:speed=10" }, `has "speed", which MAAS does not know; it knows fabric,`},
		"MAAS has no such negation":  {func(s *spec) { s.Interfaces = "eth0:not_mode=auto" }, `has "not_mode", which MAAS does not know`},
		"subnets":                    {func(s *spec) { s.Subnets = []string{"lab", "10.0.0.0/24", "space:dmz"} }, ""},
		"an empty subnet":            {func(s *spec) { s.Subnets = []string{"lab", " "} }, ".subnets[1]: Invalid value"},
		"a pool with a space":        {func(s *spec) { s.ResourcePool = " workers" }, `.resourcePool: Invalid value: " workers": must have no spaces around it`},
		"a zone with a space":        {func(s *spec) { s.FailureDomain = "z1 " }, `.failureDomain: Invalid value: "z1 ": must have no spaces around it`},
		"a pool of two words":        {func(s *spec) { s.ResourcePool, s.FailureDomain = "rack 1", "žižkov_2" }, ""},
		"pools in one word":          {func(s *spec) { s.ResourcePool = "a,b" }, `.resourcePool: Invalid value: "a,b": must be one name as MAAS has them`},
		"a pool with a quote":        {func(s *spec) { s.ResourcePool = `a"b` }, ".resourcePool: Invalid value"},
		"a pool that is a path":      {func(s *spec) { s.ResourcePool = "../users" }, ".resourcePool: Invalid value"},
		"a zone of two lines":        {func(s *spec) { s.FailureDomain = "z1\nz2" }, `.failureDomain: Invalid value: "z1\nz2": must have no line breaks`},
		"a zone that is hidden":      {func(s *spec) { s.FailureDomain = "z1\u200b" }, ".failureDomain: Invalid value"},
		"a tag of two lines":         {func(s *spec) { s.Tags = []string{"a\nb"} }, ".tags[0]: Invalid value"},
		"a tag that is a path":       {func(s *spec) { s.Tags = []string{"../a"} }, ".tags[0]: Invalid value"},
		"an image of two lines":      {func(s *spec) { s.Image = "custom/a\nb" }, ".image: Invalid value"},
		"an image with a zero":       {func(s *spec) { s.Image = "custom/a\x00b" }, ".image: Invalid value"},
		"an image that is a path":    {func(s *spec) { s.Image = "../../users" }, ".image: Invalid value"},
		"subnets of two lines":       {func(s *spec) { s.Subnets = []string{"a\nb"} }, ".subnets[0]: Invalid value"},
		"a hidden address":           {func(s *spec) { s.AddressFrom.Interface = "eno1\n" }, ".addressFrom.interface: Invalid value"},
		"an address in two subnets":  {func(s *spec) { s.AddressFrom.Subnet = "a\nb" }, ".addressFrom.subnet: Invalid value"},
		"an interface of two lines":  {func(s *spec) { s.Interfaces = "eth0:vid=1\n" }, `.interfaces: Invalid value: "eth0:vid=1\n": must have no line breaks`},
		"a disk that is hidden":      {func(s *spec) { s.Storage = "10(\u202essd)" }, ".storage: Invalid value"},
		"a negative number of cores": {func(s *spec) { s.MinCPU = -1 }, ".minCPU: Invalid value: -1: must be 0 or more"},
		"negative memory":            {func(s *spec) { s.MinMemory = -1 }, ".minMemory: Invalid value: -1: must be 0 or more"},
		"a negative size":            {func(s *spec) { s.MinDiskSize = -1 }, ".minDiskSize: Invalid value: -1: must be 0 or more"},
		"to memory, with a disk":     {func(s *spec) { s.DeployInMemory, s.MinDiskSize = true, 100 }, ""},
		"a full erase, and scripts":  {func(s *spec) { s.Release = release(infrav1.EraseFull, "reset-bios", "drain") }, ""},
		"no erase":                   {func(s *spec) { s.Release = release(infrav1.EraseNone) }, ""},
		"an erase of another kind":   {func(s *spec) { s.Release = release("Shred") }, `.release.erase: Unsupported value: "Shred"`},
		"scripts in one word":        {func(s *spec) { s.Release = release("", "a", "b,c") }, `.release.scripts[1]: Invalid value: "b,c": must be the name or a tag of one release script`},
		"a script with a space":      {func(s *spec) { s.Release = release("", " a") }, ".release.scripts[0]: Invalid value"},
		"a script twice":             {func(s *spec) { s.Release = release("", "a", "b", "a") }, `.release.scripts[2]: Duplicate value: "a"`},
		"an LXD machine": {func(s *spec) { s.LXD = &apiextensionsv1.JSON{Raw: []byte(`{}`)} },
			".lxd: Forbidden: LXD virtual machines are not made by this provider: remove the field"},
		"a parent": {func(s *spec) { s.Parent = "abc123" }, ".parent: Forbidden: LXD virtual machines are not made by this provider"},
	}
}

func TestNewMaasMachines(t *testing.T) {
	t.Parallel()
	for name, test := range specCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := machineValidator{}.ValidateCreate(t.Context(), newTestMachine(func(m *infrav1.MaasMachine) { test.change(&m.Spec) }))
			expectRefusal(t, err, prefixed("spec", test.want))
		})
	}
	for name, test := range map[string]struct {
		change func(*infrav1.MaasMachine)
		want   string
	}{
		"with a machine, as a backup without finalizers brings it": {func(m *infrav1.MaasMachine) { deployed(m); m.Finalizers = nil }, ""},
		"in no zone, as an earlier provider wrote it":              {func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "maas:////4y3h7n" }, ""},
		"moved, with all that an earlier provider stored": {func(m *infrav1.MaasMachine) {
			deployed(m)
			lxd(m)
			m.Spec.Tags = []string{"a,b"}
		}, ""},
		"with two machines": {func(m *infrav1.MaasMachine) { deployed(m); m.Finalizers = nil; m.Spec.SystemID = "other1" },
			`spec.providerID: Invalid value: "maas:///z1/4y3h7n": must end in the system ID that stands in spec.systemID, other1`},
		"with a provider ID of another cloud": {func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "aws:///z1/i-1" },
			`spec.providerID: Invalid value: "aws:///z1/i-1": must be maas:///<zone>/<system ID>`},
		"with a provider ID without zone":   {func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "maas:///4y3h7n" }, "must be maas:///<zone>/<system ID>"},
		"with a provider ID without system": {func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "maas:///z1/" }, "must be maas:///<zone>/<system ID>"},
		"with a path as system ID":          {func(m *infrav1.MaasMachine) { m.Spec.SystemID = "a/b" }, `spec.systemID: Invalid value: "a/b": must be a system ID of MAAS`},
		"abandoned from the start": {func(m *infrav1.MaasMachine) {
			m.Annotations = map[string]string{infrav1.AbandonAnnotation: "burnt"}
		}, "metadata.annotations[infrastructure.cluster.x-k8s.io/maas-abandon]: Forbidden"},
		"with an attempt and no claim": {func(m *infrav1.MaasMachine) {
			m.Annotations = map[string]string{infrav1.ClaimAttemptAnnotation: "4y3h7n 2026-01-01T00:00:00Z"}
		}, "metadata.annotations[infrastructure.cluster.x-k8s.io/maas-claim-attempt]: Forbidden: is the controller's"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := machineValidator{}.ValidateCreate(t.Context(), newTestMachine(test.change))
			expectRefusal(t, err, test.want)
		})
	}
}

func prefixed(path, want string) string {
	if strings.HasPrefix(want, ".") {
		return path + want
	}
	return want
}

func TestChangesOfMaasMachines(t *testing.T) {
	t.Parallel()
	const claimPath = "metadata.annotations[infrastructure.cluster.x-k8s.io/maas-claim]: Forbidden: cannot be changed or removed"
	annotation := func(key, value string) func(*infrav1.MaasMachine) {
		return func(m *infrav1.MaasMachine) {
			if m.Annotations == nil {
				m.Annotations = map[string]string{}
			}
			m.Annotations[key] = value
		}
	}
	for name, test := range map[string]struct {
		before, change func(*infrav1.MaasMachine)
		want           string
	}{
		"the controller claims":             {nil, annotation(infrav1.ClaimAnnotation, "t0ken"), ""},
		"the controller begins an attempt":  {claimed, annotation(infrav1.ClaimAttemptAnnotation, "4y3h7n 2026-01-01T00:00:00Z"), ""},
		"the controller stores the machine": {annotation(infrav1.ClaimAnnotation, "t0ken"), claimed, ""},
		"the controller stores the end":     {claimed, deployed, ""},
		"the controller ends an attempt": {func(m *infrav1.MaasMachine) {
			claimed(m)
			m.Annotations[infrav1.ClaimAttemptAnnotation] = "4y3h7n 2026-01-01T00:00:00Z"
		}, func(m *infrav1.MaasMachine) { delete(m.Annotations, infrav1.ClaimAttemptAnnotation) }, ""},
		"keep it when it fails": {deployed, func(m *infrav1.MaasMachine) { m.Spec.KeepFailed = true }, ""},
		"erase it":              {deployed, func(m *infrav1.MaasMachine) { m.Spec.Release = release(infrav1.EraseQuick, "drain") }, ""},
		"erase it somehow":      {deployed, func(m *infrav1.MaasMachine) { m.Spec.Release = release("Shred") }, "spec.release.erase: Unsupported value"},
		"more attempts, and more time for each": {deployed, func(m *infrav1.MaasMachine) {
			m.Spec.DeployAttempts, m.Spec.DeployTimeout = 5, &metav1.Duration{Duration: time.Hour}
		}, ""},
		"too many attempts": {deployed, func(m *infrav1.MaasMachine) { m.Spec.DeployAttempts = 11 }, "spec.deployAttempts: Invalid value: 11: must be from 1 to 10"},
		"the machine is given back after its deployment failed": {claimed, func(m *infrav1.MaasMachine) {
			m.Spec.SystemID = ""
			m.Annotations[infrav1.DeployAttemptsAnnotation] = `[{"machine":"4y3h7n","failed":"failed","givenBack":true}]`
			delete(m.Annotations, infrav1.UserAnnotation)
		}, ""},
		"MAAS refused what it was asked for": {claiming, func(m *infrav1.MaasMachine) {
			delete(m.Annotations, infrav1.ClaimAttemptAnnotation)
			delete(m.Annotations, infrav1.UserAnnotation)
		}, ""},
		"MAAS is asked as another user, and may have answered": {claiming, annotation(infrav1.UserAnnotation, "bob"),
			"metadata.annotations[infrastructure.cluster.x-k8s.io/maas-user]: Forbidden"},
		"the MAAS has another name": {deployed, annotation(infrav1.HostAnnotation, "maas.example.com"), ""},
		"another machine is given back": {claimed, func(m *infrav1.MaasMachine) {
			m.Spec.SystemID = ""
			m.Annotations[infrav1.DeployAttemptsAnnotation] = `[{"machine":"other1","failed":"failed","givenBack":true}]`
		}, "spec.systemID: Forbidden"},
		"the machine is not given back yet": {claimed, func(m *infrav1.MaasMachine) {
			m.Spec.SystemID = ""
			m.Annotations[infrav1.DeployAttemptsAnnotation] = `[{"machine":"4y3h7n","failed":"failed"}]`
		}, "spec.systemID: Forbidden"},
		"the machine is changed for another in one go": {claimed, func(m *infrav1.MaasMachine) {
			m.Spec.SystemID = "other1"
			m.Annotations[infrav1.DeployAttemptsAnnotation] = `[{"machine":"4y3h7n","failed":"failed","givenBack":true}]`
		}, "spec.systemID: Forbidden"},
		"one that ran is never given back so": {deployed, func(m *infrav1.MaasMachine) {
			m.Spec.SystemID, m.Spec.ProviderID = "", ""
			m.Annotations[infrav1.DeployAttemptsAnnotation] = `[{"machine":"4y3h7n","failed":"failed","givenBack":true}]`
		}, "spec.providerID: Forbidden"},
		"another zone":          {deployed, func(m *infrav1.MaasMachine) { m.Spec.FailureDomain = "z2" }, ""},
		"a zone with a space":   {deployed, func(m *infrav1.MaasMachine) { m.Spec.FailureDomain = " z2" }, "spec.failureDomain: Invalid value"},
		"tags in another order": {deployed, func(m *infrav1.MaasMachine) { m.Spec.Tags = []string{"gpu_2", "ssd"} }, ""},
		"an attempt of nobody's": {nil, annotation(infrav1.ClaimAttemptAnnotation, "4y3h7n 2026-01-01T00:00:00Z"),
			"metadata.annotations[infrastructure.cluster.x-k8s.io/maas-claim-attempt]: Forbidden"},
		"another user": {deployed, annotation(infrav1.UserAnnotation, "bob"),
			"metadata.annotations[infrastructure.cluster.x-k8s.io/maas-user]: Forbidden"},
		"no user": {deployed, func(m *infrav1.MaasMachine) { delete(m.Annotations, infrav1.UserAnnotation) },
			"metadata.annotations[infrastructure.cluster.x-k8s.io/maas-user]: Forbidden"},
		"another claim": {deployed, annotation(infrav1.ClaimAnnotation, "other"), claimPath},
		"no claim":      {deployed, func(m *infrav1.MaasMachine) { m.Annotations = nil }, claimPath},
		"another system ID": {claimed, func(m *infrav1.MaasMachine) { m.Spec.SystemID = "other1" },
			`spec.systemID: Forbidden: is "4y3h7n", and cannot be changed or removed`},
		"no system ID": {claimed, func(m *infrav1.MaasMachine) { m.Spec.SystemID = "" }, "spec.systemID: Forbidden"},
		"another provider ID": {deployed, func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "maas:///z2/4y3h7n" },
			`spec.providerID: Forbidden: is "maas:///z1/4y3h7n", and cannot be changed or removed`},
		"no provider ID": {deployed, func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "" }, "spec.providerID: Forbidden"},
		"a provider ID of another machine": {claimed, func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "maas:///z1/other1" },
			"must end in the system ID that stands in spec.systemID, 4y3h7n"},
		"a contradiction of long ago is mended": {contradictory, func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "maas:///z1/4y3h7n" }, ""},
		"a contradiction of long ago gets worse": {contradictory, func(m *infrav1.MaasMachine) { m.Spec.ProviderID = "aws:///z1/i-1" },
			"spec.providerID: Invalid value"},
		"abandoned while it runs": {deployed, annotation(infrav1.AbandonAnnotation, "burnt"),
			"metadata.annotations[infrastructure.cluster.x-k8s.io/maas-abandon]: Forbidden: is for a MaasMachine that is being deleted"},
		"abandoned without a reason, while it runs": {deployed, annotation(infrav1.AbandonAnnotation, ""), "maas-abandon]: Forbidden"},
		"abandoned long ago, and never deleted":     {annotation(infrav1.AbandonAnnotation, "burnt"), claimed, ""},
		"its deletion is confirmed beforehand":      {deployed, annotation(infrav1.ConfirmDeleteAnnotation, "yes"), ""},
		"another image": {nil, func(m *infrav1.MaasMachine) { m.Spec.Image = "custom/other" },
			"spec.image: Forbidden: cannot be changed: the machine was chosen and installed by it"},
		"more memory":    {deployed, func(m *infrav1.MaasMachine) { m.Spec.MinMemory++ }, "spec.minMemory: Forbidden: cannot be changed"},
		"no tags":        {deployed, func(m *infrav1.MaasMachine) { m.Spec.Tags = nil }, "spec.tags: Forbidden: cannot be changed"},
		"to memory":      {deployed, func(m *infrav1.MaasMachine) { m.Spec.DeployInMemory = true }, "spec.deployInMemory: Forbidden: cannot be changed"},
		"another pool":   {deployed, func(m *infrav1.MaasMachine) { m.Spec.ResourcePool = "p2" }, "spec.resourcePool: Forbidden: cannot be changed"},
		"other address":  {deployed, func(m *infrav1.MaasMachine) { m.Spec.AddressFrom.Subnet = "lab" }, "spec.addressFrom: Forbidden: cannot be changed"},
		"LXD stays":      {lxd, claimed, ""},
		"LXD is removed": {lxd, func(m *infrav1.MaasMachine) { m.Spec.LXD, m.Spec.Parent = nil, "" }, ""},
		"LXD is added":   {nil, lxd, "spec.lxd: Forbidden: LXD virtual machines are not made by this provider"},
		"LXD is changed": {lxd, func(m *infrav1.MaasMachine) { m.Spec.Parent = "other1" }, "spec.parent: Forbidden: cannot be changed"},
		"bad values of long ago stay": {func(m *infrav1.MaasMachine) {
			m.Spec = infrav1.MaasMachineSpec{
				Tags: []string{"a,b", ""}, NotTags: []string{"a,b"}, Storage: "x", MinCPU: -1, ProviderID: "aws:///a/b", SystemID: "other1",
			}
		}, annotation(infrav1.ClaimAnnotation, "t0ken"), ""},
		"anything on the way out": {deployed, func(m *infrav1.MaasMachine) {
			m.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			m.Finalizers, m.Annotations = nil, nil
			m.Spec = infrav1.MaasMachineSpec{}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := newTestMachine(test.before)
			now := before.DeepCopy()
			test.change(now)
			_, err := machineValidator{}.ValidateUpdate(t.Context(), before, now)
			expectRefusal(t, err, test.want)
		})
	}
}

func TestAllFaultsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	_, err := machineValidator{}.ValidateCreate(t.Context(), newTestMachine(func(m *infrav1.MaasMachine) {
		m.Spec.Image, m.Spec.Architecture, m.Spec.Tags = "a b", "x86_64", []string{"a.b"}
	}))
	for _, want := range []string{`MaasMachine.infrastructure.cluster.x-k8s.io "m1" is invalid`, "spec.image:", "spec.architecture:", "spec.tags[0]:"} {
		expectRefusal(t, err, want)
	}
}
