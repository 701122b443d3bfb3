package checks

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func wish(name, by string) Wish { return Wish{Name: name, By: by, In: "in a new one"} }

func image(name, architecture string) ImageWish {
	return ImageWish{Wish: wish(name, "spec.template.spec.image of MaasMachineTemplate default/w"), Architecture: architecture}
}

func TestWhatIsMissingIsNamedWithWhoAsksForIt(t *testing.T) {
	t.Parallel()
	config := simulator.Config{
		Zones:   []simulator.Zone{{Name: "z1"}},
		Pools:   []simulator.Pool{{Name: "workers"}},
		Domains: []simulator.Domain{{Name: "maas"}, {Name: "dark.example", Unserved: true}},
		Images: []simulator.Image{
			{Name: "ubuntu/jammy"}, {Name: "custom/debian-12"}, {Name: "custom/both"}, {Name: "custom/both", Architecture: "arm64/generic"},
			{Name: "custom/arm", Architecture: "arm64"},
		},
	}
	cluster := "spec.failureDomains of this MaasCluster"
	template := "spec.template.spec.resourcePool of MaasMachineTemplate default/workers"
	const fine = "fine"
	for name, test := range map[string]struct {
		wishes                        Wishes
		domain, zonesAndPools, images string // reason and parts of the message, separated by |
	}{
		"nothing asked for": {Wishes{}, "", fine, fine},
		"all is there": {
			Wishes{"maas", []Wish{wish("z1", cluster), wish("default", cluster)}, []Wish{wish("workers", template)}, []ImageWish{image("custom/debian-12", "amd64")}},
			fine, fine, fine,
		},
		"no domain":                              {Wishes{Domain: "nowhere"}, `DomainNotFound|has no DNS domain "nowhere"|make that domain in MAAS`, fine, fine},
		"a domain in the dark":                   {Wishes{Domain: "dark.example"}, `DomainNotAuthoritative|is not authoritative for the DNS domain "dark.example"`, fine, fine},
		"no zone":                                {Wishes{Zones: []Wish{wish("z9", cluster)}}, "", `ZoneNotFound|has no zone "z9", which spec.failureDomains of this MaasCluster asks for: make it in MAAS`, fine},
		"no pool":                                {Wishes{Pools: []Wish{wish("gpu", template)}}, "", `PoolNotFound|has no resource pool "gpu", which ` + template + " asks for: make it in MAAS", fine},
		"neither":                                {Wishes{Zones: []Wish{wish("z9", cluster)}, Pools: []Wish{wish("gpu", template)}}, "", `ZoneNotFound|no zone "z9"|no resource pool "gpu"`, fine},
		"who asks first":                         {Wishes{Zones: []Wish{wish("z9", "first"), wish("z9", "second")}}, "", `ZoneNotFound|first`, fine},
		"many":                                   {Wishes{Zones: []Wish{wish("a", ""), wish("b", ""), wish("c", "")}}, "", `ZoneNotFound|"a"|"b"|; and others`, fine},
		"a bare name":                            {Wishes{Images: []ImageWish{image("debian-12", "")}}, "", fine, fine},
		"a streamed image":                       {Wishes{Images: []ImageWish{image("ubuntu/jammy", "amd64/generic")}}, "", fine, fine},
		"a version's alias":                      {Wishes{Images: []ImageWish{image("ubuntu/22.04", "")}}, "", fine, fine},
		"no image":                               {Wishes{Images: []ImageWish{image("custom/x", "amd64")}}, "", fine, "ImageNotFound|has no image custom/x for amd64, which spec.template.spec.image of MaasMachineTemplate default/w asks for: upload it, or name another one in a new one"},
		"no streamed image":                      {Wishes{Images: []ImageWish{image("ubuntu/noble", "")}}, "", fine, "ImageNotFound|has no image ubuntu/noble, which|import it in MAAS"},
		"one of MAAS's aliases":                  {Wishes{Images: []ImageWish{image("jammy", "")}}, "", fine, "ImageNotFound|has no image custom/jammy, which \"jammy\" in spec.template.spec.image of MaasMachineTemplate default/w means: upload it, or name ubuntu/jammy in a new one"},
		"an image of MAAS's taken for one's own": {Wishes{Images: []ImageWish{image("custom/jammy", "")}}, "", fine, "ImageNotFound|custom/jammy, which spec.template.spec.image of MaasMachineTemplate default/w asks for: upload it, or name ubuntu/jammy in"},
		"any architecture":                       {Wishes{Images: []ImageWish{image("custom/arm", "")}}, "", fine, fine},
		"one of two":                             {Wishes{Images: []ImageWish{image("custom/both", "arm64")}}, "", fine, fine},
		"the wrong architecture":                 {Wishes{Images: []ImageWish{image("custom/arm", "amd64")}}, "", fine, "ImageNotFound|has no image custom/arm for amd64 (only for arm64)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, config)
			got := w.checks.Look(t.Context(), test.wishes)
			for kind, pair := range map[string]struct {
				found Finding
				want  string
			}{"domain": {got.Domain, test.domain}, "zones and pools": {got.ZonesAndPools, test.zonesAndPools}, "images": {got.Images, test.images}} {
				switch {
				case pair.want == "" && pair.found == Finding{}:
				case pair.want == fine && pair.found.Verdict == Fine && pair.found.Message == "":
				case pair.want == "" || pair.want == fine:
					t.Errorf("%s: %+v, want %q", kind, pair.found, pair.want)
				default:
					reason, rest, _ := strings.Cut(pair.want, "|")
					if pair.found.Verdict != Wrong || pair.found.Reason != reason || !strings.HasPrefix(pair.found.Message, "MAAS "+w.checks.maas.Host()) {
						t.Errorf("%s: %+v, want %s", kind, pair.found, reason)
					}
					for part := range strings.SplitSeq(rest, "|") {
						if !strings.Contains(pair.found.Message, part) {
							t.Errorf("%s: %q does not say %q", kind, pair.found.Message, part)
						}
					}
				}
			}
		})
	}
}

