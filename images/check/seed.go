package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// writtenText is what the user data has cloud-init write.
const writtenText = "written by cloud-init"

// startReport has the report told on the second serial port. It runs apart from the boot, which would wait for it, and which it waits for;
// and by a shell, for /run may be mounted without the right to run programs.
const startReport = "[systemd-run, --no-block, --unit=image-check, --property=StandardOutput=file:/dev/ttyS1, " +
	"--property=StandardError=file:/dev/ttyS1, /bin/sh, /run/image-check/report]"

// userData asks for a file whose presence shows that it was carried out. start is the command that starts the report, or nothing.
func userData(start string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "#cloud-config\nwrite_files:\n- path: /run/image-check/written\n  content: %s\n", writtenText)
	text.WriteString("- path: /run/image-check/report\n  content: |\n")
	for line := range strings.Lines(bootReport) {
		text.WriteString("    " + line)
	}
	if start != "" {
		fmt.Fprintf(&text, "runcmd:\n- %s\n", start)
	}
	return text.String()
}

// writeSeed writes what the data source NoCloud reads.
func writeSeed(dir, userData string) error {
	err := os.MkdirAll(dir, 0o755)
	for name, content := range map[string]string{
		"meta-data": "instance-id: " + instance + "\nlocal-hostname: " + instance + "\n",
		"user-data": userData,
	} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644)
		}
	}
	if err != nil {
		return fmt.Errorf("writing data for cloud-init: %w", err)
	}
	return nil
}
