package check

import (
	"errors"
	"strings"
	"testing"
)

const goodInstall = `@firmware UEFI
@hook 0
@validated cloud-init --version
@validated netplan info
@mounts 0
@config 600 /etc/cloud/cloud.cfg.d/90_maas_datasource.cfg
@esp ./EFI/BOOT/BOOTX64.EFI
@esp ./EFI/debian/shimx64.efi
@end 
`

func TestAnInstallationIsJudgedByWhatItLeaves(t *testing.T) {
	t.Parallel()
	bios, uefi := firmwares()[0], firmwares()[1]
	for _, test := range []struct {
		name, from, to string
		with           firmware
		found          string // empty where all is well
	}{
		{"by UEFI", "", "", uefi, ""},
		{"by BIOS, without a loader for UEFI", "UEFI", "BIOS", bios, ""},
		{"by other firmware", "UEFI", "BIOS", uefi, "did not start with uefi"},
		{"a hook that fails", "@hook 0", "@hook 1", uefi, `the hook ended with "1"`},
		{"a hook that never ended", "@hook 0\n", "", uefi, `the hook ended with ""`},
		{"an image that MAAS refuses", "@validated netplan info\n", "", uefi, "pass only here: cloud-init --version"},
		{"the hook itself", "@mounts", "@left /curtin\n@mounts", uefi, "/curtin on the installed disk"},
		{"mounts", "@mounts 0", "@mounts 3", uefi, "3 mounts"},
		{"a key for everybody", "@config 600", "@config 644", uefi, "everybody may read"},
		{"no loader where MAAS looks", "@esp ./EFI/BOOT/BOOTX64.EFI\n", "", uefi, "no /EFI/BOOT/BOOTX64.EFI"},
		{"a loader that changes the order", "@end", "@esp ./EFI/BOOT/fbx64.efi\n@end", uefi, "before the network"},
	} {
		report := goodInstall
		if test.from != "" {
			report = strings.ReplaceAll(report, test.from, test.to)
		}
		_, err := judgeInstall(bootOf(report, ""), test.with)
		var p *problem
		switch {
		case test.found == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.found != "" && (!errors.As(err, &p) || !strings.Contains(p.found, test.found) || p.do == ""):
			t.Errorf("%s: it says %v, want %q", test.name, err, test.found)
		}
	}
}

func TestTheInstalledNetworkIsThatOfMAAS(t *testing.T) {
	t.Parallel()
	for address, good := range map[string]bool{"maas0 UP 10.0.2.15/24": true, "ens3  UP  10.0.2.15/24": false, "maas0 UP 169.254.1.1/16": false, "": false} {
		if _, err := judgeInstalledNetwork(bootOf("@address "+address+"\n", "")); (err == nil) != good {
			t.Errorf("%q: %v", address, err)
		}
	}
}