func TestOneQuestionServesAllClusters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	all := Wishes{"maas", []Wish{wish("default", "")}, []Wish{wish("default", "")}, []ImageWish{image("ubuntu/jammy", "")}}
	var wait sync.WaitGroup
	for range 30 {
		wait.Go(func() {
			w.checks.Region(t.Context())
			if got := w.checks.Look(t.Context(), all); got.Domain.Verdict != Fine || got.ZonesAndPools.Verdict != Fine || got.Images.Verdict != Fine {
				t.Errorf("found %+v", got)
			}
		})
	}
	wait.Wait()
	expect := func(times int) {
		t.Helper()
		for _, path := range []string{"version/", "domains/", "zones/", "resourcepools/", "boot-resources/"} {
			if got := w.asked(path); got != times {
				t.Errorf("%s was asked for %d times, want %d", path, got, times)
			}
		}
	}
	expect(1)
	w.now = w.now.Add(interval - time.Second)
	w.checks.Region(t.Context())
	w.checks.Look(t.Context(), all)
	expect(1)
	w.now = w.now.Add(time.Second)
	w.checks.Region(t.Context())
	w.checks.Look(t.Context(), all)
	expect(2)
}

func TestNobodyAsksForWhatIsNotWishedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	w.checks.Look(t.Context(), Wishes{})
	if got := w.region.Requests(); len(got) != 0 {
		t.Errorf("asked %+v", got)
	}
}

func TestWhatIsMendedIsNoticedSoon(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	wishes := Wishes{Domain: "maas", Images: []ImageWish{image("custom/x", "")}}
	look := func(want Verdict, images, domains int) {
		t.Helper()
		if got := w.checks.Look(t.Context(), wishes); got.Images.Verdict != want {
			t.Errorf("found %+v", got.Images)
		}
		if got := w.asked("boot-resources/"); got != images {
			t.Errorf("images were asked for %d times, want %d", got, images)
		}
		if got := w.asked("domains/"); got != domains {
			t.Errorf("domains were asked for %d times, want %d", got, domains)
		}
	}
	look(Wrong, 1, 1)
	look(Wrong, 1, 1)
	w.now = w.now.Add(floor)
	look(Wrong, 2, 1)
	// A user corrects the spec: what is known is enough to see it.
	wishes.Images[0].Name = "ubuntu/jammy"
	look(Fine, 2, 1)
	// A user changes the spec to something that was made since.
	wishes.Images[0].Name = "custom/y"
	look(Wrong, 2, 1)
	w.now = w.now.Add(floor)
	look(Wrong, 3, 1)
	w.now = w.now.Add(interval - 2*floor)
	look(Wrong, 4, 2)
}

func TestAMAASThatIsAwayIsAskedOnceInAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	wishes := Wishes{Zones: []Wish{wish("z9", "")}}
	away := func(simulator.Request) simulator.Fault { return simulator.Fault{Status: http.StatusServiceUnavailable} }
	w.region.SetIntercept(away)
	for range 3 {
		if got := w.checks.Look(t.Context(), wishes).ZonesAndPools; got != (Finding{}) {
			t.Errorf("found %+v", got)
		}
	}
	if got := w.asked("zones/"); got != 1 {
		t.Errorf("asked %d times", got)
	}
	w.region.SetIntercept(nil)
	w.now = w.now.Add(failureFresh)
	if got := w.checks.Look(t.Context(), wishes).ZonesAndPools; got.Verdict != Wrong {
		t.Errorf("found %+v", got)
	}
	w.region.SetIntercept(away)
	w.now = w.now.Add(interval)
	if got := w.checks.Look(t.Context(), wishes).ZonesAndPools; got.Verdict != Wrong {
		t.Errorf("what was known is forgotten: %+v", got)
	}
}
